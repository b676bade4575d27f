/* Events as function calls, and types as tables. */
#include "check.h"

#include "chordal.h"
#include "chordal/dispatch.h"

typedef struct world {
    chordal_host *host;
    chordal_dispatcher *dispatcher;
    chordal_id reference, watch;
    int made, retired, computed, live, frames, tickets, results;
    int32_t code;
    char name[32], detail[64], params[64];
    char *last; /* the last result as JSON, NUL-terminated */
    size_t packed_len;
    bool has_value;
} world;

static world *world_of(const chordal_request *request) {
    return request->context;
}

static char *json_of(const chordal_value *value) {
    size_t len = 0;
    chordal_value_encode(value, CHORDAL_FORMAT_JSON, NULL, 0, &len, NULL);
    char *json = calloc(1, len + 1);
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, (uint8_t *)json, len, &len, NULL), 0);
    return json;
}

/* ---- a type ---- */

static void on_made(const chordal_request *request) {
    char *params = json_of(request->value);
    world_of(request)->made++;
    snprintf(world_of(request)->params, sizeof world_of(request)->params, "%s", params);
    free(params);
    *request->data = malloc(16);
    strcpy(*request->data, "mine");
    CHECK_INT(request->id, 0);
}

static void on_retired(const chordal_request *request) {
    world_of(request)->retired++;
    CHECK_TEXT((char *)*request->data, "mine");
    free(*request->data);
}

static void on_double(const chordal_request *request) {
    chordal_value *value = NULL;
    chordal_cursor root;
    int64_t number = 0;
    char json[24];
    world_of(request)->computed++;
    CHECK_INT(chordal_object_value(request->host, request->object, 0, &value, NULL), 0);
    chordal_cursor_root(value, &root);
    chordal_cursor_integer(&root, &number);
    chordal_value_unref(value);
    snprintf(json, sizeof json, "%lld", (long long)number * 2);
    chordal_compute_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL);
}

static void answer(const chordal_request *request, const char *json) {
    CHECK_INT(
        chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL),
        0);
}

static void on_set(const chordal_request *request) {
    chordal_transaction *transaction = NULL;
    chordal_id ticket = 0;
    CHECK_TEXT((char *)*request->data, "mine");
    char *json = json_of(request->value);
    json[strlen(json) - 1] = '\0';
    CHECK_INT(chordal_transaction_begin(request->host, request->id, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(transaction, request->object, 0, "", json + 1, NULL), 0);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, NULL), 0);
    answer(request, "\"set\"");
    free(json);
}

static void on_take(const chordal_request *request) {
    world_of(request)->has_value = request->value != NULL;
    world_of(request)->packed_len = request->packed_len;
    answer(request, "null");
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("number", "1"), CHORDAL_DERIVE("double", "number", on_double),
    CHORDAL_METHOD("set", on_set),   CHORDAL_METHOD("take", on_take),
    CHORDAL_METHOD("missing", NULL),
};
static const chordal_type type = {
    .name = "thing",
    .version = 3,
    .params = "a  b",
    .members = members,
    .members_len = sizeof members / sizeof *members,
    .made = on_made,
    .retired = on_retired,
};

/* ---- a holder ---- */

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    (void)host;
    ((world *)context)->live += event->state == CHORDAL_REFERENCE_LIVE;
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    (void)host, (void)event;
    ((world *)context)->frames++;
}

static void on_ticket(void *context, chordal_host *host, const chordal_event_TICKET *event) {
    (void)host;
    CHECK_INT(event->code, 0);
    ((world *)context)->tickets++;
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    world *self = context;
    const uint8_t *data;
    size_t len;
    chordal_value *value = NULL;
    self->results++;
    self->code = event->code;
    snprintf(self->name, sizeof self->name, "%.*s", (int)event->name.length,
             chordal_span_text(&event->record, event->name));
    snprintf(self->detail, sizeof self->detail, "%.*s", (int)event->detail.length,
             chordal_span_text(&event->record, event->detail));
    if (event->code) return;
    CHECK_INT(chordal_part_bytes(host, &event->record, &event->value, &data, &len), 0);
    CHECK_INT(chordal_value_decode(host, CHORDAL_FORMAT_PACKED, data, len, &value, NULL), 0);
    free(self->last);
    self->last = json_of(value);
    chordal_value_unref(value);
}

