/* consumer.c: a session in which this host consumes: its references, opening, the way down. */
#include "link/link.h"

/* ---- life ---- */

static bool draw_id(chordal__runtime *runtime, uint8_t out[16]) {
    return runtime->settings.entropy(runtime->settings.entropy_context, out, 16) == 0;
}

static chordal__consumer *new_consumer(chordal__link *link, const void *route, size_t route_len) {
    chordal__runtime *runtime = link->runtime;
    chordal__consumer *consumer = chordal__allocate_zero(runtime->memory, sizeof *consumer);
    if (!consumer) return NULL;
    consumer->runtime = runtime;
    consumer->link = link;
    consumer->origin.role = CHORDAL__ROLE_CONSUMER;
    consumer->due.kind = CHORDAL__DUE_CONSUMER;
    chordal__list_init(&consumer->owing);
    chordal__list_init(&consumer->remotes);
    chordal__list_init(&consumer->hungry);
    chordal__list_init(&consumer->calls);
    chordal__list_append(&link->consumers, &consumer->node);
    runtime->counters.live_sessions++;
    if (chordal__text_set(runtime->memory, &consumer->route, route, route_len) == 0 &&
        draw_id(runtime, consumer->session))
        return consumer;
    chordal__consumer_free(consumer);
    return NULL;
}

chordal__consumer *chordal__consumer_find(chordal__link *link, const void *route, size_t route_len, uint8_t encodings,
                                          chordal_error *error) {
    for (chordal__list *node = link->consumers.next; node != &link->consumers; node = node->next) {
        chordal__consumer *consumer = CHORDAL__ENTRY(node, chordal__consumer, node);
        if (chordal__text_is(&consumer->route, route, route_len)) return consumer;
    }
    chordal__consumer *consumer = new_consumer(link, route, route_len);
    if (consumer)
        consumer->json = encodings == CHORDAL__ENCODING_JSON;
    else
        chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a session");
    return consumer;
}

/* The part encoding belongs to the session: over a link that does not take it, it is a new one. */
static void choose_encoding(chordal__consumer *consumer) {
    bool json = consumer->json || consumer->link->codec_kind == CHORDAL_CODEC_TEXT;
    uint8_t encoding = json ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    if (consumer->away && encoding != consumer->encoding) chordal__consumer_anew(consumer);
    consumer->encoding = encoding;
}

/* Its own, where it is to come back; else one of which a reference still has something. */
static void name_run(chordal__consumer *consumer, uint8_t out[16]) {
    const uint8_t *run = consumer->away ? consumer->run : NULL;
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes && !run; node = node->next) {
        const chordal__remote *remote = CHORDAL__ENTRY(node, chordal__remote, node);
        if (remote->since) run = remote->run;
    }
    if (run) memcpy(out, run, 16);
    memcpy(consumer->named, out, 16);
}

void chordal__consumer_open(chordal__consumer *consumer) {
    chordal__link *link = consumer->link;
    chordal__message origin = {.kind = CHORDAL__ORIGIN};
    uint64_t number = chordal__origin_free_number(link);
    int code = chordal__origin_enter(link, &consumer->origin, number);
    if (code < 0) {
        chordal__link_break(link, code);
        return;
    }
    choose_encoding(consumer);
    consumer->opened = false;
    origin.origin = number;
    origin.numbers[0] = number;
    consumer->deflated = chordal__link_deflates(link);
    origin.numbers[1] = consumer->encoding;
    origin.numbers[2] = consumer->deflated ? CHORDAL__ORIGIN_DEFLATED : 0;
    memcpy(origin.ids[0], consumer->session, sizeof origin.ids[0]);
    origin.texts[0].data = (const uint8_t *)consumer->route.data;
    origin.texts[0].len = consumer->route.len;
    name_run(consumer, origin.ids[1]);
    if (consumer->away) {
        origin.numbers[3] = consumer->cut;
        origin.numbers[4] = consumer->states;
        origin.numbers[5] = consumer->outcomes;
    }
    chordal__send(link, &origin, NULL);
    if (!consumer->away) chordal__consumer_ask_all(consumer);
}

