/* store_read.c: what lies in a store is read back at a point, listed, followed, checked, put into a new one. */
#include "tables.h"

static test_host h;

#define HISTORY                                                                                                        \
    "{\"name\":\"notes\",\"version\":2,\"params\":[\"board\",\"side\"],\"history\":%s,\"deltas\":4,\"keep\":true,"     \
    "\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"               \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"}]}"
#define LUNCH "{\"side\":7,\"board\":\"lunch\"}"

static void open_with(uint32_t flags, const char *history) {
    char type[sizeof HISTORY + 16];
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = flags});
    snprintf(type, sizeof type, HISTORY, history);
    if (history[0]) provide(&h, type);
}

static chordal_id object_of(const char *params) {
    chordal_id object = 0;
    CHECK_INT(chordal_object_get(h.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)params, strlen(params),
                                 &object, NULL),
              0);
    test_poll(&h);
    return object;
}

static void settle_store(void) {
    for (int i = 0; i < 1000; i++) {
        test_poll(&h);
        if (chordal_host_deadline(h.host) != 0) return;
    }
    CHECK_FAIL("the store does not settle");
}

/* The value at a point as JSON, or the code's name. */
static const char *read_at(const char *params, const char *member, uint64_t at, uint64_t *out_commit) {
    chordal_value *value = NULL;
    chordal_error error = {0};
    int code = chordal_store_read(h.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)params, strlen(params),
                                  member, strlen(member), at, &value, out_commit, &error);
    return code ? chordal_error_name(code) : json_of(value);
}

typedef int list_function(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                          chordal_error *error);

static const char *page_of(list_function *list, uint64_t after, uint32_t limit, uint64_t *next) {
    chordal_value *value = NULL;
    chordal_error error = {0};
    *next = 99;
    int code = list(h.host, after, limit, &value, next, &error);
    return code ? chordal_error_name(code) : json_of(value);
}

static size_t count_page(list_function *list, uint64_t after, uint32_t limit, uint64_t *next) {
    chordal_value *value = NULL;
    chordal_cursor root;
    CHECK_INT(list(h.host, after, limit, &value, next, NULL), 0);
    chordal_cursor_root(value, &root);
    size_t count = (size_t)chordal_cursor_length(&root);
    chordal_value_unref(value);
    return count;
}

/* ---- reading at a point ---- */

/* Every value that a document ever had, beside a base every few commits, and gone with its retirement or not. */
TEST(every_point_is_there) {
    char text[32], expected[320];
    uint64_t commit;
    new_store();
    open_with(0, "\"all\"");
    chordal_id object = object_of(LUNCH);
    for (int i = 1; i <= 20; i++) {
        snprintf(text, sizeof text, "%d,", i);
        append_text(&h, object, NOTES_LIST, "/text", text);
        snprintf(text, sizeof text, "[%d]", i);
        set_json(&h, object, NOTES_TITLE, "", text);
        test_poll(&h);
    }
    char whole[256] = "";
    for (uint64_t i = 1; i <= 20; i++) {
        snprintf(text, sizeof text, "%d,", (int)i);
        strcat(whole, text);
        snprintf(expected, sizeof expected, "{\"entries\":[],\"text\":\"%s\"}", whole);
        CHECK_TEXT(read_at(LUNCH, "list", 2 * i - 1, &commit), expected);
        CHECK_INT(commit, 2 * i - 1);
        CHECK_TEXT(read_at(LUNCH, "list", 2 * i, &commit), expected);
        CHECK_INT(commit, 2 * i - 1);
    }
    CHECK_TEXT(read_at(LUNCH, "list", 0, &commit), expected);
    CHECK_TEXT(read_at(LUNCH, "list", 1 << 20, &commit), expected);
    CHECK_INT(commit, 39);
    CHECK_TEXT(read_at("{\"board\":\"lunch\",\"side\":7}", "list", 0, &commit), expected);
    CHECK_TEXT(read_at(LUNCH, "title", 11, &commit), "[5]");
    CHECK_TEXT(read_at(LUNCH, "title", 1, &commit), "not_found");
    CHECK_TEXT(read_at(LUNCH, "nothing", 0, &commit), "not_found");
    CHECK_TEXT(read_at("{\"board\":\"lunch\"}", "list", 0, &commit), "not_found");
    CHECK_TEXT(read_at("{\"board\":7,\"side\":\"lunch\"}", "list", 0, &commit), "not_found");
    CHECK_TEXT(read_at("[]", "list", 0, &commit), "params");
    CHECK_TEXT(read_at("{", "list", 0, &commit), "truncated");
    test_host_close(&h);
}

