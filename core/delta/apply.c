/* apply.c: one op, applied to a value. Containers that nobody else holds are changed in place. */
#include "delta/inside.h"

typedef struct apply_task {
    chordal__memory *memory;
    const chordal__op *op;
    const chordal__segment *segments; /* behind the value */
    uint32_t count;
    uint64_t shift;
    uint32_t deep; /* what the op may make the value's nesting, 0: no more than it is */
    chordal_error *error;
} apply_task;

static int refuse(const apply_task *task, int code, const char *why) {
    return chordal__fail(task->error, code, 0, why);
}

/* Put what a function that takes a node gave back. */
static int settle(const apply_task *task, chordal__node **slot, chordal__node *made, chordal__node *const *still) {
    *slot = made ? made : *still;
    return made ? 0 : refuse(task, CHORDAL_E_NOMEM, NULL);
}

/* No place inside a value of this kind has such a segment. */
static int refuse_inside(const apply_task *task, int kind) {
    return kind < CHORDAL_KIND_ARRAY ? refuse(task, CHORDAL_E_PATH, "nothing inside this value")
                                     : refuse(task, CHORDAL_E_TYPE, "a key for an array or an index for an object");
}

static uint64_t index_at(const apply_task *task, uint32_t i) {
    return task->segments[i].index - (i == 0 ? task->shift : 0);
}

/* Move *slot down to the place behind the first `count` segments. */
static int walk_down(const apply_task *task, chordal__node ***slot, uint32_t count) {
    int code = chordal__node_slot(task->memory, *slot, task->segments, count, task->shift, task->deep, slot);
    if (code == 0) return 0;
    if (code == CHORDAL_E_NOT_FOUND) return refuse(task, CHORDAL_E_PATH, "nothing at the path");
    return code == CHORDAL_E_NOMEM ? refuse(task, code, NULL) : refuse_inside(task, chordal__node_kind(**slot));
}

/* ---- the ops: `slot` holds the container of the place for set and delete, else the place itself ---- */

static int run_replace(const apply_task *task, chordal__node **slot) {
    chordal__node *old = *slot;
    *slot = chordal__node_ref(task->op->value);
    chordal__node_unref(task->memory, old);
    return 0;
}

static int set_element(const apply_task *task, chordal__node **slot) {
    uint64_t index = index_at(task, task->count - 1), length = chordal__node_length(*slot);
    chordal__node *value = task->op->value, *still = NULL;
    if (index > length) return refuse(task, CHORDAL_E_RANGE, "index past the end");
    chordal__node *made = index < length ? chordal__node_replace(task->memory, *slot, index, value, &still)
                                         : chordal__node_splice(task->memory, *slot, index, 0, &value, 1, &still);
    return settle(task, slot, made, &still);
}

static int run_set(const apply_task *task, chordal__node **slot) {
    const chordal__segment *last = &task->segments[task->count - 1];
    int kind = chordal__node_kind(*slot);
    if (kind == CHORDAL_KIND_ARRAY && !last->is_key) return set_element(task, slot);
    if (kind != CHORDAL_KIND_OBJECT || !last->is_key) return refuse_inside(task, kind);
    chordal__node *still = NULL;
    chordal__node *made = chordal__node_put(task->memory, *slot, last->key, last->key_len, task->op->value, &still);
    return settle(task, slot, made, &still);
}

static int delete_element(const apply_task *task, chordal__node **slot) {
    uint64_t index = index_at(task, task->count - 1);
    if (index >= chordal__node_length(*slot)) return refuse(task, CHORDAL_E_RANGE, "index past the end");
    chordal__node *still = NULL;
    return settle(task, slot, chordal__node_splice(task->memory, *slot, index, 1, NULL, 0, &still), &still);
}

static int run_delete(const apply_task *task, chordal__node **slot) {
    const chordal__segment *last = &task->segments[task->count - 1];
    int kind = chordal__node_kind(*slot);
    if (kind == CHORDAL_KIND_ARRAY && !last->is_key) return delete_element(task, slot);
    if (kind != CHORDAL_KIND_OBJECT || !last->is_key) return refuse_inside(task, kind);
    if (!chordal__node_get(*slot, last->key, last->key_len)) return refuse(task, CHORDAL_E_PATH, "no such key");
    chordal__node *still = NULL;
    return settle(task, slot, chordal__node_remove(task->memory, *slot, last->key, last->key_len, &still), &still);
}

