/* map.c: a hash map from bytes to a pointer: open addressing over entries that hold their key. */
#include "base/base.h"

#define SMALLEST_MAP ((size_t)8)

struct chordal__map_entry {
    uint64_t hash;
    void *value;
    size_t key_len;
    uint8_t key[];
};

static uint64_t rotate(uint64_t word, unsigned by) {
    return word << by | word >> (64 - by);
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static uint64_t load_four(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t load_eight(const uint8_t *bytes) {
    return load_four(bytes) | load_four(bytes + 4) << 32;
}

/* Fewer than 8 bytes, little end first: pieces that overlap instead of a loop. */
static uint64_t load_rest(const uint8_t *bytes, size_t len) {
    if (len >= 4) return load_four(bytes) | load_four(bytes + len - 4) << 8 * (len - 4);
    if (!len) return 0;
    return bytes[0] | (uint64_t)bytes[len / 2] << 8 * (len / 2) | (uint64_t)bytes[len - 1] << 8 * (len - 1);
}

uint64_t chordal__hash(const void *data, size_t len, const uint64_t seed[2]) {
    const uint8_t *bytes = data;
    uint64_t v[4] = {seed[0] ^ UINT64_C(0x736f6d6570736575), seed[1] ^ UINT64_C(0x646f72616e646f6d),
                     seed[0] ^ UINT64_C(0x6c7967656e657261), seed[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = len;
    for (; left >= 8; left -= 8, bytes += 8) {
        uint64_t word = load_eight(bytes);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = load_rest(bytes, left) | (uint64_t)len << 56;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t chordal__fnv(uint64_t state, const void *data, size_t len) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < len; i++) state = chordal__fnv_byte(state, bytes[i]);
    return state;
}

void chordal__map_init(chordal__map *map, chordal__memory *memory, const uint64_t seed[2]) {
    *map = (chordal__map){.memory = memory, .seed = {seed[0], seed[1]}};
}

static void entry_free(chordal__map *map, chordal__map_entry *entry) {
    chordal__release(map->memory, entry, sizeof *entry + entry->key_len);
}

void chordal__map_dispose(chordal__map *map) {
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i]) entry_free(map, map->slots[i]);
    }
    chordal__release(map->memory, map->slots, map->capacity * sizeof *map->slots);
    chordal__map_init(map, map->memory, (const uint64_t[2]){map->seed[0], map->seed[1]});
}

/* The slot that holds the key, or the empty one where it belongs. */
static size_t find_slot(const chordal__map *map, uint64_t hash, const void *key, size_t key_len) {
    size_t mask = map->capacity - 1, at = (size_t)hash & mask;
    for (chordal__map_entry *entry; (entry = map->slots[at]); at = (at + 1) & mask) {
        if (entry->hash == hash && entry->key_len == key_len && (!key_len || !memcmp(entry->key, key, key_len))) break;
    }
    return at;
}

void *chordal__map_get(const chordal__map *map, const void *key, size_t key_len) {
    if (!map->count) return NULL;
    chordal__map_entry *entry = map->slots[find_slot(map, chordal__hash(key, key_len, map->seed), key, key_len)];
    return entry ? entry->value : NULL;
}

static size_t empty_slot(const chordal__map *map, uint64_t hash) {
    size_t mask = map->capacity - 1, at = (size_t)hash & mask;
    while (map->slots[at]) at = (at + 1) & mask;
    return at;
}

/* Keeps a quarter of the slots empty. */
static int make_room(chordal__map *map) {
    if (map->count < map->capacity / 4 * 3) return 0;
    size_t capacity = map->capacity ? map->capacity * 2 : SMALLEST_MAP;
    if (capacity > PTRDIFF_MAX / sizeof *map->slots) return CHORDAL_E_NOMEM;
    chordal__map_entry **slots = chordal__allocate_zero(map->memory, capacity * sizeof *slots);
    if (!slots) return CHORDAL_E_NOMEM;
    chordal__map old = *map;
    map->slots = slots;
    map->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i]) slots[empty_slot(map, old.slots[i]->hash)] = old.slots[i];
    }
    chordal__release(map->memory, old.slots, old.capacity * sizeof *old.slots);
    return 0;
}

int chordal__map_put(chordal__map *map, const void *key, size_t key_len, void *value) {
    uint64_t hash = chordal__hash(key, key_len, map->seed);
    if (map->count && map->slots[find_slot(map, hash, key, key_len)]) return CHORDAL_E_EXISTS;
    if (key_len > PTRDIFF_MAX - sizeof(chordal__map_entry) || make_room(map) != 0) return CHORDAL_E_NOMEM;
    chordal__map_entry *entry = chordal__allocate(map->memory, sizeof *entry + key_len);
    if (!entry) return CHORDAL_E_NOMEM;
    entry->hash = hash;
    entry->value = value;
    entry->key_len = key_len;
    if (key_len) memcpy(entry->key, key, key_len);
    map->slots[empty_slot(map, hash)] = entry;
    map->count++;
    return 0;
}

/* Moves later entries of the run back, so that no marks of removed entries pile up. */
static void close_gap(chordal__map *map, size_t gap) {
    size_t mask = map->capacity - 1;
    for (size_t at = (gap + 1) & mask; map->slots[at]; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at]->hash & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        map->slots[gap] = map->slots[at];
        gap = at;
    }
    map->slots[gap] = NULL;
}

void *chordal__map_remove(chordal__map *map, const void *key, size_t key_len) {
    if (!map->count) return NULL;
    size_t at = find_slot(map, chordal__hash(key, key_len, map->seed), key, key_len);
    chordal__map_entry *entry = map->slots[at];
    if (!entry) return NULL;
    void *value = entry->value;
    entry_free(map, entry);
    close_gap(map, at);
    map->count--;
    return value;
}

void *chordal__map_next(const chordal__map *map, size_t *at) {
    while (*at < map->capacity) {
        chordal__map_entry *entry = map->slots[(*at)++];
        if (entry) return entry->value;
    }
    return NULL;
}
