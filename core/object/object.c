/* object.c: objects: made when first asked for, retired when nobody holds them. */
#include "object/live.h"

/* ---- making ---- */

/* The packed values of the params in the type's order: what makes an address. */
static int write_key(const chordal__type *type, const chordal__node *params, chordal__buffer *out) {
    if (chordal__node_kind(params) != CHORDAL_KIND_OBJECT || chordal__node_length(params) != type->params_len)
        return CHORDAL_E_PARAMS;
    for (uint32_t i = 0; i < type->params_len; i++) {
        const chordal__node *value = chordal__node_get(params, type->params[i].data, type->params[i].len);
        if (!value) return CHORDAL_E_PARAMS;
        chordal__pack_write(out, value);
    }
    return out->failed;
}

/* Which of them it is. */
static int refuse_params(const chordal__type *type, const chordal__node *params, chordal_error *error) {
    static const char lacks[] = "the params do not fit the type: they lack ",
                      other[] = "the params do not fit the type, which has no ";
    chordal__walk walk;
    const uint8_t *name;
    size_t len;
    if (chordal__node_kind(params) != CHORDAL_KIND_OBJECT)
        return chordal__fail(error, CHORDAL_E_PARAMS, 0, "the params do not fit the type: they are no object");
    if (CHORDAL__SMALL) return chordal__fail(error, CHORDAL_E_PARAMS, 0, "the params do not fit the type");
    for (uint32_t i = 0; i < type->params_len; i++)
        if (!chordal__node_get(params, type->params[i].data, type->params[i].len))
            return chordal__fail_about(error, CHORDAL_E_PARAMS, lacks, type->params[i].data, type->params[i].len);
    chordal__walk_begin(&walk, params);
    while (chordal__walk_next(&walk, &name, &len)) {
        uint32_t i = 0;
        while (i < type->params_len && !chordal__text_is(&type->params[i], name, len)) i++;
        if (i == type->params_len) return chordal__fail_about(error, CHORDAL_E_PARAMS, other, name, len);
    }
    return chordal__fail(error, CHORDAL_E_PARAMS, 0, "the params do not fit the type");
}

static int make_slots(chordal__object *object) {
    const chordal__members *members = object->type->members;
    object->slots = chordal__allocate_zero(object->runtime->memory, members->count * sizeof *object->slots);
    if (members->count && !object->slots) return CHORDAL_E_NOMEM;
    for (uint32_t i = 0; i < members->count; i++) {
        if (!members->items[i].initial) continue;
        object->slots[i].head = chordal__node_ref(members->items[i].initial);
        object->slots[i].tip = chordal__node_ref(members->items[i].initial);
    }
    return 0;
}

static void free_object(chordal__object *object) {
    chordal__runtime *runtime = object->runtime;
    uint32_t count = object->slots ? object->type->members->count : 0;
    if (CHORDAL__STORE) chordal__live_close(object);
    if (CHORDAL__STORE && count) chordal__persist_forget(object);
    for (uint32_t i = 0; i < count; i++) {
        chordal__slot *slot = &object->slots[i];
        chordal__node_unref(runtime->memory, slot->head);
        chordal__node_unref(runtime->memory, slot->tip);
        chordal__node_unref(runtime->memory, slot->error);
    }
    chordal__release(runtime->memory, object->slots, count * sizeof *object->slots);
    chordal__list_remove(&object->node);
    chordal__untell(&object->made);
    chordal__untell(&object->retired);
    chordal__reason_clear(runtime->memory, &object->reason);
    chordal__body_unref(object->key);
    chordal__body_unref(object->params);
    if (object->id) chordal__id_free(&runtime->ids, object->id);
    chordal__release(runtime->memory, object, sizeof *object);
    runtime->counters.live_objects--;
}

static chordal__object *new_object(chordal__type *type) {
    chordal__runtime *runtime = type->runtime;
    chordal__object *object = chordal__allocate_zero(runtime->memory, sizeof *object);
    if (!object) return NULL;
    object->runtime = runtime;
    object->type = type;
    object->state = CHORDAL__OBJECT_STARTING;
    chordal__event_init(&object->made, CHORDAL__TELL_MADE);
    chordal__event_init(&object->retired, CHORDAL__TELL_RETIRED);
    chordal__list_init(&object->observers);
    chordal__list_init(&object->early);
    chordal__list_init(&object->invocations);
    chordal__list_append(&runtime->objects, &object->node);
    runtime->counters.live_objects++;
    return object;
}

