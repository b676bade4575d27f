/* json_read.c: JSON text to events, strict, without recursion. */
#include "value/scan.h"

#define MOULDS 32    /* keys of an object that have one */
#define MOULD_MAX 13 /* bytes of such a key */
/* A key as it stands in the text, with its quotes and colon, and ones for its bytes. */
typedef struct mould {
    uint8_t text[16], mask[16];
    uint32_t len; /* 0: the key is too long for one */
} mould;

typedef struct json {
    const uint8_t *data, *at, *end;
    chordal__sink *sink;
    uint32_t depth, limit;
    bool object;             /* what the innermost open container is */
    int short_code;          /* when the end is met: TRUNCATED, or SIZE when it is that of the limit */
    chordal__buffer scratch; /* a string with escapes */
    const uint8_t *fault;    /* where, when not at `at` */
    chordal__node *moulded;  /* owned: the shape whose keys these are, or NULL */
    mould *moulds;
    uint8_t objects[CHORDAL__DEPTH_MAX / 8]; /* a bit for each open container */
} json;

static int fail_at(json *j, const uint8_t *place, int code) {
    j->fault = place;
    return code;
}

/* A byte that is not allowed here, or the end. */
static CHORDAL__ASIDE int fail_here(json *j) {
    return fail_at(j, j->at, j->at == j->end ? j->short_code : CHORDAL_E_SYNTAX);
}

static inline bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline void skip_space(json *j) {
    const uint8_t *at = j->at, *end = j->end;
    if (at == end || *at > ' ') return;
    while (at < end && is_space(*at)) at++;
    j->at = at;
}

/* Step over a byte that must come here. */
static inline bool take_byte(json *j, uint8_t byte) {
    if (j->at == j->end || *j->at != byte) {
        skip_space(j);
        if (j->at == j->end || *j->at != byte) return false;
    }
    j->at++;
    return true;
}

/* ---- strings ---- */

const uint8_t *chordal__json_skip_text(const uint8_t *at, const uint8_t *end, bool *ascii) {
    for (;;) {
        at = chordal__skip_plain(at, end);
        if (at == end || *at < 0x80) return at;
        *ascii = false;
        while (at < end && *at >= 0x80) at++;
    }
}

static int hex_of(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Four digits behind \u; the end or a wrong digit fails at its place. */
static int read_unit(json *j, const uint8_t *at, uint32_t *out) {
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++, at++) {
        int digit = at < j->end ? hex_of(*at) : -1;
        if (digit < 0) return fail_at(j, at, at == j->end ? j->short_code : CHORDAL_E_SYNTAX);
        unit = unit << 4 | (uint32_t)digit;
    }
    *out = unit;
    return 0;
}

/* Write a code point or a lone surrogate, joining a low half to the high one that the text ends with. */
static void put_point(chordal__buffer *text, uint32_t point) {
    uint8_t bytes[4] = {(uint8_t)(0xe0 | point >> 12), (uint8_t)(0x80 | (point >> 6 & 0x3f)),
                        (uint8_t)(0x80 | (point & 0x3f)), 0};
    if (point < 0x80) {
        chordal__buffer_byte(text, (uint8_t)point);
    } else if (point < 0x800) {
        bytes[1] = (uint8_t)(0xc0 | point >> 6);
        chordal__buffer_put(text, bytes + 1, 2);
    } else if (!text->failed && chordal__utf_joins(text->data, text->len, bytes, 3)) {
        const uint8_t *high = text->data + text->len - 3;
        uint32_t whole = (uint32_t)(high[1] & 0x0f) << 16 | (uint32_t)(high[2] & 0x3f) << 10 | (point & 0x3ff);
        whole += 0x10000;
        text->len -= 3;
        bytes[0] = (uint8_t)(0xf0 | whole >> 18);
        bytes[1] = (uint8_t)(0x80 | (whole >> 12 & 0x3f));
        bytes[2] = (uint8_t)(0x80 | (whole >> 6 & 0x3f));
        bytes[3] = (uint8_t)(0x80 | (whole & 0x3f));
        chordal__buffer_put(text, bytes, 4);
    } else {
        chordal__buffer_put(text, bytes, 3);
    }
}

