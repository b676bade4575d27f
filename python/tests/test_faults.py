"""Faults of the program and of the machine: whoever waits is answered, nothing is lost, nothing is half done."""

import asyncio
import random
import subprocess
import sys

import chordal
import pytest
from chordal import ChordalError, MethodError, _native, freeze
from chordal._native import Ops, pack, patch_in
from conftest import Notes, turns, until
from test_hostile import Document, Mapping, each


class Liar(MethodError):
    """Its words are no text."""

    def __init__(self, name, message):
        super().__init__("x", "y")
        self.name, self.detail = name, message


class Raises(MethodError):
    """Its words raise."""

    def __init__(self):
        self.args = ()

    @property
    def name(self):
        raise ZeroDivisionError

    detail = name


class Mute:
    def __str__(self):
        raise ZeroDivisionError

    __repr__ = __str__


def fault():
    raise ZeroDivisionError


class Wrong(chordal.Object):
    key: str
    number = chordal.document(0)

    @chordal.derive("number")
    def half(self):
        if self.number in RAISED:
            raise RAISED[self.number]()
        return self.number

    @chordal.method
    def fail(self, call, which):
        raise RAISED[which]()

    @chordal.method
    async def fail_later(self, call, which):
        await asyncio.sleep(0)
        raise RAISED[which]()

    @chordal.method
    def answer(self, call, which):
        return RESULTS[which]()

    @chordal.method
    async def answer_later(self, call, which):
        await asyncio.sleep(0)
        return RESULTS[which]()

    @chordal.method
    def set(self, call, number):
        with call.transaction() as t:
            t.number = number

    def start(self):
        if self.key in RAISED:
            raise RAISED[self.key]()

    def __repr__(self):
        raise ZeroDivisionError


LONG = "ä" * 70_000
RAISED = {
    "number": lambda: Liar(404, "x"),
    "none": lambda: Liar("x", None),
    "both": lambda: Liar(b"x", ValueError("words")),
    "mute": lambda: Liar("x", Mute()),
    "mute name": lambda: Liar(Mute(), "x"),
    "long name": lambda: MethodError(LONG, "x"),
    "long": lambda: MethodError("x", LONG),
    "half": lambda: MethodError("x\ud83d", "\ude00"),
    "raises": Raises,
    "cancelled": asyncio.CancelledError,
    "mine": ZeroDivisionError,
}
TOLD = {
    "number": ("404", "x"),
    "none": ("x", "None"),
    "both": ("b'x'", "words"),
    "long name": (LONG[:16_384], "x"),
    "long": ("x", LONG[:16_384]),
    "half": ("x\ud83d", "\ude00"),
}
RESULTS = {
    "raises": lambda: Mapping(fault),
    "raises late": lambda: [1, each(fault, 1)],
    "nothing": lambda: object(),
    "deep": lambda: deep(600),
    "released": lambda: released(),
    "number": lambda: 1 << 70,
    "runtime": lambda: changing(),
    "cancelled": lambda: Mapping(cancelled),
    "awkward": lambda: Awkward(),
}


class Awkward:
    """Cannot be asked what it is."""

    @property
    def __class__(self):
        raise ZeroDivisionError


def cancelled():
    raise asyncio.CancelledError


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def released():
    view = memoryview(b"x")
    view.release()
    return view


def changing():
    given = {"b": 2}
    given["a"] = Mapping(lambda: given.__setitem__("c", given.pop("b")))
    return given


async def outcome(future):
    try:
        return await asyncio.wait_for(future, 5)
    except ChordalError as error:
        return error


# ---- whoever waits is answered ----


@pytest.mark.parametrize("method", ["fail", "fail_later"])
@pytest.mark.parametrize("which", RAISED)
async def test_a_caller_is_answered_whatever_a_method_raises(method, which):
    async with chordal.Host(types=[Wrong]) as provider, chordal.Host() as host:
        chordal.pair(host, provider)
        wrong = host.get("wrong", key="a")
        error = await outcome(wrong[method](which))
        if which == "cancelled" and method == "fail_later":
            assert error.name == "cancelled"
        else:
            assert (error.name, error.detail) == TOLD.get(which, ("internal", "the provider failed"))
        assert await outcome(wrong.set(1)) is None and wrong.half.value == 1


