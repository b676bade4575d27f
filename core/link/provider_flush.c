/* provider_flush.c: what a session has to send, in the order that keeps its one cut: changes, then bounds, then
 * outcomes. */
#include "link/link.h"

#define STATE_HOLDS 64 /* (hold, change) pairs in one message; more go on with MORE */

static uint64_t cut_step(chordal__provider *provider) {
    uint64_t step = provider->runtime->commit_number - provider->cut;
    provider->cut += step;
    return step;
}

static void give_up(chordal__provider *provider) {
    if (!provider->origin.link->broken) provider->origin.link->broken = CHORDAL_E_NOMEM;
}

/* All that its holds missed, brought to the present cut; false when the link broke. */
static bool send_state(chordal__provider *provider) {
    chordal__part parts[STATE_HOLDS];
    uint64_t holds[STATE_HOLDS];
    size_t count = 0;
    while (!chordal__list_empty(&provider->dirty) && count < STATE_HOLDS) {
        chordal__hold *hold = CHORDAL__ENTRY(provider->dirty.next, chordal__hold, dirty);
        chordal__body *body = chordal__stream_change(hold->stream, provider->encoding, hold->seen);
        if (!body) {
            give_up(provider);
            return false;
        }
        parts[count] = (chordal__part){.data = body->data, .len = body->len, .body = body};
        holds[count++] = hold->number;
        chordal__hold_seen(hold);
    }
    chordal__message state = {.kind = CHORDAL__STATE, .origin = provider->origin.number};
    size_t bytes;
    state.flags = chordal__list_empty(&provider->dirty) ? 0 : CHORDAL__FLAG_MORE;
    state.numbers[0] = cut_step(provider);
    state.list = parts;
    state.holds = holds;
    state.list_len = count;
    chordal__send(provider->origin.link, &state, &bytes);
    if (state.flags)
        provider->more_bytes += bytes;
    else
        chordal__provider_count(provider, bytes + (size_t)provider->more_bytes);
    if (!state.flags) provider->more_bytes = 0;
    return bytes != 0;
}

static bool send_all_state(chordal__provider *provider) {
    while (!chordal__list_empty(&provider->dirty))
        if (!send_state(provider)) return false;
    return true;
}

static bool knows_type(const chordal__provider *provider, const chordal__type *type) {
    for (size_t i = 0; i < provider->told_len; i++)
        if (provider->told[i] == type) return true;
    return false;
}

/* The member table, once for each type in a session. NULL body when it was told; false without memory. */
static bool members_part(chordal__provider *provider, chordal__type *type, chordal__part *out) {
    chordal__runtime *runtime = provider->runtime;
    memset(out, 0, sizeof *out);
    if (knows_type(provider, type)) return true;
    void *told = provider->told;
    if (chordal__grow(runtime->memory, &told, sizeof *provider->told, &provider->told_capacity, provider->told_len + 1,
                      65536) < 0)
        return false;
    provider->told = told;
    chordal__buffer_clear(&runtime->scratch);
    chordal__members_write(type->members, provider->encoding, &runtime->scratch);
    out->body = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (!out->body) return false;
    out->data = out->body->data;
    out->len = out->body->len;
    provider->told[provider->told_len++] = type;
    return true;
}

static bool send_bound(chordal__provider *provider) {
    chordal__hold *hold = CHORDAL__ENTRY(provider->waiting.next, chordal__hold, waiting);
    chordal__message bound = {.kind = CHORDAL__BOUND, .origin = provider->origin.number};
    chordal__body *content = chordal__stream_snapshot(hold->stream, provider->encoding);
    size_t bytes;
    if (!content || !members_part(provider, hold->object->type, &bound.parts[0])) {
        give_up(provider);
        return false;
    }
    bound.numbers[0] = hold->number;
    bound.numbers[1] = cut_step(provider);
    bound.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
    bound.parts[1] = (chordal__part){.data = content->data, .len = content->len, .body = content};
    chordal__send(provider->origin.link, &bound, &bytes);
    chordal__body_unref(bound.parts[0].body);
    chordal__provider_count(provider, bytes);
    chordal__list_remove(&hold->waiting);
    hold->bound = true;
    chordal__hold_seen(hold);
    return bytes != 0;
}

void chordal__provider_flush(chordal__provider *provider) {
    while (chordal__provider_has_room(provider)) {
        if (provider->origin.link->broken) return;
        if (!chordal__list_empty(&provider->dirty)) {
            if (!send_all_state(provider)) return;
        } else if (!chordal__list_empty(&provider->waiting)) {
            if (!send_bound(provider)) return;
        } else if (!chordal__list_empty(&provider->ready)) {
            chordal__provider_send_outcome(provider, CHORDAL__ENTRY(provider->ready.next, chordal__invocation, ready));
        } else {
            return;
        }
    }
}
