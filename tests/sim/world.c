/* world.c: the hosts: their clocks, their memory, restarts and turns. */
#include "sim/sim.h"

#define MEMORY_LIMIT (64u << 20)
#define SMALL 20000 /* bytes of a message, for hosts that take only small ones */

/* ---- memory that may fail, and keeps an account ---- */

static bool fails(sim_memory *memory) {
    return memory->fails_one_in && sim_draw(&memory->random, memory->fails_one_in) == 0;
}

static void *allocate(void *context, size_t size) {
    sim_memory *memory = context;
    void *block = fails(memory) ? NULL : malloc(size);
    if (!block) return NULL;
    memory->live_blocks++;
    memory->live_bytes += (int64_t)size;
    return block;
}

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    sim_memory *memory = context;
    void *moved = fails(memory) ? NULL : realloc(block, new_size);
    if (!moved) return NULL;
    memory->live_blocks += block == NULL;
    memory->live_bytes += (int64_t)new_size - (int64_t)(block ? old_size : 0);
    return moved;
}

static void release(void *context, void *block, size_t size) {
    sim_memory *memory = context;
    if (!block) return;
    memory->live_blocks--;
    memory->live_bytes -= (int64_t)size;
    free(block);
}

static int draw_bytes(void *context, uint8_t *out, size_t len) {
    for (size_t i = 0; i < len; i++) out[i] = (uint8_t)(sim_next(context) >> 40);
    return 0;
}

/* ---- opening and closing ---- */

#define TYPE                                                                                                           \
    "{\"name\":\"%c%d\",\"version\":1,\"params\":[\"board\"],\"keep\":%s,\"start\":%s,\"guarded\":%s%s,\"members\":["  \
    "{\"name\":\"a\",\"kind\":\"document\",\"initial\":{\"n\":0,\"list\":[1,2,3],\"map\":{\"k\":\"v\"},"               \
    "\"text\":\"start\"}%s},{\"name\":\"b\",\"kind\":\"document\",\"initial\":null%s},"                                \
    "{\"name\":\"life\",\"kind\":\"document\",\"persist\":false,\"initial\":%" PRIu32 "},%s"                           \
    "{\"name\":\"run\",\"kind\":\"method\"},{\"name\":\"again\",\"kind\":\"method\",\"idempotent\":true}%s%s]}"
#define DERIVE "{\"name\":\"c\",\"kind\":\"derive\",\"from\":[\"a\"]},"
#define ONCE ",{\"name\":\"once\",\"kind\":\"method\",\"durable\":true}"
#define ROWS ",{\"name\":\"rows\",\"kind\":\"table\",\"key\":[\"n\"],\"columns\":{\"n\":\"integer\"}}"

static bool provide(sim_world *w, sim_host *host, uint32_t life, int type) {
    char text[1024], words[64] = "";
    chordal_error error = {0};
    const sim_store *store = &host->store;
    const char *starts = sim_starts(w, host->index, type) ? "true" : "false";
    const char *guarded = sim_guarded(w, host->index, type) ? "true" : "false";
    bool persists = sim_persisted(w, host->index, type * SIM_BOARDS), rows = persists && store->rows;
    const char *memory = store->used && !persists ? ",\"persist\":false" : "";
    if (persists)
        snprintf(words, sizeof words, ",\"deltas\":%" PRIu32 ",\"history\":%" PRIu32, store->deltas, store->history);
    snprintf(text, sizeof text, TYPE, type ? 'u' : 't', sim_family(w, host->index), type ? "false" : "true", starts,
             guarded, words, memory, memory, life, type ? "" : DERIVE, store->used ? ONCE : "", rows ? ROWS : "");
    int code = chordal_type_provide(host->host, (const uint8_t *)text, strlen(text), &host->types[type], &error);
    if (code < 0 && !host->store.disk.faults)
        sim_fail(w, "simulator: host %d: a type is refused: %s", host->index, error.detail);
    return code == 0;
}

