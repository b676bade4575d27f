/* query.c: queries from their values: all is checked here, before anything is asked. */
#include "store/query.h"

typedef struct parser {
    chordal__query *query;
    chordal__memory *memory;
    chordal_error *error;
    chordal__buffer bytes; /* of the values */
    chordal__cell *cells;
    size_t *at;
    size_t cells_len, cells_capacity, at_capacity;
    uint32_t depth;
} parser;

static int refuse(parser *p, const char *words) {
    return chordal__fail(p->error, CHORDAL_E_INVALID, 0, words);
}

static int no_memory(parser *p) {
    return chordal__fail(p->error, CHORDAL_E_NOMEM, 0, "no memory for a query");
}

static bool is_kind(const chordal__node *node, int kind) {
    return node && chordal__node_kind(node) == kind;
}

static bool is_text(const void *data, size_t len, const char *text) {
    return strlen(text) == len && memcmp(data, text, len) == 0;
}

static int find_column(parser *p, const chordal__node *name, uint32_t *out) {
    const chordal__table *table = p->query->table;
    uint64_t at = 0;
    const uint8_t *piece = NULL;
    size_t len = 0;
    if (!is_kind(name, CHORDAL_KIND_STRING)) return refuse(p, "a column is named by a text");
    (void)chordal__node_string_piece(name, &at, &piece, &len);
    int64_t column = len ? chordal__table_column(table, piece, len) : -1;
    if (column < 0) return chordal__fail_about(p->error, CHORDAL_E_INVALID, "the table has no column ", piece, len);
    *out = (uint32_t)column;
    return 0;
}

/* One that has an order: all but json. */
static int find_comparable(parser *p, const chordal__node *name, uint32_t *out) {
    int code = find_column(p, name, out);
    if (code < 0 || p->query->table->columns[*out].type != CHORDAL__CELL_JSON) return code;
    return refuse(p, "a json column is not compared");
}

/* ---- conditions ---- */

static int add_term(parser *p, uint8_t kind, bool negated, size_t *out) {
    chordal__query *query = p->query;
    void *terms = query->terms;
    int code = chordal__grow(p->memory, &terms, sizeof *query->terms, &query->terms_capacity, query->terms_len + 1,
                             CHORDAL__QUERY_TERMS);
    query->terms = terms;
    if (code == CHORDAL_E_LIMIT) return chordal__fail(p->error, code, 0, "a condition has at most 256 terms");
    if (code < 0) return no_memory(p);
    *out = query->terms_len++;
    query->terms[*out] = (chordal__term){.kind = kind, .negated = negated, .value = (uint32_t)p->cells_len};
    return 0;
}

static int grow_cells(parser *p) {
    void *cells = p->cells, *at = p->at;
    int code =
        chordal__grow(p->memory, &cells, sizeof *p->cells, &p->cells_capacity, p->cells_len + 1, CHORDAL__QUERY_VALUES);
    p->cells = cells;
    if (code == 0)
        code = chordal__grow(p->memory, &at, sizeof *p->at, &p->at_capacity, p->cells_len + 1, CHORDAL__QUERY_VALUES);
    p->at = at;
    if (code == CHORDAL_E_LIMIT)
        return chordal__fail(p->error, code, 0, "a condition compares with at most 1000 values");
    return code < 0 ? no_memory(p) : 0;
}

static int add_value(parser *p, size_t term, const chordal__node *value) {
    const chordal__column *column = &p->query->table->columns[p->query->terms[term].column];
    int code = grow_cells(p);
    if (code < 0) return code;
    if (chordal__node_kind(value) == CHORDAL_KIND_NULL) return refuse(p, "null is asked for by {\"null\": column}");
    chordal__cell *cell = &p->cells[p->cells_len];
    code = chordal__cell_read(column->type, value, &p->bytes, cell, &p->at[p->cells_len]);
    bool number = column->type == CHORDAL__CELL_INTEGER && cell->kind == CHORDAL__CELL_REAL;
    if (code == CHORDAL_E_NOMEM) return no_memory(p);
    if (code < 0 && !number)
        return chordal__fail_about(p->error, code, "the value does not fit the column ", column->name,
                                   column->name_len);
    p->cells_len++;
    p->query->terms[term].values++;
    return 0;
}

