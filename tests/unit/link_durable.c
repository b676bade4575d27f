/* link_durable.c: calls of durable methods, whose outcome is told once and whose effects are there once, wherever the
 * provider dies. */
#include "fuzz/peer.h"
#include "store.h"

#define COUNT                                                                                                          \
    "{\"name\":\"count\",\"keep\":true,\"members\":["                                                                  \
    "{\"name\":\"sum\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"                                            \
    "{\"name\":\"seen\",\"kind\":\"document\",\"initial\":0,\"persist\":false},"                                       \
    "{\"name\":\"add\",\"kind\":\"method\",\"durable\":true},"                                                         \
    "{\"name\":\"plain\",\"kind\":\"method\"}]}"
enum { SUM, SEEN, ADD, PLAIN };

static test_pair p;
static test_host dead[8];
static chordal_id reference, object;
static int dead_len;
static size_t looked; /* at the provider's events */

static void serve(void) {
    open_store(&p.a);
    provide(&p.a, COUNT);
    chordal_error error = {0};
    CHECK_INT(chordal_object_get(p.a.host, "count", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &object, &error),
              0);
    test_poll(&p.a);
    forget_events(&p.a);
    looked = 0;
}

static void meet(void) {
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    pair_up(&p);
    settle(&p);
}

static void begin_with(uint32_t codec) {
    new_store();
    p = (test_pair){.codec = codec};
    serve();
    test_host_open(&p.b, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    reference = get_over(&p.b, p.link_b, "count", "{}", 0);
    meet();
    forget_events(&p.b);
}

static void begin(void) {
    begin_with(CHORDAL_CODEC_BINARY);
}

static void drop(void) {
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    test_poll(&p.b);
}

/* As by kill -9: what it did not write is lost, and its lock is gone. */
static void restart(void) {
    char name[128];
    snprintf(name, sizeof name, "%s-owner", store_path);
    unlink(name);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    dead[dead_len++] = p.a;
    serve();
    meet();
}

/* Of those that died, and of calls that never came back, ids are left. */
static void forget(test_host *h) {
    chordal_host_forget(h->host);
    free(h->events);
}

static void end(void) {
    chordal_release(p.b.host, reference);
    settle(&p);
    forget(&p.a);
    forget(&p.b);
    while (dead_len) forget(&dead[--dead_len]);
}

/* The next call that the provider was told of; 0: none. */
static chordal_id next_call(void) {
    while (looked < p.a.len)
        if (p.a.events[looked++].kind == CHORDAL_EVENT_CALL) return p.a.events[looked - 1].as.call.call;
    return 0;
}

static void add_for(chordal_id served) {
    chordal_transaction *transaction;
    chordal_id ticket;
    CHECK_INT(chordal_transaction_begin(p.a.host, served, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, object, SUM, "/text", "x", 1, NULL), 0);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, NULL), 0);
}

/* What the method does: one commit, and the answer. */
static int serve_calls(void) {
    int served = 0;
    for (chordal_id id; (id = next_call()) != 0; served++) {
        add_for(id);
        CHECK_INT(answer(&p.a, id, "[\"done\"]"), 0);
    }
    return served;
}

static int run_all(void) {
    int served = 0, more;
    do {
        settle(&p);
        served += more = serve_calls();
    } while (more);
    return served;
}

static const host_event *result_of(chordal_id made) {
    for (size_t i = 0; i < p.b.len; i++)
        if (p.b.events[i].kind == CHORDAL_EVENT_RESULT && p.b.events[i].as.result.call == made) return &p.b.events[i];
    return NULL;
}

static void expect_result(chordal_id made, int code) {
    const host_event *result = result_of(made);
    if (!result || result->as.result.code != code)
        CHECK_FAIL("result: %d, not %d", result ? result->as.result.code : 1, code);
    if (result && code == 0) CHECK_TEXT(packed_json(&p.b, result->data, result->data_len), "[\"done\"]");
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 1);
}

static void expect_sum(const char *text) {
    char whole[64];
    snprintf(whole, sizeof whole, "{\"text\":\"%s\"}", text);
    CHECK_TEXT(head_of(&p.a, object, SUM), whole);
    CHECK_TEXT(value_of(&p.b, reference, SUM), whole);
}

static int64_t rows(void) {
    return store_number("SELECT count(*) FROM chordal_calls");
}

