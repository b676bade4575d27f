/* api_reference.c: the public functions on references, watches and calls made here. */
#include "host/host.h"
#include "object/live.h"

/* A live query is where the object is that it is about. */
static bool is_here(const chordal__reference *reference, const chordal__type *type) {
    bool here = true;
#if CHORDAL__STORE
    chordal__runtime *runtime = reference->runtime;
    chordal__target target;
    if (!chordal__type_is_own(type) || chordal__links_default(runtime->links) == NULL) return true;
    if (chordal__target_read(runtime, reference->params->data, reference->params->len, &target, NULL) < 0) return true;
    here = chordal__type_find(runtime, target.type.data, target.type.len) != NULL;
    chordal__target_dispose(runtime, &target);
#else
    (void)reference, (void)type;
#endif
    return here;
}

/* Where a reference leads: a link that was named, this host's own type, the first link that connects. */
static int attach(chordal_host *host, chordal__reference *reference, chordal_id link_id, chordal_error *error) {
    chordal__type *type = chordal__type_find(&host->runtime, reference->type.data, reference->type.len);
    int code;
    if (link_id) {
        chordal__link *link = chordal__find(host, link_id, CHORDAL__ID_LINK, &code, error);
        return link ? chordal__remote_attach(reference, link, error) : code;
    }
    if (type && is_here(reference, type)) return chordal__local_attach(reference, type, error);
#ifndef CHORDAL__NO_PLACES
    if (chordal__is_placed(&host->links, reference->type.data, reference->type.len))
        return chordal__placement_attach(reference, error);
#endif
    chordal__link *link = chordal__links_default(&host->links);
    if (link) return chordal__remote_attach(reference, link, error);
    return chordal__fail_about(error, CHORDAL_E_NO_TYPE, CHORDAL__WORDS("neither provided here nor a link to ask for "),
                               reference->type.data, reference->type.len);
}

int chordal_reference_get(chordal_host *host, chordal_id link, const char *type, size_t type_len, uint32_t version,
                          uint32_t flags, uint32_t format, const uint8_t *params, size_t params_len,
                          chordal_id *out_reference, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__body *packed = NULL;
    chordal__reference *reference = NULL;
    if (flags & ~(uint32_t)(CHORDAL_REFERENCE_KEPT | CHORDAL_REFERENCE_MANUAL))
        code = chordal__fail(error, CHORDAL_E_INVALID, 0, "unknown flags");
    if (code == 0) code = chordal__check_text(type, type_len, error);
    if (code == 0) code = chordal__pack_of(&host->runtime, format, params, params_len, &packed, error);
    if (code == 0)
        code = chordal__reference_new(&host->runtime, type, type_len, version, flags, packed, &reference, error);
    chordal__body_unref(packed);
    if (code == 0) code = attach(host, reference, link, error);
    if (code < 0 && reference) chordal__reference_free(reference);
    if (code == 0) *out_reference = chordal__id_own(&host->runtime.ids, reference->id);
    return chordal__leave(host, code);
}

int32_t chordal_reference_state(chordal_host *host, chordal_id id) {
    if (chordal__enter(host, NULL) < 0) return CHORDAL_REFERENCE_RELEASED;
    const chordal__reference *reference = chordal__id_get(&host->runtime.ids, id, CHORDAL__ID_REFERENCE);
    int32_t state = reference ? reference->state : CHORDAL_REFERENCE_RELEASED;
    chordal__leave(host, 0);
    return state;
}

int chordal_reference_retry(chordal_host *host, chordal_id id, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__reference *reference = chordal__find(host, id, CHORDAL__ID_REFERENCE, &code, error);
    if (reference && reference->state != CHORDAL_REFERENCE_FAILED)
        code = chordal__fail(error, CHORDAL_E_STATE, 0, "the reference has not failed");
    else if (reference && (code = reference->source->retry(reference)) < 0)
        chordal__fail(error, code, 0, "the reference cannot be tried again");
    return chordal__leave(host, code);
}

