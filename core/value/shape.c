/* shape.c: shapes: the keys of a small object in their order, shared by the objects that have the same. */
#include "value/node.h"

uint32_t chordal__key_hash(const void *key, size_t len) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const uint8_t *at = key;
    uint64_t hash = len * factor, word;
    for (; len > 8; at += 8, len -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    word = 0;
    for (size_t i = 0; i < len; i++) word |= (uint64_t)at[i] << 8 * i;
    hash = (hash ^ word) * factor;
    return (uint32_t)((hash ^ hash >> 29) * factor >> 32);
}

static uint8_t tag_of(const void *key, size_t len) {
    return (uint8_t)(chordal__key_hash(key, len) >> 24);
}

static size_t bytes_of(const chordal__key *keys, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].len > UINT32_MAX - bytes) return SIZE_MAX;
        bytes += keys[i].len;
    }
    return bytes;
}

static bool is_plain(const uint8_t *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] == '"' || text[i] == '\\' || (text[i] == 0xed && text[i + 1] >= 0xa0))
            return false;
    return true;
}

chordal__node *chordal__shape_new(chordal__memory *memory, const chordal__key *keys, size_t count) {
    size_t bytes = bytes_of(keys, count), head = sizeof(chordal__shape) + count * (sizeof(uint32_t) + 1);
    chordal__shape *shape = bytes < SIZE_MAX - head ? chordal__allocate(memory, head + bytes) : NULL;
    if (!shape) return NULL;
    chordal__head_init(&shape->head, CHORDAL__KIND_SHAPE, CHORDAL__FLAT, 1);
    shape->count = (uint32_t)count;
    shape->bytes = (uint32_t)bytes;
    uint8_t *tags = chordal__tags_of(shape), *text = tags + count;
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].len) memcpy(text + end, keys[i].data, keys[i].len);
        tags[i] = tag_of(keys[i].data, keys[i].len);
        shape->ends[i] = end += (uint32_t)keys[i].len;
    }
    shape->head.extent = is_plain(text, bytes);
    return (chordal__node *)shape;
}

static CHORDAL__ASIDE uint32_t find_any(const chordal__shape *shape, const void *key, size_t len) {
    const uint8_t *tags = chordal__tags_of(shape), *text = tags + shape->count;
    uint8_t tag = shape->count > CHORDAL__FEW_KEYS ? tag_of(key, len) : 0;
    uint32_t start = 0;
    for (uint32_t i = 0; i < shape->count; start = shape->ends[i++]) {
        if (shape->ends[i] - start != len || (shape->count > CHORDAL__FEW_KEYS && tags[i] != tag)) continue;
        if (chordal__same_bytes(text + start, key, len)) return i;
    }
    return shape->count;
}

uint32_t chordal__shape_find(const chordal__node *node, const void *key, size_t len) {
    if (!node) return 0;
    const chordal__shape *shape = chordal__shape_of(node);
    if (CHORDAL__SMALL || shape->count > CHORDAL__FEW_KEYS || len > 16) return find_any(shape, key, len);
    return chordal__shape_find_few(shape, key, len);
}

uint32_t chordal__shape_duplicate(const chordal__node *node) {
    const chordal__shape *shape = chordal__shape_of(node);
    const uint8_t *tags = chordal__tags_of(shape);
    for (uint32_t i = 1; i < shape->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            if (tags[i] != tags[j]) continue;
            chordal__key key = chordal__shape_key(node, i);
            if (chordal__key_is(chordal__shape_key(node, j), key.data, key.len)) return i;
        }
    return shape->count;
}

bool chordal__shape_has(const chordal__node *shape, const chordal__key *keys, size_t count) {
    if (chordal__shape_of(shape)->count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!chordal__key_is(chordal__shape_key(shape, i), keys[i].data, keys[i].len)) return false;
    return true;
}

/* All but the head of a shape tells its keys. */
static bool same_keys(const chordal__shape *a, const chordal__shape *b) {
    size_t size = a->count * (sizeof(uint32_t) + 1) + a->bytes;
    return a->count == b->count && a->bytes == b->bytes && memcmp(a->ends, b->ends, size) == 0;
}

static bool has_shape(const chordal__node *node) {
    return chordal__is_block(node) && node->kind == CHORDAL_KIND_OBJECT && !chordal__is_tree(node) &&
           chordal__group_of(node)->slots[0];
}

void chordal__shape_share(chordal__memory *memory, chordal__node *object, const chordal__node *like) {
    if (!has_shape(object) || !has_shape(like)) return;
    chordal__node **slot = &chordal__group_of(object)->slots[0], *shape = chordal__group_of(like)->slots[0];
    if (*slot == shape || !same_keys(chordal__shape_of(*slot), chordal__shape_of(shape))) return;
    chordal__node_unref(memory, *slot);
    *slot = chordal__node_ref(shape);
}
