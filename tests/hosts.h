/* hosts.h: hosts for tests: deterministic, polled into a log that a test can search. */
#ifndef CHORDAL_TESTS_HOSTS_H
#define CHORDAL_TESTS_HOSTS_H

#include "chordal.h"
#include "check.h"

typedef struct host_event {
    uint16_t kind, flags;
    union {
        chordal_record record;
        chordal_event_LINK link;
        chordal_event_REFERENCE reference;
        chordal_event_FRAME frame;
        chordal_event_OBJECT object;
        chordal_event_CALL call;
        chordal_event_CANCEL cancel;
        chordal_event_RESULT result;
        chordal_event_TICKET ticket;
        chordal_event_COMPUTE compute;
        chordal_event_RESOLVE resolve;
        chordal_event_AUTHENTICATE authenticate;
        chordal_event_GUARD guard;
        uint8_t bytes[256];
    } as;
    char text[160]; /* detail, or a type */
    char name[64];
    uint8_t data[1024]; /* of the part: ops, arguments, value */
    size_t data_len;
    uint8_t authority[256];
    size_t authority_len;
} host_event;

#ifndef HOST_EVENTS
#define HOST_EVENTS 4096
#endif
typedef struct test_host {
    chordal_host *host;
    host_event *events;
    size_t len;
    uint64_t random;
    chordal_time now;
} test_host;

static int test_entropy(void *context, uint8_t *out, size_t len) {
    uint64_t *state = context;
    for (size_t i = 0; i < len; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        out[i] = (uint8_t)(*state >> 33);
    }
    return 0;
}

static inline void test_host_open(test_host *h, chordal_host_options options) {
    static uint64_t serial = 1;
    chordal_error error = {0};
    memset(h, 0, sizeof *h);
    h->random = serial++;
    h->events = calloc(HOST_EVENTS, sizeof *h->events);
    options.size = sizeof options;
    options.entropy = test_entropy;
    options.entropy_context = &h->random;
    int code = chordal_host_open(&options, &h->host, &error);
    if (code) CHECK_FAIL("open: %d %s", code, error.detail);
}

static inline void test_host_close(test_host *h) {
    chordal_host_close(h->host);
    free(h->events);
    h->host = NULL;
    h->events = NULL;
}

static inline void keep_span(char *out, size_t room, const chordal_record *r, chordal_span span) {
    size_t len = span.length < room - 1 ? span.length : room - 1;
    memcpy(out, (const char *)r + span.offset, len);
    out[len] = 0;
}

static inline void keep_part(test_host *h, host_event *e, const chordal_record *r, const chordal_part *part) {
    const uint8_t *data = (const uint8_t *)r + part->offset;
    size_t len = part->length;
    if (part->part) {
        CHECK_INT(chordal_part_view(h->host, part->part, &data, &len), 0);
    }
    e->data_len = len;
    memcpy(e->data, data, len < sizeof e->data ? len : sizeof e->data);
    chordal_release(h->host, part->part);
}

static inline void keep_authority(host_event *e, const chordal_record *r, const chordal_part *part) {
    CHECK_INT(part->part, 0);
    e->authority_len = part->length < sizeof e->authority ? part->length : sizeof e->authority;
    memcpy(e->authority, (const uint8_t *)r + part->offset, e->authority_len);
}

static inline void keep_event(test_host *h, const chordal_record *r) {
    if (h->len == HOST_EVENTS) h->len = 0;
    host_event *e = &h->events[h->len++];
    memset(e, 0, sizeof *e);
    e->kind = r->kind;
    e->flags = r->flags;
    memcpy(e->as.bytes, r, r->length < sizeof e->as.bytes ? r->length : sizeof e->as.bytes);
    switch (r->kind) {
    case CHORDAL_EVENT_LINK:
        keep_span(e->text, sizeof e->text, r, e->as.link.detail);
        break;
    case CHORDAL_EVENT_REFERENCE:
        keep_span(e->text, sizeof e->text, r, e->as.reference.detail);
        keep_part(h, e, r, &e->as.reference.members);
        break;
    case CHORDAL_EVENT_FRAME:
        keep_span(e->text, sizeof e->text, r, e->as.frame.detail);
        keep_part(h, e, r, &e->as.frame.ops);
        break;
    case CHORDAL_EVENT_OBJECT:
        keep_part(h, e, r, &e->as.object.params);
        break;
    case CHORDAL_EVENT_CALL:
        keep_part(h, e, r, &e->as.call.arguments);
        keep_authority(e, r, &e->as.call.authority);
        break;
    case CHORDAL_EVENT_AUTHENTICATE:
        keep_part(h, e, r, &e->as.authenticate.credentials);
        break;
    case CHORDAL_EVENT_GUARD:
        keep_part(h, e, r, &e->as.guard.params);
        keep_authority(e, r, &e->as.guard.authority);
        break;
    case CHORDAL_EVENT_RESULT:
        keep_span(e->text, sizeof e->text, r, e->as.result.detail);
        keep_span(e->name, sizeof e->name, r, e->as.result.name);
        keep_part(h, e, r, &e->as.result.value);
        break;
    case CHORDAL_EVENT_TICKET:
        keep_span(e->text, sizeof e->text, r, e->as.ticket.detail);
        break;
    case CHORDAL_EVENT_RESOLVE:
        keep_span(e->text, sizeof e->text, r, e->as.resolve.type);
        keep_part(h, e, r, &e->as.resolve.params);
        break;
    default:
        break;
    }
}

