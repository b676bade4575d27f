/* node.h: how values lie in memory; for the files of this room alone.
 *
 * Null, booleans and small integers are no blocks: they are the pointer itself, told by its low bits. Every other node
 * is counted. A container is a group: a row of slots that own what they point to. Small arrays and objects are one
 * group; larger ones, and long strings, are a tree of chunks (tree.c). Besides values there are three kinds of nodes
 * that only containers own: shapes, entries and chunks. A reader lays small containers, short strings and numbers that
 * follow each other into one block, a lodge, which is given back when all of its lodgers are gone (lodge.c). */
#ifndef CHORDAL_CORE_VALUE_NODE_H
#define CHORDAL_CORE_VALUE_NODE_H

#include "value/value.h"

#define CHORDAL__SELDOM(condition) __builtin_expect(condition, 0)
/* In a branch: it is to be a jump. What follows is then computed ahead, where a select would wait for the condition. */
#define CHORDAL__JUMP __asm__ volatile("")

enum {
    CHORDAL__KIND_SHAPE = 16, /* chordal__shape: the keys of small objects */
    CHORDAL__KIND_ENTRY = 17, /* chordal__entry: a member of a large object */
    CHORDAL__KIND_CHUNK = 18  /* a group of a tree; form is its level, 0 a leaf; an inner one has ends behind */
};

/* LODGED: flat, and in a lodge. */
enum { CHORDAL__FLAT = 0, CHORDAL__TREE = 1, CHORDAL__LODGED = 2 };
#ifdef CHORDAL__NO_LODGES /* the builder makes none */
enum { CHORDAL__LODGES = 0 };
#else
enum { CHORDAL__LODGES = 1 };
#endif

#define CHORDAL__FLAT_MAX 64   /* members of a flat array or object */
#define CHORDAL__TEXT_MAX 2036 /* bytes of a flat string */

struct chordal__node {
    uint32_t references;
    uint8_t kind;
    uint8_t form;
    uint16_t extent; /* nesting of a container; of a flat string its room in bytes; of a string or number in a lodge
                      * its place there in words of 4 bytes */
};

typedef struct chordal__scalar {
    chordal__node head;
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
    } as;
} chordal__scalar;

typedef struct chordal__text { /* a flat string */
    chordal__node head;
    uint16_t bytes, units;
    uint8_t data[];
} chordal__text;

typedef struct chordal__shape {
    chordal__node head;    /* extent: 1 when JSON writes all keys without an escape */
    uint32_t count, bytes; /* keys, and the bytes of them all */
    uint32_t ends[];       /* where each key ends in the text; then a byte of each key's hash; then the text */
} chordal__shape;

typedef struct chordal__key {
    const uint8_t *data;
    size_t len;
    uint64_t position; /* in what is read */
} chordal__key;

typedef struct chordal__lodge {
    uint32_t live, size; /* lodgers, and 1 while more may come; bytes */
} chordal__lodge;

typedef struct chordal__entry {
    chordal__node head;
    uint64_t sequence; /* its rank by insertion */
    chordal__node *value;
    uint32_t key_len;
    uint8_t key[];
} chordal__entry;

/* Flat arrays: slots are the items. Flat objects: slot 0 is the shape (NULL when empty), the values follow. */
typedef struct chordal__group {
    chordal__node head;
    uint32_t count;           /* slots */
    uint16_t capacity, place; /* slots; where it is in a lodge, as a string's extent */
    chordal__node *slots[];
} chordal__group;

/* Behind the two slots of a container that is a tree. Slot 0 is the tree in order; slot 1 that of an object by key. */
typedef struct chordal__totals {
    uint64_t length; /* members, UTF-16 units */
    uint64_t other;  /* a string's bytes; the next sequence of an object */
} chordal__totals;

