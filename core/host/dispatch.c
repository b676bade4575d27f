/* dispatch.c: events to functions by tables, for C programs. Built on the public functions alone. */
#include "chordal/dispatch.h"

#include "base/base.h"

/* An object of a table's type. */
typedef struct served {
    const chordal_type *type;
    chordal_id object;
    void *data;
} served;

typedef struct provided {
    chordal_id id;
    const chordal_type *type;
} provided;

struct chordal_dispatcher {
    chordal__memory *memory;
    chordal_host *host;
    const chordal_handlers *handlers;
    void *context;
    provided *types;
    size_t types_len, types_capacity;
    chordal__map objects; /* object id to served */
};

#define TYPES_LIMIT 4096
#define DISPATCH_BUFFER 16384

int chordal_dispatcher_open(chordal_host *host, const chordal_handlers *handlers, void *context,
                            CHORDAL_OWN chordal_dispatcher **out, chordal_error *error) {
    static const uint64_t seed[2] = {0, 0}; /* keys are ids of our own: nobody chooses them */
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    chordal_dispatcher *dispatcher = memory ? chordal__allocate_zero(memory, sizeof *dispatcher) : NULL;
    if (!dispatcher) {
        if (memory) chordal__memory_unref(memory);
        return chordal__fail(error, CHORDAL_E_NOMEM, 0, "dispatcher");
    }
    dispatcher->memory = memory;
    dispatcher->host = host;
    dispatcher->handlers = handlers;
    dispatcher->context = context;
    chordal__map_init(&dispatcher->objects, memory, seed);
    *out = dispatcher;
    return 0;
}

/* ---- declarations ---- */

static void write_names(chordal__buffer *out, const char *names) {
    bool first = true;
    chordal__buffer_byte(out, '[');
    while (names && *names) {
        size_t len = strcspn(names, " ");
        if (len) {
            chordal__buffer_text(out, first ? "\"" : ", \"");
            chordal__buffer_put(out, names, len);
            chordal__buffer_byte(out, '"');
            first = false;
        }
        names += len + (names[len] == ' ');
    }
    chordal__buffer_byte(out, ']');
}

/* What is between the braces of an object. */
static void write_inside(chordal__buffer *out, const char *object) {
    const char *begin = object ? strchr(object, '{') : NULL, *end = object ? strrchr(object, '}') : NULL;
    if (!begin || !end) return;
    chordal__buffer_text(out, ", ");
    chordal__buffer_put(out, begin + 1, (size_t)(end - begin - 1));
}

static void write_member(chordal__buffer *out, const chordal_member *member) {
    static const char *const kinds[] = {"", "document", "derive", "method", "table"};
    chordal__buffer_text(out, "{\"name\": \"");
    chordal__buffer_text(out, member->name);
    chordal__buffer_text(out, "\", \"kind\": \"");
    chordal__buffer_text(out, member->kind <= CHORDAL_MEMBER_TABLE ? kinds[member->kind] : "");
    chordal__buffer_byte(out, '"');
    if (member->kind == CHORDAL_MEMBER_DOCUMENT) {
        chordal__buffer_text(out, ", \"initial\": ");
        chordal__buffer_text(out, member->given ? member->given : "null");
    } else if (member->kind == CHORDAL_MEMBER_DERIVE) {
        chordal__buffer_text(out, ", \"from\": ");
        write_names(out, member->given);
    } else if (member->kind == CHORDAL_MEMBER_TABLE) {
        write_inside(out, member->given);
    } else if (member->given && strcmp(member->given, "idempotent") == 0) {
        chordal__buffer_text(out, ", \"idempotent\": true");
    } else if (member->given && strcmp(member->given, "durable") == 0) {
        chordal__buffer_text(out, ", \"durable\": true");
    }
    chordal__buffer_byte(out, '}');
}

