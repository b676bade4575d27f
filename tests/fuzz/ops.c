/* Ops in a part, in either encoding, with and without a dictionary: what is read is written and read the same. */
#include "fuzz/values.h"

static void same_ops(const chordal__ops *a, const chordal__ops *b) {
    CHECK_INT(a->count, b->count);
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const chordal__op *x = &a->items[i], *y = &b->items[i];
        CHECK(x->kind == y->kind && x->index == y->index && x->remove == y->remove);
        CHECK(chordal__path_equal(x->path, y->path));
        CHECK(!x->value == !y->value && (!x->value || chordal__node_equal(x->value, y->value)));
        CHECK_BYTES(x->indexes, x->indexes_len * sizeof *x->indexes, y->indexes, y->indexes_len * sizeof *y->indexes);
    }
}

static void write_and_read(chordal__memory *memory, const chordal__ops *ops, uint8_t encoding) {
    chordal__buffer buffer;
    chordal__ops again;
    chordal__limits limits = {fuzz_limits.depth, 1 << 24};
    chordal__buffer_init(&buffer, memory, 1 << 24);
    chordal__ops_init(&again, memory);
    chordal__ops_write(&buffer, encoding, ops, NULL);
    CHECK_INT(buffer.failed, 0);
    CHECK_INT(chordal__ops_read(&again, encoding, buffer.data, buffer.len, NULL, 0, &limits, NULL), 0);
    same_ops(ops, &again);
    chordal__ops_dispose(&again);
    chordal__buffer_dispose(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    uint8_t encoding = data[0] & 1 ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
    bool stream = data[0] & 2;
    uint8_t *part = fuzz_exact(data + 1, size - 1);
    chordal__dictionary dictionary;
    chordal__ops ops;
    chordal_error error = {0};
    CHECK_INT(chordal__dictionary_init(&dictionary, memory, 16, fuzz_seed), 0);
    chordal__ops_init(&ops, memory);
    int code = chordal__ops_read(&ops, encoding, part, size - 1, stream ? &dictionary : NULL, 5, &fuzz_limits, &error);
    CHECK(code == 0 || (error.code == code && error.position <= size - 1 && ops.count == 0));
    CHECK(dictionary.count <= 16);
    write_and_read(memory, &ops, CHORDAL__ENCODING_BINARY);
    write_and_read(memory, &ops, CHORDAL__ENCODING_JSON);
    chordal__ops_dispose(&ops);
    chordal__dictionary_dispose(&dictionary);
    free(part);
    fuzz_end(memory);
    return 0;
}

FUZZ_MAIN(ops)
