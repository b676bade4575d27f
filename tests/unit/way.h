/* way.h: two hosts on a way that takes time, in virtual time: a turn of both each millisecond. */
#ifndef CHORDAL_TESTS_WAY_H
#define CHORDAL_TESTS_WAY_H

#include "hosts.h"

typedef struct way_frame {
    uint8_t *data;
    size_t len;
    uint32_t kind;
    chordal_time at;
} way_frame;

enum { WAY_FRAMES = 1 << 16 };
typedef struct way {
    way_frame *frames;
    size_t first, end;
} way;

typedef struct way_pair {
    test_pair p;
    way up, down;       /* to a, to b */
    chordal_time delay; /* of each way */
    size_t pace;        /* frames that b takes in a millisecond; 0: all */
} way_pair;

static inline void way_send(way *w, test_host *h, chordal_id link, chordal_time delay) {
    static uint8_t data[1 << 21];
    size_t len;
    uint32_t kind;
    for (;;) {
        CHECK_INT(chordal_link_take(h->host, link, data, sizeof data, &len, &kind, NULL), 0);
        if (!kind) return;
        if (w->end == WAY_FRAMES) exit(1);
        way_frame frame = {malloc(len ? len : 1), len, kind, h->now + delay};
        memcpy(frame.data, data, len);
        w->frames[w->end++] = frame;
    }
}

static inline void way_arrive(way *w, test_host *h, chordal_id link, size_t most) {
    while (w->first < w->end && w->frames[w->first].at <= h->now && most--) {
        way_frame *frame = &w->frames[w->first++];
        CHECK_INT(chordal_link_feed(h->host, link, frame->kind, frame->data, frame->len, h->now, NULL), 0);
        free(frame->data);
    }
    if (w->first == w->end) w->first = w->end = 0;
}

static inline void way_step(way_pair *w) {
    w->p.a.now++;
    w->p.b.now++;
    way_arrive(&w->up, &w->p.a, w->p.link_a, SIZE_MAX);
    way_arrive(&w->down, &w->p.b, w->p.link_b, w->pace ? w->pace : SIZE_MAX);
    test_poll(&w->p.a);
    test_poll(&w->p.b);
    way_send(&w->down, &w->p.a, w->p.link_a, w->delay);
    way_send(&w->up, &w->p.b, w->p.link_b, w->delay);
}

static inline void way_open(way_pair *w, chordal_time delay, chordal_host_options options) {
    memset(w, 0, sizeof *w);
    w->delay = delay;
    w->up.frames = malloc(WAY_FRAMES * sizeof *w->up.frames);
    w->down.frames = malloc(WAY_FRAMES * sizeof *w->down.frames);
    pair_open(&w->p, CHORDAL_CODEC_BINARY, options, 0, 0);
    provide(&w->p.a, NOTES);
}

static inline void way_close(way_pair *w) {
    w->pace = 0;
    while (w->up.end || w->down.end) way_step(w);
    free(w->up.frames);
    free(w->down.frames);
    pair_close(&w->p);
}

#endif
