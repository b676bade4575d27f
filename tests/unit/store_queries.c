/* store_queries.c: queries over rows that are stored, prepared and written in a transaction; a model judges the same
 * conditions and orders on random rows. */
#include "tables.h"

static test_host h;

#define TYPE                                                                                                           \
    "{\"name\":\"q\",\"keep\":true,\"members\":[{\"name\":\"rows\",\"kind\":\"table\",\"columns\":{\"id\":"            \
    "\"integer\",\"n\":\"integer\",\"r\":\"real\",\"t\":\"text\",\"j\":\"json\",\"b\":\"bytes\"},\"key\":[\"id\"],"    \
    "\"indexes\":{\"by_n\":[\"n\"],\"by_t\":[\"t\",\"n\"]}}]}"

static chordal_id open_rows(void) {
    new_store();
    open_store(&h);
    provide(&h, TYPE);
    return object_in(&h, "q", "{}");
}

/* The ids of an answer's rows, "1 2 3"; its cursor in `cursor`, "" for none. */
static char cursor[512];

static const char *ids_of(const char *answer) {
    static char ids[4096];
    size_t len = 0;
    ids[0] = cursor[0] = 0;
    if (answer[0] != '{') return answer;
    for (const char *at = answer; (at = strstr(at, "{\"id\":")) != NULL; at++)
        len += (size_t)snprintf(ids + len, sizeof ids - len, len ? " %lld" : "%lld", atoll(at + 6));
    const char *after = strstr(answer, "\"after\":\"");
    if (after) snprintf(cursor, sizeof cursor, "%.*s", (int)strcspn(after + 9, "\""), after + 9);
    return ids;
}

static void put_rows(chordal_id object, const char *const *rows) {
    chordal_transaction *t = draft_on(&h);
    for (; *rows; rows++) put(t, object, 0, *rows);
    commit(t);
    test_poll(&h);
}

static const char *const few[] = {"{\"id\":1,\"n\":5,\"r\":1.5,\"t\":\"b\",\"j\":{},\"b\":\"AAE=\"}",
                                  "{\"id\":2,\"n\":null,\"r\":2,\"t\":\"a\"}",
                                  "{\"id\":3,\"n\":9007199254740993,\"t\":\"ab\",\"b\":\"AA==\"}",
                                  "{\"id\":4,\"n\":-1,\"r\":-0.25,\"t\":\"\"}",
                                  "{\"id\":5,\"n\":5,\"r\":1e300}",
                                  NULL};

