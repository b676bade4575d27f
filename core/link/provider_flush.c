/* provider_flush.c: what a session has to send, in the order that keeps its one cut: changes, then bounds, then
 * outcomes. */
#include "link/link.h"

static const char CHANGE_TOO_LARGE[] = CHORDAL__WORDS("a change is larger than the peer takes");

static const char OBJECT_TOO_LARGE[] = CHORDAL__WORDS("the object is larger than the peer takes");

#define STATE_HOLDS 64 /* (hold, change) pairs in one message; more go on with MORE */

static void give_up(chordal__provider *provider) {
    chordal__link_break(provider->origin.link, CHORDAL_E_NOMEM);
}

/* Send what goes on from the last cut to the present one; SIZE: it is larger than the peer takes, nothing was sent.
 * Other failures break the link. */
static int send_to_cut(chordal__provider *provider, chordal__message *message, int step_field, size_t *out_bytes) {
    uint64_t cut = provider->runtime->commit_number;
    message->origin = provider->origin.number;
    message->numbers[step_field] = cut - provider->cut;
    int code = chordal__window_reserve(&provider->window);
    if (code == 0) code = chordal__try_send(provider->origin.link, message, out_bytes);
    if (code == 0) provider->cut = cut;
    if (code < 0 && code != CHORDAL_E_SIZE) give_up(provider);
    return code;
}

/* The change that a hold missed; SIZE: it alone is more than its reader takes. */
static int change_of(const chordal__hold *hold, uint64_t limit, chordal__encoded **out) {
    int code = chordal__stream_change(hold->stream, hold->provider->encoding, hold->seen, out);
    return code == 0 && (*out)->body->len + 3 * CHORDAL__BESIDE > limit ? CHORDAL_E_SIZE : code;
}

static void fail_too_large(chordal__hold *hold) {
    chordal__hold_seen(hold);
    hold->bound = false;
    chordal__hold_fail(hold, CHORDAL_E_SIZE, CHANGE_TOO_LARGE);
}

/* What is too large of the rest of a cut fails before it begins, so that no reader sees the others alone. NOMEM. */
static int sift_rest(chordal__provider *provider, uint64_t limit) {
    chordal__list *node = provider->dirty.next;
    while (node != &provider->dirty) {
        chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, dirty);
        chordal__encoded *change;
        int code = change_of(hold, limit, &change);
        node = node->next;
        if (code == CHORDAL_E_SIZE)
            fail_too_large(hold);
        else if (code < 0)
            return code;
    }
    return 0;
}

/* As many changes as one message takes; *out_flags: whether one of them is in the store. NOMEM. */
static int gather(chordal__provider *provider, chordal__part *parts, chordal__hold **holds, size_t *out_count,
                  uint8_t *out_flags) {
    const chordal__origin *origin = &provider->origin;
    uint64_t size = 2 * CHORDAL__BESIDE, limit = chordal__origin_lesser(origin->limit, origin->link);
    bool begins = !provider->more_bytes;
    size_t count = 0;
    int code = 0;
    while (code == 0 && !chordal__list_empty(&provider->dirty) && count < STATE_HOLDS) {
        chordal__hold *hold = CHORDAL__ENTRY(provider->dirty.next, chordal__hold, dirty);
        chordal__encoded *change;
        code = change_of(hold, limit, &change);
        if (code == CHORDAL_E_SIZE && begins) {
            fail_too_large(hold);
            code = 0;
            continue;
        }
        if (code < 0) break;
        size += change->body->len + CHORDAL__BESIDE;
        if (count && size > limit) break;
        parts[count] = chordal__encoded_part(hold->stream, change, chordal__provider_deflates(provider));
        holds[count++] = hold;
        if (CHORDAL__STORE && hold->object->stored_at > hold->seen) *out_flags = CHORDAL__FLAG_DURABLE;
        chordal__hold_seen(hold);
    }
    *out_count = count;
    return code == 0 && begins ? sift_rest(provider, limit) : code;
}

