/* api_table.c: the public functions on rows. */
#include "host/host.h"
#include "object/tables.h"

#include "chordal/table.h"

/* The table in a transaction that is still open; the host is entered when it is found. */
static int enter(chordal_transaction *transaction, chordal_id object, uint32_t member, chordal__own_table **out,
                 chordal_error *error) {
    if (!transaction) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no transaction");
    if (!transaction->host) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the host is closed");
    int code = chordal__enter(transaction->host, error);
    if (code < 0) return code;
    code = chordal__own_table_of(transaction, object, member, out, error);
    return code < 0 ? chordal__leave(transaction->host, code) : 0;
}

/* ---- values ---- */

typedef int (*take_node)(chordal__row_draft *draft, const chordal__node *value, chordal_error *error);
typedef int (*take_packed)(chordal__row_draft *draft, const uint8_t *data, size_t len, const chordal__limits *limits,
                           chordal_error *error);

static int draft_value(const chordal__runtime *runtime, chordal__row_draft *draft, uint32_t format, const uint8_t *data,
                       size_t len, take_node node_taker, take_packed packed_taker, chordal_error *error) {
    const chordal__limits *limits = &runtime->settings.limits;
    chordal__node *node;
    if (len > limits->size) return chordal__fail(error, CHORDAL_E_SIZE, 0, "the value is too large");
    if (format == CHORDAL_FORMAT_PACKED) return packed_taker(draft, data, len, limits, error);
    if (format != CHORDAL_FORMAT_JSON) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no such format");
    int code = chordal__json_read(runtime->memory, data, len, limits, &node, error);
    if (code < 0) return code;
    code = node_taker(draft, node, error);
    chordal__node_unref(runtime->memory, node);
    return code;
}

/* How what is given becomes a row: of its columns, or of its key alone. */
typedef struct takers {
    take_node node;
    take_packed packed;
} takers;
static const takers of_columns = {chordal__row_draft_object, chordal__row_draft_packed};
static const takers of_key = {chordal__row_draft_key, chordal__row_draft_packed_key};

static int read_draft(const chordal__runtime *runtime, const chordal__table *table, const chordal__row *base,
                      const takers *take, uint32_t format, const uint8_t *data, size_t len, chordal__row **out,
                      chordal_error *error) {
    chordal__row_draft draft;
    chordal__row_draft_begin(&draft, table, base);
    int code = draft_value(runtime, &draft, format, data, len, take->node, take->packed, error);
    if (code == 0) code = chordal__row_draft_end(&draft, out, error);
    chordal__row_draft_dispose(&draft);
    return code;
}

/* A row of what is given, upon `base`. */
static int read_row(const chordal__runtime *runtime, const chordal__table *table, const chordal__row *base,
                    uint32_t format, const uint8_t *data, size_t len, chordal__row **out, chordal_error *error) {
    return read_draft(runtime, table, base, &of_columns, format, data, len, out, error);
}

static int read_key(const chordal__runtime *runtime, const chordal__table *table, uint32_t format, const uint8_t *data,
                    size_t len, chordal__row **out, chordal_error *error) {
    return read_draft(runtime, table, NULL, &of_key, format, data, len, out, error);
}

/* Packed bytes in the scratch, into the caller's buffer as `format`. */
static int give(chordal__runtime *runtime, uint32_t format, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                chordal_error *error) {
    chordal__buffer *packed = &runtime->scratch, json, *out = packed;
    chordal__limits limits = {.depth = runtime->settings.limits.depth + 8, .size = UINT64_MAX};
    int code = packed->failed;
    chordal__buffer_init(&json, runtime->memory, UINT32_MAX);
    if (code == 0 && format == CHORDAL_FORMAT_JSON) {
        chordal__reader reader = chordal__reader_of(packed->data, packed->len);
        code = chordal__json_from_pack(&json, &reader, &limits, error);
        if (code == 0) code = json.failed;
        if (code < 0 && code != CHORDAL_E_NOMEM && code != CHORDAL_E_SIZE && code != CHORDAL_E_DEPTH)
            code = CHORDAL_E_CORRUPT;
        out = &json;
    }
    *out_len = out->len;
    if (code < 0)
        chordal__fail(error, code, 0,
                      code == CHORDAL_E_CORRUPT ? "the store: a row is damaged" : "no memory for the answer");
    else if (out->len > buffer_len)
        code = chordal__fail(error, CHORDAL_E_ROOM, 0, "the answer needs more room");
    else if (out->len)
        memcpy(buffer, out->data, out->len);
    chordal__buffer_dispose(&json);
    return code;
}

