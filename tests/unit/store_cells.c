/* store_cells.c: damage in the rows of tables, rows whose object ended, sums that keep nothing of what went. */
#include "tables.h"

#include "chordal/dispatch.h"
#include "store/query.h"

#include <math.h>

static test_host h;

/* ---- damage ---- */

#define GOOD "{\"id\":1,\"title\":\"t\",\"weight\":0.5,\"data\":{\"a\":[1]},\"blob\":\"AAAA\"}"
#define OF_ROW "\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"key\":[1]}"
#define OF_NOTHING "\"type\":null,\"params\":null,\"member\":null,\"key\":null}"
#define CELL(column)                                                                                                   \
    "{\"place\":\"chordal_table_1 1\",\"detail\":\"the store: a damaged cell in the column " column "\","

static void damage(const char *sql) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, GOOD);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":2}");
    commit_put(&h, object, BOARD_CELLS, "{\"x\":\"x\",\"y\":\"YQ==\"}");
    test_host_close(&h);
    if (sql) store_execute(sql);
}

/* All faults, page by page, as one text of lists. */
static const char *faults(void) {
    static char text[1 << 16];
    uint64_t next = 0;
    text[0] = 0;
    do {
        chordal_value *value = NULL;
        int code = chordal_store_check(h.host, next, 1, &value, &next, NULL);
        if (code) return chordal_error_name(code);
        const char *page = json_of(value);
        if (strcmp(page, "[]") != 0) strncat(text, page, sizeof text - strlen(text) - 1);
    } while (next);
    return text;
}

