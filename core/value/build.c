/* build.c: a sink that makes nodes from the events of a reader.
 *
 * Values wait on one stack until their container closes. Short strings that lie in the input are not even copied until
 * then: a small container and its short strings are laid side by side into a lodge. The keys of an object are first
 * compared with the shape of the last object that closed at the same depth; while they agree, nothing is kept, hashed
 * or checked for doubles. Otherwise they are listed, and the shape is looked for among the last ones when the object
 * closes. Beyond FLAT_MAX members the values are entries of their own. */
#include "value/node.h"

enum { ARRAY, SHAPED, LISTED, ENTRIES };

typedef struct frame {
    size_t start, first_key; /* on the stacks */
    chordal__node *shape;    /* owned, may be NULL: expected, in the end that of the object */
    uint32_t agreed;         /* keys, while another frame is the top */
    uint16_t lodging;        /* bytes of the strings that wait; more than CHORDAL__LODGED_MAX: none may */
    uint8_t mode;
} frame;

#define BY_DEPTH 16
#define BY_KEYS 32

typedef struct builder {
    chordal__sink sink;
    chordal__row frames, keys; /* the values are the sink's */
    frame *top;                /* NULL: none is open */
    chordal__arena arena;      /* keys that do not lie in the input */
    chordal__lodging lodging;
    bool has_shapes;
    chordal__node *by_depth[BY_DEPTH], *by_keys[BY_KEYS];
    chordal__item first_values[64];
    frame first_frames[8];
    chordal__key first_keys[16];
} builder;

static builder *builder_of(chordal__sink *sink) {
    return (builder *)(void *)sink;
}

/* ---- stacks ---- */

static void *first_of(builder *build, const chordal__row *stack) {
    if (stack == &build->sink.values) return build->first_values;
    return stack == &build->frames ? (void *)build->first_frames : (void *)build->first_keys;
}

static CHORDAL__ASIDE bool grow(builder *build, chordal__row *stack) {
    size_t size = stack->capacity * stack->item_size;
    void *items = NULL, *first = first_of(build, stack);
    if (size > PTRDIFF_MAX / 2) return false;
    if (stack->items != first) {
        items = chordal__resize(build->sink.memory, stack->items, size, 2 * size);
    } else {
        items = chordal__allocate(build->sink.memory, 2 * size);
        if (items) memcpy(items, first, size);
    }
    if (!items) return false;
    stack->items = items;
    stack->capacity *= 2;
    return true;
}

static inline bool make_room(builder *build, chordal__row *stack) {
    return stack->count < stack->capacity || grow(build, stack);
}

static chordal__item *values_of(builder *build) {
    return build->sink.values.items;
}

/* Tell the reader which keys come if the object is like the one before. */
static void expect(builder *build, uint32_t agreed) {
    if (CHORDAL__SMALL) return;
    const frame *top = build->top;
    const chordal__shape *shape = top && top->mode == SHAPED ? chordal__shape_of(top->shape) : NULL;
    build->sink.shape = shape && shape->head.extent ? shape : NULL;
    build->sink.agreed = agreed;
    if (!CHORDAL__SMALL) build->sink.lodging = top ? &build->top->lodging : NULL;
}

/* ---- values ---- */

static inline int push(builder *build, chordal__node *node) {
    if (node && make_room(build, &build->sink.values)) {
        values_of(build)[build->sink.values.count++] = (chordal__item){.is.node = node, .len = CHORDAL__IS_NODE};
        return 0;
    }
    chordal__node_unref(build->sink.memory, node);
    return CHORDAL_E_NOMEM;
}

static int put_value(builder *build, chordal__node *node) {
    const frame *top = build->top;
    if (!node || !top || top->mode != ENTRIES) return push(build, node);
    chordal__entry_of(values_of(build)[build->sink.values.count - 1].is.node)->value = node;
    return 0;
}

static CHORDAL__ASIDE int put_other_string(builder *build, const uint8_t *utf8, size_t len, unsigned flags) {
    frame *top = build->top;
    size_t units = flags & CHORDAL__ASCII ? len : (size_t)chordal__utf_units(utf8, len);
    if (!(flags & CHORDAL__STABLE) || len > CHORDAL__WAIT_MAX || !top ||
        top->lodging + chordal__lodger_size(len) > CHORDAL__LODGED_MAX)
        return put_value(build, chordal__string_new(build->sink.memory, utf8, len, units));
    if (!make_room(build, &build->sink.values)) return CHORDAL_E_NOMEM;
    top->lodging = (uint16_t)(top->lodging + chordal__lodger_size(len));
    values_of(build)[build->sink.values.count++] = (chordal__item){{.text = utf8}, (uint32_t)len, (uint32_t)units};
    return 0;
}

