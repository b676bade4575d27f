/* link_lineage.c: readers whose provider was started again: what they missed comes from the store's revisions, where
 * these are the history that the readers saw, and as whole values where they are not. */
#include "store.h"

static test_pair p;
static test_host dead[8];
static chordal_id dead_links[8];
static int dead_len;
static chordal_id reference, object, watch;
static const char *type;

static chordal_id object_of(const char *params) {
    chordal_id found = 0;
    chordal_error error = {0};
    int code = chordal_object_get(p.a.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)params, strlen(params),
                                  &found, &error);
    if (code) CHECK_FAIL("object: %d %s", code, error.detail);
    test_poll(&p.a);
    return found;
}

/* Another consumer's session may be there before. */
static void serve(void) {
    open_store(&p.a);
    provide(&p.a, type);
    object = object_of(NOTES_PARAMS);
    if (!strstr(type, "table")) CHECK_INT(test_counters(&p.a).steps, 0); /* nothing is written without a reason */
}

static void meet(void) {
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    forget_events(&p.b);
    pair_up(&p);
    settle(&p);
}

static void begin_as(uint32_t codec, uint32_t flags) {
    new_store();
    p = (test_pair){.codec = codec};
    serve();
    test_host_open(&p.b, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    reference = get_over(&p.b, p.link_b, "notes", NOTES_PARAMS, flags);
    meet();
}

static void begin_with(uint32_t codec) {
    begin_as(codec, 0);
    CHECK_INT(chordal_watch_open(p.b.host, reference, NOTES_LIST, 0, &watch, NULL), 0);
    settle(&p);
}

/* Both documents have been written. */
static void begin(void) {
    type = NOTES;
    begin_with(CHORDAL_CODEC_BINARY);
    set_json(&p.a, object, NOTES_TITLE, "", "\"t\"");
    set_json(&p.a, object, NOTES_LIST, "/text", "\"a\"");
    settle(&p);
}

/* As if it were killed: what it did not write is lost, and its lock is gone. */
static void kill_provider(void) {
    char name[128];
    snprintf(name, sizeof name, "%s-owner", store_path);
    unlink(name);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    dead_links[dead_len] = p.link_a;
    dead[dead_len++] = p.a;
    p.link_a = 0;
}

static void restart(void) {
    kill_provider();
    serve();
}

static void end(void) {
    chordal_release(p.b.host, watch);
    chordal_release(p.b.host, reference);
    settle(&p);
    pair_close(&p);
    while (dead_len) {
        dead_len--;
        if (dead_links[dead_len]) chordal_release(dead[dead_len].host, dead_links[dead_len]);
        test_host_close(&dead[dead_len]);
    }
    watch = 0;
}

static void expect_text(const char *text) {
    char whole[256];
    snprintf(whole, sizeof whole, "{\"entries\":[],\"text\":\"%s\"}", text);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), whole);
    CHECK_TEXT(head_of(&p.a, object, NOTES_LIST), whole);
    append_text(&p.a, object, NOTES_LIST, "/text", "!"); /* and it goes on */
    settle(&p);
    snprintf(whole, sizeof whole, "{\"entries\":[],\"text\":\"%s!\"}", text);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), whole);
}

static size_t snapshots(void) {
    return test_counters(&p.a).snapshots_encoded;
}

/* ---- the gap ---- */

static void gap(uint32_t codec) {
    type = NOTES;
    begin_with(codec);
    set_json(&p.a, object, NOTES_TITLE, "", "\"t\"");
    for (int i = 0; i < 3; i++) append_text(&p.a, object, NOTES_LIST, "/text", "a");
    settle(&p);
    append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a); /* in the store, and the consumer never hears of it */
    restart();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_DOWN);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"aaa\"}");
    append_text(&p.a, object, NOTES_LIST, "/text", "c");
    append_text(&p.a, object, NOTES_LIST, "/text", "d");
    test_poll(&p.a);
    meet();
    CHECK_INT(snapshots(), 0);
    CHECK_INT(test_counters(&p.a).changes_encoded, 1);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 1);
    host_event *frame = last_event(&p.b, CHORDAL_EVENT_FRAME);
    CHECK(frame && !(frame->flags & CHORDAL_FRAME_SNAPSHOT));
    CHECK_INT(frame ? frame->data_len : 0, 12); /* one append of three letters */
    expect_text("aaabcd");
    end();
}
TEST(the_gap_in_binary) {
    gap(CHORDAL_CODEC_BINARY);
}
TEST(the_gap_in_text) {
    gap(CHORDAL_CODEC_TEXT);
}

