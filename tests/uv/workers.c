/* Worker processes: this program starts itself again, as what CHORDAL_TEST_WORKER says. */
#include "uv/peer.h"

#include <errno.h>
#include <signal.h>

/* ---- what a worker does ---- */

static void on_worker_event(void *context, chordal_host *host, const chordal_record *event) {
    peer *self = context;
    chordal_dispatcher_event(self->dispatcher, host, event);
    if (self->link_state == CHORDAL_LINK_CLOSED && self->adapter) peer_stop(self); /* the parent wants no more of it */
}

static void on_leave(uv_signal_t *leave, int number) {
    peer *self = leave->data;
    (void)number;
    if (self->adapter) peer_stop(self);
}

static void on_vanish(int number) {
    (void)number;
    _exit(0);
}

/* Serve lists, under a lasting name if it is given one, until the parent or SIGUSR1 say so; SIGUSR2: end without a
 * word. "bare" provides nothing. */
static int serve(const char *mode, const char *name) {
    uv_loop_t loop;
    uv_signal_t leave;
    peer self = {0};
    chordal_host_options options = {.size = sizeof options, .name_low = name ? (uint64_t)atoi(name) : 0};
    uv_loop_init(&loop);
    self.loop = &loop;
    CHECK_INT(chordal_host_open(&options, &self.host, NULL), 0);
    CHECK_INT(chordal_dispatcher_open(self.host, &handlers, &self, &self.dispatcher, NULL), 0);
    CHECK_INT(chordal_uv_open(&loop, self.host, on_worker_event, &self, &self.adapter, NULL), 0);
    if (strcmp(mode, "bare") != 0) peer_provide(&self);
    CHECK_INT(chordal_uv_parent(self.adapter, 0, &self.link, NULL), 0);
    CHECK_INT(chordal_uv_parent(self.adapter, 0, &self.link, NULL), CHORDAL_E_STATE); /* once */
    uv_signal_init(&loop, &leave);
    leave.data = &self;
    uv_signal_start(&leave, on_leave, SIGUSR1);
    uv_unref((uv_handle_t *)&leave);
    signal(SIGUSR2, on_vanish);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&leave, NULL);
    loop_end(&loop);
    peer_close(&self);
    return check_failures ? 99 : 0;
}

/* Hear nothing, of nobody. */
static int stubborn(void) {
    signal(SIGTERM, SIG_IGN);
    while (pause()) continue;
    return 0;
}

static int work(const char *mode) {
    if (strcmp(mode, "crash") == 0) return 3;
    if (strcmp(mode, "silent") == 0) return pause();
    if (strcmp(mode, "stubborn") == 0) return stubborn();
    return serve(mode, getenv("CHORDAL_TEST_NAME"));
}

__attribute__((constructor)) static void become_worker(void) {
    const char *mode = getenv("CHORDAL_TEST_WORKER");
    if (mode) exit(work(mode));
}

/* ---- a server with a worker, and one who holds a list there ---- */

static struct world {
    uv_loop_t loop;
    peer server, holder;
    chordal_uv_worker *worker;
    chordal_id to_worker;
    chordal_uv_worker_options options;
    int started, ready, exited, ended, questions;
    chordal_uv_worker_report last_exit, last_end;
    bool resolves; /* with the worker, which it starts when there is none */
} w;

static void on_told(void *context, chordal_uv_worker *worker, const chordal_uv_worker_report *report) {
    (void)context;
    CHECK(worker == w.worker);
    w.started += report->state == CHORDAL_UV_WORKER_STARTED;
    w.ready += report->state == CHORDAL_UV_WORKER_READY;
    w.exited += report->state == CHORDAL_UV_WORKER_EXITED;
    w.ended += report->state == CHORDAL_UV_WORKER_ENDED;
    if (report->state == CHORDAL_UV_WORKER_EXITED) w.last_exit = *report;
    if (report->state == CHORDAL_UV_WORKER_ENDED) {
        w.last_end = *report;
        w.worker = NULL;
    }
}

