/* memory.c: a counted context with an account and a limit. The only place that knows the C library's allocator.
 *
 * A host makes and gives back blocks of the same few sizes all the time. Of the C library's, small ones that went are
 * kept for the next of their size, up to a limit; a program's own functions are always asked. */
#include "base/base.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
/* Where size is what counts, or a sanitizer is to see every block, nothing is kept. */
#if defined(__OPTIMIZE_SIZE__) || defined(__SANITIZE_ADDRESS__) || defined(SANITIZED)
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

#define FIRST_BYTES ((size_t)512) /* about what a growing array of large items begins with; of small ones 8 items */

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
    bool keeps = !functions;
    if (keeps) functions = &library;
    chordal__memory *memory = functions->allocate(functions->context, sizeof *memory);
    if (!memory) return NULL;
    *memory = (chordal__memory){.functions = *functions, .limit = limit, .references = 1};
    memory->kept_limit = KEEPS && keeps ? CHORDAL__KEPT_BYTES : 0;
    return memory;
}

chordal__memory *chordal__memory_ref(chordal__memory *memory) {
    memory->references++;
    return memory;
}

/* ---- small blocks that went ---- */

static bool is_small(const chordal__memory *memory, size_t size) {
    return KEEPS && memory->kept_limit && size <= CHORDAL__KEPT_SIZE;
}

static void drop_kept(chordal__memory *memory) {
    for (size_t i = 0; i < CHORDAL__KEPT_CLASSES; i++) {
        for (chordal__kept *block = memory->kept[i], *next; block; block = next) {
            next = block->next;
            free(block);
        }
        memory->kept[i] = NULL;
    }
    memory->kept_bytes = 0;
}

static void *take_new(chordal__memory *memory, size_t size) {
    void *block = memory->functions.allocate(memory->functions.context, size);
    if (!KEEPS || block || !memory->kept_bytes) return block;
    drop_kept(memory);
    return memory->functions.allocate(memory->functions.context, size);
}

static void *take(chordal__memory *memory, size_t size) {
    if (!is_small(memory, size)) return take_new(memory, size);
    size_t class = chordal__kept_class(size);
    chordal__kept *block = memory->kept[class];
    if (!block) return take_new(memory, chordal__kept_bytes(class));
    memory->kept[class] = block->next;
    memory->kept_bytes -= chordal__kept_bytes(class);
    return block;
}

static void let_go(chordal__memory *memory, void *block, size_t size) {
    if (!is_small(memory, size) || memory->kept_bytes >= memory->kept_limit) {
        memory->functions.release(memory->functions.context, block, size);
        return;
    }
    size_t class = chordal__kept_class(size);
    chordal__kept *kept = block;
    kept->next = memory->kept[class];
    memory->kept[class] = kept;
    memory->kept_bytes += chordal__kept_bytes(class);
}

static void *move(chordal__memory *memory, void *block, size_t old_size, size_t new_size) {
    if (!is_small(memory, old_size) && !is_small(memory, new_size))
        return memory->functions.resize(memory->functions.context, block, old_size, new_size);
    if (is_small(memory, old_size) && chordal__kept_class(old_size) == chordal__kept_class(new_size)) return block;
    void *moved = take(memory, new_size);
    if (!moved) return NULL;
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    let_go(memory, block, old_size);
    return moved;
}

void chordal__memory_unref(chordal__memory *memory) {
    if (!memory || --memory->references) return;
    if (KEEPS) drop_kept(memory);
    chordal_memory_functions functions = memory->functions;
    functions.release(functions.context, memory, sizeof *memory);
}

/* ---- the account ---- */

/* Never true for a size that would wrap an address. */
static bool fits(const chordal__memory *memory, size_t more) {
    return more <= PTRDIFF_MAX && memory->live_bytes <= memory->limit && more <= memory->limit - memory->live_bytes;
}

void *chordal__allocate_new(chordal__memory *memory, size_t size) {
    if (!size || !fits(memory, size)) return NULL;
    void *block = take(memory, size);
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
    void *moved = move(memory, block, old_size, new_size);
    if (!moved) return NULL;
    memory->live_bytes = memory->live_bytes - old_size + new_size;
    memory->allocations++;
    return moved;
}

void chordal__give_back(chordal__memory *memory, void *block, size_t size) {
    memory->live_bytes -= size;
    memory->live_blocks--;
    let_go(memory, block, size);
}

int chordal__grow_to(chordal__memory *memory, void **items, size_t item_size, size_t *capacity, size_t need,
                     size_t limit) {
    if (need > limit) return CHORDAL_E_LIMIT;
    size_t wanted = *capacity > SIZE_MAX / 2 ? need : *capacity * 2;
    if (wanted < 8) wanted = item_size > FIRST_BYTES / 8 ? FIRST_BYTES / item_size + 1 : 8;
    if (wanted < need) wanted = need;
    if (wanted > limit) wanted = limit;
    if (wanted > PTRDIFF_MAX / item_size) return CHORDAL_E_NOMEM;
    void *moved = chordal__resize(memory, *items, *capacity * item_size, wanted * item_size);
    if (!moved) return CHORDAL_E_NOMEM;
    *items = moved;
    *capacity = wanted;
    return 0;
}

int chordal__grow_out(chordal__memory *memory, void **items, size_t item_size, size_t *capacity, size_t need,
                      size_t limit, const void *one) {
    if (*items != one) return chordal__grow(memory, items, item_size, capacity, need, limit);
    void *grown = NULL;
    size_t room = 0;
    int code = chordal__grow_to(memory, &grown, item_size, &room, need, limit);
    if (code < 0) return code;
    memcpy(grown, one, item_size);
    *items = grown;
    *capacity = room;
    return 0;
}
