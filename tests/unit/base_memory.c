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

TESTS({"account", account}, {"failure_keeps", failure_keeps}, {"growth", growth}, {"library", library})
