/* table_row.c: rows in memory: one block each, shared by all who need it. */
#include "store/table.h"

chordal__row *chordal__row_new(chordal__memory *memory, const chordal__cell *cells, uint32_t count) {
    size_t size = sizeof(chordal__row) + count * sizeof *cells;
    for (uint32_t i = 0; i < count; i++) size += chordal__cell_has_bytes(&cells[i]) ? cells[i].as.bytes.len : 0;
    chordal__row *row = chordal__allocate(memory, size);
    if (!row) return NULL;
    *row = (chordal__row){.memory = memory, .references = 1, .count = count, .size = size};
    uint8_t *behind = (uint8_t *)(row->cells + count);
    for (uint32_t i = 0; i < count; i++) {
        row->cells[i] = cells[i];
        if (!chordal__cell_has_bytes(&cells[i])) continue;
        size_t len = cells[i].as.bytes.len;
        if (len) memcpy(behind, cells[i].as.bytes.data, len);
        row->cells[i].as.bytes.data = behind;
        behind += len;
    }
    return row;
}

chordal__row *chordal__row_ref(chordal__row *row) {
    row->references++;
    return row;
}

void chordal__row_unref(chordal__row *row) {
    if (row && --row->references == 0) chordal__release(row->memory, row, row->size);
}

static int compare_bytes(const chordal__cell *a, const chordal__cell *b) {
    size_t a_len = a->as.bytes.len, b_len = b->as.bytes.len, len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a->as.bytes.data, b->as.bytes.data, len) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_numbers(const chordal__cell *a, const chordal__cell *b) {
    chordal__number numbers[2];
    const chordal__cell *cells[] = {a, b};
    for (int i = 0; i < 2; i++) {
        numbers[i] = (chordal__number){.kind = CHORDAL_KIND_INTEGER, .as.integer = cells[i]->as.integer};
        if (cells[i]->kind == CHORDAL__CELL_REAL) (void)chordal__number_of_double(cells[i]->as.real, &numbers[i]);
    }
    return chordal__number_compare(&numbers[0], &numbers[1]);
}

int chordal__cell_compare(const chordal__cell *a, const chordal__cell *b) {
    if (a->kind == CHORDAL__CELL_INTEGER && b->kind == CHORDAL__CELL_INTEGER)
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    if (a->kind == CHORDAL__CELL_REAL && b->kind == CHORDAL__CELL_REAL)
        return (a->as.real > b->as.real) - (a->as.real < b->as.real);
    if (a->kind == CHORDAL__CELL_NULL || b->kind == CHORDAL__CELL_NULL)
        return (a->kind != CHORDAL__CELL_NULL) - (b->kind != CHORDAL__CELL_NULL);
    return a->kind < CHORDAL__CELL_TEXT ? compare_numbers(a, b) : compare_bytes(a, b);
}

bool chordal__row_equal(const chordal__row *a, const chordal__row *b) {
    if (a == b) return true;
    if (!a || !b || a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (chordal__cell_compare(&a->cells[i], &b->cells[i]) != 0) return false;
    return true;
}

/* ---- what was read ---- */

static int check_cell(chordal__memory *memory, const chordal__cell *cell) {
    const chordal__limits limits = {.depth = CHORDAL__DEPTH_MAX, .size = UINT64_MAX};
    chordal__number number;
    size_t position;
    if (cell->kind == CHORDAL__CELL_REAL)
        return chordal__number_of_double(cell->as.real, &number) ? 0 : CHORDAL_E_CORRUPT;
    if (!chordal__cell_has_bytes(cell) || cell->kind == CHORDAL__CELL_BYTES) return 0;
    if (!cell->as.bytes.data && cell->as.bytes.len) return CHORDAL_E_NOMEM;
    if (cell->kind == CHORDAL__CELL_TEXT)
        return chordal__utf_valid(cell->as.bytes.data, cell->as.bytes.len, &position) ? 0 : CHORDAL_E_CORRUPT;
    chordal__reader reader = chordal__reader_of(cell->as.bytes.data, cell->as.bytes.len);
    int code = chordal__pack_check(memory, &reader, &limits, NULL);
    return code == CHORDAL_E_NOMEM || (code == 0 && reader.at == reader.end) ? code : CHORDAL_E_CORRUPT;
}

int chordal__cells_check(const chordal__table *table, const chordal__cell *cells, chordal_error *error) {
    int code = 0;
    uint32_t i = 0;
    while (i < table->columns_len && (code = check_cell(table->memory, &cells[i])) == 0) i++;
    if (code == 0) return 0;
    if (code == CHORDAL_E_NOMEM) return chordal__fail(error, code, 0, "no memory for a row");
    const chordal__column *column = &table->columns[i];
    return chordal__fail_about(error, code, "the store: a damaged cell in the column ", column->name, column->name_len);
}
