/* Packed values: what is read is written the same again; looking through them agrees with reading them. */
#include "fuzz/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    uint8_t *bytes = fuzz_exact(data, size);
    chordal__node *value = NULL;
    chordal_error error = {0}, other = {0};
    int code = chordal__pack_read(memory, bytes, size, &fuzz_limits, &value, &error);
    CHECK(code == 0 || (error.code == code && error.position <= size));
    if (code == 0) fuzz_round_trip(memory, value);
    chordal__reader reader = chordal__reader_of(bytes, size);
    int checked = chordal__pack_check(memory, &reader, &fuzz_limits, &other);
    if (checked == 0 && reader.at != reader.end) checked = CHORDAL_E_TRAILING;
    CHECK_INT(checked, code);
    if (code < 0 && code != CHORDAL_E_TRAILING) CHECK_INT(other.position, error.position);
    chordal__node_unref(memory, value);
    free(bytes);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(pack)
