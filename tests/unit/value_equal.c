/* value_equal.c: equality and digests. */
#include "value_text.h"

static void check_pair(const char *a_json, const char *b_json, bool equal) {
    chordal__memory *memory = open_memory();
    chordal__node *a = node_of(memory, a_json), *b = node_of(memory, b_json);
    if (chordal__node_equal(a, b) != equal || chordal__node_equal(b, a) != equal)
        CHECK_FAIL("%s and %s: equal is not %d", a_json, b_json, equal);
    if ((chordal__node_digest(a) == chordal__node_digest(b)) != equal)
        CHECK_FAIL("%s and %s: the digests tell otherwise", a_json, b_json);
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    close_memory(memory);
}

TEST(test_pairs) {
    check_pair("1", "1.0", true);
    check_pair("0", "-0.0", true);
    check_pair("1e2", "100", true);
    check_pair("18446744073709551615", "18446744073709551615", true);
    check_pair("18446744073709551615", "-1", false);
    check_pair("9223372036854775807", "9223372036854775806", false);
    check_pair("1.5", "1.25", false);
    check_pair("true", "false", false);
    check_pair("null", "0", false);
    check_pair("\"1\"", "1", false);
    check_pair("\"a\"", "\"\\u0061\"", true);
    check_pair("\"a\"", "\"b\"", false);
    check_pair("[]", "{}", false);
    check_pair("[1,2]", "[2,1]", false);
    check_pair("[1,[2]]", "[[1],2]", false);
    check_pair("[[],[]]", "[[[]]]", false);
    check_pair("[1,2]", "[1,2,3]", false);
    check_pair("{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true);
    check_pair("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false);
    check_pair("{\"a\":{\"x\":1,\"y\":2},\"b\":2}", "{\"b\":2,\"a\":{\"y\":2,\"x\":1}}", true);
    check_pair("{\"a\":{\"x\":1,\"y\":2},\"b\":2}", "{\"b\":2,\"a\":{\"y\":2,\"x\":2}}", false);
    check_pair("{\"ab\":1,\"a\":2,\"\":3}", "{\"\":3,\"ab\":1,\"a\":2}", true);
}

static void check_digest(const char *json, const char *canonical, size_t len) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, json);
    CHECK(chordal__node_digest(node) == chordal__fnv(CHORDAL__FNV_START, canonical, len));
    chordal__node_unref(memory, node);
    close_memory(memory);
}

#define DIGEST(json, canonical) check_digest(json, canonical, sizeof canonical - 1)

TEST(test_digests) {
    DIGEST("null", "n");
    DIGEST("true", "t");
    DIGEST("[false,-12,18446744073709551615]", "[fi-12i18446744073709551615]");
    DIGEST("-9223372036854775808", "i-9223372036854775808");
    DIGEST("\"h\xc3\xa9\"", "s3:h\xc3\xa9");
    DIGEST("{\"b\":[],\"a\":{\"\":\"x\"},\"ab\":1}", "{s1:a{s0:s1:x}s2:abi1s1:b[]}");
    DIGEST("2.5", "d@\x04\0\0\0\0\0\0");
}

/* The same through other edits: other chunks, other pieces, other orders. */
TEST(test_large) {
    chordal__memory *memory = open_memory();
    chordal__node *a = chordal__node_object(memory), *b = chordal__node_object(memory), *still;
    for (int i = 0; i < 500; i++) {
        char key[16];
        chordal__node *value = chordal__node_integer(memory, i);
        a = chordal__node_put(memory, a, key, (size_t)sprintf(key, "k%d", i), value, &still);
        value = chordal__node_integer(memory, 499 - i);
        b = chordal__node_put(memory, b, key, (size_t)sprintf(key, "k%d", 499 - i), value, &still);
    }
    CHECK(chordal__node_equal(a, b) && chordal__node_digest(a) == chordal__node_digest(b));
    a = chordal__node_put(memory, a, "k7", 2, chordal__node_null(memory), &still);
    CHECK(!chordal__node_equal(a, b) && chordal__node_digest(a) != chordal__node_digest(b));
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    char text[9001];
    memset(text, 'x', sizeof text);
    a = chordal__node_string(memory, text, 9000);
    b = chordal__node_string(memory, text, 3);
    for (int i = 3; i < 9000; i += 257) {
        size_t len = i + 257 < 9000 ? 257 : (size_t)(9000 - i);
        b = chordal__node_append(memory, b, text + i, len, &still);
    }
    b = chordal__node_append(memory, b, text, 100, &still);
    b = chordal__node_drop_front(memory, b, 100, &still);
    CHECK(chordal__node_equal(a, b) && chordal__node_digest(a) == chordal__node_digest(b));
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    close_memory(memory);
}

