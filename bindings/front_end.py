"""The front end: reads the public headers with libclang and makes the model that all emitters work from.

Nothing else in the repository knows libclang. The model holds no addresses, absolute paths or times, so the
same headers always give the same bytes. Layouts are taken for a 64-bit and a 32-bit machine.
"""

import json
import re
from pathlib import Path

from clang.cindex import CursorKind, Index, TokenKind, TranslationUnit

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "core" / "include"
TARGETS = {"64": "x86_64-unknown-linux-gnu", "32": "wasm32-unknown-unknown"}


def stdint(bits):
    """The signed and the unsigned type of one width, with the macros for their constants."""
    text = ""
    for name, suffix in [("INT", ""), ("UINT", "U")]:
        suffix += "LL" if bits == 64 else ""
        text += f"typedef __{name}{bits}_TYPE__ {name.lower()}{bits}_t;\n"
        text += f"#define {name}{bits}_C(value) value{suffix and '##' + suffix}\n"
    return text


# The two system headers that the public ones include, so that the result depends on no machine's own.
SYSTEM_HEADERS = {
    "stddef.h": "typedef __SIZE_TYPE__ size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "".join(stdint(bits) for bits in (8, 16, 32, 64)),
}

SCALARS = {
    "chordal_id": "id",
    "chordal_time": "time",
    "uint32_t": "u32",
    "int32_t": "i32",
    "uint64_t": "u64",
    "int64_t": "i64",
    "size_t": "size",
    "double": "double",
}

# Types that JavaScript does not see: it copies what it sends, and builds its drafts of documents itself; of the core's
# transactions it has the rows.
C_ONLY_TYPES = {"chordal_cursor", "chordal_transaction", "chordal_piece"}
ROWS_HEADER = "chordal/table.h"
OF_ROWS = {"chordal_transaction_begin", "chordal_transaction_commit", "chordal_transaction_abort"}


def parse(target, text):
    """One translation unit over `text`, for one target."""
    unsaved = [(f"/system/{name}", body) for name, body in SYSTEM_HEADERS.items()] + [("/system/model.c", text)]
    unit = Index.create().parse(
        "/system/model.c",
        args=[
            "-std=c11",
            "-nostdinc",
            "-fparse-all-comments",
            f"--target={TARGETS[target]}",
            "-I/system",
            f"-I{INCLUDE}",
        ],
        unsaved_files=unsaved,
        options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )
    faults = [str(fault) for fault in unit.diagnostics if fault.severity >= 3]
    if faults:
        raise SystemExit("\n".join(faults))
    return unit


def header_of(cursor):
    """The public header that a cursor stands in, relative to the include folder, or None."""
    file = cursor.location.file
    path = Path(file.name) if file else None
    return path.relative_to(INCLUDE).as_posix() if path and path.is_relative_to(INCLUDE) else None


def clean(comment):
    """The words of a C comment, without its marks or those of a macro's next line; indented blocks stay so."""
    if not comment:
        return ""
    body = re.sub(r"^/\*+<?|\*/$|[ \t]*\\$", "", comment.strip(), flags=re.M)
    lines = [re.sub(r"^\s*\* ?", "", line) if i else line for i, line in enumerate(body.splitlines())]
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    cut = min(indents, default=0)
    lines = [lines[0].strip()] + [line[cut:].rstrip() for line in lines[1:]] if lines else []
    return "\n".join(lines).strip()


class Macros:
    """The macros of the public headers, as tokens."""

    def __init__(self, unit):
        self.tokens, self.headers, self.lines = {}, {}, {}
        for cursor in unit.cursor.get_children():
            if cursor.kind == CursorKind.MACRO_DEFINITION and header_of(cursor):
                tokens = list(cursor.get_tokens())
                self.tokens[cursor.spelling] = tokens[1:]
                self.headers[cursor.spelling] = header_of(cursor)
                self.lines[cursor.spelling] = (cursor.extent.start.line, cursor.extent.end.line)

    def words(self, name):
        return [token.spelling for token in self.tokens[name] if token.kind != TokenKind.COMMENT]

    def is_function(self, name):
        """Whether a macro has arguments: a parenthesis right behind the name."""
        tokens = self.tokens[name]
        line = source_lines(self.headers[name])[self.lines[name][0] - 1]
        return bool(tokens) and f"{name}(" in line

    def rows(self, name, call):
        """The rows of a table macro: every `call(…)` in it with its arguments and the comment behind it."""
        rows, current = [], None
        for token in self.tokens[name][3:]:  # behind the macro's own parameter, as in "(X)"
            word = token.spelling
            if token.kind == TokenKind.COMMENT:
                if rows:
                    rows[-1]["comment"] = clean(word)
            elif word == call and current is None:
                current = {"words": [""], "depth": 0}
            elif current is not None:
                self.row_word(current, word)
                if current["depth"] == 0:
                    rows.append({"words": current["words"], "comment": ""})
                    current = None
        return rows

    @staticmethod
    def row_word(row, word):
        if word == "(":
            row["depth"] += 1
        elif word == ")":
            row["depth"] -= 1
        elif word == ",":
            row["words"].append("")
        else:
            row["words"][-1] += word


