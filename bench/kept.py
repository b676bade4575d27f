"""What stays in memory, in the core and in Python, and what happens once. python bench/kept.py FOLDER BATCHES: a JSON
object a line; FOLDER has the payloads."""

import asyncio
import gc
import json
import time
import tracemalloc

from world import BATCHES, DOCUMENT, NOTES, World, report

KEPT = min(50, BATCHES * 10)
HOLDERS = 10
OBJECTS = min(1000, BATCHES * 200)


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
    report(case="bytes kept per replica, 1,000 notes", unit="B", samples=[core + native], counts=counts)
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


async def measure_further():
    """One object, held by more hosts: what the provider keeps for a hold. All links are there before, and held
    something."""
    world = await World().open(True, NOTES)
    await world.provide(1, NOTES)
    worlds = [await World().open(False, None) for _ in range(HOLDERS)]
    references = [await world.hold(1), await world.hold(0)]
    for one in worlds:
        await one.provider.close()
        one.provider = world.provider
        await one.open_consumer()
        references.append(await one.hold(1))
    before = kept_by(world.provider)
    references += [await one.hold(0) for one in worlds]
    kept = round((kept_by(world.provider) - before) / HOLDERS)
    assert all(len(reference.list.value["entries"]) == 1000 for reference in references)
    report(case="bytes kept per further hold, 1,000 notes", unit="B", samples=[kept])
    for one in worlds:
        await one.consumer.close()
    await world.close()


async def measure_objects():
    """Many small objects, held in their own host."""
    world = await World().open(False, None)
    references = [await world.hold(OBJECTS)]
    tracemalloc.start()
    before = heap(), kept_by(world.provider)
    for board in range(OBJECTS):
        references.append(await world.hold(board))
    after = heap(), kept_by(world.provider)
    tracemalloc.stop()
    native, core = (round((b - a) / OBJECTS) for a, b in zip(before, after, strict=True))
    counts = {"core": core, "native": native}
    report(case="bytes kept per live object", unit="B", samples=[core + native], counts=counts)
    await world.close()


async def measure_first(name, payload):
    """The first hold between two new hosts that are linked."""
    samples = []
    for _ in range(BATCHES):
        world = await World().open(True, payload)
        start = time.perf_counter()
        await world.hold()
        samples.append((time.perf_counter() - start) * 1e6)
        await world.close()
    report(case=f"first hold to live, {name}, binary", unit="us", samples=samples)


async def main():
    await measure_first("1,000 notes", NOTES)
    await measure_first("500 x 960 document", DOCUMENT)
    await measure_kept()
    measure_kept_json()
    await measure_further()
    await measure_objects()


asyncio.run(main())
