/* Event records to the package's named tuples. The fields come from the tables of the public header. */
#include "native.h"

static bool is_reserved(const char *name) {
    return strcmp(name, "reserved") == 0;
}

enum { PARTS = 4 }; /* of one event */

/* ---- one field ---- */

typedef struct source {
    const uint8_t *record;
    size_t len;
    chordal_host *host;
    PyObject *tuple;
    Py_ssize_t at;
    chordal_id parts[PARTS]; /* of the host, to be given back once the event is there */
    unsigned parts_len;
} source;

static void put(source *in, PyObject *value) {
    if (value) PyTuple_SetItem(in->tuple, in->at++, value);
}

static bool inside(const source *in, size_t offset, size_t len) {
    return (offset <= in->len && len <= in->len - offset) || fail("malformed", "a record is cut off", offset);
}

static void put_span(source *in, const chordal_span *span) {
    if (inside(in, span->offset, span->length))
        put(in, text_read(in->record + span->offset, span->length, span->offset));
}

/* The bytes of a part of the host. */
static PyObject *view(source *in, chordal_id part) {
    const uint8_t *data;
    size_t len;
    chordal_error error = {0};
    int code = chordal_part_view(in->host, part, &data, &len);
    if (code < 0) return fail_code(code, &error);
    in->parts[in->parts_len++] = part;
    return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)len);
}

static void give_back_parts(const source *in) {
    for (unsigned i = 0; i < in->parts_len; i++) chordal_release(in->host, in->parts[i]);
}

static void put_part(source *in, const chordal_part *part) {
    if (part->part && in->host) {
        put(in, view(in, part->part));
        put(in, PyLong_FromLong(0));
        return;
    }
    size_t len = part->part ? 0 : part->length;
    if (!inside(in, len ? part->offset : 0, len)) return;
    put(in, PyBytes_FromStringAndSize((const char *)in->record + (len ? part->offset : 0), (Py_ssize_t)len));
    put(in, PyLong_FromUnsignedLongLong(part->part));
}

static void put_id(source *in, const uint64_t *value) {
    put(in, PyLong_FromUnsignedLongLong(*value));
}
static void put_u64(source *in, const uint64_t *value) {
    put(in, PyLong_FromUnsignedLongLong(*value));
}
static void put_u32(source *in, const uint32_t *value) {
    put(in, PyLong_FromUnsignedLong(*value));
}
static void put_i32(source *in, const int32_t *value) {
    put(in, PyLong_FromLong(*value));
}

/* ---- one record ---- */

#define PUT_FIELD(type, name)                                                                                          \
    if (!is_reserved(#name) && !PyErr_Occurred()) put_##type(in, &event.name);
#define READ_EVENT(NAME, number, FIELDS_OF)                                                                            \
    static bool read_##NAME(source *in) {                                                                              \
        chordal_event_##NAME event;                                                                                    \
        if (!inside(in, 0, sizeof event)) return false;                                                                \
        memcpy(&event, in->record, sizeof event);                                                                      \
        put(in, PyLong_FromLong(event.record.flags));                                                                  \
        FIELDS_OF(PUT_FIELD)                                                                                           \
        return !PyErr_Occurred();                                                                                      \
    }
CHORDAL_EVENTS(READ_EVENT)

#define COUNT_id 1
#define COUNT_u64 1
#define COUNT_u32 1
#define COUNT_i32 1
#define COUNT_span 1
#define COUNT_part 2
#define IS_id 0
#define IS_u64 0
#define IS_u32 0
#define IS_i32 0
#define IS_span 0
#define IS_part 1
#define COUNT_PART(type, name) +IS_##type
#define PARTS_FIT(NAME, number, FIELDS_OF)                                                                             \
    _Static_assert((0 FIELDS_OF(COUNT_PART)) <= PARTS, "an event has more parts");
CHORDAL_EVENTS(PARTS_FIT)

#define COUNT_FIELD(type, name) +(is_reserved(#name) ? 0 : COUNT_##type)
#define EVENT_CASE(NAME, number, FIELDS_OF)                                                                            \
    case number:                                                                                                       \
        in->tuple = PyTuple_New(1 FIELDS_OF(COUNT_FIELD));                                                             \
        return in->tuple && read_##NAME(in);

static bool read_record(source *in, unsigned kind) {
    switch (kind) {
        CHORDAL_EVENTS(EVENT_CASE)
    default:
        return true;
    }
}

/* The record as the class of its kind. */
static PyObject *event_of(PyObject *tuple, unsigned kind) {
    PyObject *class = PyList_GetItem(py.events, (Py_ssize_t)kind);
    PyObject *args = class ? PyTuple_Pack(1, tuple) : NULL;
    PyObject *event = args ? py.tuple_new((PyTypeObject *)class, args, NULL) : NULL;
    Py_XDECREF(args);
    return event;
}

/* A call is the program's to answer. */
static bool own_call(PyObject *owned, unsigned kind, PyObject *tuple) {
    return !owned || kind != CHORDAL_EVENT_CALL || PySet_Add(owned, PyTuple_GetItem(tuple, 1)) == 0;
}

static bool read_one(PyObject *events, const uint8_t *data, const chordal_record *head, chordal_host *host,
                     PyObject *owned) {
    source in = {.record = data, .len = head->length, .host = host};
    bool done = read_record(&in, head->kind);
    if (done && in.tuple) {
        PyObject *event = event_of(in.tuple, head->kind);
        done = event && own_call(owned, head->kind, in.tuple) && PyList_Append(events, event) == 0;
        Py_XDECREF(event);
    }
    if (done) give_back_parts(&in);
    Py_XDECREF(in.tuple);
    return done;
}

static bool read_head(const uint8_t *data, size_t len, size_t at, chordal_record *head) {
    if (len - at >= sizeof *head) {
        memcpy(head, data + at, sizeof *head);
        if (head->length >= sizeof *head && head->length <= len - at) return true;
    }
    return fail("malformed", "a record is cut off", at);
}

bool records_read(PyObject *events, const uint8_t *data, size_t len, size_t *at, chordal_host *host, PyObject *owned) {
    chordal_record head;
    for (; *at < len; *at += head.length)
        if (!read_head(data, len, *at, &head) || !read_one(events, data + *at, &head, host, owned)) return false;
    return true;
}

PyObject *records_read_events(PyObject *module, PyObject *data) {
    reader in;
    PyObject *owner;
    (void)module;
    if (!reader_of(data, &in, &owner)) return NULL;
    size_t at = 0;
    PyObject *events = PyList_New(0);
    if (events && !records_read(events, in.data, in.len, &at, NULL, NULL)) Py_CLEAR(events);
    Py_DECREF(owner);
    return events;
}
