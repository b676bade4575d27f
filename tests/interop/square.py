"""The interop square: every runtime provides to every other (README.md). Standard library only."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOL = ROOT / "build" / "release" / "chordal"
TIMEOUT = 120
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}

PROGRAMS = {
    "c": ([TOOL, "provide"], [TOOL, "check-holder"]),
    "python": ([sys.executable, HERE / "provide.py"], [sys.executable, HERE / "hold.py"]),
    "node": (["node", HERE / "provide.mjs"], ["node", HERE / "hold.mjs"]),
    "tab": (["node", HERE / "tab.mjs", "provide"], ["node", HERE / "tab.mjs", "hold"]),
}

ADDS, SAYS = 100, 200
TOKENS = ["lorem ", "ipsum ", "n\u00e9 ", "\u6f22\u5b57 ", "\ud83d", "\ude00 ", '"quoted\\ ', "\n"]


# ---- the digest, from docs/protocol.md, with nothing of ours ----


def utf8(text):
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return joined.encode("utf-8", "surrogatepass")


def canonical(value):
    if isinstance(value, int):
        return b"i%d" % value
    if isinstance(value, str):
        data = utf8(value)
        return b"s%d:%s" % (len(data), data)
    if isinstance(value, list):
        return b"[" + b"".join(map(canonical, value)) + b"]"
    keys = sorted(value, key=utf8)
    return b"{" + b"".join(canonical(key) + canonical(value[key]) for key in keys) + b"}"


def digest(value):
    state = 0xCBF29CE484222325
    for byte in canonical(value):
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return f"{state:016x}"


def expected():
    entries = [{"id": i + 1, "text": f"entry {i} \u00e9\u2713"} for i in range(ADDS)]
    return {"entries": entries, "text": "".join(TOKENS[i % len(TOKENS)] for i in range(SAYS))}


# ---- processes ----


def start(command):
    words = [str(word) for word in command]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT)


def read_line(process, what):
    """One line of a process, or an error when it takes too long."""
    timer = threading.Timer(TIMEOUT, process.kill)
    timer.start()
    line = process.stdout.readline().strip()
    timer.cancel()
    if not line:
        raise RuntimeError(f"{what} ended or was too slow")
    return line


@contextlib.contextmanager
def running(command, what):
    """A process and its first line; it is ended at the end."""
    process = start(command)
    try:
        yield read_line(process, what)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stdout.close()


def copy_browser_build(folder):
    """The npm package, but for the addon, as a page's folder `chordal`: its files lie as in the repository."""
    manifest = json.loads((ROOT / "packages" / "npm.json").read_text())
    for pattern in manifest["files"]:
        for path in ROOT.glob(pattern):
            target = pathlib.Path(folder) / "chordal" / path.relative_to(ROOT)
            if path.is_dir():
                shutil.copytree(path, target)
            elif path.suffix != ".node":
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)


def page_folder(folder):
    """What a tab needs: the page, what it runs, and the browser build."""
    for name in ("tab.html", "work.mjs", "drift.mjs"):
        shutil.copy(HERE / name, folder)
    copy_browser_build(folder)
    return folder


# ---- cells ----


def hold(holder, address, name):
    command = [str(word) for word in [*PROGRAMS[holder][1], address, name]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, cwd=ROOT, env=ENVIRONMENT)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def fault(report, wanted):
    """Why a cell does not pass, or None."""
    checks = {
        "calls": ADDS + SAYS + 1,
        "count": ADDS,
        "failed": "full",
        "digest": wanted,
        "provider": wanted,
    }
    for field, value in checks.items():
        if report.get(field) != value:
            return f"{field} is {report.get(field)!r}, not {value!r}"
    return None


def cell(provider, holder, address, wanted):
    try:
        report = hold(holder, address, f"{provider}-{holder}")
        return report, fault(report, wanted)
    except (RuntimeError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        return {}, str(error)


def row(provider, holders, wanted, folder):
    """All holders of one provider."""
    serve = [TOOL, "serve", "--listen", "ws://127.0.0.1:0", "--page", folder]
    with running(serve, "the server") as listening:
        address = listening.removeprefix("listening ")
        with running([*PROGRAMS[provider][0], address], f"the provider in {provider}"):
            for holder in holders:
                yield holder, *cell(provider, holder, address, wanted)


def line(provider, holder, report, why):
    fields = [report.get(name, "") for name in ("calls", "frames", "bytes", "digest")]
    verdict = "ok" if why is None else why
    return "{:9}{:9}{:>6}{:>8}{:>9}  {:18}{}".format(provider, holder, *fields, verdict)


def main(names):
    """Run the cells of these runtimes (all when none is named), print the table, answer how many failed."""
    if unknown := [name for name in names if name not in PROGRAMS]:
        raise SystemExit(f"no such runtime: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    runtimes = [name for name in PROGRAMS if not names or name in names]
    wanted, passed = digest(expected()), 0
    print("{:9}{:9}{:>6}{:>8}{:>9}  {}".format("provider", "holder", "calls", "frames", "bytes", "digest"))
    with tempfile.TemporaryDirectory() as folder:
        page_folder(folder)
        for provider in runtimes:
            try:
                for holder, report, why in row(provider, runtimes, wanted, folder):
                    passed += why is None
                    print(line(provider, holder, report, why), flush=True)
            except RuntimeError as error:
                print(line(provider, "", {}, str(error)), flush=True)
    failed = len(runtimes) ** 2 - passed
    print(f"{passed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
