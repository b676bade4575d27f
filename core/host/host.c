/* host.c: opening and closing, the guards of every entry, releases from any thread. */
#include "host/options.h"
#include "object/live.h"

/* ---- opening ---- */

static void free_shell(chordal_host *host) {
    chordal__memory *memory = host->memory;
    chordal__ids_dispose(&host->runtime.ids);
    chordal__fork_guard_close(&host->guard);
    chordal__release(memory, host, sizeof *host);
    chordal__memory_unref(memory);
}

/* The number of commits goes on where it was. A browser's build has no stores: the layer above it says so. */
static int open_store(chordal_host *host, const chordal_host_options *given, chordal_error *error) {
    chordal__runtime *runtime = &host->runtime;
    chordal__store_options options = {.path = given->store,
                                      .vfs = given->store_vfs,
                                      .durability = given->store_durability,
                                      .read_only = (given->store_flags & CHORDAL_STORE_READ_ONLY) != 0,
                                      .outbox = (given->store_flags & CHORDAL_STORE_OUTBOX) != 0,
                                      .snapshot = (given->store_flags & CHORDAL_STORE_SNAPSHOT) != 0};
    int code = chordal__store_open(host->memory, &runtime->counters, &options, runtime->run, &runtime->store, error);
    if (code == 0) runtime->commit_number = runtime->store->last;
    if (code == 0) code = chordal__live_provide(runtime, error);
    return code;
}

int chordal_host_open(const chordal_host_options *options, chordal_host **out, chordal_error *error) {
    chordal_host_options given;
    chordal__settings settings;
    if (!chordal__libraries_fit())
        return chordal__fail(error, CHORDAL_E_UNSUPPORTED, 0, "SQLite or zlib is older than what this was built with");
    int code = chordal__options_read(options, &given, &settings, error);
    if (code < 0) return code;
    chordal__memory *memory = chordal__memory_new(given.memory, given.memory_limit);
    if (!memory) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a host");
    chordal_host *host = chordal__allocate_zero(memory, sizeof *host);
    if (!host) {
        chordal__memory_unref(memory);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a host");
    }
    host->memory = memory;
    chordal__list_init(&host->parts);
    chordal__buffer_init(&host->record, memory, UINT32_MAX);
    chordal__fork_guard_open(&host->guard);
    chordal__ids_init(&host->runtime.ids, memory);
    code = chordal__runtime_init(&host->runtime, memory, &settings, &chordal__links_hooks);
    if (code == 0) code = chordal__links_init(&host->links, &host->runtime);
    if (code < 0) {
        free_shell(host);
        return chordal__fail(error, code, 0, "the host could not be opened");
    }
    if (CHORDAL__STORE && given.store) code = open_store(host, &given, error);
    if (code < 0) {
        chordal_host_forget(host);
        return code;
    }
    *out = host;
    return 0;
}

/* ---- closing ---- */

/* Everything goes but the ids that the program still owns. */
static void empty(chordal_host *host) {
    host->closed = true;
    chordal__drop_record(host);
    while (!chordal__list_empty(&host->parts))
        chordal__part_free(host, CHORDAL__ENTRY(host->parts.next, chordal__host_part, node));
    bool own = CHORDAL__STORE && !chordal__fork_guard_forked(&host->guard);
    if (own) chordal__persist_step(&host->runtime);
    if (own) chordal__copies_drop(&host->runtime);
    chordal__links_dispose(&host->links);
    chordal__runtime_dispose(&host->runtime);
    if (own) chordal__store_close(host->runtime.store); /* after a fork it is the other process's */
    chordal__buffer_dispose(&host->record);
}

/* The last chordal_release frees the rest. */
static void close_now(chordal_host *host) {
    empty(host);
    atomic_store(&host->busy, 0);
    if (chordal__ids_let_go(&host->runtime.ids)) free_shell(host);
}

/* A thread that is inside closes on its way out. */
void chordal_host_close(chordal_host *host) {
    if (!host || atomic_exchange(&host->close_asked, 1)) return;
    if (atomic_exchange(&host->busy, 1) == 0) close_now(host);
}

void chordal_host_forget(chordal_host *host) {
    if (!host) return;
    if (!host->closed) empty(host);
    free_shell(host);
}

/* ---- entries ---- */

static void release_link(chordal__link *link) {
    chordal__link_free(link);
}

static void release_call(chordal__call *call) {
    if (call->sent && !call->settled && call->reference) call->reference->source->cancel(call->reference, call);
    call->cancelled = true;
    chordal__call_free(call);
}

