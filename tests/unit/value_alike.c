/* value_alike.c: objects that follow each other with the same keys are read by a way of their own. Whatever is in them,
 * and whatever is wrong with them, it is as if each was read alone: the converters, which have no such way, tell. */
#include "value_text.h"

enum { TEXT_MAX = 1 << 16, ROUNDS = 3000, MUTATIONS = 12 };

typedef struct text {
    char data[TEXT_MAX];
    size_t len;
    uint64_t random;
} text;

static uint32_t below(text *t, uint32_t count) {
    return next_random(&t->random) % count;
}

static void put(text *t, const char *more) {
    size_t len = strlen(more);
    if (t->len + len > sizeof t->data) return;
    memcpy(t->data + t->len, more, len);
    t->len += len;
}

static void put_many(text *t, const char *unit, size_t count) {
    while (count--) put(t, unit);
}

static void put_string(text *t) {
    static const size_t lengths[] = {0, 1, 3, 5, 8, 15, 16, 17, 80, 255, 256, 257, 700, 1100};
    put(t, "\"");
    put_many(t, "x", lengths[below(t, sizeof lengths / sizeof *lengths)]);
    if (below(t, 8) == 0) put(t, below(t, 2) ? "\xc3\xa9" : "\\n\\ud83d");
    put(t, "\"");
}

static void put_scalar(text *t) {
    static const char *const scalars[] = {
        "0",
        "-0",
        "7",
        "-12",
        "1790000",
        "12345678",
        "-123456789",
        "1e2",
        "1.5",
        "-0.25",
        "4294967296",
        "123456789012345",
        "true",
        "false",
        "null",
        "65535",
        "70000",
        "-40000",
        "1234567890123456",
        "18446744073709551615",
        "-9223372036854775808",
        "[]",
        "{}",
        "[1,\"a\"]",
        "{\"a\": 1}",
        "[{\"b\":1},{\"b\":2},{\"b\":\"c\"}]",
    };
    if (below(t, 2))
        put_string(t);
    else
        put(t, scalars[below(t, sizeof scalars / sizeof *scalars)]);
}

static const char *const keys[] = {
    "id",
    "",
    "text",
    "author",
    "at",
    "12345678",
    "1234567890123",
    "12345678901234",
    "a key that is longer than most",
    "\xc3\xa9",
    "e\\u0041",
    "k\\n",
};

/* Objects of `count` keys; now and then one has others. */
static void put_object(text *t, uint32_t count, uint32_t first, const char *comma, const char *colon) {
    char name[16];
    if (below(t, 12) == 0) first++;
    put(t, "{");
    for (uint32_t i = 0; i < count; i++) {
        size_t key = first + i;
        put(t, i ? comma : "");
        put(t, "\"");
        snprintf(name, sizeof name, "n%zu", key);
        put(t, key < sizeof keys / sizeof *keys ? keys[key] : name);
        put(t, "\"");
        put(t, colon);
        put_scalar(t);
    }
    put(t, "}");
}

static void make_text(text *t) {
    static const char *const commas[] = {",", ",", ", ", " ,\n"}, *const colons[] = {":", ":", ": ", " :\t"};
    static const uint32_t counts[] = {0, 1, 2, 4, 4, 4, 7, 13, 32, 33, 64, 65};
    uint32_t style = below(t, 4), count = counts[below(t, 12)], first = below(t, 12), objects = 1 + below(t, 12);
    if (count > 13) objects = 3;
    t->len = 0;
    put(t, below(t, 2) ? "[" : "{\"list\": [");
    bool wrapped = t->data[0] == '{';
    for (uint32_t i = 0; i < objects; i++) {
        if (i) put(t, commas[style]);
        put_object(t, count, first, commas[style], colons[style]);
    }
    put(t, wrapped ? "]}" : "]");
}

static void mutate(text *t) {
    static const char bytes[] = "\"\\{}[]:, 0-1.e\x80\xff\x01tx\xd9\xc0\xcc\xa1\x84";
    if (t->len == 0) return;
    if (below(t, 4) == 0)
        t->len = below(t, (uint32_t)t->len) + 1;
    else
        t->data[below(t, (uint32_t)t->len)] = bytes[below(t, sizeof bytes - 1)];
}

typedef struct outcome {
    int code;
    uint64_t position;
    size_t taken;
    chordal__buffer bytes;
} outcome;

typedef int build(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits, chordal__node **out,
                  chordal_error *error);
