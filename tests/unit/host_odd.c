/* Odd moments: what a program does while a batch settles, while frames wait, while a link is down, and at limits. */
#include "fuzz/peer.h"

#include "value/value.h"

#define SUM                                                                                                            \
    "{\"name\":\"sum\",\"params\":[\"n\"],\"members\":[{\"name\":\"a\",\"kind\":\"document\",\"initial\":1},"          \
    "{\"name\":\"b\",\"kind\":\"derive\",\"from\":[\"a\"]},{\"name\":\"go\",\"kind\":\"method\"},"                     \
    "{\"name\":\"same\",\"kind\":\"method\",\"idempotent\":true}]}"
enum { SUM_A, SUM_B, SUM_GO, SUM_SAME };

static chordal_id get_object(test_host *h, const char *type, const char *params) {
    chordal_id object = 0;
    CHECK_INT(chordal_object_get(h->host, type, strlen(type), CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                 strlen(params), &object, NULL),
              0);
    return object;
}

static int compute(test_host *h, chordal_id id, const char *json) {
    return chordal_compute_answer(h->host, id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL);
}

static chordal_id last_compute(test_host *h) {
    host_event *event = last_event(h, CHORDAL_EVENT_COMPUTE);
    return event ? event->as.compute.compute : 0;
}

static chordal_id last_call(test_host *h) {
    host_event *event = last_event(h, CHORDAL_EVENT_CALL);
    return event ? event->as.call.call : 0;
}

/* An own object that is live, its derive computed. */
static chordal_id live_sum(test_host *h, const char *params) {
    chordal_id object = get_object(h, "sum", params);
    test_poll(h);
    CHECK_INT(compute(h, last_compute(h), "10"), 0);
    test_poll(h);
    forget_events(h);
    return object;
}

/* ---- while a batch settles ---- */

TEST(an_object_that_was_never_told_holds_up_nothing) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, SUM);
    chordal_id other = live_sum(&h, "{\"n\":1}");
    chordal_id object = get_object(&h, "sum", "{\"n\":2}");
    chordal_id ticket = set_json(&h, object, SUM_A, "", "2");
    CHECK_INT(chordal_object_drop(h.host, object, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_COMPUTE), 0);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_OBJECT), 0);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.ticket, ticket);
    set_json(&h, other, SUM_A, "", "3");
    test_poll(&h);
    CHECK_INT(compute(&h, last_compute(&h), "30"), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 2);
    CHECK_INT(test_counters(&h).live_objects, 1);
    test_host_close(&h);
}

TEST(retire_while_settling) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, SUM);
    chordal_id one = live_sum(&h, "{\"n\":1}"), two = live_sum(&h, "{\"n\":2}");
    chordal_transaction *t;
    chordal_id ticket;
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, one, SUM_A, "", "5", NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, two, SUM_A, "", "6", NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_COMPUTE), 2);
    chordal_id of_one = h.events[0].as.compute.compute, of_two = h.events[1].as.compute.compute;
    CHECK_INT(chordal_object_retire(h.host, one, NULL), 0);
    CHECK_INT(compute(&h, of_one, "50"), CHORDAL_E_CLOSED);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 0);
    CHECK_INT(compute(&h, of_two, "60"), 0);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.ticket, ticket);
    CHECK_TEXT(head_of(&h, two, SUM_B), "60");
    CHECK_INT(last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.state, CHORDAL_OBJECT_RETIRED);
    test_host_close(&h);
}

