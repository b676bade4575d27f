/* power.c: powers of ten by two small tables instead of one of ten kilobytes; where each byte is loaded over a network,
 * without any. */
#include "base/power.h"

#ifndef __wasm__
#include "base/power_table.h"

chordal__wide chordal__power(int k) {
    unsigned at = (unsigned)(k - COARSE_FIRST * POWER_STEP);
    const uint64_t *step = coarse[at / POWER_STEP];
    uint64_t factor = fine[at % POWER_STEP];
    chordal__wide high = chordal__multiply(step[0], factor), middle = chordal__multiply(step[1], factor);
    uint64_t rest = chordal__multiply(step[2], factor).high;
    middle.low += rest;
    middle.high += middle.low < rest;
    high.low += middle.high;
    high.high += high.low < middle.high;
    if (high.high >> 63) return high;
    return (chordal__wide){high.high << 1 | high.low >> 63, high.low << 1 | middle.low >> 63};
}
#else
#define FIVE_13 UINT32_C(1220703125) /* the last power of five that fits a word */
#define WORDS 32                     /* 5^324 is 24 words, and 2^n / 5^342 begins with 31 */

static void multiply_all(uint32_t words[WORDS], uint32_t factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        carry += (uint64_t)words[i] * factor;
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide_all(uint32_t *words, size_t top, uint32_t divisor) {
    uint64_t rest = 0;
    for (size_t i = top + 1; i-- > 0;) {
        rest = rest << 32 | words[i];
        words[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

/* 5^k times a power of two, or that one divided by 5^-k, so that five words are there to cut. */
chordal__wide chordal__power(int k) {
    uint32_t words[WORDS] = {0};
    unsigned left = (unsigned)(k < 0 ? -k : k);
    size_t top = k < 0 ? 5 + left * 76 / 1024 : 4; /* 76 / 1024 is above log2(5) / 32 */
    words[top] = 1;
    while (left) {
        uint32_t factor = 1;
        for (; left && factor < FIVE_13; left--) factor *= 5;
        if (k < 0) {
            divide_all(words, top, factor);
        } else {
            multiply_all(words, factor);
        }
    }
    for (top = WORDS - 1; !words[top]; top--) continue;
    uint64_t a = words[top], b = words[top - 1], c = words[top - 2], d = words[top - 3];
    chordal__wide wide = {a << 32 | b, c << 32 | d};
    unsigned shift = (unsigned)__builtin_clz(words[top]);
    if (!shift) return wide;
    return (chordal__wide){wide.high << shift | wide.low >> (64 - shift),
                           wide.low << shift | words[top - 4] >> (32 - shift)};
}
#endif
