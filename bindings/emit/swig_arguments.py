"""bindings/arguments.i: which parameters belong together, in the shapes that chordal.i gives SWIG typemaps for."""

from .c_text import declare
from .common import NOTICE

SHAPES = {
    "text": "(const char *TEXT, size_t LENGTH)",
    "bytes": "(const uint8_t *BYTES, size_t LENGTH)",
    "buffer": "(uint8_t *BUFFER, size_t LENGTH, size_t *WRITTEN)",
    "out_view": "(const uint8_t **VIEW, size_t *LENGTH)",
}


def groups(model):
    """shape: the parameter lists that have it."""
    found = {role: set() for role in SHAPES}
    for function in model["functions"]:
        types = {param["name"]: param["type"] for param in function["params"]}
        for argument in function["arguments"]:
            if argument["role"] in found and argument.get("of") != "chordal_piece":
                found[argument["role"]].add(", ".join(declare(types[name], name) for name in argument["params"]))
    return found


def emit(model):
    lines = [f"/* {NOTICE} */"]
    for role, lists in groups(model).items():
        lines.append(f"%apply {SHAPES[role]} {{")
        lines.append(",\n".join(f"    ({params})" for params in sorted(lists)))
        lines.append("};")
    return {"bindings/arguments.i": "\n".join(lines) + "\n"}
