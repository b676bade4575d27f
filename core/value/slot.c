/* slot.c: changing deep inside a tree in place. */
#include "value/node.h"

/* Make the container the slot's alone. */
static inline bool own_container(chordal__memory *memory, chordal__node **slot, uint32_t depth) {
    chordal__node *work = *slot;
    if (work->references > 1) {
        work = chordal__edit_begin(memory, *slot);
        if (!work) return false;
        chordal__node_unref(memory, *slot);
        *slot = work;
    }
    if (depth && depth >= work->extent && depth < UINT16_MAX) work->extent = (uint16_t)(depth + 1);
    return true;
}

static inline uint64_t length_of(const chordal__node *array) {
    return chordal__is_tree(array) ? chordal__totals_of(array)->length : chordal__group_of(array)->count;
}

static inline chordal__node **element_slot(chordal__memory *memory, chordal__node *array, uint64_t index) {
    chordal__group *group = chordal__group_of(array);
    if (!chordal__is_tree(array)) return &group->slots[index];
    return chordal__tree_own(memory, &group->slots[0], (size_t)index);
}

static inline int step_at(chordal__memory *memory, chordal__node ***slot, uint64_t index, uint32_t depth) {
    if (index >= length_of(**slot)) return CHORDAL_E_NOT_FOUND;
    if (!own_container(memory, *slot, depth)) return CHORDAL_E_NOMEM;
    chordal__node **place = element_slot(memory, **slot, index);
    if (!place) return CHORDAL_E_NOMEM;
    *slot = place;
    return 0;
}

static int step_in_tree(chordal__memory *memory, chordal__node ***slot, const chordal__segment *segment,
                        uint32_t depth) {
    bool found;
    size_t rank = chordal__object_rank(**slot, segment->key, segment->key_len, &found);
    if (!found) return CHORDAL_E_NOT_FOUND;
    if (!own_container(memory, *slot, depth)) return CHORDAL_E_NOMEM;
    chordal__node **place = chordal__object_own(memory, **slot, rank);
    if (!place) return CHORDAL_E_NOMEM;
    *slot = place;
    return 0;
}

static inline int step_get(chordal__memory *memory, chordal__node ***slot, const chordal__segment *segment,
                           uint32_t depth) {
    const chordal__group *group = chordal__group_of(**slot);
    if (chordal__is_tree(**slot)) return step_in_tree(memory, slot, segment, depth);
    uint32_t place = chordal__shape_find(group->slots[0], segment->key, segment->key_len);
    if (place + 1 >= group->count) return CHORDAL_E_NOT_FOUND;
    if (!own_container(memory, *slot, depth)) return CHORDAL_E_NOMEM;
    *slot = &chordal__group_of(**slot)->slots[place + 1];
    return 0;
}

int chordal__node_slot(chordal__memory *memory, chordal__node **slot, const chordal__segment *segments, uint32_t count,
                       uint64_t shift, uint32_t deep, chordal__node ***out) {
    const chordal__segment *end = segments + count;
    int code = 0;
    for (; code == 0 && segments < end; segments++, shift = 0) {
        unsigned kind = chordal__kind_of(*slot);
        if (deep) deep--;
        if (kind == CHORDAL_KIND_OBJECT && segments->is_key)
            code = step_get(memory, &slot, segments, deep);
        else if (kind == CHORDAL_KIND_ARRAY && !segments->is_key)
            code = step_at(memory, &slot, segments->index - shift, deep);
        else
            code = kind < CHORDAL_KIND_ARRAY ? CHORDAL_E_PATH : CHORDAL_E_TYPE;
    }
    *out = slot;
    return code;
}

#ifndef __OPTIMIZE_SIZE__
/* Members that are reached without a copy; NULL: there is none, or not so. */
static inline chordal__node **member_alone(chordal__group *object, const chordal__segment *segment) {
    const chordal__shape *shape = chordal__shape_of(object->slots[0]);
    if (chordal__is_tree(&object->head) || !shape) return NULL;
    if (shape->count > CHORDAL__FEW_KEYS || segment->key_len > 16) return NULL;
    uint32_t place = chordal__shape_find_few(shape, segment->key, segment->key_len);
    return place < shape->count ? &object->slots[place + 1] : NULL;
}

static inline chordal__node **element_alone(chordal__group *array, uint64_t index) {
    if (index >= length_of(&array->head)) return NULL;
    if (chordal__is_tree(&array->head)) return chordal__tree_alone(array->slots[0], (size_t)index);
    return &array->slots[index];
}

chordal__node **chordal__node_place(chordal__node *node, uint32_t owners, const chordal__segment *segments,
                                    uint32_t count) {
    chordal__node **slot = NULL;
    for (const chordal__segment *end = segments + count; segments < end; segments++, owners = 1) {
        if (!chordal__is_block(node) || node->references > owners) return NULL;
        if (node->kind == CHORDAL_KIND_OBJECT && segments->is_key)
            slot = member_alone(chordal__group_of(node), segments);
        else if (node->kind == CHORDAL_KIND_ARRAY && !segments->is_key)
            slot = element_alone(chordal__group_of(node), segments->index);
        else
            return NULL;
        if (!slot) return NULL;
        node = *slot;
    }
    return slot;
}

/* The text that more would be put behind: a string itself, or its last piece. */
static inline chordal__node *last_text(chordal__node *node) {
    if (chordal__kind_of(node) != CHORDAL_KIND_STRING || !chordal__is_tree(node)) return node;
    chordal__node *root = chordal__group_of(node)->slots[0];
    chordal__node **last = node->references > 1 ? NULL : chordal__tree_alone(root, chordal__tree_count(root) - 1);
    return last ? *last : NULL;
}

static inline bool are_texts(const chordal__node *node, const chordal__node *more) {
    return node && chordal__kind_of(node) == CHORDAL_KIND_STRING && chordal__kind_of(more) == CHORDAL_KIND_STRING;
}

bool chordal__node_extends(chordal__node *node, const chordal__node *more) {
    const chordal__node *text = last_text(node);
    return are_texts(text, more) && chordal__text_fits(text, more);
}

bool chordal__node_extend(chordal__node *node, const chordal__node *more) {
    chordal__node *text = last_text(node);
    if (!are_texts(text, more) || !chordal__text_extend(text, more)) return false;
    if (text == node) return true;
    chordal__totals_of(node)->length += chordal__text_of(more)->units;
    chordal__totals_of(node)->other += chordal__text_of(more)->bytes;
    return true;
}
#endif
