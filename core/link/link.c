/* link.c: a link from its opening to its end, over all its transports. */
#include "link/link.h"

bool chordal__link_deflates(const chordal__link *link) {
    uint8_t deflate = link->runtime->settings.deflate;
    return deflate == CHORDAL_DEFLATE_ALWAYS || (!deflate && link->flags & CHORDAL_LINK_DEFLATE);
}

int chordal__link_open(chordal__links *links, uint32_t flags, chordal__link **out, chordal_error *error) {
    chordal__runtime *runtime = links->runtime;
    chordal__link *link = chordal__allocate_zero(runtime->memory, sizeof *link);
    if (!link) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a link");
    link->links = links;
    link->runtime = runtime;
    link->flags = flags;
    link->state = flags & CHORDAL_LINK_CONNECT ? CHORDAL_LINK_DIAL : CHORDAL_LINK_WAIT;
    link->due.kind = CHORDAL__DUE_LINK;
    link->drained_by.kind = CHORDAL__DUE_DRAIN;
    link->ended_mark = (chordal__origin){.link = link, .role = CHORDAL__ROLE_ENDED};
    chordal__event_init(&link->event, CHORDAL__TELL_LINK);
    chordal__event_init(&link->output, CHORDAL__TELL_OUTPUT);
    chordal__event_init(&link->admission, CHORDAL__TELL_ADMISSION);
    chordal__list_init(&link->queue);
    chordal__list_init(&link->consumers);
    chordal__list_init(&link->providers);
    chordal__list_init(&link->held);
    chordal__list_init(&link->failing_node);
    chordal__list_init(&link->offered);
    chordal__placement_link_init(link);
    chordal__list_append(&links->all, &link->node);
    link->id = chordal__id_new(&runtime->ids, CHORDAL__ID_LINK, link, true);
    if (!link->id) {
        chordal__link_free(link);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a link");
    }
    if (flags & CHORDAL_LINK_CONNECT) chordal__tell(runtime, &link->event);
    *out = link;
    return 0;
}

static void set_state(chordal__link *link, uint8_t state, int code, const char *detail) {
    link->state = state;
    chordal__reason_set(link->runtime->memory, &link->reason, code, NULL, 0, detail, detail ? strlen(detail) : 0);
    chordal__tell(link->runtime, &link->event);
}

static void set_due(chordal__link *link, chordal_time span) {
    chordal__heap *deadlines = &link->runtime->deadlines;
    if (span >= CHORDAL_NEVER)
        chordal__heap_remove(deadlines, &link->due);
    else if (chordal__heap_set(deadlines, &link->due, link->runtime->now + span) == 0)
        return;
    else if (link->state == CHORDAL_LINK_WAIT)
        set_state(link, CHORDAL_LINK_DIAL, 0, NULL); /* rather too early than never */
    else if (link->state != CHORDAL_LINK_DIAL)       /* whose end the edge tells, if not the time */
        chordal__link_break(link, CHORDAL_E_NOMEM);
}

/* ---- transports ---- */

void chordal__link_break(chordal__link *link, int code) {
    if (link->failing) return;
    link->failing = code;
    chordal__list_append(&link->links->failing, &link->failing_node);
}

static void mend(chordal__link *link) {
    link->failing = 0;
    chordal__list_remove(&link->failing_node);
}

int chordal__link_up(chordal__link *link, uint32_t codec, chordal_error *error) {
    chordal__runtime *runtime = link->runtime;
    if (codec != CHORDAL_CODEC_BINARY && codec != CHORDAL_CODEC_TEXT)
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "no such codec");
    if (link->transport || link->state == CHORDAL_LINK_CLOSED)
        return chordal__fail(error, CHORDAL_E_STATE, 0, "the link has a transport or is closed");
    chordal__link_drop_queue(link);
    int code = chordal__codec_init(&link->codec, runtime->memory, (uint8_t)codec, runtime->settings.limits.size,
                                   runtime->settings.limits.depth);
    if (code < 0) return chordal__fail(error, code, 0, "no memory for a codec");
    link->codec_kind = (uint8_t)codec;
    link->transport = true;
    link->bye_sent = link->peer_newer = false;
    link->hearing = CHORDAL__HEARD_FRAME;
    link->heard_at = runtime->now;
    mend(link);
    link->version = 0;
    set_state(link, CHORDAL_LINK_OPENING, 0, NULL);
    set_due(link, runtime->settings.handshake_timeout);
    if (link->flags & CHORDAL_LINK_CONNECT) chordal__handshake_hello(link);
    return 0;
}

void chordal__link_ready(chordal__link *link) {
    link->runtime->counters.reconnects += link->was_up;
    link->was_up = true;
    link->up_at = link->runtime->now;
    set_state(link, CHORDAL_LINK_UP, 0, NULL);
    set_due(link, link->runtime->settings.ping_interval);
    if (link->flags & CHORDAL_LINK_OFFER) chordal__offer_types(link);
    chordal__list *node = link->consumers.next;
    while (node != &link->consumers) {
        chordal__consumer *consumer = CHORDAL__ENTRY(node, chordal__consumer, node);
        node = node->next;
        chordal__consumer_open(consumer);
    }
    chordal__placement_link_up(link);
}

