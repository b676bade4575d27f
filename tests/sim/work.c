/* work.c: what a step does when it breaks nothing: commits, calls, holds. */
#include "odd_values.h"
#include "sim/sim.h"

/* ---- edits ---- */

static const char *random_json(sim_random *random) {
    return odd_values[sim_draw(random, ODD_VALUES)];
}

static uint32_t length_of(chordal_transaction *t, chordal_id object, const char *path) {
    chordal_value *value;
    chordal_cursor cursor;
    if (chordal_transaction_value(t, object, SIM_A, path, &value, NULL) < 0) return 0;
    chordal_cursor_root(value, &cursor);
    uint32_t length = (uint32_t)chordal_cursor_length(&cursor);
    chordal_value_unref(value);
    return length;
}

static chordal_value *decode(sim_world *w, int host, const char *json) {
    chordal_value *value;
    int code = chordal_value_decode(w->hosts[host].host, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json),
                                    &value, NULL);
    return code < 0 ? NULL : value;
}

static int permute(chordal_transaction *t, chordal_id object, uint32_t length, sim_random *random) {
    uint32_t indexes[64];
    if (!length || length > 64) return 0;
    for (uint32_t i = 0; i < length; i++) indexes[i] = i;
    for (uint32_t i = length; i > 1; i--) {
        uint32_t k = sim_draw(random, i), kept = indexes[i - 1];
        indexes[i - 1] = indexes[k], indexes[k] = kept;
    }
    return chordal_transaction_permute(t, object, SIM_A, "/list", indexes, length, NULL);
}

static int splice(sim_world *w, int host, chordal_transaction *t, chordal_id object, uint32_t length,
                  sim_random *random) {
    uint32_t at = sim_draw(random, length + 1);
    uint32_t remove = length > 80 ? length - at : sim_draw(random, length - at + 1);
    chordal_value *values = sim_draw(random, 2) ? decode(w, host, "[7,\"eight\"]") : NULL;
    int code = chordal_transaction_splice(t, object, SIM_A, "/list", at, remove, values, NULL);
    chordal_value_unref(values);
    return code;
}

static int edit_list(sim_world *w, int host, chordal_transaction *t, chordal_id object, sim_random *random) {
    uint32_t length = length_of(t, object, "/list");
    char path[32];
    snprintf(path, sizeof path, "/list/%" PRIu32, length ? sim_draw(random, length) : 0);
    switch (sim_draw(random, 5)) {
    case 0:
        return chordal_transaction_set_json(t, object, SIM_A, "/list/-", random_json(random), NULL);
    case 1:
        return length ? chordal_transaction_delete(t, object, SIM_A, path, NULL) : 0;
    case 2:
        return length ? chordal_transaction_set_json(t, object, SIM_A, path, random_json(random), NULL) : 0;
    case 3:
        return splice(w, host, t, object, length, random);
    default:
        return permute(t, object, length, random);
    }
}

static int edit_text(chordal_transaction *t, chordal_id object, sim_random *random) {
    static char large[30000];
    uint32_t length = length_of(t, object, "/text");
    if (length > 60000 || sim_draw(random, 3) == 0)
        return chordal_transaction_truncate(t, object, SIM_A, "/text", sim_draw(random, length + 1), NULL);
    if (sim_draw(random, 12))
        return chordal_transaction_append(t, object, SIM_A, "/text", "tok\xf0\x9f\x98\x80", 7, NULL);
    memset(large, 'y', sizeof large);
    return chordal_transaction_append(t, object, SIM_A, "/text", large, 5000 + sim_draw(random, 25000), NULL);
}

static int edit(sim_world *w, int host, chordal_transaction *t, chordal_id object, sim_random *random) {
    char path[32];
    chordal_value *value;
    int code = 0;
    snprintf(path, sizeof path, "/map/key%" PRIu32, sim_draw(random, 6));
    switch (sim_draw(random, 7)) {
    case 0:
        return chordal_transaction_set_json(t, object, SIM_A, path, random_json(random), NULL);
    case 1:
        code = chordal_transaction_delete(t, object, SIM_A, path, NULL);
        return code == CHORDAL_E_PATH ? 0 : code;
    case 2:
        return chordal_transaction_set_json(t, object, SIM_B, "", random_json(random), NULL);
    case 3:
        value = decode(w, host, random_json(random));
        if (value) code = chordal_transaction_assign(t, object, SIM_B, "", value, NULL);
        chordal_value_unref(value);
        return code;
    case 4:
        return edit_text(t, object, random);
    default:
        return edit_list(w, host, t, object, random);
    }
}

