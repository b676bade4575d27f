/* store_sweeps.c: all rows that match, changed or removed at once: by one statement in the step, and row by row where
 * somebody has to have the rows before. Whoever looks, and whenever, sees the same. */
#include "tables.h"

static test_host h;

#define TYPE                                                                                                           \
    "{\"name\":\"s\",\"keep\":true,\"params\":[\"k\"],\"members\":[{\"name\":\"rows\",\"kind\":\"table\",\"columns\":" \
    "{\"id\":\"integer\",\"n\":\"integer\",\"t\":\"text\",\"j\":\"json\"},\"key\":[\"id\"],\"indexes\":{\"by_n\":"     \
    "[\"n\"]}}]}"
#define ALL "null"
#define IS(n) "{\"eq\":[\"n\"," #n "]}"

static chordal_id open_rows(uint32_t flags) {
    new_store();
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = flags});
    provide(&h, TYPE);
    return object_in(&h, "s", "{\"k\":1}");
}

/* Rows 1 to count: n is 1 and 2 in turns. */
static void put_some(chordal_id object, int count) {
    chordal_transaction *t = draft_on(&h);
    for (int i = 1; i <= count; i++) {
        char row[64];
        snprintf(row, sizeof row, "{\"id\":%d,\"n\":%d,\"t\":\"t\",\"j\":[%d]}", i, 2 - i % 2, i);
        put(t, object, 0, row);
    }
    commit(t);
    test_poll(&h);
}

static uint64_t update(chordal_transaction *t, chordal_id object, const char *where, const char *changes) {
    uint64_t count = UINT64_MAX;
    CHECK_INT(chordal_transaction_update_where(t, object, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)where, strlen(where),
                                               (const uint8_t *)changes, strlen(changes), &count, NULL),
              0);
    return count;
}

static uint64_t remove_all(chordal_transaction *t, chordal_id object, const char *where) {
    uint64_t count = UINT64_MAX;
    CHECK_INT(chordal_transaction_delete_where(t, object, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)where, strlen(where),
                                               &count, NULL),
              0);
    return count;
}

static chordal_id commit_update(chordal_id object, const char *where, const char *changes) {
    chordal_transaction *t = draft_on(&h);
    update(t, object, where, changes);
    return commit(t);
}

/* "id:n id:n …" of an answer. */
static const char *pairs(const char *answer) {
    static char text[1 << 14];
    size_t len = 0;
    text[0] = 0;
    if (answer[0] != '{' && answer[0] != '[') return answer;
    for (const char *at = answer; (at = strstr(at, "{\"id\":")) != NULL; at++) {
        const char *n = strstr(at, "\"n\":") + 4;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d:%.*s", len ? " " : "", atoi(at + 6),
                                (int)strcspn(n, ",}"), n);
    }
    return text;
}

#define SEEN(t, object) pairs(query_in(t, object, 0, "{}"))
#define STORED(object) pairs(query_of(&h, object, 0, "{}"))

/* ---- what it costs ---- */

static uint64_t statements_of(chordal_id object, const char *changes, uint64_t matching) {
    chordal_transaction *t = draft_on(&h);
    uint64_t before = test_counters(&h).statements;
    CHECK_INT(changes ? update(t, object, ALL, changes) : remove_all(t, object, ALL), matching);
    commit(t);
    test_poll(&h);
    return test_counters(&h).statements - before;
}

TEST(a_sweep_takes_four_statements) {
    chordal_id object = open_rows(0), other = object_in(&h, "s", "{\"k\":2}");
    put_some(object, 1000);
    put_some(other, 10);
    CHECK_INT(statements_of(object, "{\"n\":7,\"t\":\"all\"}", 1000), 4); /* count, begin, change, commit */
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_1 WHERE c1 = 7 AND c2 = 'all'"), 1000);
    CHECK_INT(statements_of(other, NULL, 10), 4);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_1"), 1000);
    CHECK_INT(statements_of(other, NULL, 0), 1);
    test_host_close(&h);
}

