/* store_live.c: live queries: kept current from commits alone, seen by all who hold them, at the cut of each commit. */
#include "tables.h"

static test_host h;

#define TYPE                                                                                                           \
    "{\"name\":\"q\",\"keep\":true,\"params\":[\"k\"],\"members\":[{\"name\":\"doc\",\"kind\":\"document\","           \
    "\"initial\":0},{\"name\":\"twice\",\"kind\":\"derive\",\"from\":[\"doc\"]},{\"name\":\"rows\",\"kind\":"          \
    "\"table\",\"columns\":{\"id\":\"integer\",\"n\":\"integer\",\"t\":\"text\",\"b\":\"bytes\"},\"key\":[\"id\"],"    \
    "\"indexes\":{\"by_n\":[\"n\"]}}]}"
enum { DOC, TWICE, ROWS };

/* Answer what is asked for until nothing is. */
static void compute(test_host *host) {
    for (;;) {
        test_poll(host);
        host_event *asked = last_event(host, CHORDAL_EVENT_COMPUTE);
        if (!asked || chordal_compute_answer(host->host, asked->as.compute.compute, CHORDAL_FORMAT_JSON,
                                             (const uint8_t *)"1", 1, NULL))
            return;
    }
}

static chordal_id open_rows(void) {
    new_store();
    open_store(&h);
    provide(&h, TYPE);
    chordal_id object = object_in(&h, "q", "{\"k\":1}");
    compute(&h);
    return object;
}

static const char *params_of(const char *query) {
    static char params[8192];
    snprintf(params, sizeof params, "{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":%s}", query);
    return params;
}

static chordal_id hold(const char *query) {
    chordal_id reference = get(&h, "chordal.query", params_of(query));
    compute(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    return reference;
}

/* The "rows" of an answer: as a live query shows them. */
static const char *rows_of(const char *answer) {
    static char rows[1 << 16];
    if (answer[0] != '{') return answer;
    size_t len = strlen(answer);
    const char *after = strstr(answer, ",\"after\":");
    snprintf(rows, sizeof rows, "%.*s", (int)(after ? after - answer - 8 : (long)len), answer + 8);
    return rows;
}

static const char *ids(const char *rows) {
    static char text[4096];
    size_t len = 0;
    text[0] = 0;
    if (rows[0] != '[') return rows;
    for (const char *at = rows; (at = strstr(at, "{\"id\":")) != NULL; at++)
        len += (size_t)snprintf(text + len, sizeof text - len, len ? " %lld" : "%lld", atoll(at + 6));
    return text;
}

static void set_row(chordal_id object, int id, int n) {
    char json[64];
    snprintf(json, sizeof json, "{\"id\":%d,\"n\":%d}", id, n);
    commit_put(&h, object, ROWS, json);
}

static void remove_row(chordal_id object, int id) {
    char json[16];
    snprintf(json, sizeof json, "%d", id);
    commit_row(&h, chordal_transaction_remove, object, ROWS, json);
}

TEST(rows_follow_commits) {
    chordal_id object = open_rows(), watch;
    set_row(object, 1, 10);
    set_row(object, 2, 20);
    test_poll(&h);
    chordal_id reference = hold("{\"where\":{\"gt\":[\"n\",5]},\"order\":[[\"n\",\"desc\"]]}");
    CHECK_TEXT(value_of(&h, reference, 0), "[{\"id\":2,\"n\":20,\"t\":null,\"b\":null},"
                                           "{\"id\":1,\"n\":10,\"t\":null,\"b\":null}]");
    CHECK_INT(chordal_watch_open(h.host, reference, 0, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    chordal_id ticket = commit_put(&h, object, ROWS, "{\"id\":1,\"n\":10,\"t\":\"x\",\"b\":\"AAH/\"}");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->as.frame.commit, ticket_code(&h, ticket)); /* the very same */
    CHECK_TEXT(value_of(&h, reference, 0),
               "[{\"id\":2,\"n\":20,\"t\":null,\"b\":null},{\"id\":1,\"n\":10,\"t\":\"x\",\"b\":{\"length\":3,"
               "\"digest\":\"d94a37186c0d38bf\"}}]");
    set_row(object, 1, 30);
    test_poll(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "1 2");
    set_row(object, 2, 5);
    set_row(object, 3, 35);
    remove_row(object, 7);
    test_poll(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "3 1");
    remove_row(object, 3);
    test_poll(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "1");
    forget_events(&h);
    set_row(object, 9, 1); /* not of its rows */
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 0);
    chordal_release(h.host, watch);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

TEST(counts_follow_commits) {
    chordal_id object = open_rows();
    chordal_id total = hold("{\"count\":true,\"sum\":\"n\"}"),
               groups = hold("{\"group\":[\"n\"],\"where\":{\"gt\":[\"id\",0]}}");
    CHECK_TEXT(value_of(&h, total, 0), "[{\"count\":0,\"sum\":0}]");
    CHECK_TEXT(value_of(&h, groups, 0), "[]");
    set_row(object, 1, 7);
    set_row(object, 2, 7);
    set_row(object, 3, -1);
    set_row(object, -4, 9);
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"count\":4,\"sum\":22}]");
    CHECK_TEXT(value_of(&h, groups, 0), "[{\"group\":{\"n\":-1},\"count\":1},{\"group\":{\"n\":7},\"count\":2}]");
    set_row(object, 3, 7);
    remove_row(object, 2);
    remove_row(object, -4);
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"count\":2,\"sum\":14}]");
    CHECK_TEXT(value_of(&h, groups, 0), "[{\"group\":{\"n\":7},\"count\":2}]");
    remove_row(object, 3);
    remove_row(object, 1);
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"count\":0,\"sum\":0}]");
    CHECK_TEXT(value_of(&h, groups, 0), "[]");
    chordal_release(h.host, total);
    chordal_release(h.host, groups);
    test_host_close(&h);
}

