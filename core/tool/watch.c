/* watch.c: `chordal watch`: follow an object; a line of JSON for each frame. */
#include "tool/tool.h"

#define USAGE "watch ADDRESS TYPE [key=text | key:=json]… [--codec binary|text]"

typedef struct watching {
    tool_program program;
    chordal_id reference, watch;
    bool told_lost;
    chordal_value *members; /* [[name, kind], …] */
} watching;

static void say_state(const char *state, const char *detail, size_t len) {
    fprintf(stderr, "%s%s%.*s\n", state, len ? ": " : "", (int)len, detail);
}

static void start_watching(watching *self, const chordal_event_REFERENCE *event) {
    const uint8_t *packed;
    size_t len;
    chordal_error error = {0};
    chordal_value_unref(self->members);
    self->members = NULL;
    if (chordal_part_bytes(self->program.host, &event->record, &event->members, &packed, &len) == 0)
        chordal_value_decode(self->program.host, CHORDAL_FORMAT_PACKED, packed, len, &self->members, NULL);
    if (!self->watch &&
        chordal_watch_open(self->program.host, self->reference, CHORDAL_ALL_MEMBERS, 0, &self->watch, &error))
        tool_die("watch", &error);
}

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    static const char *const names[] = {"", "pending", "live", "down", "failed", "retired", "revoked", "released"};
    watching *self = context;
    (void)host;
    say_state(event->state < sizeof names / sizeof *names ? names[event->state] : "unknown state",
              chordal_span_text(&event->record, event->detail), event->detail.length);
    if (event->state == CHORDAL_REFERENCE_LIVE) start_watching(self, event);
    if (event->state == CHORDAL_REFERENCE_FAILED || event->state == CHORDAL_REFERENCE_REVOKED)
        tool_program_stop(&self->program, 1);
}

/* The name of a member, as JSON. */
static void add_name(const watching *self, uint32_t member, tool_text *line) {
    chordal_cursor table, row, name;
    if (!self->members) return;
    chordal_cursor_root(self->members, &table);
    if (chordal_cursor_at(&table, member, &row) || chordal_cursor_at(&row, 0, &name)) return;
    size_t len = 0;
    char *text = tool_string(&name, &len);
    if (text) tool_text_json(line, text, len);
    free(text);
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    watching *self = context;
    chordal_value *value = NULL;
    tool_text line = {0};
    tool_text_add(&line, "{");
    add_name(self, event->member, &line);
    tool_text_add(&line, ": ");
    if (chordal_reference_value(host, self->reference, event->member, &value, NULL))
        tool_text_add(&line, "null");
    else
        tool_text_value(&line, value);
    if (event->code) {
        tool_text_add(&line, ", \"error\": ");
        tool_text_json(&line, chordal_span_text(&event->record, event->detail), event->detail.length);
    }
    tool_text_add(&line, "}");
    puts(line.data);
    fflush(stdout);
    chordal_value_unref(value);
    tool_text_free(&line);
}

static void on_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    watching *self = context;
    (void)host;
    if (event->state == CHORDAL_LINK_UP) self->told_lost = false;
    if (event->state != CHORDAL_LINK_WAIT || self->told_lost) return;
    say_state("no link", chordal_span_text(&event->record, event->detail), event->detail.length);
    self->told_lost = true;
}

int tool_watch(int argc, char **argv) {
    static const chordal_handlers handlers = {
        .size = sizeof handlers, .reference = on_reference, .frame = on_frame, .link = on_link};
    watching self = {0};
    tool_target target;
    uint32_t codec = tool_codec(tool_option(&argc, argv, "--codec"));
    tool_expect(argc, argv, 2, 64, USAGE);
    tool_target_read(&target, argc, argv, USAGE);
    if (target.used < argc) tool_usage(USAGE);
    tool_program_open(&self.program, NULL, &handlers, &self);
    self.reference =
        tool_target_get(&target, self.program.host, tool_program_connect(&self.program, target.address, codec, 0));
    int status = tool_program_run(&self.program);
    chordal_value_unref(self.members);
    tool_text_free(&target.params);
    return status;
}
