/* wire_codec.c: the envelope codecs: what they keep, copy and allocate, what they refuse, and hostile frames. */
#include "wire_messages.h"

#define LIMIT (64 << 20)

static chordal__memory *memory;
static chordal__codec binary, text;
static chordal__list queue;

static void begin(void) {
    memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal__list_init(&queue);
    CHECK_INT(chordal__codec_init(&binary, memory, CHORDAL_CODEC_BINARY, LIMIT, 512), 0);
    CHECK_INT(chordal__codec_init(&text, memory, CHORDAL_CODEC_TEXT, LIMIT, 512), 0);
}

static void end(void) {
    drop_frames(&queue);
    chordal__codec_dispose(&binary);
    chordal__codec_dispose(&text);
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

static chordal__message call_with(chordal__part *part) {
    return (chordal__message){.kind = CHORDAL__CALL, .origin = 1, .numbers = {1, 2, 3}, .list = part, .list_len = 1};
}

static chordal__part json(const char *value) {
    return (chordal__part){.data = (const uint8_t *)value, .len = strlen(value)};
}

static int decode(chordal__codec *codec, uint32_t kind, const void *data, size_t len, chordal__message *out) {
    return chordal__codec_decode(codec, kind, data, len, out, NULL);
}

/* ---- memory ---- */

TEST(hot_messages_take_one_block) {
    begin();
    chordal__part change = json("[\"a\",0,\" tok\"]");
    uint64_t hold = 3;
    chordal__message state = {.kind = CHORDAL__STATE, .origin = 1, .numbers = {1}};
    state.list = &change, state.holds = &hold, state.list_len = 1;
    for (int i = 0; i < 5; i++) {
        chordal__codec *codecs[] = {&binary, &text};
        for (int c = 0; c < 2; c++) {
            uint64_t before = memory->allocations;
            CHECK_INT(chordal__codec_encode(codecs[c], &state, &queue), 0);
            if (i) CHECK_INT(memory->allocations - before, 1);
        }
    }
    drop_frames(&queue);
    end();
}

TEST(bodies_are_shared) {
    begin();
    chordal__body *body = chordal__body_new(memory, 1 << 20);
    memset(body->data, ' ', body->len);
    memcpy(body->data + 5, "\"x\"", 3);
    for (int raw = 0; raw < 2; raw++) {
        chordal__part part = {.data = body->data + 5, .len = (1 << 20) - 5, .raw = raw, .body = body};
        chordal__message call = call_with(&part);
        chordal__codec *codecs[] = {&binary, &text};
        for (int c = 0; c < 2; c++) {
            CHECK_INT(chordal__codec_encode(codecs[c], &call, &queue), 0);
            chordal__frame *last = CHORDAL__ENTRY(queue.previous, chordal__frame, node);
            CHECK(last->size < 400);
            CHECK_INT(body->count, 2);
            size_t shared = 0;
            for (uint32_t i = 0; i < last->pieces_len; i++) {
                if (last->pieces[i].body != body) continue;
                CHECK_INT(last->pieces[i].offset, 5);
                CHECK_INT(last->pieces[i].len, part.len);
                shared++;
            }
            CHECK_INT(shared, 1);
            drop_frames(&queue);
            CHECK_INT(body->count, 1);
        }
    }
    chordal__body_unref(body);
    end();
}

TEST(short_parts_are_copied_and_long_ones_once) {
    begin();
    chordal__body *body = chordal__body_new(memory, 1000);
    memset(body->data, '1', body->len);
    for (size_t len = CHORDAL__INLINE - 1; len <= CHORDAL__INLINE + 1; len++) {
        chordal__part part = {.data = body->data, .len = len, .body = body};
        chordal__message call = call_with(&part);
        CHECK_INT(chordal__codec_encode(&binary, &call, &queue), 0);
        CHECK_INT(body->count, len > CHORDAL__INLINE ? 2 : 1);
        drop_frames(&queue);
    }
    chordal__part parts[3] = {{.data = body->data, .len = 900}, {.data = body->data, .len = 3}, {0}};
    parts[2] = parts[0];
    chordal__message call = call_with(parts);
    call.list_len = 3;
    CHECK_INT(chordal__codec_encode(&binary, &call, &queue), 0);
    CHECK_INT(first_frame(&queue)->pieces_len, 1);
    CHECK(binary.scratch.capacity < 900);
    parts[1] = (chordal__part){.data = body->data, .len = 900, .body = body};
    CHECK_INT(chordal__codec_encode(&binary, &call, &queue), 0);
    CHECK_INT(CHORDAL__ENTRY(queue.previous, chordal__frame, node)->pieces_len, 3);
    drop_frames(&queue);
    chordal__body_unref(body);
    end();
}

TEST(decoding_copies_no_bytes) {
    begin();
    chordal__message out;
    static uint8_t frame[1000] = {0x31, 1, 0, 0, 0};
    frame[5] = 0xd9, frame[6] = 0x1e; /* raw, 982 bytes */
    CHECK_INT(decode(&binary, CHORDAL_FRAME_BINARY, frame, 7 + 982, &out), 1);
    CHECK(out.list_len == 1 && out.list[0].raw && out.list[0].data == frame + 7 && out.list[0].unchecked);
    uint64_t before = memory->allocations;
    frame[0] = 0x11;
    memmove(frame + 1, frame + 2, 998);
    CHECK_INT(decode(&binary, CHORDAL_FRAME_BINARY, frame, 6 + 982, &out), 1);
    CHECK_INT(memory->allocations - before, 0);
    const char *said = "[1,\"c#\",[0,3,1,2,4,1],0,0,0,0,\"x\",0]";
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, said, strlen(said), &out), 0);
    CHECK_INT(decode(&text, CHORDAL_FRAME_BINARY, "abc", 3, &out), 0);
    CHECK_INT(text.current_in, 0);
    CHECK_INT(decode(&text, CHORDAL_FRAME_BINARY, frame, 4, &out), 1);
    CHECK_INT(text.current_in, 1);
    CHECK_INT(out.list_len, 3);
    CHECK(out.list[2].data == frame && !out.list[2].body);
    CHECK_BYTES(out.list[0].data, out.list[0].len, "abc", 3);
    chordal__body *kept = chordal__body_ref(out.list[0].body);
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, "[\"x\",0]", 7, &out), 1);
    CHECK_INT(kept->count, 1);
    chordal__body_unref(kept);
    end();
}

