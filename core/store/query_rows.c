/* query_rows.c: queries judged on rows in memory: what matches, in which order, and where a page begins. */
#include "store/query.h"

/* ---- what matches ---- */

static bool begins_with(const chordal__cell *cell, const chordal__cell *prefix) {
    size_t len = prefix->as.bytes.len;
    return cell->as.bytes.len >= len && (!len || memcmp(cell->as.bytes.data, prefix->as.bytes.data, len) == 0);
}

static bool is_among(const chordal__cell *cell, const chordal__cell *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (chordal__cell_compare(cell, &values[i]) == 0) return true;
    return false;
}

/* On a cell that is not null. */
static bool compares(const chordal__term *term, const chordal__cell *cell, const chordal__cell *values) {
    switch (term->kind) {
    case CHORDAL__TERM_EQ:
        return chordal__cell_compare(cell, values) == 0;
    case CHORDAL__TERM_LT:
        return chordal__cell_compare(cell, values) < 0;
    case CHORDAL__TERM_LE:
        return chordal__cell_compare(cell, values) <= 0;
    case CHORDAL__TERM_GT:
        return chordal__cell_compare(cell, values) > 0;
    case CHORDAL__TERM_GE:
        return chordal__cell_compare(cell, values) >= 0;
    case CHORDAL__TERM_PREFIX:
        return begins_with(cell, values);
    default:
        return is_among(cell, values, term->values);
    }
}

static bool holds(const chordal__query *query, uint32_t at, const chordal__row *row) {
    const chordal__term *term = &query->terms[at];
    if (term->kind <= CHORDAL__TERM_OR) {
        bool all = term->kind == CHORDAL__TERM_AND;
        for (uint32_t i = at + 1; i < term->end; i = query->terms[i].end)
            if (holds(query, i, row) != all) return !all;
        return all;
    }
    const chordal__cell *cell = &row->cells[term->column];
    bool null = cell->kind == CHORDAL__CELL_NULL;
    if (term->kind == CHORDAL__TERM_NULL) return null != term->negated;
    return (!null && compares(term, cell, query->values->cells + term->value)) != term->negated;
}

bool chordal__query_matches(const chordal__query *query, const chordal__row *row) {
    return !query->terms_len || holds(query, 0, row);
}

/* ---- order ---- */

int chordal__query_compare(const chordal__query *query, const chordal__row *a, const chordal__row *b) {
    for (uint32_t i = 0; i < query->order_len; i++) {
        const chordal__order *order = &query->order[i];
        int result = chordal__cell_compare(&a->cells[order->column], &b->cells[order->column]);
        if (result) return order->down ? -result : result;
    }
    return 0;
}

static void sink(const chordal__query *query, chordal__row **rows, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && chordal__query_compare(query, rows[child + 1], rows[child]) > 0) child++;
        if (chordal__query_compare(query, rows[child], rows[at]) <= 0) return;
        chordal__row *row = rows[at];
        rows[at] = rows[child];
        rows[child] = row;
    }
}

/* A heap: no memory, and no worst case. */
void chordal__query_sort(const chordal__query *query, chordal__row **rows, size_t count) {
    for (size_t i = count / 2; i-- > 0;) sink(query, rows, i, count);
    for (size_t end = count; end-- > 1;) {
        chordal__row *row = rows[0];
        rows[0] = rows[end];
        rows[end] = row;
        sink(query, rows, 0, end);
    }
}

/* ---- cursors: base64 of [what it is ordered by, cell, …] ---- */

static int64_t signature(const chordal__query *query) {
    uint64_t hash = CHORDAL__FNV_START;
    for (int shift = 0; shift < 64; shift += 8) hash = chordal__fnv_byte(hash, (uint8_t)(query->table->id >> shift));
    for (uint32_t i = 0; i < query->order_len; i++) {
        uint32_t number = query->table->columns[query->order[i].column].number;
        hash = chordal__fnv_byte(hash, (uint8_t)number);
        hash = chordal__fnv_byte(hash, (uint8_t)(number >> 8));
        hash = chordal__fnv_byte(hash, query->order[i].down);
    }
    return (int64_t)(hash & UINT32_MAX);
}

void chordal__cursor_write(chordal__buffer *out, const chordal__query *query, const chordal__row *last) {
    chordal__buffer packed;
    chordal__buffer_init(&packed, out->memory, UINT32_MAX);
    chordal__pack_write_array(&packed, query->order_len + 1);
    chordal__pack_write_integer(&packed, signature(query));
    for (uint32_t i = 0; i < query->order_len; i++)
        chordal__cell_pack(&packed, &last->cells[query->order[i].column], CHORDAL__BYTES_RAW);
    if (packed.failed && !out->failed) out->failed = packed.failed;
    chordal__base64_write(out, packed.data, packed.len);
    chordal__buffer_dispose(&packed);
}

static int read_cells(chordal__query *query, chordal__reader *reader, chordal__row_draft *draft) {
    const chordal__limits limits = {.depth = 1, .size = UINT32_MAX};
    chordal__node *node;
    uint8_t head = chordal__read_byte(reader);
    bool array = query->order_len + 1 < 16 ? head == (0x90 | (query->order_len + 1))
                                           : head == 0xdc && chordal__read_byte(reader) == 0 &&
                                                 chordal__read_byte(reader) == query->order_len + 1;
    if (!array) return CHORDAL_E_INVALID;
    int code = chordal__pack_read_value(query->table->memory, reader, &limits, &node, NULL);
    if (code < 0) return code;
    chordal__number number = {.kind = CHORDAL_KIND_DOUBLE};
    if (chordal__node_kind(node) == CHORDAL_KIND_INTEGER) chordal__node_get_number(node, &number);
    chordal__node_unref(query->table->memory, node);
    if (number.kind != CHORDAL_KIND_INTEGER || number.as.integer != signature(query)) return CHORDAL_E_INVALID;
    for (uint32_t i = 0; i < query->order_len && code == 0; i++)
        code = chordal__row_draft_packed_cell(draft, reader, query->order[i].column, &limits, NULL);
    if (code == 0 && reader->at != reader->end) code = CHORDAL_E_INVALID;
    return code < 0 ? code : chordal__row_draft_end(draft, &query->after, NULL);
}

int chordal__cursor_read(chordal__query *query, const chordal__node *text, chordal_error *error) {
    chordal__buffer encoded, packed;
    chordal__row_draft draft;
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    if (chordal__node_kind(text) == CHORDAL_KIND_NULL) return 0;
    chordal__buffer_init(&encoded, query->table->memory, UINT32_MAX);
    chordal__buffer_init(&packed, query->table->memory, UINT32_MAX);
    chordal__row_draft_begin(&draft, query->table, NULL);
    if (chordal__node_kind(text) == CHORDAL_KIND_STRING)
        while (chordal__node_string_piece(text, &at, &piece, &len)) chordal__buffer_put(&encoded, piece, len);
    int code = chordal__base64_read(&packed, encoded.data, encoded.len);
    if (encoded.failed || packed.failed) code = CHORDAL_E_NOMEM;
    chordal__reader reader = chordal__reader_of(packed.data, packed.len);
    if (code == 0) code = read_cells(query, &reader, &draft);
    chordal__row_draft_dispose(&draft);
    chordal__buffer_dispose(&packed);
    chordal__buffer_dispose(&encoded);
    if (code == CHORDAL_E_NOMEM) return chordal__fail(error, code, 0, "no memory for a cursor");
    return code < 0 ? chordal__fail(error, CHORDAL_E_INVALID, 0, "this is no cursor of this query") : 0;
}
