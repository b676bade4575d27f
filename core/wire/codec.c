/* codec.c: one per link and transport: whole messages in and out of transport frames, in either envelope. */
#include "wire/codec.h"

/* What a codec keeps between messages, at most; more is given back. */
#define KEPT_BYTES ((size_t)65536)
#define KEPT_ITEMS ((size_t)1024)

int chordal__codec_init(chordal__codec *codec, chordal__memory *memory, uint8_t kind, uint64_t message_limit,
                        uint32_t depth_limit) {
    if (kind != CHORDAL_CODEC_BINARY && kind != CHORDAL_CODEC_TEXT) return CHORDAL_E_INVALID;
    *codec = (chordal__codec){
        .memory = memory,
        .codec = kind,
        .depth_limit = depth_limit,
        .message_limit = message_limit,
        .send_limit = message_limit,
    };
    chordal__buffer_init(&codec->scratch, memory, PTRDIFF_MAX);
    chordal__buffer_init(&codec->texts, memory, PTRDIFF_MAX);
    chordal__buffer_init(&codec->waiting, memory, PTRDIFF_MAX);
    return 0;
}

static void free_array(chordal__codec *codec, void **items, size_t item_size, size_t *capacity, size_t kept) {
    if (*capacity <= kept) return;
    chordal__release(codec->memory, *items, *capacity * item_size);
    *items = NULL;
    *capacity = 0;
}

#define FREE_ARRAY(codec, field, capacity, kept)                                                                       \
    do {                                                                                                               \
        void *items = (codec)->field;                                                                                  \
        free_array(codec, &items, sizeof *(codec)->field, &(codec)->capacity, kept);                                   \
        (codec)->field = items;                                                                                        \
    } while (0)

static void clear_buffer(chordal__buffer *buffer) {
    chordal__buffer_clear(buffer);
    if (buffer->capacity > KEPT_BYTES) chordal__buffer_dispose(buffer);
}

static void clear_encoding(chordal__codec *codec) {
    clear_buffer(&codec->scratch);
    codec->insertions_len = 0;
    FREE_ARRAY(codec, insertions, insertions_capacity, KEPT_ITEMS);
}

/* Give back what the message decoded last borrowed. */
static void clear_decoded(chordal__codec *codec) {
    for (size_t i = 0; i < codec->raws_taken; i++) chordal__body_unref(codec->raws[i].body);
    codec->raws_len = codec->raws_taken = 0;
    clear_buffer(&codec->texts);
    clear_buffer(&codec->waiting);
    FREE_ARRAY(codec, list, list_capacity, KEPT_ITEMS);
    FREE_ARRAY(codec, holds, holds_capacity, KEPT_ITEMS);
    FREE_ARRAY(codec, raws, raws_capacity, KEPT_ITEMS);
}

void chordal__codec_dispose(chordal__codec *codec) {
    clear_decoded(codec);
    clear_encoding(codec);
    FREE_ARRAY(codec, insertions, insertions_capacity, 0);
    FREE_ARRAY(codec, list, list_capacity, 0);
    FREE_ARRAY(codec, holds, holds_capacity, 0);
    FREE_ARRAY(codec, raws, raws_capacity, 0);
    chordal__frame_free(codec->spare);
    codec->spare = NULL;
    chordal__buffer_dispose(&codec->scratch);
    chordal__buffer_dispose(&codec->texts);
    chordal__buffer_dispose(&codec->waiting);
}

/* ---- encoding ---- */

int chordal__codec_put_part(chordal__codec *codec, const chordal__part *part) {
    if (part->len <= CHORDAL__INLINE) {
        chordal__buffer_put(&codec->scratch, part->data, part->len);
        return 0;
    }
    void *insertions = codec->insertions;
    int code = chordal__grow(codec->memory, &insertions, sizeof *codec->insertions, &codec->insertions_capacity,
                             codec->insertions_len + 1, CHORDAL__LIST_LIMIT);
    codec->insertions = insertions;
    if (code != 0) return CHORDAL_E_NOMEM;
    codec->insertions[codec->insertions_len++] = (chordal__insertion){codec->scratch.len, part};
    return 0;
}

static int check_part(uint8_t kind, const chordal__part *part, uint64_t *bytes) {
    if (part->deflated && !chordal__message_allows_deflated(kind)) return CHORDAL_E_INVALID;
    if (part->raw && !chordal__message_allows_raw(kind)) return CHORDAL_E_INVALID;
    if (chordal__part_absent(part) && !chordal__message_allows_absent(kind)) return CHORDAL_E_INVALID;
    *bytes += part->whole ? part->whole : part->len;
    return 0;
}

