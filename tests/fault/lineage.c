/* lineage.c: a provider with a store comes back under failing allocation: its reader ends with the right value, by the
 * gap or as a whole. */
#include "store.h"
#include "fault/sweep.h"

typedef struct world {
    test_host provider, reader;
    chordal_id near, far, reference;
    int code;
} world;

static void note(world *w, int code) {
    if (code && !w->code) w->code = code;
}

/* Poll and carry until nothing moves, whatever fails. */
static void run(world *w) {
    static _Alignas(8) uint8_t buffer[1 << 16];
    size_t len, frames, moved;
    for (int round = 0; round < 50; round++) {
        moved = 0;
        chordal_host *hosts[] = {w->provider.host, w->reader.host};
        for (int i = 0; i < 2; i++) {
            w->provider.now = w->reader.now += 100;
            note(w, chordal_host_poll(hosts[i], w->reader.now, buffer, sizeof buffer, &len, NULL));
            moved += len;
        }
        int code = chordal_link_carry(w->provider.host, w->far, w->reader.host, w->near, w->reader.now, &frames, NULL);
        if (code == CHORDAL_E_NOMEM) note(w, code);
        if (!moved && !(code == 0 && frames)) return;
    }
}

static int serve(world *w, const chordal_memory_functions *functions, chordal_id *object) {
    chordal_host_options options = {
        .size = sizeof options, .store = store_path, .memory = functions, .entropy = test_entropy};
    chordal_id type;
    options.entropy_context = &w->provider.random;
    int code = chordal_host_open(&options, &w->provider.host, NULL);
    if (code == 0) code = chordal_type_provide(w->provider.host, (const uint8_t *)NOTES, sizeof NOTES - 1, &type, NULL);
    if (code == 0)
        code = chordal_object_get(w->provider.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                  sizeof NOTES_PARAMS - 1, object, NULL);
    if (code == 0) code = chordal_link_open(w->provider.host, 0, &w->far, NULL);
    return code;
}

static void meet(world *w) {
    note(w, chordal_link_retry(w->reader.host, w->near, w->reader.now, NULL));
    run(w);
    note(w, chordal_link_up(w->provider.host, w->far, CHORDAL_CODEC_BINARY, w->reader.now, NULL));
    note(w, chordal_link_up(w->reader.host, w->near, CHORDAL_CODEC_BINARY, w->reader.now, NULL));
    run(w);
}

static int append(world *w, chordal_id object, const char *text) {
    chordal_transaction *transaction;
    chordal_id ticket;
    int code = chordal_transaction_begin(w->provider.host, 0, &transaction, NULL);
    if (code) return code;
    code = chordal_transaction_append(transaction, object, NOTES_LIST, "/text", text, strlen(text), NULL);
    if (code == 0) return chordal_transaction_commit(transaction, &ticket, NULL);
    chordal_transaction_abort(transaction);
    return code;
}

static void stop(world *w) {
    if (!w->provider.host) return;
    chordal_link_down(w->reader.host, w->near, w->reader.now, NULL);
    if (w->far) chordal_release(w->provider.host, w->far);
    chordal_host_close(w->provider.host);
    w->provider.host = NULL;
    w->far = 0;
}

/* All of it before the provider is started again. */
static void begin(world *w, const chordal_memory_functions *functions) {
    chordal_id object = 0;
    chordal_host_options options = {.size = sizeof options, .memory = functions, .entropy = test_entropy};
    new_store();
    w->provider.random = 5, w->reader.random = 6;
    options.entropy_context = &w->reader.random;
    CHECK_INT(chordal_host_open(&options, &w->reader.host, NULL), 0);
    CHECK_INT(chordal_link_open(w->reader.host, CHORDAL_LINK_CONNECT, &w->near, NULL), 0);
    CHECK_INT(serve(w, functions, &object), 0);
    w->reference = get_over(&w->reader, w->near, "notes", NOTES_PARAMS, 0);
    meet(w);
    CHECK_INT(append(w, object, "a"), 0);
    run(w);
    CHECK_INT(append(w, object, "b"), 0);
    run(w);
    CHECK_TEXT(value_of(&w->reader, w->reference, NOTES_LIST), "{\"entries\":[],\"text\":\"ab\"}");
    stop(w);
}

static int scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {0};
    chordal_id object = 0;
    (void)context;
    memory->healed = true;
    begin(&w, functions);
    memory->healed = false;
    memory->fail_at += memory->requests;
    note(&w, serve(&w, functions, &object));
    if (!w.code) note(&w, append(&w, object, "c"));
    if (!w.code) meet(&w);
    memory->healed = true;
    int code = w.code;
    bool appended = w.provider.host && object && strstr(head_of(&w.provider, object, NOTES_LIST), "abc");
    stop(&w);
    CHECK_INT(serve(&w, functions, &object), 0);
    meet(&w);
    run(&w);
    CHECK_INT(chordal_reference_state(w.reader.host, w.reference), CHORDAL_REFERENCE_LIVE);
    if (appended) CHECK(strstr(head_of(&w.provider, object, NOTES_LIST), "\"abc\"") != NULL);
    char expected[64] = "";
    strncat(expected, head_of(&w.provider, object, NOTES_LIST), sizeof expected - 1);
    CHECK_TEXT(value_of(&w.reader, w.reference, NOTES_LIST), expected);
    stop(&w);
    chordal_release(w.reader.host, w.reference);
    chordal_release(w.reader.host, w.near);
    chordal_host_close(w.reader.host);
    return code;
}

TEST(a_provider_that_comes_back) {
    fault_plan plan = {.name = "lineage", .scenario = scenario, .benign = true};
    uint64_t count = fault_sweep(&plan);
    CHECK(count > 50);
    remove_store();
}

TESTS({"a provider that comes back", a_provider_that_comes_back})
