/* value_json.c: reading and writing JSON text. */
#include "value_text.h"

static void check_round(const char *json, const char *expected) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, json);
    if (node) check_node(memory, node, expected);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TEST(test_values) {
    static const char *const same[] = {
        "null",
        "true",
        "false",
        "0",
        "-1",
        "7",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "1.5",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[1,2,3]",
        "{\"a\":1,\"b\":[true,null,{\"c\":\"d\"}]}",
        "[[[[]]],{},[{}]]",
        "[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4},{\"b\":5,\"a\":6},{\"a\":7},{\"a\":8,\"b\":9,\"c\":1}]",
        "[{\"a\":1},{},{\"a\":{\"a\":{}}},{\"a\":1,\"b\":2}]"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_round(same[i], same[i]);
    check_round(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n", "{\"a\":[1,2],\"b\":{}}");
    check_round("[1e2,100.0,-0,-0.0,1.0]", "[100,100,0,0,1]");
    check_round("[4611686018427387904,-4611686018427387905,123456789012345678901]",
                "[4611686018427387904,-4611686018427387905,1.2345678901234568e20]");
}

TEST(test_strings) {
    check_round("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\\u007f\"",
                "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    check_round("\"\\u00e9\\u20AC\\uD83D\\uDE00\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check_round("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check_round("\"\\ud83d\"", "\"\\ud83d\"");
    check_round("\"\\ude00\\ud83d\"", "\"\\ude00\\ud83d\"");
    check_round("\"\xed\xa0\xbd\"", "\"\\ud83d\"");
    check_round("\"x\xed\xa0\xbd\xed\xb8\x80y\"", "\"x\xf0\x9f\x98\x80y\"");
    check_round("\"\xed\xa0\xbd\\ude00\"", "\"\xf0\x9f\x98\x80\"");
    check_round("\"\\ud83d\xed\xb8\x80\"", "\"\xf0\x9f\x98\x80\"");
    check_round("\"\\ud83d\\ud83d\\ude00\\ude00\"", "\"\\ud83d\xf0\x9f\x98\x80\\ude00\"");
    check_round("{\"\\u0061\":1,\"__proto__\":2,\"\":3,\"a\\u0000b\":4}",
                "{\"a\":1,\"__proto__\":2,\"\":3,\"a\\u0000b\":4}");
    check_round("\"12345678901234567890 \\n 1234567890123456789\xe2\x82\xac 1234567890\"",
                "\"12345678901234567890 \\n 1234567890123456789\xe2\x82\xac 1234567890\"");
}

typedef struct fault {
    const char *json;
    int code;
    uint64_t position;
} fault;

static const fault faults[] = {
    {"", CHORDAL_E_TRUNCATED, 0},
    {"  ", CHORDAL_E_TRUNCATED, 2},
    {"[", CHORDAL_E_TRUNCATED, 1},
    {"[1", CHORDAL_E_TRUNCATED, 2},
    {"[1,", CHORDAL_E_TRUNCATED, 3},
    {"{\"a\"", CHORDAL_E_TRUNCATED, 4},
    {"{\"a\":", CHORDAL_E_TRUNCATED, 5},
    {"\"abc", CHORDAL_E_TRUNCATED, 4},
    {"\"abc\\", CHORDAL_E_TRUNCATED, 5},
    {"\"abc\\u12", CHORDAL_E_TRUNCATED, 8},
    {"\"\xe2\x82", CHORDAL_E_TRUNCATED, 3},
    {"tru", CHORDAL_E_TRUNCATED, 3},
    {"-", CHORDAL_E_TRUNCATED, 1},
    {"1.", CHORDAL_E_TRUNCATED, 2},
    {"1e+", CHORDAL_E_TRUNCATED, 3},
    {"]", CHORDAL_E_SYNTAX, 0},
    {"[1,]", CHORDAL_E_SYNTAX, 3},
    {"[,1]", CHORDAL_E_SYNTAX, 1},
    {"[1 2]", CHORDAL_E_SYNTAX, 3},
    {"[1}", CHORDAL_E_SYNTAX, 2},
    {"{\"a\":1]", CHORDAL_E_SYNTAX, 6},
    {"{\"a\":1,}", CHORDAL_E_SYNTAX, 7},
    {"{\"a\" 1}", CHORDAL_E_SYNTAX, 5},
    {"{1:2}", CHORDAL_E_SYNTAX, 1},
    {"{,}", CHORDAL_E_SYNTAX, 1},
    {"[trux]", CHORDAL_E_SYNTAX, 4},
    {"nulx", CHORDAL_E_SYNTAX, 3},
    {"[01]", CHORDAL_E_SYNTAX, 2},
    {"[-x]", CHORDAL_E_SYNTAX, 1},
    {"[1.x]", CHORDAL_E_SYNTAX, 1},
    {"[+1]", CHORDAL_E_SYNTAX, 1},
    {"[.5]", CHORDAL_E_SYNTAX, 1},
    {"[NaN]", CHORDAL_E_SYNTAX, 1},
    {"\"a\nb\"", CHORDAL_E_SYNTAX, 2},
    {"\"a\\x\"", CHORDAL_E_SYNTAX, 3},
    {"\"a\\u12g4\"", CHORDAL_E_SYNTAX, 6},
    {"\"\xff\"", CHORDAL_E_UTF8, 1},
    {"\"ab\x80\"", CHORDAL_E_UTF8, 3},
    {"\"\xc0\xaf\"", CHORDAL_E_UTF8, 1},
    {"\"\\n\xf5\x80\x80\x80\"", CHORDAL_E_UTF8, 3},
    {"\"\xed\xa0\xbd\xed\xb8\"", CHORDAL_E_UTF8, 4},
    {"\xef\xbb\xbf[]", CHORDAL_E_SYNTAX, 0},
    {"[1e400]", CHORDAL_E_NUMBER, 1},
    {"1 2", CHORDAL_E_TRAILING, 2},
    {"{} x", CHORDAL_E_TRAILING, 3},
    {"\"a\"\"b\"", CHORDAL_E_TRAILING, 3},
    {"{\"a\":1,\"a\":2}", CHORDAL_E_DUPLICATE_KEY, 7},
    {"{\"a\":1,\"b\":2,\"c\":3,\"b\":2,\"a\":1}", CHORDAL_E_DUPLICATE_KEY, 19},
    {"{\"a\":1, \"\\u0061\":2}", CHORDAL_E_DUPLICATE_KEY, 8},
    {"[{\"a\":1,\"b\":2},{\"a\":1,\"b\":2,\"a\":3}]", CHORDAL_E_DUPLICATE_KEY, 28},
    {"{\"x\":{\"a\":1,\"a\":2}}", CHORDAL_E_DUPLICATE_KEY, 12},
};

TEST(test_faults) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        chordal__memory *memory = open_memory();
        chordal__node *node = NULL;
        chordal_error error = {0};
        const char *json = faults[i].json;
        int code = chordal__json_read(memory, (const uint8_t *)json, strlen(json), &wide_limits, &node, &error);
        if (code != faults[i].code || error.code != code || error.position != faults[i].position)
            CHECK_FAIL("%s: %d at %" PRIu64, json, code, error.position);
        if (!code) chordal__node_unref(memory, node);
        close_memory(memory);
    }
}

TEST(test_prefixes) {
    static const char json[] =
        "[{\"key\":\"t\xc3\xa9xt \\u00e9\\n\",\"n\":[-12,true,false,null,{}]},{\"key\":2,\"n\":[]}]";
    chordal__memory *memory = open_memory();
    for (size_t len = 0; len < sizeof json - 1; len++) {
        chordal__node *node;
        chordal_error error = {0};
        CHECK_INT(chordal__json_read(memory, (const uint8_t *)json, len, &wide_limits, &node, &error),
                  CHORDAL_E_TRUNCATED);
        CHECK_INT(error.position, len);
    }
    close_memory(memory);
}

static int read_within(const char *json, uint32_t depth, uint64_t size, chordal_error *error) {
    chordal__memory *memory = open_memory();
    chordal__node *node = NULL;
    chordal__limits limits = {depth, size};
    int code = chordal__json_read(memory, (const uint8_t *)json, strlen(json), &limits, &node, error);
    if (!code) chordal__node_unref(memory, node);
    close_memory(memory);
    return code;
}

TEST(test_limits) {
    chordal_error error;
    CHECK_INT(read_within("[[[1]]]", 3, 100, &error), 0);
    CHECK_INT(read_within("[[[1]]]", 2, 100, &error), CHORDAL_E_DEPTH);
    CHECK_INT(error.position, 2);
    CHECK_INT(read_within("{\"a\":{\"b\":1}}", 1, 100, &error), CHORDAL_E_DEPTH);
    CHECK_INT(error.position, 5);
    CHECK_INT(read_within("1", 0, 100, &error), 0);
    CHECK_INT(read_within("[1,2]", 9, 5, &error), 0);
    CHECK_INT(read_within("[1,2]", 9, 4, &error), CHORDAL_E_SIZE);
    CHECK_INT(error.position, 4);
}

TEST(test_part) {
    static const char json[] = "  [1,{\"a\":2}]12 \"x\"tail";
    static const char *const parts[] = {"[1,{\"a\":2}]", "12", "\"x\""};
    chordal__memory *memory = open_memory();
    chordal__reader reader = chordal__reader_of((const uint8_t *)json, strlen(json));
    chordal_error error = {0};
    chordal__node *node;
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(chordal__json_read_value(memory, &reader, &wide_limits, &node, &error), 0);
        check_node(memory, node, parts[i]);
        chordal__node_unref(memory, node);
    }
    CHECK_INT(chordal__reader_position(&reader), 19);
    CHECK_INT(chordal__json_read_value(memory, &reader, &wide_limits, &node, &error), CHORDAL_E_SYNTAX);
    CHECK_INT(error.position, 20);
    CHECK_INT(chordal__reader_position(&reader), 19);
    reader = chordal__reader_of((const uint8_t *)"1234", 4);
    CHECK_INT(chordal__json_read_value(memory, &reader, &(chordal__limits){9, 2}, &node, &error), CHORDAL_E_SIZE);
    close_memory(memory);
}

