/* store.c: hosts with a store: what of their history must be in it when they are opened again.
 *
 * The life of a host goes on in the history of an earlier one: the one before, or that of which a copy was put back. It
 * has that history up to some commit: all of it after a kill, and after a power cut, too, if the store is so durable;
 * else a part from the beginning, never a hole and never half a commit. Readers are held against the history of the
 * life that they are told of, so what was lost must have been told as such. */
#include <unistd.h>

#include "chordal/store.h"
#include "chordal/table.h"
#include "host/host.h"
#include "sim/sim.h"

#define EVERY_HOST 9800
#define EVERY_CUT 9810
#define EVERY_BEGIN 9820

uint32_t sim_rows(int object) {
    return object < SIM_BOARDS ? 7 : 6; /* the last member; there is a derive or none */
}

bool sim_persisted(const sim_world *w, int host, int object) {
    const sim_store *store = &w->hosts[host].store;
    return store->used && !(store->memory && object >= SIM_BOARDS);
}

uint64_t sim_shared(const sim_host *host, size_t earlier, size_t later) {
    uint64_t upto = UINT64_MAX;
    size_t at = later;
    while (at > earlier) {
        if (host->lives[at].inherited < upto) upto = host->lives[at].inherited;
        at = host->lives[at].parent;
    }
    return at == earlier ? upto : 0;
}

/* ---- a world's stores ---- */

static void draw_store(sim_world *w, int index) {
    static const uint32_t deltas[] = {1, 2, 5, 1024}, histories[] = {0, 3, 1000};
    sim_random random = sim_stream(w->plan->seed, EVERY_HOST, (uint64_t)index);
    sim_store *store = &w->hosts[index].store;
    store->used = sim_draw(&random, 4) != 0;
    store->durability = sim_draw(&random, 3) ? CHORDAL_DURABILITY_NORMAL : CHORDAL_DURABILITY_FULL;
    store->outbox = sim_draw(&random, 2) == 0;
    store->rows = sim_draw(&random, 2) == 0;
    store->memory = sim_draw(&random, 3) == 0;
    store->deltas = deltas[sim_draw(&random, 4)];
    store->history = histories[sim_draw(&random, 3)];
    store->expected.nothing = true;
    store->disk.random = sim_stream(w->plan->seed, EVERY_HOST, 100 + (uint64_t)index);
    snprintf(store->disk.path, sizeof store->disk.path, "%s/%ld-%d", w->folder, (long)getpid(), index);
}

void sim_stores_draw(sim_world *w) {
    static const uint32_t kinds[] = {SIM_shut, SIM_power, SIM_copy, SIM_swap, SIM_disk};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) w->stored |= sim_plan_uses(w->plan, kinds[i]);
    for (int i = 0; i < (int)w->plan->hosts && w->stored; i++) draw_store(w, i);
    sim_disks_mount(w->stored ? w : NULL);
}

void sim_stores_close(sim_world *w) {
    for (int i = 0; i < w->hosts_len; i++) {
        sim_disk_empty(&w->hosts[i].store.disk);
        sim_disk_empty(&w->hosts[i].store.copy);
    }
    sim_disks_mount(NULL);
}

/* ---- commits, until they are visible or failed ---- */

#define GROW(list, len, capacity)                                                                                      \
    do {                                                                                                               \
        if ((len) < (capacity)) break;                                                                                 \
        (capacity) = (capacity)*2 + 16;                                                                                \
        (list) = realloc((list), (capacity) * sizeof *(list));                                                         \
    } while (0)

void sim_store_commit(sim_world *w, int host, const sim_pending *pending) {
    sim_life *life = sim_host_life(w, host);
    GROW(life->pending, life->pending_len, life->pending_capacity);
    sim_pending *one = &life->pending[life->pending_len++];
    *one = *pending;
    for (int i = 0; i < SIM_OBJECTS; i++) one->writes |= one->objects >> i & 1 && sim_persisted(w, host, i);
}

static void note_effect(sim_life *life, sim_effect effect) {
    GROW(life->effects, life->effects_len, life->effects_capacity);
    life->effects[life->effects_len++] = effect;
}

