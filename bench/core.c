/* core.c: what the core costs: one row a case, as JSON lines: {"case", "unit", "median", "min", "max", "counts"}.
 * Arguments: a case's name to run alone (for callgrind), and its number of iterations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chordal.h"

#define TYPE                                                                                                           \
    "{\"name\":\"notes\",\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[]}},"         \
    "{\"name\":\"ping\",\"kind\":\"method\"}]}"

typedef struct world {
    chordal_host *provider, *consumer;
    chordal_id link_p, link_c, object, reference, watch, call;
    uint64_t results, frames, served;
} world;

static _Alignas(8) uint8_t buffer[1 << 20];

static void fail(const char *what, int code) {
    fprintf(stderr, "%s: %s\n", what, chordal_error_name(code));
    exit(1);
}
#define OK(expression)                                                                                                 \
    do {                                                                                                               \
        int ok_code = (expression);                                                                                    \
        if (ok_code < 0) fail(#expression, ok_code);                                                                   \
    } while (0)

static void handle(world *w, chordal_host *host, const chordal_record *r) {
    const chordal_event_OBJECT *object = (const void *)r;
    const chordal_event_CALL *call = (const void *)r;
    const chordal_event_FRAME *frame = (const void *)r;
    switch (r->kind) {
    case CHORDAL_EVENT_OBJECT:
        w->object = object->object;
        break;
    case CHORDAL_EVENT_CALL:
        w->served++;
        OK(chordal_call_answer(host, call->call, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\xa4ping", 5, NULL));
        break;
    case CHORDAL_EVENT_RESULT:
        w->results++;
        break;
    case CHORDAL_EVENT_FRAME:
        w->frames++;
        if (frame->ops.part) chordal_release(host, frame->ops.part);
        break;
    default:
        break;
    }
}

static size_t turn(world *w, chordal_host *host) {
    size_t len, events = 0;
    for (;;) {
        OK(chordal_host_poll(host, 0, buffer, sizeof buffer, &len, NULL));
        if (!len) return events;
        for (size_t at = 0; at < len; events++) {
            const chordal_record *r = (const void *)(buffer + at);
            handle(w, host, r);
            at += r->length;
        }
    }
}

static void settle(world *w) {
    size_t frames = 0, events;
    do {
        if (w->consumer != w->provider)
            OK(chordal_link_carry(w->provider, w->link_p, w->consumer, w->link_c, 0, &frames, NULL));
        events = turn(w, w->provider);
        if (w->consumer != w->provider) events += turn(w, w->consumer);
    } while (frames || events);
}

static void hold(world *w) {
    OK(chordal_reference_get(w->consumer, w->consumer == w->provider ? 0 : w->link_c, "notes", 5, 0, 0,
                             CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &w->reference, NULL));
}

static void open_world(world *w, int linked, uint32_t codec) {
    chordal_id type;
    memset(w, 0, sizeof *w);
    OK(chordal_host_open(NULL, &w->provider, NULL));
    OK(chordal_type_provide(w->provider, (const uint8_t *)TYPE, strlen(TYPE), &type, NULL));
    w->consumer = w->provider;
    if (linked) {
        OK(chordal_host_open(NULL, &w->consumer, NULL));
        OK(chordal_link_open(w->provider, 0, &w->link_p, NULL));
        OK(chordal_link_open(w->consumer, CHORDAL_LINK_CONNECT, &w->link_c, NULL));
        OK(chordal_link_up(w->provider, w->link_p, codec, 0, NULL));
        OK(chordal_link_up(w->consumer, w->link_c, codec, 0, NULL));
    }
    hold(w);
    settle(w);
}

static void close_world(world *w) {
    chordal_release(w->consumer, w->reference);
    chordal_release(w->consumer, w->watch);
    chordal_release(w->provider, w->link_p);
    chordal_release(w->consumer, w->link_c);
    if (w->consumer != w->provider) chordal_host_close(w->consumer);
    chordal_host_close(w->provider);
}

/* n notes of 80 characters. */
static void fill(world *w, int n) {
    chordal_transaction *t;
    chordal_id ticket;
    char json[256];
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    for (int i = 0; i < n; i++) {
        snprintf(json, sizeof json, "{\"id\":\"note-%06d\",\"text\":\"%080d\",\"author\":\"author-1\",\"at\":17%08d}",
                 i, i, i);
        OK(chordal_transaction_set_json(t, w->object, 0, "/entries/-", json, NULL));
    }
    OK(chordal_transaction_commit(t, &ticket, NULL));
    settle(w);
}

