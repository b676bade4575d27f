/* link_live.c: signs of life that overtake, half-open links, backoff and retry by hand, and the gentle end of a link.
 */
#include "hosts.h"

static test_pair p;
static chordal_id reference;

static void open_pair(uint32_t codec, chordal_host_options options) {
    pair_open(&p, codec, options, 0, 0);
    provide(&p.a, NOTES);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    forget_events(&p.a);
    forget_events(&p.b);
}

/* With the calls that run. */
static void close_pair(void) {
    chordal_host_forget(p.a.host);
    chordal_host_forget(p.b.host);
    free(p.a.events);
    free(p.b.events);
}

static void go_on_to(chordal_time now) {
    p.a.now = p.b.now = now;
}

static uint8_t frame[1 << 16];
static size_t frame_len;
static uint32_t take(test_host *h, chordal_id link) {
    uint32_t kind;
    CHECK_INT(chordal_link_take(h->host, link, frame, sizeof frame, &frame_len, &kind, NULL), 0);
    return kind;
}
static void feed_b(const char *text) {
    CHECK_INT(
        chordal_link_feed(p.b.host, p.link_b, CHORDAL_FRAME_TEXT, (const uint8_t *)text, strlen(text), p.b.now, NULL),
        0);
}
static bool took(const char *text) {
    return frame_len >= strlen(text) && memcmp(frame, text, strlen(text)) == 0;
}

/* ---- overtaking ---- */

/* Two raw parts: 3 and 2 bytes. */
static void call_with_bytes(void) {
    static const uint8_t arguments[] = {0x92, 0xc4, 3, 1, 2, 3, 0xc4, 2, 4, 5};
    chordal_id made;
    CHECK_INT(chordal_call_start(p.b.host, reference, "add", 3, CHORDAL_FORMAT_PACKED, arguments, sizeof arguments, 0,
                                 &made, NULL),
              0);
}

TEST(a_pong_goes_before_what_waits) {
    open_pair(CHORDAL_CODEC_TEXT, (chordal_host_options){0});
    for (int i = 0; i < 10; i++) call(&p.b, reference, "add", "[\"bulk\"]");
    feed_b("[\"ping\",1]");
    feed_b("[\"ping\",2]");
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
    CHECK(took("[\"pong\",1]"));
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
    CHECK(took("[\"pong\",2]"));
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
    CHECK(took("[\"c\""));
    close_pair();
}

TEST(not_between_a_message_and_its_raw_frames) {
    for (size_t taken = 0; taken < 4; taken++) {
        open_pair(CHORDAL_CODEC_TEXT, (chordal_host_options){0});
        call_with_bytes();
        call_with_bytes();
        for (size_t i = 0; i < taken; i++) take(&p.b, p.link_b);
        feed_b("[\"ping\",7]");
        for (size_t i = taken; taken && i < 3; i++) CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_BINARY);
        CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
        CHECK(took("[\"pong\",7]"));
        CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
        CHECK(took("[\"c#\""));
        close_pair();
    }
}

TEST(not_before_a_frame_that_is_being_sent) {
    chordal_piece pieces[8];
    size_t count;
    uint32_t kind;
    open_pair(CHORDAL_CODEC_TEXT, (chordal_host_options){0});
    call_with_bytes();
    CHECK_INT(chordal_link_output(p.b.host, p.link_b, pieces, 8, &count, &kind, NULL), 0);
    feed_b("[\"ping\",7]");
    CHECK_INT(chordal_link_sent(p.b.host, p.link_b, NULL), 0);
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_BINARY);
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_BINARY);
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_TEXT);
    CHECK(took("[\"pong\",7]"));
    close_pair();
}

/* The acceptor's welcome was not taken yet when a ping is due. */
TEST(not_before_the_welcome) {
    chordal_host_options options = {.ping_interval = 10, .ping_timeout = 1000};
    pair_open(&p, CHORDAL_CODEC_TEXT, options, 0, 0);
    while (take(&p.b, p.link_b))
        CHECK_INT(chordal_link_feed(p.a.host, p.link_a, CHORDAL_FRAME_TEXT, frame, frame_len, 0, NULL), 0);
    p.a.now = 10;
    test_poll(&p.a);
    take(&p.a, p.link_a);
    CHECK(took("[\"welcome\""));
    take(&p.a, p.link_a);
    CHECK(took("[\"ping\""));
    close_pair();
}

/* ---- half-open ---- */

