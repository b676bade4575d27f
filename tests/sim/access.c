/* access.c: hosts that ask who connects, admit it with an authority, and take that back. */
#include "sim/sim.h"

/* The authority of who connects by a spec; a new one after each revocation. */
static size_t authority_of(const sim_spec *spec, char *out, size_t room) {
    return (size_t)snprintf(out, room, "[%d,%" PRIu32 "]", spec->from, spec->epoch);
}

static const sim_conn *conn_of_accepted(const sim_world *w, int host, chordal_id link) {
    for (size_t i = 0; i < w->conns_len; i++) {
        const sim_end *end = &w->conns[i]->ends[1];
        if (end->host == host && end->link == link && end->up) return w->conns[i];
    }
    return NULL;
}

static sim_spec *spec_of_accepted(sim_world *w, int host, chordal_id link) {
    const sim_conn *conn = conn_of_accepted(w, host, link);
    return conn ? &w->specs[conn->spec] : NULL;
}

static bool held_from(const sim_world *w, const sim_reader *reader, const sim_spec *spec) {
    return reader->open && reader->spec == spec - w->specs && !reader->reverse;
}

/* ---- credentials: {"from":host,"n":number}, new ones for each transport ---- */

static size_t credentials_of(int from, uint32_t number, char *out, size_t room) {
    if (!number) return (size_t)snprintf(out, room, "null");
    return (size_t)snprintf(out, room, "{\"from\":%d,\"n\":%" PRIu32 "}", from, number);
}

void sim_show(sim_world *w, int index) {
    char text[48];
    sim_spec *spec = &w->specs[index];
    if (!w->guarded) return;
    size_t len = credentials_of(spec->from, spec->dialled + 1, text, sizeof text);
    int code = chordal_link_credentials(w->hosts[spec->from].host, spec->link, CHORDAL_FORMAT_JSON,
                                        (const uint8_t *)text, len, NULL);
    if (code == 0) spec->shown = spec->dialled + 1;
}

static void check_credentials(sim_world *w, int host, const chordal_event_AUTHENTICATE *event) {
    char text[48];
    size_t len;
    chordal_value *theirs, *wanted;
    const uint8_t *data = sim_part(w, host, &event->record, &event->credentials, &len);
    const sim_conn *conn = conn_of_accepted(w, host, event->link);
    chordal_host *h = w->hosts[host].host;
    if (!conn || chordal_value_decode(h, CHORDAL_FORMAT_PACKED, data, len, &theirs, NULL) < 0) return;
    len = credentials_of(w->specs[conn->spec].from, conn->shown, text, sizeof text);
    if (chordal_value_decode(h, CHORDAL_FORMAT_JSON, (const uint8_t *)text, len, &wanted, NULL) == 0) {
        w->checks++;
        if (chordal_value_digest(theirs) != chordal_value_digest(wanted))
            sim_fail(w, "access: host %d is shown other credentials than %s", host, text);
        chordal_value_unref(wanted);
    }
    chordal_value_unref(theirs);
}

/* Some are turned away, or hear nothing; they come again. */
static bool turns_away(sim_world *w, int host, chordal_id link) {
    sim_random random = sim_stream(w->plan->seed, 8500 + (uint64_t)host, link);
    uint32_t how = sim_draw(&random, 8);
    if (!w->guarded || w->quiet || how > 1) return false;
    if (how == 0) (void)chordal_link_refuse(w->hosts[host].host, link, "not you", 7, NULL);
    sim_note(w, "refuse", (uint64_t)host, link, how);
    sim_lost(w);
    return true;
}

void sim_asked_who(sim_world *w, int host, const chordal_event_AUTHENTICATE *event) {
    sim_random random = sim_stream(w->plan->seed, 8000 + (uint64_t)host, event->link);
    check_credentials(w, host, event);
    chordal_release(w->hosts[host].host, event->credentials.part);
    if (turns_away(w, host, event->link)) return;
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
static void mark_one(sim_world *w, sim_reader *reader, bool far) {
    const sim_life *life = sim_host_life(w, reader->target);
    if (!w->hosts[reader->target].host) return;
    reader->revoked_life = life->serial;
    reader->revoked_cut = life->commits;
    reader->revoked_far = far;
}

static void mark_all(sim_world *w, const sim_spec *spec) {
    for (int i = 0; i < SIM_READERS; i++)
        if (held_from(w, &w->readers[i], spec)) mark_one(w, &w->readers[i], false);
}

/* What a reader has live at a host is of a session there; when that is gone, it may begin another one. */
static void mark_far(sim_world *w, const sim_spec *spec, int host, int object) {
    int who;
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader *reader = &w->readers[i];
        if (!held_from(w, reader, spec) || reader->target != host || reader->state != CHORDAL_REFERENCE_LIVE) continue;
        if (object >= 0 && reader->object != object) continue;
        if (sim_reader_who(w, reader, &who) && who == spec->from) mark_one(w, reader, true);
    }
}

static int revoke(sim_world *w, sim_spec *spec, int at, int object) {
    char authority[32];
    chordal_host *host = w->hosts[at].host;
    chordal_id id = object < 0 ? 0 : sim_host_life(w, at)->objects[object].id;
    size_t len = authority_of(spec, authority, sizeof authority);
    const uint8_t *text = (const uint8_t *)authority;
    if (object >= 0) return chordal_object_revoke(host, id, CHORDAL_FORMAT_JSON, text, len, "no more", 7, NULL);
    int code = chordal_host_revoke(host, CHORDAL_FORMAT_JSON, text, len, "no more", 7, NULL);
    if (code == 0 && at == spec->to) spec->epoch++;
    return code;
}

void sim_revoke(sim_world *w, const sim_step *step) {
    if (!w->specs_len) return;
    sim_spec *spec = &w->specs[step->a % (uint32_t)w->specs_len];
    int object = step->b % 3 ? -1 : (int)(step->x % SIM_OBJECTS), at = spec->to;
    if (w->guarded && step->x >> 8 & 1) at = (int)((step->x >> 9) % (uint32_t)w->hosts_len);
    if (!(spec->flags_to & CHORDAL_LINK_AUTHENTICATE) || !sim_host_runs(w, at)) return;
    if (w->hosts[at].computing) return; /* what was committed is still on its way through */
    sim_lost(w);
    int code = revoke(w, spec, at, object);
    sim_note(w, "revoke", (uint64_t)(spec - w->specs), (uint64_t)at * 10 + (uint64_t)(object + 1), (uint64_t)-code);
    if (code == 0 && object < 0 && at == spec->to)
        mark_all(w, spec);
    else if (code == 0 && (object < 0 || sim_guarded(w, at, object / SIM_BOARDS)))
        mark_far(w, spec, at, object);
    if (code == 0 && object >= 0) sim_rule_add(w, at, object, spec->from, SIM_HOLDS);
    sim_host_turn(w, at);
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
