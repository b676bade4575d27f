/* drift.c: the C side of the drift (README.md): drift provide ADDRESS [silent], listen ADDRESS,ADDRESS…, follow
 * ADDRESS NAME [text], place ADDRESS WORD…, or work. Built by test_drift.py from the libraries and parts of the tool.
 */
#include "tool/tool.h"

#include <unistd.h>

#define FLOW 0
#define TWICE 1
#define TICK 5   /* ms */
#define PAUSE 10 /* ms, between two calls */
#define WORKERS 3
#define NAME_LEN 96

static const chordal_host_options impatient = {
    .size = sizeof impatient, .backoff_first = 200, .backoff_limit = 2000, .ping_interval = 400, .ping_timeout = 600};
static tool_program program;

static uint64_t number_of(const chordal_value *value, const char *key) {
    chordal_cursor root, field;
    uint64_t number = 0;
    chordal_cursor_root(value, &root);
    if (key && chordal_cursor_get(&root, key, strlen(key), &field)) return 0;
    return chordal_cursor_unsigned(key ? &field : &root, &number) ? 0 : number;
}

static bool is_done(const chordal_value *value) {
    chordal_cursor root, field;
    chordal_cursor_root(value, &root);
    return chordal_cursor_get(&root, "done", 4, &field) == 0 && chordal_cursor_kind(&field) == CHORDAL_KIND_TRUE;
}

/* ---- provider ---- */

static bool silent;
static uv_timer_t ticks;

typedef struct ticker {
    struct ticker *next, **at;
    chordal_host *host;
    chordal_id object;
} ticker;
static ticker *tickers;

static void made(const chordal_request *request) {
    ticker *self = calloc(1, sizeof *self);
    *self = (ticker){.next = tickers, .at = &tickers, .host = request->host, .object = request->object};
    if (tickers) tickers->at = &self->next;
    tickers = self;
    *request->data = self;
}

static void retired(const chordal_request *request) {
    ticker *self = *request->data;
    *self->at = self->next;
    if (self->next) self->next->at = self->at;
    free(self);
}

static void tick(const ticker *self) {
    chordal_value *flow = NULL;
    chordal_transaction *t = NULL;
    chordal_id ticket = 0;
    char text[32];
    if (chordal_object_value(self->host, self->object, FLOW, &flow, NULL)) return;
    unsigned long long next = number_of(flow, "tick") + 1;
    bool done = is_done(flow);
    chordal_value_unref(flow);
    if (done || chordal_transaction_begin(self->host, 0, &t, NULL)) return;
    snprintf(text, sizeof text, "%llu", next);
    chordal_transaction_set_json(t, self->object, FLOW, "/tick", text, NULL);
    strcat(text, ";");
    chordal_transaction_append(t, self->object, FLOW, "/text", text, strlen(text), NULL);
    if (chordal_transaction_commit(t, &ticket, NULL) == 0) chordal_release(self->host, ticket);
}

static void on_ticks(uv_timer_t *timer) {
    (void)timer;
    for (const ticker *self = tickers; self; self = self->next) tick(self);
}

static void twice(const chordal_request *request) {
    chordal_value *flow = NULL;
    char text[32];
    if (chordal_object_value(request->host, request->object, FLOW, &flow, NULL)) return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)number_of(flow, "tick") * 2);
    chordal_value_unref(flow);
    chordal_compute_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (uint8_t *)text, strlen(text), NULL);
}

/* Tells of a call; whether it is answered. */
static bool logged(const char *method, const tool_argument *argument) {
    printf("%s %s\n", method, argument->text);
    fflush(stdout);
    return !silent || strncmp(argument->text, "late", 4) != 0;
}

static void push(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    chordal_error error = {0};
    if (!tool_arguments(request, "s", arguments)) return;
    chordal_transaction *t = logged("push", &arguments[0]) ? tool_begin(request) : NULL;
    if (t) {
        tool_text json = {0};
        tool_text_json(&json, arguments[0].text, arguments[0].text_len);
        int code = chordal_transaction_set_json(t, request->object, FLOW, "/runs/-", json.data, &error);
        tool_finish(request, t, code, &error, "0");
        tool_text_free(&json);
    }
    tool_arguments_free(arguments);
}

