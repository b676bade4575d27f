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

chordal__node *chordal__key_new(chordal__memory *memory, const void *data, size_t len) {
    if (len > UINT32_MAX) return NULL;
    chordal__key *key = chordal__allocate(memory, offsetof(chordal__key, data) + len);
    if (!key) return NULL;
    chordal__head_init(&key->head, CHORDAL__KIND_KEY, CHORDAL__FLAT, 1);
    key->len = (uint32_t)len;
    if (len) memcpy(key->data, data, len);
    return (chordal__node *)key;
}

static uint8_t tag_of(const void *key, size_t len) {
    return (uint8_t)(chordal__key_hash(key, len) >> 24);
}

chordal__node *chordal__shape_new(chordal__memory *memory, chordal__node *const *keys, size_t count) {
    chordal__group *shape = chordal__group_new(memory, CHORDAL__KIND_SHAPE, CHORDAL__FLAT, (uint32_t)count);
    if (!shape) return NULL;
    shape->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const chordal__key *key = chordal__key_of(keys[i]);
        shape->slots[i] = chordal__node_ref(keys[i]);
        chordal__tags_of(shape)[i] = tag_of(key->data, key->len);
    }
    return &shape->head;
}

uint32_t chordal__shape_find(const chordal__node *node, const void *key, size_t len) {
    if (!node) return 0;
    const chordal__group *shape = chordal__group_of(node);
    uint32_t i = 0;
    if (shape->count <= 6) {
        while (i < shape->count && !chordal__key_is(shape->slots[i], key, len)) i++;
        return i;
    }
    const uint8_t *tags = chordal__tags_of(shape), tag = tag_of(key, len);
    while (i < shape->count && (tags[i] != tag || !chordal__key_is(shape->slots[i], key, len))) i++;
    return i;
}

uint32_t chordal__shape_duplicate(const chordal__node *node) {
    const chordal__group *shape = chordal__group_of(node);
    const uint8_t *tags = chordal__tags_of(shape);
    for (uint32_t i = 1; i < shape->count; i++) {
        const chordal__key *key = chordal__key_of(shape->slots[i]);
        for (uint32_t j = 0; j < i; j++)
            if (tags[i] == tags[j] && chordal__key_is(shape->slots[j], key->data, key->len)) return i;
    }
    return shape->count;
}

static bool same_keys(const chordal__group *a, const chordal__group *b) {
    if (a->count != b->count || memcmp(chordal__tags_of(a), chordal__tags_of(b), a->count) != 0) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const chordal__key *key = chordal__key_of(a->slots[i]);
        if (!chordal__key_is(b->slots[i], key->data, key->len)) return false;
    }
    return true;
}

static bool has_shape(const chordal__node *node) {
    return chordal__is_block(node) && node->kind == CHORDAL_KIND_OBJECT && node->form == CHORDAL__FLAT &&
           chordal__group_of(node)->slots[0];
}

void chordal__shape_share(chordal__memory *memory, chordal__node *object, const chordal__node *like) {
    if (!has_shape(object) || !has_shape(like)) return;
    chordal__node **slot = &chordal__group_of(object)->slots[0], *shape = chordal__group_of(like)->slots[0];
    if (*slot == shape || !same_keys(chordal__group_of(*slot), chordal__group_of(shape))) return;
    chordal__node_unref(memory, *slot);
    *slot = chordal__node_ref(shape);
}
