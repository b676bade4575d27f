/* placement.c: types of which the program tells where each object is. Who asks waits at a question, which all share
 * that ask for the same object; nothing is remembered of its answer. */
#include "link/link.h"

/* One that waits: a hold of a peer, or a reference of this host. */
struct chordal__asking {
    chordal__list node; /* question.waiting */
    chordal__question *question;
    chordal__hold *hold;
    chordal__reference *reference;
};

/* ---- places ---- */

void chordal__places_init(chordal__links *links) {
    chordal__map_init(&links->places, links->runtime->memory, links->runtime->seed);
    chordal__map_init(&links->questions, links->runtime->memory, links->runtime->seed);
    chordal__list_init(&links->asked);
}

static void free_place(chordal__memory *memory, chordal__place *place) {
    chordal__text_clear(memory, &place->type);
    chordal__release(memory, place, sizeof *place);
}

bool chordal__is_placed(const chordal__links *links, const void *type, size_t type_len) {
    return chordal__map_get(&links->places, type, type_len) != NULL;
}

int chordal__type_place(chordal__links *links, const void *type, size_t type_len, chordal_error *error) {
    chordal__memory *memory = links->runtime->memory;
    if (type_len == 0 || type_len > CHORDAL__TYPE_NAME_BYTES)
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "a type needs a name of 1 to 765 bytes");
    if (links->places.count >= CHORDAL__OFFERS_LIMIT)
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "too many types are placed");
    if (chordal__type_find(links->runtime, type, type_len) || chordal__is_placed(links, type, type_len))
        return chordal__fail(error, CHORDAL_E_EXISTS, 0, "the type is provided or placed already");
    chordal__place *place = chordal__allocate_zero(memory, sizeof *place);
    if (!place) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a type");
    int code = chordal__text_set(memory, &place->type, type, type_len);
    if (code == 0) code = chordal__map_put(&links->places, type, type_len, place);
    if (code < 0) {
        free_place(memory, place);
        return chordal__fail(error, code, 0, "no memory for a type");
    }
    chordal__offer_to_others(links, NULL, type, type_len);
    return 0;
}

void chordal__places_offer(chordal__link *link) {
    const chordal__place *place;
    size_t at = 0;
    while ((place = chordal__map_next(&link->links->places, &at)) != NULL)
        chordal__offer(link, place->type.data, place->type.len);
}

/* ---- questions ---- */

static void free_question(chordal__question *question) {
    chordal__runtime *runtime = question->links->runtime;
    chordal__untell(&question->event);
    chordal__list_remove(&question->node);
    chordal__list_remove(&question->awaited);
    chordal__heap_remove(&runtime->deadlines, &question->due);
    if (question->id) chordal__id_free(&runtime->ids, question->id);
    chordal__text_clear(runtime->memory, &question->type);
    chordal__body_unref(question->params);
    chordal__body_unref(question->key);
    chordal__release(runtime->memory, question, sizeof *question);
}

static void forget_question(chordal__question *question) {
    chordal__map_remove(&question->links->questions, question->key->data, question->key->len);
    free_question(question);
}

/* The type's name and the params, which no other two make. */
static chordal__body *key_of(chordal__runtime *runtime, const void *type, size_t type_len, const uint8_t *params,
                             size_t params_len) {
    chordal__buffer *scratch = &runtime->scratch;
    chordal__buffer_clear(scratch);
    chordal__buffer_varint(scratch, type_len);
    chordal__buffer_put(scratch, type, type_len);
    chordal__buffer_put(scratch, params, params_len);
    return scratch->failed ? NULL : chordal__body_of_buffer(runtime->memory, scratch);
}

static chordal__body *copy(chordal__memory *memory, const uint8_t *data, size_t len) {
    chordal__body *body = chordal__body_new(memory, len);
    if (body) memcpy(body->data, data, len);
    return body;
}