static void write_declaration(chordal__buffer *out, const chordal_type *type) {
    chordal__buffer_text(out, "{\"name\": \"");
    chordal__buffer_text(out, type->name);
    chordal__buffer_text(out, "\", \"version\": ");
    chordal__buffer_decimal(out, type->version);
    chordal__buffer_text(out, ", \"params\": ");
    write_names(out, type->params);
    chordal__buffer_text(out, type->flags & CHORDAL_TYPE_KEEP ? ", \"keep\": true" : "");
    chordal__buffer_text(out, type->flags & CHORDAL_TYPE_GUARDED ? ", \"guarded\": true" : "");
    chordal__buffer_text(out, type->flags & CHORDAL_TYPE_START ? ", \"start\": true" : "");
    chordal__buffer_text(out, ", \"members\": [");
    for (size_t i = 0; i < type->members_len; i++) {
        chordal__buffer_text(out, i ? ",\n " : "");
        write_member(out, &type->members[i]);
    }
    chordal__buffer_text(out, "]}");
}

int chordal_type_declaration(const chordal_type *type, char *buffer, size_t buffer_len, size_t *out_len,
                             chordal_error *error) {
    chordal__memory *memory = chordal__memory_new(NULL, UINT64_MAX);
    if (!memory) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "declaration");
    chordal__buffer out;
    chordal__buffer_init(&out, memory, UINT32_MAX);
    write_declaration(&out, type);
    int code = out.failed;
    if (!code) {
        *out_len = out.len;
        if (out.len > buffer_len)
            code = CHORDAL_E_ROOM;
        else
            memcpy(buffer, out.data, out.len);
    }
    chordal__buffer_dispose(&out);
    chordal__memory_unref(memory);
    return code ? chordal__fail(error, code, 0, "declaration") : 0;
}

int chordal_dispatcher_provide(chordal_dispatcher *dispatcher, const chordal_type *type, chordal_error *error) {
    int code = chordal__grow(dispatcher->memory, (void **)&dispatcher->types, sizeof(provided),
                             &dispatcher->types_capacity, dispatcher->types_len + 1, TYPES_LIMIT);
    if (code) return chordal__fail(error, code, 0, "types");
    chordal__buffer declaration;
    chordal__buffer_init(&declaration, dispatcher->memory, UINT32_MAX);
    write_declaration(&declaration, type);
    chordal_id id = 0;
    code = declaration.failed ? chordal__fail(error, declaration.failed, 0, "declaration")
                              : chordal_type_provide(dispatcher->host, declaration.data, declaration.len, &id, error);
    chordal__buffer_dispose(&declaration);
    if (!code) dispatcher->types[dispatcher->types_len++] = (provided){id, type};
    return code;
}

/* ---- objects ---- */

static const chordal_type *type_of(const chordal_dispatcher *dispatcher, chordal_id id) {
    for (size_t i = 0; i < dispatcher->types_len; i++)
        if (dispatcher->types[i].id == id) return dispatcher->types[i].type;
    return NULL;
}

static served *served_of(chordal_dispatcher *dispatcher, chordal_id object) {
    return chordal__map_get(&dispatcher->objects, &object, sizeof object);
}

static void ask(chordal_dispatcher *dispatcher, served *object, chordal_function function, chordal_request *request) {
    if (!function) return;
    request->host = dispatcher->host;
    request->context = dispatcher->context;
    request->object = object->object;
    request->data = &object->data;
    function(request);
}

/* Ask a function with a part as its value. */
static void ask_part(chordal_dispatcher *dispatcher, served *object, chordal_function function,
                     chordal_request *request, const chordal_record *record, const chordal_part *part) {
    if (chordal_part_bytes(dispatcher->host, record, part, &request->packed, &request->packed_len)) return;
    int code = chordal_value_decode(dispatcher->host, CHORDAL_FORMAT_PACKED, request->packed, request->packed_len,
                                    &request->value, NULL);
    if (code) request->value = NULL; /* bytes among the arguments */
    ask(dispatcher, object, function, request);
    chordal_value_unref(request->value);
}

static void object_made(chordal_dispatcher *dispatcher, const chordal_event_OBJECT *event) {
    const chordal_type *type = type_of(dispatcher, event->type);
    if (!type) return;
    served *object = chordal__allocate_zero(dispatcher->memory, sizeof *object);
    if (!object) return;
    *object = (served){type, event->object, NULL};
    if (chordal__map_put(&dispatcher->objects, &event->object, sizeof event->object, object)) {
        chordal__release(dispatcher->memory, object, sizeof *object);
        return;
    }
    chordal_request request = {.version = event->version};
    ask_part(dispatcher, object, type->made, &request, &event->record, &event->params);
}

