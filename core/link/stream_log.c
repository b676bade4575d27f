/* stream_log.c: the recent changes of a stream, for readers that lag and for sessions that come back.
 *
 * An entry is one change as it was published, or several merged. Entries are merged where no reader can stand between
 * them: the borders are the cuts at which sessions stand or to which they may fall back, so memory for those that lag
 * is bounded by the stream, not by their number. What every reader has acknowledged is dropped. A browser
 * keeps the newest changes, whoever has them: its few readers are not worth the code. */
#include "link/link.h"

/* Below these nothing is looked for. */
#define SMALL_COUNT 32
#define SMALL_WEIGHT 16384

void chordal__stream_clear_log(chordal__stream *stream) {
    for (size_t i = 0; i < stream->log_len; i++) chordal__ops_dispose(&stream->log[i].ops);
    stream->log_len = 0;
    stream->log_weight = 0;
    stream->log_from = stream->last;
}

/* The batch's ops are taken over: nobody needs them any more. */
static int log_current(chordal__stream *stream) {
    chordal__memory *memory = stream->object->runtime->memory;
    void *log = stream->log;
    int code = chordal__grow(memory, &log, sizeof *stream->log, &stream->log_capacity, stream->log_len + 1,
                             CHORDAL__STREAM_LOG_COUNT);
    if (code < 0) return code;
    stream->log = log;
    stream->log[stream->log_len++] = (chordal__logged){stream->last, stream->last, *stream->current};
    stream->log_weight += stream->current->weight;
    chordal__ops_init(stream->current, memory);
    return 0;
}

/* ---- where readers stand ---- */

/* How many entries a reader at this cut has seen. */
static size_t entries_seen(const chordal__stream *stream, uint64_t cut) {
    size_t low = 0, high = stream->log_len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stream->log[middle].commit <= cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool chordal__stream_has(const chordal__stream *stream, uint64_t from) {
    if (from < stream->log_from || CHORDAL__SMALL) return from >= stream->log_from;
    size_t seen = entries_seen(stream, from);
    return seen == stream->log_len || stream->log[seen].first > from;
}

uint64_t chordal__stream_border(const chordal__stream *stream, uint64_t from) {
    if (!chordal__stream_has(stream, from)) return from;
    size_t seen = entries_seen(stream, from);
    return seen ? stream->log[seen - 1].commit : stream->log_from;
}

/* Where a reader stands, and to where it may fall back; the lowest of it. */
static size_t mark_borders(const chordal__stream *stream, const chordal__hold *hold, bool *borders) {
    const chordal__window *window = &hold->provider->window;
    size_t seen = entries_seen(stream, window->acked);
    borders[seen] = borders[entries_seen(stream, hold->provider->cut)] = true;
    for (uint32_t i = 0; i < window->states_len && seen < stream->log_len; i++)
        borders[entries_seen(stream, chordal__window_state(window, i)->cut)] = true;
    return seen;
}

/* borders[i]: some reader stands between entry i - 1 and entry i, or may fall back to there. */
static size_t find_borders(const chordal__stream *stream, bool *borders) {
    const chordal__list *lists[] = {&stream->holds, &stream->aside};
    size_t lowest = stream->log_len;
    memset(borders, 0, CHORDAL__STREAM_LOG_COUNT + 1);
    for (int i = 0; i < 2; i++) {
        for (const chordal__list *node = lists[i]->next; node != lists[i]; node = node->next) {
            const chordal__hold *hold = CHORDAL__ENTRY(node, chordal__hold, stream_node);
            size_t seen = hold->bound ? mark_borders(stream, hold, borders) : lowest;
            if (seen < lowest) lowest = seen;
        }
    }
    return lowest;
}

/* ---- the log's bounds ---- */

static void drop_oldest(chordal__stream *stream, size_t count) {
    if (!count) return;
    for (size_t i = 0; i < count; i++) {
        stream->log_weight -= stream->log[i].ops.weight;
        chordal__ops_dispose(&stream->log[i].ops);
    }
    stream->log_from = stream->log[count - 1].commit;
    stream->log_len -= count;
    memmove(stream->log, stream->log + count, stream->log_len * sizeof *stream->log);
}

/* Merge entry `from` into the one at `into`. */
static int merge(chordal__stream *stream, size_t into, size_t from) {
    chordal__logged *kept = &stream->log[into], *entry = &stream->log[from];
    uint64_t before = kept->ops.weight + entry->ops.weight;
    int code = chordal__fold(&kept->ops, &entry->ops);
    if (code < 0) return code;
    kept->commit = entry->commit;
    stream->log_weight = stream->log_weight - before + kept->ops.weight;
    chordal__ops_dispose(&entry->ops);
    stream->object->runtime->counters.folds++;
    return 0;
}

static int merge_entries(chordal__stream *stream, const bool *borders) {
    size_t kept = 0;
    int code = 0;
    for (size_t i = 1; i < stream->log_len; i++) {
        if (code == 0 && !borders[i]) code = merge(stream, kept, i);
        if (code < 0 || borders[i]) stream->log[++kept] = stream->log[i];
    }
    if (stream->log_len) stream->log_len = kept + 1;
    return code;
}

static void keep_newest(chordal__stream *stream) {
    if (stream->log_len > CHORDAL__STREAM_BORDERS) drop_oldest(stream, stream->log_len - CHORDAL__STREAM_BORDERS);
    while (stream->log_weight > CHORDAL__STREAM_LOG_WEIGHT) drop_oldest(stream, 1);
}

static int shorten_log(chordal__stream *stream) {
    bool borders[CHORDAL__STREAM_LOG_COUNT + 1];
    size_t lowest = find_borders(stream, borders);
    drop_oldest(stream, lowest);
    int code = merge_entries(stream, borders + lowest);
    keep_newest(stream);
    stream->tidy_count = stream->log_len * 2;
    stream->tidy_weight = stream->log_weight * 2;
    return code;
}

/* The work of tidying is shared by as many commits as there are entries. */
static bool is_due(const chordal__stream *stream) {
    if (stream->log_len >= CHORDAL__STREAM_LOG_COUNT || stream->log_weight > CHORDAL__STREAM_LOG_WEIGHT) return true;
    return (stream->log_len >= SMALL_COUNT && stream->log_len >= stream->tidy_count) ||
           (stream->log_weight >= SMALL_WEIGHT && stream->log_weight >= stream->tidy_weight);
}

void chordal__stream_published(chordal__stream *stream) {
    if (!stream->current) return;
    int code = log_current(stream);
    if (CHORDAL__SMALL)
        keep_newest(stream);
    else if (code == 0 && is_due(stream))
        code = shorten_log(stream);
    if (code < 0) chordal__stream_clear_log(stream);
    stream->current = NULL;
}

int chordal__stream_fold(chordal__stream *stream, uint64_t from, chordal__ops *ops) {
    int code = 0;
    for (size_t i = entries_seen(stream, from); i < stream->log_len && code == 0; i++) {
        code = chordal__fold(ops, &stream->log[i].ops);
        stream->object->runtime->counters.folds++;
    }
    if (code == 0 && stream->current) code = chordal__fold(ops, stream->current);
    return code;
}
