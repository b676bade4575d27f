/* events.c: what is to be told, as packed records (chordal/record.h): one writer for each kind. */
#include "host/host.h"

/* ---- building ---- */

static void *begin(chordal_host *host, size_t size) {
    chordal__buffer_clear(&host->record);
    return chordal__buffer_extend(&host->record, size);
}

static chordal_span add(chordal_host *host, const void *data, size_t len) {
    chordal_span span = {(uint32_t)host->record.len, (uint32_t)len};
    if (len) chordal__buffer_put(&host->record, data, len);
    return span;
}

static chordal_span add_text(chordal_host *host, const chordal__text *text) {
    return add(host, text->data, text->len);
}

/* The fixed part is copied in last: while spans are added the buffer may move. */
static int end(chordal_host *host, void *fixed, size_t size, uint16_t kind, uint16_t flags) {
    static const uint8_t zeros[8] = {0};
    if (host->record.len % 8) chordal__buffer_put(&host->record, zeros, 8 - host->record.len % 8);
    if (host->record.failed) return CHORDAL_E_NOMEM;
    *(chordal_record *)fixed = (chordal_record){(uint32_t)host->record.len, kind, flags};
    memcpy(host->record.data, fixed, size);
    return 1;
}

void chordal__part_free(chordal_host *host, chordal__host_part *part) {
    chordal__list_remove(&part->node);
    chordal__body_unref(part->body);
    chordal__id_leave(&host->runtime.ids, part->id);
    chordal__release(host->memory, part, sizeof *part);
}

void chordal__drop_record(chordal_host *host) {
    chordal__host_part *part = chordal__id_get(&host->runtime.ids, host->record_part, CHORDAL__ID_PART);
    if (part) chordal__part_free(host, part);
    host->record_part = 0;
    host->record_waits = false;
}

static int new_part(chordal_host *host, chordal__body *body, chordal_part *out) {
    chordal__host_part *part = chordal__allocate_zero(host->memory, sizeof *part);
    if (!part) return CHORDAL_E_NOMEM;
    part->id = chordal__id_new(&host->runtime.ids, CHORDAL__ID_PART, part, true);
    if (!part->id) {
        chordal__release(host->memory, part, sizeof *part);
        return CHORDAL_E_NOMEM;
    }
    part->body = chordal__body_ref(body);
    chordal__list_append(&host->parts, &part->node);
    *out = (chordal_part){0, (uint32_t)body->len, part->id};
    host->record_part = part->id;
    return 0;
}

static int add_body(chordal_host *host, chordal__body *body, chordal_part *out) {
    *out = (chordal_part){0, 0, 0};
    if (!body) return 0;
    if (body->len > CHORDAL__INLINE_PART) return new_part(host, body, out);
    chordal_span span = add(host, body->data, body->len);
    *out = (chordal_part){span.offset, span.length, 0};
    return 0;
}

/* Bytes that were written into the runtime's scratch. */
static int add_scratch(chordal_host *host, chordal_part *out) {
    chordal__buffer *scratch = &host->runtime.scratch;
    if (scratch->failed) return CHORDAL_E_NOMEM;
    if (scratch->len <= CHORDAL__INLINE_PART) {
        chordal_span span = add(host, scratch->data, scratch->len);
        *out = (chordal_part){span.offset, span.length, 0};
        return 0;
    }
    chordal__body *body = chordal__body_of_buffer(host->memory, scratch);
    if (!body) return CHORDAL_E_NOMEM;
    int code = new_part(host, body, out);
    chordal__body_unref(body);
    return code;
}

#define BEGIN(NAME)                                                                                                    \
    chordal_event_##NAME e;                                                                                            \
    memset(&e, 0, sizeof e);                                                                                           \
    if (!begin(host, sizeof e)) return CHORDAL_E_NOMEM
#define END(NAME, flags) end(host, &e, sizeof e, CHORDAL_EVENT_##NAME, (uint16_t)(flags))

/* ---- one writer for each kind; each takes its event out of the queue only when the record is whole ---- */

