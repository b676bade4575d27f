/* vectors_ops.h: native ops of the vectors to ops, for the programs that run them. */
#ifndef CHORDAL_TESTS_UNIT_VECTORS_OPS_H
#define CHORDAL_TESTS_UNIT_VECTORS_OPS_H

#include "vectors.h"
#include "wire/wire.h"

/* The part of a case in an encoding. */
static inline bytes part_of(const chordal__node *from, uint8_t encoding) {
    if (encoding == CHORDAL__ENCODING_BINARY) return hex_of(need(from, "binary"));
    return field(from, "json_hex") ? hex_of(field(from, "json_hex")) : text_of(need(from, "json"));
}

static inline chordal__path *path_of(const chordal__node *list) {
    size_t count = (size_t)chordal__node_length(list);
    chordal__segment *segments = calloc(count + 1, sizeof *segments);
    bytes *keys = calloc(count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        const chordal__node *one = chordal__node_at(list, i);
        if (chordal__node_kind(one) != CHORDAL_KIND_STRING) {
            segments[i].index = number_of(one);
            continue;
        }
        keys[i] = text_of(one);
        segments[i] = (chordal__segment){.is_key = true, .key = keys[i].data, .key_len = (uint32_t)keys[i].len};
    }
    chordal__path *path = chordal__path_new(memory, segments, count);
    for (size_t i = 0; i < count; i++) free(keys[i].data);
    free(keys);
    free(segments);
    return path;
}

static inline uint8_t kind_of(const chordal__node *native) {
    static const char *names[] = {"replace", "set",    "delete", "append", "truncate",  "splice",
                                  "permute", "define", "error",  "assign", "generation"};
    for (uint8_t kind = 0; kind < sizeof names / sizeof *names; kind++) {
        if (is_text(need(native, "op"), names[kind])) return kind;
    }
    CHECK_FAIL("an op that this runner does not know");
    exit(1);
}

static inline chordal__node *error_of(const chordal__node *native) {
    chordal__node *items[] = {need(native, "code"), need(native, "message")};
    return chordal__node_string_bytes(items[0]) ? chordal__node_array(memory, items, 2) : NULL;
}

static inline void take_indexes(const chordal__node *list, chordal__op *out) {
    out->indexes_len = (uint32_t)chordal__node_length(list);
    out->indexes = chordal__allocate(memory, out->indexes_len * sizeof *out->indexes);
    for (uint32_t i = 0; i < out->indexes_len; i++) out->indexes[i] = (uint32_t)number_of(chordal__node_at(list, i));
}

static inline chordal__op op_of(const chordal__node *native) {
    chordal__op op = {.kind = kind_of(native)};
    chordal__node *path = field(native, "path"), *values = field(native, "values");
    check_fields(native, " op path value text count index remove values indexes member code message ");
    if (path) op.path = path_of(path);
    if (field(native, "value")) op.value = native_of(field(native, "value"));
    if (field(native, "text")) op.value = chordal__node_ref(field(native, "text"));
    if (values && chordal__node_length(values)) op.value = native_of(values);
    if (field(native, "indexes")) take_indexes(field(native, "indexes"), &op);
    op.index = number_or(native, "index", number_or(native, "count", 0));
    op.remove = number_or(native, "remove", 0);
    if (op.kind != CHORDAL_OP_ERROR) return op;
    chordal__segment member = {.index = number_of(need(native, "member"))};
    op.path = chordal__path_new(memory, &member, 1);
    op.value = error_of(native);
    return op;
}

static inline chordal__ops ops_of(const chordal__node *list) {
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    for (uint64_t i = 0; i < chordal__node_length(list); i++) {
        CHECK_INT(chordal__ops_push(&ops, op_of(chordal__node_at(list, i))), 0);
    }
    return ops;
}

#endif
