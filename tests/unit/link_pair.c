/* link_pair.c: two hosts on a memory link, in both codecs. */
#include "hosts.h"

static test_pair p;
static chordal_id reference, object;

static void open_pair(uint32_t codec, chordal_host_options options) {
    pair_open(&p, codec, options, 0, 0);
    provide(&p.a, NOTES);
    reference = get_over(&p.b, 0, "notes", NOTES_PARAMS, 0);
    settle(&p);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_OBJECT);
    object = e ? e->as.object.object : 0;
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
}

static void close_pair(void) {
    chordal_release(p.b.host, reference);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
}

static void holds_and_follows(uint32_t codec) {
    chordal_id watch;
    open_pair(codec, (chordal_host_options){0});
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    CHECK_INT(chordal_watch_open(p.b.host, reference, NOTES_LIST, 0, &watch, NULL), 0);
    settle(&p);
    for (int i = 0; i < 50; i++) {
        append_text(&p.a, object, NOTES_LIST, "/text", "tok ");
        settle(&p);
    }
    set_json(&p.a, object, NOTES_LIST, "/entries/-", "{\"id\":1,\"\\ud83d\":[1.5,18446744073709551615]}");
    settle(&p);
    char expected[1024];
    strcpy(expected, head_of(&p.a, object, NOTES_LIST));
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), expected);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 52);
    CHECK_INT(test_counters(&p.a).changes_encoded, 51);
    chordal_release(p.b.host, watch);
    close_pair();
}
TEST(holds_and_follows_in_binary) {
    holds_and_follows(CHORDAL_CODEC_BINARY);
}
TEST(holds_and_follows_in_text) {
    holds_and_follows(CHORDAL_CODEC_TEXT);
}

static void calls_and_results(uint32_t codec) {
    open_pair(codec, (chordal_host_options){0});
    for (int i = 0; i < 300; i++) call(&p.b, reference, "add", "[\"milk\",{\"n\":-7}]");
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 256);
    size_t answered = 0;
    for (size_t i = 0; i < p.a.len; i++) {
        host_event *e = &p.a.events[i];
        if (e->kind != CHORDAL_EVENT_CALL) continue;
        char text[32];
        snprintf(text, sizeof text, "%zu", answered++);
        append_text(&p.a, object, NOTES_LIST, "/text", "x");
        CHECK_INT(answer(&p.a, e->as.call.call, text), 0);
        if (answered == 256 || i + 1 == p.a.len) settle(&p);
    }
    CHECK_INT(answered, 300);
    settle(&p);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 300);
    size_t next = 0;
    for (size_t i = 0; i < p.b.len; i++)
        if (p.b.events[i].kind == CHORDAL_EVENT_RESULT) {
            CHECK_INT(p.b.events[i].as.result.code, 0);
            if (next < 128) CHECK_INT(p.b.events[i].data[0], next);
            next++;
        }
    close_pair();
}
TEST(calls_and_results_in_binary) {
    calls_and_results(CHORDAL_CODEC_BINARY);
}
TEST(calls_and_results_in_text) {
    calls_and_results(CHORDAL_CODEC_TEXT);
}

static void bytes_travel_raw(uint32_t codec) {
    static uint8_t arguments[(1 << 20) + 8] = {0x92, 0xc6, 0x00, 0x10, 0x00, 0x00};
    chordal_id made;
    open_pair(codec, (chordal_host_options){0});
    arguments[6] = 200;
    arguments[sizeof arguments - 2] = 201;
    arguments[sizeof arguments - 1] = 5;
    size_t len = sizeof arguments - 1;
    arguments[len - 1 + 0] = 201;
    arguments[6 + (1 << 20)] = 5;
    CHECK_INT(chordal_call_start(p.b.host, reference, "add", 3, CHORDAL_FORMAT_PACKED, arguments, len, 0, &made, NULL),
              0);
    settle(&p);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_CALL);
    CHECK_INT(e->data_len, len);
    CHECK_BYTES(e->data, 16, arguments, 16);
    CHECK_INT(chordal_call_answer(p.a.host, e->as.call.call, 0, arguments, 1000, NULL), 0);
    settle(&p);
    e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->flags, CHORDAL_RESULT_BYTES);
    CHECK_INT(e->data_len, 1000);
    close_pair();
}
TEST(bytes_travel_raw_in_binary) {
    bytes_travel_raw(CHORDAL_CODEC_BINARY);
}
TEST(bytes_travel_raw_in_text) {
    bytes_travel_raw(CHORDAL_CODEC_TEXT);
}

