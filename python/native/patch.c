/* Applying ops to an immutable value: what keeps a copy equal to its provider's.
 *
 * A container that only the patched value has is changed in place: nobody can tell. One that somebody else has, too,
 * is copied, and so is what is above it. When several ops come at once the whole value is held as it was, so that it
 * is back when one of them does not apply; one alone either applies or changes nothing. */
#include "native.h"

enum { LONG = 2048 }; /* characters of a string that is worth growing in place */

typedef struct patching {
    PyObject *root;
    Py_ssize_t root_refs; /* references to the root that do not count */
    bool in_place;        /* whoever else has it */
    PyObject *code, *message;
} patching;

/* A place: in a container that may be changed, or, without one, the root. */
typedef struct position {
    PyObject *container, *key;
    uint64_t index;
} position;

static void keep(PyObject **slot, PyObject *value) {
    PyObject *before = *slot;
    *slot = Py_NewRef(value);
    Py_XDECREF(before);
}

static bool nowhere(void) {
    return fail("path", "the path leads nowhere", 0);
}

/* What is at a place, borrowed; NULL without an exception: nothing. */
static PyObject *at(const patching *patch, const position *place) {
    if (!place->container) return patch->root;
    if (PyDict_Check(place->container))
        return place->key ? PyDict_GetItemWithError(place->container, place->key) : NULL;
    if (place->key || place->index >= (uint64_t)PyList_Size(place->container)) return NULL;
    return PyList_GetItem(place->container, (Py_ssize_t)place->index);
}

/* Put a value, which is taken over, at a place that is there or can be. */
static bool put_at(patching *patch, const position *place, PyObject *value) {
    if (!value) return false;
    if (!place->container) {
        Py_XDECREF(patch->root);
        patch->root = value;
        patch->root_refs = 1;
        return true;
    }
    if (PyDict_Check(place->container)) {
        bool done = place->key ? PyDict_SetItem(place->container, place->key, value) == 0 : nowhere();
        Py_DECREF(value);
        return done;
    }
    Py_ssize_t len = PyList_Size(place->container);
    if (!place->key && place->index < (uint64_t)len)
        return PyList_SetItem(place->container, (Py_ssize_t)place->index, value) == 0;
    bool done = !place->key && place->index == (uint64_t)len ? PyList_Append(place->container, value) == 0 : nowhere();
    Py_DECREF(value);
    return done;
}

/* The container at a place, as one that may be changed; borrowed. */
static PyObject *own(patching *patch, const position *place) {
    PyObject *child = at(patch, place);
    if (!child) {
        if (!PyErr_Occurred()) nowhere();
        return NULL;
    }
    if (!is_frozen(child)) return fail("path", "the path leads through a plain value", 0);
    if (patch->in_place || Py_REFCNT(child) <= (place->container ? 1 : patch->root_refs)) return child;
    PyObject *copy = frozen_copy(child);
    return put_at(patch, place, copy) ? copy : NULL;
}

/* Go to the place that an op names. The place's key is owned. */
static bool find(patching *patch, const reader *ops, const packed_op *op, position *place) {
    reader path = {ops->data, op->path_end, op->path};
    *place = (struct position){0};
    if (op->segments == 0) return nowhere();
    if (!get_segment(&path, &place->key, &place->index)) return false;
    Py_CLEAR(place->key); /* the member itself */
    for (size_t i = 1; i < op->segments; i++) {
        PyObject *container = own(patch, place);
        Py_CLEAR(place->key);
        place->container = container;
        if (!container || !get_segment(&path, &place->key, &place->index)) return false;
    }
    return true;
}

/* ---- the ops ---- */

static bool delete_at(const patching *patch, const position *place) {
    if (!place->container || !at(patch, place)) return PyErr_Occurred() ? false : nowhere();
    if (place->key) return PyDict_DelItem(place->container, place->key) == 0;
    Py_ssize_t index = (Py_ssize_t)place->index;
    return PyList_SetSlice(place->container, index, index + 1, NULL) == 0;
}