@pytest.mark.parametrize("method", ["answer", "answer_later"])
@pytest.mark.parametrize("which", RESULTS)
async def test_a_caller_is_answered_whatever_a_result_is(method, which):
    async with chordal.Host(types=[Wrong]) as provider, chordal.Host() as host:
        chordal.pair(host, provider)
        wrong = host.get("wrong", key="a")
        error = await outcome(wrong[method](which))
        assert error.name == "internal"
        assert await outcome(wrong.set(1)) is None and not provider._provider.calls


@pytest.mark.parametrize("which", RAISED)
async def test_a_derive_is_answered_for_whatever_it_raises(which):
    async with chordal.Host(types=[Wrong]) as host:
        wrong = await host.get("wrong", key="a").live()
        await outcome(wrong.set(which))
        error = wrong.half.error
        assert (error.name, error.detail) == TOLD.get(which, ("internal", "the provider failed"))
        await outcome(wrong.set(1))
        assert wrong.half.value == 1 and wrong.half.error is None


@pytest.mark.parametrize("which", RAISED)
async def test_an_object_fails_whatever_its_start_raises(which):
    async with chordal.Host(types=[Wrong]) as host:
        with pytest.raises(ChordalError) as caught:
            await asyncio.wait_for(host.get("wrong", key=which).live(), 5)
        assert (caught.value.name, caught.value.detail) == ("method", TOLD.get(which, ("", "the provider failed"))[1])


async def test_a_result_that_cannot_be_read_is_told():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        future = notes.forever()
        (number,) = host._calls
        flags, code = 0, 0
        for value in (b"\xc1", b"\x93\x01"):
            host._calls[number] = (future, notes._replica)
            host._on_result(chordal._records.ResultEvent(flags, number, code, "", "", value, 0))
            with pytest.raises(ChordalError):
                await asyncio.wait_for(future, 5)
            future = asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), -float("inf"), 1e300, 1e17, 1 << 80, "1", b"", [], 1j])
async def test_absurd_timeouts_are_refused(timeout):
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        with pytest.raises(ChordalError) as caught:
            await asyncio.wait_for(notes.echo(1, timeout=timeout), 5)
        assert caught.value.name == ("range" if isinstance(timeout, (int, float)) else "type")
        with pytest.raises(ChordalError) as caught:
            host.worker([sys.executable, "-c", ""], start_timeout=timeout)
        assert caught.value.name == ("range" if isinstance(timeout, (int, float)) else "type")
        assert not host._calls and not host._workers


async def test_timeouts_at_the_edge():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        assert await outcome(notes.echo(1, timeout=4e15)) == 1
        for timeout in (0, -1, -1e300, 1e-300, False):
            assert (await outcome(notes.later("x", 1, timeout=timeout))).name == "deadline"


# ---- code of the program where events are handled ----


@pytest.mark.reports("")
async def test_a_cancelled_callback_does_not_stop_the_host():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        seen = []

        def callback(frame):
            seen.append(frame.value)
            raise asyncio.CancelledError

        watch = notes.title.watch(callback)
        other = notes.title.watch(lambda frame: seen.append(("other", frame.value)))
        await until(lambda: len(seen) == 2)
        watch.close()
        await asyncio.wait_for(notes.rename("x"), 5)
        assert seen[-1] == ("other", "x")
        other.close()


async def test_an_interrupt_leaves_the_rest_of_a_turn_for_the_next(monkeypatch):
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        pump = host._pump
        future, more = notes.echo(1), notes.echo(2)
        taken = host._pump.handlers[chordal._records.CallEvent]
        interrupted = []

        def once(event):
            if not interrupted:
                interrupted.append(event)
                raise KeyboardInterrupt
            taken(event)

        pump.handlers[chordal._records.CallEvent] = once
        pump._scheduled = True
        with pytest.raises(KeyboardInterrupt):
            pump.turn()
        assert await asyncio.wait_for(more, 5) == 2
        taken(interrupted[0])
        assert await asyncio.wait_for(future, 5) == 1


async def test_events_stay_in_order_when_a_derive_settles_again():
    class Again(chordal.Object):
        first = chordal.document("")
        second = chordal.document("")

        @chordal.derive("first")
        def told(self):
            if self.first and not inside:
                inside.append(True)
                self.host.object("again").release()  # settles, too
            return self.first

    inside = []
    async with chordal.Host(types=[Again]) as host:
        again = host.object("again")
        reference = await host.get("again").live()
        seen = []
        watch = reference.first.watch(lambda frame: seen.append(frame.value))
        await turns()
        for word in "abc":
            with again.transaction() as t:
                t.first += word
        await until(lambda: reference.told.value == "abc")
        assert seen[0] == "" and seen[-1] == "abc" and seen == sorted(seen)
        watch.close()


