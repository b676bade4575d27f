/* drops.c: what a drop of the link costs: `drops FOLDER BATCHES`. One reference or a hundred to the notes, unchanged or
 * after commits that were missed; a thousand calls made while the link was down. */
#include "rows.h"
#include "world.h"

enum { BATCHES = 64, REFERENCES = 100, PARKED = 1000 };

typedef struct drop_case {
    const char *name;
    uint32_t codec;
    int references, missed, parked;
} drop_case;

#define BINARY CHORDAL_CODEC_BINARY
#define TEXT CHORDAL_CODEC_TEXT
static const drop_case cases[] = {
    {"reconnect, 1 reference, unchanged, binary", BINARY, 1, 0, 0},
    {"reconnect, 1 reference, unchanged, text", TEXT, 1, 0, 0},
    {"reconnect, 1 reference, 1 missed commit, binary", BINARY, 1, 1, 0},
    {"reconnect, 1 reference, 1 missed commit, text", TEXT, 1, 1, 0},
    {"reconnect, 1 reference, 100 missed commits, binary", BINARY, 1, 100, 0},
    {"reconnect, 1 reference, 100 missed commits, text", TEXT, 1, 100, 0},
    {"reconnect, 1 reference, 10,000 missed commits, binary", BINARY, 1, 10000, 0},
    {"reconnect, 1 reference, 10,000 missed commits, text", TEXT, 1, 10000, 0},
    {"reconnect, 100 references, unchanged, binary", BINARY, 100, 0, 0},
    {"reconnect, 100 references, unchanged, text", TEXT, 100, 0, 0},
    {"reconnect, 100 references, 1 missed commit, binary", BINARY, 100, 1, 0},
    {"reconnect, 100 references, 1 missed commit, text", TEXT, 100, 1, 0},
    {"reconnect, 100 references, 100 missed commits, binary", BINARY, 100, 100, 0},
    {"reconnect, 100 references, 100 missed commits, text", TEXT, 100, 100, 0},
    {"reconnect, 100 references, 10,000 missed commits, binary", BINARY, 100, 10000, 0},
    {"reconnect, 100 references, 10,000 missed commits, text", TEXT, 100, 10000, 0},
    {"1,000 calls parked while down, binary", BINARY, 1, 0, PARKED},
    {"1,000 calls parked while down, text", TEXT, 1, 0, PARKED},
};

static chordal_id references[REFERENCES];

static void drop(world *w) {
    OK(chordal_link_down(w->consumer, w->link_c, 0, NULL));
    OK(chordal_link_down(w->provider, w->link_p, 0, NULL));
    chordal_release(w->provider, w->link_p);
    turn(w, w->provider, 0);
    turn(w, w->consumer, 0);
}

static void come_back(world *w, uint32_t codec) {
    OK(chordal_link_open(w->provider, 0, &w->link_p, NULL));
    OK(chordal_link_retry(w->consumer, w->link_c, 0, NULL));
    turn(w, w->consumer, 0);
    OK(chordal_link_up(w->provider, w->link_p, codec, 0, NULL));
    OK(chordal_link_up(w->consumer, w->link_c, codec, 0, NULL));
}

static void prepare(world *w, const drop_case *c) {
    open_world(w, c->codec);
    get_object(w, 0, payload_notes);
    for (int i = 0; i < c->references; i++) {
        hold(w, 0);
        references[i] = w->reference;
    }
    settle(w);
}

static void miss(world *w, const drop_case *c) {
    for (int i = 0; i < c->missed; i++) {
        append_token(w);
        turn(w, w->provider, 0);
    }
    for (int i = 0; i < c->parked; i++) {
        start_call(w);
        turn(w, w->consumer, 0);
    }
}

static uint64_t bytes_out(chordal_host *host) {
    chordal_counters counters;
    OK(chordal_host_counters(host, &counters, sizeof counters));
    return counters.bytes_out;
}

static void restore(world *w, const drop_case *c) {
    if (c->missed) commit_set(w, "/entries/999/text", "\"as it was\"");
    settle(w);
}

static void measure(const drop_case *c, int batches) {
    double samples[BATCHES];
    uint64_t up = 0, down = 0;
    world w;
    prepare(&w, c);
    for (int r = 0; r < batches; r++) {
        drop(&w);
        miss(&w, c);
        size_t results = w.results;
        up = bytes_out(w.consumer);
        down = bytes_out(w.provider);
        double start = now_us();
        come_back(&w, c->codec);
        settle(&w);
        samples[r] = now_us() - start;
        up = bytes_out(w.consumer) - up;
        down = bytes_out(w.provider) - down;
        for (int i = 0; i < c->references; i++)
            if (chordal_reference_state(w.consumer, references[i]) != CHORDAL_REFERENCE_LIVE) exit(1);
        if (w.results - results != (size_t)c->parked) exit(1);
        restore(&w, c);
    }
    print_samples(c->name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %.0f, \"counts\": {\"up\": %.0f, \"down\": %.0f}}\n", (double)(up + down), (double)up,
           (double)down);
    fflush(stdout);
    close_world(&w);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    read_payloads(argv[1]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) measure(&cases[i], batches);
    return 0;
}