static chordal_host_options options_of(sim_world *w, sim_host *host, const chordal_memory_functions *memory) {
    sim_random random = sim_stream(w->plan->seed, 2000, (uint64_t)host->index);
    static const uint32_t messages[] = {1, 2, 5, 64}, bytes[] = {64, 3000, 1 << 20}, calls[] = {1, 3, 256};
    uint64_t name = sim_draw(&random, 2) ? (uint64_t)host->index + 1 : 0; /* half of them keep it over restarts */
    return (chordal_host_options){.size = sizeof(chordal_host_options),
                                  .memory = memory,
                                  .entropy = draw_bytes,
                                  .entropy_context = &host->entropy,
                                  .memory_limit = MEMORY_LIMIT,
                                  .message_limit = w->limited && sim_draw(&random, 2) ? SMALL : 0,
                                  .window_messages = messages[sim_draw(&random, 4)],
                                  .window_bytes = bytes[sim_draw(&random, 3)],
                                  .call_limit = calls[sim_draw(&random, 3)],
                                  .dictionary_limit = 2 + sim_draw(&random, 60),
                                  .compute_timeout = UINT64_C(1) << 40,
                                  .guard_timeout = sim_guard_timeout(w, host->index),
                                  .resolve_timeout = sim_resolve_timeout(w, host->index),
                                  .dial_timeout = 3000,
                                  .store = host->store.used ? host->store.disk.path : NULL,
                                  .store_vfs = SIM_DISK_NAME,
                                  .store_durability = host->store.durability,
                                  .store_flags = host->store.outbox ? CHORDAL_STORE_OUTBOX : 0,
                                  .name_high = name,
                                  .name_low = name};
}

sim_life *sim_life_new(sim_world *w, int index) {
    sim_host *host = &w->hosts[index];
    host->lives = realloc(host->lives, (host->lives_len + 1) * sizeof *host->lives);
    sim_life *life = &host->lives[host->lives_len++];
    *life = (sim_life){.serial = ++w->lives};
    sim_check_began(life);
    return life;
}

static void draw_streams(const sim_world *w, sim_host *host) {
    uint64_t index = (uint64_t)host->index, opening = host->store.used ? ++host->store.openings : host->lives_len;
    host->memory.fails_one_in = 0;
    host->memory.random = sim_stream(w->plan->seed, 3000 + index, opening);
    host->entropy = sim_stream(w->plan->seed, 4000 + index, opening);
}

static bool open_host(sim_world *w, sim_host *host) {
    chordal_error error = {0};
    const chordal_memory_functions memory = {sizeof memory, 0, &host->memory, allocate, resize, release};
    if (!host->store.used) sim_life_new(w, host->index);
    draw_streams(w, host);
    const chordal_host_options options = options_of(w, host, &memory);
    int code = chordal_host_open(&options, &host->host, &error);
    sim_note(w, "open", (uint64_t)host->index, (uint64_t)-code, 0);
    if (code < 0 && !host->store.disk.faults)
        sim_fail(w, "open: host %d: %s: %s", host->index, chordal_error_name(code), error.detail);
    if (code == 0 && host->store.used) sim_store_found(w, host->index);
    return code == 0;
}

/* What cannot be opened while its disk fails is tried again. */
static bool begin_host(sim_world *w, sim_host *host) {
    bool begun = open_host(w, host), opened = begun;
    for (int type = 0; type < SIM_TYPES && begun; type++)
        begun = provide(w, host, sim_host_life(w, host->index)->serial, type);
    if (opened && !begun) sim_host_close(w, host->index);
    if (!begun) sim_later(w, 500, SIM_DO_RESUME, (uint64_t)host->index, 1);
    return begun;
}

void sim_host_open(sim_world *w, int index) {
    sim_host *host = &w->hosts[index];
    host->wake_at = UINT64_MAX;
    host->paused_until = host->slow_until = 0;
    host->computing = 0;
    if (!begin_host(w, host)) return;
    sim_places_open(w, index);
    for (int i = 0; i < w->specs_len; i++)
        if (w->specs[i].from == index) sim_spec_link(w, i);
    for (int i = 0; i < SIM_READERS; i++)
        if (w->readers[i].used && w->readers[i].host == index) sim_reader_open(w, &w->readers[i]);
    sim_host_turn(w, index);
    if (host->store.hurries) sim_store_begun(w, index);
}

static void leave_connections(sim_world *w, int index) {
    for (size_t i = 0; i < w->conns_len; i++)
        for (int end = 0; end < 2; end++) {
            sim_end *e = &w->conns[i]->ends[end];
            if (e->host != index || !e->up) continue;
            e->up = false;
            sim_conn_fin(w, w->conns[i], end);
        }
    for (int i = 0; i < w->specs_len; i++)
        if (w->specs[i].from == index) w->specs[i].link = 0;
}

