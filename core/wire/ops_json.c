/* ops_json.c: paths and ops in the JSON part encoding (docs/protocol.md, 6). */
#include "wire/ops.h"

#define LETTER(name, letter, number, arguments) [number] = letter,
static const char letters[CHORDAL_OP_END] = {CHORDAL_OPS(LETTER)};

/* ---- writing: each thing with a comma behind it ---- */

static void write_number(chordal__buffer *buffer, uint64_t number) {
    chordal__buffer_decimal(buffer, number);
    chordal__buffer_byte(buffer, ',');
}

static void write_value(chordal__buffer *buffer, const chordal__node *value) {
    chordal__json_write(buffer, value);
    chordal__buffer_byte(buffer, ',');
}

void chordal__json_path_write(chordal__buffer *buffer, const chordal__path *path) {
    uint8_t opener = '[';
    for (uint32_t i = 0; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        chordal__buffer_byte(buffer, opener);
        if (segment->is_key)
            chordal__json_write_string(buffer, segment->key, segment->key_len);
        else
            chordal__buffer_decimal(buffer, segment->index);
        opener = ',';
    }
    chordal__buffer_byte(buffer, ']');
}

static void write_place(chordal__buffer *buffer, const chordal__op *op, int64_t id) {
    if (op->kind == CHORDAL_OP_GENERATION) return;
    if (op->kind == CHORDAL_OP_ERROR) {
        write_number(buffer, op->path->segments[0].index);
    } else if (id >= 0) {
        write_number(buffer, (uint64_t)id);
    } else {
        chordal__json_path_write(buffer, op->path);
        chordal__buffer_byte(buffer, ',');
    }
}

static void write_splice(chordal__buffer *buffer, const chordal__op *op) {
    write_number(buffer, op->index);
    write_number(buffer, op->remove);
    if (op->value)
        write_value(buffer, op->value);
    else
        chordal__buffer_text(buffer, "[],");
}

static void write_indexes(chordal__buffer *buffer, const chordal__op *op) {
    chordal__buffer_byte(buffer, '[');
    for (uint32_t i = 0; i < op->indexes_len; i++) {
        if (i) chordal__buffer_byte(buffer, ',');
        chordal__buffer_decimal(buffer, op->indexes[i]);
    }
    chordal__buffer_text(buffer, "],");
}

static void write_error(chordal__buffer *buffer, const chordal__op *op) {
    if (op->value) {
        write_value(buffer, chordal__node_at(op->value, 0));
        write_value(buffer, chordal__node_at(op->value, 1));
    } else {
        chordal__buffer_text(buffer, "\"\",\"\",");
    }
}

void chordal__json_op_write(chordal__buffer *buffer, const chordal__op *op, int64_t id) {
    chordal__buffer_byte(buffer, '"');
    chordal__buffer_byte(buffer, (uint8_t)letters[op->kind]);
    chordal__buffer_text(buffer, "\",");
    write_place(buffer, op, id);
    switch (op->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
    case CHORDAL_OP_ASSIGN:
    case CHORDAL_OP_APPEND:
        write_value(buffer, op->value);
        break;
    case CHORDAL_OP_TRUNCATE:
        write_number(buffer, op->index);
        break;
    case CHORDAL_OP_SPLICE:
        write_splice(buffer, op);
        break;
    case CHORDAL_OP_PERMUTE:
        write_indexes(buffer, op);
        break;
    case CHORDAL_OP_ERROR:
        write_error(buffer, op);
        break;
    default:
        break;
    }
}

/* ---- reading ---- */

chordal__node *chordal__json_value(chordal__part_reader *reader) {
    chordal__token_peek(&reader->in);
    if (reader->in.failed) return NULL;
    chordal__node *value = NULL;
    chordal_error error = {0};
    int code = chordal__json_read_value(reader->memory, &reader->in, &reader->limits, &value, &error);
    if (code == 0) return value;
    reader->in.failed = 0;
    chordal__token_fail(&reader->in, code, reader->in.data + error.position);
    return NULL;
}

/* A value that begins with `opener`: a string, an array. */
static chordal__node *read_kind(chordal__part_reader *reader, uint8_t opener) {
    if (chordal__token_peek(&reader->in) != opener) chordal__token_unexpected(&reader->in);
    return chordal__json_value(reader);
}

chordal__node *chordal__json_text(chordal__part_reader *reader) {
    return read_kind(reader, '"');
}

static void read_key(chordal__part_reader *reader) {
    size_t len;
    bool escaped;
    const uint8_t *start = reader->in.at;
    const uint8_t *key = chordal__token_string(&reader->in, &len, &escaped);
    if (!escaped || reader->in.failed) {
        chordal__part_path_key(reader, key, len);
        return;
    }
    reader->in.at = start;
    chordal__node *node = chordal__json_value(reader);
    if (node) chordal__part_path_copy(reader, node);
    chordal__node_unref(reader->memory, node);
}

chordal__path *chordal__json_path(chordal__part_reader *reader) {
    chordal__token_peek(&reader->in);
    chordal__part_path_begin(reader);
    chordal__token_expect(&reader->in, '[');
    for (size_t i = 0; !reader->in.failed && chordal__token_next(&reader->in, i); i++) {
        if (chordal__token_peek(&reader->in) == '"')
            read_key(reader);
        else
            chordal__part_path_index(reader, chordal__token_number(&reader->in));
    }
    return chordal__part_path_end(reader);
}

