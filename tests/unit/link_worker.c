/* link_worker.c: hosts behind a server that are processes: when one is gone, so is what it knew, and who holds there
 * asks at once for the next. */
#include "chain.h"

/* What the holder's server is asked, since the beginning. */
static size_t questions(void) {
    return count_events(&nodes[count - 2].h, CHORDAL_EVENT_RESOLVE);
}

static int state(void) {
    return chordal_reference_state(consumer()->host, reference);
}

/* As by kill -9; the next process is there, and not linked yet. */
static void die(void) {
    struct node *server = &nodes[count - 2], *worker = &nodes[count - 1];
    chordal_time now = worker->h.now;
    CHECK_INT(chordal_link_down(server->h.host, server->down, server->h.now, NULL), 0);
    chordal_host_forget(worker->h.host);
    free(worker->h.events);
    worker->up = 0;
    open_host(count - 1);
    worker->h.now = now;
    turn();
}

static void open_workers(int hops, bool lasting) {
    placed = true;
    nameless = !lasting;
    last_flags = CHORDAL_LINK_PATIENT | CHORDAL_LINK_WORKER;
    open_chain(hops);
}

static void close_workers(void) {
    close_chain();
    placed = nameless = false;
    last_flags = 0;
}

/* ---- a worker dies ---- */

/* What ran there is not known, nor run again, unless it may be; the next one serves as soon as it is there, without any
 * time that passes. */
static void check_death(int hops, bool lasting) {
    open_workers(hops, lasting);
    append_text(provider(), object, NOTES_LIST, "/text", "before");
    chordal_id once = call(consumer(), reference, "add", "[1]");
    chordal_id again = call(consumer(), reference, "ping", "[]");
    turn();
    CHECK_INT(count_events(provider(), CHORDAL_EVENT_CALL), 2);
    die();
    CHECK_INT(state(), CHORDAL_REFERENCE_DOWN);
    CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"before\"}");
    CHECK_INT(questions(), 2);
    host_event *e = last_event(consumer(), CHORDAL_EVENT_RESULT);
    CHECK_INT(count_events(consumer(), CHORDAL_EVENT_RESULT), 1);
    CHECK_INT(e->as.result.call, once);
    CHECK_INT(e->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    mend(count - 2);
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(questions(), 2);
    CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    CHECK_INT(count_events(provider(), CHORDAL_EVENT_CALL), 1);
    CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "3"), 0);
    turn();
    e = last_event(consumer(), CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.call, again);
    CHECK_INT(e->as.result.code, 0);
    close_workers();
}

TEST(its_holders_are_live_with_the_next) {
    for (int hops = 1; hops <= 3; hops++) {
        check_death(hops, false);
        check_death(hops, true);
    }
}

/* One that dies each time is asked for ever more seldom; after a good while at once again. */
TEST(one_that_dies_each_time) {
    open_workers(1, false);
    size_t asked = questions();
    die();
    CHECK_INT(questions(), ++asked);
    mend(1);
    for (chordal_time wait = 250; wait < 15000; wait *= 2) {
        CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
        die();
        mend(1);
        pass(wait - 1);
        CHECK_INT(questions(), asked);
        CHECK_INT(state(), CHORDAL_REFERENCE_DOWN);
        pass(1);
        CHECK_INT(questions(), ++asked);
    }
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    pass(15000 * 8);
    die();
    CHECK_INT(questions(), ++asked);
    close_workers();
}

/* The way to the server is lost, and the worker dies meanwhile. */
TEST(it_dies_while_its_holder_is_away) {
    for (int back = 0; back < 2; back++) {
        open_workers(1, false);
        chordal_id once = call(consumer(), reference, "add", "[1]");
        turn();
        cut(0);
        die();
        CHECK_INT(questions(), 1);
        if (back) mend(1); /* the next one is there before the holder */
        mend(0);
        CHECK_INT(questions(), 2);
        if (!back) mend(1);
        CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
        CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.call, once);
        CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
        CHECK_INT(count_events(provider(), CHORDAL_EVENT_CALL), 0);
        close_workers();
    }
}

