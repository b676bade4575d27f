"""Values: immutable containers, the number table, text."""

import copy
import json
import math
import pickle
from enum import IntEnum

import pytest
from chordal import ChordalError, FrozenDict, FrozenList, freeze
from chordal._native import drop_units, join, pack, pack_arguments, units, unpack

PLAIN = {"a": [1, 2, {"b": None}], "t": "é", "n": -1.5}


def test_containers_read_like_the_plain_ones():
    value = freeze(PLAIN)
    assert value == PLAIN and PLAIN == value
    assert value["a"][-1] == {"b": None} and list(value) == ["a", "t", "n"]
    assert json.loads(json.dumps(value)) == PLAIN
    assert {**value} == PLAIN and [*value["a"]] == PLAIN["a"]
    assert isinstance(value, dict) and isinstance(value["a"], list)
    assert value | {"z": 1} == {**PLAIN, "z": 1}
    assert value["a"] + [3] == [*PLAIN["a"], 3]


def test_containers_refuse_to_change():
    value = freeze(PLAIN)
    array = value["a"]

    def in_place(target, operator):
        exec(f"target {operator} [1]", {"target": target})

    changes = [
        lambda: value.update(a=1),
        lambda: value.__setitem__("a", 1),
        lambda: value.__delitem__("a"),
        lambda: value.pop("a"),
        lambda: value.popitem(),
        lambda: value.clear(),
        lambda: value.setdefault("x", 1),
        lambda: value.__ior__({}),
        lambda: array.append(1),
        lambda: array.extend([1]),
        lambda: array.insert(0, 1),
        lambda: array.pop(),
        lambda: array.remove(1),
        lambda: array.clear(),
        lambda: array.sort(),
        lambda: array.reverse(),
        lambda: array.__setitem__(0, 1),
        lambda: array.__delitem__(0),
        lambda: in_place(array, "+="),
        lambda: array.__imul__(2),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="transaction"):
            change()
    assert value == PLAIN


def test_containers_are_pickled_and_copied():
    value = freeze(PLAIN)
    again = pickle.loads(pickle.dumps(value))
    assert again == value and type(again) is FrozenDict and type(again["a"]) is FrozenList
    assert copy.copy(value) is value and copy.deepcopy(value) is value and value.copy() is value
    assert copy.deepcopy(value["a"]) is value["a"] and value["a"].copy() is value["a"]
    thawed = dict(value)
    thawed["a"] = 1
    assert value["a"] is not 1  # noqa: F632


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (1.0, 1),
        (-0.0, 0),
        (2.0**53, 2**53),
        (-(2.0**53), -(2**53)),
        (2.0**54, 2.0**54),
        (1e300, 1e300),
        (5e-324, 5e-324),
        (True, True),
        (2**64 - 1, 2**64 - 1),
        (-(2**63), -(2**63)),
        (2**53 + 1, 2**53 + 1),
        (IntEnum("E", "A").A, 1),
    ],
)
def test_numbers(given, kept):
    for value in (freeze(given), unpack(pack(given)), freeze([given])[0], freeze({"k": given})["k"]):
        assert value == kept and type(value) is type(kept)
        assert math.copysign(1, value) == math.copysign(1, kept)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (float("nan"), "number"),
        (float("inf"), "number"),
        (-float("inf"), "number"),
        (2**64, "number"),
        (-(2**63) - 1, "number"),
        (b"bytes", "type"),
        (object(), "type"),
        ({1: 2}, "type"),
        ({1, 2}, "type"),
        (1j, "type"),
    ],
)
def test_refused(value, name):
    for act in (freeze, pack):
        for form in (value, [value], {"k": [value]}):
            with pytest.raises(ChordalError) as caught:
                act(form)
            assert caught.value.name == name


def test_words_have_their_article():
    for value, words in (
        (object(), "an object is not a value"),
        (b"", "a bytes is not a value"),
        ({1: 2}, "an int is not a key"),
        (type("É", (), {})(), "a É is not a value"),
        (type("", (), {})(), "a  is not a value"),
    ):
        with pytest.raises(ChordalError) as failure:
            freeze(value)
        assert failure.value.detail == words


def test_same_key_twice_after_joining_halves():
    with pytest.raises(ChordalError) as caught:
        freeze({"\ud83d\ude00": 1, "😀": 2})
    assert caught.value.name == "duplicate_key"


def test_depth():
    deep = []
    for _ in range(511):
        deep = [deep]
    assert unpack(pack(deep)) == deep
    assert freeze(deep) == deep
    loop = {}
    loop["self"] = [loop]
    for value in ([deep], loop):
        for act in (freeze, pack):
            with pytest.raises(ChordalError) as caught:
                act(value)
            assert caught.value.name == "depth"


def test_frozen_parts_are_shared():
    inner = freeze({"a": [1]})
    outer = freeze({"x": inner, "y": [inner]})
    assert outer["x"] is inner and outer["y"][0] is inner


def test_text():
    assert freeze("a\ud83d\ude00b") == "a😀b"
    assert unpack(pack("a\ud83d\ude00b")) == "a😀b"
    assert freeze("\ude00\ud83d") == "\ude00\ud83d"
    assert pack("\ud83d") == b"\xa3\xed\xa0\xbd"
    assert unpack(b"\xa3\xed\xa0\xbd") == "\ud83d"
    assert units("a😀") == 3 and units("abc") == 3
    assert drop_units("a😀b", 1) == "😀b"
    assert drop_units("a😀b", 2) == "\ude00b"
    assert drop_units("a😀b", 4) == ""
    for text in ("abc", "a😀"):
        with pytest.raises(ChordalError):
            drop_units(text, 4)
    assert join("a\ud83d", "\ude00b") == "a😀b"
    assert join("", "\ude00") == "\ude00"


def test_every_size_of_head():
    values = [
        *(sign * 2**bits + near for bits in range(63) for near in (-1, 0, 1) for sign in (1, -1)),
        *("x" * size for size in (0, 31, 32, 255, 256, 65535, 65536)),
        [None] * 15,
        [None] * 16,
        [False] * 65536,
        {str(n): n for n in range(16)},
        {str(n): n for n in range(65536)},
    ]
    for value in values:
        packed = pack(value)
        assert unpack(packed) == value


def test_arguments_may_be_bytes():
    for size in (0, 255, 256, 65536):
        packed = pack_arguments(("x", b"\0" * size, bytearray(b"y"), {"k": 1}))
        assert unpack(packed) == ["x", b"\0" * size, b"y", {"k": 1}]
    with pytest.raises(ChordalError):
        pack_arguments(([b"inside"],))


def test_tuples_and_other_sequences():
    assert freeze((1, (2, 3), range(2))) == [1, [2, 3], [0, 1]]
    assert unpack(pack((1, (2, 3), range(2)))) == [1, [2, 3], [0, 1]]