/* Nothing stays of what its caller has. */
static void expect_no_rows(void) {
    settle_acks(&p);
    test_poll(&p.a);
    CHECK_INT(rows(), 0);
}

static size_t lose(test_host *h, chordal_id link) {
    static uint8_t frame[1 << 16];
    uint32_t kind;
    size_t len, lost = 0;
    while (chordal_link_take(h->host, link, frame, sizeof frame, &len, &kind, NULL) == 0 && kind) lost++;
    return lost;
}

static void carry(void) {
    size_t frames;
    CHECK_INT(chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL), 0);
}

/* ---- one call ---- */

static void simple(uint32_t codec) {
    begin_with(codec);
    chordal_id made = call(&p.b, reference, "add", "[1,\"two\"]");
    settle(&p);
    CHECK_INT(rows(), 1);
    CHECK_TEXT(
        packed_json(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->data, last_event(&p.a, CHORDAL_EVENT_CALL)->data_len),
        "[1,\"two\"]");
    uint64_t steps = test_counters(&p.a).steps;
    CHECK_INT(serve_calls(), 1);
    settle_acks(&p);
    CHECK_INT(test_counters(&p.a).steps - steps, 2); /* its commit with its outcome; and the row goes */
    expect_result(made, 0);
    expect_sum("x");
    expect_no_rows();
    end();
}
TEST(a_call_in_binary) {
    simple(CHORDAL_CODEC_BINARY);
}
TEST(a_call_in_text) {
    simple(CHORDAL_CODEC_TEXT);
}

/* Many of a turn are recorded in one step, run in order and are answered in one. */
TEST(many_calls) {
    enum { MANY = 50 };
    chordal_id made[MANY];
    begin();
    uint64_t steps = test_counters(&p.a).steps;
    for (int i = 0; i < MANY; i++) made[i] = call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(test_counters(&p.a).steps - steps, 1);
    CHECK_INT(serve_calls(), MANY);
    settle(&p);
    for (int i = 0; i < MANY; i++) CHECK(result_of(made[i]) && result_of(made[i])->as.result.code == 0);
    expect_no_rows();
    end();
}

/* ---- where the provider dies ---- */

enum { NOT_SENT, NOT_RECORDED, NOT_TOLD, NOT_RUN, NOT_STORED, NOT_OUT, NOT_ARRIVED, NOT_TAKEN, POINTS };

/* How often the method was started before the provider died at a point. */
static int until(int point) {
    test_poll(&p.b);
    if (point == NOT_SENT) return 0;
    carry(); /* the call arrives */
    if (point == NOT_RECORDED) return 0;
    test_poll(&p.a);
    CHECK_INT(rows(), 1);
    chordal_id served = next_call();
    if (point == NOT_TOLD || point == NOT_RUN) return 0;
    add_for(served);
    CHECK_INT(answer(&p.a, served, "[\"done\"]"), 0);
    if (point == NOT_STORED) return 1;
    test_poll(&p.a); /* commit and outcome are in */
    if (point == NOT_OUT) return 1;
    if (point == NOT_ARRIVED) CHECK(lose(&p.a, p.link_a) > 0);
    if (point == NOT_TAKEN) carry();
    return 1;
}

TEST(the_provider_dies_at_each_point) {
    for (int point = 0; point < POINTS; point++) {
        begin();
        chordal_id made = call(&p.b, reference, "add", "[]");
        until(point);
        if (point == NOT_TAKEN) {
            test_poll(&p.b);
            lose(&p.b, p.link_b); /* the ack */
        }
        restart();
        int again = run_all();
        CHECK_INT(again, point <= NOT_STORED);
        expect_result(made, 0);
        expect_sum("x");
        if (point == NOT_TAKEN) CHECK_INT(rows(), 1); /* nobody asks for it any more */
        if (point != NOT_TAKEN) expect_no_rows();
        end();
    }
}

/* And again after each of them. */
TEST(the_provider_dies_twice) {
    for (int first = 0; first < NOT_TAKEN; first++) {
        for (int second = 0; second < NOT_STORED; second++) {
            begin();
            chordal_id made = call(&p.b, reference, "add", "[]");
            until(first);
            restart();
            (void)lose(&p.a, p.link_a);
            restart();
            run_all();
            expect_result(made, 0);
            expect_sum("x");
            expect_no_rows();
            end();
        }
    }
}

