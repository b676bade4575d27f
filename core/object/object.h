/* object.h: types, objects, transactions, the batch, references and watches. Nothing here knows of links. */
#ifndef CHORDAL_CORE_OBJECT_H
#define CHORDAL_CORE_OBJECT_H

#include "store/store.h"
#include "wire/wire.h"
#include "chordal/authority.h"
#include "chordal/object.h"
#include "chordal/reference.h"
#include "chordal/transaction.h"

/* ---- runtime.c: what all rooms above share ---- */

typedef struct chordal__runtime chordal__runtime;
typedef struct chordal__object chordal__object;
typedef struct chordal__reference chordal__reference;
typedef struct chordal__watch chordal__watch;
typedef struct chordal__call chordal__call;
typedef struct chordal__invocation chordal__invocation;
typedef struct chordal__commit chordal__commit;

/* What an id names. */
enum {
    CHORDAL__ID_TYPE = 1,
    CHORDAL__ID_OBJECT,
    CHORDAL__ID_REFERENCE,
    CHORDAL__ID_WATCH,
    CHORDAL__ID_CALL,
    CHORDAL__ID_INVOCATION,
    CHORDAL__ID_TICKET,
    CHORDAL__ID_COMPUTE,
    CHORDAL__ID_LINK,
    CHORDAL__ID_PART,
    CHORDAL__ID_QUESTION,
    CHORDAL__ID_ASK
};

/* Something to tell at the next poll. It lies in the thing that it tells of, so that telling never fails and never
 * piles up: a thing that changes twice before it was told is told once, as it is then. */
typedef struct chordal__event {
    chordal__list node;
    uint8_t kind; /* CHORDAL__TELL_… */
} chordal__event;
enum {
    CHORDAL__TELL_LINK = 1,
    CHORDAL__TELL_OUTPUT,
    CHORDAL__TELL_REFERENCE,
    CHORDAL__TELL_FEED,
    CHORDAL__TELL_MADE,
    CHORDAL__TELL_RETIRED,
    CHORDAL__TELL_CALLS, /* a caller's queue of started calls */
    CHORDAL__TELL_CANCEL,
    CHORDAL__TELL_RESULT,
    CHORDAL__TELL_TICKET,
    CHORDAL__TELL_COMPUTE,
    CHORDAL__TELL_RESOLVE,
    CHORDAL__TELL_ADMISSION, /* a peer waits to be admitted */
    CHORDAL__TELL_GUARDS     /* a session's questions */
};

/* Deadlines, by what they lie in. */
enum {
    CHORDAL__DUE_CALL = 1,
    CHORDAL__DUE_COMPUTE,
    CHORDAL__DUE_LINK,
    CHORDAL__DUE_CONSUMER,
    CHORDAL__DUE_PROVIDER,
    CHORDAL__DUE_QUESTION,
    CHORDAL__DUE_DRAIN,
    CHORDAL__DUE_GUARD,
    CHORDAL__DUE_ACKS
};

/* Bytes of a name or of words that cross a link. */
#define CHORDAL__TEXT_LIMIT 65536
#define CHORDAL__TYPE_NAME_BYTES 765 /* 255 characters */
/* Objects of one host. */
#define CHORDAL__OBJECTS_LIMIT (1 << 20)

/* Text of our own: one block, NUL-terminated. */
typedef struct chordal__text {
    char *data;
    size_t len;
} chordal__text;
int chordal__text_set(chordal__memory *memory, chordal__text *text, const void *data, size_t len); /* NOMEM leaves it */
void chordal__text_clear(chordal__memory *memory, chordal__text *text);
int chordal__text_of_node(chordal__memory *memory, const chordal__node *string,
                          chordal__text *text); /* NOMEM leaves it */
static inline bool chordal__text_is(const chordal__text *text, const void *data, size_t len) {
    return text->len == len && (len == 0 || memcmp(text->data, data, len) == 0);
}

/* Why something failed, as it crosses: a code, a stable name, words. */
typedef struct chordal__reason {
    int code;
    chordal__text name, detail;
} chordal__reason;
/* Never fails: without memory the words are left out. `name` NULL: the code's own. */
void chordal__reason_set(chordal__memory *memory, chordal__reason *reason, int code, const char *name, size_t name_len,
                         const char *detail, size_t detail_len);
void chordal__reason_clear(chordal__memory *memory, chordal__reason *reason);

typedef struct chordal__settings {
    chordal__limits limits; /* of values */
    uint32_t call_limit, window_messages, window_bytes, window_messages_limit, window_bytes_limit;
    uint32_t turn_messages, turn_bytes, parked_limit, queue_limit, dictionary_limit;
    uint32_t outcome_limit, lost_limit;
    uint8_t deflate; /* CHORDAL_DEFLATE_… */
    chordal_time compute_timeout, handshake_timeout, ping_interval, ping_timeout, backoff_first, backoff_limit;
    chordal_time session_lapse, stall_timeout, resolve_timeout, guard_timeout, dial_timeout;
    uint64_t name_high, name_low;
    int (*entropy)(void *context, uint8_t *out, size_t len);
    void *entropy_context;
} chordal__settings;

