/* text.c: text that a thing owns, and the reason why something failed. */
#include "object/object.h"

int chordal__text_set(chordal__memory *memory, chordal__text *text, const void *data, size_t len) {
    char *copy = chordal__allocate(memory, len + 1);
    if (!copy) return CHORDAL_E_NOMEM;
    if (len) memcpy(copy, data, len);
    copy[len] = 0;
    chordal__text_clear(memory, text);
    text->data = copy;
    text->len = len;
    return 0;
}

void chordal__text_clear(chordal__memory *memory, chordal__text *text) {
    if (text->data) chordal__release(memory, text->data, text->len + 1);
    text->data = NULL;
    text->len = 0;
}

void chordal__reason_set(chordal__memory *memory, chordal__reason *reason, int code, const char *name, size_t name_len,
                         const char *detail, size_t detail_len) {
    chordal__reason_clear(memory, reason);
    reason->code = code;
    if (code == 0) return;
    if (!name) {
        name = chordal_error_name(code);
        name_len = strlen(name);
    }
    (void)chordal__text_set(memory, &reason->name, name, name_len);
    if (detail_len) (void)chordal__text_set(memory, &reason->detail, detail, detail_len);
}

void chordal__reason_clear(chordal__memory *memory, chordal__reason *reason) {
    chordal__text_clear(memory, &reason->name);
    chordal__text_clear(memory, &reason->detail);
    reason->code = 0;
}
