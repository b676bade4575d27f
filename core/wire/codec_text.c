/* codec_text.c: the text envelope, one flat JSON array (docs/protocol.md, 3). */
#include "wire/codec.h"
#include "wire/token.h"

/* What ops and snapshots put around a value: so much deeper may a part be. */
#define WRAPPING 4
/* Of a kind that this version does not know. */
#define WORD_MOST 32

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
#define ID_LETTERS 22

/* ---- writing ---- */

static void write_id(chordal__buffer *out, const uint8_t *id) {
    chordal__buffer_byte(out, '"');
    uint32_t bits = 0;
    int have = 0;
    for (int i = 0; i < 16; i++) {
        bits = bits << 8 | id[i];
        for (have += 8; have >= 6; have -= 6) chordal__buffer_byte(out, (uint8_t)base64url[bits >> (have - 6) & 63]);
    }
    chordal__buffer_byte(out, (uint8_t)base64url[bits << (6 - have) & 63]);
    chordal__buffer_byte(out, '"');
}

/* A part that nobody looked into must not break the message that it is put into. */
static bool is_one_value(const chordal__codec *codec, const chordal__part *part) {
    chordal__reader in = chordal__reader_of(part->data, part->len);
    size_t fault, len;
    return chordal__token_utf8(part->data, part->len, &fault) &&
           chordal__token_value(&in, codec->depth_limit + WRAPPING, &len) && len == part->len;
}

static int write_part(chordal__codec *codec, const chordal__part *part) {
    chordal__buffer_byte(&codec->scratch, ',');
    if (chordal__part_apart(part)) {
        chordal__buffer_byte(&codec->scratch, '0');
        return 0;
    }
    if (chordal__part_absent(part)) {
        chordal__buffer_text(&codec->scratch, "null");
        return 0;
    }
    if (part->unchecked && !is_one_value(codec, part)) return CHORDAL_E_MALFORMED;
    return chordal__codec_put_part(codec, part);
}

static void write_number(chordal__buffer *out, uint64_t number) {
    chordal__buffer_byte(out, ',');
    chordal__buffer_decimal(out, number);
}

static int write_list(chordal__codec *codec, const chordal__message *message, bool holds) {
    int code = 0;
    for (size_t i = 0; i < message->list_len && code == 0; i++) {
        if (holds) write_number(&codec->scratch, message->holds[i]);
        code = write_part(codec, &message->list[i]);
    }
    return code;
}

/* The announcement of parts in frames of their own: index, length and bits of each. */
static void write_raws(chordal__buffer *out, const chordal__message *message) {
    size_t count = 0;
    const chordal__part *parts = chordal__message_parts(message, &count);
    char opener = '[';
    for (size_t i = 0; i < count; i++) {
        if (!chordal__part_apart(&parts[i])) continue;
        chordal__buffer_byte(out, (uint8_t)opener);
        chordal__buffer_decimal(out, i);
        write_number(out, parts[i].len);
        write_number(out, chordal__part_bits(&parts[i]));
        opener = ',';
    }
    chordal__buffer_byte(out, ']');
}

static bool has_raws(const chordal__message *message) {
    size_t count = 0;
    const chordal__part *parts = chordal__message_parts(message, &count);
    for (size_t i = 0; i < count; i++) {
        if (chordal__part_apart(&parts[i])) return true;
    }
    return false;
}

static void write_head(chordal__codec *codec, const chordal__message *message) {
    chordal__buffer *out = &codec->scratch;
    chordal__buffer_byte(out, '[');
    if (message->origin && message->origin != codec->current_out) {
        chordal__buffer_decimal(out, message->origin);
        chordal__buffer_byte(out, ',');
    }
    bool raws = has_raws(message);
    chordal__buffer_byte(out, '"');
    chordal__buffer_text(out, chordal__message_word(message->kind));
    if (message->flags & CHORDAL__FLAG_MORE) chordal__buffer_byte(out, '+');
    if (message->flags & CHORDAL__FLAG_DURABLE) chordal__buffer_byte(out, '!');
    if (raws) chordal__buffer_byte(out, '#');
    chordal__buffer_byte(out, '"');
    if (!raws) return;
    chordal__buffer_byte(out, ',');
    write_raws(out, message);
}

