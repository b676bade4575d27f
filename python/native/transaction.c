/* An object inside a transaction: its documents are attributes, to be read and changed. A transaction is one, too. */
#include "core.h"
#include "draft.h"
#include <structmember.h>

typedef struct object_draft {
    PyObject_HEAD PyObject *core, *instance, *provider, *call, *others, *ticket;
    PyObject *members, *values, *id; /* the instance's: documents by name, values by member, number */
    PyObject *tables;                /* by name; NULL: it has none */
    PyObject *rows;                  /* a transaction's, once a table was touched */
    struct object_draft *owner;      /* the transaction, if it is another one */
    PyObject *documents;             /* those that were touched, by name */
    ops_object *ops;
    bool open;
} object_draft;

static PyTypeObject *object_draft_type;

static bool has_instance(object_draft *self) {
    if (self->instance == Py_None) return true;
    PyObject *type = (PyObject *)Py_TYPE(self->instance);
    self->members = PyObject_GetAttr(type, py.names[NAME_documents]);
    self->values = self->members ? PyObject_GetAttr(self->instance, py.names[NAME_values]) : NULL;
    self->id = self->values ? PyObject_GetAttr(self->instance, py.names[NAME_id]) : NULL;
    self->tables = self->id ? PyObject_GetAttr(type, py.names[NAME_tables]) : NULL;
    if (!self->tables) return false;
    bool fits = PyDict_Check(self->tables) && PyDict_Check(self->members) && PyDict_Check(self->values) &&
                PyLong_Check(self->id);
    return fits || PyErr_Occurred() || PyErr_Format(PyExc_TypeError, "an instance of a type is needed");
}