/* What the rooms above want to know. */
typedef struct chordal__hooks {
    void (*published)(chordal__runtime *runtime); /* a batch is out, or a settling ended: send what waits */
    void (*type_provided)(chordal__runtime *runtime, const char *name, size_t name_len);
} chordal__hooks;

struct chordal__runtime {
    chordal__memory *memory;
    chordal__settings settings;
    chordal__ids ids;
    chordal__heap deadlines;
    chordal_time now;
    chordal_counters counters;
    uint64_t seed[2];
    uint8_t name[16], run[16];
    chordal__list events;                                     /* to be told */
    chordal__list urgent;                                     /* to be told before and while a batch settles */
    chordal__list later;                                      /* to be told in the next poll */
    chordal__map types;                                       /* by name */
    chordal__list objects, references, watches, transactions; /* watches: those of objects */
    chordal__list settled;                                    /* calls whose outcome is to be told */
    chordal__list fresh;                                      /* calls whose timeout starts with the next turn */
    chordal__list commits;                                    /* prepared, in order; the first may be settling */
    chordal__store *store;                                    /* NULL: none */
#ifndef CHORDAL__NO_STORE
    struct chordal__durables *durables; /* NULL: no durable method was called yet */
    chordal__list touched;              /* live queries that the batch has changed */
#endif
    chordal__list compacting;  /* documents with history that no policy keeps */
    chordal__commit *settling; /* its derives are being computed */
    bool advancing;
    uint64_t commit_number;
    const chordal__hooks *hooks;
    chordal__buffer scratch;       /* for what is built and copied out at once */
    chordal__pointers pointers;    /* of transactions */
    struct chordal__caller *local; /* calls made by this host's own references */
    struct chordal__links *links;  /* of the room link */
};

int chordal__runtime_init(chordal__runtime *runtime, chordal__memory *memory, const chordal__settings *settings,
                          const chordal__hooks *hooks);
void chordal__runtime_dispose(chordal__runtime *runtime);
void chordal__event_init(chordal__event *event, uint8_t kind);
void chordal__tell(chordal__runtime *runtime,
                   chordal__event *event); /* at the end of the queue, if it is not there yet */
void chordal__tell_urgently(chordal__runtime *runtime, chordal__event *event);
static inline void chordal__untell(chordal__event *event) {
    chordal__list_remove(&event->node);
}
static inline bool chordal__telling(const chordal__event *event) {
    return event->node.next != &event->node;
}

/* Read a value in either format into a body in packed form, checked. */
int chordal__pack_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                     CHORDAL_OWN chordal__body **out, chordal_error *error);
int chordal__node_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                     CHORDAL_OWN chordal__node **out, chordal_error *error);
/* As pack_of, for arguments: an array, in packed form also of bytes. TYPE, LIMIT and the data errors. */
#define CHORDAL__ARGUMENTS_LIMIT 256
int chordal__arguments_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                          CHORDAL_OWN chordal__body **out, chordal_error *error);
/* Walk packed arguments: the count, then each; *out_bytes is NULL for a value, which the reader stands behind. */
int chordal__arguments_begin(chordal__reader *reader, uint64_t *out_count, chordal_error *error);
int chordal__arguments_next(chordal__runtime *runtime, chordal__reader *reader, const uint8_t **out_bytes,
                            size_t *out_len, chordal_error *error);
/* A copy of a buffer as a body; NULL: no memory. */
CHORDAL_OWN chordal__body *chordal__body_of_buffer(chordal__memory *memory, const chordal__buffer *buffer);

/* ---- members.c: the table of a type's members ---- */
typedef struct chordal__member {
    chordal__text name;
    uint8_t kind; /* CHORDAL_MEMBER_… */
    bool idempotent;
    bool durable;   /* a method whose calls the provider's store knows */
    bool persisted; /* a document that is in the host's store */
#ifndef CHORDAL__NO_STORE
    struct chordal__table *table; /* a table that is there; once it is open it is the store's */
#endif
    chordal__node *initial; /* documents of types provided here */
    uint32_t *from;         /* derives: the members that it reads */
    uint32_t from_len;
} chordal__member;

typedef struct chordal__members {
    uint32_t references;
    chordal__memory *memory;
    uint32_t count, capacity;
    chordal__member *items;
    bool *is_state; /* document or derive: what is seen over links */
} chordal__members;
chordal__members *chordal__members_new(chordal__memory *memory, uint32_t capacity);
chordal__members *chordal__members_ref(chordal__members *members);
void chordal__members_unref(chordal__members *members);
/* The index of a member by name, or -1. */
int64_t chordal__members_find(const chordal__members *members, const char *name, size_t name_len);
/* Add a member; EXISTS, INVALID, NOMEM. */
int chordal__members_add(chordal__members *members, const void *name, size_t name_len, uint8_t kind, bool idempotent);
#define CHORDAL__MEMBERS_LIMIT 1024
/* The table as a part: [[name, kind, flags], …]. */
void chordal__members_write(const chordal__members *members, uint8_t encoding, chordal__buffer *out);
int chordal__members_read(chordal__memory *memory, const chordal__node *table, CHORDAL_OWN chordal__members **out,
                          chordal_error *error);

