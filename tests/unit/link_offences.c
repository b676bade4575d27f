/* link_offences.c: who breaks the rules behind a host in the middle harms its own sessions alone; and that host says
 * nothing upstream of a session that it could not pass on. */
#include "fuzz/peer.h"

/* ---- a provider, a host in the middle, a consumer that keeps the rules, and a peer that does not ---- */

static struct {
    test_host provider, relay, consumer;
    chordal_id up, from_up, down, from_down; /* links: the provider's and the relay's end, the consumer's and its end */
    chordal_id reference, object;
    raw_peer peer;
} w;

static void turn(void) {
    size_t moved, frames;
    do {
        CHECK_INT(chordal_link_carry(w.provider.host, w.up, w.relay.host, w.from_up, 0, &frames, NULL), 0);
        moved = frames;
        CHECK_INT(chordal_link_carry(w.consumer.host, w.down, w.relay.host, w.from_down, 0, &frames, NULL), 0);
        moved += frames + test_poll(&w.provider) + test_poll(&w.relay) + test_poll(&w.consumer);
    } while (moved);
    if (w.peer.memory) peer_hear(&w.peer);
}

static void join(test_host *h, chordal_id *out, uint32_t flags, chordal_id *out_end, uint32_t end_flags,
                 uint32_t codec) {
    CHECK_INT(chordal_link_open(h->host, flags | CHORDAL_LINK_CONNECT, out, NULL), 0);
    CHECK_INT(chordal_link_open(w.relay.host, end_flags, out_end, NULL), 0);
    CHECK_INT(chordal_link_up(h->host, *out, codec, 0, NULL), 0);
    CHECK_INT(chordal_link_up(w.relay.host, *out_end, codec, 0, NULL), 0);
}

#define NAME "00000000000000070000000000000009"

/* `limit`: of the provider's messages; 0: as usual. */
static void open_world(uint32_t behind, const chordal_memory_functions *memory, uint32_t limit) {
    memset(&w, 0, sizeof w);
    const chordal_host_options options = {.ping_interval = CHORDAL_NEVER, .backoff_first = 50, .backoff_limit = 50};
    const chordal_host_options named = {
        .ping_interval = CHORDAL_NEVER, .name_high = 7, .name_low = 9, .message_limit = limit};
    test_host_open(&w.provider, named);
    test_host_open(&w.relay, (chordal_host_options){.ping_interval = CHORDAL_NEVER, .memory = memory});
    test_host_open(&w.consumer, options);
    provide(&w.provider, NOTES);
    join(&w.provider, &w.up, CHORDAL_LINK_OFFER, &w.from_up, CHORDAL_LINK_ROUTE_OFFERS, behind);
    join(&w.consumer, &w.down, 0, &w.from_down, 0, CHORDAL_CODEC_BINARY);
    turn();
    w.reference = get(&w.consumer, "notes", NOTES_PARAMS);
    turn();
    CHECK_INT(chordal_reference_state(w.consumer.host, w.reference), CHORDAL_REFERENCE_LIVE);
    w.object = last_event(&w.provider, CHORDAL_EVENT_OBJECT)->as.object.object;
}

static void close_world(void) {
    chordal_release(w.consumer.host, w.reference);
    if (w.peer.memory) peer_close(&w.peer);
    const test_host *hosts[] = {&w.provider, &w.relay, &w.consumer};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < hosts[i]->len; k++)
            if (hosts[i]->events[k].kind == CHORDAL_EVENT_CALL)
                chordal_release(hosts[i]->host, hosts[i]->events[k].as.call.call);
    chordal_release(w.provider.host, w.up);
    chordal_release(w.consumer.host, w.down);
    chordal_release(w.relay.host, w.from_up);
    chordal_release(w.relay.host, w.from_down);
    test_host_close(&w.provider);
    test_host_close(&w.relay);
    test_host_close(&w.consumer);
}

