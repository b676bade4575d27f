/* table_change.c: rows in a transaction: what it has read of them, what it has written. */
#include "object/tables.h"

/* ---- life ---- */

static void drop_row(chordal__memory *memory, chordal__own_row *own) {
    chordal__list_remove(&own->node);
    chordal__row_unref(own->key);
    chordal__row_unref(own->found);
    chordal__row_unref(own->row);
    chordal__release(memory, own, sizeof *own + own->len);
}

static void drop_table(chordal__memory *memory, chordal__own_table *table) {
    chordal__list_remove(&table->node);
    while (!chordal__list_empty(&table->list))
        drop_row(memory, CHORDAL__ENTRY(table->list.next, chordal__own_row, node));
    chordal__sweep_free(table->sweep);
    chordal__map_dispose(&table->by_key);
    chordal__object_unpin(table->rows->object);
    chordal__release(memory, table, sizeof *table);
}

void chordal__own_tables_drop(chordal_transaction *transaction) {
    while (!chordal__list_empty(&transaction->tables))
        drop_table(transaction->memory, CHORDAL__ENTRY(transaction->tables.next, chordal__own_table, node));
}

static chordal__own_table *touch(chordal_transaction *transaction, chordal__rows *rows) {
    chordal__own_table *table = chordal__allocate_zero(transaction->memory, sizeof *table);
    if (!table) return NULL;
    table->transaction = transaction;
    table->rows = rows;
    table->moves = rows->moves;
    chordal__map_init(&table->by_key, transaction->memory, transaction->runtime->seed);
    chordal__list_init(&table->list);
    chordal__list_append(&transaction->tables, &table->node);
    chordal__object_pin(rows->object);
    return table;
}

static chordal__own_table *find_touched(const chordal_transaction *transaction, const chordal__rows *rows) {
    for (chordal__list *node = transaction->tables.next; node != &transaction->tables; node = node->next) {
        chordal__own_table *table = CHORDAL__ENTRY(node, chordal__own_table, node);
        if (table->rows == rows) return table;
    }
    return NULL;
}

int chordal__own_table_of(chordal_transaction *transaction, chordal_id id, uint32_t member, chordal__own_table **out,
                          chordal_error *error) {
    chordal__object *object = chordal__id_get(&transaction->runtime->ids, id, CHORDAL__ID_OBJECT);
    if (!object) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "no such object");
    if (object->state == CHORDAL__OBJECT_RETIRED)
        return chordal__fail(error, CHORDAL_E_RETIRED, 0, "the object is retired");
    if (member >= object->type->members->count) return chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such member");
    chordal__rows *rows = chordal__rows_of(object, member);
    if (!rows) return chordal__fail(error, CHORDAL_E_INVALID, 0, "the member is no table");
    *out = find_touched(transaction, rows);
    if (!*out) *out = touch(transaction, rows);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
}

/* ---- rows ---- */

static chordal__own_row *new_row(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key,
                                 const chordal__buffer *bytes) {
    chordal__own_row *own = chordal__allocate_zero(transaction->memory, sizeof *own + bytes->len);
    if (!own) return NULL;
    own->len = bytes->len;
    memcpy(own->bytes, bytes->data, bytes->len);
    own->key = chordal__row_ref(key);
    chordal__list_init(&own->node);
    if (chordal__map_put(&table->by_key, own->bytes, own->len, own) < 0) {
        drop_row(transaction->memory, own);
        return NULL;
    }
    chordal__list_append(&table->list, &own->node);
    return own;
}

/* What the transaction knows of a key; made when it is first named. */
static int know(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key, chordal__own_row **out,
                chordal_error *error) {
    chordal__buffer *bytes = &transaction->runtime->scratch;
    chordal__buffer_clear(bytes);
    chordal__row_key(bytes, table->rows->table, key);
    *out = bytes->failed ? NULL : chordal__map_get(&table->by_key, bytes->data, bytes->len);
    if (*out) return 0;
    if (table->by_key.count >= CHORDAL__OWN_ROWS_LIMIT)
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many rows in one transaction");
    if (!bytes->failed) *out = new_row(transaction, table, key, bytes);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
}

