/* Text: str on this side, sequences of UTF-16 units over UTF-8 bytes on the other. */
#include "native.h"

enum { CACHED = 256 }; /* characters whose UTF-8 a str may keep beside them */

/* The halves of pairs joined, lone ones kept. */
static PyObject *joined(PyObject *text) {
    PyObject *units = PyUnicode_AsEncodedString(text, "utf-16-le", "surrogatepass");
    if (!units) return NULL;
    char *data;
    Py_ssize_t len;
    PyObject *out = NULL;
    int order = -1;
    if (PyBytes_AsStringAndSize(units, &data, &len) == 0)
        out = PyUnicode_DecodeUTF16(data, len, "surrogatepass", &order);
    Py_DECREF(units);
    return out;
}

/* UTF-8 of a text that has surrogates. */
static bool halves_of(PyObject *text, utf8 *out) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
    PyErr_Clear();
    PyObject *whole = joined(text);
    if (!whole) return false;
    out->owner = PyUnicode_AsEncodedString(whole, "utf-8", "surrogatepass");
    Py_DECREF(whole);
    char *data;
    if (!out->owner || PyBytes_AsStringAndSize(out->owner, &data, &out->len) < 0) return false;
    out->data = data;
    return true;
}

bool utf8_of(PyObject *text, utf8 *out) {
    out->owner = NULL;
    if (PyUnicode_GetLength(text) <= CACHED) {
        out->data = PyUnicode_AsUTF8AndSize(text, &out->len);
        return out->data || halves_of(text, out);
    }
    char *data;
    out->owner = PyUnicode_AsUTF8String(text);
    if (!out->owner) return halves_of(text, out);
    if (PyBytes_AsStringAndSize(out->owner, &data, &out->len) < 0) return false;
    out->data = data;
    return true;
}

void utf8_done(utf8 *bytes) {
    Py_CLEAR(bytes->owner);
}

PyObject *text_read(const uint8_t *data, size_t len, size_t place) {
    PyObject *text = PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)len, "surrogatepass");
    if (text || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return text;
    PyObject *type, *error, *trace;
    Py_ssize_t start = 0;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    bool known = PyUnicodeDecodeError_GetStart(error, &start) == 0;
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return known ? fail("utf8", "not valid UTF-8", place + (size_t)start) : NULL;
}

/* ---- keys ---- */

enum { KEY_LEN = 23, KEYS = 256 };

typedef struct known {
    uint8_t len, bytes[KEY_LEN];
    PyObject *text;
} known;
static known keys[KEYS]; /* the last one of each place */

/* Those of an interpreter that ended. */
void text_forget_keys(void) {
    memset(keys, 0, sizeof keys);
}

static known *key_place(const uint8_t *data, size_t len) {
    uint64_t hash = len;
    for (size_t i = 0; i < len; i++) hash = (hash ^ data[i]) * 0x100000001b3u;
    return &keys[(hash ^ hash >> 17) % KEYS];
}

PyObject *text_key(const uint8_t *data, size_t len, size_t at) {
    if (len > KEY_LEN) return text_read(data, len, at);
    known *place = key_place(data, len);
    if (place->text && place->len == len && memcmp(place->bytes, data, len) == 0) return Py_NewRef(place->text);
    PyObject *text = text_read(data, len, at);
    if (!text) return NULL;
    PyObject *before = place->text;
    place->text = Py_NewRef(text);
    place->len = (uint8_t)len;
    memcpy(place->bytes, data, len);
    Py_XDECREF(before);
    return text;
}

/* ---- halves and units ---- */

/* Whether it has no surrogates; false may be an exception, too. */
static bool is_whole(PyObject *text) {
    if (PyUnicode_GetLength(text) <= CACHED) return PyUnicode_AsUTF8AndSize(text, NULL) != NULL;
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    Py_XDECREF(bytes);
    return bytes != NULL;
}

PyObject *text_kept(PyObject *text) {
    if (is_whole(text)) return PyUnicode_CheckExact(text) ? Py_NewRef(text) : PyUnicode_FromObject(text);
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return NULL;
    PyErr_Clear();
    return joined(text);
}

