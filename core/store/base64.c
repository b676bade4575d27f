/* base64.c: bytes as text (RFC 4648, padded): how JSON has them. */
#include "store/table.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint8_t *chordal__base64_put(uint8_t *out, const uint8_t *data, size_t len) {
    for (size_t i = 0; i < len; i += 3) {
        size_t count = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)data[i] << 16;
        if (count > 1) bits |= (uint32_t)data[i + 1] << 8;
        if (count > 2) bits |= data[i + 2];
        for (size_t k = 0; k < 4; k++) *out++ = k <= count ? (uint8_t)letters[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

void chordal__base64_write(chordal__buffer *out, const uint8_t *data, size_t len) {
    uint8_t *at = chordal__buffer_extend(out, CHORDAL__BASE64_LENGTH(len));
    if (at) (void)chordal__base64_put(at, data, len);
}

static int value_of(uint8_t letter) {
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? (int)(found - letters) : -1;
}

/* Four letters, of which the last `padding` are =: what they do not stand for is zero. */
static int read_group(chordal__buffer *out, const uint8_t *text, size_t padding) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; k++) {
        int value = k < 4 - padding ? value_of(text[k]) : 0;
        if (value < 0) return CHORDAL_E_SYNTAX;
        bits = bits << 6 | (uint32_t)value;
    }
    if (bits & ((UINT32_C(1) << 8 * padding) - 1)) return CHORDAL_E_SYNTAX;
    for (size_t k = 0; k < 3 - padding; k++) chordal__buffer_byte(out, (uint8_t)(bits >> (16 - 8 * k)));
    return 0;
}

int chordal__base64_read(chordal__buffer *out, const uint8_t *text, size_t len) {
    if (len % 4) return CHORDAL_E_SYNTAX;
    for (size_t i = 0; i < len; i += 4) {
        size_t padding = i + 4 == len && text[i + 3] == '=' ? text[i + 2] == '=' ? 2 : 1 : 0;
        if (read_group(out, text + i, padding) < 0) return CHORDAL_E_SYNTAX;
    }
    return 0;
}
