/* api_transaction.c: the public functions on transactions. */
#include "host/host.h"

int chordal_commit(chordal_host *host, chordal_id call, const uint8_t *changes, size_t changes_len,
                   chordal_id *out_ticket, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal_transaction *transaction;
    code = chordal__transaction_begin(&host->runtime, call, &transaction, error);
    if (code < 0) return chordal__leave(host, code);
    code = chordal__transaction_changes(transaction, changes, changes_len, error);
    if (code == 0) code = chordal__transaction_commit(transaction, out_ticket, error);
    chordal__transaction_free(transaction);
    return chordal__leave(host, code);
}

int chordal_transaction_begin(chordal_host *host, chordal_id call, chordal_transaction **out, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    code = chordal__transaction_begin(&host->runtime, call, out, error);
    if (code == 0) (*out)->host = host;
    return chordal__leave(host, code);
}

/* The host of a transaction that is still open; entered. */
static int enter(chordal_transaction *transaction, chordal_error *error) {
    if (!transaction) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no transaction");
    if (!transaction->host) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the host is closed");
    return chordal__enter(transaction->host, error);
}

int chordal_transaction_commit(chordal_transaction *transaction, chordal_id *out_ticket, chordal_error *error) {
    int code = enter(transaction, error);
    if (code == CHORDAL_E_CLOSED && !transaction->host) chordal__transaction_free(transaction);
    if (code < 0) return code;
    chordal_host *host = transaction->host;
    code = chordal__transaction_commit(transaction, out_ticket, error);
    chordal__transaction_free(transaction);
    return chordal__leave(host, code);
}

void chordal_transaction_abort(chordal_transaction *transaction) {
    if (!transaction) return;
    chordal_host *host = transaction->host;
    if (host && chordal__enter(host, NULL) < 0) return;
    chordal__transaction_free(transaction);
    if (host) chordal__leave(host, 0);
}

static int path_of(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *pointer,
                   chordal__path **out, chordal__touched **out_touched, chordal_error *error) {
    int code = chordal__transaction_draft(transaction, object, member, out_touched, error);
    if (code < 0) return code;
    return chordal__pointers_path(&transaction->runtime->pointers, member, pointer, (*out_touched)->draft.value, out,
                                  error);
}

int chordal_transaction_value(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                              chordal_value **out, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    chordal__path *place;
    chordal__touched *touched;
    code = path_of(transaction, object, member, path, &place, &touched, error);
    if (code < 0) return chordal__leave(transaction->host, code);
    if (chordal__draft_waits(&touched->draft)) code = chordal__draft_apply(&touched->draft, error);
    chordal__node *node = code < 0 ? NULL : chordal__resolve(touched->draft.value, place);
    chordal__path_unref(transaction->memory, place);
    if (code < 0) return chordal__leave(transaction->host, code);
    if (node) *out = chordal__box_new(transaction->memory, node);
    if (!node)
        code = chordal__fail(error, CHORDAL_E_PATH, 0, "the path leads nowhere");
    else if (!*out)
        code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
    return chordal__leave(transaction->host, code);
}

/* What is done again and again at the same place: whether it leads there is seen when it is put off. */
static bool put_off(chordal_transaction *transaction, chordal__touched *touched, uint32_t member, const char *path,
                    chordal__op *op) {
    if (CHORDAL__SMALL) return false;
    op->path = chordal__path_ref(chordal__pointers_known(&transaction->runtime->pointers, member, path));
    if (!op->path) return false;
    if (chordal__touched_put_off(touched, op)) return true;
    chordal__path_unref(transaction->memory, op->path);
    op->path = NULL;
    return false;
}

/* Finish an op with its path and do it; TAKES what the op owns. The host is entered. */
static int act(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path, chordal__op op,
               chordal_error *error) {
    chordal__touched *touched;
    int code = chordal__transaction_draft(transaction, object, member, &touched, error);
    if (code == 0 && put_off(transaction, touched, member, path, &op)) return chordal__leave(transaction->host, 0);
    if (code == 0)
        code = chordal__pointers_path(&transaction->runtime->pointers, member, path, touched->draft.value, &op.path,
                                      error);
    if (code == 0) {
        code = chordal__touched_do(touched, op, error);
    } else {
        op.path = NULL;
        chordal__op_dispose(transaction->memory, &op);
    }
    return chordal__leave(transaction->host, code);
}

