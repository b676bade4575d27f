/* stream.c: the changes of one exposed object, each encoded once for all that hold it.
 *
 * While a batch is published its ops are at hand (`current`) and those that have room are served from them. Then they
 * go into the log (stream_log.c), from which what a reader missed is folded when its window opens or its session is
 * back; beyond the log's bounds it gets whole values. */
#include "link/link.h"

#define WHOLE_WEIGHT 4096 /* a change below this is never compared with the values */

/* ---- life ---- */

static void drop_encoded(chordal__encoded *encoded) {
    chordal__body_unref(encoded->body);
    chordal__body_unref(encoded->deflated);
    *encoded = (chordal__encoded){0};
}

static void on_batch(chordal__observer *observer, uint64_t commit, chordal__ops *ops);
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
    chordal__list_init(&stream->aside);
    chordal__list_init(&stream->touched);
    chordal__list_init(&stream->warm);
    chordal__list_append(&object->observers, &stream->observer.node);
    chordal__object_pin(object);
    object->stream = stream;
    return stream;
}

void chordal__stream_release(chordal__stream *stream) {
    chordal__object *object = stream->object;
    chordal__memory *memory = object->runtime->memory;
    if (!chordal__list_empty(&stream->holds) || !chordal__list_empty(&stream->aside)) return;
    chordal__stream_clear_log(stream);
    chordal__release(memory, stream->log, stream->log_capacity * sizeof *stream->log);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < CHORDAL__STREAM_FOLDS; i++) drop_encoded(&stream->changes[e][i]);
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

static void on_batch(chordal__observer *observer, uint64_t commit, chordal__ops *ops) {
    chordal__stream *stream = CHORDAL__ENTRY(observer, chordal__stream, observer);
    /* Without memory no path is defined at this commit: all that is sent stays right, only longer. */
    (void)chordal__dictionary_note(&stream->dictionary, ops, commit);
    stream->before_current = stream->last;
    stream->last = commit;
    stream->current = ops;
    if (stream->touched.next == &stream->touched)
        chordal__list_append(&stream->object->runtime->links->touched, &stream->touched);
    for (chordal__list *node = stream->holds.next; node != &stream->holds; node = node->next)
        chordal__hold_changed(CHORDAL__ENTRY(node, chordal__hold, stream_node));
}

static void on_state(chordal__observer *observer) {
    chordal__stream *stream = CHORDAL__ENTRY(observer, chordal__stream, observer);
    chordal__list *lists[] = {&stream->aside, &stream->holds};
    for (int i = 0; i < 2; i++) {
        chordal__list *node = lists[i]->next;
        while (node != lists[i]) {
            chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, stream_node);
            node = node->next;
            chordal__hold_state(hold);
        }
    }
}

/* ---- encoding ---- */

chordal__part chordal__encoded_part(chordal__stream *stream, chordal__encoded *encoded, bool deflate) {
    chordal__body *whole = encoded->body, *body = whole;
    deflate = CHORDAL__DEFLATES && deflate;
    if (deflate && !encoded->tried) {
        encoded->deflated = chordal__body_deflate(stream->object->runtime, whole->data, whole->len);
        encoded->tried = true;
    }
    if (deflate && encoded->deflated) body = encoded->deflated;
    return (chordal__part){
        .data = body->data, .len = body->len, .whole = whole->len, .deflated = body != whole, .body = body};
}

/* What was written into the scratch buffer, or why it could not be. */
static int take_scratch(chordal__runtime *runtime, chordal__body **out) {
    int code = runtime->scratch.failed;
    *out = code ? NULL : chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (!code && !*out) code = CHORDAL_E_NOMEM;
    return code;
}

int chordal__stream_encode(chordal__stream *stream, uint8_t encoding, uint64_t from, const chordal__ops *ops,
                           chordal__body **out) {
    chordal__runtime *runtime = stream->object->runtime;
    chordal__buffer *buffer = &runtime->scratch;
    chordal__buffer_clear(buffer);
    chordal__change_write(buffer, encoding, &stream->dictionary, from, stream->last, ops);
    runtime->counters.changes_encoded++;
    return take_scratch(runtime, out);
}

