/* outbox.h: what an outbox must hold, and a look whether it does, whoever reads it. */
#ifndef CHORDAL_TESTS_OUTBOX_H
#define CHORDAL_TESTS_OUTBOX_H

#include "tables.h"

#ifndef OUTBOX_ROWS
#define OUTBOX_ROWS 4096
#define OUTBOX_WRITES 4
#endif
enum { OUTBOX_TEXT = 120 };

typedef struct outbox_row {
    uint64_t commit;
    int count;
    char writes[OUTBOX_WRITES][OUTBOX_TEXT]; /* JSON, in any order */
} outbox_row;

static struct {
    outbox_row rows[OUTBOX_ROWS];
    size_t first, len; /* rows before the first were trimmed */
} outbox;

static inline void outbox_forget(void) {
    outbox.first = outbox.len = 0;
}

static inline outbox_row *outbox_begin(uint64_t commit) {
    if (outbox.len == OUTBOX_ROWS) CHECK_FAIL("the model of the outbox is full");
    outbox_row *row = &outbox.rows[outbox.len++ % OUTBOX_ROWS];
    row->commit = commit;
    row->count = 0;
    return row;
}

/* `change`: a key and its value, as JSON. */
static inline void outbox_write(outbox_row *row, const char *type, const char *params, const char *member,
                                const char *change) {
    snprintf(row->writes[row->count++], OUTBOX_TEXT, "{\"type\":\"%s\",\"params\":%s,\"member\":\"%s\",%s}", type,
             params, member, change);
}

/* Up to a commit: what trimming must say. */
static inline uint32_t outbox_trim(uint64_t upto) {
    size_t before = outbox.first;
    while (outbox.first < outbox.len && outbox.rows[outbox.first].commit <= upto) outbox.first++;
    return (uint32_t)(outbox.first - before);
}

static inline void outbox_compare(const outbox_row *row, const char *text, const char *who) {
    char head[48];
    size_t len = (size_t)snprintf(head, sizeof head, "[{\"commit\":%d,\"writes\":[", (int)row->commit), start = len;
    bool same = strncmp(text, head, len) == 0;
    for (int i = 0; i < row->count; i++) {
        len += strlen(row->writes[i]) + (i > 0);
        same = same && strstr(text + start, row->writes[i]);
    }
    if (!same || strlen(text) != len + strlen("]}]"))
        CHECK_FAIL("%s: commit %d is %s, not %s …", who, (int)row->commit, text, row->writes[0]);
}

/* All of it, a row at a time. */
static inline void outbox_expect(chordal_host *host, const char *who) {
    uint64_t after = 0, next = 0;
    for (size_t i = outbox.first; i <= outbox.len && check_failures == 0; i++, after = next) {
        chordal_value *value = NULL;
        chordal_error error = {0};
        int code = chordal_store_outbox(host, after, 1, &value, &next, &error);
        if (code) CHECK_FAIL("%s: %d %s behind %d", who, code, error.detail, (int)after);
        if (code) return;
        const char *text = json_of(value);
        if (i == outbox.len) CHECK_TEXT(text, "[]");
        if (i < outbox.len) outbox_compare(&outbox.rows[i], text, who);
        if (i < outbox.len) next = outbox.rows[i].commit;
    }
}

/* As one who reads beside the owner, or when there is none, sees it. */
static inline void outbox_expect_beside(const char *path, const char *who) {
    test_host reader;
    test_host_open(&reader, (chordal_host_options){.store = path, .store_flags = CHORDAL_STORE_READ_ONLY});
    outbox_expect(reader.host, who);
    test_host_close(&reader);
}

#endif
