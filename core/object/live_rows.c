/* live_rows.c: the rows of live queries, kept current from what commits do.
 *
 * A query with rows keeps those that match in order, as many as its limit and some more; a place among them is found by
 * halves. When so many went that too few are left, the next ones are read behind the last, as they were at the commit.
 * One that counts keeps of each row what it is counted by. Nothing is asked of SQL for a row that changes. */
#include "object/live.h"

/* ---- ops on the document ---- */

static int push(chordal__live *live, uint8_t kind, const chordal__segment *segments, size_t count, uint64_t index,
                uint64_t remove, chordal__node *value) {
    chordal__memory *memory = live->object->runtime->memory;
    chordal__op op = {.kind = kind, .index = index, .remove = remove, .value = value};
    op.path = chordal__path_new(memory, segments, count);
    int code = op.path ? 0 : CHORDAL_E_NOMEM;
    if (code == 0)
        code = chordal__apply(memory, &live->object->slots[0].head, &op, live->object->runtime->settings.limits.depth,
                              NULL);
    if (code == 0) return chordal__ops_push(&live->ops, op);
    chordal__op_dispose(memory, &op);
    return code;
}

/* TAKES value; NULL: only `remove` go. */
static int splice(chordal__live *live, size_t at, uint64_t remove, chordal__node *value) {
    const chordal__segment member = {.index = 0};
    chordal__memory *memory = live->object->runtime->memory;
    chordal__node *values = value ? chordal__node_array(memory, &value, 1) : NULL;
    chordal__node_unref(memory, value);
    if (value && !values) return CHORDAL_E_NOMEM;
    return push(live, CHORDAL_OP_SPLICE, &member, 1, at, remove, values);
}

/* TAKES value. */
static int set_field(chordal__live *live, size_t at, const void *name, size_t len, chordal__node *value) {
    const chordal__segment path[] = {
        {.index = 0}, {.index = at}, {.is_key = true, .key = name, .key_len = (uint32_t)len}};
    return push(live, CHORDAL_OP_SET, path, 3, 0, 0, value);
}

/* ---- values ---- */

/* What was packed into the scratch: DEPTH where the list around makes it too deep; else only damage is no value. */
static int unpack(chordal__runtime *runtime, chordal__node **out) {
    const chordal__limits limits = {.depth = runtime->settings.limits.depth, .size = UINT64_MAX};
    const chordal__buffer *packed = &runtime->scratch;
    if (packed->failed) return packed->failed;
    int code = chordal__pack_read(runtime->memory, packed->data, packed->len, &limits, out, NULL);
    return code == 0 || code == CHORDAL_E_NOMEM || code == CHORDAL_E_DEPTH ? code : CHORDAL_E_CORRUPT;
}

static int row_node(const chordal__live *live, const chordal__row *row, chordal__node **out) {
    chordal__runtime *runtime = live->object->runtime;
    chordal__buffer_clear(&runtime->scratch);
    chordal__row_pack(&runtime->scratch, live->query.table, row, CHORDAL__BYTES_DIGEST);
    return unpack(runtime, out);
}

static int cell_node(const chordal__live *live, const chordal__cell *cell, chordal__node **out) {
    chordal__runtime *runtime = live->object->runtime;
    chordal__buffer_clear(&runtime->scratch);
    chordal__cell_pack(&runtime->scratch, cell, CHORDAL__BYTES_DIGEST);
    return unpack(runtime, out);
}

static int group_node(const chordal__live *live, size_t at, chordal__node **out) {
    chordal__runtime *runtime = live->object->runtime;
    chordal__buffer_clear(&runtime->scratch);
    chordal__group_pack(&runtime->scratch, &live->groups, at, CHORDAL__BYTES_BASE64);
    return unpack(runtime, out);
}

/* ---- rows in order ---- */

