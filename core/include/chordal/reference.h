/* reference.h: references to objects here or elsewhere, watches on them, calls through them. Thread rule: host.h. */
#ifndef CHORDAL_REFERENCE_H
#define CHORDAL_REFERENCE_H

#include "host.h"

#define CHORDAL_REFERENCE_PENDING 1  /* asked for */
#define CHORDAL_REFERENCE_LIVE 2     /* values are current */
#define CHORDAL_REFERENCE_DOWN 3     /* no link; the last values stay readable, calls are parked */
#define CHORDAL_REFERENCE_FAILED 4   /* refused or failed, chordal_reference_retry asks again; or its link is closed */
#define CHORDAL_REFERENCE_RETIRED 5  /* the object is no more */
#define CHORDAL_REFERENCE_REVOKED 6  /* the right to hold it was taken away */
#define CHORDAL_REFERENCE_RELEASED 7 /* given back */

#define CHORDAL_REFERENCE_KEPT                                                                                         \
    1 /* the program keeps the values: the core keeps none, and the reference is its own watch on all                  \
       * members (FRAME events name it as `watch`); members are then patched by ops alone */
#define CHORDAL_REFERENCE_MANUAL 2 /* with KEPT: as CHORDAL_WATCH_MANUAL, for the reference as a whole */

/* A reference to the object (type, params). `link` 0: the object is provided here if the type is, else asked for over
 * the first link that this host connected. `version` 0: any. Always succeeds at once; what comes of it is told by
 * REFERENCE events. Release with chordal_release. Errors: CLOSED (link), the data errors of params, NO_TYPE (nowhere to
 * ask), LIMIT. */
CHORDAL_API int chordal_reference_get(chordal_host *host, chordal_id link, const char *type, size_t type_len,
                                      uint32_t version, uint32_t flags, uint32_t format, const uint8_t *params,
                                      size_t params_len, chordal_id *out_reference, chordal_error *error);

/* The state, CHORDAL_REFERENCE_…; RELEASED for an id that is not a reference (any more). */
CHORDAL_API int32_t chordal_reference_state(chordal_host *host, chordal_id reference);

/* Ask again for a failed reference. Errors: CLOSED, STATE. */
CHORDAL_API int chordal_reference_retry(chordal_host *host, chordal_id reference, chordal_error *error);

/* The number of a member by name, once the reference has been live. Errors: CLOSED, STATE, NO_MEMBER. */
CHORDAL_API int chordal_reference_member(chordal_host *host, chordal_id reference, const char *name, size_t name_len,
                                         uint32_t *out_member, chordal_error *error);

/* The last value of a document or derive. Errors: CLOSED, STATE (never live, or KEPT by the program), NO_MEMBER. */
CHORDAL_API int chordal_reference_value(chordal_host *host, chordal_id reference, uint32_t member,
                                        CHORDAL_OWN chordal_value **out, chordal_error *error);

#define CHORDAL_WATCH_MANUAL 1 /* after each frame the next one waits, folding, until chordal_watch_take */
#define CHORDAL_WATCH_EARLY 2  /* of an own object: frames come at the commit, before derives settle */

#define CHORDAL_ALL_MEMBERS UINT32_C(0xffffffff) /* in place of a member: every document and derive, or the object */

/* Follow a member of a reference, or of an own object (`source`): a first frame with the whole value as soon as
 * there is one, then one frame for each batch that changes it; what is not polled or taken yet is folded into one.
 * `member` CHORDAL_ALL_MEMBERS: all documents and derives, a frame for each. Release with chordal_release.
 * Errors: CLOSED, NO_MEMBER, STATE (a named member of a reference that was never live), INVALID. */
CHORDAL_API int chordal_watch_open(chordal_host *host, chordal_id source, uint32_t member, uint32_t flags,
                                   chordal_id *out_watch, chordal_error *error);

/* The frames of a MANUAL watch or reference were taken: the next may come, and the provider may be told. Errors:
 * CLOSED. */
CHORDAL_API int chordal_watch_take(chordal_host *host, chordal_id watch, chordal_error *error);

/* The copy that the program keeps from the ops of a watch or KEPT reference did not take an op: frames with whole
 * values follow. Errors: CLOSED. */
CHORDAL_API int chordal_watch_reset(chordal_host *host, chordal_id watch, chordal_error *error);

/* Call a method. `arguments` is an array in `format`; in PACKED form an element may be bytes (MessagePack bin), which
 * travel raw. `timeout` in ms from now, 0 or from CHORDAL_NEVER on: none; a call whose deadline passes before it was
 * sent is never sent. The outcome is a RESULT event. A call on a reference that is pending or down is parked and leaves
 * in order once it is live. Errors (nothing was sent): CLOSED, NO_MEMBER (known already), the data errors, RETIRED,
 * REVOKED, LIMIT. */
CHORDAL_API int chordal_call_start(chordal_host *host, chordal_id reference, const char *method, size_t method_len,
                                   uint32_t format, const uint8_t *arguments, size_t arguments_len,
                                   chordal_time timeout, chordal_id *out_call, chordal_error *error);

/* Stop waiting for a call: its RESULT is CANCELLED (never sent) or comes with the provider's outcome if that was on its
 * way; the provider's method is told. Errors: CLOSED. */
CHORDAL_API int chordal_call_cancel(chordal_host *host, chordal_id call, chordal_error *error);

#endif