static int check_list(const chordal__message *message, bool holds, uint64_t *bytes) {
    if (message->list_len > CHORDAL__LIST_LIMIT) return CHORDAL_E_SIZE;
    for (size_t i = 0; i < message->list_len; i++) {
        if (holds && message->holds[i] >= CHORDAL__NUMBER_END) return CHORDAL_E_INVALID;
        if (check_part(message->kind, &message->list[i], bytes) < 0) return CHORDAL_E_INVALID;
    }
    return 0;
}

/* Whether a message may be encoded at all, and what its parts come to at its receiver. */
static int check_message(const chordal__message *message, uint64_t *out_bytes) {
    const chordal__message_row *row = chordal__message_row_of(message->kind);
    if (!row || message->origin >= CHORDAL__NUMBER_END ||
        !chordal__message_allows_flags(message->kind, message->flags) ||
        !chordal__message_allows_origin(message->kind, message->origin)) {
        return CHORDAL_E_INVALID;
    }
    size_t number = 0, part = 0;
    int code = 0;
    *out_bytes = 0;
    for (const char *field = row->fields; *field && code == 0; field++) {
        if (*field == 'N' && message->numbers[number++] >= CHORDAL__NUMBER_END) return CHORDAL_E_INVALID;
        if (*field == 'P') code = check_part(message->kind, &message->parts[part++], out_bytes);
        if (*field == 'Q' || *field == 'S') code = check_list(message, *field == 'S', out_bytes);
    }
    return code;
}

/* Whether all links on the way of its session take it, whatever their envelopes. */
static bool fits_way(const chordal__codec *codec, const chordal__message *message, uint64_t bytes) {
    uint64_t texts = message->texts[0].len + message->texts[1].len;
    if (!codec->way_limit) return true;
    bytes += texts * CHORDAL__ESCAPED + (message->list_len + 2) * CHORDAL__BESIDE;
    return bytes <= codec->way_limit || bytes <= CHORDAL__LEAST_LIMIT;
}

static int append_frame(chordal__codec *codec, uint32_t kind, uint8_t message_kind, bool follows,
                        chordal__list *queue) {
    if (codec->scratch.failed) return codec->scratch.failed;
    chordal__frame *frame = chordal__frame_new(codec, kind, &codec->scratch, codec->insertions, codec->insertions_len);
    if (!frame) return CHORDAL_E_NOMEM;
    frame->message_kind = message_kind;
    frame->follows = follows;
    chordal__list_append(queue, &frame->node);
    return 0;
}

/* The binary frames of a text message's parts that are no JSON. */
static int append_raws(chordal__codec *codec, const chordal__message *message, chordal__list *queue) {
    size_t count = 0;
    const chordal__part *parts = chordal__message_parts(message, &count);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (!chordal__part_apart(&parts[i])) continue;
        clear_encoding(codec);
        code = chordal__codec_put_part(codec, &parts[i]);
        if (code == 0) code = append_frame(codec, CHORDAL_FRAME_BINARY, message->kind, true, queue);
    }
    return code;
}

/* The frames behind `last`. */
static uint64_t frames_bytes(const chordal__list *last, const chordal__list *end) {
    uint64_t bytes = 0;
    for (const chordal__list *node = last->next; node != end; node = node->next)
        bytes += CHORDAL__ENTRY(node, chordal__frame, node)->bytes;
    return bytes;
}

static void free_frames(const chordal__list *last, const chordal__list *end) {
    while (last->next != end) {
        chordal__list *node = last->next;
        chordal__list_remove(node);
        chordal__frame_free(CHORDAL__ENTRY(node, chordal__frame, node));
    }
}

static int encode(chordal__codec *codec, const chordal__message *message, chordal__list *before) {
    uint64_t bytes;
    const chordal__list *last = before->previous;
    int code = check_message(message, &bytes);
    if (code != 0) return code;
    if (bytes > codec->send_limit || !fits_way(codec, message, bytes)) return CHORDAL_E_SIZE;
    bool text = codec->codec == CHORDAL_CODEC_TEXT;
    code = text ? chordal__text_write(codec, message) : chordal__binary_write(codec, message);
    if (code != 0) return code;
    code = append_frame(codec, text ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY, message->kind, false, before);
    if (code == 0 && text) code = append_raws(codec, message, before);
    if (code == 0 && frames_bytes(last, before) > codec->send_limit) code = CHORDAL_E_SIZE;
    return code;
}

