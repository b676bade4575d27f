/* Buffers, bodies and the bounded reader. */
#include "base/base.h"
#include "check.h"

TEST(writes) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__buffer buffer;
    chordal__buffer_init(&buffer, memory, 1000);
    chordal__buffer_put(&buffer, NULL, 0);
    chordal__buffer_text(&buffer, "ab");
    chordal__buffer_byte(&buffer, 'c');
    chordal__buffer_decimal(&buffer, 0);
    chordal__buffer_decimal(&buffer, UINT64_MAX);
    memcpy(chordal__buffer_extend(&buffer, 2), "xy", 2);
    CHECK_BYTES((char *)buffer.data, buffer.len, "abc018446744073709551615xy", (size_t)26);
    chordal__buffer_clear(&buffer);
    CHECK_INT(buffer.len, 0);
    for (int i = 0; i < 1000; i++) chordal__buffer_byte(&buffer, (uint8_t)i);
    CHECK_INT(buffer.failed, 0);
    CHECK(buffer.capacity <= 1000);
    chordal__buffer_byte(&buffer, 1);
    CHECK_INT(buffer.failed, CHORDAL_E_SIZE);
    CHECK_INT(buffer.len, 1000);
    chordal__buffer_put(&buffer, "", 0);
    CHECK(!chordal__buffer_extend(&buffer, 0));
    for (int i = 0; i < 1000; i++) CHECK_INT(buffer.data[i], i & 0xff);
    chordal__buffer_clear(&buffer);
    CHECK(!chordal__buffer_extend(&buffer, SIZE_MAX));
    CHECK_INT(buffer.failed, CHORDAL_E_SIZE);
    chordal__buffer_dispose(&buffer);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TEST(out_of_memory) {
    chordal__memory *memory = chordal__memory_new(NULL, 300);
    chordal__buffer buffer;
    chordal__buffer_init(&buffer, memory, SIZE_MAX);
    for (int i = 0; i < 400; i++) chordal__buffer_byte(&buffer, 'x');
    CHECK_INT(buffer.failed, CHORDAL_E_NOMEM);
    CHECK(buffer.len >= 64 && buffer.len < 300);
    size_t len = buffer.len;
    chordal__buffer_text(&buffer, "y");
    CHECK_INT(buffer.len, len);
    chordal__buffer_dispose(&buffer);
    chordal__buffer_init(&buffer, memory, 5);
    chordal__buffer_text(&buffer, "12345");
    CHECK_INT(buffer.failed, 0);
    CHECK_INT(buffer.capacity, 5);
    chordal__buffer_dispose(&buffer);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TEST(varints) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__buffer buffer;
    chordal__buffer_init(&buffer, memory, 1000);
    for (unsigned bits = 0; bits < 64; bits++) {
        for (int64_t near = -1; near <= 1; near++) {
            uint64_t value = (UINT64_C(1) << bits) + (uint64_t)near;
            chordal__buffer_clear(&buffer);
            chordal__buffer_varint(&buffer, value);
            chordal__reader reader = chordal__reader_of(buffer.data, buffer.len);
            CHECK(chordal__read_varint(&reader) == value);
            CHECK_INT(reader.failed, 0);
            CHECK_INT(chordal__reader_left(&reader), 0);
            reader = chordal__reader_of(buffer.data, buffer.len - 1);
            CHECK_INT(chordal__read_varint(&reader), 0);
            CHECK_INT(reader.failed, CHORDAL_E_TRUNCATED);
        }
    }
    chordal__buffer_clear(&buffer);
    chordal__buffer_varint(&buffer, UINT64_MAX);
    CHECK_INT(buffer.len, 10);
    chordal__buffer_dispose(&buffer);
    chordal__memory_unref(memory);
}

TEST(malformed_varints) {
    const struct {
        const char *bytes;
        size_t len;
        int code;
    } cases[] = {{"\x80\x00", 2, CHORDAL_E_SYNTAX},
                 {"\xff\xff\x00", 3, CHORDAL_E_SYNTAX},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, CHORDAL_E_SYNTAX},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, CHORDAL_E_SYNTAX},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, CHORDAL_E_SYNTAX},
                 {"\x80", 1, CHORDAL_E_TRUNCATED},
                 {"", 0, CHORDAL_E_TRUNCATED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chordal__reader reader = chordal__reader_of((const uint8_t *)cases[i].bytes, cases[i].len);
        CHECK_INT(chordal__read_varint(&reader), 0);
        CHECK_INT(reader.failed, cases[i].code);
    }
}

TEST(reads) {
    const uint8_t data[] = {1, 2, 3, 4, 5};
    chordal__reader reader = chordal__reader_of(data, sizeof data);
    CHECK_INT(chordal__read_byte(&reader), 1);
    CHECK(chordal__read_bytes(&reader, 2) == data + 1);
    CHECK_INT(chordal__reader_position(&reader), 3);
    CHECK(chordal__read_bytes(&reader, 0) == data + 3);
    CHECK(!chordal__read_bytes(&reader, SIZE_MAX));
    CHECK_INT(reader.failed, CHORDAL_E_TRUNCATED);
    CHECK_INT(chordal__reader_position(&reader), 3);
    CHECK_INT(chordal__read_byte(&reader), 0);
    CHECK(!chordal__read_bytes(&reader, 1));
    reader = chordal__reader_of(NULL, 0);
    CHECK_INT(chordal__reader_left(&reader), 0);
    CHECK_INT(chordal__read_byte(&reader), 0);
    CHECK_INT(reader.failed, CHORDAL_E_TRUNCATED);
}

TEST(bodies) {
    chordal__memory *memory = chordal__memory_new(NULL, 1000);
    CHECK(!chordal__body_new(memory, 1000));
    CHECK(!chordal__body_new(memory, SIZE_MAX));
    chordal__body *body = chordal__body_new(memory, 10);
    memset(body->data, 1, 10);
    CHECK_INT(body->len, 10);
    CHECK(chordal__body_ref(body) == body);
    chordal__body_unref(body);
    CHECK_INT(memory->live_blocks, 1);
    chordal__body_unref(body);
    CHECK_INT(memory->live_bytes, 0);
    chordal__body_unref(NULL);
    body = chordal__body_new(memory, 0);
    CHECK(body && body->len == 0);
    chordal__body_unref(body);
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

TESTS({"writes", writes}, {"out_of_memory", out_of_memory}, {"varints", varints},
      {"malformed_varints", malformed_varints}, {"reads", reads}, {"bodies", bodies})
