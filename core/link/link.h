/* link.h: the protocol machine: links, the sessions on them in both roles, streams, routes. */
#ifndef CHORDAL_CORE_LINK_H
#define CHORDAL_CORE_LINK_H

#include "object/object.h"

typedef struct chordal__link chordal__link;
typedef struct chordal__links chordal__links;
typedef struct chordal__provider chordal__provider;
typedef struct chordal__consumer chordal__consumer;
typedef struct chordal__stream chordal__stream;
typedef struct chordal__hold chordal__hold;
typedef struct chordal__asking chordal__asking;
typedef struct chordal__revoked chordal__revoked;
typedef struct chordal__parted chordal__parted;
typedef struct chordal__forward chordal__forward;

#define CHORDAL__ORIGINS_LIMIT 65536
#define CHORDAL__HOLDS_LIMIT 1000000
#define CHORDAL__SLOTS 256
#define CHORDAL__OFFERS_LIMIT 4096       /* types that one peer offers */
#define CHORDAL__TYPES_LIMIT 65536       /* types that one session asks for */
#define CHORDAL__ASKING_LIMIT 4096       /* holds of one session that wait to be told where their objects are */
#define CHORDAL__CREDENTIALS_LIMIT 65536 /* packed bytes */
#define CHORDAL__REFUSAL_BYTES 95        /* of the reason why a peer is not admitted */
#define CHORDAL__REVOKED_LIMIT 1024      /* sessions that are remembered after they were revoked */
#define CHORDAL__PARTED_LIMIT 1024       /* lost sessions that a host in the middle remembers */
#define CHORDAL__REASON_BYTES 4096       /* of the reason why something was revoked */
#define CHORDAL__WORKED 8                /* times the next wait: so long a way was good that the waits begin anew */
#define CHORDAL__ROUTE_WORDS 8           /* hosts in the middle of one session */
#define CHORDAL__ROUTE_TRIES 4           /* of a session whose route is not known, before it asks at the link's end */

/* ---- links.c: all links of a host ---- */
struct chordal__links {
    chordal__runtime *runtime;
    chordal__list all;
    chordal__map routes;   /* type name → chordal__offered */
    chordal__map sessions; /* session id → chordal__provider */
    chordal__list lost;    /* providers without a link, the oldest first */
    chordal__list flush;   /* providers with something to send, served in turn */
    chordal__list failing; /* links that end with this entry */
    chordal__list touched; /* streams of the batch that is being published */
    chordal__list warm;    /* streams that keep encoded snapshots for this turn */
    chordal__list owing;   /* consumers that took something in this turn */
    chordal__list waiting; /* whose acks wait */
    chordal__deadline acks_due;
    chordal__revoked *revoked; /* NULL: nothing was revoked yet */
    chordal__parted *parted;   /* NULL: no session that passes through was lost yet */
    bool flushing;
    uint64_t sessions_opened;           /* here, since the beginning: each is named by its place in the line */
    chordal__map places;                /* names of types → chordal__place */
    chordal__map questions;             /* type and params → chordal__question */
    chordal__list asked;                /* the same */
    uint32_t draining;                  /* links */
    uint64_t turn_messages, turn_bytes; /* of states and outcomes, sent in this turn */
    uint64_t to_inflate;                /* bytes that the parts of the message that is received may still come to */
    chordal__part whole;                /* the one that was inflated last, */
    chordal__buffer inflated;           /* and its bytes */
};
static inline void chordal__links_begin_turn(chordal__links *links) {
    links->turn_messages = links->turn_bytes = 0;
}
bool chordal__links_owe_turn(const chordal__links *links); /* something is left for the end of the turn */
int chordal__links_init(chordal__links *links, chordal__runtime *runtime);
void chordal__links_dispose(chordal__links *links);
extern const chordal__hooks chordal__links_hooks;
/* The end of an entry: send what waits, end what broke. */
void chordal__links_work(chordal__links *links);
static inline bool chordal__links_wait(const chordal__links *links) {
    return !chordal__list_empty(&links->flush) || !chordal__list_empty(&links->touched) ||
           !chordal__list_empty(&links->failing);
}
static inline void chordal__links_flush(chordal__links *links) {
    if (chordal__links_wait(links)) chordal__links_work(links);
}
/* The end of a turn: acks, links that broke, encoded snapshots that nobody needs any more. */
void chordal__links_turn(chordal__links *links);
static inline bool chordal__links_have_turn(const chordal__links *links) {
    return CHORDAL__SMALL || chordal__links_wait(links) || !chordal__list_empty(&links->owing) ||
           !chordal__list_empty(&links->warm) || links->draining;
}
chordal__link *chordal__links_default(chordal__links *links); /* the first that connects; NULL: none */

/* ---- acks: they say how much was taken, so one says what several would ---- */
#define CHORDAL__ACKS_WAIT (!CHORDAL__SMALL) /* and are asked for; else each turn's go with it */
#define CHORDAL__ACK_DELAY 20                /* ms that one waits at most, */
#define CHORDAL__ACK_UNIT 1024               /* and bytes that may wait for each message of its share, */
#define CHORDAL__ACK_SHARE 64                /* which is no more than so many, */
#define CHORDAL__ACK_QUOTIENT 2 /* and at most this part of what the provider's window takes at its start */
void chordal__links_acks_due(chordal__links *links); /* those that wait go with this turn */

