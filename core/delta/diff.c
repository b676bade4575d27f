/* diff.c: what turns one value into another, and when a place is better set as a whole. */
#include "delta/inside.h"

#define DEEPEST 32 /* levels that are looked into; what lies deeper is set */

int chordal__differ_enter(chordal__differ *differ, chordal__segment segment) {
    void *segments = differ->segments;
    int code = chordal__grow(differ->ops->memory, &segments, sizeof segment, &differ->capacity, differ->count + 1,
                             UINT32_MAX / sizeof segment);
    differ->segments = segments;
    if (code != 0) return CHORDAL_E_NOMEM;
    differ->segments[differ->count++] = segment;
    return 0;
}

static bool is_here(const chordal__differ *differ, const chordal__path *path) {
    if (path->count != differ->count) return false;
    for (uint32_t i = path->count; i-- > 0;) {
        if (!chordal__segment_equal(&path->segments[i], &differ->segments[i])) return false;
    }
    return true;
}

/* The path of the place; the last op's when it is the same. */
static chordal__path *path_here(chordal__differ *differ) {
    const chordal__ops *ops = differ->ops;
    if (differ->count == differ->root->count) return chordal__path_ref(differ->root);
    if (ops->count > differ->start && is_here(differ, ops->items[ops->count - 1].path)) {
        return chordal__path_ref(ops->items[ops->count - 1].path);
    }
    return chordal__path_new(differ->ops->memory, differ->segments, differ->count);
}

int chordal__differ_emit(chordal__differ *differ, chordal__op op) {
    chordal__memory *memory = differ->ops->memory;
    int code = differ->ops->count - differ->start >= CHORDAL__OPS_LIMIT ? CHORDAL_E_LIMIT : 0;
    if (code == 0) {
        op.path = path_here(differ);
        if (op.path) return chordal__ops_push(differ->ops, op);
        code = CHORDAL_E_NOMEM;
    }
    chordal__op_dispose(memory, &op);
    return code;
}

int chordal__differ_set(chordal__differ *differ, const chordal__node *value) {
    uint8_t kind = differ->count == 1 ? CHORDAL_OP_REPLACE : CHORDAL_OP_SET;
    return chordal__differ_emit(differ,
                                (chordal__op){.kind = kind, .value = chordal__node_ref((chordal__node *)value)});
}

/* Several ops that outweigh the value are one op that sets it. */
static int settle(chordal__differ *differ, size_t count, uint64_t weight, const chordal__node *after) {
    chordal__ops *ops = differ->ops;
    if (ops->count < count + 2) return 0;
    uint64_t gained = ops->weight - weight, path = ops->items[count].path->weight;
    if (gained < path || chordal__node_weigh(after, gained - path) > gained - path) return 0;
    chordal__ops_cut(ops, count);
    return chordal__differ_set(differ, after);
}

static int set_unless_equal(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    return chordal__node_equal(before, after) ? 0 : chordal__differ_set(differ, after);
}

int chordal__differ_compare(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    if (before == after) return 0;
    int kind = chordal__node_kind(after);
    if (kind != chordal__node_kind(before) || kind < CHORDAL_KIND_STRING ||
        differ->count - differ->root->count >= DEEPEST) {
        return set_unless_equal(differ, before, after);
    }
    if (kind == CHORDAL_KIND_STRING) return chordal__differ_text(differ, before, after);
    size_t count = differ->ops->count;
    uint64_t weight = differ->ops->weight;
    int code = kind == CHORDAL_KIND_OBJECT ? chordal__differ_object(differ, before, after)
                                           : chordal__differ_array(differ, before, after);
    return code == 0 ? settle(differ, count, weight, after) : code;
}

static int compare_all(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    size_t count = differ->ops->count;
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < differ->root->count; i++) {
        code = chordal__differ_enter(differ, differ->root->segments[i]);
    }
    if (code == 0) {
        code = before ? chordal__differ_compare(differ, before, after) : chordal__differ_set(differ, after);
    }
    if (code == CHORDAL_E_LIMIT) {
        chordal__ops_cut(differ->ops, count);
        differ->count = differ->root->count;
        code = chordal__differ_set(differ, after);
    }
    if (code != 0) chordal__ops_cut(differ->ops, count);
    return code;
}

int chordal__diff(chordal__ops *ops, chordal__path *path, const chordal__node *before, const chordal__node *after) {
    if (before == after) return 0;
    chordal__differ differ = {.ops = ops, .root = path, .start = ops->count};
    int code = compare_all(&differ, before, after);
    chordal__release(ops->memory, differ.segments, differ.capacity * sizeof *differ.segments);
    return code;
}
