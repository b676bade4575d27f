/* peer.h: one end of a link that is no host: it says what a test wants it to say. */
#ifndef CHORDAL_TESTS_FUZZ_PEER_H
#define CHORDAL_TESTS_FUZZ_PEER_H

#include "hosts.h"
#include "link/link.h"

#define PEER_FRAME 4096
typedef struct raw_peer {
    test_host *h;
    chordal_id link;
    uint32_t flags;
    uint8_t encoding;
    chordal__memory *memory;
    chordal__codec codec;
    bool up;
    int code;               /* of the last frame that was fed */
    chordal_error error;    /* and its words */
    uint32_t heard[32];     /* messages that came, by kind */
    uint64_t numbers[32];   /* and the first number of the last one */
    char bye[32];           /* the code that was said at the end */
    char ended[32];         /* and that of the last session that was ended */
    uint8_t name, last[64]; /* its host name's first byte; the first bytes of the last frame that came */
} raw_peer;

static inline void peer_down(raw_peer *p) {
    if (p->up) chordal__codec_dispose(&p->codec);
    p->up = false;
}

/* A new transport; false when the link wants none. */
static inline bool peer_up(raw_peer *p, uint32_t codec) {
    peer_down(p);
    if (chordal_link_up(p->h->host, p->link, codec, p->h->now, NULL) < 0) return false;
    CHECK_INT(chordal__codec_init(&p->codec, p->memory, (uint8_t)codec, 1 << 20, 512), 0);
    p->encoding = codec == CHORDAL_CODEC_TEXT ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    p->up = true;
    return true;
}

static inline void peer_open(raw_peer *p, test_host *h, uint32_t flags, uint32_t codec) {
    *p = (raw_peer){.h = h, .flags = flags, .name = (uint8_t)(flags + 1)};
    p->memory = chordal__memory_new(NULL, 1 << 26);
    CHECK_INT(chordal_link_open(h->host, flags, &p->link, NULL), 0);
    peer_up(p, codec);
}

/* Give the link back and check that the peer kept nothing. */
static inline void peer_close(raw_peer *p) {
    peer_down(p);
    CHECK_INT(p->memory->live_blocks, 0);
    chordal__memory_unref(p->memory);
    if (p->h->host) chordal_release(p->h->host, p->link);
}

static inline int peer_feed(raw_peer *p, uint32_t frame, const uint8_t *data, size_t len) {
    uint8_t *exact = malloc(len ? len : 1); /* so that a read beyond the frame is seen */
    if (len) memcpy(exact, data, len);
    p->error = (chordal_error){0};
    p->code = chordal_link_feed(p->h->host, p->link, frame, exact, len, p->h->now, &p->error);
    CHECK(p->error.position <= len);
    free(exact);
    return p->code;
}

static inline void peer_feed_frame(raw_peer *p, chordal__frame *frame) {
    uint8_t *data = malloc(frame->bytes + 1);
    size_t at = 0;
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        const chordal__frame_piece *piece = &frame->pieces[i];
        if (piece->len) memcpy(data + at, (piece->body ? piece->body->data : frame->own) + piece->offset, piece->len);
        at += piece->len;
    }
    peer_feed(p, frame->frame, data, at);
    free(data);
}

/* Say one message; the code that the host answers, or the codec's own when it cannot be said. */
static inline int peer_say(raw_peer *p, const chordal__message *message) {
    chordal__list queue;
    if (!p->up) return CHORDAL_E_STATE;
    chordal__list_init(&queue);
    int code = chordal__codec_encode(&p->codec, message, &queue);
    while (!chordal__list_empty(&queue)) {
        chordal__frame *frame = CHORDAL__ENTRY(queue.next, chordal__frame, node);
        chordal__list_remove(&frame->node);
        if (code == 0) peer_feed_frame(p, frame), code = p->code;
        chordal__frame_free(frame);
    }
    return code;
}

