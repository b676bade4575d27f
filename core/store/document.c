/* document.c: persisted documents, as rows of two kinds: a delta is the ops of a commit, as on the wire; a base is the
 * value after one. A commit has a delta, or a base, which then stands for its change too, or a delta and its base. */
#include "store/store.h"
#include "wire/wire.h"

#include <sqlite3.h>

#define POSITION_MASK ((INT64_C(1) << CHORDAL__POSITION_BITS) - 1)

static int64_t row_of(const chordal__document *document, int64_t position) {
    return document->now.id << CHORDAL__POSITION_BITS | position;
}

void chordal__document_init(chordal__document *document) {
    *document = (chordal__document){0};
    chordal__list_init(&document->staged);
}

/* ---- finding ---- */

static void bind_address(sqlite3_stmt *statement, const chordal__address *address) {
    sqlite3_bind_blob64(statement, 1, address->type, address->type_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, address->key, address->key_len, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 3, address->member, address->member_len, SQLITE_STATIC);
}

static int find(chordal__store *store, const chordal__address *address, chordal__progress *out, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_DOCUMENT_FIND, &code, error);
    *out = (chordal__progress){0};
    if (code < 0) return code;
    bind_address(statement, address);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        bool retired = sqlite3_column_type(statement, 4) != SQLITE_NULL;
        out->incarnation = (uint64_t)sqlite3_column_int64(statement, 1);
        if (!retired) {
            out->id = sqlite3_column_int64(statement, 0);
            out->version = (uint32_t)sqlite3_column_int64(statement, 2);
            out->run = sqlite3_column_int64(statement, 3);
        }
    }
    return chordal__statement_end(store, statement, result, error);
}

/* ---- reading revisions ---- */

typedef struct revision {
    chordal__body *data;
    uint64_t number;
    int64_t position;
    bool base;
} revision;

typedef struct revisions {
    chordal__store *store;
    revision *items;
    size_t len, capacity;
    uint64_t bytes; /* of the deltas */
} revisions;

static void drop_revisions(revisions *list) {
    for (size_t i = 0; i < list->len; i++) chordal__body_unref(list->items[i].data);
    chordal__release(list->store->memory, list->items, list->capacity * sizeof *list->items);
}

static int push_row(revisions *list, sqlite3_stmt *row) {
    chordal__memory *memory = list->store->memory;
    void *items = list->items;
    int code = chordal__grow(memory, &items, sizeof *list->items, &list->capacity, list->len + 1, SIZE_MAX / 64);
    list->items = items;
    if (code < 0) return code;
    const void *data = sqlite3_column_blob(row, 3);
    size_t len = (size_t)sqlite3_column_bytes(row, 3);
    revision *item = &list->items[list->len];
    *item = (revision){.number = (uint64_t)sqlite3_column_int64(row, 1),
                       .position = sqlite3_column_int64(row, 0) & POSITION_MASK,
                       .base = sqlite3_column_int(row, 2) != 0,
                       .data = chordal__body_new(memory, len)};
    if (!item->data) return CHORDAL_E_NOMEM;
    if (len) memcpy(item->data->data, data, len);
    list->len++;
    if (!item->base) list->bytes += len;
    return 0;
}

/* The newest revisions up to row `to`, newest first, back to a base. */
static int read_back(revisions *list, int64_t from, int64_t to, chordal_error *error) {
    int code, result;
    sqlite3_stmt *statement = chordal__statement(list->store, CHORDAL__SQL_REVISIONS_BACK, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        code = push_row(list, statement);
        if (code < 0 || list->items[list->len - 1].base) break;
    }
    if (code < 0) chordal__fail(error, code, 0, "no memory for a document");
    int ended = chordal__statement_end(list->store, statement, result, code < 0 ? NULL : error);
    return code < 0 ? code : ended;
}

static int corrupt(const chordal__document *document, int64_t position, chordal_error *error) {
    chordal__fail(error, CHORDAL_E_CORRUPT, (uint64_t)row_of(document, position),
                  "a revision in the store is damaged (its row in chordal_revisions is the position)");
    return CHORDAL_E_CORRUPT;
}

