"""docs/api.md: the reference, made of the headers' own words."""

from .c_text import declare, prototype
from .common import NOTICE, paragraphs


def prose(text):
    """Comment text as Markdown: paragraphs joined, indented blocks kept as code."""
    return "\n".join(paragraphs(text))


def constant_section(rows):
    yield "| constant | value | |\n|---|---|---|"
    for row in rows:
        value = f'"{row["value"]}"' if isinstance(row["value"], str) else row["value"]
        yield f"| `{row['name']}` | {value} | {cell(row['comment'])} |"
    yield ""


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def struct_section(struct):
    yield f"### {struct['name']}\n"
    if struct["comment"]:
        yield prose(struct["comment"]) + "\n"
    yield "| field | offset (64 / 32 bit) | |\n|---|---|---|"
    for field in struct["fields"]:
        at = f"{field['offset']} / {field['offset32']}"
        yield f"| `{declare(field['type'], field['name'])}` | {at} | {cell(field['comment'])} |"
    yield ""


def function_section(function):
    yield f"### {function['name']}\n"
    yield f"```c\n{prototype(function)};\n```\n"
    if function["comment"]:
        yield prose(function["comment"]) + "\n"


def error_section(model):
    yield "| code | number | name | meaning |\n|---|---|---|---|"
    for error in model["errors"]:
        yield f"| `CHORDAL_E_{error['name']}` | {error['value']} | {error['name'].lower()} | {cell(error['text'])} |"
    yield ""


def event_section(model):
    for event in model["events"]:
        yield f"### CHORDAL_EVENT_{event['name']} ({event['value']})\n"
        yield prose(event["comment"]) + "\n"
        yield "| field | type | offset |\n|---|---|---|"
        for field in event["fields"]:
            yield f"| {field['name']} | {field['type']} | {field['offset']} |"
        yield ""
    yield "### Ops\n\n| op | number | letter | arguments |\n|---|---|---|---|"
    for operation in model["operations"]:
        arguments = " ".join(operation["arguments"])
        yield f"| `CHORDAL_OP_{operation['name']}` | {operation['value']} | `{operation['letter']}` | {arguments} |"
    yield ""


def counter_section(model):
    yield "| counter | |\n|---|---|"
    for counter in model["counters"]:
        yield f"| {counter['name']} | {cell(counter['comment'])} |"
    yield ""


def header_section(model, header):
    name = header["name"]
    words = header["comment"].split(":", 1)[1].strip()
    yield f"## {name}\n\n{prose(words[0].upper() + words[1:])}\n"
    constants = [row for row in model["constants"] if row["header"] == name]
    if constants:
        yield from constant_section(constants)
    if name == "chordal/error.h":
        yield from error_section(model)
    for struct in model["structs"]:
        if struct["header"] == name and struct["name"] != "chordal_counters":
            yield from struct_section(struct)
    if name == "chordal/record.h":
        yield from event_section(model)
    if name == "chordal/host.h":
        yield from counter_section(model)
    for function in model["functions"]:
        if function["header"] == name:
            yield from function_section(function)


def emit(model):
    lines = [f"# API reference\n\n{NOTICE}\n\nChordal {model['version']}, ABI {model['abi']}.\n"]
    for header in model["headers"]:
        lines += header_section(model, header)
    return {"docs/api.md": "\n".join(lines).rstrip() + "\n"}
