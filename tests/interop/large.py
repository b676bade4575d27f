"""Large parts in Python, for test_large.py: large.py provide | hold ADDRESS CODEC | say ADDRESS."""

import asyncio
import json
import random
import sys

import chordal

DEFLATE_ALWAYS = 1
SIZE = 1 << 20
TEXT = ("some words and a note, é✓ " * SIZE)[:SIZE]
PATTERN = bytes(i % 251 for i in range(SIZE))
NOISE = random.Random(1).randbytes(SIZE)


class Large(chordal.Object, version=1):
    text = chordal.document("")

    @chordal.method
    def put(self, call, text):
        with call.transaction() as t:
            t.text = text

    @chordal.method
    def echo(self, call, data):
        return data


async def provide():
    async with chordal.Host(types=[Large]) as host, await host.listen("ws://127.0.0.1:0") as server:
        print(server.address, flush=True)
        await asyncio.Event().wait()


async def hold(address, codec):
    async with chordal.connect(address, codec=codec, deflate=DEFLATE_ALWAYS) as host:
        large = host.get("large")
        await large.live()
        await large.put(TEXT)
        same = large.text.value == TEXT
        for data in (PATTERN, NOISE):
            same = same and bytes(await large.echo(data)) == data
        print(json.dumps({"same": same} | {name: host.counters[name] for name in COUNTERS}), flush=True)


async def say(address):
    """To a provider of the square."""
    async with chordal.connect(address, deflate=DEFLATE_ALWAYS) as host:
        square = host.get("square", name="large")
        await square.live()
        await square.say(TEXT)
        same = square.log.value["text"] == TEXT and await square.digest() == host.digest(square.log.value)
        print(json.dumps({"same": same} | {name: host.counters[name] for name in COUNTERS}), flush=True)


COUNTERS = ("deflates", "inflates", "bytes_in", "bytes_out")

if __name__ == "__main__":
    asyncio.run({"provide": provide, "hold": hold, "say": say}[sys.argv[1]](*sys.argv[2:]))
