/* messages.c: what one message costs through its codec alone, both ways: its parts written or read and its envelope, no
 * link, no host. `messages FOLDER BATCHES`: a JSON object a line. `messages FOLDER 0 CASE COUNT`: one case alone, COUNT
 * operations inside of `operations`, for callgrind. FOLDER has the payloads. */
#include "alone.h"

enum { BYTES = 1 << 20, FRAMES = 2 };

typedef struct work {
    counted sums;
    chordal__memory *memory;
    uint8_t kind, encoding;
    bool raw;             /* the part is bytes */
    chordal__node *value; /* of a snapshot or an argument */
    chordal__ops ops, read;
    chordal__dictionary source, replica;
    chordal__buffer part;
    chordal__codec out, in;
    chordal__buffer frames[FRAMES]; /* of the message that is decoded */
    size_t kept;                    /* bytes of it, while it waits to be sent */
} work;

static const chordal__limits limits = {512, FILE_MAX};
static const bool is_state[1] = {true};

/* ---- encoding ---- */

static void write_part(work *w) {
    chordal__member_value member = {.value = w->value};
    chordal__buffer_clear(&w->part);
    if (w->kind == CHORDAL__STATE)
        chordal__change_write(&w->part, w->encoding, &w->source, 1, 2, &w->ops);
    else if (w->kind == CHORDAL__BOUND)
        chordal__snapshot_write(&w->part, w->encoding, &w->source, &member, is_state, 1);
    else if (w->encoding == CHORDAL__ENCODING_BINARY)
        chordal__pack_write(&w->part, w->value);
    else
        chordal__json_write(&w->part, w->value);
}

static chordal__body *raw_body(work *w) {
    chordal__body *body = chordal__body_new(w->memory, BYTES);
    if (!body) check(CHORDAL_E_NOMEM, "body");
    memcpy(body->data, w->part.data, BYTES);
    return body;
}

static void encode(work *w, chordal__list *queue) {
    uint64_t holds[1] = {1};
    chordal__part part = {.raw = w->raw};
    if (!w->raw) write_part(w);
    if (w->raw) part.body = raw_body(w);
    part.data = w->raw ? part.body->data : w->part.data;
    part.len = w->raw ? BYTES : w->part.len;
    chordal__message message = {.kind = w->kind, .origin = 1, .numbers = {1, 2}, .list = &part, .list_len = 1};
    if (w->kind == CHORDAL__STATE) message.holds = holds;
    if (w->kind == CHORDAL__RESULT) message.parts[0] = part;
    if (w->kind == CHORDAL__BOUND) message.parts[1] = part;
    check(chordal__codec_encode(&w->out, &message, queue), "encode");
    chordal__body_unref(part.body);
}

static chordal__frame *taken(chordal__list *queue) {
    if (chordal__list_empty(queue)) return NULL;
    chordal__frame *frame = CHORDAL__ENTRY(queue->next, chordal__frame, node);
    chordal__list_remove(&frame->node);
    return frame;
}

static void encode_once(work *w) {
    chordal__list queue;
    chordal__list_init(&queue);
    encode(w, &queue);
    for (chordal__frame *frame; (frame = taken(&queue));) chordal__frame_free(frame);
}

/* ---- decoding ---- */

static void read_part(work *w, const chordal__message *message) {
    const chordal__part *part = w->kind == CHORDAL__BOUND ? &message->parts[1] : message->list;
    chordal__member_value member;
    if (w->kind == CHORDAL__STATE) {
        check(chordal__ops_read(&w->read, w->encoding, part->data, part->len, &w->replica, 2, &limits, NULL), "ops");
        chordal__ops_clear(&w->read);
    } else if (w->kind == CHORDAL__BOUND) {
        check(chordal__snapshot_read(w->memory, w->encoding, part->data, part->len, &w->replica, 1, &member, is_state,
                                     1, &limits, NULL),
              "snapshot");
        chordal__node_unref(w->memory, member.value);
    }
}

