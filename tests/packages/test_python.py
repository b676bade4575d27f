"""The wheel and the sdist, each in a clean place, run the README's Python program."""

import json
import zipfile
from pathlib import Path

import pytest
from package import built, pinned, readme_program, run, virtual_environment

RUNTIME = ("websockets",)


def check_installed(python, folder):
    """The README's program runs, and the private copies are the ones inside."""
    program = folder / "program.py"
    program.write_text(readme_program("python"))
    run(python, "-W", "error", program, folder=folder)
    text = run(python, "-c", "import chordal, json; print(json.dumps(chordal.versions()))", folder=folder)
    versions = json.loads(text)
    assert versions["sqlite"].startswith("3.54.") and versions["zlib"] == "1.3.1"


def other_pythons():
    """One Python of each minor version that lies ready on this machine."""
    found = {
        path.parents[1].name.rpartition(".")[0]: path for path in Path.home().glob(".pyenv/versions/3.1?.*/bin/python3")
    }
    return [found[minor] for minor in sorted(found)]


def test_wheel(tmp_path):
    python = virtual_environment(tmp_path / "venv", *pinned(*RUNTIME))
    run(python, "-m", "pip", "install", "--no-index", built("*.whl"), folder=tmp_path)
    check_installed(python, tmp_path)


@pytest.mark.parametrize("other", other_pythons(), ids=lambda path: path.parents[1].name)
def test_same_wheel_on(other, tmp_path):
    """One module for all: other Pythons take what the registry has for them within the declared ranges."""
    python = virtual_environment(tmp_path / "venv", built("*.whl"), python=other)
    check_installed(python, tmp_path)


def test_wheel_content():
    with zipfile.ZipFile(built("*.whl")) as wheel:
        names = wheel.namelist()
    assert built("*.whl").name.startswith("chordal-") and "-cp310-abi3-" in built("*.whl").name
    assert "chordal/py.typed" in names and "chordal/_native.abi3.so" in names
    assert not [name for name in names if "test" in name or name.endswith((".c", ".h"))]


def test_exports_nothing_private(tmp_path):
    with zipfile.ZipFile(built("*.whl")) as wheel:
        module = wheel.extract("chordal/_native.abi3.so", tmp_path)
    listed = run("nm", "-D", "--defined-only", module, folder=tmp_path)
    assert [line.split()[-1] for line in listed.splitlines()] == ["PyInit__native"]


def test_sdist_without_network(tmp_path):
    needed = pinned(*RUNTIME, "scikit_build_core", "packaging", "pathspec")
    python = virtual_environment(tmp_path / "venv", *needed)
    install = [python, "-m", "pip", "install", "--no-build-isolation", "--no-index", built("*.tar.gz")]
    run(*install, folder=tmp_path, offline=True, CMAKE_GENERATOR="Ninja")
    check_installed(python, tmp_path)
