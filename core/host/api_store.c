/* api_store.c: the public functions on what lies in a host's store. */
#include "chordal/store.h"
#include "host/host.h"

/* Into a host that has a store. */
static int enter(chordal_host *host, chordal_error *error) {
    int code = chordal__enter(host, error);
    if (code < 0 || host->runtime.store) return code;
    return chordal__leave(host, chordal__fail(error, CHORDAL_E_STATE, 0, "the host has no store"));
}

static int give(chordal_host *host, chordal__node *node, chordal_value **out, chordal_error *error) {
    *out = chordal__box_new(host->memory, node);
    chordal__node_unref(host->memory, node);
    return *out ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a value");
}

int chordal_store_read(chordal_host *host, const char *type, size_t type_len, uint32_t format, const uint8_t *params,
                       size_t params_len, const char *member, size_t member_len, uint64_t at, chordal_value **out,
                       uint64_t *out_commit, chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    chordal__runtime *runtime = &host->runtime;
    chordal__node *named, *value;
    chordal__address address = {.type = type, .type_len = type_len, .member = member, .member_len = member_len};
    code = chordal__node_of(runtime, format, params, params_len, &named, error);
    if (code < 0) return chordal__leave(host, code);
    code = chordal__point_read(runtime->store, &address, named, at && at < CHORDAL__NEWEST ? at : CHORDAL__NEWEST,
                               &runtime->settings.limits, &value, out_commit, error);
    chordal__node_unref(host->memory, named);
    return chordal__leave(host, code < 0 ? code : give(host, value, out, error));
}

/* ---- lists ---- */

typedef int fill_page(chordal__page *page, uint64_t after, chordal_error *error);

static int list(chordal_host *host, fill_page *fill, uint64_t after, uint32_t limit, chordal_value **out,
                uint64_t *out_next, chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    chordal__page page;
    chordal__node *node;
    chordal__page_begin(&page, host->runtime.store, &host->runtime.settings.limits, limit);
    code = after < CHORDAL__NEWEST ? fill(&page, after, error) : 0;
    if (code == 0) code = chordal__page_goes_on(&page, after, error);
    code = chordal__page_end(&page, code, &node, error);
    if (code == 0) code = give(host, node, out, error);
    if (code == 0) *out_next = page.next;
    return chordal__leave(host, code);
}

int chordal_store_documents(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                            chordal_error *error) {
    return list(host, chordal__documents_list, after, limit, out, out_next, error);
}

int chordal_store_tables(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                         chordal_error *error) {
    return list(host, chordal__tables_list, after, limit, out, out_next, error);
}

int chordal_store_owners(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                         chordal_error *error) {
    return list(host, chordal__owners_list, after, limit, out, out_next, error);
}

int chordal_store_outbox(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                         chordal_error *error) {
    return list(host, chordal__outbox_list, after, limit, out, out_next, error);
}

int chordal_store_check(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                        chordal_error *error) {
    return list(host, chordal__store_check, after, limit, out, out_next, error);
}

/* ---- trimming, copying ---- */

int chordal_store_trim(chordal_host *host, uint64_t upto, uint32_t *out_dropped, chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    uint64_t last = upto < CHORDAL__NEWEST ? upto : CHORDAL__NEWEST;
    return chordal__leave(host, chordal__outbox_trim(host->runtime.store, last, out_dropped, error));
}

int chordal_store_backup(chordal_host *host, const char *path, size_t path_len, chordal_id *out_ticket,
                         chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    return chordal__leave(host, chordal__copy_start(&host->runtime, path, path_len, out_ticket, error));
}

/* ---- filling a new store ---- */

typedef struct entry {
    chordal__address address;
    chordal__buffer texts[4]; /* type, member, key, params */
    uint32_t version;
    chordal__body *base;
} entry;

static chordal__node *field(const chordal__node *document, const char *name) {
    return chordal__node_get(document, name, strlen(name));
}

static bool is_kind(const chordal__node *node, int kind) {
    return node && chordal__node_kind(node) == kind;
}

static int invalid(chordal_error *error, const char *words) {
    return chordal__fail(error, CHORDAL_E_INVALID, 0, words);
}

static void write_string(chordal__buffer *out, const chordal__node *string) {
    uint64_t at = 0;
    const uint8_t *piece;
    size_t len;
    while (chordal__node_string_piece(string, &at, &piece, &len)) chordal__buffer_put(out, piece, len);
}

static bool is_name(const chordal__node *node, uint64_t most) {
    return is_kind(node, CHORDAL_KIND_STRING) && chordal__node_length(node) > 0 && chordal__node_length(node) <= most;
}

