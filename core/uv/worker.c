/* worker.c: processes that carry a link. The link is dialled by starting one; what keeps it from coming back at once,
 * and what ends it, is decided here. Reports are told in the turn. */
#include "uv/uv.h"

#include <signal.h>

#define REPORTS 4       /* more cannot come between two turns: STARTED, EXITED, and ENDED */
#define LAST_BYTES 1000 /* ms for what a process sent before its end, while others hold its socket open */

/* What the timer is for. */
enum { NOTHING, BACKOFF, START, STEADY, LEAVE, TERMINATE, KILL, CUT };

struct chordal_uv_worker {
    chordal__list node; /* adapter.workers */
    chordal_uv *adapter;
    chordal__uv_link *link; /* NULL: closed */
    chordal__uv_plan plan;
    uv_process_t process;
    uv_timer_t timer;
    uint8_t phase;
    bool running; /* the process, or its handle */
    bool alive;   /* the process: its number is its own */
    bool wanted;  /* the link waits for one */
    bool ready;
    bool missed;   /* its start deadline */
    bool linked;   /* with a process, as far as the link has told */
    bool left;     /* that said bye */
    bool open;     /* it exited with 0, and whether it said bye is not known yet */
    bool stopping; /* for good */
    bool ended;
    int code;          /* why */
    uint32_t failures; /* in a row */
    int64_t status;
    int signal;
    chordal_uv_worker_report reports[REPORTS];
    size_t reports_len;
};

static void report(chordal_uv_worker *worker, uint32_t state, int code) {
    if (worker->reports_len == REPORTS) return;
    bool exited = state == CHORDAL_UV_WORKER_EXITED;
    worker->reports[worker->reports_len++] = (chordal_uv_worker_report){
        sizeof(chordal_uv_worker_report), state, exited ? worker->status : 0, exited ? worker->signal : 0, code};
}

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *timer) {
    chordal_uv_worker *worker = timer->data;
    chordal_uv *adapter = worker->adapter;
    chordal__uv_plan_free(&worker->plan);
    free(worker);
    chordal__uv_drop(adapter);
}

static void worker_free(chordal_uv_worker *worker) {
    chordal__list_remove(&worker->node);
    uv_close((uv_handle_t *)&worker->timer, on_timer_closed);
}

/* Neither link nor process is left. */
static void end(chordal_uv_worker *worker) {
    if (worker->ended) return;
    worker->ended = true;
    uv_timer_stop(&worker->timer);
    if (worker->adapter->host)
        report(worker, CHORDAL_UV_WORKER_ENDED, worker->code);
    else
        worker_free(worker);
}

/* ---- the timer ---- */

static void on_timer(uv_timer_t *timer);

static void wait_for(chordal_uv_worker *worker, uint8_t phase, chordal_time span) {
    worker->phase = phase;
    if (span >= CHORDAL_NEVER)
        uv_timer_stop(&worker->timer);
    else
        uv_timer_start(&worker->timer, on_timer, span, 0);
}

static void wait_no_more(chordal_uv_worker *worker) {
    worker->phase = NOTHING;
    uv_timer_stop(&worker->timer);
}

static bool is_going(const chordal_uv_worker *worker) {
    return worker->phase == LEAVE || worker->phase == TERMINATE || worker->phase == KILL;
}

static void terminate(chordal_uv_worker *worker) {
    if (!worker->alive || worker->phase == TERMINATE || worker->phase == KILL) return;
    uv_process_kill(&worker->process, SIGTERM);
    wait_for(worker, TERMINATE, worker->plan.options.kill_timeout);
}

/* ---- a process ---- */

static void stop_for(chordal_uv_worker *worker, int code) {
    worker->stopping = true;
    worker->wanted = false;
    worker->code = code;
    if (!worker->running) wait_no_more(worker);
}

static void give_up(chordal_uv_worker *worker, int code) {
    stop_for(worker, code);
    if (worker->link) chordal_link_close(worker->adapter->host, worker->link->id, NULL);
}

/* Whether it may be tried again. */
static bool may_fail(chordal_uv_worker *worker) {
    if (++worker->failures <= worker->plan.options.restarts) return true;
    give_up(worker, CHORDAL_E_LIMIT);
    return false;
}

static void spawn_later(chordal_uv_worker *worker);

static bool has_failed(const chordal_uv_worker *worker) {
    return worker->status || worker->signal || worker->missed;
}

/* A process has gone whose link is not closed. One that did not say bye may have ended because it lost its parent. */
static void go_on(chordal_uv_worker *worker) {
    bool failed = has_failed(worker) || !worker->left;
    worker->open = false;
    if (worker->stopping) {
        give_up(worker, worker->code); /* nothing is left to wait for */
        return;
    }
    if (!failed)
        give_up(worker, 0);
    else if (may_fail(worker) && worker->wanted)
        spawn_later(worker);
}

