/* check.c: the oracle: what each provider had at each commit, and what each reader may see. */
#include "host/host.h"
#include "sim/sim.h"

#define MEMORY_BOUND (8 << 20) /* of one host, whatever its readers do */
#define NEWS 70000             /* ms until all know of a loss */

/* ---- digests by hand: FNV-1a over the canonical form of docs/protocol.md ---- */

static uint64_t digest_text(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return hash;
}

uint64_t sim_derived(uint64_t digest, char *text) {
    char canonical[32];
    snprintf(canonical, sizeof canonical, "s16:%016" PRIx64, digest);
    memcpy(text, canonical + 4, 17);
    return digest_text(canonical);
}

/* ---- what providers had ---- */

static void keep(sim_object *object, const sim_entry *entry) {
    if (object->len == object->capacity) {
        object->capacity = object->capacity ? object->capacity * 2 : 8;
        object->entries = realloc(object->entries, object->capacity * sizeof *object->entries);
    }
    object->entries[object->len++] = *entry;
}

void sim_check_began(sim_life *life) {
    char number[24];
    char derived[24];
    sim_entry first = {.number = 0};
    snprintf(number, sizeof number, "i%" PRIu32, life->serial);
    first.digest[SIM_A] = digest_text("{s4:list[i1i2i3]s3:map{s1:ks1:v}s1:ni0s4:texts5:start}");
    first.digest[SIM_B] = digest_text("n");
    first.digest[SIM_LIFE] = digest_text(number);
    first.digest[SIM_C] = sim_derived(first.digest[SIM_A], derived);
    for (int i = 0; i < SIM_OBJECTS; i++) keep(&life->objects[i], &first);
}

void sim_check_commit(sim_life *life, int index, uint64_t number, uint64_t serial, const uint64_t *digests) {
    sim_object *object = &life->objects[index];
    char derived[24];
    sim_entry entry = {.number = number, .serial = serial, .digest = {digests[SIM_A], digests[SIM_B]}};
    entry.digest[SIM_LIFE] = object->entries[0].digest[SIM_LIFE];
    entry.digest[SIM_C] = sim_derived(digests[SIM_A], derived);
    keep(object, &entry);
}

void sim_check_ticket(sim_world *w, int host, const chordal_event_TICKET *event) {
    sim_life *life = sim_host_life(w, host);
    chordal_id ticket = event->ticket;
    uint64_t number = event->commit;
    int code = event->code;
    if (code < 0) sim_fail(w, "ticket: host %d: a prepared commit failed with %s", host, chordal_error_name(code));
    if (number != life->tickets_told + 1 || life->tickets[life->tickets_told++] != ticket)
        sim_fail(w, "ticket: host %d: commit %" PRIu64 " out of line", host, number);
}

/* Whether the object may have been made anew since, with its first values. One that does not start goes with who asked
 * for it. What is in a store is found there again. */
static bool remade(const sim_world *w, int host, const sim_life *life, int object) {
    if (sim_persisted(w, host, object)) return sim_plan_uses(w->plan, SIM_retire);
    return sim_starts(w, host, 0) || object >= SIM_BOARDS || life->starved || sim_plan_uses(w->plan, SIM_retire);
}

const sim_entry *sim_entry_at(const sim_object *object, uint64_t cut) {
    for (size_t i = object->len; i-- > 0;)
        if (object->entries[i].number <= cut) return &object->entries[i];
    return NULL;
}

const sim_entry *sim_entry_like(const sim_object *object, const uint64_t *digests) {
    for (size_t i = object->len; i-- > 0;)
        if (object->entries[i].digest[SIM_A] == digests[SIM_A]) return &object->entries[i];
    return NULL;
}

static uint64_t last_cut_of(const sim_object *object, const sim_entry *entry) {
    return entry == &object->entries[object->len - 1] ? UINT64_MAX : entry[1].number - 1;
}

/* ---- frames: each value is that of its commit, and commits never go back ---- */

static bool had_by(const sim_object *object, uint64_t commit, uint32_t member, uint64_t digest) {
    for (size_t i = 0; i < object->len && object->entries[i].number <= commit; i++)
        if (object->entries[i].digest[member] == digest) return true;
    return false;
}

