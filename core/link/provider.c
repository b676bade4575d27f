/* provider.c: a session in which this host provides: from its opening, over every link that carries it, to its end. */
#include "link/link.h"

/* ---- life ---- */

static void free_provider(chordal__provider *provider) {
    chordal__runtime *runtime = provider->runtime;
    chordal__memory *memory = runtime->memory;
    if (chordal__map_get(&runtime->links->sessions, provider->session, sizeof provider->session) == provider)
        chordal__map_remove(&runtime->links->sessions, provider->session, sizeof provider->session);
    chordal__heap_remove(&runtime->deadlines, &provider->due);
    chordal__list_remove(&provider->node);
    chordal__list_remove(&provider->flush);
    chordal__untell(&provider->caller.event);
    if (CHORDAL__AUTHORITY) chordal__asks_dispose(&provider->caller);
    chordal__window_dispose(&provider->window);
    chordal__release(memory, provider->holds, provider->holds_capacity * sizeof *provider->holds);
    chordal__release(memory, provider->told, provider->told_capacity * sizeof *provider->told);
    chordal__release(memory, provider->slots, CHORDAL__SLOTS * sizeof *provider->slots);
    chordal__release(memory, provider, sizeof *provider);
}

static chordal__provider *new_provider(chordal__link *link, const chordal__message *message) {
    chordal__runtime *runtime = link->runtime;
    chordal__provider *provider = chordal__allocate_zero(runtime->memory, sizeof *provider);
    if (!provider) return NULL;
    provider->runtime = runtime;
    provider->origin.role = CHORDAL__ROLE_PROVIDER;
    provider->encoding = (uint8_t)message->numbers[1];
    provider->deflated = message->numbers[2] & CHORDAL__ORIGIN_DEFLATED;
    provider->due.kind = CHORDAL__DUE_PROVIDER;
    if (CHORDAL__STORE) provider->lineage = chordal__persist_lineage(runtime, message->ids[1]);
    memcpy(provider->session, message->ids[0], sizeof provider->session);
    chordal__list *lists[] = {&provider->node, &provider->flush, &provider->dirty, &provider->waiting,
                              &provider->ready};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) chordal__list_init(lists[i]);
    chordal__caller_init(&provider->caller, runtime, ++runtime->links->sessions_opened, chordal__provider_settled);
    chordal__window_init(&provider->window, runtime);
    provider->slots = chordal__allocate_zero(runtime->memory, CHORDAL__SLOTS * sizeof *provider->slots);
    if (provider->slots) {
        int code = chordal__map_put(&runtime->links->sessions, provider->session, sizeof provider->session, provider);
        if (code == 0) return provider;
    }
    free_provider(provider);
    return NULL;
}

static int open_new(chordal__link *link, const chordal__message *message, chordal__authority *authority,
                    chordal_error *error) {
    chordal__provider *provider = new_provider(link, message);
    if (!provider) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a session");
    if (CHORDAL__AUTHORITY) provider->caller.authority = chordal__authority_ref(authority);
    int code = chordal__origin_enter(link, &provider->origin, message->origin);
    if (code < 0) {
        free_provider(provider);
        return chordal__fail(error, code, 0, "the origin is not free");
    }
    chordal__list_append(&link->providers, &provider->node);
    provider->origin.limit = message->numbers[6];
    link->runtime->counters.live_sessions++;
    chordal__message opened = {.kind = CHORDAL__OPENED, .origin = provider->origin.number};
    memcpy(opened.ids[0], link->runtime->run, sizeof opened.ids[0]);
    opened.numbers[1] = provider->window.share;
    chordal__send(link, &opened, NULL);
    return 0;
}

void chordal__provider_end(chordal__provider *provider, bool ended_sent) {
    provider->runtime->counters.live_sessions--;
    if (!provider->origin.number) provider->runtime->counters.live_lost--;
    chordal__provider_end_calls(provider);
    chordal__provider_end_holds(provider);
    chordal__origin_leave(&provider->origin, ended_sent);
    free_provider(provider);
}

/* ---- lost ---- */

static void limit_lost(chordal__links *links) {
    if (links->runtime->counters.live_lost <= links->runtime->settings.lost_limit) return;
    chordal__provider_end(CHORDAL__ENTRY(links->lost.next, chordal__provider, node), false);
}

