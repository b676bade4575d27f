/* deflated.c: what parts cost that travel deflated, and what they save: `deflated FOLDER BATCHES`. One part alone, a
 * hold of the document, and a call that answers 1 MiB of text, beside the same as they are. */
#include "rows.h"
#include "world.h"

#include "wire/wire.h"

enum { BATCHES = 64, TIMES = 5, EXPORTED = 1 << 20 };

#define BINARY CHORDAL_CODEC_BINARY
#define TEXT CHORDAL_CODEC_TEXT
#define DEFLATE CHORDAL_LINK_DEFLATE

static double samples[BATCHES];
static uint8_t *exported; /* a string of prose, in JSON */

/* The document's text again and again, without what a string would escape. */
static void make_exported(void) {
    size_t len = 0, at = 0;
    exported = malloc(EXPORTED + 3);
    if (!exported) fail("malloc", CHORDAL_E_NOMEM);
    exported[0] = '"';
    for (; len < EXPORTED; at++) {
        if (!payload_document[at]) at = 0;
        uint8_t c = payload_document[at];
        if (c != '"' && c != '\\') exported[1 + len++] = c;
    }
    exported[EXPORTED + 1] = '"';
    exported[EXPORTED + 2] = 0;
}

static void print_bytes(const char *name, int batches, double bytes, size_t of) {
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %.0f, \"counts\": {\"of bytes\": %zu}}\n", bytes, of);
    fflush(stdout);
}

/* ---- one part alone ---- */

static void measure_part(const char *what, const uint8_t *data, int batches) {
    char name[96];
    size_t len = strlen((const char *)data);
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal__buffer small, whole;
    chordal__buffer_init(&small, memory, 1 << 26);
    chordal__buffer_init(&whole, memory, 1 << 26);
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < TIMES; i++) {
            chordal__buffer_clear(&small);
            if (!chordal__deflate(data, len, &small)) exit(1);
        }
        samples[r] = (now_us() - start) / TIMES;
    }
    snprintf(name, sizeof name, "deflate, %s", what);
    print_bytes(name, batches, (double)small.len, len);
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        for (int i = 0; i < TIMES; i++) {
            chordal__buffer_clear(&whole);
            OK(chordal__inflate(small.data, small.len, 1 << 26, &whole, NULL));
        }
        samples[r] = (now_us() - start) / TIMES;
    }
    if (whole.len != len || memcmp(whole.data, data, len) != 0) exit(1);
    snprintf(name, sizeof name, "inflate, %s", what);
    print_bytes(name, batches, (double)small.len, len);
    chordal__buffer_dispose(&small);
    chordal__buffer_dispose(&whole);
    chordal__memory_unref(memory);
}

/* ---- from end to end ---- */

/* As settle() of world.h, but that a call is answered with the text. */
static void settle_exporting(world *w) {
    size_t frames, len;
    do {
        OK(chordal_link_carry(w->provider, w->link_p, w->consumer, w->link_c, 0, &frames, NULL));
        OK(chordal_host_poll(w->provider, 0, polled, sizeof polled, &len, NULL));
        for (size_t at = 0; at < len;) {
            const chordal_record *r = (const void *)(polled + at);
            const chordal_event_CALL *call = (const void *)r;
            if (r->kind == CHORDAL_EVENT_CALL)
                OK(chordal_call_answer(w->provider, call->call, CHORDAL_FORMAT_JSON, exported, EXPORTED + 2, NULL));
            at += r->length;
        }
        frames += len + turn(w, w->consumer, 0);
    } while (frames);
}

static void hold_once(world *w) {
    hold(w, 0);
    settle(w);
    chordal_release(w->consumer, w->reference);
    settle(w);
}

static void call_once(world *w) {
    start_call(w);
    settle_exporting(w);
}

static uint64_t bytes_out(const world *w) {
    chordal_counters counters;
    OK(chordal_host_counters(w->provider, &counters, sizeof counters));
    return counters.bytes_out;
}

static void measure(const char *name, uint32_t codec, uint32_t flags, void (*once)(world *), size_t of, int batches) {
    char full[96];
    world w;
    uint64_t bytes = 0;
    open_world_with(&w, codec, flags);
    get_object(&w, 0, payload_document);
    if (once == call_once) hold(&w, 0);
    settle(&w);
    once(&w);
    for (int r = 0; r < batches; r++) {
        bytes = bytes_out(&w);
        double start = now_us();
        for (int i = 0; i < TIMES; i++) once(&w);
        samples[r] = (now_us() - start) / TIMES;
        bytes = bytes_out(&w) - bytes;
    }
    if (once == call_once && w.results != (size_t)(batches * TIMES + 1)) exit(1);
    snprintf(full, sizeof full, "%s, %s", name, codec == TEXT ? "text" : "binary");
    print_bytes(full, batches, (double)bytes / TIMES, of);
    close_world(&w);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int batches = atoi(argv[2]) < BATCHES ? atoi(argv[2]) : BATCHES;
    read_payloads(argv[1]);
    make_exported();
    size_t document = strlen((const char *)payload_document);
    measure_part("500 x 960 document", payload_document, batches);
    measure_part("1 MiB of text", exported, batches);
    for (uint32_t codec = BINARY; codec <= TEXT; codec++) {
        measure("hold to live, deflated, 500 x 960 document", codec, DEFLATE, hold_once, document, batches);
        measure("call to result, 1 MiB of text", codec, 0, call_once, EXPORTED, batches);
        measure("call to result, deflated, 1 MiB of text", codec, DEFLATE, call_once, EXPORTED, batches);
    }
    free(exported);
    return 0;
}