static int act_on_value(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                        uint8_t kind, const chordal_value *value, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    if (!value) return chordal__leave(transaction->host, chordal__fail(error, CHORDAL_E_INVALID, 0, "no value"));
    chordal__op op = {.kind = kind, .value = chordal__node_ref(chordal__box_node(value))};
    return act(transaction, object, member, path, op, error);
}

int chordal_transaction_set(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                            const chordal_value *value, chordal_error *error) {
    uint8_t kind = path && !*path ? CHORDAL_OP_REPLACE : CHORDAL_OP_SET;
    return act_on_value(transaction, object, member, path, kind, value, error);
}

int chordal_transaction_assign(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                               const chordal_value *value, chordal_error *error) {
    return act_on_value(transaction, object, member, path, CHORDAL_OP_ASSIGN, value, error);
}

int chordal_transaction_set_json(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                                 const char *json, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    chordal__op op = {.kind = path && !*path ? CHORDAL_OP_REPLACE : CHORDAL_OP_SET};
    code = chordal__node_of(transaction->runtime, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), &op.value,
                            error);
    if (code < 0) return chordal__leave(transaction->host, code);
    return act(transaction, object, member, path, op, error);
}

int chordal_transaction_delete(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                               chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    return act(transaction, object, member, path, (chordal__op){.kind = CHORDAL_OP_DELETE}, error);
}

int chordal_transaction_append(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                               const char *text, size_t text_len, chordal_error *error) {
    size_t position;
    int code = enter(transaction, error);
    if (code < 0) return code;
    chordal__op op = {.kind = CHORDAL_OP_APPEND};
    if (!chordal__utf_valid((const uint8_t *)text, text_len, &position))
        return chordal__leave(transaction->host, chordal__fail(error, CHORDAL_E_UTF8, position, "not valid UTF-8"));
    op.value = chordal__node_string(transaction->memory, text, text_len);
    if (!op.value)
        return chordal__leave(transaction->host, chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the text"));
    return act(transaction, object, member, path, op, error);
}

int chordal_transaction_truncate(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                                 uint64_t count, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    return act(transaction, object, member, path, (chordal__op){.kind = CHORDAL_OP_TRUNCATE, .index = count}, error);
}

int chordal_transaction_splice(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                               uint64_t index, uint64_t remove, const chordal_value *values, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    chordal__op op = {.kind = CHORDAL_OP_SPLICE, .index = index, .remove = remove};
    chordal__node *node = values ? chordal__box_node(values) : NULL;
    if (node && chordal__node_kind(node) != CHORDAL_KIND_ARRAY)
        return chordal__leave(transaction->host,
                              chordal__fail(error, CHORDAL_E_TYPE, 0, "the values are not an array"));
    op.value = node ? chordal__node_ref(node) : NULL;
    return act(transaction, object, member, path, op, error);
}

int chordal_transaction_permute(chordal_transaction *transaction, chordal_id object, uint32_t member, const char *path,
                                const uint32_t *indexes, size_t indexes_len, chordal_error *error) {
    int code = enter(transaction, error);
    if (code < 0) return code;
    if (indexes_len > UINT32_MAX)
        return chordal__leave(transaction->host,
                              chordal__fail(error, CHORDAL_E_PERMUTATION, 0, "more indexes than an array has"));
    chordal__op op = {.kind = CHORDAL_OP_PERMUTE, .indexes_len = (uint32_t)indexes_len};
    op.indexes = chordal__allocate(transaction->memory, indexes_len * sizeof *indexes);
    if (indexes_len && !op.indexes)
        return chordal__leave(transaction->host, chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for indexes"));
    if (indexes_len) memcpy(op.indexes, indexes, indexes_len * sizeof *indexes);
    return act(transaction, object, member, path, op, error);
}
