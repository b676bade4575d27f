/* web.c: libwebsockets on the adapter's loop: one context, made when first needed, and who is told what. */
#include "uv/web.h"

#define HANDSHAKE_SECONDS 10 /* for a request's headers, and for an answer to ours */
#define IO_BUFFER 65536

static int established(chordal__uv_socket *socket, const struct lws_protocols *protocol) {
    socket->open = true;
    socket->codec = strcmp(protocol->name, CHORDAL__UV_PROTOCOL_TEXT) == 0 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY;
    if (!socket->server) {
        if (!socket->transport.link) return -1;
        chordal__uv_link_up(socket->transport.link);
        return 0;
    }
    return chordal__uv_link_accept(&socket->transport, socket->server->link_flags, socket->codec) ? 0 : -1;
}

static int destroyed(chordal__uv_socket *socket) {
    socket->wsi = NULL;
    chordal__uv_socket_free(socket);
    return 0;
}

static int on_web(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len) {
    chordal__uv_socket *socket = wsi ? lws_get_opaque_user_data(wsi) : NULL;
    if (!socket) return lws_callback_http_dummy(wsi, reason, user, in, len);
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return chordal__uv_web_upgrade(wsi, socket, in);
    case LWS_CALLBACK_HTTP:
        return chordal__uv_web_get(wsi, socket, in);
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        return established(socket, lws_get_protocol(wsi));
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return chordal__uv_socket_read(socket, in, len);
    case LWS_CALLBACK_SERVER_WRITEABLE:
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return chordal__uv_socket_write(socket);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLOSED:
    case LWS_CALLBACK_CLIENT_CLOSED:
        chordal__uv_socket_lost(socket);
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        return destroyed(socket);
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, len);
    }
}

static const struct lws_protocols protocols[] = {
    {"http", on_web, 0, 0, 0, NULL, 0},
    {CHORDAL__UV_PROTOCOL_BINARY, on_web, 0, IO_BUFFER, 0, NULL, 0},
    {CHORDAL__UV_PROTOCOL_TEXT, on_web, 0, IO_BUFFER, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};

/* ---- finding libwebsockets' own handles ----
 * With a loop that is not its own, 4.1 does not tell when it is through with it: its context may be freed when its idle
 * and timer handles are closed. They are the ones that are new in the loop after it was made. */

typedef struct search {
    chordal__uv_web *web;
    uv_handle_t *last; /* the newest handle before */
    bool beyond, found;
} search;

static void see_last(uv_handle_t *handle, void *context) {
    ((search *)context)->last = handle;
}

static void see_new(uv_handle_t *handle, void *context) {
    search *seen = context;
    if (seen->beyond && handle->type == UV_IDLE && !seen->web->idle) seen->web->idle = handle;
    if (seen->beyond && handle->type == UV_TIMER && !seen->web->timer) seen->web->timer = handle;
    if (handle == seen->last) seen->beyond = true;
}

static void see_own(uv_handle_t *handle, void *context) {
    search *seen = context;
    if (handle == seen->web->idle || handle == seen->web->timer) seen->found = true;
}

/* ---- life ---- */

static bool web_start(chordal__uv_web *web) {
    void *loops[] = {web->adapter->loop};
    search seen = {.web = web};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .foreign_loops = loops,
        .gid = -1,
        .uid = -1,
        .timeout_secs = HANDSHAKE_SECONDS,
        .keepalive_timeout = HANDSHAKE_SECONDS,
        .pt_serv_buf_size = IO_BUFFER,
        .pcontext = &web->context,
    };
    lws_set_log_level(0, NULL); /* a library says nothing by itself */
    uv_walk(web->adapter->loop, see_last, &seen);
    web->context = lws_create_context(&info);
    if (!web->context) return false;
    web->vhost = lws_create_vhost(web->context, &info);
    uv_walk(web->adapter->loop, see_new, &seen);
    return web->vhost && web->idle && web->timer;
}

static void web_free(chordal__uv_web *web) {
    chordal_uv *adapter = web->adapter;
    free(web->frame);
    free(web);
    chordal__uv_drop(adapter);
}

static void on_destroyer_closed(uv_handle_t *handle) {
    web_free(handle->data);
}

/* Runs in each round of the loop until libwebsockets' handles are closed. */
static void on_destroy(uv_idle_t *destroyer) {
    chordal__uv_web *web = destroyer->data;
    search seen = {.web = web};
    uv_walk(web->adapter->loop, see_own, &seen);
    if (seen.found) return;
    if (web->context) lws_context_destroy(web->context);
    uv_close((uv_handle_t *)destroyer, on_destroyer_closed);
}

void chordal__uv_web_close(chordal_uv *adapter) {
    chordal__uv_web *web = adapter->web;
    if (!web) return;
    adapter->web = NULL;
    if (web->context) lws_context_destroy(web->context);
    uv_idle_init(adapter->loop, &web->destroyer);
    web->destroyer.data = web;
    uv_idle_start(&web->destroyer, on_destroy);
}

int chordal__uv_web_open(chordal_uv *adapter, chordal_error *error) {
    if (adapter->web) return 0;
    chordal__uv_web *web = calloc(1, sizeof *web);
    if (!web) return chordal__uv_fail(error, UV_ENOMEM, "libwebsockets");
    web->adapter = adapter;
    chordal__list_init(&web->farewells);
    adapter->web = web;
    chordal__uv_hold(adapter);
    if (web_start(web)) return 0;
    chordal__uv_web_close(adapter);
    return chordal__uv_fail(error, UV_ENOTSUP, "libwebsockets with its libuv plugin");
}
