/* vectors_messages.c: the vectors of envelope messages. */
#include "vectors.h"
#include "wire/codec.h"

#define MOST_FRAMES 8

typedef struct frames {
    uint32_t kinds[MOST_FRAMES];
    bytes items[MOST_FRAMES]; /* owned */
    size_t count;
} frames;

static void add_frame(frames *out, uint32_t kind, bytes item) {
    CHECK(out->count < MOST_FRAMES);
    out->kinds[out->count] = kind;
    out->items[out->count++] = item;
}

static void free_frames(frames *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].data);
}

/* The frames of a case in a codec. */
static frames frames_of(const chordal__node *from, uint8_t codec) {
    frames out = {.count = 0};
    const chordal__node *follow = field(from, "frames");
    if (codec == CHORDAL_CODEC_BINARY && field(from, "binary")) {
        add_frame(&out, CHORDAL_FRAME_BINARY, hex_of(field(from, "binary")));
        return out;
    }
    if (field(from, "text")) add_frame(&out, CHORDAL_FRAME_TEXT, text_of(field(from, "text")));
    if (field(from, "text_hex")) add_frame(&out, CHORDAL_FRAME_TEXT, hex_of(field(from, "text_hex")));
    if (field(from, "then")) add_frame(&out, CHORDAL_FRAME_TEXT, text_of(field(from, "then")));
    for (uint64_t i = 0; follow && i < chordal__node_length(follow); i++) {
        add_frame(&out, CHORDAL_FRAME_BINARY, hex_of(chordal__node_at(follow, i)));
    }
    return out;
}

/* ---- the message of a case ---- */

typedef struct built {
    chordal__message message;
    chordal__part parts[300];
    uint64_t holds[300];
    bytes owned[400];
    size_t owned_len;
} built;

static bytes own(built *out, bytes data) {
    return out->owned[out->owned_len++] = data;
}

static chordal__part part_of(built *out, const chordal__node *from) {
    if (chordal__node_kind(from) == CHORDAL_KIND_NULL) return (chordal__part){0};
    static const char *const names[] = {"packed", "raw", "deflated", "deflated_raw"}; /* by its bits */
    for (size_t bits = 0; bits < 4; bits++) {
        if (!field(from, names[bits])) continue;
        bytes data = own(out, hex_of(field(from, names[bits])));
        return (chordal__part){.data = data.data, .len = data.len, .raw = bits & 1, .deflated = bits & 2};
    }
    bytes data = own(out, text_of(need(from, "json")));
    return (chordal__part){.data = data.data, .len = data.len};
}

static void build_list(built *out, const chordal__node *list, bool holds) {
    out->message.list = out->parts;
    out->message.holds = holds ? out->holds : NULL;
    out->message.list_len = (size_t)chordal__node_length(list);
    for (size_t i = 0; i < out->message.list_len; i++) {
        const chordal__node *one = chordal__node_at(list, i);
        if (holds) out->holds[i] = number_of(chordal__node_at(one, 0));
        out->parts[i] = part_of(out, holds ? chordal__node_at(one, 1) : one);
    }
}

static void build_fields(built *out, const char *fields, const chordal__node *list) {
    size_t number = 0, id = 0, text = 0, part = 0;
    CHECK_INT(chordal__node_length(list), strlen(fields));
    for (uint64_t i = 0; fields[i]; i++) {
        const chordal__node *one = chordal__node_at(list, i);
        bytes data;
        switch (fields[i]) {
        case 'N':
            out->message.numbers[number++] = number_of(one);
            break;
        case 'I':
            memcpy(out->message.ids[id++], own(out, hex_of(one)).data, 16);
            break;
        case 'T':
            data = own(out, text_of(one));
            out->message.texts[text].data = data.data;
            out->message.texts[text++].len = data.len;
            break;
        case 'P':
            out->message.parts[part++] = part_of(out, one);
            break;
        default:
            build_list(out, one, fields[i] == 'S');
            break;
        }
    }
}

