"""An object and its holder in one host: values, watches, calls, derives, transactions."""

import asyncio

import chordal
import pytest
from chordal import ChordalError, MethodError
from conftest import Notes, turns, until


async def test_first_values_and_calls():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get("notes", board="a")
        assert notes.state == "pending" or notes.state == "live"
        assert notes.list.value is None
        assert await notes.live() is notes
        assert notes.state == "live"
        assert notes.list.value == {"entries": []} and notes.summary.value == ": 0" and notes.loud.value == ": 0!"
        assert await notes.add("milk") == 1
        assert notes.list.value == {"entries": [{"id": 1, "text": "milk"}]}
        assert notes.loud.value == ": 1!"
        with pytest.raises(TypeError):
            notes.list.value["entries"].append(1)


async def test_frames_one_for_each_commit():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        seen = []
        watch = notes.list.watch(seen.append)
        await notes.live()
        await notes.add("milk")
        before = notes.list.value
        await notes.add("honey")
        assert [frame.snapshot for frame in seen] == [True, False, False]
        assert seen[0].ops == [("r", (), {"entries": []})]
        assert seen[2].ops in (
            [("p", ("entries",), 1, 0, [{"id": 2, "text": "honey"}])],
            [("s", ("entries", 1), {"id": 2, "text": "honey"})],
        )
        assert seen[2].value is notes.list.value
        assert notes.list.value["entries"][0] is before["entries"][0]
        assert notes.list.value["entries"] is not before["entries"]
        assert seen[1].commit < seen[2].commit
        await notes.rename("x")
        assert len(seen) == 3
        watch.close()
        watch.close()
        await notes.add("more")
        assert len(seen) == 3


async def test_a_later_watch_gets_the_value_first():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        await notes.add("milk")
        seen = []
        with notes.list.watch(seen.append):
            assert seen == []
            await notes.add("honey")
        assert [len(frame.value["entries"]) for frame in seen] == [1, 2]
        with pytest.raises(ChordalError) as caught:
            notes.nothing.watch(seen.append)
        assert caught.value.name == "no_member"
        with pytest.raises(ChordalError):
            notes.add.watch(seen.append)
        with pytest.raises(ChordalError):
            notes.add.value  # noqa: B018


async def test_an_early_watch_on_nothing_ends_with_the_reason():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        watch = notes.nothing.watch(print)
        with pytest.raises(ChordalError) as caught:
            async for _ in notes.nothing.frames():
                pass
        assert caught.value.name == "no_member" and watch.error.name == "no_member"


async def test_async_frames_fold_while_nobody_asks():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        frames = notes.title.frames()
        first = await anext(frames)
        assert first.snapshot and first.value == ""
        for token in "abc":
            await notes.say(token)
        second = await anext(frames)
        assert second.value == "abc" and second.folded and not second.snapshot
        assert "".join(op[2] for op in second.ops) == "abc"
        await notes.say("x" * 3_000_000)
        await notes.say("y")
        third = await anext(frames)
        assert third.snapshot and len(third.value) == 3_000_004
        task = asyncio.create_task(anext(frames))
        await turns()
        task.cancel()
        await notes.say("z")
        assert (await anext(frames)).ops == [("a", (), "z")]
        frames.close()
        assert [frame async for frame in frames] == []


async def test_frames_that_are_forgotten_are_not_kept():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        async for _ in notes.title.frames():
            break
        await notes.say("x")
        assert all(not followers for followers in notes._replica.followers.values())


async def test_all_of_a_commit_is_seen_at_once():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        seen = []
        for member in (notes.list, notes.title, notes.summary):
            member.watch(lambda _: seen.append((len(notes.list.value["entries"]), notes.title.value, notes.loud.value)))
        await turns()
        seen.clear()
        with host.object(Notes, board="a").transaction() as t:
            t.title = "x"
            t.list["entries"] += [1, 2]
        await turns()
        assert seen == [(2, "x", "X: 2!")] * 3


@pytest.mark.reports("division by zero")
async def test_a_watch_that_raises_is_reported_and_goes_on():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        seen = []
        notes.title.watch(lambda frame: seen.append(1 / len(frame.value)))
        await notes.say("x")
        assert seen == [1.0]


