/* authority.c: what a session may claim on this link, and what goes on to the next host with it. */
#include "link/link.h"

int chordal__session_authority(chordal__link *link, const chordal__message *message, chordal__authority **out,
                               chordal_error *error) {
    const chordal__part *part = &message->parts[0];
    *out = NULL;
    if (!(link->flags & CHORDAL_LINK_TRUSTED)) {
        *out = chordal__authority_ref(link->authority);
        return 0;
    }
    if (!part->len) return 0;
    bool json = message->numbers[1] == CHORDAL__ENCODING_JSON;
    int code = chordal__authority_of(link->runtime, json ? CHORDAL_FORMAT_JSON : CHORDAL_FORMAT_PACKED, part->data,
                                     part->len, out, error);
    return code == CHORDAL_E_SIZE ? chordal__fail(error, CHORDAL_E_TOO_LARGE, 0, "an authority is too large") : code;
}

int chordal__authority_part(chordal__runtime *runtime, const chordal__authority *authority, uint64_t encoding,
                            chordal__part *out) {
    memset(out, 0, sizeof *out);
    if (!authority) return 0;
    chordal__body *packed = authority->packed;
    return chordal__part_of_packed(runtime, (uint8_t)encoding, packed->data, packed->len, packed, out);
}

/* ---- what was taken back ---- */

/* The sessions that were revoked last, so that none of them comes back as a new one without a word. */
typedef struct revoked_session {
    uint8_t session[16];
    chordal__body *reason;
} revoked_session;
struct chordal__revoked {
    uint32_t next;
    revoked_session sessions[CHORDAL__REVOKED_LIMIT];
};

const chordal__body *chordal__revocation_of(const chordal__link *link, const uint8_t session[16]) {
    const chordal__revoked *revoked = link->links->revoked;
    if (link->revoked) return link->revoked;
    for (uint32_t i = 0; revoked && i < CHORDAL__REVOKED_LIMIT; i++)
        if (revoked->sessions[i].reason && memcmp(revoked->sessions[i].session, session, 16) == 0)
            return revoked->sessions[i].reason;
    return NULL;
}

static void remember(chordal__links *links, const uint8_t session[16], chordal__body *reason) {
    revoked_session *place = &links->revoked->sessions[links->revoked->next++ % CHORDAL__REVOKED_LIMIT];
    chordal__body_unref(place->reason);
    place->reason = chordal__body_ref(reason);
    memcpy(place->session, session, sizeof place->session);
}

void chordal__revoked_dispose(chordal__links *links) {
    for (uint32_t i = 0; links->revoked && i < CHORDAL__REVOKED_LIMIT; i++)
        chordal__body_unref(links->revoked->sessions[i].reason);
    chordal__release(links->runtime->memory, links->revoked, sizeof *links->revoked);
    links->revoked = NULL;
}

/* ---- taking it from sessions ---- */

static void revoke_provider(chordal__provider *provider, chordal__body *reason) {
    remember(provider->runtime->links, provider->session, reason);
    if (provider->origin.number)
        chordal__send_ended(&provider->origin, CHORDAL_E_REVOKED, (const char *)reason->data, reason->len);
    chordal__provider_end(provider, true);
}

static void revoke_origin(chordal__origin *origin, const chordal__authority *authority, chordal__body *reason) {
    if (origin->role == CHORDAL__ROLE_PROVIDER) {
        chordal__provider *provider = CHORDAL__ENTRY(origin, chordal__provider, origin);
        if (chordal__authority_equal(provider->caller.authority, authority)) revoke_provider(provider, reason);
    } else if (origin->role == CHORDAL__ROLE_FORWARD) {
        chordal__forward *forward = CHORDAL__ENTRY(origin, chordal__forward, origin);
        if (forward->to_provider || !chordal__authority_equal(forward->authority, authority)) return;
        remember(origin->link->links, forward->session, reason);
        chordal__forward_revoke(forward, reason);
    }
}

static void revoke_link(chordal__link *link, const chordal__authority *authority, chordal__body *reason) {
    bool own = !(link->flags & CHORDAL_LINK_TRUSTED) && link->state == CHORDAL_LINK_UP;
    if (own && chordal__authority_equal(link->authority, authority)) {
        chordal__body_unref(link->revoked);
        link->revoked = chordal__body_ref(reason);
    }
    for (size_t i = 0; i < link->origins_capacity; i++)
        if (link->origins[i]) revoke_origin(link->origins[i], authority, reason);
}

int chordal__links_revoke(chordal__links *links, const chordal__authority *authority, chordal__body *reason) {
    if (!links->revoked) links->revoked = chordal__allocate_zero(links->runtime->memory, sizeof *links->revoked);
    if (!links->revoked) return CHORDAL_E_NOMEM;
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next)
        revoke_link(CHORDAL__ENTRY(node, chordal__link, node), authority, reason);
    chordal__list *node = links->lost.next;
    while (node != &links->lost) {
        chordal__provider *provider = CHORDAL__ENTRY(node, chordal__provider, node);
        node = node->next;
        if (chordal__authority_equal(provider->caller.authority, authority)) revoke_provider(provider, reason);
    }
    return 0;
}