TEST(nothing_changed) {
    enum { MANY = 100 };
    static chordal_id many[MANY];
    begin();
    char params[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(params, sizeof params, "{\"board\":\"%02d\"}", i);
        many[i] = get_over(&p.b, p.link_b, "notes", params, 0);
        chordal_id made = object_of(params);
        set_json(&p.a, made, NOTES_LIST, "/text", "\"x\"");
        set_json(&p.a, made, NOTES_TITLE, "", "\"y\"");
        settle(&p);
    }
    restart();
    uint64_t up = test_counters(&p.b).bytes_out, down = test_counters(&p.a).bytes_out;
    meet();
    up = test_counters(&p.b).bytes_out - up;
    down = test_counters(&p.a).bytes_out - down;
    CHECK_INT(snapshots() + test_counters(&p.a).changes_encoded, 0);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 0);
    CHECK(up < 200 + MANY * (32 + 10));
    CHECK(down < 200 + MANY * 12);
    printf("%d references in a new run, unchanged: %d B up, %d B down\n", MANY, (int)up, (int)down);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(chordal_reference_state(p.b.host, many[i]), CHORDAL_REFERENCE_LIVE);
        chordal_release(p.b.host, many[i]);
    }
    expect_text("a");
    end();
}

/* The paths that others had defined come with it. */
TEST(an_unchanged_object_whose_stream_has_begun) {
    begin();
    restart();
    test_host other;
    chordal_id near, far;
    size_t frames;
    test_host_open(&other, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(p.a.host, 0, &far, NULL), 0);
    CHECK_INT(chordal_link_open(other.host, CHORDAL_LINK_CONNECT, &near, NULL), 0);
    CHECK_INT(chordal_link_up(p.a.host, far, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(other.host, near, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    chordal_id held = get_over(&other, near, "notes", NOTES_PARAMS, 0);
    for (int i = 0; i < 6; i++) {
        if (i > 1) append_text(&p.a, object, NOTES_LIST, "/text", "b");
        test_poll(&p.a);
        CHECK_INT(chordal_link_carry(p.a.host, far, other.host, near, 0, &frames, NULL), 0);
        test_poll(&other);
    }
    size_t before = snapshots();
    meet();
    CHECK_INT(snapshots(), before);
    expect_text("abbbb");
    kill_provider(); /* whoever held it meanwhile comes back, too, and finds nothing new */
    chordal_release(dead[dead_len - 1].host, far);
    chordal_release(other.host, held);
    serve();
    meet();
    CHECK_INT(snapshots(), 0);
    expect_text("abbbb!");
    chordal_release(other.host, near);
    test_host_close(&other);
    end();
}

/* The provider that is killed over and over, with and without changes in a run. */
TEST(run_after_run) {
    char text[64] = "a";
    begin();
    for (int i = 0; i < 3; i++) {
        restart();
        if (i != 1) append_text(&p.a, object, NOTES_LIST, "/text", "b");
        if (i != 1) strcat(text, "b");
        test_poll(&p.a);
        meet();
        CHECK_INT(snapshots(), 0);
        if (i) expect_text(text), strcat(text, "!");
    }
    end();
}

/* A run that wrote nothing is noted when it first tells how far a reader is: one step, with one row. */
TEST(a_run_that_only_read) {
    begin();
    restart();
    meet();
    CHECK_INT(test_counters(&p.a).steps, 1);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_runs"), 2);
    restart();
    append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a);
    meet();
    CHECK_INT(snapshots(), 0);
    expect_text("ab");
    end();
}

/* A session that lapsed finds its way back in the same run. */
TEST(a_session_that_lapsed) {
    begin();
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    test_poll(&p.b);
    p.a.now += 100000;
    test_poll(&p.a);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a);
    size_t before = snapshots();
    meet();
    CHECK_INT(snapshots(), before);
    expect_text("ab");
    end();
}

/* The answer is lost on its way, in the new session: it is the same when it comes again. */
TEST(a_gap_that_does_not_arrive) {
    for (int arrived = 0; arrived < 2; arrived++) {
        begin();
        restart();
        append_text(&p.a, object, NOTES_LIST, "/text", "b");
        test_poll(&p.a);
        CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
        CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0);
        test_poll(&p.b);
        pair_up(&p);
        size_t frames;
        for (int i = 0; i < 4 + arrived; i++) { /* until it was asked for, and answered */
            CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL), 0);
            test_poll(&p.b);
            if (i < 3 + arrived) test_poll(&p.a);
        }
        CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
        CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
        chordal_release(p.a.host, p.link_a);
        test_poll(&p.b);
        append_text(&p.a, object, NOTES_LIST, "/text", "c");
        test_poll(&p.a);
        meet();
        CHECK_INT(snapshots(), 0);
        expect_text("abc");
        end();
    }
}

