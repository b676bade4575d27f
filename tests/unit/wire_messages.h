/* wire_messages.h: messages at random, for the tests of room wire. */
#ifndef CHORDAL_TESTS_UNIT_WIRE_MESSAGES_H
#define CHORDAL_TESTS_UNIT_WIRE_MESSAGES_H

#include "check.h"
#include "wire/codec.h"

#define RANDOM_PARTS 12

typedef struct random_message {
    chordal__message message;
    chordal__part parts[RANDOM_PARTS];
    uint64_t holds[RANDOM_PARTS];
} random_message;

static uint64_t random_state = 1;

static inline uint64_t random_below(uint64_t end) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % end;
}

/* Small ones most of the time. */
static inline uint64_t random_number(void) {
    static const uint64_t ends[] = {2, 64, 200, 70000, CHORDAL__NUMBER_END};
    return random_below(ends[random_below(5)]);
}

static const char *const random_texts[] = {"", "notes", "\xc3\xa4\xf0\x9f\x98\x80", "quote \" and \\ and \n",
                                           "\xed\xa0\xbd"};
static const char *const random_values[] = {
    "null",
    "0",
    "-1.5e-9",
    "\"\"",
    "\"],[\\\"\\\\\"",
    "[1,{\"a\":[]}]",
    "{\"]\":\"}\",\"\\\"\":[[]]}",
    "true",
    "\"a value of which the text is so long that it is an insertion: "
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\""};

static inline void set_text(chordal__message *message, size_t index, const char *text) {
    message->texts[index].data = (const uint8_t *)text;
    message->texts[index].len = strlen(text);
}

static inline chordal__part random_part(uint8_t kind) {
    static uint8_t bytes[300];
    bool raw = chordal__message_allows_raw(kind) && !random_below(3);
    bool deflated = chordal__message_allows_deflated(kind) && !random_below(4);
    if (raw || deflated)
        return (chordal__part){.data = bytes, .len = random_below(300), .raw = raw, .deflated = deflated};
    if (chordal__message_allows_absent(kind) && !random_below(3)) return (chordal__part){0};
    /* Where a part may be absent, null is that. */
    size_t from = chordal__message_allows_absent(kind) ? 1 : 0, count = sizeof random_values / sizeof *random_values;
    const char *value = random_values[from + random_below(count - from)];
    return (chordal__part){.data = (const uint8_t *)value, .len = strlen(value)};
}

static inline void random_list(random_message *out, bool holds) {
    out->message.list = out->parts;
    out->message.holds = holds ? out->holds : NULL;
    out->message.list_len = random_below(RANDOM_PARTS + 1);
    for (size_t i = 0; i < out->message.list_len; i++) {
        out->parts[i] = random_part(out->message.kind);
        out->holds[i] = random_number();
    }
}

static inline void random_fill(random_message *out, uint8_t kind) {
    *out = (random_message){.message = {.kind = kind}};
    size_t number = 0, id = 0, text = 0, part = 0;
    if (!chordal__message_allows_origin(kind, 0)) out->message.origin = 1 + random_below(3);
    if (chordal__message_allows_flags(kind, 3)) out->message.flags = (uint8_t)random_below(4);
    for (const char *field = chordal__message_row_of(kind)->fields; *field; field++) {
        switch (*field) {
        case 'N':
            out->message.numbers[number++] = random_number();
            break;
        case 'I':
            for (size_t i = 0; i < 16; i++) out->message.ids[id][i] = (uint8_t)random_below(256);
            id++;
            break;
        case 'T':
            set_text(&out->message, text++, random_texts[random_below(5)]);
            break;
        case 'P':
            out->message.parts[part++] = random_part(kind);
            break;
        default:
            random_list(out, *field == 'S');
            break;
        }
    }
}

static inline void random_any(random_message *out) {
    random_fill(out, (uint8_t)(1 + random_below(CHORDAL__MESSAGE_END - 1)));
}

/* A frame as one block of just its size. */
static inline uint8_t *flatten(const chordal__frame *frame) {
    uint8_t *flat = malloc(frame->bytes ? frame->bytes : 1);
    size_t at = 0;
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        const chordal__frame_piece *piece = &frame->pieces[i];
        const uint8_t *from = piece->body ? piece->body->data : frame->own;
        if (piece->len) memcpy(flat + at, from + piece->offset, piece->len);
        at += piece->len;
    }
    return flat;
}

static inline chordal__frame *first_frame(const chordal__list *queue) {
    return chordal__list_empty(queue) ? NULL : CHORDAL__ENTRY(queue->next, chordal__frame, node);
}

static inline void drop_frames(chordal__list *queue) {
    for (chordal__frame *frame; (frame = first_frame(queue));) {
        chordal__list_remove(&frame->node);
        chordal__frame_free(frame);
    }
}

#endif
