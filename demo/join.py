"""Join the board from Python: join.py ADDRESS [BOARD]. Shows what is on it, and adds each line that you type."""

import asyncio
import signal
import sys

import chordal


def show(frame):
    notes = ", ".join(note["text"] for note in frame.value["notes"])
    print(f"[{notes}] {frame.value['text'][-60:]}", flush=True)


async def main(address, name="lunch"):
    async with chordal.connect(address) as host:
        board = host.get("board", name=name)
        board.board.watch(show)
        await board.live()
        await board.add("hello from Python")
        while line := await asyncio.to_thread(sys.stdin.readline):
            await board.add(line.strip())


signal.signal(signal.SIGINT, signal.SIG_DFL)  # also while it waits for a line
asyncio.run(main(*sys.argv[1:]))
