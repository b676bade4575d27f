/* convert.c: a value from one format to the other, as a stream: no tree is built. */
#include "value/node.h"

/* ---- JSON to packed ---- */

#define HEAD_MAX 5

/* The count of a container is known at its end: its head is left open at HEAD_MAX bytes and all are closed up in the
 * end, in one pass. */
typedef struct open_head {
    size_t offset, parent; /* the index of the one around it plus 1 */
    uint32_t count;
    bool map;
} open_head;

typedef struct packer {
    chordal__sink sink;
    chordal__buffer *out;
    chordal__keys keys;
    open_head *heads;
    size_t count, capacity, top; /* top: index plus 1 of the innermost open one */
} packer;

static packer *packer_of(chordal__sink *sink) {
    return (packer *)(void *)sink;
}

static void count_member(packer *pack) {
    if (pack->top) pack->heads[pack->top - 1].count++;
}

static int pack_open(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    packer *pack = packer_of(sink);
    void *heads = pack->heads;
    if (chordal__grow(sink->memory, &heads, sizeof *pack->heads, &pack->capacity, pack->count + 1, SIZE_MAX / 64))
        return CHORDAL_E_NOMEM;
    pack->heads = heads;
    count_member(pack);
    pack->heads[pack->count] = (open_head){.offset = pack->out->len, .parent = pack->top, .map = object};
    pack->top = ++pack->count;
    chordal__buffer_extend(pack->out, HEAD_MAX);
    return object ? chordal__keys_open(&pack->keys) : pack->out->failed;
}

static int pack_close(chordal__sink *sink) {
    packer *pack = packer_of(sink);
    const open_head *head = &pack->heads[pack->top - 1];
    pack->top = head->parent;
    return head->map ? chordal__keys_close(&pack->keys, pack->out->data, &sink->position) : 0;
}

static int pack_key(chordal__sink *sink, const chordal__key *key, unsigned flags) {
    (void)flags;
    packer *pack = packer_of(sink);
    chordal__pack_write_string(pack->out, key->data, key->len);
    if (pack->out->failed) return pack->out->failed;
    return chordal__keys_add(&pack->keys, pack->out->len - key->len, key->len, key->position);
}

static int pack_string(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags) {
    (void)flags;
    count_member(packer_of(sink));
    chordal__pack_write_string(packer_of(sink)->out, utf8, len);
    return packer_of(sink)->out->failed;
}

static int pack_number(chordal__sink *sink, const chordal__number *number) {
    count_member(packer_of(sink));
    chordal__pack_write_number(packer_of(sink)->out, number);
    return packer_of(sink)->out->failed;
}

static int pack_constant(chordal__sink *sink, unsigned kind) {
    count_member(packer_of(sink));
    chordal__pack_write_constant(packer_of(sink)->out, kind);
    return packer_of(sink)->out->failed;
}

static void close_up(packer *pack) {
    chordal__buffer *out = pack->out;
    if (pack->count == 0) return;
    uint8_t *to = out->data + pack->heads[0].offset;
    for (size_t i = 0; i < pack->count; i++) {
        const open_head *head = &pack->heads[i];
        size_t from = head->offset + HEAD_MAX, end = i + 1 < pack->count ? pack->heads[i + 1].offset : out->len;
        to += chordal__pack_head(to, head->map, head->count);
        memmove(to, out->data + from, end - from);
        to += end - from;
    }
    out->len = (size_t)(to - out->data);
}

static const chordal__sink_calls packer_calls = {pack_open,   pack_close,    pack_key, pack_string,
                                                 pack_number, pack_constant, NULL};

int chordal__pack_from_json(chordal__buffer *out, chordal__reader *json, const chordal__limits *limits,
                            chordal_error *error) {
    packer pack = {.sink = {.calls = &packer_calls, .memory = out->memory}, .out = out, .keys.memory = out->memory};
    size_t start = out->len;
    int code = out->failed ? out->failed : chordal__json_parse(json, limits, &pack.sink, error);
    if (!code) code = out->failed; /* of the last container */
    if (code)
        out->len = start;
    else
        close_up(&pack);
    chordal__release(out->memory, pack.heads, pack.capacity * sizeof *pack.heads);
    chordal__keys_dispose(&pack.keys);
    return code;
}

/* ---- packed to JSON ---- */

typedef struct jsoner {
    chordal__sink sink;
    chordal__buffer *out;
    chordal__keys keys;
    const uint8_t *base;
    uint32_t depth;
    bool comma; /* the next member needs one before it */
    uint8_t objects[CHORDAL__DEPTH_MAX / 8];
} jsoner;

static jsoner *jsoner_of(chordal__sink *sink) {
    return (jsoner *)(void *)sink;
}

static chordal__buffer *before_member(jsoner *json, bool comma_after) {
    if (json->comma) chordal__buffer_byte(json->out, ',');
    json->comma = comma_after;
    return json->out;
}

static int json_open(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    jsoner *json = jsoner_of(sink);
    uint8_t *bits = &json->objects[json->depth / 8], bit = (uint8_t)(1u << json->depth % 8);
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    json->depth++;
    chordal__buffer_byte(before_member(json, false), object ? '{' : '[');
    return object ? chordal__keys_open(&json->keys) : json->out->failed;
}

static int json_close(chordal__sink *sink) {
    jsoner *json = jsoner_of(sink);
    json->depth--;
    bool object = json->objects[json->depth / 8] >> json->depth % 8 & 1;
    json->comma = true;
    chordal__buffer_byte(json->out, object ? '}' : ']');
    if (json->out->failed || !object) return json->out->failed;
    return chordal__keys_close(&json->keys, json->base, &sink->position);
}

static int json_key(chordal__sink *sink, const chordal__key *key, unsigned flags) {
    (void)flags;
    jsoner *json = jsoner_of(sink);
    chordal__json_write_string(before_member(json, false), key->data, key->len);
    chordal__buffer_byte(json->out, ':');
    if (json->out->failed) return json->out->failed;
    return chordal__keys_add(&json->keys, (size_t)(key->data - json->base), key->len, key->position);
}

static int json_string(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags) {
    (void)flags;
    chordal__json_write_string(before_member(jsoner_of(sink), true), utf8, len);
    return jsoner_of(sink)->out->failed;
}

static int json_number(chordal__sink *sink, const chordal__number *number) {
    chordal__json_write_number(before_member(jsoner_of(sink), true), number);
    return jsoner_of(sink)->out->failed;
}

static int json_constant(chordal__sink *sink, unsigned kind) {
    chordal__json_write_constant(before_member(jsoner_of(sink), true), kind);
    return jsoner_of(sink)->out->failed;
}

static const chordal__sink_calls jsoner_calls = {json_open,   json_close,    json_key, json_string,
                                                 json_number, json_constant, NULL};

int chordal__json_from_pack(chordal__buffer *out, chordal__reader *pack, const chordal__limits *limits,
                            chordal_error *error) {
    jsoner json = {.sink = {.calls = &jsoner_calls, .memory = out->memory}, .out = out, .keys.memory = out->memory};
    json.base = pack->data;
    size_t start = out->len;
    int code = out->failed ? out->failed : chordal__pack_parse(pack, limits, &json.sink, error);
    if (code) out->len = start;
    chordal__keys_dispose(&json.keys);
    return code;
}
