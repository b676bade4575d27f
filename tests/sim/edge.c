/* edge.c: the edge of each host: ties connections to links, as an adapter of sockets does. */
#include "sim/sim.h"

/* The connection whose end a link is; *out_end is which. */
static sim_conn *conn_of_link(sim_world *w, int host, chordal_id link, int *out_end) {
    for (size_t i = 0; i < w->conns_len; i++)
        for (int end = 0; end < 2; end++) {
            const sim_end *e = &w->conns[i]->ends[end];
            *out_end = end;
            if (e->up && e->host == host && e->link == link) return w->conns[i];
        }
    return NULL;
}

static int spec_of_link(const sim_world *w, int host, chordal_id link) {
    for (int i = 0; i < w->specs_len; i++)
        if (w->specs[i].from == host && w->specs[i].link == link) return i;
    return -1;
}

chordal_id sim_accepted_link(const sim_world *w, int spec) {
    for (size_t i = w->conns_len; i-- > 0;) {
        const sim_end *end = &w->conns[i]->ends[1];
        if (w->conns[i]->spec == spec && end->up && !end->draining) return end->link;
    }
    return 0;
}

void sim_spec_link(sim_world *w, int index) {
    sim_spec *spec = &w->specs[index];
    sim_host *host = &w->hosts[spec->from];
    if (!host->host || spec->link || spec->idle) return;
    spec->shown = 0;
    if (chordal_link_open(host->host, spec->flags_from | CHORDAL_LINK_CONNECT, &spec->link, NULL) < 0)
        sim_later(w, 100, SIM_DO_RELINK, (uint64_t)index, 0); /* no memory */
    else
        sim_host_turn(w, spec->from);
}

/* ---- opening ---- */

static sim_conn *new_conn(sim_world *w, int index, bool may_be_mute) {
    sim_spec *spec = &w->specs[index];
    sim_conn *conn = calloc(1, sizeof *conn);
    if (w->conns_len == w->conns_capacity) {
        w->conns_capacity = w->conns_capacity ? w->conns_capacity * 2 : 32;
        w->conns = realloc(w->conns, w->conns_capacity * sizeof(sim_conn *));
    }
    w->conns[w->conns_len++] = conn;
    conn->serial = ++w->conn_serial;
    conn->spec = index;
    conn->random = sim_stream(w->plan->seed, 1000 + (uint64_t)index, spec->dialled++);
    static const uint32_t delays[] = {0, 1, 5, 40, 300}, rates[] = {0, 0, 1000, 60, 8};
    conn->delay = delays[sim_draw(&conn->random, 5)];
    conn->jitter = sim_draw(&conn->random, 3) ? 0 : conn->delay;
    conn->rate = rates[sim_draw(&conn->random, 5)]; /* bytes in a ms */
    conn->buffer = (size_t)256 << sim_draw(&conn->random, 10);
    conn->borrows = sim_draw(&conn->random, 4) == 0;
    conn->mute = !w->quiet && sim_draw(&conn->random, 20) == 0 && may_be_mute;
    conn->opening = true;
    for (int end = 0; end < 2; end++) conn->ends[end].host = end ? spec->to : spec->from;
    return conn;
}

static void forget_old(sim_world *w, int index) {
    for (size_t i = 0; i < w->conns_len; i++) {
        sim_conn *conn = w->conns[i];
        if (conn->spec != index || !conn->ends[0].up) continue;
        conn->ends[0].up = false; /* the core is through with it */
        if (conn->ends[0].told_closed) chordal_release(w->hosts[w->specs[index].from].host, conn->ends[0].link);
        sim_conn_fin(w, conn, 0);
    }
}

/* The core waits for what was dialled no longer; what comes of it later is dropped. */
static void give_up_dial(sim_world *w, sim_spec *spec) {
    sim_conn *conn = spec->dial ? sim_conn_of(w, spec->dial) : NULL;
    if (conn && conn->mute) conn->opening = false;
    spec->dial = 0;
}

void sim_dial(sim_world *w, int index) {
    sim_spec *spec = &w->specs[index];
    forget_old(w, index);
    give_up_dial(w, spec);
    if (!sim_worker_dialled(w, index)) sim_connect(w, index, true);
}

void sim_connect(sim_world *w, int index, bool may_be_mute) {
    sim_spec *spec = &w->specs[index];
    sim_conn *conn = new_conn(w, index, may_be_mute);
    sim_show(w, index);
    spec->dial = conn->serial;
    conn->ends[0].link = spec->link;
    conn->ends[0].life = sim_host_life(w, spec->from)->serial;
    sim_note(w, conn->mute ? "dial in vain" : "dial", (uint64_t)index, conn->serial, conn->delay);
    if (!conn->mute) sim_later(w, conn->delay, SIM_DO_ACCEPT, conn->serial, 0);
}

