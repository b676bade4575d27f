/* value_array.c: arrays against a flat list: random splices with earlier revisions kept. */
#include "value_text.h"

typedef struct list {
    int64_t *items;
    size_t count;
} list;

static void splice_list(list *to, size_t index, size_t remove, const int64_t *items, size_t count) {
    size_t behind = to->count - index - remove;
    to->items = realloc(to->items, (to->count + count + 1) * sizeof *to->items);
    memmove(to->items + index + count, to->items + index + remove, behind * sizeof *to->items);
    for (size_t i = 0; i < count; i++) to->items[index + i] = items[i];
    to->count += count - remove;
}

static int64_t number_of(const chordal__node *node) {
    chordal__number number = {0};
    if (node) chordal__node_get_number(node, &number);
    return node ? number.as.integer : INT64_MIN;
}

static void check_array(const chordal__node *node, const list *model) {
    chordal__walk walk;
    chordal__walk_begin(&walk, node);
    CHECK_INT(chordal__node_length(node), model->count);
    bool same = true;
    for (size_t i = 0; i < model->count && same; i++)
        same = number_of(chordal__walk_next(&walk, NULL, NULL)) == model->items[i];
    CHECK(same && !chordal__walk_next(&walk, NULL, NULL));
    for (size_t i = 0; i < model->count; i += 1 + model->count / 20)
        CHECK_INT(number_of(chordal__node_at(node, i)), model->items[i]);
    CHECK(!chordal__node_at(node, model->count));
}

/* Integers beyond those that lie in the pointer, so that they are counted. */
static chordal__node *splice(chordal__memory *memory, chordal__node *node, size_t index, size_t remove,
                             const int64_t *items, size_t count) {
    chordal__node **nodes = malloc((count + 1) * sizeof *nodes), *still = NULL;
    for (size_t i = 0; i < count; i++) nodes[i] = chordal__node_integer(memory, items[i]);
    node = chordal__node_splice(memory, node, index, remove, nodes, count, &still);
    CHECK(node && !still);
    for (size_t i = 0; i < count; i++) chordal__node_unref(memory, nodes[i]);
    free(nodes);
    return node;
}

static size_t random_size(uint64_t *state, size_t most) {
    static const size_t sizes[] = {1, 2, 2, 3, 8, 40, 200};
    size_t size = next_random(state) % (sizes[next_random(state) % 7] + 1);
    return size < most ? size : most;
}

static void edit_at_random(uint64_t seed, int rounds, size_t limit) {
    uint64_t state = seed;
    chordal__memory *memory = open_memory();
    chordal__node *node = chordal__node_array(memory, NULL, 0), *kept = chordal__node_ref(node), *still;
    list model = {0}, old = {0};
    for (int round = 0; round < rounds && check_failures == 0; round++) {
        size_t index = next_random(&state) % 3 ? next_random(&state) % (model.count + 1) : model.count;
        size_t remove = random_size(&state, model.count - index), count = random_size(&state, limit);
        if (model.count > limit) count = 0;
        int64_t items[200];
        for (size_t i = 0; i < count; i++)
            items[i] = (int64_t)next_random(&state) << (next_random(&state) % 2 ? 32 : 0);
        if (index < model.count && next_random(&state) % 4 == 0) {
            chordal__node *item = chordal__node_integer(memory, round);
            node = chordal__node_replace(memory, node, index, item, &still);
            chordal__node_unref(memory, item);
            model.items[index] = round;
        } else {
            node = splice(memory, node, index, remove, items, count);
            splice_list(&model, index, remove, items, count);
        }
        check_array(node, &model);
        if (next_random(&state) % 8) continue;
        check_array(kept, &old);
        chordal__node_unref(memory, kept);
        kept = chordal__node_ref(node);
        splice_list(&old, 0, old.count, model.items, model.count);
    }
    if (check_failures) fprintf(stderr, "seed %" PRIu64 "\n", seed);
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, kept);
    free(model.items);
    free(old.items);
    close_memory(memory);
}

TEST(test_model) {
    for (uint64_t seed = 1; seed <= 20; seed++) edit_at_random(seed, 600, 100);
    for (uint64_t seed = 21; seed <= 26; seed++) edit_at_random(seed, 1500, 3000);
}

static chordal__node *count_up(chordal__memory *memory, size_t count) {
    chordal__node **items = malloc(count * sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = chordal__node_integer(memory, (int64_t)i);
    chordal__node *node = chordal__node_array(memory, items, count);
    free(items);
    return node;
}

TEST(test_cost) {
    chordal__memory *memory = open_memory();
    chordal__node *node = count_up(memory, 100000), *old = chordal__node_ref(node);
    int64_t item = 7;
    CHECK(memory->live_bytes < 100000 * 10);
    uint64_t bytes = memory->live_bytes;
    node = splice(memory, node, 100000, 0, &item, 1);
    node = splice(memory, node, 50000, 1, &item, 1);
    node = splice(memory, node, 30, 0, &item, 1);
    CHECK(memory->live_bytes - bytes < 12000);
    CHECK_INT(chordal__node_length(old), 100000);
    CHECK_INT(number_of(chordal__node_at(old, 50000)), 50000);
    CHECK_INT(number_of(chordal__node_at(node, 50001)), 7);
    chordal__node_unref(memory, old);
    uint64_t allocations = memory->allocations;
    for (int i = 0; i < 1000; i++) node = splice(memory, node, chordal__node_length(node), 0, &item, 1);
    CHECK(memory->allocations - allocations < 800);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

/* Splices of more items than are there in one call. */
TEST(test_bulk) {
    chordal__memory *memory = open_memory();
    int64_t *items = malloc(200000 * sizeof *items);
    for (int64_t i = 0; i < 200000; i++) items[i] = i;
    list model = {0};
    chordal__node *node = chordal__node_array(memory, NULL, 0);
    node = splice(memory, node, 0, 0, items, 3);
    node = splice(memory, node, 1, 1, items, 200000);
    splice_list(&model, 0, 0, items, 3);
    splice_list(&model, 1, 1, items, 200000);
    check_array(node, &model);
    node = splice(memory, node, 2, 199990, NULL, 0);
    splice_list(&model, 2, 199990, NULL, 0);
    check_array(node, &model);
    node = splice(memory, node, 0, model.count, NULL, 0);
    CHECK_INT(chordal__node_length(node), 0);
    check_node(memory, node, "[]");
    node = splice(memory, node, 0, 0, items, 2);
    check_node(memory, node, "[0,1]");
    chordal__node_unref(memory, node);
    free(items);
    free(model.items);
    close_memory(memory);
}

/* Pushed objects share the keys of those that are there. */
TEST(test_shared_keys) {
    chordal__memory *memory = open_memory();
    chordal__node *node = node_of(memory, "[{\"first\":1,\"second\":2}]"), *still;
    uint64_t blocks = memory->live_blocks;
    for (int i = 0; i < 10; i++) {
        chordal__node *item = node_of(memory, "{\"first\":3,\"second\":4}");
        node = chordal__node_splice(memory, node, chordal__node_length(node), 0, &item, 1, &still);
        chordal__node_unref(memory, item);
    }
    CHECK_INT(memory->live_blocks - blocks, 10);
    chordal__node_unref(memory, node);
    close_memory(memory);
}

TESTS({"model", test_model}, {"cost", test_cost}, {"bulk", test_bulk}, {"keys", test_shared_keys})
