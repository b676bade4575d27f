/* The core scenario under failing allocation: open two hosts, provide, link, hold, watch, call, commit, close.
 *
 * A call into the core that is refused is made again: with one failure the scenario then ends as if none had been,
 * over a new transport where the old one had to be cut. With all memory gone it ends early. Either way everything is
 * given back, and every call is settled. */
#include "fault/sweep.h"

#include "chordal.h"
#include "chordal/dispatch.h"

/* Of this length a text is deflated, where it may be. */
#define LARGE 20000

typedef struct world {
    fault_memory *memory;
    bool large;   /* what is committed and called with */
    bool guarded; /* the consumer is let in, what it does is judged, and all is taken back at the end */
    char json[LARGE + 32];
    chordal_host *provider, *consumer;
    chordal_dispatcher *provides, *consumes;
    chordal_id dialling, accepted, reference, watch, call, ticket;
    chordal_time now;
    bool dial;
    int state, frames, results, result_code, code;
} world;

/* Note the first failure; true when the call went well. */
static bool went(world *w, int code) {
    if (code && !w->code) w->code = code;
    return code == 0;
}

/* Make a call; when memory is missing note it and make it once more. */
#define AGAIN(w, call) (went(w, call) || (w->code == CHORDAL_E_NOMEM && (call) == 0))

/* `before`, a string, `after`. */
static const char *text_between(world *w, const char *before, const char *after) {
    size_t len = strlen(before), text = w->large ? LARGE : 4;
    memcpy(w->json, before, len);
    memset(w->json + len, 'm', text);
    strcpy(w->json + len + text, after);
    return w->json;
}

static void add(const chordal_request *request) {
    world *w = request->context;
    chordal_transaction *transaction = NULL;
    bool done = AGAIN(w, chordal_transaction_begin(request->host, request->id, &transaction, NULL)) &&
                AGAIN(w, chordal_transaction_set_json(transaction, request->object, 0, "/entries/-",
                                                      text_between(w, "{\"text\":\"", "\"}"), NULL));
    if (done) went(w, chordal_transaction_commit(transaction, &w->ticket, NULL));
    if (!done) chordal_transaction_abort(transaction);
    if (!AGAIN(w, chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)"1", 1, NULL)))
        chordal_release(request->host, request->id);
}

static void count(const chordal_request *request) {
    world *w = request->context;
    (void)AGAIN(w,
                chordal_compute_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)"7", 1, NULL));
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("list", "{\"entries\":[]}"),
    CHORDAL_DERIVE("count", "list", count),
    CHORDAL_METHOD("add", add),
};
static const chordal_type notes = {
    .name = "notes", .version = 1, .params = "board", .members = members, .members_len = 3};
static const chordal_type secrets = {.name = "notes",
                                     .version = 1,
                                     .flags = CHORDAL_TYPE_GUARDED,
                                     .params = "board",
                                     .members = members,
                                     .members_len = 3};

static void on_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    world *w = context;
    if (host == w->consumer && event->state == CHORDAL_LINK_DIAL) w->dial = true;
}

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    (void)host;
    ((world *)context)->state = (int)event->state;
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    (void)host, (void)event;
    ((world *)context)->frames++;
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    (void)host;
    world *w = context;
    w->results++;
    w->result_code = event->code;
    w->call = 0;
}

static void on_ticket(void *context, chordal_host *host, const chordal_event_TICKET *event) {
    (void)host, (void)event;
    ((world *)context)->ticket = 0;
}

static void on_authenticate(void *context, chordal_host *host, const chordal_event_AUTHENTICATE *event) {
    world *w = context;
    static const char ann[] = "{\"user\":[\"ann\",1.5]}";
    (void)AGAIN(w,
                chordal_link_admit(host, event->link, CHORDAL_FORMAT_JSON, (const uint8_t *)ann, sizeof ann - 1, NULL));
}

static void on_guard(void *context, chordal_host *host, const chordal_event_GUARD *event) {
    world *w = context;
    (void)AGAIN(w, chordal_guard_answer(host, event->guard, CHORDAL_GUARD_ALLOW, NULL));
}

static const chordal_handlers handlers = {.size = sizeof handlers,
                                          .link = on_link,
                                          .reference = on_reference,
                                          .frame = on_frame,
                                          .result = on_result,
                                          .ticket = on_ticket,
                                          .authenticate = on_authenticate,
                                          .guard = on_guard};

static bool open_world(world *w, const chordal_memory_functions *functions) {
    chordal_host_options options = {.size = sizeof options, .memory = functions};
    static const char params[] = "{\"board\":\"lunch\"}";
    return went(w, chordal_host_open(&options, &w->provider, NULL)) &&
           went(w, chordal_host_open(&options, &w->consumer, NULL)) &&
           went(w, chordal_dispatcher_open(w->provider, &handlers, w, &w->provides, NULL)) &&
           went(w, chordal_dispatcher_open(w->consumer, &handlers, w, &w->consumes, NULL)) &&
           AGAIN(w, chordal_dispatcher_provide(w->provides, w->guarded ? &secrets : &notes, NULL)) &&
           AGAIN(w, chordal_link_open(w->consumer, CHORDAL_LINK_CONNECT | (w->large ? CHORDAL_LINK_DEFLATE : 0),
                                      &w->dialling, NULL)) &&
           (!w->guarded || AGAIN(w, chordal_link_credentials(w->consumer, w->dialling, CHORDAL_FORMAT_JSON,
                                                             (const uint8_t *)"[\"token\"]", 9, NULL))) &&
           AGAIN(w, chordal_reference_get(w->consumer, w->dialling, "notes", 5, 1, 0, CHORDAL_FORMAT_JSON,
                                          (const uint8_t *)params, sizeof params - 1, &w->reference, NULL));
}

