/* path.c: places inside the members of an object. */
#include "delta/inside.h"

static uint32_t varint_len(uint64_t value) {
    uint32_t len = 1;
    while (value >>= 7) len++;
    return len;
}

static uint64_t hash_varint(uint64_t state, uint64_t value) {
    for (; value > 0x7f; value >>= 7) state = chordal__fnv_byte(state, (uint8_t)(value | 0x80));
    return chordal__fnv_byte(state, (uint8_t)value);
}

static uint64_t head_of(const chordal__segment *segment) {
    return segment->is_key ? (uint64_t)segment->key_len * 2 + 1 : segment->index * 2;
}

/* Copy the segments, with hash and weight: of the bytes of an inline path (docs/protocol.md, "Ops"). */
static void fill(chordal__path *path, const chordal__segment *segments) {
    uint8_t *keys = (uint8_t *)&path->segments[path->count];
    uint64_t hash = hash_varint(CHORDAL__FNV_START, path->count);
    uint32_t weight = varint_len(path->count);
    for (uint32_t i = 0; i < path->count; i++) {
        chordal__segment *segment = &path->segments[i];
        *segment = segments[i];
        hash = hash_varint(hash, head_of(segment));
        weight += varint_len(head_of(segment));
        if (!segment->is_key) continue;
        for (uint32_t k = 0; k < segment->key_len; k++) hash = chordal__fnv_byte(hash, keys[k] = segments[i].key[k]);
        weight += segment->key_len;
        segment->key = keys;
        keys += segment->key_len;
    }
    path->hash = hash;
    path->weight = weight;
}

chordal__path *chordal__path_new(chordal__memory *memory, const chordal__segment *segments, size_t count) {
    size_t size = sizeof(chordal__path) + count * sizeof *segments;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].is_key) size += segments[i].key_len;
    }
    chordal__path *path = chordal__allocate(memory, size);
    if (!path) return NULL;
    path->references = 1;
    path->count = (uint32_t)count;
    path->size = size;
    fill(path, segments);
    path->hint = 0;
    return path;
}

chordal__path *chordal__path_ref(chordal__path *path) {
    if (path) path->references++;
    return path;
}

void chordal__path_unref(chordal__memory *memory, chordal__path *path) {
    if (path && --path->references == 0) chordal__release(memory, path, path->size);
}

bool chordal__segment_equal(const chordal__segment *a, const chordal__segment *b) {
    if (a->is_key != b->is_key) return false;
    if (!a->is_key) return a->index == b->index;
    return a->key_len == b->key_len && (a->key_len == 0 || memcmp(a->key, b->key, a->key_len) == 0);
}

uint32_t chordal__path_common(const chordal__path *a, const chordal__path *b) {
    uint32_t least = a->count < b->count ? a->count : b->count, i = 0;
    while (i < least && chordal__segment_equal(&a->segments[i], &b->segments[i])) i++;
    return i;
}

bool chordal__path_equal(const chordal__path *a, const chordal__path *b) {
    if (a == b) return true;
    return a->hash == b->hash && a->count == b->count && chordal__path_common(a, b) == a->count;
}