static int put_string(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags) {
    builder *build = builder_of(sink);
    frame *top = build->top;
    size_t count = build->sink.values.count, lodging = chordal__lodger_size(len);
    if (CHORDAL__SMALL || flags != (CHORDAL__STABLE | CHORDAL__ASCII) || len > CHORDAL__WAIT_MAX || !top ||
        count == build->sink.values.capacity || (lodging += top->lodging) > CHORDAL__LODGED_MAX)
        return put_other_string(build, utf8, len, flags);
    top->lodging = (uint16_t)lodging;
    values_of(build)[count] = (chordal__item){{.text = utf8}, (uint32_t)len, (uint32_t)len};
    build->sink.values.count = count + 1;
    return 0;
}

/* Lay a text down at `at` in the open lodge, whose `live` the caller adds to. */
static inline chordal__node *lodge_text(const chordal__lodge *lodge, uint8_t *at, const chordal__item *from) {
    chordal__text *made = (chordal__text *)(void *)at;
    chordal__head_init(&made->head, CHORDAL_KIND_STRING, CHORDAL__LODGED, chordal__lodge_place(lodge, at));
    made->bytes = (uint16_t)from->len;
    made->units = (uint16_t)from->units;
    chordal__copy_bytes(made->data, from->is.text, from->len);
    return &made->head;
}

/* Make nodes of the strings that wait on the stack from `start` on. */
static bool end_waiting(builder *build, size_t start) {
    chordal__item *values = values_of(build);
    for (size_t i = start; i < build->sink.values.count; i++) {
        if (values[i].len == CHORDAL__IS_NODE) continue;
        uint8_t *at = chordal__lodge_take(&build->lodging, chordal__lodger_size(values[i].len), SIZE_MAX);
        if (!at) return false;
        values[i] =
            (chordal__item){.is.node = lodge_text(build->lodging.open, at, &values[i]), .len = CHORDAL__IS_NODE};
        build->lodging.open->live++;
    }
    return true;
}

/* The nodes of a frame one behind the other, in the place of its items, which they end. */
static chordal__node **close_up(builder *build, size_t start) {
    const chordal__item *from = values_of(build) + start;
    chordal__node **nodes = (chordal__node **)(void *)(values_of(build) + start);
    for (size_t i = 0; i < build->sink.values.count - start; i++) {
        chordal__node *node = from[i].is.node;
        memcpy(&nodes[i], &node, sizeof node);
    }
    return nodes;
}

static CHORDAL__ASIDE chordal__node *lodge_number(builder *build, const chordal__number *number) {
    uint8_t *at = chordal__lodge_take(&build->lodging, sizeof(chordal__scalar), build->sink.left);
    if (!at) return NULL;
    chordal__scalar *made = (chordal__scalar *)(void *)at;
    chordal__lodge *lodge = build->lodging.open;
    chordal__head_init(&made->head, number->kind, CHORDAL__LODGED, chordal__lodge_place(lodge, at));
    memcpy(&made->as, &number->as, sizeof made->as);
    lodge->live++;
    return &made->head;
}

static int put_number(chordal__sink *sink, const chordal__number *number) {
    builder *build = builder_of(sink);
    if (chordal__fits_pointer(number)) return put_value(build, chordal__pointer_integer(number->as.integer));
    if (number->kind == CHORDAL_KIND_INTEGER || !build->top)
        return put_value(build, chordal__node_number(sink->memory, number));
    return put_value(build, lodge_number(build, number));
}

static int put_constant(chordal__sink *sink, unsigned kind) {
    return put_value(builder_of(sink), chordal__constant(kind));
}

static int open_container(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    builder *build = builder_of(sink);
    if (build->top) build->top->agreed = sink->agreed;
    if (!make_room(build, &build->frames)) return CHORDAL_E_NOMEM;
    size_t depth = build->frames.count++;
    frame *top = build->top = (frame *)build->frames.items + depth;
    *top = (frame){.start = build->sink.values.count,
                   .first_key = build->keys.count,
                   .mode = !object          ? ARRAY
                           : CHORDAL__SMALL ? LISTED
                                            : SHAPED};
    if (!CHORDAL__SMALL && object && build->has_shapes)
        top->shape = chordal__node_ref(build->by_depth[depth % BY_DEPTH]);
    expect(build, 0);
    return 0;
}

/* ---- keys ---- */

