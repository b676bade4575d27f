/* store_documents.c: documents that are still there when their host is opened again, and what a step writes. */
#include "store.h"

static test_host h;

static chordal_id object_of(const char *type, const char *params) {
    chordal_id object = 0;
    chordal_error error = {0};
    int code = chordal_object_get(h.host, type, strlen(type), CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                  strlen(params), &object, &error);
    if (code) CHECK_FAIL("object: %d %s", code, error.detail);
    test_poll(&h);
    return object;
}

static chordal_id open_notes(void) {
    open_store(&h);
    provide(&h, NOTES);
    return object_of("notes", NOTES_PARAMS);
}

/* As after the death of the process: nothing is written any more, and its lock is gone. */
static void lose_process(void) {
    char name[128];
    snprintf(name, sizeof name, "%s-owner", store_path);
    unlink(name);
}

TEST(a_document_is_there_again) {
    new_store();
    chordal_id object = open_notes();
    CHECK_INT(store_number("SELECT count(*) FROM chordal_documents"), 0);
    set_json(&h, object, NOTES_LIST, "/entries/-", "{\"id\":1}");
    set_json(&h, object, NOTES_LIST, "/text", "\"a\"");
    set_json(&h, object, NOTES_TITLE, "", "\"first\"");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 3);
    append_text(&h, object, NOTES_LIST, "/text", "bc");
    test_poll(&h);
    test_host_close(&h);
    object = open_notes();
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[{\"id\":1}],\"text\":\"abc\"}");
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"first\"");
    set_json(&h, object, NOTES_TITLE, "", "\"second\"");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 5);
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_runs"), 2);
    CHECK_INT(store_number("SELECT last FROM chordal_runs ORDER BY id LIMIT 1"), 4);
}

/* A text of 1500 behind what is there, twice; `between`: the first one goes again. */
static int append_twice(chordal_id object, bool between) {
    static char text[1500];
    chordal_transaction *t;
    chordal_id ticket;
    memset(text, 'x', sizeof text);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_append(t, object, NOTES_LIST, "/text", text, sizeof text, NULL), 0);
    if (between) CHECK_INT(chordal_transaction_truncate(t, object, NOTES_LIST, "/text", sizeof text, NULL), 0);
    CHECK_INT(chordal_transaction_append(t, object, NOTES_LIST, "/text", text, sizeof text, NULL), 0);
    int code = chordal_transaction_commit(t, &ticket, NULL);
    test_poll(&h);
    return code;
}

/* Of a change that is too large to be read back the value is written. */
TEST(a_change_is_no_larger_than_a_value) {
    const chordal_host_options options = {.store = store_path, .message_limit = 2048};
    chordal_value *faults;
    uint64_t next;
    new_store();
    test_host_open(&h, options);
    provide(&h, NOTES);
    chordal_id object = object_of("notes", NOTES_PARAMS);
    set_json(&h, object, NOTES_LIST, "/text", "\"\"");
    test_poll(&h);
    CHECK_INT(append_twice(object, true), 0);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, 0);
    CHECK_INT(append_twice(object, false), CHORDAL_E_SIZE);
    test_host_close(&h);
    test_host_open(&h, options);
    provide(&h, NOTES);
    object = object_of("notes", NOTES_PARAMS);
    CHECK_INT(chordal_store_check(h.host, 0, 0, &faults, &next, NULL), 0);
    CHECK_TEXT(json_of(faults), "[]");
    CHECK_INT(strlen(head_of(&h, object, NOTES_LIST)), 1500 + strlen("{\"entries\":[],\"text\":\"\"}"));
    test_host_close(&h);
}

TEST(what_was_committed_is_written_at_the_end) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"late\"");
    test_host_close(&h);
    object = open_notes();
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"late\"");
    test_host_close(&h);
}

TEST(a_crash_forgets_no_commit_number) {
    test_host dead;
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"x\"");
    set_json(&h, object, NOTES_LIST, "/text", "\"y\"");
    test_poll(&h);
    dead = h;
    lose_process();
    object = open_notes();
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"y\"}");
    set_json(&h, object, NOTES_LIST, "/text", "\"z\"");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 3);
    test_host_close(&h);
    test_host_close(&dead);
}