/* It matches, but nothing is written, and the commit has no number. */
TEST(rows_that_stay_as_they_are_are_not_written) {
    chordal_id object = open_rows(0);
    put_some(object, 4);
    store_execute("UPDATE chordal_table_1 SET v = 0");
    CHECK_INT(statements_of(object, "{\"n\":2}", 4), 4);
    CHECK_INT(store_number("SELECT sum(v) FROM chordal_table_1"), 2);
    CHECK_INT(statements_of(object, "{\"n\":2}", 4), 1);
    CHECK_INT(statements_of(object, "{}", 4), 1);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, 0);
    CHECK_INT(statements_of(object, "{\"n\":null,\"t\":null,\"j\":{\"a\":1}}", 4), 4);
    CHECK_TEXT(row_of(&h, object, 0, "4"), "{\"id\":4,\"n\":null,\"t\":null,\"j\":{\"a\":1}}");
    CHECK_INT(store_number("SELECT sum(v) FROM chordal_table_1"), 4);
    test_host_close(&h);
}

/* ---- in its own transaction ---- */

TEST(a_transaction_goes_on_behind_its_sweep) {
    chordal_id object = open_rows(0);
    put_some(object, 4);
    chordal_transaction *t = draft_on(&h);
    CHECK_TEXT(pairs(row_in(t, object, 0, "3")), "3:1"); /* read before, and other then */
    CHECK_INT(update(t, object, IS(1), "{\"n\":5}"), 2);
    CHECK_TEXT(pairs(row_in(t, object, 0, "3")), "3:5");
    CHECK_TEXT(STORED(object), "1:1 2:2 3:1 4:2");
    CHECK_INT(remove_all(t, object, IS(2)), 2);
    CHECK_TEXT(SEEN(t, object), "1:5 3:5");
    chordal_transaction_abort(t);
    t = draft_on(&h);
    update(t, object, IS(1), "{\"n\":5}");
    CHECK_TEXT(SEEN(t, object), "1:5 2:2 3:5 4:2");
    chordal_transaction_abort(t);
    t = draft_on(&h);
    update(t, object, IS(1), "{\"n\":5}");
    put(t, object, 0, "{\"id\":1,\"n\":8}");
    patch(t, object, 0, "{\"id\":3,\"t\":\"patched\"}");
    take_out(t, object, 0, "2");
    CHECK_INT(update(t, object, IS(5), "{\"n\":6}"), 1);
    commit(t);
    t = draft_on(&h);
    CHECK_TEXT(SEEN(t, object), "1:8 3:6 4:2");
    chordal_transaction_abort(t);
    test_poll(&h);
    CHECK_TEXT(STORED(object), "1:8 3:6 4:2");
    CHECK(strstr(row_of(&h, object, 0, "3"), "patched") != NULL);
    test_host_close(&h);
}

/* ---- in the queue ---- */

TEST(others_see_it_before_the_step) {
    chordal_id object = open_rows(0);
    put_some(object, 4);
    commit_update(object, IS(1), "{\"n\":5}");
    commit_put(&h, object, 0, "{\"id\":3,\"n\":9}"); /* blind, over it */
    commit_put(&h, object, 0, "{\"id\":6,\"n\":1}");
    chordal_transaction *t = draft_on(&h);
    CHECK_TEXT(pairs(row_in(t, object, 0, "1")), "1:5");
    CHECK_TEXT(pairs(row_in(t, object, 0, "3")), "3:9");
    CHECK_TEXT(SEEN(t, object), "1:5 2:2 3:9 4:2 6:1");
    CHECK_INT(update(t, object, IS(5), "{\"n\":4}"), 1);
    commit(t);
    commit_update(object, IS(4), "{\"n\":3}");
    CHECK_TEXT(STORED(object), "1:1 2:2 3:1 4:2");
    test_poll(&h);
    CHECK_TEXT(STORED(object), "1:3 2:2 3:9 4:2 6:1");
    t = draft_on(&h);
    CHECK_INT(remove_all(t, object, ALL), 5);
    commit(t);
    t = draft_on(&h);
    CHECK_TEXT(row_in(t, object, 0, "1"), "not_found");
    CHECK_TEXT(SEEN(t, object), "");
    chordal_transaction_abort(t);
    test_poll(&h);
    CHECK_TEXT(STORED(object), "");
    test_host_close(&h);
}

