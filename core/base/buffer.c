/* buffer.c: growable bytes with a limit, and a bounded reader. */
#include "base/base.h"

#define SMALLEST_BUFFER ((size_t)64)

void chordal__buffer_init(chordal__buffer *buffer, chordal__memory *memory, size_t limit) {
    *buffer = (chordal__buffer){.memory = memory, .limit = limit};
}

void chordal__buffer_dispose(chordal__buffer *buffer) {
    chordal__release(buffer->memory, buffer->data, buffer->capacity);
    chordal__buffer_init(buffer, buffer->memory, buffer->limit);
}

static bool make_room(chordal__buffer *buffer, size_t size) {
    if (size > buffer->limit - buffer->len) {
        buffer->failed = CHORDAL_E_SIZE;
        return false;
    }
    size_t need = buffer->len + size;
    if (need < SMALLEST_BUFFER && SMALLEST_BUFFER <= buffer->limit) need = SMALLEST_BUFFER;
    void *data = buffer->data;
    if (chordal__grow(buffer->memory, &data, 1, &buffer->capacity, need, buffer->limit) != 0) {
        buffer->failed = CHORDAL_E_NOMEM;
        return false;
    }
    buffer->data = data;
    return true;
}

uint8_t *chordal__buffer_extend(chordal__buffer *buffer, size_t size) {
    if (buffer->failed) return NULL;
    if (!buffer->data || size > buffer->capacity - buffer->len) {
        if (!make_room(buffer, size)) return NULL;
    }
    uint8_t *place = buffer->data + buffer->len;
    buffer->len += size;
    return place;
}

void chordal__buffer_put(chordal__buffer *buffer, const void *data, size_t len) {
    if (!len) return;
    uint8_t *place = chordal__buffer_extend(buffer, len);
    if (place) memcpy(place, data, len);
}

void chordal__buffer_put_byte(chordal__buffer *buffer, uint8_t byte) {
    uint8_t *place = chordal__buffer_extend(buffer, 1);
    if (place) *place = byte;
}

void chordal__buffer_put_varint(chordal__buffer *buffer, uint64_t value) {
    uint8_t bytes[10];
    size_t len = 0;
    for (; value >= 0x80; value >>= 7) bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    chordal__buffer_put(buffer, bytes, len);
}

void chordal__buffer_text(chordal__buffer *buffer, const char *text) {
    chordal__buffer_put(buffer, text, strlen(text));
}

void chordal__buffer_decimal(chordal__buffer *buffer, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    chordal__buffer_put(buffer, digits + at, sizeof digits - at);
}

/* Keeps the first fault. */
static void reader_fail(chordal__reader *reader, int code) {
    if (!reader->failed) reader->failed = code;
}

uint8_t chordal__read_byte(chordal__reader *reader) {
    if (reader->at != reader->end && !reader->failed) return *reader->at++;
    reader_fail(reader, CHORDAL_E_TRUNCATED);
    return 0;
}

uint64_t chordal__read_long_varint(chordal__reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = chordal__read_byte(reader);
        if (reader->failed) return 0;
        if ((shift == 63 && byte > 1) || (shift && !byte)) break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    reader_fail(reader, CHORDAL_E_SYNTAX);
    return 0;
}

const uint8_t *chordal__read_bytes(chordal__reader *reader, size_t len) {
    if (reader->failed || len > chordal__reader_left(reader)) {
        reader_fail(reader, CHORDAL_E_TRUNCATED);
        return NULL;
    }
    const uint8_t *bytes = reader->at;
    if (len) reader->at += len;
    return bytes;
}
