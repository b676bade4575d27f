/* store.h: what lies in a host's store: reading it back, following it, copying and checking it. Thread rule: host.h.
 *
 * All but chordal_store_trim, _put and _seal also work in a host that reads beside the owner (CHORDAL_STORE_READ_ONLY),
 * and all look at what is in the file: what was committed is there once its TICKET event was told. Where there is no
 * store they answer STATE, in a build for tabs UNSUPPORTED. Errors of reading: CORRUPT, DISK_IO, NOMEM; of writing also
 * READ_ONLY, DISK_FULL. Lists come in pages: an array of at most `limit` things (0: 100, at most 10000; fewer where
 * they are large), from behind `after` on (0: the first), and in `out_next` what `after` is for the next page, 0 at the
 * end. */
#ifndef CHORDAL_STORE_H
#define CHORDAL_STORE_H

#include "host.h"

/* A document as commit `at` left it (0: the newest; a number that is still to come reads the newest, too), of whatever
 * life its address had then; the type need not be provided. `out_commit`: the commit that wrote this value. Errors:
 * NOT_FOUND (there was none then, or what it was is kept no more: `history` of its type), the data errors of params,
 * SIZE and DEPTH (beyond the host's limits). */
CHORDAL_API int chordal_store_read(chordal_host *host, const char *type, size_t type_len, uint32_t format,
                                   const uint8_t *params, size_t params_len, const char *member, size_t member_len,
                                   uint64_t at, CHORDAL_OWN chordal_value **out, uint64_t *out_commit,
                                   chordal_error *error);

/* The documents, retired ones that are kept or remembered among them: {"type", "params", "member", "incarnation" (which
 * life of the address, from 1), "version" (of the type that wrote it last), "created" (its first commit), "retired"
 * (the commit after which its life ended, or null), "commit" (its newest that can be read, or null)}. */
CHORDAL_API int chordal_store_documents(chordal_host *host, uint64_t after, uint32_t limit,
                                        CHORDAL_OWN chordal_value **out, uint64_t *out_next, chordal_error *error);

/* The tables, as they are declared there: {"type", "member", "version", "columns": {name: type}, "key", "indexes"}; and
 * the objects that have rows, or had some: {"type", "params"}. */
CHORDAL_API int chordal_store_tables(chordal_host *host, uint64_t after, uint32_t limit,
                                     CHORDAL_OWN chordal_value **out, uint64_t *out_next, chordal_error *error);
CHORDAL_API int chordal_store_owners(chordal_host *host, uint64_t after, uint32_t limit,
                                     CHORDAL_OWN chordal_value **out, uint64_t *out_next, chordal_error *error);

/* What commits wrote, of a host that keeps an outbox (CHORDAL_STORE_OUTBOX), from the commit behind number `after` on:
 * {"commit", "writes": [{"type", "params", "member", and of a document "value" (it begins with it, or anew) or "ops"
 * (in the JSON form of docs/protocol.md, "Ops", the member's index first), of a table "put" (a row, bytes as base64) or
 * "remove" (a key, as an array)}, …, in any order]}. A follower keeps the number of the last commit that it took; at
 * the end `out_next` is 0. */
CHORDAL_API int chordal_store_outbox(chordal_host *host, uint64_t after, uint32_t limit,
                                     CHORDAL_OWN chordal_value **out, uint64_t *out_next, chordal_error *error);

/* Forget of the outbox what commits up to number `upto` wrote, at most 1,024 of them; `out_dropped`: how many it was;
 * fewer than 1,024: all. */
CHORDAL_API int chordal_store_trim(chordal_host *host, uint64_t upto, uint32_t *out_dropped, chordal_error *error);

/* Copy the store, as it is now, to another path, while the host goes on: 256 pages in each turn. A TICKET event tells
 * the outcome: `commit` is the newest commit in the copy. The copy is written beside (PATH-copy) and takes its name at
 * the end, synced; one that is cut leaves no store. It is a store like any other: a host that opens it goes on from
 * that commit as another run, which those who follow it are told. Errors, here or of the ticket: EXISTS (something is
 * at the path), OWNED (another copy is being made there), INVALID (the path; also one that ends in -copy, -owner, -wal,
 * -shm or -journal), NOT_FOUND (its folder), and those of reading and writing. */
CHORDAL_API int chordal_store_backup(chordal_host *host, const char *path, size_t path_len, chordal_id *out_ticket,
                                     chordal_error *error);

/* Look for damage: first SQLite's own check of the file (with its types and indexes) and the runs, then each revision
 * of each document, a page of documents at a time, then each cell of each row of the tables, a page of some 10000 rows
 * and at least all that one object has in a table: in no bounded time. The faults: {"place" (a table and its row, or
 * null; of rows the table and the number of their object), "detail", "type", "params" and "member" of the document or
 * the table, and "key" of the row, or null}. Of one table a page tells 100 at most, and that there are more. A page may
 * be empty before the end. `after` is what the page before gave as the next, and has no other meaning here. */
CHORDAL_API int chordal_store_check(chordal_host *host, uint64_t after, uint32_t limit, CHORDAL_OWN chordal_value **out,
                                    uint64_t *out_next, chordal_error *error);

/* Put something into a store that is new: a table, {"type", "member", "version", "columns", "key", "indexes"}
 * (object.h), all of them first; a document, {"type", "version", "params" (in the type's order), "member", "value"}; a
 * row of a table, {"type", "params", "member", "row", "stale" (true: an older version of the table wrote it)}. Other
 * keys are ignored. No document and no row is there before chordal_store_seal, and none at all when the host is closed
 * before; until then no type can be provided. Errors: STATE (the store has documents, or types are provided, or an
 * earlier one failed; a table that comes late), EXISTS (it is there), INVALID (with words), the errors of rows, the
 * data errors. */
CHORDAL_API int chordal_store_put(chordal_host *host, uint32_t format, const uint8_t *item, size_t item_len,
                                  chordal_error *error);
/* What was put is there, as one commit. Errors: STATE (no document and no row was put). */
CHORDAL_API int chordal_store_seal(chordal_host *host, chordal_error *error);

#endif