static void start_worker(void) {
    chordal_error error = {0};
    int code = chordal_uv_worker_start(w.server.adapter, &w.options, &w.to_worker, &w.worker, &error);
    if (code) CHECK_FAIL("start: %s", error.detail);
}

static void resolve(void *context, chordal_host *host, const chordal_event_RESOLVE *event) {
    (void)context;
    w.questions++;
    if (!w.resolves) return;
    if (!w.worker) start_worker();
    int code = chordal_resolve(host, event->question, w.to_worker, NULL);
    if (code) CHECK_INT(chordal_resolve_fail(host, event->question, "gone", 4, "", 0, NULL), 0);
}

static const char *const itself[] = {"/proc/self/exe", NULL};

static void open_world_with(const char *const *environment, chordal_time ping) {
    chordal_host_options server = {
        .size = sizeof server, .backoff_first = 20, .backoff_limit = 50, .ping_interval = ping, .ping_timeout = ping};
    memset(&w, 0, sizeof w);
    uv_loop_init(&w.loop);
    peer_open_with(&w.server, &w.loop, &server);
    peer_open(&w.holder, &w.loop);
    w.server.resolve = resolve;
    w.resolves = true;
    w.options = (chordal_uv_worker_options){.size = sizeof w.options,
                                            .arguments = itself,
                                            .environment = environment,
                                            .told = on_told,
                                            .backoff_first = 10,
                                            .backoff_limit = 20};
    CHECK_INT(chordal_type_place(w.server.host, "list", 4, NULL), 0);
    char address[64];
    snprintf(address, sizeof address, "ipc:" P_tmpdir "/chordal-workers-%d", (int)getpid());
    peer_listen(&w.server, address, 0);
    peer_connect(&w.holder, address, CHORDAL_CODEC_BINARY, 0);
}

static void open_world(const char *const *environment) {
    open_world_with(environment, CHORDAL_NEVER);
}

static void close_world(void) {
    if (w.holder.adapter) peer_stop(&w.holder);
    if (w.server.adapter) peer_stop(&w.server);
    loop_end(&w.loop);
    peer_close(&w.holder);
    peer_close(&w.server);
}

static bool has_ended(void *context) {
    (void)context;
    return w.ended > 0;
}
static bool is_ready(void *context) {
    (void)context;
    return w.ready > 0;
}
static bool is_ready_again(void *context) {
    (void)context;
    return w.ready > 1;
}
static bool is_down(void *context) {
    return ((peer *)context)->reference_state == CHORDAL_REFERENCE_DOWN;
}
static bool has_failed(void *context) {
    return ((peer *)context)->reference_state == CHORDAL_REFERENCE_FAILED;
}
static bool has_50_outcomes(void *context) {
    peer *self = context;
    return self->results + self->failures >= 50;
}

static bool is_gone(int64_t process) {
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Whether a process ignores SIGTERM by now. */
static bool is_deaf(void *context) {
    char name[64], line[256];
    uint64_t ignored = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)*(int64_t *)context);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file)) (void)sscanf(line, "SigIgn: %" SCNx64, &ignored);
    if (file) fclose(file);
    return ignored >> (SIGTERM - 1) & 1;
}

static const char *const lists[] = {"CHORDAL_TEST_WORKER=list", NULL};

/* ---- cases ---- */

TEST(it_serves_and_stops) {
    open_world(lists);
    w.options.types = "list";
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    for (int i = 0; i < 50; i++) peer_add(&w.holder, "x");
    RUN_UNTIL(&w.loop, has_50_outcomes, &w.holder);
    CHECK_INT(w.holder.results, 50);
    CHECK_INT(peer_length(&w.holder), 50);
    CHECK_INT(w.started * 10 + w.ready, 11);
    chordal_counters counters;
    chordal_host_counters(w.server.host, &counters, sizeof counters);
    CHECK_INT(counters.parts_parsed, 1);
    CHECK(counters.parts_forwarded > 100);
    CHECK_INT(counters.live_objects, 0);
    int64_t process = chordal_uv_worker_process(w.worker);
    CHECK(process > 0 && !is_gone(process));
    w.resolves = false;
    chordal_uv_worker_stop(w.worker);
    chordal_uv_worker_stop(w.worker);
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.last_exit.status, 0);
    CHECK_INT(w.last_exit.signal, 0);
    CHECK_INT(w.last_end.code, 0);
    CHECK(is_gone(process));
    RUN_UNTIL(&w.loop, is_down, &w.holder);
    close_world();
}

