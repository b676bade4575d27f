/* check_rows.c: looking for damage in the rows of tables: each cell is what its column says, each row is of an object
 * that is there. Tables are read by what the catalogue has of them: their types need not be provided. */
#include "store/table.h"

#include <sqlite3.h>

enum { TABLE_ID, TABLE_TYPE, TABLE_MEMBER, TABLE_VERSION };
enum { OWNER_ID, OWNER_TYPE, OWNER_PARAMS, OWNER_KEY };
enum { NAME, CELL_TYPE, NUMBER, DROPPED };
enum { OBJECT, VERSION, CELLS };

typedef struct look {
    chordal__page *page;
    chordal__table *table;
    sqlite3_stmt *tables, *owners, *rows; /* that stand on what is looked at */
    int64_t object;
    bool known;  /* it is there, and lives */
    bool begins; /* no row was seen yet */
    bool versions;
    uint32_t seen, faults;
    chordal_error *error;
} look;

static bool same_blob(sqlite3_stmt *a, int a_column, sqlite3_stmt *b, int b_column) {
    const void *left = sqlite3_column_blob(a, a_column), *right = sqlite3_column_blob(b, b_column);
    int len = sqlite3_column_bytes(a, a_column);
    return len == sqlite3_column_bytes(b, b_column) && (len == 0 || memcmp(left, right, (size_t)len) == 0);
}

/* ---- a table, of its catalogue ---- */

static int64_t number_at(const chordal__node *array, uint64_t index) {
    chordal__number number = {.as.integer = -1};
    const chordal__node *node = chordal__node_at(array, index);
    if (node && chordal__node_kind(node) == CHORDAL_KIND_INTEGER) chordal__node_get_number(node, &number);
    return number.as.integer;
}

static bool take_column(chordal__table *table, const chordal__node *known) {
    chordal__column *column = &table->columns[table->columns_len];
    const chordal__node *name = chordal__node_at(known, NAME);
    int64_t type = number_at(known, CELL_TYPE), number = number_at(known, NUMBER);
    uint64_t at = 0;
    if (number_at(known, DROPPED)) return true;
    if (table->columns_len == CHORDAL__COLUMNS_LIMIT || type < CHORDAL__CELL_INTEGER || type > CHORDAL__CELL_BYTES ||
        number < 0 || number >= CHORDAL__SQL_COLUMNS || !name || chordal__node_kind(name) != CHORDAL_KIND_STRING)
        return false;
    if (!chordal__node_string_piece(name, &at, &column->name, &column->name_len)) return false;
    column->type = (uint8_t)type;
    column->number = (uint32_t)number;
    table->columns_len++;
    return true;
}

static bool take_key(chordal__table *table, int64_t number) {
    uint32_t i = 0;
    while (i < table->columns_len && table->columns[i].number != number) i++;
    if (i == table->columns_len || table->key_len == CHORDAL__KEY_LIMIT) return false;
    table->key[table->key_len++] = i;
    return true;
}

static bool take_catalogue(chordal__table *table) {
    const chordal__node *columns = chordal__node_at(table->declared, 0), *key = chordal__node_at(table->declared, 1);
    bool fits = true;
    for (uint64_t i = 0; i < chordal__node_length(columns) && fits; i++)
        fits = take_column(table, chordal__node_at(columns, i));
    for (uint64_t i = 0; i < chordal__node_length(key) && fits; i++) fits = take_key(table, number_at(key, i));
    return fits && table->columns_len && table->key_len;
}

/* One that is damaged was told of with the list of tables; *out NULL: it is. */
static int table_of(const look *l, chordal__table **out) {
    chordal__memory *memory = l->page->store->memory;
    chordal__node *known;
    *out = NULL;
    int code = chordal__catalogue_read(l->page, l->tables, &known, NULL);
    if (code < 0) return code == CHORDAL_E_NOMEM ? code : 0;
    chordal__table *table = chordal__allocate_zero(memory, sizeof *table);
    if (!table) {
        chordal__node_unref(memory, known);
        return CHORDAL_E_NOMEM;
    }
    table->memory = memory;
    table->declared = known;
    table->id = sqlite3_column_int64(l->tables, TABLE_ID);
    table->version = (uint32_t)sqlite3_column_int64(l->tables, TABLE_VERSION);
    chordal__list_init(&table->node);
    if (take_catalogue(table))
        *out = table;
    else
        chordal__table_free(table);
    return 0;
}

/* ---- telling ---- */

static void tell_name(const look *l, chordal__page *page, chordal_error *why) {
    int code = chordal__listing_text(page, "type", l->owners, OWNER_TYPE, why);
    if (code == 0) code = chordal__listing_params(page, l->owners, OWNER_PARAMS, OWNER_KEY, why);
    if (code == 0) code = chordal__listing_text(page, "member", l->tables, TABLE_MEMBER, why);
    if (code < 0 && !page->out.failed) page->out.failed = code;
}

