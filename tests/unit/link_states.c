/* Every kind of message in every state of a link, in both codecs: what does not belong ends the link with a stable
 * code, told to the peer and to the program; the host and its other links go on, and nothing is kept. */
#include "fuzz/peer.h"

typedef struct world {
    test_host h;
    raw_peer peer, witness;
    chordal_id reference, call;
    uint32_t codec;
} world;

static void turn(world *w) {
    test_poll(&w->h);
    peer_hear(&w->peer);
    peer_hear(&w->witness);
}

static void open_world(world *w, uint32_t codec, uint32_t flags, chordal_host_options options) {
    memset(w, 0, sizeof *w);
    w->codec = codec;
    test_host_open(&w->h, options);
    if (!(flags & CHORDAL_LINK_CONNECT)) provide(&w->h, NOTES);
    peer_open(&w->peer, &w->h, flags, codec);
    peer_open(&w->witness, &w->h, 0, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(&w->witness), 0);
    turn(w);
}

/* The other link answers; the link is given back; nothing is left of it. */
static void close_world(world *w) {
    CHECK_INT(say_number(&w->witness, CHORDAL__PING, 0, 77), 0);
    turn(w);
    CHECK_INT(w->witness.numbers[CHORDAL__PONG], 77);
    chordal_release(w->h.host, w->reference);
    chordal_release(w->h.host, w->call);
    for (size_t i = 0; i < w->h.len; i++)
        if (w->h.events[i].kind == CHORDAL_EVENT_CALL) chordal_release(w->h.host, w->h.events[i].as.call.call);
    peer_close(&w->peer);
    w->h.now += 60000; /* what was lost lapses */
    test_poll(&w->h);
    chordal_counters counters = test_counters(&w->h);
    CHECK_INT(counters.live_sessions, 0);
    CHECK_INT(counters.live_objects, 0);
    peer_close(&w->witness);
    test_poll(&w->h);
    CHECK(test_counters(&w->h).live_ids <= 1); /* the type */
    test_host_close(&w->h);
}

/* ---- the tables: a letter for each state ---- */

static int code_of(char letter) {
    switch (letter) {
    case 'o':
        return CHORDAL_E_ORDER;
    case 'u':
        return CHORDAL_E_UNSUPPORTED;
    case 's':
        return CHORDAL_E_STATE;
    default:
        return 0;
    }
}

typedef int (*saying)(raw_peer *p);
typedef struct row {
    const char *name;
    saying say;
    const char *expected;
} table_row;

#define SAY(name, expression)                                                                                          \
    static int name(raw_peer *p) {                                                                                     \
        return expression;                                                                                             \
    }
static int hello(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__HELLO, 0);
    m.numbers[0] = m.numbers[1] = 1;
    m.numbers[2] = 1 << 20;
    return peer_say(p, &m);
}
static int welcome(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__WELCOME, 0);
    m.numbers[0] = 1;
    m.numbers[1] = 1 << 20;
    return peer_say(p, &m);
}
static int moved(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__MOVED, 1);
    m.numbers[1] = p->encoding;
    set_text(&m, 0, "elsewhere");
    return peer_say(p, &m);
}
SAY(origin, say_origin(p, 1, ""))
SAY(origin_even, say_origin(p, 2, ""))
SAY(opened, say_number(p, CHORDAL__OPENED, 1, 0))
SAY(lost, say_number(p, CHORDAL__LOST, 1, 0))
SAY(ended, say_number(p, CHORDAL__ENDED, 1, 0))
SAY(hold, say_hold(p, 1, 0, "notes"))
SAY(bound, say_bound(p, 1, 0, p->heard[0] == 0))
SAY(failed, say_texts(p, CHORDAL__FAILED, 1, 0, "no_type", ""))
SAY(retired, say_number(p, CHORDAL__RETIRED, 1, 0))
SAY(revoked, say_texts(p, CHORDAL__REVOKED, 1, 0, "", ""))
SAY(release, say_number(p, CHORDAL__RELEASE, 1, 0))
SAY(released, say_number(p, CHORDAL__RELEASED, 1, 0))
SAY(state, say_title(p, 1, 0, 'a', 0))
SAY(state_more, say_title(p, 1, 0, 'b', CHORDAL__FLAG_MORE))
SAY(state_durable, say_title(p, 1, 0, 'c', CHORDAL__FLAG_DURABLE))
SAY(ack, say_number(p, CHORDAL__ACK, 1, 1))
SAY(method_call, say_call(p, 1, 0, 0, NOTES_ADD))
SAY(result, say_result(p, 1, 0))
SAY(fault, say_texts(p, CHORDAL__ERROR, 1, 0, "method:own", "words"))
SAY(cancel, say_number(p, CHORDAL__CANCEL, 1, 0))
SAY(retry, say_number(p, CHORDAL__RETRY, 1, 0))
SAY(ping, say_number(p, CHORDAL__PING, 0, 5))
SAY(pong, say_number(p, CHORDAL__PONG, 0, 5))
SAY(bye, say_texts(p, CHORDAL__BYE, 0, 0, "bye", "so long"))
SAY(back, say_number(p, CHORDAL__BACK, 1, 0))
SAY(offer, say_texts(p, CHORDAL__OFFER, 0, 0, "things", ""))

