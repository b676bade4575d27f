/* number.c: the canonical kind of a number, and order by exact value. */
#include "base/base.h"
#include "chordal/value.h"

#define EXACT_LIMIT 9007199254740992.0 /* 2^53 */

bool chordal__number_of_double(double real, chordal__number *out) {
    if (real >= -EXACT_LIMIT && real <= EXACT_LIMIT) {
        int64_t integer = (int64_t)real;
        if ((double)integer == real) {
            *out = (chordal__number){.kind = CHORDAL_KIND_INTEGER, .as.integer = integer};
            return true;
        }
    } else if (!(real - real == 0)) {
        return false; /* NaN or an infinity */
    }
    *out = (chordal__number){.kind = CHORDAL_KIND_DOUBLE, .as.real = real};
    return true;
}

static int compare_integers(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int compare_unsigned(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_reals(double a, double b) {
    return (a > b) - (a < b);
}

/* An integer of either kind with a double: by the whole part, then by what the cut took away. */
static int compare_mixed(const chordal__number *a, double real) {
    int order;
    double whole;
    if (a->kind == CHORDAL_KIND_INTEGER) {
        if (real >= 0x1p63) return -1;
        if (real < -0x1p63) return 1;
        order = compare_integers(a->as.integer, (int64_t)real);
        whole = (double)(int64_t)real;
    } else {
        if (real >= 0x1p64) return -1;
        if (real < 0) return 1;
        order = compare_unsigned(a->as.unsigned_integer, (uint64_t)real);
        whole = (double)(uint64_t)real;
    }
    return order ? order : compare_reals(whole, real);
}

int chordal__number_compare(const chordal__number *a, const chordal__number *b) {
    if (a->kind == CHORDAL_KIND_DOUBLE) {
        return b->kind == CHORDAL_KIND_DOUBLE ? compare_reals(a->as.real, b->as.real) : -compare_mixed(b, a->as.real);
    }
    if (b->kind == CHORDAL_KIND_DOUBLE) return compare_mixed(a, b->as.real);
    /* Every UNSIGNED is above every INTEGER. */
    if (a->kind != b->kind) return a->kind == CHORDAL_KIND_UNSIGNED ? 1 : -1;
    if (a->kind == CHORDAL_KIND_INTEGER) return compare_integers(a->as.integer, b->as.integer);
    return compare_unsigned(a->as.unsigned_integer, b->as.unsigned_integer);
}