TEST(conditions) {
    static const char *const cases[][2] = {
        {"{}", "1 2 3 4 5"},
        {"{\"where\":{\"eq\":[\"n\",5]}}", "1 5"},
        {"{\"where\":{\"ne\":[\"n\",5]}}", "2 3 4"},
        {"{\"where\":{\"not\":{\"eq\":[\"n\",5]}}}", "2 3 4"},
        {"{\"where\":{\"not\":{\"ne\":[\"n\",5]}}}", "1 5"},
        {"{\"where\":{\"lt\":[\"n\",5]}}", "4"},
        {"{\"where\":{\"not\":{\"lt\":[\"n\",5]}}}", "1 2 3 5"},
        {"{\"where\":{\"gt\":[\"n\",4.5]}}", "1 3 5"},
        {"{\"where\":{\"eq\":[\"n\",9007199254740992]}}", ""},
        {"{\"where\":{\"le\":[\"n\",9007199254740992]}}", "1 4 5"},
        {"{\"where\":{\"lt\":[\"n\",18446744073709551615]}}", "1 3 4 5"},
        {"{\"where\":{\"ge\":[\"n\",-1e300]}}", "1 3 4 5"},
        {"{\"where\":{\"eq\":[\"r\",2]}}", "2"},
        {"{\"where\":{\"lt\":[\"r\",1.5]}}", "4"},
        {"{\"where\":{\"null\":\"r\"}}", "3"},
        {"{\"where\":{\"not\":{\"null\":\"j\"}}}", "1"},
        {"{\"where\":{\"prefix\":[\"t\",\"a\"]}}", "2 3"},
        {"{\"where\":{\"prefix\":[\"t\",\"\"]}}", "1 2 3 4"},
        {"{\"where\":{\"not\":{\"prefix\":[\"t\",\"\"]}}}", "5"},
        {"{\"where\":{\"not\":{\"prefix\":[\"t\",\"a\"]}}}", "1 4 5"},
        {"{\"where\":{\"gt\":[\"t\",\"a\"]}}", "1 3"},
        {"{\"where\":{\"in\":[\"id\",[5,1,7,1]]}}", "1 5"},
        {"{\"where\":{\"in\":[\"id\",[]]}}", ""},
        {"{\"where\":{\"not\":{\"in\":[\"n\",[5]]}}}", "2 3 4"},
        {"{\"where\":{\"gt\":[\"b\",\"AA==\"]}}", "1"},
        {"{\"where\":{\"and\":[{\"eq\":[\"n\",5]},{\"null\":\"t\"}]}}", "5"},
        {"{\"where\":{\"or\":[{\"eq\":[\"id\",2]},{\"eq\":[\"id\",4]}]}}", "2 4"},
        {"{\"where\":{\"not\":{\"or\":[{\"eq\":[\"id\",2]},{\"gt\":[\"n\",0]}]}}}", "4"},
        {"{\"where\":{\"and\":[]}}", "1 2 3 4 5"},
        {"{\"where\":{\"or\":[]}}", ""},
        {"{\"order\":[\"n\"]}", "2 4 1 5 3"},
        {"{\"order\":[[\"n\",\"desc\"]]}", "3 5 1 4 2"},
        {"{\"order\":[[\"n\",\"asc\"],[\"t\",\"desc\"]]}", "2 4 1 5 3"},
        {"{\"order\":[\"t\"],\"limit\":2}", "5 4"},
        {"{\"order\":[\"b\",[\"id\",\"desc\"]]}", "5 4 2 3 1"},
    };
    chordal_id object = open_rows();
    put_rows(object, few);
    chordal_transaction *t = draft_on(&h), *own = draft_on(&h);
    for (size_t i = 0; few[i]; i++) put(own, object, 0, few[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = ids_of(query_of(&h, object, 0, cases[i][0]));
        if (strcmp(found, cases[i][1])) CHECK_FAIL("%s: %s, not %s", cases[i][0], found, cases[i][1]);
        CHECK_TEXT(ids_of(query_in(t, object, 0, cases[i][0])), cases[i][1]);
        CHECK_TEXT(ids_of(query_in(own, object, 0, cases[i][0])), cases[i][1]);
    }
    chordal_transaction_abort(t);
    chordal_transaction_abort(own);
    test_host_close(&h);
}

TEST(counts_and_sums) {
    static const char *const cases[][2] = {
        {"{\"count\":true}", "{\"rows\":[{\"count\":5}],\"after\":null}"},
        {"{\"count\":true,\"where\":{\"eq\":[\"id\",9]}}", "{\"rows\":[{\"count\":0}],\"after\":null}"},
        {"{\"sum\":\"n\"}", "{\"rows\":[{\"sum\":9007199254741002}],\"after\":null}"},
        {"{\"sum\":\"r\",\"where\":{\"lt\":[\"r\",10]}}", "{\"rows\":[{\"sum\":3.25}],\"after\":null}"},
        {"{\"group\":[\"n\"]}",
         "{\"rows\":[{\"group\":{\"n\":null},\"count\":1},{\"group\":{\"n\":-1},\"count\":1},"
         "{\"group\":{\"n\":5},\"count\":2},{\"group\":{\"n\":9007199254740993},\"count\":1}],\"after\":null}"},
        {"{\"group\":[\"n\",\"t\"],\"sum\":\"id\",\"where\":{\"eq\":[\"n\",5]}}",
         "{\"rows\":[{\"group\":{\"n\":5,\"t\":null},\"sum\":5},{\"group\":{\"n\":5,\"t\":\"b\"},\"sum\":1}],"
         "\"after\":null}"},
        {"{\"group\":[\"n\"],\"where\":{\"eq\":[\"id\",9]}}", "{\"rows\":[],\"after\":null}"},
    };
    chordal_id object = open_rows();
    put_rows(object, few);
    chordal_transaction *own = draft_on(&h);
    for (size_t i = 0; few[i]; i++) put(own, object, 0, few[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_TEXT(query_of(&h, object, 0, cases[i][0]), cases[i][1]);
        CHECK_TEXT(query_in(own, object, 0, cases[i][0]), cases[i][1]);
    }
    put(own, object, 0, "{\"id\":6,\"n\":9223372036854775807}");
    put(own, object, 0, "{\"id\":7,\"n\":9223372036854775807}");
    CHECK_TEXT(query_in(own, object, 0, "{\"sum\":\"n\"}"),
               "{\"rows\":[{\"sum\":1.8455751272964293e19}],\"after\":null}");
    put(own, object, 0, "{\"id\":8,\"n\":-9223372036854775808}");
    CHECK_TEXT(query_in(own, object, 0, "{\"sum\":\"n\"}"),
               "{\"rows\":[{\"sum\":9232379236109516808}],\"after\":null}");
    put(own, object, 0, "{\"id\":9,\"n\":-9223372036854775808}");
    put(own, object, 0, "{\"id\":3,\"n\":0}");
    put(own, object, 0, "{\"id\":5,\"n\":-2}");
    CHECK_TEXT(query_in(own, object, 0, "{\"sum\":\"n\"}"), "{\"rows\":[{\"sum\":0}],\"after\":null}");
    chordal_transaction_abort(own);
    test_host_close(&h);
}

/* Answers are right in the middle of it all: stored, prepared, written here, each over the one before. */
TEST(sums_beyond_doubles) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"weight\":1.7e308}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":2,\"weight\":1.7e308}");
    test_poll(&h);
    uint8_t answer[64];
    size_t len;
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{\"sum\":\"weight\"}"), "range");
    CHECK_TEXT(row_words, "a sum is beyond the largest double");
    CHECK_INT(chordal_object_query(h.host, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED,
                                   (const uint8_t *)"\x81\xa3sum\xa6weight", 12, answer, sizeof answer, &len, NULL),
              CHORDAL_E_RANGE);
    test_host_close(&h);
}

