"""All sources are laid out by their formatters: ./dev format."""

import sys

from tidy import ROOT, check, generated, main, repository, run


def handwritten(*endings):
    return [path for path in repository(*endings) if not generated(path)]


@check
def c_sources():
    """clang-format would change nothing."""
    said, code = run("clang-format", "--dry-run", "-Werror", *handwritten(".c", ".h", ".cc"))
    if code:
        yield from (line for line in said.splitlines() if "error:" in line)


@check
def python_layout():
    """ruff format would change nothing."""
    said, code = run(sys.executable, "-m", "ruff", "format", "--check", "--no-cache", ".")
    if code:
        yield said


@check
def python_faults():
    """ruff finds no fault."""
    said, code = run(sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", ".")
    if code:
        yield said


@check
def script_layout():
    """prettier would change nothing."""
    paths = handwritten(".ts", ".mjs", ".js", ".css", ".html")
    if paths:
        said, code = run(ROOT / "node_modules" / ".bin" / "prettier", "--check", "--log-level", "warn", *paths)
        if code:
            yield said


if __name__ == "__main__":
    main()
