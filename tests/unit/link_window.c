/* link_window.c: windows that adapt: a long way is not throttled, a slow reader's window stays small, and a reader that
 * takes nothing costs the others nothing. */
#define HOST_EVENTS 64
#include "way.h"

static way_pair w;
static chordal_id reference, object;

static void open_way(chordal_time delay, chordal_host_options options) {
    way_open(&w, delay, options);
    reference = get(&w.p.b, "notes", NOTES_PARAMS);
    while (chordal_reference_state(w.p.b.host, reference) != CHORDAL_REFERENCE_LIVE) {
        way_step(&w);
        host_event *made = last_event(&w.p.a, CHORDAL_EVENT_OBJECT);
        if (made) object = made->as.object.object;
    }
}

static void close_way(void) {
    chordal_release(w.p.b.host, reference);
    way_close(&w);
}

/* A commit each millisecond; the messages that came of them. */
static uint64_t stream_for(int span, const char *text) {
    uint64_t before = test_counters(&w.p.a).messages_out;
    for (int i = 0; i < span; i++) {
        if (*text)
            append_text(&w.p.a, object, NOTES_LIST, "/text", text);
        else
            set_json(&w.p.a, object, NOTES_TITLE, "", i & 1 ? "\"a\"" : "\"b\"");
        way_step(&w);
    }
    return test_counters(&w.p.a).messages_out - before;
}

static size_t under_way(void) {
    return w.down.end - w.down.first;
}

static void check_equal(void) {
    while (w.up.end || w.down.end) way_step(&w);
    for (int i = 0; i < 2000; i++) way_step(&w);
    char mine[64];
    strncpy(mine, value_of(&w.p.b, reference, NOTES_TITLE), sizeof mine - 1);
    mine[sizeof mine - 1] = 0;
    CHECK_TEXT(mine, head_of(&w.p.a, object, NOTES_TITLE));
}

TEST(a_long_way_is_not_throttled) {
    open_way(100, (chordal_host_options){0});
    CHECK_INT(stream_for(99, ""), 15); /* and the bound is under way */
    stream_for(1600, "");
    CHECK_INT(stream_for(1000, ""), 1000); /* one for each commit, 200 always under way */
    check_equal();
    close_way();
}

TEST(a_fixed_window_throttles_it) {
    open_way(100, (chordal_host_options){.window_messages_limit = 16});
    stream_for(2000, "");
    CHECK(stream_for(1000, "") <= 5 * 16 + 16);
    check_equal();
    close_way();
}

/* A commit of 50 KB each ten milliseconds; the messages that came of them. */
static uint64_t large_for(int count) {
    static char text[50001];
    uint64_t before = test_counters(&w.p.a).messages_out;
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    for (int i = 0; i < count; i++) {
        text[1] = (char)('a' + i % 26);
        set_json(&w.p.a, object, NOTES_TITLE, "", text);
        for (int s = 0; s < 10; s++) way_step(&w);
    }
    return test_counters(&w.p.a).messages_out - before;
}

TEST(large_messages_over_a_long_way) {
    open_way(100, (chordal_host_options){.window_bytes = 100000});
    CHECK_INT(large_for(9), 2);
    large_for(80);
    CHECK_INT(large_for(40), 40);
    CHECK(under_way() >= 9);
    close_way();
}

TEST(a_slow_reader_keeps_a_small_window) {
    open_way(5, (chordal_host_options){0});
    w.pace = 1;
    size_t most = 0;
    for (int i = 0; i < 300; i++) {
        for (int s = 0; s < 20; s++) {
            w.pace = s == 0;
            if (!w.pace) w.p.b.now++, w.p.a.now++;
            if (w.pace) way_step(&w);
            append_text(&w.p.a, object, NOTES_LIST, "/text", "t");
            test_poll(&w.p.a);
            way_send(&w.down, &w.p.a, w.p.link_a, w.delay);
        }
        if (under_way() > most) most = under_way();
    }
    CHECK(most <= 32); /* one round trip's doubling, before it was known */
    CHECK(under_way() <= 16);
    w.pace = 0;
    check_equal();
    close_way();
}

TEST(a_window_that_grew_shrinks_for_a_reader_that_slows) {
    open_way(100, (chordal_host_options){0});
    stream_for(3000, "");
    CHECK(under_way() >= 99);
    for (int i = 0; i < 12000; i++) {
        w.pace = i % 20 == 0 ? 1 : 0;
        append_text(&w.p.a, object, NOTES_LIST, "/text", "t");
        if (w.pace) {
            way_step(&w);
            continue;
        }
        w.p.a.now++, w.p.b.now++;
        way_arrive(&w.up, &w.p.a, w.p.link_a, SIZE_MAX);
        test_poll(&w.p.a);
        way_send(&w.down, &w.p.a, w.p.link_a, w.delay);
        way_send(&w.up, &w.p.b, w.p.link_b, w.delay);
    }
    CHECK(under_way() <= 16);
    w.pace = 0;
    check_equal();
    close_way();
}

/* ---- readers that take nothing ---- */

enum { READERS = 300 };
typedef struct reader {
    test_host h;
    chordal_id mine, its, reference, watch;
} reader;