/* The string at a place, borrowed. */
static PyObject *text_at(const patching *patch, const position *place) {
    PyObject *text = at(patch, place);
    if (text && PyUnicode_Check(text)) return text;
    if (!PyErr_Occurred()) text ? (void)fail("type", "the value has the wrong type", 0) : (void)nowhere();
    return NULL;
}

/* A long string is taken out of its place while it grows, so that it can grow where it is. */
static bool append_long(patching *patch, const position *place, PyObject *text, PyObject *tail) {
    Py_INCREF(text);
    if (!put_at(patch, place, Py_NewRef(Py_None))) {
        Py_DECREF(text);
        return false;
    }
    bool done = text_grow(&text, tail);
    return put_at(patch, place, text) && done;
}

static bool append_at(patching *patch, const position *place, PyObject *tail) {
    PyObject *text = text_at(patch, place);
    if (!text) return false;
    bool grows = place->container && PyUnicode_GetLength(text) >= LONG;
    return grows ? append_long(patch, place, text, tail) : put_at(patch, place, text_join(text, tail));
}

static bool truncate_at(patching *patch, const position *place, uint64_t count) {
    PyObject *text = text_at(patch, place);
    return text && put_at(patch, place, text_without(text, count));
}

/* The array at a place, as one that may be changed; borrowed. */
static PyObject *array_at(patching *patch, const position *place) {
    PyObject *array = at(patch, place);
    if (array && PyList_Check(array)) return own(patch, place);
    if (!PyErr_Occurred()) array ? (void)fail("type", "the value has the wrong type", 0) : (void)nowhere();
    return NULL;
}

static bool splice_at(patching *patch, const position *place, const packed_op *op) {
    PyObject *array = at(patch, place);
    uint64_t len = array && PyList_Check(array) ? (uint64_t)PyList_Size(array) : 0;
    if (array && PyList_Check(array) && (op->index > len || op->count > len - op->index))
        return fail("range", "the splice is beyond the array", 0);
    array = array_at(patch, place);
    Py_ssize_t start = (Py_ssize_t)op->index;
    return array && PyList_SetSlice(array, start, start + (Py_ssize_t)op->count, op->value) == 0;
}

/* The elements of an array in another order; NULL with PERMUTATION. */
static PyObject *permuted(PyObject *array, const packed_op *op) {
    Py_ssize_t len = PyList_Size(array);
    bool fits = (uint64_t)len == op->count;
    PyObject *out = PyList_New(fits ? len : 0);
    char *seen = fits ? PyMem_Calloc((size_t)len + 1, 1) : NULL;
    if (fits && !seen) PyErr_NoMemory();
    for (Py_ssize_t i = 0; out && seen && fits && i < len; i++) {
        uint64_t from = op->indexes[i];
        fits = from < (uint64_t)len && !seen[from];
        if (!fits) break;
        seen[from] = 1;
        PyList_SetItem(out, i, Py_NewRef(PyList_GetItem(array, (Py_ssize_t)from)));
    }
    PyMem_Free(seen);
    if (fits && seen) return out;
    Py_XDECREF(out);
    return fits ? NULL : fail("permutation", "not a permutation of the array", 0);
}

static bool permute_at(patching *patch, const position *place, const packed_op *op) {
    PyObject *array = at(patch, place);
    PyObject *items = array && PyList_Check(array) ? permuted(array, op) : NULL;
    if (!items && PyErr_Occurred()) return false;
    array = array_at(patch, place);
    bool done = array && PyList_SetSlice(array, 0, PyList_Size(array), items) == 0;
    Py_XDECREF(items);
    return done;
}

static bool apply_at(patching *patch, const position *place, packed_op *op) {
    switch (op->number) {
    case CHORDAL_OP_DELETE:
        return delete_at(patch, place);
    case CHORDAL_OP_APPEND:
        return append_at(patch, place, op->value);
    case CHORDAL_OP_TRUNCATE:
        return truncate_at(patch, place, op->count);
    case CHORDAL_OP_SPLICE:
        return splice_at(patch, place, op);
    case CHORDAL_OP_PERMUTE:
        return permute_at(patch, place, op);
    default:
        return put_at(patch, place, Py_NewRef(op->value));
    }
}

