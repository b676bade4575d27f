/* utf.c: text as sequences of UTF-16 units, stored as UTF-8 with lone surrogates in three bytes (WTF-8). */
#include "base/base.h"

#define EACH UINT64_C(0x0101010101010101)
#define HIGH_BITS (EACH << 7)

static uint64_t load_word(const uint8_t *data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static bool continues(uint8_t byte) {
    return (byte & 0xc0) == 0x80;
}

/* What may follow a lead byte: how many bytes, and the range of the first of them; the rest are 80..BF. */
typedef struct lead_row {
    uint8_t from, to, more, low, high;
} lead_row;

static const lead_row leads[] = {
    {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf}, {0xe1, 0xef, 2, 0x80, 0xbf},
    {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
};

static const lead_row *lead_of(uint8_t byte) {
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        if (byte >= leads[i].from && byte <= leads[i].to) return &leads[i];
    }
    return NULL;
}

/* The bytes of the code point at `data`, which does not begin with ASCII; 0 when malformed. */
static size_t sequence_len(const uint8_t *data, size_t len) {
    const lead_row *lead = lead_of(data[0]);
    if (!lead || len <= lead->more || data[1] < lead->low || data[1] > lead->high) return 0;
    for (size_t i = 2; i <= lead->more; i++) {
        if (!continues(data[i])) return 0;
    }
    return lead->more + (size_t)1;
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
        while (len - at >= 8 && !(load_word(data + at) & HIGH_BITS)) at += 8;
        while (at < len && data[at] < 0x80) at++;
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

uint64_t chordal__utf_units(const uint8_t *data, size_t len) {
    uint64_t units = 0;
    size_t at = 0;
    for (; len - at >= 8; at += 8) units += units_of_word(load_word(data + at));
    for (; at < len; at++) units += units_of_byte(data[at]);
    return units;
}

size_t chordal__utf_offset(const uint8_t *data, size_t len, uint64_t units, bool *out_split) {
    size_t at = 0;
    *out_split = false;
    while (len - at >= 8) {
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
