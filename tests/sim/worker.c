/* worker.c: hosts that are processes of another one. Their parent opens a link when it wants one, and each dial of it
 * starts a process: which may be slow, die at once or soon, never link or leave; too many failures in a row close the
 * link, and who is asked for the next object starts anew (core/uv/worker.c). */
#include "sim/sim.h"

#define EVERY_WORLD 9600
#define EVERY_RUN 9610
#define STEADY 10000 /* ms: who was there so long begins to fail anew */
#define LEAVE 3000   /* for a process whose link was closed */
#define WHATS 8

enum { FINE, SLOW, STILLBORN, SHORT, SILENT, DONE, MOODS };
enum { SPAWN, BEGIN, LATE, DIES, EXITS, REPLACED, UNHEARD, CLOSES };

sim_worker *sim_worker_at(sim_world *w, int host) {
    int index = host - (int)w->plan->hosts;
    return index >= 0 && index < w->workers_len ? &w->workers[index] : NULL;
}

static sim_worker *worker_of_spec(sim_world *w, int spec) {
    for (int i = 0; i < w->workers_len; i++)
        if (w->workers[i].spec == spec) return &w->workers[i];
    return NULL;
}

static sim_spec *spec_of(sim_world *w, const sim_worker *worker) {
    return &w->specs[worker->spec];
}

bool sim_worker_rests(const sim_world *w, int host) {
    return host >= (int)w->plan->hosts && !w->hosts[host].host;
}

static void later(sim_world *w, const sim_worker *worker, uint64_t span, uint32_t what) {
    sim_later(w, span, SIM_DO_WORKER, (uint64_t)worker->host, (uint64_t)worker->run * WHATS + what);
}

/* ---- a world's workers ---- */

static void draw_worker(sim_world *w, int index, sim_random *random) {
    static const uint64_t spans[] = {500, 5000, 30000};
    sim_worker *worker = &w->workers[index];
    *worker = (sim_worker){.host = w->hosts_len, .spec = w->specs_len};
    bool alike = index && sim_draw(random, 3);
    worker->parent = alike ? worker[-1].parent : (int)sim_draw(random, w->plan->hosts);
    worker->family = worker->host;
    for (int i = index; i-- > 0;)
        if (w->workers[i].parent == worker->parent) worker->family = w->workers[i].family, worker->turn++;
    worker->start_timeout = spans[sim_draw(random, 3)];
    worker->restarts = sim_draw(random, 6);
    w->specs[w->specs_len++] =
        (sim_spec){.from = worker->parent,
                   .to = worker->host,
                   .codec = CHORDAL_CODEC_BINARY,
                   .flags_from = CHORDAL_LINK_PATIENT | CHORDAL_LINK_WORKER | CHORDAL_LINK_ROUTE_OFFERS,
                   .flags_to = CHORDAL_LINK_OFFER | (sim_draw(random, 2) ? CHORDAL_LINK_TRUSTED : 0),
                   .idle = true};
    w->hosts[w->hosts_len].index = w->hosts_len;
    sim_life_new(w, w->hosts_len++);
}

void sim_workers_open(sim_world *w) {
    static const uint32_t kinds[] = {SIM_place, SIM_work, SIM_die, SIM_stop};
    sim_random random = sim_stream(w->plan->seed, EVERY_WORLD, 0);
    bool placed = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) placed |= sim_plan_uses(w->plan, kinds[i]);
    int count = placed ? 1 + (int)sim_draw(&random, SIM_WORKERS) : 0;
    for (; w->workers_len < count; w->workers_len++) draw_worker(w, w->workers_len, &random);
}

/* ---- a process ---- */

static uint32_t mood_of(const sim_world *w, const sim_worker *worker) {
    return !w->quiet && worker->mood_until > w->now ? worker->mood : FINE;
}

static void end_process(sim_world *w, sim_worker *worker) {
    sim_note(w, "worker ends", (uint64_t)worker->host, worker->run, 0);
    sim_lost(w);
    worker->running = false;
    worker->ready_at = worker->link = 0;
    worker->run++;
    if (w->hosts[worker->host].host) sim_host_close(w, worker->host);
}

static void spawn(sim_world *w, sim_worker *worker) {
    sim_random random = sim_stream(w->plan->seed, EVERY_RUN + (uint64_t)worker->host, ++worker->run);
    uint32_t mood = mood_of(w, worker), span = sim_draw(&random, mood == SLOW ? 40000 : 200);
    worker->wanted = false;
    worker->running = true;
    worker->ready_at = 0; /* the one before may have been heard of after its end */
    sim_note(w, "worker", (uint64_t)worker->host, worker->run, mood);
    later(w, worker, worker->start_timeout, LATE);
    if (mood != SILENT) later(w, worker, w->quiet ? 1 : span, mood == STILLBORN ? DIES : BEGIN);
    if (mood == SHORT) later(w, worker, span + sim_draw(&random, 3000), DIES);
    if (mood == DONE) later(w, worker, span + sim_draw(&random, 8000), EXITS);
}

/* After several failures in a row it takes longer. */
static void spawn_later(sim_world *w, const sim_worker *worker) {
    uint32_t doubled = worker->failures < 7 ? worker->failures : 7;
    later(w, worker, worker->failures > 1 ? UINT64_C(125) << doubled : 0, SPAWN);
}

static void begin(sim_world *w, sim_worker *worker) {
    if (!spec_of(w, worker)->link) { /* its parent is gone */
        end_process(w, worker);
        return;
    }
    sim_host_open(w, worker->host);
    sim_connect(w, worker->spec, false);
}

