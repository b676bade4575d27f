/* part.c: what reading ops and snapshots has in common, whatever the encoding. */
#include "wire/ops.h"

void chordal__part_begin(chordal__part_reader *reader, chordal__memory *memory, const uint8_t *data, size_t len,
                         const chordal__limits *limits) {
    reader->in = (chordal__reader){.data = data, .at = data, .end = len ? data + len : data};
    reader->memory = memory;
    reader->limits = *limits;
    reader->dictionary = NULL;
    reader->cut = 0;
    reader->path_start = NULL;
    reader->segments = NULL;
    reader->segments_len = reader->segments_capacity = 0;
    reader->keys = (chordal__buffer){.memory = memory, .limit = PTRDIFF_MAX};
    if (len > limits->size) chordal__token_fail(&reader->in, CHORDAL_E_SIZE, data + limits->size);
}

static const char *detail_of(int code) {
    switch (code) {
    case CHORDAL_E_SYNTAX:
        return "malformed ops or snapshot";
    case CHORDAL_E_TRUNCATED:
        return "the part ends too early";
    case CHORDAL_E_TRAILING:
        return "data follows the end of the part";
    case CHORDAL_E_UTF8:
        return "not valid UTF-8";
    case CHORDAL_E_DEPTH:
        return "a path or value is nested too deep";
    case CHORDAL_E_PATH:
        return "replace is for a whole member";
    case CHORDAL_E_RANGE:
        return "a number is out of range, or the dictionary has no such path or no room";
    case CHORDAL_E_PERMUTATION:
        return "an index is not below their count";
    case CHORDAL_E_SIZE:
        return "the part is over the limit";
    case CHORDAL_E_NOMEM:
        return "out of memory";
    default:
        return "malformed value";
    }
}

int chordal__part_end(chordal__part_reader *reader, chordal_error *error) {
    if (reader->segments)
        chordal__release(reader->memory, reader->segments, reader->segments_capacity * sizeof *reader->segments);
    if (reader->keys.data) chordal__buffer_dispose(&reader->keys);
    int code = reader->in.failed;
    uint64_t position = code == CHORDAL_E_NOMEM ? 0 : chordal__reader_position(&reader->in);
    return code != 0 ? chordal__fail(error, code, position, detail_of(code)) : 0;
}

void *chordal__part_checked(chordal__part_reader *reader, void *block) {
    if (!block) chordal__token_fail(&reader->in, CHORDAL_E_NOMEM, reader->in.at);
    return block;
}

/* ---- paths ---- */

void chordal__part_path_begin(chordal__part_reader *reader) {
    reader->path_start = reader->in.at;
    reader->segments_len = 0;
    chordal__buffer_clear(&reader->keys);
}

static void add_segment(chordal__part_reader *reader, chordal__segment segment) {
    if (reader->in.failed) return;
    void *segments = reader->segments;
    int code = chordal__grow(reader->memory, &segments, sizeof segment, &reader->segments_capacity,
                             reader->segments_len + 1, (size_t)reader->limits.depth + 1);
    reader->segments = segments;
    if (code == CHORDAL_E_LIMIT) code = CHORDAL_E_DEPTH;
    if (code != 0)
        chordal__token_fail(&reader->in, code, reader->path_start);
    else
        reader->segments[reader->segments_len++] = segment;
}

void chordal__part_path_index(chordal__part_reader *reader, uint64_t index) {
    add_segment(reader, (chordal__segment){.index = index});
}

void chordal__part_path_key(chordal__part_reader *reader, const uint8_t *key, size_t len) {
    size_t fault = 0;
    if (!key) return;
    if (len > UINT32_MAX) chordal__token_fail(&reader->in, CHORDAL_E_SIZE, key);
    if (!chordal__utf_valid(key, len, &fault)) chordal__token_fail(&reader->in, CHORDAL_E_UTF8, key + fault);
    add_segment(reader, (chordal__segment){.is_key = true, .key = key, .key_len = (uint32_t)len});
}

void chordal__part_path_copy(chordal__part_reader *reader, const chordal__node *key) {
    uint64_t at = 0, offset = reader->keys.len, len = chordal__node_string_bytes(key);
    const uint8_t *piece;
    size_t piece_len;
    while (chordal__node_string_piece(key, &at, &piece, &piece_len)) {
        chordal__buffer_put(&reader->keys, piece, piece_len);
    }
    if (reader->keys.failed) chordal__token_fail(&reader->in, reader->keys.failed, reader->in.at);
    if (len > UINT32_MAX) chordal__token_fail(&reader->in, CHORDAL_E_SIZE, reader->in.at);
    add_segment(reader, (chordal__segment){.is_key = true, .index = offset, .key_len = (uint32_t)len});
}

/* The keys that were copied have an address only now. */
static void place_keys(chordal__part_reader *reader) {
    static const uint8_t nothing[1];
    for (size_t i = 0; i < reader->segments_len; i++) {
        chordal__segment *segment = &reader->segments[i];
        if (!segment->is_key || segment->key) continue;
        segment->key = segment->key_len ? reader->keys.data + segment->index : nothing;
        segment->index = 0;
    }
}

chordal__path *chordal__part_path_end(chordal__part_reader *reader) {
    if (reader->in.failed) return NULL;
    if (!reader->segments_len || reader->segments[0].is_key) {
        chordal__token_fail(&reader->in, CHORDAL_E_SYNTAX, reader->path_start);
        return NULL;
    }
    place_keys(reader);
    return chordal__part_checked(reader, chordal__path_new(reader->memory, reader->segments, reader->segments_len));
}

chordal__path *chordal__part_member(chordal__part_reader *reader, uint64_t member) {
    chordal__part_path_begin(reader);
    chordal__part_path_index(reader, member);
    return chordal__part_path_end(reader);
}

chordal__path *chordal__part_defined(chordal__part_reader *reader, uint64_t number, const uint8_t *start) {
    if (reader->in.failed) return NULL;
    if (!reader->dictionary || number >= reader->dictionary->count) {
        chordal__token_fail(&reader->in, CHORDAL_E_RANGE, start);
        return NULL;
    }
    return chordal__path_ref(reader->dictionary->entries[number].path);
}

chordal__node *chordal__part_error(chordal__part_reader *reader, chordal__node *code, chordal__node *message,
                                   const uint8_t *start) {
    chordal__node *error = NULL;
    if (code && message) {
        bool clears = !chordal__node_string_bytes(code);
        if (clears && chordal__node_string_bytes(message)) chordal__token_fail(&reader->in, CHORDAL_E_SYNTAX, start);
        if (!clears) {
            chordal__node *items[] = {code, message};
            error = chordal__part_checked(reader, chordal__node_array(reader->memory, items, 2));
        }
    }
    chordal__node_unref(reader->memory, code);
    chordal__node_unref(reader->memory, message);
    return error;
}
