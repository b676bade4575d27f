/* link_durable_far.c: calls of durable methods that pass through hosts in the middle: effects at most once and one
 * outcome, wherever the call is when a link breaks, a host in the middle is restarted, or the provider dies. */
#include "chain.h"
#include "store.h"

#define KEPT                                                                                                           \
    "{\"name\":\"notes\",\"version\":1,\"params\":[\"board\"],\"members\":["                                           \
    "{\"name\":\"list\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"                                           \
    "{\"name\":\"add\",\"kind\":\"method\",\"durable\":true}]}"

static test_host dead[4];
static int dead_len, served;
static size_t looked; /* at the provider's events */

/* Under a lasting name, or under none. */
static void open_kept(test_host *h) {
    chordal_host_options options = {.ping_interval = CHORDAL_NEVER, .store = store_path};
    if (!nameless) options.name_high = 7, options.name_low = (uint64_t)(count - 1);
    test_host_open(h, options);
    looked = 0;
}

static void begin(int hops) {
    new_store();
    served = 0;
    open_chain(hops);
    forget_events(consumer());
    looked = provider()->len;
}

static void forget(test_host *h) {
    chordal_host_forget(h->host);
    free(h->events);
}

static void end(void) {
    for (int i = 0; i < count; i++) forget(&nodes[i].h);
    while (dead_len) forget(&dead[--dead_len]);
}

static int64_t rows(void) {
    return store_number("SELECT count(*) FROM chordal_calls");
}

/* ---- the method ---- */

/* One commit, and the answer. */
static void serve(const host_event *e) {
    chordal_transaction *transaction;
    chordal_id ticket, id = e->as.call.call;
    test_host *h = provider();
    CHECK_INT(chordal_transaction_begin(h->host, id, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, e->as.call.object, 0, "/text", "x", 1, NULL), 0);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, NULL), 0);
    CHECK_INT(answer(h, id, "[\"done\"]"), 0);
    served++;
}

static void serve_calls(void) {
    test_host *h = provider();
    for (; looked < h->len; looked++)
        if (h->events[looked].kind == CHORDAL_EVENT_CALL) serve(&h->events[looked]);
}

/* ---- where the call is ---- */

enum { NOT_SENT, IN_THE_MIDDLE, NOT_RECORDED, NOT_TOLD, NOT_STORED, NOT_OUT, OUT_TO_THE_MIDDLE, NOT_TAKEN, POINTS };

static void carry(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    size_t frames;
    CHECK_INT(chordal_link_carry(near->h.host, near->down, far->h.host, far->up, near->h.now, &frames, NULL), 0);
}

/* Bring a call to a point and no further. */
static void bring_to(int point) {
    test_poll(consumer());
    if (point >= IN_THE_MIDDLE) carry(0);
    for (int i = 1; point >= NOT_RECORDED && i < count - 1; i++) carry(i);
    if (point >= NOT_TOLD) test_poll(provider());
    if (point >= NOT_STORED) serve_calls();
    if (point >= NOT_OUT) test_poll(provider());
    for (int i = count - 2; point >= OUT_TO_THE_MIDDLE && i > 0; i--) carry(i);
    if (point >= NOT_TAKEN) carry(0);
}

/* ---- what goes wrong ---- */

static void drop(int i) {
    struct node *near = &nodes[i], *far = &nodes[i + 1];
    CHECK_INT(chordal_link_down(near->h.host, near->down, near->h.now, NULL), 0);
    CHECK_INT(chordal_link_down(far->h.host, far->up, far->h.now, NULL), 0);
    chordal_release(far->h.host, far->up);
    far->up = 0;
}

static void restart_relay(int i) {
    chordal_time now = nodes[i].h.now;
    drop(i - 1);
    CHECK_INT(chordal_link_down(nodes[i].h.host, nodes[i].down, now, NULL), 0);
    CHECK_INT(chordal_link_down(nodes[i + 1].h.host, nodes[i + 1].up, now, NULL), 0);
    chordal_release(nodes[i + 1].h.host, nodes[i + 1].up);
    forget(&nodes[i].h);
    open_host(i);
    nodes[i].h.now = now;
    open_link(i);
    mend(i - 1);
}

