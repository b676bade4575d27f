/* link_acks.c: an ack stands for all that was taken before it, so it waits for more: how long, and for what not. */
#define HOST_EVENTS 1024
#include "fuzz/peer.h"
#include "way.h"

static test_pair p;
static chordal_id reference, object;

static void open_pair(chordal_host_options options) {
    pair_open(&p, CHORDAL_CODEC_BINARY, options, 0, 0);
    provide(&p.a, NOTES);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
}

static void close_pair(void) {
    chordal_release(p.b.host, reference);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

static uint64_t sent_by(test_host *h) {
    return test_counters(h).messages_out;
}

static void call_and_answer(const char *value) {
    call(&p.b, reference, "add", "[1]");
    settle(&p);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, value), 0);
    settle(&p);
}

static void commit(const char *json) {
    set_json(&p.a, object, NOTES_TITLE, "", json);
    settle(&p);
}

/* What the consumer sends beside the calls themselves. */
static uint64_t acks_of_calls(int count, const char *value) {
    uint64_t before = sent_by(&p.b);
    for (int i = 0; i < count; i++) call_and_answer(value);
    return sent_by(&p.b) - before - (uint64_t)count;
}

static uint64_t acks_of_commits(int count) {
    uint64_t before = sent_by(&p.b);
    for (int i = 0; i < count; i++) commit(i & 1 ? "\"a\"" : "\"b\"");
    return sent_by(&p.b) - before;
}

/* origin, hold, and the ack of the first bound, which tells how long the way is */
TEST(the_first_goes_at_once) {
    open_pair((chordal_host_options){0});
    CHECK_INT(sent_by(&p.b), 1 + 3);
    CHECK_INT(chordal_host_deadline(p.b.host), 15000);
    close_pair();
}

TEST(one_for_half_a_window) {
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(64, "1"), 8);
    CHECK_INT(acks_of_commits(64), 8);
    close_pair();
}

TEST(it_waits_for_its_time) {
    open_pair((chordal_host_options){0});
    p.a.now = p.b.now = 1000;
    CHECK_INT(acks_of_calls(1, "1"), 0);
    CHECK_INT(chordal_host_deadline(p.b.host), 1000 + ACK_DELAY);
    p.b.now = 1010;
    test_poll(&p.b);
    CHECK_INT(acks_of_commits(1), 0);
    CHECK_INT(chordal_host_deadline(p.b.host), 1000 + ACK_DELAY); /* that of the first one */
    uint64_t before = sent_by(&p.b);
    p.a.now = p.b.now = 1000 + ACK_DELAY;
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 1);
    CHECK(chordal_host_deadline(p.b.host) > 1000 + ACK_DELAY);
    p.a.now = p.b.now = 1000 + 2 * ACK_DELAY;
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 1);
    close_pair();
}

/* One ack of each: a window of one message, few bytes, few outcomes. */
TEST(a_small_window_waits_for_nothing) {
    const chordal_host_options small[] = {
        {.window_messages = 1}, {.window_messages = 3}, {.window_bytes = 2048}, {.outcome_limit = 2048}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        open_pair(small[i]);
        CHECK_INT(acks_of_calls(8, "1"), 8);
        CHECK_INT(acks_of_commits(8), 8);
        close_pair();
    }
    open_pair((chordal_host_options){.window_messages = 4});
    CHECK_INT(acks_of_calls(8, "1"), 4);
    close_pair();
}

TEST(a_large_window_has_a_limit) {
    open_pair((chordal_host_options){.window_messages = 65536});
    CHECK_INT(acks_of_commits(192), 3);
    close_pair();
}

TEST(large_ones_go_at_once) {
    static char text[8200];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(4, text), 4);
    uint64_t before = sent_by(&p.b);
    text[4000] = '"', text[4001] = 0;
    for (int i = 0; i < 6; i++) {
        text[1] = (char)('a' + i);
        commit(text);
    }
    CHECK_INT(sent_by(&p.b) - before, 2); /* 12,000 bytes each */
    close_pair();
}

