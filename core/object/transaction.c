/* transaction.c: drafts over any number of documents, and turning them into a prepared commit. */
#include "object/live.h"

/* On whose behalf it is: a call, or the start of an object. */
static bool is_known(chordal__runtime *runtime, chordal_id call) {
    return !call || chordal__id_get(&runtime->ids, call, CHORDAL__ID_INVOCATION) ||
           (CHORDAL__STORE && chordal__id_get(&runtime->ids, call, CHORDAL__ID_OBJECT));
}

int chordal__transaction_begin(chordal__runtime *runtime, chordal_id call, chordal_transaction **out,
                               chordal_error *error) {
    if (!is_known(runtime, call)) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the call was answered already");
    chordal_transaction *transaction = chordal__allocate(runtime->memory, sizeof *transaction);
    if (!transaction) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a transaction");
    memset(transaction, 0, offsetof(chordal_transaction, one));
    transaction->touched = &transaction->one;
    transaction->touched_capacity = 1;
    transaction->runtime = runtime;
    transaction->call = call;
    transaction->memory = chordal__memory_ref(runtime->memory);
#if CHORDAL__STORE
    chordal__list_init(&transaction->tables);
#endif
    chordal__list_append(&runtime->transactions, &transaction->node);
    *out = transaction;
    return 0;
}

static void drop_drafts(chordal_transaction *transaction) {
    for (size_t i = 0; i < transaction->touched_len; i++) {
        chordal__draft_dispose(&transaction->touched[i].draft);
        chordal__object_unpin(transaction->touched[i].object);
    }
    if (transaction->touched != &transaction->one)
        chordal__release(transaction->memory, transaction->touched,
                         transaction->touched_capacity * sizeof *transaction->touched);
    transaction->touched = &transaction->one;
    transaction->touched_len = 0;
    transaction->touched_capacity = 1;
}

void chordal__transaction_orphan(chordal_transaction *transaction) {
    drop_drafts(transaction);
    if (CHORDAL__STORE) chordal__own_tables_drop(transaction);
    chordal__list_remove(&transaction->node);
    transaction->runtime = NULL;
    transaction->host = NULL;
}

void chordal__transaction_free(chordal_transaction *transaction) {
    chordal__memory *memory = transaction->memory;
    chordal__transaction_orphan(transaction);
    chordal__release(memory, transaction, sizeof *transaction);
    chordal__memory_unref(memory);
}

/* ---- drafts ---- */

static chordal__touched *find_touched(chordal_transaction *transaction, const chordal__object *object,
                                      uint32_t member) {
    for (size_t i = transaction->touched_len; i-- > 0;) {
        chordal__touched *touched = &transaction->touched[i];
        if (touched->object == object && touched->member == member) return touched;
    }
    return NULL;
}

/* Room for one more: what lies in the transaction itself moves. */
static int more_touched(chordal_transaction *transaction) {
    void *items = transaction->touched;
    int code =
        chordal__grow_out(transaction->memory, &items, sizeof *transaction->touched, &transaction->touched_capacity,
                          transaction->touched_len + 1, 1 << 20, &transaction->one);
    transaction->touched = items;
    return code;
}

static int touch(chordal_transaction *transaction, chordal__object *object, uint32_t member, chordal__touched **out,
                 chordal_error *error) {
    chordal__slot *slot = &object->slots[member];
    int code = transaction->touched_len < transaction->touched_capacity ? 0 : more_touched(transaction);
    if (code < 0) return chordal__fail(error, code, 0, "too many documents in one transaction");
    chordal__touched *touched = &transaction->touched[transaction->touched_len];
    code = chordal__draft_begin(&touched->draft, transaction->memory, slot->tip,
                                transaction->runtime->settings.limits.depth);
    if (code < 0) return chordal__fail(error, code, 0, "no memory for a draft");
    touched->object = object;
    touched->member = member;
    touched->moves = slot->moves;
    touched->entries = 0;
    chordal__object_pin(object);
    transaction->touched_len++;
    *out = touched;
    return 0;
}

int chordal__transaction_draft(chordal_transaction *transaction, chordal_id id, uint32_t member, chordal__touched **out,
                               chordal_error *error) {
    chordal__object *object = chordal__id_get(&transaction->runtime->ids, id, CHORDAL__ID_OBJECT);
    if (!object) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "no such object");
    if (object->state == CHORDAL__OBJECT_RETIRED)
        return chordal__fail(error, CHORDAL_E_RETIRED, 0, "the object is retired");
