/* sqlite.c: the library under the store. */
#include "store/store.h"

#include <sqlite3.h>

bool chordal__sqlite_fits(void) {
    return sqlite3_libversion_number() >= SQLITE_VERSION_NUMBER && sqlite3_threadsafe() != 0;
}
