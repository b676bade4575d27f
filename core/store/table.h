/* table.h: the tables of a store: what they are declared as, their rows, and where these are kept. */
#ifndef CHORDAL_CORE_STORE_TABLE_H
#define CHORDAL_CORE_STORE_TABLE_H

#include "store/store.h"

/* ---- table_row.c: rows in memory ---- */

/* Of a cell and of a column; a JSON cell is packed bytes. They sort in this order: only NULL meets another kind. */
enum {
    CHORDAL__CELL_NULL,
    CHORDAL__CELL_INTEGER,
    CHORDAL__CELL_REAL,
    CHORDAL__CELL_TEXT,
    CHORDAL__CELL_JSON,
    CHORDAL__CELL_BYTES
};
typedef struct chordal__cell {
    uint8_t kind;
    union {
        int64_t integer;
        double real;
        struct {
            const uint8_t *data;
            size_t len;
        } bytes;
    } as;
} chordal__cell;

/* An immutable row: one counted block; what its cells point to lies behind them. */
typedef struct chordal__row {
    chordal__memory *memory;
    uint32_t references, count;
    size_t size;
    chordal__cell cells[];
} chordal__row;
/* Copies what the cells point to. NULL: no memory. */
CHORDAL_OWN chordal__row *chordal__row_new(chordal__memory *memory, const chordal__cell *cells, uint32_t count);
chordal__row *chordal__row_ref(chordal__row *row);
void chordal__row_unref(chordal__row *row); /* NULL allowed */
bool chordal__row_equal(const chordal__row *a, const chordal__row *b);
/* NULL first, numbers by value, text and bytes by their bytes. */
int chordal__cell_compare(const chordal__cell *a, const chordal__cell *b);
/* Cells that were read: json is a packed value, text is UTF-8, reals are finite. CORRUPT names the first column where
 * that is not so; NOMEM. */
struct chordal__table;
int chordal__cells_check(const struct chordal__table *table, const chordal__cell *cells, chordal_error *error);
static inline bool chordal__cell_has_bytes(const chordal__cell *cell) {
    return cell->kind >= CHORDAL__CELL_TEXT;
}

/* ---- table.c: declarations ---- */

#define CHORDAL__COLUMNS_LIMIT 64
#define CHORDAL__KEY_LIMIT 8      /* columns of a key or an index */
#define CHORDAL__INDEXES_LIMIT 16 /* of one table */
#define CHORDAL__KEY_BYTES 4096   /* of the texts and bytes of one key */
#define CHORDAL__SQL_COLUMNS 1024 /* that a table may come to have had */
#define CHORDAL__COLUMN_NAME_BYTES 255
#define CHORDAL__NAME_COPY 16 /* bytes that are copied at once of a packed name */

typedef struct chordal__column {
    const uint8_t *name; /* in the declaration */
    size_t name_len;
    uint8_t type; /* CHORDAL__CELL_… */
    bool key, known;
    uint32_t number;       /* what SQL knows it by */
    const uint8_t *packed; /* the name, in table.names */
    size_t packed_len;
} chordal__column;

typedef struct chordal__index {
    const uint8_t *name;
    size_t name_len;
    bool known;
    uint32_t number, len;
    uint32_t columns[CHORDAL__KEY_LIMIT];
} chordal__index;

enum { CHORDAL__ROW_PUT, CHORDAL__ROW_REMOVE, CHORDAL__ROW_FIND, CHORDAL__ROW_AGE, CHORDAL__ROW_STATEMENTS };

typedef struct chordal__table {
    chordal__memory *memory;
    chordal__list node;      /* store.tables, once it is open */
    chordal__node *declared; /* owned; the names lie in there */
    int64_t id;              /* of the catalogue, and in the names of SQL */
    uint32_t version;
    uint32_t columns_len, key_len, indexes_len;
    chordal__column columns[CHORDAL__COLUMNS_LIMIT];
    uint32_t key[CHORDAL__KEY_LIMIT];
    chordal__index indexes[CHORDAL__INDEXES_LIMIT];
    uint8_t *names; /* of the columns, packed, and CHORDAL__NAME_COPY bytes behind them */
    size_t names_len;
    chordal__row *initial; /* what a row has where nothing is given */
    sqlite3_stmt *statements[CHORDAL__ROW_STATEMENTS];
} chordal__table;