TEST(errors_cross_with_their_names) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(chordal_call_fail(p.a.host, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "full", 4, "no", 2, NULL),
              0);
    settle(&p);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, CHORDAL_E_METHOD);
    CHECK_TEXT(e->name, "full");
    chordal_id none = get_over(&p.b, 0, "none", "{}", 0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, none), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_NO_TYPE);
    chordal_release(p.b.host, none);
    chordal_id wrong = get_over(&p.b, 0, "notes", "{}", 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_PARAMS);
    chordal_release(p.b.host, wrong);
    close_pair();
}

TEST(one_message_and_one_encode_for_ten_holds) {
    chordal_id holds[10];
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    for (int i = 0; i < 10; i++) holds[i] = get_over(&p.b, 0, "notes", NOTES_PARAMS, 0);
    settle(&p);
    CHECK_INT(test_counters(&p.a).snapshots_encoded, 2);
    chordal_counters before = test_counters(&p.a);
    append_text(&p.a, object, NOTES_LIST, "/text", "x");
    chordal_counters after = test_counters(&p.a);
    CHECK_INT(after.messages_out - before.messages_out, 1);
    CHECK_INT(after.changes_encoded - before.changes_encoded, 1);
    settle(&p);
    for (int i = 0; i < 10; i++) {
        CHECK_TEXT(value_of(&p.b, holds[i], NOTES_LIST), "{\"entries\":[],\"text\":\"x\"}");
        chordal_release(p.b.host, holds[i]);
    }
    close_pair();
}

TEST(a_full_window_stops_encoding) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.window_messages = 4});
    chordal_counters before = test_counters(&p.a);
    for (int i = 0; i < 1000; i++) append_text(&p.a, object, NOTES_LIST, "/text", "x");
    chordal_counters after = test_counters(&p.a);
    CHECK_INT(after.messages_out - before.messages_out, 4);
    CHECK_INT(after.changes_encoded - before.changes_encoded, 4);
    CHECK_INT(after.windows_full - before.windows_full, 1);
    before = after;
    settle(&p);
    after = test_counters(&p.a);
    CHECK_INT(after.changes_encoded - before.changes_encoded, 1);
    char expected[2048];
    strcpy(expected, head_of(&p.a, object, NOTES_LIST));
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), expected);
    close_pair();
}

TEST(a_long_stall_costs_the_text_once) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.window_messages = 1});
    chordal_counters before = test_counters(&p.a);
    for (int i = 0; i < 60000; i++) {
        append_text(&p.a, object, NOTES_LIST, "/text", "tok ");
        if (i % 1000 == 0) test_poll(&p.a), forget_events(&p.a);
    }
    settle(&p);
    chordal_counters after = test_counters(&p.a);
    CHECK(after.bytes_out - before.bytes_out < 240000 + 100);
    CHECK_INT(after.changes_encoded - before.changes_encoded, 2);
    chordal_value *a, *b;
    CHECK_INT(chordal_object_value(p.a.host, object, NOTES_LIST, &a, NULL), 0);
    CHECK_INT(chordal_reference_value(p.b.host, reference, NOTES_LIST, &b, NULL), 0);
    CHECK(chordal_value_equal(a, b));
    chordal_value_unref(a);
    chordal_value_unref(b);
    close_pair();
}

