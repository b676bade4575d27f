/* host.h: one runtime instance: the rooms tied together, the turn, the way in. */
#ifndef CHORDAL_CORE_HOST_H
#define CHORDAL_CORE_HOST_H

#include "link/link.h"
#include "chordal/host.h"

#define CHORDAL__INLINE_PART 16384 /* a longer part of a record is handed out by a counted id */
#define CHORDAL__CALLS_ALONE 64    /* of one caller, in one poll */
#define CHORDAL__CALLS_BESIDE 4    /* when there are others who may call */
#define CHORDAL__ASKS_AT_ONCE 64   /* questions about one session, in one poll */

/* Bytes that an event named and the program has not given back. */
typedef struct chordal__host_part {
    chordal__list node;
    chordal_id id;
    chordal__body *body;
} chordal__host_part;

struct chordal_host {
    chordal__runtime runtime;
    chordal__links links;
    chordal__memory *memory;
    chordal__fork_guard guard;
    _Atomic uint32_t busy, close_asked;
    bool closed;
    chordal__list parts;
    chordal__buffer record; /* a record that was built */
    chordal_id record_part; /* and the part that it names, 0: none */
    bool record_waits;      /* it did not fit the last buffer */
};

/* Every public function but release and close begins with enter and ends with leave. FORKED, BUSY, CLOSED, INVALID (no
 * host). */
int chordal__enter_slowly(chordal_host *host, chordal_error *error);
int chordal__enter_held(chordal_host *host, chordal_error *error); /* it is marked as busy already */
int chordal__leave_slowly(chordal_host *host, int code);           /* with what is left to do */
int chordal__leave_closing(chordal_host *host, int code);          /* it is not busy any more */
static inline int chordal__enter(chordal_host *host, chordal_error *error) {
    bool sure = !CHORDAL__SMALL && host && chordal__fork_guard_sure(&host->guard);
    if (!sure || atomic_exchange(&host->busy, 1)) return chordal__enter_slowly(host, error);
    if (host->closed || chordal__ids_asked(&host->runtime.ids)) return chordal__enter_held(host, error);
    host->runtime.counters.entries++;
    return 0;
}
static inline int chordal__leave(chordal_host *host, int code) { /* passes the code on */
    bool works = CHORDAL__SMALL || !chordal__list_empty(&host->runtime.commits) || chordal__links_wait(&host->links);
    if (works) return chordal__leave_slowly(host, code);
    atomic_store(&host->busy, 0);
    return atomic_load(&host->close_asked) ? chordal__leave_closing(host, code) : code;
}
/* What an id names; NULL with *code CLOSED. */
void *chordal__find(chordal_host *host, chordal_id id, uint8_t kind, int *code, chordal_error *error);
/* A name or words that may cross a link: valid UTF-8 of at most CHORDAL__TEXT_LIMIT bytes. UTF8, SIZE. */
int chordal__check_text(const char *text, size_t len, chordal_error *error);

/* ---- events.c ---- */
/* Build the record of the next event into host->record. 1, 0 (nothing to tell) or NOMEM. */
int chordal__write_record(chordal_host *host);
static inline int chordal__next_record(chordal_host *host) {
    const chordal__runtime *runtime = &host->runtime;
    bool none = chordal__list_empty(&runtime->urgent) && chordal__list_empty(&runtime->events);
    return !CHORDAL__SMALL && none ? 0 : chordal__write_record(host);
}
void chordal__drop_record(chordal_host *host);
void chordal__part_free(chordal_host *host, chordal__host_part *part);

#endif
