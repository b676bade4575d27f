/* Addresses, origins and the files of a page. */
#include "check.h"

#include "uv/uv.h"

#include <sys/stat.h>
#include <unistd.h>

static void accepts(const char *text, const char *host, int port, const char *path) {
    chordal__uv_address out;
    chordal_error error = {0};
    CHECK_INT(chordal__uv_address_read(text, &out, &error), 0);
    CHECK_TEXT(out.host, host);
    CHECK_INT(out.port, port);
    CHECK_TEXT(out.path, path);
}

static void refuses(const char *text) {
    chordal__uv_address out;
    chordal_error error = {0};
    CHECK_INT(chordal__uv_address_read(text, &out, &error), CHORDAL_E_INVALID);
    CHECK_INT(error.code, CHORDAL_E_INVALID);
}

TEST(addresses) {
    accepts("ws://127.0.0.1:7777", "127.0.0.1", 7777, "/");
    accepts("ws://example.org", "example.org", 80, "/");
    accepts("ws://example.org/a/b?c=d", "example.org", 80, "/a/b?c=d");
    accepts("ws://[::1]:80/x", "::1", 80, "/x");
    accepts("ws://host:0", "host", 0, "/");
    accepts("ipc:/run/a", "", 0, "/run/a");
}

TEST(wrong_addresses) {
    static const char *const texts[] = {
        "",           "http://a",     "ws://",         "ws://:80",    "ws://a:",  "ws://a:x",
        "ws://a:1x",  "ws://a:65536", "ws://a:999999", "ws://user@a", "ws://a b", "ws://[::1",
        "ws://a/b c", "ws://a/#b",    "ws://a:80?x=y", "ipc:",        "wss://a",  "ws://a/\r\nx: y",
    };
    char name[400];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) refuses(texts[i]);
    snprintf(name, sizeof name, "ipc:/%0108d", 0);
    refuses(name);
    snprintf(name, sizeof name, "ws://%0300d/", 0);
    refuses(name);
}

TEST(written) {
    char out[32];
    chordal_error error = {0};
    CHECK_INT(chordal__uv_address_write("::1", 80, out, sizeof out, &error), 0);
    CHECK_TEXT(out, "ws://[::1]:80");
    CHECK_INT(chordal__uv_address_write("127.0.0.1", 65535, out, sizeof out, &error), 0);
    CHECK_TEXT(out, "ws://127.0.0.1:65535");
    CHECK_INT(chordal__uv_address_write("127.0.0.1", 65535, out, 20, &error), CHORDAL_E_INVALID);
}

TEST(origins) {
    static const struct {
        const char *origin, *host, *allowed;
        bool loopback, expected;
    } cases[] = {
        {"http://127.0.0.1:7777", "127.0.0.1:7777", NULL, true, true},
        {"http://localhost:7777", "localhost:7777", NULL, true, true},
        {"http://LOCALHOST:7777", "localhost:7777", NULL, true, true},
        {"http://[::1]:7777", "[::1]:7777", NULL, true, true},
        {"http://localhost:7778", "localhost:7777", NULL, true, false},
        {"http://localhost", "localhost:7777", NULL, true, false},
        {"https://localhost:7777", "localhost:7777", NULL, true, false},
        {"http://localhost:7777.evil.org", "localhost:7777", NULL, true, false},
        {"http://evil.org:7777", "evil.org:7777", NULL, true,
         false}, /* a name that was pointed at the loopback address */
        {"http://localhost.evil.org:7777", "localhost.evil.org:7777", NULL, true, false},
        {"http://127.0.0.1.evil.org", "127.0.0.1.evil.org", NULL, true, false},
        {"http://board.org", "board.org", NULL, false, true},
        {"http://evil.org", "board.org", NULL, false, false},
        {"null", "board.org", NULL, false, false},
        {"", "", NULL, false, false},
        {"http://", "", NULL, false, false},
        {"https://a.org", "b.org", "https://a.org", false, true},
        {"https://a.org", "b.org", "https://c.org https://a.org", true, true},
        {"https://a.org.evil", "b.org", "https://c.org https://a.org", true, false},
        {"https://a", "b.org", "https://c.org https://a.org", true, false},
        {"http://evil.org", "b.org", "*", true, true},
        {"http://evil.org", "b.org", "https://*", true, false},
        {"http://b.org", "b.org", "https://a.org", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (chordal__uv_origin_allowed(cases[i].origin, cases[i].host, cases[i].loopback, cases[i].allowed) !=
            cases[i].expected)
            CHECK_FAIL("%s at %s", cases[i].origin, cases[i].host);
}

static void put(const char *folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (file) fclose(file);
}

TEST(pages) {
    char folder[] = P_tmpdir "/chordal-pages-XXXXXX", root[300], path[600], out[4096];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(root, sizeof root, "%s/page", folder);
    mkdir(root, 0700);
    snprintf(path, sizeof path, "%s/sub", root);
    mkdir(path, 0700);
    put(folder, "secret.txt");
    put(root, "index.html");
    put(root, "a.wasm");
    put(root, ".hidden");
    put(path, "b.js");
    snprintf(path, sizeof path, "%s/away.txt", root);
    CHECK_INT(symlink("../secret.txt", path), 0);
    snprintf(path, sizeof path, "%s/inside.css", root);
    CHECK_INT(symlink("sub/b.js", path), 0);
    static const struct {
        const char *path, *type;
    } cases[] = {
        {"/", "text/html; charset=utf-8"},
        {"/index.html", "text/html; charset=utf-8"},
        {"/a.wasm", "application/wasm"},
        {"/sub/b.js", "text/javascript; charset=utf-8"},
        {"/inside.css", "text/javascript; charset=utf-8"},
        {"/sub", NULL},
        {"/sub/", NULL},
        {"/nothing.html", NULL},
        {"/.hidden", NULL},
        {"/../secret.txt", NULL},
        {"/sub/../../secret.txt", NULL},
        {"/sub/..", NULL},
        {"//index.html", NULL},
        {"/./index.html", NULL},
        {"/away.txt", NULL},
        {"/sub\\b.js", NULL},
        {"/index.html\n", NULL},
        {"index.html", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *type = chordal__uv_page_find(root, cases[i].path, out, sizeof out);
        if (!cases[i].type != !type || (type && strcmp(type, cases[i].type) != 0))
            CHECK_FAIL("%s is %s", cases[i].path, type ? type : "not served");
    }
    CHECK(chordal__uv_page_find(root, "/a.wasm", out, 8) == NULL);
    snprintf(path, sizeof path, "rm -r %s", folder);
    CHECK_INT(system(path), 0);
}

TESTS({"addresses", addresses}, {"wrong_addresses", wrong_addresses}, {"written", written}, {"origins", origins},
      {"pages", pages})
