/* mortal.h: a scenario in a process of its own, which dies at the n-th call of its file system: killed, or with the
 * power, which takes with it what was not synced (each write, or each other one). What it was told is noted in memory
 * that outlives it. */
#ifndef CHORDAL_TESTS_MORTAL_H
#define CHORDAL_TESTS_MORTAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MORTAL_NAME "mortal"

enum { DEATH_KILLED, DEATH_ALL_LOST, DEATH_SOME_LOST };

/* What the parent sees of the child. */
typedef struct mortal_notes {
    int64_t submitted, told; /* numbers of the scenario's commits */
    int64_t calls;
    bool finished;
} mortal_notes;
static mortal_notes *notes;

typedef struct mortal_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this structure */
    bool lasts;         /* a file whose content is of use after the end */
} mortal_file;

/* A write that was not synced: what was there before. */
typedef struct unsynced {
    struct unsynced *before;
    mortal_file *file;
    sqlite3_int64 at, size; /* size: of the file then */
    int len;
    uint8_t data[];
} unsynced;

static struct {
    sqlite3_vfs *real;
    int64_t at;
    int death;
    unsynced *last;
    uint64_t random;
} mortal;

#define REAL_FILE(file) (((mortal_file *)(void *)(file))->real)

/* ---- the end ---- */

static bool is_lost(void) {
    mortal.random = mortal.random * 6364136223846793005u + 1442695040888963407u;
    return mortal.death == DEATH_ALL_LOST || mortal.random >> 63;
}

static void lose_power(void) {
    for (unsynced *write = mortal.last; write; write = write->before) {
        sqlite3_file *real = write->file->real;
        if (!is_lost()) continue;
        if (write->len) real->pMethods->xWrite(real, write->data, write->len, write->at);
        sqlite3_int64 size;
        real->pMethods->xFileSize(real, &size);
        if (size > write->size && mortal.death == DEATH_ALL_LOST) real->pMethods->xTruncate(real, write->size);
    }
}

static void mortal_call(void) {
    if (notes->calls++ != mortal.at) return;
    if (mortal.death != DEATH_KILLED) lose_power();
    raise(SIGKILL);
}

/* ---- what is kept of the past ---- */

static void keep(mortal_file *file, sqlite3_int64 at, int len) {
    sqlite3_int64 size = 0;
    if (!file->lasts || mortal.death == DEATH_KILLED) return;
    unsynced *write = calloc(1, sizeof *write + (size_t)len);
    file->real->pMethods->xFileSize(file->real, &size);
    write->len = at >= size ? 0 : at + len > size ? (int)(size - at) : len;
    if (write->len) file->real->pMethods->xRead(file->real, write->data, write->len, at);
    write->file = file, write->at = at, write->size = size, write->before = mortal.last;
    mortal.last = write;
}

static void forget(const mortal_file *file) {
    unsynced **place = &mortal.last;
    while (*place) {
        unsynced *write = *place;
        if (write->file != file) {
            place = &write->before;
            continue;
        }
        *place = write->before;
        free(write);
    }
}

/* ---- the file system ---- */

