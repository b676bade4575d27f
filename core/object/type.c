/* type.c: types that this host provides, from their declarations. */
#include "object/tables.h"

typedef struct declaration {
    chordal__runtime *runtime;
    chordal__node *root;
    chordal__type *type;
    chordal_error *error;
    bool own;
} declaration;

static int refuse(declaration *d, int code, const char *words) {
    return chordal__fail(d->error, code, 0, words);
}

static chordal__node *field(const chordal__node *object, const char *name) {
    return chordal__node_get(object, name, strlen(name));
}

static bool is_kind(const chordal__node *node, int kind) {
    return node && chordal__node_kind(node) == kind;
}

static int read_flag(declaration *d, const chordal__node *object, const char *name, bool *out) {
    const chordal__node *node = field(object, name);
    *out = is_kind(node, CHORDAL_KIND_TRUE);
    if (!node || *out || is_kind(node, CHORDAL_KIND_FALSE)) return 0;
    return refuse(d, CHORDAL_E_INVALID, "a flag of the declaration is not true or false");
}

/* Such names are the host's own. */
static bool is_reserved(const chordal__text *name) {
    static const char words[] = "chordal.";
    return name->len >= sizeof words - 1 && memcmp(name->data, words, sizeof words - 1) == 0;
}

static int read_name(declaration *d) {
    chordal__node *name = field(d->root, "name");
    if (!is_kind(name, CHORDAL_KIND_STRING) || chordal__node_length(name) == 0 || chordal__node_length(name) > 255)
        return refuse(d, CHORDAL_E_INVALID, "a type needs a name of 1 to 255 characters");
    int code = chordal__text_of_node(d->runtime->memory, name, &d->type->name);
    if (code < 0) return refuse(d, code, "no memory for the type");
    if (CHORDAL__STORE && !d->own && is_reserved(&d->type->name))
        return refuse(d, CHORDAL_E_INVALID, "a type's name does not begin with chordal.");
    return 0;
}

static int read_version(declaration *d) {
    chordal__number number;
    const chordal__node *version = field(d->root, "version");
    d->type->version = 1;
    if (!version) return 0;
    if (!is_kind(version, CHORDAL_KIND_INTEGER)) return refuse(d, CHORDAL_E_INVALID, "a version is a whole number");
    chordal__node_get_number(version, &number);
    if (number.as.integer < 1 || number.as.integer > UINT32_MAX)
        return refuse(d, CHORDAL_E_INVALID, "a version is from 1 to 2^32-1");
    d->type->version = (uint32_t)number.as.integer;
    return 0;
}

static bool has_param(const chordal__type *type, uint32_t count, const chordal__text *name) {
    for (uint32_t i = 0; i < count; i++)
        if (chordal__text_is(&type->params[i], name->data, name->len)) return true;
    return false;
}

static int read_params(declaration *d) {
    chordal__node *params = field(d->root, "params");
    if (!params) return 0;
    if (!is_kind(params, CHORDAL_KIND_ARRAY) || chordal__node_length(params) > 16)
        return refuse(d, CHORDAL_E_INVALID, "params is a list of at most 16 names");
    chordal__type *type = d->type;
    uint32_t count = (uint32_t)chordal__node_length(params);
    type->params = chordal__allocate_zero(d->runtime->memory, count * sizeof *type->params);
    if (count && !type->params) return refuse(d, CHORDAL_E_NOMEM, "no memory for the type");
    type->params_len = count;
    for (uint32_t i = 0; i < count; i++) {
        chordal__node *name = chordal__node_at(params, i);
        if (!is_kind(name, CHORDAL_KIND_STRING)) return refuse(d, CHORDAL_E_INVALID, "a param is a name");
        int code = chordal__text_of_node(d->runtime->memory, name, &type->params[i]);
        if (code < 0) return refuse(d, code, "no memory for the type");
        if (has_param(type, i, &type->params[i])) return refuse(d, CHORDAL_E_INVALID, "a param is named twice");
    }
    return 0;
}

static int read_from(declaration *d, const chordal__node *declared, chordal__member *member, uint32_t index) {
    chordal__members *members = d->type->members;
    const chordal__node *from = field(declared, "from");
    uint64_t count = is_kind(from, CHORDAL_KIND_ARRAY) ? chordal__node_length(from) : 0;
    if (count == 0 || count > index) return refuse(d, CHORDAL_E_INVALID, "a derive lists in `from` what it reads");
    member->from = chordal__allocate_zero(d->runtime->memory, (size_t)count * sizeof *member->from);
    if (!member->from) return refuse(d, CHORDAL_E_NOMEM, "no memory for the type");
    member->from_len = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        chordal__node *name = chordal__node_at(from, i);
        chordal__text text = {NULL, 0};
        if (!is_kind(name, CHORDAL_KIND_STRING)) return refuse(d, CHORDAL_E_INVALID, "`from` is a list of names");
        int code = chordal__text_of_node(d->runtime->memory, name, &text);
        if (code < 0) return refuse(d, code, "no memory for the type");
        int64_t source = chordal__members_find(members, text.data, text.len);
        chordal__text_clear(d->runtime->memory, &text);
        if (source < 0 || source >= index || !members->is_state[source])
            return refuse(d, CHORDAL_E_INVALID, "a derive reads documents and derives named before it");
        member->from[i] = (uint32_t)source;
    }
    return 0;
}

