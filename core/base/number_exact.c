/* number_exact.c: a decimal number against the middle of two doubles, in integers as long as it takes. */
#include "base/number_exact.h"

/* The middle of two doubles has at most 768 digits: of more we need to know only whether they are all zero. */
#define MOST_DIGITS 780
/* 780 digits are 2592 bits; so is 5^1104, the highest power that the last digit of 780 can need, with the 54 bits of
 * the middle on top. What is shifted is shifted to the size of the other side. */
#define WORDS 96

typedef struct natural {
    size_t len;            /* words; the last is not 0 */
    uint32_t words[WORDS]; /* little end first */
} natural;

static void multiply_add(natural *number, uint32_t factor, uint32_t more) {
    uint64_t carry = more;
    for (size_t i = 0; i < number->len; i++) {
        carry += (uint64_t)number->words[i] * factor;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && number->len < WORDS) number->words[number->len++] = (uint32_t)carry;
}

static void multiply_power_of_five(natural *number, uint64_t power) {
    const uint32_t five_13 = 1220703125;
    for (; power >= 13; power -= 13) multiply_add(number, five_13, 0);
    uint32_t rest = 1;
    for (; power; power--) rest *= 5;
    multiply_add(number, rest, 0);
}

static void shift_left(natural *number, uint64_t bits) {
    size_t words = (size_t)(bits / 32);
    multiply_add(number, UINT32_C(1) << bits % 32, 0);
    if (!words || number->len + words > WORDS) return;
    memmove(number->words + words, number->words, number->len * sizeof *number->words);
    memset(number->words, 0, words * sizeof *number->words);
    number->len += words;
}

static int compare(const natural *a, const natural *b) {
    if (a->len != b->len) return a->len < b->len ? -1 : 1;
    for (size_t i = a->len; i-- > 0;) {
        if (a->words[i] != b->words[i]) return a->words[i] < b->words[i] ? -1 : 1;
    }
    return 0;
}

/* Fills `out`; *exponent becomes that of the last digit taken. True: digits other than 0 were left out. */
static bool take_digits(natural *out, const uint8_t *at, const uint8_t *end, int64_t *exponent) {
    size_t count = 0;
    bool more = false;
    out->len = 0;
    for (; at < end; at++) {
        if (*at == '.') continue;
        if (count < MOST_DIGITS) {
            multiply_add(out, 10, (uint32_t)(*at - '0'));
            count += out->len > 0;
        } else {
            more = more || *at != '0';
            ++*exponent;
        }
    }
    return more;
}

/* The middle above a double, an odd number times the power of two that is returned. */
static int64_t take_middle(natural *out, chordal__binary below) {
    uint64_t mantissa = below.exponent ? below.mantissa | UINT64_C(1) << 52 : below.mantissa;
    uint64_t middle = mantissa * 2 + 1;
    out->words[0] = (uint32_t)middle;
    out->words[1] = (uint32_t)(middle >> 32);
    out->len = out->words[1] ? 2 : 1;
    return (below.exponent ? below.exponent : 1) - 1076;
}

bool chordal__exceeds_half(const uint8_t *at, const uint8_t *end, int64_t exponent, chordal__binary below) {
    natural decimal, middle;
    bool more = take_digits(&decimal, at, end, &exponent);
    int64_t twos = exponent - take_middle(&middle, below); /* on the decimal's side */
    if (exponent >= 0) {
        multiply_power_of_five(&decimal, (uint64_t)exponent);
    } else {
        multiply_power_of_five(&middle, (uint64_t)-exponent);
    }
    if (twos >= 0) {
        shift_left(&decimal, (uint64_t)twos);
    } else {
        shift_left(&middle, (uint64_t)-twos);
    }
    int order = compare(&decimal, &middle);
    return order > 0 || (order == 0 && (more || (below.mantissa & 1)));
}
