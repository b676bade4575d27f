/* disk.c: a file system under SQLite, in memory: each host with a store has a disk of its own. It keeps apart what was
 * written and what was synced, so that its power can be cut; a disk that is left goes on without those who had it open,
 * as after a kill; and it can be full, or fail a part of its calls. */
#include <sqlite3.h>

#include "sim/sim.h"

#define REGIONS 64
#define REGION 32768

typedef struct change { /* that was not synced */
    int64_t at;
    size_t len;
    bool cuts; /* the file ends at `at` from then on */
    uint8_t *data;
} change;
struct sim_file {
    sim_disk *disk;
    uint32_t users;
    bool named, left; /* left: whoever has it open has it no more */
    uint8_t *data, *synced;
    size_t len, capacity, synced_len, synced_capacity;
    change *changes;
    size_t changes_len, changes_capacity;
    uint32_t shared; /* locks */
    const void *reserved, *pending;
    uint8_t *regions[REGIONS];
    uint32_t slot_shared[SQLITE_SHM_NLOCK];
    const void *slot_owner[SQLITE_SHM_NLOCK];
};
typedef struct handle {
    sqlite3_file base;
    sim_file *file;
    int level;
    uint32_t slots; /* that it shares */
} handle;

static sim_world *mounted;

#define HANDLE(opened) ((handle *)(void *)(opened))

/* ---- bytes ---- */

static void reach(uint8_t **data, size_t *len, size_t *capacity, size_t end) {
    if (end > *capacity) {
        *capacity = end * 2 + 8192;
        *data = realloc(*data, *capacity);
    }
    if (end > *len) memset(*data + *len, 0, end - *len);
    if (end > *len) *len = end;
}

static void apply(uint8_t **data, size_t *len, size_t *capacity, const change *one) {
    size_t at = (size_t)one->at;
    if (one->cuts) {
        if (at < *len) *len = at;
        return;
    }
    reach(data, len, capacity, at + one->len);
    memcpy(*data + at, one->data, one->len);
}

static void note_change(sim_file *file, int64_t at, const void *data, size_t len, bool cuts) {
    if (file->changes_len == file->changes_capacity) {
        file->changes_capacity = file->changes_capacity * 2 + 16;
        file->changes = realloc(file->changes, file->changes_capacity * sizeof *file->changes);
    }
    change *one = &file->changes[file->changes_len++];
    *one = (change){.at = at, .len = len, .cuts = cuts};
    if (len) one->data = malloc(len);
    if (len) memcpy(one->data, data, len);
    apply(&file->data, &file->len, &file->capacity, one);
}

static void forget_changes(sim_file *file) {
    for (size_t i = 0; i < file->changes_len; i++) free(file->changes[i].data);
    file->changes_len = 0;
}

static void sync_file(sim_file *file) {
    for (size_t i = 0; i < file->changes_len; i++)
        apply(&file->synced, &file->synced_len, &file->synced_capacity, &file->changes[i]);
    forget_changes(file);
}

/* Of what was not synced nothing arrived, or some of it, or what came first. */
enum { NOTHING, SOME, FIRST, LOSSES };

static void lose_power(sim_file *file, sim_random *random, uint32_t how) {
    size_t first = how == FIRST ? sim_draw(random, (uint32_t)file->changes_len + 1) : 0;
    file->len = file->synced_len;
    reach(&file->data, &file->len, &file->capacity, file->synced_len);
    if (file->synced_len) memcpy(file->data, file->synced, file->synced_len);
    for (size_t i = 0; i < file->changes_len; i++)
        if (how == SOME ? sim_draw(random, 2) != 0 : i < first)
            apply(&file->data, &file->len, &file->capacity, &file->changes[i]);
    forget_changes(file);
}

/* ---- files ---- */

static void drop_file(sim_file *file) {
    if (file->users || file->named) return;
    forget_changes(file);
    for (int i = 0; i < REGIONS; i++) free(file->regions[i]);
    free(file->changes);
    free(file->data);
    free(file->synced);
    free(file);
}