TEST(little_is_kept_between_messages) {
    begin();
    chordal__message out;
    size_t len = 4 << 20;
    char *said = malloc(len);
    memset(said, ' ', len);
    memcpy(said, "[1,\"r#\",[0,2,1],0,", 18);
    memcpy(said + len - 2, "0]", 2);
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, said, len, &out), 0);
    CHECK(memory->live_bytes >= len);
    CHECK_INT(decode(&text, CHORDAL_FRAME_BINARY, "ab", 2, &out), 1);
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, "[\"x\",0]", 7, &out), 1);
    CHECK(memory->live_bytes < 70000);
    memset(said, 'a', len);
    memcpy(said, "[\"revoked\",0,\"\\n", 16);
    memcpy(said + len - 2, "\"]", 2);
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, said, len, &out), 1);
    CHECK_INT(out.texts[0].len, len - 17);
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, "[\"x\",0]", 7, &out), 1);
    CHECK(memory->live_bytes < 70000);
    free(said);
    end();
}

/* ---- what is refused when encoding ---- */

static void check_refused(const chordal__message *message, int binary_code, int text_code) {
    chordal__codec *codecs[] = {&binary, &text};
    int codes[] = {binary_code, text_code};
    for (int c = 0; c < 2; c++) {
        codecs[c]->current_out = 77;
        CHECK_INT(chordal__codec_encode(codecs[c], message, &queue), codes[c]);
        CHECK((codes[c] == 0) != chordal__list_empty(&queue));
        CHECK_INT(codecs[c]->current_out, codes[c] == 0 ? message->origin : 77);
        drop_frames(&queue);
    }
}