/* What is left beyond the limit comes up; when that is used up it is read, once. */
TEST(a_limit_is_filled_again) {
    char expected[256];
    chordal_id object = open_rows();
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < 300; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"n\":%d}", i, i);
        put(t, object, ROWS, json);
    }
    commit(t);
    test_poll(&h);
    chordal_id reference = hold("{\"order\":[\"n\"],\"limit\":3}");
    uint64_t before = test_counters(&h).statements;
    for (int i = 0; i < 297; i++) {
        remove_row(object, i);
        test_poll(&h);
        snprintf(expected, sizeof expected, "%d %d %d", i + 1, i + 2, i + 3);
        CHECK_TEXT(ids(value_of(&h, reference, 0)), expected);
    }
    uint64_t statements = test_counters(&h).statements - before;
    CHECK(statements <= 297 * 3 + 6);
    remove_row(object, 298);
    test_poll(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "297 299");
    set_row(object, 5, 5);
    set_row(object, 6, 6);
    test_poll(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "5 6 297");
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* Commits of one step are shown one by one, also when rows are read again that a later one has changed. */
TEST(each_commit_shows_its_own) {
    chordal_id object = open_rows();
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < 200; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"n\":%d}", i, i);
        put(t, object, ROWS, json);
    }
    commit(t);
    test_poll(&h);
    chordal_id reference = hold("{\"order\":[\"n\"],\"limit\":2}");
    t = draft_on(&h);
    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        take_out(t, object, ROWS, key);
    }
    CHECK_INT(chordal_transaction_set_json(t, object, DOC, "", "1", NULL), 0); /* stops for the derive */
    commit(t);
    remove_row(object, 100);
    set_row(object, 500, -5);
    set_row(object, 101, 1000);
    test_poll(&h);
    chordal_id query = object_in(&h, "chordal.query", params_of("{\"order\":[\"n\"],\"limit\":2}"));
    CHECK_TEXT(ids(head_of(&h, query, 0)), "100 101");
    CHECK_TEXT(ids(rows_of(query_of(&h, object, ROWS, "{\"order\":[\"n\"],\"limit\":2}"))), "500 102");
    compute(&h);
    CHECK_TEXT(ids(value_of(&h, reference, 0)), "500 102");
    CHECK_INT(chordal_object_drop(h.host, query, NULL), 0);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* One that is held while commits wait to be shown has them once, and not twice. */
