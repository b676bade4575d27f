/* serve.c: `chordal serve`: a server with the demo's board, which also routes what its peers offer. */
#include "tool/tool.h"

#define USAGE                                                                                                          \
    "serve --listen ws://127.0.0.1:7777 [--listen ipc:/path] [--page folder] [--origin http://example.org]… "        \
    "[--name UUID] [--store file.db [--durability normal|full|off]]"
#define LISTEN_LIMIT 16

static void take_origins(int *argc, char **argv, tool_text *out) {
    const char *origin;
    while ((origin = tool_option(argc, argv, "--origin"))) {
        tool_text_add(out, out->len ? " " : "");
        tool_text_add(out, origin);
    }
}

static void listen_at(tool_program *program, const char *address, const chordal_uv_server_options *options) {
    char reached[2048];
    chordal_error error = {0};
    if (chordal_uv_listen(program->adapter, address, options, reached, sizeof reached, &error))
        tool_die(address, &error);
    printf("listening %s\n", reached);
    fflush(stdout);
}

int tool_serve(int argc, char **argv) {
    const char *addresses[LISTEN_LIMIT], *address;
    size_t count = 0;
    tool_text origins = {0};
    tool_program program;
    while (count < LISTEN_LIMIT && (address = tool_option(&argc, argv, "--listen"))) addresses[count++] = address;
    take_origins(&argc, argv, &origins);
    chordal_uv_server_options options = {
        .size = sizeof options,
        .link_flags = CHORDAL_LINK_ROUTE_OFFERS,
        .page_folder = tool_option(&argc, argv, "--page"),
        .origins = origins.data,
    };
    chordal_host_options host = {.size = sizeof host};
    tool_name(tool_option(&argc, argv, "--name"), &host);
    host.store = tool_option(&argc, argv, "--store");
    const char *durability = tool_option(&argc, argv, "--durability");
    host.store_durability = tool_durability(durability);
    tool_expect(argc, argv, 0, 0, USAGE);
    if (durability && !host.store) tool_die("--durability is that of a --store", NULL);
    if (count == 0) tool_usage(USAGE);
    tool_program_open(&program, &host, NULL, NULL);
    tool_program_provide(&program, &tool_board);
    for (size_t i = 0; i < count; i++) listen_at(&program, addresses[i], &options);
    int status = tool_program_run(&program);
    tool_text_free(&origins);
    return status;
}
