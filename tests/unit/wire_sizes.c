/* wire_sizes.c: the sizes of hot messages, against their budgets. Ids are below 64; parts are JSON in the text column.
 */
#include "check.h"
#include "wire/wire.h"

static const uint64_t seed[2] = {1, 2};
static chordal__memory *memory;

/* What an envelope adds is counted without the transport's own framing. */
static size_t encoded(uint8_t codec_kind, const chordal__message *message) {
    chordal__codec codec;
    chordal__list queue;
    size_t bytes = 0;
    chordal__list_init(&queue);
    CHECK_INT(chordal__codec_init(&codec, memory, codec_kind, 64 << 20, 512), 0);
    codec.current_out = message->origin;
    uint64_t before = memory->allocations;
    CHECK_INT(chordal__codec_encode(&codec, message, &queue), 0);
    uint64_t first = memory->allocations - before;
    while (!chordal__list_empty(&queue)) {
        chordal__frame *frame = CHORDAL__ENTRY(queue.next, chordal__frame, node);
        bytes += frame->bytes;
        chordal__list_remove(&frame->node);
        chordal__frame_free(frame);
    }
    CHECK(first >= 1);
    chordal__codec_dispose(&codec);
    return bytes;
}

static chordal__part part_of(chordal__buffer *buffer) {
    CHECK_INT(buffer->failed, 0);
    return (chordal__part){.data = buffer->data, .len = buffer->len};
}

static chordal__node *value_of(const char *json) {
    chordal__limits limits = {.depth = 512, .size = 1 << 20};
    chordal__node *node = NULL;
    CHECK_INT(chordal__json_read(memory, (const uint8_t *)json, strlen(json), &limits, &node, NULL), 0);
    return node;
}

typedef struct row {
    const char *name;
    size_t binary, text, binary_budget, text_budget;
} row;

static void report(row line) {
    printf("%-44s %8zu / %-8zu %8zu / %-8zu\n", line.name, line.binary, line.text, line.binary_budget,
           line.text_budget);
    if (line.binary > line.binary_budget)
        CHECK_FAIL("%s: %zu bytes, not %zu", line.name, line.binary, line.binary_budget);
    if (line.text > line.text_budget)
        CHECK_FAIL("%s: %zu bytes in text, not %zu", line.name, line.text, line.text_budget);
}

/* ---- states: one op on a path that the dictionary knows ---- */

static chordal__path *path_to(const char *first, uint64_t index, const char *last) {
    chordal__segment segments[4] = {{.index = 1},
                                    {.is_key = true, .key = (const uint8_t *)first, .key_len = (uint32_t)strlen(first)},
                                    {.index = index},
                                    {.is_key = true, .key = (const uint8_t *)last, .key_len = (uint32_t)strlen(last)}};
    return chordal__path_new(memory, segments, *last ? 4 : 2);
}

static size_t state_size(uint8_t codec, uint8_t encoding, const chordal__ops *ops) {
    chordal__dictionary dictionary;
    chordal__buffer buffer;
    chordal__dictionary_init(&dictionary, memory, 1024, seed);
    chordal__buffer_init(&buffer, memory, SIZE_MAX);
    for (uint64_t i = 0; i < 9; i++) {
        chordal__path *other = path_to("other", i, "x");
        CHECK_INT(chordal__dictionary_define(&dictionary, other, 1), 0);
        chordal__path_unref(memory, other);
    }
    CHECK_INT(chordal__dictionary_define(&dictionary, ops->items[0].path, 1), 0);
    chordal__change_write(&buffer, encoding, &dictionary, 5, 6, ops);
    chordal__part part = part_of(&buffer);
    uint64_t hold = 63;
    chordal__message message = {.kind = CHORDAL__STATE, .origin = 63, .numbers = {1}};
    message.list = &part, message.holds = &hold, message.list_len = 1;
    size_t size = encoded(codec, &message);
    chordal__buffer_dispose(&buffer);
    chordal__dictionary_dispose(&dictionary);
    return size;
}

/* Takes the op. */
static void report_state(const char *name, chordal__op op, size_t binary_budget, size_t text_budget) {
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    CHECK_INT(chordal__ops_push(&ops, op), 0);
    report((row){name, state_size(CHORDAL_CODEC_BINARY, CHORDAL__ENCODING_BINARY, &ops),
                 state_size(CHORDAL_CODEC_TEXT, CHORDAL__ENCODING_JSON, &ops), binary_budget, text_budget});
    chordal__ops_dispose(&ops);
}