TEST(a_reader_that_missed_too_much_gets_whole_values) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.window_messages = 1});
    for (int i = 0; i < 3000; i++) {
        char text[32];
        snprintf(text, sizeof text, "{\"n\":%d}", i);
        set_json(&p.a, object, NOTES_LIST, i % 2 ? "/entries/0" : "/entries/-", text);
        if (p.a.len > 3000) forget_events(&p.a);
    }
    test_poll(&p.a);
    settle(&p);
    chordal_value *a, *b;
    CHECK_INT(chordal_object_value(p.a.host, object, NOTES_LIST, &a, NULL), 0);
    CHECK_INT(chordal_reference_value(p.b.host, reference, NOTES_LIST, &b, NULL), 0);
    CHECK(chordal_value_equal(a, b));
    chordal_value_unref(a);
    chordal_value_unref(b);
    close_pair();
}

TEST(a_kept_reference_gets_ops_and_keeps_nothing) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
    chordal_id kept = get_over(&p.b, 0, "notes", NOTES_PARAMS, CHORDAL_REFERENCE_KEPT);
    forget_events(&p.b);
    settle(&p);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 2);
    CHECK_INT(p.b.events[0].kind, CHORDAL_EVENT_REFERENCE);
    CHECK_TEXT(value_of(&p.b, kept, NOTES_LIST), "state");
    append_text(&p.a, object, NOTES_LIST, "/text", "abc");
    settle(&p);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_FRAME);
    CHECK_INT(e->as.frame.watch, kept);
    CHECK_INT(e->flags, 0);
    CHECK_BYTES(e->data + e->data_len - 3, 3, "abc", 3);
    CHECK_INT(chordal_watch_reset(p.b.host, kept, NULL), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_FRAME)->flags & CHORDAL_FRAME_SNAPSHOT, CHORDAL_FRAME_SNAPSHOT);
    chordal_release(p.b.host, kept);
    close_pair();
}

TEST(a_lost_link_comes_back) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.session_lapse = CHORDAL_NEVER});
    append_text(&p.a, object, NOTES_LIST, "/text", "before");
    settle(&p);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    test_poll(&p.a);
    test_poll(&p.b);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"before\"}");
    for (int i = 0; i < 5; i++) call(&p.b, reference, "add", "[3]");
    chordal_id expired = call_within(&p.b, reference, "add", "[4]", 10);
    test_poll(&p.b);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_WAIT);
    p.b.now += 100000;
    test_poll(&p.b);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.call, expired);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_DEADLINE);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_DIAL);
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    pair_up(&p);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 5);
    for (size_t i = 0; i < p.a.len; i++)
        if (p.a.events[i].kind == CHORDAL_EVENT_CALL) answer(&p.a, p.a.events[i].as.call.call, "true");
    close_pair();
}

TEST(hostile_frames_end_the_link_and_not_the_host) {
    static const char *const frames[] = {
        "\x00", "\x1e", "\x27\x03\x00", "\x2f\x00\x01\x00\x05", "\x31\x01\x00\x00\x00", "\x30\x01\x09"};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0});
        chordal_error error = {0};
        int code = chordal_link_feed(p.a.host, p.link_a, CHORDAL_FRAME_BINARY, (const uint8_t *)frames[i],
                                     i == 0 ? 1 : strlen(frames[i]) + (frames[i][1] == 3), p.a.now, &error);
        if (code != CHORDAL_E_MALFORMED && code != CHORDAL_E_ORDER)
            CHECK_FAIL("frame %zu gives %d %s", i, code, error.detail);
        test_poll(&p.a);
        CHECK_INT(last_event(&p.a, CHORDAL_EVENT_LINK)->as.link.state, CHORDAL_LINK_CLOSED);
        CHECK_INT(test_counters(&p.a).live_objects, 0);
        settle(&p);
        CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
        chordal_release(p.b.host, reference);
        pair_close(&p);
    }
}

