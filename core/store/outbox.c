/* outbox.c: the log of committed writes, for others to follow and to trim. */
#include "store/store.h"

#include <sqlite3.h>

int chordal__outbox_add(chordal__store *store, uint64_t number, const void *data, size_t len, chordal_error *error) {
    int code = chordal__lineage_begin(store, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_ADD, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    sqlite3_bind_blob64(statement, 2, data, len, SQLITE_STATIC);
    return chordal__statement_run(store, statement, error);
}

int chordal__outbox_next(chordal__store *store, uint64_t after, uint64_t *out_number, chordal__body **out,
                         chordal_error *error) {
    int code;
    *out = NULL;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_NEXT, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)after);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        size_t len = (size_t)sqlite3_column_bytes(statement, 1);
        *out_number = (uint64_t)sqlite3_column_int64(statement, 0);
        *out = chordal__body_new(store->memory, len);
        if (*out && len) memcpy((*out)->data, sqlite3_column_blob(statement, 1), len);
    }
    code = chordal__statement_end(store, statement, result, error);
    if (result == SQLITE_ROW && !*out) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the outbox");
    return code;
}

int chordal__outbox_trim(chordal__store *store, uint64_t upto, uint32_t *out_dropped, chordal_error *error) {
    int code;
    if (store->read_only) return chordal__fail(error, CHORDAL_E_READ_ONLY, 0, "the store was opened to be read");
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_TRIM, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)upto);
    sqlite3_bind_int64(statement, 2, CHORDAL__TRIM_ROWS);
    code = chordal__statement_run(store, statement, error);
    *out_dropped = code == 0 ? (uint32_t)sqlite3_changes(store->sqlite) : 0;
    return code;
}
