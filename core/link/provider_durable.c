/* provider_durable.c: durable calls that come again while they still run, by a session that took the place of
 * another. */
#include "link/link.h"

/* The session that it came in has no outcome of it to send. */
static void leave_session(chordal__invocation *invocation) {
    if (!invocation->caller) return;
    chordal__provider *provider = CHORDAL__ENTRY(invocation->caller, chordal__provider, caller);
    provider->slots[invocation->slot] = NULL;
}

static bool is_same(const chordal__invocation *running, const chordal__provider *provider, const chordal__hold *hold,
                    const chordal__message *message) {
    bool own = running->durable->authority == chordal__durable_authority(&provider->caller);
    return own && running->object == hold->object && running->member == message->numbers[2];
}

int chordal__provider_take_over(chordal__provider *provider, const chordal__hold *hold, const chordal__message *message,
                                const uint8_t *key) {
    chordal__invocation *running = chordal__durable_running(provider->runtime, key);
    if (!running) return 0;
    if (running->caller == &provider->caller) return CHORDAL_E_ORDER;
    if (!is_same(running, provider, hold, message)) return 0;
    leave_session(running);
    if (!running->told) {
        chordal__invocation_free(running); /* it begins anew, behind those that this session called before */
        return 0;
    }
    running->caller = &provider->caller;
    running->slot = (uint32_t)message->numbers[1];
    provider->slots[running->slot] = running;
    return 1;
}
