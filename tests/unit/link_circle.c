/* link_circle.c: hosts that each say of an object that it is behind the next one, in a circle. */
#include "hosts.h"

enum { TAB, FIRST, HOSTS = FIRST + 3, LONGEST = 8 };
static struct member {
    test_host h;
    chordal_id on, from; /* links to the next host, and from the one before */
    size_t resolved;
} m[HOSTS];
static chordal_id from_tab;

static struct member *next_of(int i) {
    return &m[i + 1 < HOSTS ? i + 1 : FIRST];
}

static void link_up(test_host *a, chordal_id link_a, test_host *b, chordal_id link_b) {
    CHECK_INT(chordal_link_up(a->host, link_a, CHORDAL_CODEC_BINARY, 0, NULL), 0);
    CHECK_INT(chordal_link_up(b->host, link_b, CHORDAL_CODEC_BINARY, 0, NULL), 0);
}

static void open_circle(void) {
    memset(m, 0, sizeof m);
    for (int i = TAB; i < HOSTS; i++) test_host_open(&m[i].h, (chordal_host_options){.ping_interval = CHORDAL_NEVER});
    for (int i = FIRST; i < HOSTS; i++) {
        struct member *next = next_of(i);
        uint32_t flags = CHORDAL_LINK_CONNECT | CHORDAL_LINK_ROUTE_OFFERS;
        CHECK_INT(chordal_type_place(m[i].h.host, "notes", 5, NULL), 0);
        CHECK_INT(chordal_link_open(m[i].h.host, flags, &m[i].on, NULL), 0);
        CHECK_INT(chordal_link_open(next->h.host, 0, &next->from, NULL), 0);
        link_up(&m[i].h, m[i].on, &next->h, next->from);
    }
    CHECK_INT(chordal_link_open(m[TAB].h.host, CHORDAL_LINK_CONNECT, &m[TAB].on, NULL), 0);
    CHECK_INT(chordal_link_open(m[FIRST].h.host, 0, &from_tab, NULL), 0);
    link_up(&m[TAB].h, m[TAB].on, &m[FIRST].h, from_tab);
}

static void close_circle(void) {
    for (int i = TAB; i < HOSTS; i++) {
        chordal_host_forget(m[i].h.host);
        free(m[i].h.events);
    }
}

static size_t resolve(struct member *one) {
    size_t answered = 0;
    for (; one->resolved < one->h.len; one->resolved++) {
        const host_event *e = &one->h.events[one->resolved];
        if (e->kind != CHORDAL_EVENT_RESOLVE) continue;
        CHECK_INT(chordal_resolve(one->h.host, e->as.resolve.question, one->on, NULL), 0);
        answered++;
    }
    return answered;
}

static size_t carry(struct member *a, struct member *b, chordal_id link_b) {
    size_t frames;
    CHECK_INT(chordal_link_carry(a->h.host, a->on, b->h.host, link_b, 0, &frames, NULL), 0);
    return frames;
}

/* How many questions were asked until all were quiet. */
static size_t turn(void) {
    size_t moved, asked = 0;
    do {
        moved = carry(&m[TAB], &m[FIRST], from_tab);
        for (int i = FIRST; i < HOSTS; i++) moved += carry(&m[i], next_of(i), next_of(i)->from);
        for (int i = TAB; i < HOSTS; i++) moved += test_poll(&m[i].h);
        for (int i = FIRST; i < HOSTS; i++) asked += resolve(&m[i]);
    } while (moved);
    return asked;
}

static void expect_limit(chordal_id reference) {
    host_event *e = last_event(&m[TAB].h, CHORDAL_EVENT_REFERENCE);
    CHECK_INT(chordal_reference_state(m[TAB].h.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(e->as.reference.code, CHORDAL_E_LIMIT);
}

/* Who asks is sent round until its way is too long, and no further; each try is as long. */
TEST(a_circle_of_three_comes_to_an_end) {
    open_circle();
    chordal_id reference = get(&m[TAB].h, "notes", NOTES_PARAMS);
    CHECK_INT(turn(), LONGEST + 1);
    expect_limit(reference);
    for (int again = 0; again < 3; again++) {
        CHECK_INT(chordal_reference_retry(m[TAB].h.host, reference, NULL), 0);
        size_t asked = turn();
        CHECK(asked > 0 && asked <= LONGEST + 1);
        expect_limit(reference);
    }
    CHECK(test_counters(&m[TAB].h).live_sessions <= LONGEST + 1);
    chordal_release(m[TAB].h.host, reference);
    turn();
    for (int i = FIRST; i < HOSTS; i++) CHECK_INT(chordal_host_deadline(m[i].h.host), CHORDAL_NEVER);
    close_circle();
}

/* Nor does the program of a host in the circle go round for ever. */
TEST(one_of_them_asks_itself) {
    open_circle();
    chordal_id reference = get(&m[FIRST].h, "notes", NOTES_PARAMS);
    size_t asked = turn();
    CHECK(asked > 0 && asked <= LONGEST + 2);
    CHECK_INT(chordal_reference_state(m[FIRST].h.host, reference), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&m[FIRST].h, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_LIMIT);
    chordal_release(m[FIRST].h.host, reference);
    turn();
    close_circle();
}

TESTS({"a circle of three comes to an end", a_circle_of_three_comes_to_an_end},
      {"one of them asks itself", one_of_them_asks_itself})