def source_lines(header):
    return (INCLUDE / header).read_text().splitlines()


def comment_beside(header, first, last):
    """The comment on the last line of a macro or right after it, else the one that ends on the line before it."""
    lines = source_lines(header)
    match = re.search(r"/\*.*?\*/", "\n".join(lines[first - 1 : last + 4]), re.S)
    if match and "\n" not in "\n".join(lines[first - 1 : last + 4])[: match.start()].replace("\\\n", ""):
        return clean(match.group())
    return comment_above(header, first)


def comment_above(header, line, over_macros=False):
    """The comment that ends right above a line, or above the macros that stand between."""
    lines = source_lines(header)[: line - 1]
    while over_macros and lines and re.match(r"#define [^\\]*$", lines[-1]):
        lines.pop()
    if not lines or not lines[-1].rstrip().endswith("*/") or not lines[-1].strip():
        return ""
    start = len(lines) - 1
    while start >= 0 and "/*" not in lines[start]:
        start -= 1
    text = "\n".join(lines[start:])
    return clean(text) if text.lstrip().startswith("/*") else ""


def constants(macros):
    """Numbers and words that are defined by plain macros. The compiler evaluates them."""
    names = [
        name
        for name in macros.tokens
        if name.startswith("CHORDAL_") and not macros.is_function(name) and macros.words(name)
    ]
    words = {name: macros.words(name) for name in names}
    text = {name: json.loads(w[0]) for name, w in words.items() if len(w) == 1 and w[0].startswith('"')}
    numbers = [name for name in names if name not in text and is_number(macros, name)]
    source = include_lines() + "".join(f"enum {{ evaluated_{name} = {name} }};\n" for name in numbers)
    values = {}
    for cursor in parse("64", source).cursor.get_children():
        if cursor.kind == CursorKind.ENUM_DECL:
            for child in cursor.get_children():
                values[child.spelling] = child.enum_value
    return [
        {
            "name": name,
            "header": macros.headers[name],
            "value": text[name] if name in text else values[f"evaluated_{name}"],
            "comment": comment_beside(macros.headers[name], *macros.lines[name]),
        }
        for name in sorted(text | dict.fromkeys(numbers))
    ]


def is_number(macros, name):
    words = macros.words(name)
    return bool(re.fullmatch(r"(0x)?[0-9a-fA-F]+[uUlL]*", words[0])) or words[0] in ("UINT64_C", "UINT32_C")


def errors(macros):
    return [
        {"name": w[0], "value": int(w[1]), "text": json.loads(w[2])}
        for w in (row["words"] for row in macros.rows("CHORDAL_ERRORS", "X"))
    ]


def operations(macros):
    return [
        {"name": w[0], "letter": w[1].strip("'"), "value": int(w[2]), "arguments": json.loads(w[3]).split()}
        for w in (row["words"] for row in macros.rows("CHORDAL_OPS", "OP"))
    ]


def counters(macros):
    return [{"name": row["words"][0], "comment": row["comment"]} for row in macros.rows("CHORDAL_COUNTERS", "COUNT")]


def layout(declaration):
    """Fields of one structure with their offsets, for the target it was parsed for."""
    record = declaration.type
    fields = [
        {
            "name": field.spelling,
            "type": field.type.spelling,
            "offset": record.get_offset(field.spelling) // 8,
            "size": field.type.get_size(),
            "comment": clean(field.raw_comment),
        }
        for field in record.get_fields()
    ]
    return {"size": record.get_size(), "fields": fields}


