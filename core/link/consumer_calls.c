/* consumer_calls.c: calls that references make over a session, in its slots. */
#include "link/link.h"

/* ---- slots ---- */

static void take_slot(chordal__consumer *consumer, int slot, chordal__call *call) {
    chordal__slot_used *place = &consumer->slots[slot];
    *place = (chordal__slot_used){.call = call, .request = consumer->requests++, .used = true};
    chordal__list_init(&place->node);
    chordal__list_append(&consumer->calls, &place->node);
    consumer->slots_used++;
}

static void free_slot(chordal__consumer *consumer, chordal__slot_used *place) {
    chordal__list_remove(&place->node);
    place->used = false;
    place->call = NULL;
    consumer->slots_used--;
}

/* ---- sending ---- */

static int slot_of(const chordal__consumer *consumer) {
    if (consumer->slots_used >= consumer->runtime->settings.call_limit) return -1;
    for (int i = 0; i < CHORDAL__SLOTS; i++)
        if (!consumer->slots[i].used) return i;
    return -1;
}

#define FEW_PARTS 4 /* for which no memory is asked */

static int argument_part(chordal__consumer *consumer, chordal__body *body, chordal__reader *reader,
                         chordal__part *out) {
    const uint8_t *start = reader->at, *bytes;
    size_t bytes_len;
    int code = chordal__arguments_next(consumer->runtime, reader, &bytes, &bytes_len, NULL);
    if (code < 0) return code;
    if (bytes) {
        *out = (chordal__part){.data = bytes, .len = bytes_len, .raw = true, .body = chordal__body_ref(body)};
        return 0;
    }
    return chordal__part_of_packed(consumer->runtime, consumer->encoding, start, (size_t)(reader->at - start), body,
                                   out);
}

/* Of a call whose outcome the provider's store keeps: the same wherever it is sent, so that it runs once. A browser's
 * calls have none. */
static bool has_key(chordal__runtime *runtime, chordal__call *call) {
    const chordal__settings *settings = &runtime->settings;
    if (call->durable) return runtime->now - call->keyed_at <= CHORDAL__DURABLE_KEEP / 2;
    call->durable = settings->entropy(settings->entropy_context, call->key, sizeof call->key) == 0;
    call->keyed_at = runtime->now;
    return call->durable;
}

static int send_call(chordal__consumer *consumer, chordal__remote *remote, chordal__call *call, uint32_t member,
                     int slot) {
    chordal__memory *memory = consumer->runtime->memory;
    chordal__reader reader = chordal__reader_of(call->arguments->data, call->arguments->len);
    chordal__message message = {.kind = CHORDAL__CALL, .origin = consumer->origin.number};
    uint64_t count, first = CHORDAL__STORE && call->durable;
    int code = chordal__arguments_begin(&reader, &count, NULL);
    if (code < 0) return CHORDAL_E_NOMEM;
    count += first;
    chordal__part few[FEW_PARTS] = {0};
    size_t size = count > FEW_PARTS ? (size_t)count * sizeof *few : 0;
    chordal__part *parts = size ? chordal__allocate_zero(memory, size) : few;
    if (!parts) return CHORDAL_E_NOMEM;
    if (first) parts[0] = (chordal__part){.data = call->key, .len = sizeof call->key, .raw = true};
    for (uint64_t i = first; i < count && code == 0; i++) {
        code = argument_part(consumer, call->arguments, &reader, &parts[i]);
        if (code == 0 && CHORDAL__DEFLATES && consumer->deflated) chordal__part_deflate(consumer->runtime, &parts[i]);
    }
    message.numbers[0] = (uint64_t)remote->number;
    message.numbers[1] = (uint64_t)slot;
    message.numbers[2] = member;
    message.list = parts;
    message.list_len = (size_t)count;
    if (first) message.flags = CHORDAL__FLAG_DURABLE;
    size_t bytes;
    if (code == 0) code = chordal__try_send(consumer->link, &message, &bytes);
    for (uint64_t i = 0; i < count; i++) chordal__body_unref(parts[i].body);
    if (size) chordal__release(memory, parts, size);
    return code;
}

static void refuse(chordal__call *call, int code, const char *words) {
    chordal__call_settle(call, code, NULL, 0, words, strlen(words), NULL, false);
}

