/* pack_write.c: nodes to packed bytes, always in the shortest form. */
#include "value/node.h"

/* ---- heads ---- */

static size_t put_big(uint8_t *out, uint8_t code, uint64_t value, size_t size) {
    out[0] = code;
    for (size_t i = size; i; i--, value >>= 8) out[i] = (uint8_t)value;
    return size + 1;
}

size_t chordal__pack_head(uint8_t *out, bool map, uint64_t count) {
    if (count < 16) {
        out[0] = (uint8_t)((map ? 0x80 : 0x90) | count);
        return 1;
    }
    if (count <= UINT16_MAX) return put_big(out, map ? 0xde : 0xdc, count, 2);
    return put_big(out, map ? 0xdf : 0xdd, count, 4);
}

void chordal__pack_write_array(chordal__buffer *buffer, uint64_t count) {
    uint8_t head[5];
    chordal__buffer_put(buffer, head, chordal__pack_head(head, false, count));
}

void chordal__pack_write_map(chordal__buffer *buffer, uint64_t count) {
    uint8_t head[5];
    chordal__buffer_put(buffer, head, chordal__pack_head(head, true, count));
}

size_t chordal__pack_string_head(uint8_t *out, uint64_t len) {
    if (len < 32) {
        out[0] = (uint8_t)(0xa0 | len);
        return 1;
    }
    if (len <= UINT8_MAX) return put_big(out, 0xd9, len, 1);
    if (len <= UINT16_MAX) return put_big(out, 0xda, len, 2);
    return put_big(out, 0xdb, len, 4);
}

/* A length that no head can tell. */
static bool fits(chordal__buffer *buffer, uint64_t len) {
    if (len <= UINT32_MAX) return true;
    if (!buffer->failed) buffer->failed = CHORDAL_E_SIZE;
    return false;
}

void chordal__pack_write_string(chordal__buffer *buffer, const void *utf8, size_t len) {
    uint8_t head[5];
    if (!fits(buffer, len)) return;
    size_t head_len = chordal__pack_string_head(head, len);
    uint8_t *at = chordal__buffer_extend(buffer, head_len + len);
    if (!at) return;
    memcpy(at, head, head_len);
    if (len) memcpy(at + head_len, utf8, len);
}

void chordal__pack_write_bytes(chordal__buffer *buffer, const void *data, size_t len) {
    uint8_t head[5];
    if (!fits(buffer, len)) return;
    size_t head_len = len <= UINT8_MAX    ? put_big(head, 0xc4, len, 1)
                      : len <= UINT16_MAX ? put_big(head, 0xc5, len, 2)
                                          : put_big(head, 0xc6, len, 4);
    chordal__buffer_put(buffer, head, head_len);
    chordal__buffer_put(buffer, data, len);
}

/* ---- scalars ---- */

static size_t put_unsigned(uint8_t *out, uint64_t value) {
    if (value < 0x80) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value <= UINT8_MAX) return put_big(out, 0xcc, value, 1);
    if (value <= UINT16_MAX) return put_big(out, 0xcd, value, 2);
    if (value <= UINT32_MAX) return put_big(out, 0xce, value, 4);
    return put_big(out, 0xcf, value, 8);
}

size_t chordal__pack_integer(uint8_t *out, int64_t value) {
    if (value >= 0) return put_unsigned(out, (uint64_t)value);
    if (value >= -32) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value >= INT8_MIN) return put_big(out, 0xd0, (uint64_t)value, 1);
    if (value >= INT16_MIN) return put_big(out, 0xd1, (uint64_t)value, 2);
    if (value >= INT32_MIN) return put_big(out, 0xd2, (uint64_t)value, 4);
    return put_big(out, 0xd3, (uint64_t)value, 8);
}

static size_t put_number(uint8_t *out, const chordal__number *number) {
    uint64_t bits;
    if (number->kind == CHORDAL_KIND_INTEGER) return chordal__pack_integer(out, number->as.integer);
    if (number->kind == CHORDAL_KIND_UNSIGNED) return put_unsigned(out, number->as.unsigned_integer);
    memcpy(&bits, &number->as.real, sizeof bits);
    return put_big(out, 0xcb, bits, 8);
}

void chordal__pack_write_number(chordal__buffer *buffer, const chordal__number *number) {
    uint8_t bytes[9];
    chordal__buffer_put(buffer, bytes, put_number(bytes, number));
}

void chordal__pack_write_integer(chordal__buffer *buffer, int64_t integer) {
    uint8_t bytes[9];
    chordal__buffer_put(buffer, bytes, chordal__pack_integer(bytes, integer));
}

static const uint8_t constants[3] = {0xc0, 0xc2, 0xc3};

void chordal__pack_write_constant(chordal__buffer *buffer, unsigned kind) {
    chordal__buffer_byte(buffer, constants[kind]);
}

/* ---- values ---- */

static uint8_t *put_bytes(chordal__out *out, uint8_t *at, const uint8_t *data, size_t len) {
    at = chordal__out_room(out, at, len);
    if (!at) return NULL;
    chordal__copy_bytes(at, data, len);
    return at + len;
}

