/* guard.c: what a host's program lets sessions hold and call: who was let in by it may hold all, but for rules that
 * come one by one and stay until the quiet. */
#include "sim/sim.h"

#define EVERY_TYPE 9500  /* streams of chance: whether a type is guarded, */
#define EVERY_CALL 9510  /* whether its calls are asked about, */
#define EVERY_ASK 9520   /* how late the program answers, */
#define EVERY_LIMIT 9530 /* and how long it may take */

bool sim_guarded(const sim_world *w, int host, int type) {
    if (!w->guarded) return false;
    sim_random random = sim_stream(w->plan->seed, EVERY_TYPE + (uint64_t)type, (uint64_t)host);
    return sim_draw(&random, 3) != 0;
}

static bool asks_of_calls(const sim_world *w, int host, int type) {
    sim_random random = sim_stream(w->plan->seed, EVERY_CALL + (uint64_t)type, (uint64_t)host);
    return sim_draw(&random, 2) != 0;
}

uint64_t sim_guard_timeout(const sim_world *w, int host) {
    static const uint64_t spans[] = {0, 300, CHORDAL_NEVER};
    sim_random random = sim_stream(w->plan->seed, EVERY_LIMIT, (uint64_t)host);
    return w->guarded ? spans[sim_draw(&random, 3)] : 0;
}

/* ---- who somebody is ---- */

int sim_who(const uint8_t *packed, size_t len) {
    if (len == 0 || (len == 1 && *packed == 0xc0)) return SIM_NOBODY;
    bool known = len >= 3 && packed[0] == 0x92 && packed[1] < SIM_HOSTS;
    return known ? packed[1] : SIM_STRANGER;
}

typedef struct ways {
    int end;
    bool trusted, untrusted; /* there is a way on which each host believes the one before; and one on which not */
} ways;

static bool joins(const sim_spec *spec, int a, int b) {
    return (spec->from == a && spec->to == b) || (spec->from == b && spec->to == a);
}

static void look(const sim_world *w, int server, int except, int hops, bool trusted, ways *out) {
    if (server == out->end) {
        out->trusted |= trusted;
        out->untrusted |= !trusted;
        return;
    }
    for (int i = 0; i < w->specs_len && hops > 0; i++) {
        const sim_spec *spec = &w->specs[i];
        if (!sim_leads(spec, server) || sim_other(spec, server) == except) continue;
        for (int k = 0; k < w->specs_len; k++) /* a route names a host, to which there may be two links */
            if (joins(&w->specs[k], server, sim_other(spec, server)))
                look(w, sim_other(spec, server), except, hops - 1,
                     trusted && sim_flags_at(&w->specs[k], sim_other(spec, server)) & CHORDAL_LINK_TRUSTED, out);
    }
}

bool sim_reader_who(const sim_world *w, const sim_reader *reader, int *out) {
    if (reader->spec < 0) return false;
    const sim_spec *spec = &w->specs[reader->spec];
    bool asked = !reader->reverse && spec->flags_to & CHORDAL_LINK_AUTHENTICATE;
    ways found = {.end = reader->target};
    *out = SIM_NOBODY;
    if (!asked) return true;
    if (w->many_ways && reader->target != spec->to) return false; /* offers go round in circles there */
    look(w, spec->to, reader->host, w->hosts_len, true, &found);
    if (found.trusted) *out = spec->from;
    return found.trusted != found.untrusted;
}

/* ---- rules ---- */

static uint32_t what_of(int object, uint32_t member) {
    if (member == CHORDAL_ALL_MEMBERS) return SIM_HOLDS;
    return member == (object < SIM_BOARDS ? 5u : 4u) ? SIM_AGAINS : SIM_RUNS;
}

static bool rule_for(const sim_world *w, const sim_rule *like) {
    if (w->quiet) return false;
    for (uint32_t i = 0; i < w->rules_len; i++) {
        const sim_rule *rule = &w->rules[i];
        bool same = rule->host == like->host && rule->object == like->object && rule->who == like->who;
        if (same && rule->what == like->what && rule->since < like->since) return true;
    }
    return false;
}

void sim_rule_add(sim_world *w, int host, int object, int who, uint32_t what) {
    if (w->rules_len == SIM_RULES) return;
    w->rules[w->rules_len++] = (sim_rule){host, object, who, what, w->now};
}

