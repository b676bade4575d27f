/* consumer_state.c: what a provider tells of the objects that are held: bounds, changes, ends. */
#include "link/link.h"

/* ---- bound ---- */

int chordal__consumer_type(chordal__consumer *consumer, const chordal__text *name, uint32_t *out_type) {
    chordal__memory *memory = consumer->runtime->memory;
    void *types = consumer->types;
    for (size_t i = 0; i < consumer->types_len; i++) {
        *out_type = (uint32_t)i;
        if (chordal__text_is(&consumer->types[i].name, name->data, name->len)) return 0;
    }
    int code = chordal__grow(memory, &types, sizeof *consumer->types, &consumer->types_capacity,
                             consumer->types_len + 1, CHORDAL__TYPES_LIMIT);
    if (code < 0) return code;
    consumer->types = types;
    chordal__known_type type = {{NULL, 0}, NULL};
    code = chordal__text_set(memory, &type.name, name->data, name->len);
    if (code < 0) return code;
    *out_type = (uint32_t)consumer->types_len;
    consumer->types[consumer->types_len++] = type;
    return 0;
}

static int read_members(chordal__consumer *consumer, const chordal__part *part, chordal__members **out,
                        chordal_error *error) {
    chordal__runtime *runtime = consumer->runtime;
    chordal__buffer packed;
    chordal__node *table = NULL;
    chordal__buffer_init(&packed, runtime->memory, (size_t)runtime->settings.limits.size);
    int code = chordal__part_to_packed(runtime, consumer->encoding, part, &packed, error);
    if (code == 0)
        code = chordal__pack_read(runtime->memory, packed.data, packed.len, &runtime->settings.limits, &table, error);
    if (code == 0) code = chordal__members_read(runtime->memory, table, out, error);
    chordal__node_unref(runtime->memory, table);
    chordal__buffer_dispose(&packed);
    return code;
}

/* A type's members are told with its first bound, also of a hold that was given back meanwhile. */
static int members_of(chordal__consumer *consumer, const chordal__remote *remote, const chordal__part *part,
                      chordal__members **out, chordal_error *error) {
    chordal__known_type *type = &consumer->types[remote->type];
    if (!type->members && part->len == 0)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "a bound without its member table");
    int code = type->members ? 0 : read_members(consumer, part, &type->members, error);
    *out = type->members;
    return code;
}

static void swap(chordal__reference *reference, uint32_t member, chordal__member_value *with) {
    chordal__member_value kept = {reference->values[member], reference->errors[member]};
    reference->values[member] = with->value;
    reference->errors[member] = with->error;
    *with = kept;
}

/* The core keeps the values. */
static int take_values(chordal__remote *remote, const chordal__part *content, chordal_error *error) {
    chordal__reference *reference = remote->reference;
    chordal__runtime *runtime = reference->runtime;
    const chordal__members *members = reference->members;
    size_t size = members->count * sizeof(chordal__member_value);
    chordal__member_value *values = chordal__allocate_zero(runtime->memory, size);
    if (size && !values) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a snapshot");
    int code = chordal__snapshot_read(runtime->memory, remote->consumer->encoding, content->data, content->len,
                                      &remote->dictionary, remote->consumer->cut, values, members->is_state,
                                      members->count, &runtime->settings.limits, error);
    for (uint32_t i = 0; i < members->count; i++) {
        if (code == 0) swap(reference, i, &values[i]);
        chordal__node_unref(runtime->memory, values[i].value);
        chordal__node_unref(runtime->memory, values[i].error);
    }
    chordal__release(runtime->memory, values, size);
    if (code < 0) return code;
    chordal__reference_replaced(reference, remote->consumer->cut);
    return 0;
}