static chordal__question *new_question(chordal__links *links, chordal__body *key, const void *type, size_t type_len,
                                       const uint8_t *params, size_t params_len) {
    chordal__runtime *runtime = links->runtime;
    chordal__question *question = chordal__allocate_zero(runtime->memory, sizeof *question);
    if (!question) return NULL;
    question->links = links;
    question->due.kind = CHORDAL__DUE_QUESTION;
    question->key = chordal__body_ref(key);
    chordal__list_init(&question->node);
    chordal__list_init(&question->awaited);
    chordal__list_init(&question->waiting);
    chordal__event_init(&question->event, CHORDAL__TELL_RESOLVE);
    question->params = copy(runtime->memory, params, params_len);
    question->id = chordal__id_new(&runtime->ids, CHORDAL__ID_QUESTION, question, false);
    if (question->params && question->id && chordal__text_set(runtime->memory, &question->type, type, type_len) == 0 &&
        chordal__map_put(&links->questions, key->data, key->len, question) == 0) {
        chordal__tell(runtime, &question->event);
        chordal__list_append(&links->asked, &question->node);
        runtime->counters.questions++;
        return question;
    }
    free_question(question);
    return NULL;
}

/* Join the question of an object, or ask it. NULL: no memory. */
static chordal__asking *ask(chordal__links *links, const void *type, size_t type_len, const uint8_t *params,
                            size_t params_len) {
    chordal__memory *memory = links->runtime->memory;
    chordal__body *key = key_of(links->runtime, type, type_len, params, params_len);
    chordal__asking *asking = key ? chordal__allocate_zero(memory, sizeof *asking) : NULL;
    chordal__question *question = asking ? chordal__map_get(&links->questions, key->data, key->len) : NULL;
    if (asking && !question) question = new_question(links, key, type, type_len, params, params_len);
    chordal__body_unref(key);
    if (!question) {
        chordal__release(memory, asking, sizeof *asking);
        return NULL;
    }
    asking->question = question;
    chordal__list_append(&question->waiting, &asking->node);
    return asking;
}

/* A question that nobody waits for any more is withdrawn. */
static void stop_asking(chordal__asking *asking) {
    chordal__question *question = asking->question;
    chordal__list_remove(&asking->node);
    chordal__release(question->links->runtime->memory, asking, sizeof *asking);
    if (chordal__list_empty(&question->waiting)) forget_question(question);
}

/* ---- holds of peers ---- */

static bool is_object(const chordal__buffer *packed) {
    uint8_t head = packed->len ? packed->data[0] : 0;
    return (head & 0xf0) == 0x80 || head == 0xde || head == 0xdf;
}

void chordal__placement_hold(chordal__hold *hold, const void *type, size_t type_len, const chordal__buffer *params) {
    chordal__provider *provider = hold->provider;
    if (!is_object(params)) {
        chordal__hold_fail(hold, CHORDAL_E_PARAMS, "params are an object");
        return;
    }
    if (provider->asking >= CHORDAL__ASKING_LIMIT) {
        chordal__hold_fail(hold, CHORDAL_E_LIMIT, "too many objects are looked for at once");
        return;
    }
    hold->asking = ask(provider->runtime->links, type, type_len, params->data, params->len);
    if (!hold->asking) {
        chordal__hold_fail(hold, CHORDAL_E_NOMEM, "no memory to look for the object");
        return;
    }
    hold->asking->hold = hold;
    provider->asking++;
}

void chordal__placement_drop(chordal__hold *hold) {
    if (!hold->asking) return;
    hold->provider->asking--;
    stop_asking(hold->asking);
    hold->asking = NULL;
}

/* ---- references of this host ---- */

static void let_go(chordal__reference *reference) {
    chordal__asking *asking = reference->hold;
    reference->source = NULL;
    reference->hold = NULL;
    if (asking) stop_asking(asking);
}

static void nothing(chordal__reference *reference) {
    (void)reference;
}
static void not_blocked(chordal__reference *reference, int change) {
    (void)reference;
    (void)change;
}

static int retry(chordal__reference *reference);

/* The source of a reference while it is not known where it leads; without a hold it has failed. Calls may still run
 * where it led. */
static const chordal__source_functions asked_source = {
    let_go, nothing, chordal__consumer_cancel, chordal__consumer_forget, retry, nothing, not_blocked};

