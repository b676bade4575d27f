/* provide.c: `chordal provide`: a C program that offers the interop check's type through the server it connects to. */
#include "tool/tool.h"

#define USAGE "provide ADDRESS [--codec binary|text]"

static void on_link(void *context, chordal_host *host, const chordal_event_LINK *event) {
    (void)context, (void)host;
    if (event->state != CHORDAL_LINK_UP) return;
    puts("ready");
    fflush(stdout);
}

int tool_provide(int argc, char **argv) {
    static const chordal_handlers handlers = {.size = sizeof handlers, .link = on_link};
    tool_program program;
    uint32_t codec = tool_codec(tool_option(&argc, argv, "--codec"));
    tool_expect(argc, argv, 1, 1, USAGE);
    tool_program_open(&program, NULL, &handlers, NULL);
    tool_program_provide(&program, &tool_square);
    tool_program_connect(&program, argv[0], codec, CHORDAL_LINK_OFFER);
    return tool_program_run(&program);
}
