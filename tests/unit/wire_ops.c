/* wire_ops.c: ops in both encodings at random, with and without a dictionary; long ones; hostile ones. */
#include "check.h"
#include "wire/wire.h"

static const uint64_t seed[2] = {5, 6};
static chordal__memory *memory;
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t end) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % end;
}

static void begin(void) {
    memory = chordal__memory_new(NULL, UINT64_MAX);
}

static void end(void) {
    CHECK_INT(memory->live_blocks, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

/* ---- ops at random ---- */

static const char *const keys[] = {"", "a", "title", "\xc3\xa4", "with \"quotes\"", "__proto__", "\xed\xa0\xbd"};
static const char *const values[] = {
    "null", "[]", "{\"a\":[1,2,{\"b\":null}]}", "\"x\\ud83d\"", "18446744073709551615", "-0.25", "[[],{},\"\",true]"};

static chordal__node *random_value(void) {
    const char *json = values[random_below(sizeof values / sizeof *values)];
    chordal__limits limits = {.depth = 64, .size = 4096};
    chordal__node *node = NULL;
    CHECK_INT(chordal__json_read(memory, (const uint8_t *)json, strlen(json), &limits, &node, NULL), 0);
    return node;
}

static chordal__node *random_string(void) {
    const char *key = keys[random_below(sizeof keys / sizeof *keys)];
    return chordal__node_string(memory, key, strlen(key));
}

static chordal__path *random_path(size_t least) {
    chordal__segment segments[6] = {{.index = random_below(3)}};
    size_t count = least + random_below(3);
    for (size_t i = 1; i < count; i++) {
        const char *key = keys[random_below(sizeof keys / sizeof *keys)];
        if (random_below(2))
            segments[i] = (chordal__segment){.index = random_below(8) ? random_below(3) : random_below(300)};
        else
            segments[i] =
                (chordal__segment){.is_key = true, .key = (const uint8_t *)key, .key_len = (uint32_t)strlen(key)};
    }
    return chordal__path_new(memory, segments, count);
}

static chordal__node *random_list(size_t count) {
    chordal__node *items[5];
    if (!count) return NULL;
    for (size_t i = 0; i < count; i++) items[i] = random_value();
    chordal__node *list = chordal__node_array(memory, items, count);
    while (count) chordal__node_unref(memory, items[--count]);
    return list;
}

static chordal__node *random_error(void) {
    chordal__node *items[] = {chordal__node_string(memory, "code", 4), random_string()};
    chordal__node *pair = random_below(3) ? chordal__node_array(memory, items, 2) : NULL;
    chordal__node_unref(memory, items[0]);
    chordal__node_unref(memory, items[1]);
    return pair;
}

static void random_indexes(chordal__op *op) {
    op->indexes_len = (uint32_t)random_below(6);
    op->indexes = chordal__allocate(memory, op->indexes_len * sizeof *op->indexes);
    for (uint32_t i = 0; i < op->indexes_len; i++) op->indexes[i] = (uint32_t)random_below(op->indexes_len);
}

static chordal__op random_op(bool api) {
    static const uint8_t kinds[] = {CHORDAL_OP_REPLACE, CHORDAL_OP_SET,      CHORDAL_OP_DELETE,
                                    CHORDAL_OP_APPEND,  CHORDAL_OP_TRUNCATE, CHORDAL_OP_SPLICE,
                                    CHORDAL_OP_PERMUTE, CHORDAL_OP_ERROR,    CHORDAL_OP_ASSIGN};
    chordal__op op = {.kind = kinds[random_below(api ? 9 : 8)]};
    chordal__segment member = {.index = random_below(300)};
    bool whole = op.kind == CHORDAL_OP_REPLACE || op.kind == CHORDAL_OP_ERROR;
    op.path = whole ? chordal__path_new(memory, &member, 1) : random_path(op.kind == CHORDAL_OP_SET ? 2 : 1);
    switch (op.kind) {
    case CHORDAL_OP_APPEND:
        op.value = random_string();
        break;
    case CHORDAL_OP_TRUNCATE:
        op.index = random_below(1000);
        break;
    case CHORDAL_OP_SPLICE:
        op.index = random_below(300), op.remove = random_below(300);
        op.value = random_list(random_below(5));
        break;
    case CHORDAL_OP_PERMUTE:
        random_indexes(&op);
        break;
    case CHORDAL_OP_ERROR:
        op.value = random_error();
        break;
    case CHORDAL_OP_DELETE:
        break;
    default:
        op.value = random_value();
        break;
    }
    return op;
}

static chordal__ops random_ops(size_t count, bool api) {
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    while (count--) CHECK_INT(chordal__ops_push(&ops, random_op(api)), 0);
    return ops;
}

/* ---- comparing ---- */

static bool same_node(const chordal__node *a, const chordal__node *b) {
    return a && b ? chordal__node_equal(a, b) : a == b;
}

static bool same_op(const chordal__op *a, const chordal__op *b) {
    return a->kind == b->kind && a->index == b->index && a->remove == b->remove && a->indexes_len == b->indexes_len &&
           chordal__path_equal(a->path, b->path) && same_node(a->value, b->value) &&
           (!a->indexes_len || !memcmp(a->indexes, b->indexes, a->indexes_len * sizeof *a->indexes));
}

static void check_same(const chordal__ops *a, const chordal__ops *b) {
    CHECK_INT(a->count, b->count);
    for (size_t i = 0; i < a->count && i < b->count; i++) CHECK(same_op(&a->items[i], &b->items[i]));
    CHECK_INT(a->weight, b->weight);
}

static const chordal__limits limits = {.depth = 64, .size = 1 << 26};

static void check_read(const chordal__ops *expected, uint8_t encoding, const chordal__buffer *part,
                       chordal__dictionary *dictionary, uint64_t cut) {
    chordal__ops ops;
    chordal_error error = {0};
    CHECK_INT(part->failed, 0);
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, part->data, part->len, dictionary, cut, &limits, &error);
    if (code != 0) CHECK_FAIL("%s at %" PRIu64, chordal_error_name(code), error.position);
    check_same(&ops, expected);
    chordal__ops_dispose(&ops);
}

TEST(inline_ops_come_back) {
    begin();
    random_state = 11;
    for (int round = 0; round < 1000; round++) {
        chordal__ops ops = random_ops(random_below(8), true);
        for (uint8_t encoding = CHORDAL__ENCODING_BINARY; encoding <= CHORDAL__ENCODING_JSON; encoding++) {
            chordal__buffer part;
            chordal__buffer_init(&part, memory, SIZE_MAX);
            chordal__ops_write(&part, encoding, &ops, NULL);
            check_read(&ops, encoding, &part, NULL, 0);
            chordal__buffer_dispose(&part);
        }
        chordal__ops_dispose(&ops);
    }
    end();
}

/* A provider and two readers, one for each encoding, that skip commits now and then and get the gap. */
TEST(changes_come_back) {
    begin();
    random_state = 13;
    chordal__dictionary provider, readers[2];
    uint64_t at[2] = {0, 0};
    chordal__dictionary_init(&provider, memory, 10, seed);
    for (int r = 0; r < 2; r++) chordal__dictionary_init(&readers[r], memory, 10, seed);
    size_t generations = 0;
    for (uint64_t cut = 1; cut < 600; cut++) {
        chordal__ops ops = random_ops(1 + random_below(4), false);
        uint64_t generation = provider.generation_cut;
        CHECK_INT(chordal__dictionary_note(&provider, &ops, cut), 0);
        generations += provider.generation_cut != generation;
        for (int r = 0; r < 2; r++) {
            if (!random_below(4)) continue;
            chordal__buffer part;
            chordal__buffer_init(&part, memory, SIZE_MAX);
            uint8_t encoding = (uint8_t)(r ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY);
            chordal__change_write(&part, encoding, &provider, at[r], cut, &ops);
            check_read(&ops, encoding, &part, &readers[r], cut);
            CHECK_INT(readers[r].count, provider.count);
            at[r] = cut;
            chordal__buffer_dispose(&part);
        }
        chordal__ops_dispose(&ops);
    }
    CHECK(generations > 3);
    chordal__dictionary_dispose(&provider);
    for (int r = 0; r < 2; r++) chordal__dictionary_dispose(&readers[r]);
    end();
}

TEST(long_ops_come_back) {
    begin();
    chordal__segment member = {.index = 0};
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    chordal__op permute = {.kind = CHORDAL_OP_PERMUTE, .indexes_len = 100000};
    permute.path = chordal__path_new(memory, &member, 1);
    permute.indexes = chordal__allocate(memory, permute.indexes_len * sizeof *permute.indexes);
    for (uint32_t i = 0; i < permute.indexes_len; i++) permute.indexes[i] = permute.indexes_len - 1 - i;
    size_t len = 1 << 20;
    char *letters = malloc(len);
    memset(letters, 'x', len);
    chordal__op append = {.kind = CHORDAL_OP_APPEND, .path = chordal__path_ref(permute.path)};
    append.value = chordal__node_string(memory, letters, len);
    CHECK_INT(chordal__ops_push(&ops, permute), 0);
    CHECK_INT(chordal__ops_push(&ops, append), 0);
    for (uint8_t encoding = CHORDAL__ENCODING_BINARY; encoding <= CHORDAL__ENCODING_JSON; encoding++) {
        chordal__buffer part;
        chordal__buffer_init(&part, memory, SIZE_MAX);
        chordal__ops_write(&part, encoding, &ops, NULL);
        check_read(&ops, encoding, &part, NULL, 0);
        chordal__buffer_dispose(&part);
    }
    free(letters);
    chordal__ops_dispose(&ops);
    end();
}

TEST(a_buffer_that_is_full_tells) {
    begin();
    random_state = 17;
    chordal__ops ops = random_ops(6, true);
    for (uint8_t encoding = CHORDAL__ENCODING_BINARY; encoding <= CHORDAL__ENCODING_JSON; encoding++) {
        chordal__buffer whole, part;
        chordal__buffer_init(&whole, memory, SIZE_MAX);
        chordal__ops_write(&whole, encoding, &ops, NULL);
        for (size_t limit = 0; limit <= whole.len; limit++) {
            chordal__buffer_init(&part, memory, limit);
            chordal__ops_write(&part, encoding, &ops, NULL);
            CHECK_INT(part.failed, limit < whole.len ? CHORDAL_E_SIZE : 0);
            chordal__buffer_dispose(&part);
        }
        chordal__buffer_dispose(&whole);
    }
    chordal__ops_dispose(&ops);
    end();
}

/* ---- hostile parts ---- */

static void check_failed(int code, const chordal_error *error, size_t len) {
    static const int codes[] = {0,
                                CHORDAL_E_SYNTAX,
                                CHORDAL_E_UTF8,
                                CHORDAL_E_NUMBER,
                                CHORDAL_E_DEPTH,
                                CHORDAL_E_DUPLICATE_KEY,
                                CHORDAL_E_TRUNCATED,
                                CHORDAL_E_TRAILING,
                                CHORDAL_E_SIZE,
                                CHORDAL_E_PATH,
                                CHORDAL_E_RANGE,
                                CHORDAL_E_PERMUTATION};
    bool known = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) known = known || code == codes[i];
    if (!known) CHECK_FAIL("code %d", code);
    if (code < 0) CHECK(error->position <= len && error->code == code && error->detail[0]);
}

