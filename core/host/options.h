/* options.h: what a host is opened with. */
#ifndef CHORDAL_CORE_OPTIONS_H
#define CHORDAL_CORE_OPTIONS_H

#include "host/host.h"

/* Copy the caller's options (NULL: none) and turn them into settings. INVALID. */
int chordal__options_read(const chordal_host_options *given, chordal_host_options *out, chordal__settings *settings,
                          chordal_error *error);

/* ---- version.c ---- */

/* Whether SQLite and zlib are not older than what this was built with. */
bool chordal__libraries_fit(void);

#endif
