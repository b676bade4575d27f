/* placement.h: types whose objects live behind this host, each where the program says: in worker processes, say.
 * Thread rule: host.h.
 *
 * Who asks this host for an object of such a type waits while the program is asked where it is, by a RESOLVE event
 * (record.h), and is then moved on to the host behind the link that the program answers with. Holds of one object that
 * wait at the same time share one question; of one session at most 4096 wait, the next fail with LIMIT. Nothing is
 * remembered of an answer: the next hold asks again, since only the program knows how long it stays true. */
#ifndef CHORDAL_PLACEMENT_H
#define CHORDAL_PLACEMENT_H

#include "host.h"

/* The objects of a type are elsewhere, behind links that the program names one by one. Also for references of this host
 * that name no link. It counts before what peers offer, but not before a type that is provided here; links with
 * CHORDAL_LINK_OFFER offer it. Errors: EXISTS (provided or placed already), INVALID (no name, or over 765 bytes), UTF8,
 * LIMIT, NOMEM, UNSUPPORTED (the build for browsers). */
CHORDAL_API int chordal_type_place(chordal_host *host, const char *type, size_t type_len, chordal_error *error);

/* Answer a RESOLVE event: the object is behind `link`, which has CHORDAL_LINK_ROUTE_OFFERS. If it is not up yet it is
 * waited for until the question's deadline, or, if it is that of a worker which had been up (CHORDAL_LINK_WORKER),
 * until it is up or closed; if it closes before, or is closed, those who wait see NO_ROUTE, but when it had been up the
 * question is asked again (once, if it was closed already). Errors: CLOSED (nobody waits any more, or
 * the deadline is over: nothing is to be done then; or there is no such link), STATE (answered already), INVALID (the
 * link is not for routes). */
CHORDAL_API int chordal_resolve(chordal_host *host, chordal_id question, chordal_id link, chordal_error *error);

/* Answer that there is no such place: a short stable name and a message for people; those who wait see the object
 * failed, with METHOD, or with the code that has the name. Errors: CLOSED, STATE, INVALID (no name), UTF8, SIZE. */
CHORDAL_API int chordal_resolve_fail(chordal_host *host, chordal_id question, const char *name, size_t name_len,
                                     const char *message, size_t message_len, chordal_error *error);

/* Whether the peer offers a type over a link, so that others reach it there: 1 or 0. Errors: CLOSED. */
CHORDAL_API int chordal_link_offers(chordal_host *host, chordal_id link, const char *type, size_t type_len,
                                    uint32_t *out_offers, chordal_error *error);

#endif
