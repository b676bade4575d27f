/* stream_gap.c: readers that come from an earlier run of this host, or from a session that is forgotten: what they
 * missed is read from the store's revisions. What is not in there (derives, documents in memory alone or without
 * history so far back) comes whole. */
#include "link/link.h"

static int add_member(const chordal__stream *stream, uint32_t member, uint64_t from, chordal__ops *ops, bool *kept) {
    chordal__ops missed;
    chordal__ops_init(&missed, ops->memory);
    int code = chordal__persist_since(stream->object, member, from, CHORDAL__STREAM_LOG_WEIGHT, &missed);
    if (code == 0) *kept = true;
    if (code == 0) code = chordal__ops_append(ops, &missed);
    if (code == CHORDAL_E_NOT_FOUND) code = chordal__stream_add_whole(stream, member, ops);
    chordal__ops_dispose(&missed);
    return code;
}

static int fold_all(const chordal__stream *stream, uint64_t from, chordal__ops *ops) {
    const chordal__members *members = stream->object->type->members;
    bool kept = false;
    int code = 0;
    for (uint32_t i = 0; i < members->count && code == 0; i++)
        if (members->is_state[i]) code = add_member(stream, i, from, ops, &kept);
    if (code == 0 && (!kept || chordal__stream_outweighs(stream, ops))) code = CHORDAL_E_NOT_FOUND;
    return code;
}

/* The dictionary of its reader is empty: all definitions come. */
static int encode_all(chordal__stream *stream, uint8_t encoding, uint64_t from, const chordal__ops *ops,
                      chordal__encoded *kept) {
    chordal__body *body;
    int code = chordal__stream_encode(stream, encoding, 0, ops, &body);
    if (code < 0) return code;
    chordal__body_unref(kept->body);
    chordal__body_unref(kept->deflated);
    *kept = (chordal__encoded){.from = from, .to = stream->last, .body = body};
    chordal__list *warm = &stream->object->runtime->links->warm;
    if (stream->warm.next == &stream->warm) chordal__list_append(warm, &stream->warm);
    return 0;
}

int chordal__stream_gap(chordal__stream *stream, uint8_t encoding, uint64_t from, chordal__encoded **out) {
    chordal__encoded *kept = &stream->gaps[encoding - 1];
    chordal__ops ops;
    *out = kept;
    if (kept->body && kept->from == from && kept->to == stream->last) return 0;
    chordal__ops_init(&ops, stream->object->runtime->memory);
    int code = fold_all(stream, from, &ops);
    if (code == 0 && !ops.count && !stream->dictionary.count)
        *out = NULL;
    else if (code == 0)
        code = encode_all(stream, encoding, from, &ops, kept);
    chordal__ops_dispose(&ops);
    return code;
}

/* A reader may come back to another run with what it is told here, so this one is noted in the store first. */
uint64_t chordal__stream_stored(const chordal__stream *stream) {
    const chordal__runtime *runtime = stream->object->runtime;
    uint64_t stored = stream->object->stored_at;
    if (!stored || chordal__lineage_tell(runtime->store, NULL) < 0) return 0;
    return runtime->commit_number - stored + 1;
}
