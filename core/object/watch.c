/* watch.c: watches, and the one frame that each watched member may have waiting.
 *
 * A feed collects what happened to one member until it is told: ops are folded into ops; a feed that owes the whole
 * value reads it when it is told, unless the program keeps the value, then it holds the snapshot in packed form and
 * folds what follows behind it. */
#include "object/object.h"

#define FOLD_LIMIT 65536 /* weight of ops beyond which a feed tells the whole value instead */

/* ---- feeds ---- */

static bool keeps_value(const chordal__watch *watch) {
    return watch->object || !(watch->reference->flags & CHORDAL_REFERENCE_KEPT) ||
           chordal__local_object(watch->reference);
}

static void block(chordal__watch *watch, int change) {
    chordal__reference *reference = watch->reference;
    if (!reference) return;
    reference->blocked += change;
    if (reference->source) reference->source->blocked(reference, change);
}

static void clear_feed(chordal__feed *feed) {
    chordal__ops_clear(&feed->ops);
    chordal__body_unref(feed->packed);
    feed->packed = NULL;
    feed->pending = feed->snapshot = false;
    feed->folded = 0;
}

static void tell_feed(chordal__feed *feed) {
    if (feed->untaken) return; /* told after the take */
    if (feed->watch->flags & CHORDAL_WATCH_EARLY)
        chordal__tell_urgently(feed->watch->runtime, &feed->event);
    else
        chordal__tell(feed->watch->runtime, &feed->event);
}

static void set_pending(chordal__feed *feed, uint64_t commit) {
    feed->commit = commit;
    if (feed->pending) {
        feed->folded++;
        feed->watch->runtime->counters.folds++;
    } else {
        feed->pending = true;
        block(feed->watch, 1);
    }
    tell_feed(feed);
}

static void owe_snapshot(chordal__feed *feed, uint64_t commit) {
    set_pending(feed, commit);
    chordal__ops_clear(&feed->ops);
    chordal__body_unref(feed->packed);
    feed->packed = NULL;
    feed->snapshot = true;
}

static void drop_feed(chordal__feed *feed) {
    if (feed->pending) block(feed->watch, -1);
    clear_feed(feed);
    chordal__untell(&feed->event);
}

/* A KEPT reference that misses a change of one member tells nothing of any until whole values come. */
static void lose_track(chordal__feed *feed, uint64_t commit) {
    chordal__watch *watch = feed->watch;
    if (keeps_value(watch)) {
        owe_snapshot(feed, commit);
        return;
    }
    watch->lost = true;
    for (uint32_t i = 0; i < watch->feeds_len; i++) drop_feed(&watch->feeds[i]);
    watch->reference->source->reset(watch->reference);
}

/* A single change is told as it is, however large. */
static void add_ops(chordal__feed *feed, uint64_t commit, const chordal__ops *ops) {
    bool alone = feed->ops.weight == 0;
    if (feed->watch->lost) return;
    set_pending(feed, commit);
    if (feed->snapshot && !feed->packed) return; /* it will read the value as it is then */
    if (chordal__fold(&feed->ops, ops) < 0 || (!alone && feed->ops.weight > FOLD_LIMIT)) lose_track(feed, commit);
}

/* ---- what reaches a watch ---- */

static uint32_t member_of(const chordal__op *op) {
    return (uint32_t)op->path->segments[0].index;
}

static chordal__feed *feed_of(chordal__watch *watch, uint32_t member) {
    for (uint32_t i = 0; i < watch->feeds_len; i++)
        if (watch->feeds[i].member == member) return &watch->feeds[i];
    return NULL;
}

static bool of_one_member(const chordal__ops *ops) {
    for (size_t i = 1; i < ops->count; i++)
        if (member_of(&ops->items[i]) != member_of(&ops->items[0])) return false;
    return true;
}