static int read_comparison(parser *p, const chordal__node *given, uint8_t kind, bool negated) {
    size_t term;
    uint32_t column = 0;
    if (!is_kind(given, CHORDAL_KIND_ARRAY) || chordal__node_length(given) != 2)
        return refuse(p, "a comparison is [column, value]");
    int code = find_comparable(p, chordal__node_at(given, 0), &column);
    if (code == 0) code = add_term(p, kind, negated, &term);
    if (code < 0) return code;
    p->query->terms[term].column = column;
    p->query->terms[term].end = (uint32_t)term + 1;
    const chordal__node *value = chordal__node_at(given, 1);
    if (kind == CHORDAL__TERM_PREFIX && p->query->table->columns[column].type != CHORDAL__CELL_TEXT)
        return refuse(p, "only text columns have prefixes");
    if (kind != CHORDAL__TERM_IN) return add_value(p, term, value);
    if (!is_kind(value, CHORDAL_KIND_ARRAY)) return refuse(p, "in takes [column, [values]]");
    for (uint64_t i = 0; i < chordal__node_length(value) && code == 0; i++)
        code = add_value(p, term, chordal__node_at(value, i));
    return code;
}

static int read_null(parser *p, const chordal__node *given, bool negated) {
    size_t term;
    uint32_t column = 0;
    int code = find_column(p, given, &column);
    if (code == 0) code = add_term(p, CHORDAL__TERM_NULL, negated, &term);
    if (code < 0) return code;
    p->query->terms[term].column = column;
    p->query->terms[term].end = (uint32_t)term + 1;
    return 0;
}

static int read_condition(parser *p, const chordal__node *given, bool negated);

/* What is negated is the other of the two, of what is negated. */
static int read_many(parser *p, const chordal__node *given, bool all, bool negated) {
    size_t term;
    if (!is_kind(given, CHORDAL_KIND_ARRAY)) return refuse(p, "and and or take lists");
    int code = add_term(p, all != negated ? CHORDAL__TERM_AND : CHORDAL__TERM_OR, false, &term);
    for (uint64_t i = 0; code == 0 && i < chordal__node_length(given); i++)
        code = read_condition(p, chordal__node_at(given, i), negated);
    if (code == 0) p->query->terms[term].end = (uint32_t)p->query->terms_len;
    return code;
}

static int read_operator(parser *p, const uint8_t *name, size_t len, const chordal__node *given, bool negated) {
    static const struct {
        const char *name;
        uint8_t kind;
        bool negated;
    } comparisons[] = {{"eq", CHORDAL__TERM_EQ, false}, {"ne", CHORDAL__TERM_EQ, true},
                       {"lt", CHORDAL__TERM_LT, false}, {"le", CHORDAL__TERM_LE, false},
                       {"gt", CHORDAL__TERM_GT, false}, {"ge", CHORDAL__TERM_GE, false},
                       {"in", CHORDAL__TERM_IN, false}, {"prefix", CHORDAL__TERM_PREFIX, false}};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (is_text(name, len, comparisons[i].name))
            return read_comparison(p, given, comparisons[i].kind, comparisons[i].negated != negated);
    if (is_text(name, len, "null")) return read_null(p, given, negated);
    if (is_text(name, len, "not")) return read_condition(p, given, !negated);
    if (is_text(name, len, "and")) return read_many(p, given, true, negated);
    if (is_text(name, len, "or")) return read_many(p, given, false, negated);
    return chordal__fail_about(p->error, CHORDAL_E_INVALID, "no such operator: ", name, len);
}

static int read_condition(parser *p, const chordal__node *given, bool negated) {
    const uint8_t *name;
    size_t len;
    chordal__node *argument;
    if (!is_kind(given, CHORDAL_KIND_OBJECT) || chordal__node_length(given) != 1)
        return refuse(p, "a condition is an object with one operator");
    if (p->depth == CHORDAL__QUERY_DEPTH)
        return chordal__fail(p->error, CHORDAL_E_LIMIT, 0, "a condition is nested 16 deep at most");
    p->depth++;
    (void)chordal__node_member(given, 0, &name, &len, &argument);
    int code = read_operator(p, name, len, argument, negated);
    p->depth--;
    return code;
}

