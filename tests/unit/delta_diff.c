/* What turns one value into another: the ops themselves, and that they do. */
#include "unit/delta_text.h"

typedef struct diff_case {
    const char *before, *after, *ops;
} diff_case;

#define LONG "0123456789abcdefghijklmnopqrstuvwxyz"

#define T "\"" LONG "\""

static const diff_case scalars[] = {
    {"1", "1", "[]"},
    {"1", "1.0", "[]"},
    {"1", "2", "[\"r\",[0],2]"},
    {"null", "false", "[\"r\",[0],false]"},
    {"[]", "{}", "[\"r\",[0],{}]"},
    {"{\"a\":18446744073709551615}", "{\"a\":18446744073709551614}", "[\"s\",[0,\"a\"],18446744073709551614]"},
};

static const diff_case texts[] = {
    {"\"a\"", "\"a\"", "[]"},
    {"\"a\"", "\"abc\"", "[\"a\",[0],\"bc\"]"},
    {"\"\"", "\"abc\"", "[\"r\",[0],\"abc\"]"},
    {"\"abc\"", "\"\"", "[\"r\",[0],\"\"]"},
    {"\"abc\"", "\"xbc\"", "[\"r\",[0],\"xbc\"]"},
    {"[\"" LONG "\"]", "[\"" LONG "\xc3\xa9\"]", "[\"a\",[0,0],\"\xc3\xa9\"]"},
    {"\"\xc3\xa9"
     "12" LONG "\"",
     "\"" LONG "\"", "[\"t\",[0],3]"},
    {"\"\xf0\x9f\x98\x80" LONG "\"", "\"" LONG "end\"", "[\"t\",[0],2,\"a\",[0],\"end\"]"},
    {"\"x\\ud83d\"", "\"x\\ud83d\\ude00\"", "[\"a\",[0],\"\\ude00\"]"},
    {"\"x\\ud83d\"", "\"x\\ud83d\\ude00yz\"", "[\"a\",[0],\"\\ude00yz\"]"},
    {"\"x\\ud83d\"", "\"x\\ud83e\\ude00yz\"", "[\"r\",[0],\"x\xf0\x9f\xa8\x80yz\"]"},
    {"\"\\ud83d\"", "\"\\ud83d\\ude00\"", "[\"a\",[0],\"\\ude00\"]"},
    {"\"aaaaaaaaaaaaaaaaaaaaaaaab\"", "\"aaaaaaaaaaaaaaaaaaaabc\"", "[\"t\",[0],4,\"a\",[0],\"c\"]"},
};

static const diff_case objects[] = {
    {"{\"a\":1,\"b\":{\"x\":\"once\"},\"c\":3}", "{\"c\":3,\"b\":{\"x\":\"once upon\"},\"a\":1}",
     "[\"a\",[0,\"b\",\"x\"],\" upon\"]"},
    {"{\"a\":1,\"b\":\"" LONG "\",\"c\":\"" LONG "\"}", "{\"b\":\"" LONG "\",\"c\":\"" LONG "\",\"d\":2}",
     "[\"d\",[0,\"a\"],\"s\",[0,\"d\"],2]"},
    {"{\"a\":[1,{\"b\":2,\"c\":3}]}", "{\"a\":[1,{\"b\":4,\"c\":5}]}", "[\"s\",[0,\"a\",1],{\"b\":4,\"c\":5}]"},
    {"{\"t\":\"" LONG "\",\"a\":{\"b\":2,\"c\":3}}", "{\"t\":\"" LONG "\",\"a\":{\"b\":4,\"c\":5}}",
     "[\"s\",[0,\"a\"],{\"b\":4,\"c\":5}]"},
    {"{\"a\":" T ",\"b\":" T ",\"c\":" T "}", "{\"c\":" T ",\"b\":" T ",\"a\":" T ",\"d\":5}", "[\"s\",[0,\"d\"],5]"},
    {"{\"a\":" T ",\"b\":" T ",\"c\":" T "}", "{\"c\":" T ",\"x\":1,\"b\":" T ",\"y\":2}",
     "[\"d\",[0,\"a\"],\"s\",[0,\"x\"],1,\"s\",[0,\"y\"],2]"},
    {"{\"__proto__\":1}", "{\"__proto__\":2}", "[\"s\",[0,\"__proto__\"],2]"},
    {"{\"\":{\"\":1}}", "{\"\":{\"\":2}}", "[\"s\",[0,\"\",\"\"],2]"},
};

