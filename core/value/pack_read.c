/* pack_read.c: packed bytes (a part of MessagePack, docs/protocol.md) to events, strict, without recursion. */
#include "value/scan.h"

typedef struct pack {
    const uint8_t *data, *at, *end;
    chordal__sink *sink; /* NULL: only step over it */
    uint32_t depth, limit;
    bool map;                             /* what the innermost open container is */
    int short_code;                       /* when the end is met: TRUNCATED, or SIZE when it is that of the limit */
    uint32_t left[CHORDAL__DEPTH_MAX];    /* members to come in each open container */
    uint8_t maps[CHORDAL__DEPTH_MAX / 8]; /* a bit for each of them */
} pack;

/* What a head byte begins, and how many bytes of length or number follow it. */
enum { WRONG, CONSTANT, UNSIGNED, SIGNED, REAL, STRING, ARRAY, MAP };
typedef struct head_row {
    uint8_t what, size;
} head_row;

static const head_row heads[32] = {
    /* c0 */ {CONSTANT, 0}, {WRONG, 0},    {CONSTANT, 0}, {CONSTANT, 0},
    /* c4 */ {WRONG, 0},    {WRONG, 0},    {WRONG, 0},    {WRONG, 0},
    /* c8 */ {WRONG, 0},    {WRONG, 0},    {REAL, 4},     {REAL, 8},
    /* cc */ {UNSIGNED, 1}, {UNSIGNED, 2}, {UNSIGNED, 4}, {UNSIGNED, 8},
    /* d0 */ {SIGNED, 1},   {SIGNED, 2},   {SIGNED, 4},   {SIGNED, 8},
    /* d4 */ {WRONG, 0},    {WRONG, 0},    {WRONG, 0},    {WRONG, 0},
    /* d8 */ {WRONG, 0},    {STRING, 1},   {STRING, 2},   {STRING, 4},
    /* dc */ {ARRAY, 2},    {ARRAY, 4},    {MAP, 2},      {MAP, 4},
};

static uint64_t left_of(const pack *p) {
    return (uint64_t)(p->end - p->at);
}

static uint64_t big_endian(const uint8_t *at, unsigned size) {
    uint64_t value = 0;
    if (size >= 4) {
        for (unsigned i = 0; i < 4; i++) value = value << 8 | at[i];
        for (unsigned i = 4; i < size; i++) value = value << 8 | at[i];
        return value;
    }
    return size == 1 ? at[0] : (uint64_t)at[0] << 8 | at[1];
}

/* As read_head, for all that may come. */
static CHORDAL__ASIDE int read_long_head(pack *p, uint8_t *out_what, uint8_t *out_size, uint64_t *out) {
    uint8_t byte = *p->at;
    *out_size = 0;
    *out = byte;
    if (byte < 0xc0) {
        *out_what = byte < 0x80 ? UNSIGNED : byte < 0x90 ? MAP : byte < 0xa0 ? ARRAY : STRING;
        if (byte >= 0x80) *out = byte & (byte < 0xa0 ? 0x0f : 0x1f);
    } else if (byte >= 0xe0) {
        *out_what = SIGNED;
        *out = (uint64_t)(int64_t)(int8_t)byte;
    } else {
        head_row row = heads[byte - 0xc0];
        if (row.what == WRONG) return CHORDAL_E_SYNTAX;
        if (left_of(p) <= row.size) {
            p->at = p->end;
            return p->short_code;
        }
        if (row.size) *out = big_endian(p->at + 1, row.size);
        *out_what = row.what;
        *out_size = row.size;
    }
    p->at += *out_size + 1u;
    return 0;
}

/* Read a head: what it begins, and its length, number or bits. */
static inline int read_head(pack *p, uint8_t *out_what, uint8_t *out_size, uint64_t *out) {
    if (p->at == p->end) return p->short_code;
    uint8_t byte = *p->at;
    *out_what = STRING;
    if ((byte & 0xe0) == 0xa0) {
        *out = byte & 0x1f;
        p->at++;
        return 0;
    }
    if (byte != 0xd9 || p->end - p->at < 2) return read_long_head(p, out_what, out_size, out);
    *out = p->at[1];
    p->at += 2;
    return 0;
}

