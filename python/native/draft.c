/* One place of a document that is being changed: what drafts of objects and of arrays have in common. */
#include "draft.h"

PyTypeObject *draft_type;

static PyObject *drafted(PyObject *value) {
    return (PyObject *)Py_TYPE(value) == py.frozen_dict ? py.draft_dict : py.draft_list;
}

PyObject *draft_of(document_draft *document, place_draft *parent, PyObject *key, PyObject *value) {
    PyTypeObject *type = (PyTypeObject *)drafted(value);
    unsigned depth = parent ? parent->depth + 1 : 0;
    if (depth >= DEPTH_MOST) return fail("depth", "the value is nested too deep", 0);
    place_draft *self = (place_draft *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->document = (struct document_draft *)Py_NewRef((PyObject *)document);
    self->parent = (place_draft *)Py_XNewRef((PyObject *)parent);
    self->key = Py_XNewRef(key);
    self->value = Py_NewRef(value);
    self->depth = depth;
    return (PyObject *)self;
}

PyObject *draft_key(PyObject *given) {
    return PyUnicode_Check(given) ? text_kept(given) : NULL;
}

void draft_shared(place_draft *self) {
    Py_ssize_t at = 0;
    PyObject *key, *child;
    self->fresh = false;
    while (self->children && PyDict_Next(self->children, &at, &key, &child)) draft_shared((place_draft *)child);
}

PyObject *draft_given(place_draft *self) {
    int quiet = quiet_begin();
    PyObject *value = draft_gather(self, false) ? Py_NewRef(self->value) : NULL;
    if (value) draft_shared(self);
    quiet_end(quiet);
    return value;
}

/* ---- the tree ---- */

place_draft *draft_child(place_draft *self, PyObject *key) {
    return self->children ? (place_draft *)PyDict_GetItemWithError(self->children, key) : NULL;
}

static bool put_item(PyObject *container, PyObject *key, PyObject *value) {
    if (PyDict_Check(container)) return PyDict_SetItem(container, key, value) == 0;
    return PyList_SetItem(container, PyLong_AsSsize_t(key), Py_NewRef(value)) == 0;
}

static PyObject *read_now(place_draft *self, PyObject *key) {
    place_draft *child = draft_child(self, key);
    if (child) return Py_NewRef((PyObject *)child);
    PyObject *value = draft_item(self, key);
    if (!value) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key);
        return NULL;
    }
    if (!is_frozen(value)) return Py_NewRef(value);
    PyObject *made = draft_of(self->document, self, key, value);
    if (made && !self->children) self->children = PyDict_New();
    if (made && (!self->children || PyDict_SetItem(self->children, key, made) < 0)) Py_CLEAR(made);
    return made;
}

PyObject *draft_read(place_draft *self, PyObject *key) {
    int quiet = quiet_begin();
    PyObject *out = read_now(self, key);
    quiet_end(quiet);
    return out;
}

void draft_cut(place_draft *child) {
    PyObject *parent = (PyObject *)child->parent;
    child->parent = NULL;
    Py_XDECREF(parent);
    draft_take_apart(child);
}

/* A tree of drafts holds itself. Those that the program keeps stay readable. */
void draft_take_apart(place_draft *self) {
    PyObject *children = self->children, *key, *child;
    if (!children) return;
    if (!draft_gather(self, false)) PyErr_Clear();
    self->children = NULL;
    for (Py_ssize_t at = 0; PyDict_Next(children, &at, &key, &child);) draft_cut((place_draft *)child);
    Py_DECREF(children);
}

void draft_forget(place_draft *self, PyObject *key) {
    place_draft *child = draft_child(self, key);
    if (!child) return;
    draft_cut(child);
    if (PyDict_DelItem(self->children, key) < 0) PyErr_Clear();
}

bool draft_attached(place_draft *self) {
    place_draft *place = self;
    while (place->parent) place = place->parent;
    if (self->document->base == NULL) return fail("state", "the transaction has ended", 0);
    if (place != self->document->root) return fail("state", "what this draft stood for was removed or replaced", 0);
    return true;
}

bool draft_own(place_draft *self) {
    if (self->fresh) return true;
    PyObject *copy = frozen_copy(self->value);
    if (!copy || !pending_apply(self, copy)) {
        Py_XDECREF(copy);
        return false;
    }
    pending_clear(self);
    PyObject *before = self->value;
    self->value = copy;
    self->fresh = true;
    Py_DECREF(before);
    return true;
}

void draft_changed(place_draft *self) {
    for (place_draft *above = self->parent; above && !above->dirty; above = above->parent) above->dirty = true;
}