static uint8_t *spoiled(const chordal__buffer *part, size_t *out_len) {
    static const char letters[] = "[]{}\",:#*=!rsdatpm0129\\-";
    *out_len = part->len - (random_below(3) ? 0 : random_below(part->len + 1));
    uint8_t *data = malloc(*out_len + (*out_len == 0));
    memcpy(data, part->data, *out_len);
    for (uint64_t times = random_below(4); *out_len && times--;) {
        uint8_t *place = &data[random_below(*out_len)];
        uint64_t how = random_below(3);
        if (how == 0)
            *place = (uint8_t)random_below(256);
        else if (how == 1)
            *place ^= (uint8_t)(1 << random_below(8));
        else
            *place = (uint8_t)letters[random_below(sizeof letters - 1)];
    }
    return data;
}

static void read_spoiled(uint8_t encoding, const chordal__buffer *part, chordal__dictionary *dictionary) {
    size_t len;
    uint8_t *data = spoiled(part, &len);
    chordal__ops ops;
    chordal_error error = {0};
    chordal__ops_init(&ops, memory);
    check_failed(chordal__ops_read(&ops, encoding, data, len, dictionary, 9, &limits, &error), &error, len);
    chordal__ops_dispose(&ops);
    free(data);
}

TEST(spoiled_ops_are_refused_or_read) {
    begin();
    random_state = 19;
    for (int round = 0; round < 8000; round++) {
        uint8_t encoding = (uint8_t)(round & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY);
        bool stream = round & 2;
        chordal__ops ops = random_ops(1 + random_below(4), !stream);
        chordal__dictionary provider, reader;
        chordal__buffer part;
        chordal__buffer_init(&part, memory, SIZE_MAX);
        chordal__dictionary_init(&provider, memory, 8, seed);
        chordal__dictionary_init(&reader, memory, 8, seed);
        if (stream) {
            CHECK_INT(chordal__dictionary_note(&provider, &ops, 1), 0);
            CHECK_INT(chordal__dictionary_note(&provider, &ops, 2), 0);
        }
        chordal__change_write(&part, encoding, &provider, 0, 2, &ops);
        read_spoiled(encoding, &part, stream ? &reader : NULL);
        chordal__buffer_dispose(&part);
        chordal__dictionary_dispose(&provider);
        chordal__dictionary_dispose(&reader);
        chordal__ops_dispose(&ops);
    }
    end();
}