static int read_method(declaration *d, const chordal__node *declared, chordal__member *member) {
    bool has_store = CHORDAL__STORE && d->runtime->store && !d->runtime->store->read_only;
    int code = read_flag(d, declared, "idempotent", &member->idempotent);
    if (code == 0) code = read_flag(d, declared, "durable", &member->durable);
    if (code < 0 || !member->durable || has_store) return code;
    return refuse(d, CHORDAL_E_UNSUPPORTED, "a durable method needs a host with a store");
}

static int read_persist(declaration *d, const chordal__node *declared, chordal__member *member) {
    bool has_store = CHORDAL__STORE && d->runtime->store;
    member->persisted = has_store;
    if (!field(declared, "persist")) return 0;
    int code = read_flag(d, declared, "persist", &member->persisted);
    if (code == 0 && member->persisted && !has_store)
        return refuse(d, CHORDAL_E_UNSUPPORTED, "a persisted document needs a host with a store");
    return code;
}

static bool is_word(const chordal__node *node, const char *word) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    if (!is_kind(node, CHORDAL_KIND_STRING) || !chordal__node_string_piece(node, &at, &piece, &len)) return false;
    return len == strlen(word) && memcmp(piece, word, len) == 0;
}

static uint8_t kind_of(const chordal__node *declared) {
    static const char *const words[] = {
        "document",
        "derive",
        "method",
#if CHORDAL__STORE
        "table"
#endif
    };
    const chordal__node *kind = field(declared, "kind");
    for (uint8_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(kind, words[i])) return (uint8_t)(i + 1);
    return 0;
}

static int read_member(declaration *d, chordal__node *declared) {
    chordal__members *members = d->type->members;
    if (!is_kind(declared, CHORDAL_KIND_OBJECT)) return refuse(d, CHORDAL_E_INVALID, "a member is an object");
    chordal__node *name = field(declared, "name");
    uint8_t kind = kind_of(declared);
    if (!is_kind(name, CHORDAL_KIND_STRING)) return refuse(d, CHORDAL_E_INVALID, "a member needs a name");
    if (!kind) return refuse(d, CHORDAL_E_INVALID, "a member's kind is document, derive, method or table");
    chordal__text text = {NULL, 0};
    int code = chordal__text_of_node(d->runtime->memory, name, &text);
    if (code < 0) return refuse(d, code, "no memory for the type");
    code = chordal__members_add(members, text.data, text.len, kind, false);
    chordal__text_clear(d->runtime->memory, &text);
    if (code == CHORDAL_E_EXISTS) return refuse(d, CHORDAL_E_INVALID, "a member is named twice");
    if (code < 0) return refuse(d, code, "a member needs a name");
    chordal__member *member = &members->items[members->count - 1];
    if (kind == CHORDAL_MEMBER_DERIVE) return read_from(d, declared, member, members->count - 1);
    if (kind == CHORDAL_MEMBER_METHOD) return read_method(d, declared, member);
    if (CHORDAL__STORE && kind == CHORDAL_MEMBER_TABLE)
        return chordal__table_read(d->runtime, declared, member, d->error);
    if (CHORDAL__STORE) code = read_persist(d, declared, member);
    if (code < 0) return code;
    chordal__node *initial = field(declared, "initial");
    member->initial = initial ? chordal__node_ref(initial) : chordal__node_null(d->runtime->memory);
    return member->initial ? 0 : refuse(d, CHORDAL_E_NOMEM, "no memory for the type");
}

static int read_members(declaration *d) {
    chordal__node *list = field(d->root, "members");
    if (!is_kind(list, CHORDAL_KIND_ARRAY) || chordal__node_length(list) > CHORDAL__MEMBERS_LIMIT)
        return refuse(d, CHORDAL_E_INVALID, "members is a list of at most 1024 members");
    d->type->members = chordal__members_new(d->runtime->memory, (uint32_t)chordal__node_length(list));
    if (!d->type->members) return refuse(d, CHORDAL_E_NOMEM, "no memory for the type");
    chordal__walk walk;
    chordal__walk_begin(&walk, list);
    for (chordal__node *declared; (declared = chordal__walk_next(&walk, NULL, NULL)) != NULL;) {
        int code = read_member(d, declared);
        if (code < 0) return code;
    }
    return 0;
}

/* A whole number from `least` on; absent: it stays. */
static int read_count(declaration *d, const char *name, uint64_t least, uint64_t most, uint64_t *out) {
    chordal__number number = {0};
    const chordal__node *node = field(d->root, name);
    if (!node) return 0;
    if (is_kind(node, CHORDAL_KIND_INTEGER)) chordal__node_get_number(node, &number);
    if (!is_kind(node, CHORDAL_KIND_INTEGER) || number.as.integer < (int64_t)least || number.as.integer > (int64_t)most)
        return refuse(d, CHORDAL_E_INVALID, "a number of the declaration is out of range");
    *out = (uint64_t)number.as.integer;
    return 0;
}