static int write_link(chordal_host *host, chordal__event *event) {
    chordal__link *link = CHORDAL__ENTRY(event, chordal__link, event);
    char peer[33];
    BEGIN(LINK);
    e.link = link->id;
    e.state = link->state;
    e.code = link->reason.code;
    e.detail = add_text(host, &link->reason.detail);
    if (link->state == CHORDAL_LINK_UP) {
        chordal__route_name(link, peer);
        e.peer = add(host, peer, 32);
    }
    int code = END(LINK, 0);
    if (code != 1) return code;
    chordal__untell(event);
    chordal__link_told(link);
    return code;
}

static int write_output(chordal_host *host, chordal__event *event) {
    BEGIN(OUTPUT);
    e.link = CHORDAL__ENTRY(event, chordal__link, output)->id;
    int code = END(OUTPUT, 0);
    if (code == 1) chordal__untell(event);
    return code;
}

static int write_reference(chordal_host *host, chordal__event *event) {
    chordal__reference *reference = CHORDAL__ENTRY(event, chordal__reference, event);
    BEGIN(REFERENCE);
    e.reference = reference->id;
    e.state = reference->state;
    e.code = reference->reason.code;
    e.detail = add_text(host, &reference->reason.detail);
    if (reference->state == CHORDAL_REFERENCE_LIVE && reference->members) {
        chordal__buffer_clear(&host->runtime.scratch);
        chordal__members_write(reference->members, CHORDAL__ENCODING_BINARY, &host->runtime.scratch);
        if (add_scratch(host, &e.members) < 0) return CHORDAL_E_NOMEM;
    }
    int code = END(REFERENCE, 0);
    if (code == 1) chordal__untell(event);
    return code;
}

static int add_words(chordal_host *host, const chordal__node *error, chordal_span *out) {
    chordal__text text = {NULL, 0};
    int code = chordal__text_of_node(host->memory, chordal__node_at(error, 1), &text);
    if (code < 0) return code;
    *out = add_text(host, &text);
    chordal__text_clear(host->memory, &text);
    return 0;
}

static int write_feed(chordal_host *host, chordal__event *event) {
    chordal__feed *feed = CHORDAL__ENTRY(event, chordal__feed, event);
    chordal__watch *watch = feed->watch;
    const chordal__node *error = chordal__feed_error(feed);
    BEGIN(FRAME);
    e.watch = watch->id;
    e.source = watch->object ? watch->object->id : watch->reference->id;
    e.commit = feed->commit;
    e.member = feed->member;
    e.code = error ? CHORDAL_E_COMPUTE : 0;
    if (error && add_words(host, error, &e.detail) < 0) return CHORDAL_E_NOMEM;
    chordal__buffer_clear(&host->runtime.scratch);
    if (chordal__feed_write(feed, &host->runtime.scratch) < 0) return CHORDAL_E_NOMEM;
    if (add_scratch(host, &e.ops) < 0) return CHORDAL_E_NOMEM;
    int flags = (feed->snapshot ? CHORDAL_FRAME_SNAPSHOT : 0) | (feed->folded ? CHORDAL_FRAME_FOLDED : 0);
    int code = END(FRAME, flags);
    if (code != 1) return code;
    host->runtime.counters.frames++;
    chordal__feed_told(feed);
    return 1;
}

static int write_object(chordal_host *host, chordal__object *object, uint32_t state) {
    BEGIN(OBJECT);
    e.object = object->id;
    e.type = object->type->id;
    e.state = state;
    if (CHORDAL__STORE) e.version = object->stored_version;
    if (add_body(host, object->params, &e.params) < 0) return CHORDAL_E_NOMEM;
    return END(OBJECT, 0);
}

static int write_made(chordal_host *host, chordal__event *event) {
    chordal__object *object = CHORDAL__ENTRY(event, chordal__object, made);
    int code = write_object(host, object, CHORDAL_OBJECT_MADE);
    if (code != 1) return code;
    chordal__untell(event);
    object->known = true;
    return 1;
}

static int write_retired(chordal_host *host, chordal__event *event) {
    chordal__object *object = CHORDAL__ENTRY(event, chordal__object, retired);
    int code = write_object(host, object, CHORDAL_OBJECT_RETIRED);
    if (code != 1) return code;
    chordal__untell(event);
    chordal__object_told_retired(object);
    return 1;
}

