/* Lists of ops. */
#include "unit/delta_text.h"

TEST(weight) {
    static const struct {
        const char *op;
        uint64_t weight;
    } ops[] = {
        {"[\"d\",[0,\"ab\"]]", 6},       {"[\"s\",[0],1]", 4},   {"[\"s\",[0],\"abc\"]", 8}, {"[\"s\",[200],1.5]", 13},
        {"[\"s\",[0],{\"a\":[1]}]", 10}, {"[\"t\",[0],9]", 6},   {"[\"p\",[0],0,1,[]]", 6},  {"[\"m\",[0],[1,0]]", 7},
        {"[\"s\",[0],1000]", 6},         {"[\"s\",[0],null]", 4}};
    chordal__memory *memory = memory_open();
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        chordal__ops list;
        ops_of(&list, memory, ops[i].op);
        CHECK_INT(list.weight, ops[i].weight);
        chordal__ops_clear(&list);
        CHECK_INT(list.weight, 0);
        chordal__ops_dispose(&list);
    }
    memory_close(memory);
}

TEST(append) {
    chordal__memory *memory = memory_open();
    chordal__ops a, b;
    ops_of(&a, memory, "[\"s\",[0,\"a\"],1]");
    ops_of(&b, memory, "[\"m\",[0,\"b\"],[1,0],\"p\",[0,\"b\"],0,0,[1],\"!\",[3],\"x\",\"y\"]");
    uint64_t weight = a.weight + b.weight;
    CHECK_INT(chordal__ops_append(&a, &b), 0);
    chordal__ops_dispose(&b);
    CHECK_OPS(&a, "[\"s\",[0,\"a\"],1,\"m\",[0,\"b\"],[1,0],\"p\",[0,\"b\"],0,0,[1],\"!\",[3],[\"x\",\"y\"]]");
    CHECK_INT(a.weight, weight);
    chordal__ops_dispose(&a);
    chordal__ops_dispose(&a);
    memory_close(memory);
}

TESTS({"weight", weight}, {"append", append})
