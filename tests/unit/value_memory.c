/* value_memory.c: what parsed documents take, by the account of their memory: at most 1.3 times the JSON text and 16
 * bytes for each value in it. */
#include "value_text.h"

typedef struct parsed {
    uint64_t bytes, text, nodes;
} parsed;

static uint64_t nodes_in(const chordal__node *value) {
    if (chordal__node_kind(value) < CHORDAL_KIND_ARRAY) return 1;
    chordal__walk walk;
    chordal__walk_begin(&walk, value);
    uint64_t count = 1;
    const uint8_t *key;
    size_t key_len;
    for (const chordal__node *item; (item = chordal__walk_next(&walk, &key, &key_len));) count += nodes_in(item);
    return count;
}

static parsed parse(const char *json, bool packed) {
    chordal__memory *memory = open_memory();
    chordal__buffer bytes;
    chordal__node *value = node_of(memory, json);
    chordal__buffer_init(&bytes, memory, SIZE_MAX);
    chordal__pack_write(&bytes, value);
    if (packed) {
        chordal__node_unref(memory, value);
        CHECK_INT(chordal__pack_read(memory, bytes.data, bytes.len, &wide_limits, &value, NULL), 0);
    }
    chordal__buffer_dispose(&bytes);
    parsed found = {memory->live_bytes, strlen(json), nodes_in(value)};
    chordal__node_unref(memory, value);
    close_memory(memory);
    return found;
}

/* `each`: bytes that a value may take beside the text. */
static void check_document(const char *name, const char *json, uint64_t each) {
    for (int packed = 0; packed < 2; packed++) {
        parsed found = parse(json, packed);
        uint64_t most = found.text * 13 / 10 + found.nodes * each;
        if (found.bytes > most)
            CHECK_FAIL("%s: %" PRIu64 " bytes, not %" PRIu64 " for %" PRIu64 " values", name, found.bytes, most,
                       found.nodes);
    }
}

/* `count` times `format`, which takes a number three times, between two brackets, with commas. */
static void check_many(const char *name, const char *brackets, const char *format, int count, uint64_t each) {
    size_t room = (size_t)count * 1200 + 16, at = 1;
    char *json = malloc(room);
    json[0] = brackets[0];
    for (int i = 0; i < count; i++) {
        if (i) json[at++] = ',';
        at += (size_t)snprintf(json + at, room - at, format, i, i % 10, i * 7);
    }
    json[at] = brackets[1];
    json[at + 1] = 0;
    check_document(name, json, each);
    free(json);
}

#define NOTE                                                                                                           \
    "{\"id\":\"n%04d\",\"text\":\"able about after again air all along also and another any around ask away %d\","     \
    "\"author\":\"name-007\",\"at\":%d}"
#define LONG80 "able about after again air all along also and another any around ask away back "
#define LONG480 LONG80 LONG80 LONG80 LONG80 LONG80 LONG80
#define ENTRY "{\"id\":\"n%04d\",\"text\":\"" LONG480 LONG480 "%d\",\"author\":\"name-007\",\"at\":%d}"

TEST(test_lists) {
    check_many("notes", "[]", NOTE, 1000, 16);
    check_many("entries of 960", "[]", ENTRY, 500, 16);
    check_many("one note", "[]", NOTE, 1, 48);
}

TEST(test_numbers) {
    check_many("integers", "[]", "1%d%d%d", 100000, 16);
    check_many("doubles", "[]", "1%d.%d%d", 100000, 16);
    check_many("large integers", "[]", "1234567890123%04d%d%d", 10000, 16);
    check_many("rows of three", "[]", "[%d,%d,%d]", 30000, 16);
}

TEST(test_texts) {
    check_many("short texts", "[]", "\"%d%d%d\"", 100000, 16);
    check_many("one text", "[]", "\"" LONG480 LONG480 "%d%d%d\"", 1, 64);
    check_many("empty things", "[]", "[],{},\"\",null,true,%d,%d,%d", 10000, 16);
}

/* Beyond 64 members each is an entry of its own, in two trees: one in order, one by key; one for both where the keys
 * are in order. */
TEST(test_objects) {
    check_many("64 keys", "{}", "\"key-%07d%d\":%d", 64, 16);
    check_many("10,000 keys", "{}", "\"%2$d-key-%1$07d\":%3$d", 10000, 40);
    check_many("10,000 keys in order", "{}", "\"key-%07d%d\":%d", 10000, 28);
    check_many("10,000 notes by key", "{}", "\"key-%07d\":[%d,{\"at\":%d}]", 10000, 20);
}

TESTS({"lists", test_lists}, {"numbers", test_numbers}, {"texts", test_texts}, {"objects", test_objects})