/* Read a member's declaration: {"columns": {name: type or {"type", "default"}}, "key": […], "indexes": {name: […]},
 * "version": 1}. INVALID with words, the codes of defaults, NOMEM. */
int chordal__table_declare(chordal__memory *memory, chordal__node *declared, CHORDAL_OWN chordal__table **out,
                           chordal_error *error);
void chordal__table_free(chordal__table *table); /* NULL allowed; not in a step */
/* The column of a name, or -1. */
int64_t chordal__table_column(const chordal__table *table, const void *name, size_t name_len);

/* ---- table_draft.c: making rows of values ---- */

typedef struct chordal__row_draft {
    const chordal__table *table;
    chordal__buffer bytes; /* of texts and the like that were given */
    uint64_t given;        /* a bit for each column */
    size_t at[CHORDAL__COLUMNS_LIMIT];
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
} chordal__row_draft;
/* Where the bytes of a cell lie; all may be empty. */
static inline const uint8_t *chordal__cell_place(const chordal__buffer *bytes, size_t at) {
    return bytes->data ? bytes->data + at : NULL;
}
/* What is not given is as in `base`, which is held meanwhile; NULL: null. */
void chordal__row_draft_begin(chordal__row_draft *draft, const chordal__table *table, const chordal__row *base);
/* Give cells as an object {column: value}. Bytes are base64 text, in packed form also MessagePack bin. TYPE, RANGE,
 * INVALID (no such column), SYNTAX (no base64) and the data errors, NOMEM. */
int chordal__row_draft_object(chordal__row_draft *draft, const chordal__node *object, chordal_error *error);
int chordal__row_draft_packed(chordal__row_draft *draft, const uint8_t *data, size_t len, const chordal__limits *limits,
                              chordal_error *error);
/* Give the key: its value, or an array when it has several columns. */
int chordal__row_draft_key(chordal__row_draft *draft, const chordal__node *key, chordal_error *error);
int chordal__row_draft_packed_key(chordal__row_draft *draft, const uint8_t *data, size_t len,
                                  const chordal__limits *limits, chordal_error *error);
/* A cell of a column's type; its bytes go behind what the buffer holds, *out_at: where, SIZE_MAX: it has none. TYPE,
 * and RANGE for whole numbers beyond an integer: the cell is then the real that is nearest, which can be compared with.
 */
int chordal__cell_read(uint8_t type, const chordal__node *value, chordal__buffer *bytes, chordal__cell *out,
                       size_t *out_at);
int chordal__row_draft_packed_cell(chordal__row_draft *draft, chordal__reader *reader, uint32_t column,
                                   const chordal__limits *limits, chordal_error *error);
int chordal__row_draft_cell(chordal__row_draft *draft, uint32_t column, const chordal__node *value,
                            chordal_error *error);
/* The row as far as it is given; NULL: no memory. */
CHORDAL_OWN chordal__row *chordal__row_draft_row(chordal__row_draft *draft);
/* The row, with all of its key. INVALID (a part of the key is null), SIZE, NOMEM. */
int chordal__row_draft_end(chordal__row_draft *draft, CHORDAL_OWN chordal__row **out, chordal_error *error);
void chordal__row_draft_dispose(chordal__row_draft *draft);

/* ---- table_text.c: rows as bytes ---- */

/* How bytes cells are written: as base64 text, as MessagePack bin, or as {"length", "digest"}. */
enum { CHORDAL__BYTES_BASE64, CHORDAL__BYTES_RAW, CHORDAL__BYTES_DIGEST };
void chordal__cell_pack(chordal__buffer *out, const chordal__cell *cell, uint8_t bytes);
void chordal__cells_pack(chordal__buffer *out, const chordal__table *table, const chordal__cell *cells, uint8_t bytes);
void chordal__row_pack(chordal__buffer *out, const chordal__table *table, const chordal__row *row, uint8_t bytes);
void chordal__pack_write_object(chordal__buffer *out, uint32_t count); /* the head only, below 2^16 */
/* What a key is found by in memory: other keys have other bytes. */
void chordal__row_key(chordal__buffer *out, const chordal__table *table, const chordal__row *row);

