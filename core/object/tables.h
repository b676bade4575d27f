/* tables.h: the tables of objects: what is prepared and not in the file yet, and what transactions do to rows.
 *
 * A commit's rows stay in memory until the step has written them: for each key a chain of what the commits of the queue
 * do to it, the oldest first. Its end is the tip; what is in the file is the head.
 *
 * A sweep, the change of all rows that match, is not made row by row unless somebody needs its rows: another
 * transaction that reads the table before the step, what else its own does to it, a live query, the outbox. */
#ifndef CHORDAL_CORE_OBJECT_TABLES_H
#define CHORDAL_CORE_OBJECT_TABLES_H

#include "object/object.h"
#include "store/query.h"

/* ---- table.c: tables of objects, and commits that write them ---- */

typedef struct chordal__pending {
    chordal__list chain;  /* entries, the oldest first */
    chordal__list stored; /* those that are in the file and not visible yet, the oldest first */
    uint32_t holds;       /* entries that name it, in the chain or not */
    bool fallen;          /* a commit that wrote it just failed */
    size_t len;
    uint8_t key[];
} chordal__pending;

typedef struct chordal__rows {
    chordal__object *object;
    chordal__table *table;
    chordal__map pending; /* by key */
    /* Of a commit of the queue whose rows are not known, before all that is pending. */
    struct chordal__row_set *sweep_set;
    uint64_t moves; /* of the tips: transactions that queried see conflicts by it */
    bool fallen;
    chordal__list live; /* queries that follow it (live.h) */
    uint32_t thirsty;   /* of these, those that may have to read on: a step notes what was there before it */
} chordal__rows;

/* What a commit does to one row, or what it was told of one. */
typedef struct chordal__row_entry {
    chordal__list node; /* pending.chain, then pending.stored */
    chordal__pending *pending;
    chordal__row *key, *row; /* owned; row NULL: it is removed, or was only read */
    chordal__row *before;    /* owned: what the step found, where that is noted; NULL: none */
    bool read, written;
} chordal__row_entry;

/* What a commit does to one table of an object. */
typedef struct chordal__row_set {
    struct chordal__row_set *next; /* of the change */
    chordal__rows *rows;
    uint32_t count, capacity;
    bool queried;          /* it counts on all rows, not only on those of its entries */
    chordal__sweep *sweep; /* owned: what the step does in their place; NULL: nothing */
    chordal__row_entry *entries;
    chordal__row_entry room[]; /* of them; those of a sweep have a block of their own */
} chordal__row_set;

/* A member's declaration. UNSUPPORTED (no store), and those of chordal__table_declare. */
int chordal__table_read(chordal__runtime *runtime, chordal__node *declared, chordal__member *member,
                        chordal_error *error);
/* Open the tables of a type that is provided. */
int chordal__tables_open(const chordal__type *type, chordal_error *error);
void chordal__tables_close_unopened(chordal__members *members);

int chordal__tables_load(chordal__object *object, chordal_error *error);
void chordal__tables_forget(chordal__object *object);
chordal__rows *chordal__rows_of(const chordal__object *object, uint32_t member); /* NULL: no table */
/* With room for so many entries, in front of the change's others; NULL: no memory. */
chordal__row_set *chordal__row_set_new(chordal__change *change, chordal__rows *rows, uint32_t capacity);
/* Room for the entries of a sweep, which has had none. NOMEM. */
int chordal__row_set_grow(chordal__row_set *set, uint32_t capacity);
/* The next entry. TAKES nothing, refs rows. NOMEM. */
int chordal__row_set_add(chordal__row_set *set, const void *key_bytes, size_t key_len, const chordal__row_entry *entry);
void chordal__row_set_clear(chordal__row_set *set); /* its entries go */
void chordal__tables_drop(chordal__change *change);
/* The row at the tip, by its key; *out NULL: there is none. */
int chordal__rows_tip(chordal__rows *rows, const void *key_bytes, size_t key_len, const chordal__row *key,
                      CHORDAL_OWN chordal__row **out, chordal_error *error);

void chordal__tables_advance(chordal__commit *commit); /* the tips, to what it has prepared */
int chordal__tables_write(chordal__commit *commit, chordal_error *error);
void chordal__tables_stored(chordal__commit *commit);
void chordal__tables_fall(chordal__commit *commit);
bool chordal__tables_on_fallen(const chordal__commit *commit);
void chordal__tables_stand_up(chordal__commit *commit);
bool chordal__tables_any(const chordal__object *object);                   /* it has rows in the file */
int chordal__tables_retire(chordal__object *object, chordal_error *error); /* in a step */
void chordal__tables_show(const chordal__commit *commit);                  /* what is stored of it becomes visible */
/* What the first of the commits that are stored and not visible does to a row; NULL: none does anything. */
const chordal__row_entry *chordal__tables_later(const chordal__rows *rows, const void *key, size_t len);
uint64_t chordal__tables_count(const chordal__commit *commit); /* rows that it writes */
void chordal__tables_outbox(const chordal__commit *commit, chordal__buffer *out);

