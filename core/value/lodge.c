/* lodge.c: blocks for the small nodes of one value. They are given back when all of their lodgers are gone. */
#include "value/node.h"

/* What one lodger may keep alive, but for a container with its own strings, which is never cut. */
#define LODGE_MAX 2048

/* A lodge is as large as all before, so that small values waste little. */
static bool open_lodge(chordal__lodging *lodging, size_t size, size_t left) {
    size_t more = lodging->total < LODGE_MAX ? lodging->total : LODGE_MAX;
    if (more > left) more = left & ~(size_t)7;
    size_t bytes = sizeof(chordal__lodge) + (size > more ? size : more);
    chordal__lodge *lodge = chordal__allocate(lodging->memory, bytes);
    if (!lodge) return false;
    chordal__lodge_end(lodging);
    *lodge = (chordal__lodge){.live = 1, .size = (uint32_t)bytes};
    lodging->open = lodge;
    lodging->used = sizeof *lodge;
    lodging->total += bytes;
    return true;
}

uint8_t *chordal__lodge_take(chordal__lodging *lodging, size_t size, size_t left) {
    size = (size + 7) & ~(size_t)7;
    const chordal__lodge *lodge = lodging->open;
    if ((!lodge || lodge->size - lodging->used < size) && !open_lodge(lodging, size, left)) return NULL;
    uint8_t *place = (uint8_t *)lodging->open + lodging->used;
    lodging->used += size;
    return place;
}

void chordal__lodge_end(chordal__lodging *lodging) {
    if (lodging->open) chordal__lodge_leave(lodging->memory, lodging->open);
    lodging->open = NULL;
}
