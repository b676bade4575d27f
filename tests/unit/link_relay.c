/* link_relay.c: sessions through hosts in the middle, up to four hops, when a link on the way breaks or a host there is
 * restarted. */
#include "chain.h"

/* One to four hops behave as none; nothing is parsed on the way but the params of the hold that is moved on. */
static void check_hops(void) {
    for (int hops = 1; hops <= 4; hops++) {
        open_chain(hops);
        for (int i = 0; i < 20; i++) {
            append_text(provider(), object, NOTES_LIST, "/text", "tok ");
            turn();
        }
        CHECK_INT(strlen(value_of(consumer(), reference, NOTES_LIST)), strlen("{\"entries\":[],\"text\":\"\"}") + 80);
        chordal_id made = call(consumer(), reference, "add", "[1]");
        turn();
        CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
        turn();
        CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.call, made);
        for (int i = 1; i <= hops; i++) {
            CHECK_INT(test_counters(&nodes[i].h).parts_parsed, 1);
            CHECK_INT(test_counters(&nodes[i].h).changes_encoded, 0);
            CHECK_INT(test_counters(&nodes[i].h).live_objects, 0);
        }
        close_chain();
    }
}

/* Whichever link breaks: what happened meanwhile arrives once, calls run once. */
static void check_breaks(void) {
    for (int hops = 1; hops <= 3; hops++) {
        for (int broken = 0; broken <= hops; broken++) {
            open_chain(hops);
            append_text(provider(), object, NOTES_LIST, "/text", "before ");
            turn();
            chordal_id made = call(consumer(), reference, "add", "[1]");
            turn();
            cut(broken);
            CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_DOWN);
            CHECK_INT(test_counters(provider()).live_lost, 1);
            append_text(provider(), object, NOTES_LIST, "/text", "meanwhile");
            CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
            turn();
            uint64_t snapshots = test_counters(provider()).snapshots_encoded;
            mend(broken);
            pass(5000);
            if (chordal_reference_state(consumer()->host, reference) != CHORDAL_REFERENCE_LIVE)
                CHECK_FAIL("%d hops, link %d broken: not live", hops, broken);
            CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"before meanwhile\"}");
            CHECK_INT(test_counters(provider()).snapshots_encoded, snapshots);
            CHECK_INT(test_counters(provider()).sessions_back, 1);
            CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.call, made);
            CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, 0);
            CHECK_INT(count_events(provider(), CHORDAL_EVENT_CALL), 1);
            close_chain();
        }
    }
}

/* The host in the middle goes, with a word or without. */
static void stop(int i, bool politely) {
    struct node *relay = &nodes[i], *near = &nodes[i - 1], *far = &nodes[i + 1];
    if (politely) {
        CHECK_INT(chordal_host_leave(relay->h.host, 0, relay->h.now, NULL), 0);
        turn();
        CHECK_INT(last_event(&near->h, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_BYE);
    } else {
        CHECK_INT(chordal_link_down(near->h.host, near->down, 0, NULL), 0);
        CHECK_INT(chordal_link_down(far->h.host, far->up, 0, NULL), 0);
    }
    chordal_release(relay->h.host, relay->up);
    chordal_release(relay->h.host, relay->down);
    chordal_release(far->h.host, far->up);
    relay->up = relay->down = far->up = 0;
    turn();
    CHECK_INT(test_counters(provider()).live_lost, 1);
}

/* A host in the middle keeps nothing of a session: stopped and started anew it serves it on. */
static void check_restarts(bool politely) {
    for (int hops = 1; hops <= 3; hops++) {
        for (int killed = 1; killed <= hops; killed++) {
            open_chain(hops);
            append_text(provider(), object, NOTES_LIST, "/text", "before ");
            chordal_id made = call(consumer(), reference, "add", "[1]");
            turn();
            struct node *relay = &nodes[killed], *near = &nodes[killed - 1];
            stop(killed, politely);
            chordal_time now = relay->h.now;
            test_host_close(&relay->h);
            append_text(provider(), object, NOTES_LIST, "/text", "meanwhile");
            open_host(killed);
            relay->h.now = now;
            open_link(killed);
            CHECK_INT(chordal_link_open(relay->h.host, CHORDAL_LINK_OFFER, &relay->up, NULL), 0);
            CHECK_INT(chordal_link_retry(near->h.host, near->down, near->h.now, NULL), 0);
            test_poll(&near->h);
            connect_pair(killed - 1);
            turn();
            CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
            for (int i = 0; i < 12; i++) pass(2000);
            if (chordal_reference_state(consumer()->host, reference) != CHORDAL_REFERENCE_LIVE)
                CHECK_FAIL("%d hops, host %d stopped (%d): not live", hops, killed, politely);
            CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"before meanwhile\"}");
            host_event *e = last_event(consumer(), CHORDAL_EVENT_RESULT);
            CHECK_INT(e ? e->as.result.call : 0, made);
            CHECK_INT(e ? e->as.result.code : 1, 0);
            CHECK_INT(count_events(provider(), CHORDAL_EVENT_CALL), 1);
            if (test_counters(provider()).sessions_back != 1)
                CHECK_FAIL("%d hops, host %d stopped (%d): not back", hops, killed, politely);
            pass(60000);
            close_chain();
        }
    }
}

TEST(hops_behave_as_one) {
    check_hops();
}

TEST(any_link_may_break) {
    check_breaks();
}

TEST(a_relay_is_restarted) {
    check_restarts(false);
    check_restarts(true);
}

/* The same when the last host in the middle is told where each object is: a server and its worker. */
TEST(with_a_worker_at_the_end) {
    placed = true;
    check_hops();
    check_breaks();
    check_restarts(false);
    check_restarts(true);
    placed = false;
}

