/* link_deflate.c: large parts go deflated where that is asked for, once for all readers; only their owner inflates
 * them, within limits. */
#include "fuzz/peer.h"

#define ON CHORDAL_LINK_DEFLATE
#define BIG 60000

static char big[BIG + 64], arguments[2 * sizeof big + 64];

/* A JSON string of `len` letters, which shrinks well or not at all. */
static const char *text_of(size_t len, bool shrinks) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
    uint64_t state = 7;
    big[0] = '"';
    for (size_t i = 1; i <= len; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        big[i] = shrinks ? "some words and a note "[i % 22] : letters[state >> 58];
    }
    big[len + 1] = '"';
    big[len + 2] = 0;
    return big;
}

static void fill_random(uint8_t *data, size_t len) {
    uint64_t state = 3;
    for (size_t i = 0; i < len; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
}

/* The one argument is BIG bytes. */
static const uint8_t bytes_head[] = {0x91, 0xc5, BIG >> 8, BIG & 0xff};

static int answer_bytes(test_host *h, chordal_id id, const uint8_t *bytes) {
    return chordal_call_answer(h->host, id, 0, bytes, BIG, NULL);
}

static test_pair p;
static chordal_id reference, object;

static void open_pair(uint32_t codec, chordal_host_options options, uint32_t flags_a, uint32_t flags_b) {
    pair_open(&p, codec, options, flags_a, flags_b);
    provide(&p.a, NOTES);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
}

static void close_pair(void) {
    chordal_release(p.b.host, reference);
    settle(&p);
    pair_close(&p);
}

static bool same_value(test_host *h, chordal_id held, uint32_t member, chordal_id provided) {
    chordal_value *theirs, *mine;
    if (chordal_reference_value(h->host, held, member, &theirs, NULL)) return false;
    CHECK_INT(chordal_object_value(p.a.host, provided, member, &mine, NULL), 0);
    bool same = chordal_value_digest(theirs) == chordal_value_digest(mine);
    chordal_value_unref(theirs);
    chordal_value_unref(mine);
    return same;
}

/* ---- whether ---- */

/* What a commit of a large text costs in bytes, and how often it was tried. */
static uint64_t bytes_of_commit(chordal_host_options options, uint32_t flags_b, uint64_t *out_deflates) {
    open_pair(CHORDAL_CODEC_BINARY, options, 0, flags_b);
    uint64_t before = test_counters(&p.a).bytes_out;
    set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG, true));
    settle(&p);
    CHECK(same_value(&p.b, reference, NOTES_TITLE, object));
    *out_deflates = test_counters(&p.a).deflates;
    CHECK_INT(test_counters(&p.b).inflates, *out_deflates);
    uint64_t bytes = test_counters(&p.a).bytes_out - before;
    close_pair();
    return bytes;
}

TEST(by_option_and_link) {
    uint64_t deflates;
    static const uint32_t always = CHORDAL_DEFLATE_ALWAYS, never = CHORDAL_DEFLATE_NEVER;
    CHECK(bytes_of_commit((chordal_host_options){0}, 0, &deflates) > BIG);
    CHECK_INT(deflates, 0);
    CHECK(bytes_of_commit((chordal_host_options){0}, ON, &deflates) < BIG / 50);
    CHECK_INT(deflates, 1);
    CHECK(bytes_of_commit((chordal_host_options){.deflate = always}, 0, &deflates) < BIG / 50);
    CHECK_INT(deflates, 1);
    CHECK(bytes_of_commit((chordal_host_options){.deflate = never}, ON, &deflates) > BIG);
    CHECK_INT(deflates, 0);
    chordal_host *host;
    chordal_host_options beyond = {.size = sizeof beyond, .deflate = 3};
    CHECK_INT(chordal_host_open(&beyond, &host, NULL), CHORDAL_E_INVALID);
}

