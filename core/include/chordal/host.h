/* host.h: one runtime instance.
 *
 * Thread rule for every function that takes a host, here and in the other headers: one thread at a time; a second one
 * inside is answered BUSY and changes nothing. Only chordal_release may be called from any thread. After a fork the
 * child's handles answer FORKED. Different hosts are independent of each other. */
#ifndef CHORDAL_HOST_H
#define CHORDAL_HOST_H

#include "error.h"
#include "memory.h"
#include "value.h"

#define CHORDAL_DEFLATE_BY_LINK                                                                                        \
    0 /* what this host asks for, and its arguments: over links that say CHORDAL_LINK_DEFLATE */
#define CHORDAL_DEFLATE_ALWAYS 1 /* over all links */
#define CHORDAL_DEFLATE_NEVER 2  /* over none, and nothing that it provides, to nobody */

#define CHORDAL_DURABILITY_NORMAL 0 /* what was seen survives the death of the process */
#define CHORDAL_DURABILITY_FULL 1   /* and a power cut */
#define CHORDAL_DURABILITY_OFF 2    /* neither is sure to */

#define CHORDAL_STORE_READ_ONLY 1 /* read beside its owner, or where nothing may be written; commits fail READ_ONLY */
#define CHORDAL_STORE_OUTBOX 2    /* keep what each commit wrote for others to follow (store.h) */
#define CHORDAL_STORE_SNAPSHOT 4  /* with READ_ONLY: all is read as it was when the host was opened */

/* What a host is opened with. Zero means the default. Fields are only ever appended. */
typedef struct chordal_host_options {
    uint32_t size;                          /* sizeof(chordal_host_options) */
    uint32_t flags;                         /* 0 */
    const chordal_memory_functions *memory; /* NULL: the C library's */
    /* Fill `out` with `len` random bytes, return 0. NULL: the operating system's source (getentropy; in the browser the
     * loader's). Same bytes and same calls give the same run, byte for byte. */
    int (*entropy)(void *context, uint8_t *out, size_t len);
    void *entropy_context;
    uint64_t memory_limit;          /* bytes; default 1 GiB */
    uint32_t depth_limit;           /* nesting of values; default 512, at most 4096 */
    uint32_t message_limit;         /* bytes of one message or value; default 64 MiB */
    uint32_t call_limit;            /* calls of one session that run at once; default 256 */
    uint32_t window_messages;       /* unacknowledged messages of a session, at its start; default 16 */
    uint32_t window_bytes;          /* and bytes; default 1 MiB */
    uint32_t parked_limit;          /* calls that may wait in one reference; default 65536 */
    uint32_t queue_limit;           /* bytes of output that may wait in one link, and of changes in one session for
                                     * the rest of their cut; default 256 MiB */
    uint32_t dictionary_limit;      /* paths in a stream's dictionary; default 1024, at most that */
    chordal_time compute_timeout;   /* a derive's answer; default 5000 ms */
    chordal_time handshake_timeout; /* default 10000 ms */
    chordal_time ping_interval;     /* silence before a ping; default 15000 ms; CHORDAL_NEVER: none */
    chordal_time ping_timeout;      /* no byte after a ping; default 10000 ms */
    chordal_time backoff_first; /* first wait before dialling again; default 250 ms, doubled each time, with jitter */
    chordal_time backoff_limit; /* default 15000 ms */
    chordal_time session_lapse; /* how long a lost session is kept for its consumer to come back; default 60000 ms */
    chordal_time stall_timeout; /* a full window without an ack, after which the session is lost; default 120000 ms */
    uint32_t outcome_limit;     /* bytes of outcomes of one session that are kept until they are acknowledged: beyond it
                                 * no further call of it starts; default 4 MiB */
    uint32_t lost_limit;        /* lost sessions that are kept, the oldest lapses first; default 10000 */
    uint64_t name_high, name_low;   /* the host's lasting name, 128 bits that no other host has: routes through it and
                                     * to it are found again after a restart. 0: its run's */
    chordal_time resolve_timeout;   /* an answer to RESOLVE, the link's way up included; default 60000 ms */
    uint32_t window_messages_limit; /* what a window grows to while its reader keeps up; default 1024, at most 65536;
                                     * never below its start */
    uint32_t window_bytes_limit;    /* default 16 MiB */
    uint32_t turn_messages;     /* states and outcomes sent in one turn, over all sessions: the rest goes in the next;
                                 * default 16384 */
    uint32_t turn_bytes;        /* default 16 MiB */
    chordal_time guard_timeout; /* the answer to a GUARD event; default 10000 ms; CHORDAL_NEVER: none */
    uint32_t deflate;           /* CHORDAL_DEFLATE_…: whether parts over 16 KiB are deflated where that pays */
    uint32_t store_durability;  /* CHORDAL_DURABILITY_…: what a commit survives once anybody sees it */
    uint32_t store_flags;       /* CHORDAL_STORE_… */
    const char *store;          /* path of the host's store, made if there is none; NULL: documents are in memory */
    const char *store_vfs;      /* the file system that SQLite uses, by its name there; NULL: its default */
    chordal_time dial_timeout;  /* from DIAL until a connecting link has a transport (credentials, names, connection,
                                 * upgrade: whatever that takes), else it waits and dials again; a transport may give
                                 * up sooner by itself; default 20000 ms; CHORDAL_NEVER: none */
} chordal_host_options;