TEST(held_in_the_middle) {
    chordal_id object = open_rows();
    chordal_transaction *t = draft_on(&h);
    put(t, object, ROWS, "{\"id\":1,\"n\":1}");
    CHECK_INT(chordal_transaction_set_json(t, object, DOC, "", "1", NULL), 0);
    commit(t);
    set_row(object, 2, 2);
    test_poll(&h); /* both are stored, none is shown */
    chordal_id reference = get(&h, "chordal.query", params_of("{\"count\":true,\"sum\":\"n\"}"));
    set_row(object, 3, 3);
    compute(&h);
    CHECK_TEXT(value_of(&h, reference, 0), "[{\"count\":3,\"sum\":6}]");
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* ---- what it costs ---- */

static uint64_t allocations_of_one(int rows, uint64_t *statements) {
    chordal_id object = open_rows();
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < rows; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"n\":%d}", i, i);
        put(t, object, ROWS, json);
    }
    commit(t);
    test_poll(&h);
    chordal_id reference = hold("{\"order\":[\"n\"],\"limit\":10000}");
    for (int i = 0; i < 2; i++) {
        commit_put(&h, object, ROWS, i ? "{\"id\":7,\"n\":7,\"t\":\"b\"}" : "{\"id\":7,\"n\":7,\"t\":\"a\"}");
        test_poll(&h);
    }
    forget_events(&h);
    chordal_counters before = test_counters(&h);
    commit_put(&h, object, ROWS, "{\"id\":7,\"n\":7,\"t\":\"c\"}");
    test_poll(&h);
    chordal_counters after = test_counters(&h);
    CHECK(strstr(value_of(&h, reference, 0), "\"t\":\"c\"") != NULL);
    *statements = after.statements - before.statements;
    chordal_release(h.host, reference);
    test_host_close(&h);
    return after.allocations - before.allocations;
}

TEST(a_row_costs_the_same_among_many) {
    uint64_t few_statements, many_statements;
    uint64_t few = allocations_of_one(100, &few_statements), many = allocations_of_one(1000, &many_statements);
    CHECK_INT(few_statements, 3); /* those of the commit itself */
    CHECK_INT(many_statements, 3);
    CHECK(many <= few + 8); /* a level of the tree more */
}

/* ---- its life ---- */

TEST(it_needs_its_object) {
    chordal_id reference, other;
    new_store();
    open_store(&h);
    provide(&h, "{\"name\":\"q\",\"params\":[\"k\"],\"start\":true,\"members\":[{\"name\":\"rows\",\"kind\":\"table\","
                "\"columns\":{\"id\":\"integer\"},\"key\":[\"id\"]}]}");
    reference = get(&h, "chordal.query", params_of("{}"));
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_OBJECT), 1); /* of the object alone */
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_PENDING);
    chordal_id object = last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_start(h.host, object, "closed", 6, "not now", 7, NULL), 0);
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_TEXT(last_event(&h, CHORDAL_EVENT_REFERENCE)->text, "not now");
    CHECK_INT(chordal_reference_retry(h.host, reference, NULL), 0);
    test_poll(&h);
    CHECK_INT(chordal_object_start(h.host, object, NULL, 0, NULL, 0, NULL), 0);
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    other = get(&h, "chordal.query", params_of("{\"count\":true}"));
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 3);
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_RETIRED);
    CHECK_INT(chordal_reference_state(h.host, other), CHORDAL_REFERENCE_RETIRED);
    chordal_release(h.host, reference);
    chordal_release(h.host, other);
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 0);
    reference = get(&h, "chordal.query", params_of("{}")); /* the last hold of it is that of its object, too */
    test_poll(&h);
    chordal_release(h.host, reference);
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 0);
    reference = get(&h, "chordal.query", params_of("{}"));
    test_poll(&h);
    chordal_host *closed = h.host;
    test_host_close(&h); /* in the middle of it */
    chordal_release(closed, reference);
}