/* ---- commits ---- */

static bool digests_of(chordal_transaction *t, chordal_id object, uint64_t *out) {
    for (uint32_t member = SIM_A; member <= SIM_B; member++) {
        chordal_value *value;
        if (chordal_transaction_value(t, object, member, "", &value, NULL) < 0) return false;
        out[member] = chordal_value_digest(value);
        chordal_value_unref(value);
    }
    return true;
}

/* One for each commit. */
static int put_row(chordal_transaction *t, chordal_id object, uint32_t member, uint64_t number) {
    char row[40];
    int len = snprintf(row, sizeof row, "{\"n\":%" PRIu64 "}", number);
    return chordal_transaction_put(t, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)row, (size_t)len, NULL);
}

/* Each commit numbers each document that it touches, so that no two are alike. */
static int edit_object(sim_world *w, int host, chordal_transaction *t, int index, sim_random *random,
                       uint64_t *out_digests) {
    char number[24];
    chordal_id object = sim_host_life(w, host)->objects[index].id;
    snprintf(number, sizeof number, "%" PRIu64, ++w->edits);
    int code = chordal_transaction_set_json(t, object, SIM_A, "/n", number, NULL);
    for (uint32_t i = sim_draw(random, 4); i > 0 && code == 0; i--) code = edit(w, host, t, object, random);
    if (code == 0 && w->hosts[host].store.rows && sim_persisted(w, host, index))
        code = put_row(t, object, sim_rows(index), w->edits);
    if (code == 0 && !digests_of(t, object, out_digests)) code = CHORDAL_E_NOMEM;
    return code;
}

static void keep_ticket(sim_life *life, uint64_t number, chordal_id ticket) {
    if (number > life->tickets_capacity) {
        life->tickets_capacity = number * 2 + 64;
        life->tickets = realloc(life->tickets, life->tickets_capacity * sizeof *life->tickets);
    }
    life->tickets[number - 1] = ticket;
}

/* What it may end with where nothing is wrong with the host: the disk may be. */
static bool may_end_with(const sim_world *w, int host, int code) {
    bool reads = code == CHORDAL_E_DISK_IO || code == CHORDAL_E_CORRUPT;
    if (reads && w->hosts[host].store.used) return sim_host_life((sim_world *)w, host)->troubled;
    return code == CHORDAL_E_NOMEM || code == CHORDAL_E_CLOSED || code == CHORDAL_E_RETIRED;
}

static uint64_t note_commit(sim_world *w, int host, const sim_pending *made) {
    sim_life *life = sim_host_life(w, host);
    uint64_t number = 0;
    if (w->hosts[host].store.used) {
        sim_store_commit(w, host, made);
    } else {
        number = ++life->commits;
        keep_ticket(life, number, made->ticket);
        for (int i = 0; i < SIM_OBJECTS; i++)
            if (made->objects >> i & 1) sim_check_commit(life, i, number, 0, made->digests[i]);
    }
    sim_note(w, "commit", (uint64_t)host, made->objects, number);
    return number;
}

uint64_t sim_commit(sim_world *w, int host, chordal_id call, uint32_t objects, const sim_made *by, sim_random *random) {
    chordal_transaction *t;
    sim_pending made = {.objects = objects};
    int code = 0;
    if (by) made.call = by->call, made.run = by->run;
    if (chordal_transaction_begin(w->hosts[host].host, call, &t, NULL) < 0) return 0;
    for (int i = 0; i < SIM_OBJECTS && code == 0; i++)
        if (objects >> i & 1) code = edit_object(w, host, t, i, random, made.digests[i]);
    if (code < 0) {
        chordal_transaction_abort(t);
        if (!may_end_with(w, host, code)) sim_fail(w, "edit: host %d: %s", host, chordal_error_name(code));
        return 0;
    }
    made.serial = w->edits;
    return chordal_transaction_commit(t, &made.ticket, NULL) < 0 ? 0 : note_commit(w, host, &made);
}

static void step_commit(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len);
    sim_random random = sim_stream(step->x, 1, 0);
    if (!sim_host_runs(w, host)) return;
    for (uint32_t times = sim_draw(&random, 6) ? 1 : 1 + sim_draw(&random, 40); times > 0; times--) {
        uint32_t there = 0, some = step->b | 1u << sim_draw(&random, SIM_OBJECTS);
        for (int i = 0; i < SIM_OBJECTS; i++)
            if (sim_host_life(w, host)->objects[i].id) there |= 1u << i;
        if (there) (void)sim_commit(w, host, 0, there & some ? there & some : there, NULL, &random);
    }
    sim_host_turn(w, host);
}

