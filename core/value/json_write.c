/* json_write.c: nodes to JSON text. */
#include "value/node.h"

#define EACH UINT64_C(0x0101010101010101)

/* ---- strings ---- */

/* Whether a word may have a control, a quote, a backslash or the lead of a surrogate; never misses one. */
static inline uint64_t special_in(uint64_t word) {
    uint64_t quote = word ^ EACH * '"', slash = word ^ EACH * '\\', lead = word ^ EACH * 0xed;
    uint64_t low = ((word - EACH * 0x20) | (quote - EACH) | (slash - EACH)) & ~word;
    return (low | ((lead - EACH) & ~lead)) & EACH * 0x80;
}

static inline bool is_special(const uint8_t *at) {
    return *at < 0x20 || *at == '"' || *at == '\\' || (*at == 0xed && at[1] >= 0xa0);
}

/* The length of an escape, and how many bytes it stands for. */
static size_t make_escape(uint8_t escape[6], const uint8_t *at, size_t *out_taken) {
    static const char letters[] = "btn?fr"; /* 8 to 13 */
    static const char digits[] = "0123456789abcdef";
    *out_taken = 1;
    memcpy(escape, "\\u00", 4);
    escape[4] = (uint8_t)digits[*at >> 4];
    escape[5] = (uint8_t)digits[*at & 15];
    if (*at >= 0x80) {
        unsigned unit = (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
        escape[2] = 'd';
        escape[3] = (uint8_t)digits[unit >> 8];
        escape[4] = (uint8_t)digits[unit >> 4 & 15];
        escape[5] = (uint8_t)digits[unit & 15];
        *out_taken = 3;
        return 6;
    }
    if (*at < 0x20 && (*at < 8 || *at > 13 || *at == 11)) return 6;
    escape[1] = *at < 0x20 ? (uint8_t)letters[*at - 8] : *at;
    return 2;
}

/* Copy the last bytes of a plain text, fewer than a word, by words that overlap. `before`: bytes before them that were
 * copied. False: one may need an escape. */
static inline bool copy_tail(uint8_t *to, const uint8_t *from, size_t len, size_t before) {
    if (before + len >= 8) {
        uint64_t word = chordal__load8(from + len - 8);
        if (special_in(word)) return false;
        memcpy(to + len - 8, &word, 8);
        return true;
    }
    if (len < 4) return false;
    uint32_t first = chordal__load4(from), last = chordal__load4(from + len - 4);
    if (special_in((uint64_t)last << 32 | first)) return false;
    memcpy(to, &first, 4);
    memcpy(to + len - 4, &last, 4);
    return true;
}

/* Copy up to the first byte that needs an escape; there is room. */
static inline const uint8_t *copy_plain(uint8_t **to, const uint8_t *from, const uint8_t *end) {
    const uint8_t *start = from;
    uint8_t *at = *to;
    while (end - from >= 8) {
        uint64_t word = chordal__load8(from);
        if (special_in(word)) break;
        memcpy(at, &word, 8);
        at += 8;
        from += 8;
    }
    size_t rest = (size_t)(end - from);
    if (rest < 8 && copy_tail(at, from, rest, (size_t)(from - start))) {
        at += rest;
        from = end;
    }
    while (from < end && !is_special(from)) *at++ = *from++;
    *to = at;
    return from;
}

/* The inside of a string. */
static uint8_t *put_text(chordal__out *out, uint8_t *at, const uint8_t *from, size_t len) {
    const uint8_t *end = from + len;
    at = chordal__out_room(out, at, len);
    while (at) {
        from = copy_plain(&at, from, end);
        if (from == end) break;
        uint8_t escape[6];
        size_t taken, size = make_escape(escape, from, &taken);
        from += taken;
        at = chordal__out_room(out, at, size + (size_t)(end - from));
        if (!at) break;
        memcpy(at, escape, size);
        at += size;
    }
    return at;
}

static inline uint8_t *put_byte(chordal__out *out, uint8_t *at, uint8_t byte) {
    at = chordal__out_room(out, at, 1);
    if (at) *at++ = byte;
    return at;
}

static uint8_t *put_string(chordal__out *out, uint8_t *at, const chordal__node *node) {
    uint64_t piece = 0;
    const uint8_t *data;
    size_t len;
    at = put_byte(out, at, '"');
    if (!chordal__is_tree(node))
        at = put_text(out, at, chordal__text_of(node)->data, chordal__text_of(node)->bytes);
    else
        while (at && chordal__node_string_piece(node, &piece, &data, &len)) at = put_text(out, at, data, len);
    return put_byte(out, at, '"');
}

void chordal__json_write_string(chordal__buffer *buffer, const uint8_t *utf8, size_t len) {
    chordal__out out;
    uint8_t *at = chordal__out_begin(&out, buffer);
    at = put_byte(&out, at, '"');
    if (len) at = put_text(&out, at, utf8, len);
    chordal__out_end(&out, put_byte(&out, at, '"'));
}

/* ---- scalars ---- */

static uint8_t *put_number(chordal__out *out, uint8_t *at, const chordal__number *number) {
    char text[32];
    size_t len = chordal__number_write(number, text);
    at = chordal__out_room(out, at, len);
    if (!at) return NULL;
    memcpy(at, text, len);
    return at + len;
}

static uint8_t *put_constant(chordal__out *out, uint8_t *at, unsigned kind) {
    static const char words[3][6] = {"null", "false", "true"};
    size_t len = kind == CHORDAL_KIND_FALSE ? 5 : 4;
    at = chordal__out_room(out, at, len);
    if (!at) return NULL;
    memcpy(at, words[kind], len);
    return at + len;
}

void chordal__json_write_number(chordal__buffer *buffer, const chordal__number *number) {
    chordal__out out;
    uint8_t *at = chordal__out_begin(&out, buffer);
    chordal__out_end(&out, put_number(&out, at, number));
}

void chordal__json_write_constant(chordal__buffer *buffer, unsigned kind) {
    chordal__out out;
    uint8_t *at = chordal__out_begin(&out, buffer);
    chordal__out_end(&out, put_constant(&out, at, kind));
}

static uint8_t *put_scalar(chordal__out *out, uint8_t *at, const chordal__node *node, unsigned kind) {
    chordal__number number;
    if (kind == CHORDAL_KIND_STRING) return put_string(out, at, node);
    if (kind < CHORDAL_KIND_INTEGER) return put_constant(out, at, kind);
    chordal__node_get_number(node, &number);
    return put_number(out, at, &number);
}

/* ---- containers ---- */

/* What stands before a member: a comma, a key. `plain`: the key needs no escape. */
static inline uint8_t *put_key(chordal__out *out, uint8_t *at, bool first, const uint8_t *key, size_t key_len,
                               bool plain) {
    size_t comma = !first, size = !key ? comma : plain ? comma + key_len + 3 : comma + 1;
    at = chordal__out_room(out, at, size);
    if (!at) return NULL;
    if (!first) *at++ = ',';
    if (!key) return at;
    *at++ = '"';
    if (plain) {
        chordal__copy_bytes(at, key, key_len);
        at += key_len;
    } else {
        at = chordal__out_room(out, put_text(out, at, key, key_len), 2);
        if (!at) return NULL;
    }
    *at++ = '"';
    *at++ = ':';
    return at;
}

static inline bool has_plain_keys(const chordal__node *object) {
    if (object->kind == CHORDAL_KIND_ARRAY || chordal__is_tree(object)) return false;
    const chordal__node *shape = chordal__group_of(object)->slots[0];
    return shape && shape->extent;
}

static uint8_t *put_open(chordal__out *out, uint8_t *at, chordal__walk *walk, const chordal__node *node) {
    chordal__walk_begin(walk, node);
    return put_byte(out, at, node->kind == CHORDAL_KIND_OBJECT ? '{' : '[');
}

static uint8_t *put_container(chordal__out *out, uint8_t *at, const chordal__node *node, chordal__walk *walks,
                              const chordal__walk *end) {
    chordal__walk *walk = walks;
    at = put_open(out, at, walk, node);
    while (at) {
        const uint8_t *key = NULL;
        size_t key_len = 0;
        bool first = walk->index == 0;
        node = chordal__next_member(walk, &key, &key_len);
        if (!node) {
            at = put_byte(out, at, walk->container->kind == CHORDAL_KIND_OBJECT ? '}' : ']');
            if (walk-- == walks) break;
            continue;
        }
        at = put_key(out, at, first, key, key_len, has_plain_keys(walk->container));
        unsigned kind = chordal__kind_of(node);
        if (kind < CHORDAL_KIND_ARRAY)
            at = put_scalar(out, at, node, kind);
        else
            at = ++walk < end ? put_open(out, at, walk, node) : chordal__out_fail(out, CHORDAL_E_DEPTH);
    }
    return at;
}

void chordal__json_write(chordal__buffer *buffer, const chordal__node *node) {
    chordal__out out;
    uint8_t *at = chordal__out_begin(&out, buffer);
    unsigned kind = chordal__kind_of(node);
    if (kind < CHORDAL_KIND_ARRAY)
        at = put_scalar(&out, at, node, kind);
    else
        at = chordal__write_deep(&out, at, node, put_container);
    chordal__out_end(&out, at);
}
