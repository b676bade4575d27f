/* peer.h: hosts on one loop, with a small type to provide and hold, for the tests of chordal_uv. */
#ifndef CHORDAL_TESTS_UV_PEER_H
#define CHORDAL_TESTS_UV_PEER_H

#include "check.h"

#include <stdbool.h>
#include <unistd.h>
#include <uv.h>

#include "chordal.h"
#include "chordal/dispatch.h"
#include "chordal/uv.h"

/* A host on a loop, and what it was told. */
typedef struct peer {
    uv_loop_t *loop;
    chordal_host *host;
    chordal_dispatcher *dispatcher;
    chordal_uv *adapter;
    char address[256]; /* where it listens */
    chordal_id link, reference, watch;
    uint32_t link_state, reference_state;
    int32_t link_code;
    uint32_t ups; /* times that a link came up */
    uint64_t results, failures, frames;
    bool close_on_up; /* close the adapter from inside of the event */
    void (*resolve)(void *context, chordal_host *host, const chordal_event_RESOLVE *event);
} peer;

/* ---- the type "list": a document and a method that appends to it ---- */

static void list_add(const chordal_request *request) {
    chordal_transaction *transaction = NULL;
    chordal_id ticket = 0;
    char text[65536];
    size_t len = 0;
    chordal_cursor arguments, first;
    chordal_cursor_root(request->value, &arguments);
    if (chordal_cursor_at(&arguments, 0, &first) || chordal_cursor_string(&first, text, sizeof text, &len) ||
        chordal_transaction_begin(request->host, request->id, &transaction, NULL)) {
        chordal_call_fail(request->host, request->id, "arguments", 9, "", 0, NULL);
        return;
    }
    CHECK_INT(chordal_transaction_append(transaction, request->object, 0, "/text", text, len, NULL), 0);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, NULL), 0);
    chordal_release(request->host, ticket);
    chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)"null", 4, NULL);
}

static const chordal_member list_members[] = {
    CHORDAL_DOCUMENT("list", "{\"text\": \"\"}"),
    CHORDAL_METHOD("add", list_add),
};
static const chordal_type list_type = {.name = "list",
                                       .version = 1,
                                       .flags = CHORDAL_TYPE_KEEP,
                                       .params = "name",
                                       .members = list_members,
                                       .members_len = 2};

/* ---- events ---- */

static void on_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    peer *self = context;
    (void)host;
    self->link_state = event->state;
    self->link_code = event->code;
    self->ups += event->state == CHORDAL_LINK_UP;
    if (event->state == CHORDAL_LINK_UP && self->close_on_up) {
        chordal_uv_close(self->adapter);
        self->adapter = NULL;
    }
}

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    peer *self = context;
    self->reference_state = event->state;
    if (event->state == CHORDAL_REFERENCE_LIVE && !self->watch)
        CHECK_INT(chordal_watch_open(host, self->reference, CHORDAL_ALL_MEMBERS, 0, &self->watch, NULL), 0);
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    peer *self = context;
    (void)host;
    if (event->code)
        self->failures++;
    else
        self->results++;
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    (void)host, (void)event;
    ((peer *)context)->frames++;
}

static void on_resolve(void *context, chordal_host *host, const chordal_event_RESOLVE *event) {
    ((peer *)context)->resolve(context, host, event);
}

/* Who shows "secret" is let in as "ann". */
static void on_authenticate(void *context, chordal_host *host, const chordal_event_AUTHENTICATE *event) {
    static const uint8_t secret[] = "\xa6secret", ann[] = "\"ann\"";
    const uint8_t *shown;
    size_t len;
    (void)context;
    CHECK_INT(chordal_part_bytes(host, &event->record, &event->credentials, &shown, &len), 0);
    if (len == sizeof secret - 1 && memcmp(shown, secret, len) == 0)
        CHECK_INT(chordal_link_admit(host, event->link, CHORDAL_FORMAT_JSON, ann, sizeof ann - 1, NULL), 0);
    else
        CHECK_INT(chordal_link_refuse(host, event->link, "no such secret", 14, NULL), 0);
}

static const chordal_handlers handlers = {.size = sizeof handlers,
                                          .link = on_link,
                                          .reference = on_reference,
                                          .result = on_result,
                                          .frame = on_frame,
                                          .resolve = on_resolve,
                                          .authenticate = on_authenticate};

/* ---- life ---- */

