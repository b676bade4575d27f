/* persist.c: documents of objects that live in the store: found when their object is made, written by a step.
 *
 * A commit on them is prepared like any other: the tips advance and what is to be written is encoded at once. Then it
 * waits in the queue for the step of the turn, which writes all that wait in one SQLite transaction; what is through
 * goes on in order and becomes visible. A step that fails is tried again commit by commit: one that fails takes with it
 * those that were prepared on what it did, and the tips fall back. */
#include "object/tables.h"

/* ---- life ---- */

void chordal__persist_address(const chordal__object *object, uint32_t member, chordal__address *out) {
    const chordal__text *type = &object->type->name, *name = &object->type->members->items[member].name;
    *out = (chordal__address){.type = type->data,
                              .type_len = type->len,
                              .key = object->key->data,
                              .key_len = object->key->len,
                              .member = name->data,
                              .member_len = name->len,
                              .params = object->params->data,
                              .params_len = object->params->len};
}

/* What the next commit has to know of those before it. */
static void take_progress(chordal__persisted *persisted) {
    const chordal__progress *now = &persisted->document.now;
    persisted->known = now->id != 0;
    persisted->base_bytes = now->base_bytes;
    persisted->delta_bytes = now->delta_bytes;
    persisted->deltas = now->deltas;
}

static int check_version(const chordal__object *object, const chordal__progress *found, chordal_error *error) {
    if (found->version <= object->type->version) return 0;
    return chordal__fail_number(error, CHORDAL_E_TYPE_VERSION,
                                "a document was written by a newer version of the type: ", found->version);
}

static int load_member(chordal__object *object, uint32_t member, chordal_error *error) {
    chordal__runtime *runtime = object->runtime;
    chordal__slot *slot = &object->slots[member];
    chordal__address address;
    chordal__node *value;
    slot->persisted = chordal__allocate_zero(runtime->memory, sizeof *slot->persisted);
    if (!slot->persisted) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a document");
    chordal__list_init(&slot->persisted->compacting);
    chordal__document_init(&slot->persisted->document);
    chordal__persist_address(object, member, &address);
    int code = chordal__document_load(runtime->store, &address, &runtime->settings.limits, &slot->persisted->document,
                                      &value, error);
    if (code < 0) return code;
    take_progress(slot->persisted);
    if (!value) return 0;
    chordal__node_unref(runtime->memory, slot->head);
    chordal__node_unref(runtime->memory, slot->tip);
    slot->head = value;
    slot->tip = chordal__node_ref(value);
    const chordal__progress *now = &slot->persisted->document.now;
    if (now->number > object->stored_at) object->stored_at = now->number;
    if (!object->stored_version || now->version < object->stored_version) object->stored_version = now->version;
    return check_version(object, now, error);
}

static int load_members(chordal__object *object, chordal_error *error) {
    const chordal__members *members = object->type->members;
    for (uint32_t i = 0; i < members->count; i++) {
        if (!members->items[i].persisted) continue;
        int code = load_member(object, i, error);
        if (code < 0) return code;
    }
    return chordal__tables_load(object, error);
}

/* Beside the owner all of it is read at one moment, so that no transaction is seen in part. */
int chordal__persist_load(chordal__object *object, chordal_error *error) {
    chordal__runtime *runtime = object->runtime;
    bool began = false;
    int code = 0;
    if (!runtime->store) return 0;
    chordal__persist_step(runtime); /* an earlier life of this object may have left something to write */
    if (runtime->store->read_only) code = chordal__look_begin(runtime->store, &began, error);
    if (code == 0) code = load_members(object, error);
    chordal__look_end(runtime->store, began);
    return code;
}

void chordal__persist_forget(chordal__object *object) {
    const chordal__members *members = object->type->members;
    for (uint32_t i = 0; i < members->count; i++) {
        chordal__persisted *persisted = object->slots[i].persisted;
        if (!persisted) continue;
        chordal__list_remove(&persisted->compacting);
        chordal__list_remove(&persisted->document.staged);
        chordal__release(object->runtime->memory, persisted, sizeof *persisted);
    }
    chordal__tables_forget(object);
}

/* ---- preparing ---- */

static int take_scratch(chordal__runtime *runtime, chordal__body **out, chordal_error *error) {
    int code = runtime->scratch.failed;
    if (code == 0) *out = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (code < 0 || !*out) return chordal__fail(error, code < 0 ? code : CHORDAL_E_NOMEM, 0, "no room for a revision");
    return 0;
}

