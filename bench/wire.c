/* wire.c: the sizes of real messages, taken from the links of two hosts. `wire FOLDER`: a JSON object a line. */
#include <stdbool.h>

#include "world.h"

enum { UP, DOWN, LOG = 4096, BYTES = 1 << 20 };

typedef struct sent {
    char word[16];
    int direction; /* UP: from the consumer */
    size_t bytes;
} sent;

static sent log_of[LOG];
static size_t logged;
static uint8_t frame_bytes[MESSAGE];

static const char *const words[] = {"",         "hello", "welcome", "origin", "opened",  "lost",    "ended",
                                    "hold",     "bound", "moved",   "failed", "retired", "revoked", "release",
                                    "released", "s",     "a",       "c",      "r",       "e",       "x",
                                    "retry",    "ping",  "pong",    "bye",    "offer"};

/* The word of a message, by the head of its frame. */
static void name_of(sent *out, const uint8_t *data, size_t len, uint32_t frame) {
    if (frame == CHORDAL_FRAME_BINARY) {
        unsigned kind = data[0] & 31;
        snprintf(out->word, sizeof out->word, "%s", kind < sizeof words / sizeof *words ? words[kind] : "?");
        return;
    }
    size_t at = 0, n = 0;
    while (at < len && data[at] != '"') at++;
    while (++at < len && data[at] >= 'a' && data[at] <= 'z' && n + 1 < sizeof out->word)
        out->word[n++] = (char)data[at];
    out->word[n] = 0;
}

static size_t carry_one_way(int direction, uint32_t codec, chordal_host *from, chordal_id link_from, chordal_host *to,
                            chordal_id link_to, chordal_time now) {
    size_t frames = 0;
    for (;; frames++) {
        size_t len;
        uint32_t frame;
        OK(chordal_link_take(from, link_from, frame_bytes, sizeof frame_bytes, &len, &frame, NULL));
        if (!frame) return frames;
        if (codec == CHORDAL_CODEC_TEXT && frame == CHORDAL_FRAME_BINARY) {
            log_of[logged - 1].bytes += len; /* raw bytes of the message before */
        } else if (logged < LOG) {
            log_of[logged] = (sent){.direction = direction, .bytes = len};
            name_of(&log_of[logged++], frame_bytes, len, frame);
        }
        OK(chordal_link_feed(to, link_to, frame, frame_bytes, len, now, NULL));
    }
}

static void exchange(world *w, uint32_t codec, chordal_time now) {
    size_t moved;
    do {
        moved = turn(w, w->consumer, now) + turn(w, w->provider, now);
        moved += carry_one_way(UP, codec, w->consumer, w->link_c, w->provider, w->link_p, now);
        moved += carry_one_way(DOWN, codec, w->provider, w->link_p, w->consumer, w->link_c, now);
    } while (moved);
}

/* Bytes of the logged messages of one kind (NULL: all) in one direction. */
static size_t sum(int direction, const char *word) {
    size_t bytes = 0;
    for (size_t i = 0; i < logged; i++)
        if (log_of[i].direction == direction && (!word || strcmp(log_of[i].word, word) == 0)) bytes += log_of[i].bytes;
    return bytes;
}

static const char *codec_name(uint32_t codec) {
    return codec == CHORDAL_CODEC_TEXT ? "text" : "binary";
}

/* `inside`: bytes of the value inside, for budgets that come on top of it. */
static void row(const char *name, uint32_t codec, size_t bytes, size_t inside) {
    printf("{\"case\": \"wire size, %s, %s\", \"system\": \"chordal\", \"unit\": \"B\", \"samples\": [%zu], "
           "\"bytes\": %zu, \"counts\": {\"inside\": %zu}}\n",
           name, codec_name(codec), bytes, bytes, inside);
}

static size_t inside(const world *w, uint32_t codec, const char *json) {
    chordal_value *value;
    size_t len;
    if (codec == CHORDAL_CODEC_TEXT) return strlen(json);
    OK(chordal_value_decode(w->provider, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), &value, NULL));
    OK(chordal_value_encode(value, CHORDAL_FORMAT_PACKED, frame_bytes, sizeof frame_bytes, &len, NULL));
    chordal_value_unref(value);
    return len;
}

