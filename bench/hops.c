/* hops.c: hosts in the middle: `hops FOLDER BATCHES`. A call that commits, until its result and its frame are there,
 * over so many hosts; a hold, also of what is placed; a tab behind a slow line that stalls, in virtual time; one tab's
 * calls beside another's ten thousand. */
#include <stdbool.h>

#include "rows.h"
#include "world.h"

enum { BATCHES = 64, HOSTS = 8, STEP = 10, LINE = 64 * 1024, CALLS = 200, MANY = 10000 };

typedef struct edge {
    int near, far; /* hosts: near dials far and may hold what is behind it */
    chordal_id near_link, far_link;
} edge;

static world hosts[HOSTS]; /* each one's consumer is the host, its provider the same */
static edge edges[HOSTS];
static int hosts_len, edges_len;
static chordal_id object, reference, watch, question;
static uint32_t codec = CHORDAL_CODEC_BINARY;
static size_t results, last_result;

/* ---- hosts ---- */

static void answer(chordal_host *host, const chordal_event_CALL *call) {
    chordal_transaction *t;
    chordal_id ticket;
    if (call->member == 2) { /* stream */
        OK(chordal_transaction_begin(host, call->call, &t, NULL));
        OK(chordal_transaction_append(t, call->object, 0, "/entries/0/text", " tok", 4, NULL));
        OK(chordal_transaction_commit(t, &ticket, NULL));
    }
    OK(chordal_call_answer(host, call->call, CHORDAL_FORMAT_PACKED, (const uint8_t *)"\xa2n1", 3, NULL));
}

static void handle_record(chordal_host *host, const chordal_record *r) {
    const chordal_event_FRAME *frame = (const void *)r;
    const chordal_event_RESULT *result = (const void *)r;
    const chordal_event_RESOLVE *resolve = (const void *)r;
    if (r->kind == CHORDAL_EVENT_RESOLVE) question = resolve->question;
    if (r->kind == CHORDAL_EVENT_CALL) answer(host, (const void *)r);
    if (r->kind == CHORDAL_EVENT_RESULT) results++, last_result = (size_t)result->call;
    if (r->kind == CHORDAL_EVENT_FRAME && frame->ops.part) chordal_release(host, frame->ops.part);
}

/* One poll; the bytes of its events. */
static size_t poll_once(int i, chordal_time now) {
    chordal_host *host = hosts[i].consumer;
    size_t len;
    OK(chordal_host_poll(host, now, polled, sizeof polled, &len, NULL));
    for (size_t at = 0; at < len;) {
        const chordal_record *r = (const void *)(polled + at);
        handle_record(host, r);
        at += r->length;
    }
    return len;
}

static size_t poll_host(int i, chordal_time now) {
    size_t events = 0, len;
    while ((len = poll_once(i, now)) != 0) events += len;
    return events;
}

static size_t carry(int i, chordal_time now) {
    size_t count = 0;
    edge *e = &edges[i];
    OK(chordal_link_carry(hosts[e->near].consumer, e->near_link, hosts[e->far].consumer, e->far_link, now, &count,
                          NULL));
    return count;
}

static void settle_all(void) {
    size_t moved;
    do {
        moved = 0;
        for (int i = 0; i < edges_len; i++) moved += carry(i, 0);
        for (int i = 0; i < hosts_len; i++) moved += poll_host(i, 0);
    } while (moved);
}

static int add_host(void) {
    chordal_host_options options = {.size = sizeof options, .ping_interval = CHORDAL_NEVER}; /* a stall is no loss */
    OK(chordal_host_open(&options, &hosts[hosts_len].consumer, NULL));
    return hosts_len++;
}

static void add_edge(int near, int far, bool holds_itself) {
    edge *e = &edges[edges_len++];
    uint32_t flags = CHORDAL_LINK_CONNECT | (holds_itself ? 0u : CHORDAL_LINK_ROUTE_OFFERS);
    *e = (edge){near, far, 0, 0};
    OK(chordal_link_open(hosts[near].consumer, flags, &e->near_link, NULL));
    OK(chordal_link_open(hosts[far].consumer, CHORDAL_LINK_OFFER, &e->far_link, NULL));
    OK(chordal_link_up(hosts[near].consumer, e->near_link, codec, 0, NULL));
    OK(chordal_link_up(hosts[far].consumer, e->far_link, codec, 0, NULL));
}

