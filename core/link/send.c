/* send.c: messages into a link's queue of frames, and out of it. */
#include "link/link.h"

static void break_link(chordal__link *link, int code) {
    if (!link->broken) link->broken = code;
}

/* What a frame that waits costs at least: many small ones count too. */
static size_t weigh(const chordal__frame *frame) {
    return frame->bytes + sizeof *frame + frame->pieces_len * sizeof *frame->pieces;
}

int chordal__try_send(chordal__link *link, const chordal__message *message, size_t *out_bytes) {
    *out_bytes = 0;
    if (!link->transport || link->broken || link->bye_sent) return 0;
    chordal__list *last = link->queue.previous;
    int code = chordal__codec_encode(&link->codec, message, &link->queue);
    if (code < 0) return code;
    for (chordal__list *node = last->next; node != &link->queue; node = node->next) {
        const chordal__frame *frame = CHORDAL__ENTRY(node, chordal__frame, node);
        *out_bytes += frame->bytes;
        link->queued += weigh(frame);
    }
    link->runtime->counters.messages_out++;
    link->runtime->counters.bytes_out += *out_bytes;
    if (link->queued > link->runtime->settings.queue_limit) break_link(link, CHORDAL_E_LIMIT);
    chordal__tell(link->runtime, &link->output);
    return 0;
}

void chordal__send(chordal__link *link, const chordal__message *message, size_t *out_bytes) {
    size_t bytes;
    int code = chordal__try_send(link, message, &bytes);
    if (code < 0) break_link(link, code);
    if (out_bytes) *out_bytes = bytes;
}

void chordal__send_simple(chordal__origin *origin, uint8_t kind, uint64_t number) {
    chordal__message message = {.kind = kind, .origin = origin->number, .numbers = {number}};
    chordal__send(origin->link, &message, NULL);
}

void chordal__send_ended(chordal__origin *origin, int code, const char *reason, size_t reason_len) {
    const char *name = code ? chordal_error_name(code) : "";
    chordal__message message = {.kind = CHORDAL__ENDED, .origin = origin->number};
    message.texts[0].data = (const uint8_t *)name;
    message.texts[0].len = strlen(name);
    message.texts[1].data = (const uint8_t *)reason;
    message.texts[1].len = reason_len;
    chordal__send(origin->link, &message, NULL);
}

void chordal__send_text(chordal__origin *origin, uint8_t kind, uint64_t number, const char *code, size_t code_len,
                        const char *text, size_t text_len) {
    chordal__message message = {.kind = kind, .origin = origin->number, .numbers = {number}};
    message.texts[0].data = (const uint8_t *)code;
    message.texts[0].len = code_len;
    message.texts[1].data = (const uint8_t *)text;
    message.texts[1].len = text_len;
    chordal__send(origin->link, &message, NULL);
}

chordal__frame *chordal__link_first_frame(const chordal__link *link) {
    if (chordal__list_empty(&link->queue)) return NULL;
    return CHORDAL__ENTRY(link->queue.next, chordal__frame, node);
}

chordal__frame *chordal__link_pop_frame(chordal__link *link) {
    chordal__frame *frame = chordal__link_first_frame(link);
    if (!frame) return NULL;
    chordal__list_remove(&frame->node);
    link->shown = false;
    link->queued -= weigh(frame);
    return frame;
}

void chordal__link_sent(chordal__link *link) {
    chordal__frame_free(chordal__link_pop_frame(link));
}

void chordal__link_drop_queue(chordal__link *link) {
    while (!chordal__list_empty(&link->queue)) chordal__link_sent(link);
    chordal__untell(&link->output);
}

void chordal__link_drop_waiting(chordal__link *link) {
    chordal__list *kept = link->shown ? link->queue.next : &link->queue;
    while (kept->next != &link->queue) {
        chordal__frame *frame = CHORDAL__ENTRY(kept->next, chordal__frame, node);
        chordal__list_remove(&frame->node);
        link->queued -= weigh(frame);
        chordal__frame_free(frame);
    }
}