/* ---- type.c ---- */
typedef struct chordal__type {
    chordal__runtime *runtime;
    chordal_id id;
    chordal__text name;
    uint32_t version;
    chordal__text *params;
    uint32_t params_len;
    bool keep, start, guarded;
    bool migrates; /* what an older version has stored, before anything else changes it */
#ifndef CHORDAL__NO_STORE
    bool own; /* the host's: its objects are not told to the program */
#endif
    uint64_t history;      /* newest revisions of its documents that can be read; CHORDAL__HISTORY_ALL */
    uint32_t deltas_limit; /* after a base */
    chordal__members *members;
    chordal__map objects; /* by the packed values of the params in declared order */
} chordal__type;
static inline bool chordal__type_is_own(const chordal__type *type) {
#ifndef CHORDAL__NO_STORE
    return type->own;
#else
    (void)type;
    return false;
#endif
}
int chordal__type_provide(chordal__runtime *runtime, const uint8_t *declaration, size_t len, chordal__type **out,
                          chordal_error *error);
int chordal__type_provide_own(chordal__runtime *runtime, const uint8_t *declaration, size_t len, chordal__type **out,
                              chordal_error *error); /* one of the host itself */
chordal__type *chordal__type_find(chordal__runtime *runtime, const void *name, size_t name_len);
void chordal__type_free(chordal__type *type);

/* ---- object.c ---- */
/* One who follows an object: a stream, a reference, an early watch. Its functions cannot fail: who lacks memory notes
 * that it lost track. */
typedef struct chordal__observer chordal__observer;
typedef struct chordal__observer_functions {
    /* One batch: what changed in this object, as ops over all its members. When it is published an observer may take
     * them away and leave none. */
    void (*batch)(chordal__observer *observer, uint64_t commit, chordal__ops *ops);
    /* The object went live, failed or retired. It may detach the observer. */
    void (*state)(chordal__observer *observer);
} chordal__observer_functions;
struct chordal__observer {
    chordal__list node;
    const chordal__observer_functions *functions;
};

enum { CHORDAL__OBJECT_STARTING = 1, CHORDAL__OBJECT_LIVE, CHORDAL__OBJECT_FAILED, CHORDAL__OBJECT_RETIRED };

typedef struct chordal__slot {
    chordal__node *head, *tip; /* owned; NULL: a derive that has no value yet */
    chordal__node *error;      /* owned: [code, message], of a derive */
    uint64_t moves;            /* of the tip: transactions see conflicts by it */
    bool dirty;                /* a derive to be computed in this settling */
    bool fallen;               /* a commit on it just failed */
    struct chordal__compute *compute;
    struct chordal__persisted *persisted; /* NULL: in memory alone */
    struct chordal__rows *rows;           /* NULL: no table */
} chordal__slot;

struct chordal__object {
    chordal__list node; /* runtime.objects */
    chordal__runtime *runtime;
    chordal__type *type;
    chordal_id id;
    uint8_t state;
    bool known;              /* the program was told that it was made */
    bool activating;         /* it goes live when its turn comes */
    uint32_t stored_version; /* the oldest that its documents were written with; 0: none was */
    uint64_t stored_at;      /* the newest commit that wrote any of them; 0: none is in the store */
    chordal__reason reason;  /* FAILED */
    chordal__body *key;      /* in type->objects */
    chordal__body *params;   /* packed */
    uint32_t demand;         /* who holds it */
    uint32_t got;            /* of these, by chordal_object_get */
    uint32_t pins;           /* who needs the memory */
    chordal__event made, retired;
    chordal__list observers;
    chordal__list early;            /* observers that are told before derives settle */
    chordal__list invocations;      /* calls that run */
    struct chordal__stream *stream; /* of the room link: lives while it is exposed */
    chordal__slot *slots;
#ifndef CHORDAL__NO_STORE
    struct chordal__owner *owner; /* of the rows in its tables */
    struct chordal__live *live;   /* it is a live query */
#endif
};

static inline bool chordal__object_is_query(const chordal__object *object) {
#ifndef CHORDAL__NO_STORE
    return object->live != NULL;
#else
    (void)object;
    return false;
#endif
}
/* The object of a type, made when there is none; one more demand. `params` is a packed object. PARAMS, NOMEM, LIMIT. */
int chordal__object_demand(chordal__type *type, const uint8_t *params, size_t params_len, chordal__object **out,
                           chordal_error *error);
void chordal__object_undemand(chordal__object *object); /* the last one retires it, unless its type keeps it */
void chordal__object_retire(chordal__object *object);
void chordal__object_start(chordal__object *object);
void chordal__object_fail(chordal__object *object, int code, const char *name, size_t name_len, const char *detail,
                          size_t detail_len);
