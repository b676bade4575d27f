/* link.h: ordered streams of messages between hosts, without any transport. Thread rule: host.h.
 *
 * The edge owns the socket. It opens a link, tells when the transport is up, feeds whole transport frames, pulls frames
 * to send, and tells when the transport is gone. A connecting link outlives its transports: a LINK event with state
 * DIAL asks for each new one. */
#ifndef CHORDAL_LINK_H
#define CHORDAL_LINK_H

#include "host.h"

#define CHORDAL_LINK_DIAL 1    /* a transport is wanted now, within `dial_timeout` (connecting links only) */
#define CHORDAL_LINK_OPENING 2 /* the transport is up, hands are being shaken */
#define CHORDAL_LINK_UP 3
#define CHORDAL_LINK_WAIT 4   /* the transport is gone, or did not come: drop it; DIAL follows after a while */
#define CHORDAL_LINK_CLOSED 5 /* for good; the edge closes its transport when no output is left */

#define CHORDAL_CODEC_BINARY 1 /* WebSocket subprotocol "chordal.1.bin", binary frames */
#define CHORDAL_CODEC_TEXT 2   /* WebSocket subprotocol "chordal.1.json", text frames, binary frames for bytes */

#define CHORDAL_FRAME_BINARY 1
#define CHORDAL_FRAME_TEXT 2

#define CHORDAL_LINK_CONNECT 1 /* this side asks; else it accepts */
#define CHORDAL_LINK_ROUTE_OFFERS                                                                                      \
    2                           /* objects of the types that the peer offers are reached through it by other peers */
#define CHORDAL_LINK_OFFER 4    /* offer the types that this host provides to the peer, to route to */
#define CHORDAL_LINK_NO_SERVE 8 /* admit no sessions of the peer: it may only provide */
#define CHORDAL_LINK_AUTHENTICATE                                                                                      \
    16 /* accepting: AUTHENTICATE asks the program about each peer before anything else is taken from it */
#define CHORDAL_LINK_TRUSTED 32  /* what the peer says about the authority of its sessions is believed */
#define CHORDAL_LINK_DEFLATE 64  /* its way is slower than deflating: large parts may come, and go, deflated */
#define CHORDAL_LINK_PATIENT 128 /* connecting: its transport has a deadline of its own, not `dial_timeout` */
#define CHORDAL_LINK_WORKER                                                                                            \
    256 /* connecting: each transport leads to a process of its own, which is gone for good when that is: what passed  \
         * through to it ends then, so that its holders ask for it again at once */

/* Open a link that has no transport yet. Release its id with chordal_release, which cuts it if it is still open.
 * Errors: INVALID (also AUTHENTICATE on a connecting link, and that and TRUSTED in a build for tabs), LIMIT,
 * NOMEM. */
CHORDAL_API int chordal_link_open(chordal_host *host, uint32_t flags, chordal_id *out_link, chordal_error *error);

/* The transport is there, with the codec agreed on. Errors: CLOSED, STATE, INVALID. */
CHORDAL_API int chordal_link_up(chordal_host *host, chordal_id link, uint32_t codec, chordal_time now,
                                chordal_error *error);

/* One whole transport frame arrived. `frame`: CHORDAL_FRAME_…. A peer's fault ends the link with a bye of the answered
 * code, told by a LINK event as well; the host and its other links go on. Errors: CLOSED, STATE, MALFORMED, ORDER,
 * TOO_LARGE, VERSION and the data errors with their position in the frame; NOMEM (the transport is then cut, a
 * connecting link dials again). */
CHORDAL_API int chordal_link_feed(chordal_host *host, chordal_id link, uint32_t frame, const uint8_t *data,
                                  size_t data_len, chordal_time now, chordal_error *error);

/* A piece of a transport frame arrived that is not whole yet: the peer is there, however long the frame takes. An edge
 * that reads in pieces says so of each, or of one in a while that is short beside `ping_interval`. One that stays out
 * is silence as any other. Late calls for a link without a transport are ignored. Errors: CLOSED. */
CHORDAL_API int chordal_link_progress(chordal_host *host, chordal_id link, chordal_time now, chordal_error *error);

/* The bytes of the largest frame that a link of this host takes: an edge that has gathered more feeds that, to have it
 * refused with TOO_LARGE, and gathers no further. */
CHORDAL_API uint64_t chordal_link_limit(chordal_host *host);

/* The transport is gone. A connecting link goes on with WAIT, others close. Late calls for a link that has none are
 * ignored. Errors: CLOSED. */
CHORDAL_API int chordal_link_down(chordal_host *host, chordal_id link, chordal_time now, chordal_error *error);

typedef struct chordal_piece {
    const uint8_t *data;
    size_t len;
} chordal_piece;

/* The next transport frame to send, as pieces in order, borrowed until chordal_link_sent. `out_count` 0: nothing to
 * send now. ROOM with the number of pieces needed. A body that many links send is the same memory for all. */
CHORDAL_API int chordal_link_output(chordal_host *host, chordal_id link, chordal_piece *pieces, size_t pieces_len,
                                    size_t *out_count, uint32_t *out_frame, chordal_error *error);

/* The frame that chordal_link_output showed was taken by the transport. */
CHORDAL_API int chordal_link_sent(chordal_host *host, chordal_id link, chordal_error *error);

/* output and sent in one step, for edges that cannot send pieces: copies the frame into `buffer`. `out_len` 0 and
 * `out_frame` 0: nothing to send now. ROOM with the size needed. */
CHORDAL_API int chordal_link_take(chordal_host *host, chordal_id link, uint8_t *buffer, size_t buffer_len,
                                  size_t *out_len, uint32_t *out_frame, chordal_error *error);

/* Dial again now instead of waiting. Errors: CLOSED; no error when there is nothing to do. */
CHORDAL_API int chordal_link_retry(chordal_host *host, chordal_id link, chordal_time now, chordal_error *error);

/* Say bye with BYE and close: the sessions over it end, those too that it carries on behind this host (but see
 * chordal_host_leave). The LINK event CLOSED follows; pull output until none is left, then close the transport.
 * Errors: CLOSED. */
CHORDAL_API int chordal_link_close(chordal_host *host, chordal_id link, chordal_error *error);

/* Close when what runs over the link is done, or after `span` ms at the latest (CHORDAL_NEVER: no latest). Until then
 * state goes on, but no call is sent over it or started for the peer: such a call was not run and fails with REFUSED
 * at its caller. Calls that run are answered and their outcomes acknowledged. The rest is as with chordal_link_close.
 * Asked again, the later span counts. Errors: CLOSED. */
CHORDAL_API int chordal_link_drain(chordal_host *host, chordal_id link, chordal_time span, chordal_time now,
                                   chordal_error *error);

/* Close or drain all links, as a host that ends: its own sessions end with them, but those that only pass through it
 * are lost, and come back through it when it is there again, or another way. What passes through is not waited for.
 * `span` and `now` as with chordal_link_drain; 0: close at once. Links that are opened later do as they always do. */
CHORDAL_API int chordal_host_leave(chordal_host *host, chordal_time span, chordal_time now, chordal_error *error);

/* The memory link: carry all waiting frames both ways between two open links of two hosts that this thread uses,
 * without copies, until neither has any. Tells LINK events as other transports do. `out_frames` may be NULL. */
CHORDAL_API int chordal_link_carry(chordal_host *a, chordal_id link_a, chordal_host *b, chordal_id link_b,
                                   chordal_time now, size_t *out_frames, chordal_error *error);

#endif
