/* Strangers at the door: plain HTTP, pages of other origins, garbage, silence. They are blocking clients on threads. */
#include "uv/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* One client: it sends its bytes, and reads until the end or until nothing came for a while. */
typedef struct stranger {
    uv_thread_t thread;
    const char *path; /* of a pipe; NULL: `port` */
    int port;
    const void *sent;
    size_t sent_len;
    char got[65536];
    size_t got_len;
    bool ended; /* by the server */
    _Atomic bool done;
} stranger;

static int dial(const stranger *self) {
    struct sockaddr_in web = {.sin_family = AF_INET, .sin_port = htons((uint16_t)self->port)};
    struct sockaddr_un ipc = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 1};
    int client = socket(self->path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    web.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (self->path) snprintf(ipc.sun_path, sizeof ipc.sun_path, "%s", self->path);
    int status = self->path ? connect(client, (const struct sockaddr *)&ipc, sizeof ipc)
                            : connect(client, (const struct sockaddr *)&web, sizeof web);
    CHECK_INT(status, 0);
    return client;
}

static void visit(void *context) {
    stranger *self = context;
    int client = dial(self);
    for (size_t done = 0; done < self->sent_len;) {
        ssize_t len = send(client, (const char *)self->sent + done, self->sent_len - done, MSG_NOSIGNAL);
        if (len <= 0) break;
        done += (size_t)len;
    }
    for (ssize_t len = 1; len > 0 && self->got_len < sizeof self->got - 1;) {
        len = recv(client, self->got + self->got_len, sizeof self->got - 1 - self->got_len, 0);
        if (len > 0) self->got_len += (size_t)len;
        self->ended = len == 0;
    }
    close(client);
    self->done = true;
}

static bool is_done(void *context) {
    return ((stranger *)context)->done;
}

static int port_of(const peer *server) {
    return atoi(strrchr(server->address, ':') + 1);
}

/* Let a stranger visit, and have the loop serve it. */
static void receive(peer *server, stranger *self, const void *sent, size_t sent_len) {
    memset(self, 0, sizeof *self);
    if (strncmp(server->address, "ipc:", 4) == 0)
        self->path = server->address + 4;
    else
        self->port = port_of(server);
    self->sent = sent, self->sent_len = sent_len;
    uv_thread_create(&self->thread, visit, self);
    RUN_UNTIL(server->loop, is_done, self);
    uv_thread_join(&self->thread);
    self->got[self->got_len] = '\0';
}

static bool told(const stranger *self, const char *part) {
    return strstr(self->got, part) != NULL;
}

static void stop(peer *server, uv_loop_t *loop) {
    peer_stop(server);
    loop_end(loop);
    peer_close(server);
}

/* ---- pages ---- */

static char folder[] = P_tmpdir "/chordal-strangers-XXXXXX";

static void serve_pages(peer *server, uv_loop_t *loop, const char *origins) {
    char path[64];
    chordal_uv_server_options options = {.size = sizeof options, .page_folder = folder, .origins = origins};
    chordal_error error = {0};
    if (strstr(folder, "XXXXXX")) CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/index.html", folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("<p>hello", file) >= 0 && fclose(file) == 0);
    uv_loop_init(loop);
    peer_open(server, loop);
    if (chordal_uv_listen(server->adapter, "ws://127.0.0.1:0", &options, server->address, sizeof server->address,
                          &error))
        CHECK_FAIL("%s", error.detail);
}

static void get(peer *server, stranger *self, const char *method, const char *path, const char *headers) {
    char request[1024];
    int len = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s\r\n",
                       method, path, port_of(server), headers);
    receive(server, self, request, (size_t)len);
}

TEST(pages) {
    uv_loop_t loop;
    peer server;
    static stranger visitor;
    serve_pages(&server, &loop, NULL);
    get(&server, &visitor, "GET", "/", "");
    CHECK(told(&visitor, "HTTP/1.1 200 ") && told(&visitor, "<p>hello"));
    CHECK(told(&visitor, "content-type: text/html; charset=utf-8\r\n"));
    CHECK(told(&visitor, "x-content-type-options: nosniff\r\n") && told(&visitor, "cache-control: no-cache\r\n"));
    get(&server, &visitor, "HEAD", "/index.html", "");
    CHECK(told(&visitor, "HTTP/1.1 200 ") && told(&visitor, "content-length: 8\r\n") && !told(&visitor, "hello"));
    get(&server, &visitor, "GET", "/nothing", "");
    CHECK(told(&visitor, " 404 "));
    get(&server, &visitor, "GET", "/../../etc/passwd", "");
    CHECK(told(&visitor, " 404 ") || visitor.got_len == 0);
    get(&server, &visitor, "GET", "/%2e%2e/%2e%2e/etc/passwd", "");
    CHECK(told(&visitor, " 404 ") || visitor.got_len == 0);
    get(&server, &visitor, "GET", "/index.html%00.txt", "");
    CHECK(!told(&visitor, "hello"));
    get(&server, &visitor, "POST", "/", "Content-Length: 3\r\n");
    CHECK(told(&visitor, " 405 "));
    get(&server, &visitor, "DELETE", "/", "");
    CHECK(!told(&visitor, " 200 "));
    stop(&server, &loop);
}

