/* json_write.c: nodes to JSON text. */
#include "value/scan.h"

/* ---- strings ---- */

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

/* Copy 16 bytes or more up to the first that may need an escape; how many. Bytes behind it may be written. */
#if defined(__SSE2__)
static inline size_t copy_long(uint8_t *to, const uint8_t *from, size_t len) {
    size_t done = 0;
    for (; len - done >= 32; done += 32) {
        __m128i a = chordal__load16(from + done), b = chordal__load16(from + done + 16);
        if (_mm_movemask_epi8(_mm_or_si128(chordal__write_marks(a), chordal__write_marks(b)))) break;
        chordal__store16(to + done, a);
        chordal__store16(to + done + 16, b);
    }
    while (done < len) {
        size_t next = len - done >= 16 ? done : len - 16;
        __m128i a = chordal__load16(from + next);
        unsigned marks = (unsigned)_mm_movemask_epi8(chordal__write_marks(a));
        chordal__store16(to + next, a);
        if (marks) return next + (unsigned)__builtin_ctz(marks);
        done = next + 16;
    }
    return len;
}
#endif

/* The same for 8 bytes or more. */
static inline size_t copy_words(uint8_t *to, const uint8_t *from, size_t len) {
    for (size_t done = 0; done < len;) {
        size_t next = len - done >= 8 ? done : len - 8;
        uint64_t word = chordal__load8(from + next), marks = chordal__write_marks8(word);
        memcpy(to + next, &word, 8);
        if (marks) return next + chordal__first_marked(marks);
        done = next + 8;
    }
    return len;
}

/* The same for 4 to 7 bytes; 0 when any of them may need one. */
static inline size_t copy_short(uint8_t *to, const uint8_t *from, size_t len) {
    uint32_t first = chordal__load4(from), last = chordal__load4(from + len - 4);
    if (chordal__write_marks8((uint64_t)last << 32 | first)) return 0;
    memcpy(to, &first, 4);
    memcpy(to + len - 4, &last, 4);
    return len;
}

/* Copy up to the first byte that needs an escape; there is room for all. */
static inline const uint8_t *copy_plain(uint8_t **to, const uint8_t *from, const uint8_t *end) {
    uint8_t *at = *to;
    while (from < end) {
        size_t len = (size_t)(end - from), done = 0;
#if defined(__SSE2__)
        if (len >= 16)
            done = copy_long(at, from, len);
        else
#endif
            if (len >= 8 && !CHORDAL__SMALL)
            done = copy_words(at, from, len);
        else if (len >= 4 && !CHORDAL__SMALL)
            done = copy_short(at, from, len);
        at += done;
        from += done;
        if (from == end || is_special(from)) break;
        *at++ = *from++;
    }
    *to = at;
    return from;
}

/* The rest of a string, from a byte that needs an escape on. */
static uint8_t *put_escaped(chordal__out *out, uint8_t *at, const uint8_t *from, const uint8_t *end) {
    while (at && from < end) {
        uint8_t escape[6];
        size_t taken, size = make_escape(escape, from, &taken);
        from += taken;
        at = chordal__out_room(out, at, size + (size_t)(end - from));
        if (!at) break;
        memcpy(at, escape, size);
        at += size;
        from = copy_plain(&at, from, end);
    }
    return at;
}

/* The inside of a string. */
static inline uint8_t *put_text(chordal__out *out, uint8_t *at, const uint8_t *from, size_t len) {
    const uint8_t *end = from + len;
    at = chordal__out_room(out, at, len);
    if (!at) return NULL;
    from = copy_plain(&at, from, end);
    return from == end ? at : put_escaped(out, at, from, end);
}

static inline uint8_t *put_byte(chordal__out *out, uint8_t *at, uint8_t byte) {
    at = chordal__out_room(out, at, 1);
    if (at) *at++ = byte;
    return at;
}

