/* memory.c: the allocator of the WASM build: malloc and free over the whole memory behind the stack, in bins by size,
 * with free neighbours joined at once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PAGE_BITS 16
#define HEAD 8
#define SMALLEST 16 /* what a free block needs */
#define USED 1u
#define TRIES 16 /* blocks of the same bin that are looked at; then a larger one is cut */

/* Blocks lie end to end, a multiple of 8 bytes each. */
typedef struct block block;
struct block {
    uint32_t before;    /* the size of the block before this one; 0: this is the first */
    uint32_t size;      /* plus USED */
    block *next, **way; /* when free: the next in its bin, and what points here */
};

static struct {
    uint64_t filled; /* a bit for each bin that is not empty */
    block *bins[64];
    block *end; /* a used block of size 0 */
} heap;

extern uint8_t __heap_base;

static block *behind(block *at, size_t size) {
    return (block *)(void *)((uint8_t *)at + size);
}

/* Two bins for each power of two. */
static unsigned bin_of(size_t size) {
    unsigned top = 31 - (unsigned)__builtin_clz(size);
    return (top - 4) * 2 + (size >> (top - 1) & 1);
}

static void put(block *at, size_t size) {
    unsigned bin = bin_of(size);
    block **way = &heap.bins[bin];
    behind(at, size)->before = size;
    *at = (block){at->before, size, *way, way};
    if (at->next) at->next->way = &at->next;
    *way = at;
    heap.filled |= UINT64_C(1) << bin;
}

static void take(block *at) {
    *at->way = at->next;
    if (at->next) at->next->way = at->way;
    unsigned bin = bin_of(at->size);
    if (!heap.bins[bin]) heap.filled &= ~(UINT64_C(1) << bin);
}

/* Make a used block free, joined with its free neighbours. */
static void give(block *at) {
    size_t size = at->size - USED;
    block *next = behind(at, size), *before = behind(at, -(size_t)at->before);
    if (!(next->size & USED)) {
        take(next);
        size += next->size;
    }
    if (!(before->size & USED)) { /* the first block is its own, and in use */
        take(before);
        size += before->size;
        at = before;
    }
    put(at, size);
}

/* The first time all that is there, later more of it: what was the end begins the new block. */
static bool grow(size_t need) {
    block *at = heap.end;
    if (at) {
        size_t least = (need >> PAGE_BITS) + 1, more = __builtin_wasm_memory_size(0) / 8;
        if (__builtin_wasm_memory_grow(0, least + more) == SIZE_MAX && __builtin_wasm_memory_grow(0, least) == SIZE_MAX)
            return false;
    } else {
        at = (block *)(((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7);
    }
    size_t size = (__builtin_wasm_memory_size(0) << PAGE_BITS) - HEAD - (uintptr_t)at;
    at->size = size | USED;
    heap.end = behind(at, size);
    heap.end->size = USED;
    give(at);
    return true;
}

static block *find(size_t need) {
    unsigned bin = bin_of(need);
    block *at = heap.bins[bin];
    for (int tries = TRIES; at && tries; tries--, at = at->next) {
        if (at->size >= need) return at;
    }
    uint64_t larger = heap.filled >> bin >> 1;
    return larger ? heap.bins[bin + 1 + (unsigned)__builtin_ctzll(larger)] : NULL;
}

void *malloc(size_t size) {
    if (size > PTRDIFF_MAX) return NULL;
    size_t need = (size + HEAD + 7) & ~(size_t)7;
    if (need < SMALLEST) need = SMALLEST;
    block *at;
    while (!(at = find(need))) {
        if (!grow(need)) return NULL;
    }
    take(at);
    size_t rest = at->size - need;
    if (rest >= SMALLEST) {
        block *cut = behind(at, need);
        cut->before = need;
        put(cut, rest);
        at->size = need;
    }
    at->size |= USED;
    return (uint8_t *)at + HEAD;
}

void free(void *data) {
    if (data) give(behind(data, -(size_t)HEAD));
}
