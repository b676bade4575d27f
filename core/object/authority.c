/* authority.c: what a session may claim: any value, compared by value. */
#include "object/object.h"

static void free_authority(chordal__authority *authority) {
    chordal__memory *memory = authority->memory;
    chordal__node_unref(memory, authority->value);
    chordal__body_unref(authority->packed);
    chordal__release(memory, authority, sizeof *authority);
}

/* TAKES value. NULL: no memory. */
static chordal__authority *of_node(chordal__runtime *runtime, chordal__node *value) {
    chordal__authority *authority = chordal__allocate_zero(runtime->memory, sizeof *authority);
    if (!authority) {
        chordal__node_unref(runtime->memory, value);
        return NULL;
    }
    authority->memory = runtime->memory;
    authority->references = 1;
    authority->value = value;
    authority->digest = chordal__node_digest(value);
    chordal__buffer_clear(&runtime->scratch);
    chordal__pack_write(&runtime->scratch, value);
    authority->packed = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (authority->packed) return authority;
    free_authority(authority);
    return NULL;
}

int chordal__authority_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                          chordal__authority **out, chordal_error *error) {
    chordal__node *value;
    *out = NULL;
    if (len > 2 * CHORDAL__AUTHORITY_LIMIT) return chordal__fail(error, CHORDAL_E_SIZE, 0, "an authority is too large");
    int code = chordal__node_of(runtime, format, data, len, &value, error);
    if (code < 0) return code;
    if (chordal__node_kind(value) == CHORDAL_KIND_NULL) {
        chordal__node_unref(runtime->memory, value);
        return 0;
    }
    chordal__authority *authority = of_node(runtime, value);
    if (!authority) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for an authority");
    if (authority->packed->len > CHORDAL__AUTHORITY_LIMIT) {
        free_authority(authority);
        return chordal__fail(error, CHORDAL_E_SIZE, 0, "an authority is too large");
    }
    *out = authority;
    return 0;
}

chordal__authority *chordal__authority_ref(chordal__authority *authority) {
    if (authority) authority->references++;
    return authority;
}

void chordal__authority_unref(chordal__authority *authority) {
    if (authority && --authority->references == 0) free_authority(authority);
}

bool chordal__authority_equal(const chordal__authority *a, const chordal__authority *b) {
    if (a == b) return true;
    return a && b && a->digest == b->digest && chordal__node_equal(a->value, b->value);
}