static int link_state(test_host *h) {
    host_event *event = last_event(h, CHORDAL_EVENT_LINK);
    return event ? (int)event->as.link.state : CHORDAL_LINK_UP;
}

/* The last byte came at 90: silence until 190 is asked about, and lasts until 240. */
TEST(a_half_open_link_while_bulk_waits) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = 100, .ping_timeout = 50});
    go_on_to(90);
    call(&p.b, reference, "add", "[1]");
    settle(&p);
    answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "[1]");
    settle(&p);
    forget_events(&p.b);
    for (int i = 0; i < 200; i++) call(&p.b, reference, "add", "[\"bulk that nobody takes\"]");
    for (chordal_time now = 91; now < 240; now++) {
        p.b.now = now;
        test_poll(&p.b);
        CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
        if (now == 189) CHECK_INT(chordal_host_deadline(p.b.host), 190);
        if (now == 190) {
            CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_BINARY);
            CHECK_INT(frame[0] & 31, 22); /* the ping, before all that waits */
        }
    }
    p.b.now = 240;
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_WAIT);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_TIMEOUT);
    take(&p.b, p.link_b); /* nothing waits but the farewell */
    CHECK_INT(frame[0] & 31, 24);
    CHECK_INT(take(&p.b, p.link_b), 0);
    close_pair();
}

TEST(any_byte_is_a_sign_of_life) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = 100, .ping_timeout = 50});
    for (chordal_time now = 0; now < 2000; now += 145) {
        go_on_to(now);
        test_poll(&p.a);
        test_poll(&p.b);
        CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
        settle(&p);
    }
    close_pair();
}

/* ---- frames that take long ---- */

static void pieces_arrive(chordal_time *now, chordal_time until, chordal_time each) {
    for (; *now < until; *now += each) {
        p.b.now = *now;
        CHECK_INT(chordal_link_progress(p.b.host, p.link_b, p.b.now, NULL), 0);
        test_poll(&p.b);
    }
}

/* The one who gets it does not take its peer for silent, and says from time to time that it is there; who stops in the
 * middle of a frame is silent as any other. */
TEST(a_frame_that_takes_long) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = 100, .ping_timeout = 50});
    chordal_time now = 0;
    pieces_arrive(&now, 2000, 10);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
    size_t pings = 0;
    while (take(&p.b, p.link_b)) pings += (frame[0] & 31) == 22;
    CHECK(pings >= 18 && pings <= 20);
    p.b.now = 2090;
    test_poll(&p.b);
    CHECK_INT(take(&p.b, p.link_b), CHORDAL_FRAME_BINARY);
    CHECK_INT(frame[0] & 31, 22);
    p.b.now = 2139;
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
    p.b.now = 2140;
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_WAIT);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_TIMEOUT);
    CHECK_INT(chordal_link_progress(p.b.host, p.link_b, p.b.now, NULL), 0); /* late */
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_WAIT);
    CHECK_INT(chordal_link_progress(p.b.host, 0, p.b.now, NULL), CHORDAL_E_CLOSED);
    close_pair();
}

/* One that was asked about and is heard in pieces then is there. */
TEST(a_piece_answers_a_ping) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = 100, .ping_timeout = 50});
    p.b.now = 100;
    test_poll(&p.b);
    p.b.now = 149;
    CHECK_INT(chordal_link_progress(p.b.host, p.link_b, p.b.now, NULL), 0);
    p.b.now = 240;
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
    close_pair();
}

/* A handshake that comes in drops is as late as none. */
TEST(pieces_do_not_prolong_a_handshake) {
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){.handshake_timeout = 100}, 0, 0);
    chordal_time now = 0;
    pieces_arrive(&now, 99, 9);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_OPENING);
    p.b.now = 100;
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_WAIT);
    close_pair();
}

/* ---- backoff ---- */

/* The accepting side takes the transport that the other one asked for. */
static void link_again(void) {
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    pair_up(&p);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
}

static chordal_time wait_after_loss(void) {
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_WAIT);
    return chordal_host_deadline(p.b.host) - p.b.now;
}

