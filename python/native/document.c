/* One document as its transaction sees it, from the first touch to the commit. */
#include "draft.h"

PyTypeObject *document_type;

PyObject *document_new(PyObject *values, PyObject *member, ops_object *ops) {
    PyObject *value = PyDict_GetItemWithError(values, member);
    if (!value) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, member);
        return NULL;
    }
    Py_INCREF(value);
    document_draft *self = (document_draft *)PyType_GenericAlloc(document_type, 0);
    if (!self) {
        Py_DECREF(value);
        return NULL;
    }
    self->values = Py_NewRef(values);
    self->member = Py_NewRef(member);
    self->base = value;
    self->value = Py_NewRef(value);
    self->ops = (ops_object *)Py_NewRef((PyObject *)ops);
    return (PyObject *)self;
}

/* DraftDocument(values, member, ops) */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *words) {
    PyObject *values, *member, *ops;
    (void)type, (void)words;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyDict_Type, &values, &PyLong_Type, &member, ops_type, &ops)) return NULL;
    return document_new(values, member, (ops_object *)ops);
}

PyObject *document_read(document_draft *self) {
    if (self->root) return Py_NewRef((PyObject *)self->root);
    if (!is_frozen(self->value)) return Py_NewRef(self->value);
    int quiet = quiet_begin();
    PyObject *made = draft_of(self, NULL, NULL, self->value);
    self->root = (place_draft *)Py_XNewRef(made);
    quiet_end(quiet);
    return made;
}

static bool put_head(document_draft *self, unsigned number) {
    return put_op_head(&self->ops->out, number, 1) && put_segment(&self->ops->out, self->member);
}

static void take(document_draft *self, PyObject *value) {
    PyObject *before = self->value, *root = (PyObject *)self->root;
    self->value = value;
    self->root = NULL;
    Py_DECREF(before);
    if (root) draft_take_apart((place_draft *)root);
    Py_XDECREF(root);
}

/* Record an op with a text or a value, and take what is then the document's value over. */
static bool record(document_draft *self, unsigned number, PyObject *argument, PyObject *value) {
    writer *out = &self->ops->out;
    size_t before = out->len;
    int quiet = quiet_begin();
    bool done = value && put_head(self, number) &&
                (number == CHORDAL_OP_APPEND ? put_text(out, argument) : put_value(out, argument, DEPTH));
    if (done) take(self, value);
    quiet_end(quiet);
    if (done) return true;
    out->len = before;
    Py_XDECREF(value);
    return false;
}

static bool append(document_draft *self, PyObject *given) {
    PyObject *tail = text_kept(given);
    bool done =
        tail && (!PyUnicode_GetLength(tail) || record(self, CHORDAL_OP_APPEND, tail, text_join(self->value, tail)));
    Py_XDECREF(tail);
    return done;
}

static bool assign(document_draft *self, PyObject *value) {
    PyObject *frozen = freeze(value, DEPTH);
    if (!frozen) return false;
    if (self->base) return record(self, CHORDAL_OP_ASSIGN, frozen, frozen);
    Py_DECREF(frozen); /* the program's code ended it */
    return fail("state", "the transaction has ended", 0);
}

/* Only what differs travels. */
bool document_replace(document_draft *self, PyObject *value) {
    if (!self->base) return fail("state", "the transaction has ended", 0);
    if ((PyObject *)self->root == value) return true; /* what `t.list += …` leaves behind */
    PyObject *tail = self->root ? NULL : text_tail(self->value, value);
    bool done = !PyErr_Occurred() && (tail ? append(self, tail) : assign(self, value));
    Py_XDECREF(tail);
    return done;
}

bool document_is_current(document_draft *self) {
    PyObject *value = PyDict_GetItemWithError(self->values, self->member);
    return value && value == self->base;
}

/* ---- the end ---- */

/* The values let go of what was there, so that gathering may change it in place. */
static bool commit(document_draft *self) {
    bool in_place = self->root != NULL;
    if (in_place) {
        PyObject *before = self->value;
        self->value = Py_NewRef(Py_None);
        Py_DECREF(before);
        Py_CLEAR(self->base);
        if (PyDict_SetItem(self->values, self->member, Py_None) < 0) return false;
        bool done = draft_gather(self->root, true);
        return done && PyDict_SetItem(self->values, self->member, self->root->value) == 0;
    }
    return PyDict_SetItem(self->values, self->member, self->value) == 0;
}

static void close_now(document_draft *self, bool commits) {
    bool done = commits ? commit(self) : !self->root || draft_gather(self->root, false);
    if (!done) PyErr_Clear();
    if (!done && commits && PyDict_DelItem(self->values, self->member) < 0) PyErr_Clear();
    Py_CLEAR(self->base);
    place_draft *root = self->root;
    if (root) {
        PyObject *before = self->value;
        self->value = Py_NewRef(root->value);
        self->root = NULL;
        Py_DECREF(before);
        draft_shared(root);
        draft_take_apart(root);
        Py_DECREF((PyObject *)root);
    }
}

void document_close(document_draft *self, bool commits) {
    int quiet = quiet_begin();
    if (self->base) close_now(self, commits);
    quiet_end(quiet);
}

static PyObject *close_(PyObject *self, PyObject *commits) {
    document_close((document_draft *)self, commits == Py_True);
    Py_RETURN_NONE;
}

static PyObject *read_(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return document_read((document_draft *)self);
}

static PyObject *replace(PyObject *self, PyObject *value) {
    return document_replace((document_draft *)self, value) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *value_(PyObject *self_, void *nothing) {
    document_draft *self = (document_draft *)self_;
    (void)nothing;
    return self->root ? draft_given(self->root) : Py_NewRef(self->value);
}

/* ---- the type ---- */

static int traverse(PyObject *document_, visitproc visit, void *arg) {
    document_draft *self = (document_draft *)document_;
    Py_VISIT(Py_TYPE(document_));
    Py_VISIT(self->values);
    Py_VISIT(self->base);
    Py_VISIT(self->value);
    Py_VISIT(self->root);
    return 0;
}

static int clear(PyObject *document_) {
    document_draft *self = (document_draft *)document_;
    Py_CLEAR(self->root);
    Py_CLEAR(self->values);
    Py_CLEAR(self->member);
    Py_CLEAR(self->base);
    Py_CLEAR(self->value);
    Py_CLEAR(self->ops);
    return 0;
}

static void dealloc(PyObject *self) {
    end_tracked(self, clear);
}

static PyMethodDef methods[] = {
    {"read", read_, METH_NOARGS, "The document: a draft of it when it is an object or array, else the value."},
    {"replace", replace, METH_O, "Make the whole document equal to a value; only what differs travels."},
    {"close", close_, METH_O, "End it; with true the new value takes the place of the old one."},
    {0},
};
static PyGetSetDef fields[] = {{"value", value_, NULL, "Its present value.", NULL}, {0}};
static PyType_Slot slots[] = {
    {Py_tp_doc, "DraftDocument(values, member, ops)\n\nOne document as its transaction sees it."},
    {Py_tp_new, make},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {0},
};
static PyType_Spec spec = {"chordal._native.DraftDocument", sizeof(document_draft), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

bool documents_add(PyObject *module) {
    return add_type(module, &spec, NULL, &document_type);
}