async def test_errors_of_methods(caplog):
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        with pytest.raises(MethodError) as caught:
            await notes.refuse("full", "no room")
        assert (caught.value.name, caught.value.detail, caught.value.code) == ("full", "no room", -83)
        assert not caplog.records
        with pytest.raises(MethodError) as caught:
            await notes.crash()
        assert caught.value.name == "internal" and "secret" not in str(caught.value)
        assert "secret words" in caplog.text
        with pytest.raises(MethodError) as caught:
            await notes.add()
        assert caught.value.name == "arguments"
        with pytest.raises(ChordalError) as caught:
            await notes.nothing()
        assert caught.value.name == "no_member"
        with pytest.raises(MethodError):
            await notes.half()
        assert notes.title.value == ""
        for value in (object(), float("nan"), [b"inside"]):
            with pytest.raises(ChordalError):
                notes.echo(value)


async def test_values_go_through_calls():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        for value in (None, True, 2**64 - 1, 1.5, "a\ud83d", [], {"k": [{}]}, b"raw\0bytes", b""):
            answer = await notes.echo(value)
            assert answer == value and type(answer) in (type(value), chordal.FrozenDict, chordal.FrozenList)
        assert await notes.echo("\ud83d\ude00") == "😀"
        assert await notes.echo(1.0) == 1
        with pytest.raises(MethodError):
            await notes.echo(b"a", b"b")  # a result holds no bytes


async def test_timeout_and_cancellation():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        with pytest.raises(chordal.DeadlineError) as caught:
            await notes.never(timeout=0.05)
        assert isinstance(caught.value, TimeoutError) and caught.value.name == "deadline"
        task = asyncio.create_task(_await(notes.never()))
        await turns(10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not host._provider.calls and not host._calls)


async def _await(future):
    return await future


async def test_cancelled_before_it_was_sent():
    class Slow(chordal.Object):
        async def start(self):
            await asyncio.sleep(0.05)

        ran = []

        @chordal.method
        def act(self, call):
            self.ran.append(1)

    async with chordal.Host(types=[Slow]) as host:
        slow = host.get(Slow)
        call = slow.act()
        call.cancel()
        await slow.live()
        await turns(10)
        assert Slow.ran == [] and not host._calls


async def test_start_may_fail_and_be_tried_again():
    class Picky(chordal.Object):
        name: str
        tries = 0
        value = chordal.document(1)

        def start(self):
            Picky.tries += 1
            if Picky.tries == 1:
                raise MethodError("not_yet", "come again")
            if self.name == "crash":
                raise ValueError("secret")

    async with chordal.Host(types=[Picky]) as host:
        picky = host.get(Picky, name="a")
        with pytest.raises(ChordalError):
            await picky.live()
        assert picky.state == "failed" and "come again" in picky.error.detail
        picky.retry()
        await picky.live()
        assert picky.value.value == 1
        with pytest.raises(ChordalError) as caught:
            await host.get(Picky, name="crash").live()
        assert "secret" not in str(caught.value)


async def test_params():
    async with chordal.Host(types=[Notes]) as host:
        for params in ({}, {"board": "a", "more": 1}, {"borad": "a"}):
            with pytest.raises(ChordalError) as caught:
                host.get("notes", params)
            assert caught.value.name == "params"
        with pytest.raises(ChordalError) as caught:
            host.get("nothing")
        assert caught.value.name == "no_type"
        a, b = host.get("notes", {"board": ["a", 1]}), host.get("notes", board=("a", 1))
        await a.add("x")
        assert b.list.value is a.list.value
        with pytest.raises(ChordalError):
            host.provide(Notes)
        with pytest.raises(ChordalError):
            host.get(Notes, board="a", version=2)