static int encode_delta(chordal__runtime *runtime, const chordal__ops *ops, chordal__body **out, chordal_error *error) {
    chordal__buffer_clear(&runtime->scratch);
    chordal__ops_write(&runtime->scratch, CHORDAL__ENCODING_BINARY, ops, NULL);
    return take_scratch(runtime, out, error);
}

static int encode_base(chordal__runtime *runtime, const chordal__node *value, chordal__body **out,
                       chordal_error *error) {
    chordal__buffer_clear(&runtime->scratch);
    chordal__pack_write(&runtime->scratch, value);
    if (runtime->scratch.len > runtime->settings.limits.size)
        return chordal__fail(error, CHORDAL_E_SIZE, 0, "the document is larger than the host's limit on values");
    return take_scratch(runtime, out, error);
}

static bool replaces_all(const chordal__ops *ops) {
    return ops->count == 1 && ops->items[0].path->count == 1 &&
           (ops->items[0].kind == CHORDAL_OP_REPLACE || ops->items[0].kind == CHORDAL_OP_SET);
}

static bool base_is_due(const chordal__persisted *persisted, const chordal__type *type, size_t delta) {
    return persisted->deltas + 1 >= type->deltas_limit ||
           persisted->delta_bytes + delta > persisted->base_bytes + CHORDAL__DELTA_BYTES;
}

int chordal__persist_prepare(chordal__object *object, chordal__new_value *value, const chordal__ops *ops,
                             chordal_error *error) {
    chordal__runtime *runtime = object->runtime;
    const chordal__persisted *persisted = object->slots[value->member].persisted;
    if (!persisted->known || replaces_all(ops)) return encode_base(runtime, value->value, &value->base, error);
    int code = encode_delta(runtime, ops, &value->delta, error);
    if (code == 0 && value->delta->len > runtime->settings.limits.size) { /* it could not be read back */
        chordal__body_unref(value->delta);
        value->delta = NULL;
        return encode_base(runtime, value->value, &value->base, error);
    }
    if (code == 0 && base_is_due(persisted, object->type, value->delta->len))
        code = encode_base(runtime, value->value, &value->base, error);
    return code;
}

void chordal__persist_advance(chordal__slot *slot, const chordal__new_value *value) {
    chordal__persisted *persisted = slot->persisted;
    persisted->known = true;
    if (value->base) {
        persisted->base_bytes = value->base->len;
        persisted->delta_bytes = persisted->deltas = 0;
    } else {
        persisted->delta_bytes += value->delta->len;
        persisted->deltas++;
    }
}

/* ---- the step ---- */

#define STEP_COMMITS 4096 /* of one SQLite transaction: bounds what a failure has to do again */

static bool waits(const chordal__commit *commit) {
    return commit->writes && !commit->stored;
}

/* The numbers that the commits of the queue will have when they become visible. */
static void number_queue(chordal__runtime *runtime) {
    uint64_t number = runtime->commit_number;
    for (chordal__list *node = runtime->commits.next; node != &runtime->commits; node = node->next) {
        chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        bool counts = commit->item == CHORDAL__ITEM_COMMIT && commit->changes_len && commit != runtime->settling;
        if (counts) commit->number = ++number;
    }
}

static int write_value(chordal__object *object, const chordal__new_value *value, uint64_t number,
                       chordal_error *error) {
    chordal__address address;
    chordal__document *document = &object->slots[value->member].persisted->document;
    chordal__persist_address(object, value->member, &address);
    return chordal__document_write(object->runtime->store, document, &address, object->type->version, number,
                                   value->delta, value->base, error);
}

/* The first change of an object by a newer version of its type takes all its documents to that version: they were
 * brought up to date together. */
static int raise_versions(chordal__object *object, chordal_error *error) {
    int code = 0;
    if (!object->stored_version || object->stored_version == object->type->version) return 0;
    for (uint32_t i = 0; i < object->type->members->count && code == 0; i++) {
        chordal__persisted *persisted = object->slots[i].persisted;
        if (!persisted) continue;
        code = chordal__document_raise(object->runtime->store, &persisted->document, object->type->version, error);
    }
    return code;
}

static int write_change(const chordal__change *change, uint64_t number, chordal_error *error) {
    int code = 0;
    bool any = false;
    for (uint32_t k = 0; k < change->values_len && code == 0; k++) {
        if (!change->values[k].delta && !change->values[k].base) continue;
        code = write_value(change->object, &change->values[k], number, error);
        any = true;
    }
    return code == 0 && any ? raise_versions(change->object, error) : code;
}

