/* table.c: the tables of objects: what commits have prepared for them, and how the step writes it. */
#include "object/tables.h"

/* ---- of a type ---- */

int chordal__table_read(chordal__runtime *runtime, chordal__node *declared, chordal__member *member,
                        chordal_error *error) {
    if (!runtime->store) return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "a table needs a host with a store");
    return chordal__table_declare(runtime->memory, declared, &member->table, error);
}

int chordal__tables_open(const chordal__type *type, chordal_error *error) {
    int code = 0;
    for (uint32_t i = 0; i < type->members->count && code == 0; i++) {
        const chordal__member *member = &type->members->items[i];
        const chordal__address address = {.type = type->name.data,
                                          .type_len = type->name.len,
                                          .member = member->name.data,
                                          .member_len = member->name.len};
        if (member->table) code = chordal__table_open(type->runtime->store, &address, member->table, error);
    }
    return code;
}

static bool is_open(const chordal__table *table) {
    return table->node.next != &table->node;
}

void chordal__tables_close_unopened(chordal__members *members) {
    for (uint32_t i = 0; i < members->count; i++)
        if (members->items[i].table && !is_open(members->items[i].table)) chordal__table_free(members->items[i].table);
}

/* ---- life ---- */

chordal__rows *chordal__rows_of(const chordal__object *object, uint32_t member) {
    return member < object->type->members->count ? object->slots[member].rows : NULL;
}

static bool has_tables(const chordal__object *object) {
    const chordal__members *members = object->type->members;
    for (uint32_t i = 0; i < members->count; i++)
        if (members->items[i].table) return true;
    return false;
}

static int load_table(chordal__object *object, uint32_t member) {
    chordal__runtime *runtime = object->runtime;
    chordal__rows *rows = chordal__allocate_zero(runtime->memory, sizeof *rows);
    if (!rows) return CHORDAL_E_NOMEM;
    rows->object = object;
    rows->table = object->type->members->items[member].table;
    chordal__list_init(&rows->live);
    chordal__map_init(&rows->pending, runtime->memory, runtime->seed);
    object->slots[member].rows = rows;
    return 0;
}

int chordal__tables_load(chordal__object *object, chordal_error *error) {
    const chordal__members *members = object->type->members;
    chordal__address address;
    if (!has_tables(object)) return 0;
    object->owner = chordal__allocate_zero(object->runtime->memory, sizeof *object->owner);
    if (!object->owner) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
    chordal__list_init(&object->owner->staged);
    for (uint32_t i = 0; i < members->count; i++)
        if (members->items[i].table && load_table(object, i) < 0)
            return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a table");
    chordal__persist_address(object, 0, &address);
    return chordal__owner_find(object->runtime->store, &address, object->owner, error);
}

void chordal__tables_forget(chordal__object *object) {
    chordal__memory *memory = object->runtime->memory;
    for (uint32_t i = 0; i < object->type->members->count; i++) {
        chordal__rows *rows = object->slots[i].rows;
        if (!rows) continue;
        chordal__map_dispose(&rows->pending);
        chordal__release(memory, rows, sizeof *rows);
    }
    if (object->owner) chordal__list_remove(&object->owner->staged);
    chordal__release(memory, object->owner, sizeof *object->owner);
}

/* ---- what is prepared ---- */

static chordal__pending *find_pending(const chordal__rows *rows, const void *key, size_t len) {
    return chordal__map_get(&rows->pending, key, len);
}

static chordal__pending *hold_pending(chordal__rows *rows, const void *key, size_t len) {
    chordal__memory *memory = rows->object->runtime->memory;
    chordal__pending *pending = find_pending(rows, key, len);
    if (!pending) {
        pending = chordal__allocate_zero(memory, sizeof *pending + len);
        if (!pending) return NULL;
        chordal__list_init(&pending->chain);
        chordal__list_init(&pending->stored);
        pending->len = len;
        memcpy(pending->key, key, len);
        if (chordal__map_put(&rows->pending, key, len, pending) < 0) {
            chordal__release(memory, pending, sizeof *pending + len);
            return NULL;
        }
    }
    pending->holds++;
    return pending;
}

static void let_go(chordal__rows *rows, chordal__pending *pending) {
    if (--pending->holds) return;
    chordal__map_remove(&rows->pending, pending->key, pending->len);
    chordal__release(rows->object->runtime->memory, pending, sizeof *pending + pending->len);
}

chordal__row_set *chordal__row_set_new(chordal__change *change, chordal__rows *rows, uint32_t capacity) {
    size_t size = sizeof(chordal__row_set) + capacity * sizeof(chordal__row_entry);
    chordal__row_set *set = chordal__allocate_zero(rows->object->runtime->memory, size);
    if (!set) return NULL;
    set->rows = rows;
    set->capacity = capacity;
    set->entries = set->room;
    set->next = change->rows;
    change->rows = set;
    return set;
}

