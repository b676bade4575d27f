/* place.c: hosts whose program says where objects of its workers are. It is late at times; in a mood it says nothing,
 * a wrong place (a worker that has not got it, a neighbour, who asks, a link that it has closed), no place, or says it
 * twice. A second host may place the same types and send on to the first, which in its moods sends back. */
#include "sim/sim.h"

#define EVERY_WORLD 9700
#define EVERY_HOST 9710
#define EVERY_QUESTION 9720
#define TRIES 40 /* for a link that is not there */

enum { RIGHT, LATE, NEVER, WRONG, TWICE, FAILS, ASTRAY, MOODS, GONE = MOODS };

int sim_family(const sim_world *w, int host) {
    int index = host - (int)w->plan->hosts;
    return index < 0 ? host : w->workers[index].family;
}

sim_worker *sim_place_of(sim_world *w, int family, int object) {
    int count = 0, turn;
    for (int i = 0; i < w->workers_len; i++) count += w->workers[i].family == family;
    turn = count ? object % SIM_BOARDS % count : -1;
    for (int i = 0; i < w->workers_len; i++)
        if (w->workers[i].family == family && w->workers[i].turn == turn) return &w->workers[i];
    return NULL;
}

int sim_object_at(sim_world *w, int host, int object) {
    const sim_worker *worker = sim_worker_at(w, host);
    for (int i = 0; worker && i < SIM_OBJECTS; i++) {
        int next = (object + i) % SIM_OBJECTS;
        if (sim_place_of(w, worker->family, next) == worker) return next;
    }
    return object;
}

/* ---- hosts that place ---- */

/* A neighbour of the first parent, which is reached from it. */
void sim_places_draw(sim_world *w) {
    sim_random random = sim_stream(w->plan->seed, EVERY_WORLD, 0);
    int first = w->workers_len ? w->workers[0].parent : -1, chosen = -1;
    for (int i = 0; first >= 0 && i < w->specs_len; i++) {
        const sim_spec *spec = &w->specs[i];
        if ((spec->from != first && spec->to != first) || sim_worker_at(w, sim_other(spec, first))) continue;
        if (sim_leads(spec, sim_other(spec, first)) && sim_draw(&random, 2)) chosen = i;
    }
    w->second = -1;
    w->second_spec = chosen;
    if (chosen < 0) return;
    w->second = sim_other(&w->specs[chosen], first);
    for (int i = 0; i < w->specs_len; i++) /* over another link it is sent on once more */
        if (i != chosen && sim_other(&w->specs[i], first) == w->second &&
            (w->specs[i].from == first || w->specs[i].to == first))
            w->many_ways = true;
}

static bool places(const sim_world *w, int host, const sim_worker *worker) {
    return worker->parent == host || (host == w->second && worker->family == w->workers[0].family);
}

void sim_places_open(sim_world *w, int host) {
    char name[8];
    for (int i = 0; i < w->workers_len; i++) {
        if (w->workers[i].turn || !places(w, host, &w->workers[i])) continue;
        for (int type = 0; type < SIM_TYPES; type++) {
            int len = snprintf(name, sizeof name, "%c%d", type ? 'u' : 't', w->workers[i].family);
            if (chordal_type_place(w->hosts[host].host, name, (size_t)len, NULL) < 0) abort();
        }
    }
}

uint64_t sim_resolve_timeout(const sim_world *w, int host) {
    static const uint64_t spans[] = {0, 400, 8000, CHORDAL_NEVER};
    sim_random random = sim_stream(w->plan->seed, EVERY_HOST, (uint64_t)host);
    return w->workers_len ? spans[sim_draw(&random, 4)] : 0;
}

/* ---- references of such a host itself ---- */

bool sim_own_target(sim_world *w, sim_reader *reader, sim_random *random) {
    int start = w->workers_len ? (int)sim_draw(random, (uint32_t)w->workers_len) : 0;
    bool wants = w->workers_len && sim_draw(random, 3) == 0;
    for (int i = 0; wants && i < w->workers_len; i++) {
        const sim_worker *worker = &w->workers[(start + i) % w->workers_len];
        if (!places(w, reader->host, worker)) continue;
        reader->placed = true;
        reader->target = worker->host;
        return true;
    }
    return false;
}

bool sim_reads_here(const sim_reader *reader) {
    return reader->spec < 0 && !reader->placed;
}

/* ---- answers ---- */

chordal_id sim_link_to(sim_world *w, int host, const sim_worker *worker) {
    if (worker->parent == host) return w->specs[worker->spec].link;
    const sim_spec *spec = &w->specs[w->second_spec];
    return spec->from == host ? spec->link : sim_accepted_link(w, w->second_spec);
}

/* Some link, whoever is behind it, but for one that would do. */
static chordal_id some_link(const sim_world *w, int host, chordal_id but, uint32_t which) {
    for (size_t i = 0; i < w->conns_len * 2; i++) {
        size_t at = (which + i) % (w->conns_len * 2);
        const sim_end *end = &w->conns[at / 2]->ends[at % 2];
        if (end->host == host && end->up && !end->told_closed && end->link != but) return end->link;
    }
    return 0;
}

/* A worker of the same parent, which has not got it. */
static chordal_id sibling_link(sim_world *w, const sim_question *question) {
    for (int i = 0; i < w->workers_len; i++) {
        sim_worker *worker = &w->workers[i];
        if (worker == question->worker || worker->parent != question->host) continue;
        sim_worker_want(w, worker);
        return w->specs[worker->spec].link;
    }
    return 0;
}

