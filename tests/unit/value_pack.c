/* value_pack.c: packed bytes, and from one format to the other. */
#include "value_text.h"

static size_t from_hex(const char *hex, uint8_t *out) {
    size_t len = 0;
    unsigned byte;
    for (; *hex; hex += hex[0] == ' ' ? 1 : 2)
        if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1) out[len++] = (uint8_t)byte;
    return len;
}

static void check_bytes(const chordal__buffer *buffer, const uint8_t *bytes, size_t len, const char *what) {
    CHECK_INT(buffer->failed, 0);
    if (buffer->len == len && memcmp(buffer->data, bytes, len) == 0) return;
    CHECK_FAIL("%s: %zu bytes instead of %zu, or others", what, buffer->len, len);
}

typedef struct pair {
    const char *json, *hex;
} pair;

static const pair pairs[] = {
    {"null", "c0"},
    {"false", "c2"},
    {"true", "c3"},
    {"0", "00"},
    {"127", "7f"},
    {"128", "cc80"},
    {"255", "ccff"},
    {"256", "cd0100"},
    {"65535", "cdffff"},
    {"65536", "ce00010000"},
    {"4294967295", "ceffffffff"},
    {"4294967296", "cf0000000100000000"},
    {"18446744073709551615", "cfffffffffffffffff"},
    {"-1", "ff"},
    {"-32", "e0"},
    {"-33", "d0df"},
    {"-128", "d080"},
    {"-129", "d1ff7f"},
    {"-32768", "d18000"},
    {"-32769", "d2ffff7fff"},
    {"-2147483648", "d280000000"},
    {"-2147483649", "d3ffffffff7fffffff"},
    {"-9223372036854775808", "d38000000000000000"},
    {"1.5", "cb3ff8000000000000"},
    {"\"\"", "a0"},
    {"\"a\"", "a161"},
    {"\"\\ud83d\"", "a3eda0bd"},
    {"\"\xf0\x9f\x98\x80\"", "a4f09f9880"},
    {"\"1234567890123456789012345678901\"", "bf31323334353637383930313233343536373839303132333435363738393031"},
    {"\"12345678901234567890123456789012\"", "d920 3132333435363738393031323334353637383930313233343536373839303132"},
    {"[]", "90"},
    {"{}", "80"},
    {"[1,[2,{\"a\":[]}],3]", "93 01 92 02 81 a161 90 03"},
    {"[0,1,2,3,4,5,6,7,8,9,0,1,2,3,4]", "9f 000102030405060708090001020304"},
    {"[0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5]", "dc0010 00010203040506070809000102030405"},
    {"{\"a\":1,\"b\":{\"a\":\"x\"}}", "82 a161 01 a162 81 a161 a178"},
};

TEST(test_pairs) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const pair *row = &pairs[i];
        chordal__memory *memory = open_memory();
        chordal__buffer buffer;
        chordal__buffer_init(&buffer, memory, SIZE_MAX);
        uint8_t bytes[100];
        size_t len = from_hex(row->hex, bytes);
        chordal__node *node = node_of(memory, row->json), *back = NULL;
        chordal__pack_write(&buffer, node);
        check_bytes(&buffer, bytes, len, row->json);
        CHECK_INT(chordal__pack_read(memory, bytes, len, &wide_limits, &back, NULL), 0);
        CHECK(chordal__node_equal(node, back));
        check_node(memory, back, row->json);
        chordal__buffer_clear(&buffer);
        chordal__buffer_byte(&buffer, '#');
        chordal__reader reader = chordal__reader_of((const uint8_t *)row->json, strlen(row->json));
        CHECK_INT(chordal__pack_from_json(&buffer, &reader, &wide_limits, NULL), 0);
        CHECK_INT(chordal__reader_left(&reader), 0);
        CHECK(buffer.len == len + 1 && memcmp(buffer.data + 1, bytes, len) == 0);
        chordal__buffer_clear(&buffer);
        reader = chordal__reader_of(bytes, len);
        CHECK_INT(chordal__json_from_pack(&buffer, &reader, &wide_limits, NULL), 0);
        CHECK_BYTES((const char *)buffer.data, buffer.len, row->json, strlen(row->json));
        reader = chordal__reader_of(bytes, len);
        CHECK_INT(chordal__pack_skip(&reader, &wide_limits, NULL), 0);
        CHECK_INT(chordal__reader_left(&reader), 0);
        chordal__node_unref(memory, node);
        chordal__node_unref(memory, back);
        chordal__buffer_dispose(&buffer);
        close_memory(memory);
    }
}

static const pair lenient[] = {
    {"[1,-1,5,1,1]", "95 cc01 d3ffffffffffffffff d005 cf0000000000000001 dd"},
    {"1.5", "ca3fc00000"},
    {"1", "ca3f800000"},
    {"0", "cb8000000000000000"},
    {"100", "cb4059000000000000"},
    {"\"a\"", "db0000000161"},
    {"[1]", "dd0000000101"},
    {"{\"a\":1}", "df00000001 da000161 01"},
};