static sim_ran *ran_of(sim_world *w, const sim_pending *one) {
    return one->call && one->run && one->run <= SIM_TIMES ? &w->calls[one->call - 1].ran[one->run - 1] : NULL;
}

/* Its entries; those of commits that are not visible are there as well when a life ends. */
static void enter(sim_life *life, const sim_pending *one, uint64_t number) {
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (one->objects >> i & 1) sim_check_commit(life, i, number, one->serial, one->digests[i]);
    if (one->call && one->writes) note_effect(life, (sim_effect){one->call, number, one->run});
}

static void become_visible(sim_world *w, int host, sim_pending *one, uint64_t number) {
    sim_life *life = sim_host_life(w, host);
    sim_ran *ran = ran_of(w, one);
    if (number != ++life->commits) sim_fail(w, "ticket: host %d: commit %" PRIu64 " out of line", host, number);
    one->number = number;
    if (ran) ran->commit = number;
    enter(life, one, number);
}

static const chordal__commit *commit_of(const sim_world *w, int host, const sim_pending *one) {
    return chordal__id_get(&w->hosts[host].host->runtime.ids, one->ticket, CHORDAL__ID_TICKET);
}

/* The core tells of a commit behind the frames that show it, and some are visible before the host's next turn. */
void sim_store_settle(sim_world *w, int host) {
    if (!w->hosts[host].store.used || !w->hosts[host].host) return;
    sim_life *life = sim_host_life(w, host);
    for (size_t i = 0; i < life->pending_len; i++) {
        sim_pending *one = &life->pending[i];
        const chordal__commit *commit = one->number ? NULL : commit_of(w, host, one);
        if (!commit) continue;
        bool visible = commit == commit->runtime->settling || (!commit->changes_len && commit->number);
        if (visible) become_visible(w, host, one, commit->number);
    }
}

static bool may_fail_with(const sim_world *w, int host, int code) {
    const sim_life *life = sim_host_life((sim_world *)w, host);
    if (code == CHORDAL_E_NOMEM) return life->starved;
    if (code == CHORDAL_E_CONFLICT) return life->starved || life->troubled;
    return life->troubled && (code == CHORDAL_E_DISK_FULL || code == CHORDAL_E_DISK_IO || code == CHORDAL_E_CORRUPT);
}

static void has_failed(sim_world *w, int host, const sim_pending *one, int code) {
    sim_ran *ran = ran_of(w, one);
    if (ran && ran->answered) ran->failed = true;
    if (one->number || !may_fail_with(w, host, code))
        sim_fail(w, "ticket: host %d: a commit failed with %s", host, chordal_error_name(code));
}

void sim_store_ticket(sim_world *w, int host, const chordal_event_TICKET *event) {
    sim_life *life = sim_host_life(w, host);
    size_t i = 0;
    while (i < life->pending_len && life->pending[i].ticket != event->ticket) i++;
    if (i == life->pending_len) {
        sim_fail(w, "ticket: host %d: it is told of no commit", host);
        return;
    }
    sim_pending *one = &life->pending[i];
    sim_note(w, "ticket", (uint64_t)host, event->commit, (uint64_t)-event->code);
    if (event->code)
        has_failed(w, host, one, event->code);
    else if (!one->number)
        become_visible(w, host, one, event->commit);
    else if (one->number != event->commit)
        sim_fail(w, "ticket: host %d: commit %" PRIu64 " was %" PRIu64, host, event->commit, one->number);
    memmove(one, one + 1, (--life->pending_len - i) * sizeof *one);
}

/* ---- documents that end ---- */

void sim_store_retired(sim_world *w, int host, int object) {
    sim_life *life = sim_host_life(w, host);
    const chordal__runtime *runtime = &w->hosts[host].host->runtime;
    if (!sim_persisted(w, host, object)) return;
    uint64_t last = runtime->store->last > runtime->commit_number ? runtime->store->last : runtime->commit_number;
    GROW(life->ended, life->ended_len, life->ended_capacity);
    life->ended[life->ended_len++] = (sim_ended){object, last};
}