static int say_bound_how(raw_peer *p, uint64_t how) {
    chordal__message m = peer_message(p, CHORDAL__BOUND, 1);
    m.numbers[1] = 1;
    m.numbers[2] = how;
    return peer_say(p, &m);
}
SAY(bound_gap, say_bound_how(p, CHORDAL__BOUND_GAP))
SAY(bound_unchanged, say_bound_how(p, CHORDAL__BOUND_UNCHANGED))
SAY(bound_otherwise, say_bound_how(p, 3))

static int say_encoded_origin(raw_peer *p, uint64_t encoding, const char *route) {
    chordal__message m = peer_message(p, CHORDAL__ORIGIN, 3);
    m.numbers[0] = 3;
    m.numbers[1] = encoding;
    set_text(&m, 0, route);
    return peer_say(p, &m);
}
static int say_other_origin(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__ORIGIN, 3);
    m.numbers[0] = 5;
    m.numbers[1] = p->encoding;
    return peer_say(p, &m);
}
static int say_optional_origin(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__ORIGIN, 3);
    m.numbers[0] = 3;
    m.numbers[1] = p->encoding;
    m.numbers[2] = 2;
    return peer_say(p, &m);
}
static int say_long_text(raw_peer *p) {
    static char text[CHORDAL__TEXT_LIMIT + 2];
    memset(text, 'x', CHORDAL__TEXT_LIMIT + 1);
    return say_hold(p, 1, 1, text);
}
static int say_endless_cut(raw_peer *p) {
    for (int i = 0; i < 10000 && say_title(p, 1, 0, 'x', CHORDAL__FLAG_MORE) == 0; i++) {
    }
    return p->code;
}
static int say_far_cuts(raw_peer *p) {
    chordal__message m = peer_message(p, CHORDAL__STATE, 1);
    m.numbers[0] = CHORDAL_NEVER;
    (void)peer_say(p, &m);
    return p->code ? p->code : peer_say(p, &m);
}

/* . taken, o order, u unsupported, e the session ends with order, b the link ends as it should, s it has ended before
 */
static const table_row to_provider[] = {
    /*                                opening up session held revoked failed called answered released ended left */
    {"hello", hello, ".ooooooooos"},
    {"welcome", welcome, "oooooooooos"},
    {"origin", origin, "o.ooooooo.s"},
    {"origin_even", origin_even, "oooooooooos"},
    {"opened", opened, "ooeeeeeeeos"},
    {"lost", lost, "oo.......os"},
    {"ended", ended, "oo.......os"},
    {"hold", hold, "oo.eeeee.os"},
    {"bound", bound, "ooeeeeeeeos"},
    {"moved", moved, "ooeeeeeeeos"},
    {"failed", failed, "ooeeeeeeeos"},
    {"retired", retired, "ooeeeeeeeos"},
    {"revoked", revoked, "ooeeeeeeeos"},
    {"release", release, "ooe.....eos"},
    {"released", released, "ooeeeeeeeos"},
    {"s", state, "ooeeeeeeeos"},
    {"s+", state_more, "ooeeeeeeeos"},
    {"s!", state_durable, "ooeeeeeeeos"},
    {"a", ack, "ooe..e...os"},
    {"c", method_call, "ooe..ee.eos"},
    {"r", result, "ooeeeeeeeos"},
    {"e", fault, "ooeeeeeeeos"},
    {"x", cancel, "oo.......os"},
    {"retry", retry, "ooee..eeeos"},
    {"ping", ping, "o.........s"},
    {"pong", pong, "o.........s"},
    {"bye", bye, "bbbbbbbbbbs"},
    {"offer", offer, "o.........s"},
    {"back", back, "ooeeeeeeeos"},
};
enum { OPENING, UP, SESSION, HELD, TAKEN, FAILED, CALLED, ANSWERED, GIVEN_BACK, ENDED, LEFT, PROVIDER_STATES };

static const table_row to_consumer[] = {
    /*                      opening up asked opened bound in_cut called failed retired revoked released confirmed ended
       left */
    {"hello", hello, "ooooooooooooos"},
    {"welcome", welcome, ".oooooooooooos"},
    {"origin", origin, "ooooooooooooos"},
    {"origin_even", origin_even, "o............s"},
    {"opened", opened, "oo.oooooooooos"},
    {"lost", lost, "ooooooooooooos"},
    {"ended", ended, "oo..........os"},
    {"hold", hold, "ooooooooooooos"},
    {"bound", bound, "ooo..o..o..oos"},
    {"bound, a gap", bound_gap, "ooouuouuuuuoos"},
    {"bound, unchanged", bound_unchanged, "ooouuouuuuuoos"},
    {"bound, otherwise", bound_otherwise, "ooouuouuuuuoos"},
    {"moved", moved, "ooo.ooo.o..oos"},
    {"failed", failed, "ooo..o..o..oos"},
    {"retired", retired, "ooo..o.....oos"},
    {"revoked", revoked, "ooo..o..o..oos"},
    {"release", release, "ooooooooooooos"},
    {"released", released, "oooooooooo.oos"},
    {"s", state, "oooo...oo..oos"},
    {"s+", state_more, "oooo...oo..oos"},
    {"s!", state_durable, "oooo...oo..oos"},
    {"a", ack, "ooooooooooooos"},
    {"c", method_call, "ooooooooooooos"},
    {"r", result, "oooooo.oooooos"},
    {"e", fault, "oooooo.oooooos"},
    {"x", cancel, "ooooooooooooos"},
    {"retry", retry, "ooooooooooooos"},
    {"ping", ping, "o............s"},
    {"pong", pong, "o............s"},
    {"bye", bye, "bbbbbbbbbbbbbs"},
    {"offer", offer, "o............s"},
    {"back", back, "ooooooooooooos"},
};
enum {
    C_OPENING,
    C_UP,
    C_ASKED,
    C_OPENED,
    C_BOUND,
    C_CUT,
    C_CALLED,
    C_FAILED,
    C_RETIRED,
    C_REVOKED,
    C_RELEASED,
    C_CONFIRMED,
    C_ENDED,
    C_LEFT,
    CONSUMER_STATES
};

