"""python/chordal/_cdef.h: the declarations that cffi compiles against the real headers."""

from .c_text import declare, prototype
from .common import NOTICE, shared_constants


def struct_lines(struct):
    yield f"struct {struct['name']} {{"
    for field in struct["fields"]:
        yield f"    {declare(field['type'], field['name'])};"
    yield "};"


def number_lines(model):
    """Constants are given as their numbers; the compiler refuses one that differs from the header."""
    for constant in shared_constants(model):
        if isinstance(constant["value"], int):
            yield f"#define {constant['name']} {constant['value']}"
    for prefix, rows in (("E", "errors"), ("EVENT", "events"), ("OP", "operations")):
        for row in model[rows]:
            yield f"#define CHORDAL_{prefix}_{row['name']} {row['value']}"


def emit(model):
    main = {header["name"] for header in model["headers"] if header["main"]}
    structs = [struct for struct in model["structs"] if struct["header"] in main]
    opaque = [entry["name"] for entry in model["opaque"] if entry["header"] in main]
    lines = [f"/* {NOTICE} */", "typedef uint64_t chordal_id;", "typedef uint64_t chordal_time;"]
    lines += [f"typedef struct {name} {name};" for name in sorted(opaque + [struct["name"] for struct in structs])]
    for struct in structs:
        lines += struct_lines(struct)
    lines += number_lines(model)
    lines += [f"{prototype(function)};" for function in model["functions"] if function["header"] in main]
    lines.append('extern "Python" int chordal_python_entropy(void *context, uint8_t *out, size_t len);')
    return {"python/chordal/_cdef.h": "\n".join(lines) + "\n"}