TEST(nothing_is_seen_before_it_is_stored) {
    new_store();
    chordal_id watch, object = open_notes(), reference = get(&h, "notes", NOTES_PARAMS);
    test_poll(&h);
    CHECK_INT(chordal_watch_open(h.host, reference, NOTES_TITLE, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    uint64_t steps = test_counters(&h).steps;
    set_json(&h, object, NOTES_TITLE, "", "\"x\"");
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"\"");
    CHECK_INT(chordal_host_deadline(h.host), 0);
    test_poll(&h);
    CHECK_INT(test_counters(&h).steps - steps, 1);
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"x\"");
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 1);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_revisions"), 1);
    chordal_release(h.host, watch);
    chordal_release(h.host, reference);
    test_host_close(&h);
}

TEST(a_delta_takes_three_statements) {
    new_store();
    chordal_id object = open_notes();
    for (int i = 0; i < 3; i++) {
        set_json(&h, object, NOTES_LIST, "/entries/-", "{\"id\":1}");
        test_poll(&h);
    }
    uint64_t before = test_counters(&h).statements;
    set_json(&h, object, NOTES_LIST, "/entries/-", "{\"id\":1}");
    test_poll(&h);
    CHECK_INT(test_counters(&h).statements - before, 3);
    test_host_close(&h);
}

TEST(a_thousand_commits_of_a_turn_are_one_step) {
    new_store();
    chordal_id object = open_notes();
    uint64_t before = test_counters(&h).steps;
    for (int i = 0; i < 1000; i++) append_text(&h, object, NOTES_LIST, "/text", "x");
    test_poll(&h);
    CHECK_INT(test_counters(&h).steps - before, 1);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 1000);
    test_host_close(&h);
    object = open_notes();
    CHECK_INT(strlen(head_of(&h, object, NOTES_LIST)), strlen("{\"entries\":[],\"text\":\"\"}") + 1000);
    test_host_close(&h);
}

/* Old history goes with the next bases: what stays is read from one base and its deltas. */
TEST(history_is_compacted) {
    new_store();
    chordal_id object = open_notes();
    for (int i = 0; i < 5000; i++) {
        append_text(&h, object, NOTES_LIST, "/text", "x");
        if (i % 100 == 99) test_poll(&h);
    }
    for (int i = 0; i < 100 && chordal_host_deadline(h.host) == 0; i++) test_poll(&h);
    CHECK(chordal_host_deadline(h.host) != 0);
    CHECK(store_number("SELECT count(*) FROM chordal_revisions") <= 1026);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_revisions WHERE base = 1"), 1);
    test_host_close(&h);
    object = open_notes();
    CHECK_INT(strlen(head_of(&h, object, NOTES_LIST)), strlen("{\"entries\":[],\"text\":\"\"}") + 5000);
    test_host_close(&h);
}

#define MEMORY                                                                                                         \
    "{\"name\":\"mixed\",\"members\":[{\"name\":\"kept\",\"kind\":\"document\",\"initial\":0},"                        \
    "{\"name\":\"seen\",\"kind\":\"document\",\"initial\":0,\"persist\":false}]}"

TEST(a_document_may_stay_in_memory) {
    new_store();
    open_store(&h);
    provide(&h, MEMORY);
    chordal_id object = object_of("mixed", "{}");
    uint64_t steps = test_counters(&h).steps;
    set_json(&h, object, 1, "", "1");
    test_poll(&h);
    CHECK_INT(test_counters(&h).steps, steps);
    CHECK_TEXT(head_of(&h, object, 1), "1");
    set_json(&h, object, 0, "", "2");
    set_json(&h, object, 1, "", "3");
    CHECK_TEXT(head_of(&h, object, 1), "1"); /* it waits behind the other */
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 3);
    test_host_close(&h);
    open_store(&h);
    provide(&h, MEMORY);
    object = object_of("mixed", "{}");
    CHECK_TEXT(head_of(&h, object, 0), "2");
    CHECK_TEXT(head_of(&h, object, 1), "0");
    test_host_close(&h);
}

