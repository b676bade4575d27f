/* value_cursor.c: the public handle and cursors. */
#include "value_text.h"

static chordal_value *value_of(chordal__memory *memory, const char *json) {
    chordal__node *node = node_of(memory, json);
    chordal_value *value = chordal__box_new(memory, node);
    chordal__node_unref(memory, node);
    return value;
}

TEST(test_cursor) {
    chordal__memory *memory = open_memory();
    chordal_value *value = value_of(memory, "{\"a\":[1,2.5,\"h\xc3\xa9\"],\"b\":null}");
    chordal_cursor root, at, item;
    char text[8];
    const char *key;
    size_t len;
    int64_t integer = 0;
    uint64_t natural = 0;
    double real = 0;
    chordal_cursor_root(value, &root);
    CHECK_INT(chordal_cursor_kind(&root), CHORDAL_KIND_OBJECT);
    CHECK_INT(chordal_cursor_length(&root), 2);
    CHECK_INT(chordal_cursor_get(&root, "a", 1, &at), 0);
    CHECK_INT(chordal_cursor_get(&root, "x", 1, &item), CHORDAL_E_NOT_FOUND);
    CHECK_INT(chordal_cursor_get(&at, "a", 1, &item), CHORDAL_E_TYPE);
    CHECK_INT(chordal_cursor_key(&root, 1, &key, &len), 0);
    CHECK_BYTES(key, len, "b", 1);
    CHECK_INT(chordal_cursor_key(&root, 2, &key, &len), CHORDAL_E_RANGE);
    CHECK_INT(chordal_cursor_key(&at, 0, &key, &len), CHORDAL_E_TYPE);
    CHECK_INT(chordal_cursor_at(&root, 1, &item), 0);
    CHECK_INT(chordal_cursor_kind(&item), CHORDAL_KIND_NULL);
    CHECK_INT(chordal_cursor_at(&item, 0, &item), CHORDAL_E_TYPE);
    CHECK_INT(chordal_cursor_integer(&item, &integer), CHORDAL_E_TYPE);
    CHECK_INT(chordal_cursor_at(&at, 3, &item), CHORDAL_E_RANGE);
    CHECK_INT(chordal_cursor_at(&at, 0, &item), 0);
    CHECK_INT(chordal_cursor_integer(&item, &integer), 0);
    CHECK_INT(chordal_cursor_unsigned(&item, &natural), 0);
    CHECK_INT(chordal_cursor_double(&item, &real), 0);
    CHECK(integer == 1 && natural == 1 && real == 1);
    CHECK_INT(chordal_cursor_string(&item, text, 8, &len), CHORDAL_E_TYPE);
    CHECK_INT(chordal_cursor_at(&at, 1, &item), 0);
    CHECK_INT(chordal_cursor_integer(&item, &integer), CHORDAL_E_RANGE);
    CHECK_INT(chordal_cursor_double(&item, &real), 0);
    CHECK(real == 2.5);
    CHECK_INT(chordal_cursor_at(&at, 2, &item), 0);
    CHECK_INT(chordal_cursor_length(&item), 2);
    CHECK_INT(chordal_cursor_string(&item, text, 2, &len), CHORDAL_E_ROOM);
    CHECK_INT(len, 3);
    CHECK_INT(chordal_cursor_string(&item, text, 3, &len), 0);
    CHECK_BYTES(text, len, "h\xc3\xa9", 3);
    chordal_value_unref(value);
    close_memory(memory);
}

static int integer_of(chordal__memory *memory, const char *json, bool natural) {
    chordal_value *value = value_of(memory, json);
    chordal_cursor root;
    int64_t integer;
    uint64_t other;
    chordal_cursor_root(value, &root);
    int code = natural ? chordal_cursor_unsigned(&root, &other) : chordal_cursor_integer(&root, &integer);
    chordal_value_unref(value);
    return code;
}

TEST(test_numbers) {
    chordal__memory *memory = open_memory();
    CHECK_INT(integer_of(memory, "18446744073709551615", false), CHORDAL_E_RANGE);
    CHECK_INT(integer_of(memory, "18446744073709551615", true), 0);
    CHECK_INT(integer_of(memory, "-1", true), CHORDAL_E_RANGE);
    CHECK_INT(integer_of(memory, "9223372036854775807", false), 0);
    CHECK_INT(integer_of(memory, "1e300", false), CHORDAL_E_RANGE);
    CHECK_INT(integer_of(memory, "-1e300", true), CHORDAL_E_RANGE);
    CHECK_INT(integer_of(memory, "1e20", true), CHORDAL_E_RANGE);
    CHECK_INT(integer_of(memory, "0.5", true), CHORDAL_E_RANGE);
    close_memory(memory);
}

TEST(test_encode) {
    chordal__memory *memory = open_memory();
    chordal_value *value = value_of(memory, "{\"a\":[1,2]}"), *other = value_of(memory, "{\"a\":[1,2.0]}");
    uint8_t bytes[32];
    size_t len;
    chordal_error error;
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, bytes, 10, &len, &error), CHORDAL_E_ROOM);
    CHECK_INT(len, 11);
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, NULL, 0, &len, NULL), CHORDAL_E_ROOM);
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, bytes, 11, &len, NULL), 0);
    CHECK_BYTES((const char *)bytes, len, "{\"a\":[1,2]}", 11);
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_PACKED, bytes, 32, &len, NULL), 0);
    CHECK_INT(len, 6);
    CHECK_INT(chordal_value_encode(value, 3, bytes, 32, &len, &error), CHORDAL_E_INVALID);
    CHECK_INT(chordal_value_encode(NULL, CHORDAL_FORMAT_JSON, bytes, 32, &len, &error), CHORDAL_E_INVALID);
    CHECK_INT(chordal_value_equal(value, other), 1);
    CHECK(chordal_value_digest(value) == chordal_value_digest(other));
    CHECK(chordal_value_ref(value) == value);
    chordal_value_unref(value);
    chordal_value_unref(value);
    chordal_value_unref(other);
    chordal_value_unref(NULL);
    close_memory(memory);
}

/* A value holds its memory. */
TEST(test_outlives) {
    chordal__memory *memory = open_memory();
    chordal_value *value = value_of(memory, "[1,\"x\"]");
    chordal__memory_unref(memory);
    CHECK_INT(chordal__node_length(chordal__box_node(value)), 2);
    chordal_value_unref(value);
}

TESTS({"cursor", test_cursor}, {"numbers", test_numbers}, {"encode", test_encode}, {"outlives", test_outlives})