TEST(what_was_compacted_is_not_found) {
    uint64_t commit;
    new_store();
    open_with(0, "2");
    chordal_id object = object_of(LUNCH);
    for (int i = 1; i <= 30; i++) {
        append_text(&h, object, NOTES_LIST, "/text", "x");
        test_poll(&h);
    }
    settle_store();
    CHECK_TEXT(read_at(LUNCH, "list", 1, &commit), "not_found");
    for (uint64_t at = 29; at <= 30; at++) {
        CHECK_INT(strlen(read_at(LUNCH, "list", at, &commit)), strlen("{\"entries\":[],\"text\":\"\"}") + at);
        CHECK_INT(commit, at);
    }
    test_host_close(&h);
}

TEST(lives_that_ended_are_read) {
    uint64_t commit, next;
    new_store();
    open_with(0, "\"all\"");
    for (int life = 1; life <= 3; life++) {
        char json[16];
        chordal_id object = object_of(LUNCH);
        snprintf(json, sizeof json, "\"life %d\"", life);
        set_json(&h, object, NOTES_TITLE, "", json);
        set_json(&h, object, NOTES_LIST, "/text", json);
        test_poll(&h);
        if (life < 3) {
            CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
        }
        test_poll(&h);
    }
    CHECK_TEXT(read_at(LUNCH, "title", 1, &commit), "\"life 1\"");
    CHECK_TEXT(read_at(LUNCH, "title", 2, &commit), "\"life 1\"");
    CHECK_TEXT(read_at(LUNCH, "title", 3, &commit), "\"life 2\"");
    CHECK_TEXT(read_at(LUNCH, "list", 3, &commit), "not_found");
    CHECK_TEXT(read_at(LUNCH, "title", 0, &commit), "\"life 3\"");
    CHECK_TEXT(page_of(chordal_store_documents, 0, 1, &next),
               "[{\"type\":\"notes\",\"params\":{\"board\":\"lunch\",\"side\":7},\"member\":\"title\","
               "\"incarnation\":1,\"version\":2,\"created\":1,\"retired\":2,\"commit\":1}]");
    CHECK_TEXT(page_of(chordal_store_documents, 5, 7, &next),
               "[{\"type\":\"notes\",\"params\":{\"board\":\"lunch\",\"side\":7},\"member\":\"list\","
               "\"incarnation\":3,\"version\":2,\"created\":6,\"retired\":null,\"commit\":6}]");
    CHECK_INT(next, 0);
    test_host_close(&h);
}

TEST(a_list_comes_in_pages) {
    char params[48];
    uint64_t next = 0, after = 0;
    new_store();
    open_with(0, "0");
    for (int i = 0; i < 250; i++) {
        snprintf(params, sizeof params, "{\"board\":%d,\"side\":%d}", i, i);
        set_json(&h, object_of(params), NOTES_TITLE, "", "1");
    }
    test_poll(&h);
    for (size_t pages = 0; pages < 3; pages++) {
        CHECK_INT(count_page(chordal_store_documents, after, 0, &next), pages < 2 ? 100 : 50);
        after = next;
    }
    CHECK_INT(after, 0);
    CHECK_INT(count_page(chordal_store_documents, 0, 250, &next), 250);
    CHECK_INT(next, 0);
    CHECK_INT(count_page(chordal_store_documents, UINT64_MAX, 250, &next), 0);
    test_host_close(&h);
}

/* ---- beside the owner, and without a store ---- */

