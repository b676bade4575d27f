/* fuzz.h: what a fuzz target needs: bytes taken one after the other, and a main that replays a kept corpus.
 *
 * Each file of this folder is a target. As a test it reads all files of corpus/<target>/, each also cut short at many
 * places; with CHORDAL_FUZZER and clang's -fsanitize=fuzzer it looks for more (fuzz.sh). */
#ifndef CHORDAL_TESTS_FUZZ_FUZZ_H
#define CHORDAL_TESTS_FUZZ_FUZZ_H

#include <dirent.h>

#include "check.h"

typedef struct fuzz_input {
    const uint8_t *at, *end;
} fuzz_input;

static inline uint8_t fuzz_byte(fuzz_input *in) {
    return in->at < in->end ? *in->at++ : 0;
}
/* Small most of the time, anything below 2^53 some of the time. */
static inline uint64_t fuzz_number(fuzz_input *in) {
    uint8_t first = fuzz_byte(in);
    if (first < 0xf0) return first & 7;
    uint64_t value = 0;
    for (int i = (first & 7) + 1; i > 0; i--) value = value << 8 | fuzz_byte(in);
    return value & ((UINT64_C(1) << 53) - 1);
}
/* Up to `most` bytes; all that is left when the length says 255. */
static inline const uint8_t *fuzz_bytes(fuzz_input *in, size_t most, size_t *out_len) {
    size_t left = (size_t)(in->end - in->at);
    size_t len = fuzz_byte(in);
    left -= left > 0;
    if (len == 255 || len > left) len = left;
    if (len > most) len = most;
    const uint8_t *bytes = in->at;
    in->at += len;
    *out_len = len;
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef CHORDAL_FUZZER
#define FUZZ_MAIN(target) struct fuzz_nothing;
/* A check that failed is a find. */
static inline void fuzz_done(void) {
    if (check_failures) abort();
}
#else
static inline void fuzz_done(void) {}

static inline void fuzz_replay(const char *path) {
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file) {
        CHECK_FAIL("cannot read %s", path);
        return;
    }
    size_t len = fread(data, 1, sizeof data, file);
    fclose(file);
    size_t step = len / 16 + 1;
    for (size_t cut = 0; cut < len; cut += step) LLVMFuzzerTestOneInput(data, cut);
    LLVMFuzzerTestOneInput(data, len);
    if (check_failures) fprintf(stderr, "in %s\n", path);
}

static inline int fuzz_replay_all(const char *folder, int argc, char **argv) {
    char path[1024];
    int files = 0;
    for (int i = 1; i < argc; i++) fuzz_replay(argv[i]);
    DIR *entries = argc > 1 ? NULL : opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        fuzz_replay(path);
        files++;
    }
    if (entries) closedir(entries);
    if (argc == 1 && !files) CHECK_FAIL("no corpus in %s", folder);
    int failed = check_failures != 0;
    printf("%d passed, %d failed\n", files - failed, failed);
    return check_failures != 0;
}

#define FUZZ_MAIN(target)                                                                                              \
    int main(int argc, char **argv) {                                                                                  \
        check_name = #target;                                                                                          \
        return fuzz_replay_all(CHORDAL_TESTS_FOLDER "/fuzz/corpus/" #target, argc, argv);                              \
    }
#endif

#endif
