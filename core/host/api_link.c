/* api_link.c: the public functions on links, and the memory link. */
#include "host/host.h"

/* Enter and find the link. */
static int enter(chordal_host *host, chordal_id id, chordal__link **out, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    *out = chordal__id_get(&host->runtime.ids, id, CHORDAL__ID_LINK);
    if (*out) return 0;
    return chordal__leave(host, chordal__fail(error, CHORDAL_E_CLOSED, 0, "no such link"));
}

static void set_now(chordal_host *host, chordal_time now) {
    if (now > host->runtime.now) host->runtime.now = now;
}

int chordal_link_open(chordal_host *host, uint32_t flags, chordal_id *out_link, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    chordal__link *link;
    const uint32_t known = CHORDAL_LINK_CONNECT | CHORDAL_LINK_OFFER | CHORDAL_LINK_NO_SERVE | CHORDAL_LINK_DEFLATE |
                           CHORDAL_LINK_PATIENT | CHORDAL_LINK_WORKER |
                           (CHORDAL__FORWARDS ? CHORDAL_LINK_ROUTE_OFFERS : 0) |
                           (CHORDAL__AUTHORITY ? CHORDAL_LINK_AUTHENTICATE | CHORDAL_LINK_TRUSTED : 0);
    const uint32_t not_both = CHORDAL_LINK_CONNECT | CHORDAL_LINK_AUTHENTICATE;
    code = flags & ~known || (flags & not_both) == not_both
               ? chordal__fail(error, CHORDAL_E_INVALID, 0, "unknown flags")
               : chordal__link_open(&host->links, flags, &link, error);
    if (code == 0) *out_link = link->id;
    return chordal__leave(host, code);
}

int chordal_link_up(chordal_host *host, chordal_id id, uint32_t codec, chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    return chordal__leave(host, chordal__link_up(link, codec, error));
}

int chordal_link_feed(chordal_host *host, chordal_id id, uint32_t frame, const uint8_t *data, size_t data_len,
                      chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    return chordal__leave(host, chordal__link_feed(link, frame, data, data_len, error));
}

int chordal_link_progress(chordal_host *host, chordal_id id, chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    chordal__link_progress(link);
    return chordal__leave(host, 0);
}

uint64_t chordal_link_limit(chordal_host *host) {
    return chordal__enter(host, NULL) < 0 ? 0 : (chordal__leave(host, 0), host->runtime.settings.limits.size);
}

int chordal_link_down(chordal_host *host, chordal_id id, chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    chordal__link_down(link, CHORDAL_E_LOST, CHORDAL__WORDS("the transport was lost"));
    return chordal__leave(host, 0);
}

int chordal_link_retry(chordal_host *host, chordal_id id, chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    chordal__link_retry(link);
    return chordal__leave(host, 0);
}

int chordal_link_close(chordal_host *host, chordal_id id, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    chordal__link_close(link);
    return chordal__leave(host, 0);
}

int chordal_link_drain(chordal_host *host, chordal_id id, chordal_time span, chordal_time now, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    set_now(host, now);
    chordal__link_drain(link, span);
    return chordal__leave(host, 0);
}

int chordal_host_leave(chordal_host *host, chordal_time span, chordal_time now, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0) return code;
    set_now(host, now);
    chordal__links_leave(&host->links, span);
    return chordal__leave(host, 0);
}

int chordal_link_credentials(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *credentials,
                             size_t credentials_len, chordal_error *error) {
    chordal__link *link;
    chordal__body *value;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    code = chordal__pack_of(&host->runtime, format, credentials, credentials_len, &value, error);
    if (code < 0) return chordal__leave(host, code);
    code = chordal__link_credentials(link, value, error);
    chordal__body_unref(value);
    return chordal__leave(host, code);
}

static const uint8_t *piece_data(const chordal__frame *frame, const chordal__frame_piece *piece) {
    return (piece->body ? piece->body->data : frame->own) + piece->offset;
}

int chordal_link_output(chordal_host *host, chordal_id id, chordal_piece *pieces, size_t pieces_len, size_t *out_count,
                        uint32_t *out_frame, chordal_error *error) {
    chordal__link *link;
    *out_count = 0;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    const chordal__frame *frame = chordal__link_first_frame(link);
    if (!frame) return chordal__leave(host, 0);
    *out_count = frame->pieces_len;
    *out_frame = frame->frame;
    if (frame->pieces_len > pieces_len)
        return chordal__leave(host, chordal__fail(error, CHORDAL_E_ROOM, 0, "the frame has more pieces"));
    link->shown = true;
    for (uint32_t i = 0; i < frame->pieces_len; i++)
        pieces[i] = (chordal_piece){piece_data(frame, &frame->pieces[i]), frame->pieces[i].len};
    return chordal__leave(host, 0);
}

