/* A member during a transaction: what is recorded, what is merged, what leaves no trace. */
#include "unit/delta_text.h"

typedef struct draft_case {
    const char *base, *done, *value, *ops;
} draft_case;

static const draft_case samples[] = {
    {"{}", "[]", "{}", "[]"},
    {"{}", "[\"s\",[0,\"a\"],1]", "{\"a\":1}", "[\"s\",[0,\"a\"],1]"},
    {"{}", "[\"s\",[0],[]]", "[]", "[\"r\",[0],[]]"},
    {"{\"a\":1}", "[\"s\",[0,\"a\"],1]", "{\"a\":1}", "[]"},
    {"{\"a\":1}", "[\"s\",[0],{\"a\":1}]", "{\"a\":1}", "[]"},
    {"{\"a\":1}", "[\"r\",[0],{\"a\":1}]", "{\"a\":1}", "[]"},
    {"{\"a\":1}", "[\"=\",[0],{\"a\":1,\"b\":2}]", "{\"a\":1,\"b\":2}", "[\"s\",[0,\"b\"],2]"},
    {"{\"a\":1}", "[\"=\",[0,\"b\"],2]", "{\"a\":1,\"b\":2}", "[\"s\",[0,\"b\"],2]"},
    {"{\"a\":\"x\"}", "[\"=\",[0,\"a\"],\"xy\"]", "{\"a\":\"xy\"}", "[\"a\",[0,\"a\"],\"y\"]"},
    {"\"\"", "[\"a\",[0],\"once\",\"a\",[0],\" upon\"]", "\"once upon\"", "[\"a\",[0],\"once upon\"]"},
    {"\"\"", "[\"a\",[0],\"\\ud83d\",\"a\",[0],\"\\ude00\"]", "\"\\ud83d\\ude00\"", "[\"a\",[0],\"\xf0\x9f\x98\x80\"]"},
    {"\"abc\"", "[\"a\",[0],\"\"]", "\"abc\"", "[]"},
    {"\"abc\"", "[\"t\",[0],0,\"t\",[0],1,\"t\",[0],1]", "\"c\"", "[\"t\",[0],2]"},
    {"[1,2]", "[\"p\",[0],0,1,[1]]", "[1,2]", "[]"},
    {"[1,2]", "[\"p\",[0],1,0,[]]", "[1,2]", "[]"},
    {"[1,2]", "[\"m\",[0],[0,1]]", "[1,2]", "[]"},
    {"[]", "[\"p\",[0],0,0,[1],\"p\",[0],1,0,[2],\"p\",[0],2,0,[3]]", "[1,2,3]", "[\"p\",[0],0,0,[1,2,3]]"},
    {"[]", "[\"p\",[0],0,0,[\"\"],\"a\",[0,0],\"x\",\"a\",[0,0],\"y\"]", "[\"xy\"]", "[\"p\",[0],0,0,[\"xy\"]]"},
    {"[1]", "[\"s\",[0,1],2,\"s\",[0,2],3]", "[1,2,3]", "[\"p\",[0],1,0,[2,3]]"},
    {"[7]", "[\"p\",[0],0,0,[1],\"p\",[0],0,1,[]]", "[7]", "[]"},
    {"{}", "[\"s\",[0,\"a\"],{},\"s\",[0,\"a\",\"b\"],1,\"s\",[0,\"a\",\"b\"],2]", "{\"a\":{\"b\":2}}",
     "[\"s\",[0,\"a\"],{\"b\":2}]"},
    {"{}", "[\"r\",[0],[],\"p\",[0],0,0,[1],\"s\",[0,1],2]", "[1,2]", "[\"r\",[0],[1,2]]"},
    {"{\"a\":1}", "[\"d\",[0,\"a\"],\"s\",[0,\"a\"],2]", "{\"a\":2}", "[\"s\",[0,\"a\"],2]"},
    {"{\"a\":\"\",\"b\":\"\"}", "[\"a\",[0,\"a\"],\"1\",\"a\",[0,\"b\"],\"2\",\"a\",[0,\"a\"],\"3\"]",
     "{\"a\":\"13\",\"b\":\"2\"}", "[\"a\",[0,\"a\"],\"13\",\"a\",[0,\"b\"],\"2\"]"},
};

static void run_case(const draft_case *one) {
    chordal__memory *memory = memory_open();
    chordal__node *base = value_of(memory, one->base), *done = value_of(memory, one->done);
    chordal__draft draft;
    chordal_error error;
    CHECK_INT(chordal__draft_begin(&draft, memory, base, 512), 0);
    for (uint64_t at = 0; at < chordal__node_length(done);) {
        CHECK_INT(chordal__draft_do(&draft, read_op(memory, done, &at), &error), 0);
    }
    CHECK_VALUE(memory, draft.value, one->value);
    CHECK_VALUE(memory, base, one->base);
    CHECK_OPS(&draft.ops, one->ops);
    for (size_t i = 0; i < draft.ops.count; i++) {
        CHECK_INT(chordal__apply(memory, &base, &draft.ops.items[i], 512, NULL), 0);
    }
    CHECK(chordal__node_equal(base, draft.value));
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, base);
    chordal__node_unref(memory, done);
    memory_close(memory);
}

