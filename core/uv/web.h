/* web.h: WebSockets and HTTP through libwebsockets: what its files share. */
#ifndef CHORDAL_CORE_UV_WEB_H
#define CHORDAL_CORE_UV_WEB_H

#include "uv/uv.h"

#include <libwebsockets.h>

/* One connection of libwebsockets. It lives from before there is a wsi until the wsi is destroyed. */
typedef struct chordal__uv_socket {
    chordal__uv_transport transport;
    chordal__uv_server *server; /* accepted: counted; dialled: NULL */
    struct lws *wsi;
    bool open;              /* it speaks WebSocket */
    bool broken;            /* a frame could not be sent */
    int code;               /* why it closes; 0: it is cut */
    chordal__list farewell; /* web.farewells: no link any more, to be closed in the turn */
    uint32_t codec;

    uv_getaddrinfo_t resolve;
    bool resolving;

    uint8_t *message; /* of several fragments, not whole yet */
    size_t message_len, message_capacity;
} chordal__uv_socket;

struct chordal__uv_web {
    chordal_uv *adapter;
    struct lws_context *context;
    struct lws_vhost *vhost;
    uv_handle_t *idle, *timer; /* libwebsockets' own: it can be freed when they are gone */
    uv_idle_t destroyer;
    chordal__list farewells;
    uint8_t *frame; /* LWS_PRE bytes, then a frame on its way out */
    size_t frame_room;
};

chordal__uv_socket *chordal__uv_socket_new(chordal_uv *adapter, chordal__uv_server *server);
/* The wsi was made: only now does it know its socket, so that one that fails while it is made tells nobody. */
void chordal__uv_socket_bind(chordal__uv_socket *socket, struct lws *wsi);
void chordal__uv_socket_free(chordal__uv_socket *socket);
/* The transport is gone by itself, or was never there. */
void chordal__uv_socket_lost(chordal__uv_socket *socket);

/* What libwebsockets calls: its answer is 0 or, to close, not 0. */
int chordal__uv_web_upgrade(struct lws *wsi, chordal__uv_socket *socket, const char *protocol); /* web_server.c */
int chordal__uv_web_get(struct lws *wsi, chordal__uv_socket *socket, const char *path);
int chordal__uv_socket_write(chordal__uv_socket *socket); /* socket.c */
int chordal__uv_socket_read(chordal__uv_socket *socket, const uint8_t *data, size_t len);

#define CHORDAL__UV_PROTOCOL_BINARY "chordal.1.bin"
#define CHORDAL__UV_PROTOCOL_TEXT "chordal.1.json"

#endif
