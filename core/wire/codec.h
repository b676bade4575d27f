/* codec.h: what the files of the codec share; for this room only. */
#ifndef CHORDAL_CORE_WIRE_CODEC_H
#define CHORDAL_CORE_WIRE_CODEC_H

#include "wire/wire.h"

/* Numbers stay below this in the envelope and in ops. */
#define CHORDAL__NUMBER_END (UINT64_C(1) << 53)

/* ---- message.c ---- */
typedef struct chordal__message_row {
    const char *word;   /* NULL: no such kind */
    const char *fields; /* wire.h */
} chordal__message_row;
extern const chordal__message_row chordal__message_rows[CHORDAL__MESSAGE_END];
/* NULL: unknown. */
static inline const chordal__message_row *chordal__message_row_of(uint8_t kind) {
    return kind < CHORDAL__MESSAGE_END && chordal__message_rows[kind].word ? &chordal__message_rows[kind] : NULL;
}
uint8_t chordal__message_kind_of(const uint8_t *word, size_t len); /* 0: unknown */

/* What a kind allows. */
#define CHORDAL__KIND(name) (UINT32_C(1) << CHORDAL__##name)
static inline bool chordal__message_allows_flags(uint8_t kind, uint8_t flags) {
    return !flags || kind == CHORDAL__STATE || (kind == CHORDAL__CALL && flags == CHORDAL__FLAG_DURABLE);
}
/* About the link itself: it has origin 0, which is never named. */
static inline bool chordal__message_of_link(uint8_t kind) {
    return (CHORDAL__KIND(HELLO) | CHORDAL__KIND(WELCOME) | CHORDAL__KIND(PING) | CHORDAL__KIND(PONG) |
            CHORDAL__KIND(BYE) | CHORDAL__KIND(OFFER)) >>
               kind &
           1;
}
static inline bool chordal__message_allows_origin(uint8_t kind, uint64_t origin) {
    return chordal__message_of_link(kind) ? !origin : origin > 0;
}
static inline bool chordal__message_allows_absent(uint8_t kind) { /* parts */
    return (CHORDAL__KIND(HELLO) | CHORDAL__KIND(WELCOME) | CHORDAL__KIND(ORIGIN) | CHORDAL__KIND(BOUND)) >> kind & 1;
}
static inline bool chordal__message_allows_raw(uint8_t kind) {
    return (CHORDAL__KIND(CALL) | CHORDAL__KIND(RESULT)) >> kind & 1;
}
/* All that may be raw, and more. */
static inline bool chordal__message_allows_deflated(uint8_t kind) {
    return (CHORDAL__KIND(BOUND) | CHORDAL__KIND(STATE) | CHORDAL__KIND(CALL) | CHORDAL__KIND(RESULT)) >> kind & 1;
}
/* All parts of a message in order. */
const chordal__part *chordal__message_parts(const chordal__message *message, size_t *out_count);

static inline bool chordal__part_absent(const chordal__part *part) {
    return !part->len && !part->raw && !part->deflated;
}
static inline uint32_t chordal__part_bits(const chordal__part *part) {
    return (uint32_t)part->deflated * 2 + (uint32_t)part->raw;
}
/* Whether a text message has it in a frame of its own. */
static inline bool chordal__part_apart(const chordal__part *part) {
    return part->raw || part->deflated;
}

/* ---- frame.c ---- */
/* One block: the frame, its pieces, and all bytes that are not in a body. NULL: no memory. */
CHORDAL_OWN chordal__frame *chordal__frame_new(chordal__codec *codec, uint32_t frame, const chordal__buffer *scratch,
                                               const chordal__insertion *insertions, size_t insertions_len);

/* ---- codec.c, for both codecs ---- */
/* Put the bytes of a part: into the scratch, or as an insertion. 0 or NOMEM. */
int chordal__codec_put_part(chordal__codec *codec, const chordal__part *part);
/* Room for `need` items of a list; NOMEM, TOO_LARGE. */
int chordal__codec_room(chordal__codec *codec, size_t need, bool holds);

/* ---- codec_binary.c, codec_text.c ---- */
/* Write the message's first frame to scratch and insertions. */
int chordal__binary_write(chordal__codec *codec, const chordal__message *message);
int chordal__text_write(chordal__codec *codec, const chordal__message *message);
/* Read the fields of one frame; a failure leaves its position in the reader. In text, parts in frames of their own have
 * their length and no data yet. */
int chordal__binary_read(chordal__codec *codec, chordal__reader *in, chordal__message *out);
int chordal__text_read(chordal__codec *codec, chordal__reader *in, chordal__message *out);

#endif
