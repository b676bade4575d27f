/* power.h: what reading and writing of numbers share. Private to this room. */
#ifndef CHORDAL_CORE_POWER_H
#define CHORDAL_CORE_POWER_H

#include "base/base.h"

/* The range of 10^k that doubles need. */
#define CHORDAL__POWER_FIRST (-342)
#define CHORDAL__POWER_LAST 324

typedef struct chordal__wide {
    uint64_t high, low;
} chordal__wide;

static inline chordal__wide chordal__multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (chordal__wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, one = a_high * b_low + (low >> 32), two = a_low * b_high + (uint32_t)one;
    return (chordal__wide){a_high * b_high + (one >> 32) + (two >> 32), two << 32 | (uint32_t)low};
#endif
}

/* The top 128 bits of 5^k, cut; the highest is set. 10^k is them times 2^(chordal__power_exponent(k) - 127). */
chordal__wide chordal__power(int k);
/* floor(log2(10^k)) */
static inline int chordal__power_exponent(int k) {
    return (k * 217706) >> 16;
}

#endif