/* ---- scalars ---- */

/* A value takes about half as many bytes again as it does packed. */
static void tell_left(pack *p) {
    size_t left = (size_t)(p->end - p->at);
    p->sink->left = left + left / 2;
}

static int give_number(pack *p, const chordal__number *number) {
    if (!p->sink) return 0;
    tell_left(p);
    return p->sink->calls->number(p->sink, number);
}

static int read_unsigned(pack *p, uint64_t value) {
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER, .as.unsigned_integer = value};
    if (value > INT64_MAX) number.kind = CHORDAL_KIND_UNSIGNED;
    return give_number(p, &number);
}

static int read_signed(pack *p, uint64_t bits, unsigned size) {
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER};
    unsigned shift = size ? 64 - 8 * size : 0;
    number.as.integer = (int64_t)(bits << shift) >> shift;
    return give_number(p, &number);
}

static CHORDAL__ASIDE int read_real(pack *p, uint64_t bits, unsigned size) {
    chordal__number number;
    double real;
    float narrow;
    uint32_t half = (uint32_t)bits;
    memcpy(&real, &bits, sizeof real);
    memcpy(&narrow, &half, sizeof narrow);
    if (!chordal__number_of_double(size == 4 ? (double)narrow : real, &number)) return CHORDAL_E_NUMBER;
    return give_number(p, &number);
}

static int read_constant(pack *p, uint64_t byte) {
    static const uint8_t kinds[4] = {CHORDAL_KIND_NULL, 0, CHORDAL_KIND_FALSE, CHORDAL_KIND_TRUE};
    return p->sink ? p->sink->calls->constant(p->sink, kinds[byte - 0xc0]) : 0;
}

/* The text of a string whose head was read. */
static inline int read_text(pack *p, uint64_t len, const uint8_t **out, unsigned *out_flags) {
    if (len > left_of(p)) {
        p->at = p->end;
        return p->short_code;
    }
    size_t fault;
    *out_flags = CHORDAL__STABLE;
    if (chordal__is_ascii(p->at, (size_t)len)) {
        *out_flags |= CHORDAL__ASCII;
    } else if (!chordal__utf_valid(p->at, (size_t)len, &fault)) {
        p->at += fault;
        return CHORDAL_E_UTF8;
    }
    *out = p->at;
    p->at += len;
    return 0;
}

static int read_string(pack *p, uint64_t len) {
    const uint8_t *text = NULL;
    unsigned flags = 0;
    int code = read_text(p, len, &text, &flags);
    return code || !p->sink ? code : p->sink->calls->string(p->sink, text, (size_t)len, flags);
}

/* ---- containers ---- */

static int open_container(pack *p, bool map, uint64_t count) {
    if (p->depth >= p->limit) return CHORDAL_E_DEPTH;
    uint8_t *bits = &p->maps[p->depth / 8], bit = (uint8_t)(1u << p->depth % 8);
    *bits = (uint8_t)(map ? *bits | bit : *bits & ~bit);
    p->map = map;
    p->left[p->depth++] = (uint32_t)count;
    return p->sink ? p->sink->calls->open(p->sink, map, (size_t)count) : 0;
}

/* Step over the key of this length, whose head was read, if it is the one that the sink expects. */
static bool skip_expected(pack *p, uint64_t len) {
    chordal__key key;
    if (!p->sink || !chordal__sink_expects(p->sink, &key) || key.len != len || len > left_of(p)) return false;
    if (!chordal__same_bytes(p->at, key.data, key.len)) return false;
    p->sink->agreed++;
    p->at += len;
    return true;
}

static CHORDAL__ASIDE int read_key(pack *p) {
    const uint8_t *text = NULL, *from = p->at;
    unsigned flags = 0;
    uint8_t what, size;
    uint64_t len;
    int code = read_head(p, &what, &size, &len);
    if (code) return code;
    if (what != STRING) {
        p->at = from;
        return CHORDAL_E_SYNTAX;
    }
    if (skip_expected(p, len)) return 0;
    code = read_text(p, len, &text, &flags);
    if (code || !p->sink) return code;
    chordal__key key = {text, (size_t)len, (uint64_t)(from - p->data)};
    return p->sink->calls->key(p->sink, &key, flags);
}

