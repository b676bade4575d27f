/* link_limits.c: what is too large for a host on the way, or for its reader, fails alone; a cut is seen whole or not at
 * all; what fails each time is tried ever more seldom. */
#include "hosts.h"

#define SMALL 20000
#define BIG 30000

static test_host consumer, middle, provider;
static chordal_id near, far, up, down; /* links: of the middle to both, of the consumer, of the provider */
static chordal_id reference, object;
static char big[BIG + 1];

static void turn(void) {
    size_t frames, moved;
    do {
        moved = test_poll(&provider) + test_poll(&consumer) + test_poll(&middle);
        CHECK_INT(chordal_link_carry(consumer.host, up, middle.host, near, 0, &frames, NULL), 0);
        moved += frames;
        CHECK_INT(chordal_link_carry(provider.host, down, middle.host, far, 0, &frames, NULL), 0);
        moved += frames;
    } while (moved);
}

/* A value that is small when it is deflated, and not before. */
static const char *large(void) {
    memset(big, 'x', BIG);
    big[0] = big[BIG - 1] = '"';
    return big;
}

static void open_way(uint32_t codec, uint32_t limit_consumer, uint32_t limit_middle, uint32_t limit_provider) {
    chordal_host_options options = {.deflate = CHORDAL_DEFLATE_ALWAYS};
    options.message_limit = limit_provider;
    test_host_open(&provider, options);
    options.message_limit = limit_consumer;
    test_host_open(&consumer, options);
    options.message_limit = limit_middle;
    test_host_open(&middle, options);
    provide(&provider, NOTES);
    CHECK_INT(chordal_link_open(middle.host, 0, &near, NULL), 0);
    CHECK_INT(chordal_link_open(middle.host, CHORDAL_LINK_ROUTE_OFFERS, &far, NULL), 0);
    CHECK_INT(chordal_link_open(consumer.host, CHORDAL_LINK_CONNECT, &up, NULL), 0);
    CHECK_INT(chordal_link_open(provider.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER, &down, NULL), 0);
    CHECK_INT(chordal_link_up(middle.host, far, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(provider.host, down, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    turn();
    CHECK_INT(chordal_link_up(middle.host, near, codec, 0, NULL), 0);
    CHECK_INT(chordal_link_up(consumer.host, up, codec, 0, NULL), 0);
    turn();
    reference = get(&consumer, "notes", NOTES_PARAMS);
    turn();
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_LIVE);
    object = last_event(&provider, CHORDAL_EVENT_OBJECT)->as.object.object;
}

static void leave(test_host *h) {
    chordal_host_forget(h->host);
    free(h->events);
}

static void close_way(void) {
    leave(&consumer);
    leave(&provider);
    leave(&middle);
}

static size_t count_of(const test_host *h, uint32_t kind) {
    size_t count = 0;
    for (size_t i = 0; i < h->len; i++) count += h->events[i].kind == kind;
    return count;
}

/* ---- outcomes, arguments, states ---- */

static void an_outcome_fails_alone(uint32_t codec, uint32_t limit_consumer, uint32_t limit_middle) {
    open_way(codec, limit_consumer, limit_middle, 0);
    for (int i = 0; i < 3; i++) {
        call(&consumer, reference, "add", "[]");
        turn();
        CHECK_INT(answer(&provider, last_event(&provider, CHORDAL_EVENT_CALL)->as.call.call, i == 1 ? "1" : large()),
                  0);
        turn();
        CHECK_INT(last_event(&consumer, CHORDAL_EVENT_RESULT)->as.result.code, i == 1 ? 0 : CHORDAL_E_SIZE);
    }
    CHECK_INT(count_of(&consumer, CHORDAL_EVENT_RESULT), 3); /* each was told once */
    CHECK_INT(count_of(&provider, CHORDAL_EVENT_CALL), 3);   /* and ran once */
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(test_counters(&provider).snapshots_encoded, 1); /* the session went on */
    close_way();
}

TEST(a_result_that_a_reader_does_not_take) {
    an_outcome_fails_alone(CHORDAL_CODEC_BINARY, SMALL, 0);
    an_outcome_fails_alone(CHORDAL_CODEC_TEXT, SMALL, 0);
}

TEST(a_result_that_a_host_in_the_middle_does_not_take) {
    an_outcome_fails_alone(CHORDAL_CODEC_BINARY, 0, SMALL);
    an_outcome_fails_alone(CHORDAL_CODEC_TEXT, 0, SMALL);
}

TEST(arguments_that_the_provider_does_not_take) {
    static char arguments[BIG + 8];
    open_way(CHORDAL_CODEC_BINARY, 0, 0, SMALL);
    snprintf(arguments, sizeof arguments, "[%s]", large());
    call(&consumer, reference, "add", arguments);
    turn();
    CHECK_INT(last_event(&consumer, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_SIZE);
    CHECK_INT(count_of(&provider, CHORDAL_EVENT_CALL), 0);
    call(&consumer, reference, "add", "[1]");
    turn();
    CHECK_INT(count_of(&provider, CHORDAL_EVENT_CALL), 1);
    close_way();
}

/* The reference fails, the session goes on; it is held again when the state is small again. */
static void a_state_fails_alone(uint32_t limit_consumer, uint32_t limit_middle) {
    open_way(CHORDAL_CODEC_BINARY, limit_consumer, limit_middle, 0);
    chordal_id other = get(&consumer, "notes", "{\"board\":\"other\"}");
    turn();
    set_json(&provider, object, NOTES_TITLE, "", large());
    turn();
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&consumer, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_SIZE);
    CHECK_INT(chordal_reference_state(consumer.host, other), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(test_counters(&provider).snapshots_encoded, 2);
    CHECK_INT(chordal_reference_retry(consumer.host, reference, NULL), 0); /* as large as before */
    turn();
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_FAILED);
    set_json(&provider, object, NOTES_TITLE, "", "\"short\"");
    CHECK_INT(chordal_reference_retry(consumer.host, reference, NULL), 0);
    turn();
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&consumer, reference, NOTES_TITLE), "\"short\"");
    CHECK_INT(chordal_reference_state(consumer.host, other), CHORDAL_REFERENCE_LIVE);
    close_way();
}