TEST(test_lenient) {
    for (size_t i = 1; i < sizeof lenient / sizeof *lenient; i++) {
        chordal__memory *memory = open_memory();
        uint8_t bytes[100];
        size_t len = from_hex(lenient[i].hex, bytes);
        chordal__node *node = NULL;
        CHECK_INT(chordal__pack_read(memory, bytes, len, &wide_limits, &node, NULL), 0);
        if (node) check_node(memory, node, lenient[i].json);
        chordal__node_unref(memory, node);
        close_memory(memory);
    }
}

typedef struct fault {
    const char *hex;
    int code;
    uint64_t position;
} fault;

static const fault faults[] = {
    {"", CHORDAL_E_TRUNCATED, 0},
    {"92 01", CHORDAL_E_TRUNCATED, 2},
    {"a3 6162", CHORDAL_E_TRUNCATED, 3},
    {"cd 01", CHORDAL_E_TRUNCATED, 2},
    {"81 a161", CHORDAL_E_TRUNCATED, 3},
    {"dd ffffffff 01", CHORDAL_E_TRUNCATED, 6},
    {"db ffffffff 61", CHORDAL_E_TRUNCATED, 6},
    {"c1", CHORDAL_E_SYNTAX, 0},
    {"91 c4 00", CHORDAL_E_SYNTAX, 1},
    {"92 00 d4 00 00", CHORDAL_E_SYNTAX, 2},
    {"81 01 02", CHORDAL_E_SYNTAX, 1},
    {"81 c0 02", CHORDAL_E_SYNTAX, 1},
    {"a2 c0af", CHORDAL_E_UTF8, 1},
    {"92 01 a3 61ff62", CHORDAL_E_UTF8, 4},
    {"a6 eda0bd edb880", CHORDAL_E_UTF8, 4},
    {"81 a1ff 00", CHORDAL_E_UTF8, 2},
    {"91 cb 7ff0000000000000", CHORDAL_E_NUMBER, 1},
    {"91 ca 7fc00000", CHORDAL_E_NUMBER, 1},
    {"01 02", CHORDAL_E_TRAILING, 1},
    {"82 a161 01 a161 02", CHORDAL_E_DUPLICATE_KEY, 4},
    {"92 81 a161 01 82 a161 01 a161 02", CHORDAL_E_DUPLICATE_KEY, 9},
};

static int run_skip(const uint8_t *bytes, size_t len, chordal_error *error) {
    chordal__reader reader = chordal__reader_of(bytes, len);
    int code = chordal__pack_skip(&reader, &wide_limits, error);
    CHECK(code == 0 || reader.at == reader.data);
    return code;
}

TEST(test_faults) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        chordal__memory *memory = open_memory();
        uint8_t bytes[100];
        size_t len = from_hex(faults[i].hex, bytes);
        chordal__node *node = NULL;
        chordal_error error = {0};
        int code = chordal__pack_read(memory, bytes, len, &wide_limits, &node, &error);
        if (code != faults[i].code || error.position != faults[i].position)
            CHECK_FAIL("%s: %d at %" PRIu64, faults[i].hex, code, error.position);
        if (!code) chordal__node_unref(memory, node);
        bool read_only = code == CHORDAL_E_DUPLICATE_KEY || code == CHORDAL_E_TRAILING;
        uint64_t position = error.position;
        CHECK_INT(run_skip(bytes, len, &error), read_only ? 0 : code);
        if (!read_only) CHECK_INT(error.position, position);
        chordal__buffer buffer;
        chordal__buffer_init(&buffer, memory, SIZE_MAX);
        chordal__buffer_byte(&buffer, '#');
        chordal__reader reader = chordal__reader_of(bytes, len);
        code = chordal__json_from_pack(&buffer, &reader, &wide_limits, &error);
        CHECK_INT(code, faults[i].code == CHORDAL_E_TRAILING ? 0 : faults[i].code);
        if (code) CHECK_INT(buffer.len, 1);
        if (code) CHECK_INT(error.position, position);
        chordal__buffer_dispose(&buffer);
        close_memory(memory);
    }
}

