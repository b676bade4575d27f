/* link.c: links and their transports: who is tied to whom, and what becomes of one without the other. */
#include "uv/uv.h"

/* ---- by id: a hash table, open addressing, half full at most ---- */

static size_t place_of(const chordal_uv *adapter, chordal_id id) {
    size_t mask = adapter->table_len - 1;
    size_t at = (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (adapter->table[at] && adapter->table[at]->id != id) at = (at + 1) & mask;
    return at;
}

static chordal__uv_link *find(const chordal_uv *adapter, chordal_id id) {
    return adapter->table_len ? adapter->table[place_of(adapter, id)] : NULL;
}

static bool grow(chordal_uv *adapter) {
    if (adapter->links_count * 2 < adapter->table_len) return true;
    size_t len = adapter->table_len ? adapter->table_len * 2 : 16;
    chordal__uv_link **table = calloc(len, sizeof *table), **old = adapter->table;
    size_t old_len = adapter->table_len;
    if (!table) return false;
    adapter->table = table, adapter->table_len = len;
    for (size_t i = 0; i < old_len; i++)
        if (old[i]) table[place_of(adapter, old[i]->id)] = old[i];
    free(old);
    return true;
}

static void forget(chordal_uv *adapter, chordal_id id) {
    size_t mask = adapter->table_len - 1, at = place_of(adapter, id);
    adapter->table[at] = NULL;
    adapter->links_count--;
    for (at = (at + 1) & mask; adapter->table[at]; at = (at + 1) & mask) {
        chordal__uv_link *moved = adapter->table[at];
        adapter->table[at] = NULL;
        adapter->table[place_of(adapter, moved->id)] = moved;
    }
}

/* ---- life ---- */

chordal__uv_link *chordal__uv_link_new(chordal_uv *adapter, uint32_t flags, chordal_error *error) {
    chordal__uv_link *link = grow(adapter) ? calloc(1, sizeof *link) : NULL;
    if (!link) {
        chordal__uv_fail(error, UV_ENOMEM, "link");
        return NULL;
    }
    if (chordal_link_open(adapter->host, flags, &link->id, error)) {
        free(link);
        return NULL;
    }
    link->adapter = adapter;
    chordal__list_append(&adapter->links, &link->node);
    chordal__list_init(&link->draining);
    adapter->table[place_of(adapter, link->id)] = link;
    adapter->links_count++;
    return link;
}

void chordal__uv_tie(chordal__uv_link *link, chordal__uv_transport *transport) {
    link->transport = transport;
    transport->link = link;
}

/* Untie the transport and close it; code 0 cuts it. */
static void let_go(chordal__uv_link *link, int code) {
    chordal__uv_transport *transport = link->transport;
    chordal__list_remove(&link->draining);
    if (!transport) return;
    link->transport = NULL;
    transport->link = NULL;
    transport->functions->close(transport, code);
}

static void link_free(chordal__uv_link *link) {
    chordal_uv *adapter = link->adapter;
    let_go(link, 0);
    forget(adapter, link->id);
    chordal__list_remove(&link->node);
    if (adapter->host) chordal_release(adapter->host, link->id);
    if (link->worker) chordal__uv_worker_closed(link->worker, link->code);
    free(link->address);
    free(link);
}

chordal__uv_link *chordal__uv_link_accept(chordal__uv_transport *transport, uint32_t flags, uint32_t codec) {
    chordal_uv *adapter = transport->adapter;
    if (!adapter->host) return NULL;
    chordal__uv_link *link = chordal__uv_link_new(adapter, flags & ~(uint32_t)CHORDAL_LINK_CONNECT, NULL);
    if (!link) return NULL;
    if (chordal_link_up(adapter->host, link->id, codec, chordal__uv_now(adapter), NULL)) {
        link_free(link);
        return NULL;
    }
    chordal__uv_tie(link, transport);
    return link;
}

int chordal_uv_connect(chordal_uv *adapter, const char *address, uint32_t codec, uint32_t link_flags,
                       chordal_id *out_link, chordal_error *error) {
    chordal__uv_address parsed;
    int code = chordal__uv_address_read(address, &parsed, error);
    if (code) return code;
    if (parsed.is_ipc && codec != CHORDAL_CODEC_BINARY) return chordal__uv_fail(error, UV_EINVAL, "codec of a pipe");
    if (!parsed.is_ipc && (code = chordal__uv_web_open(adapter, error))) return code;
    chordal__uv_address *kept = malloc(sizeof *kept);
    if (!kept) return chordal__uv_fail(error, UV_ENOMEM, "link");
    *kept = parsed;
    chordal_error why = {0};
    if (chordal__uv_address_far(&parsed)) link_flags |= CHORDAL_LINK_DEFLATE;
    chordal__uv_link *link = chordal__uv_link_new(adapter, link_flags | CHORDAL_LINK_CONNECT, &why);
    if (error) *error = why;
    if (!link) {
        free(kept);
        return why.code;
    }
    link->address = kept;
    link->codec = codec;
    *out_link = link->id;
    return 0;
}

/* ---- what transports tell ---- */

void chordal__uv_link_up(chordal__uv_link *link) {
    chordal_uv *adapter = link->adapter;
    link->dials = false;
    if (chordal_link_up(adapter->host, link->id, link->codec, chordal__uv_now(adapter), NULL)) let_go(link, 0);
}

bool chordal__uv_link_feed(chordal__uv_link *link, uint32_t frame, const uint8_t *data, size_t len) {
    chordal_uv *adapter = link->adapter;
    int code = chordal_link_feed(adapter->host, link->id, frame, data, len, chordal__uv_now(adapter), NULL);
    return code != CHORDAL_E_CLOSED && code != CHORDAL_E_NOMEM;
}

void chordal__uv_link_progress(chordal__uv_link *link) {
    (void)chordal_link_progress(link->adapter->host, link->id, chordal__uv_now(link->adapter), NULL);
}

void chordal__uv_link_lost(chordal__uv_link *link) {
    chordal_uv *adapter = link->adapter;
    if (link->transport) link->transport->link = NULL;
    link->transport = NULL;
    chordal__list_remove(&link->draining);
    link->up = false;
    if (link->worker) chordal__uv_worker_lost(link->worker);
    if (link->told_closed || chordal_link_down(adapter->host, link->id, chordal__uv_now(adapter), NULL))
        link_free(link);
}

void chordal__uv_link_drained(chordal__uv_link *link) {
    if (chordal__list_empty(&link->draining)) return;
    let_go(link, link->code ? link->code : CHORDAL_E_BYE);
    if (link->told_closed) link_free(link);
}

/* ---- what the core tells ---- */

static void dial(chordal__uv_link *link) {
    let_go(link, 0);
    link->attempts++;
    if (link->worker) {
        chordal__uv_worker_dial(link->worker);
        return;
    }
    link->dials = true;
    int code = link->address->is_ipc ? chordal__uv_ipc_dial(link) : chordal__uv_web_dial(link);
    if (code) chordal__uv_link_lost(link);
}

/* The core is through with the transport: send what is left, then close. */
static void drain(chordal__uv_link *link, int code) {
    if (!chordal__list_empty(&link->draining)) return;
    link->code = code;
    link->close_by = chordal__uv_now(link->adapter) + CHORDAL__UV_CLOSE_LIMIT;
    chordal__list_append(&link->adapter->draining, &link->draining);
    link->transport->functions->pull(link->transport);
}

void chordal__uv_link_event(chordal_uv *adapter, const chordal_event_LINK *event) {
    chordal__uv_link *link = find(adapter, event->link);
    if (!link) return;
    bool closed = event->state == CHORDAL_LINK_CLOSED;
    link->up = event->state == CHORDAL_LINK_UP;
    if (event->state == CHORDAL_LINK_DIAL && (link->address || link->worker))
        dial(link);
    else if (closed || event->state == CHORDAL_LINK_WAIT) {
        if (!closed && link->worker) chordal__uv_worker_down(link->worker, event->code);
        link->told_closed = closed;
        if (closed) link->code = event->code;
        if (link->dials) let_go(link, 0); /* it did not come in time, or is wanted no more */
        link->dials = false;
        if (link->transport)
            drain(link, event->code);
        else if (closed)
            link_free(link);
    }
}

void chordal__uv_link_output(chordal_uv *adapter, chordal_id id) {
    chordal__uv_link *link = find(adapter, id);
    if (link && link->transport) link->transport->functions->pull(link->transport);
}

void chordal__uv_links_expire(chordal_uv *adapter, chordal_time now) {
    while (!chordal__list_empty(&adapter->draining)) {
        chordal__uv_link *link = CHORDAL__ENTRY(adapter->draining.next, chordal__uv_link, draining);
        if (link->close_by > now) return;
        let_go(link, 0);
        if (link->told_closed) link_free(link);
    }
}

/* The peers are told, if that can be sent at once. */
void chordal__uv_links_close(chordal_uv *adapter) {
    (void)chordal_host_leave(adapter->host, 0, chordal__uv_now(adapter), NULL);
    while (!chordal__list_empty(&adapter->links)) {
        const chordal__list *first = adapter->links.next;
        chordal__uv_link *link = CHORDAL__ENTRY(first, chordal__uv_link, node);
        if (link->transport) link->transport->functions->last(link->transport);
        if (adapter->links.next == first) link_free(CHORDAL__ENTRY(first, chordal__uv_link, node));
    }
    free(adapter->table);
    adapter->table = NULL;
    adapter->table_len = 0;
}
