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

static void pack_real(chordal__buffer *out, double real) {
    chordal__number number;
    uint64_t bits;
    if (chordal__number_of_double(real, &number) && number.kind == CHORDAL_KIND_INTEGER) {
        chordal__pack_write_integer(out, number.as.integer);
        return;
    }
    memcpy(&bits, &real, sizeof bits);
    chordal__buffer_byte(out, 0xcb);
    for (int shift = 56; shift >= 0; shift -= 8) chordal__buffer_byte(out, (uint8_t)(bits >> shift));
}

static void pack_base64(chordal__buffer *out, const uint8_t *data, size_t len) {
    size_t text = (len + 2) / 3 * 4;
    if (text < 32) {
        chordal__buffer_byte(out, (uint8_t)(0xa0 | text));
    } else if (text < 256) {
        chordal__buffer_byte(out, 0xd9);
        chordal__buffer_byte(out, (uint8_t)text);
    } else {
        bool wide = text > UINT16_MAX;
        chordal__buffer_byte(out, wide ? 0xdb : 0xda);
        for (int shift = wide ? 24 : 8; shift >= 0; shift -= 8) chordal__buffer_byte(out, (uint8_t)(text >> shift));
    }
    chordal__base64_write(out, data, len);
}

static void pack_digest(chordal__buffer *out, const uint8_t *data, size_t len) {
    static const char digits[] = "0123456789abcdef";
    uint64_t digest = chordal__fnv(CHORDAL__FNV_START, data, len);
    char text[16];
    for (int i = 0; i < 16; i++) text[i] = digits[digest >> (60 - 4 * i) & 15];
    chordal__pack_write_object(out, 2);
    chordal__pack_write_string(out, "length", 6);
    chordal__pack_write_integer(out, (int64_t)len);
    chordal__pack_write_string(out, "digest", 6);
    chordal__pack_write_string(out, text, sizeof text);
}

static void pack_bytes(chordal__buffer *out, const chordal__cell *cell, uint8_t bytes) {
    if (bytes == CHORDAL__BYTES_RAW)
        chordal__pack_write_bytes(out, cell->as.bytes.data, cell->as.bytes.len);
    else if (bytes == CHORDAL__BYTES_BASE64)
        pack_base64(out, cell->as.bytes.data, cell->as.bytes.len);
    else
        pack_digest(out, cell->as.bytes.data, cell->as.bytes.len);
}

void chordal__cell_pack(chordal__buffer *out, const chordal__cell *cell, uint8_t bytes) {
    switch (cell->kind) {
    case CHORDAL__CELL_INTEGER:
        chordal__pack_write_integer(out, cell->as.integer);
        break;
    case CHORDAL__CELL_REAL:
        pack_real(out, cell->as.real);
        break;
    case CHORDAL__CELL_TEXT:
        chordal__pack_write_string(out, cell->as.bytes.data, cell->as.bytes.len);
        break;
    case CHORDAL__CELL_JSON:
        chordal__buffer_put(out, cell->as.bytes.data, cell->as.bytes.len);
        break;
    case CHORDAL__CELL_BYTES:
        pack_bytes(out, cell, bytes);
        break;
    default:
        chordal__buffer_byte(out, 0xc0);
    }
}

void chordal__cells_pack(chordal__buffer *out, const chordal__table *table, const chordal__cell *cells, uint8_t bytes) {
    chordal__pack_write_object(out, table->columns_len);
    for (uint32_t i = 0; i < table->columns_len; i++) {
        chordal__pack_write_string(out, table->columns[i].name, table->columns[i].name_len);
        chordal__cell_pack(out, &cells[i], bytes);
    }
}

void chordal__row_pack(chordal__buffer *out, const chordal__table *table, const chordal__row *row, uint8_t bytes) {
    chordal__cells_pack(out, table, row->cells, bytes);
}

void chordal__row_key(chordal__buffer *out, const chordal__table *table, const chordal__row *row) {
    for (uint32_t i = 0; i < table->key_len; i++)
        chordal__cell_pack(out, &row->cells[table->key[i]], CHORDAL__BYTES_RAW);
}
