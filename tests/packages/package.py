"""What the tests of the packages share: the README's programs, and clean places."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"


def readme_program(language):
    """The first program of a language in the README."""
    text = (ROOT / "README.md").read_text()
    found = re.search(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    assert found, f"README.md has no {language} program"
    return found.group(1)


def built(pattern):
    (path,) = DIST.glob(pattern)
    return path


def run(*command, folder, offline=False, **environment):
    """Run a command in a folder, without what the workshop puts on the paths; offline: with no network at all."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NODE_PATH", "VIRTUAL_ENV")}
    words = [str(word) for word in command]
    if offline:
        words = ["unshare", "--net", *([] if os.getuid() == 0 else ["--map-root-user"]), *words]
    done = subprocess.run(
        words,
        cwd=folder,
        env=clean | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def virtual_environment(folder, *packages, python=sys.executable):
    """A new virtual environment with some packages from the registry; the path of its Python."""
    run(python, "-m", "venv", folder, folder=ROOT)
    inside = folder / "bin" / "python"
    if packages:
        run(inside, "-m", "pip", "install", "-q", *packages, folder=ROOT)
    return inside


def pinned(*names):
    """Requirements of the workshop by name, at their exact versions."""
    text = (ROOT / "tests" / "requirements.txt").read_text()
    return [re.search(rf"^{name}==.*$", text, re.M | re.I).group() for name in names]