static int read_value(pack *p) {
    const uint8_t *from = p->at;
    uint8_t what, size;
    uint64_t value;
    int code = read_head(p, &what, &size, &value);
    if (code) return code;
    if (what >= ARRAY && value > left_of(p)) { /* a member takes a byte at least */
        p->at = p->end;
        return p->short_code;
    }
    switch (what) {
    case CONSTANT:
        return read_constant(p, value);
    case UNSIGNED:
        return read_unsigned(p, value);
    case SIGNED:
        return read_signed(p, value, size);
    case STRING:
        return read_string(p, value);
    case REAL:
        code = read_real(p, value, size);
        break;
    default:
        code = open_container(p, what == MAP, value);
    }
    if (code) p->at = from;
    return code;
}

/* ---- members of an object that is like the one before ---- */

#define NEAR 24 /* bytes that are there to be looked at behind a key: heads, and a number */

/* A short string of ASCII whose head was read goes to the sink; its end, or NULL. */
static inline const uint8_t *take_text(chordal__taking *to, const uint8_t *at, const uint8_t *end, size_t len) {
    if (len > (size_t)(end - at) || !chordal__is_ascii(at, len)) return NULL;
    return chordal__take_text(to, at, len) ? at + len : NULL;
}

/* The same for an integer of the head at `at`, with a number behind it. */
static inline const uint8_t *take_integer(chordal__taking *to, const uint8_t *at) {
    unsigned size = 1u << (*at & 3), shift = 64 - 8 * size;
    bool negative = *at >= 0xd0;
    uint64_t bits = 0;
    for (unsigned i = 1; i <= 8; i++) bits = bits << 8 | at[i];
    if (size == 8 && !negative && bits > INT64_MAX) return NULL;
    int64_t integer = negative ? (int64_t)bits >> shift : (int64_t)(bits >> shift);
    return chordal__take_integer(to, integer) ? at + 1 + size : NULL;
}

static inline const uint8_t *take_constant(chordal__taking *to, const uint8_t *at) {
    unsigned kind = *at == 0xc0 ? CHORDAL_KIND_NULL : *at == 0xc2 ? CHORDAL_KIND_FALSE : CHORDAL_KIND_TRUE;
    if (kind == CHORDAL_KIND_TRUE && *at != 0xc3) return NULL;
    chordal__take_node(to, chordal__constant(kind));
    return at + 1;
}

static inline const uint8_t *take_plain(chordal__taking *to, const uint8_t *at, const uint8_t *end) {
    uint8_t head = *at;
    if ((head & 0xe0) == 0xa0) return take_text(to, at + 1, end, head & 0x1f);
    if (head == 0xd9) return take_text(to, at + 2, end, at[1]);
    if (head >= 0xcc && head < 0xd4) return take_integer(to, at);
    if (head >= 0x80 && head < 0xe0) return take_constant(to, at);
    return chordal__take_integer(to, (int8_t)head) ? at + 1 : NULL;
}

/* Members with the keys that are expected and with plain values are taken. *out_before: it ends before a value that is
 * not plain. Returns where it ends. */
static inline const uint8_t *take_members(chordal__taking *to, const uint8_t *at, const uint8_t *end, uint32_t *left,
                                          bool *out_before) {
    const chordal__shape *shape = to->shape;
    const uint8_t *keys = chordal__tags_of(shape) + shape->count;
    const uint8_t *key = keys + (to->agreed ? shape->ends[to->agreed - 1] : 0);
    const uint32_t *ends = &shape->ends[to->agreed], *last = &shape->ends[shape->count];
    for (; ends < last && *left && !*out_before; --*left) {
        size_t len = (size_t)(keys + *ends - key);
        if (len > 31 || (size_t)(end - at) < len + NEAR) break;
        if (*at != (0xa0 | len) || !chordal__same_bytes(at + 1, key, len)) break;
        const uint8_t *value = at + len + 1;
        ends++;
        key += len;
        at = take_plain(to, value, end);
        *out_before = !at;
        if (!at) at = value;
    }
    to->agreed = (uint32_t)(ends - shape->ends);
    return at;
}