/* A program that answers when its commit is through: in between nobody knows. */
TEST(a_commit_without_its_outcome) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]");
    settle(&p);
    add_for(next_call());
    test_poll(&p.a);
    restart();
    CHECK_INT(run_all(), 0);
    expect_result(made, CHORDAL_E_OUTCOME_UNKNOWN);
    expect_sum("x");
    end();
}

TEST(an_outcome_after_its_commit) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]"), served;
    settle(&p);
    served = next_call();
    add_for(served);
    add_for(served);
    test_poll(&p.a);
    CHECK_INT(answer(&p.a, served, "[\"done\"]"), 0);
    test_poll(&p.a);
    lose(&p.a, p.link_a);
    restart();
    CHECK_INT(run_all(), 0);
    expect_result(made, 0);
    expect_sum("xx");
    expect_no_rows();
    end();
}

/* One that fails has an outcome, too; one that only changed what is in memory left nothing behind. */
TEST(a_failure_is_an_outcome) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(chordal_call_fail(p.a.host, next_call(), "full", 4, "no room", 7, NULL), 0);
    test_poll(&p.a);
    restart();
    CHECK_INT(run_all(), 0);
    expect_result(made, CHORDAL_E_METHOD);
    CHECK_TEXT(result_of(made)->name, "full");
    CHECK_TEXT(result_of(made)->text, "no room");
    expect_no_rows();
    end();
}

TEST(what_is_in_memory_is_lost_with_it) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]");
    settle(&p);
    set_json_for(&p.a, next_call(), object, SEEN, "", "1");
    test_poll(&p.a);
    restart();
    CHECK_INT(run_all(), 1);
    expect_result(made, 0);
    expect_sum("x");
    end();
}

TEST(bytes_and_nothing) {
    for (int empty = 0; empty < 2; empty++) {
        begin();
        chordal_id made = call(&p.b, reference, "add", "[]");
        settle(&p);
        CHECK_INT(chordal_call_answer(p.a.host, next_call(), 0, (const uint8_t *)"\x00\xff", empty ? 0 : 2, NULL), 0);
        test_poll(&p.a);
        restart();
        CHECK_INT(run_all(), 0);
        const host_event *result = result_of(made);
        CHECK(result && result->as.result.code == 0 && result->flags & CHORDAL_RESULT_BYTES);
        CHECK_INT(result ? result->data_len : 9, empty ? 0 : 2);
        end();
    }
}

/* ---- commits that fail ---- */

#define POISON                                                                                                         \
    "CREATE TRIGGER poison BEFORE INSERT ON chordal_revisions WHEN instr(NEW.data, CAST('poison' AS BLOB)) "           \
    "BEGIN SELECT RAISE(ABORT, 'poisoned'); END"

TEST(a_call_whose_commit_fails) {
    for (int last = 0; last < 2; last++) {
        begin();
        store_execute(POISON);
        chordal_id made = call(&p.b, reference, "add", "[]"), served;
        settle(&p);
        served = next_call();
        if (last) set_json_for(&p.a, served, object, SUM, "/other", "1");
        set_json_for(&p.a, served, object, SUM, "/text", "\"poison\"");
        if (!last) set_json_for(&p.a, served, object, SEEN, "", "1");
        CHECK_INT(answer(&p.a, served, "[\"done\"]"), 0);
        test_poll(&p.a);
        test_poll(&p.a);
        lose(&p.a, p.link_a);
        restart();
        CHECK_INT(run_all(), 0);
        expect_result(made, CHORDAL_E_DISK_IO);
        CHECK_TEXT(head_of(&p.a, object, SUM), last ? "{\"text\":\"\",\"other\":1}" : "{\"text\":\"\"}");
        end();
    }
}

TEST(a_store_that_takes_no_calls) {
    begin();
    store_execute("CREATE TRIGGER full BEFORE INSERT ON chordal_calls BEGIN SELECT RAISE(ABORT, 'no'); END");
    chordal_id made = call(&p.b, reference, "add", "[]");
    CHECK_INT(run_all(), 0);
    expect_result(made, CHORDAL_E_DISK_IO);
    expect_sum("");
    end();
}

/* ---- sessions ---- */

