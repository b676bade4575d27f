/* snapshot.c: the content of a bound: the dictionary and every state member (docs/protocol.md, 8). */
#include "wire/ops.h"

/* In binary, the byte before a member. */
#define HAS_VALUE 1
#define HAS_ERROR 2

/* ---- writing ---- */

static void write_binary(chordal__buffer *buffer, const chordal__dictionary *dictionary,
                         const chordal__member_value *values, const bool *is_state, size_t members) {
    chordal__buffer_varint(buffer, dictionary->count);
    for (size_t i = 0; i < dictionary->count; i++) chordal__binary_path_write(buffer, dictionary->entries[i].path);
    for (size_t i = 0; i < members; i++) {
        if (!is_state[i]) continue;
        const chordal__member_value *member = &values[i];
        chordal__buffer_byte(buffer, (uint8_t)((member->value ? HAS_VALUE : 0) | (member->error ? HAS_ERROR : 0)));
        if (member->value) chordal__pack_write(buffer, member->value);
        if (!member->error) continue;
        chordal__binary_text_write(buffer, chordal__node_at(member->error, 0));
        chordal__binary_text_write(buffer, chordal__node_at(member->error, 1));
    }
}

/* ',' between elements: before each but the first. */
static void separate(chordal__buffer *buffer, bool *first) {
    if (!*first) chordal__buffer_byte(buffer, ',');
    *first = false;
}

static void write_json_values(chordal__buffer *buffer, const chordal__member_value *values, const bool *is_state,
                              size_t members) {
    bool first = true;
    for (size_t i = 0; i < members; i++) {
        if (!is_state[i]) continue;
        separate(buffer, &first);
        if (values[i].value)
            chordal__json_write(buffer, values[i].value);
        else
            chordal__buffer_text(buffer, "null");
    }
}

static void write_json_errors(chordal__buffer *buffer, const chordal__member_value *values, const bool *is_state,
                              size_t members) {
    bool first = true;
    for (size_t i = 0; i < members; i++) {
        const chordal__member_value *member = &values[i];
        if (!is_state[i] || (member->value && !member->error)) continue;
        separate(buffer, &first);
        chordal__buffer_byte(buffer, '[');
        chordal__buffer_decimal(buffer, i);
        chordal__buffer_text(buffer, member->value ? ",1," : ",0,");
        if (member->error) {
            chordal__json_write(buffer, chordal__node_at(member->error, 0));
            chordal__buffer_byte(buffer, ',');
            chordal__json_write(buffer, chordal__node_at(member->error, 1));
        } else {
            chordal__buffer_text(buffer, "\"\",\"\"");
        }
        chordal__buffer_byte(buffer, ']');
    }
}

static void write_json(chordal__buffer *buffer, const chordal__dictionary *dictionary,
                       const chordal__member_value *values, const bool *is_state, size_t members) {
    bool first = true;
    chordal__buffer_text(buffer, "[[");
    for (size_t i = 0; i < dictionary->count; i++) {
        separate(buffer, &first);
        chordal__json_path_write(buffer, dictionary->entries[i].path);
    }
    chordal__buffer_text(buffer, "],[");
    write_json_values(buffer, values, is_state, members);
    chordal__buffer_text(buffer, "],[");
    write_json_errors(buffer, values, is_state, members);
    chordal__buffer_text(buffer, "]]");
}

void chordal__snapshot_write(chordal__buffer *buffer, uint8_t encoding, const chordal__dictionary *dictionary,
                             const chordal__member_value *values, const bool *is_state, size_t members) {
    if (encoding == CHORDAL__ENCODING_JSON)
        write_json(buffer, dictionary, values, is_state, members);
    else
        write_binary(buffer, dictionary, values, is_state, members);
}

/* ---- reading: into values, or into packed ops ---- */

/* What the third list of JSON says of a member. */
typedef struct told {
    bool no_value;
    chordal__node *error; /* owned */
} told;

typedef struct snapshot_reader {
    chordal__part_reader part;
    uint8_t encoding;
    const bool *is_state;
    size_t members;
    chordal__member_value *values; /* NULL: write to `out` */
    chordal__buffer *out;
    size_t *offsets;
    told *told; /* JSON: one per member */
} snapshot_reader;

static void take_value(snapshot_reader *reader, size_t member) {
    bool json = reader->encoding == CHORDAL__ENCODING_JSON;
    chordal__part_reader *part = &reader->part;
    if (reader->values) {
        reader->values[member].value = json ? chordal__json_value(part) : chordal__binary_value(part);
        return;
    }
    chordal__binary_replace_head(reader->out, member);
    chordal_error error = {0};
    const uint8_t *start = part->in.at;
    int code = json ? chordal__pack_from_json(reader->out, &part->in, &part->limits, &error)
                    : chordal__pack_check(part->memory, &part->in, &part->limits, &error);
    part->in.failed = 0;
    if (code != 0)
        chordal__token_fail(&part->in, code, part->in.data + error.position);
    else if (!json)
        chordal__buffer_put(reader->out, start, (size_t)(part->in.at - start));
}