static void decode_once(work *w) {
    static const uint32_t kinds[][FRAMES] = {{CHORDAL_FRAME_BINARY, 0}, {CHORDAL_FRAME_TEXT, CHORDAL_FRAME_BINARY}};
    chordal__message message;
    int done = 0;
    for (int i = 0; i < FRAMES && w->frames[i].len; i++)
        done = chordal__codec_decode(&w->in, kinds[w->encoding - 1][i], w->frames[i].data, w->frames[i].len, &message,
                                     NULL);
    if (done != 1) check(CHORDAL_E_MALFORMED, "decode");
    read_part(w, &message);
}

static void keep_frames(work *w) {
    chordal__list queue;
    chordal__frame *frame;
    chordal__list_init(&queue);
    encode(w, &queue);
    for (int i = 0; (frame = taken(&queue)); i++) {
        w->kept += frame->size;
        for (uint32_t p = 0; p < frame->pieces_len; p++) {
            const chordal__frame_piece *piece = &frame->pieces[p];
            if (piece->body) w->kept += piece->len;
            chordal__buffer_put(&w->frames[i], (piece->body ? piece->body->data : frame->own) + piece->offset,
                                piece->len);
        }
        chordal__frame_free(frame);
    }
}

/* ---- cases ---- */

static chordal__node *json_of(work *w, const char *json, size_t len) {
    chordal__node *value;
    check(chordal__json_read(w->memory, (const uint8_t *)json, len, &limits, &value, NULL), "json");
    return value;
}

static chordal__node *value_of(work *w, const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    char *json = malloc(FILE_MAX);
    size_t len = file && json ? fread(json, 1, FILE_MAX, file) : 0;
    if (!len) check(CHORDAL_E_INVALID, path);
    fclose(file);
    chordal__node *value = json_of(w, json, len);
    free(json);
    return value;
}

/* The op of a change, whose path is in both dictionaries. */
static void begin_change(work *w, const char *ops) {
    check(chordal__ops_read(&w->ops, CHORDAL__ENCODING_JSON, (const uint8_t *)ops, strlen(ops), NULL, 0, &limits, NULL),
          ops);
    check(chordal__dictionary_define(&w->source, w->ops.items[0].path, 1), "define");
    check(chordal__dictionary_define(&w->replica, w->ops.items[0].path, 1), "define");
}

static void begin_item(work *w, const char *folder) {
    begin_change(w, "[\"p\",[0,\"entries\"],1000,0,[null]]");
    chordal__node *item = value_of(w, folder, "item.json"), *still;
    w->ops.items[0].value = chordal__node_replace(w->memory, w->ops.items[0].value, 0, item, &still);
    chordal__node_unref(w->memory, item);
}

static const struct {
    const char *name;
    uint8_t kind;
    int batch;
    const char *json; /* its ops, its value, or the file with it */
} cases[] = {
    {"streamed token", CHORDAL__STATE, 1000, "[\"a\",[0,\"entries\",999,\"text\"],\" tok\"]"},
    {"changed field", CHORDAL__STATE, 1000, "[\"s\",[0,\"entries\",500,\"author\"],\"name-007\"]"},
    {"removed item", CHORDAL__STATE, 1000, "[\"p\",[0,\"entries\"],400,1,[]]"},
    {"appended item", CHORDAL__STATE, 1000, NULL},
    {"small call", CHORDAL__CALL, 1000, "\"milk\""},
    {"its result", CHORDAL__RESULT, 1000, "\"n1\""},
    {"1 MiB of bytes as an argument", CHORDAL__CALL, 20, NULL},
    {"snapshot of 1,000 notes", CHORDAL__BOUND, 20, "notes.json"},
    {"snapshot of 500 x 960 document", CHORDAL__BOUND, 20, "document.json"},
};

static void begin(work *w, size_t c, const char *folder) {
    const char *json = cases[c].json;
    w->kind = cases[c].kind;
    w->raw = w->kind == CHORDAL__CALL && !json;
    if (w->kind == CHORDAL__STATE && json) begin_change(w, json);
    if (w->kind == CHORDAL__STATE && !json) begin_item(w, folder);
    if (w->kind == CHORDAL__BOUND) w->value = value_of(w, folder, json);
    if (w->kind == CHORDAL__RESULT || (w->kind == CHORDAL__CALL && json)) w->value = json_of(w, json, strlen(json));
    for (int i = 0; w->raw && i < BYTES; i++) chordal__buffer_put(&w->part, "x", 1);
}

