/* consumer.c: a session in which this host consumes: its references, opening, the way down. */
#include "link/link.h"

static chordal__remote *remote_of(const chordal__reference *reference) {
    return reference->hold;
}

static void ask_for(chordal__remote *remote);

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
    consumer->due.kind = CHORDAL__DUE_SESSION;
    chordal__list_init(&consumer->owing);
    chordal__list_init(&consumer->remotes);
    chordal__list_init(&consumer->hungry);
    chordal__list_append(&link->consumers, &consumer->node);
    runtime->counters.live_sessions++;
    if (chordal__text_set(runtime->memory, &consumer->route, route, route_len) == 0 &&
        draw_id(runtime, consumer->session))
        return consumer;
    chordal__consumer_free(consumer);
    return NULL;
}

static chordal__consumer *find_consumer(chordal__link *link, const void *route, size_t route_len, uint8_t encodings,
                                        chordal_error *error) {
    for (chordal__list *node = link->consumers.next; node != &link->consumers; node = node->next) {
        chordal__consumer *consumer = CHORDAL__ENTRY(node, chordal__consumer, node);
        if (chordal__text_is(&consumer->route, route, route_len)) return consumer;
    }
    chordal__consumer *consumer = new_consumer(link, route, route_len);
    if (consumer) consumer->json = encodings == CHORDAL__ENCODING_JSON;
    if (!consumer)
        chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a session");
    else if (link->state == CHORDAL_LINK_UP)
        chordal__consumer_open(consumer);
    return consumer;
}

void chordal__consumer_open(chordal__consumer *consumer) {
    chordal__link *link = consumer->link;
    chordal__message origin = {.kind = CHORDAL__ORIGIN};
    uint64_t number = chordal__origin_free_number(link);
    int code = chordal__origin_enter(link, &consumer->origin, number);
    if (code < 0) {
        if (!link->broken) link->broken = code;
        return;
    }
    bool json = consumer->json || link->codec_kind == CHORDAL_CODEC_TEXT;
    consumer->encoding = json ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    consumer->cut = 0;
    consumer->opened = consumer->in_cut = false;
    origin.origin = number;
    origin.numbers[0] = number;
    origin.numbers[1] = consumer->encoding;
    memcpy(origin.ids[0], consumer->session, sizeof origin.ids[0]);
    origin.texts[0].data = (const uint8_t *)consumer->route.data;
    origin.texts[0].len = consumer->route.len;
    chordal__send(link, &origin, NULL);
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next)
        ask_for(CHORDAL__ENTRY(node, chordal__remote, node));
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

static void free_remote(chordal__remote *remote) {
    chordal__list_remove(&remote->node);
    chordal__list_remove(&remote->hungry);
    chordal__dictionary_dispose(&remote->dictionary);
    if (remote->reference) remote->reference->hold = NULL;
    chordal__release(remote->consumer->runtime->memory, remote, sizeof *remote);
}

static void close_session(chordal__consumer *consumer, bool ended_sent) {
    chordal__consumer_drop_staged(consumer);
    consumer->opened = consumer->in_cut = false;
    chordal__consumer_calls_lost(consumer);
    forget_types(consumer);
    for (size_t i = 0; i < consumer->numbers_capacity; i++) {
        chordal__remote *remote = consumer->numbers[i];
        if (!remote) continue;
        consumer->numbers[i] = NULL;
        remote->number = -1;
        remote->bound = remote->retired = false;
        chordal__list_remove(&remote->hungry);
        if (!remote->reference) free_remote(remote);
    }
    chordal__list_remove(&consumer->owing);
    consumer->unacked_state = consumer->unacked_other = 0;
    chordal__origin_leave(&consumer->origin, ended_sent);
}

static void references_down(chordal__consumer *consumer) {
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next) {
        chordal__reference *reference = CHORDAL__ENTRY(node, chordal__remote, node)->reference;
        if (reference->state == CHORDAL_REFERENCE_LIVE)
            chordal__reference_set_state(reference, CHORDAL_REFERENCE_DOWN, CHORDAL_E_LOST, NULL, 0);
    }
}

