/* parts.c: values between packed form, which the API and calls use, and the part encoding of a session. */
#include "link/link.h"

int chordal__part_to_packed(chordal__runtime *runtime, uint8_t encoding, const chordal__part *part,
                            chordal__buffer *out, chordal_error *error) {
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
