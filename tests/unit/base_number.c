/* Numbers, against the C library's own reading and printing. */
#include "base/base.h"
#include "chordal/value.h"
#include "check.h"

#include <math.h>

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

static double real_of_bits(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static chordal__number read_number(const char *text) {
    chordal__number number = {0};
    int code = 0;
    size_t taken = chordal__number_read((const uint8_t *)text, strlen(text), &number, &code);
    if (taken != strlen(text)) CHECK_FAIL("\"%.60s\" took %zu, code %d", text, taken, code);
    return number;
}

/* In a block of its own size, so that the address sanitizer sees a read past the end. */
static int read_code(const char *text, size_t len, size_t *out_taken) {
    chordal__number number;
    int code = 0;
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    *out_taken = chordal__number_read(copy, len, &number, &code);
    free(copy);
    return code;
}

static double as_real(const chordal__number *number) {
    if (number->kind == CHORDAL_KIND_INTEGER) return (double)number->as.integer;
    if (number->kind == CHORDAL_KIND_UNSIGNED) return (double)number->as.unsigned_integer;
    return number->as.real;
}

/* Text with a point or an exponent is the double that strtod reads, canonical. */
static void check_real(const char *text) {
    double wanted = strtod(text, NULL);
    chordal__number number = {0};
    int code = 0;
    size_t taken = chordal__number_read((const uint8_t *)text, strlen(text), &number, &code);
    if (isinf(wanted)) {
        if (taken || code != CHORDAL_E_NUMBER) CHECK_FAIL("\"%.60s\" is beyond doubles", text);
        return;
    }
    if (taken != strlen(text)) CHECK_FAIL("\"%.60s\" took %zu, code %d", text, taken, code);
    bool integer = fabs(wanted) <= 0x1p53 && wanted == floor(wanted);
    if ((number.kind == CHORDAL_KIND_INTEGER) != integer) CHECK_FAIL("\"%.60s\" has kind %d", text, number.kind);
    if (as_real(&number) != wanted) CHECK_FAIL("\"%.60s\" is %.17g, not %.17g", text, as_real(&number), wanted);
}

static void write_text(const chordal__number *number, char out[32]) {
    memset(out, 'x', 32);
    size_t len = chordal__number_write(number, out);
    if (len > CHORDAL__NUMBER_TEXT || out[CHORDAL__NUMBER_TEXT] != 'x') CHECK_FAIL("%zu bytes", len);
    out[len] = 0;
}

static size_t significant(const char *text) {
    size_t first = 0, last = 0, count = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9') continue;
        count++;
        if (*text != '0') first = first ? first : count, last = count;
    }
    return first ? last - first + 1 : 0;
}

/* Reads back to the same bits and kind, with as few digits as printf needs, and as near as it gets. */
static void check_written(double real) {
    chordal__number number;
    if (!chordal__number_of_double(real, &number)) return;
    char text[32], printed[40];
    write_text(&number, text);
    chordal__number back = read_number(text);
    if (back.kind != number.kind || as_real(&back) != real) CHECK_FAIL("%.17g written %s", real, text);
    if (number.kind != CHORDAL_KIND_DOUBLE) return;
    if (bits_of(strtod(text, NULL)) != bits_of(real)) CHECK_FAIL("%.17g written %s for strtod", real, text);
    int digits = (int)significant(text);
    if (digits > 1) {
        snprintf(printed, sizeof printed, "%.*e", digits - 2, real);
        if (strtod(printed, NULL) == real) CHECK_FAIL("%s could be %s", text, printed);
    }
    snprintf(printed, sizeof printed, "%.*e", digits - 1, real);
    if (strtod(printed, NULL) == real && strtold(text, NULL) != strtold(printed, NULL))
        CHECK_FAIL("%s is farther than %s", text, printed);
}

static void check_all(double real) {
    char text[1200];
    if (!isfinite(real)) return;
    check_written(real);
    for (int digits = 15; digits <= 20; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, real);
        check_real(text);
    }
}

TEST(random_bits) {
    for (int i = 0; i < 60000; i++) check_all(real_of_bits(random_word()));
}

TEST(random_near_integers) {
    for (int i = 0; i < 20000; i++) {
        double real = (double)random_word() / (double)(UINT64_C(1) << (random_word() % 64));
        check_all(real);
        check_all(-real);
        check_all(nextafter((double)(random_word() >> (random_word() % 64)), 1e300));
    }
}

