"""Durable methods of a server that is killed at each point of a call: one effect, one outcome."""

import asyncio
import sys

import chordal
import pytest

SERVER = """
import asyncio, os, signal, sys
import chordal

path, address, point = sys.argv[1:]


def die_at(name):
    if name == point:
        os.kill(os.getpid(), signal.SIGKILL)


class Count(chordal.Object, keep=True):
    entries = chordal.document([])

    @chordal.method(durable=True)
    def add(self, call, text):
        die_at("started")
        with call.transaction() as t:
            t.entries.append(text)
        die_at("committed")
        asyncio.get_running_loop().call_later(0, asyncio.get_running_loop().call_later, 0.05, die_at, "answered")
        return text + "!"

    @chordal.method(durable=True)
    async def slowly(self, call, text):
        with call.transaction() as t:
            t.entries.append(text)
        await t.ticket
        die_at("stored")
        return text + "!"


async def main():
    async with chordal.Host(store=path, types=[Count]) as host:
        await host.listen(address)
        print("listening", flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
"""


async def start(tmp_path, point):
    command = [sys.executable, "-c", SERVER, str(tmp_path / "s.db"), f"ipc:{tmp_path}/socket", point]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert await server.stdout.readline() == b"listening\n"
    return server


async def call(tmp_path, point, method):
    server = await start(tmp_path, point)
    host = chordal.connect(f"ipc:{tmp_path}/socket", backoff_first=5, backoff_limit=20)
    try:
        count = await host.get("count").live()
        outcome = asyncio.ensure_future(getattr(count, method)("x"))
        if point != "never":
            await server.wait()
            server = await start(tmp_path, "never")
        result = (await asyncio.gather(outcome, return_exceptions=True))[0]
        await count.live()
        return result, list(count.entries.value)
    finally:
        await host.close()
        server.kill()
        await server.wait()


@pytest.mark.parametrize("point", ["never", "started", "committed", "answered"])
async def test_a_server_that_dies(tmp_path, point):
    assert await call(tmp_path, point, "add") == ("x!", ["x"])


async def test_what_was_stored_without_its_answer_is_not_done_again(tmp_path):
    result, entries = await call(tmp_path, "stored", "slowly")
    assert isinstance(result, chordal.OutcomeUnknown)
    assert entries == ["x"]


async def test_a_method_that_waits_for_its_commit(tmp_path):
    assert await call(tmp_path, "never", "slowly") == ("x!", ["x"])


async def test_without_a_store_it_is_refused():
    class Count(chordal.Object):
        @chordal.method(durable=True)
        def add(self, call):
            pass

    with pytest.raises(chordal.ChordalError, match="durable method"):
        chordal.Host(types=[Count])
