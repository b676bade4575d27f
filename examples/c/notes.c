/* Two hosts in one program: one provides notes, the other holds them, over a WebSocket. */
#include <chordal.h>
#include <chordal/dispatch.h>
#include <chordal/uv.h>
#include <stdio.h>
#include <uv.h>

enum { LIST, COUNT, ADD };

static void count(const chordal_request *request) {
    chordal_value *list;
    chordal_cursor root, entries;
    char text[24];
    chordal_object_value(request->host, request->object, LIST, &list, NULL);
    chordal_cursor_root(list, &root);
    chordal_cursor_get(&root, "entries", 7, &entries);
    int len = snprintf(text, sizeof text, "%d", (int)chordal_cursor_length(&entries));
    chordal_compute_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (uint8_t *)text, (size_t)len, NULL);
    chordal_value_unref(list);
}

static void add(const chordal_request *request) { /* its arguments are an array: take the first as the note */
    chordal_transaction *t;
    chordal_id ticket;
    chordal_transaction_begin(request->host, request->id, &t, NULL);
    chordal_transaction_splice(t, request->object, LIST, "/entries", 0, 0, request->value, NULL);
    chordal_transaction_commit(t, &ticket, NULL); /* the answer leaves after it */
    chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (uint8_t *)"true", 4, NULL);
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("list", "{\"entries\": []}"),
    CHORDAL_DERIVE("count", "list", count),
    CHORDAL_METHOD("add", add),
};
static const chordal_type notes = {
    .name = "notes", .version = 1, .params = "board", .members = members, .members_len = 3};

static chordal_uv *serving, *holding;

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    static const char milk[] = "[\"milk\"]";
    chordal_id call;
    (void)context;
    if (event->state == CHORDAL_REFERENCE_LIVE)
        chordal_call_start(host, event->reference, "add", 3, CHORDAL_FORMAT_JSON, (uint8_t *)milk, 8, 0, &call, NULL);
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    chordal_id *reference = context;
    chordal_value *list;
    char text[256];
    size_t len;
    (void)event;
    chordal_reference_value(host, *reference, LIST, &list, NULL); /* the change is visible already */
    chordal_value_encode(list, CHORDAL_FORMAT_JSON, (uint8_t *)text, sizeof text, &len, NULL);
    printf("%.*s\n", (int)len, text);
    chordal_value_unref(list);
    chordal_uv_close(holding);
    chordal_uv_close(serving);
}

int main(void) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .reference = on_reference, .result = on_result};
    chordal_host *server, *client;
    chordal_dispatcher *provides, *holds;
    chordal_id link, reference;
    chordal_error error;
    char address[64];
    uv_loop_t *loop = uv_default_loop();

    chordal_host_open(NULL, &server, &error);
    chordal_dispatcher_open(server, NULL, NULL, &provides, &error);
    chordal_dispatcher_provide(provides, &notes, &error);
    chordal_uv_open(loop, server, chordal_dispatcher_event, provides, &serving, &error);
    if (chordal_uv_listen(serving, "ws://127.0.0.1:0", NULL, address, sizeof address, &error) < 0) return 1;

    chordal_host_open(NULL, &client, &error);
    chordal_dispatcher_open(client, &handlers, &reference, &holds, &error);
    chordal_uv_open(loop, client, chordal_dispatcher_event, holds, &holding, &error);
    chordal_uv_connect(holding, address, CHORDAL_CODEC_BINARY, 0, &link, &error);
    chordal_reference_get(client, link, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (uint8_t *)"{\"board\": \"lunch\"}", 18,
                          &reference, &error);

    uv_run(loop, UV_RUN_DEFAULT);
    chordal_release(client, reference);
    chordal_dispatcher_close(holds);
    chordal_dispatcher_close(provides);
    chordal_host_close(client);
    chordal_host_close(server);
    return 0;
}
