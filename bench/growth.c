/* growth.c: what a change of a large value costs against its size, while the revision before it is kept; and what a
 * parsed document takes. `growth FOLDER BATCHES`: a JSON object a line. `growth FOLDER 0 CASE COUNT`: one case alone,
 * COUNT operations inside of `operations`, for callgrind. FOLDER has the payloads. */
#include "alone.h"

typedef struct work {
    counted sums;
    chordal__memory *memory;
    chordal__node *value, *item;
    uint64_t size;
    char key[16]; /* in the middle of an object */
} work;

/* ---- what is changed ---- */

static void must(const void *made) {
    if (!made) check(CHORDAL_E_NOMEM, "growth");
}

static void begin_string(work *w) {
    uint8_t *text = malloc(w->size);
    must(text);
    memset(text, 'x', w->size);
    w->value = chordal__node_string(w->memory, text, w->size);
    free(text);
}

static void begin_array(work *w) {
    chordal__node **items = malloc(w->size * sizeof *items);
    must(items);
    for (uint64_t i = 0; i < w->size; i++) items[i] = chordal__node_integer(w->memory, (int64_t)i);
    w->value = chordal__node_array(w->memory, items, w->size);
    free(items);
}

static void begin_object(work *w) {
    chordal__node *still;
    char key[16];
    w->value = chordal__node_object(w->memory);
    for (uint64_t i = 0; i < w->size && w->value; i++) {
        int len = snprintf(key, sizeof key, "key-%07u", (unsigned)i);
        w->value = chordal__node_put(w->memory, w->value, key, (size_t)len, w->item, &still);
    }
    snprintf(w->key, sizeof w->key, "key-%07u", (unsigned)(w->size / 2));
}

static chordal__node *append(work *w, chordal__node **still) {
    return chordal__node_append(w->memory, w->value, " token", 6, still);
}

static chordal__node *push(work *w, chordal__node **still) {
    return chordal__node_splice(w->memory, w->value, chordal__node_length(w->value), 0, &w->item, 1, still);
}

static chordal__node *splice(work *w, chordal__node **still) {
    return chordal__node_splice(w->memory, w->value, w->size / 2, 1, &w->item, 1, still);
}

static chordal__node *put(work *w, chordal__node **still) {
    return chordal__node_put(w->memory, w->value, w->key, strlen(w->key), w->item, still);
}

static const struct {
    const char *name;
    uint64_t sizes;
    void (*begin)(work *);
    chordal__node *(*change)(work *, chordal__node **still);
} cases[] = {
    {"append 6 to a string", 1000000, begin_string, append},
    {"push to an array", 1000000, begin_array, push},
    {"splice in an array", 1000000, begin_array, splice},
    {"set a key of an object", 100000, begin_object, put},
};

enum { BATCH = 100 };

__attribute__((noinline)) static void operations(work *w, size_t c, int count) {
    for (int i = 0; i < count; i++) {
        chordal__node *still, *before = chordal__node_ref(w->value);
        w->value = cases[c].change(w, &still);
        must(w->value);
        chordal__node_unref(w->memory, before);
    }
}

static void open_work(work *w, size_t c, uint64_t size) {
    memset(w, 0, sizeof *w);
    w->size = size;
    w->memory = counted_memory(&w->sums);
    w->item = chordal__node_integer(w->memory, -7);
    cases[c].begin(w);
    must(w->value);
    operations(w, c, 3);
}

static void close_work(work *w) {
    chordal__node_unref(w->memory, w->value);
    chordal__node_unref(w->memory, w->item);
    chordal__memory_unref(w->memory);
}

static void name_of(char out[64], size_t c, uint64_t size) {
    unsigned thousands = (unsigned)(size / 1000);
    if (thousands < 1000) snprintf(out, 64, "growth, %s, %u,000", cases[c].name, thousands);
    if (thousands >= 1000) snprintf(out, 64, "growth, %s, %u,000,000", cases[c].name, thousands / 1000);
}

/* Each batch begins with a value of just this size. */
static void measure(size_t c, const char *name, uint64_t size, int batches) {
    counted before, after;
    row_begin(name, "us");
    for (int r = 0; r < batches; r++) {
        work w;
        open_work(&w, c, size);
        before = w.sums;
        double start = now_us();
        operations(&w, c, BATCH);
        printf("%s%.3f", r ? ", " : "", (now_us() - start) / BATCH);
        after = w.sums;
        close_work(&w);
    }
    row_end(&before, &after, BATCH);
}

/* ---- memory ---- */

static size_t nodes_in(const chordal__node *value) {
    if (chordal__node_kind(value) < CHORDAL_KIND_ARRAY) return 1;
    chordal__walk walk;
    chordal__walk_begin(&walk, value);
    size_t count = 1, key_len;
    const uint8_t *key;
    for (const chordal__node *item; (item = chordal__walk_next(&walk, &key, &key_len));) count += nodes_in(item);
    return count;
}

static void measure_memory(const char *name, const uint8_t *json, size_t len) {
    counted sums = {0};
    chordal__memory *memory = counted_memory(&sums);
    const chordal__limits limits = {512, UINT64_MAX};
    chordal__node *value;
    uint64_t before = memory->live_bytes, blocks = memory->live_blocks;
    check(chordal__json_read(memory, json, len, &limits, &value, NULL), name);
    size_t nodes = nodes_in(value);
    printf("{\"case\": \"memory of a parsed document, %s\", \"system\": \"chordal\", \"unit\": \"B\", \"samples\": "
           "[%.0f], \"bytes\": %zu, \"counts\": {\"nodes\": %zu, \"blocks\": %.0f, \"aim\": %.0f}}\n",
           name, (double)(memory->live_bytes - before), len, nodes, (double)(memory->live_blocks - blocks),
           1.3 * (double)len + 16 * (double)nodes);
    chordal__node_unref(memory, value);
    chordal__memory_unref(memory);
}

static void measure_file(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    FILE *file = fopen(path, "rb");
    uint8_t *json = malloc(FILE_MAX);
    size_t len = file && json ? fread(json, 1, FILE_MAX, file) : 0;
    if (!len) check(CHORDAL_E_INVALID, path);
    fclose(file);
    measure_memory(strcmp(name, "notes") == 0 ? "1,000 notes" : "500 x 960 document", json, len);
    free(json);
}

static void measure_written(size_t c, const char *name, uint64_t size) {
    work w;
    open_work(&w, c, size);
    chordal__buffer json;
    chordal__buffer_init(&json, w.memory, SIZE_MAX);
    chordal__json_write(&json, w.value);
    check(json.failed, name);
    measure_memory(name, json.data, json.len);
    chordal__buffer_dispose(&json);
    close_work(&w);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (uint64_t size = 1000; size <= cases[c].sizes; size *= 10) {
            char name[64];
            name_of(name, c, size);
            if (batches > 0) measure(c, name, size, batches);
            if (argc < 5 || strcmp(argv[3], name) != 0) continue;
            work w;
            open_work(&w, c, size);
            operations(&w, c, atoi(argv[4]));
            close_work(&w);
        }
    }
    if (batches <= 0) return 0;
    measure_file(argv[1], "notes");
    measure_file(argv[1], "document");
    measure_written(0, "a string of 1,000,000", 1000000);
    measure_written(1, "an array of 100,000 integers", 100000);
    measure_written(3, "an object of 10,000 keys", 10000);
    return 0;
}
