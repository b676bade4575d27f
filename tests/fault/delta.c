/* Room delta under failing allocation: what is refused changes nothing and works when tried again. */
#include "fault/sweep.h"

#include "unit/delta_text.h"

static chordal__memory *open_quietly(const chordal_memory_functions *functions, fault_memory *fault) {
    fault_heal(fault);
    return chordal__memory_new(functions, UINT64_MAX);
}

/* From here on the planned allocation fails. */
static void arm(fault_memory *fault) {
    fault->requests = 0;
    fault->healed = false;
}

static int close_all(chordal__memory *memory, int code) {
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
    return code;
}

/* ---- the things that are swept: each with its own text ---- */

#define LONG "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"
#define TREE "{\"t\":\"" LONG "\",\"l\":[1,[2,3],{\"x\":\"" LONG "\",\"y\":[]}],\"o\":{\"a\":{\"b\":{\"c\":1}}}}"

static const char *const edits[] = {
    "[\"s\",[0,\"o\",\"a\",\"b\",\"c\"],[1,2]]",
    "[\"s\",[0,\"o\",\"a\",\"new\"],{}]",
    "[\"s\",[0,\"l\",3],4]",
    "[\"s\",[0,\"l\",1],4]",
    "[\"d\",[0,\"o\",\"a\"]]",
    "[\"d\",[0,\"l\",0]]",
    "[\"a\",[0,\"l\",2,\"x\"],\"" LONG "\"]",
    "[\"t\",[0,\"t\"],5]",
    "[\"p\",[0,\"l\",1],1,1,[\"" LONG "\",[]]]",
    "[\"m\",[0,\"l\"],[2,0,1]]",
    "[\"=\",[0,\"l\"],[[2,3],{\"x\":\"" LONG "!\",\"y\":[5]},1,7]]",
    "[\"=\",[0],{\"t\":\"23456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz and more\",\"o\":{}}]",
};

/* One op on a value that another holds too. */
static int apply_shared(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__node *value = value_of(memory, TREE), *held = chordal__node_ref(value);
    chordal__op op = op_of(memory, context);
    arm(fault);
    int code = chordal__apply(memory, &value, &op, 512, NULL);
    fault_heal(fault);
    if (code != 0) CHECK(chordal__node_equal(value, held));
    CHECK_VALUE(memory, held, TREE);
    if (code != 0) CHECK_INT(chordal__apply(memory, &value, &op, 512, NULL), 0);
    chordal__node_unref(memory, held);
    chordal__op_dispose(memory, &op);
    chordal__node_unref(memory, value);
    return close_all(memory, code);
}

/* All ops in one draft; each that is refused is done again. */
static int draft_all(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__node *base = value_of(memory, TREE), *done = value_of(memory, context), *value = chordal__node_ref(base);
    chordal__draft draft;
    CHECK_INT(chordal__draft_begin(&draft, memory, base, 64), 0);
    int first = 0;
    arm(fault);
    for (uint64_t at = 0; at < chordal__node_length(done);) {
        uint64_t from = at, requests = fault->requests;
        bool healed = fault->healed;
        fault->healed = true;
        chordal__op op = read_op(memory, done, &at);
        chordal__node *before = chordal__node_ref(draft.value);
        uint64_t weight = draft.ops.weight;
        fault->healed = healed;
        fault->requests = requests;
        int code = chordal__draft_do(&draft, op, NULL);
        if (code != 0) {
            first = code, at = from;
            fault_heal(fault);
            CHECK(chordal__node_equal(draft.value, before));
            CHECK(draft.ops.weight == weight);
        }
        chordal__node_unref(memory, before);
    }
    fault_heal(fault);
    for (size_t i = 0; i < draft.ops.count; i++) {
        CHECK_INT(chordal__apply(memory, &value, &draft.ops.items[i], 512, NULL), 0);
    }
    CHECK(chordal__node_equal(value, draft.value));
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, base);
    chordal__node_unref(memory, done);
    chordal__node_unref(memory, value);
    return close_all(memory, first);
}

typedef struct text_pair {
    const char *first, *then;
} text_pair;

static void write_list(chordal__buffer *buffer, const chordal__ops *ops) {
    chordal__buffer_init(buffer, ops->memory, SIZE_MAX);
    write_ops(buffer, ops);
}

