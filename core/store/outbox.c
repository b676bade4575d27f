/* outbox.c: the log of committed writes, for others to follow and to trim.
 *
 * What a commit wrote of documents alone is in their revisions, too. Its row waits in memory, and a later step writes
 * all that wait in one statement and mostly one page: at CHORDAL__DELAYED_ROWS or _BYTES, with a commit that wrote rows
 * of tables, before revisions go, before another run's first commit, before trimming, and at the end.
 *
 * So a run that was not closed may have commits whose row is not there: those behind the newest row, or behind where
 * nothing is derived (chordal_runs.outbox: where the run began, and what was trimmed). They are the newest revisions of
 * the documents that it has changed, and are read from there: by the next owner, as what waits, and by whoever reads
 * beside the owner. */
#include "store/store.h"
#include "value/value.h"

#include <sqlite3.h>

/* Before each row that waits. */
typedef struct head {
    uint64_t number;
    size_t len;
} head;

static const uint8_t *read_row(const chordal__delayed *delayed, size_t at, head *out) {
    memcpy(out, delayed->rows.data + at, sizeof *out);
    return delayed->rows.data + at + sizeof *out;
}

/* Where the rows begin that are not in the file, as far as this step goes. */
static size_t first_delayed(const chordal__delayed *delayed) {
    return delayed->written ? delayed->sure : 0;
}

bool chordal__outbox_waits(const chordal__store *store) {
    return store->delayed.count != 0;
}

static void forget(chordal__delayed *delayed) {
    chordal__buffer_clear(&delayed->rows);
    delayed->sure = delayed->count = delayed->sure_count = 0;
    delayed->written = false;
}

/* ---- writing ---- */

void chordal__outbox_put(chordal__buffer *out, const chordal__address *address, bool base, const void *data,
                         size_t len) {
    chordal__pack_write_array(out, 4);
    chordal__pack_write_string(out, address->type, address->type_len);
    chordal__buffer_put(out, address->params, address->params_len);
    chordal__pack_write_string(out, address->member, address->member_len);
    if (base) {
        chordal__pack_write_array(out, 1);
        chordal__buffer_put(out, data, len);
    } else {
        chordal__pack_write_bytes(out, data, len);
    }
}

static void bind_row(sqlite3_stmt *statement, int *bound, uint64_t number, const void *data, size_t len) {
    sqlite3_bind_int64(statement, ++*bound, (int64_t)number);
    sqlite3_bind_blob64(statement, ++*bound, data, len, SQLITE_STATIC);
}

static void bind_delayed(const chordal__delayed *delayed, sqlite3_stmt *statement, int *bound) {
    head row;
    for (size_t at = first_delayed(delayed); at < delayed->rows.len; at += sizeof row + row.len) {
        const uint8_t *data = read_row(delayed, at, &row);
        bind_row(statement, bound, row.number, data, row.len);
    }
}

/* Those that were sure are needed again should the step not go through. */
static void note_written(chordal__delayed *delayed) {
    delayed->rows.len = delayed->sure;
    delayed->count = 0;
    delayed->written = true;
}

/* All that wait, and one more if it has bytes. */
static int write_all(chordal__store *store, uint64_t number, const void *data, size_t len, chordal_error *error) {
    chordal__delayed *delayed = &store->delayed;
    int code, bound = 0;
    bool many = delayed->count + (len != 0) > 1;
    int which = many ? CHORDAL__SQL_OUTBOX_ADD_MANY : CHORDAL__SQL_OUTBOX_ADD;
    sqlite3_stmt *statement = chordal__statement(store, which, &code, error);
    if (code < 0) return code;
    bind_delayed(delayed, statement, &bound);
    if (len) bind_row(statement, &bound, number, data, len);
    code = chordal__statement_run(store, statement, error);
    if (code == 0) note_written(delayed);
    return code;
}

