"""What the package costs. python bench/python.py FOLDER BATCHES: a JSON object a line; FOLDER has the payloads."""

import asyncio
import json
import time
from dataclasses import dataclass

import chordal
from chordal import _native
from world import BATCHES, DOCUMENT, ITEM, NOTES, WARM, Counted, Notes, World, report

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


async def activation_once(world):
    """Another object each time, made when it is asked for."""
    activation_once.board += 1
    (await world.hold(activation_once.board)).release()


activation_once.board = 0
MEGABYTE = bytes(1 << 20)
READS = 1000


async def call_with_bytes(world):
    await world.reference.ping(MEGABYTE)


async def read_often(world):
    for _ in range(READS):
        if world.reference.list.value is None:
            raise AssertionError("nothing is held")


async def caught_up(world):
    """Until the replica has the text of the provider."""
    while len(world.reference.list.value["entries"][999]["text"]) < len(world.object.list["entries"][999]["text"]):
        await asyncio.sleep(0)


def same_value(t):
    t.list["entries"][500]["author"] = "name-500"


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
    watched: str = ""
    batch: int = 200
    restore: object = None
    payload: str = NOTES
    held: bool = True
    kind: type = Notes
    times: int = 1  # in one `once`
    finish: object = None


CASES = [
    Case("local call", call_once, linked=False),
    Case("commit without a watch", commit(token), linked=False, restore=restore_token),
    Case("commit with a watch", commit_to_frame(token), linked=False, watched="list", restore=restore_token),
    Case(
        "commit with a watched derive",
        commit_to_frame(token),
        linked=False,
        watched="count",
        restore=restore_token,
        kind=Counted,
    ),
    Case("commit of the same value", commit(same_value), linked=False, watched="list"),
    Case("read of a held value", read_often, linked=False, batch=10, times=READS),
    Case("activation, hold and release", activation_once, linked=False, held=False),
    Case("call round trip, binary", call_once),
    Case("call round trip, 1 MiB of bytes, binary", call_with_bytes, batch=10),
    Case(
        "streamed reply, 2,000 tokens, binary",
        commit(token),
        watched="list",
        batch=2000 if BATCHES > 1 else 200,
        restore=restore_token,
        finish=caught_up,
    ),
    Case("commit to frame, token appended, binary", commit_to_frame(token), watched="list", restore=restore_token),
    Case("commit to frame, changed field, binary", commit_to_frame(field), watched="list"),
    Case("commit to frame, appended item, binary", commit_to_frame(item), True, "list", 100, restore_appended),
    Case("commit to frame, removed item, binary", commit_to_frame(removal), True, "list", 100, restore_removed),
    Case("hold to live, 1,000 notes, binary", hold_once, batch=10, held=False),
    Case("hold to live, 500 x 960 document, binary", hold_once, batch=5, payload=DOCUMENT, held=False),
]


# ---- measuring ----


async def measure(case):
    world = await World().open(case.linked, case.payload, case.kind)
    if case.watched:
        await world.watch(case.watched)
    elif case.held:
        await world.hold()
    samples, processor = [], []
    for batch in range(-WARM, BATCHES):
        before, start, worked = world.counters(), time.perf_counter(), time.process_time()
        for _ in range(case.batch):
            await case.once(world)
        if case.finish:
            await case.finish(world)
        worked = (time.process_time() - worked) * 1e6 / case.batch / case.times
        duration = (time.perf_counter() - start) * 1e6 / case.batch / case.times
        after = world.counters()
        if batch >= 0:
            samples.append(duration)
            processor.append(worked)
        if case.restore:
            await case.restore(world, case.batch)
        await asyncio.sleep(0)
    per = {name: round((after[name] - before[name]) / case.batch, 2) for name in before}
    names = {"messages": "messages_out", "encodes": "changes_encoded"}
    counts = {name: per[names.get(name, name)] for name in ("messages", "encodes", "allocations", "entries")}
    row = {"case": case.name, "unit": "us", "samples": samples, "processor": processor}
    report(**row, bytes=per["bytes_out"], counts=counts)
    await world.close()


class Replicated:
    """A document and its replica as native values."""

    def __init__(self):
        value = json.loads(NOTES)
        self.values, self.replica = {0: chordal.freeze(value)}, {0: chordal.freeze(value)}
        self.seen = 0

    def once(self, change):
        ops = _native.Ops()
        document = _native.DraftDocument(self.values, 0, ops)
        self.list = document.read()
        change(self)
        data = bytes(ops)
        document.close(True)
        _native.patch_in(self.replica, 0, data, False, False)
        self.notice(chordal.Frame(self.replica[0], 1, data, False, None, False))
        return len(data)

    def notice(self, frame):
        self.seen += 1


def measure_delta(name, change, batch):
    samples, processor = [], []
    for number in range(-WARM, BATCHES):
        world = Replicated()
        start, worked = time.perf_counter(), time.process_time()
        for _ in range(batch):
            size = world.once(change)
        if number >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / batch)
            processor.append((time.process_time() - worked) * 1e6 / batch)
        assert world.values == world.replica and world.seen == batch
    report(case=f"delta to replica, {name}, binary", unit="us", samples=samples, processor=processor, bytes=size)


def measure_plain(name, system, once, size):
    samples = []
    for batch in range(-WARM, BATCHES):
        start = time.perf_counter()
        for _ in range(10):
            once()
        if batch >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / 10)
    report(case=name, system=system, unit="us", samples=samples, bytes=size)


def dumped(value):
    return json.dumps(value, separators=(",", ":"))


def measure_json(name, text):
    """Python's own JSON, of text and to text that are there already."""
    value = json.loads(text)
    measure_plain(name, "limit: json.loads", lambda: json.loads(text), len(text))
    measure_plain(name, "limit: json.dumps", lambda: dumped(value), len(text))


def measure_snapshot(name, text):
    """Native values to bytes and back, without a host; and the same by JSON."""
    value, data = json.loads(text), text.encode()
    packed = _native.pack(value)
    encode, decode = f"snapshot encode, {name}", f"snapshot decode, {name}"
    measure_plain(encode, "chordal", lambda: _native.pack(value), len(packed))
    measure_plain(decode, "chordal", lambda: _native.unpack(packed), len(packed))
    measure_plain(encode, "limit: json", lambda: dumped(value).encode(), len(data))
    measure_plain(decode, "limit: json", lambda: json.loads(data.decode()), len(data))


async def main():
    for case in CASES:
        await measure(case)
    for name, change, batch in (
        ("token appended", token, 200),
        ("changed field", field, 200),
        ("appended item", item, 100),
        ("removed item", removal, 100),
    ):
        measure_delta(name, change, batch)
    for name, text in (("1,000 notes", NOTES), ("500 x 960 document", DOCUMENT)):
        measure_snapshot(name, text)
        measure_json(f"hold to live, {name}, binary", text)


asyncio.run(main())