static int ask_for(chordal__reference *reference) {
    chordal__asking *asking = ask(reference->runtime->links, reference->type.data, reference->type.len,
                                  reference->params->data, reference->params->len);
    reference->source = &asked_source;
    reference->hold = asking;
    if (!asking) return CHORDAL_E_NOMEM;
    asking->reference = reference;
    return 0;
}

static int retry(chordal__reference *reference) {
    int code = reference->hold ? CHORDAL_E_STATE : ask_for(reference);
    if (code == 0) chordal__reference_set_state(reference, CHORDAL_REFERENCE_PENDING, 0, NULL, 0);
    return code;
}

int chordal__placement_attach(chordal__reference *reference, chordal_error *error) {
    reference->placed = true;
    int code = ask_for(reference);
    return code < 0 ? chordal__fail(error, code, 0, "no memory for a reference") : 0;
}

static void fail_reference(chordal__reference *reference, int code, const char *words, size_t words_len) {
    chordal__reference_set_state(reference, CHORDAL_REFERENCE_FAILED, code, words, words_len);
}

bool chordal__placement_again(chordal__reference *reference) {
    static const char words[] = "no memory to look for the object";
    if (!reference->placed || !chordal__is_placed(reference->runtime->links, reference->type.data, reference->type.len))
        return false;
    if (reference->state == CHORDAL_REFERENCE_LIVE)
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_DOWN, CHORDAL_E_LOST, NULL, 0);
    reference->source = &asked_source;
    bool waits = reference->state == CHORDAL_REFERENCE_PENDING || reference->state == CHORDAL_REFERENCE_DOWN;
    if (waits && ask_for(reference) < 0) fail_reference(reference, CHORDAL_E_NOMEM, words, sizeof words - 1);
    return true;
}

/* ---- answers ---- */

/* What those who wait are told: a link, or why there is none. */
typedef struct answer {
    chordal__link *link;
    int code;
    const char *name, *words;
    size_t name_len, words_len;
} answer;

/* Whether the link leads back to the host that asks, over whatever link it asked. */
static bool is_behind(const chordal__hold *hold, const chordal__link *link) {
    const chordal__link *asks = hold->provider->origin.link; /* NULL: its session is lost */
    return asks && memcmp(link->peer_host, asks->peer_host, sizeof link->peer_host) == 0;
}

static void answer_hold(chordal__hold *hold, const answer *a) {
    static const char circle[] = "the object is said to be behind who asks for it";
    hold->asking = NULL;
    hold->provider->asking--;
    if (a->link && is_behind(hold, a->link))
        chordal__hold_fail(hold, CHORDAL_E_NO_ROUTE, circle);
    else if (a->link)
        chordal__hold_move(hold, a->link);
    else
        chordal__hold_fail_as(hold, a->code, a->name, a->name_len, a->words, a->words_len);
}

static void answer_reference(chordal__reference *reference, const answer *a) {
    chordal_error error = {0};
    reference->hold = NULL;
    int code = a->link ? chordal__remote_attach(reference, a->link, &error) : 0;
    if (code == 0 && a->link) reference->source->blocked(reference, reference->blocked); /* frames of another place */
    if (code < 0)
        fail_reference(reference, code, error.detail, strlen(error.detail));
    else if (!a->link)
        fail_reference(reference, a->code, a->words, a->words_len);
}

/* Tell all of them; who asks again because of it asks a new question. */
static void settle(chordal__question *question, const answer *a) {
    chordal__links *links = question->links;
    chordal__map_remove(&links->questions, question->key->data, question->key->len);
    while (!chordal__list_empty(&question->waiting)) {
        chordal__asking *asking = CHORDAL__ENTRY(question->waiting.next, chordal__asking, node);
        chordal__asking one = *asking;
        chordal__list_remove(&asking->node);
        chordal__release(links->runtime->memory, asking, sizeof *asking);
        if (one.hold)
            answer_hold(one.hold, a);
        else
            answer_reference(one.reference, a);
    }
    free_question(question);
}

static void give_up(chordal__question *question, int code, const char *words) {
    settle(question, &(answer){.code = code, .words = words, .words_len = strlen(words)});
}

