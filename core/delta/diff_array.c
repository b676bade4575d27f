/* diff_array.c: arrays: equal ends are left out, equal elements in between are found again where they went, and what
 * lies between those is compared element by element where it is alike, else spliced. */
#include "delta/inside.h"

#define LARGEST (UINT32_C(1) << 24) /* elements that are looked through; more of them are set as a whole */

typedef struct element_list {
    chordal__node **items;
    uint32_t count;
} element_list;

typedef struct array_pair {
    chordal__differ *differ;
    const chordal__node *before_array, *after_array;
    uint64_t offset; /* elements at the front that are the same */
    element_list before, after;
    uint32_t *match; /* for each of `after` the equal one of `before`, or UNMATCHED */
    uint32_t *spare; /* room for as many as both have, twice */
    size_t size;     /* of the block */
} array_pair;

/* ---- what is worth comparing inside ---- */

static bool shallow_equal(const chordal__node *a, const chordal__node *b) {
    return a == b || (chordal__node_kind(a) == chordal__node_kind(b) && chordal__node_kind(a) < CHORDAL_KIND_ARRAY &&
                      chordal__node_equal(a, b));
}

static bool alike_objects(const chordal__node *a, const chordal__node *b) {
    uint64_t same = 0, most = chordal__node_length(a);
    if (chordal__node_length(b) > most) most = chordal__node_length(b);
    const uint8_t *key = NULL;
    size_t len = 0;
    chordal__walk walk;
    chordal__walk_begin(&walk, a);
    for (chordal__node *member; (member = chordal__walk_next(&walk, &key, &len));) {
        const chordal__node *other = chordal__node_get(b, key, len);
        same += other && shallow_equal(member, other);
    }
    return same * 2 >= most;
}

static bool alike_arrays(const chordal__node *a, const chordal__node *b) {
    uint64_t same = 0, most = chordal__node_length(a);
    if (chordal__node_length(b) > most) most = chordal__node_length(b);
    chordal__walk of_a, of_b;
    chordal__walk_begin(&of_a, a);
    chordal__walk_begin(&of_b, b);
    for (;;) {
        const chordal__node *x = chordal__walk_next(&of_a, NULL, NULL), *y = chordal__walk_next(&of_b, NULL, NULL);
        if (!x || !y) return same * 2 >= most;
        same += shallow_equal(x, y);
    }
}

/* Whether half of the members are the same, looking no deeper. */
static bool alike(const chordal__node *a, const chordal__node *b) {
    int kind = chordal__node_kind(a);
    if (kind != chordal__node_kind(b)) return false;
    if (kind == CHORDAL_KIND_OBJECT) return alike_objects(a, b);
    return kind == CHORDAL_KIND_ARRAY && alike_arrays(a, b);
}

static bool both_containers(const chordal__node *a, const chordal__node *b) {
    int kind = chordal__node_kind(a);
    return kind >= CHORDAL_KIND_STRING && kind == chordal__node_kind(b);
}

/* ---- ops ---- */

static int emit_splice(const array_pair *arrays, uint64_t index, uint64_t remove, chordal__node *const *items,
                       uint32_t count) {
    chordal__op op = {.kind = CHORDAL_OP_SPLICE, .index = index, .remove = remove};
    if (remove == 0 && count == 0) return 0;
    if (count > 0) {
        op.value = chordal__node_array(arrays->differ->ops->memory, items, count);
        if (!op.value) return CHORDAL_E_NOMEM;
    }
    return chordal__differ_emit(arrays->differ, op);
}

static int compare_element(const array_pair *arrays, uint64_t index, const chordal__node *before,
                           const chordal__node *after) {
    if (before == after) return 0;
    int code = chordal__differ_enter(arrays->differ, (chordal__segment){.index = index});
    if (code != 0) return code;
    code = chordal__differ_compare(arrays->differ, before, after);
    arrays->differ->count--;
    return code;
}

