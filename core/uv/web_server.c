/* web_server.c: listening for WebSockets, and the page beside them. The listening socket is ours, so that its errors
 * are told; libwebsockets adopts what it accepts. */
#include "uv/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 512
#define ACCEPTS 64 /* in one go */

/* ---- answers ---- */

static const char headers[] = "x-content-type-options: nosniff\r\ncache-control: no-cache\r\n";

/* A short text; the connection goes on. */
static int answer(struct lws *wsi, unsigned status, const char *text) {
    unsigned char buffer[LWS_PRE + 512], *start = buffer + LWS_PRE, *at = start, *end = buffer + sizeof buffer;
    size_t len = strlen(text);
    if (lws_add_http_header_status(wsi, status, &at, end) ||
        lws_add_http_header_by_name(wsi, (const unsigned char *)"content-type:",
                                    (const unsigned char *)"text/plain; charset=utf-8", 25, &at, end) ||
        lws_add_http_header_by_name(
            wsi, (const unsigned char *)"x-content-type-options:", (const unsigned char *)"nosniff", 7, &at, end) ||
        lws_add_http_header_content_length(wsi, len, &at, end) || lws_finalize_http_header(wsi, &at, end) ||
        (size_t)(end - at) < len)
        return -1;
    memcpy(at, text, len);
    at += len;
    return lws_write(wsi, start, (size_t)(at - start), LWS_WRITE_HTTP_FINAL) < 0 ? -1 : 0;
}

static int answer_and_go_on(struct lws *wsi, unsigned status, const char *text) {
    if (answer(wsi, status, text) || lws_http_transaction_completed(wsi)) return -1;
    return 0;
}

/* ---- upgrades ---- */

static bool header(struct lws *wsi, enum lws_token_indexes token, char *out, size_t out_len, bool *out_present) {
    *out_present = lws_hdr_total_length(wsi, token) > 0;
    out[0] = '\0';
    return !*out_present || lws_hdr_copy(wsi, out, (int)out_len, token) > 0;
}

static bool origin_allowed(struct lws *wsi, const chordal__uv_server *server) {
    char origin[256], host[256];
    bool from_browser, has_host;
    if (!header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin, &from_browser)) return false;
    if (!from_browser) return true;
    if (!header(wsi, WSI_TOKEN_HOST, host, sizeof host, &has_host)) return false;
    return chordal__uv_origin_allowed(origin, host, server->loopback, server->origins);
}

static bool speaks(struct lws *wsi) {
    char offered[128];
    bool present;
    if (!header(wsi, WSI_TOKEN_PROTOCOL, offered, sizeof offered, &present)) return false;
    for (char *rest = offered, *name; (name = strtok_r(rest, ", \t", &rest));)
        if (strcmp(name, CHORDAL__UV_PROTOCOL_BINARY) == 0 || strcmp(name, CHORDAL__UV_PROTOCOL_TEXT) == 0) return true;
    return false;
}

/* 0: go on; 1: answered. */
int chordal__uv_web_upgrade(struct lws *wsi, chordal__uv_socket *socket, const char *protocol) {
    if (!socket->server || !protocol) return -1;
    if (!origin_allowed(wsi, socket->server))
        return answer(wsi, HTTP_STATUS_FORBIDDEN, "pages of this origin may not connect\n") ? -1 : 1;
    if (strcasecmp(protocol, "websocket") != 0 || !speaks(wsi))
        return answer(wsi, HTTP_STATUS_BAD_REQUEST,
                      "the subprotocol is " CHORDAL__UV_PROTOCOL_BINARY " or " CHORDAL__UV_PROTOCOL_TEXT "\n")
                   ? -1
                   : 1;
    return 0;
}

/* ---- pages ---- */

int chordal__uv_web_get(struct lws *wsi, chordal__uv_socket *socket, const char *path) {
    char file[PATH_MAX];
    if (!socket->server) return -1;
    if (!lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) && !lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI))
        return answer(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "only GET and HEAD\n") ? -1 : -1;
    const char *root = socket->server->page_folder;
    const char *type = root ? chordal__uv_page_find(root, path, file, sizeof file) : NULL;
    if (!type) return answer_and_go_on(wsi, HTTP_STATUS_NOT_FOUND, "not found\n");
    int status = lws_serve_http_file(wsi, file, type, headers, sizeof headers - 1);
    if (status < 0 || (status > 0 && lws_http_transaction_completed(wsi))) return -1;
    return 0;
}

/* ---- listening ---- */