/* An escape at `*at`, a backslash. */
static int read_escape(json *j, const uint8_t **at) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const uint8_t *place = *at + 1;
    if (place == j->end) return fail_at(j, place, j->short_code);
    const char *letter = *place ? strchr(letters, *place) : NULL;
    if (letter) {
        chordal__buffer_byte(&j->scratch, (uint8_t)meant[letter - letters]);
        *at = place + 1;
        return 0;
    }
    if (*place != 'u') return fail_at(j, place, CHORDAL_E_SYNTAX);
    uint32_t unit = 0;
    int code = read_unit(j, place + 1, &unit);
    if (code) return code;
    put_point(&j->scratch, unit);
    *at = place + 5;
    return 0;
}

/* The fault of text that is not valid at its beginning: the input may end inside a code point. */
static int fail_text(json *j, const uint8_t *at, const uint8_t *end) {
    size_t len = (size_t)(end - at), need = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (end < j->end || len >= need) return fail_at(j, at, CHORDAL_E_UTF8);
    uint8_t whole[4]; /* as it might go on */
    memset(whole, *at == 0xf4 ? 0x80 : 0xbf, sizeof whole);
    memcpy(whole, at, len);
    bool begins = chordal__utf_valid(whole, need, NULL);
    return begins ? fail_at(j, end, j->short_code) : fail_at(j, at, CHORDAL_E_UTF8);
}

/* Append raw text to the scratch, checked; the halves of a pair in three bytes each are joined. */
static int put_raw(json *j, const uint8_t *at, const uint8_t *end) {
    chordal__buffer *text = &j->scratch;
    while (at < end) {
        size_t len = (size_t)(end - at), good = 0;
        if (chordal__utf_joins(text->data, text->len, at, len) && chordal__utf_valid(at, 3, &good)) {
            put_point(text, 0xd000u | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f));
            at += 3;
            continue;
        }
        if (chordal__utf_valid(at, len, &good)) good = len;
        if (good == 0) return fail_text(j, at, end);
        chordal__buffer_put(text, at, good);
        at += good;
    }
    return 0;
}

void chordal__json_unescape(chordal__buffer *out, const uint8_t *data, size_t len) {
    json j;
    const uint8_t *at = data;
    bool ascii;
    j.end = data + len;
    j.scratch = *out;
    while (at < j.end) {
        const uint8_t *from = at;
        at = chordal__json_skip_text(at, j.end, &ascii);
        (void)put_raw(&j, from, at);
        if (at < j.end) (void)read_escape(&j, &at);
    }
    *out = j.scratch;
}

/* A string that has escapes or is not plainly valid, from its first byte on. */
static int read_hard_string(json *j, const uint8_t *at, const uint8_t **out, size_t *out_len) {
    bool ascii;
    chordal__buffer_clear(&j->scratch);
    for (;;) {
        const uint8_t *from = at;
        at = chordal__json_skip_text(at, j->end, &ascii);
        int code = put_raw(j, from, at);
        if (code) return code;
        if (j->scratch.failed) return fail_at(j, at, CHORDAL_E_NOMEM);
        if (at == j->end) return fail_at(j, at, j->short_code);
        if (*at == '"') break;
        if (*at != '\\') return fail_at(j, at, CHORDAL_E_SYNTAX);
        code = read_escape(j, &at);
        if (code) return code;
    }
    *out = j->scratch.data ? j->scratch.data : at;
    *out_len = j->scratch.len;
    j->at = at + 1;
    return 0;
}

/* A string with bytes beyond ASCII, with escapes or with a fault; `at` is the first of these. */
static CHORDAL__ASIDE int read_other_string(json *j, const uint8_t *at, const uint8_t **out, size_t *out_len,
                                            unsigned *out_flags) {
    const uint8_t *from = j->at + 1;
    bool ascii = true;
    at = chordal__json_skip_text(at, j->end, &ascii);
    *out_flags = 0;
    if (at == j->end || *at != '"' || !chordal__utf_valid(from, (size_t)(at - from), NULL))
        return read_hard_string(j, from, out, out_len);
    *out = from;
    *out_len = (size_t)(at - from);
    *out_flags = CHORDAL__STABLE;
    j->at = at + 1;
    return 0;
}

