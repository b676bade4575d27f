/* Text, against a naive decoder. */
#include "base/base.h"
#include "check.h"

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static size_t encode(uint32_t point, uint8_t *out) {
    if (point < 0x80) return out[0] = (uint8_t)point, 1;
    if (point < 0x800) return out[0] = (uint8_t)(0xc0 | point >> 6), out[1] = (uint8_t)(0x80 | (point & 63)), 2;
    if (point < 0x10000) {
        out[0] = (uint8_t)(0xe0 | point >> 12), out[1] = (uint8_t)(0x80 | (point >> 6 & 63));
        return out[2] = (uint8_t)(0x80 | (point & 63)), 3;
    }
    out[0] = (uint8_t)(0xf0 | point >> 18), out[1] = (uint8_t)(0x80 | (point >> 12 & 63));
    return out[2] = (uint8_t)(0x80 | (point >> 6 & 63)), out[3] = (uint8_t)(0x80 | (point & 63)), 4;
}

/* The code point at `data` if encoding it again gives the same bytes. 0: malformed. */
static size_t decode(const uint8_t *data, size_t len, uint32_t *point) {
    static const uint8_t marks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint8_t again[4];
    for (size_t size = 1; size <= 4 && size <= len; size++) {
        *point = data[0] & marks[size];
        for (size_t i = 1; i < size; i++) *point = *point << 6 | (data[i] & 0x3f);
        if (*point <= 0x10ffff && encode(*point, again) == size && memcmp(again, data, size) == 0) return size;
    }
    return 0;
}

static bool naive_valid(const uint8_t *data, size_t len, size_t *position) {
    uint32_t point, before = 0;
    for (size_t at = 0, size; at < len; at += size, before = point) {
        size = decode(data + at, len - at, &point);
        bool pair = size && before >> 10 == 0xd800 >> 10 && point >> 10 == 0xdc00 >> 10;
        *position = at;
        if (!size || pair) return false;
    }
    return true;
}

static void check_valid(const uint8_t *data, size_t len) {
    size_t wanted = 99, actual = 99;
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, data, len);
    bool valid = chordal__utf_valid(copy, len, &actual), naive = naive_valid(copy, len, &wanted);
    if (valid != naive || (!valid && actual != wanted)) {
        CHECK_FAIL("%d at %zu, not %d at %zu, in %zu bytes from %02x %02x %02x %02x", valid, actual, naive, wanted, len,
                   data[0], data[1], data[2], data[3]);
    }
    CHECK(chordal__utf_valid(copy, len, NULL) == naive);
    free(copy);
}

TEST(all_short) {
    uint8_t bytes[8] = {0};
    for (uint32_t first = 0x70; first < 0x100; first++) {
        for (uint32_t second = 0; second < 0x100; second++) {
            bytes[0] = (uint8_t)first, bytes[1] = (uint8_t)second;
            for (size_t len = 1; len <= 2; len++) check_valid(bytes, len);
            static const uint8_t edges[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
            for (size_t i = 0; i < 36; i++) {
                bytes[2] = edges[i / 6], bytes[3] = edges[i % 6];
                check_valid(bytes, 3), check_valid(bytes, 4);
            }
        }
    }
}

static uint32_t random_point(void) {
    static const uint32_t limits[] = {0x80, 0x80, 0x80, 0x800, 0x10000, 0x110000};
    static const uint32_t edges[] = {0x7f,   0x80,   0x7ff,  0x800,  0xd7ff,  0xd800,  0xdbff,
                                     0xdc00, 0xdfff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    if (random_below(4) == 0) return edges[random_below(sizeof edges / sizeof *edges)];
    return random_below(limits[random_below(6)]);
}

static size_t random_text(uint8_t *out, size_t points) {
    size_t len = 0;
    for (size_t i = 0; i < points; i++) len += encode(random_point(), out + len);
    return len;
}

TEST(random_texts) {
    uint8_t text[400];
    for (int i = 0; i < 100000; i++) {
        size_t len = random_text(text, random_below(40));
        check_valid(text, len);
        if (!len) continue;
        text[random_below((uint32_t)len)] = (uint8_t)random_below(256);
        check_valid(text, len);
        check_valid(text, random_below((uint32_t)len));
    }
}

TEST(long_ascii) {
    uint8_t text[100];
    memset(text, 'a', sizeof text);
    for (size_t at = 0; at < sizeof text; at++) {
        text[at] = 0xff;
        check_valid(text, sizeof text);
        text[at] = 'a';
    }
}

static void check_offsets(const uint8_t *text, size_t len) {
    uint64_t units = 0;
    size_t at = 0;
    bool split;
    while (at < len) {
        uint32_t point;
        CHECK_INT(chordal__utf_offset(text, len, units, &split), at);
        CHECK(!split);
        size_t size = decode(text + at, len - at, &point);
        if (size == 4) {
            CHECK_INT(chordal__utf_offset(text, len, units + 1, &split), at);
            CHECK(split);
        }
        CHECK_INT(chordal__utf_units(text, at), units);
        units += size == 4 ? 2 : 1;
        at += size;
    }
    CHECK_INT(chordal__utf_units(text, len), units);
    for (uint64_t more = 0; more < 3; more++) {
        CHECK_INT(chordal__utf_offset(text, len, units + more, &split), len);
        CHECK(!split);
    }
}

TEST(units_and_offsets) {
    uint8_t text[400];
    for (int i = 0; i < 5000; i++) check_offsets(text, random_text(text, random_below(40)));
    for (size_t i = 0; i < sizeof text; i += 4) memcpy(text + i, "\xf0\x9f\x98\x80", 4);
    check_offsets(text, sizeof text);
    check_offsets(text, 0);
}

TEST(joins) {
    const uint8_t *high = (const uint8_t *)"x\xed\xa0\xbd", *low = (const uint8_t *)"\xed\xb8\x80y";
    CHECK(chordal__utf_joins(high, 4, low, 4));
    CHECK(chordal__utf_joins(high + 1, 3, low, 3));
    CHECK(!chordal__utf_joins(high, 4, high + 1, 3));
    CHECK(!chordal__utf_joins(low, 3, low, 3));
    CHECK(!chordal__utf_joins(low, 4, low, 4));
    CHECK(!chordal__utf_joins(high, 4, low, 0));
    CHECK(!chordal__utf_joins(high, 0, low, 4));
    CHECK(!chordal__utf_joins((const uint8_t *)"\xed\x9f\xbf", 3, low, 4));
    CHECK(!chordal__utf_joins(high, 4, (const uint8_t *)"\xee\x80\x80", 3));
}

TESTS({"all_short", all_short}, {"random_texts", random_texts}, {"long_ascii", long_ascii},
      {"units_and_offsets", units_and_offsets}, {"joins", joins})
