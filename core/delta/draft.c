/* draft.c: one member while a transaction changes it. */
#include "delta/inside.h"

#define REACH 8 /* how far back an op may be taken into another */

int chordal__draft_begin(chordal__draft *draft, chordal__memory *memory, chordal__node *base, uint32_t depth) {
    *draft = (chordal__draft){.memory = memory, .base = base, .value = base, .depth = depth};
    if (base) chordal__node_ref(base), chordal__node_ref(base);
    chordal__ops_init(&draft->ops, memory);
    return 0;
}

void chordal__draft_dispose(chordal__draft *draft) {
    chordal__ops_dispose(&draft->ops);
    if (chordal__draft_waits(draft)) chordal__op_dispose(draft->memory, &draft->waits);
    chordal__node_unref(draft->memory, draft->value);
    chordal__node_unref(draft->memory, draft->base);
    *draft = (chordal__draft){0};
}

/* ---- ops without effect; what is not sound is not judged here ---- */

static bool same_elements(chordal__node *array, const chordal__op *op) {
    uint64_t count = op->value ? chordal__node_length(op->value) : 0;
    if (chordal__node_kind(array) != CHORDAL_KIND_ARRAY || op->remove != count) return false;
    if (op->value && chordal__node_kind(op->value) != CHORDAL_KIND_ARRAY) return false;
    uint64_t length = chordal__node_length(array);
    if (op->index > length || count > length - op->index) return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!chordal__node_equal(chordal__node_at(array, op->index + i), chordal__node_at(op->value, i))) return false;
    }
    return true;
}

static bool same_order(chordal__node *array, const chordal__op *op) {
    if (chordal__node_kind(array) != CHORDAL_KIND_ARRAY) return false;
    if (chordal__node_length(array) != op->indexes_len) return false;
    for (uint32_t i = 0; i < op->indexes_len; i++) {
        if (op->indexes[i] != i) return false;
    }
    return true;
}

/* Whether the op names nothing to do, whatever is at its place. */
static bool is_empty(const chordal__op *op) {
    if (op->kind == CHORDAL_OP_TRUNCATE) return op->index == 0;
    return op->kind == CHORDAL_OP_APPEND && op->value && chordal__node_string_bytes(op->value) == 0;
}

static bool leaves_same(const chordal__op *op, chordal__node *place) {
    switch (op->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
        return op->value && chordal__node_equal(place, op->value);
    case CHORDAL_OP_SPLICE:
        return same_elements(place, op);
    case CHORDAL_OP_PERMUTE:
        return same_order(place, op);
    default:
        return false;
    }
}

static bool without_effect(const chordal__draft *draft, const chordal__op *op) {
    if (op->kind == CHORDAL_OP_APPEND || op->kind == CHORDAL_OP_TRUNCATE || op->kind == CHORDAL_OP_DELETE) return false;
    chordal__node *place = chordal__resolve(draft->value, op->path);
    return place && leaves_same(op, place);
}

/* ---- doing ---- */

/* Make place for more ops; when they would be too many, one replace comes in the place of all before. */
static int make_room(chordal__draft *draft, size_t more) {
    chordal__ops *ops = &draft->ops;
    bool replaced = ops->count == 1 && ops->items[0].kind == CHORDAL_OP_REPLACE;
    if (ops->count + more <= CHORDAL__OPS_LIMIT || replaced) return chordal__ops_reserve(ops, more);
    chordal__path *path = chordal__path_new(draft->memory, ops->items[0].path->segments, 1);
    if (!path) return CHORDAL_E_NOMEM;
    int code = chordal__ops_reserve(ops, more);
    if (code != 0) {
        chordal__path_unref(draft->memory, path);
        return code;
    }
    chordal__ops_clear(ops);
    return chordal__ops_push(
        ops, (chordal__op){.kind = CHORDAL_OP_REPLACE, .path = path, .value = chordal__node_ref(draft->value)});
}

static inline bool has_room(const chordal__ops *ops) {
    return ops->count < ops->capacity && ops->count < CHORDAL__OPS_LIMIT;
}

/* TAKES what the op owns. */
static int do_one(chordal__draft *draft, chordal__op *op, chordal_error *error) {
    int code = op->path ? 0 : CHORDAL_E_PATH;
    if (code == 0 && (CHORDAL__SMALL || !has_room(&draft->ops))) code = make_room(draft, 1);
    if (code != 0) {
        chordal__fail(error, code, 0, NULL);
    } else if (!without_effect(draft, op)) {
        code = chordal__apply(draft->memory, &draft->value, op, draft->depth, error);
        if (code == 0 && !is_empty(op)) {
            chordal__fold_push(&draft->ops, op, REACH);
            return 0;
        }
    }
    chordal__op_dispose(draft->memory, op);
    return code;
}

/* Apply ops that a diff gave, all or none; they move into the draft's. */
static int do_all(chordal__draft *draft, chordal__ops *ops, chordal_error *error) {
    int code = make_room(draft, ops->count);
    if (code != 0) return chordal__fail(error, code, 0, NULL);
    chordal__node *before = chordal__node_ref(draft->value);
    for (size_t i = 0; code == 0 && i < ops->count; i++) {
        code = chordal__apply(draft->memory, &draft->value, &ops->items[i], draft->depth, error);
    }
    chordal__node *other = before;
    if (code != 0) other = draft->value, draft->value = before;
    chordal__node_unref(draft->memory, other);
    for (size_t i = 0; code == 0 && i < ops->count; i++) {
        chordal__fold_push(&draft->ops, &ops->items[i], REACH);
        ops->items[i] = (chordal__op){0};
    }
    return code;
}

