"""The protocol, once more and naively: values, ops, changes, snapshots and messages to bytes, after docs/protocol.md.

Shares nothing with the core. Native values are Python's; a lone surrogate is a str with one in it.
"""

import struct
import zlib

# ---- values ----


def utf8(text):
    """UTF-8 with lone surrogates in three bytes; pairs are one code point."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return joined.encode("utf-8", "surrogatepass")


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def canonical(number):
    """A double that is an integer of magnitude up to 2^53 is that integer."""
    if isinstance(number, float) and number.is_integer() and abs(number) <= 2**53:
        return int(number)
    return number


def sized(number, heads):
    """The first of (head, bytes) that holds the number."""
    for head, size in heads:
        if number < 1 << 8 * size:
            return bytes([head]) + number.to_bytes(size, "big")
    raise ValueError(number)


def pack_integer(number):
    if 0 <= number < 0x80:
        return bytes([number])
    if number >= 0:
        return sized(number, [(0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)])
    if number >= -32:
        return bytes([number + 0x100])
    for head, size in [(0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)]:
        if number >= -(1 << 8 * size - 1):
            return bytes([head]) + number.to_bytes(size, "big", signed=True)
    raise ValueError(number)


def pack_head(count, fix, fix_end, heads):
    return bytes([fix | count]) if count < fix_end else sized(count, heads)


def pack(value):
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, (int, float)):
        value = canonical(value)
        return pack_integer(value) if isinstance(value, int) else b"\xcb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return sized(len(value), [(0xC4, 1), (0xC5, 2), (0xC6, 4)]) + value
    if isinstance(value, str):
        data = utf8(value)
        return pack_head(len(data), 0xA0, 32, [(0xD9, 1), (0xDA, 2), (0xDB, 4)]) + data
    if isinstance(value, list):
        return pack_head(len(value), 0x90, 16, [(0xDC, 2), (0xDD, 4)]) + b"".join(map(pack, value))
    head = pack_head(len(value), 0x80, 16, [(0xDE, 2), (0xDF, 4)])
    return head + b"".join(pack(key) + pack(member) for key, member in value.items())


ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_string(text):
    out = []
    for letter in utf8(text).decode("utf-8", "surrogatepass"):
        if letter in ESCAPES:
            out.append(ESCAPES[letter])
        elif letter < " " or "\ud800" <= letter <= "\udfff":
            out.append(f"\\u{ord(letter):04x}")
        else:
            out.append(letter)
    return '"' + "".join(out) + '"'


def json_double(number):
    mantissa, _, exponent = f"{number!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    while digits.startswith("0"):
        digits, point = digits[1:], point - 1
    digits = digits.rstrip("0")
    if point < len(digits) and point >= -5:
        if point > 0:
            return f"{sign}{digits[:point]}.{digits[point:]}"
        return f"{sign}0.{'0' * -point}{digits}"
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1}"


def json(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        value = canonical(value)
        return str(value) if isinstance(value, int) else json_double(value)
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(json, value)) + "]"
    return "{" + ",".join(json_string(key) + ":" + json(member) for key, member in value.items()) + "}"


def canonical_bytes(value):
    """What the digest goes over."""
    if value is None:
        return b"n"
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, (int, float)):
        value = canonical(value)
        return b"i%d" % value if isinstance(value, int) else b"d" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"s%d:%s" % (len(utf8(value)), utf8(value))
    if isinstance(value, list):
        return b"[" + b"".join(map(canonical_bytes, value)) + b"]"
    keys = sorted(value, key=utf8)
    return b"{" + b"".join(canonical_bytes(key) + canonical_bytes(value[key]) for key in keys) + b"}"


def digest(value):
    state = 0xCBF29CE484222325
    for byte in canonical_bytes(value):
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return f"{state:016x}"


# ---- ops ----


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def text(string):
    return varint(len(utf8(string))) + utf8(string)


def path_bytes(path):
    out = varint(len(path))
    for segment in path:
        if isinstance(segment, str):
            out += varint(len(utf8(segment)) * 2 + 1) + utf8(segment)
        else:
            out += varint(segment * 2)
    return out


NUMBERS = {"replace": 0, "set": 1, "delete": 2, "append": 3, "truncate": 4, "splice": 5, "permute": 6}
OTHERS = {"define": 0, "error": 1, "assign": 2, "generation": 3}
LETTERS = dict(
    replace="r", set="s", delete="d", append="a", truncate="t", splice="p", permute="m", define="#", error="!"
) | {"assign": "=", "generation": "*"}


def op_bytes(op, paths=()):
    """One op; `paths` is the dictionary, a list."""
    kind = op["op"]
    if kind in OTHERS:
        head = bytes([7 | OTHERS[kind] << 3])
        if kind == "error":
            return head + varint(op["member"]) + text(op["code"]) + text(op["message"])
        if kind == "generation":
            return head
        return head + path_bytes(op["path"]) + (pack(op["value"]) if kind == "assign" else b"")
    number = NUMBERS[kind]
    if op["path"] in paths:
        known = paths.index(op["path"])
        out = bytes([number | known << 3]) if known < 30 else bytes([number | 30 << 3]) + varint(known - 30)
    else:
        out = bytes([number | 31 << 3]) + path_bytes(op["path"])
    if kind in ("replace", "set"):
        out += pack(op["value"])
    elif kind == "append":
        out += text(op["text"])
    elif kind == "truncate":
        out += varint(op["count"])
    elif kind == "splice":
        out += varint(op["index"]) + varint(op["remove"]) + varint(len(op["values"]))
        out += b"".join(map(pack, op["values"]))
    elif kind == "permute":
        out += varint(len(op["indexes"])) + b"".join(map(varint, op["indexes"]))
    return out


ARGUMENTS = {
    "replace": ["value"], "set": ["value"], "assign": ["value"], "append": ["text"], "truncate": ["count"],
    "splice": ["index", "remove", "values"], "permute": ["indexes"], "error": ["code", "message"],
}  # fmt: skip


def op_elements(op, paths=()):
    out = [LETTERS[op["op"]]]
    if op["op"] == "error":
        out.append(op["member"])
    elif op["op"] != "generation":
        known = op["path"] in paths and op["op"] in NUMBERS
        out.append(paths.index(op["path"]) if known else op["path"])
    return out + [op[name] for name in ARGUMENTS.get(op["op"], [])]


def ops_binary(ops, paths=()):
    return b"".join(op_bytes(op, paths) for op in ops)


def ops_json(ops, paths=()):
    return json([element for op in ops for element in op_elements(op, paths)])


# ---- applying ----


def utf16(string):
    return string.encode("utf-16-le", "surrogatepass")


def from_utf16(data):
    return data.decode("utf-16-le", "surrogatepass")


def apply(members, ops):
    """The members' values after the ops; values are not changed in place."""
    root = list(members)
    for op in ops:
        if op["op"] != "error":
            root = apply_at(root, op["path"], op)
    return root