static bool is_high(Py_UCS4 unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}
static bool is_low(Py_UCS4 unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

/* The character at the seam of two halves, or 0. */
static Py_UCS4 seam(PyObject *head, PyObject *tail) {
    Py_ssize_t len = PyUnicode_GetLength(head);
    if (!len || !PyUnicode_GetLength(tail)) return 0;
    Py_UCS4 high = PyUnicode_ReadChar(head, len - 1);
    if (!is_high(high)) return 0;
    Py_UCS4 low = PyUnicode_ReadChar(tail, 0);
    return is_low(low) ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : 0;
}

PyObject *text_join(PyObject *head, PyObject *tail) {
    if (!seam(head, tail)) return PyUnicode_Concat(head, tail);
    PyObject *loose = PyUnicode_Concat(head, tail);
    PyObject *out = loose ? joined(loose) : NULL;
    Py_XDECREF(loose);
    return out;
}

static Py_UCS4 widest(PyObject *text, Py_ssize_t len) {
    Py_UCS4 most = 0;
    for (Py_ssize_t i = 0; i < len; i++) {
        Py_UCS4 unit = PyUnicode_ReadChar(text, i);
        if (unit > most) most = unit;
    }
    return most;
}

/* Whether a text's characters can be written to, also one that is as wide as this. */
static bool takes(PyObject *text, Py_UCS4 unit) {
    Py_UCS4 first = PyUnicode_ReadChar(text, 0);
    if (PyUnicode_WriteChar(text, 0, unit) == 0) return PyUnicode_WriteChar(text, 0, first) == 0;
    PyErr_Clear();
    return false;
}

/* PyUnicode_Append has no text any more when there is no memory for the longer one. */
bool text_grow(PyObject **text, PyObject *tail) {
    Py_ssize_t len = PyUnicode_GetLength(*text), more = PyUnicode_GetLength(tail);
    if (more > len / 8 || seam(*text, tail) || !takes(*text, widest(tail, more))) {
        PyObject *before = *text, *joined_ = text_join(before, tail);
        if (!joined_) return false;
        *text = joined_;
        Py_DECREF(before);
        return true;
    }
    if (PyUnicode_Resize(text, len + more) < 0) return false;
    for (Py_ssize_t i = 0; i < more; i++) PyUnicode_WriteChar(*text, len + i, PyUnicode_ReadChar(tail, i));
    return true;
}

Py_ssize_t text_units(PyObject *text, Py_ssize_t end) {
    Py_ssize_t count = end;
    for (Py_ssize_t i = 0; i < end; i++) count += PyUnicode_ReadChar(text, i) > 0xFFFF;
    return count;
}

PyObject *text_without(PyObject *text, uint64_t count) {
    Py_ssize_t len = PyUnicode_GetLength(text), at = 0;
    Py_UCS4 last = 0;
    while (count > 0 && at < len) {
        last = PyUnicode_ReadChar(text, at++);
        if (last > 0xFFFF && count == 1) break;
        count -= last > 0xFFFF ? 2 : 1;
        last = 0;
    }
    if (count > 0 && !last) return fail("range", "the text is shorter", 0);
    PyObject *rest = PyUnicode_Substring(text, at, len);
    if (!last || !rest) return rest;
    Py_UCS4 low = 0xDC00 + ((last - 0x10000) & 0x3FF); /* the second half stays */
    PyObject *half = PyUnicode_FromOrdinal((int)low);
    PyObject *out = half ? PyUnicode_Concat(half, rest) : NULL;
    Py_XDECREF(half);
    Py_DECREF(rest);
    return out;
}

/* ---- for the package ---- */

PyObject *texts_units(PyObject *module, PyObject *text) {
    (void)module;
    if (!PyUnicode_Check(text)) return PyErr_Format(PyExc_TypeError, "a str is needed");
    return PyLong_FromSsize_t(text_units(text, PyUnicode_GetLength(text)));
}

PyObject *texts_drop_units(PyObject *module, PyObject *args) {
    PyObject *text;
    unsigned long long count;
    (void)module;
    return PyArg_ParseTuple(args, "UK", &text, &count) ? text_without(text, count) : NULL;
}

PyObject *texts_join(PyObject *module, PyObject *args) {
    PyObject *head, *tail;
    (void)module;
    return PyArg_ParseTuple(args, "UU", &head, &tail) ? text_join(head, tail) : NULL;
}