TEST(test_large_arrays) {
    chordal__memory *memory = open_memory();
    chordal__node *items[5000], *still;
    for (int i = 0; i < 5000; i++) items[i] = chordal__node_integer(memory, i);
    chordal__node *a = chordal__node_array(memory, items, 5000), *b = chordal__node_ref(a), *c, *null;
    null = chordal__node_null(memory);
    for (uint64_t at = 0; at < 5000; at += 97) {
        b = chordal__node_replace(memory, b, at, null, &still);
        CHECK(!chordal__node_equal(a, b));
        b = chordal__node_replace(memory, b, at, items[at], &still);
        CHECK(chordal__node_equal(a, b));
    }
    c = chordal__node_splice(memory, chordal__node_ref(b), 0, 0, &null, 1, &still);
    CHECK(!chordal__node_equal(b, c));
    c = chordal__node_splice(memory, c, 0, 1, NULL, 0, &still);
    CHECK(chordal__node_equal(b, c) && chordal__node_equal(c, a));
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    chordal__node_unref(memory, c);
    close_memory(memory);
}

/* Nesting with members behind the deep one, so that outer levels are found again. */
TEST(test_deep) {
    chordal__memory *memory = open_memory();
    chordal__node *a = chordal__node_array(memory, NULL, 0), *b = chordal__node_array(memory, NULL, 0), *c = b, *still;
    chordal__node_ref(c);
    for (int i = 0; i < 4000; i++) {
        chordal__node *number = chordal__node_integer(memory, i),
                      *other = chordal__node_integer(memory, i == 0 ? 1 : i);
        chordal__node *as[3] = {number, a, number}, *bs[3] = {number, b, number}, *cs[3] = {number, c, other};
        chordal__node *next[3] = {chordal__node_array(memory, as, 3), chordal__node_array(memory, bs, 3),
                                  chordal__node_array(memory, cs, 3)};
        chordal__node_unref(memory, a);
        chordal__node_unref(memory, b);
        chordal__node_unref(memory, c);
        a = next[0], b = next[1], c = next[2];
        if (i % 3 == 0) {
            chordal__node *object = chordal__node_object(memory);
            a = chordal__node_put(memory, object, "k", 1, next[0], &still);
            b = chordal__node_put(memory, chordal__node_object(memory), "k", 1, next[1], &still);
            c = chordal__node_put(memory, chordal__node_object(memory), "k", 1, next[2], &still);
            for (int k = 0; k < 3; k++) chordal__node_unref(memory, next[k]);
        }
        if (chordal__node_depth(a) > 4000) break;
    }
    CHECK(chordal__node_equal(a, b) && chordal__node_digest(a) == chordal__node_digest(b));
    CHECK(!chordal__node_equal(a, c) && chordal__node_digest(a) != chordal__node_digest(c));
    chordal__node_unref(memory, a);
    chordal__node_unref(memory, b);
    chordal__node_unref(memory, c);
    close_memory(memory);
}

TESTS({"pairs", test_pairs}, {"digests", test_digests}, {"large", test_large}, {"large_arrays", test_large_arrays},
      {"deep", test_deep})