int chordal__codec_encode(chordal__codec *codec, const chordal__message *message, chordal__list *before) {
    chordal__list *last = before->previous;
    int code = encode(codec, message, before);
    clear_encoding(codec);
    if (code != 0)
        free_frames(last, before);
    else if (message->origin)
        codec->current_out = message->origin;
    return code;
}

/* ---- decoding ---- */

int chordal__codec_room(chordal__codec *codec, size_t need, bool with_holds) {
    void *list = codec->list, *holds = codec->holds;
    int code =
        chordal__grow(codec->memory, &list, sizeof *codec->list, &codec->list_capacity, need, CHORDAL__LIST_LIMIT);
    codec->list = list;
    if (code == 0 && with_holds) {
        code = chordal__grow(codec->memory, &holds, sizeof *codec->holds, &codec->holds_capacity, need,
                             CHORDAL__LIST_LIMIT);
        codec->holds = holds;
    }
    return code == CHORDAL_E_LIMIT ? CHORDAL_E_TOO_LARGE : code;
}

static const char *detail_of(int code) {
    switch (code) {
    case CHORDAL_E_MALFORMED:
        return "malformed message";
    case CHORDAL_E_DEPTH:
        return "a part is nested too deep";
    case CHORDAL_E_TOO_LARGE:
        return "the message is over the limit";
    case CHORDAL_E_ORDER:
        return "a frame of the wrong kind";
    default:
        return "out of memory";
    }
}

static int fail(chordal_error *error, int code, uint64_t position) {
    return chordal__fail(error, code, code == CHORDAL_E_NOMEM ? 0 : position, detail_of(code));
}

static int read_whole(chordal__codec *codec, const uint8_t *data, size_t len, chordal__message *out,
                      chordal_error *error) {
    *out = (chordal__message){0};
    chordal__reader in = chordal__reader_of(data, len);
    int code = codec->codec == CHORDAL_CODEC_TEXT ? chordal__text_read(codec, &in, out)
                                                  : chordal__binary_read(codec, &in, out);
    return code != 0 ? fail(error, code, chordal__reader_position(&in)) : 0;
}

/* Give the parts that came in frames of their own their bytes. */
static void place_raws(chordal__codec *codec, const uint8_t *last, chordal__message *out) {
    chordal__part *parts = out->list ? out->list : out->parts;
    for (size_t i = 0; i < codec->raws_len; i++) {
        chordal__raw *raw = &codec->raws[i];
        if (out->unknown) return;
        parts[raw->index].data = raw->body ? raw->body->data : last;
        parts[raw->index].body = raw->body;
    }
}

static int take_raw(chordal__codec *codec, const uint8_t *data, size_t len, chordal__message *out,
                    chordal_error *error) {
    chordal__raw *raw = &codec->raws[codec->raws_taken];
    if (len != raw->len) return fail(error, CHORDAL_E_MALFORMED, len < raw->len ? len : raw->len);
    if (codec->raws_taken + 1 < codec->raws_len) {
        raw->body = chordal__body_new(codec->memory, len);
        if (!raw->body) return fail(error, CHORDAL_E_NOMEM, 0);
        if (len) memcpy(raw->body->data, data, len);
        codec->raws_taken++;
        return 0;
    }
    int code = read_whole(codec, codec->waiting.data, codec->waiting.len, out, error);
    if (code != 0) return code;
    codec->raws_taken++;
    place_raws(codec, data, out);
    if (out->origin) codec->current_in = out->origin;
    return 1;
}

static int take_message(chordal__codec *codec, const uint8_t *data, size_t len, chordal__message *out,
                        chordal_error *error) {
    if (len > codec->message_limit) return fail(error, CHORDAL_E_TOO_LARGE, codec->message_limit);
    int code = read_whole(codec, data, len, out, error);
    if (code != 0) return code;
    if (!codec->raws_len) {
        if (out->origin) codec->current_in = out->origin;
        return 1;
    }
    chordal__buffer_put(&codec->waiting, data, len);
    return codec->waiting.failed ? fail(error, CHORDAL_E_NOMEM, 0) : 0;
}

int chordal__codec_decode(chordal__codec *codec, uint32_t frame, const uint8_t *data, size_t len, chordal__message *out,
                          chordal_error *error) {
    bool waits = codec->raws_taken < codec->raws_len;
    bool binary = waits || codec->codec == CHORDAL_CODEC_BINARY;
    if (frame != (binary ? CHORDAL_FRAME_BINARY : CHORDAL_FRAME_TEXT)) return fail(error, CHORDAL_E_ORDER, 0);
    if (waits) return take_raw(codec, data, len, out, error);
    clear_decoded(codec);
    return take_message(codec, data, len, out, error);
}
