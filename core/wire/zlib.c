/* zlib.c: the library under deflated parts. */
#include "wire/wire.h"

#include <zlib.h>

bool chordal__zlib_fits(void) {
    return zlibVersion()[0] == ZLIB_VERSION[0];
}
