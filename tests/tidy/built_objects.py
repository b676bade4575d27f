"""What is built: a core without mutable data, libraries with exactly the public symbols, and every source."""

import json
import re

from tidy import RELEASE, ROOT, check, main, place, repository, run

HEADERS = ROOT / "core" / "include" / "chordal"
CORE_HEADERS = [path for path in HEADERS.glob("*.h") if path.name != "uv.h"]
API = re.compile(r"^CHORDAL_API\s[^;]*?\b(chordal_\w+)\(", re.M | re.S)
RENAMED = re.compile(r"^#define (chordal_\w+) (chordal_\w+)$", re.M)


def declared(*headers):
    """The linker's names of the functions that the public headers declare."""
    names = set()
    for path in headers:
        text = path.read_text()
        renamed = dict(RENAMED.findall(text))
        names |= {renamed.get(name, name) for name in API.findall(text)}
    return names


def exported(library):
    listed, _ = run("nm", "-D", "--defined-only", RELEASE / library)
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-2] in "TDBRVW"}


def difference(what, found, wanted):
    for name in sorted(found - wanted):
        yield f"{what}: {name} is there and should not be"
    for name in sorted(wanted - found):
        yield f"{what}: {name} is missing"


@check
def no_mutable_data():
    """The core's objects have empty .data and .bss sections."""
    objects = sorted((RELEASE / "CMakeFiles" / "chordal_objects.dir").rglob("*.o"))
    if not objects:
        yield "no object of the core is built"
    for path in objects:
        listed, _ = run("size", "-A", path)
        for name, size in re.findall(r"^(\.(?:t?data|t?bss)\S*)\s+(\d+)", listed, re.M):
            if int(size) and not name.startswith(".data.rel.ro"):
                symbols, _ = run("nm", path)
                names = re.findall(r"^\S+ [bBdDC] (\S+)", symbols, re.M)
                yield f"{place(path)}: {size} bytes in {name}: {' '.join(names)}"


@check
def exports_of_chordal():
    """libchordal.so exports what the public headers declare, and nothing else."""
    yield from difference("libchordal.so", exported("libchordal.so"), declared(*CORE_HEADERS))


@check
def exports_of_chordal_uv():
    """libchordal_uv.so exports what uv.h declares, and nothing else."""
    yield from difference("libchordal_uv.so", exported("libchordal_uv.so"), declared(HEADERS / "uv.h"))


@check
def export_map():
    """The linker's map names what the public headers declare."""
    text = (ROOT / "core" / "chordal.map").read_text()
    listed = set(re.findall(r"\b(chordal_\w+);", text))
    yield from difference("core/chordal.map", listed, declared(*CORE_HEADERS))


@check
def model():
    """The interface model has the functions that the public headers declare."""
    functions = json.loads((ROOT / "bindings" / "model.json").read_text())["functions"]
    symbols = {entry["symbol"] for entry in functions}
    yield from difference("bindings/model.json", symbols, declared(*HEADERS.glob("*.h")))


@check
def sources_are_built():
    """Each C source of the core and the tests belongs to a target, but for those that an interop test compiles."""
    commands = json.loads((RELEASE / "compile_commands.json").read_text())
    built = {entry["file"] for entry in commands}
    for path in repository(".c", ".cc"):
        folders = path.relative_to(ROOT).parts
        compiled = folders[0] in ("core", "tests") and folders[:2] != ("tests", "interop")
        if compiled and str(path) not in built:
            yield f"{place(path)}: in no target"


if __name__ == "__main__":
    main()