/* ---- upgrades ---- */

#define UPGRADE                                                                                                        \
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"                                       \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define BINARY "Sec-WebSocket-Protocol: chordal.1.bin\r\n"

/* An upgrade request from a page of `origin` (NULL: no page), reaching the server as `host` ("": its address). */
static void upgrade(peer *server, stranger *self, const char *origin, const char *host, const char *protocol,
                    const void *frames, size_t frames_len) {
    static char request[400000];
    char own[64];
    snprintf(own, sizeof own, "127.0.0.1:%d", port_of(server));
    int len = snprintf(request, 2048, "GET / HTTP/1.1\r\nHost: %s\r\n" UPGRADE "%s%s%s%s\r\n", host[0] ? host : own,
                       protocol, origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "");
    if (frames_len) memcpy(request + len, frames, frames_len);
    receive(server, self, request, (size_t)len + frames_len);
}

TEST(origins) {
    uv_loop_t loop;
    peer server;
    static stranger visitor;
    char own[128], evil[64];
    serve_pages(&server, &loop, "https://friend.example");
    snprintf(own, sizeof own, "http://127.0.0.1:%d", port_of(&server));
    snprintf(evil, sizeof evil, "evil.example:%d", port_of(&server));
    upgrade(&server, &visitor, NULL, "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 101 ") && told(&visitor, "chordal.1.bin"));
    upgrade(&server, &visitor, own, "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 101 "));
    upgrade(&server, &visitor, "https://friend.example", "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 101 "));
    upgrade(&server, &visitor, "http://evil.example", "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 403 ") && !told(&visitor, " 101 "));
    upgrade(&server, &visitor, "null", "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 403 "));
    snprintf(own, sizeof own, "http://%s", evil);
    upgrade(&server, &visitor, own, evil, BINARY, NULL, 0); /* a stranger's name that leads here */
    CHECK(told(&visitor, " 403 "));
    upgrade(&server, &visitor, NULL, "", "", NULL, 0);
    CHECK(told(&visitor, " 400 "));
    upgrade(&server, &visitor, NULL, "", "Sec-WebSocket-Protocol: chordal.2.bin, chat\r\n", NULL, 0);
    CHECK(told(&visitor, " 400 "));
    upgrade(&server, &visitor, NULL, "", "Sec-WebSocket-Protocol: chat, chordal.1.json\r\n", NULL, 0);
    CHECK(told(&visitor, " 101 ") && told(&visitor, "chordal.1.json"));
    stop(&server, &loop);
}

TEST(any_origin) {
    uv_loop_t loop;
    peer server;
    static stranger visitor;
    serve_pages(&server, &loop, "*");
    upgrade(&server, &visitor, "http://evil.example", "", BINARY, NULL, 0);
    CHECK(told(&visitor, " 101 "));
    stop(&server, &loop);
}

/* ---- faults on the link: it ends, and the others go on ---- */

/* A client's WebSocket frame, masked by nothing. */
static size_t frame(uint8_t *out, uint8_t head, const void *data, size_t len) {
    size_t at = 0;
    out[at++] = head;
    if (len < 126)
        out[at++] = (uint8_t)(0x80 | len);
    else {
        out[at++] = 0x80 | 127;
        for (int i = 7; i >= 0; i--) out[at++] = (uint8_t)((uint64_t)len >> (8 * i));
    }
    memset(out + at, 0, 4);
    at += 4;
    if (len) memcpy(out + at, data, len);
    return at + len;
}

static bool has_10_results(void *context) {
    return ((peer *)context)->results == 10;
}

/* Serve a stranger beside a holder, who must not notice. */
typedef struct scene {
    uv_loop_t loop;
    peer server, holder;
} scene;

static void scene_open(scene *self, const char *address) {
    chordal_host_options options = {.size = sizeof options, .message_limit = 100000, .handshake_timeout = 200};
    uv_loop_init(&self->loop);
    peer_open_with(&self->server, &self->loop, &options);
    peer_open(&self->holder, &self->loop);
    peer_provide(&self->server);
    peer_listen(&self->server, address, 0);
    peer_connect(&self->holder, self->server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&self->holder, "a");
    RUN_UNTIL(&self->loop, is_live, &self->holder);
}