/* The session lapses while the method runs: who asks again gets what comes of it. */
TEST(a_call_that_outlives_its_session) {
    for (int answered = 0; answered < 2; answered++) {
        begin();
        chordal_id made = call(&p.b, reference, "add", "[]"), served;
        settle(&p);
        served = next_call();
        drop();
        p.a.now += 100000;
        test_poll(&p.a);
        CHECK_INT(test_counters(&p.a).live_lost, 0);
        CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CANCEL), 0);
        add_for(served);
        if (answered) CHECK_INT(answer(&p.a, served, "[\"done\"]"), 0);
        test_poll(&p.a);
        meet();
        if (!answered) CHECK_INT(answer(&p.a, served, "[\"done\"]"), 0);
        CHECK_INT(run_all(), 0);
        expect_result(made, 0);
        expect_sum("x");
        expect_no_rows();
        end();
    }
}

/* A session that lapsed before its call was told of: it begins anew. */
TEST(a_call_that_waited) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]");
    test_poll(&p.b);
    carry();
    drop();
    p.a.now += 100000;
    test_poll(&p.a);
    meet();
    run_all();
    expect_result(made, 0);
    CHECK_INT(strlen(head_of(&p.a, object, SUM)), strlen("{\"text\":\"x\"}"));
    expect_no_rows();
    end();
}

/* A consumer that was started anew is somebody else: nothing is repeated for it. */
TEST(a_consumer_without_memory) {
    begin();
    call(&p.b, reference, "add", "[]");
    settle(&p);
    serve_calls();
    test_poll(&p.a);
    lose(&p.a, p.link_a);
    drop();
    forget(&p.b);
    test_host_open(&p.b, (chordal_host_options){0});
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    reference = get_over(&p.b, p.link_b, "count", "{}", 0);
    meet();
    chordal_id made = call(&p.b, reference, "add", "[]");
    CHECK_INT(run_all(), 1);
    expect_result(made, 0);
    expect_sum("xx");
    settle_acks(&p);
    CHECK_INT(rows(), 1); /* of the other one, until it is old */
    end();
}

/* ---- bounds ---- */

TEST(old_outcomes_go) {
    const chordal_time day = 86400000;
    begin();
    call(&p.b, reference, "add", "[]");
    settle(&p);
    serve_calls();
    test_poll(&p.a);
    lose(&p.a, p.link_a);
    drop();
    chordal_release(p.b.host, reference); /* nobody asks for it again */
    for (int i = 0; i < 3; i++) {
        p.a.now += day;
        p.b.now += day;
        test_poll(&p.a);
        reference = get_over(&p.b, p.link_b, "count", "{}", 0);
        meet();
        CHECK_INT(rows(), i < 2);
        call(&p.b, reference, "add", "[]");
        CHECK_INT(run_all(), 1);
        settle_acks(&p);
        if (i == 2) break;
        drop();
        chordal_release(p.b.host, reference);
    }
    end();
}

/* Who asks for it after that is not answered wrongly, but not at all. */
TEST(a_caller_that_is_away_for_long) {
    begin();
    chordal_id made = call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    p.b.now += 86400000 / 2 + 1000;
    restart();
    CHECK_INT(run_all(), 0);
    expect_result(made, CHORDAL_E_OUTCOME_UNKNOWN);
    end();
}

TEST(a_store_that_is_full_of_outcomes) {
    begin();
    store_execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 65536) "
                  "INSERT INTO chordal_calls(id, key, authority, state) SELECT i, randomblob(16), 0, 2 FROM n");
    chordal_id made = call(&p.b, reference, "add", "[]");
    CHECK_INT(run_all(), 0);
    expect_result(made, CHORDAL_E_LIMIT);
    end();
}

/* ---- declarations ---- */

TEST(a_host_without_a_store) {
    test_host h;
    chordal_id type;
    chordal_error error = {0};
    test_host_open(&h, (chordal_host_options){0});
    CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)COUNT, strlen(COUNT), &type, &error),
              CHORDAL_E_UNSUPPORTED);
    CHECK(strstr(error.detail, "durable method") != NULL);
    test_host_close(&h);
}