static bool fits(const sim_world *w, const sim_life *life, const sim_reader *reader, uint32_t member, uint64_t commit,
                 uint64_t digest) {
    const sim_object *object = &life->objects[reader->object];
    if (sim_entry_at(object, commit)->digest[member] == digest) return true;
    if (member == SIM_C && life->starved) return true; /* a derive that found no memory keeps its last value */
    if (member == SIM_C && reader->state == CHORDAL_REFERENCE_RETIRED)
        return had_by(object, commit, member, digest); /* of an object that is retired none is computed any more */
    return remade(w, reader->target, life, reader->object) && object->entries[0].digest[member] == digest;
}

static void not_after_revocation(sim_world *w, const sim_reader *reader, size_t life, uint64_t cut) {
    if (w->hosts[reader->target].lives[life].serial == reader->revoked_life && cut > reader->revoked_cut)
        sim_fail(w, "revoked: reader %d was told of commit %" PRIu64 " after its authority was taken back at %" PRIu64,
                 (int)(reader - w->readers), cut, reader->revoked_cut);
}

void sim_check_frame(sim_world *w, sim_reader *reader, uint32_t member, uint64_t commit) {
    const sim_host *target = &w->hosts[reader->target];
    if (!reader->copy[member]) return; /* an error alone */
    uint64_t digest = chordal__node_digest(reader->copy[member]);
    sim_store_settle(w, reader->target);
    w->checks++;
    for (size_t i = reader->at_life[member]; i < target->lives_len; i++) {
        bool same = reader->told[member] && reader->commit[member] <= sim_shared(target, reader->at_life[member], i);
        if ((same && commit < reader->commit[member]) || !fits(w, &target->lives[i], reader, member, commit, digest))
            continue;
        reader->told[member] = true;
        reader->at_life[member] = i;
        reader->commit[member] = commit;
        not_after_revocation(w, reader, i, commit);
        return;
    }
    sim_fail(w,
             "frame: reader %d has at member %" PRIu32 ", commit %" PRIu64 " (before: %" PRIu64
             "), what the provider never had there",
             (int)(reader - w->readers), member, commit, reader->commit[member]);
}

static void check_copy(sim_world *w, const sim_reader *reader) {
    uint64_t digests[SIM_STATES], life;
    if (!sim_reader_digests(w, reader, digests, &life)) return;
    w->checks++;
    for (uint32_t member = 0; member < sim_states(reader); member++)
        if (reader->told[member] && chordal__node_digest(reader->copy[member]) != digests[member])
            sim_fail(w, "copy: reader %d differs from its core at member %" PRIu32, (int)(reader - w->readers), member);
}

/* A program that keeps the values itself has all members of one commit. */
static void check_kept(sim_world *w, const sim_reader *reader) {
    uint64_t digests[SIM_STATES];
    const sim_life *life = &w->hosts[reader->target].lives[reader->at_life[SIM_A]];
    for (uint32_t member = 0; member < sim_states(reader); member++) {
        if (!reader->told[member]) return;
        digests[member] = chordal__node_digest(reader->copy[member]);
    }
    w->checks++;
    const sim_entry *entry = sim_entry_like(&life->objects[reader->object], digests);
    if (!entry || entry->digest[SIM_B] != digests[SIM_B])
        sim_fail(w, "kept: reader %d was told a part of a commit", (int)(reader - w->readers));
}

/* After all frames were polled the copy is what the core has. */
void sim_check_copies(sim_world *w, int host) {
    if (w->hosts[host].computing || w->hosts[host].memory.fails_one_in) return;
    for (int i = 0; i < SIM_READERS; i++) {
        const sim_reader *reader = &w->readers[i];
        bool live = reader->state == CHORDAL_REFERENCE_LIVE || reader->state == CHORDAL_REFERENCE_DOWN;
        if (!reader->open || reader->host != host || !live) continue;
        if (reader->mode == SIM_WATCH) check_copy(w, reader);
        if (reader->mode == SIM_KEPT) check_kept(w, reader);
    }
}

/* ---- sessions: one cut for all that they hold ---- */

typedef struct span {
    uint64_t low, high; /* cuts */
    size_t life;
    const void *session;
} span;