/* ---- calls ---- */

static sim_reader *open_reader(sim_world *w, uint32_t which) {
    for (uint32_t i = 0; i < SIM_READERS; i++) {
        sim_reader *reader = &w->readers[(which + i) % SIM_READERS];
        if (reader->open && sim_host_runs(w, reader->host)) return reader;
    }
    return NULL;
}

static void pack_number(uint8_t **at, uint64_t number) {
    *(*at)++ = 0xcf;
    for (int i = 56; i >= 0; i -= 8) *(*at)++ = (uint8_t)(number >> i);
}

static size_t pack_arguments(uint8_t *out, uint64_t name, uint32_t effect, bool bytes) {
    uint8_t *at = out;
    *at++ = bytes ? 0x93 : 0x92;
    pack_number(&at, name);
    pack_number(&at, effect);
    if (bytes) {
        memcpy(at, "\xc4\x03raw", 5);
        at += 5;
    }
    return (size_t)(at - out);
}

static sim_call *new_call(sim_world *w, sim_reader *reader) {
    if (w->calls_len == w->calls_capacity) {
        w->calls_capacity = w->calls_capacity ? w->calls_capacity * 2 : 64;
        w->calls = realloc(w->calls, w->calls_capacity * sizeof *w->calls);
    }
    sim_call *call = &w->calls[w->calls_len++];
    *call = (sim_call){.reader = (uint32_t)(reader - w->readers),
                       .reference = reader->serial,
                       .number = ++reader->calls,
                       .host = reader->host,
                       .life = reader->life,
                       .started = w->now};
    return call;
}

static void start_call(sim_world *w, sim_reader *reader, sim_random *random) {
    uint8_t packed[32];
    sim_call *call = new_call(w, reader);
    call->idempotent = sim_draw(random, 3) == 0;
    call->timed = sim_draw(random, 5) == 0;
    uint32_t effect = sim_draw(random, 1u << 24);
    size_t len = pack_arguments(packed, (uint64_t)w->calls_len + SIM_CALL_NAME, effect, sim_draw(random, 4) == 0);
    call->durable = w->hosts[reader->target].store.used && sim_draw(random, 2);
    if (call->durable) call->idempotent = false;
    const char *method = call->durable ? "once" : call->idempotent ? "again" : "run";
    int code = chordal_call_start(w->hosts[reader->host].host, reader->reference, method, strlen(method),
                                  CHORDAL_FORMAT_PACKED, packed, len, call->timed ? 1 + sim_draw(random, 4000) : 0,
                                  &call->id, NULL);
    if (code < 0) w->calls_len--;
    if (code < 0) reader->calls--;
    sim_note(w, "call", w->calls_len, (uint64_t)(reader - w->readers), (uint64_t)-code);
}

static void step_call(sim_world *w, const sim_step *step) {
    sim_random random = sim_stream(step->x, 2, 0);
    sim_reader *reader = open_reader(w, step->a);
    if (!reader) return;
    for (uint32_t times = sim_draw(&random, 4) ? 1 : 1 + sim_draw(&random, 12); times > 0; times--)
        start_call(w, reader, &random);
    sim_host_turn(w, reader->host);
}

static void step_cancel(sim_world *w, const sim_step *step) {
    for (size_t i = 0; i < w->calls_len; i++) {
        sim_call *call = &w->calls[(step->a + i) % w->calls_len];
        if (call->settled || call->released || !sim_host_is(w, call->host, call->life)) continue;
        if (!sim_host_runs(w, call->host)) continue;
        call->cancelled = true;
        if (step->b % 4 == 0) call->released = true;
        if (call->released)
            chordal_release(w->hosts[call->host].host, call->id);
        else
            (void)chordal_call_cancel(w->hosts[call->host].host, call->id, NULL);
        sim_note(w, "cancel", (uint64_t)(call - w->calls), call->released, 0);
        sim_host_turn(w, call->host);
        return;
    }
}

/* ---- references ---- */

int sim_other(const sim_spec *spec, int host) {
    return spec->from == host ? spec->to : spec->from;
}

uint32_t sim_flags_at(const sim_spec *spec, int host) {
    return spec->from == host ? spec->flags_from : spec->flags_to;
}

