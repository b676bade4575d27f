/* core.c: what the core costs. `core FOLDER BATCHES`: every case, a JSON object a line, with the time of one operation
 * in each batch. `core FOLDER 0 CASE COUNT`: one case alone, COUNT operations inside of `operations`, for callgrind.
 * FOLDER has the payloads. */
#include "rows.h"
#include "world.h"

enum { BATCHES = 64 };

typedef struct bench_case {
    const char *name;
    uint32_t codec;
    int watched, batch; /* watched: the member's number, and 1 */
    uint8_t **payload;
    void (*once)(world *);
    void (*restore)(world *, int batch); /* what a batch did, not timed */
    uint32_t flags;                      /* further ones of the consumer's link */
} bench_case;

static void call_once(world *w) {
    start_call(w);
    settle(w);
}

static void token_once(world *w) {
    append_token(w);
    settle(w);
}

static void field_once(world *w) {
    change_field(w);
    settle(w);
}

static void item_once(world *w) {
    append_item(w);
    settle(w);
}

static void removal_once(world *w) {
    remove_item(w);
    settle(w);
}

static void hold_once(world *w) {
    hold(w, 0);
    settle(w);
    chordal_release(w->consumer, w->reference);
    w->reference = 0;
    settle(w);
}

static void same_value_once(world *w) {
    commit_set(w, "/entries/500/author", "\"name-500\"");
    settle(w);
}

static void read_once(world *w) {
    chordal_value *value;
    OK(chordal_reference_value(w->consumer, w->reference, 0, &value, NULL));
    chordal_value_unref(value);
}

/* 1 MiB of bytes as the argument. */
static void bytes_once(world *w) {
    enum { BYTES = 1 << 20 };
    static uint8_t arguments[6 + BYTES] = {0x91, 0xc6, BYTES >> 24, BYTES >> 16, 0, 0};
    OK(chordal_call_start(w->consumer, w->reference, "ping", 4, CHORDAL_FORMAT_PACKED, arguments, sizeof arguments, 0,
                          &w->call, NULL));
    settle(w);
}

/* Each token in a turn of its own, whose frame nobody waits for. */
static void stream_once(world *w) {
    size_t frames;
    append_token(w);
    turn(w, w->provider, 0);
    OK(chordal_link_carry(w->provider, w->link_p, w->consumer, w->link_c, 0, &frames, NULL));
    turn(w, w->consumer, 0);
}

/* Another object each time, made when it is asked for. */
static void activation_once(world *w) {
    static int board;
    hold(w, 1 + board++ % 10000);
    settle(w);
    chordal_release(w->consumer, w->reference);
    settle(w);
}

static void restore_token(world *w, int batch) {
    (void)batch;
    commit_set(w, "/entries/999/text",
               "\"as it was: eighty characters or so, which is what the text of a note has here\"");
}

static void restore_appended(world *w, int batch) {
    splice(w, 1000, (uint64_t)batch);
}

static void restore_removed(world *w, int batch) {
    while (batch-- > 0) append_item(w);
}

#define BINARY CHORDAL_CODEC_BINARY
#define TEXT CHORDAL_CODEC_TEXT
#define DEFLATE CHORDAL_LINK_DEFLATE
static const bench_case cases[] = {
    {"local call", 0, 0, 200, &payload_notes, call_once, NULL, 0},
    {"commit without a watch", 0, 0, 200, &payload_notes, token_once, restore_token, 0},
    {"commit with a watch", 0, 1, 200, &payload_notes, token_once, restore_token, 0},
    {"commit with a watched derive", 0, 2, 200, &payload_notes, token_once, restore_token, 0},
    {"commit of the same value", 0, 1, 200, &payload_notes, same_value_once, NULL, 0},
    {"read of a held value", 0, 0, 1000, &payload_notes, read_once, NULL, 0},
    {"activation, hold and release", 0, 0, 200, &payload_notes, activation_once, NULL, 0},
    {"call round trip, binary", BINARY, 0, 200, &payload_notes, call_once, NULL, 0},
    {"call round trip, text", TEXT, 0, 200, &payload_notes, call_once, NULL, 0},
    {"call round trip, 1 MiB of bytes, binary", BINARY, 0, 20, &payload_notes, bytes_once, NULL, 0},
    {"call round trip, 1 MiB of bytes, text", TEXT, 0, 20, &payload_notes, bytes_once, NULL, 0},
    {"streamed reply, 2,000 tokens, binary", BINARY, 1, 2000, &payload_notes, stream_once, restore_token, 0},
    {"streamed reply, 2,000 tokens, text", TEXT, 1, 2000, &payload_notes, stream_once, restore_token, 0},
    {"commit to frame, token appended, binary", BINARY, 1, 200, &payload_notes, token_once, restore_token, 0},
    {"commit to frame, token appended, text", TEXT, 1, 200, &payload_notes, token_once, restore_token, 0},
    {"commit to frame, changed field, binary", BINARY, 1, 200, &payload_notes, field_once, NULL, 0},
    {"commit to frame, changed field, text", TEXT, 1, 200, &payload_notes, field_once, NULL, 0},
    {"commit to frame, appended item, binary", BINARY, 1, 100, &payload_notes, item_once, restore_appended, 0},
    {"commit to frame, appended item, text", TEXT, 1, 100, &payload_notes, item_once, restore_appended, 0},
    {"commit to frame, removed item, binary", BINARY, 1, 100, &payload_notes, removal_once, restore_removed, 0},
    {"commit to frame, removed item, text", TEXT, 1, 100, &payload_notes, removal_once, restore_removed, 0},
    {"hold to live, 1,000 notes, binary", BINARY, 0, 20, &payload_notes, hold_once, NULL, 0},
    {"hold to live, 1,000 notes, text", TEXT, 0, 20, &payload_notes, hold_once, NULL, 0},
    {"hold to live, deflated, 1,000 notes, binary", BINARY, 0, 20, &payload_notes, hold_once, NULL, DEFLATE},
    {"hold to live, deflated, 1,000 notes, text", TEXT, 0, 20, &payload_notes, hold_once, NULL, DEFLATE},
    {"hold to live, 500 x 960 document, binary", BINARY, 0, 10, &payload_document, hold_once, NULL, 0},
    {"hold to live, 500 x 960 document, text", TEXT, 0, 10, &payload_document, hold_once, NULL, 0},
};