static void build(built *out, const chordal__node *from) {
    const chordal__node *flags = field(from, "flags");
    bytes word = text_of(need(from, "kind"));
    *out = (built){0};
    check_fields(from, " kind flags origin fields ");
    out->message.kind = chordal__message_kind_of(word.data, word.len);
    CHECK(out->message.kind != 0);
    out->message.origin = number_or(from, "origin", 0);
    for (uint64_t i = 0; flags && i < chordal__node_length(flags); i++) {
        bool more = is_text(chordal__node_at(flags, i), "more");
        out->message.flags |= more ? CHORDAL__FLAG_MORE : CHORDAL__FLAG_DURABLE;
    }
    build_fields(out, chordal__message_row_of(out->message.kind)->fields, need(from, "fields"));
    free(word.data);
}

static void free_built(built *out) {
    for (size_t i = 0; i < out->owned_len; i++) free(out->owned[i].data);
}

/* ---- encoding, decoding, comparing ---- */

static void check_part(const chordal__part *actual, const chordal__part *expected) {
    CHECK_BYTES(actual->data, actual->len, expected->data, expected->len);
    CHECK_INT(actual->raw, expected->raw);
    CHECK_INT(actual->deflated, expected->deflated);
}

static void check_message(const chordal__message *actual, const chordal__message *expected) {
    CHECK_INT(actual->kind, expected->kind);
    CHECK_INT(actual->flags, expected->flags);
    CHECK_INT(actual->origin, expected->origin);
    CHECK(!actual->unknown);
    CHECK(!memcmp(actual->numbers, expected->numbers, sizeof actual->numbers));
    CHECK(!memcmp(actual->ids, expected->ids, sizeof actual->ids));
    CHECK_INT(actual->list_len, expected->list_len);
    for (size_t i = 0; i < 2; i++) {
        CHECK_BYTES(actual->texts[i].data, actual->texts[i].len, expected->texts[i].data, expected->texts[i].len);
        check_part(&actual->parts[i], &expected->parts[i]);
    }
    for (size_t i = 0; i < actual->list_len && i < expected->list_len; i++) {
        check_part(&actual->list[i], &expected->list[i]);
        if (expected->holds) CHECK_INT(actual->holds[i], expected->holds[i]);
    }
}

static chordal__codec codec_of(const chordal__node *from, uint8_t kind) {
    chordal__codec codec;
    chordal__codec_init(&codec, memory, kind, number_or(from, "limit", 64 << 20),
                        (uint32_t)number_or(from, "depth", 512));
    codec.current_in = codec.current_out = number_or(from, "current", 0);
    return codec;
}

static void check_frame(const chordal__frame *frame, uint32_t kind, bytes expected) {
    bytes flat = {.data = malloc(frame->bytes + 1)};
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        const chordal__frame_piece *piece = &frame->pieces[i];
        if (!piece->len) continue;
        memcpy(flat.data + flat.len, (piece->body ? piece->body->data : frame->own) + piece->offset, piece->len);
        flat.len += piece->len;
    }
    CHECK_INT(flat.len, frame->bytes);
    CHECK_INT(frame->frame, kind);
    CHECK(frame->pieces_len > 0);
    CHECK_BYTES(flat.data, flat.len, expected.data, expected.len);
    free(flat.data);
}

static void check_encoded(const chordal__node *from, uint8_t kind, const chordal__message *message) {
    chordal__codec codec = codec_of(from, kind);
    frames expected = frames_of(from, kind);
    chordal__list queue;
    size_t count = 0;
    chordal__list_init(&queue);
    CHECK_INT(chordal__codec_encode(&codec, message, &queue), 0);
    CHECK_INT(codec.current_out, message->origin ? message->origin : number_or(from, "current", 0));
    while (!chordal__list_empty(&queue)) {
        chordal__frame *frame = CHORDAL__ENTRY(queue.next, chordal__frame, node);
        chordal__list_remove(&frame->node);
        if (count < expected.count) check_frame(frame, expected.kinds[count], expected.items[count]);
        CHECK_INT(frame->message_kind, message->kind);
        chordal__frame_free(frame);
        count++;
    }
    CHECK_INT(count, expected.count);
    free_frames(&expected);
    chordal__codec_dispose(&codec);
}

