/* durable.c: durable calls under failing allocation, at both ends and over a restart: each has its effect at most once,
 * and exactly once when its caller is told that it went well. */
#include "store.h"
#include "fault/sweep.h"

#define COUNT                                                                                                          \
    "{\"name\":\"count\",\"keep\":true,\"members\":["                                                                  \
    "{\"name\":\"sum\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"                                            \
    "{\"name\":\"add\",\"kind\":\"method\",\"durable\":true}]}"

typedef struct world {
    chordal_host *provider, *caller;
    uint64_t random[2];
    chordal_id near, far, reference, object, call;
    chordal_time now;
    int code, settled, result;
} world;

static void note(world *w, int code) {
    if (code && !w->code) w->code = code;
}

/* The method: one commit, and the answer; without memory it is given up. */
static void serve_call(world *w, chordal_id served) {
    chordal_transaction *transaction = NULL;
    chordal_id ticket;
    int code = chordal_transaction_begin(w->provider, served, &transaction, NULL);
    if (code == 0) code = chordal_transaction_append(transaction, w->object, 0, "/text", "x", 1, NULL);
    if (code == 0)
        code = chordal_transaction_commit(transaction, &ticket, NULL);
    else
        chordal_transaction_abort(transaction);
    note(w, code);
    if (code == 0) code = chordal_call_answer(w->provider, served, CHORDAL_FORMAT_JSON, (const uint8_t *)"1", 1, NULL);
    note(w, code);
    if (code) chordal_release(w->provider, served);
}

static size_t poll_one(world *w, chordal_host *host) {
    static _Alignas(8) uint8_t buffer[1 << 16];
    size_t len = 0;
    note(w, chordal_host_poll(host, w->now, buffer, sizeof buffer, &len, NULL));
    for (size_t at = 0; at < len;) {
        const chordal_record *record = (const void *)(buffer + at);
        at += record->length;
        if (record->kind == CHORDAL_EVENT_CALL) serve_call(w, ((const chordal_event_CALL *)(const void *)record)->call);
        if (record->kind != CHORDAL_EVENT_RESULT) continue;
        w->settled++;
        w->result = ((const chordal_event_RESULT *)(const void *)record)->code;
    }
    return len;
}

static void run(world *w) {
    size_t frames, moved;
    for (int round = 0; round < 60; round++) {
        w->now += 100;
        moved = poll_one(w, w->provider) + poll_one(w, w->caller);
        bool more = chordal_host_deadline(w->provider) == 0;
        int code = chordal_link_carry(w->provider, w->far, w->caller, w->near, w->now, &frames, NULL);
        if (code == CHORDAL_E_NOMEM) note(w, code);
        if (!moved && !more && !(code == 0 && frames)) return;
    }
}

static int serve(world *w, const chordal_memory_functions *functions) {
    chordal_host_options options = {
        .size = sizeof options, .store = store_path, .memory = functions, .entropy = test_entropy};
    chordal_id type;
    options.entropy_context = &w->random[0];
    int code = chordal_host_open(&options, &w->provider, NULL);
    if (code == 0) code = chordal_type_provide(w->provider, (const uint8_t *)COUNT, sizeof COUNT - 1, &type, NULL);
    if (code == 0)
        code = chordal_object_get(w->provider, "count", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &w->object,
                                  NULL);
    if (code == 0) code = chordal_link_open(w->provider, 0, &w->far, NULL);
    return code;
}

static void meet(world *w) {
    note(w, chordal_link_retry(w->caller, w->near, w->now, NULL));
    run(w);
    note(w, chordal_link_up(w->provider, w->far, CHORDAL_CODEC_BINARY, w->now, NULL));
    note(w, chordal_link_up(w->caller, w->near, CHORDAL_CODEC_BINARY, w->now, NULL));
    run(w);
}

/* What was called and not answered stays with its id: the host is forgotten, not closed. */
static void stop(world *w) {
    if (!w->provider) return;
    chordal_link_down(w->caller, w->near, w->now, NULL);
    chordal_host_forget(w->provider);
    w->provider = NULL;
    w->far = 0;
}

static size_t effects(const world *w) {
    char text[256];
    size_t len = 0, count = 0;
    CHECK_INT(
        chordal_object_read(w->provider, w->object, 0, CHORDAL_FORMAT_JSON, (uint8_t *)text, sizeof text, &len, NULL),
        0);
    for (size_t i = 9; i < len; i++) count += text[i] == 'x';
    return count;
}

static void begin(world *w, const chordal_memory_functions *functions) {
    chordal_host_options options = {.size = sizeof options, .memory = functions, .entropy = test_entropy};
    new_store();
    *w = (world){.random = {5, 6}};
    options.entropy_context = &w->random[1];
    CHECK_INT(chordal_host_open(&options, &w->caller, NULL), 0);
    CHECK_INT(chordal_link_open(w->caller, CHORDAL_LINK_CONNECT, &w->near, NULL), 0);
    CHECK_INT(serve(w, functions), 0);
    CHECK_INT(chordal_reference_get(w->caller, w->near, "count", 5, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2,
                                    &w->reference, NULL),
              0);
    meet(w);
    CHECK_INT(w->code, 0);
}

static int scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w;
    (void)context;
    memory->healed = true;
    begin(&w, functions);
    memory->healed = false;
    memory->fail_at += memory->requests;
    bool called = chordal_call_start(w.caller, w.reference, "add", 3, CHORDAL_FORMAT_JSON, (const uint8_t *)"[7]", 3, 0,
                                     &w.call, NULL) == 0;
    if (!called) note(&w, CHORDAL_E_NOMEM);
    run(&w);
    stop(&w);
    note(&w, serve(&w, functions));
    if (w.far) meet(&w);
    memory->healed = true;
    int code = w.code;
    stop(&w);
    CHECK_INT(serve(&w, functions), 0);
    meet(&w);
    w.now += 60000; /* whatever waited to be tried again */
    run(&w);
    meet(&w);
    size_t count = effects(&w);
    CHECK_INT(w.settled, called);
    CHECK(count <= 1 && (w.result != 0 || count == (size_t)called));
    stop(&w);
    chordal_host_forget(w.caller);
    return code;
}

TEST(a_call_over_a_restart) {
    fault_plan plan = {.name = "durable", .scenario = scenario, .benign = true};
    uint64_t count = fault_sweep(&plan);
    CHECK(count > 100);
    remove_store();
}

TESTS({"a call over a restart", a_call_over_a_restart})