static const chordal_handlers handlers = {
    .size = sizeof handlers, .reference = on_reference, .frame = on_frame, .ticket = on_ticket, .result = on_result};

static void turn(world *self) {
    chordal_error error = {0};
    if (chordal_dispatcher_turn(self->dispatcher, 0, &error)) CHECK_FAIL("turn: %s", error.detail);
}

static void open(world *self) {
    static const char params[] = "{\"a\": 1, \"b\": [\"x\"]}";
    chordal_error error = {0};
    memset(self, 0, sizeof *self);
    CHECK_INT(chordal_host_open(NULL, &self->host, &error), 0);
    CHECK_INT(chordal_dispatcher_open(self->host, &handlers, self, &self->dispatcher, &error), 0);
    CHECK_INT(chordal_dispatcher_provide(self->dispatcher, &type, &error), 0);
    CHECK_INT(chordal_reference_get(self->host, 0, "thing", 5, 3, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                    sizeof params - 1, &self->reference, &error),
              0);
    turn(self);
    CHECK_INT(self->live, 1);
}

static void shut(world *self) {
    chordal_release(self->host, self->watch);
    chordal_release(self->host, self->reference);
    chordal_dispatcher_close(self->dispatcher);
    chordal_host_close(self->host);
    free(self->last);
}

static void call(world *self, const char *method, uint32_t format, const void *arguments, size_t len) {
    chordal_id id = 0;
    chordal_error error = {0};
    if (chordal_call_start(self->host, self->reference, method, strlen(method), format, arguments, len, 0, &id, &error))
        CHECK_FAIL("call: %s", error.detail);
    turn(self);
}

/* ---- tests ---- */

TEST(declaration) {
    static const char expected[] = "{\"name\": \"thing\", \"version\": 3, \"params\": [\"a\", \"b\"], \"members\": ["
                                   "{\"name\": \"number\", \"kind\": \"document\", \"initial\": 1},\n "
                                   "{\"name\": \"double\", \"kind\": \"derive\", \"from\": [\"number\"]},\n "
                                   "{\"name\": \"set\", \"kind\": \"method\"},\n "
                                   "{\"name\": \"take\", \"kind\": \"method\"},\n "
                                   "{\"name\": \"missing\", \"kind\": \"method\"}]}";
    char buffer[1024];
    size_t len = 0;
    CHECK_INT(chordal_type_declaration(&type, buffer, sizeof buffer, &len, NULL), 0);
    CHECK_BYTES(buffer, len, expected, sizeof expected - 1);
    CHECK_INT(chordal_type_declaration(&type, buffer, 10, &len, NULL), CHORDAL_E_ROOM);
    CHECK_INT(len, sizeof expected - 1);
    chordal_type marked = {.name = "m", .version = 1, .flags = CHORDAL_TYPE_KEEP | CHORDAL_TYPE_START};
    CHECK_INT(chordal_type_declaration(&marked, buffer, sizeof buffer, &len, NULL), 0);
    static const char expected_marked[] =
        "{\"name\": \"m\", \"version\": 1, \"params\": [], \"keep\": true, \"start\": true, \"members\": []}";
    CHECK_BYTES(buffer, len, expected_marked, sizeof expected_marked - 1);
    static const chordal_member again[] = {CHORDAL_METHOD_IDEMPOTENT("again", NULL)};
    chordal_type repeats = {.name = "r", .version = 1, .members = again, .members_len = 1};
    CHECK_INT(chordal_type_declaration(&repeats, buffer, sizeof buffer, &len, NULL), 0);
    static const char expected_repeats[] = "{\"name\": \"r\", \"version\": 1, \"params\": [], \"members\": ["
                                           "{\"name\": \"again\", \"kind\": \"method\", \"idempotent\": true}]}";
    CHECK_BYTES(buffer, len, expected_repeats, sizeof expected_repeats - 1);
}

