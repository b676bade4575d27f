/* Each op applied to a value, sound and unsound, in place and to a shared value. */
#include "unit/delta_text.h"

typedef struct apply_case {
    const char *base, *op, *result; /* result NULL: refused with the code, the base stays */
    int code;
} apply_case;

static const apply_case samples[] = {
    {"1", "[\"r\",[0],{\"a\":[]}]", "{\"a\":[]}", 0},
    {"{}", "[\"r\",[0,\"a\"],1]", NULL, CHORDAL_E_PATH},
    {"{}", "[\"s\",[0,\"a\"],1]", "{\"a\":1}", 0},
    {"{\"a\":1}", "[\"s\",[0,\"a\"],2]", "{\"a\":2}", 0},
    {"{\"a\":{\"b\":[1,2]}}", "[\"s\",[0,\"a\",\"b\",1],null]", "{\"a\":{\"b\":[1,null]}}", 0},
    {"[1]", "[\"s\",[0,1],2]", "[1,2]", 0},
    {"[1]", "[\"s\",[0,2],2]", NULL, CHORDAL_E_RANGE},
    {"[1]", "[\"s\",[0,\"0\"],2]", NULL, CHORDAL_E_TYPE},
    {"{}", "[\"s\",[0,0],2]", NULL, CHORDAL_E_TYPE},
    {"{\"0\":1}", "[\"d\",[0,0]]", NULL, CHORDAL_E_TYPE},
    {"[[1]]", "[\"s\",[0,\"a\",0],2]", NULL, CHORDAL_E_TYPE},
    {"{}", "[\"s\",[0],2]", NULL, CHORDAL_E_PATH},
    {"{}", "[\"s\",[0,\"a\",\"b\"],2]", NULL, CHORDAL_E_PATH},
    {"\"x\"", "[\"s\",[0,\"a\"],2]", NULL, CHORDAL_E_PATH},
    {"{\"a\":1,\"b\":2}", "[\"d\",[0,\"a\"]]", "{\"b\":2}", 0},
    {"{\"b\":2}", "[\"d\",[0,\"a\"]]", NULL, CHORDAL_E_PATH},
    {"[1,2,3]", "[\"d\",[0,1]]", "[1,3]", 0},
    {"[1,2,3]", "[\"d\",[0,3]]", NULL, CHORDAL_E_RANGE},
    {"[1]", "[\"d\",[0]]", NULL, CHORDAL_E_PATH},
    {"[1]", "[\"d\",[0,0,0]]", NULL, CHORDAL_E_PATH},
    {"\"ab\"", "[\"a\",[0],\"cd\"]", "\"abcd\"", 0},
    {"[[\"ab\"]]", "[\"a\",[0,0,0],\"\"]", "[[\"ab\"]]", 0},
    {"{\"t\":\"\"}", "[\"a\",[0,\"t\"],\"x\"]", "{\"t\":\"x\"}", 0},
    {"\"a\\ud83d\"", "[\"a\",[0],\"\\ude00b\"]", "\"a\\ud83d\\ude00b\"", 0},
    {"1", "[\"a\",[0],\"x\"]", NULL, CHORDAL_E_TYPE},
    {"[]", "[\"a\",[0,0],\"x\"]", NULL, CHORDAL_E_PATH},
    {"\"a\"", "[\"a\",[0],1]", NULL, CHORDAL_E_TYPE},
    {"\"abc\"", "[\"t\",[0],2]", "\"c\"", 0},
    {"\"abc\"", "[\"t\",[0],3]", "\"\"", 0},
    {"\"abc\"", "[\"t\",[0],0]", "\"abc\"", 0},
    {"\"abc\"", "[\"t\",[0],4]", NULL, CHORDAL_E_RANGE},
    {"\"\\ud83d\\ude00b\"", "[\"t\",[0],1]", "\"\\ude00b\"", 0},
    {"[]", "[\"t\",[0],0]", NULL, CHORDAL_E_TYPE},
    {"[1,2,3]", "[\"p\",[0],1,1,[8,9]]", "[1,8,9,3]", 0},
    {"[1,2,3]", "[\"p\",[0],3,0,[4]]", "[1,2,3,4]", 0},
    {"[1,2,3]", "[\"p\",[0],0,3,[]]", "[]", 0},
    {"[1,2,3]", "[\"p\",[0],1,0,[]]", "[1,2,3]", 0},
    {"[1,2,3]", "[\"p\",[0],4,0,[1]]", NULL, CHORDAL_E_RANGE},
    {"[1,2,3]", "[\"p\",[0],2,2,[]]", NULL, CHORDAL_E_RANGE},
    {"[1,2,3]", "[\"p\",[0],2,9007199254740991,[]]", NULL, CHORDAL_E_RANGE},
    {"{}", "[\"p\",[0],0,0,[1]]", NULL, CHORDAL_E_TYPE},
    {"[1,2,3]", "[\"m\",[0],[2,0,1]]", "[3,1,2]", 0},
    {"{\"a\":[1,2]}", "[\"m\",[0,\"a\"],[1,0]]", "{\"a\":[2,1]}", 0},
    {"[]", "[\"m\",[0],[]]", "[]", 0},
    {"[1,2,3]", "[\"m\",[0],[0,1]]", NULL, CHORDAL_E_PERMUTATION},
    {"[1,2,3]", "[\"m\",[0],[0,1,1]]", NULL, CHORDAL_E_PERMUTATION},
    {"[1,2,3]", "[\"m\",[0],[0,1,3]]", NULL, CHORDAL_E_PERMUTATION},
    {"\"abc\"", "[\"m\",[0],[0,1,2]]", NULL, CHORDAL_E_TYPE},
    {"{}", "[\"=\",[0,\"a\"],1]", "{\"a\":1}", 0},
    {"{}", "[\"=\",[0],1]", "1", 0},
    {"{}", "[\"!\",[0],\"x\",\"y\"]", NULL, CHORDAL_E_TYPE},
};

