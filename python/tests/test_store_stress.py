"""Writers, watchers and a server that is killed again and again: what was told is there, once, and all see it."""

import asyncio
import os
import signal
import sys

import chordal

ROUNDS = 60 if os.environ.get("CHORDAL_TEST_DEEP") else 4
WRITERS, HOLDERS, WATCHES = 4, 10, 5
LEAST = 30  # calls that are answered in a round

SERVER = """
import asyncio, sys
import chordal


class Log(chordal.Object, keep=True):
    entries = chordal.document([])
    newest = chordal.document({})

    @chordal.method
    def add(self, call, writer, number):
        with call.transaction() as t:
            t.entries.append([writer, number])
            t.newest[writer] = number
        return number


async def main(path, address):
    async with chordal.Host(store=path, types=[Log]) as host:
        await host.listen(address)
        print("listening", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
"""


class Watcher:
    """What it has seen never goes back."""

    def __init__(self, reference):
        self.seen, self.faults = [], []
        self.watch = reference.entries.watch(self.on_frame)

    def on_frame(self, frame):
        if list(frame.value[: len(self.seen)]) != list(self.seen):
            self.faults.append((len(self.seen), len(frame.value)))
        self.seen = frame.value


class Stress:
    def __init__(self, path, address):
        self.command = [sys.executable, "-c", SERVER, str(path), address]
        self.address = address
        self.told, self.unknown = set(), set()
        self.answered = asyncio.Event()
        self.stopped = False

    async def start(self):
        self.server = await asyncio.create_subprocess_exec(*self.command, stdout=asyncio.subprocess.PIPE)
        assert await self.server.stdout.readline() == b"listening\n"

    async def kill(self):
        self.server.send_signal(signal.SIGKILL)
        await self.server.wait()

    async def write(self, reference, writer):
        number = 0
        while not self.stopped:
            number += 1
            entry = (writer, number)
            try:
                await reference.add(*entry)
                self.told.add(entry)
            except chordal.OutcomeUnknown:
                self.unknown.add(entry)
            self.answered.set()

    async def round(self):
        """Some calls are answered, then the server dies."""
        before = len(self.told)
        while len(self.told) < before + LEAST:
            self.answered.clear()
            await self.answered.wait()
        await self.kill()
        await self.start()


def test_a_server_that_is_killed_again_and_again(tmp_path):
    asyncio.run(asyncio.wait_for(work(tmp_path), 10 * ROUNDS))


async def work(tmp_path):
    stress = Stress(tmp_path / "s.db", f"ipc:{tmp_path}/socket")
    await stress.start()
    hosts = [chordal.connect(stress.address, backoff_first=5, backoff_limit=20) for _ in range(HOLDERS)]
    references = [await host.get("log").live() for host in hosts]
    watchers = [Watcher(reference) for reference in references for _ in range(WATCHES)]
    writers = [asyncio.create_task(stress.write(references[i], f"w{i}")) for i in range(WRITERS)]
    for _ in range(ROUNDS):
        await stress.round()
    stress.stopped = True
    await asyncio.gather(*writers)
    while any(len(watcher.seen) < len(stress.told) for watcher in watchers):
        await asyncio.sleep(0.01)
    await stress.kill()
    for host in hosts:
        await host.close()
    async with chordal.Host(store=tmp_path / "s.db") as host:
        entries = [tuple(entry) for entry in host.store.read("log", "entries")]
        newest = host.store.read("log", "newest")
        assert await host.store.check() == []
    assert len(set(entries)) == len(entries)
    assert stress.told <= set(entries) <= stress.told | stress.unknown
    for writer in {writer for writer, _ in entries}:
        numbers = [number for other, number in entries if other == writer]
        assert numbers == sorted(numbers) and newest[writer] == numbers[-1]
    assert len(stress.told) >= ROUNDS * LEAST
    for watcher in watchers:
        assert watcher.faults == []
        assert set(map(tuple, watcher.seen)) >= stress.told
