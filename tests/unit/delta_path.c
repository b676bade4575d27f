/* Paths and JSON Pointers. */
#include "unit/delta_text.h"

static chordal__path *path_text(chordal__memory *memory, const char *json) {
    chordal__node *segments = value_of(memory, json);
    chordal__path *path = path_of(memory, segments);
    chordal__node_unref(memory, segments);
    return path;
}

TEST(equality) {
    static const char *const texts[] = {"[0]",        "[1]",     "[0,\"a\"]",        "[0,\"a\",\"\"]",   "[0,1]",
                                        "[0,\"1\"]",  "[0,128]", "[0,\"ab\",\"c\"]", "[0,\"a\",\"bc\"]", "[0,\"a\",1]",
                                        "[0,\"a\",2]"};
    chordal__memory *memory = memory_open();
    size_t count = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            chordal__path *a = path_text(memory, texts[i]), *b = path_text(memory, texts[j]);
            CHECK_INT(chordal__path_equal(a, b), i == j);
            CHECK_INT(a->hash == b->hash, i == j);
            chordal__path_unref(memory, a);
            chordal__path_unref(memory, b);
        }
    }
    memory_close(memory);
}

/* The hash is that of the bytes of an inline path. */
TEST(hash) {
    static const uint8_t bytes[] = {3, 0, 0x80, 2, 5, 'a', 'b'};
    chordal__memory *memory = memory_open();
    chordal__path *path = path_text(memory, "[0,128,\"ab\"]");
    CHECK(path->hash == chordal__fnv(CHORDAL__FNV_START, bytes, sizeof bytes));
    chordal__path_unref(memory, chordal__path_ref(path));
    chordal__path_unref(memory, path);
    chordal__path_unref(memory, NULL);
    memory_close(memory);
}

static const struct {
    const char *pointer, *path; /* NULL: refused */
    uint64_t position;
} pointers[] = {
    {"", "[3]", 0},
    {"/a", "[3,\"a\"]", 0},
    {"/new", "[3,\"new\"]", 0},
    {"/", "[3,\"\"]", 0},
    {"//x", "[3,\"\",\"x\"]", 0},
    {"/list/0", "[3,\"list\",0]", 0},
    {"/list/2", "[3,\"list\",2]", 0},
    {"/list/-", "[3,\"list\",2]", 0},
    {"/list/77", "[3,\"list\",77]", 0},
    {"/list/1/k", "[3,\"list\",1,\"k\"]", 0},
    {"/a~1b", "[3,\"a/b\"]", 0},
    {"/m~0n/0", "[3,\"m~n\",\"0\"]", 0},
    {"/~01", "[3,\"~1\"]", 0},
    {"a", NULL, 0},
    {"/~2", NULL, 0},
    {"/~", NULL, 0},
    {"/list/01", NULL, 5},
    {"/list/+1", NULL, 5},
    {"/list/", NULL, 5},
    {"/list/2/x", NULL, 7},
    {"/list/-/x", NULL, 7},
    {"/list/9999999999999999999", NULL, 5},
    {"/a/b", NULL, 2},
    {"/new/b", NULL, 4},
    {"/\xff", NULL, 1},
};

TEST(from_pointer) {
    chordal__memory *memory = memory_open();
    chordal__node *root = value_of(memory, "{\"a\":1,\"list\":[1,{}],\"\":{},\"a/b\":1,\"m~n\":{},\"~1\":0}");
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        chordal__path *path = NULL;
        chordal_error error = {0};
        int code = chordal__path_from_pointer(memory, 3, pointers[i].pointer, root, &path, &error);
        CHECK_INT(code, pointers[i].path ? 0 : CHORDAL_E_PATH);
        if (!path) {
            if (error.position != pointers[i].position)
                CHECK_FAIL("%s: at %" PRIu64, pointers[i].pointer, error.position);
            continue;
        }
        chordal__path *expected = path_text(memory, pointers[i].path);
        if (!chordal__path_equal(path, expected)) CHECK_FAIL("%s", pointers[i].pointer);
        chordal__path_unref(memory, path);
        chordal__path_unref(memory, expected);
    }
    chordal__node_unref(memory, root);
    memory_close(memory);
}

TEST(no_value) {
    chordal__memory *memory = memory_open();
    chordal__path *path = NULL;
    CHECK_INT(chordal__path_from_pointer(memory, 0, "", NULL, &path, NULL), 0);
    chordal__path_unref(memory, path);
    CHECK_INT(chordal__path_from_pointer(memory, 0, "/a", NULL, &path, NULL), CHORDAL_E_PATH);
    memory_close(memory);
}

