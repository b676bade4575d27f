/* point.c: a document at a point in time, found by its address in whichever life that had then. */
#include "store/store.h"

#include <sqlite3.h>

int chordal__point_find(chordal__store *store, const chordal__address *address, uint64_t at, int64_t *out,
                        chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_POINT_FIND, &code, error);
    *out = 0;
    if (code < 0) return code;
    sqlite3_bind_blob64(statement, 1, address->type, address->type_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, address->key_len ? address->key : "", address->key_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 3, address->member, address->member_len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, (int64_t)at);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    return chordal__statement_end(store, statement, result, error);
}

/* ---- the key: the values of the params in the type's order, which nobody may know here ---- */

static void write_key(chordal__buffer *key, const chordal__node *params) {
    chordal__walk walk;
    const uint8_t *name;
    size_t len;
    chordal__walk_begin(&walk, params);
    for (chordal__node *value; (value = chordal__walk_next(&walk, &name, &len)) != NULL;)
        chordal__pack_write(key, value);
}

static bool has_params(chordal__store *store, sqlite3_stmt *row, const chordal__node *params,
                       const chordal__limits *limits, int *code) {
    chordal__node *found;
    const uint8_t *data = sqlite3_column_blob(row, 1);
    int read =
        chordal__pack_read(store->memory, data, data ? (size_t)sqlite3_column_bytes(row, 1) : 0, limits, &found, NULL);
    if (read == CHORDAL_E_NOMEM) *code = read;
    if (read < 0) return false;
    bool equal = chordal__node_equal(found, params);
    chordal__node_unref(store->memory, found);
    return equal;
}

/* Params in another order than the type's: a look through the documents that have a key of this length. */
static int find_key(chordal__store *store, const chordal__address *named, const chordal__node *params,
                    const chordal__limits *limits, chordal__buffer *key, bool *out_found, chordal_error *error) {
    int code, result = SQLITE_DONE;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_POINT_KEYS, &code, error);
    *out_found = false;
    if (code < 0) return code;
    sqlite3_bind_blob64(statement, 1, named->type, named->type_len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (int64_t)key->len);
    sqlite3_bind_blob64(statement, 3, named->member, named->member_len, SQLITE_STATIC);
    while (code == 0 && !*out_found && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        *out_found = has_params(store, statement, params, limits, &code);
        if (!*out_found) continue;
        chordal__buffer_clear(key);
        chordal__buffer_put(key, sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0));
        code = key->failed;
    }
    if (code < 0) chordal__fail(error, code, 0, "no memory for the params");
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

static int find_by_params(chordal__store *store, const chordal__address *named, const chordal__node *params,
                          uint64_t at, const chordal__limits *limits, int64_t *out, chordal_error *error) {
    bool found = false;
    chordal__buffer key;
    chordal__address address = *named;
    chordal__buffer_init(&key, store->memory, limits->size);
    write_key(&key, params);
    int code = key.failed ? chordal__fail(error, key.failed, 0, "no room for the params") : 0;
    address.key = key.data, address.key_len = key.len;
    if (code == 0) code = chordal__point_find(store, &address, at, out, error);
    if (code == 0 && !*out && chordal__node_length(params) > 1)
        code = find_key(store, named, params, limits, &key, &found, error);
    address.key = key.data, address.key_len = key.len;
    if (found) code = chordal__point_find(store, &address, at, out, error);
    chordal__buffer_dispose(&key);
    return code;
}

static int read_found(chordal__store *store, int64_t id, uint64_t at, const chordal__limits *limits,
                      chordal__node **out_value, uint64_t *out_number, chordal_error *error) {
    if (!id) return chordal__fail(error, CHORDAL_E_NOT_FOUND, 0, "there was no such document then");
    return chordal__document_at(store, id, at, limits, out_value, out_number, error);
}

int chordal__point_read(chordal__store *store, const chordal__address *named, const chordal__node *params, uint64_t at,
                        const chordal__limits *limits, chordal__node **out_value, uint64_t *out_number,
                        chordal_error *error) {
    int64_t id;
    bool began;
    if (chordal__node_kind(params) != CHORDAL_KIND_OBJECT)
        return chordal__fail(error, CHORDAL_E_PARAMS, 0, "params are an object");
    int code = chordal__look_begin(store, &began, error);
    if (code < 0) return code;
    code = find_by_params(store, named, params, at, limits, &id, error);
    if (code == 0) code = read_found(store, id, at, limits, out_value, out_number, error);
    chordal__look_end(store, began);
    return code;
}
