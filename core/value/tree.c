/* tree.c: persistent counted B-trees: sequences of nodes, changed at any place for the cost of a few chunks.
 *
 * Every chunk but the root has at least CHUNK_MIN slots, or had a full neighbour when it was made: what is pushed item
 * by item fills chunk by chunk. Changes within one leaf are made in place along a path without
 * other owners; all others cut and join whole trees, of which the untouched chunks are shared. */
#include "value/node.h"

#define CHUNK_MIN (CHORDAL__CHUNK_MAX / 4)

/* Of an inner chunk: the items in its first slots up to each. */
static size_t *ends_of(const chordal__group *chunk) {
    return (size_t *)(uintptr_t)&chunk->slots[chunk->capacity];
}

size_t chordal__tree_count(const chordal__node *node) {
    const chordal__group *chunk = chordal__group_of(node);
    return node->form && chunk->count ? ends_of(chunk)[chunk->count - 1] : chunk->count;
}

static void fill_ends(chordal__group *chunk) {
    size_t end = 0;
    if (chunk->head.form == 0) return;
    for (uint32_t i = 0; i < chunk->count; i++) ends_of(chunk)[i] = end += chordal__tree_count(chunk->slots[i]);
}

static chordal__node *new_chunk(chordal__memory *memory, unsigned level, chordal__node *const *slots, uint32_t count) {
    chordal__group *chunk = chordal__group_new(memory, CHORDAL__KIND_CHUNK, level, count ? count : 1);
    if (!chunk) return NULL;
    for (uint32_t i = 0; i < count; i++) chunk->slots[i] = chordal__node_ref(slots[i]);
    chunk->count = count;
    fill_ends(chunk);
    return &chunk->head;
}

/* ---- building ---- */

static chordal__node *build_level(chordal__memory *memory, unsigned level, size_t below, chordal__node *const *items,
                                  size_t count) {
    if (level == 0) return new_chunk(memory, 0, items, (uint32_t)count);
    uint32_t parts = (uint32_t)((count + below - 1) / below);
    chordal__group *chunk = chordal__group_new(memory, CHORDAL__KIND_CHUNK, level, parts);
    if (!chunk) return NULL;
    size_t done = 0;
    for (uint32_t i = 0; i < parts; i++) {
        size_t size = (count - done + (parts - i) - 1) / (parts - i);
        chunk->slots[i] = build_level(memory, level - 1, below / CHORDAL__CHUNK_MAX, items + done, size);
        if (!chunk->slots[i]) {
            chordal__node_unref(memory, &chunk->head);
            return NULL;
        }
        chunk->count++;
        ends_of(chunk)[i] = done += size;
    }
    return &chunk->head;
}

chordal__node *chordal__tree_new(chordal__memory *memory, chordal__node *const *items, size_t count) {
    unsigned level = 0;
    size_t below = 1;
    while (count > below * CHORDAL__CHUNK_MAX) below *= CHORDAL__CHUNK_MAX, level++;
    return build_level(memory, level, below, items, count);
}

/* ---- finding ---- */

/* The slot of an inner chunk in which the item lies; the end belongs to the last. */
static uint32_t slot_of(const chordal__group *chunk, size_t *index) {
    const size_t *ends = ends_of(chunk);
    uint32_t low = 0, more = chunk->count - 1; /* it is one of `more` slots behind `low`, or that one */
    if (more && *index >= ends[more - 1]) low = more, more = 0;
    while (more) {
        uint32_t half = (more + 1) / 2;
        if (*index >= ends[low + half - 1]) low += half;
        more -= half;
    }
    if (low) *index -= ends[low - 1];
    return low;
}

const chordal__group *chordal__tree_leaf(const chordal__node *root, size_t index, uint32_t *out_place) {
    const chordal__group *chunk = chordal__group_of(root);
    while (chunk->head.form) chunk = chordal__group_of(chunk->slots[slot_of(chunk, &index)]);
    *out_place = (uint32_t)index;
    return chunk;
}

chordal__node *chordal__tree_at(const chordal__node *root, size_t index) {
    uint32_t place;
    const chordal__group *leaf = chordal__tree_leaf(root, index, &place);
    return leaf->slots[place];
}

