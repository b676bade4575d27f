/* arena.c: scratch memory that is given back all at once and kept for the next use. */
#include "base/base.h"

#define SMALLEST_BLOCK ((size_t)1024)
#define LARGEST_KEPT ((size_t)65536)

struct chordal__arena_block {
    chordal__arena_block *next;
    size_t size; /* of data */
    uint64_t data[];
};

void chordal__arena_init(chordal__arena *arena, chordal__memory *memory) {
    *arena = (chordal__arena){.memory = memory};
}

static chordal__arena_block *block_new(chordal__arena *arena, size_t size) {
    chordal__arena_block *block = chordal__allocate(arena->memory, sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    block->next = arena->first;
    arena->first = block;
    return block;
}

static void block_free(chordal__arena *arena, chordal__arena_block *block) {
    chordal__release(arena->memory, block, sizeof *block + block->size);
}

/* What does not fit gets a block of its own when large, so that the rest of the current one is not lost. */
static void *take_from_new(chordal__arena *arena, size_t size) {
    if (size > LARGEST_KEPT / 4) {
        chordal__arena_block *own = block_new(arena, size);
        return own ? own->data : NULL;
    }
    size_t wanted = arena->current ? arena->current->size * 2 : SMALLEST_BLOCK;
    while (wanted < size) wanted *= 2;
    chordal__arena_block *block = block_new(arena, wanted < LARGEST_KEPT ? wanted : LARGEST_KEPT);
    if (!block) return NULL;
    arena->current = block;
    arena->used = size;
    return block->data;
}

void *chordal__arena_take(chordal__arena *arena, size_t size) {
    if (size > PTRDIFF_MAX / 2) return NULL;
    size = (size + 7) & ~(size_t)7;
    chordal__arena_block *block = arena->current;
    if (!block || block->size - arena->used < size) return take_from_new(arena, size);
    void *place = (uint8_t *)block->data + arena->used;
    arena->used += size;
    return place;
}

void chordal__arena_reset(chordal__arena *arena) {
    chordal__arena_block *kept = arena->current;
    for (chordal__arena_block *block = arena->first, *next; block; block = next) {
        next = block->next;
        if (block != kept) block_free(arena, block);
    }
    if (kept) kept->next = NULL;
    arena->first = kept;
    arena->used = 0;
}

void chordal__arena_dispose(chordal__arena *arena) {
    chordal__arena_reset(arena);
    if (arena->current) block_free(arena, arena->current);
    chordal__arena_init(arena, arena->memory);
}
