/* table_sweep.c: all rows that match, changed or removed: in the step by one statement, and row by row only when
 * somebody needs the rows. */
#include "object/tables.h"

/* ---- what is to be done ---- */

static int check_changes(const chordal__row_draft *draft, chordal_error *error) {
    for (uint32_t i = 0; i < draft->table->key_len; i++)
        if (draft->given >> draft->table->key[i] & 1)
            return chordal__fail(error, CHORDAL_E_INVALID, 0, "the key of a row does not change");
    return 0;
}

static int read_changes(const chordal__table *table, const chordal__node *changes, chordal__sweep *sweep,
                        chordal_error *error) {
    chordal__row_draft draft;
    chordal__row_draft_begin(&draft, table, NULL);
    int code = chordal__row_draft_object(&draft, changes, error);
    if (code == 0) code = check_changes(&draft, error);
    if (code == 0) sweep->changes = chordal__row_draft_row(&draft);
    if (code == 0 && !sweep->changes) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
    sweep->given = draft.given;
    chordal__row_draft_dispose(&draft);
    return code;
}

/* ---- row by row ---- */

/* *out NULL: it is removed. */
static int sweep_row(const chordal__sweep *sweep, const chordal__row *row, chordal__row **out, chordal_error *error) {
    *out = sweep->changes ? chordal__sweep_row(sweep, row) : NULL;
    return *out || !sweep->changes ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
}

static int change_row(chordal__own_table *own, const chordal__sweep *sweep, chordal__row *row, chordal_error *error) {
    chordal__row *after;
    int code = sweep_row(sweep, row, &after, error);
    if (code == 0 && !chordal__row_equal(row, after))
        code = chordal__own_row_write(own->transaction, own, row, after, false, error);
    chordal__row_unref(after);
    return code;
}

static int change_rows(chordal__own_table *own, const chordal__sweep *sweep, uint64_t *out_count,
                       chordal_error *error) {
    chordal__found list = {.memory = own->transaction->memory};
    int code = chordal__rows_query(own->rows, own, &sweep->query, UINT64_MAX, chordal__found_keep, &list, error);
    for (size_t i = 0; i < list.len && code == 0; i++) code = change_row(own, sweep, list.rows[i], error);
    *out_count = list.len;
    chordal__found_dispose(&list);
    return code;
}

/* What it has changed before a failure is not changed again: the rest is, the next time. */
int chordal__own_table_settle(chordal__own_table *own, chordal_error *error) {
    uint64_t count;
    chordal__sweep *sweep = own->sweep;
    if (!sweep) return 0;
    own->sweep = NULL;
    int code = change_rows(own, sweep, &count, error);
    if (code < 0)
        own->sweep = sweep;
    else
        chordal__sweep_free(sweep);
    return code;
}

/* ---- at once ---- */

static bool wrote_rows(const chordal__own_table *own) {
    for (chordal__list *node = own->list.next; node != &own->list; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__own_row, node)->written) return true;
    return false;
}

static bool is_prepared(const chordal__rows *rows) {
    const chordal__pending *pending;
    size_t at = 0;
    while ((pending = chordal__map_next(&rows->pending, &at)) != NULL)
        if (!chordal__list_empty(&pending->chain)) return true;
    return rows->sweep_set != NULL;
}

/* What the transaction sees is what is in the file, and it will be so at the step, or the commit conflicts. */
static bool sees_file(const chordal__own_table *own) {
    return !own->sweep && !wrote_rows(own) && !is_prepared(own->rows);
}

/* TAKES sweep. */
static int sweep_file(chordal__own_table *own, chordal__sweep *sweep, uint64_t *out_count, chordal_error *error) {
    const chordal__object *object = own->rows->object;
    uint64_t changing;
    chordal__own_table_queried(own);
    int code = chordal__sweep_count(object->runtime->store, sweep, object->owner, out_count, &changing, error);
    if (code == 0 && *out_count > CHORDAL__OWN_ROWS_LIMIT)
        code = chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many rows in one transaction");
    if (code == 0 && changing)
        own->sweep = sweep;
    else
        chordal__sweep_free(sweep);
    return code;
}

/* TAKES sweep. */
static int sweep_rows(chordal__own_table *own, chordal__sweep *sweep, uint64_t *out_count, chordal_error *error) {
    int code = chordal__own_table_settle(own, error);
    if (code == 0) code = change_rows(own, sweep, out_count, error);
    chordal__sweep_free(sweep);
    return code;
}

int chordal__rows_change(chordal__own_table *own, chordal__query *query, const chordal__node *changes,
                         uint64_t *out_count, chordal_error *error) {
    chordal__sweep *sweep = chordal__sweep_new(query);
    if (!sweep) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a query");
    int code = changes ? read_changes(own->rows->table, changes, sweep, error) : 0;
    if (code == 0)
        return sees_file(own) ? sweep_file(own, sweep, out_count, error) : sweep_rows(own, sweep, out_count, error);
    chordal__sweep_free(sweep);
    return code;
}

/* ---- of the queue ---- */

static int add_entry(chordal__row_set *set, chordal__row *row, chordal__buffer *key, chordal_error *error) {
    chordal__row *after;
    int code = sweep_row(set->sweep, row, &after, error);
    if (code < 0 || chordal__row_equal(row, after)) {
        chordal__row_unref(after);
        return code;
    }
    const chordal__row_entry entry = {.key = row, .row = after, .written = true};
    chordal__buffer_clear(key);
    chordal__row_key(key, set->rows->table, row);
    code = key->failed ? key->failed : chordal__row_set_add(set, key->data, key->len, &entry);
    chordal__row_unref(after);
    return code < 0 ? chordal__fail(error, code, 0, "no memory for a row") : 0;
}

static int add_entries(chordal__row_set *set, const chordal__found *list, chordal_error *error) {
    chordal__buffer key;
    int code = list->len ? chordal__row_set_grow(set, (uint32_t)list->len) : 0;
    if (code < 0) return chordal__fail(error, code, 0, "no memory for rows");
    chordal__buffer_init(&key, list->memory, UINT32_MAX);
    for (size_t i = 0; i < list->len && code == 0; i++) code = add_entry(set, list->rows[i], &key, error);
    chordal__buffer_dispose(&key);
    if (code < 0) chordal__row_set_clear(set);
    return code;
}

/* What is in the file is what was there before it; what others have prepared since lies behind it. */
int chordal__rows_settle(chordal__rows *rows, chordal_error *error) {
    chordal__row_set *set = rows->sweep_set;
    if (!set) return 0;
    chordal__found list = {.memory = rows->object->runtime->memory};
    int code = chordal__rows_query(rows, NULL, &set->sweep->query, UINT64_MAX, chordal__found_keep, &list, error);
    if (code == 0) code = add_entries(set, &list, error);
    chordal__found_dispose(&list);
    if (code < 0) return code;
    for (uint32_t i = 0; i < set->count; i++)
        chordal__list_prepend(&set->entries[i].pending->chain, &set->entries[i].node);
    rows->sweep_set = NULL;
    return 0;
}
