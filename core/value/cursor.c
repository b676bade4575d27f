/* cursor.c: reading a value place by place. */
#include "value/node.h"

static const chordal__node *node_of(const chordal_cursor *cursor) {
    return cursor ? cursor->place[0] : NULL;
}

static void set(chordal_cursor *out, const chordal__node *node) {
    *out = (chordal_cursor){.place = {node}};
}

static bool is(const chordal__node *node, int kind) {
    return node && chordal__node_kind(node) == kind;
}

void chordal_cursor_root(const chordal_value *value, chordal_cursor *out) {
    if (out) set(out, value ? chordal__box_node(value) : NULL);
}

int32_t chordal_cursor_kind(const chordal_cursor *cursor) {
    return node_of(cursor) ? chordal__node_kind(node_of(cursor)) : CHORDAL_E_INVALID;
}

uint64_t chordal_cursor_length(const chordal_cursor *cursor) {
    return node_of(cursor) ? chordal__node_length(node_of(cursor)) : 0;
}

int chordal_cursor_at(const chordal_cursor *cursor, uint64_t index, chordal_cursor *out) {
    const chordal__node *node = node_of(cursor);
    const uint8_t *key;
    size_t key_len;
    chordal__node *found;
    if (!node || !out) return CHORDAL_E_INVALID;
    if (is(node, CHORDAL_KIND_ARRAY)) {
        found = chordal__node_at(node, index);
        if (!found) return CHORDAL_E_RANGE;
    } else {
        if (!is(node, CHORDAL_KIND_OBJECT)) return CHORDAL_E_TYPE;
        if (!chordal__node_member(node, index, &key, &key_len, &found)) return CHORDAL_E_RANGE;
    }
    set(out, found);
    return 0;
}

int chordal_cursor_get(const chordal_cursor *cursor, const char *key, size_t key_len, chordal_cursor *out) {
    const chordal__node *node = node_of(cursor);
    if (!node || !out || (!key && key_len)) return CHORDAL_E_INVALID;
    if (!is(node, CHORDAL_KIND_OBJECT)) return CHORDAL_E_TYPE;
    const chordal__node *found = chordal__node_get(node, key ? key : "", key_len);
    if (!found) return CHORDAL_E_NOT_FOUND;
    set(out, found);
    return 0;
}

int chordal_cursor_key(const chordal_cursor *cursor, uint64_t index, const char **out_key, size_t *out_len) {
    const chordal__node *node = node_of(cursor);
    const uint8_t *key;
    chordal__node *value;
    if (!node || !out_key || !out_len) return CHORDAL_E_INVALID;
    if (!is(node, CHORDAL_KIND_OBJECT)) return CHORDAL_E_TYPE;
    if (!chordal__node_member(node, index, &key, out_len, &value)) return CHORDAL_E_RANGE;
    *out_key = (const char *)key;
    return 0;
}

static int read_number(const chordal_cursor *cursor, const void *out, chordal__number *number) {
    const chordal__node *node = node_of(cursor);
    if (!node || !out) return CHORDAL_E_INVALID;
    int kind = chordal__node_kind(node);
    if (kind < CHORDAL_KIND_INTEGER || kind > CHORDAL_KIND_DOUBLE) return CHORDAL_E_TYPE;
    chordal__node_get_number(node, number);
    return 0;
}

/* A double that is an integer is read as one. */
int chordal_cursor_integer(const chordal_cursor *cursor, int64_t *out) {
    chordal__number number;
    int code = read_number(cursor, out, &number);
    if (code) return code;
    if (number.kind == CHORDAL_KIND_UNSIGNED) return CHORDAL_E_RANGE;
    if (number.kind == CHORDAL_KIND_DOUBLE) {
        if (!(number.as.real >= -0x1p63 && number.as.real < 0x1p63)) return CHORDAL_E_RANGE;
        if ((double)(int64_t)number.as.real != number.as.real) return CHORDAL_E_RANGE;
        number.as.integer = (int64_t)number.as.real;
    }
    *out = number.as.integer;
    return 0;
}

int chordal_cursor_unsigned(const chordal_cursor *cursor, uint64_t *out) {
    chordal__number number;
    int code = read_number(cursor, out, &number);
    if (code) return code;
    if (number.kind == CHORDAL_KIND_INTEGER && number.as.integer < 0) return CHORDAL_E_RANGE;
    if (number.kind == CHORDAL_KIND_DOUBLE) {
        if (!(number.as.real >= 0 && number.as.real < 0x1p64)) return CHORDAL_E_RANGE;
        if ((double)(uint64_t)number.as.real != number.as.real) return CHORDAL_E_RANGE;
        number.as.unsigned_integer = (uint64_t)number.as.real;
    }
    *out = number.as.unsigned_integer;
    return 0;
}

/* The nearest double. */
int chordal_cursor_double(const chordal_cursor *cursor, double *out) {
    chordal__number number;
    int code = read_number(cursor, out, &number);
    if (code) return code;
    if (number.kind == CHORDAL_KIND_INTEGER)
        *out = (double)number.as.integer;
    else if (number.kind == CHORDAL_KIND_UNSIGNED)
        *out = (double)number.as.unsigned_integer;
    else
        *out = number.as.real;
    return 0;
}

int chordal_cursor_string(const chordal_cursor *cursor, char *buffer, size_t buffer_len, size_t *out_len) {
    const chordal__node *node = node_of(cursor);
    if (!node || !out_len || (!buffer && buffer_len)) return CHORDAL_E_INVALID;
    if (!is(node, CHORDAL_KIND_STRING)) return CHORDAL_E_TYPE;
    uint64_t bytes = chordal__node_string_bytes(node), at = 0;
    *out_len = (size_t)bytes;
    if (bytes > buffer_len) return CHORDAL_E_ROOM;
    const uint8_t *data;
    size_t len;
    while (chordal__node_string_piece(node, &at, &data, &len)) {
        memcpy(buffer, data, len);
        buffer += len;
    }
    return 0;
}
