/* disk.h: a file system under SQLite that fails its n-th call of some kinds, once or from then on. */
#ifndef CHORDAL_TESTS_DISK_H
#define CHORDAL_TESTS_DISK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DISK_NAME "faulty"

enum { DISK_READ = 1, DISK_WRITE = 2, DISK_SYNC = 4, DISK_LOCK = 8, DISK_SHARED = 16, DISK_OPEN = 32, DISK_FULL = 64 };

static struct {
    sqlite3_vfs *real;
    uint32_t kinds; /* which calls are counted */
    int64_t at;     /* the call that fails, from 0 */
    bool goes_on;   /* and all after it */
    int64_t calls;
    int64_t failures;
} disk;

typedef struct disk_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this structure */
} disk_file;

static bool disk_fails(uint32_t kind) {
    if (!(disk.kinds & kind)) return false;
    int64_t call = disk.calls++;
    bool fails = disk.goes_on ? call >= disk.at : call == disk.at;
    disk.failures += fails;
    return fails;
}

#define REAL(file) (((disk_file *)(void *)(file))->real)

static int disk_close(sqlite3_file *file) {
    return REAL(file)->pMethods ? REAL(file)->pMethods->xClose(REAL(file)) : SQLITE_OK;
}
static int disk_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at) {
    return disk_fails(DISK_READ) ? SQLITE_IOERR_READ : REAL(file)->pMethods->xRead(REAL(file), data, len, at);
}
/* Half of it arrives: what is torn must not be taken for whole. */
static int disk_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at) {
    if (disk_fails(DISK_FULL)) return SQLITE_FULL;
    if (!disk_fails(DISK_WRITE)) return REAL(file)->pMethods->xWrite(REAL(file), data, len, at);
    REAL(file)->pMethods->xWrite(REAL(file), data, len / 2, at);
    return SQLITE_IOERR_WRITE;
}
static int disk_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return disk_fails(DISK_WRITE) ? SQLITE_IOERR_TRUNCATE : REAL(file)->pMethods->xTruncate(REAL(file), size);
}
static int disk_sync(sqlite3_file *file, int flags) {
    (void)file, (void)flags; /* no disk loses power here */
    return disk_fails(DISK_SYNC) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}
static int disk_size(sqlite3_file *file, sqlite3_int64 *out) {
    return disk_fails(DISK_READ) ? SQLITE_IOERR_FSTAT : REAL(file)->pMethods->xFileSize(REAL(file), out);
}
static int disk_lock(sqlite3_file *file, int level) {
    return disk_fails(DISK_LOCK) ? SQLITE_IOERR_LOCK : REAL(file)->pMethods->xLock(REAL(file), level);
}
static int disk_unlock(sqlite3_file *file, int level) {
    return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int disk_reserved(sqlite3_file *file, int *out) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), out);
}
static int disk_control(sqlite3_file *file, int op, void *argument) {
    return REAL(file)->pMethods->xFileControl(REAL(file), op, argument);
}
static int disk_sector(sqlite3_file *file) {
    return REAL(file)->pMethods->xSectorSize(REAL(file));
}
static int disk_device(sqlite3_file *file) {
    return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int disk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    if (disk_fails(DISK_SHARED)) return SQLITE_IOERR_SHMMAP;
    return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, out);
}
static int disk_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    if (!(flags & SQLITE_SHM_UNLOCK) && disk_fails(DISK_SHARED)) return SQLITE_IOERR_SHMLOCK;
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}
static void disk_shm_barrier(sqlite3_file *file) {
    REAL(file)->pMethods->xShmBarrier(REAL(file));
}
static int disk_shm_unmap(sqlite3_file *file, int remove) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), remove);
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_device,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    disk_file *opened = (disk_file *)(void *)file;
    (void)vfs;
    opened->base.pMethods = NULL;
    opened->real = (sqlite3_file *)(void *)(opened + 1);
    memset(opened->real, 0, sizeof *opened->real);
    if (disk_fails(DISK_OPEN)) return SQLITE_CANTOPEN;
    int result = disk.real->xOpen(disk.real, name, opened->real, flags, out_flags);
    if (opened->real->pMethods) opened->base.pMethods = &disk_methods;
    return result;
}

/* Beside the real one, by its name. */
static void disk_register(void) {
    static sqlite3_vfs vfs;
    sqlite3_initialize();
    disk.real = sqlite3_vfs_find(NULL);
    vfs = *disk.real;
    vfs.zName = DISK_NAME;
    vfs.szOsFile = (int)sizeof(disk_file) + disk.real->szOsFile;
    vfs.xOpen = disk_open;
    vfs.pNext = NULL;
    sqlite3_vfs_register(&vfs, 0);
}

#endif
