/* sum.c: sums of doubles without rounding: what is added and taken away again leaves no trace, in whatever order. */
#include "store/query.h"

#define MANTISSA 52
#define EXPONENTS 0x7ff

static void carry_up(chordal__sum *sum, size_t limb, uint64_t low, uint64_t high) {
    uint64_t add[2] = {low, high}, carry = 0;
    for (size_t i = limb; i < CHORDAL__SUM_LIMBS && (i < limb + 2 || carry); i++) {
        uint64_t more = i < limb + 2 ? add[i - limb] : 0, with = sum->limbs[i] + carry;
        carry = with < carry;
        sum->limbs[i] = with + more;
        carry += sum->limbs[i] < with;
    }
}

static void borrow_up(chordal__sum *sum, size_t limb, uint64_t low, uint64_t high) {
    uint64_t take[2] = {low, high}, borrow = 0;
    for (size_t i = limb; i < CHORDAL__SUM_LIMBS && (i < limb + 2 || borrow); i++) {
        uint64_t less = i < limb + 2 ? take[i - limb] : 0, without = sum->limbs[i] - borrow;
        borrow = without > sum->limbs[i];
        sum->limbs[i] = without - less;
        borrow += sum->limbs[i] > without;
    }
}

void chordal__sum_add(chordal__sum *sum, double real, int sign) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    uint64_t exponent = bits >> MANTISSA & EXPONENTS, mantissa = bits & ((UINT64_C(1) << MANTISSA) - 1);
    if (exponent) mantissa |= UINT64_C(1) << MANTISSA;
    size_t shift = exponent ? (size_t)exponent - 1 : 0, within = shift % 64;
    uint64_t low = mantissa << within, high = within ? mantissa >> (64 - within) : 0;
    if ((bits >> 63 != 0) != (sign < 0))
        borrow_up(sum, shift / 64, low, high);
    else
        carry_up(sum, shift / 64, low, high);
}

static void negate(chordal__sum *sum) {
    bool carry = true;
    for (size_t i = 0; i < CHORDAL__SUM_LIMBS; i++) {
        sum->limbs[i] = ~sum->limbs[i] + carry;
        carry = carry && !sum->limbs[i];
    }
}

static bool bit_at(const chordal__sum *sum, size_t bit) {
    return sum->limbs[bit / 64] >> bit % 64 & 1;
}

static bool any_below(const chordal__sum *sum, size_t bit) {
    for (size_t i = 0; i < bit / 64; i++)
        if (sum->limbs[i]) return true;
    return (sum->limbs[bit / 64] & ((UINT64_C(1) << bit % 64) - 1)) != 0;
}

/* Bits of a positive one: where its highest bit is the mantissa's, they are what they count; above that 53 of them, to
 * the even one of two that are as near. */
static uint64_t round_bits(const chordal__sum *sum) {
    size_t top = CHORDAL__SUM_LIMBS * 64 - 1;
    while (top > MANTISSA && !bit_at(sum, top)) top--;
    if (top == MANTISSA) return sum->limbs[0];
    size_t shift = top - MANTISSA, within = shift % 64;
    uint64_t mantissa = sum->limbs[shift / 64] >> within;
    if (within > 11) mantissa |= sum->limbs[shift / 64 + 1] << (64 - within);
    bool half = bit_at(sum, shift - 1);
    mantissa += half && ((mantissa & 1) || any_below(sum, shift - 1));
    uint64_t bits = ((uint64_t)shift << MANTISSA) + mantissa, endless = (uint64_t)EXPONENTS << MANTISSA;
    return bits < endless ? bits : endless;
}

double chordal__sum_value(const chordal__sum *sum) {
    chordal__sum positive = *sum;
    bool negative = bit_at(sum, CHORDAL__SUM_LIMBS * 64 - 1);
    if (negative) negate(&positive);
    uint64_t bits = round_bits(&positive) | (uint64_t)negative << 63;
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}
