/* values.c: what values, drafts and codecs cost, without a host. `values FOLDER BATCHES`: every case, a JSON object a
 * line, with the time of one operation in each batch. `values FOLDER 0 CASE COUNT`: one case alone, COUNT operations
 * inside of `operations`, for callgrind. FOLDER has the payloads. */
#include "alone.h"

typedef struct work {
    counted sums;
    chordal__memory *memory;
    chordal__limits limits;
    uint8_t *json; /* NUL-terminated */
    size_t json_len;
    chordal__node *value;
    chordal__buffer packed, out;
    chordal__dictionary source, replica_paths;
    chordal__draft draft;
    chordal__path *path;
    chordal__node *head, *replica; /* of the member at both ends */
    chordal__ops read, folded;
    chordal__member_value member;
    uint64_t cut;
} work;

static const bool is_state[1] = {true};

static void read_json(work *w) {
    chordal__node *value = NULL;
    check(chordal__json_read(w->memory, w->json, w->json_len, &w->limits, &value, NULL), "json");
    chordal__node_unref(w->memory, value);
}

static void write_json(work *w) {
    chordal__buffer_clear(&w->out);
    chordal__json_write(&w->out, w->value);
}

static void read_packed(work *w) {
    chordal__node *value = NULL;
    check(chordal__pack_read(w->memory, w->packed.data, w->packed.len, &w->limits, &value, NULL), "packed");
    chordal__node_unref(w->memory, value);
}

static void write_packed(work *w) {
    chordal__buffer_clear(&w->out);
    chordal__pack_write(&w->out, w->value);
}

static void write_snapshot(work *w) {
    w->member.value = w->value;
    chordal__buffer_clear(&w->out);
    chordal__snapshot_write(&w->out, CHORDAL__ENCODING_BINARY, &w->source, &w->member, is_state, 1);
}

static void read_snapshot(work *w) {
    chordal__member_value member;
    check(chordal__snapshot_read(w->memory, CHORDAL__ENCODING_BINARY, w->packed.data, w->packed.len, &w->replica_paths,
                                 1, &member, is_state, 1, &w->limits, NULL),
          "snapshot");
    chordal__node_unref(w->memory, member.value);
}

/* ---- a token: drafted, encoded, decoded, applied ---- */

static void draft_token(work *w) {
    chordal__op op = {.kind = CHORDAL_OP_APPEND, .path = chordal__path_ref(w->path)};
    op.value = chordal__node_string(w->memory, " tok", 4);
    check(chordal__draft_do(&w->draft, op, NULL), "draft");
}

static void carry(work *w) {
    chordal__buffer_clear(&w->out);
    w->cut++;
    chordal__change_write(&w->out, CHORDAL__ENCODING_BINARY, &w->source, w->cut - 1, w->cut, &w->draft.ops);
    check(chordal__ops_read(&w->read, CHORDAL__ENCODING_BINARY, w->out.data, w->out.len, &w->replica_paths, w->cut,
                            &w->limits, NULL),
          "read");
    for (size_t i = 0; i < w->read.count; i++)
        check(chordal__apply(w->memory, &w->replica, &w->read.items[i], 64, NULL), "apply");
    chordal__ops_clear(&w->read);
}

static void token_in_place(work *w) {
    draft_token(w);
    carry(w);
    chordal__ops_clear(&w->draft.ops);
}

/* The draft becomes the head, as a commit does it. */
static void token_committed(work *w) {
    check(chordal__draft_begin(&w->draft, w->memory, w->head, 64), "begin");
    draft_token(w);
    carry(w);
    chordal__node_unref(w->memory, w->head);
    w->head = chordal__node_ref(w->draft.value);
    chordal__draft_dispose(&w->draft);
}

/* The same, while a reader holds every revision until the next. */
static void token_watched(work *w) {
    chordal__node *held = chordal__node_ref(w->replica), *seen = chordal__node_ref(w->head);
    token_committed(w);
    chordal__node_unref(w->memory, held);
    chordal__node_unref(w->memory, seen);
}

static void fold_token(work *w) {
    if (w->folded.count && w->folded.weight > 4000) chordal__ops_clear(&w->folded);
    check(chordal__fold(&w->folded, &w->read), "fold");
}

static void append_text(work *w) {
    chordal__node *still;
    w->head = chordal__node_append(w->memory, w->head, " token", 6, &still);
}

static void append_shared(work *w) {
    chordal__node *before = chordal__node_ref(w->head);
    append_text(w);
    chordal__node_unref(w->memory, before);
}

/* ---- cases ---- */

static void begin_value(work *w) {
    (void)w;
}

static void begin_snapshot(work *w) {
    write_snapshot(w);
    chordal__buffer_clear(&w->packed);
    chordal__buffer_put(&w->packed, w->out.data, w->out.len);
}

static chordal__segment key_of(const char *key) {
    return (chordal__segment){.is_key = true, .key = (const uint8_t *)key, .key_len = (uint32_t)strlen(key)};
}

