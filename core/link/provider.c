/* provider.c: a session in which this host provides: holds, the cut, the window. */
#include "link/link.h"

/* ---- life ---- */

static void send_opened(chordal__provider *provider) {
    chordal__message opened = {.kind = CHORDAL__OPENED, .origin = provider->origin.number};
    memcpy(opened.ids[0], provider->runtime->run, sizeof opened.ids[0]);
    chordal__send(provider->origin.link, &opened, NULL);
}

static void free_provider(chordal__provider *provider) {
    chordal__memory *memory = provider->runtime->memory;
    const chordal__settings *settings = &provider->runtime->settings;
    chordal__list_remove(&provider->node);
    chordal__list_remove(&provider->flush);
    chordal__untell(&provider->caller.event);
    chordal__release(memory, provider->holds, provider->holds_capacity * sizeof *provider->holds);
    chordal__release(memory, provider->told, provider->told_capacity * sizeof *provider->told);
    chordal__release(memory, provider->slots, CHORDAL__SLOTS * sizeof *provider->slots);
    chordal__release(memory, provider->sizes, settings->window_messages * sizeof *provider->sizes);
    chordal__release(memory, provider, sizeof *provider);
}

static chordal__provider *new_provider(chordal__link *link, const chordal__message *message) {
    chordal__runtime *runtime = link->runtime;
    chordal__provider *provider = chordal__allocate_zero(runtime->memory, sizeof *provider);
    if (!provider) return NULL;
    provider->runtime = runtime;
    provider->origin.role = CHORDAL__ROLE_PROVIDER;
    provider->encoding = (uint8_t)message->numbers[1];
    memcpy(provider->session, message->ids[0], sizeof provider->session);
    chordal__list *lists[] = {&provider->node, &provider->flush, &provider->dirty, &provider->waiting,
                              &provider->ready};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) chordal__list_init(lists[i]);
    chordal__caller_init(&provider->caller, runtime, message->origin, chordal__provider_settled);
    provider->sizes = chordal__allocate(runtime->memory, runtime->settings.window_messages * sizeof *provider->sizes);
    provider->slots = chordal__allocate_zero(runtime->memory, CHORDAL__SLOTS * sizeof *provider->slots);
    if (provider->sizes && provider->slots) return provider;
    free_provider(provider);
    return NULL;
}

int chordal__provider_open(chordal__link *link, const chordal__message *message, chordal_error *error) {
    chordal__provider *provider = new_provider(link, message);
    if (!provider) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a session");
    int code = chordal__origin_enter(link, &provider->origin, message->origin);
    if (code < 0) {
        free_provider(provider);
        return chordal__fail(error, code, 0, "the origin is not free");
    }
    chordal__list_append(&link->providers, &provider->node);
    link->runtime->counters.live_sessions++;
    send_opened(provider);
    return 0;
}

static void free_hold(chordal__hold *hold) {
    chordal__provider *provider = hold->provider;
    chordal__runtime *runtime = provider->runtime;
    chordal__hold_seen(hold);
    provider->holds[hold->number] = NULL;
    chordal__list_remove(&hold->waiting);
    chordal__list_remove(&hold->stream_node);
    if (hold->stream) chordal__stream_release(hold->stream);
    chordal__object *object = hold->object;
    chordal__release(runtime->memory, hold, sizeof *hold);
    if (object) chordal__object_undemand(object);
}

void chordal__provider_end(chordal__provider *provider, bool ended_sent) {
    provider->runtime->counters.live_sessions--;
    chordal__provider_end_calls(provider);
    for (size_t i = 0; i < provider->holds_capacity; i++)
        if (provider->holds[i]) free_hold(provider->holds[i]);
    chordal__origin_leave(&provider->origin, ended_sent);
    free_provider(provider);
}

/* ---- holds ---- */

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

static void send_failed(chordal__hold *hold, const char *name, size_t name_len, const char *detail, size_t detail_len) {
    hold->dead = true;
    chordal__send_text(&hold->provider->origin, CHORDAL__FAILED, hold->number, name, name_len, detail, detail_len);
}

void chordal__hold_fail(chordal__hold *hold, int code, const char *detail) {
    const char *name = chordal_error_name(code);
    send_failed(hold, name, strlen(name), detail, strlen(detail));
}