static void mark(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    chordal_error error = {0};
    char path[NAME_LEN + 16];
    if (!tool_arguments(request, "s", arguments)) return;
    snprintf(path, sizeof path, "/marks/%s", arguments[0].text);
    chordal_transaction *t = logged("mark", &arguments[0]) ? tool_begin(request) : NULL;
    if (t)
        tool_finish(request, t, chordal_transaction_set_json(t, request->object, FLOW, path, "true", &error), &error,
                    "null");
    tool_arguments_free(arguments);
}

static void finish(const chordal_request *request) {
    chordal_error error = {0};
    chordal_transaction *t = tool_begin(request);
    if (t)
        tool_finish(request, t, chordal_transaction_set_json(t, request->object, FLOW, "/done", "true", &error), &error,
                    "null");
}

static void fill(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    if (!tool_arguments(request, "i", arguments)) return;
    size_t size = (size_t)arguments[0].index;
    char *json = malloc(size + 3);
    memset(json, 'x', size + 2);
    json[0] = json[size + 1] = '"', json[size + 2] = 0;
    tool_answer(request, json);
    free(json);
}

static void digest(const chordal_request *request) {
    chordal_value *flow = NULL;
    char json[24];
    if (chordal_object_value(request->host, request->object, FLOW, &flow, NULL)) return;
    snprintf(json, sizeof json, "\"%016llx\"", (unsigned long long)chordal_value_digest(flow));
    chordal_value_unref(flow);
    tool_answer(request, json);
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("flow", "{\"tick\": 0, \"text\": \"0;\", \"runs\": [], \"marks\": {}, \"done\": false}"),
    CHORDAL_DERIVE("twice", "flow", twice),
    CHORDAL_METHOD("push", push),
    CHORDAL_METHOD_IDEMPOTENT("mark", mark),
    CHORDAL_METHOD("finish", finish),
    CHORDAL_METHOD("fill", fill),
    CHORDAL_METHOD("digest", digest),
};
static const chordal_type drift = {.name = "drift",
                                   .version = 1,
                                   .params = "name",
                                   .members = members,
                                   .members_len = sizeof members / sizeof *members,
                                   .made = made,
                                   .retired = retired};

static void on_ready(void *context, chordal_host *host, const chordal_event_LINK *event) {
    static bool said;
    (void)context, (void)host;
    if (said || event->state != CHORDAL_LINK_UP) return;
    said = puts("ready") >= 0;
    fflush(stdout);
}

static void listen_at(const char *addresses) {
    char address[256], reached[256];
    chordal_error error = {0};
    while (*addresses) {
        size_t len = strcspn(addresses, ",");
        snprintf(address, sizeof address, "%.*s", (int)len, addresses);
        if (chordal_uv_listen(program.adapter, address, NULL, reached, sizeof reached, &error))
            tool_die(address, &error);
        printf("listening %s\n", reached);
        addresses += len + (addresses[len] == ',');
    }
    fflush(stdout);
}

static void open_eager(const chordal_handlers *handlers) {
    chordal_host_options eager = impatient;
    eager.backoff_first = 20, eager.backoff_limit = 100;
    tool_program_open(&program, &eager, handlers, NULL);
}

static void begin_drift(void) {
    tool_program_provide(&program, &drift);
    uv_timer_init(&program.loop, &ticks);
    uv_timer_start(&ticks, on_ticks, TICK, TICK);
    uv_unref((uv_handle_t *)&ticks);
}

static int provide(const char *job, const char *address) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .link = on_ready};
    bool listens = strcmp(job, "listen") == 0;
    open_eager(listens ? NULL : &handlers);
    begin_drift();
    if (listens)
        listen_at(address);
    else
        tool_program_connect(&program, address, CHORDAL_CODEC_BINARY, CHORDAL_LINK_OFFER);
    return tool_program_run(&program);
}

/* ---- a server whose objects live in a worker, and the worker ---- */

static const char *const *words;

static void on_resolve(void *context, chordal_host *host, const chordal_event_RESOLVE *event) {
    static chordal_id to_worker;
    const chordal_uv_worker_options options = {.size = sizeof options, .arguments = words};
    chordal_uv_worker *worker;
    chordal_error error = {0};
    (void)context;
    if (!to_worker && chordal_uv_worker_start(program.adapter, &options, &to_worker, &worker, &error))
        tool_die("worker", &error);
    if (chordal_resolve(host, event->question, to_worker, &error)) tool_die("resolve", &error);
}

