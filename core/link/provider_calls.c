/* provider_calls.c: calls that a session makes here. */
#include "link/link.h"

static int add_argument(chordal__runtime *runtime, uint8_t encoding, const chordal__part *part, chordal__buffer *out,
                        chordal_error *error) {
    if (!part->raw) return chordal__part_to_packed(runtime, encoding, part, out, error);
    part = chordal__part_whole(runtime, part, error);
    if (!part) return error->code;
    chordal__pack_write_bytes(out, part->data, part->len);
    return 0;
}

static int read_arguments(chordal__provider *provider, const chordal__message *message, chordal__body **out,
                          chordal_error *error) {
    chordal__runtime *runtime = provider->runtime;
    chordal__buffer *buffer = &runtime->scratch;
    if (message->list_len > CHORDAL__ARGUMENTS_LIMIT)
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many arguments");
    chordal__buffer_clear(buffer);
    chordal__pack_write_array(buffer, message->list_len);
    int code = 0;
    for (size_t i = 0; i < message->list_len && code == 0; i++)
        code = add_argument(runtime, provider->encoding, &message->list[i], buffer, error);
    if (code == 0 && buffer->len > (size_t)runtime->settings.limits.size * 2)
        code = chordal__fail(error, CHORDAL_E_SIZE, 0, "no room for a value");
    if (code == 0) {
        *out = chordal__body_of_buffer(runtime->memory, buffer);
        if (!*out) code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the arguments");
    }
    return code;
}

/* What begins to be known by the store, if it has a key, and is asked about. */
static void admit(const chordal__hold *hold, chordal__invocation *invocation, const uint8_t *key) {
    if (CHORDAL__STORE && key) chordal__durable_begin(invocation, key);
    if (CHORDAL__AUTHORITY && !invocation->answered) chordal__hold_ask_call(hold, invocation);
    if (CHORDAL__STORE && invocation->durable) chordal__durable_record(invocation);
}

/* A call that cannot be run is answered in line with the others; `arguments` NULL: there was no memory for them. */
static int run(chordal__provider *provider, chordal__hold *hold, const chordal__message *message,
               chordal__body *arguments, const uint8_t *key) {
    uint64_t slot = message->numbers[1], member = message->numbers[2];
    const chordal__members *members = hold->object->type->members;
    bool method = member < members->count && members->items[member].kind == CHORDAL_MEMBER_METHOD;
    chordal__invocation *invocation =
        chordal__invoke(&provider->caller, hold->object, method ? (uint32_t)member : 0, arguments);
    if (!invocation) return CHORDAL_E_NOMEM;
    invocation->slot = (uint32_t)slot;
    provider->slots[slot] = invocation;
    if (!arguments)
        chordal__invocation_fail(invocation, CHORDAL_E_NOMEM, NULL, 0, NULL, 0);
    else if (!method)
        chordal__invocation_fail(invocation, CHORDAL_E_NO_MEMBER, NULL, 0, NULL, 0);
    else if (CHORDAL__AUTHORITY && hold->dead == CHORDAL__REVOKED)
        chordal__invocation_fail(invocation, CHORDAL_E_REVOKED, NULL, 0, hold->reason.detail.data,
                                 hold->reason.detail.len);
    else if (hold->object->state == CHORDAL__OBJECT_RETIRED)
        chordal__invocation_fail(invocation, CHORDAL_E_RETIRED, NULL, 0, NULL, 0);
    else if (provider->origin.link->draining)
        chordal__drain_refuse(invocation);
    else
        admit(hold, invocation, key);
    return 0;
}

/* The key of a durable call, which comes before its arguments. */
static int take_key(const chordal__hold *hold, chordal__message *message, const uint8_t **out_key,
                    chordal_error *error) {
    const chordal__members *members = hold->object->type->members;
    const chordal__part *key = message->list;
    uint64_t member = message->numbers[2];
    if (!CHORDAL__STORE || member >= members->count || !members->items[member].durable)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "a key for a method that is not durable");
    if (!message->list_len || !key->raw || key->deflated || key->len != CHORDAL__CALL_KEY)
        return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "a durable call without its key");
    message->list++;
    message->list_len--;
    *out_key = key->data;
    return 0;
}

