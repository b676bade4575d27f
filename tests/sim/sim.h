/* sim.h: any number of hosts on a hostile network in virtual time, driven by a plan that one seed makes.
 *
 * plan.c      a plan: a seed, a number of hosts and a list of steps; made, written in one line, read
 * schedule.c  virtual time: what happens next
 * network.c   connections with delay, throttle, freezes and cuts
 * edge.c      ties the connections to the links of hosts
 * world.c     hosts: clocks, memory, restarts, turns
 * program.c   the programs at the hosts: what they do with their events
 * reader.c    references and watches, and the copies that are made from frames
 * work.c      what a step does: commits, calls, holds
 * fault.c     what a step breaks
 * access.c    who is let in, and what is taken back
 * guard.c     what who was let in may hold and call
 * place.c     hosts whose program says where objects are, and says it late, wrongly, twice or never
 * worker.c    hosts that are processes of another one: started when they are wanted, slow, short-lived
 * disk.c      disks under the stores of hosts: they lose what was not synced, are full, fail, are copied
 * store.c     hosts with a store: what must be in it when they are opened again
 * outbox.c    and in its outbox
 * hostile.c   peers that say anything
 * check.c     the oracle: what each provider had, and what each reader may see
 * quiet.c     all faults healed: what must be so in the end
 * run.c       one plan from its beginning to its end
 * minimise.c  a failing plan made small */
#ifndef CHORDAL_TESTS_SIM_H
#define CHORDAL_TESTS_SIM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chordal.h"
#include "chordal/authority.h"
#include "chordal/dispatch.h"
#include "wire/wire.h"

/* What the core can by now: the expectations that hang on it. */
#define SIM_HOPS 4             /* links between a reader and its provider, at most */
#define SIM_OFFERS_FALL_BACK 1 /* when a route's link ends, one that offered the type before it takes its place */

/* ---- chance ---- */

typedef struct sim_random {
    uint64_t state;
} sim_random;
uint64_t sim_next(sim_random *random);
uint32_t sim_draw(sim_random *random, uint32_t below);
sim_random sim_stream(uint64_t seed, uint64_t a, uint64_t b); /* the same for the same numbers */

/* ---- plan.c ---- */

/* STEP(name, weight, fault): a fault class is left out of some plans. Those without a weight are of worlds with places
 * or with stores. */
#define SIM_STEPS(STEP)                                                                                                \
    STEP(commit, 40, 0)                                                                                                \
    STEP(call, 24, 0)                                                                                                  \
    STEP(cancel, 3, 0)                                                                                                 \
    STEP(hold, 8, 0)                                                                                                   \
    STEP(release, 5, 0)                                                                                                \
    STEP(reset, 2, 0)                                                                                                  \
    STEP(retire, 1, 1)                                                                                                 \
    STEP(cut, 5, 1)                                                                                                    \
    STEP(half, 4, 2)                                                                                                   \
    STEP(freeze, 4, 3)                                                                                                 \
    STEP(throttle, 3, 4)                                                                                               \
    STEP(delay, 3, 4)                                                                                                  \
    STEP(part, 2, 5)                                                                                                   \
    STEP(restart, 2, 6)                                                                                                \
    STEP(pause, 3, 7)                                                                                                  \
    STEP(jump, 2, 8)                                                                                                   \
    STEP(starve, 3, 9)                                                                                                 \
    STEP(slow, 3, 10)                                                                                                  \
    STEP(bye, 2, 11)                                                                                                   \
    STEP(dial, 2, 1)                                                                                                   \
    STEP(hostile, 5, 12)                                                                                               \
    STEP(revoke, 3, 13)                                                                                                \
    STEP(rule, 4, 14)                                                                                                  \
    STEP(place, 0, 0)                                                                                                  \
    STEP(work, 0, 0)                                                                                                   \
    STEP(die, 0, 0)                                                                                                    \
    STEP(stop, 0, 0)                                                                                                   \
    STEP(shut, 0, 0)                                                                                                   \
    STEP(power, 0, 0)                                                                                                  \
    STEP(copy, 0, 0)                                                                                                   \
    STEP(swap, 0, 0)                                                                                                   \
    STEP(disk, 0, 0)