int chordal__row_set_add(chordal__row_set *set, const void *key_bytes, size_t key_len, const chordal__row_entry *from) {
    chordal__row_entry *entry = &set->entries[set->count];
    *entry = *from;
    chordal__list_init(&entry->node);
    entry->pending = hold_pending(set->rows, key_bytes, key_len);
    if (!entry->pending) return CHORDAL_E_NOMEM;
    chordal__row_ref(entry->key);
    if (entry->row) chordal__row_ref(entry->row);
    set->count++;
    return 0;
}

int chordal__row_set_grow(chordal__row_set *set, uint32_t capacity) {
    chordal__row_entry *entries =
        chordal__allocate_zero(set->rows->object->runtime->memory, capacity * sizeof *entries);
    if (!entries) return CHORDAL_E_NOMEM;
    set->entries = entries;
    set->capacity = capacity;
    return 0;
}

static void drop_entry(chordal__row_set *set, chordal__row_entry *entry) {
    chordal__list_remove(&entry->node);
    let_go(set->rows, entry->pending);
    chordal__row_unref(entry->key);
    chordal__row_unref(entry->row);
    chordal__row_unref(entry->before);
}

void chordal__row_set_clear(chordal__row_set *set) {
    for (uint32_t i = 0; i < set->count; i++) drop_entry(set, &set->entries[i]);
    set->count = 0;
    if (set->entries == set->room) return;
    chordal__release(set->rows->object->runtime->memory, set->entries, set->capacity * sizeof *set->entries);
    set->entries = set->room;
    set->capacity = 0;
}

static void drop_set(chordal__row_set *set) {
    chordal__row_set_clear(set);
    chordal__sweep_free(set->sweep);
    if (set->rows->sweep_set == set) set->rows->sweep_set = NULL;
    chordal__release(set->rows->object->runtime->memory, set, sizeof *set + set->capacity * sizeof *set->room);
}

void chordal__tables_drop(chordal__change *change) {
    while (change->rows) {
        chordal__row_set *set = change->rows;
        change->rows = set->next;
        drop_set(set);
    }
}

int chordal__rows_tip(chordal__rows *rows, const void *key_bytes, size_t key_len, const chordal__row *key,
                      chordal__row **out, chordal_error *error) {
    int code = chordal__rows_settle(rows, error);
    if (code < 0) return code;
    const chordal__pending *pending = find_pending(rows, key_bytes, key_len);
    if (!pending || chordal__list_empty(&pending->chain))
        return chordal__row_find(rows->object->runtime->store, rows->table, rows->object->owner, key, out, error);
    const chordal__row_entry *newest = CHORDAL__ENTRY(pending->chain.previous, chordal__row_entry, node);
    *out = newest->row ? chordal__row_ref(newest->row) : NULL;
    return 0;
}

/* ---- a commit on its way ---- */

typedef struct each_set {
    const chordal__commit *commit;
    uint32_t change;
    chordal__row_set *set;
} each_set;

static chordal__row_set *next_set(each_set *each) {
    if (each->set) each->set = each->set->next;
    while (!each->set && each->change < each->commit->changes_len)
        each->set = each->commit->changes[each->change++].rows;
    return each->set;
}

void chordal__tables_advance(chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) {
        for (uint32_t i = 0; i < set->count; i++) {
            if (!set->entries[i].written) continue;
            chordal__list_append(&set->entries[i].pending->chain, &set->entries[i].node);
            set->rows->moves++;
        }
        if (!set->sweep) continue;
        set->rows->sweep_set = set;
        set->rows->moves++;
    }
}

/* Whether the file will be ahead of what is visible before the commit is. */
static bool is_ahead(const chordal__commit *commit) {
    const chordal__runtime *runtime = commit->runtime;
    const chordal__list *before = commit->node.previous;
    return before != &runtime->commits && (!runtime->settling || before != &runtime->settling->node);
}

static int note_before(chordal__rows *rows, chordal__row_entry *entry, chordal_error *error) {
    chordal__row_unref(entry->before);
    entry->before = NULL;
    return chordal__row_find(rows->object->runtime->store, rows->table, rows->object->owner, entry->key, &entry->before,
                             error);
}

/* Who is told of rows has to have them. Each entry's key is the row that was there. */
static int write_sweep(chordal__row_set *set, uint64_t number, bool ahead, chordal_error *error) {
    chordal__rows *rows = set->rows;
    chordal__store *store = rows->object->runtime->store;
    bool told = store->outbox || !chordal__list_empty(&rows->live);
    int code = told && rows->sweep_set == set ? chordal__rows_settle(rows, error) : 0;
    for (uint32_t i = 0; i < set->count && ahead && rows->thirsty; i++)
        if (!set->entries[i].before) set->entries[i].before = chordal__row_ref(set->entries[i].key);
    return code < 0 ? code : chordal__sweep_store(store, set->sweep, rows->object->owner, number, error);
}

