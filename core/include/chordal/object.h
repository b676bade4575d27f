/* object.h: types and the objects that this host provides. Thread rule: host.h. */
#ifndef CHORDAL_OBJECT_H
#define CHORDAL_OBJECT_H

#include "host.h"

#define CHORDAL_OBJECT_MADE 1    /* somebody holds it for the first time */
#define CHORDAL_OBJECT_RETIRED 2 /* the last hold is gone; the id is released by this event */

#define CHORDAL_MEMBER_DOCUMENT 1
#define CHORDAL_MEMBER_DERIVE 2
#define CHORDAL_MEMBER_METHOD 3
#define CHORDAL_MEMBER_TABLE 4

/* Provide a type. `declaration` is JSON:
 *
 *     {"name": "notes", "version": 1, "params": ["board"], "keep": false, "start": false, "guarded": false,
 *      "migrates": false, "members": [{"name": "list", "kind": "document", "initial": {"entries": []}},
 *                  {"name": "count", "kind": "derive", "from": ["list"]},
 *                  {"name": "add", "kind": "method", "idempotent": false, "durable": false},
 *                  {"name": "notes", "kind": "table", "version": 1, "key": ["id"], "indexes": {"by_title": ["title"]},
 *                   "columns": {"id": "integer", "title": "text", "done": {"type": "integer", "default": 0}}}]}
 *
 * Members are numbered from 0 in this order. `keep`: objects stay when nobody holds them. `start`: an object goes live
 * only when the provider answers its OBJECT event with chordal_object_start. `guarded`: GUARD events ask the program
 * about each hold of a session before anything is made or looked up for it, and about its calls. A derive reads
 * documents and derives named before it. With a store, documents are in it, unless they say `"persist": false`;
 * `"history"` of the type is how many of their newest revisions can be read back, a number (default 0) or "all", and
 * `"deltas"` how many changes may lie behind a whole value (default 1024). `migrates`, with `start`: what an older
 * version of the type has stored (`version` of the OBJECT event) is brought up to date first: until the object is
 * started only commits that name it as their `call` may change its documents. Objects are made when first asked for,
 * one for each (type, params); params must have exactly the declared keys.
 *
 * A table (table.h) is in the store. Its 1 to 64 columns are integer, real, text, json or bytes; the key is of 1 to 8
 * of them, an index, too (json in neither). The store's table is brought up to the declaration at once: it is made,
 * columns that are new are added (with their default, which integer, real and text may have), those that are gone are
 * forgotten, indexes are made and dropped. `version` is noted with each row that is written. Rows of older versions
 * stay as they are and are read as they are, until the program puts them anew: a query with {"stale": true} finds
 * them, so it goes through all, a page in a transaction, at its own pace, with other commits in between, and goes on
 * where it was after a restart.
 *
 * A call over a link of a method that is `durable` is noted in the store before it is told of, its outcome in the step
 * of its last commit if it is answered before that, else in the next. A caller that comes again after a restart is
 * answered with that outcome, or the call is told of again when no commit of it is in the store, or fails with
 * OUTCOME_UNKNOWN. It goes on when its session ends. An outcome stays until its caller has it, or for a day; there are
 * at most 65,536 and 64 MiB of results, then calls fail with LIMIT.
 *
 * Names that begin with "chordal." are the host's own.
 *
 * Errors: EXISTS, SYNTAX and the other data errors, INVALID (with words; also: the store has another key or another
 * type for a column), TYPE_VERSION (the store's table is newer), UNSUPPORTED (tables, `durable` methods and documents
 * that say `"persist": true` need a store; a build for tabs has no guards), LIMIT, and those of writing the store. */
CHORDAL_API int chordal_type_provide(chordal_host *host, const uint8_t *declaration, size_t declaration_len,
                                     chordal_id *out_type, chordal_error *error);

/* Make a type's object go live, or fail with a name and a message (`name_len` 0: live). Only for types with `start`.
 * Errors: CLOSED, STATE. */
CHORDAL_API int chordal_object_start(chordal_host *host, chordal_id object, const char *name, size_t name_len,
                                     const char *message, size_t message_len, chordal_error *error);

/* The object of (type, params), made if there is none; for a provider that acts by itself. It counts as held until
 * chordal_object_drop, once for each get. Errors: NO_TYPE, PARAMS, the data errors of params, LIMIT. */
CHORDAL_API int chordal_object_get(chordal_host *host, const char *type, size_t type_len, uint32_t format,
                                   const uint8_t *params, size_t params_len, chordal_id *out_object,
                                   chordal_error *error);

/* Give one chordal_object_get back. Errors: CLOSED, STATE (not got). */
CHORDAL_API int chordal_object_drop(chordal_host *host, chordal_id object, chordal_error *error);

/* Retire an object now: its references end as RETIRED. Its documents in the store end their life there at once, with
 * all that was committed before; an object made at the same address begins another. Errors: CLOSED, and those of
 * writing the store (host.h): then it lives on. */
CHORDAL_API int chordal_object_retire(chordal_host *host, chordal_id object, chordal_error *error);

/* In place of the head: the newest prepared revision of a document, which is what a transaction starts on. */
#define CHORDAL_PREPARED UINT32_C(0x80000000)

/* The head of a document or derive of an object, as a value; or `member` | CHORDAL_PREPARED. */
CHORDAL_API int chordal_object_value(chordal_host *host, chordal_id object, uint32_t member,
                                     CHORDAL_OWN chordal_value **out, chordal_error *error);

/* The same as bytes in `format`. ROOM gives the size needed. */
CHORDAL_API int chordal_object_read(chordal_host *host, chordal_id object, uint32_t member, uint32_t format,
                                    uint8_t *buffer, size_t buffer_len, size_t *out_len, chordal_error *error);

/* Answer a compute with the derive's new value (it is compared with the last one: only what differs travels).
 * Errors: CLOSED (also: too late), the data errors. A refused value leaves the compute waiting. */
CHORDAL_API int chordal_compute_answer(chordal_host *host, chordal_id compute, uint32_t format, const uint8_t *value,
                                       size_t value_len, chordal_error *error);

/* Answer a compute with an error: the member keeps its last value and shows the error beside it. */
CHORDAL_API int chordal_compute_fail(chordal_host *host, chordal_id compute, const char *name, size_t name_len,
                                     const char *message, size_t message_len, chordal_error *error);

/* Answer a call with a value, or with raw bytes when `format` is 0. The outcome leaves when every commit made for this
 * call is through, after their state. The call id is released. Errors: CLOSED, the data errors (the call then still
 * waits). */
CHORDAL_API int chordal_call_answer(chordal_host *host, chordal_id call, uint32_t format, const uint8_t *value,
                                    size_t value_len, chordal_error *error);

/* Answer a call with an error of the method's own: a short stable name and a message for people. */
CHORDAL_API int chordal_call_fail(chordal_host *host, chordal_id call, const char *name, size_t name_len,
                                  const char *message, size_t message_len, chordal_error *error);

#endif
