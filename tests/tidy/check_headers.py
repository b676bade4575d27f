"""The public headers: each stands alone, in C99 and C++, and says what each function is for."""

import re
import tempfile

from tidy import ROOT, check, main, place, run

INCLUDE = ROOT / "core" / "include"
HEADERS = [INCLUDE / "chordal.h", *sorted((INCLUDE / "chordal").glob("*.h"))]
LANGUAGES = [("gcc", "c99", ".c"), ("g++", "c++11", ".cc"), ("clang", "c99", ".c"), ("clang++", "c++17", ".cc")]


@check
def headers_stand_alone():
    """Each public header compiles alone and twice, as C99 and C++, with -pedantic."""
    with tempfile.TemporaryDirectory() as folder:
        for header in HEADERS:
            name = header.relative_to(INCLUDE)
            for compiler, standard, ending in LANGUAGES:
                source = f"{folder}/alone{ending}"
                with open(source, "w") as file:
                    file.write(f'#include "{name}"\n#include "{name}"\nextern int alone;\n')
                flags = [f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
                said, code = run(compiler, *flags, f"-I{INCLUDE}", source)
                if code:
                    yield f"{place(header)}: {compiler} -std={standard}:\n{said}"


@check
def functions_are_explained():
    """Each public function has a comment above it, or stands right below one of its family that has."""
    for header in HEADERS:
        explained = False
        for number, line in enumerate(header.read_text().splitlines(), 1):
            if line.startswith(("/*", " *")) or line.endswith("*/"):
                explained = True
            elif not line.strip():
                explained = False
            elif line.startswith("CHORDAL_API") and not explained:
                yield f"{place(header, number)}: {line.split('(')[0]} has no comment"


@check
def guards():
    """Each public header has a guard named after it."""
    for header in HEADERS:
        guard = re.sub(r"[^A-Z]", "_", str(header.relative_to(INCLUDE)).upper())
        if f"#ifndef {guard}\n#define {guard}\n" not in header.read_text():
            yield f"{place(header)}: the guard is not {guard}"


if __name__ == "__main__":
    main()
