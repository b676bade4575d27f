/* table_open.c: the tables of the file, brought up to what is declared.
 *
 * SQL knows a table and its columns by numbers alone; the catalogue tells which column of the declaration has which. A
 * column that is declared no more stays where it is, and its number is not used again. */
#include "store/table.h"

#include <sqlite3.h>

typedef struct opening {
    chordal__store *store;
    chordal__table *table;
    const chordal__address *address;
    chordal__node *known; /* of the catalogue: [columns, key, indexes]; NULL: the table is new */
    int64_t version;
    uint32_t next_column, next_index;
    chordal__buffer sql;
    chordal_error *error;
} opening;

static int fail(const opening *o, int code, const char *words) {
    return chordal__fail(o->error, code, 0, words);
}

static int64_t number_at(const chordal__node *array, uint64_t index) {
    chordal__number number = {0};
    const chordal__node *node = chordal__node_at(array, index);
    if (node && chordal__node_kind(node) == CHORDAL_KIND_INTEGER) chordal__node_get_number(node, &number);
    return number.as.integer;
}

static bool is_name(const chordal__node *node, const void *name, size_t len) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t piece_len;
    if (!node || !chordal__node_string_piece(node, &at, &piece, &piece_len)) return len == 0;
    return piece_len == len && memcmp(piece, name, len) == 0;
}

/* ---- the catalogue: [[name, type, number, dropped], …], [number of a key's column, …], [[name, number, [column's
 *      number, …]], …], and 1: rows have their version. (Tables of the first days had none, and end before it.) ---- */

enum { COLUMN_NAME, COLUMN_TYPE, COLUMN_NUMBER, COLUMN_DROPPED };
enum { INDEX_NAME, INDEX_NUMBER, INDEX_COLUMNS };

static int read_row(opening *o, sqlite3_stmt *row) {
    const chordal__limits limits = {.depth = 8, .size = UINT32_MAX};
    o->table->id = sqlite3_column_int64(row, 0);
    o->version = sqlite3_column_int64(row, 1);
    int code = chordal__pack_read(o->table->memory, sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2),
                                  &limits, &o->known, o->error);
    uint64_t parts =
        code == 0 && chordal__node_kind(o->known) == CHORDAL_KIND_ARRAY ? chordal__node_length(o->known) : 0;
    if (code == 0 && parts != 3 && parts != 4) code = CHORDAL_E_CORRUPT;
    return code == 0 || code == CHORDAL_E_NOMEM ? code : fail(o, CHORDAL_E_CORRUPT, "a table's catalogue is damaged");
}

static int read_catalogue(opening *o) {
    int code;
    sqlite3_stmt *statement = chordal__statement(o->store, CHORDAL__SQL_TABLE_FIND, &code, o->error);
    if (code < 0) return code;
    const chordal__address *address = o->address;
    sqlite3_bind_blob64(statement, 1, address->type, address->type_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, address->member, address->member_len, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) code = read_row(o, statement);
    int ended = chordal__statement_end(o->store, statement, result, code < 0 ? NULL : o->error);
    return code < 0 ? code : ended;
}

static chordal__node *known_columns(const opening *o) {
    return chordal__node_at(o->known, 0);
}

static int match_column(opening *o, const chordal__node *known) {
    chordal__table *table = o->table;
    uint32_t number = (uint32_t)number_at(known, COLUMN_NUMBER);
    if (number >= o->next_column) o->next_column = number + 1;
    for (uint32_t i = 0; i < table->columns_len && !number_at(known, COLUMN_DROPPED); i++) {
        chordal__column *column = &table->columns[i];
        if (!is_name(chordal__node_at(known, COLUMN_NAME), column->name, column->name_len)) continue;
        if (number_at(known, COLUMN_TYPE) != column->type)
            return chordal__fail_about(o->error, CHORDAL_E_INVALID, "the store has another type for the column ",
                                       column->name, column->name_len);
        column->known = true;
        column->number = number;
    }
    return 0;
}

