/* message.c: the table of messages, and its rows. */
#include "wire/codec.h"

#define ROW(name, number, word, fields) [number] = {word, fields},
const chordal__message_row chordal__message_rows[CHORDAL__MESSAGE_END] = {CHORDAL__MESSAGES(ROW)};

uint8_t chordal__message_kind_of(const uint8_t *word, size_t len) {
    for (uint8_t kind = 1; kind < CHORDAL__MESSAGE_END; kind++) {
        const char *row = chordal__message_rows[kind].word;
        if (len && row[0] == (char)word[0] && strlen(row) == len && !memcmp(row, word, len)) return kind;
    }
    return 0;
}

const char *chordal__message_word(uint8_t kind) {
    const chordal__message_row *row = chordal__message_row_of(kind);
    return row ? row->word : "unknown";
}

const chordal__part *chordal__message_parts(const chordal__message *message, size_t *out_count) {
    size_t single = 0;
    for (const char *field = chordal__message_rows[message->kind].fields; *field; field++) {
        if (*field == 'Q' || *field == 'S') {
            *out_count = message->list_len;
            return message->list;
        }
        single += *field == 'P';
    }
    *out_count = single;
    return message->parts;
}