TEST(backoff_doubles_with_jitter_up_to_its_limit) {
    open_pair(CHORDAL_CODEC_BINARY,
              (chordal_host_options){.backoff_first = 100, .backoff_limit = 1000, .ping_interval = CHORDAL_NEVER});
    chordal_time span = 100, first = wait_after_loss();
    bool differ = false;
    CHECK(first >= 50 && first < 100);
    for (int i = 0; i < 20; i++) {
        p.b.now = chordal_host_deadline(p.b.host);
        test_poll(&p.b);
        CHECK_INT(link_state(&p.b), CHORDAL_LINK_DIAL);
        span = span * 2 < 1000 ? span * 2 : 1000;
        chordal_time wait = wait_after_loss();
        CHECK(wait >= span / 2 && wait < span);
        differ |= wait != span / 2 + (first - 50) * span / 100;
    }
    CHECK(differ);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0); /* by hand, at once */
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_DIAL);
    link_again();
    p.b.now += 8 * 1000; /* what worked for long begins anew */
    chordal_time again = wait_after_loss();
    CHECK(again >= 50 && again < 100);
    close_pair();
}

static void check_dial(uint32_t state, int code) {
    const host_event *e = last_event(&p.b, CHORDAL_EVENT_LINK);
    CHECK_INT(link_state(&p.b), state);
    CHECK_INT(e->as.link.code, code);
}

/* However late its program hears of it: the span begins when it does. */
TEST(a_dial_without_an_answer_is_given_up) {
    static const chordal_host_options options = {.dial_timeout = 700, .backoff_first = 100, .backoff_limit = 400};
    open_pair(CHORDAL_CODEC_BINARY, options);
    (void)wait_after_loss();
    chordal_time span = 100;
    for (int i = 0; i < 6; i++) {
        p.b.now = chordal_host_deadline(p.b.host) + 5000;
        test_poll(&p.b);
        check_dial(CHORDAL_LINK_DIAL, 0);
        CHECK_INT(chordal_host_deadline(p.b.host), p.b.now + 700);
        p.b.now += 699;
        test_poll(&p.b);
        check_dial(CHORDAL_LINK_DIAL, 0);
        p.b.now += 1;
        test_poll(&p.b);
        check_dial(CHORDAL_LINK_WAIT, CHORDAL_E_TIMEOUT);
        span = span * 2 < 400 ? span * 2 : 400;
        chordal_time wait = chordal_host_deadline(p.b.host) - p.b.now;
        CHECK(wait >= span / 2 && wait < span);
        CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0); /* too late: it waits already */
        test_poll(&p.b);
        CHECK_INT(chordal_host_deadline(p.b.host) - p.b.now, wait);
    }
    p.b.now = chordal_host_deadline(p.b.host);
    test_poll(&p.b);
    link_again();
    p.b.now += 700; /* what came in time has no deadline any more */
    test_poll(&p.b);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_UP);
    close_pair();
}

static chordal_time deadline_of_dial(uint32_t flags, chordal_time dial_timeout) {
    test_host h;
    chordal_id link;
    test_host_open(&h, (chordal_host_options){.dial_timeout = dial_timeout});
    CHECK_INT(chordal_link_open(h.host, CHORDAL_LINK_CONNECT | flags, &link, NULL), 0);
    h.now += 1000000; /* the first turn that is taken is the first that knows the time */
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_DIAL);
    chordal_time deadline = chordal_host_deadline(h.host);
    if (deadline != CHORDAL_NEVER) deadline -= h.now;
    chordal_release(h.host, link);
    test_host_close(&h);
    return deadline;
}

TEST(who_dials_without_a_deadline) {
    CHECK_INT(deadline_of_dial(0, 0), 20000);
    CHECK_INT(deadline_of_dial(0, 3), 3);
    CHECK_INT(deadline_of_dial(0, CHORDAL_NEVER), CHORDAL_NEVER);
    CHECK_INT(deadline_of_dial(CHORDAL_LINK_PATIENT, 3), CHORDAL_NEVER);
}

/* A link that comes up and breaks each time: a provider without memory for what it should send, say. */
TEST(what_breaks_each_time_is_dialled_ever_more_seldom) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = CHORDAL_NEVER});
    uint64_t before = test_counters(&p.b).reconnects;
    chordal_time began = p.b.now;
    (void)wait_after_loss();
    while (p.b.now - began < 600000) {
        p.b.now = chordal_host_deadline(p.b.host);
        test_poll(&p.b);
        CHECK_INT(link_state(&p.b), CHORDAL_LINK_DIAL);
        link_again();
        p.b.now += 5;
        (void)wait_after_loss();
    }
    uint64_t times = test_counters(&p.b).reconnects - before;
    CHECK(times >= 40 && times < 90); /* by the first wait alone: 3,000 */
    close_pair();
}

