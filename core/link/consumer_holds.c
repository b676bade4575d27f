/* consumer_holds.c: what a session asks its provider for: holds, and their way back. */
#include "link/link.h"

/* More than this is asked for when it is known what the hosts on the way take. */
#define EARLY 512

static chordal__remote *remote_of(const chordal__reference *reference) {
    return reference->hold;
}

#ifndef CHORDAL__NO_PLACES
static const chordal__source_functions remote_source;

/* What a source is asked is of a reference that is carried by a session; of others it may not be. */
chordal__remote *chordal__remote_of(const chordal__reference *reference) {
    return reference->source == &remote_source ? reference->hold : NULL;
}
#endif

void chordal__remote_free(chordal__remote *remote) {
    chordal__list_remove(&remote->node);
    chordal__list_remove(&remote->hungry);
    chordal__dictionary_dispose(&remote->dictionary);
    if (remote->reference) remote->reference->hold = NULL;
    chordal__release(remote->consumer->runtime->memory, remote, sizeof *remote);
}

/* The frames of a reference that wait to be taken count in its session. */
void chordal__consumer_move_blocked(chordal__consumer *from, chordal__consumer *to,
                                    const chordal__reference *reference) {
    from->blocked -= reference->blocked;
    to->blocked += reference->blocked;
    if (from->blocked == 0) chordal__consumer_owes(from);
}

static int take_number(chordal__consumer *consumer, chordal__remote *remote) {
    void *numbers = consumer->numbers;
    size_t number = 0, before = consumer->numbers_capacity;
    while (number < before && consumer->numbers[number]) number++;
    int code = chordal__grow(consumer->runtime->memory, &numbers, sizeof *consumer->numbers,
                             &consumer->numbers_capacity, number + 1, CHORDAL__HOLDS_LIMIT);
    if (code < 0) return code;
    consumer->numbers = numbers;
    for (size_t i = before; i < consumer->numbers_capacity; i++) consumer->numbers[i] = NULL;
    consumer->numbers[number] = remote;
    remote->number = (int64_t)number;
    return 0;
}

static int send_hold(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    chordal__reference *reference = remote->reference;
    chordal__message hold = {.kind = CHORDAL__HOLD, .origin = consumer->origin.number};
    size_t bytes;
    int code = chordal__part_of_packed(consumer->runtime, consumer->encoding, reference->params->data,
                                       reference->params->len, reference->params, &hold.parts[0]);
    if (code < 0) return code;
    hold.numbers[0] = (uint64_t)remote->number;
    hold.numbers[1] = reference->version;
    remote->resumes = remote->since && memcmp(remote->run, consumer->named, sizeof remote->run) == 0;
    if (remote->resumes) hold.numbers[2] = remote->since;
    hold.texts[0].data = (const uint8_t *)reference->type.data;
    hold.texts[0].len = reference->type.len;
    code = chordal__try_send(consumer->link, &hold, &bytes);
    chordal__body_unref(hold.parts[0].body);
    return code;
}

static void ask_for(chordal__remote *remote) {
    static const char words[] = CHORDAL__WORDS("the params are larger than the peer takes");
    chordal__consumer *consumer = remote->consumer;
    chordal__reference *reference = remote->reference;
    if (reference->state == CHORDAL_REFERENCE_RETIRED || reference->state == CHORDAL_REFERENCE_REVOKED)
        return; /* for good */
    if (!consumer->opened && reference->params->len + reference->type.len > EARLY) return;
    int code = chordal__consumer_type(consumer, &reference->type, &remote->type);
    if (code == 0) code = take_number(consumer, remote);
    if (code == 0) code = send_hold(remote);
    if (code == 0) {
        remote->held = consumer->requests++;
        return;
    }
    if (remote->number >= 0) consumer->numbers[remote->number] = NULL;
    remote->number = -1;
    if (code == CHORDAL_E_SIZE)
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, code, words, sizeof words - 1);
    else
        chordal__link_break(consumer->link, code);
}

void chordal__consumer_ask_all(chordal__consumer *consumer) {
    for (chordal__list *node = consumer->remotes.next; node != &consumer->remotes; node = node->next) {
        chordal__remote *remote = CHORDAL__ENTRY(node, chordal__remote, node);
        if (remote->number < 0) ask_for(remote);
    }
}