static int match_key(const opening *o) {
    const chordal__table *table = o->table;
    const chordal__node *key = chordal__node_at(o->known, 1);
    bool same = chordal__node_length(key) == table->key_len;
    for (uint32_t i = 0; i < table->key_len && same; i++) {
        const chordal__column *column = &table->columns[table->key[i]];
        same = column->known && number_at(key, i) == column->number;
    }
    return same ? 0 : fail(o, CHORDAL_E_INVALID, "the store has another key for the table");
}

static bool same_columns(const chordal__table *table, const chordal__index *index, const chordal__node *known) {
    const chordal__node *columns = chordal__node_at(known, INDEX_COLUMNS);
    bool same = chordal__node_length(columns) == index->len;
    for (uint32_t i = 0; i < index->len && same; i++) {
        const chordal__column *column = &table->columns[index->columns[i]];
        same = column->known && number_at(columns, i) == column->number;
    }
    return same;
}

static void match_index(opening *o, const chordal__node *known) {
    uint32_t number = (uint32_t)number_at(known, INDEX_NUMBER);
    if (number >= o->next_index) o->next_index = number + 1;
    for (uint32_t i = 0; i < o->table->indexes_len; i++) {
        chordal__index *index = &o->table->indexes[i];
        if (!is_name(chordal__node_at(known, INDEX_NAME), index->name, index->name_len)) continue;
        index->known = same_columns(o->table, index, known);
        index->number = number;
    }
}

static int match(opening *o) {
    const chordal__node *columns = known_columns(o), *indexes = chordal__node_at(o->known, 2);
    if (o->version > o->table->version)
        return chordal__fail_number(o->error, CHORDAL_E_TYPE_VERSION,
                                    "a table was written by a newer version of it: ", (uint64_t)o->version);
    int code = 0;
    for (uint64_t i = 0; i < chordal__node_length(columns) && code == 0; i++)
        code = match_column(o, chordal__node_at(columns, i));
    if (code == 0) code = match_key(o);
    for (uint64_t i = 0; i < chordal__node_length(indexes) && code == 0; i++)
        match_index(o, chordal__node_at(indexes, i));
    return code;
}

static bool is_known_index(const opening *o, uint32_t number) {
    for (uint32_t i = 0; i < o->table->indexes_len; i++)
        if (o->table->indexes[i].known && o->table->indexes[i].number == number) return true;
    return false;
}

static bool is_known_column(const opening *o, uint32_t number) {
    for (uint32_t i = 0; i < o->table->columns_len; i++)
        if (o->table->columns[i].known && o->table->columns[i].number == number) return true;
    return false;
}

/* Whether the catalogue says just what is declared. */
static bool is_same(const opening *o) {
    const chordal__node *columns = known_columns(o), *indexes = chordal__node_at(o->known, 2);
    bool same = o->version == o->table->version && chordal__node_length(o->known) == 4;
    for (uint32_t i = 0; i < o->table->columns_len; i++) same = same && o->table->columns[i].known;
    for (uint32_t i = 0; i < o->table->indexes_len; i++) same = same && o->table->indexes[i].known;
    for (uint64_t i = 0; i < chordal__node_length(columns); i++) {
        const chordal__node *column = chordal__node_at(columns, i);
        bool dropped = number_at(column, COLUMN_DROPPED) != 0;
        same = same && (dropped || is_known_column(o, (uint32_t)number_at(column, COLUMN_NUMBER)));
    }
    for (uint64_t i = 0; i < chordal__node_length(indexes); i++)
        same = same && is_known_index(o, (uint32_t)number_at(chordal__node_at(indexes, i), INDEX_NUMBER));
    return same;
}

/* ---- writing the catalogue ---- */