#define SIM_STEP_ENUM(name, weight, fault) SIM_##name,
enum { SIM_STEPS(SIM_STEP_ENUM) SIM_STEP_END };
#undef SIM_STEP_ENUM
#define SIM_FAULTS 15

typedef struct sim_step {
    uint32_t kind, at, a, b, x; /* at: ms from the beginning; x: its own seed */
} sim_step;
typedef struct sim_plan {
    uint64_t seed;
    uint32_t hosts;
    size_t len;
    sim_step *steps;
} sim_plan;
typedef struct sim_kind {
    bool deep, places, stores;
} sim_kind;
void sim_plan_make(sim_plan *plan, uint64_t seed, sim_kind kind);
void sim_plan_free(sim_plan *plan);
void sim_plan_copy(sim_plan *to, const sim_plan *from);
void sim_plan_write(const sim_plan *plan, FILE *out);
bool sim_plan_read(sim_plan *plan, const char *text);
bool sim_plan_uses(const sim_plan *plan, uint32_t kind);

/* ---- schedule.c ---- */

enum {
    SIM_DO_STEP,
    SIM_DO_WAKE,    /* a host's deadline */
    SIM_DO_DELIVER, /* a frame, or the news of the end, reaches the other end */
    SIM_DO_PIECE,   /* or a piece of one that takes long */
    SIM_DO_ACCEPT,  /* a dialled connection reaches the acceptor */
    SIM_DO_READY,   /* and the connector learns of it */
    SIM_DO_REFUSE,
    SIM_DO_DRAIN, /* a closing end waited long enough */
    SIM_DO_THAW,
    SIM_DO_ANSWER,
    SIM_DO_COMPUTE,
    SIM_DO_TAKE,
    SIM_DO_RETRY,
    SIM_DO_RESUME,
    SIM_DO_RELINK,
    SIM_DO_START,
    SIM_DO_ADMIT,
    SIM_DO_LEAVE,
    SIM_DO_JUDGE,
    SIM_DO_RESOLVE,
    SIM_DO_WORKER
};
typedef struct sim_event {
    uint64_t at, serial;
    uint32_t kind;
    uint64_t a, b;
} sim_event;
typedef struct sim_schedule {
    sim_event *events;
    size_t len, capacity;
    uint64_t serial;
} sim_schedule;

/* ---- the oracle's memory ---- */

#define SIM_STATES 4 /* documents a and b, the document that names the provider's life, the derive of a */
enum { SIM_A, SIM_B, SIM_LIFE, SIM_C };
#define SIM_BOARDS 3
#define SIM_TYPES 2 /* t: kept, with a derive; u: made and retired by its holds */
#define SIM_OBJECTS (SIM_TYPES * SIM_BOARDS)

typedef struct sim_entry {
    uint64_t number; /* of the commit that made it */
    uint64_t serial; /* among all commits of the world; 0: in a host without a store */
    uint64_t digest[SIM_STATES];
} sim_entry;
typedef struct sim_object {
    chordal_id id; /* 0: none now */
    sim_entry *entries;
    size_t len, capacity;
} sim_object;
/* Of a host with a store: a commit that was not told yet, */
typedef struct sim_pending {
    chordal_id ticket;
    uint64_t serial, number; /* number 0: it is not visible yet */
    uint32_t objects, run;   /* and which run of a call it is of */
    bool writes;             /* to the store */
    uint64_t call;           /* index + 1 */
    uint64_t digests[SIM_OBJECTS][SIM_STATES];
} sim_pending;
/* what a durable call did, */
typedef struct sim_effect {
    uint64_t call, number; /* index + 1, and its commit */
    uint32_t run;
} sim_effect;
/* and the end of an object's documents, behind a commit. */
typedef struct sim_ended {
    int object;
    uint64_t number;
} sim_ended;
/* A host from its opening to its close. */
typedef struct sim_life {
    uint32_t serial;
    uint64_t commits;
    bool starved;
    uint32_t allowed; /* objects that somebody was let hold, or that are held here */
    sim_object objects[SIM_OBJECTS];
    chordal_id *tickets; /* by the number of their commit - 1 */
    size_t tickets_capacity, tickets_told;
    /* with a store: the history that it goes on in */
    size_t parent;      /* an earlier life of the host */
    uint64_t inherited; /* whose commits up to this one are of this history; 0: none */
    bool troubled;      /* its disk failed at times */
    bool partial;       /* not all of the history is known: its disk failed while one was closed */
    sim_pending *pending;
    size_t pending_len, pending_capacity;
    sim_effect *effects;
    size_t effects_len, effects_capacity;
    sim_ended *ended;
    size_t ended_len, ended_capacity;
} sim_life;