async def test_derive_that_raises_keeps_its_last_value(caplog):
    class Odd(chordal.Object):
        n = chordal.document(2)

        @chordal.derive("n")
        def half(self):
            if self.n == 13:
                raise MethodError("unlucky", "thirteen")
            if self.n % 2:
                raise ValueError("secret")
            return self.n // 2

        @chordal.derive("half")
        def double(self):
            return self.half * 2

        @chordal.method
        def set(self, call, n):
            with call.transaction() as t:
                t.n = n
            return self.half

    async with chordal.Host(types=[Odd]) as host:
        odd = host.get(Odd)
        seen = []
        odd.half.watch(lambda frame: seen.append((frame.value, frame.error and frame.error.name)))
        assert await odd.set(4) == 2
        assert await odd.set(5) == 2
        assert odd.n.value == 5 and odd.half.value == 2 and odd.half.error.name == "internal"
        assert "secret" in caplog.text and "secret" not in str(odd.half.error)
        assert await odd.set(13) == 2
        assert odd.half.error.name == "unlucky" and odd.half.error.code == -84
        assert await odd.set(6) == 3
        assert odd.half.error is None and odd.double.value == 6
        assert seen[-4:] == [(2, None), (2, "internal"), (2, "unlucky"), (3, None)]


async def test_derive_errors_over_a_link():
    class Odd(chordal.Object):
        n = chordal.document(1)

        @chordal.derive("n")
        def half(self):
            if self.n % 2:
                raise chordal.MethodError("odd", "not even")
            return self.n // 2

        @chordal.method
        def set(self, call, n):
            with call.transaction() as t:
                t.n = n

    async with chordal.Host(types=[Odd]) as provider, chordal.Host() as holder:
        chordal.pair(holder, provider)
        odd = holder.get("odd")
        seen = []
        odd.half.watch(lambda frame: seen.append((frame.value, frame.error and frame.error.name)))
        await odd.live()
        assert odd.half.error.name == "odd" and odd.half.error.detail == "not even" and odd.half.error.code == -84
        await odd.set(4)
        assert odd.half.error is None
        await odd.set(5)
        assert odd.half.error.name == "odd" and odd.half.value == 2
        await until(lambda: len(seen) == 3)
        assert seen == [(None, "odd"), (2, None), (2, "odd")]
        late = holder.get("odd", version=1)
        assert (await late.live()).half.error.name == "odd"


async def test_derive_of_a_wrong_value_is_an_error(caplog):
    class Wrong(chordal.Object):
        n = chordal.document(2)

        @chordal.derive("n")
        def bad(self):
            return {1: 2}

    async with chordal.Host(types=[Wrong]) as host:
        wrong = await host.get(Wrong).live()
        assert wrong.bad.error.name == "internal" and wrong.bad.value is None


async def test_commit_is_one_crossing():
    class Plain(chordal.Object):
        name: str
        a = chordal.document({"n": 0, "list": []})
        b = chordal.document("")

    async with chordal.Host(types=[Plain]) as host:
        one, two = host.object(Plain, name="1"), host.object(Plain, name="2")
        assert (one.a["n"], two.a["n"], one.b) == (0, 0, "")  # read once from the core
        await turns()
        before = host.counters["entries"]
        with host.transaction() as t:
            draft = t.of(one).a
            draft["n"] += 1
            draft["list"].extend([1, 2, 3])
            draft["list"].reverse()
            assert draft["list"].pop() == 1
            t.of(one).b += "x"
            t.of(two).a["list"] = [4]
            assert (draft["list"], t.of(one).b, t.of(two).a) == ([3, 2], "x", {"n": 0, "list": [4]})
        assert host.counters["entries"] - before == 1 + 1  # the commit, and this look at the counters
        assert (one.a, one.b, two.a["list"]) == ({"n": 1, "list": [3, 2]}, "x", [4])
        assert await t.ticket > 0
        first = one.a["list"]
        with one.transaction() as t:
            t.a["n"] = 2
        assert one.a["list"] is first


async def test_derives_are_readable_at_once():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.object(Notes, board="b")
        assert (notes.summary, notes.loud) == (": 0", ": 0!")
        with notes.transaction() as t:
            t.title = "t"
            t.list["entries"].append(1)
        assert (notes.summary, notes.loud) == ("t: 1", "T: 1!")