/* The queue waits twice: for its step, then for the derives that read it. */
TEST(a_derive_is_computed_of_what_is_stored) {
    new_store();
    open_store(&h);
    provide(&h, "{\"name\":\"sum\",\"members\":[{\"name\":\"a\",\"kind\":\"document\",\"initial\":1},"
                "{\"name\":\"twice\",\"kind\":\"derive\",\"from\":[\"a\"]}]}");
    chordal_id object = object_of("sum", "{}");
    host_event *asked = last_event(&h, CHORDAL_EVENT_COMPUTE);
    CHECK_INT(
        chordal_compute_answer(h.host, asked->as.compute.compute, CHORDAL_FORMAT_JSON, (const uint8_t *)"2", 1, NULL),
        0);
    test_poll(&h);
    set_json(&h, object, 0, "", "5");
    forget_events(&h);
    test_poll(&h);
    CHECK_INT(h.len, 1);
    CHECK_INT(h.events[0].kind, CHORDAL_EVENT_COMPUTE);
    CHECK_INT(chordal_compute_answer(h.host, h.events[0].as.compute.compute, CHORDAL_FORMAT_JSON, (const uint8_t *)"10",
                                     2, NULL),
              0);
    test_poll(&h);
    CHECK_TEXT(head_of(&h, object, 1), "10");
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 1);
    test_host_close(&h);
}

/* ---- commits that fail ---- */

#define POISON                                                                                                         \
    "CREATE TRIGGER poison BEFORE INSERT ON chordal_revisions WHEN instr(NEW.data, CAST('poison' AS BLOB)) "           \
    "BEGIN SELECT RAISE(ABORT, 'poisoned'); END"

static int ticket_code(chordal_id ticket) {
    for (size_t i = 0; i < h.len; i++)
        if (h.events[i].kind == CHORDAL_EVENT_TICKET && h.events[i].as.ticket.ticket == ticket)
            return h.events[i].as.ticket.code ? h.events[i].as.ticket.code : (int)h.events[i].as.ticket.commit;
    return 0;
}

TEST(a_commit_that_fails_takes_those_upon_it) {
    new_store();
    chordal_id object = open_notes(), other = object_of("notes", "{\"board\":\"other\"}");
    set_json(&h, object, NOTES_TITLE, "", "\"good\"");
    test_poll(&h);
    store_execute(POISON);
    forget_events(&h);
    chordal_id tickets[5] = {
        set_json(&h, other, NOTES_TITLE, "", "\"before\""), set_json(&h, object, NOTES_LIST, "/text", "\"poison\""),
        set_json(&h, object, NOTES_LIST, "/entries/-", "1"), set_json(&h, object, NOTES_TITLE, "", "\"beside\""),
        set_json(&h, other, NOTES_TITLE, "", "\"after\"")};
    test_poll(&h);
    CHECK_INT(ticket_code(tickets[0]), 2);
    CHECK_INT(ticket_code(tickets[1]), CHORDAL_E_DISK_IO);
    CHECK_INT(ticket_code(tickets[2]), CHORDAL_E_CONFLICT);
    CHECK_INT(ticket_code(tickets[3]), 3);
    CHECK_INT(ticket_code(tickets[4]), 4);
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    set_json(&h, object, NOTES_LIST, "/text", "\"well\"");
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    CHECK_TEXT(head_of(&h, object, NOTES_LIST | CHORDAL_PREPARED), "{\"entries\":[],\"text\":\"well\"}");
    test_poll(&h);
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"well\"}");
    CHECK_TEXT(head_of(&h, other, NOTES_TITLE), "\"after\"");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_revisions WHERE instr(data, CAST('poison' AS BLOB))"), 0);
    object = open_notes();
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"well\"}");
    test_host_close(&h);
}

/* Reading what failed is building on it, too; a transaction that is still open conflicts. */
TEST(what_was_read_from_a_failed_commit_falls_with_it) {
    new_store();
    chordal_id object = open_notes(), other = object_of("notes", "{\"board\":\"other\"}"), ticket;
    chordal_transaction *reader, *open;
    chordal_value *value;
    set_json(&h, object, NOTES_TITLE, "", "\"good\"");
    test_poll(&h);
    store_execute(POISON);
    chordal_id poisoned = set_json(&h, object, NOTES_TITLE, "", "\"poison\"");
    CHECK_INT(chordal_transaction_begin(h.host, 0, &reader, NULL), 0);
    CHECK_INT(chordal_transaction_value(reader, object, NOTES_TITLE, "", &value, NULL), 0);
    CHECK_TEXT(json_of(value), "\"poison\"");
    CHECK_INT(chordal_transaction_set_json(reader, other, NOTES_TITLE, "", "1", NULL), 0);
    CHECK_INT(chordal_transaction_commit(reader, &ticket, NULL), 0);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &open, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(open, object, NOTES_TITLE, "", "2", NULL), 0);
    test_poll(&h);
    CHECK_INT(ticket_code(poisoned), CHORDAL_E_DISK_IO);
    CHECK_INT(ticket_code(ticket), CHORDAL_E_CONFLICT);
    CHECK_INT(chordal_transaction_commit(open, &ticket, NULL), CHORDAL_E_CONFLICT);
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"good\"");
    CHECK_TEXT(head_of(&h, other, NOTES_TITLE), "\"\"");
    test_host_close(&h);
}

