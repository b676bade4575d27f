/* digest.c: the canonical digest of docs/protocol.md. */
#include "value/node.h"

static uint64_t add_decimal(uint64_t state, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return chordal__fnv(state, digits + at, sizeof digits - at);
}

static uint64_t add_string_head(uint64_t state, uint64_t bytes) {
    return chordal__fnv(add_decimal(chordal__fnv(state, "s", 1), bytes), ":", 1);
}

static uint64_t add_string(uint64_t state, const chordal__node *node) {
    const uint8_t *data;
    size_t len;
    uint64_t at = 0;
    state = add_string_head(state, chordal__node_string_bytes(node));
    while (chordal__node_string_piece(node, &at, &data, &len)) state = chordal__fnv(state, data, len);
    return state;
}

static uint64_t add_number(uint64_t state, const chordal__node *node) {
    chordal__number number;
    chordal__node_get_number(node, &number);
    if (number.kind == CHORDAL_KIND_DOUBLE) {
        uint64_t bits;
        uint8_t bytes[9] = {'d'};
        memcpy(&bits, &number.as.real, sizeof bits);
        for (int i = 8; i; i--, bits >>= 8) bytes[i] = (uint8_t)bits;
        return chordal__fnv(state, bytes, sizeof bytes);
    }
    bool minus = number.kind == CHORDAL_KIND_INTEGER && number.as.integer < 0;
    uint64_t magnitude = minus ? 0 - number.as.unsigned_integer : number.as.unsigned_integer;
    return add_decimal(chordal__fnv(state, "i-", minus ? 2 : 1), magnitude);
}

static uint64_t add_scalar(uint64_t state, const chordal__node *node) {
    unsigned kind = (unsigned)chordal__node_kind(node);
    if (kind == CHORDAL_KIND_STRING) return add_string(state, node);
    if (kind < CHORDAL_KIND_INTEGER) return chordal__fnv(state, &"nft"[kind], 1);
    return add_number(state, node);
}

static uint64_t add_bracket(uint64_t state, const chordal__node *node, bool open) {
    return chordal__fnv(state, &(node->kind == CHORDAL_KIND_OBJECT ? "{}" : "[]")[!open], 1);
}

static uint64_t add_container(uint64_t state, const chordal__node *node) {
    chordal__trail trail;
    chordal__trail_step step;
    chordal__trail_begin(&trail, node, NULL, true);
    state = add_bracket(state, node, true);
    while (trail.depth) {
        const chordal__node *inside = chordal__trail_top(&trail)->a;
        if (!chordal__trail_next(&trail, &step)) {
            state = add_bracket(state, inside, false);
            chordal__trail_leave(&trail);
            continue;
        }
        if (inside->kind == CHORDAL_KIND_OBJECT)
            state = chordal__fnv(add_string_head(state, step.key_len), step.key, step.key_len);
        if (chordal__node_kind(step.a) < CHORDAL_KIND_ARRAY) {
            state = add_scalar(state, step.a);
        } else {
            state = add_bracket(state, step.a, true);
            chordal__trail_enter(&trail, &step);
        }
    }
    return state;
}

uint64_t chordal__node_digest(const chordal__node *node) {
    if (chordal__node_kind(node) < CHORDAL_KIND_ARRAY) return add_scalar(CHORDAL__FNV_START, node);
    return add_container(CHORDAL__FNV_START, node);
}
