/* tables.c: rows under failing allocation: a call that is refused is made again, and all ends as if none had been. */
#include "../tables.h"

#include "sweep.h"

typedef struct world {
    test_host h;
    fault_memory *memory;
    chordal_id object;
    int code;
} world;

static bool went(world *w, int code) {
    if (code && !w->code) w->code = code;
    return code == 0;
}

#define AGAIN(w, call) (went(w, call) || (w->code == CHORDAL_E_NOMEM && (call) == 0))

static bool open_world(world *w, const chordal_memory_functions *functions) {
    chordal_host_options options = {.memory = functions, .store = store_path};
    chordal_id type;
    options.size = sizeof options;
    if (!went(w, chordal_host_open(&options, &w->h.host, NULL))) return false;
    return AGAIN(w, chordal_type_provide(w->h.host, (const uint8_t *)BOARD, strlen(BOARD), &type, NULL)) &&
           AGAIN(w, chordal_object_get(w->h.host, "board", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)"{\"name\":\"a\"}",
                                       12, &w->object, NULL));
}

static void turn(world *w) {
    static _Alignas(8) uint8_t buffer[1 << 16];
    size_t len = 1;
    for (int i = 0; i < 20 && len; i++) went(w, chordal_host_poll(w->h.host, 0, buffer, sizeof buffer, &len, NULL));
}

static bool act(world *w, chordal_transaction *t, row_function function, const char *json) {
    return AGAIN(w,
                 function(t, w->object, BOARD_NOTES, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL));
}

static bool ask(world *w, chordal_transaction *t, const char *query) {
    uint8_t answer[1024];
    size_t len = 0;
    return AGAIN(w, chordal_transaction_query(t, w->object, BOARD_NOTES, CHORDAL_FORMAT_JSON, (const uint8_t *)query,
                                              strlen(query), answer, sizeof answer, &len, NULL));
}

static bool ask_all(world *w, chordal_transaction *t) {
    static const char update[] = "{\"done\":3}", where[] = "{\"prefix\":[\"title\",\"i\"]}";
    uint64_t count = 0;
    return ask(w, t,
               "{\"where\":{\"or\":[{\"in\":[\"id\",[1,2]]},{\"prefix\":[\"title\",\"x\"]}]},\"order\":[\"title\"],"
               "\"limit\":1}") &&
           ask(w, t, "{\"group\":[\"done\"],\"sum\":\"id\"}") &&
           AGAIN(w, chordal_transaction_update_where(t, w->object, BOARD_NOTES, CHORDAL_FORMAT_JSON,
                                                     (const uint8_t *)where, strlen(where), (const uint8_t *)update,
                                                     strlen(update), &count, NULL));
}

static bool change(world *w) {
    chordal_transaction *t = NULL;
    chordal_id ticket;
    if (!AGAIN(w, chordal_transaction_begin(w->h.host, 0, &t, NULL))) return false;
    bool done = act(w, t, chordal_transaction_put, "{\"id\":1,\"title\":\"it\",\"data\":[1],\"blob\":\"AAAA\"}") &&
                act(w, t, chordal_transaction_put, "{\"id\":2}") &&
                act(w, t, chordal_transaction_patch, "{\"id\":1,\"done\":3}") &&
                act(w, t, chordal_transaction_remove, "2") && ask_all(w, t);
    if (!done) {
        chordal_transaction_abort(t);
        return false;
    }
    return went(w, chordal_transaction_commit(t, &ticket, NULL));
}

static void look(world *w) {
    uint8_t row[256];
    size_t len = 0;
    if (AGAIN(w, chordal_object_row(w->h.host, w->object, BOARD_NOTES, CHORDAL_FORMAT_JSON, (const uint8_t *)"1", 1,
                                    row, sizeof row, &len, NULL)))
        CHECK(memcmp(row, "{\"id\":1,\"title\":\"it\",\"done\":3", 29) == 0);
}

static int scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {.memory = memory};
    (void)context;
    new_store();
    if (open_world(&w, functions)) {
        bool changed = change(&w);
        turn(&w);
        if (changed && !memory->failures) look(&w);
    }
    chordal_host_forget(w.h.host);
    return w.code;
}

/* ---- live queries: a refusal for want of memory is told, and trying again heals it ---- */

#define PARAMS(query) "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"query\":" query "}"
static const char *const held[] = {PARAMS("{\"order\":[\"title\"],\"limit\":2}"), PARAMS("{\"group\":[\"done\"]}")};
static const char *const ends[] = {"[{\"id\":3,\"title\":null,\"done\":0,\"weight\":null,\"data\":null,\"blob\":null},"
                                   "{\"id\":1,\"title\":\"it\",\"done\":3,\"weight\":null,\"data\":[1],\"blob\":"
                                   "{\"length\":3,\"digest\":\"d94d12186c0f2fb7\"}}]",
                                   "[{\"group\":{\"done\":0},\"count\":1},{\"group\":{\"done\":3},\"count\":1}]"};

static bool hold_all(world *w, chordal_id references[2]) {
    for (int i = 0; i < 2; i++)
        if (!AGAIN(w, chordal_reference_get(w->h.host, 0, "chordal.query", 13, 0, 0, CHORDAL_FORMAT_JSON,
                                            (const uint8_t *)held[i], strlen(held[i]), &references[i], NULL)))
            return false;
    turn(w);
    return true;
}

static bool act_alone(world *w, row_function function, const char *json) {
    chordal_transaction *t = NULL;
    chordal_id ticket;
    if (!AGAIN(w, chordal_transaction_begin(w->h.host, 0, &t, NULL))) return false;
    if (!act(w, t, function, json)) {
        chordal_transaction_abort(t);
        return false;
    }
    bool done = went(w, chordal_transaction_commit(t, &ticket, NULL));
    turn(w);
    return done;
}