TEST(powers_and_neighbours) {
    for (int e = -1074; e < 1024; e++) {
        double real = ldexp(1, e);
        check_all(real), check_all(nextafter(real, 0)), check_all(nextafter(real, INFINITY));
    }
    for (int e = -330; e < 312; e++) {
        char text[32];
        for (int d = 1; d < 10; d++) {
            snprintf(text, sizeof text, "%de%d", d, e);
            check_real(text);
            double real = strtod(text, NULL);
            check_all(real), check_all(nextafter(real, 0)), check_all(nextafter(real, INFINITY));
        }
    }
}

/* The exact middle of two doubles, and a hair to its sides, in up to 770 digits. */
static void check_middle(uint64_t bits) {
    char text[1300];
    double below = real_of_bits(bits), above = real_of_bits(bits + 1);
    if (!isfinite(below)) return;
    long double middle = isfinite(above) ? ((long double)below + (long double)above) / 2 : 0x1.fffffffffffff8p1023L;
    int len = snprintf(text, sizeof text, "%.780Le", middle);
    check_real(text);
    char *exponent = strchr(text, 'e'), tail[32];
    snprintf(tail, sizeof tail, "%s", exponent);
    snprintf(exponent, sizeof text - (size_t)len, "00000000001%s", tail);
    check_real(text);
    char *last = exponent - 1;
    while (*last == '0' || *last == '.') last--;
    --*last;
    check_real(text);
}

TEST(middles) {
    for (uint64_t bits = 0; bits < 200; bits++) check_middle(bits);
    for (int i = 0; i < 6000; i++) check_middle(random_word() >> 1);
    for (uint64_t e = 0; e < 2047; e++) {
        check_middle(e << 52), check_middle(e << 52 | 1), check_middle((e << 52) - 1 + !e);
    }
    check_middle(bits_of(0x1.fffffffffffffp1023));
}

TEST(random_texts) {
    char text[256];
    for (int i = 0; i < 60000; i++) {
        size_t at = 0, digits = 1 + random_word() % (i % 4 ? 22 : 120);
        size_t point = random_word() % (digits + 1);
        if (random_word() % 2) text[at++] = '-';
        if (!point) text[at++] = '0', text[at++] = '.';
        for (size_t d = 0; d < digits; d++) {
            if (d && d == point) text[at++] = '.';
            text[at++] = (char)('0' + (d || !point ? random_word() % 10 : 1 + random_word() % 9));
        }
        snprintf(text + at, sizeof text - at, "e%d", (int)(random_word() % 720) - 360 - (int)point);
        check_real(text);
    }
}

typedef struct exact_case {
    const char *text;
    uint8_t kind;
    uint64_t value; /* integer bits or double bits */
} exact_case;