/* ---- base64.c: RFC 4648, padded ---- */
#define CHORDAL__BASE64_LENGTH(len) (((len) + 2) / 3 * 4)
uint8_t *chordal__base64_put(uint8_t *out, const uint8_t *data, size_t len); /* where there is room; its end */
void chordal__base64_write(chordal__buffer *out, const uint8_t *data, size_t len);
/* SYNTAX: not the canonical form; what was written stays. */
int chordal__base64_read(chordal__buffer *out, const uint8_t *text, size_t len);

/* ---- table_open.c: the tables of the file ---- */
/* Bring the file's table up to the declaration: made, columns added, indexes made and dropped, in one transaction.
 * TAKES table when it succeeds: the store frees it. INVALID (a column's type or the key is another), TYPE_VERSION (the
 * file's is newer), and the codes of writing. */
int chordal__table_open(chordal__store *store, const chordal__address *address, chordal__table *table,
                        chordal_error *error);

/* ---- table_write.c: rows of the file ---- */

/* Whose rows they are: one for each object. */
typedef struct chordal__owner {
    chordal__list staged; /* store.owners */
    int64_t id, before;   /* 0: it has no rows yet */
} chordal__owner;
int chordal__owner_find(chordal__store *store, const chordal__address *address, chordal__owner *owner,
                        chordal_error *error);
/* In a step: commit `number` writes rows. A row does not tell which commit wrote it, so a run notes ahead up to which
 * number it may have given some: an opening after a crash goes on behind that. */
int chordal__rows_begin(chordal__store *store, uint64_t number, chordal_error *error);
/* In a step. `row` NULL: remove the one with the key of `key`. */
int chordal__row_store(chordal__store *store, chordal__table *table, chordal__owner *owner,
                       const chordal__address *address, uint64_t number, const chordal__row *key,
                       const chordal__row *row, chordal_error *error);
/* In a step: a row that was put is of the version before. */
int chordal__row_age(chordal__store *store, chordal__table *table, const chordal__owner *owner, const chordal__row *key,
                     chordal_error *error);
/* *out NULL: there is none. */
int chordal__row_find(chordal__store *store, chordal__table *table, const chordal__owner *owner,
                      const chordal__row *key, CHORDAL_OWN chordal__row **out, chordal_error *error);
/* In a step: its rows are nobody's any more, commit `number` is the last before that. They go by and by: */
int chordal__owner_end(chordal__store *store, chordal__owner *owner, uint64_t number, chordal_error *error);
#define CHORDAL__CLEAR_ROWS 256
/* look whether there are such rows, when the store is opened, */
int chordal__owners_open(chordal__store *store, chordal_error *error);
/* and delete some of them, as statements of their own; store.clears: there may be more. */
int chordal__owners_clear(chordal__store *store, chordal_error *error);
/* The row that a statement stands on, its cells from column `first` on. */
/* The cells point into the statement, until its next step. */
void chordal__cells_of_statement(const chordal__table *table, sqlite3_stmt *statement, int first,
                                 chordal__cell cells[CHORDAL__COLUMNS_LIMIT]);
/* A row of its own. CORRUPT, as chordal__cells_check; NOMEM. */
int chordal__row_of_statement(chordal__memory *memory, const chordal__table *table, sqlite3_stmt *statement, int first,
                              CHORDAL_OWN chordal__row **out, chordal_error *error);
void chordal__cell_bind(sqlite3_stmt *statement, int at, const chordal__cell *cell);
void chordal__tables_settle(chordal__store *store, bool through); /* a step ended */
void chordal__tables_close(chordal__store *store);

#endif