/* ---- what is not in the store ---- */

#define MIXED                                                                                                          \
    "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["                                                         \
    "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"                            \
    "{\"name\":\"cursor\",\"kind\":\"document\",\"initial\":0,\"persist\":false},"                                     \
    "{\"name\":\"sum\",\"kind\":\"derive\",\"from\":[\"list\"]}]}"

static void compute(const char *json) {
    host_event *asked = last_event(&p.a, CHORDAL_EVENT_COMPUTE);
    CHECK_INT(chordal_compute_answer(p.a.host, asked->as.compute.compute, CHORDAL_FORMAT_JSON, (const uint8_t *)json,
                                     strlen(json), NULL),
              0);
    test_poll(&p.a);
    if (p.link_a) settle(&p);
}

/* Commits in memory have numbers, too: they say nothing of what is in the store. */
TEST(presence_beside_documents) {
    for (int round = 0; round < 3; round++) {
        type = MIXED;
        new_store();
        p = (test_pair){.codec = CHORDAL_CODEC_BINARY};
        serve();
        test_host_open(&p.b, (chordal_host_options){0});
        CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
        if (round < 2) reference = get_over(&p.b, p.link_b, "notes", NOTES_PARAMS, 0);
        meet();
        compute("1");
        append_text(&p.a, object, 0, "/text", "a");
        settle(&p);
        compute("2");
        for (int i = 0; i < 3 && round; i++) {
            set_json(&p.a, object, 1, "", "7");
            settle(&p);
        }
        if (round == 2) reference = get_over(&p.b, p.link_b, "notes", NOTES_PARAMS, 0);
        settle(&p);
        CHECK_TEXT(value_of(&p.b, reference, 1), round ? "7" : "0");
        CHECK_TEXT(value_of(&p.b, reference, 2), "2");
        restart();
        compute("3");
        append_text(&p.a, object, 0, "/text", "b");
        test_poll(&p.a);
        compute("4");
        meet();
        CHECK_INT(snapshots(), 0);
        CHECK_TEXT(value_of(&p.b, reference, 0), "{\"entries\":[],\"text\":\"ab\"}");
        CHECK_TEXT(value_of(&p.b, reference, 1), "0");
        CHECK_TEXT(value_of(&p.b, reference, 2), "4");
        end();
    }
}

