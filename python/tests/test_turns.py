"""When a host takes its turns: within an await, in a step of the loop, one step for all that wait."""

import asyncio
import contextvars
import gc
import selectors
import socket

import chordal
import pytest
from chordal import _pump
from conftest import Notes, turns, until


class Kept(chordal.Object, history="all"):
    key: str
    number = chordal.document(0)
    list = chordal.document([])

    @chordal.method
    def add(self, call, number):
        return commit(self, number).commit

    @chordal.method
    async def add_later(self, call, number):
        return await commit(self, number)


def commit(kept, number):
    with kept.transaction() as t:
        t.number = number
    return t.ticket


class Counting(selectors.DefaultSelector):
    """How often the loop goes round."""

    rounds = 0

    def select(self, timeout=None):
        self.rounds += 1
        return super().select(timeout)


def run(work, *arguments):
    selector = Counting()
    loop = asyncio.SelectorEventLoop(selector)
    try:
        return loop.run_until_complete(work(selector, *arguments))
    finally:
        loop.close()


@pytest.fixture
def store(tmp_path):
    return {"types": [Kept], "store": tmp_path / "kept.db"}


MOST = _pump._EARLY_STEPS


def test_commits_one_after_the_other_do_not_wait_for_the_loop(store):
    async def work(selector):
        async with chordal.Host(**store) as host:
            kept = host.object("kept", key="a")
            await turns()
            rounds, steps = selector.rounds, host.counters["steps"]
            numbers = [await commit(kept, number) for number in range(1, 4 * MOST + 1)]
            assert numbers == list(range(numbers[0], numbers[0] + 4 * MOST))
            assert host.counters["steps"] - steps == 4 * MOST
            assert selector.rounds - rounds <= 2 * 4

    run(work)


def test_calls_one_after_the_other_do_not_wait_for_the_loop():
    async def work(selector, linked):
        async with chordal.Host(types=[Kept]) as provider, chordal.Host() as other:
            if linked:
                chordal.pair(other, provider)
            kept = await (other if linked else provider).get("kept", key="a").live()
            await turns(10)
            rounds = selector.rounds
            for number in range(4 * MOST):
                await kept.add(number)
                assert kept.number.value == number
            assert selector.rounds - rounds <= MOST  # with those of the links' timers

    run(work, False)
    run(work, True)


async def test_frames_come_in_the_order_of_commits_and_before_the_await_ends():
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        reference = await host.get("kept", key="a").live()
        seen = []
        with reference.number.watch(lambda frame: seen.append((frame.value, frame.commit))):
            await turns()
            seen.clear()
            for number in range(3 * MOST):
                at = await commit(kept, number + 1)
                assert seen[-1] == (number + 1, at)
        assert [value for value, _ in seen] == list(range(1, 3 * MOST + 1))


async def test_frames_are_taken_as_they_are_asked_for():
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        reference = await host.get("kept", key="a").live()
        frames = reference.number.frames()
        await frames.__anext__()
        for number in range(1, 2 * MOST):
            commit(kept, number)
            assert (await frames.__anext__()).value == number
        frames.close()


@pytest.mark.parametrize("what", ["timer", "socket"])
async def test_the_loop_goes_round_for_timers_and_sockets(what):
    loop, seen = asyncio.get_running_loop(), []
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        await turns()
        here, there = socket.socketpair()
        if what == "timer":
            loop.call_later(0, seen.append, 1)
        else:
            loop.add_reader(here, seen.append, 1)
            there.send(b"x")
        commits = 0
        while not seen and commits < 10 * MOST:
            commits += 1
            await commit(kept, commits)
        loop.remove_reader(here)
        here.close()
        there.close()
        assert seen and commits <= 3 * MOST


async def test_another_task_has_its_turn():
    async with chordal.Host(types=[Kept]) as host:
        kept, counts = host.object("kept", key="a"), [0, 0]
        await turns()

        async def go_on(which):
            while min(counts) < 5 * MOST:
                await commit(kept, counts[which] * 2 + which)
                counts[which] += 1
                assert max(counts) <= min(counts) + 2 * MOST

        await asyncio.gather(go_on(0), go_on(1))


async def test_what_is_committed_together_is_one_step(store):
    async with chordal.Host(**store) as host:
        kept = host.object("kept", key="a")
        await turns()
        before = host.counters["steps"]
        tickets = [commit(kept, number) for number in range(1, 301)]
        numbers = [await ticket for ticket in tickets]
        assert numbers == sorted(numbers) and host.counters["steps"] == before + 1


