/* store_dump.c: `chordal dump` and `chordal export`: the documents of a store as lines of JSON, read beside its host.
 */
#include "tool/tool.h"

#define DUMP_USAGE                                                                                                     \
    "dump STORE [--type TYPE] [--at COMMIT]\n\n"                                                                       \
    "Prints each document of STORE, also beside a running host, retired ones too: a JSON object a line with its\n"     \
    "address, its life (incarnation, created, retired, commit), and its value if that is kept. With --at those that\n" \
    "lived then, as that commit left them."
#define EXPORT_USAGE                                                                                                   \
    "export STORE\n\n"                                                                                                 \
    "Prints the living documents of STORE, as they are now, as lines of JSON that `chordal import` takes. Also "       \
    "beside\n"                                                                                                         \
    "a running host. Not history, the outbox, or retired documents."

/* ---- dump ---- */

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
    const char *at = tool_option(&argc, argv, "--at");
    tool_expect(argc, argv, 1, 1, DUMP_USAGE);
    if (named) tool_text_json(&type, named, strlen(named));
    chordal_host *host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT);
    tool_store_each(host, tool_number(at, 0), dump_one, type.data);
    chordal_host_close(host);
    tool_text_free(&type);
    tool_print_end();
    return 0;
}

/* ---- export ---- */

static uint64_t export_one(void *context, const char *entry, bool retired, const char *value) {
    static const char *const keys[] = {"type", "version", "params", "member"};
    (void)context;
    if (retired || !value) return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tool_slice field = tool_field(entry, keys[i]);
        printf("%s\"%s\":", i ? "," : "{", keys[i]);
        tool_print_json(field.data, field.len);
    }
    fputs(",\"value\":", stdout);
    tool_print_json(value, strlen(value));
    puts("}");
    return 1;
}

int tool_export(int argc, char **argv) {
    tool_expect(argc, argv, 1, 1, EXPORT_USAGE);
    chordal_host *host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT);
    puts(TOOL_EXPORT_HEAD);
    uint64_t count = tool_store_each(host, 0, export_one, NULL);
    printf(TOOL_EXPORT_END "%llu}\n", (unsigned long long)count);
    chordal_host_close(host);
    tool_print_end();
    return 0;
}