/* What is wrong there is not what the program gave. */
TEST(a_damaged_cell_is_told_as_such) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"data\":[1]}");
    test_host_close(&h);
    store_execute("UPDATE chordal_table_1 SET c4 = x'92'");
    object = open_board(&h);
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{}"), "corrupt");
    CHECK_TEXT(row_words, "the store: a damaged cell in the column data");
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "corrupt");
    test_host_close(&h);
}

TEST(layers) {
    chordal_id object = open_rows();
    put_rows(object, few);
    commit_put(&h, object, 0, "{\"id\":6,\"n\":6}");
    commit_put(&h, object, 0, "{\"id\":1,\"n\":60}");
    commit_row(&h, chordal_transaction_remove, object, 0, "2");
    chordal_transaction *t = draft_on(&h);
    put(t, object, 0, "{\"id\":7,\"n\":7}");
    take_out(t, object, 0, "5");
    put(t, object, 0, "{\"id\":6,\"n\":-6}");
    CHECK_TEXT(ids_of(query_in(t, object, 0, "{}")), "1 3 4 6 7");
    CHECK_TEXT(ids_of(query_in(t, object, 0, "{\"order\":[\"n\"],\"limit\":3}")), "6 4 7");
    CHECK_TEXT(query_in(t, object, 0, "{\"count\":true}"), "{\"rows\":[{\"count\":5}],\"after\":null}");
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{}")), "1 2 3 4 5");
    commit(t);
    test_poll(&h);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{}")), "1 3 4 6 7");
    test_host_close(&h);
}

TEST(pages_go_on_while_rows_come_and_go) {
    char query[1024];
    chordal_id object = open_rows();
    put_rows(object, few);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{\"order\":[\"n\"],\"limit\":2}")), "2 4");
    snprintf(query, sizeof query, "{\"order\":[\"n\"],\"limit\":2,\"after\":\"%s\"}", cursor);
    commit_row(&h, chordal_transaction_remove, object, 0, "4");
    commit_put(&h, object, 0, "{\"id\":7,\"n\":4}");
    commit_put(&h, object, 0, "{\"id\":8,\"n\":-7}");
    test_poll(&h);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, query)), "7 1");
    snprintf(query, sizeof query, "{\"order\":[\"n\"],\"limit\":2,\"after\":\"%s\"}", cursor);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, query)), "5 3");
    CHECK_TEXT(cursor, "");
    test_host_close(&h);
}

