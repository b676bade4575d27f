/* provider_ack.c: what a consumer says it has taken, and the wait for it. */
#include "link/link.h"

/* While it waits for its reader, something must be taken within a time. */
static void watch(chordal__provider *provider, bool waits) {
    chordal__runtime *runtime = provider->runtime;
    chordal_time span = runtime->settings.stall_timeout;
    provider->watched = waits;
    if (!waits || span >= CHORDAL_NEVER)
        chordal__heap_remove(&runtime->deadlines, &provider->due);
    else if (chordal__heap_set(&runtime->deadlines, &provider->due, runtime->now + span) < 0)
        chordal__link_break(provider->origin.link, CHORDAL_E_NOMEM);
}

/* Whether its link has as much to send as it should; it goes on when that is less. */
static bool is_held(chordal__provider *provider) {
    chordal__link *link = provider->origin.link;
    if (link->queued < CHORDAL__LINK_BACKLOG) return false;
    chordal__list_remove(&provider->flush);
    chordal__list_append(&link->held, &provider->flush);
    return true;
}

bool chordal__provider_has_room(chordal__provider *provider, bool wants) {
    if (!provider->origin.link || provider->origin.link->failing) return false;
    bool room = chordal__window_has_room(&provider->window) && !(wants && is_held(provider));
    if (room == provider->watched) watch(provider, !room);
    return room;
}

static void free_outcome(chordal__provider *provider, chordal__invocation *invocation) {
    if (invocation->value) provider->outcome_bytes -= invocation->value->len;
    if (CHORDAL__STORE && invocation->durable) chordal__durable_taken(invocation);
    chordal__invocation_free(invocation);
}

void chordal__provider_drop_outcomes(chordal__provider *provider, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) free_outcome(provider, chordal__window_ack_outcome(&provider->window));
    if (provider->caller.held && provider->outcome_bytes < provider->runtime->settings.outcome_limit)
        chordal__caller_hold(&provider->caller, false);
}

int chordal__provider_ack(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    uint64_t states = message->numbers[0], outcomes = message->numbers[1];
    chordal__window_acks(&provider->window);
    if (outcomes > provider->window.kept_len || !(states || outcomes) ||
        chordal__window_ack_states(&provider->window, states) < 0)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "an ack for what was not sent");
    chordal__provider_drop_outcomes(provider, outcomes);
    chordal__window_adapt(&provider->window, states + outcomes);
    if (provider->watched) watch(provider, true);
    chordal__provider_want_flush(provider);
    return 0;
}
