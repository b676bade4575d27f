"""What the programs of Python share: hosts with notes, counters, rows of the report. Their arguments: FOLDER BATCHES;
FOLDER has the payloads."""

import asyncio
import json
import pathlib
import sys

import chordal

FOLDER, BATCHES = pathlib.Path(sys.argv[1]), int(sys.argv[2])
NOTES, DOCUMENT, ITEM = ((FOLDER / f"{name}.json").read_text() for name in ("notes", "document", "item"))
WARM = 3 if BATCHES > 1 else 1  # batches before those that count


class Notes(chordal.Object):
    board: int
    list = chordal.document({"entries": []})

    @chordal.method
    def ping(self, call, text):
        return "n1"


class Counted(chordal.Object):
    """With a derive that is another value each time."""

    board: int
    list = chordal.document({"entries": []})
    computed = 0

    @chordal.derive("list")
    def count(self):
        Counted.computed += 1
        return Counted.computed


class World:
    """One host, or two over a memory link."""

    async def open(self, linked, payload, kind=Notes):
        self.kind = kind
        self.provider = self.consumer = await chordal.Host(types=[kind]).__aenter__()
        if linked:
            await self.open_consumer()
        if payload:
            self.object = await self.provide(0, payload)
        return self

    async def open_consumer(self):
        """Another host, linked with the provider."""
        self.consumer = await chordal.Host().__aenter__()
        self.link = chordal.pair(self.consumer, self.provider)

    async def provide(self, board, payload):
        instance = self.provider.object(self.kind, board=board)
        with instance.transaction() as t:
            t.list = json.loads(payload)
        await t.ticket
        return instance

    async def hold(self, board=0):
        self.reference = self.consumer.get(self.kind, board=board)
        await self.reference.live()
        return self.reference

    async def watch(self, member="list"):
        self.arrived = asyncio.get_running_loop().create_future()
        await self.hold()
        self.watching = self.reference[member].watch(lambda _: self.arrived.done() or self.arrived.set_result(None))
        await self.arrived

    async def close(self):
        await self.consumer.close()
        await self.provider.close()

    def counters(self):
        both = [host.counters for host in {self.provider, self.consumer}]
        return {name: sum(counters[name] for counters in both) for name in both[0]}


def report(**row):
    print(json.dumps({"system": "chordal", **row}), flush=True)
