/* diff_text.c: strings that grew at the end, lost their front, or both. */
#include "delta/inside.h"

/* The bytes of a string in one piece. */
typedef struct flat_text {
    const uint8_t *data;
    size_t len;
    uint8_t *copy; /* owned: when it lay in several */
} flat_text;

static int flatten(chordal__memory *memory, const chordal__node *string, flat_text *out) {
    *out = (flat_text){.len = (size_t)chordal__node_string_bytes(string)};
    const uint8_t *data = NULL;
    size_t len = 0, done = 0;
    uint64_t at = 0;
    if (!chordal__node_string_piece(string, &at, &data, &len)) return 0;
    out->data = data;
    if (len == out->len) return 0;
    out->copy = chordal__allocate(memory, out->len);
    if (!out->copy) return CHORDAL_E_NOMEM;
    out->data = out->copy;
    do {
        memcpy(out->copy + done, data, len);
        done += len;
    } while (chordal__node_string_piece(string, &at, &data, &len));
    return 0;
}

static void give_back(chordal__memory *memory, flat_text *flat) {
    chordal__release(memory, flat->copy, flat->copy ? flat->len : 0);
}

/* ---- how the front of `after` continues the end of `before` ---- */

typedef struct text_overlap {
    size_t drop;       /* bytes that `before` lost in front */
    size_t kept;       /* bytes that both have */
    bool half;         /* `before` ends with the first half of a pair that `after` completes */
    uint8_t second[3]; /* the other half */
} text_overlap;

static bool ends_with_high(const uint8_t *data, size_t len) {
    static const uint8_t low[3] = {0xed, 0xb0, 0x80};
    return chordal__utf_joins(data, len, low, sizeof low);
}

static uint32_t decode_four(const uint8_t *at) {
    return (uint32_t)(at[0] & 7) << 18 | (uint32_t)(at[1] & 63) << 12 | (uint32_t)(at[2] & 63) << 6 | (at[3] & 63);
}

/* Whether the pair at `at` begins with the lone high surrogate at `high`; out: its other half. */
static bool completes(const uint8_t *high, const uint8_t *at, size_t left, uint8_t second[3]) {
    if (left < 4 || at[0] < 0xf0) return false;
    uint32_t point = decode_four(at) - 0x10000, low = 0xdc00 | (point & 0x3ff);
    uint32_t wanted = (uint32_t)(high[1] & 63) << 6 | (high[2] & 63);
    if ((0x800 | point >> 10) != wanted) return false;
    second[0] = 0xed;
    second[1] = (uint8_t)(0x80 | (low >> 6 & 63));
    second[2] = (uint8_t)(0x80 | (low & 63));
    return true;
}

/* Whether all of `before` behind `drop` is the front of `after`. */
static bool continues(const flat_text *before, const flat_text *after, size_t drop, text_overlap *out) {
    size_t kept = before->len - drop;
    if (kept > after->len + 3) return false;
    if (kept <= after->len && (kept == 0 || memcmp(before->data + drop, after->data, kept) == 0)) {
        *out = (text_overlap){.drop = drop, .kept = kept};
        return true;
    }
    if (kept < 3 || after->len == 0 || !ends_with_high(before->data + drop, kept)) return false;
    kept -= 3;
    if (kept > 0 && memcmp(before->data + drop, after->data, kept) != 0) return false;
    *out = (text_overlap){.drop = drop, .kept = kept, .half = true};
    return completes(before->data + drop + kept, after->data + kept, after->len - kept, out->second);
}

/* ---- the longest end of `before` that is the front of `after` ----
 * The hash of an end grows by bytes in front, that of a front by bytes behind, so that both go along with the length;
 * where they agree the bytes are compared. */

#define BASE UINT64_C(0x9e3779b97f4a7c15)
#define CANDIDATES 8

static bool find_window(const flat_text *before, const flat_text *after, text_overlap *out) {
    size_t most = before->len < after->len ? before->len : after->len, found[CANDIDATES], count = 0;
    uint64_t end = 0, front = 0, power = 1;
    for (size_t i = 0; i < most; i++) {
        end += power * (uint64_t)(before->data[before->len - 1 - i] + 1);
        front = front * BASE + (uint64_t)(after->data[i] + 1);
        power *= BASE;
        if (end == front) found[count++ % CANDIDATES] = i + 1;
    }
    for (size_t i = 0; i < CANDIDATES && count > 0; i++, count--) {
        if (continues(before, after, before->len - found[(count - 1) % CANDIDATES], out)) return true;
    }
    return false;
}

/* ---- ops ---- */

