/* ops.c: whole changes: ops, and the definitions that they stand on. */
#include "wire/ops.h"

/* ---- writing ---- */

static void write_op(chordal__buffer *buffer, uint8_t encoding, const chordal__op *op,
                     const chordal__dictionary *dictionary) {
    bool inline_only = op->kind >= CHORDAL_OP_DEFINE || !dictionary;
    int64_t id = inline_only ? -1 : chordal__dictionary_id(dictionary, op->path);
    if (encoding == CHORDAL__ENCODING_JSON)
        chordal__json_op_write(buffer, op, id);
    else
        chordal__binary_op_write(buffer, op, id);
}

/* In JSON all ops of a part are one array; each is written with a comma behind it, in whose place the array ends. */
static size_t open_ops(chordal__buffer *buffer, uint8_t encoding) {
    if (encoding == CHORDAL__ENCODING_JSON) chordal__buffer_byte(buffer, '[');
    return buffer->len;
}

static void close_ops(chordal__buffer *buffer, uint8_t encoding, size_t start) {
    if (encoding != CHORDAL__ENCODING_JSON || buffer->failed) return;
    if (buffer->len > start)
        buffer->data[buffer->len - 1] = ']';
    else
        chordal__buffer_byte(buffer, ']');
}

static void write_ops(chordal__buffer *buffer, uint8_t encoding, const chordal__ops *ops,
                      const chordal__dictionary *dictionary) {
    for (size_t i = 0; i < ops->count; i++) write_op(buffer, encoding, &ops->items[i], dictionary);
}

void chordal__ops_write(chordal__buffer *buffer, uint8_t encoding, const chordal__ops *ops,
                        const chordal__dictionary *dictionary) {
    size_t start = open_ops(buffer, encoding);
    write_ops(buffer, encoding, ops, dictionary);
    close_ops(buffer, encoding, start);
}

static void write_definitions(chordal__buffer *buffer, uint8_t encoding, const chordal__dictionary *dictionary,
                              uint64_t from, uint64_t to) {
    bool begins = dictionary->generation_cut > from && dictionary->generation_cut <= to;
    if (begins) write_op(buffer, encoding, &(chordal__op){.kind = CHORDAL_OP_GENERATION}, NULL);
    size_t first = begins ? 0 : dictionary->count; /* the later an entry is, the later is its cut */
    while (first && dictionary->entries[first - 1].cut > from) first--;
    for (size_t i = first; i < dictionary->count; i++) {
        const chordal__dictionary_entry *entry = &dictionary->entries[i];
        if (entry->cut > to) break;
        write_op(buffer, encoding, &(chordal__op){.kind = CHORDAL_OP_DEFINE, .path = entry->path}, NULL);
    }
}

void chordal__change_write(chordal__buffer *buffer, uint8_t encoding, const chordal__dictionary *dictionary,
                           uint64_t from, uint64_t to, const chordal__ops *ops) {
    size_t start = open_ops(buffer, encoding);
    write_definitions(buffer, encoding, dictionary, from, to);
    write_ops(buffer, encoding, ops, dictionary);
    close_ops(buffer, encoding, start);
}

/* ---- reading ---- */

/* What an op must be, apart from its form. */
static int check_op(const chordal__part_reader *reader, const chordal__op *op) {
    switch (op->kind) {
    case CHORDAL_OP_DEFINE:
    case CHORDAL_OP_GENERATION:
        return reader->dictionary ? 0 : CHORDAL_E_SYNTAX;
    case CHORDAL_OP_ASSIGN:
        return reader->dictionary ? CHORDAL_E_SYNTAX : 0;
    case CHORDAL_OP_REPLACE:
        return op->path->count == 1 ? 0 : CHORDAL_E_PATH;
    default:
        return 0;
    }
}

/* Carry out what is for the dictionary, keep the rest. */
static int take_op(chordal__part_reader *reader, chordal__ops *ops, chordal__op *op) {
    int code = 0;
    if (op->kind == CHORDAL_OP_GENERATION) {
        chordal__dictionary_reset(reader->dictionary, reader->cut);
    } else if (op->kind == CHORDAL_OP_DEFINE) {
        code = chordal__dictionary_define(reader->dictionary, op->path, reader->cut);
    } else {
        chordal__ops_keep(ops);
        return 0;
    }
    chordal__op_dispose(reader->memory, op);
    return code;
}

static void read_op(chordal__part_reader *reader, uint8_t encoding, chordal__ops *ops) {
    chordal__op *op = chordal__part_checked(reader, chordal__ops_next(ops));
    if (!op) return;
    if (encoding == CHORDAL__ENCODING_JSON) chordal__token_peek(&reader->in);
    const uint8_t *start = reader->in.at;
    if (encoding == CHORDAL__ENCODING_JSON)
        chordal__json_op(reader, op);
    else
        chordal__binary_op(reader, op);
    if (!reader->in.failed) {
        int code = check_op(reader, op);
        if (code != 0) chordal__token_fail(&reader->in, code, start);
    }
    if (reader->in.failed) {
        chordal__op_dispose(reader->memory, op);
        return;
    }
    int code = take_op(reader, ops, op);
    if (code != 0) chordal__token_fail(&reader->in, code, start);
}

static void read_json(chordal__part_reader *reader, chordal__ops *ops) {
    chordal__token_expect(&reader->in, '[');
    for (size_t i = 0; !reader->in.failed && chordal__token_next(&reader->in, i); i++) {
        read_op(reader, CHORDAL__ENCODING_JSON, ops);
    }
    chordal__token_end(&reader->in);
}

static void read_binary(chordal__part_reader *reader, chordal__ops *ops) {
    while (!reader->in.failed && chordal__reader_left(&reader->in)) read_op(reader, CHORDAL__ENCODING_BINARY, ops);
}

int chordal__ops_read(chordal__ops *ops, uint8_t encoding, const uint8_t *data, size_t len,
                      chordal__dictionary *dictionary, uint64_t cut, const chordal__limits *limits,
                      chordal_error *error) {
    chordal__part_reader reader;
    chordal__part_begin(&reader, ops->memory, data, len, limits);
    reader.dictionary = dictionary;
    reader.cut = cut;
    if (encoding == CHORDAL__ENCODING_JSON)
        read_json(&reader, ops);
    else
        read_binary(&reader, ops);
    if (reader.in.failed) chordal__ops_clear(ops);
    return chordal__part_end(&reader, error);
}
