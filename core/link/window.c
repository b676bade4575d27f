/* window.c: what a session has under way: states and outcomes sent and not acknowledged.
 *
 * Its size adapts. When it was full and what it held was taken as fast as ever, the way is long and not its reader
 * slow: it is doubled, once a round trip. When things are taken much slower than they once were, they lie somewhere:
 * it is halved, down to its start. An ack for less than the share may have waited: so much is taken off. */
#include "link/link.h"

#define SLACK 8 /* ms that the turns of both ends may add to a round trip */

/* Of what it takes at its start. Outcomes that wait for their ack are kept, within a limit of their own. */
static uint32_t share_of(const chordal__settings *s) {
    uint32_t bytes = s->window_bytes < s->outcome_limit ? s->window_bytes : s->outcome_limit;
    uint32_t share = bytes / CHORDAL__ACK_UNIT < s->window_messages ? bytes / CHORDAL__ACK_UNIT : s->window_messages;
    share /= CHORDAL__ACK_QUOTIENT;
    return share < CHORDAL__ACK_SHARE ? share : CHORDAL__ACK_SHARE;
}

void chordal__window_init(chordal__window *window, chordal__runtime *runtime) {
    *window = (chordal__window){.runtime = runtime, .least = UINT32_MAX, .share = share_of(&runtime->settings)};
    chordal__list_init(&window->kept);
}

void chordal__window_dispose(chordal__window *window) {
    chordal__release(window->runtime->memory, window->states, window->states_capacity * sizeof *window->states);
    window->states = NULL;
    window->states_capacity = window->states_len = 0;
}

const chordal__sent *chordal__window_state(const chordal__window *window, uint32_t index) {
    return &window->states[(window->states_first + index) % window->states_capacity];
}

/* ---- its size ---- */

static uint64_t size_of(const chordal__window *window, uint32_t start, uint32_t limit) {
    if (CHORDAL__SMALL) return start;
    uint64_t size = (uint64_t)start << window->doubled;
    return size < limit ? size : limit > start ? limit : start;
}

bool chordal__window_has_room(chordal__window *window) {
    const chordal__settings *s = &window->runtime->settings;
    uint32_t messages = window->states_len + window->kept_len;
    bool room = messages == 0 || (messages < size_of(window, s->window_messages, s->window_messages_limit) &&
                                  window->under_way < size_of(window, s->window_bytes, s->window_bytes_limit));
    if (!room && !window->full) window->runtime->counters.windows_full++;
    window->full = !room;
    window->met |= !room;
    return room;
}

static bool can_double(const chordal__window *window) {
    const chordal__settings *s = &window->runtime->settings;
    return size_of(window, s->window_messages, s->window_messages_limit) < s->window_messages_limit ||
           size_of(window, s->window_bytes, s->window_bytes_limit) < s->window_bytes_limit;
}

static void resize(chordal__window *window, int change) {
    window->doubled = (uint8_t)(window->doubled + change);
    window->round = (uint32_t)window->runtime->now;
    window->met = false;
}

/* What is the newest tells how long the way is. */
static void measure(chordal__window *window, uint32_t sent_at) {
    uint32_t span = (uint32_t)window->runtime->now - sent_at;
    if (!CHORDAL__SMALL && span < window->span) window->span = span;
}

static uint32_t without_wait(uint32_t span, uint32_t least) {
    return span - least > CHORDAL__ACK_DELAY ? span - CHORDAL__ACK_DELAY : least;
}

void chordal__window_acks(chordal__window *window) {
    window->span = UINT32_MAX;
}

/* One that was sent before the last change says nothing of it; only one that took far too long is believed at once. */
void chordal__window_adapt(chordal__window *window, uint64_t count) {
    if (CHORDAL__SMALL) return; /* what a browser's readers have not taken is folded all the more */
    uint32_t now = (uint32_t)window->runtime->now, span = window->span, sent_at = now - span;
    if (span < window->least) window->least = span;
    if (count < window->share) span = without_wait(span, window->least);
    uint64_t near = (uint64_t)window->least + window->least / 4 + SLACK;
    bool since = sent_at - window->round <= UINT32_MAX / 2;
    if (span > near * 2 && window->doubled && now - window->round > near)
        resize(window, -1);
    else if (span <= near && window->met && since && can_double(window))
        resize(window, 1);
}

/* ---- what is under way ---- */

/* A larger ring, with what is in it in order. */
static int grow(chordal__window *window) {
    chordal__memory *memory = window->runtime->memory;
    size_t capacity = window->states_capacity ? window->states_capacity * 2 : 8;
    chordal__sent *states = chordal__allocate(memory, capacity * sizeof *states);
    if (!states) return CHORDAL_E_NOMEM;
    for (uint32_t i = 0; i < window->states_len; i++) states[i] = *chordal__window_state(window, i);
    chordal__release(memory, window->states, window->states_capacity * sizeof *states);
    window->states = states;
    window->states_capacity = capacity;
    window->states_first = 0;
    return 0;
}

int chordal__window_reserve(chordal__window *window) {
    return window->states_len == window->states_capacity ? grow(window) : 0;
}

void chordal__window_count_state(chordal__window *window, uint64_t cut, uint64_t bytes) {
    chordal__sent sent = {cut, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX, (uint32_t)window->runtime->now};
    window->states[(window->states_first + window->states_len++) % window->states_capacity] = sent;
    window->states_sent++;
    window->under_way += sent.bytes;
}

void chordal__window_count_outcome(chordal__window *window, chordal__invocation *invocation, size_t bytes) {
    invocation->sent_bytes = (uint32_t)bytes;
    invocation->sent_at = (uint32_t)window->runtime->now;
    window->under_way += invocation->sent_bytes;
    window->kept_len++;
    chordal__list_remove(&invocation->ready);
    chordal__list_append(&window->kept, &invocation->ready);
}

int chordal__window_ack_states(chordal__window *window, uint64_t count) {
    uint32_t sent_at = 0;
    if (count > window->states_len) return CHORDAL_E_ORDER;
    for (uint64_t i = 0; i < count; i++) {
        const chordal__sent *sent = chordal__window_state(window, 0);
        window->under_way -= sent->bytes;
        window->acked = sent->cut;
        sent_at = sent->at;
        window->states_first = (window->states_first + 1) % (uint32_t)window->states_capacity;
        window->states_len--;
    }
    window->states_acked += count;
    if (count) measure(window, sent_at);
    return 0;
}

chordal__invocation *chordal__window_ack_outcome(chordal__window *window) {
    if (chordal__list_empty(&window->kept)) return NULL;
    chordal__invocation *invocation = CHORDAL__ENTRY(window->kept.next, chordal__invocation, ready);
    chordal__list_remove(&invocation->ready);
    window->under_way -= invocation->sent_bytes;
    window->kept_len--;
    window->outcomes_acked++;
    measure(window, invocation->sent_at);
    return invocation;
}

void chordal__window_back(chordal__window *window, chordal__list *ready) {
    window->states_sent = window->states_acked;
    window->states_first = window->states_len = 0;
    window->under_way = 0;
    window->kept_len = 0;
    window->full = window->met = false;
    window->doubled = 0;
    window->least = UINT32_MAX; /* the way is another */
    while (!chordal__list_empty(&window->kept)) {
        chordal__list *last = window->kept.previous;
        chordal__list_remove(last);
        chordal__list_prepend(ready, last);
    }
}