/* ---- origin.c: the numbers of sessions on one link ---- */
enum { CHORDAL__ROLE_PROVIDER = 1, CHORDAL__ROLE_CONSUMER, CHORDAL__ROLE_FORWARD, CHORDAL__ROLE_ENDED };
typedef struct chordal__origin {
    chordal__link *link;
    uint64_t number;
    uint64_t limit; /* of messages sent in it, over all links of its way; 0: that of the link alone */
    uint8_t role;
} chordal__origin;
int chordal__origin_enter(chordal__link *link, chordal__origin *origin,
                          uint64_t number); /* ORDER: taken; LIMIT; NOMEM */
void chordal__origin_leave(chordal__origin *origin,
                           bool ended_sent); /* with ended_sent a mark stays until the peer confirms */
chordal__origin *chordal__origin_get(chordal__link *link, uint64_t number); /* NULL: none; role ENDED: a mark */
uint64_t chordal__origin_free_number(const chordal__link *link);
void chordal__origin_confirmed(chordal__link *link, uint64_t number); /* the peer confirmed the end */
/* The lesser of what a message says and what a link takes, for the hosts that are next. */
uint64_t chordal__origin_lesser(uint64_t limit, const chordal__link *link);

/* ---- link.c ---- */
/* What was heard of the peer last: whole frames; nothing since a ping was sent; a piece of a frame. */
enum { CHORDAL__HEARD_FRAME, CHORDAL__HEARD_NOTHING, CHORDAL__HEARD_PIECE };
struct chordal__link {
    chordal__list node;
    chordal__links *links;
    chordal__runtime *runtime;
    chordal_id id;
    uint32_t flags;
    uint8_t state;
    bool transport, bye_sent, draining;
    uint8_t hearing; /* one of those above */
    bool leaves;     /* its host does: what passes through may come back */
    bool shown;      /* the first frame is borrowed by the edge */
    bool asking;     /* the program is asked whether the peer is admitted */
    int failing;     /* a code: it ends with this entry */
    chordal__list failing_node;
    chordal_time heard_at; /* the last byte */
    uint8_t codec_kind;
    chordal__codec codec;
    chordal__list queue;
    size_t queued;
    chordal__event event, output;
    chordal__reason reason;
    chordal__deadline due, drained_by;
    uint32_t attempts; /* since the transport last worked for long enough */
    chordal_time up_at;
    uint8_t peer_host[16], peer_run[16];
    uint8_t peer_before[16]; /* the host whose place this one took; zeros: none */
    bool peer_newer, was_up;
    uint64_t version; /* of the protocol, once the peer said hello */
    chordal__event admission;
    chordal__body *credentials; /* packed: of a connecting link the info of its hello; else what the peer shows */
    chordal__authority *authority;
    chordal__body *revoked; /* why nothing more is opened on it; NULL: it was not */
    chordal__origin **origins;
    chordal__origin ended_mark;
    size_t origins_capacity;
    chordal__list consumers;
    chordal__list providers;
    chordal__list held;    /* of these: they wait until the queue is shorter */
    chordal__list offered; /* routes to what the peer offers */
    uint32_t offered_len;
    chordal__list awaited; /* questions that are answered with this link, which is not up */
};
/* Whether this side says that it takes deflated parts. */
bool chordal__link_deflates(const chordal__link *link);
chordal_time chordal__backoff(const chordal__settings *settings, uint32_t attempts); /* doubled each time */
int chordal__link_open(chordal__links *links, uint32_t flags, chordal__link **out, chordal_error *error);
void chordal__link_free(chordal__link *link);
int chordal__link_up(chordal__link *link, uint32_t codec, chordal_error *error);
int chordal__link_feed(chordal__link *link, uint32_t frame, const uint8_t *data, size_t len, chordal_error *error);
void chordal__link_progress(chordal__link *link);                                /* a piece of a frame arrived */
void chordal__link_down(chordal__link *link, int code, const char *detail);      /* the transport is gone */
void chordal__link_fail(chordal__link *link, int code, const char *detail);      /* say bye and end the transport */
void chordal__link_break(chordal__link *link, int code);                         /* the same when this entry ends */
void chordal__link_peer_left(chordal__link *link, int code, const char *detail); /* it said bye */
void chordal__link_close(chordal__link *link);
void chordal__link_retry(chordal__link *link);
void chordal__link_due(chordal__link *link);
void chordal__link_told(chordal__link *link);  /* the program knows its state */
void chordal__link_ready(chordal__link *link); /* hands are shaken */

/* ---- drain.c ---- */
void chordal__link_drain(chordal__link *link, chordal_time span);
void chordal__drain_end(chordal__link *link); /* it is closed */
void chordal__links_leave(chordal__links *links, chordal_time span);
void chordal__links_drain(chordal__links *links); /* close those that are done */
void chordal__drain_ask(chordal__link *link);     /* outcomes wait for their acks */
void chordal__drain_refuse(chordal__invocation *invocation);

