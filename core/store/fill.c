/* fill.c: documents and rows put into a new store, all of them in one transaction: what was exported elsewhere. */
#include "store/table.h"

#include <sqlite3.h>

static int begin(chordal__store *store, chordal_error *error) {
    int code;
    if (store->filling == CHORDAL__FILLING_FAILED)
        return chordal__fail(error, CHORDAL_E_STATE, 0, "what came before could not be written");
    if (store->filling) return 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_DOCUMENTS_ANY, &code, error);
    if (code < 0) return code;
    int result = sqlite3_step(statement);
    code = chordal__statement_end(store, statement, result, error);
    if (code == 0 && result == SQLITE_ROW)
        return chordal__fail(error, CHORDAL_E_STATE, 0, "the store has documents already");
    if (code == 0) code = chordal__step_begin(store, error);
    if (code == 0) store->filling = CHORDAL__FILLING;
    return code;
}

static int give_up(chordal__store *store, int code) {
    chordal__step_abort(store);
    store->filling = CHORDAL__FILLING_FAILED;
    return code;
}

int chordal__fill_put(chordal__store *store, const chordal__address *address, uint32_t version,
                      const chordal__body *base, chordal_error *error) {
    int64_t known = 0;
    chordal__document document;
    int code = begin(store, error);
    if (code == 0) code = chordal__point_find(store, address, CHORDAL__NEWEST, &known, error);
    if (code < 0) return code;
    if (known) return chordal__fail(error, CHORDAL_E_EXISTS, 0, "the document is there already");
    chordal__document_init(&document);
    code = chordal__document_write(store, &document, address, version, store->last + 1, NULL, base, error);
    chordal__list_remove(&document.staged);
    return code < 0 ? give_up(store, code) : 0;
}

/* ---- tables ---- */

int chordal__fill_table(chordal__store *store, const chordal__address *named, chordal__node *declared,
                        chordal_error *error) {
    chordal__table *table;
    if (store->filling) return chordal__fail(error, CHORDAL_E_STATE, 0, "tables come before documents and rows");
    int code = chordal__table_declare(store->memory, declared, &table, error);
    if (code < 0) return code;
    code = chordal__table_open(store, named, table, error);
    if (code < 0) chordal__table_free(table);
    return code;
}

static chordal__table *open_table(chordal__store *store, int64_t id) {
    for (chordal__list *node = store->tables.next; node != &store->tables; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__table, node)->id == id) return CHORDAL__ENTRY(node, chordal__table, node);
    return NULL;
}

static int find_table(chordal__store *store, const chordal__address *address, chordal__table **out,
                      chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_TABLE_FIND, &code, error);
    if (code < 0) return code;
    sqlite3_bind_blob64(statement, 1, address->type, address->type_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, address->member, address->member_len, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    *out = result == SQLITE_ROW ? open_table(store, sqlite3_column_int64(statement, 0)) : NULL;
    code = chordal__statement_end(store, statement, result, error);
    return code < 0 || *out ? code : chordal__fail(error, CHORDAL_E_INVALID, 0, "a row of no table");
}

static int make_row(const chordal__table *table, const chordal__node *cells, chordal__row **out, chordal_error *error) {
    chordal__row_draft draft;
    chordal__row_draft_begin(&draft, table, NULL);
    int code = chordal__row_draft_object(&draft, cells, error);
    if (code == 0) code = chordal__row_draft_end(&draft, out, error);
    chordal__row_draft_dispose(&draft);
    return code;
}

static int put_row(chordal__store *store, chordal__table *table, const chordal__address *address,
                   const chordal__row *row, bool stale, chordal_error *error) {
    chordal__owner owner = {.id = 0};
    chordal__row *known = NULL;
    chordal__list_init(&owner.staged);
    int code = chordal__owner_find(store, address, &owner, error);
    if (code == 0) code = chordal__row_find(store, table, &owner, row, &known, error);
    if (known) code = chordal__fail(error, CHORDAL_E_EXISTS, 0, "the row is there already");
    chordal__row_unref(known);
    if (code < 0) return code;
    code = chordal__row_store(store, table, &owner, address, store->last + 1, row, row, error);
    if (code == 0 && stale) code = chordal__row_age(store, table, &owner, row, error);
    chordal__list_remove(&owner.staged);
    return code < 0 ? give_up(store, code) : 0;
}

int chordal__fill_row(chordal__store *store, const chordal__address *address, const chordal__node *cells, bool stale,
                      chordal_error *error) {
    chordal__table *table = NULL;
    chordal__row *row = NULL;
    int code = begin(store, error);
    if (code == 0) code = find_table(store, address, &table, error);
    if (code == 0) code = make_row(table, cells, &row, error);
    if (code < 0) return code;
    code = put_row(store, table, address, row, stale, error);
    chordal__row_unref(row);
    return code;
}

/* ---- the end ---- */

int chordal__fill_seal(chordal__store *store, chordal_error *error) {
    uint64_t number = store->last + 1;
    if (store->filling != CHORDAL__FILLING) return chordal__fail(error, CHORDAL_E_STATE, 0, "nothing was put");
    int code = store->outbox ? chordal__outbox_skip(store, number, error) : 0;
    if (code < 0) return give_up(store, code);
    code = chordal__step_commit(store, error);
    store->filling = code < 0 ? CHORDAL__FILLING_FAILED : CHORDAL__FILLING_NOT;
    if (code == 0) store->last = number;
    return code;
}
