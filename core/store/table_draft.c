/* table_draft.c: making rows of the values that a program gives. */
#include "store/table.h"

void chordal__row_draft_begin(chordal__row_draft *draft, const chordal__table *table, const chordal__row *base) {
    draft->table = table;
    draft->given = 0;
    chordal__buffer_init(&draft->bytes, table->memory, UINT32_MAX);
    for (uint32_t i = 0; i < table->columns_len; i++) {
        draft->at[i] = SIZE_MAX;
        draft->cells[i] = base ? base->cells[i] : (chordal__cell){.kind = CHORDAL__CELL_NULL};
    }
}

void chordal__row_draft_dispose(chordal__row_draft *draft) {
    chordal__buffer_dispose(&draft->bytes);
}

/* ---- cells ---- */

static int misfit(const chordal__row_draft *draft, uint32_t column, int code, chordal_error *error) {
    const chordal__column *misfits = &draft->table->columns[column];
    if (code == CHORDAL_E_NOMEM) return chordal__fail(error, code, 0, "no memory for a row");
    return chordal__fail_about(error, code, "the value does not fit the column ", misfits->name, misfits->name_len);
}

static double real_of(const chordal__number *number) {
    if (number->kind == CHORDAL_KIND_DOUBLE) return number->as.real;
    return number->kind == CHORDAL_KIND_INTEGER ? (double)number->as.integer : (double)number->as.unsigned_integer;
}

static int read_number(uint8_t type, const chordal__node *value, chordal__cell *out) {
    chordal__number number;
    int kind = chordal__node_kind(value);
    if (kind < CHORDAL_KIND_INTEGER || kind > CHORDAL_KIND_DOUBLE) return CHORDAL_E_TYPE;
    chordal__node_get_number(value, &number);
    bool whole = type == CHORDAL__CELL_INTEGER && kind == CHORDAL_KIND_INTEGER;
    out->kind = whole ? CHORDAL__CELL_INTEGER : CHORDAL__CELL_REAL;
    if (whole)
        out->as.integer = number.as.integer;
    else
        out->as.real = real_of(&number);
    if (out->kind == type) return 0;
    return kind == CHORDAL_KIND_DOUBLE ? CHORDAL_E_TYPE : CHORDAL_E_RANGE;
}

static void put_string(chordal__buffer *out, const chordal__node *string) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    while (chordal__node_string_piece(string, &at, &piece, &len)) chordal__buffer_put(out, piece, len);
}

static int put_base64(chordal__buffer *out, const chordal__node *string) {
    chordal__buffer text;
    chordal__buffer_init(&text, out->memory, UINT32_MAX);
    put_string(&text, string);
    int code = text.failed ? text.failed : chordal__base64_read(out, text.data, text.len);
    chordal__buffer_dispose(&text);
    return code;
}

static int read_bytes_of(uint8_t type, const chordal__node *value, chordal__buffer *bytes, chordal__cell *out,
                         size_t *out_at) {
    bool string = chordal__node_kind(value) == CHORDAL_KIND_STRING;
    int code = 0;
    *out_at = bytes->len;
    if (type == CHORDAL__CELL_JSON)
        chordal__pack_write(bytes, value);
    else if (!string)
        return CHORDAL_E_TYPE;
    else if (type == CHORDAL__CELL_TEXT)
        put_string(bytes, value);
    else
        code = put_base64(bytes, value);
    *out = (chordal__cell){.kind = type};
    out->as.bytes.len = bytes->len - *out_at;
    return code < 0 ? code : bytes->failed;
}

int chordal__cell_read(uint8_t type, const chordal__node *value, chordal__buffer *bytes, chordal__cell *out,
                       size_t *out_at) {
    *out_at = SIZE_MAX;
    *out = (chordal__cell){.kind = CHORDAL__CELL_NULL};
    if (chordal__node_kind(value) == CHORDAL_KIND_NULL) return 0;
    if (type < CHORDAL__CELL_TEXT) return read_number(type, value, out);
    return read_bytes_of(type, value, bytes, out, out_at);
}

int chordal__row_draft_cell(chordal__row_draft *draft, uint32_t column, const chordal__node *value,
                            chordal_error *error) {
    draft->given |= UINT64_C(1) << column;
    int code = chordal__cell_read(draft->table->columns[column].type, value, &draft->bytes, &draft->cells[column],
                                  &draft->at[column]);
    return code < 0 ? misfit(draft, column, code, error) : 0;
}

