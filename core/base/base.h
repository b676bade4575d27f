/* base.h: the lowest room: errors, memory with accounting, buffers, maps, ids, deadlines, text, numbers. */
#ifndef CHORDAL_CORE_BASE_H
#define CHORDAL_CORE_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "chordal/base.h"
#include "chordal/error.h"
#include "chordal/memory.h"

/* Where size is what counts, the shorter of two ways is taken. */
#ifdef __OPTIMIZE_SIZE__
enum { CHORDAL__SMALL = 1 };
/* What everybody does again and again is done in place, here at one place. */
#define CHORDAL__IN_PLACE static __attribute__((noinline, unused))
#else
enum { CHORDAL__SMALL = 0 };
#define CHORDAL__IN_PLACE static inline
#endif

/* A way that is seldom gone: apart, so that the usual one needs no registers for it. */
#define CHORDAL__ASIDE __attribute__((noinline))
/* What is called when something failed: what leads there is unlikely, and lies apart from what is usually done. */
#define CHORDAL__FAILURE __attribute__((cold))

/* ---- error.c: codes and how they are answered ---- */

/* Fill `error` (may be NULL) and return `code`. `detail` is copied, cut to fit. */
CHORDAL__FAILURE int chordal__fail(chordal_error *error, int code, uint64_t position, const char *detail);
/* The same with a name behind short words, cut to fit. */
CHORDAL__FAILURE int chordal__fail_about(chordal_error *error, int code, const char *words, const void *name,
                                         size_t name_len);
CHORDAL__FAILURE int chordal__fail_number(chordal_error *error, int code, const char *words, uint64_t number);
/* The browser's build leaves words out; its layer above has the codes' own sentences. */
#ifdef CHORDAL__NO_WORDS
#define CHORDAL__WORDS(words) ""
CHORDAL__FAILURE int chordal__fail_at(chordal_error *error, int code, uint64_t position);
CHORDAL__FAILURE int chordal__fail_plainly(chordal_error *error, int code); /* position 0 */
#define chordal__fail(error, code, position, words)                                                                    \
    ((void)(words), __builtin_constant_p(position) && (position) == 0 ? chordal__fail_plainly(error, code)             \
                                                                      : chordal__fail_at(error, code, position))
#else
#define CHORDAL__WORDS(words) words
#endif
/* The code of a stable lower-case name, or 0 when no code has it. */
int chordal__error_code(const char *name, size_t name_len);

/* ---- memory.c: a counted context with an account and a limit ---- */

/* Blocks of at most KEPT_SIZE are kept when they go, KEPT_BYTES of them in all, beyond the limit. */
#define CHORDAL__KEPT_SIZE 1032
#define CHORDAL__KEPT_CLASSES 65
#define CHORDAL__KEPT_BYTES ((size_t)65536)

typedef struct chordal__kept {
    struct chordal__kept *next;
} chordal__kept;

typedef struct chordal__memory chordal__memory;
struct chordal__memory {
    chordal_memory_functions functions;
    uint64_t limit, live_bytes, live_blocks, allocations;
    uint64_t references;           /* not atomic: the context is used on one thread at a time */
    size_t kept_bytes, kept_limit; /* of small ones that went; limit 0: none are kept */
    chordal__kept *kept[CHORDAL__KEPT_CLASSES];
};

/* `functions` NULL: the C library. The context itself lies in memory of its own, freed by the last unref: one is
 * held by the host, one by every chordal_value. Returns NULL when out of memory. */
CHORDAL_OWN chordal__memory *chordal__memory_new(const chordal_memory_functions *functions, uint64_t limit);
chordal__memory *chordal__memory_ref(chordal__memory *memory);
void chordal__memory_unref(chordal__memory *memory);