static void open_reader(reader *r, test_host *a, chordal_host_options options) {
    size_t frames;
    test_host_open(&r->h, options);
    CHECK_INT(chordal_link_open(a->host, 0, &r->its, NULL), 0);
    CHECK_INT(chordal_link_open(r->h.host, CHORDAL_LINK_CONNECT, &r->mine, NULL), 0);
    CHECK_INT(chordal_link_up(a->host, r->its, CHORDAL_CODEC_BINARY, a->now, NULL), 0);
    CHECK_INT(chordal_link_up(r->h.host, r->mine, CHORDAL_CODEC_BINARY, r->h.now, NULL), 0);
    r->reference = get(&r->h, "notes", NOTES_PARAMS);
    do {
        CHECK_INT(chordal_link_carry(a->host, r->its, r->h.host, r->mine, a->now, &frames, NULL), 0);
        frames += test_poll(a) + test_poll(&r->h);
    } while (frames);
    CHECK_INT(chordal_watch_open(r->h.host, r->reference, NOTES_TITLE, 0, &r->watch, NULL), 0);
    test_poll(&r->h);
}

/* All that there is, and its acks; the frames that were told. */
static size_t carry(test_host *a, reader *r) {
    size_t frames, told = 0;
    r->h.now = a->now;
    forget_events(&r->h);
    do {
        CHECK_INT(chordal_link_carry(a->host, r->its, r->h.host, r->mine, a->now, &frames, NULL), 0);
        frames += test_poll(&r->h);
        told += count_events(&r->h, CHORDAL_EVENT_FRAME);
        forget_events(&r->h);
    } while (frames);
    return told;
}

static void close_reader(test_host *a, reader *r) {
    chordal_release(a->host, r->its);
    chordal_release(r->h.host, r->mine);
    chordal_release(r->h.host, r->watch);
    chordal_release(r->h.host, r->reference);
    test_host_close(&r->h);
}

/* The kernel takes what there is; nobody reads it. */
static void lose(test_host *a, reader *r) {
    static uint8_t data[1 << 16];
    size_t len;
    uint32_t kind;
    do CHECK_INT(chordal_link_take(a->host, r->its, data, sizeof data, &len, &kind, NULL), 0);
    while (kind);
}

typedef struct outcome {
    uint64_t live_bytes, prompt, changes, windows_full;
} outcome;

static void commit_two_kilobytes(test_host *a, int i) {
    static char text[2049];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[2047] = '"';
    text[1] = (char)('a' + i % 26);
    set_json(a, object, NOTES_TITLE, "", text);
    test_poll(a);
    forget_events(a);
}

/* 50 commits a second for a minute, to one reader that takes them and many that do too, or take nothing. */
static outcome minute(bool silent) {
    static reader readers[READERS + 1];
    chordal_host_options options = {.ping_interval = CHORDAL_NEVER};
    test_host a;
    outcome out = {0};
    test_host_open(&a, options);
    provide(&a, NOTES);
    open_reader(&readers[0], &a, options);
    object = last_event(&a, CHORDAL_EVENT_OBJECT)->as.object.object;
    for (int r = 1; r <= READERS; r++) open_reader(&readers[r], &a, options);
    uint64_t changes = test_counters(&a).changes_encoded;
    for (int i = 0; i < 3000; i++) {
        a.now += 20;
        commit_two_kilobytes(&a, i);
        out.prompt += carry(&a, &readers[0]);
        for (int r = 1; r <= READERS; r++)
            if (silent)
                lose(&a, &readers[r]);
            else if (i % 10 == 9)
                carry(&a, &readers[r]);
        test_poll(&a);
    }
    chordal_counters counters = test_counters(&a);
    out.live_bytes = counters.live_bytes;
    out.changes = counters.changes_encoded - changes;
    out.windows_full = counters.windows_full;
    for (int r = 0; r <= READERS; r++) close_reader(&a, &readers[r]);
    test_host_close(&a);
    return out;
}

TEST(readers_that_take_nothing_cost_their_cut) {
    outcome none = minute(false), silent = minute(true);
    CHECK_INT(none.prompt, 3000);
    CHECK_INT(silent.prompt, 3000); /* each commit's frame in the turn of the commit */
    CHECK_INT(none.windows_full, 0);
    CHECK_INT(silent.windows_full, READERS);
    CHECK_INT(silent.changes, 3000); /* nothing is encoded for who takes nothing */
    if (silent.live_bytes > none.live_bytes / 10 * 11)
        CHECK_FAIL("%" PRIu64 " bytes, not %" PRIu64, silent.live_bytes, none.live_bytes);
}

TESTS({"a long way is not throttled", a_long_way_is_not_throttled},
      {"a fixed window throttles it", a_fixed_window_throttles_it},
      {"large messages over a long way", large_messages_over_a_long_way},
      {"a slow reader keeps a small window", a_slow_reader_keeps_a_small_window},
      {"a window that grew shrinks for a reader that slows", a_window_that_grew_shrinks_for_a_reader_that_slows},
      {"readers that take nothing cost their cut", readers_that_take_nothing_cost_their_cut})
