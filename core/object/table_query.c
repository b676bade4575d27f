/* table_query.c: queries over what is in the file and what is not yet: rows of both, merged in the query's order. */
#include "object/tables.h"

/* ---- what covers the file ---- */

static int push(chordal__cover *cover, chordal__row *row) {
    void *rows = cover->matches;
    int code = chordal__grow(cover->memory, &rows, sizeof *cover->matches, &cover->capacity, cover->len + 1,
                             SIZE_MAX / sizeof *cover->matches);
    cover->matches = rows;
    if (code == 0) cover->matches[cover->len++] = row;
    return code;
}

int chordal__cover_add(chordal__cover *cover, const chordal__query *query, chordal__row *row) {
    cover->hidden++;
    bool matches = row && !query->stale && chordal__query_matches(query, row);
    if (matches && query->after) matches = chordal__query_compare(query, row, query->after) > 0;
    return matches ? push(cover, row) : 0;
}

void chordal__cover_dispose(chordal__cover *cover) {
    chordal__release(cover->memory, cover->matches, cover->capacity * sizeof *cover->matches);
}

static bool is_written(const chordal__own_table *own, const void *key, size_t len) {
    const chordal__own_row *row = chordal__map_get(&own->by_key, key, len);
    return row && row->written;
}

/* A transaction covers with what it wrote, and that with what is prepared. */
static bool hides(const chordal__cover *cover, const void *key, size_t len) {
    const chordal__own_table *own = cover->context;
    const chordal__pending *pending = chordal__map_get(&own->rows->pending, key, len);
    return is_written(own, key, len) || (pending && !chordal__list_empty(&pending->chain));
}

static int cover_by(const chordal__own_table *own, const chordal__query *query, chordal__cover *cover) {
    const chordal__pending *pending;
    size_t at = 0;
    int code = 0;
    while (code == 0 && (pending = chordal__map_next(&own->rows->pending, &at)) != NULL) {
        if (chordal__list_empty(&pending->chain) || is_written(own, pending->key, pending->len)) continue;
        const chordal__row_entry *newest = CHORDAL__ENTRY(pending->chain.previous, chordal__row_entry, node);
        code = chordal__cover_add(cover, query, newest->row);
    }
    for (chordal__list *node = own->list.next; node != &own->list && code == 0; node = node->next) {
        const chordal__own_row *row = CHORDAL__ENTRY(node, chordal__own_row, node);
        if (row->written) code = chordal__cover_add(cover, query, row->row);
    }
    return code;
}

/* ---- merging ---- */

typedef struct merge {
    const chordal__query *query;
    chordal__cover *cover;
    chordal__scan scan;
    chordal__buffer key;
    chordal__row *next; /* of the file */
    size_t at;          /* in the cover's matches */
} merge;

static int next_of_file(merge *m, chordal_error *error) {
    for (;;) {
        chordal__row_unref(m->next);
        int code = chordal__scan_next(&m->scan, &m->next, error);
        if (code < 0 || !m->next || !m->cover->hidden) return code;
        chordal__buffer_clear(&m->key);
        chordal__row_key(&m->key, m->query->table, m->next);
        if (m->key.failed) return chordal__fail(error, m->key.failed, 0, "no memory for a row");
        if (!m->cover->hides(m->cover, m->key.data, m->key.len)) return 0;
    }
}

static chordal__row *next_covering(const merge *m) {
    return m->at < m->cover->len ? m->cover->matches[m->at] : NULL;
}

static int take_rows(merge *m, uint64_t limit, chordal__take_row *take, void *context, chordal_error *error) {
    int code = next_of_file(m, error);
    while (code == 0 && limit--) {
        chordal__row *covering = next_covering(m);
        bool file = m->next && (!covering || chordal__query_compare(m->query, m->next, covering) < 0);
        if (!file && !covering) return 0;
        code = take(context, file ? m->next : covering, error);
        if (file && code == 0) code = next_of_file(m, error);
        m->at += !file;
    }
    return code;
}

