/* wasm_inflate.c: the browser's own inflating code, run here beside zlib. */
#include "inflate_cases.h"

#define chordal__inflate_some tab_inflate_some
#include "../../wasm/inflate.c"

/* As chordal__inflate does it around zlib. */
static int tab_inflate(const uint8_t *data, size_t len, uint64_t limit, chordal__buffer *out, chordal_error *error) {
    size_t left = 0, most = len * CHORDAL__INFLATE_RATIO < limit ? len * CHORDAL__INFLATE_RATIO : (size_t)limit;
    int code = len ? tab_inflate_some(data, len, most, out, &left) : CHORDAL_E_TRUNCATED;
    bool placed = code == CHORDAL_E_TRUNCATED || code == CHORDAL_E_TRAILING;
    return code ? chordal__fail(error, code, placed ? len - left : 0, "") : 0;
}

#define CASE(name)                                                                                                     \
    TEST(run_##name) {                                                                                                 \
        memory = chordal__memory_new(NULL, UINT64_MAX);                                                                \
        name(tab_inflate);                                                                                             \
        CHECK_INT(memory->live_blocks, 0);                                                                             \
        chordal__memory_unref(memory);                                                                                 \
    }
CASE(everything_comes_back)
CASE(ends_are_told)
CASE(garbage_is_named)
CASE(limits_hold)
CASE(bombs_go_out)
CASE(ratios_hold)

/* Spoil what was deflated: either both refuse it, or both make the same of it. */
TEST(spoiled_as_zlib_takes_it) {
    static uint8_t data[2000];
    size_t taken = 0, refused = 0;
    memory = chordal__memory_new(NULL, UINT64_MAX);
    for (int round = 0; round < 4000; round++) {
        size_t len;
        fill_case(data, sizeof data, round % KINDS);
        size_t size = case_random(sizeof data);
        uint8_t *small = deflated(data, size, round % 3 ? 9 : 0, round % 2 ? Z_FIXED : Z_DEFAULT_STRATEGY, &len);
        for (uint32_t i = case_random(3); i < 3; i++)
            small[case_random((uint32_t)len)] ^= (uint8_t)(1u << case_random(8));
        chordal__buffer mine, theirs;
        chordal__buffer_init(&mine, memory, PTRDIFF_MAX);
        chordal__buffer_init(&theirs, memory, PTRDIFF_MAX);
        int code = tab_inflate(small, len, LIMIT, &mine, NULL),
            expected = chordal__inflate(small, len, LIMIT, &theirs, NULL);
        CHECK((code == 0) == (expected == 0));
        if (code != expected) CHECK(code != CHORDAL_E_TRAILING && expected != CHORDAL_E_TRAILING);
        if (!code && !expected) CHECK(mine.len == theirs.len && !memcmp(mine.data, theirs.data, mine.len));
        *(code ? &refused : &taken) += 1;
        free(small);
        chordal__buffer_dispose(&mine);
        chordal__buffer_dispose(&theirs);
    }
    CHECK(taken > 500 && refused > 500);
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

TESTS({"everything comes back", run_everything_comes_back}, {"ends are told", run_ends_are_told},
      {"garbage is named", run_garbage_is_named}, {"limits hold", run_limits_hold}, {"bombs go out", run_bombs_go_out},
      {"ratios hold", run_ratios_hold}, {"spoiled as zlib takes it", spoiled_as_zlib_takes_it})
