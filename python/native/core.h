/* core.h: one opened host. */
#ifndef CORE_H
#define CORE_H

#include "native.h"

/* Memory that the core writes to. */
typedef struct room {
    uint8_t *data;
    size_t len;
} room;

typedef struct core_object {
    PyObject_HEAD chordal_host *host; /* NULL: closed */
    unsigned long thread;
    PyObject *owned; /* ids that are to be given back, each once */
    room taken;      /* what was read or taken last */
    room polled;     /* records; those from `polled_at` on are not read yet */
    size_t polled_at, polled_len;
    chordal_error error;
} core_object;
extern PyTypeObject *core_type;

/* The host, for its own thread; NULL: BUSY or CLOSED is raised. To be asked for again after values of the program were
 * read: its code may have closed the host. */
chordal_host *core_enter(core_object *core);
bool core_check(core_object *core, int code);

#endif
