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

#define CHORDAL__16_PAIRS                                                                                              \
    "(?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?), "                                                 \
    "(?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?), (?, ?)"
#define CHORDAL__64_PAIRS CHORDAL__16_PAIRS ", " CHORDAL__16_PAIRS ", " CHORDAL__16_PAIRS ", " CHORDAL__16_PAIRS

/* Documents that the newest run has changed, from their newest revision back to what the outbox has. A base behind the
 * delta of its commit says nothing new. */
#define CHORDAL__OUTBOX_DERIVE                                                                                         \
    "WITH RECURSIVE run(id, upto) AS (SELECT id, max(outbox, ifnull((SELECT max(number) FROM chordal_outbox), 0)) "    \
    "FROM chordal_runs WHERE id = (SELECT max(id) FROM chordal_runs) AND last IS NULL), "                              \
    "tail(document, id, upto) AS ("                                                                                    \
    "SELECT d.id, r.id, run.upto FROM run, chordal_documents d, chordal_revisions r WHERE d.run = run.id AND r.id = "  \
    "(SELECT id FROM chordal_revisions WHERE id BETWEEN d.id << 36 AND d.id << 36 | 68719476735 ORDER BY id DESC "     \
    "LIMIT 1) AND r.number > run.upto UNION ALL "                                                                      \
    "SELECT t.document, r.id, t.upto FROM tail t, chordal_revisions r WHERE r.id = t.id - 1 AND r.number > t.upto) "   \
    "SELECT r.number, d.type, d.params, d.member, r.base, r.data FROM tail t, chordal_revisions r, "                   \
    "chordal_documents d WHERE r.id = t.id AND d.id = t.document AND (r.base IS NULL OR NOT EXISTS "                   \
    "(SELECT 1 FROM chordal_revisions p WHERE p.id = r.id - 1 AND p.number = r.number)) ORDER BY r.number, r.id"