static void begin_token(work *w) {
    uint64_t last = chordal__node_length(chordal__node_get(w->value, "entries", 7)) - 1;
    chordal__segment segments[] = {{.index = 0}, key_of("entries"), {.index = last}, key_of("text")};
    w->path = chordal__path_new(w->memory, segments, 4);
    check(chordal__json_read(w->memory, w->json, w->json_len, &w->limits, &w->head, NULL), "json");
    check(chordal__json_read(w->memory, w->json, w->json_len, &w->limits, &w->replica, NULL), "json");
    check(chordal__dictionary_define(&w->source, w->path, 1), "define");
    check(chordal__dictionary_define(&w->replica_paths, w->path, 1), "define");
    w->cut = 2;
}

static void begin_draft(work *w) {
    begin_token(w);
    check(chordal__draft_begin(&w->draft, w->memory, w->head, 64), "begin");
}

static void begin_fold(work *w) {
    begin_draft(w);
    draft_token(w);
    chordal__ops_append(&w->read, &w->draft.ops);
}

static void begin_text(work *w) {
    enum { LENGTH = 500000 };
    w->json[0] = w->json[LENGTH + 1] = '"';
    memset(w->json + 1, 'x', LENGTH);
    w->json_len = LENGTH + 2;
    chordal__node_unref(w->memory, w->value);
    w->value = chordal__node_string(w->memory, w->json + 1, LENGTH);
    w->head = chordal__node_string(w->memory, w->json + 1, LENGTH);
}

#define N "notes.json"
#define D "document.json"
static const struct {
    const char *name, *payload;
    int batch;
    void (*begin)(work *);
    void (*once)(work *);
} cases[] = {
    {"json read, notes", N, 10, begin_value, read_json},
    {"json write, notes", N, 20, begin_value, write_json},
    {"packed read, notes", N, 10, begin_value, read_packed},
    {"packed write, notes", N, 20, begin_value, write_packed},
    {"json read, document", D, 10, begin_value, read_json},
    {"json write, document", D, 10, begin_value, write_json},
    {"packed read, document", D, 10, begin_value, read_packed},
    {"packed write, document", D, 10, begin_value, write_packed},
    {"snapshot write, notes", N, 20, begin_value, write_snapshot},
    {"snapshot read, notes", N, 10, begin_snapshot, read_snapshot},
    {"token in place", N, 1000, begin_draft, token_in_place},
    {"token committed", N, 1000, begin_token, token_committed},
    {"token watched", N, 1000, begin_token, token_watched},
    {"fold a token", N, 1000, begin_fold, fold_token},
    {"append 6 to 500 KB", N, 1000, begin_text, append_text},
    {"append 6 to 500 KB, shared", N, 1000, begin_text, append_shared},
    {"write 500 KB string", N, 10, begin_text, write_json},
    {"read 500 KB string", N, 10, begin_text, read_json},
};

static void open_work(work *w, const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *w = (work){.limits = {512, FILE_MAX}};
    w->memory = counted_memory(&w->sums);
    FILE *file = fopen(path, "rb");
    w->json = calloc(1, FILE_MAX);
    if (!file || !w->json || !(w->json_len = fread(w->json, 1, FILE_MAX - 1, file))) check(CHORDAL_E_INVALID, path);
    fclose(file);
    chordal__buffer_init(&w->packed, w->memory, FILE_MAX);
    chordal__buffer_init(&w->out, w->memory, FILE_MAX);
    chordal__ops_init(&w->read, w->memory);
    chordal__ops_init(&w->folded, w->memory);
    check(chordal__dictionary_init(&w->source, w->memory, 1024, (uint64_t[2]){1, 2}), "dictionary");
    check(chordal__dictionary_init(&w->replica_paths, w->memory, 1024, (uint64_t[2]){3, 4}), "dictionary");
    check(chordal__json_read(w->memory, w->json, w->json_len, &w->limits, &w->value, NULL), name);
    chordal__pack_write(&w->packed, w->value);
}

__attribute__((noinline)) static void operations(work *w, void (*once)(work *), int count) {
    for (int i = 0; i < count; i++) once(w);
}

static void measure(size_t c, const char *folder, int batches) {
    work w;
    char name[64];
    open_work(&w, folder, cases[c].payload);
    cases[c].begin(&w);
    cases[c].once(&w);
    snprintf(name, sizeof name, "value, %s", cases[c].name);
    row_begin(name, "us");
    counted before = w.sums;
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        operations(&w, cases[c].once, cases[c].batch);
        printf("%s%.3f", r ? ", " : "", (now_us() - start) / cases[c].batch);
    }
    row_end(&before, &w.sums, batches * cases[c].batch);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (atoi(argv[2]) > 0) measure(c, argv[1], atoi(argv[2]));
        if (argc < 5 || strcmp(argv[3], cases[c].name) != 0) continue;
        work w;
        open_work(&w, argv[1], cases[c].payload);
        cases[c].begin(&w);
        for (int i = 0; i < 3; i++) cases[c].once(&w);
        operations(&w, cases[c].once, atoi(argv[4]));
    }
    return 0;
}
