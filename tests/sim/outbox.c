/* outbox.c: the outbox of a store, followed from its beginning: it has each commit of the history, and what it says of
 * them comes to the values that they left. */
#include "chordal/store.h"
#include "host/host.h"
#include "sim/sim.h"

typedef struct follower {
    sim_world *w;
    chordal__memory *memory; /* of the host */
    int host;
    uint64_t last; /* commit */
    chordal__node *values[SIM_OBJECTS][2];
    uint32_t touched; /* by the commit that is read */
} follower;

static bool node_is(follower *f, const chordal__node *node, const char *text, bool quoted) {
    chordal__buffer json;
    chordal__buffer_init(&json, f->memory, 1 << 20);
    if (node) chordal__json_write(&json, node);
    size_t len = strlen(text), around = quoted;
    bool same = json.len == len + 2 * around && memcmp(json.data + around, text, len) == 0;
    chordal__buffer_dispose(&json);
    return same;
}

static chordal__node *field(const chordal__node *object, const char *name) {
    return chordal__node_get(object, name, strlen(name));
}

/* The object that a write is of; -1: none. */
static int object_of(follower *f, const chordal__node *write) {
    char type[8], params[64];
    for (int i = 0; i < SIM_OBJECTS; i++) {
        sim_address(f->w, f->host, i, type, params);
        if (node_is(f, field(write, "type"), type, true) && node_is(f, field(write, "params"), params, false)) return i;
    }
    return -1;
}

static int take_ops(follower *f, chordal__node **value, uint32_t member, const chordal__node *ops) {
    chordal__buffer json;
    chordal__buffer_init(&json, f->memory, 1 << 26);
    chordal__json_write(&json, ops);
    int code = json.failed;
    if (code == 0) code = sim_patch(f->memory, value, member, CHORDAL__ENCODING_JSON, json.data, json.len);
    chordal__buffer_dispose(&json);
    return code;
}

static int take_write(follower *f, const chordal__node *write) {
    int object = object_of(f, write);
    chordal__node *value = field(write, "value"), *ops = field(write, "ops");
    if (object < 0) return CHORDAL_E_NOT_FOUND;
    f->touched |= 1u << object;
    if (!value && !ops) return 0; /* of a row */
    uint32_t member = node_is(f, field(write, "member"), "a", true) ? SIM_A : SIM_B;
    chordal__node **place = &f->values[object][member];
    if (ops) return take_ops(f, place, member, ops);
    chordal__node_unref(f->memory, *place);
    *place = chordal__node_ref(value);
    return 0;
}

/* Documents that ended since begin anew. */
static void end_some(follower *f, uint64_t number) {
    const sim_life *life = sim_host_life(f->w, f->host);
    for (size_t i = 0; i < life->ended_len; i++) {
        const sim_ended *ended = &life->ended[i];
        for (int k = 0; k < 2 && ended->number >= f->last && ended->number < number; k++) {
            chordal__node_unref(f->memory, f->values[ended->object][k]);
            f->values[ended->object][k] = NULL;
        }
    }
}

static bool agrees(const follower *f, int object, const sim_entry *entry) {
    const sim_entry *first = &sim_host_life(f->w, f->host)->objects[object].entries[0];
    for (uint32_t member = SIM_A; member <= SIM_B; member++) {
        const chordal__node *value = f->values[object][member];
        if (entry->digest[member] != (value ? chordal__node_digest(value) : first->digest[member])) return false;
    }
    return true;
}

static void compare(follower *f, uint64_t number) {
    const sim_life *life = sim_host_life(f->w, f->host);
    for (int i = 0; i < SIM_OBJECTS; i++) {
        const sim_entry *entry = sim_entry_at(&life->objects[i], number);
        bool touched = f->touched >> i & 1, should = sim_persisted(f->w, f->host, i) && entry->number == number;
        if (touched != should || (touched && !agrees(f, i, entry)))
            sim_fail(f->w, "outbox: host %d, commit %" PRIu64 ": not what it did to object %d", f->host, number, i);
    }
}

static void nothing_between(const follower *f, uint64_t low, uint64_t high) {
    for (int i = 0; i < SIM_OBJECTS; i++) {
        const sim_object *object = &sim_host_life(f->w, f->host)->objects[i];
        for (size_t k = 1; k < object->len && sim_persisted(f->w, f->host, i); k++) {
            uint64_t number = object->entries[k].number;
            if (number > low && number < high) sim_fail(f->w, "outbox: host %d lacks commit %" PRIu64, f->host, number);
        }
    }
}

static void take_commit(follower *f, const chordal__node *commit) {
    chordal__number parsed;
    const chordal__node *writes = field(commit, "writes");
    chordal__node_get_number(field(commit, "commit"), &parsed);
    uint64_t number = (uint64_t)parsed.as.integer;
    f->touched = 0;
    end_some(f, number);
    for (uint64_t i = 0; i < chordal__node_length(writes); i++) {
        int code = take_write(f, chordal__node_at(writes, i));
        if (code < 0)
            sim_fail(f->w, "outbox: host %d, commit %" PRIu64 ": %s", f->host, number, chordal_error_name(code));
    }
    if (number <= f->last) sim_fail(f->w, "outbox: host %d goes back", f->host);
    nothing_between(f, f->last, number);
    f->last = number;
    compare(f, number);
    f->w->checks++;
}

static int take_page(follower *f, uint64_t *next) {
    chordal_value *page;
    chordal_error error = {0};
    int code = chordal_store_outbox(f->w->hosts[f->host].host, *next, 0, &page, next, &error);
    if (code < 0) {
        sim_fail(f->w, "outbox: host %d: %s: %s", f->host, chordal_error_name(code), error.detail);
        return code;
    }
    const chordal__node *list = chordal__box_node(page);
    for (uint64_t i = 0; i < chordal__node_length(list); i++) take_commit(f, chordal__node_at(list, i));
    chordal_value_unref(page);
    return 0;
}

void sim_outbox_check(sim_world *w, int host) {
    follower f = {.w = w, .memory = w->hosts[host].host->memory, .host = host};
    uint64_t next = 0;
    const sim_life *life = sim_host_life(w, host);
    if (!w->hosts[host].store.outbox || life->partial) return;
    while (take_page(&f, &next) == 0 && next && !w->failure[0]) {
    }
    nothing_between(&f, f.last, UINT64_MAX);
    for (int i = 0; i < SIM_OBJECTS; i++)
        for (int k = 0; k < 2; k++) chordal__node_unref(f.memory, f.values[i][k]);
}
