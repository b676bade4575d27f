"""Fetch the sources of SQLite and zlib that packages and the browser build link privately.

They come out of registry packages that carry them, at a fixed version and hash, by the ordinary npm client; nothing of
the packages is run. They lie in .cache/sources, or in vendor/ inside an sdist, and are never part of the repository.
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / ".cache" / "sources"

# name: (registry package, its SHA-256, folder inside it, files wanted)
SOURCES = {
    "sqlite": (
        "better-sqlite3@13.2.0",
        "40487589df3496f2ee0079d22b73c63fccebe7db0e8ee9a2c42421861e321e0b",
        "package/deps/sqlite3",
        ["sqlite3.c", "sqlite3.h"],
    ),
    "zlib": (
        "zlib-sync@0.1.10",
        "bd2180fc18426cf464ecab1321bb31a1af81c36b927a28cdb26c3a56f302f2b6",
        "package/deps/zlib",
        [f"{name}.c" for name in "adler32 crc32 deflate inffast inflate inftrees trees zutil".split()]
        + [f"{name}.h" for name in "crc32 deflate inffast inffixed inflate inftrees trees zconf zlib zutil".split()]
        + ["gzguts.h"],
    ),
}


def download(package, sha256, folder):
    """The archive of a registry package, checked."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(f"npm is needed to fetch {package} (the sources in an sdist need nothing)")
    subprocess.run(
        [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, package],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = pathlib.Path(folder).glob("*.tgz")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        sys.exit(f"{package} has the hash {found}, not {sha256}")
    return archive


def extract(archive, inner, names, target):
    """Put the wanted files into place, all or none."""
    staging = pathlib.Path(tempfile.mkdtemp(dir=target.parent))
    with tarfile.open(archive) as package:
        for name in names:
            data = package.extractfile(f"{inner}/{name}")
            (staging / name).write_bytes(data.read())
    shutil.rmtree(target, ignore_errors=True)
    staging.rename(target)


def fetch(target=TARGET):
    """Make sure that all sources lie in `target`; a stamp tells which ones do."""
    target.mkdir(parents=True, exist_ok=True)
    for name, (package, sha256, inner, names) in SOURCES.items():
        stamp = target / f"{name}.stamp"
        if stamp.exists() and stamp.read_text() == sha256:
            continue
        with tempfile.TemporaryDirectory(dir=target) as folder:
            extract(download(package, sha256, folder), inner, names, target / name)
        stamp.write_text(sha256)
    return target


if __name__ == "__main__":
    print(fetch())
