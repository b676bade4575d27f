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
 * A *live query* is an object of the type `chordal.query`, which each host with a store provides by itself. Hold it as
 * any other (reference.h), here or over links, with the params
 *
 *     {"type": "board", "params": {"name": "a"}, "member": "notes", "query": {"where": …, "order": …, "limit": 20}}
 *
 * Its one document `rows` is what chordal_transaction_query answers as `rows` (in a row `bytes` are {"length",
 * "digest"}, FNV-1a as 16 hexadecimal digits), and is changed by the very commits that change it. It lives as long as
 * the object that it is about, and is guarded as that is. Counts and sums are of at most 1048576 rows then. It fails
 * with DEPTH at a row that with the two around it is nested deeper than the host's limit. In a host that only reads a
 * store (host.h) it is an answer of one moment, like all objects there: what its owner commits does not change it; the
 * next hold after the last one was released asks again.
 *
 * A cell may be null, but those of the key. A key is its value, or an array of values when it has several columns; its
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

/* Ask for rows, or for counts and sums of them, as the transaction sees them: what it wrote, what is prepared, what is
 * stored. A query is an object, all of it optional:
 *
 *     where    a condition: {"eq": [column, value]}, so, too: ne, lt, le, gt, ge, prefix (of texts);
 *              {"in": [column, [value, …]]}, {"null": column}; {"and": [condition, …]}, or; {"not": condition}
 *     order    [column or [column, "asc" or "desc"], …], at most 8; the key decides what is left open
 *     limit    1 to 10000, default 1000
 *     after    a cursor: the rows behind it
 *     stale    true: only rows that an older version of the table has written (object.h)
 *     count    true: how many rows      sum    a column of numbers: its sum      group    [column, …]: of each group
 *
 * A comparison with a cell that is null does not hold, `ne` and `not` are the contrary of what they deny. Numbers are
 * compared by value, with a real column as it would hold them; texts and bytes by their bytes (of UTF-8), null is
 * before all else. json columns can only be null or not. The answer is
 *
 *     {"rows": [row, …], "after": the cursor behind the last row when there are more, else null}
 *
 * or with count, sum or group (alone: a count) rows of {"group": {column: value}, "count": n, "sum": n}, in the order
 * of the group's columns, at most 10000; without group one row. A sum of whole numbers is exact from -2^63 to
 * 2^64-1, one of reals is the double nearest to the exact sum, in whatever order rows came and went. A cursor is a text
 * that stays good while rows come and go, for queries with the same order. A condition has at most 256 terms and 1000
 * values and is nested 16 deep. The transaction conflicts when any row of the table has changed before it commits.
 * Errors: as chordal_transaction_row, INVALID with words, LIMIT, RANGE (a sum of reals is beyond the largest
 * double), CORRUPT (a row that would be in the answer has a damaged cell, whose column the words name). */
CHORDAL_API int chordal_transaction_query(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                          uint32_t format, const uint8_t *query, size_t query_len, uint8_t *buffer,
                                          size_t buffer_len, size_t *out_len, chordal_error *error);

/* Change the columns that are given (none of the key) in all rows for which a condition holds; null: in all.
 * `out_count` is how many. Errors as query and put; after LIMIT or NOMEM abort the transaction. */
CHORDAL_API int chordal_transaction_update_where(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                                 uint32_t format, const uint8_t *where, size_t where_len,
                                                 const uint8_t *changes, size_t changes_len, uint64_t *out_count,
                                                 chordal_error *error);

/* Remove all rows for which a condition holds; null: all. Errors as update_where. */
CHORDAL_API int chordal_transaction_delete_where(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                                 uint32_t format, const uint8_t *where, size_t where_len,
                                                 uint64_t *out_count, chordal_error *error);

/* Make the changes of chordal_commit in a transaction. After an error abort it. */
CHORDAL_API int chordal_transaction_changes(chordal_transaction *transaction, const uint8_t *changes,
                                            size_t changes_len, chordal_error *error);

/* The row of a key as it is stored, outside of transactions. Errors: CLOSED, NO_MEMBER, INVALID (no table), NOT_FOUND,
 * ROOM, those of keys and of reading the store. */
CHORDAL_API int chordal_object_row(chordal_host *host, chordal_id object, uint32_t member, uint32_t format,
                                   const uint8_t *key, size_t key_len, uint8_t *buffer, size_t buffer_len,
                                   size_t *out_len, chordal_error *error);

/* A query over what is stored, outside of transactions. Errors as chordal_object_row and chordal_transaction_query. */
CHORDAL_API int chordal_object_query(chordal_host *host, chordal_id object, uint32_t member, uint32_t format,
                                     const uint8_t *query, size_t query_len, uint8_t *buffer, size_t buffer_len,
                                     size_t *out_len, chordal_error *error);

#endif
