/* build.c: a sink that makes nodes from the events of a reader.
 *
 * Values wait on one stack until their container closes. The keys of an object are first compared with the shape of
 * the last object that closed at the same depth: while they agree, nothing is hashed, kept or checked for doubles.
 * Otherwise its keys are listed, each shared through a small table that may forget (it is a cache: long searches in it
 * cannot be provoked). Beyond FLAT_MAX members the values are entries of their own. */
#include "value/node.h"

enum { ARRAY, SHAPED, LISTED, ENTRIES };

typedef struct frame {
    size_t start;         /* on the stack of values */
    size_t first_key;     /* on the list of keys */
    chordal__node *shape; /* owned, may be NULL: expected, in the end that of the object */
    uint32_t count;       /* SHAPED: keys that agreed */
    uint8_t mode;
} frame;

typedef struct listed_key {
    chordal__node *key;
    uint64_t position;
} listed_key;

#define SHAPES 64 /* by depth, and again by keys */
#define KEYS 1024
#define PROBES 4

typedef struct known_key {
    uint32_t hash;
    chordal__node *key;
} known_key;

typedef struct builder {
    chordal__sink sink;
    chordal__node **values;
    frame *frames;
    listed_key *keys;
    known_key *known;
    size_t value_count, value_capacity, frame_count, frame_capacity, key_count, key_capacity, known_capacity;
    size_t known_count;
    chordal__node *by_depth[SHAPES], *by_keys[SHAPES];
} builder;

static builder *builder_of(chordal__sink *sink) {
    return (builder *)(void *)sink;
}

/* ---- values ---- */

static int grow_values(builder *build, chordal__node *node) {
    void *items = build->values;
    if (chordal__grow(build->sink.memory, &items, sizeof *build->values, &build->value_capacity, build->value_count + 1,
                      SIZE_MAX / 16)) {
        chordal__node_unref(build->sink.memory, node);
        return CHORDAL_E_NOMEM;
    }
    build->values = items;
    build->values[build->value_count++] = node;
    return 0;
}

static int push(builder *build, chordal__node *node) {
    if (!node) return CHORDAL_E_NOMEM;
    if (build->value_count == build->value_capacity) return grow_values(build, node);
    build->values[build->value_count++] = node;
    return 0;
}

static int put_value(builder *build, chordal__node *node) {
    const frame *top = build->frame_count ? &build->frames[build->frame_count - 1] : NULL;
    if (!node || !top || top->mode != ENTRIES) return push(build, node);
    chordal__entry_of(build->values[build->value_count - 1])->value = node;
    return 0;
}

static int put_string(chordal__sink *sink, const uint8_t *utf8, size_t len, bool ascii) {
    size_t units = ascii ? len : (size_t)chordal__utf_units(utf8, len);
    return put_value(builder_of(sink), chordal__string_new(sink->memory, utf8, len, units));
}

static int put_number(chordal__sink *sink, const chordal__number *number) {
    return put_value(builder_of(sink), chordal__node_number(sink->memory, number));
}

static int put_constant(chordal__sink *sink, unsigned kind) {
    return put_value(builder_of(sink), chordal__constant(kind));
}

static int open_container(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    builder *build = builder_of(sink);
    void *items = build->frames;
    if (chordal__grow(sink->memory, &items, sizeof *build->frames, &build->frame_capacity, build->frame_count + 1,
                      CHORDAL__DEPTH_MAX))
        return CHORDAL_E_NOMEM;
    build->frames = items;
    frame *top = &build->frames[build->frame_count];
    *top = (frame){.start = build->value_count, .first_key = build->key_count, .mode = object ? SHAPED : ARRAY};
    if (object) top->shape = chordal__node_ref(build->by_depth[build->frame_count % SHAPES]);
    build->frame_count++;
    return 0;
}

/* ---- keys ---- */

