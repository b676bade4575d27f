/* ipc.c: a link over a pipe: each frame is its length as four little-endian bytes and its bytes. */
#include "uv/uv.h"

#include <stdio.h>

#define READ_BUFFER 65536
#define PIECES_FIRST 32
#define WRITES 64 /* frames sent in one go before others get their chance */

typedef struct ipc_pipe {
    chordal__uv_transport transport;
    uv_pipe_t handle;
    uv_connect_t connect;
    bool connected, closing;
    bool spawned; /* the process at the other end has not said yet that it is there */

    /* input: the frame that is not whole yet */
    uint8_t *frame;
    size_t frame_len, frame_capacity;
    uint8_t *input; /* READ_BUFFER bytes */

    /* output: the frame that is being written, its pieces borrowed from the core */
    uv_write_t write;
    bool writing;
    uint8_t head[4];
    chordal_piece *pieces;
    uv_buf_t *buffers;
    size_t room; /* of pieces and buffers */
} ipc_pipe;

/* ---- life ---- */

static void on_closed(uv_handle_t *handle) {
    ipc_pipe *self = handle->data;
    chordal_uv *adapter = self->transport.adapter;
    free(self->frame);
    free(self->input);
    free(self->pieces);
    free(self->buffers);
    free(self);
    chordal__uv_drop(adapter);
}

static void pipe_close(chordal__uv_transport *transport, int code) {
    (void)code; /* a pipe has no words of its own */
    ipc_pipe *self = (ipc_pipe *)transport;
    if (self->closing) return;
    self->closing = true;
    uv_close((uv_handle_t *)&self->handle, on_closed);
}

/* The peer or the system ended it. */
static void pipe_lost(ipc_pipe *self) {
    chordal__uv_link *link = self->transport.link;
    if (self->closing) return;
    pipe_close(&self->transport, 0);
    if (link) chordal__uv_link_lost(link);
}

/* ---- output ---- */

static void pipe_pull(chordal__uv_transport *transport);

static bool grow_pieces(ipc_pipe *self, size_t room) {
    chordal_piece *pieces = realloc(self->pieces, room * sizeof *pieces);
    if (!pieces) return false;
    self->pieces = pieces;
    uv_buf_t *buffers = realloc(self->buffers, (room + 1) * sizeof *buffers);
    if (!buffers) return false;
    self->buffers = buffers;
    self->room = room;
    return true;
}

/* The next frame as buffers: how many, 0 for none, -1 for a failure. */
static int next_frame(ipc_pipe *self, size_t *out_bytes) {
    chordal__uv_link *link = self->transport.link;
    size_t count = 0, bytes = 0;
    uint32_t frame;
    int code;
    while ((code = chordal_link_output(link->adapter->host, link->id, self->pieces, self->room, &count, &frame,
                                       NULL)) == CHORDAL_E_ROOM)
        if (!grow_pieces(self, count)) return -1;
    if (code) return -1;
    for (size_t i = 0; i < count; i++) {
        self->buffers[i + 1] = uv_buf_init((char *)(uintptr_t)self->pieces[i].data, (unsigned)self->pieces[i].len);
        bytes += self->pieces[i].len;
    }
    for (size_t i = 0; i < sizeof self->head; i++) self->head[i] = (uint8_t)(bytes >> (8 * i));
    self->buffers[0] = uv_buf_init((char *)self->head, sizeof self->head);
    *out_bytes = bytes + sizeof self->head;
    return count ? (int)count + 1 : 0;
}

static void on_written(uv_write_t *write, int status) {
    ipc_pipe *self = write->data;
    chordal__uv_link *link = self->transport.link;
    self->writing = false;
    if (self->closing || !link) return;
    if (status) {
        pipe_lost(self);
        return;
    }
    chordal_link_sent(link->adapter->host, link->id, NULL);
    pipe_pull(&self->transport);
}

/* What of the buffers is left behind `done` bytes. */
static uv_buf_t *rest_of(uv_buf_t *buffers, unsigned *count, size_t done) {
    while (done >= buffers->len && *count) {
        done -= buffers->len;
        buffers++, (*count)--;
    }
    buffers->base += done;
    buffers->len -= done;
    return buffers;
}

