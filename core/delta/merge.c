/* merge.c: how an op stands to an earlier one, and one op that does what two did.
 *
 * A later op may be taken into an earlier one when it could as well have happened right behind it: everything between
 * them must be apart from the later one. */
#include "delta/inside.h"

enum { A = CHORDAL__APART, B = CHORDAL__BLOCKED, U = CHORDAL__UNDONE, T = CHORDAL__TAKEN };

#define LETTERS (CHORDAL_OP_PERMUTE + 1)

/* Both on one place: [earlier][later]. */
static const uint8_t same_place[LETTERS][LETTERS] = {
    /*                        r  s  d  a  t  p  m */
    [CHORDAL_OP_REPLACE] = {T, B, B, T, T, T, T},  [CHORDAL_OP_SET] = {B, T, B, T, T, T, T},
    [CHORDAL_OP_DELETE] = {B, T, B, B, B, B, B},   [CHORDAL_OP_APPEND] = {U, U, U, T, B, B, B},
    [CHORDAL_OP_TRUNCATE] = {U, U, U, B, T, B, B}, [CHORDAL_OP_SPLICE] = {U, U, U, B, B, T, B},
    [CHORDAL_OP_PERMUTE] = {U, U, U, B, B, B, T},
};

static uint64_t inserted(const chordal__op *splice) {
    return splice->value ? chordal__node_length(splice->value) : 0;
}

/* Whether a splice touches what an earlier one put in, or its edges. */
static bool adjacent(const chordal__op *earlier, const chordal__op *later) {
    return later->index <= earlier->index + inserted(earlier) && later->index + later->remove >= earlier->index;
}

static chordal__relation relate_same(const chordal__op *earlier, const chordal__op *later) {
    const chordal__segment *last = &later->path->segments[later->path->count - 1];
    if (earlier->kind == CHORDAL_OP_DELETE && !last->is_key) return CHORDAL__BLOCKED;
    if (earlier->kind == CHORDAL_OP_SPLICE && later->kind == CHORDAL_OP_SPLICE && !adjacent(earlier, later)) {
        return CHORDAL__BLOCKED;
    }
    return (chordal__relation)same_place[earlier->kind][later->kind];
}

/* Whether the op removes the element at `depth` segments and so moves those behind it. */
static bool removes_at(const chordal__op *op, uint32_t depth) {
    return op->kind == CHORDAL_OP_DELETE && op->path->count == depth + 1;
}

/* The earlier op's place holds the later one's. */
static chordal__relation relate_above(const chordal__op *earlier, const chordal__op *later) {
    if (earlier->kind == CHORDAL_OP_REPLACE || earlier->kind == CHORDAL_OP_SET) return CHORDAL__TAKEN;
    uint32_t depth = earlier->path->count;
    uint64_t at = later->path->segments[depth].index;
    if (earlier->kind != CHORDAL_OP_SPLICE || later->path->segments[depth].is_key) return CHORDAL__BLOCKED;
    if (at < earlier->index) return removes_at(later, depth) ? CHORDAL__BLOCKED : CHORDAL__APART;
    return at - earlier->index < inserted(earlier) ? CHORDAL__TAKEN : CHORDAL__BLOCKED;
}

/* The later op's place holds the earlier one's. */
static chordal__relation relate_below(const chordal__op *earlier, const chordal__op *later) {
    if (later->kind <= CHORDAL_OP_DELETE) return CHORDAL__UNDONE;
    uint32_t depth = later->path->count;
    const chordal__segment *segment = &earlier->path->segments[depth];
    if (later->kind != CHORDAL_OP_SPLICE || segment->is_key || removes_at(earlier, depth)) return CHORDAL__BLOCKED;
    return segment->index < later->index ? CHORDAL__APART : CHORDAL__BLOCKED;
}

/* Their places lie in different members of one container. */
static chordal__relation relate_beside(const chordal__op *earlier, const chordal__op *later, uint32_t depth) {
    const chordal__segment *a = &earlier->path->segments[depth], *b = &later->path->segments[depth];
    if (a->is_key || b->is_key) return CHORDAL__APART;
    if (removes_at(earlier, depth) && b->index > a->index) return CHORDAL__BLOCKED;
    if (removes_at(later, depth) && a->index > b->index) return CHORDAL__BLOCKED;
    return CHORDAL__APART;
}