static int make(chordal__type *type, chordal__body *key, chordal__body *params, chordal__object **out,
                chordal_error *error) {
    chordal__object *object = new_object(type);
    if (!object) return CHORDAL_E_NOMEM;
    object->key = chordal__body_ref(key);
    object->params = chordal__body_ref(params);
    int code = make_slots(object);
    if (CHORDAL__STORE && code == 0) code = chordal__persist_load(object, error);
    if (CHORDAL__STORE && code == 0 && chordal__type_is_own(type)) code = chordal__live_open(object, error);
    if (code == 0) {
        object->id = chordal__id_new(&type->runtime->ids, CHORDAL__ID_OBJECT, object, false);
        code = object->id ? chordal__map_put(&type->objects, key->data, key->len, object) : CHORDAL_E_NOMEM;
    }
    if (code < 0) {
        free_object(object);
        return code;
    }
    if (!CHORDAL__STORE || !chordal__type_is_own(type)) chordal__tell_urgently(type->runtime, &object->made);
    *out = object;
    return 0;
}

static int find_or_make(chordal__type *type, chordal__node *params, chordal__object **out, bool *made,
                        chordal_error *error) {
    chordal__runtime *runtime = type->runtime;
    chordal__buffer buffer;
    chordal__buffer_init(&buffer, runtime->memory, 1 << 16);
    int code = write_key(type, params, &buffer);
    chordal__object *found = code < 0 ? NULL : chordal__map_get(&type->objects, buffer.data, buffer.len);
    *made = false;
    if (found) {
        *out = found;
    } else if (code == 0 && runtime->counters.live_objects >= CHORDAL__OBJECTS_LIMIT) {
        code = CHORDAL_E_LIMIT;
    } else if (code == 0) {
        chordal__body *key = chordal__body_of_buffer(runtime->memory, &buffer);
        chordal__buffer_clear(&buffer);
        chordal__pack_write(&buffer, params);
        chordal__body *packed = chordal__body_of_buffer(runtime->memory, &buffer);
        code = key && packed ? make(type, key, packed, out, error) : CHORDAL_E_NOMEM;
        *made = code == 0;
        chordal__body_unref(key);
        chordal__body_unref(packed);
    }
    chordal__buffer_dispose(&buffer);
    return code;
}

int chordal__object_demand(chordal__type *type, const uint8_t *params, size_t params_len, chordal__object **out,
                           chordal_error *error) {
    chordal__node *node;
    bool made;
    chordal_error why = {0}; /* of the store */
    int code =
        chordal__pack_read(type->runtime->memory, params, params_len, &type->runtime->settings.limits, &node, error);
    if (code < 0) return code;
    code = find_or_make(type, node, out, &made, &why);
    if (code == CHORDAL_E_PARAMS) (void)refuse_params(type, node, error);
    chordal__node_unref(type->runtime->memory, node);
    if (code == CHORDAL_E_PARAMS) return code;
    if (CHORDAL__STORE && why.code) return chordal__fail(error, code, why.position, why.detail);
    if (code < 0) return chordal__fail(error, code, 0, "no room for the object");
    (*out)->demand++;
    if (made && !type->start) chordal__object_start(*out);
    if (CHORDAL__STORE && made && chordal__type_is_own(type)) chordal__live_begin(*out);
    return 0;
}

/* ---- going live ---- */

/* Derives have their first values computed before the object is live; that waits in line with the commits. */
void chordal__object_start(chordal__object *object) {
    if (object->state != CHORDAL__OBJECT_STARTING || object->activating) return;
    chordal__commit *activation = chordal__commit_new(object->runtime, 1);
    if (!activation) {
        chordal__object_fail(object, CHORDAL_E_NOMEM, NULL, 0, NULL, 0);
        return;
    }
    activation->item = CHORDAL__ITEM_ACTIVATION;
    activation->changes[0].object = object;
    activation->changes_len = 1;
    object->activating = true;
    chordal__object_pin(object);
    chordal__commit_submit(activation);
}