static int grow_known(builder *build) {
    size_t capacity = build->known_capacity ? build->known_capacity * 4 : 64;
    known_key *table = chordal__allocate_zero(build->sink.memory, capacity * sizeof *table);
    if (!table) return CHORDAL_E_NOMEM;
    for (size_t i = 0; i < build->known_capacity; i++) {
        known_key *old = &build->known[i];
        size_t at = old->hash & (capacity - 1), tries = 0;
        while (old->key && table[at].key && tries++ < PROBES) at = (at + 1) & (capacity - 1);
        if (!old->key) continue;
        chordal__node_unref(build->sink.memory, table[at].key);
        table[at] = *old;
    }
    chordal__release(build->sink.memory, build->known, build->known_capacity * sizeof *table);
    build->known = table;
    build->known_capacity = capacity;
    return 0;
}

/* A key, shared with one of the same text that was met before if the table still has it. */
static chordal__node *know_key(builder *build, const uint8_t *utf8, size_t len) {
    if (build->known_count * 2 >= build->known_capacity && build->known_capacity < KEYS && grow_known(build))
        return NULL;
    uint32_t hash = chordal__key_hash(utf8, len);
    size_t mask = build->known_capacity - 1, at = hash & mask;
    for (size_t tries = 0; tries < PROBES && build->known[at].key; tries++, at = (at + 1) & mask) {
        const known_key *known = &build->known[at];
        if (known->hash == hash && chordal__key_is(known->key, utf8, len)) return chordal__node_ref(known->key);
    }
    chordal__node *key = chordal__key_new(build->sink.memory, utf8, len);
    if (!key) return NULL;
    if (!build->known[at].key) build->known_count++;
    chordal__node_unref(build->sink.memory, build->known[at].key);
    build->known[at] = (known_key){hash, chordal__node_ref(key)};
    return key;
}

static int list_key(builder *build, chordal__node *key, uint64_t position) {
    void *items = build->keys;
    if (!key || chordal__grow(build->sink.memory, &items, sizeof *build->keys, &build->key_capacity,
                              build->key_count + 1, SIZE_MAX / 32)) {
        chordal__node_unref(build->sink.memory, key);
        return CHORDAL_E_NOMEM;
    }
    build->keys = items;
    build->keys[build->key_count++] = (listed_key){key, position};
    return 0;
}

static int list_shape(builder *build, frame *top) {
    top->mode = LISTED;
    for (uint32_t i = 0; i < top->count; i++) {
        int code = list_key(build, chordal__node_ref(chordal__group_of(top->shape)->slots[i]), 0);
        if (code) return code;
    }
    return 0;
}

/* The values of the object become entries. What was done stays valid when memory ends: a value is in its entry or on
 * the stack, the rest is dropped with the list. */
static int list_entries(builder *build, frame *top) {
    for (size_t i = top->start; i < build->value_count; i++) {
        const listed_key *listed = &build->keys[top->first_key + (i - top->start)];
        const chordal__key *key = chordal__key_of(listed->key);
        chordal__node *entry = chordal__entry_new(build->sink.memory, key->data, key->len, listed->position);
        if (!entry) return CHORDAL_E_NOMEM;
        chordal__entry_of(entry)->value = build->values[i];
        build->values[i] = entry;
    }
    while (build->key_count > top->first_key)
        chordal__node_unref(build->sink.memory, build->keys[--build->key_count].key);
    return 0;
}

/* An entry's sequence is the position of its key until the object closes. */
static int put_entry(builder *build, const uint8_t *utf8, size_t len, uint64_t position) {
    return push(build, chordal__entry_new(build->sink.memory, utf8, len, position));
}

static bool agrees(const frame *top, const uint8_t *utf8, size_t len) {
    const chordal__group *shape = chordal__group_of(top->shape);
    return shape && top->count < shape->count && chordal__key_is(shape->slots[top->count], utf8, len);
}

static int put_key(chordal__sink *sink, const uint8_t *utf8, size_t len, uint64_t position) {
    builder *build = builder_of(sink);
    frame *top = &build->frames[build->frame_count - 1];
    if (top->mode == SHAPED) {
        if (agrees(top, utf8, len)) {
            top->count++;
            return 0;
        }
        int code = list_shape(build, top);
        if (code) return code;
    }
    if (top->mode == LISTED) {
        if (build->value_count - top->start < CHORDAL__FLAT_MAX)
            return list_key(build, know_key(build, utf8, len), position);
        int code = list_entries(build, top);
        if (code) return code;
        top->mode = ENTRIES;
    }
    return put_entry(build, utf8, len, position);
}

