/* commit.c: the queue of prepared commits, and how each becomes visible.
 *
 * A commit in the queue has advanced the tips. When its turn comes its values become heads, derives that read them are
 * computed (settle.c), and the batch is published: observers first, then what links have to send, then the outcome.
 * Going live waits in the same queue, so that no object appears in the middle of a batch. */
#include "object/live.h"

chordal__commit *chordal__commit_new(chordal__runtime *runtime, uint32_t changes) {
    size_t size = sizeof(chordal__commit) + changes * sizeof(chordal__change);
    chordal__commit *commit = chordal__allocate_zero(runtime->memory, size);
    if (!commit) return NULL;
    commit->runtime = runtime;
    commit->item = CHORDAL__ITEM_COMMIT;
    commit->changes_capacity = changes;
    chordal__list_init(&commit->node);
    chordal__list_init(&commit->invocation_node);
    chordal__event_init(&commit->told, CHORDAL__TELL_TICKET);
    for (uint32_t i = 0; i < changes; i++) {
        chordal__change *change = &commit->changes[i];
        chordal__ops_init(&change->ops, runtime->memory);
        change->values = &change->one;
        change->values_capacity = 1;
    }
    return commit;
}

static void drop_value(chordal__memory *memory, chordal__new_value *value) {
    chordal__node_unref(memory, value->value);
    if (!CHORDAL__STORE) return;
    chordal__body_unref(value->delta);
    chordal__body_unref(value->base);
}

static void drop_changes(chordal__commit *commit) {
    chordal__memory *memory = commit->runtime->memory;
    uint32_t count = commit->changes_len;
    commit->changes_len = 0;
    for (uint32_t i = 0; i < count; i++) {
        chordal__change *change = &commit->changes[i];
        chordal__ops_dispose(&change->ops);
        for (uint32_t k = 0; k < change->values_len; k++) drop_value(memory, &change->values[k]);
        if (change->values != &change->one)
            chordal__release(memory, change->values, change->values_capacity * sizeof *change->values);
        if (CHORDAL__STORE && commit->runtime->store) chordal__tables_drop(change);
        if (change->object) chordal__object_unpin(change->object);
    }
}

void chordal__commit_free(chordal__commit *commit) {
    chordal__runtime *runtime = commit->runtime;
    drop_changes(commit);
    chordal__list_remove(&commit->node);
    chordal__list_remove(&commit->invocation_node);
    chordal__untell(&commit->told);
    if (CHORDAL__STORE) chordal__reason_clear(runtime->memory, &commit->reason);
    if (commit->ticket) chordal__id_free(&runtime->ids, commit->ticket);
    chordal__release(runtime->memory, commit,
                     sizeof(chordal__commit) + commit->changes_capacity * sizeof(chordal__change));
}

/* ---- the way through ---- */

void chordal__tell_batch(chordal__list *observers, uint64_t number, chordal__ops *ops) {
    chordal__list *node = observers->next;
    while (node != observers) {
        chordal__observer *observer = CHORDAL__ENTRY(node, chordal__observer, node);
        node = node->next;
        observer->functions->batch(observer, number, ops);
    }
}

static void show_values(chordal__commit *commit) {
    chordal__memory *memory = commit->runtime->memory;
    for (uint32_t i = 0; i < commit->changes_len; i++) {
        chordal__change *change = &commit->changes[i];
        chordal__settle_mark(change);
        for (uint32_t k = 0; k < change->values_len; k++) {
            chordal__slot *slot = &change->object->slots[change->values[k].member];
            if (CHORDAL__STORE && !change->values[k].value) continue;
            chordal__node_unref(memory, slot->head);
            slot->head = change->values[k].value;
            change->values[k].value = NULL;
            if (CHORDAL__STORE && slot->persisted) change->object->stored_at = commit->number;
        }
        chordal__tell_batch(&change->object->early, commit->number, &change->ops);
    }
    if (CHORDAL__STORE && commit->runtime->store) chordal__live_apply(commit);
}

static void mark_all_derives(chordal__object *object) {
    const chordal__members *members = object->type->members;
    for (uint32_t i = 0; i < members->count; i++) {
        bool derive = members->items[i].kind == CHORDAL_MEMBER_DERIVE;
        if (derive && !object->slots[i].head) object->slots[i].dirty = true;
    }
}

static void begin(chordal__commit *commit) {
    chordal__runtime *runtime = commit->runtime;
    runtime->settling = commit;
    if (commit->item == CHORDAL__ITEM_ACTIVATION) {
        mark_all_derives(commit->changes[0].object);
        return;
    }
    if (commit->changes_len) {
        runtime->commit_number++;
        runtime->counters.batches++;
    }
    runtime->counters.commits++;
    commit->number = runtime->commit_number;
    show_values(commit);
}

static void publish(chordal__commit *commit) {
    for (uint32_t i = 0; i < commit->changes_len; i++) {
        chordal__change *change = &commit->changes[i];
        if (change->ops.count) chordal__tell_batch(&change->object->observers, commit->number, &change->ops);
    }
    if (CHORDAL__STORE && commit->runtime->store) chordal__live_publish(commit->runtime, commit->number);
}

static void go_live(chordal__object *object) {
    if (object->state != CHORDAL__OBJECT_STARTING) return;
    object->state = CHORDAL__OBJECT_LIVE;
    chordal__object_tell_state(object);
}

static void end_commit(chordal__commit *commit) {
    chordal__invocation *invocation = commit->invocation;
    commit->invocation = NULL;
    chordal__list_remove(&commit->invocation_node);
    drop_changes(commit);
    if (commit->ticket)
        chordal__tell(commit->runtime, &commit->told);
    else
        chordal__commit_free(commit);
    if (invocation) chordal__invocation_commit_done(invocation);
}

static void end(chordal__commit *commit) {
    chordal__runtime *runtime = commit->runtime;
    runtime->settling = NULL;
    chordal__list_remove(&commit->node);
    if (commit->item == CHORDAL__ITEM_ACTIVATION) {
        commit->changes[0].object->activating = false;
        go_live(commit->changes[0].object);
        runtime->hooks->published(runtime);
        chordal__commit_free(commit);
        return;
    }
    publish(commit);
    runtime->hooks->published(runtime);
    if (CHORDAL__STORE && runtime->store) chordal__live_published(runtime);
    end_commit(commit);
}

void chordal__commits_go_on(chordal__runtime *runtime) {
    if (runtime->advancing) return;
    runtime->advancing = true;
    for (;;) {
        if (!runtime->settling) {
            if (chordal__list_empty(&runtime->commits)) break;
            chordal__commit *first = CHORDAL__ENTRY(runtime->commits.next, chordal__commit, node);
            if (CHORDAL__STORE && first->writes && !first->stored) break;
            begin(first);
        }
        if (chordal__settle_ask(runtime->settling)) break;
        end(runtime->settling);
    }
    runtime->advancing = false;
}

void chordal__commit_fail(chordal__commit *commit) {
    chordal__invocation *invocation = commit->invocation;
    drop_changes(commit);
    commit->number = 0;
    if (invocation) chordal__invocation_commit_failed(invocation, commit);
    if (commit->ticket)
        chordal__tell(commit->runtime, &commit->told);
    else
        chordal__commit_free(commit);
}

void chordal__commit_submit(chordal__commit *commit) {
    chordal__list_append(&commit->runtime->commits, &commit->node);
    chordal__commits_advance(commit->runtime);
}