TEST(functions) {
    world self;
    open(&self);
    CHECK_INT(self.made, 1);
    CHECK_TEXT(self.params, "{\"a\":1,\"b\":[\"x\"]}");
    CHECK_INT(self.computed, 1);
    CHECK_INT(chordal_watch_open(self.host, self.reference, CHORDAL_ALL_MEMBERS, 0, &self.watch, NULL), 0);
    turn(&self);
    CHECK_INT(self.frames, 2);
    call(&self, "set", CHORDAL_FORMAT_JSON, "[21]", 4);
    CHECK_INT(self.results, 1);
    CHECK_INT(self.code, 0);
    CHECK_TEXT(self.last, "\"set\"");
    CHECK_INT(self.tickets, 1);
    CHECK_INT(self.computed, 2);
    CHECK_INT(self.frames, 4);
    chordal_release(self.host, self.watch);
    chordal_release(self.host, self.reference);
    turn(&self);
    CHECK_INT(self.retired, 1);
    shut(&self);
    CHECK_INT(self.retired, 1);
}

TEST(bytes_among_the_arguments) {
    static const uint8_t arguments[] = {0x92, 0xc4, 0x02, 0x00, 0xff, 0x01};
    world self;
    open(&self);
    call(&self, "take", CHORDAL_FORMAT_PACKED, arguments, sizeof arguments);
    CHECK_INT(self.has_value, 0);
    CHECK_INT(self.packed_len, sizeof arguments);
    CHECK_TEXT(self.last, "null");
    call(&self, "take", CHORDAL_FORMAT_JSON, "[]", 2);
    CHECK_INT(self.has_value, 1);
    shut(&self);
}

TEST(a_member_without_function) {
    world self;
    open(&self);
    call(&self, "missing", CHORDAL_FORMAT_JSON, "[]", 2);
    CHECK_INT(self.code, CHORDAL_E_METHOD);
    CHECK_TEXT(self.name, "no_member");
    shut(&self);
}

/* Records and parts over the dispatcher's own buffer, and the inline limit of the host. */
TEST(large_values) {
    enum { SIZE = 300000 };
    static char arguments[SIZE + 8];
    world self;
    open(&self);
    memset(arguments, 'x', sizeof arguments);
    memcpy(arguments, "[\"", 2);
    memcpy(arguments + SIZE, "\"]", 2);
    for (size_t len = SIZE + 2; len > 1000; len /= 3) {
        memcpy(arguments + len - 2, "\"]", 2);
        call(&self, "take", CHORDAL_FORMAT_JSON, arguments, len);
        CHECK_INT(self.code, 0);
        CHECK(self.packed_len > len - 4);
    }
    shut(&self);
}

TEST(closed_with_objects) {
    world self;
    open(&self);
    chordal_dispatcher_close(self.dispatcher);
    CHECK_INT(self.retired, 1);
    self.dispatcher = NULL;
    shut(&self);
    chordal_dispatcher_close(NULL);
}

TEST(unknown_events_are_skipped) {
    world self;
    chordal_record record = {.length = sizeof record, .kind = CHORDAL_EVENT_END + 7};
    open(&self);
    chordal_dispatcher_event(self.dispatcher, self.host, &record);
    shut(&self);
}

TEST(refused) {
    static const chordal_member wrong[] = {CHORDAL_DOCUMENT("a", "{")};
    chordal_type broken = {.name = "broken", .version = 1, .members = wrong, .members_len = 1};
    chordal_error error = {0};
    world self;
    open(&self);
    CHECK(chordal_dispatcher_provide(self.dispatcher, &broken, &error) < 0);
    CHECK_INT(chordal_dispatcher_provide(self.dispatcher, &type, &error), CHORDAL_E_EXISTS);
    shut(&self);
}

/* ---- who may ---- */

static int asked;

static void admit(void *context, chordal_host *host, const chordal_event_AUTHENTICATE *event) {
    (void)context;
    asked++;
    CHECK_INT(chordal_link_admit(host, event->link, CHORDAL_FORMAT_JSON, (const uint8_t *)"7", 1, NULL), 0);
}
static void judge(void *context, chordal_host *host, const chordal_event_GUARD *event) {
    (void)context;
    asked++;
    CHECK_INT(chordal_guard_answer(host, event->guard, CHORDAL_GUARD_ALLOW, NULL), 0);
}
static void who(const chordal_request *request) {
    char *json = request->authority ? json_of(request->authority) : NULL;
    chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)(json ? json : "null"),
                        json ? strlen(json) : 4, NULL);
    free(json);
}
static const chordal_member secret_members[] = {CHORDAL_METHOD("who", who)};
static const chordal_type secret = {
    .name = "secret", .version = 1, .flags = CHORDAL_TYPE_GUARDED, .members = secret_members, .members_len = 1};
