/* store_tables.c: rows in the tables of objects: what is there again, what is refused, what falls with what. */
#include "chordal/dispatch.h"
#include "tables.h"

static test_host h;

#define ONE "{\"id\":1,\"title\":\"milk\"}"
#define ONE_WHOLE "{\"id\":1,\"title\":\"milk\",\"done\":0,\"weight\":null,\"data\":null,\"blob\":null}"

TEST(rows_are_there_again) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    commit_put(&h, object, BOARD_NOTES,
               "{\"id\":-9223372036854775808,\"title\":\"\",\"done\":null,\"weight\":1e300,\"data\":{\"a\":[1,null]},"
               "\"blob\":\"AAH/\"}");
    commit_put(&h, object, BOARD_CELLS, "{\"x\":\"\\u0000\\ud83d\",\"y\":\"\",\"v\":7}");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 3);
    for (int again = 0; again < 2; again++) {
        CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), ONE_WHOLE);
        CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "[-9223372036854775808]"),
                   "{\"id\":-9223372036854775808,\"title\":\"\",\"done\":null,\"weight\":1e300,"
                   "\"data\":{\"a\":[1,null]},\"blob\":\"AAH/\"}");
        CHECK_TEXT(row_of(&h, object, BOARD_CELLS, "[\"\\u0000\\ud83d\",\"\"]"),
                   "{\"x\":\"\\u0000\\ud83d\",\"y\":\"\",\"v\":7}");
        CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "2"), "not_found");
        test_host_close(&h);
        object = open_board(&h);
    }
    test_host_close(&h);
}

/* ---- names and cells around each length at which their heads change ---- */

enum { WIDE_COLUMNS = 17, WIDE_NAME = 255, WIDE_ROW = 1 << 18 };

/* id, texts with names of 1, 3, … bytes, bytes with names of 254, 252, …: a row's head is a long one, too. */
static chordal_id open_wide(void) {
    static char type[1 << 13];
    char name[WIDE_NAME + 1];
    size_t len = (size_t)snprintf(type, sizeof type,
                                  "{\"name\":\"wide\",\"keep\":true,\"members\":[{\"name\":\"rows\",\"kind\":"
                                  "\"table\",\"key\":[\"id\"],\"columns\":{\"id\":\"integer\"");
    for (int i = 1; i < WIDE_COLUMNS; i++) {
        memset(name, 'a' + i, WIDE_NAME);
        name[i % 2 ? i : WIDE_NAME + 1 - i] = 0;
        len += (size_t)snprintf(type + len, sizeof type - len, ",\"%s\":\"%s\"", name, i % 2 ? "text" : "bytes");
    }
    snprintf(type + len, sizeof type - len, "}}]}");
    new_store();
    open_store(&h);
    provide(&h, type);
    return object_in(&h, "wide", "{}");
}

static size_t put_length(uint8_t *at, uint8_t head, size_t len) {
    at[0] = head;
    for (int i = 0; i < 4; i++) at[i + 1] = (uint8_t)(len >> (24 - 8 * i));
    return 5;
}

/* With heads that are longer than they need be. */
static size_t wide_row(uint8_t *row, uint8_t id, size_t len) {
    size_t at = 7;
    memcpy(row, "\xde\0\x03\xa2id", 6);
    row[6] = id;
    at += put_length(row + at, 0xdb, 1);
    row[at++] = 'b';
    at += put_length(row + at, 0xdb, len);
    memset(row + at, 'x', len), at += len;
    at += put_length(row + at, 0xdb, WIDE_NAME - 1);
    memset(row + at, 'c', WIDE_NAME - 1), at += WIDE_NAME - 1;
    at += put_length(row + at, 0xc6, len);
    memset(row + at, 0xff, len);
    return at + len;
}

static size_t wide_row_in(chordal_transaction *t, chordal_id object, uint8_t id, uint8_t out[WIDE_ROW]) {
    size_t len = 0;
    CHECK_INT(chordal_transaction_row(t, object, 0, CHORDAL_FORMAT_PACKED, &id, 1, out, WIDE_ROW, &len, NULL), 0);
    return len;
}

/* What is given back of it is a row again, and the same. */
static void put_wide(chordal_id object, uint8_t id, size_t size) {
    static uint8_t row[WIDE_ROW], again[WIDE_ROW];
    chordal_transaction *t = draft_on(&h);
    size_t len = wide_row(row, id, size);
    CHECK_INT(chordal_transaction_put(t, object, 0, CHORDAL_FORMAT_PACKED, row, len, NULL), 0);
    len = wide_row_in(t, object, id, row);
    CHECK_INT(row[0] << 16 | row[1] << 8 | row[2], 0xde << 16 | WIDE_COLUMNS);
    CHECK_INT(chordal_transaction_put(t, object, 0, CHORDAL_FORMAT_PACKED, row, len, NULL), 0);
    CHECK_INT(wide_row_in(t, object, id, again), len);
    CHECK(memcmp(row, again, len) == 0);
    commit(t);
    test_poll(&h);
    t = draft_on(&h);
    CHECK_INT(wide_row_in(t, object, id, again), len);
    CHECK(memcmp(row, again, len) == 0);
    chordal_transaction_abort(t);
}

