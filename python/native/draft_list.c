/* Drafts of arrays. */
#include "draft.h"

static PyTypeObject *draft_list_type;

static bool place_of(place_draft *self, PyObject *given, Py_ssize_t *out) {
    Py_ssize_t index = PyNumber_AsSsize_t(given, PyExc_IndexError), len = draft_count(self);
    if (index == -1 && PyErr_Occurred()) return false;
    index += index < 0 ? len : 0;
    *out = index;
    return (index >= 0 && index < len) || PyErr_Format(PyExc_IndexError, "index out of range");
}

static bool range_of(place_draft *self, PyObject *slice, Py_ssize_t *start, Py_ssize_t *step, Py_ssize_t *count) {
    Py_ssize_t stop;
    if (PySlice_Unpack(slice, start, &stop, step) < 0) return false;
    *count = PySlice_AdjustIndices(draft_count(self), start, &stop, *step);
    return true;
}

/* ---- reading ---- */

static PyObject *read_at(place_draft *self, Py_ssize_t index) {
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *out = key ? draft_read(self, key) : NULL;
    Py_XDECREF(key);
    return out;
}

static PyObject *read_slice(place_draft *self, PyObject *slice) {
    Py_ssize_t start, step, count;
    if (!range_of(self, slice, &start, &step, &count)) return NULL;
    PyObject *out = PyList_New(count);
    for (Py_ssize_t i = 0; out && i < count; i++) {
        PyObject *item = read_at(self, start + i * step);
        if (!item || PyList_SetItem(out, i, item) < 0) Py_CLEAR(out);
    }
    return out;
}

static PyObject *subscript(PyObject *self, PyObject *key) {
    Py_ssize_t index;
    if (PySlice_Check(key)) return read_slice((place_draft *)self, key);
    return place_of((place_draft *)self, key, &index) ? read_at((place_draft *)self, index) : NULL;
}

static PyObject *item(PyObject *self, Py_ssize_t index) {
    if (index >= 0 && index < draft_count((place_draft *)self)) return read_at((place_draft *)self, index);
    return PyErr_Format(PyExc_IndexError, "index out of range");
}

/* ---- moving ---- */

/* How elements move: `places` has the new place of each, or `remove` at `index` go and those behind them are shifted.
 */
typedef struct moves {
    const Py_ssize_t *places;
    Py_ssize_t index, remove, shift;
} moves;

/* The new place of an element; -1: gone. */
static Py_ssize_t moved_to(const moves *by, PyObject *key) {
    Py_ssize_t place = PyLong_AsSsize_t(key);
    if (by->places) return by->places[place];
    if (place < by->index) return place;
    return place < by->index + by->remove ? -1 : place + by->shift;
}

/* The drafts of elements by their new places, for `move`; false: no memory. */
static bool moved_children(const place_draft *self, const moves *by, PyObject **out) {
    PyObject *key, *child;
    *out = self->children ? PyDict_New() : NULL;
    for (Py_ssize_t at = 0; *out && PyDict_Next(self->children, &at, &key, &child);) {
        Py_ssize_t place = moved_to(by, key);
        if (place < 0) continue;
        PyObject *now = PyLong_FromSsize_t(place);
        if (!now || PyDict_SetItem(*out, now, child) < 0) Py_CLEAR(*out);
        Py_XDECREF(now);
    }
    return *out || !self->children;
}

/* The elements have moved: tell the drafts of them. Takes `moved` over; cannot fail. */
static void move(place_draft *self, const moves *by, PyObject *moved) {
    PyObject *children = self->children, *key, *child;
    if (!moved) return;
    self->children = moved;
    for (Py_ssize_t at = 0; PyDict_Next(moved, &at, &key, &child);) {
        place_draft *below = (place_draft *)child;
        PyObject *before = below->key;
        below->key = Py_NewRef(key);
        Py_XDECREF(before);
    }
    for (Py_ssize_t at = 0; PyDict_Next(children, &at, &key, &child);)
        if (moved_to(by, key) < 0) draft_cut((place_draft *)child);
    Py_DECREF(children);
}

