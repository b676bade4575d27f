/* settle.c: computing the derives of a batch, each at most once, in the order of what reads what. */
#include "object/object.h"

static void mark_readers(chordal__object *object, uint32_t changed) {
    const chordal__members *members = object->type->members;
    for (uint32_t i = changed + 1; i < members->count; i++) {
        const chordal__member *member = &members->items[i];
        for (uint32_t k = 0; k < member->from_len; k++)
            if (member->from[k] == changed) object->slots[i].dirty = true;
    }
}

void chordal__settle_mark(chordal__change *change) {
    for (uint32_t i = 0; i < change->values_len; i++)
        if (!CHORDAL__STORE || change->values[i].value) mark_readers(change->object, change->values[i].member);
}

static bool is_ready(const chordal__object *object, uint32_t index) {
    const chordal__member *member = &object->type->members->items[index];
    for (uint32_t i = 0; i < member->from_len; i++)
        if (object->slots[member->from[i]].dirty) return false;
    return true;
}

/* ---- asking ---- */

static chordal__compute *new_compute(chordal__object *object, uint32_t member) {
    chordal__runtime *runtime = object->runtime;
    chordal__compute *compute = chordal__allocate_zero(runtime->memory, sizeof *compute);
    if (!compute) return NULL;
    compute->runtime = runtime;
    compute->object = object;
    compute->member = member;
    compute->due.kind = CHORDAL__DUE_COMPUTE;
    chordal__event_init(&compute->event, CHORDAL__TELL_COMPUTE);
    compute->id = chordal__id_new(&runtime->ids, CHORDAL__ID_COMPUTE, compute, false);
    if (!compute->id || chordal__heap_set(&runtime->deadlines, &compute->due, CHORDAL_NEVER) < 0) {
        if (compute->id) chordal__id_free(&runtime->ids, compute->id);
        chordal__release(runtime->memory, compute, sizeof *compute);
        return NULL;
    }
    chordal__object_pin(object);
    return compute;
}

/* The time is only known in a turn, so the deadline starts when the program is told. */
void chordal__compute_told(chordal__compute *compute) {
    chordal__runtime *runtime = compute->runtime;
    chordal__heap_set(&runtime->deadlines, &compute->due, runtime->now + runtime->settings.compute_timeout);
}

void chordal__compute_free(chordal__compute *compute) {
    chordal__runtime *runtime = compute->runtime;
    chordal__heap_remove(&runtime->deadlines, &compute->due);
    chordal__untell(&compute->event);
    chordal__id_free(&runtime->ids, compute->id);
    compute->object->slots[compute->member].compute = NULL;
    chordal__object_unpin(compute->object);
    chordal__release(runtime->memory, compute, sizeof *compute);
}

static void set_error(chordal__change *change, uint32_t member, const char *name, size_t name_len, const char *detail,
                      size_t detail_len);

static void ask_one(chordal__commit *commit, chordal__change *change, uint32_t member) {
    chordal__slot *slot = &change->object->slots[member];
    slot->compute = new_compute(change->object, member);
    if (!slot->compute) {
        slot->dirty = false;
        set_error(change, member, "nomem", 5, CHORDAL__WORDS("no memory to compute"),
                  sizeof CHORDAL__WORDS("no memory to compute") - 1);
        return;
    }
    commit->computing++;
    commit->runtime->counters.computes++;
    chordal__tell_urgently(commit->runtime, &slot->compute->event);
}

static void ask_of(chordal__commit *commit, chordal__change *change) {
    if (change->object->state == CHORDAL__OBJECT_RETIRED) return; /* nobody reads them any more */
    const chordal__members *members = change->object->type->members;
    for (uint32_t i = 0; i < members->count; i++) {
        chordal__slot *slot = &change->object->slots[i];
        if (slot->dirty && !slot->compute && is_ready(change->object, i)) ask_one(commit, change, i);
    }
}

bool chordal__settle_ask(chordal__commit *commit) {
    for (uint32_t i = 0; i < commit->changes_len; i++) ask_of(commit, &commit->changes[i]);
    return commit->computing != 0;
}

/* ---- answering ---- */

static chordal__change *change_of(chordal__commit *commit, const chordal__object *object) {
    for (uint32_t i = 0; i < commit->changes_len; i++)
        if (commit->changes[i].object == object) return &commit->changes[i];
    return NULL;
}

