/* socket.c: a WebSocket as a transport. */
#include "uv/web.h"

#define WRITES 16            /* frames sent in one go before others get their chance */
#define KEPT_ROOM (1u << 20) /* a larger frame's buffer is given back */

static bool has_frame(const chordal__uv_link *link) {
    size_t pieces = 0;
    uint32_t frame;
    (void)chordal_link_output(link->adapter->host, link->id, NULL, 0, &pieces, &frame, NULL);
    return pieces != 0;
}

/* From the turn, so that what can be written at once need not wait for libwebsockets' word: that takes two more system
 * calls and a round of the loop. */
static void socket_pull(chordal__uv_transport *transport) {
    chordal__uv_socket *socket = (chordal__uv_socket *)transport;
    if (!socket->open || !socket->wsi || !has_frame(transport->link))
        chordal__uv_link_drained(transport->link);
    else if (lws_send_pipe_choked(socket->wsi) || chordal__uv_socket_write(socket) < 0)
        lws_callback_on_writable(socket->wsi);
}

static void socket_close(chordal__uv_transport *transport, int code) {
    chordal__uv_socket *socket = (chordal__uv_socket *)transport;
    chordal__uv_web *web = transport->adapter->web;
    socket->code = code;
    if (socket->resolving) uv_cancel((uv_req_t *)&socket->resolve);
    if (socket->wsi && web) chordal__list_append(&web->farewells, &socket->farewell);
}

static void socket_last(chordal__uv_transport *transport);

static const chordal__uv_transport_functions socket_functions = {socket_pull, socket_last, socket_close};

chordal__uv_socket *chordal__uv_socket_new(chordal_uv *adapter, chordal__uv_server *server) {
    chordal__uv_socket *socket = calloc(1, sizeof *socket);
    if (!socket) return NULL;
    socket->transport.functions = &socket_functions;
    socket->transport.adapter = adapter;
    chordal__list_init(&socket->farewell);
    socket->server = server;
    if (server) server->references++;
    chordal__uv_hold(adapter);
    return socket;
}

void chordal__uv_socket_bind(chordal__uv_socket *socket, struct lws *wsi) {
    socket->wsi = wsi;
    lws_set_opaque_user_data(wsi, socket);
}

void chordal__uv_socket_lost(chordal__uv_socket *socket) {
    socket->open = false;
    if (socket->transport.link) chordal__uv_link_lost(socket->transport.link);
}

void chordal__uv_socket_free(chordal__uv_socket *socket) {
    chordal_uv *adapter = socket->transport.adapter;
    chordal__uv_socket_lost(socket);
    chordal__list_remove(&socket->farewell);
    if (socket->server) chordal__uv_server_unref(socket->server);
    free(socket->message);
    free(socket);
    chordal__uv_drop(adapter);
}

/* ---- closing ---- */

/* The close frame's status for a code of the core. */
static enum lws_close_status status_of(int code) {
    switch (code) {
    case CHORDAL_E_BYE:
    case CHORDAL_E_CLOSED:
        return LWS_CLOSE_STATUS_NORMAL;
    case CHORDAL_E_TOO_LARGE:
        return LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE;
    case CHORDAL_E_LOST:
    case CHORDAL_E_TIMEOUT:
        return LWS_CLOSE_STATUS_GOINGAWAY;
    default:
        return LWS_CLOSE_STATUS_PROTOCOL_ERR;
    }
}

/* From the turn only: inside of its callbacks, on a libuv loop, libwebsockets 4.1 cuts what should be closed. With a
 * reason it sends a close frame, and waits five seconds for the peer's. */
