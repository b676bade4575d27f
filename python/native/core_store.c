/* What lies in a host's store. */
#include "core_parts.h"

/* A value of the core as a native one; it is given back. */
static PyObject *native_of(core_object *self, chordal_value *value) {
    size_t len = 0;
    int code = CHORDAL_E_ROOM;
    while (code == CHORDAL_E_ROOM && core_room(&self->taken, len))
        code =
            chordal_value_encode(value, CHORDAL_FORMAT_PACKED, self->taken.data, self->taken.len, &len, &self->error);
    chordal_value_unref(value);
    if (PyErr_Occurred() || !core_check(self, code)) return NULL;
    reader in = {self->taken.data, len, 0};
    int quiet = quiet_begin(); /* the buffer is the host's */
    PyObject *native = get_value(&in);
    quiet_end(quiet);
    return native;
}

static PyObject *with_number(core_object *self, chordal_value *value, uint64_t number) {
    PyObject *native = native_of(self, value);
    return native ? Py_BuildValue("(NK)", native, (unsigned long long)number) : NULL;
}

/* store_read(type, params, member, at): the value and the commit that wrote it. */
PyObject *core_store_read(PyObject *self_, PyObject *args) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    PyObject *type, *params, *member;
    uint64_t at, commit = 0;
    utf8 type_name, member_name = {0};
    writer out = {0};
    chordal_value *value = NULL;
    if (!host || !PyArg_ParseTuple(args, "UOUO&", &type, &params, &member, core_id, &at)) return NULL;
    if (!utf8_of(type, &type_name)) return NULL;
    bool done = utf8_of(member, &member_name) && put_value(&out, params, DEPTH) && (host = core_enter(self)) &&
                core_check(self, chordal_store_read(host, type_name.data, (size_t)type_name.len, CHORDAL_FORMAT_PACKED,
                                                    out.data, out.len, member_name.data, (size_t)member_name.len, at,
                                                    &value, &commit, &self->error));
    utf8_done(&type_name);
    utf8_done(&member_name);
    PyMem_Free(out.data);
    return done ? with_number(self, value, commit) : NULL;
}

typedef int list_function(chordal_host *host, uint64_t after, uint32_t limit, chordal_value **out, uint64_t *out_next,
                          chordal_error *error);

/* (after, limit): a page, and where the next begins, 0 at the end. */
static PyObject *page_of(PyObject *self_, PyObject *args, list_function *list) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t after, next = 0;
    uint32_t limit;
    chordal_value *value = NULL;
    if (!host || !PyArg_ParseTuple(args, "O&O&", core_id, &after, core_small, &limit)) return NULL;
    return core_check(self, list(host, after, limit, &value, &next, &self->error)) ? with_number(self, value, next)
                                                                                   : NULL;
}

PyObject *core_store_documents(PyObject *self, PyObject *args) {
    return page_of(self, args, chordal_store_documents);
}
PyObject *core_store_outbox(PyObject *self, PyObject *args) {
    return page_of(self, args, chordal_store_outbox);
}
PyObject *core_store_check(PyObject *self, PyObject *args) {
    return page_of(self, args, chordal_store_check);
}

/* store_trim(upto): how many went, 1,024 at most. */
PyObject *core_store_trim(PyObject *self_, PyObject *number) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    uint64_t upto;
    uint32_t dropped = 0;
    if (!host || !core_id(number, &upto)) return NULL;
    bool done = core_check(self, chordal_store_trim(host, upto, &dropped, &self->error));
    return done ? PyLong_FromUnsignedLong(dropped) : NULL;
}

/* store_backup(path): the number of the ticket. */
PyObject *core_store_backup(PyObject *self_, PyObject *path) {
    core_object *self = (core_object *)self_;
    chordal_host *host = core_enter(self);
    char *text;
    Py_ssize_t len;
    chordal_id ticket = 0;
    if (!host || PyBytes_AsStringAndSize(path, &text, &len) < 0) return NULL;
    bool done = core_check(self, chordal_store_backup(host, text, (size_t)len, &ticket, &self->error));
    return done ? PyLong_FromUnsignedLongLong(ticket) : NULL;
}