TEST(messages_that_do_not_fit_the_table) {
    begin();
    chordal__part part = json("1");
    chordal__message good = call_with(&part), bad = good;
    check_refused(&good, 0, 0);
    bad.kind = 0;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad.kind = CHORDAL__MESSAGE_END;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = good, bad.flags = CHORDAL__FLAG_MORE;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = good, bad.origin = 0;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = (chordal__message){.kind = CHORDAL__PING, .origin = 1};
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = good, bad.numbers[1] = CHORDAL__NUMBER_END;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = good, bad.origin = CHORDAL__NUMBER_END;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    part = (chordal__part){0};
    check_refused(&good, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    bad = (chordal__message){.kind = CHORDAL__HOLD, .parts = {json("1")}, .origin = 1};
    bad.parts[0].deflated = true;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    part = json("1"), part.deflated = true, part.whole = UINT32_MAX; /* more than the peer takes, once it is whole */
    check_refused(&good, CHORDAL_E_SIZE, CHORDAL_E_SIZE);
    uint64_t hold = CHORDAL__NUMBER_END;
    part = json("[]");
    bad = (chordal__message){.kind = CHORDAL__STATE, .origin = 1, .list = &part, .holds = &hold, .list_len = 1};
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    hold = 0, part.raw = true;
    check_refused(&bad, CHORDAL_E_INVALID, CHORDAL_E_INVALID);
    end();
}

TEST(unchecked_parts_do_not_break_a_text_message) {
    static const char *const bad[] = {"1],[\"x\",0",      "1,2",      "",    " 1", "1 ", "{\"a\":1", "\"",
                                      "\"\xed\xa0\xbd\"", "\"\xff\"", "nul", "[1}"};
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        chordal__part part = json(bad[i]);
        chordal__message call = call_with(&part);
        part.unchecked = true;
        if (part.len) check_refused(&call, 0, CHORDAL_E_MALFORMED);
    }
    chordal__part part = json("{\"a\":[1,\"\\ud83d\",{}]}");
    part.unchecked = true;
    chordal__message call = call_with(&part);
    check_refused(&call, 0, 0);
    end();
}

TEST(limits_on_size) {
    begin();
    static char value[1000];
    memset(value, '1', sizeof value - 1);
    chordal__part part = json(value);
    for (int raw = 0; raw < 2; raw++) {
        part.raw = raw;
        chordal__message call = call_with(&part);
        binary.send_limit = text.send_limit = LIMIT;
        binary.current_out = text.current_out = 77;
        CHECK_INT(chordal__codec_encode(&binary, &call, &queue), 0);
        binary.send_limit = first_frame(&queue)->bytes;
        drop_frames(&queue);
        CHECK_INT(chordal__codec_encode(&text, &call, &queue), 0);
        text.send_limit = 0;
        for (chordal__list *node = queue.next; node != &queue; node = node->next) {
            text.send_limit += CHORDAL__ENTRY(node, chordal__frame, node)->bytes;
        }
        drop_frames(&queue);
        check_refused(&call, 0, 0);
        binary.send_limit--, text.send_limit--;
        check_refused(&call, CHORDAL_E_SIZE, CHORDAL_E_SIZE);
    }
    end();
}

static void check_list(size_t count, int encoded, int decoded) {
    chordal__part *parts = calloc(count, sizeof *parts);
    chordal__message call = call_with(parts), out;
    call.list_len = count;
    for (size_t i = 0; i < count; i++) parts[i] = json("7");
    check_refused(&call, encoded, encoded);
    uint8_t *frame = malloc(count * 2 + 4);
    memcpy(frame, "\x11\0\0\0", 4);
    for (size_t i = 0; i < count; i++) memcpy(frame + 4 + i * 2, "\x04\x07", 2);
    binary.current_in = text.current_in = 1;
    CHECK_INT(decode(&binary, CHORDAL_FRAME_BINARY, frame, count * 2 + 4, &out), decoded);
    char *said = malloc(count * 2 + 12);
    memcpy(said, "[\"c\",0,0,0", 10);
    for (size_t i = 0; i < count; i++) memcpy(said + 10 + i * 2, ",7", 2);
    said[10 + count * 2] = ']';
    CHECK_INT(decode(&text, CHORDAL_FRAME_TEXT, said, count * 2 + 11, &out), decoded);
    free(said);
    free(frame);
    free(parts);
}

