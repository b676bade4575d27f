/* version.c: what this library is made of. The build tells the versions that it links (cmake/dependencies.cmake); the
 * browser's has neither. */
#include "chordal/version.h"
#include "host/options.h"

#ifdef CHORDAL_SQLITE_VERSION
#include "store/store.h"
#else
#define CHORDAL_SQLITE_VERSION ""
#define chordal__sqlite_fits() true
#endif

#ifdef CHORDAL_ZLIB_VERSION
#include "wire/wire.h"
#else
#define CHORDAL_ZLIB_VERSION ""
#define chordal__zlib_fits() true
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

bool chordal__libraries_fit(void) {
    return chordal__zlib_fits() && chordal__sqlite_fits();
}