# ---- frames ----


def frame(number, member, commit, ops, flags=0):
    return chordal._records.FrameEvent(flags, number, number, commit, member, 0, "", ops, 0)


def appended(path, tail):
    ops = Ops()
    ops.add(3, path, tail)
    return bytes(ops)


@pytest.mark.parametrize("keep", ["shared", "in-place", "none"])
async def test_frames_behind_one_that_was_lost_wait_for_the_whole_value(keep, monkeypatch):
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a", values=keep).live()
        await notes.rename("a")
        replica, seen = notes._replica, []
        watch = notes.title.watch(lambda frame: seen.append(frame.ops))
        await turns()
        index = replica.names["title"]
        failing = "last_error" if keep == "none" else "patch_in"
        real = getattr(_native, failing)

        def without_memory(*_):
            raise MemoryError

        monkeypatch.setattr(_native, failing, without_memory)
        replica.on_frame(frame(replica.id, index, 100, appended([index], "b")))
        monkeypatch.setattr(_native, failing, real)
        replica.on_frame(frame(replica.id, index, 101, appended([index], "c")))
        assert notes.title.value == (None if keep == "none" else "a")
        host._wake()
        await turns()
        assert seen[-1] == [("r", (), "a")] and [("a", (), "c")] not in seen
        await notes.say("!")
        assert notes.title.value == (None if keep == "none" else "a!") and seen[-1] == [("a", (), "!")]
        watch.close()


def test_a_long_text_that_cannot_grow_stays():
    memory = pytest.importorskip("_testcapi")
    failures = 0
    for start in ("x" * 5000, "ä" * 5000, "中" * 5000, "😀" * 5000, "x" * 4999 + "\ud83d"):
        for tail in ("y", "ä", "中", "😀", "\ude00", "z" * 2000):
            for at in range(12):
                values = {0: freeze({"t": start})}
                ops = appended([0, "t"], tail)
                memory.set_nomemory(at, at + 1)
                try:
                    patch_in(values, 0, ops, False, False)
                except MemoryError:
                    failures += 1
                    failed = True
                else:
                    failed = False
                memory.remove_mem_hooks()
                expected = start if failed else _native.join(start, tail)
                assert values[0]["t"] == expected and hash(values[0]["t"]) == hash(expected)
                assert pack(values[0]["t"]) == pack(expected)
    assert failures > 60


def test_a_long_text_that_somebody_has_stays():
    values = {0: freeze({"t": "x" * 5000})}
    held = values[0]["t"]
    hashed = {held: 1}
    for tail in ("y", "ä", "z"):
        patch_in(values, 0, appended([0, "t"], tail), False, False)
    assert held == "x" * 5000 and held in hashed and values[0]["t"] == held + "yäz"


# ---- slices with steps, without memory ----

STEPS = {
    "delete": lambda draft: draft.__delitem__(slice(None, None, 2)),
    "delete back": lambda draft: draft.__delitem__(slice(None, None, -3)),
    "set": lambda draft: draft.__setitem__(slice(None, None, 2), [{"n": 1}, "text and more", 5, [1], "c"]),
    "set back": lambda draft: draft.__setitem__(slice(None, None, -3), [1, [2], "x", {}]),
}


@pytest.mark.parametrize("case", STEPS)
@pytest.mark.parametrize("fresh", [False, True])
def test_steps_without_memory_are_whole_or_nothing(case, fresh):
    memory = pytest.importorskip("_testcapi")
    value = [{"a": 1}, "b", "text", {"c": [1]}, 4, [5], "s", "b", "c", None]
    failures = 0
    for at in range(120):
        document = Document({"l": value})
        root = document.draft.read()
        draft = root["l"]
        if fresh:
            draft[4] = 5
        kept = [draft[0], draft[3], draft[5]]
        kept[1]["c"].append(2)
        before = document.recorded
        memory.set_nomemory(at, at + 1)
        try:
            STEPS[case](draft)
        except MemoryError:
            failures += 1
            failed = True
        else:
            failed = False
        memory.remove_mem_hooks()
        document.check()
        assert not failed or document.recorded == before
        for child in kept:
            try:
                child._value  # noqa: B018
                child.replace({"again": 1})
            except ChordalError as error:
                assert error.name == "state" and not failed
            document.check()
        document.close(True)
    assert 3 < failures < 110


