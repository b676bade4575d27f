/* api_placement.c: the public functions on types whose objects the program places. */
#include "chordal/placement.h"
#include "host/host.h"

int chordal_type_place(chordal_host *host, const char *type, size_t type_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = chordal__check_text(type, type_len, error);
    if (code == 0) code = chordal__type_place(&host->links, type, type_len, error);
    return chordal__leave(host, code);
}

int chordal_resolve(chordal_host *host, chordal_id id, chordal_id link_id, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__link *link = NULL;
    chordal__question *question = chordal__find(host, id, CHORDAL__ID_QUESTION, &code, error);
    if (question) link = chordal__find(host, link_id, CHORDAL__ID_LINK, &code, error);
    if (link) code = chordal__question_resolve(question, link, error);
    return chordal__leave(host, code);
}

int chordal_resolve_fail(chordal_host *host, chordal_id id, const char *name, size_t name_len, const char *message,
                         size_t message_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = chordal__check_text(name, name_len, error);
    if (code == 0) code = chordal__check_text(message, message_len, error);
    if (code == 0 && !name_len) code = chordal__fail(error, CHORDAL_E_INVALID, 0, "a failure needs a name");
    chordal__question *question = code < 0 ? NULL : chordal__find(host, id, CHORDAL__ID_QUESTION, &code, error);
    if (question) code = chordal__question_fail(question, name, name_len, message, message_len, error);
    return chordal__leave(host, code);
}

int chordal_link_offers(chordal_host *host, chordal_id id, const char *type, size_t type_len, uint32_t *out_offers,
                        chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    const chordal__link *link = chordal__find(host, id, CHORDAL__ID_LINK, &code, error);
    if (link) *out_offers = chordal__link_offers(link, type, type_len);
    return chordal__leave(host, code);
}
