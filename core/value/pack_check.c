/* pack_check.c: a packed value looked through for all that a value may not be, without building it. */
#include "value/scan.h"

typedef struct checker {
    chordal__sink sink;
    chordal__keys keys;
    const uint8_t *base; /* of the input, into which keys point */
    uint32_t depth;
    uint8_t objects[CHORDAL__DEPTH_MAX / 8];
} checker;

static checker *checker_of(chordal__sink *sink) {
    return (checker *)(void *)sink;
}

static int check_open(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    checker *check = checker_of(sink);
    uint8_t *bits = &check->objects[check->depth / 8], bit = (uint8_t)(1u << check->depth % 8);
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    check->depth++;
    return object ? chordal__keys_open(&check->keys) : 0;
}

static int check_close(chordal__sink *sink) {
    checker *check = checker_of(sink);
    check->depth--;
    bool object = check->objects[check->depth / 8] >> check->depth % 8 & 1;
    return object ? chordal__keys_close(&check->keys, check->base, &sink->position) : 0;
}

static int check_key(chordal__sink *sink, const chordal__key *key, unsigned flags) {
    (void)flags;
    checker *check = checker_of(sink);
    return chordal__keys_add(&check->keys, (size_t)(key->data - check->base), key->len, key->position);
}

static int check_string(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags) {
    (void)sink, (void)utf8, (void)len, (void)flags;
    return 0;
}

static int check_number(chordal__sink *sink, const chordal__number *number) {
    (void)sink, (void)number;
    return 0;
}

static int check_constant(chordal__sink *sink, unsigned kind) {
    (void)sink, (void)kind;
    return 0;
}

static const chordal__sink_calls calls = {check_open,   check_close,    check_key, check_string,
                                          check_number, check_constant, NULL};

/* A short ASCII string, a small integer, a boolean or null: nothing is to be checked in them. */
static bool skip_plain(chordal__reader *reader) {
    size_t left = chordal__reader_left(reader);
    uint8_t head = left && !reader->failed ? *reader->at : 0xc1;
    size_t len = head >> 5 == 5 ? head & 31 : 0;
    bool plain = head < 0x80 || head >= 0xe0 || head == 0xc0 || head == 0xc2 || head == 0xc3 || head >> 5 == 5;
    if (!plain || len >= left || !chordal__is_ascii(reader->at + 1, len)) return false;
    reader->at += 1 + len;
    return true;
}

int chordal__pack_check(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                        chordal_error *error) {
    if (!CHORDAL__SMALL && limits->size > 32 && skip_plain(reader)) return 0;
    checker check;
    check.sink = (chordal__sink){.calls = &calls, .memory = memory};
    check.keys = (chordal__keys){.memory = memory};
    check.base = reader->data;
    check.depth = 0;
    int code = chordal__pack_parse(reader, limits, &check.sink, error);
    chordal__keys_dispose(&check.keys);
    return code;
}
