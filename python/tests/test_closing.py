"""Closing in every order, and what is told to those who wait."""

import asyncio
import gc
import itertools
import subprocess
import sys

import chordal
import pytest
from chordal import ChordalError
from conftest import Notes, turns, until

THINGS = ["host", "provider", "link", "reference", "watch", "frames", "call"]


async def closed_in(order):
    provider = chordal.Host(types=[Notes])
    host = chordal.Host()
    link = chordal.pair(host, provider)
    reference = await host.get("notes", board="a").live()
    watch = reference.title.watch(lambda frame: None)
    frames = reference.list.frames()
    call = reference.forever()
    value = reference.list.value
    await turns(20)
    close = {
        "host": host.close,
        "provider": provider.close,
        "link": link.close,
        "reference": reference.release,
        "watch": watch.close,
        "frames": frames.close,
        "call": call.cancel,
    }
    for name in order:
        step = close[name]()
        if asyncio.iscoroutine(step):
            await step
        await turns(1 if order[0] < order[-1] else 0)
    for name in reversed(order):
        step = close[name]()
        if asyncio.iscoroutine(step):
            await step
    assert call.done()
    call.cancelled() or call.exception()
    assert value == {"entries": []} and reference.list.value is value
    assert [frame async for frame in frames] == []
    return reference


