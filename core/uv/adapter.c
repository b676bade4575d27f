/* adapter.c: a host on a loop: the turn, the deadline, the wake. */
#include "uv/uv.h"

#include <signal.h>

#define EVENTS_FIRST 65536
#define ROUNDS 64 /* polls in one turn; then input gets its chance */

void chordal__uv_hold(chordal_uv *adapter) {
    adapter->handles++;
}

void chordal__uv_drop(chordal_uv *adapter) {
    if (--adapter->handles) return;
    free(adapter->events);
    free(adapter);
}

static void on_handle_closed(uv_handle_t *handle) {
    chordal__uv_drop(handle->data);
}

/* ---- events ---- */

static bool grow_events(chordal_uv *adapter, size_t len) {
    uint8_t *grown = realloc(adapter->events, len);
    if (!grown) return false;
    adapter->events = grown;
    adapter->events_len = len;
    return true;
}

static void hand_out(chordal_uv *adapter, const chordal_record *record) {
    const void *event = record;
    if (record->kind == CHORDAL_EVENT_OUTPUT) {
        chordal__uv_link_output(adapter, ((const chordal_event_OUTPUT *)event)->link);
        return;
    }
    chordal_host *host = adapter->host;
    if (record->kind == CHORDAL_EVENT_LINK) chordal__uv_link_event(adapter, event);
    if (adapter->on_event) adapter->on_event(adapter->context, host, record);
    /* Before the program is asked where the objects of a worker are that has gone. */
    if (record->kind == CHORDAL_EVENT_LINK && adapter->host) chordal__uv_workers_turn(adapter);
}

/* One poll and its events; false: nothing is left, or the adapter was closed by an event. */
static bool poll_once(chordal_uv *adapter) {
    size_t len = 0;
    chordal_time now = chordal__uv_now(adapter);
    int code = chordal_host_poll(adapter->host, now, adapter->events, adapter->events_len, &len, NULL);
    if (code == CHORDAL_E_ROOM) return grow_events(adapter, len);
    if (code || len == 0) return false;
    for (size_t at = 0; at < len;) {
        const chordal_record *record = (const void *)(adapter->events + at);
        at += record->length;
        hand_out(adapter, record);
        if (!adapter->host) return false;
    }
    return true;
}

/* ---- the turn ---- */

static void on_timer(uv_timer_t *timer) {
    (void)timer; /* the turn follows in the same round of the loop */
}

static void on_wake(uv_async_t *wake) {
    (void)wake;
}

static void set_timer(chordal_uv *adapter) {
    chordal_time now = chordal__uv_now(adapter), at = chordal_host_deadline(adapter->host);
    if (!chordal__list_empty(&adapter->draining)) {
        chordal__uv_link *first = CHORDAL__ENTRY(adapter->draining.next, chordal__uv_link, draining);
        if (first->close_by < at) at = first->close_by;
    }
    if (at == adapter->timer_at && at > now) return; /* as most often: it is the next ping's */
    adapter->timer_at = at;
    if (at == CHORDAL_NEVER)
        uv_timer_stop(&adapter->timer);
    else
        uv_timer_start(&adapter->timer, on_timer, at > now ? at - now : 0, 0);
}

static void on_turn(uv_prepare_t *turn) {
    chordal_uv *adapter = turn->data;
    chordal__uv_hold(adapter); /* an event may close it */
    for (int round = 0; round < ROUNDS && poll_once(adapter); round++) continue;
    if (adapter->host) {
        chordal__uv_links_expire(adapter, chordal__uv_now(adapter));
        chordal__uv_web_turn(adapter);
        chordal__uv_workers_turn(adapter);
    }
    if (adapter->host) set_timer(adapter);
    chordal__uv_drop(adapter);
}

/* ---- life ---- */

static void init_handle(chordal_uv *adapter, uv_handle_t *handle, bool keeps_alive) {
    handle->data = adapter;
    if (!keeps_alive) uv_unref(handle);
    chordal__uv_hold(adapter);
}

/* That a peer is gone is told by the write. libwebsockets does the same; a program's own handler stays. */
static void ignore_broken_pipes(void) {
    struct sigaction present;
    if (sigaction(SIGPIPE, NULL, &present) == 0 && present.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

int chordal_uv_open(struct uv_loop_s *loop, chordal_host *host, chordal_uv_event on_event, void *context,
                    CHORDAL_OWN chordal_uv **out, chordal_error *error) {
    chordal_uv *adapter = calloc(1, sizeof *adapter);
    if (!adapter || !grow_events(adapter, EVENTS_FIRST)) {
        free(adapter);
        return chordal__uv_fail(error, UV_ENOMEM, "adapter");
    }
    int status = uv_async_init(loop, &adapter->wake, on_wake);
    if (status) {
        free(adapter->events);
        free(adapter);
        return chordal__uv_fail(error, status, "adapter");
    }
    ignore_broken_pipes();
    adapter->loop = loop, adapter->host = host, adapter->on_event = on_event, adapter->context = context;
    adapter->frame_limit = chordal_link_limit(host);
    uv_prepare_init(loop, &adapter->turn);
    uv_timer_init(loop, &adapter->timer);
    init_handle(adapter, (uv_handle_t *)&adapter->wake, true);
    init_handle(adapter, (uv_handle_t *)&adapter->turn, false);
    init_handle(adapter, (uv_handle_t *)&adapter->timer, false);
    chordal__list_init(&adapter->links);
    chordal__list_init(&adapter->draining);
    chordal__list_init(&adapter->servers);
    chordal__list_init(&adapter->workers);
    uv_prepare_start(&adapter->turn, on_turn);
    *out = adapter;
    return 0;
}

void chordal_uv_close(chordal_uv *adapter) {
    if (!adapter || !adapter->host) return;
    while (!chordal__list_empty(&adapter->servers)) {
        chordal__uv_server *server = CHORDAL__ENTRY(adapter->servers.next, chordal__uv_server, node);
        chordal__list_remove(&server->node);
        server->functions->close(server);
        chordal__uv_server_unref(server);
    }
    chordal__uv_links_close(adapter);
    adapter->host = NULL;
    chordal__uv_workers_close(adapter);
    chordal__uv_web_close(adapter);
    uv_close((uv_handle_t *)&adapter->turn, on_handle_closed);
    uv_close((uv_handle_t *)&adapter->timer, on_handle_closed);
    uv_close((uv_handle_t *)&adapter->wake, on_handle_closed);
}

void chordal_uv_wake(chordal_uv *adapter) {
    uv_async_send(&adapter->wake);
}
