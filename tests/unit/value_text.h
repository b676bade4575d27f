/* value_text.h: values from JSON text and back, for the tests of the room value. */
#ifndef CHORDAL_TESTS_VALUE_TEXT_H
#define CHORDAL_TESTS_VALUE_TEXT_H

#include "check.h"
#include "value/value.h"

static const chordal__limits wide_limits = {.depth = 512, .size = UINT64_MAX};

/* A memory for one test; `close_memory` checks that all was given back. */
static inline chordal__memory *open_memory(void) {
    return chordal__memory_new(NULL, UINT64_MAX);
}

static inline void close_memory(chordal__memory *memory) {
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

static inline chordal__node *node_of(chordal__memory *memory, const char *json) {
    chordal__node *node = NULL;
    chordal_error error = {0};
    int code = chordal__json_read(memory, (const uint8_t *)json, strlen(json), &wide_limits, &node, &error);
    if (code) CHECK_FAIL("%.80s: %d at %" PRIu64, json, code, error.position);
    return code ? NULL : node;
}

/* Compare with JSON text as it is written. */
static inline void check_node(chordal__memory *memory, const chordal__node *node, const char *json) {
    chordal__buffer text;
    chordal__buffer_init(&text, memory, SIZE_MAX);
    chordal__json_write(&text, node);
    CHECK_INT(text.failed, 0);
    CHECK_BYTES(text.len ? (const char *)text.data : "", text.len, json, strlen(json));
    chordal__buffer_dispose(&text);
}

/* The bytes of a string, to be freed. */
static inline uint8_t *bytes_of(const chordal__node *string, size_t *out_len) {
    uint8_t *bytes = malloc((size_t)chordal__node_string_bytes(string) + 1);
    const uint8_t *data;
    uint64_t at = 0;
    size_t len;
    *out_len = 0;
    while (chordal__node_string_piece(string, &at, &data, &len)) {
        memcpy(bytes + *out_len, data, len);
        *out_len += len;
    }
    CHECK_INT(*out_len, chordal__node_string_bytes(string));
    return bytes;
}

static inline uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

#endif