/* A part of just 16 KiB goes as it is. */
TEST(only_large_parts) {
    for (size_t more = 0; more < 2; more++) {
        open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, ON);
        const char *text = text_of(CHORDAL__DEFLATE_OVER - 6 + more, true); /* head, path, length of the text: 6 */
        chordal_counters before = test_counters(&p.a);
        set_json(&p.a, object, NOTES_TITLE, "", text);
        settle(&p);
        CHECK_INT(test_counters(&p.a).changes_encoded - before.changes_encoded, 1);
        CHECK_INT(test_counters(&p.a).deflates, more);
        CHECK_INT(test_counters(&p.b).inflates, more);
        CHECK(same_value(&p.b, reference, NOTES_TITLE, object));
        close_pair();
    }
}

/* ---- once for all ---- */

#define READERS 12
static test_host readers[READERS];
static chordal_id near[READERS], far[READERS], held[READERS];

static void settle_all(void) {
    size_t frames, moved;
    do {
        moved = test_poll(&p.a);
        for (int i = 0; i < READERS; i++) {
            CHECK_INT(chordal_link_carry(p.a.host, near[i], readers[i].host, far[i], 0, &frames, NULL), 0);
            moved += frames + test_poll(&readers[i]);
        }
    } while (moved);
}

/* A third each: binary deflated, JSON deflated, binary as it is. */
static void open_readers(chordal_host_options options) {
    test_host_open(&p.a, options);
    provide(&p.a, NOTES);
    for (int i = 0; i < READERS; i++) {
        uint32_t codec = i % 3 == 1 ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY;
        test_host_open(&readers[i], options);
        CHECK_INT(chordal_link_open(p.a.host, 0, &near[i], NULL), 0);
        CHECK_INT(chordal_link_open(readers[i].host, CHORDAL_LINK_CONNECT | (i % 3 == 2 ? 0 : ON), &far[i], NULL), 0);
        CHECK_INT(chordal_link_up(p.a.host, near[i], codec, 0, NULL), 0);
        CHECK_INT(chordal_link_up(readers[i].host, far[i], codec, 0, NULL), 0);
    }
    chordal_id kept = get(&p.a, "notes", NOTES_PARAMS);
    test_poll(&p.a);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    reference = kept;
}

static void close_readers(void) {
    chordal_release(p.a.host, reference);
    for (int i = 0; i < READERS; i++) {
        chordal_release(readers[i].host, held[i]);
        chordal_release(readers[i].host, far[i]);
        chordal_release(p.a.host, near[i]);
        test_host_close(&readers[i]);
    }
    test_host_close(&p.a);
}

static void expect_all(uint32_t member, uint64_t inflates) {
    for (int i = 0; i < READERS; i++) {
        CHECK(same_value(&readers[i], held[i], member, object));
        CHECK_INT(test_counters(&readers[i]).inflates, i % 3 == 2 ? 0 : inflates);
        CHECK_INT(test_counters(&readers[i]).deflates, 0);
    }
}

static void share(bool shrinks) {
    open_readers((chordal_host_options){0});
    set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG, shrinks));
    test_poll(&p.a);
    for (int i = 0; i < READERS; i++) held[i] = get(&readers[i], "notes", NOTES_PARAMS);
    settle_all();
    chordal_counters a = test_counters(&p.a);
    CHECK_INT(a.snapshots_encoded, 2); /* one in each encoding */
    CHECK_INT(a.deflates, 2);
    expect_all(NOTES_TITLE, shrinks);
    for (uint64_t i = 1; i <= 3; i++) {
        set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG - (size_t)i, shrinks));
        settle_all();
        CHECK_INT(test_counters(&p.a).changes_encoded - a.changes_encoded, 2 * i);
        CHECK_INT(test_counters(&p.a).deflates, 2 + 2 * i);
        expect_all(NOTES_TITLE, shrinks ? 1 + i : 0);
    }
    close_readers();
}
TEST(one_deflate_for_all_readers) {
    share(true);
}