static chordal__path *member_path(chordal__runtime *runtime, uint32_t member) {
    chordal__segment segment = {.index = member};
    return chordal__path_new(runtime->memory, &segment, 1);
}

/* An op on the whole member; TAKES value. */
static int push_op(chordal__change *change, uint8_t kind, uint32_t member, chordal__node *value) {
    chordal__op op = {.kind = kind, .value = value, .path = member_path(change->object->runtime, member)};
    if (op.path) return chordal__ops_push(&change->ops, op);
    chordal__node_unref(change->object->runtime->memory, value);
    return CHORDAL_E_NOMEM;
}

static int push_value(chordal__change *change, uint32_t member, chordal__node *value) {
    const chordal__slot *slot = &change->object->slots[member];
    if (!slot->head) return push_op(change, CHORDAL_OP_REPLACE, member, chordal__node_ref(value));
    chordal__path *path = member_path(change->object->runtime, member);
    if (!path) return CHORDAL_E_NOMEM;
    int code = chordal__diff(&change->ops, path, slot->head, value);
    chordal__path_unref(change->object->runtime->memory, path);
    return code;
}

void chordal__settle_drop(chordal__object *object) {
    for (uint32_t i = 0; i < object->type->members->count; i++) {
        if (!object->slots[i].compute) continue;
        object->runtime->settling->computing--;
        chordal__compute_free(object->slots[i].compute);
    }
}

static void done(chordal__compute *compute) {
    chordal__runtime *runtime = compute->runtime;
    compute->object->slots[compute->member].dirty = false;
    runtime->settling->computing--;
    chordal__compute_free(compute);
    chordal__commits_advance(runtime);
}

int chordal__compute_answer(chordal__compute *compute, chordal__node *value, chordal_error *error) {
    chordal__runtime *runtime = compute->runtime;
    chordal__change *change = change_of(runtime->settling, compute->object);
    chordal__slot *slot = &compute->object->slots[compute->member];
    size_t before = change->ops.count;
    int code = push_value(change, compute->member, value);
    bool moved = change->ops.count != before;
    if (code == 0 && slot->error) code = push_op(change, CHORDAL_OP_ERROR, compute->member, NULL);
    if (code < 0) {
        chordal__ops_cut(&change->ops, before);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the derive");
    }
    chordal__node_unref(runtime->memory, slot->error);
    slot->error = NULL;
    if (moved) {
        chordal__node_unref(runtime->memory, slot->head);
        chordal__node_unref(runtime->memory, slot->tip);
        slot->head = chordal__node_ref(value);
        slot->tip = chordal__node_ref(value);
        mark_readers(compute->object, compute->member);
    }
    done(compute);
    return 0;
}

static chordal__node *error_node(chordal__memory *memory, const char *name, size_t name_len, const char *detail,
                                 size_t detail_len) {
    chordal__node *items[2] = {chordal__node_string(memory, name, name_len),
                               chordal__node_string(memory, detail, detail_len)};
    chordal__node *node = items[0] && items[1] ? chordal__node_array(memory, items, 2) : NULL;
    chordal__node_unref(memory, items[0]);
    chordal__node_unref(memory, items[1]);
    return node;
}

/* Without memory for the words the member keeps the error state that it had. */
static void set_error(chordal__change *change, uint32_t member, const char *name, size_t name_len, const char *detail,
                      size_t detail_len) {
    chordal__memory *memory = change->object->runtime->memory;
    chordal__slot *slot = &change->object->slots[member];
    chordal__node *node = error_node(memory, name, name_len, detail, detail_len);
    if (!node) return;
    bool same = slot->error && chordal__node_equal(slot->error, node);
    if (!same && push_op(change, CHORDAL_OP_ERROR, member, chordal__node_ref(node)) == 0) {
        chordal__node_unref(memory, slot->error);
        slot->error = chordal__node_ref(node);
    }
    chordal__node_unref(memory, node);
}

void chordal__compute_fail(chordal__compute *compute, const char *name, size_t name_len, const char *detail,
                           size_t detail_len) {
    chordal__change *change = change_of(compute->runtime->settling, compute->object);
    set_error(change, compute->member, name, name_len, detail, detail_len);
    done(compute);
}
