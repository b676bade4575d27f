/* wire_token.c: JSON piece by piece; the extent of a value is judged as the reader of values judges it. */
#include "check.h"
#include "value/value.h"
#include "wire/token.h"

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t end) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % end;
}

/* ---- the extent of a value ---- */

static void check_extent(const char *json, size_t len, int code, uint64_t position) {
    chordal__reader in = chordal__reader_of((const uint8_t *)json, strlen(json));
    size_t found = 0;
    const uint8_t *start = chordal__token_value(&in, 8, &found);
    if (in.failed != code) CHECK_FAIL("%s: %d, not %d", json, in.failed, code);
    if (code == 0) CHECK_INT(found, len);
    CHECK((start == NULL) == (code != 0));
    if (chordal__reader_position(&in) != position)
        CHECK_FAIL("%s: at %" PRIu64 ", not %" PRIu64, json, chordal__reader_position(&in), position);
}

TEST(extents) {
    check_extent("1,2", 1, 0, 1);
    check_extent(" [1 , 2] ,", 7, 0, 8);
    check_extent("\"]\\\"[\"]", 6, 0, 6);
    check_extent("\"\\\\\"]", 4, 0, 4);
    check_extent("{\"}\":\"{\"}}", 9, 0, 9);
    check_extent("-0.5e+7x", 7, 0, 7);
    check_extent("0]", 1, 0, 1);
    check_extent("01", 1, 0, 1);
    check_extent("true,", 4, 0, 4);
    check_extent("[[[[[[[[]]]]]]]]", 16, 0, 16);
    check_extent("[[[[[[[[[", 0, CHORDAL_E_DEPTH, 8);
    check_extent("{\"a\":[{\"b\":[{\"c\":[{\"d\":[{", 0, CHORDAL_E_DEPTH, 24);
    check_extent("", 0, CHORDAL_E_TRUNCATED, 0);
    check_extent("[1", 0, CHORDAL_E_TRUNCATED, 2);
    check_extent("[1}", 0, CHORDAL_E_SYNTAX, 2);
    check_extent("{1", 0, CHORDAL_E_SYNTAX, 1);
    check_extent("]", 0, CHORDAL_E_SYNTAX, 0);
    check_extent("\"\\u00", 0, CHORDAL_E_TRUNCATED, 5);
    check_extent("\"\\u00x0\"", 0, CHORDAL_E_SYNTAX, 5);
    check_extent("\"\n\"", 0, CHORDAL_E_SYNTAX, 1);
}

static bool same_verdict(int extent, int value) {
    /* A number that is malformed and cut off: either may be told. */
    if (value == CHORDAL_E_TRUNCATED && extent == CHORDAL_E_SYNTAX) return true;
    if (value == CHORDAL_E_DUPLICATE_KEY || value == CHORDAL_E_NUMBER || value == CHORDAL_E_UTF8) return true;
    return extent == value;
}

/* Spoil JSON: whatever comes of it, both readers find the same extent, or the same fault at the same place. */
TEST(extents_and_values_agree) {
    static const char *const seeds[] = {"[1,-2.5e3,{\"a\":[true,false,null],\"b\":\"\\u00e4\\n\"},[[]],{}]",
                                        "{\"k\":{\"l\":[\"\",\"\\\\\",0.0,1E-5]},\"m\":[{}]}",
                                        "[\"]\",\"}\",\"\\\"\",\",\"]"};
    static const char letters[] = "[]{}\",:\\tfn0-.e+ 1ux";
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal__limits limits = {.depth = 6, .size = 4096};
    size_t good = 0, bad = 0;
    for (int round = 0; round < 60000; round++) {
        char json[128];
        strcpy(json, seeds[random_below(3)]);
        size_t len = strlen(json);
        for (uint64_t times = random_below(3); times--;)
            json[random_below(len)] = letters[random_below(sizeof letters - 1)];
        if (!random_below(3)) len = random_below(len + 1);
        uint8_t *exact = malloc(len + (len == 0));
        memcpy(exact, json, len);
        chordal__reader extent = chordal__reader_of(exact, len), value = extent;
        chordal__node *node = NULL;
        chordal_error error = {0};
        size_t found;
        chordal__token_value(&extent, limits.depth, &found);
        int code = chordal__json_read_value(memory, &value, &limits, &node, &error);
        uint64_t position = code == 0 ? chordal__reader_position(&value) : error.position;
        bool told = code == 0 || code == extent.failed;
        if (!same_verdict(extent.failed, code) || (told && position != chordal__reader_position(&extent)))
            CHECK_FAIL("%.*s: %d at %" PRIu64 ", but %d at %" PRIu64, (int)len, json, extent.failed,
                       chordal__reader_position(&extent), code, position);
        good += code == 0, bad += code != 0;
        chordal__node_unref(memory, node);
        free(exact);
    }
    CHECK(good > 5000 && bad > 5000);
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
}

