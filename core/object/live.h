/* live.h: live queries: objects of the type chordal.query, which every host with a store provides by itself.
 *
 * One follows the table of another object, its source. Its only member, the document "rows", is kept current from what
 * commits do to rows, within these commits. */
#ifndef CHORDAL_CORE_OBJECT_LIVE_H
#define CHORDAL_CORE_OBJECT_LIVE_H

#include "object/tables.h"

#define CHORDAL__QUERY_TYPE "chordal.query"
#define CHORDAL__LIVE_MARGIN 64         /* rows beyond the limit that are kept to come after those that go */
#define CHORDAL__LIVE_COUNTED (1 << 20) /* rows that one counts */

typedef struct chordal__live {
    chordal__list node;    /* rows.live */
    chordal__list touched; /* runtime.touched: the commit that settles has changed it */
    chordal__object *object;
    chordal__rows *rows; /* of the source, which it demands */
    chordal__observer observer;
    chordal__query query;
    bool follows;         /* it has its rows */
    uint64_t loaded;      /* the commits up to which they have it all */
    chordal__map by_key;  /* rows that match, as far as they are kept */
    chordal__row **items; /* the same in order, not of one that counts: it has groups */
    size_t len, capacity;
    bool complete; /* no further row matches */
    chordal__groups groups;
    chordal__ops ops; /* what the commit does to "rows" */
} chordal__live;

/* ---- live.c: their life ---- */
int chordal__live_provide(chordal__runtime *runtime, chordal_error *error);
/* What the params of one are about. NULL: they are no such. */
typedef struct chordal__target {
    chordal__text type, member;
    chordal__body *params; /* packed */
} chordal__target;
int chordal__target_read(chordal__runtime *runtime, const uint8_t *params, size_t params_len, chordal__target *out,
                         chordal_error *error);
void chordal__target_dispose(chordal__runtime *runtime, chordal__target *target);
int chordal__live_open(chordal__object *object, chordal_error *error); /* it is made */
void chordal__live_begin(chordal__object *object);                     /* it starts, or starts again */
void chordal__live_close(chordal__object *object);                     /* it is retired */
void chordal__lives_abandon(chordal__runtime *runtime);                /* the runtime ends: nothing is retired */

/* ---- live_rows.c: what commits do to them ---- */
/* Read the rows and give the document its value. */
int chordal__live_load(chordal__live *live, chordal_error *error);
void chordal__live_forget(chordal__live *live);
void chordal__live_apply(const chordal__commit *commit); /* its rows become visible */
void chordal__live_publish(chordal__runtime *runtime, uint64_t number);
void chordal__live_published(chordal__runtime *runtime); /* what is sent of it was taken */

#endif
