/* driver.c: what the core does, asked by twin.py: a request a line on standard input, [command, argument …], and for
 * each its answer, an object, a line. A request has memory of its own, of which nothing may be left. */
#include "driver.h"

#include "wire/codec.h"

#define MEMBERS 8

static const uint64_t seed[2] = {5, 6};

/* ---- values ---- */

static void check_streams(uint8_t encoding, bytes data, const chordal__limits *limits, int code,
                          const chordal_error *error, const chordal__node *value) {
    chordal_error again = {0};
    chordal__reader reader = chordal__reader_of(data.data, data.len);
    chordal__buffer out = part_new(), expected = part_new();
    bool json = encoding == CHORDAL__ENCODING_JSON;
    int other = json ? chordal__pack_from_json(&out, &reader, limits, &again)
                     : chordal__json_from_pack(&out, &reader, limits, &again);
    if (code == CHORDAL_E_TRAILING) {
        CHECK_INT(other, 0);
        CHECK(chordal__reader_position(&reader) <= error->position);
    } else {
        CHECK_INT(other, code);
        CHECK_INT(again.position, error->position);
    }
    if (value && json) chordal__pack_write(&expected, value);
    if (value && !json) chordal__json_write(&expected, value);
    if (value) CHECK_BYTES(out.data, out.len, expected.data, expected.len);
    if (code) CHECK(code == CHORDAL_E_TRAILING || out.len == 0);
    reader = chordal__reader_of(data.data, data.len);
    if (!json && code != CHORDAL_E_DUPLICATE_KEY && code != CHORDAL_E_TRAILING)
        CHECK_INT(chordal__pack_skip(&reader, limits, &again), code);
    chordal__buffer_dispose(&out);
    chordal__buffer_dispose(&expected);
}

static void put_forms(const chordal__node *value) {
    chordal__buffer packed = part_new(), json = part_new();
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, chordal__node_digest(value));
    chordal__pack_write(&packed, value);
    chordal__json_write(&json, value);
    put("\"packed\":");
    put_part(&packed, CHORDAL__ENCODING_BINARY);
    put(",\"json\":");
    put_part(&json, CHORDAL__ENCODING_JSON);
    put(",\"digest\":\"");
    put(digest);
    put("\"");
}

static void run_value(const chordal__node *request, uint8_t encoding) {
    chordal__limits limits = {.depth = (uint32_t)number_of(item(request, 1)), .size = 1 << 28};
    bytes data = hex_of(item(request, 2));
    chordal__node *value = NULL;
    chordal_error error = {0};
    int code = encoding == CHORDAL__ENCODING_JSON
                   ? chordal__json_read(memory, data.data, data.len, &limits, &value, &error)
                   : chordal__pack_read(memory, data.data, data.len, &limits, &value, &error);
    check_streams(encoding, data, &limits, code, &error, value);
    if (code)
        put_fault(code, &error);
    else
        put_forms(value);
    chordal__node_unref(memory, value);
    free(data.data);
}

static void run_json(const chordal__node *request) {
    run_value(request, CHORDAL__ENCODING_JSON);
}

static void run_pack(const chordal__node *request) {
    run_value(request, CHORDAL__ENCODING_BINARY);
}

/* The texts of a list of numbers, each as the core writes it, or the code of its fault. */
static void run_numbers(const chordal__node *request) {
    put("\"texts\":[");
    for (uint64_t i = 0; i < chordal__node_length(item(request, 1)); i++) {
        bytes text = text_of(item(item(request, 1), i));
        chordal__number number;
        char out[CHORDAL__NUMBER_TEXT];
        int code = 0;
        size_t taken = chordal__number_read(text.data, text.len, &number, &code);
        if (taken) CHECK_INT(taken, text.len);
        put(i ? "," : "");
        if (taken)
            put_string((const uint8_t *)out, chordal__number_write(&number, out));
        else
            put_string((const uint8_t *)chordal_error_name(code), strlen(chordal_error_name(code)));
        free(text.data);
    }
    put("]");
}

static void run_equal(const chordal__node *request) {
    chordal__node *a = native_of(item(request, 1)), *b = native_of(item(request, 2));
    bool equal = chordal__node_equal(a, b);
    CHECK_INT(chordal__node_equal(b, a), equal);
    CHECK_INT(chordal__node_digest(a) == chordal__node_digest(b), equal);
    put(equal ? "\"equal\":true" : "\"equal\":false");
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
}