TEST(limits_on_lists) {
    begin();
    check_list(CHORDAL__LIST_LIMIT, 0, 1);
    check_list(CHORDAL__LIST_LIMIT + 1, CHORDAL_E_SIZE, CHORDAL_E_TOO_LARGE);
    end();
}

/* ---- twins ---- */

/* Send what is in the queue into `from`, and encode what comes of it with `to`. */
static void convert(chordal__codec *from, chordal__codec *to, chordal__list *frames) {
    chordal__list out;
    chordal__message message = {0};
    uint8_t *kept[RANDOM_PARTS + 1];
    size_t count = 0;
    int code = 0;
    chordal__list_init(&out);
    for (chordal__list *node = frames->next; node != frames; node = node->next) {
        chordal__frame *frame = CHORDAL__ENTRY(node, chordal__frame, node);
        CHECK_INT(code, 0);
        kept[count] = flatten(frame);
        code = decode(from, frame->frame, kept[count++], frame->bytes, &message);
    }
    CHECK_INT(code, 1);
    if (code == 1) CHECK_INT(chordal__codec_encode(to, &message, &out), 0);
    while (count) free(kept[--count]);
    drop_frames(frames);
    while (!chordal__list_empty(&out)) {
        chordal__list *node = out.next;
        chordal__list_remove(node);
        chordal__list_append(frames, node);
    }
}

TEST(twins_convert_into_each_other) {
    begin();
    chordal__codec decoders[2], encoders[2];
    for (int i = 0; i < 2; i++) {
        chordal__codec_init(&encoders[i], memory, (uint8_t)(i ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT), LIMIT, 512);
        chordal__codec_init(&decoders[i], memory, (uint8_t)(i ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY), LIMIT, 512);
    }
    random_state = 42;
    for (int round = 0; round < 3000; round++) {
        random_message one;
        random_any(&one);
        CHECK_INT(chordal__codec_encode(&binary, &one.message, &queue), 0);
        chordal__frame *frame = first_frame(&queue);
        size_t len = frame->bytes;
        uint8_t *before = flatten(frame);
        convert(&decoders[0], &encoders[0], &queue); /* to text */
        convert(&decoders[1], &encoders[1], &queue); /* and back */
        uint8_t *after = flatten(first_frame(&queue));
        CHECK_BYTES(after, first_frame(&queue)->bytes, before, len);
        drop_frames(&queue);
        free(before);
        free(after);
    }
    for (int i = 0; i < 2; i++) {
        chordal__codec_dispose(&encoders[i]);
        chordal__codec_dispose(&decoders[i]);
    }
    end();
}

/* ---- hostile frames ---- */

static void check_answer(int code, const chordal_error *error, size_t len) {
    static const int codes[] = {
        0, 1, CHORDAL_E_MALFORMED, CHORDAL_E_TOO_LARGE, CHORDAL_E_DEPTH, CHORDAL_E_UNSUPPORTED, CHORDAL_E_ORDER};
    bool known = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) known = known || code == codes[i];
    if (!known) CHECK_FAIL("code %d", code);
    if (code < 0) CHECK(error->position <= len && error->code == code && error->detail[0]);
}

