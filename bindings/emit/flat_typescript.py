"""node/src/flat.ts: the type of the flat layer, the same for the Node addon and the WASM loader."""

from .common import (
    NOTICE,
    TEXT,
    inputs,
    javascript_functions,
    javascript_name,
    option_fields,
    outputs,
    short,
    structs_by_name,
    title,
    wrap,
)

INPUTS = {
    "id": "number",
    "time": "number",
    "u64": "number",
    "u32": "number",
    "i32": "number",
    "text": "string",
    "bytes": "Uint8Array",
    "buffer": "Uint8Array",
}
OUTPUTS = {
    "id": "number",
    "time": "number",
    "u32": "number",
    "i32": "number",
    "size": "number",
    "double": "number",
    "u64": "bigint",
    "i64": "bigint",
}

HEAD = f"""// The flat layer: the C functions one by one. {NOTICE}

// A call that fails throws (see use_error); arguments of a wrong type throw a TypeError and reach nothing. Where a
// buffer is filled, a length above the buffer's says how large it must be, and nothing was written.

"""


def result_type(argument):
    role = argument["role"]
    if role == "buffer":
        return "number"
    if role in ("out_view", "out_bytes"):
        return "Uint8Array"
    if role in ("out_handle", "out_struct"):
        return handle(argument["type"]) if role == "out_handle" else title(argument["type"])
    return OUTPUTS[argument["of"]]


def handle(type_name):
    return f"{title(type_name)}Handle"


def input_type(argument):
    if argument["role"] == "handle":
        return handle(argument["type"])
    if argument["role"] == "options":
        return f"{title(argument['type'])} | null"
    return INPUTS[argument["role"]]


def returned(function):
    outs = outputs(function)
    result = function["result"]
    if len(outs) == 1:
        return result_type(outs[0])
    if outs:
        fields = [("len" if out["role"] == "buffer" else out["name"], result_type(out)) for out in outs]
        return "{ " + "; ".join(f"{name}: {kind}" for name, kind in fields) + " }"
    if result["role"] == "handle":
        return handle(result["type"])
    return {"code": "void", "none": "void", "cstring": "string"}.get(result["role"]) or OUTPUTS[result["role"]]


def function_lines(function):
    params = ", ".join(
        f"{javascript_name(argument)}{'?' if argument['role'] == 'options' else ''}: {input_type(argument)}"
        for argument in inputs(function)
    )
    if function["comment"]:
        yield "  /**\n" + wrap(function["comment"], "   * ", 118) + "\n   */"
    yield f"  {short(function['name'])}({params}): {returned(function)};"


def option_lines(struct):
    yield f"export interface {title(struct['name'])} {{"
    for field in option_fields(struct):
        kind = {"uint64_t": "number | bigint", TEXT: "string"}.get(field["type"], "number")
        if field["comment"]:
            yield f"  /** {' '.join(field['comment'].split())} */"
        yield f"  {field['name']}?: {kind} | undefined;"
    yield "}\n"


def counter_lines(model, struct):
    yield f"export interface {title(struct['name'])} {{"
    for counter in model["counters"]:
        if counter["comment"]:
            yield f"  /** {counter['comment']} */"
        yield f"  {counter['name']}: bigint;"
    yield "}\n"


def emit(model):
    structs = structs_by_name(model)
    functions = list(javascript_functions(model))
    handles = sorted(
        {
            argument["type"]
            for function in functions
            for argument in function["arguments"]
            if argument["role"] == "handle"
        }
    )
    lines = []
    for name in handles:
        lines.append("/** Opaque: an external in Node, a number in WASM. */")
        lines.append(f'export interface {handle(name)} {{\n  readonly opaque: "{name}";\n}}\n')
    for function in functions:
        for argument in function["arguments"]:
            if argument["role"] == "options":
                lines += option_lines(structs[argument["type"]])
            elif argument["role"] == "out_struct":
                lines += counter_lines(model, structs[argument["type"]])
    lines.append("/** How a failed call makes what it throws. */")
    lines.append("export type ErrorClass = new (code: number, position: number, detail: string) => Error;\n")
    lines.append("export interface Flat {")
    lines.append("  /** Throw errors of this class from now on. */\n  use_error(type: ErrorClass): void;")
    for function in functions:
        lines += function_lines(function)
    lines.append("}")
    return {"node/src/flat.ts": HEAD + "\n".join(lines) + "\n"}