size_t chordal__tree_shared(const chordal__node *a, const chordal__node *b, size_t index) {
    size_t other = index;
    while (a != b || index != other) {
        while (a->form > b->form) a = chordal__group_of(a)->slots[slot_of(chordal__group_of(a), &index)];
        while (b->form > a->form) b = chordal__group_of(b)->slots[slot_of(chordal__group_of(b), &other)];
        if (a == b && index == other) break;
        if (a->form == 0) return 0;
        a = chordal__group_of(a)->slots[slot_of(chordal__group_of(a), &index)];
        b = chordal__group_of(b)->slots[slot_of(chordal__group_of(b), &other)];
    }
    return chordal__tree_count(a) - index;
}

static const chordal__node *first_item(const chordal__node *node) {
    while (node->form) node = chordal__group_of(node)->slots[0];
    return chordal__group_of(node)->slots[0];
}

/* The last slot whose first item is not above what is wanted. */
static uint32_t search_chunk(const chordal__group *chunk, chordal__tree_order *compare, const void *wanted) {
    uint32_t low = 0, high = chunk->count;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        const chordal__node *slot = chunk->slots[middle];
        if (compare(wanted, chunk->head.form ? first_item(slot) : slot) > 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

size_t chordal__tree_find(const chordal__node *root, chordal__tree_order *compare, const void *wanted,
                          bool *out_found) {
    const chordal__group *chunk = chordal__group_of(root);
    size_t index = 0;
    *out_found = false;
    while (chunk->head.form) {
        uint32_t at = search_chunk(chunk, compare, wanted);
        if (at) index += ends_of(chunk)[at - 1];
        chunk = chordal__group_of(chunk->slots[at]);
    }
    if (chunk->count == 0) return index;
    uint32_t at = search_chunk(chunk, compare, wanted);
    int order = compare(wanted, chunk->slots[at]);
    *out_found = order == 0;
    return index + at + (order < 0);
}

/* ---- joining ---- */

static chordal__node *new_pair(chordal__memory *memory, chordal__node *a, chordal__node *b) {
    chordal__node *slots[2] = {a, b};
    return new_chunk(memory, a->form + 1u, slots, 2);
}

/* One chunk of these slots, or two under a new root. */
static chordal__node *spread(chordal__memory *memory, unsigned level, chordal__node *const *slots, uint32_t count) {
    if (count <= CHORDAL__CHUNK_MAX) return new_chunk(memory, level, slots, count);
    chordal__node *a = new_chunk(memory, level, slots, count / 2);
    chordal__node *b = new_chunk(memory, level, slots + count / 2, count - count / 2);
    chordal__node *root = a && b ? new_pair(memory, a, b) : NULL;
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    return root;
}

static chordal__node *join_level(chordal__memory *memory, chordal__node *a, chordal__node *b) {
    const chordal__group *left = chordal__group_of(a), *right = chordal__group_of(b);
    uint32_t count = left->count + right->count;
    bool full = left->count == CHORDAL__CHUNK_MAX || right->count == CHORDAL__CHUNK_MAX;
    if (count > CHORDAL__CHUNK_MAX && (full || (left->count >= CHUNK_MIN && right->count >= CHUNK_MIN)))
        return new_pair(memory, a, b);
    chordal__node *slots[2 * CHORDAL__CHUNK_MAX];
    memcpy(slots, left->slots, left->count * sizeof *slots);
    memcpy(slots + left->count, right->slots, right->count * sizeof *slots);
    return spread(memory, a->form, slots, count);
}

/* `edge`, which took the place of the first or last slot of a chunk, is of its slots' level or one above. */
static chordal__node *put_edge(chordal__memory *memory, const chordal__group *chunk, bool last,
                               const chordal__node *edge) {
    chordal__node *slots[2 * CHORDAL__CHUNK_MAX], *one = (chordal__node *)(uintptr_t)edge;
    bool wide = edge->form == chunk->head.form;
    uint32_t more = wide ? chordal__group_of(edge)->count : 1, kept = chunk->count - 1;
    chordal__node *const *from = wide ? chordal__group_of(edge)->slots : &one;
    memcpy(slots + (last ? 0 : more), chunk->slots + !last, kept * sizeof *slots);
    memcpy(slots + (last ? kept : 0), from, more * sizeof *slots);
    return spread(memory, chunk->head.form, slots, kept + more);
}

/* The recursion is as deep as the tree has levels. */
static chordal__node *join(chordal__memory *memory, chordal__node *a, chordal__node *b) {
    if (chordal__group_of(b)->count == 0) return chordal__node_ref(a);
    if (chordal__group_of(a)->count == 0) return chordal__node_ref(b);
    if (a->form == b->form) return join_level(memory, a, b);
    bool last = a->form > b->form;
    const chordal__group *high = chordal__group_of(last ? a : b);
    chordal__node *edge = last ? join(memory, high->slots[high->count - 1], b) : join(memory, a, high->slots[0]);
    chordal__node *root = edge ? put_edge(memory, high, last, edge) : NULL;
    chordal__node_unref(memory, edge);
    return root;
}

/* Join and give back what was joined; either may be NULL: no memory. */
static chordal__node *join_taken(chordal__memory *memory, chordal__node *a, chordal__node *b) {
    chordal__node *root = a && b ? join(memory, a, b) : NULL;
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    return root;
}

/* ---- cutting ---- */

/* A tree of some of a chunk's slots. */
static chordal__node *part_of(chordal__memory *memory, const chordal__group *chunk, uint32_t from, uint32_t count) {
    if (count == 0) return new_chunk(memory, 0, NULL, 0);
    if (count == 1 && chunk->head.form) return chordal__node_ref(chunk->slots[from]);
    return new_chunk(memory, chunk->head.form, chunk->slots + from, count);
}

static chordal__node *front_of(chordal__memory *memory, chordal__node *node, size_t count) {
    const chordal__group *chunk = chordal__group_of(node);
    if (node->form == 0) return part_of(memory, chunk, 0, (uint32_t)count);
    uint32_t at = slot_of(chunk, &count);
    chordal__node *rest = front_of(memory, chunk->slots[at], count);
    return rest ? join_taken(memory, part_of(memory, chunk, 0, at), rest) : NULL;
}

static chordal__node *back_of(chordal__memory *memory, chordal__node *node, size_t from) {
    const chordal__group *chunk = chordal__group_of(node);
    if (node->form == 0) return part_of(memory, chunk, (uint32_t)from, chunk->count - (uint32_t)from);
    uint32_t at = slot_of(chunk, &from);
    chordal__node *rest = back_of(memory, chunk->slots[at], from);
    return rest ? join_taken(memory, rest, part_of(memory, chunk, at + 1, chunk->count - at - 1)) : NULL;
}

/* ---- changing ---- */

static chordal__group *copy_chunk(chordal__memory *memory, chordal__node **slot) {
    chordal__group *chunk = chordal__group_of(*slot);
    chordal__group *copy = chordal__group_copy(memory, chunk, chunk->capacity);
    if (!copy) return NULL;
    if (chunk->head.form) memcpy(ends_of(copy), ends_of(chunk), chunk->count * sizeof(size_t));
    chordal__node_unref(memory, *slot);
    *slot = &copy->head;
    return copy;
}

static inline chordal__group *own_chunk(chordal__memory *memory, chordal__node **slot) {
    return (*slot)->references == 1 ? chordal__group_of(*slot) : copy_chunk(memory, slot);
}

/* Own the path to an item; what was owned stays so when memory ends, which changes no content. */
static bool own_path(chordal__tree_edit *edit, chordal__memory *memory, size_t index) {
    chordal__node **slot = edit->root;
    edit->levels = 0;
    for (;;) {
        chordal__group *chunk = own_chunk(memory, slot);
        if (!chunk) return false;
        uint32_t place = chunk->head.form ? slot_of(chunk, &index) : (uint32_t)index;
        edit->path[edit->levels] = chunk;
        edit->places[edit->levels++] = place;
        if (chunk->head.form == 0) return true;
        slot = &chunk->slots[place];
    }
}

chordal__node **chordal__tree_own(chordal__memory *memory, chordal__node **root, size_t index) {
    chordal__node **slot = root;
    for (;;) {
        chordal__group *chunk = own_chunk(memory, slot);
        if (!chunk) return NULL;
        if (chunk->head.form == 0) return &chunk->slots[index];
        slot = &chunk->slots[slot_of(chunk, &index)];
    }
}

#ifndef __OPTIMIZE_SIZE__
chordal__node **chordal__tree_alone(chordal__node *root, size_t index) {
    chordal__group *chunk = chordal__group_of(root);
    while (chunk->head.references == 1) {
        if (chunk->head.form == 0) return &chunk->slots[index];
        chunk = chordal__group_of(chunk->slots[slot_of(chunk, &index)]);
    }
    return NULL;
}
#endif

/* Whether the change stays within one leaf. */
static bool fits_leaf(const chordal__node *root, size_t index, size_t remove, size_t count) {
    uint32_t place;
    const chordal__group *leaf = chordal__tree_leaf(root, index, &place);
    if (remove > leaf->count - place || count > CHORDAL__CHUNK_MAX) return false;
    size_t size = leaf->count - remove + count;
    return size <= CHORDAL__CHUNK_MAX && (size >= CHUNK_MIN || count >= remove || root->form == 0);
}

static bool grow_leaf(chordal__tree_edit *edit, chordal__memory *memory) {
    chordal__group *leaf = edit->path[edit->levels - 1];
    uint32_t size = leaf->count - (uint32_t)edit->remove + (uint32_t)edit->count;
    if (size <= leaf->capacity) return true;
    uint32_t room = size <= 4 ? 4 : size <= 8 ? 8 : size <= 16 ? 16 : CHORDAL__CHUNK_MAX;
    leaf = chordal__group_resize(memory, leaf, room);
    if (!leaf) return false;
    edit->path[edit->levels - 1] = leaf;
    chordal__node **slot =
        edit->levels == 1 ? edit->root : &edit->path[edit->levels - 2]->slots[edit->places[edit->levels - 2]];
    *slot = &leaf->head;
    return true;
}

static chordal__node *splice_anew(chordal__memory *memory, chordal__node *root, size_t index, size_t remove,
                                  chordal__node *const *items, size_t count) {
    chordal__node *made = front_of(memory, root, index);
    if (made && count) made = join_taken(memory, made, chordal__tree_new(memory, items, count));
    return made ? join_taken(memory, made, back_of(memory, root, index + remove)) : NULL;
}

bool chordal__tree_prepare(chordal__tree_edit *edit, chordal__memory *memory, chordal__node **root, size_t index,
                           size_t remove, chordal__node *const *items, size_t count) {
    *edit = (chordal__tree_edit){.root = root, .items = items, .count = count, .remove = remove};
    if (fits_leaf(*root, index, remove, count)) return own_path(edit, memory, index) && grow_leaf(edit, memory);
    edit->made = splice_anew(memory, *root, index, remove, items, count);
    return edit->made != NULL;
}

static void move_ends(chordal__group *chunk, uint32_t place, size_t more) {
    size_t *ends = ends_of(chunk);
    for (uint32_t i = place; i < chunk->count; i++) ends[i] += more;
}

static void commit_leaf(chordal__tree_edit *edit, chordal__memory *memory) {
    chordal__group *leaf = edit->path[edit->levels - 1];
    chordal__node *gone[CHORDAL__CHUNK_MAX];
    chordal__node **at = leaf->slots + edit->places[edit->levels - 1];
    size_t behind = leaf->count - edit->places[edit->levels - 1] - edit->remove;
    memcpy(gone, at, edit->remove * sizeof *at);
    memmove(at + edit->count, at + edit->remove, behind * sizeof *at);
    for (size_t i = 0; i < edit->count; i++) at[i] = chordal__node_ref(edit->items[i]);
    leaf->count += (uint32_t)edit->count - (uint32_t)edit->remove;
    for (uint32_t i = 0; i + 1 < edit->levels; i++)
        move_ends(edit->path[i], edit->places[i], edit->count - edit->remove);
    for (size_t i = 0; i < edit->remove; i++) chordal__node_unref(memory, gone[i]);
}

void chordal__tree_commit(chordal__tree_edit *edit, chordal__memory *memory) {
    if (!edit->made) {
        commit_leaf(edit, memory);
        return;
    }
    chordal__node_unref(memory, *edit->root);
    *edit->root = edit->made;
}

void chordal__tree_cancel(chordal__tree_edit *edit, chordal__memory *memory) {
    chordal__node_unref(memory, edit->made);
}

bool chordal__tree_splice(chordal__memory *memory, chordal__node **root, size_t index, size_t remove,
                          chordal__node *const *items, size_t count) {
    chordal__tree_edit edit;
    if (!chordal__tree_prepare(&edit, memory, root, index, remove, items, count)) return false;
    chordal__tree_commit(&edit, memory);
    return true;
}
