/* body.c: counted bytes that many messages share. */
#include "base/base.h"

chordal__body *chordal__body_new(chordal__memory *memory, size_t len) {
    if (len > PTRDIFF_MAX - sizeof(chordal__body)) return NULL;
    chordal__body *body = chordal__allocate(memory, sizeof *body + len);
    if (!body) return NULL;
    body->memory = memory;
    body->count = 1;
    body->len = len;
    return body;
}
