/* draft.h: documents inside a transaction. */
#ifndef DRAFT_H
#define DRAFT_H

#include "native.h"

enum { PENDING = 8 }; /* splices that wait, before the array is copied after all */

typedef struct pending_splice {
    Py_ssize_t index, remove;
    PyObject *items;
} pending_splice;

/* One object or array of a document. What its drafts of elements changed is in their values only, until it is
 * gathered; so a change costs a copy of the containers that it is in itself, not of those around them. */
typedef struct place_draft {
    PyObject_HEAD struct document_draft *document;
    struct place_draft *parent; /* NULL: the root, or cut off */
    PyObject *key;              /* in the parent */
    PyObject *value;
    PyObject *children; /* drafts by key; NULL: none */
    unsigned depth;     /* how many places are above it */
    bool fresh;         /* the value is a copy of this draft's, which nobody else has seen */
    bool dirty;         /* there are changes that are not in the value: below, or splices that wait */
    unsigned pending_count;
    pending_splice *pending; /* of an array that is not fresh */
} place_draft;

/* One document as its transaction sees it. */
typedef struct document_draft {
    PyObject_HEAD PyObject *values, *member; /* where its value is, and will be */
    PyObject *base;                          /* the value when it was first touched; NULL: closed */
    PyObject *value;
    place_draft *root; /* the draft of it, when it is an object or array that was read */
    ops_object *ops;
} document_draft;

extern PyTypeObject *draft_type, *document_type;

/* ---- draft.c ---- */

bool draft_attached(place_draft *draft);                 /* still good, or STATE */
bool draft_own(place_draft *draft);                      /* its value may be changed from now on */
void draft_changed(place_draft *draft);                  /* its value was */
bool draft_gather(place_draft *draft, bool in_place);    /* all that changed below is in its value */
PyObject *draft_read(place_draft *draft, PyObject *key); /* what is there, as a draft if it is a container */
PyObject *draft_of(document_draft *document, place_draft *parent, PyObject *key, PyObject *value);
place_draft *draft_child(place_draft *draft, PyObject *key); /* borrowed, or NULL */
void draft_take_apart(place_draft *draft);                   /* nothing below it is good any more */
void draft_cut(place_draft *child);                          /* it is no longer part of the document */
void draft_forget(place_draft *draft, PyObject *key);
bool draft_head(place_draft *draft, unsigned number, PyObject *key); /* of an op at this place, or at one inside */
bool draft_write(place_draft *draft, PyObject *key, PyObject *value, PyObject *old);
bool draft_record(place_draft *draft, PyObject *key, PyObject *frozen); /* the smallest op that sets a place */
void draft_set(place_draft *draft, PyObject *key, PyObject *frozen);    /* what was recorded; it is there, and owned */
PyObject *draft_key(PyObject *given);      /* as values have it; NULL: no text, or raised */
PyObject *draft_given(place_draft *draft); /* its value, for the program to keep */
void draft_shared(place_draft *draft);     /* somebody else has its value */

/* ---- pending.c ---- */

bool pending_room(place_draft *draft); /* for one more; before it is added */
void pending_add(place_draft *draft, Py_ssize_t index, Py_ssize_t remove, PyObject *items);
bool pending_apply(const place_draft *draft, PyObject *array);
void pending_clear(place_draft *draft);
Py_ssize_t draft_count(const place_draft *draft);              /* of elements or keys */
PyObject *draft_item(const place_draft *draft, PyObject *key); /* borrowed; NULL without an exception: nothing */

/* ---- document.c ---- */

PyObject *document_new(PyObject *values, PyObject *member, ops_object *ops);
PyObject *document_read(document_draft *document);
bool document_replace(document_draft *document, PyObject *value);
bool document_is_current(document_draft *document); /* nobody else changed it meanwhile */
/* The end: with `commit` the values get the new one, or none when there is no memory for it: it is then read from the
 * core. Drafts that are kept stay readable. */
void document_close(document_draft *document, bool commit);

/* What an assignment is recorded as. */
unsigned assign_number(PyObject *old, PyObject *value);
/* The tail of a text that begins with another one; NULL without an exception: it does not. */
PyObject *text_tail(PyObject *old, PyObject *value);

bool draft_dicts_add(PyObject *module);
bool draft_lists_add(PyObject *module);
bool documents_add(PyObject *module);

#endif
