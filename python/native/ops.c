/* Packed ops: what a change consists of, to bytes and back (docs/protocol.md, "Ops").
 *
 * Across the API every path is inline, and its first segment is the index of the member. */
#include "native.h"

PyTypeObject *ops_type;

/* ---- writing ---- */

bool put_op_head(writer *out, unsigned number, size_t segments) {
    unsigned head = number < OP_OTHERS ? number | OP_INLINE << 3 : OP_OTHERS | (number - OP_OTHERS) << 3;
    return put_byte(out, head) && put_varint(out, segments);
}

bool put_segment(writer *out, PyObject *segment) {
    if (!PyUnicode_Check(segment)) {
        size_t index = PyLong_AsSize_t(segment);
        return !PyErr_Occurred() && put_varint(out, (uint64_t)index << 1);
    }
    utf8 bytes;
    bool done = utf8_of(segment, &bytes) && put_varint(out, (uint64_t)bytes.len << 1 | 1) &&
                put_bytes(out, bytes.data, (size_t)bytes.len);
    utf8_done(&bytes);
    return done;
}

static bool put_index(writer *out, PyObject *number) {
    size_t index = PyLong_AsSize_t(number);
    return !PyErr_Occurred() && put_varint(out, index);
}

bool put_permute(writer *out, PyObject *indexes) {
    Py_ssize_t count = PyList_Size(indexes);
    if (count < 0 || !put_varint(out, (uint64_t)count)) return false;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!put_index(out, PyList_GetItem(indexes, i))) return false;
    return true;
}

static bool put_items(writer *out, PyObject *items) {
    Py_ssize_t count = PyList_Size(items);
    if (!put_varint(out, (uint64_t)count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = Py_XNewRef(PyList_GetItem(items, i)); /* code of the program may take it out */
        bool done = item && put_value(out, item, DEPTH);
        Py_XDECREF(item);
        if (!done) return false;
    }
    return PyList_Size(items) == count || (raise_changed(), false);
}

/* The arguments of an op behind its path, by number. */
static bool put_op_arguments(writer *out, unsigned number, PyObject *arguments) {
    PyObject *first = NULL, *second = NULL, *third = NULL;
    if (!PyArg_UnpackTuple(arguments, "add", 0, 3, &first, &second, &third)) return false;
    switch (number) {
    case CHORDAL_OP_DELETE:
        return true;
    case CHORDAL_OP_APPEND:
        return first && put_text(out, first);
    case CHORDAL_OP_TRUNCATE:
        return first && put_index(out, first);
    case CHORDAL_OP_PERMUTE:
        return first && PyList_Check(first) && put_permute(out, first);
    case CHORDAL_OP_ERROR:
        return second && put_text(out, first) && put_text(out, second);
    case CHORDAL_OP_SPLICE:
        if (!third || !PyList_Check(third) || !put_index(out, first) || !put_index(out, second)) return false;
        return put_items(out, third);
    default:
        return first && put_value(out, first, DEPTH);
    }
}

/* ops.add(number, path, *arguments) */
static PyObject *ops_write(PyObject *self, PyObject *args) {
    writer *out = &((ops_object *)self)->out;
    size_t before = out->len;
    Py_ssize_t count = PyTuple_Size(args);
    PyObject *path = count < 2 ? NULL : PySequence_List(PyTuple_GetItem(args, 1));
    PyObject *arguments = PyTuple_GetSlice(args, 2, count);
    unsigned long number = path && arguments ? PyLong_AsUnsignedLong(PyTuple_GetItem(args, 0)) : 0;
    bool done = path && arguments && !PyErr_Occurred();
    if (done && number == CHORDAL_OP_ERROR) /* its member stands in place of a path */
        done =
            put_byte(out, OP_OTHERS | (CHORDAL_OP_ERROR - OP_OTHERS) << 3) && put_index(out, PyList_GetItem(path, 0));
    else if (done) {
        done = put_op_head(out, (unsigned)number, (size_t)PyList_Size(path));
        for (Py_ssize_t i = 0; done && i < PyList_Size(path); i++) done = put_segment(out, PyList_GetItem(path, i));
    }
    done = done && put_op_arguments(out, (unsigned)number, arguments);
    Py_XDECREF(path);
    Py_XDECREF(arguments);
    if (done) Py_RETURN_NONE;
    out->len = before;
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "these are not the arguments of an op");
}