static int share_op(chordal__ops *out, const chordal__op *op) {
    chordal__op copy = *op;
    copy.indexes = NULL;
    if (op->indexes_len) {
        copy.indexes = chordal__allocate(out->memory, op->indexes_len * sizeof *op->indexes);
        if (!copy.indexes) return CHORDAL_E_NOMEM;
        memcpy(copy.indexes, op->indexes, op->indexes_len * sizeof *op->indexes);
    }
    copy.path = chordal__path_ref(op->path);
    if (op->value) copy.value = chordal__node_ref(op->value);
    return chordal__ops_push(out, copy);
}

static void add_some_ops(chordal__feed *feed, uint64_t commit, const chordal__ops *ops) {
    chordal__ops some;
    int code = 0;
    chordal__ops_init(&some, feed->watch->runtime->memory);
    for (size_t i = 0; i < ops->count && code == 0; i++)
        if (member_of(&ops->items[i]) == feed->member) code = share_op(&some, &ops->items[i]);
    if (code < 0)
        lose_track(feed, commit);
    else if (some.count)
        add_ops(feed, commit, &some);
    chordal__ops_dispose(&some);
}

void chordal__watch_changed(chordal__watch *watch, uint64_t commit, const chordal__ops *ops) {
    if (!ops->count) return;
    if (of_one_member(ops)) {
        chordal__feed *feed = feed_of(watch, member_of(&ops->items[0]));
        if (feed) add_ops(feed, commit, ops);
        return;
    }
    for (uint32_t i = 0; i < watch->feeds_len; i++) add_some_ops(&watch->feeds[i], commit, ops);
}

void chordal__watch_replaced(chordal__watch *watch, uint64_t commit) {
    for (uint32_t i = 0; i < watch->feeds_len; i++) owe_snapshot(&watch->feeds[i], commit);
}

void chordal__watch_replaced_packed(chordal__watch *watch, uint64_t commit, chordal__body *packed,
                                    const size_t *offsets) {
    watch->lost = false;
    for (uint32_t i = 0; i < watch->feeds_len; i++) {
        chordal__feed *feed = &watch->feeds[i];
        owe_snapshot(feed, commit);
        feed->packed = chordal__body_ref(packed);
        feed->packed_offset = offsets[feed->member];
        feed->packed_len = offsets[feed->member + 1] - offsets[feed->member];
    }
}

/* ---- opening and closing ---- */

static int make_feed(chordal__watch *watch, chordal__feed *feed, uint32_t member) {
    chordal__segment segment = {.index = member};
    feed->watch = watch;
    feed->member = member;
    chordal__event_init(&feed->event, CHORDAL__TELL_FEED);
    chordal__ops_init(&feed->ops, watch->runtime->memory);
    feed->path = chordal__path_new(watch->runtime->memory, &segment, 1);
    return feed->path ? 0 : CHORDAL_E_NOMEM;
}

void chordal__watch_unbind(chordal__watch *watch) {
    for (uint32_t i = 0; i < watch->feeds_len; i++) {
        chordal__feed *feed = &watch->feeds[i];
        if (feed->pending) block(watch, -1);
        if (feed->untaken) block(watch, -1);
        clear_feed(feed);
        chordal__ops_dispose(&feed->ops);
        chordal__untell(&feed->event);
        if (feed->path) chordal__path_unref(watch->runtime->memory, feed->path);
    }
    chordal__release(watch->runtime->memory, watch->feeds, watch->feeds_len * sizeof *watch->feeds);
    watch->feeds = NULL;
    watch->feeds_len = 0;
}

static uint32_t count_feeds(const chordal__watch *watch, const chordal__members *members) {
    uint32_t count = 0;
    if (watch->member != CHORDAL_ALL_MEMBERS) return watch->member < members->count && members->is_state[watch->member];
    for (uint32_t i = 0; i < members->count; i++) count += members->is_state[i];
    return count;
}

