/* table_write.c: rows of the file: found, put and removed, each by one statement. */
#include "store/table.h"

#include <sqlite3.h>

/* ---- statements ---- */

static void put_columns(chordal__buffer *sql, const chordal__table *table) {
    for (uint32_t i = 0; i < table->columns_len; i++) {
        chordal__buffer_text(sql, i ? ",c" : "c");
        chordal__buffer_decimal(sql, table->columns[i].number);
    }
}

static void put_key(chordal__buffer *sql, const chordal__table *table) {
    chordal__buffer_text(sql, " WHERE object=?1");
    for (uint32_t i = 0; i < table->key_len; i++) {
        chordal__buffer_text(sql, " AND c");
        chordal__buffer_decimal(sql, table->columns[table->key[i]].number);
        chordal__buffer_text(sql, "=?");
        chordal__buffer_decimal(sql, i + 2);
    }
}

static void write_sql(chordal__buffer *sql, const chordal__table *table, int which) {
    static const char *const begins[] = {"INSERT OR REPLACE INTO chordal_table_", "DELETE FROM chordal_table_",
                                         "SELECT ", "UPDATE chordal_table_"};
    chordal__buffer_text(sql, begins[which]);
    if (which == CHORDAL__ROW_FIND) put_columns(sql, table);
    if (which == CHORDAL__ROW_FIND) chordal__buffer_text(sql, " FROM chordal_table_");
    chordal__buffer_decimal(sql, (uint64_t)table->id);
    if (which == CHORDAL__ROW_AGE) chordal__buffer_text(sql, " SET v=v-1");
    if (which != CHORDAL__ROW_PUT) {
        put_key(sql, table);
    } else {
        chordal__buffer_text(sql, "(object,");
        put_columns(sql, table);
        chordal__buffer_text(sql, ",v)VALUES(?1");
        for (uint32_t i = 0; i < table->columns_len; i++) {
            chordal__buffer_text(sql, ",?");
            chordal__buffer_decimal(sql, i + 2);
        }
        chordal__buffer_byte(sql, ',');
        chordal__buffer_decimal(sql, table->version);
        chordal__buffer_byte(sql, ')');
    }
    chordal__buffer_byte(sql, 0);
}

static sqlite3_stmt *statement_of(chordal__store *store, chordal__table *table, int which, int *code,
                                  chordal_error *error) {
    sqlite3_stmt **kept = &table->statements[which];
    chordal__buffer sql;
    *code = 0;
    store->counters->statements++;
    if (*kept) return *kept;
    chordal__buffer_init(&sql, store->memory, UINT32_MAX);
    write_sql(&sql, table, which);
    if (sql.failed) {
        *code = chordal__fail(error, sql.failed, 0, "no memory for a statement");
    } else {
        int result =
            sqlite3_prepare_v3(store->sqlite, (const char *)sql.data, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
        if (result != SQLITE_OK) *code = chordal__store_fail(store, result, error);
    }
    chordal__buffer_dispose(&sql);
    return *kept;
}

/* Text of no bytes is no NULL. */
void chordal__cell_bind(sqlite3_stmt *statement, int at, const chordal__cell *cell) {
    const void *data = cell->as.bytes.data;
    switch (cell->kind) {
    case CHORDAL__CELL_INTEGER:
        sqlite3_bind_int64(statement, at, cell->as.integer);
        break;
    case CHORDAL__CELL_REAL:
        sqlite3_bind_double(statement, at, cell->as.real);
        break;
    case CHORDAL__CELL_TEXT:
        sqlite3_bind_text64(statement, at, cell->as.bytes.len ? data : "", cell->as.bytes.len, SQLITE_STATIC,
                            SQLITE_UTF8);
        break;
    case CHORDAL__CELL_JSON:
    case CHORDAL__CELL_BYTES:
        sqlite3_bind_blob64(statement, at, cell->as.bytes.len ? data : "", cell->as.bytes.len, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(statement, at);
    }
}

static void bind_key(sqlite3_stmt *statement, const chordal__table *table, int64_t owner, const chordal__row *key) {
    sqlite3_bind_int64(statement, 1, owner);
    for (uint32_t i = 0; i < table->key_len; i++) chordal__cell_bind(statement, (int)i + 2, &key->cells[table->key[i]]);
}

/* ---- rows read ---- */

/* A value is asked for once. It belongs to the statement, which one thread uses at a time: no lock protects it. */
static void read_cell(sqlite3_stmt *statement, int at, uint8_t type, chordal__cell *out) {
    sqlite3_value *value = sqlite3_column_value(statement, at);
    out->kind = sqlite3_value_type(value) == SQLITE_NULL ? CHORDAL__CELL_NULL : type;
    if (out->kind == CHORDAL__CELL_INTEGER) {
        out->as.integer = sqlite3_value_int64(value);
    } else if (out->kind == CHORDAL__CELL_REAL) {
        out->as.real = sqlite3_value_double(value);
    } else if (chordal__cell_has_bytes(out)) {
        bool text = out->kind == CHORDAL__CELL_TEXT;
        out->as.bytes.data = text ? sqlite3_value_text(value) : sqlite3_value_blob(value);
        out->as.bytes.len = out->as.bytes.data ? (size_t)sqlite3_value_bytes(value) : 0;
    }
}

void chordal__cells_of_statement(const chordal__table *table, sqlite3_stmt *statement, int first,
                                 chordal__cell cells[CHORDAL__COLUMNS_LIMIT]) {
    for (uint32_t i = 0; i < table->columns_len; i++)
        read_cell(statement, first + (int)i, table->columns[i].type, &cells[i]);
}

int chordal__row_of_statement(chordal__memory *memory, const chordal__table *table, sqlite3_stmt *statement, int first,
                              chordal__row **out, chordal_error *error) {
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
    chordal__cells_of_statement(table, statement, first, cells);
    int code = chordal__cells_check(table, cells, error);
    if (code < 0) return code;
    *out = chordal__row_new(memory, cells, table->columns_len);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
}

int chordal__row_find(chordal__store *store, chordal__table *table, const chordal__owner *owner,
                      const chordal__row *key, chordal__row **out, chordal_error *error) {
    int code;
    *out = NULL;
    if (!owner->id) return 0;
    sqlite3_stmt *statement = statement_of(store, table, CHORDAL__ROW_FIND, &code, error);
    if (code < 0) return code;
    bind_key(statement, table, owner->id, key);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) code = chordal__row_of_statement(store->memory, table, statement, 0, out, error);
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

/* ---- whose they are ---- */

static void bind_object(sqlite3_stmt *statement, const chordal__address *address) {
    sqlite3_bind_blob64(statement, 1, address->type, address->type_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, address->key, address->key_len, SQLITE_STATIC);
}

int chordal__owner_find(chordal__store *store, const chordal__address *address, chordal__owner *owner,
                        chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_FIND, &code, error);
    if (code < 0) return code;
    bind_object(statement, address);
    int result = sqlite3_step(statement);
    owner->id = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    return chordal__statement_end(store, statement, result, error);
}

static void stage(chordal__store *store, chordal__owner *owner) {
    if (owner->staged.next != &owner->staged) return;
    owner->before = owner->id;
    chordal__list_append(&store->owners, &owner->staged);
}

static int add_owner(chordal__store *store, chordal__owner *owner, const chordal__address *address,
                     chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_ADD, &code, error);
    if (code < 0) return code;
    bind_object(statement, address);
    sqlite3_bind_blob64(statement, 3, address->params, address->params_len, SQLITE_STATIC);
    code = chordal__statement_run(store, statement, error);
    if (code < 0) return code;
    stage(store, owner);
    owner->id = sqlite3_last_insert_rowid(store->sqlite);
    return 0;
}