static void object_retired(chordal_dispatcher *dispatcher, chordal_id id) {
    served *object = chordal__map_remove(&dispatcher->objects, &id, sizeof id);
    if (!object) return;
    ask(dispatcher, object, object->type->retired, &(chordal_request){0});
    chordal__release(dispatcher->memory, object, sizeof *object);
}

void chordal_dispatcher_close(CHORDAL_OWN chordal_dispatcher *dispatcher) {
    if (!dispatcher) return;
    size_t at = 0;
    for (served *object; (object = chordal__map_next(&dispatcher->objects, &at));) {
        ask(dispatcher, object, object->type->retired, &(chordal_request){0});
        chordal__release(dispatcher->memory, object, sizeof *object);
    }
    chordal__map_dispose(&dispatcher->objects);
    chordal__memory *memory = dispatcher->memory;
    chordal__release(memory, dispatcher->types, dispatcher->types_capacity * sizeof(provided));
    chordal__release(memory, dispatcher, sizeof *dispatcher);
    chordal__memory_unref(memory);
}

/* ---- events ---- */

int chordal_part_bytes(chordal_host *host, const chordal_record *record, const chordal_part *part,
                       const uint8_t **out_data, size_t *out_len) {
    if (part->part) return chordal_part_view(host, part->part, out_data, out_len);
    *out_data = (const uint8_t *)record + part->offset;
    *out_len = part->length;
    return 0;
}

