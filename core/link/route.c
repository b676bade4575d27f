/* route.c: types that a peer provides for others behind this host, and the sessions that are passed on to it. */
#include "link/link.h"

/* ---- offers ---- */

void chordal__offer(chordal__link *link, const void *name, size_t name_len) {
    chordal__message offer = {.kind = CHORDAL__OFFER};
    offer.texts[0].data = name;
    offer.texts[0].len = name_len;
    chordal__send(link, &offer, NULL);
}

/* What is provided here, and what others offered here: who asks is moved on to them. */
void chordal__offer_types(chordal__link *link) {
    chordal__type *type;
    chordal__offered *offered;
    size_t at = 0;
    while ((type = chordal__map_next(&link->runtime->types, &at)) != NULL)
        if (!chordal__type_is_own(type)) chordal__offer(link, type->name.data, type->name.len);
    at = 0;
    while (CHORDAL__FORWARDS && (offered = chordal__map_next(&link->links->routes, &at)) != NULL)
        if (chordal__route_of_type(link->links, offered->type.data, offered->type.len, link))
            chordal__offer(link, offered->type.data, offered->type.len);
    chordal__places_offer(link);
}

/* Only what is new goes on, so that hosts in a circle come to rest. */
void chordal__offer_to_others(chordal__links *links, const chordal__link *except, const void *name, size_t name_len) {
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link != except && link->state == CHORDAL_LINK_UP && link->flags & CHORDAL_LINK_OFFER)
            chordal__offer(link, name, name_len);
    }
}

static chordal__offered *new_offered(chordal__links *links, const void *type, size_t type_len) {
    chordal__memory *memory = links->runtime->memory;
    chordal__offered *offered = chordal__allocate_zero(memory, sizeof *offered);
    if (!offered) return NULL;
    chordal__list_init(&offered->routes);
    int code = chordal__text_set(memory, &offered->type, type, type_len);
    if (code == 0) code = chordal__map_put(&links->routes, type, type_len, offered);
    if (code == 0) return offered;
    chordal__text_clear(memory, &offered->type);
    chordal__release(memory, offered, sizeof *offered);
    return NULL;
}

/* A type that nobody offers any more is forgotten. */
static void tidy(chordal__links *links, chordal__offered *offered) {
    chordal__memory *memory = links->runtime->memory;
    if (!chordal__list_empty(&offered->routes)) return;
    chordal__map_remove(&links->routes, offered->type.data, offered->type.len);
    chordal__text_clear(memory, &offered->type);
    chordal__release(memory, offered, sizeof *offered);
}

static bool has_offered(const chordal__offered *offered, const chordal__link *link) {
    for (const chordal__list *node = offered->routes.next; node != &offered->routes; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__route, node)->link == link) return true;
    return false;
}

int chordal__route_offer(chordal__link *link, const void *type, size_t type_len) {
    chordal__links *links = link->links;
    chordal__memory *memory = link->runtime->memory;
    if (!(link->flags & CHORDAL_LINK_ROUTE_OFFERS)) return 0;
    if (type_len == 0 || type_len > CHORDAL__TYPE_NAME_BYTES) return CHORDAL_E_MALFORMED;
    chordal__offered *offered = chordal__map_get(&links->routes, type, type_len);
    bool first = !offered;
    if (offered && has_offered(offered, link)) return 0;
    if (link->offered_len >= CHORDAL__OFFERS_LIMIT) return CHORDAL_E_LIMIT;
    if (first) offered = new_offered(links, type, type_len);
    chordal__route *route = offered ? chordal__allocate_zero(memory, sizeof *route) : NULL;
    if (!route) {
        if (offered) tidy(links, offered);
        return CHORDAL_E_NOMEM;
    }
    *route = (chordal__route){.offered = offered, .link = link};
    chordal__list_prepend(&offered->routes, &route->node);
    chordal__list_append(&link->offered, &route->link_node);
    link->offered_len++;
    if (first) chordal__offer_to_others(links, link, type, type_len);
    return 0;
}

void chordal__routes_drop(chordal__link *link) {
    while (!chordal__list_empty(&link->offered)) {
        chordal__route *route = CHORDAL__ENTRY(link->offered.next, chordal__route, link_node);
        chordal__offered *offered = route->offered;
        chordal__list_remove(&route->node);
        chordal__list_remove(&route->link_node);
        chordal__release(link->runtime->memory, route, sizeof *route);
        tidy(link->links, offered);
    }
    link->offered_len = 0;
}

chordal__link *chordal__route_of_type(chordal__links *links, const void *type, size_t type_len,
                                      const chordal__link *asking) {
    const chordal__offered *offered = chordal__map_get(&links->routes, type, type_len);
    if (!offered) return NULL;
    for (const chordal__list *node = offered->routes.next; node != &offered->routes; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__route, node)->link;
        if (memcmp(link->peer_host, asking->peer_host, sizeof link->peer_host) != 0) return link;
    }
    return NULL;
}

