/* pieces.c: a frame that comes slowly, in pieces, keeps its link up; one that comes no further does not. */
#include "uv/peer.h"

#include <arpa/inet.h>

#define PIECE 70000 /* more than what libwebsockets gathers */
#define PINGS 4     /* heard while the frame comes: its link would have been cut after the second */

/* A client that sends what it is given, then a frame that has no end, one piece each time. */
typedef struct drip {
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } to;
    uv_connect_t connect;
    uv_timer_t timer;
    const uint8_t *begin;
    size_t begin_len;
    bool stops, ended;
    char got[1 << 16];
    size_t got_len;
} drip;

static uint8_t piece[PIECE];

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    drip *self = handle->data;
    (void)suggested;
    *out = uv_buf_init(self->got + self->got_len, (unsigned)(sizeof self->got - self->got_len));
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer) {
    drip *self = stream->data;
    (void)buffer;
    if (len > 0) self->got_len += (size_t)len;
    self->ended |= len < 0;
}

static void on_drip(uv_timer_t *timer) {
    drip *self = timer->data;
    uv_buf_t buffer = uv_buf_init((char *)piece, PIECE);
    if (!self->stops && !self->ended) (void)uv_try_write(&self->to.stream, &buffer, 1);
}

static void on_connected(uv_connect_t *connect, int status) {
    drip *self = connect->data;
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)self->begin, (unsigned)self->begin_len);
    CHECK_INT(status, 0);
    CHECK_INT(uv_try_write(&self->to.stream, &buffer, 1), (int)self->begin_len);
    CHECK_INT(uv_read_start(&self->to.stream, on_room, on_read), 0);
    uv_timer_start(&self->timer, on_drip, 10, 10);
}

static void drip_open(drip *self, const peer *server, const void *begin, size_t begin_len) {
    struct sockaddr_in web;
    memset(self, 0, sizeof *self);
    self->begin = begin, self->begin_len = begin_len;
    uv_timer_init(server->loop, &self->timer);
    self->timer.data = self->connect.data = self;
    if (strncmp(server->address, "ipc:", 4) == 0) {
        uv_pipe_init(server->loop, &self->to.pipe, 0);
        uv_pipe_connect(&self->connect, &self->to.pipe, server->address + 4, on_connected);
    } else {
        uv_tcp_init(server->loop, &self->to.tcp);
        uv_ip4_addr("127.0.0.1", atoi(strrchr(server->address, ':') + 1), &web);
        CHECK_INT(uv_tcp_connect(&self->connect, &self->to.tcp, (const struct sockaddr *)&web, on_connected), 0);
    }
    self->to.stream.data = self;
}

static size_t count_of(const drip *self, const char *bytes, size_t len) {
    size_t count = 0;
    for (const char *at = self->got, *end = self->got + self->got_len;
         (at = memmem(at, (size_t)(end - at), bytes, len)); at += len)
        count++;
    return count;
}

static bool has_pings(void *context) {
    const drip *self = context;
    return self->ended || count_of(self, "\x02\0\0\0\x16\0", 6) + count_of(self, "\x82\x02\x16\0", 4) >= PINGS;
}

static bool has_farewell(void *context) {
    return count_of(context, "timeout", 7) > 0;
}

static bool has_result(void *context) {
    return ((peer *)context)->results == 1;
}

/* Beside one who is served as ever. */
static void send_over(const char *address, const void *begin, size_t begin_len) {
    chordal_host_options options = {.size = sizeof options, .ping_interval = 100, .ping_timeout = 100};
    static drip slow;
    static peer server, holder;
    uv_loop_t loop;
    uv_loop_init(&loop);
    peer_open_with(&server, &loop, &options);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    peer_connect(&holder, server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    drip_open(&slow, &server, begin, begin_len);
    RUN_UNTIL(&loop, has_pings, &slow);
    CHECK(!slow.ended);
    slow.stops = true;
    RUN_UNTIL(&loop, has_farewell, &slow);
    peer_add(&holder, "x");
    RUN_UNTIL(&loop, has_result, &holder);
    uv_close((uv_handle_t *)&slow.to.stream, NULL);
    uv_close((uv_handle_t *)&slow.timer, NULL);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

/* Whom nobody has met, who takes a megabyte. */
#define HELLO                                                                                                          \
    "\x01\x01\x01"                                                                                                     \
    "0123456789abcdef"                                                                                                 \
    "0123456789abcdef"                                                                                                 \
    "\x80\x80\x40\0"

TEST(over_pipe) {
    static const char begin[] = "\x27\0\0\0" HELLO "\0\0\0\x02";
    char address[64];
    snprintf(address, sizeof address, "ipc:" P_tmpdir "/chordal-pieces-%d", (int)getpid());
    send_over(address, begin, sizeof begin - 1);
}

TEST(over_websocket) {
    static const char begin[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Protocol: chordal.1.bin\r\n\r\n"
                                "\x82\xa7\0\0\0\0" HELLO "\x82\xff\0\0\0\0\x02\0\0\0\0\0\0\0";
    send_over("ws://127.0.0.1:0", begin, sizeof begin - 1);
}

TESTS({"over_pipe", over_pipe}, {"over_websocket", over_websocket})