/* ---- draining ---- */

static int result_of(chordal_id made) {
    for (size_t i = 0; i < p.b.len; i++)
        if (p.b.events[i].kind == CHORDAL_EVENT_RESULT && p.b.events[i].as.result.call == made)
            return p.b.events[i].as.result.code;
    return 1; /* none yet */
}

static chordal_id running(void) {
    chordal_id made = call(&p.b, reference, "add", "[1]");
    settle(&p);
    return made;
}

TEST(a_provider_drains) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id first = running();
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 1000, 0, NULL), 0);
    chordal_id late = running(), object;
    CHECK_INT(result_of(late), CHORDAL_E_REFUSED);
    CHECK_INT(result_of(first), 1);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1); /* it was never started */
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_UP);
    CHECK_INT(chordal_object_get(p.a.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &object, NULL),
              0);
    set_json(&p.a, object, NOTES_TITLE, "", "\"still\"");
    settle(&p);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_TITLE), "\"still\"");
    answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "[1]");
    test_poll(&p.a);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_UP); /* the ack is due */
    settle(&p);
    CHECK_INT(result_of(first), 0);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_CLOSED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_BYE);
    CHECK(chordal_host_deadline(p.a.host) > 1000);
    close_pair();
}

/* Calls that were sent and not handed out yet fail, too. */
TEST(calls_that_wait_were_not_run) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id made = call(&p.b, reference, "add", "[1]");
    CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, NULL, NULL), 0);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 1000, 0, NULL), 0);
    settle(&p);
    CHECK_INT(result_of(made), CHORDAL_E_REFUSED);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 0);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_CLOSED);
    close_pair();
}

TEST(a_consumer_drains) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id first = running();
    CHECK_INT(chordal_link_drain(p.b.host, p.link_b, 1000, 0, NULL), 0);
    chordal_id late = running();
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(result_of(late), 1); /* parked */
    answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "[1]");
    settle(&p);
    CHECK_INT(result_of(first), 0);
    CHECK(result_of(late) < 0);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(link_state(&p.b), CHORDAL_LINK_CLOSED);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_CLOSED);
    CHECK_INT(test_counters(&p.a).live_sessions, 0);
    close_pair();
}

TEST(a_drain_that_takes_too_long) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id made = running();
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 1000, 0, NULL), 0);
    settle(&p);
    go_on_to(999);
    settle(&p);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_UP);
    CHECK_INT(chordal_host_deadline(p.a.host), 1000);
    go_on_to(1000);
    settle(&p);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_CLOSED);
    CHECK_INT(result_of(made), CHORDAL_E_OUTCOME_UNKNOWN);
    close_pair();
}

TEST(a_drain_with_nothing_to_wait_for) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, CHORDAL_NEVER, 0, NULL), 0);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, CHORDAL_NEVER, 0, NULL), 0);
    settle(&p);
    CHECK_INT(link_state(&p.a), CHORDAL_LINK_CLOSED);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 0, 0, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    test_poll(&p.a);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 0, 0, NULL), CHORDAL_E_CLOSED);
    close_pair();
}

TESTS({"a pong goes before what waits", a_pong_goes_before_what_waits},
      {"not between a message and its raw frames", not_between_a_message_and_its_raw_frames},
      {"not before a frame that is being sent", not_before_a_frame_that_is_being_sent},
      {"not before the welcome", not_before_the_welcome},
      {"a half-open link while bulk waits", a_half_open_link_while_bulk_waits},
      {"any byte is a sign of life", any_byte_is_a_sign_of_life}, {"a frame that takes long", a_frame_that_takes_long},
      {"a piece answers a ping", a_piece_answers_a_ping},
      {"pieces do not prolong a handshake", pieces_do_not_prolong_a_handshake},
      {"backoff doubles with jitter up to its limit", backoff_doubles_with_jitter_up_to_its_limit},
      {"what breaks each time is dialled ever more seldom", what_breaks_each_time_is_dialled_ever_more_seldom},
      {"a dial without an answer is given up", a_dial_without_an_answer_is_given_up},
      {"who dials without a deadline", who_dials_without_a_deadline}, {"a provider drains", a_provider_drains},
      {"calls that wait were not run", calls_that_wait_were_not_run}, {"a consumer drains", a_consumer_drains},
      {"a drain that takes too long", a_drain_that_takes_too_long},
      {"a drain with nothing to wait for", a_drain_with_nothing_to_wait_for})