/* A worker that hears nothing of its parent ends, and the next one has no memory: not to be for a late ping. */
static void open_patient(const chordal_handlers *handlers) {
    const chordal_host_options patient = {.size = sizeof patient, .backoff_first = 20, .backoff_limit = 100};
    tool_program_open(&program, &patient, handlers, NULL);
}

static int place(const char *address) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .link = on_ready, .resolve = on_resolve};
    chordal_error error = {0};
    open_patient(&handlers);
    if (chordal_type_place(program.host, "drift", 5, &error)) tool_die("drift", &error);
    tool_program_connect(&program, address, CHORDAL_CODEC_BINARY, CHORDAL_LINK_OFFER);
    return tool_program_run(&program);
}

static void on_parent(void *context, chordal_host *host, const chordal_event_LINK *event) {
    (void)context, (void)host;
    if (event->state == CHORDAL_LINK_CLOSED) tool_program_stop(&program, 0);
}

static int serve_parent(void) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .link = on_parent};
    chordal_id link;
    chordal_error error = {0};
    open_patient(&handlers);
    begin_drift();
    if (chordal_uv_parent(program.adapter, 0, &link, &error)) tool_die("parent", &error);
    printf("working %d\n", (int)getpid());
    fflush(stdout);
    return tool_program_run(&program);
}

/* ---- follower ---- */

typedef struct caller { /* one after the other, like a thread */
    uv_timer_t pause;
    int number, sent;
    chordal_id call;
    char text[NAME_LEN];
    const char *method;
} caller;

static const char *name;
static chordal_id reference, watch, last_call;
static caller callers[WORKERS], late[2];
static int working = WORKERS + 2;
static tool_text outcomes;
static uint64_t frames, snapshots, back, torn, last_commit, last_tick;
static bool begun;

static void start_call(caller *self, const char *method) {
    char arguments[NAME_LEN + 8];
    chordal_error error = {0};
    self->method = method;
    snprintf(arguments, sizeof arguments, "[\"%s\"]", self->text);
    if (chordal_call_start(program.host, reference, method, strlen(method), CHORDAL_FORMAT_JSON, (uint8_t *)arguments,
                           strlen(arguments), 0, &self->call, &error))
        tool_die(method, &error);
}

static chordal_value *flow_of(void) {
    chordal_value *flow = NULL;
    chordal_error error = {0};
    if (chordal_reference_value(program.host, reference, FLOW, &flow, &error)) tool_die("flow", &error);
    return flow;
}

static void stop_working(void) {
    chordal_error error = {0};
    if (--working) return;
    if (chordal_call_start(program.host, reference, "digest", 6, CHORDAL_FORMAT_JSON, (uint8_t *)"[]", 2, 0, &last_call,
                           &error))
        tool_die("digest", &error);
}

static void work(uv_timer_t *pause) {
    caller *self = pause->data;
    chordal_value *flow = flow_of();
    bool done = is_done(flow);
    chordal_value_unref(flow);
    if (done) {
        stop_working();
        return;
    }
    snprintf(self->text, sizeof self->text, "%s-%d-%d", name, self->number, self->sent);
    start_call(self, self->sent++ % 3 == 2 ? "mark" : "push");
    chordal_uv_wake(program.adapter);
}

static void note_outcome(const caller *self, const chordal_event_RESULT *event) {
    char line[NAME_LEN * 2];
    const char *outcome = event->code ? chordal_error_name(event->code) : "ok";
    snprintf(line, sizeof line, "%s\"%s %s\": \"%s\"", outcomes.len ? ", " : "", self->method, self->text, outcome);
    tool_text_add(&outcomes, line);
}

