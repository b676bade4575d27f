"""./dev run: the demo, served by the tool, with the lines by which others join. --check: the interop square."""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import square

ROOT = square.ROOT


def demo_folder(folder):
    for path in (ROOT / "demo").iterdir():
        shutil.copy(path, folder)
    square.copy_browser_build(folder)


def joining(address):
    page = address.replace("ws://", "http://")
    here = pathlib.Path(os.path.relpath(ROOT))
    return f"""
The board is at {page}/ - open it in several tabs. Others join by these lines:

  C        {here / "build/release/chordal"} watch {address} board name=lunch
           {here / "build/release/chordal"} call {address} board name=lunch add '"milk"'
  Python   {here / ".venv/bin/python"} {here / "demo/join.py"} {address}
  Node     node {here / "demo/join.mjs"} {address}

Stop with Ctrl-C.
"""


def serve(listen):
    with tempfile.TemporaryDirectory() as folder:
        demo_folder(folder)
        command = [str(square.TOOL), "serve", "--listen", listen, "--page", folder]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, lambda *_: server.terminate())
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        first = server.stdout.readline().strip()
        if first:
            print(joining(first.removeprefix("listening ")), flush=True)
        return server.wait()


def main():
    parser = argparse.ArgumentParser(prog="./dev run")
    parser.add_argument("--check", nargs="*", metavar="runtime", help="every runtime with every other, unattended")
    parser.add_argument("--listen", default="ws://127.0.0.1:7777")
    options = parser.parse_args()
    if options.check is not None:
        return square.main(options.check) > 0
    return serve(options.listen)


if __name__ == "__main__":
    sys.exit(main())