/* Statements are prepared when first used and kept. STATEMENT(NAME, "sql") */
#define CHORDAL__STATEMENTS(STATEMENT)                                                                                 \
    STATEMENT(BEGIN, "BEGIN IMMEDIATE")                                                                                \
    STATEMENT(COMMIT, "COMMIT")                                                                                        \
    STATEMENT(ROLLBACK, "ROLLBACK")                                                                                    \
    STATEMENT(RUN_ADD, "INSERT INTO chordal_runs(run, first, known, outbox) VALUES(?1, ?2, ?3, ?4)")                   \
    STATEMENT(RUN_END, "UPDATE chordal_runs SET last = ?2 WHERE id = ?1")                                              \
    STATEMENT(RUN_FIND, "SELECT (SELECT min(ifnull(known, first - 1)) FROM chordal_runs n WHERE n.id > r.id) "         \
                        "FROM chordal_runs r WHERE run = ?1")                                                          \
    STATEMENT(RUN_NEWEST, "SELECT id, first - 1, last, ifnull(known, first - 1) FROM chordal_runs "                    \
                          "ORDER BY id DESC LIMIT 1")                                                                  \
    STATEMENT(RUN_RECOVER,                                                                                             \
              "SELECT max(max(ifnull(retired, 0), ifnull((SELECT number FROM chordal_revisions WHERE id BETWEEN "      \
              "d.id << 36 AND d.id << 36 | 68719476735 ORDER BY id DESC LIMIT 1), 0))), "                              \
              "(SELECT reserved FROM chordal_runs WHERE id = ?1) FROM chordal_documents d WHERE run = ?1")             \
    STATEMENT(RUN_RESERVE, "UPDATE chordal_runs SET reserved = ?2 WHERE id = ?1")                                      \
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
    STATEMENT(REVISIONS_SINCE, "SELECT number, base, data FROM chordal_revisions "                                     \
                               "WHERE id BETWEEN ?1 AND ?2 AND number > ?3 AND number <= ?4 ORDER BY id")              \
    STATEMENT(BASE_BEFORE, "SELECT id FROM chordal_revisions INDEXED BY chordal_bases "                                \
                           "WHERE base = 1 AND id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1")                         \
    STATEMENT(REVISIONS_DROP, "DELETE FROM chordal_revisions WHERE id IN (SELECT id FROM chordal_revisions "           \
                              "WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)")                                      \
    STATEMENT(REVISIONS_END, "DELETE FROM chordal_revisions WHERE id BETWEEN ?1 AND ?2")                               \
    STATEMENT(OUTBOX_ADD, "INSERT INTO chordal_outbox(number, data) VALUES(?1, ?2)")                                   \
    STATEMENT(OUTBOX_ADD_MANY, "INSERT INTO chordal_outbox(number, data) SELECT * FROM (VALUES " CHORDAL__64_PAIRS     \
                               ") WHERE column1 NOT NULL")                                                             \
    STATEMENT(OUTBOX_DERIVE, CHORDAL__OUTBOX_DERIVE)                                                                   \
    STATEMENT(OUTBOX_SKIP, "UPDATE chordal_runs SET outbox = ?1 WHERE id = (SELECT max(id) FROM chordal_runs) "        \
                           "AND outbox < ?1")                                                                          \
    STATEMENT(OUTBOX_LAST, "SELECT max(number) FROM chordal_outbox")                                                   \
    STATEMENT(OUTBOX_NEXT, "SELECT number, data FROM chordal_outbox WHERE number > ?1 ORDER BY number LIMIT 1")        \
    STATEMENT(OUTBOX_TRIM, "DELETE FROM chordal_outbox WHERE number IN (SELECT number FROM chordal_outbox "            \
                           "WHERE number <= ?1 ORDER BY number LIMIT ?2)")                                             \
    STATEMENT(CALL_FIND, "SELECT id, authority, state, code, name, detail, raw, value FROM chordal_calls "             \
                         "WHERE key = ?1")                                                                             \
    STATEMENT(CALL_ADD, "INSERT INTO chordal_calls(id, key, authority, state) VALUES(?1, ?2, ?3, 0)")                  \
    STATEMENT(CALL_MARK, "UPDATE chordal_calls SET state = 1 WHERE id = ?1")                                           \
    STATEMENT(CALL_ANSWER, "UPDATE chordal_calls SET state = 2, code = ?2, name = ?3, detail = ?4, raw = ?5, "         \
                           "value = ?6 WHERE id = ?1")                                                                 \
    STATEMENT(CALL_DROP, "DELETE FROM chordal_calls WHERE id = ?1")                                                    \
    STATEMENT(CALLS_DROP, "DELETE FROM chordal_calls WHERE id IN (SELECT id FROM chordal_calls WHERE id <= ?1 "        \
                          "ORDER BY id LIMIT ?2)")                                                                     \
    STATEMENT(CALLS_COUNT, "SELECT count(*), ifnull(sum(length(value)), 0), ifnull(max(id), 0) FROM chordal_calls")    \
    STATEMENT(LOOK, "BEGIN")                                                                                           \
    STATEMENT(POINT_FIND, "SELECT id FROM chordal_documents WHERE type = ?1 AND key = ?2 AND member = ?3 "             \
                          "AND created <= ?4 AND ifnull(retired, 9223372036854775807) >= ?4 "                          \
                          "ORDER BY incarnation DESC LIMIT 1")                                                         \
    STATEMENT(POINT_KEYS, "SELECT key, params FROM chordal_documents "                                                 \
                          "WHERE type = ?1 AND member = ?3 AND length(key) = ?2")                                      \
    STATEMENT(POINT_BASE, "SELECT id FROM chordal_revisions INDEXED BY chordal_bases "                                 \
                          "WHERE base = 1 AND id BETWEEN ?1 AND ?2 AND number <= ?3 ORDER BY id DESC LIMIT 1")         \
    STATEMENT(REVISIONS_ON, "SELECT id, number, base, data FROM chordal_revisions "                                    \
                            "WHERE id BETWEEN ?1 AND ?2 ORDER BY id")                                                  \
    STATEMENT(DOCUMENTS_AFTER,                                                                                         \
              "SELECT id, type, key, member, params, incarnation, version, created, retired, (SELECT number FROM "     \
              "chordal_revisions WHERE id BETWEEN d.id << 36 AND d.id << 36 | 68719476735 ORDER BY id DESC LIMIT 1) "  \
              "FROM chordal_documents d WHERE id > ?1 ORDER BY id LIMIT ?2")                                           \
    STATEMENT(TABLES_AFTER, "SELECT id, type, member, version, declaration FROM chordal_tables WHERE id > ?1 "         \
                            "ORDER BY id LIMIT ?2")                                                                    \
    STATEMENT(OWNERS_AFTER, "SELECT id, type, params, key FROM chordal_owners WHERE id > ?1 AND type != x'' "          \
                            "ORDER BY id LIMIT ?2")                                                                    \
    STATEMENT(DOCUMENTS_ANY, "SELECT id FROM chordal_documents LIMIT 1")                                               \
    STATEMENT(CHECK_FILE, "PRAGMA integrity_check(100)")                                                               \
    STATEMENT(CHECK_RUNS, "SELECT id, first, last FROM chordal_runs WHERE length(run) != 16 OR last < first - 1 OR "   \
                          "first < (SELECT max(first) FROM chordal_runs r WHERE r.id < chordal_runs.id) LIMIT 1")      \
    STATEMENT(CHECK_RUN_OF, "SELECT id FROM chordal_documents WHERE run NOT IN (SELECT id FROM chordal_runs) LIMIT 1") \
    STATEMENT(CHECK_LIVES, "SELECT max(id) FROM chordal_documents WHERE retired IS NULL GROUP BY type, key, member "   \
                           "HAVING count(*) > 1 LIMIT 1")                                                              \
    STATEMENT(CHECK_OWNER, "SELECT id FROM chordal_revisions r WHERE NOT EXISTS "                                      \
                           "(SELECT 1 FROM chordal_documents d WHERE d.id = r.id >> 36) LIMIT 1")                      \
    STATEMENT(TABLE_FIND, "SELECT id, version, declaration FROM chordal_tables WHERE type = ?1 AND member = ?2")       \
    STATEMENT(TABLE_ADD, "INSERT INTO chordal_tables(type, version, declaration, member) VALUES(?1, ?2, ?3, ?4)")      \
    STATEMENT(TABLE_SET, "UPDATE chordal_tables SET version = ?2, declaration = ?3 WHERE id = ?1")                     \
    STATEMENT(OWNER_FIND, "SELECT id FROM chordal_owners WHERE type = ?1 AND key = ?2")                                \
    STATEMENT(OWNER_ADD, "INSERT INTO chordal_owners(type, key, params) VALUES(?1, ?2, ?3)")                           \
    STATEMENT(OWNER_END, "UPDATE chordal_owners SET type = x'', key = CAST(id AS BLOB), params = type WHERE id = ?1")  \
    STATEMENT(OWNER_ENDED, "SELECT id, params FROM chordal_owners WHERE type = x'' LIMIT 1")                           \
    STATEMENT(OWNER_TABLES,                                                                                            \
              "SELECT id, (SELECT group_concat(printf('\"%w\"', name)) FROM (SELECT name FROM "                        \
              "pragma_table_info('chordal_table_' || t.id) WHERE pk ORDER BY pk)) FROM chordal_tables t "              \
              "WHERE type = ?1 AND id > ?2 ORDER BY id LIMIT 1")                                                       \
    STATEMENT(OWNER_DROP, "DELETE FROM chordal_owners WHERE id = ?1")                                                  \
    STATEMENT(OWNER_BY_ID, "SELECT id, type, params, key FROM chordal_owners WHERE id = ?1")

