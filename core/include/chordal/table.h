/* table.h: rows in the tables of objects that this host provides. Thread rule: host.h.
 *
 * A table is a member of a type (object.h) and its rows belong to the object, as its documents do. It is in the host's
 * store, and in no other memory: what is read comes from the file. Rows are written by transactions, together with
 * documents. A row is an object with the columns of the table:
 *
 *     integer  a whole number from -2^63 to 2^63-1        text   a string
 *     real     a number, as the nearest double            json   any value
 *     bytes    base64 text (RFC 4648, padded); in packed form also, and always when it is given back, MessagePack bin
 *
 * Each may be null, but those of the key. A key is its value, or an array of values when it has several columns; its
 * texts and bytes have at most 4096 bytes. */
#ifndef CHORDAL_TABLE_H
#define CHORDAL_TABLE_H

#include "transaction.h"

/* Put a row, whole: in place of one with the same key. A column that is not given has its default, or null. Errors:
 * CLOSED, RETIRED, NO_MEMBER, INVALID (no table, no such column, no key), TYPE and RANGE (a value does not fit its
 * column), SYNTAX (no base64), SIZE, LIMIT (1048576 rows of one table in one transaction), the data errors, NOMEM: the
 * transaction is as before then. */
CHORDAL_API int chordal_transaction_put(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                        uint32_t format, const uint8_t *row, size_t row_len, chordal_error *error);

/* Change the columns that are given, beside the key, of the row with that key. Errors as put; NOT_FOUND, and those of
 * reading the store. The transaction conflicts when the row has changed before it commits. */
CHORDAL_API int chordal_transaction_patch(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                          uint32_t format, const uint8_t *row, size_t row_len, chordal_error *error);

/* Remove the row of a key; that there is none is no error. Errors as put. */
CHORDAL_API int chordal_transaction_remove(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                           uint32_t format, const uint8_t *key, size_t key_len, chordal_error *error);

/* The row of a key as the transaction sees it, as bytes in `format`. Errors as patch; ROOM gives the size needed. */
CHORDAL_API int chordal_transaction_row(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                        uint32_t format, const uint8_t *key, size_t key_len, uint8_t *buffer,
                                        size_t buffer_len, size_t *out_len, chordal_error *error);

/* Make the changes of chordal_commit in a transaction. After an error abort it. */
CHORDAL_API int chordal_transaction_changes(chordal_transaction *transaction, const uint8_t *changes,
                                            size_t changes_len, chordal_error *error);

/* The row of a key as it is stored, outside of transactions. Errors: CLOSED, NO_MEMBER, INVALID (no table), NOT_FOUND,
 * ROOM, those of keys and of reading the store. */
CHORDAL_API int chordal_object_row(chordal_host *host, chordal_id object, uint32_t member, uint32_t format,
                                   const uint8_t *key, size_t key_len, uint8_t *buffer, size_t buffer_len,
                                   size_t *out_len, chordal_error *error);

#endif