TEST(rows_of_every_length) {
    static const size_t lengths[] = {0, 1, 2, 3, 14, 15, 16, 31, 32, 255, 256, 65535, 65536};
    int count = sizeof lengths / sizeof *lengths;
    chordal_id object = open_wide();
    for (int i = 0; i < count; i++) put_wide(object, (uint8_t)i, lengths[i]);
    CHECK_INT(store_number("SELECT sum(length(c1) = length(c2) AND c1 NOT GLOB '*[^x]*' AND hex(c2) NOT GLOB '*[^F]*')"
                           " FROM chordal_table_1"),
              count);
    CHECK(strstr(row_of(&h, object, 0, "3"), "\"////\"") != NULL);
    test_host_close(&h);
}

/* Rows of two objects and of two tables keep apart. */
TEST(rows_belong_to_their_object) {
    new_store();
    chordal_id object = open_board(&h), other = object_in(&h, "board", "{\"name\":\"b\"}");
    commit_put(&h, object, BOARD_NOTES, ONE);
    commit_put(&h, other, BOARD_NOTES, "{\"id\":1,\"title\":\"bread\"}");
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), ONE_WHOLE);
    commit_row(&h, chordal_transaction_remove, object, BOARD_NOTES, "1");
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "not_found");
    CHECK(strstr(row_of(&h, other, BOARD_NOTES, "1"), "bread") != NULL);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_owners"), 2);
    test_host_close(&h);
}

TEST(a_put_takes_three_statements) {
    new_store();
    chordal_id object = open_board(&h);
    for (int i = 0; i < 2; i++) {
        commit_put(&h, object, BOARD_NOTES, ONE);
        test_poll(&h);
    }
    uint64_t before = test_counters(&h).statements;
    commit_put(&h, object, BOARD_NOTES, "{\"id\":2}");
    test_poll(&h);
    CHECK_INT(test_counters(&h).statements - before, 3);
    before = test_counters(&h).statements;
    for (int i = 0; i < 1000; i++) commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    CHECK_INT(test_counters(&h).statements - before, 1002);
    test_host_close(&h);
}

TEST(a_transaction_reads_what_it_wrote) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    chordal_transaction *t = draft_on(&h); /* on a commit that waits for its step */
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "not_found");
    CHECK_TEXT(row_in(t, object, BOARD_NOTES, "1"), ONE_WHOLE);
    patch(t, object, BOARD_NOTES, "{\"id\":1,\"done\":5}");
    put(t, object, BOARD_NOTES, "{\"id\":2}");
    CHECK(strstr(row_in(t, object, BOARD_NOTES, "1"), "\"done\":5") != NULL);
    CHECK(strstr(row_in(t, object, BOARD_NOTES, "2"), "\"id\":2") != NULL);
    take_out(t, object, BOARD_NOTES, "1");
    CHECK_TEXT(row_in(t, object, BOARD_NOTES, "1"), "not_found");
    CHECK_INT(row_code(chordal_transaction_patch, t, object, BOARD_NOTES, "{\"id\":1}"), CHORDAL_E_NOT_FOUND);
    CHECK_INT(chordal_transaction_set_json(t, object, BOARD_TITLE, "", "\"both\"", NULL), 0);
    commit(t);
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "not_found");
    CHECK_TEXT(head_of(&h, object, BOARD_TITLE), "\"both\"");
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_1"), 1);
    t = draft_on(&h);
    put(t, object, BOARD_NOTES, ONE);
    chordal_transaction_abort(t);
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "not_found");
    test_host_close(&h);
}

/* What was read by its key conflicts when it has changed, and only then. */
TEST(conflicts_by_key) {
    chordal_id ticket;
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    for (int stored = 0; stored < 2; stored++) {
        chordal_transaction *reader = draft_on(&h), *other = draft_on(&h), *blind = draft_on(&h);
        patch(reader, object, BOARD_NOTES, "{\"id\":1,\"done\":1}");
        CHECK_TEXT(row_in(other, object, BOARD_NOTES, "9"), "not_found");
        put(other, object, BOARD_NOTES, "{\"id\":3}");
        put(blind, object, BOARD_NOTES, "{\"id\":1,\"title\":\"blind\"}");
        commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"title\":\"cheese\"}");
        if (stored) test_poll(&h);
        CHECK_INT(commit_code(reader, &ticket), CHORDAL_E_CONFLICT);
        CHECK_INT(commit_code(other, &ticket), 0);
        CHECK_INT(commit_code(blind, &ticket), 0);
        test_poll(&h);
        CHECK(strstr(row_of(&h, object, BOARD_NOTES, "1"), "blind") != NULL);
    }
    test_host_close(&h);
}