#define STREAMED                                                                                                       \
    "{\"name\":\"notes\",\"params\":[\"board\"],\"members\":[{\"name\":\"list\",\"kind\":\"document\",\"initial\":"    \
    "{\"entries\":[]}},{\"name\":\"ping\",\"kind\":\"method\"},{\"name\":\"stream\",\"kind\":\"method\"}]}"

static int add_provider(const uint8_t *payload) {
    chordal_id type;
    int added = add_host();
    world *w = &hosts[added];
    w->provider = w->consumer;
    OK(chordal_type_provide(w->provider, (const uint8_t *)STREAMED, strlen(STREAMED), &type, NULL));
    get_object(w, 0, payload);
    object = w->object;
    return added;
}

static void forget_all(void) {
    hosts_len = edges_len = 0;
    memset(hosts, 0, sizeof hosts);
}

/* Host 0 provides the notes; then so many in the middle. */
static int open_chain(int middle, const uint8_t *payload) {
    forget_all();
    int last = add_provider(payload);
    for (int i = 0; i < middle; i++) {
        int next = add_host();
        add_edge(next, last, false);
        last = next;
        settle_all();
    }
    return last;
}

static chordal_id hold_over(int tab, chordal_id link) {
    world *w = &hosts[tab];
    w->link_c = link;
    hold(w, 0);
    return w->reference;
}

static int add_tab(int server) {
    int tab = add_host();
    add_edge(tab, server, true);
    return tab;
}

static void close_all(void) {
    for (int i = 0; i < hosts_len; i++) chordal_host_forget(hosts[i].consumer);
}

static chordal_id call(int tab, const char *method) {
    chordal_id made;
    OK(chordal_call_start(hosts[tab].consumer, hosts[tab].reference, method, strlen(method), CHORDAL_FORMAT_PACKED,
                          (const uint8_t *)"\x91\xa4milk", 6, 0, &made, NULL));
    return made;
}

static uint64_t bytes_out(int host) {
    chordal_counters counters;
    OK(chordal_host_counters(hosts[host].consumer, &counters, sizeof counters));
    return counters.bytes_out;
}

static uint64_t live_bytes(void) {
    uint64_t bytes = 0;
    for (int i = 0; i < hosts_len; i++) {
        chordal_counters counters;
        OK(chordal_host_counters(hosts[i].consumer, &counters, sizeof counters));
        bytes += counters.live_bytes;
    }
    return bytes;
}

/* ---- call to frame, hold to live ---- */

static const char *hops(int middle) {
    static const char *const names[] = {"direct", "1 hop", "2 hops", "3 hops", "4 hops"};
    static const char *const text[] = {"direct, text", "1 hop, text"};
    return codec == CHORDAL_CODEC_TEXT ? text[middle] : names[middle];
}

static void measure_calls(int middle, int batches) {
    double samples[BATCHES];
    char name[96];
    int server = open_chain(middle, payload_notes), tab = add_tab(server);
    reference = hold_over(tab, edges[edges_len - 1].near_link);
    settle_all();
    OK(chordal_watch_open(hosts[tab].consumer, reference, 0, 0, &watch, NULL));
    settle_all();
    uint64_t down = 0, from = 0;
    for (int r = 0; r < batches; r++) {
        down = bytes_out(server);
        from = bytes_out(0);
        double start = now_us();
        for (int i = 0; i < CALLS; i++) {
            call(tab, "stream");
            settle_all();
        }
        samples[r] = (now_us() - start) / CALLS;
        down = bytes_out(server) - down;
        from = bytes_out(0) - from;
    }
    snprintf(name, sizeof name, "call to frame, %s", hops(middle));
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %.1f, \"counts\": {\"bytes from the provider\": %.1f}}\n", (double)down / CALLS,
           (double)from / CALLS);
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        hold_over(tab, edges[edges_len - 1].near_link);
        settle_all();
        samples[r] = now_us() - start;
        chordal_release(hosts[tab].consumer, hosts[tab].reference);
        settle_all();
    }
    snprintf(name, sizeof name, "hold to live, 1,000 notes, %s", hops(middle));
    print_samples(name, "chordal", "us", samples, batches);
    printf("}\n");
    fflush(stdout);
    close_all();
}

/* ---- a first hold, for which a host is made ---- */

static void make_place(int server) {
    int made = add_provider(payload_notes);
    add_edge(server, made, false);
    OK(chordal_resolve(hosts[server].consumer, question, edges[edges_len - 1].near_link, NULL));
    question = 0;
}