/* What cannot be named was told of with the lists. */
static bool has_name(const look *l) {
    chordal__page trial;
    chordal_error why = {0};
    chordal__page_begin(&trial, l->page->store, l->page->limits, 1);
    tell_name(l, &trial, &why);
    bool named = !trial.out.failed;
    chordal__buffer_dispose(&trial.out);
    return named;
}

static void tell_key(const look *l, const chordal__cell *cells) {
    chordal__page *page = l->page;
    chordal__buffer packed, json;
    const chordal__limits limits = {.depth = 1, .size = UINT32_MAX};
    chordal__buffer_init(&packed, page->store->memory, UINT32_MAX);
    chordal__buffer_init(&json, page->store->memory, UINT32_MAX);
    chordal__pack_write_array(&packed, l->table->key_len);
    for (uint32_t i = 0; i < l->table->key_len; i++)
        chordal__cell_pack(&packed, &cells[l->table->key[i]], CHORDAL__BYTES_BASE64);
    chordal__reader reader = chordal__reader_of(packed.data, packed.len);
    int code = packed.failed ? packed.failed : chordal__json_from_pack(&json, &reader, &limits, NULL);
    chordal__page_key(page, "key");
    if (code == 0 && !json.failed)
        chordal__buffer_put(&page->out, json.data, json.len);
    else
        chordal__buffer_text(&page->out, "null");
    chordal__buffer_dispose(&json);
    chordal__buffer_dispose(&packed);
}

/* Of a row; `cells` NULL: of all that the object has. */
static void tell(look *l, const chordal__cell *cells, const char *words) {
    char name[] = "chordal_table_\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    chordal__page *page = l->page;
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER, .as.integer = l->table->id};
    if (l->faults > CHORDAL__CHECK_FAULTS) return;
    bool more = l->faults++ == CHORDAL__CHECK_FAULTS;
    (void)chordal__number_write(&number, name + 14);
    chordal__page_open(page);
    chordal__fault_place(page, name, (uint64_t)l->object);
    chordal__fault_words(page, more ? "the table has more faults than are told" : words);
    if (cells && has_name(l)) {
        tell_name(l, page, NULL);
    } else {
        chordal__fault_nothing(page, "type");
        chordal__fault_nothing(page, "params");
        chordal__fault_nothing(page, "member");
    }
    if (cells)
        tell_key(l, cells);
    else
        chordal__fault_nothing(page, "key");
    chordal__page_close(page);
}

/* ---- rows ---- */

static int check_row(look *l) {
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
    chordal_error why = {0};
    size_t key = 0;
    int64_t version = sqlite3_column_int64(l->rows, VERSION);
    chordal__cells_of_statement(l->table, l->rows, CELLS, cells);
    int code = chordal__cells_check(l->table, cells, &why);
    if (code == CHORDAL_E_NOMEM) return chordal__fail(l->error, code, 0, "no memory for a check");
    if (code < 0) tell(l, cells, why.detail);
    for (uint32_t i = 0; i < l->table->key_len; i++) {
        const chordal__cell *cell = &cells[l->table->key[i]];
        if (chordal__cell_has_bytes(cell)) key += cell->as.bytes.len;
    }
    if (key > CHORDAL__KEY_BYTES) tell(l, cells, "the key of a row is longer than keys are");
    if (l->versions && (version < 1 || version > l->table->version))
        tell(l, cells, "a row of a version that its table never had");
    return 0;
}

/* An object that ended has no name any more, and its rows are on their way out. */
static int meet_owner(look *l, int64_t object) {
    int code;
    chordal_error why = {0};
    if (l->owners) (void)chordal__statement_end(l->page->store, l->owners, SQLITE_OK, NULL);
    l->object = object;
    l->begins = false;
    l->owners = chordal__statement(l->page->store, CHORDAL__SQL_OWNER_BY_ID, &code, &why);
    if (code < 0) return chordal__fault_told(l->page, code, &why, l->error);
    sqlite3_bind_int64(l->owners, 1, object);
    int result = sqlite3_step(l->owners);
    bool found = result == SQLITE_ROW, ended = found && sqlite3_column_bytes(l->owners, OWNER_TYPE) == 0;
    l->known = found && same_blob(l->owners, OWNER_TYPE, l->tables, TABLE_TYPE);
    if (!found && result != SQLITE_DONE)
        return chordal__fault_told(l->page, chordal__store_fail(l->page->store, result, &why), &why, l->error);
    if (!l->known && !ended) tell(l, NULL, "rows of no object of the table's type");
    return 0;
}

static uint64_t place_of(int64_t table, int64_t object) {
    return CHORDAL__CHECK_TABLES | (uint64_t)table << 32 | (uint64_t)object;
}

