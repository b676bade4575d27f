/* sqlite.c: the library under the store: its results as codes, its statements. */
#include "store/store.h"

#include <sqlite3.h>

bool chordal__sqlite_fits(void) {
    return sqlite3_libversion_number() >= SQLITE_VERSION_NUMBER && sqlite3_threadsafe() != 0;
}

int chordal__sqlite_code(int result) {
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_FULL:
        return CHORDAL_E_DISK_FULL;
    case SQLITE_CORRUPT:
        return CHORDAL_E_CORRUPT;
    case SQLITE_NOTADB:
        return CHORDAL_E_NOT_STORE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return CHORDAL_E_OWNED;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return CHORDAL_E_READ_ONLY;
    case SQLITE_TOOBIG:
        return CHORDAL_E_SIZE;
    case SQLITE_NOMEM:
        return CHORDAL_E_NOMEM;
    default:
        return CHORDAL_E_DISK_IO;
    }
}

int chordal__store_fail(chordal__store *store, int result, chordal_error *error) {
    int code = chordal__sqlite_code(result);
    const char *words = store->sqlite ? sqlite3_errmsg(store->sqlite) : sqlite3_errstr(result);
    return chordal__fail_about(error, code, "the store: ", words, strlen(words));
}

#define STATEMENT_TEXT(name, sql) sql,
static const char *const texts[] = {CHORDAL__STATEMENTS(STATEMENT_TEXT)};

sqlite3_stmt *chordal__statement(chordal__store *store, int which, int *code, chordal_error *error) {
    sqlite3_stmt **kept = &store->statements[which];
    *code = 0;
    store->counters->statements++;
    if (*kept) return *kept;
    int result = sqlite3_prepare_v3(store->sqlite, texts[which], -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    if (result != SQLITE_OK) *code = chordal__store_fail(store, result, error);
    return *kept;
}

/* A statement that stays half done would hold its snapshot, and with it the log, for ever. */
int chordal__statement_end(chordal__store *store, sqlite3_stmt *statement, int result, chordal_error *error) {
    int code = chordal__sqlite_code(result);
    if (code < 0) code = chordal__store_fail(store, result, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code;
}

int chordal__statement_run(chordal__store *store, sqlite3_stmt *statement, chordal_error *error) {
    return chordal__statement_end(store, statement, sqlite3_step(statement), error);
}

int chordal__look_begin(chordal__store *store, bool *out_began, chordal_error *error) {
    int code = 0;
    *out_began = false;
    if (!sqlite3_get_autocommit(store->sqlite)) return 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_LOOK, &code, error);
    if (code == 0) code = chordal__statement_run(store, statement, error);
    *out_began = code == 0;
    return code;
}

void chordal__look_end(chordal__store *store, bool began) {
    int code;
    if (!began) return;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_ROLLBACK, &code, NULL);
    if (code == 0) (void)chordal__statement_run(store, statement, NULL);
}