static int list_key(builder *build, const chordal__key *key, unsigned flags) {
    if (!make_room(build, &build->keys)) return CHORDAL_E_NOMEM;
    chordal__key *listed = (chordal__key *)build->keys.items + build->keys.count;
    *listed = *key;
    if (!(flags & CHORDAL__STABLE) && key->len) {
        uint8_t *copy = chordal__arena_take(&build->arena, key->len);
        if (!copy) return CHORDAL_E_NOMEM;
        memcpy(copy, key->data, key->len);
        listed->data = copy;
    }
    build->keys.count++;
    return 0;
}

static CHORDAL__ASIDE int list_shape(builder *build, frame *top) {
    top->mode = LISTED;
    build->sink.shape = NULL;
    for (uint32_t i = 0; i < build->sink.agreed; i++) {
        chordal__key key = chordal__shape_key(top->shape, i);
        int code = list_key(build, &key, CHORDAL__STABLE);
        if (code) return code;
    }
    return 0;
}

/* The values of the object become entries. When memory ends, each value is in its entry or on the stack. An entry's
 * sequence is the position of its key until the object closes. */
static int list_entries(builder *build, frame *top) {
    if (!end_waiting(build, top->start)) return CHORDAL_E_NOMEM;
    const chordal__key *keys = (chordal__key *)build->keys.items + top->first_key;
    chordal__item *values = values_of(build) + top->start;
    for (size_t i = 0; i < build->sink.values.count - top->start; i++) {
        chordal__node *entry = chordal__entry_new(build->sink.memory, keys[i].data, keys[i].len, keys[i].position);
        if (!entry) return CHORDAL_E_NOMEM;
        chordal__entry_of(entry)->value = values[i].is.node;
        values[i].is.node = entry;
    }
    build->keys.count = top->first_key;
    top->lodging = CHORDAL__LODGED_MAX + 1;
    top->mode = ENTRIES;
    return 0;
}

/* Whether a key agrees that the reader could not compare: it was written with an escape. */
static bool agrees(builder *build, const chordal__key *key) {
    const chordal__node *shape = build->top->shape;
    uint32_t agreed = build->sink.agreed;
    if (!shape || agreed == chordal__shape_of(shape)->count) return false;
    if (!chordal__key_is(chordal__shape_key(shape, agreed), key->data, key->len)) return false;
    build->sink.agreed++;
    return true;
}

static int put_key(chordal__sink *sink, const chordal__key *key, unsigned flags) {
    builder *build = builder_of(sink);
    frame *top = build->top;
    int code = 0;
    if (!CHORDAL__SMALL && top->mode == SHAPED) {
        if (agrees(build, key)) return 0;
        code = list_shape(build, top);
    }
    if (!code && top->mode == LISTED) {
        if (build->sink.values.count - top->start < CHORDAL__FLAT_MAX) return list_key(build, key, flags);
        code = list_entries(build, top);
    }
    return code ? code : push(build, chordal__entry_new(sink->memory, key->data, key->len, key->position));
}

/* ---- flat containers ---- */

/* As lodge_take: most often there is room. */
static inline uint8_t *lodge_room(builder *build, size_t size) {
    chordal__lodging *lodging = &build->lodging;
    size = (size + 7) & ~(size_t)7;
    if (CHORDAL__SMALL || !lodging->open || lodging->open->size - lodging->used < size)
        return chordal__lodge_take(lodging, size, build->sink.left);
    lodging->used += size;
    return (uint8_t *)lodging->open + lodging->used - size;
}

/* The values of a frame are taken by a new flat container, behind `first` slots; NULL: no memory. */
static chordal__group *take_flat(builder *build, const frame *top, unsigned kind, unsigned first) {
    size_t count = build->sink.values.count - top->start;
    size_t size = sizeof(chordal__group) + (count + first) * sizeof(chordal__node *);
    uint8_t *at = lodge_room(build, size + top->lodging);
    if (!at) return NULL;
    chordal__lodge *lodge = build->lodging.open;
    chordal__group *group = (chordal__group *)(void *)at;
    chordal__head_init(&group->head, kind, CHORDAL__LODGED, 1);
    group->count = (uint32_t)count + first;
    group->capacity = (uint16_t)group->count;
    group->place = (uint16_t)chordal__lodge_place(lodge, at);
    at += size;
    uint32_t live = 1;
    const chordal__item *from = values_of(build) + top->start;
    for (size_t i = 0; i < count; i++, from++) {
        chordal__node *node = from->is.node;
        if (from->len == CHORDAL__IS_NODE) {
            chordal__deepen(&group->head, node);
        } else {
            node = lodge_text(lodge, at, from);
            at += chordal__lodger_size(from->len);
            live++;
        }
        group->slots[first + i] = node;
    }
    lodge->live += live;
    build->sink.values.count = top->start;
    return group;
}