/* ---- commits that fail ---- */

#define POISON                                                                                                         \
    "CREATE TRIGGER poison BEFORE INSERT ON chordal_table_1 WHEN NEW.c1 = 'poison' BEGIN SELECT RAISE(ABORT, 'no'); "  \
    "END"

TEST(a_commit_that_fails_takes_those_that_read_it) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    store_execute(POISON);
    forget_events(&h);
    chordal_id tickets[5];
    tickets[0] = commit_put(&h, object, BOARD_NOTES, "{\"id\":2,\"title\":\"before\"}");
    tickets[1] = commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"title\":\"poison\"}");
    tickets[2] = commit_row(&h, chordal_transaction_patch, object, BOARD_NOTES, "{\"id\":1,\"done\":1}");
    tickets[3] = commit_row(&h, chordal_transaction_patch, object, BOARD_NOTES, "{\"id\":2,\"done\":1}");
    tickets[4] = commit_put(&h, object, BOARD_NOTES, "{\"id\":3,\"title\":\"after\"}");
    test_poll(&h);
    CHECK_INT(ticket_code(&h, tickets[0]), 2);
    CHECK_INT(ticket_code(&h, tickets[1]), CHORDAL_E_DISK_IO);
    CHECK_INT(ticket_code(&h, tickets[2]), CHORDAL_E_CONFLICT);
    CHECK_INT(ticket_code(&h, tickets[3]), 3);
    CHECK_INT(ticket_code(&h, tickets[4]), 4);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), ONE_WHOLE);
    CHECK(strstr(row_of(&h, object, BOARD_NOTES, "2"), "\"done\":1") != NULL);
    tickets[0] = commit_row(&h, chordal_transaction_patch, object, BOARD_NOTES, "{\"id\":1,\"done\":9}");
    test_poll(&h);
    CHECK_INT(ticket_code(&h, tickets[0]), 5);
    test_host_close(&h);
}

/* A key that fell is what it was: in the file, or what another commit prepared. */
TEST(tips_fall_to_what_stands) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    store_execute(POISON);
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"title\":\"poison\"}");
    chordal_transaction *open = draft_on(&h);
    CHECK(strstr(row_in(open, object, BOARD_NOTES, "1"), "poison") != NULL);
    put(open, object, BOARD_NOTES, "{\"id\":5}");
    commit_put(&h, object, BOARD_NOTES, "{\"id\":1,\"title\":\"cheese\"}");
    test_poll(&h);
    chordal_id ticket;
    CHECK_INT(commit_code(open, &ticket), CHORDAL_E_CONFLICT);
    CHECK(strstr(row_of(&h, object, BOARD_NOTES, "1"), "cheese") != NULL);
    test_host_close(&h);
}

/* ---- lives ---- */

TEST(a_crash_forgets_no_commit_number) {
    test_host dead;
    char name[128];
    new_store();
    chordal_id object = open_board(&h);
    for (int i = 0; i < 3; i++) commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    dead = h;
    snprintf(name, sizeof name, "%s-owner", store_path);
    unlink(name);
    object = open_board(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), ONE_WHOLE);
    commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    CHECK(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit > 3);
    test_host_close(&h);
    test_host_close(&dead);
}

TEST(numbers_go_on_after_a_close) {
    new_store();
    chordal_id object = open_board(&h);
    for (int i = 0; i < 3000; i++) {
        commit_put(&h, object, BOARD_NOTES, ONE);
        if (i % 500 == 0) test_poll(&h);
    }
    test_host_close(&h);
    object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 3001);
    test_host_close(&h);
}

TEST(a_retired_object_takes_its_rows) {
    new_store();
    chordal_id object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    commit_put(&h, object, BOARD_CELLS, "{\"x\":\"a\",\"y\":\"\"}");
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    for (int i = 0; i < 10 && chordal_host_deadline(h.host) == 0; i++) test_poll(&h);
    CHECK_INT(store_number("SELECT (SELECT count(*) FROM chordal_table_1) + (SELECT count(*) FROM chordal_table_2) + "
                           "(SELECT count(*) FROM chordal_owners)"),
              0);
    object = object_in(&h, "board", "{\"name\":\"a\"}");
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), "not_found");
    commit_put(&h, object, BOARD_NOTES, ONE);
    test_host_close(&h);
    object = open_board(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "1"), ONE_WHOLE);
    test_host_close(&h);
}

