/* check.c: looking for damage: what SQLite finds in the file, what the tables say of each other, then whether each
 * document is what its revisions come to, and each row what its table is (check_rows.c). A fault is told with its
 * place; only want of memory ends the look. */
#include "store/store.h"

#include <sqlite3.h>

void chordal__fault_words(chordal__page *page, const char *words) {
    size_t position, len = words ? strlen(words) : 0;
    bool readable = len && chordal__utf_valid((const uint8_t *)words, len, &position);
    if (readable)
        chordal__page_text(page, "detail", words, len);
    else
        chordal__page_text(page, "detail", "damaged", 7);
}

void chordal__fault_nothing(chordal__page *page, const char *key) {
    chordal__page_key(page, key);
    chordal__buffer_text(&page->out, "null");
}

void chordal__fault_place(chordal__page *page, const char *table, uint64_t row) {
    chordal__page_key(page, "place");
    chordal__buffer_byte(&page->out, '"');
    chordal__buffer_text(&page->out, table);
    chordal__buffer_byte(&page->out, ' ');
    chordal__buffer_decimal(&page->out, row);
    chordal__buffer_byte(&page->out, '"');
}

void chordal__fault_tell(chordal__page *page, const char *table, uint64_t row, const char *words) {
    chordal__page_open(page);
    if (table)
        chordal__fault_place(page, table, row);
    else
        chordal__fault_nothing(page, "place");
    chordal__fault_words(page, words);
    chordal__fault_nothing(page, "type");
    chordal__fault_nothing(page, "params");
    chordal__fault_nothing(page, "member");
    chordal__fault_nothing(page, "key");
    chordal__page_close(page);
}

int chordal__fault_told(chordal__page *page, int code, const chordal_error *why, chordal_error *error) {
    if (code == CHORDAL_E_NOMEM) return chordal__fail(error, code, 0, "no memory for a check");
    if (code < 0) chordal__fault_tell(page, NULL, 0, why->detail);
    return 0;
}

/* ---- the file ---- */

static int check_file(chordal__page *page, chordal_error *error) {
    int code, result;
    chordal_error why = {0};
    sqlite3_stmt *statement = chordal__statement(page->store, CHORDAL__SQL_CHECK_FILE, &code, &why);
    if (code < 0) return chordal__fault_told(page, code, &why, error);
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *words = (const char *)sqlite3_column_text(statement, 0);
        if (!words || strcmp(words, "ok") != 0) chordal__fault_tell(page, NULL, 0, words);
    }
    return chordal__fault_told(page, chordal__statement_end(page->store, statement, result, &why), &why, error);
}

/* What no row may be. */
static const struct {
    int statement;
    const char *table, *words;
} rules[] = {
    {CHORDAL__SQL_CHECK_RUNS, "chordal_runs", "a run that does not follow from the one before it"},
    {CHORDAL__SQL_CHECK_RUN_OF, "chordal_documents", "a document of a run that is not there"},
    {CHORDAL__SQL_CHECK_LIVES, "chordal_documents", "two documents live at one address"},
    {CHORDAL__SQL_CHECK_OWNER, "chordal_revisions", "a revision of no document"},
};

static int check_rule(chordal__page *page, size_t rule, chordal_error *error) {
    int code;
    chordal_error why = {0};
    sqlite3_stmt *statement = chordal__statement(page->store, rules[rule].statement, &code, &why);
    if (code < 0) return chordal__fault_told(page, code, &why, error);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        chordal__fault_tell(page, rules[rule].table, (uint64_t)sqlite3_column_int64(statement, 0), rules[rule].words);
    return chordal__fault_told(page, chordal__statement_end(page->store, statement, result, &why), &why, error);
}