/* The string behind the quote at j->at; it lies in the input or in the scratch. */
static inline int read_string(json *j, const uint8_t **out, size_t *out_len, unsigned *out_flags) {
    if (CHORDAL__SMALL) {
        *out_flags = 0;
        return read_hard_string(j, j->at + 1, out, out_len);
    }
    const uint8_t *from = j->at + 1, *at = chordal__skip_plain(from, j->end);
    if (at == j->end || *at != '"') return read_other_string(j, at, out, out_len, out_flags);
    *out = from;
    *out_len = (size_t)(at - from);
    *out_flags = CHORDAL__STABLE | CHORDAL__ASCII;
    j->at = at + 1;
    return 0;
}

/* ---- scalars ---- */

/* A value takes about half as many bytes again as its text. */
static inline void tell_left(json *j) {
    size_t left = (size_t)(j->end - j->at);
    j->sink->left = left + left / 2;
}

static CHORDAL__ASIDE int read_any_number(json *j) {
    chordal__number number;
    int code;
    size_t len = chordal__number_read(j->at, (size_t)(j->end - j->at), &number, &code);
    if (len == 0) return code == CHORDAL_E_TRUNCATED ? fail_at(j, j->end, j->short_code) : code;
    j->at += len;
    if (j->at == j->end && j->short_code == CHORDAL_E_SIZE) return j->short_code;
    tell_left(j);
    return j->sink->calls->number(j->sink, &number);
}

static inline bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* Take up to eight digits at once into *value; where they end. Each step joins neighbours. */
static inline const uint8_t *take_digits(const uint8_t *at, uint64_t *value) {
    static const uint32_t powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t word = chordal__load_little(at);
    uint64_t digits = word - CHORDAL__EACH * '0';
    uint64_t others = (digits | (digits + CHORDAL__EACH * (0x7f - 9))) & CHORDAL__EACH * 0x80;
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (count == 0) return at;
    digits <<= 64 - 8 * count;
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) +
              (digits >> 16 & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001)) >>
             32;
    *value = *value * powers[count] + digits;
    return at + count;
}

/* Integers of up to 18 digits are read here, as they are most numbers. */
static int read_number(json *j) {
    const uint8_t *at = j->at + (*j->at == '-'), *first = at;
    uint64_t value = 0;
    if (CHORDAL__SMALL) return read_any_number(j);
    if (j->end - at > 8) at = take_digits(at, &value);
    if (at - first == 8 && j->end - at > 8) at = take_digits(at, &value);
    while (at < j->end && is_digit(*at) && at - first < 19) value = value * 10 + (uint64_t)(*at++ - '0');
    size_t digits = (size_t)(at - first);
    bool plain = digits && digits < 19 && at < j->end && *at != '.' && (*at | 0x20) != 'e';
    if (!plain || (*first == '0' && digits > 1)) return read_any_number(j);
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER};
    number.as.integer = *j->at == '-' ? -(int64_t)value : (int64_t)value;
    j->at = at;
    return j->sink->calls->number(j->sink, &number);
}

static CHORDAL__ASIDE int read_word(json *j, const char *word, size_t len, unsigned kind) {
    size_t at = 0;
    while (at < len && j->at + at < j->end && j->at[at] == (uint8_t)word[at]) at++;
    j->at += at;
    return at == len ? j->sink->calls->constant(j->sink, kind) : fail_here(j);
}

static inline int read_string_value(json *j) {
    const uint8_t *utf8;
    size_t len;
    unsigned flags;
    int code = read_string(j, &utf8, &len, &flags);
    return code ? code : j->sink->calls->string(j->sink, utf8, len, flags);
}

/* ---- containers ---- */

static int open_container(json *j, bool object) {
    if (j->depth >= j->limit) return CHORDAL_E_DEPTH;
    uint8_t *bits = &j->objects[j->depth / 8], bit = (uint8_t)(1u << j->depth % 8);
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    j->object = object;
    j->depth++;
    j->at++;
    return j->sink->calls->open(j->sink, object, 0);
}

static int close_container(json *j) {
    if (--j->depth) j->object = j->objects[(j->depth - 1) / 8] >> (j->depth - 1) % 8 & 1;
    tell_left(j);
    return j->sink->calls->close(j->sink);
}

