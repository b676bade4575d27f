/* vectors_streams.c: the vectors of changes with the path dictionary, and of snapshots. */
#include "vectors_ops.h"

static const uint64_t seed[2] = {3, 4};
static const uint8_t encodings[] = {CHORDAL__ENCODING_BINARY, CHORDAL__ENCODING_JSON};

#define MOST_MEMBERS 256

static void check_part(const chordal__buffer *out, const chordal__node *from, uint8_t encoding) {
    bytes expected = part_of(from, encoding);
    CHECK_INT(out->failed, 0);
    CHECK_BYTES(out->data, out->len, expected.data, expected.len);
    free(expected.data);
}

static void unref_all(chordal__node **values, size_t count) {
    for (size_t i = 0; i < count; i++) chordal__node_unref(memory, values[i]);
}

/* ---- changes ---- */

/* Both sides of a stream. A reader is told by the steps that bring it to its cut. */
typedef struct stream {
    const chordal__node *from, *steps;
    size_t members;
    uint64_t cut;
    chordal__dictionary dictionary;
    chordal__node *values[8];
    chordal__ops commits[200];
    struct {
        uint64_t cut;
        size_t steps[16], count;
    } readers[40];
    size_t readers_len;
} stream;

typedef struct replica {
    chordal__dictionary dictionary;
    chordal__node *values[8];
} replica;

static void apply_ops(chordal__node **values, const chordal__ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        chordal__node **value = &values[ops->items[i].path->segments[0].index];
        CHECK_INT(chordal__apply(memory, value, &ops->items[i], 512, NULL), 0);
    }
}

static void commit(stream *self, const chordal__node *ops) {
    self->commits[self->cut++] = ops_of(ops);
    CHECK_INT(chordal__dictionary_note(&self->dictionary, &self->commits[self->cut - 1], self->cut), 0);
    apply_ops(self->values, &self->commits[self->cut - 1]);
}

static void take_snapshot(const stream *self, replica *out, uint8_t encoding, bytes data, uint64_t cut) {
    chordal__member_value values[8];
    bool is_state[8] = {true, true, true, true, true, true, true, true};
    chordal_error error = {0};
    int code = chordal__snapshot_read(memory, encoding, data.data, data.len, &out->dictionary, cut, values, is_state,
                                      self->members, &no_limits, &error);
    if (code != 0) CHECK_FAIL("snapshot: %s at %" PRIu64, chordal_error_name(code), error.position);
    for (size_t i = 0; i < self->members; i++) {
        chordal__node_unref(memory, out->values[i]);
        out->values[i] = values[i].value;
    }
}

static void take_change(replica *out, uint8_t encoding, bytes data, uint64_t cut) {
    chordal__ops ops;
    chordal_error error = {0};
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, data.data, data.len, &out->dictionary, cut, &no_limits, &error);
    if (code != 0) CHECK_FAIL("change: %s at %" PRIu64, chordal_error_name(code), error.position);
    apply_ops(out->values, &ops);
    chordal__ops_dispose(&ops);
}

static void take_step(const stream *self, replica *out, uint8_t encoding, const chordal__node *step) {
    bytes data = part_of(step, encoding);
    const chordal__node *snapshot = field(step, "snapshot"), *change = field(step, "change");
    if (snapshot)
        take_snapshot(self, out, encoding, data, number_of(snapshot));
    else
        take_change(out, encoding, data, number_of(chordal__node_at(change, 1)));
    free(data.data);
}

static void check_replica(const stream *self, const replica *at) {
    CHECK_INT(at->dictionary.count, self->dictionary.count);
    for (size_t i = 0; i < at->dictionary.count && i < self->dictionary.count; i++) {
        CHECK(chordal__path_equal(at->dictionary.entries[i].path, self->dictionary.entries[i].path));
    }
    for (size_t i = 0; i < self->members; i++) CHECK(chordal__node_equal(at->values[i], self->values[i]));
}

/* Bring a reader from cut 0 the way that is told, and compare it with the provider, who is at the same cut. */
static void replay(const stream *self, size_t reader, uint8_t encoding) {
    chordal__node *before = native_of(need(self->from, "before"));
    replica at = {.values = {NULL}};
    chordal__dictionary_init(&at.dictionary, memory, self->dictionary.limit, seed);
    for (size_t i = 0; i < self->members; i++) at.values[i] = chordal__node_ref(chordal__node_at(before, i));
    for (size_t i = 0; i < self->readers[reader].count; i++) {
        take_step(self, &at, encoding, chordal__node_at(self->steps, self->readers[reader].steps[i]));
    }
    check_replica(self, &at);
    unref_all(at.values, self->members);
    chordal__node_unref(memory, before);
    chordal__dictionary_dispose(&at.dictionary);
}

