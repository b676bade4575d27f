/* One opened host of the C core: what is common to all its functions, its turn, its end.
 *
 * The core does no input or output and starts no thread. Every function is for the thread that opened the host; only
 * release may be called from any, also by the garbage collector. */
#include "core.h"
#include "core_parts.h"
#include <time.h>

enum { BUFFER = 64 * 1024 }; /* bytes that are polled at once */

PyTypeObject *core_type;

chordal_time core_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (chordal_time)now.tv_sec * 1000 + (chordal_time)now.tv_nsec / 1000000;
}

chordal_host *core_enter(core_object *self) {
    if (PyThread_get_thread_ident() != self->thread)
        return fail("busy", "a host belongs to the thread that it was opened in", 0);
    return self->host ? self->host : fail("closed", "the host is closed", 0);
}

bool core_check(core_object *self, int code) {
    return code >= 0 || fail_code(code, &self->error);
}

bool core_room(room *of, size_t len) {
    if (len <= of->len) return true;
    uint8_t *data = PyMem_Malloc(len);
    if (!data) return PyErr_NoMemory() != NULL;
    PyMem_Free(of->data);
    of->data = data;
    of->len = len;
    return true;
}

int core_id(PyObject *number, void *out) {
    uint64_t *id = out;
    if (!PyLong_Check(number)) {
        raise_of("type", "%s %U is not a whole number", number);
        return 0;
    }
    *id = PyLong_AsUnsignedLongLong(number);
    if (!PyErr_Occurred()) return 1;
    PyErr_Clear();
    return fail("range", "the number is out of range", 0) != NULL;
}

int core_small(PyObject *number, void *out) {
    uint64_t wide;
    uint32_t *small = out;
    if (!core_id(number, &wide)) return 0;
    *small = (uint32_t)wide;
    return wide <= UINT32_MAX || fail("range", "the number is out of range", 0);
}

PyObject *core_own(core_object *self, int code, chordal_id id) {
    PyObject *number = core_check(self, code) ? PyLong_FromUnsignedLongLong(id) : NULL;
    if (number && PySet_Add(self->owned, number) == 0) return number;
    if (code >= 0) chordal_release(self->host, id);
    if (number) { /* it may be in there all the same */
        PyErr_Clear();
        PySet_Discard(self->owned, number);
        PyErr_NoMemory();
        Py_DECREF(number);
    }
    return NULL;
}

/* ---- opening ---- */

#define OPTION(name)                                                                                                   \
    { #name, offsetof(chordal_host_options, name), sizeof(((chordal_host_options *)0)->name) }
static const struct option {
    const char *name;
    size_t offset, size;
} options[] = {
    OPTION(memory_limit),
    OPTION(depth_limit),
    OPTION(message_limit),
    OPTION(call_limit),
    OPTION(window_messages),
    OPTION(window_bytes),
    OPTION(parked_limit),
    OPTION(queue_limit),
    OPTION(dictionary_limit),
    OPTION(compute_timeout),
    OPTION(handshake_timeout),
    OPTION(ping_interval),
    OPTION(ping_timeout),
    OPTION(backoff_first),
    OPTION(backoff_limit),
    OPTION(session_lapse),
    OPTION(stall_timeout),
    OPTION(outcome_limit),
    OPTION(lost_limit),
    OPTION(name_high),
    OPTION(name_low),
    OPTION(resolve_timeout),
    OPTION(window_messages_limit),
    OPTION(window_bytes_limit),
    OPTION(turn_messages),
    OPTION(turn_bytes),
    OPTION(guard_timeout),
    OPTION(deflate),
    OPTION(store_durability),
    OPTION(store_flags),
    OPTION(store),
    OPTION(store_vfs),
    OPTION(dial_timeout),
};

/* A path or a name as bytes; the caller's object keeps it. */
static bool set_text(chordal_host_options *out, size_t offset, PyObject *value) {
    char *text;
    if (PyBytes_AsStringAndSize(value, &text, NULL) < 0) return false;
    memcpy((char *)out + offset, &text, sizeof text);
    return true;
}

static bool set_option(chordal_host_options *out, PyObject *name, PyObject *value) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, options[i].name) != 0) continue;
        bool is_text = options[i].offset == offsetof(chordal_host_options, store) ||
                       options[i].offset == offsetof(chordal_host_options, store_vfs);
        if (is_text) return set_text(out, options[i].offset, value);
        uint64_t number = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) return false;
        uint32_t small = (uint32_t)number;
        if (options[i].size == sizeof small && number > UINT32_MAX)
            return PyErr_Format(PyExc_OverflowError, "the option %U is too large", name);
        memcpy((char *)out + options[i].offset, options[i].size == sizeof small ? (void *)&small : (void *)&number,
               options[i].size);
        return true;
    }
    return PyErr_Format(PyExc_TypeError, "a host has no option %S", name);
}

