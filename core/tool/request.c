/* request.c: how the tool's own types read arguments and change documents. */
#include "tool/tool.h"

void tool_answer(const chordal_request *request, const char *json) {
    chordal_call_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL);
}

void tool_refuse(const chordal_request *request, const char *name, const char *message) {
    chordal_call_fail(request->host, request->id, name, strlen(name), message, strlen(message), NULL);
}

static bool read_argument(const chordal_cursor *cursor, char kind, tool_argument *out) {
    if (kind == 'i') return chordal_cursor_unsigned(cursor, &out->index) == 0;
    out->text = tool_string(cursor, &out->text_len);
    return out->text != NULL;
}

bool tool_arguments(const chordal_request *request, const char *kinds, tool_argument *out) {
    chordal_cursor all, one;
    size_t count = strlen(kinds), read = 0;
    memset(out, 0, TOOL_ARGUMENTS * sizeof *out);
    if (request->value) {
        chordal_cursor_root(request->value, &all);
        if (chordal_cursor_length(&all) == count)
            while (read < count && chordal_cursor_at(&all, read, &one) == 0 &&
                   read_argument(&one, kinds[read], &out[read]))
                read++;
        if (chordal_cursor_length(&all) == count && read == count) return true;
    }
    tool_arguments_free(out);
    tool_refuse(request, "arguments", "these are not the method's arguments");
    return false;
}

void tool_arguments_free(tool_argument *arguments) {
    for (size_t i = 0; i < TOOL_ARGUMENTS; i++) {
        free(arguments[i].text);
        arguments[i].text = NULL;
    }
}

chordal_transaction *tool_begin(const chordal_request *request) {
    chordal_transaction *transaction = NULL;
    chordal_error error = {0};
    if (chordal_transaction_begin(request->host, request->id, &transaction, &error) == 0) return transaction;
    tool_refuse(request, chordal_error_name(error.code), error.detail);
    return NULL;
}

void tool_finish(const chordal_request *request, chordal_transaction *transaction, int code, const chordal_error *error,
                 const char *result) {
    chordal_error why = *error;
    chordal_id ticket = 0;
    if (code)
        chordal_transaction_abort(transaction);
    else
        code = chordal_transaction_commit(transaction, &ticket, &why);
    if (code)
        tool_refuse(request, chordal_error_name(code), why.detail);
    else
        tool_answer(request, result);
    chordal_release(request->host, ticket);
}

void tool_answer_length(const chordal_request *request, uint32_t member, const char *key) {
    chordal_value *value = NULL;
    chordal_cursor root, list;
    char json[24] = "0";
    if (chordal_object_value(request->host, request->object, member, &value, NULL) == 0) {
        chordal_cursor_root(value, &root);
        if (chordal_cursor_get(&root, key, strlen(key), &list) == 0)
            snprintf(json, sizeof json, "%llu", (unsigned long long)chordal_cursor_length(&list));
    }
    chordal_compute_answer(request->host, request->id, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL);
    chordal_value_unref(value);
}