int chordal__own_row_read(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key,
                          chordal__row **out, chordal_error *error) {
    chordal__own_row *own;
    int code = chordal__own_table_settle(table, error);
    if (code == 0) code = know(transaction, table, key, &own, error);
    if (code == 0 && !own->read && !own->written) {
        code = chordal__rows_tip(table->rows, own->bytes, own->len, key, &own->found, error);
        own->read = code == 0;
    }
    if (code == 0) *out = own->written ? own->row : own->found;
    return code;
}

int chordal__own_row_write(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key,
                           chordal__row *row, bool always, chordal_error *error) {
    chordal__own_row *own;
    int code = chordal__own_table_settle(table, error);
    if (code == 0) code = know(transaction, table, key, &own, error);
    if (code < 0) return code;
    if (row) chordal__row_ref(row);
    chordal__row_unref(own->row);
    own->row = row;
    own->written = always || !own->read || !chordal__row_equal(own->found, row);
    return 0;
}

/* ---- packed changes ---- */

static int read_key(chordal_transaction *transaction, const chordal__segment *segment, chordal__row_draft *draft,
                    chordal_error *error) {
    chordal__memory *memory = transaction->memory;
    chordal__node *key = NULL;
    int code = 0;
    if (segment->is_key)
        code = chordal__json_read(memory, segment->key, segment->key_len, &transaction->runtime->settings.limits, &key,
                                  error);
    else if (!(key = chordal__node_integer(memory, (int64_t)segment->index)))
        code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a key");
    if (code == 0) code = chordal__row_draft_key(draft, key, error);
    chordal__node_unref(memory, key);
    return code;
}

static int same_key(const chordal__table *table, const chordal__row *row, const chordal__row *key,
                    chordal_error *error) {
    for (uint32_t i = 0; i < table->key_len; i++)
        if (chordal__cell_compare(&row->cells[table->key[i]], &key->cells[table->key[i]]) != 0)
            return chordal__fail(error, CHORDAL_E_PATH, 0, "the row has another key than its path");
    return 0;
}

static int put_value(chordal_transaction *transaction, chordal__own_table *table, const chordal__op *op,
                     chordal__row *key, chordal_error *error) {
    chordal__row_draft draft;
    chordal__row *row = NULL;
    chordal__row_draft_begin(&draft, table->rows->table, table->rows->table->initial);
    int code = read_key(transaction, &op->path->segments[1], &draft, error);
    if (code == 0) code = chordal__row_draft_object(&draft, op->value, error);
    if (code == 0) code = chordal__row_draft_end(&draft, &row, error);
    if (code == 0) code = same_key(table->rows->table, row, key, error);
    if (code == 0) code = chordal__own_row_write(transaction, table, key, row, true, error);
    chordal__row_unref(row);
    chordal__row_draft_dispose(&draft);
    return code;
}

int chordal__own_table_op(chordal_transaction *transaction, chordal_id object, const chordal__op *op,
                          chordal_error *error) {
    chordal__own_table *table;
    chordal__row_draft draft;
    chordal__row *key = NULL;
    if (op->path->count != 2 || (op->kind != CHORDAL_OP_SET && op->kind != CHORDAL_OP_DELETE))
        return chordal__fail(error, CHORDAL_E_PATH, 0, "rows are set and deleted by [member, key]");
    int code = chordal__own_table_of(transaction, object, (uint32_t)op->path->segments[0].index, &table, error);
    if (code < 0) return code;
    chordal__row_draft_begin(&draft, table->rows->table, NULL);
    code = read_key(transaction, &op->path->segments[1], &draft, error);
    if (code == 0) code = chordal__row_draft_end(&draft, &key, error);
    if (code == 0 && op->kind == CHORDAL_OP_SET) code = put_value(transaction, table, op, key, error);
    if (code == 0 && op->kind == CHORDAL_OP_DELETE)
        code = chordal__own_row_write(transaction, table, key, NULL, false, error);
    chordal__row_unref(key);
    chordal__row_draft_dispose(&draft);
    return code;
}

