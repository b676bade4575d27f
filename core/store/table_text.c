/* table_text.c: rows as bytes: as packed objects, and keys as they are found by. */
#include "store/table.h"

void chordal__pack_write_object(chordal__buffer *out, uint32_t count) {
    if (count < 16) {
        chordal__buffer_byte(out, (uint8_t)(0x80 | count));
        return;
    }
    chordal__buffer_byte(out, 0xde);
    chordal__buffer_byte(out, (uint8_t)(count >> 8));
    chordal__buffer_byte(out, (uint8_t)count);
}

/* ---- cells, where there is room for them ---- */

#define DIGEST_DIGITS 16
#define DIGEST_ROOM 64 /* {"length": n, "digest": digits} */
#define SCALAR_ROOM 9

static uint8_t *put_text(uint8_t *at, const void *text, size_t len) {
    at += chordal__pack_string_head(at, len);
    if (len) memcpy(at, text, len);
    return at + len;
}

static uint8_t *put_big(uint8_t *at, uint8_t head, uint64_t bits, int size) {
    *at++ = head;
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) *at++ = (uint8_t)(bits >> shift);
    return at;
}

static uint8_t *put_real(uint8_t *at, double real) {
    chordal__number number;
    uint64_t bits;
    if (chordal__number_of_double(real, &number) && number.kind == CHORDAL_KIND_INTEGER)
        return at + chordal__pack_integer(at, number.as.integer);
    memcpy(&bits, &real, sizeof bits);
    return put_big(at, 0xcb, bits, 8);
}

static uint8_t *put_digest(uint8_t *at, const uint8_t *data, size_t len) {
    static const char digits[] = "0123456789abcdef";
    uint64_t digest = chordal__fnv(CHORDAL__FNV_START, data, len);
    char text[DIGEST_DIGITS];
    for (int i = 0; i < DIGEST_DIGITS; i++) text[i] = digits[digest >> (60 - 4 * i) & 15];
    *at++ = 0x82;
    at = put_text(at, "length", 6);
    at += chordal__pack_integer(at, (int64_t)len);
    return put_text(put_text(at, "digest", 6), text, sizeof text);
}

static uint8_t *put_raw(uint8_t *at, const uint8_t *data, size_t len) {
    int size = len <= UINT8_MAX ? 1 : len <= UINT16_MAX ? 2 : 4;
    at = put_big(at, size == 1 ? 0xc4 : size == 2 ? 0xc5 : 0xc6, len, size);
    if (len) memcpy(at, data, len);
    return at + len;
}

static uint8_t *put_bytes(uint8_t *at, const chordal__cell *cell, uint8_t bytes) {
    const uint8_t *data = cell->as.bytes.data;
    size_t len = cell->as.bytes.len;
    if (bytes == CHORDAL__BYTES_RAW) return put_raw(at, data, len);
    if (bytes == CHORDAL__BYTES_DIGEST) return put_digest(at, data, len);
    return chordal__base64_put(at + chordal__pack_string_head(at, CHORDAL__BASE64_LENGTH(len)), data, len);
}

static uint8_t *put_json(uint8_t *at, const chordal__cell *cell) {
    if (cell->as.bytes.len) memcpy(at, cell->as.bytes.data, cell->as.bytes.len);
    return at + cell->as.bytes.len;
}

static inline uint8_t *put_cell(uint8_t *at, const chordal__cell *cell, uint8_t bytes) {
    switch (cell->kind) {
    case CHORDAL__CELL_INTEGER:
        return at + chordal__pack_integer(at, cell->as.integer);
    case CHORDAL__CELL_REAL:
        return put_real(at, cell->as.real);
    case CHORDAL__CELL_TEXT:
        return put_text(at, cell->as.bytes.data, cell->as.bytes.len);
    case CHORDAL__CELL_JSON:
        return put_json(at, cell);
    case CHORDAL__CELL_BYTES:
        return put_bytes(at, cell, bytes);
    default:
        *at = 0xc0;
        return at + 1;
    }
}

/* What a cell takes at most; beyond UINT32_MAX none can be written. */
static inline size_t room_of(const chordal__cell *cell, uint8_t bytes) {
    if (!chordal__cell_has_bytes(cell)) return SCALAR_ROOM;
    size_t len = cell->as.bytes.len;
    if (cell->kind != CHORDAL__CELL_BYTES || bytes == CHORDAL__BYTES_RAW) return SCALAR_ROOM + len;
    return bytes == CHORDAL__BYTES_DIGEST ? DIGEST_ROOM : SCALAR_ROOM + CHORDAL__BASE64_LENGTH(len);
}

static void end_at(chordal__buffer *out, const uint8_t *at) {
    out->len = (size_t)(at - out->data);
}

void chordal__cell_pack(chordal__buffer *out, const chordal__cell *cell, uint8_t bytes) {
    uint8_t *at = chordal__buffer_extend(out, room_of(cell, bytes));
    if (at) end_at(out, put_cell(at, cell, bytes));
}

/* ---- rows ---- */

static inline uint8_t *put_name(uint8_t *at, const chordal__column *column) {
    if (column->packed_len <= CHORDAL__NAME_COPY)
        memcpy(at, column->packed, CHORDAL__NAME_COPY);
    else
        memcpy(at, column->packed, column->packed_len);
    return at + column->packed_len;
}

void chordal__cells_pack(chordal__buffer *out, const chordal__table *table, const chordal__cell *cells, uint8_t bytes) {
    size_t room = 3 + table->names_len + CHORDAL__NAME_COPY;
    for (uint32_t i = 0; i < table->columns_len; i++) room += room_of(&cells[i], bytes);
    uint8_t *at = chordal__buffer_extend(out, room);
    if (!at) return;
    if (table->columns_len < 16)
        *at++ = (uint8_t)(0x80 | table->columns_len);
    else
        at = put_big(at, 0xde, table->columns_len, 2);
    for (uint32_t i = 0; i < table->columns_len; i++) at = put_cell(put_name(at, &table->columns[i]), &cells[i], bytes);
    end_at(out, at);
}

void chordal__row_pack(chordal__buffer *out, const chordal__table *table, const chordal__row *row, uint8_t bytes) {
    chordal__cells_pack(out, table, row->cells, bytes);
}

void chordal__row_key(chordal__buffer *out, const chordal__table *table, const chordal__row *row) {
    for (uint32_t i = 0; i < table->key_len; i++)
        chordal__cell_pack(out, &row->cells[table->key[i]], CHORDAL__BYTES_RAW);
}