def test_options():
    with pytest.raises(TypeError):
        chordal.Host(windows=1)
    with pytest.raises(TypeError):
        chordal.Host(flags=1)
    with pytest.raises(OverflowError):
        chordal.Host(window_messages=-1)
    with pytest.raises(ChordalError) as caught:
        chordal.Host(depth_limit=1 << 20)
    assert caught.value.name == "invalid"


async def test_transactions_over_objects_and_their_end():
    async with chordal.Host(types=[Notes]) as host:
        one, two = host.object(Notes, board="1"), host.object(Notes, board="2")
        with host.transaction() as t:
            t.of(one).title = "x"
            t.of(two).title = "y"
            draft = t.of(two).list["entries"]
            with pytest.raises(ChordalError):
                t.title = "no object of its own"
        assert await t.ticket == await t.ticket
        assert (one.title, two.title) == ("x", "y")
        for use in (lambda: draft.append(1), lambda: t.of(one).title, lambda: t.commit()):
            with pytest.raises(ChordalError) as caught:
                use()
            assert caught.value.name == "state"
        with pytest.raises(RuntimeError, match="mine"), one.transaction() as t:
            t.title = "gone"
            raise RuntimeError("mine")
        assert one.title == "x"
        with pytest.raises(ChordalError):
            t.ticket  # noqa: B018
        with one.transaction() as t:
            pass
        assert await t.ticket == 0
        with pytest.raises(ChordalError) as caught, one.transaction() as t:
            t.summary = "a derive"
        assert caught.value.name == "no_member"


async def test_conflict():
    async with chordal.Host(types=[Notes]) as host:
        one = host.object(Notes, board="1")
        late = one.transaction()
        late.title += "late"
        with one.transaction() as t:
            t.title = "first"
        with pytest.raises(ChordalError) as caught:
            late.commit()
        assert caught.value.name == "conflict" and one.title == "first"

        async def grow(t):
            title = t.of(one).title
            await asyncio.sleep(0)
            t.of(one).title = title + "x"

        await asyncio.gather(*(host.transact(grow) for _ in range(5)))
        assert one.title == "first" + "x" * 5
        assert await host.transact(lambda t: len(t.of(one).title)) == 10


async def test_refused_commit_changes_nothing():
    async with chordal.Host(types=[Notes]) as host:
        one = host.object(Notes, board="1")
        deep = "x"
        for _ in range(500):
            deep = [deep]
        with pytest.raises(ChordalError) as caught, one.transaction() as t:
            t.title = "y"
            t.list["entries"] = {"a": {"b": chordal.freeze([[[[[[[[[[deep]]]]]]]]]])}}
        assert caught.value.name == "depth"
        assert one.title == "" and one.list == {"entries": []}


async def test_objects_come_and_go():
    ends = []

    class Short(chordal.Object):
        name: str
        value = chordal.document(1)

        def retired(self):
            ends.append(self.name)

    class Kept(Short, keep=True):
        pass

    async with chordal.Host(types=[Short, Kept]) as host:
        short = await host.get(Short, name="a").live()
        kept = await host.get(Kept, name="k").live()
        instance = host.object(Short, name="a")
        short.release()
        await turns()
        assert ends == []
        instance.release()
        kept.release()
        await until(lambda: ends)
        assert ends == ["a"]
        with pytest.raises(ChordalError):
            instance.value  # noqa: B018
        assert short.state == "released"
        with pytest.raises(ChordalError):
            await short.live()
        again = host.get(Short, name="b")
        await again.live()
        host.object(Short, name="b").retire()
        await until(lambda: again.state == "retired")
        assert again.value.value == 1
        with pytest.raises(ChordalError) as caught:
            await again.live()
        assert caught.value.name == "retired"
        assert host.get(Short, name="b")._replica is not again._replica


async def test_forgotten_references_are_given_back():
    async with chordal.Host(types=[Notes]) as host:
        before = host.counters["live_ids"]
        notes = await host.get(Notes, board="a").live()
        seen = []
        notes.title.watch(seen.append)
        del notes
        await turns()
        assert host.counters["live_objects"] == 1  # the watch goes on
        host.object(Notes, board="a")
        await host.get(Notes, board="a").say("x")
        assert seen[-1].value == "x"
        for replica in list(host._watched):
            for watch in list(replica.watches):
                watch.close()
        del replica, watch
        host._provider.objects[next(iter(host._provider.objects))].release()
        await until(lambda: host.counters["live_objects"] == 0)
        assert host.counters["live_ids"] == before