/* ---- send.c ---- */
/* While so many bytes wait for the edge, sessions wait too: what they have to send is folded meanwhile, and what has
 * nothing to do with them goes soon. */
#define CHORDAL__LINK_BACKLOG 65536
/* Queue a message. What fails breaks the link at the end of the entry; `out_bytes` (may be NULL) is the size of its
 * frames. */
void chordal__send(chordal__link *link, const chordal__message *message, size_t *out_bytes);
/* The same, but what fails changes nothing and is answered. */
int chordal__try_send(chordal__link *link, const chordal__message *message, size_t *out_bytes);
void chordal__send_simple(chordal__origin *origin, uint8_t kind, uint64_t number);
void chordal__send_ended(chordal__origin *origin, int code, const char *reason, size_t reason_len); /* code 0: "" */
/* The size of its frames. A text that is too large is left out, and a name of the program's gives way to `size`. */
size_t chordal__send_text(chordal__origin *origin, uint8_t kind, uint64_t number, const char *code, size_t code_len,
                          const char *text, size_t text_len);
chordal__frame *chordal__link_first_frame(const chordal__link *link); /* NULL: none */
/* Take the first frame out of the queue; the caller gives it back. */
CHORDAL_OWN chordal__frame *chordal__link_pop_frame(chordal__link *link);
void chordal__link_done(chordal__link *link, CHORDAL_OWN chordal__frame *frame);
void chordal__link_sent(chordal__link *link);
void chordal__link_drop_queue(chordal__link *link);
void chordal__link_drop_waiting(chordal__link *link); /* but not the frame that the edge is sending */

/* ---- handshake.c ---- */
uint8_t chordal__link_encoding(const chordal__link *link); /* that of the parts which belong to the link */
int chordal__link_credentials(chordal__link *link, const chordal__body *value, chordal_error *error);
void chordal__handshake_welcome(chordal__link *link);
void chordal__handshake_hello(chordal__link *link);
int chordal__handshake_receive(chordal__link *link, const chordal__message *message, chordal_error *error);

/* ---- admission.c ---- */
int chordal__admission_ask(chordal__link *link, const chordal__part *info, chordal_error *error);
void chordal__admission_told(chordal__link *link);
void chordal__admission_drop(chordal__link *link); /* nobody waits any more */
/* TAKES authority when it succeeds. STATE. */
int chordal__admission_admit(chordal__link *link, CHORDAL_OWN chordal__authority *authority, chordal_error *error);
int chordal__admission_refuse(chordal__link *link, const char *reason, size_t len, chordal_error *error); /* STATE */

/* ---- authority.c ---- */
/* Of a session that an `origin` opens. */
int chordal__session_authority(chordal__link *link, const chordal__message *message,
                               CHORDAL_OWN chordal__authority **out, chordal_error *error);
/* As a part in an encoding; its body is the caller's to unref. NOMEM. */
int chordal__authority_part(chordal__runtime *runtime, const chordal__authority *authority, uint64_t encoding,
                            chordal__part *out);
/* Why a session may not be opened on this link; NULL: it may. */
const chordal__body *chordal__revocation_of(const chordal__link *link, const uint8_t session[16]);
void chordal__revoked_dispose(chordal__links *links);
/* The consumer's side of a session is gone, and it may come back: until it lapses, a revocation reaches it. */
void chordal__session_parted(chordal__forward *near);
int chordal__links_revoke(chordal__links *links, const chordal__authority *authority,
                          chordal__body *reason); /* NOMEM */

/* ---- parts.c: parts deflated and inflated, values between packed form and the encoding of a session ---- */
/* A body deflated; NULL: that does not pay, or there is no memory, and it goes as it is. */
CHORDAL_OWN chordal__body *chordal__body_deflate(chordal__runtime *runtime, const uint8_t *data, size_t len);
/* A part that is sent once: it and its body are replaced, when that pays. */
void chordal__part_deflate(chordal__runtime *runtime, chordal__part *part);
/* A part as it was before it was deflated: itself, or borrowed until the next one is inflated, at most to the end of
 * the message. NULL: NOMEM, TOO_LARGE or a data error, in `error`. */
const chordal__part *chordal__part_whole(chordal__runtime *runtime, const chordal__part *part, chordal_error *error);
void chordal__parts_begin(chordal__links *links); /* of a message that was received */
void chordal__parts_end(chordal__links *links);
/* A value part as packed bytes, inflated and checked. NOMEM or a data error. */
int chordal__part_to_packed(chordal__runtime *runtime, uint8_t encoding, const chordal__part *part,
                            chordal__buffer *out, chordal_error *error);
/* Packed bytes as a part; with binary encoding a slice of `body`, else written into `scratch` and borrowed from there
 * by offset. */
int chordal__part_of_packed(chordal__runtime *runtime, uint8_t encoding, const uint8_t *data, size_t len,
                            chordal__body *body, chordal__part *out);

