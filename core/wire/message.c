/* message.c: the table of messages, and what each kind allows. */
#include "wire/codec.h"

#define ROW(name, number, word, fields) [number] = {word, fields},
static const chordal__message_row rows[CHORDAL__MESSAGE_END] = {CHORDAL__MESSAGES(ROW)};

#define SET(name) (UINT32_C(1) << CHORDAL__##name)
static const uint32_t of_link = SET(HELLO) | SET(WELCOME) | SET(PING) | SET(PONG) | SET(BYE) | SET(OFFER);
static const uint32_t with_absent = SET(HELLO) | SET(WELCOME) | SET(ORIGIN) | SET(BOUND);
static const uint32_t with_raw = SET(CALL) | SET(RESULT);
static const uint32_t with_deflated = SET(BOUND) | SET(STATE) | SET(CALL) | SET(RESULT);
static const uint32_t with_flags = SET(STATE);

static bool is_in(uint32_t set, uint8_t kind) {
    return set >> kind & 1;
}

const chordal__message_row *chordal__message_row_of(uint8_t kind) {
    return kind < CHORDAL__MESSAGE_END && rows[kind].word ? &rows[kind] : NULL;
}

uint8_t chordal__message_kind_of(const uint8_t *word, size_t len) {
    for (uint8_t kind = 1; kind < CHORDAL__MESSAGE_END; kind++) {
        const char *row = rows[kind].word;
        if (len && row[0] == (char)word[0] && strlen(row) == len && !memcmp(row, word, len)) return kind;
    }
    return 0;
}

const char *chordal__message_word(uint8_t kind) {
    const chordal__message_row *row = chordal__message_row_of(kind);
    return row ? row->word : "unknown";
}

bool chordal__message_allows_flags(uint8_t kind, uint8_t flags) {
    return !flags || is_in(with_flags, kind);
}

bool chordal__message_of_link(uint8_t kind) {
    return is_in(of_link, kind);
}

bool chordal__message_allows_origin(uint8_t kind, uint64_t origin) {
    return is_in(of_link, kind) ? !origin : origin > 0;
}

bool chordal__message_allows_absent(uint8_t kind) {
    return is_in(with_absent, kind);
}

bool chordal__message_allows_raw(uint8_t kind) {
    return is_in(with_raw, kind);
}

bool chordal__message_allows_deflated(uint8_t kind) {
    return is_in(with_deflated, kind);
}

const chordal__part *chordal__message_parts(const chordal__message *message, size_t *out_count) {
    size_t single = 0;
    for (const char *field = rows[message->kind].fields; *field; field++) {
        if (*field == 'Q' || *field == 'S') {
            *out_count = message->list_len;
            return message->list;
        }
        single += *field == 'P';
    }
    *out_count = single;
    return message->parts;
}
