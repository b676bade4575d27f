/* What a host provides: types, objects, the calls and computes that it answers, commits. */
#include "core_parts.h"

PyObject *core_act(PyObject *self, PyObject *number, one_id *act) {
    chordal_host *host = core_enter((core_object *)self);
    chordal_id id = host ? PyLong_AsUnsignedLongLong(number) : 0;
    if (!host || PyErr_Occurred()) return NULL;
    return core_check((core_object *)self, act(host, id, &((core_object *)self)->error)) ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_object_drop(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_object_drop);
}
PyObject *core_object_retire(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_object_retire);
}

PyObject *core_type_provide(PyObject *self_, PyObject *declaration) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    reader in;
    PyObject *owner;
    chordal_id id = 0;
    if (!host || !reader_of(declaration, &in, &owner)) return NULL;
    bool done =
        (host = core_enter(self)) && core_check(self, chordal_type_provide(host, in.data, in.len, &id, &self->error));
    Py_DECREF(owner);
    return done ? PyLong_FromUnsignedLongLong(id) : NULL;
}

PyObject *core_type_place(PyObject *self_, PyObject *type) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    utf8 name;
    if (!host || !utf8_of(type, &name)) return NULL;
    bool done = core_check(self, chordal_type_place(host, name.data, (size_t)name.len, &self->error));
    utf8_done(&name);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* resolve(question, link) */
PyObject *core_resolve(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t question, link;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &question, core_id, &link)) return NULL;
    return core_check(self, chordal_resolve(host, question, link, &self->error)) ? Py_NewRef(Py_None) : NULL;
}

/* object_get(type, params): params as a value. */
PyObject *core_object_get(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    PyObject *type, *params;
    chordal_id id = 0;
    utf8 name;
    writer out = {0};
    if (!host || !PyArg_ParseTuple(args, "UO", &type, &params) || !utf8_of(type, &name)) return NULL;
    bool done = put_value(&out, params, DEPTH) && (host = core_enter(self)) &&
                core_check(self, chordal_object_get(host, name.data, (size_t)name.len, CHORDAL_FORMAT_PACKED, out.data,
                                                    out.len, &id, &self->error));
    utf8_done(&name);
    PyMem_Free(out.data);
    return done ? PyLong_FromUnsignedLongLong(id) : NULL;
}

/* object_read(object, member): the head of a document or derive, as a value. */
PyObject *core_object_read(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t object;
    uint32_t member;
    size_t len = 0;
    int code = CHORDAL_E_ROOM;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &object, core_small, &member)) return NULL;
    while (code == CHORDAL_E_ROOM && core_room(&self->taken, len))
        code = chordal_object_read(host, object, member, CHORDAL_FORMAT_PACKED, self->taken.data, self->taken.len, &len,
                                   &self->error);
    if (PyErr_Occurred() || !core_check(self, code)) return NULL;
    reader in = {self->taken.data, len, 0};
    int quiet = quiet_begin(); /* the buffer is the host's */
    PyObject *value = get_value(&in);
    quiet_end(quiet);
    return value;
}

typedef int with_words(chordal_host *host, chordal_id id, const char *name, size_t name_len, const char *message,
                       size_t message_len, chordal_error *error);

static bool tell(PyObject *self_, PyObject *args, with_words *act, PyObject **number) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    PyObject *name, *message;
    utf8 code, words = {0};
    if (!host || !PyArg_ParseTuple(args, "OUU", number, &name, &message)) return false;
    chordal_id id = PyLong_AsUnsignedLongLong(*number);
    if (PyErr_Occurred() || !utf8_of(name, &code)) return false;
    bool done = utf8_of(message, &words) && core_check(self, act(host, id, code.data, (size_t)code.len, words.data,
                                                                 (size_t)words.len, &self->error));
    utf8_done(&code);
    utf8_done(&words);
    return done;
}

PyObject *core_object_start(PyObject *self, PyObject *args) {
    PyObject *number;
    return tell(self, args, chordal_object_start, &number) ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_resolve_fail(PyObject *self, PyObject *args) {
    PyObject *number;
    return tell(self, args, chordal_resolve_fail, &number) ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_compute_fail(PyObject *self, PyObject *args) {
    PyObject *number;
    return tell(self, args, chordal_compute_fail, &number) ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_call_fail(PyObject *self, PyObject *args) {
    PyObject *number;
    return tell(self, args, chordal_call_fail, &number) ? core_gone(self, number) : NULL;
}

/* compute_answer(compute, value) */
PyObject *core_compute_answer(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t id;
    PyObject *value;
    writer out = {0};
    if (!host || !PyArg_ParseTuple(args, "O&O", core_id, &id, &value)) return NULL;
    bool done =
        put_value(&out, value, DEPTH) && (host = core_enter(self)) &&
        core_check(self, chordal_compute_answer(host, id, CHORDAL_FORMAT_PACKED, out.data, out.len, &self->error));
    PyMem_Free(out.data);
    return done ? Py_NewRef(Py_None) : NULL;
}

static bool answer_raw(core_object *self, chordal_id id, PyObject *value) {
    reader in;
    PyObject *owner;
    if (!reader_of(value, &in, &owner)) return false;
    bool done =
        core_enter(self) && core_check(self, chordal_call_answer(self->host, id, 0, in.data, in.len, &self->error));
    Py_DECREF(owner);
    return done;
}

static bool answer(core_object *self, chordal_id id, PyObject *value) {
    writer out = {0};
    bool done =
        put_value(&out, value, DEPTH) && core_enter(self) &&
        core_check(self, chordal_call_answer(self->host, id, CHORDAL_FORMAT_PACKED, out.data, out.len, &self->error));
    PyMem_Free(out.data);
    return done;
}

/* call_answer(call, value): a value, or bytes, which travel raw. */
PyObject *core_call_answer(PyObject *self, PyObject *args) {
    PyObject *number, *value;
    if (!core_enter((core_object *)self) || !PyArg_ParseTuple(args, "OO", &number, &value)) return NULL;
    chordal_id id = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) return NULL;
    bool raw = PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value);
    return (raw ? answer_raw : answer)((core_object *)self, id, value) ? core_gone(self, number) : NULL;
}

/* commit(call, changes): the number of the ticket; None when there is no memory for it. */
PyObject *core_commit(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    uint64_t call;
    const char *changes;
    Py_ssize_t len;
    chordal_id id = 0;
    if (!PyArg_ParseTuple(args, "O&y#", core_id, &call, &changes, &len)) return NULL;
    chordal_host *host = core_enter(self); /* a buffer may be the program's code */
    if (!host) return NULL;
    int code = chordal_commit(host, call, (const uint8_t *)changes, (size_t)len, &id, &self->error);
    if (!core_check(self, code)) return NULL;
    PyObject *number = PyLong_FromUnsignedLongLong(id);
    if (number) return number;
    PyErr_Clear(); /* it is committed all the same */
    Py_RETURN_NONE;
}