/* Who calls in the same host dies with it. */
TEST(a_call_of_its_own_host) {
    begin();
    chordal_id own = get(&p.a, "count", "{}"), made;
    test_poll(&p.a);
    made = call(&p.a, own, "add", "[]");
    test_poll(&p.a);
    CHECK_INT(rows(), 0);
    CHECK_INT(serve_calls(), 1);
    test_poll(&p.a);
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_RESULT)->as.result.call, made);
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_RESULT)->as.result.code, 0);
    chordal_release(p.a.host, own);
    end();
}

/* ---- peers that say what they like ---- */

static uint8_t sessions;

static void join(raw_peer *peer, const char *authority) {
    peer_open(peer, &p.a, CHORDAL_LINK_TRUSTED, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(peer), 0);
    chordal__message m = peer_message(peer, CHORDAL__ORIGIN, 1);
    m.numbers[0] = 1;
    m.numbers[1] = CHORDAL__ENCODING_BINARY;
    m.ids[0][0] = ++sessions; /* each its own */
    memset(m.ids[1], 0, sizeof m.ids[1]);
    if (authority) set_part(&m.parts[0], authority, strlen(authority));
    CHECK_INT(peer_say(peer, &m), 0);
    m = peer_message(peer, CHORDAL__HOLD, 1);
    set_text(&m, 0, "count");
    set_part(&m.parts[0], "\x80", 1);
    CHECK_INT(peer_say(peer, &m), 0);
    test_poll(&p.a);
    peer_hear(peer);
    CHECK_INT(peer->heard[CHORDAL__BOUND], 1);
}

static void say_keyed(raw_peer *peer, uint64_t slot, uint64_t member, const char *key, size_t len, bool raw) {
    chordal__message m = peer_message(peer, CHORDAL__CALL, 1);
    chordal__part part = {.data = (const uint8_t *)key, .len = len, .raw = raw};
    m.flags = CHORDAL__FLAG_DURABLE;
    m.numbers[1] = slot;
    m.numbers[2] = member;
    m.list = &part;
    m.list_len = key != NULL;
    CHECK_INT(peer_say(peer, &m), 0);
    test_poll(&p.a);
    peer_hear(peer);
}

static const char KEY[] = "sixteen bytes!!!", OTHER[] = "sixteen others!!";

static void open_alone(void) {
    new_store();
    p = (test_pair){0};
    serve();
}

TEST(keys_that_are_none) {
    static const struct {
        const char *key;
        size_t len;
        bool raw;
        uint64_t member;
        const char *code;
    } wrong[] = {
        {NULL, 0, true, ADD, "malformed"},     {KEY, 15, true, ADD, "malformed"}, {KEY, 17, true, ADD, "malformed"},
        {"\xa1x", 2, false, ADD, "malformed"}, {KEY, 16, true, PLAIN, "order"},   {KEY, 16, true, SUM, "order"},
        {KEY, 16, true, 99, "order"},
    };
    open_alone();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        raw_peer peer;
        join(&peer, NULL);
        say_keyed(&peer, 0, wrong[i].member, wrong[i].key, wrong[i].len, wrong[i].raw);
        CHECK_TEXT(peer.ended, wrong[i].code);
        CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 0);
        peer_close(&peer);
    }
    CHECK_INT(rows(), 0);
    forget(&p.a);
}

TEST(a_key_that_is_in_use) {
    raw_peer peer;
    open_alone();
    join(&peer, NULL);
    say_keyed(&peer, 0, ADD, KEY, 16, true);
    say_keyed(&peer, 1, ADD, OTHER, 16, true);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 2);
    say_keyed(&peer, 2, ADD, KEY, 16, true);
    CHECK_TEXT(peer.ended, "order");
    peer_close(&peer);
    test_poll(&p.a);
    CHECK_INT(serve_calls(), 2); /* they go on */
    test_poll(&p.a);
    CHECK_TEXT(head_of(&p.a, object, SUM), "{\"text\":\"xx\"}");
    forget(&p.a);
}

/* A tab, which does not remember: an ordinary call. */
TEST(a_call_without_its_key) {
    raw_peer peer;
    open_alone();
    join(&peer, NULL);
    CHECK_INT(say_call(&peer, 1, 0, 0, ADD), 0);
    test_poll(&p.a);
    CHECK_INT(rows(), 0);
    CHECK_INT(serve_calls(), 1);
    test_poll(&p.a);
    peer_hear(&peer);
    CHECK_INT(peer.heard[CHORDAL__RESULT], 1);
    peer_close(&peer);
    forget(&p.a);
}

