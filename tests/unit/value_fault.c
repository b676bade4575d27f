/* value_fault.c: every allocation fails in turn, and from then on: nothing is lost, changed or left behind. */
#include "value_text.h"

typedef struct failing {
    long countdown; /* this one fails; negative: none */
    bool lasting;   /* and all after it */
    bool failed;
} failing;

static bool fails(failing *state) {
    if (state->countdown < 0 || state->countdown-- > 0) return false;
    state->failed = true;
    if (state->lasting) state->countdown = 0;
    return true;
}

static void *failing_allocate(void *context, size_t size) {
    return fails(context) ? NULL : malloc(size);
}

static void *failing_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    return fails(context) ? NULL : realloc(block, new_size);
}

static void failing_release(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

/* One step: give the new revision of *node, or false with *node as it was. */
typedef bool step(chordal__memory *memory, chordal__node **node);

static bool settle(chordal__node **node, chordal__node *made, chordal__node *still) {
    *node = made ? made : still;
    CHECK(*node);
    return made != NULL;
}

static bool append_text(chordal__memory *memory, chordal__node **node) {
    chordal__node *still = NULL, *made = chordal__node_append(memory, *node, "\xed\xb8\x80 some more", 13, &still);
    return settle(node, made, still);
}

static bool append_much(chordal__memory *memory, chordal__node **node) {
    char text[5000];
    memset(text, 'y', sizeof text);
    chordal__node *still = NULL, *made = chordal__node_append(memory, *node, text, sizeof text, &still);
    return settle(node, made, still);
}

static bool drop_some(chordal__memory *memory, chordal__node **node) {
    chordal__node *still = NULL, *made = chordal__node_drop_front(memory, *node, 5, &still);
    return settle(node, made, still);
}

static bool drop_all(chordal__memory *memory, chordal__node **node) {
    uint64_t units = chordal__node_length(*node);
    chordal__node *still = NULL, *made = chordal__node_drop_front(memory, *node, units, &still);
    return settle(node, made, still);
}

static bool splice_at(chordal__memory *memory, chordal__node **node, uint64_t index, uint64_t remove, size_t count) {
    chordal__node *items[100], *still = NULL;
    for (size_t i = 0; i < count; i++) items[i] = chordal__node_integer(memory, (int64_t)i);
    chordal__node *made = chordal__node_splice(memory, *node, index, remove, items, count, &still);
    return settle(node, made, still);
}

static bool push_item(chordal__memory *memory, chordal__node **node) {
    return splice_at(memory, node, chordal__node_length(*node), 0, 1);
}

static bool splice_many(chordal__memory *memory, chordal__node **node) {
    return splice_at(memory, node, 1, 2, 100);
}

static bool remove_many(chordal__memory *memory, chordal__node **node) {
    return splice_at(memory, node, 2, chordal__node_length(*node) - 3, 0);
}

static bool replace_item(chordal__memory *memory, chordal__node **node) {
    chordal__node *still = NULL, *null = chordal__node_null(memory);
    chordal__node *made = chordal__node_replace(memory, *node, 1, null, &still);
    return settle(node, made, still);
}

static bool put_key(chordal__memory *memory, chordal__node **node, const char *key) {
    chordal__node *still = NULL, *value = chordal__node_null(memory);
    chordal__node *made = chordal__node_put(memory, *node, key, strlen(key), value, &still);
    return settle(node, made, still);
}

static bool put_new(chordal__memory *memory, chordal__node **node) {
    return put_key(memory, node, "new");
}

static bool put_old(chordal__memory *memory, chordal__node **node) {
    return put_key(memory, node, "k1");
}

static bool remove_key(chordal__memory *memory, chordal__node **node) {
    chordal__node *still = NULL, *made = chordal__node_remove(memory, *node, "k1", 2, &still);
    return settle(node, made, still);
}

static bool slot_of_key(chordal__memory *memory, chordal__node **node) {
    chordal__segment segment = {.is_key = true, .key = (const uint8_t *)"k1", .key_len = 2};
    chordal__node **slot;
    if (chordal__node_slot(memory, node, &segment, 1, 0, 0, &slot)) return false;
    chordal__node_unref(memory, *slot);
    *slot = chordal__node_null(memory);
    return true;
}

static bool slot_of_item(chordal__memory *memory, chordal__node **node) {
    chordal__segment segment = {.index = 1};
    chordal__node **slot;
    if (chordal__node_slot(memory, node, &segment, 1, 0, 0, &slot)) return false;
    chordal__node_unref(memory, *slot);
    *slot = chordal__node_null(memory);
    return true;
}

static char *json_array(int count) {
    char *json = malloc((size_t)count * 12 + 3), *at = json + 1;
    json[0] = '[';
    for (int i = 0; i < count; i++) at += sprintf(at, "%s%d.5", i ? "," : "", i);
    strcpy(at, "]");
    return json;
}

static char *json_object(int count) {
    char *json = malloc((size_t)count * 24 + 3), *at = json + 1;
    json[0] = '{';
    for (int i = 0; i < count; i++) at += sprintf(at, "%s\"k%d\":%d.5", i ? "," : "", i, i);
    strcpy(at, "}");
    return json;
}

static char *json_string(int count) {
    char *json = malloc((size_t)count + 20);
    json[0] = '"';
    memset(json + 1, 'x', (size_t)count);
    strcpy(json + count + 1, "\\ud83d\"");
    return json;
}

/* Do one step with the n-th allocation failing; true when none did. */
static bool run_step(const char *json, step *change, bool shared, bool lasting, long n) {
    failing state = {.countdown = -1, .lasting = lasting};
    chordal_memory_functions functions = {sizeof functions, 0, &state, failing_allocate, failing_resize,
                                          failing_release};
    chordal__memory *memory = chordal__memory_new(&functions, UINT64_MAX);
    chordal__node *node = node_of(memory, json), *before = node_of(memory, json);
    chordal__node *other = shared ? chordal__node_ref(node) : NULL;
    uint64_t digest = chordal__node_digest(node), blocks = memory->live_blocks;
    state.countdown = n;
    state.failed = false;
    bool done = change(memory, &node);
    bool failed = state.failed;
    state.countdown = -1;
    CHECK(done != failed);
    if (!done) {
        CHECK(chordal__node_equal(node, before) && chordal__node_digest(node) == digest);
        CHECK(shared || memory->live_blocks == blocks);
        CHECK(change(memory, &node));
    }
    if (other) CHECK(chordal__node_equal(other, before));
    CHECK(!chordal__node_equal(node, before));
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, before);
    chordal__node_unref(memory, other);
    close_memory(memory);
    return !failed;
}

