/* inflate.c: a part that came deflated, within limits that hold while it is inflated. */
#include "wire/wire.h"

#define FIRST_ROOM 4096

static size_t most_of(size_t len, uint64_t limit) {
    uint64_t most = len < limit ? (uint64_t)len * CHORDAL__INFLATE_RATIO : limit;
    if (most > limit) most = limit;
    return most < PTRDIFF_MAX / 2 ? (size_t)most : PTRDIFF_MAX / 2;
}

/* One byte over the most is room enough to find out. */
bool chordal__inflate_room(chordal__buffer *out, size_t most) {
    void *data = out->data;
    size_t need = most - out->len < FIRST_ROOM ? most + 1 : out->len + FIRST_ROOM;
    int code = chordal__grow(out->memory, &data, 1, &out->capacity, need, most + 1);
    out->data = data;
    return code == 0;
}

static const char *words_of(int code) {
    switch (code) {
    case CHORDAL_E_TRUNCATED:
        return "a deflated part is cut off";
    case CHORDAL_E_TRAILING:
        return "data behind a deflated part";
    case CHORDAL_E_TOO_LARGE:
        return "a deflated part is over the limit when it is inflated";
    case CHORDAL_E_NOMEM:
        return "no memory to inflate a part";
    default:
        return "a part that cannot be inflated";
    }
}

int chordal__inflate(const uint8_t *data, size_t len, uint64_t limit, chordal__buffer *out, chordal_error *error) {
    size_t left = 0;
    int code = len > UINT32_MAX ? CHORDAL_E_TOO_LARGE : CHORDAL_E_TRUNCATED;
    if (len && len <= UINT32_MAX) code = chordal__inflate_some(data, len, most_of(len, limit), out, &left);
    if (code == 0) return 0;
    bool placed = code == CHORDAL_E_TRUNCATED || code == CHORDAL_E_TRAILING;
    return chordal__fail(error, code, placed ? len - left : 0, words_of(code));
}
