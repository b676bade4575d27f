/* step.c: one SQLite transaction of prepared commits. What it changes here is given back when it does not go through.
 */
#include "store/table.h"

#include <sqlite3.h>

int chordal__step_begin(chordal__store *store, chordal_error *error) {
    if (store->read_only) return chordal__fail(error, CHORDAL_E_READ_ONLY, 0, "the store was opened to be read");
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_BEGIN, &code, error);
    if (code == 0) code = chordal__statement_run(store, statement, error);
    store->in_step = code == 0;
    return code;
}

static void settle(chordal__store *store, bool through) {
    while (!chordal__list_empty(&store->staged)) {
        chordal__document *document = CHORDAL__ENTRY(store->staged.next, chordal__document, staged);
        chordal__list_remove(&document->staged);
        if (!through) document->now = document->before;
        if (through && document->now.number > store->last) store->last = document->now.number;
    }
    if (through && store->staged_run_id) store->run_id = store->staged_run_id;
    store->staged_run_id = 0;
    chordal__tables_settle(store, through);
    chordal__outbox_settle(store, through);
    store->in_step = false;
}

/* After some failures SQLite has ended the transaction by itself: nothing may be written on as if it were still open.
 */
void chordal__step_abort(chordal__store *store) {
    int code;
    if (!store->in_step) return;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_ROLLBACK, &code, NULL);
    if (code == 0 && !sqlite3_get_autocommit(store->sqlite)) (void)chordal__statement_run(store, statement, NULL);
    settle(store, false);
}

int chordal__step_commit(chordal__store *store, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_COMMIT, &code, error);
    if (code == 0) code = chordal__statement_run(store, statement, error);
    if (code < 0) {
        chordal__step_abort(store);
        return code;
    }
    store->counters->steps++;
    settle(store, true);
    return 0;
}