/* Elements that changed wholly: one is compared (and set), several are spliced. */
static int emit_run(const array_pair *arrays, uint64_t index, uint32_t i, uint32_t j, uint32_t count) {
    if (count == 1) return compare_element(arrays, index, arrays->before.items[i], arrays->after.items[j]);
    return emit_splice(arrays, index, count, arrays->after.items + j, count);
}

/* As many elements on both sides, at `index` of the array as it is now. */
static int compare_pairs(const array_pair *arrays, uint64_t index, uint32_t i, uint32_t j, uint32_t count) {
    uint32_t run = 0;
    int code = 0;
    for (uint32_t k = 0; code == 0 && k < count; k++) {
        const chordal__node *before = arrays->before.items[i + k], *after = arrays->after.items[j + k];
        if (!both_containers(before, after)) {
            run++;
            continue;
        }
        if (run > 0) code = emit_run(arrays, index + k - run, i + k - run, j + k - run, run);
        run = 0;
        if (code == 0) code = compare_element(arrays, index + k, before, after);
    }
    if (code == 0 && run > 0) code = emit_run(arrays, index + count - run, i + count - run, j + count - run, run);
    return code;
}

/* The elements i… of before have become the elements j… of after. */
static int compare_gap(const array_pair *arrays, uint32_t i, uint32_t i_count, uint32_t j, uint32_t j_count) {
    chordal__node **before = arrays->before.items + i, **after = arrays->after.items + j;
    uint32_t least = i_count < j_count ? i_count : j_count, front = 0, back = 0;
    uint64_t index = arrays->offset + j;
    if (i_count == j_count) return compare_pairs(arrays, index, i, j, j_count);
    while (front < least && alike(before[front], after[front])) front++;
    while (front + back < least && alike(before[i_count - 1 - back], after[j_count - 1 - back])) back++;
    int code = compare_pairs(arrays, index, i, j, front);
    if (code == 0) {
        code = emit_splice(arrays, index + front, i_count - front - back, after + front, j_count - front - back);
    }
    if (code != 0) return code;
    return compare_pairs(arrays, index + (j_count - back), i + i_count - back, j + j_count - back, back);
}

static int compare_gaps(const array_pair *arrays) {
    uint32_t i = 0, j = 0;
    int code = 0;
    for (uint32_t k = 0; code == 0 && k < arrays->after.count; k++) {
        uint32_t at = arrays->match[k];
        if (at == CHORDAL__UNMATCHED) continue;
        code = compare_gap(arrays, i, at - i, j, k - j);
        i = at + 1;
        j = k + 1;
    }
    return code == 0 ? compare_gap(arrays, i, arrays->before.count - i, j, arrays->after.count - j) : code;
}

/* ---- elements that changed their order ---- */