int chordal_reference_member(chordal_host *host, chordal_id id, const char *name, size_t name_len, uint32_t *out_member,
                             chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    const chordal__reference *reference = chordal__find(host, id, CHORDAL__ID_REFERENCE, &code, error);
    if (!reference) return chordal__leave(host, code);
    if (!reference->members)
        return chordal__leave(host, chordal__fail(error, CHORDAL_E_STATE, 0, "the reference was never live"));
    int64_t member = chordal__members_find(reference->members, name, name_len);
    if (member < 0) code = chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "the type has no such member");
    if (code == 0) *out_member = (uint32_t)member;
    return chordal__leave(host, code);
}

int chordal_reference_value(chordal_host *host, chordal_id id, uint32_t member, chordal_value **out,
                            chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    const chordal__reference *reference = chordal__find(host, id, CHORDAL__ID_REFERENCE, &code, error);
    if (!reference) return chordal__leave(host, code);
    if (reference->members && (member >= reference->members->count || !reference->members->is_state[member]))
        return chordal__leave(host, chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such document or derive"));
    chordal__node *value = chordal__reference_value(reference, member);
    if (!value) return chordal__leave(host, chordal__fail(error, CHORDAL_E_STATE, 0, "there is no value (here)"));
    *out = chordal__box_new(host->memory, value);
    if (!*out) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
    return chordal__leave(host, code);
}

int chordal_watch_open(chordal_host *host, chordal_id source, uint32_t member, uint32_t flags, chordal_id *out_watch,
                       chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__watch *watch;
    code = chordal__watch_open(&host->runtime, source, member, flags, &watch, error);
    if (code == 0) *out_watch = chordal__id_own(&host->runtime.ids, watch->id);
    return chordal__leave(host, code);
}

/* A watch by its id, or the implicit one of a KEPT reference. */
static chordal__watch *watch_of(chordal_host *host, chordal_id id) {
    chordal__watch *watch = chordal__id_get(&host->runtime.ids, id, CHORDAL__ID_WATCH);
    if (watch) return watch;
    const chordal__reference *reference = chordal__id_get(&host->runtime.ids, id, CHORDAL__ID_REFERENCE);
    return reference ? reference->kept : NULL;
}

static int with_watch(chordal_host *host, chordal_id id, void (*act)(chordal__watch *), chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__watch *watch = watch_of(host, id);
    if (watch)
        act(watch);
    else
        code = chordal__fail(error, CHORDAL_E_CLOSED, 0, "no such watch");
    return chordal__leave(host, code);
}

int chordal_watch_take(chordal_host *host, chordal_id watch, chordal_error *error) {
    return with_watch(host, watch, chordal__watch_take, error);
}

int chordal_watch_reset(chordal_host *host, chordal_id watch, chordal_error *error) {
    return with_watch(host, watch, chordal__watch_reset, error);
}

int chordal_call_start(chordal_host *host, chordal_id id, const char *method, size_t method_len, uint32_t format,
                       const uint8_t *arguments, size_t arguments_len, chordal_time timeout, chordal_id *out_call,
                       chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__body *body;
    chordal__call *call;
    chordal__reference *reference = chordal__find(host, id, CHORDAL__ID_REFERENCE, &code, error);
    if (reference) code = chordal__check_text(method, method_len, error);
    if (code < 0) return chordal__leave(host, code);
    code = chordal__arguments_of(&host->runtime, format, arguments, arguments_len, &body, error);
    if (code < 0) return chordal__leave(host, code);
    if (timeout >= CHORDAL_NEVER) timeout = 0;
    code = chordal__call_start(reference, method, method_len, body, timeout, &call, error);
    if (code < 0)
        chordal__body_unref(body);
    else
        *out_call = call->id;
    return chordal__leave(host, code);
}

int chordal_call_cancel(chordal_host *host, chordal_id id, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__call *call = chordal__find(host, id, CHORDAL__ID_CALL, &code, error);
    if (call) chordal__call_cancel(call);
    return chordal__leave(host, code);
}