static uint8_t *put_pieces(chordal__out *out, uint8_t *at, const chordal__node *node) {
    uint64_t piece = 0;
    const uint8_t *data;
    size_t len;
    at = put_byte(out, at, '"');
    while (at && chordal__node_string_piece(node, &piece, &data, &len)) at = put_text(out, at, data, len);
    return put_byte(out, at, '"');
}

/* A flat string; there is room for it without escapes. */
static inline uint8_t *put_flat(chordal__out *out, uint8_t *at, const chordal__text *text) {
    const uint8_t *from = text->data, *end = from + text->bytes;
    *at++ = '"';
    from = copy_plain(&at, from, end);
    if (from < end) return put_byte(out, put_escaped(out, at, from, end), '"');
    *at++ = '"';
    return at;
}

static uint8_t *put_string(chordal__out *out, uint8_t *at, const chordal__node *node) {
    if (chordal__is_tree(node)) return put_pieces(out, at, node);
    at = chordal__out_room(out, at, chordal__text_of(node)->bytes + (size_t)2);
    return at ? put_flat(out, at, chordal__text_of(node)) : NULL;
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
    if (at && (size_t)(out->end - at) >= CHORDAL__NUMBER_TEXT) return at + chordal__number_write(number, (char *)at);
    char text[CHORDAL__NUMBER_TEXT];
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
    if (CHORDAL__SMALL || object->kind == CHORDAL_KIND_ARRAY || chordal__is_tree(object)) return false;
    const chordal__node *shape = chordal__group_of(object)->slots[0];
    return shape && shape->extent;
}

static uint8_t *put_open(chordal__out *out, uint8_t *at, chordal__walk *walk, const chordal__node *node) {
    chordal__walk_begin(walk, node);
    return put_byte(out, at, node->kind == CHORDAL_KIND_OBJECT ? '{' : '[');
}

/* Members of a flat object with plain keys, one after the other, up to one that is a container or to the end. */
static uint8_t *put_plain_members(chordal__out *out, uint8_t *at, chordal__walk *walk) {
    const chordal__group *group = chordal__group_of(walk->container);
    uint32_t i = (uint32_t)walk->index;
    for (; at && i + 1 < group->count; i++) {
        const chordal__node *node = group->slots[i + 1];
        unsigned kind = chordal__kind_of(node);
        if (kind >= CHORDAL_KIND_ARRAY) break;
        bool flat = kind == CHORDAL_KIND_STRING && !chordal__is_tree(node);
        chordal__key key = chordal__shape_key(group->slots[0], i);
        size_t most = key.len + 6 + (flat ? chordal__text_of(node)->bytes : 0u);
        if ((size_t)(out->end - at) < most) {
            at = put_scalar(out, put_key(out, at, i == 0, key.data, key.len, true), node, kind);
            continue;
        }
        *at = ',';
        at += i != 0;
        *at++ = '"';
        chordal__copy_bytes(at, key.data, key.len);
        memcpy(at + key.len, "\":", 2);
        at += key.len + 2;
        at = flat ? put_flat(out, at, chordal__text_of(node)) : put_scalar(out, at, node, kind);
    }
    walk->index = i;
    return at;
}

static uint8_t *put_container(chordal__out *out, uint8_t *at, const chordal__node *node, chordal__walk *walks,
                              const chordal__walk *end) {
    chordal__walk *walk = walks;
    at = put_open(out, at, walk, node);
    while (at) {
        const uint8_t *key = NULL;
        size_t key_len = 0;
        bool plain = has_plain_keys(walk->container);
        if (plain) at = put_plain_members(out, at, walk);
        bool first = walk->index == 0;
        node = chordal__next_member(walk, &key, &key_len);
        if (!node) {
            at = put_byte(out, at, walk->container->kind == CHORDAL_KIND_OBJECT ? '}' : ']');
            if (walk-- == walks) break;
            continue;
        }
        at = put_key(out, at, first, key, key_len, plain);
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
