/* frame.c: a transport frame to send: a header of its own and shared bodies. */
#include "wire/codec.h"

static bool is_shared(const chordal__insertion *insertion) {
    return insertion->part->body != NULL;
}

/* The block of a frame that went, or a new one; sizes are rounded, so that it fits most. */
static chordal__frame *take_block(chordal__codec *codec, size_t size, size_t *out_size) {
    chordal__frame *spare = codec->spare;
    if (!spare || spare->size < size) {
        *out_size = (size + 63) & ~(size_t)63;
        return chordal__allocate(codec->memory, *out_size);
    }
    *out_size = spare->size;
    codec->spare = NULL;
    return spare;
}

/* One block holds the frame, its pieces and its own bytes. */
static chordal__frame *frame_allocate(chordal__codec *codec, size_t pieces, size_t own) {
    if (pieces > UINT32_MAX || own > PTRDIFF_MAX / 2) return NULL;
    size_t size = sizeof(chordal__frame) + pieces * sizeof(chordal__frame_piece) + own;
    chordal__frame *frame = take_block(codec, size, &size);
    if (!frame) return NULL;
    *frame = (chordal__frame){.memory = codec->memory, .size = size};
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

chordal__frame *chordal__frame_new(chordal__codec *codec, uint32_t frame_kind, const chordal__buffer *scratch,
                                   const chordal__insertion *insertions, size_t insertions_len) {
    size_t shared = 0, own = scratch->len;
    for (size_t i = 0; i < insertions_len; i++) {
        if (is_shared(&insertions[i]))
            shared++;
        else
            own += insertions[i].part->len;
    }
    chordal__frame *frame = frame_allocate(codec, shared * 2 + 1, own);
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

static void drop_pieces(chordal__frame *frame) {
    for (uint32_t i = 0; i < frame->pieces_len; i++) chordal__body_unref(frame->pieces[i].body);
    frame->pieces_len = 0;
}

/* The larger one is kept. */
void chordal__frame_used(chordal__codec *codec, chordal__frame *frame) {
    chordal__frame *spare = codec->spare;
    if (frame->size > CHORDAL__SPARE_BYTES || (spare && spare->size >= frame->size)) {
        chordal__frame_free(frame);
        return;
    }
    drop_pieces(frame);
    chordal__frame_free(spare);
    codec->spare = frame;
}

void chordal__frame_free(chordal__frame *frame) {
    if (!frame) return;
    drop_pieces(frame);
    chordal__release(frame->memory, frame, frame->size);
}
