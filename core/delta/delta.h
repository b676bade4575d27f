/* delta.h: what changed: paths, ops, applying, diffing, drafting, folding, the path dictionary. */
#ifndef CHORDAL_CORE_DELTA_H
#define CHORDAL_CORE_DELTA_H

#include "value/value.h"
#include "chordal/record.h"

/* ---- path.c ---- */
/* A counted, immutable path. Across objects the first segment is the index of the member. */
typedef struct chordal__path {
    uint32_t references;
    uint32_t count;
    uint64_t hash;               /* of the canonical bytes */
    size_t size;                 /* of this block */
    uint32_t weight;             /* bytes when written inline */
    uint32_t hint;               /* its number in the dictionary that was asked last */
    chordal__segment segments[]; /* keys lie behind */
} chordal__path;
chordal__path *chordal__path_new(chordal__memory *memory, const chordal__segment *segments,
                                 size_t count); /* copies keys; NULL: no memory */
chordal__path *chordal__path_ref(chordal__path *path);
void chordal__path_unref(chordal__memory *memory, chordal__path *path);
bool chordal__path_equal(const chordal__path *a, const chordal__path *b);
/* A JSON Pointer inside the document `root`, behind the segment `member`: whether a token is an index is decided by
 * what it meets. PATH, NOMEM. */
int chordal__path_from_pointer(chordal__memory *memory, uint32_t member, const char *pointer, const chordal__node *root,
                               chordal__path **out, chordal_error *error);

/* The pointers that were read last, with their paths: what was changed is soon changed again. */
#define CHORDAL__POINTERS 8
#define CHORDAL__POINTER_BYTES 52 /* of a longer one nothing is kept */
typedef struct chordal__pointer {
    chordal__path *path; /* owned; NULL: none */
    uint32_t len;
    char text[CHORDAL__POINTER_BYTES];
} chordal__pointer;
typedef struct chordal__pointers {
    chordal__memory *memory;
    chordal__pointer kept[CHORDAL__SMALL ? 1 : CHORDAL__POINTERS];
} chordal__pointers;
void chordal__pointers_init(chordal__pointers *pointers, chordal__memory *memory);
void chordal__pointers_dispose(chordal__pointers *pointers);
/* The path of a pointer when it was read last, borrowed; NULL: it is not known. Another document may lead elsewhere by
 * it: it is one for `root` if every segment but the first meets an array or an object there, as it needs it. */
chordal__path *chordal__pointers_known(const chordal__pointers *pointers, uint32_t member, const char *pointer);
/* As path_from_pointer, by what is known. */
int chordal__pointers_path(chordal__pointers *pointers, uint32_t member, const char *pointer, const chordal__node *root,
                           CHORDAL_OWN chordal__path **out, chordal_error *error);

/* ---- ops.c: a list of ops ---- */
typedef struct chordal__op {
    uint8_t kind;           /* CHORDAL_OP_… */
    uint64_t index, remove; /* SPLICE; TRUNCATE: index is the count */
    chordal__path *path;    /* owned; NULL only for GENERATION. ERROR: the member alone */
    chordal__node *value;   /* owned: REPLACE, SET, ASSIGN: the value; APPEND: a string; SPLICE: an array (NULL: none);
                             * ERROR: NULL clears, else the array [code, message] */
    uint32_t *indexes;      /* owned: PERMUTE */
    uint32_t indexes_len;
    uint64_t weight, drift; /* the list's: its part of the list's weight, and how much of that is guessed */
} chordal__op;

typedef struct chordal__ops {
    chordal__memory *memory;
    chordal__op *items;
    size_t count, capacity;
    uint64_t weight; /* about the bytes they take encoded: the bound for folding */
} chordal__ops;

#define CHORDAL__OPS_LIMIT 4096 /* ops in one change of one member; beyond it the member is replaced */

void chordal__ops_init(chordal__ops *ops, chordal__memory *memory);
void chordal__ops_clear(chordal__ops *ops);             /* keeps the memory of the list */
void chordal__ops_cut(chordal__ops *ops, size_t count); /* keep the first ones */
void chordal__ops_dispose(chordal__ops *ops);
/* TAKES what the op owns, also when it fails (NOMEM). */
int chordal__ops_push(chordal__ops *ops, chordal__op op);
/* The same in place: an op that is to be filled, NULL: no memory; it is one of the list's when it is kept. */
chordal__op *chordal__ops_next(chordal__ops *ops);
void chordal__ops_keep(chordal__ops *ops);
/* Append copies (shared nodes and paths) of `more`, which stays. NOMEM leaves `ops` as it was. */
int chordal__ops_append(chordal__ops *ops, const chordal__ops *more);
void chordal__op_dispose(chordal__memory *memory, chordal__op *op);

/* ---- apply.c ---- */
/* Apply one op to the value of one member; op->path's first segment (the member) is skipped. ERROR, DEFINE and
 * GENERATION are not for here. TAKES *value and puts the new one there; on failure *value is as before. `depth` is the
 * limit on nesting of the result. Codes: PATH, TYPE, RANGE, PERMUTATION, DEPTH, NOMEM. */