static int add_authority(chordal_host *host, const chordal__caller *caller, chordal_part *out) {
    if (!CHORDAL__AUTHORITY || !caller->authority) return 0;
    return add_body(host, caller->authority->packed, out);
}

static int write_call(chordal_host *host, chordal__invocation *invocation) {
    BEGIN(CALL);
    e.call = invocation->id;
    e.object = invocation->object->id;
    e.origin = invocation->caller->origin;
    e.member = invocation->member;
    if (add_body(host, invocation->arguments, &e.arguments) < 0) return CHORDAL_E_NOMEM;
    if (add_authority(host, invocation->caller, &e.authority) < 0) return CHORDAL_E_NOMEM;
    return END(CALL, 0);
}

static uint32_t calls_at_once(const chordal_host *host) {
    return host->runtime.counters.live_sessions > 1 ? CHORDAL__CALLS_BESIDE : CHORDAL__CALLS_ALONE;
}

/* A caller's queue goes on; after a number in a row the rest waits for the next poll. */
static void next_of(chordal_host *host, chordal__event *event, const chordal__list *queue, uint32_t *burst,
                    uint32_t limit) {
    bool empty = chordal__list_empty(queue);
    if (!empty && ++*burst < limit) return;
    *burst = 0;
    chordal__untell(event);
    if (!empty) chordal__list_append(&host->runtime.later, &event->node);
}

/* One call of this caller. */
static int write_calls(chordal_host *host, chordal__event *event) {
    chordal__caller *caller = CHORDAL__ENTRY(event, chordal__caller, event);
    chordal__invocation *invocation = CHORDAL__ENTRY(caller->waiting.next, chordal__invocation, node);
    if (chordal__list_empty(&caller->waiting) || (CHORDAL__AUTHORITY && invocation->ask) ||
        (CHORDAL__STORE && invocation->durable && !chordal__durable_may_start(invocation))) {
        chordal__untell(event); /* nothing, or nothing before the guard's answer or its record */
        return chordal__next_record(host);
    }
    int code = write_call(host, invocation);
    if (code != 1) return code;
    chordal__list_remove(&invocation->node);
    invocation->told = true;
    chordal__id_own(&host->runtime.ids, invocation->id);
    host->runtime.counters.calls_run++;
    next_of(host, event, &caller->waiting, &caller->burst, calls_at_once(host));
    return 1;
}

static int write_cancel(chordal_host *host, chordal__event *event) {
    BEGIN(CANCEL);
    e.call = CHORDAL__ENTRY(event, chordal__invocation, cancel)->id;
    e.code = CHORDAL_E_CANCELLED;
    int code = END(CANCEL, 0);
    if (code == 1) chordal__untell(event);
    return code;
}

static int write_result(chordal_host *host, chordal__event *event) {
    chordal__call *call = CHORDAL__ENTRY(event, chordal__call, event);
    BEGIN(RESULT);
    e.call = call->id;
    e.code = call->reason.code;
    e.name = add_text(host, &call->reason.name);
    e.detail = add_text(host, &call->reason.detail);
    if (add_body(host, call->value, &e.value) < 0) return CHORDAL_E_NOMEM;
    int code = END(RESULT, call->raw ? CHORDAL_RESULT_BYTES : 0);
    if (code != 1) return code;
    chordal__id_disown(&host->runtime.ids, call->id);
    chordal__call_free(call);
    return 1;
}

static int write_ticket(chordal_host *host, chordal__event *event) {
    chordal__commit *commit = CHORDAL__ENTRY(event, chordal__commit, told);
    BEGIN(TICKET);
    e.ticket = commit->ticket;
    e.commit = commit->number;
    if (CHORDAL__STORE) e.code = commit->reason.code;
    if (CHORDAL__STORE) e.detail = add_text(host, &commit->reason.detail);
    int code = END(TICKET, 0);
    if (code == 1) chordal__commit_free(commit);
    return code;
}

static int write_compute(chordal_host *host, chordal__event *event) {
    chordal__compute *compute = CHORDAL__ENTRY(event, chordal__compute, event);
    BEGIN(COMPUTE);
    e.compute = compute->id;
    e.object = compute->object->id;
    e.member = compute->member;
    int code = END(COMPUTE, 0);
    if (code != 1) return code;
    chordal__untell(event);
    chordal__compute_told(compute);
    return 1;
}

