/* origin.c: the numbers under which sessions go on one link. */
#include "link/link.h"

int chordal__origin_enter(chordal__link *link, chordal__origin *origin, uint64_t number) {
    void *origins = link->origins;
    size_t before = link->origins_capacity;
    if (number == 0 || number >= CHORDAL__ORIGINS_LIMIT) return CHORDAL_E_LIMIT;
    int code = chordal__grow(link->runtime->memory, &origins, sizeof *link->origins, &link->origins_capacity,
                             (size_t)number + 1, CHORDAL__ORIGINS_LIMIT);
    if (code < 0) return code;
    link->origins = origins;
    for (size_t i = before; i < link->origins_capacity; i++) link->origins[i] = NULL;
    if (link->origins[number]) return CHORDAL_E_ORDER;
    link->origins[number] = origin;
    origin->link = link;
    origin->number = number;
    origin->limit = 0;
    return 0;
}

/* The peer may still send under a number that this side ended: until it confirms, a mark stands in its place. */
void chordal__origin_leave(chordal__origin *origin, bool ended_sent) {
    if (!origin->number) return;
    origin->link->origins[origin->number] = ended_sent ? &origin->link->ended_mark : NULL;
    origin->number = 0;
}

chordal__origin *chordal__origin_get(chordal__link *link, uint64_t number) {
    return number < link->origins_capacity ? link->origins[number] : NULL;
}

void chordal__origin_confirmed(chordal__link *link, uint64_t number) {
    link->origins[number] = NULL;
}

uint64_t chordal__origin_free_number(const chordal__link *link) {
    uint64_t number = link->flags & CHORDAL_LINK_CONNECT ? 1 : 2;
    while (number < link->origins_capacity && link->origins[number]) number += 2;
    return number;
}

/* ---- limits on its way ---- */

uint64_t chordal__origin_lesser(uint64_t limit, const chordal__link *link) {
    uint64_t own = link->codec.send_limit;
    return limit && limit < own ? limit : own;
}