static void drop_values(builder *build, size_t start) {
    while (build->sink.values.count > start) {
        const chordal__item *last = values_of(build) + --build->sink.values.count;
        if (last->len == CHORDAL__IS_NODE) chordal__node_unref(build->sink.memory, last->is.node);
    }
}

/* Nodes that were closed up, and may live on in a container. */
static void drop_nodes(builder *build, chordal__node *const *nodes, size_t start) {
    for (size_t i = build->sink.values.count - start; i;) {
        chordal__node *node = nodes[--i];
        if (!CHORDAL__SMALL && chordal__is_block(node) && node->references > 1)
            node->references--;
        else
            chordal__node_unref(build->sink.memory, node);
    }
    build->sink.values.count = start;
}

static CHORDAL__ASIDE chordal__node *close_array(builder *build, const frame *top) {
    size_t count = build->sink.values.count - top->start;
    if (count <= CHORDAL__FLAT_MAX) return (chordal__node *)take_flat(build, top, CHORDAL_KIND_ARRAY, 0);
    if (!end_waiting(build, top->start)) return NULL;
    chordal__node **nodes = close_up(build, top->start);
    chordal__node *node = chordal__node_array(build->sink.memory, nodes, count);
    drop_nodes(build, nodes, top->start);
    return node;
}

/* The frame's shape goes to the object. */
static chordal__node *close_shaped(builder *build, frame *top) {
    chordal__group *group = take_flat(build, top, CHORDAL_KIND_OBJECT, 1);
    if (!group) return NULL;
    group->slots[0] = top->shape;
    top->shape = NULL;
    return (chordal__node *)group;
}

/* ---- shapes ---- */

static void keep_shape(builder *build, chordal__node **slot, chordal__node *shape) {
    if (*slot == shape) return;
    chordal__node *old = *slot;
    *slot = chordal__node_ref(shape);
    chordal__node_unref(build->sink.memory, old);
}

static int make_shape(builder *build, const chordal__key *keys, size_t count, chordal__node **slot) {
    chordal__node *shape = chordal__shape_new(build->sink.memory, keys, count);
    if (!shape) return CHORDAL_E_NOMEM;
    uint32_t again = chordal__shape_duplicate(shape);
    if (again == count) keep_shape(build, slot, shape);
    chordal__node_unref(build->sink.memory, shape);
    if (again == count) return 0;
    build->sink.position = keys[again].position;
    return CHORDAL_E_DUPLICATE_KEY;
}

static void begin_shapes(builder *build) {
    if (build->has_shapes) return;
    memset(build->by_depth, 0, sizeof build->by_depth);
    memset(build->by_keys, 0, sizeof build->by_keys);
    build->has_shapes = true;
}

