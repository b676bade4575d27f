/* stream.c: the changes of one exposed object, each encoded once for all that hold it.
 *
 * While a batch is published its ops are at hand (`current`) and those that have room are served from them. Only when
 * some hold lags are the ops copied into the log, from which what it missed is folded when its window opens; beyond the
 * log's bounds it gets whole values. */
#include "link/link.h"

/* ---- life ---- */

static void on_batch(chordal__observer *observer, uint64_t commit, const chordal__ops *ops);
static void on_state(chordal__observer *observer);
static const chordal__observer_functions stream_observer = {on_batch, on_state};

chordal__stream *chordal__stream_of(chordal__object *object) {
    chordal__runtime *runtime = object->runtime;
    if (object->stream) return object->stream;
    chordal__stream *stream = chordal__allocate_zero(runtime->memory, sizeof *stream);
    if (!stream) return NULL;
    if (chordal__dictionary_init(&stream->dictionary, runtime->memory, runtime->settings.dictionary_limit,
                                 runtime->seed) < 0) {
        chordal__release(runtime->memory, stream, sizeof *stream);
        return NULL;
    }
    stream->object = object;
    stream->last = stream->log_from = runtime->commit_number;
    stream->observer.functions = &stream_observer;
    chordal__list_init(&stream->holds);
    chordal__list_init(&stream->touched);
    chordal__list_init(&stream->warm);
    chordal__list_append(&object->observers, &stream->observer.node);
    chordal__object_pin(object);
    object->stream = stream;
    return stream;
}

static void clear_log(chordal__stream *stream) {
    for (size_t i = 0; i < stream->log_len; i++) chordal__ops_dispose(&stream->log[i].ops);
    stream->log_len = 0;
    stream->log_weight = 0;
    stream->log_from = stream->last;
}

void chordal__stream_release(chordal__stream *stream) {
    chordal__object *object = stream->object;
    chordal__memory *memory = object->runtime->memory;
    if (!chordal__list_empty(&stream->holds)) return;
    clear_log(stream);
    chordal__release(memory, stream->log, stream->log_capacity * sizeof *stream->log);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < CHORDAL__STREAM_FOLDS; i++) chordal__body_unref(stream->changes[e][i].body);
    chordal__stream_cool(stream);
    chordal__dictionary_dispose(&stream->dictionary);
    chordal__list_remove(&stream->touched);
    chordal__list_remove(&stream->warm);
    chordal__list_remove(&stream->observer.node);
    object->stream = NULL;
    chordal__release(memory, stream, sizeof *stream);
    chordal__object_unpin(object);
}

/* ---- what happens to the object ---- */

static void on_batch(chordal__observer *observer, uint64_t commit, const chordal__ops *ops) {
    chordal__stream *stream = CHORDAL__ENTRY(observer, chordal__stream, observer);
    /* Without memory no path is defined at this commit: all that is sent stays right, only longer. */
    (void)chordal__dictionary_note(&stream->dictionary, ops, commit);
    stream->last = commit;
    stream->current = ops;
    if (stream->touched.next == &stream->touched)
        chordal__list_append(&stream->object->runtime->links->touched, &stream->touched);
    for (chordal__list *node = stream->holds.next; node != &stream->holds; node = node->next)
        chordal__hold_changed(CHORDAL__ENTRY(node, chordal__hold, stream_node));
}

static void on_state(chordal__observer *observer) {
    chordal__stream *stream = CHORDAL__ENTRY(observer, chordal__stream, observer);
    for (chordal__list *node = stream->holds.next; node != &stream->holds; node = node->next)
        chordal__hold_state(CHORDAL__ENTRY(node, chordal__hold, stream_node));
}

static int log_current(chordal__stream *stream) {
    chordal__memory *memory = stream->object->runtime->memory;
    void *log = stream->log;
    if (chordal__grow(memory, &log, sizeof *stream->log, &stream->log_capacity, stream->log_len + 1,
                      CHORDAL__STREAM_LOG_COUNT) < 0)
        return CHORDAL_E_LIMIT;
    stream->log = log;
    chordal__logged *entry = &stream->log[stream->log_len];
    entry->commit = stream->last;
    chordal__ops_init(&entry->ops, memory);
    if (chordal__ops_append(&entry->ops, stream->current) < 0) {
        chordal__ops_dispose(&entry->ops);
        return CHORDAL_E_NOMEM;
    }
    stream->log_len++;
    stream->log_weight += entry->ops.weight;
    return 0;
}