#define DISPATCH(NAME, name)                                                                                           \
    static void on_##NAME(chordal_dispatcher *dispatcher, const chordal_record *record) {                              \
        const chordal_handlers *handlers = dispatcher->handlers;                                                       \
        if (handlers && handlers->name)                                                                                \
            handlers->name(dispatcher->context, dispatcher->host, (const chordal_event_##NAME *)(const void *)record); \
    }
DISPATCH(LINK, link)
DISPATCH(OUTPUT, output)
DISPATCH(REFERENCE, reference)
DISPATCH(FRAME, frame)
DISPATCH(RESULT, result)
DISPATCH(TICKET, ticket)
DISPATCH(CANCEL, cancel)
DISPATCH(RESOLVE, resolve)

/* A function that was added to the table later: a program that was built before has none. */
#define HAS(handlers, name)                                                                                            \
    ((handlers) && (handlers)->size >= offsetof(chordal_handlers, name) + sizeof(handlers)->name && (handlers)->name)

static void on_AUTHENTICATE(chordal_dispatcher *dispatcher, const chordal_record *record) {
    const chordal_event_AUTHENTICATE *event = (const void *)record;
    if (HAS(dispatcher->handlers, authenticate))
        dispatcher->handlers->authenticate(dispatcher->context, dispatcher->host, event);
    else
        chordal_link_refuse(dispatcher->host, event->link, "", 0, NULL);
}

static void on_GUARD(chordal_dispatcher *dispatcher, const chordal_record *record) {
    const chordal_event_GUARD *event = (const void *)record;
    if (HAS(dispatcher->handlers, guard))
        dispatcher->handlers->guard(dispatcher->context, dispatcher->host, event);
    else
        chordal_guard_answer(dispatcher->host, event->guard, CHORDAL_GUARD_DENY, NULL);
}

static void on_OBJECT(chordal_dispatcher *dispatcher, const chordal_record *record) {
    const chordal_event_OBJECT *event = (const void *)record;
    if (event->state == CHORDAL_OBJECT_MADE)
        object_made(dispatcher, event);
    else
        object_retired(dispatcher, event->object);
}

static const char no_function[] = "no function serves this member";

static const chordal_member *member_of(const served *object, uint32_t member) {
    return object && member < object->type->members_len ? &object->type->members[member] : NULL;
}

static void on_CALL(chordal_dispatcher *dispatcher, const chordal_record *record) {
    const chordal_event_CALL *event = (const void *)record;
    served *object = served_of(dispatcher, event->object);
    const chordal_member *member = member_of(object, event->member);
    if (!member || !member->function) {
        chordal_call_fail(dispatcher->host, event->call, "no_member", 9, no_function, sizeof no_function - 1, NULL);
        return;
    }
    chordal_request request = {.id = event->call, .origin = event->origin};
    if (event->authority.length && chordal_call_authority(dispatcher->host, event->call, &request.authority, NULL)) {
        chordal_call_fail(dispatcher->host, event->call, "nomem", 5, "", 0, NULL);
        return;
    }
    ask_part(dispatcher, object, member->function, &request, record, &event->arguments);
    chordal_value_unref(request.authority);
}

static void on_COMPUTE(chordal_dispatcher *dispatcher, const chordal_record *record) {
    const chordal_event_COMPUTE *event = (const void *)record;
    served *object = served_of(dispatcher, event->object);
    const chordal_member *member = member_of(object, event->member);
    if (!member || !member->function) {
        chordal_compute_fail(dispatcher->host, event->compute, "no_member", 9, no_function, sizeof no_function - 1,
                             NULL);
        return;
    }
    ask(dispatcher, object, member->function, &(chordal_request){.id = event->compute});
}

/* Where a record's part is, in the order of the event numbers; 0: it has none. */
static const size_t part_offsets[CHORDAL_EVENT_END] = {
    [CHORDAL_EVENT_REFERENCE] = offsetof(chordal_event_REFERENCE, members),
    [CHORDAL_EVENT_FRAME] = offsetof(chordal_event_FRAME, ops),
    [CHORDAL_EVENT_OBJECT] = offsetof(chordal_event_OBJECT, params),
    [CHORDAL_EVENT_CALL] = offsetof(chordal_event_CALL, arguments),
    [CHORDAL_EVENT_RESULT] = offsetof(chordal_event_RESULT, value),
    [CHORDAL_EVENT_RESOLVE] = offsetof(chordal_event_RESOLVE, params),
    [CHORDAL_EVENT_AUTHENTICATE] = offsetof(chordal_event_AUTHENTICATE, credentials),
    [CHORDAL_EVENT_GUARD] = offsetof(chordal_event_GUARD, params),
};

#define ON_EVENT(NAME, number, fields) [CHORDAL_EVENT_##NAME] = on_##NAME,
static void (*const on_event[CHORDAL_EVENT_END])(chordal_dispatcher *dispatcher,
                                                 const chordal_record *record) = {CHORDAL_EVENTS(ON_EVENT)};

void chordal_dispatcher_event(void *dispatcher, chordal_host *host, const chordal_record *event) {
    if (event->kind >= CHORDAL_EVENT_END || !on_event[event->kind]) return;
    on_event[event->kind](dispatcher, event);
    size_t offset = part_offsets[event->kind];
    if (!offset) return;
    const chordal_part *part = (const void *)((const uint8_t *)event + offset);
    if (part->part) chordal_release(host, part->part);
}

/* Hand out the records of one poll. */
static void hand_out(chordal_dispatcher *dispatcher, const uint8_t *records, size_t len) {
    for (size_t at = 0; at + sizeof(chordal_record) <= len;) {
        const chordal_record *record = (const void *)(records + at);
        at += record->length;
        chordal_dispatcher_event(dispatcher, dispatcher->host, record);
    }
}

int chordal_dispatcher_turn(chordal_dispatcher *dispatcher, chordal_time now, chordal_error *error) {
    uint64_t small[DISPATCH_BUFFER / sizeof(uint64_t)];
    uint8_t *buffer = (uint8_t *)small, *big = NULL;
    size_t room = sizeof small, len = 0;
    int code;
    for (;;) {
        code = chordal_host_poll(dispatcher->host, now, buffer, room, &len, error);
        if (code == CHORDAL_E_ROOM) {
            uint8_t *grown = chordal__resize(dispatcher->memory, big, big ? room : 0, len);
            if (!grown) {
                code = chordal__fail(error, CHORDAL_E_NOMEM, 0, "event buffer");
                break;
            }
            buffer = big = grown, room = len;
            continue;
        }
        if (code || len == 0) break;
        hand_out(dispatcher, buffer, len);
    }
    if (big) chordal__release(dispatcher->memory, big, room);
    return code;
}
