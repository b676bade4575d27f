/* pointer.c: JSON Pointers (RFC 6901) as paths. */
#include "delta/inside.h"

#define FEW_SEGMENTS 8 /* for which no memory is asked */

typedef struct pointer_walk {
    const char *at;             /* the next token's '/', or the end */
    chordal__segment *segments; /* room for all */
    size_t count;
    uint8_t *keys; /* room for all decoded tokens */
    bool moves;    /* it names the end of an array */
} pointer_walk;

/* The token behind a '/', which is decoded into `keys` when it has a '~'; *end is moved behind it. Its length, or -1
 * for a '~' that escapes nothing. */
static int64_t take_token(pointer_walk *pointer, const uint8_t **token, const char **end) {
    const char *at = pointer->at + 1;
    while (*at != '\0' && *at != '/' && *at != '~') at++;
    *token = (const uint8_t *)pointer->at + 1;
    *end = at;
    if (*at != '~') return at - (pointer->at + 1);
    uint8_t *out = pointer->keys;
    *token = out;
    for (at = pointer->at + 1; *at != '\0' && *at != '/'; at++) {
        if (*at != '~') {
            *out++ = (uint8_t)*at;
            continue;
        }
        at++;
        if (*at != '0' && *at != '1') return -1;
        *out++ = *at == '0' ? '~' : '/';
    }
    *end = at;
    pointer->keys = out;
    return out - *token;
}

/* "-" is one past the end. Leading zeros are not an index. */
static bool index_of(const uint8_t *token, size_t len, uint64_t end, uint64_t *out) {
    if (len == 1 && token[0] == '-') return *out = end, true;
    if (len == 0 || len > 18 || (len > 1 && token[0] == '0')) return false;
    uint64_t index = 0;
    for (size_t i = 0; i < len; i++) {
        if (token[i] < '0' || token[i] > '9') return false;
        index = index * 10 + (uint64_t)(token[i] - '0');
    }
    *out = index;
    return true;
}

static bool segment_of(const chordal__node *container, const uint8_t *token, size_t len, chordal__segment *out) {
    int kind = chordal__node_kind(container);
    *out = (chordal__segment){.is_key = kind == CHORDAL_KIND_OBJECT};
    if (kind == CHORDAL_KIND_ARRAY) return index_of(token, len, chordal__node_length(container), &out->index);
    out->key = token;
    out->key_len = (uint32_t)len;
    return out->is_key;
}

static bool is_end(const chordal__segment *segment, const uint8_t *token, size_t len) {
    return !segment->is_key && len == 1 && token[0] == '-';
}

static int read_tokens(pointer_walk *pointer, const chordal__node *root) {
    const chordal__node *node = root;
    while (*pointer->at != '\0') {
        const char *end = pointer->at;
        const uint8_t *token = NULL;
        int64_t len = *end == '/' ? take_token(pointer, &token, &end) : -1;
        chordal__segment *segment = &pointer->segments[pointer->count];
        if (len < 0 || !node || !segment_of(node, token, (size_t)len, segment)) return CHORDAL_E_PATH;
        pointer->moves |= is_end(segment, token, (size_t)len);
        pointer->count++;
        pointer->at = end;
        node = segment->is_key ? chordal__node_get(node, segment->key, segment->key_len)
                               : chordal__node_at(node, segment->index);
    }
    return 0;
}

static int path_of(chordal__memory *memory, uint32_t member, const char *text, size_t len, const chordal__node *root,
                   chordal__path **out, bool *out_moves, chordal_error *error) {
    chordal__segment few[FEW_SEGMENTS], *segments = few;
    size_t slashes = 0, escapes = 0, fault = 0;
    if (len >= UINT32_MAX || !chordal__utf_valid((const uint8_t *)text, len, &fault)) {
        return chordal__fail(error, CHORDAL_E_PATH, fault, "not UTF-8");
    }
    for (size_t i = 0; i < len; i++) slashes += text[i] == '/', escapes += text[i] == '~';
    size_t head = (slashes + 1) * sizeof(chordal__segment), size = escapes || slashes >= FEW_SEGMENTS ? head + len : 0;
    if (size) segments = chordal__allocate(memory, size);
    if (!segments) return chordal__fail(error, CHORDAL_E_NOMEM, 0, NULL);
    segments[0] = (chordal__segment){.index = member};
    pointer_walk pointer = {.at = text, .segments = segments, .count = 1, .keys = (uint8_t *)segments + head};
    int code = read_tokens(&pointer, root);
    if (code == 0) {
        *out = chordal__path_new(memory, segments, pointer.count);
        if (!*out) code = CHORDAL_E_NOMEM;
    }
    *out_moves = pointer.moves;
    if (size) chordal__release(memory, segments, size);
    return code == 0 ? 0 : chordal__fail(error, code, (uint64_t)(pointer.at - text), NULL);
}

