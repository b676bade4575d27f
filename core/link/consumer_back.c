/* consumer_back.c: a session that outlives its transport: what is kept while it is away, and how both ends find
 * together again by counting (docs/protocol.md, Sessions). */
#include "link/link.h"

bool chordal__consumer_may_return(const chordal__consumer *consumer) {
    return consumer->known && !consumer->torn;
}

/* What came of a cut that is not complete never was. */
static void roll_back(chordal__consumer *consumer) {
    if (!consumer->in_cut) return;
    for (size_t i = 0; i < consumer->staged_len; i++) {
        chordal__remote *remote = consumer->staged[i].remote;
        if (!chordal__dictionary_back(&remote->dictionary, consumer->cut_before)) remote->reset = true;
    }
    chordal__consumer_drop_staged(consumer);
    consumer->cut = consumer->cut_before;
    consumer->in_cut = consumer->durable = false;
}

void chordal__consumer_leave(chordal__consumer *consumer) {
    roll_back(consumer);
    consumer->opened = false;
    consumer->away = true;
    chordal__consumer_owes_nothing(consumer);
    chordal__origin_leave(&consumer->origin, false);
    chordal__consumer_references_down(consumer);
}

int chordal__consumer_opened(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    bool away = consumer->away;
    (void)error;
    if (away) chordal__consumer_anew(consumer);
    consumer->origin.limit = message->numbers[0];
    consumer->share = message->numbers[1] < CHORDAL__ACK_SHARE ? message->numbers[1] : CHORDAL__ACK_SHARE;
    memcpy(consumer->run, message->ids[0], sizeof consumer->run);
    consumer->opened = consumer->known = consumer->prompt = true;
    consumer->good_at = consumer->runtime->now;
    chordal__consumer_ask_all(consumer);
    return 0;
}

/* ---- what is said again ---- */

static void settle_hold(chordal__remote *remote, uint64_t received) {
    if (remote->held >= received)
        chordal__consumer_forget_hold(remote); /* asked for again with those that are new */
    else if (!remote->reference && remote->released < received)
        chordal__consumer_forget_hold(remote); /* confirmed */
    else if (!remote->reference)
        chordal__consumer_send_release(remote);
}

static void wake(chordal__remote *remote) {
    chordal__reference *reference = remote->reference;
    if (remote->reset)
        chordal__consumer_reset(reference);
    else if (remote->bound && reference->state == CHORDAL_REFERENCE_DOWN)
        chordal__reference_set_state(reference, CHORDAL_REFERENCE_LIVE, 0, NULL, 0);
}

static void wake_all(chordal__consumer *consumer) {
    chordal__list *node = consumer->remotes.next;
    while (node != &consumer->remotes) {
        chordal__remote *remote = CHORDAL__ENTRY(node, chordal__remote, node);
        node = node->next;
        wake(remote);
    }
}

int chordal__consumer_back(chordal__consumer *consumer, const chordal__message *message, chordal_error *error) {
    uint64_t received = message->numbers[0];
    if (!consumer->away || received > consumer->requests)
        return chordal__fail(error, CHORDAL_E_ORDER, 0, "back from where it never was");
    consumer->away = false;
    consumer->opened = consumer->prompt = true;
    consumer->requests = received;
    consumer->origin.limit = message->numbers[1];
    consumer->good_at = consumer->runtime->now;
    for (size_t i = 0; i < consumer->numbers_capacity; i++)
        if (consumer->numbers[i]) settle_hold(consumer->numbers[i], received);
    chordal__consumer_repeat_calls(consumer, received);
    chordal__consumer_ask_all(consumer);
    wake_all(consumer);
    chordal__consumer_feed_hungry(consumer);
    return 0;
}