TEST(a_reader_reads_as_it_was_when_it_was_opened) {
    uint64_t commit, next;
    uint32_t dropped;
    test_host owner, beside;
    new_store();
    open_with(0, "\"all\"");
    chordal_id object = object_of(LUNCH);
    set_json(&h, object, NOTES_TITLE, "", "\"first\"");
    test_poll(&h);
    owner = h;
    open_with(CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT, "");
    test_host snapshot = h;
    open_with(CHORDAL_STORE_READ_ONLY, "");
    beside = h, h = owner;
    set_json(&h, object, NOTES_TITLE, "", "\"second\"");
    test_poll(&h);
    h = beside;
    CHECK_TEXT(read_at(LUNCH, "title", 0, &commit), "\"second\"");
    CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next), "[]");
    CHECK_INT(chordal_store_trim(h.host, 5, &dropped, NULL), CHORDAL_E_READ_ONLY);
    CHECK_INT(chordal_store_put(h.host, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, NULL), CHORDAL_E_INVALID);
    test_host_close(&h);
    h = snapshot;
    CHECK_TEXT(read_at(LUNCH, "title", 0, &commit), "\"first\"");
    CHECK_INT(commit, 1);
    test_host_close(&h);
    h = owner;
    test_host_close(&h);
    CHECK_INT(open_code((chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_SNAPSHOT}, NULL),
              CHORDAL_E_INVALID);
}

/* All documents of an object are of one moment: what reads them begins and ends together. */
TEST(a_reader_sees_no_transaction_in_part) {
    new_store();
    open_with(0, "0");
    chordal_id object = object_of(LUNCH);
    set_json(&h, object, NOTES_TITLE, "", "1");
    set_json(&h, object, NOTES_LIST, "/text", "\"1\"");
    test_host_close(&h);
    for (int reads = 1; reads >= 0; reads--) {
        open_with(reads ? CHORDAL_STORE_READ_ONLY : 0, "0");
        uint64_t before = test_counters(&h).statements;
        object = object_of(LUNCH);
        CHECK_INT(test_counters(&h).statements - before, reads ? 6 : 4);
        CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "1");
        set_json(&h, object, NOTES_TITLE, "", "2"); /* nothing is left open */
        test_poll(&h);
        CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, reads ? CHORDAL_E_READ_ONLY : 0);
        test_host_close(&h);
    }
}

TEST(without_a_store) {
    uint64_t next;
    uint32_t dropped;
    chordal_id ticket;
    test_host_open(&h, (chordal_host_options){0});
    CHECK_TEXT(read_at("{}", "x", 0, &next), "state");
    CHECK_TEXT(page_of(chordal_store_documents, 0, 0, &next), "state");
    CHECK_TEXT(page_of(chordal_store_outbox, 0, 0, &next), "state");
    CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next), "state");
    CHECK_INT(chordal_store_trim(h.host, 5, &dropped, NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_store_backup(h.host, "x", 1, &ticket, NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_store_put(h.host, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_store_seal(h.host, NULL), CHORDAL_E_STATE);
    test_host_close(&h);
}

/* ---- the outbox ---- */

TEST(the_outbox_is_followed_and_trimmed) {
    uint64_t next;
    uint32_t dropped = 0;
    new_store();
    open_with(CHORDAL_STORE_OUTBOX, "0");
    chordal_id object = object_of(LUNCH);
    set_json(&h, object, NOTES_TITLE, "", "\"a\"");
    append_text(&h, object, NOTES_LIST, "/text", "b");
    append_text(&h, object, NOTES_LIST, "/text", "c");
    set_json(&h, object, NOTES_LIST, "/entries/-", "{\"id\":18446744073709551615}");
    test_poll(&h);
#define WRITE "{\"type\":\"notes\",\"params\":{\"side\":7,\"board\":\"lunch\"},\"member\":"
    CHECK_TEXT(page_of(chordal_store_outbox, 0, 2, &next),
               "[{\"commit\":1,\"writes\":[" WRITE "\"title\",\"value\":\"a\"}]},"
               "{\"commit\":2,\"writes\":[" WRITE "\"list\",\"value\":{\"entries\":[],\"text\":\"b\"}}]}]");
    CHECK_INT(next, 2);
    CHECK_TEXT(page_of(chordal_store_outbox, next, 2, &next),
               "[{\"commit\":3,\"writes\":[" WRITE "\"list\",\"ops\":[\"a\",[0,\"text\"],\"c\"]}]},"
               "{\"commit\":4,\"writes\":[" WRITE
               "\"list\",\"ops\":[\"p\",[0,\"entries\"],0,0,[{\"id\":18446744073709551615}]]}]}]");
    CHECK_INT(next, 0);
    CHECK_TEXT(page_of(chordal_store_outbox, 4, 2, &next), "[]");
    CHECK_INT(chordal_store_trim(h.host, 3, &dropped, NULL), 0);
    CHECK_INT(dropped, 3);
    CHECK_INT(count_page(chordal_store_outbox, 0, 0, &next), 1);
    for (int i = 0; i < 2000; i++) append_text(&h, object, NOTES_LIST, "/text", "x");
    test_poll(&h);
    CHECK_INT(chordal_store_trim(h.host, UINT64_MAX, &dropped, NULL), 0);
    CHECK_INT(dropped, 1024);
    CHECK_INT(chordal_store_trim(h.host, UINT64_MAX, &dropped, NULL), 0);
    CHECK_INT(dropped, 977);
    CHECK_INT(chordal_store_trim(h.host, UINT64_MAX, &dropped, NULL), 0);
    CHECK_INT(dropped, 0);
    test_host_close(&h);
    open_with(CHORDAL_STORE_OUTBOX, "0"); /* the numbers go on without it */
    set_json(&h, object_of(LUNCH), NOTES_TITLE, "", "\"b\"");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 2005);
    test_host_close(&h);
}

/* A page is of several values, each within the host's limits. */
TEST(a_page_is_larger_than_a_value) {
    char json[1200] = "\"", deep[80] = "";
    uint64_t next;
    new_store();
    test_host_open(
        &h, (chordal_host_options){
                .store = store_path, .message_limit = 2048, .depth_limit = 24, .store_flags = CHORDAL_STORE_OUTBOX});
    provide(&h, NOTES);
    chordal_id object = object_in(&h, "notes", NOTES_PARAMS);
    for (int i = 0; i < 180; i++) strcat(json, "\\u0001"); /* longer than what is packed */
    strcat(json, "\"");
    for (int i = 0; i < 23; i++) strcat(deep, "[");
    for (int i = 0; i < 23; i++) strcat(deep, "]");
    for (int i = 0; i < 10; i++) {
        set_json(&h, object, NOTES_TITLE, "", i % 2 ? deep : json);
        test_poll(&h);
        CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, 0);
    }
    CHECK_INT(count_page(chordal_store_outbox, 0, 0, &next), 10);
    CHECK_INT(next, 0);
    test_host_close(&h);
}

