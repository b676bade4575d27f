/* ops_binary.c: paths and ops in the binary part encoding (docs/protocol.md, 6). */
#include "wire/ops.h"

#define NUMBER_END (UINT64_C(1) << 53)

/* The head byte: what bits 3-7 say. */
#define PLACE_SHIFT 3
#define PLACE_MORE 30   /* a varint follows: the dictionary number less 30 */
#define PLACE_INLINE 31 /* an inline path follows */
#define OTHERS 7        /* in bits 0-2 */

/* ---- writing ---- */

void chordal__binary_path_write(chordal__buffer *buffer, const chordal__path *path) {
    chordal__buffer_varint(buffer, path->count);
    for (uint32_t i = 0; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        if (segment->is_key) {
            chordal__buffer_varint(buffer, (uint64_t)segment->key_len * 2 + 1);
            chordal__buffer_put(buffer, segment->key, segment->key_len);
        } else {
            chordal__buffer_varint(buffer, segment->index * 2);
        }
    }
}

void chordal__binary_text_write(chordal__buffer *buffer, const chordal__node *string) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    uint64_t left = chordal__node_string_bytes(string);
    chordal__buffer_varint(buffer, left);
    for (; left && chordal__node_string_piece(string, &at, &piece, &len); left -= len)
        chordal__buffer_put(buffer, piece, len);
}

static void write_place(chordal__buffer *buffer, const chordal__op *op, int64_t id) {
    if (id < 0) {
        chordal__buffer_byte(buffer, (uint8_t)(op->kind | PLACE_INLINE << PLACE_SHIFT));
        chordal__binary_path_write(buffer, op->path);
    } else if (id < PLACE_MORE) {
        chordal__buffer_byte(buffer, (uint8_t)(op->kind | id << PLACE_SHIFT));
    } else {
        chordal__buffer_byte(buffer, (uint8_t)(op->kind | PLACE_MORE << PLACE_SHIFT));
        chordal__buffer_varint(buffer, (uint64_t)id - PLACE_MORE);
    }
}

static void write_splice(chordal__buffer *buffer, const chordal__op *op) {
    chordal__buffer_varint(buffer, op->index);
    chordal__buffer_varint(buffer, op->remove);
    chordal__buffer_varint(buffer, op->value ? chordal__node_length(op->value) : 0);
    if (!op->value) return;
    chordal__walk walk;
    chordal__walk_begin(&walk, op->value);
    for (chordal__node *item; (item = chordal__walk_next(&walk, NULL, NULL));) chordal__pack_write(buffer, item);
}

static void write_arguments(chordal__buffer *buffer, const chordal__op *op) {
    switch (op->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
        chordal__pack_write(buffer, op->value);
        break;
    case CHORDAL_OP_APPEND:
        chordal__binary_text_write(buffer, op->value);
        break;
    case CHORDAL_OP_TRUNCATE:
        chordal__buffer_varint(buffer, op->index);
        break;
    case CHORDAL_OP_SPLICE:
        write_splice(buffer, op);
        break;
    case CHORDAL_OP_PERMUTE:
        chordal__buffer_varint(buffer, op->indexes_len);
        for (uint32_t i = 0; i < op->indexes_len; i++) chordal__buffer_varint(buffer, op->indexes[i]);
        break;
    default:
        break;
    }
}

static void write_other_head(chordal__buffer *buffer, unsigned kind) {
    chordal__buffer_byte(buffer, (uint8_t)(OTHERS | (kind - OTHERS) << PLACE_SHIFT));
}

void chordal__binary_replace_head(chordal__buffer *buffer, uint64_t member) {
    chordal__buffer_byte(buffer, CHORDAL_OP_REPLACE | PLACE_INLINE << PLACE_SHIFT);
    chordal__buffer_byte(buffer, 1);
    chordal__buffer_varint(buffer, member * 2);
}

void chordal__binary_error_write(chordal__buffer *buffer, uint64_t member, const chordal__node *error) {
    write_other_head(buffer, CHORDAL_OP_ERROR);
    chordal__buffer_varint(buffer, member);
    if (error) {
        chordal__binary_text_write(buffer, chordal__node_at(error, 0));
        chordal__binary_text_write(buffer, chordal__node_at(error, 1));
    } else {
        chordal__buffer_put(buffer, "\0\0", 2);
    }
}