static bool put_splice(place_draft *self, Py_ssize_t index, Py_ssize_t remove, PyObject *items) {
    writer *out = &self->document->ops->out;
    Py_ssize_t count = PyList_Size(items);
    bool done = draft_head(self, CHORDAL_OP_SPLICE, NULL) && put_varint(out, (uint64_t)index) &&
                put_varint(out, (uint64_t)remove) && put_varint(out, (uint64_t)count);
    for (Py_ssize_t i = 0; done && i < count; i++) done = put_value(out, PyList_GetItem(items, i), DEPTH);
    return done;
}

/* All that takes memory comes first, so that it is done whole or not at all. */
static bool splice_now(place_draft *self, Py_ssize_t index, Py_ssize_t remove, PyObject *items) {
    writer *out = &self->document->ops->out;
    size_t before = out->len;
    moves by = {NULL, index, remove, PyList_Size(items) - remove};
    bool waits = !self->fresh && self->pending_count < PENDING;
    PyObject *moved = NULL;
    bool done = (waits ? pending_room(self) : draft_own(self)) && moved_children(self, &by, &moved) &&
                put_splice(self, index, remove, items) &&
                (waits || PyList_SetSlice(self->value, index, index + remove, items) == 0);
    if (!done) {
        out->len = before;
        Py_XDECREF(moved);
        return false;
    }
    if (waits) pending_add(self, index, remove, items);
    move(self, &by, moved);
    draft_changed(self);
    return true;
}

static bool splice(place_draft *self, Py_ssize_t index, Py_ssize_t remove, PyObject *values) {
    if (!draft_attached(self)) return false;
    Py_ssize_t count = draft_count(self);
    PyObject *items = values ? freeze_all(values) : PyList_New(0);
    if (items && (!draft_attached(self) || count != draft_count(self))) { /* reading values may run anything */
        if (!PyErr_Occurred()) raise_changed();
        Py_CLEAR(items);
    }
    bool change = items && (remove || PyList_Size(items));
    int quiet = quiet_begin();
    bool done = items && (!change || splice_now(self, index, remove, items));
    quiet_end(quiet);
    Py_XDECREF(items);
    return done;
}

/* ---- every so many ---- */

typedef bool record(place_draft *self, const void *what);

/* The elements, or those of them that stay, in their new places, and what records it; whole or not at all. */
static bool rearrange(place_draft *self, const Py_ssize_t *places, Py_ssize_t count, record *put, const void *what) {
    size_t before = self->document->ops->out.len;
    Py_ssize_t len = draft_count(self);
    moves by = {.places = places};
    PyObject *items = PyList_New(count), *moved = NULL;
    bool done = items && draft_own(self);
    for (Py_ssize_t i = 0; done && i < len; i++)
        if (places[i] >= 0) PyList_SetItem(items, places[i], Py_NewRef(PyList_GetItem(self->value, i)));
    done = done && moved_children(self, &by, &moved) && put(self, what) &&
           PyList_SetSlice(self->value, 0, len, items) == 0;
    Py_XDECREF(items);
    if (done) {
        move(self, &by, moved);
        draft_changed(self);
        return true;
    }
    self->document->ops->out.len = before;
    Py_XDECREF(moved);
    return false;
}

typedef struct steps {
    Py_ssize_t start, step, count;
} steps;

/* From the last to the first, so that those before it stay where they are. */
static bool put_removals(place_draft *self, const void *what) {
    const steps *gone = what;
    writer *out = &self->document->ops->out;
    for (Py_ssize_t i = gone->count; i-- > 0;)
        if (!draft_head(self, CHORDAL_OP_SPLICE, NULL) || !put_varint(out, (uint64_t)(gone->start + i * gone->step)) ||
            !put_varint(out, 1) || !put_varint(out, 0))
            return false;
    return true;
}

