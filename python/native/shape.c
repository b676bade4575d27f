/* What a native value is, and walking through mappings and sequences of any kind. */
#include "native.h"

/* What is none of the exact types. */
static int other_shape(PyObject *value) {
    if (PyDict_Check(value)) return SHAPE_DICT;
    int is = PyObject_IsInstance(value, py.mapping);
    if (is) return is < 0 ? -1 : SHAPE_DICT;
    if (PyUnicode_Check(value)) return SHAPE_TEXT;
    if (PyLong_Check(value)) return SHAPE_INT;
    if (PyFloat_Check(value)) return SHAPE_FLOAT;
    if (PyList_Check(value) || PyTuple_Check(value)) return SHAPE_LIST;
    bool bytes = PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value);
    is = bytes ? 0 : PyObject_IsInstance(value, py.sequence);
    if (is) return is < 0 ? -1 : SHAPE_LIST;
    raise_of("type", "%s %U is not a value", value);
    return -1;
}

int shape_of(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type) return SHAPE_TEXT;
    if (type == &PyLong_Type) return SHAPE_INT;
    if (value == Py_None) return SHAPE_NULL;
    if (type == &PyBool_Type) return SHAPE_BOOL;
    if ((PyObject *)type == py.frozen_dict || type == &PyDict_Type) return SHAPE_DICT;
    if ((PyObject *)type == py.frozen_list || type == &PyList_Type) return SHAPE_LIST;
    if (type == &PyFloat_Type) return SHAPE_FLOAT;
    return other_shape(value);
}

/* Plain containers are read in place, all others through what their class says they have. */
bool walk_begin(walker *walk, PyObject *value, int shape) {
    PyObject *type = (PyObject *)Py_TYPE(value);
    bool plain =
        type == py.frozen_dict || type == py.frozen_list || PyDict_CheckExact(value) || PyList_CheckExact(value);
    *walk = (struct walker){.dict = shape == SHAPE_DICT && plain, .pairs = shape == SHAPE_DICT && !plain};
    if (plain)
        walk->source = Py_NewRef(value);
    else
        walk->source = shape == SHAPE_DICT ? PyMapping_Items(value) : PySequence_List(value);
    if (!walk->source) return false;
    walk->count = walk->dict ? PyDict_Size(walk->source) : PyList_Size(walk->source);
    return true;
}

static int changed(void) {
    raise_changed();
    return -1;
}

static void keep(walker *walk, PyObject *key, PyObject *item) {
    PyObject *old_key = walk->key, *old_item = walk->item;
    walk->key = Py_XNewRef(key);
    walk->item = Py_XNewRef(item);
    Py_XDECREF(old_key);
    Py_XDECREF(old_item);
}

int walk_next(walker *walk) {
    PyObject *key = NULL, *item = NULL;
    if (walk->dict) {
        if (PyDict_Size(walk->source) != walk->count) return changed();
        bool more = PyDict_Next(walk->source, &walk->at, &key, &item);
        if (more != (walk->given < walk->count)) return changed(); /* some went and others came */
        if (!more) return 0;
        walk->given++;
        keep(walk, key, item);
        return 1;
    }
    if (PyList_Size(walk->source) != walk->count) return changed();
    if (walk->at == walk->count) return 0;
    item = PyList_GetItem(walk->source, walk->at++);
    if (!walk->pairs) {
        keep(walk, NULL, item);
        return 1;
    }
    if (!PyTuple_Check(item) || PyTuple_Size(item) != 2) return changed();
    keep(walk, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1));
    return 1;
}

void walk_end(walker *walk) {
    keep(walk, NULL, NULL);
    Py_CLEAR(walk->source);
}