static void open_work(work *w, size_t c, uint8_t encoding, const char *folder) {
    const uint64_t seed[2] = {1, 2};
    memset(w, 0, sizeof *w);
    w->memory = counted_memory(&w->sums);
    w->encoding = encoding;
    chordal__ops_init(&w->ops, w->memory);
    chordal__ops_init(&w->read, w->memory);
    chordal__buffer_init(&w->part, w->memory, FILE_MAX);
    for (int i = 0; i < FRAMES; i++) chordal__buffer_init(&w->frames[i], w->memory, FILE_MAX);
    check(chordal__dictionary_init(&w->source, w->memory, 1024, seed), "dictionary");
    check(chordal__dictionary_init(&w->replica, w->memory, 1024, seed), "dictionary");
    uint8_t codec = encoding == CHORDAL__ENCODING_BINARY ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT;
    check(chordal__codec_init(&w->out, w->memory, codec, FILE_MAX, 512), "codec");
    check(chordal__codec_init(&w->in, w->memory, codec, FILE_MAX, 512), "codec");
    begin(w, c, folder);
    encode_once(w); /* the first message names its origin, the others do not */
    w->in.current_in = w->out.current_out;
    keep_frames(w);
}

static void close_work(work *w) {
    chordal__node_unref(w->memory, w->value);
    chordal__ops_dispose(&w->ops);
    chordal__ops_dispose(&w->read);
    chordal__dictionary_dispose(&w->source);
    chordal__dictionary_dispose(&w->replica);
    chordal__codec_dispose(&w->out);
    chordal__codec_dispose(&w->in);
    chordal__buffer_dispose(&w->part);
    for (int i = 0; i < FRAMES; i++) chordal__buffer_dispose(&w->frames[i]);
    if (w->memory->live_blocks) check(CHORDAL_E_STATE, "memory that was not given back");
    chordal__memory_unref(w->memory);
}

/* ---- measuring ---- */

__attribute__((noinline)) static void operations(work *w, void (*once)(work *), int count) {
    for (int i = 0; i < count; i++) once(w);
}

static void measure(work *w, const char *name, void (*once)(work *), int batch, int batches) {
    counted before;
    double samples[64];
    if (batches > 64) batches = 64;
    once(w);
    before = w->sums;
    for (int r = 0; r < batches; r++) {
        double start = now_us();
        operations(w, once, batch);
        samples[r] = (now_us() - start) / batch;
    }
    double count = (double)batch * batches;
    print_samples(name, "chordal", "us", samples, batches);
    printf(", \"bytes\": %zu, \"counts\": {\"allocations\": %.2f, \"allocated\": %.1f, \"kept\": %zu}}\n",
           w->frames[0].len + w->frames[1].len, (double)(w->sums.allocations - before.allocations) / count,
           (double)(w->sums.bytes - before.bytes) / count, w->kept);
    fflush(stdout);
}

/* A case in one codec: encoded if `way` is 0, decoded if it is 1. */
static void run(size_t c, uint8_t encoding, int way, char **argv, int argc) {
    char name[80];
    work w;
    void (*once)(work *) = way ? decode_once : encode_once;
    snprintf(name, sizeof name, "message %s, %s, %s", way ? "decode" : "encode", cases[c].name,
             encoding == CHORDAL__ENCODING_BINARY ? "binary" : "text");
    int batches = atoi(argv[2]);
    if (batches <= 0 && (argc < 5 || strcmp(argv[3], name) != 0)) return;
    open_work(&w, c, encoding, argv[1]);
    if (batches > 0) measure(&w, name, once, cases[c].batch, batches);
    if (batches <= 0) operations(&w, once, atoi(argv[4]));
    close_work(&w);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (uint8_t encoding = CHORDAL__ENCODING_BINARY; encoding <= CHORDAL__ENCODING_JSON; encoding++) {
            for (int way = 0; way < 2; way++) run(c, encoding, way, argv, argc);
        }
    }
    return 0;
}
