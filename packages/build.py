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
    """Lay the files of packages/npm.json out as they lie here, in build/npm, and pack them."""
    fresh("*.tgz")
    folder = ROOT / "build" / "npm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = json.loads((ROOT / "packages" / "npm.json").read_text())
    for pattern in [*manifest["files"], "README.md"]:
        found = sorted(ROOT.glob(pattern))
        if not found:
            sys.exit(f"{pattern} is not built")
        for path in found:
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
    (folder / "package.json").write_text(json.dumps(manifest | {"version": version()}, indent=2) + "\n")
    subprocess.run(["npm", "pack", "--silent", "--pack-destination", DIST], cwd=folder, check=True)


if __name__ == "__main__":
    os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    wanted = sys.argv[1:] or ["wheel", "sdist", "npm"]
    for name in wanted:
        {"wheel": wheel, "sdist": sdist, "npm": npm}[name]()