static char *deep_json(size_t depth, const char *open, const char *inside, const char *close) {
    char *json = malloc(depth * (strlen(open) + strlen(close)) + strlen(inside) + 1), *at = json;
    for (size_t i = 0; i < depth; i++) at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", inside);
    for (size_t i = 0; i < depth; i++) at += sprintf(at, "%s", close);
    return json;
}

TEST(test_deep) {
    chordal__memory *memory = open_memory();
    chordal__limits limits = {4096, UINT64_MAX};
    char *texts[2] = {deep_json(4096, "[", "", "]"), deep_json(2047, "{\"a\":[1,", "{\"b\":2}", "]}")};
    for (size_t i = 0; i < 2; i++) {
        chordal__node *a, *b;
        CHECK_INT(chordal__json_read(memory, (uint8_t *)texts[i], strlen(texts[i]), &limits, &a, NULL), 0);
        CHECK_INT(chordal__json_read(memory, (uint8_t *)texts[i], strlen(texts[i]), &limits, &b, NULL), 0);
        check_node(memory, a, texts[i]);
        CHECK_INT(chordal__node_depth(a), i ? 4095 : 4096);
        CHECK(chordal__node_equal(a, b));
        CHECK(chordal__node_digest(a) == chordal__node_digest(b));
        chordal__node_unref(memory, a);
        chordal__node_unref(memory, b);
        limits.depth = 4095;
        CHECK_INT(chordal__json_read(memory, (uint8_t *)texts[i], strlen(texts[i]), &limits, &a, NULL),
                  i ? 0 : CHORDAL_E_DEPTH);
        if (i) chordal__node_unref(memory, a);
        limits.depth = 100000;
        free(texts[i]);
    }
    close_memory(memory);
}