TEST(damaged_cells_are_told_with_their_row) {
    static const struct {
        const char *sql, *told;
    } cases[] = {
        {NULL, ""},
        {"UPDATE chordal_table_1 SET c4 = x'92' WHERE c0 = 1", "[" CELL("data") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c4 = x'9001' WHERE c0 = 1", "[" CELL("data") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c4 = x'82a16101a16102' WHERE c0 = 1", "[" CELL("data") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c4 = x'' WHERE c0 = 1", "[" CELL("data") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c4 = x'c40100' WHERE c0 = 1", "[" CELL("data") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c1 = CAST(x'61ff' AS TEXT) WHERE c0 = 1", "[" CELL("title") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET c3 = 9e999 WHERE c0 = 1", "[" CELL("weight") OF_ROW "]"},
        {"UPDATE chordal_table_1 SET v = 7 WHERE c0 = 1",
         "[{\"place\":\"chordal_table_1 1\",\"detail\":\"a row of a version that its table never had\"," OF_ROW "]"},
        {"UPDATE chordal_table_1 SET object = 9",
         "[{\"place\":\"chordal_table_1 9\",\"detail\":\"rows of no object of the table's type\"," OF_NOTHING "]"},
        {"UPDATE chordal_owners SET type = x'78'",
         "[{\"place\":\"chordal_table_1 1\",\"detail\":\"rows of no object of the table's type\"," OF_NOTHING "]"
         "[{\"place\":\"chordal_table_2 1\",\"detail\":\"rows of no object of the table's type\"," OF_NOTHING "]"},
        {"UPDATE chordal_table_2 SET c0 = CAST(x'ff' AS TEXT)",
         "[{\"place\":\"chordal_table_2 1\",\"detail\":\"the store: a damaged cell in the column "
         "x\",\"type\":\"board\","
         "\"params\":{\"name\":\"a\"},\"member\":\"cells\",\"key\":null}]"},
        {"UPDATE chordal_table_2 SET c0 = printf('%5000d', 1)", NULL}, /* a long key, which is told as it is */
        {"DROP TABLE chordal_table_1",
         "[{\"place\":null,\"detail\":\"the store: no such table: chordal_table_1\"," OF_NOTHING "]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        damage(cases[i].sql);
        test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
        const char *told = faults();
        if (cases[i].told) CHECK_TEXT(told, cases[i].told);
        if (!cases[i].told) CHECK(strstr(told, "\"the key of a row is longer than keys are\"") != NULL);
        test_host_close(&h);
    }
}

/* A value of another type, or an index that has other rows than its table, is found by SQLite. */
TEST(what_sqlite_finds) {
    damage("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ', STRICT', '') WHERE name = "
           "'chordal_table_1'; PRAGMA writable_schema = RESET");
    store_execute("UPDATE chordal_table_1 SET c2 = 'one' WHERE c0 = 1");
    store_execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ', STRICT' WHERE name = "
                  "'chordal_table_1'; PRAGMA writable_schema = RESET");
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    CHECK(strstr(faults(), "non-INTEGER value in chordal_table_1.c2") != NULL);
    test_host_close(&h);
    damage("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
           "WHERE name = 'chordal_owners') WHERE name = 'chordal_index_1_0'; PRAGMA writable_schema = RESET");
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    CHECK(strstr(faults(), "\"place\":null") != NULL);
    test_host_close(&h);
}

TEST(no_more_faults_are_told_than_bounded) {
    new_store();
    chordal_id object = open_board(&h);
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < 300; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"data\":%d}", i, i);
        put(t, object, BOARD_NOTES, json);
    }
    commit(t);
    test_poll(&h);
    test_host_close(&h);
    store_execute("UPDATE chordal_table_1 SET c4 = x'c1'");
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    const char *told = faults();
    int count = 0;
    for (const char *at = told; (at = strstr(at, "\"place\"")) != NULL; at++) count++;
    CHECK_INT(count, CHORDAL__CHECK_FAULTS + 1);
    CHECK(strstr(told, "the table has more faults than are told") != NULL);
    test_host_close(&h);
}

/* Many rows of many objects are looked at over several pages, each once. */
TEST(pages_end_between_objects) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1}");
    test_host_close(&h);
    store_execute(
        "WITH RECURSIVE n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 6) INSERT INTO "
        "chordal_owners(id, type, key, params) SELECT i, type, CAST(i AS BLOB), params FROM n, chordal_owners "
        "WHERE chordal_owners.id = 1;"
        "WITH RECURSIVE n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 36000) INSERT INTO "
        "chordal_table_1(object, c0, c4, v) SELECT 1 + i % 6, i, iif(i % 6000 = 5, x'c1', NULL), 1 FROM n");
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    int pages = 0, count = 0;
    uint64_t next = 0;
    do {
        chordal_value *value = NULL;
        uint64_t before = next;
        CHECK_INT(chordal_store_check(h.host, next, 0, &value, &next, NULL), 0);
        CHECK(!next || next > before);
        for (const char *at = json_of(value); (at = strstr(at, "column data")) != NULL; at++) count++;
        pages++;
    } while (next && pages < 20);
    CHECK_INT(count, 6);
    CHECK_INT(pages, 5); /* the whole, objects 1 and 2, 3 and 4, 5 and 6, the other table */
    test_host_close(&h);
}

static int packed_code(chordal_id object, uint32_t member, const char *query, size_t len) {
    static uint8_t answer[4096];
    size_t answer_len;
    chordal_error error = {0};
    int code = chordal_object_query(h.host, object, member, CHORDAL_FORMAT_PACKED, (const uint8_t *)query, len, answer,
                                    sizeof answer, &answer_len, &error);
    memcpy(row_words, error.detail, sizeof row_words);
    return code;
}

