/* query_sweep.c: all rows that match, changed or removed by one statement of SQL. A row that would stay as it is is not
 * written: it keeps its version. */
#include "store/query.h"

#include <sqlite3.h>

chordal__sweep *chordal__sweep_new(chordal__query *query) {
    chordal__sweep *sweep = chordal__allocate_zero(query->table->memory, sizeof *sweep);
    if (!sweep) {
        chordal__query_dispose(query);
        return NULL;
    }
    sweep->query = *query;
    *query = (chordal__query){0};
    return sweep;
}

void chordal__sweep_free(chordal__sweep *sweep) {
    if (!sweep) return;
    chordal__memory *memory = sweep->query.table->memory;
    chordal__query_dispose(&sweep->query);
    chordal__row_unref(sweep->changes);
    chordal__release(memory, sweep, sizeof *sweep);
}

/* ---- statements ---- */

static void put_given(chordal__buffer *sql, const chordal__sweep *sweep, const char *value, const char *between) {
    bool any = false;
    for (uint32_t i = 0; i < sweep->query.table->columns_len; i++) {
        if (!(sweep->given >> i & 1)) continue;
        if (any) chordal__buffer_text(sql, between);
        chordal__query_put_column(sql, &sweep->query, i);
        chordal__buffer_text(sql, value);
        any = true;
    }
}

static void put_table(chordal__buffer *sql, const chordal__sweep *sweep) {
    chordal__buffer_text(sql, "chordal_table_");
    chordal__buffer_decimal(sql, (uint64_t)sweep->query.table->id);
}

/* count(*), and how many are to be written. */
static void write_count(chordal__buffer *sql, const chordal__sweep *sweep) {
    chordal__buffer_text(sql, "SELECT count(*),");
    if (sweep->given) chordal__buffer_text(sql, "sum(");
    if (sweep->given) put_given(sql, sweep, " IS NOT ?", " OR ");
    chordal__buffer_text(sql, sweep->given ? ")" : sweep->changes ? "0" : "count(*)");
    chordal__buffer_text(sql, " FROM ");
    put_table(sql, sweep);
    chordal__query_put_where(sql, &sweep->query);
}

static void write_change(chordal__buffer *sql, const chordal__sweep *sweep) {
    chordal__buffer_text(sql, sweep->changes ? "UPDATE " : "DELETE FROM ");
    put_table(sql, sweep);
    if (sweep->changes) {
        chordal__buffer_text(sql, " SET ");
        put_given(sql, sweep, "=?", ",");
        chordal__buffer_text(sql, ",v=");
        chordal__buffer_decimal(sql, sweep->query.table->version);
    }
    chordal__query_put_where(sql, &sweep->query);
    if (!sweep->changes) return;
    chordal__buffer_text(sql, " AND(");
    put_given(sql, sweep, " IS NOT ?", " OR ");
    chordal__buffer_byte(sql, ')');
}

static int prepare(chordal__store *store, const chordal__sweep *sweep, bool change, sqlite3_stmt **out,
                   chordal_error *error) {
    chordal__buffer sql;
    chordal__buffer_init(&sql, store->memory, UINT32_MAX);
    if (change)
        write_change(&sql, sweep);
    else
        write_count(&sql, sweep);
    chordal__buffer_byte(&sql, 0);
    int code = chordal__scan_statement(store, &sql, out, error);
    chordal__buffer_dispose(&sql);
    return code;
}

static void bind_given(sqlite3_stmt *statement, const chordal__sweep *sweep, int *at) {
    for (uint32_t i = 0; i < sweep->query.table->columns_len; i++)
        if (sweep->given >> i & 1) chordal__cell_bind(statement, (*at)++, &sweep->changes->cells[i]);
}

/* A step of it that was bound, or what binding has come to. */
static int step(sqlite3_stmt *statement, int code) {
    return code == 0 ? sqlite3_step(statement) : SQLITE_NOMEM;
}

int chordal__sweep_count(chordal__store *store, const chordal__sweep *sweep, const chordal__owner *owner,
                         uint64_t *out_matching, uint64_t *out_changing, chordal_error *error) {
    sqlite3_stmt *statement;
    int at = 1;
    *out_matching = *out_changing = 0;
    if (!owner->id) return 0;
    int code = prepare(store, sweep, false, &statement, error);
    if (code < 0) return code;
    bind_given(statement, sweep, &at);
    int result = step(statement, chordal__query_bind_where(statement, &sweep->query, owner->id, &at));
    if (result == SQLITE_ROW) {
        *out_matching = (uint64_t)sqlite3_column_int64(statement, 0);
        *out_changing = (uint64_t)sqlite3_column_int64(statement, 1);
    }
    return chordal__statement_end(store, statement, result, error);
}

int chordal__sweep_store(chordal__store *store, const chordal__sweep *sweep, const chordal__owner *owner,
                         uint64_t number, chordal_error *error) {
    sqlite3_stmt *statement;
    int at = 1, code = chordal__rows_begin(store, number, error);
    if (code == 0) code = prepare(store, sweep, true, &statement, error);
    if (code < 0) return code;
    bind_given(statement, sweep, &at);
    code = chordal__query_bind_where(statement, &sweep->query, owner->id, &at);
    bind_given(statement, sweep, &at);
    return chordal__statement_end(store, statement, step(statement, code), error);
}

/* ---- in memory ---- */

chordal__row *chordal__sweep_row(const chordal__sweep *sweep, const chordal__row *row) {
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
    for (uint32_t i = 0; i < row->count; i++)
        cells[i] = sweep->given >> i & 1 ? sweep->changes->cells[i] : row->cells[i];
    return chordal__row_new(row->memory, cells, row->count);
}
