/* keys.c: the keys of the objects that a stream has open, to find one that comes twice. */
#include "value/node.h"

void chordal__keys_dispose(chordal__keys *keys) {
    chordal__release(keys->memory, keys->items, keys->capacity * sizeof *keys->items);
    chordal__release(keys->memory, keys->starts, keys->depth_capacity * sizeof *keys->starts);
}

int chordal__keys_open(chordal__keys *keys) {
    void *starts = keys->starts;
    int code = chordal__grow(keys->memory, &starts, sizeof *keys->starts, &keys->depth_capacity, keys->depth + 1,
                             CHORDAL__DEPTH_MAX);
    keys->starts = starts;
    if (!code) keys->starts[keys->depth++] = keys->count;
    return code;
}

int chordal__keys_add(chordal__keys *keys, size_t offset, size_t len, uint64_t position) {
    void *items = keys->items;
    int code =
        chordal__grow(keys->memory, &items, sizeof *keys->items, &keys->capacity, keys->count + 1, SIZE_MAX / 64);
    keys->items = items;
    if (code) return CHORDAL_E_NOMEM;
    keys->items[keys->count++] = (chordal__sort_key){.prefix = offset, .len = len, .index = (size_t)position};
    return 0;
}

#define FEW 8

static bool few_distinct(const chordal__sort_key *items, size_t count, size_t *out_again) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (items[i].len == items[j].len && memcmp(items[i].data, items[j].data, items[i].len) == 0) {
                *out_again = items[i].index;
                return false;
            }
    return true;
}

int chordal__keys_close(chordal__keys *keys, const uint8_t *base, uint64_t *out_position) {
    size_t start = keys->starts[--keys->depth], count = keys->count - start, again = 0;
    if (count == 0) return 0;
    chordal__sort_key *items = keys->items + start;
    keys->count = start;
    for (size_t i = 0; i < count; i++) items[i].data = base + items[i].prefix;
    bool distinct;
    if (count <= FEW) {
        distinct = few_distinct(items, count, &again);
    } else {
        chordal__sort_key *spare = chordal__allocate(keys->memory, count * sizeof *spare);
        if (!spare) return CHORDAL_E_NOMEM;
        distinct = chordal__keys_sort(items, spare, count, &again);
        chordal__release(keys->memory, spare, count * sizeof *spare);
    }
    *out_position = again;
    return distinct ? 0 : CHORDAL_E_DUPLICATE_KEY;
}