int chordal__rows_merge(chordal__rows *rows, const chordal__query *query, chordal__cover *cover, uint64_t limit,
                        chordal__take_row *take, void *context, chordal_error *error) {
    chordal__runtime *runtime = rows->object->runtime;
    merge m = {.query = query, .cover = cover};
    uint64_t asked = limit > UINT64_MAX - cover->hidden ? UINT64_MAX : limit + cover->hidden;
    chordal__query_sort(query, cover->matches, cover->len);
    int code = chordal__scan_begin(runtime->store, query, rows->object->owner, asked, &m.scan, error);
    if (code < 0) return code;
    chordal__buffer_init(&m.key, runtime->memory, UINT32_MAX);
    code = take_rows(&m, limit, take, context, error);
    chordal__row_unref(m.next);
    chordal__buffer_dispose(&m.key);
    chordal__scan_end(&m.scan);
    return code;
}

void chordal__own_table_queried(chordal__own_table *own) {
    if (own->queried) return;
    own->queried = true;
    own->query_moves = own->rows->moves;
}

int chordal__rows_query(chordal__rows *rows, chordal__own_table *own, const chordal__query *query, uint64_t limit,
                        chordal__take_row *take, void *context, chordal_error *error) {
    chordal__cover cover = {.memory = rows->object->runtime->memory, .hides = hides, .context = own};
    int code = own ? chordal__own_table_settle(own, error) : 0;
    if (code == 0 && own) code = chordal__rows_settle(rows, error);
    if (code < 0) return code;
    if (own) chordal__own_table_queried(own);
    code = own ? cover_by(own, query, &cover) : 0;
    if (code < 0)
        chordal__fail(error, code, 0, "no memory for a query");
    else
        code = chordal__rows_merge(rows, query, &cover, limit, take, context, error);
    chordal__cover_dispose(&cover);
    return code;
}

/* ---- answers: {"rows": […], "after": cursor or null} ---- */

int chordal__found_keep(void *context, chordal__row *row, chordal_error *error) {
    chordal__found *list = context;
    void *rows = list->rows;
    int code =
        chordal__grow(list->memory, &rows, sizeof *list->rows, &list->capacity, list->len + 1, CHORDAL__OWN_ROWS_LIMIT);
    list->rows = rows;
    if (code == CHORDAL_E_LIMIT) return chordal__fail(error, code, 0, "too many rows in one transaction");
    if (code < 0) return chordal__fail(error, code, 0, "no memory for rows");
    list->rows[list->len++] = chordal__row_ref(row);
    return 0;
}

void chordal__found_dispose(chordal__found *list) {
    for (size_t i = 0; i < list->len; i++) chordal__row_unref(list->rows[i]);
    chordal__release(list->memory, list->rows, list->capacity * sizeof *list->rows);
}

static void pack_cursor(chordal__buffer *out, const chordal__query *query, const chordal__row *last) {
    chordal__buffer text;
    chordal__buffer_init(&text, out->memory, UINT32_MAX);
    chordal__cursor_write(&text, query, last);
    if (text.failed && !out->failed) out->failed = text.failed;
    chordal__pack_write_string(out, text.data, text.len);
    chordal__buffer_dispose(&text);
}

static void begin_answer(chordal__buffer *out, size_t count) {
    chordal__pack_write_object(out, 2);
    chordal__pack_write_string(out, "rows", 4);
    chordal__pack_write_array(out, count);
}

/* `last`: the row that others are behind of; NULL: there are none. */
static void end_answer(chordal__buffer *out, const chordal__query *query, const chordal__row *last) {
    chordal__pack_write_string(out, "after", 5);
    if (last)
        pack_cursor(out, query, last);
    else
        chordal__buffer_byte(out, 0xc0);
}

static void pack_answer(chordal__buffer *out, const chordal__query *query, const chordal__found *list, uint8_t bytes) {
    bool more = list->len > query->limit;
    size_t count = more ? query->limit : list->len;
    chordal__buffer_clear(out);
    begin_answer(out, count);
    for (size_t i = 0; i < count; i++) chordal__row_pack(out, query->table, list->rows[i], bytes);
    end_answer(out, query, more ? list->rows[count - 1] : NULL);
}

/* ---- of the file alone: rows are packed where SQL shows them ---- */

#define ANSWER_HEAD 9 /* bytes at most: it tells how many rows there are, and is written behind them */

static void put_head(chordal__buffer *out, size_t count) {
    size_t end = out->len;
    begin_answer(out, count);
    if (out->failed) return;
    uint8_t head[ANSWER_HEAD];
    size_t len = out->len - end;
    memcpy(head, out->data + end, len);
    memmove(out->data + len, out->data + ANSWER_HEAD, end - ANSWER_HEAD);
    memcpy(out->data, head, len);
    out->len = end - ANSWER_HEAD + len;
}