static int give_row(chordal__runtime *runtime, const chordal__table *table, const chordal__row *row, uint32_t format,
                    uint8_t *buffer, size_t buffer_len, size_t *out_len, chordal_error *error) {
    bool json = format == CHORDAL_FORMAT_JSON;
    if (!row) return chordal__fail(error, CHORDAL_E_NOT_FOUND, 0, "there is no row with this key");
    chordal__buffer_clear(&runtime->scratch);
    chordal__row_pack(&runtime->scratch, table, row, json ? CHORDAL__BYTES_BASE64 : CHORDAL__BYTES_RAW);
    return give(runtime, format, buffer, buffer_len, out_len, error);
}

/* ---- in a transaction ---- */

int chordal_transaction_put(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                            const uint8_t *data, size_t len, chordal_error *error) {
    chordal__own_table *own;
    chordal__row *row = NULL;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    const chordal__table *table = own->rows->table;
    code = read_row(transaction->runtime, table, table->initial, format, data, len, &row, error);
    if (code == 0) code = chordal__own_row_write(transaction, own, row, row, true, error);
    chordal__row_unref(row);
    return chordal__leave(transaction->host, code);
}

static int patch(chordal_transaction *transaction, chordal__own_table *own, uint32_t format, const uint8_t *data,
                 size_t len, chordal__row *key, chordal_error *error) {
    const chordal__table *table = own->rows->table;
    chordal__row *before, *after;
    int code = chordal__own_row_read(transaction, own, key, &before, error);
    if (code < 0) return code;
    if (!before) return chordal__fail(error, CHORDAL_E_NOT_FOUND, 0, "there is no row with this key");
    code = read_row(transaction->runtime, table, before, format, data, len, &after, error);
    if (code < 0) return code;
    code = chordal__own_row_write(transaction, own, key, after, false, error);
    chordal__row_unref(after);
    return code;
}

int chordal_transaction_patch(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                              const uint8_t *data, size_t len, chordal_error *error) {
    chordal__own_table *own;
    chordal__row *key = NULL;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = read_row(transaction->runtime, own->rows->table, NULL, format, data, len, &key, error);
    if (code == 0) code = patch(transaction, own, format, data, len, key, error);
    chordal__row_unref(key);
    return chordal__leave(transaction->host, code);
}

int chordal_transaction_remove(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                               const uint8_t *data, size_t len, chordal_error *error) {
    chordal__own_table *own;
    chordal__row *key = NULL;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = read_key(transaction->runtime, own->rows->table, format, data, len, &key, error);
    if (code == 0) code = chordal__own_row_write(transaction, own, key, NULL, false, error);
    chordal__row_unref(key);
    return chordal__leave(transaction->host, code);
}

int chordal_transaction_row(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                            const uint8_t *data, size_t len, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                            chordal_error *error) {
    chordal__own_table *own;
    chordal__row *key = NULL, *row = NULL;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = read_key(transaction->runtime, own->rows->table, format, data, len, &key, error);
    if (code == 0) code = chordal__own_row_read(transaction, own, key, &row, error);
    if (code == 0)
        code = give_row(transaction->runtime, own->rows->table, row, format, buffer, buffer_len, out_len, error);
    chordal__row_unref(key);
    return chordal__leave(transaction->host, code);
}

int chordal_transaction_changes(chordal_transaction *transaction, const uint8_t *changes, size_t changes_len,
                                chordal_error *error) {
    if (!transaction) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no transaction");
    if (!transaction->host) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the host is closed");
    int code = chordal__enter(transaction->host, error);
    if (code < 0) return code;
    code = chordal__transaction_changes(transaction, changes, changes_len, error);
    return chordal__leave(transaction->host, code);
}

/* ---- queries ---- */

static int read_query(chordal__runtime *runtime, const chordal__table *table, uint32_t format, const uint8_t *data,
                      size_t len, chordal__query *out, chordal_error *error) {
    chordal__node *value;
    int code = chordal__node_of(runtime, format, data, len, &value, error);
    *out = (chordal__query){0};
    if (code < 0) return code;
    code = chordal__query_read(table, value, out, error);
    chordal__node_unref(runtime->memory, value);
    return code;
}