static bool life_of(const sim_host *host, uint64_t serial, size_t *out) {
    for (size_t i = host->lives_len; i-- > 0;)
        if (host->lives[i].serial == serial) {
            *out = i;
            return true;
        }
    return false;
}

/* The cuts that a reader's values can be of; false: none can be told. */
static bool span_of(sim_world *w, sim_reader *reader, span *out) {
    uint64_t digests[SIM_STATES], serial = 0;
    const sim_host *target = &w->hosts[reader->target];
    if (!sim_reader_digests(w, reader, digests, &serial)) return false;
    sim_store_settle(w, reader->target);
    w->checks++;
    if (!life_of(target, serial, &out->life)) {
        sim_fail(w, "value: reader %d has a value of no life", (int)(reader - w->readers));
        return false;
    }
    const sim_life *life = &target->lives[out->life];
    const sim_object *object = &life->objects[reader->object];
    const sim_entry *entry = sim_entry_like(object, digests);
    bool derive = sim_states(reader) > SIM_C && !life->starved;
    if (!entry || entry->digest[SIM_B] != digests[SIM_B] || (derive && entry->digest[SIM_C] != digests[SIM_C])) {
        sim_fail(w, "value: reader %d has what its provider never had", (int)(reader - w->readers));
        return false;
    }
    if (entry == object->entries && remade(w, reader->target, life, reader->object)) return false;
    out->low = entry->number;
    out->high = last_cut_of(object, entry);
    return true;
}

static void never_back(sim_world *w, sim_reader *reader, const span *now) {
    const sim_host *target = &w->hosts[reader->target];
    bool same = now->life >= reader->life_seen && reader->low <= sim_shared(target, reader->life_seen, now->life);
    if (now->life < reader->life_seen || (same && now->high < reader->low))
        sim_fail(w, "cut: reader %d went back from %" PRIu64 " to %" PRIu64, (int)(reader - w->readers), reader->low,
                 now->high);
    if (now->life > reader->life_seen && reader->low > sim_shared(target, reader->life_seen, now->life))
        reader->low = 0;
    reader->life_seen = now->life;
    if (now->low > reader->low) reader->low = now->low;
}

static bool reads_over(sim_world *w, const sim_reader *reader, int host, chordal_id link) {
    if (!reader->open || reader->host != host || sim_reader_kept(reader)) return false;
    if (reader->placed) return sim_link_to(w, host, sim_worker_at(w, reader->target)) == link;
    return reader->link == link;
}

static void narrow(sim_world *w, int host, int target, span *session, const span *one) {
    if (one->low > session->low) session->low = one->low;
    if (one->high < session->high) session->high = one->high;
    if (session->low > session->high)
        sim_fail(w, "session: host %d sees host %d at cut %" PRIu64 " and before %" PRIu64 " at once", host, target,
                 session->low, session->high);
}

/* What carries a reference. The core tells nobody, and a host may reach another in more sessions than one. */
static const void *session_of(const sim_world *w, const sim_reader *reader) {
    const chordal__ids *ids = &w->hosts[reader->host].host->runtime.ids;
    const chordal__reference *reference = chordal__id_get(ids, reader->reference, CHORDAL__ID_REFERENCE);
    const chordal__remote *remote = reference ? chordal__remote_of(reference) : NULL;
    return remote ? remote->consumer : NULL;
}

/* All that one session holds must be of one cut. */
static void check_target(sim_world *w, int host, chordal_id link, int target) {
    span sessions[SIM_READERS], one;
    size_t len = 0;
    for (int i = 0; i < SIM_READERS; i++) {
        sim_reader *reader = &w->readers[i];
        if (!reads_over(w, reader, host, link) || reader->target != target) continue;
        if (chordal_reference_state(w->hosts[host].host, reader->reference) != CHORDAL_REFERENCE_LIVE) continue;
        if (!span_of(w, reader, &one)) continue;
        never_back(w, reader, &one);
        not_after_revocation(w, reader, one.life, one.low);
        one.session = session_of(w, reader);
        size_t k = 0;
        while (k < len && (sessions[k].life != one.life || sessions[k].session != one.session)) k++;
        if (k == len) sessions[len++] = (span){0, UINT64_MAX, one.life, one.session};
        narrow(w, host, target, &sessions[k], &one);
    }
}

