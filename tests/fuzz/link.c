/* The whole machine: a host that provides and holds, between peers that say anything, and a program that does
 * anything, both led by the input. The host must stay sound, send only what is well formed, and keep nothing. */
#include "fuzz/fuzz.h"
#define HOST_EVENTS 256
#include "fuzz/peer.h"

/* One that the host accepted, one that it connected to, one that it routes to, one that it asks who it is, one that it
 * trusts and routes to. */
#define PEERS 5
#define THINGS 8

typedef struct world {
    test_host h;
    raw_peer peers[PEERS];
    chordal_id references[THINGS], watches[THINGS], calls[THINGS], objects[THINGS];
    chordal_transaction *transaction;
    fuzz_input in;
    uint32_t served;
    uint8_t lists[64]; /* scratch of messages */
} world;

#define DERIVED                                                                                                        \
    "{\"name\":\"sum\",\"version\":2,\"start\":true,\"keep\":true,\"members\":["                                       \
    "{\"name\":\"a\",\"kind\":\"document\",\"initial\":1},{\"name\":\"b\",\"kind\":\"document\"},"                     \
    "{\"name\":\"c\",\"kind\":\"derive\",\"from\":[\"a\",\"b\"]},{\"name\":\"d\",\"kind\":\"derive\",\"from\":[\"c\"]" \
    "},"                                                                                                               \
    "{\"name\":\"go\",\"kind\":\"method\"}]}"