/* ---- closing ---- */

/* The values above `start` are taken by a new flat container; NULL: no memory. */
static chordal__node *take_flat(builder *build, size_t start, unsigned kind, unsigned first) {
    uint32_t count = (uint32_t)(build->value_count - start);
    chordal__group *group = chordal__group_new(build->sink.memory, kind, CHORDAL__FLAT, count + first);
    if (!group) return NULL;
    chordal__node **from = count ? build->values + start : NULL; /* before the first value there is no array */
    for (uint32_t i = 0; i < count; i++) {
        group->slots[first + i] = from[i];
        chordal__deepen(&group->head, from[i]);
    }
    group->count = count + first;
    build->value_count = start;
    return (chordal__node *)group;
}

static void drop_values(builder *build, size_t start) {
    while (build->value_count > start) chordal__node_unref(build->sink.memory, build->values[--build->value_count]);
}

static chordal__node *close_array(builder *build, const frame *top) {
    size_t count = build->value_count - top->start;
    if (count <= CHORDAL__FLAT_MAX) return take_flat(build, top->start, CHORDAL_KIND_ARRAY, 0);
    chordal__node *node = chordal__node_array(build->sink.memory, build->values + top->start, count);
    if (node) drop_values(build, top->start);
    return node;
}

static chordal__node *close_shaped(builder *build, frame *top) {
    chordal__node *node = take_flat(build, top->start, CHORDAL_KIND_OBJECT, 1);
    if (!node) return NULL;
    chordal__group_of(node)->slots[0] = top->shape;
    top->shape = NULL;
    return node;
}

/* ---- shapes ---- */

