/* Deflated parts: zlib and the browser's own code take the same and make the same of it, within the limits; what was
 * deflated here comes back whole. */
#include "fuzz/fuzz.h"

#include "fuzz/values.h"
#include "wire/wire.h"

#define chordal__inflate_some tab_inflate_some
#include "../../wasm/inflate.c"
#undef chordal__inflate_some

static size_t most_of(size_t len, size_t limit) {
    return len * CHORDAL__INFLATE_RATIO < limit ? len * CHORDAL__INFLATE_RATIO : limit;
}

static void inflate_both(chordal__memory *memory, const uint8_t *data, size_t len, size_t limit) {
    chordal__buffer theirs, mine;
    chordal_error error = {0};
    size_t left = 0;
    chordal__buffer_init(&theirs, memory, PTRDIFF_MAX);
    chordal__buffer_init(&mine, memory, PTRDIFF_MAX);
    int expected = chordal__inflate(data, len, limit, &theirs, &error);
    int code = len ? tab_inflate_some(data, len, most_of(len, limit), &mine, &left) : CHORDAL_E_TRUNCATED;
    CHECK_INT(code == 0, expected == 0);
    CHECK(theirs.len <= limit + 1 && mine.len <= limit && error.position <= len);
    if (expected == CHORDAL_E_TRAILING) CHECK(code == expected && len - left == error.position);
    if (expected == 0) CHECK_BYTES(mine.data, mine.len, theirs.data, theirs.len);
    chordal__buffer_dispose(&theirs);
    chordal__buffer_dispose(&mine);
}

/* The input again and again, so that it shrinks; then whatever comes out is inflated. */
static void there_and_back(chordal__memory *memory, const uint8_t *data, size_t len) {
    size_t times = 1 + 20000 / (len + 1), whole = times * len;
    uint8_t *all = malloc(whole + 1);
    chordal__buffer small, back;
    chordal__buffer_init(&small, memory, PTRDIFF_MAX);
    chordal__buffer_init(&back, memory, PTRDIFF_MAX);
    for (size_t i = 0; i < times && len; i++) memcpy(all + i * len, data, len);
    if (chordal__deflate(all, whole, &small)) {
        CHECK_INT(chordal__inflate(small.data, small.len, whole, &back, NULL), 0);
        CHECK(back.len == whole && memcmp(back.data, all, whole) == 0);
        inflate_both(memory, small.data, small.len, whole);
    }
    chordal__buffer_dispose(&small);
    chordal__buffer_dispose(&back);
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, data + size};
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 24);
    size_t limit = (size_t)fuzz_number(&in) & 0xfffff, len = (size_t)(in.end - in.at);
    uint8_t *exact = fuzz_exact(in.at, len);
    inflate_both(memory, exact, len, limit < 8 ? 1 << 20 : limit);
    there_and_back(memory, exact, len);
    free(exact);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(inflate)