static int apply_delta(chordal__store *store, const revision *delta, const chordal__limits *limits,
                       chordal__node **value, chordal_error *error) {
    chordal__ops ops;
    chordal__ops_init(&ops, store->memory);
    int code =
        chordal__ops_read(&ops, CHORDAL__ENCODING_BINARY, delta->data->data, delta->data->len, NULL, 0, limits, error);
    for (size_t i = 0; code == 0 && i < ops.count; i++)
        code = chordal__apply(store->memory, value, &ops.items[i], limits->depth, error);
    chordal__ops_dispose(&ops);
    return code;
}

/* The value that a list, newest first, ends in: all of it or none. */
static int replay(const revisions *list, const chordal__document *document, const chordal__limits *limits,
                  chordal__node **out, chordal_error *error) {
    size_t at = list->len;
    if (!at || !list->items[at - 1].base) return corrupt(document, at ? list->items[at - 1].position : 0, error);
    const revision *item = &list->items[--at];
    chordal__memory *memory = list->store->memory;
    int code = chordal__pack_read(memory, item->data->data, item->data->len, limits, out, error);
    while (code == 0 && at > 0) {
        item = &list->items[--at];
        code = apply_delta(list->store, item, limits, out, error);
        if (code < 0) chordal__node_unref(memory, *out);
    }
    if (code == 0) return 0;
    *out = NULL;
    return code == CHORDAL_E_NOMEM ? code : corrupt(document, item->position, error);
}

static void note_progress(const revisions *list, chordal__progress *progress) {
    const revision *newest = &list->items[0], *base = &list->items[list->len - 1];
    progress->position = newest->position;
    progress->number = newest->number;
    progress->base = base->position;
    progress->base_bytes = base->data->len;
    progress->delta_bytes = list->bytes;
    progress->deltas = (uint32_t)(list->len - 1);
}

int chordal__document_load(chordal__store *store, const chordal__address *address, const chordal__limits *limits,
                           chordal__document *document, chordal__node **out_value, chordal_error *error) {
    *out_value = NULL;
    int code = find(store, address, &document->now, error);
    if (code < 0 || !document->now.id) return code;
    revisions list = {.store = store};
    code = read_back(&list, row_of(document, 0), row_of(document, POSITION_MASK), error);
    if (code == 0) code = replay(&list, document, limits, out_value, error);
    if (code == 0) note_progress(&list, &document->now);
    drop_revisions(&list);
    return code;
}

/* ---- at a point ---- */

/* The newest base that commit `at` left; 0: none is kept. */
static int base_at(chordal__store *store, const chordal__document *document, uint64_t at, int64_t *out,
                   chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_POINT_BASE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, row_of(document, 0));
    sqlite3_bind_int64(statement, 2, row_of(document, POSITION_MASK));
    sqlite3_bind_int64(statement, 3, (int64_t)at);
    int result = sqlite3_step(statement);
    *out = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    return chordal__statement_end(store, statement, result, error);
}

static void turn_around(revisions *list) {
    for (size_t i = 0, k = list->len; i + 1 < k; i++) {
        revision first = list->items[i];
        list->items[i] = list->items[--k];
        list->items[k] = first;
    }
}