/* Step over `before`, which stands in front of a key and ends with its quote, the key that the sink expects and the
 * colon, if just these come. */
static inline bool skip_expected(json *j, const char *before, size_t before_len) {
    chordal__key key;
    const uint8_t *at = j->at;
    if (!chordal__sink_expects(j->sink, &key) || (size_t)(j->end - at) < before_len + key.len + 2) return false;
    if (memcmp(at, before, before_len) != 0) return false;
    at += before_len;
    if (memcmp(at + key.len, "\":", 2) != 0 || !chordal__same_bytes(at, key.data, key.len)) return false;
    j->sink->agreed++;
    j->at = at + key.len + 2;
    return true;
}

/* ---- members of an object that is like the one before ---- */

#define NEAR 64 /* bytes that are there to be looked at: a key that has a mould, punctuation, a plain number */

static inline const uint8_t *skip_blank(const uint8_t *at) {
    if (CHORDAL__SELDOM(*at == ' ')) {
        CHORDAL__JUMP;
        at++;
    }
    return at;
}

/* A string of ASCII without escapes, behind its quote, goes to the sink; its end, or NULL. */
static inline const uint8_t *take_text(chordal__taking *to, const uint8_t *at, const uint8_t *end) {
    const uint8_t *close = chordal__skip_most(at, end);
    if (*close != '"') return NULL;
    return chordal__take_text(to, at, (size_t)(close - at)) ? close + 1 : NULL;
}

typedef struct digits { /* small enough for registers */
    const uint8_t *end;
    int64_t value;
} digits;

/* An integer of up to 15 digits that ends with its member; `end` NULL: it is another number. */
static CHORDAL__ASIDE digits read_integer(const uint8_t *at) {
    const uint8_t *first = at;
    if (CHORDAL__SELDOM(*at == '-')) {
        CHORDAL__JUMP;
        first++;
    }
    uint64_t value = 0;
    const uint8_t *close = take_digits(first, &value);
    if (CHORDAL__SELDOM(close - first == 8)) close = take_digits(close, &value);
    if (close == first || close - first > 15 || (*close != ',' && *close != '}')) return (digits){NULL, 0};
    if (CHORDAL__SELDOM(*first == '0') && close - first > 1) return (digits){NULL, 0};
    return (digits){close, CHORDAL__SELDOM(first > at) ? -(int64_t)value : (int64_t)value};
}

static inline const uint8_t *take_integer(chordal__taking *to, const uint8_t *at) {
    digits read = read_integer(at);
    return read.end && chordal__take_integer(to, read.value) ? read.end : NULL;
}

static inline const uint8_t *take_constant(chordal__taking *to, const uint8_t *at) {
    unsigned kind = CHORDAL_KIND_NULL;
    if (memcmp(at, "true", 4) == 0)
        kind = CHORDAL_KIND_TRUE;
    else if (memcmp(at, "false", 5) == 0)
        kind = CHORDAL_KIND_FALSE;
    else if (memcmp(at, "null", 4) != 0)
        return NULL;
    chordal__take_node(to, chordal__constant(kind));
    return at + 4 + (kind == CHORDAL_KIND_FALSE);
}

static inline const uint8_t *take_plain(chordal__taking *to, const uint8_t *at, const uint8_t *end) {
    at = skip_blank(at);
    if (*at == '"') return take_text(to, at + 1, end);
    return is_digit(*at) || *at == '-' ? take_integer(to, at) : take_constant(to, at);
}

/* Make the moulds of a shape's keys. */
static CHORDAL__ASIDE void mould_keys(json *j, const chordal__shape *shape) {
    chordal__node_unref(j->sink->memory, j->moulded);
    j->moulded = chordal__node_ref((chordal__node *)(uintptr_t)&shape->head);
    for (uint32_t i = 0; i < shape->count; i++) {
        chordal__key key = chordal__shape_key(&shape->head, i);
        mould *made = &j->moulds[i];
        *made = (mould){.len = key.len <= MOULD_MAX ? (uint32_t)key.len + 3 : 0};
        if (made->len == 0) continue;
        made->text[0] = made->text[key.len + 1] = '"';
        made->text[key.len + 2] = ':';
        memcpy(made->text + 1, key.data, key.len);
        memset(made->mask, 0xff, made->len);
    }
}

