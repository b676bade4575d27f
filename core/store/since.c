/* since.c: what happened to a document after a commit that a reader has seen, folded from its revisions. */
#include "store/store.h"
#include "wire/wire.h"

#include <sqlite3.h>

/* Revisions go from the oldest on, so everything is kept since the newest base that the reader has seen. */
static int base_at(chordal__store *store, int64_t from, int64_t to, uint64_t number, int64_t *out,
                   chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_POINT_BASE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    sqlite3_bind_int64(statement, 3, (int64_t)number);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    code = chordal__statement_end(store, statement, result, error);
    return code == 0 && result != SQLITE_ROW ? CHORDAL_E_NOT_FOUND : code;
}

/* The type may have its members in another order since. */
static int set_member(chordal__memory *memory, chordal__op *op, uint32_t member) {
    chordal__path *path = op->path;
    if (!path || path->segments[0].index == member) return 0;
    size_t size = path->count * sizeof(chordal__segment);
    chordal__segment *segments = chordal__allocate(memory, size);
    if (!segments) return CHORDAL_E_NOMEM;
    memcpy(segments, path->segments, size);
    segments[0].index = member;
    chordal__path *moved = chordal__path_new(memory, segments, path->count);
    chordal__release(memory, segments, size);
    if (!moved) return CHORDAL_E_NOMEM;
    op->path = moved;
    chordal__path_unref(memory, path);
    return 0;
}

static int read_delta(chordal__ops *more, const uint8_t *data, size_t len, uint32_t member,
                      const chordal__limits *limits, chordal_error *error) {
    int code = chordal__ops_read(more, CHORDAL__ENCODING_BINARY, data, len, NULL, 0, limits, error);
    for (size_t i = 0; code == 0 && i < more->count; i++) code = set_member(more->memory, &more->items[i], member);
    return code;
}

/* A base that stands alone is a change: the whole value. */
static int read_base(chordal__ops *more, const uint8_t *data, size_t len, uint32_t member,
                     const chordal__limits *limits, chordal_error *error) {
    chordal__segment segment = {.index = member};
    chordal__op op = {.kind = CHORDAL_OP_REPLACE};
    int code = chordal__pack_read(more->memory, data, len, limits, &op.value, error);
    if (code < 0) return code;
    op.path = chordal__path_new(more->memory, &segment, 1);
    if (op.path) return chordal__ops_push(more, op);
    chordal__node_unref(more->memory, op.value);
    return CHORDAL_E_NOMEM;
}

static int fold_row(chordal__ops *ops, sqlite3_stmt *row, uint32_t member, const chordal__limits *limits,
                    chordal_error *error) {
    const uint8_t *data = sqlite3_column_blob(row, 2);
    size_t len = (size_t)sqlite3_column_bytes(row, 2);
    chordal__ops more;
    chordal__ops_init(&more, ops->memory);
    int code = sqlite3_column_int(row, 1) ? read_base(&more, data, len, member, limits, error)
                                          : read_delta(&more, data, len, member, limits, error);
    if (code == 0) code = chordal__fold(ops, &more);
    chordal__ops_dispose(&more);
    return code;
}

/* A base behind a delta of the same commit says nothing new. */
static int fold_rows(chordal__ops *ops, sqlite3_stmt *rows, const chordal__span *span, const chordal__limits *limits,
                     int *out_result, chordal_error *error) {
    uint64_t told = span->after, bytes = 0;
    int code = 0;
    while (code == 0 && (*out_result = sqlite3_step(rows)) == SQLITE_ROW) {
        uint64_t number = (uint64_t)sqlite3_column_int64(rows, 0);
        if (number == told) continue;
        told = number;
        bytes += (uint64_t)sqlite3_column_bytes(rows, 2);
        code = bytes > span->weight ? CHORDAL_E_NOT_FOUND : fold_row(ops, rows, span->member, limits, error);
    }
    return code;
}

int chordal__document_since(chordal__store *store, const chordal__document *document, const chordal__span *span,
                            const chordal__limits *limits, chordal__ops *ops, chordal_error *error) {
    int64_t from = document->now.id << CHORDAL__POSITION_BITS, to = from | document->now.position;
    if (!document->now.id) return CHORDAL_E_NOT_FOUND;
    if (document->now.number <= span->after) return 0;
    int code = base_at(store, from, to, span->after, &from, error), result = SQLITE_DONE;
    sqlite3_stmt *statement = code < 0 ? NULL : chordal__statement(store, CHORDAL__SQL_REVISIONS_SINCE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    sqlite3_bind_int64(statement, 3, (int64_t)span->after);
    sqlite3_bind_int64(statement, 4, (int64_t)span->to);
    code = fold_rows(ops, statement, span, limits, &result, error);
    int ended = chordal__statement_end(store, statement, result, error);
    return code < 0 ? code : ended;
}