/* ---- numbers, strings, arrays ---- */

static void check_number(const char *json, uint64_t value, int code, uint64_t position) {
    chordal__reader in = chordal__reader_of((const uint8_t *)json, strlen(json));
    CHECK_INT(chordal__token_number(&in), value);
    if (in.failed != code) CHECK_FAIL("%s: %d, not %d", json, in.failed, code);
    CHECK_INT(chordal__reader_position(&in), position);
}

TEST(numbers) {
    check_number("0", 0, 0, 1);
    check_number(" 17,", 17, 0, 3);
    check_number("00", 0, 0, 1);
    check_number("9007199254740991", UINT64_C(9007199254740991), 0, 16);
    check_number(" 9007199254740992", 0, CHORDAL_E_RANGE, 1);
    check_number("99999999999999999999999999", 0, CHORDAL_E_RANGE, 0);
    check_number("-1", 0, CHORDAL_E_SYNTAX, 0);
    check_number("", 0, CHORDAL_E_TRUNCATED, 0);
    check_number("1.5", 1, 0, 1);
    check_number("x", 0, CHORDAL_E_SYNTAX, 0);
}

static void check_string(const char *json, const char *plain) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal__buffer out;
    chordal__reader in = chordal__reader_of((const uint8_t *)json, strlen(json));
    size_t len;
    bool escaped;
    chordal__buffer_init(&out, memory, SIZE_MAX);
    const uint8_t *string = chordal__token_string(&in, &len, &escaped);
    CHECK_INT(in.failed, 0);
    CHECK_INT(escaped, strchr(json, '\\') != NULL);
    if (string) chordal__json_unescape(&out, string, len);
    CHECK_BYTES(out.data, out.len, plain, strlen(plain));
    chordal__buffer_dispose(&out);
    chordal__memory_unref(memory);
}

TEST(strings) {
    check_string("\"\"", "");
    check_string("\"a\xc3\xa4\"", "a\xc3\xa4");
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    check_string("\"\\u0041\\u00e4\\u20AC\"", "A\xc3\xa4\xe2\x82\xac");
    check_string("\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!");
    check_string("\"\\ud83d\"", "\xed\xa0\xbd");
    check_string("\"\\ud83d\\u0041\"", "\xed\xa0\xbd"
                                       "A");
    check_string("\"\\ud83d\\ud83d\\ude00\"", "\xed\xa0\xbd\xf0\x9f\x98\x80");
    check_string("\"\\ude00\\ud83d\"", "\xed\xb8\x80\xed\xa0\xbd");
}

TEST(strict_utf8) {
    static const struct {
        const char *data;
        size_t fault;
        bool valid;
    } cases[] = {{"", 0, true},
                 {"a\xc3\xa4\xf0\x9f\x98\x80", 7, true},
                 {"a\xed\x9f\xbf", 4, true},
                 {"a\xed\xa0\x80", 1, false},
                 {"\xff", 0, false},
                 {"ab\xed\xbf\xbf\xff", 2, false},
                 {"ab\xffq\xed\xa0\x80", 2, false},
                 {"\xed", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t fault = 99;
        CHECK_INT(chordal__token_utf8((const uint8_t *)cases[i].data, strlen(cases[i].data), &fault), cases[i].valid);
        CHECK_INT(fault, cases[i].fault);
    }
}

TEST(nothing_happens_after_a_failure) {
    chordal__reader in = chordal__reader_of((const uint8_t *)"x[1]", 4);
    size_t len;
    bool escaped;
    chordal__token_expect(&in, '[');
    CHECK_INT(in.failed, CHORDAL_E_SYNTAX);
    CHECK_INT(chordal__token_peek(&in), 0);
    CHECK(!chordal__token_is(&in, 'x') && !chordal__token_next(&in, 0));
    CHECK_INT(chordal__token_number(&in), 0);
    CHECK(!chordal__token_string(&in, &len, &escaped) && !chordal__token_value(&in, 5, &len));
    chordal__token_end(&in);
    CHECK_INT(in.failed, CHORDAL_E_SYNTAX);
    CHECK_INT(chordal__reader_position(&in), 0);
}

TESTS({"extents", extents}, {"extents and values agree", extents_and_values_agree}, {"numbers", numbers},
      {"strings", strings}, {"strict utf-8", strict_utf8},
      {"nothing happens after a failure", nothing_happens_after_a_failure})
