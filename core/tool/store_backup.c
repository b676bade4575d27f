/* store_backup.c: `chordal backup`: copy a store to another path, also beside its running host. */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "backup STORE TO\n\n"                                                                                              \
    "Copies STORE, as it is now, to the path TO, where nothing may be, also while a host runs on it. The copy is a\n"  \
    "store. A copy that is cut leaves nothing at TO."

static uint64_t wait_for(chordal_host *host, chordal_id ticket) {
    static _Alignas(8) uint8_t buffer[4096];
    size_t len;
    chordal_error error = {0};
    for (;;) {
        if (chordal_host_poll(host, 0, buffer, sizeof buffer, &len, &error)) tool_die("the copy", &error);
        const chordal_event_TICKET *told = (const void *)buffer;
        if (!len || told->record.kind != CHORDAL_EVENT_TICKET || told->ticket != ticket) continue;
        if (!told->code) return told->commit;
        fprintf(stderr, "chordal: %.*s (%s)\n", (int)told->detail.length,
                chordal_span_text(&told->record, told->detail), chordal_error_name(told->code));
        return UINT64_MAX;
    }
}

int tool_backup(int argc, char **argv) {
    chordal_error error = {0};
    chordal_id ticket = 0;
    tool_expect(argc, argv, 2, 2, USAGE);
    chordal_host *host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY);
    if (chordal_store_backup(host, argv[1], strlen(argv[1]), &ticket, &error)) tool_die(argv[1], &error);
    uint64_t commit = wait_for(host, ticket);
    chordal_host_close(host);
    if (commit != UINT64_MAX) printf("copied up to commit %llu\n", (unsigned long long)commit);
    return commit == UINT64_MAX;
}