def structures(units):
    """Structures with both layouts, and the names of the opaque ones."""
    found, opaque = {}, {}
    for target, unit in units.items():
        for cursor in unit.cursor.get_children():
            if cursor.kind != CursorKind.STRUCT_DECL or not header_of(cursor):
                continue
            if cursor.is_definition():
                entry = found.setdefault(
                    cursor.spelling,
                    {"header": header_of(cursor), "line": cursor.location.line, "comment": clean(cursor.raw_comment)},
                )
                entry[target] = layout(cursor)
            else:
                opaque.setdefault(cursor.spelling, header_of(cursor))
    opaque = {name: header for name, header in opaque.items() if name not in found and name.startswith("chordal")}
    return found, opaque


def merged(name, entry):
    narrow = {field["name"]: field for field in entry["32"]["fields"]}
    fields = [
        dict(field, offset32=narrow[field["name"]]["offset"], size32=narrow[field["name"]]["size"])
        for field in entry["64"]["fields"]
    ]
    return {
        "name": name,
        "header": entry["header"],
        "size": entry["64"]["size"],
        "size32": entry["32"]["size"],
        "comment": entry["comment"],
        "fields": fields,
    }


def events(macros, found):
    """The event records: number, comment and fields with offsets (the same for every target)."""
    result = []
    for row in macros.rows("CHORDAL_EVENTS", "EVENT"):
        name, number, _ = row["words"]
        entry = found[f"chordal_event_{name}"]
        assert entry["64"] == entry["32"], f"event {name} is laid out differently on 32-bit machines"
        fields = [
            {"name": field["name"], "type": field["type"].removeprefix("chordal_field_"), "offset": field["offset"]}
            for field in entry["64"]["fields"][1:]
        ]
        macro = f"CHORDAL_EVENT_{name}_FIELDS"
        result.append(
            {
                "name": name,
                "value": int(number),
                "size": entry["64"]["size"],
                "fields": fields,
                "comment": comment_above("chordal/record.h", macros.lines[macro][0]),
            }
        )
    return result


def declaration_line(cursor):
    """The source line with the function's name; the marks before the name stand on it."""
    return source_lines(header_of(cursor))[cursor.location.line - 1]


def owned(cursor):
    """Which parameters (by position; -1 the result) are marked CHORDAL_OWN in the source."""
    text = "\n".join(source_lines(header_of(cursor))[cursor.location.line - 1 :])
    result, params = text.split(";", 1)[0].split("(", 1)
    marks = {at for at, param in enumerate(params.split(",")) if "CHORDAL_OWN" in param}
    return marks | ({-1} if "CHORDAL_OWN" in result else set())


def handle_type(spelling):
    match = re.fullmatch(r"(?:const )?(chordal_\w+) \*", spelling)
    return match.group(1) if match else None


class Grouper:
    """Turns C parameters into arguments: what they mean together (docs: bindings/README.md)."""

    def __init__(self, params, marks, opaque):
        self.params, self.marks, self.opaque = params, marks, opaque
        self.at = 0

    def spelled(self, ahead):
        position = self.at + ahead
        return self.params[position] if position < len(self.params) else {"name": "", "type": ""}

    def take(self, role, count, **more):
        names = [param["name"] for param in self.params[self.at : self.at + count]]
        first, own = names[0], self.at in self.marks
        self.at += count
        entry = {"role": role, "name": first.removeprefix("out_") if first != "out" else "out", "params": names, **more}
        return dict(entry, own=True) if own else entry

    def next(self):
        here, then, third = self.spelled(0), self.spelled(1), self.spelled(2)
        name, spelling = here["name"], here["type"]
        counted = then["type"] == "size_t" and then["name"] == f"{name}_len"
        if spelling == "chordal_error *":
            return self.take("error", 1)
        if counted and third["type"] == "size_t *" and not spelling.startswith("const "):
            return self.take("buffer", 3, of=spelling.removesuffix(" *"))
        if counted:
            return self.counted(spelling)
        if name.startswith("out"):
            return self.out(spelling, then)
        return self.plain(spelling)

    def counted(self, spelling):
        roles = {
            "const char *": "text",
            "const uint8_t *": "bytes",
            "const uint32_t *": "numbers",
            "char *": "out_text",
        }
        if spelling in roles:
            return self.take(roles[spelling], 2)
        return self.take("out_struct" if handle_type(spelling) else "unknown", 2, type=handle_type(spelling))

    def out(self, spelling, then):
        target = spelling.removesuffix("*").rstrip()
        if spelling in ("const uint8_t **", "const char **") and then["type"] == "size_t *":
            return self.take("out_view", 2)
        if self.spelled(0)["name"] == "out16":
            return self.take("out_bytes", 1, length=16)
        if target in SCALARS:
            return self.take("out", 1, of=SCALARS[target])
        if handle_type(target):
            return self.take("out_handle", 1, type=handle_type(target))
        return self.take("out_struct", 1, type=handle_type(spelling))

    def plain(self, spelling):
        if spelling in SCALARS:
            return self.take(SCALARS[spelling], 1)
        if spelling == "const char *":
            return self.take("cstring", 1)
        type_name = handle_type(spelling)
        if type_name in self.opaque:
            return self.take("handle", 1, type=type_name)
        if type_name and type_name.endswith("_options"):
            return self.take("options", 1, type=type_name)
        return self.take("struct", 1, type=type_name) if type_name else self.take("unknown", 1)

    def all(self):
        result = []
        while self.at < len(self.params):
            result.append(self.next())
        return result