static void expect(sim_world *w, const sim_question *question, int code) {
    bool wrong = (question->how == WRONG || question->how == ASTRAY) && !w->quiet;
    sim_note(w, "resolve", (uint64_t)question->host, (uint64_t)question->object, (uint64_t)-code);
    if (code && code != CHORDAL_E_CLOSED && !(wrong && code == CHORDAL_E_INVALID))
        sim_fail(w, "place: host %d cannot say where an object is: %s", question->host, chordal_error_name(code));
}

/* One answer counts; but a link whose end is not told yet only has the question asked again, once. */
static void answer_twice(sim_world *w, const sim_question *question, chordal_id link) {
    int code = chordal_resolve(w->hosts[question->host].host, question->id, link, NULL);
    if (code == 0) code = chordal_resolve(w->hosts[question->host].host, question->id, link, NULL);
    if (code != CHORDAL_E_STATE && code != CHORDAL_E_CLOSED)
        sim_fail(w, "place: a question of host %d is answered twice", question->host);
}

static void fail(sim_world *w, sim_question *question) {
    chordal_host *host = w->hosts[question->host].host;
    question->used = false;
    expect(w, question, chordal_resolve_fail(host, question->id, "own", 3, "nowhere", 7, NULL));
}

static bool answer(sim_world *w, sim_question *question) {
    uint32_t how = w->quiet ? RIGHT : question->how;
    chordal_host *host = w->hosts[question->host].host;
    if (question->worker->parent == question->host) sim_worker_want(w, question->worker);
    chordal_id right = sim_link_to(w, question->host, question->worker), link = right;
    if (how == WRONG) link = sibling_link(w, question);
    if (how == ASTRAY) link = some_link(w, question->host, right, question->tries * 7);
    if (how == FAILS || question->tries == TRIES) {
        fail(w, question);
        return true;
    }
    if (!link) return false;
    if (how == GONE && question->worker->parent == question->host) {
        sim_lost(w);
        (void)chordal_link_close(host, link, NULL);
    }
    int code = chordal_resolve(host, question->id, link, NULL);
    expect(w, question, code);
    if (code == 0 && how == TWICE) answer_twice(w, question, link);
    if (code == CHORDAL_E_INVALID) return false;
    question->used = false;
    return true;
}

void sim_resolve(sim_world *w, uint64_t index) {
    sim_question *question = &w->questions[index];
    if (!question->used) return;
    if (!sim_host_runs(w, question->host)) {
        sim_later(w, 100, SIM_DO_RESOLVE, index, question->id);
        return;
    }
    bool answered = answer(w, question);
    if (!answered) question->how = RIGHT;
    question->tries++;
    if (!answered) sim_later(w, 300, SIM_DO_RESOLVE, index, question->id);
    sim_host_turn(w, question->host);
}

/* ---- questions ---- */

static sim_question *slot_of(sim_world *w, int host, chordal_id id) {
    for (int i = 0; i < SIM_QUESTIONS; i++) /* asked again */
        if (w->questions[i].host == host && w->questions[i].id == id) return &w->questions[i];
    for (int i = 0; i < SIM_QUESTIONS; i++) {
        sim_question *question = &w->questions[w->questions_next++ % SIM_QUESTIONS];
        if (!question->used) return question;
    }
    return &w->questions[w->questions_next++ % SIM_QUESTIONS];
}

static uint32_t lateness(sim_random *random, uint32_t how) {
    if (how == LATE) return sim_draw(random, 70000);
    return sim_draw(random, 4) ? 0 : sim_draw(random, 600);
}

void sim_asked_where(sim_world *w, int host, const chordal_event_RESOLVE *event) {
    size_t len;
    const char *type = chordal_span_text(&event->record, event->type);
    const uint8_t *params = sim_part(w, host, &event->record, &event->params, &len);
    int object = (*type == 'u') * SIM_BOARDS + sim_board_of(params, len);
    sim_worker *worker = sim_place_of(w, atoi(type + 1), object);
    sim_random random = sim_stream(w->plan->seed, EVERY_QUESTION + (uint64_t)host, event->question);
    const sim_mood *mood = &w->moods[host];
    if (worker && places(w, host, worker)) {
        sim_question *question = slot_of(w, host, event->question);
        uint32_t how = mood->until > w->now && !w->quiet ? mood->how : RIGHT;
        *question = (sim_question){true, host, object, how, 0, event->question, worker};
        sim_note(w, "where", (uint64_t)host, (uint64_t)object, how);
        if (how != NEVER || w->quiet)
            sim_later(w, w->quiet ? 0 : lateness(&random, how), SIM_DO_RESOLVE, (uint64_t)(question - w->questions),
                      question->id);
    } else {
        sim_fail(w, "place: host %d is asked for what it does not place", host);
    }
    chordal_release(w->hosts[host].host, event->params.part);
}

void sim_questions_forget(sim_world *w, int host) {
    for (int i = 0; i < SIM_QUESTIONS; i++)
        if (w->questions[i].host == host) w->questions[i] = (sim_question){0};
}

void sim_questions_heal(sim_world *w) {
    for (uint64_t i = 0; i < SIM_QUESTIONS; i++)
        if (w->questions[i].used) sim_later(w, 0, SIM_DO_RESOLVE, i, w->questions[i].id);
}

void sim_place_step(sim_world *w, const sim_step *step) {
    sim_mood *mood = &w->moods[w->workers_len ? w->workers[step->a % (uint32_t)w->workers_len].parent : 0];
    if (w->second >= 0 && step->a >> 8 & 1) mood = &w->moods[w->second];
    uint32_t how = (step->x >> 21 & 3) == 3 ? GONE : 1 + step->b % (MOODS - 1);
    *mood = (sim_mood){how, w->now + step->x % 15000};
}
