/* store.h: stores for tests, each in a folder of its own that goes with the test. */
#ifndef CHORDAL_TESTS_STORE_H
#define CHORDAL_TESTS_STORE_H

#include "hosts.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static char store_folder[64], store_path[96];

static inline void remove_store(void) {
    static const char *const parts[] = {"", "-wal", "-shm", "-owner", "-copy"};
    char name[128];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", store_path, parts[i]);
        unlink(name);
    }
    rmdir(store_folder);
}

/* A new, empty folder; what the last test left is removed. */
static inline void new_store(void) {
    if (store_folder[0]) remove_store();
    snprintf(store_folder, sizeof store_folder, P_tmpdir "/chordal-store-XXXXXX");
    if (!mkdtemp(store_folder)) CHECK_FAIL("no folder for a store");
    snprintf(store_path, sizeof store_path, "%s/s.db", store_folder);
}

static inline void open_store(test_host *h) {
    test_host_open(h, (chordal_host_options){.store = store_path});
}

/* Why a host does not open. */
static inline int open_code(chordal_host_options options, chordal_error *error) {
    chordal_host *host = NULL;
    options.size = sizeof options;
    int code = chordal_host_open(&options, &host, error);
    chordal_host_close(host);
    return code;
}

/* A number that SQLite finds in the file, read beside whoever owns it. */
static inline int64_t store_number(const char *sql) {
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    int64_t number = -1;
    CHECK_INT(sqlite3_open_v2(store_path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    return number;
}

static inline void store_execute(const char *sql) {
    sqlite3 *sqlite;
    CHECK_INT(sqlite3_open(store_path, &sqlite), SQLITE_OK);
    CHECK_INT(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(sqlite);
}

#endif