static bool gather_children(place_draft *self, bool in_place) {
    if (!self->children) return true;
    Py_ssize_t at = 0;
    PyObject *key, *child;
    while (PyDict_Next(self->children, &at, &key, &child)) {
        place_draft *below = (place_draft *)child;
        if (!draft_gather(below, in_place)) return false;
        if (draft_item(self, key) != below->value && !put_item(self->value, key, below->value)) return false;
    }
    return true;
}

/* With `in_place` the document's own value has been let go of, and a container that only it and this draft have is
 * changed where it is. The way leads down, so one that is copied makes those below shared. */
bool draft_gather(place_draft *self, bool in_place) {
    if (!self->dirty) return true;
    Py_ssize_t most = self->parent && draft_item(self->parent, self->key) == self->value ? 2 : 1;
    bool alone = !self->fresh && in_place && Py_REFCNT(self->value) <= most;
    if (!(alone ? pending_apply(self, self->value) : draft_own(self))) return false;
    pending_clear(self);
    if (!gather_children(self, in_place)) return false;
    self->dirty = false;
    return true;
}

/* ---- recording ---- */

static bool put_path(place_draft *self, writer *out) {
    if (!self->parent) return put_segment(out, self->document->member);
    return put_path(self->parent, out) && put_segment(out, self->key);
}

bool draft_head(place_draft *self, unsigned number, PyObject *key) {
    writer *out = &self->document->ops->out;
    if (!draft_attached(self)) return false;
    size_t segments = self->depth + (key ? 2u : 1u);
    return put_op_head(out, number, segments) && put_path(self, out) && (!key || put_segment(out, key));
}

/* At a key that is there already, so it takes no memory. Takes the value over. */
static bool store(place_draft *self, PyObject *key, PyObject *value) {
    bool done = put_item(self->value, key, value);
    Py_DECREF(value);
    draft_changed(self);
    return done;
}

unsigned assign_number(PyObject *old, PyObject *value) {
    return old && is_frozen(value) && Py_TYPE(old) == Py_TYPE(value) ? CHORDAL_OP_ASSIGN : CHORDAL_OP_SET;
}

PyObject *text_tail(PyObject *old, PyObject *value) {
    if (!old || !PyUnicode_CheckExact(old) || !PyUnicode_Check(value)) return NULL;
    Py_ssize_t len = PyUnicode_GetLength(old), whole = PyUnicode_GetLength(value);
    Py_ssize_t is = len <= whole ? PyUnicode_Tailmatch(value, old, 0, whole, -1) : 0;
    return is > 0 ? PyUnicode_Substring(value, len, whole) : NULL;
}

static bool append_now(place_draft *self, PyObject *key, PyObject *old, PyObject *tail) {
    writer *out = &self->document->ops->out;
    size_t before = out->len;
    PyObject *text = text_join(old, tail);
    bool done = text && draft_own(self) && draft_head(self, CHORDAL_OP_APPEND, key) && put_text(out, tail);
    if (done) return store(self, key, text);
    out->len = before;
    Py_XDECREF(text);
    return false;
}

static bool append(place_draft *self, PyObject *key, PyObject *old, PyObject *given) {
    PyObject *tail = text_kept(given);
    int quiet = quiet_begin();
    bool done = tail && (!PyUnicode_GetLength(tail) || append_now(self, key, old, tail));
    quiet_end(quiet);
    Py_XDECREF(tail);
    return done;
}

static bool assign(place_draft *self, PyObject *key, PyObject *frozen, PyObject *old) {
    writer *out = &self->document->ops->out;
    size_t before = out->len;
    if (draft_own(self) && draft_head(self, assign_number(old, frozen), key) && put_value(out, frozen, DEPTH) &&
        put_item(self->value, key, frozen)) {
        draft_forget(self, key);
        draft_changed(self);
        return true;
    }
    out->len = before;
    return false;
}

bool draft_record(place_draft *self, PyObject *key, PyObject *frozen) {
    writer *out = &self->document->ops->out;
    PyObject *old = draft_item(self, key), *tail = text_tail(old, frozen);
    bool done = old && !PyErr_Occurred();
    if (done && !tail)
        done = draft_head(self, assign_number(old, frozen), key) && put_value(out, frozen, DEPTH);
    else if (done && PyUnicode_GetLength(tail))
        done = draft_head(self, CHORDAL_OP_APPEND, key) && put_text(out, tail);
    Py_XDECREF(tail);
    return done;
}

void draft_set(place_draft *self, PyObject *key, PyObject *frozen) {
    put_item(self->value, key, frozen);
    draft_forget(self, key);
    draft_changed(self);
}

