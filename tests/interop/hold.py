"""The Python holder of the interop square (README.md): hold.py ADDRESS NAME"""

import asyncio
import json
import sys

import chordal

TOKENS = ["lorem ", "ipsum ", "n\u00e9 ", "\u6f22\u5b57 ", "\ud83d", "\ude00 ", '"quoted\\ ', "\n"]
ADDS, SAYS = 100, 200


async def work(host, name):
    square = host.get("square", name=name)
    frames = []
    for member in (square.log, square.count):
        member.watch(frames.append)
    await square.live()
    for i in range(ADDS):
        assert await square.add(f"entry {i} \u00e9\u2713") == i + 1
    await asyncio.gather(*(square.say(TOKENS[i % len(TOKENS)]) for i in range(SAYS)))
    failed = ""
    try:
        await square.fail("full", "no room")
    except chordal.MethodError as error:
        failed = error.name
        assert error.detail == "no room"
    provider = await square.digest()
    counters = host.counters
    return {
        "calls": ADDS + SAYS + 1,
        "frames": len(frames),
        "bytes": counters["bytes_in"] + counters["bytes_out"],
        "count": square.count.value,
        "failed": failed,
        "digest": host.digest(square.log.value),
        "provider": provider,
    }


async def main(address, name):
    async with chordal.connect(address) as host:
        print(json.dumps(await work(host, name)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
