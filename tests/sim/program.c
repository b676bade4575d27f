/* program.c: the programs at the hosts: what they do with their events. */
#include "sim/sim.h"

const uint8_t *sim_part(sim_world *w, int host, const chordal_record *record, const chordal_part *part,
                        size_t *out_len) {
    const uint8_t *data = NULL;
    if (chordal_part_bytes(w->hosts[host].host, record, part, &data, out_len) < 0) sim_fail(w, "part: it is not there");
    return data;
}

/* ---- numbers in packed values: a call is named by one that no stranger guesses ---- */

static uint64_t unpack_number(const uint8_t **at, const uint8_t *end) {
    static const struct { uint8_t head, bytes; } forms[] = {{0xcc, 1}, {0xcd, 2}, {0xce, 4}, {0xcf, 8}};
    if (*at >= end) return 0;
    uint8_t head = *(*at)++;
    if (head < 0x80) return head;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint64_t value = 0;
        if (forms[i].head != head || end - *at < forms[i].bytes) continue;
        for (int k = 0; k < forms[i].bytes; k++) value = value << 8 | *(*at)++;
        return value;
    }
    return 0;
}

/* The call of [name, effect, …], as an index + 1. */
static uint64_t call_of(const sim_world *w, const uint8_t *data, size_t len, uint64_t *out_effect) {
    const uint8_t *at = data, *end = data + len;
    if (len < 2 || (*at & 0xf0) != 0x90) return 0;
    at++;
    uint64_t name = unpack_number(&at, end);
    *out_effect = unpack_number(&at, end);
    if (name <= SIM_CALL_NAME || name - SIM_CALL_NAME > w->calls_len) return 0;
    return name - SIM_CALL_NAME;
}

/* ---- things that run ---- */

static sim_running *new_running(sim_world *w, int host, chordal_id id, chordal_id object) {
    for (int i = 0; i < SIM_RUNNING; i++) {
        sim_running *running = &w->running[i];
        if (running->used) continue;
        const sim_life *life = sim_host_life(w, host);
        *running = (sim_running){.used = true, .host = host, .life = life->serial, .id = id, .object = -1};
        for (int k = 0; k < SIM_OBJECTS; k++)
            if (life->objects[k].id == object) running->object = k;
        return running;
    }
    return NULL;
}

static void answer_later(sim_world *w, sim_running *running, uint64_t span) {
    sim_later(w, span, running->compute ? SIM_DO_COMPUTE : SIM_DO_ANSWER, (uint64_t)(running - w->running),
              running->id);
}

static void run_call(sim_world *w, int host, const chordal_event_CALL *event) {
    size_t len;
    uint64_t effect = 0;
    const uint8_t *data = sim_part(w, host, &event->record, &event->arguments, &len);
    uint64_t call = data ? call_of(w, data, len, &effect) : 0;
    sim_running *running = new_running(w, host, event->call, event->object);
    chordal_release(w->hosts[host].host, event->arguments.part);
    sim_note(w, "run", (uint64_t)host, call, event->origin);
    if (call) sim_check_run(w, call - 1, host, event->origin);
    if (call) sim_check_caller(w, call - 1, host, event->call);
    if (!running) { /* a flood of strangers */
        chordal_release(w->hosts[host].host, event->call);
        return;
    }
    static const uint32_t delays[] = {0, 0, 3, 60, 900, 20000};
    running->call = call;
    running->run = call ? w->calls[call - 1].runs : 0;
    running->effect = effect;
    answer_later(w, running, w->quiet ? 0 : delays[effect % 6]);
}

/* Its words tell which run it is. */
static int fail(chordal_host *host, const sim_running *running, const char *name) {
    char run[12];
    int len = snprintf(run, sizeof run, "%" PRIu32, running->run);
    return chordal_call_fail(host, running->id, name, strlen(name), run, (size_t)len, NULL);
}

