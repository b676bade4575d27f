/* fold.c: later ops taken into earlier ones. */
#include "delta/inside.h"

#define REACH 128           /* how far back an op looks for one that it can be taken into */
#define GONE CHORDAL_OP_END /* the kind of an op that was dropped, until the list is packed */

typedef struct fold_undo {
    size_t index;
    chordal__op op;
} fold_undo;

typedef struct fold_work {
    chordal__ops *ops;
    size_t gone;    /* the first dropped op, or SIZE_MAX */
    bool keep_undo; /* what is changed is kept for taking it back */
    bool last;      /* nothing can fail after this op is taken in */
    fold_undo *undos;
    size_t count, capacity;
} fold_work;

/* Keep a copy of an op that will change, or with `whole` the op itself. */
static int keep(fold_work *folder, size_t index, bool whole) {
    if (!folder->keep_undo) return 0;
    chordal__memory *memory = folder->ops->memory;
    void *undos = folder->undos;
    int code = chordal__grow(memory, &undos, sizeof(fold_undo), &folder->capacity, folder->count + 1, SIZE_MAX / 256);
    folder->undos = undos;
    if (code != 0) return code;
    fold_undo *undo = &folder->undos[folder->count];
    undo->index = index;
    undo->op = folder->ops->items[index];
    if (!whole) code = chordal__op_copy(memory, &folder->ops->items[index], &undo->op);
    if (code == 0) folder->count++;
    return code;
}

static int drop(fold_work *folder, size_t index) {
    int code = keep(folder, index, true);
    if (code != 0) return code;
    chordal__op *op = &folder->ops->items[index];
    folder->ops->weight -= op->weight;
    if (!folder->keep_undo) chordal__op_dispose(folder->ops->memory, op);
    *op = (chordal__op){.kind = GONE};
    if (index < folder->gone) folder->gone = index;
    return 0;
}

/* The weight of an op that took in another: guessed, and measured again when half of it is guess. */
static void reweigh(chordal__ops *ops, chordal__op *op, const chordal__op *taken) {
    uint64_t old = op->weight;
    if (taken->path->count == op->path->count && op->value == taken->value) {
        op->weight = taken->weight;
        op->drift = 0;
    } else {
        op->weight += taken->weight;
        op->drift += taken->weight;
        if (op->drift > op->weight / 2) op->weight = chordal__op_weigh(op), op->drift = 0;
    }
    ops->weight = ops->weight - old + op->weight;
}

static bool without_effect(const chordal__op *op) {
    return op->kind == CHORDAL_OP_SPLICE && op->remove == 0 && (!op->value || chordal__node_length(op->value) == 0);
}

static int take(fold_work *folder, size_t index, const chordal__op *later, bool *merged) {
    chordal__op *earlier = &folder->ops->items[index];
    int code = folder->last ? 0 : keep(folder, index, false);
    if (code != 0) return code;
    code = chordal__op_merge(folder->ops->memory, earlier, later);
    if (code != 0) return code == CHORDAL_E_NOMEM ? code : 0;
    reweigh(folder->ops, earlier, later);
    *merged = true;
    if (!without_effect(earlier)) return 0;
    if (folder->last) folder->keep_undo = false;
    return drop(folder, index);
}

/* Look back from the end for an op that can take `later` in; drop those that it makes undone. */
static int look_back(fold_work *folder, const chordal__op *later, size_t reach, bool *merged) {
    chordal__ops *ops = folder->ops;
    size_t least = ops->count > reach ? ops->count - reach : 0;
    if (later->kind == CHORDAL_OP_REPLACE) least = 0;
    *merged = false;
    for (size_t i = ops->count; i-- > least;) {
        if (ops->items[i].kind == GONE) continue;
        chordal__relation relation = chordal__op_relate(&ops->items[i], later);
        if (relation == CHORDAL__BLOCKED) return 0;
        if (relation == CHORDAL__TAKEN) return take(folder, i, later, merged);
        int code = relation == CHORDAL__UNDONE ? drop(folder, i) : 0;
        if (code != 0) return code;
    }
    return 0;
}

/* Close the gaps that dropped ops left. */
static void pack(fold_work *folder) {
    chordal__ops *ops = folder->ops;
    size_t to = folder->gone;
    for (size_t i = folder->gone; i < ops->count; i++) {
        if (ops->items[i].kind != GONE) ops->items[to++] = ops->items[i];
    }
    if (folder->gone < ops->count) ops->count = to;
}

static int fold_one(fold_work *folder, const chordal__op *later) {
    bool merged = false;
    int code = look_back(folder, later, REACH, &merged);
    if (code != 0 || merged) return code;
    chordal__ops *ops = folder->ops;
    code = chordal__ops_reserve(ops, 1);
    if (code == 0) code = chordal__op_copy(ops->memory, later, &ops->items[ops->count]);
    if (code == 0) ops->weight += ops->items[ops->count++].weight;
    return code;
}

static void take_back(fold_work *folder, size_t count, uint64_t weight) {
    chordal__ops *ops = folder->ops;
    while (folder->count > 0) {
        fold_undo *undo = &folder->undos[--folder->count];
        chordal__op_dispose(ops->memory, &ops->items[undo->index]);
        ops->items[undo->index] = undo->op;
    }
    chordal__ops_cut(ops, count);
    ops->weight = weight;
}

static void forget(fold_work *folder) {
    chordal__memory *memory = folder->ops->memory;
    while (folder->count > 0) chordal__op_dispose(memory, &folder->undos[--folder->count].op);
    chordal__release(memory, folder->undos, folder->capacity * sizeof(fold_undo));
}

int chordal__fold(chordal__ops *ops, const chordal__ops *more) {
    fold_work folder = {.ops = ops, .gone = SIZE_MAX, .keep_undo = true};
    size_t count = ops->count;
    uint64_t weight = ops->weight;
    int code = 0;
    for (size_t i = 0; code == 0 && i < more->count; i++) {
        folder.last = i + 1 == more->count;
        code = fold_one(&folder, &more->items[i]);
    }
    if (code == 0) {
        pack(&folder);
    } else {
        take_back(&folder, count, weight);
    }
    forget(&folder);
    return code;
}

static void push_folded(chordal__ops *ops, chordal__op *op, size_t reach) {
    fold_work folder = {.ops = ops, .gone = SIZE_MAX};
    bool merged = false;
    op->weight = chordal__op_weigh(op);
    op->drift = 0;
    if (look_back(&folder, op, reach, &merged) == 0 && merged) {
        chordal__op_dispose(ops->memory, op);
    } else {
        ops->weight += op->weight;
        ops->items[ops->count++] = *op;
    }
    pack(&folder);
}

void chordal__fold_push(chordal__ops *ops, chordal__op *op, size_t reach) {
    if (CHORDAL__SMALL || ops->count) {
        push_folded(ops, op, reach);
    } else {
        ops->items[0] = *op;
        chordal__ops_keep(ops);
    }
}