static int fold_pair(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    const text_pair *pair = context;
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__ops first, then;
    ops_of(&first, memory, pair->first);
    ops_of(&then, memory, pair->then);
    uint64_t weight = first.weight;
    chordal__buffer before, after;
    write_list(&before, &first);
    arm(fault);
    int code = chordal__fold(&first, &then);
    fault_heal(fault);
    write_list(&after, &first);
    if (code != 0) {
        CHECK_BYTES((char *)after.data, after.len, (char *)before.data, before.len);
        CHECK(first.weight == weight);
        CHECK_INT(chordal__fold(&first, &then), 0);
    }
    chordal__buffer_dispose(&before);
    chordal__buffer_dispose(&after);
    chordal__ops_dispose(&first);
    chordal__ops_dispose(&then);
    return close_all(memory, code);
}

static int diff_pair(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    const text_pair *pair = context;
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__node *before = value_of(memory, pair->first), *after = value_of(memory, pair->then);
    chordal__ops ops;
    ops_of(&ops, memory, "[\"t\",[1],1]");
    chordal__op place = op_of(memory, "[\"d\",[0,\"at\"]]");
    arm(fault);
    int code = chordal__diff(&ops, place.path, before, after);
    fault_heal(fault);
    if (code != 0) CHECK_OPS(&ops, "[\"t\",[1],1]");
    if (code != 0) CHECK_INT(chordal__diff(&ops, place.path, before, after), 0);
    CHECK(ops.count > 1);
    chordal__op_dispose(memory, &place);
    chordal__ops_dispose(&ops);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, after);
    return close_all(memory, code);
}

static void list_paths(chordal__buffer *buffer, const chordal__dictionary *dictionary) {
    chordal__buffer_init(buffer, dictionary->memory, SIZE_MAX);
    chordal__buffer_decimal(buffer, dictionary->generation_cut);
    for (size_t i = 0; i < dictionary->count; i++) {
        write_path(buffer, dictionary->entries[i].path);
        CHECK_INT(chordal__dictionary_id(dictionary, dictionary->entries[i].path), i);
    }
}

/* Two commits; the second makes several definitions and begins new generations. */
static int note_commits(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    const text_pair *pair = context;
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__dictionary dictionary;
    CHECK_INT(chordal__dictionary_init(&dictionary, memory, 2, (const uint64_t[2]){1, 2}), 0);
    chordal__ops first, then;
    ops_of(&first, memory, pair->first);
    ops_of(&then, memory, pair->then);
    CHECK_INT(chordal__dictionary_note(&dictionary, &first, 1), 0);
    chordal__buffer before, after;
    list_paths(&before, &dictionary);
    arm(fault);
    int code = chordal__dictionary_note(&dictionary, &then, 2);
    fault_heal(fault);
    list_paths(&after, &dictionary);
    if (code != 0) CHECK_BYTES((char *)after.data, after.len, (char *)before.data, before.len);
    chordal__buffer_dispose(&before);
    chordal__buffer_dispose(&after);
    chordal__ops_dispose(&first);
    chordal__ops_dispose(&then);
    chordal__dictionary_dispose(&dictionary);
    return close_all(memory, code);
}

static int make_path(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = open_quietly(functions, fault);
    chordal__node *root = value_of(memory, TREE);
    chordal__path *path = NULL;
    arm(fault);
    int code = chordal__path_from_pointer(memory, 0, context, root, &path, NULL);
    chordal__path_unref(memory, path);
    chordal__node_unref(memory, root);
    return close_all(memory, code);
}

/* ---- the sweeps ---- */

typedef int scenario(const chordal_memory_functions *functions, fault_memory *fault, void *context);

static void sweep(const char *name, scenario *run, const void *context) {
    fault_plan plan = {.name = name, .scenario = run, .context = (void *)(uintptr_t)context, .benign = true};
    CHECK(fault_sweep(&plan) > 0);
}

TEST(apply) {
    for (size_t i = 0; i + 1 < sizeof edits / sizeof *edits; i++) sweep(edits[i], apply_shared, edits[i]);
}