static int write_rows(chordal__row_set *set, uint64_t number, bool ahead, chordal_error *error) {
    chordal__object *object = set->rows->object;
    chordal__address address;
    int code = 0;
    chordal__persist_address(object, 0, &address);
    for (uint32_t i = 0; i < set->count && code == 0; i++) {
        chordal__row_entry *entry = &set->entries[i];
        if (!entry->written) continue;
        if (ahead && set->rows->thirsty) code = note_before(set->rows, entry, error);
        if (code == 0)
            code = chordal__row_store(object->runtime->store, set->rows->table, object->owner, &address, number,
                                      entry->key, entry->row, error);
    }
    return code;
}

int chordal__tables_write(chordal__commit *commit, chordal_error *error) {
    each_set each = {.commit = commit};
    int code = 0;
    for (chordal__row_set *set; code == 0 && (set = next_set(&each)) != NULL;)
        code = set->sweep ? write_sweep(set, commit->number, is_ahead(commit), error)
                          : write_rows(set, commit->number, is_ahead(commit), error);
    return code;
}

static void unchain(chordal__row_set *set) {
    for (uint32_t i = 0; i < set->count; i++) chordal__list_remove(&set->entries[i].node);
    if (set->rows->sweep_set == set) set->rows->sweep_set = NULL;
}

/* The file has them now. */
void chordal__tables_stored(chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) {
        unchain(set);
        for (uint32_t i = 0; i < set->count; i++)
            if (set->entries[i].written) chordal__list_append(&set->entries[i].pending->stored, &set->entries[i].node);
    }
}

void chordal__tables_show(const chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) unchain(set);
}

const chordal__row_entry *chordal__tables_later(const chordal__rows *rows, const void *key, size_t len) {
    const chordal__pending *pending = find_pending(rows, key, len);
    if (!pending || chordal__list_empty(&pending->stored)) return NULL;
    return CHORDAL__ENTRY(pending->stored.next, chordal__row_entry, node);
}

void chordal__tables_fall(chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) {
        unchain(set);
        if (set->sweep) {
            set->rows->fallen = true;
            set->rows->moves++;
        }
        for (uint32_t i = 0; i < set->count; i++) {
            if (!set->entries[i].written) continue;
            set->entries[i].pending->fallen = set->rows->fallen = true;
            set->rows->moves++;
        }
    }
}

bool chordal__tables_on_fallen(const chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) {
        if (set->queried && set->rows->fallen) return true;
        for (uint32_t i = 0; i < set->count; i++)
            if (set->entries[i].read && set->entries[i].pending->fallen) return true;
    }
    return false;
}

void chordal__tables_stand_up(chordal__commit *commit) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;) {
        set->rows->fallen = false;
        for (uint32_t i = 0; i < set->count; i++) set->entries[i].pending->fallen = false;
    }
}

/* ---- retiring ---- */

bool chordal__tables_any(const chordal__object *object) {
    return object->owner && object->owner->id;
}

int chordal__tables_retire(chordal__object *object, chordal_error *error) {
    const chordal__runtime *runtime = object->runtime;
    if (!chordal__tables_any(object)) return 0;
    return chordal__owner_end(runtime->store, object->owner, runtime->commit_number, error);
}

/* ---- the outbox: [type, params, member, {"put": row}] or {"remove": key} ---- */

uint64_t chordal__tables_count(const chordal__commit *commit) {
    each_set each = {.commit = commit};
    uint64_t count = 0;
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;)
        for (uint32_t i = 0; i < set->count; i++) count += set->entries[i].written;
    return count;
}

static void write_entry(chordal__buffer *out, const chordal__rows *rows, uint32_t member,
                        const chordal__row_entry *entry) {
    const chordal__object *object = rows->object;
    const chordal__text *type = &object->type->name, *name = &object->type->members->items[member].name;
    chordal__pack_write_array(out, 4);
    chordal__pack_write_string(out, type->data, type->len);
    chordal__buffer_put(out, object->params->data, object->params->len);
    chordal__pack_write_string(out, name->data, name->len);
    chordal__pack_write_object(out, 1);
    if (entry->row) {
        chordal__pack_write_string(out, "put", 3);
        chordal__row_pack(out, rows->table, entry->row, CHORDAL__BYTES_RAW);
    } else {
        chordal__pack_write_string(out, "remove", 6);
        chordal__pack_write_array(out, rows->table->key_len);
        chordal__row_key(out, rows->table, entry->key);
    }
}

static uint32_t member_of(const chordal__rows *rows) {
    uint32_t member = 0;
    while (rows->object->slots[member].rows != rows) member++;
    return member;
}

void chordal__tables_outbox(const chordal__commit *commit, chordal__buffer *out) {
    each_set each = {.commit = commit};
    for (chordal__row_set *set; (set = next_set(&each)) != NULL;)
        for (uint32_t i = 0; i < set->count; i++)
            if (set->entries[i].written) write_entry(out, set->rows, member_of(set->rows), &set->entries[i]);
}