/* ---- the states ---- */

/* Its session has no authority: null's. */
static void take_away(world *w) {
    chordal_id object = last_event(&w->h, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_revoke(w->h.host, object, CHORDAL_FORMAT_JSON, (const uint8_t *)"null", 4, "", 0, NULL),
              0);
    turn(w);
    CHECK_INT(w->peer.heard[CHORDAL__REVOKED], 1);
}

static void lead_provider(world *w, int to) {
    raw_peer *p = &w->peer;
    if (to == OPENING) return;
    CHECK_INT(say_hello(p), 0);
    if (to == LEFT) bye(p);
    if (to == UP || to == LEFT) return;
    CHECK_INT(origin(p), 0);
    if (to == SESSION) return;
    CHECK_INT(to == FAILED ? say_hold(p, 1, 0, "nothing") : hold(p), 0);
    turn(w);
    CHECK_INT(p->heard[to == FAILED ? CHORDAL__FAILED : CHORDAL__BOUND], 1);
    if (to == CALLED || to == ANSWERED) CHECK_INT(method_call(p), 0);
    turn(w);
    if (to == ANSWERED) CHECK_INT(answer(&w->h, last_event(&w->h, CHORDAL_EVENT_CALL)->as.call.call, "7"), 0);
    if (to == TAKEN) take_away(w);
    if (to == GIVEN_BACK) CHECK_INT(release(p), 0);
    if (to == ENDED) CHECK_INT(ended(p), 0);
    turn(w);
}

static void lead_bound(world *w, int to) {
    raw_peer *p = &w->peer;
    CHECK_INT(bound(p), 0);
    p->heard[0] = 1; /* the members were told */
    turn(w);
    CHECK_INT(chordal_reference_state(w->h.host, w->reference), CHORDAL_REFERENCE_LIVE);
    if (to == C_CUT) CHECK_INT(state_more(p), 0);
    if (to == C_RETIRED) CHECK_INT(retired(p), 0);
    if (to == C_REVOKED) CHECK_INT(revoked(p), 0);
    if (to == C_CALLED) w->call = call_within(&w->h, w->reference, "add", "[]", 0);
    turn(w);
    if (to == C_CALLED) CHECK_INT(p->heard[CHORDAL__CALL], 1);
}

static void lead_consumer(world *w, int to) {
    raw_peer *p = &w->peer;
    if (to == C_OPENING) return;
    CHECK_INT(say_hello(p), 0);
    if (to == C_LEFT) bye(p);
    if (to == C_UP || to == C_LEFT) return;
    w->reference = get_over(&w->h, p->link, "notes", NOTES_PARAMS, 0);
    turn(w);
    CHECK_INT(p->heard[CHORDAL__ORIGIN], 1);
    CHECK_INT(p->heard[CHORDAL__HOLD], 1);
    if (to == C_ASKED) return;
    if (to == C_ENDED) CHECK_INT(ended(p), 0);
    if (to == C_ENDED) return;
    CHECK_INT(opened(p), 0);
    if (to == C_FAILED) CHECK_INT(failed(p), 0);
    if (to == C_RELEASED || to == C_CONFIRMED) {
        chordal_release(w->h.host, w->reference);
        turn(w);
        CHECK_INT(p->heard[CHORDAL__RELEASE], 1);
    }
    if (to == C_CONFIRMED) CHECK_INT(released(p), 0);
    if (to == C_BOUND || to == C_CUT || to == C_CALLED || to == C_RETIRED || to == C_REVOKED) lead_bound(w, to);
}

/* ---- one pair ---- */

static void check_end(world *w, const char *name, int state, char letter) {
    host_event *event = last_event(&w->h, CHORDAL_EVENT_LINK);
    bool goes_on = letter == '.' || letter == 'e';
    int code = letter == 'b' ? CHORDAL_E_BYE : code_of(letter);
    for (size_t i = w->h.len; i-- > 0;) {
        event = &w->h.events[i];
        if (event->kind == CHORDAL_EVENT_LINK && event->as.link.link == w->peer.link) break;
    }
    bool up = event->as.link.state == CHORDAL_LINK_UP;
    if (up != goes_on) CHECK_FAIL("%s in state %d: the link is in state %u", name, state, event->as.link.state);
    if (!goes_on && event->as.link.code != code)
        CHECK_FAIL("%s in state %d: told %d, not %d", name, state, event->as.link.code, code);
    if (letter == 'o' || letter == 'u') CHECK_TEXT(w->peer.bye, chordal_error_name(code));
    if (letter == 'e') CHECK_TEXT(w->peer.ended, "order");
}

