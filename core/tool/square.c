/* square.c: the type that every runtime provides to every other in the interop check (tests/interop/README.md). */
#include "tool/tool.h"

#define LOG 0 /* the document's number */

static void square_count(const chordal_request *request) {
    tool_answer_length(request, LOG, "entries");
}

static uint64_t entries_of(chordal_transaction *transaction, chordal_id object) {
    chordal_value *entries = NULL;
    chordal_cursor root;
    if (chordal_transaction_value(transaction, object, LOG, "/entries", &entries, NULL)) return 0;
    chordal_cursor_root(entries, &root);
    uint64_t count = chordal_cursor_length(&root);
    chordal_value_unref(entries);
    return count;
}

static void square_add(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    chordal_error error = {0};
    if (!tool_arguments(request, "s", arguments)) return;
    chordal_transaction *transaction = tool_begin(request);
    if (transaction) {
        char id[24];
        tool_text json = {0};
        snprintf(id, sizeof id, "%llu", (unsigned long long)entries_of(transaction, request->object) + 1);
        tool_text_add(&json, "{\"id\": ");
        tool_text_add(&json, id);
        tool_text_add(&json, ", \"text\": ");
        tool_text_json(&json, arguments[0].text, arguments[0].text_len);
        tool_text_add(&json, "}");
        int code = chordal_transaction_set_json(transaction, request->object, LOG, "/entries/-", json.data, &error);
        tool_finish(request, transaction, code, &error, id);
        tool_text_free(&json);
    }
    tool_arguments_free(arguments);
}

static void square_say(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    chordal_error error = {0};
    if (!tool_arguments(request, "s", arguments)) return;
    chordal_transaction *transaction = tool_begin(request);
    if (transaction) {
        int code = chordal_transaction_append(transaction, request->object, LOG, "/text", arguments[0].text,
                                              arguments[0].text_len, &error);
        tool_finish(request, transaction, code, &error, "null");
    }
    tool_arguments_free(arguments);
}

static void square_fail(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    if (!tool_arguments(request, "ss", arguments)) return;
    chordal_call_fail(request->host, request->id, arguments[0].text, arguments[0].text_len, arguments[1].text,
                      arguments[1].text_len, NULL);
    tool_arguments_free(arguments);
}

static void square_digest(const chordal_request *request) {
    chordal_value *value = NULL;
    char json[24];
    if (chordal_object_value(request->host, request->object, LOG, &value, NULL)) {
        tool_refuse(request, "not_found", "no value");
        return;
    }
    snprintf(json, sizeof json, "\"%016llx\"", (unsigned long long)chordal_value_digest(value));
    chordal_value_unref(value);
    tool_answer(request, json);
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("log", "{\"entries\": [], \"text\": \"\"}"),
    CHORDAL_DERIVE("count", "log", square_count),
    CHORDAL_METHOD("add", square_add),
    CHORDAL_METHOD("say", square_say),
    CHORDAL_METHOD("fail", square_fail),
    CHORDAL_METHOD("digest", square_digest),
};

const chordal_type tool_square = {
    .name = "square",
    .version = 1,
    .params = "name",
    .members = members,
    .members_len = sizeof members / sizeof *members,
};
