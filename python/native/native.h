/* native.h: what the files of the extension module chordal._native share.
 *
 * The module is one for the process: its state is static, so it refuses all interpreters but the main one (module.c).
 * All of it runs under the interpreter's lock. */
#ifndef NATIVE_H
#define NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chordal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH = 512, DEPTH_MOST = 4096 }; /* how deep values nest: by default, and in any host */

enum { NAME_name, NAME_documents, NAME_tables, NAME_values, NAME_id, NAME_index, NAME_type, NAMES };

/* What the module takes from elsewhere: classes of the package (module.c: adopt), and how plain types are made. */
typedef struct taken {
    PyObject *frozen_dict, *frozen_list; /* chordal.values */
    PyObject *error, *error_of;          /* chordal.errors */
    PyObject *draft_dict, *draft_list;   /* chordal.draft */
    PyObject *reserved;                  /* attributes of a transaction that hide documents of the same name */
    PyObject *events;                    /* chordal._records: the class of each kind of event */
    PyObject *mapping, *sequence;        /* collections.abc */
    PyObject *nothing;                   /* () */
    newfunc dict_new, list_new, tuple_new;
    PyObject *names[NAMES]; /* attributes, by their interned names */
} taken;
extern taken py;

/* ---- errors.c ---- */

void raise_error(const char *name, const char *detail, size_t position); /* a ChordalError */
void raise_words(const char *name, PyObject *words);                     /* takes the words over */
void raise_of(const char *name, const char *format, PyObject *value);    /* %s %U: its type, as "an int" */
void raise_changed(void);                                                /* while it was read */
void raise_code(int code, const chordal_error *error);                   /* what the core answered */

static inline void *fail(const char *name, const char *detail, size_t position) {
    raise_error(name, detail, position);
    return NULL;
}
static inline void *fail_code(int code, const chordal_error *error) {
    raise_code(code, error);
    return NULL;
}

/* ---- while values are changed ---- */

/* No code of the program may run before a change is whole, so the garbage collector waits: it may come with any new
 * container, and runs finalizers and callbacks. `quiet_end` takes what `quiet_begin` answered. */
static inline int quiet_begin(void) {
    return PyGC_Disable();
}
static inline void quiet_end(int before) {
    if (before) PyGC_Enable();
}

/* ---- the end of an object that the garbage collector knows ---- */

static inline void end_tracked(PyObject *self, inquiry clear) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- text.c ---- */

/* The UTF-8 of a text: pairs joined, lone halves in three bytes. Given back with utf8_done. */
typedef struct utf8 {
    const char *data;
    Py_ssize_t len;
    PyObject *owner;
} utf8;
bool utf8_of(PyObject *text, utf8 *out);
void utf8_done(utf8 *bytes);

/* `at` is where they lie, for UTF8. */
PyObject *text_read(const uint8_t *data, size_t len, size_t at);
PyObject *text_key(const uint8_t *data, size_t len, size_t at); /* of few different ones: the same object each time */
void text_forget_keys(void);
PyObject *text_kept(PyObject *text);                 /* as values have it: an exact str, pairs joined */
PyObject *text_join(PyObject *head, PyObject *tail); /* a high half at the seam joins with a low one */
bool text_grow(PyObject **text, PyObject *tail);     /* text_join, where it lies if nobody else has it */
PyObject *text_without(PyObject *text, uint64_t count);
Py_ssize_t text_units(PyObject *text, Py_ssize_t end); /* of its first `end` characters */

/* ---- number.c ---- */

/* The number that a float is: an int when it is integral and at most 2^53. */
PyObject *number_of_double(double value);
/* An int in the range of values, as sign and magnitude's bits. */
bool number_range(PyObject *value, bool *negative, uint64_t *bits);

/* ---- shape.c: what a native value is, for those that read it ---- */

typedef enum value_shape {
    SHAPE_NULL,
    SHAPE_BOOL,
    SHAPE_INT,
    SHAPE_FLOAT,
    SHAPE_TEXT,
    SHAPE_DICT,
    SHAPE_LIST
} value_shape;
/* -1: none, TYPE is raised. */
int shape_of(PyObject *value);

/* Walks a mapping or a sequence while others might change it; all that is given is owned until the next step. */
typedef struct walker {
    PyObject *source, *key, *item;
    Py_ssize_t at, count, given;
    bool dict, pairs;
} walker;
bool walk_begin(walker *walk, PyObject *value, int shape);
int walk_next(walker *walk); /* 1: one more, 0: the end, -1: raised */
void walk_end(walker *walk);