void chordal__object_fail(chordal__object *object, int code, const char *name, size_t name_len, const char *detail,
                          size_t detail_len) {
    if (object->state == CHORDAL__OBJECT_RETIRED) return;
    object->state = CHORDAL__OBJECT_FAILED;
    chordal__reason_set(object->runtime->memory, &object->reason, code, name, name_len, detail, detail_len);
    chordal__object_tell_state(object);
}

void chordal__object_retry(chordal__object *object) {
    object->state = CHORDAL__OBJECT_STARTING;
    chordal__object_tell_state(object);
    if (CHORDAL__STORE && chordal__type_is_own(object->type))
        chordal__live_begin(object);
    else if (object->type->start)
        chordal__tell(object->runtime, &object->made);
    else
        chordal__object_start(object);
}

/* Observers may detach any of them while they are told: the ring is taken apart and put together again. */
void chordal__object_tell_state(chordal__object *object) {
    chordal__list told;
    chordal__list_init(&told);
    chordal__object_pin(object);
    while (!chordal__list_empty(&object->observers)) {
        chordal__observer *observer = CHORDAL__ENTRY(object->observers.next, chordal__observer, node);
        chordal__list_remove(&observer->node);
        chordal__list_append(&told, &observer->node);
        observer->functions->state(observer);
    }
    while (!chordal__list_empty(&told)) {
        chordal__list *node = told.next;
        chordal__list_remove(node);
        chordal__list_append(&object->observers, node);
    }
    chordal__object_unpin(object);
}

/* ---- ending ---- */

void chordal__object_pin(chordal__object *object) {
    object->pins++;
}

/* An object goes when it is retired, that was told, and nobody needs its memory. */
static void free_if_done(chordal__object *object) {
    bool telling = chordal__telling(&object->retired);
    if (object->state == CHORDAL__OBJECT_RETIRED && !telling && !object->pins && !object->demand) free_object(object);
}

void chordal__object_unpin(chordal__object *object) {
    object->pins--;
    free_if_done(object);
}

void chordal__object_undemand(chordal__object *object) {
    object->demand--;
    if (object->demand) return;
    if (object->state == CHORDAL__OBJECT_RETIRED)
        free_if_done(object);
    else if (!object->type->keep || object->state == CHORDAL__OBJECT_FAILED)
        chordal__object_retire(object);
}

static void end_calls_not_told(chordal__object *object) {
    chordal__list *node = object->invocations.next;
    while (node != &object->invocations) {
        chordal__invocation *invocation = CHORDAL__ENTRY(node, chordal__invocation, object_node);
        node = node->next;
        if (!invocation->told && !invocation->answered)
            chordal__invocation_fail(invocation, CHORDAL_E_RETIRED, NULL, 0, NULL, 0);
    }
}

void chordal__object_retire(chordal__object *object) {
    if (object->state == CHORDAL__OBJECT_RETIRED) return;
    object->state = CHORDAL__OBJECT_RETIRED;
    chordal__object_pin(object);
    chordal__map_remove(&object->type->objects, object->key->data, object->key->len);
    end_calls_not_told(object);
    chordal__settle_drop(object);
    chordal__object_tell_state(object);
    if (CHORDAL__STORE) chordal__live_close(object);
    chordal__untell(&object->made);
    if (object->known) chordal__tell(object->runtime, &object->retired);
    chordal__object_unpin(object);
}

void chordal__object_told_retired(chordal__object *object) {
    free_if_done(object);
}

void chordal__object_destroy(chordal__object *object) {
    chordal__object_pin(object);
    while (!chordal__list_empty(&object->invocations))
        chordal__invocation_free(CHORDAL__ENTRY(object->invocations.next, chordal__invocation, object_node));
    for (uint32_t i = 0; i < object->type->members->count; i++)
        if (object->slots[i].compute) chordal__compute_free(object->slots[i].compute);
    free_object(object);
}
