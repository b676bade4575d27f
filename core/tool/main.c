/* main.c: the `chordal` command: a table of words. */
#include "tool/tool.h"

static const struct {
    const char *word, *meaning;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"serve", "a server with the demo's board, which routes what its peers offer", tool_serve},
    {"watch", "follow an object live", tool_watch},
    {"call", "call a method of an object", tool_call},
    {"convert", "messages, ops and values between their binary and their JSON form", tool_convert},
    {"backup", "copy a store, also beside its running host", tool_backup},
    {"check", "look for damage in a store", tool_check},
    {"dump", "the documents of a store, also as they were at a commit", tool_dump},
    {"export", "tables, documents and rows of a store, without history, as lines of JSON", tool_export},
    {"import", "a new store from such lines", tool_import},
    {"provide", "offer the interop check's object through a server", tool_provide},
    {"check-holder", "hold the interop check's object and work on it", tool_check_holder},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static int usage(FILE *out, int status) {
    fprintf(out, "usage: chordal COMMAND …\n\n");
    for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-14s%s\n", commands[i].word, commands[i].meaning);
    fprintf(out, "  %-14s%s\n", "version", "what this program is made of");
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2) return usage(stderr, 2);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].word) == 0) return commands[i].run(argc - 2, argv + 2);
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) return puts(chordal_versions()) < 0;
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
    return usage(stderr, 2);
}
