/* Links over real sockets on one loop: WebSockets in both codecs, pipes, routes, drops. */
#include "uv/peer.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* A pipe of this process. */
static const char *ipc_address(void) {
    static char address[64];
    snprintf(address, sizeof address, "ipc:" P_tmpdir "/chordal-test-%d", (int)getpid());
    return address;
}

static bool has_100_results(void *context) {
    return ((peer *)context)->results == 100;
}

static bool has_result(void *context) {
    return ((peer *)context)->results > 0;
}

/* ---- one object, over each kind of link ---- */

static void work_over(const char *address, uint32_t codec, uint64_t *out_copied) {
    uv_loop_t loop;
    peer server, holder;
    chordal_counters counters;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    peer_connect(&holder, server.address, codec, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    for (int i = 0; i < 100; i++) peer_add(&holder, "token ");
    RUN_UNTIL(&loop, has_100_results, &holder);
    CHECK_INT(peer_length(&holder), 600);
    CHECK_INT(holder.failures, 0);
    CHECK(holder.frames > 0);
    chordal_host_counters(server.host, &counters, sizeof counters);
    *out_copied = counters.bytes_copied_out;
    CHECK_INT(counters.calls_run, 100);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

TEST(over_websocket) {
    uint64_t copied;
    work_over("ws://127.0.0.1:0", CHORDAL_CODEC_BINARY, &copied);
    CHECK(copied > 0);
}

TEST(over_websocket_in_text) {
    uint64_t copied;
    work_over("ws://localhost:0", CHORDAL_CODEC_TEXT, &copied);
    CHECK(copied > 0);
}

TEST(over_pipe) {
    uint64_t copied;
    work_over(ipc_address(), CHORDAL_CODEC_BINARY, &copied);
    CHECK_INT(copied, 0);
}

static uint64_t peer_digest(peer *self) {
    chordal_value *value = NULL;
    if (chordal_reference_value(self->host, self->reference, 0, &value, NULL)) return 0;
    uint64_t digest = chordal_value_digest(value);
    chordal_value_unref(value);
    return digest;
}

/* ---- large frames, both ways, in many pieces of the transport ---- */

static bool has_20_results(void *context) {
    return ((peer *)context)->results == 20;
}

static void large_over(const char *address, uint32_t codec) {
    static char text[60001];
    uv_loop_t loop;
    peer server, holder, late;
    memset(text, 'x', sizeof text - 1);
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_open(&late, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    peer_connect(&holder, server.address, codec, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    for (int i = 0; i < 20; i++) peer_add(&holder, text);
    RUN_UNTIL(&loop, has_20_results, &holder);
    CHECK_INT(peer_length(&holder), 20 * 60000);
    peer_connect(&late, server.address, codec, 0);
    peer_hold(&late, "a");
    RUN_UNTIL(&loop, is_live, &late);
    CHECK_INT(peer_length(&late), 20 * 60000);
    CHECK(peer_digest(&late) == peer_digest(&holder));
    peer_stop(&server);
    peer_stop(&late);
    peer_stop(&holder);
    loop_end(&loop);
    peer_close(&server);
    peer_close(&holder);
    peer_close(&late);
}

TEST(large_over_websocket) {
    large_over("ws://127.0.0.1:0", CHORDAL_CODEC_BINARY);
}

TEST(large_over_websocket_in_text) {
    large_over("ws://127.0.0.1:0", CHORDAL_CODEC_TEXT);
}

TEST(large_over_pipe) {
    large_over(ipc_address(), CHORDAL_CODEC_BINARY);
}

/* ---- a provider that connects, reached through the server ---- */

static bool is_up(void *context) {
    return ((peer *)context)->link_state == CHORDAL_LINK_UP;
}

TEST(routed) {
    uv_loop_t loop;
    peer server, provider, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&provider, &loop);
    peer_open(&holder, &loop);
    peer_provide(&provider);
    peer_listen(&server, "ws://127.0.0.1:0", CHORDAL_LINK_ROUTE_OFFERS);
    peer_connect(&provider, server.address, CHORDAL_CODEC_BINARY, CHORDAL_LINK_OFFER);
    RUN_UNTIL(&loop, is_up, &provider);
    peer_connect(&holder, server.address, CHORDAL_CODEC_TEXT, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    for (int i = 0; i < 100; i++) peer_add(&holder, "x");
    RUN_UNTIL(&loop, has_100_results, &holder);
    CHECK_INT(peer_length(&holder), 100);
    peer_stop(&server);
    peer_stop(&provider);
    peer_stop(&holder);
    loop_end(&loop);
    peer_close(&server);
    peer_close(&provider);
    peer_close(&holder);
}

/* ---- who is let in ---- */

static bool is_over(void *context) {
    return ((peer *)context)->link_state == CHORDAL_LINK_CLOSED;
}
static bool is_revoked(void *context) {
    return ((peer *)context)->reference_state == CHORDAL_REFERENCE_REVOKED;
}

TEST(let_in) {
    static const char ann[] = "\"ann\"", secret[] = "\"secret\"";
    uv_loop_t loop;
    peer server, holder, stranger;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_open(&stranger, &loop);
    peer_provide(&server);
    peer_listen(&server, "ws://127.0.0.1:0", CHORDAL_LINK_AUTHENTICATE);
    peer_connect(&holder, server.address, CHORDAL_CODEC_TEXT, 0);
    CHECK_INT(chordal_link_credentials(holder.host, holder.link, CHORDAL_FORMAT_JSON, (const uint8_t *)secret,
                                       sizeof secret - 1, NULL),
              0);
    peer_connect(&stranger, server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    RUN_UNTIL(&loop, is_over, &stranger);
    CHECK_INT(stranger.link_code, CHORDAL_E_REFUSED);
    CHECK_INT(chordal_host_revoke(server.host, CHORDAL_FORMAT_JSON, (const uint8_t *)ann, sizeof ann - 1, "", 0, NULL),
              0);
    chordal_uv_wake(server.adapter);
    RUN_UNTIL(&loop, is_revoked, &holder);
    CHECK_INT(holder.link_state, CHORDAL_LINK_UP);
    peer_stop(&server);
    peer_stop(&holder);
    peer_stop(&stranger);
    loop_end(&loop);
    peer_close(&server);
    peer_close(&holder);
    peer_close(&stranger);
}

/* ---- drops ---- */

static bool is_down(void *context) {
    return ((peer *)context)->reference_state == CHORDAL_REFERENCE_DOWN;
}

static bool came_back(void *context) {
    return is_live(context) && ((peer *)context)->ups == 2;
}

static void drop_over(const char *address) {
    uv_loop_t loop;
    peer server, second, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    peer_connect(&holder, server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    peer_add(&holder, "one");
    RUN_UNTIL(&loop, has_result, &holder);
    peer_stop(&server);
    RUN_UNTIL(&loop, is_down, &holder);
    CHECK_INT(peer_length(&holder), 3);
    peer_add(&holder, "more");
    peer_open(&second, &loop);
    peer_provide(&second);
    peer_listen(&second, server.address, 0);
    RUN_UNTIL(&loop, came_back, &holder);
    holder.results = 0;
    RUN_UNTIL(&loop, has_result, &holder);
    CHECK_INT(peer_length(&holder), 4);
    peer_stop(&holder);
    peer_stop(&second);
    loop_end(&loop);
    peer_close(&server);
    peer_close(&second);
    peer_close(&holder);
}

TEST(dropped_websocket) {
    drop_over("ws://127.0.0.1:0");
}

TEST(dropped_pipe) {
    drop_over(ipc_address());
}

/* Nobody listens at first. */
TEST(early_connect) {
    uv_loop_t loop;
    peer server, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_connect(&holder, ipc_address(), CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    for (int i = 0; i < 20; i++) uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(holder.reference_state == CHORDAL_REFERENCE_LIVE, 0);
    peer_listen(&server, ipc_address(), 0);
    RUN_UNTIL(&loop, is_live, &holder);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

/* ---- closing ---- */

static bool is_closed(void *context) {
    return ((peer *)context)->link_state == CHORDAL_LINK_CLOSED;
}

static void close_link_over(const char *address) {
    uv_loop_t loop;
    peer server, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    peer_connect(&holder, server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    CHECK_INT(chordal_link_close(holder.host, holder.link, NULL), 0);
    RUN_UNTIL(&loop, is_closed, &holder);
    RUN_UNTIL(&loop, is_closed, &server);
    CHECK_INT(server.link_code, CHORDAL_E_BYE);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

TEST(closed_websocket) {
    close_link_over("ws://127.0.0.1:0");
}

TEST(closed_pipe) {
    close_link_over(ipc_address());
}

static bool has_no_adapter(void *context) {
    return !((peer *)context)->adapter;
}

TEST(closed_inside_of_an_event) {
    uv_loop_t loop;
    peer server, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    holder.close_on_up = true;
    peer_listen(&server, "ws://127.0.0.1:0", 0);
    peer_connect(&holder, server.address, CHORDAL_CODEC_BINARY, 0);
    RUN_UNTIL(&loop, has_no_adapter, &holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

/* While a name is resolved, while a dial is under way, while a backoff runs, and with nothing at all. */
TEST(closed_early) {
    static const char *const addresses[] = {"ws://localhost:1", "ws://127.0.0.1:1", "ipc:/nowhere/nobody"};
    for (size_t i = 0; i < 3; i++)
        for (int rounds = 0; rounds < 6; rounds++) {
            uv_loop_t loop;
            peer holder;
            uv_loop_init(&loop);
            peer_open(&holder, &loop);
            peer_connect(&holder, addresses[i], CHORDAL_CODEC_BINARY, 0);
            for (int round = 0; round < rounds; round++) uv_run(&loop, UV_RUN_ONCE);
            peer_stop(&holder);
            loop_end(&loop);
            peer_close(&holder);
        }
}

/* ---- wrong use ---- */

/* ---- a server that takes connections and never answers ---- */

static int deaf_open(char *address, size_t address_len) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t at_len = sizeof at;
    const int yes = 1;
    int deaf = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(deaf, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    CHECK_INT(bind(deaf, (const struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(deaf, 16), 0);
    CHECK_INT(getsockname(deaf, (struct sockaddr *)&at, &at_len), 0);
    snprintf(address, address_len, "ws://127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return deaf;
}

static bool has_given_up(void *context) {
    peer *self = context;
    return self->link_state == CHORDAL_LINK_WAIT && self->link_code == CHORDAL_E_TIMEOUT;
}

static bool is_dialling(void *context) {
    return ((peer *)context)->link_state == CHORDAL_LINK_DIAL;
}

TEST(unanswered) {
    uv_loop_t loop;
    peer server, holder;
    char address[64];
    const chordal_host_options options = {
        .size = sizeof options, .dial_timeout = 50, .backoff_first = 20, .backoff_limit = 50};
    uv_loop_init(&loop);
    int deaf = deaf_open(address, sizeof address);
    peer_open_with(&holder, &loop, &options);
    peer_connect(&holder, address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    for (int i = 0; i < 4; i++) {
        RUN_UNTIL(&loop, is_dialling, &holder);
        RUN_UNTIL(&loop, has_given_up, &holder);
    }
    CHECK_INT(holder.ups, 0);
    close(deaf);
    peer_open(&server, &loop);
    peer_provide(&server);
    peer_listen(&server, address, 0);
    RUN_UNTIL(&loop, is_live, &holder);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

/* Closed while it is dialled: nothing waits for an answer. */
TEST(unanswered_and_closed) {
    uv_loop_t loop;
    peer holder;
    char address[64];
    uv_loop_init(&loop);
    int deaf = deaf_open(address, sizeof address);
    peer_open(&holder, &loop);
    peer_connect(&holder, address, CHORDAL_CODEC_BINARY, 0);
    RUN_UNTIL(&loop, is_dialling, &holder);
    CHECK_INT(chordal_link_close(holder.host, holder.link, NULL), 0);
    peer_stop(&holder);
    loop_end(&loop);
    peer_close(&holder);
    close(deaf);
}

TEST(refused) {
    uv_loop_t loop;
    peer server;
    char out[8];
    chordal_id link;
    chordal_error error = {0};
    chordal_uv_server_options nowhere = {.size = sizeof nowhere, .page_folder = "/nowhere/at/all"};
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_listen(&server, "ws://127.0.0.1:0", 0);
    CHECK_INT(chordal_uv_listen(server.adapter, server.address, NULL, NULL, 0, &error), CHORDAL_E_EXISTS);
    CHECK_INT(chordal_uv_listen(server.adapter, "ws://127.0.0.1:0", &nowhere, NULL, 0, &error), CHORDAL_E_INVALID);
    CHECK_INT(chordal_uv_listen(server.adapter, "ws://127.0.0.1:0", NULL, out, sizeof out, &error), CHORDAL_E_INVALID);
    CHECK_INT(chordal_uv_listen(server.adapter, "ws://192.0.2.1:0", NULL, NULL, 0, &error), CHORDAL_E_INVALID);
    CHECK_INT(chordal_uv_listen(server.adapter, "ipc:/nowhere/at/all", NULL, NULL, 0, NULL), CHORDAL_E_INVALID);
    CHECK_INT(chordal_uv_listen(server.adapter, "http://a", NULL, NULL, 0, NULL), CHORDAL_E_INVALID);
    peer_listen(&server, ipc_address(), 0);
    CHECK_INT(chordal_uv_listen(server.adapter, ipc_address(), NULL, NULL, 0, &error), CHORDAL_E_EXISTS);
    CHECK_INT(chordal_uv_connect(server.adapter, ipc_address(), CHORDAL_CODEC_TEXT, 0, &link, &error),
              CHORDAL_E_INVALID);
    CHECK_INT(chordal_uv_connect(server.adapter, "x", CHORDAL_CODEC_TEXT, 0, &link, NULL), CHORDAL_E_INVALID);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&server);
}

/* A socket file that its owner left behind is no hindrance; any other file is left alone. */
TEST(stale_socket_file) {
    uv_loop_t loop;
    peer server;
    const char *path = ipc_address() + 4;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fclose(file) == 0);
    CHECK_INT(chordal_uv_listen(server.adapter, ipc_address(), NULL, NULL, 0, NULL), CHORDAL_E_EXISTS);
    CHECK_INT(access(path, F_OK), 0);
    unlink(path);
    uv_pipe_t left;
    uv_pipe_init(&loop, &left, 0);
    CHECK_INT(uv_pipe_bind(&left, path), 0);
    char kept[80];
    snprintf(kept, sizeof kept, "%s-kept", path);
    CHECK_INT(rename(path, kept), 0); /* closing the pipe removes its own file */
    uv_close((uv_handle_t *)&left, NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(rename(kept, path), 0);
    peer_listen(&server, ipc_address(), 0);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&server);
}

/* ---- other threads ---- */

static void wake(void *adapter) {
    chordal_uv_wake(adapter);
}

TEST(woken_by_a_thread) {
    uv_loop_t loop;
    uv_thread_t thread;
    peer server, holder;
    uv_loop_init(&loop);
    peer_open(&server, &loop);
    peer_open(&holder, &loop);
    peer_provide(&server);
    peer_listen(&server, ipc_address(), 0);
    peer_connect(&holder, server.address, CHORDAL_CODEC_BINARY, 0);
    peer_hold(&holder, "a");
    RUN_UNTIL(&loop, is_live, &holder);
    peer_add(&holder, "x");
    uv_thread_create(&thread, wake, holder.adapter);
    RUN_UNTIL(&loop, has_result, &holder);
    uv_thread_join(&thread);
    peer_stop(&holder);
    peer_stop(&server);
    loop_end(&loop);
    peer_close(&holder);
    peer_close(&server);
}

TESTS({"over_websocket", over_websocket}, {"over_websocket_in_text", over_websocket_in_text}, {"over_pipe", over_pipe},
      {"let_in", let_in}, {"large_over_websocket", large_over_websocket},
      {"large_over_websocket_in_text", large_over_websocket_in_text}, {"large_over_pipe", large_over_pipe},
      {"routed", routed}, {"dropped_websocket", dropped_websocket}, {"dropped_pipe", dropped_pipe},
      {"early_connect", early_connect}, {"closed_websocket", closed_websocket}, {"closed_pipe", closed_pipe},
      {"closed_inside_of_an_event", closed_inside_of_an_event}, {"closed_early", closed_early},
      {"unanswered", unanswered}, {"unanswered_and_closed", unanswered_and_closed}, {"refused", refused},
      {"stale_socket_file", stale_socket_file}, {"woken_by_a_thread", woken_by_a_thread})
