/* diff_object.c: objects, key by key. Both are walked side by side, for as long as their keys come in one order; what
 * both hold by the same memory is stepped over. */
#include "delta/inside.h"

typedef struct object_side {
    const chordal__node *object;
    chordal__walk walk;
    uint64_t end;         /* what lies behind is the same in both */
    chordal__node *value; /* the member at hand; NULL: none, or the end */
    const uint8_t *key;
    size_t key_len;
} object_side;

static void begin(object_side *side, const chordal__node *object) {
    *side = (object_side){.object = object, .end = chordal__node_length(object)};
    chordal__walk_begin(&side->walk, object);
}

static void take_next(object_side *side) {
    if (side->value || side->walk.index >= side->end) return;
    side->value = chordal__walk_next(&side->walk, &side->key, &side->key_len);
}

static bool has_key(const chordal__node *object, const object_side *side) {
    return chordal__node_get(object, side->key, side->key_len) != NULL;
}

static bool same_key(const object_side *a, const object_side *b) {
    if (!a->value || !b->value || a->key_len != b->key_len) return false;
    return a->key == b->key || memcmp(a->key, b->key, a->key_len) == 0;
}

/* One of the two may be NULL: there was none, or is none. */
static int compare_member(chordal__differ *differ, const object_side *key, const chordal__node *before,
                          const chordal__node *after) {
    if (before == after) return 0;
    int code = chordal__differ_enter(
        differ, (chordal__segment){.is_key = true, .key_len = (uint32_t)key->key_len, .key = key->key});
    if (code != 0) return code;
    if (!after) {
        code = chordal__differ_emit(differ, (chordal__op){.kind = CHORDAL_OP_DELETE});
    } else {
        code = before ? chordal__differ_compare(differ, before, after) : chordal__differ_set(differ, after);
    }
    differ->count--;
    return code;
}

/* The rest, in any order. */
static int compare_rest(chordal__differ *differ, object_side *before, object_side *after) {
    int code = 0;
    for (take_next(after); code == 0 && after->value; take_next(after)) {
        code =
            compare_member(differ, after, chordal__node_get(before->object, after->key, after->key_len), after->value);
        after->value = NULL;
    }
    for (take_next(before); code == 0 && before->value; take_next(before)) {
        if (!has_key(after->object, before)) code = compare_member(differ, before, before->value, NULL);
        before->value = NULL;
    }
    return code;
}

static void skip_shared(object_side *before, object_side *after, uint64_t *again) {
    if (before->value || after->value || before->walk.index != after->walk.index) return;
    while (before->walk.index >= *again) {
        uint64_t shared = chordal__node_shared(before->object, after->object, before->walk.index);
        chordal__walk_skip(&before->walk, shared);
        chordal__walk_skip(&after->walk, shared);
        *again = before->walk.index + (shared > 0 ? 0 : CHORDAL__DIFFER_STRIDE);
    }
}

static void set_end(object_side *side, uint64_t end) {
    side->end = end;
    if (side->walk.index > end) side->value = NULL;
}

/* Leave out what both hold by the same memory at the end. */
static void trim_back(object_side *before, object_side *after) {
    uint64_t a = before->end, b = after->end, shared;
    while ((shared = chordal__node_shared_before(before->object, a, after->object, b)) > 0) a -= shared, b -= shared;
    set_end(before, a);
    set_end(after, b);
}

static int compare_next(chordal__differ *differ, object_side *a, object_side *b) {
    int code = 0;
    if (same_key(a, b)) {
        code = compare_member(differ, a, a->value, b->value);
        a->value = b->value = NULL;
    } else if (a->value && !has_key(b->object, a)) {
        code = compare_member(differ, a, a->value, NULL);
        a->value = NULL;
    } else if (b->value && !has_key(a->object, b)) {
        code = compare_member(differ, b, NULL, b->value);
        b->value = NULL;
    } else {
        code = compare_rest(differ, a, b);
    }
    return code;
}

int chordal__differ_object(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    object_side a, b;
    begin(&a, before);
    begin(&b, after);
    uint64_t again = 0;
    bool trimmed = false;
    int code = 0;
    while (code == 0) {
        skip_shared(&a, &b, &again);
        take_next(&a);
        take_next(&b);
        if (!trimmed && !same_key(&a, &b)) {
            trim_back(&a, &b);
            trimmed = true;
        }
        if (!a.value && !b.value) break;
        code = compare_next(differ, &a, &b);
    }
    return code;
}