TEST(commit_and_release_while_settling) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, SUM);
    chordal_id object = live_sum(&h, "{\"n\":1}");
    chordal_id reference = get(&h, "sum", "{\"n\":1}"), watch = 0;
    test_poll(&h);
    CHECK_INT(chordal_watch_open(h.host, reference, CHORDAL_ALL_MEMBERS, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    chordal_id first = set_json(&h, object, SUM_A, "", "2"), second = set_json(&h, object, SUM_A, "", "3");
    test_poll(&h);
    CHECK_INT(h.len, 1); /* one compute, nothing else */
    CHECK_INT(compute(&h, last_compute(&h), "20"), 0);
    chordal_release(h.host, watch);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 0);
    CHECK_INT(compute(&h, last_compute(&h), "30"), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 2);
    chordal_id told[2], tickets = 0;
    for (size_t i = 0; i < h.len; i++)
        if (h.events[i].kind == CHORDAL_EVENT_TICKET) told[tickets++] = h.events[i].as.ticket.ticket;
    CHECK_INT(told[0], first);
    CHECK_INT(told[1], second);
    CHECK_TEXT(value_of(&h, reference, SUM_B), "30");
    set_json(&h, object, SUM_A, "", "4"); /* settles for ever */
    chordal_release(h.host, reference);
    CHECK_INT(chordal_object_drop(h.host, object, NULL), 0);
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 0);
    test_host_close(&h);
}

TEST(link_down_while_settling) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, SUM);
    chordal_id object = live_sum(&p.a, "{\"n\":1}"), reference = get(&p.b, "sum", "{\"n\":1}");
    settle(&p);
    CHECK_TEXT(value_of(&p.b, reference, SUM_B), "10");
    set_json(&p.a, object, SUM_A, "", "2");
    test_poll(&p.a);
    chordal_id id = last_compute(&p.a);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, 0, NULL), 0);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, 0, NULL), 0);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_TEXT(value_of(&p.b, reference, SUM_A), "1");
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    pair_up(&p);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, SUM_A), "1"); /* nothing of the batch is seen before its derives */
    CHECK_INT(compute(&p.a, id, "20"), 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, SUM_A), "2");
    CHECK_TEXT(value_of(&p.b, reference, SUM_B), "20");
    chordal_release(p.b.host, reference);
    pair_close(&p);
}

/* Whatever is open: a host closed while it settles gives all back. */
TEST(close_while_settling) {
    test_pair p;
    chordal_transaction *t;
    chordal_id watch, ticket;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, SUM);
    chordal_id object = live_sum(&p.a, "{\"n\":1}"), own = get(&p.a, "sum", "{\"n\":1}");
    chordal_id reference = get(&p.b, "sum", "{\"n\":1}");
    settle(&p);
    chordal_id made = call(&p.b, reference, "go", "[]");
    settle(&p);
    CHECK_INT(chordal_watch_open(p.a.host, object, SUM_A, CHORDAL_WATCH_EARLY, &watch, NULL), 0);
    CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, SUM_A, "", "9", NULL), 0);
    chordal_id served = last_call(&p.a);
    set_json_for(&p.a, served, object, SUM_A, "", "3");
    test_poll(&p.a);
    CHECK(last_compute(&p.a) != 0);
    chordal_host_close(p.a.host);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), CHORDAL_E_CLOSED);
    chordal_id left[] = {own, watch, served, p.link_a};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) chordal_release(p.a.host, left[i]);
    chordal_release(p.b.host, made);
    chordal_release(p.b.host, reference);
    chordal_release(p.b.host, p.link_b);
    free(p.a.events);
    test_host_close(&p.b);
}

TEST(an_object_starts_once) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, "{\"name\":\"slow\",\"start\":true,\"members\":[{\"name\":\"a\",\"kind\":\"document\"},"
                "{\"name\":\"b\",\"kind\":\"derive\",\"from\":[\"a\"]}]}");
    chordal_id reference = get(&h, "slow", "{}");
    test_poll(&h);
    chordal_id object = last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_start(h.host, object, NULL, 0, NULL, 0, NULL), 0);
    CHECK_INT(chordal_object_start(h.host, object, NULL, 0, NULL, 0, NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_object_start(h.host, object, "no", 2, NULL, 0, NULL), CHORDAL_E_STATE);
    test_poll(&h);
    CHECK_INT(chordal_compute_fail(h.host, last_compute(&h), "bad", 3, "words", 5, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_COMPUTE), 1);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* A failed object is known: its end is told, also while it is asked to start again. */
TEST(the_end_of_a_failed_object_is_told) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, "{\"name\":\"slow\",\"start\":true,\"members\":[]}");
    chordal_id reference = get(&h, "slow", "{}");
    test_poll(&h);
    chordal_id object = last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_start(h.host, object, "no", 2, "words", 5, NULL), 0);
    CHECK_INT(chordal_reference_retry(h.host, reference, NULL), 0);
    chordal_release(h.host, reference);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_OBJECT), 2);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.state, CHORDAL_OBJECT_RETIRED);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.object, object);
    CHECK_INT(test_counters(&h).live_objects, 0);
    test_host_close(&h);
}

