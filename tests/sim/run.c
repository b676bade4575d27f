/* run.c: one plan from its beginning to its end, here or in a process of its own. */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim.h"

#define HAPPENINGS 3000000 /* more than this in one run is a circle */
#define SECONDS 60         /* a run that takes longer hangs */

static void resume(sim_world *w, int index, bool opens) {
    sim_host *host = &w->hosts[index];
    if (host->starved_until <= w->now) host->memory.fails_one_in = 0;
    if (host->store.troubled_until <= w->now) host->store.disk.faults = 0;
    if (opens && !host->host && !sim_worker_at(w, index)) sim_host_open(w, index);
    sim_conns_pass(w, index);
    sim_host_turn(w, index);
}

static void happen_to_conn(sim_world *w, const sim_event *event) {
    sim_conn *conn = sim_conn_of(w, event->a);
    int end = (int)event->b;
    if (!conn) return;
    if (event->kind == SIM_DO_DELIVER) sim_conn_deliver(w, conn, end);
    if (event->kind == SIM_DO_PIECE) sim_conn_piece(w, conn, end);
    if (event->kind == SIM_DO_ACCEPT) sim_accept(w, conn);
    if (event->kind == SIM_DO_READY) sim_ready(w, conn);
    if (event->kind == SIM_DO_REFUSE) sim_refuse(w, conn);
    if (event->kind == SIM_DO_DRAIN) sim_end_drained(w, conn, end);
    if (event->kind == SIM_DO_THAW) sim_conn_thaw(w, conn, end);
}

static void happen(sim_world *w, const sim_event *event) {
    sim_host *host = &w->hosts[event->a % SIM_ALL_HOSTS];
    switch (event->kind) {
    case SIM_DO_STEP:
        sim_step_do(w, &w->plan->steps[event->a]);
        break;
    case SIM_DO_WAKE:
        if (host->wake_at != event->b) break;
        host->wake_at = UINT64_MAX;
        sim_host_turn(w, host->index);
        break;
    case SIM_DO_ANSWER:
    case SIM_DO_COMPUTE:
        if (w->running[event->a].id != event->b) break;
        if (event->kind == SIM_DO_ANSWER)
            sim_answer(w, event->a);
        else
            sim_compute(w, event->a);
        break;
    case SIM_DO_TAKE:
        sim_reader_take(w, &w->readers[event->a]);
        break;
    case SIM_DO_RETRY:
        sim_reader_retry(w, &w->readers[event->a]);
        break;
    case SIM_DO_RESUME:
        resume(w, host->index, event->b);
        break;
    case SIM_DO_RELINK:
        if (!w->closing) sim_spec_link(w, (int)event->a);
        break;
    case SIM_DO_ADMIT:
        if (host->host) sim_admit(w, host->index, event->b);
        break;
    case SIM_DO_LEAVE:
        if (!w->closing) sim_leave(w, (int)event->a, event->b);
        break;
    case SIM_DO_JUDGE:
        if (w->asked[event->a].id == event->b) sim_judge(w, event->a);
        break;
    case SIM_DO_RESOLVE:
        if (w->questions[event->a].id == event->b) sim_resolve(w, event->a);
        break;
    case SIM_DO_WORKER:
        sim_worker_due(w, host->index, event->b);
        break;
    case SIM_DO_START:
        sim_start(w, host->index, event->b);
        break;
    default:
        happen_to_conn(w, event);
    }
}

void sim_run_until(sim_world *w, uint64_t until) {
    sim_event event;
    while (!w->failure[0] && w->schedule.len && w->schedule.events[0].at <= until && sim_happens(w, &event)) {
        w->now = event.at;
        if (++w->happened > HAPPENINGS) sim_fail(w, "circle: it never comes to an end");
        happen(w, &event);
        sim_conns_sweep(w);
    }
    if (w->now < until) w->now = until;
}

static void drive(sim_world *w, const sim_plan *plan) {
    sim_world_open(w, plan);
    uint64_t last = plan->len ? plan->steps[plan->len - 1].at : 0;
    sim_run_until(w, last + 1000);
    if (!w->failure[0]) sim_come_to_quiet(w);
    sim_world_close(w);
}

static char folder[64];

void sim_folder_make(void) {
    snprintf(folder, sizeof folder, P_tmpdir "/chordal-sim-XXXXXX");
    if (!mkdtemp(folder)) abort();
}

/* With what a process that died has left. */
void sim_folder_remove(void) {
    char path[512];
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (opened) closedir(opened);
    rmdir(folder);
}

void sim_run(const sim_plan *plan, bool tracing, sim_outcome *out) {
    static sim_world world;
    world.tracing = tracing;
    world.folder = folder;
    drive(&world, plan);
    *out = (sim_outcome){.failed = world.failure[0] != 0,
                         .trace = world.trace,
                         .frames = world.frames,
                         .checks = world.checks,
                         .bytes = world.most_bytes};
    memcpy(out->failure, world.failure, sizeof out->failure);
}

static void run_child(const sim_plan *plan, int to) {
    sim_outcome out;
    alarm(SECONDS);
    sim_run(plan, false, &out);
    if (write(to, &out, sizeof out) != (ssize_t)sizeof out) _exit(3);
    _exit(0);
}

void sim_run_apart(const sim_plan *plan, sim_outcome *out) {
    int ends[2], status = 0;
    *out = (sim_outcome){.failed = true, .failure = "crash: no process"};
    if (pipe(ends)) return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(plan, ends[1]);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    if (child > 0) waitpid(child, &status, 0);
    if (!told) *out = (sim_outcome){.failed = true};
    if (!told) snprintf(out->failure, sizeof out->failure, "crash: the process ended with status %d", status);
}