static void follow(chordal__hold *hold, chordal__type *type, uint64_t version, const chordal__buffer *params) {
    chordal_error error = {0};
    if (version && version != type->version) {
        chordal__hold_fail(hold, CHORDAL_E_TYPE_VERSION, CHORDAL__WORDS("the type has another version"));
        return;
    }
    int code = chordal__object_demand(type, params->data, params->len, &hold->object, &error);
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

static void move_hold(chordal__hold *hold, const chordal__link *behind) {
    char name[33];
    chordal__route_name(behind, name);
    chordal__message moved = {.kind = CHORDAL__MOVED, .origin = hold->provider->origin.number};
    moved.numbers[0] = hold->number;
    moved.numbers[1] = behind->codec_kind == CHORDAL_CODEC_TEXT ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    moved.texts[0].data = (const uint8_t *)name;
    moved.texts[0].len = 32;
    chordal__send(hold->provider->origin.link, &moved, NULL);
    free_hold(hold);
}

static chordal__hold *new_hold(chordal__provider *provider, uint64_t number) {
    chordal__hold *hold = chordal__allocate_zero(provider->runtime->memory, sizeof *hold);
    if (!hold) return NULL;
    hold->provider = provider;
    hold->number = number;
    chordal__list_init(&hold->stream_node);
    chordal__list_init(&hold->dirty);
    chordal__list_init(&hold->waiting);
    return hold;
}

static void fail_unknown(chordal__hold *hold, const uint8_t *type, size_t type_len) {
    chordal_error error;
    chordal__hold_fail(hold, chordal__fail_about(&error, CHORDAL_E_NO_TYPE, "not provided here: ", type, type_len),
                       error.detail);
}

int chordal__provider_hold(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__runtime *runtime = provider->runtime;
    chordal__hold *hold = new_hold(provider, message->numbers[0]);
    if (!hold) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a hold");
    int code = enter_hold(provider, hold);
    if (code < 0) {
        chordal__release(runtime->memory, hold, sizeof *hold);
        return chordal__fail(error, code, 0, "the hold's number is not free");
    }
    const uint8_t *name = message->texts[0].data;
    chordal__type *type = chordal__type_find(runtime, name, message->texts[0].len);
    chordal__link *behind = type ? NULL : chordal__route_of_type(runtime->links, name, message->texts[0].len);
    chordal__buffer params;
    chordal__buffer_init(&params, runtime->memory, (size_t)runtime->settings.limits.size);
    code = chordal__part_to_packed(runtime, provider->encoding, &message->parts[0], &params, error);
    if (code < 0)
        free_hold(hold);
    else if (type)
        follow(hold, type, message->numbers[1], &params);
    else if (behind && behind != provider->origin.link)
        move_hold(hold, behind);
    else
        fail_unknown(hold, name, message->texts[0].len);
    chordal__buffer_dispose(&params);
    return code;
}

int chordal__provider_release(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__hold *hold = get_hold(provider, message->numbers[0]);
    if (!hold) return chordal__fail(error, CHORDAL_E_ORDER, 0, "no such hold");
    free_hold(hold);
    chordal__send_simple(&provider->origin, CHORDAL__RELEASED, message->numbers[0]);
    return 0;
}

int chordal__provider_retry(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    chordal__hold *hold = get_hold(provider, message->numbers[0]);
    if (!hold || !hold->dead) return chordal__fail(error, CHORDAL_E_ORDER, 0, "no such failed hold");
    chordal__object *object = hold->object;
    if (!object || object->state != CHORDAL__OBJECT_FAILED) {
        chordal__hold_fail(hold, CHORDAL_E_STATE, CHORDAL__WORDS("hold it again"));
        return 0;
    }
    hold->dead = false;
    chordal__object_retry(object);
    return 0;
}

void chordal__hold_state(chordal__hold *hold) {
    const chordal__reason *reason = &hold->object->reason;
    bool live = hold->object->state == CHORDAL__OBJECT_LIVE;
    if (hold->dead && !live) return;
    switch (hold->object->state) {
    case CHORDAL__OBJECT_LIVE:
        hold->dead = false; /* another one's retry went well */
        if (hold->bound || hold->waiting.next != &hold->waiting) return;
        chordal__list_append(&hold->provider->waiting, &hold->waiting);
        chordal__provider_want_flush(hold->provider);
        return;
    case CHORDAL__OBJECT_FAILED:
        send_failed(hold, reason->name.data, reason->name.len, reason->detail.data, reason->detail.len);
        return;
    case CHORDAL__OBJECT_RETIRED:
        hold->dead = true;
        chordal__hold_seen(hold);
        chordal__list_remove(&hold->waiting);
        chordal__send_simple(&hold->provider->origin, CHORDAL__RETIRED, hold->number);
        return;
    default:
        return;
    }
}

void chordal__hold_changed(chordal__hold *hold) {
    if (!hold->bound || hold->dead || hold->dirty.next != &hold->dirty) return;
    chordal__list_append(&hold->provider->dirty, &hold->dirty);
    hold->stream->lagging++;
    chordal__provider_want_flush(hold->provider);
}

bool chordal__hold_lags(const chordal__hold *hold) {
    return hold->dirty.next != &hold->dirty;
}

void chordal__hold_seen(chordal__hold *hold) {
    if (chordal__hold_lags(hold)) {
        chordal__list_remove(&hold->dirty);
        hold->stream->lagging--;
    }
    if (hold->stream) hold->seen = hold->stream->last;
}

/* ---- the window ---- */

bool chordal__provider_has_room(chordal__provider *provider) {
    const chordal__settings *settings = &provider->runtime->settings;
    bool room = provider->sizes_len == 0 ||
                (provider->sizes_len < settings->window_messages && provider->under_way < settings->window_bytes);
    if (!room && !provider->full) provider->runtime->counters.windows_full++;
    provider->full = !room;
    return room;
}

void chordal__provider_count(chordal__provider *provider, size_t bytes) {
    uint32_t limit = provider->runtime->settings.window_messages;
    provider->sizes[(provider->sizes_first + provider->sizes_len++) % limit] = (uint32_t)bytes;
    provider->under_way += (uint32_t)bytes;
}

int chordal__provider_ack(chordal__provider *provider, const chordal__message *message, chordal_error *error) {
    uint32_t limit = provider->runtime->settings.window_messages;
    if (message->numbers[0] > provider->sizes_len || message->numbers[0] == 0)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "an ack for what was not sent");
    for (uint64_t i = 0; i < message->numbers[0]; i++) {
        provider->under_way -= provider->sizes[provider->sizes_first];
        provider->sizes_first = (provider->sizes_first + 1) % limit;
        provider->sizes_len--;
    }
    chordal__provider_want_flush(provider);
    return 0;
}