#ifndef CHORDAL__NO_PLACES
static int write_resolve(chordal_host *host, chordal__event *event) {
    chordal__question *question = CHORDAL__ENTRY(event, chordal__question, event);
    BEGIN(RESOLVE);
    e.question = question->id;
    e.type = add_text(host, &question->type);
    if (add_body(host, question->params, &e.params) < 0) return CHORDAL_E_NOMEM;
    int code = END(RESOLVE, 0);
    if (code != 1) return code;
    chordal__untell(event);
    chordal__question_told(question);
    return 1;
}
#endif

#if CHORDAL__AUTHORITY
static int write_admission(chordal_host *host, chordal__event *event) {
    chordal__link *link = CHORDAL__ENTRY(event, chordal__link, admission);
    BEGIN(AUTHENTICATE);
    e.link = link->id;
    if (add_body(host, link->credentials, &e.credentials) < 0) return CHORDAL_E_NOMEM;
    int code = END(AUTHENTICATE, 0);
    if (code == 1) chordal__admission_told(link);
    return code;
}

static int write_guards(chordal_host *host, chordal__event *event) {
    chordal__caller *caller = CHORDAL__ENTRY(event, chordal__caller, asking);
    if (chordal__list_empty(&caller->asks)) {
        chordal__untell(event);
        return chordal__next_record(host);
    }
    chordal__ask *ask = CHORDAL__ENTRY(caller->asks.next, chordal__ask, node);
    BEGIN(GUARD);
    e.guard = ask->id;
    e.type = ask->type->id;
    e.origin = caller->origin;
    e.member = ask->member;
    if (add_body(host, ask->params, &e.params) < 0) return CHORDAL_E_NOMEM;
    if (add_authority(host, caller, &e.authority) < 0) return CHORDAL_E_NOMEM;
    int code = END(GUARD, 0);
    if (code != 1) return code;
    chordal__list_remove(&ask->node);
    next_of(host, event, &caller->asks, &caller->asks_burst, CHORDAL__ASKS_AT_ONCE);
    return 1;
}
#endif

typedef int (*writer)(chordal_host *host, chordal__event *event);
static const writer writers[] = {
    [CHORDAL__TELL_LINK] = write_link,           [CHORDAL__TELL_OUTPUT] = write_output,
    [CHORDAL__TELL_REFERENCE] = write_reference, [CHORDAL__TELL_FEED] = write_feed,
    [CHORDAL__TELL_MADE] = write_made,           [CHORDAL__TELL_RETIRED] = write_retired,
    [CHORDAL__TELL_CALLS] = write_calls,         [CHORDAL__TELL_CANCEL] = write_cancel,
    [CHORDAL__TELL_RESULT] = write_result,       [CHORDAL__TELL_TICKET] = write_ticket,
    [CHORDAL__TELL_COMPUTE] = write_compute,
#ifndef CHORDAL__NO_PLACES
    [CHORDAL__TELL_RESOLVE] = write_resolve,
#endif
#if CHORDAL__AUTHORITY
    [CHORDAL__TELL_ADMISSION] = write_admission, [CHORDAL__TELL_GUARDS] = write_guards,
#endif
};

static chordal__event *first(chordal__list *events) {
    return chordal__list_empty(events) ? NULL : CHORDAL__ENTRY(events->next, chordal__event, node);
}

/* While a batch settles only what is urgent is told; a derive's object must be known before it is asked to compute. */
static chordal__event *next_event(chordal_host *host) {
    chordal__runtime *runtime = &host->runtime;
    chordal__event *urgent = first(&runtime->urgent);
    if (urgent && urgent->kind == CHORDAL__TELL_COMPUTE) {
        chordal__object *object = CHORDAL__ENTRY(urgent, chordal__compute, event)->object;
        if (chordal__telling(&object->made)) return &object->made;
    }
    if (urgent || runtime->settling) return urgent;
    return first(&runtime->events);
}

int chordal__write_record(chordal_host *host) {
    chordal__event *event = next_event(host);
    if (!event) return 0;
    int code = writers[event->kind](host, event);
    if (code < 0) chordal__drop_record(host);
    return code;
}