#if CHORDAL__STORE
    if (object->live) return chordal__fail(error, CHORDAL_E_INVALID, 0, "the rows of a live query follow its table");
#endif
    const chordal__members *members = object->type->members;
    if (member >= members->count) return chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such member");
    if (members->items[member].kind != CHORDAL_MEMBER_DOCUMENT)
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "only documents are changed by transactions");
    *out = find_touched(transaction, object, member);
    return *out ? 0 : touch(transaction, object, member, out, error);
}

/* Only the object and the draft hold the document. */
static bool nobody_holds(const chordal__touched *touched) {
    const chordal__slot *slot = &touched->object->slots[touched->member];
    const chordal__draft *draft = &touched->draft;
    return slot->head == draft->base && slot->tip == draft->base && chordal__node_owners(draft->base) == 4;
}

bool chordal__touched_put_off(chordal__touched *touched, chordal__op *op) {
    if (CHORDAL__SMALL || !chordal__draft_put_off(&touched->draft, op)) return false;
    touched->entries = nobody_holds(touched) ? touched->object->runtime->counters.entries : 0;
    return true;
}

int chordal__touched_do(chordal__touched *touched, chordal__op op, chordal_error *error) {
    chordal__draft *draft = &touched->draft;
    if (chordal__touched_put_off(touched, &op)) return 0;
    int code = chordal__draft_waits(draft) ? chordal__draft_apply(draft, error) : 0;
    if (code == 0) return chordal__draft_do(draft, op, error);
    chordal__op_dispose(draft->memory, &op);
    return code;
}

/* Its host may have some. */
static inline bool has_tables(const chordal_transaction *transaction) {
    return CHORDAL__STORE && transaction->runtime->store;
}

static bool is_row(const chordal_transaction *transaction, chordal_id id, const chordal__path *path) {
    const chordal__object *object = chordal__id_get(&transaction->runtime->ids, id, CHORDAL__ID_OBJECT);
    uint64_t member = path->segments[0].index;
    if (!object || member >= object->type->members->count) return false;
    return object->type->members->items[member].kind == CHORDAL_MEMBER_TABLE;
}

static int do_op(chordal_transaction *transaction, chordal_id object, chordal__op op, chordal_error *error) {
    chordal__touched *touched;
    int code = CHORDAL_E_PATH;
    bool row = has_tables(transaction) && op.path && op.path->count > 1 && is_row(transaction, object, op.path);
    if (row)
        code = chordal__own_table_op(transaction, object, &op, error);
    else if (!op.path || op.path->count == 0 || op.path->segments[0].is_key || op.path->segments[0].index > UINT32_MAX)
        chordal__fail(error, code, 0, "a path begins with the index of a member");
    else
        code = chordal__transaction_draft(transaction, object, (uint32_t)op.path->segments[0].index, &touched, error);
    if (code == 0 && !row) return chordal__touched_do(touched, op, error);
    chordal__op_dispose(transaction->memory, &op);
    return code;
}

static int do_ops(chordal_transaction *transaction, chordal_id object, chordal__ops *ops, chordal_error *error) {
    int code = 0;
    for (size_t i = 0; i < ops->count; i++) {
        chordal__op op = ops->items[i];
        memset(&ops->items[i], 0, sizeof op);
        if (code < 0)
            chordal__op_dispose(transaction->memory, &op);
        else
            code = do_op(transaction, object, op, error);
    }
    ops->count = 0;
    return code;
}

int chordal__transaction_changes(chordal_transaction *transaction, const uint8_t *changes, size_t len,
                                 chordal_error *error) {
    chordal__reader reader = chordal__reader_of(changes, len);
    chordal__ops ops;
    int code = 0;
    chordal__ops_init(&ops, transaction->memory);
    while (code == 0 && chordal__reader_left(&reader)) {
        chordal_id object = chordal__read_varint(&reader);
        size_t ops_len = (size_t)chordal__read_varint(&reader);
        uint64_t position = chordal__reader_position(&reader);
        const uint8_t *data = chordal__read_bytes(&reader, ops_len);
        if (reader.failed) {
            code = chordal__fail(error, reader.failed, position, "changes that end too early");
            break;
        }
        code = chordal__ops_read(&ops, CHORDAL__ENCODING_BINARY, data, ops_len, NULL, 0,
                                 &transaction->runtime->settings.limits, error);
        if (code < 0 && error) error->position += position;
        if (code == 0) code = do_ops(transaction, object, &ops, error);
    }
    chordal__ops_dispose(&ops);
    return code;
}

