/* lineage.c: the runs of a store.
 *
 * A run has a row from its first write on: (run, first). The history of a run counts up to where the next one began,
 * so that commits lost with the power, a restored backup or a copied file are never taken for what a reader saw. */
#include "store/store.h"

#include <sqlite3.h>

/* A run that was not closed has not noted its last commit: it is the largest number that a statement finds, of the
 * newest revisions of what the run has written (?1), and of the outbox. */
static int find_last(chordal__store *store, int which, int64_t run_id, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, which, &code, error);
    if (code < 0) return code;
    if (which == CHORDAL__SQL_RUN_RECOVER) sqlite3_bind_int64(statement, 1, run_id);
    int result = sqlite3_step(statement);
    uint64_t found = result == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    if (found > store->last) store->last = found;
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
    if (code == 0 && open_run) code = find_last(store, CHORDAL__SQL_RUN_RECOVER, open_run, error);
    if (code == 0 && open_run) code = find_last(store, CHORDAL__SQL_OUTBOX_LAST, open_run, error);
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