/* ---- ops ---- */

static void take_members(const chordal__node *list, chordal__node **members) {
    CHECK(chordal__node_length(list) <= MEMBERS);
    for (uint64_t i = 0; i < chordal__node_length(list); i++) members[i] = native_of(item(list, i));
}

static void drop_members(chordal__node **members) {
    for (size_t i = 0; i < MEMBERS; i++) chordal__node_unref(memory, members[i]);
}

static void put_members(chordal__node *const *members, size_t count) {
    put("[");
    for (size_t i = 0; i < count; i++) {
        put(i ? "," : "");
        put_value(members[i]);
    }
    put("]");
}

static int apply_all(chordal__node **members, const chordal__ops *ops, uint32_t depth, size_t *out_at) {
    for (*out_at = 0; *out_at < ops->count; ++*out_at) {
        const chordal__op *op = &ops->items[*out_at];
        chordal__node **value = &members[op->path->segments[0].index];
        uint64_t digest = chordal__node_digest(*value);
        int code = op->kind == CHORDAL_OP_ERROR ? 0 : chordal__apply(memory, value, op, depth, NULL);
        if (code) CHECK(chordal__node_digest(*value) == digest);
        if (code) return code;
    }
    return 0;
}

/* [members, ops, depth, whether the values of before are held]: the members after, or the code and which op it is. */
static void run_apply(const chordal__node *request) {
    chordal__node *members[MEMBERS] = {NULL}, *held[MEMBERS] = {NULL};
    uint64_t digests[MEMBERS] = {0};
    chordal__ops ops = ops_of(item(request, 2));
    size_t count = (size_t)chordal__node_length(item(request, 1)), at = 0;
    take_members(item(request, 1), members);
    for (size_t i = 0; flag(request, 4) && i < count; i++) {
        held[i] = chordal__node_ref(members[i]);
        digests[i] = chordal__node_digest(held[i]);
    }
    int code = apply_all(members, &ops, (uint32_t)number_of(item(request, 3)), &at);
    for (size_t i = 0; held[i]; i++) CHECK(chordal__node_digest(held[i]) == digests[i]);
    put("\"after\":");
    put_members(members, count);
    if (code) put_fault((put(","), code), &(chordal_error){.code = code, .position = at});
    drop_members(members);
    drop_members(held);
    chordal__ops_dispose(&ops);
}

/* [base, ops, depth]: the ops of the draft, its value, and each op's code. */
static void run_draft(const chordal__node *request) {
    chordal__node *base = native_of(item(request, 1));
    chordal__ops ops = ops_of(item(request, 2));
    chordal__draft draft;
    uint64_t digest = chordal__node_digest(base);
    CHECK_INT(chordal__draft_begin(&draft, memory, base, (uint32_t)number_of(item(request, 3))), 0);
    put("\"codes\":[");
    for (size_t i = 0; i < ops.count; i++) {
        int code = chordal__draft_do(&draft, ops.items[i], NULL);
        put(i ? ",\"" : "\"");
        put(code ? chordal_error_name(code) : "");
        put("\"");
    }
    put("],\"value\":");
    put_value(draft.value);
    put(",");
    put_ops(&draft.ops);
    CHECK(chordal__node_digest(base) == digest);
    chordal__draft_dispose(&draft);
    chordal__release(memory, ops.items, ops.capacity * sizeof *ops.items); /* what they held was taken */
    chordal__node_unref(memory, base);
}

static void run_diff(const chordal__node *request) {
    chordal__node *before = native_of(item(request, 1)), *after = native_of(item(request, 2));
    chordal__path *path = chordal__path_new(memory, &(chordal__segment){0}, 1);
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__diff(&ops, path, before, after), 0);
    put_ops(&ops);
    chordal__ops_dispose(&ops);
    chordal__path_unref(memory, path);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
}

static void run_fold(const chordal__node *request) {
    chordal__ops folded;
    chordal__ops_init(&folded, memory);
    for (uint64_t i = 0; i < chordal__node_length(item(request, 1)); i++) {
        chordal__ops batch = ops_of(item(item(request, 1), i));
        CHECK_INT(chordal__fold(&folded, &batch), 0);
        chordal__ops_dispose(&batch);
    }
    put_ops(&folded);
    chordal__ops_clear(&folded);
    CHECK_INT(folded.weight, 0);
    chordal__ops_dispose(&folded);
}

