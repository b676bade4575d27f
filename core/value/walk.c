/* walk.c: members in their order, a leaf at a time. */
#include "value/node.h"

void chordal__walk_begin(chordal__walk *walk, const chordal__node *container) {
    *walk = (chordal__walk){.container = container};
}

chordal__node *chordal__walk_next(chordal__walk *walk, const uint8_t **out_key, size_t *out_key_len) {
    const chordal__node *container = walk->container;
    if (!chordal__is_tree(container)) return chordal__next_member(walk, out_key, out_key_len);
    const chordal__group *leaf = walk->leaf;
    if (!leaf || walk->place >= leaf->count) {
        if (walk->index >= chordal__totals_of(container)->length) return NULL;
        leaf = chordal__tree_leaf(chordal__group_of(container)->slots[0], (size_t)walk->index, &walk->place);
        walk->leaf = leaf;
    }
    walk->index++;
    chordal__node *item = leaf->slots[walk->place++];
    if (container->kind == CHORDAL_KIND_ARRAY) return item;
    *out_key = chordal__entry_of(item)->key;
    *out_key_len = chordal__entry_of(item)->key_len;
    return chordal__entry_of(item)->value;
}

void chordal__walk_skip(chordal__walk *walk, uint64_t count) {
    walk->index += count;
    walk->leaf = NULL;
}

#define NEAR 32 /* levels for which no memory is asked */

uint8_t *chordal__write_deep(chordal__out *out, uint8_t *at, const chordal__node *node,
                             chordal__write_container *write) {
    chordal__memory *memory = out->buffer->memory;
    chordal__walk near[NEAR];
    size_t size = node->extent * sizeof *near;
    if (node->extent <= NEAR) return write(out, at, node, near, near + NEAR);
    chordal__walk *walks = chordal__allocate(memory, size);
    at = walks ? write(out, at, node, walks, walks + node->extent) : chordal__out_fail(out, CHORDAL_E_NOMEM);
    chordal__release(memory, walks, size);
    return at;
}