int chordal__outbox_flush(chordal__store *store, chordal_error *error) {
    return chordal__outbox_waits(store) ? write_all(store, 0, NULL, 0, error) : 0;
}

static int keep(chordal__delayed *delayed, uint64_t number, const void *data, size_t len) {
    head row = {.number = number, .len = len};
    size_t before = delayed->rows.len;
    chordal__buffer_put(&delayed->rows, &row, sizeof row);
    chordal__buffer_put(&delayed->rows, data, len);
    int code = delayed->rows.failed;
    if (code == 0) delayed->count++;
    if (code < 0) delayed->rows.len = before, delayed->rows.failed = 0;
    return code;
}

int chordal__outbox_add(chordal__store *store, uint64_t number, const void *data, size_t len, bool derived,
                        chordal_error *error) {
    chordal__delayed *delayed = &store->delayed;
    int code = chordal__lineage_begin(store, error);
    if (code < 0) return code;
    size_t bytes = delayed->rows.len - first_delayed(delayed) + sizeof(head) + len;
    if (!derived || delayed->count == CHORDAL__DELAYED_ROWS || bytes > CHORDAL__DELAYED_BYTES)
        return write_all(store, number, data, len, error);
    code = keep(delayed, number, data, len);
    return code < 0 ? chordal__fail(error, code, 0, "no memory for the outbox") : 0;
}

void chordal__outbox_settle(chordal__store *store, bool through) {
    chordal__delayed *delayed = &store->delayed;
    if (!through) {
        delayed->rows.len = delayed->sure;
        delayed->count = delayed->sure_count;
    } else if (delayed->written && delayed->sure) {
        delayed->rows.len -= delayed->sure;
        memmove(delayed->rows.data, delayed->rows.data + delayed->sure, delayed->rows.len);
    }
    delayed->sure = delayed->rows.len;
    delayed->sure_count = delayed->count;
    delayed->written = false;
}

int chordal__outbox_skip(chordal__store *store, uint64_t number, chordal_error *error) {
    int code = chordal__outbox_flush(store, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_SKIP, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    return chordal__statement_run(store, statement, error);
}

/* ---- from the revisions ---- */

static void take_column(sqlite3_stmt *row, int column, const void **data, size_t *len) {
    *data = sqlite3_column_blob(row, column);
    *len = (size_t)sqlite3_column_bytes(row, column);
}

/* Another commit: its length, and the count of its writes in four bytes, are set as they come. */
static int begin_row(chordal__delayed *delayed, uint64_t number, size_t *at) {
    static const uint8_t none[] = {0xdd, 0, 0, 0, 0};
    *at = delayed->rows.len;
    return delayed->count == CHORDAL__DELAYED_ROWS ? CHORDAL_E_SIZE : keep(delayed, number, none, sizeof none);
}

static void count_write(uint8_t count[4]) {
    for (int i = 3; ++count[i] == 0 && i > 0; i--) {
    }
}

static int add_revision(chordal__delayed *delayed, size_t at, sqlite3_stmt *revision) {
    chordal__address address = {0};
    const void *data;
    size_t len;
    head row;
    take_column(revision, 1, &address.type, &address.type_len);
    take_column(revision, 2, &address.params, &address.params_len);
    take_column(revision, 3, &address.member, &address.member_len);
    take_column(revision, 5, &data, &len);
    chordal__outbox_put(&delayed->rows, &address, sqlite3_column_int(revision, 4) != 0, data, len);
    if (delayed->rows.failed) return delayed->rows.failed;
    (void)read_row(delayed, at, &row);
    row.len = delayed->rows.len - at - sizeof row;
    memcpy(delayed->rows.data + at, &row, sizeof row);
    count_write(delayed->rows.data + at + sizeof row + 1);
    return 0;
}

static int take_revisions(chordal__delayed *delayed, sqlite3_stmt *revisions, int *out_result) {
    int code = 0;
    uint64_t last = 0;
    size_t at = 0;
    while (code == 0 && (*out_result = sqlite3_step(revisions)) == SQLITE_ROW) {
        uint64_t number = (uint64_t)sqlite3_column_int64(revisions, 0);
        if (number != last) code = begin_row(delayed, number, &at);
        if (code == 0) code = add_revision(delayed, at, revisions);
        last = number;
    }
    return code;
}

int chordal__outbox_derive(chordal__store *store, chordal_error *error) {
    int code, result = SQLITE_DONE;
    chordal__delayed *delayed = &store->delayed;
    forget(delayed);
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_DERIVE, &code, error);
    if (code < 0) return code;
    int taken = take_revisions(delayed, statement, &result);
    code = chordal__statement_end(store, statement, result, taken < 0 ? NULL : error);
    if (taken == CHORDAL_E_NOMEM) code = chordal__fail(error, taken, 0, "no memory for the outbox");
    if (taken == CHORDAL_E_SIZE)
        code = chordal__fail(error, CHORDAL_E_CORRUPT, 0, "the outbox is farther behind the revisions than it can be");
    if (code < 0) forget(delayed);
    delayed->known = code == 0;
    chordal__outbox_settle(store, true);
    return code;
}