/* A call's outcome is that of its commits; a program that was told of the failure may think of something else. */
TEST(a_call_fails_with_its_commit) {
    new_store();
    chordal_id object = open_notes(), reference = get(&h, "notes", NOTES_PARAMS);
    set_json(&h, object, NOTES_TITLE, "", "\"good\"");
    test_poll(&h);
    store_execute(POISON);
    for (int told = 0; told < 2; told++) {
        chordal_id served;
        call(&h, reference, "add", "[]");
        test_poll(&h);
        served = last_event(&h, CHORDAL_EVENT_CALL)->as.call.call;
        set_json_for(&h, served, object, NOTES_TITLE, "", "\"poison\"");
        if (told) test_poll(&h);
        CHECK_INT(answer(&h, served, "7"), 0);
        test_poll(&h);
        CHECK_INT(last_event(&h, CHORDAL_EVENT_RESULT)->as.result.code, told ? 0 : CHORDAL_E_DISK_IO);
    }
    chordal_release(h.host, reference);
    test_host_close(&h);
}

/* ---- lives ---- */

TEST(a_retired_document_begins_anew) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"first life\"");
    CHECK_INT(chordal_object_retire(h.host, object, NULL), 0);
    test_poll(&h);
    object = object_of("notes", NOTES_PARAMS);
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"\"");
    set_json(&h, object, NOTES_TITLE, "", "\"second life\"");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT max(incarnation) FROM chordal_documents"), 2);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_documents WHERE retired IS NULL"), 1);
    object = open_notes();
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"second life\"");
    test_host_close(&h);
}

TEST(an_object_that_is_let_go_is_found_again) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"stays\"");
    CHECK_INT(chordal_object_drop(h.host, object, NULL), 0);
    object = object_of("notes", NOTES_PARAMS); /* before the step of its commit */
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"stays\"");
    test_poll(&h);
    test_host_close(&h);
}

TEST(versions) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"one\"");
    test_host_close(&h);
    open_store(&h);
    provide(&h, "{\"name\":\"notes\",\"version\":3,\"params\":[\"board\"],\"start\":true,\"members\":["
                "{\"name\":\"more\",\"kind\":\"document\"},{\"name\":\"title\",\"kind\":\"document\"}]}");
    object = object_of("notes", NOTES_PARAMS);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.version, 1);
    CHECK_TEXT(head_of(&h, object, 1), "\"one\"");
    set_json(&h, object, 1, "", "\"three\"");
    test_host_close(&h);
    open_store(&h);
    provide(&h, NOTES);
    chordal_error error = {0};
    CHECK_INT(chordal_object_get(h.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &object, &error),
              CHORDAL_E_TYPE_VERSION);
    CHECK_TEXT(error.detail, "a document was written by a newer version of the type: 3");
    CHECK_INT(test_counters(&h).live_objects, 0);
    test_host_close(&h);
}

/* One commit of a newer version raises all documents of its object, or none. */
TEST(documents_rise_together) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"one\"");
    set_json(&h, object, NOTES_LIST, "/entries/-", "1");
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_documents WHERE version = 1"), 2);
    for (int round = 0; round < 2; round++) {
        open_store(&h);
        provide(&h, "{\"name\":\"notes\",\"version\":2,\"params\":[\"board\"],\"start\":true,\"members\":["
                    "{\"name\":\"list\",\"kind\":\"document\"},{\"name\":\"title\",\"kind\":\"document\"}]}");
        object = object_of("notes", NOTES_PARAMS);
        CHECK_INT(last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.version, round ? 2 : 1);
        set_json(&h, object, 1, "", "\"two\"");
        test_poll(&h);
        CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, 0);
        CHECK_INT(store_number("SELECT count(*) FROM chordal_documents WHERE version = 2"), 2);
        test_host_close(&h);
    }
}

