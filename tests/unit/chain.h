/* chain.h: a holder, hosts in the middle and a provider in a row, on memory links in virtual time. */
#ifndef CHORDAL_TESTS_CHAIN_H
#define CHORDAL_TESTS_CHAIN_H

#include "hosts.h"

#define HOSTS_MAX 6
static struct node {
    test_host h;
    chordal_id up, down; /* links to the host before and behind */
    size_t resolved;     /* events that were looked at */
} nodes[HOSTS_MAX];
static int count;
static bool placed;                      /* the last host but one places the type, each object behind it */
static bool nameless;                    /* the last host has another name each time */
static uint32_t last_flags;              /* further ones of the link to the last host, at the end that dials; */
static int worker_at = -1;               /* or of the link behind this host */
static const char *provided = NOTES;     /* by the last host */
static void (*opens_last)(test_host *h); /* NULL: it is opened as the others */

/* Those in the middle have names that outlast a restart. */
static inline void open_host(int i) {
    bool named = !nameless || i < count - 1;
    chordal_host_options options = {.ping_interval = CHORDAL_NEVER};
    if (named) options.name_high = 7, options.name_low = (uint64_t)i;
    if (opens_last && i == count - 1)
        opens_last(&nodes[i].h);
    else
        test_host_open(&nodes[i].h, options);
    if (i == count - 1) provide(&nodes[i].h, provided);
    nodes[i].resolved = 0;
    if (placed && i == count - 2) CHECK_INT(chordal_type_place(nodes[i].h.host, "notes", 5, NULL), 0);
}

/* Say where the objects are. */
static inline void resolve(struct node *node) {
    for (; node->resolved < node->h.len; node->resolved++) {
        host_event *e = &node->h.events[node->resolved];
        if (e->kind == CHORDAL_EVENT_RESOLVE)
            CHECK_INT(chordal_resolve(node->h.host, e->as.resolve.question, node->down, NULL), 0);
    }
}

static inline void connect_pair(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    CHECK_INT(chordal_link_up(near->h.host, near->down, CHORDAL_CODEC_BINARY, near->h.now, NULL), 0);
    CHECK_INT(chordal_link_up(far->h.host, far->up, CHORDAL_CODEC_BINARY, far->h.now, NULL), 0);
}

/* near dials far for its calls, far offers what is behind it. */
static inline void open_link(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    uint32_t down = CHORDAL_LINK_CONNECT | (i ? CHORDAL_LINK_ROUTE_OFFERS : 0) |
                    (i == (worker_at < 0 ? count - 2 : worker_at) ? last_flags : 0);
    CHECK_INT(chordal_link_open(near->h.host, down, &near->down, NULL), 0);
    CHECK_INT(chordal_link_open(far->h.host, CHORDAL_LINK_OFFER, &far->up, NULL), 0);
    connect_pair(i);
}

static inline void turn(void) {
    size_t frames, moved;
    do {
        moved = 0;
        for (int i = 0; i + 1 < count; i++) {
            struct node *near = &nodes[i], *far = &nodes[i + 1];
            if (near->down && far->up) {
                int code =
                    chordal_link_carry(near->h.host, near->down, far->h.host, far->up, near->h.now, &frames, NULL);
                moved += code == 0 ? frames : 0;
            }
            moved += test_poll(&near->h) + test_poll(&far->h);
            resolve(near);
        }
    } while (moved);
}

static inline void pass(chordal_time span) {
    for (int i = 0; i < count; i++) nodes[i].h.now += span;
    turn();
}

static chordal_id reference, object;

static inline void open_chain(int hops) {
    count = hops + 2;
    for (int i = 0; i < count; i++) {
        open_host(i);
        nodes[i].up = nodes[i].down = 0;
    }
    for (int i = count - 2; i >= 0; i--) {
        open_link(i);
        turn();
    }
    reference = get(&nodes[0].h, "notes", NOTES_PARAMS);
    turn();
    CHECK_INT(chordal_reference_state(nodes[0].h.host, reference), CHORDAL_REFERENCE_LIVE);
    host_event *e = last_event(&nodes[count - 1].h, CHORDAL_EVENT_OBJECT);
    object = e ? e->as.object.object : 0;
}

static inline void close_chain(void) {
    chordal_release(nodes[0].h.host, reference);
    turn();
    CHECK_INT(test_counters(&nodes[count - 1].h).live_objects, 0);
    for (int i = 0; i < count; i++) {
        if (nodes[i].up) chordal_release(nodes[i].h.host, nodes[i].up);
        if (nodes[i].down) chordal_release(nodes[i].h.host, nodes[i].down);
        test_host_close(&nodes[i].h);
    }
}

static inline void cut(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    CHECK_INT(chordal_link_down(near->h.host, near->down, near->h.now, NULL), 0);
    CHECK_INT(chordal_link_down(far->h.host, far->up, far->h.now, NULL), 0);
    chordal_release(far->h.host, far->up);
    far->up = 0;
    turn();
}

static inline void mend(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    CHECK_INT(chordal_link_open(far->h.host, CHORDAL_LINK_OFFER, &far->up, NULL), 0);
    CHECK_INT(chordal_link_retry(near->h.host, near->down, near->h.now, NULL), 0);
    test_poll(&near->h);
    connect_pair(i);
    turn();
}

static inline test_host *consumer(void) {
    return &nodes[0].h;
}
static inline test_host *provider(void) {
    return &nodes[count - 1].h;
}

#endif
