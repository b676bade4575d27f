/* number_write.c: the fewest digits that read back the same (the Schubfach method, R. Giulietti). */
#include "base/power.h"
#include "chordal/value.h"

#define MANTISSA_BITS 52
#define MANTISSA_MASK ((UINT64_C(1) << MANTISSA_BITS) - 1)
#define EXPONENT_BIAS 1075 /* of a mantissa read as an integer */
#define LAST_EXACT_POWER 55
#define FIRST_PLAIN_POINT (-5) /* 0.000001 is plain, 1e-7 is not */

typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

static unsigned count_digits(uint64_t value) {
    unsigned count = 1;
    for (; value >= 10000; value /= 10000) count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

#ifdef __wasm__ /* digit by digit, for the size */
/* `count` digits, with leading zeros. */
static void put_digits(char *out, uint64_t value, unsigned count) {
    for (; count; value /= 10) out[--count] = (char)('0' + value % 10);
}

static size_t write_integer(char *out, uint64_t value) {
    unsigned count = count_digits(value);
    put_digits(out, value, count);
    return count;
}
#else
static void put_pair(char *out, uint32_t pair) {
    uint32_t tens = pair * 103 >> 10;
    out[0] = (char)('0' + tens);
    out[1] = (char)('0' + (pair - tens * 10));
}

static void put_eight(char *out, uint32_t value) {
    uint32_t high = value / 10000, low = value % 10000;
    put_pair(out, high / 100), put_pair(out + 2, high % 100);
    put_pair(out + 4, low / 100), put_pair(out + 6, low % 100);
}

/* `count` digits, with leading zeros. */
static void put_digits(char *out, uint64_t value, unsigned count) {
    for (; count >= 8; value /= 100000000) put_eight(out + (count -= 8), (uint32_t)(value % 100000000));
    uint32_t rest = (uint32_t)value;
    for (; count >= 2; rest /= 100) put_pair(out + (count -= 2), rest % 100);
    if (count) out[0] = (char)('0' + rest);
}

/* The eight digits of a value below 10^8, the first in the lowest byte: halves, their halves, and these again are cut
 * in two at once. */
static uint64_t eight_digits(uint32_t value) {
    uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = (halves * 10486 >> 20) & UINT64_C(0x7f0000007f);
    uint64_t pairs = high | (halves - 100 * high) << 16;
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (pairs - 10 * tens) << 8;
}

/* Eight bytes are written, whatever the length. */
static void put_word(char *out, uint64_t word) {
    for (unsigned i = 0; i < 8; i++) out[i] = (char)(word >> 8 * i);
}

static size_t write_below(char *out, uint32_t value) {
    uint64_t digits = eight_digits(value);
    unsigned zeros = digits ? (unsigned)__builtin_ctzll(digits) / 8 : 7;
    put_word(out, (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros);
    return 8 - zeros;
}

static size_t write_integer(char *out, uint64_t value) {
    if (value < 100000000) return write_below(out, (uint32_t)value);
    size_t len = write_integer(out, value / 100000000);
    put_word(out + len, eight_digits((uint32_t)(value % 100000000)) | UINT64_C(0x3030303030303030));
    return len + 8;
}
#endif

/* The whole part of power * factor / 2^128, with its lowest bit set when anything was cut. */
static uint64_t scale(chordal__wide power, uint64_t factor) {
    chordal__wide low = chordal__multiply(power.low, factor), high = chordal__multiply(power.high, factor);
    high.low += low.high;
    high.high += high.low < low.high;
    return high.high | (high.low > 1);
}

/* 10^k rounded up, as the method wants it. */
static chordal__wide power_above(int k) {
    chordal__wide power = chordal__power(k);
    power.low += k < 0 || k > LAST_EXACT_POWER;
    return power;
}

/* All values are four times what they stand for. With `lower` and `upper` the bounds within which text reads back as
 * `value`, choose the shortest, and of two equally short the nearer. */
static decimal choose(uint64_t lower, uint64_t value, uint64_t upper, int exponent) {
    uint64_t whole = value / 4;
    if (whole >= 10) {
        uint64_t tens = whole / 10;
        bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;
        if (down != up) return (decimal){tens + up, exponent + 1};
    }
    bool down = lower <= 4 * whole, up = 4 * whole + 4 <= upper;
    if (down != up) return (decimal){whole + up, exponent};
    uint64_t middle = 4 * whole + 2;
    bool nearer_up = value > middle || (value == middle && (whole & 1));
    return (decimal){whole + nearer_up, exponent};
}

/* The shortest decimal of mantissa * 2^exponent. `uneven`: the next lower double is at half the distance. */
static decimal shortest(uint64_t mantissa, int exponent, bool uneven) {
    int k = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22; /* floor(log10(2^exponent)), or of 3/4 of it */
    int shift = exponent + chordal__power_exponent(-k) + 1;
    chordal__wide power = power_above(-k);
    uint64_t odd = mantissa & 1; /* an even mantissa owns its bounds */
    uint64_t lower = scale(power, (4 * mantissa - 2 + uneven) << shift) + odd;
    uint64_t value = scale(power, (4 * mantissa) << shift);
    uint64_t upper = scale(power, (4 * mantissa + 2) << shift) - odd;
    return choose(lower, value, upper, k);
}

static decimal decimal_of(uint64_t bits) {
    uint64_t fraction = bits & MANTISSA_MASK;
    int exponent = (int)(bits >> MANTISSA_BITS);
    decimal found = exponent
                        ? shortest(fraction | (MANTISSA_MASK + 1), exponent - EXPONENT_BIAS, !fraction && exponent > 1)
                        : shortest(fraction, 1 - EXPONENT_BIAS, false);
    if (found.digits % 100000000 == 0) found.digits /= 100000000, found.exponent += 8;
    if (found.digits % 10000 == 0) found.digits /= 10000, found.exponent += 4;
    while (found.digits % 10 == 0) found.digits /= 10, found.exponent++;
    return found;
}

/* d.ddde-9 */
static size_t write_scientific(char *out, uint64_t digits, unsigned count, int exponent) {
    size_t at = 1;
    put_digits(out + 1, digits, count);
    out[0] = out[1];
    if (count > 1) out[1] = '.', at = count + 1u;
    out[at++] = 'e';
    if (exponent < 0) out[at++] = '-', exponent = -exponent;
    unsigned places = count_digits((uint64_t)exponent);
    put_digits(out + at, (uint64_t)exponent, places);
    return at + places;
}

/* The point after the first `point` of `count` digits, or that many zeros before them. */
static size_t write_plain(char *out, uint64_t digits, unsigned count, int point) {
    if (point > 0) {
        put_digits(out + 1, digits, count);
        memmove(out, out + 1, (size_t)point);
        out[point] = '.';
        return count + 1u;
    }
    size_t zeros = (size_t)-point;
    memset(out, '0', zeros + 2);
    out[1] = '.';
    put_digits(out + 2 + zeros, digits, count);
    return zeros + 2 + count;
}

static size_t write_real(char *out, double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    size_t sign = bits >> 63;
    out[0] = '-';
    decimal found = decimal_of(bits & ~(UINT64_C(1) << 63));
    unsigned count = count_digits(found.digits);
    int point = (int)count + found.exponent;
    /* A whole number is beyond 2^53 here: its exponent says that it is no integer. */
    bool plain = found.exponent < 0 && point >= FIRST_PLAIN_POINT;
    out += sign;
    return sign + (plain ? write_plain(out, found.digits, count, point)
                         : write_scientific(out, found.digits, count, point - 1));
}

size_t chordal__number_write(const chordal__number *number, char *out) {
    if (number->kind == CHORDAL_KIND_DOUBLE) return write_real(out, number->as.real);
    if (number->kind == CHORDAL_KIND_UNSIGNED) return write_integer(out, number->as.unsigned_integer);
    if (number->as.integer >= 0) return write_integer(out, (uint64_t)number->as.integer);
    out[0] = '-';
    return 1 + write_integer(out + 1, -(uint64_t)number->as.integer);
}