/* The shape of the listed keys, remembered for the objects to come. */
static CHORDAL__ASIDE int find_shape(builder *build, frame *top) {
    const chordal__key *keys = (chordal__key *)build->keys.items + top->first_key;
    size_t count = build->keys.count - top->first_key;
    uint32_t hash = 0;
    for (size_t i = 0; i < count; i++) hash = hash * 31 + chordal__key_hash(keys[i].data, keys[i].len);
    begin_shapes(build);
    chordal__node **slot = &build->by_keys[hash % BY_KEYS];
    if (!*slot || !chordal__shape_has(*slot, keys, count)) {
        int code = make_shape(build, keys, count, slot);
        if (code) return code;
    }
    keep_shape(build, &top->shape, *slot);
    keep_shape(build, &build->by_depth[(build->frames.count - 1) % BY_DEPTH], *slot);
    build->keys.count = top->first_key;
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

static CHORDAL__ASIDE int close_entries(builder *build, const frame *top, chordal__node **out) {
    chordal__memory *memory = build->sink.memory;
    size_t count = build->sink.values.count - top->start;
    size_t size = count * (2 * sizeof(chordal__sort_key) + sizeof(chordal__node *));
    chordal__sort_key *keys = chordal__allocate(memory, size);
    if (!keys) return CHORDAL_E_NOMEM;
    chordal__node **sorted = (chordal__node **)(void *)(keys + 2 * count), **entries = close_up(build, top->start);
    int code = sort_entries(build, entries, count, sorted, keys);
    if (!code) *out = chordal__object_of_entries(memory, entries, sorted, count);
    chordal__release(memory, keys, size);
    drop_nodes(build, entries, top->start);
    return code;
}

static int close_object(builder *build, frame *top, chordal__node **out) {
    if (top->mode == ENTRIES) return close_entries(build, top, out);
    int code = 0;
    if (!CHORDAL__SMALL && top->mode == SHAPED && top->shape &&
        build->sink.agreed < chordal__shape_of(top->shape)->count)
        code = list_shape(build, top);
    if (!code && top->mode == LISTED && build->keys.count > top->first_key)
        code = find_shape(build, top);
    else if (!code && top->mode == LISTED)
        keep_shape(build, &top->shape, NULL);
    if (!code) *out = close_shaped(build, top);
    return code;
}

static int close_container(chordal__sink *sink) {
    builder *build = builder_of(sink);
    frame *top = build->top;
    chordal__node *node = NULL;
    int code = 0;
    if (top->mode == ARRAY)
        node = close_array(build, top);
    else
        code = close_object(build, top, &node);
    if (code) return code;
    if (!node) return CHORDAL_E_NOMEM;
    chordal__node_unref(sink->memory, top->shape);
    build->top = --build->frames.count ? top - 1 : NULL;
    expect(build, build->top ? build->top->agreed : 0);
    return put_value(build, node);
}

/* The object's frame becomes that of the next. Its values made room for the object. */
static int next_object(chordal__sink *sink) {
    builder *build = builder_of(sink);
    frame *top = build->top;
    chordal__group *group = take_flat(build, top, CHORDAL_KIND_OBJECT, 1);
    if (!group) return CHORDAL_E_NOMEM;
    group->slots[0] = chordal__node_ref(top->shape);
    values_of(build)[sink->values.count++] = (chordal__item){.is.node = &group->head, .len = CHORDAL__IS_NODE};
    top->start++;
    top->lodging = 0;
    sink->agreed = 0;
    return 0;
}

/* ---- a build ---- */

static const chordal__sink_calls calls = {open_container,
                                          close_container,
                                          put_key,
                                          put_string,
                                          put_number,
                                          put_constant,
                                          CHORDAL__SMALL ? NULL : next_object};

static void begin_stack(builder *build, chordal__row *stack, size_t item_size, size_t capacity) {
    stack->items = first_of(build, stack);
    stack->count = 0;
    stack->capacity = capacity;
    stack->item_size = item_size;
}

static void end_stack(builder *build, chordal__row *stack) {
    if (stack->items != first_of(build, stack))
        chordal__release(build->sink.memory, stack->items, stack->capacity * stack->item_size);
}

/* The builder is too large to be cleared. */
static void begin(builder *build, chordal__memory *memory) {
    build->sink = (chordal__sink){.calls = &calls, .memory = memory};
    begin_stack(build, &build->sink.values, sizeof *build->first_values,
                sizeof build->first_values / sizeof *build->first_values);
    begin_stack(build, &build->frames, sizeof *build->first_frames,
                sizeof build->first_frames / sizeof *build->first_frames);
    begin_stack(build, &build->keys, sizeof *build->first_keys, sizeof build->first_keys / sizeof *build->first_keys);
    chordal__arena_init(&build->arena, memory);
    build->lodging = (chordal__lodging){.memory = memory};
    build->has_shapes = false;
    build->top = NULL;
}

static void end(builder *build) {
    chordal__memory *memory = build->sink.memory;
    drop_values(build, 0);
    const frame *frames = build->frames.items;
    while (build->frames.count) chordal__node_unref(memory, frames[--build->frames.count].shape);
    for (size_t i = 0; build->has_shapes && i < BY_DEPTH; i++)
        if (build->by_depth[i]) chordal__node_unref(memory, build->by_depth[i]);
    for (size_t i = 0; build->has_shapes && i < BY_KEYS; i++)
        if (build->by_keys[i]) chordal__node_unref(memory, build->by_keys[i]);
    chordal__arena_dispose(&build->arena);
    chordal__lodge_end(&build->lodging);
    end_stack(build, &build->sink.values);
    end_stack(build, &build->frames);
    end_stack(build, &build->keys);
}

int chordal__build(chordal__memory *memory, chordal__parse *parse, chordal__reader *reader,
                   const chordal__limits *limits, chordal__node **out, chordal_error *error) {
    builder build;
    begin(&build, memory);
    int code = parse(reader, limits, &build.sink, error);
    if (!code) *out = values_of(&build)[--build.sink.values.count].is.node;
    end(&build);
    return code;
}