static bool in_array(const pack *p) {
    return p->depth > 1 && !(p->maps[(p->depth - 2) / 8] >> (p->depth - 2) % 8 & 1);
}

/* Step over what is like the map before: members, and in an array the maps behind this one. As read_between, but it may
 * end before any member; *out_before: before a value. */
static CHORDAL__ASIDE int read_alike(pack *p, bool *out_before) {
    const uint8_t *end = p->end;
    uint32_t *left = &p->left[p->depth - 1], nothing = 0, *more = in_array(p) ? left - 1 : &nothing;
    chordal__taking to;
    int code = 0;
    while (!code && chordal__take_begin(&to, p->sink)) {
        uint32_t members = *left;
        p->at = take_members(&to, p->at, end, &members, out_before);
        *left = members;
        if (to.text) p->at = to.text + to.len, *out_before = false;
        code = chordal__take_end(&to, p->sink);
        if (code || *out_before) break;
        if (to.agreed < to.shape->count && to.text) continue;
        if (*left || to.agreed < to.shape->count || !*more) break;
        if (end - p->at < NEAR || to.agreed > 15 || *p->at != (0x80 | to.agreed)) break;
        p->at++;
        --*more;
        *left = to.agreed;
        tell_left(p);
        code = p->sink->calls->next(p->sink);
    }
    return code;
}

/* Before the next value: close what ends here. At depth 0 all is read. */
static int read_between(pack *p) {
    if (!CHORDAL__SMALL && p->sink && p->sink->shape) {
        bool before = false;
        int code = read_alike(p, &before);
        if (code || before) return code;
    }
    while (p->depth && p->left[p->depth - 1] == 0) {
        p->depth--;
        if (p->depth) p->map = p->maps[(p->depth - 1) / 8] >> (p->depth - 1) % 8 & 1;
        if (!p->sink) continue;
        tell_left(p);
        int code = p->sink->calls->close(p->sink);
        if (code) return code;
    }
    if (p->depth == 0) return 0;
    p->left[p->depth - 1]--;
    return p->map ? read_key(p) : 0;
}

/* A reader of 17 KB: it is not to be cleared. */
static void begin(pack *p, const chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink) {
    p->data = reader->data;
    p->at = reader->at;
    p->end = reader->end;
    p->sink = sink;
    p->depth = 0;
    p->limit = limits->depth < CHORDAL__DEPTH_MAX ? limits->depth : CHORDAL__DEPTH_MAX;
    p->short_code = CHORDAL_E_TRUNCATED;
    if (chordal__reader_left(reader) <= limits->size) return;
    p->end = p->at + limits->size;
    p->short_code = CHORDAL_E_SIZE;
}

int chordal__pack_parse(chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink,
                        chordal_error *error) {
    pack p;
    begin(&p, reader, limits, sink);
    int code = 0;
    do {
        code = read_value(&p);
        if (!code) code = read_between(&p);
    } while (!code && p.depth);
    if (code) {
        uint64_t position = (uint64_t)(p.at - p.data);
        return chordal__fail(error, code, code == CHORDAL_E_DUPLICATE_KEY ? sink->position : position, NULL);
    }
    reader->at = p.at;
    return 0;
}

int chordal__pack_skip(chordal__reader *reader, const chordal__limits *limits, chordal_error *error) {
    return chordal__pack_parse(reader, limits, NULL, error);
}

int chordal__pack_read_value(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                             chordal__node **out, chordal_error *error) {
    return chordal__build(memory, chordal__pack_parse, reader, limits, out, error);
}

int chordal__pack_read(chordal__memory *memory, const uint8_t *data, size_t len, const chordal__limits *limits,
                       chordal__node **out, chordal_error *error) {
    if (len > limits->size) return chordal__fail(error, CHORDAL_E_SIZE, limits->size, NULL);
    chordal__reader reader = chordal__reader_of(data, len);
    chordal__node *node;
    int code = chordal__pack_read_value(memory, &reader, limits, &node, error);
    if (code) return code;
    if (reader.at == reader.end) {
        *out = node;
        return 0;
    }
    chordal__node_unref(memory, node);
    return chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), NULL);
}
