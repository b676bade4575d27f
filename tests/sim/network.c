/* network.c: connections: each way of one has its frames under way, in order. */
#include "sim/sim.h"

sim_conn *sim_conn_of(sim_world *w, uint64_t serial) {
    for (size_t i = 0; i < w->conns_len; i++)
        if (w->conns[i]->serial == serial) return w->conns[i];
    return NULL;
}

sim_conn *sim_conn_any(sim_world *w, uint32_t which) {
    for (size_t i = 0; i < w->conns_len; i++) {
        sim_conn *conn = w->conns[(which + i) % w->conns_len];
        if (conn->ends[0].up || conn->ends[1].up) return conn;
    }
    return NULL;
}

static void schedule_arrival(sim_world *w, const sim_conn *conn, int end, uint64_t at) {
    sim_later(w, at > w->now ? at - w->now : 0, SIM_DO_DELIVER, conn->serial, (uint64_t)end);
}

/* After the frames before it, by the line's rate, and never before them. */
static uint64_t arrival(sim_world *w, sim_conn *conn, sim_end *from, size_t len) {
    const sim_spec *spec = &w->specs[conn->spec];
    uint32_t rate = spec->rate_until > w->now ? spec->rate : conn->rate;
    uint32_t delay =
        conn->delay + (spec->delay_until > w->now ? spec->delay : 0) + sim_draw(&conn->random, conn->jitter + 1);
    if (w->quiet) rate = 0, delay = conn->delay;
    if (from->free_at < w->now) from->free_at = w->now;
    if (rate) from->free_at += len / rate;
    if (from->arrive < from->free_at + delay) from->arrive = from->free_at + delay;
    return from->arrive;
}

#define PIECES 1000 /* ms between two of a frame that takes longer */

/* An edge reads a long frame in pieces. */
static void schedule_pieces(sim_world *w, const sim_conn *conn, int end, const sim_frame *frame) {
    for (uint64_t at = frame->begin + PIECES; at < frame->arrive; at += PIECES)
        sim_later(w, at > w->now ? at - w->now : 0, SIM_DO_PIECE, conn->serial, (uint64_t)end);
}

void sim_conn_send(sim_world *w, sim_conn *conn, int end, uint32_t kind, const uint8_t *data, size_t len) {
    sim_end *from = &conn->ends[end];
    if (conn->broken) return;
    sim_frame *frame = malloc(sizeof *frame + len);
    uint64_t before = from->free_at < w->now ? w->now : from->free_at;
    *frame = (sim_frame){.kind = kind, .len = len, .arrive = arrival(w, conn, from, len)};
    frame->begin = frame->arrive - (from->free_at - before);
    if (len) memcpy(frame->data, data, len);
    if (from->last)
        from->last->next = frame;
    else
        from->first = frame;
    from->last = frame;
    from->bytes += len;
    w->frames++;
    schedule_arrival(w, conn, end, frame->arrive);
    schedule_pieces(w, conn, end, frame);
}

static sim_frame *take_first(sim_end *from) {
    sim_frame *frame = from->first;
    from->first = frame->next;
    if (!from->first) from->last = NULL;
    from->bytes -= frame->len;
    return frame;
}

void sim_conn_drop(sim_conn *conn, int end) {
    while (conn->ends[end].first) free(take_first(&conn->ends[end]));
}

void sim_conn_freeze(sim_conn *conn, int end) {
    conn->ends[end].frozen = true;
}

void sim_conn_thaw(sim_world *w, sim_conn *conn, int end) {
    sim_end *from = &conn->ends[end];
    from->frozen = false;
    for (sim_frame *frame = from->first; frame; frame = frame->next) schedule_arrival(w, conn, end, frame->arrive);
    if (from->fin) schedule_arrival(w, conn, end, from->arrive);
}

/* Whether what leaves this end can reach the other. */
static bool passes(const sim_world *w, const sim_conn *conn, int end) {
    const sim_end *from = &conn->ends[end], *to = &conn->ends[!end];
    if (from->frozen || !sim_host_runs(w, to->host)) return false;
    return w->quiet || (w->hosts[from->host].apart_until <= w->now && w->hosts[to->host].apart_until <= w->now);
}

/* The beginning of a frame, for who reads a trace. */
static void show(const sim_frame *frame) {
    static const char digits[] = "0123456789abcdef";
    printf("%22s", "");
    for (size_t i = 0; i < frame->len && i < 60; i++)
        if (frame->data[i] >= 32 && frame->data[i] < 127)
            putchar(frame->data[i]);
        else
            printf("\\%c%c", digits[frame->data[i] >> 4], digits[frame->data[i] & 15]);
    putchar('\n');
}

void sim_conn_deliver(sim_world *w, sim_conn *conn, int end) {
    sim_end *from = &conn->ends[end];
    if (!passes(w, conn, end)) return;
    if (from->first) {
        if (from->first->arrive > w->now) return;
        sim_frame *frame = take_first(from);
        sim_note(w, "frame", conn->serial, (uint64_t)end, frame->len);
        sim_note_bytes(w, frame->data, frame->len);
        if (w->tracing) show(frame);
        if (conn->ends[!end].up) sim_arrived(w, conn, !end, frame);
        free(frame);
        sim_pump(w, conn, end);
    } else if (from->fin && from->arrive <= w->now) {
        sim_end_lost(w, conn, !end);
    }
}

void sim_conn_piece(sim_world *w, sim_conn *conn, int end) {
    const sim_frame *frame = conn->ends[end].first;
    const sim_end *to = &conn->ends[!end];
    if (!frame || frame->begin >= w->now || frame->arrive <= w->now || !to->up || !passes(w, conn, end)) return;
    sim_note(w, "piece", conn->serial, (uint64_t)end, frame->len);
    (void)chordal_link_progress(w->hosts[to->host].host, to->link, sim_host_now(w, to->host), NULL);
}

void sim_conn_fin(sim_world *w, sim_conn *conn, int end) {
    sim_end *from = &conn->ends[end];
    from->fin = true;
    (void)arrival(w, conn, from, 0);
    schedule_arrival(w, conn, end, from->arrive);
}

void sim_conns_pass(sim_world *w, int host) {
    for (size_t i = 0; i < w->conns_len; i++) {
        sim_conn *conn = w->conns[i];
        if (conn->ends[0].host != host && conn->ends[1].host != host) continue;
        for (int end = 0; end < 2; end++) {
            if (!conn->ends[end].frozen) sim_conn_thaw(w, conn, end);
            sim_pump(w, conn, end);
        }
    }
}

void sim_conns_sweep(sim_world *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->conns_len; i++) {
        sim_conn *conn = w->conns[i];
        if (conn->opening || conn->ends[0].up || conn->ends[1].up) {
            w->conns[kept++] = conn;
            continue;
        }
        sim_conn_drop(conn, 0);
        sim_conn_drop(conn, 1);
        free(conn);
    }
    w->conns_len = kept;
}