/* Killed while it is held and called: the holder keeps its value, and comes back to the next process. */
static void killed(const char *const *environment) {
    open_world(environment);
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    peer_add(&w.holder, "x");
    while (w.holder.results == 0) uv_run(&w.loop, UV_RUN_ONCE);
    int64_t process = chordal_uv_worker_process(w.worker);
    CHECK_INT(kill((pid_t)process, SIGSTOP), 0);
    for (int i = 0; i < 49; i++) peer_add(&w.holder, "x"); /* under way when it dies */
    for (int i = 0; i < 10; i++) uv_run(&w.loop, UV_RUN_NOWAIT);
    CHECK_INT(kill((pid_t)process, SIGKILL), 0);
    RUN_UNTIL(&w.loop, is_down, &w.holder);
    CHECK_INT(peer_length(&w.holder), 1);
    RUN_UNTIL(&w.loop, is_ready_again, NULL);
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    RUN_UNTIL(&w.loop, has_50_outcomes, &w.holder);
    CHECK_INT(w.holder.results, 1);
    CHECK_INT(w.holder.failures, 49); /* their outcomes are unknown */
    CHECK_INT(peer_length(&w.holder), 0);
    CHECK_INT(w.last_exit.signal, SIGKILL);
    CHECK_INT(w.exited, 1);
    CHECK_INT(w.questions, 2); /* nobody tries the old way */
    CHECK(is_gone(process));
    CHECK(chordal_uv_worker_process(w.worker) != process);
    close_world();
}

TEST(it_is_killed_under_its_holders) {
    static const char *const named[] = {"CHORDAL_TEST_WORKER=list", "CHORDAL_TEST_NAME=7", NULL};
    killed(lists);
    killed(named);
}

/* It leaves by itself: who holds asks again, and another is started. */
TEST(it_leaves_and_another_comes) {
    open_world(lists);
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    CHECK_INT(kill((pid_t)chordal_uv_worker_process(w.worker), SIGUSR1), 0);
    RUN_UNTIL(&w.loop, is_ready_again, NULL);
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    CHECK_INT(w.ended, 1);
    CHECK_INT(w.last_exit.status, 0);
    CHECK_INT(w.last_end.code, 0);
    CHECK(w.questions == 2 || w.questions == 3); /* once more when it is asked for before the process is gone */
    close_world();
}

/* It ends without a bye: it may only have lost its parent, so it is started again. */
TEST(it_vanishes) {
    open_world(lists);
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    CHECK_INT(kill((pid_t)chordal_uv_worker_process(w.worker), SIGUSR2), 0);
    RUN_UNTIL(&w.loop, is_ready_again, NULL);
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    CHECK_INT(w.ended, 0);
    CHECK_INT(w.exited, 1);
    CHECK_INT(w.last_exit.status, 0);
    CHECK_INT(w.questions, 2);
    close_world();
}

/* It is silent for too long, and ends with 0 when it hears that its parent let it go; or never hears it. */
static void silent(bool wakes) {
    open_world_with(lists, 300);
    w.options.stop_timeout = wakes ? 60000 : 100;
    w.options.kill_timeout = 100;
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    pid_t process = (pid_t)chordal_uv_worker_process(w.worker);
    CHECK_INT(kill(process, SIGSTOP), 0);
    RUN_UNTIL(&w.loop, is_down, &w.holder);
    if (wakes) CHECK_INT(kill(process, SIGCONT), 0);
    RUN_UNTIL(&w.loop, is_ready_again, NULL);
    RUN_UNTIL(&w.loop, is_live, &w.holder);
    CHECK_INT(w.ended, 0);
    CHECK_INT(w.last_exit.status, 0);
    CHECK_INT(w.last_exit.signal, wakes ? 0 : SIGKILL);
    CHECK(is_gone(process));
    close_world();
}