static void scene_close(scene *self) {
    for (int i = 0; i < 10; i++) peer_add(&self->holder, "x");
    RUN_UNTIL(&self->loop, has_10_results, &self->holder);
    CHECK_INT(self->holder.ups, 1);
    peer_stop(&self->holder);
    peer_stop(&self->server);
    loop_end(&self->loop);
    peer_close(&self->holder);
    peer_close(&self->server);
}

static const void *find(const stranger *self, const char *part) {
    return memmem(self->got, self->got_len, part, strlen(part));
}

TEST(faults_over_websocket) {
    static scene stage;
    static stranger visitor;
    static uint8_t frames[300000], large[200000];
    static const struct {
        const char *about, *data, *code;
        uint8_t head;
    } cases[] = {
        {"garbage", "\xff\xff\xff", "malformed", 0x82},
        {"nothing", "", "malformed", 0x82},
        {"a message before the handshake", "\x16\x01", "order", 0x82},
        {"text on a binary link", "[\"hello\"]", "order", 0x81},
    };
    scene_open(&stage, "ws://127.0.0.1:0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = frame(frames, cases[i].head, cases[i].data, strlen(cases[i].data));
        upgrade(&stage.server, &visitor, NULL, "", BINARY, frames, len);
        if (!told(&visitor, " 101 ")) CHECK_FAIL("%s: no upgrade", cases[i].about);
        if (!find(&visitor, cases[i].code)) CHECK_FAIL("%s: no %s", cases[i].about, cases[i].code);
        if (!memchr(visitor.got, 0x88, visitor.got_len)) CHECK_FAIL("%s: no close frame", cases[i].about);
    }
    size_t len = frame(frames, 0x82, large, sizeof large);
    upgrade(&stage.server, &visitor, NULL, "", BINARY, frames, len);
    CHECK(find(&visitor, "too_large") != NULL);
    len = frame(frames, 0x02, large, 60000); /* in two fragments */
    len += frame(frames + len, 0x80, large, 60000);
    upgrade(&stage.server, &visitor, NULL, "", BINARY, frames, len);
    CHECK(find(&visitor, "too_large") != NULL);
    scene_close(&stage);
}

TEST(faults_over_pipe) {
    static scene stage;
    static stranger visitor;
    static uint8_t frames[300000];
    static const struct {
        const char *about, *bytes;
        size_t len;
        const char *code;
    } cases[] = {
        {"garbage", "\x03\0\0\0\xff\xff\xff", 7, "malformed"},
        {"an empty frame", "\0\0\0\0", 4, "malformed"},
        {"a message before the handshake", "\x02\0\0\0\x16\x01", 6, "order"},
    };
    char address[64];
    snprintf(address, sizeof address, "ipc:" P_tmpdir "/chordal-test-%d", (int)getpid());
    scene_open(&stage, address);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        receive(&stage.server, &visitor, cases[i].bytes, cases[i].len);
        if (!visitor.ended) CHECK_FAIL("%s: goes on", cases[i].about);
        if (!find(&visitor, cases[i].code)) CHECK_FAIL("%s: no %s", cases[i].about, cases[i].code);
    }
    memset(frames, 0xff, sizeof frames); /* announces four gigabytes */
    receive(&stage.server, &visitor, frames, sizeof frames);
    CHECK(find(&visitor, "too_large") != NULL);
    scene_close(&stage);
}

TEST(silence) {
    static scene stage;
    static stranger visitor;
    scene_open(&stage, "ws://127.0.0.1:0");
    upgrade(&stage.server, &visitor, NULL, "", BINARY, NULL, 0);
    CHECK(find(&visitor, "timeout") != NULL);
    scene_close(&stage);
}

TEST(silence_over_pipe) {
    static scene stage;
    static stranger visitor;
    char address[64];
    snprintf(address, sizeof address, "ipc:" P_tmpdir "/chordal-test-%d", (int)getpid());
    scene_open(&stage, address);
    receive(&stage.server, &visitor, "\x03", 1);
    CHECK(visitor.ended && find(&visitor, "timeout") != NULL);
    scene_close(&stage);
}

TESTS({"pages", pages}, {"origins", origins}, {"any_origin", any_origin},
      {"faults_over_websocket", faults_over_websocket}, {"faults_over_pipe", faults_over_pipe}, {"silence", silence},
      {"silence_over_pipe", silence_over_pipe})
