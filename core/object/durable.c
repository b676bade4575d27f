/* durable.c: calls of durable methods that came with a key: the store knows of each before it starts, and of its
 * outcome in the step of its commit, so that a caller who asks again after a restart gets the same outcome, or starts
 * it when nothing came of it.
 *
 * A call that wrote and was not answered in the same step cannot be told from one that wrote in part: who asks again
 * then is told that its outcome is unknown. It never runs twice. */
#include "object/object.h"

/* ---- what the store has ---- */

static int count_again(chordal__durables *all, chordal__store *store, chordal_error *error) {
    int64_t last = 0;
    int code = chordal__calls_count(store, &all->count, &all->bytes, &last, error);
    if (last > all->last) all->last = last;
    return code;
}

static int make(chordal__runtime *runtime, chordal_error *error) {
    if (runtime->durables) return 0;
    chordal__durables *all = chordal__allocate_zero(runtime->memory, sizeof *all);
    if (!all) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for durable calls");
    int code = count_again(all, runtime->store, error);
    if (code < 0) {
        chordal__release(runtime->memory, all, sizeof *all);
        return code;
    }
    chordal__map_init(&all->running, runtime->memory, runtime->seed);
    chordal__list_init(&all->waiting);
    all->old = all->last;
    all->old_at = runtime->now;
    runtime->durables = all;
    return 0;
}

void chordal__durables_dispose(chordal__runtime *runtime) {
    chordal__durables *all = runtime->durables;
    if (!all) return;
    while (!chordal__list_empty(&all->waiting)) {
        chordal__durable *durable = CHORDAL__ENTRY(all->waiting.next, chordal__durable, node);
        chordal__list_remove(&durable->node);
        chordal__release(runtime->memory, durable, sizeof *durable);
    }
    chordal__map_dispose(&all->running);
    chordal__release(runtime->memory, all, sizeof *all);
    runtime->durables = NULL;
}

/* ---- a call comes ---- */

chordal__invocation *chordal__durable_running(const chordal__runtime *runtime, const uint8_t key[CHORDAL__CALL_KEY]) {
    return runtime->durables ? chordal__map_get(&runtime->durables->running, key, CHORDAL__CALL_KEY) : NULL;
}

uint64_t chordal__durable_authority(const chordal__caller *caller) {
    const chordal__authority *authority = CHORDAL__AUTHORITY ? caller->authority : NULL;
    return authority ? authority->digest : 0;
}

static int attach(chordal__invocation *invocation, const uint8_t key[CHORDAL__CALL_KEY], const chordal__call_row *row) {
    chordal__runtime *runtime = invocation->runtime;
    bool answered = row->id && row->state == CHORDAL__CALL_ANSWERED;
    chordal__durable *durable = chordal__allocate_zero(runtime->memory, sizeof *durable);
    if (!durable) return CHORDAL_E_NOMEM;
    memcpy(durable->key, key, sizeof durable->key);
    durable->invocation = invocation;
    durable->authority = chordal__durable_authority(invocation->caller);
    durable->id = row->id;
    durable->outcome = answered;
    durable->bytes = row->value_len;
    chordal__list_init(&durable->node);
    int code = answered ? 0 : chordal__map_put(&runtime->durables->running, key, CHORDAL__CALL_KEY, invocation);
    if (code == 0) invocation->durable = durable;
    if (code < 0) chordal__release(runtime->memory, durable, sizeof *durable);
    return code;
}

/* The outcome of before. */
static int answer_again(chordal__invocation *invocation, const chordal__call_row *row) {
    if (row->code) {
        chordal__invocation_fail(invocation, row->code, row->name, row->name_len, row->detail, row->detail_len);
        return 0;
    }
    chordal__body *value = chordal__body_new(invocation->runtime->memory, row->value_len);
    if (!value) return CHORDAL_E_NOMEM;
    if (row->value_len) memcpy(value->data, row->value, row->value_len);
    chordal__invocation_answer(invocation, value, row->raw);
    return 0;
}

