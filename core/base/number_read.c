/* number_read.c: JSON numbers, correctly rounded: exact products of small values, else the method of Eisel and Lemire,
 * else (more than 19 digits that do not decide) an exact comparison in number_exact.c. */
#include "base/number_exact.h"
#include "base/power.h"
#include "chordal/value.h"

#define MANTISSA_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << MANTISSA_BITS)
#define EXPONENT_BIAS 1023
#define EXPONENT_INFINITE 0x7ff
#define LAST_FINITE_POWER 308
#define LAST_EXACT_POWER 22
#define WORD_DIGITS 19                    /* that always fit 64 bits */
#define LONGEST_EXPONENT 1000000000000000 /* beyond any text's length, so that sums with one stay exact */

/* A number as it is written: its value is digits * 10^exponent. `digits` is right when `count` is at most WORD_DIGITS.
 */
typedef struct literal {
    const uint8_t *first, *point, *digits_end; /* `point` is where the fraction's digits begin, or digits_end */
    uint64_t digits;
    size_t count; /* of digits, without zeros before the first other one when there are many */
    int64_t exponent;
    bool negative, whole; /* `whole`: digits only */
    const uint8_t *fault; /* where a digit is missing */
} literal;

static bool is_digit(uint8_t byte) {
    return (uint8_t)(byte - '0') <= 9;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(__wasm__)
/* Eight digits at once, if there are: each step joins neighbours. */
static bool eight_digits(const uint8_t *at, const uint8_t *end, uint64_t *out) {
    uint64_t word;
    if (end - at < 8) return false;
    memcpy(&word, at, sizeof word);
    if (((word & (word + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0)) != UINT64_C(0x3030303030303030))
        return false;
    word -= UINT64_C(0x3030303030303030);
    word = word * 10 + (word >> 8);
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    word = (word & mask) * UINT64_C(0x000f424000000064) + (word >> 16 & mask) * UINT64_C(0x0000271000000001);
    *out = word >> 32;
    return true;
}
#else
static bool eight_digits(const uint8_t *at, const uint8_t *end, uint64_t *out) {
    (void)at, (void)end, (void)out;
    return false;
}
#endif

static const uint8_t *read_digits(const uint8_t *at, const uint8_t *end, uint64_t *digits) {
    for (uint64_t eight; eight_digits(at, end, &eight); at += 8) *digits = *digits * 100000000 + eight;
    for (; at < end && is_digit(*at); at++) *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

static const uint8_t *missing(literal *out, const uint8_t *at) {
    out->fault = at;
    return NULL;
}

/* [eE][+-]digits; NULL: malformed. */
static const uint8_t *read_exponent(const uint8_t *at, const uint8_t *end, literal *out) {
    bool negative = false;
    int64_t value = 0;
    at++;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at == end || !is_digit(*at)) return missing(out, at);
    for (; at < end && is_digit(*at); at++) {
        if (value < LONGEST_EXPONENT) value = value * 10 + (*at - '0');
    }
    out->exponent += negative ? -value : value;
    return at;
}

/* The end of the number; NULL: malformed. */
static const uint8_t *read_literal(const uint8_t *at, const uint8_t *end, literal *out) {
    if (at < end && *at == '-') out->negative = true, at++;
    if (at == end || !is_digit(*at)) return missing(out, at);
    out->first = at;
    at = *at == '0' ? at + 1 : read_digits(at, end, &out->digits);
    out->point = out->digits_end = at;
    out->count = (size_t)(at - out->first);
    out->whole = true;
    if (at < end && *at == '.') {
        out->point = ++at;
        at = read_digits(at, end, &out->digits);
        if (at == out->point) return missing(out, at);
        out->digits_end = at;
        out->count += (size_t)(at - out->point);
        out->exponent = -(int64_t)(at - out->point);
        out->whole = false;
    }
    if (at < end && (*at | 0x20) == 'e') {
        out->whole = false;
        return read_exponent(at, end, out);
    }
    return at;
}

static double make_double(bool negative, uint64_t mantissa, int exponent) {
    uint64_t bits = (uint64_t)negative << 63 | (uint64_t)exponent << MANTISSA_BITS | (mantissa & (HIDDEN_BIT - 1));
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static const chordal__binary infinite = {.mantissa = 0, .exponent = EXPONENT_INFINITE};

/* digits * 10^k over 2^128 or so; the low word is enough to tell an exact half. */
static chordal__wide scaled(uint64_t digits, int k) {
    chordal__wide power = chordal__power(k);
    if (k < 0 && k >= -27) power.low++; /* the method wants these rounded up */
    chordal__wide product = chordal__multiply(digits, power.high);
    if ((product.high & 0x1ff) == 0x1ff) {
        uint64_t more = chordal__multiply(digits, power.low).high;
        product.low += more;
        product.high += product.low < more;
    }
    return product;
}

/* The double below 2^-1022 with a mantissa that is twice too long. */
static chordal__binary subnormal(uint64_t mantissa, int exponent) {
    if (exponent <= -63) return (chordal__binary){0, 0};
    mantissa >>= 1 - exponent;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return (chordal__binary){mantissa, mantissa >= HIDDEN_BIT};
}

/* The double nearest to digits * 10^k, for any 64-bit digits. */
static chordal__binary nearest(uint64_t digits, int64_t power) {
    if (!digits || power < CHORDAL__POWER_FIRST) return (chordal__binary){0, 0};
    if (power > LAST_FINITE_POWER) return infinite;
    int k = (int)power, zeros = __builtin_clzll(digits);
    chordal__wide product = scaled(digits << zeros, k);
    int top = (int)(product.high >> 63), cut = top + 64 - MANTISSA_BITS - 3;
    uint64_t mantissa = product.high >> cut;
    int exponent = chordal__power_exponent(k) + 63 + top - zeros + EXPONENT_BIAS;
    if (exponent <= 0) return subnormal(mantissa, exponent);
    /* Half way between two doubles is possible only here; then the even one. */
    bool half = product.low <= 1 && k >= -4 && k <= 23 && (mantissa & 3) == 1 && mantissa << cut == product.high;
    if (half) mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= HIDDEN_BIT << 1) mantissa = HIDDEN_BIT, exponent++;
    return exponent >= EXPONENT_INFINITE ? infinite : (chordal__binary){mantissa & (HIDDEN_BIT - 1), exponent};
}

/* Drop zeros in front and all digits after the first WORD_DIGITS. Returns whether digits were dropped that matter. */
static bool shorten(literal *number) {
    const uint8_t *at = number->first;
    while (at < number->digits_end && (*at == '0' || *at == '.')) at++;
    number->digits = 0;
    number->count = 0;
    for (; at < number->digits_end && number->count < WORD_DIGITS; at++) {
        if (*at == '.') continue;
        number->digits = number->digits * 10 + (uint64_t)(*at - '0');
        number->count++;
    }
    bool dropped = false;
    for (; at < number->digits_end; at++) {
        if (*at == '.') continue;
        number->exponent++;
        number->count++;
        dropped = dropped || *at != '0';
    }
    return dropped;
}

static bool same(chordal__binary a, chordal__binary b) {
    return a.mantissa == b.mantissa && a.exponent == b.exponent;
}

static chordal__binary read_long(literal *number) {
    int64_t last = number->exponent; /* of the last digit */
    bool dropped = shorten(number);
    chordal__binary below = nearest(number->digits, number->exponent);
    if (!dropped) return below;
    chordal__binary above = nearest(number->digits + 1, number->exponent);
    if (same(below, above)) return below;
    return chordal__exceeds_half(number->first, number->digits_end, last, below) ? above : below;
}

static double read_real(literal *number) {
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t k = number->exponent;
    if (number->count <= WORD_DIGITS && number->digits <= HIDDEN_BIT << 1 && k >= -LAST_EXACT_POWER &&
        k <= LAST_EXACT_POWER) {
        double real = (double)number->digits;
        real = k < 0 ? real / exact[-k] : real * exact[k];
        return number->negative ? -real : real;
    }
    chordal__binary found = number->count <= WORD_DIGITS ? nearest(number->digits, k) : read_long(number);
    return make_double(number->negative, found.mantissa, found.exponent);
}

/* Digits alone: exact when they fit 64 bits. False: they do not. */
static bool read_integer(const literal *number, chordal__number *out) {
    uint64_t value = number->digits;
    if (number->count > WORD_DIGITS + 1) return false;
    /* Twenty digits are at most 10^20 - 1, and wrap to less than their value without the last digit can be. */
    if (number->count == WORD_DIGITS + 1 && (*number->first != '1' || value < UINT64_C(10000000000000000000)))
        return false;
    if (number->negative) {
        if (value > UINT64_C(1) << 63) return false;
        *out = (chordal__number){.kind = CHORDAL_KIND_INTEGER, .as.integer = (int64_t)-value};
    } else if (value > INT64_MAX) {
        *out = (chordal__number){.kind = CHORDAL_KIND_UNSIGNED, .as.unsigned_integer = value};
    } else {
        *out = (chordal__number){.kind = CHORDAL_KIND_INTEGER, .as.integer = (int64_t)value};
    }
    return true;
}

size_t chordal__number_read(const uint8_t *text, size_t len, chordal__number *out, int *out_code) {
    literal number = {0};
    const uint8_t *end = len ? read_literal(text, text + len, &number) : NULL;
    if (!end) {
        *out_code = !len || number.fault == text + len ? CHORDAL_E_TRUNCATED : CHORDAL_E_SYNTAX;
        return 0;
    }
    if (number.whole && read_integer(&number, out)) return (size_t)(end - text);
    if (!chordal__number_of_double(read_real(&number), out)) {
        *out_code = CHORDAL_E_NUMBER;
        return 0;
    }
    return (size_t)(end - text);
}