static void on_gone(uv_handle_t *process) {
    chordal_uv_worker *worker = process->data;
    chordal_uv *adapter = worker->adapter;
    worker->running = worker->ready = false;
    wait_no_more(worker);
    if (adapter->host) report(worker, CHORDAL_UV_WORKER_EXITED, worker->missed ? CHORDAL_E_TIMEOUT : 0);
    if (!worker->link) {
        end(worker);
    } else {
        if (worker->link->transport) wait_for(worker, CUT, LAST_BYTES);
        worker->open = worker->linked && !worker->stopping && !has_failed(worker);
        if (!worker->open) go_on(worker);
    }
    chordal__uv_drop(adapter);
}

static void on_exited(uv_process_t *process, int64_t status, int signal) {
    chordal_uv_worker *worker = process->data;
    worker->alive = false;
    worker->status = status;
    worker->signal = signal;
    uv_close((uv_handle_t *)process, on_gone);
}

static void on_never_started(uv_handle_t *process) {
    chordal_uv_worker *worker = process->data;
    chordal_uv *adapter = worker->adapter;
    worker->running = false;
    if (!worker->link)
        end(worker);
    else if (worker->wanted)
        spawn_later(worker);
    chordal__uv_drop(adapter);
}

/* Its link loses the transport. */
static void cut(chordal_uv_worker *worker) {
    chordal__uv_link *link = worker->link;
    if (!link) return;
    if (link->transport) {
        link->transport->link = NULL;
        link->transport->functions->close(link->transport, 0);
    }
    chordal__uv_link_lost(link);
}

/* No such program, say: another try would end alike. */
static bool is_final(int status) {
    return status != UV_EAGAIN && status != UV_ENOMEM && status != UV_EMFILE && status != UV_ENFILE;
}

static void not_started(chordal_uv_worker *worker, int status) {
    worker->status = status;
    worker->signal = 0;
    report(worker, CHORDAL_UV_WORKER_EXITED, 0);
    if (is_final(status))
        give_up(worker, CHORDAL_E_INVALID);
    else
        (void)may_fail(worker);
    cut(worker);
}

static int start_process(chordal_uv_worker *worker, uv_stream_t *stream) {
    chordal__uv_plan *plan = &worker->plan;
    uv_stdio_container_t stdio[CHORDAL__UV_PARENT_SOCKET + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = 1},
        {.flags = UV_INHERIT_FD, .data.fd = 2},
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE, .data.stream = stream}};
    uv_process_options_t options = {.exit_cb = on_exited,
                                    .file = plan->arguments[0],
                                    .args = plan->arguments,
                                    .env = plan->environment,
                                    .cwd = plan->folder,
                                    .stdio_count = CHORDAL__UV_PARENT_SOCKET + 1,
                                    .stdio = stdio};
    worker->process.data = worker;
    worker->running = true;
    chordal__uv_hold(worker->adapter);
    return uv_spawn(worker->adapter->loop, &worker->process, &options);
}

static void spawn(chordal_uv_worker *worker) {
    uv_stream_t *stream;
    worker->wanted = worker->missed = worker->left = worker->open = false;
    worker->linked = true;
    wait_no_more(worker);
    if (chordal__uv_ipc_spawned(worker->link, &stream)) {
        not_started(worker, UV_ENOMEM);
        return;
    }
    int status = start_process(worker, stream);
    if (status) {
        uv_close((uv_handle_t *)&worker->process, on_never_started);
        not_started(worker, status);
        return;
    }
    worker->alive = true;
    report(worker, CHORDAL_UV_WORKER_STARTED, 0);
    wait_for(worker, START, worker->plan.options.start_timeout);
    if (!chordal__uv_ipc_read(worker->link)) terminate(worker);
}

/* The link has waited a little already; after several failures in a row it takes longer. */
static void spawn_later(chordal_uv_worker *worker) {
    const chordal_uv_worker_options *options = &worker->plan.options;
    chordal_time pause = options->backoff_first;
    for (uint32_t i = 2; i < worker->failures && pause < options->backoff_limit; i++) pause *= 2;
    if (pause > options->backoff_limit) pause = options->backoff_limit;
    if (worker->failures > 1)
        wait_for(worker, BACKOFF, pause);
    else
        spawn(worker);
}

static void on_timer(uv_timer_t *timer) {
    chordal_uv_worker *worker = timer->data;
    uint8_t phase = worker->phase;
    worker->phase = NOTHING;
    switch (phase) {
    case BACKOFF:
        spawn(worker);
        break;
    case START:
        worker->missed = true;
        terminate(worker);
        break;
    case STEADY:
        worker->failures = 0;
        break;
    case LEAVE:
        terminate(worker);
        break;
    case TERMINATE:
        worker->phase = KILL;
        if (worker->alive) uv_process_kill(&worker->process, SIGKILL);
        break;
    case CUT:
        cut(worker);
        break;
    default:
        break;
    }
}

/* ---- what becomes of its link ---- */

void chordal__uv_worker_dial(chordal_uv_worker *worker) {
    if (worker->linked) chordal__uv_worker_down(worker, 0);
    if (worker->stopping) return;
    worker->wanted = true;
    if (!worker->running) spawn_later(worker); /* else when the one before is gone: it has its time to leave */
}

