/* base.h: the words that all other headers use. */
#ifndef CHORDAL_BASE_H
#define CHORDAL_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CHORDAL_EXTERN extern "C"
#else
#define CHORDAL_EXTERN extern
#endif

/* Exported from the shared library; hidden when the core is linked into something else. */
#if defined(__GNUC__) && defined(CHORDAL_BUILD_SHARED)
#define CHORDAL_API CHORDAL_EXTERN __attribute__((visibility("default")))
#else
#define CHORDAL_API CHORDAL_EXTERN
#endif

/* Marks a result that the caller owns and must give back with the noun's closer, and the argument that gives it back.
 */
#define CHORDAL_OWN

/* The ABI epoch: part of the soname and of the symbol that opens a host, so that a program built
 * for another epoch does not link. */
#define CHORDAL_ABI 1

/* Names one thing inside a host: a type, an object, a reference, a watch, a link, a call, a
 * ticket, a compute or a part. Never 0 for a live thing, always below 2^53, and checked: an id that
 * was released is refused with CHORDAL_E_CLOSED, never taken for another thing. */
typedef uint64_t chordal_id;

/* A moment or a span in milliseconds, on the caller's monotonic clock; always below 2^53. */
typedef uint64_t chordal_time;

/* No deadline. */
#define CHORDAL_NEVER UINT64_C(0x1fffffffffffff)

/* How a value is written in a byte buffer.
 * JSON: RFC 8259 text in UTF-8; a lone surrogate is written as its three-byte form or \uXXXX escape.
 * PACKED: the binary value encoding of docs/protocol.md (a subset of MessagePack). */
#define CHORDAL_FORMAT_JSON 1
#define CHORDAL_FORMAT_PACKED 2

#endif