/* ---- order and groups ---- */

static bool is_ordered_by(const chordal__query *query, uint32_t column) {
    for (uint32_t i = 0; i < query->order_len; i++)
        if (query->order[i].column == column) return true;
    return false;
}

static int read_direction(parser *p, const chordal__node *given, bool *out) {
    uint64_t at = 0;
    const uint8_t *piece = NULL;
    size_t len = 0;
    if (is_kind(given, CHORDAL_KIND_STRING)) (void)chordal__node_string_piece(given, &at, &piece, &len);
    *out = len && is_text(piece, len, "desc");
    return *out || (len && is_text(piece, len, "asc")) ? 0 : refuse(p, "a direction is asc or desc");
}

static int read_order_column(parser *p, const chordal__node *given) {
    chordal__query *query = p->query;
    bool pair = is_kind(given, CHORDAL_KIND_ARRAY) && chordal__node_length(given) == 2, down = false;
    uint32_t column = 0;
    int code = find_comparable(p, pair ? chordal__node_at(given, 0) : given, &column);
    if (code == 0 && pair) code = read_direction(p, chordal__node_at(given, 1), &down);
    if (code < 0) return code;
    if (is_ordered_by(query, column)) return refuse(p, "an order names a column twice");
    query->order[query->order_len++] = (chordal__order){column, down};
    return 0;
}

/* The key ends it, in the direction of what is before, so that an index has it as well. */
static int read_order(parser *p, const chordal__node *given) {
    chordal__query *query = p->query;
    int code = 0;
    if (given && (!is_kind(given, CHORDAL_KIND_ARRAY) || chordal__node_length(given) > CHORDAL__KEY_LIMIT))
        return refuse(p, "an order is a list of at most 8 columns");
    for (uint64_t i = 0; given && i < chordal__node_length(given) && code == 0; i++)
        code = read_order_column(p, chordal__node_at(given, i));
    bool down = query->order_len && query->order[query->order_len - 1].down;
    for (uint32_t i = 0; i < query->table->key_len && code == 0; i++)
        if (!is_ordered_by(query, query->table->key[i]))
            query->order[query->order_len++] = (chordal__order){query->table->key[i], down};
    return code;
}

static int read_group(parser *p, const chordal__node *given) {
    chordal__query *query = p->query;
    int code = 0;
    if (!is_kind(given, CHORDAL_KIND_ARRAY) || chordal__node_length(given) == 0 ||
        chordal__node_length(given) > CHORDAL__KEY_LIMIT)
        return refuse(p, "a group is a list of 1 to 8 columns");
    for (uint64_t i = 0; i < chordal__node_length(given) && code == 0; i++) {
        code = find_comparable(p, chordal__node_at(given, i), &query->groups[i]);
        for (uint64_t k = 0; k < i && code == 0; k++)
            if (query->groups[k] == query->groups[i]) code = refuse(p, "a group names a column twice");
        query->groups_len++;
    }
    return code;
}

static int read_sum(parser *p, const chordal__node *given) {
    int code = find_column(p, given, &p->query->sum);
    if (code < 0) return code;
    p->query->sums = true;
    uint8_t type = p->query->table->columns[p->query->sum].type;
    return type < CHORDAL__CELL_TEXT ? 0 : refuse(p, "only numbers are summed");
}

static int read_limit(parser *p, const chordal__node *given) {
    chordal__number number = {0};
    if (is_kind(given, CHORDAL_KIND_INTEGER)) chordal__node_get_number(given, &number);
    if (number.as.integer < 1 || number.as.integer > CHORDAL__QUERY_LIMIT)
        return refuse(p, "a limit is from 1 to 10000");
    p->query->limit = (uint32_t)number.as.integer;
    return 0;
}

/* ---- the whole ---- */

static int read_flag(parser *p, const chordal__node *given, bool *out) {
    *out = is_kind(given, CHORDAL_KIND_TRUE);
    return *out || is_kind(given, CHORDAL_KIND_FALSE) ? 0 : refuse(p, "count and stale are true or false");
}