/* When memory is there again a query that failed comes back with all that was committed. */
static void compare(world *w, const chordal_id references[2]) {
    fault_heal(w->memory);
    for (int i = 0; i < 2; i++) {
        if (chordal_reference_state(w->h.host, references[i]) == CHORDAL_REFERENCE_FAILED)
            CHECK_INT(chordal_reference_retry(w->h.host, references[i], NULL), 0);
        turn(w);
        CHECK_TEXT(value_of(&w->h, references[i], 0), ends[i]);
    }
}

static int live_scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {.memory = memory};
    chordal_id references[2] = {0};
    (void)context;
    new_store();
    if (open_world(&w, functions) && hold_all(&w, references)) {
        bool changed = change(&w);
        turn(&w);
        changed = changed && act_alone(&w, chordal_transaction_put, "{\"id\":3}") &&
                  act_alone(&w, chordal_transaction_put, "{\"id\":4,\"title\":\"z\"}") &&
                  act_alone(&w, chordal_transaction_remove, "4");
        if (changed && !memory->persistent) compare(&w, references);
    }
    for (int i = 0; i < 2; i++)
        if (references[i]) chordal_release(w.h.host, references[i]);
    chordal_host_forget(w.h.host);
    return w.code;
}

/* ---- sweeps: whoever needs their rows has them or is refused, and nothing is left half done ---- */

static bool update(world *w, chordal_transaction *t, const char *where, const char *changes) {
    uint64_t count;
    return AGAIN(w, chordal_transaction_update_where(t, w->object, BOARD_NOTES, CHORDAL_FORMAT_JSON,
                                                     (const uint8_t *)where, strlen(where), (const uint8_t *)changes,
                                                     strlen(changes), &count, NULL));
}

static bool begin(world *w, chordal_transaction **t) {
    return AGAIN(w, chordal_transaction_begin(w->h.host, 0, t, NULL));
}

static bool end(world *w, chordal_transaction *t, bool done) {
    chordal_id ticket;
    if (done) return went(w, chordal_transaction_commit(t, &ticket, NULL));
    chordal_transaction_abort(t);
    return false;
}

static bool put_three(world *w) {
    chordal_transaction *t;
    bool done = begin(w, &t) && end(w, t,
                                    act(w, t, chordal_transaction_put, "{\"id\":1}") &&
                                        act(w, t, chordal_transaction_put, "{\"id\":2,\"title\":\"it\"}") &&
                                        act(w, t, chordal_transaction_put, "{\"id\":3,\"data\":[3]}"));
    turn(w);
    return done;
}

/* The second reads what the first has done, the third goes on behind its own. */
static bool sweep_all(world *w) {
    chordal_transaction *t;
    bool done = begin(w, &t) && end(w, t, update(w, t, "null", "{\"done\":3}"));
    done = done && begin(w, &t) &&
           end(w, t, ask(w, t, "{\"limit\":1}") && act(w, t, chordal_transaction_patch, "{\"id\":2,\"done\":4}"));
    turn(w);
    done = done && begin(w, &t) &&
           end(w, t,
               update(w, t, "{\"eq\":[\"done\",3]}", "{\"done\":5,\"title\":\"t\"}") &&
                   act(w, t, chordal_transaction_patch, "{\"id\":3,\"weight\":2}"));
    turn(w);
    return done;
}

/* What a transaction sees is what is stored, when nothing is under way. */
static void compare_layers(world *w, const char *expected) {
    static char stored[sizeof row_text];
    fault_heal(w->memory);
    turn(w);
    snprintf(stored, sizeof stored, "%s", query_of(&w->h, w->object, BOARD_NOTES, "{}"));
    chordal_transaction *t = draft_on(&w->h);
    CHECK_TEXT(query_in(t, w->object, BOARD_NOTES, "{}"), stored);
    chordal_transaction_abort(t);
    if (expected) CHECK_TEXT(stored, expected);
}

#define SWEPT                                                                                                          \
    "{\"rows\":[{\"id\":1,\"title\":\"t\",\"done\":5,\"weight\":null,\"data\":null,\"blob\":null},{\"id\":2,"          \
    "\"title\":"                                                                                                       \
    "\"it\",\"done\":4,\"weight\":null,\"data\":null,\"blob\":null},{\"id\":3,\"title\":\"t\",\"done\":5,\"weight\":"  \
    "2,"                                                                                                               \
    "\"data\":[3],\"blob\":null}],\"after\":null}"

static int sweep_scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {.memory = memory};
    (void)context;
    new_store();
    if (open_world(&w, functions) && put_three(&w)) {
        bool done = sweep_all(&w);
        compare_layers(&w, done && !memory->failures ? SWEPT : NULL);
    }
    chordal_host_forget(w.h.host);
    return w.code;
}

TEST(sweeps) {
    fault_plan plan = {.name = "sweeps", .scenario = sweep_scenario, .benign = true};
    CHECK(fault_sweep(&plan) > 80);
    remove_store();
}

TEST(live_queries) {
    fault_plan plan = {.name = "live queries", .scenario = live_scenario, .benign = true};
    CHECK(fault_sweep(&plan) > 80);
    remove_store();
}

TEST(rows) {
    fault_plan plan = {.name = "rows", .scenario = scenario, .benign = true};
    CHECK(fault_sweep(&plan) > 50);
    remove_store();
}

TESTS({"rows", rows}, {"live queries", live_queries}, {"sweeps", sweeps})