/* The program keeps the values: they are passed on as ops. */
static int pass_values(chordal__remote *remote, const chordal__part *content, chordal_error *error) {
    chordal__reference *reference = remote->reference;
    chordal__runtime *runtime = reference->runtime;
    const chordal__members *members = reference->members;
    size_t size = (members->count + 1) * sizeof(size_t);
    size_t *offsets = chordal__allocate_zero(runtime->memory, size);
    if (!offsets) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a snapshot");
    chordal__buffer_clear(&runtime->scratch);
    int code = chordal__snapshot_repack(runtime->memory, remote->consumer->encoding, content->data, content->len,
                                        &remote->dictionary, remote->consumer->cut, &runtime->scratch, offsets,
                                        members->is_state, members->count, &runtime->settings.limits, error);
    chordal__body *packed = code < 0 ? NULL : chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (packed) chordal__reference_replaced_packed(reference, remote->consumer->cut, packed, offsets);
    if (code == 0 && !packed) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a snapshot");
    chordal__body_unref(packed);
    chordal__release(runtime->memory, offsets, size);
    return code;
}

static int advance_cut(chordal__consumer *consumer, uint64_t step, chordal_error *error) {
    if (step > CHORDAL_NEVER - consumer->cut)
        return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "a cut beyond all numbers");
    consumer->cut += step;
    return 0;
}

void chordal__remote_stored(chordal__remote *remote, uint64_t since) {
    remote->since = since;
    memcpy(remote->run, remote->consumer->run, sizeof remote->run);
}

static int stage(chordal__consumer *consumer, chordal__remote *remote, const chordal__part *part, uint64_t cut,
                 chordal_error *error);
static int apply_staged(chordal__consumer *consumer, chordal_error *error);

/* The values are those that were left: what changed since is a change like any other, in a stream that is another. */
static int go_on(chordal__remote *remote, const chordal__part *content, chordal_error *error) {
    chordal__consumer *consumer = remote->consumer;
    chordal__dictionary_reset(&remote->dictionary, consumer->cut);
    int code = content->len ? stage(consumer, remote, content, consumer->cut, error) : 0;
    if (code == 0) code = apply_staged(consumer, error);
    if (code == 0) remote->reference->commit = consumer->cut;
    return code;
}

static int take_content(chordal__remote *remote, bool whole, const chordal__part *content, chordal_error *error) {
    content = chordal__part_whole(remote->reference->runtime, content, error);
    if (!content) return error->code;
    if (!whole) return go_on(remote, content, error);
    return remote->reference->kept ? pass_values(remote, content, error) : take_values(remote, content, error);
}

static int bind(chordal__remote *remote, chordal__members *members, const chordal__message *message,
                chordal_error *error) {
    chordal__reference *reference = remote->reference;
    chordal__consumer *consumer = remote->consumer;
    bool whole = message->numbers[2] == CHORDAL__BOUND_SNAPSHOT;
    if (!whole && !chordal__reference_has(reference, members)) {
        chordal__consumer_reset(reference); /* the type has changed: the values are of no use */
        return 0;
    }
    if (chordal__reference_bind(reference, members) < 0)
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the members");
    chordal__tell(reference->runtime, &reference->event); /* its members are told before their frames */
    int code = take_content(remote, whole, &message->parts[1], error);
    if (code < 0) return code;
    uint64_t back = message->numbers[3];
    chordal__remote_stored(remote, back && back <= consumer->cut ? consumer->cut - back + 2 : 0);
    remote->resumes = false;
    remote->bound = true;
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_LIVE, 0, NULL, 0);
    return 0;
}

int chordal__consumer_bound(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    int code;
    chordal__members *members = NULL;
    uint64_t number = message->numbers[0];
    chordal__remote *remote = chordal__consumer_remote(consumer, number, &code);
    if (code < 0) return chordal__fail(error, code, 0, "a bound for what is not held");
    if (message->numbers[2] != CHORDAL__BOUND_SNAPSHOT &&
        (message->numbers[2] > CHORDAL__BOUND_SNAPSHOT || !consumer->numbers[number]->resumes))
        return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "a bound that resumes what was not asked");
    if (remote && remote->retired) return chordal__fail(error, CHORDAL_E_ORDER, 0, "bound what is retired");
    code = advance_cut(consumer, message->numbers[1], error);
    if (code == 0) code = members_of(consumer, consumer->numbers[number], &message->parts[0], &members, error);
    if (code < 0) return code;
    chordal__consumer_took(consumer, message);
    return remote ? bind(remote, members, message, error) : 0;
}

/* ---- changes ---- */