static bool has_keys(const chordal__node *shape, const listed_key *keys, size_t count) {
    const chordal__group *group = chordal__group_of(shape);
    if (!shape || group->count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (group->slots[i] != keys[i].key) return false;
    return true;
}

static void keep_shape(builder *build, chordal__node **slot, chordal__node *shape) {
    if (*slot == shape) return;
    chordal__node *old = *slot;
    *slot = chordal__node_ref(shape);
    chordal__node_unref(build->sink.memory, old);
}

static int make_shape(builder *build, const listed_key *keys, size_t count, chordal__node **out) {
    chordal__node *row[CHORDAL__FLAT_MAX];
    for (size_t i = 0; i < count; i++) row[i] = keys[i].key;
    *out = chordal__shape_new(build->sink.memory, row, count);
    if (!*out) return CHORDAL_E_NOMEM;
    uint32_t again = chordal__shape_duplicate(*out);
    if (again == count) return 0;
    build->sink.position = keys[again].position;
    chordal__node_unref(build->sink.memory, *out);
    return CHORDAL_E_DUPLICATE_KEY;
}

/* The shape of the listed keys, remembered for the objects to come. */
static int find_shape(builder *build, frame *top) {
    const listed_key *keys = build->keys + top->first_key;
    size_t count = build->key_count - top->first_key;
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) hash = (hash ^ (uintptr_t)keys[i].key >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    chordal__node **slot = &build->by_keys[hash >> 58], *shape = *slot;
    if (!has_keys(shape, keys, count)) {
        int code = make_shape(build, keys, count, &shape);
        if (code) return code;
        keep_shape(build, slot, shape);
        chordal__node_unref(build->sink.memory, shape);
    }
    keep_shape(build, &top->shape, shape);
    keep_shape(build, &build->by_depth[(build->frame_count - 1) % SHAPES], shape);
    while (build->key_count > top->first_key)
        chordal__node_unref(build->sink.memory, build->keys[--build->key_count].key);
    return 0;
}

/* ---- large objects ---- */

/* The entries in the order of their keys; DUPLICATE_KEY. */
static int sort_entries(builder *build, chordal__node *const *entries, size_t count, chordal__node **sorted,
                        chordal__sort_key *keys) {
    size_t again;
    for (size_t i = 0; i < count; i++) {
        const chordal__entry *entry = chordal__entry_of(entries[i]);
        keys[i] = (chordal__sort_key){.data = entry->key, .len = entry->key_len, .index = i};
    }
    if (!chordal__keys_sort(keys, keys + count, count, &again)) {
        build->sink.position = chordal__entry_of(entries[again])->sequence;
        return CHORDAL_E_DUPLICATE_KEY;
    }
    for (size_t i = 0; i < count; i++) sorted[i] = entries[keys[i].index];
    return 0;
}

static int close_entries(builder *build, const frame *top, chordal__node **out) {
    chordal__memory *memory = build->sink.memory;
    chordal__node *const *entries = build->values + top->start;
    size_t count = build->value_count - top->start;
    size_t size = count * (2 * sizeof(chordal__sort_key) + sizeof(chordal__node *));
    chordal__sort_key *keys = chordal__allocate(memory, size);
    if (!keys) return CHORDAL_E_NOMEM;
    chordal__node **sorted = (chordal__node **)(void *)(keys + 2 * count);
    int code = sort_entries(build, entries, count, sorted, keys);
    if (!code) *out = chordal__object_of_entries(memory, entries, sorted, count);
    chordal__release(memory, keys, size);
    if (!code && *out) drop_values(build, top->start);
    return code;
}

static int close_object(builder *build, frame *top, chordal__node **out) {
    if (top->mode == ENTRIES) return close_entries(build, top, out);
    int code = 0;
    if (top->mode == SHAPED && top->shape && top->count < chordal__group_of(top->shape)->count)
        code = list_shape(build, top);
    if (!code && top->mode == LISTED && build->key_count > top->first_key)
        code = find_shape(build, top);
    else if (!code && top->mode == LISTED)
        keep_shape(build, &top->shape, NULL);
    if (!code) *out = close_shaped(build, top);
    return code;
}

static int close_container(chordal__sink *sink) {
    builder *build = builder_of(sink);
    frame *top = &build->frames[build->frame_count - 1];
    chordal__node *node = NULL;
    int code = 0;
    if (top->mode == ARRAY)
        node = close_array(build, top);
    else
        code = close_object(build, top, &node);
    if (code) return code;
    if (!node) return CHORDAL_E_NOMEM;
    chordal__node_unref(sink->memory, top->shape);
    build->frame_count--;
    return put_value(build, node);
}

/* ---- a build ---- */

static const chordal__sink_calls calls = {open_container, close_container, put_key,
                                          put_string,     put_number,      put_constant};

static void dispose(builder *build) {
    chordal__memory *memory = build->sink.memory;
    drop_values(build, 0);
    while (build->frame_count) chordal__node_unref(memory, build->frames[--build->frame_count].shape);
    while (build->key_count) chordal__node_unref(memory, build->keys[--build->key_count].key);
    for (size_t i = 0; i < build->known_capacity; i++) chordal__node_unref(memory, build->known[i].key);
    for (size_t i = 0; i < SHAPES; i++) {
        chordal__node_unref(memory, build->by_depth[i]);
        chordal__node_unref(memory, build->by_keys[i]);
    }
    chordal__release(memory, build->values, build->value_capacity * sizeof *build->values);
    chordal__release(memory, build->frames, build->frame_capacity * sizeof *build->frames);
    chordal__release(memory, build->keys, build->key_capacity * sizeof *build->keys);
    chordal__release(memory, build->known, build->known_capacity * sizeof *build->known);
}

int chordal__build(chordal__memory *memory, chordal__parse *parse, chordal__reader *reader,
                   const chordal__limits *limits, chordal__node **out, chordal_error *error) {
    builder build = {.sink = {.calls = &calls, .memory = memory}};
    int code = parse(reader, limits, &build.sink, error);
    if (!code) *out = build.values[--build.value_count];
    dispose(&build);
    return code;
}