/* Letters of 64 at random shrink by a quarter, bytes at random do not. */
TEST(what_does_not_shrink_is_not_tried_again) {
    static uint8_t bytes[BIG + 8];
    open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, ON);
    memcpy(bytes, bytes_head, 4);
    fill_random(bytes + 4, BIG);
    chordal_id made;
    chordal_counters b = test_counters(&p.b);
    CHECK_INT(chordal_call_start(p.b.host, reference, "add", 3, CHORDAL_FORMAT_PACKED, bytes, BIG + 4, 0, &made, NULL),
              0);
    settle(&p);
    CHECK_INT(test_counters(&p.b).deflates, 1);
    CHECK_INT(test_counters(&p.a).inflates, 0);
    CHECK(test_counters(&p.b).bytes_out - b.bytes_out > BIG);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_CALL);
    CHECK_INT(e->data_len, BIG + 4);
    CHECK(memcmp(e->data, bytes, sizeof e->data) == 0);
    CHECK_INT(answer_bytes(&p.a, e->as.call.call, bytes + 4), 0);
    settle(&p);
    CHECK_INT(test_counters(&p.a).deflates, 1);
    CHECK_INT(test_counters(&p.b).inflates, 0);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->data_len, BIG);
    close_pair();
}

/* ---- calls ---- */

static void call_with_text(uint32_t codec) {
    open_pair(codec, (chordal_host_options){0}, 0, ON);
    sprintf(arguments, "[1,%s,\"small\",%s]", text_of(BIG, true), big);
    chordal_counters b = test_counters(&p.b), a = test_counters(&p.a);
    call(&p.b, reference, "add", arguments);
    settle(&p);
    CHECK_INT(test_counters(&p.b).deflates, 2);
    CHECK_INT(test_counters(&p.a).inflates, 2);
    CHECK(test_counters(&p.b).bytes_out - b.bytes_out < BIG / 20);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_CALL);
    CHECK(e->data_len > 2 * BIG);
    CHECK_INT(answer(&p.a, e->as.call.call, big), 0);
    settle(&p);
    CHECK_INT(test_counters(&p.a).deflates, 1);
    CHECK_INT(test_counters(&p.b).inflates, 1);
    CHECK(test_counters(&p.a).bytes_out - a.bytes_out < BIG / 20);
    e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, 0);
    CHECK(e->data_len >= BIG + 2);
    close_pair();
}
TEST(arguments_and_results) {
    call_with_text(CHORDAL_CODEC_BINARY);
    call_with_text(CHORDAL_CODEC_TEXT);
}

static void call_with_bytes(uint32_t codec) {
    static uint8_t bytes[BIG + 4];
    memcpy(bytes, bytes_head, 4);
    for (size_t i = 0; i < BIG; i++) bytes[4 + i] = (uint8_t)(i % 100);
    chordal_id made;
    open_pair(codec, (chordal_host_options){0}, 0, ON);
    CHECK_INT(
        chordal_call_start(p.b.host, reference, "add", 3, CHORDAL_FORMAT_PACKED, bytes, sizeof bytes, 0, &made, NULL),
        0);
    settle(&p);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_CALL);
    CHECK_INT(e->data_len, sizeof bytes);
    CHECK(memcmp(e->data, bytes, sizeof e->data) == 0);
    CHECK_INT(answer_bytes(&p.a, e->as.call.call, bytes), 0);
    settle(&p);
    e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->data_len, BIG);
    CHECK(memcmp(e->data, bytes, sizeof e->data) == 0);
    CHECK_INT(test_counters(&p.a).inflates + test_counters(&p.b).inflates, 2);
    CHECK(test_counters(&p.a).bytes_in + test_counters(&p.b).bytes_in < BIG / 20);
    close_pair();
}
TEST(bytes_too) {
    call_with_bytes(CHORDAL_CODEC_BINARY);
    call_with_bytes(CHORDAL_CODEC_TEXT);
}

/* ---- relays ---- */

/* Consumer, host in the middle, provider, over links of any two codecs. */
static void through_relay(uint32_t codec_near, uint32_t codec_far) {
    test_host middle;
    chordal_id middle_near, middle_far, consumer_link, provider_link;
    size_t frames, moved;
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){0});
    test_host_open(&middle, (chordal_host_options){0});
    provide(&p.a, NOTES);
    CHECK_INT(chordal_link_open(middle.host, 0, &middle_near, NULL), 0);
    CHECK_INT(chordal_link_open(middle.host, CHORDAL_LINK_ROUTE_OFFERS, &middle_far, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT | ON, &consumer_link, NULL), 0);
    CHECK_INT(chordal_link_open(p.a.host, CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER, &provider_link, NULL), 0);
    CHECK_INT(chordal_link_up(middle.host, middle_near, codec_near, 0, NULL), 0);
    CHECK_INT(chordal_link_up(p.b.host, consumer_link, codec_near, 0, NULL), 0);
    CHECK_INT(chordal_link_up(middle.host, middle_far, codec_far, 0, NULL), 0);
    CHECK_INT(chordal_link_up(p.a.host, provider_link, codec_far, 0, NULL), 0);
