/* inflate.c: parts that came deflated (RFC 1951), in a sixth of zlib's code: one table with all codes for each
 * alphabet. tests/unit/wasm_inflate.c holds it against zlib. */
#include "wire/wire.h"

#define MOST_BITS 15
#define TABLE (1 << MOST_BITS)
#define LITERALS 288
#define DISTANCES 32

typedef struct inflater {
    const uint8_t *at, *end;
    uint32_t bits, have; /* bits that were taken from the data, the next one lowest */
    int failed;
    size_t most;
    chordal__buffer *out;
    uint8_t lengths[LITERALS + DISTANCES];
    uint16_t literals[TABLE], distances[TABLE]; /* symbol * 16 + length; 0: no such code */
} inflater;

static void fail(inflater *in, int code) {
    if (!in->failed) in->failed = code;
}

/* ---- bits and codes ---- */

static uint32_t drop(inflater *in, uint32_t count) {
    uint32_t value = in->bits & ((UINT32_C(1) << count) - 1);
    if (count > in->have) fail(in, CHORDAL_E_TRUNCATED);
    in->bits >>= count;
    in->have -= count;
    return value;
}

static void fill(inflater *in) {
    if (in->failed) in->bits = in->have = 0;
    for (; in->have <= 24 && in->at < in->end; in->have += 8) in->bits |= (uint32_t)*in->at++ << in->have;
}

static uint32_t take(inflater *in, uint32_t count) {
    fill(in);
    return drop(in, count);
}

static uint32_t decode(inflater *in, const uint16_t *table) {
    fill(in);
    uint32_t entry = table[in->bits & (TABLE - 1)];
    if (!entry) fail(in, in->have < MOST_BITS ? CHORDAL_E_TRUNCATED : CHORDAL_E_SYNTAX);
    drop(in, entry & 15);
    return entry >> 4;
}

/* Put each symbol wherever its code, which begins with its lowest bit, is followed by anything. As zlib has it, codes
 * are all used, or there is but one of one bit, or none. */
static void build(inflater *in, uint16_t *table, const uint8_t *lengths, uint32_t count) {
    uint32_t code = 0, step = 1;
    memset(table, 0, TABLE * sizeof *table);
    for (uint32_t length = 1; length <= MOST_BITS; length++) {
        step = UINT32_C(1) << length;
        uint32_t added = UINT32_C(1) << (MOST_BITS - length);
        for (uint32_t symbol = 0; symbol < count; symbol++) {
            if (lengths[symbol] != length) continue;
            if (code >= TABLE) fail(in, CHORDAL_E_SYNTAX);
            if (in->failed) return;
            uint32_t at = 0;
            for (uint32_t i = 0; i < MOST_BITS; i++) at |= (code >> i & 1) << (MOST_BITS - 1 - i);
            for (; at < TABLE; at += step) table[at] = (uint16_t)(symbol << 4 | length);
            code += added;
        }
    }
    if (code != TABLE && code && (code != TABLE / 2 || (table[0] & 15) != 1)) fail(in, CHORDAL_E_SYNTAX);
}

/* ---- what comes out ---- */

static void put(inflater *in, uint8_t byte) {
    chordal__buffer *out = in->out;
    if (out->len == in->most) fail(in, CHORDAL_E_TOO_LARGE);
    if (!in->failed && out->len == out->capacity && !chordal__inflate_room(out, in->most)) fail(in, CHORDAL_E_NOMEM);
    if (!in->failed) out->data[out->len++] = byte;
}

/* Lengths and distances: the first ones as they are, then 2^bits steps of each power of two. */
static uint32_t scaled(inflater *in, uint32_t symbol, uint32_t bits) {
    uint32_t steps = UINT32_C(1) << bits, extra = (symbol >> bits) - 1;
    if (symbol < 2 * steps) return symbol;
    return ((steps + (symbol & (steps - 1))) << extra) + take(in, extra);
}

