/* deflate.c: parts made smaller and whole again (RFC 1951, raw), by zlib; the browser's build has wasm/inflate.c. */
#include "wire/wire.h"

#include <limits.h>
#include <stddef.h>
#include <zlib.h>

/* Measured on 160 KB of notes: 1.2 ms and 58 KB; level 6 takes 4.9 ms for 46 KB, and pays below 30 Mbit/s only. */
#define LEVEL 1
#define RAW_WINDOW (-15)
#define MEMORY_LEVEL 8
/* What did not shrink in its first bytes is not tried to its end. zlib keeps up to 16 KiB of them back. */
#define SAMPLE ((size_t)65536)
#define SAMPLE_MOST ((size_t)45 << 10)

bool chordal__zlib_fits(void) {
    return zlibVersion()[0] == ZLIB_VERSION[0];
}

/* ---- memory: a block has its size before it ---- */

typedef union block_head {
    size_t size;
    max_align_t align;
} block_head;

static void *take_block(void *memory, uInt items, uInt size) {
    size_t bytes = sizeof(block_head) + (size_t)items * size;
    block_head *head = chordal__allocate(memory, bytes);
    if (!head) return NULL;
    head->size = bytes;
    return head + 1;
}

static void give_block(void *memory, void *block) {
    block_head *head = (block_head *)block - 1;
    chordal__release(memory, head, head->size);
}

static z_stream stream_of(chordal__memory *memory) {
    return (z_stream){.zalloc = take_block, .zfree = give_block, .opaque = memory};
}

static void aim(z_stream *stream, const chordal__buffer *out) {
    size_t room = out->capacity - out->len;
    stream->next_out = out->data + out->len;
    stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
}

/* ---- smaller ---- */

static bool more_room(chordal__buffer *out, size_t most) {
    void *data = out->data;
    size_t need = out->len ? out->len + 1 : most / 4 + 1;
    int code = chordal__grow(out->memory, &data, 1, &out->capacity, need, most);
    out->data = data;
    return code == 0;
}

/* Take `len` more bytes; false: they come to more than `most`, or there is no memory. */
static bool deflate_some(z_stream *stream, size_t len, int flush, size_t most, chordal__buffer *out) {
    int code;
    stream->avail_in = (uInt)len;
    do {
        if (!more_room(out, most)) return false;
        aim(stream, out);
        code = deflate(stream, flush);
        out->len = (size_t)(stream->next_out - out->data);
    } while (code == Z_OK && (stream->avail_in || !stream->avail_out || flush == Z_FINISH));
    return code == Z_STREAM_END || flush != Z_FINISH;
}

static bool deflate_all(z_stream *stream, size_t len, chordal__buffer *out) {
    size_t most = len - len / 16;
    if (len <= SAMPLE) return deflate_some(stream, len, Z_FINISH, most, out);
    return deflate_some(stream, SAMPLE, Z_NO_FLUSH, most, out) && out->len < SAMPLE_MOST &&
           deflate_some(stream, len - SAMPLE, Z_FINISH, most, out);
}

bool chordal__deflate(const uint8_t *data, size_t len, chordal__buffer *out) {
    z_stream stream = stream_of(out->memory);
    if (!len || len > UINT_MAX ||
        deflateInit2(&stream, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)data;
    bool pays = deflate_all(&stream, len, out) && len / CHORDAL__INFLATE_RATIO < out->len;
    deflateEnd(&stream);
    return pays;
}

/* ---- whole again ---- */

static int code_of(int code, const z_stream *stream) {
    switch (code) {
    case Z_STREAM_END:
        return stream->avail_in ? CHORDAL_E_TRAILING : 0;
    case Z_BUF_ERROR:
        return CHORDAL_E_TRUNCATED;
    case Z_MEM_ERROR:
        return CHORDAL_E_NOMEM;
    default:
        return CHORDAL_E_SYNTAX;
    }
}

static int inflate_all(z_stream *stream, size_t most, chordal__buffer *out) {
    int code;
    do {
        if (!chordal__inflate_room(out, most)) return CHORDAL_E_NOMEM;
        aim(stream, out);
        code = inflate(stream, Z_NO_FLUSH);
        out->len = (size_t)(stream->next_out - out->data);
        if (out->len > most) return CHORDAL_E_TOO_LARGE;
    } while (code == Z_OK);
    return code_of(code, stream);
}

int chordal__inflate_some(const uint8_t *data, size_t len, size_t most, chordal__buffer *out, size_t *out_left) {
    z_stream stream = stream_of(out->memory);
    if (inflateInit2(&stream, RAW_WINDOW) != Z_OK) return CHORDAL_E_NOMEM;
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)len;
    int code = inflate_all(&stream, most, out);
    *out_left = stream.avail_in;
    inflateEnd(&stream);
    return code;
}
