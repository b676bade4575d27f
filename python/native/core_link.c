/* A host's links: frames in and out. */
#include "core_parts.h"

PyObject *core_link_close(PyObject *self, PyObject *id) {
    return core_act(self, id, chordal_link_close);
}

static int down(chordal_host *host, chordal_id id, chordal_error *error) {
    return chordal_link_down(host, id, core_now(), error);
}
PyObject *core_link_down(PyObject *self, PyObject *id) {
    return core_act(self, id, down);
}

static int retry(chordal_host *host, chordal_id id, chordal_error *error) {
    return chordal_link_retry(host, id, core_now(), error);
}
PyObject *core_link_retry(PyObject *self, PyObject *id) {
    return core_act(self, id, retry);
}

static int progress(chordal_host *host, chordal_id id, chordal_error *error) {
    return chordal_link_progress(host, id, core_now(), error);
}
/* link_progress(link): a piece of a frame arrived. */
PyObject *core_link_progress(PyObject *self, PyObject *id) {
    return core_act(self, id, progress);
}

PyObject *core_link_open(PyObject *self_, PyObject *flags) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint32_t given;
    chordal_id id = 0;
    if (!host || !core_small(flags, &given)) return NULL;
    int code = chordal_link_open(host, given, &id, &self->error);
    return core_own(self, code, id);
}

PyObject *core_link_up(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t link;
    uint32_t codec;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &link, core_small, &codec)) return NULL;
    bool done = core_check(self, chordal_link_up(host, link, codec, core_now(), &self->error));
    return done ? Py_NewRef(Py_None) : NULL;
}

/* host_leave() */
PyObject *core_host_leave(PyObject *self_, PyObject *ignored) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    (void)ignored;
    bool done = host && core_check(self, chordal_host_leave(host, 0, core_now(), &self->error));
    return done ? Py_NewRef(Py_None) : NULL;
}

/* link_drain(link, span) */
PyObject *core_link_drain(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t link, span;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &link, core_id, &span)) return NULL;
    bool done = core_check(self, chordal_link_drain(host, link, span, core_now(), &self->error));
    return done ? Py_NewRef(Py_None) : NULL;
}

/* link_offers(link, type) */
PyObject *core_link_offers(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t link;
    PyObject *type;
    utf8 name;
    uint32_t offers = 0;
    if (!host || !PyArg_ParseTuple(args, "O&U", core_id, &link, &type) || !utf8_of(type, &name)) return NULL;
    bool done = core_check(self, chordal_link_offers(host, link, name.data, (size_t)name.len, &offers, &self->error));
    utf8_done(&name);
    return done ? PyBool_FromLong((long)offers) : NULL;
}

/* link_feed(link, frame): one whole transport frame arrived, text or bytes. */
PyObject *core_link_feed(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t link;
    PyObject *frame;
    if (!host || !PyArg_ParseTuple(args, "O&O", core_id, &link, &frame)) return NULL;
    uint32_t kind = PyUnicode_Check(frame) ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY;
    PyObject *data = kind == CHORDAL_FRAME_TEXT ? PyUnicode_AsUTF8String(frame) : Py_NewRef(frame);
    PyObject *owner = NULL;
    reader in;
    bool done = data && reader_of(data, &in, &owner) && (host = core_enter(self));
    done = done && core_check(self, chordal_link_feed(host, link, kind, in.data, in.len, core_now(), &self->error));
    Py_XDECREF(data);
    Py_XDECREF(owner);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* link_take(link): the next frame to send, as text or bytes; None: nothing now. */
PyObject *core_link_take(PyObject *self_, PyObject *number) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    chordal_id link = host ? PyLong_AsUnsignedLongLong(number) : 0;
    size_t len = 0;
    uint32_t kind = 0;
    int code = CHORDAL_E_ROOM;
    if (!host || PyErr_Occurred()) return NULL;
    while (code == CHORDAL_E_ROOM && core_room(&self->taken, len))
        code = chordal_link_take(host, link, self->taken.data, self->taken.len, &len, &kind, &self->error);
    if (PyErr_Occurred() || !core_check(self, code)) return NULL;
    if (!kind) Py_RETURN_NONE;
    PyObject *frame = kind == CHORDAL_FRAME_TEXT ? PyUnicode_DecodeUTF8((char *)self->taken.data, (Py_ssize_t)len, NULL)
                                                 : PyBytes_FromStringAndSize((char *)self->taken.data, (Py_ssize_t)len);
    if (!frame) chordal_link_down(host, link, core_now(), NULL); /* what follows is of no use without it */
    return frame;
}

/* The bytes of the largest frame that is taken; a larger one is to be fed cut off, and is refused. */
PyObject *core_link_limit(PyObject *self, PyObject *nothing) {
    chordal_host *host = core_enter((core_object *)self);
    (void)nothing;
    return host ? PyLong_FromUnsignedLongLong(chordal_link_limit(host)) : NULL;
}

/* link_carry(link, other, other_link): all waiting frames both ways between two links of one thread; how many. */
PyObject *core_link_carry(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *a = core_enter(self), *b;
    uint64_t link, other_link;
    PyObject *other;
    size_t frames = 0;
    if (!a || !PyArg_ParseTuple(args, "O&O!O&", core_id, &link, core_type, &other, core_id, &other_link)) return NULL;
    if (!(b = core_enter((core_object *)other))) return NULL;
    int code = chordal_link_carry(a, link, b, other_link, core_now(), &frames, &self->error);
    return core_check(self, code) ? PyLong_FromSize_t(frames) : NULL;
}