/* ---- committing ---- */

static bool changes(const chordal__own_table *table) {
    if (table->sweep) return true;
    for (chordal__list *node = table->list.next; node != &table->list; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__own_row, node)->written) return true;
    return false;
}

bool chordal__own_tables_change(const chordal_transaction *transaction) {
    for (chordal__list *node = transaction->tables.next; node != &transaction->tables; node = node->next)
        if (changes(CHORDAL__ENTRY(node, chordal__own_table, node))) return true;
    return false;
}

uint32_t chordal__own_tables_count(const chordal_transaction *transaction) {
    uint32_t count = 0;
    for (chordal__list *node = transaction->tables.next; node != &transaction->tables; node = node->next) count++;
    return count;
}

static int check_row(chordal__own_table *table, const chordal__own_row *own, chordal_error *error) {
    chordal__row *row;
    int code = chordal__rows_tip(table->rows, own->bytes, own->len, own->key, &row, error);
    if (code < 0) return code;
    bool same = chordal__row_equal(row, own->found);
    chordal__row_unref(row);
    return same ? 0 : chordal__fail(error, CHORDAL_E_CONFLICT, 0, "a row has changed since the transaction read it");
}

static int check_table(chordal__own_table *table, chordal_error *error) {
    if (table->rows->object->state == CHORDAL__OBJECT_RETIRED)
        return chordal__fail(error, CHORDAL_E_RETIRED, 0, "an object was retired during the transaction");
    if (table->queried && table->query_moves != table->rows->moves)
        return chordal__fail(error, CHORDAL_E_CONFLICT, 0, "a table has changed since the transaction queried it");
    int code = 0;
    if (table->moves == table->rows->moves) return 0;
    for (chordal__list *node = table->list.next; node != &table->list && code == 0; node = node->next) {
        const chordal__own_row *own = CHORDAL__ENTRY(node, chordal__own_row, node);
        if (own->read) code = check_row(table, own, error);
    }
    return code;
}

int chordal__own_tables_check(const chordal_transaction *transaction, chordal_error *error) {
    int code = 0;
    for (chordal__list *node = transaction->tables.next; node != &transaction->tables && code == 0; node = node->next)
        code = check_table(CHORDAL__ENTRY(node, chordal__own_table, node), error);
    return code;
}

static int prepare_sweep(chordal__change *change, chordal__own_table *table) {
    chordal__row_set *set = chordal__row_set_new(change, table->rows, 0);
    if (!set) return CHORDAL_E_NOMEM;
    set->queried = true;
    set->sweep = table->sweep;
    table->sweep = NULL;
    return 0;
}

static int prepare_table(chordal__change *change, chordal__own_table *table) {
    chordal__row_set *set = chordal__row_set_new(change, table->rows, (uint32_t)table->by_key.count);
    int code = set ? 0 : CHORDAL_E_NOMEM;
    if (!set) return code;
    set->queried = table->queried;
    for (chordal__list *node = table->list.next; node != &table->list && code == 0; node = node->next) {
        const chordal__own_row *own = CHORDAL__ENTRY(node, chordal__own_row, node);
        chordal__row_entry entry = {.key = own->key, .read = own->read, .written = own->written};
        if (own->written) entry.row = own->row;
        code = chordal__row_set_add(set, own->bytes, own->len, &entry);
    }
    return code == 0 && table->sweep ? prepare_sweep(change, table) : code;
}

int chordal__own_tables_prepare(chordal__commit *commit, chordal_transaction *transaction, chordal_error *error) {
    int code = 0;
    if (!transaction->changes) return 0;
    for (chordal__list *node = transaction->tables.next; node != &transaction->tables && code == 0; node = node->next) {
        chordal__own_table *table = CHORDAL__ENTRY(node, chordal__own_table, node);
        commit->writes = commit->writes || changes(table);
        code = prepare_table(chordal__commit_change(commit, table->rows->object), table);
    }
    return code < 0 ? chordal__fail(error, code, 0, "no memory for a commit") : 0;
}