static void send_one(chordal__consumer *consumer, chordal__remote *remote, chordal__call *call, int slot) {
    const chordal__members *members = remote->reference->members;
    int64_t member = chordal__call_member(call, members);
    if (member < 0 || members->items[member].kind != CHORDAL_MEMBER_METHOD) {
        refuse(call, CHORDAL_E_NO_MEMBER, CHORDAL__WORDS("the type has no such method"));
        return;
    }
    if (CHORDAL__STORE && members->items[member].durable && !has_key(consumer->runtime, call)) {
        refuse(call, CHORDAL_E_OUTCOME_UNKNOWN, CHORDAL__WORDS("it was called too long ago to be sent again"));
        return;
    }
    int code = send_call(consumer, remote, call, (uint32_t)member, slot);
    if (code < 0) {
        bool large = code == CHORDAL_E_SIZE;
        refuse(call, large ? code : CHORDAL_E_NOMEM,
               large ? CHORDAL__WORDS("the arguments are larger than the peer takes")
                     : CHORDAL__WORDS("no memory to send the call"));
        return;
    }
    take_slot(consumer, slot, call);
    call->slot = (uint32_t)slot;
    call->path = consumer;
    call->idempotent = members->items[member].idempotent;
    chordal__call_sent(call);
}

void chordal__consumer_send_calls(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    chordal__reference *reference = remote->reference;
    if (consumer->link->draining) return;
    while (remote->bound && reference->state == CHORDAL_REFERENCE_LIVE && !chordal__list_empty(&reference->parked)) {
        int slot = slot_of(consumer);
        if (slot < 0) {
            if (remote->hungry.next == &remote->hungry) chordal__list_append(&consumer->hungry, &remote->hungry);
            return;
        }
        send_one(consumer, remote, CHORDAL__ENTRY(reference->parked.next, chordal__call, node), slot);
    }
}

/* Each in its turn; one whose calls were settled meanwhile takes no slot. */
void chordal__consumer_feed_hungry(chordal__consumer *consumer) {
    while (!chordal__list_empty(&consumer->hungry) && slot_of(consumer) >= 0) {
        chordal__remote *remote = CHORDAL__ENTRY(consumer->hungry.next, chordal__remote, hungry);
        chordal__list_remove(&remote->hungry);
        chordal__consumer_send_calls(remote);
    }
}

/* ---- outcomes ---- */

static int take_value(chordal__consumer *consumer, const chordal__part *part, chordal__body **out,
                      chordal_error *error) {
    chordal__runtime *runtime = consumer->runtime;
    if (part->raw) {
        part = chordal__part_whole(runtime, part, error);
        if (!part) return error->code;
        *out = chordal__body_new(runtime->memory, part->len);
        if (!*out) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a result");
        if (part->len) memcpy((*out)->data, part->data, part->len);
        return 0;
    }
    chordal__buffer_clear(&runtime->scratch);
    int code = chordal__part_to_packed(runtime, consumer->encoding, part, &runtime->scratch, error);
    if (code < 0) return code;
    *out = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a result");
}

static void settle_error(chordal__call *call, const chordal__message *message) {
    static const char prefix[] = "method:";
    const char *name = (const char *)message->texts[0].data;
    size_t len = message->texts[0].len;
    int code = CHORDAL_E_METHOD;
    if (len >= sizeof prefix - 1 && memcmp(name, prefix, sizeof prefix - 1) == 0) {
        name += sizeof prefix - 1;
        len -= sizeof prefix - 1;
    } else {
        code = chordal__error_code(name, len);
        if (!code) code = CHORDAL_E_METHOD;
    }
    chordal__call_settle(call, code, name, len, (const char *)message->texts[1].data, message->texts[1].len, NULL,
                         false);
}

int chordal__consumer_outcome(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    uint64_t slot = message->numbers[0];
    if (slot >= CHORDAL__SLOTS || !consumer->slots[slot].used)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "an outcome of no call");
    chordal__call *call = consumer->slots[slot].call;
    chordal__body *value = NULL;
    if (call && message->kind == CHORDAL__RESULT) {
        int code = take_value(consumer, &message->parts[0], &value, error);
        if (code < 0) return code;
    }
    free_slot(consumer, &consumer->slots[slot]);
    chordal__consumer_took(consumer, message);
    if (call) {
        call->path = NULL;
        if (message->kind == CHORDAL__RESULT)
            chordal__call_settle(call, 0, NULL, 0, NULL, 0, value, message->parts[0].raw);
        else
            settle_error(call, message);
    }
    chordal__consumer_feed_hungry(consumer);
    return 0;
}