/* Takes the error, NULL for none. */
static void take_error(snapshot_reader *reader, size_t member, chordal__node *error) {
    if (reader->values) {
        reader->values[member].error = error;
        return;
    }
    if (error) chordal__binary_error_write(reader->out, member, error);
    chordal__node_unref(reader->part.memory, error);
}

static void define(snapshot_reader *reader, chordal__path *path, const uint8_t *start) {
    if (!path) return;
    int code = chordal__dictionary_define(reader->part.dictionary, path, reader->part.cut);
    if (code != 0) chordal__token_fail(&reader->part.in, code, start);
    chordal__path_unref(reader->part.memory, path);
}

/* ---- reading binary ---- */

static void read_binary_error(snapshot_reader *reader, size_t member) {
    chordal__part_reader *part = &reader->part;
    const uint8_t *start = part->in.at;
    chordal__node *code = chordal__binary_text(part);
    chordal__node *error = chordal__part_error(part, code, chordal__binary_text(part), start);
    if (!error) chordal__token_fail(&part->in, CHORDAL_E_SYNTAX, start);
    take_error(reader, member, error);
}

static void read_binary_member(snapshot_reader *reader, size_t member) {
    chordal__reader *in = &reader->part.in;
    const uint8_t *start = in->at;
    uint8_t head = chordal__read_byte(in);
    if (head & ~(HAS_VALUE | HAS_ERROR)) chordal__token_fail(in, CHORDAL_E_SYNTAX, start);
    if (!in->failed && head & HAS_VALUE) take_value(reader, member);
    if (!in->failed && head & HAS_ERROR) read_binary_error(reader, member);
}

/* Where the ops of a member begin; one more at the end. */
static void mark(snapshot_reader *reader, size_t member) {
    if (reader->offsets) reader->offsets[member] = reader->out->len;
}

static void read_binary(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    uint64_t paths = chordal__binary_count(&reader->part);
    for (uint64_t i = 0; i < paths && !in->failed; i++) {
        const uint8_t *start = in->at;
        define(reader, chordal__binary_path(&reader->part), start);
    }
    for (size_t i = 0; i < reader->members && !in->failed; i++) {
        mark(reader, i);
        if (reader->is_state[i]) read_binary_member(reader, i);
    }
    if (chordal__reader_left(in)) chordal__token_fail(in, CHORDAL_E_TRAILING, in->at);
}

/* ---- reading JSON: the third list first, since it says what the values are ---- */

static void read_json_paths(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    chordal__token_expect(in, '[');
    for (size_t i = 0; !in->failed && chordal__token_next(in, i); i++) {
        chordal__token_peek(in);
        const uint8_t *start = in->at;
        define(reader, chordal__json_path(&reader->part), start);
    }
}

/* [member, hasValue, code, message] behind the bracket; `next`: the least member that may come. */
static size_t read_json_told(snapshot_reader *reader, size_t next) {
    chordal__part_reader *part = &reader->part;
    chordal__reader *in = &part->in;
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    uint64_t member = chordal__token_number(in);
    if (member >= reader->members || !reader->is_state[member]) chordal__token_fail(in, CHORDAL_E_RANGE, start);
    if (member < next) chordal__token_fail(in, CHORDAL_E_SYNTAX, start);
    chordal__token_expect(in, ',');
    uint64_t has_value = chordal__token_number(in);
    chordal__token_expect(in, ',');
    chordal__node *code = chordal__json_text(part);
    chordal__token_expect(in, ',');
    chordal__node *error = chordal__part_error(part, code, chordal__json_text(part), start);
    chordal__token_expect(in, ']');
    if (has_value > 1 || (has_value && !error)) chordal__token_fail(in, CHORDAL_E_SYNTAX, start);
    if (in->failed) {
        chordal__node_unref(part->memory, error);
        return next;
    }
    reader->told[member] = (told){.no_value = !has_value, .error = error};
    return (size_t)member + 1;
}

static void read_json_errors(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    size_t next = 0;
    chordal__token_expect(in, '[');
    for (size_t i = 0; !in->failed && chordal__token_next(in, i); i++) {
        chordal__token_expect(in, '[');
        next = read_json_told(reader, next);
    }
}

static void read_json_member(snapshot_reader *reader, size_t member) {
    chordal__reader *in = &reader->part.in;
    told *this = &reader->told[member];
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    size_t len;
    if (this->no_value) {
        chordal__token_value(in, 1, &len);
        if (!in->failed && *start != 'n') chordal__token_fail(in, CHORDAL_E_SYNTAX, start);
    } else {
        take_value(reader, member);
    }
    if (in->failed) return;
    take_error(reader, member, this->error);
    this->error = NULL;
}

