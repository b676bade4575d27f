/* Scratch memory. */
#include "base/base.h"
#include "check.h"

TEST(takes) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 24);
    chordal__arena arena;
    chordal__arena_init(&arena, memory);
    for (int round = 0; round < 3; round++) {
        uint8_t *places[600];
        size_t sizes[600];
        for (size_t i = 0; i < 600; i++) {
            sizes[i] = i % 97 == 0 ? 30000 + i : 1 + i % 300;
            places[i] = chordal__arena_take(&arena, sizes[i]);
            CHECK(places[i] && (uintptr_t)places[i] % 8 == 0);
            memset(places[i], (int)(i & 0xff), sizes[i]);
        }
        for (size_t i = 0; i < 600; i++) {
            for (size_t b = 0; b < sizes[i]; b++) {
                if (places[i][b] != (i & 0xff)) CHECK_FAIL("block %zu was overwritten", i);
            }
        }
        chordal__arena_reset(&arena);
        CHECK(memory->live_blocks <= 1);
        CHECK(memory->live_bytes <= 65536 + 64);
    }
    chordal__arena_dispose(&arena);
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

TEST(kept_block_is_used_again) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 24);
    chordal__arena arena;
    chordal__arena_init(&arena, memory);
    CHECK(chordal__arena_take(&arena, 100));
    uint64_t allocations = memory->allocations;
    for (int i = 0; i < 100; i++) {
        chordal__arena_reset(&arena);
        CHECK(chordal__arena_take(&arena, 100));
    }
    CHECK_INT(memory->allocations, allocations);
    chordal__arena_dispose(&arena);
    chordal__memory_unref(memory);
}

TEST(out_of_memory) {
    chordal__memory *memory = chordal__memory_new(NULL, 3000);
    chordal__arena arena;
    chordal__arena_init(&arena, memory);
    CHECK(!chordal__arena_take(&arena, 100000));
    CHECK(!chordal__arena_take(&arena, SIZE_MAX));
    uint8_t *place = chordal__arena_take(&arena, 1000);
    CHECK(place);
    memset(place, 7, 1000);
    CHECK(!chordal__arena_take(&arena, 2500));
    CHECK(!chordal__arena_take(&arena, SIZE_MAX - 3));
    CHECK(chordal__arena_take(&arena, 24));
    CHECK_INT(place[999], 7);
    chordal__arena_dispose(&arena);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TESTS({"takes", takes}, {"kept_block_is_used_again", kept_block_is_used_again}, {"out_of_memory", out_of_memory})
