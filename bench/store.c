/* store.c: what a commit into a store costs, beside the same statements by SQLite alone on the same file system.
 * `store FOLDER BATCHES`: a JSON object a line. FOLDER has the files while it runs. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows.h"
#include "world.h"

enum { ROUNDS = 200, MANY = 1000, HUNDRED = 100, CELL_MOST = 10000, SAMPLES = 64, OPENS = 20, POINTS = 100 };

#define KEPT                                                                                                           \
    "{\"name\":\"kept\",\"params\":[\"board\"],\"history\":%s,\"members\":[{\"name\":\"list\",\"kind\":\"document\","  \
    "\"initial\":{\"cell\":\"\"}},{\"name\":\"rows\",\"kind\":\"table\",\"key\":[\"id\"],\"columns\":"                 \
    "{\"id\":\"integer\",\"title\":\"text\",\"done\":\"integer\"}}]}"

static char path[1024], cell[CELL_MOST + 64];
static int cell_len;

/* ---- the file ---- */

static void remove_files(void) {
    static const char *const parts[] = {"", "-wal", "-shm", "-owner"};
    char name[1100];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", path, parts[i]);
        unlink(name);
    }
}

static void set_cell(int len) {
    static unsigned number;
    cell_len = len;
    memset(cell, 'x', (size_t)len + 2);
    cell[0] = cell[len + 1] = '"';
    cell[len + 2] = 0;
    number = (number + 1) % 100000;
    for (unsigned rest = number, i = 1; rest; rest /= 10) cell[i++] = (char)('0' + rest % 10); /* another each time */
}

/* ---- ours ---- */

static void open_kept(world *w, uint32_t flags, const char *history) {
    char type[sizeof KEPT + 16];
    chordal_id id;
    chordal_host_options options = {.size = sizeof options, .store = path, .store_flags = flags};
    memset(w, 0, sizeof *w);
    OK(chordal_host_open(&options, &w->provider, NULL));
    w->consumer = w->provider;
    snprintf(type, sizeof type, KEPT, history);
    OK(chordal_type_provide(w->provider, (const uint8_t *)type, strlen(type), &id, NULL));
    w->type = "kept";
}

static void get_kept(world *w, int board) {
    char params[32];
    size_t len = params_of(params, sizeof params, board);
    OK(chordal_object_get(w->provider, "kept", 4, CHORDAL_FORMAT_JSON, (uint8_t *)params, len, &w->object, NULL));
    turn(w, w->provider, 0);
}

static void commit_cell(world *w) {
    set_cell(cell_len);
    commit_set(w, "/cell", cell);
}

static void cell_once(world *w) {
    commit_cell(w);
    turn(w, w->provider, 0);
}

static void many_once(world *w) {
    for (int i = 0; i < MANY; i++) commit_cell(w);
    turn(w, w->provider, 0);
}

static void hundred_once(world *w) {
    for (int i = 0; i < HUNDRED; i++) commit_cell(w);
    turn(w, w->provider, 0);
}

/* {"id": 0 to 999, "title": "title …", "done": 0} in packed form, as bindings give it. */
static size_t pack_row(uint8_t *out, int id, int number) {
    uint8_t *at = out;
    char title[32];
    int len = snprintf(title, sizeof title, "title %d", number);
    memcpy(at, "\x83\xa2id", 4), at += 4;
    if (id >= 256) *at++ = 0xcd, *at++ = (uint8_t)(id >> 8);
    if (id >= 128 && id < 256) *at++ = 0xcc;
    *at++ = (uint8_t)id;
    memcpy(at, "\xa5title", 6), at += 6;
    *at++ = (uint8_t)(0xa0 | len);
    memcpy(at, title, (size_t)len), at += len;
    memcpy(at,
           "\xa4"
           "done\0",
           6),
        at += 6;
    return (size_t)(at - out);
}

