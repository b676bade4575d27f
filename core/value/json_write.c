/* json_write.c: nodes to JSON text. */
#include "value/node.h"

#define EACH UINT64_C(0x0101010101010101)

/* ---- strings ---- */

static bool is_surrogate(const uint8_t *at) {
    return at[0] == 0xed && at[1] >= 0xa0;
}

/* Whether a word may have a control, a quote, a backslash or the lead of a surrogate; never misses one. */
static uint64_t special_in(uint64_t word) {
    uint64_t quote = word ^ EACH * '"', slash = word ^ EACH * '\\', lead = word ^ EACH * 0xed;
    uint64_t low = ((word - EACH * 0x20) | (quote - EACH) | (slash - EACH)) & ~word;
    return (low | ((lead - EACH) & ~lead)) & EACH * 0x80;
}

/* The first byte that needs an escape. */
static const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end) {
    for (;;) {
        while (end - at >= 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            if (special_in(word)) break;
            at += 8;
        }
        const uint8_t *stop = end - at >= 8 ? at + 8 : end;
        for (; at < stop; at++)
            if (*at < 0x20 || *at == '"' || *at == '\\' || is_surrogate(at)) return at;
        if (at == end) return at;
    }
}

/* Returns the bytes that were escaped. */
static size_t put_escape(chordal__buffer *buffer, const uint8_t *at) {
    static const char letters[] = "btn?fr"; /* 8 to 13 */
    static const char digits[] = "0123456789abcdef";
    uint8_t escape[6] = {'\\', 'u', '0', '0', (uint8_t)digits[*at >> 4 & 15], (uint8_t)digits[*at & 15]};
    if (*at == '"' || *at == '\\') {
        escape[1] = *at;
    } else if (*at >= 8 && *at <= 13 && *at != 11) {
        escape[1] = (uint8_t)letters[*at - 8];
    } else if (*at >= 0x20) {
        unsigned unit = (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
        escape[2] = 'd';
        escape[3] = (uint8_t)digits[unit >> 8];
        escape[4] = (uint8_t)digits[unit >> 4 & 15];
        escape[5] = (uint8_t)digits[unit & 15];
    }
    chordal__buffer_put(buffer, escape, escape[1] == 'u' ? 6 : 2);
    return *at >= 0x80 ? 3 : 1;
}

void chordal__json_write_text(chordal__buffer *buffer, const uint8_t *utf8, size_t len) {
    const uint8_t *end = utf8 + len;
    while (utf8 < end) {
        const uint8_t *plain = skip_plain(utf8, end);
        chordal__buffer_put(buffer, utf8, (size_t)(plain - utf8));
        utf8 = plain;
        if (utf8 < end) utf8 += put_escape(buffer, utf8);
    }
}

void chordal__json_write_string(chordal__buffer *buffer, const uint8_t *utf8, size_t len) {
    chordal__buffer_byte(buffer, '"');
    if (len) chordal__json_write_text(buffer, utf8, len);
    chordal__buffer_byte(buffer, '"');
}

/* ---- values ---- */

void chordal__json_write_number(chordal__buffer *buffer, const chordal__number *number) {
    char text[32];
    chordal__buffer_put(buffer, text, chordal__number_write(number, text));
}

void chordal__json_write_constant(chordal__buffer *buffer, unsigned kind) {
    static const char words[3][6] = {"null", "false", "true"};
    chordal__buffer_put(buffer, words[kind], kind == CHORDAL_KIND_FALSE ? 5 : 4);
}

static void put_string(chordal__buffer *buffer, const chordal__node *node) {
    uint64_t at = 0;
    const uint8_t *data;
    size_t len;
    chordal__buffer_byte(buffer, '"');
    while (chordal__node_string_piece(node, &at, &data, &len)) chordal__json_write_text(buffer, data, len);
    chordal__buffer_byte(buffer, '"');
}

static void put_scalar(chordal__buffer *buffer, const chordal__node *node) {
    unsigned kind = (unsigned)chordal__node_kind(node);
    chordal__number number;
    if (kind == CHORDAL_KIND_STRING) {
        put_string(buffer, node);
    } else if (kind < CHORDAL_KIND_INTEGER) {
        chordal__json_write_constant(buffer, kind);
    } else {
        chordal__node_get_number(node, &number);
        chordal__json_write_number(buffer, &number);
    }
}

static void put_open(chordal__buffer *buffer, chordal__walk *walk, const chordal__node *node) {
    chordal__walk_begin(walk, node);
    chordal__buffer_byte(buffer, node->kind == CHORDAL_KIND_OBJECT ? '{' : '[');
}

/* The next member of the innermost container, and what stands before it; NULL: it was closed. */
static const chordal__node *put_next(chordal__buffer *buffer, chordal__walk *walk) {
    const uint8_t *key = NULL;
    size_t key_len = 0;
    bool object = walk->container->kind == CHORDAL_KIND_OBJECT, first = walk->index == 0;
    const chordal__node *node = chordal__walk_next(walk, &key, &key_len);
    if (!node) {
        chordal__buffer_byte(buffer, object ? '}' : ']');
        return NULL;
    }
    if (!first) chordal__buffer_byte(buffer, ',');
    if (object) {
        chordal__json_write_string(buffer, key, key_len);
        chordal__buffer_byte(buffer, ':');
    }
    return node;
}

static void put_container(chordal__buffer *buffer, const chordal__node *node, chordal__walk *walks) {
    size_t depth = 1;
    put_open(buffer, walks, node);
    while (depth && !buffer->failed) {
        node = put_next(buffer, &walks[depth - 1]);
        if (!node)
            depth--;
        else if (chordal__node_kind(node) < CHORDAL_KIND_ARRAY)
            put_scalar(buffer, node);
        else
            put_open(buffer, &walks[depth++], node);
    }
}

void chordal__json_write(chordal__buffer *buffer, const chordal__node *node) {
    if (chordal__node_kind(node) < CHORDAL_KIND_ARRAY)
        put_scalar(buffer, node);
    else
        chordal__write_deep(buffer, node, put_container);
}
