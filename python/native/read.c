/* Packed bytes to immutable native values (docs/protocol.md, "Values").
 *
 * What comes from the core was checked there; this refuses all else that it cannot read, with the place. */
#include "native.h"

static void *cut_off(reader *in) {
    return fail("truncated", "the data ends too early", in->len);
}

bool get_varint(reader *in, uint64_t *out) {
    uint64_t number = 0;
    size_t start = in->at;
    for (unsigned shift = 0; in->at < in->len; shift += 7) {
        uint8_t byte = in->data[in->at++];
        if (shift > 56) return fail("malformed", "a number is too large", start);
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = number;
            return true;
        }
    }
    return cut_off(in);
}

bool get_count(reader *in, size_t *out) {
    uint64_t count;
    if (!get_varint(in, &count)) return false;
    *out = (size_t)count;
    return count <= in->len - in->at || cut_off(in);
}

bool get_run(reader *in, size_t len, size_t *start) {
    if (len > in->len - in->at) return cut_off(in);
    *start = in->at;
    in->at += len;
    return true;
}

PyObject *get_text(reader *in) {
    size_t len, start;
    return get_count(in, &len) && get_run(in, len, &start) ? text_read(in->data + start, len, start) : NULL;
}

/* A number of so many bytes, big end first. */
static bool get_wide(reader *in, unsigned size, uint64_t *out) {
    size_t start;
    if (!get_run(in, size, &start)) return false;
    *out = 0;
    for (unsigned i = 0; i < size; i++) *out = *out << 8 | in->data[start + i];
    return true;
}

static PyObject *get_signed(reader *in, unsigned size) {
    uint64_t bits;
    if (!get_wide(in, size, &bits)) return NULL;
    unsigned spare = 64 - 8 * size;
    return PyLong_FromLongLong((long long)((int64_t)(bits << spare) >> spare));
}

static PyObject *get_unsigned(reader *in, unsigned size) {
    uint64_t bits;
    return get_wide(in, size, &bits) ? PyLong_FromUnsignedLongLong(bits) : NULL;
}

static PyObject *get_double(reader *in) {
    uint64_t bits;
    double value;
    if (!get_wide(in, 8, &bits)) return NULL;
    memcpy(&value, &bits, sizeof value);
    return number_of_double(value);
}

static PyObject *get_float(reader *in) {
    uint64_t wide;
    float value;
    if (!get_wide(in, 4, &wide)) return NULL;
    uint32_t bits = (uint32_t)wide;
    memcpy(&value, &bits, sizeof value);
    return number_of_double((double)value);
}

static PyObject *get_str(reader *in, size_t len) {
    size_t start;
    return get_run(in, len, &start) ? text_read(in->data + start, len, start) : NULL;
}

/* ---- containers ---- */

static PyObject *get(reader *in, int depth);

/* How many bytes of a string or elements of a container a head announces. */
static bool get_size(reader *in, unsigned width, size_t *out) {
    uint64_t size;
    if (!get_wide(in, width, &size)) return false;
    *out = (size_t)size;
    return true;
}

static PyObject *get_key(reader *in) {
    size_t at = in->at, len, start;
    if (at == in->len) return cut_off(in);
    uint8_t head = in->data[in->at++];
    if (head >= 0xA0 && head < 0xC0)
        len = head & 0x1F;
    else if (head >= 0xD9 && head <= 0xDB) {
        if (!get_size(in, 1u << (head - 0xD9), &len)) return NULL;
    } else
        return fail("type", "a key is not a string", at);
    return get_run(in, len, &start) ? text_key(in->data + start, len, start) : NULL;
}

