/* access.c: hosts that ask who connects, admit it with an authority, and take that back. */
#include "sim/sim.h"

/* The authority of who connects by a spec; a new one after each revocation. */
static size_t authority_of(const sim_spec *spec, char *out, size_t room) {
    return (size_t)snprintf(out, room, "[%d,%" PRIu32 "]", spec->from, spec->epoch);
}

static sim_spec *spec_of_accepted(sim_world *w, int host, chordal_id link) {
    for (size_t i = 0; i < w->conns_len; i++) {
        const sim_end *end = &w->conns[i]->ends[1];
        if (end->host == host && end->link == link && end->up) return &w->specs[w->conns[i]->spec];
    }
    return NULL;
}

static bool held_from(const sim_world *w, const sim_reader *reader, const sim_spec *spec) {
    return reader->open && reader->spec == spec - w->specs && !reader->reverse && reader->target == spec->to;
}

void sim_asked_who(sim_world *w, int host, const chordal_event_AUTHENTICATE *event) {
    sim_random random = sim_stream(w->plan->seed, 8000 + (uint64_t)host, event->link);
    chordal_release(w->hosts[host].host, event->credentials.part);
    sim_later(w,
              w->quiet               ? 0
              : sim_draw(&random, 3) ? 0
                                     : sim_draw(&random, 3000),
              SIM_DO_ADMIT, (uint64_t)host, event->link);
}

/* What comes after this may be of the new authority. */
static void forget_marks(sim_world *w, const sim_spec *spec) {
    for (int i = 0; i < SIM_READERS; i++)
        if (held_from(w, &w->readers[i], spec)) w->readers[i].revoked_life = 0;
}

void sim_admit(sim_world *w, int host, chordal_id link) {
    char authority[32];
    sim_spec *spec = spec_of_accepted(w, host, link);
    if (!spec) return;
    size_t len = authority_of(spec, authority, sizeof authority);
    int code = !sim_host_runs(w, host) ? CHORDAL_E_NOMEM
                                       : chordal_link_admit(w->hosts[host].host, link, CHORDAL_FORMAT_JSON,
                                                            (const uint8_t *)authority, len, NULL);
    sim_note(w, "admit", (uint64_t)host, spec->epoch, (uint64_t)-code);
    if (code == CHORDAL_E_NOMEM) sim_later(w, 100, SIM_DO_ADMIT, (uint64_t)host, link);
    if (code == 0) forget_marks(w, spec);
    sim_host_turn(w, host);
}

/* Who held by this authority sees nothing that is committed from now on. */
static void mark(sim_world *w, const sim_spec *spec) {
    const sim_life *life = sim_host_life(w, spec->to);
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader *reader = &w->readers[i];
        if (!held_from(w, reader, spec)) continue;
        reader->revoked_life = life->serial;
        reader->revoked_cut = life->commits;
    }
}

static int revoke(sim_world *w, sim_spec *spec, int object) {
    char authority[32];
    chordal_host *host = w->hosts[spec->to].host;
    chordal_id id = object < 0 ? 0 : sim_host_life(w, spec->to)->objects[object].id;
    size_t len = authority_of(spec, authority, sizeof authority);
    if (object >= 0)
        return chordal_object_revoke(host, id, CHORDAL_FORMAT_JSON, (const uint8_t *)authority, len, "no more", 7,
                                     NULL);
    int code = chordal_host_revoke(host, CHORDAL_FORMAT_JSON, (const uint8_t *)authority, len, "no more", 7, NULL);
    if (code == 0) spec->epoch++;
    return code;
}

void sim_revoke(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    int object = step->b % 3 ? -1 : (int)(step->x % SIM_OBJECTS);
    if (!(spec->flags_to & CHORDAL_LINK_AUTHENTICATE) || !sim_host_runs(w, spec->to)) return;
    if (w->hosts[spec->to].computing) return; /* what was committed is still on its way through */
    sim_lost(w);
    int code = revoke(w, spec, object);
    sim_note(w, "revoke", (uint64_t)(spec - w->specs), (uint64_t)(object + 1), (uint64_t)-code);
    if (code == 0 && object < 0) mark(w, spec); /* one object may be held again at once */
    sim_host_turn(w, spec->to);
}

/* Its program leaves, and connects again for another authority. */
void sim_leave(sim_world *w, int index, chordal_id link) {
    const sim_spec *spec = &w->specs[index];
    if (spec->link != link || !link) return;
    if (!sim_host_runs(w, spec->from)) {
        sim_later(w, 200, SIM_DO_LEAVE, (uint64_t)index, link);
        return;
    }
    (void)chordal_link_close(w->hosts[spec->from].host, link, NULL);
    sim_host_turn(w, spec->from);
}