/* Reading a value may run the program's code, which may do anything to the draft. */
static bool still(place_draft *self, PyObject *key, PyObject *old) {
    if (!draft_attached(self)) return false;
    if (draft_item(self, key) == old) return true;
    if (!PyErr_Occurred()) raise_changed();
    return false;
}

/* Set one place, by the smallest op that does it. */
bool draft_write(place_draft *self, PyObject *key, PyObject *value, PyObject *old) {
    if (!draft_attached(self)) return false;
    if ((PyObject *)draft_child(self, key) == value) return true; /* what `draft[key] += …` leaves behind */
    PyObject *tail = text_tail(old, value);
    if (tail || PyErr_Occurred()) {
        bool done = tail && append(self, key, old, tail);
        Py_XDECREF(tail);
        return done;
    }
    PyObject *frozen = freeze(value, DEPTH);
    int quiet = quiet_begin();
    bool done = frozen && still(self, key, old) && assign(self, key, frozen, old);
    quiet_end(quiet);
    Py_XDECREF(frozen);
    return done;
}

/* ---- methods ---- */

/* The string at a key, borrowed; the key as it is in the value, owned. */
static PyObject *text_at(place_draft *self, PyObject *given, PyObject **key) {
    *key = NULL;
    if (PyDict_Check(self->value)) {
        *key = draft_key(given);
    } else {
        Py_ssize_t index = PyNumber_AsSsize_t(given, PyExc_IndexError), len = draft_count(self);
        if (PyErr_Occurred()) return NULL;
        index += index < 0 ? len : 0;
        if (index < 0 || index >= len) return PyErr_Format(PyExc_IndexError, "index out of range");
        *key = PyLong_FromSsize_t(index);
    }
    PyObject *text = *key ? draft_item(self, *key) : NULL;
    if (text && PyUnicode_Check(text)) return text;
    if (text) fail("type", "only a string can be appended to or truncated", 0);
    if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, given);
    return NULL;
}

static PyObject *append_text(PyObject *draft_, PyObject *args) {
    place_draft *self = (place_draft *)draft_;
    PyObject *given, *tail, *key;
    if (!PyArg_ParseTuple(args, "OO", &given, &tail)) return NULL;
    if (!PyUnicode_Check(tail)) return fail("type", "only text can be appended to a string", 0);
    PyObject *old = draft_attached(self) ? text_at(self, given, &key) : (key = NULL);
    bool done = old && append(self, key, old, tail);
    Py_XDECREF(key);
    return done ? Py_NewRef(Py_None) : NULL;
}

static bool drop_now(place_draft *self, PyObject *key, PyObject *old, Py_ssize_t count) {
    Py_ssize_t len = PyUnicode_GetLength(old);
    writer *out = &self->document->ops->out;
    size_t before = out->len;
    PyObject *rest = PyUnicode_Substring(old, count, len);
    if (rest && draft_own(self) && draft_head(self, CHORDAL_OP_TRUNCATE, key) &&
        put_varint(out, (uint64_t)text_units(old, count)))
        return store(self, key, rest);
    out->len = before;
    Py_XDECREF(rest);
    return false;
}

static bool drop_front(place_draft *self, PyObject *key, PyObject *old, Py_ssize_t count) {
    if (count < 0 || count > PyUnicode_GetLength(old)) return fail("range", "the text is shorter", 0);
    int quiet = quiet_begin();
    bool done = !count || drop_now(self, key, old, count);
    quiet_end(quiet);
    return done;
}

static PyObject *truncate_text(PyObject *draft_, PyObject *args) {
    place_draft *self = (place_draft *)draft_;
    PyObject *given, *key;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "On", &given, &count)) return NULL;
    PyObject *old = draft_attached(self) ? text_at(self, given, &key) : (key = NULL);
    bool done = old && drop_front(self, key, old, count);
    Py_XDECREF(key);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *replace(PyObject *draft_, PyObject *value) {
    place_draft *self = (place_draft *)draft_;
    if (!draft_attached(self)) return NULL;
    if (!self->parent) return document_replace(self->document, value) ? Py_NewRef(Py_None) : NULL;
    place_draft *parent = (place_draft *)Py_NewRef((PyObject *)self->parent);
    PyObject *key = Py_NewRef(self->key), *old = Py_XNewRef(draft_item(parent, key));
    bool done = old && draft_write(parent, key, value, old);
    Py_XDECREF(old);
    Py_DECREF(key);
    Py_DECREF((PyObject *)parent);
    return done ? Py_NewRef(Py_None) : NULL;
}