static inline void peer_note(raw_peer *p, const chordal__message *message) {
    uint8_t kind = message->kind & 31;
    p->heard[kind]++;
    p->numbers[kind] = message->numbers[0];
    if (kind != CHORDAL__BYE && kind != CHORDAL__ENDED) return;
    char *code = kind == CHORDAL__BYE ? p->bye : p->ended;
    size_t len = message->texts[0].len < sizeof p->bye - 1 ? message->texts[0].len : sizeof p->bye - 1;
    memcpy(code, message->texts[0].data, len);
    code[len] = 0;
}

/* Take all that the host has to send: it must be well formed, whatever was said to it. */
static inline void peer_hear(raw_peer *p) {
    static uint8_t frame[1 << 22];
    size_t len;
    uint32_t kind;
    while (chordal_link_take(p->h->host, p->link, frame, sizeof frame, &len, &kind, NULL) == 0 && kind) {
        chordal__message message;
        chordal_error error = {0};
        if (!p->up) continue;
        memset(p->last, 0, sizeof p->last);
        memcpy(p->last, frame, len < sizeof p->last ? len : sizeof p->last);
        int code = chordal__codec_decode(&p->codec, kind, frame, len, &message, &error);
        if (code < 0) CHECK_FAIL("the host sent a frame that is refused: %d %s", code, error.detail);
        if (code < 0) peer_down(p);
        if (code == 1) peer_note(p, &message);
    }
}

/* ---- messages ---- */

static inline chordal__message peer_message(const raw_peer *p, uint8_t kind, uint64_t origin) {
    chordal__message m = {.kind = kind, .origin = origin};
    memset(m.ids, p->name, sizeof m.ids);
    return m;
}

static inline void set_part(chordal__part *part, const void *data, size_t len) {
    *part = (chordal__part){.data = data, .len = len};
}

static inline void set_text(chordal__message *m, int index, const char *text) {
    m->texts[index].data = (const uint8_t *)text;
    m->texts[index].len = strlen(text);
}

static inline int say_hello(raw_peer *p) {
    bool connects = p->flags & CHORDAL_LINK_CONNECT; /* the host does */
    chordal__message m = peer_message(p, connects ? CHORDAL__WELCOME : CHORDAL__HELLO, 0);
    m.numbers[0] = 1;
    m.numbers[1] = connects ? 1 << 20 : 1;
    m.numbers[2] = 1 << 20;
    return peer_say(p, &m);
}

static inline int say_origin(raw_peer *p, uint64_t origin, const char *route) {
    chordal__message m = peer_message(p, CHORDAL__ORIGIN, origin);
    m.numbers[0] = origin;
    m.numbers[1] = p->encoding;
    set_text(&m, 0, route);
    return peer_say(p, &m);
}

static inline int say_number(raw_peer *p, uint8_t kind, uint64_t origin, uint64_t number) {
    chordal__message m = peer_message(p, kind, origin);
    m.numbers[0] = number;
    return peer_say(p, &m);
}

static inline int say_texts(raw_peer *p, uint8_t kind, uint64_t origin, uint64_t number, const char *code,
                            const char *words) {
    chordal__message m = peer_message(p, kind, origin);
    m.numbers[0] = number;
    set_text(&m, 0, code);
    set_text(&m, 1, words);
    return peer_say(p, &m);
}

static inline int say_hold(raw_peer *p, uint64_t origin, uint64_t hold, const char *type) {
    static const uint8_t packed[] = "\x81\xa5"
                                    "board\xa5lunch";
    chordal__message m = peer_message(p, CHORDAL__HOLD, origin);
    bool json = p->encoding == CHORDAL__ENCODING_JSON;
    m.numbers[0] = hold;
    set_text(&m, 0, type);
    set_part(&m.parts[0], json ? (const void *)NOTES_PARAMS : packed, json ? strlen(NOTES_PARAMS) : sizeof packed - 1);
    return peer_say(p, &m);
}