static void drop_origin(chordal__link *link, chordal__origin *origin, size_t number, bool returns) {
    chordal__provider *provider;
    switch (origin->role) {
    case CHORDAL__ROLE_PROVIDER:
        provider = CHORDAL__ENTRY(origin, chordal__provider, origin);
        if (returns)
            chordal__provider_lost(provider, false);
        else
            chordal__provider_end(provider, false);
        break;
    case CHORDAL__ROLE_FORWARD:
        if (CHORDAL__FORWARDS) chordal__forward_cut(CHORDAL__ENTRY(origin, chordal__forward, origin), returns);
        break;
    case CHORDAL__ROLE_ENDED:
        link->origins[number] = NULL;
        break;
    default:
        break; /* consumers come back: see below */
    }
}

/* Everything that lived on the transport. With `returns` sessions may come back over another one. */
static void drop_sessions(chordal__link *link, bool returns) {
    for (size_t i = 0; i < link->origins_capacity; i++)
        if (link->origins[i]) drop_origin(link, link->origins[i], i, returns);
    chordal__list *node = link->consumers.next;
    while (node != &link->consumers) {
        chordal__consumer *consumer = CHORDAL__ENTRY(node, chordal__consumer, node);
        node = node->next;
        chordal__consumer_down(consumer, returns);
    }
    if (CHORDAL__FORWARDS) chordal__routes_drop(link);
}

chordal_time chordal__backoff(const chordal__settings *settings, uint32_t attempts) {
    chordal_time span = settings->backoff_first;
    while (attempts-- && span < settings->backoff_limit) span *= 2;
    return span < settings->backoff_limit ? span : settings->backoff_limit;
}

/* For good: what it carried fails. */
static void close_for_good(chordal__link *link, int code, const char *detail) {
    chordal__heap_remove(&link->runtime->deadlines, &link->due);
    chordal__drain_end(link);
    set_state(link, CHORDAL_LINK_CLOSED, code, detail);
    while (!chordal__list_empty(&link->consumers))
        chordal__consumer_free(CHORDAL__ENTRY(link->consumers.next, chordal__consumer, node));
    chordal__placement_link_closed(link);
}

/* Doubled each time with a limit, and a random half of it, so that many do not come back at once. */
static chordal_time backoff(chordal__link *link) {
    const chordal__settings *settings = &link->runtime->settings;
    uint8_t random = 0;
    chordal_time span = chordal__backoff(settings, link->attempts);
    (void)settings->entropy(settings->entropy_context, &random, 1);
    return span / 2 + span * random / 512;
}

/* A transport that broke is replaced and its sessions come back; not so after a fault of the peer or a farewell. */
static bool is_mere_loss(int code) {
    return code == CHORDAL_E_LOST || code == CHORDAL_E_TIMEOUT || code == CHORDAL_E_LIMIT || code == CHORDAL_E_NOMEM;
}

/* Dial again after a while. */
static void wait_for_next(chordal__link *link, int code, const char *detail) {
    set_state(link, CHORDAL_LINK_WAIT, code, detail);
    set_due(link, backoff(link));
    link->attempts++;
}

static void transport_ended(chordal__link *link, int code, const char *detail, bool for_good) {
    if (!link->transport) return;
    link->transport = false;
    if (CHORDAL__AUTHORITY) chordal__admission_drop(link);
    drop_sessions(link, is_mere_loss(code));
    chordal__codec_dispose(&link->codec);
    if (!(link->flags & CHORDAL_LINK_CONNECT) || for_good) {
        close_for_good(link, code, detail);
        return;
    }
    chordal_time wait = chordal__backoff(&link->runtime->settings, link->attempts);
    if (link->state == CHORDAL_LINK_UP && link->runtime->now - link->up_at >= wait * CHORDAL__WORKED)
        link->attempts = 0;
    wait_for_next(link, code, detail);
}

void chordal__link_down(chordal__link *link, int code, const char *detail) {
    chordal__link_drop_queue(link);
    if (link->state == CHORDAL_LINK_DIAL)
        wait_for_next(link, code, detail); /* what was asked for did not come */
    else
        transport_ended(link, code, detail, false);
}

static bool is_final(int code) {
    return code == CHORDAL_E_VERSION || code == CHORDAL_E_REFUSED || code == CHORDAL_E_BYE;
}

static void say_bye(chordal__link *link, int code, const char *detail) {
    const char *name = chordal_error_name(code);
    chordal__origin none = {.link = link};
    mend(link);
    if (detail) chordal__send_text(&none, CHORDAL__BYE, 0, name, strlen(name), detail, strlen(detail));
    link->bye_sent = true;
}

