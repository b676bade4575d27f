/* reader.c: references and watches, and the copies that their programs make from frames. */
#include "sim/sim.h"

static const char *const boards[] = {"lunch", "supper", "\xc3\xa9t\xc3\xa9"};

uint32_t sim_states(const sim_reader *reader) {
    return reader->object < SIM_BOARDS ? 4 : 3;
}

bool sim_reader_kept(const sim_reader *reader) {
    return reader->mode == SIM_KEPT || reader->mode == SIM_KEPT_MANUAL;
}

static bool watches(const sim_reader *reader) {
    return reader->mode != SIM_PLAIN;
}

static bool manual(const sim_reader *reader) {
    return reader->mode == SIM_MANUAL || reader->mode == SIM_KEPT_MANUAL;
}

static void drop_copy(sim_world *w, sim_reader *reader) {
    for (int i = 0; i < SIM_STATES; i++) {
        chordal__node_unref(w->memory, reader->copy[i]);
        reader->copy[i] = NULL;
        reader->told[i] = false;
        reader->commit[i] = reader->at_life[i] = 0;
    }
}

static chordal_id link_for(const sim_world *w, const sim_reader *reader) {
    if (reader->spec < 0) return 0;
    return reader->reverse ? sim_accepted_link(w, reader->spec) : w->specs[reader->spec].link;
}

void sim_address(const sim_world *w, int host, int object, char type[8], char params[64]) {
    snprintf(type, 8, "%c%d", object < SIM_BOARDS ? 't' : 'u', sim_family(w, host));
    snprintf(params, 64, "{\"board\":\"%s\"}", boards[object % SIM_BOARDS]);
}

static int get(sim_world *w, sim_reader *reader) {
    char type[8], params[64];
    chordal_host *host = w->hosts[reader->host].host;
    chordal_id link = link_for(w, reader);
    uint32_t flags = sim_reader_kept(reader) ? CHORDAL_REFERENCE_KEPT : 0;
    if (reader->mode == SIM_KEPT_MANUAL) flags |= CHORDAL_REFERENCE_MANUAL;
    reader->link = link;
    if (reader->spec >= 0 && !link) return CHORDAL_E_CLOSED;
    sim_address(w, reader->target, reader->object, type, params);
    int code = chordal_reference_get(host, link, type, strlen(type), 0, flags, CHORDAL_FORMAT_JSON,
                                     (const uint8_t *)params, strlen(params), &reader->reference, NULL);
    if (code < 0 || !watches(reader) || sim_reader_kept(reader)) return code;
    code = chordal_watch_open(host, reader->reference, CHORDAL_ALL_MEMBERS,
                              reader->mode == SIM_MANUAL ? CHORDAL_WATCH_MANUAL : 0, &reader->watch, NULL);
    if (code < 0) chordal_release(host, reader->reference);
    return code;
}

static void retry_later(sim_world *w, sim_reader *reader, uint64_t span) {
    if (reader->retrying) return;
    reader->retrying = true;
    sim_later(w, span, SIM_DO_RETRY, (uint64_t)(reader - w->readers), 0);
}

void sim_reader_open(sim_world *w, sim_reader *reader) {
    if (!w->hosts[reader->host].host || reader->open) return;
    reader->state = CHORDAL_REFERENCE_PENDING;
    reader->watch = reader->reference = 0;
    reader->code = 0;
    if (sim_reads_here(reader)) sim_host_life(w, reader->host)->allowed |= 1u << reader->object;
    if (get(w, reader) < 0) {
        retry_later(w, reader, 300);
        return;
    }
    reader->open = true;
    reader->serial = ++w->references;
    reader->opened = w->now;
    reader->calls = 0;
    reader->run_last = 0;
    reader->life = sim_host_life(w, reader->host)->serial;
    reader->life_seen = 0;
    reader->revoked_life = 0;
    reader->low = 0;
    sim_note(w, "hold", (uint64_t)(reader - w->readers), (uint64_t)(reader->spec + 1),
             (uint64_t)reader->target * 100 + (uint64_t)reader->object * 10 + reader->mode);
    sim_host_turn(w, reader->host);
}

void sim_reader_close(sim_world *w, sim_reader *reader) {
    chordal_host *host = w->hosts[reader->host].host;
    if (!reader->open) return;
    sim_note(w, "release", (uint64_t)(reader - w->readers), reader->reference, 0);
    reader->open = false;
    chordal_release(host, reader->watch);
    chordal_release(host, reader->reference);
    drop_copy(w, reader);
    sim_host_turn(w, reader->host);
}

void sim_reader_forget(sim_world *w, sim_reader *reader) {
    reader->open = false;
    drop_copy(w, reader);
}

void sim_reader_take(sim_world *w, sim_reader *reader) {
    reader->taking = false;
    if (!reader->open || !manual(reader)) return;
    if (!sim_host_runs(w, reader->host)) {
        reader->taking = true;
        sim_later(w, 50, SIM_DO_TAKE, (uint64_t)(reader - w->readers), 0);
        return;
    }
    (void)chordal_watch_take(w->hosts[reader->host].host, reader->watch ? reader->watch : reader->reference, NULL);
    sim_host_turn(w, reader->host);
}

