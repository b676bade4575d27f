"""What `cmake --install` lays down: found by CMake and by pkg-config, and it runs the README's C program."""

import os

import pytest
from package import ROOT, readme_program, run

PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(chordal {version} CONFIG REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE chordal::chordal_uv)
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", ROOT / "build" / "release", "--prefix", folder, folder=ROOT)
    return folder


def libraries(prefix):
    (library,) = prefix.rglob("libchordal.so.1")
    return library.parent


def test_names(prefix):
    names = {path.name for path in libraries(prefix).iterdir()}
    assert {"libchordal.so", "libchordal.so.1", "libchordal.a", "libchordal_uv.so.1"} <= names
    assert (prefix / "include" / "chordal.h").exists() and (prefix / "bin" / "chordal").exists()
    headed = run("objdump", "-p", libraries(prefix) / "libchordal.so", folder=prefix)
    assert "SONAME               libchordal.so.1" in headed


def test_tool(prefix):
    assert '"abi":1' in run(prefix / "bin" / "chordal", "version", folder=prefix)


def test_cmake(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version="0.1"))
    (tmp_path / "program.c").write_text(readme_program("c"))
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", folder=tmp_path)
    run("cmake", "--build", "build", folder=tmp_path)
    run("build/program", folder=tmp_path)


def test_readme_program(prefix, tmp_path):
    (tmp_path / "program.c").write_text(readme_program("c"))
    environment = {"PKG_CONFIG_PATH": str(libraries(prefix) / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries(prefix))}
    flags = run("pkg-config", "--cflags", "--libs", "chordal_uv", folder=tmp_path, **environment).split()
    run(os.environ.get("CC", "gcc"), "program.c", "-o", "program", *flags, folder=tmp_path)
    run("./program", folder=tmp_path, **environment)