TEST(a_page_is_one_statement) {
    chordal_id object = open_rows();
    put_rows(object, few);
    (void)query_of(&h, object, 0, "{\"where\":{\"gt\":[\"n\",1]}}");
    uint64_t before = test_counters(&h).statements;
    (void)query_of(&h, object, 0, "{\"where\":{\"gt\":[\"n\",2]}}");
    CHECK_INT(test_counters(&h).statements - before, 1);
    test_host_close(&h);
}

TEST(changes_where) {
    uint64_t count = 0;
    chordal_id object = open_rows();
    put_rows(object, few);
    chordal_transaction *t = draft_on(&h);
    static const char five[] = "{\"eq\":[\"n\",5]}", set[] = "{\"n\":6,\"t\":\"six\"}", key[] = "{\"id\":6}";
#define WHERE(text) CHORDAL_FORMAT_JSON, (const uint8_t *)(text), strlen(text)
    CHECK_INT(
        chordal_transaction_update_where(t, object, 0, WHERE(five), (const uint8_t *)set, strlen(set), &count, NULL),
        0);
    CHECK_INT(count, 2);
    CHECK_INT(
        chordal_transaction_update_where(t, object, 0, WHERE(five), (const uint8_t *)key, strlen(key), &count, NULL),
        CHORDAL_E_INVALID);
    CHECK_TEXT(ids_of(query_in(t, object, 0, "{\"where\":{\"eq\":[\"t\",\"six\"]}}")), "1 5");
    CHECK_INT(chordal_transaction_delete_where(t, object, 0, WHERE("{\"lt\":[\"n\",6]}"), &count, NULL), 0);
    CHECK_INT(count, 1);
    commit(t);
    test_poll(&h);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{}")), "1 2 3 5");
    CHECK(strstr(row_of(&h, object, 0, "1"), "\"r\":1.5") != NULL); /* the rest stays */
    t = draft_on(&h);
    CHECK_INT(chordal_transaction_delete_where(t, object, 0, WHERE("null"), &count, NULL), 0);
    CHECK_INT(count, 4);
    commit(t);
    test_poll(&h);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{}")), "");
    test_host_close(&h);
}

TEST(conflicts_by_query) {
    chordal_id ticket;
    chordal_id object = open_rows();
    put_rows(object, few);
    for (int change = 0; change < 2; change++) {
        chordal_transaction *t = draft_on(&h);
        (void)query_in(t, object, 0, "{\"where\":{\"eq\":[\"id\",1]}}");
        put(t, object, 0, "{\"id\":10}");
        if (change) commit_put(&h, object, 0, "{\"id\":11}");
        test_poll(&h);
        CHECK_INT(commit_code(t, &ticket), change ? CHORDAL_E_CONFLICT : 0);
    }
    test_host_close(&h);
}

/* What was asked of a table falls with any commit on it that fails. */
TEST(a_query_falls_with_what_it_saw) {
    chordal_id object = open_rows();
    put_rows(object, few);
    store_execute("CREATE TRIGGER poison BEFORE INSERT ON chordal_table_1 WHEN NEW.c3 = 'poison' "
                  "BEGIN SELECT RAISE(ABORT, 'no'); END");
    chordal_id poisoned = commit_put(&h, object, 0, "{\"id\":1,\"t\":\"poison\"}");
    chordal_transaction *t = draft_on(&h);
    (void)query_in(t, object, 0, "{\"count\":true}");
    put(t, object, 0, "{\"id\":12}");
    chordal_id asked = commit(t), blind = commit_put(&h, object, 0, "{\"id\":13}");
    test_poll(&h);
    CHECK_INT(ticket_code(&h, poisoned), CHORDAL_E_DISK_IO);
    CHECK_INT(ticket_code(&h, asked), CHORDAL_E_CONFLICT);
    CHECK(ticket_code(&h, blind) > 0);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, "{\"where\":{\"gt\":[\"id\",5]}}")), "13");
    test_host_close(&h);
}