/* A message of what its holds missed; false when the link broke. */
static bool send_state(chordal__provider *provider) {
    chordal__part parts[STATE_HOLDS];
    chordal__hold *holds[STATE_HOLDS];
    uint64_t numbers[STATE_HOLDS];
    size_t bytes = 0, count = 0;
    uint8_t flags = 0;
    if (gather(provider, parts, holds, &count, &flags) < 0) {
        give_up(provider);
        return false;
    }
    if (!count && !provider->more_bytes) return true; /* all of them failed */
    for (size_t i = 0; i < count; i++) numbers[i] = holds[i]->number;
    chordal__message state = {
        .kind = CHORDAL__STATE, .flags = flags, .list = parts, .holds = numbers, .list_len = count};
    bool more = !chordal__list_empty(&provider->dirty);
    if (more) state.flags |= CHORDAL__FLAG_MORE;
    if (send_to_cut(provider, &state, 0, &bytes) < 0) return false;
    provider->more_bytes += bytes;
    if (more || !bytes) return bytes != 0;
    chordal__window_count_state(&provider->window, provider->cut, provider->more_bytes);
    provider->more_bytes = 0;
    return true;
}

/* All of it, brought to the present cut. */
static void send_all_state(chordal__provider *provider) {
    while (!chordal__list_empty(&provider->dirty) || provider->more_bytes)
        if (!send_state(provider)) return;
}

static bool knows_type(const chordal__provider *provider, const chordal__type *type) {
    for (size_t i = 0; i < provider->told_len; i++)
        if (provider->told[i].type == type) return true;
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
    provider->told[provider->told_len++] = (chordal__told){type, provider->window.states_sent + 1};
    return true;
}

/* What a bound says: the gap since what the consumer has, if that was its last word, or all. */
static int content_of(const chordal__hold *hold, uint64_t *out_how, chordal__encoded **out) {
    uint8_t encoding = hold->provider->encoding;
    if (CHORDAL__STORE && hold->since && !hold->bound_at) {
        int code = chordal__stream_gap(hold->stream, encoding, hold->since - 1, out);
        *out_how = *out ? CHORDAL__BOUND_GAP : CHORDAL__BOUND_UNCHANGED;
        if (code != CHORDAL_E_NOT_FOUND) return code;
    }
    *out_how = CHORDAL__BOUND_SNAPSHOT;
    return chordal__stream_snapshot(hold->stream, encoding, out);
}

static void send_bound(chordal__provider *provider, chordal__hold *hold) {
    chordal__message bound = {.kind = CHORDAL__BOUND};
    chordal__encoded *content;
    size_t bytes, told = provider->told_len;
    int code = content_of(hold, &bound.numbers[2], &content);
    if (code == CHORDAL_E_SIZE) {
        chordal__hold_fail(hold, code, OBJECT_TOO_LARGE);
        return;
    }
    if (code < 0 || !members_part(provider, hold->object->type, &bound.parts[0])) {
        give_up(provider);
        return;
    }
    bound.numbers[0] = hold->number;
    if (CHORDAL__STORE) bound.numbers[3] = chordal__stream_stored(hold->stream);
    if (!CHORDAL__STORE || content)
        bound.parts[1] = chordal__encoded_part(hold->stream, content, chordal__provider_deflates(provider));
    code = send_to_cut(provider, &bound, 1, &bytes);
    chordal__body_unref(bound.parts[0].body);
    if (code < 0) provider->told_len = told;
    if (code == CHORDAL_E_SIZE) chordal__hold_fail(hold, code, OBJECT_TOO_LARGE);
    if (code < 0) return;
    hold->bound = true;
    chordal__hold_seen(hold);
    if (!bytes) return;
    chordal__window_count_state(&provider->window, provider->cut, bytes);
    hold->bound_at = provider->window.states_sent;
}

static void serve_waiting(chordal__provider *provider) {
    chordal__hold *hold = CHORDAL__ENTRY(provider->waiting.next, chordal__hold, waiting);
    chordal__list_remove(&hold->waiting);
    send_bound(provider, hold);
}

static void serve_one(chordal__provider *provider) {
    if (!chordal__list_empty(&provider->dirty))
        send_all_state(provider);
    else if (!chordal__list_empty(&provider->waiting))
        serve_waiting(provider);
    else
        chordal__provider_send_outcome(provider, CHORDAL__ENTRY(provider->ready.next, chordal__invocation, ready));
}

static bool has_more(const chordal__provider *provider) {
    return !chordal__list_empty(&provider->dirty) || !chordal__list_empty(&provider->waiting) ||
           !chordal__list_empty(&provider->ready);
}

bool chordal__provider_serve(chordal__provider *provider) {
    bool wants = has_more(provider);
    if (!chordal__provider_has_room(provider, wants)) {
        chordal__provider_set_aside(provider);
        return false;
    }
    if (!wants) return false;
    serve_one(provider);
    return has_more(provider);
}
