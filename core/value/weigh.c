/* weigh.c: about how large a value is. */
#include "value/node.h"

static uint64_t weigh_number(const chordal__node *node) {
    chordal__number number;
    chordal__node_get_number(node, &number);
    if (number.kind != CHORDAL_KIND_INTEGER) return 9;
    if (number.as.integer >= -32 && number.as.integer < 128) return 1;
    return number.as.integer >= INT16_MIN && number.as.integer <= INT16_MAX ? 3 : 5;
}

/* Without the members of a container. */
static uint64_t weigh_outside(const chordal__node *node) {
    int kind = chordal__node_kind(node);
    if (kind < CHORDAL_KIND_INTEGER) return 1;
    if (kind < CHORDAL_KIND_STRING) return weigh_number(node);
    return kind == CHORDAL_KIND_STRING ? 2 + chordal__node_string_bytes(node) : 2;
}

static CHORDAL__ASIDE uint64_t weigh_inside(const chordal__node *node, uint64_t weight, uint64_t enough) {
    chordal__trail trail;
    chordal__trail_begin(&trail, node, NULL, false);
    while (trail.depth && weight <= enough) {
        chordal__trail_step step = {0};
        if (!chordal__trail_next(&trail, &step)) {
            chordal__trail_leave(&trail);
            continue;
        }
        weight += weigh_outside(step.a) + (step.key ? 1 + step.key_len : 0);
        if (chordal__node_kind(step.a) >= CHORDAL_KIND_ARRAY) chordal__trail_enter(&trail, &step);
    }
    return weight;
}

uint64_t chordal__node_weigh(const chordal__node *node, uint64_t enough) {
    unsigned kind = chordal__kind_of(node);
    if (!CHORDAL__SMALL && kind == CHORDAL_KIND_STRING && !chordal__is_tree(node))
        return 2 + (uint64_t)chordal__text_of(node)->bytes;
    uint64_t weight = weigh_outside(node);
    return kind < CHORDAL_KIND_ARRAY ? weight : weigh_inside(node, weight, enough);
}