static sim_file *copy_file(const sim_file *file) {
    sim_file *copy = calloc(1, sizeof *copy);
    copy->disk = file->disk;
    copy->named = true;
    reach(&copy->data, &copy->len, &copy->capacity, file->len);
    if (file->len) memcpy(copy->data, file->data, file->len);
    reach(&copy->synced, &copy->synced_len, &copy->synced_capacity, file->synced_len);
    if (file->synced_len) memcpy(copy->synced, file->synced, file->synced_len);
    for (size_t i = 0; i < file->changes_len; i++) {
        const change *one = &file->changes[i];
        note_change(copy, one->at, one->data, one->len, one->cuts);
    }
    return copy;
}

static void unname(sim_file **place) {
    sim_file *file = *place;
    *place = NULL;
    if (!file) return;
    file->named = false;
    drop_file(file);
}

/* The place of a name; NULL: none of ours. */
static sim_file **place_of(const char *name, sim_disk **out_disk) {
    static const char *const suffixes[SIM_FILES] = {"", "-wal", "-journal"};
    for (int i = 0; mounted && name && i < mounted->hosts_len; i++) {
        sim_disk *disk = &mounted->hosts[i].store.disk;
        size_t len = strlen(disk->path);
        if (!len || strncmp(name, disk->path, len) != 0) continue;
        for (int k = 0; k < SIM_FILES; k++)
            if (strcmp(name + len, suffixes[k]) == 0) {
                *out_disk = disk;
                return &disk->files[k];
            }
    }
    return NULL;
}

void sim_disk_leave(sim_disk *disk) {
    for (int i = 0; i < SIM_FILES; i++) {
        sim_file *file = disk->files[i];
        if (!file) continue;
        disk->files[i] = copy_file(file);
        file->left = true;
        unname(&file);
    }
}

void sim_disk_cut(sim_disk *disk, sim_random *random) {
    uint32_t how = sim_draw(random, LOSSES);
    for (int i = 0; i < SIM_FILES; i++)
        if (disk->files[i]) lose_power(disk->files[i], random, how);
}

void sim_disk_empty(sim_disk *disk) {
    for (int i = 0; i < SIM_FILES; i++) unname(&disk->files[i]);
}

/* All of it as it is now, into an empty one. */
void sim_disk_copy(sim_disk *to, const sim_disk *from) {
    sim_disk_empty(to);
    for (int i = 0; i < SIM_FILES; i++)
        if (from->files[i]) {
            to->files[i] = copy_file(from->files[i]);
            to->files[i]->disk = to;
            sync_file(to->files[i]);
        }
}

void sim_disk_note(sim_world *w, const sim_disk *disk) {
    for (int i = 0; i < SIM_FILES; i++) {
        const sim_file *file = disk->files[i];
        uint64_t hash = 0, word = 0;
        for (size_t at = 0; file && at < file->len; at += sizeof word) {
            size_t left = file->len - at;
            memcpy(&word, file->data + at, left < sizeof word ? left : sizeof word);
            hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
        }
        if (file) sim_note(w, "file", (uint64_t)i, file->len, hash);
    }
}

/* ---- faults ---- */

static bool fails(const sim_file *file, uint32_t kind) {
    sim_disk *disk = file->disk;
    if (file->left) return true;
    if (!disk || !(disk->faults & kind)) return false;
    return sim_draw(&disk->random, disk->fails_one_in) == 0;
}

static bool is_full(const sim_file *file, size_t end) {
    return end > file->len && file->disk && file->disk->faults & SIM_DISK_FULL;
}

/* ---- SQLite's methods ---- */

static int disk_close(sqlite3_file *opened) {
    sim_file *file = HANDLE(opened)->file;
    file->users--;
    drop_file(file);
    return SQLITE_OK;
}