#define CHORDAL__STATEMENT_ENUM(name, sql) CHORDAL__SQL_##name,
enum { CHORDAL__STATEMENTS(CHORDAL__STATEMENT_ENUM) CHORDAL__SQL_COUNT };
#undef CHORDAL__STATEMENT_ENUM

/* ---- store.c: opening and closing ---- */

#define CHORDAL__STORE_PATH_LIMIT 4000

/* Rows of the outbox that are not in it yet: a number and a length before the bytes of each. */
typedef struct chordal__delayed {
    chordal__buffer rows;
    size_t sure; /* so many bytes are of commits that are in the file */
    uint32_t count, sure_count;
    bool written; /* the step has written those that are sure */
    bool known;   /* false: they are to be read from the file, where the owner would have them */
} chordal__delayed;

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
    uint64_t last;         /* no commit in the file has a higher number */
    uint64_t known;        /* the newest one that was surely in it when it was opened */
    bool in_step;
    uint8_t filling;      /* CHORDAL__FILLING_… */
    chordal__list staged; /* documents that the step has changed */
    chordal__list copies; /* that are being made of it, by the room above */
    chordal__list owners; /* of rows, that it has changed */
    bool clears;          /* rows of objects that ended may be left */
    chordal__list tables; /* open (table.h) */
    chordal__list scans;  /* statements of queries (query.h) */
    uint32_t scans_len;
    uint64_t reserved, staged_reserved; /* the run may have written rows up to this commit */
    uint64_t staged_number;             /* that of the step's newest row */
    chordal__delayed delayed;           /* outbox.c */
} chordal__store;

