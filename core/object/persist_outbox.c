/* persist_outbox.c: what a commit wrote, as those who follow the store read it: [[type, params, member, change], …],
 * where a change is MessagePack bin of packed ops, [value] for a document that begins or begins anew, {"put": row} or
 * {"remove": [key, …]} for a row. */
#include "object/tables.h"

static void write_value(chordal__buffer *out, const chordal__object *object, const chordal__new_value *value) {
    const chordal__body *change = value->delta ? value->delta : value->base;
    chordal__address address;
    chordal__persist_address(object, value->member, &address);
    chordal__outbox_put(out, &address, !value->delta, change->data, change->len);
}

static bool is_written(const chordal__new_value *value) {
    return value->delta || value->base;
}

static uint64_t count_written(const chordal__commit *commit) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++) count += is_written(&commit->changes[i].values[k]);
    return count;
}

int chordal__outbox_write(const chordal__commit *commit, chordal_error *error) {
    chordal__runtime *runtime = commit->runtime;
    chordal__buffer *out = &runtime->scratch;
    uint64_t documents = count_written(commit), rows = chordal__tables_count(commit);
    chordal__buffer_clear(out);
    chordal__pack_write_array(out, documents + rows);
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (uint32_t k = 0; k < commit->changes[i].values_len; k++)
            if (is_written(&commit->changes[i].values[k]))
                write_value(out, commit->changes[i].object, &commit->changes[i].values[k]);
    chordal__tables_outbox(commit, out);
    if (out->failed) return chordal__fail(error, out->failed, 0, "no memory for the outbox");
    return chordal__outbox_add(runtime->store, commit->number, out->data, out->len, documents && !rows, error);
}

/* ---- read back, as JSON ---- */

static int damaged(uint64_t number, chordal_error *error) {
    return chordal__fail(error, CHORDAL_E_CORRUPT, number,
                         "a row of the outbox is damaged (its commit is the position)");
}

/* What follows a MessagePack head of `size` bytes. */
static uint64_t read_length(chordal__reader *reader, int size) {
    uint64_t length = 0;
    for (int i = 0; i < size; i++) length = length << 8 | chordal__read_byte(reader);
    return length;
}

static uint64_t read_count(chordal__reader *reader) {
    uint8_t head = chordal__read_byte(reader);
    if ((head & 0xf0) == 0x90) return head & 15;
    if (head == 0xdc || head == 0xdd) return read_length(reader, head == 0xdc ? 2 : 4);
    if (!reader->failed) reader->failed = CHORDAL_E_SYNTAX;
    return 0;
}

static int show_value(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    return chordal__json_from_pack(&page->out, reader, page->limits, error);
}

static bool begins_bytes(const chordal__reader *reader) {
    return reader->at != reader->end && *reader->at >= 0xc4 && *reader->at <= 0xc6;
}

static const uint8_t *read_bin(chordal__reader *reader, size_t *len) {
    uint8_t head = chordal__read_byte(reader);
    *len = (size_t)read_length(reader, 1 << (head - 0xc4));
    return chordal__read_bytes(reader, *len);
}

static int show_ops(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    chordal__ops ops;
    size_t len;
    const uint8_t *data = read_bin(reader, &len);
    if (reader->failed) return reader->failed;
    chordal__page_key(page, "ops");
    chordal__ops_init(&ops, page->out.memory);
    int code = chordal__ops_read(&ops, CHORDAL__ENCODING_BINARY, data, len, NULL, 0, page->limits, error);
    if (code == 0) chordal__ops_write(&page->out, CHORDAL__ENCODING_JSON, &ops, NULL);
    chordal__ops_dispose(&ops);
    return code;
}

/* Bytes are base64 text in JSON. */
static int show_cell(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    size_t len;
    if (!begins_bytes(reader)) return show_value(page, reader, error);
    const uint8_t *data = read_bin(reader, &len);
    if (reader->failed) return reader->failed;
    chordal__buffer_byte(&page->out, '"');
    chordal__base64_write(&page->out, data, len);
    chordal__buffer_byte(&page->out, '"');
    return 0;
}