static int run_append(const apply_task *task, chordal__node **slot) {
    if (chordal__node_kind(*slot) != CHORDAL_KIND_STRING) return refuse(task, CHORDAL_E_TYPE, "not a string");
    chordal__node *still = NULL;
    return settle(task, slot, chordal__node_concat(task->memory, *slot, task->op->value, &still), &still);
}

static int run_truncate(const apply_task *task, chordal__node **slot) {
    if (chordal__node_kind(*slot) != CHORDAL_KIND_STRING) return refuse(task, CHORDAL_E_TYPE, "not a string");
    uint64_t units = task->op->index;
    if (units > chordal__node_length(*slot)) return refuse(task, CHORDAL_E_RANGE, "longer than the string");
    if (units == 0) return 0;
    chordal__node *still = NULL;
    return settle(task, slot, chordal__node_drop_front(task->memory, *slot, units, &still), &still);
}

static int splice(const apply_task *task, chordal__node **slot, size_t count) {
    chordal__node **items = chordal__allocate(task->memory, count * sizeof *items), *still = NULL;
    if (count > 0 && !items) return refuse(task, CHORDAL_E_NOMEM, NULL);
    chordal__walk walk;
    if (count > 0) chordal__walk_begin(&walk, task->op->value);
    for (size_t i = 0; i < count; i++) items[i] = chordal__walk_next(&walk, NULL, NULL);
    chordal__node *made =
        chordal__node_splice(task->memory, *slot, task->op->index, task->op->remove, items, count, &still);
    chordal__release(task->memory, items, count * sizeof *items);
    return settle(task, slot, made, &still);
}

static int run_splice(const apply_task *task, chordal__node **slot) {
    if (chordal__node_kind(*slot) != CHORDAL_KIND_ARRAY) return refuse(task, CHORDAL_E_TYPE, "not an array");
    const chordal__op *op = task->op;
    uint64_t length = chordal__node_length(*slot), count = op->value ? chordal__node_length(op->value) : 0;
    if (op->index > length || op->remove > length - op->index) {
        return refuse(task, CHORDAL_E_RANGE, "past the end of the array");
    }
    if (op->remove == 0 && count == 0) return 0;
    return splice(task, slot, (size_t)count); /* the elements are in memory */
}

/* Fill items[i] with the element at indexes[i]; false when one is out of range or named twice. `old` and `items` have
 * room for all. */
static bool reorder(chordal__node *array, const uint32_t *indexes, size_t count, chordal__node **old,
                    chordal__node **items) {
    chordal__walk walk;
    chordal__walk_begin(&walk, array);
    for (size_t i = 0; i < count; i++) old[i] = chordal__walk_next(&walk, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        if (indexes[i] >= count || !old[indexes[i]]) return false;
        items[i] = old[indexes[i]];
        old[indexes[i]] = NULL;
    }
    return true;
}

static int run_permute(const apply_task *task, chordal__node **slot) {
    if (chordal__node_kind(*slot) != CHORDAL_KIND_ARRAY) return refuse(task, CHORDAL_E_TYPE, "not an array");
    size_t count = task->op->indexes_len, size = 2 * count * sizeof(chordal__node *);
    if (count != chordal__node_length(*slot)) return refuse(task, CHORDAL_E_PERMUTATION, "another length");
    if (count == 0) return 0;
    chordal__node **items = chordal__allocate(task->memory, size), *made = NULL;
    if (!items) return refuse(task, CHORDAL_E_NOMEM, NULL);
    bool sound = reorder(*slot, task->op->indexes, count, items + count, items);
    if (sound) made = chordal__node_array(task->memory, items, count);
    chordal__release(task->memory, items, size);
    if (!sound) return refuse(task, CHORDAL_E_PERMUTATION, NULL);
    if (!made) return refuse(task, CHORDAL_E_NOMEM, NULL);
    chordal__node_unref(task->memory, *slot);
    *slot = made;
    return 0;
}

/* ---- which op does what, and where ---- */

enum { ROOT = 1, INSIDE = 2 };

