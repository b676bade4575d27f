"""The extension module: hostile bytes, values that misbehave while they are read, sharing, memory."""

import gc
import random
import tracemalloc

import pytest
from chordal import ChordalError, FrozenDict, FrozenList, _native, freeze
from chordal._native import DraftDocument, Ops, pack, patch, patch_in, read_ops, unpack

NOTE = {"id": "n1", "text": "words and é 😀 \ud83d", "n": [1, -1, 70000, -(2**40), 2**64 - 1, 1.5, None, True, False]}
VALUE = {"entries": [NOTE, {**NOTE, "more": {"deep": [[[]]]}}], "title": "t" * 300, "big": ["x"] * 20}


def some_ops():
    ops = Ops()
    ops.add(1, [0, "title"], "new")
    ops.add(3, [0, "entries", 0, "text"], " more")
    ops.add(4, [0, "entries", 1, "text"], 2)
    ops.add(5, [0, "entries"], 1, 0, [{"id": "n2"}, 5])
    ops.add(6, [0, "big"], list(range(19, -1, -1)))
    ops.add(2, [0, "entries", 0, "n"])
    ops.add(8, [0], "code", "words")
    ops.add(9, [0, "entries", 1], {"id": "n3"})
    return bytes(ops)


# ---- hostile bytes ----


def refused(read, data):
    """What a reader says of bytes; None: it takes them."""
    try:
        read(data)
    except ChordalError as error:
        assert 0 <= error.position <= len(data), (error, data)
        return error.name
    return None


READERS = [unpack, read_ops, _native.listed, lambda data: patch(freeze(VALUE), data)]


def test_whatever_is_cut_off_is_refused():
    packed, ops = pack(VALUE), some_ops()
    assert {refused(unpack, packed[:end]) for end in range(len(packed))} == {"truncated"}
    starts = {len(packed_ops) for packed_ops in prefixes(ops)}
    for end in range(len(ops)):
        assert refused(read_ops, ops[:end]) == (None if end in starts else "truncated")


def prefixes(ops):
    """The beginnings of packed ops that end where an op ends."""
    out = Ops()
    yield bytes(out)
    for number, path, arguments in read_ops(ops):
        out.add(number, path, *arguments)
        yield bytes(out)


def test_random_bytes_do_no_harm():
    pick = random.Random(11)
    good = [pack(VALUE), some_ops()]
    for _ in range(4000):
        data = bytearray(pick.choice(good) if pick.random() < 0.8 else pick.randbytes(pick.randrange(40)))
        for _ in range(pick.randrange(1, 4)):
            if data:
                data[pick.randrange(len(data))] = pick.randrange(256)
        for read in READERS:
            refused(read, bytes(data))


