/* object.c: objects: one group of up to FLAT_MAX values under a shape, beyond that two trees over the same entries:
 * one in the order of insertion, one in the order of the keys. Where both orders are the same they are one tree, until
 * the first change parts them. */
#include "value/node.h"

chordal__node *chordal__node_object(chordal__memory *memory) {
    chordal__group *group = chordal__group_new(memory, CHORDAL_KIND_OBJECT, CHORDAL__FLAT, 1);
    if (!group) return NULL;
    group->slots[0] = NULL;
    group->count = 1;
    return &group->head;
}

chordal__node *chordal__entry_new(chordal__memory *memory, const void *key, size_t len, uint64_t sequence) {
    if (len > UINT32_MAX) return NULL;
    chordal__entry *entry = chordal__allocate(memory, offsetof(chordal__entry, key) + len);
    if (!entry) return NULL;
    chordal__head_init(&entry->head, CHORDAL__KIND_ENTRY, CHORDAL__FLAT, 1);
    entry->sequence = sequence;
    entry->value = NULL;
    entry->key_len = (uint32_t)len;
    if (len) memcpy(entry->key, key, len);
    return (chordal__node *)entry;
}

/* ---- finding ---- */

static int compare_sequence(const void *wanted, const chordal__node *item) {
    uint64_t sequence = chordal__entry_of(item)->sequence, other = *(const uint64_t *)wanted;
    return (sequence > other) - (sequence < other);
}

static int compare_key(const void *wanted, const chordal__node *item) {
    const chordal__sort_key *key = wanted;
    const chordal__entry *entry = chordal__entry_of(item);
    return chordal__key_compare(entry->key, entry->key_len, key->data, key->len);
}

size_t chordal__object_rank(const chordal__node *object, const void *key, size_t len, bool *out_found) {
    chordal__sort_key wanted = {.data = key, .len = len};
    return chordal__tree_find(chordal__group_of(object)->slots[1], compare_key, &wanted, out_found);
}

static size_t find_sequence(const chordal__node *object, uint64_t sequence) {
    bool found;
    return chordal__tree_find(chordal__group_of(object)->slots[0], compare_sequence, &sequence, &found);
}

chordal__node *chordal__node_get(const chordal__node *object, const void *key, size_t key_len) {
    const chordal__group *group = chordal__group_of(object);
    if (!chordal__is_tree(object)) {
        uint32_t at = chordal__shape_find(group->slots[0], key, key_len);
        return at + 1 < group->count ? group->slots[at + 1] : NULL;
    }
    bool found;
    size_t at = chordal__object_rank(object, key, key_len, &found);
    return found ? chordal__entry_of(chordal__tree_at(group->slots[1], at))->value : NULL;
}

bool chordal__node_member(const chordal__node *object, uint64_t index, const uint8_t **out_key, size_t *out_key_len,
                          chordal__node **out) {
    if (index >= chordal__node_length(object)) return false;
    const chordal__group *group = chordal__group_of(object);
    if (!chordal__is_tree(object)) {
        chordal__key key = chordal__shape_key(group->slots[0], (size_t)index);
        *out_key = key.data;
        *out_key_len = key.len;
        *out = group->slots[index + 1];
    } else {
        chordal__entry *entry = chordal__entry_of(chordal__tree_at(group->slots[0], (size_t)index));
        *out_key = entry->key;
        *out_key_len = entry->key_len;
        *out = entry->value;
    }
    return true;
}

/* ---- flat ---- */

/* The new shape takes the place of the old in a group without other owners. */
static void set_shape(chordal__memory *memory, chordal__group *group, chordal__node *shape) {
    chordal__node_unref(memory, group->slots[0]);
    group->slots[0] = shape;
}

static chordal__node *shape_with(chordal__memory *memory, const chordal__node *shape, const void *key, size_t len) {
    chordal__key keys[CHORDAL__FLAT_MAX];
    uint32_t count = shape ? chordal__shape_of(shape)->count : 0;
    for (uint32_t i = 0; i < count; i++) keys[i] = chordal__shape_key(shape, i);
    keys[count] = (chordal__key){.data = key, .len = len};
    return chordal__shape_new(memory, keys, count + 1);
}

/* NULL in *out for the shape without keys. */
static bool shape_without(chordal__memory *memory, const chordal__node *shape, uint32_t place, chordal__node **out) {
    chordal__key keys[CHORDAL__FLAT_MAX];
    uint32_t count = 0;
    *out = NULL;
    for (uint32_t i = 0; i < chordal__shape_of(shape)->count; i++)
        if (i != place) keys[count++] = chordal__shape_key(shape, i);
    if (count == 0) return true;
    *out = chordal__shape_new(memory, keys, count);
    return *out != NULL;
}