TEST(queries_that_are_refused) {
    static const struct {
        const char *query;
        int code;
    } cases[] = {
        {"[]", CHORDAL_E_INVALID},
        {"{\"what\":1}", CHORDAL_E_INVALID},
        {"{\"where\":[]}", CHORDAL_E_INVALID},
        {"{\"where\":{}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[\"n\",1],\"ne\":[\"n\",1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"like\":[\"t\",\"a%\"]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[\"n\"]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[\"nothing\",1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[1,1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[\"n\",null]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"eq\":[\"n\",\"5\"]}}", CHORDAL_E_TYPE},
        {"{\"where\":{\"eq\":[\"t\",5]}}", CHORDAL_E_TYPE},
        {"{\"where\":{\"eq\":[\"b\",\"?\"]}}", CHORDAL_E_SYNTAX},
        {"{\"where\":{\"eq\":[\"j\",1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"prefix\":[\"n\",1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"in\":[\"n\",1]}}", CHORDAL_E_INVALID},
        {"{\"where\":{\"and\":{}}}", CHORDAL_E_INVALID},
        {"{\"order\":\"n\"}", CHORDAL_E_INVALID},
        {"{\"order\":[\"j\"]}", CHORDAL_E_INVALID},
        {"{\"order\":[\"n\",\"n\"]}", CHORDAL_E_INVALID},
        {"{\"order\":[[\"n\",\"up\"]]}", CHORDAL_E_INVALID},
        {"{\"order\":[\"n) DESC; DROP TABLE chordal_runs;--\"]}", CHORDAL_E_INVALID},
        {"{\"limit\":0}", CHORDAL_E_INVALID},
        {"{\"limit\":10001}", CHORDAL_E_INVALID},
        {"{\"limit\":1.5}", CHORDAL_E_INVALID},
        {"{\"sum\":\"t\"}", CHORDAL_E_INVALID},
        {"{\"group\":[]}", CHORDAL_E_INVALID},
        {"{\"group\":[\"n\",\"n\"]}", CHORDAL_E_INVALID},
        {"{\"count\":1}", CHORDAL_E_INVALID},
        {"{\"stale\":1}", CHORDAL_E_INVALID},
        {"{\"count\":true,\"limit\":5}", CHORDAL_E_INVALID},
        {"{\"after\":5}", CHORDAL_E_INVALID},
        {"{\"after\":\"\"}", CHORDAL_E_INVALID},
        {"{\"after\":\"AAAA\"}", CHORDAL_E_INVALID},
        {"{\"after\":\"?\"}", CHORDAL_E_INVALID},
    };
    char query[1024];
    chordal_id object = open_rows();
    put_rows(object, few);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *answer = query_of(&h, object, 0, cases[i].query);
        if (strcmp(answer, chordal_error_name(cases[i].code))) CHECK_FAIL("%s: %s", cases[i].query, answer);
        CHECK(row_words[0] != 0);
    }
    /* The cursor of another order, and one that was cut or changed. */
    (void)ids_of(query_of(&h, object, 0, "{\"order\":[\"n\"],\"limit\":1}"));
    snprintf(query, sizeof query, "{\"order\":[\"t\"],\"after\":\"%s\"}", cursor);
    CHECK_TEXT(query_of(&h, object, 0, query), "invalid");
    for (size_t at = 0; cursor[at]; at++) {
        char changed[512];
        memcpy(changed, cursor, sizeof changed);
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        snprintf(query, sizeof query, "{\"order\":[\"n\"],\"after\":\"%s\"}", changed);
        const char *answer = query_of(&h, object, 0, query);
        CHECK(strcmp(answer, "invalid") == 0 || answer[0] == '{');
        snprintf(query, sizeof query, "{\"order\":[\"n\"],\"after\":\"%.*s\"}", (int)at, cursor);
        CHECK_TEXT(query_of(&h, object, 0, query), "invalid");
    }
    test_host_close(&h);
}

/* "where" of so many terms, or so deep. */
static const char *nested(int depth) {
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, "{\"where\":");
    for (int i = 0; i < depth; i++) len += (size_t)snprintf(text + len, sizeof text - len, "{\"not\":");
    len += (size_t)snprintf(text + len, sizeof text - len, "{\"null\":\"n\"}");
    for (int i = 0; i < depth; i++) len += (size_t)snprintf(text + len, sizeof text - len, "}");
    snprintf(text + len, sizeof text - len, "}");
    return text;
}

