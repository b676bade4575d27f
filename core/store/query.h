/* query.h: questions about the rows of a table: checked, asked of SQL, and judged on rows in memory, all the same way.
 */
#ifndef CHORDAL_CORE_STORE_QUERY_H
#define CHORDAL_CORE_STORE_QUERY_H

#include "store/table.h"

/* ---- query.c: from a value ---- */

#define CHORDAL__QUERY_DEPTH 16    /* of and, or, not in each other */
#define CHORDAL__QUERY_TERMS 256   /* of a condition */
#define CHORDAL__QUERY_VALUES 1000 /* and what it compares with */
#define CHORDAL__QUERY_LIMIT 10000 /* rows of an answer, and groups */
#define CHORDAL__QUERY_ROWS 1000   /* unless it says so */

enum {
    CHORDAL__TERM_AND = 1,
    CHORDAL__TERM_OR,
    CHORDAL__TERM_EQ,
    CHORDAL__TERM_LT,
    CHORDAL__TERM_LE,
    CHORDAL__TERM_GT,
    CHORDAL__TERM_GE,
    CHORDAL__TERM_IN,
    CHORDAL__TERM_PREFIX,
    CHORDAL__TERM_NULL
};

/* A condition lies in one row of terms, each before those within it. Whether it holds is always known: a comparison
 * with null does not, and what is negated is its contrary. */
typedef struct chordal__term {
    uint8_t kind;
    bool negated; /* of those that look at a cell */
    uint32_t column;
    uint32_t value, values; /* the first one, and how many */
    uint32_t end;           /* the term behind it and all within it */
} chordal__term;

typedef struct chordal__order {
    uint32_t column;
    bool down;
} chordal__order;

#define CHORDAL__ORDER_LIMIT 16 /* 8 that are named, and the key */

typedef struct chordal__query {
    const chordal__table *table;
    chordal__term *terms;
    size_t terms_len, terms_capacity;           /* 0: all rows */
    chordal__row *values;                       /* cells that it compares with */
    chordal__order order[CHORDAL__ORDER_LIMIT]; /* up to the key, so that no two rows are equal */
    uint32_t order_len, limit;
    chordal__row *after; /* where a page begins: the cells of the order; NULL: at the first row */
    bool stale;          /* only rows that an older version of the table wrote */
    bool counts, sums;   /* it asks for no rows, but for groups of them */
    uint32_t sum;
    uint32_t groups[CHORDAL__KEY_LIMIT], groups_len;
} chordal__query;

/* {"where", "order", "limit", "after", "stale", "count", "sum", "group"}. INVALID with words, TYPE, RANGE, LIMIT,
 * NOMEM. */
int chordal__query_read(const chordal__table *table, const chordal__node *value, chordal__query *out,
                        chordal_error *error);
/* A condition alone, null for all rows. */
int chordal__query_where(const chordal__table *table, const chordal__node *where, chordal__query *out,
                         chordal_error *error);
void chordal__query_dispose(chordal__query *query); /* also one that is all zero */
static inline bool chordal__query_is_aggregate(const chordal__query *query) {
    return query->counts || query->sums;
}

/* ---- query_rows.c: judged in memory ---- */
bool chordal__query_matches(const chordal__query *query, const chordal__row *row);
/* By the query's order: below, at or above 0. */
int chordal__query_compare(const chordal__query *query, const chordal__row *a, const chordal__row *b);
void chordal__query_sort(const chordal__query *query, chordal__row **rows, size_t count);
/* The text by which the page behind a row begins. */
void chordal__cursor_write(chordal__buffer *out, const chordal__query *query, const chordal__row *last);
/* INVALID: it is none of this query. */
int chordal__cursor_read(chordal__query *query, const chordal__node *text, chordal_error *error);

/* ---- query_scan.c: asked of SQL ---- */

#define CHORDAL__SCANS_KEPT 32 /* statements that are kept, the one used last first */

typedef struct chordal__kept_scan {
    chordal__list node; /* store.scans */
    sqlite3_stmt *statement;
    size_t len;
    char sql[];
} chordal__kept_scan;

typedef struct chordal__scan {
    chordal__store *store;
    const chordal__query *query;
    sqlite3_stmt *statement; /* NULL: there are no rows */
} chordal__scan;
/* The rows of an owner that match, in order, from the cursor on; `limit` at most. To be ended if it began. */
int chordal__scan_begin(chordal__store *store, const chordal__query *query, const chordal__owner *owner, uint64_t limit,
                        chordal__scan *out, chordal_error *error);
