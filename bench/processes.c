/* processes.c: what is provided in another process: `processes FOLDER BATCHES`. A call that commits, until its result
 * and its frame are there, and a hold; over a WebSocket, with a worker over its pipe, and with such a worker behind a
 * server, for a tab in the server's process or over a WebSocket. Beside it a bare echo over such a pipe. */
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "chordal/uv.h"
#include "port.h"
#include "rows.h"
#include "world.h"

enum { BATCHES = 64, CALLS = 500, HOLDS = 20, ECHOED = 10, BOARD = 0 };

#define STREAMED                                                                                                       \
    "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":"    \
    "{\"entries\":[]}},{\"name\":\"stream\",\"kind\":\"method\"}]}"

static const char *folder;
static int batches;
static double samples[BATCHES];
static uv_loop_t *loop;

static void print_row(const char *what, const char *where, const char *system, int count) {
    char name[128];
    snprintf(name, sizeof name, "%s between processes: %s", what, where);
    print_samples(name, system, "us", samples, count);
    printf("}\n");
    fflush(stdout);
}

/* ---- the provider, in a process of its own ---- */

static chordal_host *provider;
static chordal_uv *provider_adapter;

static void on_provider(void *nothing, chordal_host *host, const chordal_record *r) {
    const chordal_event_CALL *call = (const void *)r;
    const chordal_event_LINK *link = (const void *)r;
    chordal_transaction *t;
    chordal_id ticket;
    (void)nothing;
    if (r->kind == CHORDAL_EVENT_LINK && link->state == CHORDAL_LINK_CLOSED) uv_stop(loop); /* the parent is gone */
    if (r->kind != CHORDAL_EVENT_CALL) return;
    OK(chordal_transaction_begin(host, call->call, &t, NULL));
    OK(chordal_transaction_append(t, call->object, 0, "/entries/0/text", " tok", 4, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    OK(chordal_call_answer(host, call->call, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\xa2n1", 3, NULL));
    chordal_release(host, ticket);
}

static void open_notes(void) {
    world w = {0};
    chordal_id type;
    loop = uv_default_loop();
    payload_notes = read_file(folder, "notes.json");
    OK(chordal_host_open(NULL, &provider, NULL));
    OK(chordal_type_provide(provider, (const uint8_t *)STREAMED, strlen(STREAMED), &type, NULL));
    w.provider = provider;
    get_object(&w, BOARD, payload_notes);
    OK(chordal_uv_open(loop, provider, on_provider, NULL, &provider_adapter, NULL));
}

static int work(void) {
    chordal_id link;
    open_notes();
    OK(chordal_uv_parent(provider_adapter, 0, &link, NULL));
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}

static void serve_notes(const char *address) {
    open_notes();
    OK(chordal_uv_listen(provider_adapter, address, NULL, NULL, 0, NULL));
    uv_run(loop, UV_RUN_DEFAULT);
}

/* ---- a server, whose worker is started when the notes are asked for ---- */

static chordal_host *server;
static chordal_uv *server_adapter;
static chordal_id to_worker;

static void start_worker(chordal_uv *adapter) {
    const char *const arguments[] = {"/proc/self/exe", "worker", folder, NULL};
    chordal_uv_worker_options options = {.size = sizeof options, .arguments = arguments, .types = "notes"};
    chordal_uv_worker *worker;
    OK(chordal_uv_worker_start(adapter, &options, &to_worker, &worker, NULL));
}

static void on_server(void *nothing, chordal_host *host, const chordal_record *r) {
    const chordal_event_RESOLVE *resolve = (const void *)r;
    (void)nothing;
    if (r->kind != CHORDAL_EVENT_RESOLVE) return;
    if (!to_worker) start_worker(server_adapter);
    OK(chordal_resolve(host, resolve->question, to_worker, NULL));
}

static void open_server(void) {
    OK(chordal_host_open(NULL, &server, NULL));
    OK(chordal_type_place(server, "notes", 5, NULL));
    OK(chordal_uv_open(loop, server, on_server, NULL, &server_adapter, NULL));
}

static void serve_placed(const char *address) {
    loop = uv_default_loop();
    open_server();
    OK(chordal_uv_listen(server_adapter, address, NULL, NULL, 0, NULL));
    uv_run(loop, UV_RUN_DEFAULT);
}

/* ---- who holds ---- */

static chordal_host *holder;
static chordal_id holder_link, server_link, reference;
static bool live, result, frame;

static void on_holder(void *nothing, chordal_host *host, const chordal_record *r) {
    const chordal_event_REFERENCE *state = (const void *)r;
    const chordal_event_RESULT *done = (const void *)r;
    const chordal_event_FRAME *changed = (const void *)r;
    (void)nothing;
    uv_stop(loop); /* to look whether this was awaited */
    if (r->kind == CHORDAL_EVENT_REFERENCE) live = state->state == CHORDAL_REFERENCE_LIVE;
    if (r->kind == CHORDAL_EVENT_REFERENCE && state->state == CHORDAL_REFERENCE_FAILED) exit(1);
    if (r->kind == CHORDAL_EVENT_RESULT) {
        result = true;
        chordal_release(host, done->call);
    }
    if (r->kind != CHORDAL_EVENT_FRAME) return;
    frame = true;
    if (changed->ops.part) chordal_release(host, changed->ops.part);
}

/* The turn of a tab in the server's process, which follows the server's own. */
static void on_tab_turn(uv_prepare_t *turn) {
    size_t moved, all = 0, len;
    (void)turn;
    do {
        OK(chordal_link_carry(server, server_link, holder, holder_link, uv_now(loop), &moved, NULL));
        OK(chordal_host_poll(holder, uv_now(loop), polled, sizeof polled, &len, NULL));
        for (size_t at = 0; at < len;) {
            const chordal_record *r = (const void *)(polled + at);
            on_holder(NULL, holder, r);
            at += r->length;
        }
        all += moved;
    } while (moved || len);
    if (all) chordal_uv_wake(server_adapter);
}

static void open_tab(void) {
    static uv_prepare_t turn;
    loop = uv_default_loop();
    uv_prepare_init(loop, &turn);
    uv_prepare_start(&turn, on_tab_turn); /* the one started first runs last */
    open_server();
    OK(chordal_host_open(NULL, &holder, NULL));
    OK(chordal_link_open(holder, CHORDAL_LINK_CONNECT, &holder_link, NULL));
    OK(chordal_link_open(server, CHORDAL_LINK_OFFER, &server_link, NULL));
    OK(chordal_link_up(holder, holder_link, CHORDAL_CODEC_BINARY, uv_now(loop), NULL));
    OK(chordal_link_up(server, server_link, CHORDAL_CODEC_BINARY, uv_now(loop), NULL));
}

/* A holder with a loop of its own; its link is to its own worker when there is no address. */
static void open_holder(const char *address) {
    static chordal_uv *adapter;
    loop = uv_default_loop();
    OK(chordal_host_open(NULL, &holder, NULL));
    OK(chordal_uv_open(loop, holder, on_holder, NULL, &adapter, NULL));
    if (address) {
        OK(chordal_uv_connect(adapter, address, CHORDAL_CODEC_BINARY, 0, &holder_link, NULL));
        return;
    }
    start_worker(adapter);
    holder_link = to_worker;
}

static void await(const bool *one, const bool *other) {
    while (!*one || !*other) uv_run(loop, UV_RUN_ONCE);
}

/* Its time until it is live. */
static double hold_once(void) {
    char params[32];
    size_t len = params_of(params, sizeof params, BOARD);
    double start = now_us();
    live = false;
    OK(chordal_reference_get(holder, holder_link, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (uint8_t *)params, len,
                             &reference, NULL));
    await(&live, &live);
    return now_us() - start;
}

static void release_once(void) {
    chordal_release(holder, reference);
    for (int i = 0; i < 3; i++) uv_run(loop, UV_RUN_NOWAIT);
}

static void call_once(void) {
    chordal_id call;
    result = frame = false;
    OK(chordal_call_start(holder, reference, "stream", 6, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x90", 1, 0, &call,
                          NULL));
    await(&result, &frame);
}

static void measure_holds(const char *where) {
    for (int r = 0; r < batches; r++) {
        samples[r] = 0;
        for (int i = 0; i < HOLDS; i++) {
            samples[r] += hold_once() / HOLDS;
            release_once();
        }
    }
    print_row("hold to live", where, "chordal", batches);
}

static void measure_calls(const char *where) {
    chordal_id watch;
    hold_once();
    OK(chordal_watch_open(holder, reference, 0, 0, &watch, NULL));
    for (int r = -1; r < batches; r++) { /* the first one warms up */
        double start = now_us();
        for (int i = 0; i < CALLS; i++) call_once();
        if (r >= 0) samples[r] = (now_us() - start) / CALLS;
    }
    print_row("call to frame", where, "chordal", batches);
}

/* A server at an address if `serve`; the holder there, or in the server's process if `tab`, or its worker's own. */
static void measure(const char *where, void (*serve)(const char *address), const char *address, bool tab) {
    pid_t child = serve ? fork() : 0;
    if (serve && child == 0) {
        serve(address);
        _exit(0);
    }
    if (serve) usleep(200000);
    tab ? open_tab() : open_holder(address);
    samples[0] = hold_once();
    if (tab) print_row("first hold to live", where, "chordal", 1);
    release_once();
    measure_holds(where);
    measure_calls(where);
    if (child) kill(child, SIGTERM);
}

/* ---- the echo ---- */

static uv_pipe_t stream;
static char echoed[ECHOED], taken[ECHOED];
static size_t taken_len;
static int echoes = -1; /* left; below zero: the other end's */

static void write_echo(void) {
    uv_buf_t buf = uv_buf_init(echoed, ECHOED);
    taken_len = 0;
    if (uv_try_write((uv_stream_t *)&stream, &buf, 1) != ECHOED) exit(1);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf) {
    (void)handle, (void)wanted;
    *buf = uv_buf_init(taken, ECHOED);
}

static void on_echo(uv_stream_t *from, ssize_t len, const uv_buf_t *buf) {
    (void)buf;
    if (len < 0) uv_read_stop(from);
    if (len < 0 || (taken_len += (size_t)len) < ECHOED) return;
    if (echoes >= 0 && --echoes == 0)
        uv_stop(loop);
    else
        write_echo();
}

static void measure_echo(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) exit(1);
    bool answers = fork() == 0;
    loop = uv_default_loop();
    close(ends[answers]);
    uv_pipe_init(loop, &stream, 0);
    uv_pipe_open(&stream, ends[!answers]);
    uv_read_start((uv_stream_t *)&stream, on_room, on_echo);
    if (answers) uv_run(loop, UV_RUN_DEFAULT);
    if (answers) _exit(0);
    for (int r = -1; r < batches; r++) {
        double start = now_us();
        echoes = CALLS;
        write_echo();
        uv_run(loop, UV_RUN_DEFAULT);
        if (r >= 0) samples[r] = (now_us() - start) / CALLS;
    }
    print_row("call to frame", "worker", "limit: libuv pipe echo", batches);
}

/* ---- all of them, each in a process of its own ---- */

static void run(int topology) {
    char address[64];
    snprintf(address, sizeof address, "ws://127.0.0.1:%d", free_port());
    switch (topology) {
    case 0:
        return measure_echo();
    case 1:
        return measure("worker", NULL, NULL, false);
    case 2:
        return measure("tab in its server, worker", NULL, NULL, true);
    case 3:
        return measure("WebSocket", serve_notes, address, false);
    default:
        return measure("WebSocket, server, worker", serve_placed, address, false);
    }
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "worker") == 0) {
        folder = argv[2];
        return work();
    }
    if (argc < 3) return 2;
    folder = argv[1];
    batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    for (int topology = 0, status; topology <= 4; topology++) {
        if (fork() == 0) {
            run(topology);
            _exit(0);
        }
        wait(&status);
        if (status) return 1;
    }
    return 0;
}
