/* link_log.c: the log of a stream under readers at three hundred places, at random: what is folded from any border
 * gives the present value, its size is bounded, and those that come back from anywhere are right. */
#define HOST_EVENTS 64
#include "hosts.h"
#include "host/host.h"

enum { READERS = 300, STEPS = 10000, COMMITS = STEPS + 1 };
typedef struct reader {
    test_host h;
    chordal_id its, mine, reference;
    bool up;
} reader;

static test_host a;
static reader readers[READERS];
static chordal_id object;
static chordal__node *history[COMMITS]; /* the document after each commit */
static uint64_t first_commit;
static size_t entries;
static uint64_t state = 12345;

static uint32_t below(uint32_t end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % end;
}

static chordal__object *served(void) {
    return chordal__id_get(&a.host->runtime.ids, object, CHORDAL__ID_OBJECT);
}

static void carry(reader *r) {
    size_t frames;
    if (!r->up) return;
    do {
        CHECK_INT(chordal_link_carry(a.host, r->its, r->h.host, r->mine, 0, &frames, NULL), 0);
        frames += test_poll(&r->h);
        forget_events(&r->h);
    } while (frames);
    test_poll(&a);
    forget_events(&a);
}

static void join(reader *r) {
    CHECK_INT(chordal_link_open(a.host, 0, &r->its, NULL), 0);
    CHECK_INT(chordal_link_retry(r->h.host, r->mine, 0, NULL), 0);
    test_poll(&r->h);
    CHECK_INT(chordal_link_up(a.host, r->its, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(r->h.host, r->mine, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    r->up = true;
}

/* What is on the way is lost, at a place of its own. */
static void part(reader *r) {
    CHECK_INT(chordal_link_down(r->h.host, r->mine, 0, NULL), 0);
    CHECK_INT(chordal_link_down(a.host, r->its, 0, NULL), 0);
    chordal_release(a.host, r->its);
    test_poll(&r->h);
    test_poll(&a);
    forget_events(&r->h);
    forget_events(&a);
    r->up = false;
}

/* Frames arrive, and no ack comes back. */
static void deliver(reader *r, uint32_t most) {
    static uint8_t data[1 << 21];
    size_t len;
    uint32_t kind;
    while (r->up && most--) {
        CHECK_INT(chordal_link_take(a.host, r->its, data, sizeof data, &len, &kind, NULL), 0);
        if (!kind) return;
        CHECK_INT(chordal_link_feed(r->h.host, r->mine, kind, data, len, 0, NULL), 0);
    }
}

static void commit_one(bool large) {
    static char text[3000];
    char path[32], value[32];
    size_t len = large ? 2000 + below(900) : 1 + below(20);
    switch (below(4)) {
    case 0:
        memset(text, 'a' + (int)below(26), len);
        text[len] = 0;
        append_text(&a, object, NOTES_LIST, "/text", text);
        break;
    case 1:
        snprintf(path, sizeof path, "/entries/%zu", entries++);
        set_json(&a, object, NOTES_LIST, path, "{\"n\":1}");
        break;
    case 2:
        snprintf(path, sizeof path, "/k%u", below(40));
        snprintf(value, sizeof value, "%u", below(1000));
        set_json(&a, object, NOTES_LIST, path, value);
        break;
    default:
        memset(text, 'a' + (int)below(26), len);
        text[0] = text[len] = '"';
        text[len + 1] = 0;
        set_json(&a, object, NOTES_LIST, "/text", text);
        break;
    }
    test_poll(&a);
    forget_events(&a);
    chordal__node **now = &history[a.host->runtime.commit_number - first_commit]; /* the same again is no commit */
    chordal__node_unref(a.host->memory, *now);
    *now = chordal__node_ref(served()->slots[NOTES_LIST].head);
}

/* ---- what holds at all times ---- */

static void check_fold(chordal__stream *stream, uint64_t from) {
    chordal__ops ops;
    chordal__memory *memory = a.host->memory;
    chordal__node *value = chordal__node_ref(history[from - first_commit]);
    CHECK(chordal__stream_has(stream, from));
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__stream_fold(stream, from, &ops), 0);
    for (size_t i = 0; i < ops.count; i++) CHECK_INT(chordal__apply(memory, &value, &ops.items[i], 512, NULL), 0);
    CHECK(chordal__node_equal(value, served()->slots[NOTES_LIST].head));
    chordal__ops_dispose(&ops);
    chordal__node_unref(memory, value);
}

static size_t most_entries;
static uint64_t most_weight;

static void check_log(void) {
    chordal__stream *stream = served()->stream;
    uint64_t weight = 0;
    if (stream->log_len > most_entries) most_entries = stream->log_len;
    if (stream->log_weight > most_weight) most_weight = stream->log_weight;
    CHECK(stream->log_len <= CHORDAL__STREAM_LOG_COUNT);
    CHECK(stream->log_weight <= CHORDAL__STREAM_LOG_WEIGHT);
    uint64_t before = stream->log_from;
    for (size_t i = 0; i < stream->log_len; i++) {
        CHECK(stream->log[i].first > before && stream->log[i].commit >= stream->log[i].first);
        before = stream->log[i].commit;
        weight += stream->log[i].ops.weight;
    }
    CHECK(weight == stream->log_weight);
    check_fold(stream, stream->log_from > first_commit ? stream->log_from : first_commit);
    if (stream->log_len) check_fold(stream, stream->log[below((uint32_t)stream->log_len)].commit);
}

static void step(int i, bool large) {
    reader *r = &readers[below(READERS)];
    uint32_t what = below(10);
    if (what < 6 || i % 40 == 0)
        commit_one(large);
    else if (what < 8)
        deliver(r, 1 + below(4));
    else if (what == 8)
        carry(r);
    else if (r->up)
        part(r);
    else
        join(r);
    if (i % 20 == 0) check_log();
}

static void run(bool large) {
    chordal_host_options options = {.window_messages = 4, .ping_interval = CHORDAL_NEVER};
    options.session_lapse = options.stall_timeout = CHORDAL_NEVER;
    memset(readers, 0, sizeof readers);
    test_host_open(&a, options);
    provide(&a, NOTES);
    CHECK_INT(chordal_object_get(a.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &object, NULL),
              0);
    test_poll(&a);
    for (int i = 0; i < READERS; i++) {
        test_host_open(&readers[i].h, options);
        CHECK_INT(chordal_link_open(readers[i].h.host, CHORDAL_LINK_CONNECT, &readers[i].mine, NULL), 0);
        readers[i].reference = get(&readers[i].h, "notes", NOTES_PARAMS);
        join(&readers[i]);
        carry(&readers[i]);
    }
    first_commit = a.host->runtime.commit_number;
    history[0] = chordal__node_ref(served()->slots[NOTES_LIST].head);
    entries = most_entries = 0;
    most_weight = 0;
    for (int i = 1; i <= STEPS; i++) step(i, large);
    for (int i = 0; i < READERS; i++) {
        if (!readers[i].up) join(&readers[i]);
        carry(&readers[i]);
    }
    check_log();
    static char mine[1 << 16];
    strcpy(mine, head_of(&a, object, NOTES_LIST));
    for (int i = 0; i < READERS; i++) {
        CHECK_INT(chordal_reference_state(readers[i].h.host, readers[i].reference), CHORDAL_REFERENCE_LIVE);
        CHECK_TEXT(value_of(&readers[i].h, readers[i].reference, NOTES_LIST), mine);
    }
    CHECK(most_entries > CHORDAL__STREAM_BORDERS && most_entries < 2 * CHORDAL__STREAM_BORDERS);
    CHECK(!large || most_weight > CHORDAL__STREAM_LOG_WEIGHT / 2);
}

static void end(void) {
    for (size_t i = 0; i < COMMITS; i++) chordal__node_unref(a.host->memory, history[i]);
    memset(history, 0, sizeof history);
    for (int i = 0; i < READERS; i++) chordal_host_forget(readers[i].h.host), free(readers[i].h.events);
    CHECK_INT(chordal_object_drop(a.host, object, NULL), 0);
    for (int i = 0; i < READERS; i++) chordal_release(a.host, readers[i].its);
    test_host_close(&a);
}

TEST(small_changes) {
    run(false);
    end();
}
TEST(large_changes) {
    run(true);
    end();
}

TESTS({"small changes", small_changes}, {"large changes", large_changes})