void sim_check_sessions(sim_world *w, int host, chordal_id link) {
    if (!w->hosts[host].host || w->hosts[host].memory.fails_one_in) return;
    for (int target = 0; target < w->hosts_len && !w->failure[0]; target++) check_target(w, host, link, target);
}

/* ---- what is not allowed ---- */

void sim_check_allowed(sim_world *w, const sim_reader *reader) {
    if (!w->guarded) return;
    w->checks++;
    if (sim_forbidden(w, reader, SIM_HOLDS, reader->opened))
        sim_fail(w, "guard: reader %d is told of what it may not hold", (int)(reader - w->readers));
}

static void check_may_run(sim_world *w, uint64_t index) {
    const sim_call *call = &w->calls[index];
    const sim_reader *reader = &w->readers[call->reader];
    if (!w->guarded || reader->serial != call->reference) return;
    w->checks++;
    if (sim_forbidden(w, reader, call->idempotent ? SIM_AGAINS : SIM_RUNS, call->started))
        sim_fail(w, "guard: call %" PRIu64 " runs, which is not allowed", index);
}

void sim_check_caller(sim_world *w, uint64_t index, int host, chordal_id id) {
    const sim_call *call = &w->calls[index];
    const sim_reader *reader = &w->readers[call->reader];
    chordal_value *authority;
    chordal_cursor cursor, first;
    int64_t is = SIM_NOBODY;
    int who = SIM_NOBODY;
    if (reader->serial != call->reference || (reader->spec >= 0 && !sim_reader_who(w, reader, &who))) return;
    if (chordal_call_authority(w->hosts[host].host, id, &authority, NULL) < 0) return; /* no memory, or cancelled */
    chordal_cursor_root(authority, &cursor);
    if (chordal_cursor_at(&cursor, 0, &first) == 0) (void)chordal_cursor_integer(&first, &is);
    chordal_value_unref(authority);
    w->checks++;
    if (is != who) sim_fail(w, "guard: call %" PRIu64 " runs as that of %d and is of %d", index, (int)is, who);
}

/* ---- calls ---- */

/* In this life or one before. */
static bool was_starved(const sim_host *host) {
    for (size_t i = 0; i < host->lives_len; i++)
        if (host->lives[i].starved) return true;
    return false;
}

/* In one session calls run in their order, each once. In a later one those begin again that may run twice; and of one
 * that was given up only that comes late of which its caller expects nothing any more. */
static bool may_come_late(sim_world *w, const sim_call *call, int host, uint64_t session) {
    const sim_reader *reader = &w->readers[call->reader];
    bool again = call->idempotent && (w->guarded || was_starved(&w->hosts[host])); /* refused before, sent again */
    bool same = session == reader->run_session && sim_host_life(w, host)->serial == reader->run_life;
    return !same && (call->settled || call->released || again);
}

void sim_check_run(sim_world *w, uint64_t index, int host, uint64_t session) {
    sim_call *call = &w->calls[index];
    sim_reader *reader = &w->readers[call->reader];
    w->checks++;
    if (call->durable) sim_store_check_run(w, index, host);
    if (call->runs++ && !call->idempotent && !call->durable) sim_fail(w, "call: call %" PRIu64 " ran twice", index);
    check_may_run(w, index);
    if (call->runs <= SIM_TIMES) call->ran[call->runs - 1].life = sim_host_life(w, host)->serial;
    if (reader->serial != call->reference || call->runs > 1) return;
    if (call->number < reader->run_last && may_come_late(w, call, host, session)) return;
    if (call->number < reader->run_last)
        sim_fail(w, "order: call %" PRIu64 " is number %" PRIu32 " of its reference and ran after %" PRIu64, index,
                 call->number, reader->run_last);
    reader->run_last = call->number;
    reader->run_session = session;
    reader->run_life = sim_host_life(w, host)->serial;
}

/* A durable call's outcome outlives its host; the state of an object that is in memory alone does not. */
static bool has_lost_state(sim_world *w, const sim_reader *reader, const sim_ran *ran) {
    return !sim_persisted(w, reader->target, reader->object) && sim_host_life(w, reader->target)->serial != ran->life;
}

