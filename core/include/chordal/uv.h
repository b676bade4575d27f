/* uv.h: the library chordal_uv. Drives a host on a libuv loop: WebSocket and HTTP through libwebsockets, IPC through
 * pipes, worker processes.
 *
 * Thread rule: everything on the loop's thread, but chordal_uv_wake. */
#ifndef CHORDAL_UV_H
#define CHORDAL_UV_H

#include "link.h"
#include "placement.h"
#include "record.h"

struct uv_loop_s;
typedef struct chordal_uv chordal_uv;

/* Called for each event record of the host but OUTPUT, in order, from the loop; output, dialling and deadlines are
 * handled by the adapter. Parts that a record names are the program's to give back (chordal_dispatcher_event does). */
typedef void (*chordal_uv_event)(void *context, chordal_host *host, const chordal_record *event);

/* Drive a host on a loop. The host is borrowed and must be closed after the adapter. SIGPIPE is ignored from then on,
 * unless the program has a handler for it. */
CHORDAL_API int chordal_uv_open(struct uv_loop_s *loop, chordal_host *host, chordal_uv_event on_event, void *context,
                                CHORDAL_OWN chordal_uv **out, chordal_error *error);

/* Say bye on all links (chordal_host_leave), as far as it can be sent at once, close them and all servers and forget
 * the host. Runs the loop's close callbacks: keep running the loop until it ends. NULL is allowed. */
CHORDAL_API void chordal_uv_close(CHORDAL_OWN chordal_uv *adapter);

/* Something was done to the host outside of an event: take a turn soon. Any thread. */
CHORDAL_API void chordal_uv_wake(chordal_uv *adapter);

typedef struct chordal_uv_server_options {
    uint32_t size;           /* sizeof(chordal_uv_server_options) */
    uint32_t link_flags;     /* CHORDAL_LINK_… for accepted links; DEFLATE comes by itself, but on loopback */
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

/* ---- worker processes ----
 *
 * A worker is a process that this one starts and that is linked with it by a socket that it inherits: a link like any
 * other, dialled by starting the process. When the process fails, the link is down until the next one is there. What it
 * knew is gone with it (CHORDAL_LINK_WORKER): who holds its objects asks for them again at once, and has them as soon
 * as the next one is ready. Answer RESOLVE events (placement.h) with it, or let its host's offers be routed to. */

typedef struct chordal_uv_worker chordal_uv_worker;

#define CHORDAL_UV_WORKER_STARTED 1 /* a process runs; its link is not up yet */
#define CHORDAL_UV_WORKER_READY 2   /* its link is up and the types that were named are offered */
#define CHORDAL_UV_WORKER_EXITED 3  /* its process is gone */
#define CHORDAL_UV_WORKER_ENDED 4   /* for good: its link is closed, and the handle names nothing after this call */

typedef struct chordal_uv_worker_report {
    uint32_t size;  /* sizeof(chordal_uv_worker_report) */
    uint32_t state; /* CHORDAL_UV_WORKER_… */
    int64_t status; /* EXITED: what it exited with, or below zero an error of the system that kept it from starting */
    int32_t signal; /* EXITED: the signal that ended it, or 0 */
    int32_t code;   /* EXITED: TIMEOUT when it was ended for missing its start deadline. ENDED: 0 when it was stopped or
                     * said bye and exited with 0, LIMIT after too many restarts, INVALID when it cannot be started,
                     * else why the link was closed */
} chordal_uv_worker_report;

typedef struct chordal_uv_worker_options {
    uint32_t size;                  /* sizeof(chordal_uv_worker_options) */
    uint32_t link_flags;            /* further CHORDAL_LINK_… of the link; CONNECT and ROUTE_OFFERS it has always */
    const char *const *arguments;   /* the program, found as the shell does, and its arguments; NULL ends them */
    const char *const *environment; /* "NAME=value" …, NULL ends them; NULL: as this process. CHORDAL_PARENT is added */
    const char *folder;             /* where it runs; NULL: where this process does */
    const char *types;              /* separated by spaces: it is ready when its host offers them; NULL: once linked */
    void (*told)(void *context, chordal_uv_worker *worker, const chordal_uv_worker_report *report); /* or NULL */
    void *context;
    chordal_time start_timeout; /* from start to READY, else it is ended and counts as failed; default 30000 ms */
    chordal_time drain_timeout; /* when it is stopped: for calls that this host made over its link; default 5000 ms */
    chordal_time stop_timeout;  /* from the bye to SIGTERM; default 5000 ms */
    chordal_time kill_timeout;  /* from SIGTERM to SIGKILL; default 5000 ms */
    chordal_time backoff_first; /* the wait after a second failure in a row, doubled each time; default 250 ms */
    chordal_time backoff_limit; /* default 15000 ms */
    chordal_time steady;        /* READY for so long, earlier failures are forgotten; default 10000 ms */
    uint32_t restarts;          /* failures in a row after which it is started again; default 8 */
    uint32_t flags;             /* CHORDAL_UV_WORKER_ONCE: it is never started again */
} chordal_uv_worker_options;
#define CHORDAL_UV_WORKER_ONCE 1

/* Start a worker, from the loop's next turn on. Its standard input is empty, its outputs are this process's. One that
 * says bye (chordal_uv_close) and exits with status 0 has ended. All others have failed and are started again: also one
 * that exits with 0 without a bye, since it may only have lost this host, as by a late ping. `out_link` is the
 * adapter's to give back. Errors: INVALID, LIMIT, NOMEM. */
CHORDAL_API int chordal_uv_worker_start(chordal_uv *adapter, const chordal_uv_worker_options *options,
                                        chordal_id *out_link, chordal_uv_worker **out_worker, chordal_error *error);

/* Stop a worker: its link is drained (chordal_link_drain), what waits is sent, then bye; a process that does not exit
 * by itself gets SIGTERM after stop_timeout and SIGKILL after kill_timeout. ENDED is told when it is gone. When the
 * adapter is closed, workers get SIGTERM at once, and nothing is told any more. */
CHORDAL_API void chordal_uv_worker_stop(chordal_uv_worker *worker);

/* The number of its process; 0 when none runs. */
CHORDAL_API int64_t chordal_uv_worker_process(const chordal_uv_worker *worker);

/* In a worker: the link with the host that started this process, once; types of this host are offered over it. Provide
 * them first. What the parent says of the authority of its sessions is believed (CHORDAL_LINK_TRUSTED). It closes for
 * good when the parent is gone or says bye: exit then. Errors: STATE (no host started this process, or the link was
 * taken), INVALID, LIMIT, NOMEM. */
CHORDAL_API int chordal_uv_parent(chordal_uv *adapter, uint32_t link_flags, chordal_id *out_link, chordal_error *error);

#endif
