/* Native values to packed bytes (docs/protocol.md, "Values"). */
#include "native.h"

enum { ROOM = 256 }; /* bytes that a writer begins with */

/* ---- the writer ---- */

static bool grow(writer *out, size_t len) {
    if (len > (size_t)PY_SSIZE_T_MAX / 2 - out->len) return PyErr_NoMemory() != NULL;
    size_t room = out->room ? out->room : ROOM;
    while (room < out->len + len) room *= 2;
    uint8_t *data = PyMem_Realloc(out->data, room);
    if (!data) return PyErr_NoMemory() != NULL;
    out->data = data;
    out->room = room;
    return true;
}

static inline bool has_room(writer *out, size_t len) {
    return out->room - out->len >= len || grow(out, len);
}

bool put_bytes(writer *out, const void *data, size_t len) {
    if (!has_room(out, len)) return false;
    if (len) memcpy(out->data + out->len, data, len);
    out->len += len;
    return true;
}

bool put_byte(writer *out, unsigned byte) {
    if (!has_room(out, 1)) return false;
    out->data[out->len++] = (uint8_t)byte;
    return true;
}

bool put_varint(writer *out, uint64_t number) {
    if (!has_room(out, 10)) return false;
    while (number > 0x7F) {
        out->data[out->len++] = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    out->data[out->len++] = (uint8_t)number;
    return true;
}

PyObject *writer_bytes(writer *out) {
    PyObject *bytes = PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize((char *)out->data, (Py_ssize_t)out->len);
    PyMem_Free(out->data);
    *out = (writer){0};
    return bytes;
}

/* ---- values ---- */

/* A head and a number behind it, big end first. */
static bool put_wide(writer *out, unsigned head, uint64_t number, unsigned size) {
    if (!has_room(out, 9)) return false;
    out->data[out->len++] = (uint8_t)head;
    for (unsigned i = size; i-- > 0;) out->data[out->len++] = (uint8_t)(number >> 8 * i);
    return true;
}

/* A length: in the head, or behind the first of those that are wide enough. */
static bool put_size(writer *out, size_t size, unsigned small, size_t small_most, unsigned wide, bool byte) {
    if (size <= small_most) return put_byte(out, small | (unsigned)size);
    if (byte && size < 0x100) return put_wide(out, wide, size, 1);
    if (size < 0x10000) return put_wide(out, wide + byte, size, 2);
    if (size > UINT32_MAX) return fail("size", "larger than a value can be", 0);
    return put_wide(out, wide + byte + 1, size, 4);
}

bool put_text(writer *out, PyObject *text) {
    utf8 bytes;
    bool done =
        utf8_of(text, &bytes) && put_varint(out, (uint64_t)bytes.len) && put_bytes(out, bytes.data, (size_t)bytes.len);
    utf8_done(&bytes);
    return done;
}

static bool put_str(writer *out, PyObject *text) {
    utf8 bytes;
    bool done = utf8_of(text, &bytes) && put_size(out, (size_t)bytes.len, 0xA0, 31, 0xD9, true) &&
                put_bytes(out, bytes.data, (size_t)bytes.len);
    utf8_done(&bytes);
    return done;
}

static bool put_int(writer *out, PyObject *value) {
    bool negative;
    uint64_t bits;
    if (!number_range(value, &negative, &bits)) return false;
    if (!negative && bits < 0x80) return put_byte(out, (unsigned)bits);
    if (negative && bits >= (uint64_t)-32) return put_byte(out, (unsigned)(bits & 0xFF));
    unsigned head = negative ? 0xD0 : 0xCC, sign = negative;
    uint64_t most = negative ? ~bits : bits; /* what the width depends on */
    if (most < (uint64_t)1 << (8 - sign)) return put_wide(out, head, bits, 1);
    if (most < (uint64_t)1 << (16 - sign)) return put_wide(out, head + 1, bits, 2);
    if (most < (uint64_t)1 << (32 - sign)) return put_wide(out, head + 2, bits, 4);
    return put_wide(out, head + 3, bits, 8);
}

static bool put_float(writer *out, PyObject *value) {
    PyObject *number = number_of_double(PyFloat_AsDouble(value));
    if (!number) return false;
    bool done;
    if (PyLong_Check(number)) {
        done = put_int(out, number);
    } else {
        double exact = PyFloat_AsDouble(number);
        uint64_t bits;
        memcpy(&bits, &exact, sizeof bits);
        done = put_wide(out, 0xCB, bits, 8);
    }
    Py_DECREF(number);
    return done;
}

/* ---- bytes ---- */

/* Bytes have no short head, not even for none. */
static bool put_raw_size(writer *out, size_t size) {
    return size ? put_size(out, size, 0, 0, 0xC4, true) : put_wide(out, 0xC4, 0, 1);
}

static bool put_raw(writer *out, PyObject *bytes) {
    reader data;
    PyObject *owner;
    if (!reader_of(bytes, &data, &owner)) return false;
    bool done = put_raw_size(out, data.len) && put_bytes(out, data.data, data.len);
    Py_DECREF(owner);
    return done;
}

/* Three bytes, fewer at the end, as four characters. */
static void put_quartet(writer *out, const uint8_t *data, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)data[0] << 16 | (len > 1 ? (uint32_t)data[1] << 8 : 0) | (len > 2 ? data[2] : 0u);
    for (unsigned i = 0; i < 4; i++)
        out->data[out->len++] = (uint8_t)(i <= len ? digits[bits >> (18 - 6 * i) & 63] : '=');
}

