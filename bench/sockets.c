/* sockets.c: a call over a loopback WebSocket between two C processes, and beside it the limit: a bare echo of as many
 * bytes by the same library on the same loop. `sockets FOLDER BATCHES`. */
#include <libwebsockets.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "chordal/uv.h"
#include "port.h"
#include "rows.h"
#include "world.h"

enum { BATCHES = 64, ROUNDS = 1000, ECHOED = 10 };

static double samples[BATCHES];
static int batches, batch, rounds;
static double start;
static uv_loop_t *loop;

/* A round is over: true when all are. */
static bool round_done(void) {
    if (++rounds < ROUNDS) return false;
    if (batch >= 0) samples[batch] = (now_us() - start) / ROUNDS; /* the first one warms up */
    rounds = 0;
    start = now_us();
    return ++batch == batches;
}

static void begin(void) {
    batch = -1;
    rounds = 0;
    start = now_us();
}

/* ---- the echo ---- */

static struct lws_context *context;
static uint8_t message[LWS_PRE + ECHOED];
static bool serves, over;

static int on_echo(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len) {
    (void)user, (void)in, (void)len;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        begin();
        lws_callback_on_writable(wsi);
        break;
    case LWS_CALLBACK_RECEIVE:
        lws_callback_on_writable(wsi);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        over = round_done();
        if (over) uv_stop(loop);
        if (!over) lws_callback_on_writable(wsi);
        break;
    case LWS_CALLBACK_SERVER_WRITEABLE:
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        if (lws_write(wsi, message + LWS_PRE, ECHOED, LWS_WRITE_BINARY) < ECHOED) return -1;
        break;
    default:
        break;
    }
    return 0;
}

static void open_echo(int port) {
    static const struct lws_protocols protocols[] = {{.name = "echo", .callback = on_echo, .rx_buffer_size = 4096},
                                                     {.name = NULL}};
    void *loops[] = {loop};
    struct lws_context_creation_info info = {
        .port = serves ? port : CONTEXT_PORT_NO_LISTEN,
        .iface = serves ? "127.0.0.1" : NULL,
        .protocols = protocols,
        .foreign_loops = loops,
        .options = LWS_SERVER_OPTION_LIBUV,
    };
    lws_set_log_level(0, NULL);
    context = lws_create_context(&info);
    if (!context) exit(1);
    struct lws_client_connect_info wanted = {
        .context = context, .address = "127.0.0.1", .port = port, .path = "/", .host = "127.0.0.1", .protocol = "echo"};
    if (!serves && !lws_client_connect_via_info(&wanted)) exit(1);
}

/* ---- the call ---- */

static chordal_host *host;
static chordal_uv *adapter;
static chordal_id reference;

static void start_one(void) {
    chordal_id call;
    OK(chordal_call_start(host, reference, "ping", 4, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x91\xa4milk", 6, 0,
                          &call, NULL));
    chordal_uv_wake(adapter);
}

static void on_event(void *nothing, chordal_host *from, const chordal_record *r) {
    const chordal_event_CALL *call = (const void *)r;
    const chordal_event_RESULT *result = (const void *)r;
    const chordal_event_FRAME *frame = (const void *)r;
    const chordal_event_REFERENCE *state = (const void *)r;
    (void)nothing;
    if (r->kind == CHORDAL_EVENT_CALL)
        OK(chordal_call_answer(from, call->call, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\xa2n1", 3, NULL));
    if (r->kind == CHORDAL_EVENT_FRAME && frame->ops.part) chordal_release(from, frame->ops.part);
    if (r->kind == CHORDAL_EVENT_REFERENCE && state->state == CHORDAL_REFERENCE_LIVE && batch < 0 && rounds == 0) {
        begin();
        start_one();
    }
    if (r->kind != CHORDAL_EVENT_RESULT) return;
    chordal_release(from, result->call);
    if (round_done())
        uv_stop(loop);
    else
        start_one();
}

static void open_host(const char *address) {
    chordal_id type, link;
    OK(chordal_host_open(NULL, &host, NULL));
    OK(chordal_uv_open(loop, host, on_event, NULL, &adapter, NULL));
    batch = -1;
    if (serves) {
        OK(chordal_type_provide(host, (const uint8_t *)TYPE, strlen(TYPE), &type, NULL));
        OK(chordal_uv_listen(adapter, address, NULL, NULL, 0, NULL));
        return;
    }
    OK(chordal_uv_connect(adapter, address, CHORDAL_CODEC_BINARY, 0, &link, NULL));
    OK(chordal_reference_get(host, link, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)"{\"board\":\"a\"}",
                             13, &reference, NULL));
}

/* ---- both ---- */

/* The server in a process of its own, which ends with this one's word. */
static void measure(const char *name, const char *system, bool echo, int port) {
    char address[64];
    snprintf(address, sizeof address, "ws://127.0.0.1:%d", port);
    pid_t child = fork();
    serves = child == 0;
    loop = uv_default_loop();
    if (!serves) usleep(200000);
    if (echo)
        open_echo(port);
    else
        open_host(address);
    uv_run(loop, UV_RUN_DEFAULT);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    print_samples(name, system, "us", samples, batches);
    printf("}\n");
    fflush(stdout);
}

/* Each in a process of its own, so that neither leaves anything to the other. */
int main(int argc, char **argv) {
    if (argc < 3) return 2;
    batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    int ports[2] = {free_port(), free_port()};
    if (fork() == 0) {
        measure("call over a loopback WebSocket", "limit: libwebsockets echo", true, ports[0]);
        _exit(0);
    }
    wait(NULL);
    measure("call over a loopback WebSocket", "chordal", false, ports[1]);
    return 0;
}
