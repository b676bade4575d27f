/* value_object.c: objects against a flat list of members: random puts and removals with earlier revisions kept. */
#include "value_text.h"

typedef struct member {
    char key[16];
    int64_t value;
} member;

typedef struct members {
    member items[3000];
    size_t count;
} members;

static int64_t number_of(const chordal__node *node) {
    chordal__number number = {0};
    if (node) chordal__node_get_number(node, &number);
    return node ? number.as.integer : INT64_MIN;
}

static size_t find(const members *model, const char *key) {
    size_t i = 0;
    while (i < model->count && strcmp(model->items[i].key, key) != 0) i++;
    return i;
}

static void check_object(const chordal__node *node, const members *model) {
    chordal__walk walk;
    const uint8_t *key;
    size_t key_len;
    chordal__node *value;
    CHECK_INT(chordal__node_length(node), model->count);
    chordal__walk_begin(&walk, node);
    for (size_t i = 0; i < model->count && check_failures == 0; i++) {
        const member *item = &model->items[i];
        value = chordal__walk_next(&walk, &key, &key_len);
        CHECK(value && number_of(value) == item->value);
        CHECK_BYTES((const char *)key, key_len, item->key, strlen(item->key));
        if (i % (1 + model->count / 20)) continue;
        CHECK(chordal__node_get(node, item->key, strlen(item->key)) == value);
        CHECK(chordal__node_member(node, i, &key, &key_len, &value));
        CHECK(number_of(value) == item->value && key_len == strlen(item->key));
    }
    CHECK(!chordal__walk_next(&walk, &key, &key_len));
    CHECK(!chordal__node_member(node, model->count, &key, &key_len, &value));
    CHECK(!chordal__node_get(node, "none", 4));
}

static chordal__node *put(chordal__memory *memory, chordal__node *node, const char *key, int64_t number) {
    chordal__node *value = chordal__node_integer(memory, number), *still = NULL;
    node = chordal__node_put(memory, node, key, strlen(key), value, &still);
    CHECK(node && !still);
    chordal__node_unref(memory, value);
    return node;
}

static chordal__node *take(chordal__memory *memory, chordal__node *node, const char *key) {
    chordal__node *still = NULL;
    node = chordal__node_remove(memory, node, key, strlen(key), &still);
    CHECK(node && !still);
    return node;
}

static chordal__node *edit(chordal__memory *memory, chordal__node *node, members *model, uint64_t *state, uint32_t keys,
                           uint32_t removals) {
    char key[16];
    sprintf(key, "k%u", next_random(state) % keys);
    size_t at = find(model, key);
    if (next_random(state) % 10 < removals) {
        if (at == model->count) return node;
        memmove(&model->items[at], &model->items[at + 1], (model->count - at - 1) * sizeof *model->items);
        model->count--;
        return take(memory, node, key);
    }
    int64_t value = (int64_t)next_random(state) << (next_random(state) % 2 ? 32 : 0);
    if (at == model->count) strcpy(model->items[model->count++].key, key);
    model->items[at].value = value;
    return put(memory, node, key, value);
}

/* An object as a reader makes it, of keys that are in order: its two trees are one. */
static chordal__node *read_ordered(chordal__memory *memory, members *model, uint32_t count) {
    char *json = malloc(count * 24 + 16), *at = json;
    *at++ = '{';
    for (uint32_t i = 0; i < count; i++) {
        member *item = &model->items[model->count++];
        sprintf(item->key, "k%u", 1000 + i);
        item->value = i;
        at += sprintf(at, "%s\"%s\":%u", i ? "," : "", item->key, i);
    }
    strcpy(at, "}");
    chordal__node *node = node_of(memory, json);
    free(json);
    return node;
}

static void edit_at_random(uint64_t seed, uint32_t keys, int rounds, uint32_t ordered) {
    uint64_t state = seed;
    chordal__memory *memory = open_memory();
    members *model = calloc(2, sizeof *model), *old = model + 1;
    chordal__node *node = read_ordered(memory, model, ordered), *kept = chordal__node_ref(node);
    *old = *model;
    for (int round = 0; round < rounds && check_failures == 0; round++) {
        node = edit(memory, node, model, &state, keys, round < rounds / 2 ? 2 : 7);
        if (round % 7 == 0) check_object(node, model);
        if (next_random(&state) % 16) continue;
        check_object(kept, old);
        chordal__node_unref(memory, kept);
        kept = chordal__node_ref(node);
        *old = *model;
    }
    check_object(node, model);
    if (check_failures) fprintf(stderr, "seed %" PRIu64 "\n", seed);
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, kept);
    free(model);
    close_memory(memory);
}

TEST(test_model) {
    for (uint64_t seed = 1; seed <= 10; seed++) edit_at_random(seed, 20, 400, 0);
    for (uint64_t seed = 11; seed <= 20; seed++) edit_at_random(seed, 100, 1000, 0);
    for (uint64_t seed = 21; seed <= 24; seed++) edit_at_random(seed, 2000, 4000, 0);
}

TEST(test_keys_in_order) {
    for (uint64_t seed = 1; seed <= 20; seed++) edit_at_random(seed, 1100, 300, 65 + 5 * (uint32_t)seed);
    for (uint64_t seed = 21; seed <= 24; seed++) edit_at_random(seed, 2200, 4000, 1000);
}

