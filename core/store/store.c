/* store.c: opening and closing a store. */
#include "store/query.h"

#include <sqlite3.h>

/* ---- the connection ---- */

int chordal__path_copy(chordal__memory *memory, const char *path, size_t len, char **out, size_t *out_size,
                       chordal_error *error) {
    if (len == 0 || len > CHORDAL__STORE_PATH_LIMIT - 2 || memchr(path, 0, len))
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "a store needs a path of at most 3998 bytes");
    size_t before = path[0] == '/' ? 0 : 2;
    *out_size = before + len + 1;
    *out = chordal__allocate(memory, *out_size);
    if (!*out) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a store");
    memcpy(*out, "./", before);
    memcpy(*out + before, path, len);
    (*out)[before + len] = 0;
    return 0;
}

static int connect_as(chordal__store *store, const char *name, int flags, const char *vfs) {
    int result = sqlite3_open_v2(name, &store->sqlite, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    /* The file is touched first by the first statement. */
    if (result == SQLITE_OK) result = sqlite3_exec(store->sqlite, "PRAGMA schema_version", NULL, NULL, NULL);
    return result;
}

static void write_uri(const chordal__store *store, chordal__buffer *uri) {
    static const char digits[] = "0123456789ABCDEF";
    chordal__buffer_text(uri, "file:");
    for (const char *at = store->path; *at; at++) {
        uint8_t byte = (uint8_t)*at;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                     byte == '/' || byte == '.' || byte == '-' || byte == '_';
        if (!plain) chordal__buffer_byte(uri, '%');
        chordal__buffer_byte(uri, plain ? byte : (uint8_t)digits[byte >> 4]);
        if (!plain) chordal__buffer_byte(uri, (uint8_t)digits[byte & 15]);
    }
    chordal__buffer_put(uri, "?immutable=1", 13);
}

/* In a folder that may not be written the log's index cannot be made. Without a log the file alone is all there is;
 * with one it would be read as it was before the log, so it is not. */
static int connect_immutable(chordal__store *store, const char *vfs, int result) {
    if (chordal__file_size(store->path, "-wal") > 0) return result;
    chordal__buffer uri;
    chordal__buffer_init(&uri, store->memory, 4 * CHORDAL__STORE_PATH_LIMIT);
    write_uri(store, &uri);
    sqlite3_close(store->sqlite);
    store->sqlite = NULL;
    result = uri.failed ? SQLITE_NOMEM
                        : connect_as(store, (const char *)uri.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs);
    chordal__buffer_dispose(&uri);
    return result;
}

static int fail_to_connect(chordal__store *store, int result, chordal_error *error) {
    if ((result & 0xff) == SQLITE_CANTOPEN && chordal__file_size(store->path, "") < 0)
        return chordal__fail_about(error, CHORDAL_E_NOT_FOUND, "there is no store at ", store->path,
                                   strlen(store->path));
    return chordal__store_fail(store, result, error);
}

static int connect_to(chordal__store *store, const chordal__store_options *options, chordal_error *error) {
    int flags = options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int result = connect_as(store, store->path, flags, options->vfs);
    bool stuck = (result & 0xff) == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY;
    if (options->read_only && stuck) result = connect_immutable(store, options->vfs, result);
    return result == SQLITE_OK ? 0 : fail_to_connect(store, result, error);
}

static int set_up(chordal__store *store, const chordal__store_options *options, chordal_error *error) {
    static const char *const levels[] = {"PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL",
                                         "PRAGMA synchronous = OFF"};
    static const char common[] = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY";
    sqlite3_db_config(store->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* A writer waits only for readers of other processes that begin; a checkpoint for none. */
    sqlite3_busy_timeout(store->sqlite, 1000);
    int result = sqlite3_exec(store->sqlite, common, NULL, NULL, NULL);
    if (result == SQLITE_OK && store->read_only)
        result = sqlite3_db_config(store->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (result == SQLITE_OK && !store->read_only)
        result = sqlite3_exec(store->sqlite, levels[options->durability], NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : chordal__store_fail(store, result, error);
}

/* Only a store is turned to the log: another database is left as it was found. */
static int use_log(chordal__store *store, chordal_error *error) {
    sqlite3_stmt *statement;
    if (store->read_only) return 0;
    int result = sqlite3_exec(store->sqlite, "PRAGMA journal_size_limit = 67108864", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(store->sqlite, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    if (result != SQLITE_OK) return chordal__store_fail(store, result, error);
    result = sqlite3_step(statement);
    const char *mode = result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool logs = mode && strcmp(mode, "wal") == 0;
    int code = result == SQLITE_ROW ? 0 : chordal__store_fail(store, result, error);
    sqlite3_finalize(statement);
    if (code < 0 || logs) return code;
    return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "the store's file system cannot hold SQLite's log");
}

/* ---- life ---- */

static void free_store(chordal__store *store) {
    for (int i = 0; i < CHORDAL__SQL_COUNT; i++) sqlite3_finalize(store->statements[i]);
    chordal__tables_close(store);
    chordal__buffer_dispose(&store->delayed.rows);
    chordal__scans_close(store);
    sqlite3_close(store->sqlite);
    if (store->path) chordal__owner_unlock(store->path, store->lock);
    chordal__release(store->memory, store->path, store->path_size);
    chordal__release(store->memory, store, sizeof *store);
}

static int open_all(chordal__store *store, const chordal__store_options *options, chordal_error *error) {
    uint32_t version;
    bool began; /* it ends with the connection */
    const char *path = options->path ? options->path : "";
    int code = chordal__path_copy(store->memory, path, strlen(path), &store->path, &store->path_size, error);
    if (code == 0 && !store->read_only) code = chordal__owner_lock(store->path, &store->lock, error);
    if (code == 0) code = connect_to(store, options, error);
    if (code == 0) code = set_up(store, options, error);
    if (code == 0 && options->snapshot) code = chordal__look_begin(store, &began, error);
    if (code == 0) code = chordal__schema_check(store, &version, error);
    if (code == 0) code = use_log(store, error);
    if (code == 0) code = chordal__schema_migrate(store, version, error);
    if (code == 0) code = chordal__lineage_open(store, error);
    if (code == 0) code = chordal__owners_open(store, error);
    return code;
}

int chordal__store_open(chordal__memory *memory, chordal_counters *counters, const chordal__store_options *options,
                        const uint8_t run[16], chordal__store **out, chordal_error *error) {
    chordal__store *store = chordal__allocate_zero(memory, sizeof *store);
    if (!store) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a store");
    store->memory = memory;
    store->counters = counters;
    store->lock = -1;
    store->read_only = options->read_only;
    store->outbox = options->outbox;
    memcpy(store->run, run, sizeof store->run);
    chordal__list_init(&store->staged);
    chordal__list_init(&store->copies);
    chordal__list_init(&store->owners);
    chordal__list_init(&store->tables);
    chordal__list_init(&store->scans);
    chordal__buffer_init(&store->delayed.rows, memory, 2 * CHORDAL__DELAYED_BYTES);
    store->delayed.known = !store->read_only;
    int code = open_all(store, options, error);
    if (code < 0) {
        free_store(store);
        return code;
    }
    *out = store;
    return 0;
}

void chordal__store_close(chordal__store *store) {
    if (!store) return;
    (void)chordal__lineage_close(store); /* without it the next opening looks for the newest commit itself */
    free_store(store);
}