/* Classes are 16 bytes apart and end where the C library's blocks do. */
static inline size_t chordal__kept_class(size_t size) {
    return (size + 7) / 16;
}
static inline size_t chordal__kept_bytes(size_t class) {
    return class * 16 + 8;
}
void *chordal__allocate_new(chordal__memory *memory, size_t size); /* as below, however large it is */
void chordal__give_back(chordal__memory *memory, void *block, size_t size);
/* Uninitialised memory; NULL when out of memory or over the limit; size 0 gives NULL and is no failure. */
CHORDAL__IN_PLACE void *chordal__allocate(chordal__memory *memory, size_t size) {
    bool small = !CHORDAL__SMALL && size && size <= CHORDAL__KEPT_SIZE;
    size_t class = small ? chordal__kept_class(size) : 0;
    chordal__kept *block = small ? memory->kept[class] : NULL;
    if (!block || memory->live_bytes + size > memory->limit) return chordal__allocate_new(memory, size);
    memory->kept[class] = block->next;
    memory->kept_bytes -= chordal__kept_bytes(class);
    memory->live_bytes += size;
    memory->live_blocks++;
    memory->allocations++;
    return block;
}
void *chordal__allocate_zero(chordal__memory *memory, size_t size);
/* `new_size` above 0; NULL leaves the block as it was. */
void *chordal__resize(chordal__memory *memory, void *block, size_t old_size, size_t new_size);
CHORDAL__IN_PLACE void chordal__release(chordal__memory *memory, void *block, size_t size) { /* NULL allowed */
    if (!block) return;
    if (CHORDAL__SMALL || size > CHORDAL__KEPT_SIZE || memory->kept_bytes >= memory->kept_limit) {
        chordal__give_back(memory, block, size);
        return;
    }
    size_t class = chordal__kept_class(size);
    chordal__kept *kept = block;
    memory->live_bytes -= size;
    memory->live_blocks--;
    kept->next = memory->kept[class];
    memory->kept[class] = kept;
    memory->kept_bytes += chordal__kept_bytes(class);
}

/* Grow an array of `item_size` items to hold `need`, doubling, at most `limit` items. 0, NOMEM or LIMIT; unchanged
 * then. */
int chordal__grow_to(chordal__memory *memory, void **items, size_t item_size, size_t *capacity, size_t need,
                     size_t limit);
CHORDAL__IN_PLACE int chordal__grow(chordal__memory *memory, void **items, size_t item_size, size_t *capacity,
                                    size_t need, size_t limit) {
    return need <= *capacity ? 0 : chordal__grow_to(memory, items, item_size, capacity, need, limit);
}

/* The same for an array that lies in `one`, its owner's own item, until a second is needed. */
int chordal__grow_out(chordal__memory *memory, void **items, size_t item_size, size_t *capacity, size_t need,
                      size_t limit, const void *one);

/* ---- arena.c: scratch memory that is given back all at once and kept for the next use ---- */

typedef struct chordal__arena_block chordal__arena_block;
typedef struct chordal__arena {
    chordal__memory *memory;
    chordal__arena_block *first, *current;
    size_t used;
} chordal__arena;

void chordal__arena_init(chordal__arena *arena, chordal__memory *memory);
void *chordal__arena_take(chordal__arena *arena, size_t size); /* 8-byte aligned; NULL: out of memory */
void chordal__arena_reset(chordal__arena *arena);              /* keeps one block of up to 64 KiB */
void chordal__arena_dispose(chordal__arena *arena);

/* ---- buffer.c: growable bytes with a limit ---- */

typedef struct chordal__buffer {
    chordal__memory *memory;
    uint8_t *data;
    size_t len, capacity, limit;
    int failed; /* first code; later writes do nothing, so that a writer checks once at its end */
} chordal__buffer;

void chordal__buffer_init(chordal__buffer *buffer, chordal__memory *memory, size_t limit);
void chordal__buffer_dispose(chordal__buffer *buffer);
CHORDAL__IN_PLACE void chordal__buffer_clear(chordal__buffer *buffer) { /* the memory is kept */
    buffer->len = 0;
    buffer->failed = 0;
}
/* `size` writable bytes at the end, added to len; NULL when failed. */
uint8_t *chordal__buffer_extend(chordal__buffer *buffer, size_t size);
void chordal__buffer_put(chordal__buffer *buffer, const void *data, size_t len);
void chordal__buffer_put_byte(chordal__buffer *buffer, uint8_t byte);
void chordal__buffer_put_varint(chordal__buffer *buffer, uint64_t value);
static inline void chordal__buffer_byte(chordal__buffer *buffer, uint8_t byte) {
    if (!CHORDAL__SMALL && buffer->len < buffer->capacity && !buffer->failed)
        buffer->data[buffer->len++] = byte;
    else
        chordal__buffer_put_byte(buffer, byte);
}
static inline void chordal__buffer_varint(chordal__buffer *buffer, uint64_t value) { /* LEB128, at most 10 bytes */
    if (!CHORDAL__SMALL && value < 0x80)
        chordal__buffer_byte(buffer, (uint8_t)value);
    else
        chordal__buffer_put_varint(buffer, value);
}
void chordal__buffer_text(chordal__buffer *buffer, const char *text); /* NUL-terminated */
void chordal__buffer_decimal(chordal__buffer *buffer, uint64_t value);

