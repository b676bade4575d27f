/* api_object.c: the public functions on types, objects, computes and calls that are served. */
#include "host/host.h"

static int check_texts(const char *name, size_t name_len, const char *message, size_t message_len,
                       chordal_error *error) {
    int code = chordal__check_text(name, name_len, error);
    return code < 0 ? code : chordal__check_text(message, message_len, error);
}

int chordal_value_decode(chordal_host *host, uint32_t format, const uint8_t *data, size_t data_len, chordal_value **out,
                         chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__node *node;
    code = chordal__node_of(&host->runtime, format, data, data_len, &node, error);
    if (code < 0) return chordal__leave(host, code);
    *out = chordal__box_new(host->memory, node);
    chordal__node_unref(host->memory, node);
    if (!*out) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
    return chordal__leave(host, code);
}

int chordal_type_provide(chordal_host *host, const uint8_t *declaration, size_t declaration_len, chordal_id *out_type,
                         chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__type *type;
    code = chordal__type_provide(&host->runtime, declaration, declaration_len, &type, error);
    if (code == 0) *out_type = type->id;
    return chordal__leave(host, code);
}

int chordal_object_start(chordal_host *host, chordal_id id, const char *name, size_t name_len, const char *message,
                         size_t message_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = check_texts(name, name_len, message, message_len, error);
    chordal__object *object = code < 0 ? NULL : chordal__find(host, id, CHORDAL__ID_OBJECT, &code, error);
    if (object && (object->state != CHORDAL__OBJECT_STARTING || object->activating || !object->type->start ||
                   chordal__object_is_query(object)))
        code = chordal__fail(error, CHORDAL_E_STATE, 0, "the object does not wait for its start");
    else if (object && name_len)
        chordal__object_fail(object, CHORDAL_E_METHOD, name, name_len, message, message_len);
    else if (object)
        chordal__object_start(object);
    return chordal__leave(host, code);
}

static int get_object(chordal_host *host, const char *type_name, size_t type_len, uint32_t format,
                      const uint8_t *params, size_t params_len, chordal__object **out, chordal_error *error) {
    chordal__type *type = chordal__type_find(&host->runtime, type_name, type_len);
    chordal__body *packed;
    if (!type)
        return chordal__fail_about(error, CHORDAL_E_NO_TYPE, CHORDAL__WORDS("not provided here: "), type_name,
                                   type_len);
    int code = chordal__pack_of(&host->runtime, format, params, params_len, &packed, error);
    if (code < 0) return code;
    code = chordal__object_demand(type, packed->data, packed->len, out, error);
    chordal__body_unref(packed);
    return code;
}

int chordal_object_get(chordal_host *host, const char *type, size_t type_len, uint32_t format, const uint8_t *params,
                       size_t params_len, chordal_id *out_object, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__object *object;
    code = get_object(host, type, type_len, format, params, params_len, &object, error);
    if (code == 0) {
        object->got++;
        *out_object = object->id;
    }
    return chordal__leave(host, code);
}

int chordal_object_drop(chordal_host *host, chordal_id id, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__object *object = chordal__find(host, id, CHORDAL__ID_OBJECT, &code, error);
    if (object && !object->got) {
        code = chordal__fail(error, CHORDAL_E_STATE, 0, "the object was not got");
    } else if (object) {
        object->got--;
        chordal__object_undemand(object);
    }
    return chordal__leave(host, code);
}

int chordal_object_retire(chordal_host *host, chordal_id id, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__object *object = chordal__find(host, id, CHORDAL__ID_OBJECT, &code, error);
    if (object && CHORDAL__STORE && host->runtime.store) code = chordal__persist_retire(object, error);
    if (object && code == 0) chordal__object_retire(object);
    return chordal__leave(host, code);
}