static void row_once(world *w) {
    static int number;
    chordal_transaction *t;
    chordal_id ticket;
    uint8_t row[96];
    size_t len = pack_row(row, number % 1000, number);
    number++;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_put(t, w->object, 1, CHORDAL_FORMAT_PACKED, row, len, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    turn(w, w->provider, 0);
}

/* ---- SQLite alone: the tables, pragmas and statements of ours ---- */

typedef struct alone {
    sqlite3 *sqlite;
    sqlite3_stmt *begin, *commit, *add, *row, *page, *update, *outbox;
    int64_t position;
    size_t base_bytes, delta_bytes;
    int deltas;
} alone;

static void sql(alone *a, const char *text) {
    if (sqlite3_exec(a->sqlite, text, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(a->sqlite), 0);
}

static sqlite3_stmt *statement(alone *a, const char *text) {
    sqlite3_stmt *made;
    if (sqlite3_prepare_v3(a->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(a->sqlite), 0);
    return made;
}

static void step(alone *a, sqlite3_stmt *made) {
    if (sqlite3_step(made) != SQLITE_DONE) fail(sqlite3_errmsg(a->sqlite), 0);
    sqlite3_reset(made);
}

static void open_alone(alone *a) {
    memset(a, 0, sizeof *a);
    if (sqlite3_open_v2(path, &a->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        fail("open", 0);
    sql(a, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON;"
           "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;"
           "CREATE TABLE revisions(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, base INTEGER, data BLOB NOT NULL)"
           " STRICT; CREATE INDEX bases ON revisions(id, number) WHERE base = 1;"
           "CREATE TABLE rows(object INTEGER NOT NULL, id INTEGER NOT NULL, title TEXT, done INTEGER,"
           " PRIMARY KEY(object, id)) STRICT, WITHOUT ROWID;"
           "CREATE TABLE outbox(number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;");
    a->begin = statement(a, "BEGIN IMMEDIATE");
    a->commit = statement(a, "COMMIT");
    a->add = statement(a, "INSERT INTO revisions(id, number, base, data) VALUES(?1, ?2, ?3, ?4)");
    a->outbox = statement(a, "INSERT INTO outbox(number, data) VALUES(?1, ?2)");
    a->row = statement(a, "INSERT OR REPLACE INTO rows(object, id, title, done) VALUES(?1, ?2, ?3, ?4)");
}

static void close_alone(alone *a) {
    sqlite3_stmt *all[] = {a->begin, a->commit, a->add, a->row, a->page, a->update, a->outbox};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    sqlite3_close(a->sqlite);
}

static void insert(alone *a, int base, size_t len) {
    a->position++;
    sqlite3_bind_int64(a->add, 1, a->position);
    sqlite3_bind_int64(a->add, 2, a->position);
    if (base)
        sqlite3_bind_int(a->add, 3, 1);
    else
        sqlite3_bind_null(a->add, 3);
    sqlite3_bind_blob(a->add, 4, cell, (int)len, SQLITE_STATIC);
    step(a, a->add);
}

/* A delta is about this much, and a base comes by the same rule. */
static void insert_cell(alone *a) {
    size_t len = (size_t)cell_len + (cell_len < 32 ? 9 : 11);
    insert(a, 0, len);
    a->deltas++;
    a->delta_bytes += len;
    if (a->delta_bytes <= a->base_bytes + 4096 && a->deltas < 1024) return;
    insert(a, 1, len);
    a->base_bytes = len;
    a->delta_bytes = 0, a->deltas = 0;
}

static void alone_once(alone *a) {
    step(a, a->begin);
    insert_cell(a);
    step(a, a->commit);
}

/* A row for each commit at once, with the delta and the names of what it changed. */
static void alone_outbox(alone *a) {
    static uint8_t row[CELL_MOST + 64];
    size_t len = (size_t)cell_len + 40;
    step(a, a->begin);
    insert_cell(a);
    memcpy(row + 40, cell, (size_t)cell_len);
    sqlite3_bind_int64(a->outbox, 1, a->position);
    sqlite3_bind_blob(a->outbox, 2, row, (int)len, SQLITE_STATIC);
    step(a, a->outbox);
    step(a, a->commit);
}

static void alone_many(alone *a) {
    step(a, a->begin);
    for (int i = 0; i < MANY; i++) insert_cell(a);
    step(a, a->commit);
}

static void alone_hundred(alone *a) {
    step(a, a->begin);
    for (int i = 0; i < HUNDRED; i++) insert_cell(a);
    step(a, a->commit);
}

static void alone_row(alone *a) {
    static int number;
    char title[32];
    int len = snprintf(title, sizeof title, "title %d", number);
    step(a, a->begin);
    sqlite3_bind_int64(a->row, 1, 1);
    sqlite3_bind_int64(a->row, 2, number++ % 1000);
    sqlite3_bind_text(a->row, 3, title, len, SQLITE_STATIC);
    sqlite3_bind_int64(a->row, 4, 0);
    step(a, a->row);
    step(a, a->commit);
}

/* ---- writing: ours and the limit in turns, each on a file that it goes on with ---- */

typedef struct writing {
    const char *name;
    int len, batch, each; /* each: commits of one time */
    uint32_t flags;
    void (*once)(world *);
    void (*limit)(alone *);
} writing;

static const writing writings[] = {
    {"store, one delta a commit, 10 characters", 10, ROUNDS, 1, 0, cell_once, alone_once},
    {"store, one delta a commit, 10,000 characters", 10000, ROUNDS, 1, 0, cell_once, alone_once},
    {"store, 100 commits at once, 10 characters", 10, 10, HUNDRED, 0, hundred_once, alone_hundred},
    {"store, 1,000 commits at once, 10 characters", 10, 1, MANY, 0, many_once, alone_many},
    {"store, one delta a commit, with the outbox, 10 characters", 10, ROUNDS, 1, CHORDAL_STORE_OUTBOX, cell_once,
     alone_outbox},
    {"store, one row a commit", 10, ROUNDS, 1, 0, row_once, alone_row},
};

static void measure_ours(const writing *of, int batches) {
    double samples[SAMPLES];
    world w;
    chordal_counters before, after;
    remove_files();
    cell_len = of->len;
    open_kept(&w, of->flags, "\"all\"");
    get_kept(&w, 0);
    for (int r = -1; r < batches; r++) {
        OK(chordal_host_counters(w.provider, &before, sizeof before));
        double start = now_us();
        for (int i = 0; i < of->batch; i++) of->once(&w);
        if (r >= 0) samples[r] = (now_us() - start) / (of->batch * of->each);
        OK(chordal_host_counters(w.provider, &after, sizeof after));
    }
    int commits = of->batch * of->each;
    print_samples(of->name, "chordal", "us", samples, batches);
    printf(", \"counts\": {\"statements\": %.3f, \"entries\": %.1f, \"allocations\": %.1f}}\n",
           (double)(after.statements - before.statements) / commits, (double)(after.entries - before.entries) / commits,
           (double)(after.allocations - before.allocations) / commits);
    chordal_host_forget(w.provider);
}

static void measure_limit(const writing *of, int batches) {
    double samples[SAMPLES];
    alone a;
    remove_files();
    set_cell(of->len);
    open_alone(&a);
    for (int r = -1; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < of->batch; i++) of->limit(&a);
        if (r >= 0) samples[r] = (now_us() - start) / (of->batch * of->each);
    }
    print_samples(of->name, "limit: sqlite", "us", samples, batches);
    printf(", \"version\": \"%s\"}\n", sqlite3_libversion());
    close_alone(&a);
}

/* ---- opening ---- */

static void make_documents(void) {
    world w;
    remove_files();
    open_kept(&w, 0, "0");
    set_cell(10);
    for (int board = 0; board < MANY; board++) {
        get_kept(&w, board);
        commit_cell(&w);
    }
    turn(&w, w.provider, 0);
    chordal_host_forget(w.provider);
}

static int64_t changed_at(void) {
    struct stat found;
    return stat(path, &found) == 0 ? (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec : 0;
}

static void measure_open(int batches) {
    double samples[SAMPLES];
    chordal_counters counters = {0};
    make_documents();
    int64_t changed = changed_at();
    for (int r = -1; r < batches; r++) {
        double took = 0;
        for (int i = 0; i < OPENS; i++) {
            chordal_host *host;
            chordal_host_options options = {.size = sizeof options, .store = path};
            double start = now_us();
            OK(chordal_host_open(&options, &host, NULL));
            took += now_us() - start;
            OK(chordal_host_counters(host, &counters, sizeof counters));
            chordal_host_forget(host);
        }
        if (r >= 0) samples[r] = took / OPENS;
    }
    print_samples("store, open with 1,000 documents", "chordal", "us", samples, batches);
    printf(", \"counts\": {\"statements\": %.0f, \"steps\": %.0f, \"writes\": %d}}\n", (double)counters.statements,
           (double)counters.steps, changed_at() != changed);
}

static void measure_limit_open(int batches) {
    double samples[SAMPLES];
    for (int r = -1; r < batches; r++) {
        double took = 0;
        for (int i = 0; i < OPENS; i++) {
            alone a = {0};
            double start = now_us();
            if (sqlite3_open_v2(path, &a.sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) fail("open", 0);
            sql(&a, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; SELECT count(*) FROM sqlite_schema");
            took += now_us() - start;
            sqlite3_close(a.sqlite);
        }
        if (r >= 0) samples[r] = took / OPENS;
    }
    print_samples("store, open with 1,000 documents", "limit: sqlite", "us", samples, batches);
    printf(", \"version\": \"%s\"}\n", sqlite3_libversion());
}

/* ---- reading at a point: a document of 10,000 revisions, a base every hundred or so ---- */

static void measure_points(int batches) {
    double samples[SAMPLES];
    char params[32];
    world w;
    remove_files();
    cell_len = 10;
    open_kept(&w, 0, "\"all\"");
    get_kept(&w, 0);
    for (int i = 0; i < 10; i++) many_once(&w);
    size_t len = params_of(params, sizeof params, 0);
    for (int r = -1; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < POINTS; i++) {
            chordal_value *value;
            uint64_t commit, at = 1 + (uint64_t)i * 7919 % 10000;
            OK(chordal_store_read(w.provider, "kept", 4, CHORDAL_FORMAT_JSON, (uint8_t *)params, len, "list", 4, at,
                                  &value, &commit, NULL));
            chordal_value_unref(value);
        }
        if (r >= 0) samples[r] = (now_us() - start) / POINTS;
    }
    print_samples("store, read at one of 10,000 commits", "chordal", "us", samples, batches);
    printf("}\n");
    chordal_host_forget(w.provider);
}

/* The rows of such a read, of the file that ours has left: a base and what is behind it. */
static void measure_limit_points(int batches) {
    double samples[SAMPLES];
    alone a = {0};
    if (sqlite3_open_v2(path, &a.sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) fail("open", 0);
    sqlite3_stmt *base = statement(&a, "SELECT id FROM chordal_revisions INDEXED BY chordal_bases WHERE base = 1 AND "
                                       "number <= ?1 ORDER BY id DESC LIMIT 1");
    sqlite3_stmt *rows = statement(&a, "SELECT number, data FROM chordal_revisions WHERE id >= ?1 ORDER BY id");
    for (int r = -1; r < batches; r++) {
        size_t bytes = 0;
        double start = now_us();
        for (int i = 0; i < POINTS; i++) {
            int64_t at = 1 + (int64_t)i * 7919 % 10000;
            sqlite3_bind_int64(base, 1, at);
            if (sqlite3_step(base) != SQLITE_ROW) fail("base", 0);
            sqlite3_bind_int64(rows, 1, sqlite3_column_int64(base, 0));
            sqlite3_reset(base);
            while (sqlite3_step(rows) == SQLITE_ROW && sqlite3_column_int64(rows, 0) <= at)
                bytes += (size_t)sqlite3_column_bytes(rows, 1);
            sqlite3_reset(rows);
        }
        if (r >= 0) samples[r] = (now_us() - start) / POINTS;
        if (!bytes) fail("no rows", 0);
    }
    print_samples("store, read at one of 10,000 commits", "limit: sqlite", "us", samples, batches);
    printf(", \"version\": \"%s\"}\n", sqlite3_libversion());
    sqlite3_finalize(base);
    sqlite3_finalize(rows);
    sqlite3_close(a.sqlite);
}

/* ---- a table of 10,000 rows ---- */

enum { ROWS = 10000, PAGE = 100 };

static void put_rows(world *w, int rows) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    for (int i = 0; i < rows; i++) {
        char row[96];
        int len = snprintf(row, sizeof row, "{\"id\":%d,\"title\":\"title %d\",\"done\":0}", i, i);
        OK(chordal_transaction_put(t, w->object, 1, CHORDAL_FORMAT_JSON, (uint8_t *)row, (size_t)len, NULL));
    }
    OK(chordal_transaction_commit(t, &ticket, NULL));
    turn(w, w->provider, 0);
}

/* Where a page begins: a number of two bytes, with a whole page of rows behind it. */
static int next_page(void) {
    static int number;
    number = (number + 7919) % (ROWS - PAGE - 256);
    return 256 + number;
}

/* As bindings ask: {"where": {"ge": ["id", number]}, "limit": 100} in packed form, and the answer, too. */
static void page_once(world *w) {
    static uint8_t page[1 << 16], query[] = "\x82\xa5where\x81\xa2ge\x92\xa2id\xcd..\xa5limit\x64";
    int number = next_page();
    size_t found;
    uint8_t *place = query + sizeof query - 1 - 9;
    place[0] = (uint8_t)(number >> 8);
    place[1] = (uint8_t)number;
    OK(chordal_object_query(w->provider, w->object, 1, CHORDAL_FORMAT_PACKED, query, sizeof query - 1, page,
                            sizeof page, &found, NULL));
    if (memcmp(page, "\x82\xa4rows\xdc\0\x64", 9) != 0) fail("rows", 0);
}

static void update_once(world *w) {
    static int number;
    chordal_transaction *t;
    chordal_id ticket;
    uint64_t changed;
    char changes[32];
    int len = snprintf(changes, sizeof changes, "{\"done\":%d}", ++number);
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_update_where(t, w->object, 1, CHORDAL_FORMAT_JSON, (uint8_t *)"null", 4, (uint8_t *)changes,
                                        (size_t)len, &changed, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    turn(w, w->provider, 0);
    if (changed != ROWS) fail("rows", 0);
}

static void fill_alone(alone *a) {
    step(a, a->begin);
    for (int i = 0; i < ROWS; i++) {
        char title[32];
        int len = snprintf(title, sizeof title, "title %d", i);
        sqlite3_bind_int64(a->row, 1, 1);
        sqlite3_bind_int64(a->row, 2, i);
        sqlite3_bind_text(a->row, 3, title, len, SQLITE_STATIC);
        sqlite3_bind_int64(a->row, 4, 0);
        step(a, a->row);
    }
    step(a, a->commit);
    a->page = statement(a, "SELECT id, title, done FROM rows WHERE object = 1 AND id >= ?1 ORDER BY id LIMIT 101");
    a->update = statement(a, "UPDATE rows SET done = ?1 WHERE object = 1");
}

/* Each row's cells are read and kept. */
static void alone_page(alone *a) {
    static struct {
        int64_t id, done;
        char title[32];
    } kept[PAGE + 1];
    int count = 0;
    sqlite3_bind_int64(a->page, 1, next_page());
    for (; sqlite3_step(a->page) == SQLITE_ROW; count++) {
        kept[count].id = sqlite3_column_int64(a->page, 0);
        memcpy(kept[count].title, sqlite3_column_text(a->page, 1), (size_t)sqlite3_column_bytes(a->page, 1));
        kept[count].done = sqlite3_column_int64(a->page, 2);
    }
    sqlite3_reset(a->page);
    if (count <= PAGE) fail("rows", 0);
}

static void alone_update(alone *a) {
    static int number;
    step(a, a->begin);
    sqlite3_bind_int64(a->update, 1, ++number);
    step(a, a->update);
    step(a, a->commit);
}

typedef struct table_case {
    const char *name;
    int batch;
    void (*once)(world *);
    void (*limit)(alone *);
} table_case;

static const table_case table_cases[] = {
    {"store, query page of 100 rows", ROUNDS, page_once, alone_page},
    {"store, update of 10,000 rows", 1, update_once, alone_update},
};

static void measure_table(const table_case *of, world *w, alone *a, int batches) {
    double samples[SAMPLES];
    for (int r = -1; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < of->batch; i++) {
            if (w)
                of->once(w);
            else
                of->limit(a);
        }
        if (r >= 0) samples[r] = (now_us() - start) / of->batch;
    }
    print_samples(of->name, w ? "chordal" : "limit: sqlite", "us", samples, batches);
    if (!w) printf(", \"version\": \"%s\"", sqlite3_libversion());
    printf("}\n");
}

static void measure_tables(int batches) {
    world w;
    alone a;
    remove_files();
    open_kept(&w, 0, "0");
    get_kept(&w, 0);
    put_rows(&w, ROWS);
    for (size_t i = 0; i < 2; i++) measure_table(&table_cases[i], &w, NULL, batches);
    chordal_host_forget(w.provider);
    remove_files();
    open_alone(&a);
    fill_alone(&a);
    for (size_t i = 0; i < 2; i++) measure_table(&table_cases[i], NULL, &a, batches);
    close_alone(&a);
}

/* ---- a live query over a table, one of whose rows changes ---- */

/* A row of the middle, so that it is found among the others. */
static void title_once(world *w, int rows) {
    static int number;
    chordal_transaction *t;
    chordal_id ticket;
    char row[96];
    number++;
    int len = snprintf(row, sizeof row, "{\"id\":%d,\"title\":\"title %d\"}", number * 7919 % rows, number);
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_patch(t, w->object, 1, CHORDAL_FORMAT_JSON, (uint8_t *)row, (size_t)len, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    turn(w, w->provider, 0);
}

static void follow(world *w) {
    static const char params[] = "{\"type\":\"kept\",\"params\":{\"board\":\"00000\"},\"member\":\"rows\","
                                 "\"query\":{\"limit\":10000}}";
    chordal_id watch;
    OK(chordal_reference_get(w->provider, 0, "chordal.query", 13, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                             sizeof params - 1, &w->reference, NULL));
    turn(w, w->provider, 0);
    OK(chordal_watch_open(w->provider, w->reference, 0, 0, &watch, NULL));
    turn(w, w->provider, 0);
}

static void measure_live(const char *name, int rows, int followed, int batches) {
    double samples[SAMPLES];
    world w;
    chordal_counters before, after;
    remove_files();
    open_kept(&w, 0, "0");
    get_kept(&w, 0);
    put_rows(&w, rows);
    if (followed) follow(&w);
    for (int r = -1; r < batches; r++) {
        OK(chordal_host_counters(w.provider, &before, sizeof before));
        double start = now_us();
        for (int i = 0; i < ROUNDS; i++) title_once(&w, rows);
        if (r >= 0) samples[r] = (now_us() - start) / ROUNDS;
        OK(chordal_host_counters(w.provider, &after, sizeof after));
    }
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"counts\": {\"statements\": %.3f, \"allocations\": %.1f}}\n",
           (double)(after.statements - before.statements) / ROUNDS,
           (double)(after.allocations - before.allocations) / ROUNDS);
    chordal_host_forget(w.provider);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < SAMPLES ? atoi(argv[2]) : SAMPLES;
    snprintf(path, sizeof path, "%s/store.db", argv[1]);
    for (size_t i = 0; i < sizeof writings / sizeof *writings; i++) {
        measure_ours(&writings[i], batches);
        measure_limit(&writings[i], batches);
    }
    measure_open(batches);
    measure_limit_open(batches);
    measure_points(batches);
    measure_limit_points(batches);
    measure_tables(batches);
    measure_live("store, a row patched among 10,000, no live query", ROWS, 0, batches);
    measure_live("store, a row patched among 100, live query", 100, 1, batches);
    measure_live("store, a row patched among 10,000, live query", ROWS, 1, batches);
    remove_files();
    return 0;
}
