/* send.c: messages into a link's queue of frames, and out of it. */
#include "link/link.h"

/* What a frame that waits costs at least: many small ones count too. */
static size_t weigh(const chordal__frame *frame) {
    return frame->bytes + sizeof *frame + frame->pieces_len * sizeof *frame->pieces;
}

/* ---- in ---- */

static bool is_sign_of_life(uint8_t kind) {
    return kind == CHORDAL__PING || kind == CHORDAL__PONG;
}

static bool stays_in_front(const chordal__frame *frame) {
    uint8_t kind = frame->message_kind;
    return frame->follows || kind == CHORDAL__HELLO || kind == CHORDAL__WELCOME || is_sign_of_life(kind);
}

/* A sign of life goes before what waits, but after what the edge is sending and the rest of a message that it began. */
static chordal__list *front(chordal__link *link) {
    chordal__list *node = link->queue.next;
    if (link->shown) node = node->next;
    while (node != &link->queue && stays_in_front(CHORDAL__ENTRY(node, chordal__frame, node))) node = node->next;
    return node;
}

int chordal__try_send(chordal__link *link, const chordal__message *message, size_t *out_bytes) {
    *out_bytes = 0;
    if (!link->transport || link->failing || link->bye_sent) return 0;
    chordal__list *before = is_sign_of_life(message->kind) ? front(link) : &link->queue, *last = before->previous;
    const chordal__origin *origin = chordal__origin_get(link, message->origin);
    link->codec.way_limit = origin ? origin->limit : 0;
    int code = chordal__codec_encode(&link->codec, message, before);
    if (code < 0) return code;
    for (const chordal__list *node = last->next; node != before; node = node->next) {
        const chordal__frame *frame = CHORDAL__ENTRY(node, chordal__frame, node);
        *out_bytes += frame->bytes;
        link->queued += weigh(frame);
    }
    link->runtime->counters.messages_out++;
    link->runtime->counters.bytes_out += *out_bytes;
    if (link->queued > link->runtime->settings.queue_limit) chordal__link_break(link, CHORDAL_E_LIMIT);
    chordal__tell(link->runtime, &link->output);
    return 0;
}

void chordal__send(chordal__link *link, const chordal__message *message, size_t *out_bytes) {
    size_t bytes;
    int code = chordal__try_send(link, message, &bytes);
    if (code < 0) chordal__link_break(link, code);
    if (out_bytes) *out_bytes = bytes;
}

void chordal__send_simple(chordal__origin *origin, uint8_t kind, uint64_t number) {
    chordal__message message = {.kind = kind, .origin = origin->number, .numbers = {number}};
    chordal__send(origin->link, &message, NULL);
}

void chordal__send_ended(chordal__origin *origin, int code, const char *reason, size_t reason_len) {
    const char *name = code ? chordal_error_name(code) : "";
    chordal__send_text(origin, CHORDAL__ENDED, 0, name, strlen(name), reason, reason_len);
}

size_t chordal__send_text(chordal__origin *origin, uint8_t kind, uint64_t number, const char *code, size_t code_len,
                          const char *text, size_t text_len) {
    size_t bytes;
    chordal__message message = {.kind = kind, .origin = origin->number, .numbers = {number}};
    message.texts[0].data = (const uint8_t *)code;
    message.texts[0].len = code_len;
    message.texts[1].data = (const uint8_t *)text;
    message.texts[1].len = text_len;
    int sent = chordal__try_send(origin->link, &message, &bytes);
    if (sent == CHORDAL_E_SIZE) {
        message.texts[1].len = 0;
        if (code_len > CHORDAL__BESIDE) {
            code = chordal_error_name(sent);
            message.texts[0].data = (const uint8_t *)code;
            message.texts[0].len = strlen(code);
        }
        sent = chordal__try_send(origin->link, &message, &bytes);
    }
    if (sent < 0) chordal__link_break(origin->link, sent);
    return bytes;
}

/* ---- out ---- */

chordal__frame *chordal__link_first_frame(const chordal__link *link) {
    if (chordal__list_empty(&link->queue)) return NULL;
    return CHORDAL__ENTRY(link->queue.next, chordal__frame, node);
}

static void take_out(chordal__link *link, chordal__frame *frame) {
    chordal__list_remove(&frame->node);
    link->queued -= weigh(frame);
    if (link->queued > CHORDAL__LINK_BACKLOG / 2) return;
    while (!chordal__list_empty(&link->held)) {
        chordal__list *provider = link->held.next;
        chordal__list_remove(provider);
        chordal__list_append(&link->links->flush, provider);
    }
}

chordal__frame *chordal__link_pop_frame(chordal__link *link) {
    chordal__frame *frame = chordal__link_first_frame(link);
    if (!frame) return NULL;
    link->shown = false;
    take_out(link, frame);
    return frame;
}

void chordal__link_done(chordal__link *link, chordal__frame *frame) {
    if (link->transport)
        chordal__frame_used(&link->codec, frame);
    else
        chordal__frame_free(frame);
}

void chordal__link_sent(chordal__link *link) {
    chordal__frame *frame = chordal__link_pop_frame(link);
    if (frame) chordal__link_done(link, frame);
}

void chordal__link_drop_queue(chordal__link *link) {
    while (!chordal__list_empty(&link->queue)) chordal__link_sent(link);
    chordal__untell(&link->output);
}

void chordal__link_drop_waiting(chordal__link *link) {
    chordal__list *kept = link->shown ? link->queue.next : &link->queue;
    /* The rest of a message that has begun stays: nothing else may come where its frames belong. */
    while (kept->next != &link->queue && CHORDAL__ENTRY(kept->next, chordal__frame, node)->follows) kept = kept->next;
    while (kept->next != &link->queue) {
        chordal__frame *frame = CHORDAL__ENTRY(kept->next, chordal__frame, node);
        take_out(link, frame);
        chordal__frame_free(frame);
    }
}
