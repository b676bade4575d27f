/* store.c: what the commands on stores share: opening one, its documents one by one, JSON for other programs. */
#include "tool/tool.h"

/* Whatever another program was allowed to write is read. */
chordal_host *tool_store_open(const char *path, uint32_t flags) {
    chordal_error error = {0};
    chordal_host *host = NULL;
    chordal_host_options options = {.size = sizeof options,
                                    .store = path,
                                    .store_flags = flags,
                                    .store_durability = CHORDAL_DURABILITY_FULL,
                                    .depth_limit = 4096,
                                    .message_limit = UINT32_MAX,
                                    .memory_limit = UINT64_C(1) << 40};
    if (chordal_host_open(&options, &host, &error)) tool_die(path, &error);
    return host;
}

/* ---- JSON as the core writes it: no spaces, keys without escapes ---- */

static size_t string_end(const char *json, size_t at) {
    for (at++; json[at] != '"'; at++) at += json[at] == '\\';
    return at;
}

size_t tool_value_end(const char *json, size_t at) {
    size_t depth = 0;
    for (; json[at]; at++) {
        if (json[at] == '"') at = string_end(json, at);
        if (depth == 0 && (json[at] == ',' || json[at] == '}' || json[at] == ']')) return at;
        depth += json[at] == '{' || json[at] == '[';
        depth -= json[at] == '}' || json[at] == ']';
    }
    return at;
}

tool_slice tool_field(const char *object, const char *key) {
    size_t at = 1, key_len = strlen(key);
    while (object[at] == '"') {
        size_t end = string_end(object, at), value = end + 2, behind = tool_value_end(object, value);
        if (end - at - 1 == key_len && memcmp(object + at + 1, key, key_len) == 0)
            return (tool_slice){object + value, behind - value};
        at = behind + (object[behind] == ',');
    }
    return (tool_slice){"null", 4};
}

bool tool_text_only(tool_text *out, const chordal_value *page) {
    out->len = 0;
    tool_text_value(out, page);
    if (out->len <= 2) return false;
    out->len -= 1; /* without the brackets of the page */
    memmove(out->data, out->data + 1, --out->len);
    out->data[out->len] = 0;
    return true;
}

void tool_text_set(tool_text *out, tool_slice slice) {
    out->len = 0;
    tool_text_put(out, slice.data, slice.len);
}

void tool_text_keys(tool_text *out, const char *object) {
    size_t at = 1;
    tool_text_add(out, "[");
    while (object[at] == '"') {
        size_t end = string_end(object, at), behind = tool_value_end(object, end + 2);
        if (at > 1) tool_text_add(out, ",");
        tool_text_put(out, object + at, end + 1 - at);
        at = behind + (object[behind] == ',');
    }
    tool_text_add(out, "]");
}

bool tool_slice_number(tool_slice slice, uint64_t *out) {
    if (slice.len == 4 && memcmp(slice.data, "null", 4) == 0) return false;
    *out = strtoull(slice.data, NULL, 10);
    return true;
}

/* Lone halves of surrogates stand as three bytes in the core's JSON, where other programs want an escape. */
void tool_print_json(const char *json, size_t len) {
    for (size_t at = 0; at < len;) {
        const unsigned char *byte = (const unsigned char *)json + at;
        bool half = byte[0] == 0xed && at + 2 < len && byte[1] >= 0xa0;
        if (half)
            printf("\\u%04x", (byte[0] & 15u) << 12 | (byte[1] & 63u) << 6 | (byte[2] & 63u));
        else
            putchar(byte[0]);
        at += half ? 3 : 1;
    }
}

void tool_print_end(void) {
    if (fflush(stdout) != 0 || ferror(stdout)) tool_die("the output cannot be written", NULL);
}

/* ---- documents ---- */

static bool next_document(chordal_host *host, uint64_t *after, tool_text *out) {
    chordal_error error = {0};
    chordal_value *page = NULL;
    if (chordal_store_documents(host, *after, 1, &page, after, &error)) tool_die("the store", &error);
    bool any = tool_text_only(out, page);
    chordal_value_unref(page);
    return any;
}

char *tool_unquoted(chordal_host *host, tool_slice json, size_t *len) {
    chordal_value *value = NULL;
    chordal_cursor root;
    if (chordal_value_decode(host, CHORDAL_FORMAT_JSON, (const uint8_t *)json.data, json.len, &value, NULL))
        tool_die("out of memory", NULL);
    chordal_cursor_root(value, &root);
    char *name = tool_string(&root, len);
    chordal_value_unref(value);
    if (!name) tool_die("out of memory", NULL);
    return name;
}

static bool read_value(chordal_host *host, const char *entry, uint64_t at, tool_text *out) {
    size_t type_len, member_len;
    uint64_t commit;
    chordal_error error = {0};
    chordal_value *value = NULL;
    tool_slice params = tool_field(entry, "params");
    char *type = tool_unquoted(host, tool_field(entry, "type"), &type_len);
    char *member = tool_unquoted(host, tool_field(entry, "member"), &member_len);
    int code = chordal_store_read(host, type, type_len, CHORDAL_FORMAT_JSON, (const uint8_t *)params.data, params.len,
                                  member, member_len, at, &value, &commit, &error);
    free(type);
    free(member);
    if (code && code != CHORDAL_E_NOT_FOUND) tool_die("the store", &error);
    out->len = 0;
    if (value) tool_text_value(out, value);
    chordal_value_unref(value);
    return code == 0;
}

uint64_t tool_store_each(chordal_host *host, uint64_t at, tool_each_document *each, void *context) {
    tool_text entry = {0}, value = {0};
    uint64_t after = 0, count = 0;
    do {
        uint64_t created = 0, retired = 0;
        if (!next_document(host, &after, &entry)) break;
        tool_slice_number(tool_field(entry.data, "created"), &created);
        bool ended = tool_slice_number(tool_field(entry.data, "retired"), &retired);
        if (at && (created > at || (ended && retired < at))) continue;
        bool kept = read_value(host, entry.data, at ? at : retired, &value);
        count += each(context, entry.data, ended, kept ? value.data : NULL);
    } while (after);
    tool_text_free(&entry);
    tool_text_free(&value);
    return count;
}