/* Ask for it, in a new session if the peer ended the one before. */
static void ask(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    if (consumer->away) return; /* asked for when it is back */
    if (consumer->origin.number)
        ask_for(remote);
    else if (consumer->link->state == CHORDAL_LINK_UP)
        chordal__consumer_open(consumer);
}

/* The hold's number is used again only when the provider confirmed the release; until then an empty remote stands
 * there. */
static void end_remote(chordal__remote *remote) {
    if (remote->number < 0) {
        chordal__remote_free(remote);
        return;
    }
    if (remote->reference) remote->reference->hold = NULL;
    remote->reference = NULL;
    remote->bound = false;
    chordal__list_remove(&remote->hungry);
    chordal__list_remove(&remote->node);
    chordal__consumer_send_release(remote);
}

void chordal__consumer_send_release(chordal__remote *remote) {
    chordal__consumer *consumer = remote->consumer;
    remote->released = consumer->away ? UINT64_MAX : consumer->requests++;
    if (!consumer->away) chordal__send_simple(&consumer->origin, CHORDAL__RELEASE, (uint64_t)remote->number);
    consumer->prompt = true; /* outcomes that wait keep the object */
    chordal__consumer_owes(consumer);
}

void chordal__consumer_forget_hold(chordal__remote *remote) {
    remote->consumer->numbers[remote->number] = NULL;
    remote->number = -1;
    if (remote->reset || remote->consumer->torn) remote->since = 0; /* what it has is not right for sure */
    remote->bound = remote->retired = remote->reset = remote->resumes = false;
    chordal__list_remove(&remote->hungry);
    if (!remote->reference) chordal__remote_free(remote);
}

chordal__remote *chordal__consumer_remote(chordal__consumer *consumer, uint64_t number, int *out_code) {
    chordal__remote *remote = number < consumer->numbers_capacity ? consumer->numbers[number] : NULL;
    *out_code = remote ? 0 : CHORDAL_E_ORDER;
    if (!remote || !remote->reference || remote->reference->state == CHORDAL_REFERENCE_REVOKED) return NULL;
    return remote;
}

int chordal__consumer_released(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    uint64_t number = message->numbers[0];
    chordal__remote *remote = number < consumer->numbers_capacity ? consumer->numbers[number] : NULL;
    if (!remote || remote->reference)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "released what was not given back");
    chordal__consumer_forget_hold(remote);
    return 0;
}

static chordal__remote *new_remote(chordal__consumer *consumer, chordal__reference *reference) {
    chordal__runtime *runtime = consumer->runtime;
    chordal__remote *remote = chordal__allocate_zero(runtime->memory, sizeof *remote);
    if (!remote) return NULL;
    if (chordal__dictionary_init(&remote->dictionary, runtime->memory, CHORDAL__DICTIONARY_LIMIT, runtime->seed) < 0) {
        chordal__release(runtime->memory, remote, sizeof *remote);
        return NULL;
    }
    remote->consumer = consumer;
    remote->reference = reference;
    remote->number = -1;
    chordal__list_init(&remote->hungry);
    chordal__list_append(&consumer->remotes, &remote->node);
    return remote;
}

/* ---- what a reference asks of its source ---- */

static void source_release(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    reference->source = NULL;
    if (remote) end_remote(remote);
}

static void source_send(chordal__reference *reference) {
    if (remote_of(reference)) chordal__consumer_send_calls(remote_of(reference));
}

/* Ask for it anew under another number, then give the hold back: somebody always holds the object. */
static void replace(chordal__remote *remote, chordal__remote *fresh) {
    fresh->reference->hold = fresh;
    remote->reference = NULL;
    chordal__list_remove(&remote->node);
    ask(fresh);
    end_remote(remote);
}

/* Ask for it where it is; the way there goes over one more host. */
static chordal__consumer *follow(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    chordal__buffer *name = &consumer->runtime->scratch;
    bool json = consumer->json || message->numbers[1] == CHORDAL__ENCODING_JSON;
    size_t words = 1;
    chordal__buffer_clear(name);
    chordal__buffer_put(name, consumer->route.data, consumer->route.len);
    if (consumer->route.len) chordal__buffer_byte(name, '/');
    chordal__buffer_put(name, message->texts[0].data, message->texts[0].len);
    if (name->failed) return NULL;
    for (size_t i = 0; i < name->len; i++) words += name->data[i] == '/';
    if (words > CHORDAL__ROUTE_WORDS) return NULL;
    return chordal__consumer_find(consumer->link, name->data, name->len,
                                  json ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY, error);
}