static inline bool chordal__is_block(const chordal__node *node) {
    return node && ((uintptr_t)node & 3) == 0;
}
static inline chordal__group *chordal__group_of(const chordal__node *node) {
    return (chordal__group *)(uintptr_t)node;
}
static inline chordal__text *chordal__text_of(const chordal__node *node) {
    return (chordal__text *)(uintptr_t)node;
}
static inline chordal__shape *chordal__shape_of(const chordal__node *node) {
    return (chordal__shape *)(uintptr_t)node;
}
static inline chordal__entry *chordal__entry_of(const chordal__node *node) {
    return (chordal__entry *)(uintptr_t)node;
}
static inline chordal__totals *chordal__totals_of(const chordal__node *node) {
    return (chordal__totals *)(void *)&chordal__group_of(node)->slots[2];
}
static inline bool chordal__is_tree(const chordal__node *node) {
    return node->form == CHORDAL__TREE;
}
static inline uint8_t *chordal__tags_of(const chordal__shape *shape) {
    return (uint8_t *)(uintptr_t)&shape->ends[shape->count];
}
static inline chordal__key chordal__shape_key(const chordal__node *node, size_t place) {
    const chordal__shape *shape = chordal__shape_of(node);
    uint32_t start = place ? shape->ends[place - 1] : 0;
    return (chordal__key){.data = chordal__tags_of(shape) + shape->count + start, .len = shape->ends[place] - start};
}
static inline unsigned chordal__kind_of(const chordal__node *node) {
    if ((uintptr_t)node & 1) return CHORDAL_KIND_INTEGER;
    return (uintptr_t)node & 2 ? (unsigned)((uintptr_t)node >> 2) : node->kind;
}
static inline chordal__node *chordal__constant(unsigned kind) {
    return (chordal__node *)(uintptr_t)(kind << 2 | 2);
}

/* An integer that is the pointer itself. */
static inline bool chordal__fits_pointer(const chordal__number *number) {
    return number->kind == CHORDAL_KIND_INTEGER && number->as.integer >= INTPTR_MIN / 2 &&
           number->as.integer <= INTPTR_MAX / 2;
}
static inline chordal__node *chordal__pointer_integer(int64_t integer) {
    return (chordal__node *)((uintptr_t)integer << 1 | 1);
}

/* Make the nesting of a container at least that of one that holds `item`. */
static inline void chordal__deepen(chordal__node *node, const chordal__node *item) {
    if (!chordal__is_block(item) || item->kind < CHORDAL_KIND_ARRAY) return;
    unsigned depth = item->extent + 1u;
    if (depth > node->extent && depth <= UINT16_MAX) node->extent = (uint16_t)depth;
}

static inline void chordal__head_init(chordal__node *head, unsigned kind, unsigned form, unsigned extent) {
    head->references = 1;
    head->kind = (uint8_t)kind;
    head->form = (uint8_t)form;
    head->extent = (uint16_t)extent;
}

/* ---- node.c ---- */
/* `count` is 0 and the slots are to be filled. */
chordal__group *chordal__group_new(chordal__memory *memory, unsigned kind, unsigned form, uint32_t capacity);
chordal__node *chordal__tree_node(chordal__memory *memory, unsigned kind);
size_t chordal__group_size(const chordal__group *group);
/* A group of the same form with `capacity`, its slots referenced once more. */
chordal__group *chordal__group_copy(chordal__memory *memory, const chordal__group *group, uint32_t capacity);
/* Resize a group without other owners, out of its lodge when it is in one; ends behind the slots are not kept. NULL
 * leaves it. */
chordal__group *chordal__group_resize(chordal__memory *memory, chordal__group *group, uint32_t capacity);
/* To change a container: itself when it has no other owner, else a copy; NULL: no memory. The end of the change: the
 * copy or the original is given back. */
chordal__node *chordal__edit_begin(chordal__memory *memory, chordal__node *node);
chordal__node *chordal__edit_end(chordal__memory *memory, chordal__node *node, chordal__node *work, bool done,
                                 chordal__node **still);

/* ---- lodge.c ---- */
typedef struct chordal__lodging {
    chordal__memory *memory;
    chordal__lodge *open; /* NULL: none yet */
    size_t used, total;   /* bytes of the open one that are taken, and of all */
} chordal__lodging;
/* Room for lodgers, 8-byte aligned, in lodging->open, whose `live` the caller adds to. `left`: about how many bytes
 * will be asked for besides. NULL: no memory. */
