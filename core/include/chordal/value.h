/* value.h: immutable JSON values, for C programs.
 *
 * A value is counted and never changes. It belongs to the memory of the host that made it and may
 * outlive that host; use it on one thread at a time. What it looks like in memory is nobody's business: read it by
 * cursor, as JSON or as packed bytes. */
#ifndef CHORDAL_VALUE_H
#define CHORDAL_VALUE_H

#include "error.h"

typedef struct chordal_host chordal_host;
typedef struct chordal_value chordal_value;

#define CHORDAL_KIND_NULL 0
#define CHORDAL_KIND_FALSE 1
#define CHORDAL_KIND_TRUE 2
#define CHORDAL_KIND_INTEGER 3  /* -2^63 .. 2^63-1 */
#define CHORDAL_KIND_UNSIGNED 4 /* 2^63 .. 2^64-1 */
#define CHORDAL_KIND_DOUBLE 5   /* any other finite number */
#define CHORDAL_KIND_STRING 6
#define CHORDAL_KIND_ARRAY 7
#define CHORDAL_KIND_OBJECT 8

/* Read a value from bytes in `format`. The host's limits on depth and size apply.
 * Errors: SYNTAX, UTF8, NUMBER, DEPTH, DUPLICATE_KEY, TRUNCATED, TRAILING, SIZE (each with its position), NOMEM. */
CHORDAL_API int chordal_value_decode(chordal_host *host, uint32_t format, const uint8_t *data, size_t data_len,
                                     CHORDAL_OWN chordal_value **out, chordal_error *error);

/* Write a value into the caller's buffer; `out_len` is the size written, or with ROOM the size needed. */
CHORDAL_API int chordal_value_encode(const chordal_value *value, uint32_t format, uint8_t *buffer, size_t buffer_len,
                                     size_t *out_len, chordal_error *error);

/* One more reference to the same value; returns it. */
CHORDAL_API CHORDAL_OWN chordal_value *chordal_value_ref(chordal_value *value);
/* Gives one reference back. NULL is allowed. */
CHORDAL_API void chordal_value_unref(CHORDAL_OWN chordal_value *value);

/* 1 when both are the same JSON value: numbers by value, object keys in any order; else 0. */
CHORDAL_API int32_t chordal_value_equal(const chordal_value *a, const chordal_value *b);

/* A 64-bit digest of the value: equal values, in any run and runtime, have equal digests. FNV-1a over the
 * canonical form that docs/protocol.md defines. */
CHORDAL_API uint64_t chordal_value_digest(const chordal_value *value);

/* A place inside a value, in the caller's memory. Valid while the value is held; never owns. */
typedef struct chordal_cursor {
    const void *place[6];
} chordal_cursor;

/* The root of a value. */
CHORDAL_API void chordal_cursor_root(const chordal_value *value, chordal_cursor *out);
/* The kind at the place: CHORDAL_KIND_… */
CHORDAL_API int32_t chordal_cursor_kind(const chordal_cursor *cursor);
/* Members of an array or object, UTF-16 units of a string; 0 for the rest. */
CHORDAL_API uint64_t chordal_cursor_length(const chordal_cursor *cursor);
/* Element `index` of an array, or the `index`-th member of an object. Errors: TYPE, RANGE. */
CHORDAL_API int chordal_cursor_at(const chordal_cursor *cursor, uint64_t index, chordal_cursor *out);
/* Member `key` of an object. Errors: TYPE, NOT_FOUND. */
CHORDAL_API int chordal_cursor_get(const chordal_cursor *cursor, const char *key, size_t key_len, chordal_cursor *out);
/* The key of the `index`-th member of an object, borrowed until the value is given back. Errors: TYPE, RANGE. */
CHORDAL_API int chordal_cursor_key(const chordal_cursor *cursor, uint64_t index, const char **out_key, size_t *out_len);
/* A number. Errors: TYPE, RANGE when it does not fit. */
CHORDAL_API int chordal_cursor_integer(const chordal_cursor *cursor, int64_t *out);
CHORDAL_API int chordal_cursor_unsigned(const chordal_cursor *cursor, uint64_t *out);
CHORDAL_API int chordal_cursor_double(const chordal_cursor *cursor, double *out);
/* Copy a string's bytes (UTF-8; lone surrogates in their three-byte form). Errors: TYPE, ROOM with the size needed. */
CHORDAL_API int chordal_cursor_string(const chordal_cursor *cursor, char *buffer, size_t buffer_len, size_t *out_len);

#endif