/* How long the consumer waits after the link behind the relay broke; then all is well again. */
static chordal_time wait_after_break(void) {
    cut(1);
    CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_DOWN);
    chordal_time wait = chordal_host_deadline(consumer()->host) - consumer()->now;
    mend(1);
    pass(wait);
    CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_LIVE);
    return wait;
}

/* A way that is there each time, and gone at once, is taken ever more seldom; one that was good for long begins anew.
 */
TEST(a_way_that_breaks_each_time) {
    open_chain(1);
    for (chordal_time wait = 250; wait < 15000; wait *= 2) CHECK_INT(wait_after_break(), wait);
    CHECK_INT(wait_after_break(), 15000);
    pass(15000 * 8 - 1);
    CHECK_INT(wait_after_break(), 15000);
    pass(15000 * 8);
    CHECK_INT(wait_after_break(), 250);
    CHECK_INT(test_counters(provider()).sessions_back, 9);
    close_chain();
}

/* Without the host in the middle the provider learns that the consumer is gone for good, or may come back. */
TEST(the_provider_is_told) {
    open_chain(2);
    CHECK_INT(chordal_link_close(consumer()->host, nodes[0].down, NULL), 0);
    turn();
    CHECK_INT(test_counters(provider()).live_lost, 0);
    CHECK_INT(test_counters(provider()).live_objects, 0);
    close_chain();
    open_chain(2);
    cut(0);
    CHECK_INT(test_counters(provider()).live_lost, 1);
    CHECK_INT(test_counters(provider()).live_objects, 1);
    pass(60000);
    CHECK_INT(test_counters(provider()).live_lost, 0);
    CHECK_INT(test_counters(provider()).live_objects, 0);
    close_chain();
}

#define OWN                                                                                                            \
    "{\"name\":\"own\",\"version\":1,\"params\":[\"board\"],\"members\":["                                             \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},{\"name\":\"add\",\"kind\":\"method\"}]}"

/* What runs at the host in the middle itself has its time; what passes through is not waited for, and goes on as long
 * as the links are there. */
static void check_drain(bool answered) {
    open_chain(1);
    test_host *relay = &nodes[1].h;
    provide(relay, OWN);
    chordal_id own = get(consumer(), "own", NOTES_PARAMS);
    turn();
    (void)call(consumer(), own, "add", "[]");
    chordal_id passing = call(consumer(), reference, "add", "[]");
    turn();
    host_event *e = last_event(relay, CHORDAL_EVENT_CALL);
    CHECK_INT(chordal_host_leave(relay->host, 5000, relay->now, NULL), 0);
    append_text(provider(), object, NOTES_LIST, "/text", "still");
    pass(4000);
    CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"still\"}");
    (void)call(consumer(), own, "add", "[]");
    turn();
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_REFUSED);
    CHECK_INT(test_counters(provider()).live_lost, 0);
    if (answered) CHECK_INT(answer(relay, e->as.call.call, "1"), 0);
    if (answered)
        turn();
    else
        pass(1000);
    CHECK_INT(count_events(consumer(), CHORDAL_EVENT_RESULT), 2);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, answered ? 0 : CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_BYE);
    CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_INT(test_counters(provider()).live_lost, 1);
    /* Its own way out: nothing of the session was lost. */
    CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
    chordal_release(relay->host, nodes[1].up);
    chordal_release(relay->host, nodes[1].down);
    chordal_release(provider()->host, nodes[2].up);
    CHECK_INT(chordal_link_open(relay->host, CHORDAL_LINK_OFFER, &nodes[1].up, NULL), 0);
    open_link(1);
    CHECK_INT(chordal_link_retry(consumer()->host, nodes[0].down, consumer()->now, NULL), 0);
    test_poll(consumer());
    connect_pair(0);
    turn();
    pass(5000);
    CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.call, passing);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, 0);
    CHECK_INT(test_counters(provider()).sessions_back, 1);
    if (!answered) chordal_release(relay->host, e->as.call.call);
    chordal_release(consumer()->host, own);
    turn();
    close_chain();
}

TEST(a_relay_that_drains) {
    check_drain(true);
    check_drain(false);
}

/* Each session counts its own attempts: others over the same link that fail too do not hurry it into giving up. */
TEST(attempts_are_counted_by_session) {
    open_chain(3); /* with a session to each host on the way */
    struct node *relay = &nodes[1];
    uint64_t snapshots = test_counters(provider()).snapshots_encoded;
    stop(1, false);
    chordal_time now = relay->h.now;
    test_host_close(&relay->h);
    open_host(1);
    relay->h.now = now;
    CHECK_INT(chordal_link_open(relay->h.host, CHORDAL_LINK_OFFER, &relay->up, NULL), 0);
    CHECK_INT(chordal_link_retry(consumer()->host, nodes[0].down, consumer()->now, NULL), 0);
    test_poll(consumer());
    connect_pair(0);
    turn();
    pass(300); /* each was told twice that there is no route */
    open_link(1);
    turn();
    pass(5000);
    CHECK_INT(chordal_reference_state(consumer()->host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(test_counters(provider()).sessions_back, 1);
    CHECK_INT(test_counters(provider()).snapshots_encoded, snapshots);
    close_chain();
}

TESTS({"hops behave as one", hops_behave_as_one}, {"any link may break", any_link_may_break},
      {"a relay is restarted", a_relay_is_restarted}, {"with a worker at the end", with_a_worker_at_the_end},
      {"a way that breaks each time", a_way_that_breaks_each_time}, {"the provider is told", the_provider_is_told},
      {"a relay that drains", a_relay_that_drains},
      {"attempts are counted by session", attempts_are_counted_by_session})