typedef struct web_listener {
    chordal__uv_server *server;
    uv_poll_t handle;
    int socket;
} web_listener;

static void on_closed(uv_handle_t *handle) {
    web_listener *listener = handle->data;
    chordal_uv *adapter = listener->server->adapter;
    close(listener->socket);
    chordal__uv_server_unref(listener->server);
    free(listener);
    chordal__uv_drop(adapter);
}

static void web_close(chordal__uv_server *server) {
    web_listener *listener = server->own;
    uv_close((uv_handle_t *)&listener->handle, on_closed);
}

static const chordal__uv_server_functions web_functions = {web_close};

int chordal__uv_web_accept(chordal__uv_server *server, int accepted) {
    chordal_uv *adapter = server->adapter;
    chordal__uv_socket *socket = chordal__uv_socket_new(adapter, server);
    if (!socket) {
        close(accepted);
        return CHORDAL_E_NOMEM;
    }
    lws_adopt_desc_t wanted = {
        .vh = adapter->web->vhost,
        .type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP,
        .fd = {.sockfd = accepted},
    };
    struct lws *wsi = lws_adopt_descriptor_vhost_via_info(&wanted);
    if (!wsi) {
        chordal__uv_socket_free(socket);
        return CHORDAL_E_LIMIT;
    }
    chordal__uv_socket_bind(socket, wsi);
    return 0;
}

static void on_connections(uv_poll_t *handle, int status, int events) {
    web_listener *listener = handle->data;
    int on = 1;
    (void)events;
    for (int i = 0; status == 0 && i < ACCEPTS; i++) {
        int accepted = accept4(listener->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0) return;
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* small frames must not wait for more */
        chordal__uv_web_accept(listener->server, accepted);
    }
}

/* A bound, listening socket, or a code of libuv below zero. */
static int listen_on(const struct addrinfo *at) {
    int on = 1, listening = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening < 0) return uv_translate_sys_error(errno);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6) setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(listening, at->ai_addr, at->ai_addrlen) == 0 && listen(listening, BACKLOG) == 0) return listening;
    int status = uv_translate_sys_error(errno);
    close(listening);
    return status;
}

/* Resolve, preferring the version that names mean first for clients, and listen. */
static int open_socket(const chordal__uv_address *address) {
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)address->port);
    if (getaddrinfo(address->host, port, &hints, &found)) return UV_EADDRNOTAVAIL;
    const struct addrinfo *at = found;
    for (const struct addrinfo *other = found; other; other = other->ai_next)
        if (other->ai_family == AF_INET && at->ai_family != AF_INET) at = other;
    int listening = listen_on(at);
    freeaddrinfo(found);
    return listening;
}

/* The address for clients: the port that was chosen, and a way to a wildcard. */
static int tell_address(chordal__uv_server *server, int listening, const chordal__uv_address *address, char *out,
                        size_t out_len, chordal_error *error) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound;
    socklen_t bound_len = sizeof bound;
    if (getsockname(listening, &bound.any, &bound_len))
        return chordal__uv_fail(error, uv_translate_sys_error(errno), "socket");
    const char *host = address->host;
    if (strcmp(host, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(host, "::") == 0)
        host = "::1";
    else
        server->loopback = chordal__uv_loopback_name(host, strlen(host));
    uint16_t port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
    return out ? chordal__uv_address_write(host, port, out, out_len, error) : 0;
}

int chordal__uv_web_listen(chordal__uv_server *server, const chordal__uv_address *address, char *out_address,
                           size_t out_address_len, chordal_error *error) {
    chordal_uv *adapter = server->adapter;
    int code = chordal__uv_web_open(adapter, error);
    if (code) return code;
    int listening = open_socket(address);
    if (listening < 0) return chordal__uv_fail(error, listening, address->host);
    code = tell_address(server, listening, address, out_address, out_address_len, error);
    web_listener *listener = code ? NULL : calloc(1, sizeof *listener);
    if (!listener || uv_poll_init_socket(adapter->loop, &listener->handle, listening)) {
        free(listener);
        close(listening);
        return code ? code : chordal__uv_fail(error, UV_ENOMEM, "server");
    }
    listener->server = server;
    listener->socket = listening;
    listener->handle.data = listener;
    server->own = listener;
    server->functions = &web_functions;
    server->references++; /* the handle's */
    chordal__uv_hold(adapter);
    uv_poll_start(&listener->handle, UV_READABLE, on_connections);
    return 0;
}
