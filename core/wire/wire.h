/* wire.h: messages in two envelope codecs, ops and snapshots in two part encodings (docs/protocol.md). */
#ifndef CHORDAL_CORE_WIRE_H
#define CHORDAL_CORE_WIRE_H

#include "delta/delta.h"
#include "chordal/link.h"

/* ---- message.c: what a message is made of ---- */

/* Field types: N number (varint), I 16-byte id, T text, P part, Q parts until the message's end, S (hold, part) pairs
 * until its end. MESSAGE(NAME, number, "word", "fields") */
#define CHORDAL__MESSAGES(MESSAGE)                                                                                     \
    MESSAGE(HELLO, 1, "hello", "NNIINP")        /* oldest, newest version; host, run; message limit; info */           \
    MESSAGE(WELCOME, 2, "welcome", "NIINP")     /* version; host, run; message limit; info */                          \
    MESSAGE(ORIGIN, 3, "origin", "NINNTINNNNP") /* id; session; encoding; options; route; to resume: run, cut, states, \
                                                   outcomes; limit; authority */                                       \
    MESSAGE(OPENED, 4, "opened", "INN")         /* run; limit; share of acks */                                        \
    MESSAGE(LOST, 5, "lost", "")                                                                                       \
    MESSAGE(ENDED, 6, "ended", "TT")       /* code; reason */                                                          \
    MESSAGE(HOLD, 7, "hold", "NTNNP")      /* hold; type; version; since; params */                                    \
    MESSAGE(BOUND, 8, "bound", "NNNNPP")   /* hold; cut step; how; stored; members; content */                         \
    MESSAGE(MOVED, 9, "moved", "NTN")      /* hold; route; part encodings */                                           \
    MESSAGE(FAILED, 10, "failed", "NTT")   /* hold; code; message */                                                   \
    MESSAGE(RETIRED, 11, "retired", "N")   /* hold */                                                                  \
    MESSAGE(REVOKED, 12, "revoked", "NT")  /* hold; message */                                                         \
    MESSAGE(RELEASE, 13, "release", "N")   /* hold */                                                                  \
    MESSAGE(RELEASED, 14, "released", "N") /* hold */                                                                  \
    MESSAGE(STATE, 15, "s", "NS")          /* cut step; (hold, change) … */                                          \
    MESSAGE(ACK, 16, "a", "NN")            /* states and outcomes taken since the last ack */                          \
    MESSAGE(CALL, 17, "c", "NNNQ")         /* hold; slot; member; arguments */                                         \
    MESSAGE(RESULT, 18, "r", "NP")         /* slot; value */                                                           \
    MESSAGE(ERROR, 19, "e", "NTT")         /* slot; code; message */                                                   \
    MESSAGE(CANCEL, 20, "x", "N")          /* slot */                                                                  \
    MESSAGE(RETRY, 21, "retry", "N")       /* hold */                                                                  \
    MESSAGE(PING, 22, "ping", "N")                                                                                     \
    MESSAGE(PONG, 23, "pong", "N")                                                                                     \
    MESSAGE(BYE, 24, "bye", "TT")    /* code; reason */                                                                \
    MESSAGE(OFFER, 25, "offer", "T") /* type */                                                                        \
    MESSAGE(BACK, 26, "back", "NN")  /* requests received; limit */

#define CHORDAL__MESSAGE_ENUM(name, number, word, fields) CHORDAL__##name = number,
enum { CHORDAL__MESSAGES(CHORDAL__MESSAGE_ENUM) CHORDAL__MESSAGE_END };

#define CHORDAL__FLAG_MORE 1    /* STATE: the cut goes on in the next message */
#define CHORDAL__FLAG_DURABLE 2 /* STATE: the commit wrote the store. CALL: the first part is its key */
#define CHORDAL__CALL_KEY 16    /* of a durable call */

#define CHORDAL__ENCODING_BINARY 1
#define CHORDAL__ENCODING_JSON 2

#define CHORDAL__ORIGIN_DEFLATED 1 /* an option of ORIGIN: takes deflated parts */

/* A payload. `body` keeps the bytes alive; NULL while they are borrowed from the frame that was fed. A part that is not
 * raw or deflated and has length 0 is absent. */
typedef struct chordal__part {
    const uint8_t *data;
    size_t len;
    size_t whole;   /* its bytes before it was deflated, where that is known; else 0 */
    bool raw;       /* bytes, not a value; only in CALL and RESULT */
    bool deflated;  /* only in BOUND, STATE, CALL and RESULT */
    bool unchecked; /* came over a binary link: a text codec writes it only when it is one JSON value */
    chordal__body *body;
} chordal__part;

