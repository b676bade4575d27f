/* provider_holds.c: the objects that a session holds here. */
#include "link/link.h"

static void free_hold(chordal__hold *hold) {
    chordal__provider *provider = hold->provider;
    chordal__runtime *runtime = provider->runtime;
    chordal__hold_seen(hold);
    chordal__placement_drop(hold);
    if (CHORDAL__AUTHORITY) chordal__ask_drop(hold->ask);
#if CHORDAL__STORE
    chordal__body_unref(hold->query);
#endif
    provider->holds[hold->number] = NULL;
    chordal__list_remove(&hold->waiting);
    chordal__list_remove(&hold->stream_node);
    if (hold->stream) chordal__stream_release(hold->stream);
    chordal__reason_clear(runtime->memory, &hold->reason);
    chordal__object *object = hold->object;
    bool revoked = CHORDAL__AUTHORITY && hold->dead == CHORDAL__REVOKED;
    chordal__release(runtime->memory, hold, sizeof *hold);
    if (revoked)
        chordal__object_unpin(object);
    else if (object)
        chordal__object_undemand(object);
}

void chordal__provider_end_holds(chordal__provider *provider) {
    for (size_t i = 0; i < provider->holds_capacity; i++)
        if (provider->holds[i]) free_hold(provider->holds[i]);
}

/* The smallest number that is free for the consumer is never beyond the next one that was not used yet. */
static int enter_hold(chordal__provider *provider, chordal__hold *hold) {
    void *holds = provider->holds;
    size_t before = provider->holds_capacity;
    if (hold->number > provider->holds_top) return CHORDAL_E_ORDER;
    int code = chordal__grow(provider->runtime->memory, &holds, sizeof *provider->holds, &provider->holds_capacity,
                             (size_t)hold->number + 1, CHORDAL__HOLDS_LIMIT);
    if (code < 0) return code;
    provider->holds = holds;
    for (size_t i = before; i < provider->holds_capacity; i++) provider->holds[i] = NULL;
    if (provider->holds[hold->number]) return CHORDAL_E_ORDER;
    provider->holds[hold->number] = hold;
    if (hold->number == provider->holds_top) provider->holds_top++;
    return 0;
}

static chordal__hold *get_hold(chordal__provider *provider, uint64_t number) {
    return number < provider->holds_capacity ? provider->holds[number] : NULL;
}

/* ---- the end of a hold, said when it happens and again to a session that is back ---- */

static void say_moved(const chordal__hold *hold) {
    chordal__message moved = {.kind = CHORDAL__MOVED, .origin = hold->provider->origin.number};
    moved.numbers[0] = hold->number;
    moved.numbers[1] = (uint64_t)hold->reason.code;
    moved.texts[0].data = (const uint8_t *)hold->reason.name.data;
    moved.texts[0].len = hold->reason.name.len;
    chordal__send(hold->provider->origin.link, &moved, NULL);
}

/* Without memory for the name it is that of the code. */
static void say_failed(const chordal__hold *hold) {
    const chordal__reason *reason = &hold->reason;
    const char *name = reason->name.len ? reason->name.data : chordal_error_name(reason->code);
    chordal__send_text(&hold->provider->origin, CHORDAL__FAILED, hold->number, name, strlen(name), reason->detail.data,
                       reason->detail.len);
}

void chordal__hold_say(chordal__hold *hold) {
    chordal__origin *origin = &hold->provider->origin;
    if (!origin->link) return; /* the session is lost */
    switch (hold->dead) {
    case CHORDAL__FAILED:
        say_failed(hold);
        break;
    case CHORDAL__MOVED:
        say_moved(hold);
        break;
    case CHORDAL__RETIRED:
        chordal__send_simple(origin, CHORDAL__RETIRED, hold->number);
        break;
    case CHORDAL__REVOKED:
        if (CHORDAL__AUTHORITY)
            chordal__send_text(origin, CHORDAL__REVOKED, hold->number, hold->reason.detail.data,
                               hold->reason.detail.len, NULL, 0);
        break;
    default:
        break;
    }
}

void chordal__hold_fail_as(chordal__hold *hold, int code, const char *name, size_t name_len, const char *detail,
                           size_t detail_len) {
    hold->dead = CHORDAL__FAILED;
    chordal__reason_set(hold->provider->runtime->memory, &hold->reason, code, name, name_len, detail, detail_len);
    chordal__hold_say(hold);
}

void chordal__hold_fail(chordal__hold *hold, int code, const char *detail) {
    chordal__hold_fail_as(hold, code, NULL, 0, detail, strlen(detail));
}