static PyObject *ops_bytes(PyObject *self, PyObject *nothing) {
    writer *out = &((ops_object *)self)->out;
    (void)nothing;
    return PyBytes_FromStringAndSize((char *)out->data, (Py_ssize_t)out->len);
}

static Py_ssize_t ops_length(PyObject *self) {
    return (Py_ssize_t)((ops_object *)self)->out.len;
}

static void ops_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((ops_object *)self)->out.data);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef ops_methods[] = {
    {"add", ops_write, METH_VARARGS,
     "Append an op: number, path, arguments. Raises as pack does, and changes nothing."},
    {"__bytes__", ops_bytes, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot ops_slots[] = {
    {Py_tp_doc, "Ops that are collected, packed."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, ops_dealloc},
    {Py_tp_methods, ops_methods},
    {Py_sq_length, ops_length},
    {0},
};
static PyType_Spec ops_spec = {"chordal._native.Ops", sizeof(ops_object), 0, Py_TPFLAGS_DEFAULT, ops_slots};

bool ops_add(PyObject *module) {
    return add_type(module, &ops_spec, NULL, &ops_type);
}

/* ---- reading ---- */

bool get_segment(reader *in, PyObject **key, uint64_t *index) {
    uint64_t segment;
    size_t start;
    *key = NULL;
    if (!get_varint(in, &segment)) return false;
    *index = segment >> 1;
    if (!(segment & 1)) return true;
    if (!get_run(in, (size_t)*index, &start)) return false;
    *key = text_key(in->data + start, (size_t)*index, start);
    return *key != NULL;
}

/* Past the path, which is looked at when the op is used. */
static bool skip_path(reader *in, packed_op *out) {
    uint64_t segment;
    size_t start;
    if (!get_count(in, &out->segments)) return false;
    out->path = in->at;
    for (size_t i = 0; i < out->segments; i++)
        if (!get_varint(in, &segment) || ((segment & 1) && !get_run(in, (size_t)(segment >> 1), &start))) return false;
    out->path_end = in->at;
    return true;
}

static bool get_splice(reader *in, packed_op *out) {
    size_t count;
    if (!get_varint(in, &out->index) || !get_varint(in, &out->count) || !get_count(in, &count)) return false;
    out->value = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; out->value && i < count; i++) {
        PyObject *item = get_value(in);
        if (!item || PyList_SetItem(out->value, (Py_ssize_t)i, item) < 0) return false;
    }
    return out->value != NULL;
}

static bool get_indexes(reader *in, packed_op *out) {
    size_t count;
    if (!get_count(in, &count)) return false;
    out->count = count;
    out->indexes = PyMem_Calloc(count + 1, sizeof *out->indexes);
    if (!out->indexes) return PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < count; i++)
        if (!get_varint(in, &out->indexes[i])) return false;
    return true;
}

static bool get_arguments(reader *in, packed_op *out) {
    switch (out->number) {
    case CHORDAL_OP_REPLACE:
    case CHORDAL_OP_SET:
    case CHORDAL_OP_ASSIGN:
        return (out->value = get_value(in)) != NULL;
    case CHORDAL_OP_DELETE:
        return true;
    case CHORDAL_OP_APPEND:
        return (out->value = get_text(in)) != NULL;
    case CHORDAL_OP_TRUNCATE:
        return get_varint(in, &out->count);
    case CHORDAL_OP_SPLICE:
        return get_splice(in, out);
    case CHORDAL_OP_PERMUTE:
        return get_indexes(in, out);
    case CHORDAL_OP_ERROR:
        return (out->value = get_text(in)) && (out->message = get_text(in));
    default:
        return fail("malformed", "no op has this number", in->at);
    }
}

