/* version.c: what this library is made of. */
#include "chordal/version.h"

/* The build tells the versions that it links (cmake/dependencies.cmake). */
#ifndef CHORDAL_SQLITE_VERSION
#define CHORDAL_SQLITE_VERSION ""
#endif
#ifndef CHORDAL_ZLIB_VERSION
#define CHORDAL_ZLIB_VERSION ""
#endif

#define DIGITS_OF(number) #number
#define DIGITS(number) DIGITS_OF(number)

/* clang-format off */
static const char versions[] =
    "{\"chordal\":\"" CHORDAL_VERSION "\""
    ",\"abi\":" DIGITS(CHORDAL_ABI)
    ",\"protocol\":" DIGITS(CHORDAL_PROTOCOL)
    ",\"store\":" DIGITS(CHORDAL_STORE)
    ",\"sqlite\":\"" CHORDAL_SQLITE_VERSION "\""
    ",\"zlib\":\"" CHORDAL_ZLIB_VERSION "\"}";
/* clang-format on */

const char *chordal_versions(void) {
    return versions;
}
