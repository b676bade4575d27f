/* link_resume.c: sessions that outlive their transport: what was under way arrives once, and only the gap is sent. */
#include "hosts.h"

static test_pair p;
static chordal_id reference, object, watch;

static void open_pair(uint32_t codec, chordal_host_options options) {
    pair_open(&p, codec, options, 0, 0);
    provide(&p.a, NOTES);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(chordal_watch_open(p.b.host, reference, NOTES_LIST, 0, &watch, NULL), 0);
    settle(&p);
    forget_events(&p.a);
    forget_events(&p.b);
}

static void close_pair(void) {
    chordal_release(p.b.host, watch);
    chordal_release(p.b.host, reference);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    pair_close(&p);
}

/* The transport is gone, with all that was on it. */
static void cut(void) {
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    test_poll(&p.a);
    test_poll(&p.b);
    chordal_release(p.a.host, p.link_a);
}

static void come_back(void) {
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    pair_up(&p);
    settle(&p);
}

/* What a side has to send is lost on the way. */
static size_t lose(test_host *h, chordal_id link) {
    static uint8_t frame[1 << 16];
    uint32_t kind;
    size_t len, lost = 0;
    while (chordal_link_take(h->host, link, frame, sizeof frame, &len, &kind, NULL) == 0 && kind) lost++;
    return lost;
}

static chordal_id run_of(chordal_id made) {
    for (size_t i = 0; i < p.b.len; i++)
        if (p.b.events[i].kind == CHORDAL_EVENT_RESULT && p.b.events[i].as.result.call == made) return i + 1;
    return 0;
}
static int code_of(chordal_id made) {
    chordal_id at = run_of(made);
    return at ? p.b.events[at - 1].as.result.code : 1;
}

static size_t answer_all(const char *json) {
    size_t answered = 0;
    for (size_t i = 0; i < p.a.len; i++)
        if (p.a.events[i].kind == CHORDAL_EVENT_CALL) answered += answer(&p.a, p.a.events[i].as.call.call, json) == 0;
    return answered;
}

/* ---- state ---- */

static void nothing_changed(uint32_t codec, size_t up, size_t down) {
    open_pair(codec, (chordal_host_options){0});
    chordal_id many[100];
    char params[32];
    for (int i = 0; i < 100; i++) {
        snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
        many[i] = get(&p.b, "notes", params);
    }
    settle(&p);
    cut();
    CHECK_INT(chordal_reference_state(p.b.host, many[99]), CHORDAL_REFERENCE_DOWN);
    CHECK_INT(test_counters(&p.a).live_lost, 1);
    CHECK_INT(test_counters(&p.a).live_objects, 101);
    chordal_counters a = test_counters(&p.a), b = test_counters(&p.b);
    come_back();
    size_t shake_up = codec == CHORDAL_CODEC_BINARY ? 42 : 68, shake_down = codec == CHORDAL_CODEC_BINARY ? 41 : 68;
    CHECK(test_counters(&p.b).bytes_out - b.bytes_out <= shake_up + up);
    CHECK(test_counters(&p.a).bytes_out - a.bytes_out <= shake_down + down);
    CHECK_INT(test_counters(&p.a).snapshots_encoded, a.snapshots_encoded);
    CHECK_INT(test_counters(&p.a).changes_encoded, a.changes_encoded);
    CHECK_INT(test_counters(&p.a).sessions_back, 1);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(chordal_reference_state(p.b.host, many[i]), CHORDAL_REFERENCE_LIVE);
        chordal_release(p.b.host, many[i]);
    }
    close_pair();
}
TEST(nothing_changed_in_binary) {
    nothing_changed(CHORDAL_CODEC_BINARY, 48, 16);
}
TEST(nothing_changed_in_text) {
    nothing_changed(CHORDAL_CODEC_TEXT, 96, 32);
}