static int assign(chordal__draft *draft, const chordal__op *op, chordal__node *place, chordal_error *error) {
    if (op->path->count - 1 + chordal__node_depth(op->value) > draft->depth) {
        return chordal__fail(error, CHORDAL_E_DEPTH, 0, "nested too deep");
    }
    chordal__ops ops;
    chordal__ops_init(&ops, draft->memory);
    int code = chordal__diff(&ops, op->path, place, op->value);
    if (code != 0) {
        chordal__fail(error, code, 0, NULL);
    } else {
        code = do_all(draft, &ops, error);
    }
    chordal__ops_dispose(&ops);
    return code;
}

/* A set one past the end of an array is a splice of the array: every push has the same path then, which the stream's
 * dictionary learns. On NOMEM the op is as before. */
static int push_as_splice(chordal__draft *draft, chordal__op *op) {
    chordal__segment last = op->path->segments[op->path->count - 1];
    if (last.is_key || !op->value || chordal__resolve(draft->value, op->path)) return 0;
    chordal__path *parent = chordal__path_new(draft->memory, op->path->segments, op->path->count - 1);
    chordal__node *array = parent ? chordal__resolve(draft->value, parent) : NULL;
    bool pushes = array && chordal__node_kind(array) == CHORDAL_KIND_ARRAY && chordal__node_length(array) == last.index;
    chordal__node *values = pushes ? chordal__node_array(draft->memory, &op->value, 1) : NULL;
    if (!values) {
        if (parent) chordal__path_unref(draft->memory, parent);
        return pushes || !parent ? CHORDAL_E_NOMEM : 0;
    }
    chordal__op_dispose(draft->memory, op);
    *op = (chordal__op){.kind = CHORDAL_OP_SPLICE, .path = parent, .value = values, .index = last.index};
    return 0;
}

int chordal__draft_do(chordal__draft *draft, chordal__op op, chordal_error *error) {
    bool whole = op.path && op.path->count == 1;
    if (op.kind == CHORDAL_OP_ASSIGN && op.path && op.value) {
        chordal__node *place = chordal__resolve(draft->value, op.path);
        if (place) {
            int code = assign(draft, &op, place, error);
            chordal__op_dispose(draft->memory, &op);
            return code;
        }
        op.kind = CHORDAL_OP_SET;
    }
    if (op.kind == CHORDAL_OP_SET && whole) op.kind = CHORDAL_OP_REPLACE;
    if (op.kind == CHORDAL_OP_SET && op.path && push_as_splice(draft, &op) != 0) {
        chordal__op_dispose(draft->memory, &op);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, NULL);
    }
    return do_one(draft, &op, error);
}

/* ---- an op that waits ---- */

#ifndef __OPTIMIZE_SIZE__
/* Where the first op may be done in the end without memory or a copy; NULL: nowhere. */
static chordal__node **place_of(const chordal__draft *draft, const chordal__op *op) {
    const chordal__path *path = op->path;
    if (!path || path->count < 2 || !op->value || !draft->value) return NULL;
    return chordal__node_place(draft->value, UINT32_MAX, path->segments + 1, path->count - 1);
}

static bool fits(const chordal__op *op, chordal__node **place) {
    if (!place) return false;
    if (op->kind == CHORDAL_OP_APPEND) return chordal__node_extends(*place, op->value);
    return chordal__node_depth(op->value) <= chordal__node_depth(*place);
}

static bool can_wait(chordal__draft *draft, const chordal__op *op) {
    if (op->kind != CHORDAL_OP_APPEND && op->kind != CHORDAL_OP_SET) return false;
    if (draft->ops.count || draft->value != draft->base) return false;
    draft->place = place_of(draft, op);
    return fits(op, draft->place) && !is_empty(op) && !leaves_same(op, *draft->place);
}

bool chordal__draft_put_off(chordal__draft *draft, chordal__op *op) {
    if (!can_wait(draft, op) || chordal__ops_reserve(&draft->ops, 1) < 0) return false;
    draft->waits =
        (chordal__op){.kind = op->kind, .path = chordal__path_ref(op->path), .value = chordal__node_ref(op->value)};
    return chordal__ops_push(&draft->ops, *op) == 0; /* there is room */
}

/* Somebody may hold what is on the way by now. */
bool chordal__draft_find_place(chordal__draft *draft) {
    draft->place = place_of(draft, &draft->waits);
    return fits(&draft->waits, draft->place);
}

int chordal__draft_apply(chordal__draft *draft, chordal_error *error) {
    int code = chordal__apply(draft->memory, &draft->value, &draft->waits, draft->depth, error);
    if (code == 0) chordal__op_dispose(draft->memory, &draft->waits);
    return code;
}

void chordal__draft_apply_in_place(chordal__draft *draft) {
    if (draft->waits.kind == CHORDAL_OP_APPEND) {
        chordal__node_extend(*draft->place, draft->waits.value);
    } else {
        chordal__node_unref(draft->memory, *draft->place);
        *draft->place = chordal__node_ref(draft->waits.value);
    }
    chordal__op_dispose(draft->memory, &draft->waits);
}
#endif
