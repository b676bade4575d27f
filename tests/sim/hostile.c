/* hostile.c: peers that say anything, at the door of one host: they connect to it, or it connects to them. */
#include "fuzz/peer.h"
#include "sim/sim.h"

struct sim_hostile {
    int host;
    test_host stub; /* as the messages of the fuzzer want it */
    raw_peer peer;
    bool wants_transport;
    chordal_id reference;
};

static const uint32_t door[] = {0, CHORDAL_LINK_CONNECT, CHORDAL_LINK_ROUTE_OFFERS};

static void set_now(sim_world *w, sim_hostile *h) {
    h->stub.host = w->hosts[h->host].host;
    h->stub.now = sim_host_now(w, h->host);
}

static uint32_t codec_of(sim_random *random) {
    return sim_draw(random, 2) ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY;
}

static bool open_peer(sim_world *w, sim_hostile *h, uint32_t flags, uint32_t codec) {
    set_now(w, h);
    h->peer = (raw_peer){.h = &h->stub, .flags = flags, .name = (uint8_t)(0x80 + flags)};
    if (chordal_link_open(h->stub.host, flags, &h->peer.link, NULL) < 0) return false;
    h->peer.memory = chordal__memory_new(NULL, 1 << 26);
    (void)peer_up(&h->peer, codec);
    return true;
}

static sim_hostile *come(sim_world *w, int slot, const sim_step *step, sim_random *random) {
    sim_hostile *h = calloc(1, sizeof *h);
    h->host = (int)(step->a % (uint32_t)w->hosts_len);
    if (!open_peer(w, h, door[slot], codec_of(random))) {
        free(h);
        return NULL;
    }
    (void)say_hello(&h->peer);
    if (door[slot] & CHORDAL_LINK_CONNECT)
        (void)chordal_reference_get(h->stub.host, h->peer.link, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON,
                                    (const uint8_t *)NOTES_PARAMS, strlen(NOTES_PARAMS), &h->reference, NULL);
    return h;
}

static void leave(sim_world *w, int slot) {
    sim_hostile *h = w->hostiles[slot];
    set_now(w, h);
    chordal_release(h->stub.host, h->reference);
    peer_close(&h->peer);
    free(h);
    w->hostiles[slot] = NULL;
}

void sim_hostile_leave(sim_world *w, int host) {
    for (int slot = 0; slot < SIM_HOSTILES; slot++)
        if (w->hostiles[slot] && (host < 0 || w->hostiles[slot]->host == host)) leave(w, slot);
}

/* ---- what they say ---- */

static void say_part(sim_random *random, raw_peer *p, chordal__part *part, uint8_t *bytes) {
    *part = (chordal__part){0};
    switch (sim_draw(random, 4)) {
    case 0:
        return;
    case 1:
        set_part(part, p->encoding == CHORDAL__ENCODING_JSON ? "{}" : "\x80",
                 p->encoding == CHORDAL__ENCODING_JSON ? 2 : 1);
        return;
    default:
        for (int i = 0; i < 16; i++) bytes[i] = (uint8_t)sim_draw(random, 256);
        set_part(part, bytes, sim_draw(random, 17));
        part->raw = sim_draw(random, 4) == 0;
        part->unchecked = true;
    }
}

static uint64_t number(sim_random *random) {
    return sim_draw(random, 10) ? sim_draw(random, 6) : sim_next(random) >> (11 + sim_draw(random, 50));
}

static void say_any(raw_peer *p, sim_random *random) {
    static const char *const texts[] = {"", "t0", "u0", "t1", "no_type", "method:own", "lost", "replaced"};
    uint8_t bytes[6][16];
    uint64_t holds[4];
    chordal__part list[4];
    chordal__message m = peer_message(p, (uint8_t)sim_draw(random, 28), number(random));
    m.flags = (uint8_t)(sim_draw(random, 6) ? 0 : sim_draw(random, 4));
    for (int i = 0; i < 4; i++) m.numbers[i] = number(random);
    for (int i = 0; i < 2; i++) set_text(&m, i, texts[sim_draw(random, 8)]);
    for (int i = 0; i < 2; i++) say_part(random, p, &m.parts[i], bytes[i]);
    m.list = list;
    m.holds = holds;
    m.list_len = sim_draw(random, 5);
    for (size_t i = 0; i < m.list_len; i++) {
        holds[i] = number(random);
        say_part(random, p, &list[i], bytes[2 + i]);
    }
    (void)peer_say(p, &m);
}