/* {"k0":0,"k1":1,…} in a scattered order, with `again` put a second time at the end. */
static char *wide_json(size_t count, size_t step, long again) {
    char *json = malloc(count * 24 + 40), *at = json;
    *at++ = '{';
    for (size_t i = 0; i < count; i++) at += sprintf(at, "%s\"k%zu\":%zu", i ? "," : "", i * step % count, i);
    if (again >= 0) at += sprintf(at, ",\"k%ld\":1", again);
    *at++ = '}';
    *at = 0;
    return json;
}

TEST(test_wide_objects) {
    chordal__memory *memory = open_memory();
    static const size_t counts[] = {1, 7, 8, 9, 63, 64, 65, 66, 1000, 10007};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *json = wide_json(counts[i], 4099, -1), *again = wide_json(counts[i], 4099, (long)counts[i] / 2), key[24];
        chordal__node *node = node_of(memory, json);
        check_node(memory, node, json);
        CHECK_INT(chordal__node_length(node), counts[i]);
        for (size_t k = 0; k < counts[i]; k += 1 + counts[i] / 50) {
            chordal__node *found = chordal__node_get(node, key, (size_t)sprintf(key, "k%zu", k * 4099 % counts[i]));
            CHECK(found && found == chordal__node_integer(memory, (int64_t)k));
        }
        CHECK(!chordal__node_get(node, "kx", 2));
        chordal__node_unref(memory, node);
        chordal_error error = {0};
        CHECK_INT(chordal__json_read(memory, (uint8_t *)again, strlen(again), &wide_limits, &node, &error),
                  CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(error.position, strlen(json));
        free(json);
        free(again);
    }
    close_memory(memory);
}