typedef int convert(chordal__buffer *out, chordal__reader *reader, const chordal__limits *limits, chordal_error *error);
typedef void write(chordal__buffer *buffer, const chordal__node *node);

static void check_same(const text *t, const outcome *built, const outcome *converted) {
    CHECK_INT(built->code, converted->code);
    CHECK_INT(built->position, converted->position);
    if (built->code || converted->code) return;
    CHECK_INT(built->taken, converted->taken);
    CHECK_BYTES((const char *)built->bytes.data, built->bytes.len, (const char *)converted->bytes.data,
                converted->bytes.len);
    (void)t;
}

/* Read a text both ways; the converted bytes go to `next`, if it is there. */
static void compare(chordal__memory *memory, const text *t, build *read, write *as, convert *other, text *next) {
    outcome built = {0}, converted = {0};
    chordal_error error = {0};
    chordal__node *node = NULL;
    uint8_t *data = malloc(t->len + 1); /* no byte behind it is to be looked at */
    memcpy(data, t->data, t->len);
    data = realloc(data, t->len ? t->len : 1);
    chordal__buffer_init(&built.bytes, memory, SIZE_MAX);
    chordal__buffer_init(&converted.bytes, memory, SIZE_MAX);
    chordal__reader reader = chordal__reader_of(data, t->len);
    built.code = read(memory, &reader, &wide_limits, &node, &error);
    built.position = error.position;
    built.taken = (size_t)chordal__reader_position(&reader);
    if (built.code == 0) as(&built.bytes, node);
    reader = chordal__reader_of(data, t->len);
    error = (chordal_error){0};
    converted.code = other(&converted.bytes, &reader, &wide_limits, &error);
    converted.position = error.position;
    converted.taken = (size_t)chordal__reader_position(&reader);
    check_same(t, &built, &converted);
    if (next && converted.code == 0 && converted.bytes.len <= sizeof next->data) {
        next->len = converted.bytes.len;
        memcpy(next->data, converted.bytes.data, next->len);
    }
    chordal__node_unref(memory, node);
    chordal__buffer_dispose(&built.bytes);
    chordal__buffer_dispose(&converted.bytes);
    free(data);
}

static void compare_json(chordal__memory *memory, const text *t, text *packed) {
    compare(memory, t, chordal__json_read_value, chordal__pack_write, chordal__pack_from_json, packed);
}

static void compare_packed(chordal__memory *memory, const text *t) {
    compare(memory, t, chordal__pack_read_value, chordal__json_write, chordal__json_from_pack, NULL);
}

TEST(any_objects) {
    static text json, packed;
    chordal__memory *memory = open_memory();
    json.random = 7;
    for (int round = 0; round < ROUNDS && !check_failures; round++) {
        make_text(&json);
        packed.len = 0;
        packed.random = json.random;
        compare_json(memory, &json, &packed);
        compare_packed(memory, &packed);
        for (int i = 0; i < MUTATIONS; i++) {
            if (i % 4 == 0) make_text(&json);
            mutate(&json);
            compare_json(memory, &json, NULL);
            mutate(&packed);
            compare_packed(memory, &packed);
        }
        if (check_failures) fprintf(stderr, "round %d\n%.*s\n", round, (int)json.len, json.data);
    }
    close_memory(memory);
}

/* Every cut of a list is too short, at its end. */
TEST(cut_anywhere) {
    static text json, packed;
    chordal__memory *memory = open_memory();
    json.random = 11;
    do make_text(&json);
    while (json.len > 2000 || json.len < 600);
    compare_json(memory, &json, &packed);
    for (; json.len; json.len--) compare_json(memory, &json, NULL);
    for (; packed.len; packed.len--) compare_packed(memory, &packed);
    close_memory(memory);
}

/* A list of alike objects costs a few blocks, and they are given back. */
TEST(few_blocks) {
    static text json;
    chordal__memory *memory = open_memory();
    put(&json, "[");
    for (int i = 0; i < 400; i++)
        put(&json, "{\"id\":\"n0001\",\"text\":\"some words\",\"at\":1790000,\"done\":false},");
    json.data[json.len - 1] = ']';
    json.data[json.len] = 0;
    uint64_t before = memory->allocations;
    chordal__node *node = node_of(memory, json.data);
    CHECK(memory->allocations - before < 70);
    CHECK(memory->live_bytes < json.len * 13 / 10 + 16 * 401 * 5);
    check_node(memory, node, json.data);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TESTS({"any objects", any_objects}, {"cut anywhere", cut_anywhere}, {"few blocks", few_blocks})