TEST(queries_that_cannot_be_held) {
    static const struct {
        const char *params;
        int code;
    } cases[] = {
        {"{}", CHORDAL_E_PARAMS},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\"}", CHORDAL_E_PARAMS},
        {"{\"type\":1,\"params\":{\"k\":1},\"member\":\"rows\",\"query\":{}}", CHORDAL_E_PARAMS},
        {"{\"type\":\"none\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":{}}", CHORDAL_E_NO_TYPE},
        {"{\"type\":\"q\",\"params\":{},\"member\":\"rows\",\"query\":{}}", CHORDAL_E_PARAMS},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"nothing\",\"query\":{}}", CHORDAL_E_NO_MEMBER},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"doc\",\"query\":{}}", CHORDAL_E_INVALID},
        {"{\"type\":\"chordal.query\",\"params\":{},\"member\":\"rows\",\"query\":{}}", CHORDAL_E_INVALID},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":[]}", CHORDAL_E_INVALID},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":{\"where\":{\"eq\":[\"x\",1]}}}",
         CHORDAL_E_INVALID},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":{\"after\":\"AAAA\"}}", CHORDAL_E_INVALID},
        {"{\"type\":\"q\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":{\"stale\":true}}", CHORDAL_E_INVALID},
    };
    chordal_id object = open_rows(), ticket;
    uint64_t objects = test_counters(&h).live_objects;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chordal_id reference = 0;
        chordal_error error = {0};
        CHECK_INT(chordal_reference_get(h.host, 0, "chordal.query", 13, 0, 0, CHORDAL_FORMAT_JSON,
                                        (const uint8_t *)cases[i].params, strlen(cases[i].params), &reference, &error),
                  cases[i].code);
        CHECK(error.detail[0] != 0);
    }
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, objects);
    /* Its rows are nobody's to change. */
    chordal_id query = object_in(&h, "chordal.query", params_of("{}"));
    chordal_transaction *t = draft_on(&h);
    CHECK_INT(chordal_transaction_set_json(t, query, 0, "", "[]", NULL), CHORDAL_E_INVALID);
    put(t, object, ROWS, "{\"id\":1}");
    CHECK_INT(commit_code(t, &ticket), 0);
    CHECK_INT(chordal_object_start(h.host, query, NULL, 0, NULL, 0, NULL), CHORDAL_E_STATE);
    test_poll(&h);
    CHECK_TEXT(ids(head_of(&h, query, 0)), "1");
    test_host_close(&h);
}

TEST(names_that_are_the_hosts_own) {
    static const char type[] = "{\"name\":\"chordal.mine\",\"members\":[]}";
    chordal_id id;
    test_host_open(&h, (chordal_host_options){0});
    CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)type, strlen(type), &id, NULL), CHORDAL_E_INVALID);
    test_host_close(&h);
}

/* ---- over links ---- */

static void open_pair(test_pair *p, uint32_t codec, uint32_t flags) {
    memset(p, 0, sizeof *p);
    new_store();
    open_store(&p->a);
    test_host_open(&p->b, (chordal_host_options){0});
    p->codec = codec;
    CHECK_INT(chordal_link_open(p->a.host, flags, &p->link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p->b.host, CHORDAL_LINK_CONNECT, &p->link_b, NULL), 0);
    pair_up(p);
}

static void settle_all(test_pair *p) {
    do {
        settle(p);
        host_event *asked = last_event(&p->a, CHORDAL_EVENT_COMPUTE);
        if (!asked || chordal_compute_answer(p->a.host, asked->as.compute.compute, CHORDAL_FORMAT_JSON,
                                             (const uint8_t *)"1", 1, NULL))
            return;
    } while (true);
}

static uint64_t seed = 1;

