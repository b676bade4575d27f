/* Who is admitted at a host's links, who may what, and how it is taken back. */
#include "core_parts.h"

typedef int of_value(chordal_host *host, chordal_id id, uint32_t format, const uint8_t *value, size_t len,
                     chordal_error *error);

/* (id, value) */
static PyObject *give(PyObject *self_, PyObject *args, of_value *act) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t id;
    PyObject *value;
    writer out = {0};
    if (!host || !PyArg_ParseTuple(args, "O&O", core_id, &id, &value)) return NULL;
    bool done = put_value(&out, value, DEPTH) && (host = core_enter(self)) &&
                core_check(self, act(host, id, CHORDAL_FORMAT_PACKED, out.data, out.len, &self->error));
    PyMem_Free(out.data);
    return done ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_link_credentials(PyObject *self, PyObject *args) {
    return give(self, args, chordal_link_credentials);
}
PyObject *core_link_admit(PyObject *self, PyObject *args) {
    return give(self, args, chordal_link_admit);
}

/* link_refuse(link, reason) */
PyObject *core_link_refuse(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t id;
    PyObject *reason;
    utf8 words;
    if (!host || !PyArg_ParseTuple(args, "O&U", core_id, &id, &reason) || !utf8_of(reason, &words)) return NULL;
    bool done = core_check(self, chordal_link_refuse(host, id, words.data, (size_t)words.len, &self->error));
    utf8_done(&words);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* guard_answer(guard, answer) */
PyObject *core_guard_answer(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t id;
    uint32_t answer;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &id, core_small, &answer)) return NULL;
    bool done = core_check(self, chordal_guard_answer(host, id, answer, &self->error));
    return done ? Py_NewRef(Py_None) : NULL;
}

/* revoke(object, authority, reason): object 0 is all of them. */
PyObject *core_revoke(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t id;
    PyObject *authority, *reason;
    utf8 words;
    writer out = {0};
    int code = 0;
    if (!host || !PyArg_ParseTuple(args, "O&OU", core_id, &id, &authority, &reason) || !utf8_of(reason, &words))
        return NULL;
    bool done = put_value(&out, authority, DEPTH) && (host = core_enter(self));
    if (done && id)
        code = chordal_object_revoke(host, id, CHORDAL_FORMAT_PACKED, out.data, out.len, words.data, (size_t)words.len,
                                     &self->error);
    else if (done)
        code = chordal_host_revoke(host, CHORDAL_FORMAT_PACKED, out.data, out.len, words.data, (size_t)words.len,
                                   &self->error);
    done = done && core_check(self, code);
    utf8_done(&words);
    PyMem_Free(out.data);
    return done ? Py_NewRef(Py_None) : NULL;
}