static void check_pair(world *w, const table_row *row, int state) {
    char letter = row->expected[state];
    int code = row->say(&w->peer);
    if (code != code_of(letter))
        CHECK_FAIL("%s in state %d: %s (%s), not %s", row->name, state, chordal_error_name(code), w->peer.error.detail,
                   chordal_error_name(code_of(letter)));
    turn(w);
    if (letter != 's') check_end(w, row->name, state, letter);
}

static void all_pairs(const table_row *rows, size_t count, int states, uint32_t flags, void (*lead)(world *, int)) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        for (size_t i = 0; i < count; i++) {
            CHECK_INT(strlen(rows[i].expected), states);
            for (int state = 0; state < states; state++) {
                world w;
                open_world(&w, codec, flags, (chordal_host_options){0});
                lead(&w, state);
                check_pair(&w, &rows[i], state);
                close_world(&w);
            }
        }
    }
}

TEST(provider_pairs) {
    all_pairs(to_provider, sizeof to_provider / sizeof *to_provider, PROVIDER_STATES, 0, lead_provider);
}
TEST(consumer_pairs) {
    all_pairs(to_consumer, sizeof to_consumer / sizeof *to_consumer, CONSUMER_STATES, CHORDAL_LINK_CONNECT,
              lead_consumer);
}

/* A peer that waits to be admitted may only go. */
TEST(admission_pairs) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        for (size_t i = 0; i < sizeof to_provider / sizeof *to_provider; i++) {
            world w;
            table_row row = to_provider[i];
            row.expected = row.say == bye ? "b" : "o";
            open_world(&w, codec, CHORDAL_LINK_AUTHENTICATE, (chordal_host_options){0});
            CHECK_INT(say_hello(&w.peer), 0);
            turn(&w);
            CHECK_INT(count_events(&w.h, CHORDAL_EVENT_AUTHENTICATE), 1);
            CHECK_INT(w.peer.heard[CHORDAL__WELCOME], 0);
            check_pair(&w, &row, 0);
            CHECK_INT(chordal_link_admit(w.h.host, w.peer.link, CHORDAL_FORMAT_JSON, (const uint8_t *)"1", 1, NULL),
                      CHORDAL_E_STATE);
            close_world(&w);
        }
    }
}

/* ---- what one message or many may not do ---- */

static void expect_end(world *w, int got, int code) {
    CHECK_INT(got, code);
    turn(w);
    CHECK_TEXT(w->peer.bye, chordal_error_name(code));
    close_world(w);
}

/* Run a fault in both codecs, against a host that provides and has bound hold 0, or one that holds and is bound. What
 * ends only the session is in link_offences.c. */
enum { PROVIDER_ENDS, CONSUMER_ENDS };
static void each_codec(void (*fault_of)(world *), int code, int expected) {
    bool consumer = expected == CONSUMER_ENDS;
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        world w;
        open_world(&w, codec, consumer ? CHORDAL_LINK_CONNECT : 0, (chordal_host_options){.queue_limit = 100000});
        if (consumer)
            lead_consumer(&w, C_BOUND);
        else
            lead_provider(&w, HELD);
        fault_of(&w);
        expect_end(&w, w.peer.code, code);
    }
}