static void release_one(chordal_host *host, chordal_id id) {
    chordal__ids *ids = &host->runtime.ids;
    uint8_t kind = chordal__id_kind(ids, id);
    void *item = chordal__id_get(ids, id, kind);
    if (!item) {
        chordal__id_free(ids, id); /* what it named went before */
        return;
    }
    switch (kind) {
    case CHORDAL__ID_REFERENCE:
        chordal__reference_free(item);
        break;
    case CHORDAL__ID_WATCH:
        chordal__watch_free(item);
        break;
    case CHORDAL__ID_LINK:
        release_link(item);
        break;
    case CHORDAL__ID_CALL:
        release_call(item);
        break;
    case CHORDAL__ID_PART:
        chordal__part_free(host, item);
        break;
    case CHORDAL__ID_INVOCATION:
        chordal__invocation_fail(item, CHORDAL_E_CANCELLED, NULL, 0, NULL, 0);
        break;
    default:
        break;
    }
}

static void drain_releases(chordal_host *host) {
    chordal_id id;
    while ((id = chordal__id_next_released(&host->runtime.ids)) != 0) release_one(host, id);
}

int chordal__enter_held(chordal_host *host, chordal_error *error) {
    if (host->closed) {
        atomic_store(&host->busy, 0);
        return chordal__fail(error, CHORDAL_E_CLOSED, 0, "the host is closed");
    }
    host->runtime.counters.entries++;
    drain_releases(host);
    return 0;
}

int chordal__enter_slowly(chordal_host *host, chordal_error *error) {
    if (!host) return chordal__fail(error, CHORDAL_E_INVALID, 0, "no host");
    if (chordal__fork_guard_forked(&host->guard))
        return chordal__fail(error, CHORDAL_E_FORKED, 0, "the host belongs to the process before the fork");
    if (atomic_exchange(&host->busy, 1)) return chordal__fail(error, CHORDAL_E_BUSY, 0, "another thread is inside");
    return chordal__enter_held(host, error);
}

int chordal__leave_closing(chordal_host *host, int code) {
    if (atomic_exchange(&host->busy, 1) == 0) close_now(host);
    return code;
}

int chordal__leave_slowly(chordal_host *host, int code) {
    chordal__commits_advance(&host->runtime);
    chordal__links_flush(&host->links);
    atomic_store(&host->busy, 0);
    return atomic_load(&host->close_asked) ? chordal__leave_closing(host, code) : code;
}

void chordal_release(chordal_host *host, chordal_id id) {
    if (!host || !id) return;
    chordal__ids *ids = &host->runtime.ids;
    if (chordal__id_release(ids, id) && chordal__ids_let_go(ids)) free_shell(host);
}

void *chordal__find(chordal_host *host, chordal_id id, uint8_t kind, int *code, chordal_error *error) {
    void *item = chordal__id_get(&host->runtime.ids, id, kind);
    *code = item ? 0 : chordal__fail(error, CHORDAL_E_CLOSED, 0, "the id names nothing (any more)");
    return item;
}

int chordal__check_text(const char *text, size_t len, chordal_error *error) {
    size_t position;
    if (len > CHORDAL__TEXT_LIMIT) return chordal__fail(error, CHORDAL_E_SIZE, 0, "the text is too long");
    if (chordal__utf_valid((const uint8_t *)text, len, &position)) return 0;
    return chordal__fail(error, CHORDAL_E_UTF8, position, "the text is not valid UTF-8");
}

/* ---- small answers ---- */

int chordal_part_view(chordal_host *host, chordal_id part, const uint8_t **out_data, size_t *out_len) {
    int code = chordal__enter(host, NULL);
    if (code < 0) return code;
    chordal__host_part *found = chordal__id_get(&host->runtime.ids, part, CHORDAL__ID_PART);
    if (found) {
        *out_data = found->body->data;
        *out_len = found->body->len;
    }
    return chordal__leave(host, found ? 0 : CHORDAL_E_CLOSED);
}

int chordal_host_run(chordal_host *host, uint8_t *out16) {
    int code = chordal__enter(host, NULL);
    if (code < 0) return code;
    memcpy(out16, host->runtime.run, sizeof host->runtime.run);
    return chordal__leave(host, 0);
}

int chordal_host_counters(chordal_host *host, chordal_counters *counters, size_t counters_len) {
    int code = chordal__enter(host, NULL);
    if (code < 0) return code;
    chordal_counters *own = &host->runtime.counters;
    own->live_bytes = host->memory->live_bytes;
    own->live_blocks = host->memory->live_blocks;
    own->allocations = host->memory->allocations;
    own->live_ids = host->runtime.ids.count;
    memcpy(counters, own, counters_len < sizeof *own ? counters_len : sizeof *own);
    return chordal__leave(host, 0);
}
