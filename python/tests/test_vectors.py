"""The shared vectors (tests/vectors/README.md), from native values to native values: through the codec of this package,
and through the core of linked hosts."""

import json
import pathlib
import sys

import chordal
import pytest
from chordal import ChordalError, _native, _records
from chordal._native import Core, patch
from chordal.transaction import Ticket
from conftest import Notes, until

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "vectors"
DECLARED = 8  # how deep the declaration of a type is nested, which a host's limit on depth must leave room for
FOR_C = {"messages", "changes", "snapshots", "deflated"}
FIELDS = {
    "values": "name value packed json digest also_json also_packed also_json_hex reordered arguments code position "
    "depth json_hex",
    "ops": "name ops binary json also_binary also_json json_hex code position dictionary depth",
    "apply": "name before ops after code depth",
}


sys.setrecursionlimit(5000)  # the values of the vectors are read by recursion


def native(form):
    """A value of the vectors as Python has it."""
    if isinstance(form, list):
        return [native(item) for item in form]
    if not isinstance(form, dict):
        return form
    tag = next(iter(form), "")
    if len(form) == 1 and tag in TAGS:
        return TAGS[tag](form[tag])
    assert not tag.startswith("$"), f"an unknown tag {tag}"
    return {key: native(item) for key, item in form.items()}


TAGS = {"$integer": int, "$double": float, "$bytes": bytes.fromhex}


def exact(value):
    """Equal texts for values that are the same in every respect."""
    return json.dumps(value, sort_keys=True, default=lambda data: {"bytes": data.hex()})


def cases(family, verdict):
    found = []
    for path in sorted((VECTORS / family).glob("*.json")):
        assert path.name.startswith(("accept_", "refuse_"))
        for case in json.loads(path.read_text())["cases"]:
            assert not set(case) - set(FIELDS[family].split()), f"unknown fields in {path.name}"
            if path.name.startswith(verdict):
                found.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
    assert found
    return found


def test_no_family_is_forgotten():
    assert {path.name for path in VECTORS.iterdir() if path.is_dir() and path.name[0] != "_"} == set(FIELDS) | FOR_C


class Codec:
    """The core's readers and writers of values."""

    def __init__(self, depth=512):
        self.core = Core({"depth_limit": depth})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.core.close()

    def through(self, data, source, target):
        return self.core.convert(data, source, target)


JSON, PACKED = _records.FORMAT_JSON, _records.FORMAT_PACKED


@pytest.mark.parametrize("case", cases("values", "accept"))
def test_values(case):
    value = native(case["value"])
    packed = bytes.fromhex(case["packed"])
    assert exact(_native.unpack(packed)) == exact(value)
    if case.get("arguments"):
        assert _native.pack_arguments(tuple(value)) == packed
        return
    assert exact(chordal.freeze(value)) == exact(value)
    assert case.get("reordered") or _native.pack(value) == packed
    assert exact(_native.unpack(_native.pack(value))) == exact(value)
    also = [bytes.fromhex(form) for form in case.get("also_packed", ())]
    texts = [case["json"].encode("utf-8", "surrogatepass")]
    texts += [text.encode("utf-8", "surrogatepass") for text in case.get("also_json", ())]
    texts += [bytes.fromhex(text) for text in case.get("also_json_hex", ())]
    with Codec() as codec:
        assert codec.through(_native.pack(value), PACKED, JSON) == texts[0]
        for text in texts:
            assert exact(_native.unpack(codec.through(text, JSON, PACKED))) == exact(value)
        for form in also:
            assert exact(_native.unpack(form)) == exact(value)
            assert exact(_native.unpack(codec.through(form, PACKED, PACKED))) == exact(value)
        assert f"{codec.core.digest(value):016x}" == case["digest"]


@pytest.mark.parametrize("case", cases("values", "refuse"))
def test_refused_values(case):
    if "value" in case:
        for act in (_native.pack, chordal.freeze):
            with pytest.raises(ChordalError) as caught:
                act(native(case["value"]))
            assert caught.value.name == case["code"]
        return
    source = PACKED if "packed" in case else JSON
    text = case.get("json", "").encode("utf-8", "surrogatepass")
    data = bytes.fromhex(case["packed"] if "packed" in case else case.get("json_hex", "")) or text
    with Codec(case.get("depth", 512)) as codec, pytest.raises(ChordalError) as caught:
        codec.through(data, source, PACKED)
    assert (caught.value.name, caught.value.position) == (case["code"], case["position"])


def packed_ops(ops):
    """Native ops as the core takes them."""
    out = _native.Ops()
    for op in ops:
        number, arguments = _fields(op["op"])
        out.add(number, op.get("path", [op.get("member")]), *(native(op[field]) for field in arguments))
    return bytes(out)