bool op_read(reader *in, packed_op *out) {
    *out = (packed_op){0};
    if (in->at == in->len) return fail("truncated", "the data ends too early", in->len);
    unsigned head = in->data[in->at++];
    out->number = head & OP_OTHERS;
    if (out->number == OP_OTHERS)
        out->number += head >> 3;
    else if (head >> 3 != OP_INLINE)
        return fail("malformed", "a path is not inline", in->at - 1);
    if (out->number == CHORDAL_OP_ERROR) return get_varint(in, &out->index) && get_arguments(in, out);
    return skip_path(in, out) && get_arguments(in, out);
}

void op_done(packed_op *op) {
    Py_CLEAR(op->value);
    Py_CLEAR(op->message);
    PyMem_Free(op->indexes);
    op->indexes = NULL;
}

/* ---- ops as tuples ---- */

static PyObject *path_of(const reader *in, const packed_op *op, size_t skipped) {
    reader at = {in->data, op->path_end, op->path};
    if (op->number == CHORDAL_OP_ERROR) return skipped ? PyTuple_New(0) : Py_BuildValue("(K)", op->index);
    PyObject *path = PyList_New(0);
    for (size_t i = 0; path && i < op->segments; i++) {
        PyObject *key;
        uint64_t index;
        bool done = get_segment(&at, &key, &index);
        if (done && !key) done = (key = PyLong_FromUnsignedLongLong(index)) != NULL;
        if (done && i >= skipped) done = PyList_Append(path, key) == 0;
        Py_XDECREF(key);
        if (!done) Py_CLEAR(path);
    }
    PyObject *out = path ? PyList_AsTuple(path) : NULL;
    Py_XDECREF(path);
    return out;
}

static PyObject *indexes_of(const packed_op *op) {
    PyObject *list = PyList_New((Py_ssize_t)op->count);
    for (size_t i = 0; list && i < op->count; i++) {
        PyObject *index = PyLong_FromUnsignedLongLong(op->indexes[i]);
        if (!index || PyList_SetItem(list, (Py_ssize_t)i, index) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *arguments_of(const packed_op *op) {
    switch (op->number) {
    case CHORDAL_OP_DELETE:
        return PyTuple_New(0);
    case CHORDAL_OP_TRUNCATE:
        return Py_BuildValue("(K)", op->count);
    case CHORDAL_OP_SPLICE:
        return Py_BuildValue("(KKO)", op->index, op->count, op->value);
    case CHORDAL_OP_PERMUTE:
        return Py_BuildValue("(N)", indexes_of(op));
    case CHORDAL_OP_ERROR:
        return Py_BuildValue("(OO)", op->value, op->message);
    default:
        return Py_BuildValue("(O)", op->value);
    }
}

#define LETTER(name, letter, number, arguments) [number] = letter,
static const char letters[] = {CHORDAL_OPS(LETTER)};

/* (number, whole path, arguments), or as programs see it: (letter, path inside the member, *arguments). */
static PyObject *tuple_of(const reader *in, const packed_op *op, bool listed) {
    PyObject *path = path_of(in, op, listed ? 1 : 0), *arguments = arguments_of(op), *out = NULL;
    if (path && arguments && !listed) out = Py_BuildValue("(IOO)", op->number, path, arguments);
    if (path && arguments && listed) {
        PyObject *head = Py_BuildValue("(CO)", letters[op->number], path);
        out = head ? PySequence_Concat(head, arguments) : NULL;
        Py_XDECREF(head);
    }
    Py_XDECREF(path);
    Py_XDECREF(arguments);
    return out;
}

static PyObject *tuples_of(PyObject *data, bool listed) {
    reader in;
    PyObject *owner, *all;
    if (!reader_of(data, &in, &owner)) return NULL;
    all = PyList_New(0);
    while (all && in.at < in.len) {
        packed_op op;
        PyObject *tuple = op_read(&in, &op) ? tuple_of(&in, &op, listed) : NULL;
        op_done(&op);
        if (!tuple || PyList_Append(all, tuple) < 0) Py_CLEAR(all);
        Py_XDECREF(tuple);
    }
    Py_DECREF(owner);
    return all;
}

PyObject *ops_read_all(PyObject *module, PyObject *data) {
    (void)module;
    return tuples_of(data, false);
}

PyObject *ops_listed(PyObject *module, PyObject *data) {
    (void)module;
    return tuples_of(data, true);
}