/* What was missed comes as one change, what was taken does not come again. */
TEST(the_gap_is_folded) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    for (int i = 0; i < 10; i++) {
        append_text(&p.a, object, NOTES_LIST, "/text", "a");
        settle(&p);
    }
    cut();
    for (int i = 0; i < 5000; i++) append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a);
    forget_events(&p.b);
    chordal_counters a = test_counters(&p.a);
    come_back();
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 1);
    CHECK_INT(test_counters(&p.a).changes_encoded - a.changes_encoded, 1);
    CHECK(test_counters(&p.a).bytes_out - a.bytes_out < 5000 + 100);
    chordal_value *value;
    CHECK_INT(chordal_reference_value(p.b.host, reference, NOTES_LIST, &value, NULL), 0);
    char mine[6000];
    strcpy(mine, json_of(value));
    CHECK_TEXT(mine, head_of(&p.a, object, NOTES_LIST));
    close_pair();
}

/* Changes that were sent and did not arrive, with definitions of paths among them. */
TEST(changes_under_way) {
    for (int arrived = 0; arrived < 6; arrived++) {
        open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
        for (int i = 0; i < 6; i++) {
            if (i == arrived) settle(&p);
            append_text(&p.a, object, NOTES_LIST, "/text", "x");
            test_poll(&p.a);
        }
        CHECK_INT(lose(&p.a, p.link_a), 6 - (size_t)arrived);
        cut();
        come_back();
        CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"xxxxxx\"}");
        append_text(&p.a, object, NOTES_LIST, "/text", "y");
        settle(&p);
        CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"xxxxxxy\"}");
        CHECK_INT(test_counters(&p.a).snapshots_encoded, 1);
        close_pair();
    }
}

/* A bound, a failure, a retirement, a release and its confirmation that did not arrive. */
TEST(answers_under_way) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id second = get(&p.b, "notes", "{\"board\":\"two\"}"), none = get(&p.b, "nothing", "{}");
    size_t frames;
    test_poll(&p.b);
    CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL), 0);
    chordal_release(p.b.host, second); /* given back and asked for again before the answer */
    second = get(&p.b, "notes", "{\"board\":\"two\"}");
    cut();
    come_back();
    CHECK_INT(chordal_reference_state(p.b.host, second), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(chordal_reference_state(p.b.host, none), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(test_counters(&p.a).live_objects, 2);
    CHECK_INT(chordal_object_retire(p.a.host, object, NULL), 0);
    CHECK(lose(&p.a, p.link_a) > 0);
    cut();
    come_back();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_RETIRED);
    chordal_release(p.b.host, second);
    chordal_release(p.b.host, none);
    test_poll(&p.b);
    lose(&p.b, p.link_b);
    cut();
    chordal_id third = get(&p.b, "notes", "{\"board\":\"three\"}");
    come_back();
    CHECK_INT(chordal_reference_state(p.b.host, third), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(test_counters(&p.a).live_objects, 2); /* the retired one is still held */
    chordal_release(p.b.host, third);
    close_pair();
}

/* A cut in several messages that breaks off in the middle is seen not at all, then whole. */
TEST(a_cut_that_breaks_off) {
    enum { MANY = 200 };
    static chordal_id held[MANY], objects[MANY];
    char params[32];
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    for (int i = 0; i < MANY; i++) {
        snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
        held[i] = get(&p.b, "notes", params);
        settle(&p);
        objects[i] = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    }
    for (int round = 0; round < 4; round++) {
        chordal_transaction *t;
        chordal_id ticket;
        CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
        for (int i = 0; i < MANY; i++)
            CHECK_INT(chordal_transaction_append(t, objects[i], NOTES_TITLE, "", "x", 1, NULL), 0);
        CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
        test_poll(&p.a);
        static uint8_t frame[1 << 16];
        uint32_t kind;
        size_t len;
        for (int i = 0; i < round; i++) {
            CHECK_INT(chordal_link_take(p.a.host, p.link_a, frame, sizeof frame, &len, &kind, NULL), 0);
            CHECK_INT(chordal_link_feed(p.b.host, p.link_b, kind, frame, len, 0, NULL), 0);
        }
        lose(&p.a, p.link_a);
        cut();
        CHECK_INT(strlen(value_of(&p.b, held[0], NOTES_TITLE)), 2 + (size_t)round);
        come_back();
        for (int i = 0; i < MANY; i++) CHECK_INT(strlen(value_of(&p.b, held[i], NOTES_TITLE)), 3 + (size_t)round);
    }
    for (int i = 0; i < MANY; i++) chordal_release(p.b.host, held[i]);
    close_pair();
}

/* ---- calls ---- */

TEST(calls_run_once_wherever_the_link_breaks) {
    /* 0: the call is lost on its way; 1: it runs meanwhile; 2: it is answered meanwhile; 3: its result is lost; 4: the
     * ack of its result is lost */
    for (int stage = 0; stage < 5; stage++) {
        open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
        size_t frames, answered = 0;
        chordal_id first = call(&p.b, reference, "add", "[1]"), second = call(&p.b, reference, "add", "[2]");
        test_poll(&p.b);
        if (stage == 0) CHECK_INT(lose(&p.b, p.link_b), 2);
        if (stage > 0) settle(&p);
        if (stage > 2) {
            answered += answer_all("\"done\"");
            test_poll(&p.a);
        }
        if (stage == 3) CHECK_INT(lose(&p.a, p.link_a), 2);
        if (stage == 4) CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL), 0);
        if (stage == 4) lose(&p.b, p.link_b);
        cut();
        if (stage == 2) answered += answer_all("\"done\"");
        come_back();
        if (stage < 2) answered += answer_all("\"done\"");
        settle(&p);
        CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 2);
        CHECK_INT(answered, 2);
        CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 2);
        CHECK_INT(code_of(first), 0);
        CHECK_INT(code_of(second), 0);
        CHECK(run_of(first) < run_of(second));
        for (int i = 0; i < 600; i++) call(&p.b, reference, "add", "[]"); /* all slots are free again */
        for (int i = 0; i < 4; i++) {
            settle(&p);
            answer_all("1");
        }
        settle(&p);
        CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 602);
        close_pair();
    }
}

