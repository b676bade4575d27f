/* Random documents and random edits, through drafts and by assigning: the ops of a draft turn its base into its value,
 * ops folded turn it into what they do one by one, the last revision's parts are shared, and all memory comes back.
 * Arguments: a seed (default 1), a number of rounds (default 300). */
#include "check.h"

#include "delta/delta.h"

/* ---- chance ---- */

static uint64_t state;

static uint32_t roll(uint32_t below) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (uint32_t)(z >> 32) % below;
}

static chordal__memory *memory;
static uint64_t folds; /* sequences of batches that were folded and compared */

/* ---- random values ---- */

static const char *const keys[] = {"a", "b", "c", "text", "entries", "", "__proto__", "0", "k1", "k2"};

static const char *any_key(void) {
    return keys[roll(sizeof keys / sizeof *keys)];
}

static const char *const scraps[] = {"a",
                                     "bc",
                                     "\xc3\xa9",
                                     "\xf0\x9f\x98\x80",
                                     "\xed\xa0\xbd",
                                     "\xed\xb8\x80",
                                     "long enough to be seen ",
                                     "\n",
                                     "0123456789abcdef"};

static chordal__node *any_string(void) {
    chordal__node *text = chordal__node_string(memory, "", 0), *still = NULL;
    for (uint32_t i = roll(40) == 0 ? 300 : roll(5); i > 0; i--) {
        const char *scrap = scraps[roll(sizeof scraps / sizeof *scraps)];
        text = chordal__node_append(memory, text, scrap, strlen(scrap), &still);
    }
    return text;
}

static chordal__node *any_value(uint32_t depth);

static chordal__node *any_scalar(void) {
    chordal__number number;
    switch (roll(6)) {
    case 0:
        return chordal__node_null(memory);
    case 1:
        return chordal__node_bool(memory, roll(2) == 0);
    case 2:
        chordal__number_of_double(roll(9) / 4.0, &number);
        return chordal__node_number(memory, &number);
    case 3:
        return chordal__node_integer(memory, roll(5));
    default:
        return any_string();
    }
}

static chordal__node *any_array(uint32_t depth) {
    chordal__node *items[200];
    uint32_t count = roll(12) == 0 ? roll(200) : roll(6);
    for (uint32_t i = 0; i < count; i++) items[i] = count > 20 ? any_scalar() : any_value(depth);
    chordal__node *array = chordal__node_array(memory, items, count);
    for (uint32_t i = 0; i < count; i++) chordal__node_unref(memory, items[i]);
    return array;
}

static chordal__node *any_object(uint32_t depth) {
    chordal__node *object = chordal__node_object(memory), *still = NULL;
    uint32_t count = roll(20) == 0 ? 100 : roll(6);
    for (uint32_t i = 0; i < count; i++) {
        char wide[16];
        snprintf(wide, sizeof wide, "w%" PRIu32, i);
        const char *key = count > 20 ? wide : any_key();
        chordal__node *value = count > 20 ? any_scalar() : any_value(depth);
        object = chordal__node_put(memory, object, key, strlen(key), value, &still);
        chordal__node_unref(memory, value);
    }
    return object;
}

static chordal__node *any_value(uint32_t depth) {
    if (depth == 0 || roll(3) == 0) return any_scalar();
    return roll(2) == 0 ? any_array(depth - 1) : any_object(depth - 1);
}

/* ---- random places: a walk down from the root ---- */

typedef struct model_place {
    chordal__segment segments[16];
    uint32_t count;
    chordal__node *node; /* what is there, or NULL: a new key or the end of an array */
} model_place;

static void step_down(model_place *place) {
    chordal__segment *segment = &place->segments[place->count++];
    uint64_t length = chordal__node_length(place->node);
    *segment = (chordal__segment){0};
    if (chordal__node_kind(place->node) == CHORDAL_KIND_ARRAY) {
        segment->index = roll((uint32_t)length + 1);
        place->node = chordal__node_at(place->node, segment->index);
        return;
    }
    size_t len = 0;
    chordal__node *found = NULL;
    segment->is_key = true;
    segment->key = (const uint8_t *)any_key();
    len = strlen((const char *)segment->key);
    if (length > 0 && roll(4) > 0) {
        chordal__node_member(place->node, roll((uint32_t)length), &segment->key, &len, &found);
    } else {
        found = chordal__node_get(place->node, segment->key, len);
    }
    segment->key_len = (uint32_t)len;
    place->node = found;
}