/* ---- other formats ---- */

static size_t packed_row(uint8_t *out) {
    static const uint8_t row[] = {0x82, 0xa2, 'i', 'd', 7, 0xa4, 'b', 'l', 'o', 'b', 0xc4, 3, 0, 1, 255};
    memcpy(out, row, sizeof row);
    return sizeof row;
}

TEST(packed_rows_hold_bytes) {
    uint8_t row[32], out[256];
    size_t len = packed_row(row), out_len;
    new_store();
    chordal_id object = open_board(&h);
    chordal_transaction *t = draft_on(&h);
    CHECK_INT(chordal_transaction_put(t, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED, row, len, NULL), 0);
    for (size_t cut = 0; cut < len; cut++)
        CHECK(chordal_transaction_put(t, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED, row, cut, NULL) < 0);
    row[len] = 0;
    CHECK_INT(chordal_transaction_put(t, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED, row, len + 1, NULL),
              CHORDAL_E_TRAILING);
    CHECK(strstr(row_in(t, object, BOARD_NOTES, "7"), "\"blob\":\"AAH/\"") != NULL);
    CHECK_INT(chordal_transaction_row(t, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x07", 1, out, 4,
                                      &out_len, NULL),
              CHORDAL_E_ROOM);
    CHECK_INT(chordal_transaction_row(t, object, BOARD_NOTES, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x07", 1, out,
                                      sizeof out, &out_len, NULL),
              0);
    CHECK_BYTES(out + out_len - 5, 5, "\xc4\x03\x00\x01\xff", 5);
    commit(t);
    test_host_close(&h);
}

/* Packed changes, as bindings send them: {path [1, key], SET row}, {path [1, key], DELETE}. */
static size_t change(uint8_t *out, chordal_id object, uint8_t kind, const char *key, const uint8_t *value, size_t len) {
    uint8_t ops[128], *at = ops;
    *at++ = (uint8_t)(kind | 31 << 3);
    *at++ = 2;
    *at++ = BOARD_NOTES * 2;
    *at++ = (uint8_t)(strlen(key) * 2 + 1);
    memcpy(at, key, strlen(key));
    at += strlen(key);
    if (len) memcpy(at, value, len);
    at += len;
    size_t used = 0;
    for (uint64_t left = object; used == 0 || left; left >>= 7)
        out[used++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
    out[used++] = (uint8_t)(at - ops);
    memcpy(out + used, ops, (size_t)(at - ops));
    return used + (size_t)(at - ops);
}

TEST(rows_in_packed_changes) {
    static const uint8_t row[] = {0x81, 0xa5, 't', 'i', 't', 'l', 'e', 0xa1, 'x'};
    static const uint8_t other[] = {0x81, 0xa2, 'i', 'd', 8};
    uint8_t changes[256];
    chordal_id ticket;
    new_store();
    chordal_id object = open_board(&h);
    size_t len = change(changes, object, CHORDAL_OP_SET, "7", row, sizeof row);
    CHECK_INT(chordal_commit(h.host, 0, changes, len, &ticket, NULL), 0);
    test_poll(&h);
    CHECK(strstr(row_of(&h, object, BOARD_NOTES, "7"), "\"title\":\"x\"") != NULL);
    len = change(changes, object, CHORDAL_OP_SET, "7", other, sizeof other);
    CHECK_INT(chordal_commit(h.host, 0, changes, len, &ticket, NULL), CHORDAL_E_PATH);
    len = change(changes, object, CHORDAL_OP_SET, "x", row, sizeof row);
    CHECK_INT(chordal_commit(h.host, 0, changes, len, &ticket, NULL), CHORDAL_E_SYNTAX);
    chordal_transaction *t = draft_on(&h);
    len = change(changes, object, CHORDAL_OP_DELETE, "7", NULL, 0);
    CHECK_INT(chordal_transaction_changes(t, changes, len, NULL), 0);
    CHECK_TEXT(row_in(t, object, BOARD_NOTES, "7"), "not_found");
    commit(t);
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, BOARD_NOTES, "7"), "not_found");
    test_host_close(&h);
}

/* ---- what is refused ---- */

