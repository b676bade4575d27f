/* admitted.h: a pair of hosts of which one asks who the other is. */
#ifndef CHORDAL_TESTS_ADMITTED_H
#define CHORDAL_TESTS_ADMITTED_H

#include "fuzz/peer.h"

#define GUARDED                                                                                                        \
    "{\"name\":\"notes\",\"params\":[\"board\"],\"guarded\":true,\"members\":["                                        \
    "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"                            \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"                                                     \
    "{\"name\":\"add\",\"kind\":\"method\"},{\"name\":\"ping\",\"kind\":\"method\",\"idempotent\":true}]}"
#define STARTED                                                                                                        \
    "{\"name\":\"slow\",\"params\":[\"board\"],\"guarded\":true,\"start\":true,\"members\":["                          \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"}]}"
#define ANN "{\"user\": \"ann\", \"roles\": [1, 2]}"
#define ANN_TURNED "{\"roles\": [1.0, 2], \"user\": \"ann\"}"
#define BOB "{\"user\":\"bob\"}"
#define JSON(text) CHORDAL_FORMAT_JSON, (const uint8_t *)(text), strlen(text)

static test_pair p;

/* With all ids: of calls whose outcome no test waits for, too. */
static inline void end_host(test_host *h) {
    chordal_host_forget(h->host);
    free(h->events);
    h->host = NULL;
}

static inline void open_pair(uint32_t codec, uint32_t flags, const char *credentials) {
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){0});
    p.codec = codec;
    CHECK_INT(chordal_link_open(p.a.host, flags, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT, &p.link_b, NULL), 0);
    if (credentials) CHECK_INT(chordal_link_credentials(p.b.host, p.link_b, JSON(credentials), NULL), 0);
    pair_up(&p);
    settle(&p);
}

static inline int admit(const char *authority) {
    return chordal_link_admit(p.a.host, p.link_a, JSON(authority), NULL);
}

/* A pair whose connecting side has an authority, and nothing is guarded but what is declared so. */
static inline void open_admitted(const char *type, const char *authority) {
    open_pair(CHORDAL_CODEC_BINARY, CHORDAL_LINK_AUTHENTICATE, "\"secret\"");
    provide(&p.a, type);
    CHECK_INT(admit(authority), 0);
    settle(&p);
}

static inline void close_pair(void) {
    end_host(&p.a);
    end_host(&p.b);
}

static inline uint32_t state_of(test_host *h) {
    host_event *e = last_event(h, CHORDAL_EVENT_LINK);
    return e ? e->as.link.state : 0;
}

static inline int revoke(test_host *h, const char *authority, const char *reason) {
    return chordal_host_revoke(h->host, JSON(authority), reason, strlen(reason), NULL);
}

static inline int judge(uint32_t verdict) {
    host_event *e = last_event(&p.a, CHORDAL_EVENT_GUARD);
    return e ? chordal_guard_answer(p.a.host, e->as.guard.guard, verdict, NULL) : CHORDAL_E_NOT_FOUND;
}

static inline uint32_t reference_state(chordal_id reference) {
    return (uint32_t)chordal_reference_state(p.b.host, reference);
}

static chordal_id reference;

static inline void get_notes(uint32_t verdict) {
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(judge(verdict), 0);
    settle(&p);
}

/* Put another transport under the pair's links; the accepting one is new. */
static inline void link_again(const char *authority) {
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, p.b.now, NULL), 0);
    chordal_release(p.a.host, p.link_a);
    CHECK_INT(chordal_link_open(p.a.host, CHORDAL_LINK_AUTHENTICATE, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, p.b.now, NULL), 0);
    test_poll(&p.b);
    pair_up(&p);
    settle(&p);
    CHECK_INT(admit(authority), 0);
    settle(&p);
}

#endif
