/* store_read.c: reading a store, following, copying, checking and filling it, while each allocation fails in turn, and
 * each call of the disk. */
#include "../store.h"
#include "disk.h"
#include "sweep.h"

#define TYPE                                                                                                           \
    "{\"name\":\"pair\",\"keep\":true,\"history\":\"all\",\"deltas\":3,\"members\":[{\"name\":\"left\","               \
    "\"kind\":\"document\",\"initial\":{\"list\":[]}},{\"name\":\"right\",\"kind\":\"document\",\"initial\":0}]}"
#define TABLE                                                                                                          \
    "{\"type\":\"t\",\"member\":\"r\",\"version\":1,\"columns\":{\"a\":\"integer\",\"b\":\"text\"},\"key\":[\"a\"],"   \
    "\"indexes\":{\"by_b\":[\"b\"]}}"
#define ROW "{\"type\":\"t\",\"params\":{\"a\":1},\"member\":\"r\",\"row\":{\"a\":1,\"b\":\"x\"}}"
#define DOCUMENT "{\"type\":\"t\",\"version\":1,\"params\":{\"a\":1},\"member\":\"m\",\"value\":{\"b\":[1,2.5]}}"

enum { ROUNDS = 10 };
static char copy_path[128], new_path[128];

static void remove_at(const char *path) {
    static const char *const parts[] = {"", "-wal", "-shm", "-owner", "-copy", "-copy-journal"};
    char name[160];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", path, parts[i]);
        unlink(name);
    }
}

static void commit_pair(test_host *h, chordal_id object, int number) {
    char json[16];
    snprintf(json, sizeof json, "%d", number);
    set_json(h, object, 0, "/list/-", json);
    set_json(h, object, 1, "", json);
    test_poll(h);
}

/* A store with some history, of whose outbox a part is to be found there alone: its owner did not come to its end. */
static void make_store(void) {
    test_host h;
    chordal_id object;
    new_store();
    snprintf(copy_path, sizeof copy_path, "%s/copy.db", store_folder);
    snprintf(new_path, sizeof new_path, "%s/new.db", store_folder);
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_OUTBOX});
    provide(&h, TYPE);
    CHECK_INT(chordal_object_get(h.host, "pair", 4, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &object, NULL), 0);
    for (int number = 1; number <= ROUNDS; number++) commit_pair(&h, object, number);
    test_host_close(&h);
    store_execute("UPDATE chordal_runs SET last = NULL; DELETE FROM chordal_outbox WHERE number > 8");
}

static int open_host(const char *path, uint32_t flags, const char *vfs, const chordal_memory_functions *memory,
                     chordal_host **out) {
    chordal_host_options options = {.store = path, .store_flags = flags, .store_vfs = vfs, .memory = memory};
    options.size = sizeof options;
    return chordal_host_open(&options, out, NULL);
}

/* ---- what is done; each answers the first code that it meets ---- */

static int read_points(chordal_host *host) {
    for (uint64_t at = 1; at <= 2 * ROUNDS; at++) {
        chordal_value *value;
        uint64_t commit;
        int code = chordal_store_read(host, "pair", 4, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, "left", 4, at,
                                      &value, &commit, NULL);
        if (code) return code;
        CHECK_INT(commit, at % 2 ? at : at - 1);
        chordal_value_unref(value);
    }
    return 0;
}

/* A check tells what it cannot read. */
static int check_all(chordal_host *host) {
    uint64_t next = 0, found = 0;
    do {
        chordal_value *value = NULL;
        chordal_cursor root;
        int code = chordal_store_check(host, next, 0, &value, &next, NULL);
        if (code) return code;
        chordal_cursor_root(value, &root);
        found += chordal_cursor_length(&root);
        chordal_value_unref(value);
    } while (next);
    return found ? CHORDAL_E_DISK_IO : 0;
}

static int read_list(chordal_host *host, int which, uint64_t expected) {
    chordal_value *value;
    uint64_t next;
    chordal_cursor root;
    if (which == 2) return check_all(host);
    int code = which == 0   ? chordal_store_documents(host, 0, 0, &value, &next, NULL)
               : which == 1 ? chordal_store_outbox(host, 0, 0, &value, &next, NULL)
               : which == 3 ? chordal_store_tables(host, 0, 0, &value, &next, NULL)
                            : chordal_store_owners(host, 0, 0, &value, &next, NULL);
    if (code) return code;
    chordal_cursor_root(value, &root);
    uint64_t found = chordal_cursor_length(&root);
    chordal_value_unref(value);
    CHECK_INT(found, expected);
    return 0;
}

/* Turns, until the ticket's outcome is told; its code. */
static int wait_for(chordal_host *host, chordal_id ticket) {
    static _Alignas(8) uint8_t buffer[4096];
    size_t len;
    for (int turns = 0; turns < 50; turns++) {
        int code = chordal_host_poll(host, 0, buffer, sizeof buffer, &len, NULL);
        if (code) return code;
        const chordal_event_TICKET *told = (const void *)buffer;
        if (len && told->record.kind == CHORDAL_EVENT_TICKET && told->ticket == ticket) return told->code;
    }
    CHECK_FAIL("no outcome");
    return 0;
}

static int copy_store(chordal_host *host) {
    chordal_id ticket;
    int code = chordal_store_backup(host, copy_path, strlen(copy_path), &ticket, NULL);
    return code ? code : wait_for(host, ticket);
}

