/* lineage.c: the runs of a store, and how far the cut of another run is part of the history here.
 *
 * A run has a row from its first write on: (run, first). The history of a run counts up to where the next one began,
 * so that commits lost with the power, a restored backup or a copied file are never taken for what a reader saw. */
#include "store/store.h"

#include <sqlite3.h>

/* A run that was not closed has not noted its last commit: it is the newest revision of what it has written. */
static int recover(chordal__store *store, int64_t run_id, uint64_t *last, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_RECOVER, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, run_id);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW && (uint64_t)sqlite3_column_int64(statement, 0) > *last)
        *last = (uint64_t)sqlite3_column_int64(statement, 0);
    return chordal__statement_end(store, statement, result, error);
}

static int newest_in_outbox(chordal__store *store, uint64_t *last, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_LAST, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW && (uint64_t)sqlite3_column_int64(statement, 0) > *last)
        *last = (uint64_t)sqlite3_column_int64(statement, 0);
    return chordal__statement_end(store, statement, result, error);
}

int chordal__lineage_open(chordal__store *store, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_NEWEST, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    int64_t open_run = 0;
    if (result == SQLITE_ROW) {
        bool ended = sqlite3_column_type(statement, 2) != SQLITE_NULL;
        open_run = ended ? 0 : sqlite3_column_int64(statement, 0);
        store->last = (uint64_t)(ended ? sqlite3_column_int64(statement, 2) : sqlite3_column_int64(statement, 1) - 1);
    }
    code = chordal__statement_end(store, statement, result, error);
    if (code == 0 && open_run) code = recover(store, open_run, &store->last, error);
    if (code == 0 && open_run) code = newest_in_outbox(store, &store->last, error);
    return code;
}

int chordal__lineage_begin(chordal__store *store, uint64_t number, chordal_error *error) {
    if (store->run_id || store->staged_run_id) return 0;
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_ADD, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob(statement, 1, store->run, sizeof store->run, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (int64_t)number);
    code = chordal__statement_run(store, statement, error);
    if (code == 0) store->staged_run_id = sqlite3_last_insert_rowid(store->sqlite);
    return code;
}

int chordal__lineage_close(chordal__store *store) {
    if (!store->run_id || store->read_only) return 0;
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_END, &code, NULL);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, store->run_id);
    sqlite3_bind_int64(statement, 2, (int64_t)store->last);
    return chordal__statement_run(store, statement, NULL);
}

int chordal__lineage_limit(chordal__store *store, const uint8_t run[16], uint64_t *out_limit, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_FIND, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob(statement, 1, run, 16, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    bool found = result == SQLITE_ROW, replaced = found && sqlite3_column_type(statement, 2) != SQLITE_NULL;
    if (found) *out_limit = replaced ? (uint64_t)sqlite3_column_int64(statement, 2) - 1 : store->last;
    code = chordal__statement_end(store, statement, result, error);
    return code == 0 && !found ? CHORDAL_E_NOT_FOUND : code;
}
