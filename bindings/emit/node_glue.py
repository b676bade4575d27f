"""node/glue/glue.c: the functions of the Node addon, over addon.h."""

from .common import (
    NOTICE,
    TEXT,
    inputs,
    javascript_functions,
    option_fields,
    option_texts,
    outputs,
    short,
    structs_by_name,
)

SCALARS = {"id": "u64", "time": "u64", "u64": "u64", "u32": "u32", "i32": "i32"}
C_TYPES = {
    "id": "chordal_id",
    "time": "chordal_time",
    "u32": "uint32_t",
    "i32": "int32_t",
    "size": "size_t",
    "u64": "uint64_t",
}
GIVERS = {
    "id": "give_number(&call, (double){})",
    "time": "give_number(&call, (double){})",
    "size": "give_number(&call, (double){})",
    "u32": "give_number(&call, {})",
    "i32": "give_i32(&call, {})",
    "u64": "give_u64(&call, {})",
    "cstring": "give_text(&call, {})",
}

HEAD = f"""/* glue.c: the functions of the Node addon. {NOTICE} */
/* clang-format off */
#include <string.h>

#include "addon.h"

"""


def kind(type_name):
    return f"KIND_{short(type_name).upper()}"


def kinds(model):
    """Handle types, each with the function that takes one and answers nothing."""
    names = sorted(
        {
            argument["type"]
            for function in javascript_functions(model)
            for argument in function["arguments"]
            if argument["role"] == "handle"
        }
    )
    closers = {
        function["arguments"][0]["type"]: function["calls"]
        for function in javascript_functions(model)
        if function["result"]["role"] == "none"
        and len(function["arguments"]) == 1
        and function["arguments"][0].get("own")
    }
    return [(name, closers[name]) for name in names]


def kind_lines(model):
    rows = kinds(model)
    yield "enum { " + ", ".join(kind(name) for name, _ in rows) + " };\n"
    for name, closer in rows:
        yield f"static void close_{short(name)}(void *pointer) {{\n    {closer}(pointer);\n}}\n"
    yield "const addon_kind addon_kinds[] = {"
    yield from (f'    {{"{short(name)}", close_{short(name)}}},' for name, _ in rows)
    yield "};\n"


def option_lines(model):
    structs, types = (
        structs_by_name(model),
        {"uint32_t": "OPTION_U32", "uint64_t": "OPTION_U64", "chordal_time": "OPTION_TIME", TEXT: "OPTION_TEXT"},
    )
    for function in javascript_functions(model):
        for argument in function["arguments"]:
            if argument["role"] == "options":
                name = argument["type"]
                yield f"static const option_field {short(name)}_fields[] = {{"
                for field in option_fields(structs[name]):
                    yield f'    {{"{field["name"]}", offsetof({name}, {field["name"]}), {types[field["type"]]}}},'
                yield "};\n"


