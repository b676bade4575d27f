"""The NATS server that is a peer: built from its Go module, at the version and hashes of bench/peers/nats, into
build/bench."""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "bench" / "peers" / "nats"
PROGRAM = ROOT / "build" / "bench" / "nats-server"


def build():
    """The program, or None without Go."""
    if shutil.which("go") is None:
        PROGRAM.unlink(missing_ok=True)
        print("no Go: without the row of NATS", flush=True)
        return None
    command = ["go", "build", "-mod=readonly", "-o", str(PROGRAM), "github.com/nats-io/nats-server/v2"]
    subprocess.run(command, cwd=MODULE, check=True)
    return PROGRAM
