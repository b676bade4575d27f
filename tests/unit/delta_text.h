/* delta_text.h: values and ops as JSON text (docs/protocol.md, "Ops"), for the tests of room delta. */
#ifndef CHORDAL_TESTS_UNIT_DELTA_TEXT_H
#define CHORDAL_TESTS_UNIT_DELTA_TEXT_H

#include "check.h"

#include "delta/delta.h"

static inline chordal__node *value_of(chordal__memory *memory, const char *json) {
    chordal__limits limits = {.depth = 512, .size = 1 << 28};
    chordal__node *node = NULL;
    chordal_error error = {0};
    int code = chordal__json_read(memory, (const uint8_t *)json, strlen(json), &limits, &node, &error);
    if (code != 0) CHECK_FAIL("%s: code %d at %" PRIu64, json, code, (uint64_t)error.position);
    return node;
}

static inline chordal__path *path_of(chordal__memory *memory, const chordal__node *segments) {
    chordal__segment list[600];
    uint8_t keys[4096];
    size_t count = 0, used = 0;
    chordal__walk walk;
    chordal__walk_begin(&walk, segments);
    for (chordal__node *one; (one = chordal__walk_next(&walk, NULL, NULL)); count++) {
        chordal__number number;
        if (chordal__node_kind(one) != CHORDAL_KIND_STRING) {
            chordal__node_get_number(one, &number);
            list[count] = (chordal__segment){.index = (uint64_t)number.as.integer};
            continue;
        }
        const uint8_t *data = NULL;
        size_t len = 0;
        uint64_t at = 0;
        if (chordal__node_string_piece(one, &at, &data, &len)) memcpy(keys + used, data, len);
        list[count] = (chordal__segment){.is_key = true, .key_len = (uint32_t)len, .key = keys + used};
        used += len;
    }
    return chordal__path_new(memory, list, count);
}

static inline uint64_t index_of(const chordal__node *node) {
    chordal__number number;
    chordal__node_get_number(node, &number);
    return (uint64_t)number.as.integer;
}

static inline void read_indexes(chordal__memory *memory, const chordal__node *list, chordal__op *op) {
    op->indexes_len = (uint32_t)chordal__node_length(list);
    op->indexes = chordal__allocate(memory, op->indexes_len * sizeof *op->indexes);
    for (uint32_t i = 0; i < op->indexes_len; i++) op->indexes[i] = (uint32_t)index_of(chordal__node_at(list, i));
}

static const char op_letters[] = "rsdatpm#!=*";

/* One op from a flat list at *at, which moves behind it. */
static inline chordal__op read_op(chordal__memory *memory, const chordal__node *list, uint64_t *at) {
    const uint8_t *letter = NULL;
    size_t len = 0;
    uint64_t piece = 0;
    chordal__op op = {0};
    chordal__node_string_piece(chordal__node_at(list, (*at)++), &piece, &letter, &len);
    op.kind = (uint8_t)(strchr(op_letters, (int)letter[0]) - op_letters);
    chordal__node *place = chordal__node_at(list, (*at)++);
    if (op.kind == CHORDAL_OP_ERROR) {
        op.path = chordal__path_new(memory, &(chordal__segment){.index = index_of(chordal__node_at(place, 0))}, 1);
        chordal__node *items[2] = {chordal__node_at(list, *at), chordal__node_at(list, *at + 1)};
        if (chordal__node_length(items[0]) > 0) op.value = chordal__node_array(memory, items, 2);
        *at += 2;
        return op;
    }
    op.path = path_of(memory, place);
    if (op.kind == CHORDAL_OP_DELETE) return op;
    if (op.kind == CHORDAL_OP_TRUNCATE || op.kind == CHORDAL_OP_SPLICE) {
        op.index = index_of(chordal__node_at(list, (*at)++));
        if (op.kind == CHORDAL_OP_TRUNCATE) return op;
        op.remove = index_of(chordal__node_at(list, (*at)++));
    }
    chordal__node *value = chordal__node_at(list, (*at)++);
    if (op.kind == CHORDAL_OP_PERMUTE) {
        read_indexes(memory, value, &op);
    } else if (op.kind != CHORDAL_OP_SPLICE || chordal__node_length(value) > 0) {
        op.value = chordal__node_ref(value);
    }
    return op;
}