/* The state that a run caused is there before its result. */
static void check_state(sim_world *w, const sim_call *call, const sim_ran *ran) {
    sim_reader *reader = &w->readers[call->reader];
    span now;
    if (!reader->open || reader->serial != call->reference || !ran->commit || sim_reads_here(reader)) return;
    if (chordal_reference_state(w->hosts[reader->host].host, reader->reference) != CHORDAL_REFERENCE_LIVE) return;
    if (call->durable && has_lost_state(w, reader, ran)) return;
    if (reader->mode == SIM_WATCH && reader->told[SIM_A]) {
        const sim_life *life = &w->hosts[reader->target].lives[reader->at_life[SIM_A]];
        if (life->serial == ran->life && reader->commit[SIM_A] < ran->commit)
            sim_fail(w, "result: reader %d has it before the frame of its commit %" PRIu64, (int)call->reader,
                     ran->commit);
    }
    if (sim_reader_kept(reader) || w->hosts[reader->host].memory.fails_one_in || !span_of(w, reader, &now)) return;
    if (w->hosts[reader->target].lives[now.life].serial == ran->life && now.high < ran->commit)
        sim_fail(w, "result: reader %d has it before the state of its commit %" PRIu64, (int)call->reader, ran->commit);
}

/* News of a loss far away may come late. A durable one of a reference that is given back is not waited for. */
static bool may_be_unknown(const sim_world *w, const sim_call *call) {
    const sim_reader *reader = &w->readers[call->reader];
    if (call->durable && (!reader->open || reader->serial != call->reference)) return true;
    return w->any_loss && w->last_loss + NEWS >= call->started;
}

/* Where its object is was not told in time. */
static bool may_be_late(sim_world *w, const sim_call *call) {
    const sim_reader *reader = &w->readers[call->reader];
    return call->timed || reader->serial != call->reference || sim_worker_at(w, reader->target);
}

/* Else an object failed in words of its own. */
static bool said_by_method(const chordal_event_RESULT *event) {
    const char *name = chordal_span_text(&event->record, event->name);
    return event->name.length && (*name == 'o' || *name == 'l');
}

void sim_check_result(sim_world *w, sim_call *call, const chordal_event_RESULT *event, uint64_t name, uint64_t run) {
    int index = (int)(call - w->calls);
    w->checks++;
    if (call->settled++) sim_fail(w, "call: call %d was settled twice", index);
    if (event->code == 0 && name != SIM_CALL_NAME + (uint64_t)index + 1)
        sim_fail(w, "result: call %d has the result of another", index);
    bool answered = event->code == 0 || (event->code == CHORDAL_E_METHOD && said_by_method(event));
    if (answered && (!call->runs || run > call->runs)) sim_fail(w, "result: call %d never ran", index);
    if (event->code == CHORDAL_E_DEADLINE && !may_be_late(w, call))
        sim_fail(w, "result: call %d has no deadline", index);
    if (event->code == CHORDAL_E_CANCELLED && !call->cancelled && !w->any_loss && !remade(w, 0, sim_host_life(w, 0), 0))
        sim_fail(w, "result: call %d was not cancelled", index);
    if (event->code == CHORDAL_E_OUTCOME_UNKNOWN && !may_be_unknown(w, call))
        sim_fail(w, "result: the outcome of call %d is unknown, and nothing was lost", index);
    call->answered = answered;
    const sim_ran *ran = run && run <= SIM_TIMES ? &call->ran[run - 1] : NULL;
    if (ran && ran->failed && event->code == 0) sim_fail(w, "result: call %d went well, its commit did not", index);
    if (ran && answered) check_state(w, call, ran);
}

/* ---- memory ---- */

void sim_check_memory(sim_world *w, int host) {
    int64_t bytes = w->hosts[host].memory.live_bytes;
    if ((size_t)bytes > w->most_bytes) w->most_bytes = (size_t)bytes;
    if (bytes > MEMORY_BOUND) sim_fail(w, "memory: host %d holds %" PRId64 " bytes", host, bytes);
}
