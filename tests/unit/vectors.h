/* vectors.h: reading the test vectors (tests/vectors/README.md), for the programs that run them. */
#ifndef CHORDAL_TESTS_UNIT_VECTORS_H
#define CHORDAL_TESTS_UNIT_VECTORS_H

#include <dirent.h>

#include "check.h"
#include "delta/delta.h"

static chordal__memory *memory;
static const chordal__limits no_limits = {.depth = 4096, .size = 1 << 28};

/* Bytes of the test's own, freed by free(). */
typedef struct bytes {
    uint8_t *data;
    size_t len;
} bytes;

/* ---- a case's fields ---- */

static inline chordal__node *field(const chordal__node *from, const char *name) {
    return chordal__node_get(from, name, strlen(name));
}

static inline chordal__node *need(const chordal__node *from, const char *name) {
    chordal__node *found = field(from, name);
    if (!found) {
        CHECK_FAIL("no field %s", name);
        exit(1);
    }
    return found;
}

static inline bytes text_of(const chordal__node *string) {
    bytes out = {.len = 0};
    uint64_t at = 0;
    const uint8_t *piece = NULL;
    size_t len = 0;
    out.data = malloc(chordal__node_string_bytes(string) + 1);
    while (chordal__node_string_piece(string, &at, &piece, &len)) {
        memcpy(out.data + out.len, piece, len);
        out.len += len;
    }
    out.data[out.len] = 0;
    return out;
}

static inline bytes hex_of(const chordal__node *string) {
    bytes text = text_of(string), out = {.data = malloc(text.len / 2 + 1), .len = text.len / 2};
    for (size_t i = 0; i < out.len; i++) {
        char digits[3] = {(char)text.data[i * 2], (char)text.data[i * 2 + 1], 0};
        out.data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    free(text.data);
    return out;
}

static inline uint64_t number_of(const chordal__node *node) {
    chordal__number number;
    chordal__node_get_number(node, &number);
    return number.as.unsigned_integer;
}

static inline uint64_t number_or(const chordal__node *from, const char *name, uint64_t otherwise) {
    const chordal__node *found = field(from, name);
    return found ? number_of(found) : otherwise;
}

static inline bool is_true(const chordal__node *from, const char *name) {
    const chordal__node *found = field(from, name);
    return found && chordal__node_kind(found) == CHORDAL_KIND_TRUE;
}

static inline bool is_text(const chordal__node *string, const char *expected) {
    bytes text = text_of(string);
    bool same = text.len == strlen(expected) && !memcmp(text.data, expected, text.len);
    free(text.data);
    return same;
}

/* A case has only fields whose names are in `known`, each between spaces. */
static inline void check_fields(const chordal__node *from, const char *known) {
    for (uint64_t i = 0; i < chordal__node_length(from); i++) {
        const uint8_t *key = NULL;
        size_t len = 0;
        chordal__node *member;
        chordal__node_member(from, i, &key, &len, &member);
        char word[64];
        snprintf(word, sizeof word, " %.*s ", (int)len, (const char *)key);
        if (!strstr(known, word)) CHECK_FAIL("a field that this runner does not know: %s", word);
    }
}

static inline void check_code(const chordal__node *from, int code, const chordal_error *error, const char *what) {
    bytes name = text_of(need(from, "code"));
    int expected = chordal__error_code((const char *)name.data, name.len);
    if (code != expected) {
        CHECK_FAIL("%s: code %s at %" PRIu64 ", not %s", what, chordal_error_name(code), error->position, name.data);
    } else if (field(from, "position") && error->position != number_of(field(from, "position"))) {
        CHECK_FAIL("%s: %s at %" PRIu64 ", not at %" PRIu64, what, name.data, error->position,
                   number_of(field(from, "position")));
    }
    free(name.data);
}

static inline chordal__limits limits_of(const chordal__node *from) {
    return (chordal__limits){.depth = (uint32_t)number_or(from, "depth", 512), .size = 64 << 20};
}

/* ---- native values ---- */

static inline chordal__node *tagged(const chordal__node *node, const char *tag) {
    if (chordal__node_kind(node) != CHORDAL_KIND_OBJECT || chordal__node_length(node) != 1) return NULL;
    return field(node, tag);
}

static inline chordal__node *native_number(const chordal__node *digits) {
    bytes text = text_of(digits);
    chordal__number number;
    int code = 0;
    size_t len = chordal__number_read(text.data, text.len, &number, &code);
    CHECK_INT(len, text.len);
    free(text.data);
    return chordal__node_number(memory, &number);
}

/* The value that a native value with tags stands for. */
static inline chordal__node *native_of(chordal__node *node) {
    int kind = chordal__node_kind(node);
    const chordal__node *digits = tagged(node, "$integer") ? tagged(node, "$integer") : tagged(node, "$double");
    if (digits) return native_number(digits);
    if (kind != CHORDAL_KIND_ARRAY && kind != CHORDAL_KIND_OBJECT) return chordal__node_ref(node);
    bool array = kind == CHORDAL_KIND_ARRAY;
    chordal__node *out = array ? chordal__node_array(memory, NULL, 0) : chordal__node_object(memory), *still;
    chordal__walk walk;
    const uint8_t *key = NULL;
    size_t len = 0;
    chordal__walk_begin(&walk, node);
    for (chordal__node *member; (member = chordal__walk_next(&walk, &key, &len));) {
        chordal__node *native = native_of(member);
        out = array ? chordal__node_splice(memory, out, chordal__node_length(out), 0, &native, 1, &still)
                    : chordal__node_put(memory, out, key, len, native, &still);
        chordal__node_unref(memory, native);
    }
    return out;
}

/* ---- running ---- */

typedef void case_run(const chordal__node *from, bool accept);

static char case_name[512];

static inline bytes read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    bytes out = {0};
    if (!file) return out;
    fseek(file, 0, SEEK_END);
    out.len = (size_t)ftell(file);
    rewind(file);
    out.data = malloc(out.len + 1);
    out.len = fread(out.data, 1, out.len, file);
    fclose(file);
    return out;
}