static bool put_base64(writer *out, PyObject *bytes) {
    reader in;
    PyObject *owner;
    if (!reader_of(bytes, &in, &owner)) return false;
    size_t size = (in.len / 3 + (in.len % 3 != 0)) * 4;
    bool done = put_size(out, size, 0xA0, 31, 0xD9, true) && has_room(out, size);
    for (size_t at = 0; done && at < in.len; at += 3) put_quartet(out, in.data + at, in.len - at < 3 ? in.len - at : 3);
    Py_DECREF(owner);
    return done;
}

/* ---- any value ---- */

static bool put(writer *out, PyObject *value, int depth);

static bool put_key(writer *out, PyObject *key) {
    if (PyUnicode_Check(key)) return put_str(out, key);
    raise_of("type", "%s %U is not a key", key);
    return false;
}

static bool put_container(writer *out, PyObject *value, int shape, int depth) {
    walker walk;
    int more = -1;
    bool dict = shape == SHAPE_DICT;
    if (depth <= 0) return fail("depth", "the value is nested too deep", 0);
    if (!walk_begin(&walk, value, shape)) return false;
    if (put_size(out, (size_t)walk.count, dict ? 0x80 : 0x90, 15, dict ? 0xDE : 0xDC, false))
        while ((more = walk_next(&walk)) > 0)
            if ((dict && !put_key(out, walk.key)) || !put(out, walk.item, depth - 1)) break;
    walk_end(&walk);
    return more == 0;
}

static bool is_bytes(PyObject *value) {
    return PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value);
}

static bool put(writer *out, PyObject *value, int depth) {
    if (out->cells && is_bytes(value)) return (out->cells == CELLS_RAW ? put_raw : put_base64)(out, value);
    int shape = shape_of(value);
    switch (shape) {
    case SHAPE_NULL:
        return put_byte(out, 0xC0);
    case SHAPE_BOOL:
        return put_byte(out, value == Py_True ? 0xC3 : 0xC2);
    case SHAPE_INT:
        return put_int(out, value);
    case SHAPE_FLOAT:
        return put_float(out, value);
    case SHAPE_TEXT:
        return put_str(out, value);
    case SHAPE_DICT:
    case SHAPE_LIST:
        return put_container(out, value, shape, depth);
    default:
        return false;
    }
}

bool put_value(writer *out, PyObject *value, int depth_limit) {
    return put(out, value, depth_limit < DEPTH_MOST ? depth_limit : DEPTH_MOST);
}

/* ---- arguments ---- */

bool put_arguments(writer *out, PyObject *arguments, int depth_limit) {
    Py_ssize_t count = PyTuple_Size(arguments);
    if (count < 0 || !put_size(out, (size_t)count, 0x90, 15, 0xDC, false)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(arguments, i);
        if (!(is_bytes(item) ? put_raw(out, item) : put_value(out, item, depth_limit))) return false;
    }
    return true;
}

/* ---- for the package ---- */

PyObject *values_pack(PyObject *module, PyObject *args, PyObject *words) {
    static char *names[] = {"value", "depth_limit", NULL};
    PyObject *value;
    int limit = DEPTH;
    writer out = {0};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|i", names, &value, &limit)) return NULL;
    put_value(&out, value, limit);
    return writer_bytes(&out);
}

PyObject *values_pack_arguments(PyObject *module, PyObject *arguments) {
    writer out = {0};
    (void)module;
    if (!PyTuple_Check(arguments)) return PyErr_Format(PyExc_TypeError, "arguments are a tuple");
    put_arguments(&out, arguments, DEPTH);
    return writer_bytes(&out);
}