async def test_every_order():
    orders = list(itertools.permutations(THINGS))
    for order in orders[:: max(1, len(orders) // 400)]:
        await closed_in(order)


async def test_use_after_close():
    provider = chordal.Host(types=[Notes])
    notes = await provider.get("notes", board="a").live()
    instance = provider.object(Notes, board="a")
    transaction = instance.transaction()
    await provider.close()
    await provider.close()
    uses = [
        lambda: provider.get("notes", board="a"),
        lambda: provider.object(Notes, board="b"),
        lambda: provider.provide(Notes),
        lambda: provider.connect("ws://127.0.0.1:1"),
        lambda: provider.counters,
        lambda: provider.run,
        lambda: provider.transaction(),
        lambda: instance.transaction().commit(),
        lambda: instance.retire(),
        lambda: transaction.of(instance).title,
        lambda: notes.retry(),
    ]
    for use in uses:
        with pytest.raises(ChordalError) as caught:
            use()
        assert caught.value.name in ("closed", "state")
    assert notes.state == "released" and notes.list.value == {"entries": []}
    for use in (lambda: notes.add("x"), lambda: notes.title.watch(print), lambda: notes.title.frames()):
        with pytest.raises(ChordalError):
            use()
    with pytest.raises(ChordalError):
        await notes.live()
    notes.release()


async def test_everything_that_waits_is_told():
    host = chordal.Host(types=[Notes])
    stuck = host.connect("ipc:/nowhere/at/all")
    notes = await host.get("notes", board="a").live()
    pending = host.get("nothing", link=stuck)
    waiters = [
        asyncio.ensure_future(notes.forever()),
        asyncio.create_task(pending.live()),
        asyncio.ensure_future(pending.act()),
        asyncio.create_task(stuck.up()),
    ]
    frames = asyncio.create_task(anext(pending.title.frames(), "ended"))
    await turns(10)
    await host.close()
    for waiter in waiters:
        with pytest.raises(ChordalError) as caught:
            await waiter
        assert caught.value.name == "closed"
    assert await frames == "ended"
    assert host.closed


async def test_release_ends_calls_and_iterations():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        call = notes.forever()
        frames = asyncio.create_task(_all(notes.title.frames()))
        await turns(10)
        notes.release()
        with pytest.raises(ChordalError) as caught:
            await call
        assert caught.value.name == "released"
        assert await frames == [""]


async def test_release_of_one_reference_leaves_the_others():
    async with chordal.Host(types=[Notes]) as provider, chordal.Host() as holder:
        chordal.pair(holder, provider)
        first = holder.get("notes", board="a")
        second = await holder.get("notes", board="a").live()
        seen = []
        first.title.watch(lambda frame: seen.append(("first", frame.value)))
        second.title.watch(lambda frame: seen.append(("second", frame.value)))
        frames = asyncio.create_task(_all(first.title.frames()))
        await turns(10)
        first.release()
        first.release()
        assert first.state == "released" and second.state == "live" and await frames == [""]
        with pytest.raises(ChordalError) as caught:
            first.rename("no")
        assert caught.value.name == "released"
        await second.rename("yes")
        await turns()
        assert seen == [("first", ""), ("second", ""), ("second", "yes")]
        second.release()
        await until(lambda: not holder._replicas)


async def test_a_watch_keeps_the_object_of_a_forgotten_reference():
    async with chordal.Host(types=[Notes]) as host:
        seen = []
        watch = host.get("notes", board="a").title.watch(lambda frame: seen.append(frame.value))
        other = await host.get("notes", board="a").live()
        other.release()
        gc.collect()
        again = await host.get("notes", board="a").live()
        await again.rename("still")
        await until(lambda: seen[-1:] == ["still"])
        watch.close()


async def _all(frames):
    return [frame.value async for frame in frames]


async def test_closing_inside_of_callbacks():
    for act in ("close", "release", "release-host"):
        provider = chordal.Host(types=[Notes])
        holder = chordal.Host()
        chordal.pair(holder, provider)
        notes = holder.get("notes", board="a")

        def react(frame, act=act, notes=notes, holder=holder):
            if act == "close":
                holder._close_now()
            elif act == "release":
                notes.release()
            else:
                notes.release()
                holder._close_now()

        notes.title.watch(react)
        notes.list.watch(react)
        await until(lambda notes=notes: notes.state == "released")
        await holder.close()
        await provider.close()


async def test_forgotten_hosts_leave_nothing():
    for _ in range(3):
        provider = chordal.Host(types=[Notes])
        holder = chordal.Host()
        chordal.pair(holder, provider)
        await holder.get("notes", board="a").live()
        del provider, holder
    gc.collect()


def test_a_second_loop():
    async def first():
        host = chordal.Host(types=[Notes])
        notes = await host.get("notes", board="a").live()
        await notes.add("milk")
        asyncio.ensure_future(notes.forever())
        await turns()
        return host, notes

    host, notes = asyncio.run(first())

    async def second():
        assert await notes.add("honey") == 2
        async with chordal.Host(types=[Notes]) as other:
            assert await other.get("notes", board="a").add("x") == 1
        await host.close()

    asyncio.run(second())


ENDINGS = {
    "not closed": "asyncio.run(main())",
    "kept": "kept = asyncio.run(main())",
    "exit inside": "asyncio.run(main(lambda: sys.exit(0)))",
    "second run": "asyncio.run(main()); asyncio.run(main())",
    "thread": "import threading; t = threading.Thread(target=lambda: asyncio.run(main())); t.start(); t.join()",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["ipc", "ws"])
def test_interpreter_ends_clean(ending, kind, tmp_path):
    url = f"ipc:{tmp_path / 'socket'}" if kind == "ipc" else "ws://127.0.0.1:0"
    program = f"""
import asyncio, sys
sys.path.insert(0, {str(__file__.rsplit("/", 1)[0])!r})
import chordal
from conftest import Notes

async def main(end=lambda: None):
    asyncio.get_running_loop().slow_callback_duration = float("inf")  # how long a step takes is not what is tested
    host = chordal.Host(types=[Notes])
    server = await host.listen({url!r})
    holder = chordal.connect(server.address)
    notes = await holder.get("notes", board="a").live()
    notes.title.watch(lambda frame: None)
    call = notes.forever()
    assert await notes.add("x") == 1
    end()
    return host, holder, notes, call

{ENDINGS[ending]}
print("end")
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=200)
    noise = [
        line
        for line in done.stderr.splitlines()
        if not line.startswith(("sys:1: ResourceWarning", "  ", "ResourceWarning")) and "ResourceWarning" not in line
    ]
    assert done.returncode == 0 and noise == [], done.stderr
    assert done.stdout == ("" if ending == "exit inside" else "end\n")