#define FAULT(name, code, expected, ...)                                                                               \
    static void name##_of(world *w) {                                                                                  \
        raw_peer *p = &w->peer;                                                                                        \
        (void)(__VA_ARGS__);                                                                                           \
    }                                                                                                                  \
    TEST(name) {                                                                                                       \
        each_codec(name##_of, CHORDAL_E_##code, expected);                                                             \
    }

FAULT(a_huge_slot_of_a_result, ORDER, CONSUMER_ENDS, say_result(p, 1, UINT64_C(1) << 40))
FAULT(a_huge_origin, LIMIT, PROVIDER_ENDS, say_origin(p, (UINT64_C(1) << 40) + 1, ""))
FAULT(a_change_of_an_unknown_hold, ORDER, CONSUMER_ENDS, say_title(p, 1, 7, 'x', 0))
FAULT(an_origin_under_another_number, MALFORMED, PROVIDER_ENDS, say_other_origin(p))
FAULT(an_unknown_option_of_a_session, UNSUPPORTED, PROVIDER_ENDS, say_optional_origin(p))
FAULT(no_such_part_encoding, MALFORMED, PROVIDER_ENDS, say_encoded_origin(p, 3, ""))
FAULT(no_such_part_encoding_behind, MALFORMED, PROVIDER_ENDS, say_encoded_origin(p, 3, "0123"))
FAULT(a_long_text, TOO_LARGE, PROVIDER_ENDS, say_long_text(p))
FAULT(a_cut_without_end, TOO_LARGE, CONSUMER_ENDS, say_endless_cut(p))
FAULT(a_cut_beyond_all_numbers, MALFORMED, CONSUMER_ENDS, say_far_cuts(p))
FAULT(a_change_of_a_method, NO_MEMBER, CONSUMER_ENDS, say_change(p, 1, "[\"r\",[2],1]", "\xf8\x01\x04\x01", 4))
FAULT(a_change_of_no_member, NO_MEMBER, CONSUMER_ENDS, say_change(p, 1, "[\"r\",[9],1]", "\xf8\x01\x12\x01", 4))
FAULT(a_change_of_an_undefined_path, RANGE, CONSUMER_ENDS, say_change(p, 1, "[\"r\",4,1]", "\x20\x01", 2))
FAULT(a_change_of_the_wrong_type, TYPE, CONSUMER_ENDS, say_change(p, 1, "[\"a\",[0],\"x\"]", "\xfb\x01\x00\x01x", 5))

/* Tables and snapshots that lie, as the first bound. */
static int say_lying_bound(raw_peer *p, const char *members, const char *content) {
    chordal__message m = peer_message(p, CHORDAL__BOUND, 1);
    m.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
    set_part(&m.parts[0], members, strlen(members));
    set_part(&m.parts[1], content, strlen(content));
    return peer_say(p, &m);
}

TEST(bounds_that_lie) {
    static const struct {
        const char *members, *content;
        int code;
    } lies[] = {
        {"", PEER_CONTENT, CHORDAL_E_ORDER}, /* absent, and never told */
        {"7", PEER_CONTENT, CHORDAL_E_TYPE},
        {"[[\"a\",1]]", "[[],[1],[]]", CHORDAL_E_TYPE},
        {"[[\"a\",5,0]]", "[[],[1],[]]", CHORDAL_E_TYPE},
        {"[[\"\",1,0]]", "[[],[1],[]]", CHORDAL_E_TYPE},
        {"[[\"a\",1,0],[\"a\",1,0]]", "[[],[1,2],[]]", CHORDAL_E_TYPE},
        {"[[7,1,0]]", "[[],[1],[]]", CHORDAL_E_TYPE},
        {"[[\"a\",1,0]]", "[[],[],[]]", CHORDAL_E_SYNTAX},
        {"[[\"a\",1,0]]", "[[],[1,2],[]]", CHORDAL_E_SYNTAX},
        {"[[\"a\",1,0]]", "[[],[1]]", CHORDAL_E_SYNTAX},
        {"[[\"a\",3,0]]", "[[],[1],[]]", CHORDAL_E_SYNTAX},
        {"[[\"a\",1,0]]", "[[],[1],[[1,0,\"\",\"\"]]]", CHORDAL_E_RANGE},
        {"[[\"a\",1,0]]", "[[],[1],[[0,0,\"\",\"\"]]]", CHORDAL_E_SYNTAX},
        {"[[\"a\",1,0]]", "[[[\"a\"]],[1],[]]", CHORDAL_E_SYNTAX},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        world w;
        open_world(&w, CHORDAL_CODEC_TEXT, CHORDAL_LINK_CONNECT, (chordal_host_options){0});
        lead_consumer(&w, C_OPENED);
        int code = say_lying_bound(&w.peer, lies[i].members, lies[i].content);
        if (code != lies[i].code) CHECK_FAIL("lie %zu: %s", i, chordal_error_name(code));
        expect_end(&w, code, lies[i].code);
    }
}

/* A snapshot that only passes through to the program's own copy is looked at as well. */
TEST(a_kept_snapshot_has_no_key_twice) {
    static const char content[] = "\x00\x01\x82\xa1k\x01\xa1k\x02\x01\xa1t";
    world w;
    open_world(&w, CHORDAL_CODEC_BINARY, CHORDAL_LINK_CONNECT, (chordal_host_options){0});
    CHECK_INT(say_hello(&w.peer), 0);
    w.reference = get_over(&w.h, w.peer.link, "notes", NOTES_PARAMS, CHORDAL_REFERENCE_KEPT);
    turn(&w);
    CHECK_INT(opened(&w.peer), 0);
    chordal__message m = peer_message(&w.peer, CHORDAL__BOUND, 1);
    m.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
    set_part(&m.parts[0], PEER_MEMBERS_PACKED, sizeof PEER_MEMBERS_PACKED - 1);
    set_part(&m.parts[1], content, sizeof content - 1);
    expect_end(&w, peer_say(&w.peer, &m), CHORDAL_E_DUPLICATE_KEY);
}

/* A peer that asks and never reads is ended when its answers are too many, though each is small. */
TEST(a_peer_that_never_reads) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        world w;
        open_world(&w, codec, 0, (chordal_host_options){.queue_limit = 100000});
        CHECK_INT(say_hello(&w.peer), 0);
        int code = 0;
        int64_t before = (int64_t)test_counters(&w.h).live_bytes, most = 0;
        for (int i = 0; i < 100000 && code == 0; i++) {
            code = say_number(&w.peer, CHORDAL__PING, 0, 1);
            int64_t bytes = (int64_t)test_counters(&w.h).live_bytes - before;
            if (bytes > most) most = bytes;
        }
        CHECK_INT(code, CHORDAL_E_STATE); /* the link was ended in between */
        CHECK(most < 200000);
        expect_end(&w, CHORDAL_E_LIMIT, CHORDAL_E_LIMIT);
    }
}