/* One who may come to this host, or nobody; or whoever it is that holds there. */
void sim_rule_step(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len), object = (int)(step->b % SIM_OBJECTS);
    int who = (int)(step->x % (uint32_t)(w->hosts_len + 1)) - 1;
    sim_rule_add(w, host, object, who < 0 ? SIM_NOBODY : who, (step->x >> 8) % SIM_WHATS);
}

bool sim_forbidden(const sim_world *w, const sim_reader *reader, uint32_t what, uint64_t since) {
    int who, type = reader->object / SIM_BOARDS;
    if (reader->spec < 0 || !sim_guarded(w, reader->target, type)) return false;
    if (what != SIM_HOLDS && !asks_of_calls(w, reader->target, type)) return false;
    const sim_rule like = {reader->target, reader->object, SIM_NOBODY, what, since};
    if (!sim_reader_who(w, reader, &who)) return false;
    return rule_for(w, &(sim_rule){like.host, like.object, who, like.what, like.since});
}

/* ---- questions ---- */

static sim_asked *new_asked(sim_world *w) {
    for (int i = 0; i < SIM_ASKED; i++)
        if (!w->asked[i].used) return &w->asked[i];
    return NULL;
}

static uint64_t lateness(const sim_world *w, int host, chordal_id guard) {
    sim_random random = sim_stream(w->plan->seed, EVERY_ASK + (uint64_t)host, guard);
    uint32_t how = sim_draw(&random, 8);
    if (w->quiet || how < 4) return 0;
    return how == 7 ? 600000 : sim_draw(&random, how == 6 ? 20000 : 1000);
}

void sim_asked_may(sim_world *w, int host, const chordal_event_GUARD *event) {
    size_t len, who_len;
    const uint8_t *params = sim_part(w, host, &event->record, &event->params, &len);
    const uint8_t *who = sim_part(w, host, &event->record, &event->authority, &who_len);
    sim_asked *asked = new_asked(w);
    int object = sim_object_of(w, host, event->type, params, len);
    if (asked && object >= 0) {
        *asked = (sim_asked){true, host, object, sim_who(who, who_len), what_of(object, event->member), event->guard};
        if (asked->who == SIM_STRANGER) sim_fail(w, "guard: host %d is asked about one whom nobody let in", host);
        sim_note(w, "guard", (uint64_t)host, (uint64_t)object, (uint64_t)(asked->who + 2) * 4 + asked->what);
        sim_later(w, lateness(w, host, event->guard), SIM_DO_JUDGE, (uint64_t)(asked - w->asked), event->guard);
    }
    chordal_release(w->hosts[host].host, event->params.part);
    chordal_release(w->hosts[host].host, event->authority.part);
}

void sim_judge(sim_world *w, uint64_t index) {
    sim_asked *asked = &w->asked[index];
    if (!asked->used) return;
    if (!sim_host_runs(w, asked->host)) {
        sim_later(w, 100, SIM_DO_JUDGE, index, asked->id);
        return;
    }
    uint32_t verdict =
        asks_of_calls(w, asked->host, asked->object / SIM_BOARDS) ? CHORDAL_GUARD_ALLOW : CHORDAL_GUARD_ALLOW_CALLS;
    const sim_rule like = {asked->host, asked->object, asked->who, asked->what, UINT64_MAX};
    if (rule_for(w, &like)) verdict = CHORDAL_GUARD_DENY;
    int code = chordal_guard_answer(w->hosts[asked->host].host, asked->id, verdict, NULL);
    sim_note(w, "judge", (uint64_t)asked->host, verdict, (uint64_t)-code);
    if (code < 0 && code != CHORDAL_E_CLOSED)
        sim_fail(w, "guard: host %d cannot answer: %s", asked->host, chordal_error_name(code));
    if (code == 0 && verdict && asked->what == SIM_HOLDS) sim_host_life(w, asked->host)->allowed |= 1u << asked->object;
    asked->used = false;
    sim_host_turn(w, asked->host);
}

void sim_asked_forget(sim_world *w, int host) {
    for (int i = 0; i < SIM_ASKED; i++)
        if (w->asked[i].host == host) w->asked[i].used = false;
}

void sim_asked_heal(sim_world *w) {
    for (uint64_t i = 0; i < SIM_ASKED; i++)
        if (w->asked[i].used) sim_later(w, 0, SIM_DO_JUDGE, i, w->asked[i].id);
}