TEST(exact) {
    const exact_case cases[] = {
        {"0", CHORDAL_KIND_INTEGER, 0},
        {"-0", CHORDAL_KIND_INTEGER, 0},
        {"-0.0", CHORDAL_KIND_INTEGER, 0},
        {"0e999999999999999999999999", CHORDAL_KIND_INTEGER, 0},
        {"1e-999999999999999999999999", CHORDAL_KIND_INTEGER, 0},
        {"-1e-400", CHORDAL_KIND_INTEGER, 0},
        {"1.0", CHORDAL_KIND_INTEGER, 1},
        {"100.0", CHORDAL_KIND_INTEGER, 100},
        {"1E+2", CHORDAL_KIND_INTEGER, 100},
        {"-12.5e1", CHORDAL_KIND_INTEGER, (uint64_t)-125},
        {"9007199254740992.0", CHORDAL_KIND_INTEGER, UINT64_C(9007199254740992)},
        {"9007199254740993.0", CHORDAL_KIND_INTEGER, UINT64_C(9007199254740992)},
        {"9007199254740993", CHORDAL_KIND_INTEGER, UINT64_C(9007199254740993)},
        {"-9007199254740993", CHORDAL_KIND_INTEGER, (uint64_t)-INT64_C(9007199254740993)},
        {"9007199254740994.0", CHORDAL_KIND_DOUBLE, UINT64_C(0x4340000000000001)},
        {"9223372036854775807", CHORDAL_KIND_INTEGER, INT64_MAX},
        {"9223372036854775808", CHORDAL_KIND_UNSIGNED, UINT64_C(1) << 63},
        {"-9223372036854775808", CHORDAL_KIND_INTEGER, UINT64_C(1) << 63},
        {"-9223372036854775809", CHORDAL_KIND_DOUBLE, UINT64_C(0xc3e0000000000000)},
        {"9999999999999999999", CHORDAL_KIND_UNSIGNED, UINT64_C(9999999999999999999)},
        {"10000000000000000000", CHORDAL_KIND_UNSIGNED, UINT64_C(10000000000000000000)},
        {"18446744073709551615", CHORDAL_KIND_UNSIGNED, UINT64_MAX},
        {"18446744073709551616", CHORDAL_KIND_DOUBLE, UINT64_C(0x43f0000000000000)},
        {"19999999999999999999", CHORDAL_KIND_DOUBLE, UINT64_C(0x43f158e460913d00)},
        {"20000000000000000000", CHORDAL_KIND_DOUBLE, UINT64_C(0x43f158e460913d00)},
        {"-18446744073709551615", CHORDAL_KIND_DOUBLE, UINT64_C(0xc3f0000000000000)},
        {"18446744073709551615.0", CHORDAL_KIND_DOUBLE, UINT64_C(0x43f0000000000000)},
        {"1e22", CHORDAL_KIND_DOUBLE, UINT64_C(0x4480f0cf064dd592)},
        {"1.7976931348623157e308", CHORDAL_KIND_DOUBLE, UINT64_C(0x7fefffffffffffff)},
        {"1.7976931348623158e308", CHORDAL_KIND_DOUBLE, UINT64_C(0x7fefffffffffffff)},
        {"5e-324", CHORDAL_KIND_DOUBLE, 1},
        {"2.2250738585072011e-308", CHORDAL_KIND_DOUBLE, UINT64_C(0x000fffffffffffff)},
        {"0.1", CHORDAL_KIND_DOUBLE, UINT64_C(0x3fb999999999999a)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chordal__number number = read_number(cases[i].text);
        uint64_t value = number.kind == CHORDAL_KIND_INTEGER    ? (uint64_t)number.as.integer
                         : number.kind == CHORDAL_KIND_UNSIGNED ? number.as.unsigned_integer
                                                                : bits_of(number.as.real);
        if (number.kind != cases[i].kind || value != cases[i].value)
            CHECK_FAIL("%s has kind %d, value %" PRIx64, cases[i].text, number.kind, value);
    }
}

TEST(malformed) {
    const char *cases[] = {"+1",  ".5",       "-.5", "1.e5", "1ex",  "e5",  "x",
                           "--1", "Infinity", "NaN", "1.x",  "1e.5", "1e++"};
    const char *cut_off[] = {"", "-", "1.", "-1.", "1e", "1e+", "1.5e-"};
    size_t taken;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = read_code(cases[i], strlen(cases[i]), &taken);
        if (taken || code != CHORDAL_E_SYNTAX) CHECK_FAIL("\"%s\" took %zu, code %d", cases[i], taken, code);
    }
    for (size_t i = 0; i < sizeof cut_off / sizeof *cut_off; i++) {
        CHECK_INT(read_code(cut_off[i], strlen(cut_off[i]), &taken), CHORDAL_E_TRUNCATED);
        CHECK_INT(taken, 0);
    }
    const char *beyond[] = {"1e309", "-1e309", "1.7976931348623159e308", "1e99999999999999999999", "0.00001e400"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        CHECK_INT(read_code(beyond[i], strlen(beyond[i]), &taken), CHORDAL_E_NUMBER);
        CHECK_INT(taken, 0);
    }
    char digits[400];
    memset(digits, '9', sizeof digits);
    CHECK_INT(read_code(digits, sizeof digits, &taken), CHORDAL_E_NUMBER);
}

TEST(stops_where_it_ends) {
    const char *text = "-123.5e1";
    const size_t taken_at[] = {0, 0, 2, 3, 4, 0, 6, 0, 8};
    size_t taken;
    for (size_t len = 0; len <= strlen(text); len++) {
        read_code(text, len, &taken);
        CHECK_INT(taken, taken_at[len]);
    }
    read_code("01", 2, &taken);
    CHECK_INT(taken, 1);
    read_code("12345678,1", 10, &taken);
    CHECK_INT(taken, 8);
    read_code("1.5]", 4, &taken);
    CHECK_INT(taken, 3);
}

TEST(long_zeros) {
    enum { ZEROS = 5000 };
    static char text[ZEROS * 2];
    memset(text, '0', sizeof text);
    text[1] = '.';
    snprintf(text + ZEROS, sizeof text - ZEROS, "123e%d", ZEROS + 1);
    chordal__number number = read_number(text);
    CHECK_INT(number.kind, CHORDAL_KIND_INTEGER);
    CHECK_INT(number.as.integer, 123);
    memset(text, '0', sizeof text);
    text[0] = '7';
    snprintf(text + ZEROS, sizeof text - ZEROS, "e-%d", ZEROS - 1);
    number = read_number(text);
    CHECK_INT(number.as.integer, 7);
}