static model_place any_place(chordal__node *root, uint64_t member) {
    model_place place = {.segments = {{.index = member}}, .count = 1, .node = root};
    while (place.count < 12 && place.node && chordal__node_kind(place.node) >= CHORDAL_KIND_ARRAY && roll(6) > 0) {
        step_down(&place);
    }
    return place;
}

/* ---- random ops; many do not fit and must be refused without effect ---- */

static void shuffle(chordal__op *op, uint64_t length) {
    op->indexes_len = (uint32_t)length;
    op->indexes = chordal__allocate(memory, length * sizeof *op->indexes);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t j = roll(i + 1);
        op->indexes[i] = op->indexes[j];
        op->indexes[j] = i;
    }
}

static chordal__op any_op(chordal__node *root, uint64_t member) {
    model_place place = any_place(root, member);
    chordal__op op = {.kind = CHORDAL_OP_SET};
    op.path = chordal__path_new(memory, place.segments, place.count);
    int kind = place.node ? chordal__node_kind(place.node) : CHORDAL_KIND_NULL;
    uint32_t length = place.node ? (uint32_t)chordal__node_length(place.node) : 0, choice = roll(8);
    if (choice == 0) {
        op.kind = CHORDAL_OP_DELETE;
    } else if (kind == CHORDAL_KIND_STRING && choice < 7) {
        op.kind = choice < 5 ? CHORDAL_OP_APPEND : CHORDAL_OP_TRUNCATE;
        if (op.kind == CHORDAL_OP_APPEND) op.value = any_string();
        op.index = op.kind == CHORDAL_OP_TRUNCATE ? roll(length + 2) : 0;
    } else if (kind == CHORDAL_KIND_ARRAY && choice < 6) {
        op.kind = choice < 5 ? CHORDAL_OP_SPLICE : CHORDAL_OP_PERMUTE;
        if (op.kind == CHORDAL_OP_PERMUTE) {
            shuffle(&op, length);
        } else {
            op.index = roll(length + 2);
            op.remove = roll(4);
            op.value = roll(4) == 0 ? NULL : any_array(2);
        }
    } else {
        if (choice == 7 && place.count == 1) op.kind = roll(3) == 0 ? CHORDAL_OP_REPLACE : CHORDAL_OP_SET;
        op.value = any_value(3);
    }
    return op;
}

/* ---- an object of a few members through many commits ---- */

enum { MEMBERS = 2, DEPTH = 64 };

typedef struct model_history {
    chordal__node *values[MEMBERS];   /* the members */
    chordal__node *replicas[MEMBERS]; /* changed by the ops alone */
    chordal__node *starts[MEMBERS];   /* where `folded` begins */
    chordal__ops folded;
} model_history;

static void apply_ops(chordal__node **values, const chordal__ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        uint64_t member = ops->items[i].path->segments[0].index;
        int code = chordal__apply(memory, &values[member], &ops->items[i], DEPTH, NULL);
        if (code != 0) CHECK_FAIL("op %zu of %zu is refused: %d", i, ops->count, code);
    }
}

static void check_same(const char *what, const chordal__node *a, const chordal__node *b) {
    if (!chordal__node_equal(a, b)) CHECK_FAIL("%s differs", what);
}

static void check_fold(model_history *history) {
    folds++;
    apply_ops(history->starts, &history->folded);
    for (int i = 0; i < MEMBERS; i++) {
        check_same("the fold", history->starts[i], history->values[i]);
        chordal__node_unref(memory, history->starts[i]);
        history->starts[i] = chordal__node_ref(history->values[i]);
    }
    chordal__ops_clear(&history->folded);
    CHECK_INT(history->folded.weight, 0);
}

static void commit(model_history *history, uint64_t member, const chordal__draft *draft) {
    check_same("the base", draft->base, history->values[member]);
    apply_ops(history->replicas, &draft->ops);
    check_same("the replica", history->replicas[member], draft->value);
    if (draft->ops.count == 0) check_same("a draft without ops", draft->base, draft->value);
    CHECK_INT(chordal__fold(&history->folded, &draft->ops), 0);
    chordal__node_unref(memory, history->values[member]);
    history->values[member] = chordal__node_ref(draft->value);
}

