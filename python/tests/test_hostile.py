"""Code of the program that runs in the midst of a change, values that look at themselves, and memory that runs out: no
crash, no value that changes in somebody's hands, and what the ops say is what the draft shows."""

import collections.abc
import copy
import gc
import json
import pickle
import random
import sys

import chordal
import pytest
from chordal import ChordalError, FrozenDict, FrozenList, freeze
from chordal._native import Draft, DraftDocument, Ops, pack, patch, patch_in
from conftest import Notes


class Document:
    """A document in a transaction, and what the core would have of it."""

    def __init__(self, value):
        self.core = freeze(json.loads(json.dumps(value)))
        self.values = {0: freeze(value)}
        self.begin()

    def begin(self):
        self.ops = Ops()
        self.draft = DraftDocument(self.values, 0, self.ops)
        return self.draft.read()

    @property
    def recorded(self):
        return text(patch(self.core, bytes(self.ops)))

    def check(self):
        assert self.recorded == text(self.draft.value)

    def close(self, commits):
        self.draft.close(commits)
        if commits:
            self.core = patch(self.core, bytes(self.ops))
        assert text(self.core) == text(self.values[0])


def text(value):
    return json.dumps(value, sort_keys=True)


class Mapping(collections.abc.Mapping):
    """Acts when it is read."""

    def __init__(self, act):
        self.act = act

    def __getitem__(self, key):
        return 1

    def __len__(self):
        return 1

    def __iter__(self):
        self.act()
        return iter("q")


class Number:
    """Acts when it is taken for an index."""

    def __init__(self, number, act):
        self.number = number
        self.act = act

    def __index__(self):
        self.act()
        return self.number


class Key:
    """Claims to be a key, and acts when it is compared."""

    def __init__(self, key, act=lambda: None):
        self.key = key
        self.act = act

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        self.act()
        return True


class Masked(str):
    """A text that claims to be another one."""

    def __hash__(self):
        return hash("a")

    def __eq__(self, other):
        return True


# ---- keys ----


def test_keys_are_texts_whatever_they_claim():
    document = Document({"a": {"b": 1}, "z": {"b": 2}})
    root = document.draft.read()
    root["a"]
    closing = Key("a", lambda: document.draft.close(False))
    for use in (root.__getitem__, root.__delitem__, lambda key: root.truncate_text(key, 1)):
        with pytest.raises(KeyError):
            use(closing)
    assert closing not in root and [] not in root
    root[Masked("z")]["b"] = 5
    root[Masked("z")]["c"] = "x"
    assert Masked("y") not in root
    del root[Masked("z")]["c"]
    root["\ud83d\ude00"] = 1
    assert root["😀"] == root["\ud83d\ude00"] == 1
    document.check()
    assert root == {"a": {"b": 1}, "z": {"b": 5}, "😀": 1}


async def test_names_of_documents_are_texts():
    async with chordal.Host(types=[Notes]) as host:
        with host.object(Notes, board="a").transaction() as t:
            t.title = "x"
            for name in (Key("title", t.abort), 1, None):
                with pytest.raises(ChordalError) as caught:
                    t[name]
                assert caught.value.name == "type"


# ---- code that runs while its value is read ----

