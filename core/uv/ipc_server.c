/* ipc_server.c: listening at a file of the file system. */
#include "uv/uv.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

static void on_closed(uv_handle_t *handle) {
    chordal__uv_server *server = handle->data;
    chordal_uv *adapter = server->adapter;
    chordal__uv_server_unref(server);
    free(handle);
    chordal__uv_drop(adapter);
}

static void on_connection(uv_stream_t *stream, int status) {
    if (status == 0 && !uv_is_closing((uv_handle_t *)stream)) chordal__uv_ipc_accept(stream, stream->data);
}

/* A socket file that nobody listens at any more is in the way: remove it. */
static void remove_stale(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    if (lstat(path, &status) || !S_ISSOCK(status.st_mode)) return;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return;
    if (connect(probe, (const struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED) unlink(path);
    close(probe);
}

static void ipc_close(chordal__uv_server *server) {
    uv_close(server->own, on_closed);
}

static const chordal__uv_server_functions ipc_functions = {ipc_close};

/* Only the user's own processes may connect: the mode is set before anyone can. */
static int start(uv_pipe_t *handle, const char *path) {
    int status = uv_pipe_bind(handle, path);
    if (!status && chmod(path, S_IRUSR | S_IWUSR)) status = uv_translate_sys_error(errno);
    return status ? status : uv_listen((uv_stream_t *)handle, BACKLOG, on_connection);
}

int chordal__uv_ipc_listen(chordal__uv_server *server, const chordal__uv_address *address, chordal_error *error) {
    chordal_uv *adapter = server->adapter;
    uv_pipe_t *handle = calloc(1, sizeof *handle);
    if (!handle) return chordal__uv_fail(error, UV_ENOMEM, "server");
    int status = uv_pipe_init(adapter->loop, handle, 0);
    if (status) {
        free(handle);
        return chordal__uv_fail(error, status, address->path);
    }
    handle->data = server;
    server->own = handle;
    server->functions = &ipc_functions;
    server->references++; /* the handle's */
    chordal__uv_hold(adapter);
    remove_stale(address->path);
    status = start(handle, address->path);
    if (!status) return 0;
    ipc_close(server);
    return chordal__uv_fail(error, status, address->path);
}
