/* store.h: the only room that knows SQLite. */
#ifndef CHORDAL_CORE_STORE_H
#define CHORDAL_CORE_STORE_H

#include "base/base.h"

/* ---- sqlite.c ---- */

/* Whether the SQLite that is linked is not older than the one compiled against and may be used by several threads, one
 * per connection. */
bool chordal__sqlite_fits(void);

#endif
