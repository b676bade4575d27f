"""The checks themselves: each finds what it is made to find."""

import built_objects
import check_calls
import check_rooms
import check_words
from tidy import bare_c, c_functions, check, main

SOURCE = """\
/* malloc(1) in a comment */
static const char *text = "free(1) /* no comment */";

static int first(int a,
                 int b) {
    return a + b;
}

struct plain {
    int x;
};

int second(void) {
    if (1) {
        return 2;
    }
}
"""


@check
def functions_are_measured():
    """The function scanner finds each definition, its line and its length."""
    found = list(c_functions(SOURCE))
    if found != [("first", 4, 4), ("second", 13, 5)]:
        yield f"found {found}"


@check
def comments_are_no_code():
    """Comments and strings are blanked, lines stay."""
    bare = bare_c(SOURCE)
    if check_calls.CALL.search(bare) or bare.count("\n") != SOURCE.count("\n"):
        yield bare


FOUND = [
    (
        check_calls.CALL,
        ["x = malloc(3);", "time(NULL)", "return snprintf(a)"],
        ["my_malloc(3)", "a.time(3)", "a->free(b)"],
    ),
    (
        check_calls.STATIC,
        ["static int count = 0;", "  static char buffer[3];"],
        ["static int f(void) {", "static const int x = 1;"],
    ),
    (check_calls.EFFECT, ["x++", "a = b"], ["a == b", "a <= b", "a != b", "a >= b"]),
    (check_rooms.INCLUDE, ['#include "wire/wire.h"', "#  include <zlib.h>"], ["include it"]),
    (built_objects.API, ["CHORDAL_API int\nchordal_x_y(int a);"], ["int chordal_x_y(int a);"]),
    (check_words.PATHS, ["cd /" + "work/main", '"/' + 'tmp"', "ls /" + "home/me"], ["docs/work/x", "a/tmpfile"]),
    (check_words.LATER, ["TO" + "DO: x"], ["todo list"]),
]


@check
def patterns():
    """Each pattern matches what is wrong and leaves alone what is right."""
    for pattern, wrong, right in FOUND:
        for line in wrong:
            if not pattern.search(line):
                yield f"{pattern.pattern}: does not find {line!r}"
        for line in right:
            if pattern.search(line):
                yield f"{pattern.pattern}: finds {line!r}"


if __name__ == "__main__":
    main()