/* ---- freeze.c ---- */

PyObject *frozen_new(bool dict);
PyObject *frozen_copy(PyObject *container);
bool is_frozen(PyObject *value);
PyObject *freeze(PyObject *value, int depth_limit);
PyObject *freeze_all(PyObject *values); /* a list of the frozen elements of an iterable */

/* ---- write.c ---- */

/* What bytes are in a value that is written: refused, cells of a row, base64 text as queries have it. */
enum { CELLS_NONE, CELLS_RAW, CELLS_TEXT };

typedef struct writer {
    uint8_t *data;
    size_t len, room;
    int cells;
} writer;
bool put_bytes(writer *out, const void *data, size_t len);
bool put_byte(writer *out, unsigned byte);
bool put_varint(writer *out, uint64_t number);
bool put_text(writer *out, PyObject *text); /* varint length, UTF-8 */
bool put_value(writer *out, PyObject *value, int depth_limit);
bool put_arguments(writer *out, PyObject *arguments, int depth_limit);
PyObject *writer_bytes(writer *out); /* and frees it; NULL when something was raised before */

/* ---- read.c ---- */

typedef struct reader {
    const uint8_t *data;
    size_t len, at;
} reader;
bool get_varint(reader *in, uint64_t *out);
bool get_count(reader *in, size_t *out);             /* of things that follow, a byte each at least */
bool get_run(reader *in, size_t len, size_t *start); /* so many bytes */
PyObject *get_text(reader *in);
PyObject *get_value(reader *in);
/* The bytes of an argument; `*owner` is to be given back. */
bool reader_of(PyObject *data, reader *in, PyObject **owner);

/* ---- ops.c ---- */

enum { OP_OTHERS = 7, OP_INLINE = 31 };

/* One op: a number, where its path lies, and its arguments. */
typedef struct packed_op {
    unsigned number;
    size_t segments, path, path_end;
    PyObject *value;                 /* of REPLACE, SET, ASSIGN, APPEND; SPLICE: the list; ERROR: the code */
    PyObject *message;               /* of ERROR */
    uint64_t index, count, *indexes; /* SPLICE: index, remove; TRUNCATE: count; PERMUTE: indexes, count */
} packed_op;
bool op_read(reader *in, packed_op *out);
void op_done(packed_op *op);
/* A segment of a path: a key (owned), or NULL and an index. */
bool get_segment(reader *in, PyObject **key, uint64_t *index);
bool put_op_head(writer *out, unsigned number, size_t segments);
bool put_segment(writer *out, PyObject *segment);
bool put_permute(writer *out, PyObject *indexes);

typedef struct ops_object {
    PyObject_HEAD writer out;
} ops_object;
extern PyTypeObject *ops_type;

/* ---- module functions and types, by file ---- */

PyObject *values_freeze(PyObject *, PyObject *, PyObject *);
PyObject *values_pack(PyObject *, PyObject *, PyObject *);
PyObject *values_pack_arguments(PyObject *, PyObject *);
PyObject *values_unpack(PyObject *, PyObject *);
PyObject *texts_units(PyObject *, PyObject *);
PyObject *texts_drop_units(PyObject *, PyObject *);
PyObject *texts_join(PyObject *, PyObject *);
PyObject *ops_read_all(PyObject *, PyObject *);
PyObject *ops_listed(PyObject *, PyObject *);
PyObject *ops_patch(PyObject *, PyObject *, PyObject *);
PyObject *ops_last_error(PyObject *, PyObject *);
PyObject *ops_patch_in(PyObject *, PyObject *const *, Py_ssize_t);
PyObject *records_read_events(PyObject *, PyObject *);
PyObject *rows_plain(PyObject *, PyObject *);
bool add_type(PyObject *module, PyType_Spec *spec, PyObject *bases, PyTypeObject **out);
bool ops_add(PyObject *module);
bool drafts_add(PyObject *module);
bool transactions_add(PyObject *module);
bool core_add(PyObject *module);
bool rows_add(PyObject *module);

/* Append the events from `*at` on to a list; of parts that do not lie in the buffer the bytes are taken from the host,
 * if there is one. When one cannot be read that is raised, and `*at` is where it begins. */
bool records_read(PyObject *events, const uint8_t *data, size_t len, size_t *at, chordal_host *host, PyObject *owned);

#endif
