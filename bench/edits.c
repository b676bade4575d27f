/* edits.c: how large the deltas of the edits are, by a draft and by diffing the value that was assigned. `edits
 * FOLDER`: a JSON object a line. FOLDER has edits.json. */
#include "alone.h"

enum { EDITS_MAX = 1 << 23 };

typedef struct work {
    chordal__memory *memory;
    chordal__buffer out;
} work;

static const chordal__limits limits = {512, EDITS_MAX};

static const chordal__node *field(const chordal__node *edit, const char *key) {
    const chordal__node *value = chordal__node_get(edit, key, strlen(key));
    if (!value) check(CHORDAL_E_INVALID, key);
    return value;
}

/* A string's bytes, NUL-terminated, to be freed. */
static char *bytes_of(const chordal__node *string, size_t *out_len) {
    *out_len = (size_t)chordal__node_string_bytes(string);
    char *bytes = malloc(*out_len + 1);
    const uint8_t *data;
    uint64_t at = 0, filled = 0;
    size_t len;
    if (!bytes) check(CHORDAL_E_NOMEM, "edits");
    for (; chordal__node_string_piece(string, &at, &data, &len); filled += len) memcpy(bytes + filled, data, len);
    bytes[*out_len] = 0;
    return bytes;
}

static size_t written(work *w, uint8_t encoding, const chordal__ops *ops) {
    chordal__buffer_clear(&w->out);
    chordal__ops_write(&w->out, encoding, ops, NULL);
    check(w->out.failed, "write");
    return w->out.len;
}

static void row(work *w, const char *name, const char *how, const chordal__ops *ops) {
    size_t bytes = written(w, CHORDAL__ENCODING_BINARY, ops), json = written(w, CHORDAL__ENCODING_JSON, ops);
    printf("{\"case\": \"delta size, %s%s\", \"system\": \"chordal\", \"unit\": \"B\", \"samples\": [%zu], \"bytes\": "
           "%zu, \"counts\": {\"ops\": %zu, \"json\": %zu}}\n",
           name, how, bytes, bytes, ops->count, json);
}

static void by_draft(work *w, const char *name, const chordal__node *edit) {
    chordal__draft draft;
    chordal__ops ops;
    size_t len;
    char *text = bytes_of(field(edit, "ops"), &len);
    chordal__ops_init(&ops, w->memory);
    check(chordal__ops_read(&ops, CHORDAL__ENCODING_JSON, (uint8_t *)text, len, NULL, 0, &limits, NULL), name);
    check(chordal__draft_begin(&draft, w->memory, (chordal__node *)(uintptr_t)field(edit, "before"), 512), name);
    for (size_t i = 0; i < ops.count; i++) {
        chordal__op op = ops.items[i];
        ops.items[i] = (chordal__op){.kind = CHORDAL_OP_GENERATION};
        check(chordal__draft_do(&draft, op, NULL), name);
    }
    if (!chordal__node_equal(draft.value, field(edit, "after"))) check(CHORDAL_E_INVALID, name);
    row(w, name, "", &draft.ops);
    chordal__draft_dispose(&draft);
    chordal__ops_dispose(&ops);
    free(text);
}

static void by_value(work *w, const char *name, const chordal__node *edit) {
    chordal__ops ops;
    chordal__segment member = {.index = 0};
    chordal__path *path = chordal__path_new(w->memory, &member, 1);
    chordal__ops_init(&ops, w->memory);
    check(chordal__diff(&ops, path, field(edit, "before"), field(edit, "after")), name);
    row(w, name, ", by value", &ops);
    chordal__ops_dispose(&ops);
    chordal__path_unref(w->memory, path);
}

static uint8_t *read_edits(const char *folder, size_t *out_len) {
    char path[1024];
    snprintf(path, sizeof path, "%s/edits.json", folder);
    FILE *file = fopen(path, "rb");
    uint8_t *json = malloc(EDITS_MAX);
    *out_len = file && json ? fread(json, 1, EDITS_MAX, file) : 0;
    if (!*out_len) check(CHORDAL_E_INVALID, path);
    fclose(file);
    return json;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    size_t len, name_len;
    uint8_t *json = read_edits(argv[1], &len);
    counted sums = {0};
    work w = {.memory = counted_memory(&sums)};
    chordal__node *edits;
    chordal__buffer_init(&w.out, w.memory, EDITS_MAX);
    check(chordal__json_read(w.memory, json, len, &limits, &edits, NULL), "edits.json");
    for (uint64_t i = 0; i < chordal__node_length(edits); i++) {
        const chordal__node *edit = chordal__node_at(edits, i);
        char *name = bytes_of(field(edit, "name"), &name_len);
        by_draft(&w, name, edit);
        by_value(&w, name, edit);
        free(name);
    }
    chordal__buffer_dispose(&w.out);
    chordal__node_unref(w.memory, edits);
    chordal__memory_unref(w.memory);
    free(json);
    return 0;
}