/* ---- rows written ---- */

static int reserve(chordal__store *store, uint64_t number, chordal_error *error) {
    int code = chordal__lineage_begin(store, error);
    uint64_t reserved = store->staged_reserved ? store->staged_reserved : store->reserved;
    if (code < 0 || number <= reserved) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_RUN_RESERVE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, store->staged_run_id ? store->staged_run_id : store->run_id);
    sqlite3_bind_int64(statement, 2, (int64_t)(number + CHORDAL__NUMBERS_AHEAD));
    code = chordal__statement_run(store, statement, error);
    if (code == 0) store->staged_reserved = number + CHORDAL__NUMBERS_AHEAD;
    return code;
}

int chordal__rows_begin(chordal__store *store, uint64_t number, chordal_error *error) {
    int code = reserve(store, number, error);
    if (code == 0) store->staged_number = number;
    return code;
}

static int put(chordal__store *store, chordal__table *table, int64_t owner, const chordal__row *row,
               chordal_error *error) {
    int code;
    sqlite3_stmt *statement = statement_of(store, table, CHORDAL__ROW_PUT, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, owner);
    for (uint32_t i = 0; i < table->columns_len; i++) chordal__cell_bind(statement, (int)i + 2, &row->cells[i]);
    return chordal__statement_run(store, statement, error);
}

int chordal__row_store(chordal__store *store, chordal__table *table, chordal__owner *owner,
                       const chordal__address *address, uint64_t number, const chordal__row *key,
                       const chordal__row *row, chordal_error *error) {
    int code = chordal__rows_begin(store, number, error);
    if (code < 0) return code;
    if (row && !owner->id) code = add_owner(store, owner, address, error);
    if (code == 0 && row) return put(store, table, owner->id, row, error);
    if (code < 0 || !owner->id) return code;
    sqlite3_stmt *statement = statement_of(store, table, CHORDAL__ROW_REMOVE, &code, error);
    if (code < 0) return code;
    bind_key(statement, table, owner->id, key);
    return chordal__statement_run(store, statement, error);
}

int chordal__row_age(chordal__store *store, chordal__table *table, const chordal__owner *owner, const chordal__row *key,
                     chordal_error *error) {
    int code;
    sqlite3_stmt *statement = statement_of(store, table, CHORDAL__ROW_AGE, &code, error);
    if (code < 0) return code;
    bind_key(statement, table, owner->id, key);
    return chordal__statement_run(store, statement, error);
}

/* ---- their end: an owner without a type is nobody's; what its type was stands in its params ---- */

int chordal__owner_end(chordal__store *store, chordal__owner *owner, uint64_t number, chordal_error *error) {
    int code = reserve(store, number + 1, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_OWNER_END, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, owner->id);
    stage(store, owner);
    owner->id = 0;
    store->clears = true;
    return chordal__statement_run(store, statement, error);
}

void chordal__tables_settle(chordal__store *store, bool through) {
    while (!chordal__list_empty(&store->owners)) {
        chordal__owner *owner = CHORDAL__ENTRY(store->owners.next, chordal__owner, staged);
        chordal__list_remove(&owner->staged);
        if (!through) owner->id = owner->before;
    }
    if (through && store->staged_number > store->last) store->last = store->staged_number;
    if (through && store->staged_reserved) store->reserved = store->staged_reserved;
    store->staged_number = store->staged_reserved = 0;
}
