/* transaction.h: changing documents of objects that this host provides. Thread rule: host.h.
 *
 * A commit is atomic over any number of documents and objects. It answers with a ticket at once; its outcome is a
 * TICKET event, after the frames it caused. */
#ifndef CHORDAL_TRANSACTION_H
#define CHORDAL_TRANSACTION_H

#include "host.h"

/* For bindings, whose drafts live in their own language: one crossing for a whole commit. `changes` is a sequence of
 *
 *     varint object id, varint length, packed ops (docs/protocol.md, "Ops"; inline paths, first segment the member)
 *
 * ASSIGN ops ("make it equal to this value") are diffed here. `call`: the call on whose behalf this is, or the
 * object whose start it belongs to, or 0. Nothing is changed by a commit that is refused. Errors: CLOSED, STATE (an
 * object of an older version was not migrated yet), NO_MEMBER, TYPE, PATH, RANGE, PERMUTATION, the data errors
 * with their positions. */
CHORDAL_API int chordal_commit(chordal_host *host, chordal_id call, const uint8_t *changes, size_t changes_len,
                               chordal_id *out_ticket, chordal_error *error);

typedef struct chordal_transaction chordal_transaction;

/* For C programs: a transaction whose drafts live in the core. It starts on the newest prepared revisions and reads
 * what it wrote. End it with commit or abort. Errors: CLOSED (call), NOMEM. */
CHORDAL_API int chordal_transaction_begin(chordal_host *host, chordal_id call, CHORDAL_OWN chordal_transaction **out,
                                          chordal_error *error);

/* Commit, and free the transaction whatever comes of it. Errors: CONFLICT (a document that it read or changed has moved
 * since it was begun), STATE (as for chordal_commit), NOMEM: nothing is changed then. */
CHORDAL_API int chordal_transaction_commit(CHORDAL_OWN chordal_transaction *transaction, chordal_id *out_ticket,
                                           chordal_error *error);

/* Forget a transaction: it leaves nothing. NULL is allowed. */
CHORDAL_API void chordal_transaction_abort(CHORDAL_OWN chordal_transaction *transaction);

/* The value at `path` as the transaction sees it. */
CHORDAL_API int chordal_transaction_value(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                          const char *path, CHORDAL_OWN chordal_value **out, chordal_error *error);

/* Change one place. `path` is a JSON Pointer (RFC 6901) inside the document: "" is the whole, "/entries/-" one past the
 * end of an array. A refused change leaves the transaction as it was. Errors: CLOSED, NO_MEMBER, PATH, TYPE, RANGE,
 * PERMUTATION, NOMEM. */
CHORDAL_API int chordal_transaction_set(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                        const char *path, const chordal_value *value, chordal_error *error);
/* As set, with the value written as JSON. */
CHORDAL_API int chordal_transaction_set_json(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                             const char *path, const char *json, chordal_error *error);
/* Make the place equal to the value; only what differs becomes ops. */
CHORDAL_API int chordal_transaction_assign(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                           const char *path, const chordal_value *value, chordal_error *error);
CHORDAL_API int chordal_transaction_delete(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                           const char *path, chordal_error *error);
/* Append text to a string. */
CHORDAL_API int chordal_transaction_append(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                           const char *path, const char *text, size_t text_len, chordal_error *error);
/* Drop `count` UTF-16 units from a string's front. */
CHORDAL_API int chordal_transaction_truncate(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                             const char *path, uint64_t count, chordal_error *error);
/* Remove `remove` elements of an array at `index` and put those of the array `values` (NULL: none) there. */
CHORDAL_API int chordal_transaction_splice(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                           const char *path, uint64_t index, uint64_t remove,
                                           const chordal_value *values, chordal_error *error);
/* new[i] = old[indexes[i]] for every element of an array. */
CHORDAL_API int chordal_transaction_permute(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                            const char *path, const uint32_t *indexes, size_t indexes_len,
                                            chordal_error *error);

#endif