void sim_host_close(sim_world *w, int index) {
    sim_host *host = &w->hosts[index];
    sim_hostile_leave(w, index);
    leave_connections(w, index);
    sim_asked_forget(w, index);
    sim_questions_forget(w, index);
    sim_worker_orphan(w, index);
    for (int i = 0; i < SIM_READERS; i++)
        if (w->readers[i].host == index) sim_reader_forget(w, &w->readers[i]);
    if (host->store.used) sim_store_leave(w, index);
    chordal_host_forget(host->host);
    host->host = NULL;
    if (host->store.used) sim_disk_note(w, &host->store.disk);
    for (int i = 0; i < SIM_RUNNING; i++)
        if (w->running[i].host == index) w->running[i].used = false;
    if (host->memory.live_blocks || host->memory.live_bytes)
        sim_fail(w, "leak: host %d left %" PRId64 " blocks, %" PRId64 " bytes", index, host->memory.live_blocks,
                 host->memory.live_bytes);
    host->memory.live_blocks = host->memory.live_bytes = 0;
}

/* What came later draws from a stream of its own, so that kept plans keep their worlds. */
static void extend(const sim_world *w, sim_spec *spec) {
    sim_random random = sim_stream(w->plan->seed, 9000, (uint64_t)w->specs_len);
    uint32_t deflates = sim_draw(&random, 3) ? 0 : CHORDAL_LINK_DEFLATE;
    spec->flags_from |= deflates | (sim_draw(&random, 2) ? CHORDAL_LINK_TRUSTED : 0);
    spec->flags_to |= deflates | (sim_draw(&random, 3) ? 0 : CHORDAL_LINK_AUTHENTICATE);
}

static void connect_one(sim_world *w, int from, int to, sim_random *random) {
    sim_spec *spec = &w->specs[w->specs_len++];
    *spec = (sim_spec){.from = from, .to = to};
    spec->codec = sim_draw(random, 3) ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT;
    if (w->specs_len > 1 && spec[-1].from == from) spec->codec = spec[-1].codec;
    spec->flags_from = sim_draw(random, 6) ? CHORDAL_LINK_OFFER : 0;
    spec->flags_to = sim_draw(random, 6) ? CHORDAL_LINK_ROUTE_OFFERS : 0;
    extend(w, spec);
}

/* Some accept, in a tree or a chain; the others connect to one of them, and to it or another a second time. */
static void connect_hosts(sim_world *w, sim_random *random) {
    int servers = 1 + (int)sim_draw(random, (uint32_t)w->hosts_len / 2);
    bool chain = sim_draw(random, 3) == 0;
    if (chain) servers = w->hosts_len - 1;
    for (int i = 1; i < w->hosts_len; i++) {
        uint32_t choices = (uint32_t)(i < servers ? i : servers);
        int to = chain && i < servers ? i - 1 : (int)sim_draw(random, choices);
        connect_one(w, i, to, random);
        if (sim_draw(random, 4)) continue;
        connect_one(w, i, SIM_OFFERS_FALL_BACK ? (int)sim_draw(random, choices) : to, random);
        w->many_ways |= w->specs[w->specs_len - 1].to != to;
    }
}

void sim_world_open(sim_world *w, const sim_plan *plan) {
    sim_random random = sim_stream(plan->seed, 2, 0);
    *w = (sim_world){.plan = plan, .trace = UINT64_C(14695981039346656037), .tracing = w->tracing, .folder = w->folder};
    w->hosts_len = (int)plan->hosts;
    w->limited = sim_draw(&random, 12) == 0;
    w->guarded = sim_plan_uses(plan, SIM_rule);
    w->memory = chordal__memory_new(NULL, UINT64_MAX);
    for (int i = 0; i < w->hosts_len; i++) w->hosts[i].index = i;
    connect_hosts(w, &random);
    sim_workers_open(w);
    sim_places_draw(w);
    sim_stores_draw(w);
    for (int i = 0; i < w->hosts_len; i++)
        if (!sim_worker_at(w, i)) sim_host_open(w, i);
    for (size_t i = 0; i < plan->len; i++) sim_later(w, plan->steps[i].at, SIM_DO_STEP, i, 0);
}

