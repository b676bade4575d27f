/* token.h: JSON taken strictly piece by piece, for what is not a value: envelopes, ops, snapshots. For this room only.
 *
 * A failure leaves its code in reader->failed and reader->at at the fault; later calls do nothing and give zeros. */
#ifndef CHORDAL_CORE_WIRE_TOKEN_H
#define CHORDAL_CORE_WIRE_TOKEN_H

#include "base/base.h"

/* Keep the first failure. */
void chordal__token_fail(chordal__reader *in, int code, const uint8_t *at);
/* SYNTAX here, or TRUNCATED at the end of the data. */
void chordal__token_unexpected(chordal__reader *in);

/* The next byte that is not white space; 0 at the end or after a failure. */
uint8_t chordal__token_peek(chordal__reader *in);
bool chordal__token_is(chordal__reader *in, uint8_t byte); /* takes it when it is */
void chordal__token_expect(chordal__reader *in, uint8_t byte);
void chordal__token_end(chordal__reader *in); /* nothing but white space follows, else TRAILING */
/* The elements of an array whose '[' was taken: true before each (`index` counts them), false when ']' was taken. */
bool chordal__token_next(chordal__reader *in, size_t index);

/* A whole number below 2^53 as plain digits; RANGE beyond. */
uint64_t chordal__token_number(chordal__reader *in);
/* What stands between the quotes; *out_escaped tells that it has escapes. */
const uint8_t *chordal__token_string(chordal__reader *in, size_t *out_len, bool *out_escaped);
/* The extent of one value, whose grammar is checked but for duplicate keys and UTF-8. DEPTH. */
const uint8_t *chordal__token_value(chordal__reader *in, uint32_t depth, size_t *out_len);
/* Whether bytes are UTF-8 without surrogates; else the position of the fault. */
bool chordal__token_utf8(const uint8_t *data, size_t len, size_t *out_position);

#endif
