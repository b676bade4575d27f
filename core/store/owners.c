/* owners.c: rows of objects that ended, deleted a few at a time: an interruption between any two statements leaves rows
 * that nobody sees, and the next opening goes on with them. */
#include "store/table.h"

#include <sqlite3.h>

int chordal__owners_open(chordal__store *store, chordal_error *error) {
    int code;
    if (store->read_only) return 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_ENDED, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    store->clears = result == SQLITE_ROW;
    return chordal__statement_end(store, statement, result, error);
}

/* The table's own key is asked of SQL, so that tables of types that are not provided are cleared as well. */
static int delete_rows(chordal__store *store, int64_t table, const char *key, int64_t owner, int *out_count,
                       chordal_error *error) {
    chordal__buffer sql;
    chordal__buffer_init(&sql, store->memory, UINT32_MAX);
    chordal__buffer_text(&sql, "DELETE FROM chordal_table_");
    chordal__buffer_decimal(&sql, (uint64_t)table);
    chordal__buffer_text(&sql, " WHERE (");
    chordal__buffer_text(&sql, key);
    chordal__buffer_text(&sql, ") IN (SELECT ");
    chordal__buffer_text(&sql, key);
    chordal__buffer_text(&sql, " FROM chordal_table_");
    chordal__buffer_decimal(&sql, (uint64_t)table);
    chordal__buffer_text(&sql, " WHERE object=");
    chordal__buffer_decimal(&sql, (uint64_t)owner);
    chordal__buffer_text(&sql, " LIMIT ");
    chordal__buffer_decimal(&sql, CHORDAL__CLEAR_ROWS);
    chordal__buffer_put(&sql, ")", 2);
    store->counters->statements++;
    int result = sql.failed ? SQLITE_NOMEM : sqlite3_exec(store->sqlite, (const char *)sql.data, NULL, NULL, NULL);
    *out_count = result == SQLITE_OK ? sqlite3_changes(store->sqlite) : 0;
    chordal__buffer_dispose(&sql);
    return result == SQLITE_OK ? 0 : chordal__store_fail(store, result, error);
}

/* The next table of a type behind `*table`, and some rows in it; *table 0: there was none. */
static int clear_table(chordal__store *store, const void *type, int type_len, int64_t owner, int64_t *table,
                       int *out_count, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_TABLES, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob(statement, 1, type_len ? type : "", type_len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, *table);
    int result = sqlite3_step(statement);
    const char *key = result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 1) : NULL;
    *table = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    if (key) code = delete_rows(store, *table, key, owner, out_count, error);
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

static int drop_owner(chordal__store *store, int64_t owner, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_DROP, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, owner);
    return chordal__statement_run(store, statement, error);
}

static int clear_owner(chordal__store *store, sqlite3_stmt *ended, int64_t *out_empty, chordal_error *error) {
    int64_t owner = sqlite3_column_int64(ended, 0), table = 0;
    const void *type = sqlite3_column_blob(ended, 1);
    int type_len = sqlite3_column_bytes(ended, 1), count = 0, code = 0;
    do {
        code = clear_table(store, type, type_len, owner, &table, &count, error);
    } while (code == 0 && table && !count);
    *out_empty = code == 0 && !count ? owner : 0;
    return code;
}

int chordal__owners_clear(chordal__store *store, chordal_error *error) {
    int code;
    int64_t empty = 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_ENDED, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    store->clears = result == SQLITE_ROW;
    if (store->clears) code = clear_owner(store, statement, &empty, error);
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    if (code == 0) code = ended;
    return code == 0 && empty ? drop_owner(store, empty, error) : code;
}
