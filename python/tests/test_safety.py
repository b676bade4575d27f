"""Threads, forks, finalizers."""

import asyncio
import gc
import os
import sys
import threading

import chordal
import pytest
from chordal import ChordalError
from conftest import Notes, turns, until


def in_thread(function):
    outcome = []

    def run():
        try:
            outcome.append(function())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


async def test_a_second_thread_is_refused():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        instance = host.object(Notes, board="a")
        link, server = host.connect("ipc:/nowhere"), await host.listen("ws://127.0.0.1:0")
        worker = host.worker([sys.executable, "-c", ""])
        watch, frames = notes.title.watch(lambda frame: None), notes.title.frames()

        def commit():
            with instance.transaction() as t:
                t.title = "thread"

        uses = [
            lambda: notes.title.watch(print),
            lambda: notes.title.frames(),
            watch.close,
            frames.close,
            notes.release,
            link.close,
            link.retry,
            server.close,
            lambda: asyncio.run(worker.stop()),
            lambda: host.get("notes", board="b"),
            lambda: host.object(Notes, board="b"),
            lambda: host.transaction(),
            lambda: host.counters,
            lambda: host.connect("ipc:/x"),
            lambda: notes.add("x"),
            lambda: instance.retire(),
            lambda: host.digest(1),
            lambda: host._core.poll(),
            lambda: asyncio.run(host.close()),
            commit,
        ]
        for use in uses:
            error = in_thread(use)
            assert isinstance(error, ChordalError) and error.name == "busy", error
        assert instance.title == "" and notes.title.value == "" and notes.state == "live"
        assert link.state != "closed" and not worker.gone and server in host._servers
        assert (await anext(frames)).value == ""
        watch.close()
        frames.close()
        assert in_thread(lambda: notes.title.value) == ""  # values are plain immutable things


async def test_finalizers_on_another_thread_while_the_core_works():
    async with chordal.Host(types=[Notes]) as host:
        writer = await host.get("notes", board="w").live()
        before = host.counters["live_ids"]
        for round_ in range(20):
            references = [host.get("notes", board=f"{round_}-{n}") for n in range(50)]
            stop = threading.Event()

            def drop(references=references, stop=stop):
                while references:
                    references.pop()
                    gc.collect(0)
                stop.set()

            thread = threading.Thread(target=drop)
            thread.start()
            del references
            while not stop.is_set():
                await writer.say("x")
            thread.join()
        await until(lambda: host.counters["live_objects"] == 1)
        assert host.counters["live_ids"] == before


async def test_hosts_in_several_threads():
    def work():
        async def main():
            async with chordal.Host(types=[Notes]) as provider, chordal.Host() as holder:
                chordal.pair(holder, provider)
                notes = holder.get("notes", board="a")
                for n in range(50):
                    assert await notes.add("x") == n + 1
                return len(notes.list.value["entries"])

        return asyncio.run(main())

    results = []
    threads = [threading.Thread(target=lambda: results.append(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        await asyncio.sleep(0.01)
    assert results == [50] * 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_fork():
    async with chordal.Host(types=[Notes]) as host:
        notes = await host.get("notes", board="a").live()
        instance = host.object(Notes, board="a")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os._exit(_in_child(host, notes, instance, writer))
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reader) as told:
            assert told.read() == ""
        assert status == 0
        assert await notes.add("the parent goes on") == 1


def _in_child(host, notes, instance, writer):
    """What a forked process sees; 0 when all is as it should be."""
    uses = [
        lambda: host._core.poll(),
        lambda: host._core.reference_get(0, "notes", 0, 0, {"board": "b"}),
        lambda: instance.retire(),
        lambda: host._core.commit(0, b""),
        lambda: notes.add("x"),
    ]
    for index, use in enumerate(uses):
        try:
            use()
        except ChordalError as error:
            if error.name != "forked":
                os.write(writer, f"{index}: {error}".encode())
        else:
            os.write(writer, f"{index}: no error".encode())
    notes.release()
    gc.collect()
    return 0


async def test_counts_go_back_to_zero():
    host = chordal.Host(types=[Notes])
    notes = await host.get("notes", board="a").live()
    before = host.counters
    for n in range(100):
        await notes.say("x")
        await notes.echo(n)
        with host.object(Notes, board="a").transaction() as t:
            t.list["entries"] = []
        host._provider.objects[notes_id(host)].release()
    await turns(10)
    after = host.counters
    assert after["live_ids"] == before["live_ids"] and not host._calls and not host._provider.calls
    assert not host._provider.tickets and not host._core.owned - {notes._replica.id}
    await host.close()


def notes_id(host):
    (number,) = host._provider.objects
    return number
