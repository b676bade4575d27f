/* value.h: immutable JSON trees that share structure. Nodes are counted; a count is not atomic. */
#ifndef CHORDAL_CORE_VALUE_H
#define CHORDAL_CORE_VALUE_H

#include "base/base.h"
#include "chordal/value.h"

/* An immutable value. NULL is never a value. Functions that return a node return NULL when out of memory (nothing else
 * fails in them); what they return is owned by the caller, what they are given is borrowed, unless it says "takes". */
typedef struct chordal__node chordal__node;

chordal__node *chordal__node_ref(chordal__node *node);
uint32_t chordal__node_owners(const chordal__node *node); /* 0: it needs none */
void chordal__node_unref(chordal__memory *memory,
                         chordal__node *node); /* NULL allowed; no recursion deeper than the depth limit */

/* ---- scalars ---- */
chordal__node *chordal__node_null(chordal__memory *memory);
chordal__node *chordal__node_bool(chordal__memory *memory, bool truth);
chordal__node *chordal__node_number(chordal__memory *memory, const chordal__number *number);
chordal__node *chordal__node_integer(chordal__memory *memory, int64_t integer);
chordal__node *chordal__node_string(chordal__memory *memory, const void *utf8, size_t len); /* valid WTF-8 (utf.c) */
/* A string of bytes that are not known to be valid; NULL with *out_fault SIZE_MAX: no memory, else where they are not.
 */
chordal__node *chordal__node_text(chordal__memory *memory, const uint8_t *text, size_t len, size_t *out_fault);

/* ---- reading ---- */
int chordal__node_kind(const chordal__node *node); /* CHORDAL_KIND_… */
void chordal__node_get_number(const chordal__node *node, chordal__number *out);
/* Members of an array or object, UTF-16 units of a string. O(1). */
uint64_t chordal__node_length(const chordal__node *node);
/* Containers in each other: 0 for a scalar, 1 for an empty container; O(1), an upper bound after deletions. */
uint32_t chordal__node_depth(const chordal__node *node);
uint64_t chordal__node_string_bytes(const chordal__node *node); /* UTF-8 bytes. O(1) */
/* Walk a string's pieces: *at starts 0 and is moved; false at the end. */
bool chordal__node_string_piece(const chordal__node *node, uint64_t *at, const uint8_t **out_data, size_t *out_len);
chordal__node *chordal__node_at(const chordal__node *array, uint64_t index); /* borrowed; NULL: none */
chordal__node *chordal__node_get(const chordal__node *object, const void *key,
                                 size_t key_len); /* borrowed; NULL: none */
/* The index-th member of an object in its order. False: out of range. */
bool chordal__node_member(const chordal__node *object, uint64_t index, const uint8_t **out_key, size_t *out_key_len,
                          chordal__node **out);

/* Iterate an array or object in order, O(1) amortised a step, in caller memory; the container is held by the caller. */
typedef struct chordal__walk {
    const chordal__node *container;
    uint64_t index;
    const void *leaf;
    uint32_t place;
} chordal__walk;
void chordal__walk_begin(chordal__walk *walk, const chordal__node *container);
/* Borrowed; NULL at the end. For arrays out_key may be NULL. */
chordal__node *chordal__walk_next(chordal__walk *walk, const uint8_t **out_key, size_t *out_key_len);
void chordal__walk_skip(chordal__walk *walk, uint64_t count); /* step over so many; there are as many */

/* ---- building: cost by what is added ---- */
chordal__node *chordal__node_array(chordal__memory *memory, chordal__node *const *items, size_t count); /* refs items */
chordal__node *chordal__node_object(chordal__memory *memory);                                           /* empty */

/* ---- new revisions: the old one stays as it is; cost O(log n) plus what is added ----
 * Each TAKES the caller's reference to `node` and gives a new one, so that a node with no other owner is changed in
 * place. On NULL (no memory) the taken node is given back unchanged in *still and still owned by the caller. */
chordal__node *chordal__node_splice(chordal__memory *memory, chordal__node *array, uint64_t index, uint64_t remove,
                                    chordal__node *const *items, size_t count,
                                    chordal__node **still); /* range checked by the caller */
chordal__node *chordal__node_put(chordal__memory *memory, chordal__node *object, const void *key, size_t key_len,
                                 chordal__node *value,
                                 chordal__node **still); /* refs value; keeps a present key's place */
chordal__node *chordal__node_remove(chordal__memory *memory, chordal__node *object, const void *key, size_t key_len,
                                    chordal__node **still); /* key is present, checked by the caller */
chordal__node *chordal__node_replace(chordal__memory *memory, chordal__node *array, uint64_t index,
                                     chordal__node *value, chordal__node **still);
chordal__node *chordal__node_append(chordal__memory *memory, chordal__node *string, const void *utf8, size_t len,
                                    chordal__node **still); /* joins surrogate halves */
chordal__node *chordal__node_concat(chordal__memory *memory, chordal__node *string, const chordal__node *more,
                                    chordal__node **still); /* the same; `more` is another string */
chordal__node *chordal__node_drop_front(chordal__memory *memory, chordal__node *string, uint64_t units,
                                        chordal__node **still);

