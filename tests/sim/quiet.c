/* quiet.c: all faults healed and time run on: what must be so in the end. */
#include "sim/sim.h"

#define PATIENCE 900000 /* ms of virtual time */

static void heal_hosts(sim_world *w) {
    for (int i = 0; i < w->hosts_len; i++) {
        sim_host *host = &w->hosts[i];
        host->memory.fails_one_in = 0;
        host->store.disk.faults = 0;
        host->paused_until = host->slow_until = host->apart_until = 0;
        if (!host->host && !sim_worker_at(w, i)) sim_host_open(w, i);
    }
}

static void heal_all(sim_world *w) {
    sim_hostile_leave(w, -1);
    w->quiet = true;
    heal_hosts(w);
    for (size_t i = 0; i < w->conns_len; i++)
        for (int end = 0; end < 2; end++) sim_conn_thaw(w, w->conns[i], end);
    for (int i = 0; i < w->hosts_len; i++) sim_conns_pass(w, i), sim_host_turn(w, i);
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader_take(w, &w->readers[i]);
        sim_reader_retry(w, &w->readers[i]);
    }
    sim_asked_heal(w);
    sim_questions_heal(w);
    for (uint64_t i = 0; i < SIM_RUNNING; i++) {
        const sim_running *running = &w->running[i];
        if (running->used) sim_later(w, 0, running->compute ? SIM_DO_COMPUTE : SIM_DO_ANSWER, i, running->id);
    }
}

/* ---- readers equal their providers ---- */

static bool same_value(sim_world *w, sim_reader *reader, chordal_id object, uint32_t member) {
    chordal_value *theirs, *mine;
    if (chordal_object_value(w->hosts[reader->target].host, object, member, &theirs, NULL) < 0)
        return sim_host_life(w, reader->target)->starved; /* a derive that never found memory */
    uint64_t digest = chordal_value_digest(theirs);
    chordal_value_unref(theirs);
    if (reader->mode != SIM_PLAIN && (!reader->copy[member] || chordal__node_digest(reader->copy[member]) != digest))
        return false;
    if (sim_reader_kept(reader)) return true;
    if (chordal_reference_value(w->hosts[reader->host].host, reader->reference, member, &mine, NULL) < 0) return false;
    bool same = chordal_value_digest(mine) == digest;
    chordal_value_unref(mine);
    return same;
}

static const char *reader_lacks(sim_world *w, sim_reader *reader) {
    chordal_id object = sim_host_life(w, reader->target)->objects[reader->object].id;
    if (sim_worker_rests(w, reader->host)) return NULL; /* nobody wants it */
    if (!reader->open) return "is not open";
    bool failed = reader->state == CHORDAL_REFERENCE_FAILED || reader->state == CHORDAL_REFERENCE_PENDING;
    if (w->limited && failed && reader->code == CHORDAL_E_SIZE) return NULL; /* it is tried again, in vain */
    if (reader->state != CHORDAL_REFERENCE_LIVE) return "is not live";
    if (!object) return "has no object";
    for (uint32_t member = 0; member < sim_states(reader); member++)
        if (!same_value(w, reader, object, member)) return "differs from its provider";
    return NULL;
}

/* Whether all is well; else *out says what is not. */
static bool all_equal(sim_world *w, char *out, size_t room) {
    for (int i = 0; i < SIM_READERS; i++) {
        const char *lack = w->readers[i].used ? reader_lacks(w, &w->readers[i]) : NULL;
        if (!lack) continue;
        snprintf(out, room, "quiet: reader %d of host %d %s (state %d)", i, w->readers[i].host, lack,
                 (int)w->readers[i].state);
        return false;
    }
    for (size_t i = 0; i < w->calls_len; i++) {
        const sim_call *call = &w->calls[i];
        if (call->settled || call->released || !sim_host_is(w, call->host, call->life)) continue;
        snprintf(out, room, "quiet: call %zu is not settled", i);
        return false;
    }
    return true;
}

/* ---- nothing is left ---- */

static uint64_t objects_known(sim_world *w, int host) {
    uint64_t count = 0;
    for (int i = 0; i < SIM_OBJECTS; i++) count += sim_host_life(w, host)->objects[i].id != 0;
    return count;
}

static bool host_rests(sim_world *w, int index, char *out, size_t room) {
    chordal_counters c;
    if (sim_worker_rests(w, index)) return true;
    uint64_t objects = objects_known(w, index), sessions = 0;
    uint64_t ids = objects + SIM_TYPES + w->hosts[index].store.used; /* its own type */
    if (chordal_host_counters(w->hosts[index].host, &c, sizeof c) < 0) return false;
    if (c.live_sessions != sessions)
        snprintf(out, room, "rest: host %d has %" PRIu64 " sessions", index, c.live_sessions);
    else if (c.live_objects != objects)
        snprintf(out, room, "rest: host %d has %" PRIu64 " objects, not %" PRIu64, index, c.live_objects, objects);
    else if (c.live_ids != ids)
        snprintf(out, room, "rest: host %d has %" PRIu64 " ids, not %" PRIu64, index, c.live_ids, ids);
    else
        return true;
    return false;
}

static bool made_by_holds_are_gone(sim_world *w, char *out, size_t room) {
    for (int host = 0; host < w->hosts_len; host++)
        for (int i = SIM_BOARDS; i < SIM_OBJECTS; i++)
            if (!sim_worker_rests(w, host) && sim_host_life(w, host)->objects[i].id) {
                snprintf(out, room, "rest: object %d of host %d is not retired", i, host);
                return false;
            }
    return true;
}

static bool all_rest(sim_world *w, char *out, size_t room) {
    for (int i = 0; i < w->hosts_len; i++)
        if (!host_rests(w, i, out, room)) return false;
    return true;
}

static bool wait_for(sim_world *w, bool (*well)(sim_world *, char *, size_t), uint64_t span, char *why, size_t room) {
    uint64_t end = w->now + span;
    while (!w->failure[0] && w->now <= end) {
        if (well(w, why, room)) return true;
        sim_run_until(w, w->now + 500);
    }
    return false;
}

static void wait_until(sim_world *w, bool (*well)(sim_world *, char *, size_t)) {
    char why[256] = "";
    if (!wait_for(w, well, PATIENCE, why, sizeof why)) sim_fail(w, "%s", why);
}

static bool one_failed(const sim_world *w) {
    for (int i = 0; i < SIM_READERS; i++)
        if (w->readers[i].used && w->readers[i].code == CHORDAL_E_NO_TYPE) return true;
    return false;
}

/* Links that begin anew offer their types again. */
static void close_all(sim_world *w) {
    for (int i = 0; i < w->specs_len; i++) {
        const sim_spec *spec = &w->specs[i];
        if (spec->link) (void)chordal_link_close(w->hosts[spec->from].host, spec->link, NULL);
        sim_host_turn(w, spec->from);
    }
}

static void give_back(sim_world *w) {
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader_close(w, &w->readers[i]);
        w->readers[i].used = false;
    }
}

static void close_links(sim_world *w) {
    w->closing = true;
    close_all(w);
}

void sim_come_to_quiet(sim_world *w) {
    char why[256];
    heal_all(w);
    if (!SIM_OFFERS_FALL_BACK && !wait_for(w, all_equal, PATIENCE / 3, why, sizeof why) && one_failed(w)) close_all(w);
    wait_until(w, all_equal);
    if (w->failure[0]) return;
    give_back(w);
    wait_until(w, made_by_holds_are_gone);
    close_links(w);
    wait_until(w, all_rest);
    if (w->stored && !w->failure[0]) sim_store_check_end(w);
}
