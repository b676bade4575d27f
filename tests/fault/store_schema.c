/* store_schema.c: a store of an older schema is opened, and at each call of its file system the disk fails, is full, or
 * the process dies: the file is of the old schema then or of the newest, whole, and opens with all that was in it. */
#include "../tables.h"
#include "disk.h"
#include "mortal.h"

#include "store/store.h"

#define APPLICATION_ID 1128820594 /* "CHor" */
#define TYPE                                                                                                           \
    "{\"name\":\"pair\",\"keep\":true,\"members\":[{\"name\":\"left\",\"kind\":\"document\",\"initial\":[]},"          \
    "{\"name\":\"right\",\"kind\":\"document\",\"initial\":0},{\"name\":\"rows\",\"kind\":\"table\","                  \
    "\"key\":[\"id\"],\"columns\":{\"id\":\"integer\",\"text\":\"text\"},\"indexes\":{\"by_text\":[\"text\"]}}]}"
enum { LEFT, RIGHT, ROWS };
enum { TABLES = 2 }; /* the schema that brought tables */

static test_host h;
static char old_path[112], old_text[8192], new_text[8192];
static uint32_t schema, durability;

/* ---- stores of older schemas: the steps up to them, and what a host wrote, as far as they have it ---- */

static chordal_id open_pair(const char *vfs) {
    test_host_open(&h, (chordal_host_options){.store = store_path,
                                              .store_vfs = vfs,
                                              .store_flags = CHORDAL_STORE_OUTBOX,
                                              .store_durability = durability});
    provide(&h, TYPE);
    return object_in(&h, "pair", "{}");
}

static void commit_number(chordal_id object, int number) {
    char json[64];
    chordal_transaction *t = draft_on(&h);
    snprintf(json, sizeof json, "%d", number);
    CHECK_INT(chordal_transaction_set_json(t, object, LEFT, "/-", json, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, RIGHT, "", json, NULL), 0);
    snprintf(json, sizeof json, "{\"id\":%d,\"text\":\"row %d\"}", number, number);
    put(t, object, ROWS, json);
    chordal_id ticket = commit(t);
    forget_events(&h);
    test_poll(&h);
    CHECK(ticket_code(&h, ticket) > 0);
}

static void make_newest(void) {
    new_store();
    durability = CHORDAL_DURABILITY_OFF;
    chordal_id object = open_pair(NULL);
    for (int number = 1; number <= 3; number++) commit_number(object, number);
    test_host_close(&h);
}

static void execute_in(sqlite3 *sqlite, const char *sql) {
    char *words = NULL;
    if (sqlite3_exec(sqlite, sql, NULL, NULL, &words) != SQLITE_OK) CHECK_FAIL("%s: %s", sql, words);
    sqlite3_free(words);
}

/* The columns that a table has in the older file. */
static void copy_table(sqlite3 *sqlite, const char *name) {
    char sql[512];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof sql, "SELECT group_concat(name) FROM pragma_table_info('%s', 'main')", name);
    CHECK_INT(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
    const char *columns = (const char *)sqlite3_column_text(statement, 0);
    snprintf(sql, sizeof sql, "INSERT INTO main.%s(%s) SELECT %s FROM newest.%s", name, columns, columns, name);
    sqlite3_finalize(statement);
    execute_in(sqlite, sql);
}