/* A short text for a place of the dictionary: most of what streams. False: it is another op. */
static bool write_short_append(chordal__buffer *buffer, const chordal__op *op, int64_t id) {
    const uint8_t *text;
    uint64_t at = 0;
    size_t len;
    if (op->kind != CHORDAL_OP_APPEND || id < 0 || id >= PLACE_MORE) return false;
    if (!chordal__node_string_piece(op->value, &at, &text, &len) || len > 127) return false;
    if (chordal__node_string_bytes(op->value) != len) return false;
    uint8_t *to = chordal__buffer_extend(buffer, len + 2);
    if (!to) return true;
    to[0] = (uint8_t)(CHORDAL_OP_APPEND | id << PLACE_SHIFT);
    to[1] = (uint8_t)len;
    memcpy(to + 2, text, len);
    return true;
}

void chordal__binary_op_write(chordal__buffer *buffer, const chordal__op *op, int64_t id) {
    if (!CHORDAL__SMALL && write_short_append(buffer, op, id)) return;
    if (op->kind < OTHERS) {
        write_place(buffer, op, id);
        write_arguments(buffer, op);
        return;
    }
    if (op->kind == CHORDAL_OP_ERROR) {
        chordal__binary_error_write(buffer, op->path->segments[0].index, op->value);
        return;
    }
    write_other_head(buffer, op->kind);
    if (op->kind == CHORDAL_OP_DEFINE || op->kind == CHORDAL_OP_ASSIGN) chordal__binary_path_write(buffer, op->path);
    if (op->kind == CHORDAL_OP_ASSIGN) chordal__pack_write(buffer, op->value);
}

/* ---- reading ---- */

/* A fault that the base's reader found is at the end when something is cut off, else where it begins. */
static void settle(chordal__reader *in, const uint8_t *start) {
    if (in->failed == CHORDAL_E_TRUNCATED)
        in->at = in->end;
    else if (in->failed)
        in->at = start;
}

static uint64_t read_varint(chordal__part_reader *reader) {
    if (reader->in.failed) return 0;
    const uint8_t *start = reader->in.at;
    uint64_t value = chordal__read_varint(&reader->in);
    settle(&reader->in, start);
    return value;
}

static const uint8_t *read_bytes(chordal__part_reader *reader, uint64_t len) {
    if (reader->in.failed) return NULL;
    const uint8_t *bytes = chordal__read_bytes(&reader->in, len > SIZE_MAX ? SIZE_MAX : (size_t)len);
    settle(&reader->in, reader->in.at);
    return bytes;
}

uint64_t chordal__binary_number(chordal__part_reader *reader) {
    const uint8_t *start = reader->in.at;
    uint64_t value = read_varint(reader);
    if (value < NUMBER_END) return value;
    chordal__token_fail(&reader->in, CHORDAL_E_RANGE, start);
    return 0;
}

uint64_t chordal__binary_count(chordal__part_reader *reader) {
    uint64_t count = read_varint(reader);
    if (count <= chordal__reader_left(&reader->in)) return count;
    chordal__token_fail(&reader->in, CHORDAL_E_TRUNCATED, reader->in.end);
    return 0;
}

static void read_segment(chordal__part_reader *reader) {
    const uint8_t *start = reader->in.at;
    uint64_t head = read_varint(reader);
    if (head & 1) {
        const uint8_t *key = read_bytes(reader, head >> 1);
        chordal__part_path_key(reader, key, (size_t)(head >> 1));
        return;
    }
    if (head >> 1 >= NUMBER_END) chordal__token_fail(&reader->in, CHORDAL_E_RANGE, start);
    chordal__part_path_index(reader, head >> 1);
}

chordal__path *chordal__binary_path(chordal__part_reader *reader) {
    chordal__part_path_begin(reader);
    uint64_t count = chordal__binary_count(reader);
    if (count > reader->limits.depth + UINT64_C(1))
        chordal__token_fail(&reader->in, CHORDAL_E_DEPTH, reader->path_start);
    for (uint64_t i = 0; i < count && !reader->in.failed; i++) read_segment(reader);
    return chordal__part_path_end(reader);
}

chordal__node *chordal__binary_text(chordal__part_reader *reader) {
    const uint8_t *text = reader->in.at;
    size_t left = chordal__reader_left(&reader->in), fault;
    uint64_t len = left ? *text : 0;
    if (!CHORDAL__SMALL && !reader->in.failed && len < 128 && len < left) {
        reader->in.at = ++text + len;
    } else {
        len = read_varint(reader);
        text = read_bytes(reader, len);
        if (!text) return NULL;
    }
    chordal__node *node = chordal__node_text(reader->memory, text, (size_t)len, &fault);
    if (!node && fault != SIZE_MAX) {
        chordal__token_fail(&reader->in, CHORDAL_E_UTF8, text + fault);
        return NULL;
    }
    return chordal__part_checked(reader, node);
}

