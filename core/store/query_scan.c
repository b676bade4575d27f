/* query_scan.c: queries asked of SQL. Of a query only its shape becomes text, in which columns are numbers: every value
 * is bound. Statements are kept by their text. */
#include "store/query.h"

#include <sqlite3.h>

void chordal__query_put_column(chordal__buffer *sql, const chordal__query *query, uint32_t column) {
    chordal__buffer_byte(sql, 'c');
    chordal__buffer_decimal(sql, query->table->columns[column].number);
}

/* ---- conditions ---- */

/* Whether it is true, of what may be unknown: the contrary of what is null is true. */
static void put_comparison(chordal__buffer *sql, const chordal__query *query, const chordal__term *term) {
    static const char *const operators[] = {
        [CHORDAL__TERM_LT] = "<?", [CHORDAL__TERM_LE] = "<=?", [CHORDAL__TERM_GT] = ">?", [CHORDAL__TERM_GE] = ">=?"};
    chordal__buffer_byte(sql, '(');
    chordal__query_put_column(sql, query, term->column);
    if (term->kind == CHORDAL__TERM_IN) {
        chordal__buffer_text(sql, " IN(");
        for (uint32_t i = 0; i < term->values; i++) chordal__buffer_text(sql, i ? ",?" : "?");
        chordal__buffer_byte(sql, ')');
    } else if (term->kind == CHORDAL__TERM_PREFIX) {
        chordal__buffer_text(sql, ">=? AND ");
        chordal__query_put_column(sql, query, term->column);
        chordal__buffer_text(sql, "<?");
    } else {
        chordal__buffer_text(sql, operators[term->kind]);
    }
    chordal__buffer_text(sql, term->negated ? ")IS NOT TRUE" : ")");
}

static bool is_any_text(const chordal__query *query, const chordal__term *term) {
    return term->kind == CHORDAL__TERM_PREFIX && query->values->cells[term->value].as.bytes.len == 0;
}

static void put_term(chordal__buffer *sql, const chordal__query *query, uint32_t at) {
    const chordal__term *term = &query->terms[at];
    if (term->kind <= CHORDAL__TERM_OR) {
        bool all = term->kind == CHORDAL__TERM_AND;
        chordal__buffer_text(sql, all ? "(TRUE" : "(FALSE");
        for (uint32_t i = at + 1; i < term->end; i = query->terms[i].end) {
            chordal__buffer_text(sql, all ? " AND " : " OR ");
            put_term(sql, query, i);
        }
        chordal__buffer_byte(sql, ')');
    } else if (term->kind == CHORDAL__TERM_NULL || is_any_text(query, term)) {
        chordal__query_put_column(sql, query, term->column);
        chordal__buffer_text(sql, (term->kind == CHORDAL__TERM_NULL) == term->negated ? " IS NOT NULL" : " IS NULL");
    } else if (term->kind == CHORDAL__TERM_EQ) {
        chordal__query_put_column(sql, query, term->column);
        chordal__buffer_text(sql, term->negated ? " IS NOT ?" : "=?");
    } else {
        put_comparison(sql, query, term);
    }
}

/* ---- where a page begins ---- */

static const chordal__cell *after_of(const chordal__query *query, uint32_t i) {
    return &query->after->cells[query->order[i].column];
}

static void put_after(chordal__buffer *sql, const chordal__query *query, uint32_t i) {
    const chordal__order *order = &query->order[i];
    bool null = after_of(query, i)->kind == CHORDAL__CELL_NULL, last = i + 1 == query->order_len;
    chordal__buffer_byte(sql, '(');
    if (order->down && null) chordal__buffer_text(sql, "FALSE");
    if (!order->down || !null) chordal__query_put_column(sql, query, order->column);
    if (!order->down) chordal__buffer_text(sql, null ? " IS NOT NULL" : ">?");
    if (order->down && !null) {
        chordal__buffer_text(sql, "<? OR ");
        chordal__query_put_column(sql, query, order->column);
        chordal__buffer_text(sql, " IS NULL");
    }
    if (!last) {
        chordal__buffer_text(sql, " OR ");
        chordal__query_put_column(sql, query, order->column);
        chordal__buffer_text(sql, null ? " IS NULL AND " : "=? AND ");
        put_after(sql, query, i + 1);
    }
    chordal__buffer_byte(sql, ')');
}

/* For an index: the first column alone tells where to begin, if null is not on the way. */
static bool has_edge(const chordal__query *query) {
    const chordal__order *first = &query->order[0];
    if (!query->after || after_of(query, 0)->kind == CHORDAL__CELL_NULL) return false;
    return !first->down || query->table->columns[first->column].key;
}

