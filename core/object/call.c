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

static int find_method(const chordal__reference *reference, const char *method, size_t len, int64_t *out,
                       chordal_error *error) {
    if (!reference->members) return 0;
    *out = chordal__members_find(reference->members, method, len);
    if (*out >= 0 && reference->members->items[*out].kind == CHORDAL_MEMBER_METHOD) return 0;
    return chordal__fail_about(error, CHORDAL_E_NO_MEMBER, CHORDAL__WORDS("the type has no method "), method, len);
}

static size_t size_of(const chordal__call *call) {
    return sizeof *call + call->method.len + 1;
}

/* One block, with the method's name. */
static chordal__call *new_call(chordal__runtime *runtime, const char *method, size_t method_len) {
    chordal__call *call = chordal__allocate(runtime->memory, sizeof *call + method_len + 1);
    if (!call) return NULL;
    memset(call, 0, sizeof *call);
    call->runtime = runtime;
    call->method = (chordal__text){(char *)(call + 1), method_len};
    if (method_len) memcpy(call->method.data, method, method_len);
    call->method.data[method_len] = 0;
    call->due.kind = CHORDAL__DUE_CALL;
    chordal__list_init(&call->node);
    chordal__list_init(&call->fresh);
    chordal__event_init(&call->event, CHORDAL__TELL_RESULT);
    return call;
}

int chordal__call_start(chordal__reference *reference, const char *method, size_t method_len, chordal__body *arguments,
                        chordal_time timeout, chordal__call **out, chordal_error *error) {
    chordal__runtime *runtime = reference->runtime;
    int64_t member = -1;
    int code = check_state(reference, error);
    if (code == 0) code = find_method(reference, method, method_len, &member, error);
    if (code < 0) return code;
    chordal__call *call = new_call(runtime, method, method_len);
    if (!call) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a call");
    call->timeout = timeout;
    call->member = member;
    if (timeout) code = chordal__heap_set(&runtime->deadlines, &call->due, CHORDAL_NEVER);
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
    call->member = -1; /* the members may be others when it is sent later */
    return 0;
}

int64_t chordal__call_member(const chordal__call *call, const chordal__members *members) {
    bool known = !CHORDAL__SMALL && call->member >= 0 && call->reference->members == members;
    return known ? call->member : chordal__members_find(members, call->method.data, call->method.len);
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
    chordal__reason_clear(memory, &call->reason);
    chordal__body_unref(call->arguments);
    chordal__body_unref(call->value);
    if (call->id) chordal__id_leave(&call->runtime->ids, call->id);
    chordal__release(memory, call, size_of(call));
}

void chordal__calls_dispose(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->settled))
        chordal__call_free(CHORDAL__ENTRY(runtime->settled.next, chordal__call, node));
}