void chordal__hold_follow(chordal__hold *hold, chordal__type *type, const uint8_t *params, size_t params_len) {
    chordal_error error = {0};
    if (hold->version && hold->version != type->version) {
        chordal__hold_fail(hold, CHORDAL_E_TYPE_VERSION, CHORDAL__WORDS("the type has another version"));
        return;
    }
    int code = chordal__object_demand(type, params, params_len, &hold->object, &error);
    if (code < 0) {
        chordal__hold_fail(hold, code, error.detail);
        return;
    }
    hold->stream = chordal__stream_of(hold->object);
    if (!hold->stream) {
        chordal__hold_fail(hold, CHORDAL_E_NOMEM, CHORDAL__WORDS("no memory for the object"));
        return;
    }
    chordal__list_append(&hold->stream->holds, &hold->stream_node);
    if (hold->object->state == CHORDAL__OBJECT_FAILED)
        chordal__object_retry(hold->object);
    else if (hold->object->state != CHORDAL__OBJECT_STARTING)
        chordal__hold_state(hold);
}

void chordal__hold_move(chordal__hold *hold, const chordal__link *behind) {
    bool json = behind->codec_kind == CHORDAL_CODEC_TEXT;
    char name[33];
    chordal__route_name(behind, name);
    hold->dead = CHORDAL__MOVED;
    chordal__reason_set(hold->provider->runtime->memory, &hold->reason,
                        json ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY, name, 32, NULL, 0);
    if (hold->reason.name.len)
        chordal__hold_say(hold);
    else
        chordal__hold_fail(hold, CHORDAL_E_NOMEM, CHORDAL__WORDS("no memory for the route"));
}

static chordal__hold *new_hold(chordal__provider *provider, const chordal__message *message) {
    chordal__hold *hold = chordal__allocate_zero(provider->runtime->memory, sizeof *hold);
    if (!hold) return NULL;
    hold->provider = provider;
    hold->number = message->numbers[0];
    hold->version = message->numbers[1];
    if (CHORDAL__STORE && message->numbers[2] && message->numbers[2] - 1 <= provider->lineage)
        hold->since = message->numbers[2];
    chordal__list_init(&hold->stream_node);
    chordal__list_init(&hold->dirty);
    chordal__list_init(&hold->waiting);
    return hold;
}

void chordal__hold_unknown(chordal__hold *hold, const void *type, size_t type_len) {
    chordal_error error;
    chordal__hold_fail(
        hold, chordal__fail_about(&error, CHORDAL_E_NO_TYPE, CHORDAL__WORDS("not provided here: "), type, type_len),
        error.detail);
}

int chordal__provider_hold(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__runtime *runtime = provider->runtime;
    chordal__hold *hold = new_hold(provider, message);
    if (!hold) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a hold");
    int code = enter_hold(provider, hold);
    if (code < 0) {
        chordal__release(runtime->memory, hold, sizeof *hold);
        return chordal__fail(error, code, 0, "the hold's number is not free");
    }
    const uint8_t *name = message->texts[0].data;
    chordal__type *type = chordal__type_find(runtime, name, message->texts[0].len);
    chordal__link *behind = NULL;
    if (CHORDAL__FORWARDS && !type)
        behind = chordal__route_of_type(runtime->links, name, message->texts[0].len, provider->origin.link);
    chordal__buffer params;
    chordal__buffer_init(&params, runtime->memory, (size_t)runtime->settings.limits.size);
    code = chordal__part_to_packed(runtime, provider->encoding, &message->parts[0], &params, error);
    if (code < 0)
        free_hold(hold);
    else if (CHORDAL__STORE && chordal__names_query(name, message->texts[0].len))
        chordal__hold_query(hold, &params);
    else if (CHORDAL__AUTHORITY && type && type->guarded)
        chordal__hold_ask(hold, type, &params);
    else if (type)
        chordal__hold_follow(hold, type, params.data, params.len);
    else if (chordal__is_placed(runtime->links, name, message->texts[0].len))
        chordal__placement_hold(hold, name, message->texts[0].len, &params);
    else if (CHORDAL__FORWARDS && behind)
        chordal__hold_move(hold, behind);
    else
        chordal__hold_unknown(hold, name, message->texts[0].len);
    if (code == 0) provider->requests++;
    chordal__buffer_dispose(&params);
    return code;
}