static int pack_scan(chordal__scan *scan, chordal__buffer *out, uint8_t bytes, chordal__row **last, uint64_t *count,
                     chordal_error *error) {
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
    const chordal__query *query = scan->query;
    bool more;
    int code;
    while ((code = chordal__scan_cells(scan, cells, &more, error)) == 0 && more && *count < query->limit) {
        chordal__cells_pack(out, query->table, cells, bytes);
        if (++*count < query->limit) continue;
        *last = chordal__row_new(query->table->memory, cells, query->table->columns_len);
        if (!*last) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a row");
    }
    if (code < 0 || more) return code;
    chordal__row_unref(*last);
    *last = NULL;
    return 0;
}

static int answer_stored(chordal__rows *rows, const chordal__query *query, uint8_t bytes, chordal_error *error) {
    chordal__runtime *runtime = rows->object->runtime;
    chordal__buffer *out = &runtime->scratch;
    chordal__scan scan;
    chordal__row *last = NULL;
    uint64_t count = 0, asked = (uint64_t)query->limit + 1;
    int code = chordal__scan_begin(runtime->store, query, rows->object->owner, asked, &scan, error);
    if (code < 0) return code;
    chordal__buffer_clear(out);
    (void)chordal__buffer_extend(out, ANSWER_HEAD);
    code = pack_scan(&scan, out, bytes, &last, &count, error);
    chordal__scan_end(&scan);
    if (!out->failed) put_head(out, (size_t)count);
    if (code == 0) end_answer(out, query, last);
    chordal__row_unref(last);
    return code;
}

static int count_row(void *context, chordal__row *row, chordal_error *error) {
    size_t index;
    bool fresh;
    int code = chordal__groups_add(context, row, 1, &index, &fresh);
    if (code == CHORDAL_E_LIMIT) return chordal__fail(error, code, 0, "an answer has at most 10000 groups");
    return code < 0 ? chordal__fail(error, code, 0, "no memory for groups") : 0;
}

/* Without groups there is one, of no rows if there are none. */
void chordal__groups_answer(chordal__buffer *out, const chordal__groups *groups, uint8_t bytes) {
    bool empty = !groups->query->groups_len && !groups->count;
    chordal__pack_write_array(out, empty ? 1 : groups->count);
    for (size_t i = 0; i < groups->count; i++) chordal__group_pack(out, groups, i, bytes);
    if (!empty) return;
    chordal__group nothing = {0};
    chordal__groups one = *groups;
    one.items = &nothing;
    chordal__group_pack(out, &one, 0, bytes);
}

static int answer_groups(chordal__rows *rows, chordal__own_table *own, const chordal__query *query, uint8_t bytes,
                         chordal_error *error) {
    chordal__runtime *runtime = rows->object->runtime;
    chordal__groups groups;
    chordal__groups_init(&groups, query, runtime->memory);
    int code = chordal__rows_query(rows, own, query, UINT64_MAX, count_row, &groups, error);
    if (code == 0) {
        chordal__buffer_clear(&runtime->scratch);
        chordal__pack_write_object(&runtime->scratch, 2);
        chordal__pack_write_string(&runtime->scratch, "rows", 4);
        chordal__groups_answer(&runtime->scratch, &groups, bytes);
        end_answer(&runtime->scratch, query, NULL);
    }
    chordal__groups_dispose(&groups);
    if (code == 0 && runtime->scratch.failed == CHORDAL_E_RANGE)
        return chordal__fail(error, CHORDAL_E_RANGE, 0, "a sum is beyond the largest double");
    return code;
}

int chordal__rows_answer(chordal__rows *rows, chordal__own_table *own, const chordal__query *query, bool raw,
                         chordal_error *error) {
    chordal__runtime *runtime = rows->object->runtime;
    chordal__found list = {.memory = runtime->memory};
    uint8_t bytes = raw ? CHORDAL__BYTES_RAW : CHORDAL__BYTES_BASE64;
    if (chordal__query_is_aggregate(query)) return answer_groups(rows, own, query, bytes, error);
    if (!own) return answer_stored(rows, query, bytes, error);
    int code = chordal__rows_query(rows, own, query, (uint64_t)query->limit + 1, chordal__found_keep, &list, error);
    if (code == 0) pack_answer(&runtime->scratch, query, &list, bytes);
    chordal__found_dispose(&list);
    return code;
}