#define CHORDAL__FIELDS_MAX 8
typedef struct chordal__message {
    uint8_t kind, flags;
    bool unknown;                          /* a kind of a newer version (0 in text): to be skipped or refused */
    bool deflated;                         /* one of the parts is; of a message that was decoded */
    uint64_t origin;                       /* always resolved, see codec.current */
    uint64_t numbers[CHORDAL__FIELDS_MAX]; /* N fields in order */
    uint8_t ids[2][16];                    /* I fields in order */
    struct {
        const uint8_t *data;
        size_t len;
    } texts[2];             /* T fields in order; borrowed */
    chordal__part parts[2]; /* P fields in order */
    chordal__part *list;    /* Q, S: in codec memory until the next decode, or the encoder's caller's */
    uint64_t *holds;        /* S: beside list */
    size_t list_len;
} chordal__message;

/* ---- frame.c: a transport frame to send ---- */
typedef struct chordal__frame_piece {
    chordal__body *body; /* NULL: in own */
    size_t offset, len;
} chordal__frame_piece;

/* One encoded message: a header of its own and shared bodies. A text message with raw or deflated parts is followed by
 * their binary frames. */
typedef struct chordal__frame {
    chordal__list node; /* in a link's queue */
    chordal__memory *memory;
    size_t size;    /* of this block */
    uint32_t frame; /* CHORDAL_FRAME_… */
    uint32_t pieces_len;
    size_t bytes; /* in all */
    uint8_t message_kind;
    bool follows; /* it belongs to the message of the frame before */
    chordal__frame_piece *pieces;
    uint8_t *own;
} chordal__frame;
void chordal__frame_free(chordal__frame *frame); /* NULL allowed */

/* ---- codec.c: one per link and transport ---- */

/* Parts or (hold, part) pairs in one message. */
#define CHORDAL__LIST_LIMIT 65536
/* What a part, or all the rest of a message, takes in either envelope beside its bytes, at most. */
#define CHORDAL__BESIDE 64
/* The least limit of a session's way; less than this counts as this. */
#define CHORDAL__LEAST_LIMIT 4096
/* Bytes of a text's byte in either envelope, at most. */
#define CHORDAL__ESCAPED 6

/* A part too long to be copied twice: it goes in at `at` of the scratch. */
typedef struct chordal__insertion {
    size_t at;
    const chordal__part *part;
} chordal__insertion;

/* A raw or deflated part that a text message announced. */
typedef struct chordal__raw {
    uint64_t index, len;
    uint8_t bits;        /* 1 raw, 2 deflated */
    chordal__body *body; /* what came, but for the last one, which is borrowed */
} chordal__raw;

typedef struct chordal__codec {
    chordal__memory *memory;
    uint8_t codec; /* CHORDAL_CODEC_… */
    uint32_t depth_limit;
    uint64_t message_limit;           /* of what is decoded */
    uint64_t send_limit;              /* of what is encoded: the same, until the link sets what the peer told */
    uint64_t way_limit;               /* of the session whose message is encoded, over all its links; 0: none */
    uint64_t current_out, current_in; /* the session of the last message each way that was of one; at first 0 */
    /* encoding */
    chordal__buffer scratch;
    chordal__insertion *insertions;
    size_t insertions_len, insertions_capacity;
    chordal__frame *spare; /* the block of a frame that went; NULL: none */
    /* the message decoded last */
    chordal__buffer texts; /* those that were unescaped */
    chordal__part *list;
    uint64_t *holds;
    size_t list_capacity, holds_capacity;
    /* a text message that waits for its raw frames */
    chordal__buffer waiting;
    chordal__raw *raws;
    size_t raws_len, raws_taken, raws_capacity;
} chordal__codec;

/* A frame went: its block is kept for the next one, if it is small. TAKES frame. */
#define CHORDAL__SPARE_BYTES 512
void chordal__frame_used(chordal__codec *codec, CHORDAL_OWN chordal__frame *frame);

int chordal__codec_init(chordal__codec *codec, chordal__memory *memory, uint8_t kind, uint64_t message_limit,
                        uint32_t depth_limit);
void chordal__codec_dispose(chordal__codec *codec);

/* Encode a message into frames, put in order before a place in a queue, or before the queue: at its end. Parts with a
 * body are referenced when longer than CHORDAL__INLINE, else copied; parts without one are copied. Codes: NOMEM, SIZE
 * (over a limit, also once it is inflated), MALFORMED (an unchecked part that is no JSON value, in a
 * text codec), INVALID (does not fit the table): nothing was appended and the current origin stays. */
#define CHORDAL__INLINE 256
int chordal__codec_encode(chordal__codec *codec, const chordal__message *message, chordal__list *before);

/* Decode one transport frame. Returns 1 with a message (its parts borrow from `data` or from the codec until the next
 * decode), 0 when the message is not complete yet (binary frames of a text message are still to come), or, with a
 * position in this frame, MALFORMED, TOO_LARGE, DEPTH (a part of a text message, nested over the limit), ORDER (a frame
 * of the wrong kind: binary and not announced, or text where binary is due); or NOMEM. The codec is not used again
 * after a failure. Bytes are never copied, but for those frames of a text message that are not its last. Nothing is
 * inflated. */
int chordal__codec_decode(chordal__codec *codec, uint32_t frame, const uint8_t *data, size_t len, chordal__message *out,
                          chordal_error *error);

