"""Rewrite every generated file from the public headers; with --check fail if one would change.

python bindings/generate.py [--check]
"""

import json
import sys

import front_end
from emit import (
    abi_test,
    api_reference,
    export_map,
    flat_typescript,
    node_glue,
    records_python,
    records_typescript,
    swig_arguments,
    wasm_glue,
)

EMITTERS = [
    records_python,
    records_typescript,
    flat_typescript,
    export_map,
    abi_test,
    api_reference,
    node_glue,
    wasm_glue,
    swig_arguments,
]


def outputs():
    model = front_end.build()
    files = {"bindings/model.json": json.dumps(model, indent=1, ensure_ascii=False) + "\n"}
    for emitter in EMITTERS:
        files |= emitter.emit(model)
    return files


def main():
    check = sys.argv[1:] == ["--check"]
    changed = []
    for name, text in outputs().items():
        path = front_end.ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        changed.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in changed:
        print(("differs from the headers: " if check else "rewrote ") + name)
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