TEST(sweeps_conflict_as_rows_do) {
    chordal_id ticket, object = open_rows(0);
    put_some(object, 4);
    chordal_transaction *reader = draft_on(&h), *other = draft_on(&h), *asker = draft_on(&h), *late = draft_on(&h);
    (void)row_in(reader, object, 0, "1");
    (void)row_in(other, object, 0, "2");
    (void)query_in(asker, object, 0, "{\"where\":{\"eq\":[\"id\",2]}}");
    update(late, object, IS(2), "{\"n\":3}");
    commit_update(object, IS(1), "{\"n\":5}");
    chordal_transaction *all[] = {reader, other, asker};
    for (int i = 0; i < 3; i++) put(all[i], object, 0, "{\"id\":10}");
    CHECK_INT(commit_code(reader, &ticket), CHORDAL_E_CONFLICT);
    CHECK_INT(commit_code(other, &ticket), 0); /* its row is as it was */
    CHECK_INT(commit_code(asker, &ticket), CHORDAL_E_CONFLICT);
    CHECK_INT(commit_code(late, &ticket), CHORDAL_E_CONFLICT);
    test_poll(&h);
    CHECK_TEXT(STORED(object), "1:5 2:2 3:5 4:2 10:null");
    test_host_close(&h);
}

#define POISON                                                                                                         \
    "CREATE TRIGGER poison BEFORE UPDATE ON chordal_table_1 WHEN NEW.c2 = 'poison' BEGIN SELECT RAISE(ABORT, 'no'); "  \
    "END"

/* The first is refused by the file: who read of it falls with it, others do not. */
TEST(a_sweep_that_fails_takes_those_that_read_it) {
    chordal_id object = open_rows(0), tickets[5];
    put_some(object, 4);
    store_execute(POISON);
    forget_events(&h);
    tickets[0] = commit_update(object, IS(1), "{\"t\":\"poison\"}");
    tickets[1] = commit_put(&h, object, 0, "{\"id\":7,\"n\":7}");
    tickets[2] = commit_row(&h, chordal_transaction_patch, object, 0, "{\"id\":1,\"n\":8}");
    tickets[3] = commit_row(&h, chordal_transaction_patch, object, 0, "{\"id\":2,\"n\":8}");
    tickets[4] = commit_update(object, IS(8), "{\"n\":9}");
    chordal_transaction *open = draft_on(&h);
    (void)SEEN(open, object);
    put(open, object, 0, "{\"id\":11}");
    test_poll(&h);
    CHECK_INT(ticket_code(&h, tickets[0]), CHORDAL_E_DISK_IO);
    CHECK_INT(ticket_code(&h, tickets[1]), 2);
    CHECK_INT(ticket_code(&h, tickets[2]), CHORDAL_E_CONFLICT);
    CHECK_INT(ticket_code(&h, tickets[3]), 3);
    CHECK_INT(ticket_code(&h, tickets[4]), CHORDAL_E_CONFLICT);
    CHECK_INT(commit_code(open, &tickets[0]), CHORDAL_E_CONFLICT);
    CHECK_TEXT(STORED(object), "1:1 2:8 3:1 4:2 7:7");
    tickets[0] = commit_update(object, IS(1), "{\"t\":\"good\"}");
    test_poll(&h);
    CHECK_INT(ticket_code(&h, tickets[0]), 4);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_1 WHERE c2 = 'good'"), 2);
    test_host_close(&h);
}

/* ---- those who are told of rows ---- */

static chordal_id hold(const char *query) {
    char params[256];
    snprintf(params, sizeof params, "{\"type\":\"s\",\"params\":{\"k\":1},\"member\":\"rows\",\"query\":%s}", query);
    return get(&h, "chordal.query", params);
}