static const char *const parts[] = {"where", "order", "limit", "after", "stale", "count", "sum", "group"};
enum { WHERE, ORDER, LIMIT, AFTER, STALE, COUNT, SUM, GROUP, PARTS };

static int find_parts(parser *p, const chordal__node *value, chordal__node *out[PARTS]) {
    chordal__walk walk;
    const uint8_t *name;
    size_t len;
    if (!is_kind(value, CHORDAL_KIND_OBJECT)) return refuse(p, "a query is an object");
    chordal__walk_begin(&walk, value);
    for (chordal__node *part; (part = chordal__walk_next(&walk, &name, &len)) != NULL;) {
        int at = 0;
        while (at < PARTS && !is_text(name, len, parts[at])) at++;
        if (at == PARTS)
            return chordal__fail_about(p->error, CHORDAL_E_INVALID, "a query has nothing of the name ", name, len);
        out[at] = part;
    }
    return 0;
}

static int read_parts(parser *p, chordal__node *const given[PARTS]) {
    chordal__query *query = p->query;
    int code = given[WHERE] ? read_condition(p, given[WHERE], false) : 0;
    if (code == 0 && given[STALE]) code = read_flag(p, given[STALE], &query->stale);
    if (code == 0 && given[COUNT]) code = read_flag(p, given[COUNT], &query->counts);
    if (code == 0 && given[SUM]) code = read_sum(p, given[SUM]);
    if (code == 0 && given[GROUP]) code = read_group(p, given[GROUP]);
    if (code == 0) query->counts = query->counts || (query->groups_len && !query->sums);
    bool pages = given[ORDER] || given[LIMIT] || given[AFTER];
    if (code == 0 && pages && chordal__query_is_aggregate(query))
        code = refuse(p, "counts and sums have no order, limit or cursor");
    if (code == 0) code = read_order(p, given[ORDER]);
    if (code == 0 && given[LIMIT]) code = read_limit(p, given[LIMIT]);
    if (code == 0 && given[AFTER]) code = chordal__cursor_read(query, given[AFTER], p->error);
    return code;
}

static parser parser_of(const chordal__table *table, chordal__query *query, chordal_error *error) {
    parser p = {.query = query, .memory = table->memory, .error = error};
    *query = (chordal__query){.table = table, .limit = CHORDAL__QUERY_ROWS};
    chordal__buffer_init(&p.bytes, p.memory, UINT32_MAX);
    return p;
}

static int end(parser *p, int code) {
    for (size_t i = 0; i < p->cells_len; i++)
        if (p->at[i] != SIZE_MAX) p->cells[i].as.bytes.data = chordal__cell_place(&p->bytes, p->at[i]);
    if (code == 0) p->query->values = chordal__row_new(p->memory, p->cells, (uint32_t)p->cells_len);
    if (code == 0 && !p->query->values) code = no_memory(p);
    chordal__buffer_dispose(&p->bytes);
    chordal__release(p->memory, p->cells, p->cells_capacity * sizeof *p->cells);
    chordal__release(p->memory, p->at, p->at_capacity * sizeof *p->at);
    if (code < 0) chordal__query_dispose(p->query);
    return code;
}

int chordal__query_read(const chordal__table *table, const chordal__node *value, chordal__query *out,
                        chordal_error *error) {
    chordal__node *given[PARTS] = {NULL};
    parser p = parser_of(table, out, error);
    int code = find_parts(&p, value, given);
    if (code == 0) code = read_parts(&p, given);
    return end(&p, code);
}

int chordal__query_where(const chordal__table *table, const chordal__node *where, chordal__query *out,
                         chordal_error *error) {
    parser p = parser_of(table, out, error);
    int code = is_kind(where, CHORDAL_KIND_NULL) ? 0 : read_condition(&p, where, false);
    if (code == 0) code = read_order(&p, NULL);
    return end(&p, code);
}

void chordal__query_dispose(chordal__query *query) {
    if (!query->table) return;
    chordal__row_unref(query->values);
    chordal__row_unref(query->after);
    chordal__release(query->table->memory, query->terms, query->terms_capacity * sizeof *query->terms);
    *query = (chordal__query){0};
}