static chordal__node *revision_of(chordal_host *host, chordal_id id, uint32_t which, int *code, chordal_error *error) {
    chordal__object *object = chordal__find(host, id, CHORDAL__ID_OBJECT, code, error);
    uint32_t member = which & ~CHORDAL_PREPARED;
    if (!object) return NULL;
    const chordal__members *members = object->type->members;
    if (member >= members->count || !members->is_state[member]) {
        *code = chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such document or derive");
        return NULL;
    }
    const chordal__slot *slot = &object->slots[member];
    chordal__node *value = CHORDAL__STORE && which != member && slot->tip ? slot->tip : slot->head;
    if (!value) *code = chordal__fail(error, CHORDAL_E_STATE, 0, "the derive has no value yet");
    return value;
}

int chordal_object_value(chordal_host *host, chordal_id object, uint32_t member, chordal_value **out,
                         chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__node *value = revision_of(host, object, member, &code, error);
    if (value) *out = chordal__box_new(host->memory, value);
    if (value && !*out) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
    return chordal__leave(host, code);
}

int chordal_object_read(chordal_host *host, chordal_id object, uint32_t member, uint32_t format, uint8_t *buffer,
                        size_t buffer_len, size_t *out_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__node *value = revision_of(host, object, member, &code, error);
    chordal__buffer *scratch = &host->runtime.scratch;
    if (!value) return chordal__leave(host, code);
    chordal__buffer_clear(scratch);
    if (format == CHORDAL_FORMAT_JSON)
        chordal__json_write(scratch, value);
    else
        chordal__pack_write(scratch, value);
    *out_len = scratch->len;
    if (scratch->failed)
        code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the value");
    else if (scratch->len > buffer_len)
        code = chordal__fail(error, CHORDAL_E_ROOM, 0, "the value needs more room");
    else if (scratch->len)
        memcpy(buffer, scratch->data, scratch->len);
    return chordal__leave(host, code);
}

int chordal_compute_answer(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *value, size_t value_len,
                           chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__node *node = NULL;
    chordal__compute *compute = chordal__find(host, id, CHORDAL__ID_COMPUTE, &code, error);
    if (compute) code = chordal__node_of(&host->runtime, format, value, value_len, &node, error);
    if (node) code = chordal__compute_answer(compute, node, error);
    chordal__node_unref(host->memory, node);
    return chordal__leave(host, code);
}

int chordal_compute_fail(chordal_host *host, chordal_id id, const char *name, size_t name_len, const char *message,
                         size_t message_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = check_texts(name, name_len, message, message_len, error);
    chordal__compute *compute = code < 0 ? NULL : chordal__find(host, id, CHORDAL__ID_COMPUTE, &code, error);
    if (compute) chordal__compute_fail(compute, name, name_len, message, message_len);
    return chordal__leave(host, code);
}

static int value_body(chordal_host *host, uint32_t format, const uint8_t *value, size_t len, chordal__body **out,
                      chordal_error *error) {
    if (format) return chordal__pack_of(&host->runtime, format, value, len, out, error);
    *out = chordal__body_new(host->memory, len);
    if (!*out) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the answer");
    if (len) memcpy((*out)->data, value, len);
    return 0;
}

int chordal_call_answer(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *value, size_t value_len,
                        chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__body *body;
    chordal__invocation *invocation = chordal__find(host, id, CHORDAL__ID_INVOCATION, &code, error);
    if (invocation) code = value_body(host, format, value, value_len, &body, error);
    if (invocation && code == 0) chordal__invocation_answer(invocation, body, format == 0);
    return chordal__leave(host, code);
}

int chordal_call_fail(chordal_host *host, chordal_id id, const char *name, size_t name_len, const char *message,
                      size_t message_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = check_texts(name, name_len, message, message_len, error);
    chordal__invocation *invocation = code < 0 ? NULL : chordal__find(host, id, CHORDAL__ID_INVOCATION, &code, error);
    if (invocation) chordal__invocation_fail(invocation, CHORDAL_E_METHOD, name, name_len, message, message_len);
    return chordal__leave(host, code);
}
