/* wire.c: room wire with its n-th allocation failing: codecs, ops and snapshots. */
#include "sweep.h"
#include "wire/wire.h"

static const uint64_t seed[2] = {1, 2};
static const chordal__limits limits = {.depth = 64, .size = 1 << 20};

static void drop_frames(chordal__list *queue) {
    while (!chordal__list_empty(queue)) {
        chordal__list *node = queue->next;
        chordal__list_remove(node);
        chordal__frame_free(CHORDAL__ENTRY(node, chordal__frame, node));
    }
}

/* ---- encoding ---- */

static uint8_t long_bytes[2000];

/* A call with short, long, shared and raw parts; a failure leaves the queue and the origin, and the next try succeeds.
 */
static int encode(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    if (!memory) return CHORDAL_E_NOMEM;
    const uint8_t *kind = context;
    chordal__codec codec;
    chordal__list queue;
    chordal__list_init(&queue);
    memset(long_bytes, '1', sizeof long_bytes);
    int code = chordal__codec_init(&codec, memory, *kind, 1 << 20, 64);
    chordal__body *body = chordal__body_new(memory, 300);
    if (!body)
        code = CHORDAL_E_NOMEM;
    else
        memset(body->data, '2', body->len);
    chordal__part parts[] = {{.data = long_bytes, .len = 3},
                             {.data = long_bytes, .len = 2000},
                             {.data = body ? body->data : NULL, .len = 300, .body = body},
                             {.data = long_bytes, .len = 2000, .raw = true},
                             {.data = long_bytes, .len = 0, .raw = true},
                             {.data = body ? body->data : NULL, .len = 300, .raw = true, .body = body}};
    chordal__message call = {.kind = CHORDAL__CALL, .origin = 5, .list = parts, .list_len = 6};
    if (code == 0) code = chordal__codec_encode(&codec, &call, &queue);
    if (code != 0 && body) {
        CHECK(chordal__list_empty(&queue) && codec.current_out == 0 && body->count == 1);
        fault_heal(fault);
        CHECK_INT(chordal__codec_encode(&codec, &call, &queue), 0);
    }
    drop_frames(&queue);
    chordal__body_unref(body);
    chordal__codec_dispose(&codec);
    chordal__memory_unref(memory);
    return code;
}

TEST(encoding) {
    static uint8_t kinds[] = {CHORDAL_CODEC_BINARY, CHORDAL_CODEC_TEXT};
    for (size_t i = 0; i < 2; i++) {
        fault_plan plan = {.name = "encode", .scenario = encode, .context = &kinds[i]};
        CHECK(fault_sweep(&plan) > 3);
    }
}

/* ---- decoding ---- */

#define FRAME(text)                                                                                                    \
    { text, sizeof text - 1 }

typedef struct said {
    uint8_t codec;
    struct {
        const char *data;
        size_t len;
    } frames[5]; /* NULL ends them */
} said;

static int decode(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    (void)fault;
    if (!memory) return CHORDAL_E_NOMEM;
    const said *from = context;
    chordal__codec codec;
    chordal__message message = {0};
    chordal_error error = {0};
    int code = chordal__codec_init(&codec, memory, from->codec, 1 << 20, 64);
    for (int i = 0; from->frames[i].data && code >= 0; i++) {
        uint32_t kind = from->codec == CHORDAL_CODEC_TEXT && i == 0 ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY;
        const uint8_t *data = (const uint8_t *)from->frames[i].data;
        code = chordal__codec_decode(&codec, kind, data, from->frames[i].len, &message, &error);
    }
    if (code < 0)
        CHECK(error.code == code && codec.current_in == 0);
    else
        CHECK(message.origin == 1);
    chordal__codec_dispose(&codec);
    chordal__memory_unref(memory);
    return code < 0 ? code : 0;
}

