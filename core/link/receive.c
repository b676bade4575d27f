/* receive.c: what a message does, by its kind and by the role of its origin. */
#include "link/link.h"

typedef int (*provider_function)(chordal__provider *, const chordal__message *, chordal_error *);
typedef int (*consumer_function)(chordal__consumer *, const chordal__message *, chordal_error *);

static const provider_function to_provider[CHORDAL__MESSAGE_END] = {
    [CHORDAL__HOLD] = chordal__provider_hold,   [CHORDAL__RELEASE] = chordal__provider_release,
    [CHORDAL__RETRY] = chordal__provider_retry, [CHORDAL__ACK] = chordal__provider_ack,
    [CHORDAL__CALL] = chordal__provider_call,   [CHORDAL__CANCEL] = chordal__provider_cancel,
};

static const consumer_function to_consumer[CHORDAL__MESSAGE_END] = {
    [CHORDAL__OPENED] = chordal__consumer_opened,  [CHORDAL__BACK] = chordal__consumer_back,
    [CHORDAL__BOUND] = chordal__consumer_bound,    [CHORDAL__MOVED] = chordal__consumer_moved,
    [CHORDAL__FAILED] = chordal__consumer_failed,  [CHORDAL__RETIRED] = chordal__consumer_retired,
    [CHORDAL__REVOKED] = chordal__consumer_failed, [CHORDAL__RELEASED] = chordal__consumer_released,
    [CHORDAL__STATE] = chordal__consumer_state,    [CHORDAL__RESULT] = chordal__consumer_outcome,
    [CHORDAL__ERROR] = chordal__consumer_outcome,
};

static int out_of_order(const chordal__message *message, chordal_error *error) {
    char words[64] = "not allowed here: ";
    const char *word = chordal__message_word(message->kind);
    size_t at = strlen(words), len = strlen(word);
    memcpy(words + at, word, len < 32 ? len + 1 : 0);
    return chordal__fail(error, CHORDAL_E_ORDER, 0, words);
}

static int not_asked(chordal_error *error) {
    return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "a deflated part in a session without");
}

/* The peer says bye: the reason becomes the link's, cut where a character begins. */
static int receive_bye(chordal__link *link, const chordal__message *message) {
    char words[CHORDAL__REFUSAL_BYTES + 1];
    size_t len = message->texts[1].len;
    if (len > CHORDAL__REFUSAL_BYTES)
        for (len = CHORDAL__REFUSAL_BYTES; (message->texts[1].data[len] & 0xc0) == 0x80 && len;) len--;
    if (len) memcpy(words, message->texts[1].data, len);
    words[len] = 0;
    int code = chordal__error_code((const char *)message->texts[0].data, message->texts[0].len);
    link->bye_sent = true; /* nothing follows, not even an answer */
    chordal__link_drop_waiting(link);
    chordal__link_peer_left(link, code ? code : CHORDAL_E_BYE, words);
    return 0;
}

static int receive_of_link(chordal__link *link, const chordal__message *message, chordal_error *error) {
    chordal__origin none = {.link = link};
    int code;
    switch (message->kind) {
    case CHORDAL__PING:
        chordal__send_simple(&none, CHORDAL__PONG, message->numbers[0]);
        if (CHORDAL__ACKS_WAIT) chordal__link_wants_acks(link);
        return 0;
    case CHORDAL__PONG:
        return 0;
    case CHORDAL__OFFER:
        if (!CHORDAL__FORWARDS) return 0;
        code = chordal__route_offer(link, message->texts[0].data, message->texts[0].len);
        return code < 0 ? chordal__fail(error, code, 0, "a type that cannot be offered") : 0;
    default:
        return out_of_order(message, error);
    }
}