static void free_members(chordal__member_value *told) {
    for (int i = 0; i < 5; i++) {
        chordal__node_unref(memory, told[i].value);
        chordal__node_unref(memory, told[i].error);
    }
}

static bool same_member(const chordal__member_value *a, const chordal__member_value *b) {
    if (!a->value != !b->value || !a->error != !b->error) return false;
    return (!a->value || chordal__node_equal(a->value, b->value)) &&
           (!a->error || chordal__node_equal(a->error, b->error));
}

/* JSON whose third list is empty is read at once, but not when there is a space in the list: all else is the same. */
static void read_with_a_space(const uint8_t *data, size_t len, const bool *is_state, int code, uint64_t position,
                              const chordal__member_value *told) {
    if (len < 4 || memcmp(data + len - 4, ",[]]", 4) != 0) return;
    chordal__member_value again[5];
    chordal__dictionary reader;
    chordal_error error = {0};
    uint8_t *spaced = malloc(len + 1);
    memcpy(spaced, data, len - 2);
    memcpy(spaced + len - 2, " ]]", 3);
    chordal__dictionary_init(&reader, memory, 8, seed);
    CHECK_INT(chordal__snapshot_read(memory, CHORDAL__ENCODING_JSON, spaced, len + 1, &reader, 3, again, is_state, 5,
                                     &limits, &error),
              code);
    CHECK(error.position == position || (position >= len - 2 && error.position >= len - 2));
    for (int i = 0; code == 0 && i < 5; i++) CHECK(same_member(&told[i], &again[i]));
    free_members(again);
    chordal__dictionary_dispose(&reader);
    free(spaced);
}

