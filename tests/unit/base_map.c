/* The map against an array, and the hashes against known values. */
#include "base/base.h"
#include "check.h"

enum { KEYS = 500 };

static const uint64_t seed[2] = {1, 2};
static uint32_t random_state = 3;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static size_t make_key(size_t number, char key[64]) {
    return (size_t)snprintf(key, 64, "%.*s%zu", (int)(number % 20), "a rather long prefix", number);
}

static void check_all(const chordal__map *map, int *const values[KEYS]) {
    size_t count = 0, walked = 0, at = 0;
    char key[64];
    for (size_t i = 0; i < KEYS; i++) {
        size_t len = make_key(i, key);
        if (chordal__map_get(map, key, len) != values[i]) CHECK_FAIL("key %zu has another value", i);
        count += values[i] != NULL;
    }
    for (int *value; (value = chordal__map_next(map, &at)); walked++) CHECK(values[*value] == value);
    CHECK_INT(walked, count);
    CHECK_INT(map->count, count);
}

TEST(random_changes) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__map map;
    static int numbers[KEYS];
    int *values[KEYS] = {0};
    char key[64];
    chordal__map_init(&map, memory, seed);
    check_all(&map, values);
    CHECK(!chordal__map_remove(&map, "a", 1));
    for (int i = 0; i < 20000; i++) {
        size_t number = random_below(KEYS), len = make_key(number, key);
        numbers[number] = (int)number;
        if (random_below(2)) {
            int wanted = values[number] ? CHORDAL_E_EXISTS : 0;
            CHECK_INT(chordal__map_put(&map, key, len, &numbers[number]), wanted);
            values[number] = &numbers[number];
        } else {
            CHECK(chordal__map_remove(&map, key, len) == values[number]);
            values[number] = NULL;
        }
        if (i % 500 == 0) check_all(&map, values);
    }
    chordal__map_dispose(&map);
    CHECK_INT(memory->live_bytes, 0);
    CHECK_INT(chordal__map_put(&map, "", 0, values), 0);
    CHECK(chordal__map_get(&map, NULL, 0) == values);
    chordal__map_dispose(&map);
    chordal__memory_unref(memory);
}

TEST(out_of_memory) {
    for (uint64_t limit = 0; limit < 3000; limit += 8) {
        chordal__memory *memory = chordal__memory_new(NULL, limit);
        chordal__map map;
        char key[64];
        size_t count = 0;
        chordal__map_init(&map, memory, seed);
        while (count < 40 && chordal__map_put(&map, key, make_key(count, key), memory) == 0) count++;
        if (count < 40) {
            CHECK_INT(chordal__map_put(&map, key, make_key(count, key), memory), CHORDAL_E_NOMEM);
            CHECK(!chordal__map_get(&map, key, make_key(count, key)));
        }
        for (size_t i = 0; i < count; i++) CHECK(chordal__map_get(&map, key, make_key(i, key)));
        chordal__map_dispose(&map);
        CHECK_INT(memory->live_bytes, 0);
        chordal__memory_unref(memory);
    }
}

TEST(hashes) {
    const uint64_t zero[2] = {0, 0};
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    CHECK(chordal__hash("a", 1, zero) == UINT64_C(0x407448d2b89b1813));
    CHECK(chordal__hash("abcdefg", 7, zero) == UINT64_C(0x6db12aae9070f506));
    CHECK(chordal__hash("abcdefgh", 8, zero) == UINT64_C(0x3f7b849c0b8e35ea));
    CHECK(chordal__hash("abcdefghi", 9, zero) == UINT64_C(0xf89b34a3d11eb6e5));
    CHECK(chordal__hash(bytes, 64, zero) == UINT64_C(0x75e05fd5bbc870c6));
    CHECK(chordal__hash("a", 1, zero) != chordal__hash("a", 1, seed));
    CHECK(chordal__fnv(CHORDAL__FNV_START, "", 0) == CHORDAL__FNV_START);
    CHECK(chordal__fnv(CHORDAL__FNV_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    CHECK(chordal__fnv(chordal__fnv(CHORDAL__FNV_START, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

TESTS({"random_changes", random_changes}, {"out_of_memory", out_of_memory}, {"hashes", hashes})
