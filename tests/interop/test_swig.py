"""One more language by SWIG over the same headers: Perl is built from bindings/chordal.i and runs the vectors."""

import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_perl(tmp_path):
    swig = Path(sysconfig.get_path("scripts")) / "swig"
    include = ROOT / "core" / "include"
    source, module = tmp_path / "chordal_perl.c", tmp_path / "Chordal.so"
    run(
        swig, "-perl5", f"-I{include}", f"-I{ROOT / 'bindings'}", "-o", source, ROOT / "bindings/chordal.i", folder=ROOT
    )
    perl = run("perl", "-MExtUtils::Embed", "-e", "ccopts", folder=ROOT).split()
    library = ROOT / "build" / "release"
    flags = ["-w", "-fPIC", "-shared", f"-I{include}", *perl]
    linked = [f"-L{library}", "-lchordal", f"-Wl,-rpath,{library}"]
    run("gcc", *flags, source, "-o", module, *linked, folder=tmp_path)
    said = run("perl", f"-I{tmp_path}", ROOT / "tests/bindings/vectors.pl", ROOT / "tests/vectors", folder=ROOT)
    assert int(said.split()[-4]) > 500, said