static int read_history(declaration *d) {
    uint64_t deltas = CHORDAL__DELTAS_DEFAULT;
    chordal__node *history = field(d->root, "history");
    bool all = is_word(history, "all");
    int code = all ? 0 : read_count(d, "history", 0, UINT32_MAX, &d->type->history);
    if (all) d->type->history = CHORDAL__HISTORY_ALL;
    if (code == 0) code = read_count(d, "deltas", 1, CHORDAL__DELTAS_LIMIT, &deltas);
    d->type->deltas_limit = (uint32_t)deltas;
    return code;
}

static int read_all(declaration *d) {
    if (!is_kind(d->root, CHORDAL_KIND_OBJECT)) return refuse(d, CHORDAL_E_INVALID, "a declaration is an object");
    int code = read_name(d);
    if (code == 0) code = read_version(d);
    if (code == 0) code = read_flag(d, d->root, "keep", &d->type->keep);
    if (code == 0) code = read_flag(d, d->root, "start", &d->type->start);
    if (code == 0 && CHORDAL__STORE) code = read_flag(d, d->root, "migrates", &d->type->migrates);
    if (code == 0) code = read_flag(d, d->root, "guarded", &d->type->guarded);
    if (code == 0 && d->type->guarded && !CHORDAL__AUTHORITY)
        return refuse(d, CHORDAL_E_UNSUPPORTED, "a guarded type needs a host that can judge");
    if (code == 0 && CHORDAL__STORE) code = read_history(d);
    if (code == 0) code = read_params(d);
    if (code == 0) code = read_members(d);
    return code;
}

static int enter(declaration *d) {
    chordal__type *type = d->type;
    if (CHORDAL__STORE && d->runtime->store && d->runtime->store->filling)
        return refuse(d, CHORDAL_E_STATE, "documents are being put into the store");
    if (chordal__type_find(d->runtime, type->name.data, type->name.len))
        return refuse(d, CHORDAL_E_EXISTS, "the type is provided already");
    type->id = chordal__id_new(&d->runtime->ids, CHORDAL__ID_TYPE, type, false);
    if (!type->id) return refuse(d, CHORDAL_E_NOMEM, "no memory for the type");
    int code = CHORDAL__STORE ? chordal__tables_open(type, d->error) : 0;
    if (code < 0) return code;
    code = chordal__map_put(&d->runtime->types, type->name.data, type->name.len, type);
    return code < 0 ? refuse(d, code, "no memory for the type") : 0;
}

static int provide(chordal__runtime *runtime, const uint8_t *text, size_t len, bool own, chordal__type **out,
                   chordal_error *error) {
    declaration d = {.runtime = runtime, .error = error, .own = own};
    int code = chordal__json_read(runtime->memory, text, len, &runtime->settings.limits, &d.root, error);
    if (code < 0) return code;
    d.type = chordal__allocate_zero(runtime->memory, sizeof *d.type);
    if (d.type) {
        d.type->runtime = runtime;
        chordal__map_init(&d.type->objects, runtime->memory, runtime->seed);
        code = read_all(&d);
        if (code == 0) code = enter(&d);
    } else {
        code = refuse(&d, CHORDAL_E_NOMEM, "no memory for the type");
    }
    chordal__node_unref(runtime->memory, d.root);
    if (code < 0) {
        chordal__type_free(d.type);
        return code == CHORDAL_E_NOMEM ? refuse(&d, code, "no memory for the type") : code;
    }
    *out = d.type;
#if CHORDAL__STORE
    d.type->own = own;
    if (own) return 0;
#endif
    runtime->hooks->type_provided(runtime, d.type->name.data, d.type->name.len);
    return 0;
}

int chordal__type_provide(chordal__runtime *runtime, const uint8_t *text, size_t len, chordal__type **out,
                          chordal_error *error) {
    return provide(runtime, text, len, false, out, error);
}

#if CHORDAL__STORE
int chordal__type_provide_own(chordal__runtime *runtime, const uint8_t *text, size_t len, chordal__type **out,
                              chordal_error *error) {
    return provide(runtime, text, len, true, out, error);
}
#endif

chordal__type *chordal__type_find(chordal__runtime *runtime, const void *name, size_t name_len) {
    return chordal__map_get(&runtime->types, name, name_len);
}

void chordal__type_free(chordal__type *type) {
    if (!type) return;
    chordal__memory *memory = type->runtime->memory;
    if (CHORDAL__STORE && type->members) chordal__tables_close_unopened(type->members);
    for (uint32_t i = 0; i < type->params_len; i++) chordal__text_clear(memory, &type->params[i]);
    chordal__release(memory, type->params, type->params_len * sizeof *type->params);
    chordal__members_unref(type->members);
    chordal__map_dispose(&type->objects);
    chordal__text_clear(memory, &type->name);
    if (type->id) chordal__id_free(&type->runtime->ids, type->id);
    chordal__release(memory, type, sizeof *type);
}