/* The other consumer went on all the while, in the session that it had. */
static void check_undisturbed(const char *what) {
    uint64_t snapshots = test_counters(&w.provider).snapshots_encoded;
    size_t links = 0;
    append_text(&w.provider, w.object, NOTES_LIST, "/text", "on");
    turn();
    for (size_t i = 0; i < w.provider.len; i++) {
        const host_event *e = &w.provider.events[i];
        if (e->kind != CHORDAL_EVENT_LINK) continue;
        links++;
        if (e->as.link.code) CHECK_FAIL("%s: the provider's link: %d %s", what, e->as.link.code, e->text);
    }
    CHECK(links > 0);
    for (size_t i = 0; i < w.consumer.len; i++) {
        const host_event *e = &w.consumer.events[i];
        if (e->kind == CHORDAL_EVENT_LINK && e->as.link.code) CHECK_FAIL("%s: %d %s", what, e->as.link.code, e->text);
        bool down = e->kind == CHORDAL_EVENT_REFERENCE && e->as.reference.reference == w.reference &&
                    e->as.reference.state == CHORDAL_REFERENCE_DOWN;
        if (down) CHECK_FAIL("%s: the other consumer was disturbed", what);
    }
    CHECK_TEXT(value_of(&w.consumer, w.reference, NOTES_LIST), "{\"entries\":[],\"text\":\"on\"}");
    CHECK_INT(test_counters(&w.provider).snapshots_encoded, snapshots);
    CHECK_INT(test_counters(&w.provider).sessions_back, 0);
}

/* ---- a consumer that says what it must not ---- */

typedef int (*say)(raw_peer *);
#define SAY(name, ...)                                                                                                 \
    static int name(raw_peer *p) {                                                                                     \
        return __VA_ARGS__;                                                                                            \
    }

static int say_params(raw_peer *p, const char *json, const char *packed, size_t len) {
    chordal__message m = peer_message(p, CHORDAL__HOLD, 1);
    bool text = p->encoding == CHORDAL__ENCODING_JSON;
    m.numbers[0] = 1;
    set_text(&m, 0, "notes");
    set_part(&m.parts[0], text ? json : packed, text ? strlen(json) : len);
    return peer_say(p, &m);
}
static int say_argument(raw_peer *p, const char *json, const char *packed, size_t len, bool deflated) {
    chordal__message m = peer_message(p, CHORDAL__CALL, 1);
    bool text = p->encoding == CHORDAL__ENCODING_JSON;
    chordal__part part;
    set_part(&part, text ? json : packed, text ? strlen(json) : len);
    part.deflated = deflated;
    m.numbers[1] = 1;
    m.numbers[2] = NOTES_ADD;
    m.list = &part;
    m.list_len = 1;
    return peer_say(p, &m);
}
static int say_moved(raw_peer *p, uint64_t origin, const char *route) {
    chordal__message m = peer_message(p, CHORDAL__MOVED, origin);
    m.numbers[1] = p->encoding;
    set_text(&m, 0, route);
    return peer_say(p, &m);
}

SAY(a_hold_twice, say_hold(p, 1, 0, "notes"))
SAY(a_hold_beyond, say_hold(p, 1, 2, "notes"))
SAY(a_huge_hold, say_hold(p, 1, UINT64_C(1) << 52, "notes"))
SAY(params_with_a_key_twice, say_params(p, "{\"a\":1,\"a\":2}", "\x82\xa1\x61\x01\xa1\x61\x02", 7))
SAY(a_call_of_no_hold, say_call(p, 1, 1, 1, NOTES_ADD))
SAY(a_slot_in_use, say_call(p, 1, 0, 0, NOTES_ADD))
SAY(a_huge_slot, say_call(p, 1, 0, 256, NOTES_ADD))
SAY(an_argument_with_a_key_twice, say_argument(p, "{\"a\":1,\"a\":2}", "\x82\xa1\x61\x01\xa1\x61\x02", 7, false))
SAY(a_deflated_argument, say_argument(p, "7", "\x07", 1, true))
SAY(a_huge_slot_to_cancel, say_number(p, CHORDAL__CANCEL, 1, 256))
SAY(an_ack_of_nothing, say_number(p, CHORDAL__ACK, 1, 0))
SAY(an_ack_of_too_much, say_number(p, CHORDAL__ACK, 1, 9))
SAY(a_release_of_nothing, say_number(p, CHORDAL__RELEASE, 1, 1))
SAY(a_retry_of_what_goes_well, say_number(p, CHORDAL__RETRY, 1, 0))
SAY(opened, say_number(p, CHORDAL__OPENED, 1, 0))
SAY(back, say_number(p, CHORDAL__BACK, 1, 0))
SAY(bound, say_bound(p, 1, 0, true))
SAY(moved, say_moved(p, 1, "elsewhere"))
SAY(failed, say_texts(p, CHORDAL__FAILED, 1, 0, "no_type", ""))
SAY(retired, say_number(p, CHORDAL__RETIRED, 1, 0))
SAY(revoked, say_texts(p, CHORDAL__REVOKED, 1, 0, "", ""))
SAY(released, say_number(p, CHORDAL__RELEASED, 1, 0))
SAY(a_state, say_title(p, 1, 0, 'x', 0))
SAY(a_result, say_result(p, 1, 0))
SAY(an_error, say_texts(p, CHORDAL__ERROR, 1, 0, "method:own", ""))

