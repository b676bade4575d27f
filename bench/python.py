"""What the package costs. python bench/python.py FOLDER BATCHES: a JSON object a line; FOLDER has the payloads."""

import asyncio
import gc
import json
import pathlib
import sys
import time
import tracemalloc
from dataclasses import dataclass

import chordal

FOLDER, BATCHES = pathlib.Path(sys.argv[1]), int(sys.argv[2])
NOTES, DOCUMENT, ITEM = ((FOLDER / f"{name}.json").read_text() for name in ("notes", "document", "item"))
KEPT = min(50, BATCHES * 10)
WARM = 3 if BATCHES > 1 else 1  # batches before those that count


class Notes(chordal.Object):
    board: int
    list = chordal.document({"entries": []})

    @chordal.method
    def ping(self, call, text):
        return "n1"


class World:
    """One host, or two over a memory link."""

    async def open(self, linked, payload):
        self.provider = await chordal.Host(types=[Notes]).__aenter__()
        self.consumer = self.provider
        if linked:
            self.consumer = await chordal.Host().__aenter__()
            self.link = chordal.pair(self.consumer, self.provider)
        self.object = await self.provide(0, payload)
        return self

    async def provide(self, board, payload):
        instance = self.provider.object(Notes, board=board)
        with instance.transaction() as t:
            t.list = json.loads(payload)
        await t.ticket
        return instance

    async def hold(self, board=0):
        self.reference = self.consumer.get(Notes, board=board)
        await self.reference.live()
        return self.reference

    async def watch(self):
        self.arrived = asyncio.get_running_loop().create_future()
        await self.hold()
        self.watching = self.reference.list.watch(lambda _: self.arrived.done() or self.arrived.set_result(None))
        await self.arrived

    async def close(self):
        await self.consumer.close()
        await self.provider.close()

    def counters(self):
        both = [host.counters for host in {self.provider, self.consumer}]
        return {name: sum(counters[name] for counters in both) for name in both[0]}


# ---- what is done to the notes ----


def token(t):
    t.list["entries"][999]["text"] += " tok"


def field(t):
    field.number += 1
    t.list["entries"][500]["author"] = f"name-{field.number % 1000:03}"


field.number = 0


def item(t):
    t.list["entries"].append(json.loads(ITEM))


def removal(t):
    del t.list["entries"][400]


def commit(change):
    async def once(world):
        with world.object.transaction() as t:
            change(t)
        await t.ticket

    return once


def commit_to_frame(change):
    async def once(world):
        world.arrived = asyncio.get_running_loop().create_future()
        with world.object.transaction() as t:
            change(t)
        await world.arrived

    return once


async def call_once(world):
    await world.reference.ping("milk")


async def hold_once(world):
    (await world.hold()).release()


async def restore_token(world, _):
    await commit(lambda t: t.list["entries"][999].__setitem__("text", "a" * 80))(world)


async def restore_appended(world, batch):
    await commit(lambda t: t.list["entries"].__delitem__(slice(1000, 1000 + batch)))(world)


async def restore_removed(world, batch):
    await commit(lambda t: t.list["entries"].extend(json.loads(ITEM) for _ in range(batch)))(world)


@dataclass
class Case:
    name: str
    once: object
    linked: bool = True
    watched: bool = False
    batch: int = 200
    restore: object = None
    payload: str = NOTES
    held: bool = True


CASES = [
    Case("local call", call_once, linked=False),
    Case("commit without a watch", commit(token), linked=False, restore=restore_token),
    Case("commit with a watch", commit_to_frame(token), linked=False, watched=True, restore=restore_token),
    Case("call round trip, binary", call_once),
    Case("commit to frame, token appended, binary", commit_to_frame(token), watched=True, restore=restore_token),
    Case("commit to frame, changed field, binary", commit_to_frame(field), watched=True),
    Case("commit to frame, appended item, binary", commit_to_frame(item), True, True, 100, restore_appended),
    Case("commit to frame, removed item, binary", commit_to_frame(removal), True, True, 100, restore_removed),
    Case("hold to live, 1,000 notes, binary", hold_once, batch=10, held=False),
    Case("hold to live, 500 x 960 document, binary", hold_once, batch=5, payload=DOCUMENT, held=False),
]


# ---- measuring ----


def report(**row):
    print(json.dumps(row), flush=True)


async def measure(case):
    world = await World().open(case.linked, case.payload)
    if case.watched:
        await world.watch()
    elif case.held:
        await world.hold()
    samples, processor = [], []
    for batch in range(-WARM, BATCHES):
        before, start, worked = world.counters(), time.perf_counter(), time.process_time()
        for _ in range(case.batch):
            await case.once(world)
        worked = (time.process_time() - worked) * 1e6 / case.batch
        duration = (time.perf_counter() - start) * 1e6 / case.batch
        after = world.counters()
        if batch >= 0:
            samples.append(duration)
            processor.append(worked)
        if case.restore:
            await case.restore(world, case.batch)
        await asyncio.sleep(0)
    per = {name: round((after[name] - before[name]) / case.batch, 2) for name in before}
    counts = {"messages": per["messages_out"], "allocations": per["allocations"], "entries": per["entries"]}
    row = {"case": case.name, "system": "chordal", "unit": "us", "samples": samples, "processor": processor}
    report(**row, bytes=per["bytes_out"], counts=counts)
    await world.close()


def heap():
    for _ in range(4):
        gc.collect()
    return tracemalloc.get_traced_memory()[0]


def kept_by(host):
    return host.counters["live_bytes"]


async def measure_kept():
    """References to as many objects, over one link; what the provider keeps is there before."""
    world = await World().open(True, NOTES)
    for board in range(1, KEPT + 1):
        await world.provide(board, NOTES)
    references = [await world.hold()]
    tracemalloc.start()
    before = heap(), kept_by(world.consumer), kept_by(world.provider)
    for board in range(1, KEPT + 1):
        references.append(await world.hold(board))
    after = heap(), kept_by(world.consumer), kept_by(world.provider)
    tracemalloc.stop()
    native, core, provider = (round((b - a) / KEPT) for a, b in zip(before, after, strict=True))
    assert all(len(reference.list.value["entries"]) == 1000 for reference in references)
    counts = {"core": core, "native": native, "provider": provider}
    report(
        case="bytes kept per replica, 1,000 notes", system="chordal", unit="B", samples=[core + native], counts=counts
    )
    await world.close()


def measure_kept_json():
    """The same notes as plain values."""
    values = []
    tracemalloc.start()
    before = heap()
    for _ in range(KEPT):
        values.append(json.loads(NOTES))
    kept = round((heap() - before) / KEPT)
    tracemalloc.stop()
    report(case="bytes kept per replica, 1,000 notes", system="limit: json.loads", unit="B", samples=[kept])


def measure_json(name, text):
    value = json.loads(text)
    for system, once in (
        ("limit: json.loads", lambda: json.loads(text)),
        ("limit: json.dumps", lambda: json.dumps(value, separators=(",", ":"))),
    ):
        samples = []
        for batch in range(-WARM, BATCHES):
            start = time.perf_counter()
            for _ in range(10):
                once()
            if batch >= 0:
                samples.append((time.perf_counter() - start) * 1e6 / 10)
        report(case=name, system=system, unit="us", samples=samples, bytes=len(text))


async def main():
    for case in CASES:
        await measure(case)
    await measure_kept()
    measure_kept_json()
    measure_json("hold to live, 1,000 notes, binary", NOTES)
    measure_json("hold to live, 500 x 960 document, binary", DOCUMENT)


asyncio.run(main())