CHANGES = {
    "nothing": lambda document, root: None,
    "end": lambda document, root: document.draft.close(False),
    "commit": lambda document, root: document.draft.close(True),
    "whole": lambda document, root: document.draft.replace({"l": [1]}),
    "above": lambda document, root: root.__setitem__("l", 1),
    "clear": lambda document, root: root["l"].clear(),
    "grow": lambda document, root: root["l"].extend(range(100)),
    "below": lambda document, root: root["l"][0].__setitem__("x", 7),
    "contents": lambda document, root: root["l"].replace_contents([7] * 50),
}
USES = {
    "insert": lambda draft, act: draft.insert(Number(4, act), 9),
    "insert value": lambda draft, act: draft.insert(4, Mapping(act)),
    "append": lambda draft, act: draft.append(Mapping(act)),
    "extend": lambda draft, act: draft.extend(each(act, 1, 2)),
    "set": lambda draft, act: draft.__setitem__(1, Mapping(act)),
    "set at": lambda draft, act: draft.__setitem__(Number(3, act), "x"),
    "slice": lambda draft, act: draft.__setitem__(slice(1, 3), each(act, 1, 2, 3)),
    "slice at": lambda draft, act: draft.__setitem__(slice(Number(1, act), 4), [1]),
    "steps": lambda draft, act: draft.__setitem__(slice(0, 4, 2), each(act, 1, 2)),
    "steps at": lambda draft, act: draft.__delitem__(slice(0, 4, Number(2, act))),
    "delete": lambda draft, act: draft.__delitem__(Number(3, act)),
    "permute": lambda draft, act: draft.permute([3, 2, Number(1, act), 0]),
    "sort": lambda draft, act: draft.sort(key=lambda value: act() or 0, reverse=True),
    "text": lambda draft, act: draft.append_text(Number(2, act), "more"),
    "front": lambda draft, act: draft.truncate_text(Number(2, act), 1),
    "replace": lambda draft, act: draft.replace(Mapping(act)),
    "contents": lambda draft, act: draft.replace_contents(each(act, 1)),
    "compare": lambda draft, act: draft == [Key(1, act)] * 4,
    "below": lambda draft, act: draft[0].replace(Mapping(act)),
}


class each(collections.abc.Sequence):
    def __init__(self, act, *values):
        self.act = act
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        self.act()
        return self.values[index]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("fresh", [False, True])
def test_code_that_changes_the_draft_while_its_value_is_read(use, change, fresh):
    document = Document({"l": [{"x": 1}, "b", "text", 3]})
    root = document.draft.read()
    draft = root["l"]
    if fresh:
        draft[3] = 4
    acted = []

    def act(root=root):
        if not acted:
            acted.append(True)
            CHANGES[change](document, root)

    try:
        USES[use](draft, act)
    except (ChordalError, IndexError, RuntimeError, ValueError, AttributeError):
        assert change != "nothing"
    assert acted
    ended = change in ("end", "commit")
    if not ended:
        document.check()
        document.close(True)
    elif change == "commit":
        assert text(document.values[0]) == document.recorded
    before = text(document.values[0])
    with pytest.raises(ChordalError) as caught:
        document.draft.replace(1)
    assert caught.value.name == "state" and text(document.values[0]) == before


def test_what_failed_takes_back_only_its_own():
    document = Document({"a": {"x": 1}})
    root = document.draft.read()

    def act():
        root["a"]["x"] = 9
        raise ZeroDivisionError

    for use in (document.draft.replace, root["a"].replace_contents, lambda value: root.__setitem__("b", value)):
        with pytest.raises(ZeroDivisionError):
            use(Mapping(act))
        document.check()
        assert root == {"a": {"x": 9}}


def test_a_mapping_that_changes_while_it_is_written():
    def swap():
        del given["a"]
        given["c"] = 1

    given = {"a": Mapping(swap), "b": 2}
    with pytest.raises(RuntimeError):
        pack(given)


# ---- what the program has does not change ----


def test_values_that_a_draft_hands_out_stay():
    document = Document({"l": [{"x": 3}, {"x": 1}], "d": {"e": {}}})
    root = document.draft.read()
    root["l"][0]["x"] = 2
    root["d"]["e"]["f"] = 1
    held = []
    root["l"].sort(key=lambda value: held.append(value) or value["x"])

    class Keeps:
        def __eq__(self, other):
            held.append(other)
            return True

        __hash__ = None

    assert root == Keeps() and root["d"] == {"e": Keeps()} and root["l"].index(Keeps()) == 0
    held.append(root["d"]["e"]._value)
    before = text(held)
    for draft in root["l"]:
        draft["x"] = 100
    root["d"]["e"]["f"] = 2
    root["l"].append(1)
    root["d"]["e"].update(g=3)
    document.check()
    assert len(held) == 6 and text(held) == before
    document.close(True)
    document.begin()["l"].append(2)
    document.close(True)
    assert text(held) == before