#define SETTLE()                                                                                                       \
    do {                                                                                                               \
        moved = test_poll(&p.a) + test_poll(&p.b) + test_poll(&middle);                                                \
        CHECK_INT(chordal_link_carry(p.b.host, consumer_link, middle.host, middle_near, 0, &frames, NULL), 0);         \
        moved += frames;                                                                                               \
        CHECK_INT(chordal_link_carry(p.a.host, provider_link, middle.host, middle_far, 0, &frames, NULL), 0);          \
        moved += frames;                                                                                               \
    } while (moved)
    SETTLE();
    reference = get(&p.b, "notes", NOTES_PARAMS);
    SETTLE();
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_LIVE);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG, true));
    SETTLE();
    sprintf(arguments, "[%s]", big);
    call(&p.b, reference, "add", arguments);
    SETTLE();
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, big), 0);
    SETTLE();
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, 0);
    CHECK(same_value(&p.b, reference, NOTES_TITLE, object));
    CHECK_INT(test_counters(&p.a).deflates, 2);
    CHECK_INT(test_counters(&p.a).inflates, 1);
    CHECK_INT(test_counters(&p.b).deflates, 1);
    CHECK_INT(test_counters(&p.b).inflates, 2);
    chordal_counters counters = test_counters(&middle);
    CHECK_INT(counters.deflates, 0);
    CHECK_INT(counters.inflates, 0);
    CHECK_INT(counters.parts_parsed, 1); /* the params of the hold that is moved on */
    CHECK(counters.bytes_in < BIG / 10);
    CHECK(counters.parts_forwarded > 5);
    chordal_release(p.b.host, reference);
    chordal_release(p.b.host, consumer_link);
    chordal_release(p.a.host, provider_link);
    chordal_release(middle.host, middle_near);
    chordal_release(middle.host, middle_far);
    test_host_close(&p.a);
    test_host_close(&p.b);
    test_host_close(&middle);
}

TEST(hosts_in_the_middle_inflate_nothing) {
    for (uint32_t near_codec = CHORDAL_CODEC_BINARY; near_codec <= CHORDAL_CODEC_TEXT; near_codec++)
        for (uint32_t far_codec = CHORDAL_CODEC_BINARY; far_codec <= CHORDAL_CODEC_TEXT; far_codec++)
            through_relay(near_codec, far_codec);
}

/* ---- windows, limits, coming back ---- */

/* The window counts what goes over the link. */
TEST(the_window_counts_deflated_bytes) {
    static const uint32_t flags[] = {0, ON};
    for (int i = 0; i < 2; i++) {
        open_pair(CHORDAL_CODEC_BINARY, (chordal_host_options){.window_bytes = 8192}, 0, flags[i]);
        for (size_t round = 0; round < 4; round++) {
            set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG - round, true));
            test_poll(&p.a); /* nothing is acknowledged meanwhile */
        }
        CHECK_INT(test_counters(&p.a).windows_full > 0, i == 0);
        settle(&p);
        CHECK(same_value(&p.b, reference, NOTES_TITLE, object));
        close_pair();
    }
}

/* Deflated it would be small enough, but its reader could not inflate it. */
TEST(limits_are_those_of_whole_parts) {
    test_host_open(&p.a, (chordal_host_options){0});
    test_host_open(&p.b, (chordal_host_options){.message_limit = BIG - 1000});
    p.codec = CHORDAL_CODEC_BINARY;
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_CONNECT | ON, &p.link_b, NULL), 0);
    pair_up(&p);
    provide(&p.a, NOTES);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, text_of(BIG, true)), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_SIZE);
    set_json(&p.a, object, NOTES_TITLE, "", big);
    settle(&p);
    CHECK_INT(chordal_reference_state(p.b.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_SIZE);
    CHECK_INT(test_counters(&p.b).inflates, 0);
    close_pair();
}

