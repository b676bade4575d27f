/* consumer_ack.c: what a consumer says it has taken. An ack stands for all before it, so it waits for more, as long as
 * the provider's window does not need it: it told how much may wait when it opened the session. */
#include "link/link.h"

/* As the provider's window counts them; deflated it may have more behind it. */
static uint64_t weight_of(const chordal__message *message) {
    uint64_t weight = message->texts[0].len + message->texts[1].len + message->parts[0].len + message->parts[1].len;
    for (size_t i = 0; i < message->list_len; i++) weight += message->list[i].len;
    return message->deflated ? UINT32_MAX : weight;
}

void chordal__consumer_took(chordal__consumer *consumer, const chordal__message *message) {
    if (message->kind == CHORDAL__STATE || message->kind == CHORDAL__BOUND) {
        consumer->states++;
        consumer->unacked_states++;
    } else {
        consumer->outcomes++;
        consumer->unacked_outcomes++;
    }
    if (CHORDAL__ACKS_WAIT) consumer->unacked_bytes += weight_of(message);
    chordal__consumer_owes(consumer);
}

void chordal__consumer_owes(chordal__consumer *consumer) {
    chordal__list_remove(&consumer->owing);
    chordal__list_append(&consumer->runtime->links->owing, &consumer->owing);
}

/* What a watch has not taken yet may be what fills the window: outcomes beside it do not wait. */
bool chordal__consumer_ack_waits(const chordal__consumer *consumer) {
    uint64_t count = (uint64_t)consumer->unacked_states + consumer->unacked_outcomes;
    if (consumer->prompt || consumer->blocked || consumer->link->draining) return false;
    return count && count < consumer->share && consumer->unacked_bytes < consumer->share * CHORDAL__ACK_UNIT;
}

void chordal__consumer_acks(chordal__consumer *consumer) {
    chordal__message ack = {.kind = CHORDAL__ACK, .origin = consumer->origin.number};
    if (!consumer->opened) return;
    ack.numbers[1] = consumer->unacked_outcomes;
    consumer->unacked_outcomes = 0;
    if (consumer->blocked == 0) {
        ack.numbers[0] = consumer->unacked_states;
        consumer->unacked_states = 0;
        consumer->unacked_bytes = 0;
    }
    if (!ack.numbers[0] && !ack.numbers[1]) return;
    consumer->prompt = false;
    chordal__send(consumer->link, &ack, NULL);
}

void chordal__consumer_owes_nothing(chordal__consumer *consumer) {
    chordal__list_remove(&consumer->owing);
    consumer->unacked_states = consumer->unacked_outcomes = 0;
    consumer->unacked_bytes = 0;
}

void chordal__link_wants_acks(chordal__link *link) {
    for (chordal__list *node = link->consumers.next; node != &link->consumers; node = node->next) {
        chordal__consumer *consumer = CHORDAL__ENTRY(node, chordal__consumer, node);
        consumer->prompt = true;
        chordal__consumer_owes(consumer);
    }
}

void chordal__link_acks(chordal__link *link) {
    for (chordal__list *node = link->consumers.next; node != &link->consumers; node = node->next)
        chordal__consumer_acks(CHORDAL__ENTRY(node, chordal__consumer, node));
}