def apply_at(value, path, op):
    first, rest = path[0], path[1:]
    if rest:
        copy = list(value) if isinstance(value, list) else dict(value)
        copy[first] = apply_at(value[first], rest, op)
        return copy
    copy = list(value) if isinstance(value, list) else dict(value)
    kind = op["op"]
    if kind == "delete":
        del copy[first]
    elif kind in ("replace", "set", "assign"):
        if isinstance(copy, list) and first == len(copy):
            copy.append(op["value"])
        else:
            copy[first] = op["value"]
    else:
        copy[first] = changed(value[first], op)
    return copy


def changed(value, op):
    if op["op"] == "append":
        return from_utf16(utf16(value) + utf16(op["text"]))
    if op["op"] == "truncate":
        return from_utf16(utf16(value)[op["count"] * 2 :])
    if op["op"] == "splice":
        return value[: op["index"]] + op["values"] + value[op["index"] + op["remove"] :]
    return [value[index] for index in op["indexes"]]


# ---- the stream ----


class Stream:
    """The provider's side: the dictionary as a function of the cut."""

    RECENT = 64

    def __init__(self, limit):
        self.limit = limit
        self.cut = 0
        self.generation_cut = 0
        self.entries = []  # (path, cut)
        self.recent = []

    def paths(self):
        return [path for path, _ in self.entries]

    def commit(self, ops):
        self.cut += 1
        for op in ops:
            if op["op"] in NUMBERS:
                self.use(op["path"])

    def use(self, path):
        if path in self.paths():
            return
        if path not in self.recent:
            self.recent = (self.recent + [path])[-self.RECENT :]
            return
        self.recent[self.recent.index(path)] = None
        if len(self.entries) == self.limit:
            self.entries = []
            self.recent = []
            self.generation_cut = self.cut
        self.entries.append((path, self.cut))

    def definitions(self, begin, end):
        begins = begin < self.generation_cut <= end
        made = [path for path, cut in self.entries if cut <= end and (begins or cut > begin)]
        return [{"op": "generation"}] * begins + [{"op": "define", "path": path} for path in made]


def snapshot_binary(paths, members):
    out = varint(len(paths)) + b"".join(map(path_bytes, paths))
    for member in members:
        if member is None:
            continue
        out += bytes([("value" in member) + 2 * ("error" in member)])
        out += pack(member["value"]) if "value" in member else b""
        out += text(member["error"][0]) + text(member["error"][1]) if "error" in member else b""
    return out