/* Several commits that arrive as one, the last of them in memory alone: what was in the store is not applied twice. */
TEST(a_fold_over_both_kinds) {
    type = MIXED;
    begin_as(CHORDAL_CODEC_BINARY, 0);
    compute("1");
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    test_poll(&p.b);
    append_text(&p.a, object, 0, "/text", "a");
    test_poll(&p.a);
    CHECK_INT(chordal_compute_answer(p.a.host, last_event(&p.a, CHORDAL_EVENT_COMPUTE)->as.compute.compute,
                                     CHORDAL_FORMAT_JSON, (const uint8_t *)"2", 1, NULL),
              0);
    set_json(&p.a, object, 1, "", "7");
    test_poll(&p.a);
    meet();
    CHECK_TEXT(value_of(&p.b, reference, 0), "{\"entries\":[],\"text\":\"a\"}");
    restart();
    compute("3");
    meet();
    CHECK_TEXT(value_of(&p.b, reference, 0), "{\"entries\":[],\"text\":\"a\"}");
    CHECK_TEXT(value_of(&p.b, reference, 1), "0");
    end();
}

/* A document that was never written is what its declaration says now. */
TEST(a_document_that_was_never_written) {
    begin();
    chordal_id other = get_over(&p.b, p.link_b, "notes", "{\"board\":\"other\"}", 0);
    settle(&p);
    CHECK_TEXT(value_of(&p.b, other, NOTES_TITLE), "\"\"");
    kill_provider();
    type = "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"
           "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"untitled\"},"
           "{\"name\":\"add\",\"kind\":\"method\"},{\"name\":\"ping\",\"kind\":\"method\",\"idempotent\":true}]}";
    serve();
    meet();
    CHECK_TEXT(value_of(&p.b, other, NOTES_TITLE), "\"untitled\"");
    CHECK_TEXT(value_of(&p.b, reference, NOTES_TITLE), "\"t\"");
    chordal_release(p.b.host, other);
    expect_text("a");
    end();
}

/* ---- history that is not the reader's ---- */

static void copy(const char *from_suffix, const char *to_suffix) {
    static const char *const parts[] = {"", "-wal"};
    static uint8_t bytes[1 << 20];
    char from[160], to[160];
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s%s%s", store_path, from_suffix, parts[i]);
        snprintf(to, sizeof to, "%s%s%s", store_path, to_suffix, parts[i]);
        FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
        size_t len = source ? fread(bytes, 1, sizeof bytes, source) : 0;
        CHECK(target && fwrite(bytes, 1, len, target) == len);
        if (source) fclose(source);
        if (target) fclose(target);
    }
}

/* The store as it was when it was copied, in place of what came after. */
static void put_back(void) {
    char name[128];
    snprintf(name, sizeof name, "%s-shm", store_path);
    unlink(name);
    snprintf(name, sizeof name, "%s-wal", store_path);
    unlink(name);
    unlink(store_path); /* the dead one keeps its own file */
    copy("-copy", "");
    snprintf(name, sizeof name, "%s-copy", store_path);
    unlink(name);
    snprintf(name, sizeof name, "%s-copy-wal", store_path);
    unlink(name);
}

static void follow(const char *text) {
    append_text(&p.a, object, NOTES_LIST, "/text", text);
    settle(&p);
}

static void commit_alone(const char *text) {
    append_text(&p.a, object, NOTES_LIST, "/text", text);
    test_poll(&p.a);
}

/* What was acknowledged is lost, and as many others follow. */
TEST(a_power_cut) {
    for (int more = 0; more < 4; more++) {
        begin();
        copy("", "-copy");
        follow("b");
        follow("c");
        kill_provider();
        put_back();
        serve();
        for (int i = 0; i < more; i++) commit_alone("x");
        meet();
        CHECK_INT(snapshots(), 1);
        static const char *const texts[] = {"a", "ax", "axx", "axxx"};
        expect_text(texts[more]);
        end();
    }
}