static const struct {
    uint8_t where;   /* ROOT: the place may be the value itself; INSIDE: it may lie inside */
    bool container;  /* it works on the place's container */
    uint8_t operand; /* the kind of op->value: CHORDAL_KIND_ARRAY may be absent; NULL: any value; FALSE: none */
    int (*run)(const apply_task *task, chordal__node **slot);
} acts[CHORDAL_OP_END] = {
    [CHORDAL_OP_REPLACE] = {ROOT, false, CHORDAL_KIND_NULL, run_replace},
    [CHORDAL_OP_SET] = {INSIDE, true, CHORDAL_KIND_NULL, run_set},
    [CHORDAL_OP_DELETE] = {INSIDE, true, CHORDAL_KIND_FALSE, run_delete},
    [CHORDAL_OP_APPEND] = {ROOT | INSIDE, false, CHORDAL_KIND_STRING, run_append},
    [CHORDAL_OP_TRUNCATE] = {ROOT | INSIDE, false, CHORDAL_KIND_FALSE, run_truncate},
    [CHORDAL_OP_SPLICE] = {ROOT | INSIDE, false, CHORDAL_KIND_ARRAY, run_splice},
    [CHORDAL_OP_PERMUTE] = {ROOT | INSIDE, false, CHORDAL_KIND_FALSE, run_permute},
    [CHORDAL_OP_ASSIGN] = {ROOT | INSIDE, true, CHORDAL_KIND_NULL, run_set},
};

/* Whether the op has the operands that its kind needs. */
static bool well_formed(const chordal__op *op) {
    if (op->kind >= CHORDAL_OP_END || !acts[op->kind].run || !op->path || op->path->count == 0) return false;
    uint8_t operand = acts[op->kind].operand;
    if (operand == CHORDAL_KIND_FALSE) return true;
    if (!op->value) return operand == CHORDAL_KIND_ARRAY;
    return operand == CHORDAL_KIND_NULL || chordal__node_kind(op->value) == operand;
}

/* How deep the value may get by the op, 0: no deeper than it is. */
static uint32_t deepness(const chordal__op *op, uint32_t count) {
    return op->value && op->kind != CHORDAL_OP_APPEND ? count + chordal__node_depth(op->value) : 0;
}

__attribute__((noinline)) int chordal__apply_inside(chordal__memory *memory, chordal__node **value,
                                                    const chordal__op *op, const chordal__inside *inside,
                                                    chordal_error *error) {
    if (!well_formed(op)) return chordal__fail(error, CHORDAL_E_TYPE, 0, "no such op");
    uint32_t count = op->path->count - inside->skip;
    apply_task task = {memory, op, op->path->segments + inside->skip, count, inside->shift, deepness(op, count), error};
    if (task.deep > inside->depth) return refuse(&task, CHORDAL_E_DEPTH, "nested too deep");
    if (!(acts[op->kind].where & (count == 0 ? ROOT : INSIDE))) return refuse(&task, CHORDAL_E_PATH, "not here");
    bool whole = count == 0 && acts[op->kind].container;
    if (op->kind == CHORDAL_OP_REPLACE || whole) return run_replace(&task, value);
    if (!*value) return refuse(&task, CHORDAL_E_PATH, "there is no value");
    chordal__node **slot = value;
    int code = walk_down(&task, &slot, acts[op->kind].container ? count - 1 : count);
    return code == 0 ? acts[op->kind].run(&task, slot) : code;
}

/* What streams most, by the straight way. */
static bool append_in_place(chordal__node *value, const chordal__op *op) {
    const chordal__path *path = op->path;
    if (op->kind != CHORDAL_OP_APPEND || !path || path->count < 2 || !op->value || !value) return false;
    chordal__node **place = chordal__node_place(value, 1, path->segments + 1, path->count - 1);
    return place && chordal__node_extend(*place, op->value);
}

int chordal__apply(chordal__memory *memory, chordal__node **value, const chordal__op *op, uint32_t depth,
                   chordal_error *error) {
    if (!CHORDAL__SMALL && append_in_place(*value, op)) return 0;
    return chordal__apply_inside(memory, value, op, &(chordal__inside){.skip = 1, .depth = depth}, error);
}

chordal__node *chordal__step(chordal__node *container, const chordal__segment *segment) {
    int kind = chordal__node_kind(container);
    if (segment->is_key) {
        return kind == CHORDAL_KIND_OBJECT ? chordal__node_get(container, segment->key, segment->key_len) : NULL;
    }
    return kind == CHORDAL_KIND_ARRAY ? chordal__node_at(container, segment->index) : NULL;
}

chordal__node *chordal__resolve(chordal__node *value, const chordal__path *path) {
    for (uint32_t i = 1; value && i < path->count; i++) value = chordal__step(value, &path->segments[i]);
    return value;
}