void chordal__object_retry(chordal__object *object); /* FAILED: start again */
void chordal__object_pin(chordal__object *object);
void chordal__object_unpin(chordal__object *object);
void chordal__object_tell_state(chordal__object *object);
void chordal__object_told_retired(chordal__object *object); /* the RETIRED event was handed out */
void chordal__object_destroy(chordal__object *object);      /* at the end of the runtime */

/* ---- commit.c: prepared commits and their way through ---- */
#define CHORDAL__ITEM_COMMIT 1
#define CHORDAL__ITEM_ACTIVATION 2

typedef struct chordal__new_value {
    uint32_t member;
    chordal__node *value;        /* owned; NULL: it was only read */
    chordal__body *delta, *base; /* owned: what the store is to keep of it */
} chordal__new_value;

/* What a commit does to one object. */
typedef struct chordal__change {
    chordal__object *object; /* pinned */
    chordal__ops ops;
    chordal__new_value *values; /* `one`, or an array */
    uint32_t values_len, values_capacity;
    chordal__new_value one;
#ifndef CHORDAL__NO_STORE
    struct chordal__row_set *rows; /* of its tables */
#endif
} chordal__change;

struct chordal__commit {
    chordal__list node; /* runtime.commits */
    chordal__runtime *runtime;
    uint8_t item;        /* CHORDAL__ITEM_… */
    chordal_id ticket;   /* 0: nobody waits */
    chordal__event told; /* TICKET */
    uint64_t number;
    bool writes, stored;             /* it waits for a step; the step is through */
    chordal__reason reason;          /* why it failed */
    chordal__invocation *invocation; /* on whose behalf; it waits for this */
    chordal__list invocation_node;
    uint32_t changes_len, changes_capacity;
    uint32_t computing; /* computes that are out */
    chordal__change changes[];
};
/* With room for so many changes; NULL: no memory. */
chordal__commit *chordal__commit_new(chordal__runtime *runtime, uint32_t changes);
/* What it does to an object, the next one if it does nothing yet. */
chordal__change *chordal__commit_change(chordal__commit *commit, chordal__object *object);
void chordal__commit_free(chordal__commit *commit);
void chordal__tell_batch(chordal__list *observers, uint64_t number, chordal__ops *ops);
/* Put a prepared commit (tips advanced) or an activation in the queue and go as far as possible. */
void chordal__commit_submit(chordal__commit *commit);

/* Its step failed, for commit->reason; it is out of the queue. */
void chordal__commit_fail(chordal__commit *commit);

/* ---- persist.c: documents that are in the store ---- */
#ifndef CHORDAL__NO_STORE
#define CHORDAL__STORE 1
#else
#define CHORDAL__STORE 0
#endif
typedef struct chordal__persisted {
    chordal__document document;
    bool known;      /* at the tip: it has a base, stored or prepared */
    uint32_t deltas; /* at the tip, after that base */
    uint64_t base_bytes, delta_bytes;
    uint64_t keep;
    chordal__list compacting; /* runtime.compacting */
} chordal__persisted;
/* Where a member is in the store. */
void chordal__persist_address(const chordal__object *object, uint32_t member, chordal__address *out);
/* Find the documents of an object that is made. TYPE_VERSION, CORRUPT and the other codes of reading, NOMEM. */
int chordal__persist_load(chordal__object *object, chordal_error *error);
void chordal__persist_forget(chordal__object *object);
/* Encode what the store is to keep of a document's change. SIZE, NOMEM. */
int chordal__persist_prepare(chordal__object *object, chordal__new_value *value, const chordal__ops *ops,
                             chordal_error *error);
void chordal__persist_advance(chordal__slot *slot, const chordal__new_value *value);
/* Write all that waits, now. */
void chordal__persist_step(chordal__runtime *runtime);
/* Whether history or rows of objects that ended are to be deleted; some of them, when nothing else is written. */
static inline bool chordal__persist_tidies(const chordal__runtime *runtime) {
    return runtime->store && (!chordal__list_empty(&runtime->compacting) || runtime->store->clears);
}
void chordal__persist_tidy(chordal__runtime *runtime);
bool chordal__persist_waits(const chordal__runtime *runtime); /* there is something to write in the next turn */
/* End the documents' life in the store, at once. */
int chordal__persist_retire(chordal__object *object, chordal_error *error);
/* ---- persist_since.c ---- */
/* Fold into empty `ops` what happened to a document after a commit that a reader has seen. NOT_FOUND: that cannot be
 * said, or takes more than `weight` bytes. NOMEM. */
int chordal__persist_since(const chordal__object *object, uint32_t member, uint64_t after, uint64_t weight,
                           chordal__ops *ops);
/* Up to which of its commits a run is part of the history of this host's store; 0: not at all. */
uint64_t chordal__persist_lineage(chordal__runtime *runtime, const uint8_t run[16]);
/* ---- persist_outbox.c ---- */
int chordal__outbox_write(const chordal__commit *commit, chordal_error *error);
int chordal__outbox_list(chordal__page *page, uint64_t after, chordal_error *error); /* a page of it */
/* ---- persist_copy.c: copies of the store ---- */
#define CHORDAL__COPIES_MAX 4 /* at once */
int chordal__copy_start(chordal__runtime *runtime, const char *path, size_t len, chordal_id *out_ticket,
                        chordal_error *error);