/* ---- following and trimming ---- */

static int take_body(chordal__store *store, const void *data, size_t len, chordal__body **out, chordal_error *error) {
    *out = chordal__body_new(store->memory, len);
    if (!*out) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the outbox");
    if (len) memcpy((*out)->data, data, len);
    return 0;
}

static int next_in_file(chordal__store *store, uint64_t after, uint64_t *out_number, chordal__body **out,
                        chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_NEXT, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)after);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        *out_number = (uint64_t)sqlite3_column_int64(statement, 0);
        code =
            take_body(store, sqlite3_column_blob(statement, 1), (size_t)sqlite3_column_bytes(statement, 1), out, error);
    }
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

static int next_delayed(chordal__store *store, uint64_t after, uint64_t *out_number, chordal__body **out,
                        chordal_error *error) {
    const chordal__delayed *delayed = &store->delayed;
    head row;
    for (size_t at = first_delayed(delayed); at < delayed->rows.len; at += sizeof row + row.len) {
        const uint8_t *data = read_row(delayed, at, &row);
        if (row.number <= after) continue;
        *out_number = row.number;
        return take_body(store, data, row.len, out, error);
    }
    return 0;
}

int chordal__outbox_next(chordal__store *store, uint64_t after, uint64_t *out_number, chordal__body **out,
                         chordal_error *error) {
    *out = NULL;
    int code = next_in_file(store, after, out_number, out, error);
    if (code < 0 || *out) return code;
    if (!store->delayed.known) code = chordal__outbox_derive(store, error);
    return code < 0 ? code : next_delayed(store, after, out_number, out, error);
}

static int drop(chordal__store *store, uint64_t upto, uint32_t *out_dropped, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OUTBOX_TRIM, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)upto);
    sqlite3_bind_int64(statement, 2, CHORDAL__TRIM_ROWS);
    code = chordal__statement_run(store, statement, error);
    if (code == 0) *out_dropped = (uint32_t)sqlite3_changes(store->sqlite);
    return code;
}

/* What is dropped must not come back from the revisions. */
int chordal__outbox_trim(chordal__store *store, uint64_t upto, uint32_t *out_dropped, chordal_error *error) {
    uint32_t dropped = 0;
    *out_dropped = 0;
    int code = chordal__step_begin(store, error);
    if (code == 0) code = chordal__outbox_flush(store, error);
    if (code == 0) code = drop(store, upto, &dropped, error);
    if (code == 0 && dropped) code = chordal__outbox_skip(store, store->last, error);
    if (code == 0) code = chordal__step_commit(store, error);
    if (code < 0) chordal__step_abort(store);
    *out_dropped = code == 0 ? dropped : 0;
    return code;
}