/* ---- stream.c, stream_log.c: the encoded changes of one object ---- */
#define CHORDAL__STREAM_LOG_WEIGHT (1 << 20)
#define CHORDAL__STREAM_LOG_COUNT 1024
#define CHORDAL__STREAM_BORDERS 256 /* readers at more places than this: the farthest get whole values */
typedef struct chordal__logged {
    uint64_t first, commit; /* what it merges */
    chordal__ops ops;
} chordal__logged;
typedef struct chordal__encoded {
    uint64_t from, to;
    chordal__body *body;
    chordal__body *deflated; /* NULL: not wanted yet, or it does not pay */
    bool tried;
} chordal__encoded;
#define CHORDAL__STREAM_FOLDS 4
struct chordal__stream {
    chordal__observer observer;
    chordal__object *object; /* pinned */
    chordal__list holds;     /* of any session */
    chordal__list aside;     /* of these: they lag, and their sessions take nothing at present */
    chordal__list touched, warm;
    chordal__dictionary dictionary;
    uint64_t last; /* the last commit that changed it */
    uint64_t before_current;
    chordal__ops *current; /* of the batch that is being published */
    uint64_t log_from;     /* the log has every change after this commit */
    chordal__logged *log;
    size_t log_len, log_capacity;
    uint64_t log_weight;
    uint64_t tidy_count, tidy_weight;                   /* where the log is looked through again */
    chordal__encoded changes[2][CHORDAL__STREAM_FOLDS]; /* by part encoding - 1; the last ones made */
    uint32_t next_change[2];
    chordal__encoded snapshots[2];
    chordal__encoded gaps[2]; /* since the runs before; from: what their readers have */
};
chordal__stream *chordal__stream_of(chordal__object *object); /* made when there is none; NULL: no memory */
void chordal__stream_release(chordal__stream *stream);        /* frees it when nothing holds it */
/* What takes a reader from after `from` to now, encoded once for all; borrowed for the turn. NOMEM, SIZE (over the
 * limit of this host). */
int chordal__stream_change(chordal__stream *stream, uint8_t encoding, uint64_t from, chordal__encoded **out);
int chordal__stream_snapshot(chordal__stream *stream, uint8_t encoding, chordal__encoded **out);
/* It as a part, borrowed; deflated once for all that want it so. */
chordal__part chordal__encoded_part(chordal__stream *stream, chordal__encoded *encoded, bool deflate);
/* Ops since `from` as a change, with the definitions that it needs. NOMEM. */
int chordal__stream_encode(chordal__stream *stream, uint8_t encoding, uint64_t from, const chordal__ops *ops,
                           CHORDAL_OWN chordal__body **out);
int chordal__stream_add_whole(const chordal__stream *stream, uint32_t member, chordal__ops *ops); /* a value; NOMEM */
bool chordal__stream_outweighs(const chordal__stream *stream, const chordal__ops *ops); /* they do, what they change */
void chordal__stream_published(chordal__stream *stream); /* all that have room were served */
void chordal__stream_cool(chordal__stream *stream);      /* drop encoded snapshots */
void chordal__stream_clear_log(chordal__stream *stream);
/* Whether the changes after `from` are kept, and no merged one reaches over it. */
bool chordal__stream_has(const chordal__stream *stream, uint64_t from);
/* The newest change that a reader at `from` has seen: readers between two changes share what comes next. */
uint64_t chordal__stream_border(const chordal__stream *stream, uint64_t from);
int chordal__stream_fold(chordal__stream *stream, uint64_t from, chordal__ops *ops); /* what came after; NOMEM */

/* ---- stream_gap.c: readers of runs before ---- */
/* What takes one who has the documents as they were after commit `from`, and nothing else for sure, to now; NULL: that
 * is all so. As the others of a stream; NOT_FOUND: a snapshot says it better. */
int chordal__stream_gap(chordal__stream *stream, uint8_t encoding, uint64_t from, chordal__encoded **out);
/* How a bound tells of the newest commit in the store that an object has: 0: none, else 1 more than what it is before
 * the present cut. */
uint64_t chordal__stream_stored(const chordal__stream *stream);

#define CHORDAL__BOUND_UNCHANGED 0
#define CHORDAL__BOUND_GAP 1
#define CHORDAL__BOUND_SNAPSHOT 2

/* ---- window.c: what a session has under way ---- */
typedef struct chordal__sent {
    uint64_t cut;
    uint32_t bytes, at; /* at: the turn's clock, its low bits */
} chordal__sent;
typedef struct chordal__window {
    chordal__runtime *runtime;
    chordal__sent *states; /* a ring: states and bounds under way */
    uint32_t states_first, states_len;
    size_t states_capacity;
    uint64_t states_sent, states_acked, outcomes_acked; /* in the session */
    uint64_t acked;                                     /* the cut that the consumer has for sure */
    chordal__list kept;                                 /* outcomes under way */
    uint32_t kept_len;
    uint64_t under_way; /* bytes */
    bool full;
    bool met;        /* it was full since it was last changed */
    uint8_t doubled; /* how often: its present size */
    uint32_t least;  /* the shortest round trip, ms */
    uint32_t span;   /* that of the newest message in the ack that is received */
    uint32_t share;  /* messages that may wait for their ack */
    uint32_t round;  /* when it was last changed */
} chordal__window;
void chordal__window_init(chordal__window *window, chordal__runtime *runtime);
void chordal__window_dispose(chordal__window *window);
const chordal__sent *chordal__window_state(const chordal__window *window, uint32_t index); /* 0: the oldest */
bool chordal__window_has_room(chordal__window *window);
int chordal__window_reserve(chordal__window *window); /* room to count one more state; NOMEM */
void chordal__window_count_state(chordal__window *window, uint64_t cut, uint64_t bytes);
void chordal__window_count_outcome(chordal__window *window, chordal__invocation *invocation, size_t bytes);
void chordal__window_acks(chordal__window *window);                                    /* an ack begins */
int chordal__window_ack_states(chordal__window *window, uint64_t count);               /* ORDER: more than was sent */
CHORDAL_OWN chordal__invocation *chordal__window_ack_outcome(chordal__window *window); /* NULL: none */
void chordal__window_adapt(chordal__window *window, uint64_t count); /* an ack of so many messages was received */
/* What was under way was never sent: outcomes go before those in `ready`. */
void chordal__window_back(chordal__window *window, chordal__list *ready);

