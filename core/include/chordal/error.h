/* error.h: every code that Chordal answers or sends, in one table.
 *
 * Functions return 0 or a code below zero. Codes are stable: never renumbered, never reused. Across a
 * link a code travels as its name in lower case ("not_found"); a method's own codes are free words. */
#ifndef CHORDAL_ERROR_H
#define CHORDAL_ERROR_H

#include "base.h"

/* X(NAME, number, "meaning") */
#define CHORDAL_ERRORS(X)                                                                                              \
    X(NOMEM, -1, "out of memory, or the host's memory limit is reached")                                               \
    X(INVALID, -2, "an argument is not allowed")                                                                       \
    X(STATE, -3, "not possible in the present state")                                                                  \
    X(BUSY, -4, "another thread is inside the host")                                                                   \
    X(CLOSED, -5, "the handle is closed or was never opened")                                                          \
    X(LIMIT, -6, "a named limit is reached")                                                                           \
    X(NOT_FOUND, -7, "there is no such thing")                                                                         \
    X(EXISTS, -8, "there is one already")                                                                              \
    X(ROOM, -9, "the buffer is too small; the needed size is given")                                                   \
    X(FORKED, -10, "the host was opened in another process")                                                           \
    X(UNSUPPORTED, -11, "not supported by this build or peer")                                                         \
    X(SYNTAX, -20, "malformed text or bytes")                                                                          \
    X(UTF8, -21, "not valid UTF-8")                                                                                    \
    X(NUMBER, -22, "a number that cannot be represented")                                                              \
    X(DEPTH, -23, "nested too deep")                                                                                   \
    X(DUPLICATE_KEY, -24, "an object has the same key twice")                                                          \
    X(TRUNCATED, -25, "the data ends too early")                                                                       \
    X(TRAILING, -26, "data follows the end")                                                                           \
    X(TYPE, -27, "the value has the wrong type")                                                                       \
    X(PATH, -28, "the path leads nowhere")                                                                             \
    X(RANGE, -29, "an index or count is out of range")                                                                 \
    X(SIZE, -30, "larger than the limit")                                                                              \
    X(PERMUTATION, -31, "not a permutation of the array")                                                              \
    X(VERSION, -40, "no protocol version in common")                                                                   \
    X(MALFORMED, -41, "the peer sent a malformed message")                                                             \
    X(ORDER, -42, "the peer sent a message that is not allowed here")                                                  \
    X(TOO_LARGE, -43, "the peer sent a message over the limit")                                                        \
    X(TIMEOUT, -44, "the peer did not answer in time")                                                                 \
    X(REFUSED, -45, "the peer does not admit this")                                                                    \
    X(LOST, -46, "the transport was lost")                                                                             \
    X(BYE, -47, "the peer closed the link")                                                                            \
    X(STALLED, -48, "the reader took nothing for too long")                                                            \
    X(REPLACED, -49, "the session goes on over another link")                                                          \
    X(NO_ROUTE, -50, "the host in the middle knows no such route")                                                     \
    X(NO_TYPE, -60, "no such type here")                                                                               \
    X(NO_MEMBER, -61, "the type has no such member")                                                                   \
    X(TYPE_VERSION, -62, "the type has another version")                                                               \
    X(PARAMS, -63, "the params do not fit the type")                                                                   \
    X(RETIRED, -64, "the object is retired")                                                                           \
    X(REVOKED, -65, "the right to hold the object was taken away")                                                     \
    X(RELEASED, -66, "the reference was released")                                                                     \
    X(CONFLICT, -67, "what the transaction read has changed since")                                                    \
    X(DOWN, -68, "the link is down and this cannot wait")                                                              \
    X(DENIED, -69, "not allowed with this authority")                                                                  \
    X(CANCELLED, -80, "cancelled by the caller")                                                                       \
    X(DEADLINE, -81, "the deadline passed before an outcome")                                                          \
    X(OUTCOME_UNKNOWN, -82, "the call was sent and its outcome is not known")                                          \
    X(METHOD, -83, "the method failed with a code of its own")                                                         \
    X(COMPUTE, -84, "the derive failed")                                                                               \
    X(DISK_FULL, -90, "the disk is full; nothing was written")                                                         \
    X(DISK_IO, -91, "reading or writing the store failed")                                                             \
    X(CORRUPT, -92, "the store is damaged")                                                                            \
    X(OWNED, -93, "the store is open in another host")                                                                 \
    X(READ_ONLY, -94, "the store cannot be written here")                                                              \
    X(NOT_STORE, -95, "the file is no store")                                                                          \
    X(NEWER, -96, "the store was written by a newer version")

#define CHORDAL_E_ENUM(name, number, text) CHORDAL_E_##name = number,
enum { CHORDAL_ERRORS(CHORDAL_E_ENUM) CHORDAL_OK = 0 };
#undef CHORDAL_E_ENUM

/* What went wrong, in the caller's own memory. Every function that fails fills it when it is given;
 * it may be NULL. `position` is a byte offset into the data that was refused, else 0. The size is frozen. */
typedef struct chordal_error {
    int32_t code;
    uint32_t reserved;
    uint64_t position;
    char detail[112]; /* one line for a person, NUL-terminated */
} chordal_error;

/* The stable lower-case name of a code ("not_found"); "ok" for 0, "unknown" for a number that is none. Static; any
 * thread. */
CHORDAL_API const char *chordal_error_name(int32_t code);

/* One sentence on a code. Static; any thread. */
CHORDAL_API const char *chordal_error_text(int32_t code);

#endif
