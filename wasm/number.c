/* number.c: JSON numbers in the WASM build: integers are read and written here, the others by JavaScript, whose numbers
 * round and print as ours do. */
#include "base/base.h"
#include "chordal/value.h"

#define IMPORT(name) __attribute__((import_module("chordal"), import_name(#name)))

/* The double nearest to a number's text, which is well formed. */
IMPORT(read_real) extern double read_real(const uint8_t *text, size_t len);
/* The shortest text of a finite double, in the form that chordal__number_write tells; its length. */
IMPORT(write_real) extern size_t write_real(double real, char *out);

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end) {
    while (at < end && (uint8_t)(*at - '0') <= 9) at++;
    return at;
}

/* Step over one or more digits; false: the first is missing at *at. */
static bool need_digits(const uint8_t **at, const uint8_t *end) {
    const uint8_t *first = *at;
    *at = skip_digits(first, end);
    return *at != first;
}

/* The end of a number in *at, else where a digit is missing. */
static bool find_end(const uint8_t **at, const uint8_t *end, bool *whole) {
    if (*at < end && **at == '-') ++*at;
    if (*at < end && **at == '0')
        ++*at;
    else if (!need_digits(at, end))
        return false;
    *whole = true;
    if (*at < end && **at == '.') {
        *whole = false;
        ++*at;
        if (!need_digits(at, end)) return false;
    }
    if (*at == end || (**at | 0x20) != 'e') return true;
    *whole = false;
    ++*at;
    if (*at < end && (**at == '-' || **at == '+')) ++*at;
    return need_digits(at, end);
}

/* False: beyond the integers. */
static bool read_integer(const uint8_t *at, const uint8_t *end, chordal__number *out) {
    bool negative = *at == '-';
    uint64_t value = 0, most = negative ? UINT64_C(1) << 63 : UINT64_MAX;
    for (at += negative; at < end; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (most - digit) / 10) return false;
        value = value * 10 + digit;
    }
    out->kind = !negative && value > INT64_MAX ? CHORDAL_KIND_UNSIGNED : CHORDAL_KIND_INTEGER;
    out->as.unsigned_integer = negative ? -value : value;
    return true;
}

size_t chordal__number_read(const uint8_t *text, size_t len, chordal__number *out, int *out_code) {
    const uint8_t *at = text, *end = text + len;
    bool whole;
    if (!find_end(&at, end, &whole)) {
        *out_code = at == end ? CHORDAL_E_TRUNCATED : CHORDAL_E_SYNTAX;
        return 0;
    }
    len = (size_t)(at - text);
    if (whole && read_integer(text, at, out)) return len;
    if (chordal__number_of_double(read_real(text, len), out)) return len;
    *out_code = CHORDAL_E_NUMBER;
    return 0;
}

size_t chordal__number_write(const chordal__number *number, char *out) {
    if (number->kind == CHORDAL_KIND_DOUBLE) return write_real(number->as.real, out);
    uint64_t value = number->as.unsigned_integer;
    size_t len = number->kind == CHORDAL_KIND_INTEGER && number->as.integer < 0;
    if (len) {
        value = -value;
        out[0] = '-';
    }
    for (uint64_t rest = value; rest >= 10; rest /= 10) len++;
    size_t at = len;
    do out[at--] = (char)('0' + value % 10);
    while (value /= 10);
    return len + 1;
}