/* Poll until nothing is left; the number of events that came. */
static inline size_t test_poll(test_host *h) {
    static _Alignas(8) uint8_t buffer[1 << 16];
    size_t len, before = h->len;
    chordal_error error = {0};
    for (;;) {
        int code = chordal_host_poll(h->host, h->now, buffer, sizeof buffer, &len, &error);
        if (code) CHECK_FAIL("poll: %d %s", code, error.detail);
        if (code || len == 0) break;
        for (size_t at = 0; at < len; at += ((chordal_record *)(void *)(buffer + at))->length)
            keep_event(h, (const chordal_record *)(const void *)(buffer + at));
    }
    return h->len - before;
}

/* The last event of a kind; NULL: none. */
static inline host_event *last_event(test_host *h, int kind) {
    for (size_t i = h->len; i-- > 0;)
        if (h->events[i].kind == kind) return &h->events[i];
    return NULL;
}

static inline size_t count_events(const test_host *h, int kind) {
    size_t count = 0;
    for (size_t i = 0; i < h->len; i++) count += h->events[i].kind == kind;
    return count;
}

static inline void forget_events(test_host *h) {
    h->len = 0;
}

static inline chordal_counters test_counters(test_host *h) {
    chordal_counters counters = {0};
    CHECK_INT(chordal_host_counters(h->host, &counters, sizeof counters), 0);
    return counters;
}

static inline void provide(test_host *h, const char *declaration) {
    chordal_id type;
    chordal_error error = {0};
    int code = chordal_type_provide(h->host, (const uint8_t *)declaration, strlen(declaration), &type, &error);
    if (code) CHECK_FAIL("provide: %d %s", code, error.detail);
}

static inline chordal_id get_over(test_host *h, chordal_id link, const char *type, const char *params, uint32_t flags) {
    chordal_id reference = 0;
    chordal_error error = {0};
    int code = chordal_reference_get(h->host, link, type, strlen(type), 0, flags, CHORDAL_FORMAT_JSON,
                                     (const uint8_t *)params, strlen(params), &reference, &error);
    if (code) CHECK_FAIL("get: %d %s", code, error.detail);
    return reference;
}
#define get(h, type, params) get_over(h, 0, type, params, 0)

static inline chordal_id call_within(test_host *h, chordal_id reference, const char *method, const char *arguments,
                                     chordal_time timeout) {
    chordal_id call = 0;
    chordal_error error = {0};
    int code = chordal_call_start(h->host, reference, method, strlen(method), CHORDAL_FORMAT_JSON,
                                  (const uint8_t *)arguments, strlen(arguments), timeout, &call, &error);
    if (code) CHECK_FAIL("call: %d %s", code, error.detail);
    return call;
}
#define call(h, reference, method, arguments) call_within(h, reference, method, arguments, 0)

static inline int answer(test_host *h, chordal_id id, const char *json) {
    return chordal_call_answer(h->host, id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL);
}

/* The text of a reference's or object's member as JSON. */
static inline const char *json_of(chordal_value *value) {
    static char text[1 << 16];
    size_t len;
    CHECK_INT(chordal_value_encode(value, CHORDAL_FORMAT_JSON, (uint8_t *)text, sizeof text - 1, &len, NULL), 0);
    text[len] = 0;
    chordal_value_unref(value);
    return text;
}
static inline const char *value_of(test_host *h, chordal_id reference, uint32_t member) {
    chordal_value *value;
    int code = chordal_reference_value(h->host, reference, member, &value, NULL);
    return code ? chordal_error_name(code) : json_of(value);
}
static inline const char *head_of(test_host *h, chordal_id object, uint32_t member) {
    chordal_value *value;
    int code = chordal_object_value(h->host, object, member, &value, NULL);
    return code ? chordal_error_name(code) : json_of(value);
}

