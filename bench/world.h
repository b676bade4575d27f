/* world.h: what the C programs of the bench share: one host, or two over a memory link, with the objects of one type.
 */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chordal.h"

#define TYPE                                                                                                           \
    "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":"    \
    "{\"entries\":[]}},{\"name\":\"ping\",\"kind\":\"method\"}]}"

#define COUNTED                                                                                                        \
    "{\"name\":\"counted\",\"params\":[\"board\"],\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":"  \
    "{\"entries\":[]}},{\"name\":\"count\",\"kind\":\"derive\",\"from\":[\"list\"]}]}"

typedef struct world {
    const char *type;                  /* of its objects; NULL: notes */
    chordal_host *provider, *consumer; /* the same one when there is no link */
    chordal_id link_p, link_c, object, reference, watch, call;
    size_t frames, results, dials;
} world;

enum { POLLED = 1 << 16, MESSAGE = 1 << 21 };
static _Alignas(8) uint8_t polled[POLLED];
static uint8_t *payload_notes, *payload_document, *payload_item; /* JSON, NUL-terminated */

static inline void fail(const char *what, int code) {
    fprintf(stderr, "%s: %s\n", what, chordal_error_name(code));
    exit(1);
}
#define OK(expression)                                                                                                 \
    do {                                                                                                               \
        int ok_code = (expression);                                                                                    \
        if (ok_code < 0) fail(#expression, ok_code);                                                                   \
    } while (0)

static inline uint8_t *read_file(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    uint8_t *text = calloc(1, MESSAGE);
    if (!file || !text || fread(text, 1, MESSAGE - 1, file) == 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static inline void read_payloads(const char *folder) {
    payload_notes = read_file(folder, "notes.json");
    payload_document = read_file(folder, "document.json");
    payload_item = read_file(folder, "item.json");
}

/* The derive's value is another one each time. */
static inline void compute(chordal_host *host, const chordal_event_COMPUTE *event) {
    static uint8_t number;
    number = (uint8_t)((number + 1) & 127);
    OK(chordal_compute_answer(host, event->compute, CHORDAL_FORMAT_PACKED, &number, 1, NULL));
}

static inline void handle(world *w, chordal_host *host, const chordal_record *r) {
    const chordal_event_CALL *call = (const void *)r;
    const chordal_event_FRAME *frame = (const void *)r;
    const chordal_event_LINK *link = (const void *)r;
    switch (r->kind) {
    case CHORDAL_EVENT_CALL:
        OK(chordal_call_answer(host, call->call, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\xa2n1", 3, NULL));
        break;
    case CHORDAL_EVENT_RESULT:
        w->results++;
        break;
    case CHORDAL_EVENT_COMPUTE:
        compute(host, (const void *)r);
        break;
    case CHORDAL_EVENT_LINK:
        if (link->state == CHORDAL_LINK_DIAL) w->dials++;
        break;
    case CHORDAL_EVENT_FRAME:
        w->frames++;
        if (frame->ops.part) chordal_release(host, frame->ops.part);
        break;
    default:
        break;
    }
}

static inline size_t turn(world *w, chordal_host *host, chordal_time now) {
    size_t len, events = 0;
    for (;;) {
        OK(chordal_host_poll(host, now, polled, sizeof polled, &len, NULL));
        if (!len) return events;
        for (size_t at = 0; at < len; events++) {
            const chordal_record *r = (const void *)(polled + at);
            handle(w, host, r);
            at += r->length;
        }
    }
}

static inline void settle(world *w) {
    size_t frames = 0, events;
    do {
        if (w->consumer != w->provider)
            OK(chordal_link_carry(w->provider, w->link_p, w->consumer, w->link_c, 0, &frames, NULL));
        events = turn(w, w->provider, 0);
        if (w->consumer != w->provider) events += turn(w, w->consumer, 0);
    } while (frames || events);
}

static inline void open_provider(world *w) {
    chordal_id type;
    OK(chordal_host_open(NULL, &w->provider, NULL));
    OK(chordal_type_provide(w->provider, (const uint8_t *)TYPE, strlen(TYPE), &type, NULL));
    OK(chordal_type_provide(w->provider, (const uint8_t *)COUNTED, strlen(COUNTED), &type, NULL));
}

/* Another host, linked with the provider; `flags`: further ones of its link. */
static inline void open_consumer_with(world *w, uint32_t codec, uint32_t flags) {
    OK(chordal_host_open(NULL, &w->consumer, NULL));
    OK(chordal_link_open(w->provider, 0, &w->link_p, NULL));
    OK(chordal_link_open(w->consumer, CHORDAL_LINK_CONNECT | flags, &w->link_c, NULL));
    OK(chordal_link_up(w->provider, w->link_p, codec, 0, NULL));
    OK(chordal_link_up(w->consumer, w->link_c, codec, 0, NULL));
}

static inline void open_consumer(world *w, uint32_t codec) {
    open_consumer_with(w, codec, 0);
}

/* Codec 0: no link. */
static inline void open_world_with(world *w, uint32_t codec, uint32_t flags) {
    memset(w, 0, sizeof *w);
    open_provider(w);
    w->consumer = w->provider;
    if (codec) open_consumer_with(w, codec, flags);
}

static inline void open_world(world *w, uint32_t codec) {
    open_world_with(w, codec, 0);
}

static inline void close_world(world *w) {
    if (w->consumer != w->provider) chordal_host_forget(w->consumer);
    chordal_host_forget(w->provider);
}

static inline const char *type_of(const world *w) {
    return w->type ? w->type : "notes";
}

static inline size_t params_of(char *params, size_t len, int board) {
    return (size_t)snprintf(params, len, "{\"board\":\"%05d\"}", board);
}

static inline void get_object(world *w, int board, const uint8_t *json) {
    char params[32];
    size_t len = params_of(params, sizeof params, board);
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_object_get(w->provider, type_of(w), strlen(type_of(w)), CHORDAL_FORMAT_JSON, (uint8_t *)params, len,
                          &w->object, NULL));
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_set_json(t, w->object, 0, "", (const char *)json, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    turn(w, w->provider, 0);
}

static inline void hold(world *w, int board) {
    char params[32];
    size_t len = params_of(params, sizeof params, board);
    OK(chordal_reference_get(w->consumer, w->link_c, type_of(w), strlen(type_of(w)), 0, 0, CHORDAL_FORMAT_JSON,
                             (uint8_t *)params, len, &w->reference, NULL));
}

/* ---- what is done to the notes ---- */

static inline void commit_set(world *w, const char *path, const char *json) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_set_json(t, w->object, 0, path, json, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
}

static inline void append_token(world *w) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_append(t, w->object, 0, "/entries/999/text", " tok", 4, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
}

static inline void change_field(world *w) {
    static unsigned number;
    char json[16];
    snprintf(json, sizeof json, "\"name-%03u\"", number++ % 1000);
    commit_set(w, "/entries/500/author", json);
}

static inline void append_item(world *w) {
    commit_set(w, "/entries/-", (const char *)payload_item);
}

static inline void splice(world *w, uint64_t at, uint64_t count) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_splice(t, w->object, 0, "/entries", at, count, NULL, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
}

static inline void remove_item(world *w) {
    splice(w, 400, 1);
}

static inline void start_call(world *w) {
    OK(chordal_call_start(w->consumer, w->reference, "ping", 4, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x91\xa4milk",
                          6, 0, &w->call, NULL));
}

#endif