static void append(world *w, const char *path) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_append(t, w->object, 0, path, " tok", 4, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
}

static void call_once(world *w) {
    OK(chordal_call_start(w->consumer, w->reference, "ping", 4, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\x91\xa4ping",
                          6, 0, &w->call, NULL));
    settle(w);
}

static void commit_once(world *w) {
    append(w, "/entries/999/text");
    turn(w, w->provider);
}

static void stream_once(world *w) {
    append(w, "/entries/999/text");
    settle(w);
}

static void hold_once(world *w) {
    chordal_release(w->consumer, w->reference);
    hold(w);
    settle(w);
}

typedef struct bench_case {
    const char *name;
    int linked, watched, batch;
    uint32_t codec;
    void (*once)(world *);
} bench_case;

static const bench_case cases[] = {
    {"local call", 0, 0, 1000, 0, call_once},
    {"commit, no watch", 0, 0, 1000, 0, commit_once},
    {"commit, watched", 0, 1, 1000, 0, commit_once},
    {"call round trip, memory link, binary", 1, 0, 1000, CHORDAL_CODEC_BINARY, call_once},
    {"call round trip, memory link, text", 1, 0, 1000, CHORDAL_CODEC_TEXT, call_once},
    {"commit to frame, memory link, binary", 1, 1, 1000, CHORDAL_CODEC_BINARY, stream_once},
    {"commit to frame, memory link, text", 1, 1, 1000, CHORDAL_CODEC_TEXT, stream_once},
    {"hold to live, 1,000 notes, binary", 1, 0, 20, CHORDAL_CODEC_BINARY, hold_once},
    {"hold to live, 1,000 notes, text", 1, 0, 20, CHORDAL_CODEC_TEXT, hold_once},
};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void prepare(world *w, const bench_case *c) {
    chordal_id kept;
    open_world(w, c->linked, c->codec);
    OK(chordal_object_get(w->provider, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &kept, NULL));
    fill(w, 1000);
    if (c->watched) OK(chordal_watch_open(w->consumer, w->reference, 0, 0, &w->watch, NULL));
    settle(w);
    for (int i = 0; i < c->batch; i++) c->once(w);
}

static void measure(const bench_case *c) {
    enum { ROUNDS = 15 };
    double rounds[ROUNDS];
    world w;
    chordal_counters before, after;
    prepare(&w, c);
    OK(chordal_host_counters(w.provider, &before, sizeof before));
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_us();
        for (int i = 0; i < c->batch; i++) c->once(&w);
        rounds[r] = (now_us() - start) / c->batch;
    }
    OK(chordal_host_counters(w.provider, &after, sizeof after));
    qsort(rounds, ROUNDS, sizeof *rounds, by_value);
    double n = (double)ROUNDS * c->batch;
    printf("{\"case\": \"%s\", \"unit\": \"us\", \"median\": %.3f, \"min\": %.3f, \"max\": %.3f, "
           "\"counts\": {\"messages\": %.2f, \"bytes\": %.1f, \"allocations\": %.1f, \"entries\": %.1f}}\n",
           c->name, rounds[ROUNDS / 2], rounds[0], rounds[ROUNDS - 1],
           (double)(after.messages_out - before.messages_out) / n, (double)(after.bytes_out - before.bytes_out) / n,
           (double)(after.allocations - before.allocations) / n, (double)(after.entries - before.entries) / n);
    fflush(stdout);
    close_world(&w);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc == 1) measure(&cases[i]);
        if (argc < 2 || strcmp(argv[1], cases[i].name) != 0) continue;
        world w;
        prepare(&w, &cases[i]);
        for (int k = argc > 2 ? atoi(argv[2]) : 1; k > 0; k--) cases[i].once(&w);
        close_world(&w);
    }
    return 0;
}