/* Whether the page ends here: behind an object that can be told as a place. */
static bool is_enough(look *l, int64_t object) {
    if (l->begins || object == l->object || l->seen < CHORDAL__CHECK_ROWS) return false;
    if (l->object < 0 || l->object > UINT32_MAX) return false;
    l->page->next = place_of(l->table->id, l->object);
    return true;
}

static int check_all(look *l) {
    chordal_error why = {0};
    int code = 0, result = SQLITE_DONE;
    while (code == 0 && (result = sqlite3_step(l->rows)) == SQLITE_ROW) {
        int64_t object = sqlite3_column_int64(l->rows, OBJECT);
        if (is_enough(l, object)) break;
        if (l->begins || object != l->object) code = meet_owner(l, object);
        if (code == 0 && l->known) code = check_row(l);
        l->seen++;
    }
    if (l->owners) (void)chordal__statement_end(l->page->store, l->owners, SQLITE_OK, NULL);
    if (code < 0 || result == SQLITE_ROW || result == SQLITE_DONE) return code;
    return chordal__fault_told(l->page, chordal__store_fail(l->page->store, result, &why), &why, l->error);
}

static int write_sql(const look *l, chordal__buffer *sql) {
    chordal__buffer_text(sql, l->versions ? "SELECT object,v" : "SELECT object,NULL");
    for (uint32_t i = 0; i < l->table->columns_len; i++) {
        chordal__buffer_text(sql, ",c");
        chordal__buffer_decimal(sql, l->table->columns[i].number);
    }
    chordal__buffer_text(sql, " FROM chordal_table_");
    chordal__buffer_decimal(sql, (uint64_t)l->table->id);
    chordal__buffer_text(sql, " WHERE object>?1 ORDER BY object");
    chordal__buffer_byte(sql, 0);
    return sql->failed;
}

static int check_table(look *l, int64_t after) {
    chordal__store *store = l->page->store;
    chordal__buffer sql;
    chordal_error why = {0};
    chordal__buffer_init(&sql, store->memory, UINT32_MAX);
    int code = write_sql(l, &sql);
    if (code == 0) {
        int result = sqlite3_prepare_v2(store->sqlite, (const char *)sql.data, -1, &l->rows, NULL);
        if (result != SQLITE_OK) code = chordal__store_fail(store, result, &why);
    }
    chordal__buffer_dispose(&sql);
    if (code < 0) return chordal__fault_told(l->page, code, &why, l->error);
    store->counters->statements++;
    sqlite3_bind_int64(l->rows, 1, after);
    code = check_all(l);
    sqlite3_finalize(l->rows);
    return code;
}

/* ---- tables, one in a page ---- */

/* The first one from `id` on; it stands on it until it is ended. NULL: there is none. */
static sqlite3_stmt *find_table(chordal__page *page, int64_t id, int *out_code, chordal_error *error) {
    chordal_error why = {0};
    sqlite3_stmt *statement = chordal__statement(page->store, CHORDAL__SQL_TABLES_AFTER, out_code, &why);
    if (statement) {
        sqlite3_bind_int64(statement, 1, id - 1);
        sqlite3_bind_int64(statement, 2, 1);
        int result = sqlite3_step(statement);
        if (result == SQLITE_ROW) return statement;
        *out_code = chordal__statement_end(page->store, statement, result, &why);
    }
    *out_code = chordal__fault_told(page, *out_code, &why, error);
    return NULL;
}

/* Where a page of the tables from `id` on begins, if there are any; never so many that a place could not name one. */
static int go_on(chordal__page *page, int64_t id, chordal_error *error) {
    int code;
    sqlite3_stmt *table = find_table(page, id, &code, error);
    if (!table) return code;
    int64_t found = sqlite3_column_int64(table, TABLE_ID);
    if (found >= id && found < 1 << 20) page->next = place_of(found, 0);
    return chordal__statement_end(page->store, table, SQLITE_OK, error);
}

int chordal__rows_wait(chordal__page *page, chordal_error *error) {
    return go_on(page, 1, error);
}

int chordal__rows_check(chordal__page *page, uint64_t after, chordal_error *error) {
    look l = {.page = page, .begins = true, .error = error};
    int code;
    int64_t wanted = (int64_t)(after >> 32 & 0xfffff), object = (int64_t)(after & UINT32_MAX);
    l.tables = find_table(page, wanted, &code, error);
    if (!l.tables) return code;
    int64_t found = sqlite3_column_int64(l.tables, TABLE_ID);
    code = table_of(&l, &l.table);
    if (code < 0) chordal__fail(error, code, 0, "no memory for a check");
    if (code == 0 && l.table) {
        l.versions = chordal__node_length(l.table->declared) > 3;
        code = check_table(&l, found == wanted && object ? object : INT64_MIN);
    }
    chordal__table_free(l.table);
    (void)chordal__statement_end(page->store, l.tables, SQLITE_OK, NULL);
    return code < 0 || page->next ? code : go_on(page, found + 1, error);
}