#define E(id, text) "{\"id\":" #id ",\"by\":\"somebody\",\"text\":\"" text "\"}"

static const diff_case arrays[] = {
    {"[1,2,3]", "[1,2,3,4]", "[\"p\",[0],3,0,[4]]"},
    {"[1,2,3]", "[0,1,2,3]", "[\"p\",[0],0,0,[0]]"},
    {"[1,2,3]", "[1,3]", "[\"p\",[0],1,1,[]]"},
    {"[1,2,3]", "[]", "[\"p\",[0],0,3,[]]"},
    {"[]", "[1]", "[\"p\",[0],0,0,[1]]"},
    {"[1,2,3]", "[1,5,3]", "[\"s\",[0,1],5]"},
    {"[1,1,1]", "[1,1]", "[\"p\",[0],2,1,[]]"},
    {"[70001,70002,70003,70004,70005]", "[70002,70003,70004,70005,6]", "[\"p\",[0],0,1,[],\"p\",[0],4,0,[6]]"},
    {"[1,2,3,4,5,6,7,8]", "[2,3,4,5,6,7,8,9]", "[\"r\",[0],[2,3,4,5,6,7,8,9]]"},
    {"[1,2,3,4,5,6,7,8]", "[1,2,30,40,5,6,7,8]", "[\"p\",[0],2,2,[30,40]]"},
    {"[\"" LONG "1\",\"" LONG "2\",\"" LONG "3\"]", "[\"" LONG "3\",\"" LONG "1\",\"" LONG "2\"]",
     "[\"m\",[0],[2,0,1]]"},
    {"[1,2,3,4,5,6,7,8]", "[8,7,6,5,4,3,2,1]", "[\"m\",[0],[7,6,5,4,3,2,1,0]]"},
    {"[" E(1, "a") "," E(2, "b") "]", "[" E(1, "a") "," E(2, "bc") "]", "[\"a\",[0,1,\"text\"],\"c\"]"},
    {"[" E(1, "a") "," E(2, "b") "]", "[" E(1, "a") "," E(2, "bc") "," E(3, "") "]",
     "[\"a\",[0,1,\"text\"],\"c\",\"p\",[0],2,0,[" E(3, "") "]]"},
    {"[" E(1, "a") "," E(2, "b") "," E(3, "c") "]", "[" E(2, "b!") "," E(3, "c!") "]",
     "[\"p\",[0],0,1,[],\"a\",[0,0,\"text\"],\"!\",\"a\",[0,1,\"text\"],\"!\"]"},
    {"[" E(1, "a") "," E(2, "b") "," E(3, "c") "," E(4, "d") "]",
     "[" E(4, "d") "," E(2, "b!") "," E(1, "a") "," E(3, "c") "]", "[\"m\",[0],[3,1,0,2],\"a\",[0,1,\"text\"],\"!\"]"},
    {"[[1,2,3,4,5,6,7,8,9]]", "[[1,2,3,4,5,6,7,8,9,10]]", "[\"p\",[0,0],9,0,[10]]"},
};