static void say_bytes(raw_peer *p, sim_random *random) {
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)sim_draw(random, 256);
    (void)peer_feed(p, 1 + sim_draw(random, 2), bytes, sim_draw(random, sizeof bytes + 1));
}

static void say_likely(sim_world *w, sim_hostile *h, sim_random *random) {
    raw_peer *p = &h->peer;
    char type[8];
    uint64_t origin = 1 + 2 * sim_draw(random, 3), hold = sim_draw(random, 3);
    snprintf(type, sizeof type, "%c%" PRIu32, sim_draw(random, 2) ? 't' : 'u',
             sim_draw(random, (uint32_t)w->hosts_len));
    switch (sim_draw(random, 12)) {
    case 0:
    case 1:
        (void)say_origin(p, origin, "");
        break;
    case 2:
    case 3:
        (void)say_hold(p, origin, hold, type);
        break;
    case 4:
        (void)say_call(p, origin, hold, sim_draw(random, 3), 3 + sim_draw(random, 3));
        break;
    case 5:
        (void)say_number(p, CHORDAL__ACK, origin, 1);
        break;
    case 6:
        (void)say_number(p, CHORDAL__RELEASE, origin, hold);
        break;
    case 7:
        (void)say_texts(p, CHORDAL__OFFER, 0, 0, "far", "");
        break;
    case 8:
        (void)say_number(p, CHORDAL__OPENED, origin, 0);
        break;
    case 9:
        (void)say_bound(p, origin, hold, true);
        break;
    case 10:
        (void)say_title(p, origin, hold, 'q', (uint8_t)sim_draw(random, 2));
        break;
    default:
        (void)say_number(p, CHORDAL__ENDED, origin, 0);
    }
}

static void say_something(sim_world *w, sim_hostile *h, sim_random *random) {
    uint32_t which = sim_draw(random, 10);
    if (h->wants_transport && peer_up(&h->peer, codec_of(random))) (void)say_hello(&h->peer);
    h->wants_transport = false;
    if (which < 7)
        say_likely(w, h, random);
    else if (which < 9)
        say_any(&h->peer, random);
    else
        say_bytes(&h->peer, random);
}

/* A host that is short of memory may break off in the middle of what it says: then nobody listens. */
void sim_hostile_do(sim_world *w, const sim_step *step) {
    sim_random random = sim_stream(step->x, 4, 0);
    int slot = (int)(step->b % SIM_HOSTILES);
    if (!w->hostiles[slot] && sim_host_runs(w, (int)(step->a % (uint32_t)w->hosts_len)))
        w->hostiles[slot] = come(w, slot, step, &random);
    sim_hostile *h = w->hostiles[slot];
    if (!h || !sim_host_runs(w, h->host)) return;
    set_now(w, h);
    for (uint32_t times = 1 + sim_draw(&random, 12); times > 0; times--) say_something(w, h, &random);
    if (sim_draw(&random, 3)) peer_hear(&h->peer);
    if (check_failures) sim_fail(w, "hostile: host %d said what is not well formed", h->host);
    check_failures = 0;
    int host = h->host;
    if (sim_draw(&random, 8) == 0) leave(w, slot);
    sim_host_turn(w, host);
}

bool sim_hostile_event(sim_world *w, int host, chordal_id link) {
    for (int slot = 0; slot < SIM_HOSTILES; slot++) {
        sim_hostile *h = w->hostiles[slot];
        if (!h || h->host != host || h->peer.link != link) continue;
        h->wants_transport = true;
        return true;
    }
    return false;
}