TEST(rows_are_in_the_outbox) {
    uint64_t next;
    new_store();
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_OUTBOX});
    provide(&h, BOARD);
    chordal_id object = object_in(&h, "board", "{\"name\":\"a\"}");
    chordal_transaction *transaction = draft_on(&h);
    CHECK_INT(row_code(chordal_transaction_put, transaction, object, BOARD_NOTES,
                       "{\"id\":1,\"title\":\"t\",\"data\":[1],\"blob\":\"YWJj\"}"),
              0);
    commit(transaction);
    transaction = draft_on(&h);
    CHECK_INT(row_code(chordal_transaction_remove, transaction, object, BOARD_CELLS, "[\"x\",\"YQ==\"]"), 0);
    commit(transaction);
    test_poll(&h);
#define ROW "{\"type\":\"board\",\"params\":{\"name\":\"a\"},\"member\":"
    CHECK_TEXT(page_of(chordal_store_outbox, 0, 2, &next),
               "[{\"commit\":1,\"writes\":[" ROW
               "\"notes\",\"put\":{\"id\":1,\"title\":\"t\",\"done\":0,\"weight\":null,\"data\":[1],"
               "\"blob\":\"YWJj\"}}]},{\"commit\":2,\"writes\":[" ROW "\"cells\",\"remove\":[\"x\",\"YQ==\"]}]}]");
    CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next), "[]");
    test_host_close(&h);
}

/* ---- damage ---- */

static void damage(const char *sql) {
    new_store();
    open_with(CHORDAL_STORE_OUTBOX, "\"all\"");
    chordal_id object = object_of(LUNCH);
    for (int i = 0; i < 10; i++) append_text(&h, object, NOTES_LIST, "/text", "x");
    set_json(&h, object, NOTES_TITLE, "", "1");
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    test_poll(&h);
    set_json(&h, object_of(LUNCH), NOTES_TITLE, "", "2");
    test_host_close(&h);
    if (sql) store_execute(sql);
    open_with(CHORDAL_STORE_READ_ONLY, "");
}

#define DOCUMENT "\"type\":\"notes\",\"params\":{\"board\":\"lunch\",\"side\":7},\"member\":\"list\",\"key\":null}]"
#define NO_DOCUMENT "\"type\":null,\"params\":null,\"member\":null,\"key\":null}]"
#define DAMAGED "\"detail\":\"a revision in the store is damaged (its row in chordal_revisions is the position)\","

