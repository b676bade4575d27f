/* core_parts.h: the methods of a host, which lie in several files. */
#ifndef CORE_PARTS_H
#define CORE_PARTS_H

#include "core.h"

extern PyMethodDef core_methods[]; /* core_methods.c */

/* ---- core.c ---- */

chordal_time core_now(void);
int core_id(PyObject *number, void *out);    /* for PyArg_Parse: a uint64_t; runs no code of the program */
int core_small(PyObject *number, void *out); /* a uint32_t */
bool core_room(room *of, size_t len);        /* at least so much */
PyObject *core_own(core_object *core, int code, chordal_id id); /* an id that is to be given back */
PyObject *core_release(PyObject *, PyObject *);
PyObject *core_gone(PyObject *, PyObject *);
PyObject *core_close(PyObject *, PyObject *);
PyObject *core_adopt(PyObject *, PyObject *);
PyObject *core_enter_(PyObject *, PyObject *);
PyObject *core_poll(PyObject *, PyObject *);
PyObject *core_deadline(PyObject *, PyObject *);
PyObject *core_counters(PyObject *, PyObject *);
PyObject *core_run(PyObject *, PyObject *);

/* ---- core_provide.c ---- */

PyObject *core_type_provide(PyObject *, PyObject *);
PyObject *core_object_get(PyObject *, PyObject *);
PyObject *core_object_drop(PyObject *, PyObject *);
PyObject *core_object_start(PyObject *, PyObject *);
PyObject *core_object_retire(PyObject *, PyObject *);
PyObject *core_object_read(PyObject *, PyObject *);
PyObject *core_compute_answer(PyObject *, PyObject *);
PyObject *core_compute_fail(PyObject *, PyObject *);
PyObject *core_call_answer(PyObject *, PyObject *);
PyObject *core_call_fail(PyObject *, PyObject *);
PyObject *core_commit(PyObject *, PyObject *);

PyObject *core_type_place(PyObject *, PyObject *);
PyObject *core_resolve(PyObject *, PyObject *);
PyObject *core_resolve_fail(PyObject *, PyObject *);

/* ---- core_hold.c ---- */

PyObject *core_reference_get(PyObject *, PyObject *);
PyObject *core_reference_retry(PyObject *, PyObject *);
PyObject *core_watch_take(PyObject *, PyObject *);
PyObject *core_watch_reset(PyObject *, PyObject *);
PyObject *core_call_start(PyObject *, PyObject *);
PyObject *core_call_cancel(PyObject *, PyObject *);
PyObject *core_convert(PyObject *, PyObject *);
PyObject *core_digest(PyObject *, PyObject *);

/* ---- core_link.c ---- */

PyObject *core_link_open(PyObject *, PyObject *);
PyObject *core_link_up(PyObject *, PyObject *);
PyObject *core_link_feed(PyObject *, PyObject *);
PyObject *core_link_take(PyObject *, PyObject *);
PyObject *core_link_down(PyObject *, PyObject *);
PyObject *core_link_retry(PyObject *, PyObject *);
PyObject *core_link_progress(PyObject *, PyObject *);
PyObject *core_link_close(PyObject *, PyObject *);
PyObject *core_link_drain(PyObject *, PyObject *);
PyObject *core_host_leave(PyObject *, PyObject *);
PyObject *core_link_offers(PyObject *, PyObject *);
PyObject *core_link_limit(PyObject *, PyObject *);
PyObject *core_link_carry(PyObject *, PyObject *);

/* ---- core_authority.c ---- */

PyObject *core_link_credentials(PyObject *, PyObject *);
PyObject *core_link_admit(PyObject *, PyObject *);
PyObject *core_link_refuse(PyObject *, PyObject *);
PyObject *core_guard_answer(PyObject *, PyObject *);
PyObject *core_revoke(PyObject *, PyObject *);

/* ---- core_table.c ---- */

PyObject *core_object_row(PyObject *, PyObject *);
PyObject *core_object_query(PyObject *, PyObject *);

/* ---- core_store.c ---- */

PyObject *core_store_read(PyObject *, PyObject *);
PyObject *core_store_documents(PyObject *, PyObject *);
PyObject *core_store_outbox(PyObject *, PyObject *);
PyObject *core_store_check(PyObject *, PyObject *);
PyObject *core_store_trim(PyObject *, PyObject *);
PyObject *core_store_backup(PyObject *, PyObject *);

/* A function of the core that takes one id and nothing else. */
typedef int one_id(chordal_host *host, chordal_id id, chordal_error *error);
PyObject *core_act(PyObject *core, PyObject *id, one_id *act);

#endif
