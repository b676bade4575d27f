/* uv.h: the library chordal_uv. Drives a host on a libuv loop: WebSocket and HTTP through libwebsockets, IPC through
 * pipes.
 *
 * Thread rule: everything on the loop's thread, but chordal_uv_wake. */
#ifndef CHORDAL_UV_H
#define CHORDAL_UV_H

#include "link.h"
#include "record.h"

struct uv_loop_s;
typedef struct chordal_uv chordal_uv;

/* Called for each event record of the host but OUTPUT, in order, from the loop; output, dialling and deadlines are
 * handled by the adapter. Parts that a record names are the program's to give back (chordal_dispatcher_event does). */
typedef void (*chordal_uv_event)(void *context, chordal_host *host, const chordal_record *event);

/* Drive a host on a loop. The host is borrowed and must be closed after the adapter. */
CHORDAL_API int chordal_uv_open(struct uv_loop_s *loop, chordal_host *host, chordal_uv_event on_event, void *context,
                                CHORDAL_OWN chordal_uv **out, chordal_error *error);

/* Close all servers and links and forget the host. Runs the loop's close callbacks: keep running the loop until it
 * ends. NULL is allowed. */
CHORDAL_API void chordal_uv_close(CHORDAL_OWN chordal_uv *adapter);

/* Something was done to the host outside of an event: take a turn soon. Any thread. */
CHORDAL_API void chordal_uv_wake(chordal_uv *adapter);

typedef struct chordal_uv_server_options {
    uint32_t size;           /* sizeof(chordal_uv_server_options) */
    uint32_t link_flags;     /* CHORDAL_LINK_… for accepted links */
    const char *page_folder; /* files served to plain GET requests; NULL: none */
    const char *origins;     /* space-separated list of further origins that may connect; "*": any (off). NULL: only the
                                server's own */
} chordal_uv_server_options;

/* Listen at "ws://host:port" (port 0: any) or "ipc:/path" (for processes of the same user). `out_address` (may be NULL;
 * 64 bytes are enough for a ws address with a short name) gets the address that clients use. A server on a loopback
 * address takes pages of loopback origins for its own, but no other name that may lead to it. The first ws address
 * quiets libwebsockets' own log. Errors: INVALID, EXISTS (address in use), LIMIT, UNSUPPORTED, NOMEM. */
CHORDAL_API int chordal_uv_listen(chordal_uv *adapter, const char *address, const chordal_uv_server_options *options,
                                  char *out_address, size_t out_address_len, chordal_error *error);

/* Connect to "ws://host:port/path" or "ipc:/path", again and again until chordal_link_close or the adapter's end. The
 * link is the adapter's, who gives it back after its CLOSED event. `codec`: CHORDAL_CODEC_…; a pipe takes BINARY only.
 * Errors: INVALID, UNSUPPORTED, LIMIT, NOMEM. */
CHORDAL_API int chordal_uv_connect(chordal_uv *adapter, const char *address, uint32_t codec, uint32_t link_flags,
                                   chordal_id *out_link, chordal_error *error);

#endif