typedef struct offence {
    const char *name;
    say say;
    int code;
} offence;
#define ROW(name, code)                                                                                                \
    { #name, name, CHORDAL_E_##code }
static const offence offences[] = {
    ROW(a_hold_twice, ORDER),
    ROW(a_hold_beyond, ORDER),
    ROW(a_huge_hold, ORDER),
    ROW(params_with_a_key_twice, DUPLICATE_KEY),
    ROW(a_call_of_no_hold, ORDER),
    ROW(a_slot_in_use, ORDER),
    ROW(a_huge_slot, ORDER),
    ROW(an_argument_with_a_key_twice, DUPLICATE_KEY),
    ROW(a_deflated_argument, UNSUPPORTED),
    ROW(a_huge_slot_to_cancel, ORDER),
    ROW(an_ack_of_nothing, ORDER),
    ROW(an_ack_of_too_much, ORDER),
    ROW(a_release_of_nothing, ORDER),
    ROW(a_retry_of_what_goes_well, ORDER),
    ROW(opened, ORDER),
    ROW(back, ORDER),
    ROW(bound, ORDER),
    ROW(moved, ORDER),
    ROW(failed, ORDER),
    ROW(retired, ORDER),
    ROW(revoked, ORDER),
    ROW(released, ORDER),
    ROW(a_state, ORDER),
    ROW(a_result, ORDER),
    ROW(an_error, ORDER),
};

static void offend(const offence *o, uint32_t behind, uint32_t codec) {
    open_world(behind, NULL, 0);
    peer_open(&w.peer, &w.relay, 0, codec);
    CHECK_INT(say_hello(&w.peer), 0);
    CHECK_INT(say_origin(&w.peer, 1, NAME), 0);
    CHECK_INT(say_hold(&w.peer, 1, 0, "notes"), 0);
    turn();
    CHECK_INT(w.peer.heard[CHORDAL__BOUND], 1);
    CHECK_INT(say_call(&w.peer, 1, 0, 0, NOTES_ADD), 0);
    turn();
    uint64_t sessions = test_counters(&w.provider).live_sessions;
    CHECK_INT(o->say(&w.peer), 0);
    turn();
    if (strcmp(w.peer.ended, chordal_error_name(o->code)) != 0)
        CHECK_FAIL("%s: ended with '%s', not %s", o->name, w.peer.ended, chordal_error_name(o->code));
    CHECK_INT(w.peer.heard[CHORDAL__BYE], 0);
    CHECK_INT(test_counters(&w.provider).live_sessions, sessions - 1);
    check_undisturbed(o->name);
    /* Its link and its number serve it on. */
    CHECK_INT(say_number(&w.peer, CHORDAL__ENDED, 1, 0), 0);
    CHECK_INT(say_origin(&w.peer, 1, NAME), 0);
    CHECK_INT(say_hold(&w.peer, 1, 0, "notes"), 0);
    uint32_t before = w.peer.heard[CHORDAL__BOUND];
    turn();
    CHECK_INT(w.peer.heard[CHORDAL__BOUND], before + 1);
    close_world();
}

TEST(a_consumer_that_breaks_the_rules) {
    for (size_t i = 0; i < sizeof offences / sizeof *offences; i++) {
        offend(&offences[i], CHORDAL_CODEC_BINARY, CHORDAL_CODEC_BINARY);
        offend(&offences[i], CHORDAL_CODEC_BINARY, CHORDAL_CODEC_TEXT);
        offend(&offences[i], CHORDAL_CODEC_TEXT, CHORDAL_CODEC_TEXT);
    }
}

/* ---- a provider that lies ---- */

static uint64_t number; /* of the session at the liar */

static int say_content(raw_peer *p, const char *members, const char *content) {
    chordal__message m = peer_message(p, CHORDAL__BOUND, number);
    m.numbers[1] = 1;
    m.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
    set_part(&m.parts[0], members, strlen(members));
    set_part(&m.parts[1], content, strlen(content));
    return peer_say(p, &m);
}

SAY(lie_opened, say_number(p, CHORDAL__OPENED, number, 0))
SAY(lie_back, say_number(p, CHORDAL__BACK, number, 0))
SAY(lie_bound, say_bound(p, number, 9, true))
SAY(lie_members, say_content(p, "[]", "[]"))
SAY(lie_moved, say_moved(p, number, "elsewhere"))
SAY(lie_failed, say_texts(p, CHORDAL__FAILED, number, 9, "no_type", ""))
SAY(lie_retired, say_number(p, CHORDAL__RETIRED, number, 9))
SAY(lie_revoked, say_texts(p, CHORDAL__REVOKED, number, 9, "", ""))
SAY(lie_released, say_number(p, CHORDAL__RELEASED, number, 0))
SAY(lie_state, say_title(p, number, 9, 'x', 0))
SAY(lie_method, say_change(p, number, "[\"r\",[2],1]", "\xf8\x01\x04\x01", 4))
SAY(lie_path, say_change(p, number, "[\"r\",4,1]", "\x20\x01", 2))
SAY(lie_type, say_change(p, number, "[\"a\",[0],\"x\"]", "\xfb\x01\x00\x01x", 5))
SAY(lie_result, say_result(p, number, 0))
SAY(lie_error, say_texts(p, CHORDAL__ERROR, number, 0, "method:own", ""))
SAY(lie_lost, say_number(p, CHORDAL__LOST, number, 0))
SAY(lie_hold, say_hold(p, number, 0, "notes"))
SAY(lie_release, say_number(p, CHORDAL__RELEASE, number, 0))
SAY(lie_retry, say_number(p, CHORDAL__RETRY, number, 0))
SAY(lie_call, say_call(p, number, 0, 0, 0))
SAY(lie_cancel, say_number(p, CHORDAL__CANCEL, number, 0))
SAY(lie_ack, say_number(p, CHORDAL__ACK, number, 1))

static const struct {
    const char *name;
    say say;
} lies[] = {
    {"opened", lie_opened},     {"back", lie_back},       {"bound", lie_bound},     {"members", lie_members},
    {"moved", lie_moved},       {"failed", lie_failed},   {"retired", lie_retired}, {"revoked", lie_revoked},
    {"released", lie_released}, {"state", lie_state},     {"method", lie_method},   {"path", lie_path},
    {"type", lie_type},         {"result", lie_result},   {"error", lie_error},     {"lost", lie_lost},
    {"hold", lie_hold},         {"release", lie_release}, {"retry", lie_retry},     {"call", lie_call},
    {"cancel", lie_cancel},     {"ack", lie_ack},
};

/* What the relay opened last on its link to the liar. */
static void follow(void) {
    turn();
    number = w.peer.numbers[CHORDAL__ORIGIN];
    CHECK_INT(say_number(&w.peer, CHORDAL__OPENED, number, 0), 0);
    CHECK_INT(say_bound(&w.peer, number, 0, true), 0);
    turn();
}

TEST(a_provider_that_lies) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            open_world(CHORDAL_CODEC_BINARY, NULL, 0);
            peer_open(&w.peer, &w.relay, CHORDAL_LINK_ROUTE_OFFERS, codec);
            CHECK_INT(say_hello(&w.peer), 0);
            CHECK_INT(say_texts(&w.peer, CHORDAL__OFFER, 0, 0, "far", ""), 0);
            chordal_id far = get(&w.consumer, "far", NOTES_PARAMS);
            follow();
            CHECK_INT(chordal_reference_state(w.consumer.host, far), CHORDAL_REFERENCE_LIVE);
            CHECK_INT(lies[i].say(&w.peer), 0);
            turn();
            if (w.peer.heard[CHORDAL__ENDED] == 0) CHECK_FAIL("%s: the liar is not told", lies[i].name);
            CHECK_INT(w.peer.heard[CHORDAL__BYE], 0);
            CHECK_INT(chordal_reference_state(w.consumer.host, far), CHORDAL_REFERENCE_DOWN);
            check_undisturbed(lies[i].name);
            /* It is asked again after a while. */
            CHECK_INT(say_number(&w.peer, CHORDAL__ENDED, number, 0), 0);
            w.consumer.now += 1000;
            follow();
            if (chordal_reference_state(w.consumer.host, far) != CHORDAL_REFERENCE_LIVE)
                CHECK_FAIL("%s: not asked again", lies[i].name);
            chordal_release(w.consumer.host, far);
            close_world();
        }
    }
}

