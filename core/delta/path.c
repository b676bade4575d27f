/* path.c: places inside the members of an object. */
#include "delta/inside.h"

static uint32_t varint_len(uint64_t value) {
    uint32_t len = 1;
    while (value >>= 7) len++;
    return len;
}

static uint64_t hash_varint(uint64_t state, uint64_t value) {
    uint8_t bytes[10];
    size_t len = 0;
    while (value > 0x7f) {
        bytes[len++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[len++] = (uint8_t)value;
    return chordal__fnv(state, bytes, len);
}

static uint64_t head_of(const chordal__segment *segment) {
    return segment->is_key ? (uint64_t)segment->key_len * 2 + 1 : segment->index * 2;
}

static uint32_t weight_of(const chordal__path *path) {
    uint32_t weight = varint_len(path->count);
    for (uint32_t i = 0; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        weight += varint_len(head_of(segment)) + (segment->is_key ? segment->key_len : 0);
    }
    return weight;
}

/* Over the bytes of an inline path (docs/protocol.md, "Ops"). */
static uint64_t hash_of(const chordal__path *path) {
    uint64_t state = hash_varint(CHORDAL__FNV_START, path->count);
    for (uint32_t i = 0; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        state = hash_varint(state, head_of(segment));
        if (segment->is_key) state = chordal__fnv(state, segment->key, segment->key_len);
    }
    return state;
}

static void copy_segments(chordal__path *path, const chordal__segment *segments) {
    uint8_t *keys = (uint8_t *)&path->segments[path->count];
    for (uint32_t i = 0; i < path->count; i++) {
        path->segments[i] = segments[i];
        if (!segments[i].is_key) continue;
        if (segments[i].key_len > 0) memcpy(keys, segments[i].key, segments[i].key_len);
        path->segments[i].key = keys;
        keys += segments[i].key_len;
    }
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
    copy_segments(path, segments);
    path->hash = hash_of(path);
    path->weight = weight_of(path);
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