static bool remove_steps(place_draft *self, const steps *gone) {
    Py_ssize_t len = draft_count(self), kept = 0, next = gone->start;
    Py_ssize_t *places = PyMem_Malloc(((size_t)len + 1) * sizeof *places);
    if (!places) return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0, left = gone->count; i < len; i++) {
        bool goes = left > 0 && i == next;
        places[i] = goes ? -1 : kept++;
        if (goes && --left > 0) next += gone->step;
    }
    bool done = rearrange(self, places, kept, put_removals, gone);
    PyMem_Free(places);
    return done;
}

/* Set the elements; their places in `keys`. */
static bool write_keys(place_draft *self, PyObject *keys, PyObject *items) {
    size_t before = self->document->ops->out.len;
    Py_ssize_t count = PyList_Size(items);
    bool done = draft_own(self);
    for (Py_ssize_t i = 0; done && i < count; i++)
        done = draft_record(self, PyList_GetItem(keys, i), PyList_GetItem(items, i));
    for (Py_ssize_t i = 0; done && i < count; i++) draft_set(self, PyList_GetItem(keys, i), PyList_GetItem(items, i));
    if (!done) self->document->ops->out.len = before;
    return done;
}

static bool write_steps(place_draft *self, const steps *at, PyObject *items) {
    PyObject *keys = draft_attached(self) ? PyList_New(at->count) : NULL;
    for (Py_ssize_t i = 0; keys && i < at->count; i++) {
        PyObject *key = PyLong_FromSsize_t(at->start + i * at->step);
        if (!key || PyList_SetItem(keys, i, key) < 0) Py_CLEAR(keys);
    }
    bool done = keys && (!at->count || write_keys(self, keys, items));
    Py_XDECREF(keys);
    return done;
}

static bool splice_one(place_draft *self, Py_ssize_t index, PyObject *value) {
    PyObject *values = PyTuple_Pack(1, value);
    bool done = values && splice(self, index, 0, values);
    Py_XDECREF(values);
    return done;
}

/* ---- writing ---- */

static bool write_at(place_draft *self, Py_ssize_t index, PyObject *value) {
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *old = key ? Py_XNewRef(draft_item(self, key)) : NULL;
    bool done = old && draft_write(self, key, value, old);
    Py_XDECREF(old);
    Py_XDECREF(key);
    return done;
}

static bool write_slice(place_draft *self, PyObject *slice, PyObject *values) {
    steps at;
    PyObject *items = draft_attached(self) ? freeze_all(values) : NULL;
    if (!items) return false;
    bool done = range_of(self, slice, &at.start, &at.step, &at.count); /* now that no code of the program will run */
    if (done && at.step == 1)
        done = splice(self, at.start, at.count, items);
    else if (done && PyList_Size(items) != at.count)
        done = PyErr_Format(PyExc_ValueError, "%zd values for a slice of %zd", PyList_Size(items), at.count);
    else if (done) {
        int quiet = quiet_begin();
        done = write_steps(self, &at, items);
        quiet_end(quiet);
    }
    Py_DECREF(items);
    return done;
}

static bool delete_slice(place_draft *self, PyObject *slice) {
    steps gone;
    if (!range_of(self, slice, &gone.start, &gone.step, &gone.count)) return false;
    if (gone.count && gone.step < 0) { /* from the last to the first is the same */
        gone.start += (gone.count - 1) * gone.step;
        gone.step = -gone.step;
    }
    if (gone.step == 1 || gone.count <= 1) return splice(self, gone.start, gone.count, NULL);
    int quiet = quiet_begin();
    bool done = remove_steps(self, &gone);
    quiet_end(quiet);
    return done;
}

static int assign(PyObject *self_, PyObject *key, PyObject *value) {
    place_draft *self = (place_draft *)self_;
    Py_ssize_t index;
    if (PySlice_Check(key)) return (value ? write_slice(self, key, value) : delete_slice(self, key)) ? 0 : -1;
    if (!place_of(self, key, &index)) return -1;
    return (value ? write_at(self, index, value) : splice(self, index, 1, NULL)) ? 0 : -1;
}