/* The run that lost them was followed by one that only had commits in memory. */
TEST(a_power_cut_and_commits_in_memory) {
    type = "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"
           "{\"name\":\"cursor\",\"kind\":\"document\",\"initial\":0,\"persist\":false}]}";
    begin_with(CHORDAL_CODEC_BINARY);
    follow("a");
    copy("", "-copy");
    follow("b");
    follow("c");
    kill_provider();
    put_back();
    serve();
    for (int i = 0; i < 5; i++) set_json(&p.a, object, 1, "", "1");
    test_poll(&p.a);
    commit_alone("x");
    meet();
    CHECK_INT(snapshots(), 1);
    expect_text("ax");
    end();
}

/* Rows do not tell their commit, so a run that wrote some has more numbers than commits: these are no history. */
TEST(a_power_cut_beside_rows) {
    static const char *const row = "{\"id\":1}";
    chordal_transaction *t;
    chordal_id ticket;
    type = "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"
           "{\"name\":\"rows\",\"kind\":\"table\",\"columns\":{\"id\":\"integer\"},\"key\":[\"id\"]}]}";
    begin_with(CHORDAL_CODEC_BINARY);
    follow("a");
    CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_put(t, object, 1, CHORDAL_FORMAT_JSON, (const uint8_t *)row, strlen(row), NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    settle(&p);
    copy("", "-copy");
    follow("b");
    kill_provider();
    put_back();
    serve();
    commit_alone("x");
    meet();
    CHECK_INT(snapshots(), 1);
    expect_text("ax");
    restart(); /* and what this run had is history */
    commit_alone("y");
    meet();
    CHECK_INT(snapshots(), 0);
    expect_text("ax!y");
    end();
}

/* A backup of a run that was closed; the one that it is put back for had gone on in a run of its own. */
TEST(a_restored_backup) {
    begin();
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    chordal_release(p.a.host, p.link_a);
    test_host_close(&p.a);
    copy("", "-copy");
    serve();
    meet();
    CHECK_INT(snapshots(), 0);
    follow("b");
    kill_provider();
    put_back();
    serve();
    commit_alone("x");
    meet();
    CHECK_INT(snapshots(), 1);
    expect_text("ax");
    end();
}

/* A host on a copy, beside the one that goes on on the original. */
TEST(a_copied_file) {
    begin();
    copy("", "-copy");
    follow("b");
    kill_provider();
    serve(); /* the original */
    commit_alone("c");
    meet();
    CHECK_INT(snapshots(), 0);
    expect_text("abc");
    kill_provider();
    put_back(); /* and the copy, which does not know of that run */
    serve();
    for (int i = 0; i < 5; i++) commit_alone("x");
    meet();
    CHECK_INT(snapshots(), 1);
    expect_text("axxxxx");
    end();
}

/* ---- history that is not there ---- */

TEST(history_that_was_compacted) {
    begin();
    kill_provider();
    serve();
    for (int i = 0; i < 5000; i++) {
        append_text(&p.a, object, NOTES_LIST, "/text", "x");
        if (i % 100 == 99) test_poll(&p.a);
    }
    for (int i = 0; i < 100 && chordal_host_deadline(p.a.host) == 0; i++) test_poll(&p.a);
    meet();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(strlen(value_of(&p.b, reference, NOTES_LIST)), strlen("{\"entries\":[],\"text\":\"a\"}") + 5000);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_TITLE), "\"t\"");
    end();
}

TEST(a_life_that_ended) {
    begin();
    restart();
    CHECK_INT(chordal_object_retire(p.a.host, object, NULL), 0);
    test_poll(&p.a);
    object = object_of(NOTES_PARAMS);
    commit_alone("x");
    meet();
    CHECK_INT(snapshots(), 1);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_TITLE), "\"\"");
    expect_text("x");
    end();
}

TEST(damage_gives_whole_values) {
    begin();
    kill_provider();
    serve();
    commit_alone("b");
    commit_alone("c");
    store_execute("UPDATE chordal_revisions SET data = x'ff' WHERE number = 4");
    meet();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"abc\"}");
    end();
}

/* ---- another type ---- */

