"""wasm/shim.c and wasm/flat.js: the flat layer over WebAssembly.

The shim takes ids and times as doubles, which JavaScript has, where the core takes 64-bit integers.
"""

import itertools
import string

from .c_text import declare
from .common import (
    NOTICE,
    inputs,
    javascript_functions,
    javascript_name,
    option_fields,
    outputs,
    short,
    structs_by_name,
)

WIDE = {"chordal_id", "chordal_time"}
CHECKS = {
    "id": "checkWhole",
    "time": "checkWhole",
    "u64": "checkWhole",
    "u32": "checkU32",
    "i32": "checkI32",
    "text": "checkText",
    "bytes": "checkBytes",
    "buffer": "checkBytes",
}
ABOVE = {
    "chordal_error_text": "new core.errorClass(code, 0, '').message",  # what JavaScript has by itself
    "chordal_link_progress": "undefined",  # a tab's sockets tell of whole frames only
}
ABSENT = {  # not for tabs
    *("chordal_type_place", "chordal_resolve", "chordal_resolve_fail", "chordal_link_offers"),
    *("chordal_link_admit", "chordal_link_refuse", "chordal_guard_answer", "chordal_call_authority"),
    *("chordal_host_revoke", "chordal_object_revoke", "chordal_object_row", "chordal_object_query"),
    *(f"chordal_transaction_{word}" for word in ("begin", "commit", "abort", "put", "patch", "remove", "row")),
    *(f"chordal_transaction_{word}" for word in ("query", "update_where", "delete_where", "changes")),
    *("chordal_store_read", "chordal_store_documents", "chordal_store_outbox", "chordal_store_trim"),
    *("chordal_store_tables", "chordal_store_owners"),
    *("chordal_store_backup", "chordal_store_check", "chordal_store_put", "chordal_store_seal"),
}
LETTERS = string.ascii_lowercase + string.ascii_uppercase
LETTERS = [*LETTERS, *map("".join, itertools.product(LETTERS, repeat=2))]
OUT_PLACES = 48  # core.js: OUT to FIXED, in places of 8 bytes

SHIM = f"""/* clang-format off */
/* shim.c: the functions as WebAssembly exports them. {NOTICE} */
#include "chordal.h"

/* A letter or two is the name outside: names cost transfer. */
#define EXPORT(letter) __attribute__((export_name(letter)))
"""


def exported(model):
    """The functions of the shim and the letters that they are known by."""
    absent = ABSENT | ABOVE.keys()
    functions = [function for function in javascript_functions(model) if function["name"] not in absent]
    return dict(zip((function["name"] for function in functions), LETTERS, strict=False)), functions


def shim_lines(function, letter):
    params = [declare("double" if p["type"] in WIDE else p["type"], p["name"]) for p in function["params"]]
    passed = [f"({p['type']}){p['name']}" if p["type"] in WIDE else p["name"] for p in function["params"]]
    result = function["result"]
    kind = f"{result['type']} *" if result["role"] == "handle" else result["type"]
    kind = "double" if kind in WIDE else kind
    name = short(function["name"])
    call = f"{function['calls']}({', '.join(passed)})"
    if kind == "double":
        call = f"(double){call}"
    declared = declare(kind, f"flat_{name}({', '.join(params) or 'void'})")
    yield f'\nEXPORT("{letter}")\n{declared} {{\n    {"" if kind == "void" else "return "}{call};\n}}'


HEAD = f"""// The flat layer over WebAssembly. {NOTICE}

import {{ checkBytes, checkI32, checkText, checkU32, checkWhole, readOptions }} from "./core.js";
"""


def option_lines(model):
    structs, bits = structs_by_name(model), {"uint32_t": 32, "uint64_t": 64, "chordal_time": 64}
    for function in javascript_functions(model):
        for argument in function["arguments"]:
            if argument["role"] == "options":
                struct = structs[argument["type"]]
                yield f"\nconst {short(struct['name'])}_fields = ["
                for field in option_fields(struct, texts=False):
                    big = "true" if field["type"] == "uint64_t" else "false"
                    yield f'  ["{field["name"]}", {field["offset32"]}, {bits[field["type"]]}, {big}],'
                yield "];"


