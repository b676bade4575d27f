"""The C JSON library that is a limit: its source out of a crate, at a fixed version and hash, into build/bench. Only
the package's C files are used; nothing of it is run by Cargo, and it is never part of the repository."""

import hashlib
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH, WORK = ROOT / "bench", ROOT / "build" / "bench"
CRATE, VERSION = "yyjson-sys", "0.1.0"
FILES = {
    "yyjson.c": "37f5eb2ef1b5bf96ea529988c9cd313108840e75d4f204746af234693f10d114",
    "yyjson.h": "91dc4c7d0496ee1e2a547387b93dad73178007ebcc2753cfd33bcc4b699a30d7",
}
MANIFEST = f"""[package]
name = "limit"
version = "0.0.0"
edition = "2021"

[dependencies]
{CRATE} = "={VERSION}"
"""


def fetch():
    """The folder with the sources, checked; None without Cargo."""
    folder = WORK / "yyjson"
    sources = folder / "vendor" / CRATE / "yyjson" / "src"
    if not sources.exists():
        if shutil.which("cargo") is None:
            return None
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / "lib.rs").write_text("")
        (folder / "Cargo.toml").write_text(MANIFEST)
        subprocess.run(["cargo", "vendor", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for name, expected in FILES.items():
        found = hashlib.sha256((sources / name).read_bytes()).hexdigest()
        if found != expected:
            raise SystemExit(f"{CRATE} {VERSION}: {name} has the hash {found}, not {expected}")
    return sources


def build():
    """The program, or None when its source cannot be had."""
    sources = fetch()
    if sources is None:
        print("no Cargo: without the rows of yyjson", flush=True)
        return None
    program = WORK / "limit"
    command = ["gcc", "-std=gnu11", "-O2", "-g", "-I", sources, BENCH / "limit.c", sources / "yyjson.c", "-o", program]
    subprocess.run([str(word) for word in command], check=True)
    return program