/* Core(options) */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *words) {
    chordal_host_options given = {.size = sizeof given};
    PyObject *fields, *name, *value;
    Py_ssize_t at = 0;
    (void)words;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &fields)) return NULL;
    while (PyDict_Next(fields, &at, &name, &value))
        if (!set_option(&given, name, value)) return NULL;
    core_object *self = (core_object *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->thread = PyThread_get_thread_ident();
    self->owned = PySet_New(NULL);
    bool done = self->owned && core_room(&self->taken, BUFFER) && core_room(&self->polled, BUFFER) &&
                core_check(self, chordal_host_open(&given, &self->host, &self->error));
    if (done) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* ---- giving back ---- */

PyObject *core_release(PyObject *self_, PyObject *number) {
    core_object *self = (core_object *)self_;
    uint64_t id;
    if (!core_id(number, &id)) return NULL;
    int owned = PySet_Discard(self->owned, number);
    if (owned > 0) chordal_release(self->host, id);
    return owned < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *core_gone(PyObject *self, PyObject *number) {
    return PySet_Discard(((core_object *)self)->owned, number) < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *core_close(PyObject *self_, PyObject *nothing) {
    core_object *self = (core_object *)self_;
    (void)nothing;
    if (!self->host) Py_RETURN_NONE;
    if (!core_enter(self)) return NULL;
    chordal_host *host = self->host;
    self->host = NULL;
    PySet_Clear(self->owned);
    chordal_host_forget(host);
    Py_RETURN_NONE;
}

PyObject *core_adopt(PyObject *self, PyObject *nothing) {
    (void)nothing;
    ((core_object *)self)->thread = PyThread_get_thread_ident();
    Py_RETURN_NONE;
}

PyObject *core_enter_(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return core_enter((core_object *)self) ? Py_NewRef(Py_None) : NULL;
}

/* ---- the turn ---- */

static bool poll(core_object *self, chordal_host *host) {
    size_t len = 0;
    int code = CHORDAL_E_ROOM;
    while (code == CHORDAL_E_ROOM && core_room(&self->polled, len))
        code = chordal_host_poll(host, core_now(), self->polled.data, self->polled.len, &len, &self->error);
    if (PyErr_Occurred() || !core_check(self, code)) return false;
    self->polled_at = 0;
    self->polled_len = len;
    return true;
}

/* What cannot be read for want of memory stays, for the next poll. */
static bool read_polled(core_object *self, chordal_host *host, PyObject *events) {
    Py_ssize_t before = PyList_Size(events);
    if (records_read(events, self->polled.data, self->polled_len, &self->polled_at, host, self->owned)) return true;
    if (PyList_Size(events) > before) {
        PyErr_Clear();
        return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_MemoryError)) self->polled_at = self->polled_len;
    return false;
}

/* poll(events): appends to the list, or a new one, and answers it. */
PyObject *core_poll(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    PyObject *given = NULL;
    if (!host || !PyArg_ParseTuple(args, "|O!", &PyList_Type, &given)) return NULL;
    PyObject *events = given ? Py_NewRef(given) : PyList_New(0);
    int quiet = quiet_begin(); /* the buffer is the host's */
    bool done = events && (self->polled_at < self->polled_len || poll(self, host)) && read_polled(self, host, events);
    quiet_end(quiet);
    if (!done) Py_CLEAR(events);
    return events;
}

PyObject *core_deadline(PyObject *self, PyObject *nothing) {
    chordal_host *host = core_enter((core_object *)self);
    (void)nothing;
    if (!host) return NULL;
    bool waits = ((core_object *)self)->polled_at < ((core_object *)self)->polled_len;
    return PyLong_FromUnsignedLongLong(waits ? 0 : chordal_host_deadline(host));
}

PyObject *core_counters(PyObject *self, PyObject *nothing) {
    chordal_host *host = core_enter((core_object *)self);
    chordal_counters counters;
    (void)nothing;
    if (!host || !core_check((core_object *)self, chordal_host_counters(host, &counters, sizeof counters))) return NULL;
#define NAMED(name) "sK"
#define COUNTER(name) , #name, (unsigned long long)counters.name
    return Py_BuildValue("{" CHORDAL_COUNTERS(NAMED) "}" CHORDAL_COUNTERS(COUNTER));
}

PyObject *core_run(PyObject *self, PyObject *nothing) {
    chordal_host *host = core_enter((core_object *)self);
    uint8_t run[16];
    (void)nothing;
    if (!host || !core_check((core_object *)self, chordal_host_run(host, run))) return NULL;
    return PyBytes_FromStringAndSize((char *)run, sizeof run);
}

/* ---- the type ---- */

static PyObject *is_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!((core_object *)self)->host);
}

static PyObject *owned(PyObject *self, void *unused) {
    (void)unused;
    return PyFrozenSet_New(((core_object *)self)->owned);
}

static void dealloc(PyObject *self_) {
    core_object *self = (core_object *)self_;
    PyTypeObject *type = Py_TYPE(self);
    if (self->host && PyThread_get_thread_ident() == self->thread) chordal_host_forget(self->host);
    Py_XDECREF(self->owned);
    PyMem_Free(self->taken.data);
    PyMem_Free(self->polled.data);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyGetSetDef fields[] = {
    {"closed", is_closed, NULL, NULL, NULL},
    {"owned", owned, NULL, "Ids that are to be given back.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "Core(options)\n\nOne opened host of the C core."},
    {Py_tp_new, make},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, core_methods},
    {Py_tp_getset, fields},
    {0},
};
static PyType_Spec spec = {"chordal._native.Core", sizeof(core_object), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_add(PyObject *module) {
    return add_type(module, &spec, NULL, &core_type);
}
