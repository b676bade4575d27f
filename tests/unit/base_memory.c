/* The account, the limit, and growth. */
#include "base/base.h"
#include "check.h"

typedef struct source {
    uint64_t blocks, bytes;
    bool fails;
} source;

static void *source_allocate(void *context, size_t size) {
    source *from = context;
    if (from->fails) return NULL;
    from->blocks++, from->bytes += size;
    return malloc(size);
}

static void *source_resize(void *context, void *block, size_t old_size, size_t new_size) {
    source *from = context;
    if (from->fails) return NULL;
    from->bytes += new_size - old_size;
    return realloc(block, new_size);
}

static void source_release(void *context, void *block, size_t size) {
    source *from = context;
    from->blocks--, from->bytes -= size;
    free(block);
}

static chordal__memory *memory_on(source *from, uint64_t limit) {
    chordal_memory_functions functions = {sizeof functions, 0, from, source_allocate, source_resize, source_release};
    return chordal__memory_new(&functions, limit);
}

TEST(account) {
    source from = {0};
    chordal__memory *memory = memory_on(&from, 1000);
    CHECK_INT(memory->live_bytes, 0);
    CHECK(!chordal__allocate(memory, 0));
    void *a = chordal__allocate(memory, 600);
    CHECK(a);
    CHECK(!chordal__allocate(memory, 401));
    uint8_t *b = chordal__allocate_zero(memory, 400);
    CHECK(b && b[0] == 0 && b[399] == 0);
    CHECK_INT(memory->live_bytes, 1000);
    CHECK_INT(memory->live_blocks, 2);
    CHECK(!chordal__resize(memory, a, 600, 601));
    CHECK(!chordal__allocate(memory, SIZE_MAX));
    a = chordal__resize(memory, a, 600, 100);
    CHECK_INT(memory->live_bytes, 500);
    CHECK_INT(from.blocks, 3);
    CHECK_INT(from.bytes, 500 + sizeof *memory);
    chordal__release(memory, a, 100);
    chordal__release(memory, b, 400);
    chordal__release(memory, NULL, 77);
    CHECK_INT(memory->live_bytes, 0);
    CHECK_INT(memory->live_blocks, 0);
    CHECK(chordal__memory_ref(memory) == memory);
    chordal__memory_unref(memory);
    CHECK_INT(from.blocks, 1);
    chordal__memory_unref(memory);
    CHECK_INT(from.blocks, 0);
    CHECK_INT(from.bytes, 0);
}

TEST(failure_keeps) {
    source from = {.fails = true};
    CHECK(!memory_on(&from, 1000));
    from.fails = false;
    chordal__memory *memory = memory_on(&from, 1000);
    uint8_t *block = chordal__allocate(memory, 10);
    memcpy(block, "0123456789", 10);
    from.fails = true;
    CHECK(!chordal__resize(memory, block, 10, 20));
    CHECK(!chordal__allocate(memory, 1));
    CHECK_BYTES((char *)block, 10, "0123456789", 10);
    CHECK_INT(memory->live_bytes, 10);
    CHECK_INT(memory->live_blocks, 1);
    chordal__release(memory, block, 10);
    chordal__memory_unref(memory);
    CHECK_INT(from.blocks, 0);
}

TEST(growth) {
    source from = {0};
    chordal__memory *memory = memory_on(&from, 1 << 20);
    uint32_t *items = NULL;
    void *raw = NULL;
    size_t capacity = 0;
    uint64_t before = memory->allocations;
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_INT(chordal__grow(memory, &raw, sizeof *items, &capacity, i + 1, 1000), 0);
        items = raw;
        items[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++) CHECK_INT(items[i], i);
    CHECK_INT(capacity, 1000);
    CHECK(memory->allocations - before < 12);
    CHECK_INT(chordal__grow(memory, &raw, sizeof *items, &capacity, 1001, 1000), CHORDAL_E_LIMIT);
    CHECK_INT(chordal__grow(memory, &raw, sizeof *items, &capacity, SIZE_MAX / 2, SIZE_MAX), CHORDAL_E_NOMEM);
    from.fails = true;
    CHECK_INT(chordal__grow(memory, &raw, sizeof *items, &capacity, 1001, SIZE_MAX), CHORDAL_E_NOMEM);
    CHECK(raw == items && capacity == 1000);
    chordal__release(memory, items, capacity * sizeof *items);
    chordal__memory_unref(memory);
}

TEST(library) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    void *block = chordal__resize(memory, NULL, 0, 10);
    block = chordal__resize(memory, block, 10, 100000);
    CHECK(block);
    CHECK_INT(memory->live_bytes, 100000);
    chordal__release(memory, block, 100000);
    chordal__memory_unref(memory);
    chordal__memory_unref(NULL);
}

/* What is kept is bounded, however many went, counts as nothing in use, and goes with the context. */
TEST(kept_is_bounded) {
    enum { COUNT = 1000 };
    static uint8_t *blocks[COUNT];
    chordal__memory *memory = chordal__memory_new(NULL, COUNT * 500);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            size_t size = 1 + (i * 37) % 500;
            blocks[i] = chordal__allocate(memory, size);
            CHECK(blocks[i]);
            memset(blocks[i], (int)i, size);
        }
        CHECK_INT(memory->live_blocks, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            size_t size = 1 + (i * 37) % 500;
            for (size_t k = 0; k < size; k++) CHECK_INT(blocks[i][k], (uint8_t)i);
            chordal__release(memory, blocks[i], size);
            CHECK(memory->kept_bytes < CHORDAL__KEPT_BYTES + CHORDAL__KEPT_SIZE);
        }
        CHECK_INT(memory->live_bytes, 0);
        CHECK_INT(memory->live_blocks, 0);
    }
    CHECK_INT(memory->allocations, 3 * COUNT);
    void *all = chordal__allocate(memory, COUNT * 500); /* the limit is for what is in use */
    CHECK(all && !chordal__allocate(memory, 1));
    chordal__release(memory, all, COUNT * 500);
    chordal__memory_unref(memory);
}

/* Between all sizes around the classes' ends, and out of them. */
TEST(kept_grows) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    for (size_t from = 1; from < 1100; from += from < 60 || from > 1000 ? 1 : 31) {
        for (size_t to = 1; to < 1100; to += to < 60 || to > 1000 ? 1 : 31) {
            size_t least = from < to ? from : to;
            uint8_t *block = chordal__allocate(memory, from);
            for (size_t i = 0; i < from; i++) block[i] = (uint8_t)(i * 7);
            block = chordal__resize(memory, block, from, to);
            for (size_t i = 0; i < least; i++) CHECK_INT(block[i], (uint8_t)(i * 7));
            memset(block, 0xee, to);
            CHECK_INT(memory->live_bytes, to);
            chordal__release(memory, block, to);
        }
    }
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

/* A program's own functions are asked for each block and given each back. */
TEST(own_functions_see_all) {
    source from = {0};
    chordal__memory *memory = memory_on(&from, UINT64_MAX);
    for (int i = 0; i < 10; i++) {
        void *block = chordal__allocate(memory, 40);
        CHECK_INT(from.blocks, 2);
        CHECK_INT(from.bytes, 40 + sizeof *memory);
        chordal__release(memory, block, 40);
        CHECK_INT(from.blocks, 1);
    }
    chordal__memory_unref(memory);
}

TESTS({"account", account}, {"failure_keeps", failure_keeps}, {"growth", growth}, {"library", library},
      {"kept_is_bounded", kept_is_bounded}, {"kept_grows", kept_grows},
      {"own_functions_see_all", own_functions_see_all})
