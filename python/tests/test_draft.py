"""Drafts: what a transaction reads back, what it records, and that the record alone makes the same value."""

import json
import random

import pytest
from chordal import ChordalError, FrozenDict, FrozenList, freeze
from chordal._native import DraftDocument, Ops, listed, patch, patch_in


class Draft:
    def __init__(self, value):
        self.before = freeze(value)
        self.kept = json.dumps(self.before)
        self.ops = Ops()
        self.document = DraftDocument({0: self.before}, 0, self.ops)

    @property
    def root(self):
        return self.document.read()

    def end(self):
        """The value and the ops; every end checks that the ops alone give the value and that the old one stayed."""
        after = self.document.value
        assert same(patch(self.before, bytes(self.ops)), after)
        assert json.dumps(self.before) == self.kept
        assert same(patch(freeze(json.loads(self.kept)), bytes(self.ops), in_place=True), after)
        return after, listed(bytes(self.ops))


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def test_each_change_is_one_op():
    draft = Draft({"entries": [{"text": "a"}], "n": 1})
    root = draft.root
    root["entries"].append({"text": "b"})
    root["entries"][1]["text"] += "cd"
    root["entries"][0]["done"] = True
    root["n"] += 1
    del root["entries"][0]
    assert root["entries"][0]["text"] == "bcd"
    after, ops = draft.end()
    assert after == {"entries": [{"text": "bcd"}], "n": 2}
    assert ops == [
        ("p", ("entries",), 1, 0, [{"text": "b"}]),
        ("a", ("entries", 1, "text"), "cd"),
        ("s", ("entries", 0, "done"), True),
        ("s", ("n",), 2),
        ("p", ("entries",), 0, 1, []),
    ]


def test_drafts_of_elements_follow_their_elements():
    draft = Draft([{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}])
    second = draft.root[1]
    last = draft.root[-1]
    draft.root.insert(0, "x")
    second["n"] = 10
    draft.root.reverse()
    second["n"] = 11
    del draft.root[0:2]
    second["m"] = True
    with pytest.raises(ChordalError, match="state"):
        last["n"] = 5
    assert last["n"] == 3
    after, _ = draft.end()
    assert after == [{"n": 11, "m": True}, {"n": 0}, "x"]


def test_drafts_of_what_was_removed_refuse():
    draft = Draft({"a": {"b": {"c": 1}}})
    inner = draft.root["a"]["b"]
    draft.root["a"] = {"b": {"c": 2}}
    with pytest.raises(ChordalError) as caught:
        inner["c"] = 3
    assert caught.value.name == "state"
    assert draft.root["a"]["b"]["c"] == 2
    draft.root["a"]["b"]["c"] = 4
    assert draft.end()[0] == {"a": {"b": {"c": 4}}}


def test_assigning_over_the_same_kind_is_left_to_the_core_to_diff():
    draft = Draft({"a": {"b": 1}, "l": [1, 2]})
    draft.root["a"] = {"b": 2}
    draft.root["l"] = [1, 2, 3]
    draft.root["a2"] = {"b": 2}
    draft.root["l"] = {"now": "an object"}
    draft.root["a"].replace_contents({"c": 1})
    assert [op[0] for op in draft.end()[1]] == ["=", "=", "s", "s", "="]
    draft.document.replace([1])
    assert draft.root == [1]
    assert draft.end()[1][-1] == ("=", (), [1])


def test_in_place_operators_leave_nothing_twice():
    draft = Draft({"l": [1], "s": "x"})
    draft.root["l"] += [2, 3]
    draft.root["s"] += ""
    assert draft.end()[1] == [("p", ("l",), 1, 0, [2, 3])]


def test_text():
    draft = Draft({"s": "a😀b", "half": "x\ud83d"})
    draft.root.truncate_text("s", 2)
    draft.root.append_text("half", "\ude00")
    with pytest.raises(ChordalError) as caught:
        draft.root.truncate_text("s", 2)
    assert caught.value.name == "range"
    with pytest.raises(KeyError):
        draft.root.append_text("absent", "x")
    after, ops = draft.end()
    assert after == {"s": "b", "half": "x😀"}
    assert ops == [("t", ("s",), 3), ("a", ("half",), "\ude00")]


def test_sort_and_permute():
    draft = Draft([3, 1, 2])
    draft.root.sort()
    draft.root.sort()
    draft.root.reverse()
    after, ops = draft.end()
    assert after == [3, 2, 1]
    assert ops == [("m", (), [1, 2, 0]), ("m", (), [2, 1, 0])]
    with pytest.raises(ChordalError) as caught:
        draft.root.permute([0, 0, 1])
    assert caught.value.name == "permutation"


def test_refused_values_change_nothing():
    draft = Draft({"a": [1]})
    for value in (float("nan"), 1 << 64, {"x": {1: 2}}, b"x", object()):
        with pytest.raises(ChordalError):
            draft.root["a"] = value
        with pytest.raises(ChordalError):
            draft.root["a"].append(value)
    loop = []
    loop.append(loop)
    with pytest.raises(ChordalError) as caught:
        draft.root["b"] = loop
    assert caught.value.name == "depth"
    with pytest.raises(ChordalError):
        draft.root[1] = 1
    with pytest.raises(IndexError):
        draft.root["a"][1] = 1
    with pytest.raises(KeyError):
        del draft.root["b"]
    assert draft.end() == ({"a": [1]}, [])


