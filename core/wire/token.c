/* token.c: JSON taken strictly piece by piece. */
#include "wire/token.h"

#include "value/value.h"

#define NUMBER_END (UINT64_C(1) << 53)

void chordal__token_fail(chordal__reader *in, int code, const uint8_t *at) {
    if (in->failed) return;
    in->failed = code;
    in->at = at;
}

void chordal__token_unexpected(chordal__reader *in) {
    chordal__token_fail(in, in->at == in->end ? CHORDAL_E_TRUNCATED : CHORDAL_E_SYNTAX, in->at);
}

static bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* The byte here, without skipping; 0 at the end. */
static uint8_t here(const chordal__reader *in) {
    return in->at == in->end ? 0 : *in->at;
}

uint8_t chordal__token_peek(chordal__reader *in) {
    if (in->failed) return 0;
    while (in->at != in->end && is_space(*in->at)) in->at++;
    return here(in);
}

bool chordal__token_is(chordal__reader *in, uint8_t byte) {
    if (chordal__token_peek(in) != byte || in->failed || in->at == in->end) return false;
    in->at++;
    return true;
}

void chordal__token_expect(chordal__reader *in, uint8_t byte) {
    if (!chordal__token_is(in, byte)) chordal__token_unexpected(in);
}

void chordal__token_end(chordal__reader *in) {
    chordal__token_peek(in);
    if (in->at != in->end) chordal__token_fail(in, CHORDAL_E_TRAILING, in->at);
}

bool chordal__token_next(chordal__reader *in, size_t index) {
    if (chordal__token_is(in, ']')) return false;
    if (index) chordal__token_expect(in, ',');
    return !in->failed;
}

uint64_t chordal__token_number(chordal__reader *in) {
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    uint64_t value = 0;
    if (!is_digit(here(in))) chordal__token_unexpected(in);
    bool zero = here(in) == '0'; /* nothing belongs behind it */
    while (!in->failed && is_digit(here(in)) && !(zero && in->at > start)) {
        value = value * 10 + (uint64_t)(*in->at++ - '0');
        if (value >= NUMBER_END) chordal__token_fail(in, CHORDAL_E_RANGE, start);
    }
    return in->failed ? 0 : value;
}

/* ---- strings ---- */

