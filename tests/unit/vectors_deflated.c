/* vectors_deflated.c: the vectors of deflated parts. */
#include "vectors.h"
#include "wire/wire.h"

static uint64_t limit_of(const chordal__node *from) {
    const chordal__node *limit = field(from, "limit");
    return limit ? number_of(limit) : UINT64_C(64) << 20;
}

static void run(const chordal__node *from, bool accepted) {
    bytes data = hex_of(need(from, "deflated"));
    chordal__buffer out;
    chordal_error error = {0};
    chordal__buffer_init(&out, memory, PTRDIFF_MAX);
    int code = chordal__inflate(data.data, data.len, limit_of(from), &out, &error);
    if (accepted) {
        bytes whole = hex_of(need(from, "bytes"));
        check_fields(from, " name deflated bytes limit ");
        CHECK_INT(code, 0);
        CHECK_BYTES(out.data, out.len, whole.data, whole.len);
        free(whole.data);
    } else {
        check_fields(from, " name deflated limit code position ");
        check_code(from, code, &error, "inflating");
    }
    chordal__buffer_dispose(&out);
    free(data.data);
}

TEST(deflated) {
    run_family("deflated", run);
}

TESTS({"deflated", deflated})
