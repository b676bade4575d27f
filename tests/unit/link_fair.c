/* link_fair.c: sessions are served in turn: a flood of one delays another by a bounded share, counted in what goes
 * before it, never in time. */
#include "hosts.h"

enum { CALLS = 10000, SLOTS = 256, AT_ONCE = 64 };

typedef struct client {
    test_host h;
    chordal_id its, mine, reference;
} client;

static test_host a;
static client flooding, quiet;

static size_t carry(client *c) {
    size_t frames;
    CHECK_INT(chordal_link_carry(a.host, c->its, c->h.host, c->mine, a.now, &frames, NULL), 0);
    return frames + test_poll(&c->h);
}

static void settle_all(void) {
    while (carry(&flooding) + carry(&quiet) + test_poll(&a)) continue;
}

static void open_client(client *c, chordal_host_options options) {
    test_host_open(&c->h, options);
    CHECK_INT(chordal_link_open(a.host, 0, &c->its, NULL), 0);
    CHECK_INT(chordal_link_open(c->h.host, CHORDAL_LINK_CONNECT, &c->mine, NULL), 0);
    CHECK_INT(chordal_link_up(a.host, c->its, CHORDAL_CODEC_BINARY, a.now, NULL), 0);
    CHECK_INT(chordal_link_up(c->h.host, c->mine, CHORDAL_CODEC_BINARY, a.now, NULL), 0);
    c->reference = get(&c->h, "notes", NOTES_PARAMS);
}

static void open_all(chordal_host_options options) {
    test_host_open(&a, options);
    provide(&a, NOTES);
    open_client(&flooding, options);
    open_client(&quiet, options);
    settle_all();
    forget_events(&a);
}

static void close_client(client *c) {
    chordal_release(a.host, c->its);
    chordal_release(c->h.host, c->mine);
    chordal_release(c->h.host, c->reference);
    test_host_close(&c->h);
}

static void close_all(void) {
    close_client(&flooding);
    close_client(&quiet);
    test_host_close(&a);
}

/* The object's id, of the only one that there is. */
static chordal_id object_of(void) {
    chordal_id made = 0;
    chordal_error error = {0};
    CHECK_INT(chordal_object_get(a.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &made, &error),
              0);
    return made;
}

static size_t answer_calls(void) {
    size_t answered = 0;
    for (size_t i = 0; i < a.len; i++)
        if (a.events[i].kind == CHORDAL_EVENT_CALL) answered += answer(&a, a.events[i].as.call.call, "[1]") == 0;
    forget_events(&a);
    return answered;
}

/* How many calls were handed out before the first one with these arguments. */
static size_t place_of(const char *packed, size_t len) {
    size_t before = 0;
    for (size_t i = 0; i < a.len; i++) {
        const host_event *e = &a.events[i];
        if (e->kind != CHORDAL_EVENT_CALL) continue;
        if (e->data_len == len && memcmp(e->data, packed, len) == 0) return before;
        before++;
    }
    return SIZE_MAX;
}

TEST(a_call_beside_ten_thousand) {
    open_all((chordal_host_options){.call_limit = SLOTS});
    for (int i = 0; i < CALLS; i++) call(&flooding.h, flooding.reference, "add", "[\"flood\"]");
    size_t results = 0, rounds = 0, worst = 0;
    while (results < CALLS && rounds++ < CALLS) {
        chordal_id made = call(&quiet.h, quiet.reference, "add", "[7]");
        size_t turns = 0;
        do {
            carry(&flooding);
            carry(&quiet);
            test_poll(&a);
            size_t place = place_of("\x91\x07", 2);
            if (place != SIZE_MAX && place > worst) worst = place;
            answer_calls();
            carry(&quiet);
            turns++;
        } while (!count_events(&quiet.h, CHORDAL_EVENT_RESULT) && turns < 10);
        CHECK_INT(turns, 1); /* its result is there in the turn of its call */
        CHECK_INT(last_event(&quiet.h, CHORDAL_EVENT_RESULT)->as.result.call, made);
        forget_events(&quiet.h);
        results += count_events(&flooding.h, CHORDAL_EVENT_RESULT);
        forget_events(&flooding.h);
    }
    CHECK_INT(results, CALLS);
    CHECK(worst >= 1);
    CHECK(worst <= AT_ONCE);
    close_all();
}

/* ---- the turn's budget ---- */

static uint64_t sent_to(const client *c) {
    return test_counters((test_host *)(uintptr_t)&c->h).messages_in;
}

