"""Writes the C source of the extension module chordal._c: python _build.py OUTPUT.c"""

import sys
from pathlib import Path

from cffi import FFI


def main(output: str) -> None:
    ffi = FFI()
    ffi.cdef(Path(__file__).with_name("_cdef.h").read_text())
    ffi.set_source("chordal._c", '#include "chordal.h"')
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(sys.argv[1])
