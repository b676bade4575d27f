/* link_fan.c: a commit to many sessions is encoded once, and one more of them costs a header: no allocation. */
#define HOST_EVENTS 64
#include "hosts.h"

enum { READERS = 300, HOLDS = 100 };
typedef struct reader {
    test_host h;
    chordal_id its, mine, references[HOLDS];
} reader;

static test_host a;
static reader readers[READERS];

static void carry(reader *r) {
    size_t frames;
    do {
        CHECK_INT(chordal_link_carry(a.host, r->its, r->h.host, r->mine, 0, &frames, NULL), 0);
        frames += test_poll(&a) + test_poll(&r->h);
    } while (frames);
    forget_events(&r->h);
    forget_events(&a);
}

static void open_reader(reader *r, uint32_t codec) {
    test_host_open(&r->h, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(a.host, 0, &r->its, NULL), 0);
    CHECK_INT(chordal_link_open(r->h.host, CHORDAL_LINK_CONNECT, &r->mine, NULL), 0);
    CHECK_INT(chordal_link_up(a.host, r->its, codec, 0, NULL), 0);
    CHECK_INT(chordal_link_up(r->h.host, r->mine, codec, 0, NULL), 0);
}

static void hold_in(reader *r, int i) {
    char params[32];
    snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
    r->references[i] = get(&r->h, "notes", params);
    carry(r);
}

static chordal_id object_of(int i) {
    chordal_id object = 0;
    char params[32];
    snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
    CHECK_INT(chordal_object_get(a.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)params, strlen(params),
                                 &object, NULL),
              0);
    return object;
}

static void close_reader(reader *r) {
    chordal_release(a.host, r->its);
    chordal_release(r->h.host, r->mine);
    for (int i = 0; i < HOLDS; i++) chordal_release(r->h.host, r->references[i]);
    test_host_close(&r->h);
    memset(r, 0, sizeof *r);
}

/* What one commit costs the provider, once all is warm. */
static chordal_counters cost(int count, chordal_id object) {
    chordal_counters before = {0}, after = {0};
    for (int i = 0; i < 200; i++) {
        before = test_counters(&a);
        set_json(&a, object, NOTES_TITLE, "", i & 1 ? "\"a\"" : "\"b\"");
        for (int r = 0; r < count; r++) carry(&readers[r]);
        after = test_counters(&a);
    }
    after.allocations -= before.allocations;
    after.changes_encoded -= before.changes_encoded;
    after.messages_out -= before.messages_out;
    return after;
}

static void one_more_session(uint32_t codec) {
    test_host_open(&a, (chordal_host_options){0});
    provide(&a, NOTES);
    chordal_id object = object_of(0);
    chordal_counters one = {0}, many = {0};
    for (int count = 1; count <= READERS; count++) {
        open_reader(&readers[count - 1], codec);
        hold_in(&readers[count - 1], 0);
        if (count == 1) one = cost(count, object);
        if (count == READERS) many = cost(count, object);
    }
    CHECK_INT(one.messages_out, 1);
    CHECK_INT(many.messages_out, READERS);
    CHECK_INT(one.changes_encoded, 1);
    CHECK_INT(many.changes_encoded, 1);
    CHECK_INT(many.allocations, one.allocations);
    for (int r = 0; r < READERS; r++) close_reader(&readers[r]);
    test_host_close(&a);
}
TEST(one_more_session_in_binary) {
    one_more_session(CHORDAL_CODEC_BINARY);
}
TEST(one_more_session_in_text) {
    one_more_session(CHORDAL_CODEC_TEXT);
}

/* Objects that did not change cost nothing in a session that holds them. */
TEST(one_more_hold) {
    test_host_open(&a, (chordal_host_options){0});
    provide(&a, NOTES);
    chordal_id object = object_of(0);
    open_reader(&readers[0], CHORDAL_CODEC_BINARY);
    hold_in(&readers[0], 0);
    chordal_counters one = cost(1, object);
    for (int i = 1; i < HOLDS; i++) hold_in(&readers[0], i);
    chordal_counters many = cost(1, object);
    CHECK_INT(many.messages_out, 1);
    CHECK_INT(many.changes_encoded, 1);
    CHECK_INT(many.allocations, one.allocations);
    close_reader(&readers[0]);
    test_host_close(&a);
}

/* The same object held again in a session shares the change, too. */
TEST(the_same_object_again) {
    test_host_open(&a, (chordal_host_options){0});
    provide(&a, NOTES);
    chordal_id object = object_of(0), more[20];
    open_reader(&readers[0], CHORDAL_CODEC_BINARY);
    hold_in(&readers[0], 0);
    chordal_counters one = cost(1, object);
    for (int i = 0; i < 20; i++) more[i] = get(&readers[0].h, "notes", "{\"board\":\"0\"}");
    carry(&readers[0]);
    chordal_counters many = cost(1, object);
    CHECK_INT(many.messages_out, 1);
    CHECK_INT(many.changes_encoded, 1);
    CHECK_INT(many.allocations, one.allocations);
    for (int i = 0; i < 20; i++) chordal_release(readers[0].h.host, more[i]);
    close_reader(&readers[0]);
    test_host_close(&a);
}

TESTS({"one more session, binary", one_more_session_in_binary}, {"one more session, text", one_more_session_in_text},
      {"one more hold", one_more_hold}, {"the same object again", the_same_object_again})
