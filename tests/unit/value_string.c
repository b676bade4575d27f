/* value_string.c: appending to strings and dropping from their front, against a flat array of UTF-16 units. */
#include "value_text.h"

typedef struct units {
    uint16_t *items;
    size_t count;
} units;

static chordal__node *append(chordal__memory *memory, chordal__node *node, const void *utf8, size_t len) {
    chordal__node *still = NULL, *made = chordal__node_append(memory, node, utf8, len, &still);
    CHECK(made && !still);
    return made;
}

static chordal__node *drop(chordal__memory *memory, chordal__node *node, uint64_t count) {
    chordal__node *still = NULL, *made = chordal__node_drop_front(memory, node, count, &still);
    CHECK(made && !still);
    return made;
}

static void put_unit(units *text, uint16_t unit) {
    text->items = realloc(text->items, (text->count + 1) * sizeof *text->items);
    text->items[text->count++] = unit;
}

static size_t encode(uint32_t point, uint8_t *out) {
    if (point < 0x80) return out[0] = (uint8_t)point, 1;
    if (point < 0x800) return out[0] = (uint8_t)(0xc0 | point >> 6), out[1] = (uint8_t)(0x80 | (point & 63)), 2;
    size_t more = point < 0x10000 ? 2 : 3;
    out[0] = (uint8_t)((more == 2 ? 0xe0 : 0xf0) | point >> 6 * more);
    for (size_t i = 1; i <= more; i++) out[i] = (uint8_t)(0x80 | (point >> 6 * (more - i) & 63));
    return more + 1;
}

/* WTF-8 of the units, to be freed. */
static uint8_t *text_of(const uint16_t *items, size_t count, size_t *out_len) {
    uint8_t *bytes = malloc(count * 3 + 1);
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t point = items[i];
        bool pair = (point & 0xfc00) == 0xd800 && i + 1 < count && (items[i + 1] & 0xfc00) == 0xdc00;
        if (pair) point = 0x10000 + ((point & 0x3ff) << 10 | (items[++i] & 0x3ff));
        len += encode(point, bytes + len);
    }
    *out_len = len;
    return bytes;
}

static void check_string(const chordal__node *node, const units *text) {
    size_t len, have;
    uint8_t *expected = text_of(text->items, text->count, &len), *bytes = bytes_of(node, &have);
    CHECK_INT(chordal__node_length(node), text->count);
    CHECK(have == len && memcmp(bytes, expected, len) == 0);
    free(expected);
    free(bytes);
}

static uint16_t random_unit(uint64_t *state) {
    static const uint16_t from[] = {'a', 'a', 0xe9, 0x20ac, 0xd83d, 0xde00};
    return (uint16_t)(from[next_random(state) % 6] + next_random(state) % 8);
}

static void edit_at_random(uint64_t seed, size_t longest, int rounds) {
    uint64_t state = seed;
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_string(memory, "", 0), *kept = NULL;
    units text = {0}, kept_text = {0};
    for (int round = 0; round < rounds && check_failures == 0; round++) {
        if (next_random(&state) % 3) {
            size_t before = text.count, count = next_random(&state) % (next_random(&state) % 10 ? 9 : longest), len;
            for (size_t i = 0; i < count; i++) put_unit(&text, random_unit(&state));
            uint8_t *bytes = text_of(count ? text.items + before : NULL, count, &len);
            node = append(memory, node, bytes, len);
            free(bytes);
        } else {
            size_t count = next_random(&state) % (next_random(&state) % 10 ? 7 : longest);
            if (count > text.count) count = text.count;
            if (next_random(&state) % 40 == 0) count = text.count;
            node = drop(memory, node, count);
            text.count -= count;
            if (text.count) memmove(text.items, text.items + count, text.count * sizeof *text.items);
        }
        check_string(node, &text);
        if (next_random(&state) % 4 == 0) {
            if (kept) check_string(kept, &kept_text);
            chordal__node_unref(memory, kept);
            kept = chordal__node_ref(node);
            kept_text.items = realloc(kept_text.items, (text.count + 1) * sizeof *text.items);
            if (text.count) memcpy(kept_text.items, text.items, text.count * sizeof *text.items);
            kept_text.count = text.count;
        }
    }
    if (check_failures) fprintf(stderr, "seed %" PRIu64 "\n", seed);
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, kept);
    free(text.items);
    free(kept_text.items);
    close_memory(memory);
}

TEST(test_model) {
    for (uint64_t seed = 1; seed <= 20; seed++) edit_at_random(seed, 300, 300);
    for (uint64_t seed = 21; seed <= 30; seed++) edit_at_random(seed, 6000, 200);
}

TEST(test_halves) {
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_string(memory, "a\xed\xa0\xbd", 4);
    chordal__node *old = chordal__node_ref(node);
    node = append(memory, node, "\xed\xb8\x80z", 4);
    check_node(memory, node, "\"a\xf0\x9f\x98\x80z\"");
    check_node(memory, old, "\"a\\ud83d\"");
    CHECK_INT(chordal__node_length(node), 4);
    node = drop(memory, node, 2);
    check_node(memory, node, "\"\\ude00z\"");
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, old);
    close_memory(memory);
}

/* Appending to a long text allocates little, and nothing most times when it has one owner. */
TEST(test_cost) {
    chordal__memory *memory = open_memory();
    char *text = malloc(500000);
    memset(text, 'x', 500000);
    chordal__node *node = chordal__node_string(memory, text, 500000), *old = NULL;
    uint64_t bytes = memory->live_bytes, allocations = memory->allocations;
    for (int i = 0; i < 1000; i++) node = append(memory, node, "token", 5);
    CHECK(memory->live_bytes - bytes < 12000);
    CHECK(memory->allocations - allocations < 100);
    old = chordal__node_ref(node);
    bytes = memory->live_bytes;
    node = append(memory, node, "token", 5);
    CHECK(memory->live_bytes - bytes < 4000);
    CHECK_INT(chordal__node_length(old), 505000);
    CHECK_INT(chordal__node_length(node), 505005);
    bytes = memory->live_bytes;
    chordal__node_unref(memory, old);
    CHECK(memory->live_bytes < bytes);
    chordal__node_unref(memory, node);
    free(text);
    close_memory(memory);
}

/* A window that slides stays as large as it is. */
TEST(test_window) {
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_string(memory, "", 0);
    for (int i = 0; i < 20000; i++) node = append(memory, node, "0123456789", 10);
    uint64_t bytes = memory->live_bytes;
    for (int i = 0; i < 20000; i++) {
        node = append(memory, node, "0123456789", 10);
        node = drop(memory, node, 10);
    }
    CHECK_INT(chordal__node_length(node), 200000);
    CHECK(memory->live_bytes < bytes * 11 / 10);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TESTS({"model", test_model}, {"halves", test_halves}, {"cost", test_cost}, {"window", test_window})