static void cut(void) {
    CHECK_INT(chordal_link_down(p.b.host, p.link_b, 0, NULL), 0);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, 0, NULL), 0);
    test_poll(&p.a);
    test_poll(&p.b);
    chordal_release(p.a.host, p.link_a);
}

static void come_back(void) {
    CHECK_INT(chordal_link_open(p.a.host, 0, &p.link_a, NULL), 0);
    CHECK_INT(chordal_link_retry(p.b.host, p.link_b, 0, NULL), 0);
    test_poll(&p.b);
    pair_up(&p);
    settle(&p);
}

static size_t lose(test_host *h, chordal_id link) {
    static uint8_t frame[1 << 20];
    uint32_t kind;
    size_t len, bytes = 0;
    while (chordal_link_take(h->host, link, frame, sizeof frame, &len, &kind, NULL) == 0 && kind) bytes += len;
    return bytes;
}

/* Snapshots, changes, arguments and results that were lost on their way arrive once, deflated again or not. */
static void lose_bodies(uint32_t codec) {
    open_pair(codec, (chordal_host_options){0}, 0, ON);
    for (int round = 0; round < 4; round++) {
        uint64_t inflates = test_counters(&p.b).inflates, served = test_counters(&p.a).inflates;
        set_json(&p.a, object, NOTES_TITLE, "", text_of(BIG - (size_t)round, true));
        test_poll(&p.a);
        CHECK(lose(&p.a, p.link_a) < BIG / 20);
        sprintf(arguments, "[%s]", big);
        call(&p.b, reference, "add", arguments);
        test_poll(&p.b);
        CHECK(lose(&p.b, p.link_b) < BIG / 20);
        cut();
        come_back();
        CHECK(same_value(&p.b, reference, NOTES_TITLE, object));
        CHECK_INT(test_counters(&p.b).inflates - inflates, 1);
        CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, big), 0);
        test_poll(&p.a);
        CHECK(lose(&p.a, p.link_a) < BIG / 20);
        cut();
        come_back();
        CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, 0);
        CHECK_INT(test_counters(&p.b).inflates - inflates, 2);
        CHECK_INT(test_counters(&p.a).inflates - served, 1);
        forget_events(&p.b);
    }
    close_pair();
}
TEST(lost_bodies_come_again) {
    lose_bodies(CHORDAL_CODEC_BINARY);
    lose_bodies(CHORDAL_CODEC_TEXT);
}

/* ---- peers that lie ---- */

typedef struct bomb {
    uint8_t *data;
    size_t len;
} bomb;

/* What a buffer of `len` equal bytes is deflated to, but for the largest. */
static bomb deflated(const void *data, size_t len) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal__buffer out;
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    CHECK(chordal__deflate(data, len, &out));
    bomb made = {malloc(out.len + 16), out.len};
    memcpy(made.data, out.data, out.len);
    memset(made.data + out.len, 0, 16);
    chordal__buffer_dispose(&out);
    chordal__memory_unref(memory);
    return made;
}

static chordal__part deflated_part(const bomb *from, size_t len, bool raw) {
    return (chordal__part){.data = from->data, .len = len, .raw = raw, .deflated = true};
}

static int say_opened(raw_peer *peer) {
    return say_number(peer, CHORDAL__OPENED, 1, 0);
}

static int say_part(raw_peer *peer, uint8_t kind, chordal__part *parts, size_t count) {
    static uint64_t holds[300];
    chordal__message m = peer_message(peer, kind, 1);
    if (kind == CHORDAL__BOUND) {
        bool json = peer->encoding == CHORDAL__ENCODING_JSON;
        m.numbers[1] = 1, m.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
        set_part(&m.parts[0], json ? PEER_MEMBERS : PEER_MEMBERS_PACKED,
                 json ? sizeof PEER_MEMBERS - 1 : sizeof PEER_MEMBERS_PACKED - 1);
        m.parts[1] = parts[0];
        return peer_say(peer, &m);
    }
    if (kind == CHORDAL__STATE) m.numbers[0] = 1, m.holds = holds;
    if (kind == CHORDAL__CALL) m.numbers[2] = NOTES_ADD;
    if (kind == CHORDAL__RESULT) {
        m.parts[0] = parts[0];
        return peer_say(peer, &m);
    }
    m.list = parts;
    m.list_len = count;
    return peer_say(peer, &m);
}

