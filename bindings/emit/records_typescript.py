"""node/src/records.ts: constants, tables and event readers for JavaScript, in Node and in the browser."""

import json

from .common import NOTICE, fields_of, shared_constants, short, title, wrap

TYPES = {"id": "number", "u64": "bigint", "u32": "number", "i32": "number", "span": "string", "part": "Uint8Array"}

HEAD = f"""// Constants, tables and event readers. {NOTICE}

import {{ decodeText }} from "./text.js";

"""

ERROR_CLASS = """
/** What a failed call throws. `name` is the code's stable name; `position` a byte offset into refused data. */
export class ChordalError extends Error {
  constructor(
    readonly code: number,
    readonly position = 0,
    readonly detail = "",
  ) {
    const [name, text] = ERRORS[code] ?? ["unknown", `code ${code}`];
    super(detail === "" ? text : detail);
    this.name = name;
  }
}
"""

TAIL = """
/**
 * A buffer to poll into, reused for every poll. Parts inside events are views of it: they hold until the next poll.
 */
export class EventBuffer {
  bytes: Uint8Array;
  private view: DataView;

  constructor(size = 65536) {
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Make room for a record of this size. */
  grow(size: number): void {
    if (size <= this.bytes.length) return;
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  /** The events in the first `length` bytes; kinds that are not known are skipped. */
  read(length: number): HostEvent[] {
    const { bytes, view } = this;
    const events: HostEvent[] = [];
    for (let at = 0; at < length; at += view.getUint32(at, true)) {
      const event = readEvent(view, bytes, at);
      if (event !== undefined) events.push(event);
    }
    return events;
  }
}

function id(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 4294967296;
}

function text(view: DataView, bytes: Uint8Array, record: number, at: number): string {
  const length = view.getUint32(at + 4, true);
  if (length === 0) return "";
  const start = record + view.getUint32(at, true);
  return decodeText(bytes, start, start + length);
}

function part(view: DataView, bytes: Uint8Array, record: number, at: number): Uint8Array {
  const start = record + view.getUint32(at, true);
  const outside = view.getUint32(at + 8, true) !== 0 || view.getUint32(at + 12, true) !== 0;
  return bytes.subarray(start, outside ? start : start + view.getUint32(at + 4, true));
}
"""


def read_expression(field):
    at = f"at + {field['offset']}"
    return {
        "id": f"id(view, {at})",
        "u64": f"view.getBigUint64({at}, true)",
        "u32": f"view.getUint32({at}, true)",
        "i32": f"view.getInt32({at}, true)",
        "span": f"text(view, bytes, at, {at})",
        "part": f"part(view, bytes, at, {at})",
    }[field["type"]]


def constant_lines(model):
    for constant in shared_constants(model):
        if constant["comment"]:
            yield f"/** {' '.join(constant['comment'].split())} */"
        yield f"export const {short(constant['name'])} = {json.dumps(constant['value'])};"
    for event in model["events"]:
        yield f"export const EVENT_{event['name']} = {event['value']};"
    for operation in model["operations"]:
        yield f"export const OP_{operation['name']} = {operation['value']};"
    yield "export const OK = 0;"
    for error in model["errors"]:
        yield f"/** {error['text']} */\nexport const E_{error['name']} = {error['value']};"


def table_lines(model):
    yield "\n/** code: [name, meaning] */"
    yield "export const ERRORS: Readonly<Record<number, readonly [name: string, text: string]>> = {"
    for error in model["errors"]:
        yield f"  [E_{error['name']}]: [{json.dumps(error['name'].lower())}, {json.dumps(error['text'])}],"
    yield "};"
    yield "\n/** name: code */"
    yield "export const ERROR_CODES: Readonly<Record<string, number>> = {"
    yield from (f"  {error['name'].lower()}: E_{error['name']}," for error in model["errors"])
    yield "};"
    yield "\n/** number: [name, letter in JSON parts, arguments] */"
    yield "export type OpRow = readonly [name: string, letter: string, args: readonly string[]];"
    yield "export const OPS: Readonly<Record<number, OpRow>> = {"
    for operation in model["operations"]:
        row = json.dumps([operation["name"].lower(), operation["letter"], operation["arguments"]])
        yield f"  [OP_{operation['name']}]: {row},"
    yield "};"


def interface_lines(event):
    yield "\n/**\n" + wrap(event["comment"], " * ", 118) + "\n */"
    yield f"export interface {title(event['name'])}Event {{"
    yield f"  readonly kind: typeof EVENT_{event['name']};"
    yield "  readonly flags: number;"
    for field in fields_of(event):
        yield f"  readonly {field['name']}: {TYPES[field['type']]};"
        if field["type"] == "part":
            yield "  /** When not 0: the bytes are to be had by part_view, and to be given back by release. */"
            yield f"  readonly {field['name']}_part: number;"
    yield "}"


def case_lines(event):
    yield f"    case EVENT_{event['name']}:"
    yield f"      return {{\n        kind: EVENT_{event['name']},"
    yield "        flags: view.getUint16(at + 6, true),"
    for field in fields_of(event):
        yield f"        {field['name']}: {read_expression(field)},"
        if field["type"] == "part":
            yield f"        {field['name']}_part: id(view, at + {field['offset'] + 8}),"
    yield "      };"


def emit(model):
    lines = list(constant_lines(model)) + list(table_lines(model)) + [ERROR_CLASS.rstrip("\n")]
    for event in model["events"]:
        lines += interface_lines(event)
    names = [f"{title(event['name'])}Event" for event in model["events"]]
    lines.append("\nexport type HostEvent =\n  | " + "\n  | ".join(names) + ";\n")
    lines.append("/** The event whose record starts at `at`, or undefined for a kind that is not known. */")
    lines.append("export function readEvent(view: DataView, bytes: Uint8Array, at: number): HostEvent | undefined {")
    lines.append("  switch (view.getUint16(at + 4, true)) {")
    for event in model["events"]:
        lines += case_lines(event)
    lines.append("    default:\n      return undefined;\n  }\n}")
    return {"node/src/records.ts": HEAD + "\n".join(lines) + "\n" + TAIL}
