/* parent.c: a worker's link with the host that started it, over the socket that it inherited. */
#include "uv/uv.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The descriptor that the environment names; -1: none. */
static int inherited(void) {
    const char *text = getenv(CHORDAL__UV_PARENT);
    int socket = 0;
    struct stat status;
    if (!text || !*text || strlen(text) > 6) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return -1;
        socket = socket * 10 + (*text - '0');
    }
    return fstat(socket, &status) == 0 && S_ISSOCK(status.st_mode) ? socket : -1;
}

int chordal_uv_parent(chordal_uv *adapter, uint32_t link_flags, chordal_id *out_link, chordal_error *error) {
    int socket = inherited();
    if (socket < 0) {
        chordal__uv_fail(error, UV_ENOENT, "no host started this process");
        if (error) error->code = CHORDAL_E_STATE;
        return CHORDAL_E_STATE;
    }
    unsetenv(CHORDAL__UV_PARENT);
    (void)fcntl(socket, F_SETFD, FD_CLOEXEC); /* processes that it starts in turn have parents of their own */
    uint32_t flags = link_flags | CHORDAL_LINK_OFFER | CHORDAL_LINK_TRUSTED;
    return chordal__uv_ipc_inherited(adapter, socket, flags, out_link, error);
}