/* ---- table_change.c: rows in a transaction ---- */

/* What a transaction knows of one row. */
typedef struct chordal__own_row {
    chordal__list node;              /* own_table.rows */
    chordal__row *key, *found, *row; /* owned; found: at the tip when it was read, row: what was written */
    bool read, written;
    size_t len;
    uint8_t bytes[]; /* of the key */
} chordal__own_row;

typedef struct chordal__own_table {
    chordal__list node; /* transaction.tables */
    chordal_transaction *transaction;
    chordal__rows *rows; /* of an object that is pinned */
    chordal__map by_key;
    chordal__list list; /* own rows, in the order of their first mention */
    uint64_t moves;     /* when it was first touched */
    uint64_t query_moves;
    bool queried;
    chordal__sweep *sweep; /* owned: what it does last, with no rows written; NULL: nothing */
} chordal__own_table;

#define CHORDAL__OWN_ROWS_LIMIT (1 << 20) /* of one table in one transaction */

void chordal__own_tables_drop(chordal_transaction *transaction);
/* CLOSED, RETIRED, NO_MEMBER, INVALID (no table), NOMEM. */
int chordal__own_table_of(chordal_transaction *transaction, chordal_id object, uint32_t member,
                          chordal__own_table **out, chordal_error *error);
/* The row of a key as the transaction sees it, NULL: none; borrowed until it is changed. */
int chordal__own_row_read(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key,
                          chordal__row **out, chordal_error *error);
/* Refs row; NULL: it is removed. Not `always`: one that is what was read is not written. */
int chordal__own_row_write(chordal_transaction *transaction, chordal__own_table *table, chordal__row *key,
                           chordal__row *row, bool always, chordal_error *error);
/* An op of packed changes: SET [member, key] puts a row, DELETE [member, key] removes one; the key as JSON text, or as
 * an index where it is one whole number. TAKES nothing. */
int chordal__own_table_op(chordal_transaction *transaction, chordal_id object, const chordal__op *op,
                          chordal_error *error);
bool chordal__own_tables_change(const chordal_transaction *transaction);
uint32_t chordal__own_tables_count(const chordal_transaction *transaction);
int chordal__own_tables_check(const chordal_transaction *transaction, chordal_error *error);
int chordal__own_tables_prepare(chordal__commit *commit, chordal_transaction *transaction, chordal_error *error);

/* ---- table_query.c: queries ---- */

/* Rows that are to be seen in place of those of the file with the same keys. */
typedef struct chordal__cover {
    chordal__memory *memory;
    bool (*hides)(const struct chordal__cover *cover, const void *key, size_t key_len);
    const void *context;
    chordal__row **matches; /* borrowed: of these rows those that match */
    size_t len, capacity;
    uint64_t hidden; /* keys, at most */
} chordal__cover;
int chordal__cover_add(chordal__cover *cover, const chordal__query *query, chordal__row *row); /* NULL: none. NOMEM */
void chordal__cover_dispose(chordal__cover *cover);

/* Borrowed rows; a code below 0 ends the walk. */
typedef int chordal__take_row(void *context, chordal__row *row, chordal_error *error);
int chordal__rows_merge(chordal__rows *rows, const chordal__query *query, chordal__cover *cover, uint64_t limit,
                        chordal__take_row *take, void *context, chordal_error *error);
/* As a transaction sees them; `own` NULL: as they are in the file. */
int chordal__rows_query(chordal__rows *rows, chordal__own_table *own, const chordal__query *query, uint64_t limit,
                        chordal__take_row *take, void *context, chordal_error *error);
void chordal__own_table_queried(chordal__own_table *own); /* it counts on all rows from now on */
/* The answer packed in the runtime's scratch. */
int chordal__rows_answer(chordal__rows *rows, chordal__own_table *own, const chordal__query *query, bool raw,
                         chordal_error *error);
/* The array of groups. */
void chordal__groups_answer(chordal__buffer *out, const chordal__groups *groups, uint8_t bytes);
/* Rows that are kept for later: a chordal__take_row with one of these. */
typedef struct chordal__found {
    chordal__memory *memory;
    chordal__row **rows;
    size_t len, capacity;
} chordal__found;
int chordal__found_keep(void *context, chordal__row *row, chordal_error *error);
void chordal__found_dispose(chordal__found *found);

/* ---- table_sweep.c: all rows that match ---- */

/* Change all rows that match; `changes` NULL: remove them. TAKES query. After an error some are changed. */
int chordal__rows_change(chordal__own_table *own, chordal__query *query, const chordal__node *changes,
                         uint64_t *out_count, chordal_error *error);
/* Somebody needs the rows of the sweep that waits, if there is one: of a transaction, of the queue. A failure leaves it
 * as it is. */
int chordal__own_table_settle(chordal__own_table *own, chordal_error *error);
int chordal__rows_settle(chordal__rows *rows, chordal_error *error);

#endif