TEST(damage_is_told_with_its_place) {
    static const struct {
        const char *sql, *told;
    } cases[] = {
        {NULL, "[]"},
        {"UPDATE chordal_revisions SET data = x'ff' WHERE id = (1 << 36) + 3",
         "[{\"place\":\"chordal_revisions 68719476739\"," DAMAGED DOCUMENT},
        {"UPDATE chordal_revisions SET data = x'a178' WHERE id = (1 << 36) + 6", /* a base that says something else */
         "[{\"place\":\"chordal_revisions 68719476742\"," DAMAGED DOCUMENT},
        {"DELETE FROM chordal_revisions WHERE id = (1 << 36) + 3",
         "[{\"place\":\"chordal_revisions 68719476740\"," DAMAGED DOCUMENT},
        {"UPDATE chordal_revisions SET number = 99 WHERE id = (1 << 36) + 3",
         "[{\"place\":\"chordal_revisions 68719476739\"," DAMAGED DOCUMENT},
        {"DELETE FROM chordal_documents WHERE id = 1",
         "[{\"place\":\"chordal_revisions 68719476737\",\"detail\":\"a revision of no document\"," NO_DOCUMENT},
        {"UPDATE chordal_documents SET run = 7 WHERE id = 1",
         "[{\"place\":\"chordal_documents 1\",\"detail\":\"a document of a run that is not there\"," NO_DOCUMENT},
        {"UPDATE chordal_documents SET retired = NULL WHERE id = 2",
         "[{\"place\":\"chordal_documents 3\",\"detail\":\"two documents live at one address\"," NO_DOCUMENT},
        {"UPDATE chordal_runs SET run = x'01' WHERE id = 1", "[{\"place\":\"chordal_runs 1\",\"detail\":\"a run that "
                                                             "does not follow from the one before it\"," NO_DOCUMENT},
        {"UPDATE chordal_documents SET params = x'ff' WHERE id = 1",
         "[{\"place\":\"chordal_documents 1\",\"detail\":\"a name in the store is damaged (its row is the "
         "position)\"," NO_DOCUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t next;
        damage(cases[i].sql);
        CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next), cases[i].told);
        CHECK_INT(next, 0);
        CHECK_INT(count_page(chordal_store_check, 0, 1, &next), i != 0);
        test_host_close(&h);
    }
}

TEST(a_damaged_outbox_is_named) {
    uint64_t next;
    static const char *const rows[] = {"x'ff'",
                                       "x'91'",
                                       "x'9194a161'",
                                       "x'9194a161c0a1629100'",
                                       "x'9194a161c0a162c4ff'",
                                       "x'9194a161c0a162c401ff'",
                                       "x'9000'",
                                       "zeroblob(0)"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[96];
        chordal_value *value = NULL;
        chordal_error error = {0};
        snprintf(sql, sizeof sql, "UPDATE chordal_outbox SET data = %s WHERE number = 3", rows[i]);
        damage(sql);
        int code = chordal_store_outbox(h.host, 1, 10, &value, &next, &error);
        CHECK_INT(code, i == 3 ? 0 : CHORDAL_E_CORRUPT);
        if (code) CHECK_INT(error.position, 3);
        chordal_value_unref(value);
        CHECK_INT(count_page(chordal_store_outbox, 3, 10, &next), 9);
        test_host_close(&h);
    }
}

/* Rows whose number is a text are behind every number: a list of them would never end. */
TEST(a_list_that_does_not_go_on) {
    uint64_t next;
    damage("DROP TABLE chordal_outbox; CREATE TABLE chordal_outbox(number, data);"
           "INSERT INTO chordal_outbox VALUES('3', x'90'), ('4', x'90')");
    CHECK_INT(count_page(chordal_store_outbox, 0, 1, &next), 1);
    CHECK_INT(next, 3);
    CHECK_TEXT(page_of(chordal_store_outbox, 3, 1, &next), "corrupt");
    test_host_close(&h);
    damage("DROP TABLE chordal_owners; CREATE TABLE chordal_owners(id, type, key, params);"
           "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 101)"
           "INSERT INTO chordal_owners SELECT '7', x'61', x'', x'80' FROM n");
    CHECK(strstr(page_of(chordal_store_check, 0, 0, &next), "rows that are not in order") != NULL);
    CHECK_TEXT(page_of(chordal_store_owners, 7, 1, &next), "corrupt");
    test_host_close(&h);
}

