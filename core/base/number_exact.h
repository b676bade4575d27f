/* number_exact.h: the last resort of reading numbers. Private to this room. */
#ifndef CHORDAL_CORE_NUMBER_EXACT_H
#define CHORDAL_CORE_NUMBER_EXACT_H

#include "base/base.h"

/* The fields of a positive double. */
typedef struct chordal__binary {
    uint64_t mantissa; /* 52 bits */
    int exponent;      /* biased */
} chordal__binary;

/* Whether a decimal number, known to lie between the finite double `below` and the next one, is nearer to that one (or
 * half way and `below` is odd). Its digits, among them perhaps a point, are `at` to `end`; the last one counts
 * 10^exponent. */
bool chordal__exceeds_half(const uint8_t *at, const uint8_t *end, int64_t exponent, chordal__binary below);

#endif