/* The next row where it lies, until the one after it is asked for. *out_more false: there is none. */
int chordal__scan_cells(chordal__scan *scan, chordal__cell cells[CHORDAL__COLUMNS_LIMIT], bool *out_more,
                        chordal_error *error);
/* *out NULL: that was the last one. */
int chordal__scan_next(chordal__scan *scan, CHORDAL_OWN chordal__row **out, chordal_error *error);
void chordal__scan_end(chordal__scan *scan);
void chordal__scans_close(chordal__store *store);
/* For other statements over the rows that match: " WHERE …" and its values, the first at *at; a kept statement by its
 * text, to be ended by chordal__statement_end. */
void chordal__query_put_column(chordal__buffer *sql, const chordal__query *query, uint32_t column);
void chordal__query_put_where(chordal__buffer *sql, const chordal__query *query);
int chordal__query_bind_where(sqlite3_stmt *statement, const chordal__query *query, int64_t owner, int *at); /* NOMEM */
int chordal__scan_statement(chordal__store *store, const chordal__buffer *sql, sqlite3_stmt **out,
                            chordal_error *error);

/* ---- query_sweep.c: all rows that match are changed or removed by one statement ---- */

typedef struct chordal__sweep {
    chordal__query query;  /* owned; of it the condition */
    chordal__row *changes; /* owned: the cells that are given; NULL: the rows are removed */
    uint64_t given;        /* a bit for each column */
} chordal__sweep;
/* TAKES query, whose table gives the memory; NULL: no memory, query is disposed of. */
CHORDAL_OWN chordal__sweep *chordal__sweep_new(chordal__query *query);
void chordal__sweep_free(chordal__sweep *sweep); /* NULL allowed */
/* How many rows of the file match, and how many of these it would leave as another. */
int chordal__sweep_count(chordal__store *store, const chordal__sweep *sweep, const chordal__owner *owner,
                         uint64_t *out_matching, uint64_t *out_changing, chordal_error *error);
/* In a step, for commit `number`. */
int chordal__sweep_store(chordal__store *store, const chordal__sweep *sweep, const chordal__owner *owner,
                         uint64_t number, chordal_error *error);
/* A row as it is afterwards; not of one that removes. NULL: no memory. */
CHORDAL_OWN chordal__row *chordal__sweep_row(const chordal__sweep *sweep, const chordal__row *row);

/* ---- sum.c: an exact sum of doubles ---- */

#define CHORDAL__SUM_LIMBS 34 /* from 2^-1074 to beyond 2^64 of the largest */
typedef struct chordal__sum {
    uint64_t limbs[CHORDAL__SUM_LIMBS]; /* of two's complement, the lowest first */
} chordal__sum;
/* A finite one, once more (1) or once less (-1). */
void chordal__sum_add(chordal__sum *sum, double real, int sign);
double chordal__sum_value(const chordal__sum *sum); /* the nearest, the even one of two; beyond all: an infinity */

/* ---- query_groups.c: counts and sums ---- */

typedef struct chordal__group {
    chordal__row *row; /* one of its rows: what is the same in all */
    int64_t count;
    int64_t sum_high; /* of whole numbers, 128 bits */
    uint64_t sum_low;
    chordal__sum *reals; /* of others, owned; NULL: there is nothing to sum */
} chordal__group;

typedef struct chordal__groups {
    const chordal__query *query;
    chordal__memory *memory;
    chordal__group *items; /* in the order of the columns that they are made by */
    size_t count, capacity;
} chordal__groups;
void chordal__groups_init(chordal__groups *groups, const chordal__query *query, chordal__memory *memory);
void chordal__groups_dispose(chordal__groups *groups);
/* Count a row, once more (1) or once less (-1). *out_index: its group; *out_fresh: it has just begun. LIMIT, NOMEM.
 * Less never fails; a group that has no row any more stays until chordal__groups_drop. */
int chordal__groups_add(chordal__groups *groups, chordal__row *row, int sign, size_t *out_index, bool *out_fresh);
void chordal__groups_drop(chordal__groups *groups, size_t index);
/* {"group": {column: value}, "count": n, "sum": n}, what was asked for of it; `bytes`: how such columns of the group
 * are written. A sum beyond all doubles fails the buffer with RANGE. */
void chordal__group_pack(chordal__buffer *out, const chordal__groups *groups, size_t index, uint8_t bytes);

#endif
