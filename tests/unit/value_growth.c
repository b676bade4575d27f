/* value_growth.c: what a change of a large value costs while the revision before it is kept: by what changes, and by
 * the levels of a tree, never by the value's size. Blocks and bytes are counted where they are asked for. */
#include "value_text.h"

enum { CHANGES = 100, ALLOCATIONS = 12, BYTES = 2600 }; /* at most for one change of a value of any size */

typedef struct sums {
    uint64_t allocations, bytes;
} sums;

static void *allocate(void *context, size_t size) {
    sums *sum = context;
    sum->allocations++;
    sum->bytes += size;
    return malloc(size);
}

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    sums *sum = context;
    sum->allocations += new_size > old_size;
    sum->bytes += new_size > old_size ? new_size : 0;
    return realloc(block, new_size);
}

static void release(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

typedef struct work {
    sums sum;
    chordal__memory *memory;
    chordal__node *value, *item;
    uint64_t size;
    int done;
} work;

static void begin_string(work *w) {
    char *text = malloc(w->size);
    memset(text, 'x', w->size);
    w->value = chordal__node_string(w->memory, text, w->size);
    free(text);
}

static void begin_array(work *w) {
    chordal__node **items = malloc(w->size * sizeof *items);
    for (uint64_t i = 0; i < w->size; i++) items[i] = chordal__node_integer(w->memory, (int64_t)i);
    w->value = chordal__node_array(w->memory, items, w->size);
    free(items);
}

static size_t key_of(char key[16], uint64_t number) {
    return (size_t)snprintf(key, 16, "key-%07u", (unsigned)number);
}

static void begin_object(work *w) {
    chordal__node *still;
    char key[16];
    chordal__node *zero = chordal__node_integer(w->memory, 0);
    w->value = chordal__node_object(w->memory);
    for (uint64_t i = 0; i < w->size; i++)
        w->value = chordal__node_put(w->memory, w->value, key, key_of(key, i), zero, &still);
    chordal__node_unref(w->memory, zero);
}

static chordal__node *append(work *w, chordal__node **still) {
    return chordal__node_append(w->memory, w->value, " token", 6, still);
}

static chordal__node *push(work *w, chordal__node **still) {
    return chordal__node_splice(w->memory, w->value, chordal__node_length(w->value), 0, &w->item, 1, still);
}

static chordal__node *splice(work *w, chordal__node **still) {
    uint64_t at = (uint64_t)w->done * 7919 % w->size;
    return chordal__node_splice(w->memory, w->value, at, 1, &w->item, 1, still);
}

static chordal__node *put(work *w, chordal__node **still) {
    char key[16];
    return chordal__node_put(w->memory, w->value, key, key_of(key, (uint64_t)w->done * 7919 % w->size), w->item, still);
}

static chordal__node *put_new(work *w, chordal__node **still) {
    char key[16];
    return chordal__node_put(w->memory, w->value, key, key_of(key, w->size + (uint64_t)w->done), w->item, still);
}

typedef struct growing {
    void (*begin)(work *);
    chordal__node *(*change)(work *, chordal__node **still);
    uint64_t most;
} growing;

/* CHANGES changes, each beside its kept revision before; and the first revision, kept through them all, stays. */
static sums change_many(const growing *g, uint64_t size) {
    work w = {.size = size};
    chordal_memory_functions functions = {sizeof functions, 0, &w.sum, allocate, resize, release};
    w.memory = chordal__memory_new(&functions, UINT64_MAX);
    w.item = chordal__node_integer(w.memory, -7);
    g->begin(&w);
    chordal__node *first = chordal__node_ref(w.value);
    uint64_t digest = chordal__node_digest(first);
    sums before = w.sum;
    for (; w.done < CHANGES; w.done++) {
        chordal__node *still, *kept = chordal__node_ref(w.value);
        w.value = g->change(&w, &still);
        chordal__node_unref(w.memory, kept);
    }
    sums cost = {w.sum.allocations - before.allocations, w.sum.bytes - before.bytes};
    CHECK(chordal__node_digest(first) == digest && chordal__node_digest(w.value) != digest);
    chordal__node_unref(w.memory, first);
    chordal__node_unref(w.memory, w.value);
    chordal__node_unref(w.memory, w.item);
    close_memory(w.memory);
    return cost;
}

/* Ten times the size is less than one more level in each of two trees. */
static void check_growth(const growing *g) {
    sums smaller = {0};
    for (uint64_t size = 1000; size <= g->most; size *= 10) {
        sums cost = change_many(g, size);
        CHECK(cost.allocations <= CHANGES * ALLOCATIONS && cost.bytes <= CHANGES * BYTES);
        if (size > 1000) CHECK(cost.allocations <= smaller.allocations + CHANGES * 3);
        if (size > 1000) CHECK(cost.bytes <= smaller.bytes + CHANGES * 900);
        if (check_failures)
            fprintf(stderr, "size %" PRIu64 ": %" PRIu64 ", %" PRIu64 " bytes\n", size, cost.allocations, cost.bytes);
        smaller = cost;
    }
}

TEST(test_string_append) {
    check_growth(&(growing){begin_string, append, 1000000});
}

TEST(test_array_push) {
    check_growth(&(growing){begin_array, push, 1000000});
}

TEST(test_array_splice) {
    check_growth(&(growing){begin_array, splice, 1000000});
}

TEST(test_object_set) {
    check_growth(&(growing){begin_object, put, 100000});
}

TEST(test_object_grow) {
    check_growth(&(growing){begin_object, put_new, 100000});
}

TESTS({"string append", test_string_append}, {"array push", test_array_push}, {"array splice", test_array_splice},
      {"object set", test_object_set}, {"object grow", test_object_grow})
