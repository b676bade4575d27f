/* store_dump.c: `chordal dump` and `chordal export`: the documents of a store as lines of JSON, read beside its host.
 */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "dump STORE [--type TYPE] [--at COMMIT]\n\n"                                                                       \
    "Prints each document of STORE, also beside a running host, retired ones too: a JSON object a line with its\n"     \
    "address, its life (incarnation, created, retired, commit: numbers of commits), and its newest value if that is\n" \
    "kept. With --at only the documents that lived when the commit of that number was through, each with the value\n"  \
    "that it had then, if its type keeps history so far back. No rows: `chordal export` has those."

static uint64_t dump_one(void *context, const char *entry, bool retired, const char *value) {
    const char *type = context;
    (void)retired;
    tool_slice name = tool_field(entry, "type");
    if (type && (name.len != strlen(type) || memcmp(name.data, type, name.len) != 0)) return 0;
    tool_print_json(entry, strlen(entry) - 1);
    if (value) {
        fputs(",\"value\":", stdout);
        tool_print_json(value, strlen(value));
    }
    puts("}");
    return 1;
}

int tool_dump(int argc, char **argv) {
    tool_text type = {0};
    const char *named = tool_option(&argc, argv, "--type");
    uint64_t at = tool_number(&argc, argv, "--at", 0);
    tool_expect(argc, argv, 1, 1, USAGE);
    if (named) tool_text_json(&type, named, strlen(named));
    chordal_host *host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT);
    tool_store_each(host, at, dump_one, type.data);
    chordal_host_close(host);
    tool_text_free(&type);
    tool_print_end();
    return 0;
}