static void read_json_values(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    size_t state = 0;
    chordal__token_expect(in, '[');
    for (size_t i = 0; i < reader->members && !in->failed; i++) {
        mark(reader, i);
        if (!reader->is_state[i]) continue;
        if (state++) chordal__token_expect(in, ',');
        if (!in->failed) read_json_member(reader, i);
    }
    chordal__token_expect(in, ']');
}

static void read_json(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    size_t len;
    chordal__token_expect(in, '[');
    read_json_paths(reader);
    chordal__token_expect(in, ',');
    const uint8_t *values = in->at;
    chordal__token_value(in, reader->part.limits.depth + 1, &len);
    chordal__token_expect(in, ',');
    read_json_errors(reader);
    chordal__token_expect(in, ']');
    chordal__token_end(in);
    if (in->failed) return;
    in->at = values;
    read_json_values(reader);
}

/* The usual end: the third list is empty, so each value is what it seems, and need not be passed over first. */
static bool tells_nothing(const chordal__reader *in) {
    return !in->failed && in->end - in->data >= 4 && memcmp(in->end - 4, ",[]]", 4) == 0;
}

static void read_json_at_once(snapshot_reader *reader) {
    chordal__reader *in = &reader->part.in;
    chordal__token_expect(in, '[');
    read_json_paths(reader);
    chordal__token_expect(in, ',');
    if (!in->failed) read_json_values(reader);
    chordal__token_expect(in, ',');
    read_json_errors(reader);
    chordal__token_expect(in, ']');
    chordal__token_end(in);
}

/* As if nothing had been read. */
static void read_again(snapshot_reader *reader, size_t written) {
    for (size_t i = 0; i < reader->members; i++) {
        chordal__node_unref(reader->part.memory, reader->told[i].error);
        reader->told[i] = (told){0};
        if (!reader->values) continue;
        chordal__node_unref(reader->part.memory, reader->values[i].value);
        reader->values[i] = (chordal__member_value){0};
    }
    if (reader->out) reader->out->len = written;
    reader->part.in.failed = 0;
    reader->part.in.at = reader->part.in.data;
    chordal__dictionary_reset(reader->part.dictionary, reader->part.cut);
}

static bool is_read_at_once(snapshot_reader *reader) {
    size_t written = reader->out ? reader->out->len : 0;
    if (!tells_nothing(&reader->part.in)) return false;
    read_json_at_once(reader);
    if (!reader->part.in.failed || reader->part.in.failed == CHORDAL_E_NOMEM) return true;
    read_again(reader, written); /* what is wrong with it depends on the order */
    return false;
}

static void read_json_whole(snapshot_reader *reader) {
    chordal__memory *memory = reader->part.memory;
    size_t size = reader->members * sizeof *reader->told;
    reader->told = chordal__allocate_zero(memory, size);
    if (size && !reader->told) {
        chordal__token_fail(&reader->part.in, CHORDAL_E_NOMEM, reader->part.in.at);
        return;
    }
    if (CHORDAL__SMALL || !is_read_at_once(reader)) read_json(reader);
    for (size_t i = 0; i < reader->members; i++) chordal__node_unref(memory, reader->told[i].error);
    chordal__release(memory, reader->told, size);
}

/* ---- the two ways to read ---- */

static int read_snapshot(snapshot_reader *reader, chordal_error *error) {
    chordal__dictionary_reset(reader->part.dictionary, reader->part.cut);
    if (reader->encoding == CHORDAL__ENCODING_JSON)
        read_json_whole(reader);
    else
        read_binary(reader);
    mark(reader, reader->members);
    if (reader->out && reader->out->failed) {
        chordal__token_fail(&reader->part.in, reader->out->failed, reader->part.in.at);
    }
    return chordal__part_end(&reader->part, error);
}

int chordal__snapshot_read(chordal__memory *memory, uint8_t encoding, const uint8_t *data, size_t len,
                           chordal__dictionary *dictionary, uint64_t cut, chordal__member_value *values,
                           const bool *is_state, size_t members, const chordal__limits *limits, chordal_error *error) {
    snapshot_reader reader = {.encoding = encoding, .is_state = is_state, .members = members, .values = values};
    for (size_t i = 0; i < members; i++) values[i] = (chordal__member_value){0};
    chordal__part_begin(&reader.part, memory, data, len, limits);
    reader.part.dictionary = dictionary;
    reader.part.cut = cut;
    return read_snapshot(&reader, error);
}

int chordal__snapshot_repack(chordal__memory *memory, uint8_t encoding, const uint8_t *data, size_t len,
                             chordal__dictionary *dictionary, uint64_t cut, chordal__buffer *out, size_t *offsets,
                             const bool *is_state, size_t members, const chordal__limits *limits,
                             chordal_error *error) {
    snapshot_reader reader = {.encoding = encoding, .is_state = is_state, .members = members, .out = out};
    reader.offsets = offsets;
    chordal__part_begin(&reader.part, memory, data, len, limits);
    reader.part.dictionary = dictionary;
    reader.part.cut = cut;
    return read_snapshot(&reader, error);
}