static void write_column(chordal__buffer *out, const void *name, size_t len, int64_t type, int64_t number,
                         bool dropped) {
    chordal__pack_write_array(out, 4);
    chordal__pack_write_string(out, name, len);
    chordal__pack_write_integer(out, type);
    chordal__pack_write_integer(out, number);
    chordal__pack_write_integer(out, dropped);
}

static bool is_gone(const opening *o, const chordal__node *column) {
    return !is_known_column(o, (uint32_t)number_at(column, COLUMN_NUMBER));
}

static void write_columns(const opening *o, chordal__buffer *out) {
    const chordal__node *known = o->known ? known_columns(o) : NULL;
    uint64_t count = known ? chordal__node_length(known) : 0, gone = 0;
    for (uint64_t i = 0; i < count; i++) gone += is_gone(o, chordal__node_at(known, i));
    chordal__pack_write_array(out, o->table->columns_len + gone);
    for (uint32_t i = 0; i < o->table->columns_len; i++) {
        const chordal__column *column = &o->table->columns[i];
        write_column(out, column->name, column->name_len, column->type, column->number, false);
    }
    for (uint64_t i = 0; i < count; i++) {
        const chordal__node *column = chordal__node_at(known, i);
        if (is_gone(o, column))
            write_column(out, "", 0, number_at(column, COLUMN_TYPE), number_at(column, COLUMN_NUMBER), true);
    }
}

static void write_numbers(const chordal__table *table, chordal__buffer *out, const uint32_t *columns, uint32_t len) {
    chordal__pack_write_array(out, len);
    for (uint32_t i = 0; i < len; i++) chordal__pack_write_integer(out, table->columns[columns[i]].number);
}

static void write_known(const opening *o, chordal__buffer *out) {
    const chordal__table *table = o->table;
    chordal__pack_write_array(out, 4);
    write_columns(o, out);
    write_numbers(table, out, table->key, table->key_len);
    chordal__pack_write_array(out, table->indexes_len);
    for (uint32_t i = 0; i < table->indexes_len; i++) {
        const chordal__index *index = &table->indexes[i];
        chordal__pack_write_array(out, 3);
        chordal__pack_write_string(out, index->name, index->name_len);
        chordal__pack_write_integer(out, index->number);
        write_numbers(table, out, index->columns, index->len);
    }
    chordal__pack_write_integer(out, 1);
}

static int write_catalogue(opening *o) {
    int code;
    chordal__buffer known;
    sqlite3_stmt *statement =
        chordal__statement(o->store, o->known ? CHORDAL__SQL_TABLE_SET : CHORDAL__SQL_TABLE_ADD, &code, o->error);
    if (code < 0) return code;
    chordal__buffer_init(&known, o->table->memory, UINT32_MAX);
    write_known(o, &known);
    if (known.failed) code = fail(o, known.failed, "no memory for a table");
    if (o->known) sqlite3_bind_int64(statement, 1, o->table->id);
    if (!o->known) sqlite3_bind_blob64(statement, 1, o->address->type, o->address->type_len, SQLITE_STATIC);
    if (!o->known) sqlite3_bind_blob64(statement, 4, o->address->member, o->address->member_len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, o->table->version);
    sqlite3_bind_blob64(statement, 3, known.data, known.len, SQLITE_STATIC);
    if (code == 0)
        code = chordal__statement_run(o->store, statement, o->error);
    else
        chordal__statement_end(o->store, statement, SQLITE_OK, NULL);
    if (code == 0 && !o->known) o->table->id = sqlite3_last_insert_rowid(o->store->sqlite);
    chordal__buffer_dispose(&known);
    return code;
}

/* ---- SQL ---- */

static void put_table(opening *o, const char *before) {
    chordal__buffer_clear(&o->sql);
    chordal__buffer_text(&o->sql, before);
    chordal__buffer_text(&o->sql, "chordal_table_");
    chordal__buffer_decimal(&o->sql, (uint64_t)o->table->id);
}