static int answer(sim_world *w, const sim_running *running) {
    chordal_host *host = w->hosts[running->host].host;
    char text[64], *large;
    uint64_t how = running->effect >> 8, name = running->call + SIM_CALL_NAME;
    int len = snprintf(text, sizeof text, "[%" PRIu64 ",%" PRIu32 "]", name, running->run), code;
    if (!running->call || how % 7 == 0) return fail(host, running, "own");
    if (how % 7 == 1) return chordal_call_answer(host, running->id, 0, (const uint8_t *)text, (size_t)len, NULL);
    if (how % 7 != 2)
        return chordal_call_answer(host, running->id, CHORDAL_FORMAT_JSON, (const uint8_t *)text, (size_t)len, NULL);
    size_t size = 20000 + (size_t)(how % 40000);
    large = malloc(size);
    memset(large, 'x', size);
    memcpy(large, text, (size_t)len - 1);
    memcpy(large + len - 1, ",\"", 2);
    memcpy(large + size - 2, "\"]", 2);
    code = chordal_call_answer(host, running->id, CHORDAL_FORMAT_JSON, (const uint8_t *)large, size, NULL);
    free(large);
    return code;
}

static bool holds_up(sim_world *w, sim_running *running) {
    if (sim_host_runs(w, running->host)) return false;
    answer_later(w, running, 100);
    return true;
}

#define COMMITS 128u             /* bits of what a call shall do */
#define WAITS (1u << 22)         /* before it answers, */
#define COMMITS_TWICE (1u << 23) /* and then it commits once more: durable ones alone */

static void commit_for(sim_world *w, sim_running *running) {
    sim_random random = sim_stream(w->plan->seed, 5000, running->effect);
    const sim_made made = {.call = running->call, .run = running->run};
    uint64_t number = sim_commit(w, running->host, running->id, 1u << running->object, &made, &random);
    sim_call *call = &w->calls[running->call - 1];
    if (running->run <= SIM_TIMES) call->ran[running->run - 1].commit = number;
    running->effect &= ~(uint64_t)COMMITS;
}

/* What a durable call does and its answer can be in the store at different times. */
static bool goes_on(sim_world *w, sim_running *running) {
    static const uint32_t spans[] = {0, 30, 700, 90000};
    if (!running->call || !w->calls[running->call - 1].durable || !(running->effect & WAITS)) return false;
    running->effect &= ~(uint64_t)WAITS;
    if (running->effect & COMMITS_TWICE) running->effect |= COMMITS;
    answer_later(w, running, w->quiet ? 0 : spans[running->effect % 4]);
    return true;
}

void sim_answer(sim_world *w, uint64_t index) {
    sim_running *running = &w->running[index];
    if (!running->used || running->compute || holds_up(w, running)) return;
    int host = running->host;
    if (running->call && running->object >= 0 && running->effect & COMMITS) commit_for(w, running);
    if (goes_on(w, running)) {
        sim_host_turn(w, host);
        return;
    }
    int code = answer(w, running);
    if (code == CHORDAL_E_SIZE) code = fail(w->hosts[host].host, running, "large");
    if (code == CHORDAL_E_NOMEM)
        answer_later(w, running, 50);
    else
        running->used = false;
    if (running->call && running->run <= SIM_TIMES)
        w->calls[running->call - 1].ran[running->run - 1].answered = !running->used;
    sim_host_turn(w, host);
}

/* ---- derives: a word that tells the document ---- */

static void ask_compute(sim_world *w, int host, const chordal_event_COMPUTE *event) {
    sim_running *running = new_running(w, host, event->compute, event->object);
    if (!running) {
        sim_fail(w, "simulator: too much runs");
        return;
    }
    running->compute = true;
    w->hosts[host].computing++;
    running->call = event->object;
    sim_random random = sim_stream(w->plan->seed, 6000 + (uint64_t)host, event->compute);
    answer_later(w, running, w->quiet || sim_draw(&random, 3) ? 0 : sim_draw(&random, 200));
}