/* Objects of many shapes and keys, more than the tables of the reader hold. */
TEST(test_many_shapes) {
    chordal__memory *memory = open_memory();
    char *json = malloc(2000000), *at = json;
    *at++ = '[';
    for (int i = 0; i < 5000; i++) {
        at += sprintf(at, "%s{\"a%d\":1,\"b%d\":[{\"c\":%d,\"d%d\":2}],\"e\":{}", i ? "," : "", i % 3000, i % 7, i,
                      i % 2);
        if (i % 3 == 0) at += sprintf(at, ",\"f\":%d", i);
        *at++ = '}';
    }
    *at++ = ']';
    *at = 0;
    chordal__node *node = node_of(memory, json);
    check_node(memory, node, json);
    chordal__node_unref(memory, node);
    close_memory(memory);
    free(json);
}

TEST(test_long_strings) {
    chordal__memory *memory = open_memory();
    static const char *const units[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "ab\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < 5; i++) {
        char *json = deep_json(3000, units[i], "", "");
        char *quoted = malloc(strlen(json) + 3);
        sprintf(quoted, "\"%s\"", json);
        chordal__node *node = node_of(memory, quoted);
        check_node(memory, node, quoted);
        CHECK_INT(chordal__node_string_bytes(node), strlen(json));
        CHECK_INT(chordal__node_length(node), chordal__utf_units((uint8_t *)json, strlen(json)));
        chordal__node_unref(memory, node);
        free(json);
        free(quoted);
    }
    close_memory(memory);
}

TEST(test_memory) {
    chordal__memory *memory = open_memory();
    char *json = malloc(400000), *at = json;
    at += sprintf(at, "{\"entries\":[");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "%s{\"id\":\"n%d\",\"text\":\"%078d..\",\"author\":\"user%d\",\"at\":%lld}", i ? "," : "", i,
                      i, i % 7, 1700000000000LL + i);
    sprintf(at, "]}");
    chordal__node *node = node_of(memory, json);
    uint64_t bound = strlen(json) * 13 / 10 + 16 * 5002;
    if (memory->live_bytes > bound)
        CHECK_FAIL("%" PRIu64 " bytes for %zu of text, more than %" PRIu64, memory->live_bytes, strlen(json), bound);
    chordal__node_unref(memory, node);
    close_memory(memory);
    free(json);
}

