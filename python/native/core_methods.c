/* The methods of a host, by name. */
#include "core_parts.h"

#define NONE(name)                                                                                                     \
    { #name, core_##name, METH_NOARGS, NULL }
#define ONE(name)                                                                                                      \
    { #name, core_##name, METH_O, NULL }
#define SOME(name)                                                                                                     \
    { #name, core_##name, METH_VARARGS, NULL }

PyMethodDef core_methods[] = {
    {"enter", core_enter_, METH_NOARGS, "Raises ChordalError BUSY on another thread, CLOSED after the end."},
    {"adopt", core_adopt, METH_NOARGS, "From now on the host belongs to the calling thread."},
    {"release", core_release, METH_O,
     "Give back a reference, a link or a call: one made is cancelled, one served answers CANCELLED. Any thread."},
    {"gone", core_gone, METH_O, "An event gave the id back."},
    {"close", core_close, METH_NOARGS, "Close the host, and give back all that is still owned. Twice is allowed."},
    {"poll", core_poll, METH_VARARGS, "The next events, behind those of a list; none: nothing is left."},
    {"deadline", core_deadline, METH_NOARGS, "When to poll next: 0 for now."},
    NONE(counters),
    NONE(run),
    ONE(type_provide),
    SOME(object_get),
    ONE(object_drop),
    SOME(object_start),
    ONE(object_retire),
    SOME(object_read),
    SOME(compute_answer),
    SOME(compute_fail),
    SOME(call_answer),
    SOME(call_fail),
    SOME(commit),
    SOME(reference_get),
    ONE(reference_retry),
    ONE(watch_take),
    ONE(watch_reset),
    SOME(call_start),
    ONE(call_cancel),
    SOME(convert),
    ONE(digest),
    ONE(link_open),
    SOME(link_up),
    SOME(link_feed),
    ONE(link_take),
    ONE(link_down),
    ONE(link_retry),
    ONE(link_close),
    SOME(link_drain),
    SOME(link_offers),
    ONE(type_place),
    SOME(resolve),
    SOME(resolve_fail),
    NONE(link_limit),
    NONE(host_leave),
    SOME(link_carry),
    SOME(link_credentials),
    SOME(link_admit),
    SOME(link_refuse),
    SOME(guard_answer),
    SOME(revoke),
    {0},
};