static void forget_types(chordal__consumer *consumer) {
    chordal__memory *memory = consumer->runtime->memory;
    for (size_t i = 0; i < consumer->types_len; i++) {
        chordal__text_clear(memory, &consumer->types[i].name);
        chordal__members_unref(consumer->types[i].members);
    }
    chordal__release(memory, consumer->types, consumer->types_capacity * sizeof *consumer->types);
    consumer->types = NULL;
    consumer->types_len = consumer->types_capacity = 0;
}

/* Nothing of the session is left; its references wait for another. */
static void forget_session(chordal__consumer *consumer) {
    chordal__consumer_drop_staged(consumer);
    consumer->opened = consumer->in_cut = consumer->away = consumer->known = false;
    consumer->cut = consumer->requests = consumer->states = consumer->outcomes = 0;
    chordal__consumer_calls_lost(consumer);
    forget_types(consumer);
    for (size_t i = 0; i < consumer->numbers_capacity; i++) {
        chordal__remote *remote = consumer->numbers[i];
        if (remote) chordal__consumer_forget_hold(remote);
    }
    consumer->torn = false;
    chordal__consumer_owes_nothing(consumer);
}

void chordal__consumer_anew(chordal__consumer *consumer) {
    forget_session(consumer);
}

/* What comes after it is another session. */
static void close_session(chordal__consumer *consumer, bool ended_sent) {
    forget_session(consumer);
    (void)draw_id(consumer->runtime, consumer->session);
    chordal__origin_leave(&consumer->origin, ended_sent);
}

void chordal__consumer_references_down(chordal__consumer *consumer) {
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next) {
        chordal__reference *reference = CHORDAL__ENTRY(node, chordal__remote, node)->reference;
        if (reference->state == CHORDAL_REFERENCE_LIVE)
            chordal__reference_set_state(reference, CHORDAL_REFERENCE_DOWN, CHORDAL_E_LOST, NULL, 0);
    }
}

static chordal_time next_wait(const chordal__consumer *consumer) {
    return chordal__backoff(&consumer->runtime->settings, consumer->attempts);
}

/* After a way that was good for long enough the waits begin anew. */
void chordal__consumer_judge_way(chordal__consumer *consumer) {
    chordal_time span = consumer->runtime->now - consumer->good_at;
    if (consumer->opened && span >= next_wait(consumer) * CHORDAL__WORKED) consumer->attempts = 0;
}

/* What ends at once each time must not be asked for in a circle. */
static void later(chordal__consumer *consumer, chordal_time span) {
    chordal_time now = consumer->runtime->now;
    if (consumer->link->state != CHORDAL_LINK_UP) return; /* all are asked for when it is up again */
    consumer->attempts++;
    consumer->good_at = now;
    if (chordal__heap_set(&consumer->runtime->deadlines, &consumer->due, now + span) < 0)
        chordal__link_break(consumer->link, CHORDAL_E_NOMEM);
}

void chordal__consumer_due(chordal__consumer *consumer) {
    if (consumer->link->state != CHORDAL_LINK_UP) return;
    if (!consumer->origin.number)
        chordal__consumer_open(consumer); /* the one before ended */
    else if (!consumer->away)
        chordal__consumer_ask_all(consumer);
}

static void move_remote(chordal__remote *remote, chordal__consumer *to) {
    chordal__consumer_move_blocked(remote->consumer, to, remote->reference);
    chordal__list_remove(&remote->hungry);
    chordal__list_remove(&remote->node);
    chordal__list_append(&to->remotes, &remote->node);
    remote->consumer = to;
}

/* The wait before this one: none for what went for good after it had worked. */
static chordal_time last_wait(const chordal__consumer *consumer) {
    return consumer->attempts ? chordal__backoff(&consumer->runtime->settings, consumer->attempts - 1) : 0;
}

/* References behind a relay are asked for again at the link's own end, which tells where they are now. */
static void move_home(chordal__consumer *consumer, chordal_time span) {
    chordal__consumer *home = chordal__consumer_find(consumer->link, "", 0, CHORDAL__ENCODING_BINARY, NULL);
    if (!home) {
        chordal__link_break(consumer->link, CHORDAL_E_NOMEM);
        return;
    }
    while (!chordal__list_empty(&consumer->remotes))
        move_remote(CHORDAL__ENTRY(consumer->remotes.next, chordal__remote, node), home);
    home->attempts = consumer->attempts;
    later(home, span);
    chordal__consumer_free(consumer);
}