def test_what_no_writer_makes_is_refused():
    assert refused(unpack, b"\x91" * 4096 + b"\x00") is None
    assert refused(unpack, b"\x91" * 4097 + b"\x00") == "depth"
    assert refused(unpack, b"\x00\x00") == "trailing"
    assert refused(unpack, b"\x82\xa1a\x01\xa1a\x02") == "duplicate_key"
    assert refused(unpack, b"\x81\x01\x01") == "type"
    assert refused(unpack, b"\xc1") == "syntax"
    assert refused(unpack, b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00") == "number"
    assert refused(unpack, b"\xdd\xff\xff\xff\xff\x01") == "truncated"  # no room is made for what cannot be there
    assert refused(unpack, b"\xa2a\xff") == "utf8"
    for data in (b"\x00", b"\x5f", b"\xff\xff", b"\xf8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"):
        assert refused(read_ops, data) in ("malformed", "truncated")


def test_event_records_are_checked():
    for data in (b"\x01", b"\x00" * 8, b"\xff" * 16, b"\x08\0\0\0\x04\0\0\0", b"\xff\0\0\0\x01\0\0\0" + b"\0" * 8):
        assert refused(_native.read_events, data) == "malformed"


def test_wrong_arguments_are_python_errors():
    calls = [
        lambda: unpack("text"),
        lambda: _native.pack_arguments([1]),
        lambda: _native.patch(1),
        lambda: patch_in({}, 0, b""),
        lambda: patch_in([], 0, b"", True, False),
        lambda: Ops().add(3, [0]),
        lambda: Ops().add(3, [0], 5),
        lambda: Ops().add("a", [0], "x"),
        lambda: DraftDocument({}, 0, bytearray()),
        lambda: _native.Core({"no_such_option": 1}),
        lambda: _native.DraftObject(),
        lambda: _native.ObjectDraft(None, None, None, None, 0),
        lambda: _native.adopt(nothing=1),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(KeyError):
        DraftDocument({}, 0, Ops())


# ---- values that misbehave ----


class Growing(dict):
    """Looks at its owner while it is read, and changes it."""

    def __init__(self, owner):
        super().__init__(a=1)
        self.owner = owner

    def items(self):
        self.owner["another"] = 1
        return super().items()


class Failing(dict):
    def items(self):
        raise ZeroDivisionError


def test_values_that_change_or_fail_while_they_are_read():
    for act in (freeze, pack):
        owner = {}
        owner["growing"] = Growing(owner)
        with pytest.raises(RuntimeError, match="changed"):
            act(owner)
        with pytest.raises(ZeroDivisionError):
            act([1, Failing()])


def test_a_failed_write_leaves_the_draft_as_it_was():
    values = {0: freeze(VALUE)}
    ops = Ops()
    document = DraftDocument(values, 0, ops)
    root = document.read()
    for bad in (Failing(), {"a": {"b": float("nan")}}, [object()]):
        with pytest.raises((ZeroDivisionError, ChordalError)):
            root["entries"][0]["text"] = bad
        with pytest.raises((ZeroDivisionError, ChordalError)):
            root["entries"].extend([1, bad])
    assert len(ops) == 0 and document.value == VALUE


class Meddling(dict):
    """Does something else while it is read."""

    def __init__(self, act):
        super().__init__(a=1)
        self.act = act

    def items(self):
        self.act()
        return super().items()


class Index:
    """A number that does something else when it is asked for."""

    def __init__(self, number, act):
        self.number, self.act = number, act

    def __index__(self):
        self.act()
        return self.number


def test_a_program_that_meddles_while_a_draft_reads_its_value():
    def started():
        document = DraftDocument({0: freeze({"list": [[n] for n in range(20)], "text": "x"})}, 0, Ops())
        return document, document.read()["list"]

    def writes(array, act):
        yield lambda: array.__setitem__(3, Meddling(act))
        yield lambda: array.append(Meddling(act))
        yield lambda: array.extend([1, Meddling(act)])
        yield lambda: array.__setitem__(slice(2, 4), [Meddling(act)])
        yield lambda: array[3].replace(Meddling(act))
        yield lambda: array.replace_contents([Meddling(act)])
        yield lambda: array.__setitem__(Index(3, act), 5)
        yield lambda: array.__delitem__(Index(19, act))
        yield lambda: array.permute([*range(19, 0, -1), Index(0, act)])
        yield lambda: array[3].replace_contents([Meddling(act)])

    meddlings = [
        lambda document, array: array.clear(),
        lambda document, array: array.__setitem__(3, "other"),
        lambda document, array: document.read().__setitem__("list", []),
        lambda document, array: document.replace(5),
        lambda document, array: document.close(False),
        lambda document, array: document.close(True),
        lambda document, array: array.reverse(),
    ]
    for number in range(10):
        for meddle in meddlings:
            document, array = started()
            write = list(writes(array, lambda d=document, a=array, m=meddle: m(d, a)))[number]
            try:
                write()
            except (ChordalError, RuntimeError, IndexError) as error:
                assert error.__class__ is not ChordalError or error.name in ("state", "permutation", "type")
            repr(document.value), repr(array), len(array)


def test_a_host_that_is_closed_while_it_reads_a_value():
    uses = [
        lambda core, value: core.digest(value),
        lambda core, value: core.object_get("notes", value),
        lambda core, value: core.reference_get(0, "notes", 0, 0, value),
        lambda core, value: core.call_start(1, "add", (value,), 0),
        lambda core, value: core.call_answer(1, value),
        lambda core, value: core.compute_answer(1, value),
    ]
    for use in uses:
        core = _native.Core({})
        with pytest.raises(ChordalError, match="closed"):
            use(core, Meddling(core.close))


# ---- sharing ----


def test_what_only_the_replica_has_is_changed_in_place():
    values = {0: freeze(VALUE)}
    entries, note = id(values[0]["entries"]), id(values[0]["entries"][0])
    ops = Ops()
    ops.add(3, [0, "entries", 0, "text"], "!")
    patch_in(values, 0, bytes(ops), False, False)
    assert values[0]["entries"][0]["text"] == NOTE["text"] + "!"
    assert (id(values[0]["entries"]), id(values[0]["entries"][0])) == (entries, note)


@pytest.mark.parametrize("held", ["root", "entries", "note"])
def test_what_somebody_else_has_stays_as_it_is(held):
    values = {0: freeze(VALUE)}
    root = values[0]
    kept = {"root": root, "entries": root["entries"], "note": root["entries"][0]}[held]
    before = repr(kept)
    del root
    for number, path, arguments in read_ops(some_ops()):
        ops = Ops()
        ops.add(number, path, *arguments)
        patch_in(values, 0, bytes(ops), False, False)
    assert repr(kept) == before
    assert patch(freeze(VALUE), some_ops()) == values[0]


def test_several_ops_apply_together_or_not_at_all():
    values = {0: freeze(VALUE)}
    ops = some_ops()
    assert patch_in(values, 0, ops, False, False) == ("code", "words")
    after = repr(values[0])
    wrong = Ops()
    wrong.add(2, [0, "nowhere"])
    for data in (ops[:40], bytes(wrong), ops + bytes(wrong)):
        with pytest.raises(ChordalError):
            patch_in(values, 0, data, False, False)
        assert repr(values[0]) == after


def test_long_texts_grow_where_they_are():
    values = {0: freeze({"text": "x" * 100000})}
    ops = Ops()
    ops.add(3, [0, "text"], "yz")
    for _ in range(1000):
        patch_in(values, 0, bytes(ops), False, False)
    assert values[0]["text"] == "x" * 100000 + "yz" * 1000
    kept = values[0]["text"]
    patch_in(values, 0, bytes(ops), False, False)
    assert len(kept) == 102000 and len(values[0]["text"]) == 102002


def test_a_commit_changes_in_place_what_nobody_else_has():
    values = {0: freeze(VALUE)}
    entries = id(values[0]["entries"])
    document = DraftDocument(values, 0, Ops())
    note = document.read()["entries"][1]
    note["text"] = "new"
    assert values[0]["entries"][1]["text"] == NOTE["text"]  # not before the commit
    document.close(True)
    assert values[0]["entries"][1]["text"] == "new" and id(values[0]["entries"]) == entries
    assert note["text"] == "new"  # a draft that is kept stays readable
    kept = values[0]
    document = DraftDocument(values, 0, Ops())
    document.read()["entries"][1]["text"] = "newer"
    document.close(True)
    assert kept["entries"][1]["text"] == "new" and values[0]["entries"][1]["text"] == "newer"
    assert kept["entries"][0] is values[0]["entries"][0]


def test_an_aborted_draft_leaves_the_value():
    values = {0: freeze(VALUE)}
    before = values[0]
    document = DraftDocument(values, 0, Ops())
    document.read()["entries"][1]["text"] = "new"
    document.read()["entries"].append(1)
    document.close(False)
    assert values[0] is before and before == VALUE


# ---- memory ----


def draft_and_patch():
    values, replica = {0: freeze(VALUE)}, {0: freeze(VALUE)}
    ops = Ops()
    document = DraftDocument(values, 0, ops)
    root = document.read()
    root["entries"][1]["text"] += " more"
    root["entries"].insert(0, {"id": "n0"})
    root["entries"][2]["more"]["deep"][0].append("x")
    root["big"].reverse()
    del root["big"][3:5]
    root.truncate_text("title", 5)
    root["other"] = [root["entries"][0], 1.0]
    root["entries"].replace_contents([1, 2])
    document.value  # noqa: B018
    document.close(True)
    patch_in(replica, 0, bytes(ops), False, False)
    assert replica == values


def all_work():
    packed = pack(VALUE)
    assert unpack(packed) == freeze(VALUE)
    draft_and_patch()
    patch(freeze(VALUE), some_ops())
    _native.listed(some_ops())
    for data in (packed[:-3], packed[:90]):
        refused(unpack, data)
    for end in (20, 50):
        refused(lambda data: patch(freeze(VALUE), data), some_ops()[:end])
    for bad in (object(), float("inf"), {1: 1}, [[b""]]):
        for act in (pack, freeze):
            assert refused(lambda _, act=act, bad=bad: act({"a": [bad]}), b"") in ("type", "number")


def test_nothing_leaks():
    def used():
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    for _ in range(50):
        all_work()
    tracemalloc.start()
    try:
        for _ in range(20):
            all_work()
        before = used()
        for _ in range(400):
            all_work()
        grown = used() - before
    finally:
        tracemalloc.stop()
    assert grown < 400 * 16, grown


def test_drafts_need_no_collector():
    """A transaction's drafts hold each other; its end takes them apart."""
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(thing, _native.Draft) for thing in gc.get_objects())
        for _ in range(10):
            draft_and_patch()
        assert sum(isinstance(thing, _native.Draft) for thing in gc.get_objects()) == before
    finally:
        gc.enable()


def test_every_allocation_may_fail():
    """Each one in turn: MemoryError, and what was there is as it was."""
    testcapi = pytest.importorskip("_testcapi")
    packed, ops, value = pack(VALUE), some_ops(), freeze(VALUE)
    before = repr(value)
    one = Ops()
    one.add(3, [0, "entries", 0, "text"], " more")
    single = bytes(one)
    acts = [
        lambda: pack(VALUE),
        lambda: unpack(packed),
        lambda: freeze(VALUE),
        lambda: patch(value, ops),
        lambda: _native.listed(ops),
        lambda: patch_in({0: value}, 0, single, False, False),
        draft_and_patch,
    ]
    for act in acts:
        failures = 0
        for number in range(0, 3000):
            testcapi.set_nomemory(number, number + 1)
            failed = False
            try:
                act()
            except MemoryError:
                failed = True
            finally:
                testcapi.remove_mem_hooks()
            assert repr(value) == before
            failures += failed
            if failures and number > failures + 20:
                break
        assert failures > 0
    assert type(value) is FrozenDict and type(value["entries"]) is FrozenList