static int look(const char *vfs, const chordal_memory_functions *memory) {
    chordal_host *host;
    int code = open_host(store_path, CHORDAL_STORE_READ_ONLY, vfs, memory, &host);
    if (code) return code;
    code = read_points(host);
    if (!code) code = read_list(host, 0, 2);
    if (!code) code = read_list(host, 1, 2 * ROUNDS);
    if (!code) code = read_list(host, 2, 0);
    if (!code) code = copy_store(host);
    chordal_host_forget(host);
    if (!code) code = open_host(store_path, CHORDAL_STORE_OUTBOX, vfs, memory, &host);
    if (code) return code;
    code = read_list(host, 1, 2 * ROUNDS);
    chordal_host_forget(host);
    return code;
}

static int fill_new(const char *vfs, const chordal_memory_functions *memory) {
    chordal_host *host;
    int code = open_host(new_path, 0, vfs, memory, &host);
    if (code) return code;
    static const char *const items[] = {TABLE, DOCUMENT, ROW};
    for (size_t i = 0; i < 3 && !code; i++)
        code = chordal_store_put(host, CHORDAL_FORMAT_JSON, (const uint8_t *)items[i], strlen(items[i]), NULL);
    if (!code) code = chordal_store_seal(host, NULL);
    if (!code) code = read_list(host, 3, 1);
    if (!code) code = read_list(host, 4, 1);
    chordal_host_forget(host);
    return code;
}

/* ---- what it leaves ---- */

static int64_t documents_of(const char *path) {
    char kept[sizeof store_path];
    memcpy(kept, store_path, sizeof kept);
    memcpy(store_path, path, sizeof store_path);
    int64_t count = store_number("SELECT count(*) FROM chordal_documents");
    memcpy(store_path, kept, sizeof kept);
    return count;
}

/* A copy is whole, or there is none. */
static void expect_copy(int code) {
    bool there = access(copy_path, F_OK) == 0;
    char part[160];
    if (!code) CHECK(there);
    if (there) CHECK_INT(documents_of(copy_path), 2);
    snprintf(part, sizeof part, "%s-copy", copy_path);
    CHECK(access(part, F_OK) != 0);
    remove_at(copy_path);
}

static void expect_new(int code) {
    if (!code) CHECK_INT(documents_of(new_path), 1);
    if (code && access(new_path, F_OK) == 0) {
        chordal_host *host;
        CHECK_INT(open_host(new_path, 0, NULL, NULL, &host), 0);
        int again = chordal_store_put(host, CHORDAL_FORMAT_JSON, (const uint8_t *)DOCUMENT, strlen(DOCUMENT), NULL);
        CHECK(again == 0 || again == CHORDAL_E_STATE); /* nothing, or all of it */
        chordal_host_forget(host);
    }
    remove_at(new_path);
}

/* ---- memory ---- */

static int looking(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    (void)memory, (void)context;
    int code = look(NULL, functions);
    expect_copy(code);
    return code;
}

static int filling(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    (void)memory, (void)context;
    int code = fill_new(NULL, functions);
    expect_new(code);
    return code;
}

TEST(no_memory_for_a_look) {
    make_store();
    fault_plan plan = {.name = "looking", .scenario = looking};
    CHECK(fault_sweep(&plan) > 50);
}

TEST(no_memory_to_fill) {
    make_store();
    fault_plan plan = {.name = "filling", .scenario = filling};
    CHECK(fault_sweep(&plan) > 10);
}

/* ---- the disk ---- */

static bool is_stable(int code) {
    return code == 0 || code == CHORDAL_E_DISK_IO || code == CHORDAL_E_DISK_FULL || code == CHORDAL_E_OWNED ||
           code == CHORDAL_E_READ_ONLY || code == CHORDAL_E_NOT_FOUND || code == CHORDAL_E_CORRUPT ||
           code == CHORDAL_E_NOMEM;
}

static void sweep(uint32_t kinds, int (*act)(const char *, const chordal_memory_functions *), void (*expect)(int)) {
    int64_t count = 0;
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        int64_t at = 0;
        do {
            disk.kinds = kinds, disk.at = at++, disk.goes_on = goes_on, disk.calls = disk.failures = 0;
            int code = act(DISK_NAME, NULL);
            disk.kinds = 0;
            if (!is_stable(code)) CHECK_FAIL("kind %u, call %d: code %d", kinds, (int)at, code);
            if (!disk.failures) CHECK_INT(code, 0);
            expect(code);
        } while (disk.failures && check_failures == 0);
        count += at;
    }
    CHECK(count > 2);
}

static const uint32_t kinds[] = {DISK_READ, DISK_WRITE, DISK_SYNC, DISK_LOCK, DISK_SHARED, DISK_OPEN, DISK_FULL};

TEST(a_bad_disk_for_a_look) {
    make_store();
    disk_register();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) sweep(kinds[i], look, expect_copy);
}

TEST(a_bad_disk_to_fill) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) sweep(kinds[i], fill_new, expect_new);
}

TEST(done) {
    remove_store();
}

TESTS({"no memory for a look", no_memory_for_a_look}, {"no memory to fill", no_memory_to_fill},
      {"a bad disk for a look", a_bad_disk_for_a_look}, {"a bad disk to fill", a_bad_disk_to_fill}, {"done", done})
