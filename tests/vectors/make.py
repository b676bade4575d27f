"""Write all vectors. `make.py` rewrites the files; `make.py --check` fails when one of them is not as written.

The bytes come from protocol.py; the codes and positions of what is refused are written down in make_*.py by hand.
"""

import importlib
import json
import pathlib
import sys

from make_common import FILES

sys.setrecursionlimit(10000)
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = ["values", "ops", "messages", "streams", "deflated"]


def render(content):
    """One case a line."""
    cases = ",\n".join("  " + json.dumps(case, ensure_ascii=True, allow_nan=False) for case in content["cases"])
    return f'{{"about": {json.dumps(content["about"])}, "cases": [\n{cases}\n]}}\n'


def main():
    for family in FAMILIES:
        importlib.import_module(f"make_{family}")
    present = {str(path.relative_to(HERE)) for path in HERE.glob("*/*.json")}
    wrong = sorted(present - set(FILES))
    for name, content in FILES.items():
        names = [case["name"] for case in content["cases"]]
        if len(set(names)) != len(names):
            sys.exit(f"{name}: a name twice: {[n for n in names if names.count(n) > 1]}")
        path, text = HERE / name, render(content)
        if path.exists() and path.read_text() == text:
            continue
        wrong.append(name)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if "--check" in sys.argv and wrong:
        sys.exit("not as make.py writes them: " + " ".join(wrong))
    print(f"{len(FILES)} files, {sum(len(content['cases']) for content in FILES.values())} cases")


main()
