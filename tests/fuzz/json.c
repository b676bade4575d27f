/* JSON text: read, written and read again it is the same value; both readers agree. */
#include "fuzz/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    uint8_t *text = fuzz_exact(data, size);
    chordal__node *value = NULL;
    chordal_error error = {0};
    int code = chordal__json_read(memory, text, size, &fuzz_limits, &value, &error);
    CHECK(code == 0 || (error.code == code && error.position <= size));
    if (code == 0) fuzz_round_trip(memory, value);
    chordal__buffer packed;
    chordal__reader reader = chordal__reader_of(text, size);
    chordal__buffer_init(&packed, memory, 1 << 24);
    int other = chordal__pack_from_json(&packed, &reader, &fuzz_limits, NULL);
    if (code == 0) CHECK_INT(other, 0);
    if (other == 0) {
        chordal__node *again = NULL;
        chordal__limits limits = {fuzz_limits.depth, 1 << 24};
        CHECK_INT(chordal__pack_read(memory, packed.data, packed.len, &limits, &again, NULL), 0);
        if (again && value) fuzz_same(value, again);
        chordal__node_unref(memory, again);
    }
    chordal__buffer_dispose(&packed);
    chordal__node_unref(memory, value);
    free(text);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(json)
