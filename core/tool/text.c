/* text.c: text that grows, JSON strings. */
#include "tool/tool.h"

void tool_text_room(tool_text *text, size_t len) {
    if (text->len + len + 1 <= text->room) return;
    text->room = (text->len + len + 1) * 2;
    text->data = realloc(text->data, text->room);
    if (!text->data) tool_die("out of memory", NULL);
}

void tool_text_put(tool_text *text, const char *data, size_t len) {
    tool_text_room(text, len);
    if (len) memcpy(text->data + text->len, data, len);
    text->len += len;
    text->data[text->len] = '\0';
}

void tool_text_add(tool_text *text, const char *more) {
    tool_text_put(text, more, strlen(more));
}

void tool_text_json(tool_text *text, const char *data, size_t len) {
    tool_text_add(text, "\"");
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)data[i];
        char escape[8];
        if (byte < ' ')
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        else
            snprintf(escape, sizeof escape, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
        tool_text_add(text, escape);
    }
    tool_text_add(text, "\"");
}

void tool_text_value(tool_text *text, const chordal_value *value) {
    size_t len = 0;
    char *json = NULL;
    if (chordal_value_encode(value, CHORDAL_FORMAT_JSON, NULL, 0, &len, NULL) == CHORDAL_E_ROOM) json = malloc(len);
    if (json && chordal_value_encode(value, CHORDAL_FORMAT_JSON, (uint8_t *)json, len, &len, NULL) == 0)
        tool_text_put(text, json, len);
    free(json);
}

void tool_text_free(tool_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

char *tool_string(const chordal_cursor *cursor, size_t *out_len) {
    size_t len = 0;
    int code = chordal_cursor_string(cursor, NULL, 0, &len);
    if (code && code != CHORDAL_E_ROOM) return NULL;
    char *text = malloc(len + 1);
    if (!text || chordal_cursor_string(cursor, text, len, &len)) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    if (out_len) *out_len = len;
    return text;
}
