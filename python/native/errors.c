/* Raising the package's exceptions. */
#include "native.h"

/* Raise an exception that was made, or what was raised when it was not. */
static void raise_made(PyObject *error) {
    if (!error) return;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

void raise_error(const char *name, const char *detail, size_t position) {
    raise_made(PyObject_CallFunction(py.error, "ssn", name, detail, (Py_ssize_t)position));
}

void raise_words(const char *name, PyObject *words) {
    if (words) raise_made(PyObject_CallFunction(py.error, "sO", name, words));
    Py_XDECREF(words);
}

/* By the first letter: a u is mostly spoken as in UserDict. */
static const char *article_of(PyObject *word) {
    Py_UCS4 first = PyUnicode_GetLength(word) > 0 ? PyUnicode_ReadChar(word, 0) : 'x';
    return first < 128 && strchr("aeioAEIO", (int)first) ? "an" : "a";
}

void raise_of(const char *name, const char *format, PyObject *value) {
    PyObject *type = PyObject_GetAttr((PyObject *)Py_TYPE(value), py.names[NAME_name]);
    if (type) raise_words(name, PyUnicode_FromFormat(format, article_of(type), type));
    Py_XDECREF(type);
}

void raise_changed(void) {
    PyErr_SetString(PyExc_RuntimeError, "the value was changed while it was read");
}

void raise_code(int code, const chordal_error *error) {
    PyObject *detail =
        PyUnicode_DecodeUTF8(error->detail, (Py_ssize_t)strnlen(error->detail, sizeof error->detail), "replace");
    if (detail) raise_made(PyObject_CallFunction(py.error_of, "iOK", code, detail, error->position));
    Py_XDECREF(detail);
}
