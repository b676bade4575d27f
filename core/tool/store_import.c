/* store_import.c: `chordal import`: a new store from what `chordal export` printed: all of it or none. */
#include "tool/tool.h"

#include <unistd.h>

#define USAGE                                                                                                          \
    "import STORE\n\n"                                                                                                 \
    "Makes the new store STORE of the lines of `chordal export` on the standard input, in one transaction: if "        \
    "anything\n"                                                                                                       \
    "is wrong with them, or lines are missing at the end, there is no store."

typedef struct importing {
    const char *path;
    chordal_host *host;
    char *line;
    size_t room;
    uint64_t lines, items;
} importing;

_Noreturn static void refuse(importing *self, const char *words, const chordal_error *error) {
    if (self->lines)
        fprintf(stderr, "chordal: line %llu: %s", (unsigned long long)self->lines, words);
    else
        fprintf(stderr, "chordal: no line on the standard input: %s", words);
    if (error) fprintf(stderr, " (%s, at %llu)", chordal_error_name(error->code), (unsigned long long)error->position);
    fputc('\n', stderr);
    chordal_host_close(self->host);
    unlink(self->path);
    exit(1);
}

/* The next line without its end; false: there is none. */
static bool read_line(importing *self, size_t *len) {
    ssize_t found = getline(&self->line, &self->room, stdin);
    if (found < 0) return false;
    *len = (size_t)found;
    while (*len && (self->line[*len - 1] == '\n' || self->line[*len - 1] == '\r')) self->line[--*len] = 0;
    self->lines++;
    return true;
}

static bool begins(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

static void take_items(importing *self) {
    size_t len;
    while (read_line(self, &len)) {
        chordal_error error = {0};
        if (begins(self->line, TOOL_EXPORT_END)) {
            if (strtoull(self->line + strlen(TOOL_EXPORT_END), NULL, 10) == self->items) return;
            refuse(self, "there is not as much as there was", NULL);
        }
        if (chordal_store_put(self->host, CHORDAL_FORMAT_JSON, (const uint8_t *)self->line, len, &error))
            refuse(self, error.detail, &error);
        self->items++;
    }
    refuse(self, "the end is missing", NULL);
}

/* STATE: there were tables alone, or nothing. */
static void seal(importing *self) {
    chordal_error error = {0};
    int code = chordal_store_seal(self->host, &error);
    if (code && code != CHORDAL_E_STATE) refuse(self, error.detail, &error);
}

static void refuse_what_is_there(const char *path) {
    if (access(path, F_OK) != 0) return;
    fprintf(stderr, "chordal: %s: a new store is made, and something is there (exists)\n", path);
    exit(1);
}

int tool_import(int argc, char **argv) {
    size_t len;
    importing self = {0};
    tool_expect(argc, argv, 1, 1, USAGE);
    self.path = argv[0];
    refuse_what_is_there(self.path);
    self.host = tool_store_open(self.path, 0);
    if (!read_line(&self, &len) || strcmp(self.line, TOOL_EXPORT_HEAD) != 0)
        refuse(&self, "this is not what `chordal export` prints", NULL);
    take_items(&self);
    if (read_line(&self, &len)) refuse(&self, "more behind the end", NULL);
    seal(&self);
    chordal_host_close(self.host);
    free(self.line);
    printf("%llu items\n", (unsigned long long)self.items);
    return 0;
}
