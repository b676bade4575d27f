/* memory.c: a counted context with an account and a limit. The only place that knows the C library's allocator. */
#include "base/base.h"

#include <stdlib.h>

static void *library_allocate(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void *library_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
#ifdef __wasm__ /* a copy costs less to load than growing in place */
    void *moved = malloc(new_size);
    if (!moved) return NULL;
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    free(block);
    return moved;
#else
    return realloc(block, new_size);
#endif
}

static void library_release(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

static const chordal_memory_functions library = {
    .size = sizeof(chordal_memory_functions),
    .allocate = library_allocate,
    .resize = library_resize,
    .release = library_release,
};

chordal__memory *chordal__memory_new(const chordal_memory_functions *functions, uint64_t limit) {
    if (!functions) functions = &library;
    chordal__memory *memory = functions->allocate(functions->context, sizeof *memory);
    if (!memory) return NULL;
    *memory = (chordal__memory){.functions = *functions, .limit = limit, .references = 1};
    return memory;
}

chordal__memory *chordal__memory_ref(chordal__memory *memory) {
    memory->references++;
    return memory;
}

void chordal__memory_unref(chordal__memory *memory) {
    if (!memory || --memory->references) return;
    chordal_memory_functions functions = memory->functions;
    functions.release(functions.context, memory, sizeof *memory);
}

/* Never true for a size that would wrap an address. */
static bool fits(const chordal__memory *memory, size_t more) {
    return more <= PTRDIFF_MAX && memory->live_bytes <= memory->limit && more <= memory->limit - memory->live_bytes;
}

void *chordal__allocate(chordal__memory *memory, size_t size) {
    if (!size || !fits(memory, size)) return NULL;
    void *block = memory->functions.allocate(memory->functions.context, size);
    if (!block) return NULL;
    memory->live_bytes += size;
    memory->live_blocks++;
    memory->allocations++;
    return block;
}

void *chordal__allocate_zero(chordal__memory *memory, size_t size) {
    void *block = chordal__allocate(memory, size);
    if (block) memset(block, 0, size);
    return block;
}

void *chordal__resize(chordal__memory *memory, void *block, size_t old_size, size_t new_size) {
    if (!block) return chordal__allocate(memory, new_size);
    if (!new_size || new_size > PTRDIFF_MAX) return NULL;
    if (new_size > old_size && !fits(memory, new_size - old_size)) return NULL;
    void *moved = memory->functions.resize(memory->functions.context, block, old_size, new_size);
    if (!moved) return NULL;
    memory->live_bytes = memory->live_bytes - old_size + new_size;
    memory->allocations++;
    return moved;
}

void chordal__release(chordal__memory *memory, void *block, size_t size) {
    if (!block) return;
    memory->live_bytes -= size;
    memory->live_blocks--;
    memory->functions.release(memory->functions.context, block, size);
}

int chordal__grow(chordal__memory *memory, void **items, size_t item_size, size_t *capacity, size_t need,
                  size_t limit) {
    if (need <= *capacity) return 0;
    if (need > limit) return CHORDAL_E_LIMIT;
    size_t wanted = *capacity > SIZE_MAX / 2 ? need : *capacity * 2;
    if (wanted < 8) wanted = 8;
    if (wanted < need) wanted = need;
    if (wanted > limit) wanted = limit;
    if (wanted > PTRDIFF_MAX / item_size) return CHORDAL_E_NOMEM;
    void *moved = chordal__resize(memory, *items, *capacity * item_size, wanted * item_size);
    if (!moved) return CHORDAL_E_NOMEM;
    *items = moved;
    *capacity = wanted;
    return 0;
}