async def test_tasks_that_commit_together_go_on_together(store):
    """Each of them commits when the one before it is through; no step is for one of them alone."""
    async with chordal.Host(**store) as host:
        kept = host.object("kept", key="a")
        await turns()
        before = host.counters["steps"]

        async def some(which):
            for number in range(2 * MOST):
                await commit(kept, which * 1000 + number)

        await asyncio.gather(*(some(which) for which in range(20)))
        assert host.counters["steps"] == before + 2 * MOST


async def test_calls_that_arrive_together_are_one_step(store):
    async with chordal.Host(**store) as provider, chordal.Host() as other:
        chordal.pair(other, provider)
        kept = await other.get("kept", key="a").live()
        await turns(10)
        before = provider.counters["steps"]
        await asyncio.gather(*(kept.add_later(number) for number in range(50)))
        assert provider.counters["steps"] <= before + 2


async def test_what_is_ready_runs_first():
    loop, seen = asyncio.get_running_loop(), []
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        reference = await host.get("kept", key="a").live()
        with reference.number.watch(lambda frame: seen.append(frame.value)):
            await turns()
            seen.clear()
            loop.call_soon(seen.append, "ready")
            await commit(kept, 1)
            assert seen == ["ready", 1]


async def test_no_turn_is_taken_within_one():
    """A watch that runs a coroutine by hand, which waits for a commit of its own."""
    async with chordal.Host(types=[Kept]) as host:
        kept, other = host.object("kept", key="a"), host.object("kept", key="b")
        reference = await host.get("kept", key="a").live()
        inside, waits, done = 0, [], []

        async def follow(number):
            done.append(await commit(other, number))

        def on_frame(frame):
            nonlocal inside
            inside += 1
            assert inside == 1
            if frame.value:
                by_hand = follow(frame.value)
                by_hand.send(None)  # a future: it waits
                waits.append(by_hand)
            inside -= 1

        with reference.number.watch(on_frame):
            await turns()
            at = await commit(kept, 5)
            await until(lambda: other.number == 5)
            with pytest.raises(StopIteration):
                waits[0].send(None)
        assert done == [at + 1]


@pytest.mark.reports("in a watch")
async def test_an_exception_within_is_the_loops_to_tell():
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        reference = await host.get("kept", key="a").live()

        def on_frame(frame):
            if frame.value:
                raise ValueError("in a watch")

        with reference.number.watch(on_frame):
            await turns()
            await commit(kept, 1)


@pytest.mark.reports("")
async def test_a_turn_without_memory_is_taken_later(monkeypatch):
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        await turns()
        failed = []

        def poll(self, polled):
            monkeypatch.undo()
            failed.append(True)
            raise MemoryError

        monkeypatch.setattr(_pump.Pump, "_poll", poll)
        assert await commit(kept, 1) > 0 and failed == [True]


async def test_a_ticket_of_a_host_that_closes_says_so():
    host = chordal.Host(types=[Kept])
    kept = host.object("kept", key="a")
    await turns()
    ticket = commit(kept, 1)
    await host.close()
    try:
        assert await ticket > 0
    except chordal.ChordalError as error:
        assert error.name == "closed"


async def test_a_turn_within_an_await_has_variables_of_its_own():
    variable = contextvars.ContextVar("variable", default=0)
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        reference = await host.get("kept", key="a").live()
        with reference.number.watch(lambda frame: variable.set(frame.value)):
            await turns()
            for number in range(1, MOST):
                await commit(kept, number)
                assert variable.get() == 0


async def test_a_cancelled_call_is_cancelled_at_once():
    async with chordal.Host(types=[Notes]) as provider, chordal.Host() as other:
        chordal.pair(other, provider)
        notes = await other.get("notes", board="a").live()
        call = notes.never()
        await turns(10)
        (running,) = provider._provider.calls.values()
        assert call.cancel() and not call.cancel() and call.cancelled()
        await until(running.cancelled.is_set)
        await until(lambda: not other._calls)


async def test_an_outcome_keeps_no_host():
    host = chordal.Host(types=[Notes])
    notes = await host.get("notes", board="a").live()
    outcomes = [notes.echo(1), notes.refuse("a", "b")]
    ticket = host.object("notes", board="a").transaction().commit()
    await asyncio.gather(*outcomes, return_exceptions=True)
    await ticket
    waiting = notes.never()
    await host.close()
    waiting.exception()
    assert [outcome.host for outcome in (*outcomes, waiting)] == [None] * 3 and ticket._pump is None
    gc.collect()


async def test_a_loop_of_another_kind_takes_turns_by_itself(monkeypatch):
    async with chordal.Host(types=[Kept]) as host:
        kept = host.object("kept", key="a")
        await turns()
        monkeypatch.setattr(host._pump._turns, "_ready", None)
        assert await commit(kept, 1) < await commit(kept, 2) < await commit(kept, 3)
        assert host._pump._turns.early_steps == 0