int chordal__consumer_moved(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    static const char far[] = CHORDAL__WORDS("the object is behind too many hosts");
    int code;
    chordal__remote *remote = chordal__consumer_remote(consumer, message->numbers[0], &code);
    if (code < 0) return chordal__fail(error, code, 0, "moved what is not held");
    if (message->texts[0].len == 0 || message->numbers[1] - 1 > 1)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "moved to nowhere");
    if (!remote) return 0;
    if (remote->bound || remote->retired) return chordal__fail(error, CHORDAL_E_ORDER, 0, "moved what was bound");
    chordal__reference *reference = remote->reference;
    chordal__consumer *there = follow(consumer, message, error);
    chordal__remote *fresh = there ? new_remote(there, reference) : NULL;
    if (!fresh) {
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, CHORDAL_E_LIMIT, far, sizeof far - 1);
        return 0;
    }
    chordal__consumer_judge_way(consumer);
    if (!there->known && there->attempts < consumer->attempts) there->attempts = consumer->attempts;
    fresh->since = remote->since;
    memcpy(fresh->run, remote->run, sizeof fresh->run);
    chordal__consumer_move_blocked(consumer, there, reference);
    replace(remote, fresh);
    return 0;
}

static void source_blocked(chordal__reference *reference, int change) {
    chordal__remote *remote = remote_of(reference);
    if (!remote) return;
    remote->consumer->blocked += change;
    if (remote->consumer->blocked == 0) chordal__consumer_owes(remote->consumer);
}

/* Its question takes the place of the hold. */
static bool ask_where(chordal__remote *remote, chordal__reference *reference) {
    if (!chordal__is_placed(remote->consumer->link->links, reference->type.data, reference->type.len)) return false;
    source_blocked(reference, -reference->blocked);
    remote->reference = NULL;
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_PENDING, 0, NULL, 0);
    (void)chordal__placement_again(reference);
    end_remote(remote);
    return true;
}

static chordal__consumer *home_of(const chordal__consumer *consumer) {
    return chordal__consumer_find(consumer->link, "", 0, CHORDAL__ENCODING_BINARY, NULL);
}

/* Whether the object is there, if it did not come. */
static bool is_there(const chordal__reference *reference) {
    return reference->reason.code == CHORDAL_E_SIZE || reference->reason.code == CHORDAL_E_NOMEM;
}

/* Asked where its way began: if it was led astray it may be told better now. */
static int source_retry(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    if (!remote) return CHORDAL_E_DOWN;
    bool there = is_there(reference);
    if (reference->placed && !there && ask_where(remote, reference)) return 0;
    chordal__consumer *consumer = there ? remote->consumer : home_of(remote->consumer);
    chordal__remote *fresh = consumer ? new_remote(consumer, reference) : NULL;
    if (!fresh) return CHORDAL_E_NOMEM;
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_PENDING, 0, NULL, 0);
    chordal__consumer_move_blocked(remote->consumer, consumer, reference);
    replace(remote, fresh);
    return 0;
}

void chordal__consumer_reset(chordal__reference *reference) {
    chordal__remote *remote = remote_of(reference);
    if (!remote) return;
    remote->since = 0;
    if (!remote->bound && !remote->resumes) return; /* whole values come anyway */
    chordal__link *link = remote->consumer->link;
    chordal__remote *fresh = new_remote(remote->consumer, reference);
    if (fresh)
        replace(remote, fresh);
    else
        remote->reset = true; /* when the session is back */
    if (!fresh) chordal__link_break(link, CHORDAL_E_NOMEM);
}

static const chordal__source_functions remote_source = {
    source_release,          source_send,   chordal__consumer_cancel, chordal__consumer_forget, source_retry,
    chordal__consumer_reset, source_blocked};

int chordal__remote_attach(chordal__reference *reference, chordal__link *link, chordal_error *error) {
    if (link->state == CHORDAL_LINK_CLOSED) return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the link is closed");
    chordal__consumer *consumer = chordal__consumer_find(link, "", 0, CHORDAL__ENCODING_BINARY, error);
    if (!consumer) return CHORDAL_E_NOMEM;
    chordal__remote *remote = new_remote(consumer, reference);
    if (!remote) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a reference");
    reference->hold = remote;
    reference->source = &remote_source;
    ask(remote);
    return 0;
}