/* ---- disks ---- */

#define SIM_DISK_NAME "simulated"
#define SIM_FILES 3 /* the store, its log, its journal */
enum {
    SIM_DISK_READS = 1,
    SIM_DISK_WRITES = 2,
    SIM_DISK_SYNCS = 4,
    SIM_DISK_LOCKS = 8,
    SIM_DISK_OPENS = 16,
    SIM_DISK_FULL = 32
};
typedef struct sim_file sim_file;
typedef struct sim_disk {
    char path[96]; /* "": none is named so */
    sim_file *files[SIM_FILES];
    uint32_t faults, fails_one_in;
    sim_random random;
} sim_disk;
/* What must be in a store: the history of a life up to some commit. */
typedef struct sim_expected {
    bool nothing;
    size_t life;
    uint64_t least, most;
    bool some; /* of those between each may be there or not */
} sim_expected;
enum { SIM_KILLED, SIM_SHUT, SIM_POWERLESS };
typedef struct sim_store {
    bool used, outbox, rows, hurries;
    bool memory; /* objects of the second type are in memory alone */
    uint32_t durability, ending, openings, deltas, history;
    uint64_t troubled_until;
    sim_disk disk, copy;
    sim_expected expected, copied;
    bool has_copy;
} sim_store;

/* ---- hosts ---- */

#define SIM_HOSTS 8   /* of a plan */
#define SIM_WORKERS 3 /* that come to them */
#define SIM_ALL_HOSTS (SIM_HOSTS + SIM_WORKERS)
typedef struct sim_memory {
    int64_t live_blocks, live_bytes;
    uint32_t fails_one_in; /* 0: none */
    sim_random random;
} sim_memory;
typedef struct sim_host {
    int index;
    chordal_host *host; /* NULL: down */
    sim_memory memory;
    sim_random entropy;
    chordal_id types[SIM_TYPES];
    uint64_t offset;  /* of its clock */
    uint64_t wake_at; /* of the one wake that counts */
    uint64_t paused_until, slow_until, apart_until, starved_until;
    uint32_t slow_every, spins;
    bool polling;
    uint32_t computing; /* derives that are asked for: nothing else is told meanwhile */
    sim_store store;
    sim_life *lives;
    size_t lives_len;
} sim_host;

/* ---- network ---- */

typedef struct sim_frame {
    struct sim_frame *next;
    uint64_t begin, arrive; /* its first byte and its last one */
    uint32_t kind;
    size_t len;
    uint8_t data[];
} sim_frame;
typedef struct sim_end {
    int host;
    uint32_t life;
    chordal_id link;
    bool up; /* this end believes in the transport */
    bool draining, told_closed, shown;
    /* what goes out from here */
    sim_frame *first, *last;
    size_t bytes;
    uint64_t free_at, arrive;
    bool frozen, fin;
} sim_end;
typedef struct sim_conn {
    uint64_t serial;
    int spec;
    sim_end ends[2]; /* the connector's, the acceptor's */
    uint32_t delay, jitter, rate;
    size_t buffer;
    bool opening;   /* dialled, and no answer yet */
    bool mute;      /* nor will there be one */
    bool broken;    /* nothing that is sent arrives */
    bool borrows;   /* pieces are sent as they lie, one frame at a time */
    uint32_t shown; /* the number in the credentials that its connector shows */
    sim_random random;
} sim_conn;
/* Who connects to whom. */
typedef struct sim_spec {
    int from, to;
    uint32_t codec, flags_from, flags_to;
    chordal_id link; /* the connector's; 0: none now */
    uint32_t dialled;
    uint32_t shown;       /* the number in the credentials that the link has */
    uint64_t dial;        /* the connection that is waited for; 0: none */
    uint32_t epoch;       /* of the authority that the acceptor gives */
    uint32_t delay, rate; /* of new connections; set by faults */
    uint64_t delay_until, rate_until;
    bool idle; /* a worker's that nobody wants yet */
} sim_spec;
#define SIM_SPECS 20

