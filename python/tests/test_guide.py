"""The programs in the docs run."""

import asyncio
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_guide(tmp_path):
    text = (ROOT / "docs/guide/python.md").read_text().replace("ws://127.0.0.1:7777", "ipc:@PATH@")
    names = {}
    path = str(tmp_path / "socket")
    for program in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(program.replace("@PATH@", path), names)

    async def both():
        provider = asyncio.create_task(names["provide"]())
        try:
            await asyncio.wait_for(names["hold"](), 10)
        finally:
            provider.cancel()
            await asyncio.wait([provider])
        await asyncio.wait_for(names["guarded"](), 10)
        await asyncio.wait_for(names["remember"](tmp_path), 10)
        await asyncio.wait_for(names["plan"](tmp_path), 10)

    asyncio.run(both())


def test_shortest_program():
    program = ROOT / "examples/python/notes.py"
    command = [sys.executable, "-W", "error", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "milk 1"
