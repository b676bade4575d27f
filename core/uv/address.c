/* address.c: "ws://host:port/path" and "ipc:/path". */
#include "uv/uv.h"

#include <stdio.h>

int chordal__uv_fail(chordal_error *error, int status, const char *what) {
    int code = CHORDAL_E_UNSUPPORTED;
    if (status == UV_ENOMEM) code = CHORDAL_E_NOMEM;
    if (status == UV_EADDRINUSE) code = CHORDAL_E_EXISTS;
    if (status == UV_ENAMETOOLONG || status == UV_EINVAL || status == UV_EADDRNOTAVAIL || status == UV_ENOENT ||
        status == UV_EACCES)
        code = CHORDAL_E_INVALID;
    if (status == UV_EMFILE || status == UV_ENFILE) code = CHORDAL_E_LIMIT;
    if (error) {
        memset(error, 0, sizeof *error);
        error->code = code;
        snprintf(error->detail, sizeof error->detail, "%s: %s", what, uv_strerror(status));
    }
    return code;
}

static int invalid(chordal_error *error, size_t position, const char *detail) {
    if (error) {
        memset(error, 0, sizeof *error);
        error->code = CHORDAL_E_INVALID;
        error->position = position;
        snprintf(error->detail, sizeof error->detail, "%s", detail);
    }
    return CHORDAL_E_INVALID;
}

/* Copy a run of text; false when it is empty or too long. */
static bool copy(char *out, size_t out_len, const char *from, size_t len) {
    if (len == 0 || len >= out_len) return false;
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

/* Decimal digits up to the end or a slash. */
static bool read_port(const char *text, size_t len, uint16_t *out) {
    uint32_t port = 0;
    if (len == 0 || len > 5) return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        port = port * 10 + (uint32_t)(text[i] - '0');
    }
    *out = (uint16_t)port;
    return port <= UINT16_MAX;
}

static int read_ws(const char *text, chordal__uv_address *out, chordal_error *error) {
    const char *host = text + strlen("ws://");
    bool bracketed = *host == '[';
    if (bracketed) host++;
    size_t host_len = strcspn(host, bracketed ? "]" : ":/");
    if (bracketed && host[host_len] != ']') host_len = 0;
    const char *after = host + host_len + bracketed;
    if (!copy(out->host, sizeof out->host, host, host_len) || strpbrk(out->host, "@?# \r\n"))
        return invalid(error, (size_t)(host - text), "no usable host in the address");
    out->port = 80;
    if (*after == ':') {
        size_t port_len = strcspn(++after, "/");
        if (!read_port(after, port_len, &out->port))
            return invalid(error, (size_t)(after - text), "no usable port in the address");
        after += port_len;
    }
    if (!copy(out->path, sizeof out->path, *after ? after : "/", *after ? strlen(after) : 1) || out->path[0] != '/' ||
        strpbrk(out->path, "# \r\n"))
        return invalid(error, (size_t)(after - text), "no usable path in the address");
    return 0;
}

int chordal__uv_address_read(const char *text, chordal__uv_address *out, chordal_error *error) {
    memset(out, 0, sizeof *out);
    if (strncmp(text, "ws://", 5) == 0) return read_ws(text, out, error);
    if (strncmp(text, "ipc:", 4) == 0) {
        out->is_ipc = true;
        if (copy(out->path, CHORDAL__UV_IPC_PATH, text + 4, strlen(text + 4))) return 0;
        return invalid(error, 4, "no usable path in the address");
    }
    return invalid(error, 0, "addresses are ws://host:port/path or ipc:/path");
}

bool chordal__uv_address_far(const chordal__uv_address *address) {
    return !address->is_ipc && !chordal__uv_loopback_name(address->host, strlen(address->host));
}

int chordal__uv_address_write(const char *host, uint16_t port, char *out, size_t out_len, chordal_error *error) {
    bool bracketed = strchr(host, ':') != NULL;
    int len = snprintf(out, out_len, bracketed ? "ws://[%s]:%u" : "ws://%s:%u", host, (unsigned)port);
    return len < 0 || (size_t)len >= out_len ? invalid(error, 0, "the buffer for the address is too small") : 0;
}