def test_steps_are_what_a_list_does():
    for start in (None, 0, 1, -1, 3):
        for stop in (None, 0, -1, 7):
            for step in (-4, -3, -2, -1, 2, 3, 4):
                part, plain = slice(start, stop, step), [[n] for n in range(9)]
                for given in (None, [["new", n] for n in range(len(plain[part]))]):
                    document, expected = Document(plain), [*plain]
                    root = document.draft.read()
                    kept = {n: root[n] for n in range(9)}
                    if given is None:
                        del root[part], expected[part]
                    else:
                        root[part] = given
                        expected[part] = given
                    document.check()
                    assert root == expected
                    for n, child in kept.items():
                        if plain[n] in expected:
                            child.append("x")
                            assert root[expected.index(plain[n])] == [n, "x"]
                        else:
                            with pytest.raises(ChordalError):
                                child.append("x")
                    document.check()
                    document.close(True)


# ---- without memory, over a host ----


async def test_events_that_cannot_be_read_come_again():
    memory = pytest.importorskip("_testcapi")
    big = "x" * 200_000  # a part of its own
    async with chordal.Host(types=[Notes]) as provider, chordal.Host() as host:
        chordal.pair(host, provider)
        notes = await host.get("notes", board="a").live()
        failures = 0
        for at in range(60):
            calls = [notes.echo(big, at), notes.rename(str(at)), notes.echo(at)]
            for core in (host._core, provider._core):
                real = core.poll
                memory.set_nomemory(at, at + 1)
                try:
                    events = real()
                except MemoryError:
                    events = []
                    failures += 1
                memory.remove_mem_hooks()
                assert not events or core.deadline() is not None
                core_pump = (host if core is host._core else provider)._pump
                core_pump._events.extend(events)
                core_pump.wake()
            first, second, third = await asyncio.wait_for(asyncio.gather(*calls), 5)
            assert first == [big, at] and third == at and notes.title.value == str(at)
        assert failures > 1


async def test_a_host_whose_polls_fail_goes_on_when_there_is_memory():
    memory = pytest.importorskip("_testcapi")
    reported = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        loop.set_exception_handler(lambda loop, context: reported.append(context["exception"]))
        future = notes.echo(1)
        memory.set_nomemory(0, 1)
        try:
            host._pump.turn()
        except MemoryError:
            pass
        memory.remove_mem_hooks()
        assert await asyncio.wait_for(future, 5) == 1
        loop.set_exception_handler(before)


async def test_a_commit_without_memory_is_whole_or_nothing():
    memory = pytest.importorskip("_testcapi")
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        instance = host.object(Notes, board="a")
        failures = 0
        for at in range(400):
            before = instance.title
            t = instance.transaction()
            t.title = f"commit {at} and some words"
            memory.set_nomemory(at, at + 1)
            try:
                t.commit()
            except (MemoryError, ChordalError):
                failed = True
            else:
                failed = False
            finally:
                memory.remove_mem_hooks()
            failures += failed
            await until(lambda: notes.title.value == instance.title)
            assert instance.title == (before if failed else f"commit {at} and some words"), at
            assert instance.title == host._core.object_read(instance._id, Notes.title.index)
        await until(lambda: not host._provider.tickets and not host._provider.unnumbered)
        assert 0 < failures < 300


def test_ids_that_there_is_no_memory_for_are_given_back():
    memory = pytest.importorskip("_testcapi")
    failures = 0
    for kept in range(12):
        for at in range(6):
            core = _native.Core({})
            owned = [core.link_open(0) for _ in range(kept)]
            before, number = core.counters()["live_ids"], None
            memory.set_nomemory(at, at + 1)
            try:
                number = core.link_open(0)
            except MemoryError:
                failures += 1
            memory.remove_mem_hooks()
            if number is not None:
                core.release(number)
            core.poll()
            assert core.counters()["live_ids"] == before and core.owned == {*owned}
            core.close()
    assert failures


