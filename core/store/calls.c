/* calls.c: calls of durable methods: a row is there from before the method starts until its caller has the outcome. */
#include "store/store.h"
#include "wire/wire.h"

#include <sqlite3.h>

#define DROP_ROWS 256

static void read_row(sqlite3_stmt *statement, chordal__call_row *out) {
    *out = (chordal__call_row){.id = sqlite3_column_int64(statement, 0),
                               .authority = (uint64_t)sqlite3_column_int64(statement, 1),
                               .state = sqlite3_column_int(statement, 2),
                               .code = sqlite3_column_int(statement, 3),
                               .raw = sqlite3_column_int(statement, 6) != 0};
    out->name = sqlite3_column_blob(statement, 4);
    out->name_len = (size_t)sqlite3_column_bytes(statement, 4);
    out->detail = sqlite3_column_blob(statement, 5);
    out->detail_len = (size_t)sqlite3_column_bytes(statement, 5);
    out->value = sqlite3_column_blob(statement, 7);
    out->value_len = (size_t)sqlite3_column_bytes(statement, 7);
}

sqlite3_stmt *chordal__call_find(chordal__store *store, const uint8_t key[16], chordal__call_row *out, int *code,
                                 chordal_error *error) {
    *out = (chordal__call_row){0};
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_CALL_FIND, code, error);
    if (*code < 0) return NULL;
    sqlite3_bind_blob(statement, 1, key, CHORDAL__CALL_KEY, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW) {
        *code = chordal__statement_end(store, statement, result, error);
        return NULL;
    }
    read_row(statement, out);
    return statement;
}

int chordal__call_add(chordal__store *store, int64_t id, const uint8_t key[16], uint64_t authority,
                      chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_CALL_ADD, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_blob(statement, 2, key, CHORDAL__CALL_KEY, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (int64_t)authority);
    return chordal__statement_run(store, statement, error);
}

static int change_one(chordal__store *store, int which, int64_t id, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, which, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, id);
    return chordal__statement_run(store, statement, error);
}

int chordal__call_mark(chordal__store *store, int64_t id, chordal_error *error) {
    return change_one(store, CHORDAL__SQL_CALL_MARK, id, error);
}

int chordal__call_drop(chordal__store *store, int64_t id, chordal_error *error) {
    return change_one(store, CHORDAL__SQL_CALL_DROP, id, error);
}

int chordal__call_answer(chordal__store *store, const chordal__call_row *row, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_CALL_ANSWER, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, row->id);
    sqlite3_bind_int(statement, 2, row->code);
    sqlite3_bind_blob64(statement, 3, row->name, row->name_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 4, row->detail, row->detail_len, SQLITE_STATIC);
    sqlite3_bind_int(statement, 5, row->raw);
    sqlite3_bind_blob64(statement, 6, row->value, row->value_len, SQLITE_STATIC);
    return chordal__statement_run(store, statement, error);
}

int chordal__calls_drop(chordal__store *store, int64_t last, bool *out_more, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_CALLS_DROP, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, last);
    sqlite3_bind_int(statement, 2, DROP_ROWS);
    code = chordal__statement_run(store, statement, error);
    *out_more = code == 0 && sqlite3_changes(store->sqlite) == DROP_ROWS;
    return code;
}

int chordal__calls_count(chordal__store *store, uint64_t *out_count, uint64_t *out_bytes, int64_t *out_last,
                         chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_CALLS_COUNT, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        *out_count = (uint64_t)sqlite3_column_int64(statement, 0);
        *out_bytes = (uint64_t)sqlite3_column_int64(statement, 1);
        *out_last = sqlite3_column_int64(statement, 2);
    }
    return chordal__statement_end(store, statement, result, error);
}