TEST(a_silent_peer_is_found_out) {
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.ping_interval = 100, .ping_timeout = 50});
    p.a.now = p.b.now = 100;
    settle(&p);
    p.a.now = p.b.now = 200;
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    for (int i = 0; i < 2; i++) {
        p.b.now += 100;
        test_poll(&p.b);
    }
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_TIMEOUT);
    chordal_link_down(p.a.host, p.link_a, p.a.now, NULL);
    p.a.now += 60000; /* the session lapses */
    close_pair();
}

TEST(a_type_behind_a_peer_is_reached_through_the_server) {
    test_host tab;
    chordal_id link_s, link_t;
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, CHORDAL_LINK_ROUTE_OFFERS, 0);
    test_host_open(&tab, (chordal_host_options){0});
    provide(&tab, NOTES);
    CHECK_INT(chordal_link_open(p.a.host, CHORDAL_LINK_ROUTE_OFFERS, &link_s, NULL), 0);
    CHECK_INT(chordal_link_open(tab.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER, &link_t, NULL), 0);
    CHECK_INT(chordal_link_up(p.a.host, link_s, CHORDAL_CODEC_TEXT, 0, NULL), 0);
    CHECK_INT(chordal_link_up(tab.host, link_t, CHORDAL_CODEC_TEXT, 0, NULL), 0);
    size_t frames = 1;
    reference = 0;
    for (int round = 0; round < 8; round++) {
        CHECK_INT(chordal_link_carry(p.a.host, link_s, tab.host, link_t, 0, &frames, NULL), 0);
        frames += test_poll(&tab);
        settle(&p);
        if (!reference) reference = get_over(&p.b, 0, "notes", NOTES_PARAMS, CHORDAL_REFERENCE_KEPT), frames = 1;
    }
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(test_counters(&p.a).parts_parsed, 1); /* the params of the hold that was moved */
    CHECK(test_counters(&p.a).parts_forwarded > 0);
    chordal_id made = call(&p.b, reference, "add", "[1]");
    for (int round = 0; round < 6; round++) {
        settle(&p);
        CHECK_INT(chordal_link_carry(p.a.host, link_s, tab.host, link_t, 0, &frames, NULL), 0);
        test_poll(&tab);
        if (round == 1) answer(&tab, last_event(&tab, CHORDAL_EVENT_CALL)->as.call.call, "[1]");
    }
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.call, made);
    chordal_release(tab.host, link_t);
    test_host_close(&tab);
    chordal_link_down(p.a.host, link_s, 0, NULL);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    for (int tries = 0; tries < 8; tries++) { /* it may come back; then it is asked for at the server */
        p.b.now += 4000;
        settle(&p);
    }
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_FAILED);
    chordal_release(p.a.host, link_s);
    chordal_release(p.b.host, reference);
    pair_close(&p);
}

TESTS({"holds and follows in binary", holds_and_follows_in_binary},
      {"holds and follows in text", holds_and_follows_in_text},
      {"calls and results in binary", calls_and_results_in_binary},
      {"calls and results in text", calls_and_results_in_text},
      {"bytes travel raw in binary", bytes_travel_raw_in_binary},
      {"bytes travel raw in text", bytes_travel_raw_in_text},
      {"errors cross with their names", errors_cross_with_their_names},
      {"one message and one encode for ten holds", one_message_and_one_encode_for_ten_holds},
      {"a full window stops encoding", a_full_window_stops_encoding},
      {"a long stall costs the text once", a_long_stall_costs_the_text_once},
      {"a reader that missed too much gets whole values", a_reader_that_missed_too_much_gets_whole_values},
      {"a kept reference gets ops and keeps nothing", a_kept_reference_gets_ops_and_keeps_nothing},
      {"a lost link comes back", a_lost_link_comes_back},
      {"hostile frames end the link and not the host", hostile_frames_end_the_link_and_not_the_host},
      {"a silent peer is found out", a_silent_peer_is_found_out},
      {"a type behind a peer is reached through the server", a_type_behind_a_peer_is_reached_through_the_server})
