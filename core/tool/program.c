/* program.c: a host on a loop, from open to exit. */
#include "tool/tool.h"

#include <signal.h>

_Noreturn void tool_die(const char *what, const chordal_error *error) {
    if (error)
        fprintf(stderr, "chordal: %s: %s (%s)\n", what, error->detail, chordal_error_name(error->code));
    else
        fprintf(stderr, "chordal: %s\n", what);
    exit(1);
}

_Noreturn void tool_help(const char *usage) {
    printf("usage: chordal %s\n", usage);
    exit(0);
}

_Noreturn void tool_usage(const char *usage) {
    fprintf(stderr, "usage: chordal %s\n", usage);
    exit(2);
}

static void on_signal(uv_signal_t *handle, int number) {
    (void)number;
    tool_program_stop(handle->data, 0);
}

static void watch_signals(tool_program *program) {
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        uv_signal_init(&program->loop, &program->signals[i]);
        program->signals[i].data = program;
        uv_signal_start(&program->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *)&program->signals[i]);
    }
}

void tool_program_open(tool_program *program, const chordal_host_options *options, const chordal_handlers *handlers,
                       void *context) {
    chordal_error error = {0};
    memset(program, 0, sizeof *program);
    if (uv_loop_init(&program->loop)) tool_die("no event loop", NULL);
    if (chordal_host_open(options, &program->host, &error)) tool_die("host", &error);
    if (chordal_dispatcher_open(program->host, handlers, context, &program->dispatcher, &error))
        tool_die("dispatcher", &error);
    if (chordal_uv_open(&program->loop, program->host, chordal_dispatcher_event, program->dispatcher, &program->adapter,
                        &error))
        tool_die("loop", &error);
    watch_signals(program);
}

void tool_program_provide(tool_program *program, const chordal_type *type) {
    chordal_error error = {0};
    if (chordal_dispatcher_provide(program->dispatcher, type, &error)) tool_die(type->name, &error);
}

chordal_id tool_program_connect(tool_program *program, const char *address, uint32_t codec, uint32_t flags) {
    chordal_error error = {0};
    chordal_id link = 0;
    if (chordal_uv_connect(program->adapter, address, codec, flags, &link, &error)) tool_die(address, &error);
    return link;
}

void tool_program_stop(tool_program *program, int status) {
    program->status = status;
    uv_stop(&program->loop);
}

int tool_program_run(tool_program *program) {
    uv_run(&program->loop, UV_RUN_DEFAULT);
    chordal_uv_close(program->adapter);
    for (size_t i = 0; i < 2; i++) uv_close((uv_handle_t *)&program->signals[i], NULL);
    uv_run(&program->loop, UV_RUN_DEFAULT);
    chordal_dispatcher_close(program->dispatcher);
    chordal_host_close(program->host);
    uv_loop_close(&program->loop);
    return program->status;
}