static void measure_placed(int batches) {
    double samples[BATCHES];
    for (int r = 0; r < batches; r++) {
        forget_all();
        int server = add_host();
        OK(chordal_type_place(hosts[server].consumer, "notes", 5, NULL));
        int tab = add_tab(server);
        settle_all();
        double start = now_us();
        hold_over(tab, edges[0].near_link);
        settle_all();
        make_place(server);
        settle_all();
        samples[r] = now_us() - start;
        if (chordal_reference_state(hosts[tab].consumer, hosts[tab].reference) != CHORDAL_REFERENCE_LIVE) exit(1);
        close_all();
    }
    print_samples("first hold to live, placed, 1,000 notes", "chordal", "us", samples, batches);
    printf("}\n");
    fflush(stdout);
}

/* ---- the throttled tab ---- */

/* What the provider's part took since it was reset. */
static struct {
    double commits, longest;
    int count;
} spent;

/* It took a message since then; 0: another did. */
static void took(double start) {
    double time = start > 0 ? now_us() - start : 0;
    if (time > spent.longest) spent.longest = time;
}

/* All but the tab's line. The first one is the provider's, with its neighbour. */
static void carry_inner(chordal_time now) {
    for (int i = 0; i + 1 < edges_len; i++) {
        double start = now_us();
        carry(i, now);
        took(i == 0 ? start : 0);
    }
}

typedef struct line {
    int64_t budget;     /* bytes that may go now; below 0: a message is still on its way */
    uint64_t delivered; /* bytes */
    bool stalled;
} line;

static uint8_t frame_bytes[1 << 21];

/* A step of the tab's line: down at its speed, up at once. */
static void step_line(line *l, int tab, chordal_time now) {
    edge *e = &edges[edges_len - 1];
    chordal_host *server = hosts[e->far].consumer, *host = hosts[tab].consumer;
    uint32_t kind;
    size_t len;
    l->budget += LINE * STEP / 1000;
    if (l->stalled) l->budget = 0;
    while (!l->stalled && l->budget > 0) {
        OK(chordal_link_take(server, e->far_link, frame_bytes, sizeof frame_bytes, &len, &kind, NULL));
        if (!kind) break;
        OK(chordal_link_feed(host, e->near_link, kind, frame_bytes, len, now, NULL));
        l->budget -= (int64_t)len;
        l->delivered += len;
    }
    if (l->budget > LINE * STEP / 1000) l->budget = LINE * STEP / 1000;
    for (;;) {
        OK(chordal_link_take(host, e->near_link, frame_bytes, sizeof frame_bytes, &len, &kind, NULL));
        if (!kind) break;
        double start = now_us();
        OK(chordal_link_feed(server, e->far_link, kind, frame_bytes, len, now, NULL));
        took(e->far == 0 ? start : 0);
    }
}

static size_t text_len(int host, bool held) {
    chordal_value *value;
    chordal_cursor cursor, entries, entry, text;
    size_t len = 0;
    int code = held ? chordal_reference_value(hosts[host].consumer, reference, 0, &value, NULL)
                    : chordal_object_value(hosts[host].consumer, object, 0, &value, NULL);
    if (code < 0) return 0;
    chordal_cursor_root(value, &cursor);
    OK(chordal_cursor_get(&cursor, "entries", 7, &entries));
    OK(chordal_cursor_at(&entries, 0, &entry));
    OK(chordal_cursor_get(&entry, "text", 4, &text));
    (void)chordal_cursor_string(&text, NULL, 0, &len); /* its length alone */
    chordal_value_unref(value);
    return len;
}

