/* vectors_ops.c: the vectors of ops, and of applying them. */
#include "vectors_ops.h"

static chordal__buffer written(uint8_t encoding, const chordal__ops *ops) {
    chordal__buffer out;
    chordal__buffer_init(&out, memory, SIZE_MAX);
    chordal__ops_write(&out, encoding, ops, NULL);
    CHECK_INT(out.failed, 0);
    return out;
}

static void check_written(const chordal__node *from, uint8_t encoding, const chordal__ops *ops) {
    chordal__buffer out = written(encoding, ops);
    bytes expected = part_of(from, encoding);
    CHECK_BYTES(out.data, out.len, expected.data, expected.len);
    free(expected.data);
    chordal__buffer_dispose(&out);
}

/* Takes the data. */
static void check_read(const chordal__node *from, uint8_t encoding, bytes data) {
    chordal__ops ops;
    chordal_error error = {0};
    chordal__limits limits = limits_of(from);
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, data.data, data.len, NULL, 0, &limits, &error);
    if (code != 0) CHECK_FAIL("%s at %" PRIu64, chordal_error_name(code), error.position);
    if (code == 0) {
        check_written(from, CHORDAL__ENCODING_BINARY, &ops);
        check_written(from, CHORDAL__ENCODING_JSON, &ops);
    }
    chordal__ops_dispose(&ops);
    free(data.data);
}

static void check_others(const chordal__node *from, const char *name, uint8_t encoding) {
    const chordal__node *list = field(from, name);
    for (uint64_t i = 0; list && i < chordal__node_length(list); i++) {
        const chordal__node *one = chordal__node_at(list, i);
        check_read(from, encoding, encoding == CHORDAL__ENCODING_JSON ? text_of(one) : hex_of(one));
    }
}

static void accept_ops(const chordal__node *from) {
    check_fields(from, " name ops binary json also_binary also_json ");
    chordal__ops ops = ops_of(need(from, "ops"));
    check_written(from, CHORDAL__ENCODING_BINARY, &ops);
    check_written(from, CHORDAL__ENCODING_JSON, &ops);
    chordal__ops_dispose(&ops);
    check_read(from, CHORDAL__ENCODING_BINARY, hex_of(need(from, "binary")));
    check_read(from, CHORDAL__ENCODING_JSON, text_of(need(from, "json")));
    check_others(from, "also_binary", CHORDAL__ENCODING_BINARY);
    check_others(from, "also_json", CHORDAL__ENCODING_JSON);
}

static void refuse_ops(const chordal__node *from) {
    check_fields(from, " name binary json json_hex code position dictionary depth ");
    uint8_t encoding = field(from, "binary") ? CHORDAL__ENCODING_BINARY : CHORDAL__ENCODING_JSON;
    bytes data = part_of(from, encoding);
    chordal__limits limits = limits_of(from);
    chordal__dictionary dictionary;
    chordal_error error = {0};
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    chordal__dictionary_init(&dictionary, memory, 1024, (const uint64_t[2]){1, 2});
    int code = chordal__ops_read(&ops, encoding, data.data, data.len, is_true(from, "dictionary") ? &dictionary : NULL,
                                 1, &limits, &error);
    check_code(from, code, &error, "reading");
    CHECK_INT(ops.count, 0);
    chordal__ops_dispose(&ops);
    chordal__dictionary_dispose(&dictionary);
    free(data.data);
}

static void run_ops(const chordal__node *from, bool accepted) {
    if (accepted)
        accept_ops(from);
    else
        refuse_ops(from);
}

/* ---- applying ---- */

/* Apply ops with a draft, and what the draft recorded with apply. */
static int apply_all(const chordal__node *from, chordal__node **values, chordal_error *error) {
    chordal__ops ops = ops_of(need(from, "ops"));
    int code = 0;
    for (size_t i = 0; i < ops.count && code == 0; i++) {
        chordal__op op = ops.items[i];
        if (op.kind == CHORDAL_OP_ERROR) continue;
        chordal__node **value = &values[op.path->segments[0].index], *again = chordal__node_ref(*value);
        chordal__draft draft;
        chordal__draft_begin(&draft, memory, *value, (uint32_t)number_or(from, "depth", 512));
        code = chordal__draft_do(&draft, op, error);
        ops.items[i] = (chordal__op){0};
        for (size_t j = 0; j < draft.ops.count && code == 0; j++) {
            CHECK_INT(chordal__apply(memory, &again, &draft.ops.items[j], 512, NULL), 0);
        }
        CHECK(chordal__node_equal(again, draft.value));
        chordal__node_unref(memory, *value);
        *value = again;
        chordal__draft_dispose(&draft);
    }
    chordal__ops_dispose(&ops);
    return code;
}

static void run_apply(const chordal__node *from, bool accepted) {
    check_fields(from, accepted ? " name before ops after " : " name before ops code depth ");
    chordal__node *values[8] = {0}, *before = native_of(need(from, "before"));
    chordal__node *after = native_of(accepted ? need(from, "after") : need(from, "before"));
    uint64_t count = chordal__node_length(before);
    chordal_error error = {0};
    for (uint64_t i = 0; i < count; i++) values[i] = chordal__node_ref(chordal__node_at(before, i));
    int code = apply_all(from, values, &error);
    if (accepted)
        CHECK_INT(code, 0);
    else
        check_code(from, code, &error, "applying");
    for (uint64_t i = 0; i < count; i++) {
        CHECK(chordal__node_equal(values[i], chordal__node_at(after, i)));
        chordal__node_unref(memory, values[i]);
    }
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
}

TEST(ops) {
    run_family("ops", run_ops);
}

TEST(applying) {
    run_family("apply", run_apply);
}

TESTS({"ops", ops}, {"applying", applying})
