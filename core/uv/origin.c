/* origin.c: which browser pages may connect. */
#include "uv/uv.h"

#include <strings.h>

static bool same(const char *a, size_t a_len, const char *b, size_t b_len) {
    return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

bool chordal__uv_loopback_name(const char *name, size_t len) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same(name, len, names[i], strlen(names[i]))) return true;
    return len > 4 && strncmp(name, "127.", 4) == 0 && strspn(name, "0123456789.") >= len;
}

/* The name in a Host header: without the port. */
static size_t name_len(const char *host) {
    if (*host == '[') return strcspn(host, "]") + 1;
    return strcspn(host, ":");
}

static bool is_own(const char *origin, const char *host, bool loopback) {
    static const char scheme[] = "http://";
    if (strncasecmp(origin, scheme, sizeof scheme - 1) != 0 || *host == '\0') return false;
    if (strcasecmp(origin + sizeof scheme - 1, host) != 0) return false;
    return !loopback || chordal__uv_loopback_name(host, name_len(host));
}

bool chordal__uv_origin_allowed(const char *origin, const char *host, bool loopback, const char *allowed) {
    while (allowed && *allowed) {
        size_t len = strcspn(allowed, " ");
        if (same(allowed, len, "*", 1) || same(allowed, len, origin, strlen(origin))) return true;
        allowed += len + (allowed[len] == ' ');
    }
    return is_own(origin, host, loopback);
}