/* ---- provider*.c: a session in which this host provides ---- */
struct chordal__hold {
    chordal__list stream_node; /* stream.holds or stream.aside */
    chordal__list dirty;       /* provider.dirty: a change is to be sent */
    chordal__list waiting;     /* provider.waiting: a bound is to be sent */
    chordal__provider *provider;
    uint64_t number;
    chordal__stream *stream;
    chordal__object *object; /* demanded */
    chordal__asking *asking; /* of a type that is placed: waits to be told where */
    uint64_t seen;           /* the last commit sent */
    uint64_t since;          /* the consumer has the documents as they were before this commit; 0: it has nothing */
    uint64_t bound_at;       /* the session's count of states with its bound; 0: it has none */
    bool bound, aside;
    bool calls_allowed;     /* the guard said so for all */
    uint8_t dead;           /* the message that said so: FAILED, RETIRED, REVOKED or MOVED; else 0 */
    chordal__reason reason; /* FAILED, REVOKED; MOVED: the route as its name, the encodings as its code */
    uint64_t version;       /* that was asked for */
    chordal__ask *ask;      /* it waits for the guard */
#ifndef CHORDAL__NO_STORE
    chordal__body *query; /* and this is what it follows then; NULL: what was asked about */
#endif
};
typedef struct chordal__told {
    chordal__type *type;
    uint64_t at; /* the session's count of states with the bound that told it */
} chordal__told;
struct chordal__provider {
    chordal__origin origin; /* number 0, link NULL: lost */
    chordal__list node;     /* link.providers, or links.lost */
    chordal__list flush;    /* links.flush */
    chordal__runtime *runtime;
    chordal__deadline due; /* lost: it lapses; else its full window stalls */
    uint8_t session[16];
    uint8_t encoding;
    bool deflated; /* its consumer takes and sends parts that are */
    chordal__hold **holds;
    size_t holds_capacity;
    uint64_t holds_top; /* the least number that was never used */
    uint64_t cut;
    chordal__list dirty, waiting, ready;
    chordal__caller caller;
    chordal__invocation **slots;
    chordal__told *told; /* types whose members were told */
    size_t told_len, told_capacity;
    chordal__window window;
    bool watched;           /* it waits for its reader, who must take something within a time */
    uint64_t lineage;       /* commits of the run that its consumer came from which are history here, too */
    uint64_t requests;      /* hold, release, retry and call messages that came in the session */
    uint64_t outcome_bytes; /* of values that are not acknowledged */
    uint64_t more_bytes;    /* of a cut that goes on: counted with its last message */
    uint32_t asking;        /* holds that wait to be told where their objects are */
};
/* Its session has the authority, which is refed. */
int chordal__provider_open(chordal__link *link, const chordal__message *message, chordal__authority *authority,
                           chordal_error *error);
void chordal__provider_end(chordal__provider *provider, bool ended_sent);
void chordal__provider_lost(chordal__provider *provider, bool ended_sent); /* its way is gone; it may come back */
void chordal__provider_due(chordal__provider *provider);
void chordal__provider_end_holds(chordal__provider *provider);
void chordal__provider_set_aside(chordal__provider *provider); /* its holds that lag cost a commit nothing any more */
void chordal__provider_rewind(chordal__provider *provider);    /* to what the consumer has */
void chordal__provider_drop_outcomes(chordal__provider *provider, uint64_t count); /* the oldest ones were taken */
int chordal__provider_hold(chordal__provider *provider, const chordal__message *message, chordal_error *error);
int chordal__provider_release(chordal__provider *provider, const chordal__message *message, chordal_error *error);
int chordal__provider_retry(chordal__provider *provider, const chordal__message *message, chordal_error *error);
int chordal__provider_ack(chordal__provider *provider, const chordal__message *message, chordal_error *error);
int chordal__provider_call(chordal__provider *provider, const chordal__message *message, chordal_error *error);
int chordal__provider_cancel(chordal__provider *provider, const chordal__message *message, chordal_error *error);
/* A durable call that is known here and came again: 1: it goes on as one of this session; 0: it is to be begun; ORDER:
 * it is this session's already. */
