/* ops.c: a list of ops and what it weighs. */
#include "delta/inside.h"

uint64_t chordal__op_weigh(const chordal__op *op) {
    uint64_t weight = 1 + (op->path ? op->path->weight : 0);
    if (op->value) weight += chordal__node_weigh(op->value, UINT64_MAX);
    if (op->kind == CHORDAL_OP_SPLICE || op->kind == CHORDAL_OP_TRUNCATE) weight += 3;
    return weight + 2 * (uint64_t)op->indexes_len;
}

void chordal__ops_init(chordal__ops *ops, chordal__memory *memory) {
    *ops = (chordal__ops){.memory = memory};
}

void chordal__op_dispose(chordal__memory *memory, chordal__op *op) {
    chordal__path_unref(memory, op->path);
    chordal__node_unref(memory, op->value);
    chordal__release(memory, op->indexes, op->indexes_len * sizeof *op->indexes);
    *op = (chordal__op){0};
}

int chordal__op_copy(chordal__memory *memory, const chordal__op *from, chordal__op *to) {
    size_t size = from->indexes_len * sizeof *from->indexes;
    *to = *from;
    to->indexes = chordal__allocate(memory, size);
    if (size > 0 && !to->indexes) return CHORDAL_E_NOMEM;
    if (size > 0) memcpy(to->indexes, from->indexes, size);
    chordal__path_ref(to->path);
    if (to->value) chordal__node_ref(to->value);
    return 0;
}

void chordal__ops_cut(chordal__ops *ops, size_t count) {
    while (ops->count > count) {
        chordal__op *last = &ops->items[--ops->count];
        ops->weight -= last->weight;
        chordal__op_dispose(ops->memory, last);
    }
}

void chordal__ops_clear(chordal__ops *ops) {
    chordal__ops_cut(ops, 0);
}

void chordal__ops_dispose(chordal__ops *ops) {
    chordal__ops_cut(ops, 0);
    chordal__release(ops->memory, ops->items, ops->capacity * sizeof *ops->items);
    chordal__ops_init(ops, ops->memory);
}

int chordal__ops_reserve(chordal__ops *ops, size_t more) {
    if (ops->capacity - ops->count >= more) return 0;
    void *items = ops->items;
    int code =
        chordal__grow(ops->memory, &items, sizeof *ops->items, &ops->capacity, ops->count + more, SIZE_MAX / 256);
    ops->items = items;
    return code;
}

chordal__op *chordal__ops_next(chordal__ops *ops) {
    if (chordal__ops_reserve(ops, 1) != 0) return NULL;
    ops->items[ops->count] = (chordal__op){0};
    return &ops->items[ops->count];
}

void chordal__ops_keep(chordal__ops *ops) {
    chordal__op *op = &ops->items[ops->count++];
    op->weight = chordal__op_weigh(op);
    op->drift = 0;
    ops->weight += op->weight;
}

int chordal__ops_push(chordal__ops *ops, chordal__op op) {
    int code = chordal__ops_reserve(ops, 1);
    if (code != 0) {
        chordal__op_dispose(ops->memory, &op);
        return code;
    }
    ops->items[ops->count] = op;
    chordal__ops_keep(ops);
    return 0;
}

int chordal__ops_append(chordal__ops *ops, const chordal__ops *more) {
    size_t before = ops->count;
    int code = chordal__ops_reserve(ops, more->count);
    for (size_t i = 0; code == 0 && i < more->count; i++) {
        code = chordal__op_copy(ops->memory, &more->items[i], &ops->items[ops->count]);
        if (code == 0) ops->weight += ops->items[ops->count++].weight;
    }
    if (code != 0) chordal__ops_cut(ops, before);
    return code;
}
