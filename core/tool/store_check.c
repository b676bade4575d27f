/* store_check.c: `chordal check`: look for damage in a store, also beside its running host. */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "check STORE\n\n"                                                                                                  \
    "Looks for damage in STORE, also while a host runs on it: in the file and its indexes, the runs, each revision "   \
    "of\n"                                                                                                             \
    "each document, each cell of each row. Prints a JSON object for each fault, with its place and, of a row, its\n"   \
    "key, and exits with 1 if there is any."

static uint64_t print_faults(chordal_value *page) {
    chordal_cursor root;
    tool_text text = {0};
    chordal_cursor_root(page, &root);
    uint64_t count = chordal_cursor_length(&root);
    tool_text_value(&text, page);
    for (size_t at = 1; at + 1 < text.len;) { /* each on a line of its own */
        size_t len = tool_value_end(text.data, at) - at;
        tool_print_json(text.data + at, len);
        putchar('\n');
        at += len + 1;
    }
    tool_text_free(&text);
    return count;
}

int tool_check(int argc, char **argv) {
    uint64_t after = 0, faults = 0;
    tool_expect(argc, argv, 1, 1, USAGE);
    chordal_host *host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT);
    do {
        chordal_value *page = NULL;
        chordal_error error = {0};
        if (chordal_store_check(host, after, 0, &page, &after, &error)) tool_die(argv[0], &error);
        faults += print_faults(page);
        chordal_value_unref(page);
    } while (after);
    chordal_host_close(host);
    if (!faults) puts("no damage");
    tool_print_end();
    return faults != 0;
}
