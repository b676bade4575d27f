/* local.c: references to objects that this same host provides. */
#include "object/object.h"

typedef struct local_hold {
    chordal__observer observer;
    chordal__reference *reference;
    chordal__object *object; /* demanded */
} local_hold;

static local_hold *hold_of(const chordal__reference *reference) {
    return reference->hold;
}

static void release(chordal__reference *reference) {
    local_hold *hold = hold_of(reference);
    chordal__memory *memory = reference->runtime->memory;
    reference->source = NULL;
    reference->hold = NULL;
    chordal__list_remove(&hold->observer.node);
    chordal__object_undemand(hold->object);
    chordal__release(memory, hold, sizeof *hold);
}

static void fail_call(chordal__call *call, int code, const char *words) {
    chordal__call_settle(call, code, NULL, 0, words, strlen(words), NULL, false);
}

static void start_call(local_hold *hold, chordal__call *call) {
    chordal__runtime *runtime = call->runtime;
    const chordal__members *members = hold->object->type->members;
    int64_t member = chordal__call_member(call, members);
    if (member < 0 || members->items[member].kind != CHORDAL_MEMBER_METHOD) {
        fail_call(call, CHORDAL_E_NO_MEMBER, CHORDAL__WORDS("the type has no such method"));
        return;
    }
    chordal__invocation *invocation = chordal__invoke(runtime->local, hold->object, (uint32_t)member, call->arguments);
    if (!invocation) {
        fail_call(call, CHORDAL_E_NOMEM, CHORDAL__WORDS("no memory for the call"));
        return;
    }
    invocation->call = call;
    call->invocation = invocation;
    chordal__call_sent(call);
}

static void send(chordal__reference *reference) {
    while (reference->state == CHORDAL_REFERENCE_LIVE && !chordal__list_empty(&reference->parked))
        start_call(hold_of(reference), CHORDAL__ENTRY(reference->parked.next, chordal__call, node));
}

static void cancel(chordal__reference *reference, chordal__call *call) {
    (void)reference;
    if (call->invocation) chordal__invocation_cancel(call->invocation);
}

static void forget(chordal__reference *reference, chordal__call *call) {
    (void)reference;
    chordal__invocation *invocation = call->invocation;
    call->invocation = NULL;
    if (!invocation) return;
    invocation->call = NULL;
    chordal__invocation_cancel(invocation);
}

static void on_state(chordal__observer *observer);

/* The object may be live, and only the reference have lacked memory for it. */
static int retry(chordal__reference *reference) {
    local_hold *hold = hold_of(reference);
    if (hold->object->state == CHORDAL__OBJECT_FAILED)
        chordal__object_retry(hold->object);
    else
        on_state(&hold->observer);
    return 0;
}

static void reset(chordal__reference *reference) {
    chordal__reference_replaced(reference, reference->commit);
}

static void blocked(chordal__reference *reference, int change) {
    (void)reference;
    (void)change;
}

static const chordal__source_functions local_source = {release, send, cancel, forget, retry, reset, blocked};

static void on_batch(chordal__observer *observer, uint64_t commit, chordal__ops *ops) {
    chordal__reference_changed(CHORDAL__ENTRY(observer, local_hold, observer)->reference, commit, ops);
}

static void on_state(chordal__observer *observer) {
    local_hold *hold = CHORDAL__ENTRY(observer, local_hold, observer);
    chordal__reference *reference = hold->reference;
    const chordal__reason *reason = &hold->object->reason;
    switch (hold->object->state) {
    case CHORDAL__OBJECT_LIVE:
        if (chordal__reference_bind(reference, hold->object->type->members) < 0) {
            chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, CHORDAL_E_NOMEM, NULL, 0);
            return;
        }
        chordal__tell(reference->runtime, &reference->event); /* its members are told before their frames */
        chordal__reference_replaced(reference, hold->object->runtime->commit_number);
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_LIVE, 0, NULL, 0);
        return;
    case CHORDAL__OBJECT_FAILED:
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, reason->code, reason->detail.data,
                                     reason->detail.len);
        return;
    case CHORDAL__OBJECT_RETIRED:
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_RETIRED, CHORDAL_E_RETIRED, NULL, 0);
        return;
    default:
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_PENDING, 0, NULL, 0);
    }
}

static const chordal__observer_functions local_observer = {on_batch, on_state};

int chordal__local_attach(chordal__reference *reference, chordal__type *type, chordal_error *error) {
    chordal__memory *memory = reference->runtime->memory;
    if (reference->version && reference->version != type->version)
        return chordal__fail(error, CHORDAL_E_TYPE_VERSION, 0, "the type has another version");
    local_hold *hold = chordal__allocate_zero(memory, sizeof *hold);
    if (!hold) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a reference");
    int code = chordal__object_demand(type, reference->params->data, reference->params->len, &hold->object, error);
    if (code < 0) {
        chordal__release(memory, hold, sizeof *hold);
        return code;
    }
    hold->reference = reference;
    hold->observer.functions = &local_observer;
    chordal__list_append(&hold->object->observers, &hold->observer.node);
    reference->hold = hold;
    reference->source = &local_source;
    if (hold->object->state != CHORDAL__OBJECT_STARTING) on_state(&hold->observer);
    return 0;
}

chordal__object *chordal__local_object(const chordal__reference *reference) {
    return reference->source == &local_source ? hold_of(reference)->object : NULL;
}

void chordal__local_settled(chordal__caller *caller, chordal__invocation *invocation) {
    chordal__call *call = invocation->call;
    const chordal__reason *reason = &invocation->reason;
    (void)caller;
    if (call) {
        call->invocation = NULL;
        chordal__call_settle(call, reason->code, reason->name.data, reason->name.len, reason->detail.data,
                             reason->detail.len, invocation->value, invocation->raw);
        invocation->value = NULL;
    }
    chordal__invocation_free(invocation);
}
