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
    if (depth >= work->extent && depth < UINT16_MAX) work->extent = (uint16_t)(depth + 1);
    return true;
}

static inline chordal__node **element_slot(chordal__memory *memory, chordal__node *array, uint64_t index) {
    chordal__group *group = chordal__group_of(array);
    if (!chordal__is_tree(array)) return &group->slots[index];
    return chordal__tree_own(memory, &group->slots[0], (size_t)index);
}

static inline int step_at(chordal__memory *memory, chordal__node ***slot, uint64_t index, uint32_t depth) {
    if (index >= chordal__node_length(**slot)) return CHORDAL_E_NOT_FOUND;
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
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < count; i++, shift = 0) {
        unsigned kind = chordal__kind_of(*slot);
        uint32_t depth = deep > i + 1 ? deep - (i + 1) : 0;
        if (kind == CHORDAL_KIND_OBJECT && segments[i].is_key)
            code = step_get(memory, &slot, &segments[i], depth);
        else if (kind == CHORDAL_KIND_ARRAY && !segments[i].is_key)
            code = step_at(memory, &slot, segments[i].index - shift, depth);
        else
            code = kind < CHORDAL_KIND_ARRAY ? CHORDAL_E_PATH : CHORDAL_E_TYPE;
    }
    *out = slot;
    return code;
}