typedef struct outcome {
    int state, code, result;
} outcome;
static void note_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    (void)host;
    if (event->state == CHORDAL_LINK_CLOSED) ((outcome *)context)->code = event->code;
}
static void note_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    (void)host;
    ((outcome *)context)->state = (int)event->state;
    if (event->code) ((outcome *)context)->code = event->code;
}
static void note_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    (void)host;
    ((outcome *)context)->result = event->code ? event->code : 1;
    CHECK_INT(*((const uint8_t *)event + event->value.offset), 7);
}

/* A table that a program of before has: its size ends before the functions that came later. */
static outcome run_guarded(const chordal_handlers *given, uint32_t flags) {
    static const chordal_handlers notes = {
        .size = sizeof notes, .link = note_link, .reference = note_reference, .result = note_result};
    outcome seen = {0};
    chordal_host *provider, *consumer;
    chordal_dispatcher *provides, *consumes;
    chordal_id a, b, reference, call = 0;
    CHECK_INT(chordal_host_open(NULL, &provider, NULL), 0);
    CHECK_INT(chordal_host_open(NULL, &consumer, NULL), 0);
    CHECK_INT(chordal_dispatcher_open(provider, given, NULL, &provides, NULL), 0);
    CHECK_INT(chordal_dispatcher_open(consumer, &notes, &seen, &consumes, NULL), 0);
    CHECK_INT(chordal_dispatcher_provide(provides, &secret, NULL), 0);
    CHECK_INT(chordal_link_open(provider, flags, &a, NULL), 0);
    CHECK_INT(chordal_link_open(consumer, CHORDAL_LINK_CONNECT, &b, NULL), 0);
    CHECK_INT(chordal_link_up(provider, a, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(consumer, b, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_reference_get(consumer, b, "secret", 6, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2,
                                    &reference, NULL),
              0);
    for (int turn = 0; turn < 20; turn++) {
        chordal_link_carry(provider, a, consumer, b, 0, NULL, NULL);
        CHECK_INT(chordal_dispatcher_turn(provides, 0, NULL), 0);
        CHECK_INT(chordal_dispatcher_turn(consumes, 0, NULL), 0);
        if (seen.state == CHORDAL_REFERENCE_LIVE && !call)
            CHECK_INT(chordal_call_start(consumer, reference, "who", 3, CHORDAL_FORMAT_JSON, (const uint8_t *)"[]", 2,
                                         0, &call, NULL),
                      0);
    }
    chordal_dispatcher_close(provides);
    chordal_dispatcher_close(consumes);
    chordal_host_forget(provider);
    chordal_host_forget(consumer);
    return seen;
}

TEST(who_may) {
    chordal_handlers own = {.size = sizeof own, .authenticate = admit, .guard = judge};
    outcome seen = run_guarded(&own, CHORDAL_LINK_AUTHENTICATE);
    CHECK_INT(seen.result, 1);
    CHECK_INT(asked, 3); /* the peer, its hold, its call */
    own.guard = NULL;
    seen = run_guarded(&own, CHORDAL_LINK_AUTHENTICATE);
    CHECK_INT(seen.code, CHORDAL_E_DENIED);
    own.authenticate = NULL;
    seen = run_guarded(&own, CHORDAL_LINK_AUTHENTICATE);
    CHECK_INT(seen.code, CHORDAL_E_REFUSED);
    seen = run_guarded(NULL, 0);
    CHECK_INT(seen.code, CHORDAL_E_DENIED);
    own.guard = judge;
    own.size = offsetof(chordal_handlers, authenticate);
    seen = run_guarded(&own, 0);
    CHECK_INT(seen.code, CHORDAL_E_DENIED);
}

TESTS({"declaration", declaration}, {"functions", functions}, {"bytes_among_the_arguments", bytes_among_the_arguments},
      {"a_member_without_function", a_member_without_function}, {"large_values", large_values},
      {"closed_with_objects", closed_with_objects}, {"unknown_events_are_skipped", unknown_events_are_skipped},
      {"refused", refused}, {"who_may", who_may})