/* What a base and the deltas on it come to, up to commit `at`, newest first as above. */
static int read_on(revisions *list, int64_t from, int64_t to, uint64_t at, chordal_error *error) {
    int code, result = SQLITE_DONE;
    sqlite3_stmt *statement = chordal__statement(list->store, CHORDAL__SQL_REVISIONS_ON, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    while (code == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if ((uint64_t)sqlite3_column_int64(statement, 1) > at) break;
        code = push_row(list, statement);
    }
    if (code < 0) chordal__fail(error, code, 0, "no memory for a document");
    int ended = chordal__statement_end(list->store, statement, result, code < 0 ? NULL : error);
    turn_around(list);
    return code < 0 ? code : ended;
}

int chordal__document_at(chordal__store *store, int64_t id, uint64_t at, const chordal__limits *limits,
                         chordal__node **out_value, uint64_t *out_number, chordal_error *error) {
    int64_t base;
    chordal__document document;
    chordal__document_init(&document);
    document.now.id = id;
    int code = base_at(store, &document, at, &base, error);
    if (code < 0) return code;
    if (!base) return chordal__fail(error, CHORDAL_E_NOT_FOUND, 0, "what the document was then is not kept");
    revisions list = {.store = store};
    code = read_on(&list, base, row_of(&document, POSITION_MASK), at, error);
    if (code == 0) code = replay(&list, &document, limits, out_value, error);
    if (code == 0) *out_number = list.items[0].number;
    drop_revisions(&list);
    return code;
}

/* ---- looking for damage ---- */

/* A life as far as it was read. */
typedef struct reading {
    const chordal__document *document;
    const chordal__limits *limits;
    chordal__node *value; /* NULL: nothing was read yet */
    uint64_t number, last;
    int64_t position;
    bool base;
} reading;

/* A base behind the delta of the same commit says what that one led to; any other stands for itself. */
static int take_base(chordal__store *store, reading *life, const revision *row, chordal_error *error) {
    chordal__node *value;
    int code = chordal__pack_read(store->memory, row->data->data, row->data->len, life->limits, &value, error);
    if (code < 0) return code;
    bool follows = !life->value || life->base || row->number != life->number || chordal__node_equal(value, life->value);
    chordal__node_unref(store->memory, life->value);
    life->value = value;
    return follows ? 0 : CHORDAL_E_CORRUPT;
}

/* A compaction that was interrupted has left deltas before the first base: nothing is read from them. */
static int take_row(chordal__store *store, reading *life, const revision *row, chordal_error *error) {
    int code = 0;
    bool in_line = !life->position || row->position == life->position + 1;
    if (!in_line || row->number < life->number || row->number > life->last) return CHORDAL_E_CORRUPT;
    if (row->base)
        code = take_base(store, life, row, error);
    else if (life->value)
        code = apply_delta(store, row, life->limits, &life->value, error);
    life->number = row->number;
    life->position = row->position;
    life->base = row->base;
    return code;
}

static int take_next(revisions *list, reading *life, sqlite3_stmt *statement, chordal_error *error) {
    int64_t position = sqlite3_column_int64(statement, 0) & POSITION_MASK;
    int code = push_row(list, statement);
    if (code == 0) code = take_row(list->store, life, &list->items[0], error);
    while (list->len) chordal__body_unref(list->items[--list->len].data);
    if (code == CHORDAL_E_NOMEM) return chordal__fail(error, code, 0, "no memory for a document");
    return code < 0 ? corrupt(life->document, position, error) : 0;
}

int chordal__document_check(chordal__store *store, int64_t id, uint64_t created, uint64_t retired,
                            const chordal__limits *limits, chordal_error *error) {
    int code, result = SQLITE_DONE;
    chordal__document document;
    chordal__document_init(&document);
    document.now.id = id;
    reading life = {.document = &document, .limits = limits, .number = created, .last = retired};
    revisions list = {.store = store};
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_REVISIONS_ON, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, row_of(&document, 0));
    sqlite3_bind_int64(statement, 2, row_of(&document, POSITION_MASK));
    while (code == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW)
        code = take_next(&list, &life, statement, error);
    int ended = chordal__statement_end(store, statement, result, code < 0 ? NULL : error);
    if (code == 0) code = ended;
    bool empty = !life.value && (life.position || retired == CHORDAL__NEWEST);
    if (code == 0 && empty) code = corrupt(&document, life.position, error);
    chordal__node_unref(store->memory, life.value);
    drop_revisions(&list);
    return code;
}

/* ---- writing ---- */

/* What a step does to a document is undone when it fails. */
static void stage(chordal__store *store, chordal__document *document) {
    if (document->staged.next != &document->staged) return;
    document->before = document->now;
    chordal__list_append(&store->staged, &document->staged);
}

static int64_t present_run(const chordal__store *store) {
    return store->staged_run_id ? store->staged_run_id : store->run_id;
}

static int add(chordal__store *store, chordal__document *document, const chordal__address *address, uint32_t version,
               uint64_t number, chordal_error *error) {
    int code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_DOCUMENT_ADD, &code, error);
    if (code < 0) return code;
    chordal__progress *now = &document->now;
    bind_address(statement, address);
    sqlite3_bind_blob64(statement, 4, address->params, address->params_len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, (int64_t)now->incarnation + 1);
    sqlite3_bind_int64(statement, 6, version);
    sqlite3_bind_int64(statement, 7, present_run(store));
    sqlite3_bind_int64(statement, 8, (int64_t)number);
    code = chordal__statement_run(store, statement, error);
    if (code < 0) return code;
    *now = (chordal__progress){.id = sqlite3_last_insert_rowid(store->sqlite),
                               .incarnation = now->incarnation + 1,
                               .version = version,
                               .run = present_run(store)};
    if (now->id <= CHORDAL__DOCUMENTS_MAX) return 0;
    return chordal__fail(error, CHORDAL_E_LIMIT, 0, "the store has as many documents as there can be");
}