static bool contents_now(place_draft *self, PyObject *frozen) {
    if (!draft_attached(self)) return false;
    if (Py_TYPE(frozen) != Py_TYPE(self->value))
        return fail("type", "an object stays an object and an array an array", 0);
    writer *out = &self->document->ops->out;
    size_t before = out->len;
    PyObject *copy = frozen_copy(frozen);
    if (!copy || !draft_head(self, CHORDAL_OP_ASSIGN, NULL) || !put_value(out, frozen, DEPTH)) {
        out->len = before;
        Py_XDECREF(copy);
        return false;
    }
    draft_take_apart(self);
    pending_clear(self);
    PyObject *old = self->value;
    self->value = copy;
    self->fresh = true;
    self->dirty = false;
    draft_changed(self);
    Py_DECREF(old);
    return true;
}

/* Make this place equal to a container of its kind, of which only the difference travels. */
static PyObject *replace_contents(PyObject *draft_, PyObject *value) {
    place_draft *self = (place_draft *)draft_;
    if (!draft_attached(self)) return NULL;
    PyObject *frozen = freeze(value, DEPTH);
    int quiet = quiet_begin();
    bool done = frozen && contents_now(self, frozen);
    quiet_end(quiet);
    Py_XDECREF(frozen);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *whole(PyObject *self, void *nothing) {
    (void)nothing;
    return draft_given((place_draft *)self);
}

static Py_ssize_t length(PyObject *self) {
    return draft_count((place_draft *)self);
}

static PyObject *compare(PyObject *self, PyObject *other, int how) {
    if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    bool draft = PyObject_TypeCheck(other, draft_type);
    PyObject *a = draft_given((place_draft *)self), *b = NULL, *out = NULL;
    if (a) b = draft ? draft_given((place_draft *)other) : Py_NewRef(other);
    if (b) out = PyObject_RichCompare(a, b, how);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return out;
}

static PyObject *words(PyObject *self) {
    PyObject *name = PyObject_GetAttr((PyObject *)Py_TYPE(self), py.names[NAME_name]);
    PyObject *value = name ? draft_given((place_draft *)self) : NULL;
    PyObject *out = value ? PyUnicode_FromFormat("%U(%R)", name, value) : NULL;
    Py_XDECREF(value);
    Py_XDECREF(name);
    return out;
}

/* ---- the type ---- */

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *words_) {
    (void)type, (void)args, (void)words_;
    return PyErr_Format(PyExc_TypeError, "drafts are made by transactions");
}

static int traverse(PyObject *draft_, visitproc visit, void *arg) {
    place_draft *self = (place_draft *)draft_;
    Py_VISIT(Py_TYPE(draft_));
    Py_VISIT(self->document);
    Py_VISIT(self->parent);
    Py_VISIT(self->value);
    Py_VISIT(self->children);
    for (unsigned i = 0; i < self->pending_count; i++) Py_VISIT(self->pending[i].items);
    return 0;
}

static int clear(PyObject *draft_) {
    place_draft *self = (place_draft *)draft_;
    pending_clear(self);
    Py_CLEAR(self->children);
    Py_CLEAR(self->parent);
    Py_CLEAR(self->document);
    Py_CLEAR(self->key);
    Py_CLEAR(self->value);
    return 0;
}

static void dealloc(PyObject *self) {
    end_tracked(self, clear);
}

static PyMethodDef methods[] = {
    {"append_text", append_text, METH_VARARGS,
     "append_text(key, text)\n\nAppend to the string at `key`. Costs what it adds. Raises KeyError or IndexError, and "
     "ChordalError TYPE if it is no string."},
    {"truncate_text", truncate_text, METH_VARARGS,
     "truncate_text(key, count)\n\nDrop `count` characters from the front of the string at `key`. Raises as "
     "append_text, and ChordalError RANGE if it is shorter."},
    {"replace", replace, METH_O,
     "replace(value)\n\nMake this place equal to a value; only what differs travels. This draft is then no longer "
     "good."},
    {"replace_contents", replace_contents, METH_O,
     "replace_contents(value)\n\nMake it equal to a container of its kind; only what differs travels. This draft "
     "stays good."},
    {0},
};
static PyGetSetDef fields[] = {{"_value", whole, NULL, NULL, NULL}, {0}};
static PyType_Slot slots[] = {
    {Py_tp_new, refuse_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {Py_tp_richcompare, compare},
    {Py_tp_repr, words},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_mp_length, length},
    {0},
};
static PyType_Spec spec = {"chordal._native.Draft", sizeof(place_draft), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

bool drafts_add(PyObject *module) {
    return add_type(module, &spec, NULL, &draft_type) && draft_dicts_add(module) && draft_lists_add(module) &&
           documents_add(module);
}