/* What is read lies in few blocks; its parts live and change on their own. */
TEST(test_parts) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, "{\"a\":[\"one\",\"two\",1.5],\"b\":{\"c\":\"three\"},\"d\":\"\"}"), *still;
    CHECK_INT(memory->live_blocks, 6); /* three containers, two shapes, a number */
    chordal__node *array = chordal__node_ref(chordal__node_get(node, "a", 1));
    chordal__node *object = chordal__node_ref(chordal__node_get(node, "b", 1));
    chordal__node *two = chordal__node_ref(chordal__node_at(array, 1));
    chordal__node *three = chordal__node_ref(chordal__node_get(object, "c", 1));
    chordal__node_unref(memory, node);
    array = chordal__node_splice(memory, array, 1, 0, &three, 1, &still);
    check_node(memory, array, "[\"one\",\"three\",\"two\",1.5]");
    array = chordal__node_splice(memory, array, 2, 2, NULL, 0, &still);
    two = chordal__node_append(memory, two, "!", 1, &still);
    check_node(memory, two, "\"two!\"");
    three = chordal__node_drop_front(memory, three, 2, &still);
    check_node(memory, three, "\"ree\"");
    three = chordal__node_drop_front(memory, three, 1, &still);
    object = chordal__node_put(memory, object, "d", 1, two, &still);
    object = chordal__node_put(memory, object, "c", 1, three, &still);
    check_node(memory, object, "{\"c\":\"ee\",\"d\":\"two!\"}");
    check_node(memory, array, "[\"one\",\"three\"]");
    chordal__node_unref(memory, array);
    chordal__node_unref(memory, object);
    chordal__node_unref(memory, two);
    chordal__node_unref(memory, three);
    close_memory(memory);
}

/* Writers ask for no more room than they need. */
TEST(test_room) {
    static const char *const texts[] = {
        "{\"a\":1}",
        "{\"a\":1,\"b\":\"\",\"c\":null}",
        "{\"key\":\"sixteen bytes of it, and more, with an end\\n\"}",
        "{\"a\":{\"b\":[1,true,{}]},\"c\":-2.5e-7}",
        "[\"\",{\"x\":\"0123456789abcdefghijklmnopqrstuvwxyz\"}]",
        "{\"a\\\"b\":1,\"c\":2}",
        "[1,-2.5,true,null]",
        "\"\\n\\ud83d \u20ac\"",
    };
    chordal__memory *memory = open_memory();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        chordal__node *node = node_of(memory, texts[i]);
        for (int packed = 0; packed < 2; packed++) {
            void (*write)(chordal__buffer *, const chordal__node *) =
                packed ? chordal__pack_write : chordal__json_write;
            chordal__buffer buffer;
            chordal__buffer_init(&buffer, memory, SIZE_MAX);
            write(&buffer, node);
            size_t len = buffer.len;
            for (size_t limit = 0; limit <= len; limit++) {
                chordal__buffer_dispose(&buffer);
                chordal__buffer_init(&buffer, memory, limit);
                write(&buffer, node);
                CHECK_INT(buffer.failed, limit < len ? CHORDAL_E_SIZE : 0);
            }
            CHECK_INT(buffer.len, len);
            chordal__buffer_dispose(&buffer);
        }
        chordal__node_unref(memory, node);
    }
    close_memory(memory);
}

TESTS({"parts", test_parts}, {"room", test_room}, {"values", test_values}, {"strings", test_strings},
      {"faults", test_faults}, {"prefixes", test_prefixes}, {"limits", test_limits}, {"part", test_part},
      {"deep", test_deep}, {"wide", test_wide_objects}, {"shapes", test_many_shapes}, {"long", test_long_strings},
      {"memory", test_memory})