static int take_row(chordal__invocation *invocation, const uint8_t key[CHORDAL__CALL_KEY],
                    const chordal__call_row *row) {
    bool other = row->id && row->authority != chordal__durable_authority(invocation->caller);
    if (other || row->state == CHORDAL__CALL_WROTE || chordal__durable_running(invocation->runtime, key))
        return CHORDAL_E_OUTCOME_UNKNOWN;
    int code = attach(invocation, key, row);
    return code == 0 && invocation->durable->outcome ? answer_again(invocation, row) : code;
}

static int look_up(chordal__invocation *invocation, const uint8_t key[CHORDAL__CALL_KEY], chordal_error *error) {
    chordal__runtime *runtime = invocation->runtime;
    const chordal__durables *all = runtime->durables;
    chordal__call_row row;
    int code;
    sqlite3_stmt *found = chordal__call_find(runtime->store, key, &row, &code, error);
    if (code < 0) return code;
    if (!found && (all->count >= CHORDAL__DURABLE_CALLS || all->bytes >= CHORDAL__DURABLE_BYTES))
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many outcomes of durable calls were not taken");
    code = take_row(invocation, key, &row);
    if (found) chordal__statement_end(runtime->store, found, 0, NULL);
    return code;
}

void chordal__durable_begin(chordal__invocation *invocation, const uint8_t key[CHORDAL__CALL_KEY]) {
    chordal_error error = {0};
    int code = make(invocation->runtime, &error);
    if (code == 0) code = look_up(invocation, key, &error);
    if (code < 0) chordal__invocation_fail(invocation, code, NULL, 0, error.detail, strlen(error.detail));
}

/* ---- what is to be written ---- */

static void want_write(chordal__durable *durable, chordal__durables *all) {
    if (durable->node.next == &durable->node) chordal__list_append(&all->waiting, &durable->node);
}

/* Of what the guard may still refuse nothing is written. */
void chordal__durable_record(chordal__invocation *invocation) {
    bool asks = CHORDAL__AUTHORITY && invocation->ask;
    if (!invocation->durable->id && !invocation->answered && !asks)
        want_write(invocation->durable, invocation->runtime->durables);
}

bool chordal__durable_may_start(chordal__invocation *invocation) {
    chordal__durable_record(invocation);
    return invocation->durable->id != 0;
}

bool chordal__durables_wait(const chordal__runtime *runtime) {
    return runtime->durables && !chordal__list_empty(&runtime->durables->waiting);
}

static int write_outcome(chordal__durable *durable, chordal_error *error) {
    const chordal__invocation *invocation = durable->invocation;
    const chordal__reason *reason = &invocation->reason;
    const chordal__body *value = invocation->value;
    chordal__call_row row = {.id = durable->id, .code = reason->code, .raw = invocation->raw};
    row.name = reason->name.data;
    row.name_len = reason->name.len;
    row.detail = reason->detail.data;
    row.detail_len = reason->detail.len;
    row.value = value ? value->data : NULL;
    row.value_len = value ? value->len : 0;
    durable->bytes = row.value_len;
    return chordal__call_answer(invocation->runtime->store, &row, error);
}

static int write_one(chordal__runtime *runtime, chordal__durable *durable, chordal_error *error) {
    chordal__store *store = runtime->store;
    if (!durable->invocation) return chordal__call_drop(store, durable->id, error);
    if (durable->id) return write_outcome(durable, error);
    durable->recording = true;
    durable->id = ++runtime->durables->last;
    return chordal__call_add(store, durable->id, durable->key, durable->authority, error);
}

/* What nobody asked for again in time. What was there when this was looked at last is older than that. */
static int drop_old(chordal__runtime *runtime, chordal_error *error) {
    chordal__durables *all = runtime->durables;
    bool more;
    if (runtime->now - all->old_at < CHORDAL__DURABLE_KEEP) return 0;
    int code = chordal__calls_drop(runtime->store, all->old, &more, error);
    if (code < 0 || more) return code;
    all->old = all->last;
    all->old_at = runtime->now;
    return count_again(all, runtime->store, error);
}

static int write_all(chordal__runtime *runtime, chordal_error *error) {
    int code = chordal__step_begin(runtime->store, error);
    if (code < 0) return code;
    const chordal__list *waiting = &runtime->durables->waiting;
    code = drop_old(runtime, error);
    for (chordal__list *node = waiting->next; node != waiting && code == 0; node = node->next)
        code = write_one(runtime, CHORDAL__ENTRY(node, chordal__durable, node), error);
    if (code == 0) return chordal__step_commit(runtime->store, error);
    chordal__step_abort(runtime->store);
    return code;
}