/* ---- the log's bounds: what no reader tells apart becomes one entry; beyond that the oldest goes ---- */

static size_t entries_seen(const chordal__stream *stream, uint64_t seen) {
    size_t low = 0, high = stream->log_len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stream->log[middle].commit <= seen)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* borders[i]: some reader has seen entry i - 1 and not entry i. */
static void find_borders(const chordal__stream *stream, bool *borders) {
    memset(borders, 0, CHORDAL__STREAM_LOG_COUNT + 1);
    for (const chordal__list *node = stream->holds.next; node != &stream->holds; node = node->next) {
        const chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, stream_node);
        if (chordal__hold_lags(hold)) borders[entries_seen(stream, hold->seen)] = true;
    }
}

static int merge_entries(chordal__stream *stream) {
    bool borders[CHORDAL__STREAM_LOG_COUNT + 1];
    size_t kept = 0;
    find_borders(stream, borders);
    for (size_t i = 1; i < stream->log_len; i++) {
        chordal__logged *entry = &stream->log[i];
        if (borders[i]) {
            stream->log[++kept] = *entry;
            continue;
        }
        if (chordal__fold(&stream->log[kept].ops, &entry->ops) < 0) {
            while (i < stream->log_len) stream->log[++kept] = stream->log[i++];
            stream->log_len = kept + 1;
            return CHORDAL_E_NOMEM;
        }
        stream->log[kept].commit = entry->commit;
        chordal__ops_dispose(&entry->ops);
        stream->object->runtime->counters.folds++;
    }
    stream->log_len = kept + 1;
    return 0;
}

static void drop_oldest(chordal__stream *stream, size_t count) {
    for (size_t i = 0; i < count; i++) chordal__ops_dispose(&stream->log[i].ops);
    stream->log_from = stream->log[count - 1].commit;
    stream->log_len -= count;
    memmove(stream->log, stream->log + count, stream->log_len * sizeof *stream->log);
}

static uint64_t weigh_log(chordal__stream *stream) {
    uint64_t weight = 0;
    for (size_t i = 0; i < stream->log_len; i++) weight += stream->log[i].ops.weight;
    return weight;
}

static int shorten_log(chordal__stream *stream) {
    if (merge_entries(stream) < 0) return CHORDAL_E_NOMEM;
    if (stream->log_len > CHORDAL__STREAM_BORDERS) drop_oldest(stream, stream->log_len - CHORDAL__STREAM_BORDERS);
    while ((stream->log_weight = weigh_log(stream)) > CHORDAL__STREAM_LOG_WEIGHT) drop_oldest(stream, 1);
    return 0;
}

static bool log_is_full(const chordal__stream *stream) {
    return stream->log_len == CHORDAL__STREAM_LOG_COUNT || stream->log_weight > CHORDAL__STREAM_LOG_WEIGHT;
}

void chordal__stream_published(chordal__stream *stream) {
    if (!stream->current) return;
    bool kept = stream->lagging && log_current(stream) == 0;
    if (kept && log_is_full(stream)) kept = shorten_log(stream) == 0;
    if (!kept) clear_log(stream);
    stream->current = NULL;
}

/* ---- encoding ---- */

static chordal__body *encode(chordal__stream *stream, uint8_t encoding, uint64_t from, const chordal__ops *ops) {
    chordal__runtime *runtime = stream->object->runtime;
    chordal__buffer *buffer = &runtime->scratch;
    chordal__buffer_clear(buffer);
    chordal__change_write(buffer, encoding, &stream->dictionary, from, stream->last, ops);
    runtime->counters.changes_encoded++;
    return chordal__body_of_buffer(runtime->memory, buffer);
}

static int push_whole(chordal__ops *ops, uint32_t member, const chordal__slot *slot) {
    chordal__segment segment = {.index = member};
    int code = 0;
    for (int error = 0; error < 2 && code == 0; error++) {
        if (!error && !slot->head) continue;
        chordal__op op = {.kind = error ? CHORDAL_OP_ERROR : CHORDAL_OP_REPLACE};
        chordal__node *value = error ? slot->error : slot->head;
        op.path = chordal__path_new(ops->memory, &segment, 1);
        if (!op.path) return CHORDAL_E_NOMEM;
        op.value = value ? chordal__node_ref(value) : NULL;
        code = chordal__ops_push(ops, op);
    }
    return code;
}