/* ---- committing ---- */

static bool waits_for_migration(const chordal_transaction *transaction, const chordal__touched *touched) {
    const chordal__object *object = touched->object;
    bool older = object->stored_version && object->stored_version < object->type->version;
    bool starts = object->state != CHORDAL__OBJECT_LIVE && !object->activating;
    return object->type->migrates && older && starts && touched->draft.ops.count && transaction->call != object->id;
}

static int check_conflicts(const chordal_transaction *transaction, chordal_error *error) {
    for (size_t i = 0; i < transaction->touched_len; i++) {
        const chordal__touched *touched = &transaction->touched[i];
        if (touched->object->slots[touched->member].moves != touched->moves)
            return chordal__fail(error, CHORDAL_E_CONFLICT, 0, "a document has changed since the transaction began");
        if (touched->object->state == CHORDAL__OBJECT_RETIRED)
            return chordal__fail(error, CHORDAL_E_RETIRED, 0, "an object was retired during the transaction");
        if (CHORDAL__STORE && waits_for_migration(transaction, touched))
            return chordal__fail(error, CHORDAL_E_STATE, 0, "what an older version has stored was not migrated yet");
    }
    return has_tables(transaction) ? chordal__own_tables_check(transaction, error) : 0;
}

static bool takes_part(const chordal_transaction *transaction, const chordal__touched *touched) {
    return touched->draft.ops.count || (CHORDAL__STORE && transaction->runtime->store && transaction->changes);
}

static uint32_t count_objects(const chordal_transaction *transaction) {
    uint32_t count = has_tables(transaction) ? chordal__own_tables_count(transaction) : 0;
    for (size_t i = 0; i < transaction->touched_len; i++) {
        bool first = true;
        if (!takes_part(transaction, &transaction->touched[i])) continue;
        for (size_t k = 0; k < i && first; k++)
            first = transaction->touched[k].object != transaction->touched[i].object ||
                    !takes_part(transaction, &transaction->touched[k]);
        count += first;
    }
    return count;
}

chordal__change *chordal__commit_change(chordal__commit *commit, chordal__object *object) {
    for (uint32_t i = 0; i < commit->changes_len; i++)
        if (commit->changes[i].object == object) return &commit->changes[i];
    chordal__change *change = &commit->changes[commit->changes_len++];
    change->object = object;
    chordal__object_pin(object);
    return change;
}

static int more_values(chordal__memory *memory, chordal__change *change) {
    void *values = change->values;
    size_t capacity = change->values_capacity;
    int code = chordal__grow_out(memory, &values, sizeof *change->values, &capacity, change->values_len + 1,
                                 CHORDAL__MEMBERS_LIMIT, &change->one);
    change->values = values;
    change->values_capacity = (uint32_t)capacity;
    return code;
}

static int add_value(chordal__memory *memory, chordal__change *change, uint32_t member, chordal__node *value,
                     chordal__new_value **out) {
    int code = change->values_len < change->values_capacity ? 0 : more_values(memory, change);
    if (code < 0) return code;
    *out = &change->values[change->values_len++];
    **out = (chordal__new_value){.member = member, .value = value ? chordal__node_ref(value) : NULL};
    return 0;
}

static int add_ops(chordal__change *change, chordal__ops *ops) {
    if (change->ops.count) return chordal__ops_append(&change->ops, ops);
    chordal__ops moved = change->ops;
    change->ops = *ops;
    *ops = moved;
    return 0;
}

static int add_touched(chordal__commit *commit, chordal__touched *touched, chordal_error *error) {
    chordal__object *object = touched->object;
    bool changed = !CHORDAL__STORE || touched->draft.ops.count != 0;
    chordal__new_value *value;
    chordal__change *change = chordal__commit_change(commit, object);
    int code =
        add_value(commit->runtime->memory, change, touched->member, changed ? touched->draft.value : NULL, &value);
    if (code < 0) return chordal__fail(error, code, 0, "no memory for a commit");
    if (!changed) return 0;
    if (CHORDAL__STORE && object->slots[touched->member].persisted) {
        code = chordal__persist_prepare(object, value, &touched->draft.ops, error);
        commit->writes = true;
    }
    if (code == 0 && add_ops(change, &touched->draft.ops) < 0)
        code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a commit");
    return code;
}

