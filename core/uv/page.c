/* page.c: the files of a page. */
#include "uv/uv.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *path) {
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof types / sizeof *types; i++)
        if (strcmp(suffix, types[i].suffix) == 0) return types[i].type;
    return "application/octet-stream";
}

/* Only plain names: nothing hidden, nothing that leads elsewhere. */
static bool plain(const char *path) {
    if (*path != '/') return false;
    for (const char *at = path; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == '\\') return false;
        if (*at == '/' && (at[1] == '.' || at[1] == '/')) return false;
    }
    return true;
}

const char *chordal__uv_page_find(const char *root, const char *path, char *out, size_t out_len) {
    char wanted[PATH_MAX], resolved[PATH_MAX];
    struct stat status;
    size_t root_len = strlen(root), path_len = strlen(path);
    if (!plain(path)) return NULL;
    bool folder = path[path_len - 1] == '/';
    int len = snprintf(wanted, sizeof wanted, "%s%s%s", root, path, folder ? "index.html" : "");
    if (len < 0 || (size_t)len >= sizeof wanted || !realpath(wanted, resolved)) return NULL;
    /* A symbolic link may not lead out of the folder. */
    if (strncmp(resolved, root, root_len) != 0 || resolved[root_len] != '/') return NULL;
    if (stat(resolved, &status) != 0 || !S_ISREG(status.st_mode) || strlen(resolved) >= out_len) return NULL;
    memcpy(out, resolved, strlen(resolved) + 1);
    return type_of(resolved);
}