/* Open a host. `options` may be NULL. Errors: INVALID (an unknown flag or a larger structure with a tail that is not
 * zero), NOMEM, UNSUPPORTED (a linked library is older than what this was built with), and of the store OWNED, NEWER,
 * NOT_STORE, CORRUPT, READ_ONLY, NOT_FOUND, DISK_FULL, DISK_IO. Close with chordal_host_close. */
#define chordal_host_open chordal_host_open_abi1
CHORDAL_API int chordal_host_open(const chordal_host_options *options, CHORDAL_OWN chordal_host **out,
                                  chordal_error *error);

/* Close a host: what was committed is written to the store, every call still waiting is dropped, links are cut without
 * a bye (see chordal_link_close). NULL is allowed. The handle stays valid for chordal_release until every id that the
 * program still owns is given back, so things may be closed in any order; the last one frees it. Events are not polled
 * any more. */
CHORDAL_API void chordal_host_close(CHORDAL_OWN chordal_host *host);

/* Close a host and give back every id with it, on the host's own thread: for a program that uses the handle no more,
 * not even for chordal_release. NULL is allowed. */
CHORDAL_API void chordal_host_forget(CHORDAL_OWN chordal_host *host);

/* Give back an id: a reference, watch, link, call, ticket or part. Any thread, any time, also from a finalizer while
 * the core is at work: it takes effect at the host's next turn. 0 and ids given back before are ignored. Releasing a
 * call that this host made cancels it; one that it serves answers CANCELLED to its caller. */
CHORDAL_API void chordal_release(chordal_host *host, chordal_id id);

/* One turn: fill `buffer` (8-byte aligned) with event records (record.h). `now` is the caller's clock and never goes
 * back. `out_len` is what was written; 0 means that nothing is left. With ROOM it is the size that the next record
 * needs. A poll hands out at most 64 new calls of one session, 4 when there are other
 * sessions, so that what these ask is answered in between. */
CHORDAL_API int chordal_host_poll(chordal_host *host, chordal_time now, uint8_t *buffer, size_t buffer_len,
                                  size_t *out_len, chordal_error *error);

/* When to poll next if nothing is fed or called before: 0 for now, CHORDAL_NEVER for never. */
CHORDAL_API chordal_time chordal_host_deadline(chordal_host *host);

/* The bytes of a part that an event named; borrowed until chordal_release(host, part). */
CHORDAL_API int chordal_part_view(chordal_host *host, chordal_id part, const uint8_t **out_data, size_t *out_len);

/* The host's random name as 16 bytes: its run. */
CHORDAL_API int chordal_host_run(chordal_host *host, uint8_t *out16);

/* COUNT(name): what the structural promises are tested on. All but the `live_` ones only grow. */
#define CHORDAL_COUNTERS(COUNT)                                                                                        \
    COUNT(live_bytes)  /* memory in use */                                                                             \
    COUNT(live_blocks) /* and its blocks */                                                                            \
    COUNT(live_ids)    /* ids in use, of any kind */                                                                   \
    COUNT(live_objects)                                                                                                \
    COUNT(live_sessions) /* both as provider and as consumer */                                                        \
    COUNT(live_lost)     /* of these: lost, and may come back */                                                       \
    COUNT(allocations)                                                                                                 \
    COUNT(entries) /* calls into the host */                                                                           \
    COUNT(commits)                                                                                                     \
    COUNT(batches)                                                                                                     \
    COUNT(computes)        /* derives computed */                                                                      \
    COUNT(frames)          /* frames handed out */                                                                     \
    COUNT(folds)           /* batches merged into a waiting frame or change */                                         \
    COUNT(changes_encoded) /* one per stream, commit and part encoding */                                              \
    COUNT(snapshots_encoded)                                                                                           \
    COUNT(parts_parsed)                                                                                                \
    COUNT(parts_forwarded) /* by routes, unparsed */                                                                   \
    COUNT(messages_in)                                                                                                 \
    COUNT(messages_out)                                                                                                \
    COUNT(bytes_in)                                                                                                    \
    COUNT(bytes_out)                                                                                                   \
    COUNT(bytes_copied_out) /* copied for an edge that cannot send scattered pieces */                                 \
    COUNT(calls_run)                                                                                                   \
    COUNT(windows_full)  /* times a session had to wait for its reader */                                              \
    COUNT(reconnects)    /* times a link that connects was up again */                                                 \
    COUNT(sessions_back) /* sessions that came back after a drop, at the provider */                                   \
    COUNT(questions)     /* asked of the program: where an object is */                                                \
    COUNT(deflates)      /* bodies that were tried: once each, however many are sent them */                           \
    COUNT(inflates)      /* parts, where they are for this host; routes have none */                                   \
    COUNT(steps)         /* transactions of the store */                                                               \
    COUNT(statements)    /* of SQLite, begin and commit included */

#define CHORDAL_COUNTER_FIELD(name) uint64_t name;
typedef struct chordal_counters {
    CHORDAL_COUNTERS(CHORDAL_COUNTER_FIELD)
} chordal_counters;
#undef CHORDAL_COUNTER_FIELD

/* Read the counters. `counters_len` is sizeof(chordal_counters) as the caller knows it; a shorter one gets a prefix. */
CHORDAL_API int chordal_host_counters(chordal_host *host, chordal_counters *counters, size_t counters_len);

#endif
