/* record.h: the packed records that cross the ABI, as tables from which every language's readers are made.
 *
 * chordal_host_poll fills a buffer with event records, one behind the other, each 8-byte aligned:
 *
 *     offset 0  uint32  length   of the whole record, a multiple of 8
 *     offset 4  uint16  kind     CHORDAL_EVENT_…
 *     offset 6  uint16  flags    meaning below
 *     offset 8  fields  in the order of the table, laid out as in C (id, u64, part aligned to 8; u32, i32, span to 4)
 *     then      the bytes that spans name
 *
 * A reader skips a kind that it does not know. Field types:
 *     id    uint64  chordal_id
 *     u64   uint64
 *     u32   uint32
 *     i32   int32
 *     span  {uint32 offset from the record's start, uint32 length}: text or bytes inside the record
 *     part  {uint32 offset, uint32 length, uint64 part}: as span when `part` is 0; else `length` bytes to be read by
 *           chordal_part_view(host, part) and given back with chordal_release(host, part)
 */
#ifndef CHORDAL_RECORD_H
#define CHORDAL_RECORD_H

#include "base.h"

typedef struct chordal_span {
    uint32_t offset, length;
} chordal_span;

typedef struct chordal_part {
    uint32_t offset, length;
    chordal_id part;
} chordal_part;

typedef struct chordal_record {
    uint32_t length;
    uint16_t kind, flags;
} chordal_record;

/* EVENT(NAME, number, FIELDS) */
#define CHORDAL_EVENTS(EVENT)                                                                                          \
    EVENT(LINK, 1, CHORDAL_EVENT_LINK_FIELDS)                                                                          \
    EVENT(OUTPUT, 2, CHORDAL_EVENT_OUTPUT_FIELDS)                                                                      \
    EVENT(REFERENCE, 3, CHORDAL_EVENT_REFERENCE_FIELDS)                                                                \
    EVENT(FRAME, 4, CHORDAL_EVENT_FRAME_FIELDS)                                                                        \
    EVENT(OBJECT, 5, CHORDAL_EVENT_OBJECT_FIELDS)                                                                      \
    EVENT(CALL, 6, CHORDAL_EVENT_CALL_FIELDS)                                                                          \
    EVENT(CANCEL, 7, CHORDAL_EVENT_CANCEL_FIELDS)                                                                      \
    EVENT(RESULT, 8, CHORDAL_EVENT_RESULT_FIELDS)                                                                      \
    EVENT(TICKET, 9, CHORDAL_EVENT_TICKET_FIELDS)                                                                      \
    EVENT(COMPUTE, 10, CHORDAL_EVENT_COMPUTE_FIELDS)                                                                   \
    EVENT(RESOLVE, 11, CHORDAL_EVENT_RESOLVE_FIELDS)                                                                   \
    EVENT(AUTHENTICATE, 12, CHORDAL_EVENT_AUTHENTICATE_FIELDS)                                                         \
    EVENT(GUARD, 13, CHORDAL_EVENT_GUARD_FIELDS)

/* The state of a link changed. `state`: CHORDAL_LINK_…; DIAL asks for a transport now. `code` says why it went
 * down or closed, `detail` in words. With UP `peer` is the peer's host name (32 hexadecimal digits). */
#define CHORDAL_EVENT_LINK_FIELDS(X) X(id, link) X(u32, state) X(i32, code) X(span, detail) X(span, peer)

/* The link has bytes to send: pull them with chordal_link_output. Told once; told again only after it was drained. */
#define CHORDAL_EVENT_OUTPUT_FIELDS(X) X(id, link)

/* The state of a reference changed. `state`: CHORDAL_REFERENCE_…; `code` and `detail` say why it is failed or
 * revoked. With LIVE, `members` is the type's member table as packed [[name, kind], …] in member order. */
#define CHORDAL_EVENT_REFERENCE_FIELDS(X) X(id, reference) X(u32, state) X(i32, code) X(span, detail) X(part, members)

/* A watched member after one batch, or after several that were folded into one frame. `watch` and what it watches
 * (a reference or an object); `commit` of the provider. `ops`: packed ops, paths inline, members as first segment. With
 * CHORDAL_FRAME_SNAPSHOT the ops replace the whole member. `code` (COMPUTE) is the error state of a derive (0: none),
 * `detail` its words; of a KEPT reference over a link the ops alone tell it. */
#define CHORDAL_EVENT_FRAME_FIELDS(X)                                                                                  \
    X(id, watch) X(id, source) X(u64, commit) X(u32, member) X(i32, code) X(span, detail) X(part, ops)
#define CHORDAL_FRAME_SNAPSHOT 1 /* the ops replace the member */
#define CHORDAL_FRAME_FOLDED 2   /* more than one batch in one frame */

/* An object of a provided type was made, or retired. `state`: CHORDAL_OBJECT_…; `params` is packed. `version`: the
 * oldest version of the type that a document of it was written with, 0 when the store has none: where it is below the
 * type's, the program brings the documents up to date before it starts the object. */
#define CHORDAL_EVENT_OBJECT_FIELDS(X) X(id, object) X(id, type) X(u32, state) X(u32, version) X(part, params)

/* A method of a provided object was called: answer with chordal_call_answer or chordal_call_fail, at any later time.
 * `arguments`: a packed array (bytes arguments are MessagePack bin). `origin` is the number of the caller's
 * session at this host, its own for as long as that lives, over whatever link; 0 is local.
 * `authority`: the session's, packed, always inside the record; empty for one without.
 */