TEST(a_state_that_is_too_large) {
    a_state_fails_alone(SMALL, 0);
    a_state_fails_alone(0, SMALL);
}

/* Words that are too large are left out. */
TEST(the_words_of_a_failure) {
    static char words[30000];
    memset(words, '\1', sizeof words);
    open_way(CHORDAL_CODEC_TEXT, SMALL, 0, 0);
    call(&consumer, reference, "add", "[]");
    turn();
    chordal_id running = last_event(&provider, CHORDAL_EVENT_CALL)->as.call.call;
    CHECK_INT(chordal_call_fail(provider.host, running, "own", 3, words, sizeof words, NULL), 0);
    turn();
    CHECK_INT(last_event(&consumer, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_METHOD);
    CHECK_TEXT(last_event(&consumer, CHORDAL_EVENT_RESULT)->name, "own");
    CHECK_INT(chordal_reference_state(consumer.host, reference), CHORDAL_REFERENCE_LIVE);
    close_way();
}

/* ---- a message that has begun ---- */

static bool carry_one(test_pair *p) {
    static uint8_t frame[1 << 17];
    size_t len;
    uint32_t kind;
    CHECK_INT(chordal_link_take(p->a.host, p->link_a, frame, sizeof frame, &len, &kind, NULL), 0);
    return kind && chordal_link_feed(p->b.host, p->link_b, kind, frame, len, p->b.now, NULL) == 0;
}

/* A link that fails leaves out what waits, but not the frames of a message whose first one went. */
TEST(bye_comes_behind_the_rest_of_a_message) {
    test_pair p = {0};
    pair_open(&p, CHORDAL_CODEC_TEXT, (chordal_host_options){.deflate = CHORDAL_DEFLATE_ALWAYS}, 0, 0);
    provide(&p.a, NOTES);
    settle(&p);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    set_json(&p.a, last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, NOTES_TITLE, "", large());
    test_poll(&p.a);
    CHECK(carry_one(&p)); /* the text frame that announces the deflated part */
    for (int i = 0; i < 2; i++) {
        p.a.now += 15000;
        test_poll(&p.a);
    }
    while (carry_one(&p)) continue;
    test_poll(&p.b);
    CHECK_TEXT(value_of(&p.b, held, NOTES_TITLE), large());
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_TIMEOUT);
    leave(&p.a);
    leave(&p.b);
}

