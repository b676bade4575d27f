/* outbox.c: the log of committed writes, for others to follow and to trim. */
#include "store/store.h"

#include <sqlite3.h>

int chordal__outbox_add(chordal__store *store, uint64_t number, const void *data, size_t len, chordal_error *error) {
    int code = chordal__lineage_begin(store, number, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_ADD, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    sqlite3_bind_blob64(statement, 2, data, len, SQLITE_STATIC);
    return chordal__statement_run(store, statement, error);
}
