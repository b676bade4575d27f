/* guard.c: what the program is asked about a session before its hold on a guarded type is followed, or its call is run.
 */
#include "object/object.h"

void chordal__asks_init(chordal__caller *caller) {
    caller->asks_weight = 0;
    caller->asks_burst = 0;
    caller->authority = NULL;
    chordal__list_init(&caller->asks);
    chordal__event_init(&caller->asking, CHORDAL__TELL_GUARDS);
}

void chordal__asks_dispose(chordal__caller *caller) {
    chordal__untell(&caller->asking);
    chordal__authority_unref(caller->authority);
    caller->authority = NULL;
}

static int enter(chordal__ask *ask) {
    chordal__caller *caller = ask->caller;
    chordal__runtime *runtime = caller->runtime;
    chordal_time span = runtime->settings.guard_timeout;
    if (caller->asks_weight > runtime->settings.queue_limit) return CHORDAL_E_LIMIT;
    int code = span < CHORDAL_NEVER ? chordal__heap_set(&runtime->deadlines, &ask->due, runtime->now + span) : 0;
    if (code < 0) return code;
    ask->id = chordal__id_new(&runtime->ids, CHORDAL__ID_ASK, ask, false);
    return ask->id ? 0 : CHORDAL_E_NOMEM;
}

int chordal__ask_open(chordal__caller *caller, const chordal__ask *question, chordal__ask **out) {
    chordal__runtime *runtime = caller->runtime;
    chordal__ask *ask = chordal__allocate_zero(runtime->memory, sizeof *ask);
    if (!ask) return CHORDAL_E_NOMEM;
    *ask = *question;
    ask->caller = caller;
    ask->due.kind = CHORDAL__DUE_GUARD;
    ask->weight = sizeof *ask + (ask->member == CHORDAL_ALL_MEMBERS ? ask->params->len : 0);
    caller->asks_weight += ask->weight;
    chordal__body_ref(ask->params);
    chordal__list_init(&ask->node);
    int code = enter(ask);
    if (code < 0) {
        chordal__ask_drop(ask);
        return code;
    }
    chordal__list_append(&caller->asks, &ask->node);
    chordal__tell(runtime, &caller->asking);
    *out = ask;
    return 0;
}

void chordal__ask_drop(chordal__ask *ask) {
    if (!ask) return;
    chordal__runtime *runtime = ask->caller->runtime;
    ask->caller->asks_weight -= ask->weight;
    chordal__list_remove(&ask->node);
    chordal__heap_remove(&runtime->deadlines, &ask->due);
    if (ask->id) chordal__id_free(&runtime->ids, ask->id);
    chordal__body_unref(ask->params);
    chordal__release(runtime->memory, ask, sizeof *ask);
}

void chordal__ask_answer(chordal__ask *ask, uint32_t answer) {
    ask->judged(ask, answer);
    chordal__ask_drop(ask);
}

/* ---- calls ---- */

static void call_judged(chordal__ask *ask, uint32_t answer) {
    chordal__invocation *invocation = ask->subject;
    invocation->ask = NULL;
    if (answer == CHORDAL_GUARD_DENY) chordal__invocation_fail(invocation, CHORDAL_E_DENIED, NULL, 0, NULL, 0);
    if (CHORDAL__STORE && invocation->durable) chordal__durable_record(invocation);
    chordal__caller_go_on(ask->caller);
}

int chordal__invocation_ask(chordal__invocation *invocation) {
    const chordal__ask question = {.type = invocation->object->type,
                                   .params = invocation->object->params,
                                   .member = invocation->member,
                                   .subject = invocation,
                                   .judged = call_judged};
    return chordal__ask_open(invocation->caller, &question, &invocation->ask);
}

void chordal__invocation_unask(chordal__invocation *invocation) {
    chordal__ask *ask = invocation->ask;
    invocation->ask = NULL;
    if (!ask) return;
    chordal__caller *caller = ask->caller;
    chordal__ask_drop(ask);
    chordal__caller_go_on(caller);
}