def test_frozen_values_that_a_program_makes():
    inner = [1]
    value = FrozenDict({"a": inner}, b=(2,))
    inner.append(2)
    assert value == {"a": [1], "b": [2]} and type(value["a"]) is FrozenList
    value.__init__({"c": 1})
    value["a"].__init__([3])
    assert value == {"a": [1], "b": [2]} == copy.deepcopy(value) == pickle.loads(pickle.dumps(value))
    assert FrozenList("ab") == ["a", "b"] and FrozenDict() == {} and FrozenList() == []
    for make in (lambda: FrozenDict({1: 2}), lambda: FrozenList([{1}]), lambda: FrozenList([float("nan")])):
        with pytest.raises(ChordalError):
            make()


def test_replace_of_a_changed_draft():
    document = Document({"a": {"x": 1}, "l": [[1], [2]]})
    root = document.draft.read()
    child, element = root["a"], root["l"][1]
    child["x"] = 2
    child.replace({"y": 1})
    element.append(3)
    element.replace([4])
    document.check()
    assert root == {"a": {"y": 1}, "l": [[1], [4]]}


def test_halves_that_are_appended_join():
    document = Document({"s": "x", "l": ["\ud83d"]})
    root = document.draft.read()
    root.append_text("s", "\ud83d\ude00")
    root["l"].append_text(0, "\ude00\ud83d\ude00")
    assert root["s"] == "x😀" and root["l"] == ["😀😀"]
    document.check()
    document = Document("a")
    document.draft.replace("a\ud83d\ude00")
    assert document.draft.value == "a😀"
    document.check()


def test_extreme_slices():
    document = Document(list(range(20)))
    root = document.draft.read()
    most = sys.maxsize
    del root[10:19:-most]
    del root[19:10:-most]
    root[5:most:most] = ["x"]
    root[-most - 1 : -most] = ["first"]
    root[most:] = ["last"]
    assert root == ["first", 0, 1, 2, 3, 4, "x", *range(6, 19), "last"]
    with pytest.raises(ValueError):
        root[::2] = [1]
    with pytest.raises(ChordalError):
        root[::10] = [1, 2, float("nan")]
    with pytest.raises(IndexError):
        root[1 << 70]
    document.check()
    assert root[1] == 0


def test_drafts_do_not_nest_without_end():
    deep = {}
    for _ in range(400):
        deep = {"x": deep}
    document = Document({})
    place = document.draft.read()
    with pytest.raises(ChordalError) as caught:
        for _ in range(100):
            place["x"] = deep
            for _ in range(401):
                place = place["x"]
    assert caught.value.name == "depth"
    document.draft.read()["y"] = 1
    assert document.draft.read()["y"] == 1
    document.draft.close(True)
    assert document.values[0]["y"] == 1


# ---- ids and numbers ----


async def test_numbers_are_not_cut():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        for version in (1 << 32, -1, 1 << 70):
            with pytest.raises(ChordalError) as caught:
                host.get("notes", board="b", version=version)
            assert caught.value.name == "range"
        with pytest.raises(ChordalError) as caught:
            notes.echo(1, timeout=1e30)
        assert caught.value.name == "range"
        closing = Number(0, host._close_now)
        for use in (
            lambda: host.get("notes", board="b", version=closing),
            lambda: host.get("notes", board="b", link=closing),
            lambda: host.transaction().of(closing),
            lambda: host.connect(closing),
            lambda: host._core.object_read(closing, closing),
        ):
            with pytest.raises(ChordalError) as caught:
                use()
            assert caught.value.name == "type"
        assert await notes.echo(1) == 1


# ---- random programs ----