static int find_column(const chordal__row_draft *draft, const uint8_t *name, size_t len, uint32_t *out,
                       chordal_error *error) {
    int64_t column = chordal__table_column(draft->table, name, len);
    if (column < 0) return chordal__fail_about(error, CHORDAL_E_INVALID, "the table has no column ", name, len);
    *out = (uint32_t)column;
    return 0;
}

/* ---- values ---- */

int chordal__row_draft_object(chordal__row_draft *draft, const chordal__node *object, chordal_error *error) {
    chordal__walk walk;
    const uint8_t *name;
    size_t len;
    uint32_t column = 0;
    if (chordal__node_kind(object) != CHORDAL_KIND_OBJECT)
        return chordal__fail(error, CHORDAL_E_TYPE, 0, "a row is an object of columns");
    chordal__walk_begin(&walk, object);
    for (chordal__node *value; (value = chordal__walk_next(&walk, &name, &len)) != NULL;) {
        int code = find_column(draft, name, len, &column, error);
        if (code == 0) code = chordal__row_draft_cell(draft, column, value, error);
        if (code < 0) return code;
    }
    return 0;
}

int chordal__row_draft_key(chordal__row_draft *draft, const chordal__node *key, chordal_error *error) {
    const chordal__table *table = draft->table;
    if (table->key_len == 1 && chordal__node_kind(key) != CHORDAL_KIND_ARRAY)
        return chordal__row_draft_cell(draft, table->key[0], key, error);
    if (chordal__node_kind(key) != CHORDAL_KIND_ARRAY || chordal__node_length(key) != table->key_len)
        return chordal__fail(error, CHORDAL_E_TYPE, 0, "a key is its value, or an array of the values of its columns");
    int code = 0;
    for (uint32_t i = 0; i < table->key_len && code == 0; i++)
        code = chordal__row_draft_cell(draft, table->key[i], chordal__node_at(key, i), error);
    return code;
}

/* ---- packed values, with bytes among them ---- */

static bool begins_bytes(const chordal__reader *reader) {
    return reader->at < reader->end && *reader->at >= 0xc4 && *reader->at <= 0xc6;
}

static int read_bytes(chordal__row_draft *draft, chordal__reader *reader, uint32_t column, chordal_error *error) {
    uint32_t width = 1u << (chordal__read_byte(reader) - 0xc4), len = 0;
    for (uint32_t i = 0; i < width; i++) len = len << 8 | chordal__read_byte(reader);
    uint64_t at = chordal__reader_position(reader);
    const uint8_t *data = chordal__read_bytes(reader, len);
    if (reader->failed) return chordal__fail(error, reader->failed, at, "bytes that end too early");
    draft->given |= UINT64_C(1) << column;
    if (draft->table->columns[column].type != CHORDAL__CELL_BYTES) return misfit(draft, column, CHORDAL_E_TYPE, error);
    draft->cells[column] = (chordal__cell){.kind = CHORDAL__CELL_BYTES};
    draft->cells[column].as.bytes.len = len;
    draft->at[column] = draft->bytes.len;
    chordal__buffer_put(&draft->bytes, data, len);
    return draft->bytes.failed ? misfit(draft, column, draft->bytes.failed, error) : 0;
}

int chordal__row_draft_packed_cell(chordal__row_draft *draft, chordal__reader *reader, uint32_t column,
                                   const chordal__limits *limits, chordal_error *error) {
    chordal__node *value;
    if (begins_bytes(reader)) return read_bytes(draft, reader, column, error);
    int code = chordal__pack_read_value(draft->table->memory, reader, limits, &value, error);
    if (code < 0) return code;
    code = chordal__row_draft_cell(draft, column, value, error);
    chordal__node_unref(draft->table->memory, value);
    return code;
}

/* The head of a map or an array: its count, or -1. */
static int64_t read_head(chordal__reader *reader, uint8_t fix, uint8_t wide) {
    uint8_t head = chordal__read_byte(reader);
    int64_t count = 0;
    if (reader->failed) return -1;
    if ((head & 0xf0) == fix) return head & 15;
    if (head != wide && head != wide + 1) return -1;
    for (int i = 0, width = head == wide ? 2 : 4; i < width; i++) count = count << 8 | chordal__read_byte(reader);
    return reader->failed ? -1 : count;
}

