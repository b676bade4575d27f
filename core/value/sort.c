/* sort.c: keys in the order of their bytes: n log n whatever they are, which is also how equal keys are found. */
#include "value/node.h"

int chordal__key_compare(const void *a, size_t a_len, const void *b, size_t b_len) {
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static uint64_t prefix_of(const chordal__sort_key *key) {
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++) prefix = prefix << 8 | (i < key->len ? key->data[i] : 0);
    return prefix;
}

static int compare(const chordal__sort_key *a, const chordal__sort_key *b) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    return chordal__key_compare(a->data, a->len, b->data, b->len);
}

static void merge(chordal__sort_key *out, const chordal__sort_key *a, size_t a_count, const chordal__sort_key *b,
                  size_t b_count) {
    while (a_count && b_count) {
        if (compare(b, a) < 0)
            *out++ = *b++, b_count--;
        else
            *out++ = *a++, a_count--;
    }
    if (a_count) memcpy(out, a, a_count * sizeof *a);
    if (b_count) memcpy(out, b, b_count * sizeof *b);
}

/* Merge neighbouring runs of `width`. */
static void merge_runs(chordal__sort_key *out, const chordal__sort_key *in, size_t count, size_t width) {
    for (size_t at = 0; at < count; at += 2 * width) {
        size_t left = count - at < width ? count - at : width;
        size_t right = count - at - left < width ? count - at - left : width;
        merge(out + at, in + at, left, in + at + left, right);
    }
}

static bool is_sorted(const chordal__sort_key *keys, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (compare(&keys[i - 1], &keys[i]) > 0) return false;
    return true;
}

bool chordal__keys_sort(chordal__sort_key *keys, chordal__sort_key *spare, size_t count, size_t *out_again) {
    for (size_t i = 0; i < count; i++) keys[i].prefix = prefix_of(&keys[i]);
    for (size_t width = 1; width < count && !is_sorted(keys, count); width *= 4) {
        merge_runs(spare, keys, count, width);
        merge_runs(keys, spare, count, 2 * width);
    }
    bool distinct = true;
    for (size_t i = 1; i < count; i++) {
        if (compare(&keys[i - 1], &keys[i]) != 0) continue;
        if (distinct || keys[i].index < *out_again) *out_again = keys[i].index;
        distinct = false;
    }
    return distinct;
}