static uint32_t random_below(uint32_t limit) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % limit);
}

static void random_change(chordal_transaction *t, chordal_id object) {
    char json[128];
    uint32_t id = random_below(150);
    if (random_below(3) == 0) {
        snprintf(json, sizeof json, "%u", id);
        take_out(t, object, ROWS, json);
    } else {
        snprintf(json, sizeof json, random_below(5) ? "{\"id\":%u,\"n\":%u,\"t\":\"%u\"}" : "{\"id\":%u}", id,
                 random_below(20), random_below(4));
        put(t, object, ROWS, json);
    }
}

/* Whatever happens, what is held is what a query says: here, over a link in either codec, folded or not. */
TEST(as_queries_say) {
    static const char *const queries[] = {
        "{}",
        "{\"limit\":5}",
        "{\"order\":[\"n\"],\"limit\":3}",
        "{\"order\":[[\"n\",\"desc\"],\"t\"],\"limit\":10}",
        "{\"where\":{\"gt\":[\"n\",10]},\"order\":[[\"t\",\"desc\"]],\"limit\":20}",
        "{\"where\":{\"null\":\"n\"}}",
        "{\"order\":[\"n\"],\"limit\":1}",
        "{\"count\":true}",
        "{\"group\":[\"n\"],\"count\":true,\"sum\":\"id\"}",
        "{\"group\":[\"t\",\"n\"],\"where\":{\"lt\":[\"n\",7]}}",
        "{\"sum\":\"n\",\"where\":{\"prefix\":[\"t\",\"1\"]}}",
    };
    enum { QUERIES = sizeof queries / sizeof *queries };
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        test_pair p;
        chordal_id held[QUERIES], objects[QUERIES];
        open_pair(&p, codec, 0);
        provide(&p.a, TYPE);
        chordal_id object = object_in(&p.a, "q", "{\"k\":1}");
        settle_all(&p);
        for (size_t i = 0; i < QUERIES; i++) {
            held[i] = get(&p.b, "chordal.query", params_of(queries[i]));
            objects[i] = object_in(&p.a, "chordal.query", params_of(queries[i]));
        }
        for (int round = 0; round < 150 && !check_failures; round++) {
            for (uint32_t commits = random_below(4); commits-- > 0;) {
                chordal_transaction *t = draft_on(&p.a);
                for (uint32_t i = random_below(random_below(6) ? 3 : 200) + 1; i-- > 0;) random_change(t, object);
                if (random_below(4) == 0) (void)chordal_transaction_set_json(t, object, DOC, "", "1", NULL);
                commit(t);
            }
            if (random_below(3) == 0) {
                test_poll(&p.a); /* the other end lags */
                continue;
            }
            settle_all(&p);
            for (size_t i = 0; i < QUERIES; i++) {
                char expected[1 << 15];
                snprintf(expected, sizeof expected, "%s", rows_of(query_of(&p.a, object, ROWS, queries[i])));
                CHECK_TEXT(head_of(&p.a, objects[i], 0), expected);
                CHECK_TEXT(value_of(&p.b, held[i], 0), expected);
            }
            forget_events(&p.a);
            forget_events(&p.b);
        }
        for (size_t i = 0; i < QUERIES; i++) chordal_release(p.b.host, held[i]);
        pair_close(&p);
    }
}

static void guard(test_host *a, uint32_t answer, const char *params) {
    host_event *asked = last_event(a, CHORDAL_EVENT_GUARD);
    CHECK(asked != NULL);
    if (!asked) return;
    CHECK_TEXT(packed_json(a, asked->data, asked->data_len), params);
    CHECK_INT(asked->as.guard.member, CHORDAL_ALL_MEMBERS);
    CHECK_INT(chordal_guard_answer(a->host, asked->as.guard.guard, answer, NULL), 0);
}

