/* check_holder.c: `chordal check-holder`: the C holder of the interop check (tests/interop/README.md). */
#include "tool/tool.h"

#define USAGE "check-holder ADDRESS NAME [--codec binary|text] [--adds 100] [--tokens 200]"
#define TIMEOUT 30000

static const char *const tokens[] = {"\"lorem \"",  "\"ipsum \"",   "\"n\\u00e9 \"",       "\"\\u6f22\\u5b57 \"",
                                     "\"\\ud83d\"", "\"\\ude00 \"", "\"\\\"quoted\\\\ \"", "\"\\n\""};

typedef struct holder {
    tool_program program;
    chordal_id reference;
    uint64_t adds, tokens;         /* to be made */
    uint64_t added, said;          /* that came back */
    uint64_t calls, frames;        /* that succeeded; that were handed out */
    char failed[64], provider[64]; /* the code of the call that must fail; the provider's digest */
} holder;

static void call(holder *self, const char *method, const char *arguments) {
    chordal_error error = {0};
    chordal_id id = 0;
    if (chordal_call_start(self->program.host, self->reference, method, strlen(method), CHORDAL_FORMAT_JSON,
                           (const uint8_t *)arguments, strlen(arguments), TIMEOUT, &id, &error))
        tool_die(method, &error);
}

static void add_next(holder *self) {
    char arguments[64];
    snprintf(arguments, sizeof arguments, "[\"entry %llu \\u00e9\\u2713\"]", (unsigned long long)self->added);
    call(self, "add", arguments);
}

static void say_all(holder *self) {
    char arguments[64];
    for (uint64_t i = 0; i < self->tokens; i++) {
        snprintf(arguments, sizeof arguments, "[%s]", tokens[i % (sizeof tokens / sizeof *tokens)]);
        call(self, "say", arguments);
    }
}

/* ---- the end: one line ---- */

static uint64_t count_of(holder *self) {
    chordal_value *value = NULL;
    chordal_cursor root;
    uint64_t count = 0;
    if (chordal_reference_value(self->program.host, self->reference, 1, &value, NULL)) return 0;
    chordal_cursor_root(value, &root);
    if (chordal_cursor_unsigned(&root, &count)) count = 0;
    chordal_value_unref(value);
    return count;
}

static void report(holder *self) {
    chordal_value *log = NULL;
    chordal_counters counters;
    chordal_error error = {0};
    if (chordal_reference_value(self->program.host, self->reference, 0, &log, &error)) tool_die("log", &error);
    chordal_host_counters(self->program.host, &counters, sizeof counters);
    printf("{\"calls\": %llu, \"frames\": %llu, \"bytes\": %llu, \"count\": %llu, \"failed\": \"%s\", "
           "\"digest\": \"%016llx\", \"provider\": \"%s\"}\n",
           (unsigned long long)self->calls, (unsigned long long)self->frames,
           (unsigned long long)(counters.bytes_in + counters.bytes_out), (unsigned long long)count_of(self),
           self->failed, (unsigned long long)chordal_value_digest(log), self->provider);
    chordal_value_unref(log);
    tool_program_stop(&self->program, 0);
}

/* ---- one after the other: adds singly, tokens all at once, the failure, the digest ---- */

static void keep_text(char *out, size_t out_len, const char *text, size_t len) {
    snprintf(out, out_len, "%.*s", (int)len, text);
}

static void keep_digest(holder *self, const chordal_event_RESULT *event) {
    const uint8_t *packed;
    size_t len;
    chordal_value *value = NULL;
    chordal_cursor root;
    if (chordal_part_bytes(self->program.host, &event->record, &event->value, &packed, &len) ||
        chordal_value_decode(self->program.host, CHORDAL_FORMAT_PACKED, packed, len, &value, NULL))
        return;
    chordal_cursor_root(value, &root);
    char *text = tool_string(&root, &len);
    if (text) keep_text(self->provider, sizeof self->provider, text, len);
    free(text);
    chordal_value_unref(value);
}

static void on_failure(holder *self, const chordal_event_RESULT *event) {
    const char *name = chordal_span_text(&event->record, event->name);
    bool expected = self->added == self->adds && self->said == self->tokens && !self->failed[0];
    if (!expected || event->code != CHORDAL_E_METHOD) {
        fprintf(stderr, "%.*s: %.*s\n", (int)event->name.length, name, (int)event->detail.length,
                chordal_span_text(&event->record, event->detail));
        tool_program_stop(&self->program, 1);
        return;
    }
    keep_text(self->failed, sizeof self->failed, name, event->name.length);
    call(self, "digest", "[]");
}

static void on_result(void *context, chordal_host *host, const chordal_event_RESULT *event) {
    holder *self = context;
    (void)host;
    if (event->code) {
        on_failure(self, event);
        return;
    }
    self->calls++;
    if (self->failed[0]) {
        keep_digest(self, event);
        report(self);
    } else if (self->added < self->adds) {
        if (++self->added < self->adds)
            add_next(self);
        else
            say_all(self);
    } else if (++self->said == self->tokens) {
        call(self, "fail", "[\"full\", \"no room\"]");
    }
}

static void on_frame(void *context, chordal_host *host, const chordal_event_FRAME *event) {
    (void)host, (void)event;
    ((holder *)context)->frames++;
}

static void on_reference(void *context, chordal_host *host, const chordal_event_REFERENCE *event) {
    holder *self = context;
    chordal_id watch = 0;
    chordal_error error = {0};
    if (event->state == CHORDAL_REFERENCE_FAILED) {
        fprintf(stderr, "failed: %.*s\n", (int)event->detail.length, chordal_span_text(&event->record, event->detail));
        tool_program_stop(&self->program, 1);
    }
    if (event->state != CHORDAL_REFERENCE_LIVE) return;
    if (chordal_watch_open(host, self->reference, CHORDAL_ALL_MEMBERS, 0, &watch, &error)) tool_die("watch", &error);
    add_next(self);
}

int tool_check_holder(int argc, char **argv) {
    static const chordal_handlers handlers = {
        .size = sizeof handlers, .reference = on_reference, .frame = on_frame, .result = on_result};
    holder self = {0};
    uint32_t codec = tool_codec(tool_option(&argc, argv, "--codec"));
    self.adds = tool_number(&argc, argv, "--adds", 100);
    self.tokens = tool_number(&argc, argv, "--tokens", 200);
    tool_expect(argc, argv, 2, 2, USAGE);
    if (!self.adds || !self.tokens) tool_usage(USAGE);
    tool_target target = {.address = argv[0], .type = "square"};
    tool_text_add(&target.params, "{\"name\": ");
    tool_text_json(&target.params, argv[1], strlen(argv[1]));
    tool_text_add(&target.params, "}");
    tool_program_open(&self.program, NULL, &handlers, &self);
    self.reference =
        tool_target_get(&target, self.program.host, tool_program_connect(&self.program, target.address, codec, 0));
    int status = tool_program_run(&self.program);
    tool_text_free(&target.params);
    return status;
}