int chordal__provider_take_over(chordal__provider *provider, const chordal__hold *hold, const chordal__message *message,
                                const uint8_t *key);
/* Its object is behind this link, which is up. */
void chordal__hold_move(chordal__hold *hold, const chordal__link *behind);
void chordal__hold_fail_as(chordal__hold *hold, int code, const char *name, size_t name_len, const char *detail,
                           size_t detail_len);   /* `name` NULL: the code's own */
void chordal__hold_changed(chordal__hold *hold); /* its stream has a change */
void chordal__hold_state(chordal__hold *hold);   /* its object went live, failed or retired */
bool chordal__hold_lags(const chordal__hold *hold);
void chordal__hold_seen(chordal__hold *hold); /* it is at its stream's last change */
void chordal__hold_fail(chordal__hold *hold, int code, const char *detail);
/* Send one thing: all of a cut, a bound or an outcome. True: there is more to send, and room for it. */
bool chordal__provider_serve(chordal__provider *provider);
void chordal__hold_follow(chordal__hold *hold, chordal__type *type, const uint8_t *params, size_t params_len);
void chordal__hold_say(chordal__hold *hold); /* why it is dead */
/* ---- provider_query.c: holds of live queries ---- */
bool chordal__names_query(const void *name, size_t len);
void chordal__hold_query(chordal__hold *hold, const chordal__buffer *params);
void chordal__hold_query_judged(chordal__hold *hold);
/* All live queries about an object; they may go meanwhile. */
void chordal__each_query(const chordal__object *source, void (*act)(chordal__object *query, const void *context),
                         const void *context);
/* Its type is not provided here. */
void chordal__hold_unknown(chordal__hold *hold, const void *type, size_t type_len);

/* ---- provider_guard.c ---- */
void chordal__hold_ask(chordal__hold *hold, chordal__type *type, const chordal__buffer *params);
void chordal__hold_ask_call(const chordal__hold *hold, chordal__invocation *invocation);
void chordal__object_revoke(chordal__object *object, const chordal__authority *authority, const chordal__body *reason);
static inline bool chordal__provider_deflates(const chordal__provider *provider) {
    return CHORDAL__DEFLATES && provider->deflated && provider->runtime->settings.deflate != CHORDAL_DEFLATE_NEVER;
}
void chordal__provider_want_flush(chordal__provider *provider);
bool chordal__provider_has_room(chordal__provider *provider, bool wants); /* wants: it has something to send */
void chordal__provider_settled(chordal__caller *caller, chordal__invocation *invocation);
void chordal__provider_send_outcome(chordal__provider *provider, chordal__invocation *invocation);
void chordal__provider_end_calls(chordal__provider *provider);

/* ---- consumer.c, consumer_state.c, consumer_calls.c: a session in which this host consumes ---- */
typedef struct chordal__remote {
    chordal__list node;   /* consumer.remotes */
    chordal__list hungry; /* consumer.hungry: calls wait for a slot */
    chordal__consumer *consumer;
    chordal__reference *reference; /* NULL: released, waits for the confirmation */
    int64_t number;                /* -1: not asked for yet */
    uint64_t held, released;       /* the session's count of requests when it was asked for and given back */
    uint32_t type;                 /* in consumer.types, once it was asked for */
    uint8_t run[16];               /* of the provider: the reference has the documents as they were in it, */
    uint64_t since;                /* before this commit; 0: nothing can go on from there */
    bool resumes;                  /* it said so when it was asked for, and is not bound yet */
    bool bound, retired;
    bool reset; /* its dictionary was lost with a cut that broke off */
    chordal__dictionary dictionary;
} chordal__remote;
/* A decoded change that waits for the rest of its cut. */
typedef struct chordal__staged {
    chordal__remote *remote;
    chordal__ops ops;
    chordal__member_value *old; /* the values before it, while the cut is applied; NULL: none are kept */
} chordal__staged;
/* A type that the session asked for. */
typedef struct chordal__known_type {
    chordal__text name;
    chordal__members *members; /* NULL: not told yet */
} chordal__known_type;
typedef struct chordal__slot_used {
    chordal__list node;  /* consumer.calls */
    chordal__call *call; /* NULL: nobody waits any more */
    uint64_t request;    /* the session's count of requests when it was sent */
    bool used;
} chordal__slot_used;
struct chordal__consumer {
    chordal__origin origin; /* number 0: not open */
    chordal__list node;     /* link.consumers */
    chordal__list owing;    /* links.owing */
    chordal__runtime *runtime;
    chordal__link *link;
    uint8_t session[16];
    uint8_t run[16];   /* the provider's, once known */
    uint8_t named[16]; /* the run that was named when it was opened */
    uint8_t encoding;
    bool deflated;       /* it takes and sends parts that are */
    bool json;           /* its route takes only JSON parts */
    bool opened;         /* the provider said so, over this transport */
    bool known;          /* the session is there, or was when its transport went */
    bool away;           /* it is to come back */
    bool torn;           /* a state was taken in part: it cannot come back */
    bool in_cut;         /* the last message of state said that more comes */
    bool durable;        /* what came of this cut is in the store, in part */
    chordal__text route; /* words from `moved`, with slashes between */
    chordal__list remotes, hungry;
    chordal__remote **numbers;
    size_t numbers_capacity;
    chordal__known_type *types;
    size_t types_len, types_capacity;
    uint64_t cut, cut_before;  /* before the one that goes on */
    uint64_t requests;         /* hold, release and call messages sent in the session */
    uint64_t states, outcomes; /* received in the session */
    chordal__staged *staged;
    size_t staged_len, staged_capacity;
    uint64_t staged_bytes;
    chordal__slot_used slots[CHORDAL__SLOTS];
    chordal__list calls; /* slots in use, in the order of their requests */
    uint32_t slots_used;
    uint32_t unacked_states, unacked_outcomes;
    uint64_t unacked_bytes;
    uint64_t share;        /* so many of these may wait for their ack, which the provider said */
    bool prompt;           /* the next ack does not wait */
    chordal__deadline due; /* when it is opened, or references are asked for, again */
    uint32_t attempts;     /* of that, since it last worked for long enough; they go with its references when these ask
                            * elsewhere */
    chordal_time good_at;  /* when it was opened, or was to be asked for, last */
    int blocked;           /* frames that wait to be taken */
};
int chordal__remote_attach(chordal__reference *reference, chordal__link *link, chordal_error *error);
/* NULL: no session carries it. */
#ifdef CHORDAL__NO_PLACES
#define chordal__remote_of(reference) ((chordal__remote *)(reference)->hold)
#else
chordal__remote *chordal__remote_of(const chordal__reference *reference);
#endif
void chordal__consumer_open(chordal__consumer *consumer);               /* the link is up */
void chordal__consumer_down(chordal__consumer *consumer, bool returns); /* and is not any more */
void chordal__consumer_free(chordal__consumer *consumer);
void chordal__consumer_ended(chordal__consumer *consumer, const chordal__message *message); /* by the other end */
chordal__consumer *chordal__consumer_find(chordal__link *link, const void *route, size_t route_len, uint8_t encodings,
                                          chordal_error *error); /* made when there is none; NULL: no memory */
