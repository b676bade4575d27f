/* Drafts of objects. */
#include "draft.h"

static PyTypeObject *draft_dict_type;

/* A key of the program's as values have it; NULL with KeyError for what is no text. */
static PyObject *plain_key(PyObject *given) {
    PyObject *key = draft_key(given);
    if (!key && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, given);
    return key;
}

static PyObject *subscript(PyObject *self, PyObject *given) {
    PyObject *key = plain_key(given);
    PyObject *out = key ? draft_read((place_draft *)self, key) : NULL;
    Py_XDECREF(key);
    return out;
}

static bool delete_now(place_draft *self, PyObject *key) {
    size_t before = self->document->ops->out.len;
    if (!PyDict_GetItemWithError(self->value, key)) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key);
        return false;
    }
    if (!draft_attached(self) || !draft_own(self)) return false;
    if (!draft_head(self, CHORDAL_OP_DELETE, key)) {
        self->document->ops->out.len = before;
        return false;
    }
    draft_forget(self, key);
    draft_changed(self);
    return PyDict_DelItem(self->value, key) == 0;
}

static int delete_key(place_draft *self, PyObject *given) {
    PyObject *key = plain_key(given);
    int quiet = quiet_begin();
    bool done = key && delete_now(self, key);
    quiet_end(quiet);
    Py_XDECREF(key);
    return done ? 0 : -1;
}

static int assign(PyObject *self, PyObject *key, PyObject *value) {
    if (!value) return delete_key((place_draft *)self, key);
    if (!PyUnicode_Check(key)) {
        raise_of("type", "%s %U is not a key", key);
        return -1;
    }
    PyObject *kept = text_kept(key);
    if (!kept) return -1;
    PyObject *old = Py_XNewRef(PyDict_GetItemWithError(((place_draft *)self)->value, kept));
    bool done = !PyErr_Occurred() && draft_write((place_draft *)self, kept, value, old);
    Py_XDECREF(old);
    Py_DECREF(kept);
    return done ? 0 : -1;
}

static PyObject *iterate(PyObject *self) {
    int quiet = quiet_begin();
    PyObject *keys = PyObject_GetIter(((place_draft *)self)->value);
    quiet_end(quiet);
    return keys;
}

static int contains(PyObject *self, PyObject *given) {
    PyObject *key = draft_key(given);
    int is = key ? PyDict_Contains(((place_draft *)self)->value, key) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(key);
    return is;
}

static PyType_Slot slots[] = {
    {Py_mp_subscript, subscript}, {Py_mp_ass_subscript, assign}, {Py_tp_iter, iterate}, {Py_sq_contains, contains}, {0},
};
static PyType_Spec spec = {"chordal._native.DraftObject", sizeof(place_draft), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool draft_dicts_add(PyObject *module) {
    return add_type(module, &spec, (PyObject *)draft_type, &draft_dict_type);
}