/* A route that ends at once each time must not be asked for in a circle. */
static void hold_later(chordal__consumer *home) {
    const chordal__settings *settings = &home->runtime->settings;
    chordal_time span = chordal__backoff(settings, home->link->route_attempts);
    if (home->link->state != CHORDAL_LINK_UP) return; /* all are asked for when it is up again */
    home->link->route_attempts++;
    if (chordal__heap_set(&home->runtime->deadlines, &home->due, home->runtime->now + span) < 0)
        home->link->broken = CHORDAL_E_NOMEM;
}

void chordal__consumer_due(chordal__consumer *consumer) {
    if (consumer->link->state != CHORDAL_LINK_UP) return;
    if (!consumer->origin.number) {
        chordal__consumer_open(consumer); /* the peer ended the one before */
        return;
    }
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next) {
        chordal__remote *remote = CHORDAL__ENTRY(node, chordal__remote, node);
        if (remote->number < 0) ask_for(remote);
    }
}

/* To another session, with the frames of it that wait to be taken. */
static void move_remote(chordal__remote *remote, chordal__consumer *to) {
    chordal__consumer *from = remote->consumer;
    from->blocked -= remote->reference->blocked;
    to->blocked += remote->reference->blocked;
    chordal__list_remove(&remote->hungry);
    chordal__list_remove(&remote->node);
    chordal__list_append(&to->remotes, &remote->node);
    remote->consumer = to;
    if (from->blocked == 0) chordal__consumer_owes(from);
}

/* References behind a relay are asked for again at the link's own end, which tells where they are now. */
static void move_home(chordal__consumer *consumer) {
    chordal__consumer *home = find_consumer(consumer->link, "", 0, CHORDAL__ENCODING_BINARY, NULL);
    if (!home) {
        consumer->link->broken = CHORDAL_E_NOMEM;
        return;
    }
    while (!chordal__list_empty(&consumer->remotes))
        move_remote(CHORDAL__ENTRY(consumer->remotes.next, chordal__remote, node), home);
    hold_later(home);
    chordal__consumer_free(consumer);
}

void chordal__consumer_down(chordal__consumer *consumer) {
    if (consumer->origin.number) close_session(consumer, false);
    references_down(consumer);
    if (consumer->route.len) move_home(consumer);
}

void chordal__consumer_ended(chordal__consumer *consumer) {
    chordal__send_simple(&consumer->origin, CHORDAL__ENDED, 0);
    close_session(consumer, false);
    references_down(consumer);
    if (consumer->route.len) {
        move_home(consumer);
        return;
    }
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next)
        chordal__reference_set_state(CHORDAL__ENTRY(node, chordal__remote, node)->reference, CHORDAL_REFERENCE_FAILED,
                                     CHORDAL_E_REFUSED, NULL, 0);
}

/* The neighbour only passed it on: the session ends, not the link. */
void chordal__consumer_fault(chordal__consumer *consumer) {
    chordal__send_simple(&consumer->origin, CHORDAL__ENDED, 0);
    close_session(consumer, true);
    references_down(consumer);
    move_home(consumer);
}

