/* array.c: arrays: one group of up to FLAT_MAX items, beyond that a tree. */
#include "value/node.h"

static chordal__node *new_flat(chordal__memory *memory, chordal__node *const *items, size_t count) {
    chordal__group *group = chordal__group_new(memory, CHORDAL_KIND_ARRAY, CHORDAL__FLAT, (uint32_t)count);
    if (!group) return NULL;
    group->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        group->slots[i] = chordal__node_ref(items[i]);
        chordal__deepen(&group->head, items[i]);
    }
    return &group->head;
}

static chordal__node *new_tree(chordal__memory *memory, chordal__node *const *items, size_t count) {
    chordal__node *node = chordal__tree_node(memory, CHORDAL_KIND_ARRAY);
    if (!node) return NULL;
    chordal__node *root = chordal__tree_new(memory, items, count);
    if (!root) {
        chordal__node_unref(memory, node);
        return NULL;
    }
    chordal__group_of(node)->slots[0] = root;
    chordal__group_of(node)->count = 1;
    chordal__totals_of(node)->length = count;
    for (size_t i = 0; i < count; i++) chordal__deepen(node, items[i]);
    return node;
}

chordal__node *chordal__node_array(chordal__memory *memory, chordal__node *const *items, size_t count) {
    return count > CHORDAL__FLAT_MAX ? new_tree(memory, items, count) : new_flat(memory, items, count);
}

chordal__node *chordal__node_at(const chordal__node *array, uint64_t index) {
    if (index >= chordal__node_length(array)) return NULL;
    const chordal__group *group = chordal__group_of(array);
    return !chordal__is_tree(array) ? group->slots[index] : chordal__tree_at(group->slots[0], (size_t)index);
}

/* New objects share the shape of their neighbour, so that keys are not kept once per item. */
static void share_shapes(chordal__memory *memory, const chordal__node *array, uint64_t index,
                         chordal__node *const *items, size_t count) {
    if (count == 0) return;
    const chordal__node *like = index ? chordal__node_at(array, index - 1) : chordal__node_at(array, count);
    for (size_t i = 0; like && i < count; i++) chordal__shape_share(memory, items[i], like);
}

/* ---- splicing ---- */

/* In a group without other owners and with room. */
static void splice_slots(chordal__memory *memory, chordal__group *group, uint32_t index, uint32_t remove,
                         chordal__node *const *items, size_t count) {
    chordal__node *gone[CHORDAL__FLAT_MAX], **at = group->slots + index;
    memcpy(gone, at, remove * sizeof *at);
    memmove(at + count, at + remove, (group->count - index - remove) * sizeof *at);
    for (size_t i = 0; i < count; i++) {
        at[i] = chordal__node_ref(items[i]);
        chordal__deepen(&group->head, items[i]);
    }
    group->count = group->count - remove + (uint32_t)count;
    while (remove) chordal__node_unref(memory, gone[--remove]);
}

static chordal__node *splice_flat(chordal__memory *memory, chordal__node *array, uint32_t index, uint32_t remove,
                                  chordal__node *const *items, size_t count, chordal__node **still) {
    chordal__group *group = chordal__group_of(array), *work = group;
    bool shared = array->references > 1;
    uint32_t size = group->count - remove + (uint32_t)count;
    uint32_t room = size + size / 2 < CHORDAL__FLAT_MAX ? size + size / 2 : CHORDAL__FLAT_MAX;
    if (shared)
        work = chordal__group_copy(memory, group, group->count > size ? group->count : size);
    else if (size > group->capacity)
        work = chordal__group_resize(memory, group, room);
    if (!work) {
        *still = array;
        return NULL;
    }
    splice_slots(memory, work, index, remove, items, count);
    if (shared) chordal__node_unref(memory, array);
    return &work->head;
}

static bool splice_tree(chordal__memory *memory, chordal__node *node, uint64_t index, uint64_t remove,
                        chordal__node *const *items, size_t count) {
    chordal__group *group = chordal__group_of(node);
    if (!chordal__tree_splice(memory, &group->slots[0], (size_t)index, (size_t)remove, items, count)) return false;
    chordal__totals_of(node)->length += count - remove;
    for (size_t i = 0; i < count; i++) chordal__deepen(node, items[i]);
    return true;
}

static chordal__node *begin_tree(chordal__memory *memory, chordal__node *array) {
    if (chordal__is_tree(array)) return chordal__edit_begin(memory, array);
    const chordal__group *group = chordal__group_of(array);
    return new_tree(memory, group->slots, group->count);
}

chordal__node *chordal__node_splice(chordal__memory *memory, chordal__node *array, uint64_t index, uint64_t remove,
                                    chordal__node *const *items, size_t count, chordal__node **still) {
    chordal__node *made;
    uint64_t kept = chordal__node_length(array) - remove;
    if (!chordal__is_tree(array) && count <= CHORDAL__FLAT_MAX && kept + count <= CHORDAL__FLAT_MAX) {
        made = splice_flat(memory, array, (uint32_t)index, (uint32_t)remove, items, count, still);
    } else {
        chordal__node *work = begin_tree(memory, array);
        if (!work) {
            *still = array;
            return NULL;
        }
        bool done = splice_tree(memory, work, index, remove, items, count);
        made = chordal__edit_end(memory, array, work, done, still);
    }
    if (made) share_shapes(memory, made, index, items, count);
    return made;
}

chordal__node *chordal__node_replace(chordal__memory *memory, chordal__node *array, uint64_t index,
                                     chordal__node *value, chordal__node **still) {
    chordal__node *work = chordal__edit_begin(memory, array);
    if (!work) {
        *still = array;
        return NULL;
    }
    chordal__node **slot = &chordal__group_of(work)->slots[index];
    if (chordal__is_tree(work)) slot = chordal__tree_own(memory, &chordal__group_of(work)->slots[0], (size_t)index);
    if (slot) {
        chordal__node *old = *slot;
        *slot = chordal__node_ref(value);
        chordal__deepen(work, value);
        chordal__shape_share(memory, value, old);
        chordal__node_unref(memory, old);
    }
    return chordal__edit_end(memory, array, work, slot != NULL, still);
}
