"""python/chordal/_records.py: constants, tables and the classes of events for Python."""

from .common import NOTICE, fields_of, shared_constants, short, title, wrap

TYPES = {"id": "int", "u64": "int", "u32": "int", "i32": "int", "span": "str", "part": "bytes"}

HEAD = f'''"""Constants, tables and the classes of events. {NOTICE}"""

# fmt: off
# ruff: noqa

from typing import Any, Dict, List, NamedTuple, Tuple, Union

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


def class_lines(event):
    yield f"\nclass {title(event['name'])}Event(NamedTuple):"
    yield wrap('"""' + event["comment"] + '"""', "    ", 110) + "\n"
    yield "    flags: int"
    for field in fields_of(event):
        yield f"    {field['name']}: {TYPES[field['type']]}"
        if field["type"] == "part":
            yield f"    {field['name']}_part: int"
    yield ""


def emit(model):
    lines = list(constant_lines(model)) + list(table_lines(model))
    lines.append(
        "\n# Events. Of a part the bytes are given, or, when they are empty, the `_part` id to view and release.\n"
    )
    for event in model["events"]:
        lines += class_lines(event)
    names = ", ".join(f"{title(event['name'])}Event" for event in model["events"])
    lines.append(f"\nEvent = Union[{names}]\n")
    lines.append("# By kind; None: there is no such kind.")
    lines.append("EVENTS: List[Any] = [")
    by_value = {event["value"]: event for event in model["events"]}
    for value in range(max(by_value) + 1):
        event = by_value.get(value)
        lines.append(f"    {title(event['name'])}Event," if event else "    None,")
    lines.append("]\n")
    return {"python/chordal/_records.py": HEAD + "\n".join(lines)}