void chordal__uv_worker_lost(chordal_uv_worker *worker) {
    worker->ready = false;
    if (worker->phase == CUT) wait_no_more(worker);
    if (worker->running && !is_going(worker)) wait_for(worker, LEAVE, worker->plan.options.stop_timeout);
}

void chordal__uv_worker_down(chordal_uv_worker *worker, int code) {
    worker->linked = false;
    worker->left = worker->left || code == CHORDAL_E_BYE;
    chordal__uv_worker_lost(worker);
    if (worker->open) go_on(worker);
}

void chordal__uv_worker_closed(chordal_uv_worker *worker, int code) {
    worker->link = NULL;
    worker->ready = false;
    if (!worker->stopping) worker->code = code;
    worker->stopping = true;
    if (!worker->running)
        end(worker);
    else if (!is_going(worker))
        wait_for(worker, LEAVE, worker->plan.options.stop_timeout);
}

/* ---- the turn ---- */

static bool offers_all(const chordal_uv_worker *worker) {
    const char *name = worker->plan.types;
    while (name && *name) {
        size_t len = strcspn(name, " ");
        uint32_t offered = 1;
        if (len && chordal_link_offers(worker->adapter->host, worker->link->id, name, len, &offered, NULL))
            return false;
        if (!offered) return false;
        name += len + (name[len] == ' ');
    }
    return true;
}

static void look(chordal_uv_worker *worker) {
    if (worker->ready || !worker->link || !worker->link->up || !worker->running || !offers_all(worker)) return;
    worker->ready = true;
    report(worker, CHORDAL_UV_WORKER_READY, 0);
    if (worker->phase == START) wait_for(worker, STEADY, worker->plan.options.steady);
}

/* Tell what there is; false when the program has closed the adapter. */
static bool tell(chordal_uv_worker *worker) {
    chordal_uv *adapter = worker->adapter;
    const chordal_uv_worker_options *options = &worker->plan.options;
    chordal_uv_worker_report told[REPORTS];
    size_t len = worker->reports_len;
    memcpy(told, worker->reports, sizeof told);
    worker->reports_len = 0;
    for (size_t i = 0; i < len; i++) {
        if (options->told) options->told(options->context, worker, &told[i]);
        if (!adapter->host) return false;
    }
    if (len && told[len - 1].state == CHORDAL_UV_WORKER_ENDED) worker_free(worker);
    return true;
}

void chordal__uv_workers_turn(chordal_uv *adapter) {
    chordal__list *node = adapter->workers.next;
    while (node != &adapter->workers) {
        chordal_uv_worker *worker = CHORDAL__ENTRY(node, chordal_uv_worker, node);
        node = node->next;
        look(worker);
        if (!tell(worker)) return;
    }
}

void chordal__uv_workers_close(chordal_uv *adapter) {
    chordal__list *node = adapter->workers.next;
    while (node != &adapter->workers) {
        chordal_uv_worker *worker = CHORDAL__ENTRY(node, chordal_uv_worker, node);
        node = node->next;
        if (worker->running)
            terminate(worker);
        else
            worker_free(worker);
    }
}

/* ---- for the program ---- */

static int start(chordal_uv *adapter, chordal_uv_worker *worker, chordal_error *error) {
    uint32_t flags = worker->plan.options.link_flags | CHORDAL_LINK_CONNECT | CHORDAL_LINK_PATIENT |
                     CHORDAL_LINK_WORKER | CHORDAL_LINK_ROUTE_OFFERS;
    chordal_error why = {0};
    worker->link = chordal__uv_link_new(adapter, flags, &why);
    if (error) *error = why;
    if (!worker->link) return why.code;
    worker->link->worker = worker;
    worker->link->codec = CHORDAL_CODEC_BINARY;
    worker->adapter = adapter;
    worker->timer.data = worker;
    uv_timer_init(adapter->loop, &worker->timer);
    chordal__uv_hold(adapter);
    chordal__list_init(&worker->node);
    chordal__list_append(&adapter->workers, &worker->node);
    return 0;
}

int chordal_uv_worker_start(chordal_uv *adapter, const chordal_uv_worker_options *options, chordal_id *out_link,
                            chordal_uv_worker **out_worker, chordal_error *error) {
    chordal_uv_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return chordal__uv_fail(error, UV_ENOMEM, "worker");
    int code = chordal__uv_plan_read(options, &worker->plan, error);
    if (code == 0) code = start(adapter, worker, error);
    if (code) {
        chordal__uv_plan_free(&worker->plan);
        free(worker);
        return code;
    }
    *out_link = worker->link->id;
    *out_worker = worker;
    return 0;
}

void chordal_uv_worker_stop(chordal_uv_worker *worker) {
    if (worker->stopping || !worker->adapter->host) return;
    chordal_uv *adapter = worker->adapter;
    stop_for(worker, 0);
    if (worker->link)
        chordal_link_drain(adapter->host, worker->link->id, worker->plan.options.drain_timeout,
                           chordal__uv_now(adapter), NULL);
    chordal_uv_wake(adapter);
}

int64_t chordal_uv_worker_process(const chordal_uv_worker *worker) {
    return worker->alive ? uv_process_get_pid(&worker->process) : 0;
}
