/* inflate_cases.h: what inflating must give, whoever does it: zlib in room wire, or the browser's own code.
 *
 * The file that includes it defines inflate(data, len, limit, out, error). */
#ifndef CHORDAL_TESTS_UNIT_INFLATE_CASES_H
#define CHORDAL_TESTS_UNIT_INFLATE_CASES_H

#include <zlib.h>

#include "check.h"
#include "wire/wire.h"

#define LIMIT ((uint64_t)64 << 20)

typedef int inflating(const uint8_t *data, size_t len, uint64_t limit, chordal__buffer *out, chordal_error *error);

static chordal__memory *memory;

/* Raw deflate by zlib in any of its ways. */
static uint8_t *deflated(const void *data, size_t len, int level, int strategy, size_t *out_len) {
    z_stream stream = {0};
    CHECK_INT(deflateInit2(&stream, level, Z_DEFLATED, -15, 9, strategy), Z_OK);
    size_t room = deflateBound(&stream, (uLong)len);
    uint8_t *out = malloc(room + 1);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)len;
    stream.next_out = out;
    stream.avail_out = (uInt)room + 1;
    CHECK_INT(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *out_len = room + 1 - stream.avail_out;
    deflateEnd(&stream);
    return out;
}

static uint64_t case_state = 1;

static inline uint32_t case_random(uint32_t end) {
    case_state = case_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(case_state >> 33) % end;
}

enum { ZEROS, RANDOM, LETTERS, JSON, SKEWED, KINDS };

static inline void fill_case(uint8_t *data, size_t len, int kind) {
    static const char note[] = "{\"id\":\"n\",\"text\":\"some milk and bread\",\"done\":false},";
    for (size_t i = 0; i < len; i++) {
        uint32_t r = case_random(1u << 16);
        switch (kind) {
        case ZEROS:
            data[i] = 0;
            break;
        case RANDOM:
            data[i] = (uint8_t)r;
            break;
        case LETTERS:
            data[i] = (uint8_t)('a' + r % 20);
            break;
        case JSON:
            data[i] = r % 50 ? (uint8_t)note[i % (sizeof note - 1)] : (uint8_t)('0' + r % 10);
            break;
        default: /* codes of all lengths */
            data[i] = (uint8_t)(r ? (uint32_t)__builtin_clz(r) * 8 + (r & 7) : 0);
            break;
        }
    }
}

static inline void expect_inflated(inflating *inflate_it, const uint8_t *data, size_t len, const uint8_t *whole,
                                   size_t whole_len) {
    chordal__buffer out;
    chordal_error error = {0};
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    uint8_t *exact = malloc(len ? len : 1);
    memcpy(exact, data, len);
    CHECK_INT(inflate_it(exact, len, LIMIT, &out, &error), 0);
    CHECK_INT(out.len, whole_len);
    if (out.len == whole_len && whole_len) CHECK(memcmp(out.data, whole, whole_len) == 0);
    free(exact);
    chordal__buffer_dispose(&out);
}

static inline void expect_fault(inflating *inflate_it, const void *data, size_t len, uint64_t limit, int code,
                                uint64_t position) {
    chordal__buffer out;
    chordal_error error = {0};
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    uint8_t *exact = malloc(len ? len : 1);
    if (len) memcpy(exact, data, len);
    CHECK_INT(inflate_it(exact, len, limit, &out, &error), code);
    CHECK_INT(error.position, position);
    CHECK(out.len <= limit + 1);
    CHECK(out.capacity <= limit + 1 || out.capacity <= 4096);
    free(exact);
    chordal__buffer_dispose(&out);
}

static inline void everything_comes_back(inflating *inflate_it) {
    static const size_t sizes[] = {0, 1, 2, 3, 100, 257, 258, 259, 4096, 32767, 32768, 32769, 70000, 300000};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    static uint8_t data[300000];
    for (int kind = 0; kind < KINDS; kind++) {
        fill_case(data, sizeof data, kind);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int way = 0; way < 6; way++) {
                size_t len;
                int level = way == 4 ? 0 : way == 5 ? 1 : 9;
                uint8_t *small = deflated(data, sizes[i], level, strategies[way % 4], &len);
                if (sizes[i] <= len * CHORDAL__INFLATE_RATIO)
                    expect_inflated(inflate_it, small, len, data, sizes[i]);
                else
                    expect_fault(inflate_it, small, len, LIMIT, CHORDAL_E_TOO_LARGE, 0);
                free(small);
            }
        }
    }
}

