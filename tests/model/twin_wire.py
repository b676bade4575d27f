"""The cases of parts and envelopes: ops, snapshots and messages, in both codecs, whole and broken."""

import json

import twin_parts
import twin_read
from twin_cases import Differs, broken, expect, members_of
from twin_ops import any_op, from_json
from twin_values import key, p, read, same, text, value

ENCODINGS = {1: "binary", 2: "json"}
BORDERS = [0, 1, 29, 30, 31, 127, 128, 255, 16383, 16384, 2**32, 2**53 - 1]


def encoded(part, encoding):
    return part if encoding == 1 else part.encode("utf-8", "surrogatepass")


# ---- ops ----


def any_part(r, paths):
    """Ops as a part may hold them, sound or not for any value."""
    out = []
    for _ in range(r.randrange(6)):
        op = any_op(r, members_of(r), 1)
        if r.random() < 0.1:
            op = {"op": "error", "member": r.choice(BORDERS), "code": text(r) or "x", "message": text(r)}
        elif r.random() < 0.1 and paths is None:
            op = {"op": "assign", "path": op["path"], "value": value(r, 1)}
        elif r.random() < 0.2:
            op = {"op": "truncate", "path": op["path"], "count": r.choice(BORDERS)}
        elif r.random() < 0.2:
            where = {"index": r.choice(BORDERS), "remove": r.choice(BORDERS)}
            op = {"op": "splice", "path": op["path"], **where, "values": []}
        if paths and op["op"] in p.NUMBERS and op["op"] != "replace" and r.random() < 0.5:
            op["path"] = r.choice(paths)
        if op["op"] == "replace":
            op["path"] = op["path"][:1]
        if op["op"] == "permute":
            op["indexes"].sort()
            op["indexes"] = list(range(len(op["indexes"])))
        out.append(op)
    return out


def any_paths(r):
    """A dictionary, or None for the API."""
    if r.random() < 0.4:
        return None
    paths = []
    for _ in range(r.choice([0, 1, 3, 40])):
        path = [r.randrange(3)] + [r.choice([key(r), r.choice(BORDERS)]) for _ in range(r.randrange(4))]
        if path not in paths:
            paths.append(path)
    return paths


def ops_case(r):
    """Ops in one encoding, with the paths of a dictionary, are read as the same."""
    paths = any_paths(r)
    ops, encoding = any_part(r, paths), r.choice([1, 2])
    known = list(paths or [])
    change = list(ops)
    if paths is not None and r.random() < 0.3:
        begins = r.random() < 0.5
        made = [[2, "made", number] for number in range(r.randrange(4))]
        known = [] if begins else known
        change = [{"op": "generation"}] * begins + [{"op": "define", "path": path} for path in made] + ops
        known += made
    data = encoded((p.ops_binary if encoding == 1 else p.ops_json)(change, known), encoding)

    def check(answer):
        expect("ops", from_json(answer["json"]) if "json" in answer else answer, json.loads(json.dumps(ops)))
        expect("JSON", answer["json"], p.ops_json(ops))
        expect("binary", answer["binary"], p.ops_binary(ops).hex())
        expect("dictionary", json.loads(answer["paths"])[0], known)

    return ["read", encoding, paths, 1024, data.hex(), 512], check


def broken_ops_case(r):
    """Broken ops: the same ops or the same fault in binary; in JSON what is read is written as the twin writes it."""
    paths = any_paths(r)
    limit, depth, encoding = max(r.choice([3, 1024]), len(paths or [])), r.choice([512, 4]), r.choice([1, 1, 2])
    ops = any_part(r, paths)
    data = encoded((p.ops_binary if encoding == 1 else p.ops_json)(ops, paths or []), encoding)
    if r.random() < 0.3 and encoding == 1:
        data = p.op_bytes({"op": "define", "path": [0, "x"]}) + data
    data = broken(r, data, SCRAPS[encoding])
    known = None if paths is None else list(paths)
    wanted, fault = twin_read.fault_of(twin_parts.ops, data, depth, known, limit)

    def check(answer):
        if encoding == 1:
            expect("fault", (answer.get("code"), answer.get("position")), fault or (None, None))
        if "code" not in answer:
            read_back = from_json(answer["json"])
            expect("binary", answer["binary"], p.ops_binary(read_back).hex())
            if encoding == 1:
                expect("ops", same(read_back, read(wanted)), True)
                expect("dictionary", json.loads(answer["paths"])[0], known or [])
        elif answer["position"] > len(data):
            raise Differs("a position behind the data")

    return ["read", encoding, paths, limit, data.hex(), depth], check


