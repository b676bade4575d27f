/* schema.c: the tables of a store and how older ones become the newest. */
#include "store/store.h"
#include "chordal/version.h"

#include <sqlite3.h>

#define APPLICATION_ID 0x43486f72 /* "CHor" */

/* What makes schema n from n - 1. Names and addresses are blobs: they may hold what SQLite's texts cannot. */
static const char *const steps[] = {
    ("CREATE TABLE chordal_runs(id INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, first INTEGER NOT NULL, last INTEGER)"
     " STRICT;"
     "CREATE TABLE chordal_documents(id INTEGER PRIMARY KEY, type BLOB NOT NULL, key BLOB NOT NULL, member BLOB NOT "
     "NULL,"
     " params BLOB NOT NULL, incarnation INTEGER NOT NULL, version INTEGER NOT NULL, run INTEGER NOT NULL,"
     " created INTEGER NOT NULL, retired INTEGER) STRICT;"
     "CREATE UNIQUE INDEX chordal_addresses ON chordal_documents(type, key, member, incarnation);"
     "CREATE TABLE chordal_revisions(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, base INTEGER, data BLOB NOT NULL)"
     " STRICT;"
     "CREATE INDEX chordal_bases ON chordal_revisions(id, number) WHERE base = 1;"
     "CREATE TABLE chordal_outbox(number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;"),
    /* Tables are chordal_table_ID, their columns c0, c1, …; `object` there is the id of an owner. */
    ("ALTER TABLE chordal_runs ADD COLUMN reserved INTEGER;"
     "CREATE TABLE chordal_tables(id INTEGER PRIMARY KEY, type BLOB NOT NULL, member BLOB NOT NULL,"
     " version INTEGER NOT NULL, declaration BLOB NOT NULL, UNIQUE(type, member)) STRICT;"
     "CREATE TABLE chordal_owners(id INTEGER PRIMARY KEY, type BLOB NOT NULL, key BLOB NOT NULL, params BLOB NOT NULL,"
     " UNIQUE(type, key)) STRICT;"),
    "ALTER TABLE chordal_runs ADD COLUMN known INTEGER;",
    ("CREATE TABLE chordal_calls(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, authority INTEGER NOT NULL,"
     " state INTEGER NOT NULL, code INTEGER, name BLOB, detail BLOB, raw INTEGER, value BLOB) STRICT;"),
    /* Of a run that keeps an outbox: what later commits alone wrote may be missing in it (outbox.c). */
    "ALTER TABLE chordal_runs ADD COLUMN outbox INTEGER;",
};
_Static_assert(sizeof steps / sizeof *steps == CHORDAL_STORE, "each version of the schema has its step");

const char *chordal__schema_step(uint32_t version) {
    return version >= 1 && version <= CHORDAL_STORE ? steps[version - 1] : NULL;
}

static int execute(chordal__store *store, const char *sql, chordal_error *error) {
    store->counters->statements++;
    int result = sqlite3_exec(store->sqlite, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : chordal__store_fail(store, result, error);
}

static int read_numbers(chordal__store *store, int64_t out[3], chordal_error *error) {
    static const char sql[] = "SELECT (SELECT application_id FROM pragma_application_id),"
                              " (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    sqlite3_stmt *statement;
    store->counters->statements++;
    int result = sqlite3_prepare_v2(store->sqlite, sql, -1, &statement, NULL);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    for (int i = 0; i < 3; i++) out[i] = result == SQLITE_ROW ? sqlite3_column_int64(statement, i) : 0;
    int code = result == SQLITE_ROW ? 0 : chordal__store_fail(store, result, error);
    sqlite3_finalize(statement);
    return code;
}

static int set_number(chordal__store *store, const char *pragma, int64_t value, chordal_error *error) {
    chordal__buffer sql;
    chordal__buffer_init(&sql, store->memory, 128);
    chordal__buffer_text(&sql, pragma);
    chordal__buffer_decimal(&sql, (uint64_t)value);
    chordal__buffer_byte(&sql, 0);
    int code = sql.failed ? sql.failed : execute(store, (const char *)sql.data, error);
    chordal__buffer_dispose(&sql);
    return code;
}

int chordal__schema_check(chordal__store *store, uint32_t *out_version, chordal_error *error) {
    int64_t numbers[3];
    int code = read_numbers(store, numbers, error);
    if (code < 0) return code;
    int64_t application = numbers[0], version = numbers[1], tables = numbers[2];
    bool empty = tables == 0 && application == 0 && version == 0;
    if (!empty && application != APPLICATION_ID)
        return chordal__fail(error, CHORDAL_E_NOT_STORE, 0, "the file is a database, but no store");
    if (version > CHORDAL_STORE)
        return chordal__fail(error, CHORDAL_E_NEWER, 0, "the store was written by a newer version");
    *out_version = (uint32_t)version;
    if (!store->read_only || version == CHORDAL_STORE) return 0;
    return empty ? chordal__fail(error, CHORDAL_E_NOT_STORE, 0, "the file is empty")
                 : chordal__fail(error, CHORDAL_E_READ_ONLY, 0, "an older store is migrated by its owner");
}

int chordal__schema_migrate(chordal__store *store, uint32_t from, chordal_error *error) {
    if (from == CHORDAL_STORE) return 0;
    int code = execute(store, "BEGIN IMMEDIATE", error);
    for (uint32_t i = from; code == 0 && i < CHORDAL_STORE; i++) code = execute(store, steps[i], error);
    if (code == 0) code = set_number(store, "PRAGMA application_id = ", APPLICATION_ID, error);
    if (code == 0) code = set_number(store, "PRAGMA user_version = ", CHORDAL_STORE, error);
    if (code == 0) code = execute(store, "COMMIT", error);
    if (code < 0 && !sqlite3_get_autocommit(store->sqlite)) sqlite3_exec(store->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return code;
}