TEST(live_queries_follow_sweeps) {
    chordal_id object = open_rows(0), watch;
    put_some(object, 6);
    chordal_id rows = hold("{\"where\":{\"gt\":[\"n\",1]},\"limit\":2}"), groups = hold("{\"group\":[\"n\"]}");
    test_poll(&h);
    CHECK_INT(chordal_watch_open(h.host, rows, 0, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    chordal_id ticket = commit_update(object, IS(1), "{\"n\":5}");
    chordal_transaction *t = draft_on(&h);
    remove_all(t, object, IS(2));
    commit(t);
    test_poll(&h);
    CHECK_INT(ticket_code(&h, ticket), 2);
    CHECK_TEXT(pairs(value_of(&h, rows, 0)), "1:5 3:5");
    CHECK_TEXT(value_of(&h, groups, 0), "[{\"group\":{\"n\":5},\"count\":3}]");
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->as.frame.commit, 3);
    ticket = commit_update(object, ALL, "{\"t\":\"last\"}");
    test_poll(&h);
    CHECK(strstr(value_of(&h, rows, 0), "\"last\"") != NULL);
    chordal_id mine[] = {watch, rows, groups};
    for (int i = 0; i < 3; i++) chordal_release(h.host, mine[i]);
    test_host_close(&h);
}

/* It comes between the commit and its step. */
TEST(a_live_query_comes_before_the_step) {
    chordal_id object = open_rows(0);
    put_some(object, 4);
    commit_update(object, IS(1), "{\"n\":5}");
    chordal_id rows = hold("{}"), groups = hold("{\"group\":[\"n\"],\"sum\":\"id\"}");
    commit_update(object, IS(5), "{\"n\":6}");
    test_poll(&h);
    commit_update(object, IS(6), "{\"n\":7}");
    test_poll(&h);
    CHECK_TEXT(pairs(value_of(&h, rows, 0)), "1:7 2:2 3:7 4:2");
    CHECK_TEXT(value_of(&h, groups, 0), "[{\"group\":{\"n\":2},\"sum\":6},{\"group\":{\"n\":7},\"sum\":4}]");
    chordal_release(h.host, rows);
    chordal_release(h.host, groups);
    test_host_close(&h);
}

TEST(the_outbox_has_the_rows_of_sweeps) {
    char page[4096];
    chordal_value *value = NULL;
    uint64_t next;
    size_t len;
    chordal_id object = open_rows(CHORDAL_STORE_OUTBOX);
    put_some(object, 3);
    commit_update(object, IS(1), "{\"n\":5}");
    chordal_transaction *t = draft_on(&h);
    remove_all(t, object, IS(2));
    commit(t);
    test_poll(&h);
    CHECK_INT(chordal_store_outbox(h.host, 1, 0, &value, &next, NULL), 0);
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, (uint8_t *)page, sizeof page - 1, &len, NULL), 0);
    page[len] = 0;
    chordal_value_unref(value);
#define AT "{\"type\":\"s\",\"params\":{\"k\":1},\"member\":\"rows\","
    CHECK_TEXT(page, "[{\"commit\":2,\"writes\":[" AT "\"put\":{\"id\":1,\"n\":5,\"t\":\"t\",\"j\":[1]}}," AT
                     "\"put\":{\"id\":3,\"n\":5,\"t\":\"t\",\"j\":[3]}}]},{\"commit\":3,\"writes\":[" AT
                     "\"remove\":[2]}]}]");
    test_host_close(&h);
}

/* ---- all of it at random: what is done at once is what is done row by row ---- */

enum { IDS = 12, STEPS = 3000 };

static uint32_t random_below(uint32_t limit) {
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % limit;
}

/* What one transaction does next, to either of the objects. */
static char row[64], where[64], changes[64];