static int mortal_close(sqlite3_file *file) {
    forget((mortal_file *)(void *)file);
    return REAL_FILE(file)->pMethods ? REAL_FILE(file)->pMethods->xClose(REAL_FILE(file)) : SQLITE_OK;
}
static int mortal_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at) {
    return REAL_FILE(file)->pMethods->xRead(REAL_FILE(file), data, len, at);
}
static int mortal_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at) {
    mortal_call();
    keep((mortal_file *)(void *)file, at, len);
    return REAL_FILE(file)->pMethods->xWrite(REAL_FILE(file), data, len, at);
}
static int mortal_truncate(sqlite3_file *file, sqlite3_int64 size) {
    sqlite3_int64 before = 0;
    mortal_call();
    REAL_FILE(file)->pMethods->xFileSize(REAL_FILE(file), &before);
    if (before > size) keep((mortal_file *)(void *)file, size, (int)(before - size));
    return REAL_FILE(file)->pMethods->xTruncate(REAL_FILE(file), size);
}
static int mortal_sync(sqlite3_file *file, int flags) {
    (void)flags;
    mortal_call();
    forget((mortal_file *)(void *)file);
    return SQLITE_OK; /* no disk loses power here */
}
static int mortal_size(sqlite3_file *file, sqlite3_int64 *out) {
    return REAL_FILE(file)->pMethods->xFileSize(REAL_FILE(file), out);
}
static int mortal_lock(sqlite3_file *file, int level) {
    mortal_call();
    return REAL_FILE(file)->pMethods->xLock(REAL_FILE(file), level);
}
static int mortal_unlock(sqlite3_file *file, int level) {
    return REAL_FILE(file)->pMethods->xUnlock(REAL_FILE(file), level);
}
static int mortal_reserved(sqlite3_file *file, int *out) {
    return REAL_FILE(file)->pMethods->xCheckReservedLock(REAL_FILE(file), out);
}
static int mortal_control(sqlite3_file *file, int op, void *argument) {
    return REAL_FILE(file)->pMethods->xFileControl(REAL_FILE(file), op, argument);
}
static int mortal_sector(sqlite3_file *file) {
    return REAL_FILE(file)->pMethods->xSectorSize(REAL_FILE(file));
}
static int mortal_device(sqlite3_file *file) {
    return REAL_FILE(file)->pMethods->xDeviceCharacteristics(REAL_FILE(file));
}
static int mortal_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    return REAL_FILE(file)->pMethods->xShmMap(REAL_FILE(file), page, size, extend, out);
}
static int mortal_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    mortal_call();
    return REAL_FILE(file)->pMethods->xShmLock(REAL_FILE(file), offset, count, flags);
}
static void mortal_shm_barrier(sqlite3_file *file) {
    REAL_FILE(file)->pMethods->xShmBarrier(REAL_FILE(file));
}
static int mortal_shm_unmap(sqlite3_file *file, int remove) {
    return REAL_FILE(file)->pMethods->xShmUnmap(REAL_FILE(file), remove);
}

static const sqlite3_io_methods mortal_methods = {
    .iVersion = 2,
    .xClose = mortal_close,
    .xRead = mortal_read,
    .xWrite = mortal_write,
    .xTruncate = mortal_truncate,
    .xSync = mortal_sync,
    .xFileSize = mortal_size,
    .xLock = mortal_lock,
    .xUnlock = mortal_unlock,
    .xCheckReservedLock = mortal_reserved,
    .xFileControl = mortal_control,
    .xSectorSize = mortal_sector,
    .xDeviceCharacteristics = mortal_device,
    .xShmMap = mortal_shm_map,
    .xShmLock = mortal_shm_lock,
    .xShmBarrier = mortal_shm_barrier,
    .xShmUnmap = mortal_shm_unmap,
};

static int mortal_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    mortal_file *opened = (mortal_file *)(void *)file;
    (void)vfs;
    mortal_call();
    opened->base.pMethods = NULL;
    opened->real = (sqlite3_file *)(void *)(opened + 1);
    opened->lasts = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    memset(opened->real, 0, sizeof *opened->real);
    int result = mortal.real->xOpen(mortal.real, name, opened->real, flags, out_flags);
    if (opened->real->pMethods) opened->base.pMethods = &mortal_methods;
    return result;
}

static void mortal_register(void) {
    static sqlite3_vfs vfs;
    if (mortal.real) return;
    sqlite3_initialize();
    mortal.real = sqlite3_vfs_find(NULL);
    vfs = *mortal.real;
    vfs.zName = MORTAL_NAME;
    vfs.szOsFile = (int)sizeof(mortal_file) + mortal.real->szOsFile;
    vfs.xOpen = mortal_open;
    vfs.pNext = NULL;
    sqlite3_vfs_register(&vfs, 0);
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Run `scenario` in a process that dies at call `at`. Whether it did. */
static bool mortal_run(void (*scenario)(void), int64_t at, int death) {
    int status = 0;
    *notes = (mortal_notes){0};
    pid_t child = fork();
    if (child == 0) {
        mortal.at = at, mortal.death = death, mortal.random = (uint64_t)at * 2654435761u + 1;
        scenario();
        notes->finished = true;
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        fprintf(stderr, "the child ended with %d\n", status);
        exit(1);
    }
    return WIFSIGNALED(status);
}

#endif
