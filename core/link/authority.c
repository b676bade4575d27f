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

static void parted_dispose(chordal__links *links);

void chordal__revoked_dispose(chordal__links *links) {
    for (uint32_t i = 0; links->revoked && i < CHORDAL__REVOKED_LIMIT; i++)
        chordal__body_unref(links->revoked->sessions[i].reason);
    chordal__release(links->runtime->memory, links->revoked, sizeof *links->revoked);
    links->revoked = NULL;
    parted_dispose(links);
}

/* ---- sessions behind this host that are lost ---- */

typedef struct parted_session {
    uint8_t session[16];
    chordal__authority *authority;
    char behind[33]; /* the next host; "": none is remembered here */
    uint8_t encoding;
    chordal__text route;
    chordal_time at;
} parted_session;
struct chordal__parted {
    uint32_t next, first; /* a ring, by their time */
    parted_session sessions[CHORDAL__PARTED_LIMIT];
};

static void forget(chordal__links *links) {
    parted_session *oldest = &links->parted->sessions[links->parted->first++ % CHORDAL__PARTED_LIMIT];
    chordal__authority_unref(oldest->authority);
    chordal__text_clear(links->runtime->memory, &oldest->route);
    memset(oldest, 0, sizeof *oldest);
}

static void forget_old(chordal__links *links) {
    chordal__parted *parted = links->parted;
    chordal_time lapse = links->runtime->settings.session_lapse, now = links->runtime->now;
    while (parted->first != parted->next) {
        bool old = now - parted->sessions[parted->first % CHORDAL__PARTED_LIMIT].at >= lapse;
        if (!old && parted->next - parted->first < CHORDAL__PARTED_LIMIT) return;
        forget(links);
    }
}

/* Without memory it is not remembered: it lapses where it lives. */
void chordal__session_parted(chordal__forward *near) {
    chordal__links *links = near->origin.link->links;
    if (!links->parted) links->parted = chordal__allocate_zero(links->runtime->memory, sizeof *links->parted);
    if (!links->parted) return;
    forget_old(links);
    parted_session *place = &links->parted->sessions[links->parted->next++ % CHORDAL__PARTED_LIMIT];
    memcpy(place->session, near->session, sizeof place->session);
    chordal__route_name(near->other->origin.link, place->behind);
    place->authority = chordal__authority_ref(near->authority);
    place->encoding = near->encoding;
    place->route = near->route;
    place->at = links->runtime->now;
    near->route = (chordal__text){0};
}

static void parted_dispose(chordal__links *links) {
    if (!links->parted) return;
    while (links->parted->first != links->parted->next) forget(links);
    chordal__release(links->runtime->memory, links->parted, sizeof *links->parted);
    links->parted = NULL;
}

/* Who opens a session anew ends what was of it: so its provider hears of the revocation. */
static void end_parted(chordal__link *link, const parted_session *lost, const chordal__body *reason) {
    chordal__origin origin = {.link = link};
    chordal__message open = {.kind = CHORDAL__ORIGIN};
    uint64_t number = chordal__origin_free_number(link);
    if (chordal__origin_enter(link, &origin, number) < 0) return;
    open.origin = open.numbers[0] = number;
    open.numbers[1] = lost->encoding;
    memcpy(open.ids[0], lost->session, sizeof open.ids[0]);
    open.texts[0].data = (const uint8_t *)lost->route.data;
    open.texts[0].len = lost->route.len;
    if (chordal__authority_part(link->runtime, lost->authority, lost->encoding, &open.parts[0]) < 0)
        chordal__link_break(link, CHORDAL_E_NOMEM);
    chordal__send(link, &open, NULL);
    chordal__body_unref(open.parts[0].body);
    chordal__send_ended(&origin, CHORDAL_E_REVOKED, (const char *)reason->data, reason->len);
    chordal__origin_leave(&origin, true);
}

static void revoke_parted(chordal__links *links, const chordal__authority *authority, chordal__body *reason) {
    if (!links->parted) return;
    forget_old(links);
    for (uint32_t i = links->parted->first; i != links->parted->next; i++) {
        parted_session *lost = &links->parted->sessions[i % CHORDAL__PARTED_LIMIT];
        if (!lost->behind[0] || !chordal__authority_equal(lost->authority, authority)) continue;
        bool json = lost->encoding == CHORDAL__ENCODING_JSON;
        chordal__link *link = chordal__route_to(links, (const uint8_t *)lost->behind, 32, json);
        remember(links, lost->session, reason);
        if (link && chordal__route_passes(link, json)) end_parted(link, lost, reason);
        lost->behind[0] = 0;
    }
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
    revoke_parted(links, authority, reason);
    return 0;
}