TEST(written) {
    const struct {
        double real;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {-0.5, "-0.5"},
                 {1.0 / 3, "0.3333333333333333"},
                 {123.456, "123.456"},
                 {1e-6 * 1.5, "0.0000015"},
                 {1e-6, "0.000001"},
                 {1e-7, "1e-7"},
                 {1.5e-7, "1.5e-7"},
                 {5e-324, "5e-324"},
                 {1e22, "1e22"},
                 {1e21, "1e21"},
                 {9007199254740994.0, "9.007199254740994e15"},
                 {-9007199254740994.0, "-9.007199254740994e15"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {-1.2345678901234567e-308, "-1.2345678901234567e-308"},
                 {2e16, "2e16"},
                 {9007199254740992.0, "9007199254740992"},
                 {-100.0, "-100"},
                 {-0.0, "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chordal__number number;
        char text[32];
        CHECK(chordal__number_of_double(cases[i].real, &number));
        write_text(&number, text);
        CHECK_TEXT(text, cases[i].text);
    }
}

TEST(integers_written) {
    char text[32], wanted[32];
    for (int i = 0; i < 30000; i++) {
        uint64_t word = random_word() >> (random_word() % 64);
        chordal__number number = {.kind = CHORDAL_KIND_INTEGER, .as.integer = (int64_t)word};
        snprintf(wanted, sizeof wanted, "%" PRId64, (int64_t)word);
        write_text(&number, text);
        CHECK_TEXT(text, wanted);
        chordal__number back = read_number(text);
        CHECK_INT(back.kind, CHORDAL_KIND_INTEGER);
        CHECK_INT(back.as.integer, (int64_t)word);
        word |= UINT64_C(1) << 63;
        number = (chordal__number){.kind = CHORDAL_KIND_UNSIGNED, .as.unsigned_integer = word};
        snprintf(wanted, sizeof wanted, "%" PRIu64, word);
        write_text(&number, text);
        CHECK_TEXT(text, wanted);
        back = read_number(text);
        CHECK_INT(back.kind, CHORDAL_KIND_UNSIGNED);
        CHECK(back.as.unsigned_integer == word);
    }
}

TEST(not_numbers) {
    chordal__number number;
    CHECK(!chordal__number_of_double(NAN, &number));
    CHECK(!chordal__number_of_double(INFINITY, &number));
    CHECK(!chordal__number_of_double(-INFINITY, &number));
}

/* In rising order; each compares with each by its place. */
TEST(order) {
    const char *rising[] = {"-1e300",
                            "-18446744073709551616",
                            "-9223372036854775808",
                            "-9223372036854775807",
                            "-9007199254740993",
                            "-2",
                            "-1.5",
                            "-1",
                            "-0.25",
                            "0",
                            "5e-324",
                            "0.5",
                            "1",
                            "1.5",
                            "9007199254740992",
                            "9007199254740993",
                            "9007199254740994.0",
                            "9007199254740995",
                            "9223372036854774784.0",
                            "9223372036854775807",
                            "9223372036854775808",
                            "9223372036854775809",
                            "9223372036854777856.0",
                            "18446744073709549568.0",
                            "18446744073709551615",
                            "18446744073709551616",
                            "1e300"};
    const size_t count = sizeof rising / sizeof *rising;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            chordal__number a = read_number(rising[i]), b = read_number(rising[j]);
            int wanted = (i > j) - (i < j);
            if (chordal__number_compare(&a, &b) != wanted) CHECK_FAIL("%s with %s", rising[i], rising[j]);
        }
    }
    chordal__number whole = read_number("9223372036854775808"), real = read_number("9223372036854775808.0");
    CHECK_INT(whole.kind, CHORDAL_KIND_UNSIGNED);
    CHECK_INT(real.kind, CHORDAL_KIND_DOUBLE);
    CHECK_INT(chordal__number_compare(&whole, &real), 0);
    CHECK_INT(chordal__number_compare(&real, &whole), 0);
}

TESTS({"random_bits", random_bits}, {"random_near_integers", random_near_integers},
      {"powers_and_neighbours", powers_and_neighbours}, {"middles", middles}, {"random_texts", random_texts},
      {"exact", exact}, {"malformed", malformed}, {"stops_where_it_ends", stops_where_it_ends},
      {"long_zeros", long_zeros}, {"written", written}, {"integers_written", integers_written},
      {"not_numbers", not_numbers}, {"order", order})
