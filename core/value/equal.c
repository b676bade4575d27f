/* equal.c: whether two nodes are the same value. */
#include "value/node.h"

static bool equal_numbers(const chordal__node *a, const chordal__node *b) {
    chordal__number x, y;
    chordal__node_get_number(a, &x);
    chordal__node_get_number(b, &y);
    return chordal__number_compare(&x, &y) == 0;
}

/* The pieces of the two may be cut at different places. */
static bool equal_strings(const chordal__node *a, const chordal__node *b) {
    if (chordal__node_string_bytes(a) != chordal__node_string_bytes(b)) return false;
    const uint8_t *x, *y;
    size_t x_len = 0, y_len = 0;
    uint64_t x_at = 0, y_at = 0;
    for (;;) {
        if (x_len == 0 && !chordal__node_string_piece(a, &x_at, &x, &x_len)) return true;
        if (y_len == 0 && !chordal__node_string_piece(b, &y_at, &y, &y_len)) return true;
        size_t len = x_len < y_len ? x_len : y_len;
        if (x != y && memcmp(x, y, len) != 0) return false;
        x += len, x_len -= len;
        y += len, y_len -= len;
    }
}

/* Equal as far as it can be told without looking at members. */
static bool equal_outside(const chordal__node *a, const chordal__node *b) {
    int kind = chordal__node_kind(a);
    if (kind != chordal__node_kind(b)) return false;
    if (kind >= CHORDAL_KIND_ARRAY) return chordal__node_length(a) == chordal__node_length(b);
    if (kind == CHORDAL_KIND_STRING) return equal_strings(a, b);
    return kind < CHORDAL_KIND_INTEGER || equal_numbers(a, b);
}

/* Step over the members that two large containers hold by the same chunks. */
static void skip_shared(chordal__trail_level *level) {
    if (!chordal__is_tree(level->a) || !chordal__is_tree(level->b)) return;
    if (level->leaf && level->place < level->leaf->count) return;
    uint64_t length = chordal__totals_of(level->a)->length;
    const chordal__node *a = chordal__group_of(level->a)->slots[0], *b = chordal__group_of(level->b)->slots[0];
    while (level->at < length) {
        size_t shared = chordal__tree_shared(a, b, level->at);
        if (shared == 0) break;
        level->at += (uint32_t)shared;
    }
    level->leaf = NULL;
}

static bool equal_inside(const chordal__node *a, const chordal__node *b) {
    chordal__trail trail;
    chordal__trail_step step;
    chordal__trail_begin(&trail, a, b, false);
    while (trail.depth) {
        skip_shared(chordal__trail_top(&trail));
        if (!chordal__trail_next(&trail, &step)) {
            chordal__trail_leave(&trail);
            continue;
        }
        if (step.a == step.b) continue;
        if (!step.b || !equal_outside(step.a, step.b)) return false;
        if (chordal__node_kind(step.a) >= CHORDAL_KIND_ARRAY) chordal__trail_enter(&trail, &step);
    }
    return true;
}

bool chordal__node_equal(const chordal__node *a, const chordal__node *b) {
    if (a == b) return true;
    if (!equal_outside(a, b)) return false;
    return chordal__node_kind(a) < CHORDAL_KIND_ARRAY || equal_inside(a, b);
}