static void copy_rows_of_objects(sqlite3 *sqlite) {
    sqlite3_stmt *statement;
    static const char made[] = "SELECT sql FROM newest.sqlite_schema WHERE name GLOB 'chordal_table_*' OR "
                               "name GLOB 'chordal_index_*' ORDER BY type DESC";
    CHECK_INT(sqlite3_prepare_v2(sqlite, made, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) execute_in(sqlite, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    copy_table(sqlite, "chordal_tables");
    copy_table(sqlite, "chordal_owners");
    copy_table(sqlite, "chordal_table_1");
}

static void make_older(void) {
    char sql[256];
    sqlite3 *sqlite;
    make_newest();
    snprintf(old_path, sizeof old_path, "%s/old", store_folder);
    CHECK_INT(sqlite3_open(old_path, &sqlite), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA application_id = %d;"
             " PRAGMA user_version = %" PRIu32 "; ATTACH '%s' AS newest",
             APPLICATION_ID, schema, store_path);
    execute_in(sqlite, sql);
    for (uint32_t i = 1; i <= schema; i++) execute_in(sqlite, chordal__schema_step(i));
    copy_table(sqlite, "chordal_runs");
    copy_table(sqlite, "chordal_documents");
    copy_table(sqlite, "chordal_revisions");
    copy_table(sqlite, "chordal_outbox");
    if (schema >= TABLES) copy_rows_of_objects(sqlite);
    sqlite3_close(sqlite);
}

/* ---- what a file is ---- */

static void copy_file(const char *from, const char *to) {
    static uint8_t bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t len = fread(bytes, 1, sizeof bytes, in);
    CHECK(len > 0 && len < sizeof bytes);
    CHECK_INT(fwrite(bytes, 1, len, out), len);
    fclose(in);
    fclose(out);
}

static void reset(void) {
    static const char *const parts[] = {"-wal", "-shm", "-owner"};
    char name[128];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", store_path, parts[i]);
        unlink(name);
    }
    copy_file(old_path, store_path);
}

/* Its numbers and all that it is made of. */
static void read_schema(char *out, size_t size) {
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    static const char sql[] =
        "SELECT (SELECT application_id FROM pragma_application_id) || ' ' || (SELECT user_version FROM "
        "pragma_user_version) || ' ' || (SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE sql "
        "IS NOT NULL AND name NOT GLOB 'chordal_table_*' AND name NOT GLOB 'chordal_index_*' ORDER BY name))";
    CHECK_INT(sqlite3_open(store_path, &sqlite), SQLITE_OK);
    execute_in(sqlite, "PRAGMA synchronous = OFF");
    CHECK_INT(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK);
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW) CHECK_FAIL("reading the schema: %d %s", result, sqlite3_errmsg(sqlite));
    snprintf(out, size, "%s", result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "");
    CHECK(strlen(out) + 1 < size);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
}

static void expect_content(chordal_id object, int last) {
    char key[16], row[64];
    CHECK_TEXT(head_of(&h, object, LEFT), last == 3 ? "[1,2,3]" : "[1,2,3,4]");
    snprintf(key, sizeof key, "%d", last);
    CHECK_TEXT(head_of(&h, object, RIGHT), key);
    for (int i = schema >= TABLES ? 1 : 4; i <= last; i++) {
        snprintf(key, sizeof key, "%d", i);
        snprintf(row, sizeof row, "{\"id\":%d,\"text\":\"row %d\"}", i, i);
        CHECK_TEXT(row_of(&h, object, ROWS, key), row);
    }
}

static void expect_no_damage(void) {
    chordal_value *value = NULL;
    uint64_t next = 0;
    do {
        CHECK_INT(chordal_store_check(h.host, next, 0, &value, &next, NULL), 0);
        CHECK_TEXT(json_of(value), "[]");
    } while (next);
}

/* Whole, whichever it is; then it opens, has what was in it, and goes on. */
static void look(int64_t at, bool opened) {
    char text[8192];
    uint32_t level = durability;
    read_schema(text, sizeof text);
    bool newest = strcmp(text, new_text) == 0, old = strcmp(text, old_text) == 0;
    if (!newest && (opened || !old)) CHECK_FAIL("schema %d, call %d: left as %s", (int)schema, (int)at, text);
    durability = CHORDAL_DURABILITY_OFF; /* nothing more is lost */
    chordal_id object = open_pair(NULL);
    durability = level;
    expect_no_damage();
    expect_content(object, 3);
    commit_number(object, 4);
    expect_content(object, 4);
    test_host_close(&h);
    read_schema(text, sizeof text);
    CHECK_TEXT(text, new_text);
}

static void begin_schema(uint32_t which) {
    schema = which;
    make_older();
    reset();
    read_schema(old_text, sizeof old_text);
    durability = CHORDAL_DURABILITY_NORMAL;
    test_host_open(&h, (chordal_host_options){.store = store_path});
    test_host_close(&h);
    read_schema(new_text, sizeof new_text);
    CHECK(strcmp(old_text, new_text) != 0);
    look(-1, true);
}