static bool apply(patching *patch, const reader *ops, packed_op *op) {
    position place;
    if (op->number == CHORDAL_OP_ERROR) {
        keep(&patch->code, op->value);
        keep(&patch->message, op->message);
        return true;
    }
    bool done = find(patch, ops, op, &place) && apply_at(patch, &place, op);
    Py_XDECREF(place.key);
    return done;
}

static bool apply_each(patching *patch, reader *ops) {
    PyObject *before = NULL;
    bool done = true, first = true;
    while (done && ops->at < ops->len) {
        packed_op op;
        done = op_read(ops, &op);
        if (first && ops->at < ops->len) before = Py_XNewRef(patch->root);
        first = false;
        done = done && apply(patch, ops, &op);
        op_done(&op);
    }
    if (!done && before) keep(&patch->root, before);
    Py_XDECREF(before);
    return done;
}

/* All ops, or none. */
static bool apply_all(patching *patch, reader *ops) {
    int quiet = quiet_begin();
    bool done = apply_each(patch, ops);
    quiet_end(quiet);
    return done;
}

static void patch_done(patching *patch) {
    Py_CLEAR(patch->root);
    Py_CLEAR(patch->code);
    Py_CLEAR(patch->message);
}

/* ---- for the package ---- */

PyObject *ops_patch(PyObject *module, PyObject *args, PyObject *words) {
    static char *names[] = {"value", "ops", "in_place", NULL};
    PyObject *value, *data, *owner;
    int in_place = 0;
    reader ops;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "OO|p", names, &value, &data, &in_place)) return NULL;
    if (!reader_of(data, &ops, &owner)) return NULL;
    patching patch = {.root = Py_NewRef(value), .in_place = in_place};
    PyObject *out = apply_all(&patch, &ops) ? Py_NewRef(patch.root) : NULL;
    patch_done(&patch);
    Py_DECREF(owner);
    return out;
}

/* patch_in(values, member, ops, whole, in_place): the member's value in a dict of them, changed; what the ops tell of
 * an error.
 */
PyObject *ops_patch_in(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    PyObject *owner, *out = NULL;
    reader ops;
    (void)module;
    if (count != 5 || !PyDict_Check(args[0])) return PyErr_Format(PyExc_TypeError, "patch_in takes five arguments");
    if (!reader_of(args[2], &ops, &owner)) return NULL;
    PyObject *value = args[3] == Py_True ? NULL : PyDict_GetItemWithError(args[0], args[1]);
    patching patch = {.root = Py_NewRef(value ? value : Py_None), .root_refs = 2, .in_place = args[4] == Py_True};
    bool done = !PyErr_Occurred() && apply_all(&patch, &ops);
    if (done && patch.root != value) done = PyDict_SetItem(args[0], args[1], patch.root) == 0;
    if (done) out = patch.code ? PyTuple_Pack(2, patch.code, patch.message) : Py_NewRef(Py_None);
    patch_done(&patch);
    Py_DECREF(owner);
    return out;
}

/* What the ops tell of an error, as patch_in does. */
PyObject *ops_last_error(PyObject *module, PyObject *data) {
    reader ops;
    PyObject *owner, *last = Py_NewRef(Py_None);
    (void)module;
    bool done = reader_of(data, &ops, &owner);
    while (done && ops.at < ops.len) {
        packed_op op;
        done = op_read(&ops, &op);
        if (done && op.number == CHORDAL_OP_ERROR) {
            Py_DECREF(last);
            last = PyTuple_Pack(2, op.value, op.message);
            done = last != NULL;
        }
        op_done(&op);
    }
    if (!done) Py_CLEAR(last);
    Py_XDECREF(owner);
    return last;
}
