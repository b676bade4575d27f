/* table_list.c: the tables that the store has, as they are declared, and the objects that have rows in them. */
#include "store/table.h"

#include <sqlite3.h>

enum { ID, TYPE, MEMBER, VERSION, DECLARATION };
enum { NAME, CELL_TYPE, NUMBER, DROPPED };

static int64_t integer_at(const chordal__node *array, uint64_t index) {
    chordal__number number = {.as.integer = -1};
    const chordal__node *node = chordal__node_at(array, index);
    if (node && chordal__node_kind(node) == CHORDAL_KIND_INTEGER) chordal__node_get_number(node, &number);
    return number.as.integer;
}

static void write_name(chordal__page *page, const chordal__node *name) {
    if (name && chordal__node_kind(name) == CHORDAL_KIND_STRING)
        chordal__json_write(&page->out, name);
    else
        chordal__buffer_text(&page->out, "null");
}

static void write_comma(chordal__page *page, bool first) {
    if (!first) chordal__buffer_byte(&page->out, ',');
}

/* ---- the catalogue: [columns, key, indexes], columns by their numbers (table_open.c) ---- */

static void write_columns(chordal__page *page, const chordal__node *columns) {
    static const char *const words[] = {"null", "\"integer\"", "\"real\"", "\"text\"", "\"json\"", "\"bytes\""};
    bool first = true;
    chordal__page_key(page, "columns");
    chordal__buffer_byte(&page->out, '{');
    for (uint64_t i = 0; i < chordal__node_length(columns); i++) {
        const chordal__node *column = chordal__node_at(columns, i);
        int64_t type = integer_at(column, CELL_TYPE);
        if (integer_at(column, DROPPED)) continue;
        write_comma(page, first);
        write_name(page, chordal__node_at(column, NAME));
        chordal__buffer_byte(&page->out, ':');
        chordal__buffer_text(&page->out, words[type >= 0 && type <= CHORDAL__CELL_BYTES ? type : 0]);
        first = false;
    }
    chordal__buffer_byte(&page->out, '}');
}

static const chordal__node *name_of(const chordal__node *columns, int64_t number) {
    for (uint64_t i = 0; i < chordal__node_length(columns); i++) {
        const chordal__node *column = chordal__node_at(columns, i);
        if (integer_at(column, NUMBER) == number) return chordal__node_at(column, NAME);
    }
    return NULL;
}

static void write_names(chordal__page *page, const chordal__node *columns, const chordal__node *numbers) {
    chordal__buffer_byte(&page->out, '[');
    for (uint64_t i = 0; i < chordal__node_length(numbers); i++) {
        write_comma(page, i == 0);
        write_name(page, name_of(columns, integer_at(numbers, i)));
    }
    chordal__buffer_byte(&page->out, ']');
}

static void write_indexes(chordal__page *page, const chordal__node *columns, const chordal__node *indexes) {
    chordal__page_key(page, "indexes");
    chordal__buffer_byte(&page->out, '{');
    for (uint64_t i = 0; i < chordal__node_length(indexes); i++) {
        const chordal__node *index = chordal__node_at(indexes, i);
        write_comma(page, i == 0);
        write_name(page, chordal__node_at(index, 0));
        chordal__buffer_byte(&page->out, ':');
        write_names(page, columns, chordal__node_at(index, 2));
    }
    chordal__buffer_byte(&page->out, '}');
}

static bool is_list(const chordal__node *node) {
    return node && chordal__node_kind(node) == CHORDAL_KIND_ARRAY;
}

/* Each is a list of lists, but the key. */
static bool is_catalogue(const chordal__node *known) {
    bool fits = is_list(known) && chordal__node_length(known) >= 3;
    for (uint64_t i = 0; i < 3 && fits; i++) {
        const chordal__node *part = chordal__node_at(known, i);
        fits = is_list(part);
        for (uint64_t k = 0; fits && i != 1 && k < chordal__node_length(part); k++)
            fits = is_list(chordal__node_at(part, k)) &&
                   (i == 0 || is_list(chordal__node_at(chordal__node_at(part, k), 2)));
    }
    return fits;
}

int chordal__catalogue_read(chordal__page *page, sqlite3_stmt *row, chordal__node **out, chordal_error *error) {
    chordal__memory *memory = page->store->memory;
    const uint8_t *data = sqlite3_column_blob(row, DECLARATION);
    int code = chordal__pack_read(memory, data, data ? (size_t)sqlite3_column_bytes(row, DECLARATION) : 0, page->limits,
                                  out, error);
    if (code == CHORDAL_E_NOMEM || (code == 0 && is_catalogue(*out))) return code;
    if (code == 0) chordal__node_unref(memory, *out);
    return chordal__fail(error, CHORDAL_E_CORRUPT, (uint64_t)sqlite3_column_int64(row, ID),
                         "a table's catalogue is damaged");
}

static int write_declaration(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    chordal__node *known;
    int code = chordal__catalogue_read(page, row, &known, error);
    if (code < 0) return code;
    write_columns(page, chordal__node_at(known, 0));
    chordal__page_key(page, "key");
    write_names(page, chordal__node_at(known, 0), chordal__node_at(known, 1));
    write_indexes(page, chordal__node_at(known, 0), chordal__node_at(known, 2));
    chordal__node_unref(page->store->memory, known);
    return 0;
}

/* ---- the lists ---- */

static int write_table(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    int code = chordal__listing_text(page, "type", row, TYPE, error);
    if (code == 0) code = chordal__listing_text(page, "member", row, MEMBER, error);
    chordal__page_number(page, "version", (uint64_t)sqlite3_column_int64(row, VERSION));
    return code < 0 ? code : write_declaration(page, row, error);
}

static int write_owner(chordal__page *page, sqlite3_stmt *row, chordal_error *error) {
    int code = chordal__listing_text(page, "type", row, TYPE, error);
    return code < 0 ? code : chordal__listing_params(page, row, 2, 3, error);
}

static int list_all(chordal__page *page, int which, uint64_t after,
                    int (*write)(chordal__page *page, sqlite3_stmt *row, chordal_error *error), chordal_error *error) {
    int code, result = SQLITE_DONE;
    uint64_t last = 0;
    sqlite3_stmt *statement = chordal__statement(page->store, which, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, (int64_t)after);
    sqlite3_bind_int64(statement, 2, (int64_t)page->limit + 1);
    while (code == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        page->next = chordal__page_full(page) ? last : 0;
        if (page->next) break;
        last = (uint64_t)sqlite3_column_int64(statement, ID);
        chordal__page_open(page);
        code = write(page, statement, error);
        chordal__page_close(page);
    }
    int ended = chordal__statement_end(page->store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

int chordal__tables_list(chordal__page *page, uint64_t after, chordal_error *error) {
    return list_all(page, CHORDAL__SQL_TABLES_AFTER, after, write_table, error);
}

int chordal__owners_list(chordal__page *page, uint64_t after, chordal_error *error) {
    return list_all(page, CHORDAL__SQL_OWNERS_AFTER, after, write_owner, error);
}
