/* turn.c: the turn: deadlines that came, events into the caller's buffer. */
#include "host/host.h"

static void due(chordal__deadline *deadline) {
    static const char silent[] = CHORDAL__WORDS("the derive did not answer in time");
    switch (deadline->kind) {
    case CHORDAL__DUE_CALL:
        chordal__call_expired(CHORDAL__ENTRY(deadline, chordal__call, due));
        break;
    case CHORDAL__DUE_COMPUTE:
        chordal__compute_fail(CHORDAL__ENTRY(deadline, chordal__compute, due), "deadline", 8, silent,
                              sizeof silent - 1);
        break;
    case CHORDAL__DUE_CONSUMER:
        chordal__consumer_due(CHORDAL__ENTRY(deadline, chordal__consumer, due));
        break;
    case CHORDAL__DUE_PROVIDER:
        chordal__provider_due(CHORDAL__ENTRY(deadline, chordal__provider, due));
        break;
#ifndef CHORDAL__NO_PLACES
    case CHORDAL__DUE_QUESTION:
        chordal__question_due(CHORDAL__ENTRY(deadline, chordal__question, due));
        break;
#endif
    case CHORDAL__DUE_DRAIN:
        chordal__link_close(CHORDAL__ENTRY(deadline, chordal__link, drained_by));
        break;
    case CHORDAL__DUE_GUARD:
        if (CHORDAL__AUTHORITY) chordal__ask_answer(CHORDAL__ENTRY(deadline, chordal__ask, due), CHORDAL_GUARD_DENY);
        break;
    case CHORDAL__DUE_ACKS:
        if (CHORDAL__ACKS_WAIT) chordal__links_acks_due(CHORDAL__ENTRY(deadline, chordal__links, acks_due));
        break;
    default:
        chordal__link_due(CHORDAL__ENTRY(deadline, chordal__link, due));
        break;
    }
}

static void due_now(chordal_host *host) {
    chordal__deadline *first;
    while ((first = chordal__heap_first(&host->runtime.deadlines)) != NULL && first->at <= host->runtime.now) {
        chordal__heap_remove(&host->runtime.deadlines, first);
        due(first);
    }
}

static int next_record(chordal_host *host) {
    if (host->record_waits) return 1;
    chordal__commits_advance(&host->runtime); /* what is retired computes no more */
    int code = chordal__next_record(host);
    if (code != 0 || !chordal__links_have_turn(&host->links)) return code;
    chordal__links_turn(&host->links);
    chordal__commits_advance(&host->runtime);
    return chordal__next_record(host);
}

/* What was committed since the last turn is one step. */
static void write_store(chordal__runtime *runtime) {
    chordal__persist_tidy(runtime);
    chordal__persist_step(runtime);
    if (chordal__copies_wait(runtime)) chordal__copies_go_on(runtime);
}

static void begin_turn(chordal_host *host) {
    chordal__runtime *runtime = &host->runtime;
    chordal__calls_start_timeouts(runtime);
    while (!chordal__list_empty(&runtime->later)) {
        chordal__list *node = runtime->later.next;
        chordal__list_remove(node);
        chordal__list_append(&runtime->events, node);
    }
    due_now(host);
    if (CHORDAL__STORE && runtime->store) write_store(runtime);
}

/* And leave. */
CHORDAL__ASIDE static int take_turn(chordal_host *host, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                                    chordal_error *error) {
    size_t used = 0;
    int code;
    begin_turn(host);
    while ((code = next_record(host)) == 1) {
        size_t len = host->record.len;
        host->record_waits = len > buffer_len - used;
        if (host->record_waits) {
            if (!used) {
                *out_len = len;
                code = chordal__fail(error, CHORDAL_E_ROOM, 0, "the next record needs more room");
            }
            break;
        }
        memcpy(buffer + used, host->record.data, len);
        host->record_part = 0;
        used += len;
    }
    if (code == CHORDAL_E_NOMEM && !used) chordal__fail(error, code, 0, "no memory for a record");
    if (used) *out_len = used;
    return chordal__leave(host, used || code > 0 ? 0 : code);
}

/* Whether a turn has anything to do. */
static bool has_turn(const chordal_host *host) {
    const chordal__runtime *runtime = &host->runtime;
    const chordal__deadline *first = chordal__heap_first(&runtime->deadlines);
    return !chordal__list_empty(&runtime->events) || !chordal__list_empty(&runtime->urgent) || host->record_waits ||
           !chordal__list_empty(&runtime->later) || !chordal__list_empty(&runtime->fresh) ||
           !chordal__list_empty(&runtime->commits) || chordal__links_have_turn(&host->links) ||
           (CHORDAL__STORE && runtime->store &&
            (chordal__persist_tidies(runtime) || chordal__copies_wait(runtime) || chordal__durables_wait(runtime))) ||
           (first && first->at <= runtime->now);
}

int chordal_host_poll(chordal_host *host, chordal_time now, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                      chordal_error *error) {
    *out_len = 0;
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    if (now > host->runtime.now) host->runtime.now = now;
    chordal__links_begin_turn(&host->links);
    return CHORDAL__SMALL || has_turn(host) ? take_turn(host, buffer, buffer_len, out_len, error)
                                            : chordal__leave(host, 0);
}

chordal_time chordal_host_deadline(chordal_host *host) {
    if (chordal__enter(host, NULL) < 0) return CHORDAL_NEVER;
    const chordal__runtime *runtime = &host->runtime;
    const chordal__deadline *first = chordal__heap_first(&runtime->deadlines);
    bool events =
        !chordal__list_empty(&runtime->urgent) || host->record_waits || chordal__links_owe_turn(runtime->links) ||
        !chordal__list_empty(&runtime->fresh) ||
        (CHORDAL__STORE && (chordal__persist_waits(runtime) || chordal__copies_wait(runtime))) ||
        (!runtime->settling && (!chordal__list_empty(&runtime->events) || !chordal__list_empty(&runtime->later)));
    chordal_time at = events ? 0 : first ? first->at : CHORDAL_NEVER;
    chordal__leave(host, 0);
    return at;
}