static inline void ops_of(chordal__ops *ops, chordal__memory *memory, const char *json) {
    chordal__ops_init(ops, memory);
    chordal__node *list = value_of(memory, json);
    for (uint64_t at = 0; at < chordal__node_length(list);)
        CHECK_INT(chordal__ops_push(ops, read_op(memory, list, &at)), 0);
    chordal__node_unref(memory, list);
}

static inline chordal__op op_of(chordal__memory *memory, const char *json) {
    chordal__node *list = value_of(memory, json);
    uint64_t at = 0;
    chordal__op op = read_op(memory, list, &at);
    CHECK_INT(at, chordal__node_length(list));
    chordal__node_unref(memory, list);
    return op;
}

static inline void write_path(chordal__buffer *buffer, const chordal__path *path) {
    chordal__buffer_byte(buffer, '[');
    for (uint32_t i = 0; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        if (i > 0) chordal__buffer_byte(buffer, ',');
        if (segment->is_key) {
            chordal__json_write_string(buffer, segment->key, segment->key_len);
        } else {
            chordal__buffer_decimal(buffer, segment->index);
        }
    }
    chordal__buffer_byte(buffer, ']');
}

static inline void write_rest(chordal__buffer *buffer, const chordal__op *op) {
    if (op->kind == CHORDAL_OP_TRUNCATE || op->kind == CHORDAL_OP_SPLICE) {
        chordal__buffer_byte(buffer, ',');
        chordal__buffer_decimal(buffer, op->index);
    }
    if (op->kind == CHORDAL_OP_SPLICE) {
        chordal__buffer_byte(buffer, ',');
        chordal__buffer_decimal(buffer, op->remove);
        if (!op->value) chordal__buffer_text(buffer, ",[]");
    }
    if (op->kind == CHORDAL_OP_PERMUTE) {
        chordal__buffer_text(buffer, ",[");
        for (uint32_t i = 0; i < op->indexes_len; i++) {
            if (i > 0) chordal__buffer_byte(buffer, ',');
            chordal__buffer_decimal(buffer, op->indexes[i]);
        }
        chordal__buffer_byte(buffer, ']');
    }
    if (op->value) {
        chordal__buffer_byte(buffer, ',');
        chordal__json_write(buffer, op->value);
    }
}

/* An error is written with its value as an array, or without when it clears. */
static inline void write_ops(chordal__buffer *buffer, const chordal__ops *ops) {
    chordal__buffer_byte(buffer, '[');
    for (size_t i = 0; i < ops->count; i++) {
        if (i > 0) chordal__buffer_byte(buffer, ',');
        chordal__buffer_byte(buffer, '"');
        chordal__buffer_byte(buffer, (uint8_t)op_letters[ops->items[i].kind]);
        chordal__buffer_text(buffer, "\",");
        write_path(buffer, ops->items[i].path);
        write_rest(buffer, &ops->items[i]);
    }
    chordal__buffer_byte(buffer, ']');
}

#define CHECK_OPS(ops, expected)                                                                                       \
    do {                                                                                                               \
        chordal__buffer check_buffer;                                                                                  \
        chordal__buffer_init(&check_buffer, (ops)->memory, SIZE_MAX);                                                  \
        write_ops(&check_buffer, ops);                                                                                 \
        CHECK_BYTES((const char *)check_buffer.data, check_buffer.len, expected, strlen(expected));                    \
        chordal__buffer_dispose(&check_buffer);                                                                        \
    } while (0)

#define CHECK_VALUE(owner, node, expected)                                                                             \
    do {                                                                                                               \
        chordal__buffer check_buffer;                                                                                  \
        chordal__node *check_node = value_of(owner, expected);                                                         \
        chordal__buffer_init(&check_buffer, owner, SIZE_MAX);                                                          \
        if (node) chordal__json_write(&check_buffer, node);                                                            \
        if (!(node) || !chordal__node_equal(node, check_node))                                                         \
            CHECK_FAIL("%s is %.*s, not %s", #node, (int)check_buffer.len, (const char *)check_buffer.data, expected); \
        chordal__buffer_dispose(&check_buffer);                                                                        \
        chordal__node_unref(owner, check_node);                                                                        \
    } while (0)

/* The memory of a test: all of it must be back at the end. */
static inline chordal__memory *memory_open(void) {
    return chordal__memory_new(NULL, UINT64_MAX);
}
static inline void memory_close(chordal__memory *memory) {
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

#endif
