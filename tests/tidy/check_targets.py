"""No file without a use, and no generated file out of date."""

import importlib
import re
import sys

from tidy import ROOT, check, generated, main, place, repository, run

TEST = re.compile(r"^(?:test|check)_\w+\.py$|\.test\.\w+$")


@check
def headers_are_included():
    """Each private header of the core and the tests is included somewhere."""
    text = "\n".join(path.read_text() for path in repository(".c", ".h", ".cc"))
    included = set(re.findall(r'#\s*include\s+[<"]([^>"]+)[>"]', text))
    for path in repository(".h"):
        relative = str(path.relative_to(ROOT))
        if not generated(path) and not any(relative.endswith("/" + name) for name in included):
            yield f"{place(path)}: included nowhere"


@check
def tests_are_run():
    """Each test file belongs to a stage of ./dev test."""
    sys.path.insert(0, str(ROOT / "tests"))
    stages = importlib.import_module("run").STAGES
    words = {str(word) for stage in stages for program in stage.programs() for word in program.command}
    for path in repository(".py", ".mjs"):
        if TEST.search(path.name) and str(path) not in words:
            yield f"{place(path)}: in no stage of tests/run.py"


@check
def generated_files_are_fresh():
    """./dev generate would change nothing."""
    said, code = run(sys.executable, "bindings/generate.py", "--check")
    if code:
        yield said


@check
def power_table_is_fresh():
    """The table of powers is what its program prints."""
    printed, _ = run(sys.executable, "core/base/power_table.py")
    table = ROOT / "core" / "base" / "power_table.h"
    if printed != table.read_text():
        yield f"{place(table)}: python core/base/power_table.py prints something else"


@check
def generated_files_say_so():
    """A file in a generated place names its generator in its first lines."""
    for path in repository(".c", ".h", ".cc", ".py", ".ts", ".mjs", ".map"):
        if re.search(r"(_gen|_generated|\.gen)\.\w+$|chordal\.map$", path.name) and not generated(path):
            yield f"{place(path)}: does not say that it is generated"


if __name__ == "__main__":
    main()