/* A group to change with room for one more, or NULL; the old one is given back when it is not the same. */
static chordal__group *widen(chordal__memory *memory, chordal__node *object) {
    chordal__group *group = chordal__group_of(object);
    uint32_t count = group->count;
    if (object->references == 1) {
        if (count < group->capacity) return group;
        return chordal__group_resize(memory, group, count + 1 + (count < 8 ? 1 : count / 4));
    }
    chordal__group *copy = chordal__group_copy(memory, group, count + 1);
    if (copy) chordal__node_unref(memory, object);
    return copy;
}

static chordal__node *add_flat(chordal__memory *memory, chordal__node *object, const void *key, size_t len,
                               chordal__node *value, chordal__node **still) {
    chordal__node *shape = shape_with(memory, chordal__group_of(object)->slots[0], key, len);
    chordal__group *group = shape ? widen(memory, object) : NULL;
    if (!group) {
        chordal__node_unref(memory, shape);
        *still = object;
        return NULL;
    }
    set_shape(memory, group, shape);
    group->slots[group->count++] = chordal__node_ref(value);
    chordal__deepen(&group->head, value);
    return (chordal__node *)group;
}

static bool remove_flat(chordal__memory *memory, chordal__node *object, uint32_t place) {
    chordal__group *group = chordal__group_of(object);
    chordal__node *shape, *gone = group->slots[place + 1];
    if (!shape_without(memory, group->slots[0], place, &shape)) return false;
    set_shape(memory, group, shape);
    group->count--;
    memmove(&group->slots[place + 1], &group->slots[place + 2], (group->count - place - 1) * sizeof gone);
    chordal__node_unref(memory, gone);
    return true;
}

/* ---- trees ---- */

chordal__node *chordal__object_of_entries(chordal__memory *memory, chordal__node *const *entries,
                                          chordal__node *const *sorted, size_t count) {
    chordal__node *node = chordal__tree_node(memory, CHORDAL_KIND_OBJECT);
    if (!node) return NULL;
    chordal__group *group = chordal__group_of(node);
    bool one = !CHORDAL__SMALL && memcmp(entries, sorted, count * sizeof *entries) == 0;
    for (; group->count < 2; group->count++) {
        chordal__node *root = group->count && one ? chordal__node_ref(group->slots[0])
                                                  : chordal__tree_new(memory, group->count ? sorted : entries, count);
        if (!root) {
            chordal__node_unref(memory, node);
            return NULL;
        }
        group->slots[group->count] = root;
    }
    for (size_t i = 0; i < count; i++) {
        chordal__entry_of(entries[i])->sequence = i;
        chordal__deepen(node, chordal__entry_of(entries[i])->value);
    }
    *chordal__totals_of(node) = (chordal__totals){count, count};
    return node;
}

static chordal__node *tree_of_flat(chordal__memory *memory, const chordal__node *object) {
    const chordal__group *group = chordal__group_of(object);
    const chordal__shape *shape = chordal__shape_of(group->slots[0]);
    chordal__node *entries[CHORDAL__FLAT_MAX], *sorted[CHORDAL__FLAT_MAX], *made = NULL;
    chordal__sort_key keys[CHORDAL__FLAT_MAX], spare[CHORDAL__FLAT_MAX];
    uint32_t count = 0;
    size_t again;
    for (; count < shape->count; count++) {
        chordal__key key = chordal__shape_key(group->slots[0], count);
        entries[count] = chordal__entry_new(memory, key.data, key.len, count);
        if (!entries[count]) break;
        chordal__entry_of(entries[count])->value = chordal__node_ref(group->slots[count + 1]);
        keys[count] = (chordal__sort_key){.data = key.data, .len = key.len, .index = count};
    }
    if (count == shape->count) {
        chordal__keys_sort(keys, spare, count, &again);
        for (uint32_t i = 0; i < count; i++) sorted[i] = entries[keys[i].index];
        made = chordal__object_of_entries(memory, entries, sorted, count);
    }
    while (count) chordal__node_unref(memory, entries[--count]);
    return made;
}

/* Put the entry in both trees: `remove` is 1 to take one out at these places instead. */
static bool splice_trees(chordal__memory *memory, chordal__node *object, size_t place, size_t rank, size_t remove,
                         chordal__node *entry) {
    chordal__group *group = chordal__group_of(object);
    chordal__tree_edit order, index;
    if (!chordal__tree_prepare(&order, memory, &group->slots[0], place, remove, &entry, !remove)) return false;
    if (!chordal__tree_prepare(&index, memory, &group->slots[1], rank, remove, &entry, !remove)) {
        chordal__tree_cancel(&order, memory);
        return false;
    }
    chordal__tree_commit(&order, memory);
    chordal__tree_commit(&index, memory);
    chordal__totals_of(object)->length += 1 - 2 * (uint64_t)remove;
    return true;
}