void sim_compute(sim_world *w, uint64_t index) {
    sim_running *running = &w->running[index];
    char text[32];
    chordal_value *value;
    if (!running->used || !running->compute || holds_up(w, running)) return;
    chordal_host *host = w->hosts[running->host].host;
    int code = chordal_object_value(host, running->call, SIM_A, &value, NULL);
    if (code == 0) {
        sim_derived(chordal_value_digest(value), text + 1);
        chordal_value_unref(value);
        text[0] = text[17] = '"';
        code = chordal_compute_answer(host, running->id, CHORDAL_FORMAT_JSON, (const uint8_t *)text, 18, NULL);
    }
    if (code == CHORDAL_E_NOMEM)
        answer_later(w, running, 50);
    else
        running->used = false;
    if (!running->used) w->hosts[running->host].computing--;
    sim_host_turn(w, running->host);
}

/* ---- objects ---- */

int sim_board_of(const uint8_t *params, size_t len) {
    return len && params[len - 1] == 'h' ? 0 : len && params[len - 1] == 'r' ? 1 : 2;
}

int sim_object_of(const sim_world *w, int host, chordal_id type, const uint8_t *params, size_t len) {
    int board = sim_board_of(params, len);
    for (int i = 0; i < SIM_TYPES; i++)
        if (type == w->hosts[host].types[i]) return i * SIM_BOARDS + board;
    return -1;
}

static int object_of(sim_world *w, int host, const chordal_event_OBJECT *event) {
    size_t len;
    const uint8_t *params = sim_part(w, host, &event->record, &event->params, &len);
    return sim_object_of(w, host, event->type, params, len);
}

bool sim_starts(const sim_world *w, int host, int type) {
    if (host >= (int)w->plan->hosts) return true; /* a worker looks at what is asked of it */
    return type && sim_stream(w->plan->seed, 7000, (uint64_t)host).state & 1;
}

static uint64_t start_delay(const sim_world *w, chordal_id object) {
    sim_random random = sim_stream(w->plan->seed, 7001, object);
    return sim_draw(&random, 3) ? sim_draw(&random, 30) : sim_draw(&random, 5000);
}

/* A worker has some of its type's objects, and knows which. */
static bool is_at_home(sim_world *w, int host, chordal_id object) {
    const sim_worker *worker = sim_worker_at(w, host);
    for (int i = 0; worker && i < SIM_OBJECTS; i++)
        if (sim_host_life(w, host)->objects[i].id == object) return sim_place_of(w, worker->family, i) == worker;
    return true;
}

void sim_start(sim_world *w, int host, chordal_id object) {
    sim_random random = sim_stream(w->plan->seed, 7002, w->now);
    bool fails = !w->quiet && sim_draw(&random, 3) == 0;
    if (!sim_host_runs(w, host)) {
        if (w->hosts[host].host) sim_later(w, 100, SIM_DO_START, (uint64_t)host, object);
        return;
    }
    if (!is_at_home(w, host, object)) fails = true;
    (void)chordal_object_start(w->hosts[host].host, object, fails ? "asleep" : NULL, fails ? 6 : 0, "not yet", 7, NULL);
    sim_host_turn(w, host);
}

static void object_event(sim_world *w, int host, const chordal_event_OBJECT *event) {
    int index = object_of(w, host, event);
    if (index >= 0) {
        sim_object *object = &sim_host_life(w, host)->objects[index];
        sim_note(w, "object", (uint64_t)host, (uint64_t)index, event->state);
        if (event->state == CHORDAL_OBJECT_MADE) object->id = event->object;
        if (event->state == CHORDAL_OBJECT_MADE) sim_store_made(w, host, index);
        if (event->state == CHORDAL_OBJECT_MADE && sim_guarded(w, host, index / SIM_BOARDS) &&
            !(sim_host_life(w, host)->allowed >> index & 1))
            sim_fail(w, "guard: object %d of host %d was made for nobody who may hold it", index, host);
        if (event->state == CHORDAL_OBJECT_MADE && sim_starts(w, host, index / SIM_BOARDS))
            sim_later(w, w->quiet ? 0 : start_delay(w, event->object), SIM_DO_START, (uint64_t)host, event->object);
        if (event->state == CHORDAL_OBJECT_RETIRED && object->id == event->object) object->id = 0;
    }
    chordal_release(w->hosts[host].host, event->params.part);
}