static void spoil(uint8_t *data, size_t len) {
    static const char letters[] = "[]{}\",:#+0129ecs\\unl-";
    for (uint64_t times = 1 + random_below(3); len && times--;) {
        size_t at = random_below(len);
        switch (random_below(4)) {
        case 0:
            data[at] = (uint8_t)random_below(256);
            break;
        case 1:
            data[at] ^= (uint8_t)(1 << random_below(8));
            break;
        case 2:
            data[at] = (uint8_t)letters[random_below(sizeof letters - 1)];
            break;
        default:
            memmove(data + at, data + at + (at + 1 < len), len - at - (at + 1 < len));
            break;
        }
    }
}

static void feed_spoiled(uint8_t kind, const chordal__message *message) {
    chordal__codec sender, receiver;
    chordal__message out;
    chordal_error error;
    chordal__codec_init(&sender, memory, kind, LIMIT, 512);
    chordal__codec_init(&receiver, memory, kind, 4096, 8);
    CHECK_INT(chordal__codec_encode(&sender, message, &queue), 0);
    int code = 0;
    for (chordal__list *node = queue.next; node != &queue && code >= 0; node = node->next) {
        chordal__frame *frame = CHORDAL__ENTRY(node, chordal__frame, node);
        uint8_t *flat = flatten(frame);
        size_t len = frame->bytes - (random_below(4) ? 0 : random_below(frame->bytes + 1));
        if (random_below(8)) spoil(flat, len);
        uint8_t *exact = malloc(len ? len : 1);
        memcpy(exact, flat, len);
        code = chordal__codec_decode(&receiver, frame->frame, exact, len, &out, &error);
        check_answer(code, &error, len);
        free(exact);
        free(flat);
    }
    drop_frames(&queue);
    chordal__codec_dispose(&sender);
    chordal__codec_dispose(&receiver);
}

TEST(spoiled_frames_are_refused_or_read) {
    begin();
    random_state = 7;
    for (int round = 0; round < 20000; round++) {
        random_message one;
        random_any(&one);
        feed_spoiled((uint8_t)(round & 1 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY), &one.message);
    }
    end();
}

TEST(noise_is_refused_or_read) {
    begin();
    random_state = 9;
    for (int round = 0; round < 20000; round++) {
        size_t len = random_below(40);
        uint8_t *noise = malloc(len + 1);
        chordal__message out;
        chordal_error error;
        for (size_t i = 0; i < len; i++) noise[i] = (uint8_t)random_below(256);
        check_answer(chordal__codec_decode(&binary, CHORDAL_FRAME_BINARY, noise, len, &out, &error), &error, len);
        check_answer(chordal__codec_decode(&text, CHORDAL_FRAME_TEXT, noise, len, &out, &error), &error, len);
        free(noise);
    }
    end();
}

TEST(codecs_are_of_a_known_kind) {
    begin();
    chordal__codec other;
    CHECK_INT(chordal__codec_init(&other, memory, 0, LIMIT, 512), CHORDAL_E_INVALID);
    CHECK_INT(chordal__codec_init(&other, memory, 3, LIMIT, 512), CHORDAL_E_INVALID);
    CHECK_TEXT(chordal__message_word(CHORDAL__STATE), "s");
    CHECK_TEXT(chordal__message_word(0), "unknown");
    CHECK_TEXT(chordal__message_word(200), "unknown");
    chordal__frame_free(NULL);
    end();
}

TESTS({"hot messages take one block", hot_messages_take_one_block}, {"bodies are shared", bodies_are_shared},
      {"short parts are copied", short_parts_are_copied_and_long_ones_once},
      {"decoding copies no bytes", decoding_copies_no_bytes},
      {"little is kept between messages", little_is_kept_between_messages},
      {"messages that do not fit the table", messages_that_do_not_fit_the_table},
      {"unchecked parts", unchecked_parts_do_not_break_a_text_message}, {"limits on size", limits_on_size},
      {"limits on lists", limits_on_lists}, {"twins convert into each other", twins_convert_into_each_other},
      {"spoiled frames", spoiled_frames_are_refused_or_read}, {"noise", noise_is_refused_or_read},
      {"codecs are of a known kind", codecs_are_of_a_known_kind})