static void report(const chordal_event_RESULT *event) {
    const uint8_t *packed = NULL;
    size_t len = 0;
    chordal_value *flow = flow_of(), *doubled = NULL, *provider = NULL;
    tool_text answered = {0};
    chordal_counters counters;
    chordal_part_bytes(program.host, &event->record, &event->value, &packed, &len);
    chordal_value_decode(program.host, CHORDAL_FORMAT_PACKED, packed, len, &provider, NULL);
    chordal_reference_value(program.host, reference, TWICE, &doubled, NULL);
    chordal_host_counters(program.host, &counters, sizeof counters);
    tool_text_value(&answered, provider);
    printf("{\"frames\": %llu, \"snapshots\": %llu, \"back\": %llu, \"torn\": %llu, \"outcomes\": {%s}, "
           "\"digest\": \"%016llx\", \"provider\": %s, \"tick\": %llu, \"twice\": %llu, \"reconnects\": %llu}\n",
           (unsigned long long)frames, (unsigned long long)snapshots, (unsigned long long)back,
           (unsigned long long)torn, outcomes.data, (unsigned long long)chordal_value_digest(flow), answered.data,
           (unsigned long long)number_of(flow, "tick"), (unsigned long long)number_of(doubled, NULL),
           (unsigned long long)counters.reconnects);
    tool_text_free(&answered);
    chordal_value_unref(provider);
    chordal_value_unref(doubled);
    chordal_value_unref(flow);
    tool_program_stop(&program, 0);
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    (void)context, (void)host;
    if (event->call == last_call) {
        report(event);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (late[i].call == event->call) {
            note_outcome(&late[i], event);
            stop_working();
        }
    for (int i = 0; i < WORKERS; i++)
        if (callers[i].call == event->call) {
            note_outcome(&callers[i], event);
            uv_timer_start(&callers[i].pause, work, PAUSE, 0);
        }
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    chordal_value *flow = flow_of();
    chordal_cursor root, field;
    char wanted[32];
    size_t len = 0;
    (void)context, (void)host;
    uint64_t at = number_of(flow, "tick");
    bool snapshot = event->record.flags & CHORDAL_FRAME_SNAPSHOT;
    frames++;
    snapshots += snapshot;
    back += !snapshot && (event->commit <= last_commit || at < last_tick);
    chordal_cursor_root(flow, &root);
    chordal_cursor_get(&root, "text", 4, &field);
    char *text = tool_string(&field, &len);
    snprintf(wanted, sizeof wanted, ";%llu;", (unsigned long long)at);
    torn += at && (len < strlen(wanted) || strcmp(text + len - strlen(wanted), wanted) != 0);
    free(text);
    last_commit = event->commit, last_tick = at;
    chordal_value_unref(flow);
}

static void begin(void) {
    static const char *const methods[] = {"push", "mark"};
    chordal_error error = {0};
    begun = true;
    puts("live");
    fflush(stdout);
    if (chordal_watch_open(program.host, reference, FLOW, 0, &watch, &error)) tool_die("watch", &error);
    for (int i = 0; i < 2; i++) {
        snprintf(late[i].text, sizeof late[i].text, "late-%s", name);
        start_call(&late[i], methods[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        callers[i].number = i;
        callers[i].pause.data = &callers[i];
        uv_timer_init(&program.loop, &callers[i].pause);
        uv_unref((uv_handle_t *)&callers[i].pause);
        uv_timer_start(&callers[i].pause, work, PAUSE, 0);
    }
}

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    (void)context, (void)host;
    if (event->state == CHORDAL_REFERENCE_LIVE && !begun) begin();
    if (event->state < CHORDAL_REFERENCE_FAILED) return;
    fprintf(stderr, "no longer held: %s\n", chordal_error_name(event->code));
    tool_program_stop(&program, 1);
}

static int follow(const char *address, const char *codec) {
    static const chordal_handlers handlers = {
        .size = sizeof handlers, .reference = on_reference, .frame = on_frame, .result = on_result};
    tool_target target = {.address = address, .type = "drift"};
    tool_text_add(&target.params, "{\"name\": ");
    tool_text_json(&target.params, name, strlen(name));
    tool_text_add(&target.params, "}");
    tool_program_open(&program, &impatient, &handlers, NULL);
    reference = tool_target_get(&target, program.host, tool_program_connect(&program, address, tool_codec(codec), 0));
    int status = tool_program_run(&program);
    tool_text_free(&target.params);
    tool_text_free(&outcomes);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "work") == 0) return serve_parent();
    if (argc < 3) return 2;
    if (strcmp(argv[1], "place") == 0) {
        words = (const char *const *)argv + 3;
        return place(argv[2]);
    }
    if (strcmp(argv[1], "follow") != 0) {
        silent = argc > 3;
        return provide(argv[1], argv[2]);
    }
    if (argc < 4) return 2;
    name = argv[3];
    return follow(argv[2], argc > 4 ? argv[4] : NULL);
}