/* Write a frame: at once, or in the background. 1: it went at once, 0: it is on its way, -1: failed. */
static int write_frame(ipc_pipe *self, unsigned count, size_t bytes) {
    uv_stream_t *stream = (uv_stream_t *)&self->handle;
    int status = uv_try_write(stream, self->buffers, count);
    if (status < 0 && status != UV_EAGAIN) return -1;
    size_t done = status < 0 ? 0 : (size_t)status;
    if (done == bytes) return 1;
    uv_buf_t *rest = rest_of(self->buffers, &count, done);
    self->write.data = self;
    self->writing = true;
    if (uv_write(&self->write, stream, rest, count, on_written) == 0) return 0;
    self->writing = false;
    return -1;
}

static void pipe_pull(chordal__uv_transport *transport) {
    ipc_pipe *self = (ipc_pipe *)transport;
    chordal__uv_link *link = transport->link;
    if (!self->connected) {
        chordal__uv_link_drained(link);
        return;
    }
    for (;;) {
        size_t bytes = 0;
        if (self->writing) return;
        int count = next_frame(self, &bytes);
        if (count == 0) {
            chordal__uv_link_drained(link);
            return;
        }
        int done = count < 0 ? -1 : write_frame(self, (unsigned)count, bytes);
        if (done < 0) {
            pipe_lost(self);
            return;
        }
        if (done) chordal_link_sent(link->adapter->host, link->id, NULL);
    }
}

/* ---- input ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    ipc_pipe *self = handle->data;
    (void)suggested;
    if (!self->input) self->input = malloc(READ_BUFFER);
    *out = uv_buf_init((char *)self->input, self->input ? READ_BUFFER : 0);
}

/* The bytes that the frame at hand takes, head included, as far as is known; cut to one over the limit, which is enough
 * for the core to refuse it. */
static size_t frame_size(const ipc_pipe *self, const uint8_t *data, size_t len) {
    if (len < sizeof self->head) return sizeof self->head;
    uint64_t size = 0, limit = self->transport.adapter->frame_limit;
    for (size_t i = 0; i < sizeof self->head; i++) size |= (uint64_t)data[i] << (8 * i);
    return (size_t)(size > limit ? limit + 1 : size) + sizeof self->head;
}

static bool keep(ipc_pipe *self, const uint8_t *data, size_t len) {
    size_t need = self->frame_len + len;
    if (need > self->frame_capacity) {
        size_t capacity = self->frame_capacity * 2 > need ? self->frame_capacity * 2 : need;
        uint8_t *grown = realloc(self->frame, capacity);
        if (!grown) return false;
        self->frame = grown, self->frame_capacity = capacity;
    }
    memcpy(self->frame + self->frame_len, data, len);
    self->frame_len = need;
    return true;
}

/* The first message of a process that was started is empty: it is there. */
static bool begin(ipc_pipe *self, size_t size) {
    if (size != sizeof self->head) return false;
    self->spawned = false;
    self->connected = true;
    chordal__uv_link_up(self->transport.link);
    return self->transport.link != NULL;
}

static bool feed(ipc_pipe *self, const uint8_t *data, size_t size) {
    chordal__uv_link *link = self->transport.link;
    if (link && self->spawned) return begin(self, size);
    return link &&
           chordal__uv_link_feed(link, CHORDAL_FRAME_BINARY, data + sizeof self->head, size - sizeof self->head);
}

/* Go on with the frame that is kept; the bytes taken from `data`, or -1. */
static ptrdiff_t complete(ipc_pipe *self, const uint8_t *data, size_t len) {
    size_t want = frame_size(self, self->frame, self->frame_len) - self->frame_len;
    size_t take = want < len ? want : len;
    if (!keep(self, data, take)) return -1;
    if (self->frame_len < sizeof self->head || frame_size(self, self->frame, self->frame_len) > self->frame_len) {
        if (self->transport.link) chordal__uv_link_progress(self->transport.link);
        return (ptrdiff_t)take;
    }
    bool fed = feed(self, self->frame, self->frame_len);
    self->frame_len = 0;
    if (self->frame_capacity > READ_BUFFER) {
        free(self->frame);
        self->frame = NULL, self->frame_capacity = 0;
    }
    return fed ? (ptrdiff_t)take : -1;
}