void chordal__copies_go_on(chordal__runtime *runtime); /* a piece of each */
static inline bool chordal__copies_wait(const chordal__runtime *runtime) {
    return runtime->store && !chordal__list_empty(&runtime->store->copies);
}
void chordal__copies_drop(chordal__runtime *runtime);

/* ---- settle.c: computing derives ---- */
typedef struct chordal__compute {
    chordal__runtime *runtime;
    chordal_id id;
    chordal__object *object; /* pinned */
    uint32_t member;
    chordal__event event;
    chordal__deadline due;
} chordal__compute;
/* Mark the derives that read what a change touched. */
void chordal__settle_mark(chordal__change *change);
/* Ask for all derives that can be computed now. False: nothing is left to compute. */
bool chordal__settle_ask(chordal__commit *commit);
int chordal__compute_answer(chordal__compute *compute, chordal__node *value, chordal_error *error); /* borrowed value */
void chordal__compute_fail(chordal__compute *compute, const char *name, size_t name_len, const char *detail,
                           size_t detail_len);
void chordal__compute_told(chordal__compute *compute); /* its deadline starts */
void chordal__compute_free(chordal__compute *compute);
/* Its object is retired: what it should compute is no more asked for. Who calls goes on with the commits later. */
void chordal__settle_drop(chordal__object *object);
/* Go on with the queue of commits; called when a compute was answered. */
void chordal__commits_go_on(chordal__runtime *runtime);
static inline void chordal__commits_advance(chordal__runtime *runtime) {
    if (!chordal__list_empty(&runtime->commits)) chordal__commits_go_on(runtime);
}

/* ---- transaction.c ---- */
typedef struct chordal__touched {
    chordal__object *object; /* pinned */
    uint32_t member;
    uint64_t moves;   /* of the slot when it was first touched */
    uint64_t entries; /* into the host when an op was put off that nobody else could notice; 0: none was */
    chordal__draft draft;
} chordal__touched;
struct chordal_transaction {
    chordal_host *host; /* for the public functions */
    chordal__runtime *runtime;
    chordal__invocation *invocation;
    chordal_id call;           /* its id, checked at commit */
    bool changes;              /* known at commit: it did not only read */
    chordal__touched *touched; /* `one`, or an array */
    size_t touched_len, touched_capacity;
    chordal__memory *memory; /* held: the transaction may outlive the host */
    chordal__list node;      /* runtime.transactions */
#ifndef CHORDAL__NO_STORE
    chordal__list tables; /* own_table, those that were touched */
#endif
    chordal__touched one; /* most change one document; last, since it is not cleared */
};
int chordal__transaction_begin(chordal__runtime *runtime, chordal_id call, chordal_transaction **out,
                               chordal_error *error);
/* The draft of a document; made when first touched. */
int chordal__transaction_draft(chordal_transaction *transaction, chordal_id object, uint32_t member,
                               chordal__touched **out, chordal_error *error);
/* An op on what nobody else has, which takes no memory, waits for the commit. TAKES what it owns when true. */
bool chordal__touched_put_off(chordal__touched *touched, chordal__op *op);
/* Do one op. TAKES what it owns. */
int chordal__touched_do(chordal__touched *touched, chordal__op op, chordal_error *error);
int chordal__transaction_changes(chordal_transaction *transaction, const uint8_t *changes, size_t len,
                                 chordal_error *error);
/* Prepare and submit. The transaction stays to be freed. */
int chordal__transaction_commit(chordal_transaction *transaction, chordal_id *out_ticket, chordal_error *error);
void chordal__transaction_free(chordal_transaction *transaction);
void chordal__transaction_orphan(chordal_transaction *transaction); /* the host closes */

/* ---- authority.c: what a session may claim ---- */
/* Without it a host admits nobody, judges nothing and takes nothing back: it holds what others provide, and provides
 * for whom they let in. */
#ifndef CHORDAL__NO_AUTHORITY
#define CHORDAL__AUTHORITY 1
#else
#define CHORDAL__AUTHORITY 0
#endif
#define CHORDAL__AUTHORITY_LIMIT 16384 /* packed bytes */
typedef struct chordal__authority {
    chordal__memory *memory;
    uint32_t references;
    uint64_t digest;
    chordal__node *value;
    chordal__body *packed;
} chordal__authority;
/* From a value in either format; that of null is NULL. SIZE, NOMEM, the data errors. */
int chordal__authority_of(chordal__runtime *runtime, uint32_t format, const uint8_t *data, size_t len,
                          CHORDAL_OWN chordal__authority **out, chordal_error *error);
chordal__authority *chordal__authority_ref(chordal__authority *authority); /* NULL allowed, as below */
void chordal__authority_unref(chordal__authority *authority);
bool chordal__authority_equal(const chordal__authority *a, const chordal__authority *b);

