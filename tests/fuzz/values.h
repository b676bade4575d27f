/* values.h: what the targets that read values share. */
#ifndef CHORDAL_TESTS_FUZZ_VALUES_H
#define CHORDAL_TESTS_FUZZ_VALUES_H

#include "fuzz/fuzz.h"
#include "wire/wire.h"

static const chordal__limits fuzz_limits = {64, 1 << 20};
static const uint64_t fuzz_seed[2] = {1, 2};

/* Bytes in a block of their own, so that a read beyond them is seen. */
static inline uint8_t *fuzz_exact(const uint8_t *data, size_t len) {
    uint8_t *exact = malloc(len ? len : 1);
    if (len) memcpy(exact, data, len);
    return exact;
}

static inline void fuzz_same(chordal__node *a, chordal__node *b) {
    CHECK(chordal__node_equal(a, b));
    CHECK(chordal__node_digest(a) == chordal__node_digest(b));
}

/* Written in both formats and read again a value is the same. */
static inline void fuzz_round_trip(chordal__memory *memory, chordal__node *value) {
    chordal__buffer buffer;
    chordal__node *again = NULL;
    chordal__buffer_init(&buffer, memory, 1 << 24);
    chordal__limits limits = {fuzz_limits.depth, 1 << 24};
    chordal__json_write(&buffer, value);
    CHECK_INT(buffer.failed, 0);
    CHECK_INT(chordal__json_read(memory, buffer.data, buffer.len, &limits, &again, NULL), 0);
    if (again) fuzz_same(value, again);
    chordal__node_unref(memory, again);
    again = NULL;
    chordal__buffer_clear(&buffer);
    chordal__pack_write(&buffer, value);
    CHECK_INT(chordal__pack_read(memory, buffer.data, buffer.len, &limits, &again, NULL), 0);
    if (again) fuzz_same(value, again);
    chordal__node_unref(memory, again);
    chordal__buffer_dispose(&buffer);
}

/* Nothing is left; the memory goes. */
static inline void fuzz_end(chordal__memory *memory) {
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
    fuzz_done();
}

#endif
