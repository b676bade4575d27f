/* The error table. */
#include "base/base.h"
#include "check.h"

#include <ctype.h>

#define ROW(name, number, text) {#name, number, text},
static const struct {
    const char *name;
    int code;
    const char *text;
} rows[] = {CHORDAL_ERRORS(ROW)};

TEST(names) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lower[64];
        size_t len = strlen(rows[i].name);
        for (size_t c = 0; c <= len; c++) lower[c] = (char)tolower(rows[i].name[c]);
        CHECK_TEXT(chordal_error_name(rows[i].code), lower);
        CHECK_TEXT(chordal_error_text(rows[i].code), rows[i].text);
        CHECK_INT(chordal__error_code(lower, len), rows[i].code);
        CHECK_INT(chordal__error_code(lower, len - 1), 0);
        for (size_t j = 0; j < i; j++) CHECK(rows[i].code != rows[j].code);
    }
    CHECK_TEXT(chordal_error_name(0), "ok");
    CHECK_TEXT(chordal_error_name(-9999), "unknown");
    CHECK_INT(chordal__error_code("", 0), 0);
    CHECK_INT(chordal__error_code("unknown", 7), 0);
}

TEST(fills) {
    chordal_error error;
    memset(&error, 0xaa, sizeof error);
    CHECK_INT(chordal__fail(&error, CHORDAL_E_SYNTAX, 17, "a comma"), CHORDAL_E_SYNTAX);
    CHECK_INT(error.code, CHORDAL_E_SYNTAX);
    CHECK_INT(error.reserved, 0);
    CHECK_INT(error.position, 17);
    CHECK_TEXT(error.detail, "a comma");
    CHECK_INT(error.detail[sizeof error.detail - 1], 0);
    CHECK_INT(chordal__fail(NULL, CHORDAL_E_LIMIT, 0, NULL), CHORDAL_E_LIMIT);
    chordal__fail(&error, CHORDAL_E_LIMIT, 0, NULL);
    CHECK_TEXT(error.detail, "a named limit is reached");
    chordal__fail(&error, CHORDAL_E_STATE, 3, error.detail);
    CHECK_TEXT(error.detail, "a named limit is reached");
    CHECK_INT(error.position, 3);
}

TEST(cuts_between_code_points) {
    chordal_error error;
    char text[200];
    memset(text, 'x', sizeof text);
    memcpy(text + 110, "\xe2\x82\xac", 3);
    text[199] = 0;
    chordal__fail(&error, CHORDAL_E_SYNTAX, 0, text);
    CHECK_INT(strlen(error.detail), 110);
    text[110] = 'x', text[111] = 0;
    chordal__fail(&error, CHORDAL_E_SYNTAX, 0, text);
    CHECK_INT(strlen(error.detail), 111);
}

TESTS({"names", names}, {"fills", fills}, {"cuts_between_code_points", cuts_between_code_points})