void chordal__provider_lost(chordal__provider *provider, bool ended_sent) {
    chordal__runtime *runtime = provider->runtime;
    chordal__origin_leave(&provider->origin, ended_sent);
    provider->origin.link = NULL;
    provider->more_bytes = 0;
    provider->watched = false;
    chordal__list_remove(&provider->flush);
    chordal__list_remove(&provider->node);
    chordal__list_append(&runtime->links->lost, &provider->node);
    runtime->counters.live_lost++;
    if (chordal__heap_set(&runtime->deadlines, &provider->due, runtime->now + runtime->settings.session_lapse) < 0) {
        chordal__provider_end(provider, false); /* no memory to remember when it lapses */
        return;
    }
    limit_lost(runtime->links);
}

static void part_with(chordal__provider *provider, int code, const char *words) {
    chordal__send_ended(&provider->origin, code, words, strlen(words));
    chordal__provider_lost(provider, true);
}

void chordal__provider_due(chordal__provider *provider) {
    if (!provider->origin.number)
        chordal__provider_end(provider, false);
    else
        part_with(provider, CHORDAL_E_STALLED, CHORDAL__WORDS("nothing was acknowledged for too long"));
}

/* ---- back ---- */

/* What the consumer says it has must be between what it acknowledged and what was sent. */
static bool is_possible(const chordal__provider *provider, const chordal__message *message) {
    const chordal__window *window = &provider->window;
    uint64_t cut = message->numbers[3], states = message->numbers[4] - window->states_acked;
    if (message->numbers[5] - window->outcomes_acked > window->kept_len || states > window->states_len) return false;
    return cut == (states ? chordal__window_state(window, (uint32_t)states - 1)->cut : window->acked);
}

static int come_back(chordal__provider *provider, chordal__link *link, const chordal__message *message,
                     chordal_error *error) {
    chordal__runtime *runtime = provider->runtime;
    int code = chordal__origin_enter(link, &provider->origin, message->origin);
    if (code < 0) return chordal__fail(error, code, 0, "the origin is not free");
    chordal__heap_remove(&runtime->deadlines, &provider->due);
    chordal__list_remove(&provider->node);
    chordal__list_append(&link->providers, &provider->node);
    provider->origin.limit = message->numbers[6];
    provider->deflated = message->numbers[2] & CHORDAL__ORIGIN_DEFLATED;
    runtime->counters.live_lost--;
    runtime->counters.sessions_back++;
    chordal__send_simple(&provider->origin, CHORDAL__BACK, provider->requests);
    chordal__window_ack_states(&provider->window, message->numbers[4] - provider->window.states_acked);
    chordal__provider_drop_outcomes(provider, message->numbers[5] - provider->window.outcomes_acked);
    chordal__provider_rewind(provider);
    chordal__provider_want_flush(provider);
    return 0;
}

static bool is_same_session(const chordal__provider *provider, const chordal__message *message) {
    return memcmp(message->ids[1], provider->runtime->run, sizeof message->ids[1]) == 0 &&
           provider->encoding == message->numbers[1] && provider->requests && is_possible(provider, message);
}

int chordal__provider_open(chordal__link *link, const chordal__message *message, chordal__authority *authority,
                           chordal_error *error) {
    chordal__links *links = link->links;
    chordal__provider *provider = chordal__map_get(&links->sessions, message->ids[0], sizeof message->ids[0]);
    if (!provider) return open_new(link, message, authority, error);
    if (CHORDAL__AUTHORITY && !chordal__authority_equal(provider->caller.authority, authority))
        return chordal__refuse_session(link, message->origin, CHORDAL_E_REFUSED, NULL, error);
    bool same = is_same_session(provider, message);
    if (provider->origin.number)
        part_with(provider, CHORDAL_E_REPLACED, CHORDAL__WORDS("the session goes on over another link"));
    provider = chordal__map_get(&links->sessions, message->ids[0], sizeof message->ids[0]);
    if (provider && same) return come_back(provider, link, message, error);
    if (provider) chordal__provider_end(provider, false);
    return open_new(link, message, authority, error);
}
