/* page.c: lists of what is in the store, a page at a time, written as JSON. */
#include "store/store.h"

#define LIMIT 100
#define LIMIT_MOST 10000
#define LARGER 8  /* JSON may be so much larger than what was packed; a page is of several values */
#define AROUND 16 /* nesting of a page around a value */

void chordal__page_begin(chordal__page *page, chordal__store *store, const chordal__limits *limits, uint32_t limit) {
    *page = (chordal__page){.store = store, .limits = limits, .limit = limit ? limit : LIMIT};
    if (limit > LIMIT_MOST) page->limit = LIMIT_MOST;
    chordal__buffer_init(&page->out, store->memory, CHORDAL__PAGE_BYTES + LARGER * (size_t)limits->size);
    chordal__buffer_byte(&page->out, '[');
}

bool chordal__page_full(const chordal__page *page) {
    return page->count >= page->limit || page->out.len > CHORDAL__PAGE_BYTES;
}

void chordal__page_open(chordal__page *page) {
    if (page->count++) chordal__buffer_byte(&page->out, ',');
    chordal__buffer_byte(&page->out, '{');
}

void chordal__page_close(chordal__page *page) {
    chordal__buffer_byte(&page->out, '}');
}

void chordal__page_key(chordal__page *page, const char *key) {
    const chordal__buffer *out = &page->out;
    if (out->len && out->data[out->len - 1] != '{') chordal__buffer_byte(&page->out, ',');
    chordal__json_write_string(&page->out, (const uint8_t *)key, strlen(key));
    chordal__buffer_byte(&page->out, ':');
}

void chordal__page_text(chordal__page *page, const char *key, const void *text, size_t len) {
    chordal__page_key(page, key);
    chordal__json_write_string(&page->out, text, len);
}

void chordal__page_number(chordal__page *page, const char *key, uint64_t number) {
    chordal__page_key(page, key);
    chordal__buffer_decimal(&page->out, number);
}

/* Of a damaged file rows may come in any order: a list that is followed through its pages has an end nevertheless. */
int chordal__page_goes_on(const chordal__page *page, uint64_t after, chordal_error *error) {
    if (!page->next || page->next > after) return 0;
    return chordal__fail(error, CHORDAL_E_CORRUPT, 0, "the store: rows that are not in order");
}

int chordal__page_end(chordal__page *page, int code, chordal__node **out, chordal_error *error) {
    chordal__buffer_byte(&page->out, ']');
    if (code == 0 && page->out.failed) code = chordal__fail(error, page->out.failed, 0, "no room for a page");
    const chordal__limits limits = {.depth = page->limits->depth + AROUND, .size = page->out.len};
    if (code == 0) code = chordal__json_read(page->store->memory, page->out.data, page->out.len, &limits, out, error);
    chordal__buffer_dispose(&page->out);
    return code;
}