static bool reachable(const sim_world *w, const sim_conn *conn) {
    const sim_host *from = &w->hosts[conn->ends[0].host], *to = &w->hosts[conn->ends[1].host];
    return to->host && (w->quiet || (from->apart_until <= w->now && to->apart_until <= w->now));
}

void sim_accept(sim_world *w, sim_conn *conn) {
    sim_end *end = &conn->ends[1];
    const sim_spec *spec = &w->specs[conn->spec];
    chordal_host *host = w->hosts[end->host].host;
    int code = reachable(w, conn) ? chordal_link_open(host, spec->flags_to, &end->link, NULL) : CHORDAL_E_LOST;
    if (code == 0) {
        code = chordal_link_up(host, end->link, spec->codec, sim_host_now(w, end->host), NULL);
        if (code < 0) chordal_release(host, end->link);
    }
    if (code < 0) {
        sim_later(w, conn->delay, SIM_DO_REFUSE, conn->serial, 0);
        return;
    }
    end->up = true;
    end->life = sim_host_life(w, end->host)->serial;
    sim_worker_own(w, end->host, end->link, true);
    sim_later(w, conn->delay, SIM_DO_READY, conn->serial, 0);
    sim_host_turn(w, end->host);
}

static bool still_wanted(sim_world *w, const sim_conn *conn) {
    const sim_end *end = &conn->ends[0];
    const sim_spec *spec = &w->specs[conn->spec];
    return sim_host_is(w, end->host, end->life) && spec->link == end->link && spec->dial == conn->serial;
}

void sim_ready(sim_world *w, sim_conn *conn) {
    sim_end *end = &conn->ends[0];
    const sim_spec *spec = &w->specs[conn->spec];
    if (still_wanted(w, conn) && !sim_host_runs(w, end->host)) { /* it is paused */
        sim_later(w, 100, SIM_DO_READY, conn->serial, 0);
        return;
    }
    conn->opening = false;
    conn->shown = spec->shown;
    if (still_wanted(w, conn) && conn->ends[1].up) {
        chordal_host *host = w->hosts[end->host].host;
        end->up = chordal_link_up(host, end->link, spec->codec, sim_host_now(w, end->host), NULL) == 0;
        if (!end->up) chordal_link_down(host, end->link, sim_host_now(w, end->host), NULL);
        sim_host_turn(w, end->host);
        if (end->up) return;
    } else {
        sim_refuse(w, conn);
    }
    sim_conn_fin(w, conn, 0);
}

void sim_refuse(sim_world *w, sim_conn *conn) {
    sim_end *end = &conn->ends[0];
    conn->opening = false;
    if (!still_wanted(w, conn)) return;
    chordal_link_down(w->hosts[end->host].host, end->link, sim_host_now(w, end->host), NULL);
    sim_host_turn(w, end->host);
}

/* ---- bytes ---- */

/* A frame of a host that was not led astray is refused only for want of memory, or when the link ended before. */
static bool may_refuse(const sim_world *w, int code) {
    if (code == CHORDAL_E_NOMEM || code == CHORDAL_E_STATE || code == CHORDAL_E_CLOSED) return true;
    return sim_plan_uses(w->plan, SIM_hostile);
}

void sim_arrived(sim_world *w, sim_conn *conn, int which, const sim_frame *frame) {
    sim_end *end = &conn->ends[which];
    uint8_t *exact = malloc(frame->len ? frame->len : 1); /* a read beyond the frame is seen */
    if (frame->len) memcpy(exact, frame->data, frame->len);
    int host = end->host;
    chordal_id link = end->link;
    chordal_error error = {0};
    int code = chordal_link_feed(w->hosts[host].host, end->link, frame->kind, exact, frame->len, sim_host_now(w, host),
                                 &error);
    free(exact);
    if (code < 0) {
        sim_note(w, "refused", conn->serial, (uint64_t)which, (uint64_t)-code);
        sim_lost(w);
    }
    if (code < 0 && !may_refuse(w, code))
        sim_fail(w, "refused: host %d took a frame of another host for a fault: %s %s", host, chordal_error_name(code),
                 error.detail);
    if (code == CHORDAL_E_NOMEM || code == CHORDAL_E_CLOSED) sim_end_lost(w, conn, which);
    sim_check_sessions(w, host, link);
    sim_host_turn(w, host);
}