/* A string whose bytes follow for `len`. */
static uint8_t *put_text(chordal__out *out, uint8_t *at, const uint8_t *data, size_t len) {
    if (len > UINT32_MAX) return chordal__out_fail(out, CHORDAL_E_SIZE);
    at = chordal__out_room(out, at, len + (len < 32 ? 1 : len <= UINT8_MAX ? 2 : len <= UINT16_MAX ? 3 : 5));
    if (!at) return NULL;
    at += chordal__pack_string_head(at, len);
    chordal__copy_bytes(at, data, len);
    return at + len;
}

static uint8_t *put_string(chordal__out *out, uint8_t *at, const chordal__node *node) {
    uint64_t piece = 0;
    const uint8_t *data;
    size_t len;
    uint8_t head[5];
    if (!chordal__is_tree(node)) return put_text(out, at, chordal__text_of(node)->data, chordal__text_of(node)->bytes);
    if (chordal__node_string_bytes(node) > UINT32_MAX) return chordal__out_fail(out, CHORDAL_E_SIZE);
    at = put_bytes(out, at, head, chordal__pack_string_head(head, chordal__node_string_bytes(node)));
    while (at && chordal__node_string_piece(node, &piece, &data, &len)) at = put_bytes(out, at, data, len);
    return at;
}

static uint8_t *put_scalar(chordal__out *out, uint8_t *at, const chordal__node *node, unsigned kind) {
    chordal__number number;
    uint8_t bytes[9];
    if (kind == CHORDAL_KIND_STRING) return put_string(out, at, node);
    if (kind < CHORDAL_KIND_INTEGER) return put_bytes(out, at, &constants[kind], 1);
    chordal__node_get_number(node, &number);
    return put_bytes(out, at, bytes, put_number(bytes, &number));
}

static uint8_t *put_open(chordal__out *out, uint8_t *at, chordal__walk *walk, const chordal__node *node) {
    uint8_t head[5];
    uint64_t count = chordal__node_length(node);
    chordal__walk_begin(walk, node);
    if (count > UINT32_MAX) return chordal__out_fail(out, CHORDAL_E_SIZE);
    return put_bytes(out, at, head, chordal__pack_head(head, node->kind == CHORDAL_KIND_OBJECT, count));
}

/* A text; there is room for it and a head of 5 bytes. */
static inline uint8_t *put_short(uint8_t *at, const uint8_t *data, size_t len) {
    if (len < 32)
        *at++ = (uint8_t)(0xa0 | len);
    else
        at += chordal__pack_string_head(at, len);
    chordal__copy_bytes(at, data, len);
    return at + len;
}

/* Members of a flat object, one after the other, up to one that is a container or to the end. */
static uint8_t *put_members(chordal__out *out, uint8_t *at, chordal__walk *walk) {
    const chordal__group *group = chordal__group_of(walk->container);
    uint32_t i = (uint32_t)walk->index;
    for (; at && i + 1 < group->count; i++) {
        const chordal__node *node = group->slots[i + 1];
        unsigned kind = chordal__kind_of(node);
        if (kind >= CHORDAL_KIND_ARRAY) break;
        bool flat = kind == CHORDAL_KIND_STRING && !chordal__is_tree(node);
        chordal__key key = chordal__shape_key(group->slots[0], i);
        size_t most = key.len + 10 + (flat ? chordal__text_of(node)->bytes : 0u);
        if ((size_t)(out->end - at) < most) {
            at = put_scalar(out, put_text(out, at, key.data, key.len), node, kind);
            continue;
        }
        at = put_short(at, key.data, key.len);
        at = flat ? put_short(at, chordal__text_of(node)->data, chordal__text_of(node)->bytes)
                  : put_scalar(out, at, node, kind);
    }
    walk->index = i;
    return at;
}

static uint8_t *put_container(chordal__out *out, uint8_t *at, const chordal__node *node, chordal__walk *walks,
                              const chordal__walk *end) {
    chordal__walk *walk = walks;
    at = put_open(out, at, walk, node);
    while (at) {
        const uint8_t *key = NULL;
        size_t key_len = 0;
        if (!CHORDAL__SMALL && walk->container->kind == CHORDAL_KIND_OBJECT && !chordal__is_tree(walk->container))
            at = put_members(out, at, walk);
        node = chordal__next_member(walk, &key, &key_len);
        if (!node) {
            if (walk-- == walks) break;
            continue;
        }
        if (key) at = put_text(out, at, key, key_len);
        unsigned kind = chordal__kind_of(node);
        if (kind < CHORDAL_KIND_ARRAY)
            at = put_scalar(out, at, node, kind);
        else
            at = ++walk < end ? put_open(out, at, walk, node) : chordal__out_fail(out, CHORDAL_E_DEPTH);
    }
    return at;
}

void chordal__pack_write(chordal__buffer *buffer, const chordal__node *node) {
    chordal__out out;
    uint8_t *at = chordal__out_begin(&out, buffer);
    unsigned kind = chordal__kind_of(node);
    if (kind < CHORDAL_KIND_ARRAY)
        at = put_scalar(&out, at, node, kind);
    else
        at = chordal__write_deep(&out, at, node, put_container);
    chordal__out_end(&out, at);
}