TEST(rows_that_do_not_fit) {
    static const struct {
        const char *row;
        int code;
    } cases[] = {{"{}", CHORDAL_E_INVALID},
                 {"{\"id\":null}", CHORDAL_E_INVALID},
                 {"{\"id\":1,\"nothing\":1}", CHORDAL_E_INVALID},
                 {"[]", CHORDAL_E_TYPE},
                 {"{\"id\":\"1\"}", CHORDAL_E_TYPE},
                 {"{\"id\":1.5}", CHORDAL_E_TYPE},
                 {"{\"id\":9223372036854775808}", CHORDAL_E_RANGE},
                 {"{\"id\":1,\"title\":5}", CHORDAL_E_TYPE},
                 {"{\"id\":1,\"weight\":true}", CHORDAL_E_TYPE},
                 {"{\"id\":1,\"blob\":7}", CHORDAL_E_TYPE},
                 {"{\"id\":1,\"blob\":\"AAA\"}", CHORDAL_E_SYNTAX},
                 {"{\"id\":1,\"blob\":\"AB==\"}", CHORDAL_E_SYNTAX},
                 {"{\"id\":1,\"blob\":\"A-==\"}", CHORDAL_E_SYNTAX},
                 {"{\"id\":1", CHORDAL_E_TRUNCATED}};
    new_store();
    chordal_id object = open_board(&h), ticket;
    chordal_transaction *t = draft_on(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(row_code(chordal_transaction_put, t, object, BOARD_NOTES, cases[i].row), cases[i].code);
    CHECK_INT(row_code(chordal_transaction_put, t, object, BOARD_TITLE, "{}"), CHORDAL_E_INVALID);
    CHECK_INT(row_code(chordal_transaction_put, t, object, 3, "{}"), CHORDAL_E_NO_MEMBER);
    CHECK_INT(row_code(chordal_transaction_put, t, 1, BOARD_NOTES, "{}"), CHORDAL_E_CLOSED);
    CHECK_INT(row_code(chordal_transaction_remove, t, object, BOARD_CELLS, "\"a\""), CHORDAL_E_TYPE);
    CHECK_INT(row_code(chordal_transaction_remove, t, object, BOARD_CELLS, "[\"a\"]"), CHORDAL_E_TYPE);
    CHECK_INT(row_code(chordal_transaction_remove, t, object, BOARD_NOTES, "null"), CHORDAL_E_INVALID);
    CHECK_INT(chordal_transaction_set_json(t, object, BOARD_NOTES, "", "1", NULL), CHORDAL_E_INVALID);
    CHECK_INT(commit_code(t, &ticket), 0);
    uint64_t steps = test_counters(&h).steps;
    test_poll(&h);
    CHECK_INT(test_counters(&h).steps, steps);
    CHECK_TEXT(head_of(&h, object, BOARD_NOTES), "no_member");
    test_host_close(&h);
}

TEST(long_keys) {
    static char row[8192];
    new_store();
    chordal_id object = open_board(&h);
    chordal_transaction *t = draft_on(&h);
    snprintf(row, sizeof row, "{\"x\":\"%0*d\",\"y\":\"\"}", 4096, 0);
    put(t, object, BOARD_CELLS, row);
    snprintf(row, sizeof row, "{\"x\":\"%0*d\",\"y\":\"\"}", 4097, 0);
    CHECK_INT(row_code(chordal_transaction_put, t, object, BOARD_CELLS, row), CHORDAL_E_SIZE);
    commit(t);
    test_host_close(&h);
}

static int provide_code(const char *table, char words[112]) {
    char text[2048];
    chordal_id type;
    chordal_error error = {0};
    snprintf(text, sizeof text, "{\"name\":\"t\",\"members\":[{\"name\":\"rows\",\"kind\":\"table\"%s}]}", table);
    int code = chordal_type_provide(h.host, (const uint8_t *)text, strlen(text), &type, &error);
    memcpy(words, error.detail, 112);
    return code;
}

TEST(declarations_that_are_refused) {
    static const char *const tables[] = {
        "",
        ",\"columns\":{}",
        ",\"columns\":{\"a\":\"integer\"}",
        ",\"columns\":{\"a\":\"number\"},\"key\":[\"a\"]",
        ",\"columns\":{\"a\":{}},\"key\":[\"a\"]",
        ",\"columns\":{\"\":\"text\"},\"key\":[\"\"]",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"b\"]",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[]",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\",\"a\"]",
        ",\"columns\":{\"a\":\"json\"},\"key\":[\"a\"]",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"],\"indexes\":[]",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"],\"indexes\":{\"i\":\"a\"}",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"],\"version\":0",
        ",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"],\"version\":\"1\"",
        ",\"columns\":{\"a\":{\"type\":\"integer\",\"default\":1}},\"key\":[\"a\"]",
        ",\"columns\":{\"a\":\"integer\",\"b\":{\"type\":\"json\",\"default\":1}},\"key\":[\"a\"]",
        ",\"columns\":{\"a\":\"integer\",\"b\":{\"type\":\"text\",\"default\":\"\\u0000\"}},\"key\":[\"a\"]",
    };
    char words[112];
    new_store();
    open_store(&h);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        CHECK_INT(provide_code(tables[i], words), CHORDAL_E_INVALID);
        CHECK(words[0] != 0);
    }
    CHECK_INT(
        provide_code(",\"columns\":{\"a\":\"integer\",\"b\":{\"type\":\"text\",\"default\":1}},\"key\":[\"a\"]", words),
        CHORDAL_E_TYPE);
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_tables"), 0);
    test_host_open(&h, (chordal_host_options){0});
    CHECK_INT(provide_code(",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"]", words), CHORDAL_E_UNSUPPORTED);
    test_host_close(&h);
}