static inline size_t run_file(const char *path, const char *name, case_run *run) {
    bytes content = read_file(path);
    chordal__node *file = NULL;
    chordal_error error = {0};
    size_t count = 0;
    bool accept = !strncmp(name, "accept_", 7);
    case_name[0] = 0;
    check_name = name;
    if (!accept && strncmp(name, "refuse_", 7) != 0) CHECK_FAIL("neither accept_ nor refuse_");
    int code = chordal__json_read(memory, content.data, content.len, &no_limits, &file, &error);
    if (code != 0) CHECK_FAIL("%s: %s at %" PRIu64, path, chordal_error_name(code), error.position);
    const chordal__node *cases = code == 0 ? need(file, "cases") : NULL;
    for (; cases && count < chordal__node_length(cases); count++) {
        const chordal__node *one = chordal__node_at(cases, count);
        bytes title = text_of(need(one, "name"));
        snprintf(case_name, sizeof case_name, "%s: %s", name, (const char *)title.data);
        free(title.data);
        check_name = case_name;
        run(one, accept);
    }
    chordal__node_unref(memory, file);
    free(content.data);
    return count;
}

/* Run all cases of a family; nothing may be left alive. */
static inline void run_family(const char *family, case_run *run) {
    char folder[1024], path[2048];
    int here = (int)(strrchr(__FILE__, '/') - __FILE__);
    snprintf(folder, sizeof folder, "%.*s/../vectors/%s", here, __FILE__, family);
    size_t cases = 0;
    memory = chordal__memory_new(NULL, UINT64_MAX);
    DIR *listing = opendir(folder);
    if (!listing) CHECK_FAIL("no folder %s", folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (!strstr(entry->d_name, ".json")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        cases += run_file(path, entry->d_name, run);
    }
    if (listing) closedir(listing);
    check_name = family;
    CHECK(cases > 0);
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
    printf("%zu cases of %s\n", cases, family);
}

#endif