static int read_name(chordal__row_draft *draft, chordal__reader *reader, const chordal__limits *limits, uint32_t *out,
                     chordal_error *error) {
    chordal__node *name;
    chordal__buffer text;
    int code = chordal__pack_read_value(draft->table->memory, reader, limits, &name, error);
    if (code < 0) return code;
    chordal__buffer_init(&text, draft->table->memory, UINT32_MAX);
    if (chordal__node_kind(name) == CHORDAL_KIND_STRING)
        put_string(&text, name);
    else
        code = chordal__fail(error, CHORDAL_E_TYPE, 0, "the name of a column is a text");
    if (code == 0) code = text.failed ? text.failed : find_column(draft, text.data, text.len, out, error);
    chordal__buffer_dispose(&text);
    chordal__node_unref(draft->table->memory, name);
    return code;
}

static int check_end(const chordal__reader *reader, chordal_error *error) {
    if (reader->at == reader->end) return 0;
    return chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(reader), "data behind the value");
}

int chordal__row_draft_packed(chordal__row_draft *draft, const uint8_t *data, size_t len, const chordal__limits *limits,
                              chordal_error *error) {
    chordal__reader reader = chordal__reader_of(data, len);
    int64_t count = read_head(&reader, 0x80, 0xde);
    if (count < 0) return chordal__fail(error, CHORDAL_E_TYPE, 0, "a row is an object of columns");
    for (int64_t i = 0; i < count; i++) {
        uint32_t column = 0;
        uint64_t at = chordal__reader_position(&reader);
        int code = read_name(draft, &reader, limits, &column, error);
        if (code == 0 && draft->given >> column & 1)
            code = chordal__fail(error, CHORDAL_E_DUPLICATE_KEY, at, "a column is given twice");
        if (code == 0) code = chordal__row_draft_packed_cell(draft, &reader, column, limits, error);
        if (code < 0) return code;
    }
    return check_end(&reader, error);
}

int chordal__row_draft_packed_key(chordal__row_draft *draft, const uint8_t *data, size_t len,
                                  const chordal__limits *limits, chordal_error *error) {
    const chordal__table *table = draft->table;
    chordal__reader reader = chordal__reader_of(data, len);
    bool array = len && ((data[0] & 0xf0) == 0x90 || data[0] == 0xdc || data[0] == 0xdd);
    int64_t count = array ? read_head(&reader, 0x90, 0xdc) : 1;
    if (count != table->key_len)
        return chordal__fail(error, CHORDAL_E_TYPE, 0, "a key is its value, or an array of the values of its columns");
    int code = 0;
    for (uint32_t i = 0; i < table->key_len && code == 0; i++)
        code = chordal__row_draft_packed_cell(draft, &reader, table->key[i], limits, error);
    return code < 0 ? code : check_end(&reader, error);
}

/* ---- the row ---- */

static int check_key(const chordal__row_draft *draft, chordal_error *error) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < draft->table->key_len; i++) {
        const chordal__column *column = &draft->table->columns[draft->table->key[i]];
        const chordal__cell *cell = &draft->cells[draft->table->key[i]];
        if (cell->kind == CHORDAL__CELL_NULL)
            return chordal__fail_about(error, CHORDAL_E_INVALID, "a row needs this of its key: ", column->name,
                                       column->name_len);
        if (chordal__cell_has_bytes(cell)) bytes += cell->as.bytes.len;
    }
    return bytes <= CHORDAL__KEY_BYTES ? 0 : chordal__fail(error, CHORDAL_E_SIZE, 0, "a key has at most 4096 bytes");
}

chordal__row *chordal__row_draft_row(chordal__row_draft *draft) {
    for (uint32_t i = 0; i < draft->table->columns_len; i++)
        if (draft->at[i] != SIZE_MAX) draft->cells[i].as.bytes.data = chordal__cell_place(&draft->bytes, draft->at[i]);
    return chordal__row_new(draft->table->memory, draft->cells, draft->table->columns_len);
}

int chordal__row_draft_end(chordal__row_draft *draft, chordal__row **out, chordal_error *error) {
    int code = check_key(draft, error);
    if (code < 0) return code;
    *out = chordal__row_draft_row(draft);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
}