/* All readers at `from` that take this step are readers at the present cut. */
static void step_readers(stream *self, size_t step, uint64_t from, bool anew) {
    size_t before = self->readers_len;
    for (size_t i = 0; i < before; i++) {
        if (!anew && self->readers[i].cut != from) continue;
        size_t made = self->readers_len++;
        CHECK(made < 40);
        self->readers[made] = self->readers[i];
        if (anew) self->readers[made].count = 0;
        self->readers[made].steps[self->readers[made].count++] = step;
        self->readers[made].cut = self->cut;
        for (size_t e = 0; e < 2; e++) replay(self, made, encodings[e]);
        if (anew) return;
    }
    CHECK(self->readers_len > before);
}

static void check_change(stream *self, const chordal__node *step, uint64_t from) {
    chordal__ops folded;
    chordal__ops_init(&folded, memory);
    for (uint64_t i = from; i < self->cut; i++) CHECK_INT(chordal__fold(&folded, &self->commits[i]), 0);
    for (size_t e = 0; e < 2; e++) {
        chordal__buffer out;
        chordal__buffer_init(&out, memory, SIZE_MAX);
        chordal__change_write(&out, encodings[e], &self->dictionary, from, self->cut, &folded);
        check_part(&out, step, encodings[e]);
        chordal__buffer_dispose(&out);
    }
    chordal__ops_dispose(&folded);
}

static void check_snapshot(stream *self, const chordal__node *step) {
    chordal__member_value values[8] = {{NULL, NULL}};
    bool is_state[8] = {true, true, true, true, true, true, true, true};
    for (size_t i = 0; i < self->members; i++) values[i].value = self->values[i];
    for (size_t e = 0; e < 2; e++) {
        chordal__buffer out;
        chordal__buffer_init(&out, memory, SIZE_MAX);
        chordal__snapshot_write(&out, encodings[e], &self->dictionary, values, is_state, self->members);
        check_part(&out, step, encodings[e]);
        chordal__buffer_dispose(&out);
    }
}

static void run_step(stream *self, size_t index) {
    const chordal__node *step = chordal__node_at(self->steps, index), *change = field(step, "change");
    check_fields(step, " commit change snapshot binary json ");
    if (field(step, "commit")) {
        commit(self, field(step, "commit"));
    } else if (change) {
        uint64_t from = number_of(chordal__node_at(change, 0));
        CHECK_INT(number_of(chordal__node_at(change, 1)), self->cut);
        check_change(self, step, from);
        step_readers(self, index, from, false);
    } else {
        CHECK_INT(number_of(need(step, "snapshot")), self->cut);
        check_snapshot(self, step);
        step_readers(self, index, 0, true);
    }
}

static void run_changes(const chordal__node *from, bool accepted) {
    static stream self;
    chordal__node *before = native_of(need(from, "before"));
    CHECK(accepted);
    check_fields(from, " name before steps limit ");
    self = (stream){.from = from, .steps = need(from, "steps"), .readers_len = 1};
    self.members = (size_t)chordal__node_length(before);
    chordal__dictionary_init(&self.dictionary, memory, number_or(from, "limit", 1024), seed);
    for (size_t i = 0; i < self.members; i++) self.values[i] = chordal__node_ref(chordal__node_at(before, i));
    for (size_t i = 0; i < chordal__node_length(self.steps); i++) run_step(&self, i);
    for (uint64_t i = 0; i < self.cut; i++) chordal__ops_dispose(&self.commits[i]);
    unref_all(self.values, self.members);
    chordal__dictionary_dispose(&self.dictionary);
    chordal__node_unref(memory, before);
}

/* ---- snapshots ---- */

typedef struct content {
    chordal__dictionary dictionary;
    chordal__member_value values[MOST_MEMBERS];
    bool is_state[MOST_MEMBERS];
    size_t members;
} content;

static chordal__node *error_pair(const chordal__node *pair) {
    chordal__node *items[] = {chordal__node_at(pair, 0), chordal__node_at(pair, 1)};
    return chordal__node_array(memory, items, 2);
}

static void build_content(content *out, const chordal__node *from) {
    const chordal__node *paths = need(from, "paths"), *members = need(from, "members");
    *out = (content){.members = (size_t)chordal__node_length(members)};
    chordal__dictionary_init(&out->dictionary, memory, 1024, seed);
    for (uint64_t i = 0; i < chordal__node_length(paths); i++) {
        chordal__path *path = path_of(chordal__node_at(paths, i));
        CHECK_INT(chordal__dictionary_define(&out->dictionary, path, 1), 0);
        chordal__path_unref(memory, path);
    }
    for (size_t i = 0; i < out->members; i++) {
        const chordal__node *one = chordal__node_at(members, i);
        out->is_state[i] = chordal__node_kind(one) == CHORDAL_KIND_OBJECT;
        if (!out->is_state[i]) continue;
        check_fields(one, " value error ");
        if (field(one, "value")) out->values[i].value = native_of(field(one, "value"));
        if (field(one, "error")) out->values[i].error = error_pair(field(one, "error"));
    }
}

static void free_content(content *out) {
    for (size_t i = 0; i < out->members; i++) {
        chordal__node_unref(memory, out->values[i].value);
        chordal__node_unref(memory, out->values[i].error);
    }
    chordal__dictionary_dispose(&out->dictionary);
}

static void check_same(const chordal__node *a, const chordal__node *b) {
    CHECK((a == NULL) == (b == NULL));
    if (a && b) CHECK(chordal__node_equal(a, b));
}