class Wrapper:
    """One function: its variables, the readers, the call, the result."""

    def __init__(self, function, structs):
        self.function, self.structs = function, structs
        self.variables, self.reads, self.passed, self.frees = [], [], [], []
        for position, argument in enumerate(inputs(function)):
            argument["position"] = position
        for argument in function["arguments"]:
            getattr(self, argument["role"] if argument["role"] not in SCALARS else "scalar")(argument)

    def scalar(self, argument):
        name, reader = f"in_{argument['name']}", SCALARS[argument["role"]]
        self.variables.append(f"{'uint64_t' if reader == 'u64' else C_TYPES[argument['role']]} {name} = 0;")
        self.reads.append(f"read_{reader}(&call, {argument['position']}, &{name})")
        self.passed.append(name)

    def handle(self, argument):
        name = f"in_{argument['name']}"
        quiet = self.function["result"]["role"] == "none"
        reader = "take_handle" if argument.get("own") else "read_handle_quietly" if quiet else "read_handle"
        self.variables.append(f"void *{name} = NULL;")
        self.reads.append(f"{reader}(&call, {argument['position']}, {kind(argument['type'])}, &{name})")
        self.passed.append(name)
        if quiet:
            self.guard = name

    def text(self, argument):
        name = f"in_{argument['name']}"
        self.variables.append(f"text {name};")
        self.variables.append(f"{name}.data = {name}.local;")
        self.reads.append(f"read_text(&call, {argument['position']}, &{name})")
        self.passed.append(f"{name}.data, {name}.len")
        self.frees.append(f"text_free(&{name});")

    def bytes(self, argument):
        name = f"in_{argument['name']}"
        self.variables.append(f"bytes {name};")
        self.reads.append(f"read_bytes(&call, {argument['position']}, &{name})")
        self.passed.append(f"{name}.data, {name}.len")

    def buffer(self, argument):
        self.bytes(argument)
        self.variables.append("size_t out_len = 0;")
        self.passed.append("&out_len")

    def options(self, argument):
        name, fields = f"in_{argument['name']}", f"{short(argument['type'])}_fields"
        self.variables.append(f"{argument['type']} {name};\n    bool has_{argument['name']} = false;")
        self.variables.append(f"memset(&{name}, 0, sizeof {name});\n    {name}.size = sizeof {name};")
        self.reads.append(
            f"read_options(&call, {argument['position']}, {fields}, "
            f"sizeof {fields} / sizeof *{fields}, &{name}, &has_{argument['name']})"
        )
        self.passed.append(f"has_{argument['name']} ? &{name} : NULL")
        if option_texts(self.structs[argument["type"]]):
            self.frees.append(f"options_free({fields}, sizeof {fields} / sizeof *{fields}, &{name});")

    def out(self, argument):
        self.variables.append(f"{C_TYPES[argument['of']]} out_{argument['name']} = 0;")
        self.passed.append(f"&out_{argument['name']}")

    def out_handle(self, argument):
        self.variables.append(f"{argument['type']} *out_{argument['name']} = NULL;")
        self.passed.append(f"&out_{argument['name']}")

    def out_view(self, argument):
        self.variables.append(f"const uint8_t *out_{argument['name']} = NULL;\n    size_t out_len = 0;")
        self.passed.append(f"&out_{argument['name']}, &out_len")

    def out_bytes(self, argument):
        self.variables.append(f"uint8_t out_{argument['name']}[{argument['length']}];")
        self.passed.append(f"out_{argument['name']}")

    def out_struct(self, argument):
        name = f"out_{argument['name']}"
        self.variables.append(f"{argument['type']} {name};\n    memset(&{name}, 0, sizeof {name});")
        self.passed.append(f"&{name}" + (f", sizeof {name}" if len(argument["params"]) == 2 else ""))

    def error(self, argument):
        self.passed.append("&call.error")

    def give(self, argument):
        name, role = f"out_{argument['name']}", argument["role"]
        if role == "buffer":
            return "give_number(&call, (double)out_len)"
        if role == "out_handle":
            return f"give_handle(&call, {kind(argument['type'])}, {name})"
        if role == "out_view":
            return f"give_bytes(&call, {name}, out_len)"
        if role == "out_bytes":
            return f"give_bytes(&call, {name}, sizeof {name})"
        if role == "out_struct":
            return f"give_{short(argument['type'])}(&call, &{name})"
        return GIVERS[argument["of"]].format(name)

    def give_several(self, outs):
        tests = []
        for out in outs:
            key = "len" if out["role"] == "buffer" else out["name"]
            tests.append(f'!give_field(&call, result, "{key}", {self.give(out)})')
        joined = " ||\n            ".join(tests)
        yield f"        if (result && ({joined}))\n            result = NULL;"

    def result_lines(self):
        call = f"{self.function['calls']}({', '.join(self.passed)})"
        role, outs = self.function["result"]["role"], outputs(self.function)
        if role == "none":
            yield f"        if ({self.guard}) {call};"
        elif role == "handle":
            yield f"        result = give_handle(&call, {kind(self.function['result']['type'])}, {call});"
        elif role != "code":
            yield f"        result = {GIVERS[role].format(call)};"
        else:
            yield from self.code_lines(call, outs)

    def code_lines(self, call, outs):
        room = any(out["role"] == "buffer" for out in outs)
        failed = "code < 0 && code != CHORDAL_E_ROOM" if room else "code < 0"
        yield f"        int code = {call};"
        if len(outs) > 1:
            yield f"        result = {failed} ? give_error(&call, code) : give_object(&call);"
            yield from self.give_several(outs)
        else:
            given = self.give(outs[0]) if outs else "give_nothing(&call)"
            yield f"        result = {failed} ? give_error(&call, code) : {given};"

    def lines(self):
        yield f"static napi_value flat_{short(self.function['name'])}(napi_env env, napi_callback_info info) {{"
        yield "    frame call;\n    napi_value result = NULL;"
        yield from (f"    {variable}" for variable in sorted(self.variables, key=lambda v: v.startswith("in_")))
        tests = " &&\n        ".join(["frame_open(&call, env, info)"] + self.reads)
        yield f"    if ({tests}) {{"
        yield from self.result_lines()
        yield "    }"
        yield from (f"    {free}" for free in self.frees)
        yield "    return result;\n}\n"


def struct_lines(model):
    """A structure of 64-bit numbers as an object."""
    structs = structs_by_name(model)
    names = sorted(
        {
            argument["type"]
            for function in javascript_functions(model)
            for argument in function["arguments"]
            if argument["role"] == "out_struct"
        }
    )
    for name in names:
        fields = structs[name]["fields"]
        assert all(field["type"] == "uint64_t" for field in fields), f"{name} holds more than numbers"
        yield f"static napi_value give_{short(name)}(frame *call, const {name} *from) {{"
        yield "    napi_value object = give_object(call);"
        tests = " ||\n        ".join(
            f'!give_field(call, object, "{field["name"]}", give_u64(call, from->{field["name"]}))' for field in fields
        )
        yield f"    if ({tests})\n        return NULL;\n    return object;\n}}\n"


def emit(model):
    structs, functions = structs_by_name(model), list(javascript_functions(model))
    lines = list(kind_lines(model)) + list(option_lines(model)) + list(struct_lines(model))
    for function in functions:
        lines += Wrapper(function, structs).lines()
    lines.append("static const napi_property_descriptor flat_functions[] = {")
    lines += [f'    {{.utf8name = "{short(f["name"])}", .method = flat_{short(f["name"])}}},' for f in functions]
    lines.append("};\n\nNAPI_MODULE_INIT() {")
    lines.append("    return addon_open(env, exports, flat_functions, sizeof flat_functions / sizeof *flat_functions);")
    return {"node/glue/glue.c": HEAD + "\n".join(lines) + "\n}\n"}