TEST(draft) {
    static const char *const lists[] = {
        "[\"a\",[0,\"t\"],\"x\",\"a\",[0,\"t\"],\"" LONG "\",\"t\",[0,\"t\"],3]",
        ("[\"p\",[0,\"l\"],3,0,[{\"x\":\"\"}],\"a\",[0,\"l\",3,\"x\"],\"1\",\"p\",[0,\"l\"],4,0,[2],\"m\",[0,\"l\"],"
         "[4,3,2,1,0]]"),
        "[\"s\",[0],{\"a\":[]},\"p\",[0,\"a\"],0,0,[1,2],\"m\",[0,\"a\"],[1,0],\"s\",[0,\"a\"],\"\",\"d\",[0,\"a\"]]",
        "[\"m\",[0,\"l\"],[2,1,0],\"m\",[0,\"l\"],[2,1,0],\"d\",[0,\"t\"],\"s\",[0,\"t\"],1]",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) sweep(lists[i], draft_all, lists[i]);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) sweep(edits[i], draft_all, edits[i]);
}

TEST(fold) {
    static const text_pair pairs[] = {
        {"[\"a\",[0,\"t\"],\"x\"]", "[\"a\",[0,\"t\"],\"y\",\"a\",[0,\"t\"],\"z\",\"s\",[0,\"o\"],1]"},
        {"[\"s\",[0,\"a\"],1,\"s\",[0,\"b\",\"c\"],2,\"!\",[0],\"x\",\"y\",\"m\",[0,\"l\"],[1,0]]",
         "[\"s\",[0,\"b\"],{},\"s\",[0,\"b\",\"d\"],1,\"m\",[0,\"l\"],[1,0],\"!\",[0],\"z\",\"\",\"s\",[0,\"b\",\"e\"],"
         "1,"
         "\"s\",[0,\"b\",\"e\"],[2]]"},
        {"[\"p\",[0,\"l\"],1,2,[1,2]]",
         "[\"p\",[0,\"l\"],2,2,[3],\"s\",[0,\"l\",1],[],\"p\",[0,\"l\",1],0,0,[1],\"p\",[0,\"l\"],0,3,[]]"},
        {"[\"s\",[0,\"a\"],1,\"a\",[1],\"x\",\"s\",[0,\"b\"],2]",
         "[\"a\",[1],\"y\",\"r\",[0],[],\"s\",[0,0],1,\"s\",[1],3]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) sweep(pairs[i].then, fold_pair, &pairs[i]);
}

TEST(diff) {
    static const text_pair pairs[] = {
        {"[1,2,3,4,5,6,\"" LONG "\"]", "[\"" LONG "\",6,5,4,3,2,1,0]"},
        {"{\"a\":\"" LONG "\",\"b\":{\"c\":1,\"d\":\"" LONG "\"}}",
         "{\"b\":{\"c\":2,\"d\":\"89abcdefghijklmnopqrstuvwxyz" LONG "\"},\"e\":[]}"},
        {"[{\"id\":1,\"t\":\"" LONG "\"},{\"id\":2,\"t\":\"" LONG "\"}]",
         "[{\"id\":2,\"t\":\"" LONG "x\"},{\"id\":3,\"t\":\"" LONG "\"},4]"},
        {"\"\\ud83d\"", "\"\\ud83d\\ude00x\""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) sweep(pairs[i].then, diff_pair, &pairs[i]);
}

TEST(dictionary) {
    static const text_pair pairs[] = {
        {"[\"d\",[0,\"a\"],\"d\",[0,\"a\"],\"d\",[0,\"b\"]]",
         "[\"d\",[0,\"c\"],\"d\",[0,\"b\"],\"d\",[0,\"c\"],\"d\",[0,\"e\"],\"d\",[0,\"e\"]]"},
        {"[\"d\",[0,\"a\"],\"d\",[0,\"a\"]]",
         "[\"d\",[0,1],\"d\",[0,1],\"d\",[0,2],\"d\",[0,2],\"d\",[0,3],\"d\",[0,3],\"d\",[0,4],\"d\",[0,4]]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) sweep(pairs[i].then, note_commits, &pairs[i]);
}

TEST(pointer) {
    sweep("pointer", make_path, "/o/a/b/c");
}

TESTS({"apply", apply}, {"draft", draft}, {"fold", fold}, {"diff", diff}, {"dictionary", dictionary},
      {"pointer", pointer})