/* ---- the dictionary ---- */

static void dictionary_of(const chordal__node *paths, size_t limit, chordal__dictionary *out) {
    chordal__dictionary_init(out, memory, limit, seed);
    for (uint64_t i = 0; i < chordal__node_length(paths); i++) {
        chordal__path *path = path_of(item(paths, i));
        CHECK_INT(chordal__dictionary_define(out, path, 1), 0);
        chordal__path_unref(memory, path);
    }
}

static void put_paths(const chordal__dictionary *dictionary) {
    chordal__buffer out = part_new();
    chordal__snapshot_write(&out, CHORDAL__ENCODING_JSON, dictionary, NULL, NULL, 0);
    put("\"paths\":");
    put_part(&out, CHORDAL__ENCODING_JSON);
}

/* [encoding, paths or null, limit, data, depth]: the ops, with inline paths, and the dictionary after; or the fault. */
static void run_read(const chordal__node *request) {
    uint8_t encoding = (uint8_t)number_of(item(request, 1));
    bool api = chordal__node_kind(item(request, 2)) == CHORDAL_KIND_NULL;
    chordal__limits limits = {.depth = (uint32_t)number_of(item(request, 5)), .size = 1 << 28};
    bytes data = hex_of(item(request, 4));
    chordal__dictionary dictionary;
    chordal__ops ops;
    chordal_error error = {0};
    dictionary_of(item(request, 2), (size_t)number_of(item(request, 3)), &dictionary);
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, data.data, data.len, api ? NULL : &dictionary, 2, &limits, &error);
    if (code) {
        CHECK_INT(ops.count, 0);
        put_fault(code, &error);
    } else {
        put_ops(&ops);
        put(",");
        put_paths(&dictionary);
    }
    chordal__ops_dispose(&ops);
    chordal__dictionary_dispose(&dictionary);
    free(data.data);
}

typedef struct stream {
    chordal__dictionary dictionary;
    chordal__node *members[MEMBERS];
    size_t members_len;
    chordal__ops commits[64];
    uint64_t cut;
} stream;

static void put_encoded(const stream *self, uint64_t from, const chordal__ops *change) {
    static const uint8_t encodings[] = {CHORDAL__ENCODING_BINARY, CHORDAL__ENCODING_JSON};
    chordal__member_value values[MEMBERS] = {{NULL, NULL}};
    bool is_state[MEMBERS] = {true, true, true, true, true, true, true, true};
    for (size_t i = 0; i < self->members_len; i++) values[i].value = self->members[i];
    for (size_t i = 0; i < 2; i++) {
        chordal__buffer out = part_new();
        if (change)
            chordal__change_write(&out, encodings[i], &self->dictionary, from, self->cut, change);
        else
            chordal__snapshot_write(&out, encodings[i], &self->dictionary, values, is_state, self->members_len);
        put(i ? ",\"json\":" : "{\"binary\":");
        put_part(&out, encodings[i]);
    }
    put("}");
}

static void put_change(const stream *self, uint64_t from) {
    chordal__ops folded;
    chordal__ops_init(&folded, memory);
    for (uint64_t i = from; i < self->cut; i++) CHECK_INT(chordal__fold(&folded, &self->commits[i]), 0);
    put_encoded(self, from, &folded);
    chordal__ops_dispose(&folded);
}

static void commit(stream *self, const chordal__node *list) {
    size_t at = 0;
    chordal__ops *ops = &self->commits[self->cut++];
    *ops = ops_of(list);
    CHECK_INT(chordal__dictionary_note(&self->dictionary, ops, self->cut), 0);
    CHECK_INT(apply_all(self->members, ops, 512, &at), 0);
}

/* [limit, members, steps]: a step is a list of ops, a commit; the cut of a reader, for which the change to here is
 * answered; or null, for which it is a snapshot. */
