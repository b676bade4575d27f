/* table.c: what a table is declared as. */
#include "store/table.h"

#include <sqlite3.h>

static int refuse(chordal_error *error, const char *words) {
    return chordal__fail(error, CHORDAL_E_INVALID, 0, words);
}

static chordal__node *field(const chordal__node *object, const char *name) {
    return chordal__node_get(object, name, strlen(name));
}

static bool is_kind(const chordal__node *node, int kind) {
    return node && chordal__node_kind(node) == kind;
}

static bool is_word(const chordal__node *node, const void *word, size_t word_len) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    if (!is_kind(node, CHORDAL_KIND_STRING)) return false;
    if (!chordal__node_string_piece(node, &at, &piece, &len)) return word_len == 0;
    return len == word_len && memcmp(piece, word, len) == 0;
}

/* ---- columns ---- */

static uint8_t type_of(const chordal__node *node) {
    static const char *const words[] = {"", "integer", "real", "text", "json", "bytes"};
    for (uint8_t i = CHORDAL__CELL_INTEGER; i <= CHORDAL__CELL_BYTES; i++)
        if (is_word(node, words[i], strlen(words[i]))) return i;
    return CHORDAL__CELL_NULL;
}

static int read_column(chordal__table *table, const chordal__node *declared, chordal__column *column,
                       chordal_error *error) {
    bool detailed = is_kind(declared, CHORDAL_KIND_OBJECT);
    column->type = type_of(detailed ? field(declared, "type") : declared);
    if (!column->type) return refuse(error, "a column's type is integer, real, text, json or bytes");
    if (column->name_len == 0 || column->name_len > CHORDAL__COLUMN_NAME_BYTES)
        return refuse(error, "a column has a name of 1 to 255 bytes");
    table->columns_len++;
    return 0;
}

static int read_columns(chordal__table *table, chordal_error *error) {
    chordal__node *columns = field(table->declared, "columns"), *declared;
    if (!is_kind(columns, CHORDAL_KIND_OBJECT) || chordal__node_length(columns) == 0 ||
        chordal__node_length(columns) > CHORDAL__COLUMNS_LIMIT)
        return refuse(error, "a table has an object of 1 to 64 columns");
    for (uint32_t i = 0; i < chordal__node_length(columns); i++) {
        chordal__column *column = &table->columns[i];
        (void)chordal__node_member(columns, i, &column->name, &column->name_len, &declared);
        int code = read_column(table, declared, column, error);
        if (code < 0) return code;
    }
    return 0;
}

int64_t chordal__table_column(const chordal__table *table, const void *name, size_t name_len) {
    for (uint32_t i = 0; i < table->columns_len; i++)
        if (table->columns[i].name_len == name_len && memcmp(table->columns[i].name, name, name_len) == 0) return i;
    return -1;
}

/* ---- the key, indexes ---- */

static int64_t column_of(const chordal__table *table, const chordal__node *name) {
    for (uint32_t i = 0; i < table->columns_len; i++)
        if (is_word(name, table->columns[i].name, table->columns[i].name_len)) return i;
    return -1;
}

/* Names of columns that can be compared, each once. */
static int read_names(const chordal__table *table, const chordal__node *names, uint32_t *out, uint32_t *out_len,
                      chordal_error *error) {
    uint64_t count = is_kind(names, CHORDAL_KIND_ARRAY) ? chordal__node_length(names) : 0;
    if (count == 0 || count > CHORDAL__KEY_LIMIT) return refuse(error, "a key or an index is a list of 1 to 8 columns");
    for (uint32_t i = 0; i < count; i++) {
        int64_t column = column_of(table, chordal__node_at(names, i));
        if (column < 0) return refuse(error, "a key or an index names a column that is not there");
        if (table->columns[column].type == CHORDAL__CELL_JSON)
            return refuse(error, "a json column is in no key and in no index");
        for (uint32_t k = 0; k < i; k++)
            if (out[k] == column) return refuse(error, "a key or an index names a column twice");
        out[i] = (uint32_t)column;
    }
    *out_len = (uint32_t)count;
    return 0;
}

static int read_key(chordal__table *table, chordal_error *error) {
    int code = read_names(table, field(table->declared, "key"), table->key, &table->key_len, error);
    if (code < 0) return code;
    for (uint32_t i = 0; i < table->key_len; i++) table->columns[table->key[i]].key = true;
    return 0;
}

