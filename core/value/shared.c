/* shared.c: what two revisions of a large container have in common, told by the chunks that both hold. */
#include "value/node.h"

/* The tree in the members' order; NULL: the container is flat. */
static const chordal__node *tree_of(const chordal__node *container) {
    return chordal__is_tree(container) ? chordal__group_of(container)->slots[0] : NULL;
}

uint64_t chordal__node_shared(const chordal__node *a, const chordal__node *b, uint64_t index) {
    const chordal__node *x = tree_of(a), *y = tree_of(b);
    if (!x || !y || index >= chordal__node_length(a) || index >= chordal__node_length(b)) return 0;
    return chordal__tree_shared(x, y, (size_t)index);
}

uint64_t chordal__node_shared_before(const chordal__node *a, uint64_t a_end, const chordal__node *b, uint64_t b_end) {
    const chordal__node *x = tree_of(a), *y = tree_of(b);
    if (!x || !y || a_end == 0 || b_end == 0) return 0;
    uint32_t place, other;
    if (chordal__tree_leaf(x, (size_t)a_end - 1, &place) != chordal__tree_leaf(y, (size_t)b_end - 1, &other)) return 0;
    return place == other ? place + (uint64_t)1 : 0;
}