int chordal__text_write(chordal__codec *codec, const chordal__message *message) {
    chordal__buffer *out = &codec->scratch;
    write_head(codec, message);
    size_t number = 0, id = 0, text = 0, part = 0;
    int code = 0;
    for (const char *field = chordal__message_row_of(message->kind)->fields; *field && code == 0; field++) {
        switch (*field) {
        case 'N':
            write_number(out, message->numbers[number++]);
            break;
        case 'I':
            chordal__buffer_byte(out, ',');
            write_id(out, message->ids[id++]);
            break;
        case 'T':
            chordal__buffer_byte(out, ',');
            chordal__json_write_string(out, message->texts[text].data, message->texts[text].len);
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
    chordal__buffer_byte(out, ']');
    return code;
}

/* ---- reading ---- */

typedef struct text_reader {
    chordal__codec *codec;
    chordal__reader *in;
    chordal__message *out;
    bool raws;           /* there is an announcement */
    size_t part, raw_at; /* the next part; the next one announced */
    bool unescaped[2];   /* texts that lie in codec->texts, their offset in place of their address */
    size_t offsets[2];
} text_reader;

static void malformed(chordal__reader *in, const uint8_t *at) {
    chordal__token_fail(in, CHORDAL_E_MALFORMED, at);
}

/* The first element may be the origin; false: it is not named. */
static bool read_origin(text_reader *reader) {
    chordal__reader *in = reader->in;
    uint8_t first = chordal__token_peek(in);
    const uint8_t *start = in->at;
    if (first < '0' || first > '9') return false;
    uint64_t origin = reader->out->origin = chordal__token_number(in);
    if (!in->failed && (!origin || origin == reader->codec->current_in)) malformed(in, start);
    chordal__token_expect(in, ',');
    return true;
}

static bool take_suffix(const uint8_t *word, size_t *len, char suffix) {
    if (!*len || word[*len - 1] != (uint8_t)suffix) return false;
    --*len;
    return true;
}

static bool is_word(const uint8_t *word, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (word[i] < 'a' || word[i] > 'z') return false;
    }
    return len && len <= WORD_MOST;
}

static void read_word(text_reader *reader, bool named) {
    chordal__message *out = reader->out;
    size_t len;
    bool escaped;
    chordal__token_peek(reader->in);
    const uint8_t *start = reader->in->at;
    const uint8_t *word = chordal__token_string(reader->in, &len, &escaped);
    if (!word) return;
    reader->raws = take_suffix(word, &len, '#');
    if (take_suffix(word, &len, '!')) out->flags |= CHORDAL__FLAG_DURABLE;
    if (take_suffix(word, &len, '+')) out->flags |= CHORDAL__FLAG_MORE;
    out->kind = chordal__message_kind_of(word, len);
    out->unknown = !out->kind;
    if (!named && (out->unknown || !chordal__message_of_link(out->kind))) out->origin = reader->codec->current_in;
    bool allowed = out->unknown ? is_word(word, len)
                                : chordal__message_allows_flags(out->kind, out->flags) &&
                                      chordal__message_allows_origin(out->kind, out->origin) &&
                                      (!reader->raws || chordal__message_allows_deflated(out->kind));
    if (!allowed) malformed(reader->in, start);
}

static void add_raw(text_reader *reader, const uint8_t *start, const chordal__raw *raw) {
    chordal__codec *codec = reader->codec;
    size_t at = codec->raws_len;
    if (at && raw->index <= codec->raws[at - 1].index) malformed(reader->in, start);
    void *raws = codec->raws;
    int code =
        chordal__grow(codec->memory, &raws, sizeof *codec->raws, &codec->raws_capacity, at + 1, CHORDAL__LIST_LIMIT);
    codec->raws = raws;
    if (code != 0) chordal__token_fail(reader->in, code == CHORDAL_E_LIMIT ? CHORDAL_E_TOO_LARGE : code, start);
    if (reader->in->failed) return;
    chordal__body *came = at < codec->raws_taken ? codec->raws[at].body : NULL;
    codec->raws[at] = *raw;
    codec->raws[at].body = came;
    codec->raws_len++;
}

static bool may_be(const chordal__message *message, uint64_t bits) {
    return bits >= 1 && bits <= 3 && (bits == 2 || message->unknown || chordal__message_allows_raw(message->kind));
}

/* Announced parts: index, length and bits of each. What is announced counts against the limit now. A message is read
 * again when its last frame has come. */
static void read_raws(text_reader *reader) {
    chordal__reader *in = reader->in;
    uint64_t left = reader->codec->message_limit - chordal__reader_left(in) - chordal__reader_position(in);
    chordal__token_expect(in, ',');
    chordal__token_expect(in, '[');
    const uint8_t *list = in->at;
    for (size_t i = 0; !in->failed && chordal__token_next(in, i); i++) {
        chordal__token_peek(in);
        const uint8_t *start = in->at;
        chordal__raw raw = {.index = chordal__token_number(in)};
        chordal__token_expect(in, ',');
        raw.len = chordal__token_number(in);
        chordal__token_expect(in, ',');
        uint64_t bits = chordal__token_number(in);
        if (!may_be(reader->out, bits)) malformed(in, start);
        raw.bits = (uint8_t)bits;
        if (raw.len > left) chordal__token_fail(in, CHORDAL_E_TOO_LARGE, start);
        left -= raw.len;
        if (!in->failed) add_raw(reader, start, &raw);
    }
    if (!in->failed && !reader->codec->raws_len) malformed(in, list);
}

static void read_id(chordal__reader *in, uint8_t *out) {
    size_t len, done = 0;
    bool escaped;
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    const uint8_t *letters = chordal__token_string(in, &len, &escaped);
    if (letters && len != ID_LETTERS) malformed(in, start);
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < ID_LETTERS && !in->failed; i++) {
        const char *letter = letters[i] ? strchr(base64url, letters[i]) : NULL;
        if (!letter) malformed(in, start);
        bits = bits << 6 | (uint32_t)(letter ? letter - base64url : 0);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out[done++] = (uint8_t)(bits >> have);
    }
    if (bits & ((UINT32_C(1) << have) - 1)) malformed(in, start);
}