/* Who may hold the object may ask about it, and nobody else. */
TEST(the_guard_of_its_object) {
    test_pair p;
    open_pair(&p, CHORDAL_CODEC_BINARY, 0);
    provide(&p.a, "{\"name\":\"q\",\"params\":[\"k\"],\"guarded\":true,\"members\":[{\"name\":\"rows\",\"kind\":"
                  "\"table\",\"columns\":{\"id\":\"integer\"},\"key\":[\"id\"]}]}");
    chordal_id denied = get(&p.b, "chordal.query", params_of("{\"limit\":1}"));
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    guard(&p.a, CHORDAL_GUARD_DENY, "{\"k\":1}");
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, denied), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DENIED);
    chordal_id allowed = get(&p.b, "chordal.query", params_of("{\"limit\":1}"));
    settle(&p);
    guard(&p.a, CHORDAL_GUARD_ALLOW, "{\"k\":1}");
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, allowed), CHORDAL_REFERENCE_LIVE);
    chordal_id object = object_in(&p.a, "q", "{\"k\":1}");
    CHECK_INT(chordal_object_revoke(p.a.host, object, CHORDAL_FORMAT_JSON, (const uint8_t *)"null", 4, "no", 2, NULL),
              0);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, allowed), CHORDAL_REFERENCE_REVOKED);
    chordal_release(p.b.host, denied);
    chordal_release(p.b.host, allowed);
    settle(&p);
    pair_close(&p);
}

TEST(a_host_without_a_store_has_none) {
    test_pair p;
    memset(&p, 0, sizeof p);
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    chordal_id wrong = get(&p.b, "chordal.query", "[]");
    chordal_id reference = get(&p.b, "chordal.query",
                               "{\"type\":\"notes\",\"params\":{\"board\":\"a\"},\"member\":\"list\",\"query\":{}}");
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, wrong), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_NO_TYPE);
    chordal_release(p.b.host, reference);
    chordal_release(p.b.host, wrong);
    pair_close(&p);
}

/* The provider begins anew; what its readers have of the run before is not what they get to see. */
TEST(a_provider_that_was_restarted) {
    test_pair p;
    open_pair(&p, CHORDAL_CODEC_BINARY, 0);
    provide(&p.a, BOARD);
    chordal_id object = object_in(&p.a, "board", "{\"name\":\"a\"}");
    static const char params[] = "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"query\":"
                                 "{\"count\":true}}";
    chordal_id query = get(&p.b, "chordal.query", params), board = get(&p.b, "board", "{\"name\":\"a\"}");
    commit_put(&p.a, object, BOARD_NOTES, "{\"id\":1}");
    set_json(&p.a, object, BOARD_TITLE, "", "\"x\"");
    settle(&p);
    CHECK_TEXT(value_of(&p.b, query, 0), "[{\"count\":1}]");
    chordal_release(p.a.host, p.link_a);
    test_host_close(&p.a);
    open_store(&p.a);
    provide(&p.a, BOARD);
    object = object_in(&p.a, "board", "{\"name\":\"a\"}");
    commit_put(&p.a, object, BOARD_NOTES, "{\"id\":2}");
    test_poll(&p.a);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    p.b.now += 60000;
    test_poll(&p.b);
    pair_up(&p);
    settle(&p);
    CHECK_TEXT(value_of(&p.b, query, 0), "[{\"count\":2}]");
    CHECK_TEXT(value_of(&p.b, board, BOARD_TITLE), "\"x\"");
    chordal_release(p.b.host, query);
    chordal_release(p.b.host, board);
    pair_close(&p);
}

/* ---- behind a host in the middle ---- */

static void carry(test_host *hosts, const chordal_id links[4]) {
    size_t moved, frames;
    do {
        CHECK_INT(chordal_link_carry(hosts[0].host, links[0], hosts[1].host, links[1], 0, &moved, NULL), 0);
        CHECK_INT(chordal_link_carry(hosts[1].host, links[2], hosts[2].host, links[3], 0, &frames, NULL), 0);
        moved += frames;
        for (int i = 0; i < 3; i++) moved += test_poll(&hosts[i]);
    } while (moved);
}