TEST(a_damaged_page_is_a_fault) {
    uint64_t next;
    damage(NULL);
    test_host_close(&h);
    FILE *file = fopen(store_path, "r+b");
    CHECK(file != NULL);
    int64_t page = store_number("SELECT rootpage FROM sqlite_schema WHERE name = 'chordal_revisions'");
    CHECK_INT(fseek(file, (long)((page - 1) * 4096), SEEK_SET), 0);
    for (int i = 0; i < 4096; i++) fputc(0x55, file);
    fclose(file);
    open_with(CHORDAL_STORE_READ_ONLY, "");
    CHECK(count_page(chordal_store_check, 0, 0, &next) > 0);
    CHECK_TEXT(read_at(LUNCH, "title", 0, &next), "corrupt");
    test_host_close(&h);
}

/* ---- filling a new store ---- */

static int put_document(const char *document) {
    chordal_error error = {0};
    return chordal_store_put(h.host, CHORDAL_FORMAT_JSON, (const uint8_t *)document, strlen(document), &error);
}

#define PUT(member, value)                                                                                             \
    "{\"type\":\"notes\",\"version\":2,\"params\":{\"board\":\"lunch\",\"side\":7},\"member\":\"" member               \
    "\",\"value\":" value ",\"more\":1}"

TEST(documents_are_put_all_or_none) {
    uint64_t commit;
    for (int sealed = 0; sealed < 2; sealed++) {
        new_store();
        open_with(0, "");
        CHECK_INT(chordal_store_seal(h.host, NULL), CHORDAL_E_STATE);
        CHECK_INT(put_document(PUT("title", "null")), 0);
        CHECK_INT(put_document(PUT("list", "{\"text\":\"a\",\"entries\":[1e300,-9223372036854775808]}")), 0);
        CHECK_INT(put_document(PUT("title", "1")), CHORDAL_E_EXISTS);
        chordal_id type;
        CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)NOTES, strlen(NOTES), &type, NULL), CHORDAL_E_STATE);
        if (sealed) CHECK_INT(chordal_store_seal(h.host, NULL), 0);
        if (sealed) CHECK_INT(put_document(PUT("x", "1")), CHORDAL_E_STATE);
        test_host_close(&h);
        CHECK_INT(store_number("SELECT count(*) FROM chordal_documents"), sealed ? 2 : 0);
    }
    open_with(0, "0");
    CHECK_TEXT(read_at(LUNCH, "title", 1, &commit), "null");
    chordal_id object = object_of(LUNCH);
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"text\":\"a\",\"entries\":[1e300,-9223372036854775808]}");
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "null");
    set_json(&h, object, NOTES_TITLE, "", "2");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 2);
    CHECK_INT(put_document(PUT("x", "1")), CHORDAL_E_STATE); /* types are provided */
    test_host_close(&h);
}

#define TABLE                                                                                                          \
    "{\"type\":\"t\",\"member\":\"rows\",\"version\":3,\"columns\":{\"a\":\"integer\",\"b\":\"bytes\",\"c\":\"json\"}" \
    ","                                                                                                                \
    "\"key\":[\"b\",\"a\"],\"indexes\":{\"by_a\":[\"a\"]}}"
#define ROW_OF(a, b)                                                                                                   \
    "{\"type\":\"t\",\"params\":{\"y\":1,\"x\":2},\"member\":\"rows\",\"row\":{\"a\":" a ",\"b\":" b "}}"

