/* Lists of ops merged: as few as can be, and always the same value. */
#include "unit/delta_text.h"

typedef struct fold_case {
    const char *base, *first, *then, *folded;
} fold_case;

#define AB "{\"a\":\"x\",\"b\":[\"p\",\"q\",\"r\"],\"c\":{\"d\":1}}"

static const fold_case samples[] = {
    {AB, "[]", "[]", "[]"},
    {AB, "[]", "[\"a\",[0,\"a\"],\"1\"]", "[\"a\",[0,\"a\"],\"1\"]"},
    {AB, "[\"a\",[0,\"a\"],\"1\"]", "[]", "[\"a\",[0,\"a\"],\"1\"]"},
    {AB, "[\"a\",[0,\"a\"],\"1\"]", "[\"a\",[0,\"a\"],\"2\"]", "[\"a\",[0,\"a\"],\"12\"]"},
    {AB, "[\"a\",[0,\"a\"],\"1\",\"a\",[0,\"b\",0],\"2\"]", "[\"a\",[0,\"b\",0],\"3\",\"a\",[0,\"a\"],\"4\"]",
     "[\"a\",[0,\"a\"],\"14\",\"a\",[0,\"b\",0],\"23\"]"},
    {AB, "[\"a\",[0,\"a\"],\"1\"]", "[\"t\",[0,\"a\"],1,\"a\",[0,\"a\"],\"2\"]",
     "[\"a\",[0,\"a\"],\"1\",\"t\",[0,\"a\"],1,\"a\",[0,\"a\"],\"2\"]"},
    {AB, "[\"t\",[0,\"a\"],1]", "[\"t\",[0,\"a\"],0,\"a\",[0,\"a\"],\"2\"]",
     "[\"t\",[0,\"a\"],1,\"a\",[0,\"a\"],\"2\"]"},
    {AB, "[\"a\",[0,\"a\"],\"1\"]", "[\"s\",[0,\"a\"],5]", "[\"s\",[0,\"a\"],5]"},
    {AB, "[\"s\",[0,\"a\"],5]", "[\"s\",[0,\"a\"],6]", "[\"s\",[0,\"a\"],6]"},
    {AB, "[\"s\",[0,\"n\"],5]", "[\"d\",[0,\"n\"]]", "[\"s\",[0,\"n\"],5,\"d\",[0,\"n\"]]"},
    {AB, "[\"d\",[0,\"a\"]]", "[\"s\",[0,\"a\"],6]", "[\"s\",[0,\"a\"],6]"},
    {AB, "[\"a\",[0,\"a\"],\"1\"]", "[\"d\",[0,\"a\"]]", "[\"d\",[0,\"a\"]]"},
    {AB, "[\"s\",[0,\"a\"],\"1\",\"s\",[0,\"c\",\"d\"],2]", "[\"r\",[0],3]", "[\"r\",[0],3]"},
    {AB, "[\"r\",[0],{\"a\":\"\"}]", "[\"a\",[0,\"a\"],\"1\",\"d\",[0,\"a\"]]", "[\"r\",[0],{}]"},
    {AB, "[\"s\",[0,\"c\",\"d\"],2,\"s\",[0,\"c\",\"e\"],3]", "[\"s\",[0,\"c\"],4]", "[\"s\",[0,\"c\"],4]"},
    {AB, "[\"s\",[0,\"c\"],{}]", "[\"s\",[0,\"c\",\"x\"],{\"y\":[]},\"p\",[0,\"c\",\"x\",\"y\"],0,0,[1]]",
     "[\"s\",[0,\"c\"],{\"x\":{\"y\":[1]}}]"},
    /* A splice moves what lies behind it and nothing before. */
    {AB, "[\"a\",[0,\"b\",0],\"1\",\"a\",[0,\"b\",2],\"2\"]",
     "[\"p\",[0,\"b\"],1,1,[],"
     "\"a\",[0,\"b\",0],\"3\",\"a\",[0,\"b\",1],\"4\"]",
     "[\"a\",[0,\"b\",0],\"13\",\"a\",[0,\"b\",2],\"2\",\"p\",[0,\"b\"],1,1,[],\"a\",[0,\"b\",1],\"4\"]"},
    {AB, "[\"p\",[0,\"b\"],3,0,[\"s\"]]",
     "[\"a\",[0,\"b\",3],\"1\",\"p\",[0,\"b\"],4,0,[\"t\"],\"a\",[0,\"b\",4],\"2\"]",
     "[\"p\",[0,\"b\"],3,0,[\"s1\",\"t2\"]]"},
    {AB, "[\"p\",[0,\"b\"],1,1,[1,2,3]]", "[\"p\",[0,\"b\"],0,3,[9]]", "[\"p\",[0,\"b\"],0,2,[9,3]]"},
    {AB, "[\"p\",[0,\"b\"],1,1,[1,2,3]]", "[\"p\",[0,\"b\"],2,3,[9]]", "[\"p\",[0,\"b\"],1,2,[1,9]]"},
    {AB, "[\"p\",[0,\"b\"],0,1,[]]", "[\"p\",[0,\"b\"],0,1,[]]", "[\"p\",[0,\"b\"],0,2,[]]"},
    {AB, "[\"p\",[0,\"b\"],0,0,[1]]", "[\"p\",[0,\"b\"],3,0,[2]]", "[\"p\",[0,\"b\"],0,0,[1],\"p\",[0,\"b\"],3,0,[2]]"},
    {AB, "[\"p\",[0,\"b\"],0,0,[1]]", "[\"p\",[0,\"b\"],0,1,[]]", "[]"},
    {AB, "[\"m\",[0,\"b\"],[1,2,0]]", "[\"m\",[0,\"b\"],[1,2,0]]", "[\"m\",[0,\"b\"],[2,0,1]]"},
    {AB, "[\"a\",[0,\"b\",0],\"1\",\"m\",[0,\"b\"],[1,2,0]]", "[\"a\",[0,\"b\",0],\"2\"]",
     "[\"a\",[0,\"b\",0],\"1\",\"m\",[0,\"b\"],[1,2,0],\"a\",[0,\"b\",0],\"2\"]"},
    {AB, "[\"a\",[0,\"b\",0],\"1\",\"d\",[0,\"b\",1]]", "[\"a\",[0,\"b\",0],\"2\",\"a\",[0,\"b\",1],\"3\"]",
     "[\"a\",[0,\"b\",0],\"12\",\"d\",[0,\"b\",1],\"a\",[0,\"b\",1],\"3\"]"},
    {AB, "[\"s\",[0,\"b\",2],1,\"d\",[0,\"b\",1]]", "[\"s\",[0,\"b\",2],2]",
     "[\"s\",[0,\"b\",2],1,\"d\",[0,\"b\",1],\"s\",[0,\"b\",2],2]"},
    {AB, "[\"s\",[0,\"b\",3],1]", "[\"s\",[0,\"b\",4],2,\"s\",[0,\"b\",3],3]",
     "[\"s\",[0,\"b\",3],3,\"s\",[0,\"b\",4],2]"},
    /* The later one cannot go before what it builds on. */
    {AB, "[\"s\",[0,\"b\"],[],\"s\",[0,\"b\",0],1]", "[\"s\",[0,\"b\",1],2]",
     "[\"s\",[0,\"b\"],[],\"s\",[0,\"b\",0],1,\"s\",[0,\"b\",1],2]"},
    {AB, "[\"!\",[0],\"bad\",\"worse\"]", "[\"a\",[0,\"a\"],\"1\",\"!\",[0],\"\",\"\"]",
     "[\"!\",[0],\"a\",[0,\"a\"],\"1\"]"},
    {AB, "[\"!\",[0],\"bad\",\"worse\"]", "[\"r\",[0],1]", "[\"!\",[0],[\"bad\",\"worse\"],\"r\",[0],1]"},
    {AB, "[\"!\",[0],\"bad\",\"worse\"]", "[\"!\",[1],\"a\",\"b\"]",
     "[\"!\",[0],[\"bad\",\"worse\"],\"!\",[1],[\"a\",\"b\"]]"},
    {AB, "[\"s\",[1,\"a\"],5]", "[\"r\",[0],1,\"s\",[1,\"a\"],6]", "[\"s\",[1,\"a\"],6,\"r\",[0],1]"},
};