TEST(test_limits) {
    static const uint8_t bytes[] = {0x91, 0x91, 0x91, 0x01};
    chordal__memory *memory = open_memory();
    chordal__node *node;
    chordal_error error;
    CHECK_INT(chordal__pack_read(memory, bytes, 4, &(chordal__limits){2, 10}, &node, &error), CHORDAL_E_DEPTH);
    CHECK_INT(error.position, 2);
    CHECK_INT(chordal__pack_read(memory, bytes, 4, &(chordal__limits){3, 3}, &node, &error), CHORDAL_E_SIZE);
    CHECK_INT(error.position, 3);
    chordal__reader reader = chordal__reader_of(bytes, 4);
    CHECK_INT(chordal__pack_read_value(memory, &reader, &(chordal__limits){3, 3}, &node, &error), CHORDAL_E_SIZE);
    CHECK_INT(chordal__pack_read_value(memory, &reader, &(chordal__limits){3, 4}, &node, &error), 0);
    CHECK_INT(chordal__reader_left(&reader), 0);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

static void check_converted(const char *json) {
    chordal__memory *memory = open_memory();
    chordal__buffer direct, tree;
    chordal__buffer_init(&direct, memory, SIZE_MAX);
    chordal__buffer_init(&tree, memory, SIZE_MAX);
    chordal__reader reader = chordal__reader_of((const uint8_t *)json, strlen(json));
    chordal__node *node = node_of(memory, json);
    chordal__pack_write(&tree, node);
    CHECK_INT(chordal__pack_from_json(&direct, &reader, &wide_limits, NULL), 0);
    check_bytes(&direct, tree.data, tree.len, "converted");
    reader = chordal__reader_of(tree.data, tree.len);
    chordal__buffer_clear(&direct);
    CHECK_INT(chordal__json_from_pack(&direct, &reader, &wide_limits, NULL), 0);
    CHECK_BYTES((const char *)direct.data, direct.len, json, strlen(json));
    chordal__node_unref(memory, node);
    chordal__buffer_dispose(&direct);
    chordal__buffer_dispose(&tree);
    close_memory(memory);
}

TEST(test_converted) {
    char *json = malloc(4000000), *at = json;
    *at++ = '[';
    for (int i = 0; i < 70000; i++) at += sprintf(at, "%s%d", i ? "," : "", i % 300 - 150);
    at += sprintf(at, ",{");
    for (int i = 0; i < 20000; i++) at += sprintf(at, "%s\"k%d\":[{\"a\":%d}]", i ? "," : "", i * 7919 % 20000, i);
    at += sprintf(at, "},\"");
    for (int i = 0; i < 70000; i++) at += sprintf(at, "%s", i % 1000 ? "\xe2\x82\xac" : "\\n");
    sprintf(at, "\"]");
    check_converted(json);
    free(json);
}

TEST(test_json_faults) {
    static const char *const wrong[] = {
        "{\"a\":1,\"a\":2}", "[1,2",
        "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"d\":1}"};
    static const uint64_t positions[] = {7, 4, 55};
    chordal__memory *memory = open_memory();
    for (size_t i = 0; i < 3; i++) {
        chordal__buffer buffer;
        chordal_error error;
        chordal__buffer_init(&buffer, memory, SIZE_MAX);
        chordal__buffer_byte(&buffer, '#');
        chordal__reader reader = chordal__reader_of((const uint8_t *)wrong[i], strlen(wrong[i]));
        int code = chordal__pack_from_json(&buffer, &reader, &wide_limits, &error);
        CHECK_INT(code, i == 1 ? CHORDAL_E_TRUNCATED : CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(error.position, positions[i]);
        CHECK_INT(buffer.len, 1);
        CHECK_INT(buffer.failed, 0);
        CHECK_INT(chordal__reader_position(&reader), 0);
        chordal__buffer_dispose(&buffer);
    }
    close_memory(memory);
}

TEST(test_pieces) {
    chordal__memory *memory = open_memory();
    chordal__buffer buffer;
    uint8_t bytes[400] = {0};
    chordal__buffer_init(&buffer, memory, SIZE_MAX);
    chordal__pack_write_array(&buffer, 3);
    chordal__pack_write_bytes(&buffer, "ab", 2);
    chordal__pack_write_integer(&buffer, -5);
    chordal__pack_write_string(&buffer, "hi", 2);
    check_bytes(&buffer, (const uint8_t *)"\x93\xc4\x02\x61\x62\xfb\xa2hi", 9, "pieces");
    chordal__buffer_clear(&buffer);
    chordal__pack_write_bytes(&buffer, bytes, 400);
    CHECK_INT(buffer.len, 403);
    CHECK(memcmp(buffer.data, "\xc5\x01\x90", 3) == 0);
    chordal__buffer_clear(&buffer);
    chordal__pack_write_array(&buffer, 70000);
    check_bytes(&buffer, (const uint8_t *)"\xdd\x00\x01\x11\x70", 5, "array head");
    chordal__buffer_dispose(&buffer);
    close_memory(memory);
}

TESTS({"pairs", test_pairs}, {"lenient", test_lenient}, {"faults", test_faults}, {"limits", test_limits},
      {"converted", test_converted}, {"json_faults", test_json_faults}, {"pieces", test_pieces})