typedef struct chordal__store_options {
    const char *path, *vfs; /* vfs NULL: SQLite's default */
    uint32_t durability;    /* CHORDAL_DURABILITY_… */
    bool read_only, outbox;
    bool snapshot; /* read_only: all is read as it is now */
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
/* Several statements that see the file at one moment; nothing in a step, which does already. */
int chordal__look_begin(chordal__store *store, bool *out_began, chordal_error *error);
void chordal__look_end(chordal__store *store, bool began);
/* A path of `len` bytes as a name that SQLite takes for nothing but a path. INVALID, NOMEM. */
int chordal__path_copy(chordal__memory *memory, const char *path, size_t len, CHORDAL_OWN char **out, size_t *out_size,
                       chordal_error *error);

/* ---- schema.c ---- */
/* The schema's version, 0 for an empty file. NOT_STORE, NEWER, READ_ONLY (an older one, to be read). */
int chordal__schema_check(chordal__store *store, uint32_t *out_version, chordal_error *error);
/* The SQL that makes a schema from the one before it, the first from nothing; NULL: there is no such schema. */
const char *chordal__schema_step(uint32_t version);
/* Make the tables the newest, in one transaction; nothing is written when they are. */
int chordal__schema_migrate(chordal__store *store, uint32_t from, chordal_error *error);

/* ---- files.c: one owner process, by an advisory lock on a file beside the store ---- */
/* Bytes of the file, or of one beside it (`suffix`); -1: it is not there. */
int64_t chordal__file_size(const char *path, const char *suffix);
/* The descriptor in *out; OWNED, NOT_FOUND, DISK_IO, READ_ONLY. */
int chordal__owner_lock(const char *path, int *out, chordal_error *error);
void chordal__owner_unlock(const char *path, int lock); /* and remove the file */
void chordal__file_remove(const char *path, const char *suffix);
/* The file beside (`suffix`) takes the path's name, and that is on the disk. DISK_IO, DISK_FULL, READ_ONLY. */
int chordal__file_take(const char *path, const char *suffix, chordal_error *error);

#define CHORDAL__NUMBERS_AHEAD 1023 /* commits for which a run notes ahead that it may have written rows */

/* ---- lineage.c: runs, each with its first commit, and how far the cut of another run counts ---- */
/* The newest commit in the file, when it is opened. */
int chordal__lineage_open(chordal__store *store, chordal_error *error);
/* In a step: this run gets its row before its first write, */
int chordal__lineage_begin(chordal__store *store, chordal_error *error);
/* or, in a step of its own, before its first cut is told to a reader. */
int chordal__lineage_tell(chordal__store *store, chordal_error *error);
int chordal__lineage_close(chordal__store *store);
/* Up to which of its commits a run is part of the history here; 0: not at all. */
int chordal__lineage_limit(chordal__store *store, const uint8_t run[16], uint64_t *out_limit, chordal_error *error);

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
/* A document, by the id of its life, as commit `at` left it. NOT_FOUND: that is not kept (any more). */
int chordal__document_at(chordal__store *store, int64_t id, uint64_t at, const chordal__limits *limits,
                         chordal__node **out_value, uint64_t *out_number, chordal_error *error);
/* Read all revisions of a life and see that each follows from those before. 0, CORRUPT with the place, NOMEM. */
int chordal__document_check(chordal__store *store, int64_t id, uint64_t created, uint64_t retired,
                            const chordal__limits *limits, chordal_error *error);
/* In a step: what commit `number` did, as a delta, a base or both (one may be NULL). A new document begins with a base.
 */
int chordal__document_write(chordal__store *store, chordal__document *document, const chordal__address *address,
                            uint32_t version, uint64_t number, const chordal__body *delta, const chordal__body *base,
                            chordal_error *error);
/* In a step: it is of this version of its type from now on. */
int chordal__document_raise(chordal__store *store, chordal__document *document, uint32_t version, chordal_error *error);
/* In a step: its life ends at commit `number`; the revisions stay if `keep`. */
int chordal__document_retire(chordal__store *store, chordal__document *document, uint64_t number, bool keep,
                             chordal_error *error);

/* ---- since.c: what a reader missed, from the revisions ---- */
/* Fold into empty `ops` what happened after commit `after`, up to commit `to`. `member` takes the place of the first
 * segment of paths. NOT_FOUND: not all of it is kept, or it takes more than `weight` bytes; the codes of reading,
 * NOMEM. After a failure `ops` is whatever it is. */
typedef struct chordal__span {
    uint64_t after, to, weight;
    uint32_t member;
} chordal__span;
int chordal__document_since(chordal__store *store, const chordal__document *document, const chordal__span *span,
                            const chordal__limits *limits, chordal__ops *ops, chordal_error *error);

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

/* ---- calls.c: calls of durable methods, each with its outcome once that is fixed ---- */
enum {
    CHORDAL__CALL_REQUESTED,
    CHORDAL__CALL_WROTE,
    CHORDAL__CALL_ANSWERED
}; /* WROTE: a commit of it is in the file */
typedef struct chordal__call_row {
    int64_t id; /* 0: there is none */
    uint64_t authority;
    int state, code;
    bool raw;
    const void *name, *detail, *value; /* of one that was found: borrowed until the statement ends */
    size_t name_len, detail_len, value_len;
} chordal__call_row;
/* The statement is to be ended when the row was looked at; NULL with *code: 0 (there is no such call) or a code. */
sqlite3_stmt *chordal__call_find(chordal__store *store, const uint8_t key[16], chordal__call_row *out, int *code,
                                 chordal_error *error);
/* All others in a step. */
int chordal__call_add(chordal__store *store, int64_t id, const uint8_t key[16], uint64_t authority,
                      chordal_error *error);
int chordal__call_mark(chordal__store *store, int64_t id, chordal_error *error);
int chordal__call_answer(chordal__store *store, const chordal__call_row *row, chordal_error *error);
int chordal__call_drop(chordal__store *store, int64_t id, chordal_error *error);
/* The oldest ones up to `last`, a few; *out_more: there are more. */
int chordal__calls_drop(chordal__store *store, int64_t last, bool *out_more, chordal_error *error);
int chordal__calls_count(chordal__store *store, uint64_t *out_count, uint64_t *out_bytes, int64_t *out_last,
                         chordal_error *error);

/* ---- outbox.c ---- */
#define CHORDAL__TRIM_ROWS 1024
/* A commit's row waits for later steps when its revisions tell the same, at most so many or so much. */
#define CHORDAL__DELAYED_ROWS 63
#define CHORDAL__DELAYED_BYTES 65536
/* What a commit wrote of a document, as a part of its row: a delta, or a base. */
void chordal__outbox_put(chordal__buffer *out, const chordal__address *address, bool base, const void *data,
                         size_t len);
/* In a step. `derived`: it wrote documents alone. */
int chordal__outbox_add(chordal__store *store, uint64_t number, const void *data, size_t len, bool derived,
                        chordal_error *error);
/* In a step, before what was derived cannot be any more: all rows that wait. */
int chordal__outbox_flush(chordal__store *store, chordal_error *error);
bool chordal__outbox_waits(const chordal__store *store);
void chordal__outbox_settle(chordal__store *store, bool through); /* a step ended */
/* In a step: of commits up to this one nothing is derived any more. */
int chordal__outbox_skip(chordal__store *store, uint64_t number, chordal_error *error);
/* What waits in the memory of an owner, or did before it ended. CORRUPT: more than can be. */
int chordal__outbox_derive(chordal__store *store, chordal_error *error);
/* The first row behind a number, be it in the file or not; *out NULL: there is none. */
int chordal__outbox_next(chordal__store *store, uint64_t after, uint64_t *out_number, CHORDAL_OWN chordal__body **out,
                         chordal_error *error);
/* Delete up to CHORDAL__TRIM_ROWS rows up to a number. */
int chordal__outbox_trim(chordal__store *store, uint64_t upto, uint32_t *out_dropped, chordal_error *error);

/* ---- point.c: a document at a point in time, by its address ---- */
#define CHORDAL__NEWEST ((uint64_t)INT64_MAX)
/* The life that lived at commit `at`; *out 0: there was none. */
int chordal__point_find(chordal__store *store, const chordal__address *address, uint64_t at, int64_t *out,
                        chordal_error *error);
/* As document_at, by type, member and the params, a value. NOT_FOUND. */
int chordal__point_read(chordal__store *store, const chordal__address *named, const chordal__node *params, uint64_t at,
                        const chordal__limits *limits, chordal__node **out_value, uint64_t *out_number,
                        chordal_error *error);

/* ---- page.c: lists, a page at a time, as JSON ---- */
#define CHORDAL__PAGE_BYTES (1 << 20) /* more ends the page */
typedef struct chordal__page {
    chordal__store *store;
    const chordal__limits *limits;
    chordal__buffer out;
    uint32_t count, limit;
    uint64_t next; /* where the next page begins; 0: this is the last */
} chordal__page;
void chordal__page_begin(chordal__page *page, chordal__store *store, const chordal__limits *limits, uint32_t limit);
bool chordal__page_full(const chordal__page *page);
/* One thing, an object; between these two its keys, each followed by its value in page->out. */
void chordal__page_open(chordal__page *page);
void chordal__page_close(chordal__page *page);
void chordal__page_key(chordal__page *page, const char *key);
void chordal__page_text(chordal__page *page, const char *key, const void *text, size_t len); /* valid UTF-8 */
void chordal__page_number(chordal__page *page, const char *key, uint64_t number);
/* The list as a value; the page is given back whatever comes of it. `code`: of what filled it. */
int chordal__page_goes_on(const chordal__page *page, uint64_t after, chordal_error *error); /* CORRUPT: it does not */
int chordal__page_end(chordal__page *page, int code, CHORDAL_OWN chordal__node **out, chordal_error *error);

/* ---- listing.c: the documents ---- */
int chordal__documents_list(chordal__page *page, uint64_t after, chordal_error *error);
/* A key with a column's text. CORRUPT: the row's id, in its first column, is the position. */
int chordal__listing_text(chordal__page *page, const char *key, sqlite3_stmt *row, int column, chordal_error *error);
/* "params", in the order of the key. */
int chordal__listing_params(chordal__page *page, sqlite3_stmt *row, int params, int key, chordal_error *error);
/* "type", "params", "member" of a row of DOCUMENTS_AFTER. */
int chordal__listing_name(chordal__page *page, sqlite3_stmt *row, chordal_error *error);

/* ---- table_list.c: the tables, and the objects that have rows ---- */
int chordal__tables_list(chordal__page *page, uint64_t after, chordal_error *error);
int chordal__owners_list(chordal__page *page, uint64_t after, chordal_error *error);

/* The catalogue of a row of TABLES_AFTER: [columns, key, indexes, …] as table_open.c has it, each a list. CORRUPT. */
int chordal__catalogue_read(chordal__page *page, sqlite3_stmt *row, CHORDAL_OWN chordal__node **out,
                            chordal_error *error);

/* ---- check.c: looking for damage; `after` is where a page begins, by what the one before it gave as `next` ---- */
int chordal__store_check(chordal__page *page, uint64_t after, chordal_error *error);
/* Parts of a fault: its place, what it is, and what it is about. */
void chordal__fault_place(chordal__page *page, const char *table, uint64_t row);
void chordal__fault_words(chordal__page *page, const char *words);
void chordal__fault_nothing(chordal__page *page, const char *key);
/* A whole one that is about nothing that has a name; `table` NULL: of the file. */
void chordal__fault_tell(chordal__page *page, const char *table, uint64_t row, const char *words);
/* Reading that failed with `why` is a fault of the file, but for want of memory. */
int chordal__fault_told(chordal__page *page, int code, const chordal_error *why, chordal_error *error);

/* ---- check_rows.c: the rows of tables, after the documents ---- */
#define CHORDAL__CHECK_TABLES (UINT64_C(1) << 52) /* `after` and `next` from here on are of tables */
#define CHORDAL__CHECK_ROWS 10000                 /* when so many were looked at, a page ends behind an object's */
#define CHORDAL__CHECK_FAULTS 100                 /* of the rows of one table that a page tells */
/* Whether there is something to look at. */
int chordal__rows_wait(chordal__page *page, chordal_error *error);
int chordal__rows_check(chordal__page *page, uint64_t after, chordal_error *error);

/* ---- backup.c: a copy of the store, made in steps ---- */
#define CHORDAL__BACKUP_PAGES 256
typedef struct chordal__backup chordal__backup;
int chordal__backup_open(chordal__store *store, const char *path, size_t len, CHORDAL_OWN chordal__backup **out,
                         chordal_error *error);
/* A piece of it; *out_done: it is whole, and has its name. */
int chordal__backup_step(chordal__backup *backup, bool *out_done, chordal_error *error);
uint64_t chordal__backup_last(const chordal__backup *backup); /* the newest commit in it */
void chordal__backup_close(chordal__backup *backup);          /* one that is not done leaves nothing */

/* ---- fill.c: documents into a new store ---- */
enum { CHORDAL__FILLING_NOT, CHORDAL__FILLING, CHORDAL__FILLING_FAILED };
int chordal__fill_put(chordal__store *store, const chordal__address *address, uint32_t version,
                      const chordal__body *base, chordal_error *error);
/* Before all else: a table, by what it is declared as. */
int chordal__fill_table(chordal__store *store, const chordal__address *named, chordal__node *declared,
                        chordal_error *error);
/* `stale`: an older version of the table wrote it. */
int chordal__fill_row(chordal__store *store, const chordal__address *address, const chordal__node *row, bool stale,
                      chordal_error *error);
int chordal__fill_seal(chordal__store *store, chordal_error *error);

#endif