static bool add_entry(chordal__memory *memory, chordal__node *object, const void *key, size_t len, size_t rank,
                      chordal__node *value) {
    chordal__totals *totals = chordal__totals_of(object);
    chordal__node *entry = chordal__entry_new(memory, key, len, totals->other);
    if (!entry) return false;
    chordal__entry_of(entry)->value = chordal__node_ref(value);
    bool done = splice_trees(memory, object, (size_t)totals->length, rank, 0, entry);
    if (done) totals->other++;
    chordal__node_unref(memory, entry);
    return done;
}

/* Unless only this object's two trees have the entry, a copy takes its place in both. */
chordal__node **chordal__object_own(chordal__memory *memory, chordal__node *object, size_t rank) {
    chordal__group *group = chordal__group_of(object);
    uint64_t sequence = chordal__entry_of(chordal__tree_at(group->slots[1], rank))->sequence;
    chordal__node **index = chordal__tree_own(memory, &group->slots[1], rank);
    chordal__node **order = chordal__tree_own(memory, &group->slots[0], find_sequence(object, sequence));
    if (!index || !order) return NULL;
    chordal__entry *old = chordal__entry_of(*index);
    if (old->head.references == 2) return &old->value;
    chordal__node *made = chordal__entry_new(memory, old->key, old->key_len, sequence);
    if (!made) return NULL;
    chordal__entry_of(made)->value = chordal__node_ref(old->value);
    *index = made;
    *order = chordal__node_ref(made);
    chordal__node_unref(memory, (chordal__node *)old);
    chordal__node_unref(memory, (chordal__node *)old);
    return &chordal__entry_of(made)->value;
}

static void replace(chordal__memory *memory, chordal__node **slot, chordal__node *value) {
    chordal__node *old = *slot;
    *slot = chordal__node_ref(value);
    chordal__shape_share(memory, value, old);
    chordal__node_unref(memory, old);
}

static bool put_tree(chordal__memory *memory, chordal__node *object, const void *key, size_t len,
                     chordal__node *value) {
    bool found;
    size_t rank = chordal__object_rank(object, key, len, &found);
    chordal__node **slot = found ? chordal__object_own(memory, object, rank) : NULL;
    if (slot) replace(memory, slot, value);
    bool done = found ? slot != NULL : add_entry(memory, object, key, len, rank, value);
    if (done) chordal__deepen(object, value);
    return done;
}

static bool remove_tree(chordal__memory *memory, chordal__node *object, const void *key, size_t len) {
    bool found;
    size_t rank = chordal__object_rank(object, key, len, &found);
    const chordal__node *entry = chordal__tree_at(chordal__group_of(object)->slots[1], rank);
    size_t place = find_sequence(object, chordal__entry_of(entry)->sequence);
    return splice_trees(memory, object, place, rank, 1, NULL);
}

/* ---- changing ---- */

static bool put_flat(chordal__memory *memory, chordal__node *object, uint32_t place, chordal__node *value) {
    replace(memory, &chordal__group_of(object)->slots[place + 1], value);
    chordal__deepen(object, value);
    return true;
}

chordal__node *chordal__node_put(chordal__memory *memory, chordal__node *object, const void *key, size_t key_len,
                                 chordal__node *value, chordal__node **still) {
    bool flat = !chordal__is_tree(object);
    uint32_t place = 0, count = (uint32_t)chordal__node_length(object);
    if (flat) place = chordal__shape_find(chordal__group_of(object)->slots[0], key, key_len);
    if (flat && place == count && count < CHORDAL__FLAT_MAX)
        return add_flat(memory, object, key, key_len, value, still);
    bool widens = flat && place == count;
    chordal__node *work = widens ? tree_of_flat(memory, object) : chordal__edit_begin(memory, object);
    if (!work) {
        *still = object;
        return NULL;
    }
    bool done =
        !chordal__is_tree(work) ? put_flat(memory, work, place, value) : put_tree(memory, work, key, key_len, value);
    return chordal__edit_end(memory, object, work, done, still);
}

chordal__node *chordal__node_remove(chordal__memory *memory, chordal__node *object, const void *key, size_t key_len,
                                    chordal__node **still) {
    chordal__node *work = chordal__edit_begin(memory, object);
    if (!work) {
        *still = object;
        return NULL;
    }
    bool done;
    if (!chordal__is_tree(work))
        done = remove_flat(memory, work, chordal__shape_find(chordal__group_of(work)->slots[0], key, key_len));
    else
        done = remove_tree(memory, work, key, key_len);
    return chordal__edit_end(memory, object, work, done, still);
}
