/* window.c: what a session has under way: states and outcomes sent and not acknowledged. */
#include "link/link.h"

void chordal__window_init(chordal__window *window, chordal__runtime *runtime) {
    *window = (chordal__window){.runtime = runtime};
    window->acked = 0;
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

bool chordal__window_has_room(chordal__window *window) {
    const chordal__settings *settings = &window->runtime->settings;
    uint32_t messages = window->states_len + window->kept_len;
    bool room = messages == 0 || (messages < settings->window_messages && window->under_way < settings->window_bytes);
    if (!room && !window->full) window->runtime->counters.windows_full++;
    window->full = !room;
    return room;
}

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
    window->states[(window->states_first + window->states_len++) % window->states_capacity] =
        (chordal__sent){cut, bytes};
    window->states_sent++;
    window->under_way += bytes;
}

void chordal__window_count_outcome(chordal__window *window, chordal__invocation *invocation, size_t bytes) {
    invocation->sent_bytes = (uint32_t)bytes;
    window->under_way += invocation->sent_bytes;
    window->kept_len++;
    chordal__list_remove(&invocation->ready);
    chordal__list_append(&window->kept, &invocation->ready);
}

int chordal__window_ack_states(chordal__window *window, uint64_t count) {
    if (count > window->states_len) return CHORDAL_E_ORDER;
    for (uint64_t i = 0; i < count; i++) {
        const chordal__sent *sent = chordal__window_state(window, 0);
        window->under_way -= sent->bytes;
        window->acked = sent->cut;
        window->states_first = (window->states_first + 1) % (uint32_t)window->states_capacity;
        window->states_len--;
    }
    window->states_acked += count;
    return 0;
}

chordal__invocation *chordal__window_ack_outcome(chordal__window *window) {
    if (chordal__list_empty(&window->kept)) return NULL;
    chordal__invocation *invocation = CHORDAL__ENTRY(window->kept.next, chordal__invocation, ready);
    chordal__list_remove(&invocation->ready);
    window->under_way -= invocation->sent_bytes;
    window->kept_len--;
    window->outcomes_acked++;
    return invocation;
}

void chordal__window_back(chordal__window *window, chordal__list *ready) {
    window->states_sent = window->states_acked;
    window->states_first = window->states_len = 0;
    window->under_way = 0;
    window->kept_len = 0;
    window->full = false;
    while (!chordal__list_empty(&window->kept)) {
        chordal__list *last = window->kept.previous;
        chordal__list_remove(last);
        chordal__list_prepend(ready, last);
    }
}
