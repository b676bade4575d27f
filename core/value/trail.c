/* trail.c: a walk through all nesting that needs no memory and cannot fail. */
#include "value/node.h"

/* The slot of the flat object's key that follows the one at slot `at` in their order (0: the first); 0: none. */
static uint32_t next_key(const chordal__group *object, uint32_t at) {
    chordal__key best = {0}, after = {0};
    uint32_t found = 0;
    if (at) after = chordal__shape_key(object->slots[0], at - 1);
    for (uint32_t i = 1; i < object->count; i++) {
        chordal__key key = chordal__shape_key(object->slots[0], i - 1);
        if (at && chordal__key_compare(key.data, key.len, after.data, after.len) <= 0) continue;
        if (found && chordal__key_compare(key.data, key.len, best.data, best.len) > 0) continue;
        best = key;
        found = i;
    }
    return found;
}

static const chordal__node *tree_of(const chordal__trail *trail, const chordal__node *node) {
    return chordal__group_of(node)->slots[node->kind == CHORDAL_KIND_OBJECT && trail->sorted];
}

/* What a container has in a slot, or an item of its tree. */
static void take_item(const chordal__node *container, uint32_t at, const chordal__node *item,
                      chordal__trail_step *out) {
    out->a = item;
    if (container->kind == CHORDAL_KIND_ARRAY) return;
    if (chordal__is_tree(container)) {
        const chordal__entry *entry = chordal__entry_of(item);
        out->key = entry->key;
        out->key_len = entry->key_len;
        out->a = entry->value;
        return;
    }
    chordal__key key = chordal__shape_key(chordal__group_of(container)->slots[0], at - 1);
    out->key = key.data;
    out->key_len = key.len;
}

static const chordal__node *partner_of(const chordal__trail_level *level, const chordal__trail_step *step) {
    const chordal__group *a = chordal__group_of(level->a), *b = chordal__group_of(level->b);
    if (level->a->kind == CHORDAL_KIND_ARRAY) return chordal__node_at(level->b, level->at - 1);
    if (!chordal__is_tree(level->a) && !chordal__is_tree(level->b) && a->slots[0] == b->slots[0])
        return b->slots[level->at];
    return chordal__node_get(level->b, step->key, step->key_len);
}

/* The member at which a level stands. */
static void present(const chordal__trail *trail, const chordal__trail_level *level, chordal__trail_step *out) {
    const chordal__node *a = level->a;
    const chordal__node *item;
    if (chordal__is_tree(a))
        item = chordal__tree_at(tree_of(trail, a), level->at - 1);
    else
        item = chordal__group_of(a)->slots[a->kind == CHORDAL_KIND_OBJECT ? level->at : level->at - 1];
    take_item(a, level->at, item, out);
    out->b = level->b ? partner_of(level, out) : NULL;
}

static bool next_in_tree(const chordal__trail *trail, chordal__trail_level *level, chordal__trail_step *out) {
    if (level->at >= chordal__totals_of(level->a)->length) return false;
    if (!level->leaf || level->place >= level->leaf->count)
        level->leaf = chordal__tree_leaf(tree_of(trail, level->a), level->at, &level->place);
    level->at++;
    take_item(level->a, level->at, level->leaf->slots[level->place++], out);
    return true;
}

static bool next_in_group(const chordal__trail *trail, chordal__trail_level *level, chordal__trail_step *out) {
    const chordal__group *group = chordal__group_of(level->a);
    if (group->head.kind == CHORDAL_KIND_OBJECT) {
        uint32_t at = trail->sorted ? next_key(group, level->at) : level->at + 1;
        if (at == 0 || at >= group->count) return false;
        level->at = at;
        take_item(level->a, at, group->slots[at], out);
        return true;
    }
    if (level->at >= group->count) return false;
    out->a = group->slots[level->at++];
    return true;
}

bool chordal__trail_next(chordal__trail *trail, chordal__trail_step *out) {
    chordal__trail_level *level = chordal__trail_top(trail);
    bool more = chordal__is_tree(level->a) ? next_in_tree(trail, level, out) : next_in_group(trail, level, out);
    if (more) out->b = level->b ? partner_of(level, out) : NULL;
    return more;
}

static void set_level(chordal__trail *trail, uint32_t depth, const chordal__node *a, const chordal__node *b,
                      uint32_t at) {
    trail->near[depth % CHORDAL__TRAIL_NEAR] = (chordal__trail_level){.a = a, .b = b, .at = at};
}

void chordal__trail_begin(chordal__trail *trail, const chordal__node *a, const chordal__node *b, bool sorted) {
    trail->a = a;
    trail->b = b;
    trail->sorted = sorted;
    trail->depth = 1;
    trail->lowest = 0;
    set_level(trail, 0, a, b, 0);
}

void chordal__trail_enter(chordal__trail *trail, const chordal__trail_step *step) {
    if (trail->depth == CHORDAL__DEPTH_MAX) return;
    trail->at[trail->depth - 1] = chordal__trail_top(trail)->at;
    set_level(trail, trail->depth++, step->a, step->b, 0);
    if (trail->depth - trail->lowest > CHORDAL__TRAIL_NEAR) trail->lowest++;
}

/* Find the levels again that were given up. */
static void find_again(chordal__trail *trail) {
    chordal__trail_step step = {.a = trail->a, .b = trail->b};
    trail->lowest = trail->depth > CHORDAL__TRAIL_NEAR ? trail->depth - CHORDAL__TRAIL_NEAR : 0;
    for (uint32_t depth = 0; depth < trail->depth; depth++) {
        set_level(trail, depth, step.a, step.b, trail->at[depth]);
        present(trail, &trail->near[depth % CHORDAL__TRAIL_NEAR], &step);
    }
}

void chordal__trail_leave(chordal__trail *trail) {
    trail->depth--;
    if (trail->depth && trail->depth <= trail->lowest) find_again(trail);
}