void chordal__link_fail(chordal__link *link, int code, const char *detail) {
    if (code == CHORDAL_E_NOMEM || code == CHORDAL_E_LIMIT || code == CHORDAL_E_TIMEOUT)
        chordal__link_drop_waiting(link);
    if (link->transport) say_bye(link, code, detail);
    transport_ended(link, code, detail, is_final(code));
}

void chordal__link_peer_left(chordal__link *link, int code, const char *detail) {
    transport_ended(link, code, detail, code == CHORDAL_E_VERSION || code == CHORDAL_E_REFUSED);
}

/* What only passes through is as if this host were killed. */
static void leave_forwards(chordal__link *link) {
    for (size_t i = 0; i < link->origins_capacity; i++) {
        chordal__origin *origin = link->origins[i];
        if (origin && origin->role == CHORDAL__ROLE_FORWARD)
            chordal__forward_leave(CHORDAL__ENTRY(origin, chordal__forward, origin));
    }
}

void chordal__link_close(chordal__link *link) {
    if (link->state == CHORDAL_LINK_CLOSED) return;
    if (link->transport) {
        if (CHORDAL__ACKS_WAIT) chordal__link_acks(link);
        if (CHORDAL__FORWARDS && link->leaves) leave_forwards(link);
        bool told = !(CHORDAL__FORWARDS && link->leaves && link->failing); /* else it is a mere loss to the peer */
        say_bye(link, told ? CHORDAL_E_BYE : link->failing, "closed");
        transport_ended(link, 0, NULL, true);
        return;
    }
    close_for_good(link, 0, NULL);
}

void chordal__link_retry(chordal__link *link) {
    if (link->state != CHORDAL_LINK_WAIT || !(link->flags & CHORDAL_LINK_CONNECT)) return;
    chordal__heap_remove(&link->runtime->deadlines, &link->due);
    set_state(link, CHORDAL_LINK_DIAL, 0, NULL);
}

/* Whoever sends a frame that takes long hears no answer before its end, and would ask in vain: so who gets it in pieces
 * says something from time to time. */
static void ping_or_give_up(chordal__link *link) {
    const chordal__settings *settings = &link->runtime->settings;
    chordal__origin none = {.link = link};
    chordal_time silent = link->runtime->now - link->heard_at;
    bool asks = silent >= settings->ping_interval, says = !CHORDAL__SMALL && link->hearing == CHORDAL__HEARD_PIECE;
    if (link->hearing == CHORDAL__HEARD_NOTHING) {
        chordal__link_fail(link, CHORDAL_E_TIMEOUT, CHORDAL__WORDS("the peer is silent"));
        return;
    }
    link->hearing = asks ? CHORDAL__HEARD_NOTHING : CHORDAL__HEARD_FRAME;
    if (asks || says) chordal__send_simple(&none, CHORDAL__PING, 0);
    set_due(link, asks ? settings->ping_timeout : settings->ping_interval - silent);
}

void chordal__link_progress(chordal__link *link) {
    if (!link->transport) return;
    link->heard_at = link->runtime->now;
    link->hearing = CHORDAL__HEARD_PIECE;
}

/* The span of a dial begins when it is asked for, not when that waits to be told. */
void chordal__link_told(chordal__link *link) {
    if (link->state == CHORDAL_LINK_DIAL && !(link->flags & CHORDAL_LINK_PATIENT))
        set_due(link, link->runtime->settings.dial_timeout);
}

void chordal__link_due(chordal__link *link) {
    switch (link->state) {
    case CHORDAL_LINK_WAIT:
        chordal__link_retry(link);
        break;
    case CHORDAL_LINK_DIAL:
        chordal__link_down(link, CHORDAL_E_TIMEOUT, CHORDAL__WORDS("no transport in time"));
        break;
    case CHORDAL_LINK_OPENING:
        chordal__link_fail(link, CHORDAL_E_TIMEOUT, CHORDAL__WORDS("no answer to the handshake"));
        break;
    case CHORDAL_LINK_UP:
        ping_or_give_up(link);
        break;
    default:
        break;
    }
}

void chordal__link_free(chordal__link *link) {
    chordal__runtime *runtime = link->runtime;
    link->flags &= ~(uint32_t)CHORDAL_LINK_CONNECT;
    if (CHORDAL__FORWARDS) leave_forwards(link);
    transport_ended(link, CHORDAL_E_CLOSED, NULL, true);
    if (link->state != CHORDAL_LINK_CLOSED) close_for_good(link, CHORDAL_E_CLOSED, NULL);
    chordal__link_drop_queue(link);
    chordal__list_remove(&link->node);
    chordal__list_remove(&link->failing_node);
    chordal__untell(&link->event);
    chordal__untell(&link->output);
    chordal__reason_clear(runtime->memory, &link->reason);
    chordal__body_unref(link->credentials);
    if (CHORDAL__AUTHORITY) chordal__authority_unref(link->authority);
    chordal__body_unref(link->revoked);
    chordal__release(runtime->memory, link->origins, link->origins_capacity * sizeof *link->origins);
    if (link->id) chordal__id_leave(&runtime->ids, link->id);
    chordal__release(runtime->memory, link, sizeof *link);
}