int chordal__provider_call(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    uint64_t number = message->numbers[0], slot = message->numbers[1];
    chordal__hold *hold = number < provider->holds_capacity ? provider->holds[number] : NULL;
    if (!hold || !hold->bound_at) return chordal__fail(error, CHORDAL_E_ORDER, 0, "a call on a hold that is not bound");
    if (slot >= CHORDAL__SLOTS || provider->slots[slot])
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "the call's slot is not free");
    chordal__body *arguments = NULL;
    chordal__message keyed;
    const uint8_t *key = NULL;
    int code = 0;
    if (message->flags) {
        keyed = *message;
        message = &keyed;
        code = take_key(hold, &keyed, &key, error);
    }
    if (code == 0) code = read_arguments(provider, message, &arguments, error);
    if (code < 0 && code != CHORDAL_E_NOMEM) return code;
    code = CHORDAL__STORE && key ? chordal__provider_take_over(provider, hold, message, key) : 0;
    if (code == 0) code = run(provider, hold, message, arguments, key);
    chordal__body_unref(arguments);
    if (code == CHORDAL_E_ORDER) return chordal__fail(error, code, 0, "the call's key is in use");
    if (code < 0) return chordal__fail(error, code, 0, "no memory for the call");
    provider->requests++;
    return 0;
}

int chordal__provider_cancel(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    uint64_t slot = message->numbers[0];
    if (slot >= CHORDAL__SLOTS) return chordal__fail(error, CHORDAL_E_ORDER, 0, "no such slot");
    if (provider->slots[slot]) chordal__invocation_cancel(provider->slots[slot]);
    return 0;
}

void chordal__provider_settled(chordal__caller *caller, chordal__invocation *invocation) {
    chordal__provider *provider = CHORDAL__ENTRY(caller, chordal__provider, caller);
    if (invocation->value) provider->outcome_bytes += invocation->value->len;
    if (provider->outcome_bytes >= provider->runtime->settings.outcome_limit) chordal__caller_hold(caller, true);
    chordal__list_append(&provider->ready, &invocation->ready);
    chordal__provider_want_flush(provider);
}

static int send_value(chordal__provider *provider, chordal__invocation *invocation, size_t *out_bytes) {
    chordal__message result = {.kind = CHORDAL__RESULT, .origin = provider->origin.number};
    chordal__body *value = invocation->value;
    int code = 0;
    result.numbers[0] = invocation->slot;
    if (invocation->raw)
        result.parts[0] =
            (chordal__part){.data = value->data, .len = value->len, .raw = true, .body = chordal__body_ref(value)};
    else
        code = chordal__part_of_packed(provider->runtime, provider->encoding, value->data, value->len, value,
                                       &result.parts[0]);
    if (code == 0 && chordal__provider_deflates(provider)) chordal__part_deflate(provider->runtime, &result.parts[0]);
    if (code == 0) code = chordal__try_send(provider->origin.link, &result, out_bytes);
    chordal__body_unref(result.parts[0].body);
    return code;
}

static void send_reason(chordal__provider *provider, chordal__invocation *invocation, size_t *out_bytes) {
    static const char prefix[] = "method:";
    const chordal__reason *reason = &invocation->reason;
    chordal__buffer *scratch = &provider->runtime->scratch;
    chordal__buffer_clear(scratch);
    if (reason->code == CHORDAL_E_METHOD) chordal__buffer_put(scratch, prefix, sizeof prefix - 1);
    chordal__buffer_put(scratch, reason->name.data, reason->name.len);
    *out_bytes = chordal__send_text(&provider->origin, CHORDAL__ERROR, invocation->slot, (const char *)scratch->data,
                                    scratch->len, reason->detail.data, reason->detail.len);
}

void chordal__provider_send_outcome(chordal__provider *provider, chordal__invocation *invocation) {
    static const char large[] = CHORDAL__WORDS("the result is larger than the peer takes");
    chordal__link *link = provider->origin.link;
    size_t bytes = 0;
    if (CHORDAL__AUTHORITY && invocation->withheld)
        chordal__reason_set(link->runtime->memory, &invocation->reason, CHORDAL_E_OUTCOME_UNKNOWN, NULL, 0, NULL, 0);
    int code = invocation->reason.code ? 0 : send_value(provider, invocation, &bytes);
    if (code == CHORDAL_E_SIZE)
        chordal__reason_set(link->runtime->memory, &invocation->reason, code, NULL, 0, large, sizeof large - 1);
    else if (code < 0)
        chordal__link_break(link, code);
    if (invocation->reason.code) send_reason(provider, invocation, &bytes);
    chordal__window_count_outcome(&provider->window, invocation, bytes);
    if (CHORDAL__ACKS_WAIT && link->draining) chordal__drain_ask(link);
    provider->slots[invocation->slot] = NULL;
}

void chordal__provider_end_calls(chordal__provider *provider) {
    for (uint32_t i = 0; i < CHORDAL__SLOTS; i++) {
        chordal__invocation *invocation = provider->slots[i];
        provider->slots[i] = NULL;
        if (invocation) chordal__invocation_orphan(invocation);
    }
    while (!chordal__list_empty(&provider->ready)) /* sent once, and to be sent again */
        chordal__invocation_free(CHORDAL__ENTRY(provider->ready.next, chordal__invocation, ready));
    chordal__invocation *kept;
    while ((kept = chordal__window_ack_outcome(&provider->window)) != NULL) chordal__invocation_free(kept);
}
