/* fault.c: what a step breaks, each for a while. */
#include "sim/sim.h"

#define HALF_A_DAY 46000000 /* and more: a durable call is not sent again then, and outcomes grow old */

void sim_lost(sim_world *w) {
    w->last_loss = w->now;
    w->any_loss = true;
}

/* Both ends learn of it, now or late. */
static void cut(sim_world *w, const sim_step *step) {
    sim_conn *conn = sim_conn_any(w, step->a);
    if (!conn) return;
    conn->broken = true;
    for (int end = 0; end < 2; end++) {
        sim_conn_drop(conn, end);
        sim_conn_fin(w, conn, end);
    }
    sim_lost(w);
    int first = step->b & 1;
    if (sim_host_runs(w, conn->ends[first].host)) sim_end_lost(w, conn, first);
    if (step->b & 2 && sim_host_runs(w, conn->ends[!first].host)) sim_end_lost(w, conn, !first);
}

/* One end learns of it, the other does not: it is silent from then on. */
static void half(sim_world *w, const sim_step *step) {
    sim_conn *conn = sim_conn_any(w, step->a);
    int end = step->b & 1;
    if (!conn || !sim_host_runs(w, conn->ends[end].host)) return;
    sim_conn_drop(conn, end);
    sim_conn_freeze(conn, end);
    sim_end_lost(w, conn, end);
    conn->ends[end].fin = false;
    if (step->b & 2) sim_conn_freeze(conn, !end);
}

/* Nothing arrives on one way or both for a while; then all of it does. */
static void freeze(sim_world *w, const sim_step *step) {
    sim_conn *conn = sim_conn_any(w, step->a);
    if (!conn) return;
    for (int end = 0; end < 2; end++) {
        if (step->b % 3 == (uint32_t)end) continue;
        sim_conn_freeze(conn, end);
        sim_later(w, step->x % 40000, SIM_DO_THAW, conn->serial, (uint64_t)end);
    }
}

static void throttle(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    spec->rate = 1 + step->b % 50;
    spec->rate_until = w->now + step->x % 10000;
}

static void delay(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    spec->delay = step->b % 4000;
    spec->delay_until = w->now + step->x % 10000;
}

/* Nobody reaches the host, and it reaches nobody. */
static void part(sim_world *w, const sim_step *step) {
    uint32_t host = step->a % (uint32_t)w->hosts_len;
    uint64_t span = step->x % 60000;
    sim_lost(w);
    w->hosts[host].apart_until = w->now + span;
    sim_later(w, span, SIM_DO_RESUME, host, 0);
}

static void restart(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len);
    if (!w->hosts[host].host) return;
    sim_lost(w);
    if (sim_worker_at(w, host)) {
        sim_worker_kill(w, sim_worker_at(w, host));
        return;
    }
    sim_host_close(w, host);
    sim_later(w, step->b & 1 ? 0 : step->x % 20000, SIM_DO_RESUME, (uint64_t)host, 1);
}

static void pause(sim_world *w, const sim_step *step) {
    uint32_t host = step->a % (uint32_t)w->hosts_len;
    uint64_t span = step->x % 50000;
    w->hosts[host].paused_until = w->now + span;
    sim_later(w, span, SIM_DO_RESUME, host, 0);
}

static void jump(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len);
    sim_lost(w);
    w->hosts[host].offset += (uint64_t)(step->x % 1000) * (step->x % 1000) * (step->b % 4 + 1);
    if (w->stored && step->b % 8 == 7) w->hosts[host].offset += HALF_A_DAY;
    if (w->hosts[host].host) sim_host_turn(w, host);
}

static void starve(sim_world *w, const sim_step *step) {
    sim_host *host = &w->hosts[step->a % (uint32_t)w->hosts_len];
    if (!host->host) return;
    sim_lost(w);
    sim_host_life(w, host->index)->starved = true;
    host->memory.fails_one_in = 1 + step->b % 60;
    host->starved_until = w->now + step->x % 3000;
    sim_later(w, step->x % 3000, SIM_DO_RESUME, (uint64_t)host->index, 0);
}

static void slow(sim_world *w, const sim_step *step) {
    sim_host *host = &w->hosts[step->a % (uint32_t)w->hosts_len];
    host->slow_every = 5 + step->b % 3000;
    host->slow_until = w->now + step->x % 20000;
}

/* A program closes its link in good order, and opens it again. */
static void bye(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    if (!spec->link || !sim_host_runs(w, spec->from)) return;
    sim_lost(w);
    (void)chordal_link_close(w->hosts[spec->from].host, spec->link, NULL);
    sim_host_turn(w, spec->from);
}

/* Dial again by hand. */
static void dial(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    if (!spec->link || !sim_host_runs(w, spec->from)) return;
    (void)chordal_link_retry(w->hosts[spec->from].host, spec->link, sim_host_now(w, spec->from), NULL);
    sim_host_turn(w, spec->from);
}

void sim_fault_do(sim_world *w, const sim_step *step) {
    static void (*const faults[SIM_STEP_END])(sim_world *, const sim_step *) = {[SIM_cut] = cut,
                                                                                [SIM_half] = half,
                                                                                [SIM_freeze] = freeze,
                                                                                [SIM_throttle] = throttle,
                                                                                [SIM_delay] = delay,
                                                                                [SIM_part] = part,
                                                                                [SIM_restart] = restart,
                                                                                [SIM_pause] = pause,
                                                                                [SIM_jump] = jump,
                                                                                [SIM_starve] = starve,
                                                                                [SIM_slow] = slow,
                                                                                [SIM_bye] = bye,
                                                                                [SIM_dial] = dial,
                                                                                [SIM_hostile] = sim_hostile_do,
                                                                                [SIM_revoke] = sim_revoke,
                                                                                [SIM_rule] = sim_rule_step,
                                                                                [SIM_place] = sim_place_step,
                                                                                [SIM_work] = sim_work_step,
                                                                                [SIM_die] = sim_die_step,
                                                                                [SIM_stop] = sim_stop_step,
                                                                                [SIM_shut] = sim_store_step,
                                                                                [SIM_power] = sim_store_step,
                                                                                [SIM_copy] = sim_store_step,
                                                                                [SIM_swap] = sim_store_step,
                                                                                [SIM_disk] = sim_store_step};
    if (faults[step->kind]) faults[step->kind](w, step);
}