def test_an_ended_transaction_refuses():
    draft = Draft({"a": [1]})
    inner = draft.root["a"]
    draft.document.close(False)
    for change in (lambda: inner.append(1), lambda: inner.clear(), lambda: draft.document.replace(1)):
        with pytest.raises(ChordalError):
            change()


def test_untouched_parts_are_shared():
    draft = Draft({"a": {"x": [1]}, "b": {"y": 1}})
    draft.root["b"]["y"] = 2
    after, _ = draft.end()
    assert after["a"] is draft.before["a"]
    assert after["b"] is not draft.before["b"]
    assert type(after) is FrozenDict and type(after["a"]["x"]) is FrozenList


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {rng.choice("abcdé😀") * rng.randrange(3): random_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return [None, True, rng.randrange(-300, 70000), rng.random() * 1e20, "t" * rng.randrange(40), "é\ud83d"][kind]


def edit(rng, draft, twin):
    """The same random change on a draft and on a plain twin."""
    if isinstance(twin, dict):
        keys = list(twin)
        key = rng.choice(keys) if keys and rng.random() < 0.8 else rng.choice("abcd")
        if key in twin and isinstance(twin[key], (dict, list)) and rng.random() < 0.7:
            return edit(rng, draft[key], twin[key])
        if key in twin and rng.random() < 0.3:
            del draft[key], twin[key]
        elif isinstance(twin.get(key), str) and rng.random() < 0.7:
            tail = rng.choice(["x", "\ude00", "é", "\ud83d"])
            draft[key] += tail
            twin[key] = freeze(twin[key] + tail)
        else:
            value = random_value(rng)
            draft[key] = value
            twin[key] = json.loads(json.dumps(freeze(value)))
        return None
    length = len(twin)
    if length and rng.random() < 0.4:
        place = rng.randrange(length)
        if isinstance(twin[place], (dict, list)):
            return edit(rng, draft[place], twin[place])
    step = rng.randrange(5)
    if step == 0:
        value = random_value(rng)
        place = rng.randrange(-length - 1, length + 2)
        draft.insert(place, value)
        twin.insert(place, json.loads(json.dumps(freeze(value))))
    elif step == 1 and length:
        start, stop = sorted((rng.randrange(length + 1), rng.randrange(length + 1)))
        items = [random_value(rng) for _ in range(rng.randrange(3))]
        draft[start:stop] = items
        twin[start:stop] = json.loads(json.dumps(freeze(items)))
    elif step == 2:
        draft.reverse()
        twin.reverse()
    elif step == 3 and length:
        place = rng.randrange(-length, length)
        draft.pop(place)
        twin.pop(place)
    elif step == 4:
        draft.sort(key=lambda item: json.dumps(item, sort_keys=True))
        twin.sort(key=lambda item: json.dumps(item, sort_keys=True))
    return None


@pytest.mark.parametrize("seed", range(60))
def test_random_edits_equal_a_plain_twin(seed):
    rng = random.Random(seed)
    start = {"a": random_value(rng), "b": [random_value(rng) for _ in range(3)], "c": {}}
    draft = Draft(start)
    twin = json.loads(json.dumps(draft.before))
    for _ in range(30):
        edit(rng, draft.root, twin)
        assert same(draft.document.value, twin), seed
    draft.end()


@pytest.mark.parametrize("seed", range(60))
def test_random_transactions_in_place_equal_a_plain_twin(seed):
    """Nobody looks before the end, so splices wait and containers are changed where they lie; older values that are
    kept stay as they were, and a replica that takes the ops is equal."""
    rng = random.Random(seed)
    values = {0: freeze({"a": [random_value(rng) for _ in range(6)], "b": {"c": [1, [2], {"d": 3}]}})}
    replica = {0: freeze(json.loads(json.dumps(values[0])))}
    twin = json.loads(json.dumps(values[0]))
    kept = []
    for _ in range(12):
        ops = Ops()
        document = DraftDocument(values, 0, ops)
        root = document.read()
        before = json.dumps(twin)
        for _ in range(rng.randrange(1, 14)):
            edit(rng, root, twin)
        changed = json.loads(json.dumps(twin))
        if rng.random() < 0.3:
            document.close(False)
            twin = json.loads(before)
        else:
            document.close(True)
            patch_in(replica, 0, bytes(ops), False, False)
        assert same(values[0], twin) and same(replica[0], twin), seed
        assert same(root._value, changed)  # what is kept stays readable
        if rng.random() < 0.3:
            value = rng.choice([values[0], values[0].get("a")])
            kept.append((value, json.dumps(value)))
    assert all(json.dumps(value) == text for value, text in kept)


def test_splices_wait_for_the_commit():
    values = {0: freeze({"list": list(range(1000)), "n": [[]]})}
    array = values[0]["list"]
    document = DraftDocument(values, 0, Ops())
    draft = document.read()["list"]
    del draft[10:20]
    draft.insert(5, {"new": 1})
    draft[5]["new"] = 2
    draft.append("end")
    assert len(draft) == 992 and draft[5] == {"new": 2} and draft[11] == 20 and draft[-1] == "end"
    assert array == list(range(1000))
    number = id(array)
    del array
    document.close(True)
    assert id(values[0]["list"]) == number
    assert values[0]["list"] == [*range(5), {"new": 2}, *range(5, 10), *range(20, 1000), "end"]
