/* core.h: one opened host. */
#ifndef CORE_H
#define CORE_H

#include "native.h"

typedef struct core_object {
    PyObject_HEAD chordal_host *host; /* NULL: closed */
    unsigned long thread;
    PyObject *owned; /* ids that are to be given back, each once */
    uint8_t *buffer; /* what is polled, and what is taken */
    size_t room;
    chordal_error error;
} core_object;
extern PyTypeObject *core_type;

/* The host, for its own thread; NULL: BUSY or CLOSED is raised. To be asked for again after values of the program were
 * read: its code may have closed the host. */
chordal_host *core_enter(core_object *core);
bool core_check(core_object *core, int code);

#endif
