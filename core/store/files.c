/* files.c: what lies beside a store: the lock of its one owner process, an advisory lock on a file, SQLite's log, and a
 * copy that is being made.
 *
 * SQLite's own locks are of the process (POSIX): any other copy of SQLite in it that closes the file drops them. A lock
 * by flock belongs to the descriptor, so it goes only with us; that of a process that was killed goes with it. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename */
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int code_of(int why) {
    return why == ENOENT || why == ENOTDIR                 ? CHORDAL_E_NOT_FOUND
           : why == EACCES || why == EROFS || why == EPERM ? CHORDAL_E_READ_ONLY
           : why == ENOSPC || why == EDQUOT                ? CHORDAL_E_DISK_FULL
                                                           : CHORDAL_E_DISK_IO;
}

static int fail_for(int why, const char *words, chordal_error *error) {
    const char *text = strerror(why);
    return chordal__fail_about(error, code_of(why), words, text, strlen(text));
}

static void name_of(const char *path, const char *suffix, char out[CHORDAL__STORE_PATH_LIMIT + 16]) {
    size_t len = strlen(path);
    memcpy(out, path, len);
    memcpy(out + len, suffix, strlen(suffix) + 1);
}

int64_t chordal__file_size(const char *path, const char *suffix) {
    char name[CHORDAL__STORE_PATH_LIMIT + 16];
    struct stat found;
    name_of(path, suffix, name);
    return stat(name, &found) == 0 ? (int64_t)found.st_size : -1;
}

/* Its last owner may have removed the file between our opening and our locking it. */
static bool still_there(int lock, const char *name) {
    struct stat held, named;
    return fstat(lock, &held) == 0 && stat(name, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* "No such file or directory: ./missing/notes.db": what it is, then where, as far as there is room. */
static int fail_lock(int why, const char *path, chordal_error *error) {
    char text[512];
    const char *reason = strerror(why);
    size_t len = strlen(reason), path_len = strlen(path);
    if (len > sizeof text / 2) len = sizeof text / 2;
    if (path_len > sizeof text - 2 - len) path_len = sizeof text - 2 - len;
    memcpy(text, reason, len);
    memcpy(text + len, ": ", 2);
    memcpy(text + len + 2, path, path_len);
    return chordal__fail_about(error, code_of(why), "the store cannot be locked: ", text, len + 2 + path_len);
}

int chordal__owner_lock(const char *path, int *out, chordal_error *error) {
    char name[CHORDAL__STORE_PATH_LIMIT + 16];
    name_of(path, "-owner", name);
    for (;;) {
        int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock < 0) return fail_lock(errno, path, error);
        int why = flock(lock, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (!why && still_there(lock, name)) {
            *out = lock;
            return 0;
        }
        close(lock);
        if (why == EWOULDBLOCK)
            return chordal__fail(error, CHORDAL_E_OWNED, 0, "the store is open in another host: only one may own it");
        if (why && why != EINTR) return fail_lock(why, path, error);
    }
}

void chordal__owner_unlock(const char *path, int lock) {
    char name[CHORDAL__STORE_PATH_LIMIT + 16];
    if (lock < 0) return;
    name_of(path, "-owner", name);
    unlink(name);
    close(lock);
}

/* ---- a copy that takes its name ---- */

void chordal__file_remove(const char *path, const char *suffix) {
    char name[CHORDAL__STORE_PATH_LIMIT + 16];
    name_of(path, suffix, name);
    unlink(name);
}

/* The folder has the name in it, also after a power cut. */
static int sync_folder(const char *path) {
    char folder[CHORDAL__STORE_PATH_LIMIT + 16];
    name_of(path, "", folder);
    strrchr(folder, '/')[1] = 0;
    int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return errno;
    int why = fsync(opened) == 0 || errno == EINVAL ? 0 : errno;
    close(opened);
    return why;
}

int chordal__file_take(const char *path, const char *suffix, chordal_error *error) {
    char name[CHORDAL__STORE_PATH_LIMIT + 16];
    name_of(path, suffix, name);
    int why = rename(name, path) == 0 ? sync_folder(path) : errno;
    return why ? fail_for(why, "the copy cannot take its name: ", error) : 0;
}