static void write_act(void) {
    static const char *const conditions[] = {"{\"eq\":[\"n\",", "{\"ge\":[\"id\",", "{\"ne\":[\"n\",",
                                             "{\"le\":[\"id\",", "{\"gt\":[\"n\","};
    static const char *const sets[] = {
        "{\"n\":1}", "{\"n\":3}",  "{\"n\":null}", "{\"t\":\"a\"}", "{\"n\":4,\"t\":\"b\"}",
        "{}",        "{\"j\":[]}", "{\"n\":5}"};
    snprintf(where, sizeof where, "%s%d]}", conditions[random_below(5)], (int)random_below(6));
    if (random_below(5) == 0) snprintf(where, sizeof where, "%s", random_below(2) ? ALL : "{\"null\":\"n\"}");
    snprintf(changes, sizeof changes, "%s", sets[random_below(8)]);
    snprintf(row, sizeof row, "{\"id\":%d,\"n\":%d}", 1 + (int)random_below(IDS), (int)random_below(6));
}

static uint64_t act(chordal_transaction *t, chordal_id object, uint32_t what) {
    char key[16];
    snprintf(key, sizeof key, "%d", atoi(row + 6));
    if (what < 3) return update(t, object, where, changes);
    if (what == 3) return remove_all(t, object, where);
    if (what == 4) take_out(t, object, 0, key);
    if (what > 4) put(t, object, 0, row);
    return 0;
}

#define SAME "{}"

static void compare(chordal_transaction *t[2], const chordal_id objects[2]) {
    static char first[sizeof row_text];
    const char *one = t ? query_in(t[0], objects[0], 0, SAME) : query_of(&h, objects[0], 0, SAME);
    snprintf(first, sizeof first, "%s", one);
    CHECK_TEXT(first, t ? query_in(t[1], objects[1], 0, SAME) : query_of(&h, objects[1], 0, SAME));
}

/* Of the second object a row (that is not there) is removed first, so that it has no sweeps. */
static void change_both(const chordal_id objects[2]) {
    chordal_transaction *t[2] = {draft_on(&h), draft_on(&h)};
    take_out(t[1], objects[1], 0, "99");
    for (uint32_t left = 1 + random_below(3); left; left--) {
        uint32_t what = random_below(8);
        write_act();
        CHECK_INT(act(t[0], objects[0], what), act(t[1], objects[1], what));
        if (random_below(4) == 0) compare(t, objects);
    }
    for (int i = 0; i < 2; i++) commit(t[i]);
}

TEST(at_once_is_row_by_row) {
    chordal_id objects[2] = {open_rows(0), object_in(&h, "s", "{\"k\":2}")}, held = 0;
    for (int i = 0; i < STEPS; i++) {
        change_both(objects);
        if (random_below(30) == 0) {
            if (held) chordal_release(h.host, held);
            held = held ? 0 : hold("{\"order\":[\"n\"],\"limit\":3}");
        }
        if (random_below(3)) continue;
        test_poll(&h);
        compare(NULL, objects);
        if (!held) continue;
        char expected[512];
        snprintf(expected, sizeof expected, "%s",
                 pairs(query_of(&h, objects[0], 0, "{\"order\":[\"n\"],\"limit\":3}")));
        CHECK_TEXT(pairs(value_of(&h, held, 0)), expected);
    }
    if (held) chordal_release(h.host, held);
    test_host_close(&h);
}

TESTS({"a_sweep_takes_four_statements", a_sweep_takes_four_statements},
      {"rows_that_stay_as_they_are_are_not_written", rows_that_stay_as_they_are_are_not_written},
      {"a_transaction_goes_on_behind_its_sweep", a_transaction_goes_on_behind_its_sweep},
      {"others_see_it_before_the_step", others_see_it_before_the_step},
      {"sweeps_conflict_as_rows_do", sweeps_conflict_as_rows_do},
      {"a_sweep_that_fails_takes_those_that_read_it", a_sweep_that_fails_takes_those_that_read_it},
      {"live_queries_follow_sweeps", live_queries_follow_sweeps},
      {"a_live_query_comes_before_the_step", a_live_query_comes_before_the_step},
      {"the_outbox_has_the_rows_of_sweeps", the_outbox_has_the_rows_of_sweeps},
      {"at_once_is_row_by_row", at_once_is_row_by_row})