void chordal__consumer_free(chordal__consumer *consumer) {
    chordal__memory *memory = consumer->runtime->memory;
    if (consumer->origin.number) close_session(consumer, false);
    while (!chordal__list_empty(&consumer->remotes)) {
        chordal__remote *remote = CHORDAL__ENTRY(consumer->remotes.next, chordal__remote, node);
        chordal__reference *reference = remote->reference;
        reference->source = NULL;
        free_remote(remote);
        chordal__reference_orphan(reference, consumer->link->reason.code);
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

/* ---- holds ---- */

static int take_number(chordal__consumer *consumer, chordal__remote *remote) {
    void *numbers = consumer->numbers;
    size_t number = 0, before = consumer->numbers_capacity;
    while (number < before && consumer->numbers[number]) number++;
    int code = chordal__grow(consumer->runtime->memory, &numbers, sizeof *consumer->numbers,
                             &consumer->numbers_capacity, number + 1, CHORDAL__HOLDS_LIMIT);
    if (code < 0) return code;
    consumer->numbers = numbers;
    for (size_t i = before; i < consumer->numbers_capacity; i++) consumer->numbers[i] = NULL;
    consumer->numbers[number] = remote;
    remote->number = (int64_t)number;
    return 0;
}

static int send_hold(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    chordal__reference *reference = remote->reference;
    chordal__message hold = {.kind = CHORDAL__HOLD, .origin = consumer->origin.number};
    size_t bytes;
    int code = chordal__part_of_packed(consumer->runtime, consumer->encoding, reference->params->data,
                                       reference->params->len, reference->params, &hold.parts[0]);
    if (code < 0) return code;
    hold.numbers[0] = (uint64_t)remote->number;
    hold.numbers[1] = reference->version;
    hold.texts[0].data = (const uint8_t *)reference->type.data;
    hold.texts[0].len = reference->type.len;
    code = chordal__try_send(consumer->link, &hold, &bytes);
    chordal__body_unref(hold.parts[0].body);
    return code;
}

static void ask_for(chordal__remote *remote) {
    static const char words[] = CHORDAL__WORDS("the params are larger than the peer takes");
    chordal__consumer *consumer = remote->consumer;
    chordal__reference *reference = remote->reference;
    if (reference->state == CHORDAL_REFERENCE_RETIRED) return; /* for good */
    int code = chordal__consumer_type(consumer, &reference->type, &remote->type);
    if (code == 0) code = take_number(consumer, remote);
    if (code == 0) code = send_hold(remote);
    if (code == CHORDAL_E_SIZE) {
        consumer->numbers[remote->number] = NULL;
        remote->number = -1;
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, code, words, sizeof words - 1);
    } else if (code < 0 && !consumer->link->broken) {
        consumer->link->broken = code;
    }
}

/* Ask for it, in a new session if the peer ended the one before. */
static void ask(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    if (consumer->origin.number)
        ask_for(remote);
    else if (consumer->link->state == CHORDAL_LINK_UP)
        chordal__consumer_open(consumer);
}

/* The hold's number is used again only when the provider confirmed the release; until then an empty remote stands
 * there. */
static void end_remote(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    if (remote->number < 0) {
        free_remote(remote);
        return;
    }
    if (remote->reference) remote->reference->hold = NULL;
    remote->reference = NULL;
    remote->bound = false;
    chordal__list_remove(&remote->hungry);
    chordal__list_remove(&remote->node);
    chordal__send_simple(&consumer->origin, CHORDAL__RELEASE, (uint64_t)remote->number);
}

chordal__remote *chordal__consumer_remote(chordal__consumer *consumer, uint64_t number, int *out_code) {
    chordal__remote *remote = number < consumer->numbers_capacity ? consumer->numbers[number] : NULL;
    *out_code = remote ? 0 : CHORDAL_E_ORDER;
    return remote && remote->reference ? remote : NULL;
}

static int drop_number(chordal__consumer *consumer, uint64_t number) {
    chordal__remote *remote = number < consumer->numbers_capacity ? consumer->numbers[number] : NULL;
    if (!remote || remote->reference) return CHORDAL_E_ORDER;
    consumer->numbers[number] = NULL;
    free_remote(remote);
    return 0;
}

int chordal__consumer_released(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    int code = drop_number(consumer, message->numbers[0]);
    return code < 0 ? chordal__fail(error, code, 0, "released what was not given back") : 0;
}

int chordal__consumer_moved(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    int code;
    uint64_t number = message->numbers[0];
    chordal__remote *remote = chordal__consumer_remote(consumer, number, &code);
    if (code < 0) return chordal__fail(error, code, 0, "moved what is not held");
    if (message->texts[0].len == 0 || consumer->route.len || message->numbers[1] - 1 > 1)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "moved to nowhere");
    if (!remote) return 0;
    if (remote->bound || remote->retired) return chordal__fail(error, CHORDAL_E_ORDER, 0, "moved what was bound");
    chordal__consumer *there = find_consumer(consumer->link, message->texts[0].data, message->texts[0].len,
                                             (uint8_t)message->numbers[1], error);
    if (!there) return CHORDAL_E_NOMEM;
    consumer->numbers[number] = NULL;
    remote->number = -1;
    move_remote(remote, there);
    ask(remote);
    return 0;
}