int chordal__watch_bind(chordal__watch *watch, const chordal__members *members) {
    chordal__watch_unbind(watch);
    uint32_t count = count_feeds(watch, members);
    if (!count) return 0;
    watch->feeds = chordal__allocate_zero(watch->runtime->memory, count * sizeof *watch->feeds);
    if (!watch->feeds) return CHORDAL_E_NOMEM;
    watch->feeds_len = count;
    int code = 0;
    for (uint32_t i = 0, k = 0; i < members->count; i++) {
        if (!members->is_state[i] || (watch->member != CHORDAL_ALL_MEMBERS && watch->member != i)) continue;
        int made = make_feed(watch, &watch->feeds[k++], i);
        if (made < 0) code = made;
    }
    if (code < 0) chordal__watch_unbind(watch);
    return code;
}

static chordal__watch *new_watch(chordal__runtime *runtime, uint32_t member, uint32_t flags) {
    chordal__watch *watch = chordal__allocate_zero(runtime->memory, sizeof *watch);
    if (!watch) return NULL;
    watch->runtime = runtime;
    watch->member = member;
    watch->flags = flags;
    chordal__list_init(&watch->node);
    chordal__list_init(&watch->observer.node);
    return watch;
}

chordal__watch *chordal__watch_kept(chordal__reference *reference) {
    bool manual = (reference->flags & CHORDAL_REFERENCE_MANUAL) != 0;
    chordal__watch *watch = new_watch(reference->runtime, CHORDAL_ALL_MEMBERS, manual ? CHORDAL_WATCH_MANUAL : 0);
    if (!watch) return NULL;
    watch->id = reference->id;
    watch->reference = reference;
    chordal__list_append(&reference->watches, &watch->node);
    return watch;
}

static void on_batch(chordal__observer *observer, uint64_t commit, chordal__ops *ops) {
    chordal__watch_changed(CHORDAL__ENTRY(observer, chordal__watch, observer), commit, ops);
}

static void on_state(chordal__observer *observer) {
    (void)observer;
}

static const chordal__observer_functions watch_observer = {on_batch, on_state};

static int open_on_object(chordal__watch *watch, chordal__object *object, chordal_error *error) {
    int code = chordal__watch_bind(watch, object->type->members);
    if (code < 0) return chordal__fail(error, code, 0, "no memory for a watch");
    if (!watch->feeds_len) return chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such document or derive");
    bool early = (watch->flags & CHORDAL_WATCH_EARLY) != 0;
    watch->object = object;
    watch->observer.functions = &watch_observer;
    chordal__object_pin(object);
    chordal__list_append(early ? &object->early : &object->observers, &watch->observer.node);
    chordal__list_append(&watch->runtime->watches, &watch->node);
    chordal__watch_replaced(watch, watch->runtime->commit_number);
    return 0;
}

static int open_on_reference(chordal__watch *watch, chordal__reference *reference, chordal_error *error) {
    if (watch->flags & CHORDAL_WATCH_EARLY || reference->kept)
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "this reference cannot be watched so");
    if (!reference->members && watch->member != CHORDAL_ALL_MEMBERS)
        return chordal__fail(error, CHORDAL_E_STATE, 0, "the reference was never live");
    if (reference->members) {
        int code = chordal__watch_bind(watch, reference->members);
        if (code < 0) return chordal__fail(error, code, 0, "no memory for a watch");
        if (!watch->feeds_len) return chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "no such document or derive");
    }
    watch->reference = reference;
    chordal__list_append(&reference->watches, &watch->node);
    if (reference->was_live) chordal__watch_replaced(watch, reference->commit);
    return 0;
}