uint8_t *chordal__lodge_take(chordal__lodging *lodging, size_t size, size_t left);
void chordal__lodge_end(chordal__lodging *lodging); /* no more lodgers come */
static inline void chordal__lodge_leave(chordal__memory *memory, chordal__lodge *lodge) {
    if (--lodge->live == 0) chordal__release(memory, lodge, lodge->size);
}
static inline chordal__lodge *chordal__lodge_at(chordal__node *lodger, size_t place) {
    return (chordal__lodge *)(void *)((uint8_t *)lodger - 4 * place);
}
static inline unsigned chordal__lodge_place(const chordal__lodge *lodge, const void *lodger) {
    return (unsigned)((size_t)((const uint8_t *)lodger - (const uint8_t *)lodge) / 4);
}

/* ---- tree.c ---- */
#define CHORDAL__CHUNK_MAX 32
#define CHORDAL__LEVELS 16

/* A splice that was prepared: it can no longer fail, and until it is done the tree has the old content. */
typedef struct chordal__tree_edit {
    chordal__node **root;
    chordal__node *made; /* a new root, or NULL: in place */
    chordal__node *const *items;
    size_t count, remove;
    chordal__group *path[CHORDAL__LEVELS];
    uint32_t places[CHORDAL__LEVELS];
    uint32_t levels;
} chordal__tree_edit;

chordal__node *chordal__tree_new(chordal__memory *memory, chordal__node *const *items, size_t count);
size_t chordal__tree_count(const chordal__node *chunk);
const chordal__group *chordal__tree_leaf(const chordal__node *root, size_t index, uint32_t *out_place);
chordal__node *chordal__tree_at(const chordal__node *root, size_t index);
/* Items from `index` on that both trees hold by the same chunk. */
size_t chordal__tree_shared(const chordal__node *a, const chordal__node *b, size_t index);
bool chordal__tree_prepare(chordal__tree_edit *edit, chordal__memory *memory, chordal__node **root, size_t index,
                           size_t remove, chordal__node *const *items, size_t count);
void chordal__tree_commit(chordal__tree_edit *edit, chordal__memory *memory);
void chordal__tree_cancel(chordal__tree_edit *edit, chordal__memory *memory);
bool chordal__tree_splice(chordal__memory *memory, chordal__node **root, size_t index, size_t remove,
                          chordal__node *const *items, size_t count);
/* The slot of an item, whose path has no other owner after that; NULL: no memory. */
chordal__node **chordal__tree_own(chordal__memory *memory, chordal__node **root, size_t index);
/* An item whose path has no other owner; NULL: it has. Not where size is what counts. */
chordal__node **chordal__tree_alone(chordal__node *root, size_t index);
/* How many items are below what `compare` looks for; it tells the order of an item against that. */
typedef int chordal__tree_order(const void *wanted, const chordal__node *item);
size_t chordal__tree_find(const chordal__node *root, chordal__tree_order *compare, const void *wanted, bool *out_found);