TEST(tables_are_put_and_listed) {
    uint64_t next;
    new_store();
    open_with(0, "");
    CHECK_INT(put_document(ROW_OF("1", "\"YQ==\"")), CHORDAL_E_INVALID);
    test_host_close(&h);
    new_store();
    open_with(0, "");
    CHECK_INT(put_document(TABLE), 0);
    CHECK_INT(put_document("{\"type\":\"t\",\"member\":\"x\",\"columns\":{\"a\":\"integer\"}}"), CHORDAL_E_INVALID);
    CHECK_INT(put_document(ROW_OF("1", "\"YQ==\"")), 0);
    CHECK_INT(put_document(ROW_OF("1", "\"YQ==\"")), CHORDAL_E_EXISTS);
    CHECK_INT(put_document(ROW_OF("2", "\"YQ==\"")), 0);
    CHECK_INT(put_document(ROW_OF("2", "\"Y\"")), CHORDAL_E_SYNTAX);
    CHECK_INT(put_document(ROW_OF("2", "null")), CHORDAL_E_INVALID);
    CHECK_INT(put_document(TABLE), CHORDAL_E_STATE); /* too late */
    CHECK_INT(chordal_store_seal(h.host, NULL), 0);
    CHECK_TEXT(page_of(chordal_store_tables, 0, 0, &next), "[" TABLE "]");
    CHECK_TEXT(page_of(chordal_store_owners, 0, 0, &next), "[{\"type\":\"t\",\"params\":{\"y\":1,\"x\":2}}]");
    CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next), "[]");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_1"), 2);
    store_execute("UPDATE chordal_tables SET declaration = x'93c0c0c0'");
    open_with(CHORDAL_STORE_READ_ONLY, "");
    CHECK_TEXT(page_of(chordal_store_tables, 0, 0, &next), "corrupt");
    CHECK_TEXT(page_of(chordal_store_check, 0, 0, &next),
               "[{\"place\":\"chordal_tables 1\",\"detail\":\"a table's catalogue is damaged\"," NO_DOCUMENT);
    test_host_close(&h);
}

TEST(what_is_no_document_is_refused) {
    static const char *const documents[] = {
        "[]",
        "{}",
        "{\"type\":\"\",\"version\":1,\"params\":{},\"member\":\"m\",\"value\":1}",
        "{\"type\":1,\"version\":1,\"params\":{},\"member\":\"m\",\"value\":1}",
        "{\"type\":\"t\",\"version\":0,\"params\":{},\"member\":\"m\",\"value\":1}",
        "{\"type\":\"t\",\"version\":1.5,\"params\":{},\"member\":\"m\",\"value\":1}",
        "{\"type\":\"t\",\"version\":4294967296,\"params\":{},\"member\":\"m\",\"value\":1}",
        "{\"type\":\"t\",\"version\":1,\"params\":[],\"member\":\"m\",\"value\":1}",
        "{\"type\":\"t\",\"version\":1,\"params\":{},\"member\":\"\",\"value\":1}",
        "{\"type\":\"t\",\"version\":1,\"params\":{},\"member\":\"m\"}",
    };
    new_store();
    open_with(0, "");
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        CHECK_INT(put_document(documents[i]), CHORDAL_E_INVALID);
    CHECK_INT(put_document("{"), CHORDAL_E_TRUNCATED);
    CHECK_INT(put_document("{\"type\":\"t\",\"version\":1,\"params\":{},\"member\":\"m\",\"value\":1}"), 0);
    CHECK_INT(chordal_store_seal(h.host, NULL), 0);
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_documents"), 1);
}

TEST(done) {
    remove_store();
}

TESTS({"every_point_is_there", every_point_is_there},
      {"what_was_compacted_is_not_found", what_was_compacted_is_not_found},
      {"lives_that_ended_are_read", lives_that_ended_are_read}, {"a_list_comes_in_pages", a_list_comes_in_pages},
      {"a_reader_reads_as_it_was_when_it_was_opened", a_reader_reads_as_it_was_when_it_was_opened},
      {"a_reader_sees_no_transaction_in_part", a_reader_sees_no_transaction_in_part},
      {"without_a_store", without_a_store}, {"the_outbox_is_followed_and_trimmed", the_outbox_is_followed_and_trimmed},
      {"a_page_is_larger_than_a_value", a_page_is_larger_than_a_value},
      {"rows_are_in_the_outbox", rows_are_in_the_outbox},
      {"damage_is_told_with_its_place", damage_is_told_with_its_place},
      {"a_damaged_outbox_is_named", a_damaged_outbox_is_named},
      {"a_list_that_does_not_go_on", a_list_that_does_not_go_on},
      {"a_damaged_page_is_a_fault", a_damaged_page_is_a_fault},
      {"documents_are_put_all_or_none", documents_are_put_all_or_none},
      {"tables_are_put_and_listed", tables_are_put_and_listed},
      {"what_is_no_document_is_refused", what_is_no_document_is_refused}, {"done", done})