static void sweep(char *json, step *const *steps) {
    for (; *steps; steps++)
        for (int way = 0; way < 4; way++)
            for (long n = 0; !run_step(json, *steps, way & 1, way & 2, n) && n < 1000 && check_failures == 0; n++) {
            }
    free(json);
}

TEST(test_strings) {
    step *const steps[] = {append_text, append_much, drop_some, drop_all, NULL};
    sweep(json_string(40), steps);
    sweep(json_string(2030), steps);
    sweep(json_string(4071), steps);
    sweep(json_string(100000), steps);
}

TEST(test_arrays) {
    step *const steps[] = {push_item, splice_many, remove_many, replace_item, slot_of_item, NULL};
    static const int counts[] = {4, 64, 65, 96, 1024, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) sweep(json_array(counts[i]), steps);
}

TEST(test_objects) {
    step *const steps[] = {put_new, put_old, remove_key, slot_of_key, NULL};
    static const int counts[] = {2, 8, 64, 65, 1024, 2500};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) sweep(json_object(counts[i]), steps);
}

/* Read, write and convert with the n-th allocation failing; true when none did. */
static bool run_codecs(const char *json, bool lasting, long n) {
    failing state = {.countdown = -1, .lasting = lasting};
    chordal_memory_functions functions = {sizeof functions, 0, &state, failing_allocate, failing_resize,
                                          failing_release};
    chordal__memory *memory = chordal__memory_new(&functions, UINT64_MAX);
    chordal__node *node = NULL, *again = NULL;
    chordal__buffer packed, text, other;
    chordal__buffer_init(&packed, memory, SIZE_MAX);
    chordal__buffer_init(&text, memory, SIZE_MAX);
    chordal__buffer_init(&other, memory, SIZE_MAX);
    state.countdown = n;
    chordal__reader reader = chordal__reader_of((const uint8_t *)json, strlen(json));
    int code = chordal__json_read(memory, (const uint8_t *)json, strlen(json), &wide_limits, &node, NULL);
    if (!code) chordal__pack_write(&packed, node), code = packed.failed;
    if (!code) code = chordal__pack_read(memory, packed.data, packed.len, &wide_limits, &again, NULL);
    if (!code) chordal__json_write(&text, again), code = text.failed;
    if (!code) CHECK_BYTES((const char *)text.data, text.len, json, strlen(json));
    if (!code) code = chordal__pack_from_json(&other, &reader, &wide_limits, NULL);
    if (!code) CHECK(other.len == packed.len && memcmp(other.data, packed.data, other.len) == 0);
    reader = chordal__reader_of(packed.data, packed.len);
    chordal__buffer_clear(&text);
    if (!code) code = chordal__json_from_pack(&text, &reader, &wide_limits, NULL);
    if (!code) CHECK_BYTES((const char *)text.data, text.len, json, strlen(json));
    CHECK_INT(code, state.failed ? CHORDAL_E_NOMEM : 0);
    chordal__node_unref(memory, node);
    chordal__node_unref(memory, again);
    chordal__buffer_dispose(&packed);
    chordal__buffer_dispose(&text);
    chordal__buffer_dispose(&other);
    close_memory(memory);
    return !state.failed;
}

static char *json_deep(void) {
    char *json = malloc(400), *at = json;
    for (int i = 0; i < 60; i++) at += sprintf(at, "[");
    at += sprintf(at, "18446744073709551615");
    for (int i = 0; i < 60; i++) at += sprintf(at, "]");
    return json;
}

TEST(test_codecs) {
    static const char mixed[] =
        "[{\"a\":1.5,\"b\":\"t\\n\xc3\xa9\"},{\"a\":2,\"b\":\"\"},{\"b\":[],\"c\":{\"a\":{}}},null,{},"
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}]";
    char *texts[] = {strdup(mixed), json_array(70), json_object(70), json_string(3000), json_deep()};
    for (size_t i = 0; i < 5; i++) {
        for (int lasting = 0; lasting < 2; lasting++)
            for (long n = 0; !run_codecs(texts[i], lasting, n) && n < 5000 && check_failures == 0; n++) {
            }
        free(texts[i]);
    }
}

TESTS({"strings", test_strings}, {"arrays", test_arrays}, {"objects", test_objects}, {"codecs", test_codecs})