/* Two hold an object that fails; one tries again: both get it. */
TEST(a_retry_helps_all_that_hold) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, "{\"name\":\"slow\",\"start\":true,\"members\":[]}");
    chordal_id one = get(&p.b, "slow", "{}"), two = get(&p.b, "slow", "{}");
    settle(&p);
    chordal_id object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_start(p.a.host, object, "no", 2, "words", 5, NULL), 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, one), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(chordal_reference_state(p.b.host, two), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(chordal_reference_retry(p.b.host, one, NULL), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_OBJECT), 2);
    CHECK_INT(chordal_object_start(p.a.host, object, NULL, 0, NULL, 0, NULL), 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, one), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(chordal_reference_state(p.b.host, two), CHORDAL_REFERENCE_LIVE);
    chordal_release(p.b.host, one);
    chordal_release(p.b.host, two);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

/* ---- references and sessions ---- */

TEST(given_back_before_its_first_bound) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    settle(&p);
    chordal_id first = get(&p.b, "notes", NOTES_PARAMS);
    chordal_release(p.b.host, first);
    chordal_id second = get(&p.b, "notes", "{\"board\":\"other\"}");
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, second), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_UP);
    chordal_release(p.b.host, second);
    pair_close(&p);
}

TEST(a_retired_reference_stays_retired) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    chordal_id reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(chordal_object_retire(p.a.host, last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, NULL), 0);
    settle(&p);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, 0, NULL), 0);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, 0, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    pair_up(&p);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_RETIRED);
    chordal_release(p.b.host, reference);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

/* A link that the program closed does not come back: what it carried fails, and every call settles. */
TEST(a_closed_link_fails_what_it_carried) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    chordal_id live = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    set_json(&p.a, last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, NOTES_TITLE, "", "\"t\"");
    settle(&p);
    chordal_id pending = get(&p.b, "notes", "{\"board\":\"b\"}");
    (void)call(&p.b, live, "ping", "[]");
    (void)call(&p.b, pending, "add", "[]");
    CHECK_INT(chordal_link_close(p.b.host, p.link_b, NULL), 0);
    test_poll(&p.b);
    CHECK_INT(chordal_reference_state(p.b.host, live), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(chordal_reference_state(p.b.host, pending), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 2);
    CHECK_TEXT(value_of(&p.b, live, NOTES_TITLE), "\"t\"");
    CHECK_INT(chordal_reference_retry(p.b.host, live, NULL), CHORDAL_E_CLOSED);
    chordal_release(p.b.host, live);
    chordal_release(p.b.host, pending);
    pair_close(&p);
}

/* ---- calls ---- */

/* A call that waits for a slot behind one that was given up is sent. */
TEST(no_call_waits_behind_one_that_went) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){.call_limit = 1}, 0, 0);
    provide(&p.a, NOTES);
    chordal_id one = get(&p.b, "notes", NOTES_PARAMS), two = get(&p.b, "notes", "{\"board\":\"b\"}");
    settle(&p);
    chordal_id calls[3] = {call(&p.b, one, "add", "[]"), call(&p.b, one, "add", "[]"), call(&p.b, two, "add", "[]")};
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(chordal_call_cancel(p.b.host, calls[1], NULL), 0);
    CHECK_INT(answer(&p.a, last_call(&p.a), "1"), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 2);
    CHECK_INT(answer(&p.a, last_call(&p.a), "2"), 0);
    settle(&p);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 3);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.call, calls[2]);
    chordal_release(p.b.host, one);
    chordal_release(p.b.host, two);
    pair_close(&p);
}