/* Names that would mean something to SQL are never seen by it. */
TEST(names_are_no_sql) {
    new_store();
    open_store(&h);
    provide(&h, "{\"name\":\"t\",\"members\":[{\"name\":\"r\\\");DROP TABLE chordal_runs;--\",\"kind\":\"table\","
                "\"columns\":{\"a'\\\"; --\":\"text\",\"select\":{\"type\":\"text\",\"default\":\"it's\"}},"
                "\"key\":[\"a'\\\"; --\"],\"indexes\":{\"drop table\":[\"select\"]}}]}");
    chordal_id object = object_in(&h, "t", "{}");
    commit_put(&h, object, 0, "{\"a'\\\"; --\":\"'); DELETE FROM chordal_owners;--\"}");
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, 0, "\"'); DELETE FROM chordal_owners;--\""),
               "{\"a'\\\"; --\":\"'); DELETE FROM chordal_owners;--\",\"select\":\"it's\"}");
    test_host_close(&h);
}

TEST(a_table_of_a_type_table) {
    static const chordal_member members[] = {
        CHORDAL_TABLE("rows", "{\"columns\": {\"a\": \"integer\"}, \"key\": [\"a\"]}"), CHORDAL_TABLE("wrong", NULL)};
    chordal_type type = {.name = "t", .version = 1, .members = members, .members_len = 2};
    chordal_dispatcher *dispatcher;
    new_store();
    open_store(&h);
    CHECK_INT(chordal_dispatcher_open(h.host, NULL, NULL, &dispatcher, NULL), 0);
    CHECK_INT(chordal_dispatcher_provide(dispatcher, &type, NULL), CHORDAL_E_INVALID);
    type.members_len = 1;
    CHECK_INT(chordal_dispatcher_provide(dispatcher, &type, NULL), 0);
    chordal_id object = object_in(&h, "t", "{}");
    commit_put(&h, object, 0, "{\"a\":1}");
    test_poll(&h);
    CHECK_TEXT(row_of(&h, object, 0, "1"), "{\"a\":1}");
    chordal_dispatcher_close(dispatcher);
    test_host_close(&h);
}

/* ---- declarations that change ---- */

static chordal_id open_with(const char *table) {
    char words[112];
    open_store(&h);
    int code = provide_code(table, words);
    if (code) CHECK_FAIL("%s: %d %s", table, code, words);
    return object_in(&h, "t", "{}");
}

TEST(columns_come_and_go) {
    new_store();
    chordal_id object = open_with(",\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\"]");
    commit_put(&h, object, 0, "{\"a\":1,\"b\":\"old\"}");
    test_host_close(&h);
    object = open_with(",\"columns\":{\"c\":{\"type\":\"text\",\"default\":\"it's\"},\"a\":\"integer\","
                       "\"d\":{\"type\":\"real\",\"default\":-0.5},\"e\":{\"type\":\"integer\",\"default\":"
                       "-9223372036854775808},\"f\":\"bytes\"},\"key\":[\"a\"],\"indexes\":{\"i\":[\"c\",\"d\"]}");
    CHECK_TEXT(row_of(&h, object, 0, "1"), "{\"c\":\"it's\",\"a\":1,\"d\":-0.5,\"e\":-9223372036854775808,\"f\":null}");
    commit_put(&h, object, 0, "{\"a\":2}");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'chordal_index%'"), 1);
    object =
        open_with(",\"columns\":{\"a\":\"integer\",\"b\":\"integer\"},\"key\":[\"a\"],\"version\":2"); /* another b */
    CHECK_TEXT(row_of(&h, object, 0, "1"), "{\"a\":1,\"b\":null}");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'chordal_index%'"), 0);
}

