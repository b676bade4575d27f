/* parts.c: values between packed form, which the API and calls use, and the part encoding of a session; deflated. */
#include "link/link.h"

/* ---- deflated ---- */

chordal__body *chordal__body_deflate(chordal__runtime *runtime, const uint8_t *data, size_t len) {
    if (!CHORDAL__DEFLATES || len <= CHORDAL__DEFLATE_OVER) return NULL;
    runtime->counters.deflates++;
    chordal__buffer_clear(&runtime->scratch);
    bool pays = chordal__deflate(data, len, &runtime->scratch);
    return pays ? chordal__body_of_buffer(runtime->memory, &runtime->scratch) : NULL;
}

void chordal__part_deflate(chordal__runtime *runtime, chordal__part *part) {
    chordal__body *body = chordal__body_deflate(runtime, part->data, part->len);
    if (!body) return;
    chordal__body_unref(part->body);
    part->whole = part->len;
    part->deflated = true;
    part->body = body;
    part->data = body->data;
    part->len = body->len;
}

const chordal__part *chordal__part_whole(chordal__runtime *runtime, const chordal__part *part, chordal_error *error) {
    chordal__links *links = runtime->links;
    chordal__buffer *buffer = &links->inflated;
    if (!part->deflated) return part;
    runtime->counters.inflates++;
    chordal__buffer_clear(buffer);
    if (chordal__inflate(part->data, part->len, links->to_inflate, buffer, error) < 0) return NULL;
    links->to_inflate -= buffer->len;
    links->whole = (chordal__part){.data = buffer->data, .len = buffer->len, .raw = part->raw};
    return &links->whole;
}

void chordal__parts_begin(chordal__links *links) {
    links->to_inflate = links->runtime->settings.limits.size;
}

void chordal__parts_end(chordal__links *links) {
    if (links->inflated.data) chordal__buffer_dispose(&links->inflated);
}

/* ---- values ---- */

int chordal__part_to_packed(chordal__runtime *runtime, uint8_t encoding, const chordal__part *part,
                            chordal__buffer *out, chordal_error *error) {
    part = chordal__part_whole(runtime, part, error);
    if (!part) return error->code;
    chordal__reader reader = chordal__reader_of(part->data, part->len);
    int code;
    runtime->counters.parts_parsed++;
    if (encoding == CHORDAL__ENCODING_JSON) {
        code = chordal__pack_from_json(out, &reader, &runtime->settings.limits, error);
        while (reader.at < reader.end &&
               (*reader.at == ' ' || *reader.at == '\t' || *reader.at == '\n' || *reader.at == '\r'))
            reader.at++;
    } else {
        code = chordal__pack_check(runtime->memory, &reader, &runtime->settings.limits, error);
        if (code >= 0) chordal__buffer_put(out, part->data, part->len);
    }
    if (code >= 0 && reader.at != reader.end)
        code = chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), "data behind a value");
    if (code >= 0 && out->failed) code = chordal__fail(error, out->failed, 0, "no room for a value");
    return code < 0 ? code : 0;
}

int chordal__part_of_packed(chordal__runtime *runtime, uint8_t encoding, const uint8_t *data, size_t len,
                            chordal__body *body, chordal__part *out) {
    memset(out, 0, sizeof *out);
    if (encoding == CHORDAL__ENCODING_BINARY) {
        *out = (chordal__part){.data = data, .len = len, .body = body ? chordal__body_ref(body) : NULL};
        return 0;
    }
    chordal__reader reader = chordal__reader_of(data, len);
    chordal__buffer_clear(&runtime->scratch);
    int code = chordal__json_from_pack(&runtime->scratch, &reader, &runtime->settings.limits, NULL);
    if (code < 0) return code;
    out->body = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (!out->body) return CHORDAL_E_NOMEM;
    out->data = out->body->data;
    out->len = out->body->len;
    return 0;
}
