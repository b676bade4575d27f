"""Make the wheel, the sdist and the npm package, in dist/: python packages/build.py [wheel|sdist|npm]…"""

import json
import os
import re
import shutil
import subprocess
import sys

import sources

ROOT = sources.ROOT
DIST = ROOT / "dist"


def fresh(pattern):
    """Drop what an earlier build left."""
    DIST.mkdir(exist_ok=True)
    for path in DIST.glob(pattern):
        path.unlink()


def wheel():
    fresh("*.whl")
    # A fixed build folder, so that SQLite is compiled once.
    python_build("--wheel", f"-Cbuild-dir={ROOT / 'build' / 'wheel'}")


def sdist():
    fresh("*.tar.gz")
    python_build("--sdist")


def python_build(*words):
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, *words, ROOT]
    subprocess.run(command, check=True)


def version():
    header = (ROOT / "core" / "include" / "chordal" / "version.h").read_text()
    return re.search(r'CHORDAL_VERSION "([^"]+)"', header).group(1)


def npm():
    """Assemble node/ and wasm/ in build/npm, and pack it."""
    fresh("*.tgz")
    folder = ROOT / "build" / "npm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = json.loads((ROOT / "node" / "package.json").read_text()) | {"version": version()}
    manifest.pop("private", None)
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for name in manifest["files"]:
        source = ROOT / "node" / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    shutil.copy(ROOT / "README.md", folder)
    subprocess.run(["npm", "pack", "--silent", "--pack-destination", DIST], cwd=folder, check=True)


if __name__ == "__main__":
    os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    wanted = sys.argv[1:] or ["wheel", "sdist", "npm"]
    for name in wanted:
        {"wheel": wheel, "sdist": sdist, "npm": npm}[name]()
