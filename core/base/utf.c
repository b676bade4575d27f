/* utf.c: text as sequences of UTF-16 units, stored as UTF-8 with lone surrogates in three bytes (WTF-8). */
#include "base/base.h"

#define EACH UINT64_C(0x0101010101010101)
#define HIGH_BITS (EACH << 7)

static uint64_t load_word(const uint8_t *data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Where the first byte of `high`, a word's high bits, is not ASCII. */
static size_t first_byte(uint64_t high) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(high) / 8;
#else
    return (size_t)__builtin_clzll(high) / 8;
#endif
}

static size_t skip_ascii(const uint8_t *data, size_t len, size_t at) {
    for (; len - at >= 8; at += 8) {
        uint64_t high = load_word(data + at) & HIGH_BITS;
        if (high) return at + first_byte(high);
    }
    while (at < len && data[at] < 0x80) at++;
    return at;
}

static bool continues(uint8_t byte) {
    return (byte & 0xc0) == 0x80;
}

static bool within(uint8_t byte, uint8_t low, uint8_t high) {
    return byte >= low && byte <= high;
}

/* The bytes of the code point at `data`, which does not begin with ASCII; 0 when malformed. */
static size_t sequence_len(const uint8_t *data, size_t len) {
    uint8_t lead = data[0];
    if (lead < 0xc2 || lead > 0xf4 || len < 2) return 0;
    if (lead < 0xe0) return continues(data[1]) ? 2 : 0;
    if (len < 3 || !continues(data[2])) return 0;
    if (lead < 0xf0) return within(data[1], lead == 0xe0 ? 0xa0 : 0x80, 0xbf) ? 3 : 0;
    if (len < 4 || !continues(data[3])) return 0;
    return within(data[1], lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) ? 4 : 0;
}

static bool is_high(const uint8_t *data) {
    return data[0] == 0xed && (data[1] & 0xf0) == 0xa0;
}

static bool is_low(const uint8_t *data) {
    return data[0] == 0xed && (data[1] & 0xf0) == 0xb0;
}

bool chordal__utf_valid(const uint8_t *data, size_t len, size_t *out_position) {
    size_t at = 0;
    while (at < len) {
        at = skip_ascii(data, len, at);
        while (at < len && data[at] >= 0x80) {
            size_t taken = sequence_len(data + at, len - at);
            if (!taken || (taken == 3 && at >= 3 && is_low(data + at) && is_high(data + at - 3))) {
                if (out_position) *out_position = at;
                return false;
            }
            at += taken;
        }
    }
    return true;
}

/* Every code point is one unit and those of four bytes are two: the bytes that do not continue, and the leads of four
 * once more. */
static unsigned units_of_byte(uint8_t byte) {
    return (unsigned)!continues(byte) + (byte >= 0xf0);
}

static unsigned units_of_word(uint64_t word) {
    uint64_t top = word >> 7, second = word >> 6;
    uint64_t continued = top & ~second & EACH;
    uint64_t fours = top & second & word >> 5 & word >> 4 & EACH;
    return 8 + (unsigned)((fours * EACH) >> 56) - (unsigned)((continued * EACH) >> 56);
}

/* Of fewer than eight bytes: in a word with zeros behind them. The loads overlap where they have the same bytes. */
static unsigned units_of_few(const uint8_t *data, size_t len) {
    uint64_t word;
    if (len >= 4) {
        uint32_t first, last;
        memcpy(&first, data, 4);
        memcpy(&last, data + len - 4, 4);
        word = first | (uint64_t)last << 8 * (len - 4);
    } else {
        size_t half = len / 2, last = len - 1;
        word = data[0] | (uint64_t)data[half] << 8 * half | (uint64_t)data[last] << 8 * last;
    }
    return units_of_word(word) - (8 - (unsigned)len);
}

uint64_t chordal__utf_units(const uint8_t *data, size_t len) {
    const bool by_words = !CHORDAL__SMALL && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    uint64_t units = 0;
    size_t at = 0;
    for (; !CHORDAL__SMALL && len - at >= 8; at += 8) units += units_of_word(load_word(data + at));
    if (by_words && at < len) return units + units_of_few(data + at, len - at);
    for (; at < len; at++) units += units_of_byte(data[at]);
    return units;
}

size_t chordal__utf_offset(const uint8_t *data, size_t len, uint64_t units, bool *out_split) {
    size_t at = 0;
    *out_split = false;
    while (!CHORDAL__SMALL && len - at >= 8) {
        unsigned here = units_of_word(load_word(data + at));
        if (here > units) break;
        units -= here;
        at += 8;
    }
    /* A word may have ended inside a code point that was counted with its lead. */
    for (; at < len; at++) {
        unsigned here = units_of_byte(data[at]);
        if (here > units) {
            *out_split = units > 0;
            break;
        }
        units -= here;
    }
    return at;
}

bool chordal__utf_joins(const uint8_t *before, size_t before_len, const uint8_t *after, size_t after_len) {
    return before_len >= 3 && after_len >= 3 && is_high(before + before_len - 3) && is_low(after);
}
