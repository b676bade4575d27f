/* entropy.c: the default source of random bytes. */
#include "base/base.h"

#if defined(__wasm__)

__attribute__((import_module("chordal"), import_name("entropy"))) int chordal_entropy(uint8_t *out, size_t len);

int chordal__entropy(void *context, uint8_t *out, size_t len) {
    (void)context;
    return chordal_entropy(out, len) == 0 ? 0 : CHORDAL_E_UNSUPPORTED;
}

#else

#include <sys/random.h>
#include <unistd.h>

#define LARGEST_PIECE ((size_t)256) /* of getentropy */

int chordal__entropy(void *context, uint8_t *out, size_t len) {
    (void)context;
    while (len) {
        size_t piece = len < LARGEST_PIECE ? len : LARGEST_PIECE;
        if (getentropy(out, piece) != 0) return CHORDAL_E_UNSUPPORTED;
        out += piece;
        len -= piece;
    }
    return 0;
}

#endif