TEST(it_loses_its_parent) {
    silent(true);
}

TEST(it_hangs) {
    silent(false);
}

static void never_ready(const char *const *environment, chordal_time start_timeout, int signal, int status, int code) {
    open_world(environment);
    w.options.restarts = 2;
    w.options.start_timeout = start_timeout;
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, has_failed, &w.holder);
    w.resolves = false;
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.started * 100 + w.exited * 10 + w.ready, 330);
    CHECK_INT(w.last_exit.signal, signal);
    CHECK_INT(w.last_exit.status, status);
    CHECK_INT(w.last_exit.code, code);
    CHECK_INT(w.last_end.code, CHORDAL_E_LIMIT);
    close_world();
}

TEST(it_misses_its_start_deadline) {
    static const char *const silent[] = {"CHORDAL_TEST_WORKER=silent", NULL};
    never_ready(silent, 300, SIGTERM, 0, CHORDAL_E_TIMEOUT);
}

TEST(it_crashes_at_once) {
    static const char *const crash[] = {"CHORDAL_TEST_WORKER=crash", NULL};
    never_ready(crash, 0, 0, 3, 0); /* in time, however slowly it starts */
}

/* Linked, but without the type that was asked for. */
TEST(it_offers_too_little) {
    static const char *const bare[] = {"CHORDAL_TEST_WORKER=bare", NULL};
    open_world(bare);
    w.options.types = "list";
    w.options.flags = CHORDAL_UV_WORKER_ONCE;
    w.options.start_timeout = 500;
    start_worker();
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.started * 100 + w.exited * 10 + w.ready, 110);
    CHECK_INT(w.last_exit.code, CHORDAL_E_TIMEOUT);
    CHECK_INT(w.last_end.code, CHORDAL_E_LIMIT);
    close_world();
}

TEST(there_is_no_such_program) {
    static const char *const nothing[] = {"/no/such/program", NULL};
    open_world(lists);
    w.options.arguments = nothing;
    peer_hold(&w.holder, "a");
    RUN_UNTIL(&w.loop, has_failed, &w.holder);
    w.resolves = false;
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.started * 10 + w.exited, 1);
    CHECK_INT(w.last_exit.status, UV_ENOENT);
    CHECK_INT(w.last_end.code, CHORDAL_E_INVALID);
    close_world();
}

/* It does not listen to byes nor to SIGTERM. */
TEST(it_is_stubborn) {
    static const char *const deaf[] = {"CHORDAL_TEST_WORKER=stubborn", NULL};
    open_world(deaf);
    w.options.stop_timeout = w.options.kill_timeout = 100;
    start_worker();
    while (!w.started) uv_run(&w.loop, UV_RUN_ONCE);
    int64_t process = chordal_uv_worker_process(w.worker);
    RUN_UNTIL(&w.loop, is_deaf, &process);
    chordal_uv_worker_stop(w.worker);
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.last_exit.signal, SIGKILL);
    CHECK_INT(w.last_end.code, 0);
    CHECK(is_gone(process));
    close_world();
}

/* Nobody is left behind when the adapter closes, at whatever time. */
TEST(the_adapter_is_closed) {
    for (int rounds = 0; rounds < 12; rounds += 3) {
        open_world(lists);
        start_worker();
        int64_t process = 0;
        for (int i = 0; i < rounds; i++) {
            uv_run(&w.loop, UV_RUN_NOWAIT);
            usleep(1000);
            process = chordal_uv_worker_process(w.worker);
        }
        close_world();
        if (process) CHECK(is_gone(process));
        CHECK_INT(w.ended, 0);
    }
    open_world(lists);
    start_worker();
    RUN_UNTIL(&w.loop, is_ready, NULL);
    int64_t process = chordal_uv_worker_process(w.worker);
    close_world();
    CHECK(is_gone(process));
}