static void put_column(chordal__buffer *sql, const chordal__column *column) {
    chordal__buffer_byte(sql, 'c');
    chordal__buffer_decimal(sql, column->number);
}

static void put_index(opening *o, const char *before, uint32_t number) {
    chordal__buffer_clear(&o->sql);
    chordal__buffer_text(&o->sql, before);
    chordal__buffer_text(&o->sql, "chordal_index_");
    chordal__buffer_decimal(&o->sql, (uint64_t)o->table->id);
    chordal__buffer_byte(&o->sql, '_');
    chordal__buffer_decimal(&o->sql, number);
}

static int execute(opening *o) {
    chordal__buffer_byte(&o->sql, 0);
    if (o->sql.failed) return fail(o, o->sql.failed, "no memory for a table");
    o->store->counters->statements++;
    int result = sqlite3_exec(o->store->sqlite, (const char *)o->sql.data, NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : chordal__store_fail(o->store, result, o->error);
}

static const char *sql_type(const chordal__column *column) {
    static const char *const types[] = {"", " INTEGER", " REAL", " TEXT", " BLOB", " BLOB"};
    return types[column->type];
}

static int create_table(opening *o) {
    const chordal__table *table = o->table;
    put_table(o, "CREATE TABLE ");
    chordal__buffer_text(&o->sql, "(object INTEGER NOT NULL");
    for (uint32_t i = 0; i < table->columns_len; i++) {
        chordal__buffer_byte(&o->sql, ',');
        put_column(&o->sql, &table->columns[i]);
        chordal__buffer_text(&o->sql, sql_type(&table->columns[i]));
        chordal__buffer_text(&o->sql, table->columns[i].key ? " NOT NULL" : "");
    }
    chordal__buffer_text(&o->sql, ",v INTEGER NOT NULL,PRIMARY KEY(object");
    for (uint32_t i = 0; i < table->key_len; i++) {
        chordal__buffer_byte(&o->sql, ',');
        put_column(&o->sql, &table->columns[table->key[i]]);
    }
    chordal__buffer_text(&o->sql, ")) WITHOUT ROWID, STRICT");
    return execute(o);
}

static int create_index(opening *o, const chordal__index *index) {
    put_index(o, "CREATE INDEX ", index->number);
    chordal__buffer_text(&o->sql, " ON chordal_table_");
    chordal__buffer_decimal(&o->sql, (uint64_t)o->table->id);
    chordal__buffer_text(&o->sql, "(object");
    for (uint32_t i = 0; i < index->len; i++) {
        chordal__buffer_byte(&o->sql, ',');
        put_column(&o->sql, &o->table->columns[index->columns[i]]);
    }
    chordal__buffer_byte(&o->sql, ')');
    return execute(o);
}

/* Text is quoted; it holds no U+0000. */
static void put_literal(chordal__buffer *sql, const chordal__cell *cell) {
    char digits[CHORDAL__NUMBER_TEXT];
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER, .as.integer = cell->as.integer};
    if (cell->kind == CHORDAL__CELL_REAL) (void)chordal__number_of_double(cell->as.real, &number);
    if (cell->kind != CHORDAL__CELL_TEXT) {
        chordal__buffer_put(sql, digits, chordal__number_write(&number, digits));
        return;
    }
    chordal__buffer_byte(sql, '\'');
    for (size_t i = 0; i < cell->as.bytes.len; i++) {
        uint8_t byte = cell->as.bytes.data[i];
        if (byte == '\'') chordal__buffer_byte(sql, byte);
        chordal__buffer_byte(sql, byte);
    }
    chordal__buffer_byte(sql, '\'');
}

static int add_column(opening *o, uint32_t i) {
    const chordal__column *column = &o->table->columns[i];
    const chordal__cell *initial = &o->table->initial->cells[i];
    put_table(o, "ALTER TABLE ");
    chordal__buffer_text(&o->sql, " ADD COLUMN ");
    put_column(&o->sql, column);
    chordal__buffer_text(&o->sql, sql_type(column));
    if (initial->kind != CHORDAL__CELL_NULL) {
        chordal__buffer_text(&o->sql, " DEFAULT ");
        put_literal(&o->sql, initial);
    }
    return execute(o);
}