/* The first change in a run is marked at the document: that is where an opening after a crash looks. */
static int mark(chordal__store *store, chordal__document *document, uint32_t version, chordal_error *error) {
    int code;
    if (document->now.run == present_run(store) && document->now.version == version) return 0;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_DOCUMENT_MARK, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, document->now.id);
    sqlite3_bind_int64(statement, 2, present_run(store));
    sqlite3_bind_int64(statement, 3, version);
    code = chordal__statement_run(store, statement, error);
    if (code < 0) return code;
    document->now.run = present_run(store);
    document->now.version = version;
    return 0;
}

static void count(chordal__progress *now, uint64_t number, bool base, size_t len) {
    now->number = number;
    if (base) {
        now->base = now->position;
        now->base_bytes = len;
        now->delta_bytes = now->deltas = 0;
    } else {
        now->delta_bytes += len;
        now->deltas++;
    }
}

static int append(chordal__store *store, chordal__document *document, uint64_t number, bool base,
                  const chordal__body *data, chordal_error *error) {
    int code;
    if (document->now.position >= POSITION_MASK)
        return chordal__fail(error, CHORDAL_E_LIMIT, 0, "the document has as many revisions as there can be");
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_REVISION_ADD, &code, error);
    if (code < 0) return code;
    document->now.position++;
    sqlite3_bind_int64(statement, 1, row_of(document, document->now.position));
    sqlite3_bind_int64(statement, 2, (int64_t)number);
    if (base) sqlite3_bind_int(statement, 3, 1);
    sqlite3_bind_blob64(statement, 4, data->data, data->len, SQLITE_STATIC);
    count(&document->now, number, base, data->len);
    return chordal__statement_run(store, statement, error);
}

int chordal__document_write(chordal__store *store, chordal__document *document, const chordal__address *address,
                            uint32_t version, uint64_t number, const chordal__body *delta, const chordal__body *base,
                            chordal_error *error) {
    int code = chordal__lineage_begin(store, error);
    if (code < 0) return code;
    stage(store, document);
    code = document->now.id ? mark(store, document, version, error)
                            : add(store, document, address, version, number, error);
    if (code == 0 && delta) code = append(store, document, number, false, delta, error);
    if (code == 0 && base) code = append(store, document, number, true, base, error);
    return code;
}

int chordal__document_raise(chordal__store *store, chordal__document *document, uint32_t version,
                            chordal_error *error) {
    if (!document->now.id || document->now.version == version) return 0;
    int code = chordal__lineage_begin(store, error);
    if (code < 0) return code;
    stage(store, document);
    return mark(store, document, version, error);
}

static int drop_all(chordal__store *store, const chordal__document *document, chordal_error *error) {
    int code = chordal__outbox_flush(store, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_REVISIONS_END, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, row_of(document, 0));
    sqlite3_bind_int64(statement, 2, row_of(document, POSITION_MASK));
    return chordal__statement_run(store, statement, error);
}

int chordal__document_retire(chordal__store *store, chordal__document *document, uint64_t number, bool keep,
                             chordal_error *error) {
    if (!document->now.id) return 0;
    int code = chordal__lineage_begin(store, error);
    if (code < 0) return code;
    stage(store, document);
    if (!keep) code = drop_all(store, document, error);
    if (code < 0) return code;
    sqlite3_stmt *statement = chordal__statement(store, CHORDAL__SQL_DOCUMENT_RETIRE, &code, error);
    if (code < 0) return code;
    sqlite3_bind_int64(statement, 1, document->now.id);
    sqlite3_bind_int64(statement, 2, (int64_t)number);
    sqlite3_bind_int64(statement, 3, present_run(store));
    document->now = (chordal__progress){.incarnation = document->now.incarnation, .number = number};
    return chordal__statement_run(store, statement, error);
}