static void end_schema(void) {
    unlink(old_path);
}

/* ---- a disk that fails ---- */

static bool is_stable(int code) {
    return code == CHORDAL_E_DISK_IO || code == CHORDAL_E_DISK_FULL || code == CHORDAL_E_OWNED ||
           code == CHORDAL_E_READ_ONLY || code == CHORDAL_E_NOMEM || code == CHORDAL_E_CORRUPT;
}

/* False: the fault did not come. */
static bool run_on(uint32_t kinds, int64_t at, bool goes_on) {
    chordal_error error = {0};
    chordal_host_options options = {.size = sizeof options, .store = store_path, .store_vfs = DISK_NAME};
    chordal_host *host = NULL;
    reset();
    disk.kinds = kinds, disk.at = at, disk.goes_on = goes_on, disk.calls = disk.failures = 0;
    int code = chordal_host_open(&options, &host, &error);
    if (code && !is_stable(code)) CHECK_FAIL("schema %d, call %d: %d %s", (int)schema, (int)at, code, error.detail);
    chordal_host_close(host);
    bool came = disk.failures != 0;
    disk.kinds = 0;
    look(at, code == 0);
    return came;
}

static void sweep_disk(uint32_t kinds) {
    for (uint32_t which = 1; which < CHORDAL_STORE; which++) {
        begin_schema(which);
        for (int goes_on = 0; goes_on < 2; goes_on++) {
            int64_t at = 0;
            while (run_on(kinds, at, goes_on) && check_failures == 0) at++;
            CHECK(at > 0);
        }
        end_schema();
    }
}

TEST(reading) {
    sweep_disk(DISK_READ);
}
TEST(writing) {
    sweep_disk(DISK_WRITE);
}
TEST(syncing) {
    sweep_disk(DISK_SYNC);
}
TEST(locking) {
    sweep_disk(DISK_LOCK);
}
TEST(shared_memory) {
    sweep_disk(DISK_SHARED);
}
TEST(opening) {
    sweep_disk(DISK_OPEN);
}
TEST(a_full_disk) {
    sweep_disk(DISK_FULL);
}

/* ---- a process that dies ---- */

static void open_and_close(void) {
    chordal_host_options options = {
        .size = sizeof options, .store = store_path, .store_vfs = MORTAL_NAME, .store_durability = durability};
    chordal_host *host = NULL;
    if (chordal_host_open(&options, &host, NULL)) _exit(1);
    notes->told = 1;
    chordal_host_close(host);
}

static void sweep_death(uint32_t level, int death) {
    mortal_register();
    for (uint32_t which = 1; which < CHORDAL_STORE; which++) {
        begin_schema(which);
        durability = level;
        int64_t at = 0;
        for (bool died = true; died && check_failures == 0; at++) {
            reset();
            died = mortal_run(open_and_close, at, death);
            look(at, notes->told && death == DEATH_KILLED);
        }
        CHECK(at > 10);
        end_schema();
    }
}

TEST(killed) {
    sweep_death(CHORDAL_DURABILITY_NORMAL, DEATH_KILLED);
    sweep_death(CHORDAL_DURABILITY_OFF, DEATH_KILLED);
}
TEST(a_power_cut_at_full) {
    sweep_death(CHORDAL_DURABILITY_FULL, DEATH_ALL_LOST);
    sweep_death(CHORDAL_DURABILITY_FULL, DEATH_SOME_LOST);
}
TEST(a_power_cut_at_normal) {
    sweep_death(CHORDAL_DURABILITY_NORMAL, DEATH_ALL_LOST);
    sweep_death(CHORDAL_DURABILITY_NORMAL, DEATH_SOME_LOST);
}

TEST(begin) {
    disk_register();
}
TEST(done) {
    if (store_folder[0]) remove_store();
}

TESTS({"begin", begin}, {"reading", reading}, {"writing", writing}, {"syncing", syncing}, {"locking", locking},
      {"shared memory", shared_memory}, {"opening", opening}, {"a full disk", a_full_disk}, {"killed", killed},
      {"a power cut at full", a_power_cut_at_full}, {"a power cut at normal", a_power_cut_at_normal}, {"done", done})