TEST(another_version) {
    begin();
    kill_provider();
    type = "{\"name\":\"notes\",\"version\":2,\"params\":[\"board\"],\"members\":["
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"
           "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"
           "{\"name\":\"add\",\"kind\":\"method\"},{\"name\":\"ping\",\"kind\":\"method\",\"idempotent\":true}]}";
    serve();
    meet();
    CHECK_INT(snapshots(), 1);
    expect_text("a");
    end();
}

/* The documents are found by name; a reader that knew other members asks for all. */
TEST(other_members) {
    begin();
    kill_provider();
    type = "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["
           "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}}]}";
    serve();
    append_text(&p.a, object, 1, "/text", "b");
    test_poll(&p.a);
    meet();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, 0), "\"t\"");
    CHECK_TEXT(value_of(&p.b, reference, 1), "{\"entries\":[],\"text\":\"ab\"}");
    restart(); /* now it knows them; their old revisions had other places */
    append_text(&p.a, object, 1, "/text", "c");
    test_poll(&p.a);
    meet();
    CHECK_INT(snapshots(), 0);
    CHECK_TEXT(value_of(&p.b, reference, 1), "{\"entries\":[],\"text\":\"abc\"}");
    end();
}

TEST(places_of_members_change) {
    begin();
    commit_alone("b"); /* under the old places, and never heard of */
    kill_provider();
    type = "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":["
           "{\"name\":\"more\",\"kind\":\"document\"},"
           "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"
           "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}}]}";
    serve();
    meet();
    CHECK_TEXT(value_of(&p.b, reference, 2), "{\"entries\":[],\"text\":\"ab\"}");
    end();
}

/* ---- programs that keep the values ---- */

TEST(a_kept_reference) {
    type = NOTES;
    begin_as(CHORDAL_CODEC_BINARY, CHORDAL_REFERENCE_KEPT);
    set_json(&p.a, object, NOTES_TITLE, "", "\"t\"");
    set_json(&p.a, object, NOTES_LIST, "/text", "\"a\"");
    settle(&p);
    restart();
    append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a);
    meet();
    CHECK_INT(snapshots(), 0);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 1);
    CHECK(!(last_event(&p.b, CHORDAL_EVENT_FRAME)->flags & CHORDAL_FRAME_SNAPSHOT));
    kill_provider(); /* a program that lost its values gets all of them */
    CHECK_INT(chordal_watch_reset(p.b.host, reference, NULL), 0);
    serve();
    meet();
    CHECK_INT(snapshots(), 1);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_FRAME), 2);
    CHECK(last_event(&p.b, CHORDAL_EVENT_FRAME)->flags & CHORDAL_FRAME_SNAPSHOT);
    end();
}

/* ---- behind a host in the middle ---- */

static test_host middle;
static chordal_id middle_up, middle_down;

/* Where the provider is told of by its name: with one of its own the way stays, without it leads elsewhere. */
static void serve_behind(uint64_t name) {
    test_host_open(&p.a, (chordal_host_options){.store = store_path, .name_high = name});
    provide(&p.a, NOTES);
    object = object_of(NOTES_PARAMS);
    CHECK_INT(chordal_link_open(p.a.host, CHORDAL_LINK_OFFER, &p.link_a, NULL), 0);
}

static void turn_all(chordal_time span) {
    size_t moved, frames;
    p.a.now += span, p.b.now += span, middle.now += span;
    do {
        moved = 0;
        if (chordal_link_carry(middle.host, middle_down, p.a.host, p.link_a, p.a.now, &frames, NULL) == 0)
            moved += frames;
        if (chordal_link_carry(p.b.host, p.link_b, middle.host, middle_up, p.a.now, &frames, NULL) == 0)
            moved += frames;
        moved += test_poll(&p.a) + test_poll(&p.b) + test_poll(&middle);
    } while (moved);
}

static void join_behind(void) {
    CHECK_INT(chordal_link_up(middle.host, middle_down, CHORDAL_CODEC_BINARY, middle.now, NULL), 0);
    CHECK_INT(chordal_link_up(p.a.host, p.link_a, CHORDAL_CODEC_BINARY, p.a.now, NULL), 0);
    turn_all(0);
}