/* The member table of NOTES, and a snapshot of a list and a title. */
#define PEER_MEMBERS "[[\"list\",1,0],[\"title\",1,0],[\"add\",3,0],[\"ping\",3,1]]"
#define PEER_MEMBERS_PACKED                                                                                            \
    "\x94\x93\xa4list\x01\x00\x93\xa5title\x01\x00\x93\xa3"                                                            \
    "add\x03\x00\x93\xa4ping\x03\x01"
#define PEER_CONTENT "[[],[{\"entries\":[],\"text\":\"\"},\"t\"],[]]"
#define PEER_CONTENT_PACKED                                                                                            \
    "\x00\x01\x82\xa7"                                                                                                 \
    "entries\x90\xa4text\xa0\x01\xa1t"

static inline int say_bound(raw_peer *p, uint64_t origin, uint64_t hold, bool members) {
    chordal__message m = peer_message(p, CHORDAL__BOUND, origin);
    bool json = p->encoding == CHORDAL__ENCODING_JSON;
    m.numbers[0] = hold;
    m.numbers[1] = 1;
    m.numbers[2] = CHORDAL__BOUND_SNAPSHOT;
    if (members && json) set_part(&m.parts[0], PEER_MEMBERS, sizeof PEER_MEMBERS - 1);
    if (members && !json) set_part(&m.parts[0], PEER_MEMBERS_PACKED, sizeof PEER_MEMBERS_PACKED - 1);
    if (json)
        set_part(&m.parts[1], PEER_CONTENT, sizeof PEER_CONTENT - 1);
    else
        set_part(&m.parts[1], PEER_CONTENT_PACKED, sizeof PEER_CONTENT_PACKED - 1);
    return peer_say(p, &m);
}

/* A state with one change of hold 0, in the session's encoding. */
static inline int say_change(raw_peer *p, uint64_t origin, const char *json, const char *packed, size_t len) {
    chordal__message m = peer_message(p, CHORDAL__STATE, origin);
    chordal__part part;
    uint64_t held = 0;
    bool text = p->encoding == CHORDAL__ENCODING_JSON;
    set_part(&part, text ? json : packed, text ? strlen(json) : len);
    m.numbers[0] = 1;
    m.list = &part;
    m.holds = &held;
    m.list_len = 1;
    return peer_say(p, &m);
}

/* One change of one hold: the title becomes `text` (a letter). */
static inline int say_title(raw_peer *p, uint64_t origin, uint64_t hold, char text, uint8_t flags) {
    chordal__message m = peer_message(p, CHORDAL__STATE, origin);
    char json[] = "[\"r\",[1],\"x\"]", packed[] = "\xf8\x01\x02\xa1x";
    chordal__part part;
    json[10] = packed[4] = text;
    if (p->encoding == CHORDAL__ENCODING_JSON)
        set_part(&part, json, sizeof json - 1);
    else
        set_part(&part, packed, sizeof packed - 1);
    m.flags = flags;
    m.numbers[0] = 1;
    m.list = &part;
    m.holds = &hold;
    m.list_len = 1;
    return peer_say(p, &m);
}

static inline int say_call(raw_peer *p, uint64_t origin, uint64_t hold, uint64_t slot, uint64_t member) {
    chordal__message m = peer_message(p, CHORDAL__CALL, origin);
    m.numbers[0] = hold;
    m.numbers[1] = slot;
    m.numbers[2] = member;
    return peer_say(p, &m);
}

static inline int say_result(raw_peer *p, uint64_t origin, uint64_t slot) {
    chordal__message m = peer_message(p, CHORDAL__RESULT, origin);
    m.numbers[0] = slot;
    set_part(&m.parts[0], p->encoding == CHORDAL__ENCODING_JSON ? "7" : "\x07", 1);
    return peer_say(p, &m);
}

#endif