TEST(what_does_not_fit_the_file) {
    char words[112];
    new_store();
    (void)open_with(",\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\"],\"version\":2");
    test_host_close(&h);
    open_store(&h);
    CHECK_INT(provide_code(",\"columns\":{\"a\":\"text\",\"b\":\"text\"},\"key\":[\"a\"],\"version\":2", words),
              CHORDAL_E_INVALID);
    CHECK_INT(
        provide_code(",\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\",\"b\"],\"version\":2", words),
        CHORDAL_E_INVALID);
    CHECK_INT(provide_code(",\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\"]", words),
              CHORDAL_E_TYPE_VERSION);
    uint64_t steps = test_counters(&h).steps;
    CHECK_INT(provide_code(",\"columns\":{\"b\":\"text\",\"a\":\"integer\"},\"key\":[\"a\"],\"version\":2", words), 0);
    CHECK_INT(test_counters(&h).steps, steps); /* nothing is new: nothing is written */
    test_host_close(&h);
    store_execute("UPDATE chordal_tables SET declaration = x'93'");
    open_store(&h);
    CHECK_INT(provide_code(",\"columns\":{\"a\":\"integer\"},\"key\":[\"a\"]", words), CHORDAL_E_CORRUPT);
    test_host_close(&h);
}

/* ---- rows of older versions ---- */

#define VERSIONED ",\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\"],\"version\":"

static int count_stale(chordal_id object) {
    const char *answer = query_of(&h, object, 0, "{\"stale\":true,\"count\":true}");
    const char *count = strstr(answer, "\"count\":");
    return count ? atoi(count + 8) : -1;
}

/* One page of what an older version wrote is put anew. False: nothing was left. */
static bool migrate_page(chordal_id object) {
    static char page[1 << 16];
    chordal_transaction *t = draft_on(&h);
    char json[64];
    snprintf(page, sizeof page, "%s", query_in(t, object, 0, "{\"stale\":true,\"limit\":100}"));
    bool any = false;
    for (const char *at = page; (at = strstr(at, "{\"a\":")) != NULL; at++, any = true) {
        snprintf(json, sizeof json, "{\"a\":%d,\"b\":\"new\"}", atoi(at + 5));
        put(t, object, 0, json);
    }
    CHECK_TEXT(query_in(t, object, 0, "{\"stale\":true,\"count\":true,\"where\":{\"eq\":[\"b\",\"new\"]}}"),
               "{\"rows\":[{\"count\":0}],\"after\":null}");
    commit(t);
    test_poll(&h);
    return any;
}

TEST(old_rows_are_put_anew_page_by_page) {
    new_store();
    chordal_id object = open_with(VERSIONED "1");
    chordal_transaction *t = draft_on(&h);
    for (int i = 0; i < 250; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"a\":%d,\"b\":\"old\"}", i);
        put(t, object, 0, json);
    }
    commit(t);
    test_poll(&h);
    CHECK_INT(count_stale(object), 0);
    test_host_close(&h);
    object = open_with(VERSIONED "2");
    CHECK_INT(count_stale(object), 250);
    CHECK(migrate_page(object));
    CHECK_INT(count_stale(object), 150);
    commit_put(&h, object, 0, "{\"a\":249,\"b\":\"by another\"}");
    commit_put(&h, object, 0, "{\"a\":1000}");
    test_poll(&h);
    test_host_close(&h); /* it goes on where it was */
    object = open_with(VERSIONED "2");
    CHECK_INT(count_stale(object), 149);
    int pages = 0;
    while (migrate_page(object)) pages++;
    CHECK_INT(pages, 2);
    CHECK_INT(count_stale(object), 0);
    CHECK(strstr(row_of(&h, object, 0, "249"), "by another") != NULL);
    t = draft_on(&h); /* a row that is as it was is of this version when it is put */
    test_host_close(&h);
    chordal_transaction_abort(t);
    object = open_with(VERSIONED "3");
    t = draft_on(&h);
    CHECK(strstr(row_in(t, object, 0, "7"), "new") != NULL);
    put(t, object, 0, "{\"a\":7,\"b\":\"new\"}");
    commit(t);
    test_poll(&h);
    CHECK_INT(count_stale(object), 250);
    test_host_close(&h);
}

TEST(rows_of_the_first_days_get_a_version) {
    new_store();
    chordal_id object = open_with(VERSIONED "4");
    commit_put(&h, object, 0, "{\"a\":1,\"b\":\"old\"}");
    test_host_close(&h);
    store_execute("ALTER TABLE chordal_table_1 DROP COLUMN v; UPDATE chordal_tables SET declaration = "
                  "CAST(x'93' || substr(declaration, 2, length(declaration) - 2) AS BLOB)");
    object = open_with(VERSIONED "4");
    CHECK_INT(count_stale(object), 0);
    CHECK(strstr(row_of(&h, object, 0, "1"), "old") != NULL);
    test_host_close(&h);
    object = open_with(VERSIONED "5");
    CHECK_INT(count_stale(object), 1);
    test_host_close(&h);
}