static void restart_behind(uint64_t name) {
    new_store();
    p = (test_pair){0};
    serve_behind(name);
    test_host_open(&middle, (chordal_host_options){.ping_interval = CHORDAL_NEVER});
    test_host_open(&p.b, (chordal_host_options){.ping_interval = CHORDAL_NEVER});
    CHECK_INT(chordal_link_open(middle.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_ROUTE_OFFERS, &middle_down, NULL), 0);
    join_behind();
    CHECK_INT(chordal_link_open(middle.host, 0, &middle_up, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    CHECK_INT(chordal_link_up(middle.host, middle_up, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(p.b.host, p.link_b, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    reference = get_over(&p.b, p.link_b, "notes", NOTES_PARAMS, 0);
    turn_all(0);
    set_json(&p.a, object, NOTES_TITLE, "", "\"t\"");
    append_text(&p.a, object, NOTES_LIST, "/text", "a");
    turn_all(0);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"a\"}");
    CHECK_INT(chordal_link_down(middle.host, middle_down, middle.now, NULL), 0);
    turn_all(0);
    dead_links[dead_len] = p.link_a;
    dead[dead_len++] = p.a;
    char lock[128];
    snprintf(lock, sizeof lock, "%s-owner", store_path);
    unlink(lock);
    serve_behind(name);
    append_text(&p.a, object, NOTES_LIST, "/text", "b");
    test_poll(&p.a);
    CHECK_INT(chordal_link_retry(middle.host, middle_down, middle.now, NULL), 0);
    test_poll(&middle);
    join_behind();
    for (int i = 0; i < 20; i++) turn_all(2000);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&p.b, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"ab\"}");
    CHECK_INT(snapshots(), 0);
    chordal_release(p.b.host, reference);
    chordal_release(middle.host, middle_up);
    chordal_release(middle.host, middle_down);
    test_host_close(&middle);
    pair_close(&p);
    dead_len--;
    chordal_release(dead[dead_len].host, dead_links[dead_len]);
    test_host_close(&dead[dead_len]);
}
TEST(behind_a_host_in_the_middle) {
    restart_behind(7);
}
TEST(behind_a_host_in_the_middle_elsewhere) {
    restart_behind(0);
}

TEST(done) {
    remove_store();
}

TESTS({"the_gap_in_binary", the_gap_in_binary}, {"the_gap_in_text", the_gap_in_text},
      {"nothing_changed", nothing_changed},
      {"an_unchanged_object_whose_stream_has_begun", an_unchanged_object_whose_stream_has_begun},
      {"run_after_run", run_after_run}, {"a_run_that_only_read", a_run_that_only_read},
      {"a_session_that_lapsed", a_session_that_lapsed}, {"a_gap_that_does_not_arrive", a_gap_that_does_not_arrive},
      {"presence_beside_documents", presence_beside_documents}, {"a_fold_over_both_kinds", a_fold_over_both_kinds},
      {"a_document_that_was_never_written", a_document_that_was_never_written}, {"a_power_cut", a_power_cut},
      {"a_power_cut_and_commits_in_memory", a_power_cut_and_commits_in_memory},
      {"a_power_cut_beside_rows", a_power_cut_beside_rows}, {"a_restored_backup", a_restored_backup},
      {"a_copied_file", a_copied_file}, {"history_that_was_compacted", history_that_was_compacted},
      {"a_life_that_ended", a_life_that_ended}, {"damage_gives_whole_values", damage_gives_whole_values},
      {"another_version", another_version}, {"other_members", other_members},
      {"places_of_members_change", places_of_members_change}, {"a_kept_reference", a_kept_reference},
      {"behind_a_host_in_the_middle", behind_a_host_in_the_middle},
      {"behind_a_host_in_the_middle_elsewhere", behind_a_host_in_the_middle_elsewhere}, {"done", done})
