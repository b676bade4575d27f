/* vectors_values.c: the vectors of values. */
#include "vectors.h"

enum { JSON, PACKED };

static int read_value(int format, bytes data, const chordal__limits *limits, chordal__node **out,
                      chordal_error *error) {
    if (format == JSON) return chordal__json_read(memory, data.data, data.len, limits, out, error);
    return chordal__pack_read(memory, data.data, data.len, limits, out, error);
}

static chordal__buffer written(int format, const chordal__node *value) {
    chordal__buffer out;
    chordal__buffer_init(&out, memory, SIZE_MAX);
    if (format == JSON)
        chordal__json_write(&out, value);
    else
        chordal__pack_write(&out, value);
    CHECK_INT(out.failed, 0);
    return out;
}

/* Rewrite from one format to the other without a tree. */
static int rewrite(int from, bytes data, const chordal__limits *limits, chordal__buffer *out, chordal_error *error) {
    chordal__reader reader = chordal__reader_of(data.data, data.len);
    chordal__buffer_init(out, memory, SIZE_MAX);
    if (from == JSON) return chordal__pack_from_json(out, &reader, limits, error);
    return chordal__json_from_pack(out, &reader, limits, error);
}

static void check_written(const chordal__node *from, int format, const chordal__node *value) {
    bytes expected = format == JSON ? text_of(need(from, "json")) : hex_of(need(from, "packed"));
    chordal__buffer out = written(format, value);
    CHECK_BYTES(out.data, out.len, expected.data, expected.len);
    chordal__buffer_dispose(&out);
    free(expected.data);
}

/* `data` is read as `value`; where it is what is written it also rewrites to its other form. Takes the data. */
static void check_read(const chordal__node *from, int format, bytes data, const chordal__node *value, bool canonical) {
    chordal__limits limits = limits_of(from);
    chordal__node *read = NULL;
    chordal_error error = {0};
    chordal__buffer other;
    int code = read_value(format, data, &limits, &read, &error);
    if (code != 0)
        CHECK_FAIL("%.*s: %s at %" PRIu64, (int)data.len, (const char *)data.data, chordal_error_name(code),
                   error.position);
    if (code == 0) CHECK(chordal__node_equal(read, value) && chordal__node_equal(value, read));
    if (code == 0) check_written(from, PACKED, read);
    code = rewrite(format, data, &limits, &other, &error);
    CHECK_INT(code, 0);
    bytes expected = format == JSON ? hex_of(need(from, "packed")) : text_of(need(from, "json"));
    if (canonical) CHECK_BYTES(other.data, other.len, expected.data, expected.len);
    free(expected.data);
    chordal__buffer_dispose(&other);
    chordal__node_unref(memory, read);
    free(data.data);
}

static void check_others(const chordal__node *from, const char *name, int format, bool hex, chordal__node *value) {
    const chordal__node *list = field(from, name);
    for (uint64_t i = 0; list && i < chordal__node_length(list); i++) {
        const chordal__node *one = chordal__node_at(list, i);
        check_read(from, format, hex ? hex_of(one) : text_of(one), value, true);
    }
}

static void check_digest(const chordal__node *from, const chordal__node *value) {
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, chordal__node_digest(value));
    bytes expected = text_of(need(from, "digest"));
    CHECK_TEXT(digest, (const char *)expected.data);
    free(expected.data);
}

/* Arguments cross the API packed: bytes are written beside values. */
static void check_arguments(const chordal__node *from) {
    chordal__buffer out;
    bytes expected = hex_of(need(from, "packed"));
    const chordal__node *list = need(from, "value");
    chordal__buffer_init(&out, memory, SIZE_MAX);
    chordal__pack_write_array(&out, chordal__node_length(list));
    for (uint64_t i = 0; i < chordal__node_length(list); i++) {
        chordal__node *one = chordal__node_at(list, i), *hex = tagged(one, "$bytes"), *value = native_of(one);
        bytes data = hex ? hex_of(hex) : (bytes){0};
        if (hex)
            chordal__pack_write_bytes(&out, data.data, data.len);
        else
            chordal__pack_write(&out, value);
        chordal__node_unref(memory, value);
        free(data.data);
    }
    CHECK_BYTES(out.data, out.len, expected.data, expected.len);
    chordal__buffer_dispose(&out);
    free(expected.data);
}

static void accept(const chordal__node *from) {
    check_fields(from, " name value packed json digest also_json also_packed also_json_hex reordered arguments ");
    if (is_true(from, "arguments")) {
        check_arguments(from);
        return;
    }
    chordal__node *value = native_of(need(from, "value"));
    check_written(from, JSON, value);
    check_written(from, PACKED, value);
    check_digest(from, value);
    check_read(from, JSON, text_of(need(from, "json")), value, true);
    check_read(from, PACKED, hex_of(need(from, "packed")), value, true);
    check_others(from, "also_json", JSON, false, value);
    check_others(from, "also_json_hex", JSON, true, value);
    check_others(from, "also_packed", PACKED, true, value);
    chordal__node_unref(memory, value);
}

static void refuse(const chordal__node *from) {
    check_fields(from, " name value packed json json_hex code position depth ");
    if (field(from, "value")) return; /* nothing native in C holds such a number */
    int format = field(from, "packed") ? PACKED : JSON;
    bytes data = field(from, "json") ? text_of(field(from, "json"))
                                     : hex_of(field(from, "json_hex") ? field(from, "json_hex") : need(from, "packed"));
    chordal__limits limits = limits_of(from);
    chordal__node *read = NULL;
    chordal_error error = {0};
    check_code(from, read_value(format, data, &limits, &read, &error), &error, "reading");
    CHECK(read == NULL);
    bool whole = is_text(need(from, "code"), "trailing"), twice = is_text(need(from, "code"), "duplicate_key");
    chordal__buffer other;
    int code = rewrite(format, data, &limits, &other, &error);
    if (!whole && !twice) check_code(from, code, &error, "rewriting");
    chordal__buffer_dispose(&other);
    chordal__reader reader = chordal__reader_of(data.data, data.len);
    if (format == PACKED && !whole && !twice) {
        check_code(from, chordal__pack_skip(&reader, &limits, &error), &error, "skipping");
    }
    free(data.data);
}

static void run(const chordal__node *from, bool accepted) {
    if (accepted)
        accept(from);
    else
        refuse(from);
}

TEST(values) {
    run_family("values", run);
}

TESTS({"values", values})
