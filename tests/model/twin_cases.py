"""The cases: each makes a request from chance, and a check of what the core answers. A check raises Differs."""

import json

import twin_read
from twin_ops import any_op, apply, edited, from_json, good_ops, refused
from twin_values import double, integer, large, nested, nesting, p, read, same, scalar, text, value


class Differs(Exception):
    pass


def expect(what, told, wanted):
    if told != wanted:
        raise Differs(f"{what}: the core has {told!r}, the twin {wanted!r}")


def expect_value(what, told, wanted):
    if not same(read(told), wanted):
        raise Differs(f"{what}: the core has {told!r}, the twin {wanted!r}")


# ---- values ----


def expect_forms(answer, wanted):
    expect("packed", answer.get("packed"), p.pack(wanted).hex())
    expect("JSON", answer.get("json"), p.json(wanted))
    expect("digest", answer.get("digest"), p.digest(wanted))


def value_case(r):
    """A value in one of the forms gives all of them."""
    wanted = value(r, r.randrange(5))
    form = r.choice(["json", "pack"])
    data = p.json(wanted).encode("utf-8", "surrogatepass") if form == "json" else p.pack(wanted)
    return [form, 512, data.hex()], lambda answer: expect_forms(answer, wanted)


SCRAPS = [b'"', b"\\", b"\\u", b"\\ud83d", b"\\ude00", b"[", b"]", b"{", b"}", b",", b":", b"-", b"0", b".", b"e", b"+"]
SCRAPS += [b"true", b"null", b"fals", b" ", b"\t", b"1e400", b"1e-400", b'{"a":1,"a":2}', b"\x00", b"\x1f", b"\x7f"]
SCRAPS += [b"\xc3", b"\xa9", b"\xed\xa0\xbd", b"\xed\xb8\x80", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\xf4\x90"]
SCRAPS += [b"\xc0\x80"]
BYTES = [b"\x00", b"\x7f", b"\x80", b"\x81", b"\x8f", b"\x90", b"\x9f", b"\xa0", b"\xa1", b"\xbf", b"\xdd", b"\xdf"]
BYTES += [bytes([byte]) for byte in range(0xC0, 0xDE)]
BYTES += [b"\xff", b"\xff\xff\xff\xff", b"\x81\xa1a\x00", b"\x82\xa0\x00\xa0\x00"]


def broken(r, data, scraps):
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        at = r.randrange(len(data) + 1)
        chance = r.random()
        if chance < 0.2:
            data = data[:at]
        elif chance < 0.5:
            data = data[:at] + r.choice(scraps) + data[at:]
        elif chance < 0.7:
            data = data[:at] + data[at + r.randrange(4) :]
        else:
            data = data[:at] + r.choice(scraps) + data[at + 1 :]
    return data


def broken_case(r):
    """What was broken by chance is read as the same value, or is the same fault at the same place."""
    form, depth = r.choice(["json", "pack"]), r.choice([512, 3, 8])
    source = value(r, r.randrange(4))
    if form == "json":
        data = broken(r, p.json(source).encode("utf-8", "surrogatepass"), SCRAPS)
    else:
        data = broken(r, p.pack(source), BYTES)
    wanted, fault = twin_read.fault_of(getattr(twin_read, form), data, depth)

    def check(answer):
        if not fault:
            return expect_forms(answer, wanted)
        return expect("fault", (answer.get("code"), answer.get("position")), fault)

    return [form, depth, data.hex()], check


def depth_case(r):
    """The limit on nesting, in all forms."""
    depth = r.choice([1, 2, 7, 64, 512])
    wanted = nested(r, r.choice([1, [], {}]), depth + r.randrange(-2, 2))
    form = r.choice(["json", "pack"])
    data = p.json(wanted).encode("utf-8", "surrogatepass") if form == "json" else p.pack(wanted)

    def check(answer):
        if nesting(wanted) <= depth:
            return expect_forms(answer, wanted)
        return expect("code", answer.get("code"), "depth")

    return [form, depth, data.hex()], check


# ---- numbers ----


def number_text(r):
    chance = r.random()
    if chance < 0.3:
        return p.json(double(r))
    if chance < 0.5:
        return str(integer(r) + r.choice([0, 0, -1, 1, 2**64, -(2**64)]))
    if chance < 0.6:  # half way between two doubles, and beside it
        return str((2**53 + 1 + 2 * r.randrange(2**40)) * 2 ** r.randrange(900) + r.choice([-1, 0, 1]))
    digits = "".join(r.choice("0123456789") for _ in range(r.choice([1, 2, 5, 17, 19, 20, 40, 400])))
    sign = r.choice(["", "-"]) + (digits.lstrip("0") or "0")
    if r.random() < 0.6:
        sign += "." + "".join(r.choice("0123456789") for _ in range(r.choice([1, 3, 17, 30, 900])))
    if r.random() < 0.6:
        sign += r.choice("eE") + r.choice(["", "+", "-"]) + str(r.choice([0, 5, 22, 300, 308, 325, 400, 5000, 10**12]))
    return sign


def number_case(r):
    """Many numbers: read, and written in the fewest digits."""
    texts = [number_text(r) for _ in range(100)]
    numbers = [twin_read.number_of(t.encode()) for t in texts]
    wanted = ["number" if n is None else p.json(n) for n in numbers]

    def check(answer):
        for source, told, right in zip(texts, answer["texts"], wanted, strict=True):
            expect(source, told, right)

    return ["numbers", texts], check


def equal_case(r):
    a = value(r, 3)
    b = edited(r, a) if r.random() < 0.7 else json.loads(json.dumps(a))
    wanted = same(a, read(b))
    return ["equal", a, b], lambda answer: expect("equal", answer["equal"], wanted)


# ---- ops ----


def members_of(r):
    return [value(r, r.randrange(1, 4)) for _ in range(r.choice([1, 1, 2, 3]))]


def apply_case(r):
    """Any ops, the sound and the unsound: the same values, or the same refusal that changes nothing."""
    members, ops = members_of(r), []
    depth = r.choice([512, 512, 4])
    if max(map(nesting, members)) > depth:
        depth = 512
    before, after = members, members
    while len(ops) < r.randrange(1, 8):
        ops.append(any_op(r, after))
        after, fault = apply(after, ops[-1:], depth)
        if fault:
            break
    wanted, fault = apply(before, ops, depth)

    def check(answer):
        expect("refusal", (answer.get("code"), answer.get("position")), fault or (None, None))
        expect_value("after", answer["after"], wanted)

    return ["apply", members, ops, depth, r.random() < 0.5], check


def expect_ops(answer):
    """The ops of an answer, whose two encodings are the twin's."""
    ops = from_json(answer["json"])
    expect("JSON of ops", answer["json"], p.ops_json(ops))
    expect("ops in binary", answer["binary"], p.ops_binary(ops).hex())
    return ops


def expect_result(what, before, ops, wanted):
    after, fault = apply(before, ops)
    expect(f"{what} refused", fault, None)
    expect_value(what, after, wanted)


def as_drafted(op):
    """What a draft makes of an op on a whole member."""
    if op["op"] in ("set", "assign"):
        return op | {"op": "replace" if len(op["path"]) == 1 else "set"}
    return op


def draft_op(r, members):
    op = any_op(r, members)
    if op["op"] == "replace":  # below a member it does not come as far as a draft
        op["path"] = op["path"][:1]
    if r.random() < 0.4:
        at = [op["path"], op["path"][:1]][r.random() < 0.3]
        here = members[0]
        try:
            for segment in at[1:]:
                here = here[segment]
        except (KeyError, IndexError, TypeError):
            return op
        return {"op": "assign", "path": at, "value": edited(r, here)}
    return op


def draft_case(r):
    """A transaction on one member: its ops turn the base into its value; what is refused leaves no trace."""
    return drafted(r, value(r, r.randrange(1, 4)))


def large_draft_case(r):
    return drafted(r, large(r))


def drafted(r, base):
    members, ops, codes = [base], [], []
    for _ in range(r.randrange(1, 8)):
        ops.append(draft_op(r, members))
        op = as_drafted(ops[-1])
        code = refused(members, op, 512)
        codes.append(code or "")
        if not code:
            members = p.apply(members, [op])

    def check(answer):
        expect("codes", answer["codes"], codes)
        expect_value("the draft", answer["value"], members[0])
        expect_result("the ops of the draft", [base], expect_ops(answer), members)

    return ["draft", base, ops, 512], check


def diff_case(r):
    """What turns a value into another: not more bytes than the value, and no op for nothing."""
    return differed(r, value(r, r.randrange(1, 5)))


def large_diff_case(r):
    return differed(r, large(r))


def differed(r, before):
    after = edited(r, before)
    if r.random() < 0.2:
        after = edited(r, after)

    def check(answer):
        ops = expect_ops(answer)
        expect_result("the diff", [before], ops, [after])
        if same(before, after):
            expect("a diff of equals", ops, [])
        replaced = len(p.ops_binary([{"op": "replace", "path": [0], "value": after}]))
        paths = max((len(p.path_bytes(op["path"])) for op in ops), default=0)
        if len(answer["binary"]) // 2 > replaced + replaced // 2 + 16 + paths:
            raise Differs(f"a diff of {len(answer['binary']) // 2} bytes in place of {replaced}")

    return ["diff", before, after], check


def fold_case(r):
    """Batches folded into one do what they do one after the other, in no more ops."""
    return folded(r, members_of(r))


def large_fold_case(r):
    return folded(r, [large(r)])


def folded(r, members):
    after, batches = members, []
    for _ in range(r.randrange(1, 7)):
        ops, after = good_ops(r, after, r.randrange(1, 5))
        if r.random() < 0.1:
            code = r.choice(["", "gone"])
            ops.append({"op": "error", "member": r.randrange(len(members)), "code": code, "message": code})
        batches.append(ops)
    errors = {op["member"]: op["code"] for ops in batches for op in ops if op["op"] == "error"}

    def check(answer):
        ops = expect_ops(answer)
        expect_result("the fold", members, ops, after)
        expect("errors", {op["member"]: op["code"] for op in ops if op["op"] == "error"}, errors)
        expect("no more ops", len(ops) <= sum(map(len, batches)), True)

    return ["fold", batches], check


def append_case(r):
    """Appends to one string are one append, however they are batched and wherever pairs are cut."""
    path = [0, r.choice(["a", "text"])]
    texts = [text(r) for _ in range(r.randrange(1, 30))]
    batches = [[{"op": "append", "path": path, "text": t}] for t in texts]
    before = {path[1]: text(r)}
    after = {path[1]: p.from_utf16(b"".join(map(p.utf16, [before[path[1]], *texts])))}

    def check(answer):
        ops = expect_ops(answer)
        expect("ops", len(ops), 1)
        expect_result("the appends", [before], ops, [after])

    return ["fold", batches], check


# ---- streams ----


def stream_case(r):
    """A provider's commits, and readers who lag behind or come late: the dictionary is a function of the cut."""
    members, limit = members_of(r), r.choice([1, 2, 3, 8, 1024])
    stream, history, steps, wanted = p.Stream(limit), [members], [], []
    for _ in range(r.randrange(1, 20)):
        ops, members = good_ops(r, members, r.choice([1, 1, 2, 3]))
        if steps and r.random() < 0.5:  # the paths of the last commits once more
            seen = [op["path"] for step in steps if isinstance(step, list) for op in step]
            ops += [{"op": "assign", "path": path} for path in r.choices(seen, k=3)]
            ops = [op for op in ops if op["op"] != "assign"] + again(r, members, ops)
            members, _ = apply(history[-1], ops)
        steps.append(ops)
        stream.commit(ops)
        history.append(members)
        for _ in range(r.randrange(3)):
            cut = r.choice([None, stream.cut - 1, r.randrange(stream.cut)])
            steps.append(cut)
            definitions = [] if cut is None else stream.definitions(cut, stream.cut)
            wanted.append((cut, stream.paths(), definitions, history[cut or 0], members))

    def check(answer):
        for part, (cut, paths, definitions, before, after) in zip(answer["parts"], wanted, strict=True):
            if cut is None:
                check_snapshot(part, paths, after)
            else:
                check_change(part, paths, definitions, before, after)

    return ["stream", limit, history[0], steps], check


def again(r, members, ops):
    """Sets at paths that were used before and are still there."""
    out = []
    for op in ops:
        if op["op"] != "assign" or len(op["path"]) == 1:
            continue
        one = {"op": "set", "path": op["path"], "value": scalar(r)}
        if not refused(members, one, 512):
            out.append(one)
            members = p.apply(members, [one])
    return out


def check_snapshot(part, paths, members):
    state = [{"value": member} for member in members]
    told = json.loads(part["json"])
    expect("paths", told[0], paths)
    expect_value("values", told[1], members)
    ordered = [{"value": member} for member in read(told[1])]  # keys in the core's order
    expect("snapshot", part["json"], p.snapshot_json(paths, ordered))
    expect("binary snapshot", part["binary"], p.snapshot_binary(paths, ordered).hex())
    expect("members", len(told[1]), len(state))


def check_change(part, paths, definitions, before, after):
    begins = bool(definitions) and definitions[0]["op"] == "generation"
    known = paths[: len(paths) - len(definitions) + begins]
    ops = from_json(part["json"], [] if begins else list(known))
    everything = definitions + ops
    expect("change", part["json"], p.ops_json(everything, paths))
    expect("binary change", part["binary"], p.ops_binary(everything, paths).hex())
    expect_result("the change", before, ops, after)