static uint64_t next_number(chordal__part_reader *reader) {
    chordal__token_expect(&reader->in, ',');
    return chordal__token_number(&reader->in);
}

static chordal__path *read_place(chordal__part_reader *reader, uint8_t kind) {
    chordal__token_expect(&reader->in, ',');
    if (kind == CHORDAL_OP_ERROR) return chordal__part_member(reader, chordal__token_number(&reader->in));
    bool is_inline = kind >= CHORDAL_OP_DEFINE || chordal__token_peek(&reader->in) == '[';
    if (is_inline) return chordal__json_path(reader);
    const uint8_t *start = reader->in.at;
    return chordal__part_defined(reader, chordal__token_number(&reader->in), start);
}

static void read_splice(chordal__part_reader *reader, chordal__op *out) {
    out->index = next_number(reader);
    out->remove = next_number(reader);
    chordal__token_expect(&reader->in, ',');
    out->value = read_kind(reader, '[');
    if (!out->value || chordal__node_length(out->value)) return;
    chordal__node_unref(reader->memory, out->value);
    out->value = NULL;
}

static void add_index(chordal__part_reader *reader, chordal__op *out, size_t *capacity) {
    const uint8_t *start = (chordal__token_peek(&reader->in), reader->in.at);
    uint64_t index = chordal__token_number(&reader->in);
    if (index > UINT32_MAX) chordal__token_fail(&reader->in, CHORDAL_E_PERMUTATION, start);
    if (reader->in.failed) return;
    void *indexes = out->indexes;
    size_t need = (size_t)out->indexes_len + 1;
    int code = chordal__grow(reader->memory, &indexes, sizeof *out->indexes, capacity, need, UINT32_MAX);
    out->indexes = indexes;
    if (code != 0)
        chordal__token_fail(&reader->in, CHORDAL_E_NOMEM, start);
    else
        out->indexes[out->indexes_len++] = (uint32_t)index;
}

/* An op owns a block of just its indexes. */
static void shrink_indexes(chordal__part_reader *reader, chordal__op *out, size_t capacity) {
    size_t have = capacity * sizeof *out->indexes, need = out->indexes_len * sizeof *out->indexes;
    uint32_t *fit = need == have ? out->indexes : NULL;
    if (!fit && !reader->in.failed && need) {
        fit = chordal__part_checked(reader, chordal__resize(reader->memory, out->indexes, have, need));
    }
    if (!fit) {
        chordal__release(reader->memory, out->indexes, have);
        out->indexes_len = 0;
    }
    out->indexes = fit;
}

static void read_indexes(chordal__part_reader *reader, chordal__op *out) {
    size_t capacity = 0;
    chordal__token_expect(&reader->in, ',');
    chordal__token_peek(&reader->in);
    const uint8_t *start = reader->in.at;
    chordal__token_expect(&reader->in, '[');
    for (size_t i = 0; !reader->in.failed && chordal__token_next(&reader->in, i); i++) {
        add_index(reader, out, &capacity);
    }
    for (uint32_t i = 0; i < out->indexes_len; i++) {
        if (out->indexes[i] >= out->indexes_len) chordal__token_fail(&reader->in, CHORDAL_E_PERMUTATION, start);
    }
    shrink_indexes(reader, out, capacity);
}

static void read_error(chordal__part_reader *reader, chordal__op *out) {
    chordal__token_expect(&reader->in, ',');
    chordal__token_peek(&reader->in);
    const uint8_t *start = reader->in.at;
    chordal__node *code = chordal__json_text(reader);
    chordal__token_expect(&reader->in, ',');
    out->value = chordal__part_error(reader, code, chordal__json_text(reader), start);
}

static void read_arguments(chordal__part_reader *reader, chordal__op *out) {
    switch (out->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
    case CHORDAL_OP_ASSIGN:
        chordal__token_expect(&reader->in, ',');
        out->value = chordal__json_value(reader);
        break;
    case CHORDAL_OP_APPEND:
        chordal__token_expect(&reader->in, ',');
        out->value = chordal__json_text(reader);
        break;
    case CHORDAL_OP_TRUNCATE:
        out->index = next_number(reader);
        break;
    case CHORDAL_OP_SPLICE:
        read_splice(reader, out);
        break;
    case CHORDAL_OP_PERMUTE:
        read_indexes(reader, out);
        break;
    case CHORDAL_OP_ERROR:
        read_error(reader, out);
        break;
    default:
        break;
    }
}

void chordal__json_op(chordal__part_reader *reader, chordal__op *out) {
    size_t len;
    bool escaped;
    chordal__token_peek(&reader->in);
    const uint8_t *start = reader->in.at;
    const uint8_t *letter = chordal__token_string(&reader->in, &len, &escaped);
    const char *found = letter && len == 1 && *letter ? memchr(letters, *letter, sizeof letters) : NULL;
    if (!found) chordal__token_fail(&reader->in, CHORDAL_E_SYNTAX, start);
    if (reader->in.failed) return;
    out->kind = (uint8_t)(found - letters);
    if (out->kind != CHORDAL_OP_GENERATION) out->path = read_place(reader, out->kind);
    if (!reader->in.failed) read_arguments(reader, out);
}