static int hex_value(uint8_t byte) {
    if (is_digit(byte)) return byte - '0';
    uint8_t lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* At a backslash. */
static void scan_escape(chordal__reader *in) {
    static const char letters[] = "\"\\/bfnrt";
    in->at++;
    bool unit = here(in) == 'u';
    if (!unit && (!here(in) || !strchr(letters, here(in)))) {
        chordal__token_unexpected(in);
        return;
    }
    in->at++;
    for (int i = 0; unit && i < 4 && !in->failed; i++) {
        if (hex_value(here(in)) < 0)
            chordal__token_unexpected(in);
        else
            in->at++;
    }
}

const uint8_t *chordal__token_string(chordal__reader *in, size_t *out_len, bool *out_escaped) {
    bool ascii;
    *out_len = 0, *out_escaped = false;
    chordal__token_expect(in, '"');
    const uint8_t *start = in->at;
    while (!in->failed) {
        in->at = chordal__json_skip_text(in->at, in->end, &ascii);
        uint8_t byte = here(in);
        if (byte == '"') {
            *out_len = (size_t)(in->at++ - start);
            return start;
        }
        if (byte == '\\') {
            *out_escaped = true;
            scan_escape(in);
        } else {
            chordal__token_unexpected(in);
        }
    }
    return NULL;
}

bool chordal__token_utf8(const uint8_t *data, size_t len, size_t *out_position) {
    size_t fault = len;
    bool valid = chordal__utf_valid(data, len, &fault);
    /* Surrogates, which have a form in our text, but none in UTF-8. */
    for (size_t at = 0; at < fault;) {
        const uint8_t *lead = memchr(data + at, 0xed, fault - at);
        if (!lead) break;
        at = (size_t)(lead - data);
        if (at + 1 < len && data[at + 1] >= 0xa0) {
            *out_position = at;
            return false;
        }
        at++;
    }
    *out_position = fault;
    return valid;
}

/* ---- the extent of a value ---- */

/* Wide enough for the deepest limit and the arrays that a snapshot puts around a value. */
#define DEPTH_MOST 4160

/* What may come next. */
enum { VALUE, FIRST_VALUE, KEY, FIRST_KEY, AFTER };

typedef struct extent {
    chordal__reader *in;
    uint32_t depth, limit;
    uint64_t objects[DEPTH_MOST / 64]; /* bit per open container: it is an object */
} extent;

static bool in_object(const extent *scan) {
    return scan->depth && (scan->objects[(scan->depth - 1) / 64] >> (scan->depth - 1) % 64 & 1);
}

static int open_container(extent *scan, bool object) {
    if (scan->depth == scan->limit) {
        chordal__token_fail(scan->in, CHORDAL_E_DEPTH, scan->in->at);
        return AFTER;
    }
    uint64_t bit = UINT64_C(1) << scan->depth % 64;
    if (object)
        scan->objects[scan->depth / 64] |= bit;
    else
        scan->objects[scan->depth / 64] &= ~bit;
    scan->depth++;
    scan->in->at++;
    return object ? FIRST_KEY : FIRST_VALUE;
}

/* A number that is malformed is named by its first byte. */
static void scan_digits(chordal__reader *in, const uint8_t *start) {
    if (in->at == in->end)
        chordal__token_unexpected(in);
    else if (!is_digit(*in->at))
        chordal__token_fail(in, CHORDAL_E_SYNTAX, start);
    while (!in->failed && is_digit(here(in))) in->at++;
}

static void scan_number(chordal__reader *in) {
    const uint8_t *start = in->at;
    if (here(in) == '-') in->at++;
    if (here(in) == '0')
        in->at++;
    else
        scan_digits(in, start);
    if (!in->failed && here(in) == '.') {
        in->at++;
        scan_digits(in, start);
    }
    if (!in->failed && (here(in) | 0x20) == 'e') {
        in->at++;
        if (here(in) == '+' || here(in) == '-') in->at++;
        scan_digits(in, start);
    }
}

static void scan_word(chordal__reader *in, const char *word) {
    for (; *word && !in->failed; word++) {
        if (here(in) != (uint8_t)*word)
            chordal__token_unexpected(in);
        else
            in->at++;
    }
}

static int scan_value(extent *scan, uint8_t byte) {
    size_t len;
    bool escaped;
    switch (byte) {
    case '{':
        return open_container(scan, true);
    case '[':
        return open_container(scan, false);
    case '"':
        chordal__token_string(scan->in, &len, &escaped);
        break;
    case 't':
        scan_word(scan->in, "true");
        break;
    case 'f':
        scan_word(scan->in, "false");
        break;
    case 'n':
        scan_word(scan->in, "null");
        break;
    default:
        scan_number(scan->in);
        break;
    }
    return AFTER;
}

static int scan_key(extent *scan) {
    size_t len;
    bool escaped;
    chordal__token_string(scan->in, &len, &escaped);
    chordal__token_expect(scan->in, ':');
    return VALUE;
}

/* Inside a container, behind an element or where the first one may be. */
static int scan_after(extent *scan, uint8_t byte) {
    bool object = in_object(scan);
    if (byte == (object ? '}' : ']')) {
        scan->depth--;
        scan->in->at++;
        return AFTER;
    }
    chordal__token_expect(scan->in, ',');
    return object ? KEY : VALUE;
}

static int scan_step(extent *scan, int state) {
    uint8_t byte = chordal__token_peek(scan->in);
    switch (state) {
    case AFTER:
        return scan_after(scan, byte);
    case FIRST_KEY:
        return byte == '}' ? scan_after(scan, byte) : scan_key(scan);
    case KEY:
        return scan_key(scan);
    case FIRST_VALUE:
        return byte == ']' ? scan_after(scan, byte) : scan_value(scan, byte);
    default:
        return scan_value(scan, byte);
    }
}

const uint8_t *chordal__token_value(chordal__reader *in, uint32_t depth, size_t *out_len) {
    extent scan; /* its bits are set when a container is opened */
    scan.in = in;
    scan.depth = 0;
    scan.limit = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    chordal__token_peek(in);
    const uint8_t *start = in->at;
    int state = VALUE;
    while (!in->failed && (state != AFTER || scan.depth)) state = scan_step(&scan, state);
    *out_len = in->failed ? 0 : (size_t)(in->at - start);
    return in->failed ? NULL : start;
}
