/* fill.c: documents put into a new store, all of them in one transaction: what was exported elsewhere. */
#include "store/store.h"

#include <sqlite3.h>

static int begin(chordal__store *store, chordal_error *error) {
    int code;
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
    if (store->filling == CHORDAL__FILLING_FAILED)
        return chordal__fail(error, CHORDAL_E_STATE, 0, "an earlier document could not be written");
    int code = begin(store, error);
    if (code == 0) code = chordal__point_find(store, address, CHORDAL__NEWEST, &known, error);
    if (code < 0) return code;
    if (known) return chordal__fail(error, CHORDAL_E_EXISTS, 0, "the document is there already");
    chordal__document_init(&document);
    code = chordal__document_write(store, &document, address, version, store->last + 1, NULL, base, error);
    chordal__list_remove(&document.staged);
    return code < 0 ? give_up(store, code) : 0;
}

int chordal__fill_seal(chordal__store *store, chordal_error *error) {
    if (store->filling != CHORDAL__FILLING) return chordal__fail(error, CHORDAL_E_STATE, 0, "no document was put");
    int code = chordal__step_commit(store, error);
    store->filling = code < 0 ? CHORDAL__FILLING_FAILED : CHORDAL__FILLING_NOT;
    if (code == 0) store->last++;
    return code;
}