static void peer_open_with(peer *self, uv_loop_t *loop, const chordal_host_options *options) {
    chordal_error error = {0};
    memset(self, 0, sizeof *self);
    self->loop = loop;
    CHECK_INT(chordal_host_open(options, &self->host, &error), 0);
    CHECK_INT(chordal_dispatcher_open(self->host, &handlers, self, &self->dispatcher, &error), 0);
    CHECK_INT(chordal_uv_open(loop, self->host, chordal_dispatcher_event, self->dispatcher, &self->adapter, &error), 0);
}

static void peer_open(peer *self, uv_loop_t *loop) {
    chordal_host_options options = {.size = sizeof options, .backoff_first = 20, .backoff_limit = 50};
    peer_open_with(self, loop, &options);
}

static void peer_listen(peer *self, const char *address, uint32_t link_flags) {
    chordal_error error = {0};
    chordal_uv_server_options options = {.size = sizeof options, .link_flags = link_flags};
    int code = chordal_uv_listen(self->adapter, address, &options, self->address, sizeof self->address, &error);
    if (code) CHECK_FAIL("listen at %s: %s", address, error.detail);
}

static void peer_provide(peer *self) {
    chordal_error error = {0};
    if (chordal_dispatcher_provide(self->dispatcher, &list_type, &error)) CHECK_FAIL("provide: %s", error.detail);
}

static void peer_connect(peer *self, const char *address, uint32_t codec, uint32_t flags) {
    chordal_error error = {0};
    if (chordal_uv_connect(self->adapter, address, codec, flags, &self->link, &error))
        CHECK_FAIL("connect to %s: %s", address, error.detail);
}

static void peer_hold(peer *self, const char *name) {
    char params[64];
    chordal_error error = {0};
    snprintf(params, sizeof params, "{\"name\": \"%s\"}", name);
    if (chordal_reference_get(self->host, self->link, "list", 4, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                              strlen(params), &self->reference, &error))
        CHECK_FAIL("get: %s", error.detail);
}

static void peer_add(peer *self, const char *text) {
    char arguments[70000];
    chordal_id call = 0;
    chordal_error error = {0};
    snprintf(arguments, sizeof arguments, "[\"%s\"]", text);
    if (chordal_call_start(self->host, self->reference, "add", 3, CHORDAL_FORMAT_JSON, (const uint8_t *)arguments,
                           strlen(arguments), 0, &call, &error))
        CHECK_FAIL("call: %s", error.detail);
}

/* Units of the list's text, as the reference has it. */
static uint64_t peer_length(peer *self) {
    chordal_value *value = NULL;
    chordal_cursor root, text;
    uint64_t length = 0;
    if (chordal_reference_value(self->host, self->reference, 0, &value, NULL)) return UINT64_MAX;
    chordal_cursor_root(value, &root);
    if (chordal_cursor_get(&root, "text", 4, &text) == 0) length = chordal_cursor_length(&text);
    chordal_value_unref(value);
    return length;
}

static void peer_stop(peer *self) {
    chordal_uv_close(self->adapter);
    self->adapter = NULL;
}

/* After the loop ran to its end. */
static void peer_close(peer *self) {
    chordal_dispatcher_close(self->dispatcher);
    chordal_release(self->host, self->watch);
    chordal_release(self->host, self->reference);
    chordal_host_close(self->host);
}

/* ---- waiting ---- */

static void on_late(uv_timer_t *timer) {
    *(bool *)timer->data = true;
}

static void on_tick(uv_timer_t *timer) {
    (void)timer;
}

/* Run the loop until a condition holds; false: it did not within ten seconds. */
static bool run_until_(uv_loop_t *loop, bool (*holds)(void *context), void *context) {
    uv_timer_t late, tick;
    bool too_late = false;
    uv_timer_init(loop, &late);
    uv_timer_init(loop, &tick);
    late.data = &too_late;
    uv_timer_start(&late, on_late, 10000, 0);
    uv_timer_start(&tick, on_tick, 5, 5);
    while (!holds(context) && !too_late) uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&late, NULL);
    uv_close((uv_handle_t *)&tick, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    return holds(context);
}

#define RUN_UNTIL(loop, holds, context)                                                                                \
    do {                                                                                                               \
        if (!run_until_(loop, holds, context)) CHECK_FAIL("never came: " #holds);                                      \
    } while (0)

static bool is_live(void *context) {
    peer *self = context;
    return self->reference_state == CHORDAL_REFERENCE_LIVE && peer_length(self) != UINT64_MAX;
}

/* Nothing of an adapter may keep the loop alive, or stay behind in it. */
static void loop_end(uv_loop_t *loop) {
    CHECK_INT(uv_run(loop, UV_RUN_DEFAULT), 0);
    CHECK_INT(uv_loop_close(loop), 0);
}

#endif
