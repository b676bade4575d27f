/* Transport frames, in either codec: what is decoded can be encoded in both, and is decoded the same again. */
#include "fuzz/values.h"

static void same_parts(const chordal__message *a, const chordal__message *b) {
    CHECK_INT(a->list_len, b->list_len);
    for (size_t i = 0; i < a->list_len && i < b->list_len; i++) {
        CHECK_BYTES(a->list[i].data, a->list[i].len, b->list[i].data, b->list[i].len);
        CHECK_INT(a->list[i].raw, b->list[i].raw);
        CHECK_INT(a->list[i].deflated, b->list[i].deflated);
        if (a->holds && b->holds) CHECK(a->holds[i] == b->holds[i]);
    }
    for (int i = 0; i < 2; i++) CHECK_BYTES(a->parts[i].data, a->parts[i].len, b->parts[i].data, b->parts[i].len);
}

static void same_message(const chordal__message *a, const chordal__message *b) {
    CHECK_INT(a->kind, b->kind);
    CHECK_INT(a->flags, b->flags);
    CHECK(a->origin == b->origin);
    CHECK_BYTES((const char *)a->numbers, sizeof a->numbers, (const char *)b->numbers, sizeof b->numbers);
    CHECK_BYTES((const char *)a->ids, sizeof a->ids, (const char *)b->ids, sizeof b->ids);
    for (int i = 0; i < 2; i++) CHECK_BYTES(a->texts[i].data, a->texts[i].len, b->texts[i].data, b->texts[i].len);
    same_parts(a, b);
}

static uint8_t *flatten(const chordal__frame *frame) {
    uint8_t *bytes = malloc(frame->bytes + 1), *at = bytes;
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        const chordal__frame_piece *piece = &frame->pieces[i];
        if (piece->len) memcpy(at, (piece->body ? piece->body->data : frame->own) + piece->offset, piece->len);
        at += piece->len;
    }
    return bytes;
}

/* All frames of one message; the bytes of the last one are borrowed by it. */
static void decode_frames(chordal__codec *codec, chordal__list *queue, const chordal__message *expected) {
    chordal__message out;
    int code = 0;
    while (!chordal__list_empty(queue)) {
        chordal__frame *frame = CHORDAL__ENTRY(queue->next, chordal__frame, node);
        uint8_t *bytes = flatten(frame);
        code = chordal__codec_decode(codec, frame->frame, bytes, frame->bytes, &out, NULL);
        CHECK(code == (queue->next->next == queue));
        if (code == 1) same_message(expected, &out);
        chordal__list_remove(&frame->node);
        chordal__frame_free(frame);
        free(bytes);
    }
    CHECK_INT(code, 1);
}

static void encode_and_decode(chordal__memory *memory, const chordal__message *message, uint8_t kind, uint64_t origin) {
    chordal__codec codec;
    chordal__list queue;
    chordal__list_init(&queue);
    CHECK_INT(chordal__codec_init(&codec, memory, kind, 1 << 20, 64), 0);
    codec.current_in = codec.current_out = origin;
    int code = chordal__codec_encode(&codec, message, &queue);
    if (code == 0)
        decode_frames(&codec, &queue, message);
    else
        CHECK(code == CHORDAL_E_MALFORMED && kind == CHORDAL_CODEC_TEXT); /* a part that is no JSON */
    chordal__codec_dispose(&codec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, data + size};
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    chordal__codec codec;
    chordal__message message;
    uint8_t kind = fuzz_byte(&in) & 1 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY;
    int code = 0;
    CHECK_INT(chordal__codec_init(&codec, memory, kind, 1 << 16, 64), 0);
    while (code >= 0 && in.at < in.end) {
        size_t len;
        uint64_t origin = codec.current_in;
        uint32_t frame = fuzz_byte(&in) & 1 ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY;
        const uint8_t *bytes = fuzz_bytes(&in, 1 << 16, &len);
        uint8_t *exact = fuzz_exact(bytes, len);
        chordal_error error = {0};
        code = chordal__codec_decode(&codec, frame, exact, len, &message, &error);
        if (code < 0) CHECK(error.code == code && error.position <= len);
        if (code == 1 && !message.unknown) {
            encode_and_decode(memory, &message, CHORDAL_CODEC_BINARY, origin);
            encode_and_decode(memory, &message, CHORDAL_CODEC_TEXT, origin);
        }
        free(exact);
    }
    chordal__codec_dispose(&codec);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(codec)