static void no_way(chordal__question *question) {
    give_up(question, CHORDAL_E_NO_ROUTE, "the link to the object is closed");
}

/* The program may hear of it yet: once it is asked again. */
static void answered_with_closed(chordal__question *question, const chordal__link *link) {
    if (!link->was_up || question->again) {
        no_way(question);
        return;
    }
    question->again = true;
    chordal__tell(question->links->runtime, &question->event);
}

static int check_open(const chordal__question *question, chordal_error *error) {
    return question->answered ? chordal__fail(error, CHORDAL_E_STATE, 0, "the question is answered already") : 0;
}

/* A worker that was there and is started again has deadlines of its own, and its link closes in the end. */
static void wait_for(chordal__question *question, chordal__link *link) {
    chordal__list_append(&link->awaited, &question->awaited);
    if (link->was_up && link->flags & CHORDAL_LINK_WORKER)
        chordal__heap_remove(&question->links->runtime->deadlines, &question->due);
}

int chordal__question_resolve(chordal__question *question, chordal__link *link, chordal_error *error) {
    int code = check_open(question, error);
    if (code < 0) return code;
    if (!(link->flags & CHORDAL_LINK_ROUTE_OFFERS))
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "the link was not opened with ROUTE_OFFERS");
    if (link->state == CHORDAL_LINK_CLOSED) {
        answered_with_closed(question, link);
        return 0;
    }
    question->answered = true;
    if (link->state == CHORDAL_LINK_UP)
        settle(question, &(answer){.link = link});
    else
        wait_for(question, link);
    return 0;
}

int chordal__question_fail(chordal__question *question, const char *name, size_t name_len, const char *detail,
                           size_t detail_len, chordal_error *error) {
    int code = check_open(question, error);
    if (code < 0) return code;
    code = chordal__error_code(name, name_len);
    settle(question, &(answer){NULL, code ? code : CHORDAL_E_METHOD, name, detail, name_len, detail_len});
    return 0;
}

/* Before it was told there is nobody who could be late. */
void chordal__question_told(chordal__question *question) {
    chordal__runtime *runtime = question->links->runtime;
    chordal_time span = runtime->settings.resolve_timeout;
    if (span < CHORDAL_NEVER && chordal__heap_set(&runtime->deadlines, &question->due, runtime->now + span) < 0)
        give_up(question, CHORDAL_E_NOMEM, "no memory to look for the object");
}

void chordal__question_due(chordal__question *question) {
    give_up(question, CHORDAL_E_DEADLINE, "where the object is was not told in time");
}

/* ---- links that are waited for ---- */

static chordal__question *next_awaited(const chordal__link *link) {
    bool any = !chordal__list_empty(&link->awaited);
    return any ? CHORDAL__ENTRY(link->awaited.next, chordal__question, awaited) : NULL;
}

void chordal__placement_link_init(chordal__link *link) {
    chordal__list_init(&link->awaited);
}

void chordal__placement_link_up(chordal__link *link) {
    chordal__question *question;
    while ((question = next_awaited(link)) != NULL) settle(question, &(answer){.link = link});
}

/* Whose peer was there once and left: where the objects are now is asked again. */
static void ask_again(chordal__question *question) {
    chordal__list_remove(&question->awaited);
    question->answered = false;
    chordal__tell(question->links->runtime, &question->event);
}

void chordal__placement_link_closed(chordal__link *link) {
    chordal__question *question;
    while ((question = next_awaited(link)) != NULL) {
        if (link->was_up)
            ask_again(question);
        else
            no_way(question);
    }
}

/* ---- the end ---- */

/* Nothing is placed any more, so that what loses its link is not asked for again. */
void chordal__places_dispose(chordal__links *links) {
    chordal__place *place;
    size_t at = 0;
    while ((place = chordal__map_next(&links->places, &at)) != NULL) free_place(links->runtime->memory, place);
    chordal__map_dispose(&links->places);
    while (!chordal__list_empty(&links->asked))
        give_up(CHORDAL__ENTRY(links->asked.next, chordal__question, node), CHORDAL_E_CLOSED, "the host is closed");
    chordal__map_dispose(&links->questions);
}