void chordal__consumer_cancel(chordal__reference *reference, chordal__call *call) {
    chordal__consumer *consumer = call->path;
    (void)reference;
    if (consumer && !consumer->away) chordal__send_simple(&consumer->origin, CHORDAL__CANCEL, call->slot);
}

/* Nobody waits any more: the slot stays taken until the provider's outcome frees it. */
void chordal__consumer_forget(chordal__reference *reference, chordal__call *call) {
    chordal__consumer *consumer = call->path;
    (void)reference;
    if (!consumer) return;
    call->path = NULL;
    consumer->slots[call->slot].call = NULL;
    if (!call->cancelled && !consumer->away) chordal__send_simple(&consumer->origin, CHORDAL__CANCEL, call->slot);
}

/* The session is gone: what was sent is unknown, but idempotent calls are sent again. Newest first, so that they go
 * back in order. */
static chordal__call *newest_of(const chordal__consumer *consumer, const chordal__reference *reference) {
    for (chordal__list *node = reference->sent.previous; node != &reference->sent; node = node->previous) {
        chordal__call *call = CHORDAL__ENTRY(node, chordal__call, node);
        if (call->path == consumer) return call;
    }
    return NULL;
}

static void lose_calls_of(chordal__consumer *consumer, const chordal__reference *reference) {
    static const char words[] = CHORDAL__WORDS("the link ended while the call was under way");
    chordal__call *call;
    while ((call = newest_of(consumer, reference)) != NULL) {
        call->path = NULL;
        consumer->slots[call->slot].call = NULL;
        if ((call->idempotent || (CHORDAL__STORE && call->durable)) && !call->cancelled)
            chordal__call_unsent(call);
        else
            chordal__call_settle(call, CHORDAL_E_OUTCOME_UNKNOWN, NULL, 0, words, sizeof words - 1, NULL, false);
    }
}

void chordal__consumer_calls_lost(chordal__consumer *consumer) {
    for (int i = 0; i < CHORDAL__SLOTS; i++)
        if (consumer->slots[i].call) lose_calls_of(consumer, consumer->slots[i].call->reference);
    for (int i = 0; i < CHORDAL__SLOTS; i++)
        if (consumer->slots[i].used) free_slot(consumer, &consumer->slots[i]);
}

/* ---- back ---- */

/* Whether the hold that a call was made on is still the one of its reference. */
static bool has_hold(const chordal__consumer *consumer, const chordal__call *call) {
    const chordal__remote *remote = chordal__remote_of(call->reference);
    return remote && remote->consumer == consumer && remote->bound;
}

/* A call that the provider did not receive goes again, in its slot. */
static void repeat(chordal__consumer *consumer, chordal__slot_used *place) {
    chordal__call *call = place->call;
    int64_t member = chordal__members_find(call->reference->members, call->method.data, call->method.len);
    int code = send_call(consumer, call->reference->hold, call, (uint32_t)member, (int)call->slot);
    place->request = consumer->requests++;
    if (code == CHORDAL_E_SIZE) {
        consumer->requests--;
        call->path = NULL;
        free_slot(consumer, place);
        refuse(call, CHORDAL_E_SIZE, CHORDAL__WORDS("the arguments are larger than the peer takes"));
    } else if (code < 0) {
        chordal__link_break(consumer->link, CHORDAL_E_NOMEM);
    }
}

/* One that was not received and cannot go again here is parked, or forgotten when nobody waits. Newest first, so that
 * they go back in order. */
static void take_back(chordal__consumer *consumer, uint64_t received) {
    chordal__list *node = consumer->calls.previous, *before;
    for (; node != &consumer->calls; node = before) {
        chordal__slot_used *place = CHORDAL__ENTRY(node, chordal__slot_used, node);
        chordal__call *call = place->call;
        before = node->previous;
        if (place->request < received) return;
        if (call && has_hold(consumer, call)) continue;
        free_slot(consumer, place);
        if (!call) continue;
        call->path = NULL;
        chordal__call_unsent(call);
    }
}

void chordal__consumer_repeat_calls(chordal__consumer *consumer, uint64_t received) {
    chordal__list *node, *next;
    take_back(consumer, received);
    for (node = consumer->calls.next; node != &consumer->calls; node = next) {
        chordal__slot_used *place = CHORDAL__ENTRY(node, chordal__slot_used, node);
        bool unwanted = !place->call || place->call->cancelled;
        next = node->next;
        if (place->request >= received) repeat(consumer, place);
        if (unwanted) chordal__send_simple(&consumer->origin, CHORDAL__CANCEL, (uint64_t)(place - consumer->slots));
    }
}
