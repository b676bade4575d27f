/* slots.h: the handles of an addon. */
#ifndef CHORDAL_NODE_SLOTS_H
#define CHORDAL_NODE_SLOTS_H

#include "addon.h"

/* The environment is gone: close what is open, and free the addon once no external is left. */
void slots_end(addon *self);

#endif