static void commit_token(chordal_time now) {
    chordal_transaction *t;
    chordal_id ticket;
    double start = now_us();
    OK(chordal_transaction_begin(hosts[0].consumer, 0, &t, NULL));
    OK(chordal_transaction_append(t, object, 0, "/entries/0/text", " tok", 4, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
    poll_host(0, now);
    spent.commits += now_us() - start;
    spent.count++;
}

static chordal_time stream(line *l, int tab, chordal_time now, chordal_time span, bool until_equal) {
    chordal_time end = now + span;
    memset(&spent, 0, sizeof spent);
    for (; now < end; now += STEP) {
        commit_token(now);
        for (int i = 1; i < hosts_len; i++) poll_host(i, now);
        carry_inner(now);
        step_line(l, tab, now);
        for (int i = hosts_len - 1; i >= 0; i--) poll_host(i, now);
        carry_inner(now);
        if (until_equal && text_len(tab, true) == text_len(0, false)) return now;
    }
    return now;
}

static void print_spent(const char *what, double took, chordal_time stall, int middle) {
    char name[96];
    snprintf(name, sizeof name, "%s a stall of %d s, %s", what, (int)(stall / 1000), hops(middle));
    print_samples(name, "chordal", "us", &took, 1);
    printf("}\n");
}

static void measure_stall(int middle, chordal_time stall, bool control) {
    line l = {0};
    char name[96];
    int server = open_chain(middle, payload_document), tab = add_tab(server);
    reference = hold_over(tab, edges[edges_len - 1].near_link);
    chordal_time now = stream(&l, tab, 0, 20000, false);
    now = stream(&l, tab, now, 2000, false);
    double before = spent.commits / spent.count, during;
    uint64_t memory = live_bytes(), bytes;
    l.stalled = !control;
    now = stream(&l, tab, now, stall, false);
    during = spent.commits / spent.count;
    memory = live_bytes() - memory;
    l.stalled = false;
    bytes = l.delivered;
    chordal_time start = now;
    now = stream(&l, tab, now, 60000, true);
    double samples[1] = {(double)(now - start + STEP)};
    snprintf(name, sizeof name, "caught up after %s of %d s, %s", control ? "a stream" : "a stall", (int)(stall / 1000),
             hops(middle));
    print_samples(name, "chordal", "virtual ms", samples, 1);
    printf(", \"bytes\": %.0f, \"counts\": {\"memory grown\": %.0f}}\n", (double)(l.delivered - bytes),
           (double)(int64_t)memory);
    if (!control && stall == 60000) {
        print_spent("a commit before", before, stall, middle);
        print_spent("a commit during", during, stall, middle);
        print_spent("the provider's longest message after", spent.longest, stall, middle);
    }
    fflush(stdout);
    close_all();
}

/* ---- one tab's calls beside another's ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of calls one after the other, while `busy` has none or ten thousand. */
static void measure_beside(int many) {
    static double times[1000];
    int count = 0;
    int server = open_chain(1, payload_notes), a = add_tab(server), b = add_tab(server);
    hold_over(a, edges[edges_len - 2].near_link);
    hold_over(b, edges[edges_len - 1].near_link);
    settle_all();
    results = 0;
    for (int i = 0; i < many; i++) call(a, "ping");
    while (count < 1000 && (many == 0 || results < (size_t)many)) {
        chordal_id made = call(b, "ping");
        double start = now_us();
        for (last_result = 0; last_result != (size_t)made;) {
            for (int i = 0; i < edges_len; i++) carry(i, 0);
            for (int i = 0; i < hosts_len && last_result != (size_t)made; i++) poll_once(i, 0);
        }
        times[count++] = now_us() - start;
    }
    settle_all();
    qsort(times, (size_t)count, sizeof *times, compare);
    double samples[3] = {times[0], times[count / 2], times[count - 1]};
    print_samples(many ? "a tab's call beside 10,000 of another" : "a tab's call alone", "chordal", "us", samples, 3);
    printf(", \"counts\": {\"calls\": %d, \"95 of 100 within\": %.1f}}\n", count, times[count * 95 / 100]);
    fflush(stdout);
    close_all();
}

static void measure_many(int batches) {
    double samples[BATCHES];
    int server = open_chain(1, payload_notes), tab = add_tab(server);
    hold_over(tab, edges[edges_len - 1].near_link);
    settle_all();
    for (int r = 0; r < batches; r++) {
        results = 0;
        double start = now_us();
        for (int i = 0; i < MANY; i++) call(tab, "ping");
        settle_all();
        samples[r] = now_us() - start;
        if (results != MANY) exit(1);
    }
    print_samples("10,000 calls at once, 1 hop", "chordal", "us", samples, batches);
    printf("}\n");
    fflush(stdout);
    close_all();
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    read_payloads(argv[1]);
    for (int middle = 0; middle <= 4; middle++) measure_calls(middle, batches);
    codec = CHORDAL_CODEC_TEXT;
    for (int middle = 0; middle <= 1; middle++) measure_calls(middle, batches);
    codec = CHORDAL_CODEC_BINARY;
    measure_placed(batches);
    for (int middle = 0; middle <= 1; middle++) {
        measure_stall(middle, 1000, false);
        measure_stall(middle, 10000, false);
        measure_stall(middle, 60000, false);
        measure_stall(middle, 60000, true);
    }
    measure_beside(0);
    measure_beside(MANY);
    measure_many(batches);
    return 0;
}
