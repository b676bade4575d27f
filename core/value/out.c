/* out.c: writing at the end of a buffer. */
#include "value/node.h"

uint8_t *chordal__out_grow(chordal__out *out, uint8_t *at, size_t size) {
    chordal__buffer *buffer = out->buffer;
    if (at) buffer->len = (size_t)(at - buffer->data);
    uint8_t *place = chordal__buffer_extend(buffer, size);
    if (!place) return NULL;
    buffer->len -= size;
    out->end = buffer->data + buffer->capacity;
    return place;
}

uint8_t *chordal__out_fail(chordal__out *out, int code) {
    if (!out->buffer->failed) out->buffer->failed = code;
    return NULL;
}
