/* The content of a bound, in either encoding: both ways of reading it agree, and it is written the same again. */
#include "fuzz/values.h"

#define MOST 6

static void free_values(chordal__memory *memory, chordal__member_value *values) {
    for (int i = 0; i < MOST; i++) {
        chordal__node_unref(memory, values[i].value);
        chordal__node_unref(memory, values[i].error);
    }
}

static void write_and_read(chordal__memory *memory, uint8_t encoding, const chordal__dictionary *dictionary,
                           chordal__member_value *values, const bool *is_state, size_t members) {
    chordal__member_value again[MOST] = {{NULL, NULL}};
    chordal__dictionary defined;
    chordal__buffer buffer;
    chordal__limits limits = {fuzz_limits.depth, 1 << 24};
    chordal__buffer_init(&buffer, memory, 1 << 24);
    CHECK_INT(chordal__dictionary_init(&defined, memory, 16, fuzz_seed), 0);
    chordal__snapshot_write(&buffer, encoding, dictionary, values, is_state, members);
    CHECK_INT(chordal__snapshot_read(memory, encoding, buffer.data, buffer.len, &defined, 5, again, is_state, members,
                                     &limits, NULL),
              0);
    CHECK_INT(defined.count, dictionary->count);
    for (size_t i = 0; i < members; i++) {
        CHECK(!values[i].value == !again[i].value && !values[i].error == !again[i].error);
        if (again[i].value) fuzz_same(values[i].value, again[i].value);
        if (again[i].error) fuzz_same(values[i].error, again[i].error);
    }
    free_values(memory, again);
    chordal__dictionary_dispose(&defined);
    chordal__buffer_dispose(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    uint8_t encoding = data[0] & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    size_t members = (data[0] >> 1) % (MOST + 1), offsets[MOST + 1], len = size - 2;
    bool is_state[MOST];
    for (int i = 0; i < MOST; i++) is_state[i] = data[1] >> i & 1;
    uint8_t *part = fuzz_exact(data + 2, len);
    chordal__member_value values[MOST] = {{NULL, NULL}};
    chordal__dictionary dictionary, other;
    chordal__buffer packed;
    chordal_error error = {0}, repack_error = {0};
    chordal__buffer_init(&packed, memory, 1 << 24);
    CHECK_INT(chordal__dictionary_init(&dictionary, memory, 16, fuzz_seed), 0);
    CHECK_INT(chordal__dictionary_init(&other, memory, 16, fuzz_seed), 0);
    int code = chordal__snapshot_read(memory, encoding, part, len, &dictionary, 5, values, is_state, members,
                                      &fuzz_limits, &error);
    int repacked = chordal__snapshot_repack(memory, encoding, part, len, &other, 5, &packed, offsets, is_state, members,
                                            &fuzz_limits, &repack_error);
    CHECK(code == 0 || (error.code == code && error.position <= len));
    CHECK_INT(repacked, code);
    CHECK_INT(repack_error.position, error.position);
    if (code == 0) {
        CHECK_INT(offsets[members], packed.len);
        write_and_read(memory, CHORDAL__ENCODING_BINARY, &dictionary, values, is_state, members);
        write_and_read(memory, CHORDAL__ENCODING_JSON, &dictionary, values, is_state, members);
    }
    free_values(memory, values);
    chordal__buffer_dispose(&packed);
    chordal__dictionary_dispose(&dictionary);
    chordal__dictionary_dispose(&other);
    free(part);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(snapshot)