typedef struct lie {
    test_host h;
    raw_peer peer;
    chordal_id held, made;
} lie;

#define LIMIT (1 << 20)

/* A host that holds, and calls, at a peer that answers as the test says; or one that provides, when `kind` is a call.
 */
static void open_lie(lie *l, uint8_t kind, uint32_t codec, uint32_t flags) {
    bool provides = kind == CHORDAL__CALL;
    memset(l, 0, sizeof *l);
    test_host_open(&l->h, (chordal_host_options){.message_limit = LIMIT, .memory_limit = 16 << 20});
    if (provides) provide(&l->h, NOTES);
    peer_open(&l->peer, &l->h, provides ? 0 : CHORDAL_LINK_CONNECT | flags, codec);
    if (!provides) l->held = get(&l->h, "notes", NOTES_PARAMS);
    test_poll(&l->h);
    CHECK_INT(say_hello(&l->peer), 0);
    peer_hear(&l->peer);
    if (!provides) CHECK_INT(say_opened(&l->peer), 0);
    if (!provides && kind != CHORDAL__BOUND) CHECK_INT(say_bound(&l->peer, 1, 0, true), 0);
    if (kind == CHORDAL__RESULT) l->made = call(&l->h, l->held, "add", "[]");
    if (provides) {
        chordal__message m = peer_message(&l->peer, CHORDAL__ORIGIN, 1);
        m.numbers[0] = 1, m.numbers[1] = l->peer.encoding, m.numbers[2] = flags ? CHORDAL__ORIGIN_DEFLATED : 0;
        CHECK_INT(peer_say(&l->peer, &m), 0);
        CHECK_INT(say_hold(&l->peer, 1, 0, "notes"), 0);
    }
    test_poll(&l->h);
    peer_hear(&l->peer);
}

static void close_lie(lie *l) {
    chordal_release(l->h.host, l->held);
    chordal_release(l->h.host, l->made);
    peer_close(&l->peer);
    test_host_close(&l->h);
}

static const uint8_t kinds[] = {CHORDAL__BOUND, CHORDAL__STATE, CHORDAL__RESULT, CHORDAL__CALL};

static void expect_refused(const bomb *from, size_t len, int code, uint64_t position, uint32_t flags) {
    for (size_t i = 0; i < sizeof kinds; i++) {
        for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
            for (int raw = 0; raw < 2; raw++) {
                lie l;
                if (raw && kinds[i] != CHORDAL__RESULT && kinds[i] != CHORDAL__CALL) continue;
                chordal__part part = deflated_part(from, len, raw);
                open_lie(&l, kinds[i], codec, flags);
                bool of_session = kinds[i] == CHORDAL__CALL;
                CHECK_INT(say_part(&l.peer, kinds[i], &part, 1), of_session ? 0 : code);
                if (!of_session) CHECK_INT(l.peer.error.position, position);
                test_poll(&l.h);
                peer_hear(&l.peer);
                CHECK_TEXT(of_session ? l.peer.ended : l.peer.bye, chordal_error_name(code));
                CHECK(test_counters(&l.h).live_bytes < LIMIT);
                close_lie(&l);
            }
        }
    }
}

static bomb zeros_of(size_t len) {
    uint8_t *zeros = calloc(1, len);
    for (size_t i = 0; i < len; i++) zeros[i] = (uint8_t)(i % 997 ? 0x20 : 0x0a); /* white space, within the ratio */
    bomb made = deflated(zeros, len);
    free(zeros);
    return made;
}

