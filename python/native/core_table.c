/* Rows of tables: what is stored, and a transaction of the core's for them, which documents join at its end. */
#include "core_parts.h"
#include <structmember.h>

typedef struct rows_object {
    PyObject_HEAD core_object *core;
    chordal_transaction *transaction; /* NULL: it has ended */
    bool changed;
    int stuck; /* the code of a change of many rows that may have changed some */
} rows_object;

/* ---- what is given, what comes back ---- */

/* The names of a row's place. */
typedef struct place {
    uint64_t object;
    uint32_t member;
} place;

/* What a reading function is asked with; `transaction` or `host`. */
typedef struct asked {
    core_object *core;
    chordal_transaction *transaction;
    place at;
    writer given;
    size_t len;
} asked;

typedef int read_function(asked *ask);

static int stored_row(asked *ask) {
    return chordal_object_row(ask->core->host, ask->at.object, ask->at.member, CHORDAL_FORMAT_PACKED, ask->given.data,
                              ask->given.len, ask->core->taken.data, ask->core->taken.len, &ask->len,
                              &ask->core->error);
}

static int stored_query(asked *ask) {
    return chordal_object_query(ask->core->host, ask->at.object, ask->at.member, CHORDAL_FORMAT_PACKED, ask->given.data,
                                ask->given.len, ask->core->taken.data, ask->core->taken.len, &ask->len,
                                &ask->core->error);
}

static int own_row(asked *ask) {
    return chordal_transaction_row(ask->transaction, ask->at.object, ask->at.member, CHORDAL_FORMAT_PACKED,
                                   ask->given.data, ask->given.len, ask->core->taken.data, ask->core->taken.len,
                                   &ask->len, &ask->core->error);
}

static int own_query(asked *ask) {
    return chordal_transaction_query(ask->transaction, ask->at.object, ask->at.member, CHORDAL_FORMAT_PACKED,
                                     ask->given.data, ask->given.len, ask->core->taken.data, ask->core->taken.len,
                                     &ask->len, &ask->core->error);
}

/* The answer as a native value; None: there is no such row. */
static PyObject *read_rows(asked *ask, read_function *read) {
    int code = CHORDAL_E_ROOM;
    while (code == CHORDAL_E_ROOM && core_room(&ask->core->taken, ask->len)) code = read(ask);
    if (code == CHORDAL_E_NOT_FOUND) Py_RETURN_NONE;
    if (PyErr_Occurred() || !core_check(ask->core, code)) return NULL;
    reader in = {ask->core->taken.data, ask->len, 0};
    int quiet = quiet_begin(); /* the buffer is the host's */
    PyObject *value = get_value(&in);
    quiet_end(quiet);
    return value;
}

static PyObject *read_stored(PyObject *self, PyObject *args, read_function *read, int cells) {
    asked ask = {.core = (core_object *)self, .given = {.cells = cells}};
    PyObject *given, *out = NULL;
    if (!core_enter(ask.core)) return NULL;
    if (!PyArg_ParseTuple(args, "O&O&O", core_id, &ask.at.object, core_small, &ask.at.member, &given)) return NULL;
    if (put_value(&ask.given, given, DEPTH) && core_enter(ask.core)) out = read_rows(&ask, read);
    PyMem_Free(ask.given.data);
    return out;
}

/* object_row(object, member, key): the row as it is stored, or None. */
PyObject *core_object_row(PyObject *self, PyObject *args) {
    return read_stored(self, args, stored_row, CELLS_RAW);
}

/* object_query(object, member, query) */
PyObject *core_object_query(PyObject *self, PyObject *args) {
    return read_stored(self, args, stored_query, CELLS_TEXT);
}

/* plain(query): the same with bytes as base64 text. */
PyObject *rows_plain(PyObject *module, PyObject *query) {
    writer out = {.cells = CELLS_TEXT};
    (void)module;
    bool done = put_value(&out, query, DEPTH);
    reader in = {out.data, out.len, 0};
    PyObject *plain = done ? get_value(&in) : NULL;
    PyMem_Free(out.data);
    return plain;
}

/* ---- a transaction ---- */

