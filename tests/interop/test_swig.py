"""One more language by SWIG over the same headers: Perl is built from bindings/chordal.i and runs the vectors."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JSON, PACKED = 1, 2


def run(*command, folder=ROOT, **options):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_perl(folder):
    """Chordal.pm and its library."""
    swig = Path(sysconfig.get_path("scripts")) / "swig"
    include, library = ROOT / "core" / "include", ROOT / "build" / "release"
    source = folder / "chordal_perl.c"
    run(swig, "-perl5", f"-I{include}", f"-I{ROOT / 'bindings'}", "-o", source, ROOT / "bindings" / "chordal.i")
    perl = run("perl", "-MExtUtils::Embed", "-e", "ccopts").split()
    linked = [f"-L{library}", "-lchordal", f"-Wl,-rpath,{library}"]
    run("gcc", "-w", "-fPIC", "-shared", f"-I{include}", *perl, source, "-o", folder / "Chordal.so", *linked)


def inputs(case):
    """(format, hex) of each form that a case has."""
    for key, text in case.items():
        if key == "packed":
            yield PACKED, text
        elif key == "json":
            yield JSON, text.encode("utf-8", "surrogatepass").hex()
        elif key == "json_hex":
            yield JSON, text


def lines():
    for path in sorted((ROOT / "tests" / "vectors" / "values").glob("*.json")):
        verdict = path.stem.split("_")[0]
        for case in json.loads(path.read_text())["cases"]:
            if case.get("arguments") or "depth" in case:
                continue
            keys = ("packed", "digest") if verdict == "accept" else ("code", "position")
            for form, text in inputs(case):
                name = f"{path.stem}: {case['name']}"
                yield "\t".join([verdict, name, str(form), text, *(str(case[key]) for key in keys)])


def test_perl(tmp_path):
    build_perl(tmp_path)
    said = run("perl", f"-I{tmp_path}", ROOT / "tests" / "bindings" / "vectors.pl", input="\n".join(lines()) + "\n")
    assert int(re.search(r"(\d+) passed", said).group(1)) > 500, said