static bool take(ipc_pipe *self, const uint8_t *data, size_t len) {
    while (len && !self->closing) {
        size_t size = frame_size(self, data, len);
        if (self->frame_len || len < size || len < sizeof self->head) {
            ptrdiff_t taken = complete(self, data, len);
            if (taken < 0) return false;
            data += taken, len -= (size_t)taken;
        } else {
            if (!feed(self, data, size)) return false;
            data += size, len -= size;
        }
    }
    return true;
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer) {
    ipc_pipe *self = stream->data;
    if (self->closing || len == 0) return;
    if (len < 0 || !take(self, (const uint8_t *)buffer->base, (size_t)len)) pipe_lost(self);
}

/* ---- making ---- */

static const chordal__uv_transport_functions pipe_functions = {pipe_pull, pipe_pull, pipe_close};

static ipc_pipe *pipe_new(chordal_uv *adapter) {
    ipc_pipe *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    if (!grow_pieces(self, PIECES_FIRST) || uv_pipe_init(adapter->loop, &self->handle, 0)) {
        free(self->pieces);
        free(self->buffers);
        free(self);
        return NULL;
    }
    self->transport.functions = &pipe_functions;
    self->transport.adapter = adapter;
    self->handle.data = self;
    chordal__uv_hold(adapter);
    return self;
}

static bool pipe_start(ipc_pipe *self) {
    self->connected = true;
    return uv_read_start((uv_stream_t *)&self->handle, on_room, on_read) == 0;
}

int chordal__uv_ipc_accept(uv_stream_t *listener, chordal__uv_server *server) {
    ipc_pipe *self = pipe_new(server->adapter);
    if (!self) return CHORDAL_E_NOMEM;
    if (uv_accept(listener, (uv_stream_t *)&self->handle) || !pipe_start(self) ||
        !chordal__uv_link_accept(&self->transport, server->link_flags, CHORDAL_CODEC_BINARY)) {
        pipe_close(&self->transport, 0);
        return CHORDAL_E_LIMIT;
    }
    return 0;
}

static void on_connected(uv_connect_t *connect, int status) {
    ipc_pipe *self = connect->data;
    if (self->closing) return;
    if (status || !pipe_start(self))
        pipe_lost(self);
    else
        chordal__uv_link_up(self->transport.link);
}

int chordal__uv_ipc_dial(chordal__uv_link *link) {
    ipc_pipe *self = pipe_new(link->adapter);
    if (!self) return CHORDAL_E_NOMEM;
    self->connect.data = self;
    chordal__uv_tie(link, &self->transport);
    uv_pipe_connect(&self->connect, &self->handle, link->address->path, on_connected);
    return 0;
}

/* ---- pipes between a process and one that it starts ---- */

int chordal__uv_ipc_spawned(chordal__uv_link *link, uv_stream_t **out_stream) {
    ipc_pipe *self = pipe_new(link->adapter);
    if (!self) return CHORDAL_E_NOMEM;
    self->spawned = true;
    chordal__uv_tie(link, &self->transport);
    *out_stream = (uv_stream_t *)&self->handle;
    return 0;
}

bool chordal__uv_ipc_read(chordal__uv_link *link) {
    ipc_pipe *self = (ipc_pipe *)link->transport;
    return uv_read_start((uv_stream_t *)&self->handle, on_room, on_read) == 0;
}

int chordal__uv_ipc_inherited(chordal_uv *adapter, int socket, uint32_t flags, chordal_id *out_link,
                              chordal_error *error) {
    static const char here[sizeof((ipc_pipe *)0)->head] = {0}; /* an empty message */
    uv_buf_t mark = uv_buf_init((char *)(uintptr_t)here, sizeof here);
    ipc_pipe *self = pipe_new(adapter);
    if (!self) return chordal__uv_fail(error, UV_ENOMEM, "parent");
    int status = uv_pipe_open(&self->handle, socket);
    if (!status && uv_try_write((uv_stream_t *)&self->handle, &mark, 1) != (int)sizeof here) status = UV_EINVAL;
    chordal__uv_link *link = NULL;
    if (!status && pipe_start(self)) link = chordal__uv_link_accept(&self->transport, flags, CHORDAL_CODEC_BINARY);
    if (link) {
        *out_link = link->id;
        return 0;
    }
    pipe_close(&self->transport, 0);
    return chordal__uv_fail(error, status ? status : UV_ENOMEM, "parent");
}