class Steps:
    """What a program does with an object of its host or another one, each step and turn with one allocation that fails;
    in the end everybody was answered, and the values are right."""

    def __init__(self, rng):
        self.rng = rng
        self.failures = 0
        self.waiting = []

    def without_memory(self, act):
        memory = pytest.importorskip("_testcapi")
        at = self.rng.randrange(150)
        memory.set_nomemory(at, at + 1)
        try:
            act()
        except (MemoryError, ChordalError):
            self.failures += 1
        finally:
            memory.remove_mem_hooks()

    async def run(self):
        rng = self.rng
        provider = chordal.Host(types=[Notes])
        host = provider if rng.random() < 0.4 else chordal.Host()
        if host is not provider:
            chordal.pair(host, provider)
        keep = rng.choice(["shared", "in-place", "none"])
        notes = await host.get("notes", board="a", values=keep).live()
        instance = provider.object(Notes, board="a")
        watch = notes.title.watch(lambda frame: None)

        def commit():
            with instance.transaction() as t:
                t.title += "t"

        acts = [
            lambda: self.waiting.append(notes.add("x" * rng.randrange(40))),
            lambda: self.waiting.append(notes.say("abc")),
            lambda: self.waiting.append(notes.echo([1, {"a": "b"}])),
            lambda: self.waiting.append(notes.refuse("a", "b")),
            commit,
        ]
        for _ in range(rng.randrange(3, 12)):
            self.without_memory(rng.choice(acts))
            self.without_memory(rng.choice([host, provider])._pump.turn)
            if rng.random() < 0.5:
                await asyncio.sleep(0)
        host._wake()
        provider._wake()
        await asyncio.wait_for(asyncio.gather(*self.waiting, return_exceptions=True), 5)
        if keep != "none":
            await until(lambda: notes.title.value == instance.title and notes.list.value == instance.list)
        assert provider._core.object_read(instance._id, Notes.title.index) == instance.title
        watch.close()
        await host.close()
        await provider.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
async def test_random_steps_without_memory(seed, caplog):
    caplog.set_level("CRITICAL")
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    failures = 0
    for round_ in range(40):
        steps = Steps(random.Random(seed * 1000 + round_))
        await steps.run()
        failures += steps.failures
    assert failures > 20


# ---- numbers of things ----


def test_what_is_no_id_is_not_given_back():
    class Same:
        def __init__(self, number):
            self.number = number

        def __hash__(self):
            return hash(self.number)

        def __eq__(self, other):
            return True

    core = _native.Core({})
    number = core.link_open(0)
    for wrong in (Same(number), "x", None, 1.0):
        with pytest.raises(ChordalError):
            core.release(wrong)
    assert core.owned == {number}
    for wrong in (1 << 32, -1, "x"):
        with pytest.raises(ChordalError):
            core.link_open(wrong)
    core.close()


# ---- interpreters ----

OTHER = """
import sys
sys.path[:] = {path!r}
try:
    import chordal
except ImportError as error:
    assert "main interpreter" in str(error), error
else:
    raise AssertionError("it came in")
"""

INTERPRETERS = """
import sys, _testcapi
{first}
for _ in range(3):
    assert _testcapi.run_in_subinterp({other!r}) == 0
import asyncio, chordal
value = chordal.freeze({{"a": [1]}})
assert type(value) is chordal.FrozenDict and type(value["a"]) is chordal.FrozenList

class Notes(chordal.Object):
    title = chordal.document("")
    @chordal.method
    def rename(self, call, title):
        with call.transaction() as t:
            t.title = title

async def main():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes").live()
        await notes.rename("x")
        assert notes.title.value == "x"

asyncio.run(main())
"""


@pytest.mark.parametrize("first", ["", "import chordal"])
def test_another_interpreter_is_refused(first):
    pytest.importorskip("_testcapi")
    program = INTERPRETERS.format(first=first, other=OTHER.format(path=sys.path))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_may_be_loaded_again():
    program = """
import sys, chordal
kept = chordal.freeze({"a": [1]})
for name in [name for name in sys.modules if name.split(".")[0] == "chordal"]:
    del sys.modules[name]
import chordal as again
assert type(again.freeze(kept)) is again.FrozenDict and again.freeze({"a": 1}) == {"a": 1}
core = again._native.Core({})
core.close()
try:
    core.poll()
except again.ChordalError as error:
    assert error.name == "closed"
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