/* Word of a message kind, for errors and logs; "unknown" for a number that is none. */
const char *chordal__message_word(uint8_t kind);

/* ---- ops_binary.c, ops_json.c: ops in a part ---- */

/* Write ops, behind what the buffer holds; `dictionary` NULL: all paths inline. */
void chordal__ops_write(chordal__buffer *buffer, uint8_t encoding, const chordal__ops *ops,
                        const chordal__dictionary *dictionary);
/* Write the change that takes a reader from cut `from` to `to`, the present one: first the definitions that it needs (a
 * GENERATION and all, or those made in between), then the ops. */
void chordal__change_write(chordal__buffer *buffer, uint8_t encoding, const chordal__dictionary *dictionary,
                           uint64_t from, uint64_t to, const chordal__ops *ops);
/* Read all ops of a part, or of what a packed record holds. `dictionary` NULL: only inline paths, ASSIGN allowed; else
 * DEFINE and GENERATION are carried out at `cut` and not returned, ASSIGN is refused. `ops` is empty before. On failure
 * it is cleared (definitions made so far stay: the stream is given up). Positions count from `data`. Codes: SYNTAX,
 * UTF8, NUMBER, DEPTH, DUPLICATE_KEY, TRUNCATED, TRAILING, SIZE, PATH (replace below a member), RANGE (no such path in
 * the dictionary, or it is full; a number over 2^53-1), PERMUTATION, NOMEM. */
int chordal__ops_read(chordal__ops *ops, uint8_t encoding, const uint8_t *data, size_t len,
                      chordal__dictionary *dictionary, uint64_t cut, const chordal__limits *limits,
                      chordal_error *error);

/* ---- snapshot.c: the content of a bound: the dictionary and every state member ---- */
typedef struct chordal__member_value {
    chordal__node *value; /* owned when read, borrowed when written; NULL: a derive that never had one */
    chordal__node *error; /* the array [code, message], or NULL */
} chordal__member_value;
/* `values` has one entry per member of the type; those of methods are left out of the part (value and error NULL, and
 * `is_state` false). */
void chordal__snapshot_write(chordal__buffer *buffer, uint8_t encoding, const chordal__dictionary *dictionary,
                             const chordal__member_value *values, const bool *is_state, size_t members);
/* Resets the dictionary and fills it. `values` are all owned by the caller, also the ones read before a failure (the
 * rest NULL). */
int chordal__snapshot_read(chordal__memory *memory, uint8_t encoding, const uint8_t *data, size_t len,
                           chordal__dictionary *dictionary, uint64_t cut, chordal__member_value *values,
                           const bool *is_state, size_t members, const chordal__limits *limits, chordal_error *error);
/* For a reader whose program keeps the values: the same snapshot as packed ops, one REPLACE (and ERROR) per member,
 * each in its own buffer run: offsets[i] .. offsets[i + 1] of `out` are those of member i. A binary value is copied as
 * it is, not parsed into a tree, but checked. */
int chordal__snapshot_repack(chordal__memory *memory, uint8_t encoding, const uint8_t *data, size_t len,
                             chordal__dictionary *dictionary, uint64_t cut, chordal__buffer *out, size_t *offsets,
                             const bool *is_state, size_t members, const chordal__limits *limits, chordal_error *error);

/* ---- inflate.c: parts that came deflated, raw (RFC 1951) ---- */

#define CHORDAL__INFLATE_RATIO 1024 /* of inflated bytes to those that came, at most */

/* Inflate into an empty buffer, never further than to `limit` bytes and to the ratio. Codes: SYNTAX (no deflated data;
 * position 0), TRUNCATED (at the end), TRAILING (the first byte behind them), TOO_LARGE (position 0); NOMEM. */
int chordal__inflate(const uint8_t *data, size_t len, uint64_t limit, chordal__buffer *out, chordal_error *error);
/* Room for a byte more. False: no memory. */
bool chordal__inflate_room(chordal__buffer *out, size_t most);

/* ---- deflate.c: by zlib; the browser's build only inflates, by wasm/inflate.c ---- */

#define CHORDAL__DEFLATE_OVER 16384 /* bytes that a part has more than, to be deflated */

#ifdef CHORDAL__ONLY_INFLATES
enum { CHORDAL__DEFLATES = 0 };
#else
enum { CHORDAL__DEFLATES = 1 };
#endif

/* Deflate into an empty buffer. False: it does not pay (it does not shrink by a sixteenth, or beyond the ratio), or
 * there is no memory for it; the part goes as it is. */
bool chordal__deflate(const uint8_t *data, size_t len, chordal__buffer *out);
/* The work of chordal__inflate, to at most `most` bytes; `left` bytes were not taken. */
int chordal__inflate_some(const uint8_t *data, size_t len, size_t most, chordal__buffer *out, size_t *out_left);
/* Whether the zlib that is linked is of the major version compiled against. */
bool chordal__zlib_fits(void);

#endif