/* ---- outcomes ---- */

static sim_call *call_by_id(sim_world *w, int host, chordal_id id) {
    for (size_t i = w->calls_len; i-- > 0;)
        if (w->calls[i].id == id && w->calls[i].host == host && sim_host_is(w, host, w->calls[i].life))
            return &w->calls[i];
    return NULL;
}

static uint64_t name_in(const uint8_t *data, size_t len, bool raw, uint64_t *out_run) {
    const uint8_t *at = data + 1;
    char text[64] = {0}, *comma;
    if (!data || len < 2) return 0;
    uint64_t name = raw ? 0 : unpack_number(&at, data + len);
    if (!raw) *out_run = unpack_number(&at, data + len);
    if (!raw) return name;
    memcpy(text, data + 1, len - 1 < sizeof text - 1 ? len - 1 : sizeof text - 1);
    name = strtoull(text, &comma, 10);
    if (*comma == ',') *out_run = strtoull(comma + 1, NULL, 10);
    return name;
}

static void result_event(sim_world *w, int host, const chordal_event_RESULT *event) {
    size_t len;
    sim_call *call = call_by_id(w, host, event->call);
    const uint8_t *value = sim_part(w, host, &event->record, &event->value, &len);
    uint64_t run = 0, name = name_in(value, len, (event->record.flags & CHORDAL_RESULT_BYTES) != 0, &run);
    if (event->code == CHORDAL_E_METHOD) run = strtoull(chordal_span_text(&event->record, event->detail), NULL, 10);
    sim_note(w, "result", call ? (uint64_t)(call - w->calls) : UINT64_MAX, (uint64_t)-event->code, name);
    if (call) sim_check_result(w, call, event, name, run);
    chordal_release(w->hosts[host].host, event->value.part);
}

#define AS(NAME) ((const chordal_event_##NAME *)(const void *)record)

void sim_program_event(sim_world *w, int host, const chordal_record *record) {
    switch (record->kind) {
    case CHORDAL_EVENT_LINK:
        sim_edge_link(w, host, AS(LINK));
        break;
    case CHORDAL_EVENT_OUTPUT:
        sim_edge_output(w, host, AS(OUTPUT)->link);
        break;
    case CHORDAL_EVENT_REFERENCE:
        sim_reader_event(w, host, AS(REFERENCE));
        break;
    case CHORDAL_EVENT_FRAME:
        sim_reader_frame(w, host, AS(FRAME));
        break;
    case CHORDAL_EVENT_OBJECT:
        object_event(w, host, AS(OBJECT));
        break;
    case CHORDAL_EVENT_CALL:
        run_call(w, host, AS(CALL));
        break;
    case CHORDAL_EVENT_RESULT:
        result_event(w, host, AS(RESULT));
        break;
    case CHORDAL_EVENT_TICKET:
        if (!w->hosts[host].store.used) sim_check_ticket(w, host, AS(TICKET));
        break;
    case CHORDAL_EVENT_AUTHENTICATE:
        sim_asked_who(w, host, AS(AUTHENTICATE));
        break;
    case CHORDAL_EVENT_GUARD:
        sim_asked_may(w, host, AS(GUARD));
        break;
    case CHORDAL_EVENT_RESOLVE:
        sim_asked_where(w, host, AS(RESOLVE));
        break;
    case CHORDAL_EVENT_COMPUTE:
        ask_compute(w, host, AS(COMPUTE));
        break;
    default:
        break;
    }
}
