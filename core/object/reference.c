/* reference.c: what a reference knows, wherever its object lives. */
#include "object/object.h"

int chordal__reference_new(chordal__runtime *runtime, const void *type, size_t type_len, uint32_t version,
                           uint32_t flags, chordal__body *params, chordal__reference **out, chordal_error *error) {
    chordal__reference *reference = chordal__allocate_zero(runtime->memory, sizeof *reference);
    if (!reference) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a reference");
    reference->runtime = runtime;
    reference->flags = flags;
    reference->version = version;
    reference->state = CHORDAL_REFERENCE_PENDING;
    chordal__event_init(&reference->event, CHORDAL__TELL_REFERENCE);
    chordal__list_init(&reference->watches);
    chordal__list_init(&reference->parked);
    chordal__list_init(&reference->sent);
    chordal__list_append(&runtime->references, &reference->node);
    reference->params = chordal__body_ref(params);
    int code = chordal__text_set(runtime->memory, &reference->type, type, type_len);
    if (code == 0) {
        reference->id = chordal__id_new(&runtime->ids, CHORDAL__ID_REFERENCE, reference, false);
        if (reference->id && flags & CHORDAL_REFERENCE_KEPT) reference->kept = chordal__watch_kept(reference);
        if (!reference->id || (flags & CHORDAL_REFERENCE_KEPT && !reference->kept)) code = CHORDAL_E_NOMEM;
    }
    if (code < 0) {
        chordal__reference_free(reference);
        return chordal__fail(error, code, 0, "no memory for a reference");
    }
    *out = reference;
    return 0;
}

static void drop_values(chordal__reference *reference) {
    chordal__runtime *runtime = reference->runtime;
    uint32_t count = reference->members ? reference->members->count : 0;
    for (uint32_t i = 0; i < count && reference->values; i++) {
        chordal__node_unref(runtime->memory, reference->values[i]);
        chordal__node_unref(runtime->memory, reference->errors[i]);
    }
    chordal__release(runtime->memory, reference->values, count * sizeof *reference->values);
    chordal__release(runtime->memory, reference->errors, count * sizeof *reference->errors);
    reference->values = reference->errors = NULL;
    chordal__members_unref(reference->members);
    reference->members = NULL;
}

static void settle_all(chordal__list *calls, int code, const char *words) {
    while (!chordal__list_empty(calls)) {
        chordal__call *call = CHORDAL__ENTRY(calls->next, chordal__call, node);
        int why = CHORDAL__STORE && call->durable ? CHORDAL_E_OUTCOME_UNKNOWN
                                                  : code; /* it may have run in a session before */
        chordal__call_settle(call, why, NULL, 0, words, strlen(words), NULL, false);
    }
}

void chordal__reference_free(chordal__reference *reference) {
    chordal__runtime *runtime = reference->runtime;
    settle_all(&reference->parked, CHORDAL_E_RELEASED, CHORDAL__WORDS("the reference was released"));
    settle_all(&reference->sent, CHORDAL_E_RELEASED, CHORDAL__WORDS("the reference was released"));
    while (!chordal__list_empty(&reference->watches))
        chordal__watch_free(CHORDAL__ENTRY(reference->watches.next, chordal__watch, node));
    if (reference->source) reference->source->release(reference);
    chordal__list_remove(&reference->node);
    chordal__untell(&reference->event);
    drop_values(reference);
    chordal__text_clear(runtime->memory, &reference->type);
    chordal__reason_clear(runtime->memory, &reference->reason);
    chordal__body_unref(reference->params);
    if (reference->id) chordal__id_leave(&runtime->ids, reference->id);
    chordal__release(runtime->memory, reference, sizeof *reference);
}

/* The source of a reference whose link was released. */
static void nothing(chordal__reference *reference) {
    (void)reference;
}
static void nothing_of(chordal__reference *reference, chordal__call *call) {
    (void)reference;
    (void)call;
}
static int no_retry(chordal__reference *reference) {
    (void)reference;
    return CHORDAL_E_CLOSED;
}
static void not_blocked(chordal__reference *reference, int change) {
    (void)reference;
    (void)change;
}
static const chordal__source_functions no_source = {nothing,  nothing, nothing_of, nothing_of,
                                                    no_retry, nothing, not_blocked};

static bool is_final(uint8_t state) {
    return state == CHORDAL_REFERENCE_FAILED || state == CHORDAL_REFERENCE_RETIRED ||
           state == CHORDAL_REFERENCE_REVOKED;
}