/* No answer has a damaged cell in it, in whatever form it is asked for; others are as ever. */
TEST(a_damaged_cell_is_in_no_answer) {
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"UPDATE chordal_table_1 SET c4 = x'92' WHERE c0 = 1", "the store: a damaged cell in the column data"},
        {"UPDATE chordal_table_1 SET c1 = CAST(x'61ff' AS TEXT) WHERE c0 = 1",
         "the store: a damaged cell in the column title"},
        {"UPDATE chordal_table_1 SET c3 = -9e999 WHERE c0 = 1", "the store: a damaged cell in the column weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        damage(cases[i].sql);
        chordal_id object = open_board(&h);
        CHECK_INT(packed_code(object, BOARD_NOTES, "\x80", 1), CHORDAL_E_CORRUPT);
        CHECK_TEXT(row_words, cases[i].words);
        CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{}"), "corrupt");
        CHECK_TEXT(row_words, cases[i].words);
        CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{\"sum\":\"weight\"}"), "corrupt");
        CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "corrupt");
        CHECK(strstr(row_of(&h, object, BOARD_NOTES, "2"), "\"id\":2") != NULL);
        CHECK(strstr(query_of(&h, object, BOARD_NOTES, "{\"where\":{\"eq\":[\"id\",2]}}"), "\"id\":2") != NULL);
        chordal_transaction *t = draft_on(&h);
        CHECK_TEXT(row_in(t, object, BOARD_NOTES, "1"), "corrupt");
        CHECK_INT(row_code(chordal_transaction_patch, t, object, BOARD_NOTES, "{\"id\":1,\"done\":1}"),
                  CHORDAL_E_CORRUPT);
        CHECK_TEXT(query_in(t, object, BOARD_NOTES, "{}"), "corrupt");
        put(t, object, BOARD_NOTES, GOOD); /* what is put whole is well again */
        commit(t);
        test_poll(&h);
        CHECK_INT(packed_code(object, BOARD_NOTES, "\x80", 1), 0);
        CHECK_TEXT(faults(), "");
        test_host_close(&h);
    }
}

/* ---- rows of an object that ended ---- */

static chordal_id open_swept(void) {
    chordal_id object = open_board(&h);
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < 600; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"title\":\"old\"}", i);
        put(t, object, BOARD_NOTES, json);
        snprintf(json, sizeof json, "{\"x\":\"%d\",\"y\":\"YQ==\"}", i);
        if (i < 300) put(t, object, BOARD_CELLS, json);
    }
    commit(t);
    test_poll(&h);
    return object;
}

static int64_t rows_left(void) {
    return store_number("SELECT (SELECT count(*) FROM chordal_table_1 WHERE c1 = 'old') + "
                        "(SELECT count(*) FROM chordal_table_2)");
}

static void turn(void) {
    static _Alignas(8) uint8_t buffer[1 << 12];
    size_t len;
    CHECK_INT(chordal_host_poll(h.host, 0, buffer, sizeof buffer, &len, NULL), 0);
}

static void sweep(void) {
    for (int i = 0; i < 50 && chordal_host_deadline(h.host) == 0; i++) turn();
}

TEST(rows_of_an_object_that_ended_go_by_and_by) {
    new_store();
    chordal_id object = open_swept();
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    CHECK_INT(rows_left(), 900);
    object = object_in(&h, "board", "{\"name\":\"a\"}");
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{\"count\":true}"), "{\"rows\":[{\"count\":0}],\"after\":null}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":7,\"title\":\"new\"}");
    int turns = 0;
    for (int64_t before = rows_left(), left; before; before = left, turns++) {
        CHECK_INT(chordal_host_deadline(h.host), 0);
        turn();
        left = rows_left();
        CHECK(before - left <= CHORDAL__CLEAR_ROWS);
        if (turns > 20) break;
    }
    sweep();
    CHECK_INT(rows_left(), 0);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_owners"), 1);
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{\"count\":true}"), "{\"rows\":[{\"count\":1}],\"after\":null}");
    CHECK(strstr(row_of(&h, object, BOARD_NOTES, "7"), "new") != NULL);
    CHECK(chordal_host_deadline(h.host) == CHORDAL_NEVER);
    test_host_close(&h);
}

/* Whatever comes between, nobody sees them, and the next opening goes on; the type need not be there. */
TEST(sweeping_goes_on_after_an_opening) {
    uint64_t next;
    chordal_value *value = NULL;
    new_store();
    chordal_id object = open_swept();
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    turn();
    int64_t left = rows_left();
    CHECK(left > 0);
    test_host_close(&h);
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    CHECK_INT(chordal_store_owners(h.host, 0, 0, &value, &next, NULL), 0);
    CHECK_TEXT(json_of(value), "[]");
    CHECK_TEXT(faults(), "");
    provide(&h, BOARD);
    object = object_in(&h, "board", "{\"name\":\"a\"}");
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{}"), "{\"rows\":[],\"after\":null}");
    test_poll(&h);
    CHECK_INT(rows_left(), left);
    test_host_close(&h);
    open_store(&h);
    sweep();
    CHECK_INT(rows_left(), 0);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_owners"), 0);
    test_host_close(&h);
}