/* ---- shape.c ---- */
static inline uint64_t chordal__load8(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
static inline uint32_t chordal__load4(const uint8_t *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
/* memcmp for short texts: words that may overlap instead of a call. */
static inline bool chordal__same_few(const uint8_t *a, const uint8_t *b, size_t len) { /* up to 16 */
    if (len >= 8)
        return chordal__load8(a) == chordal__load8(b) && chordal__load8(a + len - 8) == chordal__load8(b + len - 8);
    if (len >= 4)
        return chordal__load4(a) == chordal__load4(b) && chordal__load4(a + len - 4) == chordal__load4(b + len - 4);
    return len == 0 || (a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1]);
}
static inline bool chordal__same_bytes(const uint8_t *a, const uint8_t *b, size_t len) {
    return CHORDAL__SMALL || len > 16 ? memcmp(a, b, len) == 0 : chordal__same_few(a, b, len);
}
static inline void chordal__copy_text(uint8_t *to, const uint8_t *from, size_t len) {
#if defined(__SSE2__) && !defined(__OPTIMIZE_SIZE__)
    if (len <= 128) {
        for (size_t at = 0; at < len - 16; at += 16) memcpy(to + at, from + at, 16);
        memcpy(to + len - 16, from + len - 16, 16);
        return;
    }
#endif
    memcpy(to, from, len);
}
/* memcpy likewise. */
static inline void chordal__copy_bytes(uint8_t *to, const uint8_t *from, size_t len) {
    if (CHORDAL__SMALL || len > 16) {
        chordal__copy_text(to, from, len);
    } else if (len >= 8) {
        uint64_t first = chordal__load8(from), last = chordal__load8(from + len - 8);
        memcpy(to, &first, 8);
        memcpy(to + len - 8, &last, 8);
    } else if (len >= 4) {
        uint32_t first = chordal__load4(from), last = chordal__load4(from + len - 4);
        memcpy(to, &first, 4);
        memcpy(to + len - 4, &last, 4);
    } else {
        for (size_t i = 0; i < len; i++) to[i] = from[i];
    }
}
static inline bool chordal__key_is(chordal__key key, const void *data, size_t len) {
    return key.len == len && chordal__same_bytes(key.data, data, len);
}
uint32_t chordal__key_hash(const void *key, size_t len);
chordal__node *chordal__shape_new(chordal__memory *memory, const chordal__key *keys, size_t count);
#define CHORDAL__FEW_KEYS 6 /* are compared without a look at their hashes */
/* As shape_find, for few keys and one of up to 16 bytes: without a call. */
static inline uint32_t chordal__shape_find_few(const chordal__shape *shape, const uint8_t *key, size_t len) {
    const uint8_t *text = chordal__tags_of(shape) + shape->count;
    uint32_t start = 0;
    for (uint32_t i = 0; i < shape->count; start = shape->ends[i++])
        if (shape->ends[i] - start == len && chordal__same_few(text + start, key, len)) return i;
    return shape->count;
}
/* The place of a key, or the number of keys. `shape` may be NULL. */
uint32_t chordal__shape_find(const chordal__node *shape, const void *key, size_t len);
/* The place of the first key that was there before, or the number of keys. */
uint32_t chordal__shape_duplicate(const chordal__node *shape);
/* Whether these are its keys in this order. */
bool chordal__shape_has(const chordal__node *shape, const chordal__key *keys, size_t count);
/* Let a flat object share the shape of another when the keys are the same; its value stays. */
void chordal__shape_share(chordal__memory *memory, chordal__node *object, const chordal__node *like);

/* ---- string.c ---- */
chordal__node *chordal__text_new(chordal__memory *memory, const void *utf8, size_t len, size_t units);
/* Whether a flat string can be put behind one where it lies: nobody else holds that and it has the room. */
static inline bool chordal__text_fits(const chordal__node *string, const chordal__node *more) {
    const chordal__text *text = chordal__text_of(string), *added = chordal__text_of(more);
    if (string->form != CHORDAL__FLAT || string->references > 1 || chordal__is_tree(more)) return false;
    if (text->bytes + added->bytes > string->extent) return false;
    return !added->bytes || added->data[0] != 0xed; /* a half may join */
}
static inline bool chordal__text_extend(chordal__node *string, const chordal__node *more) {
    chordal__text *text = chordal__text_of(string), *added = chordal__text_of(more);
    if (!chordal__text_fits(string, more)) return false;
    chordal__copy_bytes(text->data + text->bytes, added->data, added->bytes);
    text->bytes = (uint16_t)(text->bytes + added->bytes);
    text->units = (uint16_t)(text->units + added->units);
    return true;
}
/* A string whose UTF-16 units were counted; any length. */
chordal__node *chordal__string_new(chordal__memory *memory, const void *utf8, size_t len, size_t units);

/* ---- object.c ---- */
chordal__node *chordal__entry_new(chordal__memory *memory, const void *key, size_t len, uint64_t sequence);
/* A large object of entries with value and distinct keys; numbers them. `sorted` are the same by key. Refs them. */
chordal__node *chordal__object_of_entries(chordal__memory *memory, chordal__node *const *entries,
                                          chordal__node *const *sorted, size_t count);
/* In a large object: the place of a key in the order of keys, and the slot of the value at such a place, which no other
 * object has after that; NULL: no memory. */
size_t chordal__object_rank(const chordal__node *object, const void *key, size_t len, bool *out_found);
chordal__node **chordal__object_own(chordal__memory *memory, chordal__node *object, size_t rank);
int chordal__key_compare(const void *a, size_t a_len, const void *b, size_t b_len);

/* ---- sort.c ---- */
typedef struct chordal__sort_key {
    uint64_t prefix; /* filled by the sort */
    const uint8_t *data;
    size_t len;
    size_t index; /* the caller's */
} chordal__sort_key;
/* Sort by bytes, stable; `spare` holds as many. False: two keys are the same; *out_again is the lowest index of a key
 * that was there before. */
bool chordal__keys_sort(chordal__sort_key *keys, chordal__sort_key *spare, size_t count, size_t *out_again);

/* ---- the events of a reader (json_read.c, pack_read.c) and who takes them (build.c, convert.c) ---- */
/* ASCII: no byte is above 0x7f, else it is not known. STABLE: the bytes lie in the input and not in a scratch. */
enum { CHORDAL__ASCII = 1, CHORDAL__STABLE = 2 };

/* A value that waits in a builder: a node, or a short string in the input. */
typedef struct chordal__item {
    union {
        chordal__node *node;
        const uint8_t *text;
    } is;
    uint32_t len, units; /* len IS_NODE: a node */
} chordal__item;
#define CHORDAL__IS_NODE UINT32_MAX
#define CHORDAL__WAIT_MAX 256    /* bytes of a string that waits */
#define CHORDAL__LODGED_MAX 1024 /* bytes of strings that are laid beside their container */

/* A stack. It begins in the builder itself: small values ask for no memory but their own. */
typedef struct chordal__row {
    void *items;
    size_t count, capacity, item_size;
} chordal__row;

/* What a string takes in a lodge. */
static inline size_t chordal__lodger_size(size_t len) {
    return (offsetof(chordal__text, data) + len + 3) & ~(size_t)3;
}

typedef struct chordal__sink chordal__sink;
typedef struct chordal__sink_calls {
    int (*open)(chordal__sink *sink, bool object, size_t count); /* count: 0 when it is not known */
    int (*close)(chordal__sink *sink);
    int (*key)(chordal__sink *sink, const chordal__key *key, unsigned flags);
    int (*string)(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags);
    int (*number)(chordal__sink *sink, const chordal__number *number);
    int (*constant)(chordal__sink *sink, unsigned kind);
    /* An object ends of which all keys were expected, and in its array comes another one. */
    int (*next)(chordal__sink *sink);
} chordal__sink_calls;
struct chordal__sink {
    const chordal__sink_calls *calls;
    chordal__memory *memory;
    /* While the keys of an object are those of this shape (which JSON writes without escapes), the reader only counts
     * them and gives no event. NULL: none is expected. */
    const chordal__shape *shape;
    uint32_t agreed;
    /* While a shape is expected the reader may put values there that need no memory, and gives no event for them. */
    chordal__row values;
    uint16_t *lodging; /* bytes of the strings among them that wait; more than LODGED_MAX: none may */
    size_t left;       /* bytes of input behind what is given, about: told with a close and with numbers of 8 bytes */
    uint64_t position; /* of what it refused (DUPLICATE_KEY) */
};
/* The key that is expected; false: none. */
static inline bool chordal__sink_expects(const chordal__sink *sink, chordal__key *out) {
    if (CHORDAL__SMALL || !sink->shape || sink->agreed == sink->shape->count) return false;
    *out = chordal__shape_key(&sink->shape->head, sink->agreed);
    return true;
}

/* Putting values there, with what changes in registers. */
typedef struct chordal__taking {
    const chordal__shape *shape;
    chordal__item *next;
    const uint8_t *text; /* a string that may not wait, NULL: none was met */
    size_t len;
    uint32_t lodging, agreed;
} chordal__taking;
/* False: there is no shape, or no place for all of its values. */
static inline bool chordal__take_begin(chordal__taking *to, const chordal__sink *sink) {
    const chordal__row *values = &sink->values;
    if (!sink->shape || values->capacity - values->count < sink->shape->count) return false;
    *to = (chordal__taking){.shape = sink->shape, .lodging = *sink->lodging, .agreed = sink->agreed};
    to->next = (chordal__item *)values->items + values->count;
    return true;
}
/* A string that may not wait is given by an event, if one was met. */
static inline int chordal__take_end(const chordal__taking *to, chordal__sink *sink) {
    sink->values.count = (size_t)(to->next - (chordal__item *)sink->values.items);
    *sink->lodging = (uint16_t)to->lodging;
    sink->agreed = to->agreed;
    return to->text ? sink->calls->string(sink, to->text, to->len, CHORDAL__STABLE | CHORDAL__ASCII) : 0;
}
static inline void chordal__take_node(chordal__taking *to, chordal__node *node) {
    to->next->is.node = node;
    to->next++->len = CHORDAL__IS_NODE;
}
/* A string of ASCII that lies in the input; false: it may not wait. */
static inline bool chordal__take_text(chordal__taking *to, const uint8_t *text, size_t len) {
    size_t lodging = to->lodging + chordal__lodger_size(len);
    if (len > CHORDAL__WAIT_MAX || lodging > CHORDAL__LODGED_MAX) {
        to->text = text;
        to->len = len;
        return false;
    }
    to->lodging = (uint32_t)lodging;
    *to->next++ = (chordal__item){{.text = text}, (uint32_t)len, (uint32_t)len};
    return true;
}
/* False: it is no pointer. */
static inline bool chordal__take_integer(chordal__taking *to, int64_t integer) {
    if (integer < INTPTR_MIN / 2 || integer > INTPTR_MAX / 2) return false;
    chordal__take_node(to, chordal__pointer_integer(integer));
    return true;
}

int chordal__json_parse(chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink,
                        chordal_error *error);
int chordal__pack_parse(chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink,
                        chordal_error *error);

/* ---- build.c: a sink that makes nodes ---- */
typedef int chordal__parse(chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink,
                           chordal_error *error);
int chordal__build(chordal__memory *memory, chordal__parse *parse, chordal__reader *reader,
                   const chordal__limits *limits, chordal__node **out, chordal_error *error);

/* ---- out.c: writing at the end of a buffer, with the place in a register ---- */
typedef struct chordal__out {
    chordal__buffer *buffer;
    uint8_t *end; /* of the buffer's room */
} chordal__out;
/* Where the buffer ends; NULL as well when it has no room yet. */
static inline uint8_t *chordal__out_begin(chordal__out *out, chordal__buffer *buffer) {
    out->buffer = buffer;
    out->end = buffer->data && !buffer->failed ? buffer->data + buffer->capacity : NULL;
    return out->end ? buffer->data + buffer->len : NULL;
}
/* Set the buffer's failure; returns NULL. */
uint8_t *chordal__out_fail(chordal__out *out, int code);
/* Make room for `size` more; NULL: the buffer failed, which stays so until the end. */
uint8_t *chordal__out_grow(chordal__out *out, uint8_t *at, size_t size);
static inline uint8_t *chordal__out_room(chordal__out *out, uint8_t *at, size_t size) {
    return at && (size_t)(out->end - at) >= size ? at : chordal__out_grow(out, at, size);
}
static inline void chordal__out_end(chordal__out *out, uint8_t *at) {
    if (at) out->buffer->len = (size_t)(at - out->buffer->data);
}

/* ---- walk.c ---- */
/* As walk_next, with flat containers inline. */
static inline chordal__node *chordal__next_member(chordal__walk *walk, const uint8_t **out_key, size_t *out_key_len) {
    const chordal__group *group = chordal__group_of(walk->container);
    if (chordal__is_tree(&group->head)) return chordal__walk_next(walk, out_key, out_key_len);
    if (group->head.kind == CHORDAL_KIND_ARRAY) return walk->index < group->count ? group->slots[walk->index++] : NULL;
    if (walk->index + 1 >= group->count) return NULL;
    chordal__key key = chordal__shape_key(group->slots[0], (size_t)walk->index);
    *out_key = key.data;
    *out_key_len = key.len;
    return group->slots[++walk->index];
}
/* A writer for a container; `walks`, to `end`, has one for each level of its nesting. */
typedef uint8_t *chordal__write_container(chordal__out *out, uint8_t *at, const chordal__node *node,
                                          chordal__walk *walks, const chordal__walk *end);
uint8_t *chordal__write_deep(chordal__out *out, uint8_t *at, const chordal__node *node,
                             chordal__write_container *write);

/* ---- trail.c: a walk through all nesting that needs no memory and cannot fail ---- */
#define CHORDAL__TRAIL_NEAR 32
typedef struct chordal__trail_level {
    const chordal__node *a, *b;
    const chordal__group *leaf; /* of a tree: where the next item is */
    uint32_t place;
    uint32_t at; /* how many members were visited; of a flat object the slot of the last one */
} chordal__trail_level;

/* The innermost levels are at hand; of the others only the place is kept, and they are found again from the root. */
typedef struct chordal__trail {
    const chordal__node *a, *b;
    bool sorted;            /* objects by key */
    uint32_t depth, lowest; /* `lowest`: the outermost level at hand */
    chordal__trail_level near[CHORDAL__TRAIL_NEAR];
    uint32_t at[CHORDAL__DEPTH_MAX];
} chordal__trail;
typedef struct chordal__trail_step {
    const chordal__node *a, *b; /* b: what corresponds to a, NULL when there is none */
    const uint8_t *key;
    size_t key_len;
} chordal__trail_step;

/* `b` may be NULL, else it is a container of the same kind as `a`. */
void chordal__trail_begin(chordal__trail *trail, const chordal__node *a, const chordal__node *b, bool sorted);
static inline chordal__trail_level *chordal__trail_top(chordal__trail *trail) {
    return &trail->near[(trail->depth - 1) % CHORDAL__TRAIL_NEAR];
}
/* The next member of the innermost container; false at its end. */
bool chordal__trail_next(chordal__trail *trail, chordal__trail_step *out);
/* No value is nested deeper than DEPTH_MAX; if one were, it would not be entered there. */
void chordal__trail_enter(chordal__trail *trail, const chordal__trail_step *step);
void chordal__trail_leave(chordal__trail *trail);

/* ---- keys.c: the keys of the objects that a stream has open ---- */
typedef struct chordal__keys {
    chordal__memory *memory;
    chordal__sort_key *items; /* prefix: where the key lies; index: its position in the input */
    size_t count, capacity;
    size_t *starts;
    size_t depth, depth_capacity;
} chordal__keys;
void chordal__keys_dispose(chordal__keys *keys);
int chordal__keys_open(chordal__keys *keys);
int chordal__keys_add(chordal__keys *keys, size_t offset, size_t len, uint64_t position);
/* DUPLICATE_KEY with its position, NOMEM. `base` is what the offsets count from. */
int chordal__keys_close(chordal__keys *keys, const uint8_t *base, uint64_t *out_position);

/* ---- json_write.c ---- */
void chordal__json_write_number(chordal__buffer *buffer, const chordal__number *number);
void chordal__json_write_constant(chordal__buffer *buffer, unsigned kind);

/* ---- pack_write.c ---- */
void chordal__pack_write_number(chordal__buffer *buffer, const chordal__number *number);
void chordal__pack_write_constant(chordal__buffer *buffer, unsigned kind);
void chordal__pack_write_map(chordal__buffer *buffer, uint64_t count);
/* Heads of at most 5 bytes; returns how many. */
size_t chordal__pack_head(uint8_t *out, bool map, uint64_t count);

#endif