/* More objects than go in one message: such a cut is large. */
TEST(a_cut_in_several_goes_at_once) {
    enum { OBJECTS = 65 };
    chordal_id references[OBJECTS], objects[OBJECTS], ticket;
    chordal_transaction *t;
    char params[32];
    open_pair((chordal_host_options){0});
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
        references[i] = get(&p.b, "notes", params);
        settle(&p);
        objects[i] = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    }
    settle_acks(&p);
    uint64_t before = sent_by(&p.b);
    CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
    for (int i = 0; i < OBJECTS; i++)
        CHECK_INT(chordal_transaction_set_json(t, objects[i], NOTES_TITLE, "", "\"a\"", NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 1);
    for (int i = 0; i < OBJECTS; i++) chordal_release(p.b.host, references[i]);
    settle(&p);
    close_pair();
}

/* What its watch has not taken may fill the window: outcomes do not wait beside it. */
TEST(outcomes_beside_an_untaken_frame_go_at_once) {
    chordal_id watch;
    open_pair((chordal_host_options){0});
    CHECK_INT(chordal_watch_open(p.b.host, reference, NOTES_TITLE, CHORDAL_WATCH_MANUAL, &watch, NULL), 0);
    settle_acks(&p);
    CHECK_INT(chordal_watch_take(p.b.host, watch, NULL), 0);
    CHECK_INT(acks_of_calls(3, "1"), 0);
    settle_acks(&p);
    commit("\"a\"");
    commit("\"b\"");
    CHECK_INT(acks_of_calls(3, "1"), 3);
    uint64_t before = sent_by(&p.b);
    settle_acks(&p);
    CHECK_INT(sent_by(&p.b) - before, 0);
    CHECK_INT(chordal_watch_take(p.b.host, watch, NULL), 0); /* the first; the second is told */
    settle_acks(&p);
    CHECK_INT(sent_by(&p.b) - before, 0);
    CHECK_INT(chordal_watch_take(p.b.host, watch, NULL), 0);
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 0);
    settle_acks(&p);
    CHECK_INT(sent_by(&p.b) - before, 1);
    chordal_release(p.b.host, watch);
    close_pair();
}

/* ---- who waits for them ---- */

/* An outcome keeps its object. */
TEST(a_release_takes_it_along) {
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(2, "1"), 0);
    uint64_t before = sent_by(&p.b);
    chordal_release(p.b.host, reference);
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 2);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

TEST(a_ping_takes_it_along) {
    open_pair((chordal_host_options){.ping_interval = 15});
    CHECK_INT(acks_of_calls(2, "1"), 0);
    uint64_t before = sent_by(&p.b);
    p.a.now = 15; /* b has not come to its time */
    test_poll(&p.a);
    settle(&p);
    CHECK_INT(sent_by(&p.b) - before, 2);
    close_pair();
}

TEST(a_provider_that_drains_waits_for_no_time) {
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(2, "1"), 0);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 1000, 0, NULL), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_BYE);
    close_pair();
}

/* Nor for the acks of what it answers while it drains. */
TEST(an_outcome_of_a_link_that_drains) {
    open_pair((chordal_host_options){0});
    call(&p.b, reference, "add", "[1]");
    settle(&p);
    CHECK_INT(chordal_link_drain(p.a.host, p.link_a, 1000, 0, NULL), 0);
    settle(&p);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "1"), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, 0);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_BYE);
    close_pair();
}

TEST(a_bye_comes_after_it) {
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(2, "1"), 0);
    uint64_t before = sent_by(&p.b);
    CHECK_INT(chordal_link_close(p.b.host, p.link_b, NULL), 0);
    CHECK_INT(sent_by(&p.b) - before, 2);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_sessions, 0);
    close_pair();
}

/* What was taken counts when a session is back, whether it was acknowledged or not. */
TEST(it_is_made_up_for_by_coming_back) {
    open_pair((chordal_host_options){0});
    CHECK_INT(acks_of_calls(2, "1"), 0);
    CHECK_INT(acks_of_commits(2), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, 0, NULL), 0);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, 0, NULL), 0);
    settle(&p);
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, 0, NULL), 0);
    uint64_t results = count_events(&p.b, CHORDAL_EVENT_RESULT), before = sent_by(&p.b);
    pair_up(&p);
    settle_acks(&p);
    CHECK_INT(test_counters(&p.a).sessions_back, 1);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), results);
    CHECK_INT(sent_by(&p.b) - before, 2); /* hello, origin */
    CHECK_INT(acks_of_calls(1, "1"), 1);  /* the way is another */
    CHECK_INT(acks_of_calls(8, "1"), 1);
    close_pair();
}

