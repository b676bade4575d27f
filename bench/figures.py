"""Figures of the code itself: lines of each room, lengths of functions, public functions, what a page loads."""

import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tidy"))
import tidy  # noqa: E402

IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.[^"\n]+\.js)"', re.M)


def row(name, value, unit, **counts):
    return {"case": f"code, {name}", "system": "chordal", "unit": unit, "samples": [value], "counts": counts or None}


def ninth(lengths):
    return sorted(lengths)[len(lengths) * 9 // 10]


def room_rows():
    everything = []
    for room in tidy.ROOMS:
        texts = [path.read_text() for other, path in tidy.core_files() if other == room]
        if not texts:
            continue
        lengths = [lines for text in texts for _, _, lines in tidy.c_functions(text)]
        everything += lengths
        lines = sum(len(text.splitlines()) for text in texts)
        if lengths:
            counts = {"functions": len(lengths), "median": statistics.median(lengths), "ninth": ninth(lengths)}
            yield row(f"core/{room}", lines, "lines", files=len(texts), **counts)
    yield row("median function of the core", statistics.median(everything), "lines", functions=len(everything))
    yield row("90th percentile of the core's functions", ninth(everything), "lines", longest=max(everything))


def public_functions():
    model = json.loads((ROOT / "bindings" / "model.json").read_text())
    return row("public functions", len(model["functions"]), "functions")


def reached(path, found):
    """A module and all that it imports by relative names."""
    if path not in found:
        found.add(path)
        for name in IMPORT.findall(path.read_text()):
            reached((path.parent / name).resolve(), found)
    return found


def compressed(data):
    brotli = subprocess.run(["brotli", "-q", "11", "-c", "-"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return {"gzip": len(gzip.compress(data, 9, mtime=0)), "brotli": len(brotli)}


def client_rows():
    core = (ROOT / "wasm" / "dist" / "chordal.wasm").read_bytes()
    scripts = sorted(reached(ROOT / "node" / "dist" / "browser.js", set()))
    text = b"".join(path.read_bytes() for path in scripts)
    yield row("WASM client: chordal.wasm", len(core), "B", **compressed(core))
    yield row("WASM client: its scripts, not minified", len(text), "B", files=len(scripts), **compressed(text))


def rows():
    return [*room_rows(), public_functions(), *client_rows()]


if __name__ == "__main__":
    for each in rows():
        print(json.dumps(each))