int chordal__watch_open(chordal__runtime *runtime, chordal_id source, uint32_t member, uint32_t flags,
                        chordal__watch **out, chordal_error *error) {
    chordal__reference *reference = chordal__id_get(&runtime->ids, source, CHORDAL__ID_REFERENCE);
    chordal__object *object = reference ? NULL : chordal__id_get(&runtime->ids, source, CHORDAL__ID_OBJECT);
    if (!reference && !object) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "nothing to watch");
    if (flags & ~(uint32_t)(CHORDAL_WATCH_MANUAL | CHORDAL_WATCH_EARLY))
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "unknown flags");
    chordal__watch *watch = new_watch(runtime, member, flags);
    if (!watch) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a watch");
    watch->id = chordal__id_new(&runtime->ids, CHORDAL__ID_WATCH, watch, false);
    int code = watch->id ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a watch");
    if (code == 0) code = reference ? open_on_reference(watch, reference, error) : open_on_object(watch, object, error);
    if (code < 0) {
        chordal__watch_free(watch);
        return code;
    }
    *out = watch;
    return 0;
}

void chordal__watch_free(chordal__watch *watch) {
    chordal__runtime *runtime = watch->runtime;
    chordal__watch_unbind(watch);
    chordal__list_remove(&watch->node);
    chordal__list_remove(&watch->observer.node);
    if (watch->id && !(watch->reference && watch->reference->kept == watch))
        chordal__id_leave(&runtime->ids, watch->id);
    if (watch->reference && watch->reference->kept == watch) watch->reference->kept = NULL;
    chordal__object *object = watch->object;
    chordal__release(runtime->memory, watch, sizeof *watch);
    if (object) chordal__object_unpin(object);
}

/* ---- telling ---- */

static int write_op(chordal__feed *feed, chordal__buffer *out, uint8_t kind, chordal__node *value) {
    chordal__op op = {.kind = kind, .path = feed->path, .value = value};
    chordal__ops ops = {.memory = out->memory, .items = &op, .count = 1};
    chordal__ops_write(out, CHORDAL__ENCODING_BINARY, &ops, NULL);
    return out->failed;
}

static int write_whole(chordal__feed *feed, chordal__buffer *out) {
    chordal__watch *watch = feed->watch;
    chordal__node *value = watch->object ? watch->object->slots[feed->member].head
                                         : chordal__reference_value(watch->reference, feed->member);
    chordal__node *error = chordal__feed_error(feed);
    if (value) write_op(feed, out, CHORDAL_OP_REPLACE, value);
    if (error) write_op(feed, out, CHORDAL_OP_ERROR, error);
    return out->failed;
}

chordal__node *chordal__feed_error(const chordal__feed *feed) {
    const chordal__watch *watch = feed->watch;
    if (watch->object) return watch->object->slots[feed->member].error;
    return chordal__reference_error(watch->reference, feed->member);
}

int chordal__feed_write(chordal__feed *feed, chordal__buffer *out) {
    if (feed->packed)
        chordal__buffer_put(out, feed->packed->data + feed->packed_offset, feed->packed_len);
    else if (feed->snapshot)
        return write_whole(feed, out);
    chordal__ops_write(out, CHORDAL__ENCODING_BINARY, &feed->ops, NULL);
    return out->failed;
}

void chordal__feed_told(chordal__feed *feed) {
    clear_feed(feed);
    chordal__untell(&feed->event);
    if (feed->watch->flags & CHORDAL_WATCH_MANUAL)
        feed->untaken = true;
    else
        block(feed->watch, -1);
}

void chordal__watch_take(chordal__watch *watch) {
    for (uint32_t i = 0; i < watch->feeds_len; i++) {
        chordal__feed *feed = &watch->feeds[i];
        if (!feed->untaken) continue;
        feed->untaken = false;
        block(watch, -1);
        if (feed->pending) tell_feed(feed);
    }
}

void chordal__watch_reset(chordal__watch *watch) {
    if (keeps_value(watch)) /* a reference's commits are its provider's */
        chordal__watch_replaced(watch, watch->reference ? watch->reference->commit : watch->runtime->commit_number);
    else
        watch->reference->source->reset(watch->reference);
}