/* ---- programs ---- */

enum { SIM_PLAIN, SIM_WATCH, SIM_MANUAL, SIM_KEPT, SIM_KEPT_MANUAL, SIM_MODES };
#define SIM_READERS 40
typedef struct sim_reader {
    bool used, open;
    int host, spec;  /* spec -1: of the host itself */
    bool reverse;    /* the acceptor holds objects of who connected */
    chordal_id link; /* that carries the reference */
    int32_t code;    /* why it failed */
    int target, object;
    bool placed;         /* of the host itself, which is told where the object is */
    uint32_t mode, take; /* ms until a manual reader takes; 0: never before the quiet */
    uint32_t life;       /* of its host */
    chordal_id reference, watch;
    int32_t state;
    uint32_t serial; /* of the reference */
    uint64_t opened;
    uint32_t calls;
    uint64_t run_last;    /* the last call of this reference that ran, */
    uint64_t run_session; /* in which session */
    uint32_t run_life;    /* of which life of the provider */
    bool retrying, taking;
    /* what frames told */
    chordal__node *copy[SIM_STATES];
    bool told[SIM_STATES];
    uint64_t commit[SIM_STATES];
    size_t at_life[SIM_STATES];
    uint32_t revoked_life; /* of the provider, when it took the authority back; 0: it did not */
    uint64_t revoked_cut;
    bool revoked_far; /* not where its link ends: it may begin anew there, once it knows */
    /* what the values in the core were */
    size_t life_seen;
    uint64_t low; /* the least cut that they can be of */
} sim_reader;

/* A call may run more than once. */
#define SIM_TIMES 8
typedef struct sim_ran {
    uint32_t life;   /* of its provider */
    uint64_t commit; /* that it made; 0: none, or none that is visible */
    bool answered;   /* its program did, */
    bool failed;     /* and heard later that a commit of it failed */
} sim_ran;
typedef struct sim_call {
    uint32_t reader, reference; /* and the reference's serial */
    uint32_t number;            /* among the calls of the reference */
    int host;
    uint32_t life; /* of the caller */
    chordal_id id;
    uint64_t started;
    bool idempotent, durable, cancelled, timed, released, answered;
    uint32_t settled, runs;
    sim_ran ran[SIM_TIMES]; /* the first ones */
} sim_call;

/* A method that runs, or a compute: answered later. */
typedef struct sim_running {
    bool used, compute;
    int host;
    uint32_t life;
    chordal_id id;
    int object;
    uint64_t call; /* index of sim_call + 1; 0: a stranger's */
    uint32_t run;  /* which of its runs */
    uint64_t effect, digest;
} sim_running;
#define SIM_RUNNING 4096
#define SIM_CALL_NAME (UINT64_C(1) << 40) /* calls are named by numbers above this, which no stranger guesses */

/* A rule of a host's program, and a question that it did not answer yet. */
enum { SIM_HOLDS, SIM_RUNS, SIM_AGAINS, SIM_WHATS };
#define SIM_NOBODY (-1)
#define SIM_STRANGER (-2)
typedef struct sim_rule {
    int host, object, who; /* who: a host that was let in, or SIM_NOBODY */
    uint32_t what;
    uint64_t since;
} sim_rule;
typedef struct sim_asked {
    bool used;
    int host, object, who;
    uint32_t what;
    chordal_id id;
} sim_asked;
#define SIM_RULES 64
#define SIM_ASKED 512