/* ---- a life ends ---- */

/* What waits has the numbers that follow. */
static uint64_t enter_waiting(sim_world *w, int host, uint64_t *out_stored) {
    sim_life *life = sim_host_life(w, host);
    uint64_t number = *out_stored = life->commits;
    for (size_t i = 0; i < life->pending_len; i++) {
        const sim_pending *one = &life->pending[i];
        const chordal__commit *commit = one->number ? NULL : commit_of(w, host, one);
        if (!commit || !commit->changes_len) continue; /* visible, or failed */
        enter(life, one, ++number);
        if (!commit->stored) continue;
        *out_stored = number;
        if (commit->number != number) sim_fail(w, "store: host %d: commit %" PRIu64 " is none", host, number);
    }
    return number;
}

void sim_store_leave(sim_world *w, int host) {
    uint64_t stored;
    sim_store *store = &w->hosts[host].store;
    sim_store_settle(w, host);
    uint64_t last = enter_waiting(w, host, &stored);
    bool shuts = store->ending == SIM_SHUT, cut = store->ending == SIM_POWERLESS;
    bool well = !store->disk.faults && !w->hosts[host].memory.fails_one_in;
    store->expected = (sim_expected){.life = w->hosts[host].lives_len - 1, .least = stored, .most = stored};
    if (shuts) store->expected.most = last;
    if (shuts && well) store->expected.least = last;
    store->expected.some = shuts && !well;
    if (cut && store->durability == CHORDAL_DURABILITY_NORMAL) store->expected.least = 0;
    sim_note(w, "leave", (uint64_t)host, store->expected.least, store->expected.most);
    if (!shuts) sim_disk_leave(&store->disk);
    sim_random random = sim_stream(w->plan->seed, EVERY_CUT, w->now);
    if (cut) sim_disk_cut(&store->disk, &random);
    store->ending = SIM_KILLED;
}

/* ---- a life begins ---- */

typedef struct found {
    bool there;
    uint64_t digest[2], number;
} found;

static bool read_one(sim_world *w, int host, int object, uint32_t member, found *out) {
    static const char *const names[] = {"a", "b"};
    char type[8], params[64];
    uint64_t number = 0;
    chordal_value *value;
    chordal_error error = {0};
    sim_address(w, host, object, type, params);
    int code = chordal_store_read(w->hosts[host].host, type, strlen(type), CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                  strlen(params), names[member], 1, UINT64_MAX, &value, &number, &error);
    if (code < 0 && code != CHORDAL_E_NOT_FOUND)
        sim_fail(w, "store: host %d cannot read it: %s: %s", host, chordal_error_name(code), error.detail);
    if (code < 0) return false;
    out->digest[member] = chordal_value_digest(value);
    chordal_value_unref(value);
    if (number > out->number) out->number = number;
    return true;
}

static found read_found(sim_world *w, int host, int object) {
    found out = {.there = false};
    const sim_entry *first = &sim_host_life(w, host)->objects[object].entries[0];
    memcpy(out.digest, first->digest, sizeof out.digest);
    out.there = read_one(w, host, object, SIM_A, &out);
    bool other = read_one(w, host, object, SIM_B, &out);
    if (other && !out.there) sim_fail(w, "store: host %d has half of object %d", host, object);
    return out;
}

static bool is_entry(const found *f, const sim_entry *entry) {
    return f->there && f->number == entry->number && f->digest[SIM_A] == entry->digest[SIM_A] &&
           f->digest[SIM_B] == entry->digest[SIM_B];
}

/* Whether that is what the object was at this commit. Where its documents end behind the very commit it is either. */
static bool was_so(const sim_life *life, int object, uint64_t number, const found *f) {
    const sim_entry *entry = sim_entry_at(&life->objects[object], number);
    bool ends = entry == life->objects[object].entries, may_end = ends;
    for (size_t i = 0; i < life->ended_len; i++) {
        const sim_ended *ended = &life->ended[i];
        if (ended->object != object || ended->number < entry->number || ended->number > number) continue;
        may_end = true;
        ends |= ended->number < number;
    }
    return f->there ? !ends && is_entry(f, entry) : may_end;
}

