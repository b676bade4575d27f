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

int chordal__node_slot_at(chordal__memory *memory, chordal__node **slot, uint64_t index, uint32_t depth,
                          chordal__node ***out) {
    if (index >= chordal__node_length(*slot)) return CHORDAL_E_NOT_FOUND;
    if (!own_container(memory, slot, depth)) return CHORDAL_E_NOMEM;
    chordal__group *group = chordal__group_of(*slot);
    if (!chordal__is_tree(*slot))
        *out = &group->slots[index];
    else
        *out = chordal__tree_own(memory, &group->slots[0], (size_t)index);
    return *out ? 0 : CHORDAL_E_NOMEM;
}

int chordal__node_slot_get(chordal__memory *memory, chordal__node **slot, const void *key, size_t key_len,
                           uint32_t depth, chordal__node ***out) {
    const chordal__group *group = chordal__group_of(*slot);
    bool flat = !chordal__is_tree(*slot), found;
    size_t place;
    if (flat) {
        place = chordal__shape_find(group->slots[0], key, key_len);
        found = place + 1 < group->count;
    } else {
        place = chordal__object_rank(*slot, key, key_len, &found);
    }
    if (!found) return CHORDAL_E_NOT_FOUND;
    if (!own_container(memory, slot, depth)) return CHORDAL_E_NOMEM;
    *out = flat ? &chordal__group_of(*slot)->slots[place + 1] : chordal__object_own(memory, *slot, place);
    return *out ? 0 : CHORDAL_E_NOMEM;
}