static void say_farewell(chordal__uv_socket *socket) {
    if (socket->open && socket->code) {
        const char *name = chordal_error_name(socket->code);
        lws_close_reason(socket->wsi, status_of(socket->code), (unsigned char *)(uintptr_t)name, strlen(name));
    }
    lws_set_timeout(socket->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

void chordal__uv_web_turn(chordal_uv *adapter) {
    chordal__uv_web *web = adapter->web;
    while (web && !chordal__list_empty(&web->farewells)) {
        chordal__uv_socket *socket = CHORDAL__ENTRY(web->farewells.next, chordal__uv_socket, farewell);
        chordal__list_remove(&socket->farewell);
        say_farewell(socket);
    }
}

/* ---- output ---- */

static bool grow_frame(chordal__uv_web *web, size_t len) {
    uint8_t *grown = realloc(web->frame, LWS_PRE + len);
    if (!grown) return false;
    web->frame = grown;
    web->frame_room = len;
    return true;
}

/* Take the next frame into the padded buffer; libwebsockets needs room in front and masks in place, so this copy cannot
 * be spared. Its length, or -1. */
static ptrdiff_t take_frame(chordal__uv_link *link, chordal__uv_web *web, uint32_t *out_frame) {
    size_t len = 0;
    int code;
    if (!web->frame && !grow_frame(web, 4096)) return -1;
    while ((code = chordal_link_take(link->adapter->host, link->id, web->frame + LWS_PRE, web->frame_room, &len,
                                     out_frame, NULL)) == CHORDAL_E_ROOM)
        if (!grow_frame(web, len)) return -1;
    return code ? -1 : (ptrdiff_t)len;
}

static bool send_frame(chordal__uv_socket *socket, chordal__uv_web *web, size_t len, uint32_t frame) {
    enum lws_write_protocol kind = frame == CHORDAL_FRAME_TEXT ? LWS_WRITE_TEXT : LWS_WRITE_BINARY;
    bool sent = lws_write(socket->wsi, web->frame + LWS_PRE, len, kind) >= (int)len;
    if (web->frame_room > KEPT_ROOM) {
        free(web->frame);
        web->frame = NULL, web->frame_room = 0;
    }
    return sent;
}

/* What it answers goes for good: a frame that was not sent is lost, and with it the connection. */
static int break_off(chordal__uv_socket *socket) {
    socket->broken = true;
    return -1;
}

int chordal__uv_socket_write(chordal__uv_socket *socket) {
    if (socket->broken) return -1;
    for (int writes = 0; writes < WRITES; writes++) {
        chordal__uv_link *link = socket->transport.link;
        chordal__uv_web *web = socket->transport.adapter->web;
        uint32_t frame = 0;
        if (!link || !web) return 0; /* closing */
        ptrdiff_t len = take_frame(link, web, &frame);
        if (len < 0) return break_off(socket);
        if (frame && !send_frame(socket, web, (size_t)len, frame)) return break_off(socket);
        if (!frame || !has_frame(link)) {
            chordal__uv_link_drained(link);
            return 0;
        }
        if (lws_send_pipe_choked(socket->wsi)) break;
    }
    lws_callback_on_writable(socket->wsi);
    return 0;
}

static void socket_last(chordal__uv_transport *transport) {
    chordal__uv_socket *socket = (chordal__uv_socket *)transport;
    chordal__uv_web *web = transport->adapter->web;
    uint32_t frame = 0;
    while (socket->open && socket->wsi && web && !lws_send_pipe_choked(socket->wsi)) {
        ptrdiff_t len = take_frame(transport->link, web, &frame);
        if (len < 0 || frame == 0 || !send_frame(socket, web, (size_t)len, frame)) return;
    }
}

/* ---- input ---- */

static bool keep(chordal__uv_socket *socket, const uint8_t *data, size_t len) {
    uint64_t limit = socket->transport.adapter->frame_limit + 1; /* enough for the core to refuse it */
    size_t left = (size_t)(limit - socket->message_len), need;
    if (len > left) len = left;
    need = socket->message_len + len;
    if (need > socket->message_capacity) {
        size_t capacity = socket->message_capacity * 2 > need ? socket->message_capacity * 2 : need;
        uint8_t *grown = realloc(socket->message, capacity);
        if (!grown) return false;
        socket->message = grown, socket->message_capacity = capacity;
    }
    if (len) memcpy(socket->message + socket->message_len, data, len);
    socket->message_len = need;
    return true;
}

static int feed(chordal__uv_socket *socket, const uint8_t *data, size_t len) {
    uint32_t frame = lws_frame_is_binary(socket->wsi) ? CHORDAL_FRAME_BINARY : CHORDAL_FRAME_TEXT;
    return chordal__uv_link_feed(socket->transport.link, frame, data, len) ? 0 : -1;
}

int chordal__uv_socket_read(chordal__uv_socket *socket, const uint8_t *data, size_t len) {
    bool final = lws_is_final_fragment(socket->wsi) != 0;
    if (!socket->transport.link) return 0; /* closing: what still comes is for nobody */
    if (final && socket->message_len == 0) return feed(socket, data, len);
    if (!keep(socket, data, len)) return -1;
    bool over = socket->message_len > socket->transport.adapter->frame_limit;
    if (!final && !over) {
        chordal__uv_link_progress(socket->transport.link);
        return 0;
    }
    int answer = feed(socket, socket->message, socket->message_len);
    socket->message_len = 0;
    if (socket->message_capacity > KEPT_ROOM) {
        free(socket->message);
        socket->message = NULL, socket->message_capacity = 0;
    }
    return answer;
}