int chordal_link_sent(chordal_host *host, chordal_id id, chordal_error *error) {
    chordal__link *link;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    chordal__link_sent(link);
    return chordal__leave(host, 0);
}

static void copy_frame(const chordal__frame *frame, uint8_t *out) {
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        if (frame->pieces[i].len) memcpy(out, piece_data(frame, &frame->pieces[i]), frame->pieces[i].len);
        out += frame->pieces[i].len;
    }
}

int chordal_link_take(chordal_host *host, chordal_id id, uint8_t *buffer, size_t buffer_len, size_t *out_len,
                      uint32_t *out_frame, chordal_error *error) {
    chordal__link *link;
    *out_len = 0;
    *out_frame = 0;
    int code = enter(host, id, &link, error);
    if (code < 0) return code;
    const chordal__frame *frame = chordal__link_first_frame(link);
    if (!frame) return chordal__leave(host, 0);
    *out_len = frame->bytes;
    if (frame->bytes > buffer_len)
        return chordal__leave(host, chordal__fail(error, CHORDAL_E_ROOM, 0, "the frame needs more room"));
    *out_frame = frame->frame;
    copy_frame(frame, buffer);
    host->runtime.counters.bytes_copied_out += frame->bytes;
    chordal__link_sent(link);
    return chordal__leave(host, 0);
}

/* ---- the memory link ---- */

static chordal__link *link_of(chordal_host *host, chordal_id id) {
    return chordal__id_get(&host->runtime.ids, id, CHORDAL__ID_LINK);
}

/* Feed one frame as it lies, or from one block when it has several pieces. */
static void hand_over(chordal__link *from, chordal__link *to, chordal__frame *frame) {
    chordal__runtime *runtime = from->runtime;
    if (frame->pieces_len == 1) {
        (void)chordal__link_feed(to, frame->frame, piece_data(frame, &frame->pieces[0]), frame->bytes, NULL);
        return;
    }
    uint8_t *block = chordal__allocate(runtime->memory, frame->bytes);
    if (!block) {
        chordal__link_break(from, CHORDAL_E_NOMEM);
        return;
    }
    copy_frame(frame, block);
    runtime->counters.bytes_copied_out += frame->bytes;
    (void)chordal__link_feed(to, frame->frame, block, frame->bytes, NULL);
    chordal__release(runtime->memory, block, frame->bytes);
}

/* Links go away at the beginning of entries only. */
static size_t carry_one_way(chordal__link *from, chordal__link *to) {
    size_t carried = 0;
    chordal__frame *frame;
    if (chordal__list_empty(&from->queue)) return 0;
    while ((frame = chordal__link_pop_frame(from)) != NULL) {
        if (to->transport) hand_over(from, to, frame);
        chordal__link_done(from, frame);
        chordal__links_flush(to->links);
        chordal__links_flush(from->links);
        carried++;
    }
    chordal__untell(&from->output);
    return carried;
}

/* Until nothing comes back. */
static size_t carry_all(chordal__link *a, chordal__link *b) {
    size_t total = 0;
    while (!chordal__list_empty(&a->queue) || !chordal__list_empty(&b->queue))
        total += carry_one_way(a, b) + carry_one_way(b, a);
    chordal__untell(&a->output);
    chordal__untell(&b->output);
    return total;
}

int chordal_link_carry(chordal_host *a, chordal_id link_a, chordal_host *b, chordal_id link_b, chordal_time now,
                       size_t *out_frames, chordal_error *error) {
    size_t total = 0;
    int code = chordal__enter(a, error);
    if (code < 0) return code;
    code =
        a == b ? chordal__fail(error, CHORDAL_E_INVALID, 0, "a memory link joins two hosts") : chordal__enter(b, error);
    if (code < 0) return chordal__leave(a, code);
    set_now(a, now);
    set_now(b, now);
    chordal__link *from = link_of(a, link_a), *to = link_of(b, link_b);
    if (from && to)
        total = carry_all(from, to);
    else
        code = chordal__fail(error, CHORDAL_E_CLOSED, 0, "no such link");
    if (out_frames) *out_frames = total;
    chordal__leave(b, 0);
    return chordal__leave(a, code);
}