static void read_text(text_reader *reader, size_t index) {
    chordal__buffer *texts = &reader->codec->texts;
    size_t len;
    bool escaped;
    chordal__token_peek(reader->in);
    const uint8_t *start = reader->in->at;
    const uint8_t *text = chordal__token_string(reader->in, &len, &escaped);
    if (!text) return;
    reader->out->texts[index].data = text;
    reader->out->texts[index].len = len;
    if (!escaped) return;
    reader->unescaped[index] = true;
    chordal__buffer_byte(texts, 0); /* the halves of two texts are not joined */
    reader->offsets[index] = texts->len;
    chordal__json_unescape(texts, text, len);
    reader->out->texts[index].len = texts->len - reader->offsets[index];
    if (texts->failed) chordal__token_fail(reader->in, CHORDAL_E_NOMEM, start);
}

static bool is_announced(const text_reader *reader) {
    return reader->raw_at < reader->codec->raws_len && reader->codec->raws[reader->raw_at].index == reader->part;
}

/* The place of a part in a frame of its own holds 0. */
static void read_place(text_reader *reader, chordal__part *out) {
    const uint8_t *start = reader->in->at;
    if (chordal__token_peek(reader->in) != '0' || chordal__token_number(reader->in)) malformed(reader->in, start);
    const chordal__raw *raw = &reader->codec->raws[reader->raw_at++];
    out->raw = raw->bits & 1;
    out->deflated = raw->bits & 2;
    out->len = (size_t)raw->len;
    reader->out->deflated |= out->deflated;
}