static int emit_text(chordal__differ *differ, const uint8_t *data, size_t len) {
    if (len == 0) return 0;
    chordal__node *text = chordal__node_string(differ->ops->memory, data, len);
    if (!text) return CHORDAL_E_NOMEM;
    return chordal__differ_emit(differ, (chordal__op){.kind = CHORDAL_OP_APPEND, .value = text});
}

/* What comes behind a completed pair follows its second half in one text. */
static int emit_half(chordal__differ *differ, const flat_text *after, const text_overlap *overlap) {
    chordal__memory *memory = differ->ops->memory;
    chordal__node *still = NULL, *text = chordal__node_string(memory, overlap->second, 3);
    if (!text) return CHORDAL_E_NOMEM;
    size_t from = overlap->kept + 4;
    chordal__node *whole = chordal__node_append(memory, text, after->data + from, after->len - from, &still);
    if (!whole) {
        chordal__node_unref(memory, still);
        return CHORDAL_E_NOMEM;
    }
    return chordal__differ_emit(differ, (chordal__op){.kind = CHORDAL_OP_APPEND, .value = whole});
}

static int emit_overlap(chordal__differ *differ, const flat_text *before, const flat_text *after,
                        const text_overlap *overlap) {
    int code = 0;
    if (overlap->drop > 0) {
        uint64_t units = chordal__utf_units(before->data, overlap->drop);
        code = chordal__differ_emit(differ, (chordal__op){.kind = CHORDAL_OP_TRUNCATE, .index = units});
    }
    if (code != 0) return code;
    if (overlap->half) return emit_half(differ, after, overlap);
    return emit_text(differ, after->data + overlap->kept, after->len - overlap->kept);
}

static int compare_flat(chordal__differ *differ, const flat_text *before, const flat_text *after,
                        const chordal__node *value) {
    text_overlap overlap;
    if (before->len == after->len && (after->len == 0 || memcmp(before->data, after->data, after->len) == 0)) return 0;
    bool found = before->len > 0 && (continues(before, after, 0, &overlap) || find_window(before, after, &overlap));
    if (found && (overlap.drop == 0 || overlap.kept >= 16)) {
        return emit_overlap(differ, before, after, &overlap);
    }
    return chordal__differ_set(differ, value);
}

/* ---- strings whose front lies in the same memory ---- */

/* Bytes at the front of both that are found the same piece by piece. */
static size_t common_front(const chordal__node *before, const chordal__node *after) {
    const uint8_t *a = NULL, *b = NULL;
    size_t a_len = 0, b_len = 0, done = 0;
    uint64_t a_at = 0, b_at = 0;
    for (;;) {
        if (a_len == 0 && !chordal__node_string_piece(before, &a_at, &a, &a_len)) return done;
        if (b_len == 0 && !chordal__node_string_piece(after, &b_at, &b, &b_len)) return done;
        size_t len = a_len < b_len ? a_len : b_len;
        if (a != b && memcmp(a, b, len) != 0) return done;
        a += len, a_len -= len, b += len, b_len -= len, done += len;
    }
}

/* The rest of a string behind `from` bytes as a new one. */
static chordal__node *rest_of(chordal__memory *memory, const chordal__node *string, size_t from) {
    const uint8_t *data = NULL;
    size_t len = 0;
    chordal__node *rest = NULL, *still = NULL;
    for (uint64_t at = 0; chordal__node_string_piece(string, &at, &data, &len); from -= from < len ? from : len) {
        if (from >= len) continue;
        chordal__node *more = rest ? chordal__node_append(memory, rest, data + from, len - from, &still)
                                   : chordal__node_string(memory, data + from, len - from);
        if (!more) {
            chordal__node_unref(memory, rest);
            return NULL;
        }
        rest = more;
    }
    return rest;
}

int chordal__differ_text(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    chordal__memory *memory = differ->ops->memory;
    uint64_t before_len = chordal__node_string_bytes(before), after_len = chordal__node_string_bytes(after);
    if (before_len > 0 && before_len <= after_len && common_front(before, after) == before_len) {
        if (before_len == after_len) return 0;
        chordal__node *rest = rest_of(memory, after, (size_t)before_len);
        return rest ? chordal__differ_emit(differ, (chordal__op){.kind = CHORDAL_OP_APPEND, .value = rest})
                    : CHORDAL_E_NOMEM;
    }
    flat_text a, b = {0};
    int code = flatten(memory, before, &a);
    if (code == 0) code = flatten(memory, after, &b);
    if (code == 0) code = compare_flat(differ, &a, &b, after);
    give_back(memory, &a);
    give_back(memory, &b);
    return code;
}