/* ---- what its parent makes of it ---- */

static void close_link(sim_world *w, sim_worker *worker) {
    const sim_spec *spec = spec_of(w, worker);
    if (!spec->link) return;
    if (!sim_host_runs(w, worker->parent)) {
        later(w, worker, 100, CLOSES);
        return;
    }
    (void)chordal_link_close(w->hosts[worker->parent].host, spec->link, NULL);
    sim_host_turn(w, worker->parent);
}

/* It went before it had a connection: nothing else tells its link. */
static void tell_down(sim_world *w, sim_worker *worker) {
    const sim_spec *spec = spec_of(w, worker);
    if (!spec->link || spec->dial || worker->running) return;
    if (!sim_host_runs(w, worker->parent)) {
        later(w, worker, 100, UNHEARD);
        return;
    }
    (void)chordal_link_down(w->hosts[worker->parent].host, spec->link, sim_host_now(w, worker->parent), NULL);
    sim_host_turn(w, worker->parent);
}

static void gone(sim_world *w, sim_worker *worker, bool failed) {
    if (worker->ready_at && w->now - worker->ready_at >= STEADY) worker->failures = 0;
    end_process(w, worker);
    if (!failed || ++worker->failures > worker->restarts)
        close_link(w, worker);
    else
        tell_down(w, worker);
}

void sim_worker_kill(sim_world *w, sim_worker *worker) {
    if (worker->running) gone(w, worker, true);
}

bool sim_worker_dialled(sim_world *w, int spec) {
    sim_worker *worker = worker_of_spec(w, spec);
    if (!worker) return false;
    worker->wanted = true;
    if (worker->running)
        later(w, worker, 200, REPLACED);
    else
        spawn_later(w, worker);
    return true;
}

void sim_worker_want(sim_world *w, sim_worker *worker) {
    sim_spec *spec = spec_of(w, worker);
    if (!spec->idle || w->closing || !sim_host_runs(w, worker->parent)) return;
    spec->idle = false;
    worker->failures = 0;
    sim_spec_link(w, worker->spec);
}

void sim_worker_link(sim_world *w, int spec, uint32_t state) {
    sim_worker *worker = worker_of_spec(w, spec);
    if (worker && state == CHORDAL_LINK_UP) worker->ready_at = w->now;
    if (!worker || state != CHORDAL_LINK_CLOSED) return;
    spec_of(w, worker)->idle = true;
    worker->wanted = false;
    if (worker->running && !w->closing) later(w, worker, LEAVE, EXITS);
}

void sim_worker_orphan(sim_world *w, int parent) {
    for (int i = 0; i < w->workers_len; i++) {
        sim_worker *worker = &w->workers[i];
        if (worker->parent != parent) continue;
        spec_of(w, worker)->idle = true;
        worker->wanted = false;
    }
}

/* A process whose link is closed leaves. */
void sim_worker_own(sim_world *w, int host, chordal_id link, bool there) {
    sim_worker *worker = sim_worker_at(w, host);
    if (!worker) return;
    if (there)
        worker->link = link;
    else if (worker->link == link && !w->closing)
        later(w, worker, 20, EXITS);
}

/* ---- time ---- */

static void leave(sim_world *w, sim_worker *worker) {
    bool done = mood_of(w, worker) == DONE;
    if (done)
        gone(w, worker, false);
    else
        end_process(w, worker);
    tell_down(w, worker);
}

static void replace(sim_world *w, sim_worker *worker) {
    end_process(w, worker);
    if (worker->wanted) spawn(w, worker);
}

void sim_worker_due(sim_world *w, int host, uint64_t event) {
    sim_worker *worker = sim_worker_at(w, host);
    uint32_t what = (uint32_t)(event % WHATS);
    if (!worker || worker->run != event / WHATS) return;
    if (what == SPAWN && worker->wanted && !worker->running) spawn(w, worker);
    if (what == UNHEARD) tell_down(w, worker);
    if (what == CLOSES) close_link(w, worker);
    if (!worker->running || worker->run != event / WHATS) return;
    if (what == BEGIN) begin(w, worker);
    if (what == DIES || (what == LATE && !worker->ready_at)) gone(w, worker, true);
    if (what == EXITS) leave(w, worker);
    if (what == REPLACED) replace(w, worker);
}

/* ---- steps ---- */

void sim_work_step(sim_world *w, const sim_step *step) {
    if (!w->workers_len) return;
    sim_worker *worker = &w->workers[step->a % (uint32_t)w->workers_len];
    worker->mood = 1 + step->b % (MOODS - 1);
    worker->mood_until = w->now + step->x % 20000;
}

void sim_die_step(sim_world *w, const sim_step *step) {
    if (w->workers_len) sim_worker_kill(w, &w->workers[step->a % (uint32_t)w->workers_len]);
}

/* Its parent lets it do what runs there, or not, and needs it no more until it is asked for. */
void sim_stop_step(sim_world *w, const sim_step *step) {
    static const chordal_time spans[] = {0, 300, 5000, CHORDAL_NEVER};
    if (!w->workers_len) return;
    const sim_worker *worker = &w->workers[step->a % (uint32_t)w->workers_len];
    const sim_spec *spec = spec_of(w, worker);
    if (!spec->link || !sim_host_runs(w, worker->parent)) return;
    sim_lost(w);
    sim_note(w, "stop", (uint64_t)worker->host, step->b % 4, 0);
    (void)chordal_link_drain(w->hosts[worker->parent].host, spec->link, spans[step->b % 4],
                             sim_host_now(w, worker->parent), NULL);
    sim_host_turn(w, worker->parent);
}
