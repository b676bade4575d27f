/* build.c: the sink of the WASM build that makes nodes from the events of a reader, in the place of core/value/build.c:
 * short rather than fast. Each node is a block of its own. */
#include "value/node.h"

/* What waits: the members of the open containers, each with its key, behind the mark of its container. */
typedef struct builder {
    chordal__sink sink;
    chordal__node **nodes, *root, *shape; /* root: the value itself; shape: of the object that was closed last */
    chordal__key *keys, key;              /* key: of the next member */
    size_t count, nodes_capacity, keys_capacity;
    chordal__arena arena; /* keys that do not lie in the input */
} builder;

static const chordal__node marks[2] = {{0}}; /* of an array, of an object */

static builder *builder_of(chordal__sink *sink) {
    return (builder *)(void *)sink;
}

static bool is_mark(const chordal__node *node) {
    return node == &marks[0] || node == &marks[1];
}

static bool make_room(builder *build) {
    void *nodes = build->nodes, *keys = build->keys;
    chordal__memory *memory = build->sink.memory;
    size_t need = build->count + 1;
    int code = chordal__grow(memory, &nodes, sizeof *build->nodes, &build->nodes_capacity, need, SIZE_MAX / 64);
    if (!code) code = chordal__grow(memory, &keys, sizeof *build->keys, &build->keys_capacity, need, SIZE_MAX / 64);
    build->nodes = nodes;
    build->keys = keys;
    return !code;
}

static int push(builder *build, chordal__node *node) {
    if (!build->count && !is_mark(node)) {
        build->root = node;
        return node ? 0 : CHORDAL_E_NOMEM;
    }
    if (node && make_room(build)) {
        build->keys[build->count] = build->key;
        build->nodes[build->count++] = node;
        return 0;
    }
    if (!is_mark(node)) chordal__node_unref(build->sink.memory, node);
    return CHORDAL_E_NOMEM;
}

static int put_string(chordal__sink *sink, const uint8_t *utf8, size_t len, unsigned flags) {
    (void)flags;
    return push(builder_of(sink), chordal__node_string(sink->memory, utf8, len));
}

static int put_number(chordal__sink *sink, const chordal__number *number) {
    return push(builder_of(sink), chordal__node_number(sink->memory, number));
}

static int put_constant(chordal__sink *sink, unsigned kind) {
    return push(builder_of(sink), chordal__constant(kind));
}

static int put_key(chordal__sink *sink, const chordal__key *key, unsigned flags) {
    builder *build = builder_of(sink);
    build->key = *key;
    if (flags & CHORDAL__STABLE || !key->len) return 0;
    uint8_t *copy = chordal__arena_take(&build->arena, key->len);
    if (!copy) return CHORDAL_E_NOMEM;
    memcpy(copy, key->data, key->len);
    build->key.data = copy;
    return 0;
}

static int open_container(chordal__sink *sink, bool object, size_t count) {
    (void)count;
    return push(builder_of(sink), (chordal__node *)(uintptr_t)&marks[object]);
}

/* ---- objects ---- */

static int refuse_again(builder *build, const chordal__key *key) {
    build->sink.position = key->position;
    return CHORDAL_E_DUPLICATE_KEY;
}

/* The shape of the last object, or a new one. */
static int find_shape(builder *build, const chordal__key *keys, size_t count) {
    if (build->shape && chordal__shape_has(build->shape, keys, count)) return 0;
    chordal__node_unref(build->sink.memory, build->shape);
    build->shape = chordal__shape_new(build->sink.memory, keys, count);
    if (!build->shape) return CHORDAL_E_NOMEM;
    uint32_t again = chordal__shape_duplicate(build->shape);
    return again == count ? 0 : refuse_again(build, &keys[again]);
}

static int make_flat(builder *build, const chordal__key *keys, chordal__node **members, size_t count,
                     chordal__node **out) {
    int code = find_shape(build, keys, count);
    if (code) return code;
    chordal__group *group =
        chordal__group_new(build->sink.memory, CHORDAL_KIND_OBJECT, CHORDAL__FLAT, (uint32_t)count + 1);
    if (!group) return CHORDAL_E_NOMEM;
    group->slots[group->count++] = chordal__node_ref(build->shape);
    for (size_t i = 0; i < count; i++) {
        chordal__deepen(&group->head, members[i]);
        group->slots[group->count++] = chordal__node_ref(members[i]);
    }
    *out = &group->head;
    return 0;
}

static int make_large(builder *build, const chordal__key *keys, chordal__node **members, size_t count,
                      chordal__node **out) {
    chordal__memory *memory = build->sink.memory;
    chordal__node *object = chordal__node_object(memory), *still = NULL;
    int code = object ? 0 : CHORDAL_E_NOMEM;
    for (size_t i = 0; i < count && !code; i++) {
        if (chordal__node_get(object, keys[i].data, keys[i].len)) {
            code = refuse_again(build, &keys[i]);
            break;
        }
        object = chordal__node_put(memory, object, keys[i].data, keys[i].len, members[i], &still);
        if (!object) {
            object = still;
            code = CHORDAL_E_NOMEM;
        }
    }
    if (code) chordal__node_unref(memory, object);
    *out = object;
    return code;
}

/* ---- a build ---- */

static int close_container(chordal__sink *sink) {
    builder *build = builder_of(sink);
    size_t start = build->count;
    while (!is_mark(build->nodes[start - 1])) start--;
    chordal__node **members = build->nodes + start, *made = NULL;
    const chordal__key *keys = build->keys + start;
    size_t count = build->count - start;
    int code = 0;
    if (members[-1] == &marks[0])
        made = chordal__node_array(sink->memory, members, count);
    else if (!count)
        made = chordal__node_object(sink->memory);
    else
        code = (count <= CHORDAL__FLAT_MAX ? make_flat : make_large)(build, keys, members, count, &made);
    if (code) return code;
    while (build->count > start) chordal__node_unref(sink->memory, build->nodes[--build->count]);
    build->key = build->keys[--build->count];
    return push(build, made);
}

static const chordal__sink_calls calls = {open_container, close_container, put_key, put_string,
                                          put_number,     put_constant,    NULL};

int chordal__build(chordal__memory *memory, chordal__parse *parse, chordal__reader *reader,
                   const chordal__limits *limits, chordal__node **out, chordal_error *error) {
    builder build = {.sink = {.calls = &calls, .memory = memory}};
    chordal__arena_init(&build.arena, memory);
    int code = parse(reader, limits, &build.sink, error);
    if (code)
        chordal__node_unref(memory, build.root);
    else
        *out = build.root;
    while (build.count--) {
        if (!is_mark(build.nodes[build.count])) chordal__node_unref(memory, build.nodes[build.count]);
    }
    chordal__node_unref(memory, build.shape);
    chordal__arena_dispose(&build.arena);
    chordal__release(memory, build.nodes, build.nodes_capacity * sizeof *build.nodes);
    chordal__release(memory, build.keys, build.keys_capacity * sizeof *build.keys);
    return code;
}