TEST(lies_are_refused) {
    bomb nothing = {NULL, 0}, garbage = {(uint8_t[]){0xff, 0xff, 0xff, 0xff}, 4};
    bomb large = zeros_of(LIMIT + 1), right = zeros_of(30000);
    expect_refused(&garbage, 4, CHORDAL_E_SYNTAX, 0, ON);
    expect_refused(&nothing, 0, CHORDAL_E_TRUNCATED, 0, ON);
    expect_refused(&right, right.len - 1, CHORDAL_E_TRUNCATED, right.len - 1, ON);
    expect_refused(&right, right.len + 3, CHORDAL_E_TRAILING, right.len, ON);
    expect_refused(&large, large.len, CHORDAL_E_TOO_LARGE, 0, ON);
    expect_refused(&right, right.len, CHORDAL_E_UNSUPPORTED, 0, 0); /* nobody asked for it */
    free(large.data);
    free(right.data);
}

/* All parts of a message together come to no more than its limit, and no more memory is taken than that. */
TEST(many_bombs_in_one_message) {
    enum { MANY = 100 };
    bomb one = zeros_of(LIMIT / 2);
    chordal__part parts[MANY];
    lie l;
    for (int i = 0; i < MANY; i++) parts[i] = deflated_part(&one, one.len, true);
    open_lie(&l, CHORDAL__CALL, CHORDAL_CODEC_BINARY, ON);
    uint64_t inflates = test_counters(&l.h).inflates;
    CHECK_INT(say_part(&l.peer, CHORDAL__CALL, parts, MANY), 0);
    peer_hear(&l.peer);
    CHECK_TEXT(l.peer.ended, "too_large");
    CHECK(test_counters(&l.h).inflates - inflates <= 3);
    close_lie(&l);
    /* Two of them are just what is allowed. */
    open_lie(&l, CHORDAL__CALL, CHORDAL_CODEC_BINARY, ON);
    CHECK_INT(say_part(&l.peer, CHORDAL__CALL, parts, 2), 0);
    test_poll(&l.h);
    host_event *e = last_event(&l.h, CHORDAL_EVENT_CALL);
    CHECK(e && e->data_len == LIMIT + 2 * 5 + 1);
    if (e) chordal_release(l.h.host, e->as.call.call);
    close_lie(&l);
    free(one.data);
}

/* What is not for anybody any more is not inflated: a change of a released hold, a result that nobody waits for. */
TEST(nothing_is_inflated_in_vain) {
    bomb garbage = {(uint8_t[]){0xff}, 1};
    chordal__part part = deflated_part(&garbage, 1, false);
    lie l;
    open_lie(&l, CHORDAL__RESULT, CHORDAL_CODEC_BINARY, ON);
    chordal_release(l.h.host, l.made);
    chordal_release(l.h.host, l.held);
    l.made = l.held = 0;
    test_poll(&l.h);
    CHECK_INT(say_part(&l.peer, CHORDAL__RESULT, &part, 1), 0);
    CHECK_INT(say_part(&l.peer, CHORDAL__STATE, &part, 1), 0);
    CHECK_INT(test_counters(&l.h).inflates, 0);
    close_lie(&l);
    /* And nothing that is not admitted: a call on no hold, a change of no hold. */
    open_lie(&l, CHORDAL__CALL, CHORDAL_CODEC_BINARY, ON);
    chordal__message m = peer_message(&l.peer, CHORDAL__CALL, 1);
    m.numbers[0] = 5, m.list = &part, m.list_len = 1;
    CHECK_INT(peer_say(&l.peer, &m), 0);
    peer_hear(&l.peer);
    CHECK_TEXT(l.peer.ended, "order");
    CHECK_INT(test_counters(&l.h).inflates, 0);
    close_lie(&l);
}

TESTS({"by option and link", by_option_and_link}, {"only large parts", only_large_parts},
      {"one deflate for all readers", one_deflate_for_all_readers},
      {"what does not shrink is not tried again", what_does_not_shrink_is_not_tried_again},
      {"arguments and results", arguments_and_results}, {"bytes too", bytes_too},
      {"hosts in the middle inflate nothing", hosts_in_the_middle_inflate_nothing},
      {"the window counts deflated bytes", the_window_counts_deflated_bytes},
      {"limits are those of whole parts", limits_are_those_of_whole_parts},
      {"lost bodies come again", lost_bodies_come_again}, {"lies are refused", lies_are_refused},
      {"many bombs in one message", many_bombs_in_one_message},
      {"nothing is inflated in vain", nothing_is_inflated_in_vain})