/* ---- offers and routes ---- */

static int say_offer(raw_peer *p, const char *type) {
    return say_texts(p, CHORDAL__OFFER, 0, 0, type, "");
}

static void open_routed(world *w, raw_peer *far, uint32_t codec, uint32_t far_codec) {
    open_world(w, codec, 0, (chordal_host_options){0});
    peer_open(far, &w->h, CHORDAL_LINK_ROUTE_OFFERS, far_codec);
    CHECK_INT(say_hello(far), 0);
    CHECK_INT(say_hello(&w->peer), 0);
    CHECK_INT(say_offer(far, "things"), 0);
    turn(w);
}

static void turn_with(world *w, raw_peer *far) {
    turn(w);
    peer_hear(far);
}

/* What one peer offers is limited, and no other suffers from it. */
TEST(offers_without_end) {
    world w;
    raw_peer far;
    char type[1024];
    open_routed(&w, &far, CHORDAL_CODEC_BINARY, CHORDAL_CODEC_BINARY);
    raw_peer third;
    peer_open(&third, &w.h, CHORDAL_LINK_ROUTE_OFFERS, CHORDAL_CODEC_TEXT);
    CHECK_INT(say_hello(&third), 0);
    int code = 0, said = 1;
    for (; code == 0 && said < 10000; said++) {
        snprintf(type, sizeof type, "type %d", said);
        code = say_offer(&far, type);
    }
    CHECK_INT(code, CHORDAL_E_LIMIT);
    CHECK_INT(said, CHORDAL__OFFERS_LIMIT + 1);
    CHECK_INT(say_offer(&third, "type 9"), 0);
    memset(type, 'x', 766);
    type[766] = 0;
    CHECK_INT(say_offer(&third, type), CHORDAL_E_MALFORMED);
    turn(&w);
    peer_hear(&third);
    CHECK_TEXT(third.bye, "malformed");
    peer_close(&far);
    peer_close(&third);
    close_world(&w);
}

/* Two that offer to each other: a hold that would go back where it came from is refused. */
TEST(routes_do_not_go_in_circles) {
    world w;
    raw_peer far;
    open_routed(&w, &far, CHORDAL_CODEC_BINARY, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_origin(&far, 1, ""), 0);
    CHECK_INT(say_hold(&far, 1, 0, "things"), 0);
    turn_with(&w, &far);
    CHECK_INT(far.heard[CHORDAL__FAILED], 1);
    CHECK_INT(far.heard[CHORDAL__MOVED], 0);
    CHECK_INT(say_origin(&far, 3, "03030303030303030303030303030303"), 0); /* by its own name */
    turn_with(&w, &far);
    CHECK_INT(far.heard[CHORDAL__ENDED], 1);
    peer_close(&far);
    close_world(&w);
}

/* A session on a text link must have JSON parts, wherever it leads: else what comes back could not be sent. */
TEST(binary_parts_do_not_reach_a_text_link) {
    world w;
    raw_peer far;
    open_routed(&w, &far, CHORDAL_CODEC_TEXT, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_encoded_origin(&w.peer, CHORDAL__ENCODING_BINARY, "03030303030303030303030303030303"),
              CHORDAL_E_MALFORMED);
    turn_with(&w, &far);
    CHECK_TEXT(w.peer.bye, "malformed");
    CHECK_INT(say_number(&far, CHORDAL__PING, 0, 3), 0);
    turn_with(&w, &far);
    CHECK_INT(far.numbers[CHORDAL__PONG], 3);
    peer_close(&far);
    close_world(&w);
}

static int say_moved(raw_peer *p, uint64_t held) {
    chordal__message m = peer_message(p, CHORDAL__MOVED, 1);
    m.numbers[0] = held;
    m.numbers[1] = p->encoding;
    set_text(&m, 0, "elsewhere");
    return peer_say(p, &m);
}

/* What comes by a route is not the neighbour's fault: only that session ends, and is asked for again. */
TEST(a_fault_behind_a_route) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        world w;
        open_world(&w, codec, CHORDAL_LINK_CONNECT, (chordal_host_options){.backoff_first = 1});
        lead_consumer(&w, C_OPENED);
        CHECK_INT(say_moved(&w.peer, 0), 0);
        turn(&w);
        CHECK_INT(w.peer.heard[CHORDAL__ORIGIN], 2);
        CHECK_INT(w.peer.numbers[CHORDAL__ORIGIN], 3);
        CHECK_INT(say_number(&w.peer, CHORDAL__OPENED, 3, 0), 0);
        CHECK_INT(say_number(&w.peer, CHORDAL__RELEASED, 3, 0), 0); /* which was not given back */
        turn(&w);
        CHECK_INT(last_event(&w.h, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_UP);
        CHECK_INT(w.peer.heard[CHORDAL__ENDED], 1);
        CHECK_INT(say_bound(&w.peer, 3, 0, true), 0); /* crossed: ignored */
        CHECK_INT(say_number(&w.peer, CHORDAL__RELEASED, 1, 0), 0);
        w.h.now += 100;
        turn(&w);
        CHECK_INT(w.peer.heard[CHORDAL__HOLD], 3);
        CHECK_INT(say_bound(&w.peer, 1, 0, true), 0);
        turn(&w);
        CHECK_INT(chordal_reference_state(w.h.host, w.reference), CHORDAL_REFERENCE_LIVE);
        close_world(&w);
    }
}