/* ObjectDraft(core, instance, owner, provider, call) */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *words) {
    PyObject *core, *instance, *owner, *provider, *call;
    (void)words;
    if (!PyArg_ParseTuple(args, "O!OOOO", core_type, &core, &instance, &owner, &provider, &call)) return NULL;
    object_draft *self = (object_draft *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->core = Py_NewRef(core);
    self->instance = Py_NewRef(instance);
    self->provider = Py_NewRef(provider);
    self->call = Py_NewRef(call);
    self->open = true;
    if (owner != Py_None) {
        bool fits = PyObject_TypeCheck(owner, object_draft_type);
        if (fits) self->owner = (object_draft *)Py_NewRef(owner);
        if (!fits) PyErr_SetString(PyExc_TypeError, "the owner is a transaction");
    }
    if (!PyErr_Occurred() && has_instance(self) && !PyErr_Occurred()) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

static bool is_open(object_draft *self) {
    if (!(self->owner ? self->owner : self)->open) return fail("state", "the transaction has ended", 0);
    return ((core_object *)self->core)->host || fail("closed", "the host is closed", 0);
}

/* ---- documents ---- */

static PyObject *begun(object_draft *self, PyObject *name, PyObject *member) {
    if (!self->ops) self->ops = (ops_object *)PyType_GenericAlloc(ops_type, 0);
    if (!self->documents) self->documents = PyDict_New();
    PyObject *made = self->ops && self->documents ? document_new(self->values, member, self->ops) : NULL;
    if (made && PyDict_SetItem(self->documents, name, made) < 0) Py_CLEAR(made);
    return made;
}

static PyObject *begin(object_draft *self, PyObject *name, PyObject *declared) {
    PyObject *member = PyObject_GetAttr(declared, py.names[NAME_index]), *made = NULL;
    PyObject *value = member ? PyDict_GetItemWithError(self->values, member) : NULL;
    if (member && !value && !PyErr_Occurred()) { /* it was not read since it is there */
        value = PyObject_CallMethod(self->instance, "_value", "O", declared);
        Py_XDECREF(value);
    }
    int quiet = quiet_begin();
    if (value && is_open(self)) made = begun(self, name, member);
    quiet_end(quiet);
    Py_XDECREF(member);
    return made;
}

/* The document of this name, which is a plain text, owned. */
static document_draft *find_plain(object_draft *self, PyObject *name) {
    PyObject *found = self->documents ? PyDict_GetItemWithError(self->documents, name) : NULL;
    if (found) return (document_draft *)Py_NewRef(found);
    PyObject *declared = PyErr_Occurred() ? NULL : PyDict_GetItemWithError(self->members, name);
    if (declared) return (document_draft *)begin(self, name, declared);
    if (PyErr_Occurred()) return NULL;
    PyObject *type = PyObject_GetAttr((PyObject *)Py_TYPE(self->instance), py.names[NAME_type]);
    if (type) raise_words("no_member", PyUnicode_FromFormat("%S has no document %S", type, name));
    Py_XDECREF(type);
    return NULL;
}

static document_draft *find(object_draft *self, PyObject *name) {
    if (!self->members) return fail("state", "this transaction has no object of its own: use of(object)", 0);
    if (!is_open(self)) return NULL;
    if (!PyUnicode_Check(name)) {
        raise_of("type", "%s %U is not the name of a document", name);
        return NULL;
    }
    PyObject *plain = PyUnicode_FromObject(name);
    document_draft *found = plain ? find_plain(self, plain) : NULL;
    Py_XDECREF(plain);
    return found;
}

/* ---- tables ---- */

/* The declaration of a table of this name, borrowed; NULL without an exception: there is none. */
static PyObject *find_table(object_draft *self, PyObject *name) {
    if (!self->tables || !PyDict_Size(self->tables) || !PyUnicode_Check(name)) return NULL;
    PyObject *plain = PyUnicode_FromObject(name);
    PyObject *declared = plain ? PyDict_GetItemWithError(self->tables, plain) : NULL;
    Py_XDECREF(plain);
    return declared;
}

static PyObject *read_table(object_draft *self, PyObject *declared) {
    PyObject *root = (PyObject *)(self->owner ? self->owner : self);
    return is_open(self) ? PyObject_CallMethod(declared, "_draft", "OO", root, self->id) : NULL;
}

/* ---- members ---- */

static PyObject *read_item(PyObject *self, PyObject *name) {
    PyObject *table = find_table((object_draft *)self, name);
    if (table) return read_table((object_draft *)self, table);
    if (PyErr_Occurred()) return NULL;
    document_draft *document = find((object_draft *)self, name);
    PyObject *out = document ? document_read(document) : NULL;
    Py_XDECREF((PyObject *)document);
    return out;
}

static int write_item(PyObject *self, PyObject *name, PyObject *value) {
    if (!value) return PyErr_SetString(PyExc_TypeError, "a document cannot be deleted"), -1;
    document_draft *document = find((object_draft *)self, name);
    bool done = document && document_replace(document, value);
    Py_XDECREF((PyObject *)document);
    return done ? 0 : -1;
}

/* Whether an attribute is a document or table, not the transaction's own. */
static int is_member(object_draft *self, PyObject *name) {
    PyObject *declared = self->members ? PyDict_GetItemWithError(self->members, name) : NULL;
    if (!declared && !PyErr_Occurred()) declared = find_table(self, name);
    if (!declared) return PyErr_Occurred() ? -1 : 0;
    int reserved = PySequence_Contains(py.reserved, name);
    return reserved < 0 ? -1 : !reserved;
}

static PyObject *read_attribute(PyObject *self, PyObject *name) {
    int is = is_member((object_draft *)self, name);
    if (is) return is < 0 ? NULL : read_item(self, name);
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || strncmp(text, "__", 2) == 0) return NULL;
    PyErr_Clear();
    return read_item(self, name); /* refused with the right words */
}

static int write_attribute(PyObject *self, PyObject *name, PyObject *value) {
    int is = is_member((object_draft *)self, name);
    if (is) return is < 0 ? -1 : write_item(self, name, value);
    int own = PyObject_GenericSetAttr(self, name, value);
    if (own == 0 || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
    PyErr_Clear();
    return write_item(self, name, value);
}

/* ---- the end ---- */

/* Calls a function for this object's draft and those of the others. */
static bool for_each(object_draft *self, bool (*act)(object_draft *, void *), void *argument) {
    Py_ssize_t at = 0;
    PyObject *key, *other;
    if (!act(self, argument)) return false;
    while (self->others && self->others != Py_None && PyDict_Next(self->others, &at, &key, &other))
        if (PyObject_TypeCheck(other, object_draft_type) && !act((object_draft *)other, argument)) return false;
    return true;
}

static bool is_current(object_draft *self, void *unused) {
    Py_ssize_t at = 0;
    PyObject *name, *document_;
    (void)unused;
    while (self->documents && PyDict_Next(self->documents, &at, &name, &document_)) {
        if (document_is_current((document_draft *)document_)) continue;
        raise_words("conflict", PyUnicode_FromFormat("%S was changed while the transaction was open", name));
        return false;
    }
    return true;
}

static bool put_changes(object_draft *self, void *out) {
    if (!self->ops || !self->ops->out.len) return true;
    unsigned long long id = PyLong_AsUnsignedLongLong(self->id);
    return put_varint(out, id) && put_varint(out, self->ops->out.len) &&
           put_bytes(out, self->ops->out.data, self->ops->out.len);
}

/* All changes as the core takes them. */
static PyObject *changes(PyObject *self, PyObject *nothing) {
    writer out = {0};
    (void)nothing;
    if (is_open((object_draft *)self) && for_each((object_draft *)self, is_current, NULL))
        for_each((object_draft *)self, put_changes, &out);
    return writer_bytes(&out);
}

static bool close_all(object_draft *self, void *commits) {
    Py_ssize_t at = 0;
    PyObject *name, *document_, *documents = self->documents;
    self->open = false;
    self->documents = NULL;
    while (documents && PyDict_Next(documents, &at, &name, &document_))
        document_close((document_draft *)document_, *(bool *)commits);
    Py_XDECREF(documents);
    Py_CLEAR(self->ops);
    Py_CLEAR(self->rows);
    return true;
}

/* End it; with true the new values take the place of the old ones. */
static PyObject *close_(PyObject *self, PyObject *arg) {
    bool commits = arg == Py_True;
    int quiet = quiet_begin();
    for_each((object_draft *)self, close_all, &commits);
    quiet_end(quiet);
    Py_RETURN_NONE;
}

static PyObject *check_open(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return is_open((object_draft *)self) ? Py_NewRef(self) : NULL;
}

/* ---- the type ---- */

static int traverse(PyObject *draft_, visitproc visit, void *arg) {
    object_draft *self = (object_draft *)draft_;
    Py_VISIT(Py_TYPE(draft_));
    Py_VISIT(self->instance);
    Py_VISIT(self->provider);
    Py_VISIT(self->others);
    Py_VISIT(self->ticket);
    Py_VISIT(self->members);
    Py_VISIT(self->values);
    Py_VISIT(self->tables);
    Py_VISIT(self->rows);
    Py_VISIT(self->owner);
    Py_VISIT(self->documents);
    return 0;
}

static int clear(PyObject *draft_) {
    object_draft *self = (object_draft *)draft_;
    Py_CLEAR(self->core);
    Py_CLEAR(self->instance);
    Py_CLEAR(self->provider);
    Py_CLEAR(self->call);
    Py_CLEAR(self->others);
    Py_CLEAR(self->ticket);
    Py_CLEAR(self->members);
    Py_CLEAR(self->values);
    Py_CLEAR(self->tables);
    Py_CLEAR(self->rows);
    Py_CLEAR(self->id);
    Py_CLEAR(self->owner);
    Py_CLEAR(self->documents);
    Py_CLEAR(self->ops);
    return 0;
}

static void dealloc(PyObject *self) {
    end_tracked(self, clear);
}

static PyMethodDef methods[] = {
    {"_changes", changes, METH_NOARGS, NULL},
    {"_close", close_, METH_O, NULL},
    {"_check_open", check_open, METH_NOARGS, NULL},
    {"__enter__", check_open, METH_NOARGS, NULL},
    {0},
};
#define FIELD(name, flags)                                                                                             \
    { "_" #name, T_OBJECT, offsetof(object_draft, name), flags, NULL }
static PyMemberDef fields[] = {
    FIELD(core, READONLY),
    FIELD(instance, READONLY),
    FIELD(provider, READONLY),
    FIELD(call, READONLY),
    FIELD(others, 0),
    FIELD(ticket, 0),
    FIELD(rows, 0),
    {"_open", T_BOOL, offsetof(object_draft, open), READONLY, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "An object inside a transaction: its documents and tables are attributes (or items)."},
    {Py_tp_new, make},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_members, fields},
    {Py_tp_getattro, read_attribute},
    {Py_tp_setattro, write_attribute},
    {Py_mp_subscript, read_item},
    {Py_mp_ass_subscript, write_item},
    {0},
};
static PyType_Spec spec = {"chordal._native.ObjectDraft", sizeof(object_draft), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

bool transactions_add(PyObject *module) {
    return add_type(module, &spec, NULL, &object_draft_type);
}
