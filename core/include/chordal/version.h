/* version.h: what this library is. */
#ifndef CHORDAL_VERSION_H
#define CHORDAL_VERSION_H

#include "base.h"

#define CHORDAL_VERSION "0.1.0"
#define CHORDAL_PROTOCOL 1 /* the newest protocol version spoken */
#define CHORDAL_STORE 5    /* the newest store schema */

/* All versions as one JSON object: chordal, abi, protocol, store, sqlite, zlib ("" where not linked). Static; any
 * thread. */
CHORDAL_API const char *chordal_versions(void);

#endif
