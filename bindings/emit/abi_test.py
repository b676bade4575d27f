"""tests/abi/abi_generated.c: the compiler judges the model, on every machine it compiles for."""

from .c_text import pointer_type
from .common import FIELD_SIZES, NOTICE

HEAD = f"""/* {NOTICE} */
/* clang-format off */
#include "chordal.h"
@INCLUDES@
#define SIGNATURE(name, ...) _Static_assert(_Generic(&name, __VA_ARGS__: 1, default: 0), #name)
#define VALUE(name, value) _Static_assert((name) == (value), #name)
#define FIELD(type, field, at, size) \\
    _Static_assert(offsetof(type, field) == (at) && sizeof(((type *)0)->field) == (size), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

/* By the width of a pointer. */
#define WIDE(on_64, on_32) (sizeof(void *) == 8 ? (on_64) : (on_32))
"""

# The 32-bit layout of structures that hold both pointers and 64-bit numbers is that of machines which align the latter.
RECORD_NOTE = """
/* Records look the same on every machine. */
"""
STRUCT_NOTE = """
/* Structures; not asserted where 64-bit fields are aligned to 4. */
#if !defined(__i386__)
"""

TAIL = """
#if __STDC_HOSTED__
#include <stdio.h>

int main(void) {
    puts("1 passed, 0 failed"); /* or it would not have compiled */
    return 0;
}
#endif
"""


def width(wide, narrow):
    return str(wide) if wide == narrow else f"WIDE({wide}, {narrow})"


def function_lines(model):
    for function in model["functions"]:
        yield f"SIGNATURE({function['name']}, {pointer_type(function)});"


def value_lines(model):
    for constant in model["constants"]:
        if isinstance(constant["value"], int):
            yield f"VALUE({constant['name']}, {constant['value']});"
    for prefix, rows in (("E", "errors"), ("EVENT", "events"), ("OP", "operations")):
        for row in model[rows]:
            yield f"VALUE(CHORDAL_{prefix}_{row['name']}, {row['value']});"


def record_lines(model):
    for event in model["events"]:
        name = f"chordal_event_{event['name']}"
        yield f"SIZE({name}, {event['size']});"
        for field in event["fields"]:
            yield f"FIELD({name}, {field['name']}, {field['offset']}, {FIELD_SIZES[field['type']]});"


def struct_lines(model):
    for struct in model["structs"]:
        yield f"SIZE({struct['name']}, {width(struct['size'], struct['size32'])});"
        for field in struct["fields"]:
            offset, size = width(field["offset"], field["offset32"]), width(field["size"], field["size32"])
            yield f"FIELD({struct['name']}, {field['name']}, {offset}, {size});"


def emit(model):
    includes = "".join(f'#include "{header["name"]}"\n' for header in model["headers"] if not header["main"])
    lines = [HEAD.replace("@INCLUDES@", includes)] + list(function_lines(model)) + [""]
    lines += (
        list(value_lines(model))
        + [RECORD_NOTE]
        + list(record_lines(model))
        + [STRUCT_NOTE]
        + list(struct_lines(model))
        + ["#endif"]
    )
    return {"tests/abi/abi_generated.c": "\n".join(lines) + "\n" + TAIL}
