/* Ops on a value: applied one by one, folded, through a draft and as a diff they come to the same; what is refused
 * changes nothing. */
#include "fuzz/values.h"

/* What the ops make of a value, those that do not fit left out; all that fit go into `fit`. */
static void apply_all(chordal__memory *memory, chordal__node **value, chordal__ops *ops, chordal__ops *fit) {
    for (size_t i = 0; i < ops->count; i++) {
        chordal__op *op = &ops->items[i];
        if (op->kind == CHORDAL_OP_ERROR || op->kind == CHORDAL_OP_ASSIGN || op->path->segments[0].index) continue;
        uint64_t before = chordal__node_digest(*value);
        chordal_error error = {0};
        int code = chordal__apply(memory, value, op, fuzz_limits.depth, &error);
        if (code < 0) CHECK(chordal__node_digest(*value) == before && error.code == code);
        if (code < 0) continue;
        chordal__ops one = {.memory = memory, .items = op, .count = 1, .weight = op->weight};
        CHECK_INT(chordal__fold(fit, &one), 0);
    }
}

static void expect_same(chordal__memory *memory, chordal__node *base, const chordal__ops *ops, chordal__node *after) {
    chordal__node *value = chordal__node_ref(base);
    for (size_t i = 0; i < ops->count; i++)
        CHECK_INT(chordal__apply(memory, &value, &ops->items[i], fuzz_limits.depth, NULL), 0);
    fuzz_same(value, after);
    chordal__node_unref(memory, value);
}

static void diff_and_apply(chordal__memory *memory, chordal__node *base, chordal__node *after) {
    chordal__segment segment = {.index = 0};
    chordal__path *path = chordal__path_new(memory, &segment, 1);
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__diff(&ops, path, base, after), 0);
    if (chordal__node_equal(base, after)) CHECK_INT(ops.count, 0);
    expect_same(memory, base, &ops, after);
    chordal__ops_dispose(&ops);
    chordal__path_unref(memory, path);
}

static void draft_all(chordal__memory *memory, chordal__node *base, const chordal__ops *ops, chordal__node *after) {
    chordal__draft draft;
    chordal__ops copies;
    chordal__ops_init(&copies, memory);
    CHECK_INT(chordal__ops_append(&copies, ops), 0);
    CHECK_INT(chordal__draft_begin(&draft, memory, base, fuzz_limits.depth), 0);
    for (size_t i = 0; i < copies.count; i++) {
        chordal__op op = copies.items[i];
        copies.items[i] = (chordal__op){0};
        CHECK_INT(chordal__draft_do(&draft, op, NULL), 0);
    }
    fuzz_same(draft.value, after);
    expect_same(memory, base, &draft.ops, after);
    chordal__draft_dispose(&draft);
    chordal__ops_dispose(&copies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, data + size};
    size_t len;
    uint8_t encoding = fuzz_byte(&in) & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    const uint8_t *text = fuzz_bytes(&in, 254, &len);
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    chordal__node *base = NULL;
    chordal__ops ops, fit;
    chordal__ops_init(&ops, memory);
    chordal__ops_init(&fit, memory);
    if (chordal__json_read(memory, text, len, &fuzz_limits, &base, NULL) == 0 &&
        chordal__ops_read(&ops, encoding, in.at, (size_t)(in.end - in.at), NULL, 0, &fuzz_limits, NULL) == 0) {
        chordal__node *after = chordal__node_ref(base);
        uint64_t before = chordal__node_digest(base);
        apply_all(memory, &after, &ops, &fit);
        CHECK(chordal__node_digest(base) == before);
        expect_same(memory, base, &fit, after);
        draft_all(memory, base, &fit, after);
        diff_and_apply(memory, base, after);
        fuzz_round_trip(memory, after);
        chordal__node_unref(memory, after);
    }
    chordal__ops_dispose(&ops);
    chordal__ops_dispose(&fit);
    chordal__node_unref(memory, base);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(apply)
