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
#define TEXT(name, text) "\"" name "\":\"" text "\""
#define NUMBER(name, number) "\"" name "\":" DIGITS(number)

static const char versions[] = "{" TEXT("chordal", CHORDAL_VERSION) "," NUMBER("abi", CHORDAL_ABI) "," NUMBER(
    "protocol",
    CHORDAL_PROTOCOL) "," NUMBER("store",
                                 CHORDAL_STORE) "," TEXT("sqlite",
                                                         CHORDAL_SQLITE_VERSION) "," TEXT("zlib",
                                                                                          CHORDAL_ZLIB_VERSION) "}";

const char *chordal_versions(void) {
    return versions;
}
