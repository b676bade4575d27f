/* fanout.c: one commit and those who follow it: `fanout FOLDER BATCHES`. To so many sessions of one hold each, to so
 * many holds of one session, and to one reader beside 300 that take nothing. */
#include "rows.h"
#include "world.h"

enum { BATCHES = 64, SILENT = 300, WARMING = 100, SILENT_COMMITS = 3000 };

/* So that ten thousand replicas have room. */
#define SMALL "{\"entries\":[{\"id\":\"n0\",\"text\":\"a\"}]}"

static void append_small(world *w) {
    chordal_transaction *t;
    chordal_id ticket;
    OK(chordal_transaction_begin(w->provider, 0, &t, NULL));
    OK(chordal_transaction_append(t, w->object, 0, "/entries/0/text", " tok", 4, NULL));
    OK(chordal_transaction_commit(t, &ticket, NULL));
}

/* What a host has to send is taken and thrown away: the readers themselves are not timed. */
static size_t take_all(chordal_host *host, chordal_id link) {
    chordal_piece pieces[64];
    uint32_t kind;
    size_t count, frames = 0;
    for (;; frames++) {
        OK(chordal_link_output(host, link, pieces, 64, &count, &kind, NULL));
        if (!count) return frames;
        OK(chordal_link_sent(host, link, NULL));
    }
}

static void carry(world *w, chordal_id link_p, chordal_host *consumer, chordal_id link_c) {
    size_t frames;
    OK(chordal_link_carry(w->provider, link_p, consumer, link_c, 0, &frames, NULL));
}

/* ---- sessions ---- */

typedef struct reader {
    chordal_host *host;
    chordal_id link_p, link_c, reference;
} reader;

static void open_reader(world *w, reader *r) {
    w->consumer = NULL;
    open_consumer(w, CHORDAL_CODEC_BINARY);
    hold(w, 0);
    *r = (reader){w->consumer, w->link_p, w->link_c, w->reference};
    settle(w);
}

/* Acks come by the readers' own hosts, outside of what is timed. */
static void serve(world *w, reader *readers, int count) {
    for (int i = 0; i < count; i++) {
        carry(w, readers[i].link_p, readers[i].host, readers[i].link_c);
        turn(w, readers[i].host, 0);
        carry(w, readers[i].link_p, readers[i].host, readers[i].link_c);
    }
    turn(w, w->provider, 0);
}

static void measure_sessions(int count, int batches) {
    double samples[BATCHES];
    char name[96];
    world w;
    reader *readers = calloc((size_t)count, sizeof *readers);
    chordal_counters before = {0}, after = {0};
    open_world(&w, 0);
    get_object(&w, 0, (const uint8_t *)SMALL);
    for (int i = 0; i < count; i++) open_reader(&w, &readers[i]);
    for (int r = 0; r < batches; r++) {
        OK(chordal_host_counters(w.provider, &before, sizeof before));
        double start = now_us();
        append_small(&w);
        turn(&w, w.provider, 0);
        samples[r] = now_us() - start;
        OK(chordal_host_counters(w.provider, &after, sizeof after));
        serve(&w, readers, count);
    }
    snprintf(name, sizeof name, "one commit to %d session%s", count, count > 1 ? "s" : "");
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %.1f, \"counts\": {\"encodes\": %.0f, \"messages\": %.0f, \"allocations\": %.2f}}\n",
           (double)(after.bytes_out - before.bytes_out) / count,
           (double)(after.changes_encoded - before.changes_encoded), (double)(after.messages_out - before.messages_out),
           (double)(after.allocations - before.allocations) / count);
    fflush(stdout);
    for (int i = 0; i < count; i++) chordal_host_forget(readers[i].host);
    chordal_host_forget(w.provider);
    free(readers);
}

/* ---- holds of one session ---- */

static void measure_holds(int count, int batches) {
    double samples[BATCHES];
    char name[96];
    world w;
    chordal_counters before = {0}, after = {0};
    open_world(&w, CHORDAL_CODEC_BINARY);
    get_object(&w, 0, (const uint8_t *)SMALL);
    for (int i = 0; i < count; i++) {
        hold(&w, 0);
        settle(&w);
    }
    for (int r = 0; r < batches; r++) {
        OK(chordal_host_counters(w.provider, &before, sizeof before));
        double start = now_us();
        append_small(&w);
        turn(&w, w.provider, 0);
        samples[r] = now_us() - start;
        OK(chordal_host_counters(w.provider, &after, sizeof after));
        settle(&w);
    }
    snprintf(name, sizeof name, "one commit to %d holds of a session", count);
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %.1f, \"counts\": {\"encodes\": %.0f, \"messages\": %.0f, \"allocations\": %.2f}}\n",
           (double)(after.bytes_out - before.bytes_out) / count,
           (double)(after.changes_encoded - before.changes_encoded), (double)(after.messages_out - before.messages_out),
           (double)(after.allocations - before.allocations) / count);
    fflush(stdout);
    close_world(&w);
}

/* ---- readers that never read ---- */

static void measure_silent(const char *name, int silent) {
    static char text[2051];
    double samples[1];
    world w;
    reader healthy, *readers = calloc(SILENT, sizeof *readers);
    chordal_counters before, after;
    memset(text, 'x', 2050);
    text[0] = text[2049] = '"';
    open_world(&w, 0);
    get_object(&w, 0, (const uint8_t *)SMALL);
    for (int i = 0; i < silent; i++) open_reader(&w, &readers[i]);
    open_reader(&w, &healthy);
    double spent = 0;
    for (int i = -WARMING; i < SILENT_COMMITS; i++) {
        if (i == 0) OK(chordal_host_counters(w.provider, &before, sizeof before));
        text[1] = (char)('a' + (i + WARMING) % 26);
        commit_set(&w, "/entries/0/text", text);
        double start = now_us();
        turn(&w, w.provider, (chordal_time)(i + WARMING) * 20);
        carry(&w, healthy.link_p, healthy.host, healthy.link_c);
        turn(&w, healthy.host, (chordal_time)(i + WARMING) * 20);
        if (i >= 0) spent += now_us() - start;
        carry(&w, healthy.link_p, healthy.host, healthy.link_c);
        for (int k = 0; k < silent; k++) (void)take_all(w.provider, readers[k].link_p);
    }
    OK(chordal_host_counters(w.provider, &after, sizeof after));
    samples[0] = spent / SILENT_COMMITS;
    print_samples(name, "chordal", "us", samples, 1);
    printf(", \"counts\": {\"memory grown\": %.0f, \"windows full\": %.0f}}\n",
           (double)(int64_t)(after.live_bytes - before.live_bytes), (double)(after.windows_full - before.windows_full));
    fflush(stdout);
    for (int i = 0; i < silent; i++) chordal_host_forget(readers[i].host);
    chordal_host_forget(healthy.host);
    chordal_host_forget(w.provider);
    free(readers);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    read_payloads(argv[1]);
    measure_sessions(1, batches);
    measure_sessions(100, batches);
    measure_sessions(10000, batches);
    measure_holds(1, batches);
    measure_holds(100, batches);
    measure_holds(10000, batches);
    measure_silent("a healthy reader alone, 2 KB a commit", 0);
    measure_silent("a healthy reader beside 300 that never read, 2 KB a commit", SILENT);
    return 0;
}