int chordal__apply(chordal__memory *memory, chordal__node **value, const chordal__op *op, uint32_t depth,
                   chordal_error *error);
/* The node at the path behind the member, borrowed; NULL: there is none. */
chordal__node *chordal__resolve(chordal__node *value, const chordal__path *path);

/* ---- diff.c ---- */
/* Append to `ops` what turns `before` into `after` at `path`. Linear; good for appends, windows, splices, moves,
 * permutations and per-key changes; replaces the place when more than CHORDAL__OPS_LIMIT ops would be needed or they
 * would outweigh the value. `before` NULL: there was no value. Equal values give no op. NOMEM leaves ops as they
 * were. */
int chordal__diff(chordal__ops *ops, chordal__path *path, const chordal__node *before, const chordal__node *after);

/* ---- draft.c: a mutable view of one member during a transaction ---- */
typedef struct chordal__draft {
    chordal__memory *memory;
    chordal__node *base;   /* owned: where it started */
    chordal__node *value;  /* owned: what it is now */
    chordal__ops ops;      /* what was done, merged where it is cheap (append into append); empty: nothing changed */
    chordal__op waits;     /* the one op, while it is not in the value yet; path NULL: none */
    chordal__node **place; /* where, as it was found last */
    uint32_t depth;        /* limit */
} chordal__draft;
int chordal__draft_begin(chordal__draft *draft, chordal__memory *memory, chordal__node *base,
                         uint32_t depth); /* refs base */
/* Do one op. TAKES what it owns, also when it fails; the draft is as before then. ASSIGN is diffed; an op without
 * effect leaves no trace. */
int chordal__draft_do(chordal__draft *draft, chordal__op op, chordal_error *error);
/* An op that is the first and takes no memory, an append or a set of what is no deeper: it waits, if nobody would
 * notice that it is done where its place lies. False: it is to be done like others. */
bool chordal__draft_put_off(chordal__draft *draft, chordal__op *op); /* TAKES what it owns when true */
static inline bool chordal__draft_waits(const chordal__draft *draft) {
    return !CHORDAL__SMALL && draft->waits.path;
}
/* What waits comes into the value: in a copy, as other ops do (NOMEM: it waits on), */
int chordal__draft_apply(chordal__draft *draft, chordal_error *error);
/* or where it lies: only when all who hold the base are to see it, and its place was found again just before. */
bool chordal__draft_find_place(chordal__draft *draft);
void chordal__draft_apply_in_place(chordal__draft *draft);
void chordal__draft_dispose(chordal__draft *draft);

/* ---- fold.c ---- */
/* Merge `more`, which happened after, into `ops`: the same value results. Appends to one string become one append, a
 * replace drops what was before on its member, a set after a set on one path is one set; the rest is kept in order.
 * GENERATION and DEFINE do not occur here. NOMEM leaves `ops` as it was. */
int chordal__fold(chordal__ops *ops, const chordal__ops *more);

/* ---- dictionary.c: the path dictionary of a stream; its content is a function of the cut ---- */
/* A generation begins empty. A path is defined at the commit at which it is used for the second time within the last
 * CHORDAL__DICTIONARY_RECENT distinct paths; ids count from 0; a full dictionary begins a new generation at the next
 * definition. */
#define CHORDAL__DICTIONARY_RECENT 64
#define CHORDAL__DICTIONARY_LIMIT 1024 /* what every reader takes */
typedef struct chordal__dictionary_entry {
    chordal__path *path;
    uint64_t cut; /* the commit that defined it */
} chordal__dictionary_entry;
typedef struct chordal__dictionary {
    chordal__memory *memory;
    chordal__dictionary_entry *entries;
    size_t count, capacity, limit;
    uint64_t generation_cut; /* the commit at which this generation began; 0: from the start */
    chordal__map index;
    chordal__path **recent; /* made by the first note: readers have none */
    uint32_t recent_at;
} chordal__dictionary;
int chordal__dictionary_init(chordal__dictionary *dictionary, chordal__memory *memory, size_t limit,
                             const uint64_t seed[2]);
void chordal__dictionary_dispose(chordal__dictionary *dictionary);
/* Provider: a commit `cut` uses these ops' paths. Definitions made are remembered with the cut. NOMEM: no definition
 * was made. */
int chordal__dictionary_note(chordal__dictionary *dictionary, const chordal__ops *ops, uint64_t cut);
/* The id of a path, or -1. */
int64_t chordal__dictionary_id(const chordal__dictionary *dictionary, chordal__path *path);
/* Reader side: define the next id; RANGE when full. refs path. */
int chordal__dictionary_define(chordal__dictionary *dictionary, chordal__path *path, uint64_t cut);
/* Forget what was defined after this cut; false: a generation began since, and what it took the place of is gone. */
bool chordal__dictionary_back(chordal__dictionary *dictionary, uint64_t cut);
void chordal__dictionary_reset(chordal__dictionary *dictionary, uint64_t cut); /* a new generation */

#endif