/* ---- invocation.c: calls that run here ---- */
/* Where calls come from: this host's own references, or a session of a peer. */
typedef struct chordal__caller {
    chordal__runtime *runtime;
    uint64_t origin; /* told with the calls */
    chordal__list waiting;
    uint32_t burst;       /* handed out in a row */
    bool held;            /* no call of it starts at present */
    chordal__event event; /* CALLS */
    chordal__authority *authority;
    chordal__list asks; /* what was not told yet */
    size_t asks_weight; /* of all that wait for an answer */
    uint32_t asks_burst;
    chordal__event asking; /* GUARDS */
    /* An outcome is there and every commit of the call is through. */
    void (*settled)(struct chordal__caller *caller, chordal__invocation *invocation);
} chordal__caller;
struct chordal__invocation {
    chordal__list node;        /* caller.waiting until it was told */
    chordal__list object_node; /* object.invocations */
    chordal__runtime *runtime;
    chordal__caller *caller;
    chordal_id id;
    chordal__object *object; /* pinned */
    uint32_t member;
    uint32_t slot; /* the session's */
    bool told, cancelled, answered;
    bool withheld;                    /* its outcome is not for its caller any more */
    struct chordal__ask *ask;         /* it runs when the guard says so */
    struct chordal__durable *durable; /* NULL: nothing is kept of it; else it runs when the store knows of it */
    uint32_t commits;                 /* that are not through */
    chordal__list commit_list;
    chordal__body *arguments; /* packed array */
    chordal__event cancel;
    chordal__call *call;    /* a local call: who waits */
    chordal__list ready;    /* the session's outcomes that wait for the window, or for their ack */
    uint32_t sent_bytes;    /* under way */
    uint32_t sent_at;       /* the turn's clock, its low bits */
    chordal__reason reason; /* the outcome: code 0 with a value */
    chordal__body *value;   /* packed, or raw bytes */
    bool raw;
};
void chordal__caller_init(chordal__caller *caller, chordal__runtime *runtime, uint64_t origin,
                          void (*settled)(chordal__caller *, chordal__invocation *));
void chordal__caller_hold(chordal__caller *caller, bool held);
void chordal__caller_go_on(chordal__caller *caller); /* calls wait: tell them if they may run */
/* Start a call; TAKES nothing, refs arguments (NULL: it is failed at once). NULL: no memory. */
chordal__invocation *chordal__invoke(chordal__caller *caller, chordal__object *object, uint32_t member,
                                     chordal__body *arguments);
void chordal__invocation_answer(chordal__invocation *invocation, CHORDAL_OWN chordal__body *value,
                                bool raw); /* TAKES value */
void chordal__invocation_fail(chordal__invocation *invocation, int code, const char *name, size_t name_len,
                              const char *detail, size_t detail_len);
/* The caller no longer wants it, or the session is gone. */
void chordal__invocation_cancel(chordal__invocation *invocation);
/* Its caller is gone: nobody waits for the outcome. */
void chordal__invocation_orphan(chordal__invocation *invocation);
void chordal__invocation_commit_done(chordal__invocation *invocation);
void chordal__invocation_commit_failed(chordal__invocation *invocation, const chordal__commit *commit);
void chordal__invocation_free(chordal__invocation *invocation);
void chordal__invocation_settle(chordal__invocation *invocation); /* tell its outcome, if that is fixed */
void chordal__invocation_check(chordal__invocation *invocation);  /* whether a commit of it failed */

/* ---- durable.c: calls that are answered after a restart, too ---- */
#define CHORDAL__DURABLE_CALLS 65536    /* in a store, until their outcomes are taken */
#define CHORDAL__DURABLE_BYTES 67108864 /* of their results */
#define CHORDAL__DURABLE_KEEP 86400000  /* ms that an outcome stays at least; half as long a caller asks again */
typedef struct chordal__durable {
    chordal__list node;               /* durables.waiting: something of it is to be written */
    chordal__invocation *invocation;  /* NULL: its outcome was taken */
    const chordal__commit *ends_with; /* which its outcome was written with, if that goes through */
    uint8_t key[CHORDAL__CALL_KEY];
    uint64_t authority; /* the digest of its caller's */
    int64_t id;         /* of its row; 0: there is none */
    uint64_t bytes;     /* of its result there */
    bool recording;     /* its row is being written */
    bool wrote;         /* a commit of it is in the store, */
    bool outcome;       /* and its outcome */
} chordal__durable;
typedef struct chordal__durables {
    chordal__map running; /* key → invocation whose outcome is not fixed */
    chordal__list waiting;
    uint64_t count, bytes; /* rows, and bytes of results */
    int64_t last, old;     /* the newest row, and that of a while ago */
    chordal_time old_at;
} chordal__durables;
uint64_t chordal__durable_authority(const chordal__caller *caller);
void chordal__durables_dispose(chordal__runtime *runtime);
chordal__invocation *chordal__durable_running(const chordal__runtime *runtime, const uint8_t key[CHORDAL__CALL_KEY]);
/* A call that came with its key: it is answered from the store, or fails, or waits until the store knows of it. */
void chordal__durable_begin(chordal__invocation *invocation, const uint8_t key[CHORDAL__CALL_KEY]);
void chordal__durable_record(chordal__invocation *invocation); /* unless it waits for the guard, or is answered */
bool chordal__durable_may_start(chordal__invocation *invocation);
bool chordal__durables_wait(const chordal__runtime *runtime);
void chordal__durables_step(chordal__runtime *runtime); /* write what waits, now */
/* In the step of a commit: what the store is to know of its call; and when that went through. */
int chordal__durable_write(const chordal__commit *commit, chordal_error *error);
void chordal__durable_stored(const chordal__commit *commit);
bool chordal__durable_settle(chordal__invocation *invocation); /* its outcome may be told */
void chordal__durable_taken(chordal__invocation *invocation);  /* its caller has the outcome */
void chordal__durable_free(chordal__invocation *invocation);

