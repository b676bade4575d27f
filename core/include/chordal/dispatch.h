/* dispatch.h: for C programs: event records as function calls, and types as tables. Thread rule: host.h.
 *
 *     static const chordal_member notes_members[] = {
 *         CHORDAL_DOCUMENT("list", "{\"entries\": []}"),
 *         CHORDAL_DERIVE("count", "list", notes_count),
 *         CHORDAL_METHOD("add", notes_add),
 *     };
 *     static const chordal_type notes_type = {.name = "notes", .version = 1, .params = "board",
 *                                             .members = notes_members, .members_len = 3};
 *
 *     chordal_dispatcher_open(host, NULL, NULL, &dispatcher, &error);
 *     chordal_dispatcher_provide(dispatcher, &notes_type, &error);
 *     chordal_uv_open(loop, host, chordal_dispatcher_event, dispatcher, &adapter, &error); */
#ifndef CHORDAL_DISPATCH_H
#define CHORDAL_DISPATCH_H

#include "authority.h"
#include "object.h"
#include "record.h"
#include "reference.h"

/* ---- types as tables ---- */

/* What a table's function is told. Everything in it is borrowed for the length of the call. */
typedef struct chordal_request {
    chordal_host *host;
    void *context; /* as given to chordal_dispatcher_open */
    chordal_id object;
    void **data;           /* one pointer of the object, for the program */
    chordal_id id;         /* the call or compute to answer, now or later; 0 in `made` and `retired` */
    uint64_t origin;       /* of a call: its session; 0: local */
    chordal_value *value;  /* of a call: its arguments, an array; of `made`: the params; else, and when bytes are among
                            * the arguments, NULL */
    const uint8_t *packed; /* the same as packed bytes */
    size_t packed_len;
    chordal_value *authority; /* of a call: that of its session; NULL: none */
    uint32_t version;         /* of `made`: the oldest with which a document of it was written; 0: none is stored */
} chordal_request;

typedef void (*chordal_function)(const chordal_request *request);

typedef struct chordal_member {
    const char *name;
    uint32_t kind;             /* CHORDAL_MEMBER_… */
    const char *given;         /* document: the initial JSON; derive: what it is made from, separated by spaces;
                                * method: "idempotent", "durable" or NULL; table: {"columns": …, "key": …} */
    chordal_function function; /* derive, method: answers request->id */
} chordal_member;

#define CHORDAL_DOCUMENT(name, initial)                                                                                \
    { name, CHORDAL_MEMBER_DOCUMENT, initial, NULL }
#define CHORDAL_DERIVE(name, from, function)                                                                           \
    { name, CHORDAL_MEMBER_DERIVE, from, function }
#define CHORDAL_METHOD(name, function)                                                                                 \
    { name, CHORDAL_MEMBER_METHOD, NULL, function }

#define CHORDAL_TABLE(name, declaration)                                                                               \
    { name, CHORDAL_MEMBER_TABLE, declaration, NULL }

/* One that may run twice without harm: it is run again when its outcome is not known. */
#define CHORDAL_METHOD_IDEMPOTENT(name, function)                                                                      \
    { name, CHORDAL_MEMBER_METHOD, "idempotent", function }

/* One whose calls the host's store knows: its outcome is told after a restart, too (object.h). */
#define CHORDAL_METHOD_DURABLE(name, function)                                                                         \
    { name, CHORDAL_MEMBER_METHOD, "durable", function }

typedef struct chordal_type {
    const char *name;
    uint32_t version;
    uint32_t flags;     /* CHORDAL_TYPE_… */
    const char *params; /* names separated by spaces */
    const chordal_member *members;
    size_t members_len;
    chordal_function made;    /* an object was made; with START it answers chordal_object_start. May be NULL */
    chordal_function retired; /* it is no more: free *data. May be NULL */
} chordal_type;

#define CHORDAL_TYPE_KEEP 1    /* objects stay when nobody holds them */
#define CHORDAL_TYPE_START 2   /* `made` answers with chordal_object_start, at once or later */
#define CHORDAL_TYPE_GUARDED 4 /* handlers.guard is asked about each hold and call of a session */

/* ---- the dispatcher ---- */

/* Functions for the events of a program that holds references or looks after links; each may be NULL. Parts that an
 * event names are given back when the function returns. */
typedef struct chordal_handlers {
    uint32_t size;  /* sizeof(chordal_handlers) */
    uint32_t flags; /* 0 */
    void (*link)(void *context, chordal_host *host, const chordal_event_LINK *event);
    void (*output)(void *context, chordal_host *host, const chordal_event_OUTPUT *event);
    void (*reference)(void *context, chordal_host *host, const chordal_event_REFERENCE *event);
    void (*frame)(void *context, chordal_host *host, const chordal_event_FRAME *event);
    void (*result)(void *context, chordal_host *host, const chordal_event_RESULT *event);
    void (*ticket)(void *context, chordal_host *host, const chordal_event_TICKET *event);
    void (*cancel)(void *context, chordal_host *host, const chordal_event_CANCEL *event);
    void (*resolve)(void *context, chordal_host *host, const chordal_event_RESOLVE *event);
    /* Answers chordal_link_admit or chordal_link_refuse, at once or later. NULL: all are refused. */
    void (*authenticate)(void *context, chordal_host *host, const chordal_event_AUTHENTICATE *event);
    /* Answers chordal_guard_answer, at once or later. NULL: all is denied. */
    void (*guard)(void *context, chordal_host *host, const chordal_event_GUARD *event);
} chordal_handlers;

typedef struct chordal_dispatcher chordal_dispatcher;

/* A dispatcher for a host, which is borrowed. `handlers` (may be NULL) and type tables must outlive it. Errors: NOMEM.
 */
CHORDAL_API int chordal_dispatcher_open(chordal_host *host, const chordal_handlers *handlers, void *context,
                                        CHORDAL_OWN chordal_dispatcher **out, chordal_error *error);

/* Forget everything; `retired` is called for each object that is left. NULL is allowed. */
CHORDAL_API void chordal_dispatcher_close(CHORDAL_OWN chordal_dispatcher *dispatcher);

/* Provide a type by its table. Errors as chordal_type_provide. */
CHORDAL_API int chordal_dispatcher_provide(chordal_dispatcher *dispatcher, const chordal_type *type,
                                           chordal_error *error);

/* The declaration of a type table as JSON, as chordal_type_provide wants it. ROOM gives the size needed. */
CHORDAL_API int chordal_type_declaration(const chordal_type *type, char *buffer, size_t buffer_len, size_t *out_len,
                                         chordal_error *error);

/* Hand one event to its function; has the shape of chordal_uv_event. */
CHORDAL_API void chordal_dispatcher_event(void *dispatcher, chordal_host *host, const chordal_record *event);

/* Poll until nothing is left and hand out all events; for programs with a loop of their own. Errors as
 * chordal_host_poll. */
CHORDAL_API int chordal_dispatcher_turn(chordal_dispatcher *dispatcher, chordal_time now, chordal_error *error);

/* ---- reading records ---- */

/* What a span names, borrowed from the record. */
static inline const char *chordal_span_text(const chordal_record *record, chordal_span span) {
    return (const char *)record + span.offset;
}
/* The bytes of a part: inside the record, or by chordal_part_view. Borrowed until the part is given back. */
CHORDAL_API int chordal_part_bytes(chordal_host *host, const chordal_record *record, const chordal_part *part,
                                   const uint8_t **out_data, size_t *out_len);

#endif
