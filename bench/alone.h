/* alone.h: what the programs share that measure parts of the core without a host: memory that counts, times, rows of
 * the report. They are compiled with -I core: they look inside. */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "wire/wire.h"

enum { FILE_MAX = 1 << 21 };

static inline void check(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", what, chordal_error_name(code));
    exit(1);
}

/* ---- memory ---- */

typedef struct counted {
    uint64_t allocations, bytes; /* since the start; a block that moves or grows counts as a new one */
} counted;

static inline void *count_block(void *context, size_t size, void *block) {
    counted *sums = context;
    sums->allocations++;
    sums->bytes += size;
    return block;
}

static inline void *counted_allocate(void *context, size_t size) {
    return count_block(context, size, malloc(size));
}

static inline void *counted_resize(void *context, void *block, size_t old_size, size_t new_size) {
    if (new_size < old_size) return realloc(block, new_size);
    return count_block(context, new_size, realloc(block, new_size));
}

static inline void counted_release(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

static inline chordal__memory *counted_memory(counted *sums) {
    chordal_memory_functions functions = {.size = sizeof functions,
                                          .context = sums,
                                          .allocate = counted_allocate,
                                          .resize = counted_resize,
                                          .release = counted_release};
    mallopt(M_TRIM_THRESHOLD, 1 << 26); /* first touches of pages are the system's cost, not ours */
    mallopt(M_MMAP_THRESHOLD, 1 << 26);
    chordal__memory *memory = chordal__memory_new(&functions, UINT64_MAX);
    if (!memory) check(CHORDAL_E_NOMEM, "memory");
    return memory;
}

/* ---- rows ---- */

/* A row begins; its samples and `row_end` follow. */
static inline void row_begin(const char *name, const char *unit) {
    printf("{\"case\": \"%s\", \"system\": \"chordal\", \"unit\": \"%s\", \"samples\": [", name, unit);
}

/* What `count` operations allocated. */
static inline void row_end(const counted *before, const counted *after, int count) {
    printf("], \"counts\": {\"allocations\": %.2f, \"allocated\": %.1f}}\n",
           (double)(after->allocations - before->allocations) / count, (double)(after->bytes - before->bytes) / count);
    fflush(stdout);
}

#endif