/* The first row that is not before this one. */
static size_t place_of(const chordal__live *live, const chordal__row *row) {
    size_t low = 0, high = live->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chordal__query_compare(&live->query, live->items[middle], row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int key_of(const chordal__live *live, const chordal__row *row, chordal__buffer **out) {
    *out = &live->object->runtime->scratch;
    chordal__buffer_clear(*out);
    chordal__row_key(*out, live->query.table, row);
    return (*out)->failed;
}

static int keep(chordal__live *live, size_t at, chordal__row *row) {
    void *items = live->items;
    chordal__buffer *key;
    int code = chordal__grow(live->object->runtime->memory, &items, sizeof *live->items, &live->capacity, live->len + 1,
                             SIZE_MAX / sizeof *live->items);
    live->items = items;
    if (code == 0) code = key_of(live, row, &key);
    if (code == 0) code = chordal__map_put(&live->by_key, key->data, key->len, row);
    if (code < 0) return code;
    memmove(live->items + at + 1, live->items + at, (live->len - at) * sizeof *live->items);
    live->items[at] = chordal__row_ref(row);
    live->len++;
    return 0;
}

static int drop(chordal__live *live, size_t at) {
    chordal__buffer *key;
    int code = key_of(live, live->items[at], &key);
    if (code < 0) return code;
    chordal__map_remove(&live->by_key, key->data, key->len);
    chordal__row_unref(live->items[at]);
    live->len--;
    memmove(live->items + at, live->items + at + 1, (live->len - at) * sizeof *live->items);
    return 0;
}

/* ---- one row that changes ---- */

static int show(chordal__live *live, size_t at) {
    chordal__node *node;
    int code = row_node(live, live->items[at], &node);
    return code < 0 ? code : splice(live, at, 0, node);
}

static int insert(chordal__live *live, chordal__row *row) {
    size_t at = place_of(live, row), limit = live->query.limit;
    if (at == live->len && !live->complete) return 0; /* one of those that are not kept */
    int code = keep(live, at, row);
    if (code < 0 || at >= limit) return code;
    if (live->len > limit) code = splice(live, limit - 1, 1, NULL);
    return code < 0 ? code : show(live, at);
}

static int take_out(chordal__live *live, size_t at) {
    size_t limit = live->query.limit;
    int code = drop(live, at);
    if (code == 0 && at < limit) code = splice(live, at, 1, NULL);
    return code == 0 && at < limit && live->len >= limit ? show(live, limit - 1) : code;
}

/* The row stays where it is: only its cells change. */
static int replace(chordal__live *live, size_t at, chordal__row *row) {
    chordal__buffer *key;
    chordal__node *cell;
    chordal__row *before = live->items[at];
    int code = key_of(live, row, &key);
    if (code < 0) return code;
    chordal__map_remove(&live->by_key, key->data, key->len);
    code = chordal__map_put(&live->by_key, key->data, key->len, row);
    live->items[at] = chordal__row_ref(row);
    for (uint32_t i = 0; i < row->count && code == 0 && at < live->query.limit; i++) {
        const chordal__column *column = &live->query.table->columns[i];
        if (chordal__cell_compare(&before->cells[i], &row->cells[i]) == 0) continue;
        code = cell_node(live, &row->cells[i], &cell);
        if (code == 0) code = set_field(live, at, column->name, column->name_len, cell);
    }
    chordal__row_unref(before);
    return code;
}

static int change_row(chordal__live *live, chordal__row *before, chordal__row *after) {
    size_t at = before ? place_of(live, before) : 0;
    if (before && after && chordal__query_compare(&live->query, before, after) == 0) return replace(live, at, after);
    int code = before ? take_out(live, at) : 0;
    return code == 0 && after ? insert(live, after) : code;
}

/* ---- one that counts ---- */

/* Of a row, what it is counted by. */
static chordal__row *slim(const chordal__live *live, const chordal__row *row) {
    const chordal__query *query = &live->query;
    chordal__cell cells[CHORDAL__COLUMNS_LIMIT];
    for (uint32_t i = 0; i < row->count; i++) cells[i] = (chordal__cell){.kind = CHORDAL__CELL_NULL};
    for (uint32_t i = 0; i < query->groups_len; i++) cells[query->groups[i]] = row->cells[query->groups[i]];
    if (query->sums) cells[query->sum] = row->cells[query->sum];
    return chordal__row_new(live->object->runtime->memory, cells, row->count);
}

static int show_group(chordal__live *live, size_t at, bool fresh) {
    chordal__node *node;
    int code = group_node(live, at, &node);
    if (code < 0) return code;
    if (fresh && live->query.groups_len) return splice(live, at, 0, node);
    chordal__memory *memory = live->object->runtime->memory;
    chordal__node *count = chordal__node_get(node, "count", 5), *sum = chordal__node_get(node, "sum", 3);
    if (count) code = set_field(live, at, "count", 5, chordal__node_ref(count));
    if (code == 0 && sum) code = set_field(live, at, "sum", 3, chordal__node_ref(sum));
    chordal__node_unref(memory, node);
    return code;
}

static int count(chordal__live *live, chordal__row *row, int sign) {
    size_t at;
    bool fresh;
    int code = chordal__groups_add(&live->groups, row, sign, &at, &fresh);
    if (code < 0) return code;
    if (live->groups.items[at].count || !live->query.groups_len) return show_group(live, at, fresh);
    chordal__groups_drop(&live->groups, at);
    return splice(live, at, 1, NULL);
}

/* TAKES both. */
static int note(chordal__live *live, const void *key, size_t len, chordal__row *before, chordal__row *after) {
    bool full = live->by_key.count >= CHORDAL__LIVE_COUNTED;
    if (before) chordal__map_remove(&live->by_key, key, len);
    chordal__row_unref(before);
    if (!after) return 0;
    int code = full && !before ? CHORDAL_E_LIMIT : chordal__map_put(&live->by_key, key, len, after);
    if (code < 0) chordal__row_unref(after);
    return code;
}

/* `row` NULL: it is counted no more. */
static int recount(chordal__live *live, const chordal__pending *key, chordal__row *before, const chordal__row *row) {
    chordal__row *after = row ? slim(live, row) : NULL;
    if (row && !after) return CHORDAL_E_NOMEM;
    if (before && after && chordal__row_equal(before, after)) {
        chordal__row_unref(after);
        return 0;
    }
    chordal__row *held = before ? chordal__row_ref(before) : NULL;
    int code = note(live, key->key, key->len, before, after);
    if (code == 0 && before) code = count(live, before, -1);
    if (code == 0 && after) code = count(live, after, 1);
    chordal__row_unref(held);
    return code;
}

/* ---- reading rows ---- */

static int keep_last(void *context, chordal__row *row, chordal_error *error) {
    chordal__live *live = context;
    int code = keep(live, live->len, row);
    return code < 0 ? chordal__fail(error, code, 0, "no memory for the rows of a query") : 0;
}

static int count_first(void *context, chordal__row *row, chordal_error *error) {
    chordal__live *live = context;
    size_t at;
    bool fresh;
    chordal__buffer *key;
    chordal__row *counted = slim(live, row);
    int code = counted ? key_of(live, row, &key) : CHORDAL_E_NOMEM;
    if (code < 0)
        chordal__row_unref(counted);
    else
        code = note(live, key->data, key->len, NULL, counted);
    if (code == 0) code = chordal__groups_add(&live->groups, counted, 1, &at, &fresh);
    if (code == CHORDAL_E_LIMIT)
        return chordal__fail(error, code, 0, "a live count is of at most 1048576 rows and 10000 groups");
    return code < 0 ? chordal__fail(error, code, 0, "no memory for the rows of a query") : 0;
}

/* The newest commit that is in the file. */
static uint64_t newest_stored(const chordal__runtime *runtime) {
    uint64_t number = runtime->commit_number;
    for (chordal__list *node = runtime->commits.next; node != &runtime->commits; node = node->next) {
        const chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        if (commit->stored && commit->number > number) number = commit->number;
    }
    return number;
}

static int set_head(chordal__live *live, chordal_error *error) {
    chordal__runtime *runtime = live->object->runtime;
    chordal__buffer *packed = &runtime->scratch;
    size_t shown = live->len < live->query.limit ? live->len : live->query.limit;
    chordal__buffer_clear(packed);
    if (chordal__query_is_aggregate(&live->query)) {
        chordal__groups_answer(packed, &live->groups, CHORDAL__BYTES_BASE64);
    } else {
        chordal__pack_write_array(packed, shown);
        for (size_t i = 0; i < shown; i++)
            chordal__row_pack(packed, live->query.table, live->items[i], CHORDAL__BYTES_DIGEST);
    }
    chordal__node *node;
    int code = unpack(runtime, &node);
    if (code == CHORDAL_E_DEPTH) return chordal__fail(error, code, 0, "a row is nested too deep for a live query");
    if (code == CHORDAL_E_CORRUPT) return chordal__fail(error, code, 0, "the store: a row is damaged");
    if (code == CHORDAL_E_RANGE) return chordal__fail(error, code, 0, "a sum is beyond the largest double");
    if (code < 0) return chordal__fail(error, code, 0, "no memory for the rows of a query");
    chordal__slot *slot = &live->object->slots[0];
    chordal__node_unref(runtime->memory, slot->head);
    chordal__node_unref(runtime->memory, slot->tip);
    slot->head = node;
    slot->tip = chordal__node_ref(node);
    return 0;
}

int chordal__live_load(chordal__live *live, chordal_error *error) {
    bool counts = chordal__query_is_aggregate(&live->query);
    uint64_t limit = counts ? UINT64_MAX : (uint64_t)live->query.limit + CHORDAL__LIVE_MARGIN;
    chordal__groups_init(&live->groups, &live->query, live->object->runtime->memory);
    live->loaded = newest_stored(live->object->runtime);
    int code =
        chordal__rows_query(live->rows, NULL, &live->query, limit, counts ? count_first : keep_last, live, error);
    live->complete = live->len < limit;
    if (code == 0) code = set_head(live, error);
    if (code < 0) {
        chordal__live_forget(live);
        return code;
    }
    live->follows = true;
    live->rows->thirsty += !counts;
    return 0;
}

void chordal__live_forget(chordal__live *live) {
    chordal__memory *memory = live->object->runtime->memory;
    bool counts = chordal__query_is_aggregate(&live->query);
    size_t at = 0;
    chordal__row *row;
    if (live->follows && !counts) live->rows->thirsty--;
    while (counts && (row = chordal__map_next(&live->by_key, &at)) != NULL) chordal__row_unref(row);
    for (size_t i = 0; i < live->len; i++) chordal__row_unref(live->items[i]);
    chordal__release(memory, live->items, live->capacity * sizeof *live->items);
    live->items = NULL;
    live->len = live->capacity = 0;
    chordal__map_dispose(&live->by_key);
    chordal__map_init(&live->by_key, memory, live->object->runtime->seed);
    if (live->groups.query) chordal__groups_dispose(&live->groups);
    chordal__ops_dispose(&live->ops);
    chordal__ops_init(&live->ops, memory);
    chordal__list_remove(&live->touched);
    live->follows = false;
}

/* ---- when too few are left ---- */

/* What commits behind the one that settles have done to the file already is covered by what was there before. */
static bool hides(const chordal__cover *cover, const void *key, size_t len) {
    return chordal__tables_later(cover->context, key, len) != NULL;
}

static int cover_set(chordal__cover *cover, const chordal__query *query, const chordal__row_set *set) {
    int code = 0;
    for (uint32_t i = 0; i < set->count && code == 0; i++) {
        const chordal__row_entry *entry = &set->entries[i];
        if (entry->written && entry->pending->stored.next == &entry->node)
            code = chordal__cover_add(cover, query, entry->before);
    }
    return code;
}

static int cover_commit(chordal__cover *cover, const chordal__query *query, const chordal__rows *rows,
                        const chordal__commit *commit) {
    int code = 0;
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (const chordal__row_set *set = commit->changes[i].rows; set && code == 0; set = set->next)
            if (set->rows == rows) code = cover_set(cover, query, set);
    return code;
}

static int cover_later(chordal__cover *cover, const chordal__query *query, const chordal__rows *rows) {
    const chordal__runtime *runtime = rows->object->runtime;
    int code = 0;
    for (chordal__list *node = runtime->settling->node.next; node != &runtime->commits && code == 0;
         node = node->next) {
        const chordal__commit *commit = CHORDAL__ENTRY(node, chordal__commit, node);
        if (commit->stored) code = cover_commit(cover, query, rows, commit);
    }
    return code;
}

static int refill(chordal__live *live) {
    chordal__runtime *runtime = live->object->runtime;
    chordal__query rest = live->query;
    chordal__cover cover = {.memory = runtime->memory, .hides = hides, .context = live->rows};
    size_t before = live->len, wanted = live->query.limit + CHORDAL__LIVE_MARGIN - before;
    chordal__row *last = before ? chordal__row_ref(live->items[before - 1]) : NULL;
    if (last) rest.after = last;
    int code = cover_later(&cover, &rest, live->rows);
    if (code == 0) code = chordal__rows_merge(live->rows, &rest, &cover, wanted, keep_last, live, NULL);
    chordal__cover_dispose(&cover);
    chordal__row_unref(last);
    live->complete = live->len - before < wanted;
    for (size_t i = before; i < live->len && i < live->query.limit && code == 0; i++) code = show(live, i);
    return code;
}

static int trim(chordal__live *live) {
    size_t enough = live->query.limit + CHORDAL__LIVE_MARGIN;
    int code = 0;
    if (live->len <= enough + CHORDAL__LIVE_MARGIN) return 0;
    while (live->len > enough && code == 0) code = drop(live, live->len - 1);
    live->complete = false;
    return code;
}

/* ---- a commit ---- */

static bool is_asked_for(const chordal__live *live, const chordal__row *row) {
    if (!row || !chordal__query_matches(&live->query, row)) return false;
    return !live->query.after || chordal__query_compare(&live->query, row, live->query.after) > 0;
}

static int follow_entry(chordal__live *live, const chordal__row_entry *entry) {
    chordal__row *before = chordal__map_get(&live->by_key, entry->pending->key, entry->pending->len);
    chordal__row *after = is_asked_for(live, entry->row) ? entry->row : NULL;
    if (!before && !after) return 0;
    if (chordal__query_is_aggregate(&live->query)) return recount(live, entry->pending, before, after);
    return change_row(live, before, after);
}

static int follow_set(chordal__live *live, const chordal__row_set *set) {
    int code = 0;
    for (uint32_t i = 0; i < set->count && code == 0; i++)
        if (set->entries[i].written) code = follow_entry(live, &set->entries[i]);
    bool counts = chordal__query_is_aggregate(&live->query);
    if (code == 0 && !counts && live->len < live->query.limit && !live->complete) code = refill(live);
    return code == 0 && !counts ? trim(live) : code;
}

static void note_change(chordal__live *live, uint64_t number) {
    chordal__runtime *runtime = live->object->runtime;
    if (!live->ops.count || live->touched.next != &live->touched) return;
    chordal__list_append(&runtime->touched, &live->touched);
    chordal__tell_batch(&live->object->early, number, &live->ops);
}

/* The head is the query's own meanwhile, so that a change copies nothing. */
static void follow_commit(chordal__live *live, const chordal__row_set *set, uint64_t number) {
    chordal__slot *slot = &live->object->slots[0];
    chordal__node_unref(live->object->runtime->memory, slot->tip);
    slot->tip = NULL;
    int code = follow_set(live, set);
    slot->tip = chordal__node_ref(slot->head);
    if (code == 0) {
        note_change(live, number);
        return;
    }
    chordal__live_forget(live);
    chordal__object_fail(live->object, code, NULL, 0, NULL, 0);
}

static void apply_set(const chordal__row_set *set, uint64_t number) {
    chordal__list *node = set->rows->live.next;
    while (node != &set->rows->live) {
        chordal__live *live = CHORDAL__ENTRY(node, chordal__live, node);
        node = node->next;
        if (live->follows && number > live->loaded) follow_commit(live, set, number);
    }
}

void chordal__live_apply(const chordal__commit *commit) {
    chordal__tables_show(commit);
    for (uint32_t i = 0; i < commit->changes_len; i++)
        for (const chordal__row_set *set = commit->changes[i].rows; set; set = set->next)
            apply_set(set, commit->number);
}

/* Beyond what folding takes the whole is told. */
static void shorten(chordal__live *live) {
    const chordal__segment member = {.index = 0};
    chordal__memory *memory = live->object->runtime->memory;
    chordal__op op = {.kind = CHORDAL_OP_REPLACE};
    if (live->ops.count <= CHORDAL__OPS_LIMIT || !(op.path = chordal__path_new(memory, &member, 1))) return;
    op.value = chordal__node_ref(live->object->slots[0].head);
    chordal__ops_clear(&live->ops);
    (void)chordal__ops_push(&live->ops, op); /* has the memory of those before */
}

void chordal__live_publish(chordal__runtime *runtime, uint64_t number) {
    for (chordal__list *node = runtime->touched.next; node != &runtime->touched; node = node->next) {
        chordal__live *live = CHORDAL__ENTRY(node, chordal__live, touched);
        shorten(live);
        if (live->object->state == CHORDAL__OBJECT_LIVE)
            chordal__tell_batch(&live->object->observers, number, &live->ops);
    }
}

void chordal__live_published(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->touched)) {
        chordal__live *live = CHORDAL__ENTRY(runtime->touched.next, chordal__live, touched);
        chordal__list_remove(&live->touched);
        chordal__ops_clear(&live->ops);
    }
}