static void check_read(const chordal__node *from, uint8_t encoding, const content *expected) {
    bytes data = part_of(from, encoding);
    chordal_error error = {0};
    static content read;
    read = (content){.members = expected->members};
    chordal__dictionary_init(&read.dictionary, memory, 1024, seed);
    int code = chordal__snapshot_read(memory, encoding, data.data, data.len, &read.dictionary, 7, read.values,
                                      expected->is_state, expected->members, &no_limits, &error);
    if (code != 0) CHECK_FAIL("%s at %" PRIu64, chordal_error_name(code), error.position);
    for (size_t i = 0; i < expected->members; i++) {
        check_same(read.values[i].value, expected->values[i].value);
        check_same(read.values[i].error, expected->values[i].error);
    }
    CHECK_INT(read.dictionary.count, expected->dictionary.count);
    for (size_t i = 0; i < read.dictionary.count && i < expected->dictionary.count; i++) {
        CHECK(chordal__path_equal(read.dictionary.entries[i].path, expected->dictionary.entries[i].path));
        CHECK_INT(read.dictionary.entries[i].cut, 7);
    }
    free_content(&read);
    free(data.data);
}

static void check_repacked(const chordal__node *from, uint8_t encoding, const content *expected) {
    bytes data = part_of(from, encoding);
    size_t offsets[MOST_MEMBERS + 1];
    chordal__dictionary dictionary;
    chordal__buffer out;
    chordal_error error = {0};
    const chordal__node *runs = need(from, "packed");
    chordal__dictionary_init(&dictionary, memory, 1024, seed);
    chordal__buffer_init(&out, memory, SIZE_MAX);
    int code = chordal__snapshot_repack(memory, encoding, data.data, data.len, &dictionary, 7, &out, offsets,
                                        expected->is_state, expected->members, &no_limits, &error);
    if (code != 0) CHECK_FAIL("%s at %" PRIu64, chordal_error_name(code), error.position);
    CHECK_INT(chordal__node_length(runs), expected->members);
    CHECK_INT(offsets[expected->members], out.len);
    for (size_t i = 0; i < expected->members; i++) {
        bytes run = hex_of(chordal__node_at(runs, i));
        CHECK_BYTES(out.data + offsets[i], offsets[i + 1] - offsets[i], run.data, run.len);
        free(run.data);
    }
    CHECK_INT(dictionary.count, expected->dictionary.count);
    chordal__buffer_dispose(&out);
    chordal__dictionary_dispose(&dictionary);
    free(data.data);
}

static void accept_snapshot(const chordal__node *from) {
    static content expected;
    check_fields(from, " name paths members binary json packed ");
    build_content(&expected, from);
    for (size_t e = 0; e < 2; e++) {
        chordal__buffer out;
        chordal__buffer_init(&out, memory, SIZE_MAX);
        chordal__snapshot_write(&out, encodings[e], &expected.dictionary, expected.values, expected.is_state,
                                expected.members);
        check_part(&out, from, encodings[e]);
        chordal__buffer_dispose(&out);
        check_read(from, encodings[e], &expected);
        check_repacked(from, encodings[e], &expected);
    }
    free_content(&expected);
}

static void refuse_snapshot(const chordal__node *from) {
    check_fields(from, " name state binary json json_hex code position depth limit ");
    uint8_t encoding = field(from, "binary") ? CHORDAL__ENCODING_BINARY : CHORDAL__ENCODING_JSON;
    bytes data = part_of(from, encoding);
    const chordal__node *state = need(from, "state");
    static content read;
    size_t offsets[MOST_MEMBERS + 1];
    chordal__limits limits = limits_of(from);
    chordal__buffer out;
    chordal_error error = {0};
    read = (content){.members = (size_t)chordal__node_length(state)};
    chordal__dictionary_init(&read.dictionary, memory, number_or(from, "limit", 1024), seed);
    chordal__buffer_init(&out, memory, SIZE_MAX);
    for (size_t i = 0; i < read.members; i++) {
        read.is_state[i] = chordal__node_kind(chordal__node_at(state, i)) == CHORDAL_KIND_TRUE;
    }
    int code = chordal__snapshot_read(memory, encoding, data.data, data.len, &read.dictionary, 1, read.values,
                                      read.is_state, read.members, &limits, &error);
    check_code(from, code, &error, "reading");
    code = chordal__snapshot_repack(memory, encoding, data.data, data.len, &read.dictionary, 1, &out, offsets,
                                    read.is_state, read.members, &limits, &error);
    check_code(from, code, &error, "repacking");
    chordal__buffer_dispose(&out);
    free_content(&read);
    free(data.data);
}

static void run_snapshots(const chordal__node *from, bool accepted) {
    if (accepted)
        accept_snapshot(from);
    else
        refuse_snapshot(from);
}

TEST(changes) {
    run_family("changes", run_changes);
}

TEST(snapshots) {
    run_family("snapshots", run_snapshots);
}

TESTS({"changes", changes}, {"snapshots", snapshots})