static int admit_session(chordal__link *link, chordal__message *message, chordal__authority *authority,
                         chordal_error *error) {
    const chordal__body *revoked = CHORDAL__AUTHORITY ? chordal__revocation_of(link, message->ids[0]) : NULL;
    if (revoked) return chordal__refuse_session(link, message->origin, CHORDAL_E_REVOKED, revoked, error);
    if (message->texts[0].len && !CHORDAL__FORWARDS)
        return chordal__refuse_session(link, message->origin, CHORDAL_E_NO_ROUTE, NULL, error);
    if (message->texts[0].len) return chordal__forward_open(link, message, authority, error);
    if (link->flags & CHORDAL_LINK_NO_SERVE)
        return chordal__refuse_session(link, message->origin, CHORDAL_E_REFUSED, NULL, error);
    return chordal__provider_open(link, message, authority, error);
}

static int open_origin(chordal__link *link, chordal__message *message, chordal_error *error) {
    bool odd = message->origin & 1, peer_connects = !(link->flags & CHORDAL_LINK_CONNECT);
    if (message->numbers[0] != message->origin)
        return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "an origin under another number");
    if (odd != peer_connects) return chordal__fail(error, CHORDAL_E_ORDER, 0, "a number of the other side");
    if (message->numbers[2] & ~(uint64_t)CHORDAL__ORIGIN_DEFLATED)
        return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "an unknown option of a session");
    if (message->numbers[1] != CHORDAL__ENCODING_BINARY && message->numbers[1] != CHORDAL__ENCODING_JSON)
        return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "no such part encoding");
    if (link->codec_kind == CHORDAL_CODEC_TEXT && message->numbers[1] != CHORDAL__ENCODING_JSON)
        return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "a text link takes JSON parts");
    chordal__authority *authority = NULL;
    int code = CHORDAL__AUTHORITY ? chordal__session_authority(link, message, &authority, error) : 0;
    if (code < 0) return code;
    code = admit_session(link, message, authority, error);
    if (CHORDAL__AUTHORITY) chordal__authority_unref(authority);
    return code;
}

/* Another end closed the session, or a host in the middle lost its way. */
static int receive_ended(chordal__origin *origin, const chordal__message *message) {
    chordal__origin copy = *origin;
    bool lost = message->kind == CHORDAL__LOST;
    switch (origin->role) {
    case CHORDAL__ROLE_PROVIDER:
        chordal__send_ended(&copy, 0, NULL, 0);
        if (lost)
            chordal__provider_lost(CHORDAL__ENTRY(origin, chordal__provider, origin), false);
        else
            chordal__provider_end(CHORDAL__ENTRY(origin, chordal__provider, origin), false);
        return 0;
    case CHORDAL__ROLE_FORWARD:
        chordal__send_ended(&copy, 0, NULL, 0);
        if (CHORDAL__FORWARDS) chordal__forward_end(CHORDAL__ENTRY(origin, chordal__forward, origin), message);
        return 0;
    default:
        chordal__consumer_ended(CHORDAL__ENTRY(origin, chordal__consumer, origin), message);
        return 0;
    }
}

/* A session begins with `opened` or `back`, and a cut that goes on is not left before its end. */
static bool belongs(const chordal__consumer *consumer, uint8_t kind) {
    if (!to_consumer[kind]) return false;
    if (consumer->opened == (kind == CHORDAL__OPENED || kind == CHORDAL__BACK)) return false;
    return !consumer->in_cut || kind == CHORDAL__STATE;
}

static int receive_of_consumer(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    bool asked = consumer->deflated || !message->deflated;
    bool tears = message->kind == CHORDAL__STATE || message->kind == CHORDAL__BOUND;
    int code = !belongs(consumer, message->kind) ? out_of_order(message, error)
               : !asked                          ? not_asked(error)
                                                 : to_consumer[message->kind](consumer, message, error);
    if (code < 0 && tears) consumer->torn = true;
    if (code >= 0 || code == CHORDAL_E_NOMEM || !consumer->route.len) return code;
    chordal__consumer_fault(consumer);
    return 0;
}

