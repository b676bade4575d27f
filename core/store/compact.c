/* compact.c: revisions that no policy keeps, deleted a few at a time, the oldest first: an interruption between any two
 * statements leaves a shorter history and nothing else. */
#include "store/store.h"

#include <sqlite3.h>

/* The oldest row that must stay: the base from which the oldest kept revision is read. */
static int oldest_kept(chordal__store *store, int64_t from, int64_t to, int64_t *out, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_BASE_BEFORE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    int result = sqlite3_step(statement);
    *out = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : from;
    return chordal__statement_end(store, statement, result, error);
}

static int drop_rows(chordal__store *store, int64_t from, int64_t to, bool *out_more, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_REVISIONS_DROP, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    sqlite3_bind_int64(statement, 3, CHORDAL__COMPACT_ROWS);
    code = chordal__statement_run(store, statement, error);
    *out_more = code == 0 && sqlite3_changes(store->sqlite) == CHORDAL__COMPACT_ROWS;
    return code;
}

/* What waits for the outbox may be known from these rows alone. */
static int drop_after_flush(chordal__store *store, int64_t from, int64_t to, bool *out_more, chordal_error *error) {
    int code = chordal__step_begin(store, error);
    if (code == 0) code = chordal__outbox_flush(store, error);
    if (code == 0) code = drop_rows(store, from, to, out_more, error);
    if (code == 0) return chordal__step_commit(store, error);
    chordal__step_abort(store);
    return code;
}

int chordal__document_compact(chordal__store *store, const chordal__document *document, uint64_t keep, bool *out_more,
                              chordal_error *error) {
    const chordal__progress *now = &document->now;
    int64_t from = now->id << CHORDAL__POSITION_BITS, kept = from;
    *out_more = false;
    if (!now->id || keep >= (uint64_t)now->position) return 0;
    int code = oldest_kept(store, from, from | (now->position - (int64_t)keep), &kept, error);
    if (code < 0 || kept == from) return code;
    return chordal__outbox_waits(store) ? drop_after_flush(store, from, kept - 1, out_more, error)
                                        : drop_rows(store, from, kept - 1, out_more, error);
}
