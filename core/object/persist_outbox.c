/* persist_outbox.c: what a commit wrote, as those who follow the store read it: [[type, params, member, change], …],
 * where a change is MessagePack bin of packed ops, or [value] for a document that begins or begins anew. */
#include "object/object.h"

static void write_value(chordal__buffer *out, const chordal__object *object, const chordal__new_value *value) {
    const chordal__text *type = &object->type->name, *member = &object->type->members->items[value->member].name;
    chordal__pack_write_array(out, 4);
    chordal__pack_write_string(out, type->data, type->len);
    chordal__buffer_put(out, object->params->data, object->params->len);
    chordal__pack_write_string(out, member->data, member->len);
    if (value->delta) {
        chordal__pack_write_bytes(out, value->delta->data, value->delta->len);
    } else {
        chordal__pack_write_array(out, 1);
        chordal__buffer_put(out, value->base->data, value->base->len);
    }
}

static bool is_written(const chordal__new_value *value) {
    return value->delta || value->base;
}

static uint64_t count_written(const chordal__commit *commit) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++) count += is_written(&commit->changes[i].values[k]);
    return count;
}

int chordal__outbox_write(const chordal__commit *commit, chordal_error *error) {
    chordal__runtime *runtime = commit->runtime;
    chordal__buffer *out = &runtime->scratch;
    chordal__buffer_clear(out);
    chordal__pack_write_array(out, count_written(commit));
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++)
            if (is_written(&commit->changes[i].values[k]))
                write_value(out, commit->changes[i].object, &commit->changes[i].values[k]);
    if (out->failed) return chordal__fail(error, out->failed, 0, "no memory for the outbox");
    return chordal__outbox_add(runtime->store, commit->number, out->data, out->len, error);
}
