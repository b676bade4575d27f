/* limit.c: what yyjson takes to read and write the same documents, and memcpy for one string. `limit FOLDER BATCHES`: a
 * JSON object a line. It reads and writes trees as values.c does, with the same settings of malloc. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "yyjson.h"

enum { FILE_MAX = 1 << 21, TEXT = 500000, ROUND = 20 };

typedef struct work {
    char *json, *copy;
    size_t len;
    yyjson_doc *doc;
} work;

static void read_once(work *w) {
    yyjson_doc_free(yyjson_read(w->json, w->len, 0));
}

static void write_once(work *w) {
    size_t len;
    free(yyjson_write(w->doc, 0, &len));
}

static void copy_once(work *w) {
    memcpy(w->copy, w->json, w->len);
    __asm__ volatile("" : : "r"(w->copy) : "memory");
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void measure(work *w, const char *name, const char *system, void (*once)(work *), int batches) {
    printf("{\"case\": \"value, %s\", \"system\": \"limit: %s\", \"unit\": \"us\"", name, system);
    if (once != copy_once) printf(", \"version\": \"%s\"", YYJSON_VERSION_STRING);
    once(w);
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < ROUND; i++) once(w);
        printf("%s%.3f", r ? ", " : ", \"samples\": [", (now_us() - start) / ROUND);
    }
    printf("]}\n");
}

static void measure_json(work *w, const char *payload, int batches) {
    char name[64];
    w->doc = yyjson_read(w->json, w->len, 0);
    if (!w->doc) exit(1);
    snprintf(name, sizeof name, payload[0] == '5' ? "read %s" : "json read, %s", payload);
    measure(w, name, "yyjson", read_once, batches);
    snprintf(name, sizeof name, payload[0] == '5' ? "write %s" : "json write, %s", payload);
    measure(w, name, "yyjson", write_once, batches);
    yyjson_doc_free(w->doc);
}

static void load(work *w, const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || !(w->len = fread(w->json, 1, FILE_MAX, file))) exit(1);
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    mallopt(M_TRIM_THRESHOLD, 1 << 26);
    mallopt(M_MMAP_THRESHOLD, 1 << 26);
    work w = {.json = calloc(1, FILE_MAX), .copy = calloc(1, FILE_MAX)};
    if (!w.json || !w.copy) return 1;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "document" : "notes";
        load(&w, argv[1], name);
        measure_json(&w, name, atoi(argv[2]));
    }
    memset(w.json, 'x', w.len = TEXT + 2);
    w.json[0] = w.json[TEXT + 1] = '"';
    measure_json(&w, "500 KB string", atoi(argv[2]));
    measure(&w, "write 500 KB string", "memcpy", copy_once, atoi(argv[2]));
    free(w.json);
    free(w.copy);
    return 0;
}
