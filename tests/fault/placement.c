/* A hold of a placed type under failing allocation: ask, answer with a link that is not up yet, be given back. The host
 * in the middle is the one without memory; whatever it is refused, nothing is left behind. */
#include "fault/sweep.h"

#include "chordal.h"

typedef struct world {
    chordal_host *tab, *server;
    chordal_id tab_link, accepted, behind, reference, own;
    bool asked;
    int code;
} world;

static bool went(world *w, int code) {
    if (code && !w->code) w->code = code;
    return code == 0;
}

/* Answer all questions, with a link that nobody is behind. */
static void turn(world *w, chordal_host *host, chordal_time now) {
    static _Alignas(8) uint8_t events[65536];
    size_t len = 0;
    for (int tries = 0; tries < 64; tries++) {
        int code = chordal_host_poll(host, now, events, sizeof events, &len, NULL);
        if (code < 0) went(w, code);
        if (code == 0 && len == 0) return;
        for (size_t at = 0; code == 0 && at < len; at += ((chordal_record *)(void *)(events + at))->length) {
            const chordal_event_RESOLVE *event = (const void *)(events + at);
            if (event->record.kind != CHORDAL_EVENT_RESOLVE) continue;
            w->asked = true;
            if (w->behind) went(w, chordal_resolve(host, event->question, w->behind, NULL));
        }
    }
}

static void carry(world *w) {
    for (int round = 0; round < 4; round++) {
        (void)chordal_link_carry(w->tab, w->tab_link, w->server, w->accepted, 1, NULL, NULL);
        turn(w, w->server, 1);
        turn(w, w->tab, 1);
    }
}

static chordal_id get(chordal_host *host, int *code) {
    static const char params[] = "{\"board\":\"lunch\"}";
    chordal_id reference = 0;
    *code = chordal_reference_get(host, 0, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                  sizeof params - 1, &reference, NULL);
    return reference;
}

static bool open_world(world *w, const chordal_memory_functions *functions) {
    chordal_host_options plain = {.size = sizeof plain}, scarce = {.size = sizeof scarce, .memory = functions};
    const uint32_t routes = CHORDAL_LINK_CONNECT | CHORDAL_LINK_ROUTE_OFFERS;
    return went(w, chordal_host_open(&plain, &w->tab, NULL)) && went(w, chordal_host_open(&scarce, &w->server, NULL)) &&
           went(w, chordal_type_place(w->server, "notes", 5, NULL)) &&
           went(w, chordal_link_open(w->tab, CHORDAL_LINK_CONNECT, &w->tab_link, NULL)) &&
           went(w, chordal_link_open(w->server, 0, &w->accepted, NULL)) &&
           went(w, chordal_link_open(w->server, routes, &w->behind, NULL)) &&
           went(w, chordal_link_up(w->server, w->accepted, CHORDAL_CODEC_BINARY, 0, NULL)) &&
           went(w, chordal_link_up(w->tab, w->tab_link, CHORDAL_CODEC_BINARY, 0, NULL));
}

static int scenario(const chordal_memory_functions *functions, fault_memory *memory, void *context) {
    world w = {0};
    int code = 0;
    (void)context;
    if (open_world(&w, functions)) {
        w.reference = get(w.tab, &code);
        CHECK_INT(code, 0);
        w.own = get(w.server, &code);
        went(&w, code);
        carry(&w);
        if (!memory->failures) CHECK(w.asked);
        if (w.own) chordal_release(w.server, w.own);
        chordal_release(w.tab, w.reference);
        carry(&w);
    }
    chordal_host_forget(w.tab);
    chordal_host_forget(w.server);
    return w.code;
}

TEST(placement) {
    fault_plan plan = {.name = "placement", .scenario = scenario, .allowed = {CHORDAL_E_CLOSED}, .benign = true};
    CHECK(fault_sweep(&plan) > 20);
}

TESTS({"a hold of a placed type", placement})
