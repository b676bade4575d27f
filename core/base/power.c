/* power.c: powers of ten by two small tables instead of one of ten kilobytes. */
#include "base/power.h"
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