/* Stopped before it was started, and between two starts. */
TEST(it_is_stopped_early) {
    static const char *const crash[] = {"CHORDAL_TEST_WORKER=crash", NULL};
    open_world(lists);
    start_worker();
    chordal_uv_worker_stop(w.worker);
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK_INT(w.started, 0);
    w.ended = 0;
    w.options.environment = crash;
    start_worker();
    while (!w.exited) uv_run(&w.loop, UV_RUN_ONCE);
    chordal_uv_worker_stop(w.worker);
    RUN_UNTIL(&w.loop, has_ended, NULL);
    CHECK(w.started > 0);
    CHECK_INT(w.exited, w.started); /* on a slow machine the next had begun already */
    close_world();
}

static void on_pipe(int number) {
    (void)number;
}

/* Who writes to a peer that went gets an error, not a signal; but a program's own handler stays. */
TEST(a_broken_pipe_is_no_end) {
    struct sigaction now;
    signal(SIGPIPE, SIG_DFL);
    open_world(lists);
    CHECK_INT(sigaction(SIGPIPE, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_IGN);
    close_world();
    signal(SIGPIPE, on_pipe);
    open_world(lists);
    CHECK_INT(sigaction(SIGPIPE, NULL, &now), 0);
    CHECK(now.sa_handler == on_pipe);
    close_world();
    signal(SIGPIPE, SIG_IGN);
}

TEST(options_are_checked) {
    static const char *const none[] = {NULL};
    open_world(lists);
    chordal_uv *adapter = w.server.adapter;
    chordal_id link;
    CHECK_INT(chordal_uv_worker_start(adapter, NULL, &link, &w.worker, NULL), CHORDAL_E_INVALID);
    w.options.arguments = none;
    CHECK_INT(chordal_uv_worker_start(adapter, &w.options, &link, &w.worker, NULL), CHORDAL_E_INVALID);
    w.options.arguments = NULL;
    CHECK_INT(chordal_uv_worker_start(adapter, &w.options, &link, &w.worker, NULL), CHORDAL_E_INVALID);
    w.options.arguments = itself;
    w.options.flags = 2;
    CHECK_INT(chordal_uv_worker_start(adapter, &w.options, &link, &w.worker, NULL), CHORDAL_E_INVALID);
    w.options.flags = 0;
    w.options.size = 4;
    CHECK_INT(chordal_uv_worker_start(adapter, &w.options, &link, &w.worker, NULL), CHORDAL_E_INVALID);
    static const char *const parents[] = {"", "x", "3x", "999999", "1234567"}; /* none is a socket */
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        setenv("CHORDAL_PARENT", parents[i], 1);
        CHECK_INT(chordal_uv_parent(adapter, 0, &link, NULL), CHORDAL_E_STATE);
    }
    unsetenv("CHORDAL_PARENT");
    CHECK_INT(chordal_uv_parent(adapter, 0, &link, NULL), CHORDAL_E_STATE);
    close_world();
}

TESTS({"it serves and stops", it_serves_and_stops}, {"it is killed under its holders", it_is_killed_under_its_holders},
      {"it leaves and another comes", it_leaves_and_another_comes}, {"it vanishes", it_vanishes},
      {"it loses its parent", it_loses_its_parent}, {"it hangs", it_hangs},
      {"it misses its start deadline", it_misses_its_start_deadline}, {"it crashes at once", it_crashes_at_once},
      {"it offers too little", it_offers_too_little}, {"there is no such program", there_is_no_such_program},
      {"it is stubborn", it_is_stubborn}, {"the adapter is closed", the_adapter_is_closed},
      {"it is stopped early", it_is_stopped_early}, {"a broken pipe is no end", a_broken_pipe_is_no_end},
      {"options are checked", options_are_checked})