TEST(test_cost) {
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_object(memory), *old;
    char key[16];
    for (int i = 0; i < 10000; i++) {
        sprintf(key, "key%d", i * 7919 % 10000);
        node = put(memory, node, key, i);
    }
    old = chordal__node_ref(node);
    uint64_t bytes = memory->live_bytes, allocations = memory->allocations;
    node = put(memory, node, "key77", -1);
    node = put(memory, node, "new", -2);
    node = take(memory, node, "key99");
    CHECK(memory->live_bytes - bytes < 12000);
    CHECK(memory->allocations - allocations < 60);
    CHECK_INT(number_of(chordal__node_get(node, "key77", 5)), -1);
    CHECK(number_of(chordal__node_get(old, "key77", 5)) >= 0);
    CHECK(!chordal__node_get(old, "new", 3) && chordal__node_get(old, "key99", 5));
    chordal__node_unref(memory, old);
    node = put(memory, node, "key78", 0);
    allocations = memory->allocations;
    for (int i = 0; i < 100; i++) node = put(memory, node, "key78", i);
    CHECK_INT(memory->allocations, allocations);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

static chordal__segment key_of(const char *key) {
    return (chordal__segment){.is_key = true, .key = (const uint8_t *)key, .key_len = (uint32_t)strlen(key)};
}

TEST(test_slots) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, "{\"a\":[{\"b\":1},{\"b\":2}],\"c\":3}"), *old = chordal__node_ref(node);
    chordal__segment path[] = {key_of("a"), {.index = 1}, key_of("b")}, past[] = {key_of("a"), {.index = 2}};
    chordal__segment other[] = {key_of("a"), {.index = 1}, key_of("x")}, wrong[] = {key_of("a"), key_of("b")};
    chordal__segment inside[] = {key_of("c"), key_of("d")};
    chordal__node **b, **none;
    CHECK_INT(chordal__node_slot(memory, &node, path, 3, 0, 0, &b), 0);
    CHECK_INT(chordal__node_slot(memory, &node, other, 3, 0, 0, &none), CHORDAL_E_NOT_FOUND);
    CHECK_INT(chordal__node_slot(memory, &node, past, 2, 0, 0, &none), CHORDAL_E_NOT_FOUND);
    CHECK_INT(chordal__node_slot(memory, &node, wrong, 2, 0, 0, &none), CHORDAL_E_TYPE);
    CHECK_INT(chordal__node_slot(memory, &node, inside, 2, 0, 0, &none), CHORDAL_E_PATH);
    chordal__node_unref(memory, *b);
    *b = chordal__node_integer(memory, 9);
    check_node(memory, node, "{\"a\":[{\"b\":1},{\"b\":9}],\"c\":3}");
    check_node(memory, old, "{\"a\":[{\"b\":1},{\"b\":2}],\"c\":3}");
    chordal__node *array = chordal__node_get(node, "a", 1);
    CHECK(chordal__node_at(array, 0) == chordal__node_at(chordal__node_get(old, "a", 1), 0));
    chordal__node_unref(memory, old);
    uint64_t allocations = memory->allocations;
    path[1].index = 0;
    CHECK_INT(chordal__node_slot(memory, &node, path, 2, 0, 41, &none), 0);
    CHECK_INT(memory->allocations, allocations);
    CHECK_INT(chordal__node_depth(node), 41);
    CHECK_INT(chordal__node_depth(chordal__node_get(node, "a", 1)), 40);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

/* The first index counts from elsewhere. */
TEST(test_shifted_slots) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, "[[1,2],[3,4]]"), **slot;
    chordal__segment path[] = {{.index = 6}, {.index = 1}};
    CHECK_INT(chordal__node_slot(memory, &node, path, 2, 5, 0, &slot), 0);
    check_node(memory, *slot, "4");
    CHECK_INT(chordal__node_slot(memory, &node, path, 2, 7, 0, &slot), CHORDAL_E_NOT_FOUND);
    CHECK_INT(chordal__node_slot(memory, &node, path, 0, 5, 0, &slot), 0);
    CHECK(slot == &node);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TEST(test_large_slots) {
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_object(memory), *old, **slot;
    chordal__segment wanted = key_of("key500"), absent = key_of("x");
    char key[16];
    for (int i = 0; i < 1000; i++) {
        sprintf(key, "key%d", i);
        node = put(memory, node, key, i);
    }
    old = chordal__node_ref(node);
    CHECK_INT(chordal__node_slot(memory, &node, &wanted, 1, 0, 0, &slot), 0);
    *slot = chordal__node_integer(memory, -1);
    CHECK_INT(number_of(chordal__node_get(node, "key500", 6)), -1);
    CHECK_INT(number_of(chordal__node_get(old, "key500", 6)), 500);
    chordal__node_unref(memory, old);
    uint64_t allocations = memory->allocations;
    CHECK_INT(chordal__node_slot(memory, &node, &wanted, 1, 0, 0, &slot), 0);
    *slot = chordal__node_integer(memory, -2);
    CHECK_INT(number_of(chordal__node_get(node, "key500", 6)), -2);
    CHECK_INT(memory->allocations, allocations);
    CHECK_INT(chordal__node_slot(memory, &node, &absent, 1, 0, 0, &slot), CHORDAL_E_NOT_FOUND);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TEST(test_depth) {
    chordal__memory *memory = open_memory();
    chordal__node *one = node_of(memory, "1"), *two = node_of(memory, "[[]]"), *node, *still;
    CHECK_INT(chordal__node_depth(one), 0);
    CHECK_INT(chordal__node_depth(two), 2);
    node = chordal__node_object(memory);
    CHECK_INT(chordal__node_depth(node), 1);
    node = put(memory, node, "a", 1);
    CHECK_INT(chordal__node_depth(node), 1);
    node = chordal__node_put(memory, node, "b", 1, two, &still);
    CHECK_INT(chordal__node_depth(node), 3);
    chordal__node_unref(memory, two);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TESTS({"model", test_model}, {"keys in order", test_keys_in_order}, {"cost", test_cost}, {"slots", test_slots},
      {"shifted slots", test_shifted_slots}, {"large_slots", test_large_slots}, {"depth", test_depth})