/* Rows(core, call) */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *words) {
    core_object *core;
    uint64_t call;
    (void)words;
    if (!PyArg_ParseTuple(args, "O!O&", core_type, &core, core_id, &call) || !core_enter(core)) return NULL;
    rows_object *self = (rows_object *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->core = (core_object *)Py_NewRef((PyObject *)core);
    if (core_check(core, chordal_transaction_begin(core->host, call, &self->transaction, &core->error)))
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* Open, on its own thread. To be asked again after values of the program were read. */
static chordal_transaction *enter(rows_object *self) {
    static const chordal_error unfinished = {.detail = "a change of many rows was not finished"};
    if (!core_enter(self->core)) return NULL;
    if (self->stuck) return fail_code(self->stuck, &unfinished);
    return self->transaction ? self->transaction : fail("state", "the transaction has ended", 0);
}

static PyObject *read_own(PyObject *self_, PyObject *args, read_function *read, int cells) {
    rows_object *self = (rows_object *)self_;
    asked ask = {.core = self->core, .given = {.cells = cells}};
    PyObject *given, *out = NULL;
    if (!PyArg_ParseTuple(args, "O&O&O", core_id, &ask.at.object, core_small, &ask.at.member, &given)) return NULL;
    if (put_value(&ask.given, given, DEPTH) && (ask.transaction = enter(self))) out = read_rows(&ask, read);
    PyMem_Free(ask.given.data);
    return out;
}

static PyObject *row(PyObject *self, PyObject *args) {
    return read_own(self, args, own_row, CELLS_RAW);
}
static PyObject *query(PyObject *self, PyObject *args) {
    return read_own(self, args, own_query, CELLS_TEXT);
}

typedef int write_function(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                           const uint8_t *data, size_t len, chordal_error *error);

static PyObject *write_one(PyObject *self_, PyObject *args, write_function *write) {
    rows_object *self = (rows_object *)self_;
    place at;
    PyObject *given;
    writer out = {.cells = CELLS_RAW};
    if (!PyArg_ParseTuple(args, "O&O&O", core_id, &at.object, core_small, &at.member, &given)) return NULL;
    bool done = put_value(&out, given, DEPTH) && enter(self) &&
                core_check(self->core, write(self->transaction, at.object, at.member, CHORDAL_FORMAT_PACKED, out.data,
                                             out.len, &self->core->error));
    PyMem_Free(out.data);
    self->changed |= done;
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *put(PyObject *self, PyObject *args) {
    return write_one(self, args, chordal_transaction_put);
}
static PyObject *patch(PyObject *self, PyObject *args) {
    return write_one(self, args, chordal_transaction_patch);
}
static PyObject *remove_(PyObject *self, PyObject *args) {
    return write_one(self, args, chordal_transaction_remove);
}

/* How many rows it was. One that gets stuck may have changed some: nothing is committed then. */
static PyObject *changed_many(rows_object *self, int code, uint64_t count) {
    if (code == CHORDAL_E_LIMIT || code == CHORDAL_E_NOMEM) self->stuck = code;
    self->changed |= code < 0 ? self->stuck != 0 : count > 0;
    return core_check(self->core, code) ? PyLong_FromUnsignedLongLong(count) : NULL;
}

/* update_where(object, member, where, changes) */
static PyObject *update_where(PyObject *self_, PyObject *args) {
    rows_object *self = (rows_object *)self_;
    place at;
    PyObject *where, *changes, *count = NULL;
    writer condition = {.cells = CELLS_TEXT}, cells = {.cells = CELLS_TEXT};
    uint64_t found = 0;
    if (!PyArg_ParseTuple(args, "O&O&OO", core_id, &at.object, core_small, &at.member, &where, &changes)) return NULL;
    if (put_value(&condition, where, DEPTH) && put_value(&cells, changes, DEPTH) && enter(self)) {
        int code = chordal_transaction_update_where(self->transaction, at.object, at.member, CHORDAL_FORMAT_PACKED,
                                                    condition.data, condition.len, cells.data, cells.len, &found,
                                                    &self->core->error);
        count = changed_many(self, code, found);
    }
    PyMem_Free(condition.data);
    PyMem_Free(cells.data);
    return count;
}

/* delete_where(object, member, where) */
static PyObject *delete_where(PyObject *self_, PyObject *args) {
    rows_object *self = (rows_object *)self_;
    place at;
    PyObject *where, *count = NULL;
    writer condition = {.cells = CELLS_TEXT};
    uint64_t found = 0;
    if (!PyArg_ParseTuple(args, "O&O&O", core_id, &at.object, core_small, &at.member, &where)) return NULL;
    if (put_value(&condition, where, DEPTH) && enter(self)) {
        int code = chordal_transaction_delete_where(self->transaction, at.object, at.member, CHORDAL_FORMAT_PACKED,
                                                    condition.data, condition.len, &found, &self->core->error);
        count = changed_many(self, code, found);
    }
    PyMem_Free(condition.data);
    return count;
}

/* ---- the end ---- */

static void forget(rows_object *self) {
    chordal_transaction *transaction = self->transaction;
    self->transaction = NULL;
    chordal_transaction_abort(transaction);
}

/* commit(changes): with these of documents; the number of the ticket, None when there is no memory for it. */
static PyObject *commit(PyObject *self_, PyObject *args) {
    rows_object *self = (rows_object *)self_;
    const char *changes;
    Py_ssize_t len;
    chordal_id id = 0;
    if (!PyArg_ParseTuple(args, "y#", &changes, &len) || !enter(self)) return NULL;
    chordal_error *error = &self->core->error;
    if (!core_check(self->core,
                    chordal_transaction_changes(self->transaction, (const uint8_t *)changes, (size_t)len, error)))
        return forget(self), NULL;
    chordal_transaction *transaction = self->transaction;
    self->transaction = NULL;
    if (!core_check(self->core, chordal_transaction_commit(transaction, &id, error))) return NULL;
    PyObject *number = PyLong_FromUnsignedLongLong(id);
    if (number) return number;
    PyErr_Clear(); /* it is committed all the same */
    Py_RETURN_NONE;
}

/* On any thread: under the interpreter's lock nobody is inside of the host. */
static void dealloc(PyObject *self_) {
    rows_object *self = (rows_object *)self_;
    PyTypeObject *type = Py_TYPE(self);
    forget(self);
    Py_XDECREF((PyObject *)self->core);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"row", row, METH_VARARGS, NULL},
    {"query", query, METH_VARARGS, NULL},
    {"put", put, METH_VARARGS, NULL},
    {"patch", patch, METH_VARARGS, NULL},
    {"remove", remove_, METH_VARARGS, NULL},
    {"update_where", update_where, METH_VARARGS, NULL},
    {"delete_where", delete_where, METH_VARARGS, NULL},
    {"commit", commit, METH_VARARGS, NULL},
    {0},
};
static PyMemberDef fields[] = {
    {"changed", T_BOOL, offsetof(rows_object, changed), READONLY, "Whether there is anything to commit."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "Rows(core, call)\n\nA transaction of the core's; without a commit it ends with this object."},
    {Py_tp_new, make},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, fields},
    {0},
};
static PyType_Spec spec = {"chordal._native.Rows", sizeof(rows_object), 0, Py_TPFLAGS_DEFAULT, slots};

bool rows_add(PyObject *module) {
    static PyTypeObject *type;
    return add_type(module, &spec, NULL, &type);
}
