/* schedule.c: virtual time: what happens next, the trace of what happened, and the first failure. */
#include <stdarg.h>

#include "sim/sim.h"

static bool before(const sim_event *a, const sim_event *b) {
    return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

static void swap(sim_event *a, sim_event *b) {
    sim_event kept = *a;
    *a = *b;
    *b = kept;
}

void sim_later(sim_world *w, uint64_t span, uint32_t kind, uint64_t a, uint64_t b) {
    sim_schedule *s = &w->schedule;
    if (s->len == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 256;
        s->events = realloc(s->events, s->capacity * sizeof *s->events);
    }
    size_t at = s->len++;
    s->events[at] = (sim_event){w->now + span, s->serial++, kind, a, b};
    for (; at && before(&s->events[at], &s->events[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&s->events[at], &s->events[(at - 1) / 2]);
}

bool sim_happens(sim_world *w, sim_event *out) {
    sim_schedule *s = &w->schedule;
    if (!s->len) return false;
    *out = s->events[0];
    s->events[0] = s->events[--s->len];
    for (size_t at = 0, child; (child = at * 2 + 1) < s->len; at = child) {
        if (child + 1 < s->len && before(&s->events[child + 1], &s->events[child])) child++;
        if (!before(&s->events[child], &s->events[at])) break;
        swap(&s->events[child], &s->events[at]);
    }
    return true;
}

void sim_fail(sim_world *w, const char *format, ...) {
    va_list arguments;
    if (w->failure[0]) return;
    int used = snprintf(w->failure, sizeof w->failure, "at %" PRIu64 " ms: ", w->now);
    va_start(arguments, format);
    vsnprintf(w->failure + used, sizeof w->failure - (size_t)used, format, arguments);
    va_end(arguments);
    if (w->tracing) printf("FAILED %s\n", w->failure);
}

/* ---- the trace: FNV-1a ---- */

void sim_note_bytes(sim_world *w, const uint8_t *data, size_t len) {
    for (size_t i = 0; i < len; i++) w->trace = (w->trace ^ data[i]) * UINT64_C(1099511628211);
}

void sim_note(sim_world *w, const char *what, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t words[] = {w->now, a, b, c};
    sim_note_bytes(w, (const uint8_t *)what, strlen(what));
    sim_note_bytes(w, (const uint8_t *)words, sizeof words);
    if (w->tracing) printf("%8" PRIu64 " %-12s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", w->now, what, a, b, c);
}