async def test_names_of_the_class_are_reached_as_items():
    class Odd(chordal.Object, name="odd-names"):
        state = chordal.document("a")
        retry = chordal.document("b")

    async with chordal.Host(types=[Odd]) as host:
        odd = await host.get("odd-names").live()
        assert odd["state"].value == "a" and odd.state == "live" and odd["retry"].value == "b"


async def test_members_of_a_reference_are_not_assigned():
    class Mine(chordal.Reference):
        __slots__ = ("slot",)
        color = None

    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        for name in ("list", "nothing", "state", "release"):
            with pytest.raises(AttributeError, match=f"^{name} of a reference cannot be assigned"):
                setattr(notes, name, {"entries": [1]})
        assert notes.list.value == {"entries": []} and notes.state == "live"
        mine = Mine(notes._replica, notes.type, notes.params)
        mine.slot, mine.color = 1, "red"
        assert (mine.slot, mine.color, mine.type) == (1, "red", "notes")
        with pytest.raises(AttributeError):
            mine.list = 1
        mine.release()


async def test_a_watch_calls_something():
    async with chordal.Host(types=[Notes]) as host:
        notes = host.get(Notes, board="a")
        with pytest.raises(TypeError, match="a watch calls a function, not 5"):
            notes.list.watch(5)
        assert not host._watched


RESERVED = "params host transaction retire revoke release start migrate guard retired declaration type_name _id".split()


@pytest.mark.parametrize("name", RESERVED)
def test_members_do_not_hide_what_objects_have(name):
    for member in (
        chordal.document(),
        chordal.table({"id": "integer"}, key="id"),
        chordal.derive("list")(lambda self: 1),
        chordal.method(lambda self, call: 1),
    ):
        with pytest.raises(TypeError, match=f"^{name} hides what each object has"):
            type("Odd", (chordal.Object,), {"list": chordal.document(), name: member})
        mixin = type("Mixin", (), {name: member})
        with pytest.raises(TypeError, match=f"^{name} hides"):
            type("Odd", (mixin, chordal.Object), {})
    if not name.startswith("_"):
        with pytest.raises(TypeError, match=f"^{name} hides"):
            type("Odd", (chordal.Object,), {"__annotations__": {name: "str"}})


def test_class_keywords():
    with pytest.raises(TypeError, match="^Odd has the class keyword verion: there are name, version, keep"):

        class Odd(chordal.Object, verion=2):
            pass

    class Mixin:
        def __init_subclass__(cls, color, **rest):
            super().__init_subclass__(**rest)
            cls.color = color

    class Red(chordal.Object, Mixin, color="red", version=2):
        pass

    class Green(Mixin, chordal.Object, color="green", version=3):
        pass

    assert (Red.color, Red.type_version, Green.color, Green.type_version) == ("red", 2, "green", 3)


def test_declarations():
    class LunchPoll(chordal.Object, version=3, keep=True):
        place: str
        day: "int"
        votes = chordal.document([])

        @chordal.derive("votes")
        def total(self):
            return 0

        @chordal.method(idempotent=True)
        def vote(self, call):
            pass

    assert LunchPoll.type_name == "lunch_poll"
    assert LunchPoll.type_params == ("place", "day")
    assert LunchPoll.declaration() == (
        b'{"name": "lunch_poll", "version": 3, "params": ["place", "day"], "keep": true, "history": 0, '
        b'"start": false, "migrates": false, "guarded": false, '
        b'"members": [{"name": "votes", "kind": "document", "initial": []}, '
        b'{"name": "total", "kind": "derive", "from": ["votes"]}, '
        b'{"name": "vote", "kind": "method", "idempotent": true}]}'
    )
    with pytest.raises(TypeError):
        chordal.derive()
    with pytest.raises(TypeError):
        LunchPoll()
    with pytest.raises(ChordalError):
        chordal.Host(types=[chordal.Object])
    with pytest.raises(ChordalError):
        chordal.document({1: 2})