static bool all_so(const sim_world *w, int host, const sim_life *life, uint64_t number, const found *all) {
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (sim_persisted(w, host, i) && !was_so(life, i, number, &all[i])) return false;
    return true;
}

/* ---- those of the last commits that are there, when the disk failed while they were written ---- */

static const sim_entry *found_entry(const sim_life *life, int object, const found *f) {
    const sim_entry *entry = f->there ? sim_entry_like(&life->objects[object], f->digest) : NULL;
    return entry && f->digest[SIM_B] == entry->digest[SIM_B] ? entry : NULL;
}

static bool is_later(const sim_world *w, int host, const sim_life *life, const found *all, uint64_t serial, bool *out) {
    int there = 0, missing = 0;
    for (int i = 0; i < SIM_OBJECTS; i++) {
        const sim_object *object = &life->objects[i];
        const sim_entry *newest = found_entry(life, i, &all[i]);
        if (!sim_persisted(w, host, i)) continue;
        for (size_t k = 0; k < object->len; k++)
            if (object->entries[k].serial == serial) newest &&newest >= &object->entries[k] ? there++ : missing++;
    }
    *out = there != 0;
    return !there || !missing;
}

static bool some_so(const sim_world *w, int host, const sim_life *life, const sim_expected *expected, found *all) {
    found before[SIM_OBJECTS];
    bool there;
    memcpy(before, all, sizeof before);
    for (int i = 0; i < SIM_OBJECTS; i++) {
        const sim_entry *entry = sim_persisted(w, host, i) ? found_entry(life, i, &all[i]) : NULL;
        for (size_t k = 0; k < life->objects[i].len; k++) {
            uint64_t serial = life->objects[i].entries[k].serial;
            if (life->objects[i].entries[k].number > expected->least && !is_later(w, host, life, all, serial, &there))
                return false; /* a part of a commit */
        }
        if (!entry || entry->number <= expected->least) continue;
        const sim_entry *last = sim_entry_at(&life->objects[i], expected->least);
        before[i] = (found){last != life->objects[i].entries, {last->digest[SIM_A], last->digest[SIM_B]}, last->number};
    }
    return all_so(w, host, life, expected->least, before);
}

/* ---- what is gone on from ---- */

static void inherit_object(sim_life *life, const sim_life *from, int object, uint64_t upto) {
    const sim_object *old = &from->objects[object];
    for (size_t k = 1; k < old->len && old->entries[k].number <= upto; k++)
        sim_check_commit(life, object, old->entries[k].number, old->entries[k].serial, old->entries[k].digest);
}

/* What was never seen of the life before is of no use any more. */
static void forget_unseen(sim_life *life) {
    for (int i = 0; i < SIM_OBJECTS; i++) {
        sim_object *object = &life->objects[i];
        while (object->len > 1 && object->entries[object->len - 1].number > life->commits) object->len--;
    }
    while (life->effects_len && life->effects[life->effects_len - 1].number > life->commits) life->effects_len--;
    life->pending_len = 0;
}

static void inherit(sim_world *w, int host, size_t parent, uint64_t upto, const found *all) {
    sim_life *life = sim_host_life(w, host), *from = &w->hosts[host].lives[parent];
    life->parent = parent;
    life->inherited = upto < from->commits ? upto : from->commits;
    life->partial = from->partial || w->hosts[host].store.expected.some;
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (sim_persisted(w, host, i)) inherit_object(life, from, i, upto);
    for (size_t i = 0; i < from->effects_len; i++)
        if (from->effects[i].number <= upto) note_effect(life, from->effects[i]);
    for (size_t i = 0; i < from->ended_len; i++) {
        const sim_ended *ended = &from->ended[i];
        if (ended->number > upto || (ended->number == upto && all[ended->object].there)) continue;
        GROW(life->ended, life->ended_len, life->ended_capacity);
        life->ended[life->ended_len++] = *ended;
    }
}

