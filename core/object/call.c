/* call.c: calls made here, parked until they can be sent, until their outcome. */
#include "object/object.h"

static int check_state(const chordal__reference *reference, chordal_error *error) {
    switch (reference->state) {
    case CHORDAL_REFERENCE_RETIRED:
    case CHORDAL_REFERENCE_REVOKED:
    case CHORDAL_REFERENCE_FAILED:
        return (chordal__fail)(error, reference->reason.code ? reference->reason.code : CHORDAL_E_STATE, 0,
                               reference->reason.detail.data ? reference->reason.detail.data
                                                             : CHORDAL__WORDS("the reference is dead"));
    default:
        break;
    }
    if (reference->parked_len >= reference->runtime->settings.parked_limit)
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many calls wait in this reference");
    return 0;
}

static int check_method(const chordal__reference *reference, const char *method, size_t len, chordal_error *error) {
    if (!reference->members) return 0;
    int64_t member = chordal__members_find(reference->members, method, len);
    if (member >= 0 && reference->members->items[member].kind == CHORDAL_MEMBER_METHOD) return 0;
    return chordal__fail_about(error, CHORDAL_E_NO_MEMBER, "the type has no method ", method, len);
}

int chordal__call_start(chordal__reference *reference, const char *method, size_t method_len, chordal__body *arguments,
                        chordal_time timeout, chordal__call **out, chordal_error *error) {
    chordal__runtime *runtime = reference->runtime;
    int code = check_state(reference, error);
    if (code == 0) code = check_method(reference, method, method_len, error);
    if (code < 0) return code;
    chordal__call *call = chordal__allocate_zero(runtime->memory, sizeof *call);
    if (!call) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a call");
    call->runtime = runtime;
    call->due.kind = CHORDAL__DUE_CALL;
    call->timeout = timeout;
    chordal__list_init(&call->node);
    chordal__list_init(&call->fresh);
    chordal__event_init(&call->event, CHORDAL__TELL_RESULT);
    code = chordal__text_set(runtime->memory, &call->method, method, method_len);
    if (code == 0 && timeout) code = chordal__heap_set(&runtime->deadlines, &call->due, CHORDAL_NEVER);
    if (code == 0) call->id = chordal__id_new(&runtime->ids, CHORDAL__ID_CALL, call, true);
    if (!call->id) {
        chordal__call_free(call);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a call");
    }
    call->arguments = arguments;
    call->reference = reference;
    if (timeout) chordal__list_append(&runtime->fresh, &call->fresh);
    chordal__list_append(&reference->parked, &call->node);
    reference->parked_len++;
    *out = call;
    if (reference->state == CHORDAL_REFERENCE_LIVE) reference->source->send(reference);
    return 0;
}

void chordal__call_sent(chordal__call *call) {
    chordal__list_remove(&call->node);
    call->reference->parked_len--;
    chordal__list_append(&call->reference->sent, &call->node);
    call->sent = true;
}

void chordal__call_unsent(chordal__call *call) {
    chordal__list_remove(&call->node);
    call->reference->parked_len++;
    call->node.next = call->reference->parked.next;
    call->node.previous = &call->reference->parked;
    call->node.next->previous = &call->node;
    call->reference->parked.next = &call->node;
    call->sent = false;
}

static void leave_reference(chordal__call *call) {
    chordal__reference *reference = call->reference;
    if (!reference) return;
    chordal__list_remove(&call->node);
    if (call->sent)
        reference->source->forget(reference, call);
    else
        reference->parked_len--;
    call->reference = NULL;
    chordal__list_remove(&call->fresh);
    chordal__heap_remove(&call->runtime->deadlines, &call->due);
    chordal__body_unref(call->arguments);
    call->arguments = NULL;
}

void chordal__call_settle(chordal__call *call, int code, const char *name, size_t name_len, const char *detail,
                          size_t detail_len, chordal__body *value, bool raw) {
    chordal__reason_set(call->runtime->memory, &call->reason, code, name, name_len, detail, detail_len);
    call->settled = true;
    call->value = value;
    call->raw = raw;
    leave_reference(call);
    chordal__list_append(&call->runtime->settled, &call->node);
    chordal__tell(call->runtime, &call->event);
}

void chordal__call_cancel(chordal__call *call) {
    if (call->settled || call->cancelled) return;
    call->cancelled = true;
    if (call->sent)
        call->reference->source->cancel(call->reference, call);
    else
        chordal__call_settle(call, CHORDAL_E_CANCELLED, NULL, 0, NULL, 0, NULL, false);
}

/* The time is only known in a turn: what was started between two of them counts from the later one. */
void chordal__calls_start_timeouts(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->fresh)) {
        chordal__call *call = CHORDAL__ENTRY(runtime->fresh.next, chordal__call, fresh);
        chordal__list_remove(&call->fresh);
        chordal__heap_set(&runtime->deadlines, &call->due, runtime->now + call->timeout);
    }
}

void chordal__call_expired(chordal__call *call) {
    static const char words[] = CHORDAL__WORDS("no outcome before the deadline");
    chordal__call_settle(call, CHORDAL_E_DEADLINE, NULL, 0, words, sizeof words - 1, NULL, false);
}

void chordal__call_free(chordal__call *call) {
    chordal__memory *memory = call->runtime->memory;
    leave_reference(call);
    chordal__heap_remove(&call->runtime->deadlines, &call->due);
    chordal__list_remove(&call->node);
    chordal__untell(&call->event);
    chordal__text_clear(memory, &call->method);
    chordal__reason_clear(memory, &call->reason);
    chordal__body_unref(call->arguments);
    chordal__body_unref(call->value);
    if (call->id) chordal__id_leave(&call->runtime->ids, call->id);
    chordal__release(memory, call, sizeof *call);
}

void chordal__calls_dispose(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->settled))
        chordal__call_free(CHORDAL__ENTRY(runtime->settled.next, chordal__call, node));
}