void chordal__consumer_anew(chordal__consumer *consumer);        /* what it was is forgotten, its references wait */
void chordal__consumer_ask_all(chordal__consumer *consumer);     /* for all that was not asked for */
void chordal__consumer_references_down(chordal__consumer *consumer);
void chordal__consumer_move_blocked(chordal__consumer *from, chordal__consumer *to,
                                    const chordal__reference *reference);
void chordal__remote_free(chordal__remote *remote);
void chordal__consumer_forget_hold(chordal__remote *remote); /* its number is free */
void chordal__consumer_send_release(chordal__remote *remote);
void chordal__consumer_reset(chordal__reference *reference);          /* hold it anew */
void chordal__remote_stored(chordal__remote *remote, uint64_t since); /* how far it has what is in the store */
bool chordal__consumer_may_return(const chordal__consumer *consumer);
void chordal__consumer_leave(chordal__consumer *consumer); /* its transport is gone, it comes back */
void chordal__consumer_judge_way(chordal__consumer *consumer);
int chordal__consumer_opened(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_back(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
void chordal__consumer_repeat_calls(chordal__consumer *consumer, uint64_t received);
void chordal__consumer_feed_hungry(chordal__consumer *consumer);
void chordal__consumer_fault(chordal__consumer *consumer); /* what is behind its route sent what is not allowed */
int chordal__consumer_type(chordal__consumer *consumer, const chordal__text *name, uint32_t *out_type); /* NOMEM */
void chordal__consumer_due(chordal__consumer *consumer);
/* ---- consumer_ack.c ---- */
void chordal__consumer_took(chordal__consumer *consumer, const chordal__message *message); /* a state, or an outcome */
void chordal__consumer_owes(chordal__consumer *consumer); /* something may be acknowledged */
bool chordal__consumer_ack_waits(const chordal__consumer *consumer);
void chordal__consumer_acks(chordal__consumer *consumer);
void chordal__consumer_owes_nothing(chordal__consumer *consumer);
void chordal__link_wants_acks(chordal__link *link); /* its peer waits for them */
void chordal__link_acks(chordal__link *link);       /* all that are owed over it */
chordal__remote *chordal__consumer_remote(chordal__consumer *consumer, uint64_t number, int *out_code);
int chordal__consumer_bound(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_state(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_moved(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_failed(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_retired(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_released(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
int chordal__consumer_outcome(chordal__consumer *consumer, const chordal__message *message, chordal_error *error);
void chordal__consumer_drop_staged(chordal__consumer *consumer);
void chordal__consumer_send_calls(chordal__remote *remote);
void chordal__consumer_calls_lost(chordal__consumer *consumer);
void chordal__consumer_cancel(chordal__reference *reference, chordal__call *call);
void chordal__consumer_forget(chordal__reference *reference, chordal__call *call);

/* ---- route.c: types that are provided behind a link, and sessions that are passed on ---- */
#ifdef CHORDAL__NO_FORWARDS
#define CHORDAL__FORWARDS 0
#else
#define CHORDAL__FORWARDS 1
#endif
/* A type that peers offer, and each of these offers. */
typedef struct chordal__offered {
    chordal__text type;
    chordal__list routes; /* the newest first */
} chordal__offered;
typedef struct chordal__route {
    chordal__list node;      /* offered.routes */
    chordal__list link_node; /* link.offered */
    chordal__offered *offered;
    chordal__link *link;
} chordal__route;
struct chordal__forward {
    chordal__origin origin;
    chordal__forward *other;
    bool to_provider;    /* the side on which the provider is */
    uint8_t session[16]; /* the consumer's side: whose it is, */
    chordal__authority *authority;
    chordal__text route; /* and where it goes on behind the next host */
    uint8_t encoding;
};
int chordal__route_offer(chordal__link *link, const void *type, size_t type_len);
void chordal__routes_drop(chordal__link *link); /* the link is down */
/* Where a type is reached, by the newest offer, but not back to the host that asks, over whatever link; NULL: nowhere.
 */
chordal__link *chordal__route_of_type(chordal__links *links, const void *type, size_t type_len,
                                      const chordal__link *asking);
void chordal__route_name(const chordal__link *link, char out[33]);
/* A link by the name of its peer's host, 32 digits: one that takes parts in JSON or not now before one that may come
 * back; NULL: none. */
chordal__link *chordal__route_to(chordal__links *links, const uint8_t *name, size_t len, bool json);
bool chordal__route_passes(const chordal__link *link, bool json); /* now */
/* Whether another host has taken the place of the one with this name, where that was reached. */
bool chordal__route_is_taken(const chordal__links *links, const uint8_t *name, size_t len);
/* A session that cannot go on ends at once; `code` says whether it may later. */
int chordal__refuse_session(chordal__link *link, uint64_t number, int code, const chordal__body *reason,
                            chordal_error *error);
int chordal__forward_open(chordal__link *link, chordal__message *message, chordal__authority *authority,
                          chordal_error *error);
void chordal__forward_revoke(chordal__forward *forward, const chordal__body *reason); /* both ends are told */
void chordal__forward_message(chordal__forward *forward, chordal__message *message);
void chordal__forward_end(chordal__forward *forward, const chordal__message *message); /* ENDED or LOST goes on */
void chordal__forward_cut(chordal__forward *forward, bool returns); /* its link is gone; the other side is told */
void chordal__forward_leave(chordal__forward *forward); /* this host leaves: both ends are told that they may return */
void chordal__offer(chordal__link *link, const void *name, size_t name_len);
void chordal__offer_types(chordal__link *link); /* all of them */
void chordal__offer_to_others(chordal__links *links, const chordal__link *except, const void *name, size_t name_len);
bool chordal__link_offers(const chordal__link *link, const void *type, size_t type_len); /* its peer does */

/* ---- placement.c: types of which the program tells where each object is ---- */
typedef struct chordal__place {
    chordal__text type;
} chordal__place;
typedef struct chordal__question {
    chordal__list node;    /* links.asked */
    chordal__list awaited; /* link.awaited, when it is answered */
    chordal__links *links;
    chordal_id id;
    chordal__event event;
    chordal__deadline due;
    chordal__text type;
    chordal__body *params, *key;
    chordal__list waiting; /* chordal__asking */
    bool answered;
    bool again; /* it was answered with a link that had closed, and is asked once more */
} chordal__question;
int chordal__question_resolve(chordal__question *question, chordal__link *link, chordal_error *error);
int chordal__question_fail(chordal__question *question, const char *name, size_t name_len, const char *detail,
                           size_t detail_len, chordal_error *error);
int chordal__type_place(chordal__links *links, const void *type, size_t type_len, chordal_error *error);
int chordal__placement_attach(chordal__reference *reference, chordal_error *error);
#ifdef CHORDAL__NO_PLACES
#define chordal__places_init(links) ((void)0)
#define chordal__places_dispose(links) ((void)0)
#define chordal__places_offer(link) ((void)0)
#define chordal__is_placed(links, type, type_len) false
#define chordal__placement_hold(hold, type, type_len, params) ((void)0)
#define chordal__placement_drop(hold) ((void)0)
#define chordal__placement_again(reference) false
#define chordal__placement_link_init(link) ((void)0)
#define chordal__placement_link_up(link) ((void)0)
#define chordal__placement_link_closed(link) ((void)0)
#else
void chordal__places_init(chordal__links *links);
void chordal__places_dispose(chordal__links *links);
void chordal__places_offer(chordal__link *link);
bool chordal__is_placed(const chordal__links *links, const void *type, size_t type_len);
void chordal__placement_hold(chordal__hold *hold, const void *type, size_t type_len, const chordal__buffer *params);
void chordal__placement_drop(chordal__hold *hold); /* it does not wait any more */
bool chordal__placement_again(
    chordal__reference *reference); /* its link is gone: it is asked for anew, if it is placed */
void chordal__placement_link_init(chordal__link *link);
void chordal__placement_link_up(chordal__link *link);
void chordal__placement_link_closed(chordal__link *link);
void chordal__question_told(chordal__question *question); /* its deadline starts */
void chordal__question_due(chordal__question *question);
#endif

#endif