static int disk_read(sqlite3_file *opened, void *out, int len, sqlite3_int64 at) {
    const sim_file *file = HANDLE(opened)->file;
    if (fails(file, SIM_DISK_READS)) return SQLITE_IOERR_READ;
    size_t from = (size_t)at < file->len ? (size_t)at : file->len;
    size_t there = file->len - from < (size_t)len ? file->len - from : (size_t)len;
    if (there) memcpy(out, file->data + from, there);
    memset((uint8_t *)out + there, 0, (size_t)len - there);
    return there == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

/* Half of what fails arrives: what is torn must not be taken for whole. */
static int disk_write(sqlite3_file *opened, const void *data, int len, sqlite3_int64 at) {
    sim_file *file = HANDLE(opened)->file;
    if (file->left) return SQLITE_IOERR_WRITE;
    if (is_full(file, (size_t)at + (size_t)len)) return SQLITE_FULL;
    bool torn = fails(file, SIM_DISK_WRITES);
    note_change(file, at, data, torn ? (size_t)len / 2 : (size_t)len, false);
    return torn ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int disk_truncate(sqlite3_file *opened, sqlite3_int64 size) {
    sim_file *file = HANDLE(opened)->file;
    if (fails(file, SIM_DISK_WRITES)) return SQLITE_IOERR_TRUNCATE;
    note_change(file, size, NULL, 0, true);
    return SQLITE_OK;
}

static int disk_sync(sqlite3_file *opened, int flags) {
    sim_file *file = HANDLE(opened)->file;
    (void)flags;
    if (fails(file, SIM_DISK_SYNCS)) return SQLITE_IOERR_FSYNC;
    sync_file(file);
    return SQLITE_OK;
}

static int disk_size(sqlite3_file *opened, sqlite3_int64 *out) {
    const sim_file *file = HANDLE(opened)->file;
    *out = (sqlite3_int64)file->len;
    return fails(file, SIM_DISK_READS) ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int lock_exclusive(handle *h, sim_file *file) {
    if ((file->pending && file->pending != h) || (file->reserved && file->reserved != h)) return SQLITE_BUSY;
    file->pending = h;
    if (file->shared > 1) return SQLITE_BUSY;
    file->reserved = h;
    h->level = SQLITE_LOCK_EXCLUSIVE;
    return SQLITE_OK;
}

static int disk_lock(sqlite3_file *opened, int level) {
    handle *h = HANDLE(opened);
    sim_file *file = h->file;
    if (h->level >= level) return SQLITE_OK;
    if (fails(file, SIM_DISK_LOCKS)) return SQLITE_IOERR_LOCK;
    if (level == SQLITE_LOCK_EXCLUSIVE) return lock_exclusive(h, file);
    if (level == SQLITE_LOCK_SHARED ? file->pending != NULL : file->reserved != NULL) return SQLITE_BUSY;
    if (level == SQLITE_LOCK_SHARED) file->shared++;
    if (level == SQLITE_LOCK_RESERVED) file->reserved = h;
    h->level = level;
    return SQLITE_OK;
}

static int disk_unlock(sqlite3_file *opened, int level) {
    handle *h = HANDLE(opened);
    sim_file *file = h->file;
    if (file->reserved == h) file->reserved = NULL;
    if (file->pending == h) file->pending = NULL;
    if (level == SQLITE_LOCK_NONE && h->level > SQLITE_LOCK_NONE) file->shared--;
    if (level < h->level) h->level = level;
    return SQLITE_OK;
}

static int disk_reserved(sqlite3_file *opened, int *out) {
    *out = HANDLE(opened)->file->reserved != NULL;
    return SQLITE_OK;
}

static int disk_control(sqlite3_file *opened, int op, void *argument) {
    (void)opened, (void)op, (void)argument;
    return SQLITE_NOTFOUND;
}

static int disk_sector(sqlite3_file *opened) {
    (void)opened;
    return 4096;
}

static int disk_device(sqlite3_file *opened) {
    (void)opened;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int disk_shm_map(sqlite3_file *opened, int region, int size, int extend, void volatile **out) {
    sim_file *file = HANDLE(opened)->file;
    *out = NULL;
    if (file->left || size != REGION || region >= REGIONS) return SQLITE_IOERR_SHMMAP;
    if (!file->regions[region] && extend) file->regions[region] = calloc(1, REGION);
    *out = file->regions[region];
    return SQLITE_OK;
}

static void shm_unlock(handle *h, int slot) {
    sim_file *file = h->file;
    if (file->slot_owner[slot] == h) file->slot_owner[slot] = NULL;
    if (h->slots >> slot & 1) file->slot_shared[slot]--;
    h->slots &= ~(1u << slot);
}

static bool shm_is_free(const handle *h, int slot, bool shared) {
    const sim_file *file = h->file;
    uint32_t others = file->slot_shared[slot] - (h->slots >> slot & 1);
    if (file->slot_owner[slot] && file->slot_owner[slot] != h) return false;
    return shared || !others;
}

static void shm_lock(handle *h, int slot, bool shared) {
    sim_file *file = h->file;
    if (!shared) file->slot_owner[slot] = h;
    if (shared && !(h->slots >> slot & 1)) file->slot_shared[slot]++;
    if (shared) h->slots |= 1u << slot;
}

static int disk_shm_lock(sqlite3_file *opened, int first, int count, int flags) {
    handle *h = HANDLE(opened);
    bool shared = (flags & SQLITE_SHM_SHARED) != 0, unlocks = (flags & SQLITE_SHM_UNLOCK) != 0;
    for (int slot = first; slot < first + count && unlocks; slot++) shm_unlock(h, slot);
    if (unlocks) return SQLITE_OK;
    if (h->file->left) return SQLITE_IOERR_SHMLOCK;
    for (int slot = first; slot < first + count; slot++)
        if (!shm_is_free(h, slot, shared)) return SQLITE_BUSY;
    for (int slot = first; slot < first + count; slot++) shm_lock(h, slot, shared);
    return SQLITE_OK;
}

static void disk_shm_barrier(sqlite3_file *opened) {
    (void)opened;
}

static int disk_shm_unmap(sqlite3_file *opened, int remove) {
    handle *h = HANDLE(opened);
    for (int slot = 0; slot < SQLITE_SHM_NLOCK; slot++) shm_unlock(h, slot);
    for (int i = 0; i < REGIONS && remove; i++) {
        free(h->file->regions[i]);
        h->file->regions[i] = NULL;
    }
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
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

/* ---- names ---- */

/* A file without a name of ours is SQLite's own, for a while. */
static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *out_flags) {
    sim_disk *disk = NULL;
    handle *h = HANDLE(opened);
    sim_file **place = place_of(name, &disk), *file = place ? *place : NULL;
    (void)vfs;
    *h = (handle){.file = NULL};
    if (!file && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    if (!file && disk && disk->faults & SIM_DISK_FULL) return SQLITE_FULL;
    if (disk && disk->faults & SIM_DISK_OPENS && sim_draw(&disk->random, disk->fails_one_in) == 0)
        return SQLITE_CANTOPEN;
    if (!file) file = calloc(1, sizeof *file);
    file->disk = disk;
    if (place) file->named = true, *place = file;
    file->users++;
    h->file = file;
    h->base.pMethods = &methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
    sim_disk *disk;
    sim_file **place = place_of(name, &disk);
    (void)vfs, (void)syncs;
    if (!place || !*place) return SQLITE_IOERR_DELETE_NOENT;
    if (fails(*place, SIM_DISK_WRITES)) return SQLITE_IOERR_DELETE;
    unname(place);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    sim_disk *disk;
    sim_file **place = place_of(name, &disk);
    (void)vfs, (void)flags;
    *out = place && *place && (*place)->len;
    return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out) {
    (void)vfs;
    sqlite3_snprintf(room, out, "%s", name);
    return SQLITE_OK;
}

static int disk_randomness(sqlite3_vfs *vfs, int len, char *out) {
    (void)vfs;
    memset(out, 7, (size_t)len);
    return len;
}

static int disk_sleep(sqlite3_vfs *vfs, int span) {
    (void)vfs;
    return span;
}

static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    (void)vfs;
    *out = INT64_C(212000000000000);
    return SQLITE_OK;
}

/* SQLite draws the salts of its log from a generator of the process: each run begins it anew. */
void sim_disks_mount(sim_world *w) {
    static sqlite3_vfs vfs;
    mounted = w;
    if (!w) return;
    if (!vfs.zName) {
        sqlite3_initialize();
        vfs = *sqlite3_vfs_find(NULL);
        vfs.zName = SIM_DISK_NAME;
        vfs.szOsFile = (int)sizeof(handle);
        vfs.pNext = NULL;
        vfs.xOpen = disk_open;
        vfs.xDelete = disk_delete;
        vfs.xAccess = disk_access;
        vfs.xFullPathname = disk_full_path;
        vfs.xRandomness = disk_randomness;
        vfs.xSleep = disk_sleep;
        vfs.xCurrentTimeInt64 = disk_time;
        sqlite3_vfs_register(&vfs, 0);
    }
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, (sqlite3 *)NULL);
}