/* A table with a key of several columns, one of which is not there any more: by the key alone, a piece at a time. */
TEST(a_sweep_looks_at_no_other_rows) {
    new_store();
    chordal_id object = open_swept();
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM (SELECT 1 FROM pragma_table_info('chordal_table_2') WHERE pk)"), 3);
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    char plan[1024] = "";
    CHECK_INT(sqlite3_open_v2(store_path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(sqlite,
                                 "EXPLAIN QUERY PLAN DELETE FROM chordal_table_2 WHERE (\"object\",\"c0\",\"c1\") IN "
                                 "(SELECT \"object\",\"c0\",\"c1\" FROM chordal_table_2 WHERE object=1 LIMIT 256)",
                                 -1, &statement, NULL),
              SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        strncat(plan, (const char *)sqlite3_column_text(statement, 3), sizeof plan - strlen(plan) - 1);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    CHECK(strstr(plan, "SCAN") == NULL);
    if (strstr(plan, "SCAN")) CHECK_FAIL("%s", plan);
}

/* ---- sums ---- */

static double sum_of(const double *numbers, size_t count) {
    chordal__sum sum = {{0}};
    for (size_t i = 0; i < count; i++) chordal__sum_add(&sum, numbers[i], 1);
    return chordal__sum_value(&sum);
}
#define SUM(...) sum_of((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

TEST(sums_are_exact) {
    double tiny = 4.9406564584124654e-324, two_53 = 9007199254740992.0;
    CHECK(SUM(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1) == 1.0);
    CHECK(SUM(1e16, 1, -1e16) == 1);
    CHECK(SUM(1e308, 1e308, -1e308) == 1e308);
    CHECK(SUM(1e308, 1e308) == HUGE_VAL && SUM(-1e308, -1e308) == -HUGE_VAL);
    CHECK(SUM(1.7976931348623157e308, 1e291) == 1.7976931348623157e308);
    CHECK(SUM(1.7976931348623157e308, 9.9792015476735991e291) == HUGE_VAL); /* half a unit up, to the even */
    CHECK(SUM(two_53, 1) == two_53 && SUM(two_53, 1, tiny) == two_53 + 2 && SUM(two_53 + 2, 1) == two_53 + 4);
    CHECK(SUM(-two_53, -1, -tiny) == -two_53 - 2);
    CHECK(SUM(tiny, tiny, -3 * tiny) == -tiny);
    CHECK(SUM(2.2250738585072014e-308, -tiny) == 2.2250738585072009e-308);
    CHECK(SUM(0.0, -0.0) == 0 && !signbit(SUM(-0.0)));
}

static uint64_t random_state = 7;

static double random_real(void) {
    double real;
    do {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = random_state ^ random_state >> 29;
        memcpy(&real, &bits, sizeof real);
    } while (!isfinite(real));
    return real;
}

/* What is added in one order and taken away in another leaves each state as it was. */
TEST(sums_keep_nothing_of_what_went) {
    enum { COUNT = 500 };
    static double numbers[COUNT];
    chordal__sum sum = {{0}}, none = {{0}}, half;
    for (int i = 0; i < COUNT; i++) numbers[i] = random_real();
    for (int i = 0; i < COUNT; i++) {
        if (i == COUNT / 2) half = sum;
        chordal__sum_add(&sum, numbers[i], 1);
    }
    for (int i = COUNT / 2; i < COUNT; i++) chordal__sum_add(&sum, numbers[COUNT - 1 - (i - COUNT / 2)], -1);
    CHECK(memcmp(&sum, &half, sizeof sum) == 0);
    for (int i = 0; i < COUNT / 2; i++) {
        chordal__sum one = {{0}};
        chordal__sum_add(&one, numbers[i], 1);
        CHECK(chordal__sum_value(&one) == numbers[i]);
        chordal__sum_add(&sum, numbers[i], -1);
    }
    CHECK(memcmp(&sum, &none, sizeof sum) == 0);
}

#define LIVE(query) "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":\"notes\",\"query\":" query "}"

TEST(live_sums_of_reals) {
    new_store();
    chordal_id object = open_board(&h);
    chordal_id total = get(&h, "chordal.query", LIVE("{\"sum\":\"weight\"}")),
               groups = get(&h, "chordal.query", LIVE("{\"group\":[\"done\"],\"sum\":\"weight\"}"));
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"sum\":0}]");
    for (int i = 0; i < 10; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%d,\"weight\":0.1,\"done\":%d}", i, i % 2);
        commit_put(&h, object, BOARD_NOTES, json);
        test_poll(&h);
    }
    CHECK_TEXT(value_of(&h, total, 0), "[{\"sum\":1}]");
    CHECK_TEXT(value_of(&h, groups, 0), "[{\"group\":{\"done\":0},\"sum\":0.5},{\"group\":{\"done\":1},\"sum\":0.5}]");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":20,\"weight\":1e300}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":3,\"weight\":null}");
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"sum\":1e300}]");
    commit_row(&h, chordal_transaction_remove, object, BOARD_NOTES, "20");
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"sum\":0.9}]");
    CHECK_TEXT(query_of(&h, object, BOARD_NOTES, "{\"sum\":\"weight\"}"), "{\"rows\":[{\"sum\":0.9}],\"after\":null}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":21,\"weight\":1.7e308}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":22,\"weight\":1.7e308}");
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, total), CHORDAL_REFERENCE_FAILED);
    CHECK_TEXT(chordal_error_name(last_event(&h, CHORDAL_EVENT_REFERENCE)->as.reference.code), "range");
    chordal_id again = get(&h, "chordal.query", LIVE("{\"sum\":\"weight\",\"where\":{\"gt\":[\"weight\",1]}}"));
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, again), CHORDAL_REFERENCE_FAILED);
    commit_row(&h, chordal_transaction_remove, object, BOARD_NOTES, "22");
    test_poll(&h);
    CHECK_INT(chordal_reference_retry(h.host, total, NULL), 0);
    test_poll(&h);
    CHECK_TEXT(value_of(&h, total, 0), "[{\"sum\":1.7e308}]");
    chordal_release(h.host, total);
    chordal_release(h.host, groups);
    chordal_release(h.host, again);
    test_host_close(&h);
}

