/* memory.h: where a host's memory comes from. */
#ifndef CHORDAL_MEMORY_H
#define CHORDAL_MEMORY_H

#include "base.h"

/* Memory functions, given at open and copied. Sizes are passed back so that an arena or an account
 * needs no header of its own. `resize` may be asked to shrink. All three are called on the host's
 * thread, or on the thread that gives back the last value of a closed host. */
typedef struct chordal_memory_functions {
    uint32_t size;  /* sizeof(chordal_memory_functions) */
    uint32_t flags; /* 0 */
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
    void (*release)(void *context, void *block, size_t size);
} chordal_memory_functions;

#endif