TEST(done) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run_case(&samples[i]);
}

TEST(refused) {
    static const struct {
        const char *op;
        int code;
    } ops[] = {{"[\"s\",[0,\"x\",\"y\"],1]", CHORDAL_E_PATH},       {"[\"a\",[0,\"list\"],\"y\"]", CHORDAL_E_TYPE},
               {"[\"p\",[0,\"list\"],9,0,[1]]", CHORDAL_E_RANGE},   {"[\"m\",[0,\"list\"],[0]]", CHORDAL_E_PERMUTATION},
               {"[\"=\",[0,\"x\",\"y\"],1]", CHORDAL_E_PATH},       {"[\"=\",[0,\"list\"],[[[[1]]]]]", CHORDAL_E_DEPTH},
               {"[\"s\",[0,\"list\"],[[[[1]]]]]", CHORDAL_E_DEPTH}, {"[\"!\",[0],\"a\",\"b\"]", CHORDAL_E_TYPE}};
    chordal__memory *memory = memory_open();
    chordal__node *base = value_of(memory, "{\"list\":[1,2]}");
    chordal__draft draft;
    chordal__draft_begin(&draft, memory, base, 4);
    CHECK_INT(chordal__draft_do(&draft, op_of(memory, "[\"s\",[0,\"list\",0],0]"), NULL), 0);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        chordal_error error = {0};
        CHECK_INT(chordal__draft_do(&draft, op_of(memory, ops[i].op), &error), ops[i].code);
        CHECK_INT(error.code, ops[i].code);
    }
    CHECK_VALUE(memory, draft.value, "{\"list\":[0,2]}");
    CHECK_OPS(&draft.ops, "[\"s\",[0,\"list\",0],0]");
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, base);
    memory_close(memory);
}

TEST(too_many) {
    chordal__memory *memory = memory_open();
    chordal__node *base = value_of(memory, "{}");
    chordal__draft draft;
    chordal__draft_begin(&draft, memory, base, 4);
    for (uint32_t i = 0; i < CHORDAL__OPS_LIMIT + 10; i++) {
        char text[64];
        snprintf(text, sizeof text, "[\"s\",[0,\"k%" PRIu32 "\"],%" PRIu32 "]", i, i);
        CHECK_INT(chordal__draft_do(&draft, op_of(memory, text), NULL), 0);
        CHECK(draft.ops.count <= CHORDAL__OPS_LIMIT);
    }
    CHECK_INT(draft.ops.count, 1);
    CHECK_INT(draft.ops.items[0].kind, CHORDAL_OP_REPLACE);
    CHECK(chordal__node_equal(draft.ops.items[0].value, draft.value));
    CHECK_INT(chordal__node_length(draft.value), CHORDAL__OPS_LIMIT + 10);
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, base);
    memory_close(memory);
}

TEST(no_value) {
    chordal__memory *memory = memory_open();
    chordal__draft draft;
    chordal__draft_begin(&draft, memory, NULL, 5);
    CHECK_INT(chordal__draft_do(&draft, op_of(memory, "[\"s\",[0,\"a\"],1]"), NULL), CHORDAL_E_PATH);
    CHECK_INT(chordal__draft_do(&draft, op_of(memory, "[\"=\",[0],{}]"), NULL), 0);
    CHECK_OPS(&draft.ops, "[\"r\",[0],{}]");
    chordal__draft_dispose(&draft);
    memory_close(memory);
}

/* What an assigned value has in common with the base is the base's, though it came from elsewhere. */
TEST(shared) {
    chordal__memory *memory = memory_open();
    chordal__node *base = value_of(memory, "{\"a\":[1,{\"b\":\"x\"}],\"c\":{\"d\":{\"e\":[7]},\"f\":1}}");
    chordal__draft draft;
    chordal__draft_begin(&draft, memory, base, 64);
    chordal__op op = op_of(memory, "[\"=\",[0],{\"c\":{\"f\":2,\"d\":{\"e\":[7]}},\"a\":[1,{\"b\":\"x\"}]}]");
    CHECK_INT(chordal__draft_do(&draft, op, NULL), 0);
    CHECK_OPS(&draft.ops, "[\"s\",[0,\"c\",\"f\"],2]");
    CHECK(chordal__node_get(draft.value, "a", 1) == chordal__node_get(base, "a", 1));
    CHECK(chordal__node_get(chordal__node_get(draft.value, "c", 1), "d", 1) ==
          chordal__node_get(chordal__node_get(base, "c", 1), "d", 1));
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, base);
    memory_close(memory);
}

TESTS({"done", done}, {"shared", shared}, {"refused", refused}, {"too_many", too_many}, {"no_value", no_value})