/* Mark in `keep` a longest set of matches that are in order; how many matches are not in it. */
static uint32_t keep_longest(const array_pair *arrays, uint32_t *keep) {
    uint32_t count = arrays->after.count, *ends = arrays->spare, *previous = arrays->spare + count;
    uint32_t length = 0, matches = 0;
    const uint32_t *match = arrays->match;
    for (uint32_t j = 0; j < count; j++) {
        keep[j] = 0;
        if (match[j] == CHORDAL__UNMATCHED) continue;
        matches++;
        uint32_t low = 0, high = length;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (match[ends[middle]] < match[j]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        previous[j] = low > 0 ? ends[low - 1] : CHORDAL__UNMATCHED;
        ends[low] = j;
        if (low == length) length++;
    }
    for (uint32_t j = length > 0 ? ends[length - 1] : CHORDAL__UNMATCHED; j != CHORDAL__UNMATCHED; j = previous[j]) {
        keep[j] = 1;
    }
    return matches - length;
}

/* Whether one permute is lighter than taking the moved elements out and putting them in again. */
static bool permute_is_lighter(const array_pair *arrays, const uint32_t *keep, uint32_t moved) {
    uint64_t length = chordal__node_length(arrays->before_array), path = arrays->differ->count * 4;
    if (length >= UINT32_MAX) return false;
    uint64_t permute = path + length * (length < 128 ? 1 : 2), splices = moved * (path * 2 + 8);
    for (uint32_t j = 0; j < arrays->after.count && splices <= permute; j++) {
        if (arrays->match[j] == CHORDAL__UNMATCHED || keep[j]) continue;
        splices += chordal__node_weigh(arrays->after.items[j], permute - splices);
    }
    return splices > permute;
}

/* The order in which `before` has its elements where `after` has them; what is new there takes what is gone. */
static void order_like_after(const array_pair *arrays, uint32_t *order, uint32_t *taken) {
    uint32_t count = arrays->before.count, gone = 0, done = 0;
    memset(taken, 0, count * sizeof *taken);
    for (uint32_t j = 0; j < arrays->after.count; j++) {
        if (arrays->match[j] != CHORDAL__UNMATCHED) taken[arrays->match[j]] = 1;
    }
    for (uint32_t j = 0; j < arrays->after.count; j++) {
        if (arrays->match[j] != CHORDAL__UNMATCHED) {
            order[done] = arrays->match[j];
            arrays->match[j] = done++;
            continue;
        }
        while (gone < count && taken[gone]) gone++;
        if (gone < count) order[done++] = gone++;
    }
    for (; gone < count; gone++) {
        if (!taken[gone]) order[done++] = gone;
    }
}

static int emit_permute(const array_pair *arrays, const uint32_t *order) {
    chordal__memory *memory = arrays->differ->ops->memory;
    uint32_t length = (uint32_t)chordal__node_length(arrays->before_array), offset = (uint32_t)arrays->offset;
    uint32_t *indexes = chordal__allocate(memory, length * sizeof *indexes);
    if (!indexes) return CHORDAL_E_NOMEM;
    for (uint32_t i = 0; i < length; i++) indexes[i] = i;
    for (uint32_t i = 0; i < arrays->before.count; i++) indexes[offset + i] = offset + order[i];
    return chordal__differ_emit(arrays->differ,
                                (chordal__op){.kind = CHORDAL_OP_PERMUTE, .indexes = indexes, .indexes_len = length});
}

static int permute(array_pair *arrays) {
    uint32_t *order = arrays->spare, *taken = arrays->spare + arrays->before.count;
    order_like_after(arrays, order, taken);
    int code = emit_permute(arrays, order);
    if (code != 0) return code;
    chordal__node **items = arrays->before.items, **old = items + arrays->before.count + arrays->after.count;
    memcpy(old, items, arrays->before.count * sizeof *items);
    for (uint32_t i = 0; i < arrays->before.count; i++) items[i] = old[order[i]];
    return 0;
}

/* Make the matches rise: by a permute, or by letting go of those that moved. */
static int straighten(array_pair *arrays) {
    uint32_t *keep = arrays->spare + 2 * (size_t)(arrays->before.count + arrays->after.count);
    uint32_t moved = keep_longest(arrays, keep);
    if (moved == 0) return 0;
    if (permute_is_lighter(arrays, keep, moved)) return permute(arrays);
    for (uint32_t j = 0; j < arrays->after.count; j++) {
        if (!keep[j]) arrays->match[j] = CHORDAL__UNMATCHED;
    }
    return 0;
}

/* ---- ends ---- */

/* Compare from the place of both walks on, at most so many elements. */
static uint64_t equal_run(chordal__walk *before, chordal__walk *after, uint64_t most) {
    for (uint64_t count = 0; count < most; count++) {
        const chordal__node *a = chordal__walk_next(before, NULL, NULL), *b = chordal__walk_next(after, NULL, NULL);
        if (!a || !b || !chordal__node_equal(a, b)) return count;
    }
    return most;
}

static uint64_t equal_front(const chordal__node *before, const chordal__node *after) {
    chordal__walk of_before, of_after;
    chordal__walk_begin(&of_before, before);
    chordal__walk_begin(&of_after, after);
    for (uint64_t count = 0;;) {
        uint64_t shared = chordal__node_shared(before, after, count);
        chordal__walk_skip(&of_before, shared);
        chordal__walk_skip(&of_after, shared);
        count += shared;
        uint64_t run = shared > 0 ? 0 : equal_run(&of_before, &of_after, CHORDAL__DIFFER_STRIDE);
        count += run;
        if (shared == 0 && run < CHORDAL__DIFFER_STRIDE) return count;
    }
}

static uint64_t equal_back(const chordal__node *before, const chordal__node *after, uint64_t most) {
    uint64_t a = chordal__node_length(before), b = chordal__node_length(after), count = 0;
    while (count < most) {
        uint64_t shared = chordal__node_shared_before(before, a - count, after, b - count);
        count += shared;
        if (shared > 0) continue;
        if (!chordal__node_equal(chordal__node_at(before, a - 1 - count), chordal__node_at(after, b - 1 - count)))
            break;
        count++;
    }
    return count < most ? count : most;
}

static void load(element_list *list, const chordal__node *array, uint64_t from) {
    chordal__walk walk;
    chordal__walk_begin(&walk, array);
    chordal__walk_skip(&walk, from);
    for (uint32_t i = 0; i < list->count; i++) list->items[i] = chordal__walk_next(&walk, NULL, NULL);
}

/* One block: the items of both, room for the old order of `before`, and then the numbers. */
static int prepare(array_pair *arrays) {
    size_t before = arrays->before.count, after = arrays->after.count, both = before + after;
    arrays->size = (both + before) * sizeof(chordal__node *) + (2 * both + 2 * after) * sizeof(uint32_t);
    chordal__node **items = chordal__allocate(arrays->differ->ops->memory, arrays->size);
    if (!items) return CHORDAL_E_NOMEM;
    arrays->before.items = items;
    arrays->after.items = items + before;
    arrays->spare = (uint32_t *)(void *)(items + both + before);
    arrays->match = arrays->spare + 2 * both + after;
    load(&arrays->before, arrays->before_array, arrays->offset);
    load(&arrays->after, arrays->after_array, arrays->offset);
    return 0;
}

static int compare_middle(array_pair *arrays) {
    chordal__memory *memory = arrays->differ->ops->memory;
    int code = prepare(arrays);
    if (code != 0) return code;
    if (arrays->before.count == 0 || arrays->after.count == 0) {
        code = emit_splice(arrays, arrays->offset, arrays->before.count, arrays->after.items, arrays->after.count);
    } else {
        code = chordal__match(memory, arrays->before.items, arrays->before.count, arrays->after.items,
                              arrays->after.count, arrays->match);
        if (code == 0) code = straighten(arrays);
        if (code == 0) code = compare_gaps(arrays);
    }
    chordal__release(memory, arrays->before.items, arrays->size);
    return code;
}

int chordal__differ_array(chordal__differ *differ, const chordal__node *before, const chordal__node *after) {
    uint64_t a = chordal__node_length(before), b = chordal__node_length(after);
    uint64_t front = equal_front(before, after), least = a < b ? a : b;
    uint64_t back = equal_back(before, after, least - front);
    uint64_t a_count = a - front - back, b_count = b - front - back;
    if (a_count == 0 && b_count == 0) return 0;
    array_pair arrays = {.differ = differ, .before_array = before, .after_array = after, .offset = front};
    if (a_count == 1 && b_count == 1) {
        return compare_element(&arrays, front, chordal__node_at(before, front), chordal__node_at(after, front));
    }
    if (a_count > LARGEST || b_count > LARGEST) return chordal__differ_set(differ, after);
    arrays.before.count = (uint32_t)a_count;
    arrays.after.count = (uint32_t)b_count;
    return compare_middle(&arrays);
}