static bool pull(sim_world *w, sim_conn *conn, int which) {
    static uint8_t buffer[1 << 22];
    sim_end *end = &conn->ends[which];
    size_t len;
    uint32_t kind;
    if (chordal_link_take(w->hosts[end->host].host, end->link, buffer, sizeof buffer, &len, &kind, NULL) < 0 || !kind)
        return false;
    sim_conn_send(w, conn, which, kind, buffer, len);
    return true;
}

/* The frame stays the core's until the transport took it: then it is sent. */
static bool borrow(sim_world *w, sim_conn *conn, int which) {
    static uint8_t buffer[1 << 22];
    sim_end *end = &conn->ends[which];
    chordal_host *host = w->hosts[end->host].host;
    chordal_piece pieces[1024];
    size_t count, len = 0;
    uint32_t kind;
    if (end->shown && end->first) return false;
    if (end->shown) (void)chordal_link_sent(host, end->link, NULL);
    end->shown = false;
    if (chordal_link_output(host, end->link, pieces, 1024, &count, &kind, NULL) < 0 || !count) return false;
    for (size_t i = 0; i < count; len += pieces[i++].len)
        if (pieces[i].len) memcpy(buffer + len, pieces[i].data, pieces[i].len);
    end->shown = true;
    sim_conn_send(w, conn, which, kind, buffer, len);
    return true;
}

void sim_pump(sim_world *w, sim_conn *conn, int which) {
    sim_end *end = &conn->ends[which];
    if (!end->up || !sim_host_runs(w, end->host)) return;
    while (end->bytes < conn->buffer && (conn->borrows ? borrow(w, conn, which) : pull(w, conn, which))) {
    }
    if (end->draining && end->bytes < conn->buffer && !(conn->borrows && end->shown)) sim_end_drained(w, conn, which);
}

/* ---- the end ---- */

void sim_end_lost(sim_world *w, sim_conn *conn, int which) {
    sim_end *end = &conn->ends[which];
    if (!end->up) return;
    end->up = false;
    sim_note(w, "lost", conn->serial, (uint64_t)which, 0);
    chordal_host *host = w->hosts[end->host].host;
    if (end->told_closed)
        chordal_release(host, end->link);
    else
        (void)chordal_link_down(host, end->link, sim_host_now(w, end->host), NULL);
    sim_conn_fin(w, conn, which);
    sim_lost(w);
    sim_host_turn(w, end->host);
}

void sim_end_drained(sim_world *w, sim_conn *conn, int which) {
    sim_end *end = &conn->ends[which];
    if (!end->up || !end->draining) return;
    end->up = false;
    if (end->told_closed) chordal_release(w->hosts[end->host].host, end->link);
    sim_conn_fin(w, conn, which);
}

/* The core is through with the transport: send what is left, then close. */
static void drain(sim_world *w, sim_conn *conn, int which, bool closed) {
    sim_end *end = &conn->ends[which];
    if (closed) end->told_closed = true;
    if (!end->draining) sim_later(w, 1000, SIM_DO_DRAIN, conn->serial, (uint64_t)which);
    end->draining = true;
    sim_pump(w, conn, which);
}

void sim_edge_link(sim_world *w, int host, const chordal_event_LINK *event) {
    int which, spec = spec_of_link(w, host, event->link);
    sim_conn *conn = conn_of_link(w, host, event->link, &which);
    bool closed = event->state == CHORDAL_LINK_CLOSED;
    sim_note(w, "link", (uint64_t)host, event->state, (uint64_t)-event->code);
    if (sim_hostile_event(w, host, event->link)) return;
    if (closed || event->state == CHORDAL_LINK_WAIT) sim_lost(w);
    if ((closed || event->state == CHORDAL_LINK_WAIT) && spec >= 0) give_up_dial(w, &w->specs[spec]);
    if (event->state == CHORDAL_LINK_DIAL && spec >= 0) sim_dial(w, spec);
    if ((closed || event->state == CHORDAL_LINK_WAIT) && conn)
        drain(w, conn, which, closed);
    else if (closed)
        chordal_release(w->hosts[host].host, event->link);
    if (closed) sim_worker_own(w, host, event->link, false);
    if (spec >= 0) sim_worker_link(w, spec, event->state);
    if (closed && spec >= 0) {
        w->specs[spec].link = 0;
        if (!w->closing) sim_later(w, 500, SIM_DO_RELINK, (uint64_t)spec, 0);
    }
}

void sim_edge_output(sim_world *w, int host, chordal_id link) {
    int which;
    sim_conn *conn = conn_of_link(w, host, link, &which);
    if (conn) sim_pump(w, conn, which);
}
