/* Immutable copies of plain values. */
#include "native.h"

PyObject *frozen_new(bool dict) {
    PyTypeObject *type = (PyTypeObject *)(dict ? py.frozen_dict : py.frozen_list);
    return (dict ? py.dict_new : py.list_new)(type, py.nothing, NULL);
}

bool is_frozen(PyObject *value) {
    PyObject *type = (PyObject *)Py_TYPE(value);
    return type == py.frozen_dict || type == py.frozen_list;
}

PyObject *frozen_copy(PyObject *container) {
    bool dict = PyDict_Check(container);
    PyObject *copy = frozen_new(dict);
    if (!copy) return NULL;
    if ((dict ? PyDict_Update(copy, container) : PyList_SetSlice(copy, 0, 0, container)) == 0) return copy;
    Py_DECREF(copy);
    return NULL;
}

static PyObject *frozen(PyObject *value, int depth, int limit);

/* The key that the walk is at, as values have it. */
static PyObject *frozen_key(walker *walk) {
    if (PyUnicode_Check(walk->key)) return text_kept(walk->key);
    raise_of("type", "%s %U is not a key", walk->key);
    return NULL;
}

static bool fill_dict(PyObject *out, walker *walk, int depth, int limit) {
    int more;
    while ((more = walk_next(walk)) > 0) {
        PyObject *key = frozen_key(walk);
        PyObject *item = key ? frozen(walk->item, depth, limit) : NULL;
        bool done = item && PyDict_SetItem(out, key, item) == 0;
        Py_XDECREF(key);
        Py_XDECREF(item);
        if (!done) return false;
    }
    if (more < 0) return false;
    return PyDict_Size(out) == walk->count || fail("duplicate_key", "two keys are the same text", 0);
}

static bool fill_list(PyObject *out, walker *walk, int depth, int limit) {
    PyObject *items = PyList_New(0);
    int more = items ? 1 : -1;
    while (more > 0 && (more = walk_next(walk)) > 0) {
        PyObject *item = frozen(walk->item, depth, limit);
        if (!item || PyList_Append(items, item) < 0) more = -1;
        Py_XDECREF(item);
    }
    bool done = more == 0 && PyList_SetSlice(out, 0, 0, items) == 0;
    Py_XDECREF(items);
    return done;
}

static PyObject *frozen_container(PyObject *value, int shape, int depth, int limit) {
    walker walk;
    if (is_frozen(value)) return Py_NewRef(value);
    if (depth >= limit) return fail("depth", "the value is nested too deep", 0);
    if (!walk_begin(&walk, value, shape)) return NULL;
    PyObject *out = frozen_new(shape == SHAPE_DICT);
    bool done = out && (shape == SHAPE_DICT ? fill_dict : fill_list)(out, &walk, depth + 1, limit);
    walk_end(&walk);
    if (done) return out;
    Py_XDECREF(out);
    return NULL;
}

static PyObject *frozen_int(PyObject *value) {
    bool negative;
    uint64_t bits;
    if (!number_range(value, &negative, &bits)) return NULL;
    if (PyLong_CheckExact(value)) return Py_NewRef(value);
    return negative ? PyLong_FromLongLong((long long)bits) : PyLong_FromUnsignedLongLong(bits);
}

static PyObject *frozen(PyObject *value, int depth, int limit) {
    int shape = shape_of(value);
    switch (shape) {
    case SHAPE_NULL:
    case SHAPE_BOOL:
        return Py_NewRef(value);
    case SHAPE_INT:
        return frozen_int(value);
    case SHAPE_FLOAT:
        return number_of_double(PyFloat_AsDouble(value));
    case SHAPE_TEXT:
        return text_kept(value);
    case SHAPE_DICT:
    case SHAPE_LIST:
        return frozen_container(value, shape, depth, limit);
    default:
        return NULL;
    }
}

PyObject *freeze(PyObject *value, int depth_limit) {
    return frozen(value, 0, depth_limit < DEPTH_MOST ? depth_limit : DEPTH_MOST);
}

PyObject *freeze_all(PyObject *values) {
    PyObject *items = PySequence_List(values);
    for (Py_ssize_t i = 0; items && i < PyList_Size(items); i++) {
        PyObject *item = freeze(PyList_GetItem(items, i), DEPTH);
        if (!item || PyList_SetItem(items, i, item) < 0) Py_CLEAR(items);
    }
    return items;
}

PyObject *values_freeze(PyObject *module, PyObject *args, PyObject *words) {
    static char *names[] = {"value", "depth_limit", NULL};
    PyObject *value;
    int limit = DEPTH;
    (void)module;
    return PyArg_ParseTupleAndKeywords(args, words, "O|i", names, &value, &limit) ? freeze(value, limit) : NULL;
}