static int read_names(entry *to, const chordal__node *document, chordal_error *error) {
    const chordal__node *type = field(document, "type"), *member = field(document, "member");
    if (!is_name(type, 255)) return invalid(error, "a document's type has 1 to 255 characters");
    if (!is_name(member, CHORDAL__TEXT_LIMIT)) return invalid(error, "a document's member is a name");
    write_string(&to->texts[0], type);
    write_string(&to->texts[1], member);
    return 0;
}

static int read_params(entry *to, const chordal__node *document, chordal_error *error) {
    const chordal__node *params = field(document, "params");
    const uint8_t *key;
    size_t len;
    chordal__walk walk;
    if (!is_kind(params, CHORDAL_KIND_OBJECT) || chordal__node_length(params) > 16)
        return invalid(error, "a document's params are an object of at most 16");
    chordal__walk_begin(&walk, params);
    for (const chordal__node *value; (value = chordal__walk_next(&walk, &key, &len)) != NULL;)
        chordal__pack_write(&to->texts[2], value);
    chordal__pack_write(&to->texts[3], params);
    return 0;
}

static int read_version(entry *to, const chordal__node *document, chordal_error *error) {
    chordal__number number = {0};
    const chordal__node *version = field(document, "version");
    if (is_kind(version, CHORDAL_KIND_INTEGER)) chordal__node_get_number(version, &number);
    if (number.as.integer < 1 || number.as.integer > UINT32_MAX)
        return invalid(error, "a document's version is from 1 to 2^32-1");
    to->version = (uint32_t)number.as.integer;
    return 0;
}

static int read_value(entry *to, chordal__runtime *runtime, const chordal__node *document, chordal_error *error) {
    const chordal__node *value = field(document, "value");
    if (!value) return invalid(error, "a document has a value");
    chordal__buffer_clear(&runtime->scratch);
    chordal__pack_write(&runtime->scratch, value);
    to->base = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    return to->base ? 0 : chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a document");
}

static int name_entry(entry *to, const chordal__node *item, bool address, chordal_error *error) {
    chordal__buffer *texts = to->texts;
    int code = read_names(to, item, error);
    if (code == 0 && address) code = read_params(to, item, error);
    for (size_t i = 0; i < 4 && code == 0; i++)
        if (texts[i].failed) code = chordal__fail(error, texts[i].failed, 0, "no memory for a name");
    to->address = (chordal__address){.type = texts[0].data,
                                     .type_len = texts[0].len,
                                     .member = texts[1].data,
                                     .member_len = texts[1].len,
                                     .key = texts[2].len ? (const void *)texts[2].data : "",
                                     .key_len = texts[2].len,
                                     .params = texts[3].data,
                                     .params_len = texts[3].len};
    return code;
}

static int put_document(entry *to, chordal__runtime *runtime, const chordal__node *document, chordal_error *error) {
    int code = read_version(to, document, error);
    if (code == 0) code = read_value(to, runtime, document, error);
    if (code == 0) code = chordal__fill_put(runtime->store, &to->address, to->version, to->base, error);
    chordal__body_unref(to->base);
    return code;
}

static int put_item(chordal__runtime *runtime, chordal__node *item, chordal_error *error) {
    entry to = {0};
    if (chordal__node_kind(item) != CHORDAL_KIND_OBJECT) return invalid(error, "what is put is told by an object");
    const chordal__node *row = field(item, "row");
    bool table = field(item, "columns") != NULL;
    for (size_t i = 0; i < 4; i++) chordal__buffer_init(&to.texts[i], runtime->memory, 1 << 20);
    int code = name_entry(&to, item, !table, error);
    if (code == 0)
        code = table ? chordal__fill_table(runtime->store, &to.address, item, error)
               : row ? chordal__fill_row(runtime->store, &to.address, row,
                                         is_kind(field(item, "stale"), CHORDAL_KIND_TRUE), error)
                     : put_document(&to, runtime, item, error);
    for (size_t i = 0; i < 4; i++) chordal__buffer_dispose(&to.texts[i]);
    return code;
}

int chordal_store_put(chordal_host *host, uint32_t format, const uint8_t *item, size_t item_len, chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    chordal__node *node = NULL;
    /* The host has one of its own. */
    if (host->runtime.types.count > 1) code = chordal__fail(error, CHORDAL_E_STATE, 0, "types are provided already");
    if (code == 0) code = chordal__node_of(&host->runtime, format, item, item_len, &node, error);
    if (code == 0) code = put_item(&host->runtime, node, error);
    chordal__node_unref(host->memory, node);
    return chordal__leave(host, code);
}

int chordal_store_seal(chordal_host *host, chordal_error *error) {
    int code = enter(host, error);
    if (code < 0) return code;
    code = chordal__fill_seal(host->runtime.store, error);
    if (code == 0) host->runtime.commit_number = host->runtime.store->last;
    return chordal__leave(host, code);
}