static int write_commit(chordal__commit *commit, chordal_error *error) {
    int code = 0;
    for (uint32_t i = 0; i < commit->changes_len && code == 0; i++)
        code = write_change(&commit->changes[i], commit->number, error);
    if (code == 0) code = chordal__tables_write(commit, error);
    if (code == 0 && commit->invocation && commit->invocation->durable) code = chordal__durable_write(commit, error);
    if (code == 0 && commit->runtime->store->outbox) code = chordal__outbox_write(commit, error);
    return code;
}

/* Up to `limit` commits that wait, from `node` on; *out_next is where to go on. */
static int write_group(chordal__runtime *runtime, chordal__list *node, uint32_t limit, chordal__list **out_next,
                       chordal_error *error) {
    int code = chordal__step_begin(runtime->store, error);
    if (code < 0) return code;
    for (; node != &runtime->commits && limit; node = node->next) {
        chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        if (!waits(commit)) continue;
        code = write_commit(commit, error);
        if (code < 0) {
            chordal__step_abort(runtime->store);
            return code;
        }
        limit--;
    }
    *out_next = node;
    return chordal__step_commit(runtime->store, error);
}

static void want_compaction(chordal__runtime *runtime, const chordal__commit *commit) {
    for (uint32_t i = 0; i < commit->changes_len; i++) {
        const chordal__change *change = &commit->changes[i];
        if (change->object->type->history == CHORDAL__HISTORY_ALL) continue;
        for (uint32_t k = 0; k < change->values_len; k++) {
            chordal__persisted *persisted = change->object->slots[change->values[k].member].persisted;
            bool due = change->values[k].base && persisted->document.now.position > 1;
            if (!due || persisted->compacting.next != &persisted->compacting) continue;
            persisted->keep = change->object->type->history;
            chordal__list_append(&runtime->compacting, &persisted->compacting);
        }
    }
}

typedef void (*each_value)(chordal__object *object, const chordal__new_value *value);

static void for_each_value(const chordal__commit *commit, each_value act) {
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++)
            act(commit->changes[i].object, &commit->changes[i].values[k]);
}

/* All its documents are of the type's version by now: raise_versions. */
static void note_version(chordal__object *object, const chordal__new_value *value) {
    if (object->stored_version && (value->delta || value->base)) object->stored_version = object->type->version;
}

static void mark_stored(chordal__runtime *runtime, chordal__list *from, const chordal__list *to) {
    for (chordal__list *node = from; node != to; node = node->next) {
        chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        if (!waits(commit)) continue;
        commit->stored = true;
        for_each_value(commit, note_version);
        chordal__tables_stored(commit);
        if (commit->invocation && commit->invocation->durable) chordal__durable_stored(commit);
        want_compaction(runtime, commit);
    }
}

/* ---- a step that failed ---- */

/* A document that the commit changed goes back to what is visible. */
static void fall(chordal__object *object, const chordal__new_value *value) {
    chordal__slot *slot = &object->slots[value->member];
    if (!value->value) return;
    slot->fallen = true;
    slot->moves++;
    chordal__node_unref(object->runtime->memory, slot->tip);
    slot->tip = chordal__node_ref(slot->head);
}

/* Those that stay in the queue put their tips on that again. */
static void put_tip(chordal__object *object, const chordal__new_value *value) {
    chordal__slot *slot = &object->slots[value->member];
    if (!value->value || !slot->fallen) return;
    chordal__node_unref(object->runtime->memory, slot->tip);
    slot->tip = chordal__node_ref(value->value);
}

static void stand_up(chordal__object *object, const chordal__new_value *value) {
    chordal__slot *slot = &object->slots[value->member];
    slot->fallen = false;
    if (slot->persisted) take_progress(slot->persisted);
}

static bool builds_on_fallen(const chordal__commit *commit) {
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++)
            if (commit->changes[i].object->slots[commit->changes[i].values[k].member].fallen) return true;
    return chordal__tables_on_fallen(commit);
}

static int try_one(chordal__runtime *runtime, chordal__commit *commit, chordal_error *error) {
    chordal__list *next;
    if (builds_on_fallen(commit))
        return chordal__fail(error, CHORDAL_E_CONFLICT, 0, "it was prepared on a commit that failed");
    if (!waits(commit)) return 0;
    number_queue(runtime);
    int code = write_group(runtime, &commit->node, 1, &next, error);
    if (code == 0) mark_stored(runtime, &commit->node, next);
    return code;
}