static PyObject *get_dict(reader *in, size_t count, int depth) {
    PyObject *out = frozen_new(true);
    bool done = out != NULL;
    for (size_t i = 0; i < count && done; i++) {
        PyObject *key = get_key(in);
        PyObject *item = key ? get(in, depth) : NULL;
        done = item && PyDict_SetItem(out, key, item) == 0;
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    if (done && (size_t)PyDict_Size(out) != count)
        done = fail("duplicate_key", "an object has the same key twice", in->at);
    if (!done) Py_CLEAR(out);
    return out;
}

static PyObject *get_list(reader *in, size_t count, int depth) {
    PyObject *items = PyList_New((Py_ssize_t)count), *out = NULL;
    bool done = items != NULL;
    for (size_t i = 0; i < count && done; i++) {
        PyObject *item = get(in, depth);
        done = item && PyList_SetItem(items, (Py_ssize_t)i, item) == 0;
    }
    if (done) out = frozen_new(false);
    if (out && PyList_SetSlice(out, 0, 0, items) < 0) Py_CLEAR(out);
    Py_XDECREF(items);
    return out;
}

static PyObject *get_container(reader *in, bool dict, size_t count, int depth) {
    if (depth <= 0) return fail("depth", "the value is nested too deep", in->at);
    if (count > in->len - in->at) return cut_off(in);
    return (dict ? get_dict : get_list)(in, count, depth - 1);
}

static PyObject *get_bytes(reader *in, unsigned width) {
    size_t len, start;
    if (!get_size(in, width, &len) || !get_run(in, len, &start)) return NULL;
    return PyBytes_FromStringAndSize((const char *)in->data + start, (Py_ssize_t)len);
}

/* What its head names with a byte of its own. */
static PyObject *get_other(reader *in, uint8_t head, int depth) {
    size_t size, at = in->at - 1;
    switch (head) {
    case 0xC0:
        return Py_NewRef(Py_None);
    case 0xC2:
    case 0xC3:
        return PyBool_FromLong(head & 1);
    case 0xC4:
    case 0xC5:
    case 0xC6:
        return get_bytes(in, 1u << (head - 0xC4));
    case 0xCA:
        return get_float(in);
    case 0xCB:
        return get_double(in);
    case 0xD9:
    case 0xDA:
    case 0xDB:
        return get_size(in, 1u << (head - 0xD9), &size) ? get_str(in, size) : NULL;
    case 0xDC:
    case 0xDD:
    case 0xDE:
    case 0xDF:
        return get_size(in, head & 1 ? 4 : 2, &size) ? get_container(in, head >= 0xDE, size, depth) : NULL;
    default:
        if (head >= 0xCC && head < 0xD0) return get_unsigned(in, 1u << (head - 0xCC));
        if (head >= 0xD0 && head < 0xD4) return get_signed(in, 1u << (head - 0xD0));
        return fail("syntax", "no value begins like this", at);
    }
}

static PyObject *get(reader *in, int depth) {
    if (in->at == in->len) return cut_off(in);
    uint8_t head = in->data[in->at++];
    if (head < 0x80) return PyLong_FromLong(head);
    if (head < 0xA0) return get_container(in, head < 0x90, head & 0x0F, depth);
    if (head < 0xC0) return get_str(in, head & 0x1F);
    if (head >= 0xE0) return PyLong_FromLong((long)head - 0x100);
    return get_other(in, head, depth);
}

PyObject *get_value(reader *in) {
    return get(in, DEPTH_MOST);
}

/* ---- for the package ---- */

bool reader_of(PyObject *data, reader *in, PyObject **owner) {
    char *bytes;
    Py_ssize_t len;
    *owner = PyBytes_FromObject(data); /* of bytes themselves no copy */
    if (!*owner) return false;
    if (PyBytes_AsStringAndSize(*owner, &bytes, &len) < 0) return false;
    *in = (reader){.data = (const uint8_t *)bytes, .len = (size_t)len};
    return true;
}

PyObject *values_unpack(PyObject *module, PyObject *data) {
    reader in;
    PyObject *owner;
    (void)module;
    if (!reader_of(data, &in, &owner)) return NULL;
    PyObject *value = get_value(&in);
    if (value && in.at < in.len) {
        Py_CLEAR(value);
        fail("trailing", "data follows the end", in.at);
    }
    Py_DECREF(owner);
    return value;
}