/* The result comes after the state that it caused, also when both come again. */
TEST(a_result_after_its_state) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id made = call(&p.b, reference, "add", "[1]");
    settle(&p);
    chordal_id served = last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call;
    set_json_for(&p.a, served, object, NOTES_LIST, "/text", "\"of the call\"");
    CHECK_INT(answer(&p.a, served, "1"), 0);
    test_poll(&p.a);
    CHECK_INT(lose(&p.a, p.link_a), 2);
    cut();
    set_json(&p.a, object, NOTES_LIST, "/text", "\"later\"");
    come_back();
    CHECK_INT(code_of(made), 0);
    size_t frame = 0;
    for (size_t i = 0; i < p.b.len; i++)
        if (p.b.events[i].kind == CHORDAL_EVENT_FRAME) frame = i + 1;
    CHECK(frame && frame < run_of(made));
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"later\"}");
    close_pair();
}

/* Cancelled or forgotten while it is down; made while it is down. */
TEST(calls_while_it_is_down) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id ran = call(&p.b, reference, "add", "[1]");
    settle(&p);
    chordal_id lost = call(&p.b, reference, "add", "[2]"), dropped = call(&p.b, reference, "add", "[3]");
    test_poll(&p.b);
    lose(&p.b, p.link_b);
    cut();
    CHECK_INT(chordal_call_cancel(p.b.host, ran, NULL), 0);
    chordal_release(p.b.host, dropped);
    chordal_id parked = call(&p.b, reference, "add", "[4]");
    test_poll(&p.b);
    come_back();
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 3);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CANCEL), 1);
    answer_all("1");
    settle(&p);
    CHECK_INT(code_of(lost), 0);
    CHECK_INT(code_of(parked), 0);
    CHECK(run_of(lost) < run_of(parked));
    CHECK(run_of(ran) != 0);
    close_pair();
}