static void end_failed(chordal__runtime *runtime, chordal__list *failed) {
    for (chordal__list *node = runtime->commits.next; node != &runtime->commits; node = node->next)
        for_each_value(CHORDAL__ENTRY(node, chordal__commit, node), put_tip);
    for (chordal__list *node = failed->next; node != failed; node = node->next) {
        for_each_value(CHORDAL__ENTRY(node, chordal__commit, node), stand_up);
        chordal__tables_stand_up(CHORDAL__ENTRY(node, chordal__commit, node));
    }
    while (!chordal__list_empty(failed)) {
        chordal__commit *commit = CHORDAL__ENTRY(failed->next, chordal__commit, node);
        chordal__list_remove(&commit->node);
        chordal__commit_fail(commit);
    }
}

static void try_each(chordal__runtime *runtime) {
    chordal__list failed, *node = runtime->commits.next;
    chordal__list_init(&failed);
    while (node != &runtime->commits) {
        chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        chordal_error error = {0};
        node = node->next;
        if (commit == runtime->settling || commit->item != CHORDAL__ITEM_COMMIT || commit->stored) continue;
        int code = try_one(runtime, commit, &error);
        if (code == 0) continue;
        chordal__reason_set(runtime->memory, &commit->reason, code, NULL, 0, error.detail, strlen(error.detail));
        for_each_value(commit, fall);
        chordal__tables_fall(commit);
        chordal__list_remove(&commit->node);
        chordal__list_append(&failed, &commit->node);
    }
    end_failed(runtime, &failed);
}

static chordal__list *first_waiting(const chordal__runtime *runtime) {
    chordal__list *node = runtime->commits.next;
    while (node != &runtime->commits && !waits(CHORDAL__ENTRY(node, chordal__commit, node))) node = node->next;
    return node;
}

void chordal__persist_step(chordal__runtime *runtime) {
    chordal__list *node, *next;
    if (!runtime->store) return;
    chordal__durables_step(runtime);
    while ((node = first_waiting(runtime)) != &runtime->commits) {
        chordal_error error;
        number_queue(runtime);
        if (write_group(runtime, node, STEP_COMMITS, &next, &error) < 0) {
            try_each(runtime);
            return;
        }
        mark_stored(runtime, node, next);
    }
}

bool chordal__persist_waits(const chordal__runtime *runtime) {
    return runtime->store && (chordal__persist_tidies(runtime) || chordal__durables_wait(runtime) ||
                              (!runtime->settling && first_waiting(runtime) != &runtime->commits));
}

/* Of rows whose object is gone. A failure leaves them to the next one that goes, or to the next opening. */
static void sweep_rows(chordal__runtime *runtime) {
    if (chordal__owners_clear(runtime->store, NULL) < 0) runtime->store->clears = false;
}

/* One piece of what is old, when nothing else is to be written. A failure leaves history to the next base. */
void chordal__persist_tidy(chordal__runtime *runtime) {
    bool more;
    if (!chordal__persist_tidies(runtime)) return;
    if (chordal__list_empty(&runtime->compacting)) {
        sweep_rows(runtime);
        return;
    }
    chordal__persisted *persisted = CHORDAL__ENTRY(runtime->compacting.next, chordal__persisted, compacting);
    int code = chordal__document_compact(runtime->store, &persisted->document, persisted->keep, &more, NULL);
    if (code < 0 || !more) chordal__list_remove(&persisted->compacting);
}

/* ---- retiring ---- */

static int retire_documents(chordal__object *object, chordal_error *error) {
    chordal__runtime *runtime = object->runtime;
    const chordal__members *members = object->type->members;
    bool all = object->type->history == CHORDAL__HISTORY_ALL;
    /* Commits that were stored just now are not visible yet. */
    uint64_t last = runtime->store->last > runtime->commit_number ? runtime->store->last : runtime->commit_number;
    int code = chordal__step_begin(runtime->store, error);
    if (code < 0) return code;
    for (uint32_t i = 0; i < members->count && code == 0; i++) {
        chordal__persisted *persisted = object->slots[i].persisted;
        if (!persisted) continue;
        chordal__list_remove(&persisted->compacting);
        code = chordal__document_retire(runtime->store, &persisted->document, last, all, error);
    }
    if (code == 0) code = chordal__tables_retire(object, error);
    if (code == 0) return chordal__step_commit(runtime->store, error);
    chordal__step_abort(runtime->store);
    return code;
}

int chordal__persist_retire(chordal__object *object, chordal_error *error) {
    chordal__persist_step(object->runtime);
    bool any = chordal__tables_any(object);
    for (uint32_t i = 0; i < object->type->members->count; i++)
        any |= object->slots[i].persisted && object->slots[i].persisted->document.now.id;
    return any ? retire_documents(object, error) : 0;
}