void chordal__consumer_drop_staged(chordal__consumer *consumer) {
    for (size_t i = 0; i < consumer->staged_len; i++) chordal__ops_dispose(&consumer->staged[i].ops);
    consumer->staged_len = 0;
    consumer->staged_bytes = 0;
}

static int check_ops(const chordal__reference *reference, const chordal__ops *ops, chordal_error *error) {
    for (size_t i = 0; i < ops->count; i++) {
        const chordal__path *path = ops->items[i].path;
        if (path->count == 0 || path->segments[0].is_key || path->segments[0].index >= reference->members->count ||
            !reference->members->is_state[path->segments[0].index])
            return chordal__fail(error, CHORDAL_E_NO_MEMBER, 0, "a change of a member that is not there");
    }
    return 0;
}

static int stage(chordal__consumer *consumer, chordal__remote *remote, const chordal__part *part, uint64_t cut,
                 chordal_error *error) {
    chordal__runtime *runtime = consumer->runtime;
    part = chordal__part_whole(runtime, part, error);
    if (!part) return error->code;
    void *staged = consumer->staged;
    int code = chordal__grow(runtime->memory, &staged, sizeof *consumer->staged, &consumer->staged_capacity,
                             consumer->staged_len + 1, CHORDAL__HOLDS_LIMIT);
    if (code < 0) return chordal__fail(error, code, 0, "no room for a change");
    consumer->staged = staged;
    chordal__staged *place = &consumer->staged[consumer->staged_len];
    place->remote = remote;
    place->old = NULL;
    chordal__ops_init(&place->ops, runtime->memory);
    runtime->counters.parts_parsed++;
    code = chordal__ops_read(&place->ops, consumer->encoding, part->data, part->len, &remote->dictionary, cut,
                             &runtime->settings.limits, error);
    if (code >= 0) code = check_ops(remote->reference, &place->ops, error);
    if (code < 0) {
        chordal__ops_dispose(&place->ops);
        return code;
    }
    consumer->staged_len++;
    consumer->staged_bytes += sizeof *place + part->len + place->ops.weight;
    if (consumer->staged_bytes <= runtime->settings.queue_limit) return 0;
    return chordal__fail(error, CHORDAL_E_TOO_LARGE, 0, "a cut that does not end");
}

static int apply_op(chordal__reference *reference, const chordal__op *op, chordal_error *error) {
    chordal__runtime *runtime = reference->runtime;
    chordal__node **value = &reference->values[op->path->segments[0].index];
    if (op->kind == CHORDAL_OP_ERROR) {
        chordal__node **place = &reference->errors[op->path->segments[0].index];
        chordal__node_unref(runtime->memory, *place);
        *place = op->value ? chordal__node_ref(op->value) : NULL;
        return 0;
    }
    if (*value) return chordal__apply(runtime->memory, value, op, runtime->settings.limits.depth, error);
    if (op->kind != CHORDAL_OP_REPLACE) return chordal__fail(error, CHORDAL_E_PATH, 0, "a change of no value");
    *value = chordal__node_ref(op->value);
    return 0;
}

/* The values are kept as they were when they may have to come back. */
static int keep_old(chordal__staged *staged) {
    chordal__reference *reference = staged->remote->reference;
    uint32_t count = reference->members->count;
    staged->old = chordal__allocate_zero(reference->runtime->memory, count * sizeof *staged->old);
    if (!staged->old) return CHORDAL_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        if (reference->values[i]) staged->old[i].value = chordal__node_ref(reference->values[i]);
        if (reference->errors[i]) staged->old[i].error = chordal__node_ref(reference->errors[i]);
    }
    return 0;
}

static void drop_old(chordal__staged *staged, bool back) {
    chordal__reference *reference = staged->remote->reference;
    if (!staged->old) return;
    uint32_t count = reference->members->count;
    for (uint32_t i = 0; i < count; i++) {
        if (back) swap(reference, i, &staged->old[i]);
        chordal__node_unref(reference->runtime->memory, staged->old[i].value);
        chordal__node_unref(reference->runtime->memory, staged->old[i].error);
    }
    chordal__release(reference->runtime->memory, staged->old, count * sizeof *staged->old);
    staged->old = NULL;
}

