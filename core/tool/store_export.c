/* store_export.c: `chordal export`: tables, living documents and rows of a store as lines of JSON, read beside its
 * host. Rows are read as a program reads them: the tables that the store has are provided as types. */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "export STORE\n\n"                                                                                                 \
    "Prints the tables, living documents and rows of STORE, as they are now, as lines of JSON that `chordal import`\n" \
    "takes. Also beside a running host. Not in it: history (each document is its newest value), retired documents,\n"  \
    "the outbox, calls of durable methods, and the runs, so who followed STORE gets all anew from a store that is\n"   \
    "made of it. `chordal backup` copies all of that."
#define TYPES 1024

typedef struct exporting {
    chordal_host *host;
    char *provided[TYPES]; /* types as JSON, whose tables can be read */
    uint32_t members[TYPES], types;
    uint64_t items;
} exporting;

typedef int list_function(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                          chordal_error *error);

/* The next of a list as JSON; false: there is none. */
static bool next_of(chordal_host *host, list_function *list, uint64_t *after, tool_text *out) {
    chordal_error error = {0};
    chordal_value *page = NULL;
    if (list(host, *after, 1, &page, after, &error)) tool_die("the store", &error);
    bool any = tool_text_only(out, page);
    chordal_value_unref(page);
    return any;
}

static void print_field(const char *key, tool_slice value, bool first) {
    printf("%s\"%s\":", first ? "{" : ",", key);
    tool_print_json(value.data, value.len);
}

static bool is_same(tool_slice slice, const char *text) {
    return slice.len == strlen(text) && memcmp(slice.data, text, slice.len) == 0;
}

/* ---- tables ---- */

static void print_tables(exporting *self) {
    tool_text table = {0};
    uint64_t after = 0;
    do {
        if (!next_of(self->host, chordal_store_tables, &after, &table)) break;
        tool_print_json(table.data, table.len);
        putchar('\n');
        self->items++;
    } while (after);
    tool_text_free(&table);
}

/* ---- documents ---- */

static uint64_t print_document(void *context, const char *entry, bool retired, const char *value) {
    static const char *const keys[] = {"type", "version", "params", "member"};
    (void)context;
    if (retired || !value) return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) print_field(keys[i], tool_field(entry, keys[i]), i == 0);
    print_field("value", (tool_slice){value, strlen(value)}, false);
    puts("}");
    return 1;
}

/* ---- rows ---- */

static void add_members(exporting *self, const char *type, tool_text *out) {
    tool_text table = {0};
    uint64_t after = 0;
    do {
        if (!next_of(self->host, chordal_store_tables, &after, &table)) break;
        if (!is_same(tool_field(table.data, "type"), type)) continue;
        tool_slice member = tool_field(table.data, "member");
        tool_text_add(out, self->members[self->types]++ ? ",{\"kind\":\"table\",\"name\":"
                                                        : "{\"kind\":\"table\",\"name\":");
        tool_text_put(out, member.data, member.len);
        tool_text_add(out, ",");
        tool_text_add(out, table.data + 1); /* what else is in it does no harm */
    } while (after);
    tool_text_free(&table);
}

/* The type of these params with all the tables that it has; its place among those that are provided. */
static uint32_t provide(exporting *self, const char *type, const char *params) {
    tool_text text = {0};
    chordal_id id;
    chordal_error error = {0};
    for (uint32_t i = 0; i < self->types; i++)
        if (strcmp(self->provided[i], type) == 0) return i;
    if (self->types == TYPES) tool_die("more types with tables than can be exported", NULL);
    tool_text_add(&text, "{\"version\":4294967295,\"name\":");
    tool_text_add(&text, type);
    tool_text_add(&text, ",\"params\":");
    tool_text_keys(&text, params);
    tool_text_add(&text, ",\"members\":[");
    add_members(self, type, &text);
    tool_text_add(&text, "]}");
    if (chordal_type_provide(self->host, (const uint8_t *)text.data, text.len, &id, &error)) tool_die(type, &error);
    tool_text_free(&text);
    self->provided[self->types] = strdup(type);
    return self->types++;
}

/* The rows of a page; those that are next among the `stale`, too, are of an older version. */
static void print_rows(exporting *self, const char *owner, const char *member, tool_slice rows, tool_slice stale) {
    size_t old = 1;
    for (size_t at = 1; at + 1 < rows.len;) {
        size_t end = tool_value_end(rows.data, at), len = end - at;
        bool is_old = old + len < stale.len && memcmp(stale.data + old, rows.data + at, len) == 0;
        print_field("type", tool_field(owner, "type"), true);
        print_field("params", tool_field(owner, "params"), false);
        print_field("member", (tool_slice){member, strlen(member)}, false);
        print_field("row", (tool_slice){rows.data + at, len}, false);
        puts(is_old ? ",\"stale\":true}" : "}");
        self->items++;
        old += is_old ? len + 1 : 0;
        at = end + 1;
    }
}

