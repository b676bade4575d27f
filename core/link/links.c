/* links.c: all links of a host, and what they do at the end of a batch and of a turn. */
#include "link/link.h"

int chordal__links_init(chordal__links *links, chordal__runtime *runtime) {
    memset(links, 0, sizeof *links);
    links->runtime = runtime;
    chordal__list *lists[] = {&links->all,   &links->flush,   &links->touched, &links->warm,
                              &links->owing, &links->waiting, &links->lost,    &links->failing};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) chordal__list_init(lists[i]);
    links->acks_due.kind = CHORDAL__DUE_ACKS;
    chordal__buffer_init(&links->inflated, runtime->memory, PTRDIFF_MAX);
    if (CHORDAL__FORWARDS) chordal__map_init(&links->routes, runtime->memory, runtime->seed);
    chordal__map_init(&links->sessions, runtime->memory, runtime->seed);
    chordal__places_init(links);
    runtime->links = links;
    return 0;
}

void chordal__links_dispose(chordal__links *links) {
    if (!links->runtime) return;
    chordal__places_dispose(links);
    while (!chordal__list_empty(&links->all)) chordal__link_free(CHORDAL__ENTRY(links->all.next, chordal__link, node));
    while (!chordal__list_empty(&links->lost))
        chordal__provider_end(CHORDAL__ENTRY(links->lost.next, chordal__provider, node), false);
    if (CHORDAL__AUTHORITY) chordal__revoked_dispose(links);
    if (CHORDAL__FORWARDS) chordal__map_dispose(&links->routes);
    chordal__map_dispose(&links->sessions);
}

chordal__link *chordal__links_default(chordal__links *links) {
    for (chordal__list *node = links->all.next; node != &links->all; node = node->next) {
        chordal__link *link = CHORDAL__ENTRY(node, chordal__link, node);
        if (link->flags & CHORDAL_LINK_CONNECT && link->state != CHORDAL_LINK_CLOSED) return link;
    }
    return NULL;
}

/* ---- sessions are served in turn, one thing each ---- */

static bool in_budget(const chordal__links *links) {
    const chordal__settings *settings = &links->runtime->settings;
    return links->turn_messages < settings->turn_messages && links->turn_bytes < settings->turn_bytes;
}

static void serve_next(chordal__links *links) {
    const chordal_counters *counters = &links->runtime->counters;
    uint64_t messages = counters->messages_out, bytes = counters->bytes_out;
    chordal__provider *provider = CHORDAL__ENTRY(links->flush.next, chordal__provider, flush);
    chordal__list_remove(&provider->flush);
    if (chordal__provider_serve(provider)) chordal__provider_want_flush(provider);
    links->turn_messages += counters->messages_out - messages;
    links->turn_bytes += counters->bytes_out - bytes;
}

static void flush_all(chordal__links *links) {
    if (links->flushing || links->runtime->settling) return;
    links->flushing = true;
    while (!chordal__list_empty(&links->flush) && in_budget(links)) serve_next(links);
    while (!chordal__list_empty(&links->touched)) {
        chordal__stream *stream = CHORDAL__ENTRY(links->touched.next, chordal__stream, touched);
        chordal__list_remove(&stream->touched);
        chordal__stream_published(stream);
    }
    links->flushing = false;
}

static void published(chordal__runtime *runtime) {
    flush_all(runtime->links);
}

static void type_provided(chordal__runtime *runtime, const char *name, size_t name_len) {
    chordal__offer_to_others(runtime->links, NULL, name, name_len);
}

const chordal__hooks chordal__links_hooks = {published, type_provided};

void chordal__provider_want_flush(chordal__provider *provider) {
    if (provider->flush.next == &provider->flush)
        chordal__list_append(&provider->runtime->links->flush, &provider->flush);
}

static void fail_broken(chordal__links *links) {
    while (!chordal__list_empty(&links->failing)) {
        chordal__link *link = CHORDAL__ENTRY(links->failing.next, chordal__link, failing_node);
        chordal__list_remove(&link->failing_node);
        if (link->transport) chordal__link_fail(link, link->failing, CHORDAL__WORDS("the link could not go on"));
    }
}

void chordal__links_work(chordal__links *links) {
    flush_all(links);
    fail_broken(links);
}

bool chordal__links_owe_turn(const chordal__links *links) {
    bool waits = !chordal__list_empty(&links->flush) && !links->runtime->settling;
    return waits || !chordal__list_empty(&links->owing) || !chordal__list_empty(&links->warm);
}

void chordal__links_acks_due(chordal__links *links) {
    while (!chordal__list_empty(&links->waiting)) {
        chordal__consumer *consumer = CHORDAL__ENTRY(links->waiting.next, chordal__consumer, owing);
        consumer->prompt = true;
        chordal__consumer_owes(consumer);
    }
}

/* What was taken is acknowledged, or waits for more. Without memory for its time nothing waits. */
static void acknowledge(chordal__links *links) {
    chordal__heap *deadlines = &links->runtime->deadlines;
    while (!chordal__list_empty(&links->owing)) {
        chordal__consumer *consumer = CHORDAL__ENTRY(links->owing.next, chordal__consumer, owing);
        bool waits = CHORDAL__ACKS_WAIT && chordal__consumer_ack_waits(consumer);
        chordal__list_remove(&consumer->owing);
        if (waits && !links->acks_due.place)
            waits = chordal__heap_set(deadlines, &links->acks_due, links->runtime->now + CHORDAL__ACK_DELAY) == 0;
        if (waits)
            chordal__list_append(&links->waiting, &consumer->owing);
        else
            chordal__consumer_acks(consumer);
    }
}

void chordal__links_turn(chordal__links *links) {
    flush_all(links);
    acknowledge(links);
    while (!chordal__list_empty(&links->warm)) {
        chordal__stream *stream = CHORDAL__ENTRY(links->warm.next, chordal__stream, warm);
        chordal__list_remove(&stream->warm);
        chordal__stream_cool(stream);
    }
    chordal__links_drain(links);
    fail_broken(links);
}