/* A list that can be told has no damaged names; of one that has the first is told. */
static int check_list(chordal__page *page, int (*list)(chordal__page *page, uint64_t after, chordal_error *error),
                      const char *table, chordal_error *error) {
    int code = 0;
    chordal_error why = {0};
    chordal__page trial = {.next = 0};
    do {
        uint64_t after = trial.next;
        chordal__page_begin(&trial, page->store, page->limits, 0);
        code = list(&trial, after, &why);
        if (code == 0) code = trial.out.failed;
        if (code == 0) code = chordal__page_goes_on(&trial, after, &why);
        chordal__buffer_dispose(&trial.out);
    } while (code == 0 && trial.next);
    if (code != CHORDAL_E_CORRUPT || !why.position) return chordal__fault_told(page, code, &why, error);
    chordal__fault_tell(page, table, why.position, why.detail);
    return 0;
}

static int check_whole(chordal__page *page, chordal_error *error) {
    int code = check_file(page, error);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && code == 0; i++) code = check_rule(page, i, error);
    if (code == 0) code = check_list(page, chordal__tables_list, "chordal_tables", error);
    if (code == 0) code = check_list(page, chordal__owners_list, "chordal_owners", error);
    return code;
}

/* ---- documents ---- */

enum { ID, CREATED = 7, RETIRED = 8 };

static void tell_document(chordal__page *page, sqlite3_stmt *row, const char *table, const chordal_error *why) {
    chordal__page_open(page);
    chordal__fault_place(page, table, why->position);
    chordal__fault_words(page, why->detail);
    (void)chordal__listing_name(page, row, NULL);
    chordal__fault_nothing(page, "key");
    chordal__page_close(page);
}

/* Its name is read first: what cannot be named is told by its row. */
static int check_name(chordal__page *page, sqlite3_stmt *row, chordal_error *why) {
    chordal__page trial;
    chordal__page_begin(&trial, page->store, page->limits, 1);
    int code = chordal__listing_name(&trial, row, why);
    if (code == 0) code = trial.out.failed;
    chordal__buffer_dispose(&trial.out);
    return code;
}

static int check_document(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    chordal_error why = {0};
    bool retired = sqlite3_column_type(row, RETIRED) != SQLITE_NULL;
    uint64_t last = retired ? (uint64_t)sqlite3_column_int64(row, RETIRED) : CHORDAL__NEWEST;
    int code = check_name(page, row, &why);
    if (code < 0 && code != CHORDAL_E_NOMEM) {
        chordal__fault_tell(page, "chordal_documents", (uint64_t)sqlite3_column_int64(row, ID), why.detail);
        return 0;
    }
    if (code == 0)
        code = chordal__document_check(page->store, sqlite3_column_int64(row, ID),
                                       (uint64_t)sqlite3_column_int64(row, CREATED), last, page->limits, &why);
    if (code == CHORDAL_E_CORRUPT) tell_document(page, row, "chordal_revisions", &why);
    return code == CHORDAL_E_CORRUPT ? 0 : chordal__fault_told(page, code, &why, error);
}

static int check_documents(chordal__page *page, uint64_t after, chordal_error *error) {
    int code, result = SQLITE_DONE;
    chordal_error why = {0};
    uint32_t left = page->limit;
    sqlite3_stmt *statement = chordal__statement(page->store, CHORDAL__SQL_DOCUMENTS_AFTER, &code, &why);
    if (code < 0) return chordal__fault_told(page, code, &why, error);
    sqlite3_bind_int64(statement, 1, (int64_t)after);
    sqlite3_bind_int64(statement, 2, (int64_t)left + 1);
    for (uint64_t last = after; code == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW; left--) {
        page->next = left ? 0 : last;
        if (!left) break;
        last = (uint64_t)sqlite3_column_int64(statement, ID);
        code = check_document(page, statement, error);
    }
    int ended = chordal__statement_end(page->store, statement, result, &why);
    return code < 0 ? code : chordal__fault_told(page, ended, &why, error);
}

int chordal__store_check(chordal__page *page, uint64_t after, chordal_error *error) {
    bool began;
    int code = chordal__look_begin(page->store, &began, error);
    if (code < 0) return code;
    bool rows = after >= CHORDAL__CHECK_TABLES;
    if (!after) code = check_whole(page, error);
    if (code == 0) code = rows ? chordal__rows_check(page, after, error) : check_documents(page, after, error);
    if (code == 0 && !rows && !page->next) code = chordal__rows_wait(page, error);
    chordal__look_end(page->store, began);
    return code;
}
