/* provider_guard.c: what a session may hold and call here, by the word of the program, and how it is taken back. */
#include "link/link.h"

static void hold_judged(chordal__ask *ask, uint32_t answer) {
    chordal__hold *hold = ask->subject;
    hold->ask = NULL;
    hold->calls_allowed = answer == CHORDAL_GUARD_ALLOW_CALLS;
    if (answer == CHORDAL_GUARD_DENY)
        chordal__hold_fail(hold, CHORDAL_E_DENIED, "");
    else if (CHORDAL__STORE && hold->query)
        chordal__hold_query_judged(hold);
    else
        chordal__hold_follow(hold, ask->type, ask->params->data, ask->params->len);
}

void chordal__hold_ask(chordal__hold *hold, chordal__type *type, const chordal__buffer *params) {
    chordal__body *body = chordal__body_of_buffer(hold->provider->runtime->memory, params);
    chordal__ask question = {
        .type = type, .params = body, .member = CHORDAL_ALL_MEMBERS, .subject = hold, .judged = hold_judged};
    int code = body ? chordal__ask_open(&hold->provider->caller, &question, &hold->ask) : CHORDAL_E_NOMEM;
    chordal__body_unref(body);
    if (code < 0) chordal__hold_fail(hold, code, "");
}

void chordal__hold_ask_call(const chordal__hold *hold, chordal__invocation *invocation) {
    if (!hold->object->type->guarded || hold->calls_allowed) return;
    int code = chordal__invocation_ask(invocation);
    if (code < 0) chordal__invocation_fail(invocation, code, NULL, 0, NULL, 0);
}

/* ---- one object taken from a session ---- */

static void withhold_list(chordal__list *outcomes, const chordal__object *object) {
    for (chordal__list *node = outcomes->next; node != outcomes; node = node->next) {
        chordal__invocation *invocation = CHORDAL__ENTRY(node, chordal__invocation, ready);
        if (invocation->object == object) invocation->withheld = true;
    }
}

/* What did not start does not; of the rest nothing is told any more but that it is over. */
static void withhold(chordal__provider *provider, const chordal__object *object, const chordal__body *reason) {
    withhold_list(&provider->ready, object);
    withhold_list(&provider->window.kept, object); /* sent again to a session that is back */
    for (uint32_t i = 0; i < CHORDAL__SLOTS; i++) {
        chordal__invocation *invocation = provider->slots[i];
        if (!invocation || invocation->object != object || invocation->answered) continue;
        if (invocation->told)
            invocation->withheld = true;
        else
            chordal__invocation_fail(invocation, CHORDAL_E_REVOKED, NULL, 0, (const char *)reason->data, reason->len);
    }
}

static void revoke_hold(chordal__hold *hold, const chordal__body *reason) {
    chordal__runtime *runtime = hold->provider->runtime;
    chordal__object *object = hold->object;
    withhold(hold->provider, object, reason);
    hold->bound = false;
    chordal__hold_seen(hold);
    chordal__list_remove(&hold->waiting);
    chordal__list_remove(&hold->stream_node);
    chordal__stream_release(hold->stream);
    hold->stream = NULL;
    hold->dead = CHORDAL__REVOKED;
    chordal__reason_set(runtime->memory, &hold->reason, CHORDAL_E_REVOKED, NULL, 0, (const char *)reason->data,
                        reason->len);
    chordal__hold_say(hold);
    chordal__object_pin(object); /* for calls that cross with it */
    chordal__object_undemand(object);
}

/* The stream goes with its last hold. */
static void revoke_all(chordal__list *holds, const chordal__authority *authority, const chordal__body *reason) {
    chordal__list *node = holds->next;
    while (node != holds) {
        chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, stream_node);
        node = node->next;
        if (chordal__authority_equal(hold->provider->caller.authority, authority)) revoke_hold(hold, reason);
    }
}

typedef struct revocation {
    const chordal__authority *authority;
    const chordal__body *reason;
} revocation;

static void revoke_query(chordal__object *query, const void *context) {
    const revocation *from = context;
    chordal__object_revoke(query, from->authority, from->reason);
}

void chordal__object_revoke(chordal__object *object, const chordal__authority *authority, const chordal__body *reason) {
    const revocation from = {authority, reason};
    chordal__object_pin(object);
    if (CHORDAL__STORE) chordal__each_query(object, revoke_query, &from);
    if (object->stream) revoke_all(&object->stream->aside, authority, reason);
    if (object->stream) revoke_all(&object->stream->holds, authority, reason);
    chordal__object_unpin(object);
}
