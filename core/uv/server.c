/* server.c: what listens, and with which options. */
#include "uv/uv.h"

#include <limits.h>

void chordal__uv_server_unref(chordal__uv_server *server) {
    if (--server->references) return;
    free(server->page_folder);
    free(server->origins);
    free(server);
}

/* Copy the options; false: no memory, or the folder is not there (`*out_status`). */
static int take_options(chordal__uv_server *server, const chordal_uv_server_options *options, chordal_error *error) {
    if (!options) return 0;
    server->link_flags = options->link_flags;
    if (options->page_folder) {
        server->page_folder = realpath(options->page_folder, NULL);
        if (!server->page_folder) return chordal__uv_fail(error, UV_ENOENT, "page folder");
    }
    if (options->origins && !(server->origins = strdup(options->origins)))
        return chordal__uv_fail(error, UV_ENOMEM, "origins");
    return 0;
}

static int listen_at(chordal__uv_server *server, const chordal__uv_address *address, const char *text, char *out,
                     size_t out_len, chordal_error *error) {
    if (!address->is_ipc) return chordal__uv_web_listen(server, address, out, out_len, error);
    size_t len = strlen(text) + 1;
    if (out && len > out_len) return chordal__uv_fail(error, UV_ENAMETOOLONG, "address");
    int code = chordal__uv_ipc_listen(server, address, error);
    if (!code && out) memcpy(out, text, len);
    return code;
}

int chordal_uv_listen(chordal_uv *adapter, const char *address, const chordal_uv_server_options *options,
                      char *out_address, size_t out_address_len, chordal_error *error) {
    chordal__uv_address parsed;
    int code = chordal__uv_address_read(address, &parsed, error);
    if (code) return code;
    chordal__uv_server *server = calloc(1, sizeof *server);
    if (!server) return chordal__uv_fail(error, UV_ENOMEM, "server");
    server->adapter = adapter;
    server->references = 1;
    chordal__list_init(&server->node);
    code = take_options(server, options, error);
    if (chordal__uv_address_far(&parsed)) server->link_flags |= CHORDAL_LINK_DEFLATE;
    if (!code) code = listen_at(server, &parsed, address, out_address, out_address_len, error);
    if (code)
        chordal__uv_server_unref(server);
    else
        chordal__list_append(&adapter->servers, &server->node);
    return code;
}