/* The last one of those that are there beyond what is sure. */
static void inherit_some(sim_world *w, int host, size_t parent, uint64_t least, const found *all) {
    sim_life *life = sim_host_life(w, host);
    const sim_life *from = &w->hosts[host].lives[parent];
    bool there;
    for (int i = 0; i < SIM_OBJECTS; i++) {
        const sim_entry *entry = sim_persisted(w, host, i) ? found_entry(from, i, &all[i]) : NULL;
        if (entry && entry->number > least) sim_check_commit(life, i, all[i].number, entry->serial, entry->digest);
    }
    for (size_t i = 0; i < from->pending_len; i++) {
        const sim_pending *one = &from->pending[i];
        if (one->call && one->writes && !one->number && is_later(w, host, from, all, one->serial, &there) && there)
            note_effect(life, (sim_effect){one->call, least + 1, one->run});
    }
}

static void go_on(sim_world *w, int host, const found *all) {
    const sim_expected *expected = &w->hosts[host].store.expected;
    const sim_life *parent = &w->hosts[host].lives[expected->life];
    uint64_t upto = expected->most;
    if (expected->some) upto = expected->least;
    while (upto > expected->least && !all_so(w, host, parent, upto, all)) upto--;
    bool good = expected->some ? some_so(w, host, parent, expected, (found *)all) : all_so(w, host, parent, upto, all);
    sim_note(w, "found", (uint64_t)host, expected->life, upto);
    if (!good)
        sim_fail(w, "store: host %d has not got what it had at commit %" PRIu64 " to %" PRIu64, host, expected->least,
                 expected->most);
    inherit(w, host, expected->life, upto, all);
    if (expected->some) inherit_some(w, host, expected->life, expected->least, all);
}

static void find_nothing(sim_world *w, int host, const found *all) {
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (all[i].there) sim_fail(w, "store: host %d has object %d, which nobody wrote", host, i);
}

/* The file is sound. */
static void check_file(sim_world *w, int host) {
    uint64_t next = 0;
    do {
        chordal_value *faults;
        chordal_cursor cursor;
        chordal_error error = {0};
        int code = chordal_store_check(w->hosts[host].host, next, 0, &faults, &next, &error);
        if (code < 0) sim_fail(w, "store: host %d cannot be checked: %s", host, error.detail);
        if (code < 0) return;
        chordal_cursor_root(faults, &cursor);
        size_t len;
        char text[300] = "";
        (void)chordal_value_encode(faults, CHORDAL_FORMAT_JSON, (uint8_t *)text, sizeof text - 1, &len, NULL);
        if (chordal_cursor_length(&cursor)) sim_fail(w, "store: host %d is damaged: %s", host, text);
        chordal_value_unref(faults);
    } while (next);
}

void sim_store_found(sim_world *w, int host) {
    found all[SIM_OBJECTS] = {{.there = false}};
    sim_store *store = &w->hosts[host].store;
    uint32_t faults = store->disk.faults;
    store->disk.faults = 0;
    sim_life *life = sim_life_new(w, host);
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (sim_persisted(w, host, i)) all[i] = read_found(w, host, i);
    if (store->expected.nothing)
        find_nothing(w, host, all);
    else
        go_on(w, host, all);
    check_file(w, host);
    life->troubled = faults != 0;
    life->commits = w->hosts[host].host->runtime.commit_number;
    if (life->inherited > life->commits) life->inherited = life->commits; /* the others were in memory alone */
    for (int i = 0; i < SIM_OBJECTS; i++)
        if (all[i].number > life->commits) sim_fail(w, "store: host %d begins before its newest commit", host);
    if (w->hosts[host].lives_len > 1) forget_unseen(life - 1);
    if (!w->failure[0]) sim_outbox_check(w, host);
    store->disk.faults = faults;
}

static chordal_id get_object(sim_world *w, int host, int object) {
    char type[8], params[64];
    chordal_id id = 0;
    sim_host_life(w, host)->allowed |= 1u << object;
    sim_address(w, host, object, type, params);
    (void)chordal_object_get(w->hosts[host].host, type, strlen(type), CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                             strlen(params), &id, NULL);
    return id;
}

