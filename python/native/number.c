/* Numbers: which int or float a value is. */
#include "native.h"

static const double EXACT = 9007199254740992.0; /* 2^53 */

PyObject *number_of_double(double value) {
    if (value >= -EXACT && value <= EXACT && value == (double)(int64_t)value)
        return PyLong_FromLongLong((long long)value);
    if (value - value != 0) return fail("number", "NaN and infinities are not values", 0);
    return PyFloat_FromDouble(value);
}

bool number_range(PyObject *value, bool *negative, uint64_t *bits) {
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (small == -1 && PyErr_Occurred()) return false;
    *negative = small < 0;
    *bits = (uint64_t)small;
    if (!overflow) return true;
    if (overflow > 0) {
        *negative = false;
        *bits = PyLong_AsUnsignedLongLong(value);
        if (!PyErr_Occurred()) return true;
        PyErr_Clear();
    }
    return fail("number", "an integer outside -2^63 .. 2^64-1", 0);
}