/* ---- groups by bytes ---- */

TEST(groups_by_bytes) {
    static const uint8_t expected[] = "\x82\xa4rows\x91\x82\xa5group\x81\xa1y\xc4\x01"
                                      "a\xa5"
                                      "count\x01\xa5"
                                      "after\xc0";
    uint8_t answer[64];
    size_t len = 0;
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_CELLS, "{\"x\":\"x\",\"y\":\"YQ==\"}");
    test_poll(&h);
    CHECK_INT(chordal_object_query(h.host, object, BOARD_CELLS, CHORDAL_FORMAT_PACKED,
                                   (const uint8_t *)"\x81\xa5group\x91\xa1y", 10, answer, sizeof answer, &len, NULL),
              0);
    CHECK(len == sizeof expected - 1 && memcmp(answer, expected, len) == 0);
    CHECK_TEXT(query_of(&h, object, BOARD_CELLS, "{\"group\":[\"y\"]}"),
               "{\"rows\":[{\"group\":{\"y\":\"YQ==\"},\"count\":1}],\"after\":null}");
    test_host_close(&h);
}

/* ---- beside the owner ---- */

/* A live query there is an answer of the moment in which it was first held, until nobody holds it any more. */
TEST(a_live_query_beside_the_owner) {
    test_host beside;
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1}");
    test_poll(&h);
    test_host_open(&beside, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    provide(&beside, "{\"name\":\"board\",\"version\":1,\"params\":[\"name\"],\"members\":["
                     "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"
                     "{\"name\":\"notes\",\"kind\":\"table\"," ROWS_COLUMNS "}]}");
    chordal_id reference = get(&beside, "chordal.query", LIVE("{\"count\":true}"));
    test_poll(&beside);
    CHECK_TEXT(value_of(&beside, reference, 0), "[{\"count\":1}]");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":2}");
    test_poll(&h);
    chordal_id second = get(&beside, "chordal.query", LIVE("{\"count\":true}"));
    test_poll(&beside);
    CHECK_TEXT(value_of(&beside, reference, 0), "[{\"count\":1}]");
    CHECK_TEXT(value_of(&beside, second, 0), "[{\"count\":1}]");
    chordal_release(beside.host, reference);
    chordal_release(beside.host, second);
    test_poll(&beside);
    reference = get(&beside, "chordal.query", LIVE("{\"count\":true}"));
    test_poll(&beside);
    CHECK_TEXT(value_of(&beside, reference, 0), "[{\"count\":2}]");
    chordal_release(beside.host, reference);
    test_host_close(&beside);
    test_host_close(&h);
}