/* ---- a cut over several references ---- */

typedef struct memory {
    uint64_t made, fails_at; /* the one that fails; 0: none */
} memory;

static bool fails(memory *m) {
    return ++m->made == m->fails_at;
}
static void *take(void *context, size_t size) {
    return fails(context) ? NULL : malloc(size);
}
static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    return fails(context) ? NULL : realloc(block, new_size);
}
static void give(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

static chordal_id commit_to_all(test_host *h, const chordal_id *objects, size_t count, const char *json) {
    chordal_transaction *t;
    chordal_id ticket;
    CHECK_INT(chordal_transaction_begin(h->host, 0, &t, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(chordal_transaction_set_json(t, objects[i], NOTES_TITLE, "", json, NULL), 0);
        CHECK_INT(chordal_transaction_set_json(t, objects[i], NOTES_LIST, "/entries/-", json, NULL), 0);
    }
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    return ticket;
}

#define HELD 3

/* One cut over three references, while the consumer's n-th allocation fails: the number of values that are new. */
static int one_cut(uint64_t fails_at, bool *out_failed) {
    memory m = {0, 0};
    const chordal_memory_functions functions = {sizeof functions, 0, &m, take, resize, give};
    test_pair p = {0};
    chordal_id references[HELD], objects[HELD];
    size_t frames;
    int fresh = 0;
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){.memory = &functions});
    provide(&p.a, NOTES);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    p.codec = CHORDAL_CODEC_BINARY;
    pair_up(&p);
    settle(&p);
    for (int i = 0; i < HELD; i++) {
        char params[32];
        snprintf(params, sizeof params, "{\"board\":\"%d\"}", i);
        references[i] = get(&p.b, "notes", params);
        settle(&p);
        objects[i] = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    }
    commit_to_all(&p.a, objects, HELD, "\"new\"");
    test_poll(&p.a);
    m.made = 0;
    m.fails_at = fails_at;
    (void)chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL);
    m.fails_at = 0;
    *out_failed = m.made >= fails_at;
    for (int i = 0; i < HELD; i++) {
        bool title = strcmp(value_of(&p.b, references[i], NOTES_TITLE), "\"new\"") == 0;
        bool list = strstr(value_of(&p.b, references[i], NOTES_LIST), "new") != NULL;
        CHECK(title == list);
        fresh += title;
    }
    leave(&p.a);
    leave(&p.b);
    return fresh;
}

TEST(a_cut_is_whole_or_nothing) {
    bool failed = true;
    int whole = 0, nothing = 0, fresh = 0;
    uint64_t at = 1;
    for (; failed; at++) {
        fresh = one_cut(at, &failed);
        CHECK(fresh == 0 || fresh == HELD);
        whole += fresh == HELD;
        nothing += fresh == 0;
    }
    CHECK_INT(fresh, HELD); /* when nothing failed */
    CHECK(nothing > 20);
    CHECK(whole > 0);
}

TESTS({"a result that a reader does not take", a_result_that_a_reader_does_not_take},
      {"a result that a host in the middle does not take", a_result_that_a_host_in_the_middle_does_not_take},
      {"arguments that the provider does not take", arguments_that_the_provider_does_not_take},
      {"a state that is too large", a_state_that_is_too_large}, {"the words of a failure", the_words_of_a_failure},
      {"bye comes behind the rest of a message", bye_comes_behind_the_rest_of_a_message},
      {"a cut is whole or nothing", a_cut_is_whole_or_nothing})
