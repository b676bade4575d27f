/* Texts appended where they lie, by the straight way and by all others: what it makes, that earlier revisions stay, and
 * that in place it takes no memory but now and then a longer block. */
#include "unit/delta_text.h"

enum { ROUNDS = 400, TEXT_MAX = ROUNDS * 320 };

typedef struct stream {
    chordal__memory *memory;
    chordal__node *value;
    chordal__path *path;
    uint8_t text[TEXT_MAX]; /* as it is to be */
    size_t len;
    uint64_t random;
} stream;

static uint32_t below(stream *s, uint32_t count) {
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(s->random >> 33) % count;
}

#define HIGH "\xed\xa0\xbd"
#define LOW "\xed\xb8\x80"

/* The model: bytes, of which two halves become one code point. */
static void expect_more(stream *s, const char *token, size_t len) {
    bool joins = s->len >= 3 && len >= 3 && memcmp(s->text + s->len - 3, HIGH, 3) == 0 && memcmp(token, LOW, 3) == 0;
    if (joins) {
        memcpy(s->text + s->len - 3, "\xf0\x9f\x98\x80", 4);
        s->len++;
        token += 3, len -= 3;
    }
    memcpy(s->text + s->len, token, len);
    s->len += len;
}

static void append(stream *s, const char *token, size_t len) {
    chordal__op op = {.kind = CHORDAL_OP_APPEND, .path = s->path};
    op.value = chordal__node_string(s->memory, token, len);
    CHECK_INT(chordal__apply(s->memory, &s->value, &op, 64, NULL), 0);
    chordal__node_unref(s->memory, op.value);
    expect_more(s, token, len);
}

static void check_text(stream *s) {
    const chordal__node *string = chordal__resolve(s->value, s->path);
    const uint8_t *piece;
    uint64_t at = 0;
    size_t len, seen = 0;
    for (; chordal__node_string_piece(string, &at, &piece, &len); seen += len)
        if (seen + len > s->len || memcmp(piece, s->text + seen, len) != 0) CHECK_FAIL("another text at %zu", seen);
    CHECK_INT(seen, s->len);
    CHECK_INT(chordal__node_length(string), chordal__utf_units(s->text, s->len));
}

/* The value, or something on the way to the text, or the text. */
static chordal__node *hold_some(stream *s) {
    chordal__node *node = s->value;
    for (uint32_t i = 1, count = below(s, s->path->count); i <= count; i++) {
        const chordal__segment *segment = &s->path->segments[i];
        node = segment->is_key ? chordal__node_get(node, segment->key, segment->key_len)
                               : chordal__node_at(node, segment->index);
    }
    return chordal__node_ref(node);
}

static void open_stream(stream *s, const char *json, const char *path, const char *text) {
    *s = (stream){.memory = chordal__memory_new(NULL, UINT64_MAX), .random = 5};
    s->value = value_of(s->memory, json);
    chordal__node *segments = value_of(s->memory, path);
    s->path = path_of(s->memory, segments);
    chordal__node_unref(s->memory, segments);
    s->len = strlen(text);
    memcpy(s->text, text, s->len);
}

static void close_stream(stream *s) {
    chordal__node_unref(s->memory, s->value);
    chordal__path_unref(s->memory, s->path);
    CHECK_INT(s->memory->live_blocks, 0);
    chordal__memory_unref(s->memory);
}

static void run_stream(stream *s) {
    static char long_token[300];
    static const char *const tokens[] = {"",         " tok", "a", "ab", "seven b", "a token of 21 bytes..",
                                         "\xc3\xa9", HIGH,   LOW};
    memset(long_token, 'x', sizeof long_token - 1);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t pick = below(s, 10);
        const char *token = pick == 9 ? (below(s, 4) ? " t" : long_token) : tokens[pick];
        chordal__node *held = below(s, 3) ? NULL : hold_some(s);
        uint64_t digest = held ? chordal__node_digest(held) : 0;
        append(s, token, strlen(token));
        if (held && chordal__node_digest(held) != digest) CHECK_FAIL("round %d: an earlier revision changed", round);
        chordal__node_unref(s->memory, held);
        check_text(s);
    }
}

#define NOTE "{\"id\":\"n\",\"text\":\"abc\",\"at\":1}"
#define NOTES8 NOTE "," NOTE "," NOTE "," NOTE "," NOTE "," NOTE "," NOTE "," NOTE
#define NOTES72 NOTES8 "," NOTES8 "," NOTES8 "," NOTES8 "," NOTES8 "," NOTES8 "," NOTES8 "," NOTES8 "," NOTES8

TEST(any_place) {
    static const struct {
        const char *json, *path, *text;
    } places[] = {
        {"\"abc\"", "[0]", "abc"},
        {"[\"abc\"]", "[0,0]", "abc"},
        {"{\"t\":\"\"}", "[0,\"t\"]", ""},
        {"{\"entries\":[" NOTES72 "]}", "[0,\"entries\",71,\"text\"]", "abc"},
        {"{\"entries\":[" NOTES72 "]}", "[0,\"entries\",3,\"text\"]", "abc"},
        {"{\"entries\":[" NOTE "]}", "[0,\"entries\",0,\"text\"]", "abc"},
        {"{\"a key of more than sixteen\":\"abc\"}", "[0,\"a key of more than sixteen\"]", "abc"},
        {"{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":\"abc\"}", "[0,\"g\"]", "abc"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        static stream s;
        open_stream(&s, places[i].json, places[i].path, places[i].text);
        run_stream(&s);
        close_stream(&s);
    }
}

TEST(large_object) {
    static char json[4096];
    static stream s;
    size_t len = 0;
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(json + len, sizeof json - len, "%c\"k%d\":\"abc\"", i ? ',' : '{', i);
    snprintf(json + len, sizeof json - len, "}");
    open_stream(&s, json, "[0,\"k42\"]", "abc");
    run_stream(&s);
    close_stream(&s);
}

/* A text grows by half: 400 tokens take a few blocks besides their own. */
TEST(in_place) {
    static stream s;
    open_stream(&s, "{\"entries\":[" NOTES72 "]}", "[0,\"entries\",71,\"text\"]", "abc");
    append(&s, " tok", 4);
    uint64_t before = s.memory->allocations;
    for (int i = 0; i < 400; i++) append(&s, " tok", 4);
    CHECK(s.memory->allocations - before < 400 + 20);
    check_text(&s);
    close_stream(&s);
}

TESTS({"any_place", any_place}, {"large_object", large_object}, {"in_place", in_place})