/* ---- guard.c: what a guarded type asks about a session ---- */
typedef struct chordal__ask {
    chordal__list node; /* caller.asks until it was told */
    chordal__caller *caller;
    chordal_id id;
    chordal__deadline due;
    chordal__type *type;
    chordal__body *params;
    uint32_t member; /* the method; CHORDAL_ALL_MEMBERS: a hold */
    size_t weight;
    void *subject;                                             /* a hold or an invocation */
    void (*judged)(struct chordal__ask *ask, uint32_t answer); /* its subject forgets it; it is freed after */
} chordal__ask;
void chordal__asks_init(chordal__caller *caller);
void chordal__asks_dispose(chordal__caller *caller);
/* Ask what `question` says; refs its params. LIMIT, NOMEM. */
int chordal__ask_open(chordal__caller *caller, const chordal__ask *question, chordal__ask **out);
void chordal__ask_drop(chordal__ask *ask);                    /* nobody wants to know any more; NULL allowed */
void chordal__ask_answer(chordal__ask *ask, uint32_t answer); /* CHORDAL_GUARD_… */
/* Whether a call may run; it waits for the answer, and those of its session behind it. LIMIT, NOMEM. */
int chordal__invocation_ask(chordal__invocation *invocation);
void chordal__invocation_unask(chordal__invocation *invocation);

/* ---- reference.c ---- */
/* What carries a reference: an object here, or a hold over a link. */
typedef struct chordal__source_functions {
    void (*release)(chordal__reference *reference); /* let go; called once */
    void (*send)(chordal__reference *reference);    /* calls wait in reference->parked: send what can be sent */
    void (*cancel)(chordal__reference *reference, chordal__call *call); /* of a call that was sent */
    void (*forget)(chordal__reference *reference, chordal__call *call); /* it was settled without an answer */
    int (*retry)(chordal__reference *reference);
    void (*reset)(chordal__reference *reference);               /* KEPT: tell all values again */
    void (*blocked)(chordal__reference *reference, int change); /* so many more frames wait to be taken */
} chordal__source_functions;

struct chordal__reference {
    chordal__list node;
    chordal__runtime *runtime;
    chordal_id id;
    uint32_t flags; /* CHORDAL_REFERENCE_KEPT, _MANUAL */
    uint8_t state;
    bool was_live;
    bool placed; /* where it leads is asked of the program */
    chordal__reason reason;
    chordal__text type;
    uint32_t version;
    chordal__body *params; /* packed */
    chordal__event event;
    chordal__members *members; /* once live */
    chordal__node **values;    /* remote and not KEPT: the replica */
    chordal__node **errors;
    uint64_t commit; /* of the last change */
    int blocked;     /* frames that wait to be taken */
    chordal__list watches;
    chordal__watch *kept; /* KEPT: the implicit watch */
    chordal__list parked; /* calls not sent yet, in order */
    uint32_t parked_len;
    chordal__list sent; /* calls whose outcome is to come */
    const chordal__source_functions *source;
    void *hold; /* of the source */
};
int chordal__reference_new(chordal__runtime *runtime, const void *type, size_t type_len, uint32_t version,
                           uint32_t flags, chordal__body *params, chordal__reference **out,
                           chordal_error *error);            /* refs params; PENDING, no source */
void chordal__reference_free(chordal__reference *reference); /* settles every call, closes nothing else's memory */
/* Nothing carries it any more: it fails (code 0: CLOSED), and its calls settle. */
void chordal__reference_orphan(chordal__reference *reference, int code);
/* Change the state and tell. */
void chordal__reference_set_state(chordal__reference *reference, uint8_t state, int code, const char *detail,
                                  size_t detail_len);
/* The members are known (refs them); makes room for values. NOMEM. */
int chordal__reference_bind(chordal__reference *reference, chordal__members *members);
/* It has values of these members. */
bool chordal__reference_has(const chordal__reference *reference, const chordal__members *members);
/* A batch of ops reached the reference; values were updated before when it keeps them. */
void chordal__reference_changed(chordal__reference *reference, uint64_t commit, const chordal__ops *ops);
/* Whole values are there (a snapshot). For KEPT, `packed` (a body of packed ops) and offsets by member are kept until
 * told. */
void chordal__reference_replaced(chordal__reference *reference, uint64_t commit);
void chordal__reference_replaced_packed(chordal__reference *reference, uint64_t commit, chordal__body *packed,
                                        const size_t *offsets);