enum { PARKED, SENT, TOLD, DONE, CALL_STAGES };
enum { CANCEL, EXPIRE, RELEASE_CALL, RELEASE_REFERENCE, DROP_LINK, RETIRE, CLOSE_PROVIDER, CALL_ENDS };

static void bring_to(test_pair *p, int stage, chordal_id reference, chordal_id *made) {
    if (stage != PARKED) settle(p);
    *made = call_within(&p->b, reference, "go", "[]", 100);
    test_poll(&p->b);
    if (stage == SENT) chordal_link_carry(p->a.host, p->link_a, p->b.host, p->link_b, 0, NULL, NULL);
    if (stage >= TOLD) settle(p);
    if (stage == DONE) CHECK_INT(answer(&p->a, last_call(&p->a), "1"), 0);
}

static void end_by(test_pair *p, int end, chordal_id reference, chordal_id made) {
    switch (end) {
    case CANCEL:
        CHECK_INT(chordal_call_cancel(p->b.host, made, NULL), 0);
        break;
    case EXPIRE:
        p->a.now = p->b.now = 1000;
        test_poll(&p->b);
        break;
    case RELEASE_CALL:
        chordal_release(p->b.host, made);
        break;
    case RELEASE_REFERENCE:
        chordal_release(p->b.host, reference);
        break;
    case DROP_LINK:
        chordal_link_close(p->b.host, p->link_b, NULL);
        break;
    case RETIRE: {
        host_event *made_event = last_event(&p->a, CHORDAL_EVENT_OBJECT);
        if (made_event) CHECK_INT(chordal_object_retire(p->a.host, made_event->as.object.object, NULL), 0);
        break;
    }
    default:
        chordal_link_close(p->a.host, p->link_a, NULL);
        break;
    }
}

/* Carry while there are links, and answer all that was asked. */
static void serve(test_pair *p) {
    (void)chordal_link_carry(p->a.host, p->link_a, p->b.host, p->link_b, p->a.now, NULL, NULL);
    test_poll(&p->a);
    (void)compute(&p->a, last_compute(&p->a), "10");
    (void)answer(&p->a, last_call(&p->a), "2");
    test_poll(&p->a);
    (void)chordal_link_carry(p->a.host, p->link_a, p->b.host, p->link_b, p->a.now, NULL, NULL);
    test_poll(&p->b);
}

/* Whatever ends a call at whatever stage: it settles once, or never if it was given back, and nothing is left. */
static void one_call(int stage, int end) {
    test_pair p;
    chordal_id made;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, SUM);
    chordal_id object = live_sum(&p.a, "{\"n\":1}"), reference = get(&p.b, "sum", "{\"n\":1}");
    p.a.events[p.a.len++] = (host_event){.kind = CHORDAL_EVENT_OBJECT, .as.object.object = object};
    bring_to(&p, stage, reference, &made);
    end_by(&p, end, reference, made);
    for (int i = 0; i < 4; i++) serve(&p);
    if (end == CLOSE_PROVIDER) chordal_release(p.b.host, reference);
    serve(&p);
    size_t results = count_events(&p.b, CHORDAL_EVENT_RESULT);
    if (results != (end != RELEASE_CALL)) CHECK_FAIL("stage %d, end %d: %zu results", stage, end, results);
    chordal_release(p.b.host, reference);
    (void)chordal_object_drop(p.a.host, object, NULL);
    serve(&p);
    settle_acks(&p); /* what was answered keeps it until then */
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

TEST(each_call_settles_once) {
    for (int stage = 0; stage < CALL_STAGES; stage++)
        for (int end = 0; end < CALL_ENDS; end++) one_call(stage, end);
}