void chordal__reference_set_state(chordal__reference *reference, uint8_t state, int code, const char *detail,
                                  size_t detail_len) {
    chordal__runtime *runtime = reference->runtime;
    reference->state = state;
    chordal__reason_set(runtime->memory, &reference->reason, code, NULL, 0, detail, detail_len);
    chordal__tell(runtime, &reference->event);
    if (state == CHORDAL_REFERENCE_LIVE) {
        reference->was_live = true;
        reference->source->send(reference);
    } else if (is_final(state)) {
        const char *words = reference->reason.detail.data ? reference->reason.detail.data : "";
        settle_all(&reference->parked, code, words);
        if (state == CHORDAL_REFERENCE_REVOKED) settle_all(&reference->sent, CHORDAL_E_OUTCOME_UNKNOWN, words);
    }
}

void chordal__reference_orphan(chordal__reference *reference, int code) {
    static const char words[] = CHORDAL__WORDS("the link is closed");
    reference->source = &no_source;
    settle_all(&reference->sent, CHORDAL_E_OUTCOME_UNKNOWN, words);
    if (reference->state == CHORDAL_REFERENCE_RETIRED) return;
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, code ? code : CHORDAL_E_CLOSED, words,
                                 sizeof words - 1);
}

/* As if it never was live, so that the next try binds all watches. */
static void unbind(chordal__reference *reference) {
    for (chordal__list *node = reference->watches.next; node != &reference->watches; node = node->next)
        chordal__watch_unbind(CHORDAL__ENTRY(node, chordal__watch, node));
    drop_values(reference);
    reference->was_live = false;
}

bool chordal__reference_has(const chordal__reference *reference, const chordal__members *b) {
    const chordal__members *a = reference->members;
    if (a == b) return true;
    if (!a || a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const chordal__member *x = &a->items[i], *y = &b->items[i];
        if (x->kind != y->kind || !chordal__text_is(&x->name, y->name.data, y->name.len)) return false;
    }
    return true;
}

int chordal__reference_bind(chordal__reference *reference, chordal__members *members) {
    chordal__runtime *runtime = reference->runtime;
    if (chordal__reference_has(reference, members)) return 0;
    size_t size = members->count * sizeof(chordal__node *);
    chordal__node **values = chordal__allocate_zero(runtime->memory, size);
    chordal__node **errors = chordal__allocate_zero(runtime->memory, size);
    if (size && (!values || !errors)) {
        chordal__release(runtime->memory, values, size);
        chordal__release(runtime->memory, errors, size);
        return CHORDAL_E_NOMEM;
    }
    drop_values(reference);
    reference->values = values;
    reference->errors = errors;
    reference->members = chordal__members_ref(members);
    int code = 0;
    for (chordal__list *node = reference->watches.next; node != &reference->watches && code == 0; node = node->next)
        code = chordal__watch_bind(CHORDAL__ENTRY(node, chordal__watch, node), members);
    if (code < 0) unbind(reference);
    return code;
}

void chordal__reference_changed(chordal__reference *reference, uint64_t commit, const chordal__ops *ops) {
    reference->commit = commit;
    for (chordal__list *node = reference->watches.next; node != &reference->watches; node = node->next)
        chordal__watch_changed(CHORDAL__ENTRY(node, chordal__watch, node), commit, ops);
}

void chordal__reference_replaced(chordal__reference *reference, uint64_t commit) {
    reference->commit = commit;
    for (chordal__list *node = reference->watches.next; node != &reference->watches; node = node->next)
        chordal__watch_replaced(CHORDAL__ENTRY(node, chordal__watch, node), commit);
}

void chordal__reference_replaced_packed(chordal__reference *reference, uint64_t commit, chordal__body *packed,
                                        const size_t *offsets) {
    reference->commit = commit;
    chordal__watch_replaced_packed(reference->kept, commit, packed, offsets);
}

chordal__node *chordal__reference_value(const chordal__reference *reference, uint32_t member) {
    chordal__object *object = chordal__local_object(reference);
    if (!reference->members || member >= reference->members->count) return NULL;
    if (object) return object->slots[member].head;
    return reference->values[member];
}

chordal__node *chordal__reference_error(const chordal__reference *reference, uint32_t member) {
    chordal__object *object = chordal__local_object(reference);
    if (!reference->members || member >= reference->members->count) return NULL;
    if (object) return object->slots[member].error;
    return reference->errors[member];
}