static void edit(model_history *history, uint64_t member) {
    chordal__draft draft;
    CHECK_INT(chordal__draft_begin(&draft, memory, history->values[member], DEPTH), 0);
    for (uint32_t i = roll(6); i > 0; i--) {
        chordal__node *before = chordal__node_ref(draft.value);
        size_t count = draft.ops.count;
        if (chordal__draft_do(&draft, any_op(draft.value, member), NULL) != 0) {
            check_same("a refused op", draft.value, before);
            CHECK_INT(draft.ops.count, count);
        }
        chordal__node_unref(memory, before);
    }
    commit(history, member, &draft);
    chordal__draft_dispose(&draft);
}

/* A value as if it came from elsewhere: nothing of it is shared. */
static chordal__node *copy_of(chordal__node *value) {
    chordal__buffer buffer;
    chordal__limits limits = {.depth = DEPTH, .size = SIZE_MAX};
    chordal__node *copy = NULL;
    chordal__buffer_init(&buffer, memory, SIZE_MAX);
    chordal__pack_write(&buffer, value);
    CHECK_INT(chordal__pack_read(memory, buffer.data, buffer.len, &limits, &copy, NULL), 0);
    chordal__buffer_dispose(&buffer);
    chordal__node_unref(memory, value);
    return copy;
}

/* The member as it would be after some edits is assigned, whole or one place of it. */
static void assign(model_history *history, uint64_t member) {
    chordal__node *wanted = chordal__node_ref(history->values[member]);
    for (uint32_t i = roll(6); i > 0; i--) {
        chordal__op op = any_op(wanted, member);
        if (op.kind == CHORDAL_OP_SET && op.path->count == 1) op.kind = CHORDAL_OP_REPLACE;
        chordal__apply(memory, &wanted, &op, DEPTH, NULL);
        chordal__op_dispose(memory, &op);
    }
    if (roll(2) == 0) wanted = copy_of(wanted);
    chordal__draft draft;
    CHECK_INT(chordal__draft_begin(&draft, memory, history->values[member], DEPTH), 0);
    chordal__op op = {.kind = CHORDAL_OP_ASSIGN, .value = chordal__node_ref(wanted)};
    op.path = chordal__path_new(memory, &(chordal__segment){.index = member}, 1);
    CHECK_INT(chordal__draft_do(&draft, op, NULL), 0);
    check_same("what was assigned", draft.value, wanted);
    commit(history, member, &draft);
    chordal__draft_dispose(&draft);
    chordal__node_unref(memory, wanted);
}

static void begin(model_history *history) {
    for (int i = 0; i < MEMBERS; i++) {
        history->values[i] = any_value(4);
        history->replicas[i] = chordal__node_ref(history->values[i]);
        history->starts[i] = chordal__node_ref(history->values[i]);
    }
    chordal__ops_init(&history->folded, memory);
}

static void end(model_history *history) {
    chordal__ops_dispose(&history->folded);
    for (int i = 0; i < MEMBERS; i++) {
        chordal__node_unref(memory, history->values[i]);
        chordal__node_unref(memory, history->replicas[i]);
        chordal__node_unref(memory, history->starts[i]);
    }
}

static void run(uint64_t seed) {
    state = seed;
    memory = chordal__memory_new(NULL, UINT64_MAX);
    model_history history;
    begin(&history);
    for (int i = 0; i < 60; i++) {
        uint64_t member = roll(MEMBERS);
        if (roll(3) == 0) {
            assign(&history, member);
        } else {
            edit(&history, member);
        }
        if (roll(8) == 0) check_fold(&history);
    }
    check_fold(&history);
    end(&history);
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    uint64_t passed = 0;
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", seed, seed + rounds - 1);
    for (; passed < rounds; passed++) {
        char name[32];
        snprintf(name, sizeof name, "seed %" PRIu64, seed + passed);
        check_name = name;
        run(seed + passed);
        if (check_failures) break;
    }
    printf("%" PRIu64 " folds\n", folds);
    printf("%" PRIu64 " passed, %d failed\n", passed, check_failures != 0);
    return check_failures != 0;
}
