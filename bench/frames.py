"""What a frame copies: one element changes in a list or an object of some size, held with values that share while the
one before is kept or let go, in place, or with ops alone. python bench/frames.py FOLDER BATCHES: a JSON object a
line."""

import asyncio
import statistics
import time
import tracemalloc

import chordal
from chordal import _native, _records
from chordal.transaction import Ticket
from world import BATCHES, WARM, report

BATCH = 50 if BATCHES > 1 else 10
KEEP = {"shared": "shared", "let go": "shared", "in place": "in-place", "ops alone": "none"}
SIZES = {"list": (100, 1000, 10_000, 100_000), "object": (100, 1000, 10_000)}


class Sized(chordal.Object):
    value = chordal.document(None)


def key_of(i):
    return f"key-{i:07}"


def varint(number):
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def made(kind, size):
    return list(range(size)) if kind == "list" else {key_of(i): i for i in range(size)}


class World:
    """A provider's object, held by a linked host that watches it."""

    async def open(self, kind, size, kept):
        self.provider, self.consumer = chordal.Host(types=[Sized]), chordal.Host()
        chordal.pair(self.consumer, self.provider)
        self.object = self.provider.object(Sized)
        with self.object.transaction() as t:
            t.value = made(kind, size)
        await t.ticket
        self.arrived = asyncio.get_running_loop().create_future()
        self.member = self.consumer.get(Sized, values=KEEP[kept]).value
        self.keeps, self.last = kept == "shared", None  # whether the value before is still there when the next comes
        self.watch = self.member.watch(self.notice)
        await self.arrived
        self.segment = size // 2 if kind == "list" else key_of(size // 2)
        self.number = 0
        return self

    def notice(self, frame):
        self.last = frame.value if self.keeps else None
        if not self.arrived.done():
            self.arrived.set_result(None)

    def commit(self):
        """The ops as the core takes them, so that the provider's own values have no part in it."""
        self.number += 1
        ops = _native.Ops()
        ops.add(_records.OP_SET, (0, self.segment), self.number % 100)
        ticket = self.provider._core.commit(0, varint(self.object._id) + varint(len(ops)) + bytes(ops))
        self.provider._provider.tickets[ticket] = (Ticket(self.provider._pump), None)
        self.provider._wake()

    async def frame(self):
        self.arrived = asyncio.get_running_loop().create_future()
        self.commit()
        await self.arrived

    async def close(self):
        await self.consumer.close()
        await self.provider.close()


async def taken(world):
    """Bytes that Python takes beside what is there, at most, while a frame arrives."""
    tracemalloc.start()
    peaks = []
    for _ in range(10):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        await world.frame()
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    return round(statistics.median(peaks))


async def measure(kind, size, kept):
    world = await World().open(kind, size, kept)
    samples = []
    for batch in range(-WARM, BATCHES):
        start = time.perf_counter()
        for _ in range(BATCH):
            await world.frame()
        if batch >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / BATCH)
    heap = await taken(world)
    assert kept == "ops alone" or world.member.value[world.segment] == world.number % 100
    report(case=f"frame, {kind} of {size:,}, {kept}", unit="us", samples=samples, counts={"heap": heap})
    await world.close()


async def main():
    for kind, sizes in SIZES.items():
        for size in sizes:
            for kept in KEEP:
                await measure(kind, size, kept)


asyncio.run(main())
