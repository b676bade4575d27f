/* What chordal_versions() tells, and that the linked libraries fit. */
#include "check.h"

#include "chordal/version.h"
#include "store/store.h"
#include "wire/wire.h"

TEST(libraries_fit) {
    CHECK(chordal__zlib_fits());
    CHECK(chordal__sqlite_fits());
}

TEST(versions_are_json) {
    const char *text = chordal_versions();
    CHECK(strncmp(text, "{\"chordal\":\"" CHORDAL_VERSION "\",\"abi\":1,", 25) == 0);
    CHECK(strstr(text, "\"sqlite\":\"3.") != NULL);
    CHECK(strstr(text, "\"zlib\":\"1.") != NULL);
    CHECK(text[strlen(text) - 1] == '}');
}

TESTS({"libraries fit", libraries_fit}, {"versions are json", versions_are_json})