int chordal__stream_add_whole(const chordal__stream *stream, uint32_t member, chordal__ops *ops) {
    const chordal__slot *slot = &stream->object->slots[member];
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
        if (members->is_state[i]) code = chordal__stream_add_whole(stream, i, ops);
    return code;
}

/* A change that weighs more than what it changes is sent as whole values. */
bool chordal__stream_outweighs(const chordal__stream *stream, const chordal__ops *ops) {
    const chordal__members *members = stream->object->type->members;
    uint64_t weight = 0;
    if (ops->weight < WHOLE_WEIGHT) return false;
    for (uint32_t i = 0; i < members->count && weight < ops->weight; i++)
        if (stream->object->slots[i].head) weight += chordal__node_weigh(stream->object->slots[i].head, ops->weight);
    return weight < ops->weight;
}

static int encode_fold(chordal__stream *stream, uint8_t encoding, uint64_t from, chordal__body **out) {
    chordal__ops ops;
    chordal__ops_init(&ops, stream->object->runtime->memory);
    bool whole = !chordal__stream_has(stream, from);
    int code = whole ? 0 : chordal__stream_fold(stream, from, &ops);
    if (code == 0 && !whole && chordal__stream_outweighs(stream, &ops)) {
        chordal__ops_clear(&ops);
        whole = true;
    }
    if (code == 0 && whole) code = whole_values(stream, &ops);
    if (code == 0) code = chordal__stream_encode(stream, encoding, from, &ops, out);
    chordal__ops_dispose(&ops);
    return code;
}

int chordal__stream_change(chordal__stream *stream, uint8_t encoding, uint64_t from, chordal__encoded **out) {
    chordal__encoded *made = stream->changes[encoding - 1];
    from = chordal__stream_border(stream, from);
    for (int i = 0; i < CHORDAL__STREAM_FOLDS; i++) {
        *out = &made[i];
        if (made[i].body && made[i].from == from && made[i].to == stream->last) return 0;
    }
    bool only_current = stream->current && from >= stream->before_current;
    chordal__body *body;
    int code = only_current ? chordal__stream_encode(stream, encoding, from, stream->current, &body)
                            : encode_fold(stream, encoding, from, &body);
    if (code < 0) return code;
    *out = &made[stream->next_change[encoding - 1]++ % CHORDAL__STREAM_FOLDS];
    drop_encoded(*out);
    **out = (chordal__encoded){.from = from, .to = stream->last, .body = body};
    return 0;
}

int chordal__stream_snapshot(chordal__stream *stream, uint8_t encoding, chordal__encoded **out) {
    chordal__runtime *runtime = stream->object->runtime;
    chordal__encoded *kept = &stream->snapshots[encoding - 1];
    const chordal__members *members = stream->object->type->members;
    *out = kept;
    if (kept->body && kept->to == stream->last) return 0;
    chordal__member_value *values = chordal__allocate_zero(runtime->memory, members->count * sizeof *values);
    if (members->count && !values) return CHORDAL_E_NOMEM;
    for (uint32_t i = 0; i < members->count; i++)
        values[i] = (chordal__member_value){stream->object->slots[i].head, stream->object->slots[i].error};
    chordal__buffer_clear(&runtime->scratch);
    chordal__snapshot_write(&runtime->scratch, encoding, &stream->dictionary, values, members->is_state,
                            members->count);
    chordal__release(runtime->memory, values, members->count * sizeof *values);
    chordal__body *body;
    int code = take_scratch(runtime, &body);
    if (code < 0) return code;
    runtime->counters.snapshots_encoded++;
    drop_encoded(kept);
    *kept = (chordal__encoded){.to = stream->last, .body = body};
    if (stream->warm.next == &stream->warm) chordal__list_append(&runtime->links->warm, &stream->warm);
    return 0;
}

void chordal__stream_cool(chordal__stream *stream) {
    for (int e = 0; e < 2; e++) drop_encoded(&stream->snapshots[e]);
    for (int e = 0; CHORDAL__STORE && e < 2; e++) drop_encoded(&stream->gaps[e]);
}
