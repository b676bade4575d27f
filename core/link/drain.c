/* drain.c: a link that closes once what runs over it is done: no call is started or sent any more, those that run are
 * answered and their outcomes acknowledged, and only then, or when its time is over, it says bye. */
#include "link/link.h"

void chordal__drain_refuse(chordal__invocation *invocation) {
    static const char words[] = CHORDAL__WORDS("the link is being closed");
    chordal__invocation_fail(invocation, CHORDAL_E_REFUSED, NULL, 0, words, sizeof words - 1);
}

static void refuse_waiting(chordal__provider *provider) {
    chordal__list *waiting = &provider->caller.waiting;
    while (!chordal__list_empty(waiting))
        chordal__drain_refuse(CHORDAL__ENTRY(waiting->next, chordal__invocation, node));
}

/* Who gets a ping lets no ack wait. */
void chordal__drain_ask(chordal__link *link) {
    chordal__origin none = {.link = link};
    chordal__send_simple(&none, CHORDAL__PING, 0);
}

static bool awaits_acks(const chordal__link *link) {
    for (const chordal__list *node = link->providers.next; node != &link->providers; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__provider, node)->window.kept_len) return true;
    return false;
}

void chordal__link_drain(chordal__link *link, chordal_time span) {
    chordal__runtime *runtime = link->runtime;
    if (link->state == CHORDAL_LINK_CLOSED) return;
    if (!link->draining) link->links->draining++;
    link->draining = true;
    for (chordal__list *node = link->providers.next; node != &link->providers; node = node->next)
        refuse_waiting(CHORDAL__ENTRY(node, chordal__provider, node));
    if (CHORDAL__ACKS_WAIT && awaits_acks(link)) chordal__drain_ask(link);
    chordal_time at = span < CHORDAL_NEVER - runtime->now ? runtime->now + span : CHORDAL_NEVER;
    if (!link->transport || span == 0 || chordal__heap_set(&runtime->deadlines, &link->drained_by, at) < 0)
        chordal__link_close(link);
}

void chordal__links_leave(chordal__links *links, chordal_time span) {
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        link->leaves = true;
        chordal__link_drain(link, span);
    }
}

void chordal__drain_end(chordal__link *link) {
    if (!link->draining) return;
    link->draining = false;
    link->links->draining--;
    chordal__heap_remove(&link->runtime->deadlines, &link->drained_by);
}

static bool answered_all(const chordal__provider *provider) {
    for (int i = 0; i < CHORDAL__SLOTS; i++)
        if (provider->slots[i]) return false;
    return provider->window.kept_len == 0;
}

static bool is_done(const chordal__link *link) {
    for (chordal__list *node = link->providers.next; node != &link->providers; node = node->next)
        if (!answered_all(CHORDAL__ENTRY(node, chordal__provider, node))) return false;
    for (chordal__list *node = link->consumers.next; node != &link->consumers; node = node->next)
        if (CHORDAL__ENTRY(node, chordal__consumer, node)->slots_used) return false;
    return true;
}

/* Links of a host that leaves go together: as long as it is there, what passes through it goes on. */
static bool leaves_later(const chordal__links *links) {
    for (const chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        const chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link->leaves && link->draining && !is_done(link)) return true;
    }
    return false;
}

void chordal__links_drain(chordal__links *links) {
    chordal__list *node = links->draining ? links->all.next : &links->all;
    bool later = CHORDAL__FORWARDS && links->draining && leaves_later(links);
    while (node != &links->all) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        node = node->next;
        if (link->draining && !(later && link->leaves) && is_done(link)) chordal__link_close(link);
    }
}