/* A page of rows into `out`, which is made as large as it needs to be. */
static void query(exporting *self, chordal_id object, uint32_t member, const tool_text *asked, tool_text *out) {
    size_t len = 0;
    chordal_error error = {0};
    int code = CHORDAL_E_ROOM;
    while (code == CHORDAL_E_ROOM) {
        tool_text_room(out, len + 1);
        code = chordal_object_query(self->host, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)asked->data,
                                    asked->len, (uint8_t *)out->data, out->room - 1, &len, &error);
    }
    if (code) tool_die("a table", &error);
    out->len = len;
    out->data[len] = 0;
}

static void ask(exporting *self, chordal_id object, uint32_t member, bool stale, tool_slice after, tool_text *out) {
    tool_text asked = {0};
    tool_text_add(&asked, stale ? "{\"limit\":1000,\"stale\":true" : "{\"limit\":1000");
    if (!is_same(after, "null")) tool_text_add(&asked, ",\"after\":");
    if (!is_same(after, "null")) tool_text_put(&asked, after.data, after.len);
    tool_text_add(&asked, "}");
    query(self, object, member, &asked, out);
    tool_text_free(&asked);
}

/* Beside each page those behind the same row that are stale, in the same order: what of them is in the page comes
 * first. */
static void print_member(exporting *self, const char *owner, chordal_id object, uint32_t index, const char *member) {
    tool_text page = {0}, stale = {0}, after = {0};
    tool_text_add(&after, "null");
    do {
        tool_slice behind = {after.data, after.len};
        ask(self, object, index, false, behind, &page);
        ask(self, object, index, true, behind, &stale);
        print_rows(self, owner, member, tool_field(page.data, "rows"), tool_field(stale.data, "rows"));
        tool_text_set(&after, tool_field(page.data, "after"));
    } while (strcmp(after.data, "null") != 0);
    tool_text_free(&page);
    tool_text_free(&stale);
    tool_text_free(&after);
}

/* Its tables in the order in which they were provided. */
static void print_all_of(exporting *self, const char *owner, const char *type, chordal_id object) {
    tool_text table = {0}, member = {0};
    uint64_t after = 0;
    uint32_t index = 0;
    do {
        if (!next_of(self->host, chordal_store_tables, &after, &table)) break;
        if (!is_same(tool_field(table.data, "type"), type)) continue;
        tool_text_set(&member, tool_field(table.data, "member"));
        print_member(self, owner, object, index++, member.data);
    } while (after);
    tool_text_free(&table);
    tool_text_free(&member);
}

static void print_owner(exporting *self, const char *owner) {
    tool_text type = {0}, params = {0};
    chordal_id object = 0;
    chordal_error error = {0};
    size_t len;
    tool_text_set(&type, tool_field(owner, "type"));
    tool_text_set(&params, tool_field(owner, "params"));
    (void)provide(self, type.data, params.data);
    char *name = tool_unquoted(self->host, tool_field(owner, "type"), &len);
    if (chordal_object_get(self->host, name, len, CHORDAL_FORMAT_JSON, (const uint8_t *)params.data, params.len,
                           &object, &error))
        tool_die(type.data, &error);
    print_all_of(self, owner, type.data, object);
    chordal_object_drop(self->host, object, NULL);
    free(name);
    tool_text_free(&type);
    tool_text_free(&params);
}

static void print_owners(exporting *self) {
    tool_text owner = {0};
    uint64_t after = 0;
    do {
        if (!next_of(self->host, chordal_store_owners, &after, &owner)) break;
        print_owner(self, owner.data);
    } while (after);
    tool_text_free(&owner);
}

int tool_export(int argc, char **argv) {
    exporting self = {0};
    tool_expect(argc, argv, 1, 1, USAGE);
    self.host = tool_store_open(argv[0], CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_SNAPSHOT);
    puts(TOOL_EXPORT_HEAD);
    print_tables(&self);
    self.items += tool_store_each(self.host, 0, print_document, NULL);
    print_owners(&self);
    printf(TOOL_EXPORT_END "%llu}\n", (unsigned long long)self.items);
    chordal_host_close(self.host);
    for (uint32_t i = 0; i < self.types; i++) free(self.provided[i]);
    tool_print_end();
    return 0;
}
