/* frame.c: a transport frame to send: a header of its own and shared bodies. */
#include "wire/codec.h"

static bool is_shared(const chordal__insertion *insertion) {
    return insertion->part->body != NULL;
}

/* One block holds the frame, its pieces and its own bytes. */
static chordal__frame *frame_allocate(chordal__memory *memory, size_t pieces, size_t own) {
    if (pieces > UINT32_MAX || own > PTRDIFF_MAX / 2) return NULL;
    size_t size = sizeof(chordal__frame) + pieces * sizeof(chordal__frame_piece) + own;
    chordal__frame *frame = chordal__allocate(memory, size);
    if (!frame) return NULL;
    *frame = (chordal__frame){.memory = memory, .size = size};
    chordal__list_init(&frame->node);
    frame->pieces = (chordal__frame_piece *)(frame + 1);
    frame->own = (uint8_t *)(frame->pieces + pieces);
    return frame;
}

/* Own bytes that follow own bytes are one piece. */
static void add_own(chordal__frame *frame, size_t *own_len, const uint8_t *data, size_t len) {
    if (!len) return;
    memcpy(frame->own + *own_len, data, len);
    chordal__frame_piece *last = frame->pieces_len ? &frame->pieces[frame->pieces_len - 1] : NULL;
    if (last && !last->body) {
        last->len += len;
    } else {
        frame->pieces[frame->pieces_len++] = (chordal__frame_piece){.offset = *own_len, .len = len};
    }
    *own_len += len;
    frame->bytes += len;
}

static void add_body(chordal__frame *frame, const chordal__part *part) {
    frame->pieces[frame->pieces_len++] = (chordal__frame_piece){
        .body = chordal__body_ref(part->body),
        .offset = (size_t)(part->data - part->body->data),
        .len = part->len,
    };
    frame->bytes += part->len;
}

chordal__frame *chordal__frame_new(chordal__memory *memory, uint32_t frame_kind, const chordal__buffer *scratch,
                                   const chordal__insertion *insertions, size_t insertions_len) {
    size_t shared = 0, own = scratch->len;
    for (size_t i = 0; i < insertions_len; i++) {
        if (is_shared(&insertions[i]))
            shared++;
        else
            own += insertions[i].part->len;
    }
    chordal__frame *frame = frame_allocate(memory, shared * 2 + 1, own);
    if (!frame) return NULL;
    frame->frame = frame_kind;
    size_t from = 0, own_len = 0;
    for (size_t i = 0; i < insertions_len; i++) {
        const chordal__insertion *insertion = &insertions[i];
        if (insertion->at > from) add_own(frame, &own_len, scratch->data + from, insertion->at - from);
        from = insertion->at;
        if (is_shared(insertion))
            add_body(frame, insertion->part);
        else
            add_own(frame, &own_len, insertion->part->data, insertion->part->len);
    }
    if (scratch->len > from) add_own(frame, &own_len, scratch->data + from, scratch->len - from);
    /* Empty bytes are a frame too: it has one piece. */
    if (!frame->pieces_len) frame->pieces[frame->pieces_len++] = (chordal__frame_piece){0};
    return frame;
}

void chordal__frame_free(chordal__frame *frame) {
    if (!frame) return;
    for (uint32_t i = 0; i < frame->pieces_len; i++) chordal__body_unref(frame->pieces[i].body);
    chordal__release(frame->memory, frame, frame->size);
}