chordal__node *chordal__binary_value(chordal__part_reader *reader) {
    if (reader->in.failed) return NULL;
    chordal__node *value = NULL;
    chordal_error error = {0};
    int code = chordal__pack_read_value(reader->memory, &reader->in, &reader->limits, &value, &error);
    if (code == 0) return value;
    reader->in.failed = 0;
    chordal__token_fail(&reader->in, code, reader->in.data + error.position);
    return NULL;
}

static chordal__path *read_place(chordal__part_reader *reader, unsigned place, const uint8_t *start) {
    if (place == PLACE_INLINE) return chordal__binary_path(reader);
    uint64_t number = place;
    if (place == PLACE_MORE) number += chordal__binary_number(reader);
    return chordal__part_defined(reader, number, start);
}

/* The values of a splice, NULL for none. */
static chordal__node *read_values(chordal__part_reader *reader) {
    uint64_t count = chordal__binary_count(reader);
    if (!count) return NULL;
    size_t size = (size_t)count * sizeof(chordal__node *), have = 0;
    chordal__node **items = chordal__part_checked(reader, chordal__allocate(reader->memory, size));
    chordal__node *array = NULL;
    while (items && have < count && (items[have] = chordal__binary_value(reader))) have++;
    if (items && have == count) {
        array = chordal__part_checked(reader, chordal__node_array(reader->memory, items, have));
    }
    for (size_t i = 0; i < have; i++) chordal__node_unref(reader->memory, items[i]);
    chordal__release(reader->memory, items, size);
    return array;
}

static void read_indexes(chordal__part_reader *reader, chordal__op *out) {
    uint64_t count = chordal__binary_count(reader);
    if (count > UINT32_MAX) chordal__token_fail(&reader->in, CHORDAL_E_RANGE, reader->in.at);
    if (!count || reader->in.failed) return;
    out->indexes = chordal__part_checked(reader, chordal__allocate(reader->memory, (size_t)count * sizeof(uint32_t)));
    if (!out->indexes) return;
    out->indexes_len = (uint32_t)count;
    for (size_t i = 0; i < count && !reader->in.failed; i++) {
        const uint8_t *start = reader->in.at;
        uint64_t index = read_varint(reader);
        if (index >= count) chordal__token_fail(&reader->in, CHORDAL_E_PERMUTATION, start);
        out->indexes[i] = (uint32_t)index;
    }
}

static void read_arguments(chordal__part_reader *reader, chordal__op *out) {
    switch (out->kind) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
        out->value = chordal__binary_value(reader);
        break;
    case CHORDAL_OP_APPEND:
        out->value = chordal__binary_text(reader);
        break;
    case CHORDAL_OP_TRUNCATE:
        out->index = chordal__binary_number(reader);
        break;
    case CHORDAL_OP_SPLICE:
        out->index = chordal__binary_number(reader);
        out->remove = chordal__binary_number(reader);
        out->value = read_values(reader);
        break;
    case CHORDAL_OP_PERMUTE:
        read_indexes(reader, out);
        break;
    default:
        break;
    }
}

static void read_error(chordal__part_reader *reader, chordal__op *out) {
    out->path = chordal__part_member(reader, chordal__binary_number(reader));
    const uint8_t *start = reader->in.at;
    chordal__node *code = chordal__binary_text(reader);
    out->value = chordal__part_error(reader, code, chordal__binary_text(reader), start);
}

void chordal__binary_op(chordal__part_reader *reader, chordal__op *out) {
    const uint8_t *start = reader->in.at;
    uint8_t head = chordal__read_byte(&reader->in);
    unsigned place = head >> PLACE_SHIFT;
    out->kind = head & OTHERS;
    if (out->kind < OTHERS) {
        out->path = read_place(reader, place, start);
        read_arguments(reader, out);
        return;
    }
    out->kind = (uint8_t)(OTHERS + place);
    switch (out->kind) {
    case CHORDAL_OP_DEFINE:
        out->path = chordal__binary_path(reader);
        break;
    case CHORDAL_OP_ERROR:
        read_error(reader, out);
        break;
    case CHORDAL_OP_ASSIGN:
        out->path = chordal__binary_path(reader);
        out->value = chordal__binary_value(reader);
        break;
    case CHORDAL_OP_GENERATION:
        break;
    default:
        chordal__token_fail(&reader->in, CHORDAL_E_SYNTAX, start);
        break;
    }
}