static void free_lives(sim_host *host) {
    for (size_t i = 0; i < host->lives_len; i++) {
        for (int k = 0; k < SIM_OBJECTS; k++) free(host->lives[i].objects[k].entries);
        free(host->lives[i].tickets);
        free(host->lives[i].pending);
        free(host->lives[i].effects);
        free(host->lives[i].ended);
    }
    free(host->lives);
}

void sim_world_close(sim_world *w) {
    for (int i = 0; i < w->hosts_len; i++) {
        if (w->hosts[i].host) sim_host_close(w, i);
        free_lives(&w->hosts[i]);
    }
    sim_stores_close(w);
    sim_conns_sweep(w);
    for (size_t i = 0; i < w->conns_len; i++) w->conns[i]->opening = false;
    sim_conns_sweep(w);
    free(w->conns);
    free(w->calls);
    free(w->schedule.events);
    if (w->memory->live_blocks) sim_fail(w, "the simulator lost a copy");
    chordal__memory_unref(w->memory);
}

/* ---- turns ---- */

bool sim_host_runs(const sim_world *w, int host) {
    return w->hosts[host].host && w->hosts[host].paused_until <= w->now;
}

uint64_t sim_host_now(const sim_world *w, int host) {
    return w->now + w->hosts[host].offset + 1000;
}

sim_life *sim_host_life(sim_world *w, int host) {
    return &w->hosts[host].lives[w->hosts[host].lives_len - 1];
}

bool sim_host_is(const sim_world *w, int host, uint32_t life) {
    const sim_host *h = &w->hosts[host];
    return h->host && h->lives[h->lives_len - 1].serial == life;
}

void sim_host_wake(sim_world *w, int index, uint64_t at) {
    sim_host *host = &w->hosts[index];
    if (at >= host->wake_at && host->wake_at > w->now) return; /* earlier already */
    host->wake_at = at;
    sim_later(w, at - w->now, SIM_DO_WAKE, (uint64_t)index, at);
}

/* What a record says of a commit is known before all else that is told beside it. */
static void told_commits(sim_world *w, const sim_host *host, const uint8_t *buffer, size_t len) {
    for (size_t at = 0; at < len;) {
        const chordal_record *record = (const chordal_record *)(const void *)(buffer + at);
        if (record->kind == CHORDAL_EVENT_TICKET)
            sim_store_ticket(w, host->index, (const chordal_event_TICKET *)(const void *)record);
        at += record->length;
    }
    sim_store_settle(w, host->index);
}

static bool poll_once(sim_world *w, sim_host *host) {
    _Alignas(8) uint8_t buffer[1 << 16];
    size_t len;
    int code = chordal_host_poll(host->host, sim_host_now(w, host->index), buffer, sizeof buffer, &len, NULL);
    if (code < 0 && code != CHORDAL_E_NOMEM) sim_fail(w, "poll: host %d answers %d", host->index, code);
    if (code < 0) {
        sim_host_wake(w, host->index, w->now + 20);
        return false;
    }
    if (host->store.used) told_commits(w, host, buffer, len);
    for (size_t at = 0; at < len && host->host; at += ((chordal_record *)(void *)(buffer + at))->length)
        sim_program_event(w, host->index, (const chordal_record *)(const void *)(buffer + at));
    return len != 0;
}

static void schedule_deadline(sim_world *w, sim_host *host) {
    chordal_time due = chordal_host_deadline(host->host), now = sim_host_now(w, host->index);
    if (due >= CHORDAL_NEVER) return;
    host->spins = due <= now ? host->spins + 1 : 0;
    if (host->spins > 20000) sim_fail(w, "spin: host %d is due again and again", host->index);
    sim_host_wake(w, host->index, due > now ? w->now + (due - now) : w->now + 1);
}

void sim_host_turn(sim_world *w, int index) {
    sim_host *host = &w->hosts[index];
    if (!sim_host_runs(w, index) || host->polling) return;
    if (host->slow_until > w->now && w->now % host->slow_every) {
        sim_host_wake(w, index, w->now + host->slow_every - w->now % host->slow_every);
        return;
    }
    host->polling = true;
    while (poll_once(w, host)) {
    }
    host->polling = false;
    sim_check_copies(w, index);
    sim_check_memory(w, index);
    schedule_deadline(w, host);
}