/* Whole values in place of changes that are not kept. */
static int whole_values(chordal__stream *stream, chordal__ops *ops) {
    const chordal__members *members = stream->object->type->members;
    int code = 0;
    for (uint32_t i = 0; i < members->count && code == 0; i++)
        if (members->is_state[i]) code = push_whole(ops, i, &stream->object->slots[i]);
    return code;
}

static int fold_log(chordal__stream *stream, uint64_t from, chordal__ops *ops) {
    chordal__runtime *runtime = stream->object->runtime;
    int code = 0;
    for (size_t i = 0; i < stream->log_len && code == 0; i++) {
        if (stream->log[i].commit <= from) continue;
        code = chordal__fold(ops, &stream->log[i].ops);
        runtime->counters.folds++;
    }
    if (code == 0 && stream->current) code = chordal__fold(ops, stream->current);
    return code;
}

static chordal__body *encode_fold(chordal__stream *stream, uint8_t encoding, uint64_t from) {
    chordal__ops ops;
    chordal__ops_init(&ops, stream->object->runtime->memory);
    int code = from < stream->log_from ? whole_values(stream, &ops) : fold_log(stream, from, &ops);
    chordal__body *body = code < 0 ? NULL : encode(stream, encoding, from, &ops);
    chordal__ops_dispose(&ops);
    return body;
}

/* The newest change that a reader at `from` has seen: readers between two changes share what comes next. */
static uint64_t round_down(const chordal__stream *stream, uint64_t from) {
    uint64_t seen = stream->log_from;
    if (from < seen) return from;
    for (size_t i = 0; i < stream->log_len && stream->log[i].commit <= from; i++) seen = stream->log[i].commit;
    return seen;
}

chordal__body *chordal__stream_change(chordal__stream *stream, uint8_t encoding, uint64_t from) {
    chordal__encoded *made = stream->changes[encoding - 1];
    from = round_down(stream, from);
    for (int i = 0; i < CHORDAL__STREAM_FOLDS; i++)
        if (made[i].body && made[i].from == from && made[i].to == stream->last) return made[i].body;
    bool only_current = stream->current && from >= stream->log_from && !stream->log_len;
    chordal__body *body =
        only_current ? encode(stream, encoding, from, stream->current) : encode_fold(stream, encoding, from);
    if (!body) return NULL;
    chordal__encoded *place = &made[stream->next_change[encoding - 1]++ % CHORDAL__STREAM_FOLDS];
    chordal__body_unref(place->body);
    *place = (chordal__encoded){from, stream->last, body};
    return body;
}

chordal__body *chordal__stream_snapshot(chordal__stream *stream, uint8_t encoding) {
    chordal__runtime *runtime = stream->object->runtime;
    chordal__encoded *kept = &stream->snapshots[encoding - 1];
    const chordal__members *members = stream->object->type->members;
    if (kept->body && kept->to == stream->last) return kept->body;
    chordal__member_value *values = chordal__allocate_zero(runtime->memory, members->count * sizeof *values);
    if (members->count && !values) return NULL;
    for (uint32_t i = 0; i < members->count; i++)
        values[i] = (chordal__member_value){stream->object->slots[i].head, stream->object->slots[i].error};
    chordal__buffer_clear(&runtime->scratch);
    chordal__snapshot_write(&runtime->scratch, encoding, &stream->dictionary, values, members->is_state,
                            members->count);
    chordal__release(runtime->memory, values, members->count * sizeof *values);
    chordal__body *body = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (!body) return NULL;
    runtime->counters.snapshots_encoded++;
    chordal__body_unref(kept->body);
    *kept = (chordal__encoded){0, stream->last, body};
    if (stream->warm.next == &stream->warm) chordal__list_append(&runtime->links->warm, &stream->warm);
    return body;
}

void chordal__stream_cool(chordal__stream *stream) {
    for (int e = 0; e < 2; e++) {
        chordal__body_unref(stream->snapshots[e].body);
        stream->snapshots[e].body = NULL;
    }
}