TEST(a_timeout_without_end_does_not_pass) {
    test_pair p;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    p.a.now = p.b.now = 5000;
    chordal_id reference = get(&p.b, "notes", NOTES_PARAMS);
    static const chordal_time timeouts[] = {CHORDAL_NEVER, UINT64_MAX - 5000, UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        chordal_id made = call_within(&p.b, reference, "add", "[]", timeouts[i]);
        settle(&p);
        CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), i);
        CHECK_INT(answer(&p.a, last_call(&p.a), "1"), 0);
        settle(&p);
        CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, 0);
        chordal_release(p.b.host, made);
    }
    chordal_release(p.b.host, reference);
    pair_close(&p);
}

/* ---- limits ---- */

static char *long_json(size_t len) {
    static char text[200000];
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    text[len] = 0;
    return text;
}

/* The consumer takes 4 KB at most. What is larger fails alone; the link and all else go on. */
static void larger_than_the_peer_takes(uint32_t codec) {
    test_pair p = {.codec = codec};
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){.message_limit = 4096});
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    pair_up(&p);
    provide(&p.a, NOTES);
    const char *boards[] = {"{\"board\":\"small\"}", "{\"board\":\"grows\"}"};
    chordal_id other = get_object(&p.a, "notes", boards[0]), object = get_object(&p.a, "notes", boards[1]);
    chordal_id small = get(&p.b, "notes", boards[0]), grows = get(&p.b, "notes", boards[1]);
    settle(&p);
    /* a change of both objects in one commit, one of them too large */
    chordal_transaction *t;
    chordal_id ticket;
    CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_TITLE, "", long_json(5000), NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, other, NOTES_TITLE, "", "\"seen\"", NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, grows), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_SIZE);
    CHECK_TEXT(value_of(&p.b, small, NOTES_TITLE), "\"seen\"");
    /* asked again: the whole is too large as well */
    CHECK_INT(chordal_reference_retry(p.b.host, grows, NULL), 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, grows), CHORDAL_REFERENCE_FAILED);
    set_json(&p.a, object, NOTES_TITLE, "", "\"short\"");
    CHECK_INT(chordal_reference_retry(p.b.host, grows, NULL), 0);
    settle(&p);
    CHECK_TEXT(value_of(&p.b, grows, NOTES_TITLE), "\"short\"");
    /* a result that is too large */
    (void)call(&p.b, small, "add", "[]");
    settle(&p);
    CHECK_INT(answer(&p.a, last_call(&p.a), long_json(5000)), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_SIZE);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_UP);
    chordal_release(p.b.host, small);
    chordal_release(p.b.host, grows);
    pair_close(&p);
}

TEST(larger_than_the_peer_takes_in_binary) {
    larger_than_the_peer_takes(CHORDAL_CODEC_BINARY);
}
TEST(larger_than_the_peer_takes_in_text) {
    larger_than_the_peer_takes(CHORDAL_CODEC_TEXT);
}

/* The provider takes 4 KB at most: calls and holds that are larger fail alone. */
TEST(larger_than_the_provider_takes) {
    test_pair p = {.codec = CHORDAL_CODEC_TEXT};
    char text[6000];
    test_host_open(&p.a, (chordal_host_options){.message_limit = 4096});
    test_host_open(&p.b, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    pair_up(&p);
    provide(&p.a, NOTES);
    chordal_id reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    snprintf(text, sizeof text, "[%s]", long_json(5000));
    (void)call(&p.b, reference, "add", text);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_SIZE);
    snprintf(text, sizeof text, "{\"board\":%s}", long_json(5000));
    chordal_id large = get(&p.b, "notes", text);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, large), CHORDAL_REFERENCE_FAILED);
    (void)call(&p.b, reference, "add", "[1]");
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(answer(&p.a, last_call(&p.a), "1"), 0);
    settle(&p);
    chordal_release(p.b.host, large);
    chordal_release(p.b.host, reference);
    pair_close(&p);
}