static int commit_of(chordal_id object, chordal_id of, const char *json) {
    chordal_transaction *t;
    chordal_id ticket;
    CHECK_INT(chordal_transaction_begin(h.host, of, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_TITLE, "", json, NULL), 0);
    return chordal_transaction_commit(t, &ticket, NULL);
}

/* Nobody else changes what is to be migrated, also when that failed. */
TEST(a_migration_comes_first) {
    new_store();
    chordal_id object = open_notes();
    set_json(&h, object, NOTES_TITLE, "", "\"one\"");
    test_host_close(&h);
    for (int round = 0; round < 2; round++) {
        open_store(&h);
        provide(&h, "{\"name\":\"notes\",\"version\":2,\"params\":[\"board\"],\"start\":true,\"migrates\":true,"
                    "\"members\":[{\"name\":\"list\",\"kind\":\"document\"},"
                    "{\"name\":\"title\",\"kind\":\"document\"}]}");
        object = object_of("notes", NOTES_PARAMS);
        CHECK_INT(commit_of(object, 0, "\"early\""), CHORDAL_E_STATE);
        if (round == 0) {
            CHECK_INT(chordal_object_start(h.host, object, "no", 2, "", 0, NULL), 0);
            CHECK_INT(commit_of(object, 0, "\"failed\""), CHORDAL_E_STATE);
        } else {
            CHECK_INT(commit_of(object, object, "\"two\""), 0);
            test_poll(&h);
            CHECK_INT(commit_of(object, 0, "\"started\""), 0);
            CHECK_INT(chordal_object_start(h.host, object, "", 0, "", 0, NULL), 0);
        }
        test_poll(&h);
        CHECK_TEXT(head_of(&h, object, NOTES_TITLE), round ? "\"started\"" : "\"one\"");
        test_host_close(&h);
        CHECK_INT(store_number("SELECT min(version) FROM chordal_documents"), round + 1);
    }
}

TEST(damage_is_named) {
    new_store();
    chordal_id object = open_notes();
    for (int i = 0; i < 4; i++) set_json(&h, object, NOTES_LIST, "/entries/-", "1");
    set_json(&h, object, NOTES_TITLE, "", "1");
    test_host_close(&h);
    store_execute("UPDATE chordal_revisions SET data = x'ff' WHERE id = (1 << 36) + 3");
    open_store(&h);
    provide(&h, NOTES);
    chordal_error error = {0};
    CHECK_INT(chordal_object_get(h.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &object, &error),
              CHORDAL_E_CORRUPT);
    CHECK_INT(error.position, (INT64_C(1) << 36) + 3);
    chordal_id other = object_of("notes", "{\"board\":\"other\"}"); /* the rest of the store is well */
    set_json(&h, other, NOTES_TITLE, "", "2");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code, 0);
    test_host_close(&h);
}

TEST(done) {
    remove_store();
}

TESTS({"a_document_is_there_again", a_document_is_there_again},
      {"a_change_is_no_larger_than_a_value", a_change_is_no_larger_than_a_value},
      {"what_was_committed_is_written_at_the_end", what_was_committed_is_written_at_the_end},
      {"a_crash_forgets_no_commit_number", a_crash_forgets_no_commit_number},
      {"nothing_is_seen_before_it_is_stored", nothing_is_seen_before_it_is_stored},
      {"a_delta_takes_three_statements", a_delta_takes_three_statements},
      {"a_thousand_commits_of_a_turn_are_one_step", a_thousand_commits_of_a_turn_are_one_step},
      {"history_is_compacted", history_is_compacted}, {"a_document_may_stay_in_memory", a_document_may_stay_in_memory},
      {"a_derive_is_computed_of_what_is_stored", a_derive_is_computed_of_what_is_stored},
      {"a_commit_that_fails_takes_those_upon_it", a_commit_that_fails_takes_those_upon_it},
      {"what_was_read_from_a_failed_commit_falls_with_it", what_was_read_from_a_failed_commit_falls_with_it},
      {"a_call_fails_with_its_commit", a_call_fails_with_its_commit},
      {"a_retired_document_begins_anew", a_retired_document_begins_anew},
      {"an_object_that_is_let_go_is_found_again", an_object_that_is_let_go_is_found_again}, {"versions", versions},
      {"documents_rise_together", documents_rise_together}, {"a_migration_comes_first", a_migration_comes_first},
      {"damage_is_named", damage_is_named}, {"done", done})
