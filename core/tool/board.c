/* board.c: the demo's type: a board of notes with a text that everybody writes to. */
#include "tool/tool.h"

#define BOARD 0 /* the document's number */
#define NOTES_LIMIT 1000
#define NOTE_LIMIT 10000 /* bytes */
#define TEXT_LIMIT 20000 /* units that are kept of the text */

static uint64_t number_of(const chordal_cursor *note) {
    chordal_cursor id;
    size_t len = 0;
    char *text = chordal_cursor_get(note, "id", 2, &id) == 0 ? tool_string(&id, &len) : NULL;
    uint64_t number = text && *text == 'n' ? strtoull(text + 1, NULL, 10) : 0;
    free(text);
    return number;
}

/* The highest number among the notes that the store had. */
static uint64_t last_number(const chordal_request *request) {
    chordal_value *board = NULL;
    chordal_cursor root, notes, note;
    uint64_t last = 0;
    if (chordal_object_value(request->host, request->object, BOARD, &board, NULL)) return 0;
    chordal_cursor_root(board, &root);
    if (chordal_cursor_get(&root, "notes", 5, &notes) == 0) {
        for (uint64_t i = 0; chordal_cursor_at(&notes, i, &note) == 0; i++) {
            uint64_t number = number_of(&note);
            if (number > last) last = number;
        }
    }
    chordal_value_unref(board);
    return last;
}

static void board_made(const chordal_request *request) {
    uint64_t *last = malloc(sizeof *last); /* the number of the last note */
    if (last) *last = last_number(request);
    *request->data = last;
}

static void board_retired(const chordal_request *request) {
    free(*request->data);
}

static void board_count(const chordal_request *request) {
    tool_answer_length(request, BOARD, "notes");
}

/* Where the note with an id is; also the number of notes. False: nowhere. */
static bool find_note(chordal_transaction *transaction, chordal_id object, const tool_argument *id, uint64_t *out_index,
                      uint64_t *out_count, chordal_value **out_notes) {
    chordal_cursor notes, note, name;
    bool found = false;
    if (chordal_transaction_value(transaction, object, BOARD, "/notes", out_notes, NULL)) return false;
    chordal_cursor_root(*out_notes, &notes);
    *out_count = chordal_cursor_length(&notes);
    for (uint64_t i = 0; i < *out_count && !found; i++) {
        if (chordal_cursor_at(&notes, i, &note) || chordal_cursor_get(&note, "id", 2, &name)) continue;
        size_t len = 0;
        char *text = tool_string(&name, &len);
        found = text && len == id->text_len && memcmp(text, id->text, len) == 0;
        if (found) *out_index = i;
        free(text);
    }
    return found;
}

/* What a method does to the note that it names. */
typedef int (*note_change)(chordal_transaction *transaction, const chordal_request *request,
                           const tool_argument *arguments, uint64_t index, uint64_t count, const chordal_value *notes,
                           chordal_error *error);

static void change_note(const chordal_request *request, const char *kinds, note_change change) {
    tool_argument arguments[TOOL_ARGUMENTS];
    uint64_t index = 0, count = 0;
    chordal_value *notes = NULL;
    chordal_error error = {0};
    if (!tool_arguments(request, kinds, arguments)) return;
    chordal_transaction *transaction = tool_begin(request);
    if (transaction && find_note(transaction, request->object, &arguments[0], &index, &count, &notes))
        tool_finish(request, transaction, change(transaction, request, arguments, index, count, notes, &error), &error,
                    "null");
    else if (transaction) {
        chordal_transaction_abort(transaction);
        tool_refuse(request, "no_note", "there is no note with this id");
    }
    chordal_value_unref(notes);
    tool_arguments_free(arguments);
}

static int edit(chordal_transaction *transaction, const chordal_request *request, const tool_argument *arguments,
                uint64_t index, uint64_t count, const chordal_value *notes, chordal_error *error) {
    char path[48];
    tool_text json = {0};
    (void)count, (void)notes;
    if (arguments[1].text_len > NOTE_LIMIT) {
        snprintf(error->detail, sizeof error->detail, "a note has at most %d bytes", NOTE_LIMIT);
        return CHORDAL_E_SIZE;
    }
    snprintf(path, sizeof path, "/notes/%llu/text", (unsigned long long)index);
    tool_text_json(&json, arguments[1].text, arguments[1].text_len);
    int code = chordal_transaction_set_json(transaction, request->object, BOARD, path, json.data, error);
    tool_text_free(&json);
    return code;
}

static int take_out(chordal_transaction *transaction, const chordal_request *request, const tool_argument *arguments,
                    uint64_t index, uint64_t count, const chordal_value *notes, chordal_error *error) {
    (void)arguments, (void)count, (void)notes;
    return chordal_transaction_splice(transaction, request->object, BOARD, "/notes", index, 1, NULL, error);
}