/* A row: an object of its columns; a key: an array of its cells. */
static int show_cells(chordal__page *page, chordal__reader *reader, bool row, chordal_error *error) {
    int code = 0;
    uint64_t count;
    if (!row || reader->at == reader->end)
        count = read_count(reader);
    else
        count = *reader->at == 0xde ? (reader->at++, read_length(reader, 2)) : (uint64_t)(*reader->at++ & 15);
    chordal__buffer_byte(&page->out, row ? '{' : '[');
    for (uint64_t i = 0; i < count && code == 0; i++) {
        if (i) chordal__buffer_byte(&page->out, ',');
        if (row) code = show_value(page, reader, error);
        if (row) chordal__buffer_byte(&page->out, ':');
        if (code == 0) code = show_cell(page, reader, error);
    }
    chordal__buffer_byte(&page->out, row ? '}' : ']');
    return code;
}

static int show_row_change(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    static const char put[] = "\x81\xa3put", removed[] = "\x81\xa6remove";
    size_t left = chordal__reader_left(reader);
    bool puts = left > 5 && memcmp(reader->at, put, 5) == 0;
    if (!puts && (left < 9 || memcmp(reader->at, removed, 8) != 0)) return CHORDAL_E_SYNTAX;
    reader->at += puts ? 5 : 8;
    chordal__page_key(page, puts ? "put" : "remove");
    return show_cells(page, reader, puts, error);
}

static int show_change(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    if (begins_bytes(reader)) return show_ops(page, reader, error);
    if (reader->at != reader->end && *reader->at == 0x81) return show_row_change(page, reader, error);
    if (read_count(reader) != 1) return CHORDAL_E_SYNTAX;
    chordal__page_key(page, "value");
    return show_value(page, reader, error);
}

static int show_write(chordal__page *page, chordal__reader *reader, chordal_error *error) {
    static const char *const keys[] = {"type", "params", "member"};
    int code = read_count(reader) == 4 ? 0 : CHORDAL_E_SYNTAX;
    chordal__page_open(page);
    for (size_t i = 0; i < 3 && code == 0; i++) {
        chordal__page_key(page, keys[i]);
        code = show_value(page, reader, error);
    }
    if (code == 0) code = show_change(page, reader, error);
    chordal__page_close(page);
    return code;
}

static int show_row(chordal__page *page, uint64_t number, const chordal__body *row, chordal_error *error) {
    int code = 0;
    chordal__reader reader = chordal__reader_of(row->data, row->len);
    uint64_t count = read_count(&reader);
    chordal__page_open(page);
    chordal__page_number(page, "commit", number);
    chordal__page_key(page, "writes");
    chordal__buffer_byte(&page->out, '[');
    uint32_t rows = page->count;
    page->count = 0;
    for (uint64_t i = 0; i < count && code == 0; i++) code = show_write(page, &reader, error);
    page->count = rows;
    chordal__buffer_byte(&page->out, ']');
    chordal__page_close(page);
    if (code == CHORDAL_E_NOMEM) return code;
    return code < 0 || reader.failed || reader.at != reader.end ? damaged(number, error) : 0;
}

static int list_rows(chordal__page *page, uint64_t after, chordal_error *error) {
    int code = 0;
    uint64_t number = after;
    chordal__body *row = NULL;
    while (code == 0) {
        uint64_t before = number;
        code = chordal__outbox_next(page->store, before, &number, &row, error);
        if (code < 0 || !row) break;
        if (chordal__page_full(page))
            page->next = before;
        else
            code = show_row(page, number, row, error);
        chordal__body_unref(row);
        if (page->next) break;
    }
    return code;
}

/* Beside the owner, what is in the file and what is derived are of one moment. */
int chordal__outbox_list(chordal__page *page, uint64_t after, chordal_error *error) {
    bool began = false;
    chordal__store *store = page->store;
    int code = store->read_only ? chordal__look_begin(store, &began, error) : 0;
    store->delayed.known = !store->read_only;
    if (code == 0) code = list_rows(page, after, error);
    chordal__look_end(store, began);
    return code;
}