/* What was only read counts where a step may fail: the commit falls with what it was prepared on. */
static int fill(chordal__commit *commit, chordal_transaction *transaction, chordal_error *error) {
    for (size_t i = 0; i < transaction->touched_len; i++) {
        chordal__touched *touched = &transaction->touched[i];
        if (!takes_part(transaction, touched)) continue;
        int code = add_touched(commit, touched, error);
        if (code < 0) return code;
    }
    return has_tables(transaction) ? chordal__own_tables_prepare(commit, transaction, error) : 0;
}

/* Nobody held it when the op was put off, and none has asked the host for anything since: its place is as it was. */
static bool is_as_it_was(const chordal__runtime *runtime, const chordal__touched *touched) {
    return !CHORDAL__SMALL && touched->entries && runtime->counters.entries - touched->entries <= 1;
}

/* Nobody holds the document, and the commit goes through at once: the next one to look sees what is new, wherever it
 * lies. */
static bool is_alone(const chordal__runtime *runtime, chordal__touched *touched) {
    const chordal__slot *slot = &touched->object->slots[touched->member];
    bool at_once = !runtime->settling && chordal__list_empty(&runtime->commits) && !slot->persisted;
    return at_once && nobody_holds(touched) &&
           (is_as_it_was(runtime, touched) || chordal__draft_find_place(&touched->draft));
}

static int apply_waiting(chordal_transaction *transaction, chordal_error *error) {
    int code = 0;
    for (size_t i = 0; i < transaction->touched_len && code == 0; i++) {
        chordal__touched *touched = &transaction->touched[i];
        if (chordal__draft_waits(&touched->draft) && !is_alone(transaction->runtime, touched))
            code = chordal__draft_apply(&touched->draft, error);
    }
    return code;
}

/* Nothing can fail from here on. */
static void advance_tips(chordal__commit *commit, chordal_transaction *transaction) {
    for (size_t i = 0; i < transaction->touched_len; i++) {
        chordal__draft *draft = &transaction->touched[i].draft;
        if (chordal__draft_waits(draft)) chordal__draft_apply_in_place(draft);
    }
    for (uint32_t i = 0; i < commit->changes_len; i++) {
        chordal__change *change = &commit->changes[i];
        for (uint32_t k = 0; k < change->values_len; k++) {
            chordal__slot *slot = &change->object->slots[change->values[k].member];
            if (CHORDAL__STORE && !change->values[k].value) continue;
            if (CHORDAL__STORE && slot->persisted) chordal__persist_advance(slot, &change->values[k]);
            chordal__node_unref(commit->runtime->memory, slot->tip);
            slot->tip = chordal__node_ref(change->values[k].value);
            slot->moves++;
        }
    }
    if (has_tables(transaction)) chordal__tables_advance(commit);
}

int chordal__transaction_commit(chordal_transaction *transaction, chordal_id *out_ticket, chordal_error *error) {
    chordal__runtime *runtime = transaction->runtime;
    chordal__invocation *invocation = chordal__id_get(&runtime->ids, transaction->call, CHORDAL__ID_INVOCATION);
    if (!is_known(runtime, transaction->call))
        return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the call was answered already");
    int code = check_conflicts(transaction, error);
    if (code == 0) code = apply_waiting(transaction, error);
    if (code < 0) return code;
    for (size_t i = 0; CHORDAL__STORE && i < transaction->touched_len; i++)
        transaction->changes |= transaction->touched[i].draft.ops.count != 0;
    if (has_tables(transaction)) transaction->changes |= chordal__own_tables_change(transaction);
    chordal__commit *commit = chordal__commit_new(runtime, count_objects(transaction));
    if (!commit) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a commit");
    code = fill(commit, transaction, error);
    if (code == 0) commit->ticket = chordal__id_new(&runtime->ids, CHORDAL__ID_TICKET, commit, false);
    if (code == 0 && !commit->ticket) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a commit");
    if (code < 0) {
        chordal__commit_free(commit);
        return code;
    }
    if (invocation) {
        commit->invocation = invocation;
        chordal__list_append(&invocation->commit_list, &commit->invocation_node);
        invocation->commits++;
    }
    *out_ticket = commit->ticket;
    advance_tips(commit, transaction);
    chordal__commit_submit(commit);
    return 0;
}
