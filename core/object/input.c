/* input.c: values that come in across the API, in either format. */
#include "object/object.h"

int chordal__node_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len, chordal__node **out,
                     chordal_error *error) {
    if (format == CHORDAL_FORMAT_JSON)
        return chordal__json_read(runtime->memory, data, len, &runtime->settings.limits, out, error);
    if (format == CHORDAL_FORMAT_PACKED)
        return chordal__pack_read(runtime->memory, data, len, &runtime->settings.limits, out, error);
    return chordal__fail(error, CHORDAL_E_INVALID, 0, "no such format");
}

chordal__body *chordal__body_of_buffer(chordal__memory *memory, const chordal__buffer *buffer) {
    if (buffer->failed) return NULL;
    chordal__body *body = chordal__body_new(memory, buffer->len);
    if (body && buffer->len) memcpy(body->data, buffer->data, buffer->len);
    return body;
}

static int pack_json(chordal__runtime *runtime, const uint8_t *data, size_t len, chordal__body **out,
                     chordal_error *error) {
    chordal__reader reader = chordal__reader_of(data, len);
    chordal__buffer *scratch = &runtime->scratch;
    chordal__buffer_clear(scratch);
    int code = chordal__pack_from_json(scratch, &reader, &runtime->settings.limits, error);
    if (code < 0) return code;
    while (reader.at < reader.end && strchr(" \t\r\n", *reader.at) && *reader.at) reader.at++;
    if (reader.at != reader.end)
        return chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), "data behind the value");
    if (scratch->failed) return chordal__fail(error, scratch->failed, 0, "no room for the value");
    *out = chordal__body_of_buffer(runtime->memory, scratch);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the value");
}

int chordal__pack_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len, chordal__body **out,
                     chordal_error *error) {
    if (format == CHORDAL_FORMAT_JSON) return pack_json(runtime, data, len, out, error);
    if (format != CHORDAL_FORMAT_PACKED) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no such format");
    chordal__reader reader = chordal__reader_of(data, len);
    int code = chordal__pack_check(runtime->memory, &reader, &runtime->settings.limits, error);
    if (code < 0) return code;
    if (reader.at != reader.end)
        return chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), "data behind the value");
    chordal__body *body = chordal__body_new(runtime->memory, len);
    if (!body) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the value");
    memcpy(body->data, data, len);
    *out = body;
    return 0;
}

static int refuse(chordal_error *error, int code, uint64_t position, const char *words) {
    return chordal__fail(error, code, position, words);
}

static bool begins_bytes(const chordal__reader *reader) {
    return reader->at < reader->end && *reader->at >= 0xc4 && *reader->at <= 0xc6;
}

int chordal__arguments_next(chordal__runtime *runtime, chordal__reader *reader, const uint8_t **out_bytes,
                            size_t *out_len, chordal_error *error) {
    uint8_t head = reader->at < reader->end ? *reader->at : 0;
    *out_bytes = NULL;
    if (!begins_bytes(reader)) return chordal__pack_skip(reader, &runtime->settings.limits, error);
    uint64_t at = chordal__reader_position(reader);
    chordal__read_byte(reader);
    uint32_t width = 1u << (head - 0xc4), len = 0;
    for (uint32_t i = 0; i < width; i++) len = len << 8 | chordal__read_byte(reader);
    *out_bytes = chordal__read_bytes(reader, len);
    *out_len = len;
    return reader->failed ? refuse(error, reader->failed, at, "bytes that end too early") : 0;
}

int chordal__arguments_begin(chordal__reader *reader, uint64_t *out_count, chordal_error *error) {
    uint8_t head = chordal__read_byte(reader);
    uint64_t count = 0;
    if (head >= 0x90 && head <= 0x9f) {
        count = head & 15;
    } else if (head == 0xdc || head == 0xdd) {
        for (int i = 0, width = head == 0xdc ? 2 : 4; i < width; i++) count = count << 8 | chordal__read_byte(reader);
    } else if (!reader->failed) {
        return refuse(error, CHORDAL_E_TYPE, 0, "the arguments are not an array");
    }
    if (reader->failed) return refuse(error, reader->failed, 0, "the arguments end too early");
    if (count > CHORDAL__ARGUMENTS_LIMIT) return refuse(error, CHORDAL_E_LIMIT, 0, "too many arguments");
    *out_count = count;
    return 0;
}

static int check_arguments(chordal__runtime *runtime, const uint8_t *data, size_t len, chordal_error *error) {
    chordal__reader reader = chordal__reader_of(data, len);
    uint64_t count;
    int code = chordal__arguments_begin(&reader, &count, error);
    for (uint64_t i = 0; code >= 0 && i < count; i++) {
        const uint8_t *bytes;
        size_t bytes_len;
        code = begins_bytes(&reader) ? chordal__arguments_next(runtime, &reader, &bytes, &bytes_len, error)
                                     : chordal__pack_check(runtime->memory, &reader, &runtime->settings.limits, error);
    }
    if (code >= 0 && reader.at != reader.end)
        return refuse(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), "data behind the arguments");
    return code;
}

int chordal__arguments_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                          chordal__body **out, chordal_error *error) {
    if (len > runtime->settings.limits.size) return refuse(error, CHORDAL_E_SIZE, 0, "the arguments are too large");
    if (format == CHORDAL_FORMAT_PACKED) {
        int code = check_arguments(runtime, data, len, error);
        if (code < 0) return code;
        *out = chordal__body_new(runtime->memory, len);
        if (!*out) return refuse(error, CHORDAL_E_NOMEM, 0, "no memory for the arguments");
        memcpy((*out)->data, data, len);
        return 0;
    }
    chordal__body *body;
    int code = chordal__pack_of(runtime, format, data, len, &body, error);
    if (code < 0) return code;
    code = check_arguments(runtime, body->data, body->len, error);
    if (code < 0) {
        chordal__body_unref(body);
        return code;
    }
    *out = body;
    return 0;
}