/* Frames that wait to be taken hold up the acks of the session that the reference is in, also after it moved. */
TEST(acks_follow_a_reference_that_moves) {
    world w;
    chordal_id watch;
    open_world(&w, CHORDAL_CODEC_BINARY, CHORDAL_LINK_CONNECT, (chordal_host_options){0});
    lead_consumer(&w, C_BOUND);
    CHECK_INT(chordal_watch_open(w.h.host, w.reference, NOTES_TITLE, CHORDAL_WATCH_MANUAL, &watch, NULL), 0);
    turn(&w);
    CHECK_INT(w.peer.heard[CHORDAL__ACK], 1);
    CHECK_INT(say_title(&w.peer, 1, 0, 'x', 0), 0);
    turn(&w);
    CHECK_INT(w.peer.heard[CHORDAL__ACK], 1);
    CHECK_INT(chordal_link_down(w.h.host, w.peer.link, w.h.now, NULL), 0);
    CHECK(peer_up(&w.peer, CHORDAL_CODEC_BINARY));
    CHECK_INT(say_hello(&w.peer), 0);
    turn(&w);
    CHECK_INT(opened(&w.peer), 0);
    CHECK_INT(say_moved(&w.peer, 0), 0);
    turn(&w);
    CHECK_INT(say_number(&w.peer, CHORDAL__OPENED, 3, 0), 0);
    CHECK_INT(say_bound(&w.peer, 3, 0, true), 0);
    turn(&w);
    CHECK_INT(w.peer.heard[CHORDAL__ACK], 1); /* the frame from before is not taken yet */
    CHECK_INT(chordal_watch_take(w.h.host, watch, NULL), 0);
    turn(&w);
    CHECK_INT(chordal_watch_take(w.h.host, watch, NULL), 0);
    turn(&w);
    CHECK_INT(w.peer.heard[CHORDAL__ACK], 2);
    chordal_release(w.h.host, watch);
    close_world(&w);
}