/* One commit over many objects, together more than one message takes: it arrives as one cut. */
TEST(a_cut_is_split_by_its_size) {
    test_pair p = {.codec = CHORDAL_CODEC_BINARY};
    chordal_id references[10], ticket;
    chordal_transaction *t;
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){.message_limit = 4096});
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    pair_up(&p);
    provide(&p.a, NOTES);
    CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
    for (int i = 0; i < 10; i++) {
        char params[32];
        snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
        references[i] = get(&p.b, "notes", params);
        settle(&p);
        chordal_id object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
        CHECK_INT(chordal_transaction_set_json(t, object, NOTES_TITLE, "", long_json(1500), NULL), 0);
    }
    uint64_t before = test_counters(&p.a).messages_out;
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    settle(&p);
    CHECK_INT(test_counters(&p.a).messages_out - before, 5);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(chordal_reference_state(p.b.host, references[i]), CHORDAL_REFERENCE_LIVE);
        CHECK_TEXT(value_of(&p.b, references[i], NOTES_TITLE), long_json(1500));
        chordal_release(p.b.host, references[i]);
    }
    pair_close(&p);
}

TEST(parked_calls_are_limited) {
    test_host h;
    chordal_id link, made;
    test_host_open(&h, (chordal_host_options){.parked_limit = 3});
    CHECK_INT(chordal_link_open(h.host, CHORDAL_LINK_CONNECT, &link, NULL), 0);
    chordal_id reference = get(&h, "notes", NOTES_PARAMS);
    for (int i = 0; i < 3; i++) (void)call(&h, reference, "add", "[]");
    CHECK_INT(
        chordal_call_start(h.host, reference, "add", 3, CHORDAL_FORMAT_JSON, (const uint8_t *)"[]", 2, 0, &made, NULL),
        CHORDAL_E_LIMIT);
    chordal_release(h.host, reference);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_RESULT), 3);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_RELEASED);
    chordal_release(h.host, link);
    test_host_close(&h);
}

/* A host that ran out of memory refuses, keeps what it had, and works again when there is some. */
TEST(a_full_host_refuses_and_goes_on) {
    test_host h;
    chordal_value *kept[4096];
    size_t count = 0;
    chordal_error error;
    test_host_open(&h, (chordal_host_options){.memory_limit = 300100});
    provide(&h, NOTES);
    chordal_id object = get_object(&h, "notes", NOTES_PARAMS);
    test_poll(&h);
    set_json(&h, object, NOTES_TITLE, "", "\"kept\"");
    test_poll(&h);
    while (count < 4096 && chordal_value_decode(h.host, CHORDAL_FORMAT_JSON, (const uint8_t *)long_json(500), 500,
                                                &kept[count], &error) == 0)
        count++;
    CHECK(count > 100 && count < 4096);
    CHECK_INT(error.code, CHORDAL_E_NOMEM);
    chordal_transaction *t = NULL;
    chordal_id ticket;
    int code = chordal_transaction_begin(h.host, 0, &t, &error);
    if (code == 0) code = chordal_transaction_set_json(t, object, NOTES_TITLE, "", long_json(2000), &error);
    CHECK_INT(code, CHORDAL_E_NOMEM);
    chordal_transaction_abort(t);
    chordal_value_unref(kept[--count]); /* room to look */
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"kept\"");
    while (count) chordal_value_unref(kept[--count]);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, &error), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_TITLE, "", "\"new\"", &error), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, &error), 0);
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"new\"");
    test_host_close(&h);
}

/* ---- bad values across the API ---- */

