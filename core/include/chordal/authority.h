/* authority.h: who a peer is, what it may hold and call, and how that is taken back. Thread rule: host.h.
 *
 * An *authority* is any value that the program gives to those it admits; it is compared by value. A session has that of
 * the link which its peer opened it on; null is that of one who has none. Only over a TRUSTED link (a server's to its
 * worker) the peer says for each session what authority it has there. References of this same host are not asked
 * about. */
#ifndef CHORDAL_AUTHORITY_H
#define CHORDAL_AUTHORITY_H

#include "link.h"

/* ---- at the link ---- */

/* What a connecting link shows to the host that accepts it, in its next handshake and all later ones: any value of at
 * most 64 KiB. It travels in the first message, in no address. At any time, so that what expires is renewed before the
 * next transport. Errors: CLOSED, STATE (an accepting link), SIZE, the data errors, NOMEM. */
CHORDAL_API int chordal_link_credentials(chordal_host *host, chordal_id link, uint32_t format,
                                         const uint8_t *credentials, size_t credentials_len, chordal_error *error);

/* Let the peer of an AUTHENTICATE event in. `authority` (at most 16 KiB packed) is from now on that of its sessions.
 * Errors: CLOSED, STATE (it does not wait: answered, gone, or too late), SIZE, the data errors, NOMEM (it still
 * waits). */
CHORDAL_API int chordal_link_admit(chordal_host *host, chordal_id link, uint32_t format, const uint8_t *authority,
                                   size_t authority_len, chordal_error *error);

/* Turn the peer of an AUTHENTICATE event away: it is told REFUSED with the reason (some words, the peer's program sees
 * them; cut at 95 bytes) and does not come back. Errors: CLOSED, STATE, UTF8, SIZE. */
CHORDAL_API int chordal_link_refuse(chordal_host *host, chordal_id link, const char *reason, size_t reason_len,
                                    chordal_error *error);

/* ---- at objects ---- */

#define CHORDAL_GUARD_DENY 0        /* it fails with DENIED and nothing else */
#define CHORDAL_GUARD_ALLOW 1       /* a hold: values flow, and each call through it is asked about; a call: it runs */
#define CHORDAL_GUARD_ALLOW_CALLS 2 /* a hold, and all calls through it, without being asked about them */

/* Answer a GUARD event. Errors: CLOSED (nobody wants to know any more, or too late), INVALID (no such answer). */
CHORDAL_API int chordal_guard_answer(chordal_host *host, chordal_id guard, uint32_t answer, chordal_error *error);

/* The authority of the session that made a call which this host serves and did not answer yet, as a value; null for
 * one without, and for calls of this host itself. Errors: CLOSED, NOMEM. */
CHORDAL_API int chordal_call_authority(chordal_host *host, chordal_id call, CHORDAL_OWN chordal_value **out,
                                       chordal_error *error);

/* ---- taken back ---- */

/* End, now and before anything more is sent in them, all sessions with this authority, those that are lost too, whether
 * this host provides in them or passes them on. Their holders' references are REVOKED with `reason` (words for people,
 * at most 4096 bytes), what they called has an unknown outcome to them and is CANCELLED here. None of them comes back
 * (the newest 1024 are remembered), and links that were admitted with this authority open no others; what is to become
 * of peers that link anew is for the program to say. Errors: the data errors, UTF8, SIZE, NOMEM (nothing was done). */
CHORDAL_API int chordal_host_revoke(chordal_host *host, uint32_t format, const uint8_t *authority, size_t authority_len,
                                    const char *reason, size_t reason_len, chordal_error *error);

/* Take one object from all sessions with this authority: their references to it are REVOKED with `reason`, their calls
 * of it that did not start fail with REVOKED, the outcomes of others are withheld. Whoever holds it again is asked
 * about again if its type is guarded, else nothing keeps it off. Errors: CLOSED, as above. */
CHORDAL_API int chordal_object_revoke(chordal_host *host, chordal_id object, uint32_t format, const uint8_t *authority,
                                      size_t authority_len, const char *reason, size_t reason_len,
                                      chordal_error *error);

#endif