bool sim_leads(const sim_spec *spec, int host) {
    if (spec->from != host && spec->to != host) return false;
    return sim_flags_at(spec, host) & CHORDAL_LINK_ROUTE_OFFERS &&
           sim_flags_at(spec, sim_other(spec, host)) & CHORDAL_LINK_OFFER;
}

/* Whose objects are reached at a host: its own, and those that others offer to it, who may have them from others. */
static void reach(const sim_world *w, int server, int except, int hops, uint32_t *out) {
    *out |= 1u << server;
    for (int i = 0; i < w->specs_len && hops > 0; i++) {
        const sim_spec *spec = &w->specs[i];
        if (!sim_leads(spec, server) || sim_other(spec, server) == except) continue;
        reach(w, sim_other(spec, server), except, hops - 1, out);
    }
}

static int one_of(uint32_t set, sim_random *random) {
    int all[32], count = 0;
    for (int i = 0; i < 32; i++)
        if (set >> i & 1) all[count++] = i;
    return all[sim_draw(random, (uint32_t)count)];
}

static void choose_target(sim_world *w, sim_reader *reader, sim_random *random) {
    uint32_t own = 0, accepted = 0, targets = 0;
    for (int i = 0; i < w->specs_len; i++) {
        if (w->specs[i].from == reader->host && !sim_worker_at(w, w->specs[i].to)) own |= 1u << i;
        if (w->specs[i].to == reader->host) accepted |= 1u << i;
    }
    reader->spec = -1;
    reader->target = reader->host;
    if (sim_own_target(w, reader, random)) return;
    if (sim_draw(random, 10) == 0 || !(own || accepted)) return;
    reader->reverse = !own || (accepted && sim_draw(random, 5) == 0);
    reader->spec = one_of(reader->reverse ? accepted : own, random);
    if (reader->reverse) reader->target = w->specs[reader->spec].from;
    if (reader->reverse) return;
    reach(w, w->specs[reader->spec].to, reader->host, SIM_HOPS - 1, &targets);
    reader->target = one_of(targets, random);
}

static void step_hold(sim_world *w, const sim_step *step) {
    static const uint32_t takes[] = {1, 20, 700, 9000, 0};
    sim_random random = sim_stream(step->x, 3, 0);
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader *reader = &w->readers[i];
        if (reader->used) continue;
        *reader = (sim_reader){.used = true, .host = (int)(step->a % (uint32_t)w->hosts_len)};
        choose_target(w, reader, &random);
        reader->object = sim_object_at(w, reader->target, (int)(step->b % SIM_OBJECTS));
        reader->mode = sim_draw(&random, SIM_MODES);
        reader->take = takes[sim_draw(&random, 5)];
        if (sim_host_runs(w, reader->host))
            sim_reader_open(w, reader);
        else
            sim_later(w, 100, SIM_DO_RETRY, (uint64_t)i, 0);
        return;
    }
}

static void step_release(sim_world *w, const sim_step *step) {
    sim_reader *reader = open_reader(w, step->a);
    if (!reader) return;
    sim_reader_close(w, reader);
    reader->used = false;
}

static void step_reset(sim_world *w, const sim_step *step) {
    sim_reader *reader = open_reader(w, step->a);
    if (!reader || reader->mode == SIM_PLAIN) return;
    (void)chordal_watch_reset(w->hosts[reader->host].host, reader->watch ? reader->watch : reader->reference, NULL);
    sim_host_turn(w, reader->host);
}

static void step_retire(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len);
    chordal_id object = sim_host_life(w, host)->objects[step->b % SIM_OBJECTS].id;
    if (!sim_host_runs(w, host) || !object) return;
    int code = chordal_object_retire(w->hosts[host].host, object, NULL);
    if (code == 0) sim_store_retired(w, host, (int)(step->b % SIM_OBJECTS));
    sim_host_turn(w, host);
}

void sim_step_do(sim_world *w, const sim_step *step) {
    static void (*const work[SIM_STEP_END])(sim_world *, const sim_step *) = {
        [SIM_commit] = step_commit,   [SIM_call] = step_call,   [SIM_cancel] = step_cancel, [SIM_hold] = step_hold,
        [SIM_release] = step_release, [SIM_reset] = step_reset, [SIM_retire] = step_retire};
    sim_note(w, "step", step->kind, step->a, step->b);
    if (work[step->kind])
        work[step->kind](w, step);
    else
        sim_fault_do(w, step);
}