static void run_case(const diff_case *one) {
    chordal__memory *memory = memory_open();
    chordal__node *before = value_of(memory, one->before), *after = value_of(memory, one->after);
    chordal__path *path = chordal__path_new(memory, &(chordal__segment){.index = 0}, 1);
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__diff(&ops, path, before, after), 0);
    CHECK_OPS(&ops, one->ops);
    for (size_t i = 0; i < ops.count; i++) CHECK_INT(chordal__apply(memory, &before, &ops.items[i], 512, NULL), 0);
    CHECK(chordal__node_equal(before, after));
    chordal__ops_dispose(&ops);
    chordal__path_unref(memory, path);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

#define RUN(table)                                                                                                     \
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) run_case(&table[i])

TEST(scalar) {
    RUN(scalars);
}
TEST(text) {
    RUN(texts);
}
TEST(object) {
    RUN(objects);
}
TEST(array) {
    RUN(arrays);
}

/* ---- larger values, made here ---- */

static chordal__node *numbers(chordal__memory *memory, uint64_t first, size_t count, uint64_t step) {
    chordal__node **items = calloc(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = chordal__node_integer(memory, (int64_t)(first + i * step));
    chordal__node *array = chordal__node_array(memory, items, count);
    for (size_t i = 0; i < count; i++) chordal__node_unref(memory, items[i]);
    free(items);
    return array;
}

/* Diff, check that the ops do it, and give their number. */
static size_t count_ops(chordal__memory *memory, chordal__node *before, chordal__node *after, uint64_t *out_weight,
                        uint8_t *out_kind) {
    chordal__path *path = chordal__path_new(memory, &(chordal__segment){.index = 0}, 1);
    chordal__node *value = chordal__node_ref(before);
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__diff(&ops, path, before, after), 0);
    for (size_t i = 0; i < ops.count; i++) CHECK_INT(chordal__apply(memory, &value, &ops.items[i], 512, NULL), 0);
    CHECK(chordal__node_equal(value, after));
    size_t count = ops.count;
    *out_weight = ops.weight;
    *out_kind = count > 0 ? ops.items[0].kind : CHORDAL_OP_END;
    chordal__ops_dispose(&ops);
    chordal__path_unref(memory, path);
    chordal__node_unref(memory, value);
    return count;
}

TEST(large_shift) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    chordal__node *before = numbers(memory, 0, 3000, 7), *after = numbers(memory, 7, 3000, 7);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 2);
    CHECK(weight < 64);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* Changing every second element of many takes too many ops; the whole is replaced. */
TEST(too_many) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    size_t count = 4 * CHORDAL__OPS_LIMIT;
    chordal__node *before = numbers(memory, 0, count, 1000), *after = chordal__node_ref(before), *still = NULL;
    for (size_t i = 0; i < count; i += 2) {
        chordal__node *one = chordal__node_integer(memory, (int64_t)(i * 1000 + 1));
        after = chordal__node_replace(memory, after, i, one, &still);
        chordal__node_unref(memory, one);
    }
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 1);
    CHECK_INT(kind, CHORDAL_OP_REPLACE);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* A thousand entries of which one streams: the ops are as small as for one entry alone. */
TEST(one_of_many) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    chordal__node *before = value_of(memory, "[]"), *still = NULL;
    chordal__node *entry = value_of(memory, E(1, "once"));
    for (uint64_t i = 0; i < 1000; i++) before = chordal__node_splice(memory, before, i, 0, &entry, 1, &still);
    chordal__node *after = chordal__node_ref(before);
    chordal__op op = op_of(memory, "[\"a\",[0,999,\"text\"],\" upon\"]");
    CHECK_INT(chordal__apply(memory, &after, &op, 512, NULL), 0);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 1);
    CHECK_INT(kind, CHORDAL_OP_APPEND);
    CHECK(weight < 32);
    chordal__op_dispose(memory, &op);
    chordal__node_unref(memory, entry);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* One element of many goes elsewhere: out and in again, which is lighter than an order of all. */
