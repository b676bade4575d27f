/* kept.c: what stays in memory, by the core's own account, and what happens once. `kept FOLDER BATCHES`: a JSON object
 * a line. FOLDER has the payloads. */
#include <malloc.h>

#include "rows.h"
#include "world.h"

enum { KEPT = 100, HOLDERS = 10, OBJECTS = 1000, FIRSTS = 64 };

static chordal_counters counters(chordal_host *host) {
    chordal_counters found;
    OK(chordal_host_counters(host, &found, sizeof found));
    return found;
}

/* Bytes from one account to the next, for each of `count`. */
static double each(const chordal_counters *before, const chordal_counters *after, int count) {
    return (double)(after->live_bytes - before->live_bytes) / count;
}

/* ---- objects of 1,000 notes, each held once over a link ---- */

static void measure_kept(void) {
    world w;
    open_world(&w, CHORDAL_CODEC_BINARY);
    for (int i = 0; i <= KEPT; i++) get_object(&w, i, payload_notes);
    hold(&w, KEPT);
    settle(&w);
    chordal_counters c0 = counters(w.consumer), p0 = counters(w.provider);
    size_t heap = mallinfo2().uordblks;
    for (int i = 0; i < KEPT; i++) {
        hold(&w, i);
        settle(&w);
    }
    heap = mallinfo2().uordblks - heap;
    chordal_counters c1 = counters(w.consumer), p1 = counters(w.provider);
    double kept = each(&c0, &c1, KEPT);
    print_samples("bytes kept per replica, 1,000 notes", "chordal", "B", &kept, 1);
    printf(
        ", \"counts\": {\"core\": %.0f, \"native\": 0, \"provider\": %.0f, \"blocks\": %.0f, \"heap, both\": %.0f}}\n",
        kept, each(&p0, &p1, KEPT), (double)(c1.live_blocks - c0.live_blocks) / KEPT, (double)heap / KEPT);
    close_world(&w);
}

/* ---- one object of 1,000 notes, held by more hosts ---- */

static double hold_all(world *holders, int board) {
    chordal_counters before = counters(holders[0].provider);
    for (int i = 0; i < HOLDERS; i++) {
        hold(&holders[i], board);
        settle(&holders[i]);
        if (chordal_reference_state(holders[i].consumer, holders[i].reference) != CHORDAL_REFERENCE_LIVE) exit(1);
    }
    chordal_counters after = counters(holders[0].provider);
    return each(&before, &after, HOLDERS);
}

/* What a hold adds at the provider. All links are there before, and have held something. */
static void measure_further(void) {
    world w, holders[HOLDERS];
    open_world(&w, CHORDAL_CODEC_BINARY);
    for (int board = 0; board < 2; board++) {
        get_object(&w, board, payload_notes);
        hold(&w, board);
        settle(&w);
    }
    for (int i = 0; i < HOLDERS; i++) {
        holders[i] = w;
        open_consumer(&holders[i], CHORDAL_CODEC_BINARY);
        settle(&holders[i]);
    }
    double first = hold_all(holders, 1), kept = hold_all(holders, 0);
    print_samples("bytes kept per further hold, 1,000 notes", "chordal", "B", &kept, 1);
    printf(", \"counts\": {\"first on its link\": %.0f}}\n", first);
    for (int i = 0; i < HOLDERS; i++) chordal_host_forget(holders[i].consumer);
    close_world(&w);
}

/* ---- many small objects, held in their own host ---- */

static void measure_objects(void) {
    world w;
    open_world(&w, 0);
    hold(&w, OBJECTS);
    settle(&w);
    chordal_counters before = counters(w.provider);
    for (int i = 0; i < OBJECTS; i++) {
        hold(&w, i);
        settle(&w);
    }
    chordal_counters after = counters(w.provider);
    double kept = each(&before, &after, OBJECTS);
    print_samples("bytes kept per live object", "chordal", "B", &kept, 1);
    printf(", \"counts\": {\"blocks\": %.1f}}\n", (double)(after.live_blocks - before.live_blocks) / OBJECTS);
    close_world(&w);
}

/* ---- the first hold between two new hosts, links included ---- */

static void measure_first(const char *name, uint32_t codec, const uint8_t *payload, int batches) {
    double samples[FIRSTS];
    for (int r = 0; r < batches; r++) {
        world w;
        open_world(&w, codec);
        get_object(&w, 0, payload);
        double start = now_us();
        hold(&w, 0);
        settle(&w);
        samples[r] = now_us() - start;
        close_world(&w);
    }
    print_samples(name, "chordal", "us", samples, batches);
    printf("}\n");
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < FIRSTS ? atoi(argv[2]) : FIRSTS;
    read_payloads(argv[1]);
    measure_first("first hold to live, 1,000 notes, binary", CHORDAL_CODEC_BINARY, payload_notes, batches);
    measure_first("first hold to live, 1,000 notes, text", CHORDAL_CODEC_TEXT, payload_notes, batches);
    measure_first("first hold to live, 500 x 960 document, binary", CHORDAL_CODEC_BINARY, payload_document, batches);
    measure_first("first hold to live, 500 x 960 document, text", CHORDAL_CODEC_TEXT, payload_document, batches);
    measure_kept();
    measure_further();
    measure_objects();
    return 0;
}
