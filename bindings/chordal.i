/* chordal.i: the way to further languages. SWIG reads the same public headers; what a language needs beside them is how
 * a few shapes of arguments look in it. Perl's are here; tests/bindings/test_swig.py builds them and runs the vectors.
 *
 *     swig -perl5 -Icore/include -o build/chordal_perl.c bindings/chordal.i */
%module Chordal
%{
#include "chordal.h"
%}
%include <stdint.i>
%include <typemaps.i>

%ignore chordal_transaction_permute;
%ignore chordal_link_output;
%ignore chordal_host_options::memory;
%ignore chordal_host_options::entropy;
%ignore chordal_host_options::entropy_context;
%ignore chordal_memory_functions;
%ignore chordal_host_counters;

#ifdef SWIGPERL

/* Text and bytes are strings. */
%typemap(in) (const char *TEXT, size_t LENGTH) (STRLEN len), (const uint8_t *BYTES, size_t LENGTH) (STRLEN len) {
    $1 = ($1_ltype)SvPVbyte($input, len);
    $2 = len;
}

/* A buffer to fill is asked for by its size, and comes back as a string of what was written. */
%typemap(in) (uint8_t *BUFFER, size_t LENGTH, size_t *WRITTEN) (size_t written) {
    $2 = SvUV($input);
    $1 = ($1_ltype)calloc($2 + 8, 1);
    written = 0;
    $3 = &written;
}
%typemap(argout) (uint8_t *BUFFER, size_t LENGTH, size_t *WRITTEN) {
    if (result == CHORDAL_E_ROOM) croak("room %lu", (unsigned long)*$3);
    $result = sv_2mortal(newSVpvn((const char *)$1, *$3));
    argvi++;
}
%typemap(freearg) (uint8_t *BUFFER, size_t LENGTH, size_t *WRITTEN) "free($1);";

/* What comes out is returned. */
%typemap(in, numinputs=0) chordal_id * (chordal_id out), uint32_t * (uint32_t out), size_t * (size_t out) {
    out = 0;
    $1 = &out;
}
%typemap(argout) chordal_id *, uint32_t *, size_t * {
    $result = sv_2mortal(newSVuv((UV)*$1));
    argvi++;
}
%typemap(in, numinputs=0) chordal_host ** (chordal_host *out), chordal_value ** (chordal_value *out) {
    out = NULL;
    $1 = &out;
}
%typemap(argout) chordal_host **, chordal_value ** {
    $result = SWIG_NewPointerObj(*$1, $*1_descriptor, 0);
    argvi++;
}
%typemap(in, numinputs=0) (const uint8_t **VIEW, size_t *LENGTH) (const uint8_t *data, size_t len) {
    $1 = &data;
    $2 = &len;
}
%typemap(argout) (const uint8_t **VIEW, size_t *LENGTH) {
    $result = sv_2mortal(newSVpvn((const char *)*$1, *$2));
    argvi++;
}

/* A failure dies with the code's name, the position and the words. */
%typemap(in, numinputs=0) chordal_error * (chordal_error error) {
    memset(&error, 0, sizeof error);
    $1 = &error;
}
%typemap(argout) chordal_error * {
    if (result < 0) croak("%s %lu %s", chordal_error_name(result), (unsigned long)$1->position, $1->detail);
}
%typemap(out) int "";
%typemap(out) int32_t {
    $result = sv_2mortal(newSViv($1));
    argvi++;
}

#endif

%include "arguments.i"
%include "chordal/base.h"
%include "chordal/error.h"
%include "chordal/memory.h"
%include "chordal/value.h"
%include "chordal/record.h"
%include "chordal/host.h"
%include "chordal/object.h"
%include "chordal/reference.h"
%include "chordal/transaction.h"
%include "chordal/link.h"
%include "chordal/version.h"