/* Cut off at each byte; with a byte more; nothing at all. */
static inline void ends_are_told(inflating *inflate_it) {
    static uint8_t data[3000];
    expect_fault(inflate_it, "", 0, LIMIT, CHORDAL_E_TRUNCATED, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        fill_case(data, sizeof data, kind);
        for (int level = 0; level < 2; level++) {
            size_t len;
            uint8_t *small = deflated(data, sizeof data, level * 9, Z_DEFAULT_STRATEGY, &len);
            for (size_t cut = 0; cut < len; cut++)
                expect_fault(inflate_it, small, cut, LIMIT, CHORDAL_E_TRUNCATED, cut);
            uint8_t *more = malloc(len + 300);
            memcpy(more, small, len);
            memset(more + len, 0x55, 300);
            for (size_t extra = 1; extra < 300; extra += 13)
                expect_fault(inflate_it, more, len + extra, LIMIT, CHORDAL_E_TRAILING, len);
            free(more);
            free(small);
        }
    }
}

static inline void garbage_is_named(inflating *inflate_it) {
    static const struct {
        const char *name, *bytes;
        size_t len;
    } cases[] = {
        {"a block of kind 3", "\x07", 1},
        {"stored with a wrong check", "\x01\x01\x00\x00\x00\x61", 6},
        {"287 literals", "\xf5\x01\x00\x00\x00\x00\x00\x00", 8},
        {"31 distances", "\x05\x1e\x00\x00\x00\x00\x00\x00", 8},
        {"codes of lengths that overlap", "\x05\xe0\x24\x49\x92\x24\x49\x92\x24", 9},
        {"a distance before the start", "\x63\x00\x42\x00", 4},
        {"a gzip file", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int before = check_failures;
        expect_fault(inflate_it, cases[i].bytes, cases[i].len, LIMIT, CHORDAL_E_SYNTAX, 0);
        if (check_failures != before) fprintf(stderr, "in %s\n", cases[i].name);
    }
}

/* Exactly the limit is taken, a byte more is not; no more than that is ever made. */
static inline void limits_hold(inflating *inflate_it) {
    static uint8_t data[100000];
    size_t len;
    fill_case(data, sizeof data, JSON);
    uint8_t *small = deflated(data, sizeof data, 6, Z_DEFAULT_STRATEGY, &len);
    chordal__buffer out;
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    CHECK_INT(inflate_it(small, len, sizeof data, &out, NULL), 0);
    CHECK_INT(out.len, sizeof data);
    chordal__buffer_dispose(&out);
    expect_fault(inflate_it, small, len, sizeof data - 1, CHORDAL_E_TOO_LARGE, 0);
    for (uint64_t limit = 0; limit < 300; limit += 7)
        expect_fault(inflate_it, small, len, limit, CHORDAL_E_TOO_LARGE, 0);
    free(small);
}

/* 256 MiB of zeros, in a message limit of 64 MiB and one of 1 MiB. */
static inline void bombs_go_out(inflating *inflate_it) {
    enum { MEGABYTE = 1 << 20 };
    uint8_t *zeros = calloc(256, MEGABYTE);
    size_t len;
    uint8_t *bomb = deflated(zeros, (size_t)256 * MEGABYTE, 9, Z_DEFAULT_STRATEGY, &len);
    free(zeros);
    CHECK(len < 300000);
    expect_fault(inflate_it, bomb, len, MEGABYTE, CHORDAL_E_TOO_LARGE, 0);
    uint64_t live = memory->live_bytes;
    expect_fault(inflate_it, bomb, len, LIMIT, CHORDAL_E_TOO_LARGE, 0);
    CHECK_INT(memory->live_bytes, live);
    free(bomb);
}

/* Below every limit, but for that on the ratio. */
static inline void ratios_hold(inflating *inflate_it) {
    enum { WHOLE = 10 << 20 };
    uint8_t *zeros = calloc(1, WHOLE);
    size_t len;
    uint8_t *small = deflated(zeros, WHOLE, 9, Z_DEFAULT_STRATEGY, &len);
    CHECK(len * CHORDAL__INFLATE_RATIO < WHOLE);
    expect_fault(inflate_it, small, len, LIMIT, CHORDAL_E_TOO_LARGE, 0);
    free(zeros);
    free(small);
}

#endif
