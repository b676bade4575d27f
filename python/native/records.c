/* Event records to the package's named tuples. The fields come from the tables of the public header. */
#include "native.h"

static bool is_reserved(const char *name) {
    return strcmp(name, "reserved") == 0;
}

/* ---- one field ---- */

typedef struct source {
    const uint8_t *record;
    size_t len;
    chordal_host *host;
    PyObject *tuple;
    Py_ssize_t at;
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

/* The bytes of a part of the host, which is given back. */
static PyObject *view(chordal_host *host, chordal_id part) {
    const uint8_t *data;
    size_t len;
    chordal_error error = {0};
    int code = chordal_part_view(host, part, &data, &len);
    if (code < 0) return fail_code(code, &error);
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)len);
    chordal_release(host, part);
    return bytes;
}

static void put_part(source *in, const chordal_part *part) {
    if (part->part && in->host) {
        put(in, view(in->host, part->part));
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

static bool read_one(PyObject *events, const uint8_t *data, const chordal_record *head, chordal_host *host,
                     PyObject *owned) {
    source in = {.record = data, .len = head->length, .host = host};
    bool done = read_record(&in, head->kind);
    if (done && in.tuple) {
        PyObject *event = event_of(in.tuple, head->kind);
        done = event && PyList_Append(events, event) == 0;
        Py_XDECREF(event);
        if (done && owned && head->kind == CHORDAL_EVENT_CALL)
            done = PySet_Add(owned, PyTuple_GetItem(in.tuple, 1)) == 0;
    }
    Py_XDECREF(in.tuple);
    return done;
}

PyObject *records_read(const uint8_t *data, size_t len, chordal_host *host, PyObject *owned) {
    PyObject *events = PyList_New(0);
    chordal_record head;
    for (size_t at = 0; events && at < len; at += head.length) {
        bool fits = len - at >= sizeof head;
        if (fits) memcpy(&head, data + at, sizeof head);
        if (fits) fits = head.length >= sizeof head && head.length <= len - at;
        if (!fits) fail("malformed", "a record is cut off", at);
        if (!fits || !read_one(events, data + at, &head, host, owned)) Py_CLEAR(events);
    }
    return events;
}

PyObject *records_read_events(PyObject *module, PyObject *data) {
    reader in;
    PyObject *owner;
    (void)module;
    if (!reader_of(data, &in, &owner)) return NULL;
    PyObject *events = records_read(in.data, in.len, NULL, NULL);
    Py_DECREF(owner);
    return events;
}