/* A session that the provider ended is opened anew by the next reference, or by a retry. */
TEST(a_session_after_its_end) {
    world w;
    open_world(&w, CHORDAL_CODEC_BINARY, CHORDAL_LINK_CONNECT, (chordal_host_options){0});
    lead_consumer(&w, C_ENDED);
    turn(&w);
    CHECK_INT(chordal_reference_state(w.h.host, w.reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(chordal_reference_retry(w.h.host, w.reference, NULL), 0);
    turn(&w);
    CHECK_INT(w.peer.heard[CHORDAL__ORIGIN], 2);
    CHECK_INT(opened(&w.peer), 0);
    CHECK_INT(say_bound(&w.peer, 1, 0, true), 0);
    turn(&w);
    CHECK_INT(chordal_reference_state(w.h.host, w.reference), CHORDAL_REFERENCE_LIVE);
    close_world(&w);
}

/* A call is lost with its session, wherever its reference went meanwhile. */
TEST(a_call_of_a_reference_that_moved) {
    world w;
    open_world(&w, CHORDAL_CODEC_BINARY, CHORDAL_LINK_CONNECT, (chordal_host_options){0});
    CHECK_INT(say_hello(&w.peer), 0);
    w.reference = get_over(&w.h, w.peer.link, "notes", NOTES_PARAMS, CHORDAL_REFERENCE_KEPT);
    turn(&w);
    CHECK_INT(opened(&w.peer), 0);
    CHECK_INT(say_bound(&w.peer, 1, 0, true), 0);
    turn(&w);
    w.call = call_within(&w.h, w.reference, "add", "[]", 0);
    CHECK_INT(chordal_watch_reset(w.h.host, w.reference, NULL), 0); /* holds again as 1 */
    turn(&w);
    CHECK_INT(say_moved(&w.peer, 1), 0);
    turn(&w);
    CHECK_INT(chordal_link_down(w.h.host, w.peer.link, w.h.now, NULL), 0);
    CHECK(peer_up(&w.peer, CHORDAL_CODEC_BINARY));
    CHECK_INT(say_hello(&w.peer), 0);
    turn(&w);
    CHECK_INT(opened(&w.peer), 0); /* it knows the session no more */
    turn(&w);
    CHECK_INT(count_events(&w.h, CHORDAL_EVENT_RESULT), 1);
    CHECK_INT(last_event(&w.h, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    close_world(&w);
}

/* ---- frames that are no message ---- */

/* `of_part`: the frame is a message, but what is in its part ends the session. */
static void bad_frame(uint32_t codec, uint32_t frame, const char *bytes, size_t len, int code, bool of_part) {
    world w;
    open_world(&w, codec, 0, (chordal_host_options){.message_limit = 65536, .depth_limit = 8});
    CHECK_INT(say_hello(&w.peer), 0);
    CHECK_INT(origin(&w.peer), 0);
    turn(&w);
    int got = peer_feed(&w.peer, frame, (const uint8_t *)bytes, len);
    if (of_part) {
        CHECK_INT(got, 0);
        turn(&w);
        CHECK_TEXT(w.peer.ended, chordal_error_name(code));
        CHECK_TEXT(w.peer.bye, "");
        close_world(&w);
        return;
    }
    if (got != code) CHECK_FAIL("%.20s: %s, not %s", bytes, chordal_error_name(got), chordal_error_name(code));
    expect_end(&w, got, code);
}
#define BAD_TEXT(text, code)                                                                                           \
    bad_frame(CHORDAL_CODEC_TEXT, CHORDAL_FRAME_TEXT, text, strlen(text), CHORDAL_E_##code, false)
#define BAD_PART(codec, text, code)                                                                                    \
    bad_frame(CHORDAL_CODEC_##codec, CHORDAL_FRAME_##codec, text, sizeof text - 1, CHORDAL_E_##code, true)
#define BAD_BYTES(bytes, code)                                                                                         \
    bad_frame(CHORDAL_CODEC_BINARY, CHORDAL_FRAME_BINARY, bytes, sizeof bytes - 1, CHORDAL_E_##code, false)

TEST(frames_that_are_no_message) {
    static char large[65537];
    BAD_TEXT("", MALFORMED);
    BAD_TEXT("[\"hold\",0,\"notes\",1", MALFORMED);
    BAD_TEXT("[\"nonsense\",1]", MALFORMED);
    BAD_TEXT("[\"a!\",1]", MALFORMED);
    BAD_TEXT("[0,\"ping\",1,2]", MALFORMED);
    BAD_TEXT("[\"hold\",0,\"notes\",1,0,[[[[[[[[[[[[[[]]]]]]]]]]]]]]]", DEPTH);
    BAD_PART(TEXT, "[\"hold\",0,\"notes\",1,0,{\"board\":1,\"board\":2}]", DUPLICATE_KEY);
    BAD_TEXT("[\"c#\",[0,70000,1],0,0,2,0]", TOO_LARGE);
    BAD_TEXT("[\"hold#\",[0,4,2],0,\"notes\",1,0,0]", MALFORMED);
    BAD_BYTES("", MALFORMED);
    BAD_BYTES("\x00", MALFORMED);
    BAD_BYTES("\x1b", MALFORMED);                              /* kind 27 */
    BAD_BYTES("\x50\x01", MALFORMED);                          /* an ack with MORE */
    BAD_BYTES("\x07\x00\x05notes\x01\x00\x05\x80", MALFORMED); /* raw params */
    BAD_BYTES("\x07\x00\x05notes\x01\x00\x06\x80", MALFORMED); /* deflated params */
    BAD_PART(BINARY,
             "\x07\x00\x05notes\x01\x00\x3c\x82\xa5"
             "board\x01\xa5"
             "board\x02",
             DUPLICATE_KEY);
    BAD_PART(BINARY, "\x07\x00\x05notes\x01\x00\x2c\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x01", DEPTH);
    bad_frame(CHORDAL_CODEC_BINARY, CHORDAL_FRAME_TEXT, "[]", 2, CHORDAL_E_ORDER, false);
    bad_frame(CHORDAL_CODEC_TEXT, CHORDAL_FRAME_BINARY, "x", 1, CHORDAL_E_ORDER, false);
    bad_frame(CHORDAL_CODEC_BINARY, CHORDAL_FRAME_BINARY, large, sizeof large, CHORDAL_E_TOO_LARGE, false);
    bad_frame(CHORDAL_CODEC_TEXT, CHORDAL_FRAME_TEXT, large, sizeof large, CHORDAL_E_TOO_LARGE, false);
}

TESTS({"provider: each kind in each state", provider_pairs}, {"consumer: each kind in each state", consumer_pairs},
      {"each kind before the admission", admission_pairs}, {"a huge slot of a result", a_huge_slot_of_a_result},
      {"a huge origin", a_huge_origin}, {"a change of an unknown hold", a_change_of_an_unknown_hold},
      {"an origin under another number", an_origin_under_another_number},
      {"an unknown option of a session", an_unknown_option_of_a_session},
      {"no such part encoding", no_such_part_encoding}, {"no such part encoding behind", no_such_part_encoding_behind},
      {"a long text", a_long_text}, {"a cut without end", a_cut_without_end},
      {"a cut beyond all numbers", a_cut_beyond_all_numbers}, {"a change of a method", a_change_of_a_method},
      {"a change of no member", a_change_of_no_member},
      {"a change of an undefined path", a_change_of_an_undefined_path},
      {"a change of the wrong type", a_change_of_the_wrong_type}, {"bounds that lie", bounds_that_lie},
      {"a kept snapshot has no key twice", a_kept_snapshot_has_no_key_twice},
      {"a peer that never reads", a_peer_that_never_reads}, {"offers without end", offers_without_end},
      {"routes do not go in circles", routes_do_not_go_in_circles},
      {"binary parts do not reach a text link", binary_parts_do_not_reach_a_text_link},
      {"a fault behind a route", a_fault_behind_a_route},
      {"acks follow a reference that moves", acks_follow_a_reference_that_moves},
      {"a session after its end", a_session_after_its_end},
      {"a call of a reference that moved", a_call_of_a_reference_that_moved},
      {"frames that are no message", frames_that_are_no_message})
