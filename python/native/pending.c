/* Splices of an array that wait: a draft that only inserts and removes keeps them beside its value, so that a commit
 * can apply them in place, and the array is not copied for each element that comes or goes. */
#include "draft.h"

bool pending_room(place_draft *self) {
    if (!self->pending) self->pending = PyMem_Malloc(PENDING * sizeof *self->pending);
    return self->pending || PyErr_NoMemory() != NULL;
}

void pending_add(place_draft *self, Py_ssize_t index, Py_ssize_t remove, PyObject *items) {
    self->pending[self->pending_count++] = (pending_splice){index, remove, Py_NewRef(items)};
    self->dirty = true;
}

void pending_clear(place_draft *self) {
    while (self->pending_count > 0) Py_DECREF(self->pending[--self->pending_count].items);
    PyMem_Free(self->pending);
    self->pending = NULL;
}

bool pending_apply(const place_draft *self, PyObject *array) {
    for (unsigned i = 0; i < self->pending_count; i++) {
        const pending_splice *splice = &self->pending[i];
        if (PyList_SetSlice(array, splice->index, splice->index + splice->remove, splice->items) < 0) return false;
    }
    return true;
}

Py_ssize_t draft_count(const place_draft *self) {
    Py_ssize_t count = PyObject_Size(self->value);
    for (unsigned i = 0; i < self->pending_count; i++)
        count += PyList_Size(self->pending[i].items) - self->pending[i].remove;
    return count;
}

/* Back through the splices to where the element lies. */
static PyObject *element(const place_draft *self, Py_ssize_t index) {
    for (unsigned i = self->pending_count; i-- > 0;) {
        const pending_splice *splice = &self->pending[i];
        Py_ssize_t put = PyList_Size(splice->items);
        if (index < splice->index) continue;
        if (index < splice->index + put) return PyList_GetItem(splice->items, index - splice->index);
        index += splice->remove - put;
    }
    return PyList_GetItem(self->value, index);
}

PyObject *draft_item(const place_draft *self, PyObject *key) {
    if (PyDict_Check(self->value)) return PyDict_GetItemWithError(self->value, key);
    Py_ssize_t index = PyLong_AsSsize_t(key);
    return index < 0 ? NULL : element(self, index);
}