/* A bounded reader. A read past the end sets `failed` and gives zeros. */
typedef struct chordal__reader {
    const uint8_t *data, *at, *end;
    int failed; /* 0, TRUNCATED, SYNTAX … */
} chordal__reader;

static inline chordal__reader chordal__reader_of(const uint8_t *data, size_t len) {
    return (chordal__reader){.data = data, .at = data, .end = len ? data + len : data};
}
uint8_t chordal__read_byte(chordal__reader *reader);
uint64_t chordal__read_long_varint(chordal__reader *reader);
static inline uint64_t chordal__read_varint(chordal__reader *reader) { /* SYNTAX: over 64 bits, not its shortest form */
    bool is_short = !CHORDAL__SMALL && !reader->failed && reader->at != reader->end && *reader->at < 0x80;
    return is_short ? *reader->at++ : chordal__read_long_varint(reader);
}
const uint8_t *chordal__read_bytes(chordal__reader *reader, size_t len);
static inline size_t chordal__reader_left(const chordal__reader *reader) {
    return (size_t)(reader->end - reader->at);
}
static inline uint64_t chordal__reader_position(const chordal__reader *reader) {
    return (uint64_t)(reader->at - reader->data);
}

/* ---- body.c: counted bytes that many messages share ---- */

typedef struct chordal__body {
    chordal__memory *memory;
    uint32_t count;
    size_t len;
    uint8_t data[];
} chordal__body;

CHORDAL_OWN chordal__body *chordal__body_new(chordal__memory *memory,
                                             size_t len); /* data uninitialised; NULL: no memory */
CHORDAL__IN_PLACE chordal__body *chordal__body_ref(chordal__body *body) {
    body->count++;
    return body;
}
CHORDAL__IN_PLACE void chordal__body_unref(chordal__body *body) { /* NULL allowed */
    if (body && --body->count == 0) chordal__release(body->memory, body, sizeof *body + body->len);
}

/* ---- map.c: a hash map from bytes to a pointer (keys copied, seeded SipHash-1-3) ---- */

typedef struct chordal__map_entry chordal__map_entry;
typedef struct chordal__map {
    chordal__memory *memory;
    chordal__map_entry **slots;
    size_t count, capacity;
    uint64_t seed[2];
} chordal__map;

void chordal__map_init(chordal__map *map, chordal__memory *memory, const uint64_t seed[2]);
void chordal__map_dispose(chordal__map *map);
void *chordal__map_get(const chordal__map *map, const void *key, size_t key_len);      /* NULL: absent */
int chordal__map_put(chordal__map *map, const void *key, size_t key_len, void *value); /* 0, EXISTS, NOMEM */
void *chordal__map_remove(chordal__map *map, const void *key, size_t key_len);         /* the value, or NULL */
/* Walk all: start with *at = 0; NULL at the end. The map is not changed meanwhile. */
void *chordal__map_next(const chordal__map *map, size_t *at);
/* SipHash-1-3 of bytes. */
uint64_t chordal__hash(const void *data, size_t len, const uint64_t seed[2]);
/* FNV-1a 64, continued from `state` (start: CHORDAL__FNV_START). */
#define CHORDAL__FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t chordal__fnv(uint64_t state, const void *data, size_t len);
static inline uint64_t chordal__fnv_byte(uint64_t state, uint8_t byte) {
    return (state ^ byte) * UINT64_C(0x100000001b3);
}

/* ---- ids.c: generation-checked ids, and the list of those released from any thread ---- */

#define CHORDAL__ID_CHUNKS 24
#define CHORDAL__ID_CHUNK 64u    /* slots of the first */
#define CHORDAL__ID_CHUNK_TOP 6u /* the highest bit of it */
#define CHORDAL__ID_BITS 30u     /* of an id: its index and 1; the others are its generation */
typedef struct chordal__id_slot {
    void *item;
    uint8_t kind;                   /* the owner's; 0: free */
    _Atomic uint32_t state;         /* generation << 1, plus 1 while the program owns the id */
    _Atomic uint32_t next_released; /* index + 1 */
    _Atomic uint32_t released;      /* generation + 1 whose release is asked, 0: not in the list */
    uint32_t next_free;             /* index + 1 */
} chordal__id_slot;