TEST(a_query_finds_its_object_behind_a_relay) {
    test_host hosts[3]; /* provider, relay, consumer */
    chordal_id links[4];
    new_store();
    open_store(&hosts[0]);
    for (int i = 1; i < 3; i++) test_host_open(&hosts[i], (chordal_host_options){0});
    CHECK_INT(chordal_link_open(hosts[0].host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER, &links[0], NULL), 0);
    CHECK_INT(chordal_link_open(hosts[1].host, CHORDAL_LINK_ROUTE_OFFERS, &links[1], NULL), 0);
    CHECK_INT(chordal_link_open(hosts[1].host, 0, &links[2], NULL), 0);
    CHECK_INT(chordal_link_open(hosts[2].host, CHORDAL_LINK_CONNECT, &links[3], NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(chordal_link_up(hosts[(i + 1) / 2].host, links[i], CHORDAL_CODEC_BINARY, 0, NULL), 0);
    provide(&hosts[0], BOARD);
    carry(hosts, links);
    chordal_id object = object_in(&hosts[0], "board", "{\"name\":\"a\"}");
    chordal_id reference = get(&hosts[2], "chordal.query",
                               "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"query\":"
                               "{\"count\":true}}");
    carry(hosts, links);
    CHECK_TEXT(value_of(&hosts[2], reference, 0), "[{\"count\":0}]");
    commit_put(&hosts[0], object, BOARD_NOTES, "{\"id\":1}");
    carry(hosts, links);
    CHECK_TEXT(value_of(&hosts[2], reference, 0), "[{\"count\":1}]");
    chordal_release(hosts[2].host, reference);
    for (int i = 0; i < 4; i++) chordal_release(hosts[(i + 1) / 2].host, links[i]);
    for (int i = 0; i < 3; i++) test_host_close(&hosts[i]);
}

TEST(done) {
    if (store_folder[0]) remove_store();
}

/* A row may be as deep as the host allows, but in a list it is deeper: that is told as what it is. */
TEST(a_row_that_is_too_deep) {
    static const char held[] = "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"query\":{}}";
    new_store();
    test_host_open(&h, (chordal_host_options){.store = store_path, .depth_limit = 8});
    provide(&h, BOARD);
    chordal_id object = object_in(&h, "board", "{\"name\":\"a\"}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"data\":[[[[[[]]]]]]}");
    test_poll(&h);
    chordal_id reference = get(&h, "chordal.query", held);
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"data\":[[[[[[[]]]]]]]}"); /* a cell changes */
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DEPTH);
    chordal_release(h.host, reference);
    test_poll(&h);
    reference = get(&h, "chordal.query", held);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DEPTH);
    commit_row(&h, chordal_transaction_remove, object, BOARD_NOTES, "1");
    chordal_release(h.host, reference);
    test_poll(&h);
    reference = get(&h, "chordal.query", held);
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":2,\"data\":[[[[[[[]]]]]]]}"); /* a row comes */
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DEPTH);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

TESTS({"rows_follow_commits", rows_follow_commits}, {"counts_follow_commits", counts_follow_commits},
      {"a_limit_is_filled_again", a_limit_is_filled_again}, {"each_commit_shows_its_own", each_commit_shows_its_own},
      {"held_in_the_middle", held_in_the_middle}, {"a_row_that_is_too_deep", a_row_that_is_too_deep},
      {"a_row_costs_the_same_among_many", a_row_costs_the_same_among_many},
      {"it_needs_its_object", it_needs_its_object}, {"queries_that_cannot_be_held", queries_that_cannot_be_held},
      {"names_that_are_the_hosts_own", names_that_are_the_hosts_own}, {"as_queries_say", as_queries_say},
      {"the_guard_of_its_object", the_guard_of_its_object},
      {"a_host_without_a_store_has_none", a_host_without_a_store_has_none},
      {"a_provider_that_was_restarted", a_provider_that_was_restarted},
      {"a_query_finds_its_object_behind_a_relay", a_query_finds_its_object_behind_a_relay}, {"done", done})