/* A long key with its quotes and its colon. */
static CHORDAL__ASIDE const uint8_t *take_long_key(const chordal__taking *to, const uint8_t *at, const uint8_t *end) {
    chordal__key key = chordal__shape_key(&to->shape->head, to->agreed);
    if ((size_t)(end - at) < key.len + NEAR || *at != '"' || memcmp(at + 1, key.data, key.len) != 0) return NULL;
    return memcmp(at + 1 + key.len, "\":", 2) == 0 ? at + key.len + 3 : NULL;
}

static inline const uint8_t *take_key(const mould *made, const uint8_t *at) {
    uint64_t first = (chordal__load8(at) ^ chordal__load8(made->text)) & chordal__load8(made->mask);
    uint64_t last = (chordal__load8(at + 8) ^ chordal__load8(made->text + 8)) & chordal__load8(made->mask + 8);
    return (first | last) == 0 ? at + made->len : NULL;
}

/* Members with the keys that are expected and with plain values are taken. Behind a value or, with `opened`, behind the
 * opening bracket. *out_before: it ends before a value that is not plain. Returns where it ends. */
static inline const uint8_t *take_members(chordal__taking *to, const mould *moulds, const uint8_t *at,
                                          const uint8_t *end, bool opened, bool *out_before) {
    const mould *made = moulds + to->agreed;
    for (; to->agreed < to->shape->count && end - at >= NEAR; opened = false) {
        const uint8_t *value = at;
        if (!opened && *value++ != ',') break;
        value = skip_blank(value);
        value = made->len ? take_key(made, value) : take_long_key(to, value, end);
        if (!value) break;
        made++;
        to->agreed++;
        at = take_plain(to, value, end);
        *out_before = !at;
        if (!at) return value;
    }
    return at;
}

static bool in_array(const json *j) {
    return j->depth > 1 && !(j->objects[(j->depth - 2) / 8] >> (j->depth - 2) % 8 & 1);
}

/* From the end of an object to behind the opening bracket of the next one, or NULL. */
static inline const uint8_t *skip_to_next(const uint8_t *at, const uint8_t *end) {
    if (end - at < NEAR || at[0] != '}' || at[1] != ',') return NULL;
    at += 2;
    at = skip_blank(at);
    return *at == '{' ? at + 1 : NULL;
}

/* Step over what is like the object before: members, and in an array the objects behind this one. As read_between, but
 * it may end anywhere behind a value or, if nothing was there to be taken, behind the bracket; *out_before: before a
 * value. */
static CHORDAL__ASIDE int read_alike(json *j, bool *opened, bool *out_before) {
    const uint8_t *at = j->at, *end = j->end;
    bool array = in_array(j), first = *opened, before = false;
    chordal__taking to;
    int code = 0;
    while (chordal__take_begin(&to, j->sink) && to.shape->count <= MOULDS) {
        const uint8_t *from = at, *next = NULL;
        if (&to.shape->head != j->moulded) mould_keys(j, to.shape);
        at = take_members(&to, j->moulds, from, end, first, &before);
        if (to.text) at = to.text + to.len + 1, before = false;
        first = first && at == from;
        code = chordal__take_end(&to, j->sink);
        if (code || before) break;
        if (to.agreed < to.shape->count && to.text) continue;
        if (array && to.agreed == to.shape->count) next = skip_to_next(at, end);
        if (!next) break;
        j->at = at = next;
        tell_left(j);
        code = j->sink->calls->next(j->sink);
        if (code) break;
        first = true;
    }
    j->at = at;
    *opened = first;
    *out_before = before;
    return code;
}

static CHORDAL__ASIDE int read_any_key(json *j) {
    unsigned flags;
    chordal__key key = {.position = (uint64_t)(j->at - j->data)};
    int code = read_string(j, &key.data, &key.len, &flags);
    return code ? code : j->sink->calls->key(j->sink, &key, flags);
}

