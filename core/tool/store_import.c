/* store_import.c: `chordal import`: a new store from what `chordal export` printed: all of it or none. */
#include "tool/tool.h"

#include <errno.h>
#include <unistd.h>

#define USAGE                                                                                                          \
    "import STORE\n\n"                                                                                                 \
    "Makes the new store STORE of the lines of `chordal export` on the standard input. It is made beside, as\n"        \
    "STORE-import, and takes its name when it is whole: if anything is wrong with the lines, or they are cut, there\n" \
    "is no store. It begins with one commit; what an export leaves out is in the help of that."

#define LINE_LIMIT UINT32_MAX /* as the host's limit on what is given to it */
#define PATH_LIMIT 4096

typedef struct importing {
    const char *path;
    char beside[PATH_LIMIT], log[PATH_LIMIT + 8]; /* where it is made, and what is there until that is closed */
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
    unlink(self->beside);
    exit(1);
}

static void put_byte(importing *self, size_t len, char byte) {
    if (len == self->room) {
        size_t room = self->room ? 2 * self->room : 4096;
        char *line = room <= 2 * (size_t)LINE_LIMIT ? realloc(self->line, room) : NULL;
        if (!line) refuse(self, "a line is too long", NULL);
        self->line = line;
        self->room = room;
    }
    self->line[len] = byte;
}

/* The next line without its end; false: there is none. */
static bool read_line(importing *self, size_t *len) {
    int byte;
    for (*len = 0; (byte = getc_unlocked(stdin)) != EOF && byte != '\n'; (*len)++) put_byte(self, *len, (char)byte);
    if (byte == EOF && !*len) return false;
    put_byte(self, *len, 0);
    if (*len && self->line[*len - 1] == '\r') self->line[--*len] = 0;
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
            char *end;
            unsigned long long items = strtoull(self->line + strlen(TOOL_EXPORT_END), &end, 10);
            if (items == self->items && strcmp(end, "}") == 0) return;
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

static void name_parts(importing *self) {
    int len = snprintf(self->beside, sizeof self->beside, "%s-import", self->path);
    if (len < 0 || (size_t)len >= sizeof self->beside) tool_die("the path is too long", NULL);
    snprintf(self->log, sizeof self->log, "%s-wal", self->beside);
    refuse_what_is_there(self->path);
    refuse_what_is_there(self->beside);
}

/* The log goes with the last of its content; a file without it would be a store in part. */
static void take_place(importing *self) {
    bool whole = access(self->log, F_OK) != 0, taken = whole && link(self->beside, self->path) == 0;
    const char *why = whole ? strerror(errno) : "the log beside it could not be emptied";
    unlink(self->beside);
    if (!whole) unlink(self->log);
    if (taken) return;
    fprintf(stderr, "chordal: %s: %s\n", self->path, why);
    exit(1);
}

int tool_import(int argc, char **argv) {
    size_t len;
    importing self = {0};
    tool_expect(argc, argv, 1, 1, USAGE);
    self.path = argv[0];
    name_parts(&self);
    self.host = tool_store_open(self.beside, 0);
    if (!read_line(&self, &len) || strcmp(self.line, TOOL_EXPORT_HEAD) != 0)
        refuse(&self, "this is not what `chordal export` prints", NULL);
    take_items(&self);
    if (read_line(&self, &len)) refuse(&self, "more behind the end", NULL);
    seal(&self);
    chordal_host_close(self.host);
    take_place(&self);
    free(self.line);
    printf("%llu items\n", (unsigned long long)self.items);
    return 0;
}