/* A process of another host. Its boards are those whose turn is its own. */
typedef struct sim_worker {
    int host, parent, spec, family, turn; /* family: the first of the same parent, by which their types are named */
    uint64_t start_timeout, ready_at, mood_until;
    uint32_t mood, run, failures, restarts; /* run: which process, or the time after it */
    bool running, wanted;                   /* the process; the link waits for one */
    chordal_id link;                        /* the process's own end */
} sim_worker;
/* A question where an object is, and how its program answers. */
typedef struct sim_question {
    bool used;
    int host, object;
    uint32_t how, tries;
    chordal_id id;
    sim_worker *worker; /* where it is */
} sim_question;
typedef struct sim_mood {
    uint32_t how;
    uint64_t until;
} sim_mood;
#define SIM_QUESTIONS 512

typedef struct sim_hostile sim_hostile;
#define SIM_HOSTILES 3

typedef struct sim_world {
    const sim_plan *plan;
    const char *folder; /* for the locks beside stores */
    uint64_t now;
    bool quiet, closing, tracing;
    bool limited;       /* some hosts take only small messages */
    bool stored;        /* some hosts have a store */
    bool guarded;       /* programs are asked who may hold and call, look at credentials, and refuse some */
    bool many_ways;     /* some host reaches others over two */
    uint64_t trace;     /* hash */
    char failure[512];  /* empty: none */
    uint64_t last_loss; /* when something was lost that may leave outcomes unknown */
    bool any_loss;
    sim_schedule schedule;
    sim_host hosts[SIM_ALL_HOSTS];
    int hosts_len; /* with the workers, which are the last */
    uint32_t lives;
    sim_spec specs[SIM_SPECS];
    int specs_len;
    sim_conn **conns;
    size_t conns_len, conns_capacity;
    uint64_t conn_serial;
    sim_reader readers[SIM_READERS];
    uint32_t references;
    sim_call *calls;
    size_t calls_len, calls_capacity;
    sim_running running[SIM_RUNNING];
    sim_rule rules[SIM_RULES];
    uint32_t rules_len;
    sim_asked asked[SIM_ASKED];
    sim_worker workers[SIM_WORKERS];
    int workers_len;
    int second, second_spec; /* another host that places the first parent's types, and its link to it; -1: none */
    sim_mood moods[SIM_ALL_HOSTS];
    sim_question questions[SIM_QUESTIONS];
    uint32_t questions_next;
    uint64_t edits; /* numbers all commits of all hosts */
    sim_hostile *hostiles[SIM_HOSTILES];
    chordal__memory *memory; /* of the copies */
    uint64_t frames, checks, happened;
    size_t most_bytes;
} sim_world;