def result_role(cursor, own):
    spelling = cursor.result_type.spelling
    roles = {"int": "code", "void": "none", "const char *": "cstring", **SCALARS}
    if spelling in roles:
        return {"role": roles[spelling], "type": spelling}
    return {"role": "handle", "type": handle_type(spelling), "own": own}


def function(cursor, aliases, opaque):
    marks = owned(cursor)
    params = [{"name": param.spelling, "type": param.type.spelling} for param in cursor.get_arguments()]
    symbol = cursor.spelling
    name = aliases.get(symbol, symbol)
    arguments = Grouper(params, marks, opaque).all()
    used = {argument.get("type") for argument in arguments} | {handle_type(param["type"]) for param in params}
    header = header_of(cursor)
    of_rows = header == ROWS_HEADER or name in OF_ROWS
    c_only = (bool(used & C_ONLY_TYPES) and not of_rows) or header not in main_headers()
    return {
        "name": name,
        "symbol": symbol,
        "header": header,
        "params": params,
        "result": result_role(cursor, -1 in marks),
        "arguments": arguments,
        "surface": "c" if c_only else "all",
        "comment": clean(cursor.raw_comment) or comment_above(header, cursor.location.line, over_macros=True),
    }


def functions(unit, macros, opaque):
    """Every exported function. A macro that maps a name to a symbol (the ABI epoch) is undone."""
    aliases = {
        macros.words(name)[0]: name
        for name in macros.tokens
        if name.startswith("chordal_") and len(macros.words(name)) == 1
    }
    return [
        function(cursor, aliases, opaque)
        for cursor in unit.cursor.get_children()
        if cursor.kind == CursorKind.FUNCTION_DECL
        and header_of(cursor)
        and declaration_line(cursor).startswith("CHORDAL_API ")
    ]


def main_headers():
    """The headers that chordal.h includes, in its order. Others are for C alone."""
    return re.findall(r'#include "(chordal/\w+\.h)"', (INCLUDE / "chordal.h").read_text())


def all_headers():
    others = {path.relative_to(INCLUDE).as_posix() for path in INCLUDE.glob("chordal/*.h")} - set(main_headers())
    return main_headers() + sorted(others)


def include_lines():
    return "".join(f'#include "{name}"\n' for name in all_headers())


def header_comments():
    """What each header says about itself."""
    return [
        {
            "name": name,
            "main": name in main_headers(),
            "comment": clean(re.match(r"/\*.*?\*/", (INCLUDE / name).read_text(), re.S).group()),
        }
        for name in all_headers()
    ]


def build():
    units = {target: parse(target, include_lines()) for target in TARGETS}
    macros = Macros(units["64"])
    found, opaque = structures(units)
    plain = {name: entry for name, entry in found.items() if not name.startswith("chordal_event_")}
    calls = functions(units["64"], macros, opaque)
    values = constants(macros)
    version = next(entry["value"] for entry in values if entry["name"] == "CHORDAL_VERSION")
    abi = next(entry["value"] for entry in values if entry["name"] == "CHORDAL_ABI")
    return {
        "version": version,
        "abi": abi,
        "headers": header_comments(),
        "opaque": [{"name": name, "header": opaque[name]} for name in sorted(opaque)],
        "constants": values,
        "errors": errors(macros),
        "events": events(macros, found),
        "operations": operations(macros),
        "counters": counters(macros),
        "structs": [merged(name, plain[name]) for name in sorted(plain)],
        "functions": sorted(calls, key=lambda call: call["name"]),
    }


if __name__ == "__main__":
    print(json.dumps(build(), indent=1, ensure_ascii=False))
