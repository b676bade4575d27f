/* provider_ack.c: what a consumer says it has taken, and the wait for it. */
#include "link/link.h"

/* While the window is full somebody must take something within a time. */
static void watch_for_stall(chordal__provider *provider, bool full) {
    chordal__runtime *runtime = provider->runtime;
    chordal_time span = runtime->settings.stall_timeout;
    if (!full || span >= CHORDAL_NEVER)
        chordal__heap_remove(&runtime->deadlines, &provider->due);
    else if (chordal__heap_set(&runtime->deadlines, &provider->due, runtime->now + span) < 0)
        provider->origin.link->broken = CHORDAL_E_NOMEM;
}

bool chordal__provider_has_room(chordal__provider *provider) {
    bool was_full = provider->window.full;
    if (!provider->origin.link) return false;
    bool room = chordal__window_has_room(&provider->window);
    if (room == was_full) watch_for_stall(provider, !room);
    return room;
}

static void free_outcome(chordal__provider *provider, chordal__invocation *invocation) {
    if (invocation->value) provider->outcome_bytes -= invocation->value->len;
    chordal__invocation_free(invocation);
}

void chordal__provider_drop_outcomes(chordal__provider *provider, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) free_outcome(provider, chordal__window_ack_outcome(&provider->window));
    if (provider->caller.held && provider->outcome_bytes < provider->runtime->settings.outcome_limit)
        chordal__caller_hold(&provider->caller, false);
}

int chordal__provider_ack(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    uint64_t states = message->numbers[0], outcomes = message->numbers[1];
    if (outcomes > provider->window.kept_len || !(states || outcomes) ||
        chordal__window_ack_states(&provider->window, states) < 0)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "an ack for what was not sent");
    chordal__provider_drop_outcomes(provider, outcomes);
    if (provider->window.full) watch_for_stall(provider, true);
    chordal__provider_want_flush(provider);
    return 0;
}
