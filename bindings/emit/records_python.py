"""python/chordal/_records.py: constants, tables and event readers for Python."""

from .common import FIELD_SIZES, NOTICE, fields_of, shared_constants, short, title, wrap

CODES = {"id": "Q", "u64": "Q", "u32": "I", "i32": "i", "span": "II", "part": "IIQ"}
TYPES = {"id": "int", "u64": "int", "u32": "int", "i32": "int", "span": "str", "part": "bytes"}

HEAD = f'''"""Constants, tables and event readers. {NOTICE}"""

# fmt: off
# ruff: noqa

from struct import Struct
from typing import Any, Callable, Dict, List, NamedTuple, Tuple, Union

'''

READERS = """
def _text(buffer: Any, at: int, length: int) -> str:
    return str(buffer[at:at + length], "utf-8", "surrogatepass") if length else ""


def _bytes(buffer: Any, at: int, length: int, part: int) -> bytes:
    return bytes(buffer[at:at + length]) if length and not part else b""

"""

TAIL = '''
_HEAD = Struct("<IHH")


def read_events(buffer: Any, length: int) -> List[Event]:
    """The events in the first `length` bytes of a buffer that host_poll filled; unknown kinds are skipped."""
    events: List[Event] = []
    at = 0
    while at < length:
        size, kind, flags = _HEAD.unpack_from(buffer, at)
        reader = _READERS.get(kind)
        if reader is not None:
            events.append(reader(buffer, at, flags))
        at += size
    return events
'''


def constant_lines(model):
    for constant in shared_constants(model):
        yield f"{short(constant['name'])} = {constant['value']!r}".replace("'", '"')
    for event in model["events"]:
        yield f"EVENT_{event['name']} = {event['value']}"
    for operation in model["operations"]:
        yield f"OP_{operation['name']} = {operation['value']}"
    yield "OK = 0"
    for error in model["errors"]:
        yield f"E_{error['name']} = {error['value']}"


def table_lines(model):
    yield "\n# code: (name, meaning)"
    yield "ERRORS: Dict[int, Tuple[str, str]] = {"
    for error in model["errors"]:
        text = error["text"].replace('"', '\\"')
        yield f'    {error["value"]}: ("{error["name"].lower()}", "{text}"),'
    yield "}"
    yield "ERROR_CODES: Dict[str, int] = {name: code for code, (name, _) in ERRORS.items()}"
    yield "\n# number: (name, letter in JSON parts, arguments)"
    yield "OPS: Dict[int, Tuple[str, str, Tuple[str, ...]]] = {"
    for operation in model["operations"]:
        words = "".join(f'"{word}", ' for word in operation["arguments"]).rstrip()
        yield f'    {operation["value"]}: ("{operation["name"].lower()}", "{operation["letter"]}", ({words})),'
    yield "}"
    yield "\n# The fields of chordal_counters, each a uint64, in order."
    yield "COUNTERS: Tuple[str, ...] = ("
    for counter in model["counters"]:
        yield f'    "{counter["name"]}",' + (f"  # {counter['comment']}" if counter["comment"] else "")
    yield ")"


def format_of(event):
    """The struct format behind the record's head, with padding made explicit."""
    text, at = "<8x", 8
    for field in event["fields"]:
        text += "x" * (field["offset"] - at)
        text += "4x" if field["name"] == "reserved" else CODES[field["type"]]
        at = field["offset"] + FIELD_SIZES[field["type"]]
    return text


def unpacked(event):
    """The names that a record unpacks to, and the expressions that make the event's fields of them."""
    names, values = [], []
    for field in fields_of(event):
        name = field["name"]
        if field["type"] == "span":
            names += [f"{name}_at", f"{name}_length"]
            values.append(f"_text(buffer, at + {name}_at, {name}_length)")
        elif field["type"] == "part":
            names += [f"{name}_at", f"{name}_length", f"{name}_part"]
            values += [f"_bytes(buffer, at + {name}_at, {name}_length, {name}_part)", f"{name}_part"]
        else:
            names.append(name)
            values.append(name)
    return names, values


def class_lines(event):
    yield f"\nclass {title(event['name'])}Event(NamedTuple):"
    yield wrap('"""' + event["comment"] + '"""', "    ", 110) + "\n"
    yield "    flags: int"
    for field in fields_of(event):
        yield f"    {field['name']}: {TYPES[field['type']]}"
        if field["type"] == "part":
            yield f"    {field['name']}_part: int"
    yield ""


def reader_lines(event):
    name = event["name"].lower()
    names, values = unpacked(event)
    target = ", ".join(names) + ("," if len(names) == 1 else "")
    yield f'\n_{event["name"]} = Struct("{format_of(event)}")\n\n'
    yield f"def _read_{name}(buffer: Any, at: int, flags: int) -> {title(name)}Event:"
    yield f"    {target} = _{event['name']}.unpack_from(buffer, at)"
    yield f"    return {title(name)}Event(\n        flags,"
    yield from (f"        {value}," for value in values)
    yield "    )\n"


def emit(model):
    lines = list(constant_lines(model)) + list(table_lines(model))
    lines.append(
        "\n# Events. Of a part the bytes are given, or, when they are empty, the `_part` id to view and release.\n"
    )
    for event in model["events"]:
        lines += class_lines(event)
    names = ", ".join(f"{title(event['name'])}Event" for event in model["events"])
    lines.append(f"\nEvent = Union[{names}]\n")
    lines.append(READERS.rstrip("\n") + "\n")
    for event in model["events"]:
        lines += reader_lines(event)
    lines.append("\n_READERS: Dict[int, Callable[[Any, int, int], Event]] = {")
    lines += [f"    EVENT_{event['name']}: _read_{event['name'].lower()}," for event in model["events"]]
    lines.append("}")
    return {"python/chordal/_records.py": HEAD + "\n".join(lines) + TAIL}