static void read_part(text_reader *reader, chordal__part *out) {
    chordal__reader *in = reader->in;
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    *out = (chordal__part){0};
    if (is_announced(reader)) {
        read_place(reader, out);
    } else {
        out->data = chordal__token_value(in, reader->codec->depth_limit + WRAPPING, &out->len);
        bool null = out->len == 4 && *start == 'n';
        if (null && chordal__message_allows_absent(reader->out->kind)) *out = (chordal__part){0};
    }
    reader->part++;
}

static void read_list(text_reader *reader, bool holds) {
    chordal__codec *codec = reader->codec;
    chordal__reader *in = reader->in;
    size_t count = 0;
    while (!in->failed && chordal__token_peek(in) != ']') {
        chordal__token_expect(in, ',');
        int code = in->failed ? in->failed : chordal__codec_room(codec, count + 1, holds);
        if (code != 0) chordal__token_fail(in, code, in->at);
        if (code == 0 && holds) {
            codec->holds[count] = chordal__token_number(in);
            chordal__token_expect(in, ',');
        }
        if (code == 0) read_part(reader, &codec->list[count++]);
    }
    reader->out->list = codec->list;
    reader->out->holds = holds ? codec->holds : NULL;
    reader->out->list_len = count;
}

static void read_fields(text_reader *reader) {
    chordal__message *out = reader->out;
    chordal__reader *in = reader->in;
    size_t number = 0, id = 0, text = 0, part = 0;
    for (const char *field = chordal__message_row_of(out->kind)->fields; *field && !in->failed; field++) {
        if (*field != 'Q' && *field != 'S') chordal__token_expect(in, ',');
        if (in->failed) return;
        switch (*field) {
        case 'N':
            out->numbers[number++] = chordal__token_number(in);
            break;
        case 'I':
            read_id(in, out->ids[id++]);
            break;
        case 'T':
            read_text(reader, text++);
            break;
        case 'P':
            read_part(reader, &out->parts[part++]);
            break;
        default:
            read_list(reader, *field == 'S');
            break;
        }
    }
    chordal__token_peek(in);
    if (reader->raw_at < reader->codec->raws_len) malformed(in, in->at);
}

/* The elements of a message that this version does not know. */
static void skip_fields(text_reader *reader) {
    size_t len;
    while (!reader->in->failed && chordal__token_peek(reader->in) != ']') {
        chordal__token_expect(reader->in, ',');
        chordal__token_value(reader->in, reader->codec->depth_limit + WRAPPING, &len);
    }
}

/* Texts grow while they are read: their addresses are known only now. */
static void place_texts(text_reader *reader) {
    for (size_t i = 0; i < 2; i++) {
        if (reader->unescaped[i] && reader->codec->texts.data) /* there is none while all are empty */
            reader->out->texts[i].data = reader->codec->texts.data + reader->offsets[i];
    }
}

static int settle(chordal__reader *in) {
    switch (in->failed) {
    case CHORDAL_E_SYNTAX:
    case CHORDAL_E_TRUNCATED:
    case CHORDAL_E_TRAILING:
    case CHORDAL_E_RANGE:
        return CHORDAL_E_MALFORMED;
    default:
        return in->failed;
    }
}

int chordal__text_read(chordal__codec *codec, chordal__reader *in, chordal__message *out) {
    text_reader reader = {.codec = codec, .in = in, .out = out};
    size_t fault;
    chordal__buffer_clear(&codec->texts);
    codec->raws_len = 0;
    if (!chordal__token_utf8(in->data, chordal__reader_left(in), &fault)) malformed(in, in->data + fault);
    chordal__token_expect(in, '[');
    read_word(&reader, read_origin(&reader));
    if (reader.raws) read_raws(&reader);
    if (!in->failed && out->unknown)
        skip_fields(&reader);
    else if (!in->failed)
        read_fields(&reader);
    chordal__token_expect(in, ']');
    chordal__token_end(in);
    place_texts(&reader);
    return settle(in);
}