/* ---- slot.c: changing deep inside a tree in place ---- */
/* A segment is an array index or an object key. */
typedef struct chordal__segment {
    bool is_key;
    uint32_t key_len;
    uint64_t index;
    const uint8_t *key;
} chordal__segment;
/* The slot of what lies `count` segments inside the value in *slot; `shift` is taken from the first index. The
 * containers on the way are made the slot's alone: what is shared is copied, the old revision stays. `deep`: how deep
 * the value may become (0: no deeper); the bounds on the way are raised. The slot is valid until a container above it
 * is changed other than through it. 0; NOT_FOUND; PATH: inside a scalar; TYPE: an index for an object or a key for an
 * array; NOMEM: then the values are the same, some in copies. */
int chordal__node_slot(chordal__memory *memory, chordal__node **slot, const chordal__segment *segments, uint32_t count,
                       uint64_t shift, uint32_t deep, chordal__node ***out);
/* Not where size is what counts: the shortest ways for what streams. */
/* The slot that lies there, if it is reached without a copy: `owners` hold the node itself, at most, and all below it
 * has one. NULL: it is not so, or something is not as it is to be. */
chordal__node **chordal__node_place(chordal__node *node, uint32_t owners, const chordal__segment *segments,
                                    uint32_t count);
/* Put `more`, a string, behind another, if this takes no memory and no copy; false: it is not so. */
bool chordal__node_extend(chordal__node *node, const chordal__node *more);
bool chordal__node_extends(chordal__node *node, const chordal__node *more); /* whether it would */

/* ---- comparing ---- */
bool chordal__node_equal(const chordal__node *a, const chordal__node *b); /* shared parts are not walked */
/* shared.c: how many members two arrays, or two objects, hold by the same memory, as far as it is told without looking
 * at each (0: it is not): from `index` on in both; before these ends. O(log n). */
uint64_t chordal__node_shared(const chordal__node *a, const chordal__node *b, uint64_t index);
uint64_t chordal__node_shared_before(const chordal__node *a, uint64_t a_end, const chordal__node *b, uint64_t b_end);
/* Canonical digest: FNV-1a over kind letters and contents, object keys sorted by their UTF-8 bytes. */
uint64_t chordal__node_digest(const chordal__node *node);
/* weigh.c: about the bytes of a value when packed; a walk that ends once they are more than `enough`. */
uint64_t chordal__node_weigh(const chordal__node *node, uint64_t enough);

/* ---- json.c, pack.c: readers and writers ---- */
#define CHORDAL__DEPTH_MAX 4096 /* no limit on nesting goes beyond */
typedef struct chordal__limits {
    uint32_t depth;
    uint64_t size; /* bytes of input */
} chordal__limits;
/* The whole of `data` is one value. Codes and positions as chordal_value_decode. */
int chordal__json_read(chordal__memory *memory, const uint8_t *data, size_t len, const chordal__limits *limits,
                       chordal__node **out, chordal_error *error);
/* Append what a well formed JSON string stands for, without its quotes. A low half joins a high one that `out` ends
 * with. */
void chordal__json_unescape(chordal__buffer *out, const uint8_t *data, size_t len);
/* One value at the start of what the reader has left; it moves behind it. Positions count from reader->data. */
int chordal__json_read_value(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                             chordal__node **out, chordal_error *error);
/* The first byte of a string's text that does not stand for itself; *ascii is cleared when others are stepped over. */
const uint8_t *chordal__json_skip_text(const uint8_t *at, const uint8_t *end, bool *ascii);
void chordal__json_write(chordal__buffer *buffer, const chordal__node *node);
void chordal__json_write_string(chordal__buffer *buffer, const uint8_t *utf8, size_t len); /* with quotes */

int chordal__pack_read(chordal__memory *memory, const uint8_t *data, size_t len, const chordal__limits *limits,
                       chordal__node **out, chordal_error *error);
int chordal__pack_read_value(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                             chordal__node **out, chordal_error *error);
/* Step over one value, checking it wholly as pack_read does, without building it. */
int chordal__pack_check(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                        chordal_error *error);
/* Step over one value that was checked before: duplicate keys are not looked for. */
int chordal__pack_skip(chordal__reader *reader, const chordal__limits *limits, chordal_error *error);
void chordal__pack_write(chordal__buffer *buffer, const chordal__node *node);
void chordal__pack_write_string(chordal__buffer *buffer, const void *utf8, size_t len);
void chordal__pack_write_array(chordal__buffer *buffer, uint64_t count);               /* the head only */
void chordal__pack_write_bytes(chordal__buffer *buffer, const void *data, size_t len); /* MessagePack bin */
void chordal__pack_write_integer(chordal__buffer *buffer, int64_t integer);
/* The same where there is room: the bytes written, at most 5 and 9. */
size_t chordal__pack_string_head(uint8_t *out, uint64_t len);
size_t chordal__pack_integer(uint8_t *out, int64_t integer);
/* Rewrite a value between formats without building a tree. */
int chordal__pack_from_json(chordal__buffer *out, chordal__reader *json, const chordal__limits *limits,
                            chordal_error *error);
int chordal__json_from_pack(chordal__buffer *out, chordal__reader *pack, const chordal__limits *limits,
                            chordal_error *error);

/* ---- box.c: the public handle ---- */
chordal_value *chordal__box_new(chordal__memory *memory,
                                chordal__node *node);         /* refs node and memory; NULL: no memory */
chordal__node *chordal__box_node(const chordal_value *value); /* borrowed */

#endif