def some_value(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 5)
    if kind < 2:
        return rng.randint(-5, 300)
    if kind < 4:
        return rng.choice(["a", "\ud83d", "\ude00", "x😀y", "\ud83d\ude00"]) * rng.randrange(3)
    if kind == 4:
        return rng.choice([None, True, False, -0.0, 1.5])
    if kind < 7:
        return {rng.choice("abcd"): some_value(rng, depth + 1) for _ in range(rng.randrange(5))}
    return [some_value(rng, depth + 1) for _ in range(rng.randrange(6))]


class Steps:
    """Random steps on random drafts of one document; what a program could keep is kept."""

    def __init__(self, rng):
        self.rng = rng
        self.document = Document(
            rng.choice([{"a": [1, {"b": "x"}, [2]], "b": {"c": {"d": "t"}}}, [[1, [3]], {"a": "x"}]])
        )
        self.drafts = []
        self.held = []

    def keep(self, value):
        self.held.append((value, text(value)))

    def value(self):
        if self.drafts and self.rng.random() < 0.15:
            return self.rng.choice(self.drafts)
        if self.held and self.rng.random() < 0.2:
            return self.rng.choice(self.held)[0]
        return some_value(self.rng)

    def step(self):
        rng = self.rng
        draft = rng.choice(self.drafts) if self.drafts else self.document.draft.read()
        size = len(draft)
        steps = [self.read, self.write, self.write, self.delete, self.texts, self.replace, self.look, self.read]
        if isinstance(draft, collections.abc.MutableSequence):
            rng.choice([*steps, self.insert, self.slices, self.order])(draft, rng.randint(-size - 1, size), size)
        else:
            rng.choice(steps)(draft, rng.choice("abcd"), size)

    def read(self, draft, key, size):
        found = draft[key]
        if isinstance(found, Draft):
            self.drafts.append(found)

    def write(self, draft, key, size):
        draft[key] = self.value()

    def delete(self, draft, key, size):
        del draft[key]

    def texts(self, draft, key, size):
        if self.rng.random() < 0.5:
            draft.append_text(key, self.rng.choice(["q", "\ude00", "\ud83d", "\ud83d\ude00"]))
        else:
            draft.truncate_text(key, self.rng.randrange(3))

    def replace(self, draft, key, size):
        self.rng.choice([draft.replace, draft.replace_contents])(self.value())

    def look(self, draft, key, size):
        self.keep(draft._value)

    def insert(self, draft, key, size):
        draft.insert(key, self.value())

    def slices(self, draft, key, size):
        part = slice(key, self.rng.choice([None, size // 2]), self.rng.choice([None, None, -3, -2, -1, 2, 3]))
        if self.rng.random() < 0.5:
            del draft[part]
        else:
            draft[part] = [self.value() for _ in range(*part.indices(size))]

    def order(self, draft, key, size):
        draft.sort(key=lambda value: self.keep(value) or self.rng.random())

    def run(self, around):
        for _ in range(self.rng.randint(1, 4)):
            if self.rng.random() < 0.5:
                self.keep(self.document.values[0])
            if self.rng.random() < 0.5:
                self.held.clear()
            root = self.document.begin()
            self.drafts = [root] if isinstance(root, Draft) else []
            for _ in range(self.rng.randint(1, 14)):
                around(self.attempt)
                if self.rng.random() < 0.3:
                    self.document.check()
            self.document.close(self.rng.random() < 0.8)
            assert all(text(value) == before for value, before in self.held)

    def attempt(self):
        try:
            self.step()
        except (ChordalError, LookupError, TypeError, ValueError, RuntimeError, AttributeError):
            pass


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    for round_ in range(60):
        Steps(random.Random(seed * 1000 + round_)).run(lambda step: step())


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_whose_garbage_changes_the_draft(seed):
    """The collector comes with any new container, and its callbacks and finalizers may do anything."""
    collections_ = 0
    for round_ in range(60):
        steps = Steps(random.Random(seed * 1000 + round_))
        inside = []

        def collected(phase, info, steps=steps, inside=inside):
            nonlocal collections_
            collections_ += 1
            if not inside and steps.rng.random() < 0.3:
                inside.append(True)
                steps.attempt()
                inside.pop()

        def around(step, steps=steps, collected=collected):
            gc.callbacks.append(collected)
            gc.set_threshold(steps.rng.randint(1, 8))
            try:
                step()
            finally:
                gc.callbacks.remove(collected)
                gc.set_threshold(700)

        steps.run(around)
    assert collections_ > 60 and gc.isenabled()


# ---- no memory ----

V = {"k": [1, 2, {"z": 1}]}
WITHOUT_MEMORY = {
    "read": lambda root: (root.__getitem__, "e"),
    "set": lambda root: (root.__setitem__, "q", V),
    "set over": lambda root: (root.__setitem__, "a", [1]),
    "set at": lambda root: (root["a"].__setitem__, 1, V),
    "delete": lambda root: (root.__delitem__, "b"),
    "delete at": lambda root: (root["a"].__delitem__, 1),
    "delete slice": lambda root: (root["a"].__delitem__, slice(0, 2)),
    "append": lambda root: (root["a"].append, V),
    "insert": lambda root: (root["a"].insert, 0, V),
    "clear": lambda root: (root["a"].clear,),
    "permute": lambda root: (root["a"].permute, [2, 1, 0]),
    "append text": lambda root: (root.append_text, "s", "abc"),
    "truncate text": lambda root: (root.truncate_text, "s", 2),
    "contents": lambda root: (root["a"].replace_contents, [V, V]),
    "replace": lambda root: (root["b"].replace, {"c": 1}),
    "replace all": lambda root: (root.replace, {"new": 1}),
    "value": lambda root: (Draft._value.__get__, root),
}


def drafted(fresh):
    document = Document({"a": [1, {"b": "x"}, [2, 3]], "b": {"c": {"d": "t"}}, "e": [], "s": "text"})
    root = document.draft.read()
    if fresh:
        root["a"].replace_contents([1, {"b": "x"}, [2, 3]])
        root["b"]["c"]["d"] = "u"
        root["n"], root["m"] = 1, 2
    root["a"][1], root["b"]["c"]
    root["a"][2].append(4)
    return document, root


@pytest.mark.parametrize("case", WITHOUT_MEMORY)
@pytest.mark.parametrize("fresh", [False, True])
def test_a_change_without_memory_is_whole_or_nothing(case, fresh):
    memory = pytest.importorskip("_testcapi")
    failures = 0
    for at in range(60):
        document, root = drafted(fresh)
        function, *arguments = WITHOUT_MEMORY[case](root)
        before, failed = document.recorded, False
        memory.set_nomemory(at, at + 1)
        try:
            function(*arguments)
        except (MemoryError, ChordalError):
            failed = True
        memory.remove_mem_hooks()
        failures += failed
        document.check()
        assert not failed or document.recorded == before
        root = document.draft.read()
        root["again"] = 1
        for element in root.get("a", ()):
            assert not isinstance(element, Draft) or element.replace(1) is None
        document.check()
        document.close(True)
    assert failures or (fresh and case in ("delete", "clear"))  # which take none


def test_the_end_without_memory():
    memory = pytest.importorskip("_testcapi")
    for at in range(60):
        document, root = drafted(False)
        held, expected = document.values[0], document.recorded
        before = text(held)
        memory.set_nomemory(at, at + 1)
        document.draft.close(True)
        memory.remove_mem_hooks()
        assert text(document.values.get(0, patch(document.core, bytes(document.ops)))) == expected
        assert text(held) == before


def test_ops_without_memory():
    memory = pytest.importorskip("_testcapi")
    for at in range(60):
        document, root = drafted(False)
        before, expected, done = text(document.values[0]), document.recorded, True
        values, ops = {0: freeze(json.loads(before))}, bytes(document.ops)
        memory.set_nomemory(at, at + 1)
        try:
            patch_in(values, 0, ops, False, False)
        except MemoryError:
            done = False
        memory.remove_mem_hooks()
        assert text(values[0]) == (expected if done else before)