typedef struct chordal__ids {
    chordal__memory *memory;
    chordal__id_slot *_Atomic chunks[CHORDAL__ID_CHUNKS]; /* chunk k has 64 << k slots and never moves */
    uint32_t capacity, count, free_first, free_last, free_count;
    _Atomic uint32_t released_first; /* index + 1; pushed by any thread */
    uint32_t taken_first;            /* index + 1; taken off by the owner, oldest first */
    _Atomic uint64_t holds;          /* the ids that the program owns, plus 1 for the owner until it lets go */
} chordal__ids;

void chordal__ids_init(chordal__ids *ids, chordal__memory *memory);
void chordal__ids_dispose(chordal__ids *ids);
/* A new id; 0 when out of memory. Slots are used again oldest first, so that a stale id stays detectable for long; one
 * whose generations are used up is never used again. `external`: the program owns it and must release it. */
chordal_id chordal__id_new(chordal__ids *ids, uint8_t kind, void *item, bool external);
/* Chunk k begins at index CHUNK * (2^k - 1): counted from CHUNK on, at a power of two. NULL: no such slot. */
CHORDAL__IN_PLACE chordal__id_slot *chordal__id_slot_at(const chordal__ids *ids, uint32_t index) {
    uint32_t n = index + CHORDAL__ID_CHUNK;
    unsigned top = 31u - (unsigned)__builtin_clz(n), k = top - CHORDAL__ID_CHUNK_TOP;
    if (k >= CHORDAL__ID_CHUNKS) return NULL;
    chordal__id_slot *chunk = atomic_load_explicit(&ids->chunks[k], memory_order_acquire);
    return chunk ? chunk + (n ^ UINT32_C(1) << top) : NULL;
}
static inline uint32_t chordal__id_generation(const chordal__id_slot *slot) {
    return atomic_load_explicit(&slot->state, memory_order_relaxed) >> 1;
}
/* The owner's thread: NULL when it is stale. */
CHORDAL__IN_PLACE chordal__id_slot *chordal__id_slot_of(const chordal__ids *ids, chordal_id id) {
    uint32_t index = (uint32_t)(id & ((UINT32_C(1) << CHORDAL__ID_BITS) - 1)) - 1; /* no slot has that of 0 */
    chordal__id_slot *slot = chordal__id_slot_at(ids, index);
    return slot && slot->kind && chordal__id_generation(slot) == id >> CHORDAL__ID_BITS ? slot : NULL;
}
CHORDAL__IN_PLACE void *chordal__id_get(const chordal__ids *ids, chordal_id id, uint8_t kind) { /* NULL: stale, other */
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    return slot && slot->kind == kind ? slot->item : NULL;
}
uint8_t chordal__id_kind(const chordal__ids *ids, chordal_id id); /* 0: stale */
void chordal__id_free(chordal__ids *ids, chordal_id id);
/* The item is gone. The id is freed, or if the program owns it, names nothing until the program gives it back. */
void chordal__id_leave(chordal__ids *ids, chordal_id id);
chordal_id chordal__id_own(chordal__ids *ids, chordal_id id);      /* from now on the program owns it; gives the id */
void chordal__id_disown(chordal__ids *ids, chordal_id id);         /* the program no longer owns it; it stays alive */
bool chordal__id_external(const chordal__ids *ids, chordal_id id); /* whether the program owns it */
/* Any thread, no allocation, no lock: the program no longer owns it, and the owner will be told. Returns false when
 * the id was stale, not the program's or asked before. After true the caller must call chordal__ids_let_go. */
bool chordal__id_release(chordal__ids *ids, chordal_id id);
/* Any thread: once after each release that answered true, and once by the owner when it closes. True: that was the last
 * hold, nobody else will touch the ids, and the caller disposes of them. After false the caller must not touch them. */
bool chordal__ids_let_go(chordal__ids *ids);
/* The owner's thread: whether a release was asked, and the next id of which it was; 0: none. */
static inline bool chordal__ids_asked(const chordal__ids *ids) {
    return ids->taken_first || atomic_load_explicit(&ids->released_first, memory_order_relaxed);
}
chordal_id chordal__id_next_released(chordal__ids *ids);

/* ---- heap.c: deadlines, in an intrusive binary heap ---- */

typedef struct chordal__deadline {
    chordal_time at;
    size_t place; /* index + 1 in the heap; 0: not in it */
    uint8_t kind; /* the owner's */
} chordal__deadline;
typedef struct chordal__heap {
    chordal__memory *memory;
    chordal__deadline **items;
    size_t count, capacity;
} chordal__heap;