bool chordal__link_offers(const chordal__link *link, const void *type, size_t type_len) {
    const chordal__offered *offered = chordal__map_get(&link->links->routes, type, type_len);
    for (const chordal__list *node = offered ? offered->routes.next : NULL; node && node != &offered->routes;
         node = node->next)
        if (CHORDAL__ENTRY(node, chordal__route, node)->link == link) return true;
    return false;
}

static void write_name(const uint8_t host[16], char out[33]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i * 2] = digits[host[i] >> 4];
        out[i * 2 + 1] = digits[host[i] & 15];
    }
    out[32] = 0;
}

void chordal__route_name(const chordal__link *link, char out[33]) {
    write_name(link->peer_host, out);
}

bool chordal__route_passes(const chordal__link *link, bool json) {
    return link->state == CHORDAL_LINK_UP && (json || link->codec_kind == CHORDAL_CODEC_BINARY);
}

chordal__link *chordal__route_to(chordal__links *links, const uint8_t *name, size_t len, bool json) {
    char own[33];
    chordal__link *found = NULL;
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link->state == CHORDAL_LINK_CLOSED || !(link->flags & CHORDAL_LINK_ROUTE_OFFERS)) continue;
        chordal__route_name(link, own);
        if (len == 32 && memcmp(own, name, 32) == 0 && (!found || chordal__route_passes(link, json))) found = link;
    }
    return found;
}

bool chordal__route_is_taken(const chordal__links *links, const uint8_t *name, size_t len) {
    char before[33];
    for (const chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        const chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link->state != CHORDAL_LINK_UP || !(link->flags & CHORDAL_LINK_ROUTE_OFFERS)) continue;
        write_name(link->peer_before, before);
        if (len == 32 && memcmp(before, name, 32) == 0) return true;
    }
    return false;
}

/* ---- forwards ---- */

static void free_forward(chordal__forward *forward, bool ended_sent) {
    chordal__memory *memory = forward->origin.link->runtime->memory;
    if (CHORDAL__AUTHORITY) chordal__authority_unref(forward->authority);
    chordal__text_clear(memory, &forward->route);
    chordal__origin_leave(&forward->origin, ended_sent);
    chordal__release(memory, forward, sizeof *forward);
}

/* What cannot go on ends this session, at both sides. */
static void end_both(chordal__forward *forward, int code, const void *reason, size_t len) {
    chordal__send_ended(&forward->origin, code, reason, len);
    chordal__send_ended(&forward->other->origin, code, reason, len);
    free_forward(forward->other, true);
    free_forward(forward, true);
}

static int try_pass(chordal__forward *to, chordal__message *message) {
    chordal__link *link = to->origin.link;
    size_t bytes;
    message->origin = to->origin.number;
    link->runtime->counters.parts_forwarded += message->list_len + 1;
    return chordal__try_send(link, message, &bytes);
}

static chordal__forward *new_forward(chordal__link *link, uint64_t number, int *out_code) {
    chordal__forward *forward = chordal__allocate_zero(link->runtime->memory, sizeof *forward);
    *out_code = CHORDAL_E_NOMEM;
    if (!forward) return NULL;
    forward->origin.role = CHORDAL__ROLE_FORWARD;
    *out_code = chordal__origin_enter(link, &forward->origin, number);
    if (*out_code == 0) return forward;
    chordal__release(link->runtime->memory, forward, sizeof *forward);
    return NULL;
}

int chordal__refuse_session(chordal__link *link, uint64_t number, int refusal, const chordal__body *reason,
                            chordal_error *error) {
    chordal__origin gone = {.link = link};
    int code = chordal__origin_enter(link, &gone, number);
    if (code < 0) return chordal__fail(error, code, 0, "the origin is not free");
    chordal__send_ended(&gone, refusal, reason ? (const char *)reason->data : NULL, reason ? reason->len : 0);
    chordal__origin_leave(&gone, true);
    return 0;
}

/* Why a session does not go on; 0: who is looked for is gone for good. `last`: it is the host behind the link, and not
 * one behind that. */
static int why_not(const chordal__links *links, const chordal__link *behind, const uint8_t *name, size_t len,
                   bool last) {
    if (!behind) return chordal__route_is_taken(links, name, len) ? 0 : CHORDAL_E_NO_ROUTE;
    if (behind->state == CHORDAL_LINK_UP) return CHORDAL_E_NO_ROUTE;
    return last && behind->flags & CHORDAL_LINK_WORKER ? 0 : CHORDAL_E_LOST;
}

