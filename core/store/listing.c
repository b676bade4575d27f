/* listing.c: the documents that the store knows, living and retired. */
#include "store/store.h"

#include <sqlite3.h>

enum { ID, TYPE, KEY, MEMBER, PARAMS, INCARNATION, VERSION, CREATED, RETIRED, NEWEST };

static chordal__reader blob(sqlite3_stmt *row, int column) {
    const uint8_t *data = sqlite3_column_blob(row, column);
    return chordal__reader_of(data, data ? (size_t)sqlite3_column_bytes(row, column) : 0);
}

static int corrupt(sqlite3_stmt *row, chordal_error *error) {
    return chordal__fail(error, CHORDAL_E_CORRUPT, (uint64_t)sqlite3_column_int64(row, ID),
                         "a name in the store is damaged (its row is the position)");
}

int chordal__listing_text(chordal__page *page, const char *key, sqlite3_stmt *row, int column, chordal_error *error) {
    size_t position;
    chordal__reader name = blob(row, column);
    if (!chordal__utf_valid(name.data, chordal__reader_left(&name), &position)) return corrupt(row, error);
    chordal__page_text(page, key, name.data, chordal__reader_left(&name));
    return 0;
}

/* ---- params, in the order of the key, which is the type's ---- */

/* The first member that has this value and was not written; the object's length: there is none. */
static uint64_t find_value(const chordal__node *params, uint64_t written, const chordal__node *value) {
    uint64_t count = chordal__node_length(params), i = 0;
    const uint8_t *key;
    size_t len;
    chordal__node *member;
    for (; i < count; i++) {
        bool known = chordal__node_member(params, i, &key, &len, &member);
        if (known && !(written >> i & 1) && chordal__node_equal(member, value)) break;
    }
    return i;
}

static void write_member(chordal__page *page, const chordal__node *params, uint64_t index, bool first) {
    const uint8_t *key;
    size_t len;
    chordal__node *value;
    if (!chordal__node_member(params, index, &key, &len, &value)) return;
    if (!first) chordal__buffer_byte(&page->out, ',');
    chordal__json_write_string(&page->out, key, len);
    chordal__buffer_byte(&page->out, ':');
    chordal__json_write(&page->out, value);
}

static int write_in_order(chordal__page *page, const chordal__node *params, chordal__reader key, chordal_error *error) {
    chordal__memory *memory = page->store->memory;
    uint64_t written = 0, count = chordal__node_length(params);
    if (chordal__node_kind(params) != CHORDAL_KIND_OBJECT || count > 64) return CHORDAL_E_CORRUPT;
    chordal__buffer_byte(&page->out, '{');
    for (uint64_t i = 0; i < count; i++) {
        chordal__node *value;
        int code = chordal__pack_read_value(memory, &key, page->limits, &value, error);
        if (code < 0) return code;
        uint64_t index = find_value(params, written, value);
        chordal__node_unref(memory, value);
        if (index == count) return CHORDAL_E_CORRUPT;
        write_member(page, params, index, i == 0);
        written |= UINT64_C(1) << index;
    }
    chordal__buffer_byte(&page->out, '}');
    return key.at == key.end ? 0 : CHORDAL_E_CORRUPT;
}

int chordal__listing_params(chordal__page *page, sqlite3_stmt *row, int params, int key, chordal_error *error) {
    chordal__node *node;
    chordal__reader packed = blob(row, params);
    chordal__page_key(page, "params");
    int code =
        chordal__pack_read(page->store->memory, packed.data, chordal__reader_left(&packed), page->limits, &node, error);
    if (code == 0) {
        code = write_in_order(page, node, blob(row, key), error);
        chordal__node_unref(page->store->memory, node);
    }
    return code < 0 && code != CHORDAL_E_NOMEM ? corrupt(row, error) : code;
}

int chordal__listing_name(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    int code = chordal__listing_text(page, "type", row, TYPE, error);
    if (code == 0) code = chordal__listing_params(page, row, PARAMS, KEY, error);
    return code < 0 ? code : chordal__listing_text(page, "member", row, MEMBER, error);
}

/* ---- the list ---- */

static void write_number(chordal__page *page, const char *key, sqlite3_stmt *row, int column) {
    if (sqlite3_column_type(row, column) != SQLITE_NULL) {
        chordal__page_number(page, key, (uint64_t)sqlite3_column_int64(row, column));
        return;
    }
    chordal__page_key(page, key);
    chordal__buffer_text(&page->out, "null");
}

static int write_document(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    chordal__page_open(page);
    int code = chordal__listing_name(page, row, error);
    if (code < 0) return code;
    write_number(page, "incarnation", row, INCARNATION);
    write_number(page, "version", row, VERSION);
    write_number(page, "created", row, CREATED);
    write_number(page, "retired", row, RETIRED);
    write_number(page, "commit", row, NEWEST);
    chordal__page_close(page);
    return 0;
}

int chordal__documents_list(chordal__page *page, uint64_t after, chordal_error *error) {
    int code, result = SQLITE_DONE;
    uint64_t last = 0;
    sqlite3_stmt *statement = chordal__statement(page->store, CHORDAL__SQL_DOCUMENTS_AFTER, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)after);
    sqlite3_bind_int64(statement, 2, (int64_t)page->limit + 1);
    while (code == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (chordal__page_full(page)) {
            page->next = last;
            break;
        }
        last = (uint64_t)sqlite3_column_int64(statement, ID);
        code = write_document(page, statement, error);
    }
    int ended = chordal__statement_end(page->store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}