static int answer(chordal__runtime *runtime, chordal__rows *rows, chordal__own_table *own, uint32_t format,
                  const uint8_t *data, size_t len, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                  chordal_error *error) {
    chordal__query query;
    int code = read_query(runtime, rows->table, format, data, len, &query, error);
    if (code == 0) code = chordal__rows_answer(rows, own, &query, format == CHORDAL_FORMAT_PACKED, error);
    chordal__query_dispose(&query);
    return code < 0 ? code : give(runtime, format, buffer, buffer_len, out_len, error);
}

int chordal_transaction_query(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                              const uint8_t *query, size_t query_len, uint8_t *buffer, size_t buffer_len,
                              size_t *out_len, chordal_error *error) {
    chordal__own_table *own;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = answer(transaction->runtime, own->rows, own, format, query, query_len, buffer, buffer_len, out_len, error);
    return chordal__leave(transaction->host, code);
}

static int change_where(chordal_transaction *transaction, chordal__own_table *own, uint32_t format,
                        const uint8_t *where, size_t where_len, const chordal__node *changes, uint64_t *out_count,
                        chordal_error *error) {
    chordal__runtime *runtime = transaction->runtime;
    chordal__node *value;
    chordal__query query = {0};
    int code = chordal__node_of(runtime, format, where, where_len, &value, error);
    if (code < 0) return code;
    code = chordal__query_where(own->rows->table, value, &query, error);
    if (code == 0) code = chordal__rows_change(own, &query, changes, out_count, error);
    chordal__query_dispose(&query);
    chordal__node_unref(runtime->memory, value);
    return code;
}

int chordal_transaction_update_where(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                     uint32_t format, const uint8_t *where, size_t where_len, const uint8_t *changes,
                                     size_t changes_len, uint64_t *out_count, chordal_error *error) {
    chordal__own_table *own;
    chordal__node *value = NULL;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = chordal__node_of(transaction->runtime, format, changes, changes_len, &value, error);
    if (code == 0) code = change_where(transaction, own, format, where, where_len, value, out_count, error);
    chordal__node_unref(transaction->memory, value);
    return chordal__leave(transaction->host, code);
}

int chordal_transaction_delete_where(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                     uint32_t format, const uint8_t *where, size_t where_len, uint64_t *out_count,
                                     chordal_error *error) {
    chordal__own_table *own;
    int code = enter(transaction, object, member, &own, error);
    if (code < 0) return code;
    code = change_where(transaction, own, format, where, where_len, NULL, out_count, error);
    return chordal__leave(transaction->host, code);
}

/* ---- outside ---- */

static chordal__rows *find_rows(chordal_host *host, chordal_id id, uint32_t member, int *code, chordal_error *error) {
    const chordal__object *object = chordal__find(host, id, CHORDAL__ID_OBJECT, code, error);
    if (!object) return NULL;
    chordal__rows *rows = chordal__rows_of(object, member);
    bool known = member < object->type->members->count;
    if (!rows && known) *code = chordal__fail(error, CHORDAL_E_INVALID, 0, "the member is no table");
    if (!rows && !known) *code = chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such member");
    return rows;
}

int chordal_object_row(chordal_host *host, chordal_id object, uint32_t member, uint32_t format, const uint8_t *data,
                       size_t len, uint8_t *buffer, size_t buffer_len, size_t *out_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__runtime *runtime = &host->runtime;
    chordal__rows *rows = find_rows(host, object, member, &code, error);
    chordal__row *key = NULL, *row = NULL;
    if (rows) code = read_key(runtime, rows->table, format, data, len, &key, error);
    if (rows && code == 0) code = chordal__row_find(runtime->store, rows->table, rows->object->owner, key, &row, error);
    if (rows && code == 0) code = give_row(runtime, rows->table, row, format, buffer, buffer_len, out_len, error);
    chordal__row_unref(key);
    chordal__row_unref(row);
    return chordal__leave(host, code);
}

int chordal_object_query(chordal_host *host, chordal_id object, uint32_t member, uint32_t format, const uint8_t *query,
                         size_t query_len, uint8_t *buffer, size_t buffer_len, size_t *out_len, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__rows *rows = find_rows(host, object, member, &code, error);
    if (rows) code = answer(&host->runtime, rows, NULL, format, query, query_len, buffer, buffer_len, out_len, error);
    return chordal__leave(host, code);
}