static const char *wide(int count, bool values) {
    static char text[1 << 16];
    size_t len = (size_t)snprintf(text, sizeof text, values ? "{\"where\":{\"in\":[\"n\",[" : "{\"where\":{\"or\":[");
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? "," : "", values ? "1" : "{\"null\":\"n\"}");
    snprintf(text + len, sizeof text - len, values ? "]]}}" : "]}}");
    return text;
}

TEST(bounds) {
    chordal_id object = open_rows();
    put_rows(object, few);
    CHECK_TEXT(ids_of(query_of(&h, object, 0, nested(15))), "1 3 4 5");
    CHECK_TEXT(query_of(&h, object, 0, nested(16)), "limit");
    CHECK_TEXT(ids_of(query_of(&h, object, 0, wide(255, false))), "2");
    CHECK_TEXT(query_of(&h, object, 0, wide(256, false)), "limit");
    CHECK_TEXT(ids_of(query_of(&h, object, 0, wide(1000, true))), "");
    CHECK_TEXT(query_of(&h, object, 0, wide(1001, true)), "limit");
    test_host_close(&h);
}

/* More shapes than statements are kept. */
TEST(many_shapes) {
    chordal_id object = open_rows();
    put_rows(object, few);
    for (int round = 0; round < 2; round++)
        for (int i = 1; i < 80; i++) CHECK_TEXT(ids_of(query_of(&h, object, 0, wide(i, false))), "2");
    test_host_close(&h);
}

/* ---- the model ---- */

#define ROWS 40

typedef struct model_row {
    bool there, has_n, has_r, has_t;
    int64_t n;
    double r;
    const char *t;
} model_row;

static model_row model[ROWS];
static uint64_t seed;

static uint32_t random_below(uint32_t limit) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % limit);
}

static const int64_t integers[] = {0, 1, -1, 5, 9007199254740992, 9007199254740993, INT64_MAX, INT64_MIN};
static const double reals[] = {0, 0.5, -1.5, 5, 9007199254740992.0, 1e300, -1e300, 1e-5};
static const char *const texts[] = {"", "a", "ab", "abc", "b", "\xc3\xa9", "\xf0\x9f\x98\x80", "B"};

static void random_row(chordal_transaction *t, chordal_id object, int id) {
    char json[256], n[32] = "null", r[40] = "null", text[40] = "null";
    model_row *row = &model[id];
    *row = (model_row){.there = random_below(5) != 0,
                       .has_n = random_below(4) != 0,
                       .has_r = random_below(4) != 0,
                       .has_t = random_below(4) != 0,
                       .n = integers[random_below(8)],
                       .r = reals[random_below(8)],
                       .t = texts[random_below(8)]};
    if (row->has_n) snprintf(n, sizeof n, "%lld", (long long)row->n);
    if (row->has_r) snprintf(r, sizeof r, "%.17g", row->r);
    if (row->has_t) snprintf(text, sizeof text, "\"%s\"", row->t);
    snprintf(json, sizeof json, row->there ? "{\"id\":%d,\"n\":%s,\"r\":%s,\"t\":%s}" : "%d", id, n, r, text);
    act_on_row(row->there ? chordal_transaction_put : chordal_transaction_remove, t, object, 0, json);
}

/* A random condition is written and judged at once: for each row, whether it holds. */
typedef bool verdicts[ROWS];

static int compare_n(const model_row *row, long double value) {
    return ((long double)row->n > value) - ((long double)row->n < value);
}