TEST(decoding) {
    static said cases[] = {
        {CHORDAL_CODEC_BINARY, {FRAME("\x31\x01\x02\x03\x04\x14hello\x04x\x01")}},
        {CHORDAL_CODEC_BINARY, {FRAME("\x2f\x01\x01\x00\x18[1,23]\x05\x04z")}},
        {CHORDAL_CODEC_TEXT,
         {FRAME("[1,\"failed\",0,\"c\\u006fde\",\"so long that it grows: \\\"0123456789012345678901234"
                "56789012345678901234567890123456789\\\"\"]")}},
        {CHORDAL_CODEC_TEXT, {FRAME("[1,\"s\",1,0,[],1,[\"a\",0,\"x\"]]")}},
        {CHORDAL_CODEC_TEXT,
         {FRAME("[1,\"c#\",[0,3,1,2,2,1,3,1,1],0,1,2,0,\"v\",0,0]"), FRAME("abc"), FRAME("de"), FRAME("f")}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault_plan plan = {.name = cases[i].frames[0].data, .scenario = decode, .context = &cases[i]};
        CHECK(fault_sweep(&plan) > 1);
    }
}

/* ---- ops ---- */

static const char some_ops[] = "[\"s\",[0,\"\\u0061\",\"b\"],{\"k\":[1,\"v\"]},\"a\",[0,\"t\"],\"text\",\"p\",[1],0,0,["
                               "1,\"x\",[]],\"m\",[1],[2,0,1,3,4,5,6,"
                               "7,8],\"!\",2,\"code\",\"message\",\"d\",[0,\"a\",0]]";

typedef struct part {
    uint8_t encoding;
    bool stream;
    uint8_t data[600];
    size_t len;
} part;

static int read_ops(chordal__memory *memory, const part *from, chordal__ops *ops, chordal__dictionary *dictionary) {
    chordal_error error = {0};
    chordal__ops_init(ops, memory);
    int code = chordal__ops_read(ops, from->encoding, from->data, from->len, from->stream ? dictionary : NULL, 3,
                                 &limits, &error);
    if (code < 0) CHECK(ops->count == 0 && error.code == code);
    return code;
}

/* Read, and write again. */
static int ops_again(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    (void)fault;
    if (!memory) return CHORDAL_E_NOMEM;
    part *from = context;
    chordal__ops ops;
    chordal__dictionary dictionary;
    chordal__buffer out;
    chordal__buffer_init(&out, memory, SIZE_MAX);
    chordal__dictionary_init(&dictionary, memory, 16, seed);
    int code = read_ops(memory, from, &ops, &dictionary);
    if (code == 0) {
        chordal__change_write(&out, from->encoding, &dictionary, 0, 3, &ops);
        code = out.failed;
    }
    if (code == 0) CHECK_BYTES(out.data, out.len, from->data, from->len);
    chordal__ops_dispose(&ops);
    chordal__buffer_dispose(&out);
    chordal__dictionary_dispose(&dictionary);
    chordal__memory_unref(memory);
    return code;
}

/* The ops above in another form. */
static void prepare(part *out, uint8_t encoding, bool stream) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    part json = {.encoding = CHORDAL__ENCODING_JSON, .len = sizeof some_ops - 1};
    chordal__ops ops;
    chordal__dictionary dictionary;
    chordal__buffer buffer;
    memcpy(json.data, some_ops, json.len);
    chordal__buffer_init(&buffer, memory, sizeof out->data);
    chordal__dictionary_init(&dictionary, memory, 16, seed);
    CHECK_INT(read_ops(memory, &json, &ops, NULL), 0);
    for (uint64_t cut = 1; stream && cut <= 3; cut += 2) CHECK_INT(chordal__dictionary_note(&dictionary, &ops, cut), 0);
    chordal__change_write(&buffer, encoding, &dictionary, 0, 3, &ops);
    CHECK_INT(buffer.failed, 0);
    *out = (part){.encoding = encoding, .stream = stream, .len = buffer.len};
    memcpy(out->data, buffer.data, buffer.len);
    chordal__ops_dispose(&ops);
    chordal__buffer_dispose(&buffer);
    chordal__dictionary_dispose(&dictionary);
    chordal__memory_unref(memory);
}

