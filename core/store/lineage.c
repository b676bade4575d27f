/* lineage.c: the runs of a store, and how far the cut of another run is part of the history here.
 *
 * A run has a row from its first write on, or from when it first told a cut to a reader: (run, first, known). Its
 * commits have numbers from `first` on; `known` is the newest commit that was in the file when it began. A run's
 * history counts up to what the next one knew, so that commits lost with the power, a restored backup or a copied file
 * are never taken for what a reader saw. The two differ where numbers were given to commits that may not be there: to
 * those in memory alone, and to rows, which do not tell (`reserved`). */
#include "store/store.h"

#include <sqlite3.h>

static void take_larger(uint64_t *number, sqlite3_stmt *row, int column) {
    uint64_t found = (uint64_t)sqlite3_column_int64(row, column);
    if (found > *number) *number = found;
}

/* A run that was not closed has not noted its last commit: what is in the file of it are the newest revisions of what
 * it has written (?1), and the outbox. */
static int recover(chordal__store *store, int64_t run_id, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_RECOVER, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, run_id);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) take_larger(&store->known, statement, 0);
    if (result == SQLITE_ROW) take_larger(&store->last, statement, 1);
    return chordal__statement_end(store, statement, result, error);
}

static int look_at_outbox(chordal__store *store, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_LAST, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) take_larger(&store->known, statement, 0);
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
        store->last = (uint64_t)sqlite3_column_int64(statement, ended ? 2 : 1);
        store->known = (uint64_t)sqlite3_column_int64(statement, ended ? 2 : 3);
    }
    code = chordal__statement_end(store, statement, result, error);
    if (code == 0 && open_run) code = recover(store, open_run, error);
    if (code == 0 && open_run) code = look_at_outbox(store, error);
    if (code == 0 && open_run && !store->read_only) code = chordal__outbox_derive(store, error);
    if (store->known > store->last) store->last = store->known;
    return code;
}

int chordal__lineage_begin(chordal__store *store, chordal_error *error) {
    if (store->run_id || store->staged_run_id) return 0;
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_ADD, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob(statement, 1, store->run, sizeof store->run, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (int64_t)store->last + 1);
    sqlite3_bind_int64(statement, 3, (int64_t)store->known);
    if (store->outbox) sqlite3_bind_int64(statement, 4, (int64_t)store->last);
    code = chordal__statement_run(store, statement, error);
    if (code < 0) return code;
    store->staged_run_id = sqlite3_last_insert_rowid(store->sqlite);
    return chordal__outbox_flush(store, error); /* of the run before, which is looked at no more */
}

static int end_run(chordal__store *store) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_END, &code, NULL);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, store->run_id);
    sqlite3_bind_int64(statement, 2, (int64_t)store->last);
    return chordal__statement_run(store, statement, NULL);
}

/* A run that was closed has its whole outbox. */
int chordal__lineage_close(chordal__store *store) {
    if (!store->run_id || store->read_only) return 0;
    if (!chordal__outbox_waits(store)) return end_run(store);
    int code = chordal__step_begin(store, NULL);
    if (code == 0) code = chordal__outbox_flush(store, NULL);
    if (code == 0) code = end_run(store);
    if (code == 0) return chordal__step_commit(store, NULL);
    chordal__step_abort(store);
    return code;
}

int chordal__lineage_tell(chordal__store *store, chordal_error *error) {
    if (store->run_id) return 0;
    int code = chordal__step_begin(store, error);
    if (code == 0) code = chordal__lineage_begin(store, error);
    if (code == 0) return chordal__step_commit(store, error);
    chordal__step_abort(store);
    return code;
}

int chordal__lineage_limit(chordal__store *store, const uint8_t run[16], uint64_t *out_limit, chordal_error *error) {
    int code;
    *out_limit = 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_FIND, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob(statement, 1, run, 16, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    bool found = result == SQLITE_ROW, followed = found && sqlite3_column_type(statement, 0) != SQLITE_NULL;
    bool own = memcmp(run, store->run, sizeof store->run) == 0;
    if (found) *out_limit = followed ? (uint64_t)sqlite3_column_int64(statement, 0) : own ? store->last : store->known;
    return chordal__statement_end(store, statement, result, error);
}