static int read_key(json *j) {
    skip_space(j);
    if (j->at == j->end || *j->at != '"') return fail_here(j);
    if (skip_expected(j, "\"", 1)) return 0;
    int code = read_any_key(j);
    if (code) return code;
    return take_byte(j, ':') ? 0 : fail_here(j);
}

/* A scalar, or the opening bracket of a container, which *out_open tells. */
static inline int read_value(json *j, bool *out_open) {
    *out_open = false;
    skip_space(j);
    if (j->at == j->end) return fail_here(j);
    if (*j->at == '"') return read_string_value(j);
    switch (*j->at) {
    case '{':
    case '[':
        *out_open = true;
        return open_container(j, *j->at == '{');
    case 't':
        return read_word(j, "true", 4, CHORDAL_KIND_TRUE);
    case 'f':
        return read_word(j, "false", 5, CHORDAL_KIND_FALSE);
    case 'n':
        return read_word(j, "null", 4, CHORDAL_KIND_NULL);
    default:
        return is_digit(*j->at) || *j->at == '-' ? read_number(j) : fail_here(j);
    }
}

/* Behind a value or, with `opened`, behind an opening bracket: close what ends here and stand before the next value.
 * At depth 0 all is read. */
static inline int read_between(json *j, bool opened) {
    if (!CHORDAL__SMALL) {
        bool before = false;
        int code = j->sink->shape ? read_alike(j, &opened, &before) : 0;
        if (code || before) return code;
    } else if (opened ? skip_expected(j, "\"", 1) : skip_expected(j, ",\"", 2)) {
        return 0;
    }
    while (j->depth) {
        if (!opened && take_byte(j, ',')) return j->object ? read_key(j) : 0;
        if (!take_byte(j, j->object ? '}' : ']')) {
            if (!opened || j->at == j->end) return fail_here(j);
            return j->object ? read_key(j) : 0;
        }
        int code = close_container(j);
        if (code) return code;
        opened = false;
    }
    return 0;
}

int chordal__json_parse(chordal__reader *reader, const chordal__limits *limits, chordal__sink *sink,
                        chordal_error *error) {
    mould moulds[CHORDAL__SMALL ? 1 : MOULDS];
    json j = {.data = reader->data, .at = reader->at, .end = reader->end, .sink = sink, .moulds = moulds};
    j.limit = limits->depth < CHORDAL__DEPTH_MAX ? limits->depth : CHORDAL__DEPTH_MAX;
    j.short_code = CHORDAL_E_TRUNCATED;
    if (chordal__reader_left(reader) > limits->size) {
        j.end = j.at + limits->size;
        j.short_code = CHORDAL_E_SIZE;
    }
    chordal__buffer_init(&j.scratch, sink->memory, SIZE_MAX);
    int code = 0;
    do {
        bool opened;
        code = read_value(&j, &opened);
        if (!code) code = read_between(&j, opened);
    } while (!code && j.depth);
    chordal__buffer_dispose(&j.scratch);
    if (!CHORDAL__SMALL) chordal__node_unref(sink->memory, j.moulded);
    if (code) {
        uint64_t position = (uint64_t)((j.fault ? j.fault : j.at) - j.data);
        return chordal__fail(error, code, code == CHORDAL_E_DUPLICATE_KEY ? sink->position : position, NULL);
    }
    reader->at = j.at;
    return 0;
}

int chordal__json_read_value(chordal__memory *memory, chordal__reader *reader, const chordal__limits *limits,
                             chordal__node **out, chordal_error *error) {
    return chordal__build(memory, chordal__json_parse, reader, limits, out, error);
}

int chordal__json_read(chordal__memory *memory, const uint8_t *data, size_t len, const chordal__limits *limits,
                       chordal__node **out, chordal_error *error) {
    if (len > limits->size) return chordal__fail(error, CHORDAL_E_SIZE, limits->size, NULL);
    chordal__reader reader = chordal__reader_of(data, len);
    chordal__node *node;
    int code = chordal__json_read_value(memory, &reader, limits, &node, error);
    if (code) return code;
    while (reader.at < reader.end && is_space(*reader.at)) reader.at++;
    if (reader.at == reader.end) {
        *out = node;
        return 0;
    }
    chordal__node_unref(memory, node);
    return chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), NULL);
}