TEST(reading_and_writing_ops) {
    for (int i = 0; i < 4; i++) {
        static part one;
        prepare(&one, (uint8_t)(i & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY), i & 2);
        fault_plan plan = {.name = "ops", .scenario = ops_again, .context = &one};
        CHECK(fault_sweep(&plan) > 20);
    }
}

/* ---- snapshots ---- */

static const bool is_state[] = {true, false, true, true};

static const char json_snapshot[] =
    "[[[0,\"a\"],[0,\"\\u0062\"]],[{\"k\":[1,\"value\"]},null,[[]]],[[2,0,\"c\",\"m\"],[3,1,\"d\",\"\"]]]";
static const char binary_snapshot[] = "\x02\x02\x00\x03"
                                      "a"
                                      "\x02\x00\x03"
                                      "b"
                                      "\x01\x81\xa1k\x92\x01\xa5value\x02\x01"
                                      "c"
                                      "\x01m"
                                      "\x03\x91\x90\x01"
                                      "d";

static int snapshot_again(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    (void)fault;
    if (!memory) return CHORDAL_E_NOMEM;
    const part *from = context;
    chordal__member_value values[4];
    chordal__dictionary dictionary;
    chordal__buffer out;
    size_t offsets[5];
    chordal__buffer_init(&out, memory, SIZE_MAX);
    chordal__dictionary_init(&dictionary, memory, 16, seed);
    int code = chordal__snapshot_read(memory, from->encoding, from->data, from->len, &dictionary, 1, values, is_state,
                                      4, &limits, NULL);
    if (code == 0) {
        chordal__snapshot_write(&out, from->encoding, &dictionary, values, is_state, 4);
        code = out.failed;
    }
    for (int i = 0; i < 4; i++) {
        chordal__node_unref(memory, values[i].value);
        chordal__node_unref(memory, values[i].error);
    }
    chordal__buffer_clear(&out);
    if (code == 0) {
        code = chordal__snapshot_repack(memory, from->encoding, from->data, from->len, &dictionary, 1, &out, offsets,
                                        is_state, 4, &limits, NULL);
    }
    chordal__buffer_dispose(&out);
    chordal__dictionary_dispose(&dictionary);
    chordal__memory_unref(memory);
    return code;
}

TEST(reading_and_writing_snapshots) {
    for (int json = 0; json < 2; json++) {
        static part one;
        one = (part){.encoding = json ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY};
        one.len = json ? sizeof json_snapshot - 1 : sizeof binary_snapshot;
        memcpy(one.data, json ? json_snapshot : binary_snapshot, one.len);
        fault_plan plan = {.name = "snapshot", .scenario = snapshot_again, .context = &one};
        CHECK(fault_sweep(&plan) > 10);
    }
}

/* Without memory a part goes as it is, and comes back whole or not at all. */
static int deflate_and_inflate(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    static uint8_t data[100000];
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    (void)context;
    if (!memory) return CHORDAL_E_NOMEM;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t) "some words"[i % 7 + i / 30000];
    chordal__buffer small, whole;
    chordal__buffer_init(&small, memory, PTRDIFF_MAX);
    chordal__buffer_init(&whole, memory, PTRDIFF_MAX);
    bool pays = chordal__deflate(data, sizeof data, &small);
    CHECK(pays || fault->failures);
    int code = CHORDAL_E_NOMEM;
    if (pays) code = chordal__inflate(small.data, small.len, sizeof data, &whole, NULL);
    if (code == 0) CHECK_BYTES(whole.data, whole.len, data, sizeof data);
    chordal__buffer_dispose(&small);
    chordal__buffer_dispose(&whole);
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
    return code;
}

TEST(deflating_and_inflating) {
    fault_plan plan = {.name = "deflate", .scenario = deflate_and_inflate};
    CHECK(fault_sweep(&plan) > 8);
}

TESTS({"encoding", encoding}, {"decoding", decoding}, {"ops", reading_and_writing_ops},
      {"snapshots", reading_and_writing_snapshots}, {"deflated parts", deflating_and_inflating})