#define CHORDAL_EVENT_CALL_FIELDS(X)                                                                                   \
    X(id, call) X(id, object) X(u64, origin) X(u32, member) X(u32, reserved) X(part, arguments) X(part, authority)

/* The caller of `call` no longer wants the answer (it was cancelled or is gone). Answer all the same. */
#define CHORDAL_EVENT_CANCEL_FIELDS(X) X(id, call) X(i32, code) X(u32, reserved)

#define CHORDAL_RESULT_BYTES 1 /* RESULT: `value` is raw bytes */
/* The outcome of a call that this host made. `code` 0: `value` is the packed result. Else `name` is the error's stable
 * name (the method's own when `code` is METHOD) and `detail` its message. The call id is released by this event. */
#define CHORDAL_EVENT_RESULT_FIELDS(X)                                                                                 \
    X(id, call) X(i32, code) X(u32, reserved) X(span, name) X(span, detail) X(part, value)

/* The outcome of a commit, or of a copy of the store: `commit` is its number, or 0 with `code`. The ticket is released
 * by this event. */
#define CHORDAL_EVENT_TICKET_FIELDS(X) X(id, ticket) X(u64, commit) X(i32, code) X(u32, reserved) X(span, detail)

/* Compute a derive now and answer with chordal_compute_answer or chordal_compute_fail. Until all are answered poll
 * yields nothing but COMPUTE, OBJECT of an object that was made, and FRAME of watches opened with CHORDAL_WATCH_EARLY.
 */
#define CHORDAL_EVENT_COMPUTE_FIELDS(X) X(id, compute) X(id, object) X(u32, member) X(u32, reserved)

/* Somebody asks for an object of a type that is placed (placement.h): answer with chordal_resolve or
 * chordal_resolve_fail, at any later time before the host's `resolve_timeout`, which starts now, is over. `params` is
 * packed, an object. */
#define CHORDAL_EVENT_RESOLVE_FIELDS(X) X(id, question) X(span, type) X(part, params)

/* The peer of an accepted link with CHORDAL_LINK_AUTHENTICATE wants to be admitted: answer with chordal_link_admit or
 * chordal_link_refuse within the handshake's time. `credentials`: what it shows, packed; null for nothing. */
#define CHORDAL_EVENT_AUTHENTICATE_FIELDS(X) X(id, link) X(part, credentials)

/* A session wants to hold an object of a guarded type, or to call a method of one that it holds: answer with
 * chordal_guard_answer; without an answer in time it is denied. `member`: the method, or CHORDAL_ALL_MEMBERS for the
 * hold; `params` (packed) name the object, which may not exist; `authority` as in CALL. */
#define CHORDAL_EVENT_GUARD_FIELDS(X)                                                                                  \
    X(id, guard) X(id, type) X(u64, origin) X(u32, member) X(u32, reserved) X(part, params) X(part, authority)

#define CHORDAL_EVENT_ENUM(name, number, fields) CHORDAL_EVENT_##name = number,
enum { CHORDAL_EVENTS(CHORDAL_EVENT_ENUM) CHORDAL_EVENT_END };
#undef CHORDAL_EVENT_ENUM

/* The records as C structures, for C programs. */
typedef chordal_id chordal_field_id;
typedef uint64_t chordal_field_u64;
typedef uint32_t chordal_field_u32;
typedef int32_t chordal_field_i32;
typedef chordal_span chordal_field_span;
typedef chordal_part chordal_field_part;
#define CHORDAL_EVENT_FIELD(type, name) chordal_field_##type name;
#define CHORDAL_EVENT_STRUCT(NAME, number, FIELDS)                                                                     \
    typedef struct chordal_event_##NAME {                                                                              \
        chordal_record record;                                                                                         \
        FIELDS(CHORDAL_EVENT_FIELD)                                                                                    \
    } chordal_event_##NAME;
CHORDAL_EVENTS(CHORDAL_EVENT_STRUCT)

/* Packed ops: the same bytes in frames, in commits and in the binary part encoding of the protocol
 * (docs/protocol.md, "Ops"); across the ABI every path is inline.
 * OP(NAME, letter, number, arguments) */
#define CHORDAL_OPS(OP)                                                                                                \
    OP(REPLACE, 'r', 0, "value")                                                                                       \
    OP(SET, 's', 1, "value")                                                                                           \
    OP(DELETE, 'd', 2, "")                                                                                             \
    OP(APPEND, 'a', 3, "text")                                                                                         \
    OP(TRUNCATE, 't', 4, "count")                                                                                      \
    OP(SPLICE, 'p', 5, "index remove values")                                                                          \
    OP(PERMUTE, 'm', 6, "indexes")                                                                                     \
    OP(DEFINE, '#', 7, "path")                                                                                         \
    OP(ERROR, '!', 8, "code message")                                                                                  \
    OP(ASSIGN, '=', 9, "value")                                                                                        \
    OP(GENERATION, '*', 10, "")

#define CHORDAL_OP_ENUM(name, letter, number, arguments) CHORDAL_OP_##name = number,
enum { CHORDAL_OPS(CHORDAL_OP_ENUM) CHORDAL_OP_END };
#undef CHORDAL_OP_ENUM

#endif