/* With nothing but small turns each session has its share of every one of them. */
TEST(a_turn_has_a_budget) {
    open_all((chordal_host_options){.turn_messages = 8, .window_messages = 1000});
    for (int i = 0; i < 100; i++) call(&flooding.h, flooding.reference, "add", "[]");
    for (int i = 0; i < 10; i++) call(&quiet.h, quiet.reference, "add", "[]");
    carry(&flooding);
    carry(&quiet);
    test_poll(&a);
    uint64_t before = test_counters(&a).messages_out;
    CHECK_INT(answer_calls(), 110);
    CHECK_INT(test_counters(&a).messages_out - before, 8); /* the rest waits */
    CHECK_INT(chordal_host_deadline(a.host), 0);
    uint64_t quiet_before = sent_to(&quiet);
    size_t turns = 0;
    while (chordal_host_deadline(a.host) == 0) {
        static _Alignas(8) uint8_t buffer[1 << 16];
        size_t len;
        uint64_t out = test_counters(&a).messages_out;
        CHECK_INT(chordal_host_poll(a.host, a.now, buffer, sizeof buffer, &len, NULL), 0);
        CHECK(test_counters(&a).messages_out - out <= 8);
        turns++;
        if (turns == 3) {
            carry(&quiet);
            CHECK_INT(sent_to(&quiet) - quiet_before, 10); /* 4 of each turn's 8 */
        }
    }
    CHECK(turns >= 102 / 8);
    settle_all();
    CHECK_INT(count_events(&flooding.h, CHORDAL_EVENT_RESULT), 100);
    CHECK_INT(count_events(&quiet.h, CHORDAL_EVENT_RESULT), 10);
    close_all();
}

TEST(the_budget_counts_bytes) {
    static char text[10001];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    open_all((chordal_host_options){.turn_bytes = 5000});
    chordal_id object = object_of();
    uint64_t before = test_counters(&a).messages_out;
    set_json(&a, object, NOTES_TITLE, "", text);
    CHECK_INT(test_counters(&a).messages_out - before, 1); /* over the budget with the first */
    CHECK_INT(chordal_host_deadline(a.host), 0);
    settle_all();
    CHECK_INT(test_counters(&a).messages_out - before, 2);
    CHECK_INT(test_counters(&a).changes_encoded, 1); /* also for the one that waited */
    CHECK_TEXT(value_of(&quiet.h, quiet.reference, NOTES_TITLE), text);
    chordal_object_drop(a.host, object, NULL);
    close_all();
}

/* ---- sessions on one link ---- */

/* What is much waits in the session, not in the link that it shares: what waits there is bounded, and folded. */
TEST(a_flood_of_state_waits_in_its_session) {
    static char text[5001];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    open_all((chordal_host_options){.window_messages = 1000});
    chordal_id object = object_of();
    uint64_t before = test_counters(&a).messages_out;
    for (int i = 0; i < 10000; i++) {
        text[1] = (char)('a' + i % 26);
        set_json(&a, object, NOTES_TITLE, "", text);
        test_poll(&a);
        forget_events(&a);
    }
    uint64_t queued = test_counters(&a).messages_out - before;
    CHECK(queued <= 2 * (65536 / 5000 + 1));
    settle_all();
    CHECK_INT(test_counters(&a).messages_out - before, queued + 2); /* one folded change for each */
    CHECK_TEXT(value_of(&quiet.h, quiet.reference, NOTES_TITLE), text);
    CHECK_TEXT(value_of(&flooding.h, flooding.reference, NOTES_TITLE), text);
    chordal_object_drop(a.host, object, NULL);
    close_all();
}

/* One who takes nothing from a transport is found out, though its window is not full. */
TEST(a_transport_that_takes_nothing_stalls) {
    static char text[5001];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    open_all((chordal_host_options){.window_messages = 1000, .stall_timeout = 1000, .ping_interval = CHORDAL_NEVER});
    chordal_id object = object_of();
    for (int i = 0; i < 40; i++) {
        text[1] = (char)('a' + i % 26);
        set_json(&a, object, NOTES_TITLE, "", text);
        test_poll(&a);
        carry(&quiet);
    }
    CHECK_INT(test_counters(&a).windows_full, 0);
    a.now = flooding.h.now = quiet.h.now = 999;
    test_poll(&a);
    CHECK_INT(test_counters(&a).live_lost, 0);
    a.now = flooding.h.now = quiet.h.now = 1000;
    test_poll(&a);
    CHECK_INT(test_counters(&a).live_lost, 1);
    settle_all();
    CHECK_INT(chordal_reference_state(flooding.h.host, flooding.reference), CHORDAL_REFERENCE_DOWN);
    flooding.h.now += 1000; /* it comes back */
    test_poll(&flooding.h);
    settle_all();
    CHECK_INT(chordal_reference_state(flooding.h.host, flooding.reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&flooding.h, flooding.reference, NOTES_TITLE), text);
    chordal_object_drop(a.host, object, NULL);
    close_all();
}

TESTS({"a call beside ten thousand", a_call_beside_ten_thousand}, {"a turn has a budget", a_turn_has_a_budget},
      {"the budget counts bytes", the_budget_counts_bytes},
      {"a flood of state waits in its session", a_flood_of_state_waits_in_its_session},
      {"a transport that takes nothing stalls", a_transport_that_takes_nothing_stalls})