static void apply_all(chordal__memory *memory, chordal__node **values, const chordal__ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->items[i].kind == CHORDAL_OP_ERROR) continue;
        uint64_t member = ops->items[i].path->segments[0].index;
        CHECK_INT(chordal__apply(memory, &values[member], &ops->items[i], 512, NULL), 0);
    }
}

static void run_case(const fold_case *one) {
    chordal__memory *memory = memory_open();
    chordal__node *values[2] = {value_of(memory, one->base), value_of(memory, one->base)};
    chordal__node *folded[2] = {chordal__node_ref(values[0]), chordal__node_ref(values[1])};
    chordal__ops first, then;
    ops_of(&first, memory, one->first);
    ops_of(&then, memory, one->then);
    apply_all(memory, values, &first);
    apply_all(memory, values, &then);
    CHECK_INT(chordal__fold(&first, &then), 0);
    CHECK_OPS(&first, one->folded);
    apply_all(memory, folded, &first);
    for (int i = 0; i < 2; i++) {
        CHECK(chordal__node_equal(values[i], folded[i]));
        chordal__node_unref(memory, values[i]);
        chordal__node_unref(memory, folded[i]);
    }
    CHECK(first.count > 0 || first.weight == 0);
    chordal__ops_dispose(&first);
    chordal__ops_dispose(&then);
    memory_close(memory);
}

TEST(folded) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run_case(&samples[i]);
}

/* Many commits of one token each stay one op, whose weight is that of its text. */
TEST(tokens) {
    chordal__memory *memory = memory_open();
    chordal__ops all, one;
    ops_of(&all, memory, "[\"a\",[0,\"entries\",9,\"text\"],\" tok\",\"s\",[0,\"at\"],1]");
    ops_of(&one, memory, "[\"a\",[0,\"entries\",9,\"text\"],\" tok\",\"s\",[0,\"at\"],2]");
    uint64_t allocations = memory->allocations;
    for (int i = 1; i < 5000; i++) CHECK_INT(chordal__fold(&all, &one), 0);
    CHECK_INT(all.count, 2);
    CHECK_INT(chordal__node_length(all.items[0].value), 20000);
    CHECK(all.weight >= 20000 && all.weight < 40000);
    CHECK(memory->allocations - allocations < 5000 * 8);
    chordal__ops_dispose(&all);
    chordal__ops_dispose(&one);
    memory_close(memory);
}

TESTS({"folded", folded}, {"tokens", tokens})
