/* uv.h: drives a host on a libuv loop. Built on the public functions of the core alone, so that it can be linked to a
 * shared core as well; only the list of base.h, which is all inline, is borrowed.
 *
 * A *link* here is the edge's side of a core link; a *transport* is what carries it at the moment: a WebSocket or a
 * pipe. Either may outlive the other: they are tied and untied by chordal__uv_tie and _untie. All events are handed out
 * in the turn, which runs just before the loop waits, never inside of a transport's callback. */
#ifndef CHORDAL_CORE_UV_H
#define CHORDAL_CORE_UV_H

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "base/base.h"
#include "chordal/uv.h"

#define CHORDAL__UV_CLOSE_LIMIT 5000 /* ms in which a closing link must get rid of its output */

typedef struct chordal__uv_link chordal__uv_link;
typedef struct chordal__uv_transport chordal__uv_transport;
typedef struct chordal__uv_server chordal__uv_server;
typedef struct chordal__uv_web chordal__uv_web;

#define CHORDAL__UV_PARENT "CHORDAL_PARENT" /* names the descriptor that a worker inherits */
#define CHORDAL__UV_PARENT_SOCKET 3         /* its number in workers that are started here */

/* ---- address.c ---- */
#define CHORDAL__UV_IPC_PATH 108 /* what the system takes, NUL included */
typedef struct chordal__uv_address {
    bool is_ipc;
    uint16_t port;
    char host[256];  /* ws: a name or number, without brackets */
    char path[1024]; /* ws: "/…"; ipc: the file */
} chordal__uv_address;
int chordal__uv_address_read(const char *text, chordal__uv_address *out, chordal_error *error);
/* Whether the way there is longer than within the machine: large parts go deflated. */
bool chordal__uv_address_far(const chordal__uv_address *address);
/* "ws://host:port", with brackets where they belong. INVALID when it does not fit. */
int chordal__uv_address_write(const char *host, uint16_t port, char *out, size_t out_len, chordal_error *error);
/* The code for an error of libuv or of the system. */
int chordal__uv_fail(chordal_error *error, int status, const char *what);

/* ---- origin.c ---- */
/* Whether a browser page of `origin` may connect to a server that it reached as `host` (header Host). `allowed`:
 * further origins; "*": any. A server on a loopback address is only reached by loopback names, so that no stranger's
 * name that was pointed at it passes as its own. */
bool chordal__uv_origin_allowed(const char *origin, const char *host, bool loopback, const char *allowed);
bool chordal__uv_loopback_name(const char *name, size_t len);

/* ---- page.c ---- */
/* The file that a request's path means, inside of the folder `root` (absolute, resolved), and its content type. NULL:
 * there is none that may be served. */
const char *chordal__uv_page_find(const char *root, const char *path, char *out, size_t out_len);

/* ---- transport ---- */
typedef struct chordal__uv_transport_functions {
    void (*pull)(chordal__uv_transport *transport); /* the link has output: send it as it can be taken */
    void (*last)(chordal__uv_transport *transport); /* the same, at once: what cannot be taken now is lost */
    /* No link any more. `code` 0: cut, else close politely, telling why. It frees itself. */
    void (*close)(chordal__uv_transport *transport, int code);
} chordal__uv_transport_functions;
struct chordal__uv_transport {
    const chordal__uv_transport_functions *functions;
    chordal_uv *adapter;
    chordal__uv_link *link; /* NULL: untied */
};

/* ---- link.c ---- */
struct chordal__uv_link {
    chordal__list node;     /* adapter.links */
    chordal__list draining; /* adapter.draining */
    chordal_uv *adapter;
    chordal_id id;
    chordal__uv_transport *transport;
    chordal__uv_address *address; /* of a link that connects to one; else NULL */
    chordal_uv_worker *worker;    /* of a link to a worker; else NULL */
    uint32_t codec, attempts;
    bool told_closed, up, dials;
    int code;              /* why it closes */
    chordal_time close_by; /* while draining */
};
chordal__uv_link *chordal__uv_link_new(chordal_uv *adapter, uint32_t flags, chordal_error *error);
void chordal__uv_tie(chordal__uv_link *link, chordal__uv_transport *transport);
/* A peer connected: a link for it, tied and up. NULL: refused. */
chordal__uv_link *chordal__uv_link_accept(chordal__uv_transport *transport, uint32_t flags, uint32_t codec);
/* The transport that was dialled is there. */
void chordal__uv_link_up(chordal__uv_link *link);
/* A frame arrived; false: the link is no more, cut the transport. */
bool chordal__uv_link_feed(chordal__uv_link *link, uint32_t frame, const uint8_t *data, size_t len);
/* A piece of one arrived. */
void chordal__uv_link_progress(chordal__uv_link *link);
/* The transport is gone, or could not be dialled: unties it and tells the core. */
void chordal__uv_link_lost(chordal__uv_link *link);
/* Nothing is left to send: close the transport if that was waited for. */
void chordal__uv_link_drained(chordal__uv_link *link);
void chordal__uv_link_event(chordal_uv *adapter, const chordal_event_LINK *event);
void chordal__uv_link_output(chordal_uv *adapter, chordal_id id);
void chordal__uv_links_expire(chordal_uv *adapter, chordal_time now);
void chordal__uv_links_close(chordal_uv *adapter);