void chordal__query_put_where(chordal__buffer *sql, const chordal__query *query) {
    chordal__buffer_text(sql, " WHERE object=?");
    if (query->stale) chordal__buffer_text(sql, " AND v<");
    if (query->stale) chordal__buffer_decimal(sql, query->table->version);
    if (query->terms_len) chordal__buffer_text(sql, " AND ");
    if (query->terms_len) put_term(sql, query, 0);
}

static void write_sql(chordal__buffer *sql, const chordal__query *query) {
    chordal__buffer_text(sql, "SELECT ");
    for (uint32_t i = 0; i < query->table->columns_len; i++) {
        chordal__buffer_text(sql, i ? "," : "");
        chordal__query_put_column(sql, query, i);
    }
    chordal__buffer_text(sql, " FROM chordal_table_");
    chordal__buffer_decimal(sql, (uint64_t)query->table->id);
    chordal__query_put_where(sql, query);
    if (has_edge(query)) {
        chordal__buffer_text(sql, " AND ");
        chordal__query_put_column(sql, query, query->order[0].column);
        chordal__buffer_text(sql, query->order[0].down ? "<=?" : ">=?");
    }
    if (query->after) chordal__buffer_text(sql, " AND ");
    if (query->after) put_after(sql, query, 0);
    for (uint32_t i = 0; i < query->order_len; i++) {
        chordal__buffer_text(sql, i ? "," : " ORDER BY ");
        chordal__query_put_column(sql, query, query->order[i].column);
        chordal__buffer_text(sql, query->order[i].down ? " DESC" : "");
    }
    chordal__buffer_text(sql, " LIMIT ?");
    chordal__buffer_byte(sql, 0);
}

/* ---- values ---- */

/* The first text that is behind all with the prefix: UTF-8 has no byte that could not be one more. */
static int bind_end(sqlite3_stmt *statement, int at, chordal__memory *memory, const chordal__cell *prefix) {
    size_t len = prefix->as.bytes.len;
    uint8_t *end = chordal__allocate(memory, len);
    if (!end) return CHORDAL_E_NOMEM;
    memcpy(end, prefix->as.bytes.data, len);
    end[len - 1]++;
    int result = sqlite3_bind_text64(statement, at, (const char *)end, len, SQLITE_TRANSIENT, SQLITE_UTF8);
    chordal__release(memory, end, len);
    return result == SQLITE_OK ? 0 : CHORDAL_E_NOMEM;
}

static int bind_terms(sqlite3_stmt *statement, const chordal__query *query, int *at) {
    int code = 0;
    for (size_t i = 0; i < query->terms_len && code == 0; i++) {
        const chordal__term *term = &query->terms[i];
        const chordal__cell *values = query->values->cells + term->value;
        if (is_any_text(query, term)) continue;
        for (uint32_t k = 0; k < term->values; k++) chordal__cell_bind(statement, (*at)++, &values[k]);
        if (term->kind == CHORDAL__TERM_PREFIX) code = bind_end(statement, (*at)++, query->table->memory, values);
    }
    return code;
}

static void bind_after(sqlite3_stmt *statement, const chordal__query *query, int *at) {
    if (has_edge(query)) chordal__cell_bind(statement, (*at)++, after_of(query, 0));
    for (uint32_t i = 0; query->after && i < query->order_len; i++) {
        const chordal__cell *cell = after_of(query, i);
        if (cell->kind == CHORDAL__CELL_NULL) continue;
        chordal__cell_bind(statement, (*at)++, cell);
        if (i + 1 < query->order_len) chordal__cell_bind(statement, (*at)++, cell);
    }
}

int chordal__query_bind_where(sqlite3_stmt *statement, const chordal__query *query, int64_t owner, int *at) {
    sqlite3_bind_int64(statement, (*at)++, owner);
    return bind_terms(statement, query, at);
}

static int bind_all(sqlite3_stmt *statement, const chordal__query *query, int64_t owner, uint64_t limit) {
    int at = 1;
    int code = chordal__query_bind_where(statement, query, owner, &at);
    bind_after(statement, query, &at);
    sqlite3_bind_int64(statement, at, limit > INT64_MAX ? INT64_MAX : (int64_t)limit);
    return code;
}

/* ---- statements ---- */

static void drop(chordal__store *store, chordal__kept_scan *kept) {
    chordal__list_remove(&kept->node);
    store->scans_len--;
    sqlite3_finalize(kept->statement);
    chordal__release(store->memory, kept, sizeof *kept + kept->len);
}