def snapshot_json(paths, members):
    values = [member.get("value") for member in members if member is not None]
    told = []
    for index, member in enumerate(members):
        if member is not None and ("error" in member or "value" not in member):
            told.append([index, int("value" in member), *member.get("error", ["", ""])])
    return json([paths, values, told])


def snapshot_packed(members):
    out = []
    for index, member in enumerate(members):
        ops = []
        if member and "value" in member:
            ops.append({"op": "replace", "path": [index], "value": member["value"]})
        if member and "error" in member:
            ops.append({"op": "error", "member": index, "code": member["error"][0], "message": member["error"][1]})
        out.append(ops_binary(ops))
    return out


# ---- deflated parts ----

RATIO = 1024


def inflate(data, limit):
    """The whole part, or (code, position)."""
    most = min(limit, len(data) * RATIO)
    machine = zlib.decompressobj(-15)
    try:
        whole = machine.decompress(data, most + 1)
    except zlib.error:
        return "syntax", 0
    if len(whole) > most:
        return "too_large", 0
    if not machine.eof:
        return "truncated", len(data)
    return ("trailing", len(data) - len(machine.unused_data)) if machine.unused_data else whole


# ---- messages ----

MESSAGES = {
    "hello": (1, "NNIINP"), "welcome": (2, "NIINP"), "origin": (3, "NINNTINNNNP"), "opened": (4, "INN"),
    "lost": (5, ""), "ended": (6, "TT"), "hold": (7, "NTNNP"), "bound": (8, "NNNNPP"), "moved": (9, "NTN"),
    "failed": (10, "NTT"), "retired": (11, "N"), "revoked": (12, "NT"), "release": (13, "N"), "released": (14, "N"),
    "s": (15, "NS"), "a": (16, "NN"), "c": (17, "NNNQ"), "r": (18, "NP"), "e": (19, "NTT"), "x": (20, "N"),
    "retry": (21, "N"), "ping": (22, "N"), "pong": (23, "N"), "bye": (24, "TT"), "offer": (25, "T"), "back": (26, "NN"),
}  # fmt: skip


BITS = {"packed": 0, "raw": 1, "deflated": 2, "deflated_raw": 3}


def part_data(part):
    """(bytes, bits) of a part as it is written in a case."""
    if part is None:
        return b"", 0
    for name, bits in BITS.items():
        if name in part:
            return bytes.fromhex(part[name]), bits
    return part["json"].encode(), 0


def part_binary(part):
    data, bits = part_data(part)
    return varint(len(data) * 4 + bits) + data


def field_binary(letter, field):
    if letter == "N":
        return varint(field)
    if letter == "I":
        return bytes.fromhex(field)
    if letter == "T":
        return text(field)
    if letter == "P":
        return part_binary(field)
    if letter == "Q":
        return b"".join(map(part_binary, field))
    return b"".join(varint(hold) + part_binary(part) for hold, part in field)


def message_binary(message, current):
    number, letters = MESSAGES[message["kind"]]
    flags = message.get("flags", [])
    origin = message.get("origin", 0)
    named = origin not in (0, current)
    head = number | named << 5 | ("more" in flags) << 6 | ("durable" in flags) << 7
    out = bytes([head]) + (varint(origin) if named else b"")
    return out + b"".join(map(field_binary, letters, message["fields"]))


BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def id_text(digits):
    bits = int(digits, 16) << 4
    return "".join(BASE64[bits >> shift & 63] for shift in range(126, -1, -6))


def message_text(message, current):
    """(text, frames)."""
    _, letters = MESSAGES[message["kind"]]
    flags = message.get("flags", [])
    origin = message.get("origin", 0)
    elements, raws, frames = [], [], []
    places = 0

    def part(field):
        nonlocal places
        data, bits = part_data(field)
        if bits:
            raws.extend([places, len(data), bits])
            frames.append(data)
        places += 1
        return "0" if bits else data.decode() or "null"

    for letter, field in zip(letters, message["fields"], strict=True):
        if letter == "N":
            elements.append(str(field))
        elif letter == "I":
            elements.append(f'"{id_text(field)}"')
        elif letter == "T":
            elements.append(json_string(field))
        elif letter == "P":
            elements.append(part(field))
        elif letter == "Q":
            elements.extend(map(part, field))
        else:
            for hold, change in field:
                elements.extend([str(hold), part(change)])
    word = message["kind"] + "+" * ("more" in flags) + "!" * ("durable" in flags) + "#" * bool(raws)
    before = [str(origin)] * (origin not in (0, current)) + [f'"{word}"'] + [json(raws)] * bool(raws)
    return "[" + ",".join(before + elements) + "]", frames