TEST(a_store_of_the_first_schema_is_migrated) {
    new_store();
    open_store(&h);
    provide(&h, NOTES);
    chordal_id object = object_in(&h, "notes", NOTES_PARAMS);
    set_json(&h, object, NOTES_TITLE, "", "\"old\"");
    test_host_close(&h);
    store_execute("DROP TABLE chordal_calls; DROP TABLE chordal_tables; DROP TABLE chordal_owners; ALTER TABLE "
                  "chordal_runs DROP COLUMN reserved;"
                  "ALTER TABLE chordal_runs DROP COLUMN known; ALTER TABLE chordal_runs DROP COLUMN outbox;"
                  "PRAGMA user_version = 1");
    object = open_board(&h);
    commit_put(&h, object, BOARD_NOTES, ONE);
    provide(&h, NOTES);
    CHECK_TEXT(head_of(&h, object_in(&h, "notes", NOTES_PARAMS), NOTES_TITLE), "\"old\"");
    test_host_close(&h);
}

TEST(the_outbox_has_rows) {
    new_store();
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_OUTBOX});
    provide(&h, BOARD);
    chordal_id object = object_in(&h, "board", "{\"name\":\"a\"}");
    commit_put(&h, object, BOARD_NOTES, ONE);
    commit_row(&h, chordal_transaction_remove, object, BOARD_NOTES, "1");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_outbox WHERE instr(data, CAST('put' AS BLOB))"), 1);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_outbox WHERE instr(data, CAST('remove' AS BLOB))"), 1);
}

/* A table is no state: who holds its object over a link sees that it is there, and no more. */
TEST(an_object_with_a_table_over_a_link) {
    test_pair p;
    new_store();
    memset(&p, 0, sizeof p);
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        open_store(&p.a);
        test_host_open(&p.b, (chordal_host_options){0});
        p.codec = codec;
        CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
        CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
        pair_up(&p);
        provide(&p.a, BOARD);
        chordal_id reference = get(&p.b, "board", "{\"name\":\"a\"}"), watch;
        settle(&p);
        CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
        CHECK_TEXT(value_of(&p.b, reference, BOARD_NOTES), "no_member");
        CHECK_INT(chordal_watch_open(p.b.host, reference, CHORDAL_ALL_MEMBERS, 0, &watch, NULL), 0);
        chordal_id object = object_in(&p.a, "board", "{\"name\":\"a\"}");
        commit_put(&p.a, object, BOARD_NOTES, ONE);
        set_json(&p.a, object, BOARD_TITLE, "", "\"x\"");
        settle(&p);
        CHECK_TEXT(value_of(&p.b, reference, BOARD_TITLE), "\"x\"");
        chordal_release(p.b.host, watch);
        chordal_release(p.b.host, reference);
        pair_close(&p);
    }
}

TEST(done) {
    remove_store();
}

TESTS({"rows_are_there_again", rows_are_there_again}, {"rows_of_every_length", rows_of_every_length},
      {"rows_belong_to_their_object", rows_belong_to_their_object},
      {"a_put_takes_three_statements", a_put_takes_three_statements},
      {"a_transaction_reads_what_it_wrote", a_transaction_reads_what_it_wrote}, {"conflicts_by_key", conflicts_by_key},
      {"a_commit_that_fails_takes_those_that_read_it", a_commit_that_fails_takes_those_that_read_it},
      {"tips_fall_to_what_stands", tips_fall_to_what_stands},
      {"a_crash_forgets_no_commit_number", a_crash_forgets_no_commit_number},
      {"numbers_go_on_after_a_close", numbers_go_on_after_a_close},
      {"a_retired_object_takes_its_rows", a_retired_object_takes_its_rows},
      {"packed_rows_hold_bytes", packed_rows_hold_bytes}, {"rows_in_packed_changes", rows_in_packed_changes},
      {"rows_that_do_not_fit", rows_that_do_not_fit}, {"long_keys", long_keys},
      {"declarations_that_are_refused", declarations_that_are_refused}, {"names_are_no_sql", names_are_no_sql},
      {"a_table_of_a_type_table", a_table_of_a_type_table}, {"columns_come_and_go", columns_come_and_go},
      {"what_does_not_fit_the_file", what_does_not_fit_the_file},
      {"old_rows_are_put_anew_page_by_page", old_rows_are_put_anew_page_by_page},
      {"rows_of_the_first_days_get_a_version", rows_of_the_first_days_get_a_version},
      {"a_store_of_the_first_schema_is_migrated", a_store_of_the_first_schema_is_migrated},
      {"the_outbox_has_rows", the_outbox_has_rows},
      {"an_object_with_a_table_over_a_link", an_object_with_a_table_over_a_link}, {"done", done})