static int move(chordal_transaction *transaction, const chordal_request *request, const tool_argument *arguments,
                uint64_t index, uint64_t count, const chordal_value *notes, chordal_error *error) {
    uint32_t order[NOTES_LIMIT];
    uint64_t to = arguments[1].index < count ? arguments[1].index : count - 1;
    (void)notes;
    for (uint64_t i = 0, from = 0; i < count; i++) {
        from += from == index;
        order[i] = (uint32_t)(i == to ? index : from++);
    }
    return chordal_transaction_permute(transaction, request->object, BOARD, "/notes", order, (size_t)count, error);
}

static void board_edit(const chordal_request *request) {
    change_note(request, "ss", edit);
}

static void board_remove(const chordal_request *request) {
    change_note(request, "s", take_out);
}

static void board_move(const chordal_request *request) {
    change_note(request, "si", move);
}

static bool full(chordal_transaction *transaction, chordal_id object) {
    chordal_value *notes = NULL;
    chordal_cursor root;
    if (chordal_transaction_value(transaction, object, BOARD, "/notes", &notes, NULL)) return true;
    chordal_cursor_root(notes, &root);
    bool answer = chordal_cursor_length(&root) >= NOTES_LIMIT;
    chordal_value_unref(notes);
    return answer;
}

static void append_note(const chordal_request *request, chordal_transaction *transaction, const tool_argument *text) {
    uint64_t *last = *request->data;
    char id[32];
    tool_text json = {0};
    chordal_error error = {0};
    snprintf(id, sizeof id, "\"n%llu\"", (unsigned long long)++*last);
    tool_text_add(&json, "{\"id\": ");
    tool_text_add(&json, id);
    tool_text_add(&json, ", \"text\": ");
    tool_text_json(&json, text->text, text->text_len);
    tool_text_add(&json, "}");
    int code = chordal_transaction_set_json(transaction, request->object, BOARD, "/notes/-", json.data, &error);
    tool_finish(request, transaction, code, &error, id);
    tool_text_free(&json);
}

static void board_add(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    if (!tool_arguments(request, "s", arguments)) return;
    chordal_transaction *transaction = tool_begin(request);
    if (transaction && *request->data && arguments[0].text_len <= NOTE_LIMIT && !full(transaction, request->object))
        append_note(request, transaction, &arguments[0]);
    else if (transaction) {
        chordal_transaction_abort(transaction);
        tool_refuse(request, "full", "the board has 1,000 notes, or the note has 10,000 bytes");
    }
    tool_arguments_free(arguments);
}

/* Units of the text beyond what is kept. */
static uint64_t surplus(chordal_transaction *transaction, chordal_id object) {
    chordal_value *text = NULL;
    chordal_cursor root;
    if (chordal_transaction_value(transaction, object, BOARD, "/text", &text, NULL)) return 0;
    chordal_cursor_root(text, &root);
    uint64_t units = chordal_cursor_length(&root);
    chordal_value_unref(text);
    return units > TEXT_LIMIT ? units - TEXT_LIMIT : 0;
}

static void board_say(const chordal_request *request) {
    tool_argument arguments[TOOL_ARGUMENTS];
    chordal_error error = {0};
    if (!tool_arguments(request, "s", arguments)) return;
    chordal_transaction *transaction = tool_begin(request);
    if (transaction) {
        int code = chordal_transaction_append(transaction, request->object, BOARD, "/text", arguments[0].text,
                                              arguments[0].text_len, &error);
        uint64_t drop = surplus(transaction, request->object);
        if (!code && drop)
            code = chordal_transaction_truncate(transaction, request->object, BOARD, "/text", drop, &error);
        tool_finish(request, transaction, code, &error, "null");
    }
    tool_arguments_free(arguments);
}

static void board_clear(const chordal_request *request) {
    chordal_error error = {0};
    chordal_transaction *transaction = tool_begin(request);
    if (!transaction) return;
    int code = chordal_transaction_set_json(transaction, request->object, BOARD, "/text", "\"\"", &error);
    tool_finish(request, transaction, code, &error, "null");
}

static const chordal_member members[] = {
    CHORDAL_DOCUMENT("board", "{\"notes\": [], \"text\": \"\"}"),
    CHORDAL_DERIVE("count", "board", board_count),
    CHORDAL_METHOD("add", board_add),
    CHORDAL_METHOD("edit", board_edit),
    CHORDAL_METHOD("remove", board_remove),
    CHORDAL_METHOD("move", board_move),
    CHORDAL_METHOD("say", board_say),
    CHORDAL_METHOD("clear", board_clear),
};

const chordal_type tool_board = {
    .name = "board",
    .version = 1,
    .flags = CHORDAL_TYPE_KEEP,
    .params = "name",
    .members = members,
    .members_len = sizeof members / sizeof *members,
    .made = board_made,
    .retired = board_retired,
};