TEST(one_moved) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    chordal__node *before = numbers(memory, 1000, 1000, 3), *after = chordal__node_ref(before), *still = NULL;
    chordal__node *moved = chordal__node_at(before, 900);
    after = chordal__node_splice(memory, after, 900, 1, NULL, 0, &still);
    after = chordal__node_splice(memory, after, 100, 0, &moved, 1, &still);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 2);
    CHECK_INT(kind, CHORDAL_OP_SPLICE);
    CHECK(weight < 32);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* Keys taken out of, put into and changed in a large object. */
TEST(large_object) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    chordal__node *before = chordal__node_object(memory), *still = NULL;
    for (int i = 0; i < 5000; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "key%d", i);
        chordal__node *one = chordal__node_integer(memory, i);
        before = chordal__node_put(memory, before, key, (size_t)len, one, &still);
    }
    chordal__node *after = chordal__node_ref(before), *new = chordal__node_integer(memory, -1);
    after = chordal__node_remove(memory, after, "key10", 5, &still);
    after = chordal__node_remove(memory, after, "key4000", 7, &still);
    after = chordal__node_put(memory, after, "key20", 5, new, &still);
    after = chordal__node_put(memory, after, "key10", 5, new, &still);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 3);
    CHECK(weight < 64);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

TEST(no_value) {
    chordal__memory *memory = memory_open();
    chordal__node *after = value_of(memory, "[1]");
    chordal__op at = op_of(memory, "[\"d\",[0]]");
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__diff(&ops, at.path, NULL, after), 0);
    CHECK_OPS(&ops, "[\"r\",[0],[1]]");
    chordal__ops_dispose(&ops);
    chordal__op_dispose(memory, &at);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* What lies very deep is set at a place above it. */
TEST(deep) {
    chordal__memory *memory = memory_open();
    uint64_t weight;
    uint8_t kind;
    char text[220] = {0};
    memset(text, '[', 100);
    memset(text + 101, ']', 100);
    text[100] = '1';
    chordal__node *before = value_of(memory, text);
    text[100] = '2';
    chordal__node *after = value_of(memory, text);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 1);
    CHECK_INT(kind, CHORDAL_OP_SET);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* A window over a long text: what was lost in front, what came behind. */
TEST(window) {
    enum { SIZE = 200000, DROP = 70001, MORE = 17 };
    chordal__memory *memory = memory_open();
    char *text = malloc(SIZE + MORE);
    uint64_t weight, state = 7;
    uint8_t kind;
    for (size_t i = 0; i < SIZE + MORE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)('a' + (state >> 60));
    }
    chordal__node *before = chordal__node_string(memory, text, SIZE);
    chordal__node *after = chordal__node_string(memory, text + DROP, SIZE - DROP + MORE);
    CHECK_INT(count_ops(memory, before, after, &weight, &kind), 2);
    CHECK_INT(kind, CHORDAL_OP_TRUNCATE);
    CHECK(weight < 64);
    free(text);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

/* Ops that were in the list stay, whatever is appended. */
TEST(behind_others) {
    chordal__memory *memory = memory_open();
    chordal__ops ops;
    ops_of(&ops, memory, "[\"s\",[0,\"x\"],1]");
    chordal__node *before = value_of(memory, "[1]"), *after = value_of(memory, "[1,2]");
    chordal__op at = op_of(memory, "[\"d\",[2,\"list\"]]");
    CHECK_INT(chordal__diff(&ops, at.path, before, after), 0);
    CHECK_OPS(&ops, "[\"s\",[0,\"x\"],1,\"p\",[2,\"list\"],1,0,[2]]");
    chordal__op_dispose(memory, &at);
    chordal__ops_dispose(&ops);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    memory_close(memory);
}

TESTS({"scalar", scalar}, {"text", text}, {"object", object}, {"array", array}, {"large_shift", large_shift},
      {"too_many", too_many}, {"one_of_many", one_of_many}, {"window", window}, {"one_moved", one_moved},
      {"large_object", large_object}, {"no_value", no_value}, {"deep", deep}, {"behind_others", behind_others})
