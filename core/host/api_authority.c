/* api_authority.c: the public functions on who may what, and on taking it back. */
#include "host/host.h"

int chordal_link_admit(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *authority,
                       size_t authority_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__authority *own = NULL;
    chordal__link *link = chordal__find(host, id, CHORDAL__ID_LINK, &code, error);
    if (link) code = chordal__authority_of(&host->runtime, format, authority, authority_len, &own, error);
    if (code == 0) code = chordal__admission_admit(link, own, error);
    if (code < 0) chordal__authority_unref(own);
    return chordal__leave(host, code);
}

int chordal_link_refuse(chordal_host *host, chordal_id id, const char *reason, size_t reason_len,
                        chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__link *link = chordal__find(host, id, CHORDAL__ID_LINK, &code, error);
    if (code == 0) code = chordal__check_text(reason, reason_len, error);
    if (code == 0) code = chordal__admission_refuse(link, reason, reason_len, error);
    return chordal__leave(host, code);
}

int chordal_guard_answer(chordal_host *host, chordal_id id, uint32_t answer, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__ask *ask = chordal__find(host, id, CHORDAL__ID_ASK, &code, error);
    if (ask && answer > CHORDAL_GUARD_ALLOW_CALLS)
        code = chordal__fail(error, CHORDAL_E_INVALID, 0, "a guard denies, allows, or allows all calls");
    else if (ask)
        chordal__ask_answer(ask, answer);
    return chordal__leave(host, code);
}

int chordal_call_authority(chordal_host *host, chordal_id id, chordal_value **out, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    const chordal__invocation *invocation = chordal__find(host, id, CHORDAL__ID_INVOCATION, &code, error);
    if (!invocation) return chordal__leave(host, code);
    const chordal__authority *authority = invocation->caller ? invocation->caller->authority : NULL;
    chordal__node *value = authority ? chordal__node_ref(authority->value) : chordal__node_null(host->memory);
    *out = value ? chordal__box_new(host->memory, value) : NULL;
    chordal__node_unref(host->memory, value);
    if (!*out) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
    return chordal__leave(host, code);
}

/* ---- taken back ---- */

typedef struct taken {
    chordal__authority *authority;
    chordal__body *reason;
} taken;

static void dispose(taken *from) {
    chordal__authority_unref(from->authority);
    chordal__body_unref(from->reason);
}

static int read_revocation(chordal_host *host, uint32_t format, const uint8_t *authority, size_t authority_len,
                           const char *reason, size_t reason_len, taken *out, chordal_error *error) {
    *out = (taken){NULL, NULL};
    int code = chordal__check_text(reason, reason_len, error);
    if (code < 0) return code;
    if (reason_len > CHORDAL__REASON_BYTES) return chordal__fail(error, CHORDAL_E_SIZE, 0, "the reason is too long");
    code = chordal__authority_of(&host->runtime, format, authority, authority_len, &out->authority, error);
    if (code < 0) return code;
    out->reason = chordal__body_new(host->memory, reason_len);
    if (!out->reason) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a reason");
    if (reason_len) memcpy(out->reason->data, reason, reason_len);
    return 0;
}

int chordal_host_revoke(chordal_host *host, uint32_t format, const uint8_t *authority, size_t authority_len,
                        const char *reason, size_t reason_len, chordal_error *error) {
    taken from;
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = read_revocation(host, format, authority, authority_len, reason, reason_len, &from, error);
    if (code == 0 && chordal__links_revoke(&host->links, from.authority, from.reason) < 0)
        code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory to remember what was revoked");
    dispose(&from);
    return chordal__leave(host, code);
}

int chordal_object_revoke(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *authority,
                          size_t authority_len, const char *reason, size_t reason_len, chordal_error *error) {
    taken from;
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__object *object = chordal__find(host, id, CHORDAL__ID_OBJECT, &code, error);
    if (!object) return chordal__leave(host, code);
    code = read_revocation(host, format, authority, authority_len, reason, reason_len, &from, error);
    if (code == 0) chordal__object_revoke(object, from.authority, from.reason);
    dispose(&from);
    return chordal__leave(host, code);
}