static void copy(inflater *in, uint32_t symbol) {
    uint32_t length = symbol == 28 ? 258 : 3 + scaled(in, symbol, 2);
    uint32_t far = decode(in, in->distances);
    uint32_t distance = 1 + scaled(in, far, 1);
    if (symbol > 28 || far > 29 || distance > in->out->len) fail(in, CHORDAL_E_SYNTAX);
    while (length-- && !in->failed) put(in, in->out->data[in->out->len - distance]);
}

/* ---- blocks ---- */

static void stored(inflater *in) {
    drop(in, in->have & 7);
    uint32_t length = take(in, 16);
    if ((length ^ take(in, 16)) != 0xffff) fail(in, CHORDAL_E_SYNTAX);
    while (length-- && !in->failed) {
        uint8_t byte = (uint8_t)take(in, 8);
        put(in, byte);
    }
}

static void coded(inflater *in, uint32_t literals, uint32_t distances) {
    build(in, in->literals, in->lengths, literals);
    build(in, in->distances, in->lengths + literals, distances);
    while (!in->failed) {
        uint32_t symbol = decode(in, in->literals);
        if (symbol < 256)
            put(in, (uint8_t)symbol);
        else if (symbol == 256)
            return;
        else
            copy(in, symbol - 257);
    }
}

static void fixed(inflater *in) {
    for (uint32_t i = 0; i < LITERALS + DISTANCES; i++)
        in->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < LITERALS ? 8 : 5;
    coded(in, LITERALS, DISTANCES);
}

/* The lengths of both alphabets in one run, themselves coded. */
static void read_lengths(inflater *in, uint32_t count) {
    for (uint32_t at = 0; at < count && !in->failed;) {
        uint32_t symbol = decode(in, in->literals), repeat = 1;
        uint8_t length = (uint8_t)symbol;
        if (symbol > 15) {
            length = symbol == 16 && at ? in->lengths[at - 1] : 0;
            repeat = symbol == 18 ? 11 + take(in, 7) : 3 + take(in, symbol - 14);
        }
        if (repeat > count - at || (symbol == 16 && !at)) fail(in, CHORDAL_E_SYNTAX);
        while (repeat-- && !in->failed) in->lengths[at++] = length;
    }
}

static void dynamic(inflater *in) {
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t literals = 257 + take(in, 5), distances = 1 + take(in, 5), codes = 4 + take(in, 4);
    memset(in->lengths, 0, sizeof in->lengths);
    for (uint32_t i = 0; i < codes; i++) in->lengths[order[i]] = (uint8_t)take(in, 3);
    build(in, in->literals, in->lengths, sizeof order);
    if (literals > 286 || distances > 30 || !in->literals[TABLE - 1]) fail(in, CHORDAL_E_SYNTAX);
    read_lengths(in, literals + distances);
    if (!in->lengths[256]) fail(in, CHORDAL_E_SYNTAX);
    coded(in, literals, distances);
}

int chordal__inflate_some(const uint8_t *data, size_t len, size_t most, chordal__buffer *out, size_t *out_left) {
    inflater *in = chordal__allocate_zero(out->memory, sizeof *in);
    if (!in) return CHORDAL_E_NOMEM;
    in->at = data;
    in->end = data + len;
    in->most = most;
    in->out = out;
    for (bool last = false; !last && !in->failed;) {
        last = take(in, 1);
        uint32_t kind = take(in, 2);
        if (kind == 0)
            stored(in);
        else if (kind == 1)
            fixed(in);
        else if (kind == 2)
            dynamic(in);
        else
            fail(in, CHORDAL_E_SYNTAX);
    }
    int code = in->failed;
    *out_left = (size_t)(in->end - in->at) + in->have / 8;
    if (code == 0 && *out_left) code = CHORDAL_E_TRAILING;
    if (code == CHORDAL_E_TRUNCATED) *out_left = 0;
    chordal__release(out->memory, in, sizeof *in);
    return code;
}
