/* web_client.c: dialling a WebSocket. Names are resolved by libuv, in the background. */
#include "uv/web.h"

#include <netinet/in.h>
#include <stdio.h>

static const char *protocol_of(uint32_t codec) {
    return codec == CHORDAL_CODEC_TEXT ? CHORDAL__UV_PROTOCOL_TEXT : CHORDAL__UV_PROTOCOL_BINARY;
}

/* Connect to a numeric address; false: it could not even be tried. */
static bool connect_to(chordal__uv_socket *socket, const char *number) {
    const chordal__uv_link *link = socket->transport.link;
    const chordal__uv_address *address = link->address;
    chordal__uv_web *web = link->adapter->web;
    char host[300];
    snprintf(host, sizeof host, strchr(address->host, ':') ? "[%s]:%u" : "%s:%u", address->host,
             (unsigned)address->port);
    struct lws_client_connect_info wanted = {
        .context = web->context,
        .vhost = web->vhost,
        .address = number,
        .port = address->port,
        .path = address->path,
        .host = host,
        .protocol = protocol_of(link->codec),
    };
    struct lws *wsi = lws_client_connect_via_info(&wanted);
    if (!wsi) return false;
    chordal__uv_socket_bind(socket, wsi);
    lws_cancel_service(web->context); /* its timeouts are looked at after input */
    return true;
}

/* The address to try: those of version 4 first, another one in each attempt. */
static const struct addrinfo *choose(const struct addrinfo *found, uint32_t attempt) {
    uint32_t count = 0;
    for (const struct addrinfo *at = found; at; at = at->ai_next) count++;
    uint32_t wanted = count ? (attempt - 1) % count : 0;
    for (int family = 0; family < 2; family++)
        for (const struct addrinfo *at = found; at; at = at->ai_next)
            if ((at->ai_family == AF_INET) == (family == 0) && wanted-- == 0) return at;
    return NULL;
}

static bool number_of(const struct addrinfo *at, char *out, size_t out_len) {
    const void *address = at ? at->ai_addr : NULL;
    if (!at) return false;
    if (at->ai_family == AF_INET) return uv_ip4_name(address, out, out_len) == 0;
    return at->ai_family == AF_INET6 && uv_ip6_name(address, out, out_len) == 0;
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found) {
    chordal__uv_socket *socket = request->data;
    const chordal__uv_link *link = socket->transport.link;
    char number[64];
    socket->resolving = false;
    bool on_its_way = status == 0 && link && number_of(choose(found, link->attempts), number, sizeof number) &&
                      connect_to(socket, number);
    uv_freeaddrinfo(found);
    if (!on_its_way) chordal__uv_socket_free(socket);
}

static bool is_number(const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    return uv_inet_pton(AF_INET, host, address) == 0 || uv_inet_pton(AF_INET6, host, address) == 0;
}

int chordal__uv_web_dial(chordal__uv_link *link) {
    chordal_uv *adapter = link->adapter;
    chordal__uv_socket *socket = chordal__uv_socket_new(adapter, NULL);
    if (!socket) return CHORDAL_E_NOMEM;
    chordal__uv_tie(link, &socket->transport);
    bool on_its_way;
    if (is_number(link->address->host))
        on_its_way = connect_to(socket, link->address->host);
    else {
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        socket->resolve.data = socket;
        socket->resolving = on_its_way =
            uv_getaddrinfo(adapter->loop, &socket->resolve, on_resolved, link->address->host, NULL, &hints) == 0;
    }
    if (on_its_way) return 0;
    socket->transport.link = NULL; /* the caller tells the link */
    link->transport = NULL;
    chordal__uv_socket_free(socket);
    return CHORDAL_E_LOST;
}