/* A program that wants its references tries again what failed, and asks again for what is retired or closed. */
void sim_reader_retry(sim_world *w, sim_reader *reader) {
    reader->retrying = false;
    chordal_host *host = w->hosts[reader->host].host;
    if (!reader->used || !host) return;
    if (!sim_host_runs(w, reader->host)) {
        retry_later(w, reader, 100);
    } else if (!reader->open) {
        sim_reader_open(w, reader);
    } else if (reader->state == CHORDAL_REFERENCE_FAILED) {
        if (chordal_reference_retry(host, reader->reference, NULL) == 0) {
            sim_host_turn(w, reader->host);
            if (reader->open && reader->state == CHORDAL_REFERENCE_FAILED) retry_later(w, reader, 1000);
            return;
        }
        sim_reader_close(w, reader);
        retry_later(w, reader, 300);
    } else if (reader->state == CHORDAL_REFERENCE_RETIRED || reader->state == CHORDAL_REFERENCE_REVOKED) {
        sim_reader_close(w, reader);
        sim_reader_open(w, reader);
    }
}

static sim_reader *reader_of(sim_world *w, int host, chordal_id reference) {
    for (int i = 0; i < SIM_READERS; i++)
        if (w->readers[i].open && w->readers[i].host == host && w->readers[i].reference == reference)
            return &w->readers[i];
    return NULL;
}

void sim_reader_event(sim_world *w, int host, const chordal_event_REFERENCE *event) {
    sim_reader *reader = reader_of(w, host, event->reference);
    if (event->members.part) chordal_release(w->hosts[host].host, event->members.part);
    if (!reader) return;
    reader->state = (int32_t)event->state;
    if (event->code) reader->code = event->code;
    if (event->state == CHORDAL_REFERENCE_LIVE) sim_check_allowed(w, reader);
    if (event->code == CHORDAL_E_DENIED && (!w->guarded || event->detail.length))
        sim_fail(w, "guard: reader %d is told more than that it may not", (int)(reader - w->readers));
    if (event->state != CHORDAL_REFERENCE_REVOKED && reader->revoked_far) reader->revoked_life = 0;
    sim_note(w, "reference", (uint64_t)(reader - w->readers), event->state, (uint64_t)-event->code);
    if (event->state == CHORDAL_REFERENCE_REVOKED) {
        sim_lost(w);
        if (reader->spec >= 0 && !reader->reverse)
            sim_later(w, 300, SIM_DO_LEAVE, (uint64_t)reader->spec, reader->link);
        retry_later(w, reader, 1500);
    }
    if (event->state == CHORDAL_REFERENCE_FAILED || event->state == CHORDAL_REFERENCE_RETIRED)
        retry_later(w, reader, 700);
}

/* ---- frames ---- */

int sim_patch(chordal__memory *memory, chordal__node **value, uint32_t member, uint8_t encoding, const uint8_t *data,
              size_t len) {
    chordal__ops ops;
    const chordal__limits limits = {512, 1 << 26};
    chordal_error error = {0};
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, data, len, NULL, 0, &limits, &error);
    for (size_t i = 0; i < ops.count && code == 0; i++) {
        const chordal__op *op = &ops.items[i];
        if (op->path->segments[0].index != member) code = CHORDAL_E_PATH;
        if (op->kind == CHORDAL_OP_ERROR) continue;
        if (!*value) *value = chordal__node_null(memory);
        if (code == 0) code = chordal__apply(memory, value, op, 512, &error);
    }
    chordal__ops_dispose(&ops);
    return code;
}

void sim_reader_frame(sim_world *w, int host, const chordal_event_FRAME *event) {
    sim_reader *reader = reader_of(w, host, event->source);
    size_t len;
    const uint8_t *data = sim_part(w, host, &event->record, &event->ops, &len);
    if (reader && event->member < SIM_STATES) {
        sim_note(w, "watch", (uint64_t)(reader - w->readers), event->member, event->commit);
        sim_check_allowed(w, reader);
        int code =
            sim_patch(w->memory, &reader->copy[event->member], event->member, CHORDAL__ENCODING_BINARY, data, len);
        if (code < 0)
            sim_fail(w, "frame: an op of a frame does not apply at reader %d, member %" PRIu32 ": %s",
                     (int)(reader - w->readers), event->member, chordal_error_name(code));
        else
            sim_check_frame(w, reader, event->member, event->commit);
        if (manual(reader) && !reader->taking && (reader->take || w->quiet)) {
            reader->taking = true;
            sim_later(w, w->quiet ? 1 : reader->take, SIM_DO_TAKE, (uint64_t)(reader - w->readers), 0);
        }
    }
    chordal_release(w->hosts[host].host, event->ops.part);
}

bool sim_reader_digests(sim_world *w, const sim_reader *reader, uint64_t *out, uint64_t *out_life) {
    chordal_host *host = w->hosts[reader->host].host;
    for (uint32_t member = 0; member < sim_states(reader); member++) {
        chordal_value *value;
        int64_t life = 0;
        if (chordal_reference_value(host, reader->reference, member, &value, NULL) < 0) return false;
        out[member] = chordal_value_digest(value);
        if (member == SIM_LIFE) {
            chordal_cursor cursor;
            chordal_cursor_root(value, &cursor);
            if (chordal_cursor_integer(&cursor, &life) < 0) life = 0;
            *out_life = (uint64_t)life;
        }
        chordal_value_unref(value);
    }
    return true;
}
