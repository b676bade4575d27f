/* check.h: what a C test needs. Each test file is a program: a list of TEST functions and a main made by TESTS. */
#ifndef CHORDAL_TESTS_CHECK_H
#define CHORDAL_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *check_name = "";
static int check_failures = 0;

#define CHECK_FAIL(...)                                                                                                \
    do {                                                                                                               \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, check_name);                                                \
        fprintf(stderr, __VA_ARGS__);                                                                                  \
        fputc('\n', stderr);                                                                                           \
        if (++check_failures > 20) exit(1);                                                                            \
    } while (0)

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) CHECK_FAIL("%s", #condition);                                                                \
    } while (0)

#define CHECK_INT(actual, expected)                                                                                    \
    do {                                                                                                               \
        int64_t check_a = (int64_t)(actual), check_e = (int64_t)(expected);                                            \
        if (check_a != check_e) CHECK_FAIL("%s is %" PRId64 ", not %" PRId64, #actual, check_a, check_e);              \
    } while (0)

#define CHECK_BYTES(actual, actual_len, expected, expected_len)                                                        \
    do {                                                                                                               \
        size_t check_al = (actual_len), check_el = (expected_len);                                                     \
        if (check_al != check_el || (check_al && memcmp((actual), (expected), check_al)))                              \
            CHECK_FAIL("%s is \"%.*s\" (%zu), not \"%.*s\" (%zu)", #actual, (int)check_al, (const char *)(actual),     \
                       check_al, (int)check_el, (const char *)(expected), check_el);                                   \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                                                   \
    do {                                                                                                               \
        const char *check_at = (actual), *check_et = (expected);                                                       \
        if (strcmp(check_at, check_et) != 0) CHECK_FAIL("%s is \"%s\", not \"%s\"", #actual, check_at, check_et);      \
    } while (0)

typedef struct check_case {
    const char *name;
    void (*run)(void);
} check_case;

#define TEST(name) static void name(void)

/* TESTS({"name", function}, …): the main. A first argument runs only cases whose name contains it. */
#define TESTS(...)                                                                                                     \
    int main(int argc, char **argv) {                                                                                  \
        const check_case cases[] = {__VA_ARGS__};                                                                      \
        int failed = 0, ran = 0;                                                                                       \
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {                                                    \
            if (argc > 1 && !strstr(cases[i].name, argv[1])) continue;                                                 \
            check_name = cases[i].name, check_failures = 0;                                                            \
            cases[i].run();                                                                                            \
            ran++, failed += check_failures != 0;                                                                      \
            if (check_failures) printf("FAILED %s\n", check_name);                                                     \
        }                                                                                                              \
        printf("%d passed, %d failed\n", ran - failed, failed);                                                        \
        return failed != 0;                                                                                            \
    }

#endif
