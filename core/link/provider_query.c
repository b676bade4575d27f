/* provider_query.c: holds of live queries. Where one lives, and who may hold it, is told by the object that it is
 * about.
 */
#include "link/link.h"
#include "object/live.h"

bool chordal__names_query(const void *name, size_t len) {
    return len == sizeof CHORDAL__QUERY_TYPE - 1 && memcmp(name, CHORDAL__QUERY_TYPE, len) == 0;
}

/* A body as a buffer that is only read. */
static chordal__buffer buffer_of(chordal__body *body) {
    return (chordal__buffer){.memory = body->memory, .data = body->data, .len = body->len, .capacity = body->len};
}

/* The object lives elsewhere, or nowhere. */
static void send_on(chordal__hold *hold, const chordal__target *target) {
    chordal__links *links = hold->provider->runtime->links;
    const chordal__buffer params = buffer_of(target->params);
    chordal__link *behind =
        chordal__route_of_type(links, target->type.data, target->type.len, hold->provider->origin.link);
    if (chordal__is_placed(links, target->type.data, target->type.len))
        chordal__placement_hold(hold, target->type.data, target->type.len, &params);
    else if (behind)
        chordal__hold_move(hold, behind);
    else
        chordal__hold_unknown(hold, target->type.data, target->type.len);
}

/* The guard of the object is asked, and the query followed when it allows. */
static void ask(chordal__hold *hold, chordal__type *source, const chordal__target *target,
                const chordal__buffer *params) {
    const chordal__buffer about = buffer_of(target->params);
    hold->query = chordal__body_of_buffer(hold->provider->runtime->memory, params);
    if (hold->query)
        chordal__hold_ask(hold, source, &about);
    else
        chordal__hold_fail(hold, CHORDAL_E_NOMEM, "");
}

void chordal__hold_query(chordal__hold *hold, const chordal__buffer *params) {
    chordal__runtime *runtime = hold->provider->runtime;
    chordal__type *type = chordal__type_find(runtime, CHORDAL__QUERY_TYPE, sizeof CHORDAL__QUERY_TYPE - 1);
    chordal__target target;
    chordal_error error = {0};
    int code = chordal__target_read(runtime, params->data, params->len, &target, &error);
    if (code < 0) {
        chordal__hold_fail(hold, code, error.detail);
        return;
    }
    chordal__type *source = chordal__type_find(runtime, target.type.data, target.type.len);
    if (!source)
        send_on(hold, &target);
    else if (CHORDAL__AUTHORITY && source->guarded)
        ask(hold, source, &target, params);
    else if (type)
        chordal__hold_follow(hold, type, params->data, params->len);
    else
        chordal__hold_unknown(hold, CHORDAL__QUERY_TYPE, sizeof CHORDAL__QUERY_TYPE - 1);
    chordal__target_dispose(runtime, &target);
}

void chordal__hold_query_judged(chordal__hold *hold) {
    chordal__runtime *runtime = hold->provider->runtime;
    chordal__type *type = chordal__type_find(runtime, CHORDAL__QUERY_TYPE, sizeof CHORDAL__QUERY_TYPE - 1);
    if (type)
        chordal__hold_follow(hold, type, hold->query->data, hold->query->len);
    else
        chordal__hold_unknown(hold, CHORDAL__QUERY_TYPE, sizeof CHORDAL__QUERY_TYPE - 1);
}

void chordal__each_query(const chordal__object *source, void (*act)(chordal__object *query, const void *context),
                         const void *context) {
    for (uint32_t i = 0; i < source->type->members->count; i++) {
        const chordal__rows *rows = chordal__rows_of(source, i);
        chordal__list *node = rows ? rows->live.next : NULL;
        while (rows && node != &rows->live) {
            chordal__live *live = CHORDAL__ENTRY(node, chordal__live, node);
            node = node->next;
            act(live->object, context);
        }
    }
}