/* ---- what does not go on ---- */

static void be_let_in(const char *authority) {
    peer_open(&w.peer, &w.relay, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_TEXT);
    CHECK_INT(say_hello(&w.peer), 0);
    turn();
    CHECK_INT(chordal_link_admit(w.relay.host, w.peer.link, CHORDAL_FORMAT_JSON, (const uint8_t *)authority,
                                 strlen(authority), NULL),
              0);
    turn();
    CHECK_INT(w.peer.heard[CHORDAL__WELCOME], 1);
}

/* Its authority makes the origin larger than the provider takes. */
TEST(an_origin_that_is_too_large) {
    static char authority[8003];
    memset(authority, 'x', sizeof authority - 1);
    authority[0] = authority[sizeof authority - 2] = '"';
    open_world(CHORDAL_CODEC_BINARY, NULL, 4096);
    be_let_in(authority);
    uint64_t heard = test_counters(&w.provider).messages_in;
    CHECK_INT(say_origin(&w.peer, 1, NAME), 0);
    turn();
    CHECK_TEXT(w.peer.ended, "size");
    CHECK_INT(test_counters(&w.provider).messages_in, heard);
    CHECK_INT(say_number(&w.peer, CHORDAL__ENDED, 1, 0), 0);
    check_undisturbed("too large");
    close_world();
}