/* ---- words ---- */

TEST(where_a_store_is_missing) {
    chordal_error error = {0};
    chordal_host_options options = {.store = "missing-folder/s.db"};
    CHECK_INT(open_code(options, &error), CHORDAL_E_NOT_FOUND);
    CHECK_TEXT(error.detail, "the store cannot be locked: No such file or directory: ./missing-folder/s.db");
    options.store_flags = CHORDAL_STORE_READ_ONLY;
    CHECK_INT(open_code(options, &error), CHORDAL_E_NOT_FOUND);
    CHECK_TEXT(error.detail, "there is no store at ./missing-folder/s.db");
    static char path[3900];
    memset(path, 'x', sizeof path - 1);
    options.store = path, options.store_flags = 0;
    CHECK(open_code(options, &error) < 0);
    CHECK(strlen(error.detail) > 40);
}

static uint32_t made_version;

static void on_made(const chordal_request *request) {
    made_version = request->version;
}

/* A type table's function is told with which version the documents were written. */
TEST(made_is_told_the_version) {
    static const chordal_member members[] = {
        CHORDAL_DOCUMENT("title", "\"\""),
        CHORDAL_TABLE("rows", "{\"columns\":{\"id\":\"integer\"},\"key\":[\"id\"]}")};
    new_store();
    for (uint32_t version = 1; version <= 3; version++) {
        chordal_type type = {.name = "t", .version = version, .members = members, .members_len = 2, .made = on_made};
        chordal_dispatcher *dispatcher;
        test_host_open(&h, (chordal_host_options){.store = store_path});
        CHECK_INT(chordal_dispatcher_open(h.host, NULL, NULL, &dispatcher, NULL), 0);
        CHECK_INT(chordal_dispatcher_provide(dispatcher, &type, NULL), 0);
        made_version = 99;
        chordal_id object = 0;
        CHECK_INT(chordal_object_get(h.host, "t", 1, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &object, NULL), 0);
        CHECK_INT(chordal_dispatcher_turn(dispatcher, 0, NULL), 0);
        CHECK_INT(made_version, version - 1);
        set_json(&h, object, 0, "", version == 2 ? "2" : "1");
        test_poll(&h);
        chordal_dispatcher_close(dispatcher);
        test_host_close(&h);
    }
}

TEST(done) {
    remove_store();
}

TESTS({"damaged_cells_are_told_with_their_row", damaged_cells_are_told_with_their_row},
      {"what_sqlite_finds", what_sqlite_finds},
      {"no_more_faults_are_told_than_bounded", no_more_faults_are_told_than_bounded},
      {"pages_end_between_objects", pages_end_between_objects},
      {"a_damaged_cell_is_in_no_answer", a_damaged_cell_is_in_no_answer},
      {"rows_of_an_object_that_ended_go_by_and_by", rows_of_an_object_that_ended_go_by_and_by},
      {"sweeping_goes_on_after_an_opening", sweeping_goes_on_after_an_opening},
      {"a_sweep_looks_at_no_other_rows", a_sweep_looks_at_no_other_rows}, {"sums_are_exact", sums_are_exact},
      {"sums_keep_nothing_of_what_went", sums_keep_nothing_of_what_went}, {"live_sums_of_reals", live_sums_of_reals},
      {"groups_by_bytes", groups_by_bytes}, {"a_live_query_beside_the_owner", a_live_query_beside_the_owner},
      {"where_a_store_is_missing", where_a_store_is_missing}, {"made_is_told_the_version", made_is_told_the_version},
      {"done", done})