void chordal__heap_init(chordal__heap *heap, chordal__memory *memory);
void chordal__heap_dispose(chordal__heap *heap);
int chordal__heap_set(chordal__heap *heap, chordal__deadline *deadline, chordal_time at); /* insert or move; NOMEM */
void chordal__heap_remove(chordal__heap *heap, chordal__deadline *deadline);              /* fine when not in it */
static inline chordal__deadline *chordal__heap_first(const chordal__heap *heap) {         /* NULL: empty */
    return heap->count ? heap->items[0] : NULL;
}

/* ---- list.h: an intrusive doubly linked ring ---- */

typedef struct chordal__list {
    struct chordal__list *next, *previous;
} chordal__list;
#define CHORDAL__ENTRY(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))
static inline void chordal__list_init(chordal__list *list) {
    list->next = list->previous = list;
}
static inline bool chordal__list_empty(const chordal__list *list) {
    return list->next == list;
}
static inline void chordal__list_append(chordal__list *list, chordal__list *node) {
    node->previous = list->previous;
    node->next = list;
    list->previous->next = node;
    list->previous = node;
}
static inline void chordal__list_prepend(chordal__list *list, chordal__list *node) {
    chordal__list_append(list->next, node);
}
/* Safe on a node that is not in a list, if it was initialised. */
static inline void chordal__list_remove(chordal__list *node) {
    node->previous->next = node->next;
    node->next->previous = node->previous;
    chordal__list_init(node);
}

/* ---- utf.c: text as sequences of UTF-16 units, stored as UTF-8 with lone surrogates in three bytes (WTF-8) ---- */

/* Whether bytes are valid: shortest forms, at most U+10FFFF, surrogates in three bytes allowed, but never a high one
 * followed by a low one (that is one code point in four bytes). On failure the position of the fault. */
bool chordal__utf_valid(const uint8_t *data, size_t len, size_t *out_position);
uint64_t chordal__utf_units(const uint8_t *data, size_t len); /* UTF-16 units */
/* The bytes of the first `units` (all of them when there are fewer); *out_split tells that they end inside a four-byte
 * code point, whose two halves become lone surrogates: the offset is then that of the code point. */
size_t chordal__utf_offset(const uint8_t *data, size_t len, uint64_t units, bool *out_split);
/* Whether `before` ends with a lone high surrogate and `after` begins with a low one. */
bool chordal__utf_joins(const uint8_t *before, size_t before_len, const uint8_t *after, size_t after_len);

/* ---- number.c: numbers without a locale ---- */

typedef struct chordal__number {
    uint8_t kind; /* CHORDAL_KIND_INTEGER, _UNSIGNED or _DOUBLE (value.h), already canonical */
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
    } as;
} chordal__number;

/* Read a JSON number at the start of `text`: the bytes it takes, or 0 (in *out_code SYNTAX, TRUNCATED where the text
 * ends too early, or NUMBER). Digits alone are exact from -2^63 to 2^64-1 and the nearest double beyond. With a point
 * or an exponent it is the nearest double; one that is an integer of magnitude up to 2^53 is that integer (1e2, 100.0).
 * -0 is 0. */
size_t chordal__number_read(const uint8_t *text, size_t len, chordal__number *out, int *out_code);
/* The canonical kind of a double: an integer of magnitude up to 2^53 becomes INTEGER. False for NaN and infinities. */
bool chordal__number_of_double(double real, chordal__number *out);
/* Fewest digits that read back the same; at most 25 bytes, not terminated. A double is written with a fraction or with
 * an exponent, so that it stays one: 0.1, 1e-7, 1.5e300, 9.007199254740994e15. The number is canonical. */
#define CHORDAL__NUMBER_TEXT 25
size_t chordal__number_write(const chordal__number *number, char *out);
int chordal__number_compare(const chordal__number *a, const chordal__number *b); /* -1, 0, 1 by exact value */

/* ---- entropy.c, fork.c ---- */

int chordal__entropy(void *context, uint8_t *out, size_t len); /* the default source */
/* A guard that tells whether the process was forked since; no system call per check where the system allows it. */
typedef struct chordal__fork_guard {
    const uint8_t *page;
    int64_t process;
} chordal__fork_guard;
void chordal__fork_guard_open(chordal__fork_guard *guard);
bool chordal__fork_guard_forked(const chordal__fork_guard *guard);
/* Whether it is the same process, as far as that is told by a look; false: ask. */
static inline bool chordal__fork_guard_sure(const chordal__fork_guard *guard) {
    return guard->page && *(const volatile uint8_t *)guard->page;
}
void chordal__fork_guard_close(chordal__fork_guard *guard);

#endif