chordal__node *chordal__reference_value(const chordal__reference *reference,
                                        uint32_t member); /* borrowed; NULL: none */
chordal__node *chordal__reference_error(const chordal__reference *reference, uint32_t member);

/* ---- local.c: references to objects here ---- */
int chordal__local_attach(chordal__reference *reference, chordal__type *type, chordal_error *error);
chordal__object *chordal__local_object(const chordal__reference *reference); /* NULL: not local */
void chordal__local_settled(chordal__caller *caller, chordal__invocation *invocation);

/* ---- watch.c ---- */
/* What waits to be told of one member. */
typedef struct chordal__feed {
    chordal__watch *watch;
    uint32_t member;
    chordal__path *path; /* of the member alone */
    chordal__event event;
    bool pending, snapshot;
    bool untaken; /* MANUAL: told and not taken yet; the next waits */
    uint32_t folded;
    uint64_t commit;
    chordal__ops ops;
    chordal__body *packed; /* KEPT: the snapshot, packed_offset and packed_len of it */
    size_t packed_offset, packed_len;
} chordal__feed;
struct chordal__watch {
    chordal__list node; /* reference.watches */
    chordal__runtime *runtime;
    chordal_id id; /* of the KEPT implicit one: the reference's */
    uint32_t member, flags;
    bool lost;                     /* KEPT: whole values were asked for, nothing is told before they come */
    chordal__reference *reference; /* one of these two */
    chordal__object *object;       /* pinned and demanded */
    chordal__observer observer;    /* of an object */
    chordal__feed *feeds;
    uint32_t feeds_len;
};
int chordal__watch_open(chordal__runtime *runtime, chordal_id source, uint32_t member, uint32_t flags,
                        chordal__watch **out, chordal_error *error);
/* The implicit watch of a KEPT reference. NULL: no memory. */
chordal__watch *chordal__watch_kept(chordal__reference *reference);
void chordal__watch_free(chordal__watch *watch);
int chordal__watch_bind(chordal__watch *watch,
                        const chordal__members *members); /* the members are known: make feeds. NOMEM */
void chordal__watch_unbind(chordal__watch *watch);        /* drop its feeds */
void chordal__watch_changed(chordal__watch *watch, uint64_t commit, const chordal__ops *ops);
void chordal__watch_replaced(chordal__watch *watch, uint64_t commit);
void chordal__watch_replaced_packed(chordal__watch *watch, uint64_t commit, chordal__body *packed,
                                    const size_t *offsets);
void chordal__watch_take(chordal__watch *watch);
void chordal__watch_reset(chordal__watch *watch);
/* Write what a feed has to tell as packed ops; then it has nothing more. Codes: NOMEM (it keeps it). */
int chordal__feed_write(chordal__feed *feed, chordal__buffer *out);
void chordal__feed_told(chordal__feed *feed);
chordal__node *chordal__feed_error(const chordal__feed *feed); /* borrowed; NULL: none */

/* ---- call.c: calls made here ---- */
struct chordal__call {
    chordal__list node; /* reference.parked or .sent */
    chordal__runtime *runtime;
    chordal_id id;
    chordal__reference *reference; /* NULL once it is settled */
    chordal__text method;          /* behind it in its block */
    int64_t member;                /* the method's, while it is started; -1: to be found */
    chordal__body *arguments;      /* packed array */
    chordal__deadline due;
    chordal_time timeout;
    chordal__list fresh; /* runtime.fresh: its timeout has not started */
    bool sent, settled, idempotent, cancelled;
    bool durable; /* it was sent with its key, */
    uint8_t key[CHORDAL__CALL_KEY];
    chordal_time keyed_at; /* then for the first time */
    uint32_t slot;
    void *path;                      /* of the source: where it was sent */
    chordal__invocation *invocation; /* local */
    chordal__event event;            /* RESULT */
    chordal__reason reason;
    chordal__body *value;
    bool raw;
};
int chordal__call_start(chordal__reference *reference, const char *method, size_t method_len,
                        CHORDAL_OWN chordal__body *arguments, chordal_time timeout, chordal__call **out,
                        chordal_error *error); /* TAKES arguments when it succeeds */
int64_t chordal__call_member(const chordal__call *call, const chordal__members *members); /* its method, or -1 */
void chordal__call_cancel(chordal__call *call);
/* The outcome; TAKES value. */
void chordal__call_settle(chordal__call *call, int code, const char *name, size_t name_len, const char *detail,
                          size_t detail_len, CHORDAL_OWN chordal__body *value, bool raw);
void chordal__call_expired(chordal__call *call);
void chordal__calls_start_timeouts(chordal__runtime *runtime); /* in a turn, when the time is known */
void chordal__call_sent(chordal__call *call);                  /* from parked to sent */
void chordal__call_unsent(chordal__call *call);                /* back to the front of parked */
void chordal__call_free(chordal__call *call);
void chordal__calls_dispose(chordal__runtime *runtime); /* those whose outcome nobody polled */

#endif
