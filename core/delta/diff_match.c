/* diff_match.c: which elements of two lists are the same, by the memory they share and then by content. */
#include "delta/inside.h"

/* Chosen hashes make the table forget, not slow. */
#define PROBES 8       /* elements of one hash that are compared */
#define LONGEST_RUN 64 /* slots that are tried for a hash */

static uint64_t hash_place(const chordal__node *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* ---- the table: for each hash the places in `before` that are not taken yet, lowest first ---- */

typedef struct match_slot {
    uint64_t hash;
    uint32_t first; /* UNMATCHED: none left */
    bool used;
} match_slot;

typedef struct match_table {
    chordal__node *const *before;
    match_slot *slots;
    uint32_t *next;
    bool *taken;
    size_t mask;
    uint32_t count;
} match_table;

/* The slot of a hash or an unused one for it; NULL: neither is near. */
static match_slot *slot_of(const match_table *table, uint64_t hash) {
    size_t at = (size_t)hash & table->mask;
    for (int i = 0; i < LONGEST_RUN; i++, at = (at + 1) & table->mask) {
        if (!table->slots[at].used || table->slots[at].hash == hash) return &table->slots[at];
    }
    return NULL;
}

static void fill(match_table *table, uint64_t (*hash)(const chordal__node *)) {
    memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
    for (uint32_t i = table->count; i-- > 0;) {
        if (table->taken[i]) continue;
        uint64_t key = hash(table->before[i]);
        match_slot *slot = slot_of(table, key);
        if (!slot) continue;
        table->next[i] = slot->used ? slot->first : CHORDAL__UNMATCHED;
        *slot = (struct match_slot){.hash = key, .first = i, .used = true};
    }
}

/* Take the first element equal to `wanted` out of the table. */
static uint32_t take(match_table *table, uint64_t hash, const chordal__node *wanted) {
    match_slot *slot = slot_of(table, hash);
    if (!slot || !slot->used) return CHORDAL__UNMATCHED;
    uint32_t *link = &slot->first;
    for (int probe = 0; probe < PROBES && *link != CHORDAL__UNMATCHED; probe++) {
        uint32_t at = *link;
        if (chordal__node_equal(table->before[at], wanted)) {
            *link = table->next[at];
            table->taken[at] = true;
            return at;
        }
        link = &table->next[at];
    }
    return CHORDAL__UNMATCHED;
}

static uint32_t match_by(match_table *table, uint64_t (*hash)(const chordal__node *), chordal__node *const *after,
                         uint32_t after_count, uint32_t *match) {
    uint32_t left = 0;
    fill(table, hash);
    for (uint32_t j = 0; j < after_count; j++) {
        if (match[j] == CHORDAL__UNMATCHED) match[j] = take(table, hash(after[j]), after[j]);
        left += match[j] == CHORDAL__UNMATCHED;
    }
    return left;
}

int chordal__match(chordal__memory *memory, chordal__node *const *before, uint32_t before_count,
                   chordal__node *const *after, uint32_t after_count, uint32_t *match) {
    size_t capacity = 4;
    while (capacity < 2 * (size_t)before_count) capacity *= 2;
    size_t size = capacity * sizeof(match_slot) + before_count * (sizeof(uint32_t) + sizeof(bool));
    match_slot *slots = chordal__allocate_zero(memory, size);
    if (!slots) return CHORDAL_E_NOMEM;
    uint32_t *next = (uint32_t *)(void *)(slots + capacity);
    match_table table = {before, slots, next, (bool *)(next + before_count), capacity - 1, before_count};
    for (uint32_t j = 0; j < after_count; j++) match[j] = CHORDAL__UNMATCHED;
    uint32_t left = match_by(&table, hash_place, after, after_count, match);
    if (left > 0) match_by(&table, chordal__node_digest, after, after_count, match);
    chordal__release(memory, slots, size);
    return 0;
}
