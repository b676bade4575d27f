/* codec_binary.c: the binary envelope (docs/protocol.md, 2). */
#include "wire/codec.h"

#define KIND_BITS 0x1f
#define ORIGIN_BIT 0x20
#define FLAGS_SHIFT 6

/* ---- writing ---- */

static int write_part(chordal__codec *codec, const chordal__part *part) {
    chordal__buffer_varint(&codec->scratch, (uint64_t)part->len * 4 + chordal__part_bits(part));
    return chordal__codec_put_part(codec, part);
}

static int write_list(chordal__codec *codec, const chordal__message *message, bool holds) {
    int code = 0;
    for (size_t i = 0; i < message->list_len && code == 0; i++) {
        if (holds) chordal__buffer_varint(&codec->scratch, message->holds[i]);
        code = write_part(codec, &message->list[i]);
    }
    return code;
}

int chordal__binary_write(chordal__codec *codec, const chordal__message *message) {
    chordal__buffer *out = &codec->scratch;
    bool named = message->origin && message->origin != codec->current_out;
    chordal__buffer_byte(out, (uint8_t)(message->kind | (named ? ORIGIN_BIT : 0) | message->flags << FLAGS_SHIFT));
    if (named) chordal__buffer_varint(out, message->origin);
    size_t number = 0, id = 0, text = 0, part = 0;
    int code = 0;
    for (const char *field = chordal__message_row_of(message->kind)->fields; *field && code == 0; field++) {
        switch (*field) {
        case 'N':
            chordal__buffer_varint(out, message->numbers[number++]);
            break;
        case 'I':
            chordal__buffer_put(out, message->ids[id++], 16);
            break;
        case 'T':
            chordal__buffer_varint(out, message->texts[text].len);
            chordal__buffer_put(out, message->texts[text].data, message->texts[text].len);
            text++;
            break;
        case 'P':
            code = write_part(codec, &message->parts[part++]);
            break;
        default:
            code = write_list(codec, message, *field == 'S');
            break;
        }
    }
    return code;
}

/* ---- reading ---- */

/* Keep the first failure, at `at`. */
static void fail_at(chordal__reader *in, int code, const uint8_t *at) {
    if (in->failed) return;
    in->failed = code;
    in->at = at;
}

/* What the base's reader found is a fault of the message: at the end when it is cut off, else where it begins. */
static void settle(chordal__reader *in, const uint8_t *start) {
    if (in->failed == CHORDAL_E_TRUNCATED)
        in->at = in->end;
    else if (in->failed == CHORDAL_E_SYNTAX)
        in->at = start;
    if (in->failed == CHORDAL_E_TRUNCATED || in->failed == CHORDAL_E_SYNTAX) in->failed = CHORDAL_E_MALFORMED;
}

static uint64_t read_number(chordal__reader *in) {
    const uint8_t *start = in->at;
    uint64_t value = chordal__read_varint(in);
    if (in->failed) settle(in, start);
    if (value >= CHORDAL__NUMBER_END) fail_at(in, CHORDAL_E_MALFORMED, start);
    return value;
}

static const uint8_t *read_bytes(chordal__reader *in, uint64_t len) {
    const uint8_t *bytes = chordal__read_bytes(in, len > SIZE_MAX ? SIZE_MAX : (size_t)len);
    settle(in, in->at);
    return bytes;
}

static void read_id(chordal__reader *in, uint8_t *out) {
    const uint8_t *bytes = read_bytes(in, 16);
    if (bytes) memcpy(out, bytes, 16);
}

static void read_text(chordal__reader *in, const uint8_t **out, size_t *out_len) {
    uint64_t len = read_number(in);
    size_t fault = 0;
    *out = read_bytes(in, len);
    if (!*out) return;
    *out_len = (size_t)len;
    if (!chordal__utf_valid(*out, *out_len, &fault)) fail_at(in, CHORDAL_E_MALFORMED, *out + fault);
}

static void read_part(chordal__reader *in, chordal__message *message, chordal__part *out) {
    uint8_t kind = message->kind;
    const uint8_t *start = in->at;
    uint64_t head = chordal__read_varint(in);
    if (in->failed) settle(in, start);
    *out = (chordal__part){.raw = head & 1, .deflated = head & 2, .unchecked = true};
    if (out->deflated && !chordal__message_allows_deflated(kind)) fail_at(in, CHORDAL_E_MALFORMED, start);
    if (out->raw && !chordal__message_allows_raw(kind)) fail_at(in, CHORDAL_E_MALFORMED, start);
    if (!head && !chordal__message_allows_absent(kind)) fail_at(in, CHORDAL_E_MALFORMED, start);
    out->data = read_bytes(in, head >> 2);
    if (out->data) out->len = (size_t)(head >> 2);
    message->deflated |= out->deflated;
}

static void read_list(chordal__codec *codec, chordal__reader *in, chordal__message *out, bool holds) {
    size_t count = 0;
    while (!in->failed && chordal__reader_left(in)) {
        int code = chordal__codec_room(codec, count + 1, holds);
        if (code != 0) fail_at(in, code, in->at);
        if (code == 0 && holds) codec->holds[count] = read_number(in);
        if (code == 0) read_part(in, out, &codec->list[count]);
        count++;
    }
    out->list = codec->list;
    out->holds = holds ? codec->holds : NULL;
    out->list_len = count;
}

static void read_fields(chordal__codec *codec, chordal__reader *in, chordal__message *out) {
    size_t number = 0, id = 0, text = 0, part = 0;
    for (const char *field = chordal__message_row_of(out->kind)->fields; *field && !in->failed; field++) {
        switch (*field) {
        case 'N':
            out->numbers[number++] = read_number(in);
            break;
        case 'I':
            read_id(in, out->ids[id++]);
            break;
        case 'T':
            read_text(in, &out->texts[text].data, &out->texts[text].len), text++;
            break;
        case 'P':
            read_part(in, out, &out->parts[part++]);
            break;
        default:
            read_list(codec, in, out, *field == 'S');
            break;
        }
    }
    if (chordal__reader_left(in)) fail_at(in, CHORDAL_E_MALFORMED, in->at);
}

static void read_origin(chordal__codec *codec, chordal__reader *in, bool named, chordal__message *out) {
    const uint8_t *start = in->at;
    if (named)
        out->origin = read_number(in);
    else if (out->unknown || !chordal__message_of_link(out->kind))
        out->origin = codec->current_in;
    if (named && (!out->origin || out->origin == codec->current_in)) fail_at(in, CHORDAL_E_MALFORMED, start);
    if (!named) start = in->data;
    if (!out->unknown && !chordal__message_allows_origin(out->kind, out->origin)) {
        fail_at(in, CHORDAL_E_MALFORMED, start);
    }
}

int chordal__binary_read(chordal__codec *codec, chordal__reader *in, chordal__message *out) {
    uint8_t head = chordal__read_byte(in);
    settle(in, in->at);
    out->kind = head & KIND_BITS;
    out->flags = head >> FLAGS_SHIFT;
    out->unknown = out->kind && !chordal__message_row_of(out->kind);
    if (!out->kind) fail_at(in, CHORDAL_E_MALFORMED, in->data);
    if (!out->unknown && !chordal__message_allows_flags(out->kind, out->flags)) {
        fail_at(in, CHORDAL_E_MALFORMED, in->data);
    }
    read_origin(codec, in, head & ORIGIN_BIT, out);
    if (!out->unknown && !in->failed) read_fields(codec, in, out);
    return in->failed;
}