/* ---- acks ---- */

void chordal__consumer_owes(chordal__consumer *consumer) {
    if (consumer->owing.next == &consumer->owing)
        chordal__list_append(&consumer->runtime->links->owing, &consumer->owing);
}

void chordal__consumer_acks(chordal__consumer *consumer) {
    uint32_t count = consumer->unacked_other;
    consumer->unacked_other = 0;
    if (consumer->blocked == 0) {
        count += consumer->unacked_state;
        consumer->unacked_state = 0;
    }
    if (count && consumer->origin.number) chordal__send_simple(&consumer->origin, CHORDAL__ACK, count);
}

static chordal__remote *new_remote(chordal__consumer *consumer, chordal__reference *reference) {
    chordal__runtime *runtime = consumer->runtime;
    chordal__remote *remote = chordal__allocate_zero(runtime->memory, sizeof *remote);
    if (!remote) return NULL;
    if (chordal__dictionary_init(&remote->dictionary, runtime->memory, CHORDAL__DICTIONARY_LIMIT, runtime->seed) < 0) {
        chordal__release(runtime->memory, remote, sizeof *remote);
        return NULL;
    }
    remote->consumer = consumer;
    remote->reference = reference;
    remote->number = -1;
    chordal__list_init(&remote->hungry);
    chordal__list_append(&consumer->remotes, &remote->node);
    return remote;
}

/* ---- what a reference asks of its source ---- */

static void source_release(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    reference->source = NULL;
    if (remote) end_remote(remote);
}

static void source_send(chordal__reference *reference) {
    if (remote_of(reference)) chordal__consumer_send_calls(remote_of(reference));
}

/* Give the hold back and ask for it anew under another number. */
static void replace(chordal__remote *remote, chordal__remote *fresh) {
    end_remote(remote);
    fresh->reference->hold = fresh;
    ask(fresh);
}

static int source_retry(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    if (!remote) return CHORDAL_E_DOWN;
    chordal__remote *fresh = new_remote(remote->consumer, reference);
    if (!fresh) return CHORDAL_E_NOMEM;
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_PENDING, 0, NULL, 0);
    replace(remote, fresh);
    return 0;
}

static void source_reset(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    if (!remote || !remote->bound) return; /* whole values come anyway */
    chordal__link *link = remote->consumer->link;
    chordal__remote *fresh = new_remote(remote->consumer, reference);
    if (fresh)
        replace(remote, fresh);
    else if (!link->broken)
        link->broken = CHORDAL_E_NOMEM;
}

static void source_blocked(chordal__reference *reference, int change) {
    chordal__remote *remote = remote_of(reference);
    if (!remote) return;
    remote->consumer->blocked += change;
    if (remote->consumer->blocked == 0) chordal__consumer_owes(remote->consumer);
}

static const chordal__source_functions remote_source = {
    source_release, source_send,   chordal__consumer_cancel, chordal__consumer_forget, source_retry,
    source_reset,   source_blocked};

int chordal__remote_attach(chordal__reference *reference, chordal__link *link, chordal_error *error) {
    if (link->state == CHORDAL_LINK_CLOSED) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the link is closed");
    chordal__consumer *consumer = find_consumer(link, "", 0, CHORDAL__ENCODING_BINARY, error);
    if (!consumer) return CHORDAL_E_NOMEM;
    chordal__remote *remote = new_remote(consumer, reference);
    if (!remote) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a reference");
    reference->hold = remote;
    reference->source = &remote_source;
    ask(remote);
    return 0;
}