/* ---- what was written ---- */

static void recorded(chordal__durable *durable, int code, const chordal_error *error) {
    chordal__invocation *invocation = durable->invocation;
    durable->recording = false;
    if (code == 0) {
        invocation->runtime->durables->count++;
        chordal__caller_go_on(invocation->caller);
        return;
    }
    durable->id = 0;
    chordal__invocation_fail(invocation, code, NULL, 0, error->detail, strlen(error->detail));
}

/* An outcome that cannot be written is told all the same: it is what came of the call. */
static void written(chordal__runtime *runtime, chordal__durable *durable, int code, const chordal_error *error) {
    chordal__durables *all = runtime->durables;
    if (durable->recording) {
        recorded(durable, code, error);
    } else if (durable->invocation) {
        durable->outcome = true;
        if (code == 0) all->bytes += durable->bytes;
        chordal__invocation_settle(durable->invocation);
    } else {
        if (all->count) all->count--;
        all->bytes -= durable->bytes < all->bytes ? durable->bytes : all->bytes;
        chordal__release(runtime->memory, durable, sizeof *durable);
    }
}

void chordal__durables_step(chordal__runtime *runtime) {
    chordal_error error = {0};
    if (!chordal__durables_wait(runtime)) return;
    int code = write_all(runtime, &error);
    while (chordal__durables_wait(runtime)) {
        chordal__durable *durable = CHORDAL__ENTRY(runtime->durables->waiting.next, chordal__durable, node);
        chordal__list_remove(&durable->node);
        written(runtime, durable, code, &error);
    }
}

/* ---- a commit of a durable call ---- */

static bool is_last(const chordal__commit *commit) {
    const chordal__list *end = &commit->invocation->commit_list;
    for (const chordal__list *node = commit->invocation_node.next; node != end; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__commit, invocation_node)->writes) return false;
    return true;
}

/* Its last commit takes the outcome along, when that is known. */
int chordal__durable_write(const chordal__commit *commit, chordal_error *error) {
    chordal__invocation *invocation = commit->invocation;
    chordal__durable *durable = invocation->durable;
    bool last = invocation->answered && is_last(commit);
    durable->ends_with = last ? commit : NULL;
    if (last) {
        chordal__invocation_check(invocation);
        return write_outcome(durable, error);
    }
    return durable->wrote ? 0 : chordal__call_mark(commit->runtime->store, durable->id, error);
}

void chordal__durable_stored(const chordal__commit *commit) {
    chordal__durable *durable = commit->invocation->durable;
    durable->wrote = true;
    if (durable->ends_with != commit) return;
    durable->outcome = true;
    commit->runtime->durables->bytes += durable->bytes;
}

/* ---- its end ---- */

static void leave(chordal__durable *durable, chordal__runtime *runtime) {
    chordal__map *running = &runtime->durables->running;
    if (chordal__map_get(running, durable->key, sizeof durable->key) == durable->invocation)
        chordal__map_remove(running, durable->key, sizeof durable->key);
}

bool chordal__durable_settle(chordal__invocation *invocation) {
    chordal__durable *durable = invocation->durable;
    bool done = durable->outcome || !durable->id;
    if (!done) want_write(durable, invocation->runtime->durables);
    if (!done) return false;
    chordal__list_remove(&durable->node);
    leave(durable, invocation->runtime);
    return true;
}

void chordal__durable_taken(chordal__invocation *invocation) {
    chordal__durable *durable = invocation->durable;
    if (!durable->id) return;
    invocation->durable = NULL;
    chordal__list_remove(&durable->node);
    durable->invocation = NULL;
    want_write(durable, invocation->runtime->durables);
}

void chordal__durable_free(chordal__invocation *invocation) {
    chordal__durable *durable = invocation->durable;
    leave(durable, invocation->runtime);
    chordal__list_remove(&durable->node);
    chordal__release(invocation->runtime->memory, durable, sizeof *durable);
    invocation->durable = NULL;
}