int chordal__provider_release(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__hold *hold = get_hold(provider, message->numbers[0]);
    if (!hold) return chordal__fail(error, CHORDAL_E_ORDER, 0, "no such hold");
    free_hold(hold);
    provider->requests++;
    chordal__send_simple(&provider->origin, CHORDAL__RELEASED, message->numbers[0]);
    return 0;
}

int chordal__provider_retry(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__hold *hold = get_hold(provider, message->numbers[0]);
    if (!hold || !hold->dead) return chordal__fail(error, CHORDAL_E_ORDER, 0, "no such failed hold");
    provider->requests++;
    chordal__object *object = hold->object;
    if (hold->dead == CHORDAL__REVOKED) {
        chordal__hold_say(hold);
        return 0;
    }
    if (!object || object->state != CHORDAL__OBJECT_FAILED) {
        chordal__hold_fail(hold, CHORDAL_E_STATE, CHORDAL__WORDS("hold it again"));
        return 0;
    }
    hold->dead = 0;
    chordal__object_retry(object);
    return 0;
}

void chordal__hold_state(chordal__hold *hold) {
    const chordal__reason *reason = &hold->object->reason;
    bool live = hold->object->state == CHORDAL__OBJECT_LIVE;
    if (hold->dead && !live) return;
    switch (hold->object->state) {
    case CHORDAL__OBJECT_LIVE:
        hold->dead = 0; /* another one's retry went well */
        if (hold->bound || hold->waiting.next != &hold->waiting) return;
        chordal__list_append(&hold->provider->waiting, &hold->waiting);
        chordal__provider_want_flush(hold->provider);
        return;
    case CHORDAL__OBJECT_FAILED:
        chordal__hold_fail_as(hold, reason->code, reason->name.data, reason->name.len, reason->detail.data,
                              reason->detail.len);
        return;
    case CHORDAL__OBJECT_RETIRED:
        hold->dead = CHORDAL__RETIRED;
        chordal__hold_seen(hold);
        chordal__list_remove(&hold->waiting);
        chordal__hold_say(hold);
        return;
    default:
        return;
    }
}

/* ---- changes ---- */

void chordal__hold_changed(chordal__hold *hold) {
    if (!hold->bound || hold->dead || chordal__hold_lags(hold)) return;
    chordal__list_append(&hold->provider->dirty, &hold->dirty);
    chordal__provider_want_flush(hold->provider);
}

static void move_hold_to(chordal__hold *hold, chordal__list *list, bool aside) {
    hold->aside = aside;
    chordal__list_remove(&hold->stream_node);
    chordal__list_append(list, &hold->stream_node);
}

void chordal__provider_set_aside(chordal__provider *provider) {
    for (chordal__list *node = provider->dirty.next; node != &provider->dirty; node = node->next) {
        chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, dirty);
        if (!hold->aside) move_hold_to(hold, &hold->stream->aside, true);
    }
}

bool chordal__hold_lags(const chordal__hold *hold) {
    return hold->dirty.next != &hold->dirty;
}

void chordal__hold_seen(chordal__hold *hold) {
    chordal__list_remove(&hold->dirty);
    if (!hold->stream) return;
    hold->seen = hold->stream->last;
    if (hold->aside) move_hold_to(hold, &hold->stream->holds, false);
}

/* ---- back ---- */

/* A bound that did not arrive is sent again; of others what changed since. */
static void rewind_hold(chordal__hold *hold, uint64_t cut) {
    bool arrived = hold->bound_at <= hold->provider->window.states_acked;
    if (CHORDAL__STORE && !arrived) hold->bound_at = 0;
    chordal__hold_say(hold);
    if (hold->dead) return;
    if (hold->bound && arrived) {
        hold->seen = cut;
        if (hold->stream->last > cut) chordal__hold_changed(hold);
        return;
    }
    hold->bound = false;
    chordal__hold_seen(hold);
    if (!hold->object || hold->object->state != CHORDAL__OBJECT_LIVE) return;
    chordal__list_remove(&hold->waiting);
    chordal__list_append(&hold->provider->waiting, &hold->waiting);
}

void chordal__provider_rewind(chordal__provider *provider) {
    uint64_t acked = provider->window.states_acked, cut = provider->window.acked;
    for (size_t i = 0; i < provider->holds_capacity; i++)
        if (provider->holds[i]) rewind_hold(provider->holds[i], cut);
    while (provider->told_len && provider->told[provider->told_len - 1].at > acked) provider->told_len--;
    chordal__window_back(&provider->window, &provider->ready);
    provider->cut = cut;
}