/* The same key twice, in either format, wherever a value comes in. */
TEST(no_value_has_a_key_twice) {
    static const uint8_t packed[] = "\x82\xa1k\x01\xa1k\x02", list[] = "\x91\x82\xa1k\x01\xa1k\x02";
    static const char json[] = "{\"k\":1,\"k\":2}", json_list[] = "[{\"k\":1,\"k\":2}]";
    const struct {
        uint32_t format;
        const uint8_t *value, *list;
        size_t len;
        uint64_t position; /* of the second key in the value */
    } forms[] = {{CHORDAL_FORMAT_PACKED, packed, list, sizeof packed - 1, 4},
                 {CHORDAL_FORMAT_JSON, (const uint8_t *)json, (const uint8_t *)json_list, sizeof json - 1, 7}};
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, NOTES);
    chordal_id reference = get(&h, "notes", NOTES_PARAMS), made = call(&h, reference, "add", "[]");
    test_poll(&h);
    for (int i = 0; i < 2; i++) {
        chordal_error error = {0};
        chordal_value *value;
        chordal_id id;
        CHECK_INT(chordal_call_start(h.host, reference, "add", 3, forms[i].format, forms[i].list,
                                     forms[i].len + (i ? 2 : 1), 0, &id, &error),
                  CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(error.position, forms[i].position + 1);
        CHECK_INT(chordal_call_answer(h.host, last_call(&h), forms[i].format, forms[i].value, forms[i].len, &error),
                  CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(error.position, forms[i].position);
        CHECK_INT(chordal_value_decode(h.host, forms[i].format, forms[i].value, forms[i].len, &value, &error),
                  CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(chordal_reference_get(h.host, 0, "notes", 5, 0, 0, forms[i].format, forms[i].value, forms[i].len, &id,
                                        &error),
                  CHORDAL_E_DUPLICATE_KEY);
    }
    CHECK_INT(answer(&h, last_call(&h), "1"), 0); /* it still waits */
    test_poll(&h);
    chordal_release(h.host, made);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* ---- copies that the program keeps, with takes, resets and drops at odd times ---- */

static uint64_t random_state;
static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

typedef struct copy {
    chordal__memory *memory;
    chordal__node *values[2];
} copy;

static void patch(copy *c, const host_event *e) {
    chordal__ops ops;
    chordal__limits limits = {512, 1 << 26};
    chordal_error error = {0};
    chordal__ops_init(&ops, c->memory);
    CHECK_INT(chordal__ops_read(&ops, CHORDAL__ENCODING_BINARY, e->data, e->data_len, NULL, 0, &limits, &error), 0);
    for (size_t i = 0; i < ops.count; i++) {
        chordal__node **value = &c->values[e->as.frame.member];
        if (!*value) *value = chordal__node_null(c->memory);
        int code = chordal__apply(c->memory, value, &ops.items[i], 512, &error);
        if (code < 0) CHECK_FAIL("an op does not apply: %s", error.detail);
    }
    chordal__ops_dispose(&ops);
}

static void poll_copy(test_host *h, copy *c, chordal_id kept) {
    forget_events(h);
    test_poll(h);
    for (size_t i = 0; i < h->len; i++)
        if (h->events[i].kind == CHORDAL_EVENT_FRAME && h->events[i].as.frame.watch == kept) patch(c, &h->events[i]);
}

static void reconnect(test_pair *p) {
    CHECK_INT(chordal_link_down(p->a.host, p->link_a, p->a.now, NULL), 0);
    CHECK_INT(chordal_link_down(p->b.host, p->link_b, p->b.now, NULL), 0);
    chordal_release(p->a.host, p->link_a);
    CHECK_INT(chordal_link_open(p->a.host, 0, &p->link_a, NULL), 0);
    pair_up(p);
}

static void odd_step(test_pair *p, copy *c, chordal_id object, chordal_id kept) {
    char json[32];
    switch (draw(10)) {
    case 0:
        (void)chordal_watch_take(p->b.host, kept, NULL);
        break;
    case 1:
        if (draw(3) == 0) CHECK_INT(chordal_watch_reset(p->b.host, kept, NULL), 0);
        break;
    case 2:
        if (draw(4) == 0) reconnect(p);
        break;
    case 3:
    case 4:
        poll_copy(&p->b, c, kept);
        break;
    case 5:
        snprintf(json, sizeof json, "\"%u\"", draw(1000));
        set_json(&p->a, object, NOTES_TITLE, "", json);
        break;
    case 6:
        append_text(&p->a, object, NOTES_LIST, "/text", "token ");
        break;
    case 7:
        snprintf(json, sizeof json, "%u", draw(1000));
        set_json(&p->a, object, NOTES_LIST, "/entries/-", json);
        break;
    default:
        chordal_link_carry(p->a.host, p->link_a, p->b.host, p->link_b, 0, NULL, NULL);
        test_poll(&p->a), forget_events(&p->a);
    }
}

static void odd_copy(uint64_t seed, uint32_t codec, uint32_t flags) {
    test_pair p;
    copy c = {chordal__memory_new(NULL, 1 << 28), {NULL, NULL}};
    random_state = seed;
    pair_open(&p, codec, (chordal_host_options){.window_messages = 1 + draw(4), .backoff_first = 1}, 0, 0);
    provide(&p.a, NOTES);
    chordal_id object = get_object(&p.a, "notes", NOTES_PARAMS);
    chordal_id kept = get_over(&p.b, 0, "notes", NOTES_PARAMS, CHORDAL_REFERENCE_KEPT | flags);
    for (int step = 0; step < 200; step++) odd_step(&p, &c, object, kept);
    for (int quiet = 0; quiet < 100; quiet++) {
        chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, NULL, NULL);
        poll_copy(&p.b, &c, kept);
        (void)chordal_watch_take(p.b.host, kept, NULL);
        test_poll(&p.a), forget_events(&p.a);
    }
    CHECK_INT(chordal_reference_state(p.b.host, kept), CHORDAL_REFERENCE_LIVE);
    for (uint32_t member = 0; member < 2; member++) {
        chordal_value *mine;
        CHECK_INT(chordal_object_value(p.a.host, object, member, &mine, NULL), 0);
        if (!c.values[member] || !chordal__node_equal(chordal__box_node(mine), c.values[member]))
            CHECK_FAIL("seed %" PRIu64 ": the copy differs", seed);
        chordal_value_unref(mine);
        chordal__node_unref(c.memory, c.values[member]);
    }
    CHECK_INT(c.memory->live_blocks, 0);
    chordal__memory_unref(c.memory);
    chordal_release(p.b.host, kept);
    pair_close(&p);
}

TEST(kept_copies_converge) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        odd_copy(seed, CHORDAL_CODEC_BINARY, seed & 1 ? CHORDAL_REFERENCE_MANUAL : 0);
        odd_copy(seed, CHORDAL_CODEC_TEXT, seed & 1 ? 0 : CHORDAL_REFERENCE_MANUAL);
    }
}