static void run_case(const apply_case *one, bool shared) {
    chordal__memory *memory = memory_open();
    chordal__node *value = value_of(memory, one->base), *held = shared ? chordal__node_ref(value) : NULL;
    chordal__op op = op_of(memory, one->op);
    int code = chordal__apply(memory, &value, &op, 512, NULL);
    if (code != one->code) CHECK_FAIL("%s: code %d", one->op, code);
    CHECK_VALUE(memory, value, one->result ? one->result : one->base);
    if (held) CHECK_VALUE(memory, held, one->base);
    chordal__op_dispose(memory, &op);
    chordal__node_unref(memory, value);
    chordal__node_unref(memory, held);
    memory_close(memory);
}

TEST(in_place) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run_case(&samples[i], false);
}

TEST(shared) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run_case(&samples[i], true);
}

TEST(no_value) {
    chordal__memory *memory = memory_open();
    chordal__node *value = NULL;
    chordal__op set = op_of(memory, "[\"s\",[0,\"a\"],1]"), replace = op_of(memory, "[\"r\",[0],[]]");
    CHECK_INT(chordal__apply(memory, &value, &set, 512, NULL), CHORDAL_E_PATH);
    CHECK_INT(chordal__apply(memory, &value, &replace, 512, NULL), 0);
    CHECK_VALUE(memory, value, "[]");
    chordal__op_dispose(memory, &set);
    chordal__op_dispose(memory, &replace);
    chordal__node_unref(memory, value);
    memory_close(memory);
}

TEST(depth) {
    static const struct {
        const char *op;
        uint32_t depth;
    } limits[] = {{"[\"r\",[0],[[1]]]", 2},
                  {"[\"s\",[0,\"a\",\"b\"],[[1]]]", 4},
                  {"[\"s\",[0,\"a\",\"b\"],1]", 2},
                  {"[\"p\",[0,\"a\",\"l\"],0,0,[[1]]]", 4},
                  {"[\"=\",[0,\"a\"],{}]", 2}};
    chordal__memory *memory = memory_open();
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        chordal__node *value = value_of(memory, "{\"a\":{\"b\":1,\"l\":[]}}");
        chordal__op op = op_of(memory, limits[i].op);
        CHECK_INT(chordal__apply(memory, &value, &op, limits[i].depth - 1, NULL), CHORDAL_E_DEPTH);
        CHECK_INT(chordal__apply(memory, &value, &op, limits[i].depth, NULL), 0);
        CHECK(chordal__node_depth(value) >= limits[i].depth);
        chordal__op_dispose(memory, &op);
        chordal__node_unref(memory, value);
    }
    memory_close(memory);
}

/* A token behind an own value costs no block; the nodes on the way stay. */
TEST(token) {
    chordal__memory *memory = memory_open();
    chordal__node *value = value_of(memory, "{\"entries\":[{\"text\":\"once\"},{\"text\":\"upon\"}]}"), *was = value;
    chordal__op op = op_of(memory, "[\"a\",[0,\"entries\",1,\"text\"],\" a\"]");
    CHECK_INT(chordal__apply(memory, &value, &op, 512, NULL), 0);
    uint64_t allocations = memory->allocations;
    for (int i = 0; i < 4; i++) CHECK_INT(chordal__apply(memory, &value, &op, 512, NULL), 0);
    CHECK(memory->allocations - allocations <= 2);
    CHECK(value == was);
    CHECK_VALUE(memory, value, "{\"entries\":[{\"text\":\"once\"},{\"text\":\"upon a a a a a\"}]}");
    chordal__op_dispose(memory, &op);
    chordal__node_unref(memory, value);
    memory_close(memory);
}

TEST(resolve) {
    chordal__memory *memory = memory_open();
    chordal__node *value = value_of(memory, "{\"a\":[1,{\"b\":2}]}");
    static const struct {
        const char *op;
        bool there;
    } places[] = {{"[\"d\",[7]]", true},
                  {"[\"d\",[7,\"a\"]]", true},
                  {"[\"d\",[7,\"a\",1,\"b\"]]", true},
                  {"[\"d\",[7,\"a\",2]]", false},
                  {"[\"d\",[7,\"a\",1,\"b\",0]]", false},
                  {"[\"d\",[7,0]]", false},
                  {"[\"d\",[7,\"a\",\"b\"]]", false}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        chordal__op op = op_of(memory, places[i].op);
        CHECK_INT(chordal__resolve(value, op.path) != NULL, places[i].there);
        CHECK(chordal__resolve(NULL, op.path) == NULL);
        chordal__op_dispose(memory, &op);
    }
    chordal__node_unref(memory, value);
    memory_close(memory);
}

TESTS({"in_place", in_place}, {"shared", shared}, {"no_value", no_value}, {"depth", depth}, {"token", token},
      {"resolve", resolve})