static PyObject *append(PyObject *self, PyObject *value) {
    return splice_one((place_draft *)self, draft_count((place_draft *)self), value) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *extend(PyObject *self, PyObject *values) {
    PyObject *items = PySequence_List(values);
    bool done = items && splice((place_draft *)self, draft_count((place_draft *)self), 0, items);
    Py_XDECREF(items);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *insert(PyObject *self, PyObject *args) {
    Py_ssize_t index;
    PyObject *value;
    if (!PyArg_ParseTuple(args, "nO", &index, &value)) return NULL;
    Py_ssize_t len = draft_count((place_draft *)self);
    index = index < -len ? 0 : index < 0 ? index + len : index > len ? len : index;
    return splice_one((place_draft *)self, index, value) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *clear(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return splice((place_draft *)self, 0, draft_count((place_draft *)self), NULL) ? Py_NewRef(Py_None) : NULL;
}

/* ---- another order ---- */

/* The indexes as plain ints, whatever they were given as. */
static bool plain_indexes(PyObject *indexes) {
    for (Py_ssize_t i = 0; i < PyList_Size(indexes); i++) {
        PyObject *index = PyNumber_Index(PyList_GetItem(indexes, i));
        if (!index || PyList_SetItem(indexes, i, index) < 0) return false;
    }
    return true;
}

/* Where each element goes; NULL with PERMUTATION. `*same` when each stays. */
static Py_ssize_t *places_of(PyObject *indexes, Py_ssize_t len, bool *same) {
    Py_ssize_t *places = PyMem_Malloc(((size_t)len + 1) * sizeof *places);
    if (!places) return (Py_ssize_t *)PyErr_NoMemory();
    bool fits = PyList_Size(indexes) == len;
    for (Py_ssize_t i = 0; i < len; i++) places[i] = -1;
    *same = true;
    for (Py_ssize_t i = 0; fits && i < len; i++) {
        Py_ssize_t from = PyNumber_AsSsize_t(PyList_GetItem(indexes, i), NULL);
        fits = !PyErr_Occurred() && from >= 0 && from < len && places[from] < 0;
        if (fits) places[from] = i;
        *same = *same && from == i;
    }
    if (fits) return places;
    PyMem_Free(places);
    return PyErr_Occurred() ? NULL : fail("permutation", "not a permutation of the array", 0);
}

static bool put_order(place_draft *self, const void *indexes) {
    return draft_head(self, CHORDAL_OP_PERMUTE, NULL) &&
           put_permute(&self->document->ops->out, *(PyObject *const *)indexes);
}

static bool permute_places(place_draft *self, PyObject *indexes, const Py_ssize_t *places) {
    Py_ssize_t len = PyList_Size(indexes);
    if (len != draft_count(self)) return raise_changed(), false;
    return rearrange(self, places, len, put_order, &indexes);
}

static PyObject *permute(PyObject *self_, PyObject *given) {
    place_draft *self = (place_draft *)self_;
    bool same = true;
    PyObject *indexes = PySequence_List(given);
    Py_ssize_t *places = indexes && plain_indexes(indexes) ? places_of(indexes, draft_count(self), &same) : NULL;
    int quiet = quiet_begin();
    bool done = places && draft_attached(self) && (same || permute_places(self, indexes, places));
    quiet_end(quiet);
    PyMem_Free(places);
    Py_XDECREF(indexes);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"append", append, METH_O, "append(value)\n\nPut a value at the end."},
    {"extend", extend, METH_O, "extend(values)\n\nPut values at the end, in one splice."},
    {"insert", insert, METH_VARARGS, "insert(index, value)\n\nPut a value before the element at `index`."},
    {"clear", clear, METH_NOARGS, "Make it empty."},
    {"permute", permute, METH_O,
     "permute(indexes)\n\nPut the elements in a new order: ``new[i] = old[indexes[i]]``. Raises ChordalError "
     "PERMUTATION."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_mp_subscript, subscript}, {Py_mp_ass_subscript, assign}, {Py_sq_item, item}, {Py_tp_methods, methods}, {0},
};
static PyType_Spec spec = {"chordal._native.DraftArray", sizeof(place_draft), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool draft_lists_add(PyObject *module) {
    return add_type(module, &spec, (PyObject *)draft_type, &draft_list_type);
}