int chordal__path_from_pointer(chordal__memory *memory, uint32_t member, const char *text, const chordal__node *root,
                               chordal__path **out, chordal_error *error) {
    bool moves;
    return path_of(memory, member, text, strlen(text), root, out, &moves, error);
}

/* ---- those that were read last ---- */

void chordal__pointers_init(chordal__pointers *pointers, chordal__memory *memory) {
    *pointers = (chordal__pointers){.memory = memory};
}

void chordal__pointers_dispose(chordal__pointers *pointers) {
    for (size_t i = 0; i < sizeof pointers->kept / sizeof *pointers->kept; i++)
        chordal__path_unref(pointers->memory, pointers->kept[i].path);
    chordal__pointers_init(pointers, pointers->memory);
}

static uint64_t eight_at(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* By its length, its middle and its end, where pointers differ. */
static size_t place_of(uint32_t member, const char *text, size_t len) {
    uint64_t word = len < 8 ? chordal__fnv(CHORDAL__FNV_START, text, len)
                            : eight_at(text + len - 8) * 31 ^ eight_at(text + (len - 8) / 2);
    return (size_t)((word ^ len ^ member) * UINT64_C(0x9e3779b97f4a7c15) >> 61);
}
_Static_assert(CHORDAL__POINTERS == 1 << (64 - 61), "a place has so many bits");

static bool is_pointer(const chordal__pointer *kept, uint32_t member, const char *text, size_t len) {
    return kept->path && kept->len == len && kept->path->segments[0].index == member &&
           memcmp(kept->text, text, len) == 0;
}

chordal__path *chordal__pointers_known(const chordal__pointers *pointers, uint32_t member, const char *text) {
    size_t len = strlen(text);
    if (len > CHORDAL__POINTER_BYTES) return NULL;
    const chordal__pointer *kept = &pointers->kept[place_of(member, text, len)];
    return is_pointer(kept, member, text, len) ? kept->path : NULL;
}

static void keep(chordal__pointers *pointers, const char *text, size_t len, chordal__path *path) {
    if (CHORDAL__SMALL || len > CHORDAL__POINTER_BYTES) return;
    chordal__pointer *kept = &pointers->kept[place_of((uint32_t)path->segments[0].index, text, len)];
    chordal__path_unref(pointers->memory, kept->path);
    kept->path = chordal__path_ref(path);
    kept->len = (uint32_t)len;
    if (len) memcpy(kept->text, text, len);
}

static bool meets(const chordal__path *path, const chordal__node *root) {
    const chordal__node *node = root;
    for (uint32_t i = 1; i < path->count; i++) {
        const chordal__segment *segment = &path->segments[i];
        if (!node || chordal__node_kind(node) != (segment->is_key ? CHORDAL_KIND_OBJECT : CHORDAL_KIND_ARRAY))
            return false;
        node = segment->is_key ? chordal__node_get(node, segment->key, segment->key_len)
                               : chordal__node_at(node, segment->index);
    }
    return true;
}

int chordal__pointers_path(chordal__pointers *pointers, uint32_t member, const char *text, const chordal__node *root,
                           chordal__path **out, chordal_error *error) {
    chordal__path *known = CHORDAL__SMALL ? NULL : chordal__pointers_known(pointers, member, text);
    if (known && meets(known, root)) {
        *out = chordal__path_ref(known);
        return 0;
    }
    size_t len = strlen(text);
    bool moves;
    int code = path_of(pointers->memory, member, text, len, root, out, &moves, error);
    if (code == 0 && !moves) keep(pointers, text, len, *out);
    return code;
}