/* Before any reader is back there are as many commits again as were lost, or more. */
void sim_store_begun(sim_world *w, int host) {
    sim_random random = sim_stream(w->plan->seed, EVERY_BEGIN + (uint64_t)host, w->now);
    const sim_life *life = sim_host_life(w, host);
    chordal_id got[SIM_BOARDS] = {0};
    w->hosts[host].store.hurries = false;
    for (int i = 0; i < SIM_BOARDS; i++)
        if (sim_draw(&random, 2)) got[i] = get_object(w, host, i);
    sim_host_turn(w, host);
    for (uint32_t left = 1 + sim_draw(&random, 30); left > 0; left--) {
        uint32_t there = 0;
        for (int i = 0; i < SIM_BOARDS; i++)
            if (life->objects[i].id && sim_draw(&random, 2)) there |= 1u << i;
        if (there) (void)sim_commit(w, host, 0, there, NULL, &random);
    }
    for (int i = 0; i < SIM_BOARDS; i++)
        if (got[i]) (void)chordal_object_drop(w->hosts[host].host, got[i], NULL);
    sim_host_turn(w, host);
}

/* ---- rows ---- */

/* Commits since the object's documents began, those that wait among them. */
static uint64_t count_commits(sim_world *w, int host, int object) {
    const sim_life *life = sim_host_life(w, host);
    const sim_object *model = &life->objects[object];
    uint64_t count = 0, begin = 0;
    bool ended = false;
    for (size_t i = 0; i < life->ended_len; i++)
        if (life->ended[i].object == object) begin = life->ended[i].number, ended = true;
    for (size_t i = 1; i < model->len; i++) count += !ended || model->entries[i].number > begin;
    for (size_t i = 0; i < life->pending_len; i++) {
        const sim_pending *one = &life->pending[i];
        const chordal__commit *commit = one->number ? NULL : commit_of(w, host, one);
        count += commit && commit->changes_len && one->objects >> object & 1;
    }
    return count;
}

/* An object that is made has a row for each of its commits. */
void sim_store_made(sim_world *w, int host, int object) {
    static const char query[] = "{\"count\":true}";
    char expected[80], text[80];
    size_t len;
    if (!w->hosts[host].store.rows || !sim_persisted(w, host, object) || w->hosts[host].store.disk.faults) return;
    if (sim_host_life(w, host)->partial) return;
    int code = chordal_object_query(w->hosts[host].host, sim_host_life(w, host)->objects[object].id, sim_rows(object),
                                    CHORDAL_FORMAT_JSON, (const uint8_t *)query, sizeof query - 1, (uint8_t *)text,
                                    sizeof text, &len, NULL);
    if (code == CHORDAL_E_NOMEM || code == CHORDAL_E_RETIRED) return;
    uint64_t count = count_commits(w, host, object);
    int size = snprintf(expected, sizeof expected, "{\"rows\":[{\"count\":%" PRIu64 "}],\"after\":null}", count);
    if (code < 0 || len != (size_t)size || memcmp(text, expected, len) != 0)
        sim_fail(w, "rows: host %d, object %d: %.*s, not %" PRIu64, host, object, code < 0 ? 0 : (int)len, text, count);
}

/* ---- durable calls ---- */

/* One that runs again has done nothing of which this host knows, and is not running. */
void sim_store_check_run(sim_world *w, uint64_t index, int host) {
    const sim_call *call = &w->calls[index];
    const sim_life *life = sim_host_life(w, host);
    if (!call->runs) return;
    for (size_t i = 0; i < life->effects_len; i++)
        if (life->effects[i].call == index + 1)
            sim_fail(w, "durable: call %" PRIu64 " runs again and has done its work at commit %" PRIu64, index,
                     life->effects[i].number);
    if (call->runs <= SIM_TIMES && call->ran[call->runs - 1].life == life->serial)
        sim_fail(w, "durable: call %" PRIu64 " runs twice in one life", index);
    if (call->answered) sim_fail(w, "durable: call %" PRIu64 " runs again and was answered", index);
}