static void judge(int comparison, int (*compare)(int id, int value), bool (*is_there)(int id), int value,
                  verdicts out) {
    for (int id = 0; id < ROWS; id++) {
        int order = is_there(id) ? compare(id, value) : 0;
        const bool results[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
        out[id] = is_there(id) ? results[comparison] : comparison == 1;
    }
}

static bool has_n(int id) {
    return model[id].has_n;
}
static bool has_r(int id) {
    return model[id].has_r;
}
static bool has_t(int id) {
    return model[id].has_t;
}
static int order_n(int id, int value) {
    return compare_n(&model[id], value < 8 ? (long double)integers[value] : (long double)reals[value - 8]);
}
static int order_r(int id, int value) {
    double other = value < 8 ? (double)integers[value] : reals[value - 8];
    return (model[id].r > other) - (model[id].r < other);
}
static int order_t(int id, int value) {
    int order = strcmp(model[id].t, texts[value % 8]);
    return (order > 0) - (order < 0);
}

static size_t write_value(char *out, size_t room, int column, int value) {
    if (column == 2) return (size_t)snprintf(out, room, "\"%s\"", texts[value % 8]);
    if (value < 8) return (size_t)snprintf(out, room, "%lld", (long long)integers[value]);
    return (size_t)snprintf(out, room, "%.17g", reals[value - 8]);
}

static size_t random_condition(char *out, size_t room, int depth, verdicts holds);

static size_t random_comparison(char *out, size_t room, verdicts holds) {
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"}, *const columns[] = {"n", "r", "t"};
    static int (*const orders[])(int, int) = {order_n, order_r, order_t};
    static bool (*const there[])(int) = {has_n, has_r, has_t};
    int column = (int)random_below(3), comparison = (int)random_below(6), value = (int)random_below(16);
    judge(comparison, orders[column], there[column], value, holds);
    size_t len = (size_t)snprintf(out, room, "{\"%s\":[\"%s\",", names[comparison], columns[column]);
    len += write_value(out + len, room - len, column, value);
    return len + (size_t)snprintf(out + len, room - len, "]}");
}

static size_t random_simple(char *out, size_t room, verdicts holds) {
    int which = (int)random_below(3), value = (int)random_below(8);
    const char *text = texts[value];
    for (int id = 0; id < ROWS; id++) {
        if (which == 0) holds[id] = !model[id].has_r;
        if (which == 1) holds[id] = model[id].has_t && strncmp(model[id].t, text, strlen(text)) == 0;
        if (which == 2) holds[id] = model[id].has_n && (model[id].n == integers[value] || model[id].n == 5);
    }
    if (which == 0) return (size_t)snprintf(out, room, "{\"null\":\"r\"}");
    if (which == 1) return (size_t)snprintf(out, room, "{\"prefix\":[\"t\",\"%s\"]}", text);
    return (size_t)snprintf(out, room, "{\"in\":[\"n\",[%lld,5]]}", (long long)integers[value]);
}

static size_t random_many(char *out, size_t room, int depth, verdicts holds) {
    bool all = random_below(2);
    int count = (int)random_below(4);
    size_t len = (size_t)snprintf(out, room, "{\"%s\":[", all ? "and" : "or");
    for (int id = 0; id < ROWS; id++) holds[id] = all;
    for (int i = 0; i < count; i++) {
        verdicts inner;
        len += (size_t)snprintf(out + len, room - len, i ? "," : "");
        len += random_condition(out + len, room - len, depth - 1, inner);
        for (int id = 0; id < ROWS; id++) holds[id] = all ? holds[id] && inner[id] : holds[id] || inner[id];
    }
    return len + (size_t)snprintf(out + len, room - len, "]}");
}

static size_t random_condition(char *out, size_t room, int depth, verdicts holds) {
    uint32_t which = random_below(depth ? 6 : 3);
    if (which < 2) return random_comparison(out, room, holds);
    if (which == 2) return random_simple(out, room, holds);
    if (which < 5) return random_many(out, room, depth, holds);
    size_t len = (size_t)snprintf(out, room, "{\"not\":");
    len += random_condition(out + len, room - len, depth - 1, holds);
    for (int id = 0; id < ROWS; id++) holds[id] = !holds[id];
    return len + (size_t)snprintf(out + len, room - len, "}");
}

static struct {
    int column;
    bool down;
} ordering[3];
static int ordering_len;

static int order_rows(const void *a, const void *b) {
    const int left = *(const int *)a, right = *(const int *)b;
    const model_row *l = &model[left], *r = &model[right];
    int order = 0;
    for (int i = 0; i < ordering_len && !order; i++) {
        if (ordering[i].column == 0) order = l->has_n && r->has_n ? compare_n(l, r->n) : l->has_n - r->has_n;
        if (ordering[i].column == 1) order = l->has_r && r->has_r ? (l->r > r->r) - (l->r < r->r) : l->has_r - r->has_r;
        if (ordering[i].column == 2) order = l->has_t && r->has_t ? strcmp(l->t, r->t) : l->has_t - r->has_t;
        if (ordering[i].down) order = -order;
    }
    if (order) return order;
    order = (left > right) - (left < right);
    return ordering_len && ordering[ordering_len - 1].down ? -order : order;
}

static size_t random_order(char *out, size_t room) {
    static const char *const columns[] = {"n", "r", "t"};
    size_t len = (size_t)snprintf(out, room, "[");
    int first = (int)random_below(3);
    ordering_len = (int)random_below(4);
    for (int i = 0; i < ordering_len; i++) {
        ordering[i].column = (first + i) % 3;
        ordering[i].down = random_below(2);
        len += (size_t)snprintf(out + len, room - len, "%s[\"%s\",\"%s\"]", i ? "," : "", columns[ordering[i].column],
                                ordering[i].down ? "desc" : "asc");
    }
    return len + (size_t)snprintf(out + len, room - len, "]");
}

static const char *expected_ids(const verdicts holds) {
    static char text[1024];
    int ids[ROWS], count = 0;
    size_t len = 0;
    text[0] = 0;
    for (int id = 0; id < ROWS; id++)
        if (model[id].there && holds[id]) ids[count++] = id;
    qsort(ids, (size_t)count, sizeof *ids, order_rows);
    for (int i = 0; i < count; i++) len += (size_t)snprintf(text + len, sizeof text - len, len ? " %d" : "%d", ids[i]);
    return text;
}

/* All pages of a query, one after the other. */
static const char *all_pages(chordal_transaction *t, chordal_id object, const char *where, const char *order,
                             uint32_t limit) {
    static char ids[1024], query[8192];
    size_t len = 0;
    char after[600] = "null";
    ids[0] = 0;
    do {
        snprintf(query, sizeof query, "{\"where\":%s,\"order\":%s,\"limit\":%u,\"after\":%s}", where, order, limit,
                 after);
        const char *page = ids_of(t ? query_in(t, object, 0, query) : query_of(&h, object, 0, query));
        len += (size_t)snprintf(ids + len, sizeof ids - len, len && *page ? " %s" : "%s", page);
        snprintf(after, sizeof after, "\"%s\"", cursor);
    } while (cursor[0]);
    return ids;
}

static void compare_with_model(chordal_transaction *t, chordal_id object) {
    char where[4096], order[256];
    verdicts holds;
    random_condition(where, sizeof where, 3, holds);
    random_order(order, sizeof order);
    const char *expected = expected_ids(holds);
    const char *found = all_pages(t, object, where, order, 1 + random_below(12));
    if (strcmp(found, expected)) CHECK_FAIL("seed %" PRIu64 ": %s %s: %s, not %s", seed, where, order, found, expected);
}

TEST(as_the_model_says) {
    chordal_id object = open_rows();
    for (int round = 0; round < 30 && !check_failures; round++) {
        for (int stage = 0; stage < 3; stage++) { /* stored, prepared, and in the transaction */
            chordal_transaction *t = draft_on(&h);
            for (int i = 0; i < ROWS / 3; i++) random_row(t, object, (int)random_below(ROWS));
            if (stage == 2) {
                for (int i = 0; i < 20; i++) compare_with_model(t, object);
                commit(t);
                continue;
            }
            commit(t);
            if (stage == 0) test_poll(&h);
        }
        test_poll(&h);
        for (int i = 0; i < 20; i++) compare_with_model(NULL, object);
        forget_events(&h);
    }
    test_host_close(&h);
}

TEST(done) {
    remove_store();
}

TESTS({"conditions", conditions}, {"counts_and_sums", counts_and_sums}, {"sums_beyond_doubles", sums_beyond_doubles},
      {"a_damaged_cell_is_told_as_such", a_damaged_cell_is_told_as_such}, {"layers", layers},
      {"pages_go_on_while_rows_come_and_go", pages_go_on_while_rows_come_and_go},
      {"a_page_is_one_statement", a_page_is_one_statement}, {"changes_where", changes_where},
      {"conflicts_by_query", conflicts_by_query}, {"a_query_falls_with_what_it_saw", a_query_falls_with_what_it_saw},
      {"queries_that_are_refused", queries_that_are_refused}, {"bounds", bounds}, {"many_shapes", many_shapes},
      {"as_the_model_says", as_the_model_says}, {"done", done})