/* The third time, when the path is in the dictionary. */
static void state_row(world *w, uint32_t codec, const char *name, void (*change)(world *), const char *json) {
    for (int i = 0; i < 3; i++) {
        logged = 0;
        change(w);
        exchange(w, codec, 0);
    }
    row(name, codec, sum(DOWN, "s"), json ? inside(w, codec, json) : 0);
}

static void call_rows(world *w, uint32_t codec) {
    static uint8_t arguments[6 + BYTES] = {0x91, 0xc6, BYTES >> 24, BYTES >> 16, 0, 0};
    logged = 0;
    start_call(w);
    exchange(w, codec, 0);
    row("small call", codec, sum(UP, "c"), 0);
    row("its result", codec, sum(DOWN, "r"), 0);
    exchange(w, codec, 100); /* when it has waited long enough */
    row("ack", codec, sum(UP, "a"), 0);
    logged = 0;
    OK(chordal_call_start(w->consumer, w->reference, "ping", 4, CHORDAL_FORMAT_PACKED, arguments, sizeof arguments, 0,
                          &w->call, NULL));
    exchange(w, codec, 0);
    row("1 MiB of bytes as an argument", codec, sum(UP, "c"), 0);
}

/* The transport breaks; a provider (the same, or a new run) is dialled again. */
static void reconnect(world *w, uint32_t codec, bool anew) {
    chordal_time now = 1000;
    OK(chordal_link_down(w->consumer, w->link_c, now, NULL));
    if (anew) {
        chordal_host_forget(w->provider);
        open_provider(w);
        get_object(w, 0, payload_notes);
    } else {
        OK(chordal_link_down(w->provider, w->link_p, now, NULL));
    }
    for (w->dials = 0; !w->dials; now += 1000) turn(w, w->consumer, now);
    OK(chordal_link_open(w->provider, 0, &w->link_p, NULL));
    logged = 0;
    OK(chordal_link_up(w->provider, w->link_p, codec, now, NULL));
    OK(chordal_link_up(w->consumer, w->link_c, codec, now, NULL));
    exchange(w, codec, now);
}

static void reconnect_rows(world *w, uint32_t codec) {
    reconnect(w, codec, false);
    row("back after a drop, one reference, up", codec, sum(UP, NULL) - sum(UP, "a"), 0);
    row("back after a drop, one reference, down", codec, sum(DOWN, NULL), 0);
    reconnect(w, codec, true);
    row("hold again in a new run", codec, sum(UP, "hold"), inside(w, codec, "{\"board\":\"00000\"}"));
}

static void snapshot_row(world *w, uint32_t codec, const char *name, int board, const uint8_t *payload) {
    get_object(w, board, payload);
    logged = 0;
    hold(w, board);
    exchange(w, codec, 0);
    row(name, codec, sum(DOWN, "bound"), inside(w, codec, (const char *)payload));
}

static void measure(uint32_t codec) {
    world w;
    open_world(&w, codec);
    snapshot_row(&w, codec, "snapshot of 500 x 960 document", 1, payload_document);
    chordal_release(w.consumer, w.reference);
    exchange(&w, codec, 0);
    snapshot_row(&w, codec, "snapshot of 1,000 notes", 0, payload_notes);
    OK(chordal_watch_open(w.consumer, w.reference, 0, 0, &w.watch, NULL));
    state_row(&w, codec, "streamed token", append_token, NULL);
    state_row(&w, codec, "removed item", remove_item, NULL);
    state_row(&w, codec, "changed field", change_field, NULL);
    state_row(&w, codec, "appended item", append_item, (const char *)payload_item);
    call_rows(&w, codec);
    reconnect_rows(&w, codec);
    close_world(&w);
}

static void measure_deflated(uint32_t codec) {
    world w;
    open_world_with(&w, codec, CHORDAL_LINK_DEFLATE);
    snapshot_row(&w, codec, "snapshot of 1,000 notes, deflated", 0, payload_notes);
    close_world(&w);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    read_payloads(argv[1]);
    measure(CHORDAL_CODEC_BINARY);
    measure(CHORDAL_CODEC_TEXT);
    measure_deflated(CHORDAL_CODEC_BINARY);
    measure_deflated(CHORDAL_CODEC_TEXT);
    return 0;
}