static void each_once(sim_world *w, int host) {
    const sim_life *life = sim_host_life(w, host);
    for (size_t i = 0; i < life->effects_len; i++)
        for (size_t k = 0; k < i; k++) {
            const sim_effect *one = &life->effects[i], *other = &life->effects[k];
            if (one->call == other->call && one->run != other->run && w->calls[one->call - 1].durable)
                sim_fail(w, "durable: call %" PRIu64 " has done its work twice", one->call - 1);
        }
}

/* ---- steps ---- */

static void end_life(sim_world *w, int host, uint32_t how) {
    w->hosts[host].store.ending = how;
    sim_lost(w);
    if (w->hosts[host].host) sim_host_close(w, host);
}

static bool any_unseen(sim_world *w, int host) {
    const sim_life *life = sim_host_life(w, host);
    for (size_t i = 0; i < life->pending_len; i++)
        if (!life->pending[i].number) return true;
    return false;
}

/* Of the whole disk at one moment, as some file systems can. */
static void take_copy(sim_world *w, int host) {
    sim_store *store = &w->hosts[host].store;
    if (!w->hosts[host].host) return;
    sim_store_settle(w, host);
    if (any_unseen(w, host)) return;
    uint64_t number = sim_host_life(w, host)->commits;
    sim_disk_copy(&store->copy, &store->disk);
    store->copied = (sim_expected){.life = w->hosts[host].lives_len - 1, .least = number, .most = number};
    store->has_copy = true;
}

/* A copy is put in its place, or nothing at all. */
static void put_copy(sim_world *w, int host, bool nothing) {
    sim_store *store = &w->hosts[host].store;
    end_life(w, host, SIM_KILLED);
    if (nothing || !store->has_copy) {
        sim_disk_empty(&store->disk);
        store->expected = (sim_expected){.nothing = true};
        return;
    }
    sim_disk_copy(&store->disk, &store->copy);
    store->expected = store->copied;
}

static void trouble(sim_world *w, int host, const sim_step *step) {
    static const uint32_t kinds[] = {SIM_DISK_FULL,  SIM_DISK_WRITES, SIM_DISK_READS,
                                     SIM_DISK_LOCKS, SIM_DISK_OPENS,  SIM_DISK_FULL | SIM_DISK_READS | SIM_DISK_WRITES};
    static const uint32_t parts[] = {1, 2, 10, 100};
    sim_store *store = &w->hosts[host].store;
    uint64_t span = step->x % 8000;
    store->disk.faults = kinds[step->b % 6];
    store->disk.fails_one_in = parts[step->b / 6 % 4];
    store->troubled_until = w->now + span;
    if (w->hosts[host].host) sim_host_life(w, host)->troubled = true;
    sim_lost(w);
    sim_later(w, span, SIM_DO_RESUME, (uint64_t)host, 0);
}

void sim_store_step(sim_world *w, const sim_step *step) {
    int host = (int)(step->a % (uint32_t)w->hosts_len);
    if (!w->hosts[host].store.used) return;
    if (step->kind == SIM_copy) take_copy(w, host);
    if (step->kind == SIM_disk) trouble(w, host, step);
    if (step->kind == SIM_copy || step->kind == SIM_disk) return;
    if (step->kind == SIM_swap)
        put_copy(w, host, step->b % 5 == 0);
    else
        end_life(w, host, step->kind == SIM_shut ? SIM_SHUT : SIM_POWERLESS);
    w->hosts[host].store.hurries = (step->b & 2) != 0;
    sim_later(w, step->b & 1 ? 0 : step->x % 20000, SIM_DO_RESUME, (uint64_t)host, 1);
}

/* ---- at the end ---- */

/* Closed in good order, and opened once more: all of it is there. */
void sim_store_check_end(sim_world *w) {
    for (int host = 0; host < w->hosts_len && !w->failure[0]; host++) {
        if (!w->hosts[host].store.used || !w->hosts[host].host) continue;
        each_once(w, host);
        end_life(w, host, SIM_SHUT);
        sim_host_open(w, host);
    }
}