/* Only what is still owned: the last id that is given back frees a closed host. */
static void give_back(chordal_host *host, chordal_id id) {
    if (host && id) chordal_release(host, id);
}

/* A new transport, when the consumer asked for one. */
static void dial(world *w) {
    if (!w->dial) return;
    w->dial = false;
    give_back(w->provider, w->accepted);
    w->accepted = 0;
    if (!AGAIN(w, chordal_link_open(w->provider, w->guarded ? CHORDAL_LINK_AUTHENTICATE : 0, &w->accepted, NULL)))
        return;
    (void)AGAIN(w, chordal_link_up(w->provider, w->accepted, CHORDAL_CODEC_BINARY, w->now, NULL));
    (void)AGAIN(w, chordal_link_up(w->consumer, w->dialling, CHORDAL_CODEC_BINARY, w->now, NULL));
}

static void turn(world *w) {
    w->now += 100;
    went(w, chordal_dispatcher_turn(w->consumes, w->now, NULL));
    went(w, chordal_dispatcher_turn(w->provides, w->now, NULL));
    dial(w);
    if (!w->accepted) return;
    went(w, chordal_link_carry(w->consumer, w->dialling, w->provider, w->accepted, w->now, NULL, NULL));
}

/* Turns until a condition holds; bounded by half a minute of the scenario's clock. */
#define UNTIL(w, condition)                                                                                            \
    for (int turns = 0; turns < 300 && !(condition); turns++) turn(w)

static void use_world(world *w) {
    UNTIL(w, w->state == CHORDAL_REFERENCE_LIVE);
    if (w->state != CHORDAL_REFERENCE_LIVE) return;
    if (!AGAIN(w, chordal_watch_open(w->consumer, w->reference, CHORDAL_ALL_MEMBERS, 0, &w->watch, NULL))) return;
    const char *arguments = text_between(w, "[\"", "\"]");
    if (!AGAIN(w, chordal_call_start(w->consumer, w->reference, "add", 3, CHORDAL_FORMAT_JSON,
                                     (const uint8_t *)arguments, strlen(arguments), 20000, &w->call, NULL)))
        return;
    UNTIL(w, w->results > 0);
    /* Without any memory a large frame cannot be told, nor what comes after it. */
    if (!w->large || !w->memory->persistent) CHECK_INT(w->results, 1);
}

static void take_back(world *w) {
    static const char ann[] = "{\"user\":[\"ann\",1.5]}";
    if (!AGAIN(w, chordal_host_revoke(w->provider, CHORDAL_FORMAT_JSON, (const uint8_t *)ann, sizeof ann - 1, "late", 4,
                                      NULL)))
        return;
    chordal_counters counters;
    CHECK_INT(chordal_host_counters(w->provider, &counters, sizeof counters), 0);
    CHECK_INT(counters.live_sessions, 0);
    UNTIL(w, w->state == CHORDAL_REFERENCE_REVOKED);
    if (w->memory->failures == 0) CHECK_INT(w->state, CHORDAL_REFERENCE_REVOKED);
}

/* Hosts first, then what came of them. */
static void close_world(world *w) {
    chordal_dispatcher_close(w->consumes);
    chordal_dispatcher_close(w->provides);
    chordal_host_close(w->consumer);
    chordal_host_close(w->provider);
    give_back(w->provider, w->accepted);
    give_back(w->provider, w->ticket);
    give_back(w->consumer, w->watch);
    give_back(w->consumer, w->call);
    give_back(w->consumer, w->reference);
    give_back(w->consumer, w->dialling);
}

static int large_parts, guarded; /* which scenario */

static int scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {.memory = memory, .now = 1, .large = context == &large_parts, .guarded = context == &guarded};
    if (open_world(&w, functions)) use_world(&w);
    if (w.guarded && w.results) take_back(&w);
    if (memory->failures == 0) {
        CHECK_INT(w.result_code, 0);
        CHECK(w.frames >= 2);
    }
    if (!w.code && memory->failures && w.results && w.result_code == 0) w.code = CHORDAL_E_NOMEM; /* it was repaired */
    if (!w.code) w.code = w.result_code;
    close_world(&w);
    return w.code;
}

static void sweep(const char *name, void *which) {
    fault_plan plan = {.name = name,
                       .scenario = scenario,
                       .context = which,
                       .allowed = {CHORDAL_E_OUTCOME_UNKNOWN, CHORDAL_E_STATE, CHORDAL_E_DEADLINE,
                                   which == &guarded ? CHORDAL_E_METHOD : 0}, /* without its caller's authority */
                       .benign = true};
    CHECK(fault_sweep(&plan) > 50);
}

TEST(live) {
    sweep("live", NULL);
}

TEST(deflated) {
    sweep("deflated", &large_parts);
}

TEST(judged) {
    sweep("judged", &guarded);
}

TESTS({"live", live}, {"deflated", deflated}, {"judged", judged})