SCRAPS = {
    1: [bytes([byte]) for byte in [*range(16), 0x17, 0x1F, 0x7F, 0x80, 0x81, 0xF0, 0xF8, 0xFA, 0xFB, 0xFD, 0xFE, 0xFF]],
    2: [b"[", b"]", b",", b'"r"', b'"a"', b'"p"', b'"m"', b'"#"', b'"*"', b'"!"', b"0", b"-1", b"1.0", b"1e2", b"[0]"],
}
SCRAPS[1] += [b"\x80\x00", b"\xff" * 8 + b"\x0f", b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\x1f\x01\x00\x01a"]
SCRAPS[1] += [b"\x27\x01\x00"]
SCRAPS[2] += [b"[]", b'[0,"a"]', b'["a"]', b"null", b"9007199254740992", b"9007199254740991", b" ", b'"']
SCRAPS[2] += [b'"\\u0061"']


# ---- snapshots ----


def any_member(r):
    chance = r.random()
    if chance < 0.1:
        return None
    member = {"value": value(r, 2)} if chance < 0.8 else {}
    return member | ({"error": [text(r) or "gone", text(r)]} if r.random() < 0.3 else {})


def any_snapshot(r):
    paths = any_paths(r) or []
    members = [any_member(r) for _ in range(r.randrange(6))]
    binary, told = p.snapshot_binary(paths, members), p.snapshot_json(paths, members)
    return members, binary, told, [member is not None for member in members]


def snapshot_case(r):
    members, binary, told, state = any_snapshot(r)
    encoding = r.choice([1, 2])
    data = encoded(binary if encoding == 1 else told, encoding)
    packed = [part.hex() for part in p.snapshot_packed(members)]

    def check(answer):
        expect("binary", answer.get("binary"), binary.hex())
        expect("JSON", answer.get("json"), told)
        expect("packed", answer.get("packed"), packed)

    return ["snapshot", encoding, data.hex(), state, 512], check


def broken_snapshot_case(r):
    """A broken snapshot is refused, or read as one that is written the same again from either encoding."""
    _, binary, told, state = any_snapshot(r)
    encoding = r.choice([1, 2])
    data = broken(r, encoded(binary if encoding == 1 else told, encoding), SCRAPS[encoding])

    def check(answer):
        if "code" in answer:
            expect("position within", 0 <= answer["position"] <= len(data), True)
            return
        paths, values, errors = read(json.loads(answer["json"]))
        values, errors = iter(values), {index: (has, [code, why]) for index, has, code, why in errors}
        members = []
        for index, is_state in enumerate(state):
            has, error = errors.get(index, (1, ["", ""]))
            member = {"value": next(values)} if is_state else {}
            if not has:
                del member["value"]
            members.append((member | ({"error": error} if error[0] else {})) if is_state else None)
        expect("JSON", answer["json"], p.snapshot_json(paths, members))
        expect("binary", answer["binary"], p.snapshot_binary(paths, members).hex())
        for part, wanted in zip(answer["packed"], p.snapshot_packed(members), strict=True):
            expect("packed", same(packed_ops(part), packed_ops(wanted.hex())), True)

    return ["snapshot", encoding, data.hex(), state, 512], check


def packed_ops(part):
    """Values of a binary snapshot are copied as they are, also in a longer form."""
    return twin_parts.ops(bytes.fromhex(part), 512, None, 0)


# ---- messages ----


def any_json(r):
    """JSON text as a program may have written it."""
    source = value(r, 2)
    return p.json(source) if r.random() < 0.7 else json.dumps(source, indent=r.choice([None, 1]))


def any_part_of(r, word, packed):
    if word in twin_parts.WITH_ABSENT and r.random() < 0.3:
        return None
    if word in twin_parts.WITH_RAW and r.random() < 0.3:
        return {"raw": r.randbytes(r.choice([0, 1, 5, 300])).hex()}
    if word in twin_parts.WITH_DEFLATED and r.random() < 0.2:
        bytes_too = word in twin_parts.WITH_RAW and r.random() < 0.5
        return {"deflated_raw" if bytes_too else "deflated": r.randbytes(r.choice([0, 1, 5, 300])).hex()}
    if packed:
        return {"packed": p.pack(value(r, 2)).hex()}
    part = any_json(r)
    return {"json": "{}" if part == "null" and word in twin_parts.WITH_ABSENT else part}


def any_field(r, letter, word, packed):
    if letter == "N":
        return r.choice(BORDERS)
    if letter == "I":
        return r.randbytes(16).hex()
    if letter == "T":
        return text(r)
    if letter == "P":
        return any_part_of(r, word, packed)
    count = r.choice([0, 1, 1, 2, 5])
    if letter == "Q":
        return [any_part_of(r, word, packed) for _ in range(count)]
    return [[r.choice(BORDERS), any_part_of(r, word, packed)] for _ in range(count)]


def few_frames(fields):
    """The driver takes a text frame and seven more."""
    return sum(p.part_data(part)[1] > 0 for part in parts_of(fields)) <= 6


def parts_of(fields):
    for field in fields:
        if isinstance(field, dict):
            yield field
        elif isinstance(field, list):
            yield from parts_of(field)


FLAGGED = {("s", "more"), ("s", "durable"), ("c", "durable")}


def any_message(r, packed):
    while True:
        word = r.choice(list(p.MESSAGES))
        fields = [any_field(r, letter, word, packed) for letter in p.MESSAGES[word][1]]
        if few_frames(fields):
            break
    flags = [flag for flag in ("more", "durable") if (word, flag) in FLAGGED and r.random() < 0.3]
    origin = 0 if word in twin_parts.OF_LINK else r.choice(BORDERS[1:])
    return {"kind": word, "flags": flags, "origin": origin, "fields": fields}


def forms(message, current):
    told, frames = p.message_text(message, current)
    return [p.message_binary(message, current).hex()], [told.encode().hex(), *(frame.hex() for frame in frames)]


def message_case(r):
    """A message in one codec is turned into the other and back."""
    message = any_message(r, False)
    current = r.choice([message["origin"], 0, 7])
    binary, told = forms(message, current)
    codec = r.choice([1, 2])

    def check(answer):
        expect("binary", answer.get("binary"), binary)
        expect("text", answer.get("text"), told)

    return ["message", codec, current, binary if codec == 1 else told], check


TOKENS = [b'"', b"[", b"]", b",", b'"s"', b'"c"', b'"r#"', b'"s+"', b'"zzz"', b"0", b"1", b"null"]
TOKENS += [b"-0", b"1.0", b"01", b"{}", b"9007199254740992", b" ", b"\xff", b"[0,1,1]", b"[]", b"\\"]
TOKENS += [b"[0,1,2]", b"[0,3,3]"]
HEADS = SCRAPS[1] + [bytes([kind | flag]) for kind in (0, 5, 15, 17, 22, 25, 26, 31) for flag in (0, 32, 64, 128)]


def broken_message_case(r):
    """In binary the same message or the same fault; in text what is read is one that both codecs give again."""
    codec = r.choice([1, 2])
    message = any_message(r, codec == 1 and r.random() < 0.5)
    current = r.choice([message["origin"], 0, 7])
    if codec == 1:
        frames = [broken(r, p.message_binary(message, current), HEADS)]
    else:
        frames = [bytes.fromhex(frame) for frame in forms(message, current)[1]]
        frames[0] = broken(r, frames[0], TOKENS)
    wanted, fault = twin_read.fault_of(twin_parts.message, frames[0], current)

    def check(answer):
        if codec == 1:
            expect("fault", (answer.get("code"), answer.get("position")), fault or (None, None))
            if wanted and "kind" in wanted:
                expect("binary", answer["binary"], [frames[0].hex()])
                expect("the twin's binary", answer["binary"], [p.message_binary(wanted, current).hex()])
        elif "binary" in answer:
            (binary,) = answer["binary"]
            again, fault_again = twin_read.fault_of(twin_parts.message, bytes.fromhex(binary), current)
            expect("what the text became", fault_again, None)
            expect("text", answer["text"], forms(as_json(again), current)[1])
            json.loads(bytes.fromhex(answer["text"][0]))

    return ["message", codec, current, [frame.hex() for frame in frames]], check


def as_json(message):
    """The message with its parts as the JSON that they hold."""

    def turn(field):
        if isinstance(field, dict) and "packed" in field:
            return {"json": bytes.fromhex(field["packed"]).decode()}
        return [turn(one) for one in field] if isinstance(field, list) else field

    return message | {"fields": turn(message["fields"])}