static void give_up(chordal__consumer *consumer, bool ended_sent, chordal_time span) {
    close_session(consumer, ended_sent);
    chordal__consumer_references_down(consumer);
    if (consumer->route.len) move_home(consumer, span);
}

/* One whose way was gone before is not ended by a farewell of the neighbour. */
void chordal__consumer_down(chordal__consumer *consumer, bool returns) {
    if ((returns || consumer->away) && chordal__consumer_may_return(consumer))
        chordal__consumer_leave(consumer);
    else
        give_up(consumer, false, next_wait(consumer));
}

static void end_references(chordal__consumer *consumer, int code, const chordal__message *message) {
    uint8_t state = code == CHORDAL_E_REVOKED ? CHORDAL_REFERENCE_REVOKED : CHORDAL_REFERENCE_FAILED;
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next)
        chordal__reference_set_state(CHORDAL__ENTRY(node, chordal__remote, node)->reference, state, code,
                                     (const char *)message->texts[1].data, message->texts[1].len);
}

/* The provider wants no more of it. Calls settle before the session goes, with the reason, and those that would be made
 * again after. */
static void refuse_all(chordal__consumer *consumer, int code, const chordal__message *message) {
    consumer->away = true; /* nothing is said in it any more */
    end_references(consumer, code, message);
    close_session(consumer, false);
    end_references(consumer, code, message);
}

/* It comes back, as often as that makes sense. */
static bool may_try(const chordal__consumer *consumer, int code) {
    bool vain = code == CHORDAL_E_NO_ROUTE && consumer->attempts >= CHORDAL__ROUTE_TRIES;
    return chordal__consumer_may_return(consumer) && !vain;
}

void chordal__consumer_ended(chordal__consumer *consumer, const chordal__message *message) {
    int code = chordal__error_code((const char *)message->texts[0].data, message->texts[0].len);
    /* Its way is gone, or it took too little. */
    bool lost = code == CHORDAL_E_LOST || code == CHORDAL_E_NO_ROUTE || code == CHORDAL_E_STALLED;
    chordal__send_ended(&consumer->origin, 0, NULL, 0);
    chordal__consumer_judge_way(consumer);
    if (code == CHORDAL_E_REFUSED && consumer->away) { /* it was another authority's */
        close_session(consumer, false);
        chordal__consumer_open(consumer);
    } else if (lost && may_try(consumer, code)) {
        chordal__consumer_leave(consumer);
        later(consumer, next_wait(consumer));
    } else if ((lost || !code) && consumer->route.len) {
        give_up(consumer, false, code ? next_wait(consumer) : last_wait(consumer));
    } else {
        refuse_all(consumer, code ? code : CHORDAL_E_REFUSED, message);
    }
}

/* The neighbour only passed it on: the session ends, not the link. */
void chordal__consumer_fault(chordal__consumer *consumer) {
    chordal__send_ended(&consumer->origin, 0, NULL, 0);
    give_up(consumer, true, next_wait(consumer));
}

void chordal__consumer_free(chordal__consumer *consumer) {
    chordal__memory *memory = consumer->runtime->memory;
    close_session(consumer, false);
    while (!chordal__list_empty(&consumer->remotes)) {
        chordal__remote *remote = CHORDAL__ENTRY(consumer->remotes.next, chordal__remote, node);
        chordal__reference *reference = remote->reference;
        reference->source = NULL;
        chordal__remote_free(remote);
        if (!chordal__placement_again(reference)) chordal__reference_orphan(reference, consumer->link->reason.code);
    }
    chordal__heap_remove(&consumer->runtime->deadlines, &consumer->due);
    forget_types(consumer);
    chordal__consumer_drop_staged(consumer);
    chordal__release(memory, consumer->staged, consumer->staged_capacity * sizeof *consumer->staged);
    chordal__release(memory, consumer->numbers, consumer->numbers_capacity * sizeof *consumer->numbers);
    chordal__list_remove(&consumer->node);
    chordal__list_remove(&consumer->owing);
    chordal__text_clear(memory, &consumer->route);
    consumer->runtime->counters.live_sessions--;
    chordal__release(memory, consumer, sizeof *consumer);
}