static int read_indexes(chordal__table *table, chordal_error *error) {
    chordal__node *indexes = field(table->declared, "indexes"), *names;
    if (!indexes) return 0;
    if (!is_kind(indexes, CHORDAL_KIND_OBJECT) || chordal__node_length(indexes) > CHORDAL__INDEXES_LIMIT)
        return refuse(error, "indexes is an object of at most 16");
    for (uint32_t i = 0; i < chordal__node_length(indexes); i++) {
        chordal__index *index = &table->indexes[table->indexes_len++];
        (void)chordal__node_member(indexes, i, &index->name, &index->name_len, &names);
        int code = read_names(table, names, index->columns, &index->len, error);
        if (code < 0) return code;
    }
    return 0;
}

static int read_version(chordal__table *table, chordal_error *error) {
    chordal__number number = {0};
    const chordal__node *version = field(table->declared, "version");
    table->version = 1;
    if (!version) return 0;
    if (is_kind(version, CHORDAL_KIND_INTEGER)) chordal__node_get_number(version, &number);
    if (!is_kind(version, CHORDAL_KIND_INTEGER) || number.as.integer < 1 || number.as.integer > UINT32_MAX)
        return refuse(error, "a table's version is from 1 to 2^32-1");
    table->version = (uint32_t)number.as.integer;
    return 0;
}

/* ---- what a row has where nothing is given ---- */

static int read_default(const chordal__table *table, uint32_t i, chordal__row_draft *draft, chordal_error *error) {
    chordal__node *columns = field(table->declared, "columns"), *declared;
    const uint8_t *name;
    size_t len;
    (void)chordal__node_member(columns, i, &name, &len, &declared);
    chordal__node *value = is_kind(declared, CHORDAL_KIND_OBJECT) ? field(declared, "default") : NULL;
    if (!value) return 0;
    uint8_t type = table->columns[i].type;
    if (table->columns[i].key || type == CHORDAL__CELL_JSON || type == CHORDAL__CELL_BYTES)
        return refuse(error, "a default is for integer, real and text columns outside of the key");
    int code = chordal__row_draft_cell(draft, i, value, error);
    const chordal__cell *cell = &draft->cells[i];
    bool text = code == 0 && cell->kind == CHORDAL__CELL_TEXT && cell->as.bytes.len;
    if (text && memchr(draft->bytes.data + draft->at[i], 0, cell->as.bytes.len))
        return refuse(error, "the default of a text column is without U+0000");
    return code;
}

static int read_defaults(chordal__table *table, chordal_error *error) {
    chordal__row_draft draft;
    int code = 0;
    chordal__row_draft_begin(&draft, table, NULL);
    for (uint32_t i = 0; i < table->columns_len && code == 0; i++) code = read_default(table, i, &draft, error);
    if (code == 0) table->initial = chordal__row_draft_row(&draft);
    chordal__row_draft_dispose(&draft);
    if (code == 0 && !table->initial) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
    return code;
}

/* ---- names, as they stand in each row ---- */

static int pack_names(chordal__table *table, chordal_error *error) {
    uint8_t head[5], *at;
    for (uint32_t i = 0; i < table->columns_len; i++) {
        chordal__column *column = &table->columns[i];
        column->packed_len = chordal__pack_string_head(head, column->name_len) + column->name_len;
        table->names_len += column->packed_len;
    }
    at = table->names = chordal__allocate_zero(table->memory, table->names_len + CHORDAL__NAME_COPY);
    if (!at) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
    for (uint32_t i = 0; i < table->columns_len; i++) {
        chordal__column *column = &table->columns[i];
        memcpy(at + chordal__pack_string_head(at, column->name_len), column->name, column->name_len);
        column->packed = at;
        at += column->packed_len;
    }
    return 0;
}

/* ---- life ---- */

int chordal__table_declare(chordal__memory *memory, chordal__node *declared, chordal__table **out,
                           chordal_error *error) {
    chordal__table *table = chordal__allocate_zero(memory, sizeof *table);
    if (!table) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
    table->memory = memory;
    chordal__list_init(&table->node);
    table->declared = chordal__node_ref(declared);
    int code = read_columns(table, error);
    if (code == 0) code = read_key(table, error);
    if (code == 0) code = read_indexes(table, error);
    if (code == 0) code = read_version(table, error);
    if (code == 0) code = read_defaults(table, error);
    if (code == 0) code = pack_names(table, error);
    if (code < 0)
        chordal__table_free(table);
    else
        *out = table;
    return code;
}

void chordal__table_free(chordal__table *table) {
    if (!table) return;
    for (int i = 0; i < CHORDAL__ROW_STATEMENTS; i++) sqlite3_finalize(table->statements[i]);
    chordal__list_remove(&table->node);
    chordal__row_unref(table->initial);
    if (table->names) chordal__release(table->memory, table->names, table->names_len + CHORDAL__NAME_COPY);
    chordal__node_unref(table->memory, table->declared);
    chordal__release(table->memory, table, sizeof *table);
}
