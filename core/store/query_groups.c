/* query_groups.c: counts and sums of rows, by groups. Sums are exact, however large, and rounded when they are told. */
#include "store/query.h"

void chordal__groups_init(chordal__groups *groups, const chordal__query *query, chordal__memory *memory) {
    *groups = (chordal__groups){.query = query, .memory = memory};
}

static void drop_item(chordal__memory *memory, const chordal__group *group) {
    chordal__row_unref(group->row);
    chordal__release(memory, group->reals, sizeof *group->reals);
}

void chordal__groups_dispose(chordal__groups *groups) {
    for (size_t i = 0; i < groups->count; i++) drop_item(groups->memory, &groups->items[i]);
    chordal__release(groups->memory, groups->items, groups->capacity * sizeof *groups->items);
    *groups = (chordal__groups){0};
}

static int compare(const chordal__query *query, const chordal__row *a, const chordal__row *b) {
    int result = 0;
    for (uint32_t i = 0; i < query->groups_len && !result; i++)
        result = chordal__cell_compare(&a->cells[query->groups[i]], &b->cells[query->groups[i]]);
    return result;
}

/* The first group that is not before the row's. */
static size_t find(const chordal__groups *groups, const chordal__row *row, bool *out_found) {
    size_t low = 0, high = groups->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(groups->query, groups->items[middle].row, row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_found = low < groups->count && compare(groups->query, groups->items[low].row, row) == 0;
    return low;
}

static bool sums_reals(const chordal__query *query) {
    return query->sums && query->table->columns[query->sum].type == CHORDAL__CELL_REAL;
}

static int insert(chordal__groups *groups, size_t at, chordal__row *row) {
    void *items = groups->items;
    chordal__sum *reals = NULL;
    int code = chordal__grow(groups->memory, &items, sizeof *groups->items, &groups->capacity, groups->count + 1,
                             CHORDAL__QUERY_LIMIT);
    groups->items = items;
    if (code < 0) return code;
    if (sums_reals(groups->query)) {
        reals = chordal__allocate_zero(groups->memory, sizeof *reals);
        if (!reals) return CHORDAL_E_NOMEM;
    }
    memmove(groups->items + at + 1, groups->items + at, (groups->count - at) * sizeof *groups->items);
    groups->items[at] = (chordal__group){.row = chordal__row_ref(row), .reals = reals};
    groups->count++;
    return 0;
}

static void sum(chordal__group *group, const chordal__cell *cell, int sign) {
    if (cell->kind == CHORDAL__CELL_REAL) chordal__sum_add(group->reals, cell->as.real, sign);
    if (cell->kind != CHORDAL__CELL_INTEGER) return;
    uint64_t low = (uint64_t)cell->as.integer, high = cell->as.integer < 0 ? UINT64_MAX : 0, before = group->sum_low;
    if (sign < 0) {
        low = ~low + 1;
        high = ~high + (low == 0);
    }
    group->sum_low += low;
    group->sum_high = (int64_t)((uint64_t)group->sum_high + high + (group->sum_low < before));
}

int chordal__groups_add(chordal__groups *groups, chordal__row *row, int sign, size_t *out_index, bool *out_fresh) {
    bool found;
    size_t at = find(groups, row, &found);
    int code = found ? 0 : insert(groups, at, row);
    if (code < 0) return code;
    groups->items[at].count += sign;
    if (groups->query->sums) sum(&groups->items[at], &row->cells[groups->query->sum], sign);
    *out_index = at;
    *out_fresh = !found;
    return 0;
}

void chordal__groups_drop(chordal__groups *groups, size_t index) {
    drop_item(groups->memory, &groups->items[index]);
    groups->count--;
    memmove(groups->items + index, groups->items + index + 1, (groups->count - index) * sizeof *groups->items);
}

/* ---- as values ---- */

/* Exact from -2^63 to 2^64-1, else about the nearest double. */
static void pack_whole(chordal__buffer *out, const chordal__group *group) {
    if (group->sum_high == 0 && group->sum_low > INT64_MAX) {
        chordal__buffer_byte(out, 0xcf);
        for (int shift = 56; shift >= 0; shift -= 8) chordal__buffer_byte(out, (uint8_t)(group->sum_low >> shift));
        return;
    }
    bool fits = group->sum_high == (int64_t)group->sum_low >> 63;
    chordal__cell cell = {.kind = fits ? CHORDAL__CELL_INTEGER : CHORDAL__CELL_REAL};
    if (fits)
        cell.as.integer = (int64_t)group->sum_low;
    else
        cell.as.real = (double)group->sum_high * 18446744073709551616.0 + (double)group->sum_low;
    chordal__cell_pack(out, &cell, CHORDAL__BYTES_BASE64);
}

static void pack_real(chordal__buffer *out, const chordal__group *group) {
    chordal__number number;
    chordal__cell cell = {.kind = CHORDAL__CELL_REAL};
    if (group->reals) cell.as.real = chordal__sum_value(group->reals);
    if (!chordal__number_of_double(cell.as.real, &number) && !out->failed) out->failed = CHORDAL_E_RANGE;
    chordal__cell_pack(out, &cell, CHORDAL__BYTES_BASE64);
}

static void pack_columns(chordal__buffer *out, const chordal__query *query, const chordal__group *group,
                         uint8_t bytes) {
    chordal__pack_write_string(out, "group", 5);
    chordal__pack_write_object(out, query->groups_len);
    for (uint32_t i = 0; i < query->groups_len; i++) {
        const chordal__column *column = &query->table->columns[query->groups[i]];
        chordal__pack_write_string(out, column->name, column->name_len);
        chordal__cell_pack(out, &group->row->cells[query->groups[i]], bytes);
    }
}

void chordal__group_pack(chordal__buffer *out, const chordal__groups *groups, size_t index, uint8_t bytes) {
    const chordal__query *query = groups->query;
    const chordal__group *group = &groups->items[index];
    chordal__pack_write_object(out,
                               (query->groups_len ? 1u : 0u) + (query->counts ? 1u : 0u) + (query->sums ? 1u : 0u));
    if (query->groups_len) pack_columns(out, query, group, bytes);
    if (query->counts) {
        chordal__pack_write_string(out, "count", 5);
        chordal__pack_write_integer(out, group->count);
    }
    if (!query->sums) return;
    chordal__pack_write_string(out, "sum", 3);
    if (sums_reals(query))
        pack_real(out, group);
    else
        pack_whole(out, group);
}
