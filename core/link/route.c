/* route.c: types that a peer provides for others behind this host, and the sessions that are passed on to it. */
#include "link/link.h"

/* ---- offers ---- */

static void send_offer(chordal__link *link, const chordal__type *type) {
    chordal__message offer = {.kind = CHORDAL__OFFER};
    offer.texts[0].data = (const uint8_t *)type->name.data;
    offer.texts[0].len = type->name.len;
    chordal__send(link, &offer, NULL);
}

void chordal__offer_types(chordal__link *link) {
    size_t at = 0;
    chordal__type *type;
    while ((type = chordal__map_next(&link->runtime->types, &at)) != NULL) send_offer(link, type);
}

static void free_route(chordal__memory *memory, chordal__route *route) {
    chordal__list_remove(&route->node);
    chordal__text_clear(memory, &route->type);
    chordal__release(memory, route, sizeof *route);
}

static void lead_to(chordal__route *route, chordal__link *link) {
    if (route->link) route->link->offered_len--;
    chordal__list_remove(&route->node);
    chordal__list_append(&link->offered, &route->node);
    link->offered_len++;
    route->link = link;
}

/* The newest offer of a type counts. */
int chordal__route_offer(chordal__link *link, const void *type, size_t type_len) {
    chordal__map *routes = &link->links->routes;
    chordal__memory *memory = link->runtime->memory;
    if (!(link->flags & CHORDAL_LINK_ROUTE_OFFERS)) return 0;
    if (type_len == 0 || type_len > CHORDAL__TYPE_NAME_BYTES) return CHORDAL_E_MALFORMED;
    chordal__route *route = chordal__map_get(routes, type, type_len);
    if (route && route->link == link) return 0;
    if (link->offered_len >= CHORDAL__OFFERS_LIMIT) return CHORDAL_E_LIMIT;
    if (!route) {
        route = chordal__allocate_zero(memory, sizeof *route);
        if (!route) return CHORDAL_E_NOMEM;
        chordal__list_init(&route->node);
        int code = chordal__text_set(memory, &route->type, type, type_len);
        if (code == 0) code = chordal__map_put(routes, type, type_len, route);
        if (code < 0) {
            free_route(memory, route);
            return code;
        }
    }
    lead_to(route, link);
    return 0;
}

void chordal__routes_drop(chordal__link *link) {
    while (!chordal__list_empty(&link->offered)) {
        chordal__route *route = CHORDAL__ENTRY(link->offered.next, chordal__route, node);
        chordal__map_remove(&link->links->routes, route->type.data, route->type.len);
        free_route(link->runtime->memory, route);
    }
    link->offered_len = 0;
}

chordal__link *chordal__route_of_type(chordal__links *links, const void *type, size_t type_len) {
    chordal__route *route = chordal__map_get(&links->routes, type, type_len);
    return route ? route->link : NULL;
}

void chordal__route_name(const chordal__link *link, char out[33]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i * 2] = digits[link->peer_host[i] >> 4];
        out[i * 2 + 1] = digits[link->peer_host[i] & 15];
    }
    out[32] = 0;
}

static chordal__link *link_of_name(chordal__links *links, const void *name, size_t len) {
    char own[33];
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link->state != CHORDAL_LINK_UP || !(link->flags & CHORDAL_LINK_ROUTE_OFFERS)) continue;
        chordal__route_name(link, own);
        if (len == 32 && memcmp(own, name, 32) == 0) return link;
    }
    return NULL;
}

/* ---- forwards ---- */

/* What cannot be encoded for the next link is the fault of the one that it came from. */
static int pass_on(chordal__forward *to, chordal__message *message, chordal_error *error) {
    chordal__link *link = to->origin.link;
    size_t bytes;
    message->origin = to->origin.number;
    link->runtime->counters.parts_forwarded += message->list_len + 1;
    int code = chordal__try_send(link, message, &bytes);
    if (code != CHORDAL_E_NOMEM) return code < 0 ? chordal__fail(error, code, 0, "a message that cannot go on") : 0;
    if (!link->broken) link->broken = code;
    return 0;
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

static void free_forward(chordal__forward *forward, bool ended_sent) {
    chordal__memory *memory = forward->origin.link->runtime->memory;
    chordal__origin_leave(&forward->origin, ended_sent);
    chordal__release(memory, forward, sizeof *forward);
}

/* A session that cannot go on ends at once. */
static int refuse_session(chordal__link *link, uint64_t number, chordal_error *error) {
    chordal__origin gone = {link, 0, 0};
    int code = chordal__origin_enter(link, &gone, number);
    if (code < 0) return chordal__fail(error, code, 0, "the origin is not free");
    chordal__send_simple(&gone, CHORDAL__ENDED, 0);
    chordal__origin_leave(&gone, true);
    return 0;
}

int chordal__forward_open(chordal__link *link, chordal__message *message, chordal_error *error) {
    chordal__link *behind = link_of_name(link->links, message->texts[0].data, message->texts[0].len);
    int code;
    bool passes = behind && behind != link &&
                  (behind->codec_kind == CHORDAL_CODEC_BINARY || message->numbers[1] == CHORDAL__ENCODING_JSON);
    if (!passes) return refuse_session(link, message->origin, error);
    chordal__forward *near = new_forward(link, message->origin, &code);
    if (!near) return chordal__fail(error, code, 0, "the origin is not free");
    chordal__forward *far = new_forward(behind, chordal__origin_free_number(behind), &code);
    if (!far) {
        free_forward(near, false);
        if (code != CHORDAL_E_NOMEM) return refuse_session(link, message->origin, error);
        return chordal__fail(error, code, 0, "no room for a session behind");
    }
    near->other = far;
    far->other = near;
    message->texts[0].len = 0;
    message->numbers[0] = far->origin.number;
    return pass_on(far, message, error);
}

int chordal__forward_message(chordal__forward *forward, chordal__message *message, chordal_error *error) {
    return pass_on(forward->other, message, error);
}

void chordal__forward_end(chordal__forward *forward, bool ended_sent) {
    chordal__forward *other = forward->other;
    chordal__send_simple(&other->origin, CHORDAL__ENDED, 0);
    free_forward(other, true);
    free_forward(forward, ended_sent);
}
