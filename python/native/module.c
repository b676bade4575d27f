/* The extension module chordal._native: values, ops, drafts and hosts for the package chordal. */
#include "native.h"

taken py;

bool add_type(PyObject *module, PyType_Spec *spec, PyObject *base, PyTypeObject **out) {
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    PyObject *type = base && !bases ? NULL : PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    *out = (PyTypeObject *)type;
    return type && PyModule_AddType(module, *out) == 0;
}

/* The names of what the package's own files give to this module, and where it is kept. */
static const struct given {
    const char *name;
    PyObject **slot;
} given[] = {
    {"frozen_dict", &py.frozen_dict}, {"frozen_list", &py.frozen_list}, {"error", &py.error},
    {"error_of", &py.error_of},       {"draft_dict", &py.draft_dict},   {"draft_list", &py.draft_list},
    {"reserved", &py.reserved},       {"events", &py.events},
};

static PyObject *adopt(PyObject *module, PyObject *args, PyObject *words) {
    Py_ssize_t at = 0;
    PyObject *name, *value;
    (void)module, (void)args;
    while (words && PyDict_Next(words, &at, &name, &value)) {
        size_t i = 0, count = sizeof given / sizeof *given;
        while (i < count && PyUnicode_CompareWithASCIIString(name, given[i].name) != 0) i++;
        if (i == count) return PyErr_Format(PyExc_TypeError, "%U is not taken", name);
        PyObject *before = *given[i].slot;
        *given[i].slot = Py_NewRef(value);
        Py_XDECREF(before);
    }
    Py_RETURN_NONE;
}

static PyObject *versions(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyUnicode_FromString(chordal_versions());
}

static PyMethodDef methods[] = {
    {"adopt", (PyCFunction)(void (*)(void))adopt, METH_VARARGS | METH_KEYWORDS, "Classes that this module makes."},
    {"freeze", (PyCFunction)(void (*)(void))values_freeze, METH_VARARGS | METH_KEYWORDS,
     "freeze(value, depth_limit=512)\n--\n\n"
     "An immutable copy of a plain value; parts that are immutable already are shared.\n\n"
     "Takes ``None``, ``bool``, ``int``, ``float``, ``str``, mappings with ``str`` keys, lists, tuples and other\n"
     "sequences but ``bytes``. Raises ChordalError NUMBER (an integer out of range, NaN, an infinity), DEPTH (nested\n"
     "deeper than `depth_limit`, or in itself), DUPLICATE_KEY (two keys that are the same text) and TYPE."},
    {"pack", (PyCFunction)(void (*)(void))values_pack, METH_VARARGS | METH_KEYWORDS,
     "A native value as packed bytes. Raises as freeze does."},
    {"pack_arguments", values_pack_arguments, METH_O,
     "A call's arguments, a tuple, as a packed array; an argument that is bytes travels raw."},
    {"unpack", values_unpack, METH_O, "The immutable native value of packed bytes."},
    {"units", texts_units, METH_O, "The length of a text in UTF-16 code units, the unit of the protocol."},
    {"drop_units", texts_drop_units, METH_VARARGS,
     "The text without its first `count` UTF-16 units. Raises ChordalError RANGE if it is shorter."},
    {"join", texts_join, METH_VARARGS, "Two texts behind each other; a high half at the seam joins with a low one."},
    {"read_ops", ops_read_all, METH_O, "The ops in order: number, whole path, arguments."},
    {"listed", ops_listed, METH_O, "The ops as tuples for programs, with paths inside the member."},
    {"patch", (PyCFunction)(void (*)(void))ops_patch, METH_VARARGS | METH_KEYWORDS,
     "patch(value, ops, in_place=False)\n--\n\n"
     "The value after packed ops on one member. The value given stays as it is, unless it is changed `in_place`.\n"
     "Raises ChordalError PATH, TYPE, RANGE or PERMUTATION for an op that does not apply to it."},
    {"patch_in", (PyCFunction)(void (*)(void))ops_patch_in, METH_FASTCALL,
     "patch_in(values, member, ops, whole, in_place)\n--\n\n"
     "Patch one of several values where it lies; what only it has is changed in place, or all of it. Answers the "
     "error\n"
     "that the ops tell of: code and words, empty for none any more; None if they tell nothing."},
    {"last_error", ops_last_error, METH_O, "What the ops tell of an error, as patch_in does."},
    {"read_events", records_read_events, METH_O, "The events of a buffer; unknown kinds are skipped."},
    {"plain", rows_plain, METH_O, "A query as an immutable value: bytes are base64 text in it. Raises as freeze does."},
    {"versions", versions, METH_NOARGS, "The versions of this library and of what is linked into it, as JSON."},
    {0},
};
static bool intern_names(void) {
    static const char *const words[NAMES] = {"__name__", "type_documents", "type_tables", "_values",
                                             "_id",      "index",          "type_name"};
    for (int i = 0; i < NAMES; i++)
        if (!(py.names[i] = PyUnicode_InternFromString(words[i]))) return false;
    return true;
}

static bool take_plain_types(void) {
    py.nothing = PyTuple_New(0);
    py.dict_new = (newfunc)PyType_GetSlot(&PyDict_Type, Py_tp_new);
    py.list_new = (newfunc)PyType_GetSlot(&PyList_Type, Py_tp_new);
    py.tuple_new = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *abc = PyImport_ImportModule("collections.abc");
    py.mapping = abc ? PyObject_GetAttrString(abc, "Mapping") : NULL;
    py.sequence = abc ? PyObject_GetAttrString(abc, "Sequence") : NULL;
    Py_XDECREF(abc);
    return py.nothing && py.mapping && py.sequence;
}

/* What it takes and makes is static: another interpreter would put its own in the place of it. */
static bool in_main_interpreter(void) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
    PyErr_SetString(PyExc_ImportError, "chordal is for the main interpreter of a process, not for subinterpreters");
    return false;
}

static int begin(PyObject *module) {
    text_forget_keys();
    return in_main_interpreter() && intern_names() && take_plain_types() && ops_add(module) && drafts_add(module) &&
                   core_add(module) && rows_add(module) && transactions_add(module)
               ? 0
               : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin}, {0}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "chordal._native", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