/* ---- what the provider makes of it ---- */

static way_pair w;

/* Messages for commits that come all at once: what the window takes. */
static uint64_t burst(void) {
    uint64_t before = sent_by(&w.p.a);
    for (int i = 0; i < 200; i++) {
        set_json(&w.p.a, object, NOTES_TITLE, "", i & 1 ? "\"a\"" : "\"b\"");
        test_poll(&w.p.a);
    }
    uint64_t sent = sent_by(&w.p.a) - before;
    for (int i = 0; i < 50; i++) way_step(&w);
    return sent;
}

/* On a short way an ack that waited is much later than one that did not: its reader is not slow. */
TEST(a_late_ack_does_not_narrow_the_window) {
    way_open(&w, 1, (chordal_host_options){0});
    reference = get(&w.p.b, "notes", NOTES_PARAMS);
    for (int i = 0; i < 10; i++) way_step(&w);
    object = last_event(&w.p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    for (int i = 0; i < 3; i++) burst();
    uint64_t wide = burst();
    CHECK(wide >= 64);
    for (int i = 0; i < 50; i++) {
        set_json(&w.p.a, object, NOTES_TITLE, "", i & 1 ? "\"c\"" : "\"d\"");
        for (int s = 0; s < 40; s++) way_step(&w);
    }
    CHECK(burst() >= wide);
    chordal_release(w.p.b.host, reference);
    way_close(&w);
}

/* ---- a peer that says what it likes ---- */

/* However much it says that may wait: an ack of so many goes, and of fewer in time. */
TEST(a_share_beyond_all_is_bounded) {
    test_host h;
    raw_peer peer;
    test_host_open(&h, (chordal_host_options){0});
    peer_open(&peer, &h, CHORDAL_LINK_CONNECT, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(&peer), 0);
    reference = get_over(&h, peer.link, "notes", NOTES_PARAMS, 0);
    test_poll(&h);
    peer_hear(&peer);
    chordal__message opened = peer_message(&peer, CHORDAL__OPENED, 1);
    opened.numbers[1] = (UINT64_C(1) << 53) - 1;
    CHECK_INT(peer_say(&peer, &opened), 0);
    CHECK_INT(say_bound(&peer, 1, 0, true), 0);
    test_poll(&h);
    peer_hear(&peer);
    CHECK_INT(peer.heard[CHORDAL__ACK], 1);
    for (int i = 0; i < 128; i++) {
        CHECK_INT(say_number(&peer, CHORDAL__STATE, 1, 1), 0);
        test_poll(&h);
        peer_hear(&peer);
    }
    CHECK_INT(peer.heard[CHORDAL__ACK], 3);
    CHECK_INT(peer.numbers[CHORDAL__ACK], 64);
    CHECK_INT(say_number(&peer, CHORDAL__STATE, 1, 1), 0);
    test_poll(&h);
    h.now += ACK_DELAY;
    test_poll(&h);
    peer_hear(&peer);
    CHECK_INT(peer.heard[CHORDAL__ACK], 4);
    chordal_release(h.host, reference);
    peer_close(&peer);
    test_host_close(&h);
}

TESTS({"the first goes at once", the_first_goes_at_once}, {"one for half a window", one_for_half_a_window},
      {"it waits for its time", it_waits_for_its_time},
      {"a small window waits for nothing", a_small_window_waits_for_nothing},
      {"a large window has a limit", a_large_window_has_a_limit}, {"large ones go at once", large_ones_go_at_once},
      {"a cut in several goes at once", a_cut_in_several_goes_at_once},
      {"outcomes beside an untaken frame go at once", outcomes_beside_an_untaken_frame_go_at_once},
      {"a release takes it along", a_release_takes_it_along}, {"a ping takes it along", a_ping_takes_it_along},
      {"a provider that drains waits for no time", a_provider_that_drains_waits_for_no_time},
      {"an outcome of a link that drains", an_outcome_of_a_link_that_drains},
      {"a bye comes after it", a_bye_comes_after_it},
      {"it is made up for by coming back", it_is_made_up_for_by_coming_back},
      {"a late ack does not narrow the window", a_late_ack_does_not_narrow_the_window},
      {"a share beyond all is bounded", a_share_beyond_all_is_bounded})