TESTS({"an object that was never told holds up nothing", an_object_that_was_never_told_holds_up_nothing},
      {"retire while settling", retire_while_settling},
      {"commit and release while settling", commit_and_release_while_settling},
      {"link down while settling", link_down_while_settling}, {"close while settling", close_while_settling},
      {"an object starts once", an_object_starts_once},
      {"the end of a failed object is told", the_end_of_a_failed_object_is_told},
      {"a retry helps all that hold", a_retry_helps_all_that_hold},
      {"given back before its first bound", given_back_before_its_first_bound},
      {"a retired reference stays retired", a_retired_reference_stays_retired},
      {"a closed link fails what it carried", a_closed_link_fails_what_it_carried},
      {"no call waits behind one that went", no_call_waits_behind_one_that_went},
      {"each call settles once", each_call_settles_once},
      {"a timeout without end does not pass", a_timeout_without_end_does_not_pass},
      {"larger than the peer takes, binary", larger_than_the_peer_takes_in_binary},
      {"larger than the peer takes, text", larger_than_the_peer_takes_in_text},
      {"larger than the provider takes", larger_than_the_provider_takes},
      {"a cut is split by its size", a_cut_is_split_by_its_size},
      {"parked calls are limited", parked_calls_are_limited},
      {"a full host refuses and goes on", a_full_host_refuses_and_goes_on},
      {"no value has a key twice", no_value_has_a_key_twice}, {"kept copies converge", kept_copies_converge})