/* A single op changes all or nothing by itself: nothing is kept for the last one. */
static int apply_ops(chordal__staged *staged, bool last, chordal_error *error) {
    chordal__reference *reference = staged->remote->reference;
    const chordal__ops *ops = &staged->ops;
    if (!reference || reference->kept || !ops->count) return 0;
    if (!(last && ops->count == 1) && keep_old(staged) < 0)
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a change");
    int code = 0;
    for (size_t i = 0; i < ops->count && code == 0; i++) code = apply_op(reference, &ops->items[i], error);
    return code;
}

/* All of a cut, or nothing. */
static int apply_staged(chordal__consumer *consumer, chordal_error *error) {
    chordal__staged *staged = consumer->staged;
    size_t len = consumer->staged_len, done = 0;
    int code = 0;
    for (; done < len && code == 0; done++) code = apply_ops(&staged[done], done + 1 == len, error);
    while (done) drop_old(&staged[--done], code < 0);
    for (; done < len && code == 0; done++) {
        chordal__remote *remote = staged[done].remote;
        if (consumer->durable) chordal__remote_stored(remote, consumer->cut + 1);
        if (remote->reference) chordal__reference_changed(remote->reference, consumer->cut, &staged[done].ops);
    }
    consumer->durable = false;
    chordal__consumer_drop_staged(consumer);
    return code;
}

int chordal__consumer_state(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    consumer->durable |= (message->flags & CHORDAL__FLAG_DURABLE) != 0;
    if (!consumer->in_cut) consumer->cut_before = consumer->cut;
    int moved = advance_cut(consumer, message->numbers[0], error);
    if (moved < 0) return moved;
    consumer->in_cut = (message->flags & CHORDAL__FLAG_MORE) != 0;
    for (size_t i = 0; i < message->list_len; i++) {
        int code;
        chordal__remote *remote = chordal__consumer_remote(consumer, message->holds[i], &code);
        if (code == 0 && remote && !remote->bound) code = CHORDAL_E_ORDER;
        if (code < 0) return chordal__fail(error, code, 0, "a change of what is not held");
        if (!remote) continue;
        if (message->list[i].raw) return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "a change in raw bytes");
        code = stage(consumer, remote, &message->list[i], consumer->cut, error);
        if (code < 0) return code;
    }
    if (consumer->in_cut) {
        consumer->prompt = true; /* it is large */
        return 0;
    }
    chordal__consumer_took(consumer, message);
    return apply_staged(consumer, error);
}

/* ---- ends ---- */

static int code_of_name(const uint8_t *name, size_t len) {
    int code = chordal__error_code((const char *)name, len);
    return code ? code : CHORDAL_E_METHOD;
}

int chordal__consumer_failed(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    int code;
    chordal__remote *remote = chordal__consumer_remote(consumer, message->numbers[0], &code);
    if (code < 0) return chordal__fail(error, code, 0, "failed what is not held");
    if (!remote) return 0;
    if (remote->retired) return chordal__fail(error, CHORDAL_E_ORDER, 0, "failed what is retired");
    remote->bound = false;
    bool revoked = message->kind == CHORDAL__REVOKED;
    chordal__reference_set_state(remote->reference, revoked ? CHORDAL_REFERENCE_REVOKED : CHORDAL_REFERENCE_FAILED,
                                 revoked ? CHORDAL_E_REVOKED
                                         : code_of_name(message->texts[0].data, message->texts[0].len),
                                 (const char *)message->texts[!revoked].data, message->texts[!revoked].len);
    return 0;
}

int chordal__consumer_retired(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    int code;
    chordal__remote *remote = chordal__consumer_remote(consumer, message->numbers[0], &code);
    if (code < 0) return chordal__fail(error, code, 0, "retired what is not held");
    if (!remote) return 0;
    if (remote->retired) return 0; /* said again */
    remote->bound = false;
    remote->retired = true;
    chordal__reference_set_state(remote->reference, CHORDAL_REFERENCE_RETIRED, CHORDAL_E_RETIRED, NULL, 0);
    return 0;
}