/* So that the sanitizer sees a read behind the end. */
static void shrink(bytes *block) {
    uint8_t *exact = malloc(block->len ? block->len : 1);
    memcpy(exact, block->data, block->len);
    free(block->data);
    block->data = exact;
}

/* Feed frames, each in a block of just its size; what the last one answers. */
static int feed(chordal__codec *codec, frames *list, chordal__message *out, chordal_error *error) {
    int code = 0;
    for (size_t i = 0; i < list->count; i++) {
        shrink(&list->items[i]);
        code = chordal__codec_decode(codec, list->kinds[i], list->items[i].data, list->items[i].len, out, error);
        if (i + 1 < list->count && code < 0) CHECK_FAIL("frame %zu: %s", i, chordal_error_name(code));
    }
    return code;
}

static void check_decoded(const chordal__node *from, uint8_t kind, frames *list, const chordal__message *expected) {
    chordal__codec codec = codec_of(from, kind);
    chordal__message message;
    chordal_error error = {0};
    int code = feed(&codec, list, &message, &error);
    if (code != 1) CHECK_FAIL("code %s at %" PRIu64, chordal_error_name(code), error.position);
    if (code == 1) check_message(&message, expected);
    if (code == 1) CHECK_INT(codec.current_in, expected->origin ? expected->origin : number_or(from, "current", 0));
    /* Into the other codec and back to this one. */
    if (code == 1 && field(from, "text")) check_encoded(from, CHORDAL_CODEC_TEXT, &message);
    if (code == 1) check_encoded(from, CHORDAL_CODEC_BINARY, &message);
    chordal__codec_dispose(&codec);
}

static void check_other_texts(const chordal__node *from, const chordal__message *expected) {
    const chordal__node *list = field(from, "also_text");
    for (uint64_t i = 0; list && i < chordal__node_length(list); i++) {
        frames other = frames_of(from, CHORDAL_CODEC_TEXT);
        free(other.items[0].data);
        other.items[0] = text_of(chordal__node_at(list, i));
        check_decoded(from, CHORDAL_CODEC_TEXT, &other, expected);
        free_frames(&other);
    }
}

static void accept_unknown(const chordal__node *from) {
    uint8_t kind = field(from, "binary") ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT;
    frames list = frames_of(from, kind);
    chordal__codec codec = codec_of(from, kind);
    chordal__message message;
    chordal_error error = {0};
    CHECK_INT(feed(&codec, &list, &message, &error), 1);
    CHECK(message.unknown);
    CHECK_INT(message.origin, number_of(need(need(from, "message"), "origin")));
    CHECK_INT(codec.current_in, message.origin);
    free_frames(&list);
    chordal__codec_dispose(&codec);
}

static void accept(const chordal__node *from) {
    check_fields(from, " name message current binary text frames also_text unknown ");
    if (is_true(from, "unknown")) {
        accept_unknown(from);
        return;
    }
    static built expected;
    build(&expected, need(from, "message"));
    for (uint8_t kind = CHORDAL_CODEC_BINARY; kind <= CHORDAL_CODEC_TEXT; kind++) {
        if (kind == CHORDAL_CODEC_TEXT && !field(from, "text")) continue;
        frames list = frames_of(from, kind);
        check_encoded(from, kind, &expected.message);
        check_decoded(from, kind, &list, &expected.message);
        free_frames(&list);
    }
    check_other_texts(from, &expected.message);
    free_built(&expected);
}

static void refuse(const chordal__node *from) {
    check_fields(from, " name binary text text_hex frames then link current limit depth code position ");
    bool binary = field(from, "binary") || field(from, "link");
    uint8_t kind = binary ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT;
    frames list = frames_of(from, kind);
    chordal__codec codec = codec_of(from, kind);
    chordal__message message;
    chordal_error error = {0};
    int code = feed(&codec, &list, &message, &error);
    check_code(from, code, &error, "decoding");
    free_frames(&list);
    chordal__codec_dispose(&codec);
}

static void run(const chordal__node *from, bool accepted) {
    if (accepted)
        accept(from);
    else
        refuse(from);
}

TEST(messages) {
    run_family("messages", run);
}

TESTS({"messages", messages})
