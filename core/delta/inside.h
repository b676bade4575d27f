/* inside.h: what the files of this room share with each other alone. */
#ifndef CHORDAL_CORE_DELTA_INSIDE_H
#define CHORDAL_CORE_DELTA_INSIDE_H

#include "delta/delta.h"

/* ---- path.c ---- */
bool chordal__segment_equal(const chordal__segment *a, const chordal__segment *b);
uint32_t chordal__path_common(const chordal__path *a, const chordal__path *b); /* equal segments at the front */

/* ---- ops.c ---- */
uint64_t chordal__op_weigh(const chordal__op *op);
int chordal__op_copy(chordal__memory *memory, const chordal__op *from, chordal__op *to);
int chordal__ops_reserve(chordal__ops *ops, size_t more);

/* ---- apply.c ---- */
/* Apply an op to a value that lies `skip` segments below the op's root; `shift` is taken from the first index. */
typedef struct chordal__inside {
    uint32_t skip, depth;
    uint64_t shift;
} chordal__inside;
int chordal__apply_inside(chordal__memory *memory, chordal__node **value, const chordal__op *op,
                          const chordal__inside *inside, chordal_error *error);
chordal__node *chordal__step(chordal__node *container, const chordal__segment *segment); /* borrowed; NULL: none */

/* ---- merge.c: what a later op does to an earlier one ---- */
typedef enum chordal__relation {
    CHORDAL__APART,   /* they may change places */
    CHORDAL__BLOCKED, /* nothing before the earlier one may be reached */
    CHORDAL__UNDONE,  /* the later one overwrites all that the earlier one did */
    CHORDAL__TAKEN,   /* both are one op: chordal__op_merge makes it */
} chordal__relation;
chordal__relation chordal__op_relate(const chordal__op *earlier, const chordal__op *later);
/* Make `earlier` do both. 0; NOMEM or another code: unchanged. */
int chordal__op_merge(chordal__memory *memory, chordal__op *earlier, const chordal__op *later);

/* ---- diff.c: what its parts share ---- */
typedef struct chordal__differ {
    chordal__ops *ops;
    chordal__path *root;
    size_t start; /* ops that were there before */
    chordal__segment *segments;
    size_t count, capacity; /* where the comparison is; at first the root's segments */
} chordal__differ;
/* All answer 0, NOMEM, or LIMIT when there are too many ops. */
int chordal__differ_enter(chordal__differ *differ, chordal__segment segment); /* left with differ->count-- */
int chordal__differ_emit(chordal__differ *differ, chordal__op op);            /* TAKES it; makes the path */
int chordal__differ_set(chordal__differ *differ, const chordal__node *value);
int chordal__differ_compare(chordal__differ *differ, const chordal__node *before, const chordal__node *after);
int chordal__differ_text(chordal__differ *differ, const chordal__node *before, const chordal__node *after);
int chordal__differ_object(chordal__differ *differ, const chordal__node *before, const chordal__node *after);
int chordal__differ_array(chordal__differ *differ, const chordal__node *before, const chordal__node *after);

#define CHORDAL__DIFFER_STRIDE 16 /* members that are compared before shared memory is looked for again */

/* ---- diff_match.c: which elements of two lists are the same ---- */
#define CHORDAL__UNMATCHED UINT32_MAX
/* match[j]: the place in `before` of the element equal to after[j]; no place twice. 0, NOMEM. */
int chordal__match(chordal__memory *memory, chordal__node *const *before, uint32_t before_count,
                   chordal__node *const *after, uint32_t after_count, uint32_t *match);

/* ---- fold.c ---- */
/* Push an op, merged into one of the last `reach` when that works. TAKES what the op owns. Room for it was reserved:
 * cannot fail. */
void chordal__fold_push(chordal__ops *ops, chordal__op *op, size_t reach);

#endif
