/* driver.h: what each answer of driver.c is written with: JSON, one line an answer. */
#ifndef CHORDAL_TESTS_MODEL_DRIVER_H
#define CHORDAL_TESTS_MODEL_DRIVER_H

#include "unit/vectors_ops.h"

static chordal__buffer answer;

static inline void put(const char *text) {
    chordal__buffer_text(&answer, text);
}

static inline void put_string(const uint8_t *data, size_t len) {
    chordal__json_write_string(&answer, data, len);
}

static inline void put_hex(const uint8_t *data, size_t len) {
    static const char digits[] = "0123456789abcdef";
    put("\"");
    for (size_t i = 0; i < len; i++) {
        chordal__buffer_byte(&answer, (uint8_t)digits[data[i] >> 4]);
        chordal__buffer_byte(&answer, (uint8_t)digits[data[i] & 15]);
    }
    put("\"");
}

/* Bytes that a writer made, as the encoding has them: JSON text as a string, binary in hexadecimal. */
static inline void put_part(chordal__buffer *part, uint8_t encoding) {
    CHECK_INT(part->failed, 0);
    if (encoding == CHORDAL__ENCODING_JSON)
        put_string(part->data, part->len);
    else
        put_hex(part->data, part->len);
    chordal__buffer_dispose(part);
}

static inline chordal__buffer part_new(void) {
    chordal__buffer out;
    chordal__buffer_init(&out, memory, SIZE_MAX);
    return out;
}

static inline void put_ops(const chordal__ops *ops) {
    chordal__buffer json = part_new(), binary = part_new();
    chordal__ops_write(&json, CHORDAL__ENCODING_JSON, ops, NULL);
    chordal__ops_write(&binary, CHORDAL__ENCODING_BINARY, ops, NULL);
    put("\"json\":");
    put_part(&json, CHORDAL__ENCODING_JSON);
    put(",\"binary\":");
    put_part(&binary, CHORDAL__ENCODING_BINARY);
}

static inline void put_fault(int code, const chordal_error *error) {
    CHECK_INT(error->code, code);
    put("\"code\":\"");
    put(chordal_error_name(code));
    put("\",\"position\":");
    chordal__buffer_decimal(&answer, error->position);
}

static inline void put_value(const chordal__node *value) {
    chordal__json_write(&answer, value);
}

static inline chordal__node *item(const chordal__node *request, uint64_t index) {
    chordal__node *found = chordal__node_at(request, index);
    if (found) return found;
    CHECK_FAIL("a request without its argument %" PRIu64, index);
    exit(1);
}

static inline bool flag(const chordal__node *request, uint64_t index) {
    return chordal__node_kind(item(request, index)) == CHORDAL_KIND_TRUE;
}

#endif