/* It is waited for as long as it is started again, and when that is given up the question comes again. */
TEST(it_takes_its_time) {
    open_workers(1, false);
    struct node *server = &nodes[1];
    die();
    pass(600000);
    CHECK_INT(questions(), 2);
    CHECK_INT(state(), CHORDAL_REFERENCE_DOWN);
    mend(1);
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    pass(15000 * 8);
    die();
    CHECK_INT(questions(), 3);
    chordal_id closed = server->down;
    CHECK_INT(chordal_link_open(server->h.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_ROUTE_OFFERS | last_flags,
                                &server->down, NULL),
              0);
    CHECK_INT(chordal_link_close(server->h.host, closed, NULL), 0);
    turn();
    CHECK_INT(questions(), 4);
    CHECK_INT(state(), CHORDAL_REFERENCE_DOWN);
    chordal_release(server->h.host, closed);
    mend(1);
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    close_workers();
}

/* A first start is waited for until the question's deadline, as any link. */
TEST(it_never_started) {
    open_workers(1, false);
    struct node *server = &nodes[1];
    chordal_id there = server->down;
    CHECK_INT(chordal_link_open(server->h.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_ROUTE_OFFERS | last_flags,
                                &server->down, NULL),
              0);
    chordal_id other = get(consumer(), "notes", "{\"board\":\"other\"}");
    turn();
    pass(59999);
    CHECK_INT(chordal_reference_state(consumer()->host, other), CHORDAL_REFERENCE_PENDING);
    pass(1);
    CHECK_INT(chordal_reference_state(consumer()->host, other), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DEADLINE);
    chordal_release(consumer()->host, other);
    chordal_release(server->h.host, server->down);
    server->down = there;
    close_workers();
}

/* ---- what is no worker's end ---- */

/* Who is behind a worker lost its way, and no more. */
TEST(a_host_behind_a_worker_comes_back) {
    worker_at = 1;
    last_flags = CHORDAL_LINK_WORKER;
    open_chain(2);
    append_text(provider(), object, NOTES_LIST, "/text", "before ");
    chordal_id made = call(consumer(), reference, "add", "[1]");
    turn();
    cut(1);
    CHECK_INT(test_counters(provider()).live_lost, 1);
    append_text(provider(), object, NOTES_LIST, "/text", "meanwhile");
    CHECK_INT(answer(provider(), last_event(provider(), CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
    turn();
    mend(1);
    pass(250);
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(consumer(), reference, NOTES_LIST), "{\"entries\":[],\"text\":\"before meanwhile\"}");
    CHECK_INT(test_counters(provider()).sessions_back, 1);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.call, made);
    CHECK_INT(last_event(consumer(), CHORDAL_EVENT_RESULT)->as.result.code, 0);
    close_chain();
    worker_at = -1;
    last_flags = 0;
}

/* The host that was dialled is another one now: nobody tries the old way four times. */
TEST(another_host_takes_its_place) {
    placed = nameless = true;
    open_chain(1);
    die();
    CHECK_INT(state(), CHORDAL_REFERENCE_DOWN);
    pass(200);
    CHECK_INT(questions(), 1); /* it might come back */
    mend(1);
    pass(50); /* once it is tried, and asked for behind another wait */
    pass(250);
    CHECK_INT(questions(), 2);
    CHECK_INT(state(), CHORDAL_REFERENCE_LIVE);
    placed = nameless = false;
    close_chain();
}

TESTS({"its holders are live with the next", its_holders_are_live_with_the_next},
      {"one that dies each time", one_that_dies_each_time},
      {"it dies while its holder is away", it_dies_while_its_holder_is_away}, {"it takes its time", it_takes_its_time},
      {"it never started", it_never_started}, {"a host behind a worker comes back", a_host_behind_a_worker_comes_back},
      {"another host takes its place", another_host_takes_its_place})