/* The first word of a route is taken off, the rest is for the next host. */
static chordal__link *next_link(chordal__link *link, chordal__message *message, int *out_refusal) {
    const uint8_t *route = message->texts[0].data;
    size_t len = message->texts[0].len, word = 0;
    while (word < len && route[word] != '/') word++;
    bool json = message->numbers[1] == CHORDAL__ENCODING_JSON;
    chordal__link *behind = chordal__route_to(link->links, route, word, json);
    if (behind == link || !behind || !chordal__route_passes(behind, json)) {
        *out_refusal = why_not(link->links, behind, route, word, word == len);
        return NULL;
    }
    if (word < len) word++;
    message->texts[0].data += word;
    message->texts[0].len -= word;
    return behind;
}

/* The session goes on with the authority that it has here, whatever the peer said. */
static int pass_origin(chordal__forward *near, chordal__message *message, chordal__authority *authority) {
    chordal__forward *far = near->other;
    chordal__runtime *runtime = far->origin.link->runtime;
    message->numbers[0] = far->origin.number;
    message->numbers[6] = chordal__origin_lesser(message->numbers[6], near->origin.link);
    memcpy(near->session, message->ids[0], sizeof near->session);
    near->authority = chordal__authority_ref(authority);
    near->encoding = (uint8_t)message->numbers[1];
    int code = chordal__authority_part(runtime, authority, message->numbers[1], &message->parts[0]);
    if (code == 0)
        code = chordal__text_set(runtime->memory, &near->route, message->texts[0].data, message->texts[0].len);
    if (code == 0) code = try_pass(far, message);
    chordal__body_unref(message->parts[0].body);
    return code;
}

/* Of an origin that does not go on the next host hears nothing, not even of its end. */
int chordal__forward_open(chordal__link *link, chordal__message *message, chordal__authority *authority,
                          chordal_error *error) {
    uint64_t number = message->origin;
    int code, refusal;
    chordal__link *behind = next_link(link, message, &refusal);
    if (!behind) return chordal__refuse_session(link, number, refusal, NULL, error);
    chordal__forward *near = new_forward(link, number, &code);
    if (!near) return chordal__fail(error, code, 0, "the origin is not free");
    chordal__forward *far = new_forward(behind, chordal__origin_free_number(behind), &code);
    if (far) {
        near->other = far;
        far->other = near;
        far->to_provider = true;
        code = pass_origin(near, message, authority);
        if (code == 0) return 0;
        free_forward(far, false);
    }
    free_forward(near, false);
    if (code == CHORDAL_E_NOMEM || code == CHORDAL_E_LIMIT) code = CHORDAL_E_LOST;
    return chordal__refuse_session(link, number, code, NULL, error);
}

void chordal__forward_message(chordal__forward *forward, chordal__message *message) {
    uint64_t *limit = &message->numbers[message->kind == CHORDAL__BACK];
    if (message->kind == CHORDAL__OPENED || message->kind == CHORDAL__BACK)
        *limit = chordal__origin_lesser(*limit, forward->origin.link);
    int code = try_pass(forward->other, message);
    if (code == CHORDAL_E_NOMEM)
        chordal__link_break(forward->other->origin.link, code);
    else if (code < 0)
        end_both(forward, code, NULL, 0);
}

static void drop(chordal__forward *forward) {
    free_forward(forward->other, true);
    free_forward(forward, false);
}

void chordal__forward_revoke(chordal__forward *forward, const chordal__body *reason) {
    end_both(forward, CHORDAL_E_REVOKED, reason->data, reason->len);
}

void chordal__forward_end(chordal__forward *forward, const chordal__message *message) {
    chordal__message end = *message;
    end.origin = forward->other->origin.number;
    chordal__send(forward->other->origin.link, &end, NULL);
    drop(forward);
}

/* The way of a session is gone, but not the session. */
static void tell_lost(chordal__forward *forward, int code) {
    chordal__message lost = {.kind = CHORDAL__LOST, .origin = forward->origin.number};
    if (forward->to_provider)
        chordal__send(forward->origin.link, &lost, NULL);
    else
        chordal__send_ended(&forward->origin, code, NULL, 0);
}

/* A worker does not come back, but for what was behind it. */
static bool is_gone(const chordal__forward *forward) {
    bool last = forward->to_provider && !forward->other->route.len;
    return last && forward->origin.link->flags & CHORDAL_LINK_WORKER;
}

void chordal__forward_cut(chordal__forward *forward, bool returns) {
    bool dials = forward->origin.link->flags & CHORDAL_LINK_CONNECT;
    if (CHORDAL__AUTHORITY && returns && !forward->to_provider) chordal__session_parted(forward);
    if (returns && !is_gone(forward))
        tell_lost(forward->other, dials ? CHORDAL_E_LOST : CHORDAL_E_NO_ROUTE);
    else
        chordal__send_ended(&forward->other->origin, 0, NULL, 0);
    drop(forward);
}

void chordal__forward_leave(chordal__forward *forward) {
    tell_lost(forward, CHORDAL_E_LOST);
    tell_lost(forward->other, CHORDAL_E_LOST);
    free_forward(forward->other, true);
    free_forward(forward, true);
}
