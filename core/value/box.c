/* box.c: the public handle of a value. It holds the memory, which may outlive the host. */
#include "value/node.h"

struct chordal_value {
    uint32_t references;
    chordal__memory *memory;
    chordal__node *node;
};

chordal_value *chordal__box_new(chordal__memory *memory, chordal__node *node) {
    chordal_value *value = chordal__allocate(memory, sizeof *value);
    if (!value) return NULL;
    value->references = 1;
    value->memory = chordal__memory_ref(memory);
    value->node = chordal__node_ref(node);
    return value;
}

chordal__node *chordal__box_node(const chordal_value *value) {
    return value->node;
}

chordal_value *chordal_value_ref(chordal_value *value) {
    if (value) value->references++;
    return value;
}

void chordal_value_unref(chordal_value *value) {
    if (!value || --value->references) return;
    chordal__memory *memory = value->memory;
    chordal__node_unref(memory, value->node);
    chordal__release(memory, value, sizeof *value);
    chordal__memory_unref(memory);
}

int32_t chordal_value_equal(const chordal_value *a, const chordal_value *b) {
    if (!a || !b) return a == b;
    return chordal__node_equal(a->node, b->node);
}

uint64_t chordal_value_digest(const chordal_value *value) {
    return value ? chordal__node_digest(value->node) : 0;
}

int chordal_value_encode(const chordal_value *value, uint32_t format, uint8_t *buffer, size_t buffer_len,
                         size_t *out_len, chordal_error *error) {
    if (!value || !out_len || (!buffer && buffer_len)) return chordal__fail(error, CHORDAL_E_INVALID, 0, NULL);
    chordal__buffer text;
    chordal__buffer_init(&text, value->memory, SIZE_MAX);
    if (format == CHORDAL_FORMAT_JSON)
        chordal__json_write(&text, value->node);
    else if (format == CHORDAL_FORMAT_PACKED)
        chordal__pack_write(&text, value->node);
    else
        text.failed = CHORDAL_E_INVALID;
    int code = text.failed;
    if (!code) {
        *out_len = text.len;
        if (text.len > buffer_len) code = CHORDAL_E_ROOM;
    }
    if (!code) memcpy(buffer, text.data, text.len);
    chordal__buffer_dispose(&text);
    return code ? chordal__fail(error, code, 0, NULL) : 0;
}