/* ---- adapter.c ---- */
struct chordal_uv {
    uv_loop_t *loop;
    chordal_host *host; /* NULL: closed */
    chordal_uv_event on_event;
    void *context;
    uv_prepare_t turn;
    uv_timer_t timer;
    chordal_time timer_at; /* when it goes off, by the clock of the turn */
    uv_async_t wake;
    uint32_t handles; /* things that are still to be closed: the last one frees the adapter */
    uint8_t *events;
    size_t events_len;
    uint64_t frame_limit;
    chordal__list links, draining, servers, workers;
    chordal__uv_link **table; /* by id: see link.c */
    size_t table_len, links_count;
    chordal__uv_web *web; /* made with the first WebSocket address */
};
static inline chordal_time chordal__uv_now(const chordal_uv *adapter) {
    return uv_now(adapter->loop);
}
void chordal__uv_hold(chordal_uv *adapter); /* one more thing to be closed */
void chordal__uv_drop(chordal_uv *adapter);

/* ---- server.c ---- */
typedef struct chordal__uv_server_functions {
    void (*close)(chordal__uv_server *server);
} chordal__uv_server_functions;
struct chordal__uv_server {
    chordal__list node; /* adapter.servers */
    const chordal__uv_server_functions *functions;
    chordal_uv *adapter;
    void *own; /* of the functions */
    uint32_t link_flags;
    uint32_t references; /* itself and its connections: they read its options */
    char *page_folder;   /* resolved, or NULL */
    char *origins;       /* or NULL */
    bool loopback;
};
void chordal__uv_server_unref(chordal__uv_server *server);

/* ---- ipc.c, ipc_server.c ---- */
int chordal__uv_ipc_dial(chordal__uv_link *link);
int chordal__uv_ipc_accept(uv_stream_t *listener, chordal__uv_server *server);
int chordal__uv_ipc_listen(chordal__uv_server *server, const chordal__uv_address *address, chordal_error *error);

/* A pipe to a process that is still to be started, tied to the link; `out_stream` goes to uv_spawn. The link is up when
 * the process says that it is there, by an empty message. NOMEM. */
int chordal__uv_ipc_spawned(chordal__uv_link *link, uv_stream_t **out_stream);
bool chordal__uv_ipc_read(chordal__uv_link *link); /* it was started */
/* The other end of such a pipe, inherited. */
int chordal__uv_ipc_inherited(chordal_uv *adapter, int socket, uint32_t flags, chordal_id *out_link,
                              chordal_error *error);

/* ---- worker_plan.c: what a worker is started with, in memory of its own ---- */
typedef struct chordal__uv_plan {
    chordal_uv_worker_options options; /* with defaults; its texts are not used */
    char **arguments, **environment;   /* NULL at the end */
    char *folder, *types;              /* or NULL */
} chordal__uv_plan;
int chordal__uv_plan_read(const chordal_uv_worker_options *given, chordal__uv_plan *out,
                          chordal_error *error); /* INVALID, NOMEM: nothing is left */
void chordal__uv_plan_free(chordal__uv_plan *plan);

/* ---- worker.c: processes that carry a link ---- */
void chordal__uv_worker_dial(chordal_uv_worker *worker);             /* its link wants a transport */
void chordal__uv_worker_lost(chordal_uv_worker *worker);             /* its transport is gone */
void chordal__uv_worker_down(chordal_uv_worker *worker, int code);   /* its link told so; BYE: the process left */
void chordal__uv_worker_closed(chordal_uv_worker *worker, int code); /* its link is gone */
void chordal__uv_workers_turn(chordal_uv *adapter);                  /* tell what became of them */
void chordal__uv_workers_close(chordal_uv *adapter);

/* ---- web.c, web_server.c, web_client.c: through libwebsockets ---- */
int chordal__uv_web_open(chordal_uv *adapter, chordal_error *error); /* fine when it is open */
void chordal__uv_web_close(chordal_uv *adapter);
void chordal__uv_web_turn(chordal_uv *adapter); /* close what is to be closed */
int chordal__uv_web_dial(chordal__uv_link *link);
int chordal__uv_web_accept(chordal__uv_server *server, int socket); /* takes the socket */
int chordal__uv_web_listen(chordal__uv_server *server, const chordal__uv_address *address, char *out_address,
                           size_t out_address_len, chordal_error *error);

#endif