static chordal__path *pointed(chordal__pointers *kept, const chordal__node *root, const char *pointer,
                              const char *expected) {
    chordal__path *path = NULL, *wanted = path_text(kept->memory, expected);
    CHECK_INT(chordal__pointers_path(kept, 3, pointer, root, &path, NULL), 0);
    if (!chordal__path_equal(path, wanted)) CHECK_FAIL("%s is not %s", pointer, expected);
    chordal__path_unref(kept->memory, wanted);
    return path;
}

/* What was read last is found again, in the same member alone, and only where it leads the same way. */
TEST(known_pointers) {
    static const char *const texts[] = {"", "/a", "/list/1", "/list/1/bb", "/m~0n", "/list/1/0123456789"};
    static const char *const paths[] = {
        "[3]", "[3,\"a\"]", "[3,\"list\",1]", "[3,\"list\",1,\"bb\"]", "[3,\"m~n\"]", "[3,\"list\",1,\"0123456789\"]"};
    chordal__memory *memory = memory_open();
    chordal__node *root = value_of(memory, "{\"a\":1,\"list\":[1,{}],\"m~n\":{}}");
    chordal__node *other = value_of(memory, "{\"a\":1,\"list\":{\"1\":[0]}}");
    chordal__pointers kept;
    chordal__pointers_init(&kept, memory);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(!chordal__pointers_known(&kept, 3, texts[i]));
        chordal__path *path = pointed(&kept, root, texts[i], paths[i]);
        chordal__path *again = pointed(&kept, root, texts[i], paths[i]);
        CHECK(path == again && chordal__pointers_known(&kept, 3, texts[i]) == path);
        CHECK(!chordal__pointers_known(&kept, 2, texts[i]));
        chordal__path_unref(memory, path);
        chordal__path_unref(memory, again);
    }
    chordal__path_unref(memory, pointed(&kept, root, "/list/1", "[3,\"list\",1]"));
    chordal__path_unref(memory, pointed(&kept, other, "/list/1", "[3,\"list\",\"1\"]"));
    chordal__path_unref(memory, pointed(&kept, root, "/list/1", "[3,\"list\",1]"));
    chordal__path *path = NULL;
    CHECK_INT(chordal__pointers_path(&kept, 3, "/list/1/bb", other, &path, NULL), CHORDAL_E_PATH);
    CHECK(!path);
    chordal__pointers_dispose(&kept);
    chordal__node_unref(memory, root);
    chordal__node_unref(memory, other);
    memory_close(memory);
}

/* The end of an array is another index each time; a long pointer is not kept, and one that leads nowhere neither. */
TEST(unknown_pointers) {
    static const char *const longs[] = {"/0123456789012345678901234567890123456789012345678901",
                                        "/012345678901234567890123456789012345678901234567890"};
    chordal__memory *memory = memory_open();
    chordal__node *root = value_of(memory, "[1,2]"), *more = value_of(memory, "[1,2,3]"),
                  *keys = value_of(memory, "{}");
    chordal__pointers kept;
    chordal__pointers_init(&kept, memory);
    chordal__path_unref(memory, pointed(&kept, root, "/-", "[3,2]"));
    chordal__path_unref(memory, pointed(&kept, more, "/-", "[3,3]"));
    CHECK(!chordal__pointers_known(&kept, 3, "/-"));
    for (int i = 0; i < 2; i++) {
        chordal__path *path = NULL;
        CHECK_INT(chordal__pointers_path(&kept, 3, longs[i], keys, &path, NULL), 0);
        CHECK_INT(chordal__pointers_known(&kept, 3, longs[i]) == path, i);
        chordal__path_unref(memory, path);
        CHECK_INT(chordal__pointers_path(&kept, 3, "/x", root, &path, NULL), CHORDAL_E_PATH);
        CHECK(!chordal__pointers_known(&kept, 3, "/x"));
    }
    chordal__pointers_dispose(&kept);
    chordal__node_unref(memory, root);
    chordal__node_unref(memory, more);
    chordal__node_unref(memory, keys);
    memory_close(memory);
}

TESTS({"equality", equality}, {"hash", hash}, {"from_pointer", from_pointer}, {"no_value", no_value},
      {"known_pointers", known_pointers}, {"unknown_pointers", unknown_pointers})