def _fields(name):
    """The number of an op, and the names of its arguments."""
    return next((number, fields) for number, (word, _, fields) in _records.OPS.items() if word == name)


def read_ops(data):
    return [
        {"op": _records.OPS[number][0], "path": list(path), "arguments": list(arguments)}
        for number, path, arguments in _native.read_ops(data)
    ]


def expected_ops(ops):
    read = []
    for op in ops:
        _, fields = _fields(op["op"])
        read.append({"op": op["op"], "path": op.get("path", [op.get("member")]), "arguments": []})
        read[-1]["arguments"] = [native(op[field]) for field in fields]
    return read


@pytest.mark.parametrize("case", cases("ops", "accept"))
def test_ops(case):
    binary = bytes.fromhex(case["binary"])
    assert packed_ops(case["ops"]) == binary
    for form in (binary, *(bytes.fromhex(other) for other in case.get("also_binary", ()))):
        assert exact(read_ops(form)) == exact(expected_ops(case["ops"]))


def typed(before):
    """A type whose documents are these values."""
    body = {f"m{index}": chordal.document(value) for index, value in enumerate(before)}
    return type("Applied", (chordal.Object,), body)


def varint(number):
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def change(number, ops):
    """The head of one object's change in a commit, and the whole."""
    head = varint(number) + varint(len(ops))
    return head, head + ops


@pytest.mark.parametrize("case", [case for case in cases("ops", "refuse") if "binary" in case.values[0]])
async def test_refused_ops(case):
    if case.get("dictionary") or case.get("depth", 512) < DECLARED:
        return  # readers of streams are the core's
    async with chordal.Host(types=[typed([{}, {}])], depth_limit=case.get("depth", 512)) as host:
        instance = host.object("applied")
        head, changes = change(instance._id, bytes.fromhex(case["binary"]))
        with pytest.raises(ChordalError) as caught:
            host._core.commit(0, changes)
        assert (caught.value.name, caught.value.position) == (case["code"], len(head) + case["position"])


@pytest.mark.parametrize("case", cases("apply", "accept"))
async def test_applied_ops(case):
    before, after = native(case["before"]), native(case["after"])
    values = [chordal.freeze(value) for value in before]
    places = [chordal.freeze(native(value)) for value in case["before"]]
    for op in case["ops"]:
        member = op["path"][0] if "path" in op else op["member"]
        values[member] = patch(values[member], packed_ops([op]))
        places[member] = patch(places[member], packed_ops([op]), in_place=True)
    assert exact(values) == exact(after) == exact(places) and exact(native(case["before"])) == exact(before)
    if any(op["op"] == "error" for op in case["ops"]):
        return  # no program commits these
    kind = typed(before)
    async with chordal.Host(types=[kind]) as provider, chordal.Host() as holder:
        chordal.pair(holder, provider)
        local = await provider.get(kind).live()
        remote = await holder.get(kind).live()
        instance = provider.object(kind)
        ticket = Ticket(provider._pump)
        number = provider._core.commit(0, change(instance._id, packed_ops(case["ops"]))[1])
        provider._provider.tickets[number] = (ticket, instance.transaction())
        provider._wake()
        await ticket
        want = [exact(value) for value in after]
        for reference in (local, remote):
            await until(lambda r=reference: [exact(r[f"m{n}"].value) for n in range(len(after))] == want)
        assert [exact(getattr(instance, f"m{n}")) for n in range(len(after))] == want


@pytest.mark.parametrize("case", cases("apply", "refuse"))
async def test_refused_application(case):
    before = native(case["before"])
    if case.get("depth", 512) < DECLARED:
        return
    kind = typed(before)
    async with chordal.Host(types=[kind], depth_limit=case.get("depth", 512)) as host:
        instance = host.object(kind)
        with pytest.raises(ChordalError) as caught:
            host._core.commit(0, change(instance._id, packed_ops(case["ops"]))[1])
        assert caught.value.name == case["code"]
        assert [exact(getattr(instance, f"m{n}")) for n in range(len(before))] == [exact(value) for value in before]


async def test_values_travel_as_they_are():
    """Each accepted value as an argument, a result and a document, over a link in both part encodings."""
    values = [native(case.values[0]["value"]) for case in cases("values", "accept")]
    arguments = [case.values[0].get("arguments", False) for case in cases("values", "accept")]
    async with chordal.Host(types=[Notes]) as provider, await provider.listen("ws://127.0.0.1:0") as server:
        for codec in ("binary", "text"):
            async with chordal.connect(server.address, codec=codec) as holder:
                notes = await holder.get("notes", board=codec).live()
                for value, many in zip(values, arguments, strict=True):
                    for each in value if many else [value]:
                        assert exact(await notes.echo(each)) == exact(each)
                    if not many:
                        await notes.rename(value)
                        assert exact(notes.title.value) == exact(value)