/* As by kill -9: what it did not write is lost, and its lock is gone. */
static void restart_provider(void) {
    char name[128];
    struct node *last = &nodes[count - 1];
    snprintf(name, sizeof name, "%s-owner", store_path);
    unlink(name);
    CHECK_INT(chordal_link_down(nodes[count - 2].h.host, nodes[count - 2].down, nodes[count - 2].h.now, NULL), 0);
    dead[dead_len++] = last->h;
    last->up = 0;
    open_host(count - 1);
    last->h.now = dead[dead_len - 1].now;
    turn();
    mend(count - 2);
}

static void come_back(void) {
    for (int i = 0; i < 12; i++) {
        pass(2000);
        serve_calls();
        turn();
    }
}

/* One outcome, the effects once. */
static void expect_done(const char *what, int hops, int point, chordal_id made, int times) {
    host_event *e = last_event(consumer(), CHORDAL_EVENT_RESULT);
    const char *text = value_of(consumer(), reference, 0);
    bool well = e && e->as.result.call == made && e->as.result.code == 0 && served == times &&
                count_events(consumer(), CHORDAL_EVENT_RESULT) == 1 && strcmp(text, "{\"text\":\"x\"}") == 0;
    if (!well)
        CHECK_FAIL("%s, %d hops, point %d: %d served, outcome %d, %s", what, hops, point, served,
                   e ? e->as.result.code : 1, text);
}

/* ---- cases ---- */

TEST(any_link_may_break) {
    opens_last = open_kept;
    provided = KEPT;
    for (int hops = 1; hops <= 2; hops++)
        for (int broken = 0; broken <= hops; broken++)
            for (int point = 0; point < POINTS; point++) {
                begin(hops);
                chordal_id made = call(consumer(), reference, "add", "[]");
                bring_to(point);
                cut(broken);
                serve_calls();
                mend(broken);
                come_back();
                expect_done("a link", hops, point, made, 1);
                CHECK_INT(rows(), 0);
                end();
            }
}

TEST(any_host_in_the_middle_may_be_restarted) {
    for (int hops = 1; hops <= 2; hops++)
        for (int stopped = 1; stopped <= hops; stopped++)
            for (int point = 0; point < POINTS; point++) {
                begin(hops);
                chordal_id made = call(consumer(), reference, "add", "[]");
                bring_to(point);
                restart_relay(stopped);
                come_back();
                expect_done("a host in the middle", hops, point, made, 1);
                CHECK_INT(rows(), 0);
                end();
            }
}

/* Its store knows what came of the call, and whether to start it. An outcome that had left stays there: its ack does
 * not come any more. */
static void check_deaths(const char *what) {
    for (int hops = 1; hops <= 2; hops++)
        for (int point = 0; point < POINTS; point++) {
            begin(hops);
            chordal_id made = call(consumer(), reference, "add", "[]");
            bring_to(point);
            restart_provider();
            come_back();
            expect_done(what, hops, point, made, point == NOT_STORED ? 2 : 1);
            CHECK_INT(rows(), point >= OUT_TO_THE_MIDDLE);
            end();
        }
}

TEST(the_provider_may_die) {
    check_deaths("a provider");
    nameless = true;
    check_deaths("a provider without a name");
    placed = true;
    last_flags = CHORDAL_LINK_PATIENT | CHORDAL_LINK_WORKER;
    check_deaths("a worker without a name");
    nameless = false;
    check_deaths("a worker");
}

/* The holder is away while the worker dies, and while another takes its place. */
TEST(the_worker_may_die_meanwhile) {
    for (int point = 0; point < POINTS; point++) {
        begin(1);
        chordal_id made = call(consumer(), reference, "add", "[]");
        bring_to(point);
        drop(0);
        restart_provider();
        mend(0);
        come_back();
        expect_done("a worker and its holder's link", 1, point, made, point == NOT_STORED ? 2 : 1);
        end();
    }
}

TEST(done) {
    remove_store();
}

TESTS({"any link may break", any_link_may_break},
      {"any host in the middle may be restarted", any_host_in_the_middle_may_be_restarted},
      {"the provider may die", the_provider_may_die}, {"the worker may die meanwhile", the_worker_may_die_meanwhile},
      {"done", done})