static chordal__kept_scan *find(chordal__store *store, const chordal__buffer *sql) {
    for (chordal__list *node = store->scans.next; node != &store->scans; node = node->next) {
        chordal__kept_scan *kept = CHORDAL__ENTRY(node, chordal__kept_scan, node);
        if (kept->len == sql->len && memcmp(kept->sql, sql->data, sql->len) == 0) return kept;
    }
    return NULL;
}

static int prepare(chordal__store *store, const chordal__buffer *sql, chordal__kept_scan **out, chordal_error *error) {
    chordal__kept_scan *kept = chordal__allocate_zero(store->memory, sizeof *kept + sql->len);
    if (!kept) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a query");
    kept->len = sql->len;
    memcpy(kept->sql, sql->data, sql->len);
    chordal__list_append(&store->scans, &kept->node);
    store->scans_len++;
    int result = sqlite3_prepare_v3(store->sqlite, kept->sql, -1, SQLITE_PREPARE_PERSISTENT, &kept->statement, NULL);
    if (result != SQLITE_OK) {
        int code = chordal__store_fail(store, result, error);
        drop(store, kept);
        return code;
    }
    *out = kept;
    return 0;
}

int chordal__scan_statement(chordal__store *store, const chordal__buffer *sql, sqlite3_stmt **out,
                            chordal_error *error) {
    chordal__kept_scan *kept = sql->failed ? NULL : find(store, sql);
    int code = sql->failed ? chordal__fail(error, sql->failed, 0, "no memory for a query") : 0;
    if (code == 0 && !kept) code = prepare(store, sql, &kept, error);
    if (code < 0) return code;
    chordal__list_remove(&kept->node);
    chordal__list_prepend(&store->scans, &kept->node);
    if (store->scans_len > CHORDAL__SCANS_KEPT)
        drop(store, CHORDAL__ENTRY(store->scans.previous, chordal__kept_scan, node));
    store->counters->statements++;
    *out = kept->statement;
    return 0;
}

static int statement_of(chordal__store *store, const chordal__query *query, sqlite3_stmt **out, chordal_error *error) {
    chordal__buffer sql;
    chordal__buffer_init(&sql, store->memory, UINT32_MAX);
    write_sql(&sql, query);
    int code = chordal__scan_statement(store, &sql, out, error);
    chordal__buffer_dispose(&sql);
    return code;
}

void chordal__scans_close(chordal__store *store) {
    while (!chordal__list_empty(&store->scans))
        drop(store, CHORDAL__ENTRY(store->scans.next, chordal__kept_scan, node));
}

/* ---- rows ---- */

int chordal__scan_begin(chordal__store *store, const chordal__query *query, const chordal__owner *owner, uint64_t limit,
                        chordal__scan *out, chordal_error *error) {
    *out = (chordal__scan){.store = store, .query = query};
    if (!owner->id) return 0;
    int code = statement_of(store, query, &out->statement, error);
    if (code < 0) return code;
    code = bind_all(out->statement, query, owner->id, limit);
    if (code == 0) return 0;
    chordal__scan_end(out);
    return chordal__fail(error, code, 0, "no memory for a query");
}

static int step(chordal__scan *scan, bool *out_more, chordal_error *error) {
    int result = scan->statement ? sqlite3_step(scan->statement) : SQLITE_DONE;
    *out_more = result == SQLITE_ROW;
    return result == SQLITE_ROW || result == SQLITE_DONE ? 0 : chordal__store_fail(scan->store, result, error);
}

int chordal__scan_cells(chordal__scan *scan, chordal__cell cells[CHORDAL__COLUMNS_LIMIT], bool *out_more,
                        chordal_error *error) {
    int code = step(scan, out_more, error);
    if (!*out_more) return code;
    chordal__cells_of_statement(scan->query->table, scan->statement, 0, cells);
    return chordal__cells_check(scan->query->table, cells, error);
}

int chordal__scan_next(chordal__scan *scan, chordal__row **out, chordal_error *error) {
    bool more;
    int code = step(scan, &more, error);
    *out = NULL;
    if (!more) return code;
    return chordal__row_of_statement(scan->store->memory, scan->query->table, scan->statement, 0, out, error);
}

void chordal__scan_end(chordal__scan *scan) {
    if (!scan->statement) return;
    sqlite3_reset(scan->statement);
    sqlite3_clear_bindings(scan->statement);
    scan->statement = NULL;
}