class Wrapper:
    """One function: the checks, the copies in, the call, the result."""

    def __init__(self, function, structs, letter):
        self.function, self.structs, self.letter = function, structs, letter
        self.checks, self.sizes, self.copies, self.passed, self.places = [], [], [], [], {}
        self.outs = 0
        for position, argument in enumerate(inputs(function)):
            argument["position"] = position + 1
        for argument in function["arguments"]:
            role = argument["role"] if argument["role"] not in ("id", "time", "u64", "u32", "i32") else "scalar"
            getattr(self, role)(argument, javascript_name(argument))

    def check(self, argument, name):
        self.checks.append(f"{CHECKS[argument['role']]}({name}, {argument['position']});")

    def scalar(self, argument, name):
        self.check(argument, name)
        self.passed.append(name)

    def handle(self, argument, name):
        quiet = self.function["result"]["role"] == "none"
        method = "close" if argument.get("own") else "quietly" if quiet else "pointer"
        target = f"{name}_at"
        self.checks.append(
            f'const {target} = core.{method}({name}, "{short(argument["type"])}", {argument["position"]});'
        )
        if quiet:
            self.guard = target
        self.passed.append(target)

    def text(self, argument, name):
        self.check(argument, name)
        self.sizes.append(f"3 * {name}.length + 8")
        self.copies += [f"const {name}_at = core.at;", f"const {name}_len = core.putText({name});"]
        self.passed += [f"{name}_at", f"{name}_len"]

    def bytes(self, argument, name):
        self.check(argument, name)
        self.sizes.append(f"{name}.length + 8")
        self.copies.append(f"const {name}_at = core.putBytes({name});")
        self.passed += [f"{name}_at", f"{name}.length"]

    def options(self, argument, name):
        struct = self.structs[argument["type"]]
        fields = f"{short(struct['name'])}_fields"
        self.checks.append(f"const given = readOptions({name}, {fields}, {argument['position']});")
        self.sizes.append(f"{struct['size32']} + 8")
        self.copies.append(f"const {name}_at = core.putOptions(given, {struct['size32']}, {fields});")
        self.passed.append(f"{name}_at")

    def place(self, argument, count=1):
        self.places[argument["name"]] = self.outs
        self.outs += count
        assert self.outs <= OUT_PLACES, self.function["name"]
        return f"core.out({self.outs - count})"

    def buffer(self, argument, name):
        self.check(argument, name)
        self.sizes.append(f"{name}.length + 8")
        self.copies.append(f"const {name}_at = core.space({name}.length);")
        self.passed += [f"{name}_at", f"{name}.length", self.place(argument)]

    def out(self, argument, name):
        self.passed.append(self.place(argument))

    out_handle = out

    def out_view(self, argument, name):
        self.passed.append(self.place(argument, 2))
        self.passed.append(f"core.out({self.outs - 1})")

    def out_bytes(self, argument, name):
        self.passed.append(self.place(argument, argument["length"] // 8))

    def out_struct(self, argument, name):
        size = self.structs[argument["type"]]["size32"]
        self.passed.append(self.place(argument, size // 8))
        if len(argument["params"]) == 2:
            self.passed.append(str(size))

    def error(self, argument, name):
        self.passed.append("error")

    def give(self, argument):
        at, role = self.places[argument["name"]], argument["role"]
        if role == "buffer":
            name = javascript_name(argument)
            return f"core.give({name}, {name}_at, core.word({at}))"
        if role == "out_handle":
            return f'core.open("{short(argument["type"])}", core.word({at}))'
        if role == "out_view":
            return f"core.copy(core.word({at}), core.word({at + 1}))"
        if role == "out_bytes":
            return f"core.copy(core.out({at}), {argument['length']})"
        if role == "out_struct":
            return self.struct(argument, at)
        return {"id": "core.number({})", "time": "core.number({})", "u64": "core.bigint({})"}.get(
            argument["of"], "core.word({})"
        ).format(at)

    def struct(self, argument, at):
        fields = self.structs[argument["type"]]["fields"]
        return "{ " + ", ".join(f"{f['name']}: core.bigint({at + f['offset32'] // 8})" for f in fields) + " }"

    def result(self):
        outs = outputs(self.function)
        if len(outs) == 1:
            return self.give(outs[0])
        fields = (f"{'len' if out['role'] == 'buffer' else out['name']}: {self.give(out)}" for out in outs)
        return "{ " + ", ".join(fields) + " }"

    def result_lines(self):
        function = self.function
        call = f"x.{self.letter}({', '.join(self.passed)})"
        role, outs = function["result"]["role"], outputs(function)
        if role == "none":
            yield f"      if ({self.guard} !== 0) {call};"
        elif role == "code":
            checked = "checkRoom" if any(out["role"] == "buffer" for out in outs) else "check"
            yield f"      core.{checked}({call});"
            if outs:
                yield f"      const result = {self.result()};\n      core.end();\n      return result;"
            else:
                yield "      core.end();"
        else:
            kind = short(function["result"]["type"] or "")
            given = {
                "cstring": f"core.text({call})",
                "handle": f'core.open("{kind}", {call})',
                "u64": f"BigInt.asUintN(64, {call})",
            }
            yield f"      return {given.get(role, call)};"

    def lines(self):
        params = ", ".join(javascript_name(argument) for argument in inputs(self.function))
        yield f"    {short(self.function['name'])}({params}) {{"
        yield from (f"      {check}" for check in self.checks)
        if self.function["name"] in ABSENT:
            yield "      throw new core.errorClass(-11, 0, '');\n    },"
            return
        if self.function["name"] in ABOVE:
            yield f"      return {ABOVE[self.function['name']]};\n    }},"
            return
        needed = " + ".join(self.sizes) or "0"
        if "error" in self.passed:
            yield f"      const error = core.reserve({needed});"
        elif self.sizes or self.outs:
            yield f"      core.reserve({needed});"
        yield from (f"      {copy}" for copy in self.copies)
        yield from self.result_lines()
        yield "    },"


def flat_lines(model):
    structs = structs_by_name(model)
    yield HEAD + "\n".join(option_lines(model))
    yield "\nexport function makeFlat(core) {\n  const x = core.exports;\n  return {"
    yield "    use_error(type) {"
    yield '      if (typeof type !== "function") throw new TypeError("argument 1 is not a class");'
    yield "      core.errorClass = type;\n    },"
    letters, _ = exported(model)
    for function in javascript_functions(model):
        yield from Wrapper(function, structs, letters.get(function["name"])).lines()
    yield "  };\n}"


def emit(model):
    letters, functions = exported(model)
    shim = [line for function in functions for line in shim_lines(function, letters[function["name"]])]
    return {
        "wasm/shim.c": SHIM + "\n".join(shim) + "\n",
        "wasm/flat.js": "\n".join(flat_lines(model)) + "\n",
    }
