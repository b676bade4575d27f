/* store.h: the one SQLite file of a host: who owns it, its runs, its documents' revisions, the steps that write them.
 * The only room that knows SQLite. Nothing here knows of objects: what is written was prepared before. */
#ifndef CHORDAL_CORE_STORE_H
#define CHORDAL_CORE_STORE_H

#include "delta/delta.h"
#include "chordal/host.h"

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* ---- sqlite.c: the library under the store ---- */

/* Whether the SQLite that is linked is not older than the one compiled against and may be used by several threads, one
 * per connection. */
bool chordal__sqlite_fits(void);
/* What a result of SQLite is here: 0, DISK_FULL, DISK_IO, CORRUPT, OWNED, READ_ONLY, NOT_STORE, SIZE, NOMEM. */
int chordal__sqlite_code(int result);

/* Statements are prepared when first used and kept. STATEMENT(NAME, "sql") */
#define CHORDAL__STATEMENTS(STATEMENT)                                                                                 \
    STATEMENT(BEGIN, "BEGIN IMMEDIATE")                                                                                \
    STATEMENT(COMMIT, "COMMIT")                                                                                        \
    STATEMENT(ROLLBACK, "ROLLBACK")                                                                                    \
    STATEMENT(RUN_ADD, "INSERT INTO chordal_runs(run, first) VALUES(?1, ?2)")                                          \
    STATEMENT(RUN_END, "UPDATE chordal_runs SET last = ?2 WHERE id = ?1")                                              \
    STATEMENT(RUN_NEWEST, "SELECT id, first, last FROM chordal_runs ORDER BY id DESC LIMIT 1")                         \
    STATEMENT(RUN_RECOVER,                                                                                             \
              "SELECT max(max(ifnull(retired, 0), ifnull((SELECT number FROM chordal_revisions WHERE id BETWEEN "      \
              "d.id << 36 AND d.id << 36 | 68719476735 ORDER BY id DESC LIMIT 1), 0))) "                               \
              "FROM chordal_documents d WHERE run = ?1")                                                               \
    STATEMENT(DOCUMENT_FIND, "SELECT id, incarnation, version, run, retired FROM chordal_documents "                   \
                             "WHERE type = ?1 AND key = ?2 AND member = ?3 ORDER BY incarnation DESC LIMIT 1")         \
    STATEMENT(DOCUMENT_ADD,                                                                                            \
              "INSERT INTO chordal_documents(type, key, member, params, incarnation, version, run, created) "          \
              "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                                                \
    STATEMENT(DOCUMENT_MARK, "UPDATE chordal_documents SET run = ?2, version = ?3 WHERE id = ?1")                      \
    STATEMENT(DOCUMENT_RETIRE, "UPDATE chordal_documents SET retired = ?2, run = ?3 WHERE id = ?1")                    \
    STATEMENT(REVISION_ADD, "INSERT INTO chordal_revisions(id, number, base, data) VALUES(?1, ?2, ?3, ?4)")            \
    STATEMENT(REVISIONS_BACK, "SELECT id, number, base, data FROM chordal_revisions "                                  \
                              "WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC")                                           \
    STATEMENT(BASE_BEFORE, "SELECT id FROM chordal_revisions INDEXED BY chordal_bases "                                \
                           "WHERE base = 1 AND id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1")                         \
    STATEMENT(REVISIONS_DROP, "DELETE FROM chordal_revisions WHERE id IN (SELECT id FROM chordal_revisions "           \
                              "WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)")                                      \
    STATEMENT(REVISIONS_END, "DELETE FROM chordal_revisions WHERE id BETWEEN ?1 AND ?2")                               \
    STATEMENT(OUTBOX_ADD, "INSERT INTO chordal_outbox(number, data) VALUES(?1, ?2)")                                   \
    STATEMENT(OUTBOX_LAST, "SELECT max(number) FROM chordal_outbox")

#define CHORDAL__STATEMENT_ENUM(name, sql) CHORDAL__SQL_##name,
enum { CHORDAL__STATEMENTS(CHORDAL__STATEMENT_ENUM) CHORDAL__SQL_COUNT };
#undef CHORDAL__STATEMENT_ENUM

/* ---- store.c: opening and closing ---- */

#define CHORDAL__STORE_PATH_LIMIT 4000

typedef struct chordal__store {
    chordal__memory *memory;
    chordal_counters *counters;
    sqlite3 *sqlite;
    sqlite3_stmt *statements[CHORDAL__SQL_COUNT];
    char *path;
    size_t path_size;
    int lock; /* the descriptor of the owner's lock, -1: none */
    bool read_only, outbox;
    uint8_t run[16];
    int64_t run_id;        /* of its row, 0: this run has written nothing yet */
    int64_t staged_run_id; /* what run_id is when the step is through */
    uint64_t last;         /* the newest commit number that is known to be in the file */
    bool in_step;
    chordal__list staged; /* documents that the step has changed */
} chordal__store;

typedef struct chordal__store_options {
    const char *path, *vfs; /* vfs NULL: SQLite's default */
    uint32_t durability;    /* CHORDAL_DURABILITY_… */
    bool read_only, outbox;
} chordal__store_options;

/* Codes: OWNED, NEWER, NOT_STORE, CORRUPT, READ_ONLY, NOT_FOUND (read-only and no file), DISK_IO, DISK_FULL, INVALID
 * (the path), NOMEM. */
int chordal__store_open(chordal__memory *memory, chordal_counters *counters, const chordal__store_options *options,
                        const uint8_t run[16], CHORDAL_OWN chordal__store **out, chordal_error *error);
void chordal__store_close(chordal__store *store); /* NULL allowed */

/* A statement to bind and step; it is reset by chordal__statement_end. NULL with *code. */
sqlite3_stmt *chordal__statement(chordal__store *store, int which, int *code, chordal_error *error);
/* Reset; `result` of its last step becomes a code: 0 for DONE and ROW. */
int chordal__statement_end(chordal__store *store, sqlite3_stmt *statement, int result, chordal_error *error);
/* Run one that answers no rows and has been bound. */
int chordal__statement_run(chordal__store *store, sqlite3_stmt *statement, chordal_error *error);
int chordal__store_fail(chordal__store *store, int result, chordal_error *error);

/* ---- schema.c ---- */
/* The schema's version, 0 for an empty file. NOT_STORE, NEWER, READ_ONLY (an older one, to be read). */
int chordal__schema_check(chordal__store *store, uint32_t *out_version, chordal_error *error);
/* Make the tables the newest, in one transaction; nothing is written when they are. */
int chordal__schema_migrate(chordal__store *store, uint32_t from, chordal_error *error);

/* ---- files.c: one owner process, by an advisory lock on a file beside the store ---- */
/* Bytes of the file, or of one beside it (`suffix`); -1: it is not there. */
int64_t chordal__file_size(const char *path, const char *suffix);
/* The descriptor in *out; OWNED, NOT_FOUND, DISK_IO, READ_ONLY. */
int chordal__owner_lock(const char *path, int *out, chordal_error *error);
void chordal__owner_unlock(const char *path, int lock); /* and remove the file */

/* ---- lineage.c: runs, each with its first commit ---- */
/* The newest commit in the file, when it is opened. */
int chordal__lineage_open(chordal__store *store, chordal_error *error);
/* In a step: this run gets its row before its first write. */
int chordal__lineage_begin(chordal__store *store, uint64_t number, chordal_error *error);
int chordal__lineage_close(chordal__store *store);

/* ---- document.c: persisted documents, as bases and deltas ---- */
/* A revision's row is numbered by its document and its position in it, so that a delta is one insertion at the end of
 * its document and has no entry in an index. */
#define CHORDAL__POSITION_BITS 36
#define CHORDAL__DOCUMENTS_MAX ((INT64_C(1) << 27) - 1)
/* A base is written when the deltas after the last one are so many, or take more than it and this. */
#define CHORDAL__DELTAS_DEFAULT 1024
#define CHORDAL__DELTAS_LIMIT 65536
#define CHORDAL__DELTA_BYTES 4096

typedef struct chordal__address {
    const void *type, *key, *member, *params; /* params: packed, for those who read the file */
    size_t type_len, key_len, member_len, params_len;
} chordal__address;

/* How far a document is: what a step changes and its failure gives back. */
typedef struct chordal__progress {
    int64_t id; /* 0: not in the store */
    int64_t position, base;
    uint64_t incarnation, number; /* of the newest revision */
    uint64_t base_bytes, delta_bytes;
    int64_t run;
    uint32_t version, deltas; /* deltas after the base */
} chordal__progress;

typedef struct chordal__document {
    chordal__list staged; /* store.staged */
    chordal__progress now, before;
} chordal__document;

void chordal__document_init(chordal__document *document);
/* Find the living document of an address; *out_value NULL: there is none. CORRUPT names the place. */
int chordal__document_load(chordal__store *store, const chordal__address *address, const chordal__limits *limits,
                           chordal__document *document, chordal__node **out_value, chordal_error *error);
/* In a step: what commit `number` did, as a delta, a base or both (one may be NULL). A new document begins with a base.
 */
int chordal__document_write(chordal__store *store, chordal__document *document, const chordal__address *address,
                            uint32_t version, uint64_t number, const chordal__body *delta, const chordal__body *base,
                            chordal_error *error);
/* In a step: it is of this version of its type from commit `number` on. */
int chordal__document_raise(chordal__store *store, chordal__document *document, uint32_t version, uint64_t number,
                            chordal_error *error);
/* In a step: its life ends at commit `number`; the revisions stay if `keep`. */
int chordal__document_retire(chordal__store *store, chordal__document *document, uint64_t number, bool keep,
                             chordal_error *error);

/* ---- compact.c: revisions that no policy keeps ---- */
#define CHORDAL__COMPACT_ROWS 256
#define CHORDAL__HISTORY_ALL UINT64_MAX
/* Delete up to CHORDAL__COMPACT_ROWS revisions before what `keep` newest revisions need, as a statement of its own.
 * *out_more: there are more. */
int chordal__document_compact(chordal__store *store, const chordal__document *document, uint64_t keep, bool *out_more,
                              chordal_error *error);

/* ---- step.c: one SQLite transaction of prepared commits ---- */
int chordal__step_begin(chordal__store *store, chordal_error *error);
int chordal__step_commit(chordal__store *store, chordal_error *error); /* a failure aborts it */
void chordal__step_abort(chordal__store *store);

/* ---- outbox.c ---- */
int chordal__outbox_add(chordal__store *store, uint64_t number, const void *data, size_t len, chordal_error *error);

#endif