/* Outcomes that are not taken are kept within a budget: beyond it nothing further starts. */
TEST(outcomes_have_a_budget) {
    static char large[3000];
    memset(large, 'x', sizeof large);
    large[0] = large[sizeof large - 2] = '"';
    large[sizeof large - 1] = 0;
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.outcome_limit = 10000});
    for (int i = 0; i < 40; i++) call(&p.b, reference, "add", "[]");
    test_poll(&p.b);
    size_t frames;
    CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL), 0);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    static _Alignas(8) uint8_t buffer[160]; /* few records at a time */
    int answered = 0;
    for (;;) {
        size_t len;
        CHECK_INT(chordal_host_poll(p.a.host, 0, buffer, sizeof buffer, &len, NULL), 0);
        if (!len) break;
        for (size_t at = 0; at < len; at += ((chordal_record *)(void *)(buffer + at))->length) {
            const chordal_event_CALL *e = (const chordal_event_CALL *)(const void *)(buffer + at);
            if (e->record.kind == CHORDAL_EVENT_CALL) answered += answer(&p.a, e->call, large) == 0;
        }
    }
    CHECK(answered >= 4 && answered <= 6);
    come_back();
    for (int i = 0; i < 50; i++) {
        answer_all("1");
        settle(&p);
    }
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 40);
    close_pair();
}

/* ---- the end ---- */

TEST(a_session_lapses) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.session_lapse = 1000});
    chordal_id sent = call(&p.b, reference, "add", "[1]"), again = call(&p.b, reference, "ping", "[2]");
    settle(&p);
    cut();
    p.a.now = p.b.now = 999;
    test_poll(&p.a);
    CHECK_INT(test_counters(&p.a).live_lost, 1);
    p.a.now = p.b.now = 1000;
    test_poll(&p.a);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CANCEL), 2);
    answer_all("1");
    forget_events(&p.a);
    come_back();
    CHECK_INT(code_of(sent), CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    answer_all("2");
    settle(&p);
    CHECK_INT(code_of(again), 0);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    close_pair();
}

/* Only so many are kept; the one that was lost first goes. */
TEST(lost_sessions_are_limited) {
    test_pair pairs[4];
    test_host provider;
    chordal_id links[4], there[4], held[4];
    test_host_open(&provider, (chordal_host_options){.lost_limit = 2});
    provide(&provider, NOTES);
    for (int i = 0; i < 4; i++) {
        test_host_open(&pairs[i].b, (chordal_host_options){0});
        CHECK_INT(chordal_link_open(provider.host, 0, &there[i], NULL), 0);
        CHECK_INT(chordal_link_open(pairs[i].b.host, CHORDAL_LINK_CONNECT, &links[i], NULL), 0);
        CHECK_INT(chordal_link_up(provider.host, there[i], CHORDAL_CODEC_BINARY, 0, NULL), 0);
        CHECK_INT(chordal_link_up(pairs[i].b.host, links[i], CHORDAL_CODEC_BINARY, 0, NULL), 0);
        held[i] = get(&pairs[i].b, "notes", NOTES_PARAMS);
        for (int k = 0; k < 4; k++) {
            size_t frames;
            CHECK_INT(chordal_link_carry(provider.host, there[i], pairs[i].b.host, links[i], 0, &frames, NULL), 0);
            test_poll(&provider);
            test_poll(&pairs[i].b);
        }
        CHECK_INT(chordal_link_down(provider.host, there[i], 0, NULL), 0);
        test_poll(&provider);
        CHECK_INT(test_counters(&provider).live_lost, i < 2 ? i + 1 : 2);
    }
    for (int i = 0; i < 4; i++) {
        chordal_release(provider.host, there[i]);
        chordal_release(pairs[i].b.host, held[i]);
        chordal_release(pairs[i].b.host, links[i]);
        test_host_close(&pairs[i].b);
    }
    test_host_close(&provider);
}