static int fails_in; /* the allocation that fails; 0: none */
static void *allocate(void *context, size_t size) {
    (void)context;
    return fails_in && --fails_in == 0 ? NULL : malloc(size);
}
static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context;
    (void)old_size;
    return fails_in && --fails_in == 0 ? NULL : realloc(block, new_size);
}
static void release(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    free(block);
}

/* Whichever allocation fails on the way of an origin: the provider never hears of it what it could take for a fault. */
TEST(a_relay_without_memory) {
    const chordal_memory_functions memory = {sizeof memory, 0, NULL, allocate, resize, release};
    int lost = 0, n = 0;
    for (bool failed = true; failed; n++) {
        open_world(CHORDAL_CODEC_BINARY, &memory, 0);
        be_let_in("\"me\"");
        fails_in = n + 1;
        (void)say_origin(&w.peer, 1, NAME);
        failed = fails_in == 0;
        fails_in = 0;
        turn();
        (void)say_number(&w.peer, CHORDAL__ENDED, 1, 0); /* goes on to the provider, if it heard of the session */
        (void)chordal_link_down(w.relay.host, w.peer.link, 0, NULL);
        turn();
        lost += strcmp(w.peer.ended, "lost") == 0;
        for (size_t i = 0; i < w.provider.len; i++) {
            const host_event *e = &w.provider.events[i];
            if (e->kind == CHORDAL_EVENT_LINK && e->as.link.code && e->as.link.code != CHORDAL_E_NOMEM)
                CHECK_FAIL("allocation %d: the provider's link: %d %s", n, e->as.link.code, e->text);
        }
        close_world();
    }
    CHECK(n > 3);
    CHECK(lost > 0);
}

TESTS({"an origin that is too large", an_origin_that_is_too_large}, {"a relay without memory", a_relay_without_memory},
      {"a consumer that breaks the rules", a_consumer_that_breaks_the_rules},
      {"a provider that lies", a_provider_that_lies})
