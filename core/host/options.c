/* options.c: what a host is opened with, and its defaults. */
#include "host/options.h"

static int check_size(const chordal_host_options *given, chordal_error *error) {
    const uint8_t *bytes = (const uint8_t *)given;
    if (given->size < 2 * sizeof(uint32_t)) return chordal__fail(error, CHORDAL_E_INVALID, 0, "the size is not set");
    for (size_t i = sizeof *given; i < given->size; i++)
        if (bytes[i]) return chordal__fail(error, CHORDAL_E_INVALID, 0, "an option that this library does not know");
    if (given->flags) return chordal__fail(error, CHORDAL_E_INVALID, 0, "unknown flags");
    return 0;
}

static uint32_t number(uint32_t given, uint32_t fallback) {
    return given ? given : fallback;
}

static chordal_time span(chordal_time given, chordal_time fallback) {
    if (given > CHORDAL_NEVER) return CHORDAL_NEVER;
    return given ? given : fallback;
}

static void fill(const chordal_host_options *o, chordal__settings *out) {
    out->limits.depth = number(o->depth_limit, 512);
    out->limits.size = number(o->message_limit, 64u << 20);
    out->call_limit = number(o->call_limit, 256);
    out->window_messages = number(o->window_messages, 16);
    out->window_bytes = number(o->window_bytes, 1u << 20);
    out->window_messages_limit = number(o->window_messages_limit, 1024);
    out->window_bytes_limit = number(o->window_bytes_limit, 16u << 20);
    out->turn_messages = number(o->turn_messages, 16384);
    out->turn_bytes = number(o->turn_bytes, 16u << 20);
    out->parked_limit = number(o->parked_limit, 65536);
    out->queue_limit = number(o->queue_limit, 256u << 20);
    out->dictionary_limit = number(o->dictionary_limit, CHORDAL__DICTIONARY_LIMIT);
    out->compute_timeout = span(o->compute_timeout, 5000);
    out->handshake_timeout = span(o->handshake_timeout, 10000);
    out->ping_interval = span(o->ping_interval, 15000);
    out->ping_timeout = span(o->ping_timeout, 10000);
    out->backoff_first = span(o->backoff_first, 250);
    out->backoff_limit = span(o->backoff_limit, 15000);
    out->session_lapse = span(o->session_lapse, 60000);
    out->stall_timeout = span(o->stall_timeout, 120000);
    out->guard_timeout = span(o->guard_timeout, 10000);
    out->dial_timeout = span(o->dial_timeout, 20000);
    out->outcome_limit = number(o->outcome_limit, 4u << 20);
    out->lost_limit = number(o->lost_limit, 10000);
    out->resolve_timeout = span(o->resolve_timeout, 60000);
    out->deflate = (uint8_t)o->deflate;
    out->name_high = o->name_high;
    out->name_low = o->name_low;
    out->entropy = o->entropy ? o->entropy : chordal__entropy;
    out->entropy_context = o->entropy_context;
}

static bool store_fits(const chordal_host_options *given) {
    uint32_t flags = given->store_flags;
    bool fits = flags <= (CHORDAL_STORE_READ_ONLY | CHORDAL_STORE_OUTBOX | CHORDAL_STORE_SNAPSHOT);
    bool reads = (flags & CHORDAL_STORE_READ_ONLY) != 0;
    return given->store_durability <= CHORDAL_DURABILITY_OFF && fits && (reads || !(flags & CHORDAL_STORE_SNAPSHOT));
}

int chordal__options_read(const chordal_host_options *given, chordal_host_options *out, chordal__settings *settings,
                          chordal_error *error) {
    memset(out, 0, sizeof *out);
    if (given) {
        int code = check_size(given, error);
        if (code < 0) return code;
        memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    }
    if (out->depth_limit > 4096 || out->call_limit > CHORDAL__SLOTS || out->window_messages > 65536 ||
        out->window_messages_limit > 65536 || out->dictionary_limit > CHORDAL__DICTIONARY_LIMIT ||
        out->deflate > CHORDAL_DEFLATE_NEVER || (CHORDAL__STORE && !store_fits(out)))
        return chordal__fail(error, CHORDAL_E_INVALID, 0, "an option is beyond what is possible");
    if (!out->memory_limit) out->memory_limit = UINT64_C(1) << 30;
    fill(out, settings);
    return 0;
}