static const char item[] =
    "{\"id\":\"01J9ZK3V5T7Q8R2M4N6P0S1U\",\"text\":\"Buy milk, bread and the small red apples for "
    "lunch\",\"done\":false,\"order\":1234,\"by\":\"anne\",\"k\":1}";

static void states(void) {
    report_state("streamed token (4 bytes, 1,000 entries)",
                 (chordal__op){.kind = CHORDAL_OP_APPEND,
                               .path = path_to("entries", 999, "text"),
                               .value = chordal__node_string(memory, " tok", 4)},
                 12, 28);
    report_state("one removed item",
                 (chordal__op){.kind = CHORDAL_OP_SPLICE, .path = path_to("entries", 0, ""), .index = 517, .remove = 1},
                 12, 28);
    report_state("one changed field, 8-character value",
                 (chordal__op){.kind = CHORDAL_OP_SET,
                               .path = path_to("entries", 999, "text"),
                               .value = chordal__node_string(memory, "12345678", 8)},
                 18, 34);
    CHECK_INT(strlen(item), 137);
    chordal__node *value = value_of(item), *values = chordal__node_array(memory, &value, 1);
    chordal__buffer packed;
    chordal__buffer_init(&packed, memory, SIZE_MAX);
    chordal__pack_write(&packed, value);
    report_state(
        "one appended item, 137 B of JSON",
        (chordal__op){.kind = CHORDAL_OP_SPLICE, .path = path_to("entries", 0, ""), .index = 1000, .value = values},
        packed.len + 12, 137 + 28);
    chordal__buffer_dispose(&packed);
    chordal__node_unref(memory, value);
}

/* ---- the rest ---- */

static void report_message(const char *name, chordal__message *message, chordal__node *value, size_t binary_budget,
                           size_t text_budget) {
    size_t sizes[2];
    for (int text = 0; text < 2; text++) {
        chordal__buffer buffer;
        chordal__buffer_init(&buffer, memory, SIZE_MAX);
        if (value && text)
            chordal__json_write(&buffer, value);
        else if (value)
            chordal__pack_write(&buffer, value);
        chordal__part part = part_of(&buffer);
        message->parts[0] = part;
        if (message->kind == CHORDAL__CALL && value) message->list = &part;
        sizes[text] = encoded(text ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY, message);
        chordal__buffer_dispose(&buffer);
    }
    chordal__node_unref(memory, value);
    report((row){name, sizes[0], sizes[1], binary_budget, text_budget});
}

static void calls(void) {
    chordal__message call = {.kind = CHORDAL__CALL, .origin = 63, .numbers = {63, 63, 20}, .list_len = 1};
    report_message("small call, one 4-character argument", &call, value_of("\"milk\""), 12, 22);
    chordal__message result = {.kind = CHORDAL__RESULT, .origin = 63, .numbers = {63}};
    report_message("its result, 2 characters", &result, value_of("\"n1\""), 8, 14);
    chordal__body *body = chordal__body_new(memory, 1 << 20);
    memset(body->data, 7, body->len);
    chordal__part bytes = {.data = body->data, .len = body->len, .raw = true, .body = body};
    call.list = &bytes;
    report((row){"1 MiB of bytes as an argument", encoded(CHORDAL_CODEC_BINARY, &call),
                 encoded(CHORDAL_CODEC_TEXT, &call), (1 << 20) + 16, (1 << 20) + 32});
    CHECK_INT(body->count, 1);
    chordal__body_unref(body);
    chordal__message hold = {.kind = CHORDAL__HOLD, .origin = 63, .numbers = {63, 1}};
    hold.texts[0].data = (const uint8_t *)"notes-board-type";
    hold.texts[0].len = 16;
    const char *params = "{\"board\":\"lunch\"}";
    chordal__buffer packed;
    chordal__node *value = value_of(params);
    chordal__buffer_init(&packed, memory, SIZE_MAX);
    chordal__pack_write(&packed, value);
    size_t binary = packed.len + 32, text = strlen(params) + 60;
    chordal__buffer_dispose(&packed);
    report_message("hold of an object (params come on top)", &hold, value, binary, text);
}

TEST(sizes) {
    memory = chordal__memory_new(NULL, UINT64_MAX);
    printf("%-44s %8s / %-8s %8s / %-8s\n", "message", "binary", "text", "budget", "text");
    states();
    calls();
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

TESTS({"sizes", sizes})
