/* wire_deflate.c: parts made smaller, and whole again within limits. */
#include "inflate_cases.h"

#define CASE(name)                                                                                                     \
    TEST(run_##name) {                                                                                                 \
        memory = chordal__memory_new(NULL, UINT64_MAX);                                                                \
        name(chordal__inflate);                                                                                        \
        CHECK_INT(memory->live_blocks, 0);                                                                             \
        chordal__memory_unref(memory);                                                                                 \
    }
CASE(everything_comes_back)
CASE(ends_are_told)
CASE(garbage_is_named)
CASE(limits_hold)
CASE(bombs_go_out)
CASE(ratios_hold)

static bool shrinks(const uint8_t *data, size_t len, size_t *out_len) {
    chordal__buffer out;
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    bool pays = chordal__deflate(data, len, &out);
    *out_len = out.len;
    if (pays) {
        CHECK(out.len <= len - len / 16);
        expect_inflated(chordal__inflate, out.data, out.len, data, len);
    }
    chordal__buffer_dispose(&out);
    return pays;
}

/* What shrinks is deflated, whatever its length; what does not is left soon, and what shrinks too well is left too. */
TEST(only_what_pays) {
    static uint8_t data[1 << 20];
    size_t len;
    memory = chordal__memory_new(NULL, UINT64_MAX);
    for (int kind = 0; kind < KINDS; kind++) {
        fill_case(data, sizeof data, kind);
        static const size_t sizes[] = {16385, 65535, 65536, 65537, 200000, 1 << 20};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            CHECK_INT(shrinks(data, sizes[i], &len), kind != RANDOM);
            if (kind == RANDOM) CHECK(len <= 65536);
        }
    }
    memset(data, 'x', 40000); /* shrinks at its beginning only */
    fill_case(data + 40000, sizeof data - 40000, RANDOM);
    CHECK(!shrinks(data, sizeof data, &len));
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

TESTS({"everything comes back", run_everything_comes_back}, {"ends are told", run_ends_are_told},
      {"garbage is named", run_garbage_is_named}, {"limits hold", run_limits_hold}, {"bombs go out", run_bombs_go_out},
      {"ratios hold", run_ratios_hold}, {"only what pays", only_what_pays})