/* Who is behind a neighbour cannot be told from it: what a session says ends the session, not the link. */
static int receive_of_provider(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    bool asked = provider->deflated || !message->deflated;
    int code = !to_provider[message->kind] ? out_of_order(message, error)
               : !asked                    ? not_asked(error)
                                           : to_provider[message->kind](provider, message, error);
    if (code >= 0 || code == CHORDAL_E_NOMEM) return code;
    chordal__send_ended(&provider->origin, code, error->detail, strlen(error->detail));
    chordal__provider_end(provider, true);
    return 0;
}

static bool comes_from_consumer(chordal__origin *origin) {
    if (CHORDAL__FORWARDS && origin->role == CHORDAL__ROLE_FORWARD)
        return !CHORDAL__ENTRY(origin, chordal__forward, origin)->to_provider;
    return origin->role == CHORDAL__ROLE_PROVIDER;
}

static int receive_of_origin(chordal__link *link, chordal__message *message, chordal_error *error) {
    chordal__origin *origin = chordal__origin_get(link, message->origin);
    if (!origin)
        return message->kind == CHORDAL__ORIGIN ? open_origin(link, message, error) : out_of_order(message, error);
    bool ends = message->kind == CHORDAL__ENDED || message->kind == CHORDAL__LOST;
    if (ends && origin->role == CHORDAL__ROLE_ENDED) {
        chordal__origin_confirmed(link, message->origin);
        return 0;
    }
    bool lost = message->kind == CHORDAL__LOST && comes_from_consumer(origin);
    if (origin->role != CHORDAL__ROLE_ENDED && (lost || message->kind == CHORDAL__ENDED))
        return receive_ended(origin, message);
    if (message->kind == CHORDAL__ORIGIN) return out_of_order(message, error);
    switch (origin->role) {
    case CHORDAL__ROLE_ENDED:
        return 0; /* crossed with the end on its way */
    case CHORDAL__ROLE_FORWARD:
        if (CHORDAL__FORWARDS) chordal__forward_message(CHORDAL__ENTRY(origin, chordal__forward, origin), message);
        return 0;
    case CHORDAL__ROLE_PROVIDER:
        return receive_of_provider(CHORDAL__ENTRY(origin, chordal__provider, origin), message, error);
    default:
        return receive_of_consumer(CHORDAL__ENTRY(origin, chordal__consumer, origin), message, error);
    }
}

static int receive(chordal__link *link, chordal__message *message, chordal_error *error) {
    if (message->kind == CHORDAL__BYE) return receive_bye(link, message);
    if (link->state == CHORDAL_LINK_OPENING) return chordal__handshake_receive(link, message, error);
    if (message->texts[0].len > CHORDAL__TEXT_LIMIT || message->texts[1].len > CHORDAL__TEXT_LIMIT)
        return chordal__fail(error, CHORDAL_E_TOO_LARGE, 0, "a text beyond its limit");
    if (message->unknown)
        return link->peer_newer ? 0 : chordal__fail(error, CHORDAL_E_MALFORMED, 0, "an unknown kind of message");
    if (message->origin == 0) return receive_of_link(link, message, error);
    return receive_of_origin(link, message, error);
}

int chordal__link_feed(chordal__link *link, uint32_t frame, const uint8_t *data, size_t len, chordal_error *error) {
    chordal__message message;
    chordal_error own;
    if (!error) error = &own;
    own.detail[0] = 0;
    if (!link->transport) return chordal__fail(error, CHORDAL_E_STATE, 0, "the link has no transport");
    link->heard_at = link->runtime->now;
    link->hearing = CHORDAL__HEARD_FRAME;
    link->runtime->counters.bytes_in += len;
    int code = chordal__codec_decode(&link->codec, frame, data, len, &message, error);
    if (code > 0) {
        link->runtime->counters.messages_in++;
        chordal__parts_begin(link->links);
        code = receive(link, &message, error);
        chordal__parts_end(link->links);
    }
    if (code < 0) chordal__link_fail(link, code, error->detail);
    return code < 0 ? code : 0;
}