static chordal_counters counters(const world *w) {
    chordal_counters both, other;
    OK(chordal_host_counters(w->provider, &both, sizeof both));
    if (w->consumer == w->provider) return both;
    OK(chordal_host_counters(w->consumer, &other, sizeof other));
    both.messages_out += other.messages_out;
    both.changes_encoded += other.changes_encoded;
    both.bytes_out += other.bytes_out;
    both.allocations += other.allocations;
    both.entries += other.entries;
    return both;
}

__attribute__((noinline)) static void operations(world *w, const bench_case *c, int count) {
    for (int i = 0; i < count; i++) c->once(w);
}

static void restore(world *w, const bench_case *c, int count) {
    if (c->restore) c->restore(w, count);
    settle(w);
}

static void prepare(world *w, const bench_case *c) {
    open_world_with(w, c->codec, c->flags);
    if (c->watched > 1) w->type = "counted";
    get_object(w, 0, *c->payload);
    if (c->once != hold_once && c->once != activation_once) hold(w, 0);
    settle(w);
    if (c->watched) OK(chordal_watch_open(w->consumer, w->reference, (uint32_t)c->watched - 1, 0, &w->watch, NULL));
    settle(w);
    for (int i = 0; i < c->batch; i++) c->once(w);
    restore(w, c, c->batch);
}

static void print_counts(const chordal_counters *before, const chordal_counters *after, double n) {
    printf(", \"bytes\": %.1f, \"counts\": {\"messages\": %.2f, \"encodes\": %.2f, \"allocations\": %.2f, \"entries\": "
           "%.2f}}\n",
           (double)(after->bytes_out - before->bytes_out) / n, (double)(after->messages_out - before->messages_out) / n,
           (double)(after->changes_encoded - before->changes_encoded) / n,
           (double)(after->allocations - before->allocations) / n, (double)(after->entries - before->entries) / n);
    fflush(stdout);
}

static void measure(const bench_case *c, int batches) {
    double samples[BATCHES], processor[BATCHES];
    world w;
    chordal_counters before = {0}, after = {0};
    prepare(&w, c);
    for (int r = 0; r < batches; r++) {
        before = counters(&w);
        double start = now_us(), worked = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        operations(&w, c, c->batch);
        processor[r] = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - worked) / c->batch;
        samples[r] = (now_us() - start) / c->batch;
        after = counters(&w);
        restore(&w, c, c->batch);
    }
    print_samples(c->name, "chordal", "us", samples, batches);
    print_list("processor", processor, batches);
    print_counts(&before, &after, c->batch);
    close_world(&w);
}

/* ---- the limit: the snapshot's bytes copied once ---- */

static void measure_copy(const char *name, const uint8_t *text, int batches) {
    enum { COPIES = 200 };
    double samples[BATCHES];
    size_t len = strlen((const char *)text);
    uint8_t *copy = malloc(len);
    if (!copy) fail("malloc", CHORDAL_E_NOMEM);
    memcpy(copy, text, len);
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < COPIES; i++) {
            memcpy(copy, text, len);
            __asm__ volatile("" : : "r"(copy) : "memory");
        }
        samples[r] = (now_us() - start) / COPIES;
    }
    free(copy);
    print_samples(name, "limit: memcpy", "us", samples, batches);
    printf(", \"bytes\": %zu}\n", len);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]);
    read_payloads(argv[1]);
    if (batches > BATCHES) batches = BATCHES;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w;
        if (batches > 0) measure(&cases[i], batches);
        if (argc < 5 || strcmp(argv[3], cases[i].name) != 0) continue;
        prepare(&w, &cases[i]);
        operations(&w, &cases[i], atoi(argv[4]));
        close_world(&w);
    }
    if (batches <= 0) return 0;
    measure_copy("hold to live, 1,000 notes, binary", payload_notes, batches);
    measure_copy("hold to live, 500 x 960 document, binary", payload_document, batches);
    return 0;
}
