/* invocation.c: calls that run here, from their start to their outcome. */
#include "object/object.h"

void chordal__caller_init(chordal__caller *caller, chordal__runtime *runtime, uint64_t origin,
                          void (*settled)(chordal__caller *, chordal__invocation *)) {
    caller->runtime = runtime;
    caller->origin = origin;
    caller->settled = settled;
    caller->burst = 0;
    caller->held = false;
    chordal__list_init(&caller->waiting);
    chordal__event_init(&caller->event, CHORDAL__TELL_CALLS);
    if (CHORDAL__AUTHORITY) chordal__asks_init(caller);
}

void chordal__caller_go_on(chordal__caller *caller) {
    if (!caller->held && !chordal__list_empty(&caller->waiting)) chordal__tell(caller->runtime, &caller->event);
}

void chordal__caller_hold(chordal__caller *caller, bool held) {
    caller->held = held;
    if (held)
        chordal__untell(&caller->event);
    else
        chordal__caller_go_on(caller);
}

chordal__invocation *chordal__invoke(chordal__caller *caller, chordal__object *object, uint32_t member,
                                     chordal__body *arguments) {
    chordal__runtime *runtime = caller->runtime;
    chordal__invocation *invocation = chordal__allocate_zero(runtime->memory, sizeof *invocation);
    if (!invocation) return NULL;
    invocation->id = chordal__id_new(&runtime->ids, CHORDAL__ID_INVOCATION, invocation, false);
    if (!invocation->id) {
        chordal__release(runtime->memory, invocation, sizeof *invocation);
        return NULL;
    }
    invocation->runtime = runtime;
    invocation->caller = caller;
    invocation->object = object;
    invocation->member = member;
    invocation->arguments = arguments ? chordal__body_ref(arguments) : NULL;
    chordal__event_init(&invocation->cancel, CHORDAL__TELL_CANCEL);
    chordal__list_init(&invocation->commit_list);
    chordal__list_init(&invocation->ready);
    chordal__list_append(&caller->waiting, &invocation->node);
    chordal__list_append(&object->invocations, &invocation->object_node);
    chordal__object_pin(object);
    chordal__caller_go_on(caller);
    return invocation;
}

static void forget_commits(chordal__invocation *invocation) {
    while (!chordal__list_empty(&invocation->commit_list)) {
        chordal__commit *commit = CHORDAL__ENTRY(invocation->commit_list.next, chordal__commit, invocation_node);
        chordal__list_remove(&commit->invocation_node);
        commit->invocation = NULL;
    }
}

void chordal__invocation_free(chordal__invocation *invocation) {
    chordal__runtime *runtime = invocation->runtime;
    forget_commits(invocation);
    chordal__list_remove(&invocation->node);
    chordal__list_remove(&invocation->object_node);
    chordal__list_remove(&invocation->ready);
    chordal__untell(&invocation->cancel);
    if (CHORDAL__AUTHORITY) chordal__invocation_unask(invocation);
    if (CHORDAL__STORE && invocation->durable) chordal__durable_free(invocation);
    if (invocation->id) chordal__id_leave(&runtime->ids, invocation->id);
    chordal__body_unref(invocation->arguments);
    chordal__body_unref(invocation->value);
    chordal__reason_clear(runtime->memory, &invocation->reason);
    chordal__object *object = invocation->object;
    chordal__release(runtime->memory, invocation, sizeof *invocation);
    chordal__object_unpin(object);
}

/* The outcome is fixed once the method answered and all that it committed is through. */
void chordal__invocation_settle(chordal__invocation *invocation) {
    if (!invocation->answered || invocation->commits) return;
    if (CHORDAL__STORE && invocation->durable && !chordal__durable_settle(invocation)) return;
    if (invocation->caller && invocation->caller->settled)
        invocation->caller->settled(invocation->caller, invocation);
    else
        chordal__invocation_free(invocation);
}

/* A success that rests on a commit that failed is none. */
static void take_failure(chordal__invocation *invocation, const chordal__commit *commit) {
    const chordal__reason *why = &commit->reason;
    if (invocation->reason.code) return;
    chordal__reason_set(invocation->runtime->memory, &invocation->reason, why->code, NULL, 0, why->detail.data,
                        why->detail.len);
    chordal__body_unref(invocation->value);
    invocation->value = NULL;
}

/* Of those that failed only such are in the list as the program was not told of yet. */
void chordal__invocation_check(chordal__invocation *invocation) {
    for (chordal__list *node = invocation->commit_list.next; node != &invocation->commit_list; node = node->next) {
        const chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, invocation_node);
        if (commit->reason.code) take_failure(invocation, commit);
    }
}

static void answered(chordal__invocation *invocation) {
    invocation->answered = true;
    if (CHORDAL__STORE) chordal__invocation_check(invocation);
    chordal__untell(&invocation->cancel);
    chordal__list_remove(&invocation->node);
    if (CHORDAL__AUTHORITY) chordal__invocation_unask(invocation);
    chordal__id_free(&invocation->runtime->ids, invocation->id);
    invocation->id = 0;
    chordal__body_unref(invocation->arguments);
    invocation->arguments = NULL;
    chordal__invocation_settle(invocation);
}

void chordal__invocation_answer(chordal__invocation *invocation, chordal__body *value, bool raw) {
    invocation->value = value;
    invocation->raw = raw;
    answered(invocation);
}

void chordal__invocation_fail(chordal__invocation *invocation, int code, const char *name, size_t name_len,
                              const char *detail, size_t detail_len) {
    chordal__reason_set(invocation->runtime->memory, &invocation->reason, code, name, name_len, detail, detail_len);
    answered(invocation);
}

void chordal__invocation_cancel(chordal__invocation *invocation) {
    if (invocation->answered || invocation->cancelled) return;
    invocation->cancelled = true;
    if (invocation->told)
        chordal__tell(invocation->runtime, &invocation->cancel);
    else
        chordal__invocation_fail(invocation, CHORDAL_E_CANCELLED, NULL, 0, NULL, 0);
}

void chordal__invocation_orphan(chordal__invocation *invocation) {
    if (CHORDAL__AUTHORITY) chordal__invocation_unask(invocation);
    invocation->caller = NULL;
    invocation->call = NULL;
    chordal__list_remove(&invocation->ready);
    bool goes_on = CHORDAL__STORE && invocation->durable && invocation->told; /* its caller may ask again */
    if (invocation->answered)
        chordal__invocation_settle(invocation);
    else if (CHORDAL__STORE && invocation->durable && !goes_on)
        chordal__invocation_free(invocation);
    else if (goes_on)
        return;
    else
        chordal__invocation_cancel(invocation);
}

void chordal__invocation_commit_done(chordal__invocation *invocation) {
    invocation->commits--;
    chordal__invocation_settle(invocation);
}

void chordal__invocation_commit_failed(chordal__invocation *invocation, const chordal__commit *commit) {
    invocation->commits--;
    if (invocation->answered) take_failure(invocation, commit);
    chordal__invocation_settle(invocation);
}
