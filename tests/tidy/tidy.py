"""What the checks of the house share: the repository's files, C text without comments, and the report."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "build" / "release"

# The rooms of core/, lowest first (docs/architecture.md).
ROOMS = ["base", "value", "delta", "wire", "store", "object", "link", "host"]

CHECKS = []


def check(function):
    """Register a check: a function without arguments that yields complaints, each `file:line: what`."""
    CHECKS.append(function)
    return function


def main():
    """Run the checks of this program, not those of modules that it imports; each is a test."""
    failed = 0
    checks = [function for function in CHECKS if function.__module__ == "__main__"]
    for function in checks:
        complaints = list(function())
        failed += bool(complaints)
        if complaints:
            print(f"FAILED {function.__name__}: {function.__doc__.splitlines()[0]}")
        for complaint in complaints[:40]:
            print(complaint)
    print(f"{len(checks) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


def run(*command, **options):
    """A command's output and errors as one text, and its exit code."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    return done.stdout, done.returncode


def repository(*endings):
    """The files that are or would be committed, with one of the endings."""
    listed, _ = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = (ROOT / name for name in sorted(set(listed.split("\0"))) if name)
    return [p for p in paths if p.is_file() and (not endings or p.name.endswith(endings))]


def core_files(*endings):
    """(room, path) of the files of the core's rooms."""
    for room in ROOMS:
        for path in sorted((ROOT / "core" / room).iterdir()):
            if path.name.endswith(endings or (".c", ".h")):
                yield room, path


def place(path, line=1):
    return f"{path.relative_to(ROOT)}:{line}"


def generated(path):
    """Whether a file says in its first lines that a program wrote it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        head = "".join(file.readline() for _ in range(5))
    return "enerated by " in head and "do not edit" in head


TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def bare_c(text):
    """C text with comments and literals blanked out, lines kept."""

    def blank(match):
        found = match.group()
        return re.sub(r"[^\n]", " ", found) if found[0] == "/" else found[0] + " " * (len(found) - 2) + found[0]

    return TOKENS.sub(blank, text)


def c_functions(text):
    """(name, first line, lines) of the function definitions of a C file laid out by clang-format: a definition starts
    at the left edge, its head ends with `) {`, its body with a brace at the left edge."""
    head, start, name = "", 0, None
    for number, line in enumerate(bare_c(text).splitlines(), 1):
        if name:
            if line.startswith("}"):
                yield name, start, number - start + 1
                head, name = "", None
            continue
        if line[:1].isalpha() or line[:1] == "_":
            head, start = "", number
        head += line
        if head.rstrip().endswith(") {") and (found := re.match(r"[\w\s*]*?(\w+)\(", head)):
            name = found.group(1)
        elif line.rstrip().endswith((";", "{", "}")):
            head = ""