/* Packed bytes of an event as JSON; "" for none. */
static inline const char *packed_json(test_host *h, const uint8_t *data, size_t len) {
    chordal_value *value;
    if (!len) return "";
    int code = chordal_value_decode(h->host, CHORDAL_FORMAT_PACKED, data, len, &value, NULL);
    return code ? chordal_error_name(code) : json_of(value);
}

/* Set one place of a document in a commit of its own. */
static inline chordal_id set_json_for(test_host *h, chordal_id served, chordal_id object, uint32_t member,
                                      const char *path, const char *json) {
    chordal_transaction *transaction;
    chordal_id ticket = 0;
    chordal_error error = {0};
    CHECK_INT(chordal_transaction_begin(h->host, served, &transaction, &error), 0);
    int code = chordal_transaction_set_json(transaction, object, member, path, json, &error);
    if (code) CHECK_FAIL("set %s: %d %s", path, code, error.detail);
    code = chordal_transaction_commit(transaction, &ticket, &error);
    if (code) CHECK_FAIL("commit: %d %s", code, error.detail);
    return ticket;
}
#define set_json(h, object, member, path, json) set_json_for(h, 0, object, member, path, json)

static inline void append_text(test_host *h, chordal_id object, uint32_t member, const char *path, const char *text) {
    chordal_transaction *transaction;
    chordal_id ticket;
    chordal_error error = {0};
    CHECK_INT(chordal_transaction_begin(h->host, 0, &transaction, &error), 0);
    int code = chordal_transaction_append(transaction, object, member, path, text, strlen(text), &error);
    if (code) CHECK_FAIL("append %s: %d %s", path, code, error.detail);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, &error), 0);
}

/* ---- two hosts on a memory link ---- */

typedef struct test_pair {
    test_host a, b; /* a accepts (provides), b connects (holds) */
    chordal_id link_a, link_b;
    uint32_t codec;
} test_pair;

static inline void pair_up(test_pair *p) {
    CHECK_INT(chordal_link_up(p->a.host, p->link_a, p->codec, p->a.now, NULL), 0);
    CHECK_INT(chordal_link_up(p->b.host, p->link_b, p->codec, p->b.now, NULL), 0);
}

static inline void pair_open(test_pair *p, uint32_t codec, chordal_host_options options, uint32_t flags_a,
                             uint32_t flags_b) {
    test_host_open(&p->a, options);
    test_host_open(&p->b, options);
    p->codec = codec;
    CHECK_INT(chordal_link_open(p->a.host, flags_a, &p->link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p->b.host, flags_b | CHORDAL_LINK_CONNECT, &p->link_b, NULL), 0);
    pair_up(p);
}

/* Carry and poll until both are quiet. */
static inline void settle(test_pair *p) {
    size_t frames, moved;
    do {
        CHECK_INT(chordal_link_carry(p->a.host, p->link_a, p->b.host, p->link_b, p->a.now, &frames, NULL), 0);
        moved = frames + test_poll(&p->a) + test_poll(&p->b);
    } while (moved);
}

/* And acks that wait, for as long as they may. */
#define ACK_DELAY 20
static inline void settle_acks(test_pair *p) {
    settle(p);
    p->a.now += ACK_DELAY;
    p->b.now += ACK_DELAY;
    settle(p);
}

static inline void pair_close(test_pair *p) {
    chordal_release(p->a.host, p->link_a);
    chordal_release(p->b.host, p->link_b);
    test_host_close(&p->a);
    test_host_close(&p->b);
}

#define NOTES                                                                                                          \
    "{\"name\":\"notes\",\"version\":1,\"params\":[\"board\"],\"members\":["                                           \
    "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"                            \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"                                                     \
    "{\"name\":\"add\",\"kind\":\"method\"},"                                                                          \
    "{\"name\":\"ping\",\"kind\":\"method\",\"idempotent\":true}]}"
#define NOTES_PARAMS "{\"board\":\"lunch\"}"
enum { NOTES_LIST, NOTES_TITLE, NOTES_ADD, NOTES_PING };

#endif