#define SEALED                                                                                                         \
    "{\"name\":\"sealed\",\"params\":[\"board\"],\"guarded\":true,\"members\":["                                       \
    "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"entries\":[],\"text\":\"\"}},"                            \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"                                                     \
    "{\"name\":\"add\",\"kind\":\"method\"},{\"name\":\"ping\",\"kind\":\"method\",\"idempotent\":true}]}"

static const char *const types[] = {"notes", "sum", "nothing", "far", "sealed", "placed", "sealed", "placed"};
static const char *const authorities[] = {"null", "7", "{}", "{\"user\":\"ann\"}"};
static const char *const params[] = {NOTES_PARAMS, "{}", "{\"board\":1}", "[]"};

/* ---- what peers say ---- */

static const char *const part_texts[] = {"null",
                                         "7",
                                         "{}",
                                         NOTES_PARAMS,
                                         PEER_MEMBERS,
                                         PEER_CONTENT,
                                         "[]",
                                         "[\"r\",[1],\"x\"]",
                                         "[\"a\",[0,\"text\"],\"y\"]",
                                         "[\"s\",[0,\"entries\",0],3]",
                                         "[\"#\",[0,\"text\"],\"a\",0,\"z\"]",
                                         "[\"!\",0,\"c\",\"m\"]",
                                         "[\"*\"]"};
static const struct {
    const char *bytes;
    size_t len;
} part_packed[] = {{"\xc0", 1},
                   {"\x07", 1},
                   {"\x80", 1},
                   {"\x81\xa5"
                    "board\xa5lunch",
                    13},
                   {PEER_MEMBERS_PACKED, sizeof PEER_MEMBERS_PACKED - 1},
                   {PEER_CONTENT_PACKED, sizeof PEER_CONTENT_PACKED - 1},
                   {"\x90", 1},
                   {"\xf8\x01\x02\xa1x", 5},
                   {"\xfb\x02\x00\x09text\x01y", 9},
                   {"\xf9\x03\x00\x0f"
                    "entries\x00\x03",
                    13},
                   {"\x07\x02\x00\x09text\x03\x01z", 11},
                   {"\x0f\x00\x01"
                    "c\x01m",
                    6},
                   {"\x1f", 1}};

static void draw_part(world *w, raw_peer *p, chordal__part *part) {
    uint8_t which = fuzz_byte(&w->in);
    size_t len, count = sizeof part_texts / sizeof *part_texts;
    *part = (chordal__part){0};
    if (which == 255) return;
    if (which >= 0xe0) {
        const uint8_t *bytes = fuzz_bytes(&w->in, 512, &len);
        set_part(part, bytes, len);
        part->raw = which & 1;
        part->unchecked = true;
    } else if (p->encoding == CHORDAL__ENCODING_JSON) {
        set_part(part, part_texts[which % count], strlen(part_texts[which % count]));
    } else {
        set_part(part, part_packed[which % count].bytes, part_packed[which % count].len);
    }
}

static void draw_texts(world *w, chordal__message *m) {
    static const char *const texts[] = {"",           "notes",
                                        "sum",        "no_type",
                                        "method:own", "04040404040404040404040404040404",
                                        "bye",        "03030303030303030303030303030303"};
    for (int i = 0; i < 2; i++) {
        uint8_t which = fuzz_byte(&w->in);
        if (which < 0xf0)
            set_text(m, i, texts[which & 7]);
        else
            m->texts[i].data = fuzz_bytes(&w->in, 64, &m->texts[i].len);
    }
}

static void say_any(world *w, raw_peer *p) {
    uint8_t head = fuzz_byte(&w->in);
    uint64_t holds[8];
    chordal__part list[8];
    chordal__message m = peer_message(p, head & 31, fuzz_number(&w->in));
    m.flags = head >> 5 & 3;
    for (int i = 0; i < 4; i++) m.numbers[i] = fuzz_number(&w->in);
    draw_texts(w, &m);
    for (int i = 0; i < 2; i++) draw_part(w, p, &m.parts[i]);
    m.list = list;
    m.holds = holds;
    m.list_len = fuzz_byte(&w->in) & 7;
    for (size_t i = 0; i < m.list_len; i++) {
        holds[i] = fuzz_number(&w->in);
        draw_part(w, p, &list[i]);
    }
    (void)peer_say(p, &m);
}

static void say_who(world *w, raw_peer *p) {
    bool json = p->encoding == CHORDAL__ENCODING_JSON;
    chordal__message m = peer_message(p, CHORDAL__HELLO, 0);
    m.numbers[0] = m.numbers[1] = 1;
    m.numbers[2] = 1 << 20;
    if (fuzz_byte(&w->in) & 1)
        draw_part(w, p, &m.parts[0]);
    else
        set_part(&m.parts[0],
                 json ? "{\"credentials\":7}"
                      : "\x81\xab"
                        "credentials\x07",
                 json ? 17 : 14);
    (void)peer_say(p, &m);
}

/* With an authority, which counts where the host trusts its peer. */
static void say_origin_as(world *w, raw_peer *p, uint64_t origin, const char *route) {
    chordal__message m = peer_message(p, CHORDAL__ORIGIN, origin);
    m.numbers[0] = origin;
    m.numbers[1] = p->encoding;
    set_text(&m, 0, route);
    draw_part(w, p, &m.parts[0]);
    (void)peer_say(p, &m);
}

/* The beginnings that would take long to find. */
static void say_likely(world *w, raw_peer *p) {
    uint8_t which = fuzz_byte(&w->in);
    uint64_t origin = fuzz_byte(&w->in) & 7, hold = fuzz_byte(&w->in) & 3;
    switch (which % 14) {
    case 0:
        if (p->flags & CHORDAL_LINK_AUTHENTICATE)
            say_who(w, p);
        else
            (void)say_hello(p);
        break;
    case 1:
        if (p->flags & CHORDAL_LINK_TRUSTED)
            say_origin_as(w, p, origin, which & 16 ? "03030303030303030303030303030303" : "");
        else
            (void)say_origin(p, origin, which & 16 ? "04040404040404040404040404040404" : "");
        break;
    case 2:
        (void)say_hold(p, origin, hold, types[which >> 4 & 7]);
        break;
    case 3:
        (void)say_number(p, CHORDAL__OPENED, origin, 0);
        break;
    case 4:
        (void)say_bound(p, origin, hold, which & 16);
        break;
    case 5:
        (void)say_title(p, origin, hold, 'q', which >> 4 & 1);
        break;
    case 6:
        (void)say_call(p, origin, hold, which >> 4, fuzz_byte(&w->in) & 7);
        break;
    case 7:
        (void)say_result(p, origin, hold);
        break;
    case 8:
        (void)say_number(p, CHORDAL__ACK, origin, hold);
        break;
    case 9:
        (void)say_number(p, CHORDAL__RELEASE, origin, hold);
        break;
    case 10:
        (void)say_number(p, CHORDAL__RELEASED, origin, hold);
        break;
    case 11:
        (void)say_texts(p, CHORDAL__OFFER, 0, 0, which & 16 ? "placed" : "far", "");
        break;
    case 12:
        (void)say_number(p, CHORDAL__ENDED, origin, 0);
        break;
    default:
        (void)say_number(p, CHORDAL__RETIRED, origin, hold);
    }
}

static void say_bytes(world *w, raw_peer *p) {
    size_t len;
    uint32_t frame = fuzz_byte(&w->in) & 1 ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY;
    const uint8_t *bytes = fuzz_bytes(&w->in, 2048, &len);
    peer_feed(p, frame, bytes, len);
}

/* ---- what the program does ---- */

static void note_objects(world *w) {
    for (size_t i = 0; i < w->h.len; i++) {
        host_event *event = &w->h.events[i];
        if (event->kind == CHORDAL_EVENT_OBJECT) w->objects[i % THINGS] = event->as.object.object;
    }
}

static void poll_some(world *w) {
    if (w->h.len > HOST_EVENTS / 2) forget_events(&w->h);
    test_poll(&w->h);
    note_objects(w);
    for (int i = 0; i < PEERS; i++) peer_hear(&w->peers[i]);
}

static void answer_some(world *w, uint8_t how) {
    for (size_t i = 0; i < w->h.len; i++) {
        host_event *event = &w->h.events[i];
        bool json = how & 1;
        const uint8_t *value = (const uint8_t *)(json ? "{\"v\":[1,2]}" : "raw");
        if (event->kind == CHORDAL_EVENT_COMPUTE && how & 2)
            (void)chordal_compute_answer(w->h.host, event->as.compute.compute, CHORDAL_FORMAT_JSON, value,
                                         json ? 11 : 3, NULL);
        else if (event->kind == CHORDAL_EVENT_COMPUTE)
            (void)chordal_compute_fail(w->h.host, event->as.compute.compute, "own", 3, "words", 5, NULL);
        if (event->kind == CHORDAL_EVENT_CALL && how & 4)
            (void)chordal_call_answer(w->h.host, event->as.call.call, json ? CHORDAL_FORMAT_JSON : 0, value,
                                      json ? 11 : 3, NULL);
        if (event->kind == CHORDAL_EVENT_CALL && how & 8) chordal_release(w->h.host, event->as.call.call);
        if (event->kind == CHORDAL_EVENT_OBJECT && how & 16)
            (void)chordal_object_start(w->h.host, event->as.object.object, how & 1 ? "own" : NULL, how & 1 ? 3 : 0, "m",
                                       1, NULL);
    }
}

static void act_on_references(world *w, uint8_t what, uint8_t which) {
    chordal_id *reference = &w->references[which % THINGS], *watch = &w->watches[which >> 3 & 7];
    const char *type = types[which >> 3 & 7], *given = params[which >> 6 & 3];
    chordal_id link = w->peers[which & 1].link;
    switch (what & 7) {
    case 0:
        chordal_release(w->h.host, *reference);
        *reference = 0;
        (void)chordal_reference_get(w->h.host, what & 8 ? link : 0, type, strlen(type), 0, what >> 4 & 3,
                                    CHORDAL_FORMAT_JSON, (const uint8_t *)given, strlen(given), reference, NULL);
        break;
    case 1:
        chordal_release(w->h.host, *watch);
        *watch = 0;
        (void)chordal_watch_open(w->h.host, what & 8 ? w->objects[which & 7] : *reference,
                                 what & 16 ? CHORDAL_ALL_MEMBERS : 1, what >> 5 & 3, watch, NULL);
        break;
    case 2:
        (void)chordal_watch_take(w->h.host, what & 8 ? *reference : *watch, NULL);
        break;
    case 3:
        (void)chordal_watch_reset(w->h.host, what & 8 ? *reference : *watch, NULL);
        break;
    case 4:
        (void)chordal_reference_retry(w->h.host, *reference, NULL);
        break;
    case 5:
        chordal_release(w->h.host, *reference);
        break;
    case 6:
        chordal_release(w->h.host, *watch);
        break;
    default:
        (void)value_of(&w->h, *reference, which >> 3 & 3);
    }
}

static void act_on_calls(world *w, uint8_t what, uint8_t which) {
    static const char *const methods[] = {"add", "ping", "go", "list"};
    chordal_id *made = &w->calls[which & 7], reference = w->references[which >> 3 & 7];
    const char *method = methods[what >> 2 & 3];
    switch (what & 3) {
    case 0:
    case 1:
        chordal_release(w->h.host, *made);
        *made = 0;
        (void)chordal_call_start(w->h.host, reference, method, strlen(method), CHORDAL_FORMAT_PACKED,
                                 (const uint8_t *)"\x92\x01\xc4\x01z", 5, what & 16 ? 5 : 0, made, NULL);
        break;
    case 2:
        (void)chordal_call_cancel(w->h.host, *made, NULL);
        break;
    default:
        chordal_release(w->h.host, *made);
    }
}

static void act_on_objects(world *w, uint8_t what, uint8_t which) {
    static const char *const paths[] = {"", "/text", "/entries/0", "/entries/-"};
    static const char *const values[] = {"1", "\"abc\"", "{\"entries\":[1],\"text\":\"\"}", "[]"};
    chordal_id object = w->objects[which & 7], ticket;
    chordal_error error;
    switch (what & 7) {
    case 0:
        if (!w->transaction) (void)chordal_transaction_begin(w->h.host, 0, &w->transaction, NULL);
        break;
    case 1:
    case 2:
        if (w->transaction)
            (void)chordal_transaction_set_json(w->transaction, object, what >> 3 & 1, paths[which >> 3 & 3],
                                               values[which >> 5 & 3], &error);
        break;
    case 3:
        if (w->transaction) (void)chordal_transaction_append(w->transaction, object, 0, "/text", "more", 4, &error);
        break;
    case 4:
        if (w->transaction) (void)chordal_transaction_commit(w->transaction, &ticket, &error);
        w->transaction = NULL;
        break;
    case 5:
        (void)chordal_object_retire(w->h.host, object, NULL);
        break;
    case 6:
        (void)chordal_object_get(w->h.host, types[which >> 3 & 1], strlen(types[which >> 3 & 1]), CHORDAL_FORMAT_JSON,
                                 (const uint8_t *)params[which >> 3 & 1], strlen(params[which >> 3 & 1]), &object,
                                 NULL);
        w->objects[which & 7] = object;
        break;
    default:
        (void)chordal_object_drop(w->h.host, object, NULL);
    }
}

static void act_on_links(world *w, uint8_t what, uint8_t which) {
    raw_peer *p = &w->peers[which % PEERS];
    switch (what & 3) {
    case 0:
        (void)chordal_link_down(w->h.host, p->link, w->h.now, NULL);
        break;
    case 1:
        (void)chordal_link_close(w->h.host, p->link, NULL);
        break;
    case 2: /* a new transport; an accepted link is a new one */
        if (!(p->flags & CHORDAL_LINK_CONNECT)) {
            uint32_t flags = p->flags;
            peer_close(p);
            peer_open(p, &w->h, flags, what & 4 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY);
        } else {
            (void)chordal_link_retry(w->h.host, p->link, w->h.now, NULL);
            (void)peer_up(p, what & 4 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY);
        }
        break;
    default:
        w->h.now += (uint64_t)which * which;
    }
}

/* ---- who is let in, what he may, and where things are ---- */

static void take_back(world *w, const char *authority, chordal_id object, bool one) {
    const uint8_t *json = (const uint8_t *)authority;
    if (one)
        (void)chordal_object_revoke(w->h.host, object, CHORDAL_FORMAT_JSON, json, strlen(authority), "no", 2, NULL);
    else
        (void)chordal_host_revoke(w->h.host, CHORDAL_FORMAT_JSON, json, strlen(authority), "no", 2, NULL);
}

static void judge_all(world *w, uint32_t verdict) {
    for (size_t i = 0; i < w->h.len; i++)
        if (w->h.events[i].kind == CHORDAL_EVENT_GUARD)
            (void)chordal_guard_answer(w->h.host, w->h.events[i].as.guard.guard, verdict, NULL);
}

static void resolve_all(world *w, chordal_id link, uint8_t how) {
    for (size_t i = 0; i < w->h.len; i++) {
        if (w->h.events[i].kind != CHORDAL_EVENT_RESOLVE) continue;
        chordal_id question = w->h.events[i].as.resolve.question;
        if (how & 8)
            (void)chordal_resolve_fail(w->h.host, question, how & 16 ? "own" : "no_route", how & 16 ? 3 : 8, "m", 1,
                                       NULL);
        else
            (void)chordal_resolve(w->h.host, question, link, NULL);
    }
}

static void act_on_access(world *w, uint8_t what, uint8_t which) {
    const char *authority = authorities[which & 3];
    raw_peer *p = &w->peers[which % PEERS];
    uint32_t offers;
    switch (what & 7) {
    case 0:
    case 1:
        (void)chordal_link_admit(w->h.host, w->peers[3].link, CHORDAL_FORMAT_JSON, (const uint8_t *)authority,
                                 strlen(authority), NULL);
        break;
    case 2:
        (void)chordal_link_refuse(w->h.host, w->peers[3].link, "words", 5, NULL);
        break;
    case 3:
        judge_all(w, what >> 3 & 3);
        break;
    case 4:
        take_back(w, authority, w->objects[which >> 2 & 7], what & 8);
        break;
    case 5:
        (void)chordal_link_credentials(w->h.host, w->peers[1].link, CHORDAL_FORMAT_JSON, (const uint8_t *)authority,
                                       strlen(authority), NULL);
        (void)chordal_link_offers(w->h.host, p->link, "placed", 6, &offers, NULL);
        break;
    default:
        resolve_all(w, p->link, what);
    }
}

static raw_peer *peer_of(world *w, uint8_t op) {
    uint8_t which = op >> 4;
    return &w->peers[which < 6 ? which % 3 : 3 + (which & 1)];
}

static void step(world *w) {
    uint8_t op = fuzz_byte(&w->in);
    raw_peer *p = peer_of(w, op);
    uint8_t what = 0, which = 0;
    if ((op & 15) > 5) what = fuzz_byte(&w->in), which = fuzz_byte(&w->in);
    switch (op & 15) {
    case 0:
    case 1:
        say_any(w, p);
        break;
    case 2:
    case 3:
    case 4:
        say_likely(w, p);
        break;
    case 5:
        say_bytes(w, p);
        break;
    case 6:
    case 7:
        act_on_references(w, what, which);
        break;
    case 8:
        act_on_calls(w, what, which);
        break;
    case 9:
    case 10:
        act_on_objects(w, what, which);
        break;
    case 11:
        act_on_links(w, what, which);
        break;
    case 12:
        answer_some(w, what);
        break;
    case 13:
        act_on_access(w, what, which);
        break;
    default:
        poll_some(w);
    }
}

static void open_world(world *w, uint8_t how) {
    static const uint32_t flags[PEERS] = {0, CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER, CHORDAL_LINK_ROUTE_OFFERS,
                                          CHORDAL_LINK_AUTHENTICATE, CHORDAL_LINK_TRUSTED | CHORDAL_LINK_ROUTE_OFFERS};
    chordal_host_options options = {.window_messages = 1 + (how >> 3 & 3), .call_limit = 1 + (how >> 5 & 1)};
    options.guard_timeout = options.resolve_timeout = 1000;
    if (how & 64) options.window_bytes = 64;
    if (how & 128) options.memory_limit = 200000, options.queue_limit = 20000;
    test_host_open(&w->h, options);
    provide(&w->h, NOTES);
    provide(&w->h, DERIVED);
    provide(&w->h, SEALED);
    CHECK_INT(chordal_type_place(w->h.host, "placed", 6, NULL), 0);
    for (int i = 0; i < PEERS; i++) {
        peer_open(&w->peers[i], &w->h, flags[i], how >> i % 3 & 1 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY);
        (void)say_hello(&w->peers[i]);
    }
}

/* Half of the time the host goes first. */
static void close_world(world *w, bool host_first) {
    chordal_host *host = w->h.host;
    if (host_first) chordal_host_close(host);
    for (int i = 0; i < THINGS; i++) {
        chordal_release(host, w->references[i]);
        chordal_release(host, w->watches[i]);
        chordal_release(host, w->calls[i]);
    }
    if (!host_first) {
        test_poll(&w->h);
        for (int i = 0; i < PEERS; i++) chordal_release(host, w->peers[i].link);
    }
    chordal_transaction_abort(w->transaction);
    for (int i = 0; i < PEERS; i++) {
        w->peers[i].h = &(test_host){0};
        peer_close(&w->peers[i]);
    }
    chordal_host_forget(host);
    free(w->h.events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static world w;
    memset(&w, 0, sizeof w);
    w.in = (fuzz_input){data, data + size};
    uint8_t how = fuzz_byte(&w.in);
    open_world(&w, how);
    for (int steps = 0; w.in.at < w.in.end && steps < 400; steps++) step(&w);
    close_world(&w, size & 1);
    fuzz_done();
    return 0;
}

FUZZ_MAIN(link)
