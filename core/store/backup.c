/* backup.c: a copy of the store at another path, made in steps while its host goes on.
 *
 * It is read on a connection of its own, which sees the file as it was when the copy was asked for, whoever writes it
 * meanwhile. It is written beside and takes its name when it is whole: what a cut copy leaves is a file by another name
 * that SQLite rolls back to nothing. Until then nobody else may have a store at that path. */
#include "store/store.h"

#include <sqlite3.h>

#define COPY "-copy"

struct chordal__backup {
    chordal__memory *memory;
    chordal__store *from;
    sqlite3 *to;
    sqlite3_backup *copy;
    char *path, *part; /* part: the path of the copy until it is whole */
    size_t path_size, part_size;
    int lock;
};

/* ---- the place ---- */

/* Beside an empty log, which readers leave, nothing of another store is there any more. */
static int check_free(const chordal__backup *backup, chordal_error *error) {
    bool taken = chordal__file_size(backup->path, "") >= 0 || chordal__file_size(backup->path, "-wal") > 0 ||
                 chordal__file_size(backup->path, "-journal") > 0;
    return taken ? chordal__fail(error, CHORDAL_E_EXISTS, 0, "something lies where the copy is to be") : 0;
}

/* SQLite and the next copy remove files of these names beside a store. */
static int check_name(const char *path, size_t len, chordal_error *error) {
    static const char *const beside[] = {COPY, "-owner", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        size_t end = strlen(beside[i]);
        if (len >= end && memcmp(path + len - end, beside[i], end) == 0)
            return chordal__fail_about(error, CHORDAL_E_INVALID, "a file beside a store, not a copy, ends in ",
                                       beside[i], end);
    }
    return 0;
}

static void remove_part(const chordal__backup *backup) {
    chordal__file_remove(backup->path, COPY);
    chordal__file_remove(backup->path, COPY "-journal");
}

static int take_place(chordal__backup *backup, const char *path, size_t len, chordal_error *error) {
    int code = chordal__path_copy(backup->memory, path, len, &backup->path, &backup->path_size, error);
    if (code == 0) code = check_name(path, len, error);
    if (code == 0) code = check_free(backup, error);
    if (code == 0) code = chordal__owner_lock(backup->path, &backup->lock, error);
    if (code == 0) code = check_free(backup, error);
    if (code < 0) return code;
    backup->part_size = backup->path_size + sizeof COPY - 1;
    backup->part = chordal__allocate(backup->memory, backup->part_size);
    if (!backup->part) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a copy");
    memcpy(backup->part, backup->path, backup->path_size - 1);
    memcpy(backup->part + backup->path_size - 1, COPY, sizeof COPY);
    remove_part(backup);
    return 0;
}

/* ---- the two ends ---- */

static const char *file_system(chordal__store *store) {
    sqlite3_vfs *vfs = NULL;
    sqlite3_file_control(store->sqlite, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    return vfs ? vfs->zName : NULL;
}

static int fail(chordal__backup *backup, int result, chordal_error *error) {
    const char *words = backup->to ? sqlite3_errmsg(backup->to) : sqlite3_errstr(result);
    return chordal__fail_about(error, chordal__sqlite_code(result), "the copy: ", words, strlen(words));
}

static int open_ends(chordal__backup *backup, chordal__store *store, chordal_error *error) {
    chordal__store_options options = {
        .path = store->path, .vfs = file_system(store), .read_only = true, .snapshot = true};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = chordal__store_open(backup->memory, store->counters, &options, store->run, &backup->from, error);
    if (code < 0) return code;
    int result = sqlite3_open_v2(backup->part, &backup->to, flags, options.vfs);
    if (result == SQLITE_OK) backup->copy = sqlite3_backup_init(backup->to, "main", backup->from->sqlite, "main");
    if (result == SQLITE_OK && !backup->copy) result = sqlite3_extended_errcode(backup->to);
    return result == SQLITE_OK ? 0 : fail(backup, result, error);
}

int chordal__backup_open(chordal__store *store, const char *path, size_t len, chordal__backup **out,
                         chordal_error *error) {
    chordal__backup *backup = chordal__allocate_zero(store->memory, sizeof *backup);
    if (!backup) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a copy");
    backup->memory = store->memory;
    backup->lock = -1;
    int code = take_place(backup, path, len, error);
    if (code == 0) code = open_ends(backup, store, error);
    if (code == 0)
        *out = backup;
    else
        chordal__backup_close(backup);
    return code;
}

/* ---- the way ---- */

/* All of it is in the file and on the disk before it has the name. */
static int finish(chordal__backup *backup, chordal_error *error) {
    int result = sqlite3_backup_finish(backup->copy);
    backup->copy = NULL;
    if (result == SQLITE_OK) result = sqlite3_close(backup->to);
    if (result != SQLITE_OK) return fail(backup, result, error);
    backup->to = NULL;
    int code = check_free(backup, error);
    return code == 0 ? chordal__file_take(backup->path, COPY, error) : code;
}

int chordal__backup_step(chordal__backup *backup, bool *out_done, chordal_error *error) {
    int result = sqlite3_backup_step(backup->copy, CHORDAL__BACKUP_PAGES);
    *out_done = false;
    if (result == SQLITE_OK) return 0;
    if (result != SQLITE_DONE) return fail(backup, result, error);
    int code = finish(backup, error);
    *out_done = code == 0;
    return code;
}

uint64_t chordal__backup_last(const chordal__backup *backup) {
    return backup->from->last;
}

void chordal__backup_close(chordal__backup *backup) {
    if (backup->copy) sqlite3_backup_finish(backup->copy);
    sqlite3_close(backup->to);
    chordal__store_close(backup->from);
    if (backup->lock >= 0) remove_part(backup);
    if (backup->path) chordal__owner_unlock(backup->path, backup->lock);
    chordal__release(backup->memory, backup->path, backup->path_size);
    chordal__release(backup->memory, backup->part, backup->part_size);
    chordal__release(backup->memory, backup, sizeof *backup);
}