/* A reader that takes nothing at all: the session is closed with a code, costs only its cut, and comes back. */
TEST(a_stalled_reader_comes_back) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.window_messages = 4,
                                                           .stall_timeout = 5000,
                                                           .session_lapse = 100000,
                                                           .ping_interval = CHORDAL_NEVER});
    chordal_id slow;
    CHECK_INT(chordal_watch_open(p.b.host, reference, NOTES_LIST, CHORDAL_WATCH_MANUAL, &slow, NULL), 0);
    settle(&p);
    for (int i = 0; i < 100; i++) {
        append_text(&p.a, object, NOTES_LIST, "/text", "x");
        settle(&p);
    }
    p.a.now = p.b.now = 5000;
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_lost, 1);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK) ? 1 : 0, 0); /* the link is not touched */
    CHECK_INT(chordal_watch_take(p.b.host, slow, NULL), 0);
    p.a.now = p.b.now = 7000;
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(strlen(value_of(&p.b, reference, NOTES_LIST)), strlen("{\"entries\":[],\"text\":\"\"}") + 100);
    chordal_release(p.b.host, slow);
    close_pair();
}

static uint64_t origin_of_call(test_pair *pair, chordal_id held) {
    (void)call(&pair->b, held, "add", "[]");
    settle(pair);
    host_event *e = last_event(&pair->a, CHORDAL_EVENT_CALL);
    CHECK_INT(answer(&pair->a, e->as.call.call, "1"), 0);
    settle(pair);
    return e->as.call.origin;
}

/* Calls name their session by one number over all its transports, and no other session by it. */
TEST(a_session_has_a_number) {
    test_pair q = {0};
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    uint64_t number = origin_of_call(&p, reference);
    CHECK(number != 0);
    cut();
    come_back();
    CHECK_INT(test_counters(&p.a).sessions_back, 1);
    CHECK_INT(origin_of_call(&p, reference), number);
    q.a = p.a;
    q.codec = CHORDAL_CODEC_BINARY;
    test_host_open(&q.b, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(q.a.host, 0, &q.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(q.b.host, CHORDAL_LINK_CONNECT, &q.link_b, NULL), 0);
    pair_up(&q);
    chordal_id held = get(&q.b, "notes", NOTES_PARAMS);
    settle(&q);
    uint64_t other = origin_of_call(&q, held);
    CHECK(other != 0 && other != number);
    chordal_release(q.b.host, held);
    settle(&q);
    chordal_release(q.a.host, q.link_a);
    chordal_release(q.b.host, q.link_b);
    test_host_close(&q.b);
    p.a = q.a;
    close_pair();
}

/* Farewells and faults end sessions at once: nobody comes back to those. */
TEST(a_bye_ends_the_session) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    CHECK_INT(chordal_link_close(p.b.host, p.link_b, NULL), 0);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    chordal_release(p.b.host, watch);
    chordal_release(p.b.host, reference);
    pair_close(&p);
}

TESTS({"nothing changed, binary", nothing_changed_in_binary}, {"nothing changed, text", nothing_changed_in_text},
      {"the gap is folded", the_gap_is_folded}, {"changes under way", changes_under_way},
      {"answers under way", answers_under_way}, {"a cut that breaks off", a_cut_that_breaks_off},
      {"calls run once wherever the link breaks", calls_run_once_wherever_the_link_breaks},
      {"a result after its state", a_result_after_its_state}, {"calls while it is down", calls_while_it_is_down},
      {"outcomes have a budget", outcomes_have_a_budget}, {"a session lapses", a_session_lapses},
      {"lost sessions are limited", lost_sessions_are_limited},
      {"a stalled reader comes back", a_stalled_reader_comes_back}, {"a bye ends the session", a_bye_ends_the_session},
      {"a session has a number", a_session_has_a_number})
