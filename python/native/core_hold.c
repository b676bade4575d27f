/* What a host holds: references and their watches, calls; and values by themselves. */
#include "core_parts.h"

PyObject *core_reference_retry(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_reference_retry);
}
PyObject *core_watch_take(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_watch_take);
}
PyObject *core_watch_reset(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_watch_reset);
}
PyObject *core_call_cancel(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_call_cancel);
}

/* reference_get(link, type, version, flags, params): params as a value. */
PyObject *core_reference_get(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t link;
    uint32_t version, flags;
    PyObject *type, *params, *number = NULL;
    chordal_id id = 0;
    utf8 name;
    writer out = {0};
    if (!host ||
        !PyArg_ParseTuple(args, "O&UO&O&O", core_id, &link, &type, core_small, &version, core_small, &flags, &params))
        return NULL;
    if (!utf8_of(type, &name)) return NULL;
    if (put_value(&out, params, DEPTH) && (host = core_enter(self))) {
        int code = chordal_reference_get(host, link, name.data, (size_t)name.len, version, flags, CHORDAL_FORMAT_PACKED,
                                         out.data, out.len, &id, &self->error);
        number = core_own(self, code, id);
    }
    utf8_done(&name);
    PyMem_Free(out.data);
    return number;
}

/* call_start(reference, method, arguments, timeout): arguments are values, or bytes, which travel raw. */
PyObject *core_call_start(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t reference, timeout;
    PyObject *method, *arguments, *number = NULL;
    chordal_id id = 0;
    utf8 name;
    writer out = {0};
    if (!host ||
        !PyArg_ParseTuple(args, "O&UO!O&", core_id, &reference, &method, &PyTuple_Type, &arguments, core_id, &timeout))
        return NULL;
    if (!utf8_of(method, &name)) return NULL;
    if (put_arguments(&out, arguments, DEPTH) && (host = core_enter(self))) {
        int code = chordal_call_start(host, reference, name.data, (size_t)name.len, CHORDAL_FORMAT_PACKED, out.data,
                                      out.len, timeout, &id, &self->error);
        number = core_own(self, code, id);
    }
    utf8_done(&name);
    PyMem_Free(out.data);
    return number;
}

/* convert(data, from, to): a value from one format to another. */
PyObject *core_convert(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    const char *data;
    Py_ssize_t len;
    uint32_t from, to;
    chordal_value *value;
    size_t size = 0;
    if (!PyArg_ParseTuple(args, "y#O&O&", &data, &len, core_small, &from, core_small, &to)) return NULL;
    chordal_host *host = core_enter(self); /* a buffer may be the program's code */
    if (!host) return NULL;
    int code = chordal_value_decode(host, from, (const uint8_t *)data, (size_t)len, &value, &self->error);
    if (!core_check(self, code)) return NULL;
    code = CHORDAL_E_ROOM;
    while (code == CHORDAL_E_ROOM && core_room(&self->taken, size))
        code = chordal_value_encode(value, to, self->taken.data, self->taken.len, &size, &self->error);
    chordal_value_unref(value);
    if (PyErr_Occurred() || !core_check(self, code)) return NULL;
    return PyBytes_FromStringAndSize((char *)self->taken.data, (Py_ssize_t)size);
}

/* digest(value) */
PyObject *core_digest(PyObject *self_, PyObject *given) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    chordal_value *value;
    PyObject *digest = NULL;
    writer out = {0};
    if (!host) return NULL;
    if (put_value(&out, given, DEPTH) && (host = core_enter(self)) &&
        core_check(self, chordal_value_decode(host, CHORDAL_FORMAT_PACKED, out.data, out.len, &value, &self->error))) {
        digest = PyLong_FromUnsignedLongLong(chordal_value_digest(value));
        chordal_value_unref(value);
    }
    PyMem_Free(out.data);
    return digest;
}