void sim_later(sim_world *w, uint64_t span, uint32_t kind, uint64_t a, uint64_t b);
bool sim_happens(sim_world *w, sim_event *out); /* false: nothing more will */
/* The first failure counts; it ends the run. */
void sim_fail(sim_world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of the trace. */
void sim_note(sim_world *w, const char *what, uint64_t a, uint64_t b, uint64_t c);
void sim_note_bytes(sim_world *w, const uint8_t *data, size_t len);

/* ---- world.c ---- */
void sim_world_open(sim_world *w, const sim_plan *plan);
void sim_world_close(sim_world *w);
void sim_host_open(sim_world *w, int host);
void sim_host_close(sim_world *w, int host); /* without a word; nothing may be left of it */
bool sim_host_runs(const sim_world *w, int host);
uint64_t sim_host_now(const sim_world *w, int host);
sim_life *sim_host_life(sim_world *w, int host);
sim_life *sim_life_new(sim_world *w, int host);
bool sim_host_is(const sim_world *w, int host, uint32_t life); /* still the same */
void sim_host_turn(sim_world *w, int host);                    /* its program polls, now or when it gets to it */
void sim_host_wake(sim_world *w, int host, uint64_t at);

/* ---- disk.c ---- */
void sim_disks_mount(sim_world *w);  /* those of its hosts have their names; NULL: of none */
void sim_disk_leave(sim_disk *disk); /* whoever has it open has it no more */
void sim_disk_cut(sim_disk *disk, sim_random *random);
void sim_disk_empty(sim_disk *disk);
void sim_disk_copy(sim_disk *to, const sim_disk *from);
void sim_disk_note(sim_world *w, const sim_disk *disk); /* in the trace */

/* ---- store.c ---- */
void sim_stores_draw(sim_world *w);
void sim_stores_close(sim_world *w);
bool sim_persisted(const sim_world *w, int host, int object); /* its documents are in a store */
void sim_store_found(sim_world *w, int host); /* a life for a host that was opened, with what it found */
void sim_store_begun(sim_world *w, int host); /* its program may go on at once */
void sim_store_leave(sim_world *w, int host); /* it is going to be closed */
void sim_store_ticket(sim_world *w, int host, const chordal_event_TICKET *event);
void sim_store_settle(sim_world *w, int host); /* what became visible of what is pending */
void sim_store_commit(sim_world *w, int host, const sim_pending *pending);
void sim_store_retired(sim_world *w, int host, int object);
void sim_store_made(sim_world *w, int host, int object);
void sim_outbox_check(sim_world *w, int host);
void sim_store_step(sim_world *w, const sim_step *step);
void sim_store_check_run(sim_world *w, uint64_t call, int host);
void sim_store_check_end(sim_world *w);
/* Up to which commit of one life the history of another is the same; 0: not at all. */
uint64_t sim_shared(const sim_host *host, size_t earlier, size_t later);

/* ---- network.c, edge.c ---- */
sim_conn *sim_conn_of(sim_world *w, uint64_t serial);
sim_conn *sim_conn_any(sim_world *w, uint32_t which); /* one that has an end up; NULL: none */
void sim_conn_send(sim_world *w, sim_conn *conn, int end, uint32_t kind, const uint8_t *data, size_t len);
void sim_conn_freeze(sim_conn *conn, int end);
void sim_conn_thaw(sim_world *w, sim_conn *conn, int end);
void sim_conn_deliver(sim_world *w, sim_conn *conn, int end);
void sim_conn_piece(sim_world *w, sim_conn *conn, int end);
void sim_conn_fin(sim_world *w, sim_conn *conn, int end); /* the other end learns of it in its time */
void sim_conn_drop(sim_conn *conn, int end);              /* what is under way from this end never arrives */
void sim_conns_pass(sim_world *w, int host);              /* what waited for this host goes on */
void sim_conns_sweep(sim_world *w);                       /* forget those without an end */

void sim_spec_link(sim_world *w, int spec); /* the connector opens its link */
void sim_dial(sim_world *w, int spec);
void sim_connect(sim_world *w, int spec, bool may_be_mute);
void sim_accept(sim_world *w, sim_conn *conn);
void sim_ready(sim_world *w, sim_conn *conn);
void sim_refuse(sim_world *w, sim_conn *conn);
void sim_arrived(sim_world *w, sim_conn *conn, int end, const sim_frame *frame); /* at this end */
void sim_pump(sim_world *w, sim_conn *conn, int end);
void sim_end_lost(sim_world *w, sim_conn *conn, int end); /* this end notices that the transport is gone */
void sim_end_drained(sim_world *w, sim_conn *conn, int end);
void sim_edge_link(sim_world *w, int host, const chordal_event_LINK *event);
void sim_edge_output(sim_world *w, int host, chordal_id link);
chordal_id sim_accepted_link(const sim_world *w, int spec); /* the newest that is up at the acceptor; 0: none */

/* ---- program.c ---- */
void sim_program_event(sim_world *w, int host, const chordal_record *record);
void sim_answer(sim_world *w, uint64_t running);
void sim_compute(sim_world *w, uint64_t running);
void sim_start(sim_world *w, int host, chordal_id object); /* an object that waits for its program goes live or fails */
bool sim_starts(const sim_world *w, int host, int type);   /* whether objects of the type wait so */
const uint8_t *sim_part(sim_world *w, int host, const chordal_record *record, const chordal_part *part,
                        size_t *out_len);
int sim_object_of(const sim_world *w, int host, chordal_id type, const uint8_t *params, size_t len); /* -1: none */
int sim_board_of(const uint8_t *params, size_t len);

/* ---- reader.c ---- */
void sim_reader_open(sim_world *w, sim_reader *reader);
void sim_reader_close(sim_world *w, sim_reader *reader);
void sim_reader_forget(sim_world *w, sim_reader *reader); /* its host is gone */
void sim_reader_event(sim_world *w, int host, const chordal_event_REFERENCE *event);
void sim_reader_frame(sim_world *w, int host, const chordal_event_FRAME *event);
void sim_reader_take(sim_world *w, sim_reader *reader);
void sim_reader_retry(sim_world *w, sim_reader *reader);
uint32_t sim_states(const sim_reader *reader);
bool sim_reader_kept(const sim_reader *reader);
/* Ops of one member, on a value of which the first may make something. */
int sim_patch(chordal__memory *memory, chordal__node **value, uint32_t member, uint8_t encoding, const uint8_t *data,
              size_t len);
void sim_address(const sim_world *w, int host, int object, char type[8], char params[64]);
/* The digests of the values that the core has; false: none. */
bool sim_reader_digests(sim_world *w, const sim_reader *reader, uint64_t *out, uint64_t *out_life);

/* ---- work.c, fault.c, hostile.c ---- */
void sim_step_do(sim_world *w, const sim_step *step);
/* Whether what is at the other end of these links is reached at a host, and which end that is. */
bool sim_leads(const sim_spec *spec, int host);
int sim_other(const sim_spec *spec, int host);
uint32_t sim_flags_at(const sim_spec *spec, int host);
void sim_fault_do(sim_world *w, const sim_step *step);
/* One commit on some objects of a host, in the name of a call or of nobody: its number; 0: there is none, or, in a host
 * with a store, none yet. */
typedef struct sim_made {
    uint64_t call; /* index + 1 */
    uint32_t run;
} sim_made;
uint32_t sim_rows(int object); /* the table of its type */
uint64_t sim_commit(sim_world *w, int host, chordal_id call, uint32_t objects, const sim_made *made,
                    sim_random *random);
void sim_hostile_do(sim_world *w, const sim_step *step);
void sim_hostile_leave(sim_world *w, int host); /* -1: all */
bool sim_hostile_event(sim_world *w, int host, chordal_id link);

/* ---- access.c ---- */
void sim_asked_who(sim_world *w, int host, const chordal_event_AUTHENTICATE *event);
void sim_admit(sim_world *w, int host, chordal_id link);
void sim_revoke(sim_world *w, const sim_step *step);
void sim_leave(sim_world *w, int spec, chordal_id link); /* a link whose authority was taken back */

void sim_show(sim_world *w, int spec); /* its link gets new credentials */

/* ---- guard.c ---- */
bool sim_guarded(const sim_world *w, int host, int type);
uint64_t sim_guard_timeout(const sim_world *w, int host);
int sim_who(const uint8_t *packed, size_t len); /* whose authority it is */
/* As whom a reader's session is known where its target is; false: it cannot be told. */
bool sim_reader_who(const sim_world *w, const sim_reader *reader, int *out);
/* Whether a rule has forbidden this to it since before this time. */
bool sim_forbidden(const sim_world *w, const sim_reader *reader, uint32_t what, uint64_t since);
void sim_rule_step(sim_world *w, const sim_step *step);
void sim_rule_add(sim_world *w, int host, int object, int who, uint32_t what);
void sim_asked_may(sim_world *w, int host, const chordal_event_GUARD *event);
void sim_judge(sim_world *w, uint64_t asked);
void sim_asked_forget(sim_world *w, int host); /* it is gone */
void sim_asked_heal(sim_world *w);

/* ---- place.c ---- */
int sim_family(const sim_world *w, int host);                              /* the number in the names of its types */
sim_worker *sim_place_of(sim_world *w, int family, int object);            /* NULL: the family is not placed */
int sim_object_at(sim_world *w, int host, int object);                     /* it, or the next one that is there */
void sim_places_draw(sim_world *w);                                        /* a world's second host that places */
void sim_places_open(sim_world *w, int host);                              /* which has just been opened */
bool sim_own_target(sim_world *w, sim_reader *reader, sim_random *random); /* a placed one; false: none */
bool sim_reads_here(const sim_reader *reader);                             /* an object of its own host */
chordal_id sim_link_to(sim_world *w, int host, const sim_worker *worker);  /* 0: none now */
uint64_t sim_resolve_timeout(const sim_world *w, int host);
void sim_asked_where(sim_world *w, int host, const chordal_event_RESOLVE *event);
void sim_resolve(sim_world *w, uint64_t question);
void sim_place_step(sim_world *w, const sim_step *step);
void sim_questions_forget(sim_world *w, int host); /* it is gone */
void sim_questions_heal(sim_world *w);

/* ---- worker.c ---- */
void sim_workers_open(sim_world *w);
sim_worker *sim_worker_at(sim_world *w, int host);            /* NULL: no worker */
bool sim_worker_rests(const sim_world *w, int host);          /* a worker without a process */
bool sim_worker_dialled(sim_world *w, int spec);              /* its link wants a process; false: no worker's */
void sim_worker_link(sim_world *w, int spec, uint32_t state); /* what its parent hears of its link */
void sim_worker_own(sim_world *w, int host, chordal_id link, bool there); /* and the worker of its own end */
void sim_worker_want(sim_world *w, sim_worker *worker);                   /* it has a link, from now on */
void sim_worker_due(sim_world *w, int host, uint64_t what);
void sim_worker_orphan(sim_world *w, int parent);
void sim_worker_kill(sim_world *w, sim_worker *worker);
void sim_work_step(sim_world *w, const sim_step *step);
void sim_die_step(sim_world *w, const sim_step *step);
void sim_stop_step(sim_world *w, const sim_step *step);

/* ---- check.c ---- */
void sim_check_began(sim_life *life);
void sim_check_commit(sim_life *life, int object, uint64_t number, uint64_t serial, const uint64_t *digests);
const sim_entry *sim_entry_at(const sim_object *object, uint64_t cut);
const sim_entry *sim_entry_like(const sim_object *object, const uint64_t *digests);
void sim_check_ticket(sim_world *w, int host, const chordal_event_TICKET *event);
void sim_check_frame(sim_world *w, sim_reader *reader, uint32_t member, uint64_t commit);
void sim_check_sessions(sim_world *w, int host, chordal_id link); /* after something came over it */
void sim_check_copies(sim_world *w, int host);                    /* all frames were polled */
void sim_check_allowed(sim_world *w, const sim_reader *reader);   /* it was told of its object */
void sim_check_run(sim_world *w, uint64_t call, int host, uint64_t session);
void sim_check_caller(sim_world *w, uint64_t call, int host, chordal_id id); /* as whom it runs */
/* What the value names: the call, and which of its runs it is of; 0: the words were lost for want of memory. */
void sim_check_result(sim_world *w, sim_call *call, const chordal_event_RESULT *event, uint64_t name, uint64_t run);
void sim_check_memory(sim_world *w, int host);
void sim_lost(sim_world *w);                       /* something was lost that may leave outcomes unknown */
uint64_t sim_derived(uint64_t digest, char *text); /* of the derive, from the digest of a; text: 24 bytes */

/* ---- quiet.c, run.c, minimise.c ---- */
void sim_come_to_quiet(sim_world *w);
typedef struct sim_outcome {
    bool failed;
    uint64_t trace, frames, checks;
    size_t bytes; /* the most that a host held */
    char failure[512];
} sim_outcome;
void sim_folder_make(void); /* of the whole program */
void sim_folder_remove(void);
void sim_run(const sim_plan *plan, bool tracing, sim_outcome *out);
void sim_run_until(sim_world *w, uint64_t until);
/* In a process of its own, which may crash or hang. */
void sim_run_apart(const sim_plan *plan, sim_outcome *out);
void sim_minimise(sim_plan *plan, sim_outcome *out);

#endif