/* ---- making it so ---- */

static int drop_indexes(opening *o) {
    const chordal__node *indexes = o->known ? chordal__node_at(o->known, 2) : NULL;
    int code = 0;
    for (uint64_t i = 0; indexes && i < chordal__node_length(indexes) && code == 0; i++) {
        uint32_t number = (uint32_t)number_at(chordal__node_at(indexes, i), INDEX_NUMBER);
        if (is_known_index(o, number)) continue;
        put_index(o, "DROP INDEX ", number);
        code = execute(o);
    }
    return code;
}

static int add_version(opening *o) {
    put_table(o, "ALTER TABLE ");
    chordal__buffer_text(&o->sql, " ADD COLUMN v INTEGER NOT NULL DEFAULT ");
    chordal__buffer_decimal(&o->sql, (uint64_t)o->version);
    return execute(o);
}

static int add_columns(opening *o) {
    int code = chordal__node_length(o->known) == 4 ? 0 : add_version(o);
    for (uint32_t i = 0; i < o->table->columns_len && code == 0; i++)
        if (!o->table->columns[i].known) code = add_column(o, i);
    return code;
}

static int create_indexes(opening *o) {
    int code = 0;
    for (uint32_t i = 0; i < o->table->indexes_len && code == 0; i++)
        if (!o->table->indexes[i].known) code = create_index(o, &o->table->indexes[i]);
    return code;
}

static int number_all(opening *o) {
    for (uint32_t i = 0; i < o->table->columns_len; i++)
        if (!o->table->columns[i].known) o->table->columns[i].number = o->next_column++;
    for (uint32_t i = 0; i < o->table->indexes_len; i++)
        if (!o->table->indexes[i].known) o->table->indexes[i].number = o->next_index++;
    if (o->next_column <= CHORDAL__SQL_COLUMNS) return 0;
    return fail(o, CHORDAL_E_LIMIT, "a table has had at most 1024 columns");
}

static int change_file(opening *o) {
    int code = number_all(o);
    if (code == 0) code = chordal__step_begin(o->store, o->error);
    if (code < 0) return code;
    code = drop_indexes(o);
    if (code == 0) code = write_catalogue(o);
    if (code == 0) code = o->known ? add_columns(o) : create_table(o);
    if (code == 0) code = create_indexes(o);
    if (code == 0) return chordal__step_commit(o->store, o->error);
    chordal__step_abort(o->store);
    return code;
}

/* A type that was not provided after all may have left its table open. */
static void close_other(chordal__store *store, int64_t id) {
    chordal__list *node = store->tables.next;
    while (node != &store->tables) {
        chordal__table *table = CHORDAL__ENTRY(node, chordal__table, node);
        node = node->next;
        if (table->id == id) chordal__table_free(table);
    }
}

int chordal__table_open(chordal__store *store, const chordal__address *address, chordal__table *table,
                        chordal_error *error) {
    opening o = {.store = store, .table = table, .address = address, .error = error};
    chordal__buffer_init(&o.sql, table->memory, UINT32_MAX);
    int code = read_catalogue(&o);
    if (code == 0 && o.known) code = match(&o);
    if (code == 0 && (!o.known || !is_same(&o))) code = change_file(&o);
    chordal__buffer_dispose(&o.sql);
    chordal__node_unref(table->memory, o.known);
    if (code < 0) return code;
    close_other(store, table->id);
    chordal__list_append(&store->tables, &table->node);
    return 0;
}

void chordal__tables_close(chordal__store *store) {
    while (!chordal__list_empty(&store->tables))
        chordal__table_free(CHORDAL__ENTRY(store->tables.next, chordal__table, node));
}
