/* members.c: the table of a type's members, of types provided here and of those met over a link. */
#include "object/object.h"

chordal__members *chordal__members_new(chordal__memory *memory, uint32_t capacity) {
    chordal__members *members = chordal__allocate_zero(memory, sizeof *members);
    if (!members) return NULL;
    members->references = 1;
    members->memory = memory;
    members->capacity = capacity;
    members->items = chordal__allocate_zero(memory, capacity * sizeof *members->items);
    members->is_state = chordal__allocate_zero(memory, capacity * sizeof *members->is_state);
    if (capacity && (!members->items || !members->is_state)) {
        chordal__members_unref(members);
        return NULL;
    }
    return members;
}

chordal__members *chordal__members_ref(chordal__members *members) {
    members->references++;
    return members;
}

void chordal__members_unref(chordal__members *members) {
    if (!members || --members->references) return;
    chordal__memory *memory = members->memory;
    for (uint32_t i = 0; i < members->count; i++) {
        chordal__member *member = &members->items[i];
        chordal__text_clear(memory, &member->name);
        chordal__node_unref(memory, member->initial);
        chordal__release(memory, member->from, member->from_len * sizeof *member->from);
    }
    chordal__release(memory, members->items, members->capacity * sizeof *members->items);
    chordal__release(memory, members->is_state, members->capacity * sizeof *members->is_state);
    chordal__release(memory, members, sizeof *members);
}

int64_t chordal__members_find(const chordal__members *members, const char *name, size_t name_len) {
    for (uint32_t i = 0; i < members->count; i++)
        if (chordal__text_is(&members->items[i].name, name, name_len)) return i;
    return -1;
}

int chordal__members_add(chordal__members *members, const void *name, size_t name_len, uint8_t kind, bool idempotent) {
    if (members->count == members->capacity) return CHORDAL_E_LIMIT;
    if (kind < CHORDAL_MEMBER_DOCUMENT || kind > CHORDAL_MEMBER_TABLE || name_len == 0) return CHORDAL_E_INVALID;
    if (chordal__members_find(members, name, name_len) >= 0) return CHORDAL_E_EXISTS;
    chordal__member *member = &members->items[members->count];
    int code = chordal__text_set(members->memory, &member->name, name, name_len);
    if (code < 0) return code;
    member->kind = kind;
    member->idempotent = idempotent;
    members->is_state[members->count++] = kind < CHORDAL_MEMBER_METHOD;
    return 0;
}

static uint8_t flags_of(const chordal__member *member) {
    return (uint8_t)(member->idempotent | member->durable << 1);
}

static void write_binary(const chordal__members *members, chordal__buffer *out) {
    chordal__pack_write_array(out, members->count);
    for (uint32_t i = 0; i < members->count; i++) {
        const chordal__member *member = &members->items[i];
        chordal__pack_write_array(out, 3);
        chordal__pack_write_string(out, member->name.data, member->name.len);
        chordal__pack_write_integer(out, member->kind);
        chordal__pack_write_integer(out, flags_of(member));
    }
}

static void write_json(const chordal__members *members, chordal__buffer *out) {
    for (uint32_t i = 0; i < members->count; i++) {
        const chordal__member *member = &members->items[i];
        chordal__buffer_text(out, i ? ",[" : "[[");
        chordal__json_write_string(out, (const uint8_t *)member->name.data, member->name.len);
        chordal__buffer_byte(out, ',');
        chordal__buffer_decimal(out, member->kind);
        chordal__buffer_byte(out, ',');
        chordal__buffer_decimal(out, flags_of(member));
        chordal__buffer_byte(out, ']');
    }
    chordal__buffer_text(out, members->count ? "]" : "[]");
}

void chordal__members_write(const chordal__members *members, uint8_t encoding, chordal__buffer *out) {
    if (encoding == CHORDAL__ENCODING_JSON)
        write_json(members, out);
    else
        write_binary(members, out);
}

static int number_at(const chordal__node *array, uint64_t index, int64_t *out) {
    chordal__node *node = chordal__node_at(array, index);
    chordal__number number;
    if (!node || chordal__node_kind(node) != CHORDAL_KIND_INTEGER) return CHORDAL_E_TYPE;
    chordal__node_get_number(node, &number);
    *out = number.as.integer;
    return 0;
}

/* A string's bytes in one piece, copied into `text`. */
int chordal__text_of_node(chordal__memory *memory, const chordal__node *string, chordal__text *text) {
    uint64_t len = chordal__node_string_bytes(string), at = 0;
    char *copy = chordal__allocate(memory, (size_t)len + 1);
    if (!copy) return CHORDAL_E_NOMEM;
    const uint8_t *piece;
    size_t piece_len, used = 0;
    while (chordal__node_string_piece(string, &at, &piece, &piece_len)) {
        memcpy(copy + used, piece, piece_len);
        used += piece_len;
    }
    copy[used] = 0;
    chordal__text_clear(memory, text);
    text->data = copy;
    text->len = (size_t)len;
    return 0;
}

static int read_member(chordal__members *members, const chordal__node *row) {
    int64_t kind, flags;
    if (chordal__node_kind(row) != CHORDAL_KIND_ARRAY || chordal__node_length(row) < 3) return CHORDAL_E_TYPE;
    chordal__node *name = chordal__node_at(row, 0);
    if (chordal__node_kind(name) != CHORDAL_KIND_STRING) return CHORDAL_E_TYPE;
    if (number_at(row, 1, &kind) < 0 || number_at(row, 2, &flags) < 0) return CHORDAL_E_TYPE;
    if (kind < CHORDAL_MEMBER_DOCUMENT || kind > CHORDAL_MEMBER_TABLE) return CHORDAL_E_TYPE;
    chordal__text text = {NULL, 0};
    int code = chordal__text_of_node(members->memory, name, &text);
    if (code < 0) return code;
    code = chordal__members_add(members, text.data, text.len, (uint8_t)kind, (flags & 1) != 0);
    chordal__text_clear(members->memory, &text);
    if (code == 0) members->items[members->count - 1].durable = (flags & 2) != 0;
    return code == CHORDAL_E_INVALID || code == CHORDAL_E_EXISTS ? CHORDAL_E_TYPE : code;
}

int chordal__members_read(chordal__memory *memory, const chordal__node *table, chordal__members **out,
                          chordal_error *error) {
    if (chordal__node_kind(table) != CHORDAL_KIND_ARRAY || chordal__node_length(table) > CHORDAL__MEMBERS_LIMIT)
        return chordal__fail(error, CHORDAL_E_TYPE, 0, "a member table is a list of at most 1024 members");
    chordal__members *members = chordal__members_new(memory, (uint32_t)chordal__node_length(table));
    if (!members) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a member table");
    chordal__walk walk;
    chordal__walk_begin(&walk, table);
    for (chordal__node *row; (row = chordal__walk_next(&walk, NULL, NULL)) != NULL;) {
        int code = read_member(members, row);
        if (code == 0) continue;
        chordal__members_unref(members);
        return chordal__fail(error, code, 0, "a member is [name, kind, flags]");
    }
    *out = members;
    return 0;
}