/* Of two sessions with one key the later gets the outcome, told or not. */
TEST(a_session_takes_over) {
    for (int told = 0; told < 2; told++) {
        raw_peer peers[2];
        open_alone();
        join(&peers[0], NULL);
        join(&peers[1], NULL);
        if (told) {
            say_keyed(&peers[0], 0, ADD, KEY, 16, true);
            CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
        } else {
            chordal__message m = peer_message(&peers[0], CHORDAL__CALL, 1);
            chordal__part part = {.data = (const uint8_t *)KEY, .len = 16, .raw = true};
            m.flags = CHORDAL__FLAG_DURABLE;
            m.numbers[2] = ADD;
            m.list = &part;
            m.list_len = 1;
            CHECK_INT(peer_say(&peers[0], &m), 0);
        }
        say_keyed(&peers[1], 5, ADD, KEY, 16, true);
        CHECK_INT(serve_calls(), 1);
        test_poll(&p.a);
        for (int i = 0; i < 2; i++) peer_hear(&peers[i]);
        CHECK_INT(peers[0].heard[CHORDAL__RESULT] + peers[0].heard[CHORDAL__ERROR], 0);
        CHECK_INT(peers[1].heard[CHORDAL__RESULT], 1);
        CHECK_INT(peers[1].numbers[CHORDAL__RESULT], 5);
        CHECK_TEXT(head_of(&p.a, object, SUM), "{\"text\":\"x\"}");
        say_keyed(&peers[0], 0, ADD, KEY, 16, true); /* and who comes after is answered, too */
        CHECK_INT(peers[0].heard[CHORDAL__RESULT], 1);
        for (int i = 0; i < 2; i++) peer_close(&peers[i]);
        forget(&p.a);
    }
}

/* A key is worth nothing with another authority. */
TEST(another_authority) {
    for (int answered = 0; answered < 2; answered++) {
        raw_peer peers[2];
        open_alone();
        join(&peers[0], "\xa1"
                        "a");
        join(&peers[1], "\xa1"
                        "b");
        say_keyed(&peers[0], 0, ADD, KEY, 16, true);
        if (answered) CHECK_INT(serve_calls(), 1);
        test_poll(&p.a);
        say_keyed(&peers[1], 0, ADD, KEY, 16, true);
        CHECK_INT(peers[1].heard[CHORDAL__ERROR], 1);
        CHECK_INT(peers[1].heard[CHORDAL__RESULT], 0);
        CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
        for (int i = 0; i < 2; i++) peer_close(&peers[i]);
        forget(&p.a);
    }
}

TEST(done) {
    remove_store();
}

TESTS({"a_call_in_binary", a_call_in_binary}, {"a_call_in_text", a_call_in_text}, {"many_calls", many_calls},
      {"the_provider_dies_at_each_point", the_provider_dies_at_each_point},
      {"the_provider_dies_twice", the_provider_dies_twice},
      {"a_commit_without_its_outcome", a_commit_without_its_outcome},
      {"an_outcome_after_its_commit", an_outcome_after_its_commit},
      {"a_failure_is_an_outcome", a_failure_is_an_outcome},
      {"what_is_in_memory_is_lost_with_it", what_is_in_memory_is_lost_with_it},
      {"bytes_and_nothing", bytes_and_nothing}, {"a_call_whose_commit_fails", a_call_whose_commit_fails},
      {"a_store_that_takes_no_calls", a_store_that_takes_no_calls},
      {"a_call_that_outlives_its_session", a_call_that_outlives_its_session},
      {"a_call_that_waited", a_call_that_waited}, {"a_consumer_without_memory", a_consumer_without_memory},
      {"old_outcomes_go", old_outcomes_go}, {"a_caller_that_is_away_for_long", a_caller_that_is_away_for_long},
      {"a_store_that_is_full_of_outcomes", a_store_that_is_full_of_outcomes},
      {"a_host_without_a_store", a_host_without_a_store}, {"a_call_of_its_own_host", a_call_of_its_own_host},
      {"keys_that_are_none", keys_that_are_none}, {"a_key_that_is_in_use", a_key_that_is_in_use},
      {"a_call_without_its_key", a_call_without_its_key}, {"a_session_takes_over", a_session_takes_over},
      {"another_authority", another_authority}, {"done", done})