static void run_stream(const chordal__node *request) {
    stream self = {.members_len = (size_t)chordal__node_length(item(request, 2))};
    const char *between = "";
    chordal__dictionary_init(&self.dictionary, memory, (size_t)number_of(item(request, 1)), seed);
    take_members(item(request, 2), self.members);
    put("\"parts\":[");
    for (uint64_t i = 0; i < chordal__node_length(item(request, 3)); i++) {
        const chordal__node *step = item(item(request, 3), i);
        int kind = chordal__node_kind(step);
        if (kind == CHORDAL_KIND_ARRAY) {
            commit(&self, step);
            continue;
        }
        put(between);
        between = ",";
        if (kind == CHORDAL_KIND_NULL)
            put_encoded(&self, 0, NULL);
        else
            put_change(&self, number_of(step));
    }
    put("]");
    for (uint64_t i = 0; i < self.cut; i++) chordal__ops_dispose(&self.commits[i]);
    drop_members(self.members);
    chordal__dictionary_dispose(&self.dictionary);
}

/* ---- snapshots ---- */

static void check_repacked(uint8_t encoding, bytes data, const bool *is_state, size_t count,
                           const chordal__limits *limits, int code, const chordal_error *error) {
    chordal__dictionary dictionary;
    chordal__buffer out = part_new();
    chordal_error again = {0};
    size_t offsets[MEMBERS + 1];
    chordal__dictionary_init(&dictionary, memory, 1024, seed);
    int other = chordal__snapshot_repack(memory, encoding, data.data, data.len, &dictionary, 2, &out, offsets, is_state,
                                         count, limits, &again);
    CHECK_INT(other, code);
    CHECK_INT(again.position, error->position);
    if (!other) {
        put(",\"packed\":[");
        for (size_t i = 0; i < count; i++) {
            put(i ? "," : "");
            put_hex(out.len ? out.data + offsets[i] : NULL, offsets[i + 1] - offsets[i]);
        }
        put("]");
    }
    chordal__buffer_dispose(&out);
    chordal__dictionary_dispose(&dictionary);
}

/* [encoding, data, for each member whether it is state, depth]: both forms of what was read, or the fault. */
static void run_snapshot(const chordal__node *request) {
    uint8_t encoding = (uint8_t)number_of(item(request, 1));
    bytes data = hex_of(item(request, 2));
    chordal__limits limits = {.depth = (uint32_t)number_of(item(request, 4)), .size = 1 << 28};
    bool is_state[MEMBERS] = {false};
    size_t count = (size_t)chordal__node_length(item(request, 3));
    chordal__member_value values[MEMBERS] = {{NULL, NULL}};
    chordal__dictionary dictionary;
    chordal_error error = {0};
    for (size_t i = 0; i < count; i++) is_state[i] = flag(item(request, 3), i);
    chordal__dictionary_init(&dictionary, memory, 1024, seed);
    int code = chordal__snapshot_read(memory, encoding, data.data, data.len, &dictionary, 2, values, is_state, count,
                                      &limits, &error);
    if (code) {
        put_fault(code, &error);
    } else {
        chordal__buffer binary = part_new(), json = part_new();
        chordal__snapshot_write(&binary, CHORDAL__ENCODING_BINARY, &dictionary, values, is_state, count);
        chordal__snapshot_write(&json, CHORDAL__ENCODING_JSON, &dictionary, values, is_state, count);
        put("\"binary\":");
        put_part(&binary, CHORDAL__ENCODING_BINARY);
        put(",\"json\":");
        put_part(&json, CHORDAL__ENCODING_JSON);
    }
    check_repacked(encoding, data, is_state, count, &limits, code, &error);
    for (size_t i = 0; i < MEMBERS; i++) {
        chordal__node_unref(memory, values[i].value);
        chordal__node_unref(memory, values[i].error);
    }
    chordal__dictionary_dispose(&dictionary);
    free(data.data);
}

/* ---- messages ---- */

static void put_frames(chordal__list *queue) {
    put("[");
    for (const char *between = ""; !chordal__list_empty(queue); between = ",") {
        chordal__frame *frame = CHORDAL__ENTRY(queue->next, chordal__frame, node);
        chordal__buffer flat = part_new();
        chordal__list_remove(&frame->node);
        for (uint32_t i = 0; i < frame->pieces_len; i++) {
            const chordal__frame_piece *piece = &frame->pieces[i];
            if (piece->len)
                chordal__buffer_put(&flat, (piece->body ? piece->body->data : frame->own) + piece->offset, piece->len);
        }
        put(between);
        put_hex(flat.data, flat.len);
        chordal__buffer_dispose(&flat);
        chordal__frame_free(frame);
    }
    put("]");
}