TEST(spoiled_snapshots_are_refused_or_read) {
    begin();
    random_state = 23;
    static const bool is_state[] = {true, false, true, true, true};
    for (int round = 0; round < 8000; round++) {
        uint8_t encoding = (uint8_t)(round & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY);
        chordal__member_value from[5] = {{NULL, NULL}}, to[5];
        chordal__dictionary provider, reader;
        chordal__ops ops = random_ops(2, false);
        chordal__buffer part, packed;
        size_t offsets[6], len;
        chordal_error error = {0};
        chordal__buffer_init(&part, memory, SIZE_MAX);
        chordal__buffer_init(&packed, memory, SIZE_MAX);
        chordal__dictionary_init(&provider, memory, 8, seed);
        chordal__dictionary_init(&reader, memory, 8, seed);
        for (uint64_t cut = 1; cut <= 2; cut++) CHECK_INT(chordal__dictionary_note(&provider, &ops, cut), 0);
        for (int i = 0; i < 5; i++) {
            if (!is_state[i]) continue;
            bool plain = round & 4;
            from[i].value = plain || random_below(5) ? random_value() : NULL;
            from[i].error = plain ? NULL : random_error();
        }
        chordal__snapshot_write(&part, encoding, &provider, from, is_state, 5);
        uint8_t *data = spoiled(&part, &len);
        int code = chordal__snapshot_read(memory, encoding, data, len, &reader, 3, to, is_state, 5, &limits, &error);
        check_failed(code, &error, len);
        if (round & 1) read_with_a_space(data, len, is_state, code, error.position, to);
        int again = chordal__snapshot_repack(memory, encoding, data, len, &reader, 3, &packed, offsets, is_state, 5,
                                             &limits, &error);
        check_failed(again, &error, len);
        if (code != again && code != CHORDAL_E_DUPLICATE_KEY) CHECK_FAIL("read: %d, repacked: %d", code, again);
        free_members(from);
        free_members(to);
        free(data);
        chordal__buffer_dispose(&part);
        chordal__buffer_dispose(&packed);
        chordal__ops_dispose(&ops);
        chordal__dictionary_dispose(&provider);
        chordal__dictionary_dispose(&reader);
    }
    end();
}

TEST(a_part_over_the_limit) {
    begin();
    chordal__ops ops;
    chordal_error error = {0};
    chordal__limits small = {.depth = 64, .size = 9};
    chordal__ops_init(&ops, memory);
    const char *json = "[\"t\",[0],1]";
    CHECK_INT(
        chordal__ops_read(&ops, CHORDAL__ENCODING_JSON, (const uint8_t *)json, strlen(json), NULL, 0, &small, &error),
        CHORDAL_E_SIZE);
    CHECK_INT(error.position, 9);
    small.size = strlen(json);
    CHECK_INT(
        chordal__ops_read(&ops, CHORDAL__ENCODING_JSON, (const uint8_t *)json, strlen(json), NULL, 0, &small, &error),
        0);
    chordal__ops_dispose(&ops);
    end();
}

TESTS({"inline ops come back", inline_ops_come_back}, {"changes come back", changes_come_back},
      {"long ops come back", long_ops_come_back}, {"a buffer that is full tells", a_buffer_that_is_full_tells},
      {"spoiled ops", spoiled_ops_are_refused_or_read}, {"spoiled snapshots", spoiled_snapshots_are_refused_or_read},
      {"a part over the limit", a_part_over_the_limit})
