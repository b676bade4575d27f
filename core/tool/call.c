/* call.c: `chordal call`: call one method and print what comes of it. */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "call ADDRESS TYPE [key=text | key:=json]… METHOD [ARGUMENT as JSON]… [--timeout ms] [--codec binary|text]"
#define TIMEOUT 10000

typedef struct calling {
    tool_program program;
    bool told_lost;
} calling;

static void print_value(tool_program *program, const chordal_event_RESULT *event) {
    const uint8_t *packed;
    size_t len;
    chordal_value *value = NULL;
    tool_text json = {0};
    if (chordal_part_bytes(program->host, &event->record, &event->value, &packed, &len)) return;
    if (chordal_value_decode(program->host, CHORDAL_FORMAT_PACKED, packed, len, &value, NULL) == 0) {
        tool_text_value(&json, value);
        puts(json.data);
    } else {
        fwrite(packed, 1, len, stdout); /* bytes, as MessagePack has them */
    }
    chordal_value_unref(value);
    tool_text_free(&json);
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    tool_program *program = &((calling *)context)->program;
    (void)host;
    if (event->code)
        fprintf(stderr, "%.*s: %.*s\n", (int)event->name.length, chordal_span_text(&event->record, event->name),
                (int)event->detail.length, chordal_span_text(&event->record, event->detail));
    else
        print_value(program, event);
    tool_program_stop(program, event->code != 0);
}

/* The link is tried again until the call's deadline; that nobody listens is told meanwhile. */
static void on_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    calling *self = context;
    (void)host;
    if (event->state == CHORDAL_LINK_UP) self->told_lost = false;
    if ((event->state != CHORDAL_LINK_WAIT && event->state != CHORDAL_LINK_CLOSED) || self->told_lost) return;
    fprintf(stderr, "chordal: no link: %.*s\n", (int)event->detail.length,
            chordal_span_text(&event->record, event->detail));
    self->told_lost = true;
}

static void add_arguments(tool_text *out, int count, char **arguments) {
    tool_text_add(out, "[");
    for (int i = 0; i < count; i++) {
        tool_text_add(out, i ? ", " : "");
        tool_text_add(out, arguments[i]);
    }
    tool_text_add(out, "]");
}

int tool_call(int argc, char **argv) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .link = on_link, .result = on_result};
    calling self = {0};
    tool_program *program = &self.program;
    tool_target target;
    tool_text arguments = {0};
    chordal_error error = {0};
    chordal_id call = 0;
    uint32_t codec = tool_codec(tool_option(&argc, argv, "--codec"));
    chordal_time timeout = tool_number(&argc, argv, "--timeout", TIMEOUT);
    tool_expect(argc, argv, 3, 256, USAGE);
    tool_target_read(&target, argc, argv, USAGE);
    if (target.used >= argc) tool_usage(USAGE);
    const char *method = argv[target.used];
    add_arguments(&arguments, argc - target.used - 1, argv + target.used + 1);
    tool_program_open(program, NULL, &handlers, &self);
    chordal_id reference =
        tool_target_get(&target, program->host, tool_program_connect(program, target.address, codec, 0));
    if (chordal_call_start(program->host, reference, method, strlen(method), CHORDAL_FORMAT_JSON,
                           (const uint8_t *)arguments.data, arguments.len, timeout, &call, &error)) {
        if (error.code == CHORDAL_E_SYNTAX)
            fputs("chordal: each argument is JSON: '\"text\"', 5, '{\"a\": 1}'\n", stderr);
        tool_die(method, &error);
    }
    int status = tool_program_run(program);
    tool_text_free(&arguments);
    tool_text_free(&target.params);
    return status;
}