static void put_encoded_message(const chordal__message *message, uint8_t kind, uint64_t current) {
    chordal__codec codec;
    chordal__list queue;
    chordal__list_init(&queue);
    CHECK_INT(chordal__codec_init(&codec, memory, kind, 64 << 20, 512), 0);
    codec.current_out = current;
    int code = chordal__codec_encode(&codec, message, &queue);
    put(kind == CHORDAL_CODEC_BINARY ? "\"binary\":" : ",\"text\":");
    if (code) {
        CHECK(kind == CHORDAL_CODEC_TEXT && code == CHORDAL_E_MALFORMED);
        put("null");
    } else {
        put_frames(&queue);
    }
    chordal__codec_dispose(&codec);
}

/* [codec, the origin of the message before, frames]: the message in both codecs, or the fault and its frame. */
static void run_message(const chordal__node *request) {
    const chordal__node *frames = item(request, 3);
    uint8_t kind = (uint8_t)number_of(item(request, 1));
    chordal__codec codec;
    chordal__message message;
    chordal_error error = {0};
    bytes data[MEMBERS] = {{0}};
    int code = 0;
    CHECK_INT(chordal__codec_init(&codec, memory, kind, 64 << 20, 512), 0);
    codec.current_in = number_of(item(request, 2));
    uint64_t at = 0, count = chordal__node_length(frames);
    for (; code == 0 && at < count; at++) {
        bool text = kind == CHORDAL_CODEC_TEXT && at == 0;
        data[at] = hex_of(item(frames, at));
        code = chordal__codec_decode(&codec, text ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY, data[at].data,
                                     data[at].len, &message, &error);
    }
    put("\"frames\":");
    chordal__buffer_decimal(&answer, at);
    put(",");
    if (code < 0) {
        put_fault(code, &error);
    } else if (code == 0) {
        put("\"waits\":true");
    } else if (message.unknown) {
        put("\"unknown\":true");
    } else {
        put_encoded_message(&message, CHORDAL_CODEC_BINARY, number_of(item(request, 2)));
        put_encoded_message(&message, CHORDAL_CODEC_TEXT, number_of(item(request, 2)));
    }
    for (size_t i = 0; i < MEMBERS; i++) free(data[i].data);
    chordal__codec_dispose(&codec);
}

/* ---- requests ---- */

static const struct {
    const char *name;
    void (*run)(const chordal__node *request);
} commands[] = {
    {"json", run_json},   {"pack", run_pack},     {"numbers", run_numbers},   {"equal", run_equal},
    {"apply", run_apply}, {"draft", run_draft},   {"diff", run_diff},         {"fold", run_fold},
    {"read", run_read},   {"stream", run_stream}, {"snapshot", run_snapshot}, {"message", run_message},
};

static void run(const chordal__node *request) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!is_text(item(request, 0), commands[i].name)) continue;
        commands[i].run(request);
        return;
    }
    CHECK_FAIL("no such command");
}

static void serve(const char *line, size_t len) {
    chordal__node *request = NULL;
    chordal_error error = {0};
    memory = chordal__memory_new(NULL, UINT64_MAX);
    answer = part_new();
    put("{");
    int code = chordal__json_read(memory, (const uint8_t *)line, len, &no_limits, &request, &error);
    if (code) CHECK_FAIL("%s at %" PRIu64, chordal_error_name(code), error.position);
    if (request) run(request);
    put("}\n");
    CHECK_INT(answer.failed, 0);
    fwrite(answer.data, 1, answer.len, stdout);
    chordal__node_unref(memory, request);
    chordal__buffer_dispose(&answer);
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

int main(void) {
    char *line = NULL, name[32];
    size_t room = 0;
    ssize_t len;
    for (uint64_t number = 1; (len = getline(&line, &room, stdin)) > 0 && !check_failures; number++) {
        snprintf(name, sizeof name, "request %" PRIu64, number);
        check_name = name;
        serve(line, (size_t)len);
    }
    free(line);
    return check_failures != 0;
}