/* An error stands beside the value of its member. */
static chordal__relation relate_errors(const chordal__op *earlier, const chordal__op *later) {
    if (earlier->kind != later->kind || !chordal__path_equal(earlier->path, later->path)) return CHORDAL__APART;
    return CHORDAL__TAKEN;
}

chordal__relation chordal__op_relate(const chordal__op *earlier, const chordal__op *later) {
    if (earlier->kind == CHORDAL_OP_ERROR || later->kind == CHORDAL_OP_ERROR) return relate_errors(earlier, later);
    if (earlier->kind >= LETTERS || later->kind >= LETTERS) return CHORDAL__BLOCKED;
    uint32_t common = chordal__path_common(earlier->path, later->path);
    if (common == 0) return CHORDAL__APART;
    bool above = common == earlier->path->count, below = common == later->path->count;
    if (above && below) return relate_same(earlier, later);
    if (above) return relate_above(earlier, later);
    return below ? relate_below(earlier, later) : relate_beside(earlier, later, common);
}

/* ---- making one of two ---- */

static int take_value(chordal__memory *memory, chordal__op *earlier, const chordal__op *later) {
    chordal__node *old = earlier->value;
    earlier->kind = later->kind;
    earlier->value = later->value ? chordal__node_ref(later->value) : NULL;
    chordal__node_unref(memory, old);
    return 0;
}

static int apply_inside(chordal__memory *memory, chordal__op *earlier, const chordal__op *later) {
    chordal__inside inside = {.skip = earlier->path->count, .depth = UINT32_MAX};
    if (earlier->kind == CHORDAL_OP_SPLICE) inside.shift = earlier->index;
    return chordal__apply_inside(memory, &earlier->value, later, &inside, NULL);
}

static int merge_splices(chordal__memory *memory, chordal__op *earlier, const chordal__op *later) {
    uint64_t end = earlier->index + inserted(earlier), later_end = later->index + later->remove;
    uint64_t front = later->index < earlier->index ? earlier->index - later->index : 0;
    uint64_t behind = later_end > end ? later_end - end : 0;
    uint64_t at = later->index > earlier->index ? later->index - earlier->index : 0;
    chordal__op within = *later;
    within.index = at;
    within.remove = later->remove - front - behind;
    chordal__inside inside = {.skip = earlier->path->count, .depth = UINT32_MAX};
    if (!earlier->value) {
        earlier->value = later->value ? chordal__node_ref(later->value) : NULL;
    } else {
        int code = chordal__apply_inside(memory, &earlier->value, &within, &inside, NULL);
        if (code != 0) return code;
    }
    earlier->index -= front;
    earlier->remove += front + behind;
    return 0;
}

static int merge_permutes(chordal__memory *memory, chordal__op *earlier, const chordal__op *later) {
    size_t count = earlier->indexes_len, size = count * sizeof(uint32_t);
    if (later->indexes_len != count) return CHORDAL_E_PERMUTATION;
    uint32_t *indexes = chordal__allocate(memory, size);
    if (count > 0 && !indexes) return CHORDAL_E_NOMEM;
    for (size_t i = 0; i < count; i++) indexes[i] = earlier->indexes[later->indexes[i]];
    chordal__release(memory, earlier->indexes, size);
    earlier->indexes = indexes;
    return 0;
}

int chordal__op_merge(chordal__memory *memory, chordal__op *earlier, const chordal__op *later) {
    bool same = earlier->path->count == later->path->count;
    if (!same) return apply_inside(memory, earlier, later);
    switch (later->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
    case CHORDAL_OP_ERROR:
        return take_value(memory, earlier, later);
    case CHORDAL_OP_TRUNCATE:
        if (earlier->kind != CHORDAL_OP_TRUNCATE) break;
        earlier->index += later->index;
        return 0;
    case CHORDAL_OP_SPLICE:
        if (earlier->kind != CHORDAL_OP_SPLICE) break;
        return merge_splices(memory, earlier, later);
    case CHORDAL_OP_PERMUTE:
        if (earlier->kind != CHORDAL_OP_PERMUTE) break;
        return merge_permutes(memory, earlier, later);
    default:
        break;
    }
    return apply_inside(memory, earlier, later);
}
